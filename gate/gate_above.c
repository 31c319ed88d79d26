/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_above.c - one node's connection to its parent in the tree */
#include "onespine_config.h"
#include "gate/gate_loop_private.h"

#include <stdlib.h>
#include <string.h>

#include "gate/gate_loop.h"
#include "gate/gate_measure.h"
#include "gate/gate_nccl.h"

#define PAUSE_LEAST_MS	4 /* between two rounds of attempts to reach a parent */
#define PAUSE_MOST_MS	250
#define WHOLE_ROUND	8    /* every so many rounds try all ports, from the first on */
#define CONNECT_MOST_MS 2000 /* one attempt */

/* Sets the time of the next round, soon: an eighth of the time that has gone by since the first,
 * which is at most so much later than need be. */
static void pause_then_retry(struct gate_loop *loop)
{
	uint64_t now_ms = gate_now_ms(loop), pause_ms;
	uint32_t parent = gate_parent_of(loop);

	if (!loop->above_round++)
		loop->first_try_ms = now_ms;
	pause_ms = (now_ms - loop->first_try_ms) / 8;
	if (pause_ms < PAUSE_LEAST_MS)
		pause_ms = PAUSE_LEAST_MS;
	loop->above_port = 0;
	loop->next_try_ms = now_ms + gate_least_ms(pause_ms, PAUSE_MOST_MS);
	osp_gate_barrier_refused(&loop->barrier, now_ms);
	if (gate_parent_of(loop) != parent)
		loop->above_round = 0;
}

/* Tries the next port after one that answered nothing, or for another job. After the last, the
 * parent's gate is not there yet. */
static void try_next_port(struct gate_loop *loop)
{
	const struct osp_gate_policy *policy = loop->job->policy;

	osp_gate_hang_up(&loop->above);
	if (++loop->above_port > (uint32_t)policy->port_last - policy->port_first)
		pause_then_retry(loop);
}

/* Tries the next port, since nobody listens at this one. A gate has the first port unless
 * another job's had it when it came: so most rounds are of that one. */
static void be_refused(struct gate_loop *loop)
{
	if (loop->above_port || loop->above_round % WHOLE_ROUND == 0) {
		try_next_port(loop);
		return;
	}
	osp_gate_hang_up(&loop->above);
	pause_then_retry(loop);
}

void gate_connect_above(struct gate_loop *loop)
{
	const struct osp_gate_policy *policy = loop->job->policy;
	uint64_t now_ms = gate_now_ms(loop);
	struct osp_error error = {.text = ""};
	struct sockaddr_storage address;
	uint16_t port;

	if (loop->above.state != OSP_GATE_PEER_NONE || now_ms < loop->next_try_ms)
		return;
	if (osp_gate_address(gate_name_of(loop, gate_parent_of(loop)), &address, &error)) {
		if (!loop->above_round)
			osp_gate_log(loop->job, "%s", error.text);
		pause_then_retry(loop);
		return;
	}
	port = osp_gate_port(policy->port_first, policy->port_last, loop->wire.job,
			     loop->above_port);
	if (osp_gate_connect(&loop->above, &address, port, loop->own_bound ? &loop->own : NULL,
			     now_ms + CONNECT_MOST_MS))
		be_refused(loop);
}

void gate_lose_above(struct gate_loop *loop)
{
	bool known = loop->above.state == OSP_GATE_PEER_KNOWN;
	uint64_t now_ms = gate_now_ms(loop);

	osp_gate_hang_up(&loop->above);
	loop->above_round = 0;
	if (!known)
		return;
	if (!loop->losses)
		loop->first_loss_ms = now_ms;
	if (loop->losses < loop->barrier.parent_count)
		osp_gate_log(loop->job, "%s has gone", gate_name_of(loop, gate_parent_of(loop)));
	loop->losses++;
	loop->next_try_ms =
		now_ms + gate_least_ms((now_ms - loop->first_loss_ms) / 8, PAUSE_MOST_MS);
	osp_gate_barrier_lost(&loop->barrier, now_ms);
}

