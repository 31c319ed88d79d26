/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.h - the parts of the enforcing shadow of select/cons_tres and what they share
 *
 *	select_cons_tres.c   what Slurm calls; decides whether a call is a gang's at all
 *	shadow_state.c       topology and policy in force, laid over Slurm's nodes
 *	shadow_files.c       their files, read at start and on reconfigure, and copies of good ones
 *	shadow_follow.c      the thread that puts a changed topology in force
 *	shadow_layout.c      are Slurm's records as this build's headers say?
 *	shadow_nodes.c       Slurm's node table as sets: free, to be booted, when free, weight, kind
 *	shadow_places.c      which nodes' places may be old
 *	shadow_count.c       what running jobs hold of each node, counted along with them
 *	shadow_request.c     what a job is held to: its own request and the policy's promise
 *	shadow_promise.c     gangs that are looked at first, before they are placed
 *	shadow_extra.c       nodes that --extra excludes
 *	shadow_components.c  components of a heterogeneous job, which are placed one by one
 *	shadow_gang.c        one gang's size and AdminComment
 *	shadow_leave.c       how long a job that ends is waited for
 *	shadow_parts.c       a gang in segments or in several domains
 *	shadow_groups.c      a layout's parallel groups, made into such segments
 *	shadow_processes.c        what a gang's processes find in their environment
 *	shadow_try.c         one call of Slurm's own function, undone when it fails
 *	shadow_launch.c      gangs on nodes that are launched for them
 *	shadow_launch_failed.c        what becomes of the nodes of a launch in vain
 *	shadow_moved.c       running gangs whose nodes have other places by now
 *	shadow_choose.c      what lib/choose asks and decides, in Slurm's words
 *	shadow_memory.c      what one call remembers for the next ones
 *	shadow_seam.c        what job_submit asks
 *	shadow_could.c       where a job could ever run (shadow_could.h)
 *
 * All of it runs in slurmctld. Except for the seam and the thread every function here is called
 * with Slurm's node lock held, for writing or (by sched/builtin's one thread) for reading, so
 * static state needs no lock of its own; what the seam and the thread read is behind shadow_lock.
 * Code that needs both takes Slurm's first.
 */
#ifndef OSP_SHADOW_H
#define OSP_SHADOW_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sched/shadow_slurm.h"
#include "lib/base/nodeset.h"
#include "lib/choose/choose.h"
#include "lib/choose/component_plans.h"
#include "lib/place/occupancy.h"
#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/policy/config.h"
#include "lib/policy/conflict.h"
#include "lib/policy/request.h"
#include "lib/topology/follow.h"
#include "lib/topology/topology.h"

/* --- shadow_state.c --------------------------------------------------------------------------- */

/* Topology and policy in force. Replaced as a whole. */
struct shadow_state {
	struct osp_config *config; /* never NULL once loaded */
	struct osp_topology *read; /* on its own node numbers; NULL: there was no good one yet */
	uint64_t generation;	   /* changes with each `read`, file and table of Slurm's nodes */
	struct osp_topology *topology; /* on Slurm's node numbers; NULL if `read` is */
	struct osp_place *place;       /* scratch of scheduling calls; NULL if topology is */
	struct osp_cut *cut;	       /* the same, for gangs in parts */
	struct osp_chooser *chooser;   /* decides with them; NULL without a topology */
	struct osp_place *seam_place;  /* scratch of the seam, under seam_mutex */
	struct osp_cut *seam_cut;      /* the same, for gangs in parts */
	uint32_t node_count;
	uint16_t kind_count;
	uint16_t *kind;	  /* by node */
	uint32_t *weight; /* by node: the configured weight */
	bool weights_differ;
	uint32_t largest_gang;		/* nodes of the largest gang that waits or runs */
	struct osp_nodeset *up;		/* nodes that Slurm could give to a job, now or later */
	struct osp_nodeset *reserved;	/* of these, the ones in a reservation that has begun */
	int64_t *place_boot_s;		/* by node: the boot for which its place holds; 0: any */
	struct osp_nodeset *old_places; /* nodes whose place does not hold now */
	bool places_changed; /* place_boot_s has changed since old_places was looked at */
};

