/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clustermgtd.h - whether ParallelCluster's daemon clustermgtd ends the instances of drained nodes
 *
 * clustermgtd runs on the head node of AWS ParallelCluster. Each minute it ends the instance of a
 * node that is drained or down and has no job (aws-parallelcluster-node, src/slurm_plugin:
 * is_drained() and StaticNode.is_state_healthy() of slurm_resources.py, _maintain_nodes() of
 * clustermgtd.py), and launches another for a static node. So a drained node is clustermgtd's there
 * and not ours: it cannot be checked again, and what it has on its disks goes with it.
 *
 * Any thread; reads no file itself.
 */
#ifndef OSP_CLUSTERMGTD_H
#define OSP_CLUSTERMGTD_H

#include <stdbool.h>

#include "lib/conf/slurm_conf.h"

/* The file that ParallelCluster's slurm.conf includes (its cookbook's template slurm.conf.erb). */
#define OSP_PARALLELCLUSTER_CONF "slurm_parallelcluster.conf"

/* clustermgtd's own settings, on the head node alone. */
#define OSP_CLUSTERMGTD_CONF "/etc/parallelcluster/slurm_plugin/parallelcluster_clustermgtd.conf"

/* Returns whether this is ParallelCluster's slurm.conf: it includes OSP_PARALLELCLUSTER_CONF. */
bool osp_has_clustermgtd(const struct osp_slurm_conf *conf);

/*
 * Returns whether clustermgtd ends drained nodes, from the text of OSP_CLUSTERMGTD_CONF: yes,
 * unless its section [clustermgtd] has terminate_drain_nodes with a word for no (Python's
 * configparser: false, no, off, 0, in any case). NULL, for a host without the file, is yes too.
 */
bool osp_clustermgtd_ends_drained(const char *text);

/*
 * Returns whether a node, or a list as NodeName has it ("gpu-dy-p5-[1-4]"), is a dynamic one by
 * ParallelCluster's names: QUEUE-dy-RESOURCE-NUMBER (parse_nodename() of its slurm_resources.py).
 * Slurm powers such a node down when it was idle for SuspendTime.
 */
bool osp_is_dynamic_node(const char *name);

#endif
