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
 *	shadow_promise.c     gangs that need a word before they are placed: large ones, unread ones
 *	shadow_components.c  the same for components of a heterogeneous job, placed one by one
 *	shadow_gang.c        one gang's size and AdminComment
 *	shadow_leave.c       how long a job that ends is waited for
 *	shadow_parts.c       the same for a gang in segments or in several domains
 *	shadow_groups.c      a layout's parallel groups, made into such segments
 *	shadow_try.c         one call of Slurm's own function, undone when it fails
 *	shadow_launch.c      gangs on nodes that are launched for them
 *	shadow_keep.c        what becomes of the nodes of a launch in vain
 *	shadow_moved.c       running gangs whose nodes have other places by now
 *	shadow_choose.c      what lib/choose asks and decides, in Slurm's words
 *	shadow_memory.c      the advice of a call for the next one
 *	shadow_seam.c        what job_submit asks
 *
 * All of it runs in slurmctld. Except for the seam and the thread every function here is called
 * with Slurm's node lock held, for writing or (by sched/builtin's one thread) for reading, so
 * static state needs no lock of its own; what the seam and the thread read is behind shadow_lock.
 * Who needs both takes Slurm's first.
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
#include "lib/place/occupancy.h"
#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/policy/config.h"
#include "lib/policy/conflict.h"
#include "lib/policy/request.h"
#include "lib/topology/follow.h"
#include "lib/topology/topology.h"

/* --- shadow_state.c -------------------------------------------------------------------------- */

/* Topology and policy in force. Replaced as a whole. */
struct shadow_state {
	struct osp_config *config; /* never NULL once loaded */
	struct osp_topology
		*read;	     /* the topology on its own node numbers; NULL: none was ever good */
	uint64_t generation; /* another one with each `read`, file and table of Slurm's nodes */
	struct osp_topology *topology; /* on Slurm's node numbers; NULL with `read` */
	struct osp_place *place;       /* scratch of scheduling calls; NULL with topology */
	struct osp_cut *cut;	       /* the same, of gangs in parts */
	struct osp_chooser *chooser;   /* decides in them; NULL with topology */
	struct osp_place *seam_place;  /* scratch of the seam, under seam_mutex */
	struct osp_cut *seam_cut;      /* the same */
	uint32_t node_count;
	uint16_t kind_count;
	uint16_t *kind;	  /* by node */
	uint32_t *weight; /* by node: the configured one */
	bool weights_differ;
	uint32_t largest_gang;	      /* nodes of the largest gang that waits or runs */
	struct osp_nodeset *up;	      /* nodes that Slurm could give to a job, now or later */
	struct osp_nodeset *reserved; /* of these, the ones in a reservation that has begun */
	int64_t *place_boot_s; /* by node: the boot that its place holds for; 0: it does not age */
	struct osp_nodeset *old_places; /* nodes whose place does not hold now */
	bool places_changed; /* place_boot_s is another one since old_places was looked at */
};

extern struct shadow_state shadow_state;

/* Readers of shadow_state without Slurm's node lock take it for reading; the loader for writing. */
extern pthread_rwlock_t shadow_lock;

/*
 * Reads onespine.yaml and the topology again where they or Slurm's nodes changed. A file that
 * cannot be used leaves the last good one in force, also after a restart (a copy lies in
 * StateSaveLocation), and says so in the log. Never fails: without any topology gangs wait.
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

/* Lays a topology over nodes of these names, one a place (NULL: a free one). False, with `wrong`
 * set and nothing in `fabric`, when memory ran out or two names are one. Any thread. */
bool shadow_fabric_lay(struct shadow_fabric *fabric, const struct osp_topology *read,
		       const char *const *names, uint32_t count, struct osp_error *wrong);
void shadow_fabric_free(struct shadow_fabric *fabric);

/* How many domains it has, and how many of Slurm's nodes not: to be freed; NULL when memory ran
 * out. */
