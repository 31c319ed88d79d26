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
#define BEHIND	   OSP_SPEED_BEHIND
#define FAR	   OSP_SPEED_FAR_BEHIND
#define LIMIT	   OSP_SPEED_SLOW_LIMIT

static const struct osp_speed_tolerance tolerance = {.behind = 10, .far = 30};

static const struct speed_case {
	const char *what;
	size_t count;
	double values[4];
	double least, physics;
	bool unjudged_last;
	int groups[4];
	double median_of_last; /* of its peers */
	enum osp_speed_verdict verdicts[4];
} cases[] = {
	{"alike", 4, {100, 99, 95, 91}, .median_of_last = 99, .verdicts = {WELL}},
	{"just 10 % below", 4, {100, 99, 100, 90}, .median_of_last = 100, .verdicts = {WELL}},
	{"more than 10 % below",
	 4,
	 {100, 99, 100, 89.9},
	 .median_of_last = 100,
	 .verdicts = {WELL, WELL, WELL, BEHIND}},
	{"more than 10 % below, above the limit",
	 4,
	 {100, 99, 100, 89.9},
	 .least = 80,
	 .median_of_last = 100,
	 .verdicts = {WELL, WELL, WELL, BEHIND}},
	{"just 30 % below",
	 4,
	 {100, 99, 100, 70},
	 .median_of_last = 100,
	 .verdicts = {WELL, WELL, WELL, BEHIND}},
	{"more than 30 % below",
	 4,
	 {100, 99, 100, 69},
	 .median_of_last = 100,
	 .verdicts = {WELL, WELL, WELL, FAR}},
	{"below the limit",
	 4,
	 {100, 99, 98, 97},
	 .least = 98,
	 .median_of_last = 99,
	 .verdicts = {WELL, WELL, WELL, LIMIT}},
	{"all below the limit",
	 2,
	 {50, 50},
	 .least = 98,
	 .median_of_last = 50,
	 .verdicts = {LIMIT, LIMIT}},
	{"above physics",
	 4,
	 {100, 99, 98, 300},
	 .physics = 110,
	 .verdicts = {WELL, WELL, WELL, IMPOSSIBLE}},
	{"a little above the peak",
	 2,
	 {115, 115},
	 .physics = 110,
	 .median_of_last = 115,
	 .verdicts = {WELL}},
	{"nothing, and no number", 3, {100, 0, NAN}, .verdicts = {ALONE, IMPOSSIBLE, IMPOSSIBLE}},
	{"endless", 2, {100, INFINITY}, .least = 50, .verdicts = {WELL, IMPOSSIBLE}},
	{"alone, no limit", 1, {100}, .verdicts = {ALONE}},
	{"alone, a limit", 1, {100}, .least = 90, .verdicts = {WELL}},
	{"alone, below it", 1, {80}, .least = 90, .verdicts = {LIMIT}},
	{"one far above all others",
	 4,
	 {200, 100, 100, 99},
	 .median_of_last = 100,
	 .verdicts = {WELL}},
	{"two of four slow",
	 4,
	 {100, 100, 50, 50},
	 .median_of_last = 100,
	 .verdicts = {WELL, WELL, FAR, FAR}},
	{"one of two slow", 2, {100, 85}, .median_of_last = 100, .verdicts = {WELL, BEHIND}},
	{"not judged",
	 3,
	 {100, 99, 10},
	 .least = 50,
	 .unjudged_last = true,
	 .verdicts = {WELL, WELL, ALONE}},
	{"not judged, nor anyone's peer",
	 3,
	 {100, 99, 500},
	 .unjudged_last = true,
	 .verdicts = {WELL, WELL, ALONE}},
	{"not judged, impossible",
	 3,
	 {100, 99, 500},
	 .physics = 120,
	 .unjudged_last = true,
	 .verdicts = {WELL, WELL, IMPOSSIBLE}},
	{"two groups, each alike",
	 4,
	 {100, 60, 100, 60},
	 .groups = {0, 1, 0, 1},
	 .median_of_last = 60,
	 .verdicts = {WELL}},
	{"no peers: not compared",
	 4,
	 {100, 100, 100, 60},
	 .groups = {0, 0, 0, OSP_SPEED_NO_PEERS},
	 .verdicts = {WELL, WELL, WELL, ALONE}},
	{"no peers: its limit counts",
	 4,
	 {100, 100, 60, 60},
	 .least = 70,
	 .groups = {0, 0, OSP_SPEED_NO_PEERS, OSP_SPEED_NO_PEERS},
	 .verdicts = {WELL, WELL, LIMIT, LIMIT}},
};

