/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_count.c - what a domain offers to a gang, leaf by leaf
 */
#include "lib/place/place_private.h"

#include <string.h>

/* Counts the bits in a dozen operations; the builtin is a call without -mpopcnt. */
static uint32_t count_bits(uint64_t bits)
{
	bits -= (bits >> 1) & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + ((bits >> 2) & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)((bits * UINT64_C(0x0101010101010101)) >> 56);
}

static struct osp_place_offer *add_offer(struct osp_place *place, uint32_t leaf)
{
	struct osp_place_offer *offer = &place->offers[place->offer_count++];

	memset(offer, 0, sizeof(*offer));
	offer->leaf = leaf;
	return offer;
}

/* --- by words -----------------------------------------------------------------------------------
 */

static void count_special(const struct osp_place *place, const struct osp_place_piece *piece,
			  struct osp_place_offer *offer, struct osp_place_sums *sums)
{
	uint64_t required = place->required[piece->word] & piece->mask;
	uint64_t boot = place->boot[piece->word];
	uint64_t free = place->free[piece->word] & piece->mask;

	sums->required += count_bits(required);
	sums->required_boot += count_bits(required & free & boot);
	offer->fixed += count_bits(required & free);
	offer->open += count_bits(free & ~required & ~boot);
}

static void count_leaf(struct osp_place *place, uint32_t leaf, struct osp_place_sums *sums)
{
	const struct osp_place_leaf *where = &place->leaves[leaf];
	struct osp_place_offer *offer = add_offer(place, leaf);

	for (uint32_t i = where[0].first_piece; i < where[1].first_piece; i++) {
		const struct osp_place_piece *piece = &place->pieces[i];
		uint64_t usable = place->usable[piece->word] & piece->mask;

		if (!usable)
			continue;
		sums->usable += count_bits(usable);
		offer->free += count_bits(place->free[piece->word] & piece->mask);
		if (place->call.special)
			count_special(place, piece, offer, sums);
	}
	if (!place->call.special)
		offer->open = offer->free;
	sums->free += offer->free;
	sums->required_free += offer->fixed;
	sums->open += offer->open;
	if (!offer->free)
		place->offer_count--;
}

void osp_place_count(struct osp_place *place, uint32_t domain, struct osp_place_sums *sums)
{
	const struct osp_domain *about = osp_topology_domain(place->topology, domain);
	uint32_t leaf;
	uint32_t last;

	memset(sums, 0, sizeof(*sums));
	place->offer_count = 0;
	if (!about->node_count)
		return;
	leaf = place->leaf_of_rank[about->first_rank];
	last = place->leaf_of_rank[about->first_rank + about->node_count - 1];
	for (; leaf <= last; leaf++)
		count_leaf(place, leaf, sums);
}

void osp_place_plan_counted(struct osp_place *place, const struct osp_place_sums *sums,
			    uint32_t size, struct osp_place_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->size = size;
	plan->missing = size - sums->required_free;
	plan->weight = place->call.same_weight;
	plan->boot_nodes = sums->required_boot;
	plan->last = place->call.same_weight;
	if (plan->missing <= sums->open)
		return;
	plan->last |= OSP_PLACE_BOOT;
	plan->missing -= sums->open;
	plan->boot_nodes += plan->missing;
	for (uint32_t i = 0; i < place->offer_count; i++) {
		place->offers[i].fixed += place->offers[i].open;
		place->offers[i].open = place->offers[i].free - place->offers[i].fixed;
	}
}

/* --- by node ------------------------------------------------------------------------------------
 */

/*
 * Sets place->kind_next[] to the start of the items of each kind in these ranks. Returns the number
 * of kinds.
 */
static uint32_t start_kinds(struct osp_place *place, uint32_t rank, uint32_t end)
{
	uint32_t met = 0;
	uint32_t sum = 0;

	for (; rank < end; rank++) {
		uint32_t node = place->node_of_rank[rank];

		if (!osp_place_bit(place->usable, node))
			continue;
		if (!place->kind_next[place->call.kind[node]]++)
			place->kinds_met[met++] = place->call.kind[node];
	}
	for (uint32_t i = 0; i < met; i++) {
		uint32_t here = place->kind_next[place->kinds_met[i]];

		place->kind_next[place->kinds_met[i]] = sum;
		sum += here;
	}
	return met;
}

uint32_t osp_place_gather(struct osp_place *place, uint32_t domain)
{
	const struct osp_domain *about = osp_topology_domain(place->topology, domain);
	uint32_t end = about->first_rank + about->node_count;
	uint32_t count = 0;
	uint32_t met = 0;

	if (place->call.kind)
		met = start_kinds(place, about->first_rank, end);
	for (uint32_t rank = about->first_rank; rank < end; rank++) {
		uint32_t node = place->node_of_rank[rank];
		uint32_t at = count;

		if (!osp_place_bit(place->usable, node))
			continue;
		if (met)
			at = place->kind_next[place->call.kind[node]]++;
		osp_place_fill_item(place, rank, &place->items[at]);
		count++;
	}
	for (uint32_t i = 0; i < met; i++)
		place->kind_next[place->kinds_met[i]] = 0;
	return count;
}

uint32_t osp_place_kind_end(const struct osp_place *place, uint32_t first, uint32_t count)
{
	uint32_t end = first;

	while (end < count && place->items[end].kind == place->items[first].kind)
		end++;
	return end;
}

