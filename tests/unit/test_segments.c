/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_segments.c - segments over a few domains: cases by hand, and random ones against exhaustive
 * search
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/place/parts.h"
#include "lib/place/segments.h"
#include "tests/fabric.h"

#define NODES_MAX 256
#define LEAF	  1
#define SPINE	  2
#define CORE	  3

/* --- by hand ---------------------------------------------------------------------------------- */

/* Leaves with so many nodes each: spines are parted by '/', as in "16 17 18 / 18 15 9". */
static struct osp_topology *leaves_of(const char *sizes)
{
	static char names[NODES_MAX][3][12];
	struct fabric_node nodes[NODES_MAX] = {{NULL, {NULL}}};
	uint32_t count = 0, leaf = 0, spine = 0;
	char *end;

	for (const char *at = sizes; *at; at = end) {
		uint32_t size;

		if (*at == ' ' || *at == '/') {
			spine += *at == '/';
			end = (char *)(uintptr_t)at + 1;
			continue;
		}
		size = (uint32_t)strtoul(at, &end, 10);
		for (uint32_t i = 0; i < size; i++, count++) {
			snprintf(names[count][0], sizeof(names[count][0]), "n%03u", count);
			snprintf(names[count][1], sizeof(names[count][1]), "l%02u", leaf);
			snprintf(names[count][2], sizeof(names[count][2]), "s%02u", spine);
			nodes[count] = (struct fabric_node){
				names[count][0], {names[count][1], names[count][2], "c"}};
		}
		leaf++;
	}
	return fabric_from(nodes, count, 3);
}

struct asked {
	const char *leaves;
	uint32_t level, most, nodes;
	struct osp_segments segments;
	uint32_t whole; /* offered by as many domains as are allowed */
	uint32_t domains;
	const char *taken; /* nodes taken, leaf by leaf; NULL: it does not fit */
};

static const struct asked asked[] = {
	/* nested free lists */
	{"16 17 18 / 18 15 9", CORE, 1, 32, {2, {{LEAF, 16}, {SPINE, 32}}}, 1, 1, "16 0 16 0 0 0"},
	{"18 18 / 18 12", SPINE, 2, 48, {1, {{LEAF, 16}}}, 3, 2, "16 16 16 0"},
	{"18 18 / 18 12", SPINE, 1, 48, {1, {{LEAF, 16}}}, 2, 0, NULL},
	{"4 4 3 / 4 2", CORE, 1, 8, {2, {{LEAF, 4}, {SPINE, 8}}}, 1, 1, "4 4 0 0 0"},
	{"4 4 3 / 4 2", CORE, 1, 16, {2, {{LEAF, 4}, {SPINE, 8}}}, 1, 0, NULL},
	/* a rack of 18 with trays down: segments of 18, 16, 9, 8, 6 and 4 */
	{"18", SPINE, 1, 18, {1, {{LEAF, 18}}}, 1, 1, "18"},
	{"17", SPINE, 1, 18, {1, {{LEAF, 18}}}, 0, 0, NULL},
	{"16", SPINE, 1, 16, {1, {{LEAF, 16}}}, 1, 1, "16"},
	{"15", SPINE, 1, 16, {1, {{LEAF, 16}}}, 0, 0, NULL},
	{"17", SPINE, 1, 18, {1, {{LEAF, 9}}}, 1, 0, NULL},
	{"16", SPINE, 1, 16, {1, {{LEAF, 8}}}, 2, 1, "16"},
	{"15", SPINE, 1, 16, {1, {{LEAF, 8}}}, 1, 0, NULL},
	{"15", SPINE, 1, 12, {1, {{LEAF, 6}}}, 2, 1, "12"},
	{"15", SPINE, 1, 12, {1, {{LEAF, 4}}}, 3, 1, "12"},
	/* a smaller last one: into what is left over, or where it costs a whole one */
	{"18 18", SPINE, 1, 34, {1, {{LEAF, 16}}}, 2, 1, "18 16"},
	{"17 17", SPINE, 1, 34, {1, {{LEAF, 16}}}, 1, 0, NULL},
	{"16 16 5", SPINE, 1, 36, {1, {{LEAF, 16}}}, 2, 1, "16 16 4"},
	{"32 16", SPINE, 1, 20, {1, {{LEAF, 16}}}, 2, 1, "20 0"},
	/* 88 = 2 x 32, and 24 = 16 + 8 in one spine */
	{"16 16 / 16 16 / 16 8",
	 CORE,
	 1,
	 88,
	 {2, {{LEAF, 16}, {SPINE, 32}}},
	 2,
	 1,
	 "16 16 16 16 16 8"},
	{"16 16 / 16 16 / 16 7", CORE, 1, 88, {2, {{LEAF, 16}, {SPINE, 32}}}, 1, 0, NULL},
	/* 6 = a small last leaf in a spine that holds no whole one */
	{"16 16 / 6", CORE, 1, 38, {2, {{LEAF, 16}, {SPINE, 32}}}, 1, 1, "16 16 6"},
	/* several spines without segments: as few as can be, even, best fit */
	{"10 / 8 / 8 / 8", SPINE, 3, 8, {0, {{0, 0}}}, 26, 1, "0 0 0 8"},
	{"16 / 8 / 6 / 6", SPINE, 2, 12, {0, {{0, 0}}}, 24, 1, "12 0 0 0"},
	{"10 / 8 / 6 / 6", SPINE, 2, 8, {0, {{0, 0}}}, 18, 1, "0 8 0 0"},
	{"10 / 8 / 6 / 6", SPINE, 2, 12, {0, {{0, 0}}}, 18, 2, "0 0 6 6"},
	{"10 / 8 / 6 / 6", SPINE, 2, 16, {0, {{0, 0}}}, 18, 2, "8 8 0 0"},
	{"10 / 8 / 6 / 6", SPINE, 2, 17, {0, {{0, 0}}}, 18, 2, "9 8 0 0"},
	{"10 / 8 / 6 / 6", SPINE, 2, 19, {0, {{0, 0}}}, 18, 0, NULL},
	{"10 / 8 / 6 / 6", SPINE, 9, 25, {0, {{0, 0}}}, 30, 4, "7 6 6 6"},
	{"4 / 4 / 4 / 4 / 4 / 4 / 4 / 4", SPINE, 8, 18, {0, {{0, 0}}}, 32, 5, "0 0 0 4 4 4 3 3"},
	/* the smallest leaf that holds the rest */
	{"12 8 5", SPINE, 1, 16, {1, {{LEAF, 4}}}, 6, 1, "12 0 4"},
};

