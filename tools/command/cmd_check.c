/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_check.c - `onespine check`: can this node run a job? */
#include "lib/base/text.h"
#include "tools/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "check/base/gpus.h"
#include "check/runner/site_checks.h"
#include "tools/command/pass_options.h"
#include "host/record/record.h"
#include "host/record/thresholds_file.h"
#include "host/slurm/slurm_files.h"
#include "host/files.h"

#define START_SHOWN_MS	    1000 /* GPUs that are awake take less time */
#define BUDGET_MOST_S	    86400
#define QUICK_LOAD_MS	    4000
#define FULL_LOAD_MS	    240000
#define BUDGET_LOAD_PERCENT 60 /* the rest is for starts, ends and second measurements */

#define CHECKS_MAX	    (OSP_CHECK_NAMES_MAX + OSP_SITE_CHECKS_MAX)

/* A set of checks: all that exist, or those to run. */
struct choice {
	const struct osp_check *checks[CHECKS_MAX];
	size_t count;
};

/* Lists our checks, then the site's own. */
static void all_checks(const struct osp_site_checks *own, struct choice *all)
{
	all->count = 0;
	for (size_t i = 0; i < osp_check_count; i++)
		all->checks[all->count++] = osp_checks[i];
	for (size_t i = 0; i < own->count; i++)
		all->checks[all->count++] = &own->checks[i].check;
}

static const struct osp_check *find_check(const struct choice *all, const char *name,
					  struct osp_error *error)
{
	const char *names[CHECKS_MAX];
	const char *nearest;

	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->checks[i]->name, name) == 0)
			return all->checks[i];
		names[i] = all->checks[i]->name;
	}
	nearest = osp_nearest_word(name, names, all->count);
	osp_error_set(error, "there is no check '%.40s'%s%s; see onespine check --list", name,
		      nearest ? "; did you mean " : "", nearest ? nearest : "");
	return NULL;
}

/* Chooses the checks of --only, or all of the depth, in the order of the list. */
static int choose_checks(const struct choice *all, const char *only, enum osp_depth depth,
			 struct choice *choice, struct osp_error *error)
{
	bool wanted[CHECKS_MAX] = {false};
	bool named = only != NULL;

	if (only && !*only)
		return osp_error_set(error, "--only needs the name of a check");
	while (only && *only) {
		size_t length = strcspn(only, ",");
		const struct osp_check *check;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)length, only);
		check = find_check(all, name, error);
		if (!check)
			return -1;
		if (check->depth > depth)
			return osp_error_set(error, "%s is of depth %s: give --depth=%s too",
					     check->name, osp_depth_name(check->depth),
					     osp_depth_name(check->depth));
		for (size_t i = 0; i < all->count; i++)
			wanted[i] = wanted[i] || all->checks[i] == check;
		only += length + (only[length] == ',');
	}
	for (size_t i = 0; i < all->count; i++)
		if (named ? wanted[i] : all->checks[i]->depth <= depth)
			choice->checks[choice->count++] = all->checks[i];
	return 0;
}

static int parse_depth(const char *depth, enum osp_depth *answer, struct osp_error *error)
{
	const char *names[OSP_DEPTH_FULL + 1];
	const char *nearest;

	*answer = OSP_DEPTH_PASSIVE;
	for (int i = 0; i <= OSP_DEPTH_FULL; i++) {
		names[i] = osp_depth_name(i);
		if (depth && strcmp(depth, names[i]) == 0)
			*answer = i;
	}
	if (!depth || strcmp(depth, names[*answer]) == 0)
		return 0;
	nearest = osp_nearest_word(depth, names, OSP_DEPTH_FULL + 1);
	return osp_error_set(error, "--depth=%.40s: passive, quick or full is expected%s%s%s",
			     depth, nearest ? "; did you mean " : "", nearest ? nearest : "",
			     nearest ? "?" : "");
}

