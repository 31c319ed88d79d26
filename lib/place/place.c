/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.c - which domain a gang goes to, and which nodes inside it */
#include "lib/place/place_private.h"

#include <stdlib.h>
#include <string.h>

static uint32_t at_most(uint32_t value, uint32_t limit)
{
	return value < limit ? value : limit;
}

/* --- the scratch --------------------------------------------------------------------------------
 */

static void *room(uint64_t count, size_t bytes)
{
	return calloc(count ? count : 1, bytes);
}

/*
 * Returns the most entries that an answer can have: domains of one level times kinds, but no more
 * than nodes.
 */
static uint32_t count_entries(const struct osp_topology *topology, uint16_t kinds)
{
	uint64_t nodes = osp_topology_node_count(topology);
	uint64_t most = 0;

	for (uint32_t level = 1; level <= osp_topology_last_level(topology); level++) {
		uint32_t first;
		uint32_t count;

		osp_topology_level_domains(topology, level, &first, &count);
		if ((uint64_t)count * kinds > most)
			most = (uint64_t)count * kinds;
	}
	return (uint32_t)(most < nodes ? most : nodes);
}

/* Numbers the leaves along the ranks. An overlay's ranks are cut at its domains too. */
static void number_leaves(struct osp_place *place)
{
	uint32_t above = OSP_NO_DOMAIN, beside = OSP_NO_DOMAIN;

	for (uint32_t rank = 0; rank < place->rank_count; rank++) {
		uint32_t node = osp_topology_node_at_rank(place->topology, rank);
		uint32_t domain = osp_topology_domain_of(place->topology, node, 1);
		uint32_t overlay = rank / place->node_count, other = OSP_NO_DOMAIN;

		if (overlay)
			other = osp_topology_domain_of(place->topology, node,
						       osp_topology_level_count(place->topology) +
							       overlay);
		if (rank % place->node_count == 0 || domain == OSP_NO_DOMAIN || domain != above ||
		    other != beside)
			place->leaves[place->leaf_count++].first_rank = rank;
		above = domain;
		beside = other;
		place->node_of_rank[rank] = node;
		place->leaf_of_rank[rank] = place->leaf_count - 1;
		place->leaves[place->leaf_count - 1].node_count++;
		if (!overlay)
			place->tree_leaf_count = place->leaf_count;
	}
}

static void cut_pieces(struct osp_place *place)
{
	uint32_t count = 0;

	for (uint32_t leaf = 0; leaf < place->leaf_count; leaf++) {
		const struct osp_place_leaf *where = &place->leaves[leaf];

		place->leaves[leaf].first_piece = count;
		for (uint32_t i = 0; i < where->node_count; i++) {
			uint32_t node = place->node_of_rank[where->first_rank + i];

			if (count == where->first_piece ||
			    place->pieces[count - 1].word != node / 64)
				place->pieces[count++].word = node / 64;
			place->pieces[count - 1].mask |= (uint64_t)1 << (node % 64);
		}
		if (where->node_count > place->leaf_nodes_max)
			place->leaf_nodes_max = where->node_count;
	}
	place->leaves[place->leaf_count].first_piece = count;
}

static void sum_largest(struct osp_place *place)
{
	uint32_t sum = 0;

	for (uint32_t leaf = 0; leaf < place->tree_leaf_count; leaf++)
		place->group_keys[leaf] = UINT32_MAX - place->leaves[leaf].node_count;
	osp_place_sort(place->group_keys, 1, place->tree_leaf_count, place->order, place->spare);
	for (uint32_t i = 0; i < place->tree_leaf_count; i++) {
		sum += place->leaves[place->order[i]].node_count;
		place->largest_hold[i] = sum;
	}
}