static void assert_taken(const struct osp_topology *topology, const struct osp_nodeset *chosen,
			 const char *expected)
{
	uint32_t first, count;
	char text[128] = "";

	osp_topology_level_domains(topology, LEAF, &first, &count);
	for (uint32_t leaf = first; leaf < first + count; leaf++) {
		uint32_t taken = 0;

		for (uint32_t node = 0; node < chosen->place_count; node++)
			taken += osp_nodeset_test(chosen, node) &&
				 osp_topology_domain_of(topology, node, LEAF) == leaf;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u",
			 leaf > first ? " " : "", taken);
	}
	assert_string_equal(text, expected);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct osp_topology *topology = leaves_of(asked[i].leaves);
		struct osp_cut *cut = osp_cut_new(topology);
		struct osp_nodeset *all = osp_nodeset_new(osp_topology_node_count(topology));
		struct osp_nodeset *chosen = osp_nodeset_copy(all);
		struct osp_cut_input input = {.level = asked[i].level,
					      .domains_max = asked[i].most,
					      .nodes = asked[i].nodes,
					      .segments = asked[i].segments,
					      .free = all};
		struct osp_cut_answer answer;

		osp_nodeset_fill(all);
		osp_cut_judge(cut, &input, &answer);
		print_message("case %zu\n", i);
		assert_int_equal(answer.domains, asked[i].domains);
		assert_int_equal(answer.fits, asked[i].taken != NULL);
		assert_int_equal(answer.whole_offered, asked[i].whole);
		assert_int_equal(osp_cut_pick(cut, &input, chosen),
				 asked[i].taken ? asked[i].nodes : 0);
		if (asked[i].taken)
			assert_taken(topology, chosen, asked[i].taken);
		else
			assert_true(osp_nodeset_empty(chosen));
		free(all);
		free(chosen);
		osp_cut_free(cut);
		osp_topology_free(topology);
	}
}

/* A rack of 18 nodes with none to three of them down: how many nodes whole segments of a size
 * give. */