extern struct shadow_state shadow_state;

/*
 * Readers of shadow_state that do not hold Slurm's node lock take this lock for reading; the loader
 * takes it for writing.
 */
extern pthread_rwlock_t shadow_lock;

/*
 * Reads onespine.yaml and the topology again if they or Slurm's nodes have changed. If a file
 * cannot be used, the last good one stays in force, even after a restart (a copy is in
 * StateSaveLocation), and the log says so. Never fails: without any topology gangs wait.
 */
void shadow_state_load(void);
void shadow_state_free(void);

/* A topology over Slurm's nodes, with the scratch of the calls that place on it. */
struct shadow_fabric {
	struct osp_topology *topology;
	struct osp_place *place;
	struct osp_place *seam_place;
	struct osp_cut *cut;
	struct osp_cut *seam_cut;
	int64_t *place_boot_s;
};

/* Lays a topology over nodes of these names, one for each place (NULL: a free place). Returns
 * false, with `wrong` set and nothing in `fabric`, if memory runs out or two names are equal. Any
 * thread. */
bool shadow_fabric_lay(struct shadow_fabric *fabric, const struct osp_topology *read,
		       const char *const *names, uint32_t count, struct osp_error *wrong);
void shadow_fabric_free(struct shadow_fabric *fabric);

/* Says how many domains the topology has, and how many of Slurm's nodes it lacks. The caller frees
 * the text; NULL if memory runs out. */
char *shadow_topology_words(const struct osp_topology *topology);
void shadow_report_topology(const char *before, const char *words);

/* The topology that the exchange puts in force; after the exchange the one that was in force
 * before, which the caller frees once it has unlocked. */
struct shadow_exchange {
	uint64_t generation; /* for which it was laid */
	struct osp_topology *read;
	struct shadow_fabric fabric;
};

/* Exchanges `other` with what is in force. Returns false, with nothing changed, if the generation
 * has changed, or if memory runs out, which is possible only if no topology was in force. The
 * caller holds Slurm's node write lock and shadow_lock for writing. Takes no memory if a topology
 * was in force. */
bool shadow_state_exchange(struct shadow_exchange *other);

/* Exchanges `read` alone, if the fabric of `other` says the same as the one in force, for the same
 * boots. That one then stays, with all that is remembered of it. Otherwise, or if the generation
 * has changed, returns false. The caller holds shadow_lock for writing. */
bool shadow_state_exchange_read(struct shadow_exchange *other);

/*
 * Reads weights, kinds, states and resources of nodes again, at most once a second and of at most
 * 4,096 nodes: administrators change them while slurmctld runs. shadow_count_refresh() reads what
 * running jobs hold.
 */
void shadow_state_refresh(time_t now);

/* --- shadow_files.c --------------------------------------------------------------------------- */

/* The topology's file. shadow_lock guards it. */
struct shadow_topology_file {
	char path[PATH_MAX];
	char copy[PATH_MAX];	   /* of the last good one */
	struct osp_file_mark mark; /* of the last one that was read, good or bad */
	bool fresh;		   /* it had just changed: it may have changed again */
};

extern struct shadow_topology_file shadow_topology_file;

/* Read what has changed. The caller holds shadow_lock for writing. load_topology() returns true if
 * shadow_state.read has changed. */
void shadow_load_config(void);
bool shadow_load_topology(void);

/* Removes the unfinished copies of a process that ended while it wrote one. */
void shadow_remove_unfinished_copies(void);
void shadow_forget_files(void);

/*
 * Keep a copy; report a bad topology, and `then`, what holds instead. A copy that cannot be kept is
 * only reported. Any thread.
 */
void shadow_keep_good_copy(const char *path, const char *text, size_t bytes);
void shadow_report_bad_topology(const struct osp_found_topology *found, const char *then);

/* --- shadow_follow.c -------------------------------------------------------------------------- */

/* Begins the thread, once. Called in select_p_node_init() and not in init(), which a standby
 * controller runs too. */
void shadow_follow_begin(void);

