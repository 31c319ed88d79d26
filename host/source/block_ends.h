/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_ends.h - asks EC2 when the Capacity Blocks end that the nodes run in
 *
 * Needs ec2:DescribeInstances and ec2:DescribeCapacityReservations. One thread.
 */
#ifndef OSP_BLOCK_ENDS_H
#define OSP_BLOCK_ENDS_H

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/topology/topology.h"

/*
 * Asks about the instances that EC2 placed in `topology`, and makes Slurm's reservations those of
 * their blocks (host/slurm/block_reservation.h). If a part of the answer is missing, no reservation
 * is dropped. A line of `said` for each change. 0, or -1 with `error` set.
 */
int osp_block_ends_keep(const struct osp_topology *topology, struct osp_text *said,
			struct osp_error *error);

#endif
