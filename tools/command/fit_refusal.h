/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_refusal.h - onespine fit: does sbatch itself refuse what sbatch --test-only refuses?
 *
 * --test-only looks only at nodes that are up and not reserved, and has the words for a job that no
 * node can run for one that only waits. One thread.
 */
#ifndef OSP_FIT_REFUSAL_H
#define OSP_FIT_REFUSAL_H

#include <stdbool.h>

#include "tools/command/fit_scheduler.h"

/* Returns whether no domain could hold the gang without the nodes that are powering up or down,
 * which --test-only leaves out, but could with them: sbatch itself takes it, and nodes on their way
 * up may start it at once. */
bool osp_fit_needs_nodes_on_their_way(const struct osp_fit *fit);

/* Returns whether sbatch itself takes the job though --test-only calls its nodes not available.
 * Slurm has the same words for a job that no node can run, for nodes that are out, and for what the
 * partition does not allow. */
bool osp_fit_is_taken(struct osp_fit *fit);

/* Notes what the gang's reservation has to do with it. Returns whether sbatch itself lets the job
 * wait for what --test-only refuses: a reservation that has not begun ("invalid time"), or that is
 * over before the job may begin ("invalid reservation"). */
bool osp_fit_waits_by_reservation(struct osp_fit *fit);

#endif
