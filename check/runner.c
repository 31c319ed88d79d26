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
#include "check/gpu_unit.h"
#include "check/run_private.h"

#define LOCK_MS 120000 /* for another run to end */

/* What a child writes. */
enum telling { TELLS_RESULT, TELLS_SPEED, TELLS_FIGURE, TELLS_DONE };

struct message {
	enum telling kind;
	bool spoilt; /* done, and the child ends */
	union {
		struct osp_result result;
		struct osp_speed speed;
		struct osp_figure figure;
	} told;
};

/* A check that waited for a processor for more than this share of its deadline was starved, not stuck.
 * Measured here: on an idle machine the wait is under 1/1000, with ten times as many busy processes as
 * cores over 8/10; a stuck process waits for none. */
#define STARVED_SHARE 5

/* The checks of one group, or of one GPU, run by one child after the other. */
struct lane {
	const struct osp_unit *unit; /* NULL: not of one GPU */
	unsigned int order;
	size_t *queue; /* indices of outcomes */
	size_t count;
	size_t next; /* the one being run */
	pid_t child; /* 0: none */
	int answer;
	uint64_t begun_ms;
	uint64_t until_ms;
	unsigned int spent_ms;		/* on the current check, in all tries */
	bool confirming;		/* the child before this one hung at the same check */
	unsigned int starved_before_ms; /* of this child, before this check */
	unsigned int starved_ms;	/* of both tries, in this check */
	char buffer[sizeof(struct message)];
	size_t buffered;
	struct message *told; /* by the current try */
	size_t told_count;
};

struct runner {
	struct osp_check_context *context;
	struct osp_run *run;
	struct lane *lanes;
	size_t lane_count;
	struct pollfd *waits;
	unsigned int *before_ms;	 /* each outcome's time in earlier rounds */
	struct osp_speed_round **rounds; /* each outcome's, from its first round on */
	bool *broken;			 /* units that failed, or whose basic check did not pass */
	bool again;			 /* a round for what was slow */
	bool found;			 /* the units, by NVML */
	uint64_t budget_end_ms;		 /* 0: none */
	struct osp_error *error;
};

static struct osp_outcome *current(struct runner *runner, const struct lane *lane)
{
	return &runner->run->outcomes[lane->queue[lane->next]];
}

static bool loads_gpus(const struct osp_check *check)
{
	return check->group == OSP_GROUP_EACH_GPU || check->group == OSP_GROUP_ALL_GPUS;
}

static unsigned int slice_ms(const struct runner *runner, const struct osp_check *check)
{
	return (unsigned int)((uint64_t)runner->context->load_ms * check->share / 100);
}

/* --- in the child ----------------------------------------------------------------------------- */

static void send_message(struct osp_check_context *context, const struct message *message)
{
	if (!osp_write_all(*(int *)context->teller, message, sizeof(*message)))
		_exit(1);
}

static void send_result(struct osp_check_context *context, const struct osp_result *result)
{
	struct message message;

	memset(&message, 0, sizeof(message)); /* its gaps are written too */
	message.kind = TELLS_RESULT;
	message.told.result = *result;
	send_message(context, &message);
}

static void send_speed(struct osp_check_context *context, const struct osp_speed *speed)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	message.kind = TELLS_SPEED;
	message.told.speed = *speed;
	send_message(context, &message);
}

static void send_figure(struct osp_check_context *context, const struct osp_figure *figure)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	message.kind = TELLS_FIGURE;
	message.told.figure = *figure;
	send_message(context, &message);
}

static void run_lane(struct runner *runner, struct lane *lane)
{
	static const struct rlimit no_core = {0, 0};
	struct osp_check_context *context = runner->context;
	struct message done;

	memset(&done, 0, sizeof(done));
	done.kind = TELLS_DONE;
	setrlimit(RLIMIT_CORE, &no_core);
	context->tell = send_result;
	context->tell_speed = send_speed;
	context->tell_figure = send_figure;
	context->teller = &lane->answer;
	context->unit = lane->unit;
	for (; lane->next < lane->count && !context->spoilt; lane->next++) {
		const struct osp_check *check = current(runner, lane)->check;

		context->slice_ms = slice_ms(runner, check);
		check->run(context);
		done.spoilt = context->spoilt;
		send_message(context, &done);
	}
	_exit(0);
}

/* --- results ---------------------------------------------------------------------------------- */

