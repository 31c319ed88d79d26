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

/*
 * Returns the nodes directly below `domain`, without a known lower domain (OSP_NO_DOMAIN: without
 * any known domain), as a hostlist that the caller frees with free(); "" if there are none. NULL if
 * memory ran out.
 */
char *osp_topology_direct_nodes(const struct osp_topology *topology, uint32_t domain);

/*
 * Returns all domains as a malloc'd array, each before those below it, and these before the next
 * domain of its level; those beside the tree are last. NULL if memory ran out.
 */
uint32_t *osp_topology_domains_top_down(const struct osp_topology *topology);

#endif
