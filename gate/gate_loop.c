/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_loop.c - one node's gate: checks, reports, waits for the verdict */
#include "onespine_config.h"
#include "gate/gate_loop.h"

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
#include "gate/gate_loop_private.h"
#include "host/output.h"

#define GOODBYE_MS		  1000 /* for the last words to arrive */
#define ASK_EVERY_MS		  3000
#define MEASURE_LOOK_MS		  5

#define CREDENTIAL_BYTES(message) ((message)*4 / 3 + 1024)
#define REPORT_BYTES_MOST	  320

uint64_t gate_now_ms(const struct gate_loop *loop)
{
	return osp_now_ms() - loop->here->begun_ms;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/*
 * Listens at the node's own address, if this host has it: then what others see is what slurm.conf
 * says. A host that knows itself by a loopback name only (Debian's 127.0.1.1), or is behind address
 * translation, listens everywhere.
 */
static void open_listener(struct gate_loop *loop)
{
	const struct osp_gate_gang *gang = &loop->job->gang;
	const struct osp_gate_policy *policy = loop->job->policy;
	struct osp_error error = {.text = ""};
	struct sockaddr_storage other;
	bool known = osp_gate_address(loop->job->node, &loop->own, &error) == 0;

	if (known && osp_gate_is_loopback(&loop->own) &&
	    osp_gate_address(gang->nodes[gang->rank ? 0 : 1], &other, NULL) == 0 &&
	    !osp_gate_is_loopback(&other))
		known = false;
	loop->listener = -1;
	if (known)
		loop->listener = osp_gate_listen(&loop->own, policy->port_first, policy->port_last,
						 gang->job, &error);
	loop->own_bound = loop->listener >= 0;
	if (loop->listener < 0)
		loop->listener = osp_gate_listen(NULL, policy->port_first, policy->port_last,
						 gang->job, &error);
	if (loop->listener < 0)
		osp_gate_log(loop->job, "cannot hear other nodes: %s", error.text);
}

static size_t frame_bytes_max(uint32_t node_count)
{
	size_t message = 4096 + (size_t)node_count * REPORT_BYTES_MOST;

	if (message > OSP_GATE_MESSAGE_BYTES_MAX)
		message = OSP_GATE_MESSAGE_BYTES_MAX;
	return CREDENTIAL_BYTES(message);
}

/* Opens the seal. Without one this node is silent to the others, as if MUNGE were down, but
 * checks itself: if it fails, its job must not start. */
static void open_seal(struct gate_loop *loop)
{
	char words[OSP_ERROR_FILE_BYTES + OSP_ERROR_TEXT_BYTES];
	struct osp_error error = {.text = ""};

	if (osp_gate_wire_open(&loop->wire, loop->job->key_file, loop->job->munge_socket,
			       loop->job->policy->budget_s + 10, &error))
		osp_gate_log(loop->job, "cannot speak with other nodes: %s",
			     osp_error_format(&error, words, sizeof(words)));
}

static int open_talk(struct gate_loop *loop, struct osp_error *error)
{
	const struct osp_gate_gang *gang = &loop->job->gang;

	loop->listener = -1;
	loop->above.file = -1;
	loop->check.answer = -1;
	loop->check.words = -1;
	loop->next_ask_ms = ASK_EVERY_MS;
	loop->wire.job = gang->job;
	loop->wire.restarts = gang->restarts;
	loop->wire.rank = gang->rank;
	loop->wire.node_count = gang->node_count;
	loop->wire.gang = osp_gate_gang_sum(gang->nodes, gang->node_count);
	loop->wire.frame_bytes_max = frame_bytes_max(gang->node_count);
	if (osp_gate_barrier_start(&loop->barrier, gang->rank, gang->node_count,
				   loop->job->policy->budget_s * 1000))
		return osp_error_set(error, "out of memory");
	if (gang->node_count == 1)
		return 0;
	open_seal(loop);
	open_listener(loop);
	return 0;
}

static void close_talk(struct gate_loop *loop)
{
	const struct osp_gate_dropped *dropped = &loop->wire.dropped;

	if (dropped->port + dropped->many + dropped->size + dropped->unproven + dropped->message +
	    dropped->address + dropped->late)
		osp_gate_log(loop->job,
			     "dropped: %u from ports that users can have, %u too many, %u too "
			     "long, %u without root's seal, %u not of this gate, %u from "
			     "wrong addresses, %u silent",
			     dropped->port, dropped->many, dropped->size, dropped->unproven,
			     dropped->message, dropped->address, dropped->late);
	if (*loop->wire.seal.unknown)
		osp_gate_log(loop->job,
			     "a message names key %s, which is not in %s: the nodes have "
			     "different keys",
			     loop->wire.seal.unknown, loop->job->key_file);
	osp_gate_hang_up(&loop->above);
	for (size_t i = 0; i < loop->peer_count; i++)
		osp_gate_hang_up(&loop->peers[i]);
	if (loop->listener >= 0)
		close(loop->listener);
	gate_measure_free(loop);
	gate_reduce_free(loop);
	free(loop->reports);
	osp_gate_check_free(&loop->check);
	osp_gate_barrier_free(&loop->barrier);
	osp_gate_wire_close(&loop->wire);
}

/* --- this node's check ------------------------------------------------------------------------ */

/* Returns what the log adds to a failure for which policy does not drain. */
static const char *what_policy_leaves(const struct osp_gate_policy *policy,
				      const struct osp_gate_report *own)
{
	return own->result != OSP_VERDICT_FAIL ||
			       osp_gate_policy_failure(policy, own->check) == OSP_GATE_ON_FAIL_DRAIN
		       ? ""
		       : " (failure: drain would drain this node)";
}

static void hear_own(struct gate_loop *loop)
{
	struct osp_gate_report *own = loop->own_report;

	own->rank = loop->job->gang.rank;
	loop->checking = false;
	osp_gate_instance_look(loop->job, own);
	if (own->result >= OSP_VERDICT_ERROR) {
		osp_gate_log(loop->job, "%s %s%s", osp_verdict_name(own->result), own->reason,
			     what_policy_leaves(loop->job->policy, own));
		osp_gate_act_evidence(loop->here, own,
				      loop->check.json.data ? loop->check.json.data : "");
	}
	if (osp_gate_barrier_hear(&loop->barrier, own, gate_now_ms(loop)) < 0)
		osp_gate_log(loop->job, "out of memory");
}

static void start_check(struct gate_loop *loop)
{
	struct osp_error error = {.text = ""};

	loop->checking = true;
	if (osp_gate_check_start(&loop->check, loop->job, loop->barrier.times.check_ms, true,
				 &error)) {
		loop->own_report->result = OSP_VERDICT_ERROR;
		snprintf(loop->own_report->reason, sizeof(loop->own_report->reason), "%.190s",
			 error.text);
		hear_own(loop);
	}
}

static void serve_check(struct gate_loop *loop, bool readable)
{
	bool late = gate_now_ms(loop) >= loop->barrier.times.check_ms, ended = false;

	if (!loop->checking)
		return;
	if (readable || osp_now_ms() >= osp_gate_check_due_ms(&loop->check))
		ended = osp_gate_check_read(&loop->check);
	if (!ended && !late)
		return;
	osp_gate_check_end(&loop->check, !ended, loop->own_report);
	hear_own(loop);
}

/* --- those below ------------------------------------------------------------------------------ */

static struct osp_gate_peer *free_peer(struct gate_loop *loop)
{
	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state == OSP_GATE_PEER_NONE)
			return &loop->peers[i];
	return loop->peer_count < GATE_PEERS_MAX ? &loop->peers[loop->peer_count++] : NULL;
}

