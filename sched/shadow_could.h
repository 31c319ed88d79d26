/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_could.h - where a job could ever run
 *
 * For the seam: the caller holds Slurm's locks for reading jobs, nodes and partitions, and the
 * seam's mutex, except where it is said.
 */
#ifndef OSP_SHADOW_COULD_H
#define OSP_SHADOW_COULD_H

#include "sched/shadow.h"

struct osp_effective;
struct osp_seam_job;

/* Returns the partition of that name (NULL: the default one); NULL if there is none. */
part_record_t *shadow_partition_named(const char *name);

/*
 * Returns a copy of the next name in "a,b,c", and moves *list on; NULL at the end. Skips empty
 * names, as Slurm does. The caller frees it. Needs no lock.
 */
char *shadow_next_name(const char **list);

/*
 * Returns the partitions of a list, each once, as Slurm takes it (get_part_list()). The caller
 * frees it; NULL if memory runs out. Each partition costs a look at all its nodes, while the caller
 * holds Slurm's locks, and a user may write one name ten thousand times. Of names that no partition
 * has the first stays: Slurm refuses it. Needs no mutex.
 */
char *shadow_each_once(const char *list);

/* Returns how many nodes the job certainly needs in this partition: -n 32 and --gpus=8 name no
 * number of nodes, but need some. */
uint32_t shadow_nodes_needed(const struct osp_seam_job *job, const part_record_t *partition);

/*
 * Checks that spares are those of the segments: any others would be taken out of one. A pending job
 * may have got other segments or another number of nodes since. Returns 0, or -1 with the sentence.
 */
int shadow_spares_are_apart(const struct osp_seam_job *job, const struct osp_parts *parts,
			    char *sentence, size_t sentence_bytes);

/*
 * Checks that the job fits one of its partitions. Returns 0, or -1 with the sentence why it fits
 * none (the last one's). `held_to`: the highest level for which the policy lets it ask; 0: any.
 */
int shadow_fits_anywhere(const struct osp_seam_job *job, const struct osp_effective *effective,
			 int level, int held_to, char *sentence, size_t sentence_bytes);

#endif
