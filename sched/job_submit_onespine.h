/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_onespine.h - what slurmctld looks up in job_submit_onespine.so
 *
 * Slurm's headers declare none of it.
 */
#ifndef OSP_JOB_SUBMIT_ONESPINE_H
#define OSP_JOB_SUBMIT_ONESPINE_H

#include <stdint.h>

#include <slurm/slurm.h>

#include "host/slurm_compat.h"

struct job_record;

extern const char plugin_name[];
extern const char plugin_type[];
extern uint32_t plugin_version;

/*
 * Finds the shadow. Returns SLURM_SUCCESS, or SLURM_ERROR with a sentence in the log if the shadow
 * is not in use.
 */
int init(void);

/* Judge a job that is submitted or changed. Return SLURM_SUCCESS, or an error of Slurm's with a
 * sentence for the user in Slurm's memory at *err_msg. */
int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);
int job_modify(OSP_JOB_MODIFY_PARAMETERS(job, record, uid, err_msg));

#endif
