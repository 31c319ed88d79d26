/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_binding.h - whether srun's user binds tasks with Slurm's own options
 *
 * The nodes cannot know this: Slurm turns what it chooses itself and much of what users choose into
 * the same masks. So srun looks at its own command line and environment. A SLURM_CPU_BIND that an
 * outer step left there is nobody's choice.
 *
 * One thread, in srun.
 */
#ifndef OSP_USER_BINDING_H
#define OSP_USER_BINDING_H

#include <stdbool.h>

#include <slurm/spank.h>

struct osp_user_binding {
	bool inherited;
	char bound_with[64]; /* "--cpu-bind", "SLURM_GPU_BIND"; "" for none */
};

/* Looks at the environment, before srun changes it. */
void osp_user_binding_look(void);

/* Adds what the command line says, once srun's options are read. Returns both. */
const struct osp_user_binding *osp_user_binding_find(spank_t spank);

/* Returns the first of `words` (`count` of them) that is an option with which srun binds, also
 * abbreviated as getopt_long allows; or NULL. */
const char *osp_user_binding_option(char *const *words, int count);

/* Returns whether SLURM_CPU_BIND, _TYPE and _LIST (NULL: not set) are as slurmstepd sets them for a
 * task. */
bool osp_user_binding_inherited(const char *bind, const char *type, const char *list);

#endif
