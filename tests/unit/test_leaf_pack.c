/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_leaf_pack.c - leaf lists of large gangs: short, and the same list again */
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
#include "lib/policy/note.h"
#include "lib/topology/leaf_list.h"
#include "lib/topology/leaf_pack.h"
#include "tests/fabric.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST	     OSP_NOTE_PACKED_BYTES_MAX

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(random_state >> 33) % limit;
}

/* --- gangs ------------------------------------------------------------------------------------ */

/* Numbers 1 .. `of` in a random order. */
static uint32_t *shuffled(uint32_t of)
{
	uint32_t *numbers = malloc(of * sizeof(*numbers));

	assert_non_null(numbers);
	for (uint32_t i = 0; i < of; i++)
		numbers[i] = i + 1;
	for (uint32_t i = of; i > 1; i--) {
		uint32_t other = below(i), held = numbers[i - 1];

		numbers[i - 1] = numbers[other];
		numbers[other] = held;
	}
	return numbers;
}

/*
 * Returns the leaf list of `count` nodes of a cluster of `of`, as slurmctld writes it: EC2 has put
 * each anywhere, `leaf_nodes` on a leaf.
 */
static char *ec2_gang(uint32_t count, uint32_t of, uint32_t leaf_nodes)
{
	uint32_t *numbers = shuffled(of);
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t from = 0; from < count; from += leaf_nodes) {
		const char *names[64];
		char room[64][40], *list;
		uint32_t held = 0;

		for (; held < leaf_nodes && from + held < count; held++) {
			snprintf(room[held], sizeof(room[held]), "queue1-st-p5en48xlarge-%u",
				 numbers[from + held]);
			names[held] = room[held];
		}
		list = osp_hostlist_compact(names, held);
		osp_text_printf(&text, "%snn-%05x%06x%06x:%s", from ? "|" : "", from,
				below(1 << 24), below(1 << 24), list);
		free(list);
	}
	free(numbers);
	return osp_text_take(&text);
}

static void assert_again(const char *leaves, const char *packed)
{
	char *again = osp_leaf_unpack(packed);

	assert_true(osp_leaf_is_packed(packed));
	assert_non_null(again);
	assert_string_equal(again, leaves);
	free(again);
}

static void assert_no_form(const char *leaves, size_t most_bytes)
{
	char *packed = osp_leaf_pack(leaves, most_bytes);

	assert_non_null(packed);
	assert_string_equal(packed, "");
	free(packed);
}

/* However little room there is, a list is packed whole or not at all. */
static void packs_all_or_nothing(void **state)
{
	static const char leaves[] = "leaf1:a[1,3],b[07-09],login|leaf2:a[2,4],zz[1-3]";
	char *whole = osp_leaf_pack(leaves, MOST);
	size_t bytes = strlen(whole);

	(void)state;
	assert_true(bytes > 10);
	for (size_t most_bytes = 0; most_bytes < bytes; most_bytes++)
		assert_no_form(leaves, most_bytes);
	free(whole);
	whole = osp_leaf_pack(leaves, bytes);
	assert_again(leaves, whole);
	free(whole);
}

