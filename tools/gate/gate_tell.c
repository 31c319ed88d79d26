/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "tools/gate/gate_talk_data.h"

#include <stdio.h>

#include "tools/gate/gate_talk.h"

const char *gate_name_of(const struct gate_talk *talk, uint32_t rank)
{
	return talk->job->gang.nodes[rank];
}

uint32_t gate_superior_of(const struct gate_talk *talk)
{
	return talk->barrier.superiors[talk->barrier.superior];
}

/* --- up and down the tree ----------------------------------------------------------------------- */

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
			     gate_name_of(talk, gate_superior_of(talk)), error.text);
}

void gate_tell_below(struct gate_talk *talk, const struct gate_words *words)
{
	for (size_t i = 0; i < talk->peer_count; i++) {
		struct osp_gate_peer *peer = &talk->peers[i];
		struct osp_error error = {.text = ""};

		if (peer->state != OSP_GATE_PEER_KNOWN)
			continue;
		if (seal(talk, peer, words, &error)) {
			osp_gate_log(talk->job, "cannot tell %s: %s",
				     gate_name_of(talk, peer->rank), error.text);
			osp_gate_hang_up(peer);
		} else if (osp_gate_flush(peer)) {
			osp_gate_hang_up(peer);
		}
	}
}

/* --- tests of the network ----------------------------------------------------------------------- */

uint32_t gate_find_fit(const struct osp_gate_report *reports, uint32_t count, bool *fit)
{
	uint32_t fit_count = 0;
	bool all_fresh = true;

	for (uint32_t i = 0; i < count; i++) {
		fit[i] = reports[i].result < OSP_GATE_FAIL;
		fit_count += fit[i];
		all_fresh = all_fresh && reports[i].fresh;
	}
	return all_fresh ? 0 : fit_count;
}

void gate_blame(const struct gate_talk *talk, struct osp_gate_report *report)
{
	snprintf(report->check, sizeof(report->check), "network");
	report->blamed = true;
	report->result = OSP_GATE_FAIL;
	osp_gate_log(talk->job, "%s: %s", gate_name_of(talk, report->rank), report->reason);
}
