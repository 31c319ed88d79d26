/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_segments.c - which segments keep a layout's groups together */
#include "lib/layout/layout_segments.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_GROUPS (1u << OSP_GROUP_TP | 1u << OSP_GROUP_CP | 1u << OSP_GROUP_EP)

/* One arrangement, and what the groups to keep together need in it. */
struct side {
	struct osp_arrangement arrangement;
	uint32_t unfit; /* keeps that no domain of their level holds */
	uint64_t nodes; /* of all keeps' runs */
};

/* How many nodes the largest domain of each level below the gang's has; 1 at level 0. */
struct room {
	uint32_t nodes[OSP_LEVELS_MAX + 1];
	uint32_t end; /* the first level that is not below */
};

static const char *level_name(const struct osp_layout_segments_input *input, uint32_t level)
{
	return osp_topology_level_name(input->topology, level);
}

/* Returns whether the gang's level is an overlay: only nodes are below it, and nothing above. */
static bool beside_tree(const struct osp_layout_segments_input *input)
{
	return osp_topology_is_overlay(input->topology, input->level);
}

/* --- what cannot be asked --------------------------------------------------------------------- */

/* Refuses groups to keep in the gang's own domain: it holds them already, or is too small. */
static int refuse_own(const struct osp_layout_segments_input *input, const struct osp_keep *keep,
		      struct osp_error *error)
{
	const char *group = osp_group_name(keep->group), *level = level_name(input, keep->level);
	uint32_t nodes = osp_layout_ranks(&input->layout) / input->gpus_per_node;
	uint32_t largest = osp_segments_room(input->topology, keep->level), higher = keep->level;

	if (nodes <= largest)
		return osp_error_set(
			error, "--gang-keep=%s:%s: the whole gang lies in one %s; leave %s:%s out",
			group, level, level, group, level);
	while (++higher <= osp_topology_level_count(input->topology)) {
		if (osp_segments_room(input->topology, higher) >= nodes)
			return osp_error_set(error,
					     "--gang-keep=%s:%s: the gang has %u nodes, and the "
					     "largest %s has %u; ask for a higher level, as "
					     "--gang=%s",
					     group, level, nodes, level, largest,
					     level_name(input, higher));
	}
	return osp_error_set(error,
			     "--gang-keep=%s:%s: the gang has %u nodes, which no domain holds; ask "
			     "for fewer, or for several domains (--gang-domains)",
			     group, level, nodes);
}

static int check_keep(const struct osp_layout_segments_input *input, const struct osp_keep *keep,
		      struct osp_error *error)
{
	const char *group = osp_group_name(keep->group), *level = level_name(input, keep->level);
	const char *own = level_name(input, input->level);
	bool beside = beside_tree(input);
	struct osp_groups groups;

	osp_layout_groups(&input->layout, keep->group, &groups);
	if (groups.size <= 1)
		return osp_error_set(
			error, "--gang-keep=%s:%s: the layout has no %s groups; leave %s:%s out",
			group, level, group, group, level);
	if (keep->level < input->level && (!beside || keep->level == 0))
		return 0;
	if (beside)
		return osp_error_set(
			error,
			"--gang-keep=%s:%s: below %s, which is beside the tree, there "
			"are only nodes; leave %s:%s out, or ask for a level of the tree",
			group, level, own, group, level);
	if (keep->level == input->level && input->one_domain)
		return refuse_own(input, keep, error);
	return osp_error_set(error,
			     "--gang-keep=%s:%s: groups are kept in a level below the gang's, %s; "
			     "%s%s%s",
			     group, level, own, input->level > 1 ? "say " : "leave it out",
			     input->level > 1 ? group : "",
			     input->level > 1 ? ":LEVEL with one of those" : "");
}

/* Returns the lowest level below the gang's that holds `nodes` nodes; 0: none. */
static uint32_t level_that_holds(const struct room *room, uint32_t nodes)
{
	for (uint32_t level = 1; level < room->end; level++) {
		if (room->nodes[level] >= nodes)
			return level;
	}
	return 0;
}

