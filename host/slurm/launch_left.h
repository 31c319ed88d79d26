/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch_left.h - reservations that a launch has left: no gang waits with them
 *
 * slurmctld keeps the nodes of a launch in vain for the gang's next start in a reservation named
 * onespine_launch_JOB (sched/shadow_launch_failed.c). If the gang is cancelled meanwhile, or
 * slurmctld is killed between making it and saving the job, no gang uses it; Slurm itself removes
 * it when it has been unused for a minute. One that another job has is never deleted.
 *
 * One thread; calls wait for slurmctld as long as Slurm's own commands do.
 */
#ifndef OSP_LAUNCH_LEFT_H
#define OSP_LAUNCH_LEFT_H

#include "lib/base/error.h"
#include "lib/base/text.h"

/* Writes the names of these reservations, with commas; as root or SlurmUser, since the gangs that
 * have one may be hidden from others. Returns 0, or -1 with `error` set. */
int osp_launch_left(struct osp_text *names, struct osp_error *error);

/* Deletes them, as root or SlurmUser, with a line of `said` for each. Returns 0, or -1 with `error`
 * set. */
int osp_launch_left_delete(struct osp_text *said, struct osp_error *error);

#endif
