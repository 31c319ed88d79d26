/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_show.c - a layout's plan as a table and as JSON */
#include "tools/picture/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/output.h"
#include "lib/base/text.h"

#define GB	       1e9
#define ORDER_COLUMN   100
#define ORDER_INDENT   2
#define NUMBER_COLUMNS 8 /* at least */

static const char *level_name(const struct osp_layout_plan *plan, uint32_t level)
{
	return level ? osp_topology_level_name(plan->topology, level) : "node";
}

/* Says what a side's order of nodes means to the framework. */
static const char *order_words(const struct osp_side *side)
{
	return side->arrangement.natural ? "the framework's own order of ranks"
					 : "ranks transposed: nodes need the order below";
}

static double bytes_over(const struct osp_layout_plan *plan, const struct osp_side *side,
			 uint32_t level)
{
	double bytes = 0;

	for (int group = 0; group < OSP_GROUP_COUNT; group++) {
		if (osp_layout_plan_shows(plan, (enum osp_group)group))
			bytes += side->spread[group].bytes[level];
	}
	return bytes;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Returns 0 for groups within a node, else the nodes from one member to the next. */
static uint32_t nodes_apart(const struct osp_layout_plan *plan, const struct osp_groups *groups)
{
	return groups->stride / plan->gpus_per_node;
}

/* Columns of a level's numbers, which its name heads. */
static int level_width(const struct osp_layout_plan *plan, uint32_t level)
{
	size_t length = strlen(level_name(plan, level));

	return length > NUMBER_COLUMNS ? (int)length : NUMBER_COLUMNS;
}

/* Computes the width of the names of levels, below "held by". */
static int held_width(const struct osp_layout_plan *plan)
{
	int widest = NUMBER_COLUMNS;

	for (uint32_t level = 0; level <= plan->levels; level++)
		if (level_width(plan, level) > widest)
			widest = level_width(plan, level);
	return widest;
}

static void head_line(const struct osp_layout_show *show, struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;

	osp_text_printf(text, "  %-12s %7s %7s %5s", "group", "members", "groups", "apart");
	if (plan->topology)
		osp_text_printf(text, "  %-*s", held_width(plan), "held by");
	for (uint32_t level = 0; level <= plan->levels; level++) {
		osp_text_printf(text, " %*s", level_width(plan, level), level_name(plan, level));
		if (show->model)
			osp_text_printf(text, " %9s", "GB");
	}
	osp_text_add(text, "\n");
}

static void group_line(const struct osp_layout_show *show, const struct osp_side *side,
		       enum osp_group group, struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;
	const struct osp_spread *spread = &side->spread[group];
	struct osp_groups groups;

	osp_layout_groups(&plan->layout, group, &groups);
	osp_text_printf(text, "  %-12s %7u %7u %5u", osp_group_name(group), groups.size,
			groups.count, nodes_apart(plan, &groups));
	if (plan->topology)
		osp_text_printf(text, "  %-*s", held_width(plan),
				spread->held < 0 ? "nothing"
						 : level_name(plan, (uint32_t)spread->held));
	for (uint32_t level = 0; level <= plan->levels; level++) {
		osp_text_printf(text, " %*u", level_width(plan, level), spread->most[level]);
		if (show->model)
			osp_text_printf(text, " %9.1f", spread->bytes[level] / GB);
	}
	osp_text_add(text, "\n");
}

static void total_line(const struct osp_layout_show *show, const struct osp_side *side,
		       struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;

	if (!show->model)
		return;
	osp_text_printf(text, "  %-34s", "all");
	if (plan->topology)
		osp_text_printf(text, "  %-*s", held_width(plan), "");
	for (uint32_t level = 0; level <= plan->levels; level++)
		osp_text_printf(text, " %*s %9.1f", level_width(plan, level), "",
				bytes_over(plan, side, level) / GB);
	osp_text_add(text, "\n");
}

/* Returns how many nodes in a row, by the arrangement's places, hold every group of a kind
 * whole. */
static void runs_line(const struct osp_layout_plan *plan, const struct osp_side *side,
		      struct osp_text *text)
{
	static const enum osp_group groups[] = {OSP_GROUP_TP, OSP_GROUP_CP, OSP_GROUP_EP,
						OSP_GROUP_DP, OSP_GROUP_PP};
	const char *before = "  nodes in a row that hold whole groups: ";

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (!osp_layout_plan_shows(plan, groups[i]))
			continue;
		osp_text_printf(text, "%s%s %u", before, osp_group_name(groups[i]),
				osp_arrangement_run_of(&side->arrangement, groups[i]));
		before = ", ";
	}
	if (*before == ',')
		osp_text_add(text, "\n");
}