/* Returns how long GPUs are loaded: at depth full as long as the budget allows. */
static unsigned int load_ms(enum osp_depth depth, unsigned int budget_ms)
{
	unsigned int most_ms = depth == OSP_DEPTH_FULL ? FULL_LOAD_MS : QUICK_LOAD_MS;
	const char *of_tests = getenv("ONESPINE_TEST_LOAD_MS");

	if (of_tests)
		return (unsigned int)strtoul(of_tests, NULL, 10);
	if (depth == OSP_DEPTH_FULL && budget_ms)
		return budget_ms / 100 * BUDGET_LOAD_PERCENT;
	if (budget_ms && budget_ms / 100 * BUDGET_LOAD_PERCENT < most_ms)
		return budget_ms / 100 * BUDGET_LOAD_PERCENT;
	return most_ms;
}

static int parse_budget(const char *budget, unsigned int *budget_ms, struct osp_error *error)
{
	unsigned long seconds;
	char *end;

	if (!budget)
		return 0;
	errno = 0;
	seconds = strtoul(budget, &end, 10);
	if (errno || *end || *budget < '0' || *budget > '9' || !seconds || seconds > BUDGET_MOST_S)
		return osp_error_set(error, "--budget=%.40s: seconds from 1 to %d are expected",
				     budget, BUDGET_MOST_S);
	*budget_ms = (unsigned int)seconds * 1000;
	return 0;
}

/* --- list and explain ------------------------------------------------------------------------- */

static int list_checks(const struct choice *all, bool json)
{
	struct osp_text text = OSP_TEXT_INIT;
	json_t *list = json ? json_array() : NULL;
	size_t width = 14;

	for (size_t i = 0; i < all->count; i++)
		if (strlen(all->checks[i]->name) > width)
			width = strlen(all->checks[i]->name);
	for (size_t i = 0; i < all->count; i++) {
		const struct osp_check *check = all->checks[i];

		if (!json)
			osp_text_printf(&text, "%-*s  %s\n", (int)width, check->name,
					check->measures);
		else
			json_array_append_new(list,
					      json_pack("{s:s,s:s,s:s,s:s}", "name", check->name,
							"depth", osp_depth_name(check->depth),
							"worst", osp_verdict_name(check->worst),
							"measures", check->measures));
	}
	return json ? osp_print_json(list, OSP_EXIT_YES) : osp_print_text(&text, OSP_EXIT_YES);
}

static int explain_check(const struct choice *all, const char *name)
{
	struct osp_error error = {.text = ""};
	const struct osp_check *check = find_check(all, name, &error);
	struct osp_text text = OSP_TEXT_INIT;

	if (!check)
		return osp_say_error(&error);
	osp_text_printf(&text, "%s: %s\n\n", check->name, check->measures);
	osp_help_wrap(&text, check->explains, 0);
	osp_text_add(&text, "\nWhat to do\n");
	osp_help_wrap(&text, check->cures, 2);
	if (check->program) {
		osp_text_printf(
			&text,
			"\nDepth %s; says at worst %s; given site_check_s of the thresholds.\n",
			osp_depth_name(check->depth), osp_verdict_name(check->worst));
		return osp_print_text(&text, OSP_EXIT_YES);
	}
	osp_text_printf(&text, "\nDepth %s; says at worst %s; given %u.%u s%s.\n",
			osp_depth_name(check->depth), osp_verdict_name(check->worst),
			check->deadline_ms / 1000, check->deadline_ms % 1000 / 100,
			check->share ? ", and what it loads a GPU" : "");
	return osp_print_text(&text, OSP_EXIT_YES);
}

/* --- results ---------------------------------------------------------------------------------- */

static const char *verdict_colour(enum osp_verdict verdict)
{
	switch (verdict) {
	case OSP_VERDICT_FAIL:
		return "\033[31m";
	case OSP_VERDICT_ERROR:
	case OSP_VERDICT_WARN:
		return "\033[33m";
	default:
		return "";
	}
}

static void add_head(struct osp_text *text, const struct osp_outcome *outcome, bool first,
		     enum osp_verdict verdict, bool colours)
{
	const char *colour = colours ? verdict_colour(verdict) : "";

	osp_text_printf(text, "%-14s  %s%-5s%s %5u ms  ", first ? outcome->check->name : "", colour,
			osp_verdict_name(verdict), *colour ? "\033[0m" : "", outcome->time_ms);
}

