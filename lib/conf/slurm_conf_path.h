/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_conf_path.h - where slurm.conf is on a host if SLURM_CONF is not set
 *
 * Every build of Slurm has one path compiled in; a program that is not linked with that build
 * cannot ask for it. All of Onespine looks in these places, in this order. Any thread; looks for
 * files and reads none.
 */
#ifndef OSP_SLURM_CONF_PATH_H
#define OSP_SLURM_CONF_PATH_H

#include <stddef.h>

/*
 * Returns place number `index`: that of packages, Debian's former one, ParallelCluster's, that of a
 * local build, and then slurmd's copies of what slurmctld sent. NULL after the last.
 */
const char *osp_slurm_conf_candidate(size_t index);

/* Returns the first of them that exists; NULL if none does. */
const char *osp_slurm_conf_first(void);

#endif
