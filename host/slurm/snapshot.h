/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot.h - nodes, jobs and partitions as they were at one moment
 *
 * Filled from Slurm (cluster_state.h) or from a file that `onespine map --json` wrote; knows
 * neither. Strings live in the snapshot. One thread.
 */
#ifndef OSP_SNAPSHOT_H
#define OSP_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/nodeset.h"
#include "lib/topology/topology.h"

#define OSP_STATE_FILE_BYTES_MAX ((size_t)256 * 1024 * 1024)

enum osp_slurm_node_state {
	OSP_NODE_IDLE,
	OSP_NODE_PARTLY, /* some of it is allocated */
	OSP_NODE_BUSY,
	OSP_NODE_COMPLETING,
	OSP_NODE_POWERED_DOWN, /* idle; a job can have it once it is started */
	OSP_NODE_POWERING_UP,
	OSP_NODE_POWERING_DOWN, /* or rebooting */
	OSP_NODE_RESERVED,	/* idle, for a reservation */
	OSP_NODE_MAINTENANCE,
	OSP_NODE_DRAINING, /* still has a job, gets no other */
	OSP_NODE_DRAINED,
	OSP_NODE_DOWN,
	OSP_NODE_UNKNOWN, /* Slurm does not know it */
	OSP_NODE_STATE_COUNT,
};

struct osp_state_node {
	const char *name;
	const char *kind;     /* lib/topology/kind.h; "" if nothing is known */
	const char *reason;   /* why it is down or drained; NULL: none */
	const char *features; /* with commas; NULL: none */
	uint32_t weight;
	enum osp_slurm_node_state state;
	bool reserved; /* in a reservation or maintenance, busy or not */
	bool asleep;   /* powered down, or on its way down or up, whatever its state; not kept in
			  files */
	bool silent;   /* it does not answer slurmctld, which gives it no job, whatever its state;
			  not kept in files */
	bool cloud;    /* a machine is started for it (State=CLOUD); not kept in files */
	uint32_t cpus; /* that Slurm hands out, and GPUs; not kept in files, as a job's */
	uint32_t gpus;
	uint32_t cpus_taken; /* by jobs, also those that the caller may not see */
	uint32_t gpus_taken;
	uint64_t memory_mib; /* that Slurm hands out, and what jobs have of it; not kept in files */
	uint64_t memory_taken_mib;
	int64_t boot_s; /* BootTime; 0: it has not registered, or comes from a file */
};

enum osp_job_phase {
	OSP_JOB_PENDING,
	OSP_JOB_RUNNING,
	OSP_JOB_SUSPENDED,
	OSP_JOB_COMPLETING, /* ended, but not yet off its nodes */
	OSP_JOB_ENDED,
};

/* What a job takes of each node's memory, where it is no size. */
#define OSP_MEMORY_ALL	   UINT64_MAX
#define OSP_MEMORY_UNKNOWN (UINT64_MAX - 1)

/* Strings may be NULL unless said; times are seconds since 1970, 0 = unknown. */
struct osp_state_job {
	uint32_t id;
	const char *label; /* "1201", "1201_7", "1201+1"; never NULL */
	const char *name;
	const char *user;
	const char *partition; /* several with commas while pending */
	const char *state;     /* Slurm's word: PENDING ...; never NULL */
	const char *reason;    /* Slurm's word: Resources ... */
	const char *admin_comment;
	const char *nodes_text;	    /* hostlist of the nodes it has */
	const char *required_nodes; /* hostlists of -w and -x */
	const char *excluded_nodes;
	const char *reservation;
	const char *features;	/* of -C */
	const char *extra;	/* of --extra, if Slurm gives the job only nodes that fit it */
	const char *licenses;	/* of -L */
	const char *dependency; /* of -d, as Slurm says how far it is met */
	const char *gres;	/* of --gres and --gpus-per-node, "gpu:8"; not kept in files */
	enum osp_job_phase phase;
	bool whole_nodes;    /* it shares no node: --exclusive */
	uint32_t node_count; /* it has, or least that it wants */
	uint32_t node_most;  /* most that it wants; 0: not said */
	uint32_t cpus;	     /* on each of its nodes, about; of one that waits, at least */
	uint32_t gpus;
	uint64_t memory_mib; /* or OSP_MEMORY_..; counted if its partition counts it */
	uint32_t tasks;	     /* of an array, if they wait together; else 0 */
	uint32_t restarts;   /* times requeued */
	bool is_batch;	     /* a job script; with `requeues` not kept in files */
	bool requeues;	     /* it may go back to the queue */
	int64_t submit_s;
	int64_t eligible_s;
	int64_t evaluated_s; /* when Slurm last looked whether it can start */
	int64_t start_s;     /* of a pending one: Slurm's guess */
	int64_t end_s;	     /* expected if it has not ended */
	int64_t limit_s;     /* how long it may run; 0: unknown */
	uint32_t *nodes;     /* indexes of those in nodes_text that the snapshot has */
	uint32_t nodes_known;
};

struct osp_state_partition {
	const char *name;
	const char *nodes_text;
	bool is_default;
	bool up;
	int64_t limit_s; /* of jobs that name none; 0: unknown; not kept in files */
	/* What it allows a job; 0: unknown. Not kept in files. */
	int64_t limit_most_s;
	uint32_t nodes_least, nodes_most;
	/* Is memory handed out, and what has a job that names none? Not kept in files. */
	bool counts_memory;
	bool memory_per_cpu; /* memory_mib is that for each processor */
	bool memory_per_gpu; /* or its GPUs bring memory */
	uint64_t memory_mib; /* or OSP_MEMORY_ALL */
};

