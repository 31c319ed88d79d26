/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gang_order.c - the order of a gang's nodes: from the text on a node, and from the fabric
 */
#include "onespine_config.h"
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
#include "lib/layout/gang_order_private.h"
#include "lib/layout/gang_start.h"
#include "lib/layout/layout_traffic.h"
#include "lib/topology/leaf_pack.h"
#include "tests/fabric.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LEAF	     1
#define SPINE	     2
#define NODES_MAX    64

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define ROUNDS 200
#else
#define ROUNDS 2000
#endif

/* --- from a text ------------------------------------------------------------------------------ */

static void orders_nodes(void **state)
{
	static const struct {
		const char *nodes, *leaves, *order, *names;
		bool listed, small_first;
	} cases[] = {
		/* leaves: each stays one run, the first name leads */
		{"n[1-4]", "l1:n[1-2]|l2:n[3-4]", NULL, "n1 n2 n3 n4", true, false},
		{"n[1-4]", "l1:n[2-3]|l2:n1,n4", NULL, "n1 n4 n2 n3", false, false},
		{"n[1-6]", "l1:n[5-6]|l2:n3,n1,n2|l3:n4", NULL, "n1 n2 n3 n4 n5 n6", true, false},
		{"n[1-3]", "l1:n1,n3|l2:n2", NULL, "n1 n3 n2", false, false},
		{"n[1-2]", "l1:n2,n2|l2:n1,n2", NULL, "n1 n2", true, false},
		/* nodes that were released are in no order */
		{"n[1,3]", "l1:n[1-2]|l2:n[3-4]", NULL, "n1 n3", true, false},
		{"n[2-4]", "l1:n[1,3]|l2:n[2,4]", NULL, "n2 n4 n3", false, false},
		/* segments of 2: whole ones first, the smaller one last, if not the first name is
		 * in it */
		{"n[1-5]", "l1:n[2-4]|l2:n1,n5", "2x1/n[2-3],n1,n5,n4", "n1 n5 n2 n3 n4", false,
		 false},
		{"n[1-5]", "l1:n1,n3,n5|l2:n2,n4", "2x1/n[3,5],n[2,4],n1", "n1 n3 n5 n2 n4", false,
		 true},
		/* of 2 in 4: nothing leaves its segment */
		{"n[1-8]", "l1:n[5-6]|l2:n[7-8]|l3:n[3-4]|l4:n[1-2]", "2x1.2x2",
		 "n1 n2 n3 n4 n5 n6 n7 n8", true, false},
		{"n[1-9]", "l1:n[5-6]|l2:n[7-8]|l3:n[3-4]|l4:n[1-2]|l5:n9", "2x1.2x2",
		 "n1 n2 n3 n4 n5 n6 n7 n8 n9", true, false},
		{"n[1-9]", "l1:n[5-6]|l2:n[7-8]|l3:n[3-4]|l4:n[2,9]|l5:n1", "2x1.2x2",
		 "n1 n5 n6 n7 n8 n3 n4 n2 n9", false, true},
		/* a transpose: two pipelines of two stages, pipelines in a leaf */
		{"n[1-4]", "l1:n[1-2]|l2:n[3-4]", "2x2.2x1", "n1 n3 n2 n4", false, false},
		{"n[1-4]", "l1:n[3-4]|l2:n2,n1", "2x2.2x1", "n1 n4 n2 n3", false, false},
		/* and after a node of it is gone */
		{"n[1-3]", "l1:n[2,4]|l2:n[1,3]", "2x2.2x1", "n1 n3 n2", false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_text text = OSP_TEXT_INIT;
		struct osp_gang_ranks made;
		char *names;

		assert_int_equal(
			osp_gang_order_make(cases[i].nodes, cases[i].leaves, cases[i].order, &made),
			0);
		for (uint32_t rank = 0; rank < made.count; rank++) {
			osp_text_printf(&text, "%s%s", rank ? " " : "", made.names[rank]);
			assert_int_equal(osp_gang_order_rank(&made, made.names[rank]), rank);
		}
		names = osp_text_take(&text);
		assert_string_equal(names, cases[i].names);
		assert_int_equal(made.listed, cases[i].listed);
		assert_int_equal(made.small_first, cases[i].small_first);
		assert_int_equal(osp_gang_order_rank(&made, "n99"), -1);
		free(names);
		osp_gang_order_clear(&made);
	}
}

/* Slurm 26.05 begins a step in another unit, in the upper 16 bits, than the one before ended in. */
static void numbers_ranks_as_slurm_does(void **state)
{
	static const struct {
		const char *nodes, *leaves, *order, *numbers;
	} cases[] = {
		{"n[1-4]", "l1:n[1-4]", NULL, "0.0 0.1 0.2 0.3"},
		{"n[1-8]", "l1:n1,n3,n5,n7|l2:n2,n4,n6,n8", NULL,
		 "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3"},
		/* the first name's leaf leads, whatever its place in the list */
		{"n[1-4]", "l1:n[2-3]|l2:n1,n4", NULL, "0.0 0.1 1.0 1.1"},
		/* pipelines in a leaf, ranks across leaves: runs are short */
		{"n[1-4]", "l1:n[1-2]|l2:n[3-4]", "2x2.2x1", "0.0 1.0 2.0 3.0"},
		{"n[1-8]", "l1:n[1-4]|l2:n[5-8]", "2x1.2x4.2x2", "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1"},
		/* listed, with leaves elsewhere */
		{"n[1-4]", "l1:n1,n4|l2:n[2-3]", "4x1/n1,n4,n[2-3]", "0.0 0.1 1.0 1.1"},
		{"n[1-4]", "l1:n1,n3|l2:n2,n4", "4x1/n[1-4]", "0.0 1.0 2.0 3.0"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_text text = OSP_TEXT_INIT;
		struct osp_gang_ranks made;
		uint32_t numbers[8];
		char *all;

		assert_int_equal(
			osp_gang_order_make(cases[i].nodes, cases[i].leaves, cases[i].order, &made),
			0);
		osp_order_slurm_ranks(made.runs, made.count, numbers);
		for (uint32_t rank = 0; rank < made.count; rank++) {
			osp_text_printf(&text, "%s%u.%u", rank ? " " : "", numbers[rank] >> 16,
					numbers[rank] & 0xffff);
			assert_true(rank == 0 || numbers[rank] > numbers[rank - 1]);
		}
		all = osp_text_take(&text);
		assert_string_equal(all, cases[i].numbers);
		free(all);
		osp_gang_order_clear(&made);
	}
}

/* 16 bits hold neither its runs nor its places: the ranks alone. */
static void numbers_ranks_of_a_huge_gang(void **state)
{
	struct osp_gang_ranks made;
	uint32_t *numbers = calloc(65536, sizeof(*numbers));

	(void)state;
	assert_non_null(numbers);
	assert_int_equal(osp_gang_order_make("n[1-65536]", "l1:n[1-4]|l2:n[5-65536]", NULL, &made),
			 0);
	osp_order_slurm_ranks(made.runs, made.count, numbers);
	assert_int_equal(numbers[4], 4);
	assert_int_equal(numbers[65535], 65535);
	osp_gang_order_clear(&made);
	assert_int_equal(osp_gang_order_make("n[1-65535]", "l1:n[1-4]|l2:n[5-65535]", NULL, &made),
			 0);
	osp_order_slurm_ranks(made.runs, made.count, numbers);
	assert_int_equal(numbers[3], 3);
	assert_int_equal(numbers[4], 1 << 16);
	assert_int_equal(numbers[65534], 1 << 16 | 65530);
	osp_gang_order_clear(&made);
	free(numbers);
}

static void makes_no_order_of_nonsense(void **state)
{
	static const struct {
		const char *nodes, *leaves, *order;
	} cases[] = {
		{"", "l1:n1", NULL},
		{"n[1-", "l1:n1", NULL},
		{"n[1-2]", "", NULL},
		{"n[1-2]", "l1:n1", NULL},
		{"n[1-2]", "l1:n[1-", NULL},
		{"n1,n1", "l1:n1", NULL},
		{"n[1-2]", "l1:n[1-2]", ""},
		{"n[1-2]", "l1:n[1-2]", "?"},
		{"n[1-2]", "l1:n[1-2]", "2"},
		{"n[1-2]", "l1:n[1-2]", "2x"},
		{"n[1-2]", "l1:n[1-2]", "0x1"},
		{"n[1-2]", "l1:n[1-2]", "-2x1"},
		{"n[1-2]", "l1:n[1-2]", "2x1."},
		{"n[1-2]", "l1:n[1-2]", "2x1 "},
		{"n[1-2]", "l1:n[1-2]", "2x1/"},
		{"n[1-2]", "l1:n[1-2]", "2x1/n1"},
		{"n[1-2]", "l1:n[1-2]", "2x1/n[1-"},
		{"n[1-2]", "l1:n[1-2]", "99999999999999999999x1"},
		{"n[1-2]", "l1:n[1-2]", "131072x1.131072x131072"},
		{"n[1-2]", "l1:n[1-2]", "1x1.1x1.1x1.1x1.1x1.1x1.1x1.1x1.1x1.1x1.1x1.1x1.1x1"},
		/* two nodes of one rank, and a rank beyond the last */
		{"n[1-4]", "l1:n[1-4]", "2x1.2x1"},
		{"n[1-4]", "l1:n[1-4]", "2x4.2x1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_gang_ranks made;

		if (osp_gang_order_make(cases[i].nodes, cases[i].leaves, cases[i].order, &made) ==
		    0)
			fail_msg("%s, %s, %s", cases[i].nodes, cases[i].leaves, cases[i].order);
		assert_null(made.names);
	}
}

/* --- from a fabric ---------------------------------------------------------------------------- */

static struct osp_layout layout_of(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_layout layout;

	if (osp_layout_parse(text, &layout, &error) || osp_layout_complete(&layout, 0, 8, &error))
		fail_msg("%s: %s", text, error.text);
	return layout;
}

static struct osp_arrangement arranged(const char *text, enum osp_inside inside)
{
	struct osp_layout layout = layout_of(text);
	struct osp_error error = {.text = ""};
	struct osp_arrangement arrangement;
	struct osp_node_grid grid;

	if (osp_layout_node_grid(&layout, 8, &grid, &error))
		fail_msg("%s", error.text);
	osp_arrange(&grid, inside, &arrangement);
	return arrangement;
}

static uint32_t random_state = 1;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static char *list_of(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count)
{
	const char *names[NODES_MAX];

	for (uint32_t i = 0; i < count; i++)
		names[i] = osp_topology_node_name(topology, nodes[i]);
	return osp_hostlist_compact(names, count);
}

/* The packed forms say the same as the lists, and are those that are made of the lists. */
static void assert_packed(const struct osp_gang_start *start, const char *list, const char *leaves,
			  const char *order, const struct osp_gang_ranks *made)
{
	char *packed_leaves, *packed_order, *again;
	struct osp_gang_ranks packed;

	assert_true(osp_gang_start_pack(start, 4096, &packed_leaves, &packed_order));
	again = osp_leaf_pack(leaves, 4096);
	assert_string_equal(again, packed_leaves);
	free(again);
	if (order) {
		again = osp_gang_order_pack(leaves, order);
		assert_string_equal(again, packed_order);
		free(again);
	}
	assert_int_equal(osp_gang_order_make(list, packed_leaves, packed_order, &packed), 0);
	for (uint32_t rank = 0; rank < made->count; rank++) {
		assert_string_equal(packed.names[rank], made->names[rank]);
		assert_int_equal(packed.runs[rank], made->runs[rank]);
	}
	osp_gang_order_clear(&packed);
	free(packed_leaves);
	free(packed_order);
}

/* What was written of the start gives the same numbers. */
static void assert_read(const struct osp_topology *topology, const struct osp_nodeset *of,
			uint32_t first, const char *leaves, const char *order,
			const uint32_t *expected)
{
	struct osp_gang_start start;
	uint32_t ranks[NODES_MAX];

	assert_int_equal(osp_gang_start_read(topology, of, leaves, order, &start), 0);
	assert_true(osp_gang_start_ranks(&start, of, first, ranks));
	for (uint32_t n = osp_nodeset_next(of, 0); n < of->place_count;
	     n = osp_nodeset_next(of, n + 1))
		assert_int_equal(ranks[n], expected[n]);
	osp_gang_start_clear(&start);
}

/* The same of the packed texts. */
static void assert_read_packed(const struct osp_gang_start *start, const struct osp_nodeset *of,
			       uint32_t first, const uint32_t *expected)
{
	char *leaves, *order;

	assert_true(osp_gang_start_pack(start, 4096, &leaves, &order));
	assert_read(start->topology, of, first, leaves, order, expected);
	free(leaves);
	free(order);
}

/* slurmctld numbers some of the nodes as it would from the texts. */
static void assert_ranks(const struct osp_gang_start *start, const uint32_t *nodes, uint32_t count,
			 const char *leaves, const char *order)
{
	struct osp_nodeset *of = osp_nodeset_new(osp_topology_node_count(start->topology));
	char *list = list_of(start->topology, nodes, count);
	uint32_t numbers[NODES_MAX], ranks[NODES_MAX];
	struct osp_gang_ranks made;
	uint32_t first;

	for (uint32_t i = 0; i < count; i++)
		osp_nodeset_add(of, nodes[i]);
	first = nodes[osp_first_name(start->topology, nodes, count)];
	assert_int_equal(osp_gang_order_make(list, leaves, order, &made), 0);
	osp_order_slurm_ranks(made.runs, made.count, numbers);
	assert_true(osp_gang_start_ranks(start, of, first, ranks));
	for (uint32_t rank = 0; rank < count; rank++)
		assert_int_equal(ranks[osp_topology_find_node(start->topology, made.names[rank])],
				 numbers[rank]);
	assert_read(start->topology, of, first, leaves, order, ranks);
	assert_read_packed(start, of, first, ranks);
	osp_gang_order_clear(&made);
	free(list);
	free(of);
}

/* The same after some of them have left. */
static void assert_ranks_of_some(const struct osp_gang_start *start, const uint32_t *nodes,
				 uint32_t count, const char *leaves, const char *order)
{
	uint32_t some[NODES_MAX], kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (below(5) || (!kept && i + 1 == count))
			some[kept++] = nodes[i];
	}
	assert_ranks(start, nodes, count, leaves, order);
	assert_ranks(start, some, kept, leaves, order);
}

/* Nodes 0 .. count-1 of the fabric as lists, and the order that a node makes of them. */
static void ordered_in(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
		       const struct osp_segments *segments,
		       const struct osp_arrangement *arrangement, uint32_t level,
		       struct osp_gang_ranks *made)
{
	const struct osp_gang_start_input input = {topology, nodes,	  count, segments,
						   0,	     arrangement, level};
	struct osp_gang_start start;
	char *list = list_of(topology, nodes, count), *leaves, *order;

	assert_int_equal(osp_gang_start_make(&input, &start), 0);
	leaves = osp_gang_start_leaves(&start, SIZE_MAX);
	order = start.grid ? osp_gang_start_order(&start, SIZE_MAX) : NULL;
	if (osp_gang_order_make(list, leaves, order, made))
		fail_msg("%s, %s, %s", list, leaves, order);
	assert_int_equal(start.small_first != NULL, made->small_first);
	if (start.small_first)
		assert_string_equal(start.small_first, made->names[0]);
	assert_packed(&start, list, leaves, order, made);
	assert_ranks_of_some(&start, nodes, count, leaves, order);
	osp_gang_start_clear(&start);
	free(list);
	free(leaves);
	free(order);
}

static void ordered(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
		    const struct osp_segments *segments, const struct osp_arrangement *arrangement,
		    struct osp_gang_ranks *made)
{
	ordered_in(topology, nodes, count, segments, arrangement, 0, made);
}

static uint32_t node_of(const struct osp_topology *topology, const struct osp_gang_ranks *order,
			uint32_t rank)
{
	return osp_topology_find_node(topology, order->names[rank]);
}

/* A fabric of leaves of so many nodes, named in the order given by `shuffle`. */
static struct osp_topology *leaves_of(const uint32_t *sizes, uint32_t leaves, bool shuffle)
{
	static char names[NODES_MAX][16], domains[NODES_MAX][16];
	struct fabric_node nodes[NODES_MAX];
	uint32_t count = 0;

	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		snprintf(domains[leaf], sizeof(domains[leaf]), "l%u", leaf + 1);
		for (uint32_t i = 0; i < sizes[leaf]; i++)
			nodes[count++] = (struct fabric_node){.domains = {domains[leaf], "s1"}};
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = i;

		if (shuffle)
			number = (i * 7 + 3) % count; /* counts here are no multiples of 7 */
		snprintf(names[i], sizeof(names[i]), "n%u", number + 1);
		nodes[i].name = names[i];
	}
	return fabric_from(nodes, count, 2);
}

/*
 * dlrover's cases of uneven switches (pull request 1746): the switch of each node, stage after
 * stage. All pipelines that a switch can hold whole are in one.
 */
static void pipelines_on_uneven_leaves(void **state)
{
	static const struct {
		uint32_t sizes[3], leaves, nodes, segment;
		const char *layout, *stages;
	} cases[] = {
		{{4, 2, 2}, 3, 8, 4, "tp1,pp2,ep16,dp32", "1122 1133"},
		{{6, 2, 2}, 3, 10, 2, "tp8,pp2", "11123 11123"},
		{{5, 3}, 2, 8, 2, "tp8,pp2", "1121 1122"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_topology *topology = leaves_of(cases[i].sizes, cases[i].leaves, false);
		struct osp_segments segments = {.count = 1, .segment = {{LEAF, cases[i].segment}}};
		struct osp_arrangement arrangement;
		uint32_t nodes[NODES_MAX], count = cases[i].nodes;
		char stages[NODES_MAX] = "", layout[64];
		struct osp_gang_ranks made;
		size_t length = 0;

		snprintf(layout, sizeof(layout), "%s%s", cases[i].layout,
			 i == 1	  ? ",dp5"
			 : i == 2 ? ",dp4"
				  : "");
		arrangement = arranged(layout, OSP_PIPELINE_INSIDE);
		for (uint32_t n = 0; n < count; n++)
			nodes[n] = n;
		ordered(topology, nodes, count, &segments, &arrangement, &made);
		for (uint32_t rank = 0; rank < count; rank++) {
			uint32_t leaf = osp_topology_domain_of(
				topology, node_of(topology, &made, rank), LEAF);

			if (rank == count / 2)
				stages[length++] = ' ';
			stages[length++] = osp_topology_domain(topology, leaf)->name[1];
		}
		assert_string_equal(stages, cases[i].stages);
		osp_gang_order_clear(&made);
		osp_topology_free(topology);
	}
}

/* Two spines of leaves in which names run against the fabric; n1 is not in its spine's first leaf.
 * Ranks go through one spine after the other. */
static void several_domains_follow_each_other(void **state)
{
	static const struct {
		const char *leaf, *spine;
		int number;
	} fabric[] = {
		{"l1", "s1", 5}, {"l1", "s1", 8},  {"l2", "s1", 2}, {"l2", "s1", 1},
		{"l3", "s1", 9}, {"l3", "s1", 6},  {"l4", "s2", 3}, {"l4", "s2", 7},
		{"l5", "s2", 4}, {"l5", "s2", 10},
	};
	static const struct {
		uint32_t segment, level;
		const char *names;
	} cases[] = {
		{0, 0, "1 2 6 9 3 7 4 10 5 8 "},
		{0, 2, "1 2 6 9 5 8 3 7 4 10 "},
		{2, 2, "1 2 6 9 5 8 3 7 4 10 "},
		{1, 2, "1 2 6 9 5 8 3 7 4 10 "},
		/* the last segment is smaller */
		{4, 2, NULL},
	};
	char names[COUNT(fabric)][8];
	struct fabric_node nodes[COUNT(fabric)];
	uint32_t list[COUNT(fabric)];
	struct osp_topology *topology;

	(void)state;
	for (size_t i = 0; i < COUNT(fabric); i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", fabric[i].number);
		nodes[i] = (struct fabric_node){.name = names[i],
						.domains = {fabric[i].leaf, fabric[i].spine}};
		list[i] = (uint32_t)i;
	}
	topology = fabric_from(nodes, COUNT(fabric), 2);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_segments segments = {.count = cases[i].segment ? 1 : 0,
						.segment = {{LEAF, cases[i].segment}}};
		struct osp_gang_ranks made;
		char by_rank[64] = "";

		ordered_in(topology, list, COUNT(fabric), &segments, NULL, cases[i].level, &made);
		assert_string_equal(made.names[0], "n1");
		for (uint32_t rank = 0; rank < made.count; rank++)
			snprintf(by_rank + strlen(by_rank), sizeof(by_rank) - strlen(by_rank),
				 "%s ", made.names[rank] + 1);
		if (cases[i].names && strcmp(by_rank, cases[i].names) != 0)
			fail_msg("%zu: %s", i, by_rank);
		osp_gang_order_clear(&made);
	}
	osp_topology_free(topology);
}

/* What a node makes of the text is what slurmctld made of the fabric. */
static void both_sides_agree(void **state)
{
	static const char *const layouts[] = {"tp8,pp2,dp8", "tp8,pp4,dp4", "tp8,pp8,dp2",
					      "tp16,pp4,dp2", "tp1,pp2,ep16,dp64"};

	(void)state;
	for (uint32_t round = 0; round < ROUNDS / 5; round++) {
		uint32_t sizes[6], leaves = 2 + below(5), all = 0, nodes[NODES_MAX];
		struct osp_topology *topology;
		struct osp_arrangement arrangement =
			arranged(layouts[below(COUNT(layouts))],
				 below(2) ? OSP_DATA_INSIDE : OSP_PIPELINE_INSIDE);
		uint32_t count = arrangement.nodes, node_at[NODES_MAX], first = 0;
		struct osp_segments segments = {.count = 0};
		struct osp_gang_ranks made;

		while (all < count || all % 7 == 0 || all >= NODES_MAX) {
			all = 0;
			for (uint32_t leaf = 0; leaf < leaves; leaf++)
				all += sizes[leaf] = 1 + below(10);
		}
		topology = leaves_of(sizes, leaves, true);
		if (below(3)) {
			segments.count = 1;
			segments.segment[0] = (struct osp_segment){
				LEAF, arrangement.run[below(arrangement.count)]};
		}
		for (uint32_t n = 0; n < all; n++)
			nodes[n] = n;
		for (uint32_t n = 0; n < count; n++) {
			uint32_t other = n + below(all - n), node = nodes[other];

			nodes[other] = nodes[n];
			nodes[n] = node;
			if (osp_name_compare(osp_topology_node_name(topology, nodes[n]),
					     osp_topology_node_name(topology, nodes[first])) < 0)
				first = n;
		}
		assert_int_equal(
			osp_node_order(&arrangement, &segments, topology, nodes, first, node_at),
			0);
		ordered(topology, nodes, count, &segments, &arrangement, &made);
		assert_int_equal(made.count, count);
		for (uint32_t rank = 0; rank < count; rank++)
			assert_int_equal(node_of(topology, &made, rank), nodes[node_at[rank]]);
		osp_gang_order_clear(&made);
		osp_topology_free(topology);
	}
}

/* The most sets of `size` nodes, each in one leaf, that can be made of what each leaf has: tried
 * out, leaf by leaf. */
static uint32_t most_sets(const uint32_t *in_leaf, uint32_t leaves, uint32_t size)
{
	uint32_t best = 0;

	if (!leaves)
		return 0;
	for (uint32_t here = 0; here * size <= in_leaf[0]; here++) {
		uint32_t sets = here + most_sets(in_leaf + 1, leaves - 1, size);

		best = sets > best ? sets : best;
	}
	return best;
}

/* Both sides see the same of a first name in a smaller segment, nested ones too (ordered_in()). */
static void both_sides_see_a_smaller_first(void **state)
{
	uint32_t seen = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t sizes[4], leaves = 1 + below(4), all = 0, nodes[NODES_MAX];
		uint32_t inner = 2 + below(3);
		struct osp_segments segments = {
			.count = 2, .segment = {{LEAF, inner}, {2, inner * (2 + below(2))}}};
		struct osp_topology *topology;
		struct osp_gang_ranks made;

		do {
			all = 0;
			for (uint32_t leaf = 0; leaf < leaves; leaf++)
				all += sizes[leaf] = 1 + below(7);
		} while (all % 7 == 0 || all % segments.segment[1].nodes == 0);
		topology = leaves_of(sizes, leaves, true);
		for (uint32_t n = 0; n < all; n++)
			nodes[n] = n;
		ordered(topology, nodes, all, &segments, NULL, &made);
		seen += made.small_first;
		osp_gang_order_clear(&made);
		osp_topology_free(topology);
	}
	assert_in_range(seen, 1, ROUNDS - 1);
}

