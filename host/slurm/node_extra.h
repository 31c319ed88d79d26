/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_extra.h - the last verdict in the Extra field of a node of Slurm
 *
 * Extra holds JSON if it holds anything (Slurm 24.11 on reads it so for --extra constraints); our
 * part stands under the key "onespine", and the other keys are kept. Every release from 22.05 on
 * has the field. One thread.
 */
#ifndef OSP_NODE_EXTRA_H
#define OSP_NODE_EXTRA_H

#include <jansson.h>

#include "lib/base/error.h"

/*
 * Puts {"onespine": mine} into the node's Extra, where that is not what was last put there (noted
 * below `root`/run/onespine, so that slurmctld is asked only when it changes). Done by a child that
 * is not waited for longer than `deadline_ms`. -1 with `error` set.
 */
int osp_extra_put(const char *root, const char *node, json_t *mine, unsigned int deadline_ms,
		  struct osp_error *error);

#endif
