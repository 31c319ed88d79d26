/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy.h - what running jobs hold of each node, until when, and when a node has enough left
 *
 * One account of a cluster: what each node has, and for each job its end and what it holds of each
 * of its nodes. It is kept along with the jobs (a job begins, ends, is suspended, gets another
 * limit), so that a question costs a look at the jobs of the nodes asked about and no walk of all
 * jobs. The answers are lower bounds for a scheduler that places cores, sockets and devices too:
 * amounts are only added up.
 *
 * Times are seconds since the epoch, memory is in MiB. Generic resources have a number of the
 * caller's, from 0 to OSP_OCCUPANCY_GRES_MAX - 1. Nodes are numbered from 0.
 *
 * Cost: osp_occupancy_add() and the other changes: for each node of the job, the jobs of that node
 * that end later. Questions: for each node asked about that has changed since the same need was
 * asked about, its jobs up to the one that answers; for each other one a look at what was found
 * then (the last eight needs). Memory: 56 bytes for each node of each job, 48 for each node and 32
 * for each job, 8 for each node and need.
 *
 * Not for two threads at once. In slurmctld under the node write lock. Only osp_occupancy_new() and
 * osp_occupancy_add() take memory.
 */
#ifndef OSP_OCCUPANCY_H
#define OSP_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/nodeset.h"

/* Generic resources that are kept apart; a caller that knows more leaves the rest out, which makes
 * bounds earlier. */
#define OSP_OCCUPANCY_GRES_MAX 4

#define OSP_OCCUPANCY_NEVER_S  INT64_MAX /* the same as OSP_PLACE_NEVER_S */

/* What a node has, what a job holds of one node, or what it needs of one node. */
struct osp_amounts {
	uint64_t memory_mib;
	uint32_t cpus;
	uint32_t gres[OSP_OCCUPANCY_GRES_MAX];
};

struct osp_occupancy_node {
	uint32_t node;
	struct osp_amounts holds;
};

/* What a gang needs of each of its nodes. `amounts` need not repeat what the gang takes whole. */
struct osp_occupancy_need {
	struct osp_amounts amounts; /* on every node at least */
	bool all_cpus;		    /* no other job may hold a processor of the node */
	bool all_memory;
	bool all_gres;
};

/*
 * A scheduler may plan for the least time that a running job asked for (slurm.conf,
 * time_min_as_soft_limit). The account has that soft end: Slurm lets jobs end in its order, and one
 * whose soft end has passed is out of the way from now on, like one that is past its limit.
 */
static inline int64_t osp_occupancy_soft_end_s(int64_t start_s, uint32_t least_min)
{
	return start_s + (int64_t)least_min * 60;
}

/* When a job is expected to end, seen from `now_s`: at its soft end; past it, in the middle of what
 * is left until its limit (select/cons_tres/job_test.c, _soft_job_end). */
static inline int64_t osp_occupancy_expected_end_s(int64_t soft_end_s, int64_t end_s, int64_t now_s)
{
	return soft_end_s < now_s ? now_s + (end_s - now_s) / 2 : soft_end_s;
}

struct osp_occupancy;

/* An account of `node_count` nodes that have nothing yet, without jobs; NULL when memory ran
 * out. */
struct osp_occupancy *osp_occupancy_new(uint32_t node_count);
void osp_occupancy_free(struct osp_occupancy *occupancy); /* NULL is allowed */

/* What a node has, whoever holds it. A number beyond the account's nodes is passed over. */
void osp_occupancy_set_node(struct osp_occupancy *occupancy, uint32_t node,
			    const struct osp_amounts *has);

/*
 * A job begins: it holds `nodes[0 .. node_count - 1]` until `end_s`. One that is there already is
 * replaced, and holds its processors again. Nodes beyond the account's are passed over. Returns 0,
 * or -1 when memory ran out: the job is then not in the account, not even as it was before.
 */
int osp_occupancy_add(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s,
		      const struct osp_occupancy_node *nodes, size_t node_count);

/* A job ends. Returns whether it was there. */
bool osp_occupancy_remove(struct osp_occupancy *occupancy, uint32_t job);

