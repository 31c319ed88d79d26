/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_place_age.c - a place that may be old is no place */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/place_age.h"
#include "lib/topology/placed_instance.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BOOT_S	     1700000000

static void places_hold_for_one_boot(void **state)
{
	static const struct {
		const char *source;
		int64_t asked_s, boot_s;
		bool runs;
		enum osp_place_age age;
	} cases[] = {
		{"ec2", BOOT_S, BOOT_S, true, OSP_PLACE_HOLDS},
		{"ec2", BOOT_S, BOOT_S + 60, true, OSP_PLACE_HOLDS},
		{"ec2", BOOT_S, BOOT_S - 60, true, OSP_PLACE_HOLDS},
		{"ec2", BOOT_S, BOOT_S + 61, true, OSP_PLACE_REBOOTED},
		{"ec2", BOOT_S, BOOT_S - 61, true, OSP_PLACE_REBOOTED},
		{"ec2", BOOT_S, INT64_MAX, true, OSP_PLACE_REBOOTED},
		{"ec2", INT64_MAX, 1, true, OSP_PLACE_REBOOTED},
		{"ec2", BOOT_S, BOOT_S, false, OSP_PLACE_ASLEEP},
		{"ec2", BOOT_S, 0, false, OSP_PLACE_ASLEEP},
		{"ec2", BOOT_S, 0, true, OSP_PLACE_NO_BOOT},
		{"ec2", 30, 0, true, OSP_PLACE_NO_BOOT}, /* 0 is no time */
		/* asked for without Slurm: nobody can tell */
		{"ec2", 0, BOOT_S, true, OSP_PLACE_HOLDS},
		{"ec2", 0, 0, false, OSP_PLACE_HOLDS},
		/* cables stay */
		{"infiniband", BOOT_S, BOOT_S + 1000, true, OSP_PLACE_HOLDS},
		{"infiniband", BOOT_S, 0, false, OSP_PLACE_HOLDS},
		/* of topograph's nodes only those that are launched have a boot noted */
		{"topograph", BOOT_S, BOOT_S + 60, true, OSP_PLACE_HOLDS},
		{"topograph", BOOT_S, BOOT_S + 1000, true, OSP_PLACE_REBOOTED},
		{"topograph", BOOT_S, BOOT_S, false, OSP_PLACE_ASLEEP},
		{"topograph", 0, BOOT_S + 1000, false, OSP_PLACE_HOLDS},
		{"ec", BOOT_S, BOOT_S + 1000, true, OSP_PLACE_HOLDS},
		/* what a node said of itself it said in one boot */
		{"nvlink", BOOT_S, BOOT_S + 60, true, OSP_PLACE_HOLDS},
		{"nvlink", BOOT_S, BOOT_S + 1000, true, OSP_PLACE_REBOOTED},
		{"infiniband+nvlink", BOOT_S, BOOT_S + 1000, true, OSP_PLACE_REBOOTED},
		{"infiniband+nvlink", BOOT_S, BOOT_S, false, OSP_PLACE_ASLEEP},
		{"nvlink", 0, BOOT_S + 1000, true, OSP_PLACE_HOLDS},
		{"nvlink+infiniband", BOOT_S, BOOT_S + 1000, true, OSP_PLACE_HOLDS},
		/* where a node will be, until it boots */
		{"reservation", 0, BOOT_S, false, OSP_PLACE_HOLDS},
		{"reservation", 0, 0, false, OSP_PLACE_HOLDS},
		{"reservation", 0, BOOT_S, true, OSP_PLACE_REBOOTED},
		{"reservation", BOOT_S, BOOT_S, true, OSP_PLACE_REBOOTED},
		{"reservation", 0, 0, true, OSP_PLACE_NO_BOOT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_node_note note = {cases[i].source, "i-1", cases[i].asked_s};

		assert_int_equal(
			osp_place_age(osp_place_boot_s(&note), cases[i].boot_s, cases[i].runs),
			cases[i].age);
	}
	assert_int_equal(osp_place_boot_s(NULL), 0);
	assert_int_equal(osp_place_age(0, 0, false), OSP_PLACE_HOLDS);
	assert_string_equal(osp_place_age_words(OSP_PLACE_REBOOTED), "rebooted");
}

/* A place that was never known ages all the same where a cloud gave it. */
static void places_age_by_their_source(void **state)
{
	static const struct osp_node_note cloud = {"ec2", "i-1", 0},
					  launched = {"topograph", "", 1},
					  rack = {"topograph", "", 0}, own = {"nvlink", "", 0},
					  cable = {"infiniband", "", BOOT_S};

	(void)state;
	assert_true(osp_place_ages(&cloud));
	assert_true(osp_place_ages(&launched));
	assert_false(osp_place_ages(&rack));
	assert_false(osp_place_ages(&own));
	assert_false(osp_place_ages(&cable));
	assert_false(osp_place_ages(NULL));
}

/* A file from before the boot tells of another machine. */
static void a_file_knows_a_boot_before_it(void **state)
{
	(void)state;
	assert_true(osp_file_knows_boot(BOOT_S + 1, BOOT_S));
	assert_false(osp_file_knows_boot(BOOT_S, BOOT_S));
	assert_false(osp_file_knows_boot(BOOT_S - 1, BOOT_S));
	assert_false(osp_file_knows_boot(BOOT_S, 0));
}

static void boots_are_the_same_within_a_minute(void **state)
{
	(void)state;
	assert_true(osp_boot_is_same(0, 0)); /* of a map: neither is known */
	assert_false(osp_boot_is_same(0, 30));
	assert_false(osp_boot_is_same(30, 0));
	assert_true(osp_boot_is_same(BOOT_S, BOOT_S + 1));
	assert_true(osp_boot_is_same(BOOT_S + 60, BOOT_S));
	assert_false(osp_boot_is_same(BOOT_S + 61, BOOT_S));
}

/* What moves to and fro is noted once; what wanders is noted anew before it is too far away. */
static void a_boot_is_noted_once(void **state)
{
	(void)state;
	assert_int_equal(osp_boot_steady(BOOT_S, BOOT_S + 1), BOOT_S);
	assert_int_equal(osp_boot_steady(BOOT_S, BOOT_S - 30), BOOT_S);
	assert_int_equal(osp_boot_steady(BOOT_S, BOOT_S + 31), BOOT_S + 31);
	assert_int_equal(osp_boot_steady(0, BOOT_S), BOOT_S);
	assert_int_equal(osp_boot_steady(0, 20), 20);
	assert_int_equal(osp_boot_steady(20, 0), 0);
}

/* The node is the instance that was placed, another one, or nobody can tell. */
static void instances_are_compared_by_sums(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *sums, cut[16];

	(void)state;
	osp_placed_add(&text, "n1", "i-1");
	osp_placed_add(&text, "n2", "");
	osp_placed_add(&text, "n3", "i-3");
	sums = osp_text_take(&text);
	assert_int_equal(strlen(sums), 24);
	assert_int_equal(osp_placed_look(sums, "n1", "i-1"), OSP_PLACED_SAME);
	assert_int_equal(osp_placed_look(sums, "n3", "i-3"), OSP_PLACED_SAME);
	assert_int_equal(osp_placed_look(sums, "n3", "i-1"), OSP_PLACED_OTHER);
	assert_int_equal(osp_placed_look(sums, "n1", "i-9"), OSP_PLACED_OTHER);
	assert_int_equal(osp_placed_look(sums, "n2", "i-2"), OSP_PLACED_UNKNOWN);
	assert_int_equal(osp_placed_look(sums, "n1", ""), OSP_PLACED_UNKNOWN);
	assert_int_equal(osp_placed_look(NULL, "n1", "i-9"), OSP_PLACED_UNKNOWN);
	assert_int_equal(osp_placed_look("", "n1", "i-9"), OSP_PLACED_UNKNOWN);
	/* no sums */
	assert_int_equal(osp_placed_look("0123456", "n1", "i-9"), OSP_PLACED_UNKNOWN);
	assert_int_equal(osp_placed_look("(null)!!", "n1", "i-9"), OSP_PLACED_UNKNOWN);
	memcpy(cut, sums, 12);
	cut[12] = '\0';
	assert_int_equal(osp_placed_look(cut, "n1", "i-9"), OSP_PLACED_UNKNOWN);
	free(sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_hold_for_one_boot),
		cmocka_unit_test(places_age_by_their_source),
		cmocka_unit_test(a_file_knows_a_boot_before_it),
		cmocka_unit_test(boots_are_the_same_within_a_minute),
		cmocka_unit_test(a_boot_is_noted_once),
		cmocka_unit_test(instances_are_compared_by_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