static size_t count_unproven(const struct gate_loop *loop)
{
	size_t count = 0;

	for (size_t i = 0; i < loop->peer_count; i++)
		count += loop->peers[i].state == OSP_GATE_PEER_UNPROVEN;
	return count;
}

/* Closes the connection that has waited longest, so that none keeps others out by staying open. */
static void drop_oldest_unproven(struct gate_loop *loop)
{
	struct osp_gate_peer *oldest = NULL;

	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state == OSP_GATE_PEER_UNPROVEN &&
		    (!oldest || loop->peers[i].until_ms < oldest->until_ms))
			oldest = &loop->peers[i];
	if (oldest) {
		osp_gate_hang_up(oldest);
		loop->wire.dropped.many++;
	}
}

static void accept_peers(struct gate_loop *loop)
{
	for (int i = 0; i < GATE_UNPROVEN_MAX; i++) {
		struct osp_gate_peer *peer;

		if (count_unproven(loop) >= GATE_UNPROVEN_MAX)
			drop_oldest_unproven(loop);
		peer = free_peer(loop);
		if (!peer || !osp_gate_accept(&loop->wire, loop->listener, peer,
					      gate_now_ms(loop) + GATE_UNPROVEN_MS))
			return;
		if (osp_gate_flush(peer))
			osp_gate_hang_up(peer);
	}
}

