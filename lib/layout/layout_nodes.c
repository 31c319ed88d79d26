/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_nodes.c - the grid of nodes that a layout makes, and its two arrangements */
#include "lib/layout/layout_nodes.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_GROUPS                                                                               \
	(1u << OSP_GROUP_TP | 1u << OSP_GROUP_CP | 1u << OSP_GROUP_EP | 1u << OSP_GROUP_ETP)
#define PIPELINE (1u << OSP_GROUP_PP)

/* --- the grid --------------------------------------------------------------------------------- */

/* The ranks at which both grids and the node are cut, ascending, each once. */
struct cuts {
	uint32_t count;
	uint32_t at[2 * OSP_GRID_AXES_MAX + 2];
};

static void add_cut(struct cuts *cuts, uint32_t at)
{
	uint32_t i = cuts->count;

	for (uint32_t j = 0; j < cuts->count; j++) {
		if (cuts->at[j] == at)
			return;
	}
	for (; i && cuts->at[i - 1] > at; i--)
		cuts->at[i] = cuts->at[i - 1];
	cuts->at[i] = at;
	cuts->count++;
}

static void cut_grid(struct cuts *cuts, const struct osp_grid *grid)
{
	for (uint32_t i = 0; i < grid->count; i++)
		add_cut(cuts, grid->axis[i].stride);
}

/* Returns the groups inside which the ranks [cut, next cut) run in that grid. */
static uint32_t groups_at(const struct osp_grid *grid, uint32_t cut)
{
	for (uint32_t i = 0; i < grid->count; i++) {
		const struct osp_grid_axis *axis = &grid->axis[i];

		if (axis->size > 1 && cut >= axis->stride && cut < axis->stride * axis->size)
			return axis->groups;
	}
	return 0;
}

/* Returns the axis that a node of `gpus` GPUs cuts unevenly; NULL: none. */
static const struct osp_grid_axis *straddling_axis(const struct osp_grid *grid, uint32_t gpus)
{
	for (uint32_t i = 0; i < grid->count; i++) {
		const struct osp_grid_axis *axis = &grid->axis[i];
		uint32_t end = axis->stride * axis->size;

		if (axis->size > 1 && end % gpus && gpus % end)
			return axis;
	}
	return NULL;
}

static int refuse_cuts(const struct osp_grid *dense, const struct osp_grid *experts, uint32_t gpus,
		       struct osp_error *error)
{
	const struct osp_grid_axis *axis = straddling_axis(dense, gpus);

	if (!axis)
		axis = straddling_axis(experts, gpus);
	if (axis)
		return osp_error_set(error,
				     "%s%u ends after %u GPUs, in the middle of a node of %u: its "
				     "groups fall across nodes, and no order of nodes aligns them",
				     axis->name, axis->size, axis->stride * axis->size, gpus);
	return osp_error_set(
		error,
		"experts are cut into blocks of %u GPUs, which are neither a part nor a "
		"multiple of what tp, cp and dp cut: no order of nodes keeps both whole",
		experts->axis[0].size * experts->axis[1].size);
}

int osp_layout_node_grid(const struct osp_layout *layout, uint32_t gpus_per_node,
			 struct osp_node_grid *grid, struct osp_error *error)
{
	uint32_t ranks = osp_layout_ranks(layout);
	struct osp_grid dense, experts;
	struct cuts cuts = {.count = 0};

	osp_layout_grids(layout, &dense, &experts);
	cut_grid(&cuts, &dense);
	cut_grid(&cuts, &experts);
	add_cut(&cuts, gpus_per_node);
	add_cut(&cuts, ranks);
	memset(grid, 0, sizeof(*grid));
	grid->gpus_per_node = gpus_per_node;
	grid->nodes = ranks / gpus_per_node;
	grid->order = layout->order;
	for (uint32_t i = 0; i + 1 < cuts.count; i++) {
		if (cuts.at[i + 1] % cuts.at[i])
			return refuse_cuts(&dense, &experts, gpus_per_node, error);
		if (cuts.at[i] < gpus_per_node)
			continue;
		grid->axis[grid->count++] = (struct osp_node_axis){
			.size = cuts.at[i + 1] / cuts.at[i],
			.stride = cuts.at[i] / gpus_per_node,
			.groups = groups_at(&dense, cuts.at[i]) | groups_at(&experts, cuts.at[i])};
	}
	return 0;
}

