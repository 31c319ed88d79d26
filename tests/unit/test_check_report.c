/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_check_report.c - the gate's report of a node, from what its check printed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/record/check_report.h"

static struct osp_gate_report read_report(const char *json)
{
	struct osp_gate_report report;

	memset(&report, 0, sizeof(report));
	osp_check_report_read(json, &report);
	return report;
}

static void an_error_has_the_words_of_the_result_that_is_one(void **state)
{
	struct osp_gate_report report = read_report(
		"{\"verdict\": \"ERROR\", \"reason\": \"\", \"checks\": ["
		"{\"name\": \"disk\", \"verdict\": \"PASS\", \"results\": []},"
		"{\"name\": \"xid\", \"verdict\": \"ERROR\", \"results\": ["
		"{\"verdict\": \"PASS\", \"value\": \"none since boot\", \"why\": \"\"},"
		"{\"verdict\": \"ERROR\", \"value\": \"hung once\","
		" \"why\": \"did not answer at first; a second try did\"}]}]}");

	(void)state;
	assert_int_equal(report.result, OSP_VERDICT_ERROR);
	assert_string_equal(report.check, "xid");
	assert_string_equal(report.reason, "xid: did not answer at first; a second try did");
}

static void a_failure_has_the_reason_of_the_run(void **state)
{
	struct osp_gate_report report = read_report(
		"{\"verdict\": \"FAIL\", \"reason\": \"onespine: gpu3 ecc 12 > 0; reset gpu\","
		" \"checks\": [{\"name\": \"xid\", \"verdict\": \"FAIL\", \"results\": []},"
		"{\"name\": \"ecc\", \"verdict\": \"FAIL\", \"results\": []}]}");

	(void)state;
	assert_int_equal(report.result, OSP_VERDICT_FAIL);
	assert_string_equal(report.check, "ecc");
	assert_string_equal(report.reason, "onespine: gpu3 ecc 12 > 0; reset gpu");
}

static void what_cannot_be_read_is_an_error(void **state)
{
	static const char *const texts[] = {NULL, "", "{", "[]", "{}", "{\"verdict\": 1}",
					    "{\"verdict\": \"GOOD\"}",
					    "{\"verdict\": \"SILENT\"}"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct osp_gate_report report = read_report(texts[i]);

		assert_int_equal(report.result, OSP_VERDICT_ERROR);
		assert_string_equal(report.reason, "the check said nothing that can be read");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_has_the_words_of_the_result_that_is_one),
		cmocka_unit_test(a_failure_has_the_reason_of_the_run),
		cmocka_unit_test(what_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
