/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runner: what becomes of checks that pass, crash, hang, say too much or nothing. */
#define _GNU_SOURCE /* sched_setaffinity */

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "check/check.h"
#include "check/base/gpus.h"

static char mark[] = "/tmp/onespine-runner-XXXXXX"; /* gone once a check has hung once */

static void pass(struct osp_check_context *context)
{
	osp_result_pass(context, "well");
}

static void fails(struct osp_check_context *context)
{
	osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, "gpu3", "12 uncorrectable",
		       "> 0", "x", "bad\nthing");
}

static void fails_less(struct osp_check_context *context)
{
	osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, "gpu1", "7", NULL, NULL,
		       "less");
}

static void crash(struct osp_check_context *context)
{
	(void)context;
	raise(SIGKILL);
}

static void hang(struct osp_check_context *context)
{
	fails(context); /* what the first try said before does not count */
	for (;;)
		pause();
}

static void hang_once(struct osp_check_context *context)
{
	if (unlink(mark) == 0)
		for (;;)
			pause();
	osp_result_pass(context, "now");
}

/* Never done, because eight others want the same processor. */
static void starve(struct osp_check_context *context)
{
	cpu_set_t cpus, one;
	int cpu = 0;

	(void)context;
	sched_getaffinity(0, sizeof(cpus), &cpus);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 8; i++) {
		pid_t parent = getpid();

		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (getppid() == parent)
				;
			_exit(0);
		}
	}
	for (;;)
		;
}

static void say_nothing(struct osp_check_context *context)
{
	(void)context;
}

static void say_too_much(struct osp_check_context *context)
{
	for (int i = 0; i < 1000; i++)
		osp_result_pass(context, "%d", i);
}

/* Words without an end, and numbers that are none of their kind, as a check could write that was
 * taken over by what it read. */
static void lies(struct osp_check_context *context)
{
	struct osp_result result;

	memset(&result, 'x', sizeof(result));
	context->report(context, &result);
	osp_result_pass(context, "well");
}

static void lies_of_words(struct osp_check_context *context)
{
	struct osp_result result = {.verdict = OSP_VERDICT_ERROR, .twice = true};

	memset(result.why, 'x', sizeof(result.why));
	context->report(context, &result);
	osp_result_pass(context, "well");
}

static void lies_of_a_speed(struct osp_check_context *context)
{
	struct osp_speed speed = {.judged = true, .least = 12345, .physics = 12345};

	context->report_speed(context, &speed);
	osp_result_pass(context, "well");
}

static void lies_of_a_figure(struct osp_check_context *context)
{
	struct osp_figure figure = {.value = 1};

	memset(figure.name, 'x', sizeof(figure.name));
	context->report_figure(context, &figure);
	osp_result_pass(context, "well");
}

/* What a terminal would obey. */
static void says_it_loudly(struct osp_check_context *context)
{
	struct osp_result result = {
		.verdict = OSP_VERDICT_FAIL, .why = "loud\033[2J", .subject = "a\nb"};

	context->report(context, &result);
}

#define CHECK_IN(function, group_, worst_, deadline_ms_, ...)                                      \
	{                                                                                          \
		.name = #function, .group = group_, .worst = worst_, .deadline_ms = deadline_ms_,  \
		.run = function, __VA_ARGS__                                                       \
	}
/* One that answers has time enough on a machine that does much else; one that never does is waited
 * for. */
#define CHECK(function, ...) CHECK_IN(function, OSP_GROUP_GPU, OSP_VERDICT_FAIL, 30000, __VA_ARGS__)
#define HANGS(function, ...) CHECK_IN(function, OSP_GROUP_GPU, OSP_VERDICT_FAIL, 600, __VA_ARGS__)

static struct osp_thresholds *thresholds;
static char root[] =
	"/tmp/onespine-root-XXXXXX"; /* stands for /: where nobody waits for anything */

