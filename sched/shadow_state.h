/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_state.h - what is in force: topology and policy over Slurm's nodes
 *
 * shadow.h says which locks its callers hold.
 */
#ifndef OSP_SHADOW_STATE_H
#define OSP_SHADOW_STATE_H

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
	int64_t *place_boot_s;		/* by node: osp_place_boot_s() of its place */
	struct osp_nodeset *old_places; /* nodes whose place does not hold now, or is reserved */
	bool places_changed;	/* place_boot_s has changed since old_places was looked at */
	bool license_withdrawn; /* slurmctld's records are others: it holds gangs by itself */
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

/* Begins the threads, each once. Called in select_p_node_init() and not in init(), which a standby
 * controller runs too. */
void shadow_follow_begin(void);

/* Ends the threads and waits for their end. The caller holds no lock. */
void shadow_follow_end(void);

/* Returns whether a thread follows the file. For the threads of select_p_node_init() and fini(). */
bool shadow_follows(void);

/* Does what that thread does once a second. The caller holds no lock. */
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
 * Looks at a node, a partition and a job: an empty one if Slurm's library can make it (from 24.05
 * on), else one of this build and one that slurmctld has saved, if there is any. Returns false with
 * `why` if one of them does not have the size or the mark that this build's headers say, or if
 * Slurm reads one of its fields elsewhere. Called once, after Slurm has read its nodes and saved
 * jobs, with its locks held for writing.
 */
bool shadow_layout_fits(char *why, size_t why_bytes);

/* Compares the size and the mark of one job that has details. */
bool shadow_layout_fits_job(const job_record_t *job, char *why, size_t why_bytes);

/* --- shadow_readback.c ------------------------------------------------------------------------ */

enum shadow_record {
	SHADOW_JOB,
	SHADOW_DETAILS,
	SHADOW_NODE,
	SHADOW_CONFIG,
	SHADOW_PARTITION,
	SHADOW_RECORDS,
};

/* How a field is read back: the shadow writes a value of its own into it, and into an OWN one none:
 * there it compares the value that the field has. */
enum shadow_field_kind {
	SHADOW_NUMBER,
	SHADOW_END, /* a time after every other */
	SHADOW_TEXT,
	SHADOW_SET,
	SHADOW_OWN_NUMBER,
	SHADOW_OWN_TEXT,
	SHADOW_OWN_SET,
};

/* A field of one of Slurm's records, and its place in what slurm.h declares for clients. */
struct shadow_field {
	uint32_t offset;
	uint32_t shown_offset;
	uint8_t bytes;
	uint8_t shown_bytes;
	uint8_t of;   /* enum shadow_record */
	uint8_t kind; /* enum shadow_field_kind */
	char name[20];
};

/* Ends with a field of SHADOW_RECORDS. */
extern const volatile struct shadow_field shadow_fields[];

/*
 * Return whether Slurm's own functions read each field of the record where this build writes it;
 * else `why` says which not. The job is one that nobody knows, with details; the partition is any.
 * The caller holds Slurm's locks of nodes and partitions for writing.
 */
bool shadow_reads_back_job(job_record_t *job, part_record_t *partition, char *why,
			   size_t why_bytes);
bool shadow_reads_back_node(node_record_t *node, char *why, size_t why_bytes);
bool shadow_reads_back_partition(part_record_t *partition, char *why, size_t why_bytes);

/* --- shadow_places.c -------------------------------------------------------------------------- */

/* Returns the boot for which each node's place holds, as shadow_state.place_boot_s. The caller
 * frees it; NULL if memory runs out. Any thread. */
int64_t *shadow_places_boots(const struct osp_topology *topology);

/* Returns whether these boots are those in force. */
bool shadow_places_same(const int64_t *boot_s);

/* Returns whether the node's place may be old, as Slurm's record says now. */
bool shadow_place_is_old(uint32_t n);

/* Returns whether the node does not run, and has the place of its capacity reservation. Only a gang
 * whose nodes may be launched counts that: whether it is true is asked when the node runs. */
bool shadow_place_is_reserved(uint32_t n);

/* Returns whether the node is where its place says: that is neither old nor reserved. */
bool shadow_place_holds(uint32_t n);

/* Returns whether the node is powered down, or on its way down or up. */
bool shadow_is_asleep(uint32_t n);

/* Looks again at the nodes of shadow_state.old_places. */
void shadow_places_look_at_old(void);

/* Returns whether every place of `nodes` holds, as Slurm's records say now. */
bool shadow_places_hold(const struct osp_nodeset *nodes);

/* Writes which instances a gang's nodes were placed as into its spank_job_env[], for the gate;
 * none where it is not held to a domain. With Slurm's job write lock. */
void shadow_note_instances(job_record_t *job, bool enforced);

/* Writes into a gang's spank_job_env[], for the gate, on which of its nodes Slurm has counted its
 * GPUs but not chosen them; rewrites an older entry. With Slurm's job write lock, once Slurm has
 * given the job its generic resources. */
void shadow_note_unknown_gpus(job_record_t *job);

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

/* Returns whether Slurm counts the memory that the job holds. */
bool shadow_counts_memory(const job_record_t *job);

/* Returns what Slurm counts of one generic resource of a node; NULL if it has none. */
const gres_node_state_t *shadow_node_gres_state(const node_record_t *node, uint32_t gres_id);

/* Returns how many of one generic resource a node has, used or not. */
uint64_t shadow_node_gres(const node_record_t *node, uint32_t gres_id);

#endif
