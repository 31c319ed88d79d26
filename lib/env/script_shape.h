/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_shape.h - what a script's options do that its user did not mean
 *
 *	S1  --gpus-per-task, --gpu-bind=single and the like: each task sees its own GPUs alone
 *	S2  --cpus-per-task of sbatch, which srun of Slurm 22.05 and 23.02 does not inherit
 *	S3  several nodes with GPUs without --exclusive and without --gang-spares, which excludes it
 *	S4  --no-requeue: a gate that finds a bad node ends the job
 *	S5  MASTER_ADDR that each task computes for itself
 *	S6  MASTER_ADDR that is this node alone, in a job of several (or torchrun's --master-addr)
 *	S7  more data loader workers than the task has cores
 *	S8  MASTER_ADDR that is the host which submitted the job
 *	S9  NCCL or Gloo on the loopback, in a job of several
 *	S10 #SBATCH after the first command, which sbatch does not read
 *	S11 line ends of DOS
 *	S12 torchrun's processes in each of several tasks of a node, more than it has GPUs
 *	S13 a port on which a user's program cannot listen
 *	S14 torchrun of several nodes that nothing starts on the other nodes
 *	S15 #SBATCH after blanks, which sbatch does not read
 *	S16 CUDA_VISIBLE_DEVICES of fewer GPUs than the job has on a node
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_SHAPE_H
#define OSP_SCRIPT_SHAPE_H

#include "lib/env/env_lint.h"

/* Returns the number of nodes that the script asks for; 0: it does not say, or gives a range. */
unsigned osp_script_nodes(const struct osp_script *script);

/*
 * Calls `take` with each finding; its `rule` is static. A finding about a setting names it; one
 * about an option has a setting named after the option, which lives only during the call. Returns
 * 0, or -1 as soon as `take` does. Only `slurm`, `nodes`, `partial_node` and
 * `accelerators` of `facts` are used.
 */
int osp_script_shape(const struct osp_script *script, const struct osp_facts *facts,
		     int (*take)(void *context, const struct osp_finding *finding), void *context);

#endif
