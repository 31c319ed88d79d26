/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_show.c - shows the values in force and their lines, for people and as JSON */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/policy/config_private.h"

#define GATE_WORD_BYTES 4096 /* of the longest list of checks */

/* Returns the value of one key in words; `buffer` holds a number. */
static const char *rule_word(const struct osp_partition_policy *rules, enum osp_policy_key key,
			     char *buffer, size_t buffer_bytes)
{
	switch (key) {
	case OSP_KEY_MODE:
		return osp_mode_name(rules->policy.mode);
	case OSP_KEY_LEVEL:
		return rules->policy.level;
	case OSP_KEY_GANG:
		return rules->policy.gang_always ? "always" : "asked";
	case OSP_KEY_FROM_NODES:
		snprintf(buffer, buffer_bytes, "%u", rules->policy.from_nodes);
		return buffer;
	case OSP_KEY_ALLOW_OFF:
		return rules->policy.allow_off ? "true" : "false";
	case OSP_KEY_MIX_KINDS:
		return rules->policy.mix_kinds ? "true" : "false";
	case OSP_KEY_ENV:
		return osp_env_mode_name(rules->policy.env);
	case OSP_KEY_BIND:
		return osp_bind_mode_name(rules->policy.bind);
	case OSP_KEY_UNLAUNCHED:
		return osp_unlaunched_names[rules->policy.unlaunched];
	case OSP_KEY_LAUNCH_TRIES:
		snprintf(buffer, buffer_bytes, "%u", rules->policy.launch_tries);
		return buffer;
	case OSP_KEY_LAUNCH_PLACE:
		return rules->launch_place;
	case OSP_KEY_LAUNCH_KEEP:
		return rules->launch_keep;
	case OSP_KEY_RELAX:
	case OSP_KEY_COUNT:
		break;
	}
	return rules->relax;
}

struct widths {
	int name;
	int value;
};

static void add_line(struct osp_text *text, const struct osp_config *config, struct widths widths,
		     const char *name, const char *value, int line)
{
	osp_text_printf(text, "%-*s  %-*s  ", widths.name, name, widths.value, value);
	if (line)
		osp_text_printf(text, "(%s:%d)\n", config->file, line);
	else
		osp_text_add(text, "(default)\n");
}

static void add_rules(struct osp_text *text, const struct osp_config *config, struct widths widths,
		      const struct osp_partition_policy *rules)
{
	char name[320], number[16];

	for (int key = 0; key < OSP_KEY_COUNT; key++) {
		snprintf(name, sizeof(name), "%s.%s",
			 rules->partition ? rules->partition : "defaults", osp_policy_keys[key]);
		add_line(text, config, widths, name,
			 rule_word(rules, (enum osp_policy_key)key, number, sizeof(number)),
			 rules->lines[key]);
	}
}

/* Returns whether to show a gate's section; a partition without one of its own has that of
 * `defaults`. */
static bool shows_gate(const struct osp_partition_policy *rules)
{
	return !rules->partition || rules->gate_said;
}

static void add_gate_lines(struct osp_text *text, const struct osp_config *config,
			   struct widths widths, const struct osp_partition_policy *rules)
{
	char name[320], word[GATE_WORD_BYTES];

	for (int key = 0; shows_gate(rules) && key < OSP_GATE_KEY_COUNT; key++) {
		snprintf(name, sizeof(name), "%s.gate.%s",
			 rules->partition ? rules->partition : "defaults", osp_gate_keys[key]);
		add_line(text, config, widths, name,
			 osp_gate_policy_word(&rules->gate, (enum osp_gate_key)key, word,
					      sizeof(word)),
			 rules->gate_lines[key]);
	}
}

