/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_plan.c - makes both arrangements of a layout on a fabric, and finds the better one */
#include "lib/layout/layout_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define WORD_BYTES 32

/* --- keeps ------------------------------------------------------------------------------------ */

static int parse_keep(const char *word, size_t bytes, int column,
		      const struct osp_topology *topology, struct osp_keeps *keeps,
		      struct osp_error *error)
{
	char copy[2 * WORD_BYTES], *level;
	int group, found;

	snprintf(copy, sizeof(copy), "%.*s", (int)(bytes < sizeof(copy) ? bytes : sizeof(copy)),
		 word);
	level = strchr(copy, ':');
	if (!level)
		return osp_error_at(error, NULL, 0, column,
				    "a group and a level are expected, as in pp:leaf");
	*level++ = '\0';
	group = osp_group_find(copy);
	if (group < 0)
		return osp_error_at(error, NULL, 0, column,
				    "'%s': groups are tp, cp, dp, pp and ep, as in pp:leaf", copy);
	found = osp_topology_level(topology, level);
	if (found < 0)
		return osp_topology_no_level(topology, level, 0, osp_topology_level_count(topology),
					     column + (int)(level - copy), error);
	if (osp_topology_is_overlay(topology, (uint32_t)found))
		return osp_error_at(error, NULL, 0, column + (int)(level - copy),
				    "level %s is beside the tree: groups are kept in levels of the "
				    "tree; say segments of it instead, as --gang-segment=%s:N",
				    osp_topology_level_name(topology, (uint32_t)found),
				    osp_topology_level_name(topology, (uint32_t)found));
	if (keeps->count == OSP_KEEPS_MAX)
		return osp_error_at(error, NULL, 0, column, "more than %d groups to keep together",
				    OSP_KEEPS_MAX);
	keeps->keep[keeps->count++] = (struct osp_keep){(enum osp_group)group, (uint32_t)found};
	return 0;
}

int osp_keeps_parse(const char *text, const struct osp_topology *topology, struct osp_keeps *keeps,
		    struct osp_error *error)
{
	struct osp_keeps parsed = {.count = 0};
	size_t start = 0, length;

	do {
		length = strcspn(text + start, ",");
		for (size_t i = start; i < start + length; i++) {
			unsigned char c = (unsigned char)text[i];

			if (c <= ' ' || c > '~')
				return osp_error_byte(error, (int)i + 1, c, "here");
		}
		if (parse_keep(text + start, length, (int)start + 1, topology, &parsed, error))
			return -1;
		start += length + 1;
	} while (text[start - 1]);
	*keeps = parsed;
	return 0;
}

/* --- the nodes of a side ---------------------------------------------------------------------- */

/* Counts the gang's nodes, or all nodes if there are none, in the largest domain of each level. */
static int find_room(const struct osp_layout_plan_input *input, uint32_t nodes, uint32_t *room)
{
	const struct osp_topology *topology = input->topology;
	uint32_t *counts = calloc((size_t)osp_topology_domain_count(topology) + 1, sizeof(*counts));

	if (!counts)
		return -1;
	for (uint32_t level = 1; level <= osp_topology_level_count(topology); level++) {
		uint32_t count = input->nodes ? nodes : osp_topology_node_count(topology);

		room[level] = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t node = input->nodes ? input->nodes[i] : i;
			uint32_t domain = node == OSP_NO_NODE
						  ? OSP_NO_DOMAIN
						  : osp_topology_domain_of(topology, node, level);

			if (domain != OSP_NO_DOMAIN && ++counts[domain] > room[level])
				room[level] = counts[domain];
		}
	}
	free(counts);
	return 0;
}

/* Returns the segments below `level`. */
static struct osp_segments segments_below(const struct osp_segments *segments, uint32_t level)
{
	struct osp_segments below = {.count = 0};