/* Judges a peer that has proven to be root somewhere: it must also be where slurm.conf says that it
 * is, and one who may report here. A new connection of the same node replaces the old one. */
static bool becomes_known(struct gate_loop *loop, struct osp_gate_peer *peer, uint32_t rank)
{
	struct sockaddr_storage address;

	if (!osp_gate_may_report(rank, loop->wire.rank, loop->wire.node_count)) {
		loop->wire.dropped.message++;
		return false;
	}
	if (osp_gate_address(gate_name_of(loop, rank), &address, NULL) ||
	    !(osp_gate_same_host(&address, &peer->address) ||
	      (!loop->own_bound && osp_gate_is_loopback(&address)))) {
		loop->wire.dropped.address++;
		return false;
	}
	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state == OSP_GATE_PEER_KNOWN && loop->peers[i].rank == rank)
			osp_gate_hang_up(&loop->peers[i]);
	peer->rank = rank;
	peer->state = OSP_GATE_PEER_KNOWN;
	return true;
}

static void hear_reports(struct gate_loop *loop, const struct osp_gate_message *message)
{
	for (uint32_t i = 0; i < message->count; i++) {
		const struct osp_gate_report *report = &message->reports[i];

		if (!osp_gate_may_report(report->rank, loop->wire.rank, loop->wire.node_count))
			loop->wire.dropped.message++;
		else if (osp_gate_barrier_hear(&loop->barrier, report, gate_now_ms(loop)) < 0)
			osp_gate_log(loop->job, "out of memory");
	}
}

/* Takes a peer's messages. Returns false if the peer is to go. */
static bool hear_below(struct gate_loop *loop, struct osp_gate_peer *peer)
{
	struct osp_gate_message message;
	int state;

	while ((state = osp_gate_take_message(&loop->wire, peer, &message)) > 0) {
		bool welcome;

		if (message.header.kind == OSP_GATE_MESSAGE_DATA) {
			/* Its process has the connection now, or nobody. */
			if (!gate_measure_receive(loop, peer, &message))
				loop->wire.dropped.message++;
			osp_gate_message_free(&message);
			return false;
		}
		welcome = peer->state == OSP_GATE_PEER_KNOWN ||
			  becomes_known(loop, peer, message.header.from);

		if (welcome && message.header.kind == OSP_GATE_MESSAGE_REPORT)
			hear_reports(loop, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_LINKS)
			gate_measure_hear(loop, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_TRAFFIC)
			gate_measure_hear_traffic(loop, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_PARTS)
			gate_reduce_hear(loop, &message);
		else if (welcome && message.header.kind == OSP_GATE_MESSAGE_OTHER)
			gate_hear_other_below(loop, &message);
		osp_gate_message_free(&message);
		if (!welcome)
			return false;
	}
	return state == 0;
}

/* Notes a peer that goes before the verdict: it may be dead, or has found another way to the
 * decider. */
static void lose_peer(struct gate_loop *loop, struct osp_gate_peer *peer)
{
	bool known = peer->state == OSP_GATE_PEER_KNOWN;
	uint32_t rank = peer->rank;

	osp_gate_hang_up(peer);
	if (known && !loop->has_verdict && osp_gate_barrier_gone(&loop->barrier, rank) < 0)
		osp_gate_log(loop->job, "out of memory");
}

