/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_talk.c - one node's gate: checks, reports, waits for the verdict */
#include "onespine_config.h"
#include "gate/gate_talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "gate/gate_again.h"
#include "gate/gate_instance.h"
#include "gate/gate_measure.h"
#include "gate/gate_nccl.h"
#include "gate/gate_talk_private.h"
#include "host/output.h"

#define PAUSE_LEAST_MS		  4 /* between two rounds of attempts to reach a parent */
#define PAUSE_MOST_MS		  250
#define WHOLE_ROUND		  8    /* every so many rounds try all ports, from the first on */
#define CONNECT_MOST_MS		  2000 /* one attempt */
#define GOODBYE_MS		  1000 /* for the last words to arrive */
#define ASK_EVERY_MS		  3000
#define MEASURE_LOOK_MS		  5

#define CREDENTIAL_BYTES(message) ((message)*4 / 3 + 1024)
#define REPORT_BYTES_MOST	  320

uint64_t gate_now_ms(const struct gate_talk *talk)
{
	return osp_now_ms() - talk->here->begun_ms;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/*
 * The node's own address, where this host has it: then what others see is what slurm.conf says. A
 * host that knows itself by a loopback name only (Debian's 127.0.1.1), or is behind address
 * translation, listens everywhere.
 */
static void open_listener(struct gate_talk *talk)
{
	const struct osp_gate_gang *gang = &talk->job->gang;
	const struct osp_gate_policy *policy = talk->job->policy;
	struct osp_error error = {.text = ""};
	struct sockaddr_storage other;
	bool known = osp_gate_address(talk->job->node, &talk->own, &error) == 0;

	if (known && osp_gate_is_loopback(&talk->own) &&
	    osp_gate_address(gang->nodes[gang->rank ? 0 : 1], &other, NULL) == 0 &&
	    !osp_gate_is_loopback(&other))
		known = false;
	talk->listener = -1;
	if (known)
		talk->listener = osp_gate_listen(&talk->own, policy->port_first, policy->port_last,
						 gang->job, &error);
	talk->own_bound = talk->listener >= 0;
	if (talk->listener < 0)
		talk->listener = osp_gate_listen(NULL, policy->port_first, policy->port_last,
						 gang->job, &error);
	if (talk->listener < 0)
		osp_gate_log(talk->job, "cannot hear other nodes: %s", error.text);
}

static size_t frame_bytes_max(uint32_t node_count)
{
	size_t message = 4096 + (size_t)node_count * REPORT_BYTES_MOST;

	if (message > OSP_GATE_MESSAGE_BYTES_MAX)
		message = OSP_GATE_MESSAGE_BYTES_MAX;
	return CREDENTIAL_BYTES(message);
}

static int open_talk(struct gate_talk *talk, struct osp_error *error)
{
	const struct osp_gate_gang *gang = &talk->job->gang;

	talk->listener = -1;
	talk->above.file = -1;
	talk->check.answer = -1;
	talk->check.words = -1;
	talk->next_ask_ms = ASK_EVERY_MS;
	talk->wire.job = gang->job;
	talk->wire.restarts = gang->restarts;
	talk->wire.rank = gang->rank;
	talk->wire.node_count = gang->node_count;
	talk->wire.gang = osp_gate_gang_sum(gang->nodes, gang->node_count);
	talk->wire.frame_bytes_max = frame_bytes_max(gang->node_count);
	if (osp_gate_barrier_start(&talk->barrier, gang->rank, gang->node_count,
				   talk->job->policy->budget_s * 1000))
		return osp_error_set(error, "out of memory");
	if (gang->node_count == 1)
		return 0;
	if (osp_gate_wire_open(&talk->wire, talk->job->munge_socket,
			       talk->job->policy->budget_s + 10, error))
		return -1;
	open_listener(talk);
	return 0;
}

static void close_talk(struct gate_talk *talk)
{
	const struct osp_gate_dropped *dropped = &talk->wire.dropped;

	if (dropped->port + dropped->many + dropped->size + dropped->munge + dropped->message +
	    dropped->address + dropped->late)
		osp_gate_log(talk->job,
			     "dropped: %u from ports that users can have, %u too many, %u too "
			     "long, %u without root's credential, %u not of this gate, %u from "
			     "wrong addresses, %u silent",
			     dropped->port, dropped->many, dropped->size, dropped->munge,
			     dropped->message, dropped->address, dropped->late);
	osp_gate_hang_up(&talk->above);
	for (size_t i = 0; i < talk->peer_count; i++)
		osp_gate_hang_up(&talk->peers[i]);
	if (talk->listener >= 0)
		close(talk->listener);
	gate_measure_free(talk);
	gate_reduce_free(talk);
	free(talk->reports);
	osp_gate_check_free(&talk->check);
	osp_gate_barrier_free(&talk->barrier);
	osp_gate_wire_close(&talk->wire);
}

/* --- this node's check ------------------------------------------------------------------------ */

static void hear_own(struct gate_talk *talk)
{
	struct osp_gate_report *own = talk->own_report;

	own->rank = talk->job->gang.rank;
	talk->checking = false;
	osp_gate_instance_look(talk->job, own);
	if (own->result >= OSP_VERDICT_ERROR) {
		osp_gate_log(talk->job, "%s %s", osp_verdict_name(own->result), own->reason);
		osp_gate_act_evidence(talk->here, own,
				      talk->check.json.data ? talk->check.json.data : "");
	}
	if (osp_gate_barrier_hear(&talk->barrier, own, gate_now_ms(talk)) < 0)
		osp_gate_log(talk->job, "out of memory");
}

static void start_check(struct gate_talk *talk)
{
	struct osp_error error = {.text = ""};

	talk->checking = true;
	if (osp_gate_check_start(&talk->check, talk->job, talk->barrier.times.check_ms, true,
				 &error)) {
		talk->own_report->result = OSP_VERDICT_ERROR;
		snprintf(talk->own_report->reason, sizeof(talk->own_report->reason), "%.190s",
			 error.text);
		hear_own(talk);
	}
}

static void serve_check(struct gate_talk *talk, bool readable)
{
	bool late = gate_now_ms(talk) >= talk->barrier.times.check_ms, ended = false;

	if (!talk->checking)
		return;
	if (readable || osp_now_ms() >= osp_gate_check_due_ms(&talk->check))
		ended = osp_gate_check_read(&talk->check);
	if (!ended && !late)
		return;
	osp_gate_check_end(&talk->check, !ended, talk->own_report);
	hear_own(talk);
}

/* --- the parent ------------------------------------------------------------------------------- */

/* The next round, soon: an eighth of the time that has gone by since the first, which is at most so
 * much later than need be. */
static void pause_then_retry(struct gate_talk *talk)
{
	uint64_t now_ms = gate_now_ms(talk), pause_ms;
	uint32_t parent = gate_parent_of(talk);

	if (!talk->above_round++)
		talk->first_try_ms = now_ms;
	pause_ms = (now_ms - talk->first_try_ms) / 8;
	if (pause_ms < PAUSE_LEAST_MS)
		pause_ms = PAUSE_LEAST_MS;
	talk->above_port = 0;
	talk->next_try_ms = now_ms + least(pause_ms, PAUSE_MOST_MS);
	osp_gate_barrier_refused(&talk->barrier, now_ms);
	if (gate_parent_of(talk) != parent)
		talk->above_round = 0;
}

/* One port answered nothing, or for another job: the next one. After the last, the parent's gate
 * is not there yet. */
static void try_next_port(struct gate_talk *talk)
{
	const struct osp_gate_policy *policy = talk->job->policy;

	osp_gate_hang_up(&talk->above);
	if (++talk->above_port > (uint32_t)policy->port_last - policy->port_first)
		pause_then_retry(talk);
}

/* Nobody listens there. A gate has the first port unless another job's had it when it came: so most
 * rounds are of that one. */
static void be_refused(struct gate_talk *talk)
{
	if (talk->above_port || talk->above_round % WHOLE_ROUND == 0) {
		try_next_port(talk);
		return;
	}
	osp_gate_hang_up(&talk->above);
	pause_then_retry(talk);
}

static void connect_above(struct gate_talk *talk)
{
	const struct osp_gate_policy *policy = talk->job->policy;
	uint64_t now_ms = gate_now_ms(talk);
	struct osp_error error = {.text = ""};
	struct sockaddr_storage address;
	uint16_t port;

	if (talk->above.state != OSP_GATE_PEER_NONE || now_ms < talk->next_try_ms)
		return;
	if (osp_gate_address(gate_name_of(talk, gate_parent_of(talk)), &address, &error)) {
		if (!talk->above_round)
			osp_gate_log(talk->job, "%s", error.text);
		pause_then_retry(talk);
		return;
	}
	port = osp_gate_port(policy->port_first, policy->port_last, talk->wire.job,
			     talk->above_port);
	if (osp_gate_connect(&talk->above, &address, port, talk->own_bound ? &talk->own : NULL,
			     now_ms + CONNECT_MOST_MS))
		be_refused(talk);
}

static void lose_above(struct gate_talk *talk)
{
	bool known = talk->above.state == OSP_GATE_PEER_KNOWN;

	osp_gate_hang_up(&talk->above);
	talk->above_round = 0;
	if (!known)
		return;
	osp_gate_log(talk->job, "%s has gone", gate_name_of(talk, gate_parent_of(talk)));
	osp_gate_barrier_lost(&talk->barrier, gate_now_ms(talk));
}

static void send_reports(struct gate_talk *talk)
{
	struct osp_gate_report *reports = calloc(talk->barrier.heard, sizeof(*reports));
	struct osp_gate_header header =
		osp_gate_header_to(&talk->wire, &talk->above, OSP_GATE_MESSAGE_REPORT, 0);
	struct osp_text message = OSP_TEXT_INIT;
	struct osp_error error = {.text = "out of memory"};
	uint32_t count;

	if (reports) {
		error.text[0] = '\0';
		count = osp_gate_barrier_take(&talk->barrier, reports);
		if (osp_gate_is_other(&talk->above))
			gate_write_other(&message, &header, reports, count);
		else
			osp_gate_write_reports(&message, &header, reports, count);
	}
	if (!reports || osp_gate_seal(&talk->wire, &talk->above, &message, &error)) {
		osp_gate_log(talk->job, "cannot report: %s", error.text);
		lose_above(talk);
		talk->next_try_ms = gate_now_ms(talk) + PAUSE_MOST_MS;
	}
	free(reports);
}

static void take_verdict(struct gate_talk *talk, struct osp_gate_message *message)
{
	*talk->verdict = message->verdict;
	memset(&message->verdict, 0, sizeof(message->verdict));
	talk->has_verdict = true;
	osp_gate_barrier_end(&talk->barrier);
}

static void hear_above(struct gate_talk *talk)
{
	struct osp_gate_message message;
	int state;

	while (!talk->has_verdict && !talk->no_verdict &&
	       (state = osp_gate_take_message(&talk->wire, &talk->above, &message))) {
		if (state < 0) {
			lose_above(talk);
			return;
		}
		if (message.header.kind == OSP_GATE_MESSAGE_VERDICT)
			take_verdict(talk, &message);
		else if (message.header.kind == OSP_GATE_MESSAGE_REDUCE)
			gate_reduce_order(talk, &message);
		else if (message.header.kind == OSP_GATE_MESSAGE_ORDER) {
			gate_reduce_stop(talk);
			gate_measure_order(talk, &message);
		} else if (message.header.kind == OSP_GATE_MESSAGE_OTHER)
			gate_hear_other_above(talk, &message);
		osp_gate_message_free(&message);
	}
}

static void serve_above(struct gate_talk *talk, short events)
{
	struct osp_gate_peer *above = &talk->above;
	int state = 1;

	if (above->state == OSP_GATE_PEER_NONE)
		return;
	if (above->state != OSP_GATE_PEER_KNOWN && gate_now_ms(talk) >= above->until_ms) {
		osp_gate_hang_up(above);
		pause_then_retry(talk);
		return;
	}
	if (!events)
		return;
	if (above->state == OSP_GATE_PEER_CONNECTING) {
		if (osp_gate_connected(above))
			be_refused(talk);
		return;
	}
	/* What came before the other end closed still counts. */
	if (osp_gate_receive(&talk->wire, above))
		state = -1;
	if (above->state == OSP_GATE_PEER_GREETED) {
		int greeted = osp_gate_take_greeting(&talk->wire, above, gate_parent_of(talk));

		if (greeted < 0 || (!greeted && state < 0)) {
			try_next_port(talk);
			return;
		}
		/* One above it may speak as we do; the first node decides, whatever it speaks. */
		if (greeted && osp_gate_is_other(above) && gate_parent_of(talk) != 0) {
			osp_gate_hang_up(above);
			pause_then_retry(talk);
			return;
		}
		if (greeted)
			osp_gate_barrier_connected(&talk->barrier);
	}
	if (above->state == OSP_GATE_PEER_KNOWN)
		hear_above(talk);
	if (above->state == OSP_GATE_PEER_KNOWN && !talk->has_verdict && !talk->no_verdict &&
	    (state < 0 || osp_gate_flush(above)))
		lose_above(talk);
}

/* --- those below ------------------------------------------------------------------------------ */

static struct osp_gate_peer *free_peer(struct gate_talk *talk)
{
	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state == OSP_GATE_PEER_NONE)
			return &talk->peers[i];
	return talk->peer_count < GATE_PEERS_MAX ? &talk->peers[talk->peer_count++] : NULL;
}

