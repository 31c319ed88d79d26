/* SPDX-License-Identifier: GPL-2.0-or-later */
/* audit_layout.c - where the parallel groups of a running gang are: as placed, and as ranked */
#include "tools/command/audit_layout.h"

#include <stdlib.h>
#include <string.h>

#include "host/output.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/layout_plan.h"

#define NUMBER_COLUMNS 8 /* at least */

/* One running gang. */
struct laid_out {
	const struct osp_topology *topology;
	struct osp_layout_plan plan;
	uint32_t *nodes;     /* the gang's nodes, in the topology's numbers */
	uint32_t *by_rank;   /* the same nodes by node rank */
	const char *unknown; /* why the order by rank is unknown; NULL: it is known */
};

/* --- what is known ---------------------------------------------------------------------------- */

static int find_nodes(const struct osp_world *world, const struct osp_state_job *job,
		      struct laid_out *laid, uint32_t *count, struct osp_error *error)
{
	struct osp_nodeset *set = osp_nodeset_new(osp_topology_node_count(world->topology));
	int rc = set ? osp_snapshot_add_hostlist(world->snapshot, job->nodes_text, true,
						 "the job's nodes", set, error)
		     : osp_error_set(error, "out of memory");

	*count = rc ? 0 : osp_nodeset_count(set);
	laid->nodes = calloc(*count + 1, sizeof(*laid->nodes));
	laid->by_rank = calloc(*count + 1, sizeof(*laid->by_rank));
	if (!rc && (!laid->nodes || !laid->by_rank))
		rc = osp_error_set(error, "out of memory");
	for (uint32_t n = rc ? 0 : osp_nodeset_next(set, 0), at = 0; !rc && n < set->place_count;
	     n = osp_nodeset_next(set, n + 1))
		laid->nodes[at++] = n;
	free(set);
	return rc;
}

/* Plans the layout. It is stored with all its sizes, so its ranks say how many GPUs of a node it
 * takes. */
static int plan_layout(const struct osp_gang *gang, struct laid_out *laid, uint32_t count,
		       struct osp_error *error)
{
	struct osp_layout_plan_input input = {.topology = laid->topology,
					      .nodes = laid->nodes,
					      .dp_weight = OSP_DP_WEIGHT_STANDARD};
	uint32_t ranks;

	if (osp_layout_parse(gang->request.layout, &input.layout, error))
		return -1;
	ranks = osp_layout_ranks(&input.layout);
	input.gpus_per_node = count && ranks >= count && ranks % count == 0
				      ? ranks / count
				      : OSP_NODE_GPUS_STANDARD;
	if (osp_layout_complete(&input.layout, count, input.gpus_per_node, error))
		return -1;
	return osp_layout_plan_make(&input, &laid->plan, error);
}

/* Finds the topology's nodes by rank, in the order that onespine.so makes on the nodes. */
static void find_ranks(const struct osp_state_job *job, const struct osp_gang *gang,
		       struct laid_out *laid)
{
	struct osp_gang_ranks ranks;

	laid->unknown = "its note has no leaves";
	if (!gang->note.leaves)
		return;
	laid->unknown = "its note does not fit its nodes";
	if (osp_gang_order_make(job->nodes_text, gang->note.leaves, gang->note.order, &ranks))
		return;
	if (ranks.count == laid->plan.nodes)
		laid->unknown = NULL;
	for (uint32_t i = 0; i < ranks.count && !laid->unknown; i++)
		laid->by_rank[i] = osp_topology_find_node(laid->topology, ranks.names[i]);
	osp_gang_order_clear(&ranks);
}

/* --- what is shown ---------------------------------------------------------------------------- */

static const char *level_name(const struct laid_out *laid, uint32_t level)
{
	return level ? osp_topology_level_name(laid->topology, level) : "node";
}

static const char *held_by(const struct laid_out *laid, const struct osp_spread *spread)
{
	if (spread->held < 0)
		return "nothing";
	return level_name(laid, (uint32_t)spread->held);
}

/* Returns the columns for a level's numbers and its name above them. */
static int level_width(const struct laid_out *laid, uint32_t level)
{
	size_t length = strlen(level_name(laid, level));

	return length > NUMBER_COLUMNS ? (int)length : NUMBER_COLUMNS;
}

/* Returns the columns for the names of levels, below "held by". */
static int held_width(const struct laid_out *laid)
{
	int widest = NUMBER_COLUMNS;

	for (uint32_t level = 0; level <= laid->plan.levels; level++)
		if (level_width(laid, level) > widest)
			widest = level_width(laid, level);
	return widest;
}

