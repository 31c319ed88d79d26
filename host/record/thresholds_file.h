/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thresholds_file.h - the thresholds in force on this node. One thread. */
#ifndef OSP_THRESHOLDS_FILE_H
#define OSP_THRESHOLDS_FILE_H

#include "check/check.h"

/*
 * Returns the built-in thresholds, and over them those of `path` or, if it is NULL, of the site's
 * thresholds.yaml (below a test's `root`) if that exists. Free them with osp_thresholds_free().
 * NULL with `error` set if the file cannot be read, or is refused.
 */
struct osp_thresholds *osp_thresholds_in_force(const char *path, const char *root,
					       struct osp_error *error);

/* Computes osp_thresholds_hash() of those without `path`, whether they would be refused or not.
 * Returns -1 with `error` set if the site's file cannot be read. */
int osp_thresholds_hash_in_force(const char *root, uint64_t *hash, struct osp_error *error);

#endif
