/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_order_private.h - ranks of places, for gang_order.c, which has them from a text, and
 * gang_start.c, which has them from the fabric or as slurmctld wrote them
 *
 * Tests excepted, nothing else includes this. No function allocates.
 */
#ifndef OSP_GANG_ORDER_PRIVATE_H
#define OSP_GANG_ORDER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/layout/layout_nodes.h"

#define OSP_NO_PLACE UINT32_MAX

/* A node of the gang. */
struct osp_order_member {
	char *name;	 /* NULL in slurmctld */
	uint32_t listed; /* its index in the node list */
	uint32_t place;	 /* OSP_NO_PLACE: not yet known */
	uint32_t leaf;	 /* the first place of its leaf; in a listed order the leaf's number */
	uint32_t rank;
};

struct osp_order_grid {
	uint32_t count;
	uint32_t size[OSP_NODE_AXES_MAX];
	uint32_t stride[OSP_NODE_AXES_MAX];
	uint64_t nodes; /* the product of the sizes */
	bool natural;	/* places are node ranks */
};

/* Reads the grid; *nodes is the list after it, or NULL. Returns false if it is malformed. */
bool osp_order_read_grid(const char *text, struct osp_order_grid *grid, const char **nodes);

/*
 * Gives every member its rank, so that `first` has rank 0; a NULL `grid` means the order of the
 * leaves. Sets *small_first if ranks begin in a segment smaller than the others.
 */
void osp_order_rank(struct osp_order_member *members, uint32_t count,
		    const struct osp_order_grid *grid, const struct osp_order_member *first,
		    bool *small_first);

/* Makes runs of the leaves, which `runs` has by node rank. */
void osp_order_make_runs(uint32_t *runs, uint32_t count);

/*
 * Writes the number by which Slurm 26.05 sorts the node of each node rank, of which `runs` has the
 * run: the run in the upper 16 bits, where topology/tree has the leaf (interfaces/topology.h,
 * TOPO_RANK_ID_SHIFT), and the place in the run in the lower ones. A step of fewer nodes begins in
 * another run than the step before (stepmgr.c, _next_rank_start()). A gang of more than 65,535
 * nodes has the node ranks alone.
 */
void osp_order_slurm_ranks(const uint32_t *runs, uint32_t count, uint32_t *ranks);

#endif