/* Says which group does not fit, and at which level it would. */
static int refuse_keep(const struct osp_layout_segments_input *input, const struct room *room,
		       const struct osp_keep *keep, const struct side *side,
		       const struct side *other, struct osp_error *error)
{
	const char *group = osp_group_name(keep->group), *level = level_name(input, keep->level);
	uint32_t run = osp_arrangement_run_of(&side->arrangement, keep->group), holds;

	if (other &&
	    osp_arrangement_run_of(&other->arrangement, keep->group) <= room->nodes[keep->level])
		return osp_error_set(error,
				     "--gang-keep: dp and pp groups cannot both be kept there, for "
				     "they cross each other in the grid of nodes (%s would take %u "
				     "nodes, and the largest %s has %u); keep one of them",
				     group, run, level, room->nodes[keep->level]);
	holds = level_that_holds(room, run);
	if (holds)
		return osp_error_set(error,
				     "--gang-keep=%s:%s: %s groups take %u nodes in a row, and the "
				     "largest %s has %u; say %s:%s",
				     group, level, group, run, level, room->nodes[keep->level],
				     group, level_name(input, holds));
	return osp_error_set(error,
			     "--gang-keep=%s:%s: %s groups take %u nodes in a row, and the largest "
			     "%s has %u; no level below the gang's, %s, holds so many: leave %s:%s "
			     "out",
			     group, level, group, run, level, room->nodes[keep->level],
			     level_name(input, input->level), group, level);
}

/* --- the arrangement -------------------------------------------------------------------------- */

static void weigh(const struct osp_layout_segments_input *input, const struct room *room,
		  struct side *side)
{
	side->unfit = 0;
	side->nodes = 0;
	for (uint32_t i = 0; i < input->keeps.count; i++) {
		const struct osp_keep *keep = &input->keeps.keep[i];
		uint32_t run = osp_arrangement_run_of(&side->arrangement, keep->group);

		side->unfit += run > room->nodes[keep->level];
		side->nodes += run;
	}
}

static bool is_better(const struct side *side, const struct side *best)
{
	if (side->unfit != best->unfit)
		return side->unfit < best->unfit;
	if (side->nodes != best->nodes)
		return side->nodes < best->nodes;
	return side->arrangement.natural && !best->arrangement.natural;
}

static int find_grid(const struct osp_layout_segments_input *input, struct osp_node_grid *grid,
		     struct osp_error *error)
{
	struct osp_error inner = {.text = ""};

	if (osp_layout_node_grid(&input->layout, input->gpus_per_node, grid, &inner) == 0)
		return 0;
	return osp_error_set(error,
			     "--gang-layout: %s; take sizes that fill whole nodes, or leave it out",
			     inner.text);
}

/* Chooses the arrangement into `best`, or says which group fits in none. */
static int choose_side(const struct osp_layout_segments_input *input, const struct room *room,
		       struct side *best, struct osp_error *error)
{
	struct osp_node_grid grid;
	struct side other;
	bool differ;

	if (find_grid(input, &grid, error))
		return -1;
	differ = osp_arrangements_differ(&grid);
	osp_arrange(&grid, OSP_DATA_INSIDE, &best->arrangement);
	weigh(input, room, best);
	if (differ) {
		osp_arrange(&grid, OSP_PIPELINE_INSIDE, &other.arrangement);
		weigh(input, room, &other);
		if (is_better(&other, best)) {
			struct side first = *best;

			*best = other;
			other = first;
		}
	} else {
		best->arrangement.natural = true;
	}
	for (uint32_t i = 0; best->unfit && i < input->keeps.count; i++) {
		const struct osp_keep *keep = &input->keeps.keep[i];

		if (osp_arrangement_run_of(&best->arrangement, keep->group) >
		    room->nodes[keep->level])
			return refuse_keep(input, room, keep, best, differ ? &other : NULL, error);
	}
	return 0;
}

/* --- the segments ----------------------------------------------------------------------------- */

static bool names_block(const struct osp_keeps *keeps)
{
	for (uint32_t i = 0; i < keeps->count; i++) {
		if (BLOCK_GROUPS & 1u << keeps->keep[i].group)
			return true;
	}
	return false;
}

/* Says that no level below the gang's holds the block, and what would. */
static int refuse_block(const struct osp_layout_segments_input *input,
			const struct osp_arrangement *arrangement, struct osp_error *error)
{
	uint32_t levels = osp_topology_level_count(input->topology), holds = input->level;
	const char *own = level_name(input, input->level);
	char cure[160] = "leave out --gang-layout";

	while (holds <= levels && osp_segments_room(input->topology, holds) < arrangement->block)
		holds++;
	if (osp_segments_room(input->topology, input->level) >= arrangement->nodes)
		snprintf(cure, sizeof(cure),
			 "leave out --gang-domains, so that one %.40s holds them", own);
	else if (holds < levels)
		snprintf(cure, sizeof(cure), "ask for a higher level, as --gang=%.40s",
			 level_name(input, holds + 1));
	return osp_error_set(error,
			     "--gang-layout: tp, cp and ep groups take %u nodes in a row, which no "
			     "level below the gang's, %s, holds; %s",
			     arrangement->block, own, cure);
}

