/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_overlay.c - a level beside the tree: its file, its crossings, its copies */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/place/segments.h"
#include "lib/topology/builder.h"
#include "lib/topology/compare.h"
#include "lib/topology/level.h"
#include "lib/topology/merge.h"
#include "lib/topology/readers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * l1 holds n[1-4], l2 n[5-8] and l3 n[9-12]; v1 crosses l1 and l2, v2 lies in l2, v3 crosses the
 * spines, v4 has a node in no leaf. n4 is in no NVLink domain.
 */
static const char fabric[] =
	"{\n  \"onespine-topology\": 1,\n  \"levels\": [\"leaf\", \"spine\"],\n"
	"  \"overlays\": [\"nvlink\"],\n  \"domains\": [\n"
	"    {\"level\": \"spine\", \"name\": \"s1\"},\n"
	"    {\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n[1-4]\"},\n"
	"    {\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s1\", \"nodes\": \"n[5-8]\"},\n"
	"    {\"level\": \"spine\", \"name\": \"s2\"},\n"
	"    {\"level\": \"leaf\", \"name\": \"l3\", \"in\": \"s2\", \"nodes\": \"n[9-12]\"},\n"
	"    {\"level\": \"nvlink\", \"name\": \"v1\", \"nodes\": \"n[1-3,5]\"},\n"
	"    {\"level\": \"nvlink\", \"name\": \"v2\", \"nodes\": \"n[6-7]\"},\n"
	"    {\"level\": \"nvlink\", \"name\": \"v3\", \"nodes\": \"n[8-11]\"},\n"
	"    {\"level\": \"nvlink\", \"name\": \"v4\", \"nodes\": \"n[12-13]\"}\n"
	"  ],\n  \"nodes\": \"n[13-14]\"\n}\n";

static struct osp_topology *read_text(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology = osp_read_onespine_topology("f", text, strlen(text), &error);

	assert_string_equal(error.text, "");
	assert_non_null(topology);
	return topology;
}

/* "" where it is in none. */
static const char *domain_of(const struct osp_topology *topology, const char *node,
			     const char *level)
{
	uint32_t domain = osp_topology_domain_of(topology, osp_topology_find_node(topology, node),
						 (uint32_t)osp_topology_level(topology, level));

	return domain == OSP_NO_DOMAIN ? "" : osp_topology_domain(topology, domain)->name;
}

static void written_is_what_was_read(void **state)
{
	struct osp_topology *topology = read_text(fabric);
	char *text = osp_write_onespine_topology(topology, NULL);

	(void)state;
	assert_string_equal(text, fabric);
	free(text);
	osp_topology_free(topology);
}

static void tree_is_as_without_overlay(void **state)
{
	struct osp_topology *topology = read_text(fabric);
	struct osp_topology *tree = osp_topology_without_level(topology, 3, NULL);

	(void)state;
	assert_int_equal(osp_topology_level_count(topology), 2);
	assert_int_equal(osp_topology_overlay_count(topology), 1);
	assert_int_equal(osp_topology_last_level(topology), 3);
	assert_int_equal(osp_topology_level(topology, "nvlink"), 3);
	assert_true(osp_topology_is_overlay(topology, 3));
	assert_false(osp_topology_is_overlay(topology, 2));
	assert_int_equal(osp_topology_overlay_count(tree), 0);
	assert_int_equal(osp_topology_domain_count(topology), 5);
	assert_int_equal(osp_topology_domain_count(tree), 5);
	assert_int_equal(osp_topology_domain_room(tree), 5);
	for (uint32_t d = 0; d < 5; d++) {
		const struct osp_domain *one = osp_topology_domain(topology, d);
		const struct osp_domain *other = osp_topology_domain(tree, d);

		assert_string_equal(one->name, other->name);
		assert_int_equal(one->parent, other->parent);
		assert_int_equal(one->first_rank, other->first_rank);
		assert_int_equal(one->node_count, other->node_count);
	}
	for (uint32_t n = 0; n < 14; n++) {
		assert_int_equal(osp_topology_rank_of_node(topology, n),
				 osp_topology_rank_of_node(tree, n));
		assert_int_equal(osp_topology_node_at_rank(topology, n),
				 osp_topology_node_at_rank(tree, n));
	}
	assert_int_equal(osp_topology_level(tree, "nvlink"), -1);
	osp_topology_free(tree);
	osp_topology_free(topology);
}

