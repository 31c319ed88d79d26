/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_place_random.c - placement against exhaustive search over small random fabrics
 *
 * What is right is worked out here from nothing but the definition in place.h, one node at a time
 * and one subset of nodes after the other. Seeds are fixed.
 */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/place/place.h"
#include "tests/fabric.h"

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define CASES 1500
#else
#define CASES 6000
#endif
#define NODES_MAX    28
#define SEARCHED_MAX 12 /* free nodes of a domain up to which every subset is looked at */
#define KINDS	     3

struct world {
	uint64_t seed;
	struct osp_topology *topology;
	struct osp_place *place;
	uint32_t nodes;
	struct osp_place_input input;
	struct osp_nodeset *usable;
	struct osp_nodeset *free_nodes;
	struct osp_nodeset *boot;
	struct osp_nodeset *required;
	struct osp_nodeset *chosen;
	uint32_t weight[NODES_MAX];
	uint16_t kind[NODES_MAX];
	int64_t free_at_s[NODES_MAX];
};

static uint64_t random_state;
static uint64_t subsets_searched;
static uint64_t candidates_seen;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

/* --- random worlds ------------------------------------------------------------------------------
 */

static char names[NODES_MAX][FABRIC_LEVELS_MAX + 1][48];

/* Names follow the path from the top, so that a domain has one parent; some levels are unknown. */
static void random_fabric(struct world *world)
{
	struct fabric_node nodes[NODES_MAX];
	uint32_t levels = 1 + random_below(FABRIC_LEVELS_MAX);
	uint32_t width = random_below(2) ? 1 : 1 + random_below(3);
	uint32_t leaf_width = 1 + random_below(7);
	uint32_t unknown = random_below(3) ? 0 : 4 + random_below(10);

	memset(nodes, 0, sizeof(nodes));
	world->nodes = random_below(3) ? 8 + random_below(8) : 1 + random_below(NODES_MAX);
	for (uint32_t n = 0; n < world->nodes; n++) {
		int used = 0;
		char path[40] = "";

		for (uint32_t level = levels; level > 0; level--) {
			used += snprintf(path + used, sizeof(path) - (size_t)used, "%c%" PRIu32,
					 'a' + (int)level,
					 random_below(level > 1 ? width : leaf_width));
			snprintf(names[n][level], sizeof(names[n][level]), "%s", path);
			if (unknown && !random_below(unknown)) {
				path[used++] = 'u';
				path[used] = '\0';
				continue;
			}
			nodes[n].domains[level - 1] = names[n][level];
		}
		snprintf(names[n][0], sizeof(names[n][0]), "n%" PRIu32, n);
		nodes[n].name = names[n][0];
	}
	world->topology = fabric_from(nodes, world->nodes, levels);
}

static struct osp_nodeset *random_set(uint32_t nodes, uint32_t percent)
{
	struct osp_nodeset *set = osp_nodeset_new(nodes);

	assert_non_null(set);
	for (uint32_t n = 0; n < nodes; n++) {
		if (random_below(100) < percent)
			osp_nodeset_add(set, n);
	}
	return set;
}

/* A few nodes of one domain, so that they can stand together. */
static struct osp_nodeset *random_required(const struct world *world)
{
	struct osp_nodeset *set = osp_nodeset_new(world->nodes);
	uint32_t near = random_below(world->nodes);
	uint32_t level = world->input.level;

	assert_non_null(set);
	for (uint32_t n = 0; n < world->nodes; n++) {
		bool together = osp_topology_domain_of(world->topology, n, level) ==
				osp_topology_domain_of(world->topology, near, level);

		if (together && !random_below(4) && osp_nodeset_test(world->usable, n))
			osp_nodeset_add(set, n);
	}
	if (!random_below(5))
		osp_nodeset_add(set, random_below(world->nodes));
	return set;
}