static size_t count_unproven(const struct gate_talk *talk)
{
	size_t count = 0;

	for (size_t i = 0; i < talk->peer_count; i++)
		count += talk->peers[i].state == OSP_GATE_PEER_UNPROVEN;
	return count;
}

/* Who has waited longest goes, so that nobody keeps the door shut by standing in it. */
static void drop_oldest_unproven(struct gate_talk *talk)
{
	struct osp_gate_peer *oldest = NULL;

	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state == OSP_GATE_PEER_UNPROVEN &&
		    (!oldest || talk->peers[i].until_ms < oldest->until_ms))
			oldest = &talk->peers[i];
	if (oldest) {
		osp_gate_hang_up(oldest);
		talk->wire.dropped.many++;
	}
}

static void accept_peers(struct gate_talk *talk)
{
	for (int i = 0; i < GATE_UNPROVEN_MAX; i++) {
		struct osp_gate_peer *peer;

		if (count_unproven(talk) >= GATE_UNPROVEN_MAX)
			drop_oldest_unproven(talk);
		peer = free_peer(talk);
		if (!peer || !osp_gate_accept(&talk->wire, talk->listener, peer,
					      gate_now_ms(talk) + GATE_UNPROVEN_MS))
			return;
		if (osp_gate_flush(peer))
			osp_gate_hang_up(peer);
	}
}