/* The nodes of a domain, "n1 n2 ". */
static const char *nodes_of(const struct osp_topology *topology, uint32_t domain, char *buffer)
{
	const struct osp_domain *about = osp_topology_domain(topology, domain);

	*buffer = '\0';
	for (uint32_t i = 0; i < about->node_count; i++) {
		strcat(buffer,
		       osp_topology_node_name(topology, osp_topology_node_at_rank(
								topology, about->first_rank + i)));
		strcat(buffer, " ");
	}
	return buffer;
}

static void crossings_have_their_nodes(void **state)
{
	static const struct {
		uint32_t level;
		const char *name, *parent, *nodes;
	} cases[] = {
		{1, "v1", "l1", "n1 n2 n3 "},	 {1, "v1", "l2", "n5 "},
		{1, "v2", "l2", "n6 n7 "},	 {1, "v3", "l2", "n8 "},
		{1, "v3", "l3", "n9 n10 n11 "},	 {1, "v4", "l3", "n12 "},
		{2, "v1", "s1", "n1 n2 n3 n5 "}, {2, "v2", "s1", "n6 n7 "},
		{2, "v3", "s1", "n8 "},		 {2, "v3", "s2", "n9 n10 n11 "},
		{2, "v4", "s2", "n12 "},
	};
	struct osp_topology *topology = read_text(fabric);
	uint32_t first, count, at = 0;
	char buffer[256];

	(void)state;
	osp_topology_level_domains(topology, 3, &first, &count);
	assert_int_equal(count, 4);
	assert_string_equal(nodes_of(topology, first, buffer), "n1 n2 n3 n5 ");
	assert_string_equal(nodes_of(topology, first + 3, buffer), "n12 n13 ");
	assert_int_equal(osp_topology_find_domain(topology, 3, "v3"), first + 2);
	for (uint32_t level = 1; level <= 2; level++) {
		uint32_t hidden = osp_topology_crossings(topology, 3, level);

		osp_topology_level_domains(topology, hidden, &first, &count);
		for (uint32_t d = first; d < first + count; d++, at++) {
			const struct osp_domain *domain = osp_topology_domain(topology, d);

			assert_int_equal(cases[at].level, level);
			assert_int_equal(domain->level, hidden);
			assert_string_equal(domain->name, cases[at].name);
			assert_string_equal(osp_topology_domain(topology, domain->parent)->name,
					    cases[at].parent);
			assert_string_equal(nodes_of(topology, d, buffer), cases[at].nodes);
			assert_int_equal(
				osp_topology_domain_of(
					topology,
					osp_topology_node_at_rank(topology, domain->first_rank),
					hidden),
				d);
		}
	}
	assert_int_equal(at, COUNT(cases));
	assert_int_equal(osp_topology_domain_room(topology), 5 + 4 + COUNT(cases));
	assert_int_equal(osp_topology_count_crossing(topology, 3, 1), 2);
	assert_int_equal(osp_topology_count_crossing(topology, 3, 2), 1);
	osp_topology_free(topology);
}

static void a_crossing_is_named(void **state)
{
	static const struct {
		uint32_t inner, outer;
		const char *says; /* NULL: nests */
	} cases[] = {
		{3, 1, "nvlink v1 has nodes in leaf l1 and in leaf l2"},
		{3, 2, "nvlink v3 has nodes in spine s1 and in spine s2"},
		{1, 3, "leaf l1 has nodes in nvlink v1 and in no nvlink"},
		{1, 2, NULL},
		{3, 3, NULL},
	};
	struct osp_topology *topology = read_text(fabric);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t crossing;
		char says[256] = "";
		bool nests =
			osp_topology_nests(topology, cases[i].inner, cases[i].outer, &crossing);

		assert_int_equal(nests, !cases[i].says);
		if (!nests)
			osp_topology_crossing_text(topology, crossing, cases[i].outer, says,
						   sizeof(says));
		assert_string_equal(says, cases[i].says ? cases[i].says : "");
	}
	assert_false(osp_topology_nests(topology, 2, 1, NULL));
	osp_topology_free(topology);
}

