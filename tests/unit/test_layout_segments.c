/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_layout_segments.c - the segments that are asked of the scheduler for a layout
 *
 * Figures are those of papers and programs that are named beside them. That segments keep groups
 * whole is looked at rank by rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/layout/layout_segments.h"
#include "tests/fabric.h"

#define NODES_MAX 4096
#define NATURAL	  true
#define REORDERED false

/* Domains of a fabric from the top: `tops`, then how many of the next level are in each. */
struct fabric {
	uint32_t tops;
	uint32_t below[FABRIC_LEVELS_MAX];
	uint32_t levels;
};

struct kase {
	const char *layout, *keep; /* keep "": none */
	uint32_t gpus, nodes;	   /* nodes 0: as many as the layout takes */
	struct fabric fabric;
	const char *level; /* of the gang */
	bool several;	   /* domains of it */
	const char *segments;
	bool natural;
	const char *refused; /* NULL: it is not */
};

static struct osp_layout_segments_input input_of(const struct kase *kase,
						 const struct osp_topology *topology)
{
	struct osp_layout_segments_input input = {
		.gpus_per_node = kase->gpus, .topology = topology, .one_domain = !kase->several};
	struct osp_error error = {.text = ""};

	input.level = (uint32_t)osp_topology_level(topology, kase->level);
	if (osp_layout_parse(kase->layout, &input.layout, &error) ||
	    osp_layout_complete(&input.layout, kase->nodes, kase->gpus, &error) ||
	    (*kase->keep && osp_keeps_parse(kase->keep, topology, &input.keeps, &error)))
		fail_msg("%s: %s", kase->layout, error.text);
	return input;
}

/* --- whole, rank by rank ---------------------------------------------------------------------- */

/* The place of each node rank in that arrangement. */
static void find_places(const struct osp_arrangement *arrangement, uint32_t *place_of)
{
	for (uint32_t place = 0; place < arrangement->nodes; place++)
		place_of[osp_arrangement_node_rank(arrangement, place)] = place;
}

/* Whether all groups of a kind lie in sets of `nodes` places each. */
static bool all_whole(const struct osp_layout *layout, uint32_t gpus,
		      const struct osp_arrangement *arrangement, enum osp_group group,
		      uint32_t nodes)
{
	static uint32_t place_of[NODES_MAX];
	struct osp_groups groups;

	assert_true(arrangement->nodes <= NODES_MAX);
	find_places(arrangement, place_of);
	osp_layout_groups(layout, group, &groups);
	for (uint32_t g = 0; g < groups.count; g++) {
		uint32_t set = place_of[osp_groups_rank(&groups, g, 0) / gpus] / nodes;

		for (uint32_t member = 1; member < groups.size; member++) {
			if (place_of[osp_groups_rank(&groups, g, member) / gpus] / nodes != set)
				return false;
		}
	}
	return true;
}

/* Whether the segment of a level at or below `level` holds all groups of a kind. */
static bool held_at(const struct osp_layout_segments_input *input,
		    const struct osp_layout_segments *found, enum osp_group group, uint32_t level)
{
	struct osp_arrangement arrangement;
	struct osp_node_grid grid;
	uint32_t nodes = 1;

	for (uint32_t i = 0; i < found->segments.count; i++) {
		if (found->segments.segment[i].level <= level)
			nodes = found->segments.segment[i].nodes;
	}
	assert_int_equal(osp_layout_node_grid(&input->layout, input->gpus_per_node, &grid, NULL),
			 0);
	for (int inside = OSP_DATA_INSIDE; inside <= OSP_PIPELINE_INSIDE; inside++) {
		osp_arrange(&grid, (enum osp_inside)inside, &arrangement);
		if (arrangement.natural != found->natural && osp_arrangements_differ(&grid))
			continue;
		if (all_whole(&input->layout, input->gpus_per_node, &arrangement, group, nodes))
			return true;
	}
	return false;
}

/* --- cases ------------------------------------------------------------------------------------ */

#define PODS_OF_LLAMA3                                                                             \
	{                                                                                          \
		1, {6, 384}, 2                                                                     \
	}
#define FOUR_LEAVES                                                                                \
	{                                                                                          \
		1, {4, 16}, 2                                                                      \
	}
#define TWO_MINIPODS                                                                               \
	{                                                                                          \
		1, {2, 6}, 2                                                                       \
	}
