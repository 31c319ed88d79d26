/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_place.c - placement case by case: the domain, the nodes, the reasons
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/place/place.h"
#include "tests/fabric.h"
#include "tests/unit/no_memory.h"

#define NODES 24

/*
 * core c1: spine s1 with leaves a (a1-a4), b (b1-b4); spine s2 with d (d1-d4), e (e1-e2)
 * core c2: spine s3 with f (f1-f2) and x1, x2 below no known leaf
 * spine s4 below no known core with g (g1-g3); y1 is known nowhere
 */
static const struct fabric_node fabric[NODES] = {
	{"a1", {"a", "s1", "c1"}},  {"a2", {"a", "s1", "c1"}},	{"a3", {"a", "s1", "c1"}},
	{"a4", {"a", "s1", "c1"}},  {"b1", {"b", "s1", "c1"}},	{"b2", {"b", "s1", "c1"}},
	{"b3", {"b", "s1", "c1"}},  {"b4", {"b", "s1", "c1"}},	{"d1", {"d", "s2", "c1"}},
	{"d2", {"d", "s2", "c1"}},  {"d3", {"d", "s2", "c1"}},	{"d4", {"d", "s2", "c1"}},
	{"e1", {"e", "s2", "c1"}},  {"e2", {"e", "s2", "c1"}},	{"f1", {"f", "s3", "c2"}},
	{"f2", {"f", "s3", "c2"}},  {"x1", {NULL, "s3", "c2"}}, {"x2", {NULL, "s3", "c2"}},
	{"g1", {"g", "s4", NULL}},  {"g2", {"g", "s4", NULL}},	{"g3", {"g", "s4", NULL}},
	{"y1", {NULL, NULL, NULL}}, {"h1", {"h", "s5", "c2"}},	{"h2", {"h", "s5", "c2"}},
};

static struct osp_topology *topology;
static struct osp_place *place;

static int start(void **state)
{
	(void)state;
	topology = fabric_from(fabric, NODES, 3);
	place = osp_place_new(topology, 3);
	return place ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	osp_place_free(place);
	osp_topology_free(topology);
	return 0;
}

static uint32_t node(const char *name)
{
	uint32_t found = osp_topology_find_node(topology, name);

	assert_int_not_equal(found, OSP_NO_NODE);
	return found;
}

/* Calls `put` for each node of "a1 b2 .."; "all" is every one. */
static void each(const char *names, void (*put)(void *to, uint32_t node), void *to)
{
	char copy[256];
	char *rest = copy;
	char *name;

	assert_true(strlen(names) < sizeof(copy));
	strcpy(copy, strcmp(names, "all") ? names : "");
	for (uint32_t n = 0; n < NODES && !strcmp(names, "all"); n++)
		put(to, n);
	while ((name = strsep(&rest, " "))) {
		if (*name)
			put(to, node(name));
	}
}

static void put_in(void *to, uint32_t n)
{
	osp_nodeset_add(to, n);
}

/* NULL stays NULL. */
static struct osp_nodeset *set_of(const char *names)
{
	struct osp_nodeset *set;

	if (!names)
		return NULL;
	set = osp_nodeset_new(NODES);
	assert_non_null(set);
	each(names, put_in, set);
	return set;
}

/* "a1 b2": members by number of node, which is the order of the table. */
static void report_nodes(const struct osp_nodeset *set, char *text, size_t bytes)
{
	int used = 0;

	*text = '\0';
	for (uint32_t n = osp_nodeset_next(set, 0); n < NODES; n = osp_nodeset_next(set, n + 1))
		used += snprintf(text + used, bytes - (size_t)used, "%s%s", used ? " " : "",
				 osp_topology_node_name(topology, n));
}

static const char *const reasons[] = {"", "too small", "not free", "required"};

/*
 * "s1 s2(3 short) | s3(too small 2)": candidates, then the rejected ones; a kind other than 0
 * after a colon, a start in the future after an @.
 */