static void widen(struct widths *widths, const struct osp_partition_policy *rules)
{
	const char *name = rules->partition ? rules->partition : "defaults";
	char number[16];

	for (int key = 0; key < OSP_KEY_COUNT; key++) {
		int name_width = (int)(strlen(name) + 1 + strlen(osp_policy_keys[key]));
		int value_width = (int)strlen(
			rule_word(rules, (enum osp_policy_key)key, number, sizeof(number)));

		if (name_width > widths->name)
			widths->name = name_width;
		if (value_width > widths->value)
			widths->value = value_width;
	}
	for (int key = 0; shows_gate(rules) && key < OSP_GATE_KEY_COUNT; key++) {
		int name_width =
			(int)(strlen(name) + strlen(".gate.") + strlen(osp_gate_keys[key]));

		if (name_width > widths->name)
			widths->name = name_width;
	}
}

static void add_history_lines(struct osp_text *text, const struct osp_config *config,
			      struct widths widths)
{
	char name[64], number[16];

	for (int key = 0; key < OSP_HISTORY_KEY_COUNT; key++) {
		snprintf(name, sizeof(name), "history.%s", osp_history_keys[key]);
		add_line(text, config, widths, name,
			 osp_history_policy_word(&config->history, (enum osp_history_key)key,
						 number, sizeof(number)),
			 config->history_lines[key]);
	}
}

static void add_watch_lines(struct osp_text *text, const struct osp_config *config,
			    struct widths widths)
{
	char name[64], number[16];

	for (int key = 0; key < OSP_WATCH_KEY_COUNT; key++) {
		snprintf(name, sizeof(name), "watch.%s", osp_watch_keys[key]);
		add_line(text, config, widths, name,
			 osp_watch_policy_word(&config->watch, (enum osp_watch_key)key, number,
					       sizeof(number)),
			 config->watch_lines[key]);
	}
}

static void show_lines(struct osp_text *text, const struct osp_config *config)
{
	struct widths widths = {(int)strlen("without_match"), (int)strlen(config->topology)};

	widen(&widths, &config->defaults);
	for (size_t i = 0; i < config->partition_count; i++)
		widen(&widths, &config->partitions[i]);
	add_line(text, config, widths, "topology", config->topology, config->topology_line);
	add_line(text, config, widths, "without_match", osp_without_match_names[config->stops],
		 config->without_match_line);
	add_rules(text, config, widths, &config->defaults);
	add_gate_lines(text, config, widths, &config->defaults);
	add_history_lines(text, config, widths);
	add_watch_lines(text, config, widths);
	for (size_t i = 0; i < config->partition_count; i++) {
		add_rules(text, config, widths, &config->partitions[i]);
		add_gate_lines(text, config, widths, &config->partitions[i]);
	}
}

