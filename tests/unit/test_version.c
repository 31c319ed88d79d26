/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Versions, ranges and patterns: what they hold for, and every refusal in its exact words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/glob.h"
#include "lib/env/version.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void versions_parse(void **state)
{
	static const struct {
		const char *text;
		uint32_t parts[OSP_VERSION_PARTS];
		uint32_t count, packager;
		bool before;
	} cases[] = {
		{"2.21", {2, 21}, 2, 0, false},
		{"2", {2}, 1, 0, false},
		{"550.90.07", {550, 90, 7}, 3, 0, false},
		{"1.22.0amzn4.0", {1, 22, 0}, 3, 4, false},
		{"1.13.2-aws", {1, 13, 2}, 3, 0, false},
		{"2.21.5-1+cuda12.4", {2, 21, 5}, 3, 0, false},
		{"6.8.0-1024-aws", {6, 8, 0}, 3, 0, false},
		{"2.0rc1", {2, 0}, 2, 0, true},
		{"2.0-beta", {2, 0}, 2, 0, true},
		{"1.2.3.4", {1, 2, 3, 4}, 4, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_version version;

		assert_int_equal(osp_version_parse(cases[i].text, &version, NULL), 0);
		assert_int_equal(version.count, cases[i].count);
		for (uint32_t j = 0; j < version.count; j++)
			assert_int_equal(version.parts[j], cases[i].parts[j]);
		assert_int_equal(version.packager, cases[i].packager);
		assert_int_equal(version.before, cases[i].before);
	}
}

static void wrong_versions_are_refused(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *words;
	} cases[] = {
		{"", 1, "a number is expected at the end of ''"},
		{"x", 1, "a number is expected at 'x' of 'x'"},
		{"2.", 3, "a number is expected at the end of '2.'"},
		{"2..1", 3, "a number is expected at '.1' of '2..1'"},
		{"2.21x", 5, "a dot, a comma or the end is expected at 'x' of '2.21x'"},
		{"1.2.3.4.5", 8, "no fifth number is expected at '.5' of '1.2.3.4.5'"},
		{"2.1,3", 4, "the end is expected at ',3' of '2.1,3'"},
		{"2.99999999999", 3,
		 "a smaller number is expected at '99999999999' of "
		 "'2.99999999999'"},
		{"1.0amzn", 8, "a number is expected at the end of '1.0amzn'"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};
		struct osp_version version = {.count = 99};

		assert_int_equal(osp_version_parse(cases[i].text, &version, &error), -1);
		assert_string_equal(error.text, cases[i].words);
		assert_int_equal(error.column, cases[i].column);
		assert_int_equal(version.count, 99);
	}
}

static void ranges_hold(void **state)
{
	static const struct {
		const char *range;
		const char *version; /* "": not known */
		enum osp_truth answer;
	} cases[] = {
		{">=1.16,<1.18", "1.16", OSP_YES},
		{">=1.16,<1.18", "1.17.9", OSP_YES},
		{">=1.16,<1.18", "1.18", OSP_NO},
		{">=1.16,<1.18", "1.15.9", OSP_NO},
		{" >= 1.16 , < 1.18 ", "1.17", OSP_YES},
		{"2.25", "2.25.1", OSP_YES},
		{"=2.25", "2.26", OSP_NO},
		{"<=1.20", "1.20.3", OSP_YES},
		{"<=1.20", "1.21.0", OSP_NO},
		{">1.5", "1.5.9", OSP_NO},
		{">1.5", "1.6", OSP_YES},
		{"!=1.12.0", "1.12.0", OSP_NO},
		{"!=1.12.0", "1.12.1", OSP_YES},
		{">=1.9", "1.10", OSP_YES}, /* not as text */
		{">=2.18", "2", OSP_UNKNOWN},
		{">=2.18", "3", OSP_YES},
		{">=2.18", "1", OSP_NO},
		{">=2.18", "", OSP_UNKNOWN},
		{"<1.29", "", OSP_UNKNOWN},
		{">=1.22.0amzn4", "1.22.0", OSP_NO},
		{">=1.22.0amzn4", "1.22.0amzn2.0", OSP_NO},
		{">=1.22.0amzn4", "1.22.0amzn4.0", OSP_YES},
		{">=1.22.0", "1.22.0amzn1", OSP_YES},
		{">=2.0", "2.0rc1", OSP_NO},
		{"<2.0", "2.0rc1", OSP_YES},
		{">=0", "1.29.1", OSP_YES},
		{"0", "0", OSP_YES},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_version version = {.count = 0};
		struct osp_range range;

		assert_int_equal(osp_range_parse(cases[i].range, &range, NULL), 0);
		if (cases[i].version[0])
			assert_int_equal(osp_version_parse(cases[i].version, &version, NULL), 0);
		if (osp_range_holds(&range, &version) != cases[i].answer)
			fail_msg("%s of %s", cases[i].range, cases[i].version);
	}
}