/* Ends the thread and waits for its end. The caller holds no lock. */
void shadow_follow_end(void);
bool shadow_follows(void); /* the thread runs. For the threads of select_p_node_init() and fini() */

/* Does what the thread does once a second. The caller holds no lock. */
void shadow_follow_look(void);

/* --- shadow_layout.c -------------------------------------------------------------------------- */

/* Sizes of Slurm's records by the headers of this build. */
struct shadow_layout {
	uint64_t node_bytes;
	uint64_t config_bytes;
	uint64_t partition_bytes;
	uint64_t job_bytes;
	uint64_t details_bytes;
};

/*
 * Looks at a node, the default partition and, if Slurm's library can make one (from 24.05 on), an
 * empty job. Returns false with `why` if one of them does not have the size or the mark that this
 * build's headers say. Called once, after Slurm has read its nodes.
 */
bool shadow_layout_fits(char *why, size_t why_bytes);

/* Does the same for one job that has details. */
bool shadow_layout_fits_job(const job_record_t *job, char *why, size_t why_bytes);

/* --- shadow_places.c -------------------------------------------------------------------------- */

/* Returns the boot for which each node's place holds, as shadow_state.place_boot_s. The caller
 * frees it; NULL if memory runs out. Any thread. */
int64_t *shadow_places_boots(const struct osp_topology *topology);

/* Returns whether these boots are those in force. */
bool shadow_places_same(const int64_t *boot_s);

/* Returns whether the node's place may be old, as Slurm's record says now. */
bool shadow_place_is_old(uint32_t n);

/* Returns whether the node is powered down, or on its way down or up. */
bool shadow_is_asleep(uint32_t n);

/* Looks again at the nodes of shadow_state.old_places. */
void shadow_places_look_at_old(void);

/* Returns whether no place of `nodes` may be old, as Slurm's records say now. */
bool shadow_places_hold(const struct osp_nodeset *nodes);

/* Writes which instances a gang's nodes were placed as into its spank_job_env[], for the gate;
 * none where it is not held to a domain. With Slurm's job write lock. */
void shadow_note_instances(job_record_t *job, bool enforced);

/* Writes into a gang's spank_job_env[], for the gate, on which of its nodes Slurm has counted its
 * GPUs but not chosen them; rewrites an older entry. With Slurm's job write lock, once Slurm has
 * given the job its generic resources. */
void shadow_note_unknown_gpus(job_record_t *job);

/* --- shadow_count.c --------------------------------------------------------------------------- */

/* Begins with another node table: forgets what nodes have and jobs hold. The next call counts it
 * anew. */
void shadow_count_lay(uint32_t node_count);
void shadow_count_free(void);

/* Reads what a node has, as Slurm's record says now. */
void shadow_count_node(uint32_t n, const node_record_t *node);

/* Returns the number of a generic resource in the account, by Slurm's plugin id; -1 if it is not
 * counted. */
int shadow_count_gres(uint32_t plugin_id);

/* Counts a job that Slurm's plugin adds to its tables, when the job starts or slurmctld does. */
void shadow_count_added(const job_record_t *job);

/* Counts a job anew whose nodes have changed. */
void shadow_count_resized(const job_record_t *job);

/* Counts a job that will hold no more memory of each node than details->pn_min_memory; its
 * job_resrcs does not say so yet. */
void shadow_count_memory_reduced(const job_record_t *job);
void shadow_count_end(uint32_t job_id);

/* Notes that a person suspends or resumes a job. (A job that is suspended to let others run keeps
 * its processors; Slurm's plugin then does nothing.) */
void shadow_count_suspend(uint32_t job_id, bool suspended);

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

/* Returns whether a job may be laid over the processors of others, which are suspended for it or
 * take turns with it: with PreemptMode=GANG. */
bool shadow_may_lie_over(const job_record_t *job);

/*
 * Returns the largest amount of each resource that one of `nodes` has; zeroes without an account.
 */
struct osp_amounts shadow_count_largest(const struct osp_nodeset *nodes);

/* Takes the nodes out of `nodes` that do not have what `need` says. */
void shadow_count_keep_free(const struct osp_occupancy_need *need, struct osp_nodeset *nodes);

