/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_names.h - what onespine.yaml names that is not there: levels and partitions
 *
 * A policy with such a name is right in itself, and means nothing. Any thread.
 */
#ifndef OSP_CONFIG_NAMES_H
#define OSP_CONFIG_NAMES_H

#include "lib/policy/config.h"
#include "lib/topology/topology.h"

/* Is told of each name: a sentence with its place in the file. */
typedef void osp_config_wrong_f(const struct osp_error *wrong, void *context);

/* The levels that `topology`, of the file `topology_path`, lacks. `path`: onespine.yaml's. */
void osp_config_check_levels(const struct osp_config *config, const struct osp_topology *topology,
			     const char *topology_path, const char *path, osp_config_wrong_f *tell,
			     void *context);

/* The partitions that are not among `names`. */
void osp_config_check_partitions(const struct osp_config *config, const char *const *names,
				 size_t count, const char *path, osp_config_wrong_f *tell,
				 void *context);

#endif