static int keep_own(struct runner *runner, struct lane *lane, enum osp_verdict verdict,
		    enum osp_cure cure, const char *value, const char *why)
{
	return osp_outcome_own(runner->context, current(runner, lane), verdict, cure, lane->unit,
			       lane->order, value, why, runner->error);
}

/* In a round for what was slow only speeds and failures are news. */
static int keep_message(struct runner *runner, struct lane *lane, struct message *message)
{
	struct osp_outcome *outcome = current(runner, lane);
	size_t index = lane->queue[lane->next];

	if (message->kind == TELLS_FIGURE)
		return runner->again ? 0
				     : osp_outcome_add_figure(outcome, &message->told.figure,
							      runner->error);
	if (message->kind == TELLS_SPEED) {
		message->told.speed.order = lane->order;
		if (!runner->again)
			return osp_outcome_add_speed(outcome, &message->told.speed, runner->error);
		osp_speeds_again(runner->context, outcome, runner->rounds[index],
				 &message->told.speed);
		return 0;
	}
	message->told.result.order = lane->order;
	if (runner->again && message->told.result.verdict <= OSP_VERDICT_PASS)
		return 0;
	return osp_outcome_add(runner->context, outcome, &message->told.result, runner->error);
}

/* What the current try told. A GPU that fails is kept out of the checks of all. */
static int keep_told(struct runner *runner, struct lane *lane, enum osp_verdict *gravest)
{
	*gravest = OSP_VERDICT_SKIP;
	for (size_t i = 0; i < lane->told_count; i++) {
		struct message *message = &lane->told[i];

		if (message->kind == TELLS_RESULT && message->told.result.verdict > *gravest)
			*gravest = message->told.result.verdict;
		if (lane->unit && *gravest == OSP_VERDICT_FAIL)
			runner->broken[lane->order] = true;
		if (keep_message(runner, lane, message))
			return -1;
	}
	lane->told_count = 0;
	return 0;
}

/* --- lanes ------------------------------------------------------------------------------------ */

static unsigned int deadline_ms(const struct runner *runner, const struct osp_check *check)
{
	unsigned int most_ms = runner->context->deadline_most_ms;
	unsigned int own_ms = check->deadline_ms + slice_ms(runner, check);

	return most_ms && most_ms < own_ms ? most_ms : own_ms;
}

