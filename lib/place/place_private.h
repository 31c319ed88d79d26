/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_private.h - what the files of placement share: the scratch and the
 * steps of one decision
 *
 * A decision counts what each domain offers, leaf by leaf ("offers"), chooses
 * leaves in it, and sorts the domains by the result. If nodes differ only in
 * required and boot, it counts words of the bitmaps (a leaf is a few "pieces"
 * of words). If weights or kinds differ, and for starts in the future, it
 * counts nodes ("items").
 */
#ifndef OSP_PLACE_PRIVATE_H
#define OSP_PLACE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/place/place.h"
#include "lib/place/place_sort.h"

/*
 * One leaf of the fabric: a domain of level 1, or a node that has none. Leaves
 * are in order of ranks.
 */
struct osp_place_leaf {
	uint32_t first_rank;
	uint32_t node_count;
	uint32_t first_piece;
};

struct osp_place_piece {
	uint64_t mask;
	uint32_t word;
};

struct osp_place_item {
	uint32_t node;
	uint32_t leaf;
	uint32_t weight;
	uint16_t kind;
	bool boot;
	bool required;
	bool free; /* could be taken */
};

/* What one leaf offers to the gang. */
struct osp_place_offer {
	uint32_t leaf;
	uint32_t free;	/* nodes that could be taken */
	uint32_t fixed; /* taken in any case: required, or better than the last class */
	uint32_t open;	/* of the last class: equally good, some complete the gang */
	uint32_t take;	/* of `open`, as chosen */
	uint32_t group; /* offers of groups below osp_place.group_limit are looked at */
	bool eligible;
};

struct osp_place_group {
	uint32_t first; /* offers [first, end) */
	uint32_t end;
	bool touched;
};

struct osp_place_sums {
	uint32_t usable;
	uint32_t free;
	uint32_t required; /* of the usable */
	uint32_t required_free;
	uint32_t required_boot; /* of required_free */
	uint32_t open;
};

/* What a gang of `size` nodes would take in one domain. */
struct osp_place_plan {
	uint32_t size;
	uint32_t missing; /* how many of the last class complete it */
	uint64_t last;	  /* the last class, as from osp_place_class() */
	uint32_t boot_nodes;
	uint32_t weight;
	uint32_t leaves;
	uint32_t left_in_leaves;
};

/* The input of one call, corrected: sizes are consistent, arrays of equal
 * values are omitted. */
struct osp_place_call {
	uint32_t level;
	uint32_t need;
	uint32_t want;
	uint32_t required; /* how many, in any domain */
	uint32_t roomy;	   /* a remainder of so many nodes is not too short; 0: none is */
	bool special;	   /* there are required or boot nodes */
	bool free_only;
	bool by_time;
	const uint32_t *weight; /* NULL: all have same_weight */
	const uint16_t *kind;	/* NULL: all have same_kind */
	uint32_t same_weight;
	uint16_t same_kind;
	uint16_t kind_count;
};

/* Lists by time that are kept: hundreds of gangs wait for the same resources.
 */
struct osp_place_cache;

/*
 * The largest number of nodes left over in a choice of leaves that exact search
 * makes as small as possible.
 */
#define OSP_PLACE_SWAP_MAX 63
#define OSP_PLACE_BALANCES (2 * OSP_PLACE_SWAP_MAX + 1)
#define OSP_PLACE_STEPS	   (2 * OSP_PLACE_SWAP_MAX)

struct osp_place {
	const struct osp_topology *topology;
	uint32_t node_count;
	uint32_t word_count;
	uint32_t rank_count; /* the tree's, then each overlay's */
	uint32_t leaf_count; /* along these; in an overlay leaves are cut at its domains */
	uint32_t tree_leaf_count;
	uint32_t leaf_nodes_max;
	uint16_t kind_room;

	/* the fabric, since osp_place_new() */
	uint32_t *node_of_rank;
	uint32_t *leaf_of_rank;
	struct osp_place_leaf *leaves;	/* leaf_count + 1; the last only ends the pieces */
	struct osp_place_piece *pieces; /* of each leaf */
	uint32_t *largest_hold;		/* [k]: nodes of the k + 1 largest leaves */

	/* the call */
	struct osp_place_call call;
	uint64_t *usable; /* bitmaps of word_count words, the three others subsets of
                       the first */
	uint64_t *free;
	uint64_t *required;
	uint64_t *boot;

	/* the current domain */
	struct osp_place_item *items;
	uint32_t *listed; /* some of the items */
	uint64_t *values; /* for osp_place_nth() */
	uint32_t *kind_next;
	uint16_t *kinds_met;
	struct osp_place_offer *offers;
	uint32_t offer_count;
	uint32_t group_limit;
	struct osp_place_group *groups;
	uint32_t *group_keys;
	uint32_t *with_open; /* [x]: eligible leaves that offer x open nodes */
	uint32_t *use;	     /* [x]: how many of these are chosen */
	uint64_t (*reach)[OSP_PLACE_BALANCES];

	/* the answer */
	struct osp_place_domain *found;
	struct osp_place_domain *answer;
	uint32_t *keys;	 /* OSP_PLACE_KEY_WORDS words for each entry of `found` */
	uint32_t *order; /* also for groups and offers */
	uint32_t *spare;
	uint32_t found_count;
	uint32_t candidate_count;
	struct osp_place_cache *kept;
};

