/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_act_private.h - what the files that act through slurmctld share
 *
 *	gate_act.c	  the decider, and what is decided when slurmctld was not there
 *	gate_act_known.c  what slurmctld knows of the job, and our part of its AdminComment
 *	gate_act_job.c	  what is done to nodes and to the job
 *	gate_quarantine.c what is done to nodes where a drain would end their instances
 */
#ifndef OSP_GATE_ACT_PRIVATE_H
#define OSP_GATE_ACT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/gate_act.h"
#include "host/slurm/controller.h"
#include "lib/gate/gate_verdict.h"

/* What this process has learnt; one gate a process. */
struct gate_act_seen {
	const struct osp_gate_job *job_here; /* for the log */
	bool reported;			     /* AdminComment says how far the gate is */
	struct osp_gate_report *reports;     /* to be decided again: slurmctld did not answer */
	struct osp_controller_job job;	     /* as last asked */
	bool job_known;
	bool exclude_later; /* slurmctld did not take the stopped job's suspects in time */
	int64_t began_s;    /* the slurmctld that was asked before anything was changed; 0: none */
};

extern struct gate_act_seen gate_act_seen;

/* --- gate_act_known.c ------------------------------------------------------------------------- */

void gate_act_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Logs an error about `what`. Returns true for one; a job or node that is gone is none. */
bool gate_act_failed(int error, const char *what);

/* Asks about the job. Returns 0, or Slurm's error. */
int gate_act_ask_job(const struct osp_gate_gang *gang, uint64_t until_ms);

/* Returns how often the gate has stopped the job, by AdminComment. */
struct osp_gate_stops gate_act_stopped_before(void);

struct gate_act_keeping {
	const struct osp_gate_gang *gang;
	const struct osp_gate_verdict *verdict;
	uint32_t hint; /* names come nearly in the gang's order */
};

/* Returns the rank of a node's name, OSP_GATE_NOBODY if it has none. */
uint32_t gate_act_rank_of(const struct osp_gate_gang *gang, const char *node, uint32_t *hint);

/* Returns whether the verdict takes the node out of the job. */
bool gate_act_released(const struct osp_gate_verdict *verdict, uint32_t rank);

/* Returns the AdminComment with `words` in the gate's piece and, where nodes are released, without
 * them; the caller frees it. */
char *gate_act_new_comment(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict,
			   const char *words);

/* Writes what `says` into AdminComment. */
void gate_act_comment(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict,
		      struct osp_gate_stops stopped, const char *says, uint64_t until_ms);

/* Returns leaves by rank as AdminComment has them, NULL if it has none; the caller frees them. */
uint32_t *gate_act_leaves(const struct osp_gate_gang *gang);

/*
 * Returns the segment of each node by rank, of a gang with spares in each; NULL for any other.
 * *unknown: it has them, but slurmctld did not say where. The caller frees it.
 */
uint32_t *gate_act_segments(const struct osp_gate_gang *gang, bool *unknown);

/* Returns what the breaker counts of all nodes; the caller frees it. */
struct osp_breaker_mark *gate_act_marks(const struct osp_controller_nodes *nodes, size_t *count);

/* --- gate_act_job.c --------------------------------------------------------------------------- */

/* Drains a node. Gives our reason only if there is none: somebody else's stays, and so does the
 * drain. */
void gate_act_drain(const struct osp_gate_here *here, const struct osp_gate_sentence *sentence,
		    const struct osp_controller_nodes *nodes, uint64_t until_ms);

/* Excludes the verdict's suspects from the job, beside what its user excluded. Returns false if
 * slurmctld did not answer in time. */
bool gate_act_exclude(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict,
		      uint64_t until_ms);

/* Drains the node `name`, which is `node` (NULL: unknown); somebody else's reason stays. Logs it.
 * Returns false if slurmctld has not taken it. */
bool gate_act_drain_now(const char *name, const struct osp_gate_sentence *sentence,
			const struct osp_controller_node *node, uint64_t until_ms);

/* Adds to the breaker's marks, which may move, a mark for each node in quarantine. Returns 0 or
 * Slurm's error. */
int gate_act_add_marks(const struct osp_gate_here *here, struct osp_breaker_mark **marks,
		       size_t *count, uint64_t until_ms);

/* Keeps the node out of use without a drain (lib/gate/quarantine.h), where the policy says so and
 * clustermgtd would end its instance. Returns false if it is to be drained. */
bool gate_act_quarantine(const struct osp_gate_here *here, const struct osp_gate_sentence *sentence,
			 const struct osp_controller_node *node, uint64_t until_ms);

/* Makes the job start again, held or not, or end. Returns false if slurmctld has not taken it. */
bool gate_act_stop_job(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		       uint64_t until_ms);

/* Gives the spares back. Where Slurm does not take it, good nodes too many do no harm; a bad one
 * does. */
void gate_act_shrink(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		     uint64_t until_ms);

#endif