	while (below.count < segments->count && segments->segment[below.count].level < level) {
		below.segment[below.count] = segments->segment[below.count];
		below.count++;
	}
	return below;
}

/* Nodes are picked on the empty fabric. */
struct picking {
	const struct osp_topology *topology;
	struct osp_cut *cut;
	struct osp_nodeset *all;
	struct osp_nodeset *chosen;
	struct osp_nodeset *domain; /* scratch: the nodes of one */
	struct osp_nodeset *part;   /* scratch: the nodes chosen there */
	uint32_t *offers;	    /* segments of the top level, by domain of it */
};

static bool open_picking(struct picking *picking, const struct osp_topology *topology)
{
	uint32_t nodes = osp_topology_node_count(topology);

	*picking = (struct picking){.topology = topology};
	picking->cut = osp_cut_new(topology);
	picking->all = osp_nodeset_new(nodes);
	picking->chosen = osp_nodeset_new(nodes);
	picking->domain = osp_nodeset_new(nodes);
	picking->part = osp_nodeset_new(nodes);
	picking->offers = calloc((size_t)osp_topology_domain_count(topology) + 1, sizeof(uint32_t));
	if (!picking->cut || !picking->all || !picking->chosen || !picking->domain ||
	    !picking->part || !picking->offers)
		return false;
	osp_nodeset_fill(picking->all);
	return true;
}

static void close_picking(struct picking *picking)
{
	osp_cut_free(picking->cut);
	free(picking->all);
	free(picking->chosen);
	free(picking->domain);
	free(picking->part);
	free(picking->offers);
}

/*
 * Returns the domain of the top level to take next: the one with the fewest segments that holds all
 * that are wanted, else the one with the most. OSP_NO_DOMAIN: none has any.
 */
static uint32_t next_domain(const struct picking *picking, uint32_t wanted)
{
	uint32_t first, count, best = OSP_NO_DOMAIN, most = 0;

	osp_topology_level_domains(picking->topology, osp_topology_level_count(picking->topology),
				   &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++) {
		uint32_t offer = picking->offers[domain];

		if (offer && (most < wanted ? offer > most : offer >= wanted && offer < most)) {
			best = domain;
			most = offer;
		}
	}
	return best;
}

/* Picks nodes over several domains of the top level, whole segments of `size` nodes in each. */
static bool pick_apart(struct picking *picking, struct osp_cut_input *input, uint32_t size)
{
	const struct osp_segments *segments = &input->segments;
	uint32_t unit = segments->count ? segments->segment[segments->count - 1].nodes : 1;
	uint32_t wanted = input->nodes / size, first, count;
	struct osp_cut_answer answer;

	input->domains_max = 1;
	input->nodes = size;
	osp_cut_judge(picking->cut, input, &answer);
	osp_topology_level_domains(picking->topology, input->level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++)
		picking->offers[domain] =
			(uint32_t)((uint64_t)osp_cut_offered(picking->cut, domain) * unit / size);
	osp_nodeset_clear(picking->chosen);
	while (wanted) {
		uint32_t domain = next_domain(picking, wanted);
		uint32_t take = domain == OSP_NO_DOMAIN ? 0 : picking->offers[domain];

		take = take < wanted ? take : wanted;
		if (!take)
			return false;
		osp_nodeset_clear(picking->domain);
		osp_topology_add_domain_nodes(picking->topology, domain, picking->domain);
		input->free = picking->domain;
		input->nodes = take * size;
		if (!osp_cut_pick(picking->cut, input, picking->part))
			return false;
		osp_nodeset_or(picking->chosen, picking->part);
		picking->offers[domain] = 0;
		wanted -= take;
	}
	return true;
}

/*
 * Picks nodes: in one domain of the lowest level that holds them, or else in as few of the highest
 * as possible.
 */
