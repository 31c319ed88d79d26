/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_pick.c - the nodes of a gang inside one domain
 *
 * Leaves that the gang uses anyway are filled first. The rest goes into the fewest leaves. Among
 * the ways to take so many, the one in the fewest domains of each level between leaf and the asked
 * level is taken, from the top down, and then the one with the fewest nodes left over.
 */
#include "lib/place/place_private.h"

#include <string.h>

/* --- leaves that required or better nodes are in ------------------------------------------------
 */

static uint32_t open_in_fixed(const struct osp_place *place)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < place->offer_count; i++) {
		if (place->offers[i].fixed)
			open += place->offers[i].open;
	}
	return open;
}

/* Fills them, smallest first, so that the nodes left over are in few leaves. */
static void fill_fixed(struct osp_place *place, uint32_t rest)
{
	for (uint32_t i = 0; i < place->offer_count; i++) {
		const struct osp_place_offer *offer = &place->offers[i];

		place->group_keys[i] = offer->fixed ? offer->open : 0;
	}
	osp_place_sort(place->group_keys, 1, place->offer_count, place->order, place->spare);
	for (uint32_t i = 0; i < place->offer_count && rest; i++) {
		struct osp_place_offer *offer = &place->offers[place->order[i]];

		if (!offer->fixed)
			continue;
		offer->take = offer->open < rest ? offer->open : rest;
		rest -= offer->take;
	}
}

/* --- levels between leaf and the asked one ------------------------------------------------------
 */

static uint32_t domain_above(const struct osp_place *place, const struct osp_place_offer *offer,
			     uint32_t level)
{
	uint32_t node = place->node_of_rank[place->leaves[offer->leaf].first_rank];

	return osp_topology_domain_of(place->topology, node, level);
}

/*
 * Groups the offers by their domain at `level`; each leaf without one is a group of its own.
 * Returns how many groups.
 */
static uint32_t list_groups(struct osp_place *place, uint32_t level)
{
	uint32_t above = OSP_NO_DOMAIN;
	uint32_t count = 0;

	for (uint32_t i = 0; i < place->offer_count; i++) {
		struct osp_place_offer *offer = &place->offers[i];
		uint32_t domain = domain_above(place, offer, level);

		if (!count || domain == OSP_NO_DOMAIN || domain != above) {
			place->groups[count].first = i;
			place->groups[count].touched = false;
			count++;
		}
		above = domain;
		place->groups[count - 1].end = i + 1;
		place->groups[count - 1].touched |= offer->fixed != 0;
		offer->group = count - 1;
	}
	return count;
}

/* Returns what the `leaves` largest eligible leaves of a group offer together. */
static uint32_t group_holds(struct osp_place *place, const struct osp_place_group *group,
			    uint32_t leaves)
{
	uint32_t most = 0;
	uint32_t sum = 0;

	for (uint32_t i = group->first; i < group->end; i++) {
		const struct osp_place_offer *offer = &place->offers[i];

		if (!offer->eligible)
			continue;
		place->with_open[offer->open]++;
		most = offer->open > most ? offer->open : most;
	}
	for (uint32_t value = most; value > 0; value--) {
		uint32_t there = place->with_open[value];

		there = there < leaves ? there : leaves;
		sum += there * value;
		leaves -= there;
		place->with_open[value] = 0;
	}
	place->with_open[0] = 0;
	return sum;
}

/* Renumbers the groups: those that the gang uses anyway, then those that hold most. */
static void order_groups(struct osp_place *place, uint32_t count, uint32_t leaves)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct osp_place_group *group = &place->groups[i];

		place->group_keys[i] =
			group->touched ? 0 : UINT32_MAX - group_holds(place, group, leaves);
	}
	osp_place_sort(place->group_keys, 1, count, place->order, place->spare);
	for (uint32_t i = 0; i < count; i++) {
		const struct osp_place_group *group = &place->groups[place->order[i]];

		for (uint32_t j = group->first; j < group->end; j++)
			place->offers[j].group = i;
	}
}