static void random_input(struct world *world)
{
	struct osp_place_input *input = &world->input;
	uint32_t weights = random_below(3) ? 1 : 1 + random_below(3);
	uint32_t kinds = random_below(3) ? 1 : 1 + random_below(KINDS);

	input->level = 1 + random_below(osp_topology_level_count(world->topology));
	input->need_nodes = 1 + random_below(1 + random_below(12));
	input->want_nodes = input->need_nodes + (random_below(3) ? 0 : random_below(4));
	input->free_only = random_below(2);
	input->largest_gang = random_below(2) ? random_below(20) : 0;
	world->usable = random_set(world->nodes, random_below(2) ? 100 : 50 + random_below(51));
	world->free_nodes = random_set(world->nodes, 20 + random_below(81));
	world->boot = random_set(world->nodes, random_below(100));
	world->required = random_required(world);
	world->chosen = random_set(world->nodes, 50);
	input->usable = world->usable;
	osp_nodeset_and(world->free_nodes, world->usable);
	input->free = random_below(4) ? world->free_nodes : NULL;
	input->boot = random_below(3) ? NULL : world->boot;
	input->required = random_below(3) ? NULL : world->required;
	for (uint32_t n = 0; n < world->nodes; n++) {
		world->weight[n] = 1 + random_below(weights);
		world->kind[n] = (uint16_t)random_below(kinds);
		world->free_at_s[n] = 1000 + 10 * (int64_t)random_below(12);
		if (!random_below(15))
			world->free_at_s[n] = OSP_PLACE_NEVER_S;
	}
	input->weight = random_below(2) ? world->weight : NULL;
	input->kind = kinds > 1 || random_below(2) ? world->kind : NULL;
	input->kind_count = input->kind ? KINDS : 0;
}

static void new_world(struct world *world, uint64_t seed)
{
	memset(world, 0, sizeof(*world));
	world->seed = seed;
	random_state = seed * 7919;
	random_fabric(world);
	random_input(world);
	world->place = osp_place_new(world->topology, KINDS);
	assert_non_null(world->place);
}

static void end_world(struct world *world)
{
	osp_place_free(world->place);
	osp_topology_free(world->topology);
	free(world->usable);
	free(world->free_nodes);
	free(world->boot);
	free(world->required);
	free(world->chosen);
}

/* --- one domain and kind, worked out node by node -----------------------------------------------
 */

struct slot {
	uint32_t nodes[NODES_MAX]; /* that could be taken */
	uint32_t count;
	uint32_t usable;
	uint32_t free;
	uint32_t required;
	uint32_t required_free;
	uint32_t required_anywhere;
};

static uint32_t number_required(const struct world *world)
{
	return world->input.required ? osp_nodeset_count(world->input.required) : 0;
}

static uint32_t needed(const struct world *world)
{
	uint32_t required = number_required(world);

	return world->input.need_nodes > required ? world->input.need_nodes : required;
}

static uint32_t wanted(const struct world *world)
{
	uint32_t need = needed(world);

	return world->input.want_nodes > need ? world->input.want_nodes : need;
}

static bool is_in(const struct world *world, uint32_t node, uint32_t domain, uint16_t kind)
{
	return osp_nodeset_test(world->usable, node) &&
	       osp_topology_domain_of(world->topology, node, world->input.level) == domain &&
	       (!world->input.kind || world->kind[node] == kind);
}

/* `free` NULL: all usable ones are. */
static void look_at(const struct world *world, uint32_t domain, uint16_t kind,
		    const struct osp_nodeset *free_nodes, struct slot *slot)
{
	memset(slot, 0, sizeof(*slot));
	slot->required_anywhere = number_required(world);
	for (uint32_t n = 0; n < world->nodes; n++) {
		bool is_free = !free_nodes || osp_nodeset_test(free_nodes, n);
		bool required = world->input.required && osp_nodeset_test(world->input.required, n);

		if (!is_in(world, n, domain, kind))
			continue;
		slot->usable++;
		slot->required += required;
		slot->required_free += required && is_free;
		slot->free += is_free;
		if (is_free)
			slot->nodes[slot->count++] = n;
	}
}

static uint64_t class_of(const struct world *world, uint32_t node)
{
	uint64_t boot = world->input.boot && osp_nodeset_test(world->input.boot, node);

	return boot << 32 | (world->input.weight ? world->weight[node] : 0);
}

