/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_history.c - `onespine history`: what earlier checks found on a node or a GPU */
#include "tools/command/command.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/text.h"
#include "lib/health/history.h"
#include "host/record/history_read.h"
#include "host/record/record.h"

#define MOVED	    0.05 /* a smaller change of a figure is not shown */
#define SPARK_MAX   24
#define GROWTHS_MAX 8  /* for one node or GPU; JSON has them all */
#define UUID_START  12 /* letters of a UUID that name it: "GPU-01234567" */

/* --- which ------------------------------------------------------------------------------------ */

struct chosen {
	const struct osp_history_subject **subjects;
	size_t count;
	bool lemon;
};

/* Returns whether the word is the start of a UUID; a node may be called gpu-1. */
static bool is_uuid(const char *word)
{
	return strlen(word) >= UUID_START && strncasecmp(word, "GPU-", 4) == 0;
}

/* Returns whether the subject matches. A node's name includes its instances and the GPUs that
 * were last in them. */
static bool matches(const struct osp_history_subject *subject, const char *word)
{
	if (is_uuid(word) && subject->is_gpu && strncasecmp(subject->key, word, strlen(word)) == 0)
		return true;
	return strcmp(subject->instance, word) == 0 || strcmp(subject->node, word) == 0 ||
	       strcmp(subject->key, word) == 0;
}

/* Returns whether other nodes' runs are missing from an answer. */
static bool only_here(const struct osp_call *call, const struct osp_history_policy *policy)
{
	return !call->values[OSP_OPTION_FOLDER] && !policy->shared;
}