/*
 * Returns the one group that holds the rest with the fewest nodes left over, or `count` if there is
 * none.
 */
static uint32_t best_single_group(struct osp_place *place, uint32_t count, uint32_t rest,
				  uint32_t leaves)
{
	uint32_t least = UINT32_MAX;
	uint32_t best = count;

	place->group_limit = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct osp_place_group *group = &place->groups[i];
		uint32_t left;

		if (group->touched)
			return count;
		if (osp_place_fewest(place, group->first, group->end, rest, leaves, &left) &&
		    left < least) {
			least = left;
			best = i;
		}
	}
	return best;
}

/*
 * Returns the fewest groups, in order, whose leaves hold the rest in no more than `leaves` leaves.
 */
static uint32_t fewest_groups(struct osp_place *place, uint32_t count, uint32_t rest,
			      uint32_t leaves)
{
	uint32_t low = 1;
	uint32_t high = count;
	uint32_t left;

	while (low < high) {
		place->group_limit = low + (high - low) / 2;
		if (osp_place_fewest(place, 0, place->offer_count, rest, leaves, &left))
			high = place->group_limit;
		else
			low = place->group_limit + 1;
	}
	return high;
}

/* Keeps eligible only leaves in the fewest domains of `level`. */
static void narrow(struct osp_place *place, uint32_t level, uint32_t rest, uint32_t leaves)
{
	uint32_t count = list_groups(place, level);
	uint32_t single = best_single_group(place, count, rest, leaves);
	uint32_t limit = 1;

	if (single < count) {
		for (uint32_t i = 0; i < place->offer_count; i++)
			place->offers[i].group = place->offers[i].group != single;
	} else {
		order_groups(place, count, leaves);
		limit = fewest_groups(place, count, rest, leaves);
	}
	for (uint32_t i = 0; i < place->offer_count; i++) {
		place->offers[i].eligible &= place->offers[i].group < limit;
		place->offers[i].group = 0;
	}
	place->group_limit = 1;
}

/* --- the choice ---------------------------------------------------------------------------------
 */

/*
 * Takes all that the leaves in place->use offer except `left`, which stay in the smallest of them.
 */
static void take_used(struct osp_place *place, uint32_t left)
{
	struct osp_place_offer *smallest = NULL;

	for (uint32_t i = 0; i < place->offer_count; i++) {
		struct osp_place_offer *offer = &place->offers[i];

		if (!offer->eligible || !place->use[offer->open])
			continue;
		place->use[offer->open]--;
		offer->take = offer->open;
		if (!smallest || offer->open <= smallest->open)
			smallest = offer;
	}
	if (smallest && left <= smallest->take)
		smallest->take -= left;
}

static void take_fewest(struct osp_place *place, uint32_t rest)
{
	uint32_t left = 0;
	uint32_t leaves;
	uint32_t below = osp_topology_is_overlay(place->topology, place->call.level)
				 ? osp_topology_level_count(place->topology)
				 : place->call.level - 1;

	place->group_limit = 1;
	for (uint32_t i = 0; i < place->offer_count; i++) {
		struct osp_place_offer *offer = &place->offers[i];

		offer->group = 0;
		offer->eligible = !offer->fixed && offer->open;
		if (offer->fixed)
			offer->take = offer->open;
	}
	leaves = osp_place_fewest(place, 0, place->offer_count, rest, UINT32_MAX, &left);
	if (below > 1) {
		for (uint32_t level = below; level > 1; level--)
			narrow(place, level, rest, leaves);
		osp_place_fewest(place, 0, place->offer_count, rest, leaves, &left);
	}
	take_used(place, left);
}

void osp_place_choose(struct osp_place *place, struct osp_place_plan *plan)
{
	uint32_t in_fixed = open_in_fixed(place);
	uint32_t free = 0;

	if (plan->missing > in_fixed)
		take_fewest(place, plan->missing - in_fixed);
	else
		fill_fixed(place, plan->missing);
	plan->leaves = 0;
	for (uint32_t i = 0; i < place->offer_count; i++) {
		const struct osp_place_offer *offer = &place->offers[i];

		if (!offer->fixed && !offer->take)
			continue;
		plan->leaves++;
		free += offer->free;
	}
	plan->left_in_leaves = free - plan->size;
}

