/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_private.h - the contents of struct osp_topology
 *
 * For topology.c and topology_overlay.c, which read it, and topology_assemble.c, which fills it
 * with the latter. Nothing else includes this.
 */
#ifndef OSP_TOPOLOGY_PRIVATE_H
#define OSP_TOPOLOGY_PRIVATE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/name_table.h"
#include "lib/topology/topology.h"

/* The most levels in all: the tree's and overlays, and as many crossings as these can have. */
#define OSP_CROSSINGS_MAX ((OSP_LEVELS_MAX / 2) * (OSP_LEVELS_MAX - OSP_LEVELS_MAX / 2))
#define OSP_LEVELS_ALL	  (OSP_LEVELS_MAX + OSP_CROSSINGS_MAX)

struct osp_topology {
	struct osp_arena arena; /* holds every array and name below */
	uint32_t node_count;
	uint32_t level_count;
	uint32_t domain_count;
	uint32_t overlay_count;
	uint32_t domain_room;				/* of the tree, overlays and crossings */
	const char *level_names[OSP_LEVELS_ALL + 1];	/* [0] is "node" */
	uint32_t level_first[OSP_LEVELS_ALL + 2];	/* [level]: its first domain; one past */
	struct osp_domain *domains;			/* by number */
	const char **node_names;			/* by node; "" for a free place */
	struct osp_node_note *notes;			/* by node; NULL if no node has one */
	uint32_t *domains_of_nodes[OSP_LEVELS_ALL + 1]; /* [level][node]; [0] is NULL */
	uint32_t *node_at_rank;				/* the tree's, then each overlay's */
	uint32_t *rank_of_node;
	uint32_t *node_by_name; /* by place in the natural order of names */
	uint32_t *name_place;	/* by node */
	struct osp_name_table nodes_by_name;
	char unasked[OSP_UNASKED_BYTES]; /* "": nothing is known against it */
	/* [inner][outer]: a domain of `inner` that crosses `outer`; set if there is an overlay */
	uint32_t crossing[OSP_LEVELS_MAX + 1][OSP_LEVELS_MAX + 1];
};

/*
 * Gives overlays, whose nodes' domains are known, their ranks and crossings; the tree is complete.
 * Returns -1 if memory ran out.
 */
int osp_topology_assemble_overlays(struct osp_topology *topology);

#endif