static bool take_fabric_memory(struct osp_place *place)
{
	uint64_t nodes = place->node_count, ranks = place->rank_count;

	place->node_of_rank = room(ranks, sizeof(*place->node_of_rank));
	place->leaf_of_rank = room(ranks, sizeof(*place->leaf_of_rank));
	place->leaves = room(ranks + 1, sizeof(*place->leaves));
	place->pieces = room(ranks, sizeof(*place->pieces));
	place->order = room(nodes, sizeof(*place->order));
	place->spare = room(nodes, sizeof(*place->spare));
	return place->node_of_rank && place->leaf_of_rank && place->leaves && place->pieces &&
	       place->order && place->spare;
}

static bool take_leaf_memory(struct osp_place *place)
{
	uint64_t leaves = place->leaf_count;
	uint64_t largest = (uint64_t)place->leaf_nodes_max + 1;

	place->largest_hold = room(leaves, sizeof(*place->largest_hold));
	place->offers = room(leaves, sizeof(*place->offers));
	place->groups = room(leaves, sizeof(*place->groups));
	place->group_keys = room(leaves, sizeof(*place->group_keys));
	place->with_open = room(largest, sizeof(*place->with_open));
	place->use = room(largest, sizeof(*place->use));
	place->reach = room(OSP_PLACE_STEPS + 1, sizeof(*place->reach));
	return place->largest_hold && place->offers && place->groups && place->group_keys &&
	       place->with_open && place->use && place->reach;
}

static bool take_call_memory(struct osp_place *place)
{
	uint64_t nodes = place->node_count;
	uint64_t entries = count_entries(place->topology, place->kind_room);

	place->usable = room(place->word_count, sizeof(*place->usable));
	place->free = room(place->word_count, sizeof(*place->free));
	place->required = room(place->word_count, sizeof(*place->required));
	place->boot = room(place->word_count, sizeof(*place->boot));
	place->items = room(nodes, sizeof(*place->items));
	place->listed = room(nodes, sizeof(*place->listed));
	place->values = room(nodes, sizeof(*place->values));
	place->kind_next = room(place->kind_room, sizeof(*place->kind_next));
	place->kinds_met = room(place->kind_room, sizeof(*place->kinds_met));
	place->found = room(entries, sizeof(*place->found));
	place->answer = room(entries, sizeof(*place->answer));
	place->keys = room(entries * OSP_PLACE_KEY_WORDS, sizeof(*place->keys));
	place->kept = osp_place_cache_new(place->node_count, place->word_count, (uint32_t)entries);
	return place->usable && place->free && place->required && place->boot && place->items &&
	       place->listed && place->values && place->kind_next && place->kinds_met &&
	       place->found && place->answer && place->keys && place->kept;
}

struct osp_place *osp_place_new(const struct osp_topology *topology, uint16_t kind_count)
{
	struct osp_place *place = calloc(1, sizeof(*place));

	if (!place)
		return NULL;
	place->topology = topology;
	place->node_count = osp_topology_node_count(topology);
	place->rank_count = osp_topology_rank_room(topology);
	place->word_count = place->node_count / 64 + (place->node_count % 64 != 0);
	place->kind_room = kind_count ? kind_count : 1;
	if (!take_fabric_memory(place))
		goto failed;
	number_leaves(place);
	cut_pieces(place);
	if (!take_leaf_memory(place) || !take_call_memory(place))
		goto failed;
	sum_largest(place);
	return place;
failed:
	osp_place_free(place);
	return NULL;
}

void osp_place_free(struct osp_place *place)
{
	if (!place)
		return;
	free(place->node_of_rank);
	free(place->leaf_of_rank);
	free(place->leaves);
	free(place->pieces);
	free(place->largest_hold);
	free(place->usable);
	free(place->free);
	free(place->required);
	free(place->boot);
	free(place->items);
	free(place->listed);
	free(place->values);
	free(place->kind_next);
	free(place->kinds_met);
	free(place->offers);
	free(place->groups);
	free(place->group_keys);
	free(place->with_open);
	free(place->use);
	free(place->reach);
	free(place->found);
	free(place->answer);
	free(place->keys);
	osp_place_cache_free(place->kept);
	free(place->order);
	free(place->spare);
	free(place);
}

/* --- the input ----------------------------------------------------------------------------------
 */