static int compare_class(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The classes of the nodes beside the required ones, sorted. */
static uint32_t list_classes(const struct world *world, const struct slot *slot, uint32_t subset,
			     uint64_t *classes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < slot->count; i++) {
		if (!((subset >> i) & 1))
			continue;
		if (world->input.required &&
		    osp_nodeset_test(world->input.required, slot->nodes[i]))
			continue;
		classes[count++] = class_of(world, slot->nodes[i]);
	}
	qsort(classes, count, sizeof(*classes), compare_class);
	return count;
}

static bool same_leaf(const struct world *world, uint32_t a, uint32_t b)
{
	uint32_t leaf = osp_topology_domain_of(world->topology, a, 1);

	return a == b ||
	       (leaf != OSP_NO_DOMAIN && leaf == osp_topology_domain_of(world->topology, b, 1));
}

/* How many leaves a subset touches, and how many others that could be taken stand in these. */
static uint32_t count_leaves(const struct world *world, const struct slot *slot, uint32_t subset,
			     uint32_t *left)
{
	uint32_t leaves = 0;

	*left = 0;
	for (uint32_t i = 0; i < slot->count; i++) {
		bool first = true;
		bool touched = false;

		for (uint32_t j = 0; j < slot->count; j++) {
			if (!((subset >> j) & 1) ||
			    !same_leaf(world, slot->nodes[i], slot->nodes[j]))
				continue;
			touched = true;
			first &= j >= i;
		}
		leaves += ((subset >> i) & 1) && first;
		*left += touched && !((subset >> i) & 1);
	}
	return leaves;
}

struct best {
	uint32_t leaves;
	uint32_t left;
};

static bool holds_required(const struct world *world, const struct slot *slot, uint32_t subset)
{
	for (uint32_t i = 0; i < slot->count; i++) {
		if (!((subset >> i) & 1) && world->input.required &&
		    osp_nodeset_test(world->input.required, slot->nodes[i]))
			return false;
	}
	return true;
}

/* Every subset of that size with the best classes. */
static void search(const struct world *world, const struct slot *slot, uint32_t size,
		   struct best *best)
{
	uint64_t lightest[NODES_MAX];
	uint64_t classes[NODES_MAX];

	best->leaves = UINT32_MAX;
	best->left = UINT32_MAX;
	list_classes(world, slot, ~(uint32_t)0, lightest);
	for (uint32_t subset = 0; subset < (uint32_t)1 << slot->count; subset++) {
		uint32_t leaves;
		uint32_t left;
		uint32_t count;

		if ((uint32_t)__builtin_popcount(subset) != size ||
		    !holds_required(world, slot, subset))
			continue;
		count = list_classes(world, slot, subset, classes);
		if (memcmp(classes, lightest, count * sizeof(*classes)))
			continue;
		subsets_searched++;
		leaves = count_leaves(world, slot, subset, &left);
		if (leaves > best->leaves || (leaves == best->leaves && left >= best->left))
			continue;
		best->leaves = leaves;
		best->left = left;
	}
}

