/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placed_instance.h - which instances a gang's nodes were when it was placed
 *
 * The shadow writes a sum for each node of a gang into spank_job_env[]. It is a sum of the node's
 * name and of the instance for which a cloud gave the place ("" if none is known). Slurm passes it
 * to each node's Prolog, and there the gate compares it with the node's instance. A sum is eight
 * hexadecimal digits, so all of them fit into one variable of a process (128 KiB) up to
 * OSP_PLACED_NODES_MAX nodes; larger gangs get none.
 *
 * Any thread, any daemon: no state.
 */
#ifndef OSP_PLACED_INSTANCE_H
#define OSP_PLACED_INSTANCE_H

#include "lib/base/text.h"

#define OSP_PLACED_NODES_MAX 8192

enum osp_placed_as {
	OSP_PLACED_UNKNOWN, /* there are no sums, or one of the instances is not known */
	OSP_PLACED_SAME,
	OSP_PLACED_OTHER, /* the node is another instance than the one placed */
};

/* Adds the sum of a node. */
void osp_placed_add(struct osp_text *sums, const char *node, const char *instance);

/* Looks for the node in the sums. NULL, and text that cannot be sums, give OSP_PLACED_UNKNOWN. */
enum osp_placed_as osp_placed_look(const char *sums, const char *node, const char *instance);

#endif