/* Returns word `i` of a set of any size; NULL is a set that holds all. */
static uint64_t word_of(const struct osp_nodeset *set, uint32_t i)
{
	if (!set)
		return ~(uint64_t)0;
	return i < set->word_count ? set->words[i] : 0;
}

/* Copies the sets to the bitmaps. Returns whether any node is required or must be booted. */
static bool take_sets(struct osp_place *place, const struct osp_place_input *input)
{
	uint64_t special = 0;

	for (uint32_t i = 0; i < place->word_count; i++) {
		uint64_t usable = word_of(input->usable, i);

		if (i == place->word_count - 1 && place->node_count % 64)
			usable &= ((uint64_t)1 << (place->node_count % 64)) - 1;
		place->usable[i] = usable;
		place->free[i] = usable & word_of(input->free, i);
		place->required[i] = input->required ? usable & word_of(input->required, i) : 0;
		place->boot[i] = input->boot ? usable & word_of(input->boot, i) : 0;
		special |= place->required[i] | place->boot[i];
	}
	return special != 0;
}

/* Returns the first usable node from `node` on, or node_count. */
static uint32_t next_usable(const struct osp_place *place, uint32_t node)
{
	while (node < place->node_count) {
		uint64_t bits = place->usable[node / 64] >> (node % 64);

		if (bits)
			return node + (uint32_t)__builtin_ctzll(bits);
		node = (node / 64 + 1) * 64;
	}
	return place->node_count;
}

static bool weights_differ(const struct osp_place *place, const uint32_t *weight)
{
	uint32_t first = next_usable(place, 0);
	uint32_t node;

	for (node = first; node < place->node_count; node = next_usable(place, node + 1)) {
		if (weight[node] != weight[first])
			return true;
	}
	return false;
}

static bool kinds_differ(const struct osp_place *place, const uint16_t *kind)
{
	uint32_t first = next_usable(place, 0);
	uint32_t node;

	for (node = first; node < place->node_count; node = next_usable(place, node + 1)) {
		if (kind[node] != kind[first])
			return true;
	}
	return false;
}

static bool has_unknown_kind(const struct osp_place *place)
{
	uint16_t most = 0;

	for (uint32_t node = 0; node < place->node_count; node++)
		most = place->call.kind[node] > most ? place->call.kind[node] : most;
	return most >= place->call.kind_count;
}

/* Makes nodes of kinds beyond the scratch's room unusable. */
static void drop_unknown_kinds(struct osp_place *place)
{
	struct osp_place_call *call = &place->call;
	uint32_t node;

	for (node = next_usable(place, 0); node < place->node_count;
	     node = next_usable(place, node + 1)) {
		uint64_t keep = ~((uint64_t)1 << (node % 64));

		if (call->kind[node] < call->kind_count)
			continue;
		place->usable[node / 64] &= keep;
		place->free[node / 64] &= keep;
		place->required[node / 64] &= keep;
	}
}

bool osp_place_start(struct osp_place *place, const struct osp_place_input *input)
{
	struct osp_place_call *call = &place->call;
	uint32_t first;

	memset(call, 0, sizeof(*call));
	place->found_count = 0;
	place->candidate_count = 0;
	if (!input->usable || !input->level ||
	    input->level > osp_topology_last_level(place->topology))
		return false;
	call->special = take_sets(place, input);
	call->level = input->level;
	call->free_only = input->free_only;
	call->roomy = at_most(input->largest_gang, place->node_count);
	call->roomy += call->roomy / 2;
	call->required = input->required ? osp_nodeset_count(input->required) : 0;
	call->need = input->need_nodes ? input->need_nodes : 1;
	if (call->need < call->required)
		call->need = call->required;
	call->want = input->want_nodes > call->need ? input->want_nodes : call->need;
	if (input->kind && input->kind_count) {
		call->kind = input->kind;
		call->kind_count =
			input->kind_count < place->kind_room ? input->kind_count : place->kind_room;
		if (has_unknown_kind(place))
			drop_unknown_kinds(place);
	}
	first = next_usable(place, 0);
	if (first == place->node_count)
		return false;
	if (call->kind && !kinds_differ(place, call->kind)) {
		call->same_kind = call->kind[first];
		call->kind = NULL;
	}
	if (input->weight && weights_differ(place, input->weight))
		call->weight = input->weight;
	else if (input->weight)
		call->same_weight = input->weight[first];
	return true;
}

