/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_groups.c - the grids of a layout, and which ranks are in each group */
#include "lib/layout/layout.h"

#include <string.h>
#include <strings.h>

#define IN(group) (1u << OSP_GROUP_##group)

static const char *const group_names[OSP_GROUP_COUNT] = {
	[OSP_GROUP_TP] = "tp",		[OSP_GROUP_CP] = "cp",
	[OSP_GROUP_DP] = "dp",		[OSP_GROUP_DP_CP] = "dp-cp",
	[OSP_GROUP_SHARD] = "dp shard", [OSP_GROUP_REPLICA] = "dp replicate",
	[OSP_GROUP_PP] = "pp",		[OSP_GROUP_ETP] = "etp",
	[OSP_GROUP_EP] = "ep",		[OSP_GROUP_EDP] = "edp",
};

const char *osp_group_name(enum osp_group group)
{
	return group_names[group];
}

int osp_group_find(const char *name)
{
	static const enum osp_group said[] = {OSP_GROUP_TP, OSP_GROUP_CP, OSP_GROUP_DP,
					      OSP_GROUP_PP, OSP_GROUP_EP};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!strcasecmp(name, group_names[said[i]]))
			return (int)said[i];
	}
	return -1;
}

static void add_axis(struct osp_grid *grid, const char *name, uint32_t size, uint32_t groups)
{
	struct osp_grid_axis *last = grid->count ? &grid->axis[grid->count - 1] : NULL;
	uint32_t stride = last ? last->stride * last->size : 1;

	grid->axis[grid->count++] = (struct osp_grid_axis){
		.size = size, .stride = stride, .groups = groups, .name = name};
}

static void add_pp(struct osp_grid *grid, const struct osp_layout *layout)
{
	add_axis(grid, "pp", layout->size[OSP_AXIS_PP], IN(PP));
}

static void add_dp(struct osp_grid *grid, const struct osp_layout *layout, uint32_t also)
{
	uint32_t replicas = layout->size[OSP_AXIS_REPLICA];

	add_axis(grid, "dp", layout->size[OSP_AXIS_DP] / replicas,
		 IN(DP) | IN(DP_CP) | IN(SHARD) | also);
	add_axis(grid, "dpr", replicas, IN(DP) | IN(DP_CP) | IN(REPLICA) | also);
}

/* Returns whether pipelines run inside data parallelism. */
static bool pp_is_inside(enum osp_layout_order order)
{
	return order == OSP_ORDER_TP_PP_DP || order == OSP_ORDER_VLLM;
}

static void make_dense(const struct osp_layout *layout, struct osp_grid *grid)
{
	/* vLLM spreads experts over all ranks of a stage. */
	bool vllm = layout->order == OSP_ORDER_VLLM && layout->size[OSP_AXIS_EP] > 1;
	uint32_t also = vllm ? IN(EP) : 0;

	grid->count = 0;
	add_axis(grid, "tp", layout->size[OSP_AXIS_TP], IN(TP) | also);
	add_axis(grid, "cp", layout->size[OSP_AXIS_CP], IN(CP) | IN(DP_CP) | IN(SHARD) | also);
	if (pp_is_inside(layout->order))
		add_pp(grid, layout);
	add_dp(grid, layout, also);
	if (!pp_is_inside(layout->order))
		add_pp(grid, layout);
}

static void make_experts(const struct osp_layout *layout, struct osp_grid *grid)
{
	const uint32_t *size = layout->size;
	uint32_t stage = size[OSP_AXIS_TP] * size[OSP_AXIS_CP] * size[OSP_AXIS_DP];
	uint32_t copies = stage / (size[OSP_AXIS_EP] * size[OSP_AXIS_ETP]);

	grid->count = 0;
	if (size[OSP_AXIS_EP] <= 1 || layout->order == OSP_ORDER_VLLM)
		return;
	add_axis(grid, "etp", size[OSP_AXIS_ETP], IN(ETP));
	add_axis(grid, "ep", size[OSP_AXIS_EP], IN(EP));
	if (pp_is_inside(layout->order))
		add_pp(grid, layout);
	if (layout->order == OSP_ORDER_TORCHTITAN) {
		add_axis(grid, "edp", copies / size[OSP_AXIS_REPLICA], IN(EDP));
		add_axis(grid, "dpr", size[OSP_AXIS_REPLICA], IN(EDP));
	} else {
		add_axis(grid, "edp", copies, IN(EDP));
	}
	if (!pp_is_inside(layout->order))
		add_pp(grid, layout);
}

void osp_layout_grids(const struct osp_layout *layout, struct osp_grid *dense,
		      struct osp_grid *experts)
{
	make_dense(layout, dense);
	make_experts(layout, experts);
}

uint32_t osp_layout_ranks(const struct osp_layout *layout)
{
	return layout->size[OSP_AXIS_TP] * layout->size[OSP_AXIS_CP] * layout->size[OSP_AXIS_PP] *
	       layout->size[OSP_AXIS_DP];
}

void osp_layout_groups(const struct osp_layout *layout, enum osp_group group,
		       struct osp_groups *groups)
{
	struct osp_grid experts;
	bool expert = group == OSP_GROUP_ETP || group == OSP_GROUP_EP || group == OSP_GROUP_EDP;

	memset(groups, 0, sizeof(*groups));
	osp_layout_grids(layout, &groups->grid, &experts);
	if (expert && experts.count)
		groups->grid = experts;
	groups->bit = 1u << group;
	groups->size = 1;
	for (uint32_t i = 0; i < groups->grid.count; i++) {
		const struct osp_grid_axis *axis = &groups->grid.axis[i];

		if (!(axis->groups & groups->bit) || axis->size == 1)
			continue;
		if (groups->size == 1)
			groups->stride = axis->stride;
		groups->size *= axis->size;
	}
	groups->count = osp_layout_ranks(layout) / groups->size;
}

uint32_t osp_groups_rank(const struct osp_groups *groups, uint32_t index, uint32_t member)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < groups->grid.count; i++) {
		const struct osp_grid_axis *axis = &groups->grid.axis[i];
		uint32_t *digits = axis->groups & groups->bit ? &member : &index;

		rank += *digits % axis->size * axis->stride;
		*digits /= axis->size;
	}
	return rank;
}
