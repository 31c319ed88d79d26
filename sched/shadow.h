/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.h - the parts of the enforcing shadow of select/cons_tres and what they share
 *
 *	select_cons_tres.c   what Slurm calls; decides whether a call is a gang's at all
 *	shadow_state.c       topology and policy in force, read at start and on reconfigure
 *	shadow_layout.c      are Slurm's records as this build's headers say?
 *	shadow_nodes.c       Slurm's node table as sets: free, to be booted, when free, weight, kind
 *	shadow_gang.c        one gang's request, size and AdminComment
 *	shadow_try.c         one call of Slurm's own function, undone when it fails
 *	shadow_choose.c      the three modes: run now, will run, test only
 *	shadow_memory.c      what one call remembers for a later one
 *	shadow_seam.c        what job_submit asks
 *
 * All of it runs in slurmctld. Except for the seam every function here is called with Slurm's node
 * write lock held, so static state needs no lock of its own; what the seam reads is behind
 * shadow_lock.
 */
#ifndef OSP_SHADOW_H
#define OSP_SHADOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sched/shadow_slurm.h"
#include "lib/base/nodeset.h"
#include "lib/place/place.h"
#include "lib/policy/config.h"
#include "lib/policy/request.h"
#include "lib/topology/topology.h"

/* --- shadow_state.c -------------------------------------------------------------------------- */

/* Topology and policy in force. Replaced as a whole. */
struct shadow_state {
	struct osp_config *config;     /* never NULL once loaded */
	struct osp_topology *topology; /* on Slurm's node numbers; NULL: none was ever good */
	struct osp_place *place;       /* scratch of scheduling calls; NULL with topology */
	struct osp_place *seam_place;  /* scratch of the seam, under seam_mutex */
	uint32_t node_count;
	uint16_t kind_count;
	uint16_t *kind;	  /* by node */
	uint32_t *weight; /* by node: the configured one */
	bool weights_differ;
	uint32_t largest_gang;	      /* nodes of the largest gang that waits or runs */
	struct osp_nodeset *up;	      /* nodes that Slurm could give to a job, now or later */
	struct osp_nodeset *reserved; /* of these, the ones in a reservation that has begun */
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

/* Weights, kinds and states again, at most once a second: administrators change them while we run.
 */
void shadow_state_refresh(time_t now);

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
 * 24.05 on), an empty job. False with `why` when one of them is not as large, or not marked, as this
 * build's headers say. Once, when Slurm has read its nodes.
 */
bool shadow_layout_fits(char *why, size_t why_bytes);

/* The same for one job that has details. */
bool shadow_layout_fits_job(const job_record_t *job, char *why, size_t why_bytes);

/* --- shadow_nodes.c -------------------------------------------------------------------------- */

/* True when Slurm's bitmaps lie in memory as nodesets do (checked once, at init). */
bool shadow_bitmaps_match(void);

void shadow_from_bitmap(struct osp_nodeset *set, bitstr_t *bitmap);
void shadow_to_bitmap(bitstr_t *bitmap, const struct osp_nodeset *set);

/* Takes out of `free_nodes` the nodes whose processors or GPUs are certainly used up, for a job
 * that takes parts of nodes. */
void shadow_remove_full_nodes(const job_record_t *job, struct osp_nodeset *free_nodes);

/* How many of one generic resource a node has, used or not. */
uint64_t shadow_node_gres(const node_record_t *node, uint32_t plugin_id);

/* --- shadow_gang.c --------------------------------------------------------------------------- */

/* One gang as a scheduling call sees it. Sets have one place for each node of Slurm's table. */
struct shadow_gang {
	job_record_t *job;
	struct osp_effective effective;
	uint32_t level; /* the one in force now: relaxed or not; 0: anywhere (relaxed above the top)
			 */
	bool relaxed;
	bool whole_nodes; /* the gang takes each node whole */
	bool exact_size;  /* need and want are certain, not an estimate from tasks or GPUs */
	uint32_t need_nodes;
	uint32_t want_nodes;
	struct osp_nodeset *usable;   /* the bitmap as it came */
	struct osp_nodeset *free;     /* of these, free now */
	struct osp_nodeset *boot;     /* that must first be started; NULL: none known */
	struct osp_nodeset *required; /* NULL: none */
	bool free_is_certain;	      /* what is not in `free` cannot start now */
};

