/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runner.c - the order of a run: the passive checks, each GPU, all of them; and results that need
 * all of these */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

#include "check/base/process.h"
#include "check/gpu/gpu.h"
#include "check/gpu/gpu_unit.h"
#include "check/runner/run_private.h"

#define LOCK_MS 120000 /* to wait for another run to end */

static bool loads_gpus(const struct osp_check *check)
{
	return check->group == OSP_GROUP_EACH_GPU || check->group == OSP_GROUP_ALL_GPUS;
}

static int add_each_gpu(struct osp_runner *runner)
{
	for (size_t i = 0; i < runner->context->unit_count; i++)
		if (!runner->broken[i] &&
		    osp_lanes_add(runner, OSP_GROUP_EACH_GPU, &runner->context->units[i],
				  (unsigned int)i))
			return -1;
	return 0;
}

/* Adds the lane of all GPUs: its checks see only healthy ones. */
static int add_all_gpus(struct osp_runner *runner)
{
	return osp_lanes_add(runner, OSP_GROUP_ALL_GPUS, NULL,
			     (unsigned int)runner->context->unit_count);
}

static int judge_speeds(struct osp_runner *runner, enum osp_check_group group, bool *slow)
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

/*
 * Looks for other users' processes. Any process slows work that uses the host's memory or a bus
 * that GPUs share, also one that waits while a network adapter writes into its memory. In a Prolog
 * the job itself has no processes yet.
 */
static void look_for_others(struct osp_runner *runner, enum osp_check_group group)
{
	char words[OSP_WORD_BYTES];

	/* A process that was seen once may have been there in any round. */
	for (size_t i = 0; i < runner->run->count; i++)
		if (runner->run->outcomes[i].check->group == group &&
		    *runner->run->outcomes[i].others)
			return;
	if (group != OSP_GROUP_ALL_GPUS ||
	    !osp_process_of_users(runner->context->root, words, sizeof(words)))
		return;
	for (size_t i = 0; i < runner->run->count; i++)
		if (runner->run->outcomes[i].check->group == group)
			snprintf(runner->run->outcomes[i].others, sizeof(words), "%s", words);
}

/* Measures slow speeds twice more, and looks before and after for what excuses them. */
static int measure_again(struct osp_runner *runner, enum osp_check_group group,
			 int (*add)(struct osp_runner *runner))
{
	struct osp_pardon_look before, after;
	bool slow;
	int state = 0;

	osp_pardon_look(runner, &before);
	slow = osp_pardon_first(runner, group, &before);
	runner->again = true;
	for (int round = 1; slow && !state && round < OSP_SPEED_ROUNDS && !osp_budget_over(runner);
	     round++) {
		state = add(runner) || osp_lanes_run(runner) ? -1 : 0;
		look_for_others(runner, group);
	}
	runner->again = false;
	if (slow && !state) {
		osp_pardon_look(runner, &after);
		osp_pardon_last(runner, group, &before, &after);
		osp_pardon_look_free(&after);
	}
	osp_pardon_look_free(&before);
	return state;
}

/* Runs one kind of lanes, then twice more for slow speeds; then turns the speeds into results. */
static int run_stage(struct osp_runner *runner, enum osp_check_group group,
		     int (*add)(struct osp_runner *runner))
{
	bool slow;

	runner->again = false;
	look_for_others(runner, group);
	if (add(runner) || osp_lanes_run(runner) || judge_speeds(runner, group, &slow))
		return -1;
	look_for_others(runner, group);
	if (slow && measure_again(runner, group, add))
		return -1;
	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (outcome->check->group != group)
			continue;
		if (runner->rounds[i] &&
		    osp_speeds_report(runner->context, outcome, runner->rounds[i], runner->error))
			return -1;
		if (outcome->check->pairs &&
		    osp_pairs_blame(runner->context, outcome, runner->error))
			return -1;
	}
	return 0;
}