static inline bool osp_place_bit(const uint64_t *words, uint32_t node)
{
	return (words[node / 64] >> (node % 64)) & 1;
}

/*
 * Nodes of a lower class are taken before those of a higher one. A class is the
 * weight, and above it whether to boot.
 */
#define OSP_PLACE_BOOT ((uint64_t)1 << 32)

static inline uint64_t osp_place_class(const struct osp_place_item *item)
{
	return (item->boot ? OSP_PLACE_BOOT : 0) | item->weight;
}

/* --- place.c
 * ------------------------------------------------------------------------------------
 */

/*
 * Copies `input`, corrected, to place->call and the bitmaps. Returns false if
 * it can have no answer.
 */
bool osp_place_start(struct osp_place *place, const struct osp_place_input *input);

/* Adds an entry to the answer. */
struct osp_place_domain *osp_place_add(struct osp_place *place, uint32_t domain, uint16_t kind,
				       const struct osp_place_sums *sums);

/* Gives an entry its reason and short_nodes. Returns whether it is a candidate.
 */
bool osp_place_judge(const struct osp_place *place, const struct osp_place_sums *sums,
		     struct osp_place_domain *entry);

/* Chooses leaves from the offers and notes the result in `entry`. */
void osp_place_note(struct osp_place *place, struct osp_place_plan *plan,
		    struct osp_place_domain *entry);

const struct osp_place_domain *osp_place_finish(struct osp_place *place, uint32_t *candidate_count,
						uint32_t *domain_count);

/* --- place_cache.c
 * -------------------------------------------------------------------------------
 */

/* Makes a cache for lists of `domains_max` domains at most. Returns NULL if memory ran out. */
struct osp_place_cache *osp_place_cache_new(uint32_t node_count, uint32_t word_count,
					    uint32_t domains_max);
void osp_place_cache_free(struct osp_place_cache *kept); /* NULL is allowed */

/*
 * Copies the list that the call in place->call with these times got before to
 * place->answer. Returns false if none is kept; the caller then calls
 * osp_place_keep().
 */
bool osp_place_recall(struct osp_place *place, const int64_t *free_at_s, int64_t now_s,
		      uint32_t *candidate_count, uint32_t *domain_count);
void osp_place_keep(struct osp_place *place, uint32_t candidate_count, uint32_t domain_count);

/* --- place_count.c
 * ------------------------------------------------------------------------------
 */

/*
 * Counts the offers of a domain by words, with the best class as `open`.
 * osp_place_plan_counted() then makes the plan for a size.
 */
void osp_place_count(struct osp_place *place, uint32_t domain, struct osp_place_sums *sums);
void osp_place_plan_counted(struct osp_place *place, const struct osp_place_sums *sums,
			    uint32_t size, struct osp_place_plan *plan);

/* Sets all fields of the item for the node of a rank, as the call sees it. */
static inline void osp_place_fill_item(const struct osp_place *place, uint32_t rank,
				       struct osp_place_item *item)
{
	const struct osp_place_call *call = &place->call;
	uint32_t node = place->node_of_rank[rank];

	item->node = node;
	item->leaf = place->leaf_of_rank[rank];
	item->weight = call->weight ? call->weight[node] : call->same_weight;
	item->kind = call->kind ? call->kind[node] : call->same_kind;
	item->boot = osp_place_bit(place->boot, node);
	item->required = osp_place_bit(place->required, node);
	item->free = osp_place_bit(place->free, node);
}

/* Returns whether nodes differ in weight or kind, so that only items show what a
 * domain offers. */
static inline bool osp_place_needs_items(const struct osp_place *place)
{
	return place->call.kind || place->call.weight;
}

/*
 * Lists the usable nodes of a domain as items, one kind after the other, each
 * by rank. Returns how many.
 */
uint32_t osp_place_gather(struct osp_place *place, uint32_t domain);
uint32_t osp_place_kind_end(const struct osp_place *place, uint32_t first, uint32_t count);
void osp_place_sum(const struct osp_place *place, uint32_t first, uint32_t end,
		   struct osp_place_sums *sums);
/* Makes the offers of the free ones of items [first, end), and the plan for a
 * gang of `size`. */
void osp_place_plan_items(struct osp_place *place, uint32_t first, uint32_t end, uint32_t size,
			  struct osp_place_plan *plan);

/* --- place_pick.c, place_leaves.c
 * ---------------------------------------------------------------
 */

/* Sets `take` of the offers, and leaves and left_in_leaves of the plan. */
void osp_place_choose(struct osp_place *place, struct osp_place_plan *plan);

/*
 * Chooses into place->use the fewest leaves among the eligible offers [first,
 * end) that hold `rest` open nodes, at most `leaves_max`, with as few open
 * nodes left over in them as possible (`left`). Returns how many leaves; 0 if
 * there are not enough.
 */
uint32_t osp_place_fewest(struct osp_place *place, uint32_t first, uint32_t end, uint32_t rest,
			  uint32_t leaves_max, uint32_t *left);

#endif
