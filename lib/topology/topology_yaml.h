/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_yaml.h - the switches of Slurm's topology.yaml (from 25.05 on)
 *
 * The file is a list of topologies, of which partitions name one each. Taken is the one that Slurm
 * takes for the cluster: the first with "cluster_default: true", else the first. It must be a tree.
 *
 * Any thread; for lib/topology/topology_slurm.c.
 */
#ifndef OSP_TOPOLOGY_YAML_H
#define OSP_TOPOLOGY_YAML_H

#include <stdbool.h>

#include "lib/base/document.h"

/* `list` is of nodes, or of switches. Not 0 ends the reading with an error. */
typedef int osp_yaml_switch_f(const struct osp_value *name, const struct osp_value *list,
			      bool has_nodes, void *context);

/* Calls `each` for every switch in the file's order. Returns 0, or -1 with `error` set. */
int osp_topology_yaml_switches(const struct osp_document *document, osp_yaml_switch_f *each,
			       void *context, struct osp_error *error);

/*
 * What the cluster's topology is: "tree", "block", "flat", "ring" or "torus3d", for as long as the
 * program runs. The document may also be what slurm_load_topo_config() tells. NULL with `error`
 * set: it is none, or slurmctld tells that it has no topology.yaml.
 */
const char *osp_topology_yaml_kind(const struct osp_document *document, struct osp_error *error);

#endif