static int add_gpu_lane(struct osp_runner *runner)
{
	return runner->start.asleep ? 0 : osp_lanes_add(runner, OSP_GROUP_GPU, NULL, 0);
}

/* Runs the passive groups side by side; the GPUs' group later if these are slow to start. */
static int run_passive(struct osp_runner *runner)
{
	bool awake;

	osp_start_begin(runner);
	awake = osp_start_wait(runner, true);
	if (awake && add_gpu_lane(runner))
		return -1;
	for (int group = OSP_GROUP_GPU + 1; group < OSP_GROUP_EACH_GPU; group++)
		if (osp_lanes_add(runner, group, NULL, 0))
			return -1;
	if (osp_lanes_run(runner))
		return -1;
	if (!awake) {
		osp_start_wait(runner, false);
		if (add_gpu_lane(runner) || osp_lanes_run(runner))
			return -1;
	}
	return runner->start.asleep ? osp_start_report(runner) : 0;
}

/* Runs the site's own checks one after the other. GPUs that they load are not reported here. */
static int run_site(struct osp_runner *runner)
{
	if (osp_lanes_add(runner, OSP_GROUP_SITE, NULL, 0))
		return -1;
	return osp_lanes_run(runner);
}

/* Makes every check that loads GPUs report why it does not. */
static int skip_gpu_checks(struct osp_runner *runner, enum osp_check_group least, const char *why)
{
	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (loads_gpus(outcome->check) && outcome->check->group >= least &&
		    osp_outcome_own(runner->context, outcome, OSP_VERDICT_SKIP, OSP_CURE_NONE, NULL,
				    0, "", why, runner->error))
			return -1;
	}
	return 0;
}

/* Reports why no GPU is loaded: the first check that loads GPUs says it (the basic one, unless only
 * others were asked for), and the rest are skipped. */
static int report_not_loaded(struct osp_runner *runner, enum osp_verdict verdict,
			     enum osp_cure cure, const char *value, const char *why)
{
	const struct osp_check *first = NULL;
	char skipped[OSP_WHY_BYTES];

	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];
		bool reports = !first;

		if (!loads_gpus(outcome->check))
			continue;
		if (reports) {
			first = outcome->check;
			snprintf(skipped, sizeof(skipped),
				 "%s did not pass, and this needs what it asks", first->name);
		}
		if (osp_outcome_own(runner->context, outcome, reports ? verdict : OSP_VERDICT_SKIP,
				    reports ? cure : OSP_CURE_NONE, NULL, 0, reports ? value : "",
				    reports ? why : skipped, runner->error))
			return -1;
	}
	return 0;
}

/* Reports why this GPU is left alone, for each check of one GPU. If only an untrusted process says
 * so, the first check that loads GPUs reports it as ERROR. */
static int report_left_alone(struct osp_runner *runner, const struct osp_unit *unit,
			     unsigned int order)
{
	bool error = unit->not_checked;

	for (size_t i = 0; i < runner->run->count; i++) {
		struct osp_outcome *outcome = &runner->run->outcomes[i];

		if (outcome->check->group != OSP_GROUP_EACH_GPU &&
		    !(error && loads_gpus(outcome->check)))
			continue;
		if (osp_outcome_own(runner->context, outcome,
				    error ? OSP_VERDICT_ERROR : OSP_VERDICT_SKIP, OSP_CURE_NONE,
				    unit, order, "", unit->left_alone, runner->error))
			return -1;
		error = false;
	}
	return 0;
}

/* Leaves GPUs that serve others alone: like broken ones, they are not loaded. */
static int leave_alone(struct osp_runner *runner, const struct osp_unit *units, size_t count)
{
	for (size_t unit = 0; unit < count; unit++) {
		if (!*units[unit].left_alone)
			continue;
		runner->broken[unit] = true;
		runner->run->left_alone++;
		if (report_left_alone(runner, &units[unit], (unsigned int)unit))
			return -1;
	}
	return 0;
}

