/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_quarantine.c - `onespine quarantine`: bad instances that are kept out of use without being
 * ended
 *
 * lib/gate/quarantine.h says why. The gate makes the reservations; here they are listed, described
 * for the cloud's support, and ended: by a drain, after which clustermgtd ends the instance, or
 * by giving the node back to jobs.
 */
#include "onespine_config.h"
#include "lib/base/text.h"
#include "tools/command/command.h"
#include "tools/command/quarantine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "host/record/history_file.h"
#include "host/record/history_read.h"
#include "host/slurm/controller.h"
#include "host/slurm/controller_quarantine.h"
#include "host/slurm/fabric.h"
#include "host/slurm/slurm_files.h"
#include "lib/gate/gate.h"
#include "lib/health/reason.h"

#define CALL_MS	   30000
#define HOUR_S	   3600
#define END_REASON OSP_REASON_PREFIX "quarantine is over, "

/* All that a run knows. */
struct ward {
	const struct osp_call *call;
	struct osp_config *config;
	const struct osp_gate_policy *policy; /* of `defaults` */
	struct osp_quarantine_list list;
	struct osp_controller_nodes nodes;
	struct osp_history_reading reading;
	const struct osp_history_subject *subjects;
	size_t subject_count;
};

static uint64_t call_until_ms(void)
{
	const char *of_tests = getenv("ONESPINE_TEST_CALL_MS");

	return osp_now_ms() + (of_tests ? strtoul(of_tests, NULL, 10) : CALL_MS);
}

/* Returns the time in seconds since 1970; tests say another. */
static int64_t now_s(void)
{
	const char *of_tests = getenv("ONESPINE_TEST_NOW_S");

	return of_tests ? strtoll(of_tests, NULL, 10) : (int64_t)time(NULL);
}

bool osp_clustermgtd_owns_drained(void)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	struct osp_error error = {.text = ""};
	char *path = osp_find_slurm_conf(&error);
	struct osp_slurm_conf *conf = path ? osp_load_slurm_conf(path, NULL, &error) : NULL;
	bool owns = osp_drained_are_ended(conf, root ? root : "");

	osp_slurm_conf_free(conf);
	free(path);
	return owns;
}

/* --- what is known ---------------------------------------------------------------------------- */

static int read_policy(struct ward *ward, struct osp_error *error)
{
	ward->config = osp_config_in_force(NULL, error);
	if (!ward->config)
		return -1;
	ward->policy = osp_config_gate(ward->config, NULL);
	return 0;
}

static int read_nodes(struct ward *ward, struct osp_error *error)
{
	int code = osp_controller_quarantined(call_until_ms(), &ward->list);

	if (!code)
		code = osp_controller_nodes(call_until_ms(), &ward->nodes);
	return code ? osp_error_set(error, "%s", osp_controller_words(code)) : 0;
}

/* Reads the history; without it the list has no reasons. */
static void read_history(struct ward *ward)
{
	const struct osp_history_policy *policy = osp_config_history(ward->config);
	struct osp_history_rule rule = {.now_s = (int64_t)time(NULL),
					.strikes = policy->strikes,
					.strike_days = policy->strike_days};
	struct osp_error error = {.text = ""};
	char words[1024];

	if (osp_history_read(&ward->reading, NULL, policy, "", &error))
		osp_say_warning("the history is not read: %s",
				osp_error_format(&error, words, sizeof(words)));
	else
		ward->subjects =
			osp_history_judge(ward->reading.history, &rule, &ward->subject_count);
}

static void ward_free(struct ward *ward)
{
	osp_history_free(ward->reading.history);
	osp_quarantine_list_free(&ward->list);
	osp_controller_nodes_free(&ward->nodes);
	osp_config_free(ward->config);
}

/* Returns what the history has of the instance; NULL if it has nothing. */
static const struct osp_history_subject *subject_of(const struct ward *ward,
						    const struct osp_quarantined *node)
{
	for (size_t i = 0; i < ward->subject_count; i++)
		if (!ward->subjects[i].is_gpu && !strcmp(ward->subjects[i].key, node->instance))
			return &ward->subjects[i];
	return NULL;
}

