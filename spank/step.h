/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step.h - environment and binding in slurmstepd: loads onespine_node.so if there is anything to do
 *
 * Steps whose user wants neither do not load it. If it is missing (hwloc was missing when this was
 * built) or comes from another build, slurmd's log says so and the step runs without it.
 */
#ifndef OSP_STEP_H
#define OSP_STEP_H

#include <stdbool.h>

#include <slurm/spank.h>

/* Takes an argument of plugstack.conf ("topology=FILE"), which must live on. Returns false if it is
 * not one of ours. */
bool osp_step_argument(const char *argument);

void osp_step_begin(spank_t spank);
void osp_step_user(spank_t spank);
void osp_step_task(spank_t spank);

#endif
