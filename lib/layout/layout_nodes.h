/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_nodes.h - from ranks to nodes: what must stay together, and which node gets which ranks
 *
 * Ranks fill nodes in order: the node rank of a rank is rank / GPUs per node. Beyond the node the
 * axes of a layout make a grid of nodes. Two arrangements of it are compared:
 *
 *	data inside      the block of tp, cp and ep; then dp; then pp. Pipelines cross the thin
 *			 layer.
 *	pipeline inside  the same block; then pp; then dp. Gradients cross the thin layer.
 *
 * One of the two is the framework's own order of node ranks. The other is a transpose: the
 * framework must get the nodes in another order (osp_arrangement_node_rank()).
 *
 * An arrangement has runs: the products of its sizes from the fastest on. A run of consecutive
 * places holds the groups of all its axes whole, so each run is a segment that could be asked of
 * the scheduler: the largest run that a domain of some level holds is that level's segment.
 *
 * Any thread, any daemon: no shared state. Only osp_node_places() and osp_node_order() allocate.
 */
#ifndef OSP_LAYOUT_NODES_H
#define OSP_LAYOUT_NODES_H

#include "lib/layout/layout.h"
#include "lib/place/segments.h"
#include "lib/topology/topology.h"

#define OSP_NODE_AXES_MAX 12

/* One axis of the grid of nodes. */
struct osp_node_axis {
	uint32_t size;
	uint32_t stride; /* in node ranks of the framework */
	uint32_t groups; /* bit g: it runs inside groups of kind g */
};

/* Fastest first; the sizes multiply to `nodes`. */
struct osp_node_grid {
	uint32_t nodes;
	uint32_t gpus_per_node;
	uint32_t count;
	struct osp_node_axis axis[OSP_NODE_AXES_MAX];
	enum osp_layout_order order;
};

/*
 * Makes the grid of nodes of a complete layout. Returns 0, or -1 with `error` set if groups cross
 * nodes (tp6 on nodes of 8 GPUs) or each other (an ep block that is neither a multiple nor a part
 * of tp x cp x a part of dp), so that no order of nodes aligns them.
 */
int osp_layout_node_grid(const struct osp_layout *layout, uint32_t gpus_per_node,
			 struct osp_node_grid *grid, struct osp_error *error);

enum osp_inside { OSP_DATA_INSIDE, OSP_PIPELINE_INSIDE };

/* Returns "data inside" or "pipeline inside". */
const char *osp_inside_name(enum osp_inside inside);

/* Axes in the order of places, fastest first; `axis[i].stride` stays the framework's. */
struct osp_arrangement {
	enum osp_inside inside;
	bool natural; /* places are node ranks */
	uint32_t nodes;
	uint32_t count;
	struct osp_node_axis axis[OSP_NODE_AXES_MAX];
	uint32_t run[OSP_NODE_AXES_MAX]; /* run[i]: nodes of axes 0 .. i */
	uint32_t block;			 /* nodes of the block */
};

void osp_arrange(const struct osp_node_grid *grid, enum osp_inside inside,
		 struct osp_arrangement *arrangement);

/* Returns whether the two arrangements differ: there is both dp and pp beyond the block. */
bool osp_arrangements_differ(const struct osp_node_grid *grid);

/* Returns the framework's node rank of the node at `place`. */
uint32_t osp_arrangement_node_rank(const struct osp_arrangement *arrangement, uint32_t place);

/*
 * Returns the nodes of the smallest run that keeps every group of `group` whole; 1: a node holds
 * it.
 */
uint32_t osp_arrangement_run_of(const struct osp_arrangement *arrangement, enum osp_group group);

/*
 * Finds the largest run that fits a domain of each level; `room[level]` is how many nodes the
 * largest domain of that level offers. Omits levels that hold no more than the level below, single
 * nodes, and all levels from the lowest that holds the whole gang.
 */
void osp_arrangement_segments(const struct osp_arrangement *arrangement, const uint32_t *room,
			      uint32_t level_count, struct osp_segments *segments);

/* --- an order of nodes -------------------------------------------------------------------------
 */

/*
 * Cuts `nodes` of the topology, `count` of them in any order, into segments: order[place] gets the
 * index into `nodes` of the node at that place. At each level as many segments as possible are
 * whole in one domain, in the fabric's order, and come first; the rest forms the other segments,
 * with the smaller last one if the segments do not divide the gang. Returns 0, or -1 if memory ran
 * out.
 */
int osp_node_places(const struct osp_segments *segments, const struct osp_topology *topology,
		    const uint32_t *nodes, uint32_t count, uint32_t *order);

/*
 * Gives each node its node rank. `nodes` are the gang's, as many as the arrangement has, in any
 * order; an unknown node (OSP_NO_NODE) belongs to no domain. At each level as many segments as
 * possible are whole in one domain, in the fabric's order; the remaining nodes form the other
 * segments. node_at[r] gets the index into `nodes` of node rank r.
 *
 * `first` is the index of the node that must have node rank 0 (the first name of the node list,
 * which scripts take for the master), or UINT32_MAX for none: sets, columns and stages are rotated
 * until it does, which moves no node out of its group. Returns 0, or -1 if memory ran out.
 */
int osp_node_order(const struct osp_arrangement *arrangement, const struct osp_segments *segments,
		   const struct osp_topology *topology, const uint32_t *nodes, uint32_t first,
		   uint32_t *node_at);

/* Returns the index of the first name among nodes of the topology, UINT32_MAX if none is known.
 * OSP_NO_NODE has no name. */
uint32_t osp_first_name(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count);

#endif
