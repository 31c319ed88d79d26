/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The suspects of a job: whole names in their order; the oldest go first, and come back first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/hostlist.h"
#include "lib/gate/gate_exclude.h"
#include "lib/gate/gate_suspects.h"
#include "lib/policy/note.h"

#define NAMES_MAX 4096

static char names[NAMES_MAX][64];
static const char *list_of[NAMES_MAX];
static size_t name_count;

static int add(const char *name, void *context)
{
	(void)context;
	snprintf(names[name_count], sizeof(names[0]), "%s", name);
	list_of[name_count] = names[name_count];
	name_count++;
	return 0;
}

struct expected {
	size_t next;
};

static int is_next(const char *name, void *context)
{
	struct expected *expected = context;

	assert_true(expected->next < name_count);
	assert_string_equal(name, names[expected->next++]);
	return 0;
}

/* What is written is read back in the same order, through the comment of the job too. */
static void round_trip(const char *list, size_t left_out)
{
	struct expected expected = {.next = left_out};
	struct osp_note note = {.suspects = list}, found = {.gang = NULL};
	char *comment = osp_note_merge("Bob's", &note);

	assert_true(osp_note_find(comment, &found));
	assert_string_equal(found.suspects, list);
	assert_int_equal(osp_hostlist_expand(found.suspects, is_next, &expected, NULL), 0);
	assert_int_equal(expected.next, name_count);
	osp_note_free_pieces(&found);
	free(comment);
}

static void lists_by_table(void **state)
{
	static const struct {
		const char *names;
		const char *list;
	} cases[] = {
		{"n3", "n3"},
		{"n3,n1,n2", "n[3,1-2]"},
		{"n1,n2,n3,n7", "n[1-3,7]"},
		{"n08,n09,n10", "n[08-10]"},
		{"n8,n9,n10", "n[8-10]"},
		{"n9,n010", "n[9,010]"},
		{"a1,b1,a2", "a1,b1,a2"},
		{"login,n1,gpu-x", "login,n1,gpu-x"},
		{"r1n1,r1n2,r2n1", "r1n[1-2],r2n1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t left_out;
		char *list;

		name_count = 0;
		assert_int_equal(osp_hostlist_expand(cases[i].names, add, NULL, NULL), 0);
		list = osp_gate_suspects_write(list_of, name_count, &left_out);
		assert_string_equal(list, cases[i].list);
		assert_int_equal(left_out, 0);
		round_trip(list, 0);
		free(list);
	}
	list_of[0] = NULL;
	name_count = 0;
	{
		size_t left_out;
		char *list = osp_gate_suspects_write(list_of, 0, &left_out);

		assert_string_equal(list, "");
		free(list);
	}
}

/* Names that nothing makes shorter: the oldest go, and no name is cut. */
static void the_oldest_go_first(void **state)
{
	(void)state;
	for (size_t count = 1; count < NAMES_MAX; count = count * 3 + 1) {
		size_t left_out;
		char *list;

		name_count = 0;
		for (size_t i = 0; i < count; i++) {
			char name[64];

			snprintf(name, sizeof(name), "ip-10-0-%zu-%zu-gpu", i * 7919 % 251,
				 i * 104729 % 241);
			add(name, NULL);
		}
		list = osp_gate_suspects_write(list_of, name_count, &left_out);
		assert_true(strlen(list) <= OSP_GATE_SUSPECTS_BYTES);
		assert_true(left_out < count);
		/* nothing is left out in vain */
		assert_true(!left_out || strlen(list) > OSP_GATE_SUSPECTS_BYTES * 9 / 10 - 32);
		round_trip(list, left_out);
		free(list);
	}
}

/* Exactly as many of the oldest come back as the job lacks; what its user excluded stays out. */
static void the_oldest_come_back(void **state)
{
	static const struct {
		const char *suspects;
		const char *excluded;
		const char *more; /* suspects of this start */
		const char *partition;
		uint32_t needed;
		size_t given_back;
		const char *all;
	} cases[] = {
		{"", "", "n1", "n[1-4]", 3, 0, "n1"},
		{"", "", "n1", "n[1-4]", 4, 1, ""},
		{"n1", "n1", "n2", "n[1-4]", 3, 1, "n2"},
		{"n1,n2", "n[1-3]", "n4", "n[1-5]", 2, 1, "n[2-4]"},
		{"n3,n1", "n[1,3-4]", "n2", "n[1-5]", 3, 2, "n[2,4]"},
		/* one that is not in the partition makes no room */
		{"x,n1", "", "n2", "n[1-3]", 2, 2, "n2"},
		/* nor one that the user excluded too, and it stays out */
		{"", "n1", "n1,n2", "n[1-3]", 2, 2, "n1"},
		/* all of them are not enough */
		{"n1", "n1", "n2", "n[1-3]", 4, 2, ""},
		{"n1", "n[1,4]", "n2", "n[1-4]", 4, 2, "n4"},
		{"n[1-3]", "n[1-3]", "n1", "n[1-8]", 6, 1, "n[2-3]"},
		/* so many that nothing may be done for each of them and each node */
		{"n[1-40000]", "n[1-50000]", "n40000", "n[1-60000]", 30000, 20000,
		 "n[20001-50000]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_gate_exclusion exclusion = {.forgotten = 0};
		size_t given_back, left;
		char *all;

		assert_int_equal(osp_gate_exclude_suspects(&exclusion, cases[i].suspects, NULL), 0);
		assert_int_equal(osp_gate_exclude_users(&exclusion, cases[i].excluded), 0);
		assert_int_equal(osp_gate_exclude_suspects(&exclusion, cases[i].more, NULL), 0);
		assert_int_equal(osp_gate_exclude_fit(&exclusion, cases[i].partition,
						      cases[i].needed, &given_back),
				 0);
		all = osp_gate_exclude_write(&exclusion);
		if (given_back != cases[i].given_back || strcmp(all, cases[i].all) != 0)
			fail_msg("case %zu: %zu, %s", i, given_back, all);
		osp_gate_exclude_left(&exclusion, &left);
		assert_int_equal(left, exclusion.suspects.count - given_back);
		free(all);
		osp_gate_exclude_free(&exclusion);
	}
}

/* What is no list changes nothing. */
static void lists_that_are_none(void **state)
{
	struct osp_gate_exclusion exclusion = {.forgotten = 0};
	struct osp_error error = {.text = ""};
	size_t given_back;
	char *all;

	(void)state;
	assert_int_equal(osp_gate_exclude_suspects(&exclusion, "n3,n[1-", &error), -1);
	assert_string_not_equal(error.text, "");
	assert_int_equal(osp_gate_exclude_suspect(&exclusion, "n2"), 0);
	assert_int_equal(osp_gate_exclude_users(&exclusion, "n["), -1);
	assert_int_equal(osp_gate_exclude_fit(&exclusion, "n[1-2", 2, &given_back), -1);
	all = osp_gate_exclude_write(&exclusion);
	assert_string_equal(all, "n2");
	free(all);
	osp_gate_exclude_free(&exclusion);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_by_table),
		cmocka_unit_test(the_oldest_go_first),
		cmocka_unit_test(the_oldest_come_back),
		cmocka_unit_test(lists_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