/* Returns a number that changes with what jobs hold of `nodes` and until when. */
uint64_t shadow_count_state(const struct osp_nodeset *nodes);

/*
 * Returns whether no job will hold anything of `nodes` at that time, by the ends that the jobs have
 * now.
 */
bool shadow_count_empty_at(const struct osp_nodeset *nodes, int64_t at_s);

/* --- shadow_nodes.c --------------------------------------------------------------------------- */

/* Returns whether Slurm's bitmaps lie in memory as nodesets do (checked once, at init). */
bool shadow_bitmaps_match(void);

void shadow_from_bitmap(struct osp_nodeset *set, bitstr_t *bitmap);
void shadow_to_bitmap(bitstr_t *bitmap, const struct osp_nodeset *set);

/*
 * Fills `need` with what the job needs of each of its nodes at least. `shares`: other jobs may use
 * its processors too.
 */
void shadow_need(const job_record_t *job, bool whole_nodes, bool shares,
		 struct osp_occupancy_need *need);

/* Returns how many of one generic resource a node has, used or not. */
uint64_t shadow_node_gres(const node_record_t *node, uint32_t plugin_id);

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

/* Gives a gang's words the license, if they have none. Returns false for alternatives (a|b), beside
 * which Slurm takes no other. Under Slurm's job write lock. */
bool shadow_license_carry(job_record_t *job);

/* Takes it out of the list of licenses by which Slurm schedules the job; its words keep it. Under
 * the same lock. */
void shadow_license_drop(job_record_t *job);

/* Gives it to all gangs that have none, drops it from the list of every job, and lets those
 * go that Slurm held because nobody offered it. Under the same lock. */
void shadow_license_jobs(void);

/* --- shadow_promise.c ------------------------------------------------------------------------- */

struct shadow_call;

/* Answers select_p_job_test() for a job for which shadow_gang_request() returned true. Returns what
 * Slurm's would. */
