/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ordered.h - srun starts each rank of a gang on the node that is meant for it
 *
 * Slurm gives ranks to nodes in the order of their names. If the gang's own order
 * (lib/layout/gang_order.h) differs, srun gets a host file of exactly its tasks, in SLURM_HOSTFILE,
 * before it reads its options: the same number of tasks on each node of the whole gang, node after
 * node. The file is in memory (memfd_create) and ends with srun.
 *
 * Steps that the user orders himself (-m, SLURM_DISTRIBUTION, a host file) stay as they are, and so
 * does each step that a host file does not suit or that would not start with one. One line on
 * standard error then says how to order ranks, unless the user orders them or the step has one
 * task. A launcher that orders nodes by itself (lib/env/launcher.h) is reported in its own line.
 *
 * If anything fails here, srun's own order stays. One thread, in srun.
 */
#ifndef OSP_ORDERED_H
#define OSP_ORDERED_H

#include <stdbool.h>

/* Set in the environment of a step's tasks: SLURM_DISTRIBUTION is then ours or srun's own, and an
 * srun inside must not take it for the user's. Slurm passes on names that begin with SLURM_,
 * whatever --export says. */
#define OSP_ORDERED_VARIABLE "SLURM_ONESPINE_ORDERED"

/* Reads srun's words, before srun does. */
void osp_ordered_read(void);

/* Returns whether they name another job than the one around this srun. */
bool osp_ordered_other_job(void);

/* Returns whether they keep variables of this srun from its tasks: --export. */
bool osp_ordered_exports_some(void);

/* Gives srun a host file, in an srun inside a job, before it reads its options: ONESPINE_LEAVES,
 * ONESPINE_ORDER, ONESPINE_SLURM_RANKS and SLURM_JOB_NODELIST are the job's. */
void osp_ordered_begin(void);

/* Takes the host file away again once srun's options are read. */
void osp_ordered_end(void);

/* Prints the line in an srun that learns of its gang when its options are read: of an allocation of
 * its own, of another job's (--jobid), or of a job whose environment does not say that it is one.
 * `placed` is its job; nothing is said where osp_ordered_begin() ordered or said it. */
struct osp_placement;
void osp_ordered_too_late(const struct osp_placement *placed);

/* Returns how many tasks on each of `nodes` nodes a host file for srun would have, given srun's
 * `words`; `arbitrary_with_nodes`: this Slurm takes -N beside a host file. Returns 0 for no host
 * file; *say then says whether the user should know, *why because of which word. */
struct osp_step_options;
unsigned int osp_ordered_tasks(const struct osp_step_options *words, unsigned int nodes,
			       bool arbitrary_with_nodes, bool *say, char *why, unsigned why_bytes);

#endif