/* Returns what failed, in words; "" if the history has nothing. */
static const char *reason_of(const struct ward *ward, const struct osp_quarantined *node)
{
	const struct osp_history_subject *subject = subject_of(ward, node);
	const char *reason = subject ? subject->last_reason : "";

	return osp_reason_is_ours(reason) ? reason + sizeof(OSP_REASON_PREFIX) - 1 : reason;
}

static int64_t until_s(const struct ward *ward, const struct osp_quarantined *node)
{
	return node->since_s + (int64_t)ward->policy->quarantine_h * HOUR_S;
}

static const struct osp_quarantined *find(const struct ward *ward, const char *word)
{
	for (size_t i = 0; i < ward->list.count; i++)
		if (!strcmp(ward->list.nodes[i].node, word) ||
		    !strcmp(ward->list.nodes[i].instance, word))
			return &ward->list.nodes[i];
	return NULL;
}

static const struct osp_quarantined *find_or_say(const struct ward *ward, const char *word,
						 struct osp_error *error)
{
	const struct osp_quarantined *found = find(ward, word);
	const char **names = NULL, *nearest = NULL;

	if (found)
		return found;
	names = calloc(2 * ward->list.count + 1, sizeof(*names));
	for (size_t i = 0; names && i < ward->list.count; i++) {
		names[2 * i] = ward->list.nodes[i].node;
		names[2 * i + 1] = ward->list.nodes[i].instance;
	}
	if (names)
		nearest = osp_nearest_word(word, names, 2 * ward->list.count);
	osp_error_set(error, "'%.60s' is not in quarantine%s%s%s", word,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	free(names);
	return NULL;
}

/* --- the list --------------------------------------------------------------------------------- */

static int print_list(const struct ward *ward)
{
	struct osp_text text = OSP_TEXT_INIT;
	char since[64], until[64];

	if (!ward->list.count)
		osp_text_add(&text, "no node is in quarantine\n");
	for (size_t i = 0; i < ward->list.count; i++) {
		const struct osp_quarantined *node = &ward->list.nodes[i];
		const char *reason = reason_of(ward, node);

		osp_text_printf(&text, "%s %s since %s, at most until %s: %s\n", node->node,
				strcmp(node->instance, node->node) ? node->instance : "-",
				osp_format_time(node->since_s, since, sizeof(since)),
				osp_format_time(until_s(ward, node), until, sizeof(until)),
				*reason ? reason : "what failed is not in the history");
	}
	return osp_print_text(&text, OSP_EXIT_YES);
}

static int print_list_json(const struct ward *ward)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ward->list.count; i++) {
		const struct osp_quarantined *node = &ward->list.nodes[i];
		json_t *entry = json_object();

		json_object_set_new(entry, "node", osp_json_string(node->node));
		json_object_set_new(entry, "instance", osp_json_string(node->instance));
		json_object_set_new(entry, "since_s", json_integer(node->since_s));
		json_object_set_new(entry, "until_s", json_integer(until_s(ward, node)));
		json_object_set_new(entry, "reason", osp_json_string(reason_of(ward, node)));
		json_array_append_new(list, entry);
	}
	return osp_print_json(list, OSP_EXIT_YES);
}

static int list(struct ward *ward)
{
	read_history(ward);
	return ward->call->values[OSP_OPTION_JSON] ? print_list_json(ward) : print_list(ward);
}

/* --- the text for a support case -------------------------------------------------------------- */

static void add_gpus(struct osp_text *text, const struct ward *ward,
		     const struct osp_quarantined *node)
{
	char time[64];

	for (size_t i = 0; i < ward->subject_count; i++) {
		const struct osp_history_subject *gpu = &ward->subjects[i];

		if (!gpu->is_gpu || !gpu->strikes_ever ||
		    strcmp(gpu->instance, node->instance) != 0)
			continue;
		osp_text_printf(text, "  %s: %zu failure%s, last %s: %s, %s\n", gpu->key,
				gpu->strikes_ever, osp_plural_s(gpu->strikes_ever),
				osp_format_time(gpu->last_strike_s, time, sizeof(time)),
				gpu->last_check, gpu->last_reason);
		if (gpu->nodes > 1)
			osp_text_printf(text, "    this GPU has been in %zu instances\n",
					gpu->nodes);
	}
}