/* --- checks -------------------------------------------------------------------------------------
 */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t minus(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

static void check_reason(const struct world *world, const struct slot *slot,
			 const struct osp_place_domain *entry)
{
	enum osp_place_reason reason = OSP_PLACE_CANDIDATE;
	uint32_t missing =
		larger(minus(needed(world), slot->free), slot->required - slot->required_free);

	if (slot->required < slot->required_anywhere) {
		reason = OSP_PLACE_REQUIRED;
		missing = slot->required_anywhere - slot->required;
	} else if (slot->usable < needed(world)) {
		reason = OSP_PLACE_TOO_SMALL;
		missing = needed(world) - slot->usable;
	} else if (missing && world->input.free_only) {
		reason = OSP_PLACE_NOT_FREE;
	}
	assert_int_equal(entry->reason, reason);
	assert_int_equal(entry->short_nodes, missing);
	assert_int_equal(entry->usable_nodes, slot->usable);
	assert_int_equal(entry->free_nodes, slot->free);
}

/* Least leaves exactly; least leftover too where all are alike and no level lies between. */
static void check_choice(const struct world *world, const struct slot *slot, uint32_t size,
			 const struct osp_place_domain *entry)
{
	struct best best;

	if (slot->count > SEARCHED_MAX)
		return;
	search(world, slot, size, &best);
	assert_int_equal(entry->leaves, best.leaves);
	assert_true(entry->left_in_leaves >= best.left);
	if (!world->input.boot && !world->input.weight && world->input.level <= 2)
		assert_int_equal(entry->left_in_leaves, best.left);
	assert_int_equal(entry->left_in_domain, slot->count - size);
	assert_true(entry->leaves_least <= entry->leaves);
}

/* The nodes picked are what the entry says of them. */
static void check_pick(struct world *world, const struct slot *slot, uint32_t size,
		       const struct osp_place_domain *entry)
{
	uint64_t lightest[NODES_MAX];
	uint64_t classes[NODES_MAX];
	uint32_t subset = 0;
	uint32_t left;
	uint32_t boot = 0;
	uint32_t weight = 0;
	uint32_t count = osp_place_pick(world->place, &world->input, entry->domain, entry->kind,
					world->chosen);

	assert_int_equal(count, size);
	assert_int_equal(osp_nodeset_count(world->chosen), size);
	for (uint32_t i = 0; i < slot->count; i++) {
		uint32_t node = slot->nodes[i];

		if (!osp_nodeset_test(world->chosen, node))
			continue;
		subset |= (uint32_t)1 << i;
		boot += class_of(world, node) >> 32 != 0;
		if (world->input.weight)
			weight = larger(weight, world->weight[node]);
	}
	assert_int_equal(__builtin_popcount(subset), size);
	assert_true(holds_required(world, slot, subset));
	list_classes(world, slot, ~(uint32_t)0, lightest);
	count = list_classes(world, slot, subset, classes);
	assert_memory_equal(classes, lightest, count * sizeof(*classes));
	assert_int_equal(count_leaves(world, slot, subset, &left), entry->leaves);
	assert_int_equal(left, entry->left_in_leaves);
	assert_int_equal(boot, entry->boot_nodes);
	assert_int_equal(weight, entry->weight);
}

static int64_t short_remainder(const struct world *world, uint32_t left)
{
	uint32_t largest = world->input.largest_gang;

	if (largest > world->nodes)
		largest = world->nodes;
	return left && left < largest * 3 / 2 ? largest * 3 / 2 - left : 0;
}

static int64_t shortening(const struct world *world, const struct osp_place_domain *entry,
			  bool by_time)
{
	bool later = entry->short_nodes && !by_time;

	return short_remainder(world, entry->left_in_domain) -
	       short_remainder(world, later ? entry->usable_nodes : entry->free_nodes);
}

/* -1: a before b, in the words of place.h. */
static int compare_entries(const struct world *world, const struct osp_place_domain *a,
			   const struct osp_place_domain *b, bool by_time)
{
	uint32_t want = wanted(world);
	uint32_t x = a->free_nodes < want ? a->free_nodes : want;
	uint32_t y = b->free_nodes < want ? b->free_nodes : want;
	bool later_a = a->short_nodes && !by_time;
	bool later_b = b->short_nodes && !by_time;
	uint32_t excess_a = a->leaves - a->leaves_least;
	uint32_t excess_b = b->leaves - b->leaves_least;

#define FIRST(p, q)                                                                                \
	do {                                                                                       \
		if ((p) != (q))                                                                    \
			return (p) < (q) ? -1 : 1;                                                 \
	} while (0)
	FIRST(a->bound_s, b->bound_s);
	FIRST(later_a, later_b);
	if (later_a)
		FIRST(a->short_nodes, b->short_nodes);
	else
		FIRST(y, x);
	FIRST(a->boot_nodes, b->boot_nodes);
	FIRST(a->weight, b->weight);
	FIRST(excess_a, excess_b);
	FIRST(a->left_in_leaves != 0, b->left_in_leaves != 0);
	FIRST(shortening(world, a, by_time), shortening(world, b, by_time));
	FIRST(a->left_in_leaves, b->left_in_leaves);
	FIRST(a->left_in_domain, b->left_in_domain);
	FIRST(a->domain, b->domain);
	FIRST(a->kind, b->kind);
	return 0;
}

static void check_order(const struct world *world, const struct osp_place_domain *entries,
			uint32_t candidates, uint32_t count, bool by_time)
{
	for (uint32_t i = 1; i < candidates; i++)
		assert_int_equal(compare_entries(world, &entries[i - 1], &entries[i], by_time), -1);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(entries[i].reason == OSP_PLACE_CANDIDATE, i < candidates);
	for (uint32_t i = candidates + 1; i < count; i++)
		assert_true(entries[i - 1].short_nodes <= entries[i].short_nodes);
}

/* How many domains and kinds there are with a usable node: none is left out, none told twice. */
static uint32_t count_slots(const struct world *world)
{
	uint32_t first;
	uint32_t count;
	uint32_t slots = 0;

	osp_topology_level_domains(world->topology, world->input.level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++) {
		for (uint16_t kind = 0; kind < (world->input.kind ? KINDS : 1); kind++) {
			struct slot slot;

			look_at(world, domain, kind, NULL, &slot);
			slots += slot.usable != 0;
		}
	}
	return slots;
}

static void check_entry(struct world *world, const struct osp_place_domain *entry)
{
	struct slot slot;
	uint32_t there;
	uint32_t size;

	look_at(world, entry->domain, entry->kind, world->input.free, &slot);
	check_reason(world, &slot, entry);
	if (entry->reason != OSP_PLACE_CANDIDATE || entry->short_nodes) {
		assert_int_equal(osp_place_pick(world->place, &world->input, entry->domain,
						entry->kind, world->chosen),
				 0);
		assert_true(osp_nodeset_empty(world->chosen));
	}
	if (entry->reason != OSP_PLACE_CANDIDATE)
		return;
	candidates_seen++;
	if (entry->short_nodes)
		look_at(world, entry->domain, entry->kind, NULL, &slot);
	there = slot.count;
	size = there < wanted(world) ? there : wanted(world);
	check_choice(world, &slot, size, entry);
	if (!entry->short_nodes)
		check_pick(world, &slot, size, entry);
}

static void copy_answer(struct osp_place_domain *to, const struct osp_place_domain *from,
			uint32_t count)
{
	assert_true(count <= NODES_MAX);
	if (count)
		memcpy(to, from, count * sizeof(*to));
}

static void order_is_exact(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct osp_place_domain entries[NODES_MAX];
		const struct osp_place_domain *answer;
		struct world world;
		uint32_t candidates;
		uint32_t count;

		new_world(&world, seed);
		answer = osp_place_order(world.place, &world.input, &candidates, &count);
		copy_answer(entries, answer, count);
		assert_int_equal(count, count_slots(&world));
		check_order(&world, entries, candidates, count, false);
		for (uint32_t i = 0; i < count; i++)
			check_entry(&world, &entries[i]);
		end_world(&world);
	}
	print_message("%" PRIu64 " candidates, %" PRIu64 " subsets of nodes\n", candidates_seen,
		      subsets_searched);
	assert_true(candidates_seen > CASES / 2);
}

