/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_spares.c - spares in each segment: what is asked for, placed against exhaustive search, and
 * the order of the nodes after they were released
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_start.h"
#include "lib/layout/gang_segments.h"
#include "lib/place/segments.h"
#include "lib/policy/spares.h"
#include "tests/fabric.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LEAVES	     4
#define LEAF_NODES   8
#define NODES	     (LEAVES * LEAF_NODES)

static void reads_both_kinds(void **state)
{
	static const struct {
		const char *value;
		int rc;
		struct osp_spares spares;
	} cases[] = {
		{"0", 0, {0, false}},		{"2", 0, {2, false}},
		{"2/segment", 0, {2, true}},	{"0/segment", 0, {0, false}},
		{"16383", 0, {16383, false}},	{"16384", -1, {0, false}},
		{"", -1, {0, false}},		{"-1", -1, {0, false}},
		{" 1", -1, {0, false}},		{"1 /segment", -1, {0, false}},
		{"1/segments", -1, {0, false}}, {"1/seg", -1, {0, false}},
		{"/segment", -1, {0, false}},	{"99999999999999999999/segment", -1, {0, false}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_spares spares = {0, false};

		assert_int_equal(osp_spares_parse(cases[i].value, &spares), cases[i].rc);
		assert_int_equal(spares.count, cases[i].spares.count);
		assert_int_equal(spares.per_segment, cases[i].spares.per_segment);
	}
}

static void grows_segments(void **state)
{
	static const struct {
		const char *segments;
		uint32_t count, nodes;
		const char *grown; /* NULL: refused */
		uint32_t spares;
	} cases[] = {
		/* a rack of 18 with segments of 16 */
		{"nvlink:16", 2, 64, "nvlink:18", 8},
		{"nvlink:16", 2, 65, "nvlink:18", 10},
		{"nvlink:16", 2, 1, "nvlink:18", 2},
		{"leaf:32,nvlink:16", 1, 64, "leaf:34,nvlink:17", 4},
		{"a:1,b:2,c:8", 1, 8, "a:2,b:4,c:16", 8},
		{"nvlink:16", 16383, 16, "nvlink:16399", 16383},
		{"nvlink:16", 16383, 17, NULL, 0},
		{"nvlink:16,leaf:40", 1, 40, NULL, 0},
		{"nvlink:0", 1, 40, NULL, 0},
		{"nvlink:", 1, 40, NULL, 0},
		{"nvlink", 1, 40, NULL, 0},
		{"nvlink:4x", 1, 40, NULL, 0},
		{"nvlink:99999999999999999999", 1, 40, NULL, 0},
		{"", 1, 40, NULL, 0},
	};
	char longest[OSP_SEGMENTS_BYTES], grown[OSP_SEGMENTS_BYTES];
	struct osp_error error = {.text = ""};
	uint32_t spares;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int rc = osp_spares_grow(cases[i].segments, cases[i].count, cases[i].nodes, grown,
					 &spares, &error);

		assert_int_equal(rc, cases[i].grown ? 0 : -1);
		assert_int_equal(*error.text == '\0', rc == 0);
		osp_error_clear(&error);
		if (!cases[i].grown)
			continue;
		assert_string_equal(grown, cases[i].grown);
		assert_int_equal(spares, cases[i].spares);
	}
	memset(longest, 'x', sizeof(longest));
	memcpy(longest + sizeof(longest) - 3, ":9", 3);
	assert_int_equal(osp_spares_grow(longest, 1, 9, grown, &spares, &error), -1);
	assert_non_null(strstr(error.text, "it is too long; ask for fewer"));
	osp_error_clear(&error);
	assert_int_equal(osp_spares_grow("leaf:4x", 1, 9, grown, &spares, &error), -1);
	assert_non_null(strstr(error.text, "a level and a number of nodes are expected"));
}

static void knows_its_own(void **state)
{
	(void)state;
	assert_true(osp_spares_are_in_segments(8, 2, 72, 18));
	assert_true(osp_spares_are_in_segments(10, 2, 75, 18));
	assert_false(osp_spares_are_in_segments(8, 2, 75, 18));
	assert_false(osp_spares_are_in_segments(8, 2, 72, 16));
	assert_false(osp_spares_are_in_segments(2, 2, 2, 2));
	assert_false(osp_spares_are_in_segments(2, 2, 2, 0));
}