static void write_pressure(const char *what, unsigned long total_us)
{
	char path[256], other[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/pressure/%s", root, what);
	snprintf(other, sizeof(other), "%s.new", path);
	file = fopen(other, "w");
	assert_non_null(file);
	fprintf(file, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%lu\n", total_us);
	fclose(file);
	assert_int_equal(rename(other, path), 0);
}

static void run_checks(const struct osp_check *checks, size_t count, unsigned int budget_ms,
		       uint64_t uptime_s, struct osp_run *run)
{
	const struct osp_check *list[16];
	struct osp_check_context context;
	struct osp_error error = {0};

	osp_check_context_set(&context, root, thresholds);
	context.uptime_s = uptime_s;
	for (size_t i = 0; i < count; i++)
		list[i] = &checks[i];
	assert_int_equal(osp_run_checks(&context, list, count, budget_ms, run, &error), 0);
	assert_string_equal(error.text, "");
	assert_int_equal(run->count, count);
}

#define STARVED_TRIES 5

static bool is_reported(const struct osp_run *run, const char *value)
{
	for (size_t i = 0; i < run->count; i++)
		for (size_t n = 0; n < run->outcomes[i].result_count; n++)
			if (!strcmp(run->outcomes[i].results[n].value, value))
				return true;
	return false;
}

/*
 * Beside so much else no check is said to hang, rightly (lib/health/hang.h): says so and runs all
 * again with twice the time, a few times. A mark that was there is there again.
 */
static void run_unstarved(const struct osp_check *checks, size_t count, unsigned int budget_ms,
			  uint64_t uptime_s, struct osp_run *run)
{
	static struct osp_check again[16]; /* *run points there */
	bool marked = access(mark, F_OK) == 0;

	memcpy(again, checks, count * sizeof(*checks));
	run_checks(again, count, budget_ms, uptime_s, run);
	for (int tries = 1; tries < STARVED_TRIES && is_reported(run, "starved"); tries++) {
		print_message("starved of a processor: again with twice the time\n");
		osp_run_free(run);
		if (marked)
			close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		for (size_t i = 0; i < count; i++)
			again[i].deadline_ms *= 2;
		run_checks(again, count, budget_ms, uptime_s, run);
	}
}

static void each_ends_as_it_must(void **state)
{
	static const struct osp_check checks[] = {
		CHECK(pass, ),
		CHECK(crash, ),
		CHECK(fails, ),
		HANGS(hang, ),
		CHECK_IN(hang_once, OSP_GROUP_GPU, OSP_VERDICT_FAIL, 2000, ),
		CHECK(say_nothing, ),
		CHECK(say_too_much, ),
	};
	static const enum osp_verdict verdicts[] = {
		OSP_VERDICT_PASS,  OSP_VERDICT_ERROR, OSP_VERDICT_FAIL, OSP_VERDICT_FAIL,
		OSP_VERDICT_ERROR, OSP_VERDICT_ERROR, OSP_VERDICT_PASS,
	};
	struct osp_run run;
	char reason[256];

	(void)state;
	close(mkstemp(mark));
	run_unstarved(checks, 7, 0, 1000, &run);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(run.outcomes[i].verdict, verdicts[i]);
	assert_string_equal(run.outcomes[2].results[0].why, "bad?thing");
	assert_int_equal(run.outcomes[3].result_count, 2);
	assert_string_equal(run.outcomes[3].results[1].value, "hangs");
	assert_string_equal(run.outcomes[4].results[1].value, "hung once");
	assert_int_equal(run.outcomes[6].result_count, 512);
	assert_int_equal(osp_run_verdict(&run, false), OSP_VERDICT_FAIL);
	assert_string_equal(osp_run_reason(&run, reason, sizeof(reason)),
			    "onespine: gpu3 fails 12 uncorrectable > 0; replace");
	osp_run_free(&run);
}

static unsigned long press_us; /* by which the check's own child lets the pressure grow */

static void what_no_check_writes_is_an_error(void **state)
{
	static const struct osp_check checks[] = {
		CHECK(lies, ),
		CHECK(lies_of_words, ),
		CHECK(lies_of_a_speed, ),
		CHECK(lies_of_a_figure, ),
		CHECK(says_it_loudly, ),
		CHECK(pass, ),
	};
	struct osp_run run;

	(void)state;
	run_checks(checks, 6, 0, 1000, &run);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(run.outcomes[i].verdict, OSP_VERDICT_ERROR);
		assert_int_equal(run.outcomes[i].result_count, 1);
		assert_string_equal(run.outcomes[i].results[0].value, "nonsense");
	}
	assert_string_equal(run.outcomes[4].results[0].subject, "a?b");
	assert_string_equal(run.outcomes[4].results[0].why, "loud?[2J");
	assert_int_equal(run.outcomes[5].verdict, OSP_VERDICT_PASS);
	osp_run_free(&run);
}

static void hang_pressed(struct osp_check_context *context)
{
	char path[256];
	unsigned long total_us = 0;
	FILE *file;

	(void)context;
	usleep(100000);
	snprintf(path, sizeof(path), "%s/proc/pressure/io", root);
	file = fopen(path, "r");
	if (file && fscanf(file, "%*s %*s %*s %*s total=%lu", &total_us) == 1)
		write_pressure("io", total_us + press_us);
	for (;;)
		pause();
}

/* What a user's writing or use of memory holds up is no fault of the node; what nobody can tell
 * fails nothing either. */
static void held_up_is_not_stuck(void **state)
{
	static const struct osp_check checks[] = {HANGS(hang_pressed, )};
	char path[256], other[256];
	struct osp_run run;

	(void)state;
	write_pressure("io", 70000);
	press_us = 10000000;
	run_unstarved(checks, 1, 0, 1000, &run);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_ERROR);
	assert_string_equal(run.outcomes[0].results[0].value, "pressed");
	osp_run_free(&run);
	press_us = 0; /* it does not grow any more */
	run_unstarved(checks, 1, 0, 1000, &run);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_FAIL);
	osp_run_free(&run);
	snprintf(path, sizeof(path), "%s/proc/pressure/memory", root);
	snprintf(other, sizeof(other), "%s/memory", root);
	assert_int_equal(rename(path, other), 0);
	run_unstarved(checks, 1, 0, 1000, &run);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_ERROR);
	assert_non_null(strstr(run.outcomes[0].results[0].why, "neither /proc/pressure nor "));
	osp_run_free(&run);
	assert_int_equal(rename(other, path), 0);
}

/* Also from a check's child. */
static void add_a_user(void)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/4711", root);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/proc/4711/status", root);
	file = fopen(path, "w");
	if (file) {
		fputs("Name:\tpython\nUid:\t1002\t1002\t1002\t1002\n", file);
		fclose(file);
	}
}

