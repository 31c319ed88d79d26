/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pardons a check that did not answer, by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/health/hang.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void hangs_by_table(void **state)
{
	static const struct {
		struct osp_hang_signs signs;
		enum osp_hang hang;
	} cases[] = {
		{{.pressure_known = true}, OSP_HANG_STUCK},
		{{.delay_known = true}, OSP_HANG_STUCK},
		{{.waited_ms = 0}, OSP_HANG_UNKNOWN},
		/* a fifth of 1000 ms */
		{{.waited_ms = 200, .pressure_known = true}, OSP_HANG_STUCK},
		{{.waited_ms = 201, .pressure_known = true}, OSP_HANG_STARVED},
		{{.waited_ms = 201}, OSP_HANG_STARVED},
		{{.pressure_known = true, .io_ms = 200, .memory_ms = 200}, OSP_HANG_STUCK},
		{{.pressure_known = true, .io_ms = 201}, OSP_HANG_PRESSED},
		{{.pressure_known = true, .memory_ms = 201}, OSP_HANG_PRESSED},
		{{.pressure_known = true, .delay_known = true, .delayed_ms = 201},
		 OSP_HANG_PRESSED},
		{{.delay_known = true, .delayed_ms = 200}, OSP_HANG_STUCK},
		/* what is not known does not count */
		{{.delay_known = true, .io_ms = 900}, OSP_HANG_STUCK},
		{{.pressure_known = true, .delayed_ms = 900}, OSP_HANG_STUCK},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (osp_hang_judge(&cases[i].signs, 1000) != cases[i].hang)
			fail_msg("case %zu: %d", i, osp_hang_judge(&cases[i].signs, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(hangs_by_table)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