int shadow_place_gang(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_components.c ---------------------------------------------------------------------- */

/* Returns whether the size of the job, which nobody knows yet, counts together with that of other
 * components of its heterogeneous job. */
bool shadow_has_components(job_record_t *job);

/* Returns whether the job is a component of a heterogeneous job of which one may run in several
 * partitions, or runs. */
bool shadow_components_may_choose(const job_record_t *job);

/* Answers select_p_job_test() for such a component, for a start now or later: yes if all of them
 * can start in one domain, or are too few for a gang. Otherwise it waits and says why. */
int shadow_place_component(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_plans.c --------------------------------------------------------------------------- */

/*
 * Begins or continues the plan of the call's job, for a start later (lib/choose/component_plans.h);
 * `scratch` gets the nodes of the call. NULL if memory ran out: nothing is remembered.
 */
struct osp_component_plan *shadow_plan_begin(const struct shadow_call *call,
					     struct osp_nodeset *scratch);

/* Returns the partition in which backfill has planned the component, which waits; NULL for none. */
const part_record_t *shadow_planned_in(const job_record_t *component);

/* Returns the nodes on which backfill has planned the component in that partition; NULL: none. */
const struct osp_nodeset *shadow_planned_on(const job_record_t *component,
					    const part_record_t *partition);

/* Forgets all plans, because the nodes have changed. */
void shadow_plans_forget(void);

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

/* --- shadow_gang.c ---------------------------------------------------------------------------- */

/* One gang as a scheduling call sees it. Sets have one place for each node of Slurm's table. */
struct shadow_gang {
	job_record_t *job;
	struct osp_effective effective;
	uint32_t level; /* in force now, relaxed or not; 0: anywhere (relaxed above the top) */
	uint32_t prefer_level; /* a lower one, if the gang can start there at once; 0: none */
	bool relaxed;
	bool in_parts; /* in segments or in several domains; then: */
	struct osp_parts parts;
	bool whole_nodes; /* the gang takes each node whole */
	bool exact_size;  /* need and want are certain, not an estimate from tasks or GPUs */
	uint32_t need_nodes;
	uint32_t want_nodes;
	struct osp_occupancy_need need; /* of each node */
	struct osp_nodeset *usable;	/* the nodes of the bitmap as it came */
	struct osp_nodeset *free;	/* of these, free now; NULL: not counted yet */
	struct osp_nodeset *boot;	/* those that must first be booted; NULL: none known */
	struct osp_nodeset *required;	/* NULL: none */
	struct osp_nodeset *settling;	/* those that are ending jobs or booting; NULL: none */
	struct osp_nodeset *stuck;	/* of these, the ones that hang; NULL: none */
	struct osp_nodeset *unlaunched; /* those that may be launched for it; NULL: none */
	uint32_t old_places;		/* nodes taken out of `usable` for their old places */
	bool counts;			/* what jobs hold says whether a node is free */
	bool free_is_certain;		/* a node that is not in `free` cannot start now */
	bool lies_over;			/* it may start over jobs that are suspended for it */
};

/*
 * Fills `gang` for a call with this bitmap and size. Returns 0, or -1 if memory runs out or the
 * fabric does not have the level (the gang waits; `why` says so). Call shadow_gang_clear() in
 * either case.
 */
int shadow_gang_begin(struct shadow_gang *gang, job_record_t *job,
		      const struct osp_effective *effective, bitstr_t *bitmap, uint32_t min_nodes,
		      uint32_t req_nodes, char *why, size_t why_bytes);
void shadow_gang_clear(struct shadow_gang *gang);

/*
 * Fills `free`, once: it looks at each node, and most of backfill's questions need it not at all.
 * Returns 0, or -1 if memory runs out.
 */
int shadow_gang_count_free(struct shadow_gang *gang);

/* Returns those of some nodes that are free for the gang: a new set, or NULL if memory runs out. */
struct osp_nodeset *shadow_gang_free_among(const struct shadow_gang *gang,
					   const struct osp_nodeset *nodes);

/* Takes the nodes whose places may be old out of the gang: for a question about a start, never for
 * the question whether it could ever start, since their places will be known. */
void shadow_gang_drop_old_places(struct shadow_gang *gang);

/*
 * Returns the nodes that the gang could get in time, free or not, without those whose places may be
 * old: a new set, or NULL if memory runs out. For words alone, because the bitmap of a call for now
 * holds only idle nodes.
 */
struct osp_nodeset *shadow_gang_prospects(const struct shadow_gang *gang);

/* Returns those that it could get if --extra excluded none. */
struct osp_nodeset *shadow_gang_prospects_but_extra(const struct shadow_gang *gang);

/* Returns the placement question that this gang asks. */
struct osp_place_input shadow_gang_input(const struct shadow_gang *gang);

/* Writes our part of the job's AdminComment, if that changes it. */
void shadow_gang_says(job_record_t *job, const struct osp_effective *effective, const char *says);

/* Says where its nodes are, which are in one domain. */
void shadow_gang_where(job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes);

/* Returns whether these nodes keep the request: one domain of its level, or of the level above if
 * relaxed. */
bool shadow_gang_together(const job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes);

/*
 * Says where a job that starts was placed (select_p_job_begin, the only commit). Returns
 * SLURM_SUCCESS, or SLURM_ERROR for an enforced gang whose nodes are in no common domain, so that
 * Slurm puts it back in the queue: that should never happen.
 */
int shadow_gang_started(job_record_t *job);

/* Computes when each usable node has what the gang needs; `preemptable` jobs (may be NULL) count as
 * ended. `free_at_s` has one place for each node. */
void shadow_gang_free_times(const struct shadow_gang *gang, osp_list_t *preemptable, int64_t now_s,
			    int64_t *free_at_s);

/* --- shadow_launch.c -------------------------------------------------------------------------- */

/* Returns whether nodes may be launched for this job now. */
bool shadow_launch_may(const job_record_t *job, const struct osp_effective *effective);

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

/* Returns whether its nodes could ever come together if nodes were launched for it. The caller
 * holds the seam's locks. */
bool shadow_launch_could(const struct osp_place_input *place);

/* Notes that a gang starts on nodes of which some do not run. Returns true if it may; it then stays
 * CONFIGURING until the places of its nodes are known. */
bool shadow_launch_begins(job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes);

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

/* The first keeps these nodes for the next start of a waiting job, for at most so many seconds, by
 * a reservation of Slurm's; the second ends that; the third says whether the job's reservation is
 * that one. All under the locks of shadow_launch_look(). */
void shadow_keep(job_record_t *job, const struct osp_nodeset *nodes, int64_t keep_s);
void shadow_keep_end(job_record_t *job);
bool shadow_keeps(const job_record_t *job);

/* Returns the nodes that were launched for the job: a new set, or NULL if memory runs out. */
struct osp_nodeset *shadow_launched_nodes(const job_record_t *job);
void shadow_put_launched_nodes(job_record_t *job, const struct osp_nodeset *nodes);

/* Powers down these nodes, which the job left at that time, except those that run a job, have
 * booted or run another job since, are reserved, or are never suspended. */
void shadow_give_back(const job_record_t *job, const struct osp_nodeset *nodes, int64_t left_s);

/* --- shadow_moved.c --------------------------------------------------------------------------- */

/* Reports each running gang whose nodes were together by `before`, over Slurm's nodes as they are,
 * and are apart by what is in force. The caller holds Slurm's job lock for writing, and its node
 * lock. */
void shadow_moved_look(const struct osp_topology *before);

/* --- shadow_processes.c ----------------------------------------------------------------------- */

/*
 * Puts ONESPINE_LEVEL, `level`, among the variables that Slurm adds to a job's environment when it
 * starts, from which its processes know that it is a gang: those of a batch script, and an srun
 * that looks its allocation up. NULL: takes it out, as where the gang is in no such domain. Slurm
 * saves them with the job.
 */
void shadow_mark_processes(job_record_t *job, const char *level);

/* --- shadow_order.c --------------------------------------------------------------------------- */

struct osp_gang_start;
struct osp_note;

/*
 * Finds the leaves of a started gang's nodes and, if it is in segments or in several domains or has
 * a layout, their order (lib/layout/gang_start.h). The caller clears `start`, also after -1, which
 * means that memory ran out. Time linear to the nodes, as of the two functions below: a gang may be
 * the whole cluster.
 */
int shadow_order_start(const job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes, struct osp_gang_start *start);

/* Fills the leaves and the order of a note. The caller frees both, and keeps `start` until the note
 * is written. */
void shadow_order_note(const struct osp_gang_start *start, struct osp_note *note);

/*
 * Gives each node of a started gang its rank in the job's record, from Slurm 26.05 on: steps whose
 * distribution is block are laid out by these. Slurm saves them with the job. Returns false, and
 * Slurm's own ranks stay, if the order cannot be made, and before 26.05. With
 * CR_NO_DIST_TOPO_BLOCK Slurm writes none: the gang has these all the same.
 */
bool shadow_order_ranks(job_record_t *job, const struct osp_gang_start *start);

/* Returns how many spares the job has (lib/policy/spares.h), and how many each of its segments; 0:
 * none. */
uint32_t shadow_spares(const job_record_t *job);
uint32_t shadow_segment_spares(const job_record_t *job);

/* Tells the gate which segment each node of a started gang is in, if each has spares and the gang
 * is held to them (lib/layout/gang_segments.h). */
void shadow_note_segments(job_record_t *job, const struct osp_effective *effective);

/*
 * Makes the ranks anew after a node left a running gang, from the note in AdminComment. Slurm calls
 * for one node after the other while it holds its locks, so a gang of more than `at_once_max` nodes
 * waits until the gate has released the last of its spares, or for the thread, which looks each
 * second. Until then its nodes have the ranks that they had, which Slurm moves with them: in the
 * same order. The caller holds Slurm's job lock for writing.
 */
#define SHADOW_ORDER_AT_ONCE_MAX 1024
void shadow_order_resized(job_record_t *job, uint32_t at_once_max);

/* Returns whether an order waits for the thread. Any thread, without a lock. */
bool shadow_order_any(void);

/* Makes one of these orders. The caller holds Slurm's job lock for writing and its node lock. */
void shadow_order_look(void);

/* --- shadow_groups.c -------------------------------------------------------------------------- */

struct osp_seam_job;

/*
 * Makes the segments that keep the groups of the layout in `effective` together (no layout: 0), on
 * a fabric that has the gang's level. Fills its segments, its layout with everything that was left
 * out, and `reordered_gpus`. The GPUs of a node are those asked for, else those of `partition`
 * (NULL: unknown). Returns -1 with the sentence if that fails. The caller holds the seam's locks.
 */
int shadow_groups_translate(const struct osp_seam_job *job, const part_record_t *partition,
			    struct osp_effective *effective, char *sentence, size_t sentence_bytes);

/* --- shadow_parts.c --------------------------------------------------------------------------- */

/* Returns whether it asks for segments or for several domains. */
bool shadow_in_parts(const struct osp_effective *effective);

/* Fills the members of `gang` about parts, and its level; its size is known. Returns 0, or -1 with
 * `why` it waits. */
int shadow_parts_begin(struct shadow_gang *gang, uint32_t min_nodes, char *why, size_t why_bytes);

/* Returns whether these nodes keep the request, at its level or, if relaxed, at the one above;
 * `level` gets which. Takes memory; false without. */
bool shadow_parts_kept(const job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes, uint32_t *level);

/* Returns the names of the domains of a level in which `nodes` lie, separated by commas. The caller
 * frees them; NULL if memory runs out. */
char *shadow_parts_domains(const struct osp_nodeset *nodes, uint32_t level, uint32_t *domain_count);

/* Says why it waits: `prospects` are the nodes that it could get in time (NULL: its usable ones),
 * `free_now` those that it may be given now, `all_free` those that are free whoever is to get them
 * (NULL: the same). */
void shadow_parts_waits(const struct shadow_gang *gang, const struct osp_nodeset *prospects,
			const struct osp_nodeset *free_now, const struct osp_nodeset *all_free,
			char *buffer, size_t buffer_bytes);

/* Reads the user's own options of a gang from the job: --gang and those beside it. Returns false if
 * the job has none. `readable` says whether all of them were understood. */
bool shadow_option(const job_record_t *job, struct osp_request *request, bool *readable);

/* --- shadow_try.c ----------------------------------------------------------------------------- */

/* Slurm's select_p_job_test(), as dlsym(RTLD_NEXT) found it. */
extern osp_job_test_f *shadow_slurm_job_test;

/* The arguments of one call of select_p_job_test(), as they came. */
struct shadow_call {
	job_record_t *job;
	bitstr_t *bitmap;
	uint32_t min_nodes;
	uint32_t max_nodes;
	uint32_t req_nodes;
	uint16_t mode;
	osp_list_t *candidates; /* jobs that may be preempted; may be NULL */
	osp_list_t **preempted; /* may be NULL */
	struct osp_job_test_tail tail;
	bool asked_again;  /* test only: after a no Slurm asks about more nodes */
	int rc;		   /* Slurm's last answer */
	bitstr_t *offered; /* the bitmap before we took out what --extra excludes; NULL: as it is */
	struct timespec began;
};

/*
 * Asks Slurm's function a question of lib/choose: with `call->bitmap` narrowed to its nodes, and
 * with those of the call's candidates that it may preempt and that are in the way. If it returns
 * true, the bitmap, the job and *call->preempted are as Slurm left them. If false, everything but
 * call->rc is as before the call.
 */
bool shadow_try(struct shadow_call *call, const struct osp_question *question);

/*
 * Asks Slurm's function, without preempting, which of the question's nodes the gang would take
 * (OSP_ASK_WHO_NOW, OSP_ASK_WHO_EVER). Returns true with these in `taken`. Everything but call->rc
 * is as before the call.
 */
bool shadow_try_whom(struct shadow_call *call, const struct osp_question *question,
		     struct osp_nodeset *taken);

/*
 * Asks Slurm's function as the call came, with all that may be preempted (while some leave for the
 * job, only these), and takes its answer only if `accept` does (the nodes are in call->bitmap). If
 * not, returns false with everything as before
 * the call but call->rc, which is Slurm's.
 */
typedef bool shadow_accept_f(const struct shadow_call *call, void *context);
bool shadow_try_if(struct shadow_call *call, shadow_accept_f *accept, void *context);

/* Returns the last time at which a start counts as one at the first moment. */
int64_t shadow_first_moment_s(const struct shadow_call *call);

/* Returns whether Slurm's answer is a start no later than the first moment that was asked about. */
bool shadow_is_first_moment(const struct shadow_call *call);

/* Returns the milliseconds since the outermost call began. */
int64_t shadow_call_elapsed_ms(const struct shadow_call *call);

/* --- shadow_choose.c -------------------------------------------------------------------------- */

/* Places a gang: answers select_p_job_test(). Returns what Slurm's would. */
int shadow_choose(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_memory.c -------------------------------------------------------------------------- */

/*
 * Returns the number that a job keeps: an array's own, because Slurm gives a task another one when
 * it starts it.
 */
uint32_t shadow_lasting_id(const job_record_t *job);

/* Returns what enforcing would have done with a job of mode advise, if it is the last one asked
 * about; else NULL. */
const char *shadow_advice(uint32_t job_id);
void shadow_advice_remember(uint32_t job_id, const char *words);

/* The first says whether backfill is to say why the job waits: nothing says so yet, or it was said
 * minutes ago. The second notes that it was said now. */
bool shadow_must_report_waiting(const job_record_t *job, int64_t now_s);
void shadow_reported_waiting(const job_record_t *job, int64_t now_s);

/*
 * Sends a line to the srun or salloc that waits for the job, which prints it: once, and again if
 * the words change, a minute later at the earliest. Sends at most 16 lines in a MessageTimeout (at
 * least 10 s), so that clients that do not answer delay no start of a job; a client that gets none
 * for this reason gets one when its wait is explained next. Clients of jobs whose numbers are 1,024
 * apart share their minute. Does nothing for a batch job, or for a client that gave a name in place
 * of its address. Queues for Slurm's agent; the caller holds the job write lock.
 */
void shadow_print_to_client(job_record_t *job, const char *words, int64_t now_s);

/* Sends a salloc of a gang a line that says where the gang is, however lately it had one of why it
 * waited. Does nothing for an srun, whose tasks have variables that say so. */
void shadow_print_placed(job_record_t *job, const char *words, int64_t now_s);

/*
 * Save, restore and forget which jobs a gang preempts, in an entry of its spank_job_env[], which
 * outlives slurmctld. It is saved after a call that preempts, restored if the chooser knows nothing
 * of the gang, and forgotten when the gang or a task of its array starts. The caller holds the job
 * write lock; restoring needs none.
 */
void shadow_victims_save(job_record_t *job);
void shadow_victims_restore(const job_record_t *job);
void shadow_victims_forget(job_record_t *job);

/*
 * Whom a job preempts about which Slurm is asked without lib/choose. The first returns whom one
 * call may preempt: while some that the job preempts are leaving, only these; it holds until the
 * next call. The second notes and saves whom an answer preempts, if nobody is leaving for the job
 * yet; `level`: what the policy holds it to.
 */
struct osp_victims shadow_victims_of(const struct shadow_call *call);
void shadow_victims_keep(const struct shadow_call *call, const char *level);

/* Writes whom the call's answer preempts, OSP_CHOOSE_VICTIMS_MAX at most; returns how many. */
uint32_t shadow_victims_list(const struct shadow_call *call, struct osp_victim *victims);

/* Returns whether a victim is being preempted, and has not gone yet. */
bool shadow_victim_leaves(const struct osp_victim *victim, int64_t now_s);

/*
 * Returns whether Slurm will repeat the question about more nodes after a no: it asks if a job that
 * cannot start could run on the nodes that are available, and only then on all, including drained
 * ones. Call it in each call for a gang, with the call as it came.
 */
bool shadow_is_asked_again(const struct shadow_call *call);

/* --- shadow_seam.c ---------------------------------------------------------------------------- */

extern const struct osp_seam shadow_seam;

#endif
