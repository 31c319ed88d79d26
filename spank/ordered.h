/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ordered.h - srun starts rank r of a gang on the node that is meant for it
 *
 * Slurm gives ranks to nodes in the order of their names. Where the gang's own order
 * (lib/layout/gang_order.h) is another, srun gets a host file of exactly its tasks, in
 * SLURM_HOSTFILE, before it reads its options: so many tasks on each node of the whole gang, node
 * after node. The file is in memory (memfd_create) and goes with srun.
 *
 * Left as it is: what the user orders himself (-m, SLURM_DISTRIBUTION, a host file), and each step
 * that a host file does not suit or that would not start with one. One line on standard error then
 * says how ranks get there, unless the user orders them or the step has one task.
 *
 * Whatever fails here leaves srun's own order. One thread, in srun.
 */
#ifndef OSP_ORDERED_H
#define OSP_ORDERED_H

#include <stdbool.h>

/* In the environment of a step's tasks: its SLURM_DISTRIBUTION is ours, and no srun inside it may
 * take it for the user's. Slurm hands on what begins with SLURM_ whatever --export says. */
#define OSP_ORDERED_VARIABLE "SLURM_ONESPINE_ORDERED"

/* In an srun inside a job, before it reads its options: ONESPINE_LEAVES, ONESPINE_ORDER and
 * SLURM_JOB_NODELIST are the job's. */
void osp_ordered_begin(void);

/* Once its options are read: takes the host file away again. */
void osp_ordered_end(void);

/* In an srun whose allocation is its own, where the order comes too late: says the line. `nodes`,
 * `leaves` and `order` are its job's; `leaves` and `order` may be NULL. */
void osp_ordered_too_late(const char *nodes, const char *leaves, const char *order);

/* How many tasks on each of `nodes` nodes a host file for srun would have, given srun's `words`;
 * `arbitrary_with_nodes`: this Slurm takes -N beside a host file. 0: none, and *say is whether the
 * user should know, *why beside which word. */
struct osp_step_words;
unsigned int osp_ordered_tasks(const struct osp_step_words *words, unsigned int nodes,
			       bool arbitrary_with_nodes, bool *say, char *why, unsigned why_bytes);

#endif