static void test_rack(void **state)
{
	static const struct {
		uint32_t size, usable[4];
	} rows[] = {
		{18, {18, 0, 0, 0}},  {16, {16, 16, 16, 0}}, {9, {18, 9, 9, 9}},
		{8, {16, 16, 16, 8}}, {6, {18, 12, 12, 12}}, {4, {16, 16, 16, 12}},
	};
	struct osp_topology *topology = leaves_of("18");
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *up = osp_nodeset_new(osp_topology_node_count(topology));
	struct osp_cut_answer answer;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct osp_cut_input input = {.level = SPINE,
					      .domains_max = 1,
					      .nodes = rows[i].size,
					      .segments = {1, {{LEAF, rows[i].size}}},
					      .free = up};

		osp_nodeset_fill(up);
		for (uint32_t down = 0; down < 4; down++) {
			osp_cut_judge(cut, &input, &answer);
			assert_int_equal(answer.whole_offered * rows[i].size, rows[i].usable[down]);
			osp_nodeset_remove(up, 5 * down);
		}
	}
	free(up);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* --- text ------------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int column; /* 0: of the whole */
	const char *says;
} refused[] = {
	{"", 1, "a level and a number of nodes are expected, as in leaf:16"},
	{"leaf", 1, "a level and a number of nodes are expected, as in leaf:16"},
	{"leaf:4,", 8, "a level and a number of nodes are expected, as in leaf:16"},
	{"leaf:0", 6, "leaf:0: a number of nodes from 1 to 131072"},
	{"leaf:4x", 6, "leaf:4x: a number of nodes from 1 to 131072"},
	{"leaf:", 6, "leaf:: a number of nodes from 1 to 131072"},
	{":4", 1, "a level and a number of nodes are expected, as in leaf:16"},
	{"abcdefghijklmnopqrstuvwxyzabcdefghijklmn:4", 1,
	 "a level and a number of nodes are expected, as in leaf:16"},
	{"leaf:131073", 6, "leaf:131073: a number of nodes from 1 to 131072"},
	{"leaf:99999999999999999999999", 6,
	 "leaf:99999999999999999999: a number of nodes from 1 to 131072"},
	{"leaf:4\x7f", 7, "the byte 0x7f is not allowed in segments"},
	{"leaf:12,spine:6", 0,
	 "leaf:12 does not divide spine:6; spine:12 would be cut into whole ones"},
	{"laef:4", 1, "no level is called laef; did you mean leaf"},
	{"rack:4", 1, "no level is called rack; say leaf or spine"},
	{"core:4", 1, "core: a segment lies below the gang's level, core; say leaf or spine"},
	{"leaf:4,leaf:8", 8, "leaf is said twice"},
	{"leaf: 4", 6, "a blank is not allowed in segments; leave it out"},
	{"leaf:19", 0, "leaf:19: the largest leaf has 18 nodes; say at most leaf:18"},
	{"leaf:12,spine:18", 0,
	 "leaf:12 does not divide spine:18; spine:12 would be cut into whole ones"},
};

static void test_text(void **state)
{
	struct osp_topology *topology = leaves_of("18 18 / 18 18");
	struct osp_segments segments = {.count = 7};
	char buffer[64];

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct osp_error error = {.text = ""};

		assert_int_equal(
			osp_segments_parse(refused[i].text, topology, CORE, &segments, &error), -1);
		assert_string_equal(error.text, refused[i].says);
		assert_int_equal(error.column, refused[i].column);
		assert_int_equal(segments.count, 7);
	}
	assert_int_equal(osp_segments_parse("SPINE:32,leaf:16", topology, CORE, &segments, NULL),
			 0);
	assert_string_equal(osp_segments_format(&segments, topology, buffer, sizeof(buffer)),
			    "leaf:16,spine:32");
	osp_topology_free(topology);
}

/* --- random ----------------------------------------------------------------------------------- */

/*
 * Exhaustive search on free counts alone: two levels of segments below the gang's, each item tried
 * in every domain in turn. It knows nothing of floors, losses and sorting.
 */
#define SPINES 3
#define LEAVES 3
#define RACKS  2

struct counts {
	uint32_t free[SPINES][LEAVES][RACKS];
};

struct search {
	uint32_t small, large; /* nodes of a rack's and a leaf's segment; 0: none */
	uint32_t nodes;
	uint32_t spines; /* bits of those that may be used */
};

static bool place_rest(struct counts *counts, const struct search *search, uint32_t nodes);

/* Puts what is left of one leaf segment into racks of one leaf, then goes on with the rest of the
 * gang. */
static bool fill_leaf(struct counts *counts, const struct search *search, uint32_t spine,
		      uint32_t leaf, uint32_t left, uint32_t rest)
{
	uint32_t item = left < search->small ? left : search->small;

	if (!left)
		return place_rest(counts, search, rest);
	for (uint32_t rack = 0; rack < RACKS; rack++) {
		uint32_t *room = &counts->free[spine][leaf][rack];
		bool found;

		if (*room < item)
			continue;
		*room -= item;
		found = fill_leaf(counts, search, spine, leaf, left - item, rest);
		*room += item;
		if (found)
			return true;
	}
	return false;
}

