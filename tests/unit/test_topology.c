/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The topology model: built, merged, numbered, ranked, asked and rebased. */
#include "onespine_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/hostlist.h"
#include "lib/topology/builder.h"
#include "lib/topology/readers.h"
#include "lib/topology/topology.h"
#include "tests/fabric.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define ROUNDS 400
#else
#define ROUNDS 2000
#endif

static const char *const levels[] = {"leaf", "spine", "core", "zone"};

/* One call of the builder, in short: what, child, parent; levels by their first letters. */
struct step {
	const char *what; /* "nest" or "node" */
	const char *child;
	const char *parent; /* "s:s1"; NULL: none known */
};

static uint32_t domain_of(struct osp_builder *builder, const char *words,
			  const struct osp_place_in_file *place, struct osp_error *error)
{
	for (uint32_t i = 0; i < COUNT(levels); i++) {
		if (words[0] == levels[i][0])
			return osp_builder_domain(builder, i + 1, words + 2, place, error);
	}
	fail_msg("%s", words);
	return OSP_NO_DOMAIN;
}

/* Runs the steps, step i at f:i+1, and finishes. */
static struct osp_topology *build(const struct step *steps, size_t count, bool merge,
				  struct osp_error *error)
{
	struct osp_builder *builder = osp_builder_new(levels, COUNT(levels), error);
	struct osp_topology *topology = NULL;
	int rc = 0;

	for (size_t i = 0; i < count && steps[i].what && !rc; i++) {
		struct osp_place_in_file place = {"f", (int)i + 1, 1};
		uint32_t parent = steps[i].parent
					  ? domain_of(builder, steps[i].parent, &place, error)
					  : OSP_NO_DOMAIN;

		if (steps[i].parent && parent == OSP_NO_DOMAIN)
			rc = -1;
		else if (!strcmp(steps[i].what, "node"))
			rc = osp_builder_node(builder, steps[i].child, parent, &place, error);
		else
			rc = osp_builder_nest(builder,
					      domain_of(builder, steps[i].child, &place, error),
					      parent, &place, error);
	}
	if (!rc)
		topology = osp_builder_finish(builder, merge, error);
	osp_builder_free(builder);
	return topology;
}

static const struct step small[] = {
	{"nest", "l:l2", "s:s1"},  {"nest", "l:l10", "s:s1"},	  {"nest", "l:l1", "s:s2"},
	{"nest", "s:s1", "c:c1"},  {"nest", "s:s2", "c:c1"},	  {"nest", "c:c1", "z:z"},
	{"nest", "l:l0", "c:c1"},  {"node", "n5", "l:l10"},	  {"node", "n4", "l:l2"},
	{"node", "n10", "l:l2"},   {"node", "n3", "l:l1"},	  {"node", "n6", "s:s1"},
	{"node", "n2", "l:l0"},	   {"node", "n1", "c:c1"},	  {"node", "n0", NULL},
	{"node", "n7", "s:alone"}, {"nest", "l:empty", "s:void"},
};

static void domains_are_numbered_by_level_and_natural_order(void **state)
{
	static const struct osp_domain domains[] = {
		{"l0", 1, 7, 5, 1},
		{"l1", 1, 6, 4, 1},
		{"l2", 1, 5, 0, 2},
		{"l10", 1, 5, 2, 1},
		{"alone", 2, OSP_NO_DOMAIN, 7, 1},
		{"s1", 2, 7, 0, 4},
		{"s2", 2, 7, 4, 1},
		{"c1", 3, 8, 0, 7},
		{"z", 4, OSP_NO_DOMAIN, 0, 7},
	};
	struct osp_topology *t = build(small, COUNT(small), false, NULL);
	uint32_t first, count;

	(void)state;
	assert_non_null(t);
	assert_int_equal(osp_topology_domain_count(t), COUNT(domains));
	for (uint32_t d = 0; d < COUNT(domains); d++) {
		const struct osp_domain *domain = osp_topology_domain(t, d);

		assert_string_equal(domain->name, domains[d].name);
		assert_int_equal(domain->level, domains[d].level);
		assert_int_equal(domain->parent, domains[d].parent);
		assert_int_equal(domain->first_rank, domains[d].first_rank);
		assert_int_equal(domain->node_count, domains[d].node_count);
		assert_int_equal(osp_topology_find_domain(t, domain->level, domain->name), d);
	}
	osp_topology_level_domains(t, 2, &first, &count);
	assert_int_equal(first, 4);
	assert_int_equal(count, 3);
	assert_int_equal(osp_topology_find_domain(t, 2, "void"), OSP_NO_DOMAIN);
	assert_int_equal(osp_topology_find_domain(t, 1, "s1"), OSP_NO_DOMAIN);
	assert_int_equal(osp_topology_level_count(t), 4);
	osp_topology_free(t);
}