#define RACKS_OF_18                                                                                \
	{                                                                                          \
		1, {8, 18}, 2                                                                      \
	}
#define TWO_SPINES                                                                                 \
	{                                                                                          \
		1, {2, 4, 32}, 3                                                                   \
	}
#define SMALL                                                                                      \
	{                                                                                          \
		2, {2, 4}, 2                                                                       \
	}

static const struct kase cases[] = {
	/* Llama 3 (arXiv 2407.21783): a replica of 16 nodes, 24 to a pod of 384; with cp16 256
	 * nodes */
	{"tp8,pp16,dp128,order=tp-pp-dp", "pp:leaf", 8, 0, PODS_OF_LLAMA3, "spine", false,
	 "leaf:16", NATURAL, NULL},
	{"tp8,cp16,pp16,dp8,order=tp-pp-dp", "pp:leaf", 8, 0, PODS_OF_LLAMA3, "spine", false,
	 "leaf:256", NATURAL, NULL},
	/* 64 nodes on four leaves of 16 */
	{"tp8,pp8", "pp:leaf", 8, 64, FOUR_LEAVES, "spine", false, "leaf:8", REORDERED, NULL},
	{"tp8,pp8,order=tp-pp-dp", "pp:leaf", 8, 64, FOUR_LEAVES, "spine", false, "leaf:8", NATURAL,
	 NULL},
	{"tp8,pp8", "dp:leaf", 8, 64, FOUR_LEAVES, "spine", false, "leaf:8", NATURAL, NULL},
	{"tp8,pp8,order=tp-pp-dp", "dp:leaf", 8, 64, FOUR_LEAVES, "spine", false, "leaf:8",
	 REORDERED, NULL},
	{"tp8,pp8", "", 8, 64, FOUR_LEAVES, "spine", false, "", NATURAL, NULL},
	/* Arnold (arXiv 2509.15940): 96 GPUs on two minipods of six nodes */
	{"tp8,pp2,dp6", "pp:leaf", 8, 0, TWO_MINIPODS, "spine", false, "leaf:2", REORDERED, NULL},
	{"tp8,pp2,dp6", "dp:leaf", 8, 0, TWO_MINIPODS, "spine", false, "leaf:6", NATURAL, NULL},
	/* racks of 18 nodes of 4 GPUs, as in an NVL72: 16 with ep64, two are left over; 12 with
	 * ep48 */
	{"pp2,ep64,dp128", "", 4, 0, RACKS_OF_18, "spine", false, "leaf:16", NATURAL, NULL},
	{"dp192,ep48", "ep:leaf", 4, 0, RACKS_OF_18, "spine", false, "leaf:12", NATURAL, NULL},
	{"dp256,ep128", "ep:leaf", 4, 0, RACKS_OF_18, "spine", false, "", NATURAL,
	 "--gang-keep=ep:leaf: ep groups take 32 nodes in a row, and the largest leaf has 18; no "
	 "level below the gang's, spine, holds so many: leave ep:leaf out"},
	/* DeepSeek-V3 (arXiv 2412.19437, 3.2): experts over 8 nodes, column sets of 128 */
	{"pp16,dp128,ep64", "", 8, 0, TWO_SPINES, "core", false, "leaf:8", NATURAL, NULL},
	{"pp16,dp128,ep64", "pp:spine", 8, 0, TWO_SPINES, "core", false, "leaf:8,spine:128",
	 REORDERED, NULL},
	{"pp16,dp128,ep64", "pp:leaf", 8, 0, TWO_SPINES, "core", false, "", NATURAL,
	 "--gang-keep=pp:leaf: pp groups take 128 nodes in a row, and the largest leaf has 32; say "
	 "pp:spine"},
	/* who names a group of the block gets what is named, no less and no more */
	{"pp16,dp128,ep64", "ep:spine", 8, 0, TWO_SPINES, "core", false, "spine:8", NATURAL, NULL},
	/* the lower segment holds the higher one's groups already */
	{"tp16,dp16", "dp:leaf,tp:spine", 8, 0, TWO_SPINES, "core", false, "leaf:32", NATURAL,
	 NULL},
	/* a block that no lower level holds lies in the gang's own domain, if that is one */
	{"tp64,dp2", "", 8, 16, SMALL, "spine", false, "", NATURAL, NULL},
	{"tp64,dp1", "", 8, 8, SMALL, "spine", true, "", NATURAL,
	 "--gang-layout: tp, cp and ep groups take 8 nodes in a row, which no level below the "
	 "gang's, spine, holds; leave out --gang-domains, so that one spine holds them"},
	/* the gang is larger than one domain, and only a higher level could have such segments */
	{"tp32,dp4", "", 8, 16, SMALL, "leaf", true, "", NATURAL,
	 "--gang-layout: tp, cp and ep groups take 4 nodes in a row, which no level below the "
	 "gang's, leaf, holds; ask for a higher level, as --gang=spine"},
	{"tp64,dp2", "", 8, 16, SMALL, "spine", true, "", NATURAL,
	 "--gang-layout: tp, cp and ep groups take 8 nodes in a row, which no level below the "
	 "gang's, spine, holds; leave out --gang-layout"},
	/* also where its own level does not hold such a segment */
	{"tp512,dp4", "", 8, 256, TWO_SPINES, "leaf", true, "", NATURAL,
	 "--gang-layout: tp, cp and ep groups take 64 nodes in a row, which no level below the "
	 "gang's, leaf, holds; ask for a higher level, as --gang=core"},
	{"tp64,dp2", "", 8, 16, SMALL, "leaf", true, "", NATURAL,
	 "--gang-layout: tp, cp and ep groups take 8 nodes in a row, which no level below the "
	 "gang's, leaf, holds; leave out --gang-layout"},
	{"tp128,dp1", "", 8, 16, SMALL, "leaf", true, "", NATURAL,
	 "--gang-layout: tp, cp and ep groups take 16 nodes in a row, which no level below the "
	 "gang's, leaf, holds; leave out --gang-layout"},
	/* in a node already */
	{"tp4,dp16", "tp:leaf", 8, 8, SMALL, "spine", false, "", NATURAL, NULL},
	{"tp4,dp16", "tp:node", 8, 8, SMALL, "spine", false, "", NATURAL, NULL},
	{"tp16,dp4", "tp:node", 8, 8, SMALL, "spine", false, "", NATURAL,
	 "--gang-keep=tp:node: tp groups take 2 nodes in a row, and the largest node has 1; say "
	 "tp:leaf"},
	/* what cannot be */
	{"tp8,pp4,dp2", "pp:leaf,dp:leaf", 8, 0, SMALL, "spine", false, "", NATURAL,
	 "--gang-keep: dp and pp groups cannot both be kept there, for they cross each other in "
	 "the "
	 "grid of nodes (pp would take 8 nodes, and the largest leaf has 4); keep one of them"},
	{"tp8,pp4,dp2", "ep:leaf", 8, 0, SMALL, "spine", false, "", NATURAL,
	 "--gang-keep=ep:leaf: the layout has no ep groups; leave ep:leaf out"},
	{"tp8,pp4,dp2", "pp:spine", 8, 0, SMALL, "spine", false, "", NATURAL,
	 "--gang-keep=pp:spine: the whole gang lies in one spine; leave pp:spine out"},
	{"tp8,pp4,dp2", "pp:leaf", 8, 0, SMALL, "leaf", false, "", NATURAL,
	 "--gang-keep=pp:leaf: the gang has 8 nodes, and the largest leaf has 4; ask for a higher "
	 "level, as --gang=spine"},
	{"tp8,pp4,dp99", "pp:leaf", 8, 0, SMALL, "leaf", false, "", NATURAL,
	 "--gang-keep=pp:leaf: the gang has 396 nodes, which no domain holds; ask for fewer, or "
	 "for several domains (--gang-domains)"},
	{"tp8,pp4,dp4", "pp:spine", 8, 0, SMALL, "spine", true, "", NATURAL,
	 "--gang-keep=pp:spine: groups are kept in a level below the gang's, spine; say pp:LEVEL "
	 "with "
	 "one of those"},
	{"tp8,pp4,dp1", "pp:spine", 8, 0, SMALL, "leaf", false, "", NATURAL,
	 "--gang-keep=pp:spine: groups are kept in a level below the gang's, leaf; leave it out"},
	{"tp6,dp8", "", 8, 6, SMALL, "spine", false, "", NATURAL,
	 "--gang-layout: tp6 ends after 6 GPUs, in the middle of a node of 8"},
};

