/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_env.h - the "NAME=value" lists of a job request: environment[] and spank_job_env[]
 *
 * A list is Slurm's memory: an array of `count` strings that Slurm frees. It may be NULL whatever
 * the count says, and hold NULL strings. `name` ends in '='. Any thread; two threads never share a
 * list.
 */
#ifndef OSP_JOB_ENV_H
#define OSP_JOB_ENV_H

#include <stdint.h>

/* The value of the first entry of that name, or NULL. Lives as long as the entry. */
const char *osp_job_env_find(char *const *list, uint32_t count, const char *name);

/* Removes and frees every entry of that name; the order of the others stays. */
void osp_job_env_drop(char **list, uint32_t *count, const char *name);

/* Adds an entry at the end. Returns 0, or -1 with the list as it was when memory ran out. */
int osp_job_env_append(char ***list, uint32_t *count, const char *name, const char *value);

/* A copy in Slurm's memory, or NULL when memory ran out. */
char *osp_slurm_strdup(const char *string);

#endif
