/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_launch.c - which nodes a gang takes of which some do not run */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/place/launch.h"
#include "tests/fabric.h"
#include "tests/unit/no_memory.h"

#define NODES 12

/* Leaf a: a1 to a4; leaf b: b1 to b4; x1 to x4 are in no known leaf. */
static const struct fabric_node fabric[NODES] = {
	{"a1", {"a"}},	{"a2", {"a"}},	{"a3", {"a"}},	{"a4", {"a"}},
	{"b1", {"b"}},	{"b2", {"b"}},	{"b3", {"b"}},	{"b4", {"b"}},
	{"x1", {NULL}}, {"x2", {NULL}}, {"x3", {NULL}}, {"x4", {NULL}},
};

static struct osp_topology *topology;

static int start(void **state)
{
	(void)state;
	topology = fabric_from(fabric, NODES, 1);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	osp_topology_free(topology);
	return 0;
}

/* "a1 a2" as a set. */
static struct osp_nodeset *set_of(const char *names)
{
	struct osp_nodeset *set = osp_nodeset_new(NODES);
	char copy[128], *at = copy, *name;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((name = strsep(&at, " ")) != NULL) {
		if (*name)
			osp_nodeset_add(set, osp_topology_find_node(topology, name));
	}
	return set;
}

static const char *names_of(const struct osp_nodeset *set)
{
	static char text[128];
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t n = osp_nodeset_next(set, 0); n < NODES; n = osp_nodeset_next(set, n + 1))
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   length ? " " : "", osp_topology_node_name(topology, n));
	return text;
}

struct question {
	const char *known, *unlaunched, *required;
	uint32_t need;
	uint32_t attempt;
	bool whole;
	const char *nodes; /* NULL: there is no such attempt */
};

static void check_placed(const struct question *question, const char *placed_ones,
			 const uint16_t *kind, const uint32_t *weight)
{
	struct osp_nodeset *known = set_of(question->known);
	struct osp_nodeset *unlaunched = set_of(question->unlaunched);
	struct osp_nodeset *required = question->required ? set_of(question->required) : NULL;
	struct osp_nodeset *placed = placed_ones ? set_of(placed_ones) : NULL;
	struct osp_nodeset *nodes = osp_nodeset_new(NODES);
	const struct osp_launch_input input = {
		.topology = topology,
		.level = 1,
		.need_nodes = question->need,
		.known = known,
		.unlaunched = unlaunched,
		.placed = placed,
		.required = required,
		.kind = kind,
		.kind_count = kind ? 2 : 0,
		.weight = weight,
	};
	bool found = osp_launch_nodes(&input, question->attempt, question->whole, nodes);

	assert_int_equal(found, question->nodes != NULL);
	if (found)
		assert_string_equal(names_of(nodes), question->nodes);
	if (!question->attempt)
		assert_int_equal(osp_launch_could(&input), found);
	free(known);
	free(unlaunched);
	free(required);
	free(placed);
	free(nodes);
}

static void check(const struct question *question, const uint16_t *kind, const uint32_t *weight)
{
	check_placed(question, NULL, kind, weight);
}