/* --- osp_place_pick() ---------------------------------------------------------------------------
 */

/* Adds the nodes that one leaf gives, by rank. */
static uint32_t choose_in_leaf(const struct osp_place *place, const struct osp_place_offer *offer,
			       uint16_t kind, const struct osp_place_plan *plan,
			       struct osp_nodeset *chosen)
{
	const struct osp_place_leaf *leaf = &place->leaves[offer->leaf];
	uint32_t take = offer->take;
	uint32_t count = 0;

	for (uint32_t i = 0; i < leaf->node_count && count < offer->fixed + offer->take; i++) {
		struct osp_place_item item;

		osp_place_fill_item(place, leaf->first_rank + i, &item);
		if (!item.free || item.kind != kind || item.node >= chosen->place_count)
			continue;
		if (!item.required && osp_place_class(&item) >= plan->last) {
			if (osp_place_class(&item) > plan->last || !take)
				continue;
			take--;
		}
		osp_nodeset_add(chosen, item.node);
		count++;
	}
	return count;
}

static uint32_t choose_nodes(struct osp_place *place, uint16_t kind, struct osp_place_plan *plan,
			     struct osp_nodeset *chosen)
{
	uint32_t count = 0;

	osp_place_choose(place, plan);
	for (uint32_t i = 0; i < place->offer_count; i++) {
		const struct osp_place_offer *offer = &place->offers[i];

		if (offer->fixed || offer->take)
			count += choose_in_leaf(place, offer, kind, plan, chosen);
	}
	return count;
}

/* Returns how many of a domain's free nodes a gang takes; 0 if it cannot start. */
static uint32_t size_in(const struct osp_place *place, const struct osp_place_sums *sums)
{
	const struct osp_place_call *call = &place->call;

	if (sums->free < call->need || sums->required_free < call->required)
		return 0;
	return sums->free < call->want ? sums->free : call->want;
}

static uint32_t pick_by_words(struct osp_place *place, uint32_t domain, struct osp_nodeset *chosen)
{
	struct osp_place_sums sums;
	struct osp_place_plan plan;
	uint32_t size;

	osp_place_count(place, domain, &sums);
	size = size_in(place, &sums);
	if (!size)
		return 0;
	osp_place_plan_counted(place, &sums, size, &plan);
	return choose_nodes(place, place->call.same_kind, &plan, chosen);
}

static uint32_t pick_by_node(struct osp_place *place, uint32_t domain, uint16_t kind,
			     struct osp_nodeset *chosen)
{
	struct osp_place_sums sums;
	struct osp_place_plan plan;
	uint32_t count = osp_place_gather(place, domain);
	uint32_t first = 0;
	uint32_t end = osp_place_kind_end(place, 0, count);
	uint32_t size;

	while (first < count && place->items[first].kind != kind) {
		first = end;
		end = osp_place_kind_end(place, first, count);
	}
	osp_place_sum(place, first, end, &sums);
	size = size_in(place, &sums);
	if (!size)
		return 0;
	osp_place_plan_items(place, first, end, size, &plan);
	return choose_nodes(place, kind, &plan, chosen);
}

uint32_t osp_place_pick(struct osp_place *place, const struct osp_place_input *input,
			uint32_t domain, uint16_t kind, struct osp_nodeset *chosen)
{
	bool known = osp_place_start(place, input);

	osp_nodeset_clear(chosen); /* it may be one of the input's */
	if (!known || domain >= osp_topology_listed_domains(place->topology) ||
	    osp_topology_domain(place->topology, domain)->level != input->level)
		return 0;
	if (osp_place_needs_items(place))
		return pick_by_node(place, domain, kind, chosen);
	if (kind != place->call.same_kind)
		return 0;
	return pick_by_words(place, domain, chosen);
}