static void gangs_of_a_cloud_fit(void **state)
{
	static const struct {
		uint32_t count, of, leaf_nodes;
		size_t written_bytes, most_bytes; /* longer than, at most */
	} cases[] = {
		{500, 500, 8, 4096, 2100},	  {500, 1000, 8, 4096, 2300},
		{1024, 1024, 32, 4096, 2000},	  {1024, 4096, 32, 4096, 2500},
		{8192, 8192, 32, 49152, 18500},	  {8192, 16384, 32, 49152, 21500},
		{16384, 16384, 32, 49152, 41000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *leaves = ec2_gang(cases[i].count, cases[i].of, cases[i].leaf_nodes);
		char *packed = osp_leaf_pack(leaves, MOST);

		assert_non_null(packed);
		assert_true(strlen(leaves) > cases[i].written_bytes);
		if (strlen(packed) > cases[i].most_bytes)
			fail_msg("%u of %u: %zu bytes of %zu", cases[i].count, cases[i].of,
				 strlen(packed), strlen(leaves));
		assert_again(leaves, packed);
		/* one byte less than it needs */
		assert_no_form(leaves, strlen(packed) - 1);
		free(packed);
		free(leaves);
	}
}

static void what_never_fits_is_left(void **state)
{
	char *leaves = ec2_gang(32768, 65536, 32);

	(void)state;
	assert_no_form(leaves, MOST);
	free(leaves);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Nodes of a list, each with its leaf's number. */
struct listed {
	struct fabric_node node[512];
	uint32_t leaf[512], count, leaf_count;
	char *last_leaf;
};

static int list_node(const char *leaf, const char *node, void *context)
{
	struct listed *listed = context;

	if (!listed->last_leaf || strcmp(listed->last_leaf, leaf) != 0) {
		listed->leaf_count++;
		listed->last_leaf = strdup(leaf);
	}
	listed->leaf[listed->count] = listed->leaf_count - 1;
	listed->node[listed->count++] =
		(struct fabric_node){strdup(node), {listed->last_leaf, "spine"}};
	return 0;
}

/* Each `step`-th of the nodes is found in the packed list, at its place, and no other one. */
static void assert_found(const struct listed *listed, const struct osp_topology *topology,
			 const char *packed, uint32_t step)
{
	struct osp_nodeset *scratch = osp_nodeset_new(listed->count);
	uint32_t *nodes = calloc(OSP_NODES_MAX, sizeof(*nodes));
	uint32_t *leaf = calloc(OSP_NODES_MAX, sizeof(*leaf));
	uint32_t wanted[512], count = 0;

	for (uint32_t n = 0; n < listed->count; n += step)
		wanted[count++] = n;
	osp_topology_sort_nodes(topology, OSP_BY_NAME, wanted, count, scratch);
	assert_int_equal(osp_leaf_unpack_nodes(packed, topology, wanted, count, nodes, leaf),
			 listed->count);
	for (uint32_t n = 0; n < listed->count; n++) {
		assert_int_equal(nodes[n], n % step ? OSP_NO_NODE : n);
		assert_int_equal(leaf[n], listed->leaf[n]);
	}
	free(nodes);
	free(leaf);
	free(scratch);
}

static void assert_nodes(const char *leaves, const char *packed)
{
	struct listed listed = {.count = 0};
	struct osp_topology *topology;

	assert_int_equal(osp_leaf_list_each(leaves, list_node, &listed), 0);
	topology = fabric_from(listed.node, listed.count, 2);
	for (uint32_t step = 1; step < 4; step++)
		assert_found(&listed, topology, packed, step);
	osp_topology_free(topology);
	for (uint32_t i = 0; i < listed.count; i++) {
		if (i + 1 == listed.count || listed.leaf[i] != listed.leaf[i + 1])
			free((char *)listed.node[i].domains[0]);
		free((char *)listed.node[i].name);
	}
}

static void names_of_all_kinds(void **state)
{
	static const char *const cases[] = {
		"l1:n1",
		"l1:n[1-2]|l2:n[3-4]",
		"l1:n[1,3]|l2:n[2,4]",
		"l2:n[1,3]|l1:n[2,4]|l3:n5",
		"l1:n[08-10]|l2:n[98-101]",
		"l1:n[8-9]|l2:n[08-12]",
		"l1:n0|l2:n00",
		"l1:n[0-3]",
		"l1:login|l2:login2,other",
		"l1:a1,b[1-3]|l2:a2,b[4-9]",
		"l1:r[1-2]n[1-2]|l2:r3n[1-2]",
		"l1:n99999999999|l2:n1",
		"l1:n4294967295|l2:n[4294967296-4294967297]",
		"l1:n999999999999999999|l2:n000000000",
		"l1:x-|l2:y_",
		"nn-(1):n1|nn-2:n2",
		"a leaf:n1|b:n2",
		"l1:n[1-3,5-7,100-200]|l2:n[4,300]",
		"l1:a1,ab1,b1|l2:a2,ab2,b2",
		"l1:n[1,10]|l2:n[01,010]|l3:n[001,0010]|l4:n[0001,00010]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *packed = osp_leaf_pack(cases[i], MOST);

		if (!*packed)
			fail_msg("%s", cases[i]);
		assert_again(cases[i], packed);
		assert_nodes(cases[i], packed);
		free(packed);
	}
}

/* A list that slurmctld would not write, or whose text would not be known again. */
static void what_does_not_suit_is_left(void **state)
{
	static const char *const cases[] = {
		"",
		"l1",
		"l1:n[2,1]",
		"l1:n[1-2]|l2:n2,n3",
		"l1:n[8-10]|l2:n[08-10]",
		"l1:n1|~:n2",
		"l1:a~b",
		"sw:1:n1|sw:2:n2",
		"l1:n[1-",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_no_form(cases[i], MOST);
}

/* Each piece of a packed list changed: it is refused, or says something. */
static void malformed(void **state)
{
	static const char *const cases[] = {"~", "~~", "~~~", "~n~l", "~n~l~", "~n~l~!", "~n,~l~A",
					    "l1:n1", "~n~l1|~wA", "~n~~wA",
					    /* a number of more bits than there are */
					    "~n~l~AAAAAAAAAAAAAAAA"};
	char *packed = osp_leaf_pack("l1:n[1,3]|l2:n[2,4]", MOST);
	size_t length = strlen(packed);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_null(osp_leaf_unpack(cases[i]));
	for (size_t cut = 0; cut < length; cut++) {
		char *shorter = strndup(packed, cut);

		assert_null(osp_leaf_unpack(shorter));
		free(shorter);
	}
	for (size_t at = 0; at < length; at++) {
		char was = packed[at];

		for (int c = ' '; c < 127; c++) {
			packed[at] = (char)c;
			free(osp_leaf_unpack(packed));
		}
		packed[at] = was;
	}
	free(packed);
}

/* --- what reads leaf lists -------------------------------------------------------------------- */

static bool is_short(const char *node, void *context)
{
	(void)context;
	return strlen(node) == 2;
}

static void is_read_like_the_list(void **state)
{
	static const char list[] = "l1:n[1,3,11]|l2:n[2,4]|l3:n[12-13]";
	char *packed = osp_leaf_pack(list, MOST), *kept, leaf[64];
	unsigned int leaves = 0;

	(void)state;
	assert_true(osp_leaf_list_find(packed, "n4", leaf, sizeof(leaf)));
	assert_string_equal(leaf, "l2");
	assert_false(osp_leaf_list_find(packed, "n5", leaf, sizeof(leaf)));
	for (int i = 1; i < 14; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(osp_leaf_list_place(packed, "n2", name),
				 osp_leaf_list_place(list, "n2", name));
	}
	kept = osp_leaf_list_keep(packed, is_short, NULL, &leaves);
	assert_string_equal(kept, "l1:n[1,3]|l2:n[2,4]");
	assert_int_equal(leaves, 2);
	free(kept);
	free(packed);
	assert_int_equal(osp_leaf_list_each("~bad", NULL, NULL), -1);
	assert_null(osp_leaf_list_keep("~bad", is_short, NULL, &leaves));
}

static void names_as_places(void **state)
{
	static const char list[] = "l1:n[1,3,11]|l2:n[2,4]|l3:n[12-13]";
	static const struct {
		const char *names, *again;
	} cases[] = {
		{"n[1,3,11],n[2,4],n[12-13]", "n1,n3,n11,n2,n4,n12,n13"},
		{"n13,n12,n4,n2,n11,n3,n1", "n13,n12,n4,n2,n11,n3,n1"},
		{"n[2,4],n1,n[12-13],n[3,11]", "n2,n4,n1,n12,n13,n3,n11"},
		{"n7,n4,n8,n1", "n4,n1"}, /* those that have left */
		{"n3", "n3"},
		{"", ""},
	};
	char *packed_list = osp_leaf_pack(list, MOST);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *packed = osp_leaf_pack_names(list, cases[i].names);
		char *again = osp_leaf_unpack_names(list, packed);

		assert_string_equal(again, cases[i].again);
		free(again);
		again = osp_leaf_unpack_names(packed_list, packed);
		assert_string_equal(again, cases[i].again);
		free(again);
		free(packed);
	}
	free(packed_list);
	assert_null(osp_leaf_unpack_names(list, "n1"));
	assert_null(osp_leaf_unpack_names(list, "~!"));
	assert_null(osp_leaf_unpack_names(list, "~___")); /* nine times one node */
	assert_null(osp_leaf_unpack_names(list, "~wwwwwwwwwwwwwwwwwwwwwww"));
}

/* --- in AdminComment -------------------------------------------------------------------------- */

static void assert_same_order(const char *nodes, const struct osp_note *note, const char *leaves,
			      const char *order)
{
	struct osp_gang_ranks made, again;

	assert_int_equal(osp_gang_order_make(nodes, leaves, order, &made), 0);
	assert_int_equal(osp_gang_order_make(nodes, note->leaves, note->order, &again), 0);
	assert_int_equal(again.count, made.count);
	for (uint32_t i = 0; i < made.count; i++) {
		assert_string_equal(again.names[i], made.names[i]);
		assert_int_equal(again.runs[i], made.runs[i]);
	}
	osp_gang_order_clear(&made);
	osp_gang_order_clear(&again);
}

struct all {
	struct osp_text text;
	uint32_t left_out; /* every so manieth node has left the gang; 0: none */
	uint32_t at;
};

static int add_name(const char *leaf, const char *node, void *context)
{
	struct all *all = context;

	(void)leaf;
	if (!all->left_out || all->at++ % all->left_out)
		osp_text_printf(&all->text, "%s%s", all->text.length_bytes ? "," : "", node);
	return 0;
}

/* Returns the names of the list's nodes in its order. */
static char *names_of(const char *leaves, uint32_t left_out)
{
	struct all all = {.text = OSP_TEXT_INIT, .left_out = left_out};

	assert_int_equal(osp_leaf_list_each(leaves, add_name, &all), 0);
	return osp_text_take(&all.text);
}

/* Places: the second half of the leaves before the first one, as no fabric's order has it. */
static char *order_of(const char *leaves, uint32_t count)
{
	char *names = names_of(leaves, 0), *half = names;
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t i = 0; i < count / 2; i++)
		half = strchr(half, ',') + 1;
	half[-1] = '\0';
	osp_text_printf(&text, "16x%u.%ux1/%s,%s", count / 16, count / 16, half, names);
	free(names);
	return osp_text_take(&text);
}

/* The order of a large gang reaches its nodes whole, also after some of them left. */
static void the_note_of_a_large_gang(void **state)
{
	static const uint32_t counts[] = {512, 1024, 8192};

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		char *leaves = ec2_gang(counts[i], 2 * counts[i], 32);
		char *order = order_of(leaves, counts[i]);
		char *all = names_of(leaves, 0), *most = names_of(leaves, 7);
		struct osp_note note = {.gang = "spine",
					.domain = "s1",
					.leaves = leaves,
					.order = order,
					.gate = "8 of 8 nodes good",
					.says = "placed: words"},
				found;
		char *comment = osp_note_merge("old", &note), *again;

		assert_true(osp_note_find(comment, &found));
		assert_true(strlen(comment) < 2 * counts[i] + 8192);
		assert_non_null(found.leaves);
		assert_true(osp_leaf_is_packed(found.leaves));
		assert_string_equal(found.gate, "8 of 8 nodes good");
		assert_string_equal(found.says, "placed: words");
		assert_same_order(all, &found, leaves, order);
		assert_same_order(most, &found, leaves, order);
		/* what is merged again stays as it is */
		note = found;
		note.says = "placed: other words";
		again = osp_note_merge(comment, &note);
		assert_int_equal(strlen(again), strlen(comment) + strlen("other "));
		osp_note_free_pieces(&found);
		assert_true(osp_note_find(again, &found));
		assert_same_order(all, &found, leaves, order);
		osp_note_free_pieces(&found);
		free(again);
		free(comment);
		free(leaves);
		free(order);
		free(all);
		free(most);
	}
}

