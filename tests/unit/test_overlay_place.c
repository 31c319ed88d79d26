/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_overlay_place.c - gangs on a level beside the tree, and segments of one in the tree
 *
 * Random fabrics with an overlay. Each answer is compared with a plain count over the nodes, and
 * each answer for a level of the tree with the one that the same fabric without overlay gives.
 */
#include "onespine_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/layout/layout_nodes.h"
#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/topology/builder.h"
#include "lib/topology/level.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OVERLAY	     3 /* levels 1 and 2 are the tree's */

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define ROUNDS 80
#else
#define ROUNDS 400
#endif

struct world {
	struct osp_topology *topology; /* leaf, spine; nvlink beside them */
	struct osp_topology *tree;     /* the same without it */
	struct osp_nodeset *usable, *free, *chosen, *scratch;
	uint32_t nodes;
};

static uint32_t state;

static uint32_t below(uint32_t limit)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)state * limit) >> 32);
}

static struct osp_topology *make(uint32_t nodes)
{
	static const char *const levels[] = {"leaf", "spine", "nvlink"};
	struct osp_builder *builder = osp_builder_new_beside(levels, 3, 2, NULL);
	uint32_t leaves = 1 + below(6), overlays = 1 + below(5);
	struct osp_topology *topology;
	char name[16], node[16];

	for (uint32_t l = 0; l < leaves; l++) {
		snprintf(name, sizeof(name), "l%u", l);
		snprintf(node, sizeof(node), "s%u", l % 2);
		osp_builder_nest(builder, osp_builder_domain(builder, 1, name, NULL, NULL),
				 osp_builder_domain(builder, 2, node, NULL, NULL), NULL, NULL);
	}
	for (uint32_t n = 0; n < nodes; n++) {
		uint32_t leaf = below(leaves + 1), overlay = below(overlays + 1);

		snprintf(node, sizeof(node), "n%u", n);
		snprintf(name, sizeof(name), "v%u", overlay);
		if (overlay < overlays)
			assert_int_equal(
				osp_builder_beside(builder, node,
						   osp_builder_domain(builder, 3, name, NULL, NULL),
						   NULL, NULL),
				0);
		snprintf(name, sizeof(name), "l%u", leaf);
		assert_int_equal(osp_builder_node(builder, node,
						  leaf < leaves ? osp_builder_find(builder, 1, name)
								: OSP_NO_DOMAIN,
						  NULL, NULL),
				 0);
	}
	topology = osp_builder_finish(builder, false, NULL);
	osp_builder_free(builder);
	assert_non_null(topology);
	return topology;
}

static void open_world(struct world *world)
{
	world->nodes = 4 + below(90);
	world->topology = make(world->nodes);
	world->tree = osp_topology_without_level(world->topology, OVERLAY, NULL);
	world->usable = osp_nodeset_new(world->nodes);
	world->free = osp_nodeset_new(world->nodes);
	world->chosen = osp_nodeset_new(world->nodes);
	world->scratch = osp_nodeset_new(world->nodes);
	assert_non_null(world->tree);
	for (uint32_t n = 0; n < world->nodes; n++) {
		if (below(10))
			osp_nodeset_add(world->usable, n);
		if (below(3) && osp_nodeset_test(world->usable, n))
			osp_nodeset_add(world->free, n);
	}
}

static void close_world(struct world *world)
{
	free(world->usable);
	free(world->free);
	free(world->chosen);
	free(world->scratch);
	osp_topology_free(world->tree);
	osp_topology_free(world->topology);
}

static uint32_t in_domain(const struct world *world, const struct osp_nodeset *set, uint32_t level,
			  uint32_t domain)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < world->nodes; n++)
		count += osp_nodeset_test(set, n) &&
			 osp_topology_domain_of(world->topology, n, level) == domain;
	return count;
}

