/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_license_request.c - whether the licenses of --licenses are free: two of matlab, no ansys
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/policy/license_request.h"

static uint64_t free_of(const char *name, size_t name_bytes, void *context)
{
	(void)context;
	if (name_bytes == strlen("matlab") && !memcmp(name, "matlab", name_bytes))
		return 2;
	if (name_bytes == strlen("ansys@far") && !memcmp(name, "ansys@far", name_bytes))
		return 0;
	return UINT64_MAX;
}

static void words(void **state)
{
	static const struct {
		const char *words;
		bool lack;
	} rows[] = {
		{"", false},
		{"matlab", false},
		{"matlab:2", false},
		{"matlab:3", true},
		{"matlab=2", false},
		{"matlab=3", true},
		{"ansys@far", true},
		{"matlab,ansys@far", true},
		{"ansys@far;matlab", true},
		{"matlab:2|ansys@far", false},
		{"ansys@far|matlab=2", false},
		{"ansys@far|matlab=3", true},
		/* all that one job asks for */
		{"matlab,matlab:2", true},
		{"matlab,matlab=1", false},
		{"matlab:2|matlab:2", false},
		/* sbatch's to refuse */
		{"nosuch:9", false},
		{"matlab:", false},
		{"mat", false},
		{",,", false},
		{"|", false},
		{",matlab:3", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (osp_license_request_lacks(rows[i].words, free_of, NULL) != rows[i].lack)
			fail_msg("%s", rows[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