static void copies_keep_the_overlay(void **state)
{
	static const char *const names[] = {"n12", "n6", "n5", "new", NULL, "n7"};
	static const char other[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"overlays\": [\"rack\"],"
		"\"domains\": [{\"level\": \"leaf\", \"name\": \"m\", \"nodes\": \"n[14-15]\"},"
		"{\"level\": \"rack\", \"name\": \"r\", \"nodes\": \"n15\"}]}";
	struct osp_topology *topology = read_text(fabric), *second = read_text(other);
	const struct osp_topology *parts[] = {topology, second};
	struct osp_topology *rebased = osp_topology_rebase(topology, names, COUNT(names), NULL);
	struct osp_topology *less = osp_topology_without_level(topology, 2, NULL);
	struct osp_topology *merged = osp_topology_merge(parts, 2, NULL);
	struct osp_topology_change change;
	uint32_t first, count;

	(void)state;
	assert_string_equal(domain_of(rebased, "n5", "nvlink"), "v1");
	assert_string_equal(domain_of(rebased, "n7", "nvlink"), "v2");
	assert_string_equal(domain_of(rebased, "new", "nvlink"), "");
	osp_topology_level_domains(rebased, 3, &first, &count);
	assert_int_equal(count, 3);
	assert_int_equal(osp_topology_level(less, "nvlink"), 2);
	assert_string_equal(domain_of(less, "n9", "nvlink"), "v3");
	assert_string_equal(domain_of(merged, "n9", "nvlink"), "v3");
	assert_string_equal(domain_of(merged, "n15", "rack"), "r");
	assert_string_equal(domain_of(merged, "n15", "leaf"), "m");
	assert_string_equal(domain_of(merged, "n9", "rack"), "");
	assert_int_equal(osp_topology_overlay_count(merged), 2);
	assert_true(osp_topology_same_fabric(topology, topology));
	assert_false(osp_topology_same_fabric(topology, merged));
	assert_int_equal(osp_topology_compare(topology, less, NULL, NULL, &change), 0);
	assert_int_equal(change.lost, 12);
	osp_topology_free(rebased);
	osp_topology_free(less);
	osp_topology_free(merged);
	osp_topology_free(second);
	osp_topology_free(topology);
}

static void a_domain_of_three_leaves_crosses_once(void **state)
{
	static const char three[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"overlays\": [\"v\"], "
		"\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n1,n4\"}, "
		"{\"level\": \"leaf\", \"name\": \"b\", \"nodes\": \"n2\"}, "
		"{\"level\": \"leaf\", \"name\": \"c\", \"nodes\": \"n3\"}, "
		"{\"level\": \"v\", \"name\": \"x\", \"nodes\": \"n[1-3]\"}, "
		"{\"level\": \"v\", \"name\": \"y\", \"nodes\": \"n4\"}]}";
	struct osp_topology *topology = read_text(three);

	(void)state;
	assert_int_equal(osp_topology_count_crossing(topology, 2, 1), 1);
	osp_topology_free(topology);
}

#define HEAD(overlays)                                                                             \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"overlays\": " overlays               \
	", \"domains\": [{\"level\": \"leaf\", \"name\": \"l\", \"nodes\": \"n[1-2]\"}"

static void refused_files(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{HEAD("\"nvlink\"") "]}",
		 "overlays: a list of at most 14 names of levels beside the "
		 "tree is expected, 15 with the levels"},
		{HEAD("[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\",\"l\","
		      "\"m\",\"n\",\"o\"]") "]}",
		 "overlays: a list of at most 14 names"},
		{HEAD("[[\"v\"]]") "]}", "a word of 1 to 255 bytes is expected, not a list"},
		{HEAD("[\"leaf\"]") "]}", "level 'leaf' is named twice"},
		{HEAD("[\"v\"]") ", {\"level\": \"v\", \"name\": \"a\", \"in\": \"l\"}]}",
		 "in: level v is beside the tree, and its domains are in no other"},
		{HEAD("[\"v\"]") ", {\"level\": \"v\", \"name\": \"a\", \"nodes\": \"n1\"}, "
				 "{\"level\": \"v\", \"name\": \"b\", \"nodes\": \"n1\"}]}",
		 "node n1 is in v a (f:1) and v b"},
		{HEAD("[\"v\"]") ", {\"level\": \"v\", \"name\": \"a\", \"nodes\": \"n1,n1\"}]}",
		 "node n1 is given twice"},
		{HEAD("[\"v\"]") ", {\"level\": \"w\", \"name\": \"a\"}]}", "w"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};

		assert_null(osp_read_onespine_topology("f", cases[i].text, strlen(cases[i].text),
						       &error));
		if (!strstr(error.text, cases[i].says))
			fail_msg("case %zu: %s", i, error.text);
	}
}

static void a_level_that_is_beside_the_tree_somewhere_is_beside_it_in_all(void **state)
{
	static const char in[] =
		"{\"onespine-topology\": 1, \"levels\": [\"nvlink\", \"leaf\"], \"domains\": "
		"[{\"level\": \"leaf\", \"name\": \"m\"}, {\"level\": \"nvlink\", \"name\": \"w\", "
		"\"in\": \"m\", \"nodes\": \"n20\"}, {\"level\": \"nvlink\", \"name\": \"x\", "
		"\"in\": \"m\", \"nodes\": \"n21\"}]}";
	struct osp_topology *one = read_text(fabric), *other = read_text(in);

	(void)state;
	for (int turned = 0; turned < 2; turned++) {
		const struct osp_topology *parts[] = {turned ? other : one, turned ? one : other};
		struct osp_error error = {.text = ""};
		struct osp_topology *merged = osp_topology_merge(parts, 2, &error);
		int level = osp_topology_level(merged, "nvlink");

		assert_string_equal(error.text, "");
		assert_int_equal(osp_topology_overlay_count(merged), 1);
		assert_true(osp_topology_is_overlay(merged, (uint32_t)level));
		assert_int_equal(osp_topology_level_count(merged), osp_topology_level_count(one));
		assert_string_equal(domain_of(merged, "n20", "nvlink"), "w");
		assert_string_equal(domain_of(merged, "n20", "leaf"), "m");
		assert_string_equal(domain_of(merged, "n21", "nvlink"), "x");
		assert_string_equal(domain_of(merged, "n21", "leaf"), "m");
		assert_string_equal(domain_of(merged, "n9", "nvlink"), "v3");
		assert_string_equal(domain_of(merged, "n9", "leaf"), domain_of(one, "n9", "leaf"));
		osp_topology_free(merged);
	}
	osp_topology_free(one);
	osp_topology_free(other);
}

/* Eight levels and seven overlays: as many as there may be, all of them in one sentence. */
static void an_unknown_level_below_an_overlay_is_refused(void **state)
{
	static const char *const names[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8",
					    "o1", "o2", "o3", "o4", "o5", "o6", "o7"};
	struct osp_builder *builder = osp_builder_new_beside(names, COUNT(names), 8, NULL);
	struct osp_topology *topology = osp_builder_finish(builder, false, NULL);
	struct osp_error error = {.text = ""};
	struct osp_segments segments;

	(void)state;
	osp_builder_free(builder);
	assert_int_equal(osp_segments_parse("xyzzy:2", topology, 15, &segments, &error), -1);
	assert_string_equal(error.text, "no level is called xyzzy; say a1, a2, a3, a4, a5, a6, "
					"a7, a8, o1, o2, o3, o4, o5, o6 or o7");
	osp_topology_free(topology);
}

static void nothing_is_below_no_level(void **state)
{
	struct osp_topology *topology = read_text(fabric);

	(void)state;
	assert_true(osp_topology_below(topology, 1, 2));
	assert_false(osp_topology_below(topology, 1, 1));
	assert_false(osp_topology_below(topology, 1, 0)); /* 0: anywhere, for a gang relaxed */
	assert_false(osp_topology_below(topology, 3, 0));
	assert_false(osp_topology_below(topology, 1, 3));
	assert_false(osp_topology_below(topology, 3, 2));
	assert_true(osp_topology_below(topology, osp_topology_crossings(topology, 3, 2), 2));
	osp_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_what_was_read),
		cmocka_unit_test(tree_is_as_without_overlay),
		cmocka_unit_test(crossings_have_their_nodes),
		cmocka_unit_test(a_crossing_is_named),
		cmocka_unit_test(a_domain_of_three_leaves_crosses_once),
		cmocka_unit_test(copies_keep_the_overlay),
		cmocka_unit_test(refused_files),
		cmocka_unit_test(a_level_that_is_beside_the_tree_somewhere_is_beside_it_in_all),
		cmocka_unit_test(an_unknown_level_below_an_overlay_is_refused),
		cmocka_unit_test(nothing_is_below_no_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