/* Of segments that need not divide the gang: the first name leads, and as many sets of ranks in a
 * row as can be lie in one leaf. */
static void segments_hold_as_much_as_can_be(void **state)
{
	uint32_t smaller_first = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t sizes[4], leaves = 1 + below(4), all = 0, nodes[NODES_MAX];
		uint32_t segment = 2 + below(4), whole = 0, from;
		struct osp_segments segments = {.count = 1, .segment = {{LEAF, segment}}};
		struct osp_topology *topology;
		struct osp_gang_ranks made;

		do {
			all = 0;
			for (uint32_t leaf = 0; leaf < leaves; leaf++)
				all += sizes[leaf] = 1 + below(7);
		} while (all % 7 == 0 || all % segment == 0);
		topology = leaves_of(sizes, leaves, true);
		for (uint32_t n = 0; n < all; n++)
			nodes[n] = n;
		ordered(topology, nodes, all, &segments, NULL, &made);
		assert_string_equal(made.names[0], "n1");
		from = made.small_first ? all % segment : 0;
		smaller_first += made.small_first;
		for (uint32_t rank = from; rank + segment <= all; rank += segment) {
			uint32_t same = 0, leaf = osp_topology_domain_of(
						   topology, node_of(topology, &made, rank), LEAF);

			for (uint32_t i = 0; i < segment; i++)
				same += osp_topology_domain_of(topology,
							       node_of(topology, &made, rank + i),
							       LEAF) == leaf;
			whole += same == segment;
		}
		assert_int_equal(whole, most_sets(sizes, leaves, segment));
		osp_gang_order_clear(&made);
		osp_topology_free(topology);
	}
	assert_in_range(smaller_first, 1, ROUNDS - 1); /* both were seen */
}