/* --- leaves of one spine -------------------------------------------------------------------------
 */

#define LEAVES_MAX 10
#define LEAF_MAX   90

/* One spine of leaves of up to `largest` nodes. */
static struct osp_topology *random_spine(uint32_t largest)
{
	static char node_names[LEAVES_MAX * LEAF_MAX][16];
	static char leaf_names[LEAVES_MAX][16];
	static struct fabric_node nodes[LEAVES_MAX * LEAF_MAX];
	uint32_t leaves = 1 + random_below(LEAVES_MAX);
	uint32_t count = 0;

	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		snprintf(leaf_names[leaf], sizeof(leaf_names[leaf]), "l%" PRIu32, leaf);
		for (uint32_t i = 1 + random_below(largest); i > 0; i--) {
			snprintf(node_names[count], sizeof(node_names[count]), "n%" PRIu32, count);
			nodes[count] =
				(struct fabric_node){node_names[count], {leaf_names[leaf], "s"}};
			count++;
		}
	}
	return fabric_from(nodes, count, 2);
}

/* Every subset of the leaves. */
static void search_leaves(const struct osp_topology *topology, const struct osp_nodeset *usable,
			  uint32_t size, struct best *best)
{
	uint32_t there[LEAVES_MAX] = {0};
	uint32_t first;
	uint32_t count;

	osp_topology_level_domains(topology, 1, &first, &count);
	for (uint32_t n = 0; n < usable->place_count; n++)
		there[osp_topology_domain_of(topology, n, 1) - first] +=
			osp_nodeset_test(usable, n);
	best->leaves = UINT32_MAX;
	best->left = UINT32_MAX;
	for (uint32_t subset = 1; subset < (uint32_t)1 << count; subset++) {
		uint32_t leaves = (uint32_t)__builtin_popcount(subset);
		uint32_t sum = 0;

		for (uint32_t leaf = 0; leaf < count; leaf++)
			sum += (subset >> leaf) & 1 ? there[leaf] : 0;
		if (sum < size || leaves > best->leaves ||
		    (leaves == best->leaves && sum - size >= best->left))
			continue;
		best->leaves = leaves;
		best->left = sum - size;
	}
}

