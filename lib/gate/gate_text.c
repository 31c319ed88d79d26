/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_text.c - the texts that people read about a gate: its progress and its findings */
#include "lib/gate/gate_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/health/reason.h"

#define STOPPED "stopped "

static const char *plain_reason(const char *reason)
{
	return osp_reason_is_ours(reason) ? reason + strlen(OSP_REASON_PREFIX) : reason;
}

const char *osp_gate_progress(const struct osp_gate_gang *gang,
			      const struct osp_gate_report *reports, char *buffer,
			      size_t buffer_bytes)
{
	uint32_t passed = 0, failed = 0, broken = 0, first_failed = 0;
	char pieces[3][48] = {"", "", ""};

	for (uint32_t r = 0; r < gang->node_count; r++) {
		if (reports[r].rank == OSP_GATE_NOBODY)
			continue;
		if (reports[r].result == OSP_VERDICT_FAIL || reports[r].blamed) {
			if (!failed++)
				first_failed = r;
		} else if (reports[r].result == OSP_VERDICT_ERROR) {
			broken++;
		} else if (reports[r].result < OSP_VERDICT_ERROR) {
			passed++;
		}
	}
	if (passed + failed + broken < gang->node_count)
		snprintf(pieces[0], sizeof(pieces[0]), ", %u running",
			 gang->node_count - passed - failed - broken);
	if (broken)
		snprintf(pieces[1], sizeof(pieces[1]), ", %u could not be checked", broken);
	if (failed)
		snprintf(pieces[2], sizeof(pieces[2]), ", %u failed", failed);
	snprintf(buffer, buffer_bytes, "checking %u node%s: %u passed%s%s%s%s%.63s%s%s%s",
		 gang->node_count, osp_plural_s(gang->node_count), passed, pieces[0], pieces[1],
		 pieces[2], failed ? " (" : "", failed ? gang->nodes[first_failed] : "",
		 failed ? ": " : "", failed ? plain_reason(reports[first_failed].reason) : "",
		 failed ? ")" : "");
	return buffer;
}

const char *osp_gate_note(const struct osp_gate_stops *stops, const char *says, char *buffer,
			  size_t buffer_bytes)
{
	char slow[32] = "";

	if (stops->slow)
		snprintf(slow, sizeof(slow), ", %u slow", stops->slow);
	if (stops->all)
		snprintf(buffer, buffer_bytes, STOPPED "%u start%s%s; %s", stops->all,
			 osp_plural_s(stops->all), slow, says);
	else
		snprintf(buffer, buffer_bytes, "%s", says);
	return buffer;
}

/* Reads a count of up to 9 digits with `word` behind it, and goes on behind both. */
static bool read_count(const char **at, const char *word, unsigned int *count)
{
	size_t digits = strspn(*at, "0123456789"), length = strlen(word);

	if (!digits || digits > 9 || strncmp(*at + digits, word, length) != 0)
		return false;
	*count = (unsigned int)strtoul(*at, NULL, 10);
	*at += digits + length;
	return true;
}

struct osp_gate_stops osp_gate_stopped(const char *note)
{
	struct osp_gate_stops stops = {.all = 0};

	if (!note || strncmp(note, STOPPED, sizeof(STOPPED) - 1) != 0)
		return stops;
	note += sizeof(STOPPED) - 1;
	if (!read_count(&note, " start", &stops.all))
		return stops;
	note += *note == 's';
	if (!strncmp(note, ", ", 2)) {
		note += 2;
		(void)read_count(&note, " slow", &stops.slow);
	}
	return stops;
}
