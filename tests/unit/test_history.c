/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_history.c - strikes, lemons and trends */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/health/history.h"

#define DAY 86400
#define NOW (1000 * (int64_t)DAY)

static struct osp_history *history;

static int set_up(void **state)
{
	(void)state;
	history = osp_history_new();
	return history ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	osp_history_free(history);
	return 0;
}

/* A run of instance i-1 under name n1 unless told otherwise; "+" passes, "-" fails, "?" neither. */
static void add(int64_t time_s, char outcome, const char *boot_id, const char *instance,
		const char *node)
{
	static unsigned int number;
	char id[16];
	const struct osp_history_run run = {
		.id = id,
		.time_s = time_s,
		.node = node,
		.instance = instance,
		.boot_id = boot_id,
		.depth = "passive",
		.verdict = outcome == '+'   ? OSP_HISTORY_PASS
			   : outcome == '-' ? OSP_HISTORY_FAIL
					    : OSP_HISTORY_OTHER,
		.check = outcome == '-' ? "ecc" : "",
		.reason = outcome == '-' ? "onespine: gpu0 ecc 1; replace" : "",
	};

	snprintf(id, sizeof(id), "%u", number++);
	assert_int_equal(osp_history_add_run(history, &run), 1);
	assert_int_equal(osp_history_add_run(history, &run), 0);
}

static const struct osp_history_subject *judge(size_t *count)
{
	static const struct osp_history_rule rule = {NOW, 3, 30};

	return osp_history_judge(history, &rule, count);
}