/* A user's process comes while the check hangs, and stays. To stop is allowed in every group. */
static void hang_beside_a_user(struct osp_check_context *context)
{
	(void)context;
	add_a_user();
	kill(getpid(), SIGSTOP);
}

static void forget_the_user(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/proc/4711/status", root);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/proc/4711", root);
	assert_int_equal(rmdir(path), 0);
}

/* A program can keep all others from the driver, so no hang in it counts beside a user's process;
 * one in the kernel does. */
static void a_user_may_keep_others_from_the_driver(void **state)
{
	static const struct {
		enum osp_check_group group;
		enum osp_verdict verdict;
	} cases[] = {{OSP_GROUP_GPU, OSP_VERDICT_ERROR}, {OSP_GROUP_HOST, OSP_VERDICT_FAIL}};
	struct osp_check check =
		CHECK_IN(hang_beside_a_user, OSP_GROUP_GPU, OSP_VERDICT_FAIL, 600, );
	struct osp_run run;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check.group = cases[i].group;
		if (check.group == OSP_GROUP_HOST) /* its children change nothing */
			add_a_user();
		run_unstarved(&check, 1, 0, 1000, &run);
		assert_int_equal(run.outcomes[0].verdict, cases[i].verdict);
		assert_string_equal(run.outcomes[0].results[0].value, "hangs");
		if (cases[i].verdict == OSP_VERDICT_ERROR)
			assert_non_null(strstr(run.outcomes[0].results[0].why,
					       "of user 1002 runs here: a program can keep others "
					       "from the driver"));
		osp_run_free(&run);
		forget_the_user();
	}
}

/* A user's load makes no check fail, and says so. */
static void starved_is_not_stuck(void **state)
{
	static const struct osp_check checks[] = {HANGS(starve, ), CHECK(pass, )};
	struct osp_run run;

	(void)state;
	run_checks(checks, 2, 0, 1000, &run);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_ERROR);
	assert_int_equal(run.outcomes[0].result_count, 1);
	assert_string_equal(run.outcomes[0].results[0].value, "starved");
	assert_non_null(strstr(run.outcomes[0].results[0].why,
			       "no answer within 600 ms, twice, but it waited "));
	assert_int_equal(run.outcomes[1].verdict, OSP_VERDICT_PASS);
	assert_int_equal(osp_run_verdict(&run, false), OSP_VERDICT_ERROR);
	osp_run_free(&run);
}

static void worst_and_boot(void **state)
{
	static const struct osp_check checks[] = {
		CHECK_IN(fails, OSP_GROUP_GPU, OSP_VERDICT_WARN, 30000, ),
		CHECK_IN(hang, OSP_GROUP_GPU, OSP_VERDICT_WARN, 600, ),
		CHECK(fails_less, .settles = true),
	};
	struct osp_run run;
	char reason[256];

	(void)state;
	run_unstarved(checks, 3, 0, 60, &run);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_WARN);
	assert_int_equal(run.outcomes[1].verdict, OSP_VERDICT_WARN);
	assert_int_equal(run.outcomes[2].verdict, OSP_VERDICT_ERROR);
	assert_string_equal(run.outcomes[2].results[0].why,
			    "less (booted 60 s ago: it may still come)");
	assert_string_equal(osp_run_reason(&run, reason, sizeof(reason)), "");
	osp_run_free(&run);
	run_unstarved(checks, 3, 0, 301, &run);
	assert_int_equal(run.outcomes[2].verdict, OSP_VERDICT_FAIL);
	assert_string_equal(osp_run_reason(&run, reason, sizeof(reason)),
			    "onespine: gpu1 fails_less 7; reset gpu");
	osp_run_free(&run);
}

static void a_basic_check_takes_its_group_along(void **state)
{
	static const struct osp_check checks[] = {
		HANGS(hang, .basic = true),
		CHECK(fails, ),
		CHECK_IN(pass, OSP_GROUP_HOST, OSP_VERDICT_FAIL, 30000, ),
	};
	struct osp_run run;

	(void)state;
	run_unstarved(checks, 3, 0, 1000, &run);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_FAIL);
	assert_int_equal(run.outcomes[1].verdict, OSP_VERDICT_SKIP);
	assert_int_equal(run.outcomes[2].verdict, OSP_VERDICT_PASS);
	osp_run_free(&run);
}

static void the_budget_ends_it(void **state)
{
	static const struct osp_check checks[] = {
		CHECK_IN(hang, OSP_GROUP_GPU, OSP_VERDICT_FAIL, 60000, ),
		CHECK(fails, ),
		CHECK_IN(pass, OSP_GROUP_HOST, OSP_VERDICT_FAIL, 30000, ),
	};
	unsigned int budget_ms = 1000;
	struct osp_run run;

	(void)state;
	run_checks(checks, 3, budget_ms, 1000, &run);
	/* beside so much else one that answers at once may need longer */
	for (int tries = 1; tries < 4 && run.outcomes[2].verdict != OSP_VERDICT_PASS; tries++) {
		print_message("no answer within %u ms: again with twice the time\n", budget_ms);
		osp_run_free(&run);
		budget_ms *= 2;
		run_checks(checks, 3, budget_ms, 1000, &run);
	}
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_FAIL); /* what it said stands */
	assert_string_equal(run.outcomes[0].results[1].value, "no time");
	assert_int_equal(run.outcomes[1].verdict, OSP_VERDICT_ERROR);
	assert_string_equal(run.outcomes[1].results[0].value, "no time");
	assert_int_equal(run.outcomes[2].verdict, OSP_VERDICT_PASS);
	assert_true(run.time_ms < budget_ms + 9000);
	osp_run_free(&run);
}

