/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass_file.c - a pass as a file: JSON, as far as libyaml reads it */
#include "lib/health/fresh.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/document.h"

/* --- writing ---------------------------------------------------------------------------------- */

/* Adds a word in quotes. Replaces by '?' what JSON would have to escape: words from sysfs may hold
 * anything. */
static void add_word(struct osp_text *text, const char *word)
{
	osp_text_add(text, "\"");
	for (; *word; word++) {
		char c =
			*word < 0x20 || *word > 0x7e || *word == '"' || *word == '\\' ? '?' : *word;

		osp_text_add_bytes(text, &c, 1);
	}
	osp_text_add(text, "\"");
}

static void add_pair(struct osp_text *text, const char *key, const char *word)
{
	osp_text_printf(text, "\"%s\": ", key);
	add_word(text, word);
	osp_text_add(text, ",\n");
}

static void add_number(struct osp_text *text, const char *key, uint64_t number)
{
	osp_text_printf(text, "\"%s\": %" PRIu64 ",\n", key, number);
}

/* Adds a list for each counter: its subject, its name, whether it counts faults, its value, and the
 * value at the start of the window if that differs. They are read again before each job, and keys
 * would take most of that time. */
static void add_counters(struct osp_text *text, const struct osp_node_state *state)
{
	osp_text_add(text, "\"counters\": [");
	for (size_t i = 0; i < state->counter_count; i++) {
		const struct osp_counter *counter = &state->counters[i];

		osp_text_add(text, i ? ",\n[" : "\n[");
		add_word(text, counter->subject);
		osp_text_add(text, ", ");
		add_word(text, counter->name);
		osp_text_printf(text, ", %s, %" PRIu64, counter->fault ? "true" : "false",
				counter->value);
		if (counter->window != counter->value)
			osp_text_printf(text, ", %" PRIu64, counter->window);
		osp_text_add(text, "]");
	}
	osp_text_add(text, "]\n");
}

void osp_pass_write(const struct osp_pass *pass, struct osp_text *text)
{
	const struct osp_node_state *state = &pass->state;

	osp_text_add(text, "{");
	add_pair(text, "depth", osp_depth_names[pass->depth]);
	add_number(text, "time_s", (uint64_t)state->time_s);
	add_number(text, "uptime_s", state->uptime_s);
	add_number(text, "window_uptime_s", pass->window_uptime_s);
	add_pair(text, "boot_id", state->boot_id);
	add_pair(text, "driver", state->driver);
	add_pair(text, "rules", state->rules);
	osp_text_printf(text, "\"whole\": %s,\n", state->whole ? "true" : "false");
	osp_text_add(text, "\"gpus\": [");
	for (size_t i = 0; i < state->gpu_count; i++) {
		osp_text_add(text, i ? ",\n" : "\n");
		add_word(text, state->gpus[i]);
	}
	osp_text_add(text, "],\n");
	osp_text_printf(text, "\"log_known\": %s,\n", state->log_known ? "true" : "false");
	add_number(text, "log_first", state->log_first);
	add_number(text, "log_next", state->log_next);
	add_number(text, "xids", state->xids);
	add_counters(text, state);
	osp_text_add(text, "}\n");
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
	const struct osp_document *document;
	const struct osp_value *map;
	struct osp_error *error;
};

static const struct osp_value *expect(const struct reading *reading, const char *key)
{
	const struct osp_value *value = osp_value_get(reading->map, key);

	if (!value)
		osp_document_error(reading->document, reading->map, reading->error, "%s is missing",
				   key);
	return value;
}

static int take_whole(const struct reading *reading, const struct osp_value *value,
		      uint64_t *number)
{
	int64_t whole;

	if (osp_value_integer(reading->document, value, 0, INT64_MAX, &whole, reading->error))
		return -1;
	*number = (uint64_t)whole;
	return 0;
}

static int take_number(const struct reading *reading, const char *key, uint64_t *number)
{
	const struct osp_value *value = expect(reading, key);

	return value ? take_whole(reading, value, number) : -1;
}

static int take_flag(const struct reading *reading, const char *key, bool *flag)
{
	const struct osp_value *value = expect(reading, key);

	return value ? osp_value_bool(reading->document, value, flag, reading->error) : -1;
}

static int take_word(const struct reading *reading, const struct osp_value *value, char *word,
		     size_t word_bytes)
{
	if (value->type != OSP_VALUE_SCALAR || strlen(value->text) >= word_bytes)
		return osp_document_error(reading->document, value, reading->error,
					  "a word of less than %zu bytes is expected", word_bytes);
	snprintf(word, word_bytes, "%s", value->text);
	return 0;
}

/* Reads a word, which may be empty: unknown. */
static int take_pair(const struct reading *reading, const char *key, char *word, size_t word_bytes)
{
	const struct osp_value *value = expect(reading, key);

	return value ? take_word(reading, value, word, word_bytes) : -1;
}

