/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name_map.h - the contents of a map from instances to node names (see osp_read_name_map())
 *
 * Inside lib/ only.
 */
#ifndef OSP_NAME_MAP_H
#define OSP_NAME_MAP_H

#include <stdint.h>

#include "lib/topology/readers.h"

struct osp_name_entry {
	const char *id;
	const char *const *nodes; /* node_count of them, at least one */
	uint32_t node_count;
	int line;
};

/* Returns the entry of `id`, or NULL. */
const struct osp_name_entry *osp_name_map_find(const struct osp_name_map *map, const char *id);

/* Returns the file's name, for errors. */
const char *osp_name_map_file(const struct osp_name_map *map);

#endif
