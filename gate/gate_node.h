/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_node.h - a check's environment, and the node's lock
 *
 * The environment holds only a path and slurmd's own variables: a variable that a user puts into
 * the Prolog's environment does not reach a check. Passive checks may run side by side. A check
 * that loads GPUs runs alone on the node, so the Epilog of a job that was just released here does
 * not disturb the next job's check. One thread.
 */
#ifndef OSP_GATE_NODE_H
#define OSP_GATE_NODE_H

#include <stdbool.h>

#include "gate/gate_job.h"

/* Returns the environment, ended by NULL; the same one each time. */
char **osp_gate_environment(const struct osp_gate_job *job);

/*
 * Takes the node's lock, exclusive if `alone` (the check loads GPUs), else shared. Waits 5 s or a
 * quarter of the budget for it; then it logs that and returns -1, and the check runs without the
 * lock. The file stays open: the lock ends with this process, or with the program that it becomes.
 */
int osp_gate_lock_wait(const struct osp_gate_job *job, bool alone, uint32_t budget_ms);

/* Takes the lock to read the node's state without a check. Returns a file to close, or -1 if a
 * check loads GPUs now. */
int osp_gate_lock_look(const struct osp_gate_job *job);

#endif
