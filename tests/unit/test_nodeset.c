/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of nodes against plain arrays of bools, at every size around a word's end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/nodeset.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PLACES_MAX   200

static const uint32_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, PLACES_MAX};

static uint32_t seed;

static uint32_t next_random(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 16;
}

static struct osp_nodeset *random_set(uint32_t places, bool *members)
{
	struct osp_nodeset *set = osp_nodeset_new(places);

	assert_non_null(set);
	for (uint32_t n = 0; n < places; n++) {
		members[n] = next_random() % 3 == 0;
		if (members[n])
			osp_nodeset_add(set, n);
	}
	return set;
}

static void has_exactly(const struct osp_nodeset *set, const bool *members)
{
	uint32_t count = 0, next = osp_nodeset_next(set, 0);

	for (uint32_t n = 0; n < set->place_count; n++) {
		assert_int_equal(osp_nodeset_test(set, n), members[n]);
		if (!members[n])
			continue;
		assert_int_equal(next, n);
		next = osp_nodeset_next(set, n + 1);
		count++;
	}
	assert_int_equal(next, set->place_count);
	assert_int_equal(osp_nodeset_count(set), count);
	assert_int_equal(osp_nodeset_empty(set), count == 0);
}

static void a_new_set_is_empty_and_a_full_one_full(void **state)
{
	bool none[PLACES_MAX] = {false}, all[PLACES_MAX];

	(void)state;
	memset(all, true, sizeof(all));
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct osp_nodeset *set = osp_nodeset_new(sizes[i]);

		has_exactly(set, none);
		osp_nodeset_fill(set);
		has_exactly(set, all);
		osp_nodeset_clear(set);
		has_exactly(set, none);
		free(set);
	}
}

static void members_come_and_go(void **state)
{
	bool members[PLACES_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct osp_nodeset *set = random_set(sizes[i], members);
		struct osp_nodeset *copy = osp_nodeset_copy(set);

		has_exactly(copy, members);
		assert_true(osp_nodeset_equal(set, copy));
		for (uint32_t n = 0; n < sizes[i]; n++) {
			osp_nodeset_remove(set, n);
			members[n] = false;
			has_exactly(set, members);
		}
		osp_nodeset_assign(set, copy);
		assert_true(osp_nodeset_equal(set, copy));
		free(copy);
		free(set);
	}
}

enum operation { AND, OR, AND_NOT };

static void check_operation(enum operation operation, uint32_t places)
{
	bool a[PLACES_MAX], b[PLACES_MAX];
	struct osp_nodeset *first = random_set(places, a);
	struct osp_nodeset *second = random_set(places, b);

	for (uint32_t n = 0; n < places; n++)
		a[n] = operation == AND	 ? a[n] && b[n]
		       : operation == OR ? a[n] || b[n]
					 : a[n] && !b[n];
	if (operation == AND)
		osp_nodeset_and(first, second);
	else if (operation == OR)
		osp_nodeset_or(first, second);
	else
		osp_nodeset_and_not(first, second);
	has_exactly(first, a);
	has_exactly(second, b);
	free(first);
	free(second);
}

static void operations_change_the_first_set_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		check_operation(AND, sizes[i]);
		check_operation(OR, sizes[i]);
		check_operation(AND_NOT, sizes[i]);
	}
}

static void sets_are_compared(void **state)
{
	bool a[PLACES_MAX], b[PLACES_MAX];

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint32_t places = next_random() % 70;
		struct osp_nodeset *first = random_set(places, a);
		struct osp_nodeset *second = random_set(places, b);
		bool equal = true, overlap = false;

		for (uint32_t n = 0; n < places; n++) {
			equal = equal && a[n] == b[n];
			overlap = overlap || (a[n] && b[n]);
		}
		assert_int_equal(osp_nodeset_equal(first, second), equal);
		assert_int_equal(osp_nodeset_overlap(first, second), overlap);
		free(first);
		free(second);
	}
}

/* Sets of clusters of another size are never the same. */
static void sets_of_other_sizes_differ(void **state)
{
	struct osp_nodeset *small = osp_nodeset_new(10), *large = osp_nodeset_new(11);

	(void)state;
	assert_false(osp_nodeset_equal(small, large));
	osp_nodeset_add(small, 3);
	osp_nodeset_add(large, 3);
	assert_false(osp_nodeset_equal(large, small));
	free(small);
	free(large);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_set_is_empty_and_a_full_one_full),
		cmocka_unit_test(members_come_and_go),
		cmocka_unit_test(operations_change_the_first_set_only),
		cmocka_unit_test(sets_are_compared),
		cmocka_unit_test(sets_of_other_sizes_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