static void begin_check(struct runner *runner, struct lane *lane)
{
	lane->begun_ms = osp_now_ms();
	lane->until_ms = lane->begun_ms + deadline_ms(runner, current(runner, lane)->check);
	lane->starved_before_ms = osp_child_starved_ms(lane->child);
	lane->told_count = 0;
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

/* GPUs are checked side by side: the longest counts. */
static void add_time(struct runner *runner, struct lane *lane)
{
	struct osp_outcome *outcome = current(runner, lane);
	unsigned int all_ms;

	lane->spent_ms += (unsigned int)(osp_now_ms() - lane->begun_ms);
	all_ms = runner->before_ms[lane->queue[lane->next]] + lane->spent_ms;
	if (all_ms > outcome->time_ms)
		outcome->time_ms = all_ms;
}

/* Goes on behind the current check, with a new child where there is none. */
static int go_on(struct runner *runner, struct lane *lane)
{
	lane->confirming = false;
	lane->spent_ms = 0;
	lane->starved_ms = 0;
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

static int skip_rest(struct runner *runner, struct lane *lane, const char *broke)
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

static int check_done(struct runner *runner, struct lane *lane, bool spoilt)
{
	struct osp_outcome *outcome = current(runner, lane);
	bool nothing = !lane->told_count;
	enum osp_verdict gravest;

	add_time(runner, lane);
	if (keep_told(runner, lane, &gravest))
		return -1;
	if (nothing &&
	    keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "", "the check told nothing"))
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

static int check_crashed(struct runner *runner, struct lane *lane)
{
	bool basic = current(runner, lane)->check->basic;
	enum osp_verdict gravest;

	add_time(runner, lane);
	end_child(lane);
	if (keep_told(runner, lane, &gravest) ||
	    keep_own(
		    runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "crashed",
		    "the check's process ended before its time: a fault of the check, of a library "
		    "or of memory"))
		return -1;
	return basic ? skip_rest(runner, lane, "does not end") : go_on(runner, lane);
}

/* Twice no answer. Only a child that had a processor whenever it could use one was stuck: a load that
 * keeps checks from running is a user's doing and no fault of the node. */
static int keep_hung(struct runner *runner, struct lane *lane)
{
	unsigned int limit_ms = deadline_ms(runner, current(runner, lane)->check);
	char why[OSP_WHY_BYTES];

	if (lane->starved_ms > limit_ms / STARVED_SHARE) {
		snprintf(why, sizeof(why),
			 "no answer within %u ms, twice, but it waited %u ms for a processor: too "
			 "much else runs here",
			 limit_ms, lane->starved_ms);
		return keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "starved", why);
	}
	snprintf(why, sizeof(why),
		 "no answer within %u ms, twice; the process may be stuck in the kernel", limit_ms);
	return keep_own(runner, lane, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "hangs", why);
}

static int check_hung(struct runner *runner, struct lane *lane)
{
	const struct osp_check *check = current(runner, lane)->check;
	enum osp_verdict gravest;

	add_time(runner, lane);
	lane->starved_ms += osp_child_starved_ms(lane->child) - lane->starved_before_ms;
	end_child(lane);
	if (!lane->confirming) {
		lane->confirming = true;
		return start_child(runner, lane); /* what this try told is forgotten */
	}
	if (keep_told(runner, lane, &gravest) || keep_hung(runner, lane))
		return -1;
	return check->basic ? skip_rest(runner, lane, "does not end") : go_on(runner, lane);
}

static int remember(struct runner *runner, struct lane *lane, const struct message *message)
{
	struct message *told;

	if (lane->told_count == OSP_RESULTS_MAX + OSP_FIGURES_MAX)
		return 0;
	told = realloc(lane->told, (lane->told_count + 1) * sizeof(*told));
	if (!told)
		return osp_error_set(runner->error, "out of memory");
	lane->told = told;
	told[lane->told_count++] = *message;
	return 0;
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
	if (message.kind == TELLS_DONE)
		return check_done(runner, lane, message.spoilt);
	return remember(runner, lane, &message);
}

/* --- all lanes -------------------------------------------------------------------------------- */

/* Milliseconds until the next deadline. */
static int time_left(const struct runner *runner)
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

/* One round: waits, then serves each lane. 1 while any runs, 0 at the end, -1 on an error. */
static int serve(struct runner *runner)
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
	enum osp_verdict gravest;

	for (size_t i = 0; i < runner->lane_count; i++) {
		struct lane *lane = &runner->lanes[i];

		if (lane->child) {
			add_time(runner, lane);
			end_child(lane);
			if (keep_told(runner, lane, &gravest))
				return -1;
		}
		for (; lane->next < lane->count; lane->next++)
			if (keep_own(runner, lane, OSP_VERDICT_ERROR, OSP_CURE_NONE, "no time",
				     "the budget ended before the check did"))
				return -1;
	}
	return 0;
}

static int run_lanes(struct runner *runner)
{
	int state = 1;

	for (size_t i = 0; i < runner->lane_count && state > 0; i++)
		if (!budget_over(runner) && start_child(runner, &runner->lanes[i]))
			state = -1;
	while (state > 0)
		state = budget_over(runner) ? run_out_of_budget(runner) : serve(runner);
	for (size_t i = 0; i < runner->lane_count; i++) {
		if (runner->lanes[i].child)
			end_child(&runner->lanes[i]);
		free(runner->lanes[i].queue);
		free(runner->lanes[i].told);
	}
	free(runner->lanes);
	free(runner->waits);
	runner->lanes = NULL;
	runner->waits = NULL;
	runner->lane_count = 0;
	return state;
}

/* --- stages ----------------------------------------------------------------------------------- */

/* Does the check of an outcome have a slow speed of this GPU (NULL: of any)? */
static bool slow_on(const struct runner *runner, size_t outcome, const struct osp_unit *unit,
		    unsigned int order)
{
	const struct osp_outcome *of = &runner->run->outcomes[outcome];

	for (size_t i = 0; i < of->speed_count; i++)
		if (runner->rounds[outcome][i].slow && (!unit || of->speeds[i].order == order))
			return true;
	return false;
}