char *shadow_topology_words(const struct osp_topology *topology);
void shadow_tell_topology(const char *before, const char *words);

/* The topology that the exchange puts in force, and after it the one that was in force before. The
 * caller frees it once it has unlocked. */
struct shadow_exchange {
	uint64_t generation; /* for which it was laid out */
	struct osp_topology *read;
	struct shadow_fabric fabric;
};

/* Exchanges it with what is in force. False, with nothing changed, where the generation is another
 * one by now or, as may be if none was in force yet, memory ran out. With Slurm's node write lock
 * and shadow_lock for writing. Takes no memory where one was in force. */
bool shadow_state_exchange(struct shadow_exchange *other);

/* Exchanges `read` alone where its fabric says the same as the one in force, for the same boots,
 * which then stays, with all that is remembered of it: else false, as with another generation. With
 * shadow_lock for writing. */
bool shadow_state_exchange_read(struct shadow_exchange *other);

/*
 * Weights, kinds, states and resources of nodes again, at most once a second and of at most 4,096
 * nodes: administrators change them while we run. What running jobs hold: shadow_count_refresh().
 */
void shadow_state_refresh(time_t now);

/* --- shadow_files.c -------------------------------------------------------------------------- */

/* The topology's file. Under shadow_lock. */
struct shadow_topology_file {
	char path[PATH_MAX];
	char copy[PATH_MAX];	   /* of the last good one */
	struct osp_file_mark mark; /* of the last one that was read, good or bad */
	bool fresh;		   /* it had changed just before: it may be another one by now */
};

extern struct shadow_topology_file shadow_topology_file;

/* Read what has changed, with shadow_lock for writing. load_topology(): true where
 * shadow_state.read is another one. */
void shadow_load_config(void);
bool shadow_load_topology(void);

/* Removes what a process left that ended while it kept a copy. */
void shadow_remove_unfinished_copies(void);
void shadow_forget_files(void);

/* Any thread. Keeping a copy that fails is only told. `then`: what holds instead of a bad one. */
void shadow_keep_good_copy(const char *path, const char *text, size_t bytes);
void shadow_tell_bad_topology(const struct osp_found_topology *found, const char *then);

/* --- shadow_follow.c ------------------------------------------------------------------------- */

/* Begins the thread, once; in select_p_node_init() and not in init(), which a standby controller
 * runs too. */
void shadow_follow_begin(void);

/* Ends it, and waits for that. Without any lock. */
void shadow_follow_end(void);
bool shadow_follows(void); /* it runs. In the threads of select_p_node_init() and fini() */

/* What it does once a second. Without any lock. */
void shadow_follow_look(void);

/* --- shadow_layout.c ------------------------------------------------------------------------- */

/* Bytes of Slurm's records by the headers of this build. */
struct shadow_layout {
	uint64_t node_bytes;
	uint64_t config_bytes;
	uint64_t partition_bytes;
	uint64_t job_bytes;
	uint64_t details_bytes;
};

/*
 * Looks at a node, the default partition and, where Slurm's library makes one for the asking (from
 * 24.05 on), an empty job. False with `why` when one of them is not as large, or not marked, as
 * this build's headers say. Once, when Slurm has read its nodes.
 */
bool shadow_layout_fits(char *why, size_t why_bytes);

/* The same for one job that has details. */
bool shadow_layout_fits_job(const job_record_t *job, char *why, size_t why_bytes);

/* --- shadow_places.c ------------------------------------------------------------------------- */

/* Which boot each node's place holds for, as shadow_state.place_boot_s; to be freed, NULL when
 * memory ran out. Any thread. */
int64_t *shadow_places_boots(const struct osp_topology *topology);

/* Whether they are those in force. */
bool shadow_places_same(const int64_t *boot_s);

/* Whether the node's place may be old, as Slurm's record says now. */
bool shadow_place_is_old(uint32_t n);

/* Whether the node is powered down, or on its way down or up. */
bool shadow_is_asleep(uint32_t n);

