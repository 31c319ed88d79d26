/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_act.h - what the gate does through slurmctld
 *
 * `onespine gate` calls these, as root, on a node of the gang. slurmctld is asked only when not all
 * passed, when there are spares to release, or when it takes long. Each call keeps its own deadline
 * (osp_now_ms() of check/check.h) and never fails the Prolog: what could not be done is said in the
 * log (standard error) and in the verdict's words.
 */
#ifndef OSP_GATE_ACT_H
#define OSP_GATE_ACT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate.h"
#include "lib/gate/gate_policy.h"

struct osp_gate_job;

/* Where it runs, for every call below. `gang` outlives it. */
struct osp_gate_here {
	const struct osp_gate_job *job; /* for the log */
	const struct osp_gate_gang *gang;
	const struct osp_gate_policy *policy;
	const char *state_folder; /* root's own, on this node: "/var/lib/onespine" */
	const char *test_root;	  /* "" or a folder that stands for / (tests) */
	uint64_t begun_ms;
};

/* --- on the decider ----------------------------------------------------------------------------- */

/*
 * Decides from `reports` (gang->node_count of them, by rank; the silence of a node without GPUs of the
 * job becomes SKIP), does what must be done before any Prolog ends (drains, requeues, holds, ends), and
 * fills `verdict` in any case. When all is well and there are no spares it asks nobody and returns at
 * once.
 */
void osp_gate_act_decide(const struct osp_gate_here *here, struct osp_gate_report *reports,
			 uint64_t until_ms, struct osp_gate_verdict *verdict);

/* After the others were told: releases the spares, once their Prologs have ended; then this node's
 * own Prolog ends too. */
/* Whether that has anything to do that no other node would: who begins it must end it. */
bool osp_gate_act_left(const struct osp_gate_verdict *verdict);
void osp_gate_act_after(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict,
			uint64_t until_ms);

/*
 * Now and then while the gate waits, on rank 0: tells the user how far it is. `heard` reports are in
 * (the others have rank OSP_GATE_NOBODY). False when the job is gone meanwhile (cancelled): then the
 * gate ends with OSP_GATE_END everywhere.
 */
bool osp_gate_act_progress(const struct osp_gate_here *here, const struct osp_gate_report *reports,
			   uint32_t heard);

/* Whether no gate runs on that node, for the job has no GPUs there though it has some elsewhere: as
 * slurmctld said when it was last asked. */
bool osp_gate_act_absent(const struct osp_gate_here *here, uint32_t rank);

/* --- on every node ------------------------------------------------------------------------------ */

/* Before this node's report goes out, and only when it is FAIL or ERROR: what was seen is saved off
 * the node. `json` is what `onespine check --json` prints. */
void osp_gate_act_evidence(const struct osp_gate_here *here, const struct osp_gate_report *report,
			   const char *json);

/* In the Epilog: the passive checks' outcome and counters' deltas are put on record. */
void osp_gate_act_epilog(const struct osp_gate_here *here, const struct osp_gate_report *report,
			 const char *json);

#endif