/*
 * Sets the wanted segment of each level to the largest run of the block that it holds, up to the
 * level that holds all of it.
 */
static int want_block(const struct osp_layout_segments_input *input, const struct room *room,
		      const struct osp_arrangement *arrangement, uint32_t *want,
		      struct osp_error *error)
{
	for (uint32_t level = 1; level < room->end; level++) {
		for (uint32_t i = 0; i < arrangement->count; i++) {
			uint32_t run = arrangement->run[i];

			if (run <= arrangement->block && run <= room->nodes[level] &&
			    run > want[level])
				want[level] = run;
		}
		if (want[level] >= arrangement->block)
			return 0;
	}
	/* several domains of an overlay are refused by whoever asks for them */
	if (arrangement->block == 1 || input->one_domain || beside_tree(input))
		return 0;
	return refuse_block(input, arrangement, error);
}

int osp_layout_segments_find(const struct osp_layout_segments_input *input,
			     struct osp_layout_segments *found, struct osp_error *error)
{
	uint32_t want[OSP_LEVELS_MAX + 1] = {0}, below = 1;
	struct room room = {.nodes = {1}, .end = beside_tree(input) ? 1 : input->level};
	struct side side;

	memset(found, 0, sizeof(*found));
	for (uint32_t i = 0; i < input->keeps.count; i++) {
		if (check_keep(input, &input->keeps.keep[i], error))
			return -1;
	}
	for (uint32_t level = 1; level < room.end; level++)
		room.nodes[level] = osp_segments_room(input->topology, level);
	if (choose_side(input, &room, &side, error))
		return -1;
	if (!names_block(&input->keeps) && want_block(input, &room, &side.arrangement, want, error))
		return -1;
	for (uint32_t i = 0; i < input->keeps.count; i++) {
		const struct osp_keep *keep = &input->keeps.keep[i];
		uint32_t run = osp_arrangement_run_of(&side.arrangement, keep->group);

		if (run > want[keep->level])
			want[keep->level] = run;
	}
	for (uint32_t level = 1; level < room.end; level++) {
		if (want[level] <= below)
			continue;
		below = want[level];
		found->segments.segment[found->segments.count++] =
			(struct osp_segment){level, want[level]};
	}
	found->natural = side.arrangement.natural;
	found->arrangement = side.arrangement;
	return 0;
}

int osp_layout_segments_of_stored(const struct osp_layout_stored *stored,
				  struct osp_layout_segments *found, struct osp_error *error)
{
	struct osp_layout_segments_input input = {
		.topology = stored->topology,
		.level = stored->level,
		.one_domain = stored->one_domain,
	};
	const uint32_t *size = input.layout.size;
	uint64_t ranks = 1;

	if (osp_layout_parse(stored->layout, &input.layout, error))
		return -1;
	for (int axis = OSP_AXIS_TP; axis <= OSP_AXIS_DP; axis++)
		ranks *= size[axis] ? size[axis] : 1;
	if (!stored->nodes || ranks % stored->nodes || ranks / stored->nodes > OSP_NODE_GPUS_MAX)
		return osp_error_set(error, "%s is no layout of %u nodes", stored->layout,
				     stored->nodes);
	input.gpus_per_node = (uint32_t)(ranks / stored->nodes);
	if (osp_layout_complete(&input.layout, stored->nodes, input.gpus_per_node, error) ||
	    (*stored->keep && osp_keeps_parse(stored->keep, input.topology, &input.keeps, error)))
		return -1;
	return osp_layout_segments_find(&input, found, error);
}

int osp_layout_segments_grow(const struct osp_topology *topology, uint32_t spares,
			     struct osp_segments *segments, struct osp_error *error)
{
	uint32_t unit = segments->count ? segments->segment[0].nodes : 0;

	for (uint32_t i = 0; spares && i < segments->count; i++) {
		struct osp_segment *segment = &segments->segment[i];
		uint32_t room = osp_segments_room(topology, segment->level);
		uint64_t all = (uint64_t)segment->nodes / unit * (unit + spares);

		if (all > room)
			return osp_error_set(
				error,
				"--gang-spares=%u/segment: the layout makes segments of %u nodes "
				"in one %s, with their spares %llu, and the largest %s has %u; ask "
				"for fewer spares, or keep smaller groups together",
				spares, segment->nodes,
				osp_topology_level_name(topology, segment->level),
				(unsigned long long)all,
				osp_topology_level_name(topology, segment->level), room);
		segment->nodes = (uint32_t)all;
	}
	return 0;
}