static void add_runs(struct osp_text *text, const struct ward *ward,
		     const struct osp_quarantined *node)
{
	const struct osp_history_subject *subject = subject_of(ward, node);
	char first[64], last[64];

	if (!subject) {
		osp_text_add(text, "The failure is not in the history that this host reads "
				   "(history.shared, onespine.yaml).\n");
		return;
	}
	osp_text_printf(text,
			"The check '%s' failed at %s: %s\n"
			"Of %zu check%s of this instance since %s, %zu failed.\n",
			subject->last_check,
			osp_format_time(subject->last_strike_s, last, sizeof(last)),
			reason_of(ward, node), subject->runs, osp_plural_s(subject->runs),
			osp_format_time(subject->first_s, first, sizeof(first)), subject->failed);
	add_gpus(text, ward, node);
}

static int show(struct ward *ward, const char *word, struct osp_error *error)
{
	const struct osp_quarantined *node = find_or_say(ward, word, error);
	struct osp_text text = OSP_TEXT_INIT;
	char since[64], until[64], key[OSP_GATE_NAME_BYTES];

	if (!node)
		return osp_say_error(error);
	read_history(ward);
	osp_text_printf(&text, "Hardware fault of instance %s (node %s)\n\n", node->instance,
			node->node);
	add_runs(&text, ward, node);
	osp_text_printf(&text,
			"No job has started on it since %s. It has not been ended, so that its "
			"host can be\nexamined and taken out of service; it will be ended after "
			"%s.\n",
			osp_format_time(node->since_s, since, sizeof(since)),
			osp_format_time(until_s(ward, node), until, sizeof(until)));
	if (ward->policy->evidence)
		osp_text_printf(&text, "Evidence of the check: %s/%s\n", ward->policy->evidence,
				osp_history_key(node->node, key, sizeof(key)));
	return osp_print_text(&text, OSP_EXIT_YES);
}

/* --- letting go ------------------------------------------------------------------------------- */

/* Prints one node's fate. */
static void say(json_t *fates, const struct osp_call *call, const char *node, const char *words)
{
	json_t *entry;

	if (!call->values[OSP_OPTION_JSON]) {
		printf("%s: %s\n", node, words);
		return;
	}
	entry = json_object();
	json_object_set_new(entry, "node", osp_json_string(node));
	json_object_set_new(entry, "fate", json_string("quarantine"));
	json_object_set_new(entry, "says", osp_json_string(words));
	json_array_append_new(fates, entry);
}

static int print_fates(json_t *fates, const struct osp_call *call, int status)
{
	if (call->values[OSP_OPTION_JSON])
		return osp_print_json(fates, status);
	json_decref(fates);
	return status;
}

/* Drains it, unless somebody has; then deletes the reservation. In this order no job starts
 * there. */
static int end_one(const struct ward *ward, const struct osp_quarantined *node)
{
	const struct osp_controller_node *now = osp_controller_node(&ward->nodes, node->node);
	char reason[OSP_GATE_REASON_BYTES];
	int error = 0;

	snprintf(reason, sizeof(reason), END_REASON "%.60s may be ended", node->instance);
	if (now && !now->drained)
		error = osp_controller_drain(node->node, reason, call_until_ms());
	return error ? error : osp_controller_unquarantine(node, call_until_ms());
}

