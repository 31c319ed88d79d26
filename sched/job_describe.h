/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_describe.h - a job's description in Slurm's words as the shadow reads it
 *
 * Any thread: no shared state.
 */
#ifndef OSP_JOB_DESCRIBE_H
#define OSP_JOB_DESCRIBE_H

#include <stdbool.h>

#include <slurm/slurm.h>

#include "sched/seam.h"

/*
 * Lays what `job` says over `described`: for a new job all that it asks for over zeroes, for a
 * change over what the job asked for before. The strings belong to the description. Returns whether
 * it says anything that bears on where the job may run. For a heterogeneous job only a submission
 * says so (het_job_offset), and the caller looks.
 */
bool osp_job_describe(const job_desc_msg_t *job, struct osp_seam_job *described);

/*
 * Returns how many nodes those components before this one of a heterogeneous job take at least that
 * name the same partition in the same words. Call it once for each component, in their order, in
 * one thread, as Slurm submits them. Returns 0 for a component whose predecessors this thread did
 * not see, and for any other job.
 */
uint32_t osp_job_nodes_before(const job_desc_msg_t *job);

#endif
