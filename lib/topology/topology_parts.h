/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_parts.h - what a topology is made of, before it is numbered
 *
 * Between builder.c, which collects and checks, and topology.c, which numbers. Inside lib/ only.
 */
#ifndef OSP_TOPOLOGY_PARTS_H
#define OSP_TOPOLOGY_PARTS_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

struct osp_domain_part {
	const char *name;
	uint32_t level;
	uint32_t parent; /* index of a domain at a higher level, or OSP_NO_DOMAIN */
};

struct osp_node_place {
	const char *name;		  /* NULL: a free place */
	uint32_t parent;		  /* index of a domain, or OSP_NO_DOMAIN */
	const struct osp_node_note *note; /* copied; NULL: none */
};

struct osp_topology_parts {
	const char *const *level_names; /* bottom first; the overlays' behind them */
	uint32_t level_count;
	const struct osp_domain_part *domains; /* in any order */
	uint32_t domain_count;
	const struct osp_node_place *nodes; /* in the order of their numbers */
	uint32_t node_count;
	uint32_t overlay_count;		    /* their names follow level_count ones in level_names */
	uint32_t *overlays[OSP_LEVELS_MAX]; /* each: the index of its domain by node */
};

/*
 * Adds to `parts` the overlays of `topology` but `without` (0: all), for the nodes of `parts` by
 * their names. Domain d of the topology is parts->domains[number[d]] (NULL: has the index d).
 * Returns -1 if memory ran out. osp_topology_free_overlays() frees what it took.
 */
int osp_topology_copy_overlays(struct osp_topology_parts *parts,
			       const struct osp_topology *topology, uint32_t without,
			       const uint32_t *number);
void osp_topology_free_overlays(struct osp_topology_parts *parts);

/*
 * Numbers the parts. Omits domains without any node. Copies all names. Returns NULL with `error`
 * set if memory ran out or a node is named twice.
 */
struct osp_topology *osp_topology_assemble(const struct osp_topology_parts *parts,
					   struct osp_error *error);

#endif
