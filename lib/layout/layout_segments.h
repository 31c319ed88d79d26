/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_segments.h - the segments to request from the scheduler so that a layout's groups stay
 * together
 *
 * There are two rules. Each group to keep (osp_keep) is in one domain of its level: the segment
 * there is the smallest run of nodes that holds every such group whole (osp_arrangement_run_of()).
 * And if no tp, cp or ep group is named, their block is as low as possible: each level below the
 * gang's gets the largest run of the block that a domain of it holds, up to the level that holds
 * all of it. Nothing is decided between dp and pp unless the user asked. Runs are products of the
 * same sizes, so each segment divides the next.
 *
 * Of the two arrangements (layout_nodes.h) the one is used in which the named groups fit, then the
 * one in which they take fewer nodes, then the framework's own.
 *
 * Any thread, any daemon: no shared state, no allocation. Cost: linear in domains.
 */
#ifndef OSP_LAYOUT_SEGMENTS_H
#define OSP_LAYOUT_SEGMENTS_H

#include "lib/layout/layout_plan.h"

struct osp_layout_segments_input {
	struct osp_layout layout; /* complete */
	uint32_t gpus_per_node;
	const struct osp_topology *topology;
	uint32_t level;	 /* of the gang's domains: 1 .. level count */
	bool one_domain; /* the gang is in one of them */
	struct osp_keeps keeps;
};

struct osp_layout_segments {
	struct osp_segments
		segments; /* all below the gang's level; none if a node holds every group */
	bool natural; /* groups stay together in the framework's own order of node ranks, else in
		       * that of osp_node_order() */
	struct osp_arrangement arrangement;
};

/*
 * Finds the segments. Returns 0, or -1 with a sentence in `error` that names --gang-keep or
 * --gang-layout and says what to ask instead: for a group that the layout does not have or that no
 * domain holds, a level that is not below the gang's, dp and pp in one domain, and groups that no
 * order of nodes aligns.
 */
int osp_layout_segments_find(const struct osp_layout_segments_input *input,
			     struct osp_layout_segments *found, struct osp_error *error);

/* A layout as stored with a job (lib/policy/effective.h). */
struct osp_layout_stored {
	const char *layout; /* with its dp, so that its sizes give the GPUs of a node */
	const char *keep;   /* "": nothing */
	const struct osp_topology *topology;
	uint32_t level;
	bool one_domain;
	uint32_t nodes; /* that the job keeps: without its spares */
};

/* Finds the segments of a stored layout. Returns 0, or -1 with a sentence in `error` if the layout
 * has another number of nodes, or cannot be laid on this fabric. */
int osp_layout_segments_of_stored(const struct osp_layout_stored *stored,
				  struct osp_layout_segments *found, struct osp_error *error);

/*
 * Makes a layout's segments larger by `spares` spares in each of the lowest (lib/policy/spares.h);
 * 0: leaves them as they are. Returns 0, or -1 with a sentence in `error`, and the segments spoilt,
 * if no domain holds one.
 */
int osp_layout_segments_grow(const struct osp_topology *topology, uint32_t spares,
			     struct osp_segments *segments, struct osp_error *error);

#endif