static void expect_within_budget(unsigned int least_ms, const char *value)
{
	unsigned int budget_ms = 2000;
	struct osp_run run;

	for (int tries = 0;; tries++) {
		struct osp_check check = CHECK_IN(hang, OSP_GROUP_GPU, OSP_VERDICT_FAIL, budget_ms,
						  .deadline_least_ms = least_ms);

		run_checks(&check, 1, budget_ms, 1000, &run);
		if (tries == 4 || !is_reported(&run, "starved"))
			break;
		osp_run_free(&run);
		budget_ms *= 2;
	}
	assert_true(is_reported(&run, value));
	osp_run_free(&run);
}

/* A budget without time for two whole tries gives each half of it if that is enough to judge by. */
static void a_hang_is_confirmed_within_the_budget(void **state)
{
	(void)state;
	expect_within_budget(300, "hangs");
	expect_within_budget(10000, "no time");
}

static void modes(void **state)
{
	static const struct osp_check checks[] = {CHECK(fails, ), CHECK(fails_less, )};
	const struct osp_check *const list[] = {&checks[0], &checks[1]};
	static const char *const names[] = {"fails", "fails_less"};
	struct osp_thresholds *own = osp_thresholds_new();
	struct osp_check_context context;
	struct osp_run run;
	char reason[256];
	static const struct {
		const char *text;
		size_t count;
		enum osp_verdict verdict;
		enum osp_verdict reported;
		const char *reason;
	} cases[] = {
		{"checks: {all: enforce}", 2, OSP_VERDICT_FAIL, OSP_VERDICT_FAIL,
		 "onespine: gpu3 fails 12 uncorrectable > 0; replace"},
		{"checks: {fails: comment}", 2, OSP_VERDICT_FAIL, OSP_VERDICT_FAIL,
		 "onespine: gpu1 fails_less 7; reset gpu"},
		{"checks: {fails_less: off}", 1, OSP_VERDICT_SKIP, OSP_VERDICT_FAIL,
		 "onespine: gpu3 fails 12 uncorrectable > 0; replace"},
		{"checks: {fails: log}", 1, OSP_VERDICT_SKIP, OSP_VERDICT_SKIP, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(osp_thresholds_add(own, "f", cases[i].text, strlen(cases[i].text),
						    names, 2, NULL),
				 0);
		osp_check_context_set(&context, "/nonexistent", own);
		assert_int_equal(osp_run_checks(&context, list, 2, 0, &run, NULL), 0);
		assert_int_equal(run.count, cases[i].count);
		assert_int_equal(osp_run_verdict(&run, false), cases[i].verdict);
		assert_int_equal(osp_run_verdict(&run, true), cases[i].reported);
		assert_string_equal(osp_run_reason(&run, reason, sizeof(reason)), cases[i].reason);
		osp_run_free(&run);
	}
	osp_thresholds_free(own);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static const struct osp_unit units[] = {
	{.subject = "gpu0", .model = "X", .whole = true},
	{.subject = "gpu1", .model = "X", .whole = true},
	{.subject = "gpu2", .model = "X", .whole = true},
	{.subject = "gpu3", .model = "X", .whole = true},
	{.subject = "gpu4", .model = "X", .whole = true},
};

static void start(struct osp_check_context *context)
{
	osp_result_add(context,
		       strcmp(context->unit->subject, "gpu3") ? OSP_VERDICT_PASS
							      : OSP_VERDICT_ERROR,
		       OSP_CURE_NONE, context->unit->subject, "", NULL, NULL, "start");
	context->spoilt = true; /* so each check gets a process of its own */
}

/* GPU 1 is always slow, GPU 2 for the first time. */
static void speed(struct osp_check_context *context)
{
	double value = 100;

	if (strcmp(context->unit->subject, "gpu1") == 0)
		value = 80;
	else if (strcmp(context->unit->subject, "gpu2") == 0 && unlink(mark) == 0)
		value = 70;
	osp_result_speed(context, NULL, "copy", value, "GB/s", OSP_LIMIT_COUNT, OSP_LIMIT_COUNT);
}

static void all(struct osp_check_context *context)
{
	osp_result_pass(context, "%zu of %u ms", context->unit_count, context->slice_ms);
}

static void gpus_are_checked_side_by_side_and_speeds_together(void **state)
{
	static const struct osp_check checks[] = {
		CHECK_IN(start, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000, .basic = true),
		CHECK_IN(speed, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000,
			 .slow_cure = OSP_CURE_REPLACE, .behind = OSP_LIMIT_HBM_BEHIND_PERCENT),
		CHECK_IN(all, OSP_GROUP_ALL_GPUS, OSP_VERDICT_FAIL, 30000, .share = 20),
	};
	const struct osp_check *list[] = {&checks[0], &checks[1], &checks[2]};
	struct osp_check_context context;
	struct osp_run run;
	char reason[256];

	(void)state;
	strcpy(mark, "/tmp/onespine-runner-XXXXXX");
	close(mkstemp(mark));
	osp_check_context_set(&context, "/nonexistent", thresholds);
	context.units = units;
	context.unit_count = 5;
	context.load_ms = 100;
	assert_int_equal(osp_run_checks(&context, list, 3, 0, &run, NULL), 0);
	assert_int_equal(run.outcomes[0].result_count, 5);
	assert_string_equal(run.outcomes[0].results[3].subject, "gpu3");
	assert_int_equal(run.outcomes[1].verdict, OSP_VERDICT_FAIL);
	assert_int_equal(run.outcomes[1].result_count, 5);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(run.outcomes[1].results[i].verdict,
				 i == 1 ? OSP_VERDICT_FAIL : OSP_VERDICT_PASS);
	assert_string_equal(
		run.outcomes[1].results[1].why,
		"slow in 3 of 3 measurements; the median of 3 others on this node is 100 GB/s");
	assert_string_equal(run.outcomes[1].results[2].value, "100 GB/s copy");
	assert_int_equal(run.outcomes[1].results[3].verdict, OSP_VERDICT_SKIP);
	assert_string_equal(run.outcomes[1].results[3].why,
			    "start did not pass, and this needs what it asks");
	assert_string_equal(run.outcomes[2].results[0].value, "4 of 20 ms");
	assert_string_equal(osp_run_reason(&run, reason, sizeof(reason)),
			    "onespine: gpu1 speed 80 GB/s copy < 85; replace");
	osp_run_free(&run);
}

static void takes_its_turn(struct osp_check_context *context)
{
	usleep(1500 * 1000);
	osp_result_pass(context, "started");
}

/* The driver makes contexts one after the other, so the last of five GPUs waits for the others'. */
static void each_gpu_adds_to_the_time_of_its_start(void **state)
{
	static const struct osp_check check =
		CHECK_IN(takes_its_turn, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 500, .basic = true);
	const struct osp_check *list[] = {&check};
	struct osp_check_context context;
	struct osp_run run;

	(void)state;
	osp_check_context_set(&context, "/nonexistent", thresholds);
	context.units = units;
	context.unit_count = 5;
	assert_int_equal(osp_run_checks(&context, list, 1, 0, &run, NULL), 0);
	assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_PASS);
	assert_int_equal(run.outcomes[0].result_count, 5);
	osp_run_free(&run);
}

/* GPU 1 is slower than its peers: how it is told depends on how far it may be behind them. */
static void slow_speeds_fail_or_warn(void **state)
{
	static const struct {
		const char *text;
		enum osp_verdict verdict;
		enum osp_cure cure;
		const char *limit, *why;
	} cases[] = {
		{"limits: {hbm_behind_percent: 10, hbm_far_behind_percent: 15}", OSP_VERDICT_FAIL,
		 OSP_CURE_REPLACE, "< 85", "the median of 3 others on this node is 100 GB/s"},
		{"limits: {hbm_behind_percent: 10, hbm_far_behind_percent: 30}", OSP_VERDICT_WARN,
		 OSP_CURE_ASK, "< 90", "the median of 3 others on this node is 100 GB/s"},
		{"limits: {hbm_behind_percent: 30}", OSP_VERDICT_PASS, OSP_CURE_NONE, "",
		 "compared with the node's other GPUs alone"},
		{"limits: {hbm_behind_percent: 10, hbm_far_behind_percent: {value: 15, unproven: "
		 "true}}",
		 OSP_VERDICT_WARN, OSP_CURE_ASK, "< 85", "only warns (unproven: warn)"},
		{"{unproven: fail, limits: {hbm_far_behind_percent: {value: 15, unproven: true}}}",
		 OSP_VERDICT_FAIL, OSP_CURE_REPLACE, "< 85", "the median of 3"},
		{"limits: {temperature_c: 90}", OSP_VERDICT_PASS, OSP_CURE_NONE, "", "not judged"},
	};
	static const struct osp_check checks[] = {
		CHECK_IN(start, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000, .basic = true),
		CHECK_IN(speed, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000,
			 .slow_cure = OSP_CURE_REPLACE, .behind = OSP_LIMIT_HBM_BEHIND_PERCENT),
	};
	const struct osp_check *list[] = {&checks[0], &checks[1]};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_thresholds *own = osp_thresholds_new();
		struct osp_check_context context;
		const struct osp_result *result;
		struct osp_run run;

		assert_int_equal(osp_thresholds_add(own, "f", cases[i].text, strlen(cases[i].text),
						    NULL, 0, NULL),
				 0);
		osp_check_context_set(&context, "/nonexistent", own);
		context.units = units;
		context.unit_count = 5;
		assert_int_equal(osp_run_checks(&context, list, 2, 0, &run, NULL), 0);
		result = &run.outcomes[1].results[1];
		assert_int_equal(result->verdict, cases[i].verdict);
		assert_int_equal(result->cure, cases[i].cure);
		assert_string_equal(result->limit, cases[i].limit);
		if (!strstr(result->why, cases[i].why))
			fail_msg("%s: %s", cases[i].text, result->why);
		osp_run_free(&run);
		osp_thresholds_free(own);
	}
}

