/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_clean.c - others' words, made fit for logs, terminals and files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"

static void words_are_cleaned(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", ""},
		{"a job", "a job"},
		{"M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x9a\x80",
		 "M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x9a\x80"},
		{"a\x1b]0;b\a", "a?]0;b?"},
		{"a\nslurmctld: b\r\t", "a?slurmctld: b??"},
		{"\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "????\xc2\xa0"},
		{"a\xe2\x80\xae"
		 "b\xe2\x81\xa6"
		 "c\xd8\x9c",
		 "a?b?c?"},
		{"a\xe2\x80\xa8"
		 "b\xe2\x80\xa9"
		 "c\xef\xbb\xbf",
		 "a?b?c?"},
		/* no UTF-8: a byte alone, cut off, too long a form, a surrogate, beyond the last */
		{"a\xff\xfe"
		 "b\x80",
		 "a??b?"},
		{"a\xe2\x82", "a??"},
		{"\xc0\xaf\xe0\x80\xaf", "?????"},
		{"\xed\xa0\x80", "???"},
		{"\xf4\x90\x80\x80", "????"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char copied[64], *text = strdup(cases[i].from);

		assert_non_null(text);
		assert_ptr_equal(osp_clean(text), text);
		assert_string_equal(text, cases[i].to);
		free(text);
		osp_copy_clean(copied, sizeof(copied), cases[i].from);
		assert_string_equal(copied, cases[i].to);
	}
}

static void lines_stay(void **state)
{
	char text[] = "a\tb\nc\r\x1b[0md\xff\n";

	(void)state;
	assert_string_equal(osp_clean_lines(text), "a\tb\nc??[0md?\n");
}

static void no_character_is_cut(void **state)
{
	char to[6];

	(void)state;
	osp_copy_clean(to, sizeof(to), NULL);
	assert_string_equal(to, "");
	osp_copy_clean(to, sizeof(to), "abc\xe2\x82\xac");
	assert_string_equal(to, "abc");
	osp_copy_clean(to, sizeof(to), "ab\xe2\x82\xac");
	assert_string_equal(to, "ab\xe2\x82\xac");
	osp_copy_clean(to, sizeof(to), "abcdefgh");
	assert_string_equal(to, "abcde");
	osp_copy_clean(to, 1, "a");
	assert_string_equal(to, "");
}

/* Whatever comes in, what comes out is not longer, and cleaning it again changes nothing. */
static void once_is_enough(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		char text[24], again[24];
		size_t length = (size_t)rand() % sizeof(text);

		for (size_t k = 0; k < length; k++)
			text[k] = (char)(1 + rand() % 255);
		text[length] = '\0';
		osp_clean(text);
		assert_true(strlen(text) <= length);
		strcpy(again, text);
		assert_string_equal(osp_clean(again), text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_cleaned),
		cmocka_unit_test(lines_stay),
		cmocka_unit_test(no_character_is_cut),
		cmocka_unit_test(once_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
