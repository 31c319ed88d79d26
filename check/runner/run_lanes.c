/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_lanes.c - children that run one check after the other, and how each of them ends */
#include "check/runner/run_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/hang_watch.h"
#include "check/base/process.h"
#include "check/base/root.h"
#include "check/runner/site_checks.h"
#include "lib/base/confine.h"
#include "lib/base/text.h"

/*
 * How long to wait for a killed child. A process gives its GPU back as it ends, which takes a
 * while. Until then NVML counts it among the GPU's programs, where it would look like a stranger's
 * program that excuses a slow GPU, and it keeps the next process from an exclusive GPU (by its
 * compute mode).
 */
#define ENDING_MS 5000

/* The kinds of message that a child writes. */
enum reporting { REPORTS_RESULT, REPORTS_SPEED, REPORTS_FIGURE, REPORTS_DONE };

struct message {
	enum reporting kind;
	bool spoilt; /* this process cannot run another check: it ends when this one is done */
	union {
		struct osp_result result;
		struct osp_speed speed;
		struct osp_figure figure;
	} reported;
};

/* The checks of one group, or of one GPU, run one after the other in one child. */
struct osp_lane {
	const struct osp_unit *unit; /* NULL: the lane belongs to no single GPU */
	unsigned int order;
	size_t *queue; /* indices of outcomes */
	size_t count;
	size_t next;  /* index of the current check */
	pid_t child;  /* 0: none */
	pid_t ending; /* the child before it, killed; 0: that has ended, or there was none */
	int answer;
	uint64_t begun_ms;
	uint64_t until_ms;
	unsigned int limit_ms;	     /* how long a try of the current check may take */
	unsigned int spent_ms;	     /* time on the current check, in all tries */
	bool confirming;	     /* the child before this one hung in the same check */
	bool repeating;		     /* the child before this one reported something as `twice` */
	struct osp_hang_start start; /* the start of this check in this child */
	struct osp_hang_signs signs; /* the signs of both tries */
	char buffer[sizeof(struct message)];
	size_t buffered;
	struct message *reported; /* messages of the current try */
	size_t reported_count;
};

static struct osp_outcome *current(struct osp_runner *runner, const struct osp_lane *lane)
{
	return &runner->run->outcomes[lane->queue[lane->next]];
}

static unsigned int slice_ms(const struct osp_runner *runner, const struct osp_check *check)
{
	return (unsigned int)((uint64_t)runner->context->load_ms * check->share / 100);
}

/* --- in the child ----------------------------------------------------------------------------- */

/* Sends a message. `reported` is what the check reported, of the union's member for `kind`; NULL:
 * the check is done. */
static void send_message(struct osp_check_context *context, enum reporting kind,
			 const void *reported, size_t reported_bytes)
{
	struct message message;

	memset(&message, 0, sizeof(message)); /* its gaps are written, too */
	message.kind = kind;
	message.spoilt = context->spoilt;
	if (reported)
		memcpy(&message.reported, reported, reported_bytes);
	if (!osp_write_all(*(int *)context->reporter, &message, sizeof(message)))
		_exit(1);
}

/* Sends a result. A failure of a check that had no file or memory left to read what it needs is an
 * error: what it did not see may be there. */
static void send_result(struct osp_check_context *context, const struct osp_result *result)
{
	struct osp_result reported = *result;
	int error;
	const char *path = osp_root_short(&error);

	if (path && reported.verdict == OSP_VERDICT_FAIL) {
		reported.verdict = OSP_VERDICT_ERROR;
		reported.cure = OSP_CURE_NONE;
		snprintf(reported.value, sizeof(reported.value), "not read");
		snprintf(reported.why, sizeof(reported.why), "%.160s: %s", path, strerror(error));
		*reported.limit = *reported.source = '\0';
	}
	send_message(context, REPORTS_RESULT, &reported, sizeof(reported));
}

static void send_speed(struct osp_check_context *context, const struct osp_speed *speed)
{
	send_message(context, REPORTS_SPEED, speed, sizeof(*speed));
}

static void send_figure(struct osp_check_context *context, const struct osp_figure *figure)
{
	send_message(context, REPORTS_FIGURE, figure, sizeof(*figure));
}

/*
 * Confines the child, so that a check that was taken over by what a user wrote (log lines, names of
 * files and mounts) can change nothing as root. NVIDIA's libraries start programs and open their
 * devices for writing, and a setuid one (nvidia-modprobe) makes the devices for a user who checks a
 * node, so children that use them are confined less. A site's own program is not confined.
 */
