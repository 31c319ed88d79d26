/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_private.h - the contents of struct osp_topology
 *
 * For topology.c, which reads it, and topology_assemble.c, which fills it. Nothing else includes
 * this.
 */
#ifndef OSP_TOPOLOGY_PRIVATE_H
#define OSP_TOPOLOGY_PRIVATE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/name_table.h"
#include "lib/topology/topology.h"

struct osp_topology {
	struct osp_arena arena; /* holds every array and name below */
	uint32_t node_count;
	uint32_t level_count;
	uint32_t domain_count;
	const char *level_names[OSP_LEVELS_MAX + 1];	/* [0] is "node" */
	uint32_t level_first[OSP_LEVELS_MAX + 2];	/* [level]: its first domain; one past */
	struct osp_domain *domains;			/* by number */
	const char **node_names;			/* by node; "" for a free place */
	struct osp_node_note *notes;			/* by node; NULL if no node has one */
	uint32_t *domains_of_nodes[OSP_LEVELS_MAX + 1]; /* [level][node]; [0] is NULL */
	uint32_t *node_at_rank;
	uint32_t *rank_of_node;
	uint32_t *node_by_name; /* by place in the natural order of names */
	uint32_t *name_place;	/* by node */
	struct osp_name_table nodes_by_name;
};

#endif
