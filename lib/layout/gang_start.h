/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_start.h - what slurmctld writes of the nodes of a gang that starts: leaves, order, ranks
 *
 * All of it comes from numbers, and a list that does not fit ends soon, so that a gang of any size
 * takes a time linear to its nodes: slurmctld holds its locks meanwhile (tests/bench/bench_note).
 * What the texts mean: lib/topology/leaf_list.h, lib/topology/leaf_pack.h, lib/layout/gang_order.h.
 *
 * Any thread, any daemon: no shared state. All functions but osp_gang_start_clear() allocate.
 */
#ifndef OSP_GANG_START_H
#define OSP_GANG_START_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/layout/layout_nodes.h"

struct osp_gang_start_input {
	const struct osp_topology *topology;
	const uint32_t *nodes; /* of the topology, distinct, in any order */
	uint32_t count;
	/* the gang is cut into these, of which there may be none; NULL: the order is that of the
	 * leaves */
	const struct osp_segments *segments;
	/* the nodes of each lowest segment that will be released (lib/policy/spares.h): the
	 * grid is that of the nodes that stay */
	uint32_t spares;
	/* the layout's, of the nodes that stay; NULL: there is none, and ranks follow the
	 * segments */
	const struct osp_arrangement *arrangement;
	/* of the several domains in which the gang may be; 0: it is in one. Without a layout the
	 * domain with the first name then leads, and ranks go through one after the other, unless
	 * segments do not divide the gang. */
	uint32_t level;
};

struct osp_gang_start {
	const struct osp_topology *topology;
	uint32_t count;
	uint32_t leaf_count;
	uint32_t *nodes;      /* in the fabric's order */
	uint32_t *leaf;	      /* of each: its domain; OSP_NO_DOMAIN: it has none */
	uint32_t *leaf_place; /* of each: its place in the leaf list; UINT32_MAX: it has no leaf */
	uint32_t *order;      /* by place: an index into `nodes` */
	char *grid;	      /* "4x2.2x1"; NULL: the order is that of the leaves */
	bool listed;	      /* places are in another order than the leaf list */
	const char
		*small_first; /* the first name, if it is in a segment smaller than the others, in
				    which ranks then begin; else NULL */
};

/* Returns 0, and the caller clears `start`, before the topology is freed; -1 if memory ran out,
 * with nothing to clear. */
int osp_gang_start_make(const struct osp_gang_start_input *input, struct osp_gang_start *start);
void osp_gang_start_clear(struct osp_gang_start *start);

/* Return the list of leaves, and the text of the order (only if there is a grid), malloc'd; "" if
 * it is longer than `most_bytes`; NULL if memory ran out. */
char *osp_gang_start_leaves(const struct osp_gang_start *start, size_t most_bytes);
char *osp_gang_start_order(const struct osp_gang_start *start, size_t most_bytes);

/*
 * Writes the packed forms of both, malloc'd; *order is NULL if there is no grid. If they have none
 * of at most `most_bytes`, *leaves is "". Returns false if memory ran out, with nothing to free.
 */
bool osp_gang_start_pack(const struct osp_gang_start *start, size_t most_bytes, char **leaves,
			 char **order);

/*
 * Writes the numbers by which Slurm 26.05 sorts nodes (osp_order_slurm_ranks()), of those of
 * the gang's nodes that are in `of`: ranks[n] is that of node n of the topology. `first`, one of
 * them, is the first of Slurm's node list. Returns false if it is none of them, one in `of` is not
 * the gang's or has no place, or memory ran out.
 */
bool osp_gang_start_ranks(const struct osp_gang_start *start, const struct osp_nodeset *of,
			  uint32_t first, uint32_t *ranks);

/*
 * Makes a start again, for osp_gang_start_ranks() alone, from what was written of it: the leaves
 * and the order, which is NULL if there is none; packed or not. Knows only those of the gang's
 * nodes that are in `of`. The time is linear to the nodes as long as the fabric has them in the
 * order in which they were written. Returns 0, and the caller clears `start`; -1, with nothing to
 * clear, if a text is malformed or memory ran out.
 */
int osp_gang_start_read(const struct osp_topology *topology, const struct osp_nodeset *of,
			const char *leaves, const char *order, struct osp_gang_start *start);

#endif