/* Looks again at the nodes of shadow_state.old_places. */
void shadow_places_look_at_old(void);

/* Whether the place of none of `nodes` may be old, as Slurm's records say now. */
bool shadow_places_hold(const struct osp_nodeset *nodes);

/* --- shadow_count.c -------------------------------------------------------------------------- */

/* Another node table: what nodes have and jobs hold is forgotten, and counted with the next
 * call. */
void shadow_count_lay(uint32_t node_count);
void shadow_count_free(void);

/* What a node has, as Slurm's record says now. */
void shadow_count_node(uint32_t n, const node_record_t *node);

/* The number that a generic resource has in the account, by Slurm's plugin id; -1 if it is not
 * counted. */
int shadow_count_gres(uint32_t plugin_id);

/* Slurm's plugin adds a job to its tables: it begins, or slurmctld does. */
void shadow_count_added(const job_record_t *job);

/* A job has other nodes than before. */
void shadow_count_resized(const job_record_t *job);

/* A job will hold no more memory of each node than details->pn_min_memory, which its job_resrcs
 * does not say yet. */
void shadow_count_memory_reduced(const job_record_t *job);
void shadow_count_end(uint32_t job_id);

/* A person suspends or resumes it. (One that is suspended to let others run keeps its processors;
 * Slurm's plugin then does nothing.) */
void shadow_count_suspend(uint32_t job_id, bool suspended);

/* Before questions: looks at some jobs' ends again, and counts anew where a minute has passed, or
 * since shadow_count_again(). */
void shadow_count_refresh(time_t now);
void shadow_count_again(void);

/* Slurm's plugin has added all jobs to its tables anew. */
void shadow_count_rebuilt(void);

/* When each of `nodes` has what `need` says (occupancy.h); jobs in `preemptable` (may be NULL)
 * count as ended, each leader of a heterogeneous job with its components, and those over whose
 * processors `over` (may be NULL) may be laid as if they had none. `free_at_s` has one place for
 * each node; others than `nodes` stay. */
void shadow_count_free_at(const struct osp_occupancy_need *need, const struct osp_nodeset *nodes,
			  osp_list_t *preemptable, const job_record_t *over, int64_t now_s,
			  int64_t *free_at_s);

/* Whether a job may be laid over the processors of others, which are suspended for it or take turns
 * with it: with PreemptMode=GANG. */
bool shadow_may_lie_over(const job_record_t *job);

/* The largest amount of each that one of `nodes` has; nothing without an account. */
struct osp_amounts shadow_count_largest(const struct osp_nodeset *nodes);

/* Takes out of `nodes` those that have not what `need` says. */
void shadow_count_keep_free(const struct osp_occupancy_need *need, struct osp_nodeset *nodes);

/* A number that changes with what jobs hold of `nodes` and until when. */
uint64_t shadow_count_state(const struct osp_nodeset *nodes);

/* Whether no job will hold anything of `nodes` at that time, by the ends that the jobs have now. */
bool shadow_count_empty_at(const struct osp_nodeset *nodes, int64_t at_s);

/* --- shadow_nodes.c -------------------------------------------------------------------------- */

/* True when Slurm's bitmaps lie in memory as nodesets do (checked once, at init). */
bool shadow_bitmaps_match(void);

void shadow_from_bitmap(struct osp_nodeset *set, bitstr_t *bitmap);
void shadow_to_bitmap(bitstr_t *bitmap, const struct osp_nodeset *set);

/* What the job needs of each of its nodes at least. `shares`: its processors may be others' too. */
void shadow_need(const job_record_t *job, bool whole_nodes, bool shares,
		 struct osp_occupancy_need *need);

/* How many of one generic resource a node has, used or not. */
uint64_t shadow_node_gres(const node_record_t *node, uint32_t plugin_id);

/* --- shadow_request.c ------------------------------------------------------------------------ */

/*
 * The request in force for a job, under the policy of its partition (of several: all that they
 * promise together); false when it is no gang (most jobs: one look at spank_job_env and at the
 * policy). With effective->if_large it is one only when it is given effective->from_nodes nodes or
 * more.
 */