static bool place_rest(struct counts *counts, const struct search *search, uint32_t nodes)
{
	uint32_t item = nodes < search->large ? nodes : search->large;

	if (!nodes)
		return true;
	for (uint32_t spine = 0; spine < SPINES; spine++) {
		for (uint32_t leaf = 0; leaf < LEAVES && search->spines & 1u << spine; leaf++) {
			if (fill_leaf(counts, search, spine, leaf, item, nodes - item))
				return true;
		}
	}
	return false;
}

/* The fewest spines, at most `most`, that hold the gang; 0: none do. */
static uint32_t search_fewest(struct counts *counts, struct search *search, uint32_t most)
{
	uint32_t best = 0;

	for (uint32_t bits = 1; bits < 1u << SPINES; bits++) {
		uint32_t used = (uint32_t)__builtin_popcount(bits);

		search->spines = bits;
		if (used <= most && (!best || used < best) &&
		    place_rest(counts, search, search->nodes))
			best = used;
	}
	return best;
}

#define RACK_NODES_MAX 7

/* rack, leaf, spine; all with RACK_NODES_MAX nodes a rack */
static struct osp_topology *racks(void)
{
	return fabric_regular(1, (uint32_t[]){SPINES, LEAVES, RACKS, RACK_NODES_MAX}, 4);
}

static void count_free(const struct osp_nodeset *set, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (uint32_t node = 0; node < set->place_count; node++) {
		uint32_t rack = node / RACK_NODES_MAX;

		if (osp_nodeset_test(set, node))
			counts->free[rack / RACKS / LEAVES][rack / RACKS % LEAVES][rack % RACKS]++;
	}
}

static uint32_t next_random(uint32_t *seed, uint32_t limit)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*seed >> 8) * limit) >> 24);
}

static uint32_t used_spines(const struct osp_nodeset *set)
{
	struct counts counts;
	uint32_t used = 0;

	count_free(set, &counts);
	for (uint32_t spine = 0; spine < SPINES; spine++) {
		uint32_t nodes = 0;

		for (uint32_t i = 0; i < LEAVES * RACKS; i++)
			nodes += counts.free[spine][i / RACKS][i % RACKS];
		used += nodes > 0;
	}
	return used;
}

/* Any random case: the same feasibility and as few spines, and the nodes picked can be cut so. */
/* The largest number that fits, by asking about one after the other. */
static void check_most(struct osp_cut *cut, const struct osp_cut_input *input,
		       struct search *search, struct osp_nodeset *scratch)
{
	const struct osp_parts parts = {input->domains_max, input->segments};
	const struct osp_place_input place = {.level = input->level, .need_nodes = input->nodes};
	uint32_t most = osp_parts_most(cut, &parts, &place, input->free, scratch);
	struct counts counts;

	count_free(input->free, &counts);
	for (search->nodes = input->nodes - 1; search->nodes > 0; search->nodes--) {
		if (search_fewest(&counts, search, input->domains_max))
			break;
	}
	if (most != search->nodes)
		fail_msg("of %u nodes %u are the most, not %u", input->nodes, search->nodes, most);
}

