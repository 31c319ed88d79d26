/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - what a new answer changes, before it counts
 *
 * An answer can be smaller without being wrong, or wrong while it is whole: a throttled page, a
 * region that is not ours, a host whose port is down. So it is compared with the last good one over
 * the nodes that could not have changed. Domains are matched by their nodes and not by their names:
 * a domain that is only called otherwise moves nobody.
 *
 * Any thread: no shared state.
 */
#ifndef OSP_COMPARE_H
#define OSP_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

struct osp_topology_change {
	uint32_t counted; /* nodes that had a place and could not have changed it */
	uint32_t lost;	  /* of these, those that have a level less */
	uint32_t moved;	  /* of these, those that are in another domain of some level */
	uint32_t gained;  /* nodes, counted or not, that had no place and have one */
	char lost_first[64];
	char moved_first[64];
	bool levels_differ; /* in number or names: nothing is comparable */
};

/* Shall this node be counted? */
typedef bool osp_counts_f(const char *node, void *context);

/* 0, or -1 when memory ran out. `counts` may be NULL: every node does. */
int osp_topology_compare(const struct osp_topology *before, const struct osp_topology *after,
			 osp_counts_f *counts, void *context, struct osp_topology_change *change);

/* Percent of the counted nodes, 0 .. 100, that may lose their place or move before an answer is
 * held. */
struct osp_topology_guard {
	uint32_t max_lost_percent;
	uint32_t max_moved_percent;
};

/* Chosen: a leaf of 8 in 100 nodes may go for repair, half of a fabric may not. */
#define OSP_MAX_LOST_PERCENT  10
#define OSP_MAX_MOVED_PERCENT 10

/* Why the change is held, as a sentence, in `error` and -1; 0 if it is not. */
int osp_topology_guard(const struct osp_topology_guard *guard,
		       const struct osp_topology_change *change, struct osp_error *error);

#endif