bool shadow_gang_request(job_record_t *job, struct osp_effective *effective);

/* A request for less than the policy's own: a level above its, or (sooner) before its @TIME. */
bool shadow_looser_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective);
bool shadow_sooner_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective);

/* Whether its @TIME has passed. */
bool shadow_is_relaxed(const job_record_t *job, const struct osp_effective *effective);

/* The value of one of the job's entries of spank_job_env[] ("NAME="), or NULL. */
const char *shadow_spank_value(const job_record_t *job, const char *prefix);

/* A new set of these nodes, in Slurm's notation; NULL if one is unknown, or memory ran out. */
struct osp_nodeset *shadow_nodes_named(const char *names);

/* The other way round, to be freed; NULL for none. */
char *shadow_node_names(const struct osp_nodeset *nodes);

/* Writes that entry, in place of an older one. With Slurm's job write lock. */
void shadow_put_entry(job_record_t *job, const char *prefix, const char *value);

/* No fewer than min_nodes and one, and than its tasks need at --ntasks-per-node. */
uint32_t shadow_least_nodes(const job_record_t *job, uint32_t min_nodes);

/* True if no choice of `nodes` nodes in `bitmap` has `cpus` CPUs and the GPUs wanted; false for no
 * nodes. 0: none are asked for. */
bool shadow_needs_more_nodes(bitstr_t *bitmap, uint64_t cpus, const struct osp_gpus_wanted *gpus,
			     uint32_t nodes);

/* Whether a component of the same heterogeneous job counts with it for the size that a policy
 * judges: one of its partition. */
bool shadow_is_beside(const job_record_t *job, const job_record_t *component);

/* What of the job's options may not stand beside a gang. Its strings live as long as the job. */
void shadow_job_shape(const job_record_t *job, struct osp_shape *shape);

/* A hash of what the job asks for of its nodes and how many of them, and who asks, as its record
 * says now; never 0. Jobs with the same one could be given the same nodes. */
uint64_t shadow_request_hash(const job_record_t *job);

/* A hash of what the nodes go by that a job is offered: it is asked about in each of its
 * partitions, with --prefer and without, and from 26.05 on with each of its QOS and reservations
 * (job_scheduler.c). */
uint64_t shadow_choice_of(const job_record_t *job);

/* --- shadow_promise.c ------------------------------------------------------------------------ */

struct shadow_call;

/* select_p_job_test() for a job that shadow_gang_request() has named. Returns what Slurm's
 * would. */