void osp_place_sum(const struct osp_place *place, uint32_t first, uint32_t end,
		   struct osp_place_sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	sums->usable = end - first;
	for (uint32_t i = first; i < end; i++) {
		const struct osp_place_item *item = &place->items[i];

		sums->free += item->free;
		sums->required += item->required;
		sums->required_free += item->required && item->free;
	}
}

/* --- classes of nodes ---------------------------------------------------------------------------
 */

/* There are rarely more than a static and a dynamic weight, with and without boot. */
#define CLASSES_MAX 8

struct classes {
	uint64_t class[CLASSES_MAX];
	uint32_t nodes[CLASSES_MAX];
	uint32_t count;
};

/* Lists the free ones of items [first, end) as indices into place->items. Returns how many. */
static uint32_t list_free(struct osp_place *place, uint32_t first, uint32_t end)
{
	uint32_t count = 0;

	/* Without a branch: which nodes are free cannot be predicted. */
	for (uint32_t i = first; i < end; i++) {
		place->listed[count] = i;
		count += place->items[i].free;
	}
	return count;
}

/*
 * Counts the listed nodes other than required ones by class. Returns false if there are too many
 * classes.
 */
static bool count_classes(const struct osp_place *place, uint32_t listed, struct classes *classes)
{
	uint32_t at = 0;

	classes->count = 0;
	for (uint32_t i = 0; i < listed; i++) {
		const struct osp_place_item *item = &place->items[place->listed[i]];
		uint64_t class = osp_place_class(item);

		if (item->required)
			continue;
		if (!classes->count || classes->class[at] != class) {
			for (at = 0; at < classes->count && classes->class[at] != class; at++)
				;
			if (at == CLASSES_MAX)
				return false;
			if (at == classes->count) {
				classes->class[at] = class;
				classes->nodes[at] = 0;
				classes->count++;
			}
		}
		classes->nodes[at]++;
	}
	return true;
}

/*
 * Sets plan->last to the last class needed for `plan->missing` nodes, and subtracts from
 * plan->missing the nodes of the classes before it.
 */
static void reach_class(struct classes *classes, struct osp_place_plan *plan)
{
	for (uint32_t left = classes->count; left > 0; left--) {
		uint32_t lowest = 0;

		for (uint32_t i = 1; i < left; i++) {
			if (classes->class[i] < classes -> class[lowest])
				lowest = i;
		}
		plan->last = classes->class[lowest];
		if (plan->missing <= classes->nodes[lowest])
			return;
		plan->missing -= classes->nodes[lowest];
		classes->class[lowest] = classes->class[left - 1];
		classes->nodes[lowest] = classes->nodes[left - 1];
	}
}

/* Does the same as reach_class() for any number of classes. */
static void select_class(struct osp_place *place, uint32_t listed, struct osp_place_plan *plan)
{
	uint32_t count = 0;
	uint32_t below = 0;

	for (uint32_t i = 0; i < listed; i++) {
		const struct osp_place_item *item = &place->items[place->listed[i]];

		if (!item->required)
			place->values[count++] = osp_place_class(item);
	}
	plan->last = osp_place_nth(place->values, count, plan->missing - 1);
	for (uint32_t i = 0; i < listed; i++) {
		const struct osp_place_item *item = &place->items[place->listed[i]];

		below += !item->required && osp_place_class(item) < plan->last;
	}
	plan->missing -= below;
}

static void offer_item(const struct osp_place_item *item, struct osp_place_offer *offer,
		       struct osp_place_plan *plan)
{
	uint64_t class = osp_place_class(item);
	bool fixed = item->required || class < plan->last;
	uint32_t weight = fixed ? item->weight : 0;

	offer->free++;
	offer->fixed += fixed;
	offer->open += !fixed && class == plan->last;
	plan->boot_nodes += fixed && item->boot;
	plan->weight = weight > plan->weight ? weight : plan->weight;
}

static void offer_items(struct osp_place *place, uint32_t listed, struct osp_place_plan *plan)
{
	struct osp_place_offer *offer = NULL;

	place->offer_count = 0;
	for (uint32_t i = 0; i < listed; i++) {
		const struct osp_place_item *item = &place->items[place->listed[i]];

		if (!offer || offer->leaf != item->leaf)
			offer = add_offer(place, item->leaf);
		offer_item(item, offer, plan);
	}
	/* If the required nodes suffice, there is no last class. */
	for (uint32_t i = 0; i < place->offer_count && !plan->missing; i++)
		place->offers[i].open = 0;
}

void osp_place_plan_items(struct osp_place *place, uint32_t first, uint32_t end, uint32_t size,
			  struct osp_place_plan *plan)
{
	uint32_t listed = list_free(place, first, end);
	struct classes classes;

	memset(plan, 0, sizeof(*plan));
	plan->size = size;
	plan->missing = size;
	for (uint32_t i = 0; i < listed; i++)
		plan->missing -= place->items[place->listed[i]].required;
	if (plan->missing) {
		if (count_classes(place, listed, &classes))
			reach_class(&classes, plan);
		else
			select_class(place, listed, plan);
	}
	offer_items(place, listed, plan);
	if (!plan->missing)
		return;
	if (plan->last >> 32)
		plan->boot_nodes += plan->missing;
	if ((uint32_t)plan->last > plan->weight)
		plan->weight = (uint32_t)plan->last;
}