static void head_line(const struct laid_out *laid, struct osp_text *text)
{
	osp_text_printf(text, "    %-6s %7s  %-7s  %-*s", "group", "members", "", held_width(laid),
			"held by");
	for (uint32_t level = 0; level <= laid->plan.levels; level++)
		osp_text_printf(text, " %*s", level_width(laid, level), level_name(laid, level));
	osp_text_add(text, "\n");
}

static void spread_line(const struct laid_out *laid, const char *group, uint32_t members,
			const char *how, const struct osp_spread *spread, struct osp_text *text)
{
	if (members)
		osp_text_printf(text, "    %-6s %7u", group, members);
	else
		osp_text_printf(text, "    %-14s", "");
	osp_text_printf(text, "  %-7s  %-*s", how, held_width(laid), held_by(laid, spread));
	for (uint32_t level = 0; level <= laid->plan.levels; level++)
		osp_text_printf(text, " %*u", level_width(laid, level), spread->most[level]);
	osp_text_add(text, "\n");
}

static json_t *spread_json(const struct laid_out *laid, const struct osp_spread *spread)
{
	json_t *object = json_object(), *domains = json_object();

	json_object_set_new(object, "held_by",
			    spread->held < 0 ? json_null()
					     : osp_json_string(held_by(laid, spread)));
	for (uint32_t level = 0; level <= laid->plan.levels; level++)
		json_object_set_new(domains,
				    level ? osp_topology_level_name(laid->topology, level) : "node",
				    json_integer(spread->most[level]));
	json_object_set_new(object, "domains", domains);
	return object;
}

static int add_group(const struct laid_out *laid, enum osp_group group, struct osp_text *text,
		     json_t *list)
{
	const struct osp_layout_plan *plan = &laid->plan;
	const struct osp_spread *placed = &plan->side[plan->better].spread[group];
	json_t *object = json_object();
	struct osp_spread ranked;
	struct osp_groups groups;

	osp_layout_groups(&plan->layout, group, &groups);
	spread_line(laid, osp_group_name(group), groups.size, "placed", placed, text);
	json_object_set_new(object, "group", osp_json_string(osp_group_name(group)));
	json_object_set_new(object, "members", json_integer(groups.size));
	json_object_set_new(object, "placed", spread_json(laid, placed));
	json_array_append_new(list, object);
	if (laid->unknown)
		return 0;
	if (osp_spread(&plan->layout, plan->gpus_per_node, group, laid->topology, laid->by_rank,
		       NULL, &ranked))
		return -1;
	spread_line(laid, "", 0, "ranked", &ranked, text);
	json_object_set_new(object, "ranked", spread_json(laid, &ranked));
	return 0;
}

static int show(const struct laid_out *laid, const struct osp_state_job *job,
		const struct osp_gang *gang, struct osp_text *text, json_t *object)
{
	json_t *layout = json_object(), *list = json_array();
	int rc = 0;

	osp_text_printf(text, "  job %s (%s, %u node%s): %s\n", job->label,
			job->user ? job->user : "?", laid->plan.nodes,
			osp_plural_s(laid->plan.nodes), gang->request.layout);
	head_line(laid, text);
	for (int group = 0; group < OSP_GROUP_COUNT && !rc; group++) {
		if (osp_layout_plan_shows(&laid->plan, (enum osp_group)group))
			rc = add_group(laid, (enum osp_group)group, text, list);
	}
	if (laid->unknown)
		osp_text_printf(text, "    the order of its ranks is not known: %s\n",
				laid->unknown);
	json_object_set_new(layout, "layout", osp_json_string(gang->request.layout));
	json_object_set_new(layout, "gpus_per_node", json_integer(laid->plan.gpus_per_node));
	json_object_set_new(layout, "groups", list);
	json_object_set_new(object, "layout", layout);
	return rc;
}

int osp_audit_layout(const struct osp_world *world, const struct osp_state_job *job,
		     const struct osp_gang *gang, struct osp_text *text, json_t *object)
{
	struct laid_out laid = {.topology = world->topology};
	struct osp_error error = {.text = ""};
	uint32_t count = 0;
	int rc = 0;

	if (!*gang->request.layout)
		return 0;
	if (find_nodes(world, job, &laid, &count, &error) ||
	    plan_layout(gang, &laid, count, &error)) {
		osp_text_printf(text, "  job %s (%s): %s\n", job->label,
				job->user ? job->user : "?", error.text);
	} else {
		find_ranks(job, gang, &laid);
		rc = show(&laid, job, gang, text, object);
	}
	osp_layout_plan_clear(&laid.plan);
	free(laid.nodes);
	free(laid.by_rank);
	return rc;
}
