/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_order.h - the order of a gang's nodes: which node has which node rank
 *
 * slurmctld knows the fabric and the layout, and writes a short text when the gang starts. The
 * plugin in srun and on the nodes knows neither, and makes the order from the text.
 *
 *	"4x1.16x1"		sizes and strides of a grid, fastest first: the places of nodes are
 *				counted through the sizes, and a place's node rank is the sum of its
 *				digits times the strides
 *	"4x2.2x1/n[1-8]"	and the nodes in the order of their places, if this is not the order
 *				of the leaves
 *	"4x2.2x1/~Zx3k"		the same, packed (lib/topology/leaf_pack.h)
 *
 * Without a text the order is that of the leaves.
 *
 * Scripts take the first name of Slurm's node list for the master, so that node has node rank 0.
 * No node leaves its segment or its group for that: sets of nodes, and nodes in them, are rotated.
 * If segments do not divide the gang and that node is in the smaller last one, this one comes
 * first.
 *
 * Any thread, any daemon: no shared state. Functions allocate, except osp_gang_order_rank() and
 * osp_gang_order_clear().
 */
#ifndef OSP_GANG_ORDER_H
#define OSP_GANG_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/layout/layout_nodes.h"

/* Names by node rank. */
struct osp_gang_ranks {
	char **names;
	uint32_t *runs; /* by node rank: the run of ranks in one leaf that it is in, from 0 */
	uint32_t count;
	bool listed;	  /* in the order of the node list */
	bool small_first; /* rank 0 is in a segment smaller than the others */
};

/*
 * Makes the order of the nodes of `nodes`, a list in Slurm's notation, sorted as Slurm sorts it.
 * `leaves` is a leaf list (lib/topology/leaf_list.h), `order` a text as above or NULL. Both may
 * have nodes that are no longer in `nodes`: the order is then made of the nodes that stayed. A grid
 * of another number of nodes whose ranks are not its places gives the order of the leaves. Returns
 * 0, and the caller clears the order with osp_gang_order_clear(); or -1, with nothing to clear, if
 * a node is not among the leaves, a text is malformed, or memory ran out.
 */
int osp_gang_order_make(const char *nodes, const char *leaves, const char *order,
			struct osp_gang_ranks *made);
void osp_gang_order_clear(struct osp_gang_ranks *order);

/*
 * Returns a text with the nodes packed as places in `leaves`, or written out, malloc'd; a copy if
 * the text has no nodes, or has them so. A node that is not among the leaves is left out. Returns
 * NULL if the text is malformed or memory ran out.
 */
char *osp_gang_order_pack(const char *leaves, const char *order);
char *osp_gang_order_unpack(const char *leaves, const char *order);

/* Returns how many nodes the lowest segments of a text have; 0: it has no grid, or is NULL. */
uint32_t osp_gang_order_unit(const char *order);

/* Returns the node rank of `node`, or -1. */
long osp_gang_order_rank(const struct osp_gang_ranks *order, const char *node);

#endif
