/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy.h - what running jobs hold of each node, until when, and when a node has enough left
 *
 * One account of a cluster: what each node has, and for each job its end and what it holds of each
 * of its nodes. It follows the jobs (a job begins, ends, is suspended, gets another limit), so a
 * question looks only at the jobs of the nodes asked about, and never at all jobs. The answers are
 * lower bounds for a scheduler that also places cores, sockets and devices: amounts are only added
 * up.
 *
 * Times are seconds since the epoch, memory is in MiB. Generic resources have a number that the
 * caller chooses, from 0 to OSP_OCCUPANCY_GRES_MAX - 1. Nodes are numbered from 0.
 *
 * Cost: osp_occupancy_add() and the other changes look, for each node of the job, at the jobs of
 * that node that end later. A question looks, for each node that has changed since the same need
 * was last asked about, at its jobs up to the one that answers; for each other node, at the answer
 * of that time (for the last eight needs). Memory: 56 bytes for each node of each job, 48 for each
 * node and 32 for each job, 8 for each node and need.
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

/*
 * The number of kinds of generic resources in the account. A caller that knows more omits the rest,
 * so bounds get earlier.
 */
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
 * Returns the soft end of a job. A scheduler may plan for the least time that a running job asked
 * for (slurm.conf, time_min_as_soft_limit), and the account then has that soft end: Slurm ends jobs
 * in its order. A job whose soft end has passed no longer counts, like one past its limit.
 */
static inline int64_t osp_occupancy_soft_end_s(int64_t start_s, uint32_t least_min)
{
	return start_s + (int64_t)least_min * 60;
}

/*
 * Returns when a job is expected to end, seen from `now_s`: at its soft end, or, if that has
 * passed, halfway between now and its limit (select/cons_tres/job_test.c, _soft_job_end).
 */
static inline int64_t osp_occupancy_expected_end_s(int64_t soft_end_s, int64_t end_s, int64_t now_s)
{
	return soft_end_s < now_s ? now_s + (end_s - now_s) / 2 : soft_end_s;
}

struct osp_occupancy;

/*
 * Makes an account of `node_count` nodes that have nothing yet, without jobs. Returns NULL if
 * memory ran out.
 */
struct osp_occupancy *osp_occupancy_new(uint32_t node_count);
void osp_occupancy_free(struct osp_occupancy *occupancy); /* NULL is allowed */

/* Sets what a node has in all, held by jobs or not. Ignores a number beyond the account's nodes. */
void osp_occupancy_set_node(struct osp_occupancy *occupancy, uint32_t node,
			    const struct osp_amounts *has);

/*
 * Adds a job that holds `nodes[0 .. node_count - 1]` until `end_s`. Replaces the job if it is
 * already there; it then holds its processors again. Ignores nodes beyond the account's. Returns 0,
 * or -1 if memory ran out: the job is then not in the account, not even as before.
 */
int osp_occupancy_add(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s,
		      const struct osp_occupancy_node *nodes, size_t node_count);

/* Removes a job that has ended. Returns whether it was there. */
bool osp_occupancy_remove(struct osp_occupancy *occupancy, uint32_t job);

/* Gives a job another end. Returns whether it was there. */
bool osp_occupancy_set_end(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s);

/*
 * Notes whether a job is suspended: it has then given its processors back, but keeps its memory and
 * generic resources (select/cons_tres, select_p_job_suspend). A resumed job whose processors the
 * scheduler does not count is noted so too. Returns whether it was there.
 */
bool osp_occupancy_set_suspended(struct osp_occupancy *occupancy, uint32_t job, bool suspended);

/*
 * Says with whom a job may share processors: with jobs of every other group, and with jobs of its
 * own as long as at most `rows` hold one processor. `group` 0: with nobody, as after
 * osp_occupancy_add(). It is unknown which processors they hold, so the smallest possible number
 * counts. Returns whether the job was there.
 */
