/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_traffic.c - the bytes that leave a GPU in a step, group by group */
#include "lib/layout/layout_traffic.h"

static double size_of(const struct osp_layout *layout, enum osp_layout_axis axis)
{
	return layout->size[axis];
}

static double sequence_share(const struct osp_model *model, const struct osp_layout *layout)
{
	return model->micro_batch * model->sequence / size_of(layout, OSP_AXIS_CP);
}

static double stage_layers(const struct osp_model *model, const struct osp_layout *layout)
{
	return model->layers / size_of(layout, OSP_AXIS_PP);
}

double osp_traffic_weights(const struct osp_model *model, const struct osp_layout *layout)
{
	double dense = osp_model_parameters(model) - osp_model_expert_parameters(model);

	return dense > 0 ? dense / (size_of(layout, OSP_AXIS_TP) * size_of(layout, OSP_AXIS_PP))
			 : 0;
}

static double expert_weights(const struct osp_model *model, const struct osp_layout *layout)
{
	return osp_model_expert_parameters(model) /
	       (size_of(layout, OSP_AXIS_EP) * size_of(layout, OSP_AXIS_ETP) *
		size_of(layout, OSP_AXIS_PP));
}

/*
 * Returns the bytes to reduce gradients among `members`, and to gather weights if these are
 * sharded.
 */
static double gradient_bytes(const struct osp_model *model, double weights, double members)
{
	double g = model->gradient_bytes, w = model->weight_bytes;

	switch (model->gradients) {
	case OSP_GRADIENTS_DDP:
		break;
	case OSP_GRADIENTS_ZERO1:
		return (members - 1) / members * weights * (g + w);
	case OSP_GRADIENTS_ZERO3:
		return (members - 1) / members * weights * (2 * w + g);
	}
	return 2 * (members - 1) / members * weights * g;
}

/*
 * Returns the bytes of data parallelism: among all ranks, or among shards and among replicas
 * separately.
 */
static double data_bytes(const struct osp_model *model, const struct osp_layout *layout,
			 enum osp_group group)
{
	double weights = osp_traffic_weights(model, layout), c = size_of(layout, OSP_AXIS_CP);
	double d = size_of(layout, OSP_AXIS_DP), r = size_of(layout, OSP_AXIS_REPLICA);

	if (group == OSP_GROUP_SHARD)
		return r > 1 ? gradient_bytes(model, weights, c * d / r) : 0;
	if (group == OSP_GROUP_REPLICA)
		return 2 * (r - 1) / r * weights * model->gradient_bytes / (c * d / r);
	if (r > 1 || (group == OSP_GROUP_DP) != (c <= 1))
		return 0;
	return gradient_bytes(model, weights, c * d);
}

static double tensor_bytes(const struct osp_model *model, const struct osp_layout *layout)
{
	double t = size_of(layout, OSP_AXIS_TP);

	return model->micro_batches * stage_layers(model, layout) * 8 *
	       sequence_share(model, layout) * model->hidden * (t - 1) / t *
	       model->activation_bytes;
}

static double context_bytes(const struct osp_model *model, const struct osp_layout *layout)
{
	double c = size_of(layout, OSP_AXIS_CP), t = size_of(layout, OSP_AXIS_TP);
	double keys = model->hidden * model->kv_heads / model->heads / t;

	return model->micro_batches * stage_layers(model, layout) * 3 * (c - 1) * 2 *
	       sequence_share(model, layout) * keys * model->activation_bytes;
}

static double tokens_of_gpu(const struct osp_model *model, const struct osp_layout *layout)
{
	return sequence_share(model, layout) / size_of(layout, OSP_AXIS_TP);
}

static double expert_bytes(const struct osp_model *model, const struct osp_layout *layout)
{
	double e = size_of(layout, OSP_AXIS_EP);

	return model->micro_batches * stage_layers(model, layout) * 2 *
	       tokens_of_gpu(model, layout) * model->top_k * model->hidden * (e - 1) / e *
	       (model->dispatch_bytes + model->activation_bytes);
}

double osp_traffic_hop_bytes(const struct osp_model *model, const struct osp_layout *layout)
{
	return sequence_share(model, layout) * model->hidden / size_of(layout, OSP_AXIS_TP) *
	       model->activation_bytes;
}

double osp_traffic_token_bytes(const struct osp_model *model, const struct osp_layout *layout,
			       bool back)
{
	double e = size_of(layout, OSP_AXIS_EP);
	double bytes = model->hidden * (back ? model->activation_bytes : model->dispatch_bytes);

	if (model->node_limit > 0 && model->node_limit < model->top_k)
		return model->node_limit * bytes;
	return model->top_k * (e - 1) / e * bytes;
}

double osp_traffic_bytes(const struct osp_model *model, const struct osp_layout *layout,
			 enum osp_group group)
{
	struct osp_groups groups;

	osp_layout_groups(layout, group, &groups);
	if (groups.size <= 1)
		return 0;
	switch (group) {
	case OSP_GROUP_TP:
		return tensor_bytes(model, layout);
	case OSP_GROUP_CP:
		return context_bytes(model, layout);
	case OSP_GROUP_PP:
		return model->micro_batches * model->chunks * 2 *
		       osp_traffic_hop_bytes(model, layout);
	case OSP_GROUP_EP:
		return model->experts > 0 ? expert_bytes(model, layout) : 0;
	case OSP_GROUP_EDP:
		return gradient_bytes(model, expert_weights(model, layout), groups.size);
	case OSP_GROUP_DP:
	case OSP_GROUP_DP_CP:
	case OSP_GROUP_SHARD:
	case OSP_GROUP_REPLICA:
		return data_bytes(model, layout, group);
	case OSP_GROUP_ETP:
	case OSP_GROUP_COUNT:
		break;
	}
	return 0;
}
