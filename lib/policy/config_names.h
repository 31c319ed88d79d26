/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_names.h - finds levels, partitions and nodes of onespine.yaml that do not exist
 *
 * A policy with such a name is valid, but has no effect. Any thread.
 */
#ifndef OSP_CONFIG_NAMES_H
#define OSP_CONFIG_NAMES_H

#include "lib/policy/config.h"
#include "lib/topology/topology.h"

/* Gets each finding: a sentence with its place in the file. */
typedef void osp_config_wrong_f(const struct osp_error *wrong, void *context);

/* Reports the levels that `topology`, read from `topology_path`, does not have, or has above the
 * zones, where no gang can be asked for. `path` is onespine.yaml's. */
void osp_config_check_levels(const struct osp_config *config, const struct osp_topology *topology,
			     const char *topology_path, const char *path,
			     osp_config_wrong_f *report, void *context);

/* Reports the partitions that are not among `names`. */
void osp_config_check_partitions(const struct osp_config *config, const char *const *names,
				 size_t count, const char *path, osp_config_wrong_f *report,
				 void *context);

/* Reports the nodes of watch.launch_groups that are not among `names`, those of all nodes of Slurm:
 * the first one and how many. */
void osp_config_check_launch_nodes(const struct osp_config *config, const char *const *names,
				   size_t count, const char *path, osp_config_wrong_f *report,
				   void *context);

#endif
