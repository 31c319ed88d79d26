/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_ends.h - asks EC2 when the Capacity Blocks end that the nodes run in
 *
 * Needs ec2:DescribeInstances and ec2:DescribeCapacityReservations. One thread.
 */
#ifndef OSP_BLOCK_ENDS_H
#define OSP_BLOCK_ENDS_H

#include "host/slurm/node_list.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/topology/topology.h"

/*
 * Asks about the instances of `nodes` that run: Slurm's, else the one that `topology` (NULL: none)
 * has placed; and makes Slurm's reservations those of their blocks
 * (host/slurm/block_reservation.h). A node of which EC2 says nothing stays in its reservation while
 * the block lasts. A line of `said` for each change. 0, or -1 with `error` set to the first thing
 * that failed.
 */
int osp_block_ends_keep(const struct osp_topology *topology, const struct osp_node_list *nodes,
			struct osp_text *said, struct osp_error *error);

/* Deletes these reservations, for a watch that is not to keep them. `topology` and `nodes` do not
 * count. 0, or -1 with `error` set. */
int osp_block_ends_drop(const struct osp_topology *topology, const struct osp_node_list *nodes,
			struct osp_text *said, struct osp_error *error);

#endif