bool osp_occupancy_set_group(struct osp_occupancy *occupancy, uint32_t job, uint32_t group,
			     uint16_t rows);

/* Returns a job's group, and its rows in `rows`; 0 for none, or if it is not in the account. */
uint32_t osp_occupancy_group(const struct osp_occupancy *occupancy, uint32_t job, uint16_t *rows);

/* Returns whether a job is suspended; false if it is not in the account. */
bool osp_occupancy_is_suspended(const struct osp_occupancy *occupancy, uint32_t job);

/* Returns the largest amount of each resource that one of `nodes` has in all; 0 for no nodes. */
struct osp_amounts osp_occupancy_largest(const struct osp_occupancy *occupancy,
					 const struct osp_nodeset *nodes);

/* Returns the number of jobs in the account. */
uint32_t osp_occupancy_jobs(const struct osp_occupancy *occupancy);

/* --- questions ------------------------------------------------------------------------------- */

/*
 * Makes questions ignore a job, as if it had ended: one that would be preempted. Returns whether it
 * was there. osp_occupancy_heed_all() undoes this and osp_occupancy_ignore_cpus() for every job.
 */
bool osp_occupancy_ignore(struct osp_occupancy *occupancy, uint32_t job);

/*
 * Makes questions ignore only the processors of a job: one that would be suspended, or time-sliced
 * with the job that asks. Returns whether it was there.
 */
bool osp_occupancy_ignore_cpus(struct osp_occupancy *occupancy, uint32_t job);
void osp_occupancy_heed_all(struct osp_occupancy *occupancy);

/*
 * Writes to free_at_s[node], for each of `nodes`, when it has what `need` says: `now_s` if it has
 * that already; else the end of the job that it waits for, but not before `now_s`; or
 * OSP_OCCUPANCY_NEVER_S if the node has too little even when empty. Leaves other places of
 * `free_at_s` alone. Nodes beyond the account's are free now.
 */
void osp_occupancy_free_at(const struct osp_occupancy *occupancy,
			   const struct osp_occupancy_need *need, const struct osp_nodeset *nodes,
			   int64_t now_s, int64_t *free_at_s);

/* Removes from `nodes` those that lack what `need` says at `now_s`. No job may be ignored. */
void osp_occupancy_keep_free(const struct osp_occupancy *occupancy,
			     const struct osp_occupancy_need *need, int64_t now_s,
			     struct osp_nodeset *nodes);

/*
 * Returns a number for what `nodes` have and what jobs hold of them until when. It stays the same
 * while nothing of that changes, and differs (except with a chance of 2^-64) once anything has,
 * even if it changed back. Numbers of two accounts do not compare.
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

/* Finds the `index`-th job of a node, latest end first. Returns false if there are no more. */
bool osp_occupancy_on_node(const struct osp_occupancy *occupancy, uint32_t node, uint32_t index,
			   struct osp_occupancy_job *found);

/*
 * Finds the next job, for a caller that looks at some jobs in each call: stores the number and end
 * of the job after place `*cursor`, and moves `*cursor` to it. Returns false after the last one,
 * with `*cursor` 0 again. Jobs that come or go in between may be seen twice or not at all.
 */
bool osp_occupancy_next_job(const struct osp_occupancy *occupancy, uint32_t *cursor, uint32_t *job,
			    int64_t *end_s);

/* Returns whether a job is in the account. */
bool osp_occupancy_has(const struct osp_occupancy *occupancy, uint32_t job);

/*
 * Returns whether the account says of a job what osp_occupancy_add() with these nodes and then
 * osp_occupancy_set_suspended() would make it say. If not, stores the first node that differs and
 * what the account and the caller say of it: job 0 if that is nothing.
 */
bool osp_occupancy_says(const struct osp_occupancy *occupancy, uint32_t job, int64_t end_s,
			bool suspended, const struct osp_occupancy_node *nodes, size_t node_count,
			struct osp_occupancy_job *account, struct osp_occupancy_job *caller);

#endif