/* Beyond the bound the words stay, and so does that Slurm has the ranks. */
static void the_note_of_a_gang_too_large(void **state)
{
	char *leaves = ec2_gang(32768, 65536, 32);
	struct osp_note note = {.gang = "spine",
				.leaves = leaves,
				.ranks = OSP_NOTE_SLURM_RANKS,
				.says = "placed: words"};
	char *comment = osp_note_merge(NULL, &note);

	(void)state;
	assert_string_equal(comment, "[onespine: gang=spine; ranks=slurm; placed: words]");
	free(comment);
	free(leaves);
}

static void an_order_is_written_out(void **state)
{
	static const char leaves[] = "l1:n[1-2]|l2:n[3-4]";
	char *packed = osp_gang_order_pack(leaves, "2x2.2x1/n[3-4],n[1-2]"), *order;

	(void)state;
	assert_int_equal(strncmp(packed, "2x2.2x1/~", 9), 0);
	order = osp_gang_order_unpack(leaves, packed);
	assert_string_equal(order, "2x2.2x1/n3,n4,n1,n2");
	free(order);
	order = osp_gang_order_pack(leaves, packed);
	assert_string_equal(order, packed);
	free(order);
	free(packed);
	order = osp_gang_order_pack(leaves, "4x1");
	assert_string_equal(order, "4x1");
	free(order);
	assert_null(osp_gang_order_unpack(leaves, "4x1/~!"));
	order = osp_gang_order_pack(leaves, "4x1/n[1-");
	assert_string_equal(order, "4x1/n[1-");
	free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gangs_of_a_cloud_fit),
		cmocka_unit_test(what_never_fits_is_left),
		cmocka_unit_test(names_of_all_kinds),
		cmocka_unit_test(what_does_not_suit_is_left),
		cmocka_unit_test(malformed),
		cmocka_unit_test(is_read_like_the_list),
		cmocka_unit_test(packs_all_or_nothing),
		cmocka_unit_test(names_as_places),
		cmocka_unit_test(the_note_of_a_large_gang),
		cmocka_unit_test(the_note_of_a_gang_too_large),
		cmocka_unit_test(an_order_is_written_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
