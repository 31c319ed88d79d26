/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_count.h - what running jobs hold of each node
 *
 * shadow.h says which locks its callers hold.
 */
#ifndef OSP_SHADOW_COUNT_H
#define OSP_SHADOW_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/shadow_slurm.h"
#include "lib/base/nodeset.h"
#include "lib/place/occupancy.h"

/* --- shadow_count.c --------------------------------------------------------------------------- */

/* Begins with another node table: forgets what nodes have and jobs hold. The next call counts it
 * anew. */
void shadow_count_lay(uint32_t node_count);
void shadow_count_free(void);

/* Reads what a node has, as Slurm's record says now. */
void shadow_count_node(uint32_t n, const node_record_t *node);

/* Returns the number of a generic resource in the account, by Slurm's plugin id; -1 if it is not
 * counted. */
int shadow_count_gres(uint32_t gres_id);

/* Counts a job that Slurm's plugin adds to its tables, when the job starts or slurmctld does. */
void shadow_count_added(const job_record_t *job);

/* Counts a job anew whose nodes have changed. */
void shadow_count_resized(const job_record_t *job);

/* Counts a job that will hold no more memory of each node than details->pn_min_memory; its
 * job_resrcs does not say so yet. */
void shadow_count_memory_reduced(const job_record_t *job);
void shadow_count_end(uint32_t job_id);

/* Notes that a person suspended or resumed a job, after Slurm's plugin did: its tables say whether
 * the job holds processors. (One suspended to let others run keeps them; Slurm's plugin then does
 * nothing.) */
void shadow_count_suspend(const job_record_t *job, bool suspended);

/* Prepares for questions: looks at some jobs' ends again, and counts anew after a minute, or after
 * shadow_count_again(). */
void shadow_count_refresh(time_t now);
void shadow_count_again(void);

/* Follows Slurm's plugin, which has added all jobs to its tables anew. */
void shadow_count_rebuilt(void);

/* Computes when each of `nodes` has what `need` says (occupancy.h). Jobs in `preemptable` (may be
 * NULL) count as ended, each leader of a heterogeneous job with its components. Jobs that `over`
 * (may be NULL) may be laid over count as if they had no processors. `free_at_s` has one place for
 * each node; only those of `nodes` are written. */
void shadow_count_free_at(const struct osp_occupancy_need *need, const struct osp_nodeset *nodes,
			  osp_list_t *preemptable, const job_record_t *over, int64_t now_s,
			  int64_t *free_at_s);

/* Returns whether a job may be laid over the processors of others: with PreemptMode=GANG, where
 * these are suspended for it or take turns with it, and in a partition with OverSubscribe=FORCE,
 * over those of other such partitions. */
bool shadow_may_lie_over(const job_record_t *job);

/* Returns whether jobs of the job's partition may share processors (OverSubscribe). */
bool shadow_shares_nodes(const job_record_t *job);

/*
 * Returns the largest amount of each resource that one of `nodes` has; zeroes without an account.
 */
struct osp_amounts shadow_count_largest(const struct osp_nodeset *nodes);

/* Takes the nodes out of `nodes` that do not have what `need` says. */
void shadow_count_keep_free(const struct osp_occupancy_need *need, struct osp_nodeset *nodes);

/* Takes those out that would not have it without any job. */
void shadow_count_keep_able(const struct osp_occupancy_need *need, struct osp_nodeset *nodes);

/* Returns a number that changes with what jobs hold of `nodes` and until when. */
uint64_t shadow_count_state(const struct osp_nodeset *nodes);

/*
 * Returns whether no job will hold anything of `nodes` at that time, by the ends that the jobs have
 * now.
 */
bool shadow_count_empty_at(const struct osp_nodeset *nodes, int64_t at_s);

/* --- shadow_rows.c ---------------------------------------------------------------------------- */

/* Sets `counts` to whether Slurm's plugin counts the processors of a running or suspended job.
 * Returns false, with `counts` as it was, if its tables do not have the job's partition. */
bool shadow_rows_say(const job_record_t *job, bool *counts);

/* Lists the jobs of all tables, so that many calls of shadow_rows_say() cost little; the list must
 * be forgotten before any job changes. Without memory the calls walk. */
void shadow_rows_list(void);
void shadow_rows_forget(void);

/* Returns whether a job that counts has a processor that another job has too, of another partition
 * or in another row of its own, by Slurm's tables. From 24.05 on these may still have the
 * processors of ended jobs, if partitions have several rows. */
bool shadow_rows_overlap(const job_record_t *job);

#endif