/* The request in force for a job, or false when it is no gang (most jobs: one look at
 * spank_job_env and at the partition's policy). */
bool shadow_gang_request(job_record_t *job, struct osp_effective *effective);

/* A request for less than the policy's own: a level above its, or (sooner) before its @TIME. */
bool shadow_looser_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective);
bool shadow_sooner_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective);

/* No fewer than min_nodes and one, and than its tasks need at --ntasks-per-node. */
uint32_t shadow_least_nodes(const job_record_t *job, uint32_t min_nodes);

/*
 * Fills `gang` for a call with this bitmap and size. Returns 0, or -1 when memory ran out or the
 * level is not one of the fabric's (the gang waits; `why` says so). shadow_gang_clear() in either
 * case.
 */
int shadow_gang_begin(struct shadow_gang *gang, job_record_t *job,
		      const struct osp_effective *effective, bitstr_t *bitmap, uint32_t min_nodes,
		      uint32_t req_nodes, char *why, size_t why_bytes);
void shadow_gang_clear(struct shadow_gang *gang);

/*
 * For words alone: the nodes that the gang could get in time, free or not. The bitmap of a call for
 * now holds only what is idle. Returns a new set, or NULL when memory ran out.
 */
struct osp_nodeset *shadow_gang_prospects(const struct shadow_gang *gang);

/* The placement question that this gang asks. */
struct osp_place_input shadow_gang_input(const struct shadow_gang *gang);

/* Writes our part of the job's AdminComment, when it changes anything. */
void shadow_gang_says(job_record_t *job, const struct osp_effective *effective, const char *domain,
		      const char *leaves, const char *says);

/*
 * Tells where a job that starts went (select_p_job_begin, the one commit). Returns SLURM_SUCCESS;
 * SLURM_ERROR for a gang that is to be enforced and stands in no common domain, so that Slurm puts
 * it back: it should never happen, and must not where it does.
 */
int shadow_gang_started(job_record_t *job);

/* When each usable node becomes free, by the ends of running jobs; `preemptable` ones (may be NULL)
 * count as ended. `free_at_s` has one place for each node. */
void shadow_gang_free_times(const struct shadow_gang *gang, osp_list_t *preemptable, int64_t now_s,
			    int64_t *free_at_s);

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
	int rc; /* Slurm's last answer */
	struct timespec began;
};

/*
 * Asks Slurm's function with `call->bitmap` narrowed to `nodes`. `preempt`: with the call's
 * candidates that overlap `nodes`, else with none. `now_only`: WILL_RUN does not look into the
 * future. On success true: the bitmap, the job and *call->preempted are as Slurm left them.
 * Otherwise everything is as before the call, but for call->rc.
 */
bool shadow_try(struct shadow_call *call, const struct osp_nodeset *nodes, bool preempt,
		bool now_only);

/* Milliseconds since the outermost call began. */
int64_t shadow_call_elapsed_ms(const struct shadow_call *call);

/* --- shadow_choose.c ------------------------------------------------------------------------- */

/* Places a gang: select_p_job_test() for a gang. Returns what Slurm's would. */
int shadow_choose(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_memory.c ------------------------------------------------------------------------- */

/* The domain where a job's preemption began not long ago, or OSP_NO_DOMAIN: it is kept until the
 * job starts, the topology changes, or five minutes have passed. */
uint32_t shadow_sticky_domain(uint32_t job_id);
void shadow_sticky_remember(uint32_t job_id, uint32_t domain);
void shadow_sticky_forget(uint32_t job_id);
void shadow_sticky_clear(void);

/* What enforcing would have done with a job of mode advise, when it is the last one asked about;
 * else NULL. */
const char *shadow_advice(uint32_t job_id);
void shadow_advice_remember(uint32_t job_id, const char *words);

/* --- shadow_seam.c --------------------------------------------------------------------------- */

extern const struct osp_seam shadow_seam;

#endif
