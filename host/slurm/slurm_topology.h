/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_topology.h - keeps Slurm's own Topology= of the nodes as onespine.topology has it
 * (lib/topology/slurm_unit.h)
 *
 * From Slurm 25.05 on, through libslurm, as root or SlurmUser. One thread.
 */
#ifndef OSP_SLURM_TOPOLOGY_H
#define OSP_SLURM_TOPOLOGY_H

#include "host/slurm/node_list.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

/*
 * Changes the Topology= of the nodes that run, whose place holds, and whose line says something
 * else: one update for all nodes of one path, for each takes slurmctld's node lock. A path that is
 * refused leaves its nodes as they are, and the others are changed. `said` gets a line that counts
 * the nodes. Returns 0, or -1 with the first refusal in `error`.
 */
int osp_slurm_topology_keep(const char *root, const struct osp_topology *topology,
			    const struct osp_node_list *nodes, struct osp_text *said,
			    struct osp_error *error);

#endif
