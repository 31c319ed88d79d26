/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Speeds: which are slow, which cannot be, and against what. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/health/speed.h"

#define WELL	   OSP_SPEED_WELL
#define ALONE	   OSP_SPEED_ALONE
#define IMPOSSIBLE OSP_SPEED_IMPOSSIBLE
#define PEERS	   OSP_SPEED_SLOW_PEERS
#define LIMIT	   OSP_SPEED_SLOW_LIMIT

static void speeds_are_judged(void **state)
{
	static const struct {
		const char *what;
		size_t count;
		double values[4];
		double least, physics;
		bool unjudged_last;
		double best;
		enum osp_speed_verdict verdicts[4];
	} cases[] = {
		{"alike", 4, {100, 99, 95, 91}, 0, 0, false, 100, {WELL, WELL, WELL, WELL}},
		{"just 10 % below",
		 4,
		 {100, 99, 98, 90},
		 0,
		 0,
		 false,
		 100,
		 {WELL, WELL, WELL, WELL}},
		{"more than 10 % below",
		 4,
		 {100, 99, 98, 89.9},
		 0,
		 0,
		 false,
		 100,
		 {WELL, WELL, WELL, PEERS}},
		{"below the limit",
		 4,
		 {100, 99, 98, 97},
		 98,
		 0,
		 false,
		 100,
		 {WELL, WELL, WELL, LIMIT}},
		{"all below the limit", 2, {50, 50}, 98, 0, false, 50, {LIMIT, LIMIT}},
		{"above physics",
		 4,
		 {100, 99, 98, 300},
		 0,
		 110,
		 false,
		 100,
		 {WELL, WELL, WELL, IMPOSSIBLE}},
		{"a little above the peak", 2, {115, 115}, 0, 110, false, 115, {WELL, WELL}},
		{"nothing, and no number",
		 3,
		 {100, 0, NAN},
		 0,
		 0,
		 false,
		 100,
		 {ALONE, IMPOSSIBLE, IMPOSSIBLE}},
		{"endless", 2, {100, INFINITY}, 50, 0, false, 100, {WELL, IMPOSSIBLE}},
		{"alone, no limit", 1, {100}, 0, 0, false, 100, {ALONE}},
		{"alone, a limit", 1, {100}, 90, 0, false, 100, {WELL}},
		{"alone, below it", 1, {80}, 90, 0, false, 80, {LIMIT}},
		{"one far above all others",
		 4,
		 {200, 100, 100, 99},
		 0,
		 0,
		 false,
		 100,
		 {WELL, WELL, WELL, WELL}},
		{"two of four slow",
		 4,
		 {100, 100, 50, 50},
		 0,
		 0,
		 false,
		 100,
		 {WELL, WELL, PEERS, PEERS}},
		{"one of two slow", 2, {100, 50}, 0, 0, false, 100, {WELL, PEERS}},
		{"not judged", 3, {100, 99, 10}, 50, 0, true, 100, {WELL, WELL, ALONE}},
		{"not judged, nor anyone's peer",
		 3,
		 {100, 99, 500},
		 0,
		 0,
		 true,
		 100,
		 {WELL, WELL, ALONE}},
		{"not judged, impossible",
		 3,
		 {100, 99, 500},
		 0,
		 120,
		 true,
		 100,
		 {WELL, WELL, IMPOSSIBLE}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_speed_sample samples[4];
		enum osp_speed_verdict verdicts[4];
		double best;

		for (size_t n = 0; n < cases[i].count; n++) {
			samples[n].value = cases[i].values[n];
			samples[n].least = cases[i].least;
			samples[n].physics = cases[i].physics;
			samples[n].judged = !cases[i].unjudged_last || n + 1 < cases[i].count;
		}
		best = osp_speed_judge(samples, cases[i].count, 10, verdicts);
		if (best != cases[i].best)
			fail_msg("%s: best %f, not %f", cases[i].what, best, cases[i].best);
		for (size_t n = 0; n < cases[i].count; n++)
			if (verdicts[n] != cases[i].verdicts[n])
				fail_msg("%s: sample %zu is %d, not %d", cases[i].what, n,
					 verdicts[n], cases[i].verdicts[n]);
	}
}

static void none_is_judged(void **state)
{
	(void)state;
	assert_true(osp_speed_judge(NULL, 0, 10, NULL) == 0);
}

static void one_more(void **state)
{
	struct osp_speed_sample sample = {.value = 89, .judged = true};

	(void)state;
	assert_int_equal(osp_speed_judge_one(&sample, 100, 8, 10), PEERS);
	sample.value = 91;
	assert_int_equal(osp_speed_judge_one(&sample, 100, 8, 10), WELL);
	sample.least = 95;
	assert_int_equal(osp_speed_judge_one(&sample, 100, 8, 10), LIMIT);
	sample.least = 0;
	assert_int_equal(osp_speed_judge_one(&sample, 100, 1, 10), ALONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speeds_are_judged),
		cmocka_unit_test(none_is_judged),
		cmocka_unit_test(one_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
