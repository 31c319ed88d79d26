/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runner.c - runs checks in children and lives through what they do */
#include "check/check.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check/child.h"

#define RESULTS_MAX 256 /* of one check; a table of 64 GPUs fits */

/* What a child writes: a result of the check it runs, or that it is done with it. */
struct message {
	bool done;
	struct osp_result result;
};

/* The checks of one group, run by one child after the other. */
struct lane {
	size_t *queue; /* indices of outcomes */
	size_t count;
	size_t next; /* the one being run */
	pid_t child; /* 0: none */
	int answer;
	uint64_t begun_ms;
	uint64_t until_ms;
	bool confirming; /* the child before this one hung at the same check */
	char buffer[sizeof(struct message)];
	size_t buffered;
};

struct runner {
	struct osp_check_context *context;
	struct osp_run *run;
	struct lane lanes[OSP_GROUP_COUNT];
	uint64_t budget_end_ms; /* 0: none */
	struct osp_error *error;
};

static struct osp_outcome *current(struct runner *runner, const struct lane *lane)
{
	return &runner->run->outcomes[lane->queue[lane->next]];
}

/* --- in the child ----------------------------------------------------------------------------- */

static void tell_parent(struct osp_check_context *context, const struct osp_result *result)
{
	struct message message;

	memset(&message, 0, sizeof(message)); /* its gaps are written too */
	message.result = *result;
	if (!osp_write_all(*(int *)context->teller, &message, sizeof(message)))
		_exit(1);
}

static void run_lane(struct runner *runner, struct lane *lane)
{
	static const struct rlimit no_core = {0, 0};
	struct message done;

	memset(&done, 0, sizeof(done));
	done.done = true;
	setrlimit(RLIMIT_CORE, &no_core);
	runner->context->tell = tell_parent;
	runner->context->teller = &lane->answer;
	for (; lane->next < lane->count; lane->next++) {
		current(runner, lane)->check->run(runner->context);
		if (!osp_write_all(lane->answer, &done, sizeof(done)))
			_exit(1);
	}
	_exit(0);
}

/* --- results ---------------------------------------------------------------------------------- */

/* A check may not say worse than it is allowed to, and what is not there yet is no fault. */
static void judge(const struct runner *runner, const struct osp_check *check,
		  struct osp_result *result)
{
	const struct osp_limit *settle =
		osp_check_limit(runner->context, OSP_LIMIT_BOOT_SETTLE_S, NULL);
	size_t length = strlen(result->why);

	if (result->verdict != OSP_VERDICT_FAIL)
		return;
	if (check->worst < OSP_VERDICT_FAIL)
		result->verdict = check->worst;
	if (check->settles && settle && runner->context->uptime_s < (uint64_t)settle->value) {
		result->verdict = OSP_VERDICT_ERROR;
		snprintf(result->why + length, sizeof(result->why) - length,
			 " (booted %llu s ago: it may still come)",
			 (unsigned long long)runner->context->uptime_s);
	}
}

static int keep_result(struct runner *runner, struct osp_outcome *outcome, struct osp_result result)
{
	struct osp_result *results;

	if (outcome->result_count == RESULTS_MAX)
		return 0;
	results = realloc(outcome->results, (outcome->result_count + 1) * sizeof(*results));
	if (!results)
		return osp_error_set(runner->error, "out of memory");
	outcome->results = results;
	judge(runner, outcome->check, &result);
	results[outcome->result_count++] = result;
	if (result.verdict > outcome->verdict)
		outcome->verdict = result.verdict;
	return 0;
}

/* What the runner itself has to say of a check. */
static int keep_own(struct runner *runner, struct osp_outcome *outcome, enum osp_verdict verdict,
		    enum osp_cure cure, const char *value, const char *why)
{
	struct osp_result result = {.verdict = verdict, .cure = cure};

	snprintf(result.value, sizeof(result.value), "%s", value);
	snprintf(result.why, sizeof(result.why), "%s", why);
	return keep_result(runner, outcome, result);
}

/* --- lanes ------------------------------------------------------------------------------------ */

static unsigned int deadline_ms(const struct runner *runner, const struct osp_check *check)
{
	unsigned int most_ms = runner->context->deadline_most_ms;

	return most_ms && most_ms < check->deadline_ms ? most_ms : check->deadline_ms;
}

static void begin_check(struct runner *runner, struct lane *lane)
{
	lane->begun_ms = osp_now_ms();
	lane->until_ms = lane->begun_ms + deadline_ms(runner, current(runner, lane)->check);
}