static const struct osp_value *expect_list(const struct reading *reading, const char *key,
					   size_t most)
{
	const struct osp_value *list = expect(reading, key);

	if (list && (list->type != OSP_VALUE_LIST || list->child_count > most)) {
		osp_document_error(reading->document, list, reading->error,
				   "%s: a list of at most %zu is expected", key, most);
		return NULL;
	}
	return list;
}

static int take_gpus(const struct reading *reading, struct osp_node_state *state)
{
	const struct osp_value *list = expect_list(reading, "gpus", OSP_STATE_GPUS_MAX);

	if (!list)
		return -1;
	for (const struct osp_value *value = list->first; value; value = value->next)
		if (take_word(reading, value, state->gpus[state->gpu_count++], OSP_UUID_BYTES))
			return -1;
	return 0;
}

static int take_counter(const struct reading *reading, const struct osp_value *list,
			struct osp_node_state *state)
{
	const struct osp_value *of = list->first, *name, *flag, *number;
	char subject[OSP_COUNTER_SUBJECT_BYTES], word[OSP_COUNTER_NAME_BYTES];
	uint64_t value, window;
	bool fault;

	if (list->type != OSP_VALUE_LIST || list->child_count < 4 || list->child_count > 5)
		return osp_document_error(reading->document, list, reading->error,
					  "a counter is a list of 4 or 5: of what, its name, "
					  "whether it counts faults, its value, and before");
	name = of->next;
	flag = name->next;
	number = flag->next;
	if (take_word(reading, of, subject, sizeof(subject)) ||
	    take_word(reading, name, word, sizeof(word)) ||
	    osp_value_bool(reading->document, flag, &fault, reading->error) ||
	    take_whole(reading, number, &value))
		return -1;
	window = value;
	if (number->next && take_whole(reading, number->next, &window))
		return -1;
	if (!osp_node_state_count(state, subject, word, value, fault))
		return osp_error_set(reading->error, "out of memory");
	state->counters[state->counter_count - 1].window = window;
	return 0;
}

static int take_counters(const struct reading *reading, struct osp_node_state *state)
{
	const struct osp_value *list = expect_list(reading, "counters", OSP_STATE_COUNTERS_MAX);

	if (!list)
		return -1;
	for (const struct osp_value *value = list->first; value; value = value->next)
		if (take_counter(reading, value, state))
			return -1;
	return 0;
}

static int take_depth(const struct reading *reading, enum osp_depth *depth)
{
	const struct osp_value *value = expect(reading, "depth");
	size_t index;

	if (!value || osp_value_choice(reading->document, value, osp_depth_names, OSP_DEPTH_COUNT,
				       &index, reading->error))
		return -1;
	*depth = (enum osp_depth)index;
	return 0;
}

static int take_pass(const struct reading *reading, struct osp_pass *pass)
{
	static const char *const keys[] = {
		"depth", "time_s", "uptime_s",	"window_uptime_s", "boot_id",  "driver", "rules",
		"whole", "gpus",   "log_known", "log_first",	   "log_next", "xids",	 "counters",
	};
	struct osp_node_state *state = &pass->state;
	uint64_t time_s;

	if (osp_value_only_keys(reading->document, reading->map, keys,
				sizeof(keys) / sizeof(keys[0]), reading->error) ||
	    take_depth(reading, &pass->depth) || take_number(reading, "time_s", &time_s) ||
	    take_number(reading, "uptime_s", &state->uptime_s) ||
	    take_number(reading, "window_uptime_s", &pass->window_uptime_s) ||
	    take_pair(reading, "boot_id", state->boot_id, sizeof(state->boot_id)) ||
	    take_pair(reading, "driver", state->driver, sizeof(state->driver)) ||
	    take_pair(reading, "rules", state->rules, sizeof(state->rules)) ||
	    take_flag(reading, "whole", &state->whole) || take_gpus(reading, state) ||
	    take_flag(reading, "log_known", &state->log_known) ||
	    take_number(reading, "log_first", &state->log_first) ||
	    take_number(reading, "log_next", &state->log_next) ||
	    take_number(reading, "xids", &state->xids) || take_counters(reading, state))
		return -1;
	state->time_s = (int64_t)time_s;
	return 0;
}

int osp_pass_read(const char *file, const char *text, size_t text_bytes, struct osp_pass *pass,
		  struct osp_error *error)
{
	struct osp_document *document;
	struct reading reading = {.error = error};
	int state;

	memset(pass, 0, sizeof(*pass));
	if (text_bytes > OSP_PASS_FILE_BYTES_MAX)
		return osp_error_at(error, file, 0, 0, "larger than %zu bytes: no pass",
				    OSP_PASS_FILE_BYTES_MAX);
	document = osp_document_read(file, text, text_bytes, error);
	if (!document)
		return -1;
	reading.document = document;
	reading.map = osp_document_root(document);
	state = take_pass(&reading, pass);
	osp_document_free(document);
	if (state)
		osp_pass_clear(pass);
	return state;
}
