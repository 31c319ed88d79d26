/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_order.c - cuts a gang's nodes into whole segments and gives each node its rank */
#include "lib/layout/layout_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/place/place_sort.h"

/*
 * Units are runs of nodes that stay together: first single nodes, then whole segments of the lowest
 * level, and so on. Units of one domain are joined to units of the next size; what one domain has
 * left over stays behind, joined within a domain above if possible. All whole units come first,
 * then the rest of the largest, of the next, ..., and single nodes. Each of these parts is a
 * multiple of its own size, so smaller units stay whole in larger ones made of rests.
 */
struct cutting {
	const struct osp_topology *topology;
	const uint32_t *nodes; /* of the topology */
	uint32_t *order;       /* indices into nodes */
	uint32_t *spare;
	uint32_t count; /* length of the whole part at the front of order */
};

/* Sorts all nodes in the fabric's order; unknown ones come last. */
static int sort_nodes(struct cutting *cutting)
{
	uint32_t unknown = osp_topology_node_count(cutting->topology);
	uint32_t *ranks = calloc((size_t)cutting->count + 1, sizeof(*ranks));
	bool sorted = true;

	if (!ranks)
		return -1;
	for (uint32_t i = 0; i < cutting->count; i++) {
		uint32_t node = cutting->nodes[i];

		cutting->order[i] = i;
		ranks[i] = node == OSP_NO_NODE ? unknown
					       : osp_topology_rank_of_node(cutting->topology, node);
		sorted = sorted && (!i || ranks[i - 1] <= ranks[i]);
	}
	if (!sorted)
		osp_place_sort(ranks, 1, cutting->count, cutting->order, cutting->spare);
	free(ranks);
	return 0;
}

/*
 * Sorts the sorted nodes by their crossings at `level` of an overlay with the tree: by the tree's
 * domain, in it by the overlay's. Nodes of one crossing are not next to each other in the tree.
 */
static int sort_crossings(struct cutting *cutting, uint32_t level)
{
	const struct osp_topology *topology = cutting->topology;
	uint32_t *keys = calloc((size_t)cutting->count + 1, 2 * sizeof(*keys));
	uint32_t *sorted = calloc((size_t)cutting->count + 1, sizeof(*sorted));
	uint32_t *order = calloc((size_t)cutting->count + 1, sizeof(*order));
	bool good = keys && sorted && order;

	for (uint32_t i = 0; good && i < cutting->count; i++) {
		uint32_t node = cutting->nodes[cutting->order[i]], number;
		const struct osp_domain *crossing;

		number = node == OSP_NO_NODE ? OSP_NO_DOMAIN
					     : osp_topology_domain_of(topology, node, level);
		keys[2 * i] = keys[2 * i + 1] = UINT32_MAX;
		if (number == OSP_NO_DOMAIN)
			continue;
		crossing = osp_topology_domain(topology, number);
		keys[2 * i] = osp_topology_domain(topology, crossing->parent)->first_rank;
		keys[2 * i + 1] = crossing->first_rank;
	}
	if (good) {
		osp_place_sort(keys, 2, cutting->count, sorted, cutting->spare);
		for (uint32_t i = 0; i < cutting->count; i++)
			order[i] = cutting->order[sorted[i]];
		memcpy(cutting->order, order, (size_t)cutting->count * sizeof(*order));
	}
	free(keys);
	free(sorted);
	free(order);
	return good ? 0 : -1;
}

/* Returns the domain of the node at `place` of the order. */
static uint32_t domain_at(const struct cutting *cutting, uint32_t place, uint32_t level)
{
	uint32_t node = cutting->nodes[cutting->order[place]];

	return node == OSP_NO_NODE ? OSP_NO_DOMAIN
				   : osp_topology_domain_of(cutting->topology, node, level);
}

/*
 * Joins units of `unit` nodes at places [from, end) to segments within each domain, and puts the
 * remaining units after them. Returns how many nodes are whole.
 */