static bool pick_nodes(struct picking *picking, const struct osp_segments *segments, uint32_t nodes)
{
	uint32_t levels = osp_topology_level_count(picking->topology);
	const struct osp_segment *top =
		segments->count ? &segments->segment[segments->count - 1] : NULL;
	struct osp_cut_input input = {.nodes = nodes, .free = picking->all};

	for (uint32_t level = 1; level <= levels; level++) {
		input.level = level;
		input.domains_max = 1;
		input.segments = segments_below(segments, level);
		if (osp_cut_pick(picking->cut, &input, picking->chosen))
			return true;
	}
	if (!levels)
		return false;
	if (top && top->level == levels)
		return pick_apart(picking, &input, top->nodes);
	input.domains_max = UINT32_MAX;
	return osp_cut_pick(picking->cut, &input, picking->chosen) > 0;
}

/* Finds the nodes in a row that each level must hold for the groups to keep; 1: any do. */
static void find_needs(const struct osp_keeps *keeps, const struct osp_arrangement *arrangement,
		       uint32_t *need)
{
	for (uint32_t level = 0; level <= OSP_LEVELS_MAX; level++)
		need[level] = 1;
	for (uint32_t i = 0; i < keeps->count; i++) {
		const struct osp_keep *keep = &keeps->keep[i];
		uint32_t run = osp_arrangement_run_of(arrangement, keep->group);

		if (run > need[keep->level])
			need[keep->level] = run;
	}
}

/* Makes segments larger where the groups to keep need that. */
static struct osp_segments with_needs(const struct osp_segments *segments, const uint32_t *need,
				      uint32_t levels)
{
	struct osp_segments merged = {.count = 0};
	uint32_t below = 1, next = 0;

	for (uint32_t level = 1; level <= levels; level++) {
		uint32_t size = need[level];

		if (next < segments->count && segments->segment[next].level == level) {
			if (segments->segment[next].nodes > size)
				size = segments->segment[next].nodes;
			next++;
		}
		if (size <= below)
			continue;
		merged.segment[merged.count++] = (struct osp_segment){level, size};
		below = size;
	}
	return merged;
}

/*
 * Picks nodes in which the groups to keep are whole and the segments as large as the fabric holds
 * enough of: each level, from the lowest, gets the largest run with which it does. Returns false,
 * and leaves the side's segments, if it holds none of them.
 */
static bool pick_whole(struct picking *picking, const struct osp_keeps *keeps, const uint32_t *room,
		       struct osp_side *side)
{
	const struct osp_arrangement *arrangement = &side->arrangement;
	uint32_t levels = osp_topology_level_count(picking->topology), below = 1;
	uint32_t need[OSP_LEVELS_MAX + 1], nodes = arrangement->nodes;
	struct osp_segments found = {.count = 0}, tried;

	find_needs(keeps, arrangement, need);
	tried = with_needs(&side->segments, need, levels);
	if (pick_nodes(picking, &tried, nodes)) {
		side->segments = tried;
		return true;
	}
	for (uint32_t level = 1; level <= levels && room[level] < nodes; level++) {
		for (uint32_t i = arrangement->count; i-- > 0 && arrangement->run[i] > below;) {
			if (arrangement->run[i] > room[level])
				continue;
			found.segment[found.count++] =
				(struct osp_segment){level, arrangement->run[i]};
			tried = with_needs(&found, need, levels);
			if (pick_nodes(picking, &tried, nodes)) {
				below = arrangement->run[i];
				break;
			}
			found.count--;
		}
	}
	tried = with_needs(&found, need, levels);
	if (!tried.count || !pick_nodes(picking, &tried, nodes))
		return false;
	side->segments = tried;
	return true;
}

/* Chooses nodes without a job, as if all nodes of the fabric were free. */
static int choose_nodes(const struct osp_layout_plan_input *input, const uint32_t *room,
			struct osp_side *side, uint32_t nodes)
{
	static const struct osp_segments none = {.count = 0};
	static const struct osp_keeps no_keeps = {.count = 0};
	const struct osp_topology *topology = input->topology;
	struct picking picking;
	uint32_t count = 0;
	int rc = -1;