/* 64 nodes on four leaves of 16, tp8 pp8 dp8: Megatron's order along the fabric leaves pipelines
 * on four leaves; the transpose holds each in one, and its dp groups lie on four. */
static void a_transpose_holds_pipelines(void **state)
{
	struct osp_topology *topology = leaves_of((uint32_t[]){16, 16, 16, 16}, 4, true);
	struct osp_layout layout = layout_of("tp8,pp8,dp8");
	struct osp_segments none = {.count = 0}, eight = {.count = 1, .segment = {{LEAF, 8}}};
	uint32_t nodes[NODES_MAX], node_at[NODES_MAX];

	(void)state;
	for (uint32_t n = 0; n < NODES_MAX; n++)
		nodes[n] = n;
	for (int inside = OSP_DATA_INSIDE; inside <= OSP_PIPELINE_INSIDE; inside++) {
		bool pipeline = inside == OSP_PIPELINE_INSIDE;
		struct osp_arrangement arrangement =
			arranged("tp8,pp8,dp8", (enum osp_inside)inside);
		struct osp_gang_ranks made;
		struct osp_spread pp, dp;

		ordered(topology, nodes, NODES_MAX, pipeline ? &eight : &none, &arrangement, &made);
		assert_string_equal(made.names[0], "n1");
		for (uint32_t rank = 0; rank < NODES_MAX; rank++)
			node_at[rank] = node_of(topology, &made, rank);
		osp_spread(&layout, 8, OSP_GROUP_PP, topology, node_at, NULL, &pp);
		osp_spread(&layout, 8, OSP_GROUP_DP, topology, node_at, NULL, &dp);
		assert_int_equal(pp.most[LEAF], pipeline ? 1 : 4);
		assert_int_equal(dp.most[LEAF], pipeline ? 4 : 1);
		osp_gang_order_clear(&made);
	}
	osp_topology_free(topology);
}