static void check_spine(uint32_t largest, bool left_exact)
{
	struct osp_topology *topology = random_spine(largest);
	uint32_t nodes = osp_topology_node_count(topology);
	struct osp_nodeset *usable = random_set(nodes, 30 + random_below(71));
	uint32_t size = 1 + random_below(nodes);
	struct osp_place_input input = {
		.level = 2, .need_nodes = size, .want_nodes = size, .usable = usable};
	struct osp_place *place = osp_place_new(topology, 1);
	const struct osp_place_domain *entry;
	uint32_t candidates;
	uint32_t count;

	assert_non_null(place);
	entry = osp_place_order(place, &input, &candidates, &count);
	assert_int_equal(candidates, size <= osp_nodeset_count(usable));
	if (candidates) {
		struct best best;

		search_leaves(topology, usable, size, &best);
		assert_int_equal(entry->leaves, best.leaves);
		assert_true(entry->left_in_leaves >= best.left);
		if (left_exact)
			assert_int_equal(entry->left_in_leaves, best.left);
	}
	osp_place_free(place);
	free(usable);
	osp_topology_free(topology);
}

static void leaves_are_exact(void **state)
{
	(void)state;
	random_state = 20;
	for (int i = 0; i < CASES; i++)
		check_spine(2 + random_below(20), true);
	/* Leaves beyond the exact search for what is left over. */
	for (int i = 0; i < CASES / 20; i++)
		check_spine(LEAF_MAX, false);
}

/* --- starts in the future ------------------------------------------------------------------------
 */

#define NOW_S 1030

/* The earliest time at which the domain has enough, trying every time at which a node ends. */
static int64_t earliest(struct world *world, const struct osp_place_domain *entry)
{
	int64_t best = OSP_PLACE_NEVER_S;

	for (uint32_t i = 0; i <= world->nodes; i++) {
		int64_t at = i < world->nodes ? world->free_at_s[i] : NOW_S;
		uint32_t count = 0;
		uint32_t required = 0;

		at = at < NOW_S ? NOW_S : at;
		for (uint32_t n = 0; n < world->nodes; n++) {
			if (!is_in(world, n, entry->domain, entry->kind) ||
			    world->free_at_s[n] > at)
				continue;
			count++;
			required +=
				world->input.required && osp_nodeset_test(world->input.required, n);
		}
		if (count >= needed(world) && required == number_required(world) && at < best)
			best = at;
	}
	return best;
}

