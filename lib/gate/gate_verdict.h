/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_verdict.h - from the reports of a gang's nodes to the verdict on the job and on each node
 *
 *	all good, no spares		go
 *	enough good nodes, spares	shrink: the best stay, the others are released
 *	too few good nodes		requeue; after policy's number of stopped starts, hold;
 *					end, if Slurm cannot requeue it
 *	a silent node, or the batch	requeue, hold or end, spares or not: Slurm can release
 *	host is bad			neither a node whose Prolog does not end nor the batch host
 *
 * With spares in each segment (lib/policy/spares.h) as many nodes of each segment are released, and
 * a segment with too few good nodes is too few.
 *
 * The best are the healthiest; among equals those in the fewest leaves, then the fastest.
 *
 * A silent node stops the job only where `failure` (lib/gate/gate_policy.h) is drain. Where it is
 * comment or log the job goes on, on all its nodes, spares too, and the verdict says so.
 *
 * A node is drained only for FAIL, only if policy says so for that check, and only while the
 * circuit breaker (lib/gate/breaker.h) is closed. A failure that policy only comments or logs
 * leaves the node in the job. With the breaker open the job goes on with the failed nodes or waits,
 * as policy says, but better nodes among the spares are still preferred. ERROR and SILENT never
 * drain; a silent node that stopped the job is not given to it again for a while.
 *
 * A node that is only slow (enum osp_gate_pace) is never drained. It stops a job once, and only if
 * the job can be requeued; the job's next start does not get it. After that the job starts, with a
 * warning: so a flood costs a gang one requeue at most. With spares the slow node is released
 * first.
 *
 * A node that is another instance than the one placed (OSP_GATE_INSTANCE_CHECK) is never drained,
 * and always bad, whatever policy says. The job's next start may get it again: by then its place is
 * another one, or none.
 *
 * Pure: the same reports give the same verdict. Any thread, any daemon: no shared state.
 */
#ifndef OSP_GATE_VERDICT_H
#define OSP_GATE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/gate/breaker.h"
#include "lib/gate/gate.h"
#include "lib/gate/gate_policy.h"

/* What only slurmctld knows; asked for if not all is well or there are spares. */
struct osp_gate_means {
	bool batch;	       /* a batch job: its first node cannot be released */
	bool can_requeue;      /* a batch job submitted without --no-requeue */
	bool can_shrink;       /* no disable_job_shrink */
	uint32_t stopped;      /* starts of this job that the gate stopped before */
	uint32_t stopped_slow; /* of these, starts in which slowness had a part */
	const uint32_t *leaf;  /* by rank, any number that distinguishes leaves; NULL: unknown */
	/* by rank, counted from 0: the segment, each of which has gang->segment_spares; NULL: the
	 * spares lie anywhere */
	const uint32_t *segment;
	struct osp_breaker breaker; /* all zero: slurmctld was not asked, and nobody counts */
};

/* Returns whether the whole gang goes on with nothing to do and nothing to ask. */
bool osp_gate_all_well(const struct osp_gate_gang *gang, const struct osp_gate_report *reports,
		       const struct osp_gate_policy *policy);

/*
 * Decides on the job and each node. `reports` has gang->node_count entries, by rank. The verdict's
 * decider stays as the caller set it. Free the verdict with osp_gate_verdict_free(). Returns 0, or
 * -1 with `error` set if memory ran out.
 */
int osp_gate_decide(const struct osp_gate_gang *gang, const struct osp_gate_report *reports,
		    const struct osp_gate_policy *policy, const struct osp_gate_means *means,
		    struct osp_gate_verdict *verdict, struct osp_error *error);

#endif
