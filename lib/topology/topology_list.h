/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_list.h - a topology's parts in the order in which files list them
 *
 * Inside lib/ only. Any thread: no shared state.
 */
#ifndef OSP_TOPOLOGY_LIST_H
#define OSP_TOPOLOGY_LIST_H

#include <stdint.h>

#include "lib/topology/topology.h"

/* The nodes directly below `domain`, which have no known lower domain (OSP_NO_DOMAIN: no known
 * domain at all), as a hostlist to be freed with free(); "" if there are none. NULL when memory
 * ran out. */
char *osp_topology_direct_nodes(const struct osp_topology *topology, uint32_t domain);

/* All domains, each before those below it and these before the next of its level, as a malloc'd
 * array; NULL when memory ran out. */
uint32_t *osp_topology_domains_top_down(const struct osp_topology *topology);

#endif
