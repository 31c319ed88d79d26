/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_tell.c - what one node tells others of the gang, and how a message goes up and down the
 * tree */
#include "onespine_config.h"
#include "gate/gate_talk_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "gate/gate_talk.h"

const char *gate_name_of(const struct gate_talk *talk, uint32_t rank)
{
	return talk->job->gang.nodes[rank];
}

uint32_t gate_parent_of(const struct gate_talk *talk)
{
	return talk->barrier.parents[talk->barrier.parent];
}

/* --- up and down the tree --------------------------------------------------------------------- */

static int seal(struct gate_talk *talk, struct osp_gate_peer *peer, const struct gate_words *words,
		struct osp_error *error)
{
	struct osp_gate_header header =
		osp_gate_header_to(&talk->wire, peer, words->kind, words->round);
	struct osp_text message = OSP_TEXT_INIT;

	words->write(&message, &header, words->what, words->count);
	return osp_gate_seal(&talk->wire, peer, &message, error);
}

void gate_tell_above(struct gate_talk *talk, const struct gate_words *words)
{
	struct osp_error error = {.text = ""};

	if (talk->above.state == OSP_GATE_PEER_KNOWN && seal(talk, &talk->above, words, &error))
		osp_gate_log(talk->job, "cannot tell %s: %s",
			     gate_name_of(talk, gate_parent_of(talk)), error.text);
}

/* Who cannot be reached goes. */
static void tell(struct gate_talk *talk, struct osp_gate_peer *peer, const struct gate_words *words)
{
	struct osp_error error = {.text = ""};

	if (seal(talk, peer, words, &error)) {
		osp_gate_log(talk->job, "cannot tell %s: %s", gate_name_of(talk, peer->rank),
			     error.text);
		osp_gate_hang_up(peer);
	} else if (osp_gate_flush(peer)) {
		osp_gate_hang_up(peer);
	}
}

void gate_tell_below(struct gate_talk *talk, const struct gate_words *words)
{
	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state == OSP_GATE_PEER_KNOWN &&
		    !osp_gate_is_other(&talk->peers[i]))
			tell(talk, &talk->peers[i], words);
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

void gate_tell_others(struct gate_talk *talk, bool all)
{
	const struct gate_words words = {.kind = OSP_GATE_MESSAGE_OTHER, .write = write_none};

	for (size_t i = 0; i < talk->peer_count; i++)
		if (talk->peers[i].state == OSP_GATE_PEER_KNOWN &&
		    (all || osp_gate_is_other(&talk->peers[i])))
			tell(talk, &talk->peers[i], &words);
}

void gate_hear_other_below(struct gate_talk *talk, const struct osp_gate_message *message)
{
	for (uint32_t i = 0; i < message->count; i++) {
		struct osp_gate_report report = {.rank = message->ranks[i],
						 .result = OSP_VERDICT_ERROR};

		if (!osp_gate_may_report(report.rank, talk->wire.rank, talk->wire.node_count)) {
			talk->wire.dropped.message++;
			continue;
		}
		snprintf(report.check, sizeof(report.check), "gate");
		snprintf(
			report.reason, sizeof(report.reason),
			"its gate speaks version %u of messages, that of %.40s version %u: install "
			"one release on all nodes",
			message->header.version, talk->job->node, OSP_GATE_WIRE_VERSION);
		osp_gate_log(talk->job, "%s: %s", gate_name_of(talk, report.rank), report.reason);
		if (osp_gate_barrier_hear(&talk->barrier, &report, gate_now_ms(talk)) < 0)
			osp_gate_log(talk->job, "out of memory");
	}
}

void gate_hear_other_above(struct gate_talk *talk, const struct osp_gate_message *message)
{
	if (osp_gate_is_other(&talk->above))
		osp_gate_log(talk->job,
			     "this gate speaks version %u of messages, that of %s version %u: "
			     "install one release on all nodes",
			     OSP_GATE_WIRE_VERSION, gate_name_of(talk, gate_parent_of(talk)),
			     message->header.version);
	talk->no_verdict = true;
	osp_gate_barrier_end(&talk->barrier);
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

static void say_of_network(const struct gate_talk *talk, struct osp_gate_report *report)
{
	snprintf(report->check, sizeof(report->check), OSP_GATE_NETWORK_CHECK);
	osp_gate_log(talk->job, "%s: %s", gate_name_of(talk, report->rank), report->reason);
}

void gate_blame(const struct gate_talk *talk, struct osp_gate_report *report, bool wrong)
{
	say_of_network(talk, report);
	if (wrong) {
		report->blamed = true;
		report->result = OSP_VERDICT_FAIL;
	} else {
		report->pace = OSP_GATE_PACE_SLOW;
	}
}

void gate_pardon(const struct gate_talk *talk, struct osp_gate_report *report,
		 const struct osp_gate_traffic *seen)
{
	char words[OSP_GATE_TRAFFIC_WORDS_BYTES];

	if (seen->quiet == OSP_GATE_QUIET)
		return;
	snprintf(report->reason, sizeof(report->reason), "onespine: network not judged: %s",
		 osp_gate_traffic_words(seen, words, sizeof(words)));
	say_of_network(talk, report);
	report->pace = OSP_GATE_PACE_UNSURE;
}