static void confine(enum osp_check_group group)
{
	if (group == OSP_GROUP_HOST || group == OSP_GROUP_NETWORK || group == OSP_GROUP_MOUNTS)
		(void)osp_confine_from_changes();
	else if (group != OSP_GROUP_SITE && geteuid() == 0)
		(void)osp_confine_from_ruling();
}

static void run_lane(struct osp_runner *runner, struct osp_lane *lane)
{
	static const struct rlimit no_core = {0, 0};
	struct osp_check_context *context = runner->context;

	setrlimit(RLIMIT_CORE, &no_core);
	context->report = send_result;
	context->report_speed = send_speed;
	context->report_figure = send_figure;
	context->reporter = &lane->answer;
	context->unit = lane->unit;
	confine(current(runner, lane)->check->group);
	for (; lane->next < lane->count && !context->spoilt; lane->next++) {
		const struct osp_check *check = current(runner, lane)->check;

		context->slice_ms = slice_ms(runner, check);
		context->library_kernels = check->library_kernels;
		context->check = check;
		osp_root_short_forget();
		check->run(context);
		send_message(context, REPORTS_DONE, NULL, 0);
	}
	_exit(0);
}

/* --- results ---------------------------------------------------------------------------------- */

static int keep_own(struct osp_runner *runner, struct osp_lane *lane, enum osp_verdict verdict,
		    enum osp_cure cure, const char *value, const char *why)
{
	return osp_outcome_own(runner->context, current(runner, lane), verdict, cure, lane->unit,
			       lane->order, value, why, runner->error);
}

/* Keeps one message. In another round for slow speeds only speeds and failures are kept. */
static int keep_message(struct osp_runner *runner, struct osp_lane *lane, struct message *message)
{
	struct osp_outcome *outcome = current(runner, lane);
	size_t index = lane->queue[lane->next];

	if (message->kind == REPORTS_FIGURE)
		return runner->again ? 0
				     : osp_outcome_add_figure(outcome, &message->reported.figure,
							      runner->error);
	if (message->kind == REPORTS_SPEED) {
		message->reported.speed.order = lane->order;
		if (!runner->again)
			return osp_outcome_add_speed(outcome, &message->reported.speed,
						     runner->error);
		osp_speeds_again(runner->context, outcome, runner->rounds[index],
				 &message->reported.speed);
		return 0;
	}
	message->reported.result.order = lane->order;
	if (runner->again && message->reported.result.verdict <= OSP_VERDICT_PASS)
		return 0;
	return osp_outcome_add(runner->context, outcome, &message->reported.result, runner->error);
}

/* Keeps the messages of the current try. A GPU that fails is kept out of the checks of all GPUs. */
static int keep_reported(struct osp_runner *runner, struct osp_lane *lane,
			 enum osp_verdict *gravest)
{
	*gravest = OSP_VERDICT_SKIP;
	for (size_t i = 0; i < lane->reported_count; i++) {
		struct message *message = &lane->reported[i];

		if (message->kind == REPORTS_RESULT && message->reported.result.verdict > *gravest)
			*gravest = message->reported.result.verdict;
		if (lane->unit && *gravest == OSP_VERDICT_FAIL)
			runner->broken[lane->order] = true;
		if (keep_message(runner, lane, message))
			return -1;
	}
	lane->reported_count = 0;
	return 0;
}

/* --- lanes ------------------------------------------------------------------------------------ */

static unsigned int deadline_ms(const struct osp_runner *runner, const struct osp_check *check)
{
	unsigned int most_ms = runner->context->deadline_most_ms;
	unsigned int own_ms = check->deadline_ms + slice_ms(runner, check);

	if (check->group == OSP_GROUP_SITE) /* it sees to its program's deadline itself */
		return own_ms + osp_site_check_ms(runner->context);
	if (check->group == OSP_GROUP_GPU || check->group == OSP_GROUP_ALL_GPUS)
		own_ms += (unsigned int)runner->start.gpus.count * OSP_DEADLINE_GPU_MS;
	if (check->group == OSP_GROUP_EACH_GPU) /* contexts are made one after the other */
		own_ms += (unsigned int)runner->context->unit_count * OSP_DEADLINE_GPU_MS;
	return most_ms && most_ms < own_ms ? most_ms : own_ms;
}

