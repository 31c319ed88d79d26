/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_sentences.c - the sentences for users, word for word
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
#include "lib/policy/sentences.h"
#include "tests/fabric.h"

#define NODES 13

/* s1: 8 nodes in two leaves; s2: 4 in one; the last has no leaf and no spine. */
static const struct fabric_node fabric[NODES] = {
	{"n1", {"l1", "s1", "c1"}},
	{"n2", {"l1", "s1", "c1"}},
	{"n3", {"l1", "s1", "c1"}},
	{"n4", {"l1", "s1", "c1"}},
	{"n5", {"l2", "s1", "c1"}},
	{"n6", {"l2", "s1", "c1"}},
	{"n7", {"l2", "s1", "c1"}},
	{"n8", {"l2", "s1", "c1"}},
	{"n9", {"l3", "nn-3f2a9c01b7d54e681", "c1"}},
	{"n10", {"l3", "nn-3f2a9c01b7d54e681", "c1"}},
	{"n11", {"l3", "nn-3f2a9c01b7d54e681", "c1"}},
	{"n12", {"l3", "nn-3f2a9c01b7d54e681", "c1"}},
	{"n13", {NULL, NULL, "c1"}},
};

static struct osp_topology *topology;
static struct osp_place *place;

static int start(void **state)
{
	(void)state;
	topology = fabric_from(fabric, NODES, 3);
	place = osp_place_new(topology, 2);
	return place ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	osp_place_free(place);
	osp_topology_free(topology);
	return 0;
}

/* One letter a node, n1 first: "1" in the set, anything else not. */
static struct osp_nodeset *nodes_of(const char *letters)
{
	struct osp_nodeset *set = osp_nodeset_new(NODES);

	assert_non_null(set);
	assert_int_equal(strlen(letters), NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		if (letters[i] == '1')
			osp_nodeset_add(set, osp_topology_find_node(topology, fabric[i].name));
	}
	return set;
}

/* --- plurals ------------------------------------------------------------------------------------
 */

static void plurals(void **state)
{
	static const char *const words[][2] = {
		{"leaf", "leaves"}, {"spine", "spines"},   {"core", "cores"},
		{"zone", "zones"},  {"box", "boxes"},	   {"switch", "switches"},
		{"bus", "buses"},   {"nvlink", "nvlinks"}, {"midleaf", "midleaves"},
		{"mesh", "meshes"}, {"x", "xes"},	   {"ch", "ches"},
	};
	char buffer[32];
	char small[4];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_string_equal(osp_sentence_plural(words[i][0], buffer, sizeof(buffer)),
				    words[i][1]);
	assert_string_equal(osp_sentence_plural("spine", small, sizeof(small)), "spi");
}

/* --- waits and never ----------------------------------------------------------------------------
 */

struct ask {
	const char *title;
	const char *level;
	uint32_t need_nodes;
	const char *usable;
	const char *free;     /* NULL: all usable */
	const char *required; /* NULL: none */
	const char *second;   /* nodes of the second kind; NULL: one kind */
	bool any_time;	      /* a domain with too few free nodes is a candidate too */
	const char *partition;
	const char *next_level; /* NULL: none */
	const char *features;	/* NULL: none */
	const char *extra;	/* NULL: none */
	bool excludes;		/* nodes of the partition */
	const char *words;
};

typedef const char *(*say)(const struct ask *ask, const struct osp_place_input *input, char *buffer,
			   size_t buffer_bytes);

static const char *say_waits(const struct ask *ask, const struct osp_place_input *input,
			     char *buffer, size_t buffer_bytes)
{
	const struct osp_sentence_asked asked = {.features = ask->features, .extra = ask->extra};
	uint32_t candidates;
	uint32_t count;
	const struct osp_place_domain *domains = osp_place_order(place, input, &candidates, &count);

	return osp_sentence_waits(topology, input, &asked, domains, candidates, count, buffer,
				  buffer_bytes);
}

static const char *say_never(const struct ask *ask, const struct osp_place_input *input,
			     char *buffer, size_t buffer_bytes)
{
	uint32_t candidates;
	uint32_t count;
	const struct osp_place_domain *domains = osp_place_order(place, input, &candidates, &count);
	int next = ask->next_level ? osp_topology_level(topology, ask->next_level) : 0;

	assert_int_equal(candidates, 0);
	return osp_sentence_never(topology, input, domains, count, ask->partition, ask->excludes,
				  (uint32_t)next, buffer, buffer_bytes);
}