/* Each GPU that is left alone is told of, loaded by no check, and no peer of the others. */
static void who_serves_others_is_left_alone(void **state)
{
	static const struct osp_unit two[] = {
		{.subject = "gpu0", .model = "X", .whole = true},
		{.subject = "gpu1", .model = "X", .whole = true, .left_alone = "it is shared"},
	};
	static const struct osp_check checks[] = {
		CHECK_IN(speed, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000, ),
		CHECK_IN(all, OSP_GROUP_ALL_GPUS, OSP_VERDICT_FAIL, 30000, ),
	};
	const struct osp_check *list[] = {&checks[0], &checks[1]};
	struct osp_check_context context;
	struct osp_run run;

	(void)state;
	for (size_t loaded = 0; loaded < 2; loaded++) {
		osp_check_context_set(&context, "/nonexistent", thresholds);
		context.units = loaded ? two : two + 1;
		context.unit_count = loaded + 1;
		assert_int_equal(osp_run_checks(&context, list, 2, 0, &run, NULL), 0);
		assert_int_equal(run.left_alone, 1);
		assert_int_equal(run.outcomes[0].result_count, loaded + 1);
		assert_int_equal(run.outcomes[0].speed_count, loaded);
		assert_string_equal(run.outcomes[0].results[loaded].subject, "gpu1");
		assert_string_equal(run.outcomes[0].results[loaded].why, "it is shared");
		assert_int_equal(run.outcomes[0].results[loaded].verdict, OSP_VERDICT_SKIP);
		assert_int_equal(run.outcomes[1].verdict,
				 loaded ? OSP_VERDICT_PASS : OSP_VERDICT_SKIP);
		osp_run_free(&run);
	}
}