static void test_random(void **state)
{
	struct osp_topology *topology = racks();
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *set = osp_nodeset_new(osp_topology_node_count(topology));
	struct osp_nodeset *chosen = osp_nodeset_copy(set);
	uint32_t seed = 20, fitting = 0;

	(void)state;
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t small = 1 + next_random(&seed, 4), times = 1 + next_random(&seed, 3);
		struct search search = {.small = small, .large = small * times};
		struct osp_cut_input input = {.level = 3, .free = set};
		struct osp_cut_answer answer;
		struct counts counts;
		uint32_t expected, share = 1 + next_random(&seed, 4);

		osp_nodeset_clear(set);
		for (uint32_t node = 0; node < set->place_count; node++) {
			if (next_random(&seed, 4) < share)
				osp_nodeset_add(set, node);
		}
		input.domains_max = 1 + next_random(&seed, SPINES);
		input.nodes = search.nodes = 1 + next_random(&seed, 3 * search.large);
		if (small > 1)
			input.segments.segment[input.segments.count++] =
				(struct osp_segment){1, search.small};
		input.segments.segment[input.segments.count++] =
			(struct osp_segment){2, search.large};
		count_free(set, &counts);
		expected = search_fewest(&counts, &search, input.domains_max);
		osp_cut_judge(cut, &input, &answer);
		if (answer.domains != expected)
			fail_msg("round %u: %u spines, not %u", round, answer.domains, expected);
		if (osp_cut_pick(cut, &input, chosen) != (expected ? input.nodes : 0))
			fail_msg("round %u: not the number of nodes that fits", round);
		if (!expected) {
			check_most(cut, &input, &search, chosen);
			continue;
		}
		fitting++;
		assert_int_equal(osp_nodeset_count(chosen), input.nodes);
		for (uint32_t n = osp_nodeset_next(chosen, 0); n < chosen->place_count;
		     n = osp_nodeset_next(chosen, n + 1))
			assert_true(osp_nodeset_test(set, n));
		assert_int_equal(used_spines(chosen), expected);
		count_free(chosen, &counts);
		if (search_fewest(&counts, &search, SPINES) != expected)
			fail_msg("round %u: the nodes picked cannot be cut so", round);
	}
	print_message("%u of 20000 fit\n", fitting);
	assert_true(fitting > 5000 && fitting < 19000);
	free(set);
	free(chosen);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* --- nodes that differ ------------------------------------------------------------------------ */

/* In a leaf nodes that need no boot come first, then light ones; what the topology does not know is
 * left. */
