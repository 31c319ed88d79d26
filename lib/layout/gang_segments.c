/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_segments.c - which segment each node of a gang is in, as the gate gets it */
#include "lib/layout/gang_segments.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/text.h"
#include "lib/layout/layout_nodes.h"

static void add_runs(struct osp_text *text, const uint32_t *segment, uint32_t count)
{
	for (uint32_t from = 0, next; from < count; from = next) {
		for (next = from + 1; next < count && segment[next] == segment[from]; next++)
			;
		osp_text_printf(text, "%s%u", from ? "," : "", segment[from]);
		if (next - from > 1)
			osp_text_printf(text, "x%u", next - from);
	}
}

char *osp_gang_segments_text(const struct osp_topology *topology, const uint32_t *nodes,
			     uint32_t count, const struct osp_segments *segments)
{
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	uint32_t *segment = calloc((size_t)count + 1, sizeof(*segment));
	struct osp_text text = OSP_TEXT_INIT;
	bool good = order && segment && count && segments->count &&
		    osp_node_places(segments, topology, nodes, count, order) == 0;

	for (uint32_t place = 0; good && place < count; place++)
		segment[order[place]] = place / segments->segment[0].nodes;
	if (good)
		add_runs(&text, segment, count);
	free(order);
	free(segment);
	return good ? osp_text_take(&text) : NULL;
}

/* Reads the runs; *largest is the largest number of a segment. */
static bool read_runs(const char *text, uint32_t count, uint32_t *segment, uint32_t *largest)
{
	uint32_t at = 0, number, length;

	*largest = 0;
	for (;; text++) {
		length = 1;
		if (!count || !osp_read_number(&text, count - 1, &number) ||
		    (*text == 'x' && (text++, !osp_read_number(&text, count, &length))) ||
		    !length || length > count - at)
			return false;
		*largest = number > *largest ? number : *largest;
		for (; length; length--)
			segment[at++] = number;
		if (*text != ',')
			return !*text && at == count;
	}
}

static bool has_each(const uint32_t *segment, uint32_t count, uint32_t segments)
{
	bool *seen = calloc(segments, sizeof(*seen));
	uint32_t distinct = 0;

	for (uint32_t i = 0; seen && i < count; i++) {
		distinct += !seen[segment[i]];
		seen[segment[i]] = true;
	}
	free(seen);
	return distinct == segments;
}

uint32_t osp_gang_segments_read(const char *text, uint32_t count, uint32_t *segment)
{
	uint32_t largest;

	return read_runs(text, count, segment, &largest) && has_each(segment, count, largest + 1)
		       ? largest + 1
		       : 0;
}