#define BUDGET_MARGIN_MS 1000 /* kept of a budget to report that a check hung twice */

/*
 * Returns how long the try that begins may take. A hang is confirmed by a second try, so if what is
 * left of the budget holds no two whole tries, each gets half of it, unless that is too short to
 * judge by.
 */
static unsigned int limit_of_try_ms(struct osp_runner *runner, const struct osp_lane *lane)
{
	const struct osp_check *check = current(runner, lane)->check;
	unsigned int own_ms = deadline_ms(runner, check);
	uint64_t now_ms = osp_now_ms(), half_ms;

	if (lane->confirming)
		return lane->limit_ms;
	if (!runner->budget_end_ms || !check->deadline_least_ms ||
	    runner->budget_end_ms < now_ms + BUDGET_MARGIN_MS)
		return own_ms;
	half_ms = (runner->budget_end_ms - now_ms - BUDGET_MARGIN_MS) / 2;
	return half_ms < own_ms && half_ms >= check->deadline_least_ms ? (unsigned int)half_ms
								       : own_ms;
}

static bool asks_gpus(enum osp_check_group group)
{
	return group == OSP_GROUP_GPU || group == OSP_GROUP_EACH_GPU || group == OSP_GROUP_ALL_GPUS;
}

/*
 * Looks for a user's process. Any process can keep every other from the driver: while it page-locks
 * tens of GiB, the rest wait for the driver's locks, in CUDA and in NVML (NVIDIA/TensorRT-LLM
 * 17429). A process that was seen before the checks began, or beside a hang, may have been there
 * all the time. Whether it has a GPU open does not matter: a thread can have its own files, or
 * close one while it waits in the driver.
 */
static void look_for_users(struct osp_runner *runner)
{
	if (!*runner->users &&
	    !osp_process_of_others(runner->context->root, runner->users, sizeof(runner->users)))
		*runner->users = '\0';
}

static void begin_check(struct osp_runner *runner, struct osp_lane *lane)
{
	lane->begun_ms = osp_now_ms();
	lane->limit_ms = limit_of_try_ms(runner, lane);
	lane->until_ms = lane->begun_ms + lane->limit_ms;
	lane->start = osp_hang_begin(runner->context->root, lane->child);
	lane->reported_count = 0;
}

/* Returns until when to wait for the killed child: a moment, in which it should free its GPU, but
 * never past the budget. */
static uint64_t ending_until_ms(const struct osp_runner *runner)
{
	uint64_t until_ms = osp_now_ms() + ENDING_MS;

	return runner->budget_end_ms && runner->budget_end_ms < until_ms ? runner->budget_end_ms
									 : until_ms;
}

static void wait_for_end(const struct osp_runner *runner, struct osp_lane *lane)
{
	if (lane->ending)
		osp_child_wait(lane->ending, ending_until_ms(runner));
	lane->ending = 0;
}

