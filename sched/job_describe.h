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
 * Lays what `job` says over `described`: all that a new job asks for over zeroes, a change over
 * what the job asked for before. The strings are the description's. Returns whether it says
 * anything that bears on where the job may run. Of a heterogeneous job only a submission says so
 * (het_job_offset), and the caller looks.
 */
bool osp_job_describe(const job_desc_msg_t *job, struct osp_seam_job *described);

#endif