/* However long the lists would be, a text is whole or not there. */
static void texts_end_at_their_bound(void **state)
{
	struct osp_topology *topology = leaves_of((uint32_t[]){9, 9, 9}, 3, true);
	const struct osp_segments two = {.count = 1, .segment = {{LEAF, 2}}};
	uint32_t nodes[27];
	struct osp_gang_start_input input = {
		.topology = topology, .nodes = nodes, .count = COUNT(nodes), .segments = &two};
	char *leaves, *order, *packed_leaves, *packed_order;
	struct osp_gang_start start;
	size_t leaves_bytes, order_bytes;
	uint32_t ranks[27];

	(void)state;
	for (uint32_t i = 0; i < COUNT(nodes); i++)
		nodes[i] = COUNT(nodes) - 1 - i;
	assert_int_equal(osp_gang_start_make(&input, &start), 0);
	assert_int_equal(start.leaf_count, 3);
	leaves = osp_gang_start_leaves(&start, SIZE_MAX);
	order = osp_gang_start_order(&start, SIZE_MAX);
	leaves_bytes = strlen(leaves);
	order_bytes = strlen(order);
	free(leaves);
	free(order);
	for (size_t most = 0; most <= order_bytes + leaves_bytes; most++) {
		leaves = osp_gang_start_leaves(&start, most);
		order = osp_gang_start_order(&start, most);
		assert_int_equal(strlen(leaves), most < leaves_bytes ? 0 : leaves_bytes);
		assert_int_equal(strlen(order), most < order_bytes ? 0 : order_bytes);
		assert_true(osp_gang_start_pack(&start, most, &packed_leaves, &packed_order));
		assert_int_equal(*packed_leaves != '\0', packed_order != NULL);
		if (packed_order)
			assert_true(strlen(packed_leaves) + strlen(packed_order) <= most);
		free(packed_leaves);
		free(packed_order);
		free(leaves);
		free(order);
	}
	/* a first node that is none of them */
	{
		struct osp_nodeset *of = osp_nodeset_new(27);

		assert_false(osp_gang_start_ranks(&start, of, 0, ranks));
		free(of);
	}
	osp_gang_start_clear(&start);
	osp_topology_free(topology);
}