static void keeps_the_largest_part(void **state)
{
	static const struct question questions[] = {
		{"a1 b1 b2", "x1 x2 x3", NULL, 4, 0, false, "b1 b2 x1 x2"},
		{"a1 b1 b2", "x1 x2 x3", NULL, 4, 1, false, "a1 x1 x2 x3"},
		{"a1 b1 b2", "x1 x2 x3", NULL, 4, 2, false, NULL},
		{"a1 b1 b2", "x1 x2 x3", NULL, 3, 2, false, "x1 x2 x3"},
		{"a1 b1 b2", "x1 x2 x3", NULL, 3, 3, false, NULL},
		{"a1 b1 b2", "x1 x2 x3", NULL, 4, 0, true, "b1 b2 x1 x2 x3"},
		/* places that no longer hold are like none */
		{"b1 b2", "a1 a2", NULL, 4, 0, false, "a1 a2 b1 b2"},
		/* too few */
		{"a1 b1 b2", "x1", NULL, 4, 0, false, NULL},
		{"a1 b1 b2", "", NULL, 4, 0, false, NULL},
		/* enough in one leaf: what keeps it from starting there no launch mends */
		{"b1 b2 b3 b4", "x1 x2 x3", NULL, 4, 0, false, NULL},
		/* nothing is known: one way, not one for each leaf */
		{"", "x1 x2 x3", NULL, 3, 0, false, "x1 x2 x3"},
		{"", "x1 x2 x3", NULL, 3, 1, false, NULL},
		/* known nodes in no leaf are no nodes */
		{"x4 b1", "x1 x2 x3", NULL, 4, 0, false, "b1 x1 x2 x3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check(&questions[i], NULL, NULL);
}

static void takes_what_is_required(void **state)
{
	static const struct question questions[] = {
		{"a1 b1 b2", "x1 x2 x3", "a1", 4, 0, false, "a1 x1 x2 x3"},
		{"a1 b1 b2", "x1 x2 x3", "a1", 4, 1, false, NULL},
		{"a1 b1 b2", "x1 x2 x3", "x3", 3, 0, false, "b1 b2 x3"},
		{"b1 b2 b3", "x1 x2 x3", "x2 x3", 4, 0, false, "b1 b2 x2 x3"},
		{"a1 b1 b2", "x1 x2 x3", "x4", 4, 0, false, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check(&questions[i], NULL, NULL);
}

static void never_mixes_kinds(void **state)
{
	static const uint16_t kind[NODES] = {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1};
	static const struct question questions[] = {
		{"a1 b1 b2", "x1 x2 x3 x4", NULL, 4, 0, false, "b1 b2 x3 x4"},
		{"a1 b1 b2", "x1 x2 x3 x4", NULL, 3, 1, false, "a1 x1 x2"},
		{"a1 b1", "x1 x2 x3 x4", NULL, 4, 0, false, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check(&questions[i], kind, NULL);
}

static void takes_light_nodes_first(void **state)
{
	static const uint32_t weight[NODES] = {1, 1, 1, 1, 5, 1, 1, 1, 9, 2, 9, 1};
	static const struct question question = {"b1 b2", "x1 x2 x3 x4", NULL,	       4,
						 0,	  false,	 "b1 b2 x2 x4"};

	(void)state;
	check(&question, NULL, weight);
}

/* Leaves a, b in spine s, c in t, both spines in core k; of s1 to t3 the spine is known, of k1 the
 * core; of x1 nothing. */
static const struct fabric_node above[NODES] = {
	{"a1", {"a", "s", "k"}},   {"a2", {"a", "s", "k"}},    {"b1", {"b", "s", "k"}},
	{"c1", {"c", "t", "k"}},   {"s1", {NULL, "s", "k"}},   {"s2", {NULL, "s", "k"}},
	{"t1", {NULL, "t", "k"}},  {"t2", {NULL, "t", "k"}},   {"t3", {NULL, "t", "k"}},
	{"k1", {NULL, NULL, "k"}}, {"x1", {NULL, NULL, NULL}}, {"d1", {"d", NULL, NULL}},
};

/* Nodes of which only the spine is known go with those of that spine, and with none of another. */
static void launches_nothing_across_domains_above(void **state)
{
	static const char all[] = "s1 s2 t1 t2 t3 k1 x1";
	static const struct {
		struct question question;
		const char *placed;
	} questions[] = {
		{{"", all, NULL, 3, 0, false, "t1 t2 t3"}, all},
		{{"", all, NULL, 4, 0, false, "t1 t2 t3 k1"}, all},
		{{"", all, NULL, 4, 1, false, "s1 s2 k1 x1"}, all},
		{{"", all, NULL, 4, 2, false, NULL}, all},
		{{"", all, NULL, 2, 2, false, "k1 x1"}, all},
		{{"", all, NULL, 2, 3, false, NULL}, all},
		{{"", all, NULL, 1, 3, false, "x1"}, all},
		{{"", all, NULL, 6, 0, false, NULL}, all},
		{{"", all, NULL, 2, 1, true, "t1 t2 t3 k1 x1"}, all},
		/* of as many known ones, those with more nodes in their spine go first */
		{{"a1", all, NULL, 4, 0, false, "a1 s1 s2 k1"}, all},
		{{"a1", all, NULL, 6, 0, false, NULL}, all},
		{{"a1 c1", all, NULL, 4, 0, false, "c1 t1 t2 t3"}, all},
		{{"a1 c1", all, NULL, 4, 1, false, "a1 s1 s2 k1"}, all},
		{{"a1 a2 c1", all, NULL, 4, 0, false, "a1 a2 s1 s2"}, all},
		{{"b1", all, NULL, 5, 0, true, "b1 s1 s2 k1 x1"}, all},
		/* of a leaf of unknown spine: those of which nothing is known */
		{{"d1", all, NULL, 2, 0, false, "x1 d1"}, all},
		{{"d1", "s1 s2", NULL, 3, 0, false, NULL}, all},
		/* those of the spine before those that may be anywhere */
		{{"", "s1 t1 t2 t3", NULL, 3, 0, false, "t1 t2 t3"}, "t1 t2 t3"},
		/* required ones */
		{{"", all, "s1", 4, 0, false, "s1 s2 k1 x1"}, all},
		{{"", all, "x1", 3, 0, false, "t1 t2 x1"}, all},
		{{"", all, "s1 t1", 3, 0, false, NULL}, all},
		{{"a1", all, "t1", 3, 0, false, "t1 t2 t3"}, all},
		/* what is known of them does not hold */
		{{"", all, NULL, 7, 0, false, "s1 s2 t1 t2 t3 k1 x1"}, NULL},
		{{"c1", all, NULL, 5, 0, true, "c1 s1 t1 t2 t3 k1 x1"}, "s2 t1 t2 t3"},
	};

	(void)state;
	osp_topology_free(topology);
	topology = fabric_from(above, NODES, 3);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check_placed(&questions[i].question, questions[i].placed, NULL, NULL);
	osp_topology_free(topology);
	topology = fabric_from(fabric, NODES, 1);
}

static void says_who_may_meet(void **state)
{
	static const struct {
		const char *nodes;
		bool may;
	} cases[] = {
		{"a1 a2 s1 k1 x1", true}, {"a1 b1", false},   {"a1 t1", false}, {"s1 t1", false},
		{"s1 s2 k1", true},	  {"d1 s1 x1", true}, {"d1 a1", false}, {"", true},
	};
	uint32_t a, s1, t1, k1, x1, a1;

	(void)state;
	osp_topology_free(topology);
	topology = fabric_from(above, NODES, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_nodeset *nodes = set_of(cases[i].nodes);

		assert_int_equal(osp_launch_may_meet(topology, 1, nodes), cases[i].may);
		free(nodes);
	}
	a = osp_topology_find_domain(topology, 1, "a");
	a1 = osp_topology_find_node(topology, "a1");
	s1 = osp_topology_find_node(topology, "s1");
	t1 = osp_topology_find_node(topology, "t1");
	k1 = osp_topology_find_node(topology, "k1");
	x1 = osp_topology_find_node(topology, "x1");
	assert_true(osp_launch_may_join(topology, 1, a1, a));
	assert_true(osp_launch_may_join(topology, 1, s1, a));
	assert_true(osp_launch_may_join(topology, 1, k1, a));
	assert_true(osp_launch_may_join(topology, 1, x1, a));
	assert_false(osp_launch_may_join(topology, 1, t1, a));
	assert_false(
		osp_launch_may_join(topology, 1, a1, osp_topology_find_domain(topology, 1, "b")));
	osp_topology_free(topology);
	topology = fabric_from(fabric, NODES, 1);
}

#define MANY 16384

/* Processor time of so many questions about MANY nodes of one leaf. */
static double seconds_for(const struct osp_launch_input *input, uint32_t times,
			  struct osp_nodeset *nodes)
{
	clock_t began = clock();

	for (uint32_t i = 0; i < times; i++)
		assert_true(osp_launch_nodes(input, 0, false, nodes));
	return (double)(clock() - began) / CLOCKS_PER_SEC;
}

/* In a scheduling call: as many weights as nodes cost about what one weight does, and no more for
 * each node. The lightest half is taken. */
static void costs_no_more_with_many_weights(void **state)
{
	struct fabric_node *many = calloc(MANY, sizeof(*many));
	char(*names)[16] = calloc(MANY, sizeof(*names));
	uint32_t *weight = calloc(MANY, sizeof(*weight));
	struct osp_nodeset *known = osp_nodeset_new(MANY), *unlaunched = osp_nodeset_new(MANY);
	struct osp_nodeset *nodes = osp_nodeset_new(MANY);
	struct osp_launch_input input = {
		.level = 1, .need_nodes = MANY / 2 + 1, .known = known, .unlaunched = unlaunched};
	struct osp_topology *large;
	double alike, each;

	(void)state;
	for (uint32_t n = 0; n < MANY; n++) {
		snprintf(names[n], sizeof(names[n]), "n%u", n);
		many[n] = (struct fabric_node){names[n], {n ? NULL : "a"}};
		osp_nodeset_add(n ? unlaunched : known, n);
	}
	for (uint32_t n = 0; n < MANY; n++)
		weight[n] = (n * 40503U & (MANY - 1)) * 70001U;
	large = fabric_from(many, MANY, 1);
	input.topology = large;
	alike = seconds_for(&input, 4, nodes);
	input.weight = weight;
	each = seconds_for(&input, 4, nodes);
	assert_int_equal(osp_nodeset_count(nodes), MANY / 2 + 1);
	for (uint32_t n = 1; n < MANY; n++)
		assert_int_equal(osp_nodeset_test(nodes, n),
				 weight[n] < MANY / 2 * 70001U + (weight[0] < MANY / 2 * 70001U));
	if (each > 200 * alike + 0.1)
		fail_msg("%.3f s with a weight for each node, %.3f s with one", each, alike);
	osp_topology_free(large);
	free(many);
	free(names);
	free(weight);
	free(known);
	free(unlaunched);
	free(nodes);
}

/* A start then waits; nobody is refused. */
static void survives_without_memory(void **state)
{
	struct osp_nodeset *known = set_of("a1"), *unlaunched = set_of("x1 x2");
	struct osp_nodeset *nodes = osp_nodeset_new(NODES);
	const struct osp_launch_input input = {.topology = topology,
					       .level = 1,
					       .need_nodes = 3,
					       .known = known,
					       .unlaunched = unlaunched};

	(void)state;
	for (int fail = 1; fail <= 2; fail++) {
		no_memory_at((size_t)fail);
		assert_false(osp_launch_nodes(&input, 0, false, nodes));
		no_memory_at((size_t)fail);
		assert_true(osp_launch_could(&input));
		no_memory_at(0);
	}
	assert_true(osp_launch_nodes(&input, 0, false, nodes));
	free(known);
	free(unlaunched);
	free(nodes);
}

static void finds_the_largest_part(void **state)
{
	static const struct {
		const char *nodes, *part;
		uint32_t domains;
	} cases[] = {
		{"a1 b1 b2 x1", "b1 b2", 2},
		{"a1 a2 b1 b2", "a1 a2", 2},
		{"a3", "a3", 1},
		{"x1 x2", "", 0},
		{"", "", 0},
	};
	struct osp_nodeset *part = osp_nodeset_new(NODES);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_nodeset *nodes = set_of(cases[i].nodes);

		assert_int_equal(osp_launch_part(topology, 1, nodes, part), cases[i].domains);
		assert_string_equal(names_of(part), cases[i].part);
		no_memory_at(1);
		assert_int_equal(osp_launch_part(topology, 1, nodes, part), 0);
		no_memory_at(0);
		assert_true(osp_nodeset_empty(part));
		free(nodes);
	}
	free(part);
}

/* Of ways that are as good the lower leaf and kind go first; four of them are tried, of six. */
static void tries_four_ways_in_their_order(void **state)
{
	static const uint16_t kind[NODES] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
	static const char known[] = "a1 a2 b1 b2", unlaunched[] = "x1 x2 x3 x4";
	static const struct question questions[] = {
		{known, unlaunched, NULL, 2, 0, false, "a1 x1"},
		{known, unlaunched, NULL, 2, 1, false, "a2 x2"},
		{known, unlaunched, NULL, 2, 2, false, "b1 x1"},
		{known, unlaunched, NULL, 2, 3, false, "b2 x2"},
		{known, unlaunched, NULL, 2, 4, false, NULL},
		{"", unlaunched, NULL, 2, 0, false, "x1 x3"},
		{"", unlaunched, NULL, 2, 1, false, "x2 x4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check(&questions[i], kind, NULL);
}

/* The light one goes first, though it stands behind more heavy ones than are needed. */
static void takes_the_light_one_behind_heavy_ones(void **state)
{
	static const uint32_t weight[NODES] = {[8] = 5, [9] = 5, [10] = 1, [11] = 5};

	(void)state;
	check(&(const struct question){"", "x1 x2 x3 x4", NULL, 2, 0, false, "x1 x3"}, NULL,
	      weight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_largest_part),
		cmocka_unit_test(takes_what_is_required),
		cmocka_unit_test(never_mixes_kinds),
		cmocka_unit_test(takes_light_nodes_first),
		cmocka_unit_test(tries_four_ways_in_their_order),
		cmocka_unit_test(takes_the_light_one_behind_heavy_ones),
		cmocka_unit_test(launches_nothing_across_domains_above),
		cmocka_unit_test(says_who_may_meet),
		cmocka_unit_test(finds_the_largest_part),
		cmocka_unit_test(survives_without_memory),
		cmocka_unit_test(costs_no_more_with_many_weights),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
