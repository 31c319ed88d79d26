/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_hold.h - gangs wait where Slurm was updated and no shadow fits it yet
 *
 * Slurm loads a plugin into one micro release only: where a security update came before the build
 * for it, the shadow is not in use. job_submit itself needs only what slurm.h says of a submission,
 * which changed in no micro release from 22.05 to 26.05. So within a release it stays in
 * slurmctld, as SPANK plugins do, and takes gangs as before; but they wait, because each takes
 * more of a license than slurm.conf offers (lib/policy/gang_license.h). Other jobs run.
 */
#ifndef OSP_JOB_HOLD_H
#define OSP_JOB_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <slurm/slurm.h>

#include "sched/seam.h"

/*
 * Decides whether gangs are held: if this build is for another micro release of the Slurm that
 * `running` names, that Slurm keeps the licenses of jobs that it puts back, onespine.yaml says
 * `without_match: hold`, and slurm.conf's Licenses name the license. Returns what judges jobs in
 * place of the shadow, or NULL, with what is missing appended to the sentence. Reads onespine.yaml:
 * call it from init() only.
 */
const struct osp_seam *osp_hold_begin(uint32_t built, uint32_t running, char *sentence,
				      size_t sentence_bytes);

/*
 * Judges a change of a job in that state, of which nothing is known but what it changes. Returns 0,
 * or -1 with the sentence for a change that could let a gang go.
 */
int osp_hold_change(const job_desc_msg_t *job, char *sentence, size_t sentence_bytes);

/* Returns whether a job asks for the license itself, with the sentence: it would be taken from
 * gangs. */
bool osp_job_license_is_asked(const job_desc_msg_t *job, char *sentence, size_t sentence_bytes);

/*
 * Adds the license to a gang that is submitted or changed, where slurm.conf names it. `before` are
 * the licenses that the job has, if the change says none. Returns 0, or -1 with the sentence.
 */
int osp_job_license_add(job_desc_msg_t *job, const char *before, char *sentence,
			size_t sentence_bytes);

#endif
