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

char *osp_gang_order_text(const struct osp_topology *topology, const uint32_t *nodes,
			  uint32_t count, const struct osp_segments *segments, uint32_t spares,
			  const struct osp_arrangement *arrangement)
{
	uint32_t *order = calloc(count ? count : 1, sizeof(*order));
	const char **names = calloc(count ? count : 1, sizeof(*names));
	struct osp_text text = OSP_TEXT_INIT;
	bool good = order && names && osp_node_places(segments, topology, nodes, count, order) == 0;

	if (good) {
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
