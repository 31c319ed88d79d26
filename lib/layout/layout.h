/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - how a training job is cut into parallel groups, and which ranks are in each
 *
 * A layout names the sizes of its axes and the framework, which determines in what order ranks run
 * along them. Axes and group rules, fastest axis first; the stride of an axis is the product of the
 * sizes before it:
 *
 *	megatron    tp cp dp pp     experts etp ep edp pp   Megatron-LM and Megatron-Bridge
 *	tp-pp-dp    tp cp pp dp     experts etp ep pp edp   the same with --use-tp-pp-dp-mapping;
 *	                                                    Llama 3
 *	torchtitan  tp cp dp pp     experts ep efsdp dp_replicate pp
 *	vllm        tp cp pp dp     experts: all ranks of one pipeline stage
 *	deepspeed   tp dp pp        experts etp ep edp pp, etp = tp
 *
 * Sources: Megatron-LM d98e8a64dd megatron/core/parallel_state.py (269-345, 465-560, 871-905) and
 * training/config/common_config.py; TorchTitan b5bcd76c6 torchtitan/distributed/parallel_dims.py;
 * vLLM vllm/distributed/parallel_state.py, initialize_model_parallel; DeepSpeed edaa72212
 * deepspeed/runtime/pipe/topology.py and utils/groups.py (304-500).
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_LAYOUT_H
#define OSP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_RANKS_MAX	       (131072u * 16) /* OSP_NODES_MAX nodes of 16 GPUs */
#define OSP_LAYOUT_TEXT_BYTES  160
#define OSP_NODE_GPUS_MAX      64
#define OSP_NODE_GPUS_STANDARD 8

enum osp_layout_order {
	OSP_ORDER_MEGATRON,
	OSP_ORDER_TP_PP_DP,
	OSP_ORDER_TORCHTITAN,
	OSP_ORDER_VLLM,
	OSP_ORDER_DEEPSPEED,
	OSP_ORDER_COUNT,
};

enum osp_layout_axis {
	OSP_AXIS_TP,	  /* tensor parallel */
	OSP_AXIS_CP,	  /* context parallel */
	OSP_AXIS_PP,	  /* pipeline parallel */
	OSP_AXIS_DP,	  /* data parallel in all: shards times replicas */
	OSP_AXIS_REPLICA, /* of dp: TorchTitan's dp_replicate, Megatron's optimizer instances */
	OSP_AXIS_EP,	  /* expert parallel */
	OSP_AXIS_ETP,	  /* the tensor parallel axis of experts */
	OSP_AXIS_COUNT,
};

/* Sizes by axis. 0: not given; osp_layout_complete() sets these. */
struct osp_layout {
	enum osp_layout_order order;
	uint32_t size[OSP_AXIS_COUNT];
};

/* Returns the name of an order, as in "megatron". */
const char *osp_layout_order_name(enum osp_layout_order order);

/*
 * Reads "tp8,pp8,dp8,ep16,order=megatron": axes and their sizes, each once, in any letter case;
 * "tp=8" too. Returns 0, or -1 with `error` set (its column is the byte in `text`, from 1) and
 * `layout` unchanged.
 */
int osp_layout_parse(const char *text, struct osp_layout *layout, struct osp_error *error);

/*
 * Writes the layout as text, without axes of size 1 and without the order megatron; "dp1" if
 * nothing is left. Returns `buffer`.
 */
const char *osp_layout_format(const struct osp_layout *layout, char *buffer, size_t buffer_bytes);

/*
 * Sets the sizes that were not given and checks all of them for `nodes` nodes of `gpus_per_node`
 * GPUs (at least 1; with 0 `nodes` as many as the layout needs). dp is what the other axes leave;
 * etp is tp for Megatron and DeepSpeed if there are experts. Returns 0, or -1 with a sentence in
 * `error` that says what to type instead; `layout` is then unchanged.
 */
int osp_layout_complete(struct osp_layout *layout, uint32_t nodes, uint32_t gpus_per_node,
			struct osp_error *error);

/* --- of a complete layout ----------------------------------------------------------------------
 */

uint32_t osp_layout_ranks(const struct osp_layout *layout);

enum osp_group {
	OSP_GROUP_TP,
	OSP_GROUP_CP,
	OSP_GROUP_DP,	   /* ranks that differ in data alone */
	OSP_GROUP_DP_CP,   /* among these Megatron reduces gradients if cp > 1 */
	OSP_GROUP_SHARD,   /* part of dp-cp: a set of shards; dp-cp if there are no replicas */
	OSP_GROUP_REPLICA, /* part of dp: ranks that hold the same shard */
	OSP_GROUP_PP,
	OSP_GROUP_ETP,
	OSP_GROUP_EP,
	OSP_GROUP_EDP, /* ranks that hold the same experts */
	OSP_GROUP_COUNT,
};

/* Returns the name of a group, as in "tp", "dp-cp", "dp shard". */
const char *osp_group_name(enum osp_group group);
/* Returns the group with that name in --gang-keep: tp, cp, dp, pp, ep. -1: none. */
int osp_group_find(const char *name);

/* One axis of a grid of ranks, and the groups inside which it runs. */
struct osp_grid_axis {
	uint32_t size;
	uint32_t stride; /* in ranks */
	uint32_t groups; /* bit g: it runs inside groups of kind g */
	const char *name;
};

#define OSP_GRID_AXES_MAX 6

/* Fastest first; the sizes multiply to the number of ranks. */
struct osp_grid {
	uint32_t count;
	struct osp_grid_axis axis[OSP_GRID_AXES_MAX];
};

/*
 * Makes the grids of a complete layout: one for attention and everything dense, one for experts
 * (count 0: none).
 */
void osp_layout_grids(const struct osp_layout *layout, struct osp_grid *dense,
		      struct osp_grid *experts);

/* All groups of one kind: `size` members each, 1 if nothing is cut along its axes. */
struct osp_groups {
	struct osp_grid grid;
	uint32_t bit;
	uint32_t size;
	uint32_t count;
	uint32_t stride; /* ranks from a member to the next */
};

void osp_layout_groups(const struct osp_layout *layout, enum osp_group group,
		       struct osp_groups *groups);

/* Returns the rank of `member` of the group `index`, in the framework's own order of both. */
uint32_t osp_groups_rank(const struct osp_groups *groups, uint32_t index, uint32_t member);

#endif
