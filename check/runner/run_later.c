/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_later.c - a second look at faults that may have been temporary */
#include "check/runner/run_private.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LATER_MS	 60000
#define LATER_OF_TEST_MS 50
#define LOOK_MS		 30000

struct look {
	struct osp_check_context *context;
	const struct osp_check *check;
};

static int look(const void *argument)
{
	const struct look *look = argument;

	return look->check->still_ill(look->context);
}

static bool waits(const struct osp_outcome *outcome)
{
	for (size_t i = 0; i < outcome->result_count; i++)
		if (outcome->results[i].later)
			return true;
	return false;
}

/* Returns whether the node has had time to set itself up since boot. */
static bool had_its_time(const struct osp_runner *runner)
{
	const struct osp_limit *grace =
		osp_check_limit(runner->context, OSP_LIMIT_FABRIC_GRACE_S, NULL);

	return !grace || runner->context->uptime_s > (uint64_t)grace->value;
}

/* Waits before the second look. Returns false if the budget does not last that long. */
static bool pause_before(const struct osp_runner *runner)
{
	unsigned int pause_ms = runner->context->deadline_most_ms ? LATER_OF_TEST_MS : LATER_MS;
	struct timespec pause = {.tv_sec = pause_ms / 1000,
				 .tv_nsec = (long)(pause_ms % 1000) * 1000000};

	if (runner->budget_end_ms && osp_now_ms() + pause_ms >= runner->budget_end_ms)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Looks again, in a child. Returns 1 if the fault is still there, 0 if not or unknown. */
static int look_again(const struct osp_runner *runner, const struct osp_check *check)
{
	const struct look what = {runner->context, check};
	struct osp_guard guard;
	int answer = 0;

	if (osp_guard_start(&guard, look, &what) ||
	    osp_guard_collect(&guard, osp_now_ms() + LOOK_MS, &answer) != 1)
		return 0;
	return answer;
}

static void add_words(struct osp_result *result, const char *words)
{
	size_t length = strlen(result->why);

	snprintf(result->why + length, sizeof(result->why) - length, "%s", words);
}

static void judge(struct osp_outcome *outcome, enum osp_verdict verdict, const char *words)
{
	for (size_t i = 0; i < outcome->result_count; i++) {
		struct osp_result *result = &outcome->results[i];

		if (!result->later)
			continue;
		result->verdict = verdict < outcome->check->worst ? verdict : outcome->check->worst;
		add_words(result, words);
		if (result->verdict > outcome->verdict)
			outcome->verdict = result->verdict;
	}
}

void osp_look_later(struct osp_runner *runner)
{
	bool paused = false;

	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (!outcome->check->still_ill || !waits(outcome))
			continue;
		if (!had_its_time(runner)) {
			judge(outcome, OSP_VERDICT_ERROR,
			      " (booted not long ago: it may still come)");
			continue;
		}
		if (!paused && !pause_before(runner)) {
			judge(outcome, OSP_VERDICT_ERROR, " (no time for a second look)");
			continue;
		}
		paused = true;
		if (look_again(runner, outcome->check))
			judge(outcome, OSP_VERDICT_FAIL, "; a minute later too");
		else
			judge(outcome, OSP_VERDICT_ERROR, "; a minute later no longer");
	}
}