/* --- what the packed forms cannot hold -------------------------------------------------------- */

/* The packed leaves of all nodes of a fabric; "" if there are none. */
static void assert_packs(const struct fabric_node *nodes, size_t count, size_t most_bytes,
			 const char *list)
{
	struct osp_topology *topology = fabric_from(nodes, count, 2);
	uint32_t all[NODES_MAX];
	char *packed, *again;

	for (uint32_t i = 0; i < count; i++)
		all[i] = i;
	packed = osp_leaf_pack_nodes(topology, all, (uint32_t)count, most_bytes);
	assert_non_null(packed);
	again = *packed ? osp_leaf_unpack(packed) : strdup("");
	assert_string_equal(again, list);
	free(again);
	free(packed);
	osp_topology_free(topology);
}

static void names_that_have_no_packed_form(void **state)
{
	const struct fabric_node plain[] = {
		{"n1", {"l1", "s1"}}, {"n2", {NULL, "s1"}}, {"n3", {"l2", "s1"}}};
	const struct fabric_node colon[] = {{"n1", {"l:1", "s1"}}, {"n2", {"l2", "s1"}}};
	const struct fabric_node wave[] = {{"n1", {"l1", "s1"}}, {"n2", {"l~2", "s1"}}};
	const struct fabric_node node[] = {{"n~1", {"l1", "s1"}}, {"n2", {"l1", "s1"}}};
	const struct fabric_node number[] = {{"12", {"l1", "s1"}}, {"0123456789", {"l1", "s1"}}};
	const struct fabric_node none[] = {{"n1", {NULL, "s1"}}};

	(void)state;
	/* a node of no known leaf is in no list of leaves */
	assert_packs(plain, COUNT(plain), 4096, "l1:n1|l2:n3");
	assert_packs(none, COUNT(none), 4096, "");
	assert_packs(colon, COUNT(colon), 4096, "");
	assert_packs(wave, COUNT(wave), 4096, "");
	assert_packs(node, COUNT(node), 4096, "");
	assert_packs(number, COUNT(number), 4096, "l1:[12,0123456789]");
	for (size_t most = 0; most < 6; most++)
		assert_packs(plain, COUNT(plain), most, "");
}