static void nodes_are_ranked_by_their_domains_top_down(void **state)
{
	static const char *const by_rank[] = {"n4", "n10", "n5", "n6", "n3",
					      "n2", "n1",  "n7", "n0"};
	struct osp_topology *t = build(small, COUNT(small), false, NULL);

	(void)state;
	assert_int_equal(osp_topology_node_count(t), COUNT(by_rank));
	for (uint32_t rank = 0; rank < COUNT(by_rank); rank++) {
		uint32_t node = osp_topology_node_at_rank(t, rank);

		assert_string_equal(osp_topology_node_name(t, node), by_rank[rank]);
		assert_int_equal(osp_topology_rank_of_node(t, node), rank);
		assert_int_equal(osp_topology_find_node(t, by_rank[rank]), node);
	}
	/* numbers are as given */
	assert_string_equal(osp_topology_node_name(t, 0), "n5");
	assert_int_equal(osp_topology_find_node(t, "n99"), OSP_NO_NODE);
	osp_topology_free(t);
}

static void a_node_has_a_domain_at_each_known_level(void **state)
{
	static const struct {
		const char *node;
		const char *domains[4];
	} cases[] = {
		{"n4", {"l2", "s1", "c1", "z"}},     {"n6", {NULL, "s1", "c1", "z"}},
		{"n2", {"l0", NULL, "c1", "z"}},     {"n1", {NULL, NULL, "c1", "z"}},
		{"n7", {NULL, "alone", NULL, NULL}}, {"n0", {NULL, NULL, NULL, NULL}},
	};
	struct osp_topology *t = build(small, COUNT(small), false, NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t node = osp_topology_find_node(t, cases[i].node);

		for (uint32_t level = 1; level <= 4; level++) {
			uint32_t d = osp_topology_domain_of(t, node, level);
			const char *name = cases[i].domains[level - 1];

			assert_int_equal(osp_topology_domains_of_nodes(t, level)[node], d);
			if (!name)
				assert_int_equal(d, OSP_NO_DOMAIN);
			else
				assert_string_equal(osp_topology_domain(t, d)->name, name);
		}
	}
	osp_topology_free(t);
}

static void levels_are_known_by_name(void **state)
{
	struct osp_topology *t = build(small, COUNT(small), false, NULL);

	(void)state;
	assert_string_equal(osp_topology_level_name(t, 0), "node");
	assert_string_equal(osp_topology_level_name(t, 4), "zone");
	assert_int_equal(osp_topology_level(t, "SPINE"), 2);
	assert_int_equal(osp_topology_level(t, "node"), 0);
	assert_int_equal(osp_topology_level(t, "spines"), -1);
	osp_topology_free(t);
}

static void nodes_in_common_have_a_level(void **state)
{
	static const struct {
		const char *nodes;
		int level;
		const char *domain;
	} cases[] = {
		{"n4", 0, NULL},     {"n0", 0, NULL},	      {"", -1, NULL},
		{"n4,n10", 1, "l2"}, {"n4,n5", 2, "s1"},      {"n4,n6", 2, "s1"},
		{"n4,n3", 3, "c1"},  {"n2,n1", 3, "c1"},      {"n4,n7", -1, NULL},
		{"n4,n0", -1, NULL}, {"n[1-6],n10", 3, "c1"},
	};
	struct osp_topology *t = build(small, COUNT(small), false, NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_nodeset *set = osp_nodeset_new(osp_topology_node_count(t));
		uint32_t domain = 0;

		for (uint32_t n = 0; n < set->place_count; n++) {
			char alone[16], list[64];

			snprintf(alone, sizeof(alone), ",%s,", osp_topology_node_name(t, n));
			snprintf(list, sizeof(list), ",%s,",
				 strcmp(cases[i].nodes, "n[1-6],n10") ? cases[i].nodes
								      : "n1,n2,n3,n4,n5,n6,n10");
			if (strstr(list, alone))
				osp_nodeset_add(set, n);
		}
		assert_int_equal(osp_topology_common_level(t, set, &domain), cases[i].level);
		if (cases[i].domain)
			assert_string_equal(osp_topology_domain(t, domain)->name, cases[i].domain);
		else
			assert_int_equal(domain, OSP_NO_DOMAIN);
		free(set);
	}
	osp_topology_free(t);
}