/* The text about nodes of which some are in the order of another fabric. */
static void reads_segments(void **state)
{
	static const struct {
		const char *text;
		uint32_t count, segments;
		uint32_t segment[4];
	} cases[] = {
		{"0x4", 4, 1, {0, 0, 0, 0}},
		{"0x2,1x2", 4, 2, {0, 0, 1, 1}},
		{"1,0,1,0", 4, 2, {1, 0, 1, 0}},
		{"0,1x1,2", 3, 3, {0, 1, 2}},
		/* another number of nodes, a segment without any, what is no text */
		{"0x4", 3, 0, {0}},
		{"0x4", 5, 0, {0}},
		{"0,2x3", 4, 0, {0}},
		{"", 4, 0, {0}},
		{"", 0, 0, {0}},
		{"0x0,0x4", 4, 0, {0}},
		{"0x4,", 4, 0, {0}},
		{",0x4", 4, 0, {0}},
		{"0x4 ", 4, 0, {0}},
		{"-1x4", 4, 0, {0}},
		{"0x-4", 4, 0, {0}},
		{"4x4", 4, 0, {0}},
		{"0x4294967300", 4, 0, {0}},
		{"0x4,1x4", 4, 0, {0}},
		{"99999999999999999999x4", 4, 0, {0}},
	};
	uint32_t segment[8];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		segment[cases[i].count] = 77;
		assert_int_equal(osp_gang_segments_read(cases[i].text, cases[i].count, segment),
				 cases[i].segments);
		assert_int_equal(segment[cases[i].count], 77);
		for (uint32_t n = 0; cases[i].segments && n < cases[i].count; n++)
			assert_int_equal(segment[n], cases[i].segment[n]);
	}
}

static char *order_text(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
			const struct osp_segments *segments, uint32_t spares)
{
	const struct osp_gang_start_input input = {.topology = topology,
						   .nodes = nodes,
						   .count = count,
						   .segments = segments,
						   .spares = spares};
	struct osp_gang_start start;
	char *text;

	assert_int_equal(osp_gang_start_make(&input, &start), 0);
	text = osp_gang_start_order(&start, SIZE_MAX);
	osp_gang_start_clear(&start);
	return text;
}

/* The order is that of the nodes that stay, of nested segments too. */
static void orders_those_that_stay(void **state)
{
	struct osp_topology *topology = fabric_regular(1, (uint32_t[]){2, 2, 3}, 3);
	static const struct osp_segments grown = {2, {{1, 3}, {2, 6}}};
	uint32_t nodes[12];
	char *text;

	(void)state;
	for (uint32_t i = 0; i < COUNT(nodes); i++)
		nodes[i] = i;
	text = order_text(topology, nodes, COUNT(nodes), &grown, 1);
	assert_string_equal(text, "2x1.2x2");
	free(text);
	text = osp_gang_segments_text(topology, nodes, COUNT(nodes), &grown);
	assert_string_equal(text, "0x3,1x3,2x3,3x3");
	free(text);
	osp_topology_free(topology);
}

/* --- at random -------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *seed, uint32_t limit)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*seed >> 8) * limit) >> 24);
}

/*
 * Puts one segment after the other, and its spares beside it, into each leaf in turn. It knows of
 * no larger segments.
 */
static bool some_leaves_hold(uint32_t *open, uint32_t nodes, uint32_t unit, uint32_t spares)
{
	uint32_t now = nodes < unit ? nodes : unit;

	if (!nodes)
		return true;
	for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
		bool held;

		if (open[leaf] < now || open[leaf] - now < spares)
			continue;
		open[leaf] -= now + spares;
		held = some_leaves_hold(open, nodes - now, unit, spares);
		open[leaf] += now + spares;
		if (held)
			return true;
	}
	return false;
}

struct gang {
	uint32_t nodes, unit, spares;
	uint32_t list[NODES];
	uint32_t count; /* with the spares */
	char *leaves;	/* "l0:..|l1:.." as slurmctld writes it */
};

static const char *name_of(const struct osp_topology *topology, uint32_t node)
{
	return osp_topology_node_name(topology, node);
}

static uint32_t leaf_of(const struct osp_topology *topology, const char *name)
{
	for (uint32_t node = 0; node < NODES; node++) {
		if (!strcmp(name_of(topology, node), name))
			return osp_topology_domain_of(topology, node, 1);
	}
	return OSP_NO_DOMAIN;
}

/* Lists the chosen nodes, and their leaves. */
static void list_nodes(const struct osp_topology *topology, const struct osp_nodeset *chosen,
		       struct gang *gang)
{
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t last = OSP_NO_DOMAIN;

	gang->count = 0;
	for (uint32_t rank = 0; rank < NODES; rank++) {
		uint32_t node = osp_topology_node_at_rank(topology, rank);
		uint32_t leaf = osp_topology_domain_of(topology, node, 1);

		if (!osp_nodeset_test(chosen, node))
			continue;
		gang->list[gang->count++] = node;
		if (leaf == last)
			osp_text_add(&text, ",");
		else
			osp_text_printf(&text, "%s%s:", gang->count > 1 ? "|" : "",
					osp_topology_domain(topology, leaf)->name);
		osp_text_add(&text, name_of(topology, node));
		last = leaf;
	}
	gang->leaves = osp_text_take(&text);
}

