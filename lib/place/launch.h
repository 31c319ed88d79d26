/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch.h - chooses a gang's nodes if some of them have to be launched first
 *
 * A cloud reports the place of a node only when the node runs. A gang may get nodes that do not run
 * yet beside nodes of known places, if the known ones are all in one domain. The gang keeps the
 * largest part that is there already, and launches only as many nodes as are missing. The source is
 * asked for their places when they run (sched/shadow_launch.c). If something is known of the place
 * of a node that does not run (a capacity reservation's spine, and not its leaf), only nodes that
 * can come to be in one domain go together.
 *
 * Any thread: no state.
 */
#ifndef OSP_LAUNCH_H
#define OSP_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/nodeset.h"
#include "lib/topology/topology.h"

/* The name of the reservation that keeps nodes for a gang's next start, before the job's number. */
#define OSP_LAUNCH_RESERVATION "onespine_launch_"

/* Attempts for one question. */
#define OSP_LAUNCH_ATTEMPTS_MAX 4

struct osp_launch_input {
	const struct osp_topology *topology;
	uint32_t level; /* 1 .. level count */
	uint32_t need_nodes;
	const struct osp_nodeset
		*known; /* free to take; nodes in no domain of the level are ignored */
	const struct osp_nodeset
		*unlaunched; /* in no known domain of the level; none of them is in `known` */
	/* those of `unlaunched` whose domains above the level count where they are known; NULL:
	   none */
	const struct osp_nodeset *placed;
	const struct osp_nodeset *required; /* must be in the gang; NULL: none */
	const uint32_t *weight;		    /* by node, lower ones first; NULL: all alike */
	const uint16_t *kind;		    /* by node: kinds never mix; NULL: all alike */
	uint16_t kind_count;
};

/*
 * Fills `nodes` (of as many places as the sets) with the nodes of attempt number `attempt`:
 * need_nodes nodes, or with `whole` all that such a gang may get. The first attempt uses the domain
 * with the most known nodes, then that with the most unlaunched nodes known to be around it; the
 * last ones take only unlaunched nodes, of one domain of a level above and those of which nothing
 * is known. A domain with need_nodes known nodes needs no launch and has no attempt. Returns false
 * if there is no such attempt or memory ran out.
 */
bool osp_launch_nodes(const struct osp_launch_input *input, uint32_t attempt, bool whole,
		      struct osp_nodeset *nodes);

/*
 * Fills `part` with the largest part of `nodes` that is in one domain of `level`, the first of
 * equal ones. Ignores nodes in no domain. Returns the number of domains that hold any of `nodes`;
 * 0, with an empty part, also if memory ran out.
 */
uint32_t osp_launch_part(const struct osp_topology *topology, uint32_t level,
			 const struct osp_nodeset *nodes, struct osp_nodeset *part);

/* Returns whether `node` may come to be in `domain`, of `level`: the nearest domain that is known
 * of it, of the level or above, is `domain` or above that; or none is known. */
bool osp_launch_may_join(const struct osp_topology *topology, uint32_t level, uint32_t node,
			 uint32_t domain);

/* Returns whether `nodes` may come to be in one domain of `level`: on it and on each level above,
 * all those of known domain have the same. */
bool osp_launch_may_meet(const struct osp_topology *topology, uint32_t level,
			 const struct osp_nodeset *nodes);

/*
 * Returns whether there is any attempt if every node of the two sets is free; true also if memory
 * ran out.
 */
bool osp_launch_could(const struct osp_launch_input *input);

#endif