static void a_domain_gives_its_nodes(void **state)
{
	struct osp_topology *t = build(small, COUNT(small), false, NULL);
	struct osp_nodeset *set = osp_nodeset_new(osp_topology_node_count(t));

	(void)state;
	osp_topology_add_domain_nodes(t, osp_topology_find_domain(t, 2, "s1"), set);
	assert_int_equal(osp_nodeset_count(set), 4);
	assert_true(osp_nodeset_test(set, osp_topology_find_node(t, "n6")));
	osp_topology_add_domain_nodes(t, osp_topology_find_domain(t, 2, "alone"), set);
	assert_int_equal(osp_nodeset_count(set), 5);
	free(set);
	osp_topology_free(t);
}

static void twins_become_one(void **state)
{
	/* two leaves a node, two spines above the leaves, and cores that only then are the same */
	static const struct step rails[] = {
		{"node", "n1", "l:rail2"},    {"node", "n2", "l:rail2"},
		{"node", "n1", "l:rail10"},   {"node", "n2", "l:rail10"},
		{"node", "n3", "l:l"},	      {"nest", "l:rail2", "s:s1"},
		{"nest", "l:rail10", "s:s1"}, {"nest", "l:l", "s:s1"},
		{"nest", "l:rail10", "s:s2"}, {"nest", "l:rail2", "s:s2"},
		{"nest", "l:l", "s:s2"},      {"nest", "s:s1", "c:a"},
		{"nest", "s:s2", "c:b"},
	};
	struct osp_error error = {0};
	struct osp_topology *t = build(rails, COUNT(rails), true, &error);

	(void)state;
	assert_string_equal(error.text, "");
	assert_int_equal(osp_topology_domain_count(t), 4);
	assert_string_equal(osp_topology_domain(t, 0)->name, "l");
	assert_string_equal(osp_topology_domain(t, 1)->name, "rail2");
	assert_string_equal(osp_topology_domain(t, 2)->name, "s1");
	assert_string_equal(osp_topology_domain(t, 3)->name, "a");
	assert_int_equal(osp_topology_domain(t, 3)->node_count, 3);
	osp_topology_free(t);
	assert_null(build(rails, COUNT(rails), false, &error));
	assert_string_equal(error.text, "node n1 is under leaf rail2 (f:1) and leaf rail10");
	assert_int_equal(error.line, 3);
}

/* Links are missing: no two rails have the same children. */
static void rails_with_missing_links_become_one(void **state)
{
	static const struct step rails[] = {
		{"node", "n1", "l:r1"},	 {"node", "n2", "l:r1"},  {"node", "n3", "l:r1"},
		{"node", "n1", "l:r2"},	 {"node", "n2", "l:r2"},  {"node", "n4", "l:r2"},
		{"node", "n3", "l:r3"},	 {"node", "n2", "l:r3"},  {"node", "n4", "l:r3"},
		{"node", "n5", "l:a"},	 {"nest", "l:r1", "s:x"}, {"nest", "l:r2", "s:x"},
		{"nest", "l:r3", "s:y"}, {"nest", "l:a", "s:x"},  {"nest", "l:a", "s:y"},
	};
	struct osp_error error = {0};
	struct osp_topology *t = build(rails, COUNT(rails), true, &error);

	(void)state;
	assert_string_equal(error.text, "");
	assert_int_equal(osp_topology_domain_count(t), 3);
	assert_string_equal(osp_topology_domain(t, 1)->name, "r1");
	assert_int_equal(osp_topology_domain(t, 1)->node_count, 4);
	assert_string_equal(osp_topology_domain(t, 2)->name, "x");
	osp_topology_free(t);
}

