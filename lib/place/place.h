/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - which domain a gang goes to, and which nodes inside it
 *
 * Pure functions: the same input gives the same answer; nothing is read from anywhere else. A
 * candidate is one domain of the asked level (split by `kind` if kinds are given) that has enough
 * usable nodes for the gang. Candidates are ordered, best first; every other domain has a reason.
 *
 * Order of candidates
 *	1. enough free nodes for the wanted size; then the most free nodes, down to the needed size;
 *	   then domains that are not free now (only if free_only is not set);
 *	2. no node that must first be booted; then the fewest such nodes;
 *	3. the lowest weight (the largest weight among the nodes that would be taken, as small as
 *	   possible);
 *	4. the fewest leaves more than the size needs at least;
 *	5. no free node left in the leaves it touches;
 *	6. the domain whose remainder suffers least. A remainder is short by the nodes that it
 *	   lacks to one and a half times `largest_gang`; an empty one is not short. The increase
 *	   that the gang causes counts. Without `largest_gang` this rule does not apply;
 *	7. best fit: the fewest free nodes left in the leaves it touches, then in the domain;
 *	8. the lower domain number, the lower kind.
 *
 * Inside a domain: required nodes; nodes that need no boot before those that do; lighter nodes
 * first, as Slurm takes them; among equal ones the fewest leaves; among equally few leaves those in
 * few domains of each level between, from the top down; then the fewest free nodes left in them.
 *
 * The number of leaves is exact. The nodes left in them are the fewest possible if all nodes are of
 * one class, no level is between, and they cannot exceed 63; else they are nearly the fewest.
 *
 * Cost: linear in the nodes; 131,072 that differ in neither weight nor kind in under 1 ms
 * (doc/performance.md). Scratch: about 80 bytes per node and 300 per domain. Any thread. In
 * slurmctld also inside a scheduling call: only osp_place_new() takes memory, never a call that
 * decides. Sets may have another number of places than the topology: missing nodes are not in them,
 * and nodes beyond are ignored, but a required node there is one that no domain has.
 */
#ifndef OSP_PLACE_H
#define OSP_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/nodeset.h"
#include "lib/topology/topology.h"

struct osp_place_input {
	uint32_t level;	     /* 1 .. level count, or an overlay */
	uint32_t need_nodes; /* the least size that may start; at least 1 */
	uint32_t want_nodes; /* the size preferred; at least need_nodes */
	bool free_only;	     /* a domain with fewer than need_nodes free ones is no candidate */
	const struct osp_nodeset *usable; /* nodes the gang may get now or later */
	const struct osp_nodeset *free; /* the ones of these that seem free now; NULL: all usable */
	const struct osp_nodeset *boot; /* nodes that must first be started; NULL: none */
	const struct osp_nodeset *required; /* nodes that must be in the gang; NULL: none */
	const uint32_t *weight;		    /* by node; NULL: all equal */
	const uint16_t *kind; /* by node: kinds never mix in a gang; NULL: all alike */
	uint16_t kind_count;  /* kinds are 0 .. kind_count - 1; 0 with a NULL kind */
	/* parts.h: a gang in several domains lies in one of this topology's zones, if it has the
	 * level; NULL: no matter */
	const struct osp_topology *zoned;
	uint32_t largest_gang; /* nodes of the largest gang now waiting or running; 0: not known */
};

enum osp_place_reason {
	OSP_PLACE_CANDIDATE = 0,
	OSP_PLACE_TOO_SMALL, /* fewer usable nodes than needed; short_nodes says by how many */
	OSP_PLACE_NOT_FREE,  /* enough usable, too few of them free; short_nodes says how many */
	OSP_PLACE_REQUIRED,  /* lacks short_nodes of the required nodes */
};

#define OSP_PLACE_NEVER_S INT64_MAX

struct osp_place_domain {
	uint32_t domain;
	uint16_t kind;
	enum osp_place_reason reason;
	uint32_t usable_nodes;
	uint32_t free_nodes;	 /* osp_place_by_time(): of a candidate, by bound_s */
	uint32_t short_nodes;	 /* 0 for a candidate that could start now */
	uint32_t boot_nodes;	 /* among the nodes it would take */
	uint32_t weight;	 /* largest among the nodes it would take */
	uint32_t leaves;	 /* lowest-level domains that the nodes it would take touch */
	uint32_t leaves_least;	 /* the fewest that its size needs anywhere in the fabric */
	uint32_t left_in_leaves; /* free nodes left in the leaves touched */
	uint32_t left_in_domain; /* free nodes left in the domain */
	int64_t bound_s;	 /* osp_place_by_time(): not earlier than this; else 0 */
};

struct osp_place; /* scratch for one topology; not for two threads at once */

/*
 * Takes all memory that later calls need. `topology` must outlive it; `kind_count` is the number of
 * kinds. Returns NULL if memory ran out.
 */
struct osp_place *osp_place_new(const struct osp_topology *topology, uint16_t kind_count);
void osp_place_free(struct osp_place *place); /* NULL is allowed */

/*
 * Orders the domains of the asked level. Returns an array that lives in `place` until the next
 * call: `*candidate_count` candidates, then the rejected domains (fewest nodes short first) up to
 * `*domain_count`. Omits a domain without any usable node. Nodes unknown at the level belong to no
 * domain.
 */
const struct osp_place_domain *osp_place_order(struct osp_place *place,
					       const struct osp_place_input *input,
					       uint32_t *candidate_count, uint32_t *domain_count);

/*
 * Orders the domains for a start in the future. `free_at_s[node]` is when a usable node becomes
 * free (OSP_PLACE_NEVER_S: never); `input->free` is not used. Each candidate's bound_s is the
 * earliest time at which need_nodes of its usable nodes are free together, required ones among
 * them, but not before `now_s`. Candidates are ordered by it, and equal ones as above with the
 * nodes free by then. A domain that never has enough is rejected (OSP_PLACE_TOO_SMALL). Returns as
 * osp_place_order() does.
 */
const struct osp_place_domain *osp_place_by_time(struct osp_place *place,
						 const struct osp_place_input *input,
						 const int64_t *free_at_s, int64_t now_s,
						 uint32_t *candidate_count, uint32_t *domain_count);

/*
 * Chooses the nodes: as many of want_nodes as are free in the candidate, into `chosen` (cleared
 * first). `free` here is the set to choose from (for a future start: nodes free by bound_s).
 * Returns the number chosen; 0 if there are fewer than need_nodes or a required one is missing.
 * `chosen` may be one of the input's own sets.
 */
uint32_t osp_place_pick(struct osp_place *place, const struct osp_place_input *input,
			uint32_t domain, uint16_t kind, struct osp_nodeset *chosen);

#endif
