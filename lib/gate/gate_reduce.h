/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_reduce.h - all-reduces between the nodes of a gang: which groups to measure, and their
 * judgement
 *
 * The first all-reduce is over the whole gang. If its sum is right everywhere and its bus bandwidth
 * reaches the nodes' limits, nothing else is measured. Otherwise pairs are: each node with its
 * neighbour, all at once, and then each node of a bad pair with another partner, good ones first. A
 * node takes part in one all-reduce at a time, since two at once would each show half of the speed.
 * lib/gate/gate_links.h decides which node to blame, as over TCP: a pair is a link in both
 * directions.
 *
 * Bus bandwidth is defined as in nccl-tests (doc/PERFORMANCE.md there): if R ranks sum S bytes in t
 * seconds, it is S / t * 2 (R - 1) / R. From this follows the physical limit: each node must
 * receive at least the sum of all other nodes, S bytes, through its adapters, so no algorithm gets
 * S / t above what they carry one way. (Between two nodes of 8 GPUs each, rings and trees reach
 * 15/8 of the adapters' speed: 2 p5.48xlarge show 441 GB/s with adapters of 400.)
 *
 * Pure: the same figures give the same answer. Any thread.
 */
#ifndef OSP_GATE_REDUCE_H
#define OSP_GATE_REDUCE_H

#include "lib/gate/gate_links.h"

#define OSP_GATE_PAIR_ROUNDS 3

/* Returns the bus bandwidth that `gpus` ranks cannot exceed if each node's adapters carry
 * `network_gbps` gigabytes a second one way; 0 if `network_gbps` is 0, which means unknown. */
float osp_gate_reduce_most(float network_gbps, uint32_t gpus);

enum osp_gate_reduced {
	OSP_GATE_REDUCED_WELL,
	OSP_GATE_REDUCED_UNJUDGED, /* the sum is right; no speed limit is known */
	OSP_GATE_REDUCED_SLOW,
	OSP_GATE_REDUCED_WRONG,
	OSP_GATE_REDUCED_IMPOSSIBLE, /* faster than the adapters: something else was measured */
	OSP_GATE_REDUCED_BROKE,	     /* a node has no figure */
};

/* The result of one group's all-reduce. */
struct osp_gate_sum {
	enum osp_gate_reduced state;
	float gbps;	  /* the slowest node's figure, gigabytes a second */
	float least_gbps; /* the lowest limit of its nodes; 0: one of them has no limit */
	uint32_t rank;	  /* the first with a wrong sum or without a figure; else OSP_GATE_NOBODY */
};

/* Judges the group of `order` by the parts of all nodes, by rank: `ready` is what they reported
 * before the all-reduce, `done` what they reported after it. */
struct osp_gate_sum osp_gate_reduce_judge(const struct osp_gate_reduce *order, uint32_t group,
					  const struct osp_gate_part *ready,
					  const struct osp_gate_part *done);

/*
 * Chooses the pairs of the next round, after `count` pairs that have a figure (from < to). `fit`
 * says by rank who may take part; a good pair reaches limit_gbps. No rank is in two pairs, and no
 * pair is measured twice. Returns their number, 0 if there is nothing to learn, or -1 if memory ran
 * out. `pairs` has room for half of node_count.
 */
int64_t osp_gate_pairs_next(const bool *fit, uint32_t node_count, const struct osp_gate_link *done,
			    uint32_t count, float limit_gbps, struct osp_gate_link *pairs);

/* Finds each rank's blame from the pairs; the first `first_count` of `done` are the first round.
 * `least_gbps` is as in struct osp_gate_sum. Returns 0, or -1 if memory ran out. */
int osp_gate_pairs_judge(const struct osp_gate_link *done, uint32_t first_count, uint32_t count,
			 float least_gbps, uint32_t node_count, struct osp_gate_blamed *blamed);

/* Returns the speed below which a pair is bad: a quarter of the median of the first round, or
 * `least_gbps` if that is more. */
float osp_gate_pairs_limit(const struct osp_gate_link *done, uint32_t first_count,
			   float least_gbps);

#endif
