/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_node.h - what a process that looks at this node gets: its environment, and the node's lock
 *
 * Nothing in the environment but a path and slurmd's own words: what a user can put into a Prolog's
 * does not reach a check. Checks that only look may do so side by side; one that loads GPUs is alone
 * on the node, so the Epilog of a job that was just released here sees nothing of the next job's
 * check, nor that of it. One thread.
 */
#ifndef OSP_GATE_NODE_H
#define OSP_GATE_NODE_H

#include <stdbool.h>

#include "gate/gate_job.h"

/* The environment, ended by NULL; the same one each time. */
char **osp_gate_environment(const struct osp_gate_job *job);

/*
 * For what is `alone` since it loads GPUs, or not. Waits for it, 5 s or a quarter of the budget, and
 * goes on without it after that (-1); the log says so. The file is left open: the lock ends with this
 * process and with the program that it becomes.
 */
int osp_gate_lock_wait(const struct osp_gate_job *job, bool alone, uint32_t budget_ms);

/* To look without a check: a file to close, or -1 where somebody loads GPUs now. */
int osp_gate_lock_look(const struct osp_gate_job *job);

#endif