void gate_report_above(struct gate_loop *loop)
{
	struct osp_gate_report *reports = calloc(loop->barrier.heard, sizeof(*reports));
	struct osp_gate_header header =
		osp_gate_header_to(&loop->wire, &loop->above, OSP_GATE_MESSAGE_REPORT, 0);
	struct osp_text message = OSP_TEXT_INIT;
	struct osp_error error = {.text = "out of memory"};
	uint32_t count;

	if (reports) {
		error.text[0] = '\0';
		count = osp_gate_barrier_take(&loop->barrier, reports);
		if (osp_gate_is_other(&loop->above))
			gate_write_other(&message, &header, reports, count);
		else
			osp_gate_write_reports(&message, &header, reports, count);
	}
	if (!reports || osp_gate_seal(&loop->wire, &loop->above, &message, &error)) {
		if (loop->wire.seal.munge || loop->wire.seal.secrets) /* else it was said */
			osp_gate_log(loop->job, "cannot report: %s", error.text);
		gate_lose_above(loop);
		loop->next_try_ms = gate_now_ms(loop) + PAUSE_MOST_MS;
	}
	free(reports);
}

static void take_verdict(struct gate_loop *loop, struct osp_gate_message *message)
{
	*loop->verdict = message->verdict;
	memset(&message->verdict, 0, sizeof(message->verdict));
	loop->has_verdict = true;
	osp_gate_barrier_end(&loop->barrier);
}

static void hear_above(struct gate_loop *loop)
{
	struct osp_gate_message message;
	int state;

	while (!loop->has_verdict && !loop->no_verdict &&
	       (state = osp_gate_take_message(&loop->wire, &loop->above, &message))) {
		if (state < 0) {
			gate_lose_above(loop);
			return;
		}
		if (message.header.kind == OSP_GATE_MESSAGE_VERDICT)
			take_verdict(loop, &message);
		else if (message.header.kind == OSP_GATE_MESSAGE_REDUCE)
			gate_reduce_order(loop, &message);
		else if (message.header.kind == OSP_GATE_MESSAGE_ORDER) {
			gate_reduce_stop(loop);
			gate_measure_order(loop, &message);
		} else if (message.header.kind == OSP_GATE_MESSAGE_OTHER)
			gate_hear_other_above(loop, &message);
		osp_gate_message_free(&message);
	}
}

void gate_serve_above(struct gate_loop *loop, short events)
{
	struct osp_gate_peer *above = &loop->above;
	int state = 1;

	if (above->state == OSP_GATE_PEER_NONE)
		return;
	if (above->state != OSP_GATE_PEER_KNOWN && gate_now_ms(loop) >= above->until_ms) {
		osp_gate_hang_up(above);
		pause_then_retry(loop);
		return;
	}
	if (!events)
		return;
	if (above->state == OSP_GATE_PEER_CONNECTING) {
		if (osp_gate_connected(above))
			be_refused(loop);
		return;
	}
	/* What came before the other end closed still counts. */
	if (osp_gate_receive(&loop->wire, above))
		state = -1;
	if (above->state == OSP_GATE_PEER_GREETED) {
		int greeted = osp_gate_take_greeting(&loop->wire, above, gate_parent_of(loop));

		if (greeted < 0 || (!greeted && state < 0)) {
			try_next_port(loop);
			return;
		}
		/* One above it may speak as we do; the first node decides, whatever it speaks. */
		if (greeted && osp_gate_is_other(above) && gate_parent_of(loop) != 0) {
			osp_gate_hang_up(above);
			pause_then_retry(loop);
			return;
		}
		if (greeted)
			osp_gate_barrier_connected(&loop->barrier);
	}
	if (above->state == OSP_GATE_PEER_KNOWN)
		hear_above(loop);
	if (above->state == OSP_GATE_PEER_KNOWN && !loop->has_verdict && !loop->no_verdict &&
	    (state < 0 || osp_gate_flush(above)))
		gate_lose_above(loop);
}