static int start_child(struct osp_runner *runner, struct osp_lane *lane)
{
	wait_for_end(runner, lane);
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

static void end_child(struct osp_lane *lane)
{
	close(lane->answer);
	kill(lane->child, SIGKILL);
	lane->ending = lane->child;
	lane->child = 0;
}

/* Kills a child that hangs, and may leave it behind. */
static void drop_child(struct osp_lane *lane)
{
	close(lane->answer);
	osp_child_drop(lane->child);
	lane->child = 0;
}

/* Adds the check's time. GPUs are checked side by side, so the longest time counts. */
static void add_time(struct osp_runner *runner, struct osp_lane *lane)
{
	struct osp_outcome *outcome = current(runner, lane);
	unsigned int all_ms;

	lane->spent_ms += (unsigned int)(osp_now_ms() - lane->begun_ms);
	all_ms = runner->before_ms[lane->queue[lane->next]] + lane->spent_ms;
	if (all_ms > outcome->time_ms)
		outcome->time_ms = all_ms;
}

/* Continues after the current check, with a new child if there is none. */
static int go_on(struct osp_runner *runner, struct osp_lane *lane)
{
	lane->confirming = false;
	lane->repeating = false;
	lane->spent_ms = 0;
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

static int skip_rest(struct osp_runner *runner, struct osp_lane *lane, const char *broke)
{
	const char *broken = current(runner, lane)->check->name;
	char why[OSP_WHY_BYTES];

	if (lane->child)
		end_child(lane);
	if (lane->unit)
		runner->broken[lane->order] = true;
	snprintf(why, sizeof(why), "%s %s, and this needs what it asks", broken, broke);
	while (++lane->next < lane->count)
		if (keep_own(runner, lane, OSP_VERDICT_SKIP, OSP_CURE_NONE, "", why))
			return -1;
	return 0;
}

/* Returns whether the current try reported anything as `twice`. */
static bool reports_twice(const struct osp_lane *lane)
{
	for (size_t i = 0; i < lane->reported_count; i++)
		if (lane->reported[i].kind == REPORTS_RESULT &&
		    lane->reported[i].reported.result.twice)
			return true;
	return false;
}

/* Judges the second try. What it reports too is a fault; what it does not report was a single
 * error. */
static int judge_twice(struct osp_runner *runner, struct osp_lane *lane)
{
	bool confirmed = false;

	for (size_t i = 0; i < lane->reported_count; i++) {
		struct osp_result *result = &lane->reported[i].reported.result;
		size_t length;

		if (lane->reported[i].kind != REPORTS_RESULT || !result->twice)
			continue;
		length = strlen(result->why);
		result->verdict = OSP_VERDICT_FAIL;
		snprintf(result->why + length, sizeof(result->why) - length,
			 ", in two processes one after the other");
		confirmed = true;
	}
	if (confirmed)
		return 0;
	return keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "broke once",
			"our kernel broke; in a second process it did not");
}

static int check_done(struct osp_runner *runner, struct osp_lane *lane, bool spoilt)
{
	struct osp_outcome *outcome = current(runner, lane);
	bool nothing = !lane->reported_count;
	enum osp_verdict gravest;

	add_time(runner, lane);
	if (!lane->repeating && reports_twice(lane)) {
		lane->repeating = true;
		end_child(lane);
		return start_child(runner, lane); /* the reports of this try are forgotten */
	}
	if (lane->repeating && judge_twice(runner, lane))
		return -1;
	if (keep_reported(runner, lane, &gravest))
		return -1;
	if (nothing && keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "",
				"the check reported nothing"))
		return -1;
	if (lane->confirming && keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE,
					 "hung once", "did not answer at first; a second try did"))
		return -1;
	if (spoilt)
		end_child(lane);
	if (lane->unit && outcome->check->basic && gravest != OSP_VERDICT_PASS)
		return skip_rest(runner, lane, "did not pass");
	return go_on(runner, lane);
}

/* Ends a child whose check is not done. */
static int check_broke(struct osp_runner *runner, struct osp_lane *lane, const char *value,
		       const char *why)
{
	bool basic = current(runner, lane)->check->basic;
	enum osp_verdict gravest;

	add_time(runner, lane);
	end_child(lane);
	if (keep_reported(runner, lane, &gravest) ||
	    keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, value, why))
		return -1;
	return basic ? skip_rest(runner, lane, "does not end") : go_on(runner, lane);
}

static int check_crashed(struct osp_runner *runner, struct osp_lane *lane)
{
	return check_broke(
		runner, lane, "crashed",
		"the check's process ended before its time: a fault of the check, of a library "
		"or of memory");
}

/* Keeps the result of a check that hung twice. The node is at fault only if nothing else kept the
 * child from answering: load, writing, the use of memory and locks of the driver can be a user's
 * doing. */
static int keep_hung(struct osp_runner *runner, struct osp_lane *lane)
{
	unsigned int limit_ms = lane->limit_ms;
	enum osp_hang hang = osp_hang_judge(&lane->signs, limit_ms);
	char why[OSP_WHY_BYTES], words[OSP_WHY_BYTES - 64];
	const char *value;

	osp_hang_words(hang, &lane->signs, &value, words, sizeof(words));
	if (hang != OSP_HANG_STUCK) {
		snprintf(why, sizeof(why), "no answer within %u ms, twice, %s", limit_ms, words);
		return keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, value, why);
	}
	if (*runner->users && asks_gpus(current(runner, lane)->check->group)) {
		snprintf(why, sizeof(why),
			 "no answer within %u ms, twice, but %s: a program can keep others from "
			 "the driver",
			 limit_ms, runner->users);
		return keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "hangs", why);
	}
	if (runner->start.unsure && current(runner, lane)->check->group == OSP_GROUP_GPU) {
		snprintf(why, sizeof(why),
			 "no answer within %u ms, twice; unless persistence is on, the driver may "
			 "be starting GPUs, and it is not known to be",
			 limit_ms);
		return keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "hangs", why);
	}
	snprintf(why, sizeof(why),
		 "no answer within %u ms, twice; the process may be stuck in the kernel", limit_ms);
	return keep_own(runner, lane, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "hangs", why);
}