static int unknown_word(const char *word, const struct osp_history_subject *subjects, size_t count,
			bool here, struct osp_error *error)
{
	const char **names = calloc(2 * count + 1, sizeof(*names)), *nearest = NULL;

	for (size_t i = 0; names && i < count; i++) {
		names[2 * i] = subjects[i].key;
		names[2 * i + 1] = subjects[i].node;
	}
	if (names)
		nearest = osp_nearest_word(word, names, 2 * count);
	osp_error_set(error, "no run of '%.60s' is kept%s%s%s%s", word,
		      here ? " on this node, and history.shared is off (onespine.yaml)" : "",
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	free(names);
	return -1;
}

static int choose(const struct osp_call *call, const struct osp_history_subject *subjects,
		  size_t count, bool here, struct chosen *chosen, struct osp_error *error)
{
	bool *wanted = calloc(count + 1, sizeof(*wanted));

	chosen->subjects = calloc(count + 1, sizeof(const struct osp_history_subject *));
	if (!wanted || !chosen->subjects) {
		free(wanted);
		return osp_error_set(error, "out of memory");
	}
	for (int n = 0; n < call->argument_count; n++) {
		bool any = false;

		for (size_t i = 0; i < count; i++)
			if (matches(&subjects[i], call->arguments[n]))
				any = wanted[i] = true;
		if (!any) {
			free(wanted);
			return unknown_word(call->arguments[n], subjects, count, here, error);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (!wanted[i] && (call->argument_count || !subjects[i].strikes_ever))
			continue;
		chosen->subjects[chosen->count++] = &subjects[i];
		chosen->lemon |= subjects[i].lemon;
	}
	free(wanted);
	return 0;
}

/* --- report ----------------------------------------------------------------------------------- */

static const char *verdict_word(enum osp_history_verdict verdict)
{
	switch (verdict) {
	case OSP_HISTORY_PASS:
		return "passed";
	case OSP_HISTORY_FAIL:
		return "failed";
	case OSP_HISTORY_OTHER:
		break;
	}
	return "not known";
}

static bool moved(const struct osp_history_trend *trend)
{
	return fabs(trend->change) >= MOVED;
}

/* Adds the trend as blocks, thinned to fit; without UTF-8 as digits. */
static void add_spark(struct osp_text *text, const struct osp_history_trend *trend)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t count = trend->count < SPARK_MAX ? trend->count : SPARK_MAX;
	double span = trend->most - trend->least;
	bool utf8 = osp_output_utf8();

	for (size_t i = 0; i < count; i++) {
		double value = trend->values[i * trend->count / count];
		int height = span > 0 ? (int)((value - trend->least) / span * 7.999) : 3;

		if (utf8)
			osp_text_add(text, blocks[height]);
		else
			osp_text_printf(text, "%d", height);
	}
}

static void add_trends(struct osp_text *text, struct osp_history *history, const char *key,
		       bool all)
{
	const struct osp_history_trend *trends;
	size_t count;

	trends = osp_history_trends(history, key, &count);
	for (size_t i = 0; i < count; i++) {
		const struct osp_history_trend *trend = &trends[i];

		if (!all && !moved(trend))
			continue;
		osp_text_printf(text, "    %s%s%-24s %.4g -> %.4g", trend->subject,
				*trend->subject ? " " : "", trend->name, trend->first, trend->last);
		if (moved(trend))
			osp_text_printf(text, " (%+.0f %%)", trend->change * 100);
		osp_text_printf(text, ", least %.4g, most %.4g, %zu run%s  ", trend->least,
				trend->most, trend->count, osp_plural_s(trend->count));
		add_spark(text, trend);
		osp_text_add(text, "\n");
	}
}

/* Adds the errors that were counted, and the job: "job 123: mlx5_0:1 link_downed +2, 2026-03-01
 * .." */
static void add_growths(struct osp_text *text, struct osp_history *history, const char *key)
{
	const struct osp_history_growth *growths;
	char time[64];
	size_t count;

	growths = osp_history_growths(history, key, &count);
	for (size_t i = 0; i < count && i < GROWTHS_MAX; i++) {
		const struct osp_history_growth *growth = &growths[i];

		osp_text_add(text, "    counted");
		if (growth->job)
			osp_text_printf(text, " %s job %u",
					strcmp(growth->when, "epilog") == 0 ? "after" : "before",
					growth->job);
		osp_text_printf(text, ": %s%s%s +%llu, %s\n", growth->subject,
				*growth->subject ? " " : "", growth->name,
				(unsigned long long)growth->more,
				osp_format_time(growth->time_s, time, sizeof(time)));
	}
	if (count > GROWTHS_MAX)
		osp_text_printf(text, "    and %zu more time%s\n", count - GROWTHS_MAX,
				osp_plural_s(count - GROWTHS_MAX));
}

static void add_subject(struct osp_text *text, struct osp_history *history,
			const struct osp_history_subject *subject,
			const struct osp_history_rule *rule, bool all_figures)
{
	const char *red = osp_output_colours() && subject->lemon ? "\033[31m" : "";
	char time[64];

	osp_text_printf(text, "%s%s%s", red, subject->key, *red ? "\033[0m" : "");
	if (subject->is_gpu && strcmp(subject->instance, subject->node) != 0)
		osp_text_printf(text, " in %s", subject->instance);
	if (strcmp(subject->node, subject->key) != 0)
		osp_text_printf(text, " on %s", subject->node);
	if (subject->nodes > 1)
		osp_text_printf(text, ", %zu %s so far", subject->nodes,
				subject->is_gpu ? "instances" : "names");
	osp_text_printf(text, ": %zu run%s, %zu failed, %zu strike%s in %u day%s%s%s%s\n",
			subject->runs, osp_plural_s(subject->runs), subject->failed,
			subject->strikes, osp_plural_s(subject->strikes), rule->strike_days,
			osp_plural_s(rule->strike_days), red, subject->lemon ? ": lemon" : "",
			*red ? "\033[0m" : "");
	osp_text_printf(text, "    last run %s: %s\n",
			osp_format_time(subject->last_s, time, sizeof(time)),
			verdict_word(subject->last));
	if (subject->strikes_ever)
		osp_text_printf(text, "    last strike %s: %s%s%s\n",
				osp_format_time(subject->last_strike_s, time, sizeof(time)),
				subject->last_check, *subject->last_reason ? ", " : "",
				subject->last_reason);
	add_growths(text, history, subject->key);
	add_trends(text, history, subject->key, all_figures);
}

static int print_text(struct osp_history_reading *reading, const struct chosen *chosen,
		      const struct osp_history_rule *rule, bool all_figures, bool here, int status)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (size_t i = 0; i < chosen->count; i++)
		add_subject(&text, reading->history, chosen->subjects[i], rule, all_figures);
	if (!chosen->count)
		osp_text_printf(&text, "%zu run%s kept; none has failed\n", reading->runs,
				reading->runs == 1 ? " is" : "s are");
	if (here)
		osp_text_add(&text, "these are this node's runs alone: history.shared is off "
				    "(onespine.yaml)\n");
	return osp_print_text(&text, status);
}

static json_t *trends_to_json(struct osp_history *history, const char *key)
{
	const struct osp_history_trend *trends;
	json_t *list = json_array();
	size_t count;

	trends = osp_history_trends(history, key, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:o,s:o,s:I,s:f,s:f,s:f,s:f,s:f}",
						      "subject", osp_json_string(trends[i].subject),
						      "name", osp_json_string(trends[i].name),
						      "count", (json_int_t)trends[i].count, "first",
						      trends[i].first, "last", trends[i].last,
						      "least", trends[i].least, "most",
						      trends[i].most, "change", trends[i].change));
	return list;
}

static json_t *growths_to_json(struct osp_history *history, const char *key)
{
	const struct osp_history_growth *growths;
	json_t *list = json_array();
	size_t count;

	growths = osp_history_growths(history, key, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:o,s:o,s:I,s:I,s:I,s:o}", "subject",
						      osp_json_string(growths[i].subject), "name",
						      osp_json_string(growths[i].name), "more",
						      (json_int_t)growths[i].more, "time_s",
						      (json_int_t)growths[i].time_s, "job",
						      (json_int_t)growths[i].job, "when",
						      osp_json_string(growths[i].when)));
	return list;
}