/* --- arrangements ----------------------------------------------------------------------------- */

const char *osp_inside_name(enum osp_inside inside)
{
	return inside == OSP_PIPELINE_INSIDE ? "pipeline inside" : "data inside";
}

/* Returns whether the axis belongs to the block that stays together in either arrangement. */
static bool is_block(const struct osp_node_grid *grid, const struct osp_node_axis *axis)
{
	/* vLLM spreads experts over all of dp, which is then no block. */
	uint32_t groups = grid->order == OSP_ORDER_VLLM ? 1u << OSP_GROUP_TP | 1u << OSP_GROUP_CP
							: BLOCK_GROUPS;

	return (axis->groups & groups) != 0 && !(axis->groups & PIPELINE);
}

/*
 * Appends the axes of the block, or those beside it that are pipeline or not, in their own order.
 */
static void take_axes(const struct osp_node_grid *grid, bool block, bool pipeline,
		      struct osp_arrangement *arrangement)
{
	for (uint32_t i = 0; i < grid->count; i++) {
		const struct osp_node_axis *axis = &grid->axis[i];
		bool is_pipeline = (axis->groups & PIPELINE) != 0;

		if (is_block(grid, axis) == block && (block || is_pipeline == pipeline))
			arrangement->axis[arrangement->count++] = *axis;
	}
}

void osp_arrange(const struct osp_node_grid *grid, enum osp_inside inside,
		 struct osp_arrangement *arrangement)
{
	uint32_t run = 1;

	memset(arrangement, 0, sizeof(*arrangement));
	arrangement->inside = inside;
	arrangement->nodes = grid->nodes;
	arrangement->natural = true;
	take_axes(grid, true, false, arrangement);
	arrangement->block = 1;
	for (uint32_t i = 0; i < arrangement->count; i++)
		arrangement->block *= arrangement->axis[i].size;
	take_axes(grid, false, inside == OSP_PIPELINE_INSIDE, arrangement);
	take_axes(grid, false, inside != OSP_PIPELINE_INSIDE, arrangement);
	for (uint32_t i = 0; i < arrangement->count; i++) {
		if (arrangement->axis[i].size > 1 && arrangement->axis[i].stride != run)
			arrangement->natural = false;
		run *= arrangement->axis[i].size;
		arrangement->run[i] = run;
	}
}

bool osp_arrangements_differ(const struct osp_node_grid *grid)
{
	bool pipeline = false, data = false;

	for (uint32_t i = 0; i < grid->count; i++) {
		const struct osp_node_axis *axis = &grid->axis[i];

		if (axis->size == 1 || is_block(grid, axis))
			continue;
		if (axis->groups & PIPELINE)
			pipeline = true;
		else
			data = true;
	}
	return pipeline && data;
}

uint32_t osp_arrangement_node_rank(const struct osp_arrangement *arrangement, uint32_t place)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < arrangement->count; i++) {
		rank += place % arrangement->axis[i].size * arrangement->axis[i].stride;
		place /= arrangement->axis[i].size;
	}
	return rank;
}

uint32_t osp_arrangement_run_of(const struct osp_arrangement *arrangement, enum osp_group group)
{
	uint32_t run = 1;

	for (uint32_t i = 0; i < arrangement->count; i++) {
		if (arrangement->axis[i].size > 1 && arrangement->axis[i].groups & 1u << group)
			run = arrangement->run[i];
	}
	return run;
}

void osp_arrangement_segments(const struct osp_arrangement *arrangement, const uint32_t *room,
			      uint32_t level_count, struct osp_segments *segments)
{
	uint32_t below = 1;

	segments->count = 0;
	for (uint32_t level = 1; level <= level_count; level++) {
		uint32_t nodes = 1;

		if (room[level] >= arrangement->nodes)
			return;
		for (uint32_t i = 0; i < arrangement->count; i++) {
			if (arrangement->run[i] <= room[level])
				nodes = arrangement->run[i];
		}
		if (nodes <= below)
			continue;
		segments->segment[segments->count++] = (struct osp_segment){level, nodes};
		below = nodes;
	}
}

uint32_t osp_first_name(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count)
{
	uint32_t first = UINT32_MAX, least = UINT32_MAX;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = nodes[i] == OSP_NO_NODE
					 ? UINT32_MAX
					 : osp_topology_name_place(topology, nodes[i]);

		if (place < least) {
			first = i;
			least = place;
		}
	}
	return first;
}