/* A peer has proven to be root somewhere: it must also be where slurm.conf says that it is, and
 * one who may report here. A new connection of the same node replaces the old one. */
static bool becomes_known(struct gate_talk *talk, struct osp_gate_peer *peer, uint32_t rank)
{
	struct sockaddr_storage address;

	if (!osp_gate_may_report(rank, talk->wire.rank, talk->wire.node_count)) {
		talk->wire.dropped.message++;
		return false;
	}
	if (osp_gate_address(gate_name_of(talk, rank), &address, NULL) ||
	    !(osp_gate_same_host(&address, &peer->address) ||
	      (!talk->own_bound && osp_gate_is_loopback(&address)))) {
		talk->wire.dropped.address++;
		return false;
	}
	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state == OSP_GATE_PEER_KNOWN && talk->peers[i].rank == rank)
			osp_gate_hang_up(&talk->peers[i]);
	peer->rank = rank;
	peer->state = OSP_GATE_PEER_KNOWN;
	return true;
}

static void hear_reports(struct gate_talk *talk, const struct osp_gate_message *message)
{
	for (uint32_t i = 0; i < message->count; i++) {
		const struct osp_gate_report *report = &message->reports[i];

		if (!osp_gate_may_report(report->rank, talk->wire.rank, talk->wire.node_count))
			talk->wire.dropped.message++;
		else if (osp_gate_barrier_hear(&talk->barrier, report, gate_now_ms(talk)) < 0)
			osp_gate_log(talk->job, "out of memory");
	}
}

