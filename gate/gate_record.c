/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_record.c - what the gate puts on record: what a check saw that failed, broke or, after a
 * job, warned
 *
 * Files of root's alone, in a folder of root's alone; their names cannot be foretold, so nobody
 * lays a link where one will be. How many there are is bounded (lib/health/evidence.h).
 */
#include "onespine_config.h"
#include "gate/gate_act.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "gate/gate_loop.h"
#include "host/record/evidence_file.h"
#include "host/record/history_file.h"

#define DEADLINE_MS 3000 /* of a shared folder; a job waits for it */

static bool keep(const struct osp_gate_here *here, const char *folder, enum osp_evidence_kind kind,
		 const char *json)
{
	struct osp_evidence evidence = {.kind = kind,
					.node = here->gang->nodes[here->gang->rank],
					.job = here->gang->job,
					.time_s = (int64_t)time(NULL)};
	struct osp_error error = {.text = ""};
	char name[OSP_EVIDENCE_NAME_BYTES], words[sizeof(error) + 32];

	switch (osp_evidence_save(folder, &evidence, json, DEADLINE_MS, name, &error)) {
	case 1:
		osp_gate_log(here->job, "what was seen: %s/%s", folder, name);
		return true;
	case 0:
		osp_gate_log(here->job, "what was seen is kept already: %s/*-%08x-*", folder,
			     evidence.saw);
		return true;
	default:
		osp_gate_log(here->job, "what was seen is not kept: %s",
			     osp_error_format(&error, words, sizeof(words)));
		return false;
	}
}

/* Keeps the evidence. In a shared folder each node has its own, and so a bound of its own. */
static void record(const struct osp_gate_here *here, enum osp_evidence_kind kind, const char *json)
{
	char folder[4096 + OSP_GATE_NAME_BYTES], node[OSP_GATE_NAME_BYTES];

	if (here->policy->evidence) {
		snprintf(folder, sizeof(folder), "%.4000s/%s", here->policy->evidence,
			 osp_history_key(here->gang->nodes[here->gang->rank], node, sizeof(node)));
		if (keep(here, folder, kind, json))
			return;
	}
	mkdir(here->state_folder, 0755);
	snprintf(folder, sizeof(folder), "%.4000s/evidence", here->state_folder);
	(void)keep(here, folder, kind, json);
}

void osp_gate_act_evidence(const struct osp_gate_here *here, const struct osp_gate_report *report,
			   const char *json)
{
	record(here, report->result == OSP_VERDICT_ERROR ? OSP_EVIDENCE_ERROR : OSP_EVIDENCE_FAIL,
	       json);
}

/* Records a run after a job if it found something. A healthy node is nothing to keep; the counters'
 * changes are in the history. */
void osp_gate_act_epilog(const struct osp_gate_here *here, const struct osp_gate_report *report,
			 const char *json)
{
	if (report->result >= OSP_VERDICT_WARN)
		record(here,
		       report->result == OSP_VERDICT_FAIL ? OSP_EVIDENCE_FAIL : OSP_EVIDENCE_WARN,
		       json);
}