static void serve_peer(struct gate_loop *loop, struct osp_gate_peer *peer, short events)
{
	bool open = true;

	if (peer->state == OSP_GATE_PEER_NONE)
		return;
	if (peer->state == OSP_GATE_PEER_UNPROVEN && gate_now_ms(loop) >= peer->until_ms) {
		loop->wire.dropped.late++;
		osp_gate_hang_up(peer);
		return;
	}
	if (events & (POLLIN | POLLHUP | POLLERR))
		open = osp_gate_receive(&loop->wire, peer) == 0;
	if (events)
		open = hear_below(loop, peer) && open;
	if (!open || (events & POLLOUT && osp_gate_flush(peer)))
		lose_peer(loop, peer);
}

/* --- the job itself --------------------------------------------------------------------------- */

/* Returns true for the first node, and for a deputy that nobody above answers, which will
 * decide. */
static bool is_watcher(const struct gate_loop *loop)
{
	const struct osp_gate_barrier *barrier = &loop->barrier;

	return loop->wire.rank == 0 || !barrier->parent_count ||
	       (osp_gate_is_deputy(loop->wire.rank, loop->wire.node_count) && barrier->all_silent &&
		!barrier->connected);
}

/* Returns whether the job is still there, and how far we are: asked and reported only when it takes
 * long, by one node, and for two seconds at most. */
static void watch_job(struct gate_loop *loop)
{
	struct osp_gate_report *reports;

	if (!is_watcher(loop) || loop->has_verdict || gate_now_ms(loop) < loop->next_ask_ms)
		return;
	loop->next_ask_ms = gate_now_ms(loop) + ASK_EVERY_MS;
	reports = calloc(loop->wire.node_count, sizeof(*reports));
	if (!reports)
		return;
	osp_gate_barrier_all(&loop->barrier, reports);
	for (uint32_t i = 0; i < loop->wire.node_count; i++)
		if (reports[i].result == OSP_VERDICT_SILENT)
			reports[i].rank = OSP_GATE_NOBODY;
	loop->job_gone = !osp_gate_act_progress(loop->here, reports, loop->barrier.heard);
	for (uint32_t i = 0; !loop->barrier.ended && i < loop->wire.node_count; i++)
		if (reports[i].rank == OSP_GATE_NOBODY && osp_gate_act_absent(loop->here, i) &&
		    osp_gate_barrier_absent(&loop->barrier, i, gate_now_ms(loop)) < 0)
			osp_gate_log(loop->job, "out of memory");
	free(reports);
}

/* --- the verdict ------------------------------------------------------------------------------ */

static void write_verdict(struct osp_text *message, const struct osp_gate_header *header,
			  const void *verdict, uint32_t count)
{
	(void)count;
	osp_gate_write_verdict(message, header, verdict);
}

static void report_verdict(struct gate_loop *loop)
{
	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state != OSP_GATE_PEER_KNOWN)
			osp_gate_hang_up(&loop->peers[i]);
	gate_send_below(loop, &(struct gate_outgoing){OSP_GATE_MESSAGE_VERDICT, 0, write_verdict,
						      loop->verdict, 1});
	gate_send_others(loop, false);
}

/* Waits until everybody below has hung up: that shows that they have the verdict. */
static void say_goodbye(struct gate_loop *loop)
{
	uint64_t until_ms = gate_now_ms(loop) + GOODBYE_MS, now_ms;

	osp_gate_hang_up(&loop->above);
	while ((now_ms = gate_now_ms(loop)) < until_ms) {
		struct pollfd files[GATE_PEERS_MAX];
		nfds_t count = 0;

		for (size_t i = 0; i < loop->peer_count; i++)
			if (loop->peers[i].state == OSP_GATE_PEER_KNOWN)
				files[count++] = (struct pollfd){
					.fd = loop->peers[i].file,
					.events = (short)(POLLIN | (osp_gate_unsent(&loop->peers[i])
									    ? POLLOUT
									    : 0))};
		if (!count || poll(files, count, (int)(until_ms - now_ms)) < 0)
			return;
		for (size_t i = 0, n = 0; i < loop->peer_count; i++) {
			struct osp_gate_peer *peer = &loop->peers[i];
			short events;

			if (peer->state != OSP_GATE_PEER_KNOWN)
				continue;
			events = files[n++].revents;
			if ((events & POLLOUT && osp_gate_flush(peer)) ||
			    (events & (POLLIN | POLLHUP | POLLERR) &&
			     osp_gate_receive(&loop->wire, peer)))
				osp_gate_hang_up(peer);
		}
	}
}