/* A job gets another end. Returns whether it was there. */
bool osp_occupancy_set_end(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s);

/* A suspended job has given its processors back; its memory and its generic resources stay its own
 * (select/cons_tres, select_p_job_suspend). Returns whether it was there. */
bool osp_occupancy_set_suspended(struct osp_occupancy *occupancy, uint32_t job, bool suspended);

/* Whether it has; false for a job that is not in the account. */
bool osp_occupancy_is_suspended(const struct osp_occupancy *occupancy, uint32_t job);

/* The largest amount of each that one of `nodes` has, whoever holds it; 0 for no nodes. */
struct osp_amounts osp_occupancy_largest(const struct osp_occupancy *occupancy,
					 const struct osp_nodeset *nodes);

/* Jobs in the account. */
uint32_t osp_occupancy_jobs(const struct osp_occupancy *occupancy);

/* --- questions ------------------------------------------------------------------------------- */

/*
 * Questions pass over a job that is ignored, as if it had ended: one that would be preempted.
 * Returns whether it was there. osp_occupancy_heed_all() ends both for every job.
 */
bool osp_occupancy_ignore(struct osp_occupancy *occupancy, uint32_t job);

/* The same of its processors alone: a job that would be suspended, or take turns with the one that
 * asks. */
bool osp_occupancy_ignore_cpus(struct osp_occupancy *occupancy, uint32_t job);
void osp_occupancy_heed_all(struct osp_occupancy *occupancy);

/*
 * Writes to free_at_s[node], for each of `nodes`, when it has what `need` says: `now_s` where it
 * has it already, the end of the job that it waits for, but not before `now_s`, or
 * OSP_OCCUPANCY_NEVER_S if the node has too little even when empty. Other places of `free_at_s`
 * stay as they are. Nodes beyond the account's are free now.
 */
void osp_occupancy_free_at(const struct osp_occupancy *occupancy,
			   const struct osp_occupancy_need *need, const struct osp_nodeset *nodes,
			   int64_t now_s, int64_t *free_at_s);

/* Takes out of `nodes` those that have not what `need` says at `now_s`. No job may be ignored. */
void osp_occupancy_keep_free(const struct osp_occupancy *occupancy,
			     const struct osp_occupancy_need *need, int64_t now_s,
			     struct osp_nodeset *nodes);

/*
 * A number for what `nodes` have and what jobs hold of them until when: the same as long as nothing
 * of that changes, another one (but by chance of 2^-64) once it has, even if it changed back.
 * Two accounts' numbers do not compare.
 */
uint64_t osp_occupancy_state(const struct osp_occupancy *occupancy,
			     const struct osp_nodeset *nodes);

/* One job on one node, as the account has it. */
struct osp_occupancy_job {
	uint32_t job;
	int64_t end_s;
	bool suspended;
	uint32_t node;
	struct osp_amounts holds;
};

/* The `index`-th job of a node, latest end first; false when it has no more. */
bool osp_occupancy_on_node(const struct osp_occupancy *occupancy, uint32_t node, uint32_t index,
			   struct osp_occupancy_job *found);

/*
 * One job after the other, for a caller that looks at some of them in each call: the number and end
 * of the job at or after place `*cursor`, which moves on. False, with `*cursor` 0 again, behind the
 * last one. Jobs that come or go in between may be seen twice or not at all.
 */
bool osp_occupancy_next_job(const struct osp_occupancy *occupancy, uint32_t *cursor, uint32_t *job,
			    int64_t *end_s);

/* Whether a job is in the account. */
bool osp_occupancy_has(const struct osp_occupancy *occupancy, uint32_t job);

/*
 * Whether the account says of a job what osp_occupancy_add() with these nodes and then
 * osp_occupancy_set_suspended() would make it say. Otherwise false, with the first node that
 * differs and what the account and the caller say of it: job 0 if that is nothing.
 */
bool osp_occupancy_says(const struct osp_occupancy *occupancy, uint32_t job, int64_t end_s,
			bool suspended, const struct osp_occupancy_node *nodes, size_t node_count,
			struct osp_occupancy_job *account, struct osp_occupancy_job *caller);

#endif