int shadow_place_gang(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_components.c --------------------------------------------------------------------- */

/* Whether the size of the job, which nobody knows yet, counts together with that of other
 * components of its heterogeneous job. */
bool shadow_has_components(job_record_t *job);

/* select_p_job_test() for one of these, for a start now or later: where all of them can start in
 * one domain, or are too few for a gang. Else it waits and says why. */
int shadow_place_component(struct shadow_call *call, const struct osp_effective *effective);

/* Forgets where backfill has planned them: the nodes are others. */
void shadow_components_forget(void);

/* --- shadow_leave.c -------------------------------------------------------------------------- */

/* Whether a job is ending (COMPLETING), and not for longer than that can take in good order. */
bool shadow_job_leaves(const job_record_t *job, int64_t now_s);

/* Whether the last job has left the node, which is COMPLETING, longer ago than that. */
bool shadow_node_hangs(const node_record_t *node, int64_t now_s);

/* --- shadow_gang.c --------------------------------------------------------------------------- */

/* One gang as a scheduling call sees it. Sets have one place for each node of Slurm's table. */
struct shadow_gang {
	job_record_t *job;
	struct osp_effective effective;
	uint32_t level; /* the one in force now: relaxed or not; 0: anywhere (relaxed above the top)
			 */
	uint32_t prefer_level; /* below that, where it can start at once; 0: none */
	bool relaxed;
	bool in_parts; /* in segments or in several domains: */
	struct osp_parts parts;
	bool whole_nodes; /* the gang takes each node whole */
	bool exact_size;  /* need and want are certain, not an estimate from tasks or GPUs */
	uint32_t need_nodes;
	uint32_t want_nodes;
	struct osp_occupancy_need need; /* of each node */
	struct osp_nodeset *usable;	/* the bitmap as it came */
	struct osp_nodeset *free;	/* of these, free now */
	struct osp_nodeset *boot;	/* that must first be started; NULL: none known */
	struct osp_nodeset *required;	/* NULL: none */
	struct osp_nodeset *settling;	/* that are ending jobs or booting; NULL: none */
	struct osp_nodeset *stuck;	/* of these, the ones that hang; NULL: none */
	struct osp_nodeset *unlaunched; /* that may be launched for it; NULL: none */
	uint32_t old_places;		/* nodes that were taken out of `usable` for that */
	bool free_is_certain;		/* what is not in `free` cannot start now */
	bool lies_over;			/* it may start over jobs that are suspended for it */
};

/*
 * Fills `gang` for a call with this bitmap and size. Returns 0, or -1 when memory ran out or the
 * level is not one of the fabric's (the gang waits; `why` says so). shadow_gang_clear() in either
 * case.
 */
int shadow_gang_begin(struct shadow_gang *gang, job_record_t *job,
		      const struct osp_effective *effective, bitstr_t *bitmap, uint32_t min_nodes,
		      uint32_t req_nodes, char *why, size_t why_bytes);
void shadow_gang_clear(struct shadow_gang *gang);

/* Takes the nodes out of it whose places may be old: for a question about a start, never for
 * whether it could start ever, since their places will be known. */
void shadow_gang_drop_old_places(struct shadow_gang *gang);

/*
 * For words alone: the nodes that the gang could get in time, free or not; without those whose
 * places may be old. The bitmap of a call for now holds only what is idle. Returns a new set, or
 * NULL when memory ran out.
 */
struct osp_nodeset *shadow_gang_prospects(const struct shadow_gang *gang);

/* The placement question that this gang asks. */
struct osp_place_input shadow_gang_input(const struct shadow_gang *gang);

/* Writes our part of the job's AdminComment, when it changes anything. */
void shadow_gang_says(job_record_t *job, const struct osp_effective *effective, const char *says);

/* Says where its nodes stand, which are in one domain. */
void shadow_gang_where(job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes);

/* Whether these nodes keep the request: one domain of its level, or of the one above when
 * relaxed. */
bool shadow_gang_together(const job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes);

/*
 * Tells where a job that starts went (select_p_job_begin, the one commit). Returns SLURM_SUCCESS;
 * SLURM_ERROR for a gang that is to be enforced and stands in no common domain, so that Slurm puts
 * it back: it should never happen, and must not where it does.
 */
int shadow_gang_started(job_record_t *job);

/* When each usable node has what the gang needs; `preemptable` jobs (may be NULL) count as ended.
 * `free_at_s` has one place for each node. */
void shadow_gang_free_times(const struct shadow_gang *gang, osp_list_t *preemptable, int64_t now_s,
			    int64_t *free_at_s);

/* --- shadow_launch.c ------------------------------------------------------------------------- */

/* Whether nodes may be launched for this job now. */
bool shadow_launch_may(const job_record_t *job, const struct osp_effective *effective);

/* How often that was in vain, and what it cost: the time from each such start to the return to the
 * queue, times the job's nodes. */
struct shadow_in_vain {
	uint32_t times;
	uint64_t node_s;
	int64_t last_s; /* when it last went back to the queue for that; 0: never */
};
struct shadow_in_vain shadow_launched_in_vain(const job_record_t *job);

/* The gang's free nodes that do not run and whose places nobody knows: a new set, or NULL. */
struct osp_nodeset *shadow_launch_unlaunched(const struct shadow_gang *gang);

/* Whether its nodes could ever come together, were nodes launched for it. Under the seam's
 * locks. */
bool shadow_launch_could(const struct osp_place_input *place);

/* A gang starts on nodes of which some do not run. True, and it stays CONFIGURING until it is known
 * where they stand, if it may. */
bool shadow_launch_begins(job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes);

/* slurmctld has started anew, and this job's nodes are. */
void shadow_launch_resume(job_record_t *job);

/* Whether the job must not go on yet. Any lock. */
bool shadow_launch_waits(uint32_t job);

/* Whether there is any such job; looks where their nodes stand, and puts back those that stand
 * apart: with Slurm's job, node and partition write locks. */
bool shadow_launch_any(void);
void shadow_launch_look(int64_t now_s);
void shadow_launch_forget(void);

/* --- shadow_keep.c --------------------------------------------------------------------------- */

/* Keeps these nodes for the next start of a job that waits, for so many seconds or less, by a
 * reservation of Slurm's; ends that; whether the job's reservation is that one. All with the locks
 * of shadow_launch_look(). */
void shadow_keep(job_record_t *job, const struct osp_nodeset *nodes, int64_t keep_s);
void shadow_keep_end(job_record_t *job);
bool shadow_keeps(const job_record_t *job);

/* The nodes that were launched for the job, a new set; NULL where memory ran out. */
struct osp_nodeset *shadow_launched_nodes(const job_record_t *job);
void shadow_put_launched_nodes(job_record_t *job, const struct osp_nodeset *nodes);

/* Powers these nodes down, which the job left at that time, but for those that run a job, have
 * booted or been used by another since, are reserved, or are never suspended. */
void shadow_give_back(const job_record_t *job, const struct osp_nodeset *nodes, int64_t left_s);

/* --- shadow_moved.c -------------------------------------------------------------------------- */

/* Tells of each running gang whose nodes stood together by `before`, over Slurm's nodes as they
 * are, and stand apart by what is in force. With Slurm's job lock for writing, and its node
 * lock. */
void shadow_moved_look(const struct osp_topology *before);

/* --- shadow_order.c -------------------------------------------------------------------------- */

/*
 * The order of the nodes of a started gang in segments or with a layout, as its note has it
 * (lib/layout/gang_order.h). NULL: that of `leaves`. If rank 0 begins in the smaller last segment,
 * because the first name of the node list is there, `says` is continued with that. Malloc'd.
 */
char *shadow_order_of(const job_record_t *job, const struct osp_effective *effective,
		      const struct osp_nodeset *nodes, const char *leaves, char *says,
		      size_t says_bytes);

/* --- shadow_groups.c ------------------------------------------------------------------------- */

struct osp_seam_job;

/*
 * Makes of the layout in `effective` (none: 0) the segments that keep its groups together, on a
 * fabric that has the gang's level. Fills its segments, its layout with all that was not said, and
 * `reordered_gpus`. The GPUs of a node are those asked for, else those of `partition` (NULL:
 * unknown). -1 with the sentence. Under the seam's locks.
 */
int shadow_groups_translate(const struct osp_seam_job *job, const part_record_t *partition,
			    struct osp_effective *effective, char *sentence, size_t sentence_bytes);

/* --- shadow_parts.c -------------------------------------------------------------------------- */

/* Whether it asks for segments or for several domains. */
bool shadow_in_parts(const struct osp_effective *effective);

/* Fills what of `gang` (its size is known) is about that, and its level. Returns 0, or -1 with
 * `why` it waits. */
int shadow_parts_begin(struct shadow_gang *gang, uint32_t min_nodes, char *why, size_t why_bytes);

/* Whether these nodes keep the request, at its level or at the one above when relaxed, which
 * `level` gets. Takes memory; without, nothing is kept. */
bool shadow_parts_kept(const job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes, uint32_t *level);

/* The names of the domains of a level that `nodes` lie in, with commas; to be freed. NULL: without
 * memory. */
char *shadow_parts_domains(const struct osp_nodeset *nodes, uint32_t level, uint32_t *domain_count);

/* Why it waits, in words: `prospects` are the nodes that it could get in time (NULL: its usable
 * ones), `free_now` those that it may be given now. */
void shadow_parts_waits(const struct shadow_gang *gang, const struct osp_nodeset *prospects,
			const struct osp_nodeset *free_now, char *buffer, size_t buffer_bytes);

/* Reads the user's own options of a gang, --gang and those beside it, from the job. Returns false
 * if the job has none. `readable` says whether all of them were understood. */
bool shadow_option(const job_record_t *job, struct osp_request *request, bool *readable);

/* --- shadow_try.c ---------------------------------------------------------------------------- */

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
	bool asked_again; /* test only: after a no Slurm asks about more nodes */
	int rc;		  /* Slurm's last answer */
	struct timespec began;
};

