/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_line.c - one run as a line of JSON, and back */
#include "onespine_config.h"
#include "host/record/history_line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "check/base/root.h"
#include "host/output.h"

#define GPUS_MAX 64

/* --- who it is -------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			return false;
	return length > 0;
}

/* Reads the instance's id. On Nitro it is the asset tag; else cloud-init's note of it, else the
 * machine's serial number, which only root reads. */
static void read_instance(const char *root, char *instance, size_t instance_bytes)
{
	static const char *const files[] = {
		"sys/devices/virtual/dmi/id/board_asset_tag",
		"var/lib/cloud/data/instance-id",
		"sys/devices/virtual/dmi/id/product_serial",
		"sys/devices/virtual/dmi/id/product_uuid",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!osp_root_read(root, instance, instance_bytes, "%s", files[i]))
			continue;
		/* "Not Specified", "None" and the like are no ids */
		if (is_name(instance) && (i != 0 || strncmp(instance, "i-", 2) == 0) &&
		    strcasecmp(instance, "none") != 0 && strlen(instance) >= 4)
			return;
	}
	*instance = '\0';
}

/* Reads the job from slurmd's variables, which the gate passes on. */
static void read_job(struct osp_identity *identity)
{
	const char *job = getenv("SLURM_JOB_ID"), *when = getenv("SLURM_SCRIPT_CONTEXT");

	identity->job = 0;
	identity->when = "";
	if (!job || !when)
		return;
	if (strcmp(when, "prolog_slurmd") == 0)
		identity->when = "prolog";
	else if (strcmp(when, "epilog_slurmd") == 0)
		identity->when = "epilog";
	if (*identity->when)
		identity->job = (uint32_t)strtoul(job, NULL, 10);
}

void osp_identity_read(const char *root, struct osp_identity *identity)
{
	const char *slurm = getenv("SLURMD_NODENAME"); /* in a Prolog, from slurmd */

	read_job(identity);
	read_instance(root, identity->instance, sizeof(identity->instance));
	*identity->node = '\0';
	if (slurm && is_name(slurm))
		snprintf(identity->node, sizeof(identity->node), "%s", slurm);
	else if (osp_root_read(root, identity->node, sizeof(identity->node),
			       "proc/sys/kernel/hostname"))
		identity->node[strcspn(identity->node, ".")] = '\0';
	if (!*identity->node)
		snprintf(identity->node, sizeof(identity->node), "unknown");
}

/* --- writing ---------------------------------------------------------------------------------- */

static void set(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, osp_json_string(text));
}

static json_t *time_to_json(int64_t time_s)
{
	time_t time = (time_t)time_s;
	char text[32];
	struct tm utc;

	gmtime_r(&time, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return json_string(text);
}

static json_t *new_id(void)
{
	unsigned char bytes[8] = {0};
	char text[2 * sizeof(bytes) + 1];

	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) < 0)
		return json_null();
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