static int check_hung(struct osp_runner *runner, struct osp_lane *lane)
{
	const struct osp_check *check = current(runner, lane)->check;
	enum osp_verdict gravest;

	add_time(runner, lane);
	osp_hang_add(runner->context->root, lane->child, &lane->start, !lane->confirming,
		     &lane->signs);
	look_for_users(runner); /* while the check hangs */
	drop_child(lane);
	if (!lane->confirming) {
		lane->confirming = true;
		return start_child(runner, lane); /* the reports of this try are forgotten */
	}
	if (keep_reported(runner, lane, &gravest) || keep_hung(runner, lane))
		return -1;
	return check->basic ? skip_rest(runner, lane, "does not end") : go_on(runner, lane);
}

static int remember(struct osp_runner *runner, struct osp_lane *lane, const struct message *message)
{
	struct message *reported;

	if (lane->reported_count == OSP_RESULTS_MAX + OSP_FIGURES_MAX)
		return 0;
	reported = realloc(lane->reported, (lane->reported_count + 1) * sizeof(*reported));
	if (!reported)
		return osp_error_set(runner->error, "out of memory");
	lane->reported = reported;
	reported[lane->reported_count++] = *message;
	return 0;
}

/* Returns whether a check writes such a message. */
static bool is_sound(struct message *message)
{
	if (!osp_valid_flag(&message->spoilt))
		return false;
	switch ((unsigned int)message->kind) {
	case REPORTS_RESULT:
		return osp_valid_result(&message->reported.result);
	case REPORTS_SPEED:
		return osp_valid_speed(&message->reported.speed);
	case REPORTS_FIGURE:
		return osp_valid_figure(&message->reported.figure);
	default:
		return message->kind == REPORTS_DONE;
	}
}

/* Takes what the child has written, and acts on whole messages. */
static int take_messages(struct osp_runner *runner, struct osp_lane *lane)
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
	if (!is_sound(&message))
		return check_broke(runner, lane, "nonsense",
				   "the check's process wrote what no check writes: a fault of the "
				   "check, of a library or of memory, or somebody else's words");
	if (message.kind == REPORTS_DONE)
		return check_done(runner, lane, message.spoilt);
	return remember(runner, lane, &message);
}

/* --- all lanes -------------------------------------------------------------------------------- */

/* Returns the milliseconds until the next deadline. */
static int time_left(const struct osp_runner *runner)
{
	uint64_t now_ms = osp_now_ms(), until_ms = UINT64_MAX;

	if (runner->budget_end_ms)
		until_ms = runner->budget_end_ms;
	for (size_t i = 0; i < runner->lane_count; i++)
		if (runner->lanes[i].child && runner->lanes[i].until_ms < until_ms)
			until_ms = runner->lanes[i].until_ms;
	if (until_ms <= now_ms)
		return 0;
	return until_ms - now_ms > 60000 ? 60000 : (int)(until_ms - now_ms);
}

/* Returns whether the lane's child has written something. The look of this round is old if another
 * lane's child took long to end. */
static bool has_reported(const struct osp_lane *lane)
{
	struct pollfd wait = {.fd = lane->answer, .events = POLLIN};

	return poll(&wait, 1, 0) > 0;
}

/* Runs one round: waits, then serves each lane. Returns 1 while any lane runs, 0 at the end, -1 on
 * an error. */
static int serve(struct osp_runner *runner)
{
	struct pollfd *waits = runner->waits;
	bool any = false;

	for (size_t i = 0; i < runner->lane_count; i++) {
		waits[i].fd = runner->lanes[i].child ? runner->lanes[i].answer : -1;
		waits[i].events = POLLIN;
		waits[i].revents = 0;
		any = any || runner->lanes[i].child;
	}
	if (!any)
		return 0;
	if (poll(waits, runner->lane_count, time_left(runner)) < 0 && errno != EINTR)
		return osp_error_set(runner->error, "poll: %s", strerror(errno));
	for (size_t i = 0; i < runner->lane_count; i++) {
		struct osp_lane *lane = &runner->lanes[i];

		if (!lane->child)
			continue;
		if (waits[i].revents || has_reported(lane) ? take_messages(runner, lane)
		    : osp_now_ms() >= lane->until_ms	   ? check_hung(runner, lane)
							   : 0)
			return -1;
	}
	return 1;
}