/* False: it goes. */
static bool hear_below(struct gate_talk *talk, struct osp_gate_peer *peer)
{
	struct osp_gate_message message;
	int state;

	while ((state = osp_gate_take_message(&talk->wire, peer, &message)) > 0) {
		bool welcome;

		if (message.header.kind == OSP_GATE_MESSAGE_DATA) {
			/* Its process has the connection now, or nobody. */
			if (!gate_measure_receive(talk, peer, &message))
				talk->wire.dropped.message++;
			osp_gate_message_free(&message);
			return false;
		}
		welcome = peer->state == OSP_GATE_PEER_KNOWN ||
			  becomes_known(talk, peer, message.header.from);

		if (welcome && message.header.kind == OSP_GATE_MESSAGE_REPORT)
			hear_reports(talk, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_LINKS)
			gate_measure_hear(talk, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_TRAFFIC)
			gate_measure_hear_traffic(talk, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_PARTS)
			gate_reduce_hear(talk, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_OTHER)
			gate_hear_other_below(talk, &message);
		osp_gate_message_free(&message);
		if (!welcome)
			return false;
	}
	return state == 0;
}

/* Who goes before the verdict may be dead, or has found another way to the decider. */
static void lose_peer(struct gate_talk *talk, struct osp_gate_peer *peer)
{
	bool known = peer->state == OSP_GATE_PEER_KNOWN;
	uint32_t rank = peer->rank;

	osp_gate_hang_up(peer);
	if (known && !talk->has_verdict && osp_gate_barrier_gone(&talk->barrier, rank) < 0)
		osp_gate_log(talk->job, "out of memory");
}

