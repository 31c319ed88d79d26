/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_launch.h - gangs on nodes that are launched for them
 *
 * shadow.h says which locks its callers hold.
 */
#ifndef OSP_SHADOW_LAUNCH_H
#define OSP_SHADOW_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/shadow_slurm.h"
#include "lib/place/place.h"

struct osp_effective;
struct shadow_gang;

/* --- shadow_launch.c -------------------------------------------------------------------------- */

/* Returns whether nodes may be launched for this job now. */
bool shadow_launch_may(const job_record_t *job, const struct osp_effective *effective);

/* Returns why none are launched for it, if that is all that keeps them: nobody would say where they
 * are (osp_topology_unasked()). NULL: it is not. */
const char *shadow_launch_unasked(const job_record_t *job, const struct osp_effective *effective);

/* How often launches for a job were in vain, and what they cost: the time from each such start to
 * the return to the queue, times the job's nodes. */
struct shadow_in_vain {
	uint32_t times;
	uint64_t node_s;
	int64_t last_s; /* when it last went back to the queue for that; 0: never */
};
struct shadow_in_vain shadow_launched_in_vain(const job_record_t *job);

/*
 * Returns the gang's free nodes that do not run and whose places nobody knows: a new set, or NULL.
 */
struct osp_nodeset *shadow_launch_unlaunched(const struct shadow_gang *gang);

/* Returns those of `nodes` whose places hold, or are reserved: a new set, or NULL if memory runs
 * out. */
struct osp_nodeset *shadow_launch_placed(const struct osp_nodeset *nodes);

/* Returns whether its nodes could ever come together if nodes were launched for it. The caller
 * holds the seam's locks. */
bool shadow_launch_could(const struct osp_place_input *place);

/* Notes that a gang starts on nodes of which some do not run. Returns true if it may; it then stays
 * CONFIGURING until the places of its nodes are known. */
bool shadow_launch_begins(job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes);

/* Ends what was kept for a job that starts on nodes that run: a second later. The caller holds
 * Slurm's job lock. */
void shadow_launch_not_needed(const job_record_t *job);

/* Goes on with a job after a restart of slurmctld if its nodes were being launched. */
void shadow_launch_resume(job_record_t *job);

/* Lets no step of these jobs begin, again: slurmctld has just read its jobs, and forgotten that.
 * Under Slurm's job write lock. */
void shadow_launch_hold_again(void);

/* Returns whether the job must not go on yet. Under any lock. */
bool shadow_launch_waits(uint32_t job);

/* The first says whether there is any such job. The second looks where their nodes are, and puts
 * jobs back in the queue whose nodes are apart; the caller holds Slurm's job, node and partition
 * write locks. */
bool shadow_launch_any(void);
void shadow_launch_look(int64_t now_s);
void shadow_launch_forget(void);

/* --- shadow_launch_failed.c ------------------------------------------------------------------- */

/* shadow_keep() makes a reservation of Slurm's, which keeps these nodes for the next start of a
 * waiting job for at most `keep_s`. shadow_keep_end() ends it. shadow_keeps() returns whether the
 * job has one. All three need the locks of shadow_launch_look(). */
void shadow_keep(job_record_t *job, const struct osp_nodeset *nodes, int64_t keep_s);
void shadow_keep_end(job_record_t *job);
bool shadow_keeps(const job_record_t *job);

/* Returns the nodes that were launched for the job: a new set, or NULL if memory runs out. */
struct osp_nodeset *shadow_launched_nodes(const job_record_t *job);
void shadow_put_launched_nodes(job_record_t *job, const struct osp_nodeset *nodes);

/* Powers down these nodes, which the job left at that time, except those that run a job, have
 * booted or run another job since, are reserved, or are never suspended. */
void shadow_give_back(const job_record_t *job, const struct osp_nodeset *nodes, int64_t left_s);

#endif