static void check_whole(const struct osp_layout_segments_input *input,
			const struct osp_layout_segments *found)
{
	for (uint32_t i = 0; i < input->keeps.count; i++) {
		if (!held_at(input, found, input->keeps.keep[i].group, input->keeps.keep[i].level))
			fail_msg("%s groups are cut", osp_group_name(input->keeps.keep[i].group));
	}
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kase *kase = &cases[i];
		struct osp_topology *topology =
			fabric_regular(kase->fabric.tops, kase->fabric.below, kase->fabric.levels);
		struct osp_layout_segments_input input = input_of(kase, topology);
		struct osp_error error = {.text = ""};
		struct osp_layout_segments found;
		char text[256];
		int rc = osp_layout_segments_find(&input, &found, &error);

		if ((rc != 0) != (kase->refused != NULL))
			fail_msg("case %zu, %s: %d \"%s\"", i, kase->layout, rc, error.text);
		if (rc && strncmp(error.text, kase->refused, strlen(kase->refused)) != 0)
			fail_msg("case %zu: \"%s\"", i, error.text);
		if (!rc) {
			osp_segments_format(&found.segments, topology, text, sizeof(text));
			if (strcmp(text, kase->segments) != 0 || found.natural != kase->natural)
				fail_msg("case %zu, %s: %s, natural %d", i, kase->layout, text,
					 found.natural);
			check_whole(&input, &found);
		}
		osp_topology_free(topology);
	}
}