static void check(const struct ask *ask, say say_it)
{
	struct osp_nodeset *usable = nodes_of(ask->usable);
	struct osp_nodeset *free_nodes = ask->free ? nodes_of(ask->free) : NULL;
	struct osp_nodeset *required = ask->required ? nodes_of(ask->required) : NULL;
	struct osp_nodeset *second = ask->second ? nodes_of(ask->second) : NULL;
	uint16_t kind[NODES] = {0};
	struct osp_place_input input = {
		.level = (uint32_t)osp_topology_level(topology, ask->level),
		.need_nodes = ask->need_nodes,
		.want_nodes = ask->need_nodes,
		.free_only = !ask->any_time,
		.usable = usable,
		.free = free_nodes,
		.required = required,
	};
	char buffer[OSP_SENTENCE_BYTES];
	char small[24];

	if (second) {
		for (uint32_t n = 0; n < NODES; n++)
			kind[n] = osp_nodeset_test(second, n);
		input.kind = kind;
		input.kind_count = 2;
	}
	say_it(ask, &input, buffer, sizeof(buffer));
	if (strcmp(buffer, ask->words))
		print_message("%s:\n", ask->title);
	assert_string_equal(buffer, ask->words);
	say_it(ask, &input, small, sizeof(small));
	assert_int_equal(strlen(small), sizeof(small) - 1);
	assert_memory_equal(small, ask->words, sizeof(small) - 1);
	free(second);
	free(required);
	free(free_nodes);
	free(usable);
}