static void serve_peer(struct gate_talk *talk, struct osp_gate_peer *peer, short events)
{
	bool open = true;

	if (peer->state == OSP_GATE_PEER_NONE)
		return;
	if (peer->state == OSP_GATE_PEER_UNPROVEN && gate_now_ms(talk) >= peer->until_ms) {
		talk->wire.dropped.late++;
		osp_gate_hang_up(peer);
		return;
	}
	if (events & (POLLIN | POLLHUP | POLLERR))
		open = osp_gate_receive(&talk->wire, peer) == 0;
	if (events)
		open = hear_below(talk, peer) && open;
	if (!open || (events & POLLOUT && osp_gate_flush(peer)))
		lose_peer(talk, peer);
}

/* --- the job itself --------------------------------------------------------------------------- */

/* The first node; and a deputy that nobody above answers, which will decide. */
static bool is_watcher(const struct gate_talk *talk)
{
	const struct osp_gate_barrier *barrier = &talk->barrier;

	return talk->wire.rank == 0 || !barrier->parent_count ||
	       (osp_gate_is_deputy(talk->wire.rank, talk->wire.node_count) && barrier->all_silent &&
		!barrier->connected);
}

/* Whether the job is still there, and how far we are: asked and told only when it takes long, by
 * one node, and for two seconds at most. */
static void watch_job(struct gate_talk *talk)
{
	struct osp_gate_report *reports;

	if (!is_watcher(talk) || talk->has_verdict || gate_now_ms(talk) < talk->next_ask_ms)
		return;
	talk->next_ask_ms = gate_now_ms(talk) + ASK_EVERY_MS;
	reports = calloc(talk->wire.node_count, sizeof(*reports));
	if (!reports)
		return;
	osp_gate_barrier_all(&talk->barrier, reports);
	for (uint32_t i = 0; i < talk->wire.node_count; i++)
		if (reports[i].result == OSP_VERDICT_SILENT)
			reports[i].rank = OSP_GATE_NOBODY;
	talk->job_gone = !osp_gate_act_progress(talk->here, reports, talk->barrier.heard);
	for (uint32_t i = 0; !talk->barrier.ended && i < talk->wire.node_count; i++)
		if (reports[i].rank == OSP_GATE_NOBODY && osp_gate_act_absent(talk->here, i) &&
		    osp_gate_barrier_absent(&talk->barrier, i, gate_now_ms(talk)) < 0)
			osp_gate_log(talk->job, "out of memory");
	free(reports);
}

/* --- the verdict ------------------------------------------------------------------------------ */

static void write_verdict(struct osp_text *message, const struct osp_gate_header *header,
			  const void *verdict, uint32_t count)
{
	(void)count;
	osp_gate_write_verdict(message, header, verdict);
}

static void tell_verdict(struct gate_talk *talk)
{
	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state != OSP_GATE_PEER_KNOWN)
			osp_gate_hang_up(&talk->peers[i]);
	gate_tell_below(talk, &(struct gate_words){OSP_GATE_MESSAGE_VERDICT, 0, write_verdict,
						   talk->verdict, 1});
	gate_tell_others(talk, false);
}