static void decide(struct gate_loop *loop)
{
	uint64_t until_ms =
		loop->here->begun_ms +
		osp_gate_ask_until_ms(&loop->barrier.times, (uint32_t)gate_now_ms(loop));

	loop->verdict->decider = loop->wire.rank;
	if (loop->job_gone) {
		osp_gate_act_gone(loop->here, loop->reports, until_ms, loop->verdict);
	} else if (loop->reports) {
		if (loop->measure.done)
			gate_measure_judge(loop, loop->reports);
		if (loop->reduce.judged)
			gate_reduce_judge(loop, loop->reports);
		osp_gate_act_decide(loop->here, loop->reports, until_ms, loop->verdict);
	}
	loop->has_verdict = true;
}

static void measure_or_decide(struct gate_loop *loop)
{
	if (!gate_measure_start(loop, loop->reports))
		decide(loop);
}

/* Ends the barrier, since all reports are in or the time for them is over. The network is left,
 * and then the verdict. */
static void complete(struct gate_loop *loop)
{
	osp_gate_barrier_end(&loop->barrier);
	if (loop->reports) { /* the job has gone while the network was measured */
		decide(loop);
		return;
	}
	loop->reports = calloc(loop->wire.node_count, sizeof(*loop->reports));
	if (loop->reports)
		osp_gate_barrier_all(&loop->barrier, loop->reports);
	if (loop->job_gone || !loop->reports)
		decide(loop);
	else if (!gate_reduce_start(loop, loop->reports))
		measure_or_decide(loop);
}