static int start_child(struct runner *runner, struct lane *lane)
{
	lane->buffered = 0;
	lane->child = osp_child_start(&lane->answer);
	if (lane->child == 0)
		run_lane(runner, lane);
	if (lane->child < 0) {
		lane->child = 0;
		return osp_error_set(runner->error, "no child process: %s", strerror(errno));
	}
	begin_check(runner, lane);
	return 0;
}

static void end_child(struct lane *lane)
{
	close(lane->answer);
	osp_child_drop(lane->child);
	lane->child = 0;
}

static void add_time(struct runner *runner, struct lane *lane)
{
	current(runner, lane)->time_ms += (unsigned int)(osp_now_ms() - lane->begun_ms);
}

/* Goes on behind the current check, with a new child where there is none. */
static int go_on(struct runner *runner, struct lane *lane)
{
	lane->confirming = false;
	lane->next++;
	if (lane->next == lane->count) {
		if (lane->child)
			end_child(lane);
		return 0;
	}
	if (!lane->child)
		return start_child(runner, lane);
	begin_check(runner, lane);
	return 0;
}

static int check_done(struct runner *runner, struct lane *lane)
{
	struct osp_outcome *outcome = current(runner, lane);

	add_time(runner, lane);
	if (!outcome->result_count && keep_own(runner, outcome, OSP_VERDICT_ERROR, OSP_CURE_NONE,
					       "", "the check told nothing"))
		return -1;
	if (lane->confirming && keep_own(runner, outcome, OSP_VERDICT_ERROR, OSP_CURE_NONE,
					 "hung once", "did not answer at first; a second try did"))
		return -1;
	return go_on(runner, lane);
}

static int skip_rest(struct runner *runner, struct lane *lane)
{
	const char *broken = current(runner, lane)->check->name;
	char why[OSP_WHY_BYTES];

	snprintf(why, sizeof(why), "%s does not end, and this needs what it asks", broken);
	while (++lane->next < lane->count)
		if (keep_own(runner, current(runner, lane), OSP_VERDICT_SKIP, OSP_CURE_NONE, "",
			     why))
			return -1;
	return 0;
}

static int check_crashed(struct runner *runner, struct lane *lane)
{
	struct osp_outcome *outcome = current(runner, lane);

	add_time(runner, lane);
	end_child(lane);
	if (keep_own(
		    runner, outcome, OSP_VERDICT_ERROR, OSP_CURE_NONE, "crashed",
		    "the check's process ended before its time: a fault of the check, of a library "
		    "or of memory"))
		return -1;
	return outcome->check->basic ? skip_rest(runner, lane) : go_on(runner, lane);
}

static int check_hung(struct runner *runner, struct lane *lane)
{
	struct osp_outcome *outcome = current(runner, lane);
	char why[OSP_WHY_BYTES];

	add_time(runner, lane);
	end_child(lane);
	if (!lane->confirming) {
		lane->confirming = true;
		outcome->result_count = 0;
		outcome->verdict = OSP_VERDICT_SKIP;
		return start_child(runner, lane);
	}
	snprintf(why, sizeof(why),
		 "no answer within %u ms, twice; the process may be stuck in the kernel",
		 deadline_ms(runner, outcome->check));
	if (keep_own(runner, outcome, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "hangs", why))
		return -1;
	return outcome->check->basic ? skip_rest(runner, lane) : go_on(runner, lane);
}

/* Takes what the child has written; whole messages are acted on. */
static int take_messages(struct runner *runner, struct lane *lane)
{
	ssize_t count = read(lane->answer, lane->buffer + lane->buffered,
			     sizeof(lane->buffer) - lane->buffered);
	struct message message;

	if (count < 0)
		return errno == EINTR ? 0 : check_crashed(runner, lane);
	if (count == 0)
		return check_crashed(runner, lane);
	lane->buffered += (size_t)count;
	if (lane->buffered < sizeof(message))
		return 0;
	lane->buffered = 0;
	memcpy(&message, lane->buffer, sizeof(message));
	if (message.done)
		return check_done(runner, lane);
	return keep_result(runner, current(runner, lane), message.result);
}

/* --- all lanes -------------------------------------------------------------------------------- */