static void speeds_are_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct speed_case *one = &cases[i];
		struct osp_speed_sample samples[4];
		enum osp_speed_verdict verdicts[4];
		struct osp_speed_peers peers[4];

		for (size_t n = 0; n < one->count; n++)
			samples[n] = (struct osp_speed_sample){
				.value = one->values[n],
				.least = one->least,
				.physics = one->physics,
				.judged = !one->unjudged_last || n + 1 < one->count,
				.group = one->groups[n],
			};
		osp_speed_judge(samples, one->count, &tolerance, verdicts, peers);
		for (size_t n = 0; n < one->count; n++)
			if (verdicts[n] != one->verdicts[n])
				fail_msg("%s: sample %zu is %d, not %d", one->what, n, verdicts[n],
					 one->verdicts[n]);
		if (peers[one->count - 1].median != one->median_of_last)
			fail_msg("%s: median %f, not %f", one->what, peers[one->count - 1].median,
				 one->median_of_last);
	}
}

static void none_is_judged(void **state)
{
	(void)state;
	osp_speed_judge(NULL, 0, &tolerance, NULL, NULL);
}

static void more_than_there_is_room_for(void **state)
{
	static struct osp_speed_sample samples[OSP_SPEED_SAMPLES_MAX + 1];
	static enum osp_speed_verdict verdicts[OSP_SPEED_SAMPLES_MAX + 1];
	static struct osp_speed_peers peers[OSP_SPEED_SAMPLES_MAX + 1];

	(void)state;
	for (size_t i = 0; i <= OSP_SPEED_SAMPLES_MAX; i++)
		samples[i] = (struct osp_speed_sample){.value = i ? 100 : 50, .judged = true};
	osp_speed_judge(samples, OSP_SPEED_SAMPLES_MAX + 1, &tolerance, verdicts, peers);
	assert_int_equal(verdicts[0], FAR);
	assert_int_equal(verdicts[OSP_SPEED_SAMPLES_MAX - 1], WELL);
	assert_int_equal(verdicts[OSP_SPEED_SAMPLES_MAX], ALONE);
}

static void one_more(void **state)
{
	const struct osp_speed_peers peers = {.median = 100, .count = 7}, none = {.count = 0};
	const struct osp_speed_tolerance not_compared = {.behind = 0};
	struct osp_speed_sample sample = {.value = 89, .judged = true};

	(void)state;
	assert_int_equal(osp_speed_judge_one(&sample, &peers, &tolerance), BEHIND);
	assert_int_equal(osp_speed_judge_one(&sample, &peers, &not_compared), ALONE);
	sample.value = 91;
	assert_int_equal(osp_speed_judge_one(&sample, &peers, &tolerance), WELL);
	sample.least = 95;
	assert_int_equal(osp_speed_judge_one(&sample, &peers, &tolerance), LIMIT);
	sample.least = 0;
	assert_int_equal(osp_speed_judge_one(&sample, &none, &tolerance), ALONE);
}

/* What three measurements come to. */
static void rounds_are_concluded(void **state)
{
	static const struct {
		enum osp_speed_verdict rounds[3], concluded;
	} all[] = {
		{{WELL, WELL, WELL}, WELL},
		{{ALONE, ALONE, ALONE}, ALONE},
		{{IMPOSSIBLE, WELL, WELL}, IMPOSSIBLE},
		{{BEHIND, WELL, WELL}, WELL},
		{{BEHIND, BEHIND, WELL}, BEHIND},
		{{FAR, WELL, WELL}, WELL},
		{{FAR, BEHIND, WELL}, BEHIND},
		{{FAR, BEHIND, FAR}, FAR},
		{{BEHIND, LIMIT, BEHIND}, BEHIND},
		{{LIMIT, WELL, FAR}, LIMIT},
		{{LIMIT, LIMIT, WELL}, LIMIT},
		{{LIMIT, IMPOSSIBLE, IMPOSSIBLE}, WELL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct osp_speed_rounds rounds = {.count = 0};

		for (size_t n = 0; n < 3; n++)
			osp_speed_count(&rounds, all[i].rounds[n]);
		if (osp_speed_conclude(&rounds) != all[i].concluded)
			fail_msg("%zu: %d, not %d", i, osp_speed_conclude(&rounds),
				 all[i].concluded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speeds_are_judged),	       cmocka_unit_test(none_is_judged),
		cmocka_unit_test(more_than_there_is_room_for), cmocka_unit_test(one_more),
		cmocka_unit_test(rounds_are_concluded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