static void wrong_ranges_are_refused(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *words;
	} cases[] = {
		{">=", 3, "a number is expected at the end of '>='"},
		{">=1.2,", 7, "a number is expected at the end of '>=1.2,'"},
		{"~1.2", 1, "a number is expected at '~1.2' of '~1.2'"},
		{">=1.2 <2", 7, "a comma or the end is expected at '<2' of '>=1.2 <2'"},
		{"1,2,3,4,5", 9, "no fifth bound is expected at '5' of '1,2,3,4,5'"},
		{">=2,<1", 1, "no version can be in the range '>=2,<1'"},
		{"2.1,2.2", 1, "no version can be in the range '2.1,2.2'"},
		{">1.20,<=1.20.5", 1, "no version can be in the range '>1.20,<=1.20.5'"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};
		struct osp_range range;

		assert_int_equal(osp_range_parse(cases[i].text, &range, &error), -1);
		assert_string_equal(error.text, cases[i].words);
		assert_int_equal(error.column, cases[i].column);
	}
}

static void ranges_meet(void **state)
{
	static const struct {
		const char *a, *b;
		bool meet;
	} cases[] = {
		{"<1.16", ">=1.16", false},
		{"<=1.16", ">=1.16", true},
		{"<1.16", ">1.15", false},
		{"<1.16", ">1.15.2", true},
		{">=1.7,<1.16", "<1.8", true},
		{">=1.7,<1.16", "<1.7", false},
		{"2.25", ">=2.25.3", true},
		{"!=2.1", "2.1", false},
		{">=2.21,<2.24", ">=2.27,<2.29", false},
		{"0", ">0", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_range a, b;

		assert_int_equal(osp_range_parse(cases[i].a, &a, NULL), 0);
		assert_int_equal(osp_range_parse(cases[i].b, &b, NULL), 0);
		if (osp_ranges_meet(&a, &b) != cases[i].meet ||
		    osp_ranges_meet(&b, &a) != cases[i].meet)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
	}
}

static void patterns_match(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
		{"p5.*", "p5.48xlarge", true},
		{"p5.*", "p5e.48xlarge", false},
		{"p[5-9]*", "p6-b200.48xlarge", true},
		{"p[5-9]*", "p4d.24xlarge", false},
		{"[!0-9]*", "abc", true},
		{"[!0-9]*", "1bc", false},
		{"*", "", true},
		{"", "", true},
		{"", "x", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
		{"?", "", false},
		{"?b", "ab", true},
		{"[ab", "[ab", true},
		{"RDMAV_*", "RDMAV_FORK_SAFE", true},
		{"*_[0-9]", "mlx5_1", true},
		{"*_[0-9]", "mlx5_10", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (osp_glob_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].text);
	}
	assert_true(osp_globs_meet("p5.*", "p5.48xlarge"));
	assert_false(osp_globs_meet("p5.*", "p6*"));
	assert_true(osp_globs_meet("p*", "p5.*"));
	assert_false(osp_globs_meet("efa", "roce"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_parse), cmocka_unit_test(wrong_versions_are_refused),
		cmocka_unit_test(ranges_hold),	  cmocka_unit_test(wrong_ranges_are_refused),
		cmocka_unit_test(ranges_meet),	  cmocka_unit_test(patterns_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
