/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_order.c - a gang's order of nodes, as slurmctld wrote it and as a user's environment has it
 *
 * Lines: the nodes, the leaves with their nodes, the order, the sums of instances, the segments.
 *
 * Parser: lib/layout/gang_order.c lib/layout/gang_segments.c lib/layout/gang_start_read.c
 * Parser: lib/topology/leaf_list.c
 * Parser: lib/topology/leaf_pack.c lib/base/bit_text.c lib/topology/placed_instance.c
 */
#include "lib/base/hostlist.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_order_private.h"
#include "lib/layout/gang_segments.h"
#include "lib/layout/gang_start.h"
#include "lib/topology/builder.h"
#include "lib/topology/leaf_list.h"
#include "lib/topology/leaf_pack.h"
#include "lib/topology/placed_instance.h"
#include "tests/fuzz/fuzz.h"

#define NODES_MAX 512 /* more are the same, only slower */

/* Each node is there, and has the rank of its place. */
static void check_order(const struct osp_gang_ranks *made)
{
	fuzz_check(made->count > 0);
	for (uint32_t i = 0; i < made->count; i++) {
		long rank = osp_gang_order_rank(made, made->names[i]);

		/* a list may name a node twice: then the first counts */
		fuzz_check(rank >= 0 && rank <= (long)i);
		fuzz_check(!strcmp(made->names[rank], made->names[i]));
	}
	fuzz_check(osp_gang_order_rank(made, "no such node") < 0);
}

/* Slurm's numbers rise with the ranks. */
static void check_numbers(const struct osp_gang_ranks *made)
{
	uint32_t numbers[NODES_MAX];

	if (made->count > NODES_MAX)
		return;
	osp_order_slurm_ranks(made->runs, made->count, numbers);
	for (uint32_t i = 1; i < made->count; i++)
		fuzz_check(numbers[i] > numbers[i - 1]);
}

/* Each node is in one of the segments, and each segment has one. */
static void check_segments(const char *text)
{
	uint32_t segment[NODES_MAX], segments;

	for (uint32_t count = 1; count <= 8; count++) {
		uint32_t found = 0;

		segments = osp_gang_segments_read(text, count, segment);
		for (uint32_t i = 0; segments && i < count; i++) {
			fuzz_check(segment[i] < segments);
			found |= 1u << segment[i];
		}
		fuzz_check(found == (1u << segments) - 1);
	}
	osp_gang_segments_read(text, NODES_MAX, segment);
}

static bool is_short(const char *node, void *context)
{
	(void)context;
	return strlen(node) < 4;
}

static int count_node(const char *leaf, const char *node, void *context)
{
	unsigned int *count = context;

	fuzz_check(*leaf && node);
	return ++*count >= NODES_MAX;
}

static int count_name(const char *node, void *context)
{
	return count_node("leaf", node, context);
}

/* Returns whether the leaves or the list have so many nodes that the fuzzer would spend its time on
 * these. */
static bool are_many(const char *nodes, const char *leaves)
{
	unsigned int listed = 0, on_leaves = 0;

	osp_hostlist_expand(nodes, count_name, &listed, NULL);
	osp_leaf_list_each(leaves, count_node, &on_leaves);
	return listed >= NODES_MAX || on_leaves >= NODES_MAX;
}

/* Of the nodes that are kept each is found, in a leaf of the list. */
static void check_leaves(const char *leaves)
{
	unsigned int leaf_count = 0, count = 0, kept_count = 0;
	char *kept = osp_leaf_list_keep(leaves, is_short, NULL, &leaf_count), leaf[64];

	if (!kept) {
		fuzz_check(osp_leaf_is_packed(leaves));
		return;
	}
	osp_leaf_list_each(leaves, count_node, &count);
	osp_leaf_list_each(kept, count_node, &kept_count);
	fuzz_check(kept_count <= count);
	fuzz_check((leaf_count == 0) == (*kept == '\0'));
	if (osp_leaf_list_find(kept, "n1", leaf, sizeof(leaf)))
		fuzz_check(osp_leaf_list_find(leaves, "n1", leaf, sizeof(leaf)));
	if (osp_leaf_list_place(leaves, "n1", "n1") >= 0)
		fuzz_check(osp_leaf_list_place(leaves, "n1", "n1") == 0);
	free(kept);
}

