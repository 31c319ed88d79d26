/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_result.c - the reason for Slurm: its form, whatever a check tells */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "lib/health/reason.h"

static const struct osp_check ecc = {.name = "ecc"};

static struct osp_result reported;

static void take(struct osp_check_context *context, const struct osp_result *result)
{
	(void)context;
	reported = *result;
}

/* The reason of one check that told one thing. */
static const char *reason_of(enum osp_verdict verdict, enum osp_cure cure, const char *subject,
			     const char *value, const char *limit)
{
	static char reason[512];
	struct osp_check_context context = {.report = take};
	struct osp_outcome outcome = {
		.check = &ecc, .mode = OSP_CHECK_ENFORCE, .results = &reported, .result_count = 1};
	struct osp_run run = {.outcomes = &outcome, .count = 1};

	osp_result_add(&context, verdict, cure, subject, value, limit, NULL, "why");
	outcome.verdict = reported.verdict;
	return osp_run_reason(&run, reason, sizeof(reason));
}

static void golden(void **state)
{
	(void)state;
	assert_string_equal(
		reason_of(OSP_VERDICT_FAIL, OSP_CURE_REPLACE, "gpu3", "2.1 TB/s", "< 3.6"),
		"onespine: gpu3 ecc 2.1 TB/s < 3.6; replace");
	assert_string_equal(reason_of(OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "", "hangs", NULL),
			    "onespine: ecc hangs; reboot");
	assert_string_equal(reason_of(OSP_VERDICT_FAIL, OSP_CURE_NONE, "gpu0", "79", ""),
			    "onespine: gpu0 ecc 79; ask");
	assert_string_equal(reason_of(OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, "a\nb", "x\ty", "\x7f"),
			    "onespine: a?b ecc x?y ?; reset gpu");
	assert_string_equal(reason_of(OSP_VERDICT_WARN, OSP_CURE_ASK, "gpu0", "1", ""), "");
	assert_string_equal(reason_of(OSP_VERDICT_ERROR, OSP_CURE_NONE, "gpu0", "1", ""), "");
}

/* Whatever bytes: one line, ours, of this check, and it ends with what to do. */
static void any_bytes(void **state)
{
	static const char *const cures[] = {"; ask", "; reset gpu", "; reboot", "; replace"};
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		enum osp_cure cure = (enum osp_cure)(1 + round % 4);
		const char *reason, *ending = cures[cure - 1];
		char words[3][100];
		size_t length;

		for (int i = 0; i < 3; i++) {
			size_t bytes = (size_t)rand_r(&seed) % (sizeof(words[i]) - 1);

			for (size_t n = 0; n < bytes; n++)
				words[i][n] = (char)(1 + rand_r(&seed) % 255);
			words[i][bytes] = '\0';
		}
		/* a check names what it is about, without blanks */
		for (char *at = words[0]; *at; at++)
			if (*at == ' ')
				*at = '_';
		reason = reason_of(OSP_VERDICT_FAIL, cure, words[0], words[1], words[2]);
		length = strlen(reason);
		assert_true(osp_reason_is_ours(reason) && osp_reason_names(reason, "ecc"));
		assert_true(length < 260);
		assert_string_equal(reason + length - strlen(ending), ending);
		for (size_t n = 0; n < length; n++)
			assert_true((unsigned char)reason[n] >= 0x20 && reason[n] != 0x7f);
	}
}

static size_t figure_count;
static volatile double volatile_zero;

static void count_figure(struct osp_check_context *context, const struct osp_figure *figure)
{
	(void)context;
	(void)figure;
	figure_count++;
}

static void only_finite_figures_are_kept(void **state)
{
	struct osp_check_context context = {.report_figure = count_figure};

	(void)state;
	osp_result_figure(&context, "gpu0", "x", 1.0);
	osp_result_figure(&context, "gpu0", "x", 0.0 / volatile_zero);
	osp_result_figure(&context, "gpu0", "x", -1.0 / volatile_zero);
	assert_int_equal(figure_count, 1);
	context.report_figure = NULL;
	osp_result_figure(&context, "gpu0", "x", 1.0);
	assert_int_equal(figure_count, 1);
}

static void a_verdict_is_found_by_its_name(void **state)
{
	static const char *const others[] = {"", "pass", "PASSED", "PAS", "?"};
	enum osp_verdict found;

	(void)state;
	for (int i = 0; i < OSP_VERDICT_COUNT; i++) {
		found = OSP_VERDICT_COUNT;
		assert_true(osp_verdict_find(osp_verdict_name((enum osp_verdict)i), &found));
		assert_int_equal(found, i);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		found = OSP_VERDICT_WARN;
		assert_false(osp_verdict_find(others[i], &found));
		assert_int_equal(found, OSP_VERDICT_WARN);
	}
	assert_string_equal(osp_verdict_name(OSP_VERDICT_COUNT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_is_found_by_its_name),
		cmocka_unit_test(golden),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(only_finite_figures_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
