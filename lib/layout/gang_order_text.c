/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_order_text.c - writes the order of a gang's nodes, from the fabric and the layout */
#include "lib/layout/gang_order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"

static void add_axis(struct osp_text *text, uint32_t size, uint32_t stride)
{
	osp_text_printf(text, "%s%ux%u", text->length_bytes ? "." : "", size, stride);
}

static void add_grid(struct osp_text *text, const struct osp_segments *segments, uint32_t spares,
		     const struct osp_arrangement *arrangement)
{
	uint32_t unit = 1, stride = 1;

	for (uint32_t i = 0; arrangement && i < arrangement->count; i++)
		add_axis(text, arrangement->axis[i].size, arrangement->axis[i].stride);
	for (uint32_t i = 0; !arrangement && i < segments->count; i++) {
		uint32_t size = segments->segment[i].nodes / unit;

		if (!i && size > spares)
			size -= spares;
		add_axis(text, size, stride);
		stride *= size;
		unit = segments->segment[i].nodes;
	}
	if (!text->length_bytes)
		add_axis(text, 1, 1);
}

/* Adds the names in order of their places: runs of ascending names, each as a compact list. */
static void add_places(struct osp_text *text, const char *const *names, uint32_t count)
{
	for (uint32_t from = 0, next; from < count; from = next) {
		char *list;

		for (next = from + 1;
		     next < count && osp_name_compare(names[next - 1], names[next]) < 0; next++)
			;
		list = osp_hostlist_compact(&names[from], next - from);
		if (list)
			osp_text_printf(text, "%c%s", from ? ',' : '/', list);
		else
			text->failed = true;
		free(list);
	}
}

/* Tells whether the places are in the order of the fabric, which is that of the list of leaves. */
static bool is_fabric_order(const struct osp_topology *topology, const uint32_t *nodes,
			    const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (osp_topology_rank_of_node(topology, nodes[order[i - 1]]) >
		    osp_topology_rank_of_node(topology, nodes[order[i]]))
			return false;
	}
	return true;
}

/* --- several domains -------------------------------------------------------------------------- */

/* Places in the order of the fabric, in blocks: the largest segments, or runs in one leaf. */
struct places {
	const struct osp_topology *topology;
	const uint32_t *nodes;
	uint32_t *order;
	uint32_t count;
	uint32_t unit;	/* of a segment; 0: there are none */
	uint32_t level; /* of the domains */
};

static uint32_t domain_at(const struct places *places, uint32_t place, uint32_t level)
{
	return osp_topology_domain_of(places->topology, places->nodes[places->order[place]], level);
}

static bool is_block_start(const struct places *places, uint32_t place)
{
	return places->unit
		       ? place % places->unit == 0
		       : !place || domain_at(places, place, 1) != domain_at(places, place - 1, 1);
}

static uint32_t place_of_first_name(const struct places *places)
{
	uint32_t first = osp_first_name(places->topology, places->nodes, places->count), at = 0;

	while (places->order[at] != first)
		at++;
	return at;
}

/* Rotates the places `from` to `to` until `lead` is the first of them. */
static void rotate(uint32_t *order, uint32_t from, uint32_t lead, uint32_t to, uint32_t *scratch)
{
	size_t head = lead - from, tail = to - lead;

	memcpy(scratch, order + lead, tail * sizeof(*order));
	memcpy(scratch + tail, order + from, head * sizeof(*order));
	memcpy(order + from, scratch, (head + tail) * sizeof(*order));
}

/*
 * Lets the domain with the first name lead, in it its block, and in a leaf the name itself, so that
 * ranks leave no domain before all of its nodes have theirs. Returns false if nothing has to be
 * done: all are in one domain, or its block is the first of its domain.
 */
static bool lead_with_domain(struct places *places, uint32_t *scratch)
{
	uint32_t first = place_of_first_name(places), block = first, end = first + 1;
	uint32_t domain = domain_at(places, first, places->level), from, to;

	while (!is_block_start(places, block))
		block--;
	while (end < places->count && !is_block_start(places, end))
		end++;
	for (from = block; from && domain_at(places, from - 1, places->level) == domain; from--)
		;
	for (to = end; to < places->count && domain_at(places, to, places->level) == domain; to++)
		;
	if (to - from == places->count || block == from)
		return false;
	if (!places->unit)
		rotate(places->order, block, first, end, scratch);
	rotate(places->order, from, block, to, scratch);
	rotate(places->order, 0, from, places->count, scratch);
	return true;
}

/* Orders the places of a gang in several domains. *runs: ranks are places, without segments. */
static int order_domains(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
			 const struct osp_segments *segments, uint32_t level, uint32_t *order,
			 bool *runs)
{
	uint32_t unit = segments->count ? segments->segment[segments->count - 1].nodes : 0;
	struct places places = {topology, nodes, order, count, unit, level};
	uint32_t *scratch;

	*runs = false;
	for (uint32_t i = 0; i < segments->count; i++) {
		if (count % segments->segment[i].nodes)
			return 0;
	}
	scratch = calloc((size_t)count + 1, sizeof(*scratch));
	if (!scratch)
		return -1;
	*runs = count && lead_with_domain(&places, scratch) && !unit;
	free(scratch);
	return 0;
}

/* --- segments that do not divide it ----------------------------------------------------------- */

/* Tells whether that place is in a segment smaller than the others (gang_order.c,
 * rank_in_segments()). */
static bool is_in_smaller(const struct osp_segments *segments, uint32_t count, uint32_t at)
{
	for (uint32_t i = segments->count; i--;) {
		uint32_t size = segments->segment[i].nodes, whole = count / size;

		if (whole && at / size == whole)
			return true;
		count = at / size < whole ? size : count % size;
		at %= size;
	}
	return false;
}

const char *osp_gang_order_small_first(const struct osp_topology *topology, const uint32_t *nodes,
				       uint32_t count, const struct osp_segments *segments)
{
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	struct places places = {.topology = topology, .nodes = nodes, .order = order};
	uint32_t first = osp_first_name(topology, nodes, count);
	bool small = false;

	places.count = count;
	if (count && order && osp_node_places(segments, topology, nodes, count, order) == 0)
		small = is_in_smaller(segments, count, place_of_first_name(&places));
	free(order);
	return small ? osp_topology_node_name(topology, nodes[first]) : NULL;
}

/* --- all -------------------------------------------------------------------------------------- */

char *osp_gang_order_text(const struct osp_topology *topology, const uint32_t *nodes,
			  uint32_t count, const struct osp_segments *segments, uint32_t spares,
			  const struct osp_arrangement *arrangement, uint32_t level)
{
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct osp_text text = OSP_TEXT_INIT;
	bool good = order && names && osp_node_places(segments, topology, nodes, count, order) == 0;
	bool runs = false;

	if (good && level && !arrangement)
		good = order_domains(topology, nodes, count, segments, level, order, &runs) == 0;
	if (level && !arrangement && !segments->count && !runs)
		good = false;
	if (good) {
		if (runs)
			add_axis(&text, count, 1);
		else
			add_grid(&text, segments, spares, arrangement);
		for (uint32_t i = 0; i < count; i++)
			names[i] = osp_topology_node_name(topology, nodes[order[i]]);
		if (!is_fabric_order(topology, nodes, order, count))
			add_places(&text, names, count);
	}
	free(order);
	free(names);
	if (!good)
		osp_text_free(&text);
	return good ? osp_text_take(&text) : NULL;
}