/* A lane for a group, on one GPU or none in particular, of what there is for it to do. */
static int add_lane(struct runner *runner, enum osp_check_group group, const struct osp_unit *unit,
		    unsigned int order)
{
	struct osp_run *run = runner->run;
	struct lane *lane, *lanes;

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

/* Runs the lanes added. */
static int run_added(struct runner *runner)
{
	for (size_t i = 0; i < runner->run->count; i++)
		runner->before_ms[i] = runner->run->outcomes[i].time_ms;
	if (!runner->lane_count)
		return 0;
	runner->waits = calloc(runner->lane_count, sizeof(*runner->waits));
	if (!runner->waits)
		return osp_error_set(runner->error, "out of memory");
	return run_lanes(runner);
}

static int add_each_gpu(struct runner *runner)
{
	for (size_t i = 0; i < runner->context->unit_count; i++)
		if (!runner->broken[i] && add_lane(runner, OSP_GROUP_EACH_GPU,
						   &runner->context->units[i], (unsigned int)i))
			return -1;
	return 0;
}

/* A check of all GPUs sees those that are well. */
static int add_all_gpus(struct runner *runner)
{
	return add_lane(runner, OSP_GROUP_ALL_GPUS, NULL,
			(unsigned int)runner->context->unit_count);
}

static int judge_speeds(struct runner *runner, enum osp_check_group group, bool *slow)
{
	*slow = false;
	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (outcome->check->group != group || !outcome->speed_count)
			continue;
		runner->rounds[i] = calloc(outcome->speed_count, sizeof(**runner->rounds));
		if (!runner->rounds[i])
			return osp_error_set(runner->error, "out of memory");
		if (osp_speeds_judge(runner->context, outcome, runner->rounds[i]))
			*slow = true;
	}
	return 0;
}

/* Is it somebody else's work that makes it slow? Then it is not judged. */
static void pardon_busy(struct runner *runner, enum osp_check_group group)
{
	struct osp_units now;
	char why[OSP_WHY_BYTES];

	if (!runner->found || osp_units_find(runner->context, &now, why, sizeof(why)))
		return;
	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		for (size_t n = 0; outcome->check->group == group && n < outcome->speed_count; n++)
			for (size_t unit = 0; unit < now.count; unit++)
				if (now.units[unit].busy &&
				    (group == OSP_GROUP_ALL_GPUS ||
				     strcmp(now.units[unit].subject, outcome->speeds[n].subject) ==
					     0))
					outcome->speeds[n].judged = false;
		if (outcome->check->group == group && runner->rounds[i])
			osp_speeds_judge(runner->context, outcome, runner->rounds[i]);
	}
	free(now.units);
}

/* One kind of lanes, then twice more for what was slow; then the speeds become results. */
static int run_stage(struct runner *runner, enum osp_check_group group,
		     int (*add)(struct runner *runner))
{
	bool slow;

	runner->again = false;
	if (add(runner) || run_added(runner) || judge_speeds(runner, group, &slow))
		return -1;
	if (slow)
		pardon_busy(runner, group);
	runner->again = true;
	for (int round = 1; slow && round < OSP_SPEED_ROUNDS && !budget_over(runner); round++)
		if (add(runner) || run_added(runner))
			return -1;
	runner->again = false;
	for (size_t i = 0; i < runner->run->count; i++)
		if (runner->rounds[i] && runner->run->outcomes[i].check->group == group &&
		    osp_speeds_tell(runner->context, &runner->run->outcomes[i], runner->rounds[i],
				    runner->error))
			return -1;
	return 0;
}

static int run_passive(struct runner *runner)
{
	for (int group = 0; group < OSP_GROUP_EACH_GPU; group++)
		if (add_lane(runner, group, NULL, 0))
			return -1;
	return run_added(runner);
}

/* Every check that loads GPUs tells why it does not. */
static int tell_gpu_checks(struct runner *runner, enum osp_check_group least,
			   enum osp_verdict verdict, const char *why)
{
	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (loads_gpus(outcome->check) && outcome->check->group >= least &&
		    osp_outcome_own(runner->context, outcome, verdict, OSP_CURE_NONE, NULL, 0, "",
				    why, runner->error))
			return -1;
	}
	return 0;
}

/* Why no GPU is to be loaded: a basic check failed. */
static bool basic_failed(const struct runner *runner, char *why, size_t why_bytes)
{
	for (size_t i = 0; i < runner->run->count; i++) {
		const struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (!outcome->check->basic || outcome->verdict < OSP_VERDICT_ERROR)
			continue;
		snprintf(why, why_bytes, "%s did not pass, and this needs what it asks",
			 outcome->check->name);
		return true;
	}
	return false;
}

/* Those of the GPUs whose basic check passed, for the checks of all. */
static size_t keep_well_units(const struct runner *runner, const struct osp_unit *units,
			      size_t count, struct osp_unit *well)
{
	size_t well_count = 0;

	for (size_t i = 0; i < count; i++)
		if (!runner->broken[i])
			well[well_count++] = units[i];
	return well_count;
}

