/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts.h - a gang in segments or in several domains, if nodes are of several kinds or zones
 *
 * Puts the question of segments.h for a gang as place.h describes it. Any thread; one scratch per
 * thread. No call takes memory.
 */
#ifndef OSP_PARTS_H
#define OSP_PARTS_H

#include "lib/place/place.h"
#include "lib/place/segments.h"

/* What a gang asks for besides its level and its nodes: a rule that no start breaks. */
struct osp_parts {
	uint32_t domains_max; /* of the gang's level; at least 1 */
	struct osp_segments segments;
};

/*
 * Reads what the user asked for as parts of this topology: `segments` ("" is none) as
 * osp_segments_parse() does, 0 domains as 1. Returns 0, or -1 with a sentence for the user.
 */
int osp_parts_read(uint32_t domains_max, const char *segments, const struct osp_topology *topology,
		   uint32_t level, struct osp_parts *parts, struct osp_error *error);

/*
 * Moves what was asked at `level` one level up; at the top level, allows any number of its domains.
 * Changes nothing at a zone, and at the level below allows one zone.
 */
void osp_parts_relax(struct osp_parts *parts, const struct osp_topology *topology, uint32_t *level);

/* Returns whether nothing is left of a rule: any number of domains, and no segments. */
bool osp_parts_anywhere(const struct osp_parts *parts);

/* Returns whether the nodes that a gang has obey what was asked at `level`, and lie in one zone. */
bool osp_parts_kept(struct osp_cut *cut, const struct osp_parts *parts, uint32_t level,
		    const struct osp_nodeset *nodes);

/* Returns whether there are several zones, of which a gang may use one. */
bool osp_parts_in_zones(const struct osp_place_input *place);

/* Returns how many kinds of nodes a gang may use; nodes of several zones are of several kinds. */
uint16_t osp_parts_kinds(const struct osp_place_input *place);

/*
 * Copies the nodes of one kind from `from` to `to` (as many places); only the required ones if
 * nodes are required. Returns how many.
 */
uint32_t osp_parts_keep_kind(const struct osp_place_input *place, const struct osp_nodeset *from,
			     uint16_t kind, struct osp_nodeset *to);

/* Returns the question for the gang of `place` on nodes of `from`, all of one kind. */
struct osp_cut_input osp_parts_input(const struct osp_parts *parts,
				     const struct osp_place_input *place,
				     const struct osp_nodeset *from);

/*
 * Judges whether the gang fits on nodes of `from`. The answer is for the kind that does best, which
 * `cut` has judged last. `scratch` is a set of as many places as `from`.
 */
void osp_parts_judge(struct osp_cut *cut, const struct osp_parts *parts,
		     const struct osp_place_input *place, const struct osp_nodeset *from,
		     struct osp_nodeset *scratch, struct osp_cut_answer *answer);

/*
 * Returns the largest number of nodes, below that of `place`, with which such a gang fits on nodes
 * of `from`, or 0. If a number fits, each smaller one does: a node is left out of the last segment.
 */
uint32_t osp_parts_most(struct osp_cut *cut, const struct osp_parts *parts,
			const struct osp_place_input *place, const struct osp_nodeset *from,
			struct osp_nodeset *scratch);

/* What a gang that does not fit could ask for instead. */
struct osp_parts_instead {
	uint32_t nodes;	      /* osp_parts_most(); 0 if nodes are required */
	uint32_t nodes_apart; /* so many fit in any number of domains, more than `nodes`: all of the
				 gang's, or fewer; 0: no more */
	bool smaller_segments; /* it fits with smaller segments */
	bool both;	       /* only with smaller segments in more domains */
};

/* Finds what such a gang could ask for, on nodes of `from`. `held`: in one domain only. */
void osp_parts_find_instead(struct osp_cut *cut, const struct osp_parts *parts,
			    const struct osp_place_input *place, const struct osp_nodeset *from,
			    bool held, struct osp_nodeset *scratch,
			    struct osp_parts_instead *instead);

#endif