/* Continues after the network was measured: TCP measures only if it has something to add. */
static void go_on(struct gate_loop *loop)
{
	if (loop->measure.decides) {
		if (loop->measure.done)
			decide(loop);
	} else if (loop->reduce.decides && loop->reduce.done) {
		if (loop->reduce.judged && !loop->job->gang.spares)
			decide(loop);
		else
			measure_or_decide(loop);
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Waits for whatever comes first and serves it. */
static void wait_and_serve(struct gate_loop *loop, uint64_t wake_ms)
{
	struct pollfd files[GATE_PEERS_MAX + 4];
	size_t peer_count = loop->peer_count;
	uint64_t now_ms = gate_now_ms(loop);
	nfds_t count = 4;

	files[0] = (struct pollfd){.fd = loop->listener, .events = POLLIN};
	files[1] =
		(struct pollfd){.fd = loop->checking ? loop->check.answer : -1, .events = POLLIN};
	files[2] = (struct pollfd){
		.fd = loop->above.file,
		.events = (short)(loop->above.state == OSP_GATE_PEER_CONNECTING ? POLLOUT
				  : osp_gate_unsent(&loop->above)		? POLLIN | POLLOUT
										: POLLIN)};
	files[3] =
		(struct pollfd){.fd = loop->reduce.reducer.asked ? loop->reduce.reducer.file : -1,
				.events = POLLIN};
	for (size_t i = 0; i < peer_count; i++)
		files[count++] = (struct pollfd){
			.fd = loop->peers[i].state ? loop->peers[i].file : -1,
			.events =
				(short)(POLLIN | (osp_gate_unsent(&loop->peers[i]) ? POLLOUT : 0))};
	if (poll(files, count, now_ms < wake_ms ? (int)(wake_ms - now_ms) : 0) < 0)
		return;
	serve_check(loop, files[1].revents);
	gate_serve_above(loop, files[2].revents);
	for (size_t i = 0; i < peer_count; i++)
		serve_peer(loop, &loop->peers[i], files[4 + i].revents);
	if (files[0].revents)
		accept_peers(loop);
}

/* Returns the next moment at which something must be looked at though nothing came. */
static uint64_t next_look_ms(const struct gate_loop *loop, uint64_t wake_ms)
{
	if (loop->checking)
		wake_ms = gate_least_ms(gate_least_ms(wake_ms, loop->barrier.times.check_ms),
					osp_gate_check_due_ms(&loop->check) - loop->here->begun_ms);
	wake_ms = gate_least_ms(wake_ms, gate_reduce_look_ms(loop));
	if (gate_measuring(loop))
		wake_ms = gate_least_ms(wake_ms, gate_now_ms(loop) + MEASURE_LOOK_MS);
	if (loop->above.state && loop->above.state != OSP_GATE_PEER_KNOWN)
		wake_ms = gate_least_ms(wake_ms, loop->above.until_ms);
	for (size_t i = 0; i < loop->peer_count; i++)
		if (loop->peers[i].state == OSP_GATE_PEER_UNPROVEN)
			wake_ms = gate_least_ms(wake_ms, loop->peers[i].until_ms);
	if (is_watcher(loop))
		wake_ms = gate_least_ms(wake_ms, loop->next_ask_ms);
	return wake_ms;
}

static enum osp_gate_outcome run_loop(struct gate_loop *loop)
{
	while (!loop->has_verdict) {
		uint64_t wake_ms;
		enum osp_gate_step step =
			osp_gate_barrier_step(&loop->barrier, gate_now_ms(loop), &wake_ms);

		if (loop->no_verdict)
			return OSP_GATE_CUT_OFF;
		if (loop->job_gone)
			step = OSP_GATE_DECIDE;
		switch (step) {
		case OSP_GATE_CONNECT:
			gate_connect_above(loop);
			wake_ms = loop->above.state ? wake_ms : loop->next_try_ms;
			break;
		case OSP_GATE_SEND:
			gate_report_above(loop);
			if (loop->above.state && osp_gate_flush(&loop->above))
				gate_lose_above(loop);
			break;
		case OSP_GATE_DECIDE:
			complete(loop);
			continue;
		case OSP_GATE_ALONE:
			return OSP_GATE_CUT_OFF;
		case OSP_GATE_WAIT:
			break;
		}
		wait_and_serve(loop, next_look_ms(loop, wake_ms));
		watch_job(loop);
		gate_measure_serve(loop);
		gate_reduce_serve(loop);
		if (!loop->has_verdict)
			go_on(loop);
	}
	return OSP_GATE_KNOWN;
}

/* Reports the verdict, now known, and does what it needs. Where this process is killed
 * meanwhile nobody does it again, and a decider that had something left to do lets its Prolog fail,
 * so that the job does not start. */
static void finish(struct gate_loop *loop)
{
	const struct osp_gate_verdict *verdict = loop->verdict;
	bool decides = verdict->decider == loop->wire.rank;

	osp_gate_again_never(decides && osp_gate_act_left(verdict) ? OSP_EXIT_NO : OSP_EXIT_YES);
	if (loop->wire.node_count > 1) {
		report_verdict(loop);
		say_goodbye(loop);
	}
	if (decides)
		osp_gate_act_after(loop->here, verdict,
				   loop->here->begun_ms + loop->barrier.times.verdict_ms);
	osp_gate_again_never(OSP_EXIT_YES);
}

/* Informs those below that there will be no verdict. */
static void report_none(struct gate_loop *loop)
{
	gate_send_others(loop, true);
	say_goodbye(loop);
}

enum osp_gate_outcome osp_gate_loop(const struct osp_gate_job *job,
				    const struct osp_gate_here *here, struct osp_gate_report *own,
				    struct osp_gate_verdict *verdict)
{
	struct gate_loop *loop = calloc(1, sizeof(*loop));
	enum osp_gate_outcome outcome = OSP_GATE_CUT_OFF;
	struct osp_error error = {.text = "out of memory"};

	memset(own, 0, sizeof(*own));
	memset(verdict, 0, sizeof(*verdict));
	if (!loop) {
		osp_gate_log(job, "%s", error.text);
		return outcome;
	}
	loop->job = job;
	loop->here = here;
	loop->own_report = own;
	loop->verdict = verdict;
	error.text[0] = '\0';
	if (open_talk(loop, &error)) {
		osp_gate_log(job, "%s", error.text);
	} else {
		start_check(loop);
		outcome = run_loop(loop);
	}
	if (outcome == OSP_GATE_KNOWN)
		finish(loop);
	else if (loop->no_verdict)
		report_none(loop);
	close_talk(loop);
	free(loop);
	return outcome;
}