/* The candidates are the domains with nodes enough, and what is picked lies in one. */
static void check_overlay(struct world *world)
{
	struct osp_place *place = osp_place_new(world->topology, 1);
	uint32_t *weight = calloc(world->nodes, sizeof(*weight));
	struct osp_place_input input = {.level = OVERLAY,
					.need_nodes = 1 + below(6),
					.free_only = true,
					.usable = world->usable,
					.free = world->free};
	uint32_t first, count, candidates, domains, fitting = 0;
	const struct osp_place_domain *answer;

	for (uint32_t n = 0; n < world->nodes; n++)
		weight[n] = below(3);
	input.weight = below(2) ? weight : NULL;
	input.want_nodes = input.need_nodes + below(3);
	osp_topology_level_domains(world->topology, OVERLAY, &first, &count);
	for (uint32_t d = first; d < first + count; d++)
		fitting += in_domain(world, world->free, OVERLAY, d) >= input.need_nodes;
	answer = osp_place_order(place, &input, &candidates, &domains);
	assert_int_equal(candidates, fitting);
	for (uint32_t i = 0; i < candidates; i++) {
		uint32_t domain = answer[i].domain, taken;
		uint32_t there = in_domain(world, world->free, OVERLAY, domain);

		assert_true(domain >= first && domain < first + count);
		assert_int_equal(answer[i].free_nodes, there);
		taken = osp_place_pick(place, &input, domain, 0, world->chosen);
		assert_int_equal(taken, there < input.want_nodes ? there : input.want_nodes);
		assert_int_equal(osp_nodeset_count(world->chosen), taken);
		assert_int_equal(in_domain(world, world->chosen, OVERLAY, domain), taken);
		osp_nodeset_assign(world->scratch, world->chosen);
		osp_nodeset_and_not(world->scratch, world->free);
		assert_true(osp_nodeset_empty(world->scratch));
		/* the list lives until the next call */
		answer = osp_place_order(place, &input, &candidates, &domains);
	}
	osp_place_free(place);
	free(weight);
}

/* A gang on a level of the tree gets the answers of a fabric without overlay. */
static void check_tree(struct world *world)
{
	struct osp_place *place = osp_place_new(world->topology, 1);
	struct osp_place *other = osp_place_new(world->tree, 1);
	struct osp_place_input input = {.level = 1 + below(2),
					.need_nodes = 1 + below(8),
					.usable = world->usable,
					.free = world->free,
					.largest_gang = below(9)};
	uint32_t candidates[2], domains[2];
	const struct osp_place_domain *one, *two;

	input.want_nodes = input.need_nodes + below(3);
	one = osp_place_order(place, &input, &candidates[0], &domains[0]);
	two = osp_place_order(other, &input, &candidates[1], &domains[1]);
	assert_int_equal(candidates[0], candidates[1]);
	assert_int_equal(domains[0], domains[1]);
	assert_memory_equal(one, two, domains[0] * sizeof(*one));
	if (candidates[0]) {
		uint32_t domain = one[0].domain;

		osp_place_pick(place, &input, domain, 0, world->chosen);
		osp_place_pick(other, &input, domain, 0, world->scratch);
		assert_memory_equal(world->chosen->words, world->scratch->words,
				    world->chosen->word_count * sizeof(uint64_t));
	}
	osp_place_free(place);
	osp_place_free(other);
}

/* Counts, for one domain of the gang's level, whole segments and if a smaller last one fits beside
 * `whole` of them. */
static uint32_t count_segments(const struct world *world, uint32_t level, uint32_t domain,
			       uint32_t size, uint32_t last, uint32_t *with_last)
{
	uint32_t first, count, sum = 0, loss = UINT32_MAX;

	osp_topology_level_domains(world->topology, OVERLAY, &first, &count);
	for (uint32_t d = first; d < first + count; d++) {
		uint32_t nodes = 0;

		for (uint32_t n = 0; n < world->nodes; n++)
			nodes += osp_nodeset_test(world->free, n) &&
				 osp_topology_domain_of(world->topology, n, OVERLAY) == d &&
				 osp_topology_domain_of(world->topology, n, level) == domain;
		sum += nodes / size;
		if (last <= nodes && nodes / size - (nodes - last) / size < loss)
			loss = nodes / size - (nodes - last) / size;
	}
	*with_last = !last ? sum : loss == UINT32_MAX ? UINT32_MAX : sum - loss;
	return sum;
}

/* The domains of the gang's level that hold the gang alone. */
static uint32_t count_fitting(const struct world *world, uint32_t level, uint32_t nodes,
			      uint32_t size)
{
	uint32_t first, count, fitting = 0, with_last;

	osp_topology_level_domains(world->topology, level, &first, &count);
	for (uint32_t d = first; d < first + count; d++) {
		count_segments(world, level, d, size, nodes % size, &with_last);
		fitting += with_last != UINT32_MAX && with_last >= nodes / size;
	}
	return fitting;
}

