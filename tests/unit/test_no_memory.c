/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each call of lib/ that allocates, with each of its allocations failing in turn: no crash, no
 * leak, "out of memory" in words, and never half a result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/document.h"
#include "lib/base/hostlist.h"
#include "lib/base/nodeset.h"
#include "lib/base/text.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_start.h"
#include "lib/layout/gang_segments.h"
#include "lib/policy/config.h"
#include "lib/policy/gang_license.h"
#include "lib/policy/note.h"
#include "lib/topology/blocks.h"
#include "lib/topology/leaf_pack.h"
#include "lib/topology/level.h"
#include "lib/topology/merge.h"
#include "lib/topology/readers.h"
#include "tests/unit/no_memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char conf[] = "SwitchName=r[1-2]a Nodes=gpu-[1-4]\n"
			   "SwitchName=r[1-2]b Nodes=gpu-[5-8]\n"
			   "SwitchName=lone Nodes=x \\\n# joined\n"
			   "SwitchName=s[1-2] Switches=\"r[1-2]a, r[1-2]b\"\n"
			   "SwitchName=c Switches=s[1-2]\n";

static const char own[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"a b\", \"nodes\": \"x[1-3]y[2-5]\"},"
	"{\"level\": \"leaf\", \"name\": \"a b\", \"in\": \"a b\", \"nodes\": \"n1\"}],"
	"\"nodes\": \"m\"}";

static void check_words(const struct osp_error *error, bool success)
{
	assert_string_equal(error->text, success ? "" : "out of memory");
}

static bool read_conf(void *context)
{
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_slurm_topology("f", conf, sizeof(conf) - 1, &error);

	(void)context;
	check_words(&error, topology);
	osp_topology_free(topology);
	return topology;
}

static bool read_own(void *context)
{
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_onespine_topology("f", own, sizeof(own) - 1, &error);

	(void)context;
	check_words(&error, topology);
	osp_topology_free(topology);
	return topology;
}

/* So many nodes, leaves and sources that each array takes memory of its own. */
static char *large_own(void)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, "{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [");
	for (int leaf = 0; leaf < 600; leaf++)
		osp_text_printf(&text,
				"%s{\"level\": \"leaf\", \"name\": \"leaf-of-a-long-name-%0100d\", "
				"\"nodes\": \"n[%d-%d]\"}",
				leaf ? ", " : "", leaf, leaf * 15, leaf * 15 + 14);
	osp_text_add(&text, "], \"places\": [{\"source\": \"ec2\", \"nodes\": [");
	for (int node = 0; node < 3000; node++)
		osp_text_printf(&text, "%s\"n%d i-%080d 1700000000\"", node ? ", " : "", node,
				node);
	osp_text_add(&text, "]}]}");
	return osp_text_take(&text);
}

static bool read_large(void *context)
{
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_onespine_topology("f", context, strlen(context), &error);

	check_words(&error, topology);
	osp_topology_free(topology);
	return topology;
}

static void a_large_topology_survives(void **state)
{
	char *text = large_own();

	(void)state;
	assert_non_null(text);
	assert_true(no_memory_at_each(read_large, text) > 50);
	free(text);
}

static bool write_own(void *context)
{
	char *text = osp_write_onespine_topology(context, "a source");

	free(text);
	return text;
}

static bool write_conf(void *context)
{
	struct osp_error error = {0};
	char *text = osp_write_slurm_topology(context, true, &error);

	check_words(&error, text);
	free(text);
	return text;
}

static bool rebase(void *context)
{
	static const char *const names[] = {"n1", NULL, "new", "m"};
	struct osp_error error = {0};
	struct osp_topology *rebased = osp_topology_rebase(context, names, COUNT(names), &error);

	check_words(&error, rebased);
	osp_topology_free(rebased);
	return rebased;
}

static bool compact(void *context)
{
	static const char *const names[] = {"r1n1", "r1n2",   "r2n1",  "r2n2",
					    "a",    "r1x1n1", "r1x1n2"};
	char *list = osp_hostlist_compact(names, COUNT(names));

	(void)context;
	free(list);
	return list;
}

static bool read_document(void *context)
{
	struct osp_error error = {0};
	struct osp_document *document = osp_document_read("f", context, strlen(context), &error);

	check_words(&error, document);
	osp_document_free(document);
	return document;
}

static bool grow_text(void *context)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *taken;

	(void)context;
	for (int i = 0; i < 100; i++) {
		osp_text_add(&text, "some words");
		osp_text_printf(&text, "%d", i);
	}
	taken = osp_text_take(&text);
	free(taken);
	return taken;
}

