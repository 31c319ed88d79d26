/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_traffic.h - what each group sends in a step, and over which level of the fabric
 *
 * Bytes are those that leave one GPU in one optimiser step. t, p, c, d, e: sizes of tp, pp, cp, dp,
 * ep; F: weights on the GPU; w, g, a: bytes of a weight, a gradient, an activation.
 *
 *	dp, ddp      2 (d-1)/d F g                    ring all-reduce
 *	dp, zero1    (d-1)/d F (g + w)                reduce-scatter and all-gather (Megatron's
 *	                                              distributed optimizer, ZeRO-1 and -2, FSDP
 *	                                              that keeps weights)
 *	dp, zero3    (d-1)/d F (2 w + g)              FSDP that gathers weights twice
 *	replicas     shards as above with d = shards; 2 (r-1)/r F g / shards
 *	edp          as dp, of the experts' weights
 *	tp           M l/p 8 b s/c h (t-1)/t a        four all-reduces a layer (Narayanan, arXiv
 *	                                              2104.04473, 3.2)
 *	pp           M v 2 b s/c h / t a              both directions, v chunks (the same, 2.2, 4.1)
 *	cp           M l/p 3 (c-1) 2 b s/c k / t a    k: width of keys; forward once, backward twice
 *	ep           M l/p 4 T topk h (e-1)/e a       dispatch and combine, both again backward;
 *	                                              T = b s/(c t)
 *
 * d of dp is dp x cp if cp > 1 (Megatron reduces over both). Each edge of a ring over nodes
 * carries what leaves one GPU; a ring meets its nodes in the order in which they first appear among
 * its ranks, as NCCL builds it (2.30.7 src/init.cc:1285). Pipelines send over the boundaries
 * between stages, all-to-all between all pairs.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_LAYOUT_TRAFFIC_H
#define OSP_LAYOUT_TRAFFIC_H

#include "lib/layout/layout_nodes.h"

enum osp_gradients { OSP_GRADIENTS_DDP, OSP_GRADIENTS_ZERO1, OSP_GRADIENTS_ZERO3 };

/* A model and its step. 0: not given. */
struct osp_model {
	double hidden;		 /* h */
	double layers;		 /* l */
	double sequence;	 /* s, tokens */
	double micro_batch;	 /* b, sequences */
	double micro_batches;	 /* M: of one step and data parallel rank */
	double ffn;		 /* width of the feed-forward layers; 4 h */
	double matrices;	 /* of a feed-forward layer: 2, with SwiGLU 3 */
	double heads;		 /* of attention */
	double kv_heads;	 /* as many as heads */
	double vocabulary;	 /* 0: its weights are left out */
	double experts;		 /* of a layer; 0: none */
	double top_k;		 /* experts per token */
	double expert_ffn;	 /* ffn */
	double node_limit;	 /* most nodes that a token goes to (DeepSeek-V3); 0: no limit */
	double parameters;	 /* of the whole model; 0: by its shape */
	double chunks;		 /* v of interleaved pipelines; 1 */
	double weight_bytes;	 /* 2 */
	double gradient_bytes;	 /* 2 */
	double activation_bytes; /* 2 */
	double dispatch_bytes;	 /* of an activation on its way to an expert: as others */
	double gpu_tflops;	 /* reached; 0: the time of a step is not wanted */
	enum osp_gradients gradients;
};

/*
 * Reads "h=12288,l=96,s=2048,b=1,M=64,P=175e9,dp=zero1": a key and a number, each key once. Keys: h
 * l s b M ffn swiglu heads kv vocab experts topk expert-ffn nodes P v w g a dispatch tflops, and
 * dp=ddp|zero1|zero3. Numbers may end in K, M, G, T (powers of 1000). Returns 0, or -1 with `error`
 * set (column: the byte in `text`, from 1) and `model` as it was. A key that is missing keeps its
 * value in `model`.
 */
int osp_model_parse(const char *text, struct osp_model *model, struct osp_error *error);

/*
 * Sets what was not given to its usual value. Returns 0, or -1 with `error` saying which of h, l, s
 * or heads is missing.
 */
int osp_model_complete(struct osp_model *model, struct osp_error *error);

/* --- of a complete model ---------------------------------------------------------------------- */

double osp_model_parameters(const struct osp_model *model); /* all */
double osp_model_expert_parameters(const struct osp_model *model);
/* Returns the seconds of a step at gpu_tflops; 0: not given. */
double osp_model_step_s(const struct osp_model *model, const struct osp_layout *layout);

/* Returns the weights of one GPU, without experts. */
double osp_traffic_weights(const struct osp_model *model, const struct osp_layout *layout);
/*
 * Returns the bytes that leave one GPU in a step for its group of that kind; 0 for a group of one.
 */
double osp_traffic_bytes(const struct osp_model *model, const struct osp_layout *layout,
			 enum osp_group group);
/* Returns the bytes of one hop of a pipeline: one micro-batch, one direction, one GPU. */
double osp_traffic_hop_bytes(const struct osp_model *model, const struct osp_layout *layout);
/*
 * Returns the bytes that one token sends over the network in one dispatch (or, with `back`, one
 * combine) of a layer.
 */
double osp_traffic_token_bytes(const struct osp_model *model, const struct osp_layout *layout,
			       bool back);

/* --- over an order of nodes ------------------------------------------------------------------- */

/* One kind of group over an order of nodes, level by level (0: the node). */
struct osp_spread {
	uint32_t most[OSP_LEVELS_MAX + 1]; /* domains of the level that one group touches at most */
	double mean[OSP_LEVELS_MAX + 1];   /* the average of that */
	double bytes[OSP_LEVELS_MAX + 1];  /* a step, of all groups, between domains of the level */
	int held; /* the lowest level at which every group is in one domain; -1 */
};

/*
 * Computes the spread of one kind of group. `node_at[r]` is the topology's node of node rank r
 * (OSP_NO_NODE: unknown, in a domain of its own at each level). NULL `topology`: only level 0. NULL
 * `model`: no bytes. Returns 0, or -1 if memory ran out.
 */
int osp_spread(const struct osp_layout *layout, uint32_t gpus_per_node, enum osp_group group,
	       const struct osp_topology *topology, const uint32_t *node_at,
	       const struct osp_model *model, struct osp_spread *spread);

/*
 * Returns the cost of an arrangement by spread alone: weight x D(dp) + (1 - weight) x D(pp), with D
 * the most domains of `level` that one group spans, 0 for one (ByteDance's Arnold, arXiv
 * 2509.15940, eq. 2 and 3).
 */
double osp_spread_cost(const struct osp_spread *dp, const struct osp_spread *pp, uint32_t level,
		       double weight);

#endif