/* Whole nodes that are set apart for some time: now, or later. */
struct osp_state_reservation {
	const char *name;
	const char *nodes_text;
	int64_t start_s;
	int64_t end_s;
	bool others_too; /* a job in it may have other nodes, too */
	bool maint;	 /* a job in it may have nodes of any other */
	bool overlap;	 /* a job in it may have nodes of others, but for those of `maint` */
};

struct osp_snapshot {
	int64_t time_s;
	const char *cluster; /* NULL: unknown */
	struct osp_state_node *nodes;
	uint32_t node_count;
	struct osp_state_job *jobs;
	uint32_t job_count;
	struct osp_state_partition *partitions;
	uint32_t partition_count;
	struct osp_state_reservation *reservations; /* those that the caller may see */
	uint32_t reservation_count;
	bool hides_jobs;  /* PrivateData=jobs: `jobs` may lack those of others */
	bool has_extra;	  /* sbatch has --extra; not kept in files */
	bool obeys_extra; /* jobs get only nodes that fit their --extra */
	bool requeues;	  /* a job may go back to the queue if it does not say; not kept in files */
	bool failed;	  /* memory ran out while it was filled */
	uint32_t *by_name; /* node numbers in order of their names */
	struct osp_owned *strings;
};

/* --- filling ---------------------------------------------------------------------------------- */

struct osp_snapshot *osp_snapshot_new(void); /* Returns NULL when memory ran out */
void osp_snapshot_free(struct osp_snapshot *snapshot);

/* Returns a copy that the snapshot owns, cleaned (lib/base/clean.h): users name jobs. NULL for NULL
 * and for "". */
const char *osp_snapshot_string(struct osp_snapshot *snapshot, const char *string);

/* Returns a new, zeroed entry at the end, valid until the next one of its kind; NULL (and `failed`
 * set) when memory ran out. */
struct osp_state_node *osp_snapshot_add_node(struct osp_snapshot *snapshot);
struct osp_state_job *osp_snapshot_add_job(struct osp_snapshot *snapshot);
struct osp_state_partition *osp_snapshot_add_partition(struct osp_snapshot *snapshot);
struct osp_state_reservation *osp_snapshot_add_reservation(struct osp_snapshot *snapshot);

/* Indexes names, once all is in, and resolves the jobs' nodes. 0, or -1 with `error`
 * set. */
int osp_snapshot_finish(struct osp_snapshot *snapshot, struct osp_error *error);

/* --- asking ----------------------------------------------------------------------------------- */

/* Returns the node's number, or OSP_NO_NODE. Logarithmic. */
uint32_t osp_snapshot_find_node(const struct osp_snapshot *snapshot, const char *name);
const struct osp_state_partition *osp_snapshot_find_partition(const struct osp_snapshot *snapshot,
							      const char *name);

/* Returns the reservation of that name; NULL if there is none, or several are named. */
const struct osp_state_reservation *
osp_snapshot_find_reservation(const struct osp_snapshot *snapshot, const char *name);

/* Returns whether `word` can be a job's number at all. 0, or -1 with `error` set. */
int osp_check_job_word(const char *word, struct osp_error *error);

/* Returns the job that `label` names ("1201", "1201_7", "1201+1"), a waiting array that holds the
 * task of that name, or the first task or part of the job of that number; NULL when there is
 * none. */
struct osp_state_job *osp_snapshot_find_job(const struct osp_snapshot *snapshot, const char *label);

/* Adds the nodes of a hostlist to `set` (one place for each node of the snapshot). `what` names
 * the list in errors; with `strict` an unknown node is one. */
int osp_snapshot_add_hostlist(const struct osp_snapshot *snapshot, const char *list, bool strict,
			      const char *what, struct osp_nodeset *set, struct osp_error *error);

/* Returns the compact hostlist of `set`; NULL when memory ran out. To be freed. */
char *osp_snapshot_hostlist(const struct osp_snapshot *snapshot, const struct osp_nodeset *set);

/* Returns `topology` on the snapshot's node numbers. */
struct osp_topology *osp_snapshot_rebase(const struct osp_snapshot *snapshot,
					 const struct osp_topology *topology,
					 struct osp_error *error);

/* Return whether a gang may have this node, now or when a job on it ends; whether it is free now;
 * whether it must be started. */
bool osp_node_usable(const struct osp_state_node *node);
bool osp_node_free(const struct osp_state_node *node);
bool osp_node_boots(const struct osp_state_node *node);

/* Returns from which time on a start that Slurm plans tells nothing: to plan, it ends a job without
 * a time limit a year after that job's start, and one that waits a year after its planned one. */
int64_t osp_plans_tell_until(const struct osp_snapshot *snapshot);

/* Has the job nodes now (running, suspended or completing)? */
bool osp_job_on_nodes(const struct osp_state_job *job);

const char *osp_node_state_name(enum osp_slurm_node_state state); /* "powered-down" */
const char *osp_job_phase_name(enum osp_job_phase phase);	  /* "running" */

/* --- files (snapshot_json.c) ------------------------------------------------------------------ */

/* Makes JSON of the snapshot, with the topology in it; NULL if memory ran out. */
json_t *osp_snapshot_to_json(const struct osp_snapshot *snapshot,
			     const struct osp_topology *topology);

/* Does it the other way round. `*topology` (on its own node numbers) is NULL if the file has none.
 * NULL with `error` set. */
struct osp_snapshot *osp_snapshot_from_json(const char *file, const char *text, size_t text_bytes,
					    struct osp_topology **topology,
					    struct osp_error *error);

#endif