static void test_refused_keeps(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *says;
	} refused[] = {
		{"pp", 1, "a group and a level are expected, as in pp:leaf"},
		{"", 1, "a group and a level are expected, as in pp:leaf"},
		{"pp:leaf,xp:leaf", 9, "'xp': groups are tp, cp, dp, pp and ep, as in pp:leaf"},
		{"pp:leaf,ep:spin", 12, "no level is called spin; did you mean spine"},
		{"pp:cupboard", 4, "no level is called cupboard; say node, leaf or spine"},
		{"pp:leaf,dp:leaf,ep:leaf,tp:leaf,cp:leaf", 33,
		 "more than 4 groups to keep together"},
		{"pp:leaf, dp:leaf", 9, "a blank is not allowed here; leave it out"},
		{"pp:leaf,\tdp:leaf", 9, "a blank is not allowed here; leave it out"},
		{"pp:leaf\x7f", 8, "the byte 0x7f is not allowed here"},
		{"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
		 ":leaf",
		 1, "a group and a level are expected, as in pp:leaf"},
	};
	struct osp_topology *topology = fabric_regular(1, (uint32_t[]){2, 2}, 2);

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct osp_keeps keeps = {.count = 3};
		struct osp_error error = {.text = ""};

		assert_int_equal(osp_keeps_parse(refused[i].text, topology, &keeps, &error), -1);
		assert_string_equal(error.text, refused[i].says);
		assert_int_equal(error.column, refused[i].column);
		assert_int_equal(keeps.count, 3);
	}
	osp_topology_free(topology);
}

/* --- any layout ------------------------------------------------------------------------------- */

static uint32_t power_below(uint32_t most)
{
	uint32_t size = 1;

	while (size < most && random() % 2)
		size *= 2;
	return size;
}

/* Whatever is found keeps each group that was named whole, nests, and lies below the gang's
 * level. */
static void test_any_layout(void **state)
{
	static const char *const orders[] = {"megatron", "tp-pp-dp", "torchtitan", "deepspeed"};
	static const enum osp_group groups[] = {OSP_GROUP_TP, OSP_GROUP_DP, OSP_GROUP_PP,
						OSP_GROUP_EP};
	struct osp_topology *topology = fabric_regular(1, (uint32_t[]){4, 4, 16}, 3);
	uint32_t found_some = 0;

	(void)state;
	srandom(20);
	for (int round = 0; round < 4000; round++) {
		struct osp_layout_segments_input input = {
			.gpus_per_node = 8, .topology = topology, .level = 3, .one_domain = true};
		struct osp_layout_segments found;
		struct osp_error error = {.text = ""};
		char text[OSP_LAYOUT_TEXT_BYTES];

		snprintf(text, sizeof(text), "tp%u,pp%u,dp%u,ep%u,order=%s", power_below(32),
			 power_below(16), 8 * power_below(16), power_below(64),
			 orders[random() % 4]);
		if (osp_layout_parse(text, &input.layout, &error) ||
		    osp_layout_complete(&input.layout, 0, 8, &error))
			continue;
		for (uint32_t i = 0; i < (uint32_t)random() % 3; i++)
			input.keeps.keep[input.keeps.count++] =
				(struct osp_keep){groups[random() % 4], 1 + (uint32_t)random() % 2};
		if (osp_layout_segments_find(&input, &found, &error)) {
			assert_true(error.text[0]);
			continue;
		}
		check_whole(&input, &found);
		for (uint32_t i = 0; i < found.segments.count; i++) {
			const struct osp_segment *segment = &found.segments.segment[i];

			assert_true(segment->level < 3);
			assert_true(segment->nodes <= osp_segments_room(topology, segment->level));
			assert_true(!i || (segment->nodes > segment[-1].nodes &&
					   segment->nodes % segment[-1].nodes == 0));
		}
		found_some += found.segments.count > 0;
	}
	assert_true(found_some > 500);
	osp_topology_free(topology);
}

