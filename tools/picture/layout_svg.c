/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_svg.c - a layout's plan as an SVG picture
 *
 * A panel for each arrangement; in it a box for each domain of the level that the gang is spread
 * over, and in the box a square for each node, with its node rank, in the colour of its pipeline
 * stage. All numbers are whole: the same plan gives the same bytes.
 */
#include "tools/picture/layout.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/sentences.h"
#include "tools/picture/svg.h"

#define MARGIN	     24
#define SQUARE	     30
#define GAP	     4
#define LINE_SQUARES 8
#define BOX_HEADER   22
#define BOX_PADDING  8
#define BOX_GAP	     12
#define PANEL_HEADER 74
#define PANEL_WIDTH  (LINE_SQUARES * (SQUARE + GAP) + 2 * BOX_PADDING)
#define PANEL_GAP    40
#define COLOURS	     12

static const char *const fill[COLOURS] = {
	"#3b7dd8", "#2a9d8f", "#e09f3e", "#8e6bbf", "#5aa845", "#d977a8",
	"#45aed1", "#a97142", "#274b82", "#8f9b24", "#0b7a75", "#d96a42",
};

static const char style[] =
	"<style>text{font-family:sans-serif;fill:#1c2733}.t{font-size:15px;font-weight:bold}"
	".s{font-size:12px}.b{font-size:11px;font-weight:bold}.r{font-size:11px;fill:#fff;"
	"text-anchor:middle}</style>\n";

/* One node and where it is drawn. */
struct drawn {
	uint32_t domain;
	uint32_t fabric_rank;
	uint32_t node_rank;
	uint32_t stage;
};

static int compare_drawn(const void *a, const void *b)
{
	const struct drawn *first = a, *second = b;

	return first->fabric_rank < second->fabric_rank	  ? -1
	       : first->fabric_rank > second->fabric_rank ? 1
							  : 0;
}

/* Computes the pipeline stage of the first rank of each node. */
static void find_stages(const struct osp_layout_plan *plan, struct drawn *nodes,
			const uint32_t *at_rank)
{
	struct osp_groups groups;

	osp_layout_groups(&plan->layout, OSP_GROUP_PP, &groups);
	for (uint32_t group = 0; group < groups.count; group++) {
		for (uint32_t stage = 0; stage < groups.size; stage++) {
			uint32_t rank = osp_groups_rank(&groups, group, stage);

			if (rank % plan->gpus_per_node == 0)
				nodes[at_rank[rank / plan->gpus_per_node]].stage = stage;
		}
	}
}

/* Returns the nodes of a side in the fabric's order; NULL without memory. */
static struct drawn *list_nodes(const struct osp_layout_plan *plan, const struct osp_side *side)
{
	struct drawn *nodes = calloc(plan->nodes, sizeof(*nodes));
	uint32_t *at_rank = calloc(plan->nodes, sizeof(*at_rank));
	uint32_t level = plan->thin ? plan->thin : plan->levels;

	for (uint32_t rank = 0; nodes && at_rank && rank < plan->nodes; rank++) {
		uint32_t node = side->node_at[rank];
		bool known = node != OSP_NO_NODE;

		nodes[rank].node_rank = rank;
		nodes[rank].domain =
			known ? osp_topology_domain_of(plan->topology, node, level) : OSP_NO_DOMAIN;
		nodes[rank].fabric_rank =
			known ? osp_topology_rank_of_node(plan->topology, node) : UINT32_MAX;
		at_rank[rank] = rank;
	}
	if (nodes && at_rank) {
		find_stages(plan, nodes, at_rank);
		qsort(nodes, plan->nodes, sizeof(*nodes), compare_drawn);
	}
	free(at_rank);
	return nodes;
}

