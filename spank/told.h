/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * told.h - what was reported to a job on this node, so that it is reported once
 *
 * A job has many steps, and their slurmstepd know nothing of each other. The last jobs are listed
 * in one small file of root's, a ring that needs no cleaning up.
 */
#ifndef OSP_TOLD_H
#define OSP_TOLD_H

#include <stdbool.h>
#include <stdint.h>

enum osp_told_what { OSP_TOLD_ERROR = 1, OSP_TOLD_EXPLAINED, OSP_TOLD_WARNED };

/* Tells whether `what` was reported to `job_id` here, and notes that it is now. As root. Returns
 * false if the file cannot be used: better twice than never. */
bool osp_told(const char *folder, uint32_t job_id, enum osp_told_what what);

#endif