static void side_text(const struct osp_layout_show *show, const struct osp_side *side,
		      struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;
	char segments[256];

	osp_text_printf(text, "\n%s: %s",
			plan->side_count > 1 ? osp_inside_name(side->arrangement.inside)
					     : "nodes in the fabric's order",
			order_words(side));
	if (plan->topology && side->segments.count)
		osp_text_printf(text, "; segments %s",
				osp_segments_format(&side->segments, plan->topology, segments,
						    sizeof(segments)));
	osp_text_add(text, "\n");
	if (plan->topology && !side->whole)
		osp_text_add(text, "  the topology does not hold that many whole segments: groups "
				   "are cut where it ends\n");
	if (!plan->unaligned.text[0])
		runs_line(plan, side, text);
	head_line(show, text);
	for (int group = 0; group < OSP_GROUP_COUNT; group++) {
		if (osp_layout_plan_shows(plan, (enum osp_group)group))
			group_line(show, side, (enum osp_group)group, text);
	}
	total_line(show, side, text);
}

/* Nodes by rank, parted by blanks, in lines. */
static void order_text(const struct osp_layout_plan *plan, struct osp_text *text)
{
	const struct osp_side *side = &plan->side[plan->better];
	size_t column = 0;

	osp_text_add(text, "\nnodes in the order of their ranks, rank 0 first:\n");
	for (uint32_t rank = 0; rank < plan->nodes; rank++) {
		const char *name =
			side->node_at[rank] == OSP_NO_NODE
				? "?"
				: osp_topology_node_name(plan->topology, side->node_at[rank]);

		if (column + strlen(name) + 1 > ORDER_COLUMN && column) {
			osp_text_add(text, "\n");
			column = 0;
		}
		osp_text_printf(text, "%*s%s", column ? 1 : ORDER_INDENT, "", name);
		column += strlen(name) + (column ? 1 : ORDER_INDENT);
	}
	osp_text_add(text, "\n");
}

static void better_text(const struct osp_layout_show *show, struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;

	if (plan->side_count < 2 || !plan->topology)
		return;
	if (!plan->thin) {
		osp_text_add(text, "\none domain holds the whole gang at every level: the order of "
				   "nodes changes nothing\n");
		return;
	}
	osp_text_printf(
		text,
		"\nbetter: %s%s (over the %s, dp weighs %.2f and pp %.2f: cost %.2f and %.2f)\n",
		osp_inside_name(plan->side[plan->better].arrangement.inside),
		plan->side[0].keeps && plan->side[1].keeps ? "" : ", as --keep asks",
		level_name(plan, plan->thin), show->dp_weight, 1 - show->dp_weight,
		plan->side[0].cost, plan->side[1].cost);
}