static int release(struct ward *ward, bool end, struct osp_error *error)
{
	json_t *fates = json_array();
	int status = OSP_EXIT_YES;

	for (int i = 1; i < ward->call->argument_count; i++) {
		const struct osp_quarantined *node =
			find_or_say(ward, ward->call->arguments[i], error);
		int code;

		if (!node) {
			status = osp_say_error(error);
			continue;
		}
		code = end ? end_one(ward, node)
			   : osp_controller_unquarantine(node, call_until_ms());
		if (code)
			status = OSP_EXIT_NO;
		say(fates, ward->call, node->node,
		    code  ? osp_controller_words(code)
		    : end ? "drained, so that its instance is ended"
			  : "takes jobs again");
	}
	return print_fates(fates, ward->call, status);
}

/* Does what is due for one node; `words` say what. Returns an error of slurmctld's. */
static int do_due(const struct ward *ward, const struct osp_quarantined *node,
		  enum osp_quarantine_due due, char *words, size_t words_bytes)
{
	bool dry = ward->call->values[OSP_OPTION_DRY_RUN];
	int error = 0;

	switch (due) {
	case OSP_QUARANTINE_OVER:
		error = dry ? 0 : end_one(ward, node);
		snprintf(words, words_bytes, "%s after %u hour%s in quarantine: %s",
			 dry ? "would be drained" : "drained", ward->policy->quarantine_h,
			 osp_plural_s(ward->policy->quarantine_h), node->instance);
		break;
	case OSP_QUARANTINE_ANOTHER:
		error = dry ? 0 : osp_controller_unquarantine(node, call_until_ms());
		snprintf(words, words_bytes, "%s: it is no longer %s",
			 dry ? "would leave quarantine" : "out of quarantine", node->instance);
		break;
	case OSP_QUARANTINE_STAYS:
		snprintf(words, words_bytes, "in quarantine: %s", node->instance);
		break;
	}
	if (error)
		snprintf(words, words_bytes, "stays in quarantine: %s",
			 osp_controller_words(error));
	return error;
}

static int do_all_due(const struct ward *ward, json_t *fates)
{
	int status = OSP_EXIT_YES;
	char words[256];

	for (size_t i = 0; i < ward->list.count; i++) {
		const struct osp_quarantined *node = &ward->list.nodes[i];
		const struct osp_controller_node *record =
			osp_controller_node(&ward->nodes, node->node);
		struct osp_quarantine_now now = {.exists = record};

		if (record) {
			now.instance = record->instance;
			now.boot_s = record->boot_s;
		}
		if (do_due(ward, node, osp_quarantine_due(ward->policy, node, &now, now_s()), words,
			   sizeof(words)))
			status = OSP_EXIT_NO;
		say(fates, ward->call, node->node, words);
	}
	return status;
}

int osp_quarantine_do_due(const struct osp_call *call, json_t *fates, size_t *count)
{
	struct ward ward = {.call = call};
	struct osp_error error = {.text = ""};
	int status;

	if (read_policy(&ward, &error) || read_nodes(&ward, &error))
		status = osp_say_error(&error);
	else
		status = do_all_due(&ward, fates);
	*count = ward.list.count;
	ward_free(&ward);
	return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static int answer(struct ward *ward, const char *verb, struct osp_error *error)
{
	int count = ward->call->argument_count;
	bool end = verb && !strcmp(verb, "end");

	if (!verb)
		return list(ward);
	if (!strcmp(verb, "show") && count == 2)
		return show(ward, ward->call->arguments[1], error);
	if ((end || !strcmp(verb, "return")) && count > 1) {
		if (geteuid() != 0) {
			osp_error_set(error, "quarantine %s is for root: it changes reservations",
				      verb);
			return osp_say_error(error);
		}
		return release(ward, end, error);
	}
	osp_error_set(error,
		      "'quarantine %.40s': nothing, show NODE, end NODE... or return "
		      "NODE... is expected",
		      verb);
	return osp_say_error(error);
}

int osp_run_quarantine(const struct osp_call *call)
{
	struct ward ward = {.call = call};
	struct osp_error error = {.text = ""};
	int status;

	if (read_policy(&ward, &error) || read_nodes(&ward, &error))
		status = osp_say_error(&error);
	else
		status = answer(&ward, call->argument_count ? call->arguments[0] : NULL, &error);
	ward_free(&ward);
	return status;
}