static void check_bound(struct world *world, const struct osp_place_domain *entry)
{
	int64_t at = earliest(world, entry);
	struct osp_nodeset *then = osp_nodeset_new(world->nodes);
	struct slot slot;
	uint32_t size;

	assert_non_null(then);
	assert_int_equal(entry->reason == OSP_PLACE_CANDIDATE, at != OSP_PLACE_NEVER_S);
	if (entry->reason == OSP_PLACE_CANDIDATE) {
		assert_int_equal(entry->bound_s, at);
		for (uint32_t n = 0; n < world->nodes; n++) {
			if (world->free_at_s[n] <= at)
				osp_nodeset_add(then, n);
		}
		look_at(world, entry->domain, entry->kind, then, &slot);
		assert_int_equal(entry->free_nodes, slot.free);
		size = slot.count < wanted(world) ? slot.count : wanted(world);
		check_choice(world, &slot, size, entry);
		world->input.free = then;
		check_pick(world, &slot, size, entry);
	} else {
		assert_true(entry->short_nodes > 0);
		assert_true(entry->reason != OSP_PLACE_NOT_FREE);
	}
	free(then);
}

static void by_time_is_exact(void **state)
{
	uint64_t startable = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct osp_place_domain entries[NODES_MAX];
		const struct osp_place_domain *answer;
		struct world world;
		uint32_t candidates;
		uint32_t count;

		new_world(&world, seed);
		answer = osp_place_by_time(world.place, &world.input, world.free_at_s, NOW_S,
					   &candidates, &count);
		copy_answer(entries, answer, count);
		assert_int_equal(count, count_slots(&world));
		check_order(&world, entries, candidates, count, true);
		for (uint32_t i = 0; i < count; i++)
			check_bound(&world, &entries[i]);
		startable += candidates != 0;
		end_world(&world);
	}
	assert_true(startable > CASES / 3);
}

/* --- determinism --------------------------------------------------------------------------------
 */

static void same_names(const struct world *world, const struct osp_place_domain *entry,
		       const struct osp_topology *other, const struct osp_place_domain *as)
{
	assert_string_equal(osp_topology_domain(world->topology, entry->domain)->name,
			    osp_topology_domain(other, as->domain)->name);
	assert_int_equal(entry->kind, as->kind);
	assert_int_equal(entry->reason, as->reason);
	assert_int_equal(entry->short_nodes, as->short_nodes);
	assert_int_equal(entry->leaves, as->leaves);
	assert_int_equal(entry->left_in_leaves, as->left_in_leaves);
}

static struct osp_nodeset *permuted(const struct osp_nodeset *set, const uint32_t *at)
{
	struct osp_nodeset *other = osp_nodeset_new(set->place_count);

	assert_non_null(other);
	for (uint32_t n = 0; n < set->place_count; n++) {
		if (osp_nodeset_test(set, n))
			osp_nodeset_add(other, at[n]);
	}
	return other;
}

/* The same nodes under other numbers: same domains, same nodes, by name. */
static void check_permuted(struct world *world)
{
	const char *other_names[NODES_MAX];
	uint32_t at[NODES_MAX];
	uint32_t weight[NODES_MAX];
	uint16_t kind[NODES_MAX];
	struct osp_place_input input = world->input;
	const struct osp_place_domain *entries;
	const struct osp_place_domain *as;
	struct osp_topology *topology;
	struct osp_place *place;
	struct osp_nodeset *sets[4];
	uint32_t candidates[2];
	uint32_t count[2];

	for (uint32_t n = 0; n < world->nodes; n++) {
		uint32_t swap = random_below(n + 1);

		at[n] = at[swap];
		at[swap] = n;
	}
	for (uint32_t n = 0; n < world->nodes; n++) {
		other_names[at[n]] = osp_topology_node_name(world->topology, n);
		weight[at[n]] = world->weight[n];
		kind[at[n]] = world->kind[n];
	}
	topology = osp_topology_rebase(world->topology, other_names, world->nodes, NULL);
	assert_non_null(topology);
	place = osp_place_new(topology, KINDS);
	assert_non_null(place);
	input.usable = sets[0] = permuted(world->usable, at);
	sets[1] = permuted(world->free_nodes, at);
	sets[2] = permuted(world->boot, at);
	sets[3] = permuted(world->required, at);
	input.free = input.free ? sets[1] : NULL;
	input.boot = input.boot ? sets[2] : NULL;
	input.required = input.required ? sets[3] : NULL;
	input.weight = input.weight ? weight : NULL;
	input.kind = input.kind ? kind : NULL;
	entries = osp_place_order(world->place, &world->input, &candidates[0], &count[0]);
	as = osp_place_order(place, &input, &candidates[1], &count[1]);
	assert_int_equal(candidates[0], candidates[1]);
	assert_int_equal(count[0], count[1]);
	for (uint32_t i = 0; i < count[0]; i++)
		same_names(world, &entries[i], topology, &as[i]);
	if (candidates[0] && !entries[0].short_nodes) {
		struct osp_nodeset *chosen = osp_nodeset_new(world->nodes);
		struct osp_nodeset *expected;

		assert_non_null(chosen);
		osp_place_pick(place, &input, as[0].domain, as[0].kind, chosen);
		osp_place_pick(world->place, &world->input, entries[0].domain, entries[0].kind,
			       world->chosen);
		expected = permuted(world->chosen, at);
		assert_true(osp_nodeset_equal(chosen, expected));
		free(expected);
		free(chosen);
	}
	for (int i = 0; i < 4; i++)
		free(sets[i]);
	osp_place_free(place);
	osp_topology_free(topology);
}

