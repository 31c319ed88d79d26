/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's lists of names: read, written, ordered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct names {
	char **name;
	size_t count;
};

static int keep(const char *name, void *context)
{
	struct names *names = context;

	names->name = realloc(names->name, (names->count + 1) * sizeof(*names->name));
	names->name[names->count++] = strdup(name);
	return 0;
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct names){NULL, 0};
}

static char *joined(const struct names *names)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (size_t i = 0; i < names->count; i++)
		osp_text_printf(&text, "%s%s", i ? " " : "", names->name[i]);
	return osp_text_take(&text);
}

static void lists_are_expanded(void **state)
{
	static const struct {
		const char *list;
		const char *names;
	} cases[] = {
		{"", ""},
		{" ,\t,", ""},
		{"a", "a"},
		{"gpu-[1-4,7],login", "gpu-1 gpu-2 gpu-3 gpu-4 gpu-7 login"},
		{"a b\tc,,d,", "a b c d"},
		{"n[08-10]", "n08 n09 n10"},
		{"n[8-10]", "n8 n9 n10"},
		{"n[099-101,5]", "n099 n100 n101 n5"},
		{"n[3,1-2,3]", "n3 n1 n2 n3"},
		{"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
		{"a[1-2]b[3]c[04-05]", "a1b3c04 a1b3c05 a2b3c04 a2b3c05"},
		{"a[1-2]b,c", "a1b a2b c"},
		{"[1-2]", "1 2"},
		{"[1-2][3-4]", "13 14 23 24"},
		{"n[999999999999999998-999999999999999999]",
		 "n999999999999999998 n999999999999999999"},
		{"a=b,c#d", "a=b c#d"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {0};
		struct names names = {NULL, 0};
		char *words;

		assert_int_equal(osp_hostlist_expand(cases[i].list, keep, &names, &error), 0);
		assert_string_equal(error.text, "");
		words = joined(&names);
		assert_string_equal(words, cases[i].names);
		free(words);
		free_names(&names);
	}
}

static void what_is_wrong_is_told_with_its_column(void **state)
{
	static const struct {
		const char *list;
		int column;
		const char *text;
	} cases[] = {
		{"a,b[1-4", 4, "this '[' has no ']'"},
		{"a]", 2, "this ']' has no '['"},
		{"a[]", 3, "a number is expected here"},
		{"a[1-]", 5, "a number is expected here"},
		{"a[-1]", 3, "a number is expected here"},
		{"a[1,]", 5, "a number is expected here"},
		{"a[x]", 3, "a number is expected here"},
		{"a[1x]", 4, "',', '-' or ']' is expected here"},
		{"a[1 2]", 4, "',', '-' or ']' is expected here"},
		{"a[4-1]", 3, "a range that goes backwards"},
		{"a[0-6/2]", 6, "steps are not Slurm's; write the numbers out"},
		{"a[1234567890123456789]", 3, "a number of more than 18 digits"},
		{"a[0-999999999999999999]", 3, "the list has more than 131072 names"},
		{"a[1-131073]", 3, "the list has more than 131072 names"},
		{"a[1-131072],b", 13, "the list has more than 131072 names"},
		{"a[1-1000]b[1-1000]", 11, "the list has more than 131072 names"},
		{"[1-2][1-2][1-2][1-2][1-2][1-2][1-2][1-2][1-2]", 41,
		 "a name with more than 8 brackets"},
		{"a,b\001", 4, "a control character in a name"},
		{"a\nb", 2, "a control character in a name"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {0};
		struct names names = {NULL, 0};

		assert_int_equal(osp_hostlist_expand(cases[i].list, keep, &names, &error), -1);
		assert_string_equal(error.text, cases[i].text);
		assert_int_equal(error.column, cases[i].column);
		assert_string_equal(error.file, "");
		/* all or nothing: the good part before the error was not handed out */
		assert_int_equal(names.count, 0);
	}
}

static void a_name_may_have_255_bytes(void **state)
{
	char list[300];
	struct osp_error error = {0};
	struct names names = {NULL, 0};

	(void)state;
	memset(list, 'a', 253);
	strcpy(list + 253, "[9-10]");
	assert_int_equal(osp_hostlist_expand(list, keep, &names, &error), 0);
	assert_int_equal(strlen(names.name[1]), 255);
	free_names(&names);
	strcpy(list + 253, "[99-100]");
	assert_int_equal(osp_hostlist_expand(list, keep, &names, &error), -1);
	assert_string_equal(error.text, "a name of more than 255 bytes");
	assert_int_equal(error.column, 1);
}

static int stop_at_third(const char *name, void *context)
{
	(void)name;
	return ++*(int *)context == 3 ? 42 : 0;
}

static void the_callback_can_stop(void **state)
{
	int seen = 0;

	(void)state;
	assert_int_equal(osp_hostlist_expand("a[1-9],b", stop_at_third, &seen, NULL), 42);
	assert_int_equal(seen, 3);
}

static int count_one(const char *name, void *context)
{
	(void)name;
	++*(uint32_t *)context;
	return 0;
}

static void the_largest_list_is_read_and_written(void **state)
{
	struct names names = {calloc(OSP_HOSTLIST_NAMES_MAX, sizeof(char *)), 0};
	uint32_t count = 0;
	char *list;

	(void)state;
	assert_int_equal(osp_hostlist_expand("n[1-131072]", count_one, &count, NULL), 0);
	assert_int_equal(count, OSP_HOSTLIST_NAMES_MAX);
	for (; names.count < OSP_HOSTLIST_NAMES_MAX; names.count++) {
		char name[16];

		/* from the end to the start */
		snprintf(name, sizeof(name), "n%d", OSP_HOSTLIST_NAMES_MAX - (int)names.count);
		names.name[names.count] = strdup(name);
	}
	list = osp_hostlist_compact((const char *const *)names.name, names.count);
	/* Slurm refuses a range of more than 65536 */
	assert_string_equal(list, "n[1-65536],n[65537-131072]");
	free(list);
	free_names(&names);
}

static void names_are_written_short(void **state)
{
	static const struct {
		const char *names; /* as a list, to be written shorter */
		const char *list;
	} cases[] = {
		{"", ""},
		{"a", "a"},
		{"gpu-10,gpu-9,gpu-2", "gpu-[2,9-10]"},
		{"a,a,a1,a1", "a,a1"},
		{"n08,n09,n10", "n[08-10]"},
		{"n8,n9,n10", "n[8-10]"},
		{"n9,n010", "n[9,010]"},
		{"n1,n01,n001", "n[1,01,001]"},
		{"n99,n100,n0101", "n[99-100,0101]"},
		{"r1n1,r1n2,r2n1,r2n2", "r[1-2]n[1-2]"},
		{"r1n1,r1n2,r2n1,r2n3", "r1n[1-2],r2n[1,3]"},
		{"r1n1,r2n1,r3n1", "r1n1,r2n1,r3n1"},
		{"a1b1c1,a1b1c2,a2b1c1,a2b1c2", "a[1-2]b1c[1-2]"},
		{"n1,n2,n1-ib,n2-ib", "n1,n1-ib,n2,n2-ib"},
		{"1,2,3", "[1-3]"},
		{"x[1-3]y[1-3]z[1-3]", "x[1-3]y[1-3]z[1-3]"},
		{"n1234567890123456789,n1234567890123456790",
		 "n1234567890123456789,n1234567890123456790"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct names names = {NULL, 0};
		char *list;

		osp_hostlist_expand(cases[i].names, keep, &names, NULL);
		list = osp_hostlist_compact((const char *const *)names.name, names.count);
		assert_string_equal(list, cases[i].list);
		free(list);
		free_names(&names);
	}
}

static int by_name(const void *a, const void *b)
{
	return osp_name_compare(*(char *const *)a, *(char *const *)b);
}

/* What was written expands to the names themselves, sorted and each once. */
static void what_is_written_reads_back(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct names names = {NULL, 0}, again = {NULL, 0};
		size_t kept = 0;
		char name[32], *list, *sorted;

		for (int i = 0; i < 40; i++) {
			seed = seed * 1664525u + 1013904223u;
			snprintf(name, sizeof(name), "%s%0*uc%u", seed >> 31 ? "r" : "rack",
				 (int)(seed >> 20 & 1) + 1, seed >> 16 & 7, seed >> 12 & 7);
			keep(name, &names);
		}
		list = osp_hostlist_compact((const char *const *)names.name, names.count);
		assert_int_equal(osp_hostlist_expand(list, keep, &again, NULL), 0);
		qsort(names.name, names.count, sizeof(*names.name), by_name);
		sorted = osp_hostlist_compact((const char *const *)names.name, names.count);
		assert_string_equal(sorted, list);
		free(sorted);
		for (size_t i = 0; i < names.count; i++) {
			if (i && !strcmp(names.name[i], names.name[i - 1]))
				continue;
			assert_true(kept < again.count);
			assert_string_equal(again.name[kept++], names.name[i]);
		}
		assert_int_equal(kept, again.count);
		free(list);
		free_names(&names);
		free_names(&again);
	}
}

static void names_have_one_natural_order(void **state)
{
	/* in order */
	static const char *const names[] = {"",
					    "0",
					    "00",
					    "1",
					    "01",
					    "2",
					    "10",
					    "a",
					    "a0",
					    "a1",
					    "a1b",
					    "a1b2",
					    "a01b2",
					    "a2",
					    "a10",
					    "a10b1",
					    "a010b1",
					    "a11",
					    "aa",
					    "b",
					    "gpu-2",
					    "gpu-10",
					    "n9999999999999999999999",
					    "n10000000000000000000000",
					    "\xc3\xa9"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		for (size_t j = 0; j < COUNT(names); j++) {
			int order = osp_name_compare(names[i], names[j]);

			if ((order > 0) - (order < 0) != (i > j) - (i < j))
				fail_msg("'%s' and '%s': %d", names[i], names[j], order);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_expanded),
		cmocka_unit_test(what_is_wrong_is_told_with_its_column),
		cmocka_unit_test(a_name_may_have_255_bytes),
		cmocka_unit_test(the_callback_can_stop),
		cmocka_unit_test(the_largest_list_is_read_and_written),
		cmocka_unit_test(names_are_written_short),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(names_have_one_natural_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