/* A GPU that nobody trusted says is shared: the first check that loads GPUs is an error, once. */
static void who_is_not_believed_to_serve_others_is_not_checked(void **state)
{
	static const struct osp_unit two[] = {
		{.subject = "gpu0", .model = "X", .whole = true},
		{.subject = "gpu1", .left_alone = "not checked: x", .not_checked = true},
	};
	static const struct osp_check checks[] = {
		CHECK_IN(speed, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000, ),
		CHECK_IN(all, OSP_GROUP_EACH_GPU, OSP_VERDICT_FAIL, 30000, ),
		CHECK_IN(all, OSP_GROUP_ALL_GPUS, OSP_VERDICT_FAIL, 30000, ),
	};
	const struct osp_check *list[] = {&checks[0], &checks[1], &checks[2]};
	struct osp_check_context context;
	struct osp_run run;

	(void)state;
	for (size_t first = 0; first < 3; first += 2) {
		osp_check_context_set(&context, "/nonexistent", thresholds);
		context.units = two;
		context.unit_count = 2;
		assert_int_equal(osp_run_checks(&context, list + first, 3 - first, 0, &run, NULL),
				 0);
		assert_int_equal(run.left_alone, 1);
		assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_ERROR);
		assert_int_equal(osp_run_verdict(&run, false), OSP_VERDICT_ERROR);
		for (size_t i = 0; i < run.count; i++)
			for (size_t n = 0; n < run.outcomes[i].result_count; n++) {
				const struct osp_result *result = &run.outcomes[i].results[n];

				if (strcmp(result->subject, "gpu1") != 0)
					continue;
				assert_string_equal(result->why, "not checked: x");
				assert_int_equal(result->verdict,
						 i ? OSP_VERDICT_SKIP : OSP_VERDICT_ERROR);
			}
		osp_run_free(&run);
	}
}

/* --- pairs ------------------------------------------------------------------------------------ */

static const struct pair_case {
	size_t gpus;
	const char *slow;     /* "01" is GPU 0 to 1, "3." whatever 3 sends, ".3" what it gets */
	const char *reported; /* whom the failures name */
} pair_cases[] = {
	{2, "01", "gpu0-gpu1 "},
	{2, "01 10", "gpu0-gpu1 gpu1-gpu0 "},
	{3, "01 10", "gpu0-gpu1 gpu1-gpu0 "},
	{3, "0. .0", "gpu0 "},
	{5, "31", "gpu3-gpu1 "},
	{5, "3. .3", "gpu3 "},
	{5, "3.", "gpu3 "},
	{5, ".3", "gpu3 "},
	{5, "31 32", "gpu3-gpu1 gpu3-gpu2 "},
	{5, "3. .3 1. .1", "gpu1 gpu3 "},
	{5, "3. .3 12", "gpu3 gpu1-gpu2 "},
};
static const struct pair_case *pair_case;

static bool is_slow(size_t from, size_t to)
{
	for (const char *word = pair_case->slow; *word; word += word[2] ? 3 : 2)
		if ((word[0] == '.' || (size_t)(word[0] - '0') == from) &&
		    (word[1] == '.' || (size_t)(word[1] - '0') == to))
			return true;
	return false;
}

static void pairs(struct osp_check_context *context)
{
	char name[OSP_SUBJECT_BYTES];

	for (size_t from = 0; from < context->unit_count; from++)
		for (size_t to = 0; to < context->unit_count; to++) {
			if (from == to)
				continue;
			snprintf(name, sizeof(name), "gpu%zu-gpu%zu", from, to);
			osp_result_speed(context, name, "copy", is_slow(from, to) ? 50 : 100,
					 "GB/s", OSP_LIMIT_PEER_GBPS, OSP_LIMIT_COUNT);
		}
}

