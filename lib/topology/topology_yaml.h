/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_yaml.h - the switches of Slurm's topology.yaml (from 25.05 on)
 *
 * The file is a list of topologies, and each partition names one. The one that Slurm uses for the
 * cluster is read: the first with "cluster_default: true", else the first. It must be a tree.
 *
 * Any thread; for lib/topology/topology_slurm.c.
 */
#ifndef OSP_TOPOLOGY_YAML_H
#define OSP_TOPOLOGY_YAML_H

#include <stdbool.h>

#include "lib/base/document.h"

/*
 * Takes a switch; `list` is of nodes, or of switches. A result other than 0 ends the reading with
 * an error.
 */
typedef int osp_yaml_switch_f(const struct osp_value *name, const struct osp_value *list,
			      bool has_nodes, void *context);

/* Calls `each` for every switch in the file's order. Returns 0, or -1 with `error` set. */
int osp_topology_yaml_switches(const struct osp_document *document, osp_yaml_switch_f *each,
			       void *context, struct osp_error *error);

/*
 * Returns the kind of the cluster's topology: "tree", "block", "flat", "ring" or "torus3d", a
 * constant string. The document may also be the result of slurm_load_topo_config(). Returns NULL
 * with `error` set if it is none, or slurmctld reports that it has no topology.yaml.
 */
const char *osp_topology_yaml_kind(const struct osp_document *document, struct osp_error *error);

#endif