	if (!open_picking(&picking, topology))
		goto out;
	/* an arrangement that cannot keep what is asked is shown beside the other as it can be */
	side->whole = pick_whole(&picking, &input->keeps, room, side) ||
		      (input->keeps.count && pick_whole(&picking, &no_keeps, room, side));
	if (!side->whole && !pick_nodes(&picking, &none, nodes)) {
		/* nodes without a domain count too */
		osp_nodeset_clear(picking.chosen);
		for (uint32_t rank = 0; rank < nodes; rank++)
			osp_nodeset_add(picking.chosen, osp_topology_node_at_rank(topology, rank));
	}
	for (uint32_t node = osp_nodeset_next(picking.chosen, 0);
	     node < picking.chosen->place_count; node = osp_nodeset_next(picking.chosen, node + 1))
		side->nodes[count++] = node;
	rc = 0;
out:
	close_picking(&picking);
	return rc;
}

static int lay_out(const struct osp_layout_plan_input *input, uint32_t nodes, const uint32_t *room,
		   struct osp_side *side)
{
	const struct osp_topology *topology = input->topology;

	osp_arrangement_segments(&side->arrangement, room, osp_topology_level_count(topology),
				 &side->segments);
	side->nodes = calloc(nodes, sizeof(*side->nodes));
	side->node_at = calloc(nodes, sizeof(*side->node_at));
	if (!side->nodes || !side->node_at)
		return -1;
	side->whole = true;
	if (input->nodes)
		memcpy(side->nodes, input->nodes, nodes * sizeof(*side->nodes));
	else if (choose_nodes(input, room, side, nodes))
		return -1;
	if (osp_node_order(&side->arrangement, &side->segments, topology, side->nodes,
			   osp_first_name(topology, side->nodes, nodes), side->node_at))
		return -1;
	for (uint32_t rank = 0; rank < nodes; rank++)
		side->node_at[rank] = side->nodes[side->node_at[rank]];
	return 0;
}