static void add_result(struct osp_text *text, const struct osp_result *result, const char *last)
{
	bool wordy = result->verdict == OSP_VERDICT_SKIP || result->verdict == OSP_VERDICT_ERROR;

	osp_text_printf(text, "%s%s%s%s", result->subject, *last ? " to " : "", last,
			!*result->subject ? ""
			: wordy		  ? ": "
					  : " ");
	if (wordy)
		osp_text_printf(text, "%s\n", result->why);
	else
		osp_text_printf(text, "%s%s%s\n", result->value, *result->limit ? " " : "",
				result->limit);
	if (result->verdict != OSP_VERDICT_FAIL && result->verdict != OSP_VERDICT_WARN)
		return;
	osp_text_printf(text, "%33s%s\n", "", result->why);
	if (*result->source)
		osp_text_printf(text, "%33slimit: %s\n", "", result->source);
	if (result->cure)
		osp_text_printf(text, "%33sdo: %s\n", "", osp_cure_name(result->cure));
}

/* Adds the speeds of one kind of all GPUs in a line: the slowest and the fastest. */
static void add_speeds(struct osp_text *text, const struct osp_outcome *outcome, size_t first)
{
	const struct osp_speed *speed = &outcome->speeds[first];
	double least = speed->value, most = speed->value;
	size_t count = 0;

	for (size_t i = first; i < outcome->speed_count; i++) {
		double value = outcome->speeds[i].value;

		if (strcmp(outcome->speeds[i].what, speed->what) != 0)
			continue;
		least = value < least ? value : least;
		most = value > most ? value : most;
		count++;
	}
	osp_text_printf(text, "%s %.0f", speed->what, least);
	if (count > 1)
		osp_text_printf(text, " to %.0f", most);
	osp_text_printf(text, " %s", speed->unit);
	if (count > 1)
		osp_text_printf(text, " (%zu)", count);
	osp_text_add(text, "\n");
}

static bool first_of_its_kind(const struct osp_outcome *outcome, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(outcome->speeds[i].what, outcome->speeds[index].what) == 0)
			return false;
	return true;
}

static bool same_words(const struct osp_result *one, const struct osp_result *other)
{
	return one->verdict == other->verdict && *one->subject && *other->subject &&
	       strcmp(one->value, other->value) == 0 && strcmp(one->limit, other->limit) == 0 &&
	       (one->verdict == OSP_VERDICT_PASS || strcmp(one->why, other->why) == 0);
}

/* Returns whether the result is already shown: a good speed is in the line of all speeds. */
static bool shown_already(const struct osp_result *result)
{
	return result->speed && result->verdict == OSP_VERDICT_PASS;
}

/* Returns the last of the GPUs after `from` with the same result. */
static size_t last_alike(const struct osp_outcome *outcome, size_t from)
{
	size_t last = from;

	for (size_t i = from + 1; i < outcome->result_count; i++) {
		if (shown_already(&outcome->results[i]))
			continue;
		if (!same_words(&outcome->results[from], &outcome->results[i]))
			break;
		last = i;
	}
	return last;
}

static void add_outcome(struct osp_text *text, const struct osp_outcome *outcome, bool colours)
{
	bool first = true;

	for (size_t i = 0; i < outcome->speed_count; i++) {
		if (!first_of_its_kind(outcome, i))
			continue;
		add_head(text, outcome, first, OSP_VERDICT_PASS, colours);
		add_speeds(text, outcome, i);
		first = false;
	}
	for (size_t i = 0; i < outcome->result_count; i++) {
		const struct osp_result *result = &outcome->results[i];
		size_t last;

		if (shown_already(result))
			continue;
		last = last_alike(outcome, i);
		add_head(text, outcome, first, result->verdict, colours);
		add_result(text, result, last > i ? outcome->results[last].subject : "");
		first = false;
		i = last;
	}
}

