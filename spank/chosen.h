/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chosen.h - whether srun's user binds tasks with Slurm's own options
 *
 * The nodes cannot know this: Slurm turns what it chooses itself and much of what users choose into
 * the same masks. So srun looks at its own command line and environment. A SLURM_CPU_BIND that an
 * outer step left there is nobody's choice.
 *
 * One thread, in srun.
 */
#ifndef OSP_CHOSEN_H
#define OSP_CHOSEN_H

#include <stdbool.h>

#include <slurm/spank.h>

struct osp_chosen {
	bool inherited;
	char bound_with[64]; /* "--cpu-bind", "SLURM_GPU_BIND"; "" for none */
};

/* Looks at the environment, before srun changes it. */
void osp_chosen_look(void);

/* Adds what the command line says, once srun's options are read. Returns both. */
const struct osp_chosen *osp_chosen_find(spank_t spank);

/* Returns the first of `words` (`count` of them) that is an option with which srun binds, also
 * abbreviated as getopt_long allows; or NULL. */
const char *osp_chosen_option(char *const *words, int count);

/* Tells whether SLURM_CPU_BIND, _TYPE and _LIST (NULL: not set) are as slurmstepd sets them for a
 * task. */
bool osp_chosen_inherited(const char *bind, const char *type, const char *list);

#endif