static json_t *results_to_json(const struct osp_outcome *outcome)
{
	json_t *list = json_array();

	for (size_t i = 0; i < outcome->result_count; i++) {
		const struct osp_result *result = &outcome->results[i];
		json_t *object;

		if (result->verdict == OSP_VERDICT_PASS || result->verdict == OSP_VERDICT_SKIP)
			continue;
		object = json_object();
		set(object, "verdict", osp_verdict_name(result->verdict));
		set(object, "subject", result->subject);
		set(object, "value", *result->value ? result->value : result->why);
		set(object, "limit", result->limit);
		set(object, "do", osp_cure_name(result->cure));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *checks_to_json(const struct osp_run *run)
{
	json_t *checks = json_object();

	for (size_t i = 0; i < run->count; i++) {
		const struct osp_outcome *outcome = &run->outcomes[i];
		json_t *object = json_object();

		set(object, "verdict", osp_verdict_name(outcome->verdict));
		set(object, "mode", osp_check_mode_name(outcome->mode));
		json_object_set_new(object, "time_ms", json_integer(outcome->time_ms));
		json_object_set_new(object, "results", results_to_json(outcome));
		json_object_set_new(checks, outcome->check->name, object);
	}
	return checks;
}

static void add_figure(json_t *figures, const char *subject, const char *name, double value)
{
	json_array_append_new(figures, json_pack("[o,o,f]", osp_json_string(subject),
						 osp_json_string(name), value));
}

static json_t *figures_to_json(const struct osp_run *run)
{
	json_t *figures = json_array();
	char name[128];

	for (size_t i = 0; i < run->count; i++) {
		const struct osp_outcome *outcome = &run->outcomes[i];

		for (size_t n = 0; n < outcome->figure_count; n++)
			add_figure(figures, outcome->figures[n].subject, outcome->figures[n].name,
				   outcome->figures[n].value);
		for (size_t n = 0; n < outcome->speed_count; n++) {
			const struct osp_speed *speed = &outcome->speeds[n];

			snprintf(name, sizeof(name), "%s %s %s", outcome->check->name, speed->what,
				 speed->unit);
			add_figure(figures, speed->subject, name, speed->value);
		}
	}
	return figures;
}

static json_t *gpus_to_json(const struct osp_node_state *state)
{
	json_t *gpus = json_object();
	char name[16];

	for (size_t i = 0; state && i < state->gpu_count; i++) {
		snprintf(name, sizeof(name), "gpu%u", state->gpu_numbers[i]);
		set(gpus, name, state->gpus[i]);
	}
	return gpus;
}

static json_t *growths_to_json(const struct osp_history_entry *entry)
{
	const struct osp_node_state *state = entry->state;
	json_t *list = json_array();
	uint64_t more;

	for (size_t i = 0; state && entry->since && i < state->counter_count; i++) {
		const struct osp_counter *counter = &state->counters[i];

		if (osp_counter_growth(entry->since, counter->subject, counter->name,
				       counter->value, &more, NULL) &&
		    more)
			json_array_append_new(
				list, json_pack("[o,o,I]", osp_json_string(counter->subject),
						osp_json_string(counter->name), (json_int_t)more));
	}
	return list;
}

char *osp_history_line(const struct osp_history_entry *entry)
{
	const struct osp_node_state *state = entry->state;
	int64_t time_s = state ? state->time_s : (int64_t)time(NULL);
	json_t *line = json_object();
	char reason[512], *text;

	json_object_set_new(line, "v", json_integer(1));
	json_object_set_new(line, "id", new_id());
	json_object_set_new(line, "time", time_to_json(time_s));
	json_object_set_new(line, "time_s", json_integer(time_s));
	set(line, "node", entry->identity->node);
	set(line, "instance", entry->identity->instance);
	set(line, "machine", entry->context->node);
	set(line, "boot_id", state ? state->boot_id : "");
	json_object_set_new(line, "uptime_s", json_integer((json_int_t)entry->context->uptime_s));
	set(line, "driver", state ? state->driver : "");
	set(line, "version", PACKAGE_VERSION);
	set(line, "depth", osp_depth_name(entry->depth));
	json_object_set_new(line, "partial", json_boolean(entry->partial));
	set(line, "verdict", osp_verdict_name(osp_run_verdict(entry->run, false)));
	set(line, "reason", osp_run_reason(entry->run, reason, sizeof(reason)));
	json_object_set_new(line, "time_ms", json_integer(entry->run->time_ms));
	json_object_set_new(line, "gpus", gpus_to_json(state));
	json_object_set_new(line, "checks", checks_to_json(entry->run));
	json_object_set_new(line, "figures", figures_to_json(entry->run));
	if (entry->identity->job) {
		json_object_set_new(line, "job", json_integer(entry->identity->job));
		set(line, "when", entry->identity->when);
	}
	json_object_set_new(line, "grew", growths_to_json(entry));
	text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(line);
	return text;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A line that is being taken: nothing is added before all of it is found right. */
struct line {
	json_t *root;
	struct osp_history_run run;
	const char *uuids[GPUS_MAX]; /* "gpu3" -> its UUID */
};

static const char *word(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/*
 * Returns the number of a GPU: 3 for "gpu3", "gpu3.1" (an instance of it) and "gpu3-gpu5" (the link
 * between them); -1: no GPU.
 */
static int gpu_number(const char *subject)
{
	unsigned long number;

	if (strncmp(subject, "gpu", 3) != 0 || !isdigit((unsigned char)subject[3]))
		return -1;
	number = strtoul(subject + 3, NULL, 10);
	return number < GPUS_MAX ? (int)number : -1;
}

static enum osp_history_verdict verdict_of(const char *name)
{
	if (strcmp(name, "FAIL") == 0)
		return OSP_HISTORY_FAIL;
	if (strcmp(name, "PASS") == 0 || strcmp(name, "WARN") == 0)
		return OSP_HISTORY_PASS;
	return OSP_HISTORY_OTHER;
}

/* Returns the first enforced check that failed, or "". */
static const char *failed_check(const json_t *checks)
{
	const char *name;
	json_t *check;

	json_object_foreach((json_t *)checks, name,
			    check) if (strcmp(word(check, "verdict"), "FAIL") == 0 &&
				       strcmp(word(check, "mode"), "enforce") == 0) return name;
	return "";
}

/* Returns the check that failed this GPU, or "". */
static const char *check_of_gpu(const json_t *checks, int number)
{
	const char *name;
	json_t *check, *result;
	size_t i;

	json_object_foreach((json_t *)checks, name, check)
	{
		if (strcmp(word(check, "mode"), "enforce") != 0)
			continue;
		json_array_foreach(json_object_get(check, "results"), i,
				   result) if (strcmp(word(result, "verdict"), "FAIL") == 0 &&
					       gpu_number(word(result, "subject")) ==
						       number) return name;
	}
	return "";
}

/* Returns what is wrong with the line; NULL: nothing. */
static const char *check_line(struct line *line)
{
	json_t *root = line->root, *gpus = json_object_get(root, "gpus"), *uuid, *figure, *growth;
	const char *name;
	size_t i;

	if (json_integer_value(json_object_get(root, "v")) != 1)
		return "not of a version known here";
	if (!json_is_integer(json_object_get(root, "time_s")) || !*word(root, "node") ||
	    !*word(root, "verdict"))
		return "time_s, node and verdict are expected";
	if (!json_is_object(gpus) || !json_is_object(json_object_get(root, "checks")) ||
	    !json_is_array(json_object_get(root, "figures")))
		return "gpus, checks and figures are expected";
	json_object_foreach(gpus, name, uuid)
	{
		if (gpu_number(name) < 0 || !json_is_string(uuid))
			return "a GPU is a number and a UUID";
		line->uuids[gpu_number(name)] = json_string_value(uuid);
	}
	json_array_foreach(
		json_object_get(root, "figures"), i,
		figure) if (!json_is_string(json_array_get(figure, 0)) ||
			    !json_is_string(json_array_get(figure, 1)) ||
			    !json_is_number(json_array_get(
				    figure,
				    2))) return "a figure is a subject, a name and a number";
	json_array_foreach(
		json_object_get(root, "grew"), i,
		growth) if (!json_is_string(json_array_get(growth, 0)) ||
			    !json_is_string(json_array_get(growth, 1)) ||
			    !json_is_integer(json_array_get(growth, 2)) ||
			    json_integer_value(json_array_get(growth, 2)) <
				    0) return "what grew is a subject, a name and a whole number";
	return NULL;
}

static bool is_gpu_of(const struct line *line, const char *uuid)
{
	for (int n = 0; n < GPUS_MAX; n++)
		if (line->uuids[n] && strcmp(line->uuids[n], uuid) == 0)
			return true;
	return false;
}

static int add_parts(struct osp_history *history, const struct line *line)
{
	json_t *checks = json_object_get(line->root, "checks"), *figure, *growth;
	size_t i;

	for (int n = 0; n < GPUS_MAX; n++)
		if (line->uuids[n] &&
		    osp_history_add_gpu(history, line->uuids[n], check_of_gpu(checks, n)))
			return -1;
	json_array_foreach(json_object_get(line->root, "figures"), i, figure)
	{
		const char *subject = json_string_value(json_array_get(figure, 0));
		int number = gpu_number(subject);

		if (osp_history_add_figure(
			    history, number >= 0 && line->uuids[number] ? line->uuids[number] : "",
			    subject, json_string_value(json_array_get(figure, 1)),
			    json_number_value(json_array_get(figure, 2))))
			return -1;
	}
	json_array_foreach(json_object_get(line->root, "grew"), i, growth)
	{
		const char *subject = json_string_value(json_array_get(growth, 0));

		if (osp_history_add_growth(history, is_gpu_of(line, subject) ? subject : "",
					   subject, json_string_value(json_array_get(growth, 1)),
					   (uint64_t)json_integer_value(json_array_get(growth, 2))))
			return -1;
	}
	return 0;
}

static int add_line(struct osp_history *history, struct line *line)
{
	json_t *root = line->root;
	int state;

	line->run = (struct osp_history_run){
		.id = word(root, "id"),
		.time_s = json_integer_value(json_object_get(root, "time_s")),
		.node = word(root, "node"),
		.instance = word(root, "instance"),
		.boot_id = word(root, "boot_id"),
		.depth = word(root, "depth"),
		.verdict = verdict_of(word(root, "verdict")),
		.check = failed_check(json_object_get(root, "checks")),
		.reason = word(root, "reason"),
		.job = (uint32_t)json_integer_value(json_object_get(root, "job")),
		.when = word(root, "when"),
	};
	state = osp_history_add_run(history, &line->run);
	return state > 0 && add_parts(history, line) ? -1 : state;
}

int osp_history_take_line(struct osp_history *history, const char *text, size_t length,
			  const char **why)
{
	struct line line = {.root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL)};
	int state = -1;

	*why = NULL;
	if (!json_is_object(line.root))
		*why = "no JSON";
	else
		*why = check_line(&line);
	if (!*why)
		state = add_line(history, &line);
	json_decref(line.root);
	return state;
}
