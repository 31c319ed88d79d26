/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pass_options.h - `onespine check --fresh` and `--repaired`: the options about the node's passes
 *
 * One thread.
 */
#ifndef OSP_PASS_OPTIONS_H
#define OSP_PASS_OPTIONS_H

#include "check/check.h"
#include "tools/command/options.h"

/*
 * Does what --repaired and --fresh ask for before any check runs. Returns 1 if an earlier pass
 * holds: it has been reported, and *status is the exit status. Returns 0 if the checks must run, or
 * -1 with `error` set.
 */
int osp_pass_options(const struct osp_call *call, struct osp_check_context *context,
		     enum osp_depth depth, int *status, struct osp_error *error);

#endif