static uint32_t join(struct cutting *cutting, uint32_t from, uint32_t end, uint32_t unit,
		     const struct osp_segment *segment)
{
	uint32_t *order = cutting->order;
	uint32_t whole = from, left = 0, next;

	for (uint32_t at = from; at < end; at = next) {
		uint32_t domain = domain_at(cutting, at, segment->level), take = 0;

		for (next = at + unit;
		     next < end && domain_at(cutting, next, segment->level) == domain; next += unit)
			;
		if (domain != OSP_NO_DOMAIN)
			take = (next - at) / segment->nodes * segment->nodes;
		memcpy(&cutting->spare[left], &order[at + take],
		       (size_t)(next - at - take) * sizeof(*order));
		left += next - at - take;
		memmove(&order[whole], &order[at], (size_t)take * sizeof(*order));
		whole += take;
	}
	memcpy(&order[whole], cutting->spare, (size_t)left * sizeof(*order));
	return whole - from;
}

/*
 * Joins the whole part to segments; joins as much of the rest as possible within one domain of each
 * level above.
 */
static void join_segments(struct cutting *cutting, uint32_t unit, const struct osp_segment *segment)
{
	uint32_t whole = join(cutting, 0, cutting->count, unit, segment), at = whole;
	uint32_t in = osp_topology_crossed(cutting->topology, segment->level);

	for (uint32_t level = in ? in : segment->level + 1;
	     level <= osp_topology_level_count(cutting->topology); level++) {
		struct osp_segment above = {level, segment->nodes};

		at += join(cutting, at, cutting->count, unit, &above);
	}
	cutting->count = whole;
}

/* Rotates each digit of `place` by as much as makes `first` zero in all digits. */
static uint32_t turn(const struct osp_arrangement *arrangement, uint32_t place, uint32_t first)
{
	uint32_t turned = 0, weight = 1;

	for (uint32_t i = 0; i < arrangement->count; i++) {
		uint32_t size = arrangement->axis[i].size;

		turned += (place % size + size - first % size) % size * weight;
		weight *= size;
		place /= size;
		first /= size;
	}
	return turned;
}

static uint32_t place_of(const uint32_t *order, uint32_t nodes, uint32_t index)
{
	for (uint32_t place = 0; place < nodes; place++) {
		if (order[place] == index)
			return place;
	}
	return 0;
}

int osp_node_places(const struct osp_segments *segments, const struct osp_topology *topology,
		    const uint32_t *nodes, uint32_t count, uint32_t *order)
{
	struct cutting cutting = {
		.topology = topology, .nodes = nodes, .order = order, .count = count};
	uint32_t unit = 1;
	int rc = -1;

	cutting.spare = calloc((size_t)count + 1, sizeof(*cutting.spare));
	if (cutting.spare && sort_nodes(&cutting) == 0 &&
	    (!segments->count || !osp_topology_crossed(topology, segments->segment[0].level) ||
	     sort_crossings(&cutting, segments->segment[0].level) == 0)) {
		for (uint32_t i = 0; i < segments->count; i++) {
			join_segments(&cutting, unit, &segments->segment[i]);
			unit = segments->segment[i].nodes;
		}
		rc = 0;
	}
	free(cutting.spare);
	return rc;
}

int osp_node_order(const struct osp_arrangement *arrangement, const struct osp_segments *segments,
		   const struct osp_topology *topology, const uint32_t *nodes, uint32_t first,
		   uint32_t *node_at)
{
	uint32_t count = arrangement->nodes, from;
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	int rc = order ? osp_node_places(segments, topology, nodes, count, order) : -1;

	if (rc == 0) {
		from = first < count ? place_of(order, count, first) : 0;
		for (uint32_t place = 0; place < count; place++)
			node_at[osp_arrangement_node_rank(
				arrangement, turn(arrangement, place, from))] = order[place];
	}
	free(order);
	return rc;
}
