/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - what a new answer changes, before it is used
 *
 * An answer can be smaller without being wrong, or complete and wrong: a throttled page, a region
 * that is not ours, a host whose port is down. So it is compared with the last good one over the
 * nodes that could not have changed. Domains are matched by their nodes and not by their names: a
 * domain that only changed its name moves no node.
 *
 * Any thread: no shared state.
 */
#ifndef OSP_COMPARE_H
#define OSP_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

/* Nodes that lose their domain of one level, and keep one of another. */
struct osp_level_lost {
	char level[64];
	uint32_t nodes;
};

struct osp_topology_change {
	uint32_t counted;  /* nodes that had a place and could not have changed it */
	uint32_t lost;	   /* the ones of these that have a level less */
	uint32_t lost_all; /* the ones of those that have none of their levels any more */
	uint32_t moved;	   /* the ones of the counted in another domain of some level */
	uint32_t gained;   /* nodes, counted or not, that had no place and have one */
	char lost_first[64];
	char moved_first[64];
	struct osp_level_lost levels[OSP_LEVELS_MAX]; /* of the old one, bottom first */
};

/* Returns whether this node counts. */
typedef bool osp_counts_f(const char *node, void *context);

/*
 * Compares two topologies, level by level of the same name: nodes of another type bring levels of
 * their own, and take them away. A node whose level is gone has lost it. Returns 0, or -1 if memory
 * ran out. NULL `counts`: every node counts.
 */
int osp_topology_compare(const struct osp_topology *before, const struct osp_topology *after,
			 osp_counts_f *counts, void *context, struct osp_topology_change *change);

/*
 * Percent of the counted nodes, 0 .. 100, that may lose their place or move; above it an answer is
 * held.
 */
struct osp_topology_guard {
	uint32_t max_lost_percent;
	uint32_t max_moved_percent;
};

/* Chosen: a leaf of 8 in 100 nodes may go for repair, half of a fabric may not. */
#define OSP_MAX_LOST_PERCENT  10
#define OSP_MAX_MOVED_PERCENT 10

/*
 * Returns 0 if the change may be used, else -1 with a sentence in `error` that says why it is held:
 * "2 of 8 nodes that run lose their place (n1 is the first); max_lost is 10 %". Nodes that keep a
 * level lose "their domain of level nvlink". If it is not the same for all: "6 of 8 nodes that run
 * lose a domain (n1 is the first): 2 of every level, 4 of level nvlink, 1 of level core". Each node
 * counts at every level that it loses, or at "every level".
 */
int osp_topology_guard(const struct osp_topology_guard *guard,
		       const struct osp_topology_change *change, struct osp_error *error);

#endif
