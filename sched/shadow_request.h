/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_request.h - what a job asks for and is held to
 *
 * shadow.h says which locks its callers hold.
 */
#ifndef OSP_SHADOW_REQUEST_H
#define OSP_SHADOW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/shadow_slurm.h"
#include "lib/base/nodeset.h"
#include "lib/policy/conflict.h"
#include "lib/policy/config.h"
#include "lib/policy/request.h"

struct osp_effective;
struct osp_gpus_wanted;

/* --- shadow_request.c ------------------------------------------------------------------------- */

/*
 * Finds the request in force for a job, under the policy of its partition (of several: all that
 * they promise together). Returns false if the job is no gang, as most are: one look at
 * spank_job_env and at the policy. With effective->if_large it is a gang only if it is given
 * effective->from_nodes nodes or more.
 */
bool shadow_gang_request(job_record_t *job, struct osp_effective *effective);

/*
 * Tell whether a request asks for less than the policy does: a level above the policy's, (sooner) a
 * shorter @TIME, or (farther) an overlay, after whose @TIME the job may leave what the policy then
 * holds it to.
 */
bool shadow_looser_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective);
bool shadow_sooner_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective);
bool shadow_relaxes_farther(const struct osp_policy *policy, const struct osp_effective *effective);

/* Reads the user's own options of a gang from the job: --gang and those beside it. Returns false if
 * the job has none. `readable` says whether all of them were understood. */
bool shadow_option(const job_record_t *job, struct osp_request *request, bool *readable);

/* Returns whether its @TIME has passed. */
bool shadow_is_relaxed(const job_record_t *job, const struct osp_effective *effective);

/* Returns the value of one of the job's entries of spank_job_env[] ("NAME="), or NULL. */
const char *shadow_spank_value(const job_record_t *job, const char *prefix);

/*
 * Returns a new set of these nodes, in Slurm's notation; NULL if one is unknown, or if memory runs
 * out.
 */
struct osp_nodeset *shadow_nodes_named(const char *names);

/* Returns the names of these nodes in that notation; NULL for none. The caller frees them. */
char *shadow_node_names(const struct osp_nodeset *nodes);

/* Writes that entry, in place of an older one. The caller holds Slurm's job write lock. */
void shadow_put_entry(job_record_t *job, const char *prefix, const char *value);

/* Returns the largest of 1, min_nodes and what its tasks need at --ntasks-per-node. */
uint32_t shadow_least_nodes(const job_record_t *job, uint32_t min_nodes);

/* Returns the most nodes that the job itself says; 0: it does not say. */
uint32_t shadow_most_nodes(const job_record_t *job);

/* Returns whether no choice of `nodes` nodes in `bitmap` has `cpus` CPUs and the GPUs wanted (0:
 * none are asked for). False if `nodes` is 0. */
bool shadow_needs_more_nodes(bitstr_t *bitmap, uint64_t cpus, const struct osp_gpus_wanted *gpus,
			     uint32_t nodes);

/* Returns whether a policy counts this component of the same heterogeneous job together with the
 * job: one in its partition, or one that waits and may run there too. */
bool shadow_is_beside(const job_record_t *job, const job_record_t *component);

/* Returns whether the job waits for one of several partitions, and this is one of them. */
bool shadow_may_choose(const job_record_t *job, const part_record_t *partition);

/*
 * Collects those of the job's options that may not be combined with a gang. The strings live as
 * long as the job.
 */
void shadow_job_shape(const job_record_t *job, struct osp_shape *shape);

/* Returns a hash of what the job asks for of its nodes, how many of them, and who asks, as its
 * record says now; never 0. Jobs of equal hash could be given the same nodes. */
uint64_t shadow_request_hash(const job_record_t *job);

/* Returns a hash of what decides which nodes Slurm offers to a job: Slurm asks about the job in
 * each of its partitions, with --prefer and without, and from 26.05 on with each of its QOS and
 * reservations (job_scheduler.c). */
uint64_t shadow_choice_of(const job_record_t *job);

/* --- shadow_license.c ------------------------------------------------------------------------- */

/* Offers the license of gangs, where slurm.conf names it. Called before slurmctld takes Licenses
 * from what it has read. */
void shadow_license_offer(void);

/* Takes that offer back, for a slurmctld in which no gang has started: Slurm itself holds every
 * gang then, as without a shadow. Returns false if slurm.conf does not name the license. Under
 * Slurm's job write lock. */
bool shadow_license_withdraw(void);

/* Gives a gang's words the license, if they have none. Returns false for alternatives (a|b), beside
 * which Slurm takes no other. Under Slurm's job write lock. */
bool shadow_license_carry(job_record_t *job);

/* Takes it out of the list of licenses by which Slurm schedules the job; its words keep it. Under
 * the same lock. */
void shadow_license_drop(job_record_t *job);

/* Gives it to all gangs that have none, drops it from the list of every job, and lets those
 * go that Slurm held because nobody offered it. Under the same lock. */
void shadow_license_jobs(void);

/* --- shadow_extra.c --------------------------------------------------------------------------- */

/* Returns what the job asks for of the Extra field of its nodes (--extra), if Slurm starts it on no
 * others: with SchedulerParameters=extra_constraints, from 23.11 on. NULL: nothing. */
const char *shadow_extra(const job_record_t *job);

/* So many nodes are compared anew in each look, changed or not: half a millisecond. */
#define SHADOW_EXTRA_ANEW 512

/* Begins a call of select_p_job_test(), in which each expression is looked at once, at most. */
void shadow_extra_begin(void);

/* Writes the nodes that this excludes, as the records said at most a second before the call began;
 * NULL: it asks for nothing. They are there until the next question. Returns false if memory ran
 * out. An expression is compared with each node once, which takes as long as for Slurm, and then
 * with those whose Extra has changed. Remembers as many expressions as a job has components. */
bool shadow_extra_excludes(const job_record_t *job, const struct osp_nodeset **excluded);

/* Takes these out of `nodes`. Returns false if memory ran out. */
bool shadow_extra_drop(const job_record_t *job, struct osp_nodeset *nodes);

/* Takes these out as they were when the expression was last looked at; one that is not remembered
 * is looked at with `may_look`. For what may be wrong for a while. */
void shadow_extra_drop_lately(const job_record_t *job, struct osp_nodeset *nodes, bool may_look);

/* Forgets what it remembers, because the nodes have changed. */
void shadow_extra_forget(void);

/* --- shadow_leave.c --------------------------------------------------------------------------- */

/* Returns whether a job is ending (COMPLETING), and not for longer than a normal end takes. */
bool shadow_job_leaves(const job_record_t *job, int64_t now_s);

/* Returns whether the node is COMPLETING and its last job ended longer ago than that. */
bool shadow_node_hangs(const node_record_t *node, int64_t now_s);

#endif
