/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_block_end.c - when EC2 takes a Capacity Block back, and what changes in Slurm for it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/cloud/block_end.h"
#include "lib/cloud/ec2_answer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOW_S	     1700000000
#define DAY_S	     86400

static void jobs_end_before_the_block(void **state)
{
	static const struct {
		const char *type;
		int64_t before_s;
	} cases[] = {
		{"p5.48xlarge", 1800},
		{"p6-b200.48xlarge", 1800},
		{"trn2.48xlarge", 1800},
		{"p6e-gb200.36xlarge", 3600},
		{"trn2u.48xlarge", 3600},
		{"trn3pd98.3xlarge", 3600},
		{"", 1800},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(osp_block_end_jobs_s(NOW_S, cases[i].type),
				 NOW_S - cases[i].before_s);
}

static void times_are_read(void **state)
{
	(void)state;
	assert_int_equal(osp_ec2_time("2023-11-14T22:13:20.000Z"), NOW_S);
	assert_int_equal(osp_ec2_time("2023-11-14T22:13:20Z"), NOW_S);
	assert_int_equal(osp_ec2_time("2023-11-14T22:13:20+01:00"), 0);
	assert_int_equal(osp_ec2_time("2023-11-14"), 0);
	assert_int_equal(osp_ec2_count("16"), 16);
	assert_int_equal(osp_ec2_count(""), -1);
	assert_int_equal(osp_ec2_count("-1"), -1);
	assert_int_equal(osp_ec2_count("16 of 20"), -1);
	assert_int_equal(osp_ec2_count("4294967296"), -1);
	assert_int_equal(osp_ec2_time(""), 0);
}

static void ids_are_reported(void **state)
{
	static const char *const right[] = {"cr-0", "cr-0123456789abcdef0"};
	static const char *const wrong[] = {
		"",	  "cr-",  "cr-0 ", "cr-0,n1",
		"cr-xyz", "CR-0", "i-0",   "cr-0123456789abcdef0123456789abcdef0"};

	(void)state;
	for (size_t i = 0; i < COUNT(right); i++)
		assert_true(osp_block_end_is_id(right[i]));
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_false(osp_block_end_is_id(wrong[i]));
}

static void only_what_differs_changes(void **state)
{
	static const struct osp_block_end reserved[] = {
		{"cr-1", "n[1-4]", NOW_S + DAY_S},
		{"cr-2", "n[5-8]", NOW_S - 5},
		{"cr-3", "n9", NOW_S + DAY_S},
	};
	static const struct {
		struct osp_block_end wanted;
		enum osp_block_step step;
		size_t kept;
	} cases[] = {
		{{"cr-1", "n[1-4]", NOW_S + DAY_S}, OSP_BLOCK_KEEP, 0},
		{{"cr-1", "n[1-4]", NOW_S + DAY_S + 60}, OSP_BLOCK_KEEP, 0},
		{{"cr-1", "n[1-4]", NOW_S + DAY_S - 61}, OSP_BLOCK_CHANGE, 0},
		{{"cr-1", "n[1-4]", NOW_S + 2 * DAY_S}, OSP_BLOCK_CHANGE, 0}, /* extended */
		{{"cr-1", "n[1-3]", NOW_S + DAY_S}, OSP_BLOCK_CHANGE, 0},
		{{"cr-1", "n[1-4]", NOW_S - DAY_S}, OSP_BLOCK_CHANGE, 0},
		/* it has begun, and was to begin long ago */
		{{"cr-2", "n[5-8]", NOW_S - DAY_S}, OSP_BLOCK_KEEP, 1},
		{{"cr-2", "n[5-8]", NOW_S}, OSP_BLOCK_KEEP, 1},
		{{"cr-2", "n[5-7]", NOW_S}, OSP_BLOCK_CHANGE, 1},
		{{"cr-2", "n[5-8]", NOW_S + DAY_S}, OSP_BLOCK_MAKE_ANEW, 1},
		{{"cr-4", "n[1-4]", NOW_S + DAY_S}, OSP_BLOCK_MAKE, SIZE_MAX},
	};
	size_t kept;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(osp_block_end_step(&cases[i].wanted, reserved, COUNT(reserved),
						    NOW_S, &kept),
				 cases[i].step);
		assert_int_equal(kept, cases[i].kept);
	}
	assert_false(osp_block_end_is_left(&reserved[0], &cases[0].wanted, 1));
	assert_true(osp_block_end_is_left(&reserved[2], &cases[0].wanted, 1));
	assert_true(osp_block_end_is_left(&reserved[2], NULL, 0));
}

static void what_is_not_known_stays_until_the_block_has_ended(void **state)
{
	static const struct {
		struct osp_block_word word;
		bool lasts;
	} cases[] = {
		{{.nodes_here = 1, .reported = true, .ends_s = NOW_S + 1}, true},
		/* EC2 ends them at its leisure */
		{{.nodes_here = 1, .reported = true, .ends_s = NOW_S - 1}, true},
		{{.nodes_here = 1}, true},			 /* another account's */
		{{.reported = true, .ends_s = NOW_S + 1}, true}, /* none of its nodes runs */
		{{.reported = true, .ends_s = NOW_S}, false},
		{{.reported = true}, true}, /* its end cannot be read */
		{{.unanswered = true}, true},
		{{.ends_s = 0}, false}, /* EC2 does not know it */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(osp_block_end_lasts(&cases[i].word, NOW_S), cases[i].lasts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_end_before_the_block),
		cmocka_unit_test(times_are_read),
		cmocka_unit_test(ids_are_reported),
		cmocka_unit_test(only_what_differs_changes),
		cmocka_unit_test(what_is_not_known_stays_until_the_block_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