static void draw_text(struct osp_text *body, int x, int y, const char *class, const char *words)
{
	osp_text_printf(body, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
	osp_text_add_escaped(body, words);
	osp_text_add(body, "</text>\n");
}

/* Returns the y below the box of nodes [first, end). */
static int draw_box(const struct osp_layout_plan *plan, const struct osp_side *side,
		    const struct drawn *nodes, uint32_t first, uint32_t end, int x, int y,
		    struct osp_text *body)
{
	int lines = (int)((end - first + LINE_SQUARES - 1) / LINE_SQUARES);
	int height = BOX_HEADER + lines * (SQUARE + GAP) + BOX_PADDING;
	const char *name = nodes[first].domain == OSP_NO_DOMAIN
				   ? "unknown"
				   : osp_topology_domain(plan->topology, nodes[first].domain)->name;

	osp_text_printf(body,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" "
			"fill=\"#ffffff\" stroke=\"#c4ccd6\"/>\n",
			x, y, PANEL_WIDTH, height);
	draw_text(body, x + BOX_PADDING, y + 15, "b", name);
	for (uint32_t i = first; i < end; i++) {
		int column = (int)((i - first) % LINE_SQUARES),
		    line = (int)((i - first) / LINE_SQUARES);
		int left = x + BOX_PADDING + column * (SQUARE + GAP);
		int top = y + BOX_HEADER + line * (SQUARE + GAP);
		uint32_t node = side->node_at[nodes[i].node_rank];

		osp_text_printf(
			body,
			"<g><title>%s: node rank %u, stage %u</title><rect x=\"%d\" y=\"%d\" "
			"width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\"/>",
			node == OSP_NO_NODE ? "?" : osp_topology_node_name(plan->topology, node),
			nodes[i].node_rank, nodes[i].stage, left, top, SQUARE, SQUARE,
			fill[nodes[i].stage % COLOURS]);
		osp_text_printf(body, "<text class=\"r\" x=\"%d\" y=\"%d\">%u</text></g>\n",
				left + SQUARE / 2, top + SQUARE / 2 + 4, nodes[i].node_rank);
	}
	return y + height + BOX_GAP;
}

/* Draws "leaves a group:  pp 1 (0 GB)  dp 4 (2450 GB)". */
static void draw_spread(const struct osp_layout_show *show, const struct osp_side *side, int x,
			int y, struct osp_text *body)
{
	static const enum osp_group groups[] = {OSP_GROUP_PP, OSP_GROUP_DP, OSP_GROUP_EP};
	const struct osp_layout_plan *plan = show->plan;
	struct osp_text words = OSP_TEXT_INIT;
	char plural[64];

	if (!plan->thin)
		return;
	osp_text_printf(&words, "%s a group:",
			osp_sentence_plural(osp_topology_level_name(plan->topology, plan->thin),
					    plural, sizeof(plural)));
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct osp_spread *spread = &side->spread[groups[i]];

		if (!osp_layout_plan_shows(plan, groups[i]))
			continue;
		osp_text_printf(&words, "  %s %u", osp_group_name(groups[i]),
				spread->most[plan->thin]);
		if (show->model)
			osp_text_printf(&words, " (%.0f GB)", spread->bytes[plan->thin] / 1e9);
	}
	if (words.data)
		draw_text(body, x, y, "s", words.data);
	osp_text_free(&words);
}

/* Returns the y below the panel. */
static int draw_side(const struct osp_layout_show *show, const struct osp_side *side, int x,
		     struct osp_text *body)
{
	const struct osp_layout_plan *plan = show->plan;
	struct drawn *nodes = list_nodes(plan, side);
	int y = MARGIN + PANEL_HEADER;
	uint32_t end;

	if (!nodes) {
		body->failed = true;
		return y;
	}
	draw_text(body, x, MARGIN + 16, "t", osp_inside_name(side->arrangement.inside));
	draw_text(body, x, MARGIN + 36, "s",
		  side->arrangement.natural ? "the framework's own order" : "nodes reordered");
	draw_spread(show, side, x, MARGIN + 56, body);
	for (uint32_t first = 0; first < plan->nodes; first = end) {
		for (end = first; end < plan->nodes && nodes[end].domain == nodes[first].domain;
		     end++)
			;
		y = draw_box(plan, side, nodes, first, end, x, y, body);
	}
	free(nodes);
	return y;
}

void osp_layout_svg(const struct osp_layout_show *show, struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;
	struct osp_text body = OSP_TEXT_INIT, title = OSP_TEXT_INIT;
	char layout[OSP_LAYOUT_TEXT_BYTES];
	int width = 2 * MARGIN - PANEL_GAP, height = 0;

	osp_text_printf(&title, "%s on %u nodes",
			osp_layout_format(&plan->layout, layout, sizeof(layout)), plan->nodes);
	for (uint32_t i = 0; i < plan->side_count; i++) {
		int below = draw_side(show, &plan->side[i],
				      MARGIN + (int)i * (PANEL_WIDTH + PANEL_GAP), &body);

		height = below > height ? below : height;
		width += PANEL_WIDTH + PANEL_GAP;
	}
	draw_text(&body, MARGIN, height + 14, "s",
		  "squares: nodes, with their rank; colours: pipeline stages");
	osp_svg_write(text, &title, style, width, height + MARGIN + 14, &body);
	osp_text_free(&title);
	osp_text_free(&body);
}
