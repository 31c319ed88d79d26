/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_plan.h - a layout on nodes, with dp and with pp over the thin layer, side by side
 *
 * The published rules contradict each other: ByteDance keeps pipelines together, Alibaba lets only
 * pipelines cross pods, Meta only gradients. So both arrangements are made, and a weight decides:
 * the one with the smaller osp_spread_cost() at the thin level wins, the highest level at which the
 * gang is in several domains. If both cost the same, the framework's own order wins.
 *
 * Any thread, any daemon: no shared state. Takes memory in the order of nodes and domains.
 */
#ifndef OSP_LAYOUT_PLAN_H
#define OSP_LAYOUT_PLAN_H

#include "lib/layout/layout_nodes.h"
#include "lib/layout/layout_traffic.h"

/*
 * The weight of dp in ByteDance's own job of 24 billion weights with experts; it is never above 0.5
 * there (arXiv 2509.15940, 5).
 */
#define OSP_DP_WEIGHT_STANDARD 0.3

#define OSP_KEEPS_MAX	       4

/* Groups that must be in one domain of a level. */
struct osp_keep {
	enum osp_group group;
	uint32_t level;
};

struct osp_keeps {
	uint32_t count;
	struct osp_keep keep[OSP_KEEPS_MAX];
};

/* Reads "pp:leaf,ep:nvlink": tp, cp, dp, pp or ep and a level (node too). Returns 0, or -1 with
 * `error` set (its column is the byte in `text`, from 1). */
int osp_keeps_parse(const char *text, const struct osp_topology *topology, struct osp_keeps *keeps,
		    struct osp_error *error);

struct osp_layout_plan_input {
	struct osp_layout layout; /* complete */
	uint32_t gpus_per_node;
	const struct osp_topology *topology; /* NULL: the fabric is unknown */
	const uint32_t
		*nodes; /* the gang's nodes in the topology; NULL: the best of an empty fabric */
	const struct osp_model *model; /* complete; NULL: no bytes */
	double dp_weight;	       /* 0 .. 1 */
	struct osp_keeps keeps;
};

struct osp_side {
	struct osp_arrangement arrangement;
	struct osp_segments segments;
	uint32_t *nodes;   /* of the topology; NULL without one */
	uint32_t *node_at; /* by node rank: the topology's node; NULL without a topology */
	struct osp_spread spread[OSP_GROUP_COUNT];
	double cost; /* at the thin level */
	bool keeps;  /* all that must stay together does */
	bool whole;  /* the nodes were found with whole segments */
};

struct osp_layout_plan {
	struct osp_layout layout;
	uint32_t gpus_per_node, nodes, levels;
	const struct osp_topology *topology;
	struct osp_side side[2];
	uint32_t side_count;	    /* 1: there is nothing to choose */
	uint32_t better;	    /* index of a side */
	uint32_t thin;		    /* 0: the gang is in one domain, or nothing is known */
	struct osp_error unaligned; /* why no arrangement keeps groups whole; "": one does */
};

/*
 * Makes the plan. Returns 0, or -1 with `error` set: too few nodes in the topology, groups that
 * cannot stay together as asked, or no memory. The caller clears the plan in either case.
 */
int osp_layout_plan_make(const struct osp_layout_plan_input *input, struct osp_layout_plan *plan,
			 struct osp_error *error);
void osp_layout_plan_clear(struct osp_layout_plan *plan);

/*
 * Returns whether tables show the groups: not those of one rank, nor a second name for the same
 * ranks.
 */
bool osp_layout_plan_shows(const struct osp_layout_plan *plan, enum osp_group group);

/*
 * Returns whether the plan agrees with what a user states about NVLink domains. `gpus` gets how
 * many GPUs of the gang an NVLink domain really holds (the node's, if the topology has no level
 * nvlink).
 */
bool osp_layout_plan_nvlink(const struct osp_layout_plan *plan, uint32_t stated, uint32_t *gpus);

#endif