/* --- the answer ---------------------------------------------------------------------------------
 */

struct osp_place_domain *osp_place_add(struct osp_place *place, uint32_t domain, uint16_t kind,
				       const struct osp_place_sums *sums)
{
	struct osp_place_domain *entry = &place->found[place->found_count++];

	memset(entry, 0, sizeof(*entry));
	entry->domain = domain;
	entry->kind = kind;
	entry->usable_nodes = sums->usable;
	entry->free_nodes = sums->free;
	return entry;
}

bool osp_place_judge(const struct osp_place *place, const struct osp_place_sums *sums,
		     struct osp_place_domain *entry)
{
	const struct osp_place_call *call = &place->call;

	if (sums->required < call->required) {
		entry->reason = OSP_PLACE_REQUIRED;
		entry->short_nodes = call->required - sums->required;
		return false;
	}
	if (sums->usable < call->need) {
		entry->reason = OSP_PLACE_TOO_SMALL;
		entry->short_nodes = call->need - sums->usable;
		return false;
	}
	entry->short_nodes = sums->required - sums->required_free;
	if (sums->free < call->need && call->need - sums->free > entry->short_nodes)
		entry->short_nodes = call->need - sums->free;
	if (entry->short_nodes && call->free_only)
		entry->reason = OSP_PLACE_NOT_FREE;
	return entry->reason == OSP_PLACE_CANDIDATE;
}