static void report_domains(const struct osp_place_domain *domains, uint32_t candidates,
			   uint32_t count, char *text, size_t bytes)
{
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < count; i++) {
		const struct osp_place_domain *d = &domains[i];

		used += (size_t)snprintf(text + used, bytes - used, "%s%s",
					 i == candidates ? (i ? " | " : "| ") : (i ? " " : ""),
					 osp_topology_domain(topology, d->domain)->name);
		if (d->kind)
			used += (size_t)snprintf(text + used, bytes - used, ":%u", d->kind);
		if (d->bound_s)
			used += (size_t)snprintf(text + used, bytes - used, "@%d", (int)d->bound_s);
		if (d->reason != OSP_PLACE_CANDIDATE)
			used += (size_t)snprintf(text + used, bytes - used, "(%s %u)",
						 reasons[d->reason], d->short_nodes);
		else if (d->short_nodes)
			used += (size_t)snprintf(text + used, bytes - used, "(%u short)",
						 d->short_nodes);
		assert_true(used < bytes);
	}
}

struct ask {
	const char *title;
	const char *level; /* NULL: spine */
	uint32_t need;
	uint32_t want;	    /* 0: need */
	const char *usable; /* NULL: all */
	const char *free;
	const char *boot;
	const char *required;
	const char *heavy;  /* weight 1000 instead of 1 */
	const char *second; /* kind 1 instead of 0 */
	uint32_t largest_gang;
	bool any_time; /* not free_only */
	const char *domains;
	const char *chosen; /* in the first; NULL: none can be */
};

static void put_weight(void *to, uint32_t n)
{
	((uint32_t *)to)[n] = 1000;
}

static void put_kind(void *to, uint32_t n)
{
	((uint16_t *)to)[n] = 1;
}

struct sets {
	struct osp_nodeset *usable;
	struct osp_nodeset *free_nodes;
	struct osp_nodeset *boot;
	struct osp_nodeset *required;
	struct osp_nodeset *chosen;
	uint32_t weight[NODES];
	uint16_t kind[NODES];
};

static struct osp_place_input input_of(const struct ask *ask, struct sets *sets)
{
	struct osp_place_input input = {
		.need_nodes = ask->need,
		.want_nodes = ask->want ? ask->want : ask->need,
		.free_only = !ask->any_time,
		.largest_gang = ask->largest_gang,
	};

	input.level = (uint32_t)osp_topology_level(topology, ask->level ? ask->level : "spine");
	input.usable = sets->usable = set_of(ask->usable ? ask->usable : "all");
	input.free = sets->free_nodes = set_of(ask->free);
	input.boot = sets->boot = set_of(ask->boot);
	input.required = sets->required = set_of(ask->required);
	sets->chosen = set_of("all");
	memset(sets->kind, 0, sizeof(sets->kind));
	for (uint32_t n = 0; n < NODES; n++)
		sets->weight[n] = 1;
	if (ask->heavy) {
		each(ask->heavy, put_weight, sets->weight);
		input.weight = sets->weight;
	}
	if (ask->second) {
		each(ask->second, put_kind, sets->kind);
		input.kind = sets->kind;
		input.kind_count = 2;
	}
	return input;
}

static void free_sets(struct sets *sets)
{
	free(sets->usable);
	free(sets->free_nodes);
	free(sets->boot);
	free(sets->required);
	free(sets->chosen);
}

static void check(const struct ask *ask)
{
	struct sets sets;
	struct osp_place_input input = input_of(ask, &sets);
	const struct osp_place_domain *domains;
	struct osp_place_domain best;
	uint32_t candidates;
	uint32_t count;
	char text[512];

	domains = osp_place_order(place, &input, &candidates, &count);
	report_domains(domains, candidates, count, text, sizeof(text));
	if (strcmp(text, ask->domains))
		print_message("%s:\n", ask->title);
	assert_string_equal(text, ask->domains);
	if (count) {
		best = domains[0];
		candidates = osp_place_pick(place, &input, best.domain, best.kind, sets.chosen);
		report_nodes(sets.chosen, text, sizeof(text));
		if (strcmp(text, ask->chosen ? ask->chosen : ""))
			print_message("%s:\n", ask->title);
		assert_string_equal(text, ask->chosen ? ask->chosen : "");
		assert_int_equal(candidates, osp_nodeset_count(sets.chosen));
	}
	free_sets(&sets);
}