/*
 * Puts a question of lib/choose to Slurm's function: `call->bitmap` narrowed to its nodes, of the
 * call's candidates those that it may preempt and that are in the way. On success true: the bitmap,
 * the job and *call->preempted are as Slurm left them. Otherwise everything is as before the call,
 * but for call->rc.
 */
bool shadow_try(struct shadow_call *call, const struct osp_question *question);

/*
 * Asks Slurm's function, without preempting, which of the question's nodes the gang would take
 * (OSP_ASK_WHO_NOW, OSP_ASK_WHO_EVER). True with these in `taken`. All is as before the call, but
 * for call->rc.
 */
bool shadow_try_whom(struct shadow_call *call, const struct osp_question *question,
		     struct osp_nodeset *taken);

/*
 * Asks Slurm's function as the call came, with all that may be preempted, and takes its answer only
 * where `accept` does (the nodes are in call->bitmap). Otherwise false, with everything as before
 * the call but for call->rc, which is Slurm's.
 */
typedef bool shadow_accept_f(const struct shadow_call *call, void *context);
bool shadow_try_if(struct shadow_call *call, shadow_accept_f *accept, void *context);

/* Whether Slurm's answer is a start no later than the first moment that was asked about. */
bool shadow_is_first_moment(const struct shadow_call *call);