/* Each whole segment lies in one crossing, as the nodes are cut in the order of their ranks. */
static void check_order(const struct world *world, const struct osp_segments *segments,
			uint32_t nodes)
{
	uint32_t list[128], order[128], count = 0, size = segments->segment[0].nodes;
	uint32_t level = segments->segment[0].level;

	for (uint32_t n = 0; n < world->nodes; n++) {
		if (osp_nodeset_test(world->chosen, n))
			list[count++] = n;
	}
	assert_int_equal(count, nodes);
	assert_int_equal(osp_node_places(segments, world->topology, list, count, order), 0);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t start = list[order[i / size * size]];

		assert_int_equal(osp_topology_domain_of(world->topology, list[order[i]], level),
				 osp_topology_domain_of(world->topology, start, level));
	}
}

static void check_segments(struct world *world)
{
	struct osp_cut *cut = osp_cut_new(world->topology);
	uint32_t level = 1 + below(2), nodes = 1 + below(14), size = 1 + below(5), fitting, room;
	struct osp_cut_input input = {
		.level = level, .domains_max = 1, .nodes = nodes, .free = world->free};
	struct osp_cut_answer answer;
	struct osp_error error = {.text = ""};
	struct osp_parts parts;
	char text[32];

	snprintf(text, sizeof(text), "nvlink:%u", size);
	room = osp_segments_room(world->topology,
				 osp_topology_crossings(world->topology, OVERLAY, level));
	if (osp_parts_read(0, text, world->topology, level, &parts, &error)) {
		assert_true(size > room);
		assert_non_null(strstr(error.text, "the largest nvlink has"));
		osp_cut_free(cut);
		return;
	}
	assert_true(size <= room);
	input.segments = parts.segments;
	osp_cut_judge(cut, &input, &answer);
	fitting = count_fitting(world, level, nodes, size);
	assert_int_equal(answer.fits, fitting != 0);
	if (answer.fits) {
		assert_int_equal(osp_cut_pick(cut, &input, world->chosen), nodes);
		assert_int_equal(osp_nodeset_count(world->chosen), nodes);
		assert_true(osp_parts_kept(cut, &parts, level, world->chosen));
		check_order(world, &parts.segments, nodes);
	}
	osp_cut_free(cut);
}

static void answers_are_a_plain_count(void **context)
{
	(void)context;
	for (state = 1; state < ROUNDS; state++) {
		uint32_t seed = state;
		struct world world;

		open_world(&world);
		for (int i = 0; i < 5; i++) {
			check_overlay(&world);
			check_tree(&world);
			check_segments(&world);
		}
		close_world(&world);
		state = seed;
	}
}

static const char *const levels3[] = {"leaf", "spine", "nvlink"};

/* Two spines; v0 crosses the leaves l0 and l1, v1 lies in s1. */
static struct osp_topology *small(void)
{
	static const struct {
		const char *node, *leaf, *overlay;
	} nodes[] = {{"n0", "l0", "v0"}, {"n1", "l0", "v0"}, {"n2", "l1", "v0"},
		     {"n3", "l1", "v0"}, {"n4", "l2", "v1"}, {"n5", "l2", "v1"}};
	struct osp_builder *builder = osp_builder_new_beside(levels3, 3, 2, NULL);
	struct osp_topology *topology;

	for (size_t i = 0; i < COUNT(nodes); i++) {
		uint32_t leaf = osp_builder_domain(builder, 1, nodes[i].leaf, NULL, NULL);

		osp_builder_nest(builder, leaf,
				 osp_builder_domain(builder, 2, i < 4 ? "s0" : "s1", NULL, NULL),
				 NULL, NULL);
		osp_builder_node(builder, nodes[i].node, leaf, NULL, NULL);
		osp_builder_beside(builder, nodes[i].node,
				   osp_builder_domain(builder, 3, nodes[i].overlay, NULL, NULL),
				   NULL, NULL);
	}
	topology = osp_builder_finish(builder, false, NULL);
	osp_builder_free(builder);
	return topology;
}

