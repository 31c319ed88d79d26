/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_client.h - job_submit's end of the seam: is the shadow in use, and is this the Slurm that we
 * were built for
 */
#ifndef OSP_SEAM_CLIENT_H
#define OSP_SEAM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/seam.h"

/*
 * Returns the shadow's functions, or NULL with a sentence for slurmctld's log that says what to do.
 * Call it from init() only: Slurm's select plugin must have been loaded.
 */
const struct osp_seam *osp_seam_find(char *sentence, size_t sentence_bytes);

/*
 * Set if this plugin was built for another micro release of the Slurm that runs: Slurm loads it all
 * the same, because it then says that Slurm's version (sched/job_hold.h). 0 otherwise; both are
 * 0xMMmmuu.
 */
extern uint32_t osp_slurm_built, osp_slurm_running;

/*
 * Returns whether a plugin that was built for `built` does not fit Slurm `running`; the sentence
 * then says so. Versions are 0xMMmmuu (SLURM_VERSION_NUMBER).
 */
bool osp_slurm_differs(uint32_t built, uint32_t running, char *sentence, size_t sentence_bytes);

#endif
