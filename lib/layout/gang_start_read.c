/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_start_read.c - the nodes of a started gang as numbers again, from what was written of it */
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/layout/gang_order_private.h"
#include "lib/layout/gang_start.h"
#include "lib/topology/leaf_list.h"
#include "lib/topology/leaf_pack.h"

struct reading {
	const struct osp_topology *topology;
	const struct osp_nodeset *of;
	uint32_t *wanted; /* the nodes of `of`, sorted */
	uint32_t wanted_count;
	uint32_t likely;    /* the place in `wanted` of the one that probably comes next */
	uint32_t *place_of; /* by node: its place in `wanted` */
	uint32_t *index_of; /* by node: its index in the start; OSP_NO_PLACE: it has none yet */
	struct osp_nodeset *placed;
	uint32_t placed_count;
	const char *last_leaf;
	struct osp_gang_start *start;
};

/* Returns the node of that name if it is in `of`. Names come in the fabric's order, almost. */
static uint32_t find(struct reading *reading, const char *name)
{
	uint32_t node = reading->likely < reading->wanted_count ? reading->wanted[reading->likely]
								: OSP_NO_NODE;

	if (node == OSP_NO_NODE || strcmp(osp_topology_node_name(reading->topology, node), name))
		node = osp_topology_find_node(reading->topology, name);
	if (node == OSP_NO_NODE || node >= reading->of->place_count ||
	    !osp_nodeset_test(reading->of, node))
		return OSP_NO_NODE;
	reading->likely = reading->place_of[node] + 1;
	return node;
}

/* --- leaves ----------------------------------------------------------------------------------- */

/* Adds a node of that leaf. Returns its index; OSP_NO_PLACE if there are too many. */
static uint32_t add(struct osp_gang_start *start, uint32_t node, uint32_t leaf)
{
	if (start->count == OSP_NODES_MAX)
		return OSP_NO_PLACE;
	start->nodes[start->count] = node;
	start->leaf[start->count] = leaf;
	return start->count++;
}

/* Adds the node, or a place without one: packed orders count all places. */
static int add_listed(const char *leaf, const char *name, void *context)
{
	struct reading *reading = context;
	struct osp_gang_start *start = reading->start;
	uint32_t node = find(reading, name), index;

	if (!reading->last_leaf || strcmp(reading->last_leaf, leaf) != 0)
		start->leaf_count++;
	reading->last_leaf = leaf;
	if (node != OSP_NO_NODE && reading->index_of[node] != OSP_NO_PLACE)
		node = OSP_NO_NODE;
	index = add(start, node, start->leaf_count - 1);
	if (node != OSP_NO_NODE)
		reading->index_of[node] = index;
	return index == OSP_NO_PLACE;
}

/* Searches a packed list, whose names are sorted. */
static bool read_packed_leaves(struct reading *reading, const char *leaves)
{
	struct osp_gang_start *start = reading->start;
	long count;

	osp_topology_sort_nodes(reading->topology, OSP_BY_NAME, reading->wanted,
				reading->wanted_count, reading->placed);
	count = osp_leaf_unpack_nodes(leaves, reading->topology, reading->wanted,
				      reading->wanted_count, start->nodes, start->leaf);
	if (count < 0)
		return false;
	start->count = (uint32_t)count;
	for (uint32_t i = 0; i < start->count; i++) {
		start->leaf_count += !i || start->leaf[i] != start->leaf[i - 1];
		if (start->nodes[i] != OSP_NO_NODE)
			reading->index_of[start->nodes[i]] = i;
	}
	return true;
}

static bool read_leaves(struct reading *reading, const char *leaves)
{
	uint32_t *wanted = reading->wanted;
	bool packed = osp_leaf_is_packed(leaves);

	for (uint32_t n = osp_nodeset_next(reading->of, 0); n < reading->of->place_count;
	     n = osp_nodeset_next(reading->of, n + 1))
		wanted[reading->wanted_count++] = n;
	if (packed && !read_packed_leaves(reading, leaves))
		return false;
	osp_topology_sort_nodes(reading->topology, OSP_BY_RANK, wanted, reading->wanted_count,
				reading->placed);
	osp_nodeset_clear(reading->placed);
	for (uint32_t i = 0; i < reading->wanted_count; i++)
		reading->place_of[wanted[i]] = i;
	return packed || osp_leaf_list_each(leaves, add_listed, reading) == 0;
}

/* --- the order -------------------------------------------------------------------------------- */

/* Gives the node the next place. One without a leaf is only here. */
static int place_listed(const char *name, void *context)
{
	struct reading *reading = context;
	uint32_t node = find(reading, name);

	if (node == OSP_NO_NODE || osp_nodeset_test(reading->placed, node))
		return 0;
	if (reading->index_of[node] == OSP_NO_PLACE)
		reading->index_of[node] = add(reading->start, node, OSP_NO_DOMAIN);
	if (reading->index_of[node] == OSP_NO_PLACE)
		return 1;
	osp_nodeset_add(reading->placed, node);
	reading->start->order[reading->placed_count++] = reading->index_of[node];
	return 0;
}

static bool read_order(struct reading *reading, const char *order)
{
	struct osp_gang_start *start = reading->start;
	struct osp_order_grid grid;
	const char *nodes;
	long count;

	if (!osp_order_read_grid(order, &grid, &nodes))
		return false;
	start->grid = nodes ? strndup(order, (size_t)(nodes - 1 - order)) : strdup(order);
	start->listed = nodes != NULL;
	reading->likely = 0;
	if (nodes && *nodes == '~') {
		count = osp_leaf_unpack_places(nodes, start->count, start->order);
		if (count < 0)
			return false;
		reading->placed_count = (uint32_t)count;
	} else if (nodes && osp_hostlist_expand(nodes, place_listed, reading, NULL)) {
		return false;
	}
	if (reading->placed_count < OSP_NODES_MAX)
		start->order[reading->placed_count] = OSP_NO_PLACE;
	return start->grid != NULL;
}

/* --- all -------------------------------------------------------------------------------------- */

static bool begin(struct reading *reading)
{
	uint32_t room = osp_topology_node_count(reading->topology) + 1;
	struct osp_gang_start *start = reading->start;

	start->nodes = calloc(OSP_NODES_MAX, sizeof(*start->nodes));
	start->leaf = calloc(OSP_NODES_MAX, sizeof(*start->leaf));
	start->order = calloc(OSP_NODES_MAX, sizeof(*start->order));
	reading->wanted = calloc(room, sizeof(*reading->wanted));
	reading->place_of = calloc(room, sizeof(*reading->place_of));
	reading->index_of = malloc(room * sizeof(*reading->index_of));
	reading->placed = osp_nodeset_new(room);
	if (!start->nodes || !start->leaf || !start->order || !reading->wanted ||
	    !reading->place_of || !reading->index_of || !reading->placed)
		return false;
	memset(reading->index_of, 0xff, room * sizeof(*reading->index_of));
	return true;
}

int osp_gang_start_read(const struct osp_topology *topology, const struct osp_nodeset *of,
			const char *leaves, const char *order, struct osp_gang_start *start)
{
	struct reading reading = {.topology = topology, .of = of, .start = start};
	bool good;

	*start = (struct osp_gang_start){.topology = topology};
	good = begin(&reading) && read_leaves(&reading, leaves) &&
	       (!order || read_order(&reading, order));
	free(reading.wanted);
	free(reading.place_of);
	free(reading.index_of);
	free(reading.placed);
	if (!good)
		osp_gang_start_clear(start);
	return good ? 0 : -1;
}