static int run_on_units(struct runner *runner, const struct osp_unit *units, size_t count)
{
	struct osp_unit *well = calloc(count, sizeof(*well));
	int state = -1;

	runner->broken = calloc(count, sizeof(*runner->broken));
	if (!well || !runner->broken) {
		osp_error_set(runner->error, "out of memory");
		goto done;
	}
	runner->context->units = units;
	runner->context->unit_count = count;
	if (run_stage(runner, OSP_GROUP_EACH_GPU, add_each_gpu))
		goto done;
	runner->context->units = well;
	runner->context->unit_count = keep_well_units(runner, units, count, well);
	if (runner->context->unit_count)
		state = run_stage(runner, OSP_GROUP_ALL_GPUS, add_all_gpus);
	else
		state = tell_gpu_checks(runner, OSP_GROUP_ALL_GPUS, OSP_VERDICT_SKIP,
					"no GPU starts");
done:
	runner->context->units = NULL;
	free(runner->broken);
	free(well);
	return state;
}

static int find_and_run(struct runner *runner)
{
	struct osp_units units;
	char why[OSP_WHY_BYTES];
	int state = osp_units_find(runner->context, &units, why, sizeof(why));

	if (state)
		return tell_gpu_checks(runner, 0, state > 0 ? OSP_VERDICT_SKIP : OSP_VERDICT_ERROR,
				       why);
	runner->found = true;
	state = run_on_units(runner, units.units, units.count);
	free(units.units);
	return state;
}

static int run_gpus(struct runner *runner)
{
	char why[OSP_WHY_BYTES];
	bool any = false;
	int state, lock;

	for (size_t i = 0; i < runner->run->count; i++)
		any = any || loads_gpus(runner->run->outcomes[i].check);
	if (!any)
		return 0;
	if (basic_failed(runner, why, sizeof(why)))
		return tell_gpu_checks(runner, 0, OSP_VERDICT_SKIP, why);
	if (runner->context->units)
		return run_on_units(runner, runner->context->units, runner->context->unit_count);
	lock = osp_gpus_lock(runner->context->root, runner->budget_end_ms ? runner->budget_end_ms
									  : osp_now_ms() + LOCK_MS);
	if (lock == -2)
		return tell_gpu_checks(runner, 0, OSP_VERDICT_ERROR,
				       "another run of onespine check has the GPUs");
	state = find_and_run(runner);
	if (lock >= 0)
		close(lock);
	return state;
}

static int prepare(struct runner *runner, const struct osp_check *const *checks, size_t count)
{
	struct osp_run *run = runner->run;

	run->outcomes = calloc(count ? count : 1, sizeof(*run->outcomes));
	runner->before_ms = calloc(count ? count : 1, sizeof(*runner->before_ms));
	runner->rounds = calloc(count ? count : 1, sizeof(struct osp_speed_round *));
	if (!run->outcomes || !runner->before_ms || !runner->rounds)
		return osp_error_set(runner->error, "out of memory");
	for (size_t i = 0; i < count; i++) {
		enum osp_check_mode mode =
			osp_thresholds_mode(runner->context->thresholds, checks[i]->name);

		if (mode == OSP_CHECK_OFF)
			continue;
		run->outcomes[run->count].check = checks[i];
		run->outcomes[run->count++].mode = mode;
	}
	return 0;
}

int osp_run_checks(struct osp_check_context *context, const struct osp_check *const *checks,
		   size_t count, unsigned int budget_ms, struct osp_run *run,
		   struct osp_error *error)
{
	uint64_t begun_ms = osp_now_ms();
	struct runner runner = {.context = context, .run = run, .error = error};
	int state;

	memset(run, 0, sizeof(*run));
	if (budget_ms)
		runner.budget_end_ms = begun_ms + budget_ms;
	state = prepare(&runner, checks, count) || run_passive(&runner) || run_gpus(&runner) ? -1
											     : 0;
	for (size_t i = 0; i < run->count; i++) {
		osp_outcome_sort(&run->outcomes[i]);
		free(runner.rounds[i]);
	}
	free(runner.rounds);
	free(runner.before_ms);
	run->time_ms = (unsigned int)(osp_now_ms() - begun_ms);
	return state;
}

void osp_run_free(struct osp_run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		free(run->outcomes[i].results);
		free(run->outcomes[i].speeds);
		free(run->outcomes[i].figures);
	}
	free(run->outcomes);
	memset(run, 0, sizeof(*run));
}