void osp_layout_text(const struct osp_layout_show *show, struct osp_text *text)
{
	const struct osp_layout_plan *plan = show->plan;
	char layout[OSP_LAYOUT_TEXT_BYTES];
	double step = show->model ? osp_model_step_s(show->model, &plan->layout) : 0;

	osp_text_printf(text, "%s: %u node%s of %u GPUs, ranks as %s orders them\n",
			osp_layout_format(&plan->layout, layout, sizeof(layout)), plan->nodes,
			osp_plural_s(plan->nodes), plan->gpus_per_node,
			osp_layout_order_name(plan->layout.order));
	if (step > 0)
		osp_text_printf(text, "a step takes %.2f s at %g TFLOP/s a GPU\n", step,
				show->model->gpu_tflops);
	if (plan->unaligned.text[0])
		osp_text_printf(text, "%s\n", plan->unaligned.text);
	for (uint32_t i = 0; i < plan->side_count; i++)
		side_text(show, &plan->side[i], text);
	osp_text_printf(text,
			"\nUnder a level: how many of its domains one group touches at most%s.\n",
			show->model ? "; GB: what all of them send between these in a step" : "");
	better_text(show, text);
	if (plan->topology)
		order_text(plan, text);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *group_json(const struct osp_layout_show *show, const struct osp_side *side,
			  enum osp_group group)
{
	const struct osp_layout_plan *plan = show->plan;
	const struct osp_spread *spread = &side->spread[group];
	struct osp_groups groups;
	json_t *levels = json_array(), *object;

	osp_layout_groups(&plan->layout, group, &groups);
	for (uint32_t level = 0; level <= plan->levels; level++) {
		object = json_object();
		json_object_set_new(object, "level", osp_json_string(level_name(plan, level)));
		json_object_set_new(object, "most", json_integer(spread->most[level]));
		json_object_set_new(object, "mean", json_real(spread->mean[level]));
		if (show->model)
			json_object_set_new(object, "bytes", json_real(spread->bytes[level]));
		json_array_append_new(levels, object);
	}
	object = json_object();
	json_object_set_new(object, "group", json_string(osp_group_name(group)));
	json_object_set_new(object, "members", json_integer(groups.size));
	json_object_set_new(object, "groups", json_integer(groups.count));
	json_object_set_new(object, "nodes_apart", json_integer(nodes_apart(plan, &groups)));
	json_object_set_new(object, "held_by",
			    plan->topology && spread->held >= 0
				    ? osp_json_string(level_name(plan, (uint32_t)spread->held))
				    : json_null());
	json_object_set_new(object, "spread", levels);
	return object;
}

static json_t *segments_json(const struct osp_layout_plan *plan, const struct osp_side *side)
{
	json_t *segments = json_array();

	for (uint32_t i = 0; plan->topology && i < side->segments.count; i++) {
		json_t *segment = json_object();

		json_object_set_new(
			segment, "level",
			osp_json_string(level_name(plan, side->segments.segment[i].level)));
		json_object_set_new(segment, "nodes",
				    json_integer(side->segments.segment[i].nodes));
		json_array_append_new(segments, segment);
	}
	return segments;
}

static json_t *side_json(const struct osp_layout_show *show, const struct osp_side *side)
{
	const struct osp_layout_plan *plan = show->plan;
	json_t *object = json_object(), *groups = json_array(), *order = json_array();

	json_object_set_new(
		object, "inside",
		json_string(side->arrangement.inside == OSP_PIPELINE_INSIDE ? "pipeline" : "data"));
	json_object_set_new(object, "framework_order", json_boolean(side->arrangement.natural));
	json_object_set_new(object, "segments", segments_json(plan, side));
	json_object_set_new(object, "whole", json_boolean(side->whole));
	json_object_set_new(object, "cost", plan->thin ? json_real(side->cost) : json_null());
	for (int group = 0; group < OSP_GROUP_COUNT; group++) {
		if (osp_layout_plan_shows(plan, (enum osp_group)group))
			json_array_append_new(groups,
					      group_json(show, side, (enum osp_group)group));
	}
	json_object_set_new(object, "groups", groups);
	for (uint32_t rank = 0; side->node_at && rank < plan->nodes; rank++)
		json_array_append_new(order,
				      side->node_at[rank] == OSP_NO_NODE
					      ? json_null()
					      : osp_json_string(osp_topology_node_name(
							plan->topology, side->node_at[rank])));
	json_object_set_new(object, "nodes", order);
	return object;
}

json_t *osp_layout_to_json(const struct osp_layout_show *show)
{
	const struct osp_layout_plan *plan = show->plan;
	json_t *root = json_object(), *sides = json_array();
	char layout[OSP_LAYOUT_TEXT_BYTES];

	json_object_set_new(root, "layout",
			    json_string(osp_layout_format(&plan->layout, layout, sizeof(layout))));
	json_object_set_new(root, "order", json_string(osp_layout_order_name(plan->layout.order)));
	json_object_set_new(root, "nodes", json_integer(plan->nodes));
	json_object_set_new(root, "gpus_per_node", json_integer(plan->gpus_per_node));
	json_object_set_new(root, "unaligned",
			    plan->unaligned.text[0] ? json_string(plan->unaligned.text)
						    : json_null());
	json_object_set_new(root, "thin_level",
			    plan->thin ? osp_json_string(level_name(plan, plan->thin))
				       : json_null());
	json_object_set_new(root, "dp_weight", json_real(show->dp_weight));
	json_object_set_new(root, "better", json_integer(plan->better));
	for (uint32_t i = 0; i < plan->side_count; i++)
		json_array_append_new(sides, side_json(show, &plan->side[i]));
	json_object_set_new(root, "arrangements", sides);
	return root;
}
