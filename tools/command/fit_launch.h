/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_launch.h - onespine fit: a gang that starts on nodes which are launched for it
 *
 * With `unlaunched: launch` slurmctld starts a gang on cloud nodes whose places nobody knows before
 * they run. sbatch --test-only does not show that, because a question launches nothing. One thread.
 */
#ifndef OSP_FIT_LAUNCH_H
#define OSP_FIT_LAUNCH_H

#include <stdbool.h>

#include "tools/command/fit_scheduler.h"

/*
 * Finds the nodes with which slurmctld would start the gang now, some of them launched for it: sets
 * fit->launched. Returns false if the policy launches none, or too few may be launched. The caller
 * has found that nodes of known places have no room for it.
 */
bool osp_fit_finds_launch(struct osp_fit *fit, const struct osp_launchable *gang);

/* Prints that it would start so. Returns the exit status. */
int osp_fit_print_launch(const struct osp_fit *fit);

#endif