/* Outcomes a day apart, the last one now; a digit begins another boot. */
static void strikes(void **state)
{
	static const struct {
		const char *outcomes;
		size_t failed, strikes;
		bool lemon;
	} cases[] = {
		{"+", 0, 0, false},	     {"?", 0, 0, false},   {"-", 1, 1, false},
		{"---", 3, 1, false},	     {"-+-", 2, 2, false}, {"-+-+-", 3, 3, true},
		{"-1-2-", 3, 3, true},	     {"-?-", 2, 1, false}, {"-?1-", 2, 2, false},
		{"+++-+--+++-", 4, 3, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct osp_history_subject *subject;
		int64_t time_s = NOW - (int64_t)strlen(cases[i].outcomes) * DAY;
		char boot[2] = "0";
		size_t count;

		tear_down(NULL);
		set_up(NULL);
		for (const char *at = cases[i].outcomes; *at; at++, time_s += DAY) {
			if (*at >= '0' && *at <= '9')
				*boot = *at;
			else
				add(time_s, *at, boot, "i-1", "n1");
		}
		subject = judge(&count);
		assert_int_equal(count, 1);
		assert_int_equal(subject->failed, cases[i].failed);
		assert_int_equal(subject->strikes, cases[i].strikes);
		assert_int_equal(subject->lemon, cases[i].lemon);
	}
}

static void old_strikes_do_not_count(void **state)
{
	const struct osp_history_subject *subject;
	size_t count;

	(void)state;
	add(NOW - 40 * DAY, '-', "a", "i-1", "n1");
	add(NOW - 30 * DAY, '-', "b", "i-1", "n1");
	add(NOW - 30 * DAY + 1, '-', "c", "i-1", "n1");
	add(NOW, '+', "d", "i-1", "n1");
	subject = judge(&count);
	assert_int_equal(subject->strikes_ever, 3);
	assert_int_equal(subject->strikes, 1);
	assert_int_equal(subject->last, OSP_HISTORY_PASS);
	assert_int_equal(subject->last_strike_s, NOW - 30 * DAY + 1);
	assert_string_equal(subject->last_check, "ecc");
}

/* Runs come in any order: files of several nodes are read one after the other. */
static void order_does_not_matter(void **state)
{
	const struct osp_history_subject *subject;
	size_t count;

	(void)state;
	add(NOW - 1 * DAY, '-', "a", "i-1", "n1");
	add(NOW - 3 * DAY, '-', "a", "i-1", "n1");
	add(NOW - 2 * DAY, '+', "a", "i-1", "n1");
	subject = judge(&count);
	assert_int_equal(count, 1);
	assert_int_equal(subject->strikes, 2);
	assert_int_equal(subject->first_s, NOW - 3 * DAY);
}

/* A bad GPU comes back in other instances; the instances it left are well. */
static void a_gpu_that_wanders(void **state)
{
	static const char *const instances[] = {"i-1", "i-2", "i-3"};
	const struct osp_history_subject *subjects;
	size_t count;

	(void)state;
	for (int i = 0; i < 3; i++) {
		add(NOW - (3 - i) * DAY, '-', instances[i], instances[i], "n1");
		osp_history_add_gpu(history, "GPU-bad", "ecc");
		osp_history_add_gpu(history, i ? "GPU-b" : "GPU-a", "");
	}
	subjects = judge(&count);
	assert_int_equal(count, 6);
	assert_string_equal(subjects[0].key, "GPU-bad");
	assert_true(subjects[0].lemon && subjects[0].is_gpu);
	assert_int_equal(subjects[0].nodes, 3);
	assert_string_equal(subjects[0].instance, "i-3");
	assert_string_equal(subjects[1].key, "i-1");
	assert_false(subjects[1].lemon);
	assert_int_equal(subjects[1].strikes, 1);
	assert_string_equal(subjects[5].key, "GPU-b");
	assert_int_equal(subjects[5].strikes, 0);
	assert_int_equal(subjects[5].runs, 2);
	assert_int_equal(subjects[5].last, OSP_HISTORY_PASS);
}

static void without_an_instance_the_name_counts(void **state)
{
	const struct osp_history_subject *subject;
	size_t count;

	(void)state;
	add(NOW, '+', "a", "", "n7");
	subject = judge(&count);
	assert_string_equal(subject->key, "n7");
	assert_int_equal(subject->nodes, 1);
}

static void trends(void **state)
{
	static const double speeds[] = {4.0, 4.0, 4.0, 3.9, 3.5, 3.2, 3.0, 3.0};
	const struct osp_history_trend *trend;
	size_t count;

	(void)state;
	for (int i = 7; i >= 0; i--) { /* newest first */
		add(NOW + i, '+', "a", "i-1", "n1");
		osp_history_add_gpu(history, "GPU-a", "");
		osp_history_add_figure(history, "GPU-a", i % 2 ? "gpu0" : "gpu5", "hbm_tbps",
				       speeds[i]);
		osp_history_add_figure(history, "", "mlx5_0:1", "link_downed", i < 2 ? 0 : 7);
		osp_history_add_figure(history, "", "mlx5_1:1", "link_downed", 0);
	}
	trend = osp_history_trends(history, "GPU-a", &count);
	assert_int_equal(count, 1);
	assert_string_equal(trend->name, "hbm_tbps");
	assert_int_equal(trend->count, 8);
	assert_true(trend->first == 4.0 && trend->last == 3.0 && trend->least == 3.0);
	assert_true(trend->change == -0.25);
	for (size_t i = 0; i < 8; i++)
		assert_true(trend->values[i] == speeds[i]);
	trend = osp_history_trends(history, "i-1", &count);
	assert_int_equal(count, 2);
	assert_string_equal(trend[0].subject, "mlx5_0:1");
	assert_true(trend[0].most == 7 && trend[0].change == 0);
	osp_history_trends(history, "i-9", &count);
	assert_int_equal(count, 0);
}

static void nothing_is_nothing(void **state)
{
	size_t count;

	(void)state;
	judge(&count);
	assert_int_equal(count, 0);
}

/* --- counters --------------------------------------------------------------------------------- */

static void growths(void **state)
{
	const struct osp_history_growth *grown;
	struct osp_history_run run = {.id = "a",
				      .time_s = NOW,
				      .node = "n1",
				      .instance = "i-1",
				      .boot_id = "b",
				      .depth = "passive",
				      .verdict = OSP_HISTORY_PASS,
				      .check = "",
				      .reason = "",
				      .job = 7,
				      .when = "epilog"};
	size_t count;

	(void)state;
	grown = osp_history_growths(history, "i-1", &count);
	assert_int_equal(count, 0);
	assert_int_equal(osp_history_add_run(history, &run), 1);
	assert_int_equal(osp_history_add_growth(history, "", "mlx5_0:1", "link_downed", 2), 0);
	assert_int_equal(osp_history_add_growth(history, "GPU-1", "GPU-1", "ecc_corrected", 5), 0);
	run.id = "b";
	run.time_s = NOW + 60;
	run.job = 0;
	run.when = NULL;
	assert_int_equal(osp_history_add_run(history, &run), 1);
	assert_int_equal(osp_history_add_growth(history, "", "mlx5_0:1", "link_downed", 1), 0);
	grown = osp_history_growths(history, "i-1", &count);
	assert_int_equal(count, 2);
	assert_int_equal(grown[0].more, 1); /* the latest first */
	assert_int_equal(grown[0].job, 0);
	assert_string_equal(grown[0].when, "");
	assert_int_equal(grown[1].more, 2);
	assert_int_equal(grown[1].job, 7);
	assert_int_equal(grown[1].time_s, NOW);
	assert_string_equal(grown[1].subject, "mlx5_0:1");
	grown = osp_history_growths(history, "GPU-1", &count);
	assert_int_equal(count, 1);
	assert_string_equal(grown[0].subject, "");
	assert_string_equal(grown[0].name, "ecc_corrected");
	assert_string_equal(grown[0].when, "epilog");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(strikes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_strikes_do_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(order_does_not_matter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_gpu_that_wanders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_an_instance_the_name_counts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(trends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(growths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
