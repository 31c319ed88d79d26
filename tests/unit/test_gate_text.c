/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people read of a gate, the lists of leaves, and the numbers that stay after a shrink. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/node_counts.h"
#include "lib/gate/gate_text.h"
#include "lib/topology/leaf_list.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void progress(void **state)
{
	static const char *const names[] = {"gpu-1", "gpu-2", "gpu-3", "gpu-4"};
	/* . passed, - running, f failed, e broken, S silent */
	static const struct {
		const char *nodes, *words;
	} cases[] = {
		{"----", "checking 4 nodes: 0 passed, 4 running"},
		{"-", "checking 1 node: 0 passed, 1 running"},
		{"..--", "checking 4 nodes: 2 passed, 2 running"},
		{"..f-", "checking 4 nodes: 2 passed, 1 running, 1 failed (gpu-3: gpu3 ecc 12 > 0; "
			 "replace)"},
		{".ff.", "checking 4 nodes: 2 passed, 2 failed (gpu-2: gpu3 ecc 12 > 0; replace)"},
		{"e...", "checking 4 nodes: 3 passed, 1 could not be checked"},
		{"....", "checking 4 nodes: 4 passed"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_gate_report reports[4] = {{0}};
		struct osp_gate_gang gang = {.nodes = names,
					     .node_count = (uint32_t)strlen(cases[i].nodes)};
		char words[OSP_GATE_WORDS_BYTES];

		for (uint32_t r = 0; r < gang.node_count; r++) {
			char letter = cases[i].nodes[r];

			reports[r].rank = letter == '-' ? OSP_GATE_NOBODY : r;
			reports[r].result = letter == 'f'   ? OSP_VERDICT_FAIL
					    : letter == 'e' ? OSP_VERDICT_ERROR
							    : OSP_VERDICT_PASS;
			if (letter == 'f')
				strcpy(reports[r].reason, "onespine: gpu3 ecc 12 > 0; replace");
		}
		assert_string_equal(osp_gate_progress(&gang, reports, words, sizeof(words)),
				    cases[i].words);
	}
}

static void notes(void **state)
{
	static const struct {
		struct osp_gate_stops stops;
		const char *says;
		const char *words;
	} cases[] = {
		{{0, 0}, "all good", "all good"},
		{{1, 0}, "n3", "stopped 1 start; n3"},
		{{12, 0}, "n3", "stopped 12 starts; n3"},
		{{1, 1}, "n3", "stopped 1 start, 1 slow; n3"},
		{{3, 1},
		 "of 4 nodes, 2 slow; n3",
		 "stopped 3 starts, 1 slow; of 4 nodes, 2 slow; n3"},
		{{3, 0}, "of 4 nodes, 2 slow; n3", "stopped 3 starts; of 4 nodes, 2 slow; n3"},
	};
	char words[OSP_GATE_WORDS_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		osp_gate_note(&cases[i].stops, cases[i].says, words, sizeof(words));
		assert_string_equal(words, cases[i].words);
		assert_int_equal(osp_gate_stopped(words).all, cases[i].stops.all);
		assert_int_equal(osp_gate_stopped(words).slow, cases[i].stops.slow);
	}
	assert_int_equal(osp_gate_stopped("stopped").all, 0);
	/* only what the gate itself writes */
	assert_int_equal(osp_gate_stopped("stopped\t1 start; n3").all, 0);
	assert_int_equal(osp_gate_stopped("stopped -1 starts; n3").all, 0);
	assert_int_equal(osp_gate_stopped("stopped 2 starts, -1 slow; n3").slow, 0);
	assert_int_equal(osp_gate_stopped("stopped 2 starts; n3").all, 2);
	assert_int_equal(osp_gate_stopped("stopped 2 starts, 9 fast; n3").slow, 0);
	assert_int_equal(osp_gate_stopped("").all, 0);
	assert_int_equal(osp_gate_stopped(NULL).all, 0);
}

static void reads_leaf_lists(void **state)
{
	static const struct {
		const char *leaves, *node, *leaf;
	} cases[] = {
		{"l1:n1", "n1", "l1"},
		{"a:b:n1", "n1", "a:b"},
		{"l1:n[01-99]|l2:n[100-200]", "n099", NULL},
		{"l1:n[01-99]|l2:n[100-200]", "n99", "l1"},
		{"l1:n[01-99]|l2:n[100-200]", "n100", "l2"},
		{"nn-3f:n1,n[3-4]", "n4", "nn-3f"},
		{"", "n1", NULL},
		{"|", "n1", NULL},
		{":n1", "n1", NULL},
		{"l1", "l1", NULL},
		{"l1:n[1-", "n1", NULL},
		{"l1:n[1-|l2:n1", "n1", "l2"},
		{"a-leaf-whose-name-does-not-fit:n1", "n1", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char leaf[16] = "";

		assert_int_equal(
			osp_leaf_list_find(cases[i].leaves, cases[i].node, leaf, sizeof(leaf)),
			cases[i].leaf != NULL);
		assert_string_equal(leaf, cases[i].leaf ? cases[i].leaf : "");
	}
}

static void turns_leaf_lists_round(void **state)
{
	static const struct {
		const char *leaves, *first, *nodes[8]; /* by place */
	} cases[] = {
		{"l1:n1", "n1", {"n1"}},
		{"l1:n[1-2]|l2:n[3-4]", "n1", {"n1", "n2", "n3", "n4"}},
		/* names against the fabric's order: each leaf stays one run */
		{"l1:n[5-6]|l2:n[1-3]|l3:n4", "n1", {"n1", "n2", "n3", "n4", "n5", "n6"}},
		{"l1:n[5-6]|l2:n3,n1,n2|l3:n4", "n1", {"n1", "n2", "n3", "n4", "n5", "n6"}},
		{"l1:n[3-4]|l2:n2,n1", "n1", {"n1", "n2", "n3", "n4"}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (long place = 0; place < 8 && cases[i].nodes[place]; place++)
			assert_int_equal(osp_leaf_list_place(cases[i].leaves, cases[i].first,
							     cases[i].nodes[place]),
					 place);
		assert_int_equal(osp_leaf_list_place(cases[i].leaves, cases[i].first, "n9"), -1);
		assert_int_equal(osp_leaf_list_place(cases[i].leaves, "n9", "n1"), -1);
	}
	assert_int_equal(osp_leaf_list_place("", "n1", "n1"), -1);
	assert_int_equal(osp_leaf_list_place("l1:n[1-", "n1", "n1"), -1);
}

static bool is_kept(const char *node, void *context)
{
	(void)context;
	return strcmp(node, "n2") != 0 && strcmp(node, "n5") != 0;
}

static void leaves_without_the_released(void **state)
{
	static const struct {
		const char *before, *after;
		unsigned int leaves;
	} cases[] = {
		{"l1:n[1-4]", "l1:n[1,3-4]", 1},
		{"l1:n[1-2]|l2:n5|l3:n[6-7]", "l1:n1|l3:n[6-7]", 2},
		{"l1:n2", "", 0},
		{"", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned int leaves;
		char *after = osp_leaf_list_keep(cases[i].before, is_kept, NULL, &leaves);

		assert_string_equal(after, cases[i].after);
		assert_int_equal(leaves, cases[i].leaves);
		free(after);
	}
}

static void counts_of_the_nodes_that_stay(void **state)
{
	static const struct {
		const char *nodes, *counts, *kept, *after; /* NULL: they do not belong together */
	} cases[] = {
		{"n[1-4]", "8(x4)", "n[1,3-4]", "8(x3)"},
		{"n[1-4]", "8(x2),16(x2)", "n[1,4]", "8,16"},
		{"n[1-4]", "8,16,8,8", "n[1,3-4]", "8(x3)"},
		{"n[1-4]", "8(x4)", "n[1-4]", "8(x4)"},
		{"n1", "96", "n1", "96"},
		{"n[1-4]", "8(x3)", "n1", NULL},
		{"n[1-4]", "8(x5)", "n1", NULL},
		{"n[1-4]", "8(x4)", "n5", NULL},
		{"n[1-4]", "8(x4)", "n[2,1]", NULL},
		{"n[1-4]", "8(x", "n1", NULL},
		{"n[1-4]", "8(x0)", "n1", NULL},
		{"n[1-4]", "", "n1", NULL},
		{"n[1-4]", "-8(x4)", "n1", NULL},
		{"n[1-4]", "8(x4)", "n[1", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *after = osp_node_counts_keep(cases[i].nodes, cases[i].counts, cases[i].kept);

		if (cases[i].after) {
			assert_non_null(after);
			assert_string_equal(after, cases[i].after);
		} else {
			assert_null(after);
		}
		free(after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress),
		cmocka_unit_test(notes),
		cmocka_unit_test(reads_leaf_lists),
		cmocka_unit_test(turns_leaf_lists_round),
		cmocka_unit_test(leaves_without_the_released),
		cmocka_unit_test(counts_of_the_nodes_that_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