static void a_gpu_is_named_after_two_partners(void **state)
{
	static const struct osp_check check =
		CHECK_IN(pairs, OSP_GROUP_ALL_GPUS, OSP_VERDICT_FAIL, 30000, .pairs = true);
	const struct osp_check *list[] = {&check};

	(void)state;
	for (size_t i = 0; i < sizeof(pair_cases) / sizeof(pair_cases[0]); i++) {
		struct osp_check_context context;
		char reported[256] = "";
		struct osp_run run;

		pair_case = &pair_cases[i];
		osp_check_context_set(&context, "/nonexistent", thresholds);
		context.units = units;
		context.unit_count = pair_case->gpus;
		assert_int_equal(osp_run_checks(&context, list, 1, 0, &run, NULL), 0);
		assert_int_equal(run.outcomes[0].verdict, OSP_VERDICT_FAIL);
		for (size_t n = 0; n < run.outcomes[0].result_count; n++)
			if (run.outcomes[0].results[n].verdict == OSP_VERDICT_FAIL) {
				strcat(reported, run.outcomes[0].results[n].subject);
				strcat(reported, " ");
			}
		if (strcmp(reported, pair_case->reported) != 0)
			fail_msg("of %zu GPUs '%s' slow: %s named", pair_case->gpus,
				 pair_case->slow, reported);
		osp_run_free(&run);
	}
}

/* A process of a user's that is there from one round to another; rounds count from 1, and 0 is
 * before them. */
static const struct guest {
	long comes;
	long goes; /* in the middle of that round */
	enum osp_verdict verdict;
} guests[] = {
	{9, 9, OSP_VERDICT_FAIL}, {0, 1, OSP_VERDICT_WARN}, {1, 2, OSP_VERDICT_WARN},
	{2, 3, OSP_VERDICT_WARN}, {3, 9, OSP_VERDICT_WARN}, {0, 9, OSP_VERDICT_WARN},
};
static const struct guest *guest;
static char guest_root[] = "/tmp/onespine-guest-XXXXXX";

static void come(const char *status)
{
	FILE *file = fopen(status, "we");

	assert_non_null(file);
	fputs("Name:\tx\nUid:\t1002\t1002\t1002\t1002\n", file);
	fclose(file);
}

/* What the round is, by what each adds to a file. */
static void be_round(const char *status)
{
	char path[64];
	FILE *file;
	long round;

	snprintf(path, sizeof(path), "%s/rounds", guest_root);
	file = fopen(path, "ae");
	assert_non_null(file);
	fputc('x', file);
	round = ftell(file);
	fclose(file);
	if (round == guest->goes)
		unlink(status);
	if (round == guest->comes)
		come(status);
}

static void pairs_beside_a_guest(struct osp_check_context *context)
{
	char status[64];

	snprintf(status, sizeof(status), "%s/proc/42/status", guest_root);
	be_round(status);
	pairs(context);
}

static void who_is_there_in_any_round_makes_slowness_a_warning(void **state)
{
	static const struct osp_check check = CHECK_IN(pairs_beside_a_guest, OSP_GROUP_ALL_GPUS,
						       OSP_VERDICT_FAIL, 30000, .pairs = true);
	const struct osp_check *list[] = {&check};
	char words[96];

	(void)state;
	assert_non_null(mkdtemp(guest_root));
	pair_case = &pair_cases[1];
	for (size_t i = 0; i < sizeof(guests) / sizeof(guests[0]); i++) {
		struct osp_check_context context;
		struct osp_run run;

		guest = &guests[i];
		snprintf(words, sizeof(words), "rm -rf %s/* && mkdir -p %s/proc/42", guest_root,
			 guest_root);
		assert_int_equal(system(words), 0);
		snprintf(words, sizeof(words), "%s/proc/42/status", guest_root);
		if (!guest->comes)
			come(words);
		osp_check_context_set(&context, guest_root, thresholds);
		context.units = units;
		context.unit_count = 2;
		assert_int_equal(osp_run_checks(&context, list, 1, 0, &run, NULL), 0);
		if (run.outcomes[0].verdict != guest->verdict)
			fail_msg("a guest from %ld to %ld: %s", guest->comes, guest->goes,
				 osp_verdict_name(run.outcomes[0].verdict));
		osp_run_free(&run);
	}
	snprintf(words, sizeof(words), "rm -r %s", guest_root);
	assert_int_equal(system(words), 0);
}

static int answer_or_hang(const void *argument)
{
	int number = *(const int *)argument;

	if (number < 0)
		raise(SIGKILL);
	while (number == 0)
		pause();
	return number;
}

static void guarded_work(void **state)
{
	static const int arguments[] = {7, 0, -1};
	struct osp_guard guards[3];
	int answer = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(osp_guard_start(&guards[i], answer_or_hang, &arguments[i]), 0);
	assert_int_equal(osp_guard_collect(&guards[0], osp_now_ms() + 10000, &answer), 1);
	assert_int_equal(answer, 7);
	assert_int_equal(osp_guard_collect(&guards[1], osp_now_ms() + 50, &answer), 0);
	assert_int_equal(osp_guard_collect(&guards[2], osp_now_ms() + 10000, &answer), -1);
}

static int answer_never(const void *argument)
{
	(void)argument;
	starve(NULL);
	return 0;
}

