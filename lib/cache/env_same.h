/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_same.h - whether a task's environment decides nothing else than its step's
 *
 * A task has its step's variables and a few that Slurm gives to each task, which decide nothing
 * about the environment. To decide again would take a task three times as long as all else here
 * (doc/performance.md).
 *
 * Pure; one thread.
 */
#ifndef OSP_ENV_SAME_H
#define OSP_ENV_SAME_H

#include <stdbool.h>

#include "lib/env/rules.h"

/* Returns a copy of the environment for osp_env_is_same(), to be freed with free(); NULL if memory
 * ran out. */
char *osp_env_remember(char *const *environment);

/*
 * Returns whether `environment` is the one remembered, except for variables of the task itself:
 * Slurm's ranks, process and node, Slurm's binding, and those with which MPI is started. Returns
 * false if a rule is about one of these too, or in doubt (another order).
 */
bool osp_env_is_same(const char *remembered, char *const *environment,
		     const struct osp_rule_set *rules);

#endif
