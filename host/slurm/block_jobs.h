/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_jobs.h - jobs that may still run when EC2 begins to end the instances of a Capacity Block
 *
 * The reservations of blocks (block_reservation.h) keep jobs out that begin after them. A job that
 * began before, or of which the limit was raised, is ended with its instances. One thread.
 */
#ifndef OSP_BLOCK_JOBS_H
#define OSP_BLOCK_JOBS_H

#include "host/slurm/snapshot.h"
#include "lib/base/text.h"
#include "host/output.h"

/*
 * Adds a line for each block into the end of which the job may run, and an object for each to
 * `list`. Returns 0, or -1 if memory ran out.
 */
int osp_block_jobs_of(const struct osp_snapshot *snapshot, const struct osp_state_job *job,
		      struct osp_text *text, json_t *list);

/* Adds a line for each such job of the cluster. Returns 0, or -1 if memory ran out. */
int osp_block_jobs_all(const struct osp_snapshot *snapshot, struct osp_text *text);

#endif