static int print_run(const struct osp_run *run, int status)
{
	size_t counts[OSP_VERDICT_FAIL + 1] = {0};
	bool colours = osp_output_colours();
	struct osp_text text = OSP_TEXT_INIT;
	char reason[512];

	for (size_t i = 0; i < run->count; i++) {
		const struct osp_outcome *outcome = &run->outcomes[i];

		counts[outcome->verdict]++;
		add_outcome(&text, outcome, colours);
		if (outcome->mode != OSP_CHECK_ENFORCE && outcome->verdict == OSP_VERDICT_FAIL)
			osp_text_printf(&text, "%33sfails nothing: mode %s\n", "",
					osp_check_mode_name(outcome->mode));
	}
	osp_text_printf(
		&text,
		"%zu check%s in %u.%02u s: %zu passed, %zu skipped, %zu warned, %zu in error, "
		"%zu failed\n",
		run->count, osp_plural_s(run->count), run->time_ms / 1000, run->time_ms % 1000 / 10,
		counts[OSP_VERDICT_PASS], counts[OSP_VERDICT_SKIP], counts[OSP_VERDICT_WARN],
		counts[OSP_VERDICT_ERROR], counts[OSP_VERDICT_FAIL]);
	if (run->start_ms >= START_SHOWN_MS)
		osp_text_printf(&text, "starting the GPUs took %u.%02u s of it\n",
				run->start_ms / 1000, run->start_ms % 1000 / 10);
	if (*osp_run_reason(run, reason, sizeof(reason)))
		osp_text_printf(&text, "%s\n", reason);
	return osp_print_text(&text, status);
}

static json_t *result_to_json(const struct osp_result *result)
{
	json_t *object = json_object();

	json_object_set_new(object, "verdict", json_string(osp_verdict_name(result->verdict)));
	json_object_set_new(object, "subject", osp_json_string(result->subject));
	json_object_set_new(object, "value", osp_json_string(result->value));
	json_object_set_new(object, "limit", osp_json_string(result->limit));
	json_object_set_new(object, "source", osp_json_string(result->source));
	json_object_set_new(object, "why", osp_json_string(result->why));
	json_object_set_new(object, "do", json_string(osp_cure_name(result->cure)));
	return object;
}

static json_t *outcome_to_json(const struct osp_outcome *outcome)
{
	json_t *object = json_object(), *results = json_array();

	for (size_t i = 0; i < outcome->result_count; i++)
		json_array_append_new(results, result_to_json(&outcome->results[i]));
	json_object_set_new(object, "name", json_string(outcome->check->name));
	json_object_set_new(object, "verdict", json_string(osp_verdict_name(outcome->verdict)));
	json_object_set_new(object, "mode", json_string(osp_check_mode_name(outcome->mode)));
	json_object_set_new(object, "time_ms", json_integer(outcome->time_ms));
	json_object_set_new(object, "results", results);
	return object;
}

static int print_run_json(const struct osp_check_context *context, const struct osp_run *run,
			  int status)
{
	json_t *root = json_object(), *checks = json_array();
	char reason[512];

	for (size_t i = 0; i < run->count; i++)
		json_array_append_new(checks, outcome_to_json(&run->outcomes[i]));
	json_object_set_new(root, "verdict",
			    json_string(osp_verdict_name(osp_run_verdict(run, false))));
	json_object_set_new(root, "reason",
			    osp_json_string(osp_run_reason(run, reason, sizeof(reason))));
	json_object_set_new(root, "fresh", json_false());
	json_object_set_new(root, "depth", json_string(osp_depth_name(context->depth)));
	json_object_set_new(root, "machine", osp_json_string(context->node));
	json_object_set_new(root, "time_ms", json_integer(run->time_ms));
	json_object_set_new(root, "start_ms", json_integer(run->start_ms));
	json_object_set_new(root, "checks", checks);
	return osp_print_json(root, status);
}

static int exit_status(const struct osp_run *run)
{
	switch (osp_run_verdict(run, false)) {
	case OSP_VERDICT_FAIL:
		return OSP_EXIT_NO;
	case OSP_VERDICT_ERROR:
		return OSP_EXIT_UNABLE;
	default:
		return OSP_EXIT_YES;
	}
}