/* What packs unpacks to a list that packs to the same. */
static void check_packed(const char *leaves)
{
	char *packed = osp_leaf_pack(leaves, 4096), *list, *again;

	fuzz_check(packed || osp_leaf_is_packed(leaves));
	if (!packed || !*packed) {
		free(packed);
		return;
	}
	list = osp_leaf_unpack(packed);
	fuzz_check(list);
	again = osp_leaf_pack(list, 4096);
	fuzz_check(again && !strcmp(again, packed));
	free(list);
	free(again);
	free(packed);
}

static void check_sums(const char *sums)
{
	struct osp_text with = OSP_TEXT_INIT;
	enum osp_placed_as as = osp_placed_look(sums, "n1", "i-1");

	osp_text_add(&with, sums);
	osp_placed_add(&with, "n1", "i-1");
	fuzz_check(as >= OSP_PLACED_UNKNOWN && as <= OSP_PLACED_OTHER);
	if (as != OSP_PLACED_UNKNOWN)
		fuzz_check(osp_placed_look(with.data, "n1", "i-1") == OSP_PLACED_SAME);
	osp_text_free(&with);
}

/* Sixteen nodes whose names look alike, on two leaves. */
static const struct osp_topology *fabric(void)
{
	static const char *const names[] = {"n1", "n2",	 "n3",	"n4", "n01", "n02", "n001", "n10",
					    "n",  "n-1", "n-2", "a",  "a1",  "b1",  "ab1",  "n1n1"};
	static const char *const levels[] = {"leaf"};
	static const struct osp_place_in_file nowhere = {"fuzz", 0, 0};
	static struct osp_topology *topology;
	struct osp_builder *builder;

	if (topology)
		return topology;
	builder = osp_builder_new(levels, 1, NULL);
	fuzz_check(builder);
	for (int i = 0; i < 16; i++) {
		uint32_t leaf = osp_builder_domain(builder, 1, i % 2 ? "l2" : "l1", &nowhere, NULL);

		fuzz_check(!osp_builder_node(builder, names[i], leaf, &nowhere, NULL));
	}
	topology = osp_builder_finish(builder, false, NULL);
	fuzz_check(topology);
	osp_builder_free(builder);
	return topology;
}

static int add_node(const char *name, void *context)
{
	uint32_t node = osp_topology_find_node(fabric(), name);

	if (node != OSP_NO_NODE)
		osp_nodeset_add(context, node);
	return 0;
}

/* slurmctld's ranks of the same texts: the first node has 0, and no other one has. */
static void check_ranks(const char *nodes, const char *leaves, const char *order)
{
	struct osp_nodeset *of = osp_nodeset_new(16);
	struct osp_gang_start start;
	uint32_t ranks[16], first;

	fuzz_check(of);
	osp_hostlist_expand(nodes, add_node, of, NULL);
	first = osp_nodeset_next(of, 0);
	if (osp_gang_start_read(fabric(), of, leaves, order, &start) == 0) {
		if (first < 16 && osp_gang_start_ranks(&start, of, first, ranks)) {
			for (uint32_t n = first; n < 16; n = osp_nodeset_next(of, n + 1))
				fuzz_check((ranks[n] == 0) == (n == first));
		}
		osp_gang_start_clear(&start);
	}
	free(of);
}

FUZZER(order)
{
	char *text = malloc(size + 1), *rest = text, *nodes, *leaves, *order, *sums, *segments;
	struct osp_gang_ranks made;

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	nodes = strsep(&rest, "\n");
	leaves = strsep(&rest, "\n");
	order = strsep(&rest, "\n");
	sums = strsep(&rest, "\n");
	segments = strsep(&rest, "\n");
	if (leaves && !are_many(nodes, leaves)) {
		check_leaves(leaves);
		check_packed(leaves);
		check_ranks(nodes, leaves, order);
		if (osp_gang_order_make(nodes, leaves, order, &made) == 0) {
			check_order(&made);
			check_numbers(&made);
			osp_gang_order_clear(&made);
		}
	}
	if (sums)
		check_sums(sums);
	if (segments)
		check_segments(segments);
	free(text);
	return 0;
}
