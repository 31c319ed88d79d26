/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_config.h - into which capacity reservations ParallelCluster launches its nodes
 *
 * ParallelCluster's cookbook writes fleet-config.json on the head node for the program that
 * launches nodes (pcluster_fleet_config_generator.py): of each queue the compute resources, each
 * with its CapacityReservationId if it has one, of its own or of its queue. slurm.conf has their
 * nodes, QUEUE-st-RESOURCE-[1-2] and QUEUE-dy-RESOURCE-[1-14].
 *
 * Any thread; reads no file itself.
 */
#ifndef OSP_FLEET_CONFIG_H
#define OSP_FLEET_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/conf/slurm_conf.h"

#define OSP_FLEET_CONFIG "/etc/parallelcluster/slurm_plugin/fleet-config.json"
/* What the administrator asked for. If it names a resource group for a compute resource, whose
 * queue has a reservation, fleet-config.json has the queue's for both. */
#define OSP_FLEET_CLUSTER	   "/opt/parallelcluster/shared/cluster-config.yaml"
#define OSP_FLEET_GROUP		   "CapacityReservationResourceGroupArn"
#define OSP_FLEET_CONFIG_BYTES_MAX ((size_t)1024 * 1024)

/*
 * Adds each reservation with its nodes as watch.launch_groups of onespine.yaml has them, a line
 * each: "cr-0123=q-st-p5-[1-2],q-dy-p5-[1-14]"; nothing if nodes are launched into none. A compute
 * resource with several reservations is left out: nobody knows which of its nodes will be where.
 * *several is whether there is one. Returns 0, or -1 with `error` set if `text` (of `file`) is not
 * such a file.
 */
int osp_fleet_launch_groups(const char *file, const char *text, size_t bytes,
			    const struct osp_slurm_conf *conf, struct osp_text *groups,
			    bool *several, struct osp_error *error);

#endif