bool osp_budget_over(const struct osp_runner *runner)
{
	return runner->budget_end_ms && osp_now_ms() >= runner->budget_end_ms;
}

static int run_out_of_budget(struct osp_runner *runner)
{
	enum osp_verdict gravest;

	for (size_t i = 0; i < runner->lane_count; i++) {
		struct osp_lane *lane = &runner->lanes[i];

		if (lane->child) {
			add_time(runner, lane);
			end_child(lane);
			if (keep_reported(runner, lane, &gravest))
				return -1;
		}
		for (; lane->next < lane->count; lane->next++)
			if (keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "no time",
				     "the budget ended before the check did"))
				return -1;
	}
	return 0;
}

static void wait_for_ends(const struct osp_runner *runner)
{
	uint64_t until_ms = ending_until_ms(runner);

	for (size_t i = 0; i < runner->lane_count; i++)
		if (runner->lanes[i].ending)
			osp_child_wait(runner->lanes[i].ending, until_ms);
}

static int run_lanes(struct osp_runner *runner)
{
	int state = 1;

	look_for_users(runner);
	for (size_t i = 0; i < runner->lane_count && state > 0; i++)
		if (!osp_budget_over(runner) && start_child(runner, &runner->lanes[i]))
			state = -1;
	while (state > 0)
		state = osp_budget_over(runner) ? run_out_of_budget(runner) : serve(runner);
	for (size_t i = 0; i < runner->lane_count; i++)
		if (runner->lanes[i].child)
			end_child(&runner->lanes[i]);
	wait_for_ends(runner);
	for (size_t i = 0; i < runner->lane_count; i++) {
		free(runner->lanes[i].queue);
		free(runner->lanes[i].reported);
	}
	free(runner->lanes);
	free(runner->waits);
	runner->lanes = NULL;
	runner->waits = NULL;
	runner->lane_count = 0;
	return state;
}

/* --- for the runner --------------------------------------------------------------------------- */

/* Returns whether the check of an outcome has a slow speed on this GPU (NULL: on any). */
static bool slow_on(const struct osp_runner *runner, size_t outcome, const struct osp_unit *unit,
		    unsigned int order)
{
	const struct osp_outcome *of = &runner->run->outcomes[outcome];

	for (size_t i = 0; i < of->speed_count; i++)
		if (osp_speed_is_slow(&runner->rounds[outcome][i]) &&
		    (!unit || of->speeds[i].order == order))
			return true;
	return false;
}

int osp_lanes_add(struct osp_runner *runner, enum osp_check_group group,
		  const struct osp_unit *unit, unsigned int order)
{
	struct osp_run *run = runner->run;
	struct osp_lane *lane, *lanes;

	lanes = realloc(runner->lanes, (runner->lane_count + 1) * sizeof(*lanes));
	if (!lanes)
		return osp_error_set(runner->error, "out of memory");
	runner->lanes = lanes;
	lane = &lanes[runner->lane_count];
	memset(lane, 0, sizeof(*lane));
	lane->unit = unit;
	lane->order = order;
	lane->queue = calloc(run->count ? run->count : 1, sizeof(*lane->queue));
	if (!lane->queue)
		return osp_error_set(runner->error, "out of memory");
	for (size_t i = 0; i < run->count; i++)
		if (run->outcomes[i].check->group == group &&
		    (!runner->again || slow_on(runner, i, unit, order)))
			lane->queue[lane->count++] = i;
	if (lane->count)
		runner->lane_count++;
	else
		free(lane->queue);
	return 0;
}

int osp_lanes_run(struct osp_runner *runner)
{
	for (size_t i = 0; i < runner->run->count; i++)
		runner->before_ms[i] = runner->run->outcomes[i].time_ms;
	if (!runner->lane_count) { /* there was room for lanes, but none was added */
		free(runner->lanes);
		runner->lanes = NULL;
		return 0;
	}
	runner->waits = calloc(runner->lane_count, sizeof(*runner->waits));
	if (!runner->waits)
		return osp_error_set(runner->error, "out of memory");
	return run_lanes(runner);
}