/* Places have a packed form, or none that is short enough. */
static void places_end_at_their_bound(void **state)
{
	uint32_t places[64];
	char *whole, *packed;

	(void)state;
	for (uint32_t i = 0; i < COUNT(places); i++)
		places[i] = (i * 37) % 64;
	whole = osp_leaf_pack_places(places, COUNT(places), SIZE_MAX);
	for (size_t most = 0; most < strlen(whole); most++) {
		packed = osp_leaf_pack_places(places, COUNT(places), most);
		assert_string_equal(packed, "");
		free(packed);
	}
	packed = osp_leaf_pack_places(places, COUNT(places), strlen(whole));
	assert_string_equal(packed, whole);
	free(packed);
	free(whole);
	packed = osp_leaf_pack_places(places, 0, 10);
	assert_string_equal(packed, "~");
	free(packed);
	/* what is packed is not packed again */
	packed = osp_leaf_pack("l1:n[1-2]", 4096);
	whole = osp_leaf_pack(packed, 4096);
	assert_string_equal(whole, "");
	free(whole);
	free(packed);
}

/* Of no nodes there is an order too; nodes without a leaf are in no place; the first name may stand
 * inside a run of its leaf. */
static void orders_of_few_and_unknown_nodes(void **state)
{
	static const struct fabric_node fabric[] = {
		{"n2", {"l1", "s1"}}, {"n3", {"l2", "s2"}}, {"n4", {"l3", "s2"}},
		{"n1", {"l3", "s2"}}, {"n5", {NULL, "s2"}}, {"n6", {"l1", "s1"}},
	};
	struct osp_topology *topology = fabric_from(fabric, COUNT(fabric), 2);
	const struct osp_segments none = {.count = 0}, twos = {.count = 1, .segment = {{LEAF, 2}}};
	const uint32_t nodes[] = {0, 1, 2, 3, 4, 5};
	struct osp_gang_start_input input = {
		.topology = topology, .nodes = nodes, .segments = &twos, .level = SPINE};
	char *leaves, *order;
	struct osp_gang_start start;

	(void)state;
	assert_int_equal(osp_gang_start_make(&input, &start), 0);
	assert_null(start.small_first);
	order = osp_gang_start_order(&start, 10);
	assert_string_equal(order, "2x1");
	free(order);
	osp_gang_start_clear(&start);
	/* in two spines without segments: the one of n1 leads */
	input.segments = &none;
	input.count = COUNT(nodes);
	assert_int_equal(osp_gang_start_make(&input, &start), 0);
	assert_true(osp_gang_start_pack(&start, 4096, &leaves, &order));
	assert_true(*leaves && order);
	free(order);
	free(leaves);
	leaves = osp_gang_start_leaves(&start, 4096);
	order = osp_gang_start_order(&start, 4096);
	assert_string_equal(leaves, "l1:n[2,6]|l2:n3|l3:n[1,4]");
	assert_string_equal(order, "6x1/n[1,4-5],n3,n[2,6]");
	free(order);
	free(leaves);
	for (size_t most = 0; most < 8; most++) {
		assert_true(osp_gang_start_pack(&start, most, &leaves, &order));
		assert_string_equal(leaves, "");
		assert_null(order);
		free(leaves);
	}
	osp_gang_start_clear(&start);
	/* segments of which the spares will be all: the grid is that of whole ones */
	input.segments = &twos;
	input.spares = 2;
	input.level = 0;
	assert_int_equal(osp_gang_start_make(&input, &start), 0);
	assert_non_null(start.grid);
	osp_gang_start_clear(&start);
	osp_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_have_no_packed_form),
		cmocka_unit_test(places_end_at_their_bound),
		cmocka_unit_test(orders_of_few_and_unknown_nodes),
		cmocka_unit_test(orders_nodes),
		cmocka_unit_test(numbers_ranks_as_slurm_does),
		cmocka_unit_test(numbers_ranks_of_a_huge_gang),
		cmocka_unit_test(makes_no_order_of_nonsense),
		cmocka_unit_test(pipelines_on_uneven_leaves),
		cmocka_unit_test(several_domains_follow_each_other),
		cmocka_unit_test(both_sides_agree),
		cmocka_unit_test(both_sides_see_a_smaller_first),
		cmocka_unit_test(segments_hold_as_much_as_can_be),
		cmocka_unit_test(a_transpose_holds_pipelines),
		cmocka_unit_test(texts_end_at_their_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