/* Returns the fewest leaves of the fabric that hold `size` nodes. */
static uint32_t least_leaves(const struct osp_place *place, uint32_t size)
{
	uint32_t low = 1;
	uint32_t high = place->tree_leaf_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (place->largest_hold[middle - 1] >= size)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void osp_place_note(struct osp_place *place, struct osp_place_plan *plan,
		    struct osp_place_domain *entry)
{
	uint32_t there = 0;

	osp_place_choose(place, plan);
	for (uint32_t i = 0; i < place->offer_count; i++)
		there += place->offers[i].free;
	entry->boot_nodes = plan->boot_nodes;
	entry->weight = plan->weight;
	entry->leaves = plan->leaves;
	entry->leaves_least = least_leaves(place, plan->size);
	entry->left_in_leaves = plan->left_in_leaves;
	entry->left_in_domain = there - plan->size;
}

/*
 * Returns how many nodes the remainder `left` of a domain lacks for the gangs to come; 0 if there
 * is no remainder.
 */
static uint32_t short_remainder(const struct osp_place *place, uint32_t left)
{
	return left && left < place->call.roomy ? place->call.roomy - left : 0;
}

static void key_candidate(const struct osp_place *place, const struct osp_place_domain *entry,
			  uint32_t *key)
{
	uint32_t want = place->call.want;
	bool later = entry->short_nodes && !place->call.by_time;
	uint64_t bound = (uint64_t)entry->bound_s ^ (uint64_t)1 << 63; /* negative ones first */

	key[1] = (uint32_t)(bound >> 32);
	key[2] = (uint32_t)bound;
	key[3] = later ? entry->short_nodes : 0;
	key[4] = later ? 0 : want - (entry->free_nodes < want ? entry->free_nodes : want);
	key[5] = entry->boot_nodes;
	key[6] = entry->weight;
	key[7] = entry->leaves - entry->leaves_least;
	key[8] = entry->left_in_leaves != 0;
	key[9] = place->call.roomy + short_remainder(place, entry->left_in_domain) -
		 short_remainder(place, later ? entry->usable_nodes : entry->free_nodes);
	key[10] = entry->left_in_leaves;
	key[11] = entry->left_in_domain;
}

static void key_entry(const struct osp_place *place, const struct osp_place_domain *entry,
		      uint32_t *key)
{
	memset(key, 0, OSP_PLACE_KEY_WORDS * sizeof(*key));
	key[0] = entry->reason != OSP_PLACE_CANDIDATE;
	if (key[0]) {
		key[1] = entry->short_nodes;
		key[2] = entry->reason == OSP_PLACE_NOT_FREE ? 0 : entry->reason;
		key[3] = UINT32_MAX - entry->usable_nodes;
	} else {
		key_candidate(place, entry, key);
	}
	/* Domains are found in order: no key is needed if each is found once. */
	if (place->call.kind) {
		key[12] = entry->domain;
		key[13] = entry->kind;
	}
}

const struct osp_place_domain *osp_place_finish(struct osp_place *place, uint32_t *candidate_count,
						uint32_t *domain_count)
{
	uint32_t candidates = 0;

	for (uint32_t i = 0; i < place->found_count; i++) {
		candidates += place->found[i].reason == OSP_PLACE_CANDIDATE;
		key_entry(place, &place->found[i], &place->keys[(size_t)i * OSP_PLACE_KEY_WORDS]);
	}
	osp_place_sort(place->keys, OSP_PLACE_KEY_WORDS, place->found_count, place->order,
		       place->spare);
	for (uint32_t i = 0; i < place->found_count; i++)
		place->answer[i] = place->found[place->order[i]];
	*candidate_count = candidates;
	*domain_count = place->found_count;
	return place->answer;
}

/* --- osp_place_order() --------------------------------------------------------------------------
 */

/* Notes a candidate of items [first, end): from its free ones, or from all if too few are free. */
static void note_items(struct osp_place *place, uint32_t first, uint32_t end,
		       struct osp_place_domain *entry)
{
	struct osp_place_plan plan;
	uint32_t there = entry->short_nodes ? entry->usable_nodes : entry->free_nodes;

	if (entry->short_nodes) {
		for (uint32_t i = first; i < end; i++)
			place->items[i].free = true;
	}
	osp_place_plan_items(place, first, end, at_most(there, place->call.want), &plan);
	osp_place_note(place, &plan, entry);
}

static void order_by_node(struct osp_place *place, uint32_t domain)
{
	uint32_t count = osp_place_gather(place, domain);
	uint32_t end;

	for (uint32_t first = 0; first < count; first = end) {
		struct osp_place_sums sums;
		struct osp_place_domain *entry;

		end = osp_place_kind_end(place, first, count);
		osp_place_sum(place, first, end, &sums);
		entry = osp_place_add(place, domain, place->items[first].kind, &sums);
		if (osp_place_judge(place, &sums, entry))
			note_items(place, first, end, entry);
	}
}

static void order_by_words(struct osp_place *place, uint32_t domain)
{
	struct osp_place_sums sums;
	struct osp_place_plan plan;
	struct osp_place_domain *entry;

	osp_place_count(place, domain, &sums);
	if (!sums.usable)
		return;
	entry = osp_place_add(place, domain, place->call.same_kind, &sums);
	if (!osp_place_judge(place, &sums, entry))
		return;
	if (entry->short_nodes) {
		note_items(place, 0, osp_place_gather(place, domain), entry);
		return;
	}
	osp_place_plan_counted(place, &sums, at_most(sums.free, place->call.want), &plan);
	osp_place_note(place, &plan, entry);
}

const struct osp_place_domain *osp_place_order(struct osp_place *place,
					       const struct osp_place_input *input,
					       uint32_t *candidate_count, uint32_t *domain_count)
{
	uint32_t first = 0;
	uint32_t count = 0;

	if (osp_place_start(place, input))
		osp_topology_level_domains(place->topology, input->level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++) {
		if (osp_place_needs_items(place))
			order_by_node(place, domain);
		else
			order_by_words(place, domain);
	}
	return osp_place_finish(place, candidate_count, domain_count);
}