static void domains_and_reasons(void **state)
{
	static const struct ask asks[] = {
		{.title = "best fit over domains, unknown leaves count one each",
		 .need = 4,
		 .domains = "s2 s1 s3 | s4(too small 1) s5(too small 2)",
		 .chosen = "d1 d2 d3 d4"},
		{.title = "a domain filled exactly before a fuller one",
		 .need = 3,
		 .domains = "s4 s2 s1 s3 | s5(too small 1)",
		 .chosen = "g1 g2 g3"},
		{.title = "too large for every one",
		 .need = 9,
		 .domains = "| s1(too small 1) s2(too small 3) s3(too small 5) s4(too small 6) "
			    "s5(too small 7)"},
		{.title = "free nodes decide now",
		 .need = 4,
		 .free = "a1 b1 b2 d1 d2 d3 e1 f1 g1 g2 g3 h1",
		 .domains = "s2 | s1(not free 1) s4(too small 1) s5(too small 2) s3(not free 3)",
		 .chosen = "d1 d2 d3 e1"},
		{.title = "not free now, but candidates for later: fewest short first",
		 .need = 4,
		 .free = "a1 b1 b2 f1 g1 g2 g3 h1",
		 .any_time = true,
		 .domains =
			 "s1(1 short) s3(3 short) s2(4 short) | s4(too small 1) s5(too small 2)"},
		{.title = "the most nodes up to those wanted",
		 .need = 2,
		 .want = 6,
		 .free = "a1 a2 a3 b1 d1 d2 d3 e1 e2 g1 g2 g3 x1 h1",
		 .domains = "s2 s1 s4 | s3(not free 1) s5(not free 1)",
		 .chosen = "d1 d2 d3 e1 e2"},
		{.title = "required nodes in one domain",
		 .need = 3,
		 .required = "b2 b3",
		 .domains = "s1 | s2(required 2) s3(required 2) s4(required 2) s5(required 2)",
		 .chosen = "b1 b2 b3"},
		{.title = "required nodes in two leaves: both, and the rest in these",
		 .need = 4,
		 .required = "a3 b2",
		 .domains = "s1 | s2(required 2) s3(required 2) s4(required 2) s5(required 2)",
		 .chosen = "a1 a2 a3 b2"},
		{.title = "required nodes of two domains",
		 .need = 2,
		 .required = "a1 d1 d2",
		 .domains = "| s2(required 1) s1(required 2) s3(required 3) s4(required 3) "
			    "s5(required 3)"},
		{.title = "more required than needed: the size is theirs",
		 .need = 1,
		 .required = "d1 d2 e1",
		 .domains = "s2 | s1(required 3) s3(required 3) s4(required 3) s5(required 3)",
		 .chosen = "d1 d2 e1"},
		{.title = "a required node that is not usable",
		 .need = 1,
		 .usable = "a2 a3 g1",
		 .required = "a1",
		 .domains = "| s1(required 1) s4(required 1)"},
		{.title = "a required node that is busy",
		 .need = 2,
		 .free = "a2 a3 a4 d1 d2",
		 .required = "a1",
		 .domains = "| s1(not free 1) s2(required 1) s3(required 1) s4(required 1) "
			    "s5(required 1)"},
		{.title = "a required node known nowhere",
		 .need = 1,
		 .usable = "a1 y1",
		 .required = "y1",
		 .domains = "| s1(required 1)"},
		{.title = "nothing usable", .need = 1, .usable = "y1", .domains = ""},
		{.title = "no size is one node",
		 .need = 0,
		 .usable = "a1 a2 d1",
		 .domains = "s2 s1",
		 .chosen = "d1"},
		{.title = "level leaf: best fit, unknown leaves are no domain",
		 .level = "leaf",
		 .need = 2,
		 .domains = "e f h g a b d",
		 .chosen = "e1 e2"},
		{.title = "level core: the unknown core is none",
		 .level = "core",
		 .need = 7,
		 .domains = "c1 | c2(too small 1)",
		 .chosen = "a1 a2 a3 a4 b1 b2 b3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		check(&asks[i]);
}

static void leaves(void **state)
{
	static const struct ask asks[] = {
		{.title = "two leaves are less than three",
		 .usable = "a1 a2 a3 b1 b2 b3 d1 d2 d3 d4 e1 e2",
		 .need = 6,
		 .domains = "s1 s2",
		 .chosen = "a1 a2 a3 b1 b2 b3"},
		{.title = "fewest leaves before a full domain",
		 .usable = "a1 a2 b1 b2 d1 d2 d3 d4 e1",
		 .need = 4,
		 .domains = "s2 s1",
		 .chosen = "d1 d2 d3 d4"},
		{.title = "the leaf that is filled exactly",
		 .usable = "a1 a2 a3 a4 b1 b2 b3",
		 .need = 3,
		 .domains = "s1",
		 .chosen = "b1 b2 b3"},
		{.title = "what is left over stays in the smaller leaf",
		 .usable = "a1 a2 a3 a4 b1 b2 b3",
		 .need = 6,
		 .domains = "s1",
		 .chosen = "a1 a2 a3 a4 b1 b2"},
		{.title = "in a core: as many leaves, but in one spine",
		 .level = "core",
		 .usable = "a1 a2 a3 b1 b2 b3 d1 d2 d3 e1",
		 .need = 6,
		 .domains = "c1",
		 .chosen = "a1 a2 a3 b1 b2 b3"},
		{.title = "in a core: one spine with the less left over",
		 .level = "core",
		 .usable = "a1 a2 a3 a4 b1 b2 b3 b4 d1 d2 d3 d4 e1 e2",
		 .need = 6,
		 .domains = "c1",
		 .chosen = "d1 d2 d3 d4 e1 e2"},
		{.title = "in a core: fewer leaves before one spine",
		 .level = "core",
		 .usable = "a1 a2 a3 a4 b1 d1 d2 d3 d4 e1 e2",
		 .need = 8,
		 .domains = "c1",
		 .chosen = "a1 a2 a3 a4 d1 d2 d3 d4"},
		{.title = "in a core: the spine of the required node",
		 .level = "core",
		 .usable = "a1 a2 a3 a4 b1 b2 b3 b4 d1 d2 d3 d4 e1 e2",
		 .required = "e1",
		 .need = 6,
		 .domains = "c1",
		 .chosen = "d1 d2 d3 d4 e1 e2"},
		{.title = "unknown leaves: each node alone",
		 .usable = "f1 f2 x1 x2",
		 .need = 3,
		 .domains = "s3",
		 .chosen = "f1 f2 x1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		check(&asks[i]);
}

static void classes_of_nodes(void **state)
{
	static const struct ask asks[] = {
		{.title = "no boot before best fit",
		 .need = 2,
		 .boot = "g1 g2 g3 h1 h2 f1 f2 x1 x2 d1 d2 d3 d4 e1 e2",
		 .domains = "s1 s5 s3 s2 s4",
		 .chosen = "a1 a2"},
		{.title = "the fewest to boot",
		 .usable = "a1 a2 a3 a4 d1 d2 d3 d4",
		 .need = 4,
		 .boot = "a1 a2 d1",
		 .domains = "s2 s1",
		 .chosen = "d1 d2 d3 d4"},
		{.title = "inside: no boot before few leaves",
		 .usable = "a1 a2 a3 a4 b1 b2",
		 .need = 3,
		 .boot = "a3 a4",
		 .domains = "s1",
		 .chosen = "a1 a2 b1"},
		{.title = "the lightest heaviest node",
		 .usable = "a1 a2 a3 d1 d2 d3 d4",
		 .need = 3,
		 .heavy = "a3",
		 .domains = "s2 s1",
		 .chosen = "d1 d2 d3"},
		{.title = "inside: light nodes before few leaves",
		 .usable = "d1 d2 d3 d4 e1 e2",
		 .need = 4,
		 .heavy = "d1 d2",
		 .domains = "s2",
		 .chosen = "d3 d4 e1 e2"},
		{.title = "a required node is heavy: it counts",
		 .usable = "a1 a2 a3 d1 d2 d3",
		 .need = 2,
		 .required = "a1",
		 .heavy = "a1 d3",
		 .domains = "s1 | s2(required 1)",
		 .chosen = "a1 a2"},
		{.title = "kinds never mix",
		 .usable = "a1 a2 a3 a4 b1 b2 b3 b4 d1 d2 d3 d4 e1",
		 .need = 5,
		 .second = "b1 b2 d2 d3 d4 e1 d1",
		 .domains = "s2:1 s1 | s1:1(too small 3)",
		 .chosen = "d1 d2 d3 d4 e1"},
		{.title = "one other kind everywhere",
		 .usable = "a1 a2 d1",
		 .need = 2,
		 .second = "a1 a2 d1",
		 .domains = "s1:1 | s2:1(too small 1)",
		 .chosen = "a1 a2"},
		{.title = "required nodes of two kinds",
		 .usable = "a1 a2",
		 .need = 2,
		 .required = "a1 a2",
		 .second = "a2",
		 .domains = "| s1(required 1) s1:1(required 1)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		check(&asks[i]);
}

static void room_for_the_largest(void **state)
{
	static const struct ask asks[] = {
		{.title = "best fit where it is not known",
		 .usable = "a1 a2 a3 a4 b1 d1 d2 d3 d4 e1 e2",
		 .need = 4,
		 .domains = "s1 s2",
		 .chosen = "a1 a2 a3 a4"},
		{.title = "a remainder large enough is none that is short",
		 .usable = "a1 a2 a3 a4 b1 d1 d2 d3 d4 e1 e2",
		 .need = 4,
		 .largest_gang = 1,
		 .domains = "s1 s2",
		 .chosen = "a1 a2 a3 a4"},
		{.title = "one of two nodes is shorter of three than none of six",
		 .usable = "a1 a2 a3 a4 b1 b2 d1 d2 d3 d4 e1",
		 .need = 4,
		 .largest_gang = 2,
		 .domains = "s1 s2",
		 .chosen = "a1 a2 a3 a4"},
		{.title = "nothing left is best",
		 .usable = "a1 a2 a3 a4 b1 b2 b3 b4 d1 d2 d3 d4",
		 .need = 4,
		 .largest_gang = 2,
		 .domains = "s2 s1",
		 .chosen = "d1 d2 d3 d4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		check(&asks[i]);
}

/* --- the figures told ----------------------------------------------------------------------------
 */

static void figures(void **state)
{
	static const struct ask ask = {.need = 3,
				       .want = 5,
				       .usable = "a1 a2 a3 a4 b1 b2 b3 b4",
				       .free = "a1 a2 a3 b1 b2 b3 b4",
				       .boot = "b4",
				       .heavy = "b1 b2"};
	struct sets sets;
	struct osp_place_input input = input_of(&ask, &sets);
	const struct osp_place_domain *best;
	uint32_t candidates;
	uint32_t count;

	(void)state;
	best = osp_place_order(place, &input, &candidates, &count);
	assert_int_equal(candidates, 1);
	assert_int_equal(best->usable_nodes, 8);
	assert_int_equal(best->free_nodes, 7);
	assert_int_equal(best->short_nodes, 0);
	/* a1 a2 a3 b3, then one of b1 b2; b4 would have to boot. */
	assert_int_equal(best->boot_nodes, 0);
	assert_int_equal(best->weight, 1000);
	assert_int_equal(best->leaves, 2);
	assert_int_equal(best->leaves_least, 2);
	assert_int_equal(best->left_in_leaves, 2);
	assert_int_equal(best->left_in_domain, 2);
	assert_int_equal(best->bound_s, 0);
	free_sets(&sets);
}

/* --- starts in the future ------------------------------------------------------------------------
 */

struct later {
	const char *title;
	struct ask ask;
	/* When nodes end; the others are free since long ago. */
	const char *at_200;
	const char *at_300;
	const char *never;
	const char *domains;
};

struct times {
	int64_t *free_at_s;
	int64_t value;
};

static void put_time(void *to, uint32_t n)
{
	struct times *times = to;

	times->free_at_s[n] = times->value;
}

static void check_later(const struct later *later)
{
	int64_t free_at_s[NODES] = {0};
	struct times times = {free_at_s, 200};
	struct sets sets;
	struct osp_place_input input = input_of(&later->ask, &sets);
	const struct osp_place_domain *domains;
	uint32_t candidates;
	uint32_t count;
	char text[512];

	each(later->at_200 ? later->at_200 : "", put_time, &times);
	times.value = 300;
	each(later->at_300 ? later->at_300 : "", put_time, &times);
	times.value = OSP_PLACE_NEVER_S;
	each(later->never ? later->never : "", put_time, &times);
	domains = osp_place_by_time(place, &input, free_at_s, 100, &candidates, &count);
	report_domains(domains, candidates, count, text, sizeof(text));
	if (strcmp(text, later->domains))
		print_message("%s:\n", later->title);
	assert_string_equal(text, later->domains);
	free_sets(&sets);
}

static void by_time(void **state)
{
	static const struct later cases[] = {
		{.title = "earliest first, now is the least",
		 .ask = {.need = 5},
		 .at_200 = "b1 b2 b3 b4",
		 .at_300 = "e1 e2",
		 .domains = "s1@200(1 short) s2@300(1 short) | s3(too small 1) s4(too small 2) "
			    "s5(too small 3)"},
		{.title = "best fit among equals",
		 .ask = {.need = 4, .usable = "a1 a2 a3 a4 b1 d1 d2 d3 d4"},
		 .domains = "s2@100 s1@100"},
		{.title = "the fifth node to end",
		 .ask = {.need = 5, .usable = "a1 a2 a3 a4 b1 b2 b3 b4"},
		 .at_200 = "a1 a2 a3",
		 .at_300 = "a4 b1 b2",
		 .domains = "s1@200(3 short)"},
		{.title = "the last required node",
		 .ask = {.need = 2, .usable = "a1 a2 a3 a4", .required = "a4"},
		 .at_300 = "a4",
		 .domains = "s1@300(1 short)"},
		{.title = "never enough",
		 .ask = {.need = 3, .usable = "a1 a2 a3 a4 d1 d2 d3"},
		 .never = "a1 a2",
		 .domains = "s2@100 | s1(too small 1)"},
		{.title = "a required node never ends",
		 .ask = {.need = 2, .usable = "a1 a2 a3", .required = "a1"},
		 .never = "a1",
		 .domains = "| s1(too small 1)"},
		{.title = "kinds apart",
		 .ask = {.need = 2, .usable = "a1 a2 a3 a4", .second = "a3 a4"},
		 .at_200 = "a2",
		 .at_300 = "a3",
		 .domains = "s1@200(1 short) s1:1@300(1 short)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_later(&cases[i]);
}

/* --- odd input ----------------------------------------------------------------------------------
 */

static void no_answer(const struct osp_place_input *input)
{
	uint32_t candidates = 77;
	uint32_t count = 77;

	assert_non_null(osp_place_order(place, input, &candidates, &count));
	assert_int_equal(candidates, 0);
	assert_int_equal(count, 0);
}

static void odd_levels_and_domains(void **state)
{
	struct osp_nodeset *all = set_of("all");
	struct osp_nodeset *chosen = set_of("all");
	struct osp_place_input input = {.need_nodes = 1, .want_nodes = 1, .usable = all};

	(void)state;
	no_answer(&input);
	assert_int_equal(osp_place_pick(place, &input, 0, 0, chosen), 0);
	input.level = 4;
	no_answer(&input);
	input.level = 2;
	input.usable = NULL;
	no_answer(&input);
	input.usable = all;
	assert_int_equal(osp_place_pick(place, &input, 0, 0, chosen), 0); /* a leaf */
	assert_int_equal(osp_place_pick(place, &input, 1000, 0, chosen), 0);
	assert_int_equal(osp_place_pick(place, &input, OSP_NO_DOMAIN, 0, chosen), 0);
	assert_true(osp_nodeset_empty(chosen));
	input.need_nodes = input.want_nodes = UINT32_MAX;
	assert_int_equal(osp_place_pick(place, &input, osp_topology_find_domain(topology, 2, "s1"),
					0, chosen),
			 0);
	input.need_nodes = 1;
	input.largest_gang = UINT32_MAX;
	assert_int_equal(osp_place_pick(place, &input, osp_topology_find_domain(topology, 2, "s1"),
					0, chosen),
			 8);
	free(chosen);
	free(all);
}

/* Places past a set's end are empty, those past the fabric's do not count - but for required. */
static void sets_of_other_sizes(void **state)
{
	struct osp_nodeset *small = osp_nodeset_new(3);
	struct osp_nodeset *large = osp_nodeset_new(500);
	struct osp_place_input input = {.level = 2,
					.need_nodes = 1,
					.want_nodes = 8,
					.free_only = true,
					.usable = large,
					.free = small};
	const struct osp_place_domain *best;
	uint32_t candidates;
	uint32_t count;

	(void)state;
	assert_non_null(small);
	assert_non_null(large);
	osp_nodeset_fill(small);
	osp_nodeset_fill(large);
	best = osp_place_order(place, &input, &candidates, &count);
	assert_int_equal(candidates, 1);
	assert_int_equal(count, 5);
	assert_int_equal(best->usable_nodes, 8);
	assert_int_equal(best->free_nodes, 3);
	assert_int_equal(osp_place_pick(place, &input, best->domain, 0, small), 3);
	input.free = NULL;
	input.required = large;
	osp_place_order(place, &input, &candidates, &count);
	assert_int_equal(candidates, 0);
	free(large);
	free(small);
}

/* A kind beyond those that there is scratch for. */
static void unknown_kinds(void **state)
{
	struct osp_nodeset *all = set_of("all");
	uint16_t kind[NODES];
	struct osp_place_input input = {.level = 2,
					.need_nodes = 1,
					.want_nodes = 1,
					.usable = all,
					.kind = kind,
					.kind_count = UINT16_MAX};
	uint32_t candidates;
	uint32_t count;

	(void)state;
	for (uint32_t n = 0; n < NODES; n++)
		kind[n] = (uint16_t)(n < 8 ? 60000 : 2);
	assert_string_equal(
		osp_topology_domain(topology,
				    osp_place_order(place, &input, &candidates, &count)->domain)
			->name,
		"s3");
	assert_int_equal(count, 4); /* s1 is gone */
	for (uint32_t n = 0; n < NODES; n++)
		kind[n] = 60000;
	no_answer(&input);
	free(all);
}

/* --- memory -------------------------------------------------------------------------------------
 */

struct decisions {
	struct sets sets;
	struct osp_place_input input;
	int64_t free_at_s[NODES];
};

static bool decide(void *context)
{
	struct decisions *all = context;
	const struct osp_place_domain *best;
	uint32_t candidates;
	uint32_t count;

	for (all->input.level = 1; all->input.level <= 3; all->input.level++) {
		osp_place_by_time(place, &all->input, all->free_at_s, 0, &candidates, &count);
		best = osp_place_order(place, &all->input, &candidates, &count);
		osp_place_pick(place, &all->input, best->domain, best->kind, all->sets.chosen);
	}
	return true;
}

static bool make_scratch(void *context)
{
	struct osp_place *made = osp_place_new(topology, 3);

	(void)context;
	osp_place_free(made);
	return made;
}

static void memory_is_taken_at_the_start_only(void **state)
{
	static const struct ask ask = {.need = 2, .heavy = "a1 d2", .second = "b1 e1 g2"};
	struct decisions all = {.free_at_s = {0}};

	(void)state;
	all.input = input_of(&ask, &all.sets);
	assert_int_equal(no_memory_at_each(decide, &all), 0);
	all.input.weight = NULL;
	all.input.kind = NULL;
	assert_int_equal(no_memory_at_each(decide, &all), 0);
	free_sets(&all.sets);
	assert_true(no_memory_at_each(make_scratch, NULL) > 10);
	osp_place_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains_and_reasons),
		cmocka_unit_test(leaves),
		cmocka_unit_test(classes_of_nodes),
		cmocka_unit_test(room_for_the_largest),
		cmocka_unit_test(figures),
		cmocka_unit_test(by_time),
		cmocka_unit_test(odd_levels_and_domains),
		cmocka_unit_test(sets_of_other_sizes),
		cmocka_unit_test(unknown_kinds),
		cmocka_unit_test(memory_is_taken_at_the_start_only),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
