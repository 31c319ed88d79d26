/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The suspects of a job: whole names, in their order, and the oldest go first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/hostlist.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_by_table),
		cmocka_unit_test(the_oldest_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
