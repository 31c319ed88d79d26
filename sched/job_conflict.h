/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_conflict.h - what a job may not ask for beside a gang
 *
 * Some of Slurm's options choose nodes in a way that cannot be kept inside one domain, or only by
 * breaking their promise; such a job is refused in words. Any thread: no shared state.
 */
#ifndef OSP_JOB_CONFLICT_H
#define OSP_JOB_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

#include <slurm/slurm.h>

#include "lib/policy/request.h"

/* True, with a sentence for the user, when `job` cannot be the gang that `effective` makes it. */
bool osp_job_conflict(const job_desc_msg_t *job, const struct osp_effective *effective,
		      char *sentence, size_t sentence_bytes);

#endif