static bool read_file(void *context)
{
	size_t length;
	/* longer than it says, so that the buffer grows */
	char *data = osp_read_file("/proc/self/status", 1000000, &length);

	(void)context;
	free(data);
	return data;
}

static bool copy_set(void *context)
{
	struct osp_nodeset *copy = osp_nodeset_copy(context);

	free(copy);
	return copy;
}

/* A note with every piece, and words too long for it that end within a letter of several bytes. */
static const struct osp_note *whole_note(void)
{
	static char says[OSP_NOTE_BYTES_MAX + 2];
	static const struct osp_note note = {.gang = "spine",
					     .domain = "s1",
					     .leaves = "l1:n1|l2:n2",
					     .order = "2x1/n2,n1",
					     .says = says,
					     .gate = "1 of 2 failed",
					     .suspects = "n[1-2]",
					     .log = "n1:/var/log"};

	for (size_t i = 0; i + 2 < sizeof(says); i += 2)
		memcpy(says + i, "\xc3\xa9", 2);
	return &note;
}

static bool merge_note(void *context)
{
	char *merged = osp_note_merge(context, whole_note());

	free(merged);
	return merged;
}

/* What an older part says stays. */
static bool keep_pieces(void *context)
{
	static const struct osp_note note = {.gang = "leaf", .says = "waits"};
	char *merged = osp_note_merge(context, &note);

	free(merged);
	return merged;
}

static bool find_note(void *context)
{
	struct osp_note found;
	bool there = osp_note_find(context, &found);

	if (there)
		osp_note_free_pieces(&found);
	return there;
}

static void notes_survive(void **state)
{
	struct osp_note note = *whole_note();
	char *comment;

	(void)state;
	assert_true(no_memory_at_each(merge_note, "of an administrator") > 1);
	note.says = "waits";
	comment = osp_note_merge("of an administrator", &note);
	assert_non_null(comment);
	assert_true(no_memory_at_each(find_note, comment) > 6);
	assert_true(no_memory_at_each(keep_pieces, comment) > 6);
	free(comment);
}

static bool read_policy(void *context)
{
	struct osp_error error = {0};
	struct osp_config *config = osp_config_read("f", context, strlen(context), &error);

	check_words(&error, config);
	osp_config_free(config);
	return config;
}

static bool add_license(void *context)
{
	char *with = "";
	int rc = osp_gang_license_add(context, &with);

	assert_int_equal(rc, with ? 0 : -2);
	if (with)
		assert_string_equal(with, "matlab:2,onespine:2");
	free(with);
	return rc == 0;
}

static void policies_survive(void **state)
{
	static char text[] =
		"topology: a\ndefaults: {level: leaf}\npartitions: {a: {gang: always}}\n",
		    licenses[] = "matlab:2";

	(void)state;
	assert_true(no_memory_at_each(read_policy, text) > 3);
	assert_int_equal(no_memory_at_each(add_license, licenses), 1);
}

static void reading_survives(void **state)
{
	char map[2000] = "";
	struct osp_text text = OSP_TEXT_INIT;

	(void)state;
	assert_true(no_memory_at_each(read_conf, NULL) > 15);
	assert_true(no_memory_at_each(read_own, NULL) > 15);
	for (int i = 0; i < 20; i++) /* more keys than are compared pair by pair */
		osp_text_printf(&text, "k%d: [a, {b: c}]\n", i);
	memcpy(map, text.data, text.length_bytes);
	osp_text_free(&text);
	assert_true(no_memory_at_each(read_document, map) > 2);
	assert_true(no_memory_at_each(read_file, NULL) > 1);
}

static void writing_survives(void **state)
{
	struct osp_topology *topology = osp_read_onespine_topology("f", own, sizeof(own) - 1, NULL);
	struct osp_nodeset *set = osp_nodeset_new(100);

	(void)state;
	assert_true(no_memory_at_each(write_own, topology) > 5);
	assert_true(no_memory_at_each(write_conf, topology) > 10);
	assert_true(no_memory_at_each(rebase, topology) > 5);
	assert_true(no_memory_at_each(compact, NULL) > 5);
	assert_true(no_memory_at_each(grow_text, NULL) > 3);
	assert_int_equal(no_memory_at_each(copy_set, set), 1);
	free(set);
	osp_topology_free(topology);
}

/* --- packed leaf lists, blocks ---------------------------------------------------------------- */

static const char leaves[] = "l1:n[1,3],x|l2:n[2,4]|l3:n[08-12]";

static bool pack(void *context)
{
	char *packed = osp_leaf_pack(leaves, 4096);

	(void)context;
	if (packed)
		assert_string_equal(packed, context);
	free(packed);
	return packed;
}

