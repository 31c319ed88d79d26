/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cloud_doctor.h - what EC2 says of the nodes' instances, for `onespine doctor --cloud`
 *
 * Calls that only read: DescribeInstances, DescribeNetworkInterfaces, DescribeSecurityGroupRules,
 * DescribeCapacityReservations, DescribePlacementGroups, and, as they are what the topology's watch
 * and survey need, DescribeInstanceTopology and DescribeCapacityReservationTopology. man/onespine.1
 * lists the same. One thread.
 */
#ifndef OSP_CLOUD_DOCTOR_H
#define OSP_CLOUD_DOCTOR_H

#include "host/slurm/node_list.h"
#include "lib/doctor/cloud_facts.h"

struct osp_cloud_doctor;

/* Asks about the nodes that run. `mounts` is what /proc/mounts holds; `meant` as the facts have it.
 * NULL when memory ran out; a call that fails is one of the facts' calls. */
struct osp_cloud_doctor *osp_cloud_doctor_gather(const struct osp_node_list *nodes,
						 const char *mounts, const char *meant);
const struct osp_cloud_facts *osp_cloud_doctor_facts(const struct osp_cloud_doctor *doctor);
void osp_cloud_doctor_free(struct osp_cloud_doctor *doctor); /* NULL is allowed */

#endif