static void waits(void **state)
{
	static const struct ask asks[] = {
		{.title = "one short",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "1111111111111",
		 .free = "1110000011000",
		 .words = "waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)"},
		{.title = "one node, every node busy: the fewest short, then the larger",
		 .level = "spine",
		 .need_nodes = 1,
		 .usable = "1111111111110",
		 .free = "0000000000000",
		 .words = "waits: 1 node on one spine; nearest: s1 has 0 free of 8 (1 short)"},
		{.title = "a required node is busy",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "1111111111110",
		 .free = "0111111111110",
		 .required = "1000000000000",
		 .words = "waits: 2 nodes on one spine; n1, which the job requires, is in use"},
		{.title = "of three required nodes two are busy",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "1111111111110",
		 .free = "0101111111110",
		 .required = "1110000000000",
		 .words = "waits: 4 nodes on one spine; n1 and 1 more that the job requires are in "
			  "use"},
		{.title = "the required node is free, others are not",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "1111111111110",
		 .free = "1100000000000",
		 .required = "1000000000000",
		 .words = "waits: 4 nodes on one spine; nearest: s1 has 2 free of 8 (2 short)"},
		{.title = "few nodes have the feature",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "1100000000000",
		 .free = "1000000000000",
		 .features = "h100",
		 .words = "waits: 2 nodes on one spine; nearest: s1 has 1 free of 2 with feature "
			  "h100 (1 short)"},
		{.title = "too few have the features",
		 .level = "spine",
		 .need_nodes = 3,
		 .usable = "1100000000000",
		 .features = "h100&rhel9",
		 .words =
			 "waits: 3 nodes on one spine; none has 3 usable with features h100&rhel9: "
			 "the largest, s1, has 2 (drained, reserved, excluded or too small nodes "
			 "do not count)"},
		{.title = "no node with the feature has a place",
		 .level = "spine",
		 .need_nodes = 1,
		 .usable = "0000000000001",
		 .features = "dynamic",
		 .words = "waits: 1 node on one spine; no usable node with feature dynamic is on a "
			  "known spine (drained, reserved, excluded or too small nodes do not "
			  "count)"},
		{.title = "few nodes have the Extra",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "1100000000000",
		 .free = "1000000000000",
		 .extra = "rack=2,(a<3|b>4)",
		 .words = "waits: 2 nodes on one spine; nearest: s1 has 1 free of 2 with "
			  "--extra=rack=2,(a<3|b>4) (1 short)"},
		{.title = "too few have both; what a terminal obeys is not said",
		 .level = "spine",
		 .need_nodes = 3,
		 .usable = "1100000000000",
		 .features = "h100",
		 .extra = "a=\033[2J",
		 .words = "waits: 3 nodes on one spine; none has 3 usable with feature h100 and "
			  "--extra=a=?[2J: the largest, s1, has 2 (drained, reserved, excluded or "
			  "too small nodes do not count)"},
		{.title = "the required node's Extra does not fit",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "0111000000000",
		 .required = "1000000000000",
		 .extra = "rack=2",
		 .words = "waits: 2 nodes on one spine; no spine has all the nodes that the job "
			  "requires with --extra=rack=2"},
		{.title = "one required node's Extra does not fit, another is busy",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "0111000000000",
		 .free = "0011000000000",
		 .required = "1100000000000",
		 .features = "h100",
		 .extra = "rack=2",
		 .words = "waits: 2 nodes on one spine; no spine has all the nodes that the job "
			  "requires with feature h100 and --extra=rack=2"},
		{.title = "what is short may still be a candidate",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "1111111111111",
		 .free = "1110000011000",
		 .any_time = true,
		 .words = "waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)"},
		{.title = "nothing of the fabric is in the way",
		 .level = "leaf",
		 .need_nodes = 3,
		 .usable = "1111111111111",
		 .free = "1110000011000",
		 .words = "waits: 3 nodes on one leaf; l1 has 3 free"},
		{.title = "nodes are gone",
		 .level = "spine",
		 .need_nodes = 6,
		 .usable = "1110000011000",
		 .words = "waits: 6 nodes on one spine; none has 6 usable: the largest, s1, has 3 "
			  "(drained, reserved, excluded or too small nodes do not count)"},
		{.title = "a long name is told whole",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "0000000011100",
		 .words = "waits: 4 nodes on one spine; none has 4 usable: the largest, "
			  "nn-3f2a9c01b7d54e681, has 3 (drained, reserved, excluded or too small "
			  "nodes do not count)"},
		{.title = "the required node's spine is too small now",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "1111000011100",
		 .required = "0000000010000",
		 .words = "waits: 4 nodes on one spine; nn-3f2a9c01b7d54e681, which has the nodes "
			  "that the job requires, has 3 usable (drained, reserved, excluded or "
			  "too small nodes do not count)"},
		{.title = "required nodes of two spines",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "1111111111111",
		 .required = "1000000010000",
		 .words = "waits: 2 nodes on one spine; no spine has all the nodes that the job "
			  "requires"},
		{.title = "the level is not known of the nodes left",
		 .level = "spine",
		 .need_nodes = 1,
		 .usable = "0000000000001",
		 .words = "waits: 1 node on one spine; no usable node is on a known spine "
			  "(drained, reserved, excluded or too small nodes do not count)"},
		{.title = "node types do not mix",
		 .level = "spine",
		 .need_nodes = 6,
		 .usable = "1111111100000",
		 .second = "1110000000000",
		 .words = "waits: 6 nodes on one spine; none has 6 usable: the largest, s1, has 5 "
			  "of one node type (drained, reserved, excluded or too small nodes do "
			  "not count)"},
		{.title = "node types do not mix, and some are busy",
		 .level = "spine",
		 .need_nodes = 4,
		 .usable = "1111111100000",
		 .free = "1111110000000",
		 .second = "1110000000000",
		 .words = "waits: 4 nodes on one spine; nearest: s1 has 3 free of 5 of one node "
			  "type (1 short)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		check(&asks[i], say_waits);
}

static void never(void **state)
{
	static const struct ask asks[] = {
		{.title = "everything applies",
		 .level = "spine",
		 .need_nodes = 12,
		 .usable = "1111111111111",
		 .partition = "gpu",
		 .next_level = "core",
		 .words = "12 nodes on one spine asked for; the largest spine of partition gpu has "
			  "8 (s1); ask for --gang=core or 8 nodes"},
		{.title = "no level above holds it",
		 .level = "spine",
		 .need_nodes = 20,
		 .usable = "1111111111111",
		 .partition = "gpu",
		 .words = "20 nodes on one spine asked for; the largest spine of partition gpu has "
			  "8 (s1); ask for 8 nodes"},
		{.title = "no partition",
		 .level = "leaf",
		 .need_nodes = 2,
		 .usable = "0000000000010",
		 .words = "2 nodes on one leaf asked for; the largest leaf has 1 (l3); ask for 1 "
			  "node"},
		{.title = "a long name",
		 .level = "spine",
		 .need_nodes = 5,
		 .usable = "1100000011110",
		 .partition = "p5",
		 .next_level = "core",
		 .words = "5 nodes on one spine asked for; the largest spine of partition p5 has 4 "
			  "(nn-3f2a9c01b7d54e681); ask for --gang=core or 4 nodes"},
		{.title = "required nodes of two spines",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "1111111111111",
		 .required = "1000000010000",
		 .partition = "gpu",
		 .next_level = "core",
		 .words = "2 nodes on one spine asked for; no spine of partition gpu has all the "
			  "nodes that --nodelist requires; ask for --gang=core"},
		{.title = "the required nodes' spine is too small",
		 .level = "spine",
		 .need_nodes = 6,
		 .usable = "1111111111111",
		 .required = "0000000010000",
		 .partition = "gpu",
		 .words = "6 nodes on one spine asked for; the spine of partition gpu with the "
			  "nodes of --nodelist has 4 (nn-3f2a9c01b7d54e681); ask for 4 nodes"},
		{.title = "no node's level is known",
		 .level = "leaf",
		 .need_nodes = 1,
		 .usable = "0000000000001",
		 .partition = "new",
		 .next_level = "core",
		 .words = "1 node on one leaf asked for; no node of partition new is on a known "
			  "leaf; ask for --gang=core"},
		{.title = "--exclude leaves no node",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "0000000000000",
		 .partition = "gpu",
		 .excludes = true,
		 .words = "2 nodes on one spine asked for; no node of partition gpu is on a known "
			  "spine without the nodes of --exclude"},
		{.title = "a required node is excluded",
		 .level = "spine",
		 .need_nodes = 2,
		 .usable = "0111111111111",
		 .required = "1000000000000",
		 .partition = "gpu",
		 .excludes = true,
		 .words = "2 nodes on one spine asked for; no spine of partition gpu has all the "
			  "nodes that --nodelist requires without the nodes of --exclude"},
		{.title = "the excluded nodes would be enough",
		 .level = "spine",
		 .need_nodes = 8,
		 .usable = "0111111100000",
		 .partition = "gpu",
		 .excludes = true,
		 .words = "8 nodes on one spine asked for; the largest spine of partition gpu has "
			  "7 without the nodes of --exclude (s1); ask for 7 nodes"},
		{.title = "node types do not mix",
		 .level = "spine",
		 .need_nodes = 6,
		 .usable = "1111111100000",
		 .second = "1110000000000",
		 .partition = "gpu",
		 .words = "6 nodes on one spine asked for; the largest spine of partition gpu has "
			  "5 of one node type (s1); ask for 5 nodes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		check(&asks[i], say_never);
}

/* --- placed, levels -----------------------------------------------------------------------------
 */

static void placed(void **state)
{
	uint32_t spine = osp_topology_find_domain(topology, 2, "s1");
	uint32_t leaf = osp_topology_find_domain(topology, 1, "l2");
	char buffer[OSP_SENTENCE_BYTES];

	(void)state;
	assert_string_equal(osp_sentence_placed(topology, spine, 6, 2, buffer, sizeof(buffer)),
			    "placed: 6 nodes on spine s1, 2 leaves");
	assert_string_equal(osp_sentence_placed(topology, spine, 1, 1, buffer, sizeof(buffer)),
			    "placed: 1 node on spine s1, 1 leaf");
	assert_string_equal(osp_sentence_placed(topology, leaf, 4, 1, buffer, sizeof(buffer)),
			    "placed: 4 nodes on leaf l2");
	assert_string_equal(osp_sentence_placed(topology, spine, 6, 0, buffer, sizeof(buffer)),
			    "placed: 6 nodes on spine s1");
}

static void no_level(void **state)
{
	char buffer[OSP_SENTENCE_BYTES];

	(void)state;
	assert_string_equal(
		osp_sentence_no_level(topology, "spin", buffer, sizeof(buffer)),
		"there is no level 'spin' in this fabric; did you mean spine? (leaf, spine, core)");
	assert_string_equal(osp_sentence_no_level(topology, "rack", buffer, sizeof(buffer)),
			    "there is no level 'rack' in this fabric (leaf, spine, core)");
	assert_string_equal(
		osp_sentence_no_level(topology, "COER", buffer, sizeof(buffer)),
		"there is no level 'COER' in this fabric; did you mean core? (leaf, spine, core)");
	/* A name from outside is cut before the levels are. */
	assert_string_equal(osp_sentence_no_level(topology, "No", buffer, sizeof(buffer)),
			    "there is no level 'No' in this fabric; did you mean --gang=off? "
			    "(leaf, spine, core)");
	assert_string_equal(
		osp_sentence_no_level(topology, "on", buffer, sizeof(buffer)),
		"there is no level 'on' in this fabric; did you mean --gang, without a value? "
		"(leaf, spine, core)");
	osp_sentence_no_level(topology, "a-very-long-name-that-somebody-typed-into-the-option",
			      buffer, sizeof(buffer));
	assert_string_equal(buffer, "there is no level 'a-very-long-name-that-somebody-t' in this "
				    "fabric (leaf, spine, core)");
}

static void found_level(void **state)
{
	static const struct fabric_node nodes[] = {{"a", {"l", "s", "c", "z", "r"}}};
	struct osp_topology *zoned = fabric_from(nodes, 1, 5);
	char buffer[OSP_SENTENCE_BYTES];

	(void)state;
	assert_int_equal(osp_sentence_find_level(zoned, "zone", buffer, sizeof(buffer)), 4);
	assert_int_equal(osp_sentence_find_level(zoned, "Region", buffer, sizeof(buffer)), -1);
	assert_string_equal(buffer,
			    "level region is above the zones, and several zones never form one "
			    "gang; ask for --gang=zone or a level below");
	assert_int_equal(osp_sentence_find_level(zoned, "node", buffer, sizeof(buffer)), -1);
	assert_string_equal(buffer, "there is no level 'node' in this fabric (leaf, spine, core, "
				    "zone, region)");
	osp_topology_free(zoned);
}

static struct osp_parts_instead instead_of(struct osp_cut *cut, const struct osp_cut_input *input)
{
	const struct osp_parts parts = {input->domains_max, input->segments};
	const struct osp_place_input of = {.level = input->level, .need_nodes = input->nodes};
	struct osp_nodeset *scratch = osp_nodeset_copy(input->free);
	struct osp_parts_instead instead;

	osp_parts_find_instead(cut, &parts, &of, input->free, false, scratch, &instead);
	free(scratch);
	return instead;
}

/* Of the fabric above: segments of three nodes in a leaf, in one spine or two. */
static void segments(void **state)
{
	static const struct {
		struct osp_cut_input input; /* level, domains, nodes, segments */
		const char *free, *waits, *never;
	} cases[] = {
		{{.level = 2, .domains_max = 2, .nodes = 9, .segments = {1, {{1, 3}}}},
		 "1111.11..11..",
		 "waits: 9 nodes on at most 2 spines in segments leaf:3; 3 whole segments of 3 "
		 "nodes needed, 1 free, and not even with all usable nodes free",
		 "9 nodes on at most 2 spines in segments leaf:3 asked for; with all nodes of "
		 "partition gpu free there is 1 whole segment of 3 nodes where 3 are needed; ask "
		 "for 5 nodes"},
		{{.level = 2, .domains_max = 1, .nodes = 5, .segments = {1, {{1, 3}}}},
		 "1...1........",
		 "waits: 5 nodes on one spine in segments leaf:3; no spine has room for the "
		 "smaller last segment of 2 nodes, and not even with all usable nodes free",
		 "5 nodes on one spine in segments leaf:3 asked for; with all nodes of partition "
		 "gpu free no spine has room for the smaller last segment of 2 nodes"},
		{{.level = 2, .domains_max = 1, .nodes = 4, .segments = {1, {{1, 3}}}},
		 ".............",
		 "waits: 4 nodes on one spine in segments leaf:3; no spine has room for the "
		 "smaller last segment of 1 node, and not even with all usable nodes free",
		 "4 nodes on one spine in segments leaf:3 asked for; with all nodes of partition "
		 "gpu free no spine has room for the smaller last segment of 1 node"},
		{{.level = 1, .domains_max = 2, .nodes = 9},
		 "1111.111.....",
		 "waits: 9 nodes on at most 2 leaves; 9 nodes needed, 7 free, and not even with "
		 "all usable nodes free",
		 "9 nodes on at most 2 leaves asked for; with all nodes of partition gpu free so "
		 "many hold 7; ask for 7 nodes"},
		{{.level = 1, .domains_max = 2, .nodes = 10},
		 "1111.111111..",
		 "waits: 10 nodes on at most 2 leaves; 10 nodes needed, 7 free, and not even with "
		 "all usable nodes free",
		 "10 nodes on at most 2 leaves asked for; with all nodes of partition gpu free so "
		 "many hold 7; ask for 7 nodes or a larger --gang-domains"},
		{{.level = 1, .domains_max = 2, .nodes = 11},
		 "1111.111111..",
		 "waits: 11 nodes on at most 2 leaves; 11 nodes needed, 7 free, and not even with "
		 "all usable nodes free",
		 "11 nodes on at most 2 leaves asked for; with all nodes of partition gpu free so "
		 "many hold 7; ask for 7 nodes or 10 nodes with a larger --gang-domains"},
		{{.level = 2, .domains_max = 1, .nodes = 6, .segments = {1, {{1, 4}}}},
		 "111.111......",
		 "waits: 6 nodes on one spine in segments leaf:4; 1 whole segment of 4 nodes "
		 "needed beside the smaller last one, 0 free, and not even with all usable nodes "
		 "free",
		 "6 nodes on one spine in segments leaf:4 asked for; with all nodes of partition "
		 "gpu free there are 0 whole segments of 4 nodes beside the smaller last one where "
		 "1 is needed; ask for 3 nodes or smaller segments"},
		{{.level = 2, .domains_max = 1, .nodes = 8, .segments = {1, {{1, 4}}}},
		 "111.111.111..",
		 "waits: 8 nodes on one spine in segments leaf:4; 2 whole segments of 4 nodes "
		 "needed, 0 free, and not even with all usable nodes free",
		 "8 nodes on one spine in segments leaf:4 asked for; with all nodes of partition "
		 "gpu free there are 0 whole segments of 4 nodes where 2 are needed; ask for 3 "
		 "nodes or smaller segments with a larger --gang-domains"},
		{{.level = 2, .domains_max = 1, .nodes = 8, .segments = {1, {{1, 2}}}},
		 "1111.11.11...",
		 "waits: 8 nodes on one spine in segments leaf:2; 4 whole segments of 2 nodes "
		 "needed, 3 free, and not even with all usable nodes free",
		 "8 nodes on one spine in segments leaf:2 asked for; with all nodes of partition "
		 "gpu free there are 3 whole segments of 2 nodes where 4 are needed; ask for 6 "
		 "nodes or a larger --gang-domains"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_cut *cut = osp_cut_new(topology);
		struct osp_nodeset *nodes = nodes_of(cases[i].free);
		struct osp_cut_input input = cases[i].input;
		struct osp_parts_instead instead;
		struct osp_cut_answer answer;
		char words[OSP_SENTENCE_BYTES];

		input.free = nodes;
		osp_cut_judge(cut, &input, &answer);
		assert_false(answer.fits);
		instead = instead_of(cut, &input);
		assert_string_equal(osp_sentence_segments_wait(topology, &input, NULL, &answer,
							       false, words, sizeof(words)),
				    cases[i].waits);
		assert_string_equal(osp_sentence_segments_never(topology, &input, NULL, &answer,
								&instead, "gpu", words,
								sizeof(words)),
				    cases[i].never);
		free(nodes);
		osp_cut_free(cut);
	}
}

/* Which nodes the words are about: those of --nodelist, of one kind, beside the last segment. */
static void segments_of_some_nodes(void **state)
{
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *nodes = nodes_of("111..........");
	struct osp_cut_input input = {
		.level = 2, .domains_max = 1, .nodes = 5, .segments = {1, {{1, 3}}}, .free = nodes};
	struct osp_place_input of = {.kind_count = 2};
	struct osp_parts_instead instead = {.nodes_apart = 5, .smaller_segments = true};
	struct osp_cut_answer answer;
	char words[OSP_SENTENCE_BYTES];

	(void)state;
	osp_cut_judge(cut, &input, &answer);
	assert_string_equal(
		osp_sentence_segments_wait(topology, &input, &of, &answer, true, words,
					   sizeof(words)),
		"waits: 5 nodes of one node type on one spine in segments leaf:3; 1 whole segment "
		"of 3 nodes needed beside the smaller last one, 0 free");
	of.required = nodes;
	assert_string_equal(
		osp_sentence_segments_wait(topology, &input, &of, &answer, false, words,
					   sizeof(words)),
		"waits: 5 nodes of --nodelist on one spine in segments leaf:3; 1 whole segment of "
		"3 "
		"nodes needed beside the smaller last one, 0 free, and not even with all of these "
		"free");
	assert_string_equal(
		osp_sentence_segments_never(topology, &input, &of, &answer, &instead, "gpu", words,
					    sizeof(words)),
		"5 nodes of --nodelist on one spine in segments leaf:3 asked for; with all of "
		"these "
		"free there are 0 whole segments of 3 nodes beside the smaller last one where 1 is "
		"needed; ask for smaller segments or a larger --gang-domains");
	osp_nodeset_clear(nodes); /* a list that names none */
	instead.nodes_apart = 0;
	assert_string_equal(
		osp_sentence_segments_never(topology, &input, &of, &answer, &instead, NULL, words,
					    sizeof(words)),
		"5 nodes of one node type on one spine in segments leaf:3 asked for; with all "
		"nodes "
		"free there are 0 whole segments of 3 nodes beside the smaller last one where 1 is "
		"needed; ask for smaller segments");
	of.kind_count = 1;
	input.domains_max = OSP_NODES_MAX;
	assert_string_equal(
		osp_sentence_segments_wait(topology, &input, &of, &answer, true, words,
					   sizeof(words)),
		"waits: 5 nodes on any number of spines in segments leaf:3; 1 whole segment of 3 "
		"nodes needed beside the smaller last one, 0 free");
	free(nodes);
	osp_cut_free(cut);
}

/* What segments leave of a full domain: leaves of 18 and 17 nodes, two a spine. */
static void segments_leave_nodes(void **state)
{
	struct fabric_node nodes[70] = {{NULL, {NULL}}};
	static char names[70][8];
	static const struct {
		uint32_t nodes;
		struct osp_segments segments;
		const char *says;
	} cases[] = {
		{32,
		 {1, {{1, 16}}},
		 "segments leaf:16 leave 2 of 18 nodes in each full leaf to others"},
		{36,
		 {1, {{1, 8}}},
		 "segments leaf:8 leave 2 of 18 nodes in each full leaf to others; the last "
		 "segment of leaf:8 has 4 nodes"},
		{8, {1, {{1, 8}}}, ""}, /* one of the two that a leaf holds */
		{36, {1, {{1, 18}}}, ""},
		{36, {1, {{1, 9}}}, ""},
		{64,
		 {2, {{1, 16}, {2, 32}}},
		 "segments leaf:16 leave 2 of 18 nodes in each full leaf to others"},
		{35,
		 {2, {{1, 1}, {2, 34}}},
		 "segments spine:34 leave 1 of 35 nodes in each full spine to others; the last "
		 "segment of spine:34 has 1 node"},
		{20, {1, {{1, 18}}}, "the last segment of leaf:18 has 2 nodes"},
		{3, {1, {{1, 9}}}, "the last segment of leaf:9 has 3 nodes"},
		{48,
		 {2, {{1, 8}, {2, 32}}},
		 "segments leaf:8 leave 2 of 18 nodes in each full leaf to others; the last "
		 "segment of spine:32 has 16 nodes"},
		{68,
		 {2, {{1, 9}, {2, 27}}},
		 "segments spine:27 leave 8 of 35 nodes in each full spine to others; the last "
		 "segment of leaf:9 has 5 nodes"},
		{35, {0, {{0, 0}}}, ""},
	};
	struct osp_topology *uneven;
	char words[OSP_SENTENCE_BYTES];

	(void)state;
	for (int i = 0; i < 70; i++) {
		snprintf(names[i], sizeof(names[i]), "n%02d", i);
		nodes[i] = (struct fabric_node){names[i],
						{i % 35 < 18 ? i < 35 ? "r1" : "r3"
						 : i < 35    ? "r2"
							     : "r4",
						 i < 35 ? "l1" : "l2", "s"}};
	}
	uneven = fabric_from(nodes, 70, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(osp_sentence_segments_left(uneven, &cases[i].segments,
							       cases[i].nodes, words,
							       sizeof(words)),
				    cases[i].says);
	}
	osp_topology_free(uneven);
}

static void placed_in_parts(void **state)
{
	char words[OSP_SENTENCE_BYTES];

	(void)state;
	assert_string_equal(osp_sentence_parts_placed(topology, 2, 2, "s1,s2", 9, 3, "leaf:3",
						      words, sizeof(words)),
			    "placed: 9 nodes in 2 domains of spine, 3 leaves, in segments leaf:3");
	assert_string_equal(osp_sentence_parts_placed(topology, 2, 1, "s1", 4, 1, "leaf:4", words,
						      sizeof(words)),
			    "placed: 4 nodes on spine s1, 1 leaf, in segments leaf:4");
	assert_string_equal(
		osp_sentence_parts_placed(topology, 1, 2, NULL, 8, 2, "", words, sizeof(words)),
		"placed: 8 nodes in 2 domains of leaf");
	assert_string_equal(
		osp_sentence_parts_placed(topology, 2, 1, NULL, 1, 0, "", words, sizeof(words)),
		"placed: 1 node on spine ?");
}

static void launches(void **state)
{
	char buffer[OSP_SENTENCE_BYTES];

	(void)state;
	assert_string_equal(osp_sentence_launches("spine", 4, 3, buffer, sizeof(buffer)),
			    "launched: 4 nodes, 3 of them do not run yet; whether they are on "
			    "one spine is asked when they run");
	assert_string_equal(osp_sentence_launches("leaf", 2, 1, buffer, sizeof(buffer)),
			    "launched: 2 nodes, 1 of them does not run yet; whether they are on "
			    "one leaf is asked when they run");
	assert_string_equal(osp_sentence_launched_blind("leaf", 300, buffer, sizeof(buffer)),
			    "launched: no fabric topology is in force, so it is not known whether "
			    "its nodes are on one leaf; in 5m it goes back to the queue; the "
			    "administrator finds the reason in slurmctld's log");
	assert_string_equal(osp_sentence_apart("leaf", 4, 2, buffer, sizeof(buffer)),
			    "its 4 nodes are on 2 leaves");
	assert_string_equal(osp_sentence_unplaced(1, 300, buffer, sizeof(buffer)),
			    "the place of 1 node was not known 5m after all nodes ran");
	assert_string_equal(osp_sentence_unplaced(2, 30, buffer, sizeof(buffer)),
			    "the places of 2 nodes were not known 30s after all nodes ran");
	assert_string_equal(osp_sentence_in_vain(1, 60, false, buffer, sizeof(buffer)),
			    "launched 1 time in vain (1 node minute)");
	assert_string_equal(osp_sentence_in_vain(2, 61, false, buffer, sizeof(buffer)),
			    "launched 2 times in vain (2 node minutes)");
	assert_string_equal(osp_sentence_in_vain(3, 0, true, buffer, sizeof(buffer)),
			    "launched 3 times in vain (0 node minutes), so it waits for nodes "
			    "whose places are known");
}

static void components(void **state)
{
	char buffer[OSP_SENTENCE_BYTES];

	(void)state;
	assert_string_equal(osp_sentence_components("spine", 3, "gpu", buffer, sizeof(buffer)),
			    "waits: the 3 components in partition gpu are held to one spine "
			    "together, and no spine has room for all of them now");
}

static void moved(void **state)
{
	char buffer[OSP_SENTENCE_BYTES];

	(void)state;
	assert_string_equal(
		osp_sentence_moved("spine", 4, 3, "n4", "14:10", buffer, sizeof(buffer)),
		"moved: since 14:10 3 of its 4 nodes are on one spine, and n4 is not");
	assert_string_equal(
		osp_sentence_moved("leaf", 3, 1, "n[1-2]", "14:10", buffer, sizeof(buffer)),
		"moved: since 14:10 1 of its 3 nodes is on one leaf, and n[1-2] are not");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plurals),
		cmocka_unit_test(waits),
		cmocka_unit_test(never),
		cmocka_unit_test(placed),
		cmocka_unit_test(no_level),
		cmocka_unit_test(found_level),
		cmocka_unit_test(segments),
		cmocka_unit_test(segments_of_some_nodes),
		cmocka_unit_test(segments_leave_nodes),
		cmocka_unit_test(placed_in_parts),
		cmocka_unit_test(launches),
		cmocka_unit_test(components),
		cmocka_unit_test(moved),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