/* Milliseconds until the next deadline. */
static int time_left(const struct runner *runner)
{
	uint64_t now_ms = osp_now_ms(), until_ms = UINT64_MAX;

	if (runner->budget_end_ms)
		until_ms = runner->budget_end_ms;
	for (int i = 0; i < OSP_GROUP_COUNT; i++)
		if (runner->lanes[i].child && runner->lanes[i].until_ms < until_ms)
			until_ms = runner->lanes[i].until_ms;
	if (until_ms <= now_ms)
		return 0;
	return until_ms - now_ms > 60000 ? 60000 : (int)(until_ms - now_ms);
}

/* One round: waits, then serves each lane. 1 while any runs, 0 at the end, -1 on an error. */
static int serve(struct runner *runner)
{
	struct pollfd waits[OSP_GROUP_COUNT];
	bool any = false;

	for (int i = 0; i < OSP_GROUP_COUNT; i++) {
		waits[i].fd = runner->lanes[i].child ? runner->lanes[i].answer : -1;
		waits[i].events = POLLIN;
		waits[i].revents = 0;
		any = any || runner->lanes[i].child;
	}
	if (!any)
		return 0;
	if (poll(waits, OSP_GROUP_COUNT, time_left(runner)) < 0 && errno != EINTR)
		return osp_error_set(runner->error, "poll: %s", strerror(errno));
	for (int i = 0; i < OSP_GROUP_COUNT; i++) {
		struct lane *lane = &runner->lanes[i];

		if (!lane->child)
			continue;
		if (waits[i].revents		     ? take_messages(runner, lane)
		    : osp_now_ms() >= lane->until_ms ? check_hung(runner, lane)
						     : 0)
			return -1;
	}
	return 1;
}

static bool budget_over(const struct runner *runner)
{
	return runner->budget_end_ms && osp_now_ms() >= runner->budget_end_ms;
}

static int run_out_of_budget(struct runner *runner)
{
	for (int i = 0; i < OSP_GROUP_COUNT; i++) {
		struct lane *lane = &runner->lanes[i];

		if (lane->child) {
			add_time(runner, lane);
			end_child(lane);
		}
		for (; lane->next < lane->count; lane->next++)
			if (keep_own(runner, current(runner, lane), OSP_VERDICT_ERROR,
				     OSP_CURE_NONE, "no time",
				     "the budget ended before the check did"))
				return -1;
	}
	return 0;
}

static int start_lanes(struct runner *runner)
{
	struct osp_run *run = runner->run;

	for (size_t i = 0; i < run->count; i++) {
		struct lane *lane = &runner->lanes[run->outcomes[i].check->group];

		if (!lane->queue)
			lane->queue = calloc(run->count, sizeof(*lane->queue));
		if (!lane->queue)
			return osp_error_set(runner->error, "out of memory");
		lane->queue[lane->count++] = i;
	}
	for (int i = 0; i < OSP_GROUP_COUNT; i++)
		if (runner->lanes[i].count && start_child(runner, &runner->lanes[i]))
			return -1;
	return 0;
}

static int run_lanes(struct runner *runner)
{
	int state = start_lanes(runner) ? -1 : 1;

	while (state > 0)
		state = budget_over(runner) ? run_out_of_budget(runner) : serve(runner);
	for (int i = 0; i < OSP_GROUP_COUNT; i++) {
		if (runner->lanes[i].child)
			end_child(&runner->lanes[i]);
		free(runner->lanes[i].queue);
	}
	return state;
}

int osp_run_checks(struct osp_check_context *context, const struct osp_check *const *checks,
		   size_t count, unsigned int budget_ms, struct osp_run *run,
		   struct osp_error *error)
{
	uint64_t begun_ms = osp_now_ms();
	struct runner runner = {.context = context, .run = run, .error = error};
	int state;

	memset(run, 0, sizeof(*run));
	run->outcomes = calloc(count ? count : 1, sizeof(*run->outcomes));
	if (!run->outcomes)
		return osp_error_set(error, "out of memory");
	for (size_t i = 0; i < count; i++) {
		enum osp_check_mode mode =
			osp_thresholds_mode(context->thresholds, checks[i]->name);

		if (mode == OSP_CHECK_OFF)
			continue;
		run->outcomes[run->count].check = checks[i];
		run->outcomes[run->count++].mode = mode;
	}
	if (budget_ms)
		runner.budget_end_ms = begun_ms + budget_ms;
	state = run_lanes(&runner);
	run->time_ms = (unsigned int)(osp_now_ms() - begun_ms);
	return state;
}

void osp_run_free(struct osp_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		free(run->outcomes[i].results);
	free(run->outcomes);
	memset(run, 0, sizeof(*run));
}