static int spread_all(const struct osp_layout_plan_input *input, struct osp_side *side)
{
	for (int group = 0; group < OSP_GROUP_COUNT; group++) {
		if (osp_spread(&input->layout, input->gpus_per_node, (enum osp_group)group,
			       input->topology, side->node_at, input->model, &side->spread[group]))
			return -1;
	}
	side->keeps = true;
	for (uint32_t i = 0; i < input->keeps.count; i++) {
		const struct osp_keep *keep = &input->keeps.keep[i];

		if (side->spread[keep->group].most[keep->level] > 1)
			side->keeps = false;
	}
	return 0;
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Makes one side if groups cannot be aligned: the nodes in the fabric's order. */
static void arrange_plainly(struct osp_layout_plan *plan)
{
	struct osp_arrangement *arrangement = &plan->side[0].arrangement;

	plan->side_count = 1;
	memset(arrangement, 0, sizeof(*arrangement));
	arrangement->natural = true;
	arrangement->nodes = plan->nodes;
	arrangement->block = 1;
	arrangement->count = 1;
	arrangement->axis[0] = (struct osp_node_axis){.size = plan->nodes, .stride = 1};
	arrangement->run[0] = plan->nodes;
}

static void arrange_sides(struct osp_layout_plan *plan)
{
	struct osp_node_grid grid;

	if (osp_layout_node_grid(&plan->layout, plan->gpus_per_node, &grid, &plan->unaligned)) {
		arrange_plainly(plan);
		return;
	}
	osp_arrange(&grid, OSP_DATA_INSIDE, &plan->side[0].arrangement);
	osp_arrange(&grid, OSP_PIPELINE_INSIDE, &plan->side[1].arrangement);
	plan->side_count = osp_arrangements_differ(&grid) ? 2 : 1;
	if (plan->side_count == 1)
		plan->side[0].arrangement.natural = true;
}

/* Returns the highest level at which the nodes of either side are in several domains. */
static uint32_t thin_level(const struct osp_layout_plan *plan)
{
	uint32_t thin = 0;

	for (uint32_t i = 0; plan->topology && i < plan->side_count; i++) {
		const uint32_t *nodes = plan->side[i].nodes;

		for (uint32_t level = 1; level <= plan->levels; level++) {
			for (uint32_t n = 1; n < plan->nodes && level > thin; n++) {
				if (nodes[n] == OSP_NO_NODE || nodes[0] == OSP_NO_NODE ||
				    osp_topology_domain_of(plan->topology, nodes[n], level) !=
					    osp_topology_domain_of(plan->topology, nodes[0], level))
					thin = level;
			}
		}
	}
	return thin;
}

static const struct osp_spread *data_spread(const struct osp_layout_plan *plan,
					    const struct osp_side *side)
{
	return &side->spread[plan->layout.size[OSP_AXIS_CP] > 1 ? OSP_GROUP_DP_CP : OSP_GROUP_DP];
}

static void weigh(struct osp_layout_plan *plan, double weight)
{
	for (uint32_t i = 0; i < plan->side_count; i++) {
		struct osp_side *side = &plan->side[i];

		side->cost = plan->thin ? osp_spread_cost(data_spread(plan, side),
							  &side->spread[OSP_GROUP_PP], plan->thin,
							  weight)
					: 0;
	}
	for (uint32_t i = 1; i < plan->side_count; i++) {
		const struct osp_side *side = &plan->side[i], *best = &plan->side[plan->better];

		if (side->keeps != best->keeps ? side->keeps
		    : side->cost != best->cost ? side->cost < best->cost
					       : side->arrangement.natural)
			plan->better = i;
	}
}

/* Returns the lowest level at which either side holds every such group; -1: none. */
static int lowest_held(const struct osp_layout_plan *plan, enum osp_group group)
{
	int held = plan->side[0].spread[group].held;

	if (plan->side_count == 2 && plan->side[1].spread[group].held >= 0 &&
	    (held < 0 || plan->side[1].spread[group].held < held))
		held = plan->side[1].spread[group].held;
	return held;
}

/* Returns the nodes in a row that hold such a group in the arrangement that takes fewer. */
static uint32_t smallest_run(const struct osp_layout_plan *plan, enum osp_group group)
{
	uint32_t run = osp_arrangement_run_of(&plan->side[0].arrangement, group), other;

	if (plan->side_count == 1)
		return run;
	other = osp_arrangement_run_of(&plan->side[1].arrangement, group);
	return other < run ? other : run;
}

static int refuse_keep(const struct osp_layout_plan_input *input,
		       const struct osp_layout_plan *plan, const struct osp_keep *keep,
		       struct osp_error *error)
{
	const char *group = osp_group_name(keep->group);
	const char *level = osp_topology_level_name(input->topology, keep->level);
	int held = lowest_held(plan, keep->group);

	if (plan->unaligned.text[0])
		return osp_error_set(error, "--keep=%s:%s: %s", group, level, plan->unaligned.text);
	if (held >= 0 && held <= (int)keep->level)
		return osp_error_set(error,
				     "dp and pp groups cannot both lie in one %s: they cross each "
				     "other in the grid of nodes; keep one of them there",
				     level);
	return osp_error_set(
		error,
		"%s groups take %u nodes in a row, and not every one fits into one "
		"%s%s%s%s%s",
		group, smallest_run(plan, keep->group), level, held >= 0 ? "; keep " : "",
		held >= 0 ? group : "", held >= 0 ? ":" : "",
		held >= 0 ? osp_topology_level_name(input->topology, (uint32_t)held) : "");
}

/* Says which groups do not stay together as asked, and at which level they would. */
static int refuse_keeps(const struct osp_layout_plan_input *input,
			const struct osp_layout_plan *plan, struct osp_error *error)
{
	const struct osp_side *side = &plan->side[plan->better];

	for (uint32_t i = 0; i < input->keeps.count; i++) {
		const struct osp_keep *keep = &input->keeps.keep[i];

		if (side->spread[keep->group].most[keep->level] > 1)
			return refuse_keep(input, plan, keep, error);
	}
	return 0;
}

static int make_sides(const struct osp_layout_plan_input *input, struct osp_layout_plan *plan,
		      struct osp_error *error)
{
	uint32_t room[OSP_LEVELS_MAX + 1] = {0};

	if (input->topology && find_room(input, plan->nodes, room))
		return osp_error_set(error, "out of memory");
	for (uint32_t i = 0; i < plan->side_count; i++) {
		if ((input->topology && lay_out(input, plan->nodes, room, &plan->side[i])) ||
		    spread_all(input, &plan->side[i]))
			return osp_error_set(error, "out of memory");
	}
	return 0;
}

int osp_layout_plan_make(const struct osp_layout_plan_input *input, struct osp_layout_plan *plan,
			 struct osp_error *error)
{
	memset(plan, 0, sizeof(*plan));
	plan->layout = input->layout;
	plan->gpus_per_node = input->gpus_per_node;
	plan->nodes = osp_layout_ranks(&input->layout) / input->gpus_per_node;
	plan->topology = input->topology;
	plan->levels = input->topology ? osp_topology_level_count(input->topology) : 0;
	if (input->topology && !input->nodes &&
	    plan->nodes > osp_topology_node_count(input->topology))
		return osp_error_set(error, "the layout takes %u nodes, and the topology has %u",
				     plan->nodes, osp_topology_node_count(input->topology));
	arrange_sides(plan);
	if (make_sides(input, plan, error))
		return -1;
	plan->thin = thin_level(plan);
	weigh(plan, input->dp_weight);
	return plan->side[plan->better].keeps ? 0 : refuse_keeps(input, plan, error);
}

void osp_layout_plan_clear(struct osp_layout_plan *plan)
{
	for (uint32_t i = 0; i < 2; i++) {
		free(plan->side[i].nodes);
		free(plan->side[i].node_at);
	}
	memset(plan, 0, sizeof(*plan));
}

bool osp_layout_plan_shows(const struct osp_layout_plan *plan, enum osp_group group)
{
	const uint32_t *size = plan->layout.size;
	struct osp_groups groups;

	osp_layout_groups(&plan->layout, group, &groups);
	if (groups.size <= 1 || group == OSP_GROUP_ETP)
		return false;
	if (group == OSP_GROUP_DP_CP)
		return size[OSP_AXIS_CP] > 1 && size[OSP_AXIS_DP] > 1;
	if (group == OSP_GROUP_SHARD || group == OSP_GROUP_REPLICA)
		return size[OSP_AXIS_REPLICA] > 1;
	return true;
}

/* Returns the size of the segments at `level`, the most nodes in a row in one domain. */
static uint32_t most_together(const struct osp_layout_plan *plan, uint32_t level)
{
	const struct osp_side *side = &plan->side[plan->better];

	for (uint32_t i = side->segments.count; i-- > 0;) {
		if (side->segments.segment[i].level <= level)
			return side->segments.segment[i].nodes;
	}
	return 1;
}

bool osp_layout_plan_nvlink(const struct osp_layout_plan *plan, uint32_t stated, uint32_t *gpus)
{
	int level = plan->topology ? osp_topology_level(plan->topology, "nvlink") : -1;

	*gpus = plan->gpus_per_node;
	if (level > 0 && osp_topology_is_overlay(plan->topology, (uint32_t)level))
		return true; /* segments of the tree say nothing of it */
	if (level > 0)
		*gpus *= plan->thin < (uint32_t)level ? plan->nodes
						      : most_together(plan, (uint32_t)level);
	return stated <= *gpus;
}
