/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reported.h - what was reported to a job on this node, so that it is reported once
 *
 * A job has many steps, and their slurmstepd know nothing of each other. The last jobs are listed
 * in one small file of root's, a ring that needs no cleaning up.
 */
#ifndef OSP_REPORTED_H
#define OSP_REPORTED_H

#include <stdbool.h>
#include <stdint.h>

enum osp_reported { OSP_REPORTED_ERROR = 1, OSP_REPORTED_EXPLAINED, OSP_REPORTED_WARNED };

/* Returns whether `what` was reported to `job_id` here, and notes that it is now. As root. Returns
 * false if the file cannot be used: better twice than never. */
bool osp_was_reported(const char *folder, uint32_t job_id, enum osp_reported what);

#endif
