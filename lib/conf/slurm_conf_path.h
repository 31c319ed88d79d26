/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_conf_path.h - where slurm.conf is on a host on which SLURM_CONF does not say it
 *
 * Every build of Slurm has one path compiled in; a program that is not linked with that build
 * cannot ask for it. All of Onespine looks in these places, in this order. Any thread; looks at
 * files and reads none.
 */
#ifndef OSP_SLURM_CONF_PATH_H
#define OSP_SLURM_CONF_PATH_H

#include <stddef.h>

/* The place `index`: packages', Debian's former, ParallelCluster's, a build's own, and then
 * slurmd's copies of what slurmctld sent. NULL past the end. */
const char *osp_slurm_conf_candidate(size_t index);

/* The first of them that is there; NULL if none is. */
const char *osp_slurm_conf_first(void);

#endif
