/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_gang.h - one gang: its size and nodes, their order, and what is said of it
 *
 * shadow.h says which locks its callers hold.
 */
#ifndef OSP_SHADOW_GANG_H
#define OSP_SHADOW_GANG_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/shadow_slurm.h"
#include "lib/base/nodeset.h"
#include "lib/place/occupancy.h"
#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/policy/request.h"

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

/* Returns those of them that have what it needs of each node, were they empty. */
struct osp_nodeset *shadow_gang_able(const struct shadow_gang *gang);

/* Returns those that it could get if --extra excluded none. */
struct osp_nodeset *shadow_gang_prospects_but_extra(const struct shadow_gang *gang);

/* Returns the placement question that this gang asks. */
struct osp_place_input shadow_gang_input(const struct shadow_gang *gang);

/* Writes our part of the job's AdminComment, if that changes it. Returns false if its srun or
 * salloc is to be told why it waits, and could not be told now. */
bool shadow_gang_says(job_record_t *job, const struct osp_effective *effective, const char *says);

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

/* --- shadow_processes.c ----------------------------------------------------------------------- */

/*
 * Puts ONESPINE_LEVEL, `level`, among the variables that Slurm adds to a job's environment when it
 * starts, from which its processes know that it is a gang: those of a batch script, and an srun
 * that looks its allocation up. NULL: takes it out, as where the gang is in no such domain. Slurm
 * saves them with the job.
 */
void shadow_mark_processes(job_record_t *job, const char *level);

/* --- shadow_moved.c --------------------------------------------------------------------------- */

/* Reports each running gang whose nodes were together by `before`, over Slurm's nodes as they are,
 * and are apart by what is in force. The caller holds Slurm's job lock for writing, and its node
 * lock. */
void shadow_moved_look(const struct osp_topology *before);

#endif