static bool unpack(void *context)
{
	char *list = osp_leaf_unpack(context);

	if (list)
		assert_string_equal(list, leaves);
	free(list);
	return list;
}

static bool order(void *context)
{
	struct osp_gang_ranks made;
	bool good = osp_gang_order_make("n[1-4]", context, "2x2.2x1/~IhK", &made) == 0;

	if (good)
		osp_gang_order_clear(&made);
	return good;
}

static bool pack_order(void *context)
{
	char *packed = osp_gang_order_pack(context, "2x1/n[2,4],n1");

	free(packed);
	return packed;
}

/* Two segments of two on three leaves, so that ranks follow no list of the fabric. */
static const char woven[] = "{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": ["
			    "{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n[2,4]\"},"
			    "{\"level\": \"leaf\", \"name\": \"b\", \"nodes\": \"n[1,3]\"}]}";

static const struct osp_segments twos = {.count = 1, .segment = {{.level = 1, .nodes = 2}}};

/* Makes the ranks again of what was written. */
static bool read_start(const struct osp_topology *topology, const struct osp_nodeset *of,
		       const char *list, const char *order)
{
	struct osp_gang_start start;
	uint32_t ranks[6];
	bool good = osp_gang_start_read(topology, of, list, order, &start) == 0;

	if (!good)
		return false;
	good = osp_gang_start_ranks(&start, of, 0, ranks);
	osp_gang_start_clear(&start);
	return good;
}

/* All that a start writes of its nodes. */
static bool write_start(const struct osp_gang_start *start, const struct osp_nodeset *of)
{
	char *list = osp_gang_start_leaves(start, 4096);
	char *order = osp_gang_start_order(start, 4096), *packed = NULL, *packed_order = NULL;
	uint32_t ranks[6];
	bool good = list && order && osp_gang_start_pack(start, 4096, &packed, &packed_order) &&
		    osp_gang_start_ranks(start, of, 0, ranks) &&
		    read_start(start->topology, of, list, order) &&
		    read_start(start->topology, of, packed, packed_order);

	/* without memory it does not say instead that they are too long */
	assert_false(packed && !*packed);
	free(list);
	free(order);
	free(packed);
	free(packed_order);
	return good;
}

/* Leaves of three and an overlay across them: places are in another order than the leaves. */
static const char across[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"overlays\": [\"nvlink\"], "
	"\"domains\": [{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n[1-3]\"},"
	"{\"level\": \"leaf\", \"name\": \"b\", \"nodes\": \"n[4-6]\"},"
	"{\"level\": \"nvlink\", \"name\": \"v\", \"nodes\": \"n[1,3]\"},"
	"{\"level\": \"nvlink\", \"name\": \"w\", \"nodes\": \"n[2,4,6]\"}]}";

struct gang_in {
	const struct osp_topology *topology;
	struct osp_segments segments;
	const char *order;
};

static bool order_gang(void *context)
{
	static const uint32_t nodes[] = {0, 1, 2, 3, 4, 5};
	const struct gang_in *gang = context;
	uint32_t count = osp_topology_node_count(gang->topology);
	const struct osp_gang_start_input input = {.topology = gang->topology,
						   .nodes = nodes,
						   .count = count,
						   .segments = &gang->segments,
						   .level = 1};
	struct osp_nodeset *of = osp_nodeset_new(count);
	struct osp_gang_start start;
	bool good = false;

	if (of && osp_gang_start_make(&input, &start) == 0) {
		char *order = osp_gang_start_order(&start, 4096);

		if (order)
			assert_string_equal(order, gang->order);
		osp_nodeset_fill(of);
		good = order && write_start(&start, of);
		free(order);
		osp_gang_start_clear(&start);
	}
	free(of);
	return good;
}

static bool name_segments(void *context)
{
	static const uint32_t nodes[] = {0, 1, 2, 3};
	char *text = osp_gang_segments_text(context, nodes, 4, &twos);

	free(text);
	return text != NULL;
}

static void orders_survive(void **state)
{
	struct osp_topology *topology =
		osp_read_onespine_topology("f", woven, sizeof(woven) - 1, NULL);
	const uint32_t nodes[] = {0};
	const struct osp_segments none = {.count = 0};
	struct gang_in gang;

	(void)state;
	assert_non_null(topology);
	gang = (struct gang_in){topology, twos, "2x1"};
	assert_true(no_memory_at_each(order_gang, &gang) > 2);
	assert_true(no_memory_at_each(name_segments, topology) > 2);
	assert_null(osp_gang_segments_text(topology, nodes, 1, &none));
	assert_null(osp_gang_segments_text(topology, nodes, 0, &twos));
	osp_topology_free(topology);
}

/* The same where the order has to be written node by node, and where crossings are cut. */
static void listed_orders_survive(void **state)
{
	struct osp_topology *topology =
		osp_read_onespine_topology("f", across, sizeof(across) - 1, NULL);
	struct gang_in gang;

	(void)state;
	assert_non_null(topology);
	gang = (struct gang_in){topology, twos, "2x1/n[1-2,4-5],n[3,6]"};
	assert_true(no_memory_at_each(order_gang, &gang) > 20);
	gang.order = "2x1/n[1,3-4,6],n[2,5]";
	gang.segments.segment[0].level = osp_topology_crossings(topology, 2, 1);
	assert_true(no_memory_at_each(order_gang, &gang) > 23);
	osp_topology_free(topology);
}

static void packing_survives(void **state)
{
	char *packed = osp_leaf_pack(leaves, 4096),
	     *small = osp_leaf_pack("a:n[1,3]|b:n[2,4]", 4096);

	(void)state;
	assert_true(no_memory_at_each(pack, packed) > 1);
	assert_true(no_memory_at_each(unpack, packed) > 3);
	assert_true(no_memory_at_each(order, small) > 10);
	assert_true(no_memory_at_each(pack_order, small) > 1);
	free(packed);
	free(small);
}

static const char racks[] = "- topology: a\n  tree: {switches: [{switch: s, children: \"l[1-2]\"}, "
			    "{switch: l1, nodes: \"n[1-4]\"}, {switch: l2, nodes: \"n[5-8]\"}]}\n"
			    "- topology: b\n  block: {blocks: [{block: r1, nodes: \"n[1-2]\"}, "
			    "{block: r2, nodes: \"n[5-8]\"}]}\n";

static bool insert_blocks(void *context)
{
	struct osp_error error = {0};
	struct osp_blocks *blocks = osp_blocks_read("f", racks, sizeof(racks) - 1, &error);
	struct osp_topology *made =
		blocks ? osp_blocks_insert(context, blocks, NULL, &error) : NULL;

	check_words(&error, made);
	osp_topology_free(made);
	osp_blocks_free(blocks);
	return made;
}

/* r1 crosses the leaves: the level is beside the tree, in what is read, written and merged. */
static const char crossing[] =
	"- topology: a\n  tree: {switches: [{switch: s, children: \"l[1-2]\"}, "
	"{switch: l1, nodes: \"n[1-4]\"}, {switch: l2, nodes: \"n[5-8]\"}]}\n"
	"- topology: b\n  block: {blocks: [{block: r1, nodes: \"n[4-5]\"}]}\n";

static bool make_overlay(void *context)
{
	struct osp_error error = {0};
	struct osp_blocks *blocks = osp_blocks_read("f", crossing, sizeof(crossing) - 1, &error);
	struct osp_topology *made =
		blocks ? osp_blocks_insert(context, blocks, NULL, &error) : NULL;
	char *text = made ? osp_write_onespine_topology(made, NULL) : NULL;
	struct osp_topology *again =
		text ? osp_read_onespine_topology("g", text, strlen(text), &error) : NULL;
	const struct osp_topology *parts[] = {again};
	struct osp_topology *merged = again ? osp_topology_merge(parts, 1, &error) : NULL;
	struct osp_topology *less = merged ? osp_topology_without_level(merged, 1, &error) : NULL;
	bool good = less && osp_topology_overlay_count(less) == 1;

	if (!made || text)
		check_words(&error, less);
	osp_topology_free(less);
	osp_topology_free(merged);
	osp_topology_free(again);
	free(text);
	osp_topology_free(made);
	osp_blocks_free(blocks);
	return good;
}

static void overlays_survive(void **state)
{
	struct osp_topology *topology =
		osp_read_slurm_topology("f", crossing, sizeof(crossing) - 1, NULL);

	(void)state;
	assert_non_null(topology);
	assert_true(no_memory_at_each(make_overlay, topology) > 60);
	osp_topology_free(topology);
}

static void blocks_survive(void **state)
{
	struct osp_topology *topology =
		osp_read_slurm_topology("f", racks, sizeof(racks) - 1, NULL);

	(void)state;
	assert_non_null(topology);
	assert_true(no_memory_at_each(insert_blocks, topology) > 20);
	osp_topology_free(topology);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_survives),
		cmocka_unit_test(writing_survives),
		cmocka_unit_test(notes_survive),
		cmocka_unit_test(a_large_topology_survives),
		cmocka_unit_test(packing_survives),
		cmocka_unit_test(orders_survive),
		cmocka_unit_test(blocks_survive),
		cmocka_unit_test(overlays_survive),
		cmocka_unit_test(listed_orders_survive),
		cmocka_unit_test(policies_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