/* Milliseconds since the outermost call began. */
int64_t shadow_call_elapsed_ms(const struct shadow_call *call);

/* --- shadow_choose.c ------------------------------------------------------------------------- */

/* Places a gang: select_p_job_test() for a gang. Returns what Slurm's would. */
int shadow_choose(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_memory.c ------------------------------------------------------------------------- */

/* The number that a job keeps: an array's own. Slurm gives a task another one when it starts it. */
uint32_t shadow_lasting_id(const job_record_t *job);

/* What enforcing would have done with a job of mode advise, when it is the last one asked about;
 * else NULL. */
const char *shadow_advice(uint32_t job_id);
void shadow_advice_remember(uint32_t job_id, const char *words);

/* Whether backfill is to say why the job waits: nothing says so yet, or it was said minutes ago. It
 * was said now. */
bool shadow_is_to_be_told(const job_record_t *job, int64_t now_s);
void shadow_told_waiting(const job_record_t *job, int64_t now_s);

/*
 * Sends the srun or salloc that waits for the job a line, which it prints: once, and again when the
 * words are others, a minute later at the earliest. Clients of jobs whose numbers are 1,024 apart
 * share that minute, so that no users make slurmctld send more. Does nothing for a batch job.
 * Queues for Slurm's agent; the caller holds the job write lock.
 */
void shadow_tell_client(job_record_t *job, const char *words, int64_t now_s);

/*
 * Whether a no is followed by the same question about more nodes: Slurm asks if a job that cannot
 * start could run on the nodes that are available, and only then on all, drained ones too. To be
 * called in each call for a gang, with how it came.
 */
bool shadow_is_asked_again(const struct shadow_call *call);

/* --- shadow_seam.c --------------------------------------------------------------------------- */

extern const struct osp_seam shadow_seam;

#endif