/* Returns whether a basic check failed, so that no GPU must be loaded, and why. */
static bool basic_failed(const struct osp_runner *runner, char *why, size_t why_bytes)
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

/* Copies the GPUs whose basic check passed, for the checks of all. */
static size_t keep_well_units(const struct osp_runner *runner, const struct osp_unit *units,
			      size_t count, struct osp_unit *well)
{
	size_t well_count = 0;

	for (size_t i = 0; i < count; i++)
		if (!runner->broken[i])
			well[well_count++] = units[i];
	return well_count;
}

static int run_on_units(struct osp_runner *runner, const struct osp_unit *units, size_t count)
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
	osp_gpus_wait_ready(runner->context, runner->budget_end_ms);
	if (leave_alone(runner, units, count) ||
	    run_stage(runner, OSP_GROUP_EACH_GPU, add_each_gpu))
		goto done;
	osp_forgive_alike(runner->run, units, count);
	runner->context->units = well;
	runner->context->unit_count = keep_well_units(runner, units, count, well);
	if (runner->context->unit_count)
		state = run_stage(runner, OSP_GROUP_ALL_GPUS, add_all_gpus);
	else
		state = skip_gpu_checks(runner, OSP_GROUP_ALL_GPUS, "no GPU to load");
done:
	runner->context->units = NULL;
	free(runner->broken);
	free(well);
	return state;
}

static int find_and_run(struct osp_runner *runner)
{
	struct osp_units units;
	char why[OSP_WHY_BYTES];
	int state;

	switch (osp_units_find(runner->context, &units, why, sizeof(why))) {
	case OSP_FOUND:
		break;
	case OSP_FOUND_NONE:
		return skip_gpu_checks(runner, OSP_GROUP_EACH_GPU, why);
	case OSP_FOUND_ERROR:
		return report_not_loaded(runner, OSP_VERDICT_ERROR, OSP_CURE_NONE, "", why);
	case OSP_FOUND_HANGING:
		return report_not_loaded(
			runner, runner->start.unsure ? OSP_VERDICT_ERROR : OSP_VERDICT_FAIL,
			OSP_CURE_REBOOT, "hangs", why);
	}
	runner->found = true;
	state = run_on_units(runner, units.units, units.count);
	free(units.units);
	return state;
}

static int run_gpus(struct osp_runner *runner)
{
	char why[OSP_WHY_BYTES];
	bool any = false;
	int state, lock;

	for (size_t i = 0; i < runner->run->count; i++)
		any = any || loads_gpus(runner->run->outcomes[i].check);
	if (!any)
		return 0;
	if (runner->start.asleep)
		return skip_gpu_checks(runner, OSP_GROUP_EACH_GPU,
				       "a GPU is late to start: none is loaded");
	if (basic_failed(runner, why, sizeof(why)))
		return skip_gpu_checks(runner, OSP_GROUP_EACH_GPU, why);
	if (runner->context->units)
		return run_on_units(runner, runner->context->units, runner->context->unit_count);
	lock = osp_gpus_lock(runner->context->root, runner->budget_end_ms ? runner->budget_end_ms
									  : osp_now_ms() + LOCK_MS);
	if (lock == -2)
		return report_not_loaded(runner, OSP_VERDICT_ERROR, OSP_CURE_NONE, "",
					 "another run of onespine check has the GPUs");
	state = find_and_run(runner);
	if (lock >= 0)
		close(lock);
	return state;
}

static int prepare(struct osp_runner *runner, const struct osp_check *const *checks, size_t count)
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
	struct osp_runner runner = {.context = context, .run = run, .error = error};
	int state;

	memset(run, 0, sizeof(*run));
	if (budget_ms)
		runner.budget_end_ms = begun_ms + budget_ms;
	context->until_ms = runner.budget_end_ms;
	state = prepare(&runner, checks, count) || run_passive(&runner) || run_site(&runner) ||
				run_gpus(&runner)
			? -1
			: 0;
	if (!state)
		osp_look_later(&runner);
	osp_start_end(&runner);
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