/* Until everybody below has hung up, which is how they say that they know. */
static void say_goodbye(struct gate_talk *talk)
{
	uint64_t until_ms = gate_now_ms(talk) + GOODBYE_MS, now_ms;

	osp_gate_hang_up(&talk->above);
	while ((now_ms = gate_now_ms(talk)) < until_ms) {
		struct pollfd files[GATE_PEERS_MAX];
		nfds_t count = 0;

		for (size_t i = 0; i < talk->peer_count; i++)
			if (talk->peers[i].state == OSP_GATE_PEER_KNOWN)
				files[count++] = (struct pollfd){
					.fd = talk->peers[i].file,
					.events = (short)(POLLIN | (osp_gate_unsent(&talk->peers[i])
									    ? POLLOUT
									    : 0))};
		if (!count || poll(files, count, (int)(until_ms - now_ms)) < 0)
			return;
		for (size_t i = 0, n = 0; i < talk->peer_count; i++) {
			struct osp_gate_peer *peer = &talk->peers[i];
			short events;

			if (peer->state != OSP_GATE_PEER_KNOWN)
				continue;
			events = files[n++].revents;
			if ((events & POLLOUT && osp_gate_flush(peer)) ||
			    (events & (POLLIN | POLLHUP | POLLERR) &&
			     osp_gate_receive(&talk->wire, peer)))
				osp_gate_hang_up(peer);
		}
	}
}

static void decide(struct gate_talk *talk)
{
	uint64_t until_ms =
		talk->here->begun_ms +
		osp_gate_ask_until_ms(&talk->barrier.times, (uint32_t)gate_now_ms(talk));

	talk->verdict->decider = talk->wire.rank;
	if (talk->job_gone) {
		talk->verdict->kind = OSP_GATE_END;
		snprintf(talk->verdict->says, sizeof(talk->verdict->says),
			 "the job has ended while its nodes were checked");
	} else if (talk->reports) {
		if (talk->measure.done)
			gate_measure_judge(talk, talk->reports);
		if (talk->reduce.judged)
			gate_reduce_judge(talk, talk->reports);
		osp_gate_act_decide(talk->here, talk->reports, until_ms, talk->verdict);
	}
	talk->has_verdict = true;
}

static void measure_or_decide(struct gate_talk *talk)
{
	if (!gate_measure_start(talk, talk->reports))
		decide(talk);
}

/* All reports are in, or the time for them is over: what is left is the network, and then the
 * verdict. */
static void complete(struct gate_talk *talk)
{
	osp_gate_barrier_end(&talk->barrier);
	if (talk->reports) { /* the job has gone while the network was measured */
		decide(talk);
		return;
	}
	talk->reports = calloc(talk->wire.node_count, sizeof(*talk->reports));
	if (talk->reports)
		osp_gate_barrier_all(&talk->barrier, talk->reports);
	if (talk->job_gone || !talk->reports)
		decide(talk);
	else if (!gate_reduce_start(talk, talk->reports))
		measure_or_decide(talk);
}

