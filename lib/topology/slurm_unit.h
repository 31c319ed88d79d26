/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_unit.h - Slurm's own `Topology=` of a node, from 25.05 on, as onespine.topology has it
 *
 * Such a line names one place in each of Slurm's topologies: "default:fabric:s1:l1,racks:b3". In a
 * topology of the kind tree the place is a path of switches; slurmctld makes those that it lacks
 * below the first (topology_tree.c, topology_p_add_rm_node(), 25.05 to 26.05). So the site says
 * where our paths begin: the name of Slurm's topology, and of a switch of it that has no nodes of
 * its own.
 *
 * Any thread.
 */
#ifndef OSP_SLURM_UNIT_H
#define OSP_SLURM_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/topology/topology.h"

/* Returns whether it is such a beginning: "TOPOLOGY:SWITCH". */
bool osp_slurm_unit_root(const char *root);

/*
 * Writes into `unit` what a node's Topology= should be: `root`, then the node's known domains from
 * the top level down to the leaf (the lowest level if none is called leaf), then the places in
 * other topologies that `current` has ("": it has none). Writes nothing if it is that already, or
 * the node's leaf is unknown. Returns 0, or -1 with `error` set: Slurm cannot read one of the
 * names.
 */
int osp_slurm_unit(const struct osp_topology *topology, uint32_t node, const char *root,
		   const char *current, struct osp_text *unit, struct osp_error *error);

#endif