static void what_would_nest_is_refused(void **context)
{
	static const struct {
		uint32_t domains, level;
		const char *segments, *says; /* NULL: it is read */
	} cases[] = {
		{0, 2, "nvlink:2", NULL},
		{2, 2, "nvlink:4", NULL},
		{0, 1, "nvlink:2", NULL},
		{0, 2, "nvlink:2,leaf:2",
		 "--gang-segment=nvlink:2,leaf:2: leaf: nvlink and leaf do not nest in each other: "
		 "nvlink v0 has nodes in leaf l0 and in leaf l1; ask for segments of one of them"},
		{0, 2, "leaf:2,nvlink:2",
		 "--gang-segment=leaf:2,nvlink:2: nvlink: nvlink and leaf do not nest in each "
		 "other: "
		 "nvlink v0 has nodes in leaf l0 and in leaf l1; ask for segments of one of them"},
		{0, 2, "nvlink:2,nvlink:4",
		 "--gang-segment=nvlink:2,nvlink:4: nvlink is said twice"},
		{0, 3, "leaf:2",
		 "--gang-segment=leaf:2: leaf: level nvlink is beside the tree: the topology lists "
		 "it under overlays; leave out --gang-segment, or ask for a level of the tree and "
		 "segments of this one"},
		{0, 3, "nvlink:2",
		 "--gang-segment=nvlink:2: nvlink: a gang in one nvlink has no segments of nvlink; "
		 "leave out --gang-segment, or ask for a level of the tree and segments of this "
		 "one"},
		{0, 1, "nvlink:3",
		 "--gang-segment=nvlink:3: nvlink:3: the largest nvlink has 2 nodes in one leaf; "
		 "say "
		 "at most nvlink:2"},
		{2, 3, "",
		 "--gang-domains=2: level nvlink is beside the tree, and a gang is in one "
		 "domain of it; ask for a level of the tree, and --gang-segment=nvlink:N"},
		{0, 2, "nvlimk:2",
		 "--gang-segment=nvlimk:2: no level is called nvlimk; did you mean "
		 "nvlink"},
	};
	struct osp_topology *topology = small();

	(void)context;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};
		struct osp_parts parts;
		int rc = osp_parts_read(cases[i].domains, cases[i].segments, topology,
					cases[i].level, &parts, &error);

		assert_string_equal(error.text, cases[i].says ? cases[i].says : "");
		assert_int_equal(rc, cases[i].says ? -1 : 0);
	}
	osp_topology_free(topology);
}

/* Two spines of two leaves; v0 and v1 each hold one leaf of either spine. */
static void what_crosses_is_named_where_the_two_levels_nest(void **context)
{
	struct osp_builder *builder = osp_builder_new_beside(levels3, 3, 2, NULL);
	struct osp_topology *topology;
	struct osp_error error = {.text = ""};
	struct osp_parts parts;
	char name[16];

	(void)context;
	for (uint32_t n = 0; n < 8; n++) {
		uint32_t leaf, spine;

		snprintf(name, sizeof(name), "l%u", n / 2);
		leaf = osp_builder_domain(builder, 1, name, NULL, NULL);
		snprintf(name, sizeof(name), "s%u", n / 4);
		spine = osp_builder_domain(builder, 2, name, NULL, NULL);
		osp_builder_nest(builder, leaf, spine, NULL, NULL);
		snprintf(name, sizeof(name), "n%u", n);
		osp_builder_node(builder, name, leaf, NULL, NULL);
		osp_builder_beside(
			builder, name,
			osp_builder_domain(builder, 3, n / 2 % 2 ? "v1" : "v0", NULL, NULL), NULL,
			NULL);
	}
	topology = osp_builder_finish(builder, false, NULL);
	osp_builder_free(builder);
	assert_int_equal(osp_parts_read(0, "leaf:2", topology, 3, &parts, &error), -1);
	assert_string_equal(error.text,
			    "--gang-segment=leaf:2: leaf: level nvlink is beside the tree: nvlink "
			    "v0 has nodes in spine s0 and in spine s1; leave out --gang-segment, "
			    "or ask for a level of the tree and segments of this one");
	osp_topology_free(topology);
}

static void relaxed_segments_lie_one_level_up(void **context)
{
	struct osp_topology *topology = small();
	uint32_t level = 1;
	struct osp_parts parts;
	char text[32];

	(void)context;
	assert_int_equal(osp_parts_read(0, "nvlink:2", topology, level, &parts, NULL), 0);
	assert_int_equal(parts.segments.segment[0].level, osp_topology_crossings(topology, 3, 1));
	osp_parts_relax(&parts, topology, &level);
	assert_int_equal(level, 2);
	assert_int_equal(parts.segments.segment[0].level, osp_topology_crossings(topology, 3, 2));
	assert_string_equal(osp_segments_format(&parts.segments, topology, text, sizeof(text)),
			    "nvlink:2");
	osp_parts_relax(&parts, topology, &level);
	assert_int_equal(level, 2);
	assert_int_equal(parts.domains_max, OSP_NODES_MAX);
	osp_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_a_plain_count),
		cmocka_unit_test(what_would_nest_is_refused),
		cmocka_unit_test(what_crosses_is_named_where_the_two_levels_nest),
		cmocka_unit_test(relaxed_segments_lie_one_level_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
