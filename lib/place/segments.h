/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.h - a gang cut into nested segments over a few domains: whether it fits, and on which
 * nodes
 *
 * A gang of N nodes is in at most `domains_max` domains of one level. It may be cut into segments:
 * sets of S1 nodes, each in one domain of a lower level; these join into sets of S2 = m S1, each in
 * one domain of a level between; and so on. If N is no multiple, the last segment of each level is
 * smaller; it too is in one domain, cut like the others.
 *
 * Exact: if any choice of nodes fits, one is found, in the fewest possible domains of the gang's
 * level. A domain offers floor(what its parts offer / m) segments, from the bottom up; the smaller
 * last segment goes where it costs the fewest whole ones. Among choices of equally few domains,
 * those that hold an even share with the fewest left over are taken; if too few domains hold an
 * even share, the largest, as evenly as they can. Inside a domain the parts with the most segments
 * come first, then the smallest that holds the rest; in the lowest ones, nodes that need no boot
 * come before those that do, and lighter ones first, as Slurm takes them.
 *
 * Nodes are of one kind: the caller leaves others out of `free`. Cost: linear in nodes and domains
 * (131,072 nodes with two nested segments: doc/performance.md). Scratch: about 8 bytes per node and
 * 60 per domain, taken by osp_cut_new() and by no call that decides. Any thread; one scratch per
 * thread.
 */
#ifndef OSP_SEGMENTS_H
#define OSP_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/nodeset.h"
#include "lib/topology/topology.h"

/* Sets of `nodes` nodes, each in one domain of `level`. */
struct osp_segment {
	uint32_t level; /* 1 .. level count, or the crossings of an overlay with the gang's level */
	uint32_t nodes;
};

/* Nested, lowest level first; each divides the next. */
struct osp_segments {
	uint32_t count;
	struct osp_segment segment[OSP_LEVELS_MAX];
};

/*
 * Reads "nvlink:16,leaf:32", levels in any order, as levels of the topology below `level`. A level
 * beside the tree may be the only one: its segments lie in the crossings with `level`. Returns 0,
 * or -1 with `error` set (its column is the byte in `text`, from 1): an unknown level (with the
 * nearest right one), a size that does not divide the next, one that no domain of its level holds,
 * or levels that do not nest (with a domain that crosses).
 */
int osp_segments_parse(const char *text, const struct osp_topology *topology, uint32_t level,
		       struct osp_segments *segments, struct osp_error *error);

/* Returns how many nodes the largest domain of `level` (an overlay's or crossings too) has. */
uint32_t osp_segments_room(const struct osp_topology *topology, uint32_t level);

/* Writes segments as "nvlink:16,leaf:32". Returns `buffer`. */
const char *osp_segments_format(const struct osp_segments *segments,
				const struct osp_topology *topology, char *buffer,
				size_t buffer_bytes);

struct osp_cut_input {
	uint32_t level;			/* of the gang's domains: 1 .. level count */
	uint32_t domains_max;		/* of that level; at least 1 */
	uint32_t nodes;			/* of the gang; at least 1 */
	struct osp_segments segments;	/* all below `level` */
	const struct osp_nodeset *free; /* to choose from */
	const struct osp_nodeset
		*boot;		/* the ones of these that must first be booted; NULL: none */
	const uint32_t *weight; /* by node; NULL: all equal */
};

struct osp_cut_answer {
	bool fits;
	uint32_t domains;	/* of the gang's level that it takes; 0: it does not fit */
	uint32_t whole_needed;	/* segments of the highest level (nodes without segments) */
	uint32_t whole_offered; /* by the best domains_max domains, beside the smaller last one */
	bool last_fits;		/* a smaller last segment fits somewhere, or there is none */
};

struct osp_cut;

/* Returns NULL if memory ran out. `topology` must outlive it. */
struct osp_cut *osp_cut_new(const struct osp_topology *topology);
void osp_cut_free(struct osp_cut *cut); /* NULL is allowed */

/* Returns osp_topology_in_one_zone() of its topology. */
bool osp_cut_in_one_zone(const struct osp_cut *cut, const struct osp_nodeset *nodes);

/* Decides whether the gang fits. */
void osp_cut_judge(struct osp_cut *cut, const struct osp_cut_input *input,
		   struct osp_cut_answer *answer);

/*
 * Chooses the nodes into `chosen` (as many places as the topology has nodes; cleared first).
 * Returns how many: `input->nodes`, or 0 if the gang does not fit. `chosen` may not be one of the
 * input's sets.
 */
uint32_t osp_cut_pick(struct osp_cut *cut, const struct osp_cut_input *input,
		      struct osp_nodeset *chosen);

/*
 * Returns how many segments of the highest level `domain`, one of the gang's level, holds without a
 * smaller last one, after a judgement; for sentences. Without segments: its nodes.
 */
uint32_t osp_cut_offered(const struct osp_cut *cut, uint32_t domain);

#endif
