/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_act.h - what the gate does through slurmctld
 *
 * onespine-gate calls these as root on a node of the gang. It asks slurmctld only if a node did not
 * pass, if there are spares to release, or if the gate takes long. Each call keeps its own deadline
 * (osp_now_ms() of check/check.h) and never fails the Prolog: what failed is reported in the log
 * (standard error) and in the verdict's words.
 */
#ifndef OSP_GATE_ACT_H
#define OSP_GATE_ACT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/gate/gate.h"
#include "lib/gate/gate_policy.h"

struct osp_gate_job;

/* The node on which every call below runs. `gang` outlives it. */
struct osp_gate_here {
	const struct osp_gate_job *job; /* for the log */
	const struct osp_gate_gang *gang;
	const struct osp_gate_policy *policy;
	const char *state_folder; /* root's own, on this node: "/var/lib/onespine" */
	const char *test_root;	  /* "" or a folder that is used as / (tests) */
	uint64_t begun_ms;
};

/* --- on the decider --------------------------------------------------------------------------- */

/*
 * Decides from `reports` (gang->node_count of them, by rank; SILENT becomes SKIP for a node on
 * which the job has no GPUs), takes the actions that must precede the end of every Prolog (drain,
 * requeue, hold, end), and always fills `verdict`. If all nodes passed and there are no spares, it
 * asks nothing of slurmctld and returns at once.
 */
void osp_gate_act_decide(const struct osp_gate_here *here, struct osp_gate_report *reports,
			 uint64_t until_ms, struct osp_gate_verdict *verdict);

/*
 * Ends the gate of a job that osp_gate_act_progress() no longer knows: OSP_GATE_END. What failed by
 * `reports` is drained all the same, if slurmctld answers before `until_ms`; a node without a
 * report is not blamed for it. `reports` is changed; NULL: none is known.
 */
void osp_gate_act_gone(const struct osp_gate_here *here, struct osp_gate_report *reports,
		       uint64_t until_ms, struct osp_gate_verdict *verdict);

/* Returns whether osp_gate_act_after() has something to do, which no other node would do
 * instead. */
bool osp_gate_act_left(const struct osp_gate_verdict *verdict);

/*
 * Releases the spares once their Prologs have ended. If the job was stopped or lost a bad node,
 * waits until slurmctld must have written that; if the slurmctld that answers then has come back
 * with an older state, drains the nodes and stops the job again. To be called when the other nodes
 * have the verdict; after it this node's own Prolog ends.
 */
void osp_gate_act_after(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict,
			uint64_t until_ms);

/*
 * Stops the job whose gate on this node was killed before it had carried out the verdict: it is
 * requeued without this node (held after the policy's number of stopped starts), or ended if it
 * cannot be requeued. True also if there is nothing left to stop; false if slurmctld did not answer
 * for ten minutes.
 */
bool osp_gate_act_stop(const struct osp_gate_here *here);

/*
 * Reports the progress to the user; rank 0 calls it now and then while the gate waits. `heard`
 * reports are in (the others have rank OSP_GATE_NOBODY). Returns false if the job has been
 * cancelled: then the gate ends with OSP_GATE_END on every node.
 */
bool osp_gate_act_progress(const struct osp_gate_here *here, const struct osp_gate_report *reports,
			   uint32_t heard);

/* Returns whether no gate runs on that node, because the job has its GPUs on other nodes only, by
 * the last answer of slurmctld. */
bool osp_gate_act_absent(const struct osp_gate_here *here, uint32_t rank);

/* --- on every node ---------------------------------------------------------------------------- */

/* Saves off the node what its check saw; called before its report is sent, and only for FAIL and
 * ERROR. `json` is the output of `onespine check --json`. */
void osp_gate_act_evidence(const struct osp_gate_here *here, const struct osp_gate_report *report,
			   const char *json);

/* Records the passive checks' outcome and the growth of their counters; called in the Epilog. */
void osp_gate_act_epilog(const struct osp_gate_here *here, const struct osp_gate_report *report,
			 const char *json);

#endif
