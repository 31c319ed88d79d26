/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_send.c - what one node sends others of the gang, and how a message goes up and down the
 * tree */
#include "onespine_config.h"
#include "gate/gate_loop_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "gate/gate_loop.h"

const char *gate_name_of(const struct gate_loop *loop, uint32_t rank)
{
	return loop->job->gang.nodes[rank];
}

uint32_t gate_parent_of(const struct gate_loop *loop)
{
	return loop->barrier.parents[loop->barrier.parent];
}

/* --- up and down the tree --------------------------------------------------------------------- */

static int seal(struct gate_loop *loop, struct osp_gate_peer *peer,
		const struct gate_outgoing *words, struct osp_error *error)
{
	struct osp_gate_header header =
		osp_gate_header_to(&loop->wire, peer, words->kind, words->round);
	struct osp_text message = OSP_TEXT_INIT;

	words->write(&message, &header, words->what, words->count);
	return osp_gate_seal(&loop->wire, peer, &message, error);
}

void gate_send_above(struct gate_loop *loop, const struct gate_outgoing *words)
{
	struct osp_error error = {.text = ""};

	if (loop->above.state == OSP_GATE_PEER_KNOWN && seal(loop, &loop->above, words, &error))
		osp_gate_log(loop->job, "cannot send to %s: %s",
			     gate_name_of(loop, gate_parent_of(loop)), error.text);
}

/* Drops a peer that cannot be reached. */
static void report(struct gate_loop *loop, struct osp_gate_peer *peer,
		   const struct gate_outgoing *words)
{
	struct osp_error error = {.text = ""};

	if (seal(loop, peer, words, &error)) {
		osp_gate_log(loop->job, "cannot send to %s: %s", gate_name_of(loop, peer->rank),
			     error.text);
		osp_gate_hang_up(peer);
	} else if (osp_gate_flush(peer)) {
		osp_gate_hang_up(peer);
	}
}

void gate_send_below(struct gate_loop *loop, const struct gate_outgoing *words)
{
	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state == OSP_GATE_PEER_KNOWN &&
		    !osp_gate_is_other(&loop->peers[i]))
			report(loop, &loop->peers[i], words);
}

/* --- gates of another version ----------------------------------------------------------------- */

void gate_write_other(struct osp_text *message, const struct osp_gate_header *header,
		      const struct osp_gate_report *reports, uint32_t count)
{
	uint32_t *ranks = calloc(count + 1, sizeof(*ranks));

	for (uint32_t i = 0; ranks && i < count; i++)
		ranks[i] = reports[i].rank;
	osp_gate_write_other(message, header, ranks, ranks ? count : 0);
	free(ranks);
}

static void write_none(struct osp_text *message, const struct osp_gate_header *header,
		       const void *what, uint32_t count)
{
	(void)what;
	(void)count;
	osp_gate_write_other(message, header, NULL, 0);
}

void gate_send_others(struct gate_loop *loop, bool all)
{
	const struct gate_outgoing words = {.kind = OSP_GATE_MESSAGE_OTHER, .write = write_none};

	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state == OSP_GATE_PEER_KNOWN &&
		    (all || osp_gate_is_other(&loop->peers[i])))
			report(loop, &loop->peers[i], &words);
}

void gate_hear_other_below(struct gate_loop *loop, const struct osp_gate_message *message)
{
	for (uint32_t i = 0; i < message->count; i++) {
		struct osp_gate_report report = {.rank = message->ranks[i],
						 .result = OSP_VERDICT_ERROR};

		if (!osp_gate_may_report(report.rank, loop->wire.rank, loop->wire.node_count)) {
			loop->wire.dropped.message++;
			continue;
		}
		snprintf(report.check, sizeof(report.check), "gate");
		snprintf(
			report.reason, sizeof(report.reason),
			"its gate speaks version %u of messages, that of %.40s version %u: install "
			"one release on all nodes",
			message->header.version, loop->job->node, OSP_GATE_WIRE_VERSION);
		osp_gate_log(loop->job, "%s: %s", gate_name_of(loop, report.rank), report.reason);
		if (osp_gate_barrier_hear(&loop->barrier, &report, gate_now_ms(loop)) < 0)
			osp_gate_log(loop->job, "out of memory");
	}
}

void gate_hear_other_above(struct gate_loop *loop, const struct osp_gate_message *message)
{
	if (osp_gate_is_other(&loop->above))
		osp_gate_log(loop->job,
			     "this gate speaks version %u of messages, that of %s version %u: "
			     "install one release on all nodes",
			     OSP_GATE_WIRE_VERSION, gate_name_of(loop, gate_parent_of(loop)),
			     message->header.version);
	loop->no_verdict = true;
	osp_gate_barrier_end(&loop->barrier);
}

/* --- tests of the network --------------------------------------------------------------------- */

uint32_t gate_find_fit(const struct osp_gate_report *reports, uint32_t count, bool *fit)
{
	uint32_t fit_count = 0;
	bool all_fresh = true;

	for (uint32_t i = 0; i < count; i++) {
		fit[i] = reports[i].result < OSP_VERDICT_FAIL && !reports[i].absent;
		fit_count += fit[i];
		all_fresh = all_fresh && (reports[i].fresh || reports[i].absent);
	}
	return all_fresh ? 0 : fit_count;
}

static void say_of_network(const struct gate_loop *loop, struct osp_gate_report *report)
{
	snprintf(report->check, sizeof(report->check), OSP_GATE_NETWORK_CHECK);
	osp_gate_log(loop->job, "%s: %s", gate_name_of(loop, report->rank), report->reason);
}

void gate_blame(const struct gate_loop *loop, struct osp_gate_report *report, bool wrong)
{
	say_of_network(loop, report);
	if (wrong) {
		report->blamed = true;
		report->result = OSP_VERDICT_FAIL;
	} else {
		report->pace = OSP_GATE_PACE_SLOW;
	}
}

void gate_pardon(const struct gate_loop *loop, struct osp_gate_report *report,
		 const struct osp_gate_traffic *seen)
{
	char words[OSP_GATE_TRAFFIC_WORDS_BYTES];

	if (seen->quiet == OSP_GATE_QUIET)
		return;
	snprintf(report->reason, sizeof(report->reason), "onespine: network not judged: %s",
		 osp_gate_traffic_words(seen, words, sizeof(words)));
	say_of_network(loop, report);
	report->pace = OSP_GATE_PACE_UNSURE;
}