static json_t *subject_to_json(struct osp_history *history,
			       const struct osp_history_subject *subject)
{
	json_t *object = json_object();

	json_object_set_new(object, "key", osp_json_string(subject->key));
	json_object_set_new(object, "kind", json_string(subject->is_gpu ? "gpu" : "instance"));
	json_object_set_new(object, "node", osp_json_string(subject->node));
	json_object_set_new(object, "instance", osp_json_string(subject->instance));
	json_object_set_new(object, "places", json_integer((json_int_t)subject->nodes));
	json_object_set_new(object, "runs", json_integer((json_int_t)subject->runs));
	json_object_set_new(object, "failed", json_integer((json_int_t)subject->failed));
	json_object_set_new(object, "strikes", json_integer((json_int_t)subject->strikes));
	json_object_set_new(object, "strikes_ever",
			    json_integer((json_int_t)subject->strikes_ever));
	json_object_set_new(object, "lemon", json_boolean(subject->lemon));
	json_object_set_new(object, "first_s", json_integer(subject->first_s));
	json_object_set_new(object, "last_s", json_integer(subject->last_s));
	json_object_set_new(object, "last", json_string(verdict_word(subject->last)));
	json_object_set_new(object, "last_strike_s", json_integer(subject->last_strike_s));
	json_object_set_new(object, "last_check", osp_json_string(subject->last_check));
	json_object_set_new(object, "last_reason", osp_json_string(subject->last_reason));
	json_object_set_new(object, "figures", trends_to_json(history, subject->key));
	json_object_set_new(object, "grew", growths_to_json(history, subject->key));
	return object;
}

static int print_json(struct osp_history_reading *reading, const struct chosen *chosen,
		      const struct osp_history_rule *rule, bool all_nodes, int status)
{
	json_t *root = json_object(), *list = json_array();

	for (size_t i = 0; i < chosen->count; i++)
		json_array_append_new(list, subject_to_json(reading->history, chosen->subjects[i]));
	json_object_set_new(root, "runs", json_integer((json_int_t)reading->runs));
	json_object_set_new(root, "all_nodes", json_boolean(all_nodes));
	json_object_set_new(root, "passed_over", json_integer((json_int_t)reading->passed_over));
	json_object_set_new(root, "strikes_of_a_lemon", json_integer(rule->strikes));
	json_object_set_new(root, "strike_days", json_integer(rule->strike_days));
	json_object_set_new(root, "subjects", list);
	return osp_print_json(root, status);
}

/* --- the command ------------------------------------------------------------------------------ */

static int report(const struct osp_call *call, struct osp_history_reading *reading,
		  const struct osp_history_rule *rule, const struct osp_history_policy *policy,
		  struct osp_error *error)
{
	bool here = only_here(call, policy);
	const struct osp_history_subject *subjects;
	struct chosen chosen = {.count = 0};
	size_t count;
	int status;

	subjects = osp_history_judge(reading->history, rule, &count);
	if (choose(call, subjects, count, here, &chosen, error)) {
		status = osp_say_error(error);
	} else {
		status = chosen.lemon ? OSP_EXIT_NO : OSP_EXIT_YES;
		status = call->values[OSP_OPTION_JSON]
				 ? print_json(reading, &chosen, rule, !here, status)
				 : print_text(reading, &chosen, rule,
					      call->values[OSP_OPTION_FIGURES], here, status);
	}
	free(chosen.subjects);
	return status;
}

/* Returns whether the folder exists. A folder that policy names may be missing, but one that is
 * asked for must exist. */
static bool is_folder(const char *path, struct osp_error *error)
{
	DIR *folder = opendir(path);

	if (!folder) {
		osp_error_set(error, "--folder=%.200s: %s", path, strerror(errno));
		return false;
	}
	closedir(folder);
	return true;
}

int osp_run_history(const struct osp_call *call)
{
	const char *root = getenv("ONESPINE_TEST_ROOT"), *since = call->values[OSP_OPTION_SINCE],
		   *folder = call->values[OSP_OPTION_FOLDER];
	struct osp_error error = {.text = ""};
	struct osp_history_reading reading = {.history = NULL};
	const struct osp_history_policy *policy;
	struct osp_history_rule rule = {.now_s = time(NULL)};
	struct osp_config *config;
	int64_t span_s;
	int status;

	root = root ? root : "";
	if (folder && !is_folder(folder, &error))
		return osp_say_error(&error);
	if (since && osp_parse_duration(since, &span_s)) {
		osp_error_set(
			&error,
			"--since=%.40s: a time as 7-0 for 7 days is expected (" OSP_DURATION_FORMS
			")",
			since);
		return osp_say_error(&error);
	}
	config = osp_record_config(root, &error);
	if (!config)
		return osp_say_error(&error);
	policy = osp_config_history(config);
	rule.strikes = policy->strikes;
	rule.strike_days = policy->strike_days;
	reading.from_s = since ? rule.now_s - span_s : 0;
	if (osp_history_read(&reading, folder, policy, root, &error))
		status = osp_say_error(&error);
	else
		status = report(call, &reading, &rule, policy, &error);
	osp_history_free(reading.history);
	osp_config_free(config);
	return status;
}
