/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_origin.h - the variables that asked for what slurmctld refuses
 *
 * A user may have set ONESPINE_GANG_SEGMENT long ago, in a file that every shell reads: a refusal
 * names it. Any thread.
 */
#ifndef OSP_JOB_ORIGIN_H
#define OSP_JOB_ORIGIN_H

#include <stddef.h>

#include <slurm/slurm.h>

#include "sched/job_env.h"

/*
 * Writes the sentence of a refusal, after the variables that it is about, to `buffer`:
 * "ONESPINE_GANG=spin ONESPINE_GANG_SEGMENT=leaf:4: there is no level 'spin' ..". A sentence that
 * begins with an option of ours ("--gang-segment=16: a level ..") has the names alone, of the
 * options that it mentions.
 * What the command line gave is not named. Returns `buffer`.
 */
const char *osp_job_origin_add(const job_desc_msg_t *job, const struct osp_our_environment *ours,
			       const char *sentence, char *buffer, size_t buffer_bytes);

#endif
