/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_nodes.h - the nodes of a topology: the source of each place, and whether it holds
 *
 * One thread.
 */
#ifndef OSP_COMMAND_TOPOLOGY_NODES_H
#define OSP_COMMAND_TOPOLOGY_NODES_H

#include <stdbool.h>

#include "lib/topology/topology.h"

/* Prints a line for each node, or JSON. `path` is the topology's file; the file with the times of
 * the answers is beside it. Returns the exit status. */
int osp_show_topology_nodes(const struct osp_topology *topology, const char *path, bool as_json);

#endif
