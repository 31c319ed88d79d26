/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_reduce.h - all-reduces between the nodes of a gang: who with whom, and what came of it
 *
 * First one over the whole gang. Where its sum is right everywhere and its bus bandwidth is what the
 * nodes' limits ask for, all is well. Only where not there are pairs: each node with its neighbour,
 * all at once, and then those that were bad with somebody else, good ones first. A node is in one
 * all-reduce at a time, for two at once would measure half of the speed each. Whom to blame is
 * lib/gate/gate_links.h's to say, as over TCP: a pair is a link in both directions.
 *
 * Bus bandwidth is what nccl-tests call so (doc/PERFORMANCE.md there): of R ranks that sum S bytes in
 * t seconds it is S / t * 2 (R - 1) / R. What physics allows follows from that: each node must hear
 * at least the sum of all the others, S bytes, through its adapters, so S / t is at most what those
 * carry one way, however clever the algorithm. (Between two nodes rings and trees come to 15/8 of the
 * adapters' speed with 8 GPUs each: 2 p5.48xlarge show 441 GB/s with adapters of 400.)
 *
 * Pure: the same figures give the same answer. Any thread.
 */
#ifndef OSP_GATE_REDUCE_H
#define OSP_GATE_REDUCE_H

#include "lib/gate/gate_links.h"

#define OSP_GATE_PAIR_ROUNDS 3

/* The bus bandwidth that `gpus` ranks cannot exceed where each node's adapters carry `network_gbps`
 * gigabytes a second one way; 0 if that is not known. */
float osp_gate_reduce_most(float network_gbps, uint32_t gpus);

enum osp_gate_reduced {
	OSP_GATE_REDUCED_WELL,
	OSP_GATE_REDUCED_UNJUDGED, /* the sum is right; no limit of the speed is known */
	OSP_GATE_REDUCED_SLOW,
	OSP_GATE_REDUCED_WRONG,
	OSP_GATE_REDUCED_IMPOSSIBLE, /* faster than its adapters: what was measured is not it */
	OSP_GATE_REDUCED_BROKE,	     /* somebody has no figure */
};

/* What one group's all-reduce came to. */
struct osp_gate_sum {
	enum osp_gate_reduced state;
	float gbps;	  /* the slowest node's figure */
	float least_gbps; /* the least that all of them ask for; 0: one of them has no limit */
	uint32_t rank;	  /* the first that has something wrong, or no figure; NOBODY */
};

/* Judges the group of `order` by the parts of all nodes, by rank: what they told when they got ready,
 * and what came of this. */
struct osp_gate_sum osp_gate_reduce_judge(const struct osp_gate_reduce *order, uint32_t group,
					  const struct osp_gate_part *ready,
					  const struct osp_gate_part *done);

/*
 * The pairs of the next round, after `count` that have a figure (from < to). `fit` are the ranks that
 * may take part at all, limit_gbps what a good pair has. Nobody is in two of them, and none was there
 * before. 0 if there is nothing to learn; -1 when memory ran out. `pairs` has room for half of
 * node_count.
 */
int64_t osp_gate_pairs_next(const bool *fit, uint32_t node_count, const struct osp_gate_link *done,
			    uint32_t count, float limit_gbps, struct osp_gate_link *pairs);

/* Everybody's part in what the pairs say, by rank: the first `first_count` of `done` are the first
 * round. `least_gbps` as in struct osp_gate_sum. 0, or -1 when memory ran out. */
int osp_gate_pairs_judge(const struct osp_gate_link *done, uint32_t first_count, uint32_t count,
			 float least_gbps, uint32_t node_count, struct osp_gate_blamed *blamed);

/* Below this a pair is bad: a quarter of the median of the first round, or `least_gbps`. */
float osp_gate_pairs_limit(const struct osp_gate_link *done, uint32_t first_count,
			   float least_gbps);

#endif
