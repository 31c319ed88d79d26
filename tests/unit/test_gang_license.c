/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_gang_license.c - the license of gangs in slurm.conf's words and in a job's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/policy/gang_license.h"

static void is_named(void **state)
{
	(void)state;
	assert_true(osp_gang_license_is_in("onespine:1"));
	assert_true(osp_gang_license_is_in("matlab:2,onespine"));
	assert_true(osp_gang_license_is_in("onespine:1;matlab"));
	assert_true(osp_gang_license_is_in("matlab|onespine=1"));
	assert_false(osp_gang_license_is_in(NULL));
	assert_false(osp_gang_license_is_in(""));
	assert_false(osp_gang_license_is_in("onespine2:1"));
	assert_false(osp_gang_license_is_in("onespin"));
	assert_false(osp_gang_license_is_in("twospine:1"));
	assert_false(osp_gang_license_is_in("onespine@server:4,my-onespine"));
}

static void holds_where_fewer_are_offered_than_a_gang_takes(void **state)
{
	static const char *const too_many[] = {
		"onespine:2",
		"onespine:1000000",
		"onespine=2",
		"onespine,onespine",
		"onespine:1,a:2;onespine",
		"matlab,onespine:4294967297",
		"onespine:99999999999999999999",
		/* no number, which Slurm itself refuses */
		"onespine:1'",
		"onespine:1x",
	};

	(void)state;
	assert_true(osp_gang_license_holds("onespine:1"));
	assert_true(osp_gang_license_holds("onespine"));
	assert_true(osp_gang_license_holds("matlab:2;onespine=1,ansys:4"));
	assert_true(osp_gang_license_holds("onespine:0,onespine:1"));
	assert_false(osp_gang_license_holds(NULL));
	assert_false(osp_gang_license_holds("matlab:2"));
	/* 25.11 forgets a license of none, and what gangs take of it */
	assert_false(osp_gang_license_holds("onespine:0"));
	for (size_t i = 0; i < sizeof(too_many) / sizeof(too_many[0]); i++)
		assert_false(osp_gang_license_holds(too_many[i]));
}

static void offered(const char *licenses, const char *expected)
{
	char *words = osp_gang_license_offer(licenses);

	if (expected)
		assert_string_equal(words, expected);
	else
		assert_null(words);
	free(words);
}

static void is_offered(void **state)
{
	(void)state;
	offered("onespine:1", "onespine:1000000");
	offered("onespine", "onespine:1000000");
	offered("matlab:2,onespine:1,ansys", "matlab:2,onespine:1000000,ansys");
	offered("onespine:1000000", "onespine:1000000");
	offered("matlab:2", NULL);
	offered(NULL, NULL);
}

static void added(const char *licenses, int rc, const char *expected)
{
	char *with;

	assert_int_equal(osp_gang_license_add(licenses, &with), rc);
	if (expected)
		assert_string_equal(with, expected);
	else
		assert_null(with);
	free(with);
}

static void is_added(void **state)
{
	(void)state;
	added(NULL, 0, "onespine:2");
	added("", 0, "onespine:2");
	added("matlab:2", 0, "matlab:2,onespine:2");
	added("onespine:2,matlab", 0, NULL);
	added("matlab;onespine=2", 0, NULL);
	added("matlab|ansys", -1, NULL);
	added("onespine:2|ansys", -1, NULL);
	/* a user takes fewer, or other names that begin so */
	added("onespine:1,matlab", 0, "matlab,onespine:2");
	added("onespine", 0, "onespine:2");
	added("onespine:22", 0, "onespine:2");
	added("onespine:2,onespine:0", 0, "onespine:2");
	added(",a:2", 0, "a:2,onespine:2");
	added("onespine2:1,,a:2", 0, "onespine2:1,a:2,onespine:2");
}

static void is_kept(void **state)
{
	(void)state;
	assert_true(osp_gang_license_is_kept(0x160508));
	assert_true(osp_gang_license_is_kept(0x180b07));
	assert_false(osp_gang_license_is_kept(0x190500));
	assert_false(osp_gang_license_is_kept(0x190509));
	assert_false(osp_gang_license_is_kept(0x190b06));
	assert_true(osp_gang_license_is_kept(0x190b07));
	assert_true(osp_gang_license_is_kept(0x1a0500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_named),
		cmocka_unit_test(is_kept),
		cmocka_unit_test(holds_where_fewer_are_offered_than_a_gang_takes),
		cmocka_unit_test(is_offered),
		cmocka_unit_test(is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