/* Checks that each segment of the nodes that stayed is a run of node ranks in one leaf. */
static void assert_in_segments(const struct osp_topology *topology, const struct gang *gang,
			       const struct osp_gang_ranks *made)
{
	uint32_t rest = gang->nodes % gang->unit, at = 0;

	assert_int_equal(made->count, gang->nodes);
	while (at < made->count) {
		uint32_t size = gang->unit;

		if ((made->small_first && !at) || made->count - at < size)
			size = rest;
		for (uint32_t i = 1; i < size; i++)
			assert_int_equal(leaf_of(topology, made->names[at]),
					 leaf_of(topology, made->names[at + i]));
		at += size;
	}
}

/* Releases as many nodes of each segment, drawn at random, and makes the order of those that
 * stay. */
static void release_and_check(const struct osp_topology *topology, const struct gang *gang,
			      const struct osp_segments *grown, const char *order, uint32_t *seed)
{
	uint32_t segment[NODES], gone[NODES] = {0}, segments, kept = 0;
	const char *names[NODES];
	struct osp_gang_ranks made;
	char *list;

	list = osp_gang_segments_text(topology, gang->list, gang->count, grown);
	segments = osp_gang_segments_read(list, gang->count, segment);
	free(list);
	assert_int_equal(segments, (gang->nodes + gang->unit - 1) / gang->unit);
	for (uint32_t s = 0; s < segments; s++) {
		for (uint32_t left = gang->spares; left;) {
			uint32_t i = next_random(seed, gang->count);

			left -= segment[i] == s && !gone[i];
			gone[i] |= segment[i] == s;
		}
	}
	for (uint32_t i = 0; i < gang->count; i++) {
		if (!gone[i])
			names[kept++] = name_of(topology, gang->list[i]);
	}
	assert_int_equal(kept, gang->nodes);
	list = osp_hostlist_compact(names, kept);
	assert_int_equal(osp_gang_order_make(list, gang->leaves, order, &made), 0);
	free(list);
	assert_in_segments(topology, gang, &made);
	osp_gang_order_clear(&made);
}

static void random_gangs(void **state)
{
	struct osp_topology *topology = fabric_regular(1, (uint32_t[]){LEAVES, LEAF_NODES}, 2);
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *set = osp_nodeset_new(NODES), *chosen = osp_nodeset_new(NODES);
	uint32_t seed = 7, fitting = 0;

	(void)state;
	for (uint32_t round = 0; round < 5000; round++) {
		struct gang gang = {.unit = 1 + next_random(&seed, 4),
				    .spares = 1 + next_random(&seed, 2),
				    .nodes = 1 + next_random(&seed, 14)};
		struct osp_cut_input input = {.level = 2, .domains_max = 1, .free = set};
		char text[32], grown[OSP_SEGMENTS_BYTES], *order;
		uint32_t open[LEAVES] = {0}, all, share = 1 + next_random(&seed, 4);
		struct osp_cut_answer answer;
		struct osp_error error = {.text = ""};

		osp_nodeset_clear(set);
		for (uint32_t node = 0; node < NODES; node++) {
			if (next_random(&seed, 4) >= share)
				continue;
			osp_nodeset_add(set, node);
			open[node / LEAF_NODES]++;
		}
		snprintf(text, sizeof(text), "leaf:%u", gang.unit);
		assert_int_equal(
			osp_spares_grow(text, gang.spares, gang.nodes, grown, &all, &error), 0);
		assert_int_equal(osp_segments_parse(grown, topology, 2, &input.segments, &error),
				 0);
		input.nodes = gang.nodes + all;
		osp_cut_judge(cut, &input, &answer);
		if (answer.fits != some_leaves_hold(open, gang.nodes, gang.unit, gang.spares))
			fail_msg("round %u: %u nodes in %s", round, input.nodes, grown);
		if (!answer.fits)
			continue;
		fitting++;
		assert_int_equal(osp_cut_pick(cut, &input, chosen), input.nodes);
		list_nodes(topology, chosen, &gang);
		order = order_text(topology, gang.list, gang.count, &input.segments, gang.spares);
		assert_non_null(order);
		release_and_check(topology, &gang, &input.segments, order, &seed);
		free(order);
		free(gang.leaves);
	}
	print_message("%u of 5000 fit\n", fitting);
	osp_cut_free(cut);
	free(set);
	free(chosen);
	osp_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_kinds),	  cmocka_unit_test(grows_segments),
		cmocka_unit_test(knows_its_own),	  cmocka_unit_test(reads_segments),
		cmocka_unit_test(orders_those_that_stay), cmocka_unit_test(random_gangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