static void test_boot_and_weight(void **state)
{
	struct osp_topology *topology = leaves_of("4 4");
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(100), *boot = osp_nodeset_new(8);
	struct osp_nodeset *chosen = osp_nodeset_new(8);
	uint32_t weight[8] = {9, 1, 1, 1, 5, 4, 3, 2};
	struct osp_cut_input input = {.level = SPINE,
				      .domains_max = 1,
				      .nodes = 4,
				      .segments = {1, {{LEAF, 2}}},
				      .free = all,
				      .boot = boot,
				      .weight = weight};

	(void)state;
	osp_nodeset_fill(all);
	osp_nodeset_add(boot, 1);
	osp_nodeset_add(boot, 7);
	for (uint32_t node = 0; node < 4; node++)
		osp_nodeset_remove(all, node);
	osp_nodeset_add(all, 0);
	osp_nodeset_add(all, 1);
	osp_nodeset_add(all, 2);
	assert_int_equal(osp_cut_pick(cut, &input, chosen), 4);
	assert_taken(topology, chosen, "0 4");
	input.nodes = 2;
	assert_int_equal(osp_cut_pick(cut, &input, chosen), 2);
	assert_taken(topology, chosen, "2 0");
	assert_true(osp_nodeset_test(chosen, 2) && osp_nodeset_test(chosen, 0));
	osp_nodeset_remove(all, 2);
	osp_nodeset_remove(all, 0);
	assert_int_equal(osp_cut_pick(cut, &input, chosen), 2);
	assert_true(osp_nodeset_test(chosen, 6) && osp_nodeset_test(chosen, 5));
	free(all);
	free(boot);
	free(chosen);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* Nothing that does not hold together is placed. */
static void test_wrong_input(void **state)
{
	struct osp_topology *topology = leaves_of("4 4");
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(8), *chosen = osp_nodeset_new(8);
	struct osp_cut_input good = {.level = SPINE, .domains_max = 1, .nodes = 4, .free = all};
	struct osp_cut_answer answer;

	(void)state;
	osp_nodeset_fill(all);
	for (int i = 0; i < 9; i++) {
		struct osp_cut_input input = good;

		if (i == 0)
			input.segments = (struct osp_segments){1, {{SPINE, 2}}};
		if (i == 1)
			input.segments = (struct osp_segments){1, {{LEAF, 0}}};
		if (i == 2)
			input.segments = (struct osp_segments){2, {{LEAF, 2}, {LEAF, 4}}};
		if (i == 3)
			input.level = 9;
		if (i == 4)
			input.nodes = 0;
		if (i == 5)
			input.domains_max = 0;
		if (i == 6)
			input.level = 0;
		if (i == 7)
			input.segments = (struct osp_segments){1, {{0, 2}}};
		if (i == 8)
			input.segments = (struct osp_segments){2, {{LEAF, 4}, {SPINE, 6}}};
		osp_cut_judge(cut, &input, &answer);
		assert_false(answer.fits);
		assert_int_equal(osp_cut_pick(cut, &input, chosen), 0);
	}
	osp_cut_judge(cut, &good, &answer);
	assert_true(answer.fits);
	free(all);
	free(chosen);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* Domains that skip the gang's level, or have nothing above them, are in none of it. */
static void test_ragged(void **state)
{
	static const struct fabric_node nodes[] = {
		{"a1", {"la", "s", "c"}},   {"a2", {"la", "s", "c"}},	{"b1", {"lb", NULL, "c"}},
		{"b2", {"lb", NULL, "c"}},  {"d1", {"ld", NULL, NULL}}, {"d2", {"ld", NULL, NULL}},
		{"e1", {NULL, NULL, NULL}},
	};
	struct osp_topology *topology = fabric_from(nodes, 7, 3);
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(7), *chosen = osp_nodeset_new(7);
	struct osp_cut_input input = {.level = SPINE,
				      .domains_max = 2,
				      .nodes = 2,
				      .segments = {1, {{LEAF, 2}}},
				      .free = all};
	struct osp_cut_answer answer;

	(void)state;
	osp_nodeset_fill(all);
	assert_int_equal(osp_cut_pick(cut, &input, chosen), 2);
	assert_true(osp_nodeset_test(chosen, osp_topology_find_node(topology, "a1")));
	input.nodes = 4;
	osp_cut_judge(cut, &input, &answer);
	assert_false(answer.fits);
	assert_int_equal(answer.whole_offered, 1);
	input.level = CORE; /* has both */
	assert_int_equal(osp_cut_pick(cut, &input, chosen), 4);
	assert_true(osp_nodeset_test(chosen, osp_topology_find_node(topology, "b2")));
	assert_false(osp_nodeset_test(chosen, osp_topology_find_node(topology, "d1")));
	/* b1 and b2 have no spine, and so no segment of one, though the core is above them too */
	input.segments = (struct osp_segments){2, {{LEAF, 2}, {SPINE, 2}}};
	osp_cut_judge(cut, &input, &answer);
	assert_false(answer.fits);
	assert_int_equal(answer.whole_offered, 1);
	input.nodes = 2;
	assert_int_equal(osp_cut_pick(cut, &input, chosen), 2);
	assert_true(osp_nodeset_test(chosen, osp_topology_find_node(topology, "a1")));
	input = (struct osp_cut_input){.level = SPINE, .domains_max = 2, .nodes = 3, .free = all};
	osp_cut_judge(cut, &input, &answer); /* whole nodes, in no segment */
	assert_false(answer.fits);
	assert_int_equal(answer.whole_offered, 2);
	free(all);
	free(chosen);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* Of two kinds of node the words are about the one that lacks less. */
static void test_kinds(void **state)
{
	struct osp_topology *topology = leaves_of("4 4 4");
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(12), *scratch = osp_nodeset_new(12),
			   *none = osp_nodeset_new(12);
	uint16_t kind[12] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
	struct osp_place_input place = {
		.level = LEAF, .need_nodes = 12, .kind = kind, .kind_count = 2, .required = none};
	struct osp_parts parts = {.domains_max = 3};
	struct osp_cut_answer answer;

	(void)state;
	osp_nodeset_fill(all);
	osp_parts_judge(cut, &parts, &place, all, scratch, &answer);
	assert_false(answer.fits);
	assert_int_equal(answer.whole_offered, 8);
	place.need_nodes = 4; /* the first kind needs no more domains than the second */
	osp_parts_judge(cut, &parts, &place, all, scratch, &answer);
	assert_true(answer.fits);
	assert_int_equal(answer.domains, 1);
	place.need_nodes = 8;
	osp_parts_judge(cut, &parts, &place, all, scratch, &answer);
	assert_true(answer.fits);
	assert_int_equal(answer.domains, 2);
	osp_nodeset_add(none, 0); /* --nodelist: of the second kind none is left */
	assert_int_equal(osp_parts_keep_kind(&place, all, 1, scratch), 0);
	assert_int_equal(osp_parts_keep_kind(&place, all, 0, scratch), 1);
	free(all);
	free(scratch);
	free(none);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

static void test_anywhere(void **state)
{
	struct osp_topology *topology = leaves_of("4 4 / 4");
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(12);
	struct osp_parts parts = {.domains_max = 1};
	uint32_t level = SPINE;

	(void)state;
	osp_nodeset_fill(all);
	assert_false(osp_parts_kept(cut, &parts, level, all));
	osp_parts_relax(&parts, topology, &level);
	assert_int_equal(level, CORE);
	assert_false(osp_parts_anywhere(&parts));
	assert_true(osp_parts_kept(cut, &parts, level, all));
	osp_parts_relax(&parts, topology, &level);
	assert_true(osp_parts_anywhere(&parts));
	assert_true(osp_parts_kept(cut, &parts, SPINE, all));
	parts.segments = (struct osp_segments){1, {{LEAF, 5}}}; /* segments hold all the same */
	assert_false(osp_parts_anywhere(&parts));
	assert_false(osp_parts_kept(cut, &parts, SPINE, all));
	free(all);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* Several zones never form one gang: four nodes in each of two, and two whose zone is not known. */
static void test_zones(void **state)
{
	static const struct fabric_node nodes[] = {
		{"a0", {"l0", "s0", "c0", "z0"}}, {"a1", {"l0", "s0", "c0", "z0"}},
		{"a2", {"l1", "s1", "c0", "z0"}}, {"a3", {"l1", "s1", "c0", "z0"}},
		{"b0", {"l2", "s2", "c1", "z1"}}, {"b1", {"l2", "s2", "c1", "z1"}},
		{"b2", {"l3", "s3", "c1", "z1"}}, {"b3", {"l3", "s3", "c1", "z1"}},
		{"u0", {"l4", "s4", NULL, NULL}}, {"u1", {"l4", "s4", NULL, NULL}},
	};
	const uint32_t count = sizeof(nodes) / sizeof(nodes[0]), zone = 4;
	struct osp_topology *topology = fabric_from(nodes, count, 4);
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(count), *some = osp_nodeset_new(count + 2);
	uint16_t kind[] = {0, 1, 0, 1, 0, 0, 0, 0, 1, 1};
	struct osp_place_input place = {.level = SPINE, .need_nodes = 5};
	struct osp_parts parts = {.domains_max = 3};
	struct osp_error error = {.text = ""};
	struct osp_cut_answer answer;
	uint32_t level = SPINE;

	(void)state;
	assert_int_equal(osp_topology_zone_level(topology), zone);
	osp_nodeset_fill(all);
	osp_parts_judge(cut, &parts, &place, all, some, &answer);
	assert_true(answer.fits); /* no matter */
	assert_false(osp_parts_in_zones(&place));
	place.zoned = topology;
	assert_true(osp_parts_in_zones(&place));
	assert_int_equal(osp_parts_kinds(&place), 3);
	osp_parts_judge(cut, &parts, &place, all, some, &answer);
	assert_false(answer.fits);
	assert_int_equal(answer.whole_offered, 4);
	assert_int_equal(osp_parts_most(cut, &parts, &place, all, some), 4);
	assert_int_equal(osp_parts_keep_kind(&place, all, 1, some), 4);
	assert_true(osp_nodeset_test(some, 4) && osp_nodeset_test(some, 7));
	assert_int_equal(osp_parts_keep_kind(&place, all, 2, some), 2);
	assert_true(osp_nodeset_test(some, 8) && osp_nodeset_test(some, 9));
	/* two kinds in each */
	place.kind = kind;
	place.kind_count = 2;
	assert_int_equal(osp_parts_kinds(&place), 6);
	assert_int_equal(osp_parts_keep_kind(&place, all, 1, some), 2);
	assert_true(osp_nodeset_test(some, 1) && osp_nodeset_test(some, 3));
	assert_int_equal(osp_parts_keep_kind(&place, all, 3, some), 0);
	osp_nodeset_remove(all, 1); /* of a zone only the nodes that are offered */
	assert_int_equal(osp_parts_keep_kind(&place, all, 1, some), 1);
	assert_true(osp_nodeset_test(some, 3));
	osp_nodeset_add(all, 1);
	assert_int_equal(osp_parts_keep_kind(&place, all, 5, some), 2);
	/* nodes that a gang has */
	assert_false(
		osp_parts_kept(cut, &(struct osp_parts){.domains_max = OSP_NODES_MAX}, SPINE, all));
	assert_true(osp_topology_in_one_zone(topology, some)); /* in no known one */
	osp_nodeset_add(some, 0);
	assert_false(osp_topology_in_one_zone(topology, some));
	/* what is asked for, and after its @TIME */
	assert_int_equal(osp_parts_read(2, "", topology, zone, &parts, &error), -1);
	assert_string_equal(error.text, "--gang-domains=2: several of level zone never form one "
					"gang; ask for a lower level, or leave out --gang-domains");
	assert_int_equal(osp_parts_read(2, "", topology, SPINE, &parts, NULL), 0);
	osp_parts_relax(&parts, topology, &level);
	assert_int_equal(level, CORE);
	assert_int_equal(parts.domains_max, 2);
	for (int i = 0; i < 2; i++) {
		osp_parts_relax(&parts, topology, &level);
		assert_int_equal(level, zone);
		assert_int_equal(parts.domains_max, 1);
	}
	assert_int_equal(osp_topology_relaxed(topology, SPINE), CORE);
	assert_int_equal(osp_topology_relaxed(topology, zone), zone);
	assert_int_equal(osp_topology_relaxed(topology, zone + 1), zone); /* beside the tree */
	free(all);
	free(some);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* No gang is asked for above the zones; where no zone is known there is no such bound, and @TIME
 * passes over a level without domains. */
static void test_above_zone(void **state)
{
	static const struct fabric_node known[] = {
		{"a0", {"l0", "s0", "c0", "z0", "r"}},
		{"b0", {"l1", "s1", "c1", "z1", "r"}},
	};
	static const struct fabric_node unknown[] = {
		{"a0", {"l0", "s0", NULL, NULL, "r"}},
		{"b0", {"l1", "s1", NULL, NULL, "r"}},
	};
	const uint32_t zone = 4, region = 5;
	struct osp_topology *topology = fabric_from(known, 2, 5);
	struct osp_parts parts = {.domains_max = 2};
	uint32_t level = SPINE;

	(void)state;
	assert_true(osp_topology_above_zone(topology, region));
	assert_false(osp_topology_above_zone(topology, zone));
	assert_false(osp_topology_above_zone(topology, region + 1)); /* beside the tree */
	osp_topology_free(topology);
	topology = fabric_from(unknown, 2, 5);
	assert_int_equal(osp_topology_zone_level(topology), 0);
	assert_false(osp_topology_above_zone(topology, region));
	assert_int_equal(osp_topology_relaxed(topology, SPINE), region);
	assert_int_equal(osp_topology_relaxed(topology, region), 0);
	osp_parts_relax(&parts, topology, &level);
	assert_int_equal(level, region);
	assert_int_equal(parts.domains_max, 2);
	/* nodes that are launched may be of several zones */
	assert_int_equal(osp_topology_relaxed_unlaunched(topology, SPINE), zone);
	assert_int_equal(osp_topology_relaxed_unlaunched(topology, zone), zone);
	assert_int_equal(osp_topology_relaxed_unlaunched(topology, region), region);
	osp_topology_free(topology);
	topology = fabric_from(unknown, 2, 4); /* nothing is known above the spines */
	assert_int_equal(osp_topology_relaxed(topology, SPINE), 0);
	assert_int_equal(osp_topology_relaxed_unlaunched(topology, SPINE), zone);
	level = SPINE;
	osp_parts_relax(&parts, topology, &level);
	assert_int_equal(level, SPINE);
	assert_true(osp_parts_anywhere(&parts));
	osp_topology_free(topology);
}

/* Nodes whose zone is not known form no gang with those of the only zone that is known, neither
 * when they are chosen nor when they are judged. */
static void test_one_zone(void **state)
{
	static const struct fabric_node nodes[] = {
		{"a0", {"l0", "s0", "c0", "z0"}},
		{"a1", {"l0", "s0", "c0", "z0"}},
		{"u0", {"l4", "s4", NULL, NULL}},
		{"u1", {"l4", "s4", NULL, NULL}},
	};
	struct osp_topology *topology = fabric_from(nodes, 4, 4), *whole = fabric_from(nodes, 2, 4);
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *all = osp_nodeset_new(4), *some = osp_nodeset_new(4);
	struct osp_place_input place = {.level = SPINE, .need_nodes = 4, .zoned = topology};
	const struct osp_parts parts = {.domains_max = 2};
	struct osp_cut_answer answer;

	(void)state;
	osp_nodeset_fill(all);
	assert_int_equal(osp_parts_kinds(&place), 2);
	assert_false(osp_parts_in_zones(&place));
	osp_parts_judge(cut, &parts, &place, all, some, &answer);
	assert_int_equal(answer.fits, osp_parts_kept(cut, &parts, SPINE, all));
	assert_false(answer.fits);
	assert_int_equal(osp_parts_most(cut, &parts, &place, all, some), 2);
	place.zoned = whole;
	assert_int_equal(osp_parts_kinds(&place), 1);
	free(all);
	free(some);
	osp_cut_free(cut);
	osp_topology_free(topology);
	osp_topology_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rack),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_boot_and_weight),
		cmocka_unit_test(test_ragged),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_anywhere),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_above_zone),
		cmocka_unit_test(test_one_zone),
		cmocka_unit_test(test_wrong_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