/* A range that reaches over two leaves makes no rail of them. */
static void a_range_over_several_leaves_is_refused(void **state)
{
	static const struct step steps[] = {
		{"node", "n1", "l:a"}, {"node", "n2", "l:a"}, {"node", "n3", "l:b"},
		{"node", "n4", "l:b"}, {"node", "n1", "l:c"}, {"node", "n2", "l:c"},
		{"node", "n3", "l:c"}, {"node", "n4", "l:c"}, {"node", "n5", "l:c"},
	};
	struct osp_error error = {0};

	(void)state;
	assert_null(build(steps, COUNT(steps), true, &error));
	assert_string_equal(error.text, "node n1 is under leaf a (f:1) and leaf c");
}

static void second_parents_are_refused(void **state)
{
	static const struct {
		struct step steps[6];
		const char *words;
	} cases[] = {
		{{{"node", "n1", "l:a"}, {"node", "n2", "l:a"}, {"node", "n1", "l:b"}},
		 "f:3:1: node n1 is under leaf a (f:1) and leaf b"},
		{{{"node", "n1", "l:a"}, {"node", "n1", "s:b"}},
		 "f:2:1: node n1 is under leaf a (f:1) and spine b"},
		{{{"node", "n1", "l:a"}, {"node", "n1", "l:a"}},
		 "f:2:1: node n1 is given twice (f:1)"},
		{{{"node", "n1", NULL}, {"node", "n1", "l:a"}},
		 "f:2:1: node n1 is given twice (f:1)"},
		{{{"node", "n1", "l:a"}, {"node", "n1", NULL}},
		 "f:2:1: node n1 is given twice (f:1)"},
		{{{"node", "n1", "l:a"},
		  {"node", "n2", "l:b"},
		  {"nest", "l:a", "s:s1"},
		  {"nest", "l:b", "s:s1"},
		  {"nest", "l:a", "s:s2"}},
		 "f:5:1: leaf a is under spine s1 (f:3) and spine s2"},
		{{{"nest", "s:a", "l:b"}},
		 "f:1:1: spine a cannot be under leaf b: only a higher level's can"},
		{{{"nest", "s:a", "s:a"}},
		 "f:1:1: spine a cannot be under spine a: only a higher level's can"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {0};
		char words[800];

		assert_null(build(cases[i].steps, COUNT(cases[i].steps), true, &error));
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
	}
}

static void names_have_rules(void **state)
{
	static const struct {
		struct step step;
		const char *words;
	} cases[] = {
		{{"node", "", "l:a"},
		 "f:1:1: a node's name of 1 to 255 bytes is expected, not one of 0"},
		{{"node", "a,b", NULL}, "f:1:1: node 'a,b': ',' is not allowed in its name"},
		{{"node", "a b", NULL}, "f:1:1: node 'a b': ' ' is not allowed in its name"},
		{{"node", "a[1]", NULL}, "f:1:1: node 'a[1]': '[' is not allowed in its name"},
		{{"node", "a\033[0m", NULL}, "f:1:1: a control character in a node's name"},
		{{"node", "a\xc2\x85", NULL}, "f:1:1: a control character in a node's name"},
		{{"node", "a\xe2\x80\xa8", NULL}, "f:1:1: a control character in a node's name"},
		{{"node", "a\xe2\x80\xa9", NULL}, "f:1:1: a control character in a node's name"},
		{{"node",
		  "\xef\xbb\xbf"
		  "a",
		  NULL},
		 "f:1:1: a control character in a node's name"},
		{{"node", "a\xef\xbf\xbe", NULL}, "f:1:1: a control character in a node's name"},
		{{"node", "a\xef\xbf\xbf", NULL}, "f:1:1: a control character in a node's name"},
		{{"node", "a\177", NULL}, "f:1:1: a control character in a node's name"},
		{{"node", "a\xff", NULL}, "f:1:1: bytes not UTF-8 in a node's name"},
		{{"node", "a\xc0\x80", NULL}, "f:1:1: bytes not UTF-8 in a node's name"},
		{{"node", "\xe2\x82", NULL}, "f:1:1: bytes not UTF-8 in a node's name"},
		{{"node", "n", "s:\n"}, "f:1:1: a control character in a spine's name"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {0};
		char words[800];

		assert_null(build(&cases[i].step, 1, false, &error));
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
	}
	/* a switch's name may have what only a hostlist could not carry; nodes' UTF-8 is fine */
	osp_topology_free(build(
		(struct step[]){{"node", "\xc3\xa9\xf0\x9f\x8d\x8e\xee\x80\x80", "s:Rack 4, [a]"}},
		1, false, NULL));
}

static void level_names_have_rules(void **state)
{
	static const struct {
		const char *names[2];
		size_t count;
		const char *words;
	} cases[] = {
		{{NULL}, 0, "1 to 15 levels are expected, not 0"},
		{{NULL}, 16, "1 to 15 levels are expected, not 16"},
		{{"leaf", "Leaf"}, 2, "level 'Leaf' is named twice"},
		{{"node"}, 1, "level 'node' is the node itself; name the ones above"},
		{{""}, 1, "level '': a name of 1 to 31 letters is expected"},
		{{"a23456789012345678901234567890123"},
		 1,
		 "level 'a23456789012345678901234567890123': a name of 1 to 31 letters is "
		 "expected"},
		{{"top of rack"},
		 1,
		 "level 'top of rack': only letters, digits, '_' and '-' are allowed in a level's "
		 "name"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {0};

		assert_null(osp_builder_new(cases[i].names, cases[i].count, &error));
		assert_string_equal(error.text, cases[i].words);
	}
	osp_builder_free(osp_builder_new((const char *const[]){"rail_group-2"}, 1, NULL));
	assert_string_equal(osp_default_level_name(1), "leaf");
	assert_string_equal(osp_default_level_name(4), "layer4");
	assert_string_equal(osp_default_level_name(OSP_LEVELS_MAX), "layer15");
	assert_null(osp_default_level_name(OSP_LEVELS_MAX + 1));
}

/* What a file without lines says, and what no file says. */
static void refusals_without_a_line(void **state)
{
	static const struct osp_place_in_file in_file = {"hosts.csv", 0, 0};
	static const struct osp_node_note note = {.source = "ec2", .instance_id = "i-1"};
	struct osp_builder *builder = osp_builder_new(levels, 1, NULL);
	struct osp_error error = {0};
	char name[1026] = "";

	(void)state;
	assert_int_equal(osp_builder_node(builder, "n", OSP_NO_DOMAIN, &in_file, &error), 0);
	assert_int_equal(osp_builder_node(builder, "n", OSP_NO_DOMAIN, NULL, &error), -1);
	assert_string_equal(error.text, "node n is given twice (hosts.csv)");
	osp_error_clear(&error);
	assert_int_equal(osp_builder_node(builder, "o", OSP_NO_DOMAIN, NULL, &error), 0);
	assert_int_equal(osp_builder_node(builder, "o", OSP_NO_DOMAIN, NULL, &error), -1);
	assert_string_equal(error.text, "node o is given twice");
	osp_error_clear(&error);
	assert_int_equal(osp_builder_domain(builder, 0, "n", NULL, &error), OSP_NO_DOMAIN);
	assert_string_equal(error.text, "level 0 of n: there are only 1");
	osp_error_clear(&error);
	assert_int_equal(osp_builder_note(builder, "m", &note, NULL, &error), -1);
	assert_string_equal(error.text, "node m has a source but is not in the topology");
	assert_int_equal(osp_builder_note(builder, "n", &note, NULL, NULL), 0);
	osp_error_clear(&error);
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(osp_builder_node(builder, name, OSP_NO_DOMAIN, NULL, &error), -1);
	assert_non_null(strstr(error.text, "bytes is expected, not one of 1025"));
	osp_error_clear(&error);
	assert_int_equal(osp_builder_node(builder, "", OSP_NO_DOMAIN, NULL, &error), -1);
	assert_non_null(strstr(error.text, "bytes is expected, not one of 0"));
	osp_builder_free(builder);
}

static void one_node_has_at_most_64_parents(void **state)
{
	struct osp_builder *builder = osp_builder_new(levels, 1, NULL);
	struct osp_error error = {0};
	int rc = 0;

	(void)state;
	for (int i = 0; i <= 64; i++) {
		char name[16];

		assert_int_equal(rc, 0);
		snprintf(name, sizeof(name), "l%d", i);
		rc = osp_builder_node(builder, "n",
				      osp_builder_domain(builder, 1, name, NULL, NULL), NULL,
				      &error);
	}
	assert_int_equal(rc, -1);
	assert_string_equal(error.text, "node n is under more than 64 switches");
	osp_builder_free(builder);
}

static void a_topology_has_at_most_131072_nodes(void **state)
{
	struct osp_builder *builder = osp_builder_new(levels, 1, NULL);
	struct osp_error error = {0};
	struct osp_topology *t;

	(void)state;
	assert_int_equal(osp_builder_domain(builder, 2, "s", NULL, &error), OSP_NO_DOMAIN);
	assert_string_equal(error.text, "level 2 of s: there are only 1");
	osp_error_clear(&error);
	for (int i = 0; i <= OSP_NODES_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(osp_builder_node(builder, name, OSP_NO_DOMAIN, NULL, &error),
				 i < OSP_NODES_MAX ? 0 : -1);
	}
	assert_string_equal(error.text, "more than 131072 nodes");
	t = osp_builder_finish(builder, true, NULL);
	assert_int_equal(osp_topology_node_count(t), OSP_NODES_MAX);
	osp_topology_free(t);
	osp_builder_free(builder);
}

static void rebasing_keeps_the_fabric(void **state)
{
	static const char *const names[] = {"n1", NULL, "new", "n10", "n4", NULL, "n7"};
	struct osp_topology *t = build(small, COUNT(small), false, NULL);
	struct osp_topology *r = osp_topology_rebase(t, names, COUNT(names), NULL);
	uint32_t l2 = osp_topology_find_domain(r, 1, "l2");

	(void)state;
	assert_int_equal(osp_topology_node_count(r), COUNT(names));
	assert_int_equal(osp_topology_domain_count(r), 5); /* l2, alone, s1, c1, z */
	for (uint32_t n = 0; n < COUNT(names); n++) {
		assert_string_equal(osp_topology_node_name(r, n), names[n] ? names[n] : "");
		if (names[n])
			assert_int_equal(osp_topology_find_node(r, names[n]), n);
	}
	assert_int_equal(osp_topology_find_node(r, "n5"), OSP_NO_NODE);
	assert_int_equal(osp_topology_find_node(r, ""), OSP_NO_NODE);
	assert_int_equal(osp_topology_domain(r, l2)->node_count, 2);
	assert_int_equal(osp_topology_domain_of(r, 3, 1), l2);
	assert_int_equal(osp_topology_domain_of(r, 0, 1), OSP_NO_DOMAIN);
	assert_int_equal(osp_topology_domain_of(r, 3, 0), OSP_NO_DOMAIN);
	assert_string_equal(osp_topology_domain(r, osp_topology_domain_of(r, 0, 3))->name, "c1");
	for (uint32_t level = 1; level <= 4; level++) {
		assert_int_equal(osp_topology_domain_of(r, 1, level), OSP_NO_DOMAIN);
		assert_int_equal(osp_topology_domain_of(r, 2, level), OSP_NO_DOMAIN);
	}
	/* the same level names though some have no domain left */
	assert_int_equal(osp_topology_level(r, "zone"), 4);
	osp_topology_free(r);
	osp_topology_free(t);
}

/* Another name, place or level makes another fabric; the same words do not. */
static void fabrics_are_compared(void **state)
{
	static const struct fabric_node one[] = {
		{"n1", {"a", "x"}}, {"n2", {"a", "x"}}, {"n3", {"b", "x"}}, {"n4", {"c", "y"}}};
	static const struct {
		uint32_t count, levels;
		struct fabric_node nodes[4];
		bool same;
	} cases[] = {
		{4,
		 2,
		 {{"n1", {"a", "x"}}, {"n2", {"a", "x"}}, {"n3", {"b", "x"}}, {"n4", {"c", "y"}}},
		 true},
		{4,
		 2,
		 {{"n1", {"a", "x"}}, {"n2", {"b", "x"}}, {"n3", {"b", "x"}}, {"n4", {"c", "y"}}},
		 false},
		{4,
		 2,
		 {{"n1", {"a", "x"}}, {"n2", {"a", "x"}}, {"n3", {"b", "x"}}, {"n4", {"d", "y"}}},
		 false},
		{4,
		 2,
		 {{"n1", {"a", "x"}}, {"n2", {"a", "x"}}, {"n3", {"b", "y"}}, {"n4", {"c", "y"}}},
		 false},
		{4,
		 2,
		 {{"n1", {"a", "x"}}, {"n2", {"a", "x"}}, {"n3", {"b", "x"}}, {"n4", {"b", "x"}}},
		 false},
		{3, 2, {{"n1", {"a", "x"}}, {"n2", {"a", "x"}}, {"n3", {"b", "x"}}}, false},
		{4, 1, {{"n1", {"a"}}, {"n2", {"a"}}, {"n3", {"b"}}, {"n4", {"c"}}}, false},
	};
	struct osp_topology *a = fabric_from(one, 4, 2);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_topology *b =
			fabric_from(cases[i].nodes, cases[i].count, cases[i].levels);

		assert_int_equal(osp_topology_same_fabric(a, b), cases[i].same);
		osp_topology_free(b);
	}
	osp_topology_free(a);
}

static void rebasing_on_a_name_twice_is_refused(void **state)
{
	static const char *const names[] = {"n1", "n4", "n1"};
	struct osp_topology *t = build(small, COUNT(small), false, NULL);
	struct osp_error error = {0};
	struct osp_topology *none = osp_topology_rebase(t, NULL, 0, &error);

	(void)state;
	assert_int_equal(osp_topology_node_count(none), 0);
	assert_int_equal(osp_topology_domain_count(none), 0);
	osp_topology_free(none);
	assert_null(osp_topology_rebase(t, names, COUNT(names), &error));
	assert_string_equal(error.text, "node n1 is named twice");
	osp_topology_free(t);
}

static uint32_t seed = 1;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % below;
}

/* A forest of any shape: each domain and node below any domain of a higher level, or none. */
static struct osp_topology *random_forest(void)
{
	struct osp_builder *builder = osp_builder_new(levels, 4, NULL);
	uint32_t count = next_random(20), nodes = next_random(40), level_of[20];
	struct osp_topology *t;
	char name[16];

	for (uint32_t d = 0; d < count; d++) {
		level_of[d] = 1 + next_random(4);
		snprintf(name, sizeof(name), "d%u", next_random(1000) * 20 + d);
		assert_int_equal(osp_builder_domain(builder, level_of[d], name, NULL, NULL), d);
	}
	for (uint32_t d = 0; d < count; d++) {
		uint32_t parent = next_random(count);

		if (level_of[parent] > level_of[d])
			osp_builder_nest(builder, d, parent, NULL, NULL);
	}
	for (uint32_t n = 0; n < nodes; n++) {
		snprintf(name, sizeof(name), "n%u", next_random(1000) * 40 + n);
		osp_builder_node(builder, name,
				 count && next_random(8) ? next_random(count) : OSP_NO_DOMAIN, NULL,
				 NULL);
	}
	t = osp_builder_finish(builder, true, NULL);
	osp_builder_free(builder);
	assert_non_null(t);
	return t;
}

/* The order that topology.h promises: by domains from the top down, unknown last, then by name. */
static int vector_order(const struct osp_topology *t, uint32_t a, uint32_t b)
{
	for (uint32_t level = osp_topology_level_count(t); level > 0; level--) {
		uint32_t first = osp_topology_domain_of(t, a, level);
		uint32_t second = osp_topology_domain_of(t, b, level);

		if (first != second)
			return first < second ? -1 : 1;
	}
	return osp_name_compare(osp_topology_node_name(t, a), osp_topology_node_name(t, b));
}

/* Sorts every second node. */
static void check_sorting(const struct osp_topology *t)
{
	uint32_t count = osp_topology_node_count(t), some[40], kept = 0;
	struct osp_nodeset *places = osp_nodeset_new(count);

	for (uint32_t n = count; n--;) {
		if (n % 2)
			some[kept++] = n;
	}
	osp_topology_sort_nodes(t, OSP_BY_RANK, some, kept, places);
	for (uint32_t i = 1; i < kept; i++)
		assert_true(vector_order(t, some[i - 1], some[i]) < 0);
	osp_topology_sort_nodes(t, OSP_BY_NAME, some, kept, places);
	for (uint32_t i = 1; i < kept; i++) {
		assert_true(osp_name_compare(osp_topology_node_name(t, some[i - 1]),
					     osp_topology_node_name(t, some[i])) < 0);
		assert_true(osp_topology_name_place(t, some[i - 1]) <
			    osp_topology_name_place(t, some[i]));
	}
	free(places);
}

static void check_forest(const struct osp_topology *t)
{
	uint32_t nodes = osp_topology_node_count(t);

	check_sorting(t);

	for (uint32_t rank = 1; rank < nodes; rank++)
		assert_true(vector_order(t, osp_topology_node_at_rank(t, rank - 1),
					 osp_topology_node_at_rank(t, rank)) < 0);
	for (uint32_t d = 0; d < osp_topology_domain_count(t); d++) {
		const struct osp_domain *domain = osp_topology_domain(t, d);
		uint32_t count = 0;

		assert_true(domain->node_count > 0);
		assert_true(domain->parent == OSP_NO_DOMAIN ||
			    osp_topology_domain(t, domain->parent)->level > domain->level);
		for (uint32_t n = 0; n < nodes; n++) {
			uint32_t rank = osp_topology_rank_of_node(t, n);
			bool inside = rank >= domain->first_rank &&
				      rank < domain->first_rank + domain->node_count;

			assert_int_equal(osp_topology_domain_of(t, n, domain->level) == d, inside);
			count += inside;
		}
		assert_int_equal(count, domain->node_count);
	}
}

static void any_forest_keeps_the_promises(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct osp_topology *t = random_forest(), *r;
		const char *names[50];
		uint32_t count = 0;
		char *text, *again;

		check_forest(t);
		for (uint32_t n = 0; n < osp_topology_node_count(t); n++) {
			if (next_random(4))
				names[count++] = osp_topology_node_name(t, n);
		}
		r = osp_topology_rebase(t, names, count, NULL);
		check_forest(r);
		/* the file of it gives the same topology */
		text = osp_write_onespine_topology(r, NULL);
		osp_topology_free(t);
		t = osp_read_onespine_topology("f", text, strlen(text), NULL);
		assert_non_null(t);
		check_forest(t);
		again = osp_write_onespine_topology(t, NULL);
		assert_string_equal(text, again);
		free(text);
		free(again);
		osp_topology_free(r);
		osp_topology_free(t);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains_are_numbered_by_level_and_natural_order),
		cmocka_unit_test(nodes_are_ranked_by_their_domains_top_down),
		cmocka_unit_test(a_node_has_a_domain_at_each_known_level),
		cmocka_unit_test(levels_are_known_by_name),
		cmocka_unit_test(nodes_in_common_have_a_level),
		cmocka_unit_test(a_domain_gives_its_nodes),
		cmocka_unit_test(twins_become_one),
		cmocka_unit_test(rails_with_missing_links_become_one),
		cmocka_unit_test(a_range_over_several_leaves_is_refused),
		cmocka_unit_test(second_parents_are_refused),
		cmocka_unit_test(names_have_rules),
		cmocka_unit_test(level_names_have_rules),
		cmocka_unit_test(refusals_without_a_line),
		cmocka_unit_test(one_node_has_at_most_64_parents),
		cmocka_unit_test(a_topology_has_at_most_131072_nodes),
		cmocka_unit_test(rebasing_keeps_the_fabric),
		cmocka_unit_test(fabrics_are_compared),
		cmocka_unit_test(rebasing_on_a_name_twice_is_refused),
		cmocka_unit_test(any_forest_keeps_the_promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