/* Work that hangs waits for no processor; work that others keep from one says for how long. */
static void guarded_and_starved(void **state)
{
	static const int hangs = 0;
	struct osp_guard guard;
	int answer = 0;

	(void)state;
	assert_int_equal(osp_guard_start(&guard, answer_never, NULL), 0);
	assert_int_equal(osp_guard_collect(&guard, osp_now_ms() + 600, &answer), 0);
	assert_true(guard.starved_ms > 300);
	for (int tries = 0; tries < STARVED_TRIES; tries++) {
		assert_int_equal(osp_guard_start(&guard, answer_or_hang, &hangs), 0);
		assert_int_equal(osp_guard_collect(&guard, osp_now_ms() + 600, &answer), 0);
		if (guard.starved_ms < 300)
			return;
	}
	fail_msg("starved for %u ms while nothing but a sleep ran", guard.starved_ms);
}

static void lists_of_gpus(void **state)
{
	static const char *const good[] = {"0", "0-3,5", "7,GPU-00000001-1111", "gpu-0a", "10-12"};
	static const char *const bad[] = {"",	",",	"0,",  "3-1",  "a",	  "0-", "1-2-3",
					  "-1", "GPU-", "0x1", "1000", "GPU-xyz", "0 1"};
	struct osp_error error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!osp_gpus_valid(good[i], NULL))
			fail_msg("%s is right", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (osp_gpus_valid(bad[i], NULL))
			fail_msg("%s is wrong", bad[i]);
	assert_false(osp_gpus_valid("x", &error));
	assert_string_equal(error.text,
			    "--gpus x: numbers, ranges or UUIDs separated by commas are "
			    "expected (0-3,5)");
}

/* The table itself: short names of one form, once each; a cap where users are the cause. */
/* At depth quick GPUs are loaded for 4 s (tools/command/cmd_check.c), of which each check has a
 * share: those of one GPU side by side, then those of all. What is left of 5 s on 8 GPUs that are
 * awake is for the rest. */
static void quick_loads_no_longer_than_it_may(void **state)
{
	unsigned int shares = 0;

	(void)state;
	for (size_t i = 0; i < osp_check_count; i++)
		if (osp_checks[i]->depth == OSP_DEPTH_QUICK)
			shares += osp_checks[i]->share;
	assert_in_range(shares, 50, 100);
}

static void the_list_is_sound(void **state)
{
	(void)state;
	assert_true(osp_check_count <= OSP_CHECK_NAMES_MAX);
	for (size_t i = 0; i < osp_check_count; i++) {
		const struct osp_check *check = osp_checks[i];

		assert_true(strlen(check->name) <= 14);
		assert_int_equal(strspn(check->name, "abcdefghijklmnopqrstuvwxyz-"),
				 strlen(check->name));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(osp_checks[j]->name, check->name);
		if (!strcmp(check->name, "mounts") || !strcmp(check->name, "space"))
			assert_int_equal(check->worst, OSP_VERDICT_WARN);
		assert_true(check->run && *check->measures && *check->explains && *check->cures);
		assert_true(check->deadline_ms >= 1000);
	}
}

static int set_up(void **state)
{
	static const char limits[] = "limits: {boot_settle_s: 300, peer_gbps: 90, "
				     "hbm_behind_percent: 10, hbm_far_behind_percent: 15}\n";
	char path[256];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < 2; i++) {
		static const char *const folders[] = {"proc", "proc/pressure"};

		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		if (mkdir(path, 0755))
			return -1;
	}
	write_pressure("io", 70000);
	write_pressure("memory", 70000);
	thresholds = osp_thresholds_new();
	return !thresholds ||
	       osp_thresholds_add(thresholds, "f", limits, sizeof(limits) - 1, NULL, 0, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	static const char *const names[] = {"proc/pressure/io", "proc/pressure/memory",
					    "proc/pressure", "proc", "."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		remove(i + 1 < sizeof(names) / sizeof(names[0]) ? path : root);
	}
	osp_thresholds_free(thresholds);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_ends_as_it_must),
		cmocka_unit_test(what_no_check_writes_is_an_error),
		cmocka_unit_test(a_user_may_keep_others_from_the_driver),
		cmocka_unit_test(starved_is_not_stuck),
		cmocka_unit_test(held_up_is_not_stuck),
		cmocka_unit_test(worst_and_boot),
		cmocka_unit_test(a_basic_check_takes_its_group_along),
		cmocka_unit_test(the_budget_ends_it),
		cmocka_unit_test(a_hang_is_confirmed_within_the_budget),
		cmocka_unit_test(modes),
		cmocka_unit_test(gpus_are_checked_side_by_side_and_speeds_together),
		cmocka_unit_test(who_is_there_in_any_round_makes_slowness_a_warning),
		cmocka_unit_test(each_gpu_adds_to_the_time_of_its_start),
		cmocka_unit_test(slow_speeds_fail_or_warn),
		cmocka_unit_test(who_serves_others_is_left_alone),
		cmocka_unit_test(who_is_not_believed_to_serve_others_is_not_checked),
		cmocka_unit_test(a_gpu_is_named_after_two_partners),
		cmocka_unit_test(guarded_work),
		cmocka_unit_test(guarded_and_starved),
		cmocka_unit_test(lists_of_gpus),
		cmocka_unit_test(quick_loads_no_longer_than_it_may),
		cmocka_unit_test(the_list_is_sound),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