/* Runs the checks, prints their results, then keeps them. */
static int run_and_report(const struct osp_call *call, struct osp_check_context *context,
			  const struct choice *choice, unsigned int budget_ms)
{
	bool dry = call->values[OSP_OPTION_CHECK_DRY_RUN];
	struct osp_error error = {.text = ""};
	struct osp_run run = {.count = 0};
	struct osp_record record;
	int status, failed;

	context->keep = !dry;
	osp_record_begin(&record, context, !dry);
	failed = osp_run_checks(context, choice->checks, choice->count, budget_ms, &run, &error);
	if (failed) {
		status = osp_say_error(&error);
	} else {
		status = dry ? OSP_EXIT_YES : exit_status(&run);
		status = call->values[OSP_OPTION_JSON] ? print_run_json(context, &run, status)
						       : print_run(&run, status);
	}
	/* The output ends here, so that its reader does not wait until the result is kept. */
	osp_output_end();
	osp_record_end(&record, context, failed ? NULL : &run, context->depth,
		       !call->values[OSP_OPTION_ONLY_CHECKS]);
	osp_run_free(&run);
	return status;
}

/* Limits the check to a user's own GPUs, those that CUDA may see: in a job without cgroups NVML
 * shows every GPU. */
static int only_own_gpus(enum osp_depth depth, const char **gpus, struct osp_error *error)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (depth == OSP_DEPTH_PASSIVE || *gpus || !visible || geteuid() == 0)
		return 0;
	if (!osp_gpus_valid(visible, NULL))
		return osp_error_set(
			error,
			"CUDA_VISIBLE_DEVICES=%.60s: say with --gpus which GPUs may be "
			"loaded",
			visible);
	*gpus = visible;
	return 0;
}

/* Runs the chosen checks of `all`. */
static int check_node(const struct osp_call *call, const char *root, const struct choice *all)
{
	struct osp_error error = {.text = ""};
	struct osp_thresholds *thresholds = NULL;
	struct choice choice = {.count = 0};
	struct osp_check_context context;
	const char *gpus = call->values[OSP_OPTION_GPUS];
	unsigned int budget_ms = 0;
	enum osp_depth depth;
	int status;

	if (parse_depth(call->values[OSP_OPTION_DEPTH], &depth, &error) ||
	    parse_budget(call->values[OSP_OPTION_BUDGET], &budget_ms, &error) ||
	    choose_checks(all, call->values[OSP_OPTION_ONLY_CHECKS], depth, &choice, &error) ||
	    (gpus && !osp_gpus_valid(gpus, &error)) || only_own_gpus(depth, &gpus, &error) ||
	    !(thresholds =
		      osp_thresholds_in_force(call->values[OSP_OPTION_THRESHOLDS], root, &error)))
		return osp_say_error(&error);
	osp_check_context_set(&context, root, thresholds);
	if (getenv("ONESPINE_TEST_DEADLINE_MS"))
		context.deadline_most_ms =
			(unsigned int)strtoul(getenv("ONESPINE_TEST_DEADLINE_MS"), NULL, 10);
	context.gpus = gpus;
	context.data =
		getenv("ONESPINE_TEST_DATA") && *root ? getenv("ONESPINE_TEST_DATA") : OSP_DATA_DIR;
	context.site = *root ? NULL : OSP_SITE_DIR;
	/* a test's machine has no slurm.conf unless the test names one */
	if (!*root || getenv("SLURM_CONF"))
		context.without_gpus = osp_slurm_gives_no_gpus;
	context.depth = depth;
	context.load_ms = load_ms(depth, budget_ms);
	switch (osp_pass_options(call, &context, depth, &status, &error)) {
	case 1:
		break;
	case 0:
		status = run_and_report(call, &context, &choice, budget_ms);
		break;
	default:
		status = osp_say_error(&error);
	}
	osp_thresholds_free(thresholds);
	return status;
}

int osp_run_check(const struct osp_call *call)
{
	const char *root = getenv("ONESPINE_TEST_ROOT"); /* for tests: a folder that is used as / */
	struct osp_error error = {.text = ""};
	struct osp_site_checks own;
	struct choice all;
	int status;

	if (!root)
		root = "";
	if (osp_site_checks_find(root, OSP_SITE_DIR, &own, &error)) {
		status = osp_say_error(&error);
	} else {
		all_checks(&own, &all);
		if (call->values[OSP_OPTION_LIST])
			status = list_checks(&all, call->values[OSP_OPTION_JSON]);
		else if (call->values[OSP_OPTION_EXPLAIN])
			status = explain_check(&all, call->values[OSP_OPTION_EXPLAIN]);
		else
			status = check_node(call, root, &all);
	}
	osp_site_checks_free(&own);
	return status;
}