static void numbers_do_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES / 4; seed++) {
		struct world world;

		new_world(&world, seed);
		check_permuted(&world);
		end_world(&world);
	}
}

/* --- lists that are kept --------------------------------------------------------------------- */

/* One thing of what is asked becomes another. */
static void change_one(struct world *world, int64_t *now_s)
{
	struct osp_place_input *input = &world->input;
	uint32_t n = random_below(world->nodes);

	switch (random_below(10)) {
	case 0:
		input->need_nodes = input->want_nodes = 1 + random_below(world->nodes);
		break;
	case 1:
		input->want_nodes = input->need_nodes + random_below(3);
		break;
	case 2:
		input->level =
			1 + random_below((uint32_t)osp_topology_level_count(world->topology));
		break;
	case 3:
		*now_s = NOW_S + random_below(3);
		break;
	case 4:
		world->free_at_s[n] = NOW_S + random_below(3);
		break;
	case 5:
		if (osp_nodeset_test(world->usable, n))
			osp_nodeset_remove(world->usable, n);
		else
			osp_nodeset_add(world->usable, n);
		break;
	case 6:
		world->weight[n] = random_below(3);
		input->weight = random_below(3) ? world->weight : NULL;
		break;
	case 7:
		world->kind[n] = (uint16_t)random_below(KINDS);
		input->kind = random_below(3) ? world->kind : NULL;
		input->kind_count = input->kind ? KINDS : 0;
		break;
	case 8: /* none free, or only some */
		for (uint32_t i = 0; i < world->nodes; i++)
			world->free_at_s[i] = NOW_S + 1 + random_below(4);
		break;
	default:
		input->boot = random_below(2) ? world->boot : NULL;
		input->largest_gang = random_below(4);
	}
}

/* The answer of a place that was asked much before is that of one that was never asked. */
static void what_was_asked_before_changes_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES / 20; seed++) {
		struct world world;
		int64_t now_s = NOW_S;

		new_world(&world, seed);
		for (int round = 0; round < 40; round++) {
			struct osp_place *fresh = osp_place_new(world.topology, KINDS);
			const struct osp_place_domain *kept, *anew;
			uint32_t candidates[2], counts[2];

			assert_non_null(fresh);
			change_one(&world, &now_s);
			kept = osp_place_by_time(world.place, &world.input, world.free_at_s, now_s,
						 &candidates[0], &counts[0]);
			anew = osp_place_by_time(fresh, &world.input, world.free_at_s, now_s,
						 &candidates[1], &counts[1]);
			assert_int_equal(candidates[0], candidates[1]);
			assert_int_equal(counts[0], counts[1]);
			if (counts[0])
				assert_memory_equal(kept, anew, counts[0] * sizeof(*kept));
			osp_place_free(fresh);
		}
		end_world(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_exact),
		cmocka_unit_test(leaves_are_exact),
		cmocka_unit_test(by_time_is_exact),
		cmocka_unit_test(what_was_asked_before_changes_nothing),
		cmocka_unit_test(numbers_do_not_matter),
	};

	mallopt(M_TRIM_THRESHOLD, 64 << 20); /* each state uses the last one's memory */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
