/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step.h - environment and binding in slurmstepd: loads onespine_node.so if there is anything to do
 *
 * Steps whose user wants neither do not load it. Where it lacks (hwloc was not there when this was
 * built) or is of another build, slurmd's log says so and the step runs without.
 */
#ifndef OSP_STEP_H
#define OSP_STEP_H

#include <stdbool.h>

#include <slurm/spank.h>

/* Takes an argument of plugstack.conf ("topology=FILE"), which must live on. False: not one of
 * ours. */
bool osp_step_argument(const char *argument);

void osp_step_begin(spank_t spank);
void osp_step_user(spank_t spank);
void osp_step_task(spank_t spank);

#endif