/* What measured the network is done: what TCP does not have to add, it does not. */
static void go_on(struct gate_talk *talk)
{
	if (talk->measure.decides) {
		if (talk->measure.done)
			decide(talk);
	} else if (talk->reduce.decides && talk->reduce.done) {
		if (talk->reduce.judged && !talk->job->gang.spares)
			decide(talk);
		else
			measure_or_decide(talk);
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Waits for whatever comes first and serves it. */
static void wait_and_serve(struct gate_talk *talk, uint64_t wake_ms)
{
	struct pollfd files[GATE_PEERS_MAX + 4];
	size_t peer_count = talk->peer_count;
	uint64_t now_ms = gate_now_ms(talk);
	nfds_t count = 4;

	files[0] = (struct pollfd){.fd = talk->listener, .events = POLLIN};
	files[1] =
		(struct pollfd){.fd = talk->checking ? talk->check.answer : -1, .events = POLLIN};
	files[2] = (struct pollfd){
		.fd = talk->above.file,
		.events = (short)(talk->above.state == OSP_GATE_PEER_CONNECTING ? POLLOUT
				  : osp_gate_unsent(&talk->above)		? POLLIN | POLLOUT
										: POLLIN)};
	files[3] =
		(struct pollfd){.fd = talk->reduce.reducer.asked ? talk->reduce.reducer.file : -1,
				.events = POLLIN};
	for (size_t i = 0; i < peer_count; i++)
		files[count++] = (struct pollfd){
			.fd = talk->peers[i].state ? talk->peers[i].file : -1,
			.events =
				(short)(POLLIN | (osp_gate_unsent(&talk->peers[i]) ? POLLOUT : 0))};
	if (poll(files, count, now_ms < wake_ms ? (int)(wake_ms - now_ms) : 0) < 0)
		return;
	serve_check(talk, files[1].revents);
	serve_above(talk, files[2].revents);
	for (size_t i = 0; i < peer_count; i++)
		serve_peer(talk, &talk->peers[i], files[4 + i].revents);
	if (files[0].revents)
		accept_peers(talk);
}

/* The next moment at which something must be looked at though nothing came. */
static uint64_t next_look_ms(const struct gate_talk *talk, uint64_t wake_ms)
{
	if (talk->checking)
		wake_ms = least(least(wake_ms, talk->barrier.times.check_ms),
				osp_gate_check_due_ms(&talk->check) - talk->here->begun_ms);
	wake_ms = least(wake_ms, gate_reduce_look_ms(talk));
	if (gate_measuring(talk))
		wake_ms = least(wake_ms, gate_now_ms(talk) + MEASURE_LOOK_MS);
	if (talk->above.state && talk->above.state != OSP_GATE_PEER_KNOWN)
		wake_ms = least(wake_ms, talk->above.until_ms);
	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state == OSP_GATE_PEER_UNPROVEN)
			wake_ms = least(wake_ms, talk->peers[i].until_ms);
	if (is_watcher(talk))
		wake_ms = least(wake_ms, talk->next_ask_ms);
	return wake_ms;
}

static enum osp_gate_outcome loop(struct gate_talk *talk)
{
	while (!talk->has_verdict) {
		uint64_t wake_ms;
		enum osp_gate_step step =
			osp_gate_barrier_step(&talk->barrier, gate_now_ms(talk), &wake_ms);

		if (talk->no_verdict)
			return OSP_GATE_CUT_OFF;
		if (talk->job_gone)
			step = OSP_GATE_DECIDE;
		switch (step) {
		case OSP_GATE_CONNECT:
			connect_above(talk);
			wake_ms = talk->above.state ? wake_ms : talk->next_try_ms;
			break;
		case OSP_GATE_SEND:
			send_reports(talk);
			if (talk->above.state && osp_gate_flush(&talk->above))
				lose_above(talk);
			break;
		case OSP_GATE_DECIDE:
			complete(talk);
			continue;
		case OSP_GATE_ALONE:
			return OSP_GATE_CUT_OFF;
		case OSP_GATE_WAIT:
			break;
		}
		wait_and_serve(talk, next_look_ms(talk, wake_ms));
		watch_job(talk);
		gate_measure_serve(talk);
		gate_reduce_serve(talk);
		if (!talk->has_verdict)
			go_on(talk);
	}
	return OSP_GATE_KNOWN;
}

/* The verdict is known: told, and what it needs is done. Where this process is killed meanwhile
 * nobody does it again, and a decider that had something left to do lets its Prolog fail, so that
 * the job does not start. */
static void finish(struct gate_talk *talk)
{
	const struct osp_gate_verdict *verdict = talk->verdict;
	bool decides = verdict->decider == talk->wire.rank;

	osp_gate_again_never(decides && osp_gate_act_left(verdict) ? OSP_EXIT_NO : OSP_EXIT_YES);
	if (talk->wire.node_count > 1) {
		tell_verdict(talk);
		say_goodbye(talk);
	}
	if (decides)
		osp_gate_act_after(talk->here, verdict,
				   talk->here->begun_ms + talk->barrier.times.verdict_ms);
	osp_gate_again_never(OSP_EXIT_YES);
}

/* None will come, to those below neither. */
static void tell_none(struct gate_talk *talk)
{
	gate_tell_others(talk, true);
	say_goodbye(talk);
}

enum osp_gate_outcome osp_gate_talk(const struct osp_gate_job *job,
				    const struct osp_gate_here *here, struct osp_gate_report *own,
				    struct osp_gate_verdict *verdict)
{
	struct gate_talk *talk = calloc(1, sizeof(*talk));
	enum osp_gate_outcome outcome = OSP_GATE_CUT_OFF;
	struct osp_error error = {.text = "out of memory"};

	memset(own, 0, sizeof(*own));
	memset(verdict, 0, sizeof(*verdict));
	if (!talk) {
		osp_gate_log(job, "%s", error.text);
		return outcome;
	}
	talk->job = job;
	talk->here = here;
	talk->own_report = own;
	talk->verdict = verdict;
	error.text[0] = '\0';
	if (open_talk(talk, &error)) {
		osp_gate_log(job, "%s", error.text);
	} else {
		start_check(talk);
		outcome = loop(talk);
	}
	if (outcome == OSP_GATE_KNOWN)
		finish(talk);
	else if (talk->no_verdict)
		tell_none(talk);
	close_talk(talk);
	free(talk);
	return outcome;
}
