/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_read.h - the runs that are kept, from the folders that policy names
 *
 * Shows its progress, and warns of what it skips. One thread.
 */
#ifndef OSP_HISTORY_READ_H
#define OSP_HISTORY_READ_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/health/history.h"
#include "lib/health/history_policy.h"

struct osp_history_reading {
	struct osp_history *history;
	const char *folder; /* being read */
	int64_t from_s;	    /* older runs are skipped; 0: none */
	size_t runs;
	size_t passed_over; /* lines and files that are no runs */
};

/*
 * Reads `folder` or, if that is NULL, the node's own and the shared folder of `policy`, into a new
 * history (call osp_history_free() in any case). The caller sets `from_s`. Returns 0, or -1 with
 * `error` set.
 */
int osp_history_read(struct osp_history_reading *reading, const char *folder,
		     const struct osp_history_policy *policy, const char *root,
		     struct osp_error *error);

#endif
