/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env_same.h - whether a task's environment is its step's, as far as anything is decided by it
 *
 * A task has its step's variables and a few that Slurm gives to each task, by which nothing of the
 * environment is decided. Telling so takes a microsecond; deciding anew, a hundred.
 *
 * Pure; one thread.
 */
#ifndef OSP_ENV_SAME_H
#define OSP_ENV_SAME_H

#include <stdbool.h>

#include "lib/env/rules.h"

/* What stands in it, for osp_env_is_same(); to be freed by free(). NULL when memory ran out. */
char *osp_env_remember(char *const *environment);

/*
 * Whether `environment` is the one remembered, but for variables of the task itself: Slurm's ranks,
 * process and node, what Slurm bound it with, and what MPI is started with. Where a rule is about
 * one of these too, or when in doubt (another order): false.
 */
bool osp_env_is_same(const char *remembered, char *const *environment,
		     const struct osp_rule_set *rules);

#endif