static void add_json_string(struct osp_text *text, const char *string)
{
	osp_text_add(text, "\"");
	for (; *string; string++) {
		unsigned char c = (unsigned char)*string;

		if (c == '"' || c == '\\')
			osp_text_printf(text, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			osp_text_printf(text, "\\u%04x", c);
		else
			osp_text_add_bytes(text, string, 1);
	}
	osp_text_add(text, "\"");
}

/* Adds {"value": VALUE, "line": LINE}; words are quoted, numbers and booleans are not. */
static void add_json_value(struct osp_text *text, const char *value, bool word, int line)
{
	osp_text_add(text, "{\"value\": ");
	if (word)
		add_json_string(text, value);
	else
		osp_text_add(text, value);
	if (line)
		osp_text_printf(text, ", \"line\": %d}", line);
	else
		osp_text_add(text, ", \"line\": null}");
}

static bool gate_key_is_word(enum osp_gate_key key)
{
	switch (key) {
	case OSP_GATE_KEY_DEPTH:
	case OSP_GATE_KEY_JOBS:
	case OSP_GATE_KEY_FAILURE:
	case OSP_GATE_KEY_CHECKS:
	case OSP_GATE_KEY_ON_ERROR:
	case OSP_GATE_KEY_NETWORK:
	case OSP_GATE_KEY_PORTS:
	case OSP_GATE_KEY_BREAKER_JOBS:
	case OSP_GATE_KEY_EVIDENCE:
	case OSP_GATE_KEY_KEY_FILE:
		return true;
	default:
		return false;
	}
}

static void add_json_gate(struct osp_text *text, const struct osp_partition_policy *rules,
			  const char *indent)
{
	char word[GATE_WORD_BYTES];

	osp_text_printf(text, ",\n%s  \"gate\": {", indent);
	for (int key = 0; key < OSP_GATE_KEY_COUNT; key++) {
		osp_text_printf(text, "%s\n%s    \"%s\": ", key ? "," : "", indent,
				osp_gate_keys[key]);
		add_json_value(text,
			       osp_gate_policy_word(&rules->gate, (enum osp_gate_key)key, word,
						    sizeof(word)),
			       gate_key_is_word((enum osp_gate_key)key), rules->gate_lines[key]);
	}
	osp_text_printf(text, "\n%s  }", indent);
}

static void add_json_rules(struct osp_text *text, const struct osp_partition_policy *rules,
			   const char *indent)
{
	char number[16];

	osp_text_add(text, "{");
	for (int key = 0; key < OSP_KEY_COUNT; key++) {
		bool word = key != OSP_KEY_FROM_NODES && key != OSP_KEY_ALLOW_OFF &&
			    key != OSP_KEY_MIX_KINDS && key != OSP_KEY_LAUNCH_TRIES;

		osp_text_printf(text, "%s\n%s  \"%s\": ", key ? "," : "", indent,
				osp_policy_keys[key]);
		add_json_value(text,
			       rule_word(rules, (enum osp_policy_key)key, number, sizeof(number)),
			       word, rules->lines[key]);
	}
	if (shows_gate(rules))
		add_json_gate(text, rules, indent);
	osp_text_printf(text, "\n%s}", indent);
}

static void add_json_history(struct osp_text *text, const struct osp_config *config)
{
	char number[16];

	osp_text_add(text, ",\n  \"history\": {");
	for (int key = 0; key < OSP_HISTORY_KEY_COUNT; key++) {
		osp_text_printf(text, "%s\n    \"%s\": ", key ? "," : "", osp_history_keys[key]);
		add_json_value(text,
			       osp_history_policy_word(&config->history, (enum osp_history_key)key,
						       number, sizeof(number)),
			       osp_history_key_is_word((enum osp_history_key)key),
			       config->history_lines[key]);
	}
	osp_text_add(text, "\n  }");
}

static void add_json_watch(struct osp_text *text, const struct osp_config *config)
{
	char number[16];

	osp_text_add(text, ",\n  \"watch\": {");
	for (int key = 0; key < OSP_WATCH_KEY_COUNT; key++) {
		osp_text_printf(text, "%s\n    \"%s\": ", key ? "," : "", osp_watch_keys[key]);
		add_json_value(text,
			       osp_watch_policy_word(&config->watch, (enum osp_watch_key)key,
						     number, sizeof(number)),
			       osp_watch_key_is_word((enum osp_watch_key)key),
			       config->watch_lines[key]);
	}
	osp_text_add(text, "\n  }");
}

static void show_json(struct osp_text *text, const struct osp_config *config)
{
	osp_text_add(text, "{\n  \"file\": ");
	add_json_string(text, config->file);
	osp_text_add(text, ",\n  \"topology\": ");
	add_json_value(text, config->topology, true, config->topology_line);
	osp_text_add(text, ",\n  \"without_match\": ");
	add_json_value(text, osp_without_match_names[config->stops], true,
		       config->without_match_line);
	osp_text_add(text, ",\n  \"defaults\": ");
	add_json_rules(text, &config->defaults, "  ");
	add_json_history(text, config);
	add_json_watch(text, config);
	osp_text_add(text, ",\n  \"partitions\": {");
	for (size_t i = 0; i < config->partition_count; i++) {
		osp_text_add(text, i ? ",\n    " : "\n    ");
		add_json_string(text, config->partitions[i].partition);
		osp_text_add(text, ": ");
		add_json_rules(text, &config->partitions[i], "    ");
	}
	osp_text_add(text, config->partition_count ? "\n  }\n}\n" : "}\n}\n");
}

char *osp_config_show(const struct osp_config *config, bool json)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (json)
		show_json(&text, config);
	else
		show_lines(&text, config);
	return osp_text_take(&text);
}
