/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_in_control.c - of several slurmctlds the first that runs is in control */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/topology/in_control.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct running {
	const char *which; /* '1': that of this index answers */
	uint32_t asked;	   /* the largest index, from 1 */
};

static bool answers(uint32_t index, void *context)
{
	struct running *running = context;

	if (running->asked < index + 1)
		running->asked = index + 1;
	return running->which[index] == '1';
}

static void the_first_that_runs(void **state)
{
	static const char *const names[] = {"a", "b.example.org", "c"};
	static const struct {
		const char *host, *which;
		uint32_t count;
		enum osp_control control;
		uint32_t other, asked;
	} cases[] = {
		/* the primary asks itself alone */
		{"a", "111", 3, OSP_CONTROL_HERE, 0, 1},
		{"a.example.org", "111", 3, OSP_CONTROL_HERE, 0, 1},
		{"a", "011", 3, OSP_CONTROL_SILENT, 0, 1},
		/* a backup those before it */
		{"b.example.org", "111", 3, OSP_CONTROL_OTHER, 0, 1},
		{"b.example.org", "010", 3, OSP_CONTROL_HERE, 0, 2},
		{"b.example.org", "001", 3, OSP_CONTROL_SILENT, 0, 2},
		{"c", "011", 3, OSP_CONTROL_OTHER, 1, 2},
		{"c", "001", 3, OSP_CONTROL_HERE, 0, 3},
		{"c", "000", 3, OSP_CONTROL_SILENT, 0, 3},
		/* no controller's host, or one of a longer name */
		{"b", "111", 3, OSP_CONTROL_HERE, 0, 0},
		{"aa", "111", 3, OSP_CONTROL_HERE, 0, 0},
		{"login", "000", 3, OSP_CONTROL_HERE, 0, 0},
		/* no backup: nobody is asked */
		{"a", "000", 1, OSP_CONTROL_HERE, 0, 0},
		{"a", "000", 0, OSP_CONTROL_HERE, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct running running = {cases[i].which, 0};
		uint32_t other = 0;

		assert_int_equal(osp_in_control(names, cases[i].count, cases[i].host, answers,
						&running, &other),
				 cases[i].control);
		assert_int_equal(other, cases[i].other);
		assert_int_equal(running.asked, cases[i].asked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