/* What stands with a job is read again, or refused: the job may have other nodes by now, and the
 * fabric other levels. */
static void test_stored(void **state)
{
	static const struct {
		const char *layout, *keep;
		uint32_t nodes;
		const char *says; /* the segments, or why there are none */
		int rc;
	} stored[] = {
		{"tp16,dp4", "", 8, "leaf:2", 0},
		{"tp16,dp4", "tp:leaf", 8, "leaf:2", 0},
		{"tp16,dp4", "tp:leaf", 4, "", 0}, /* of 16 GPUs each */
		{"tp16,dp4", "", 0, "tp16,dp4 is no layout of 0 nodes", -1},
		{"tp16,dp4", "", 7, "tp16,dp4 is no layout of 7 nodes", -1},
		{"tp16,dp64", "", 4, "tp16,dp64 is no layout of 4 nodes", -1},
		{"tp16,dp", "", 8, "'dp': a size is a whole number from 1, as in tp8", -1},
		{"tp16,dp4,ep3", "", 8, "ep3", -1},
		{"tp16,dp4", "tp:rack", 8, "no level is called rack; say node, leaf or spine", -1},
	};
	struct osp_topology *topology = fabric_regular(2, (uint32_t[]){2, 4}, 2);

	(void)state;
	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
		const struct osp_layout_stored job = {.layout = stored[i].layout,
						      .keep = stored[i].keep,
						      .topology = topology,
						      .level = 2,
						      .one_domain = true,
						      .nodes = stored[i].nodes};
		struct osp_layout_segments found;
		struct osp_error error = {.text = ""};
		char text[OSP_ERROR_TEXT_BYTES] = "";
		int rc = osp_layout_segments_of_stored(&job, &found, &error);

		if (rc)
			snprintf(text, sizeof(text), "%s", error.text);
		else
			osp_segments_format(&found.segments, topology, text, sizeof(text));
		if (rc != stored[i].rc ||
		    strncmp(text, stored[i].says, strlen(stored[i].says)) != 0)
			fail_msg("case %zu: %d \"%s\"", i, rc, text);
	}
	osp_topology_free(topology);
}

/* A spare in each of the lowest segments: those that hold them grow with them. */
static void test_spares(void **state)
{
	struct osp_topology *topology = fabric_regular(1, (uint32_t[]){2, 2, 4}, 3);
	static const struct osp_segments asked = {2, {{1, 2}, {2, 4}}};
	struct osp_segments segments = asked;
	struct osp_error error = {.text = ""};

	(void)state;
	assert_int_equal(osp_layout_segments_grow(topology, 0, &segments, &error), 0);
	assert_memory_equal(&segments, &asked, sizeof(asked));
	assert_int_equal(osp_layout_segments_grow(topology, 1, &segments, &error), 0);
	assert_int_equal(segments.segment[0].nodes, 3);
	assert_int_equal(segments.segment[1].nodes, 6);
	segments = asked;
	assert_int_equal(osp_layout_segments_grow(topology, 3, &segments, &error), -1);
	assert_non_null(strstr(error.text, "--gang-spares=3/segment: the layout makes segments of "
					   "2 nodes in one "));
	assert_non_null(strstr(error.text, "with their spares 5, and the largest "));
	osp_topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spares),	      cmocka_unit_test(test_stored),
		cmocka_unit_test(test_refused_keeps), cmocka_unit_test(test_cases),
		cmocka_unit_test(test_any_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
