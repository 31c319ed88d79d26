/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/document.h"
#include "lib/request.h"
#include "lib/text.h"
#include "lib/topology.h"

#define DEFAULT_TOPOLOGY "onespine.topology"

static const char *const mode_names[] = {
	[OSP_MODE_OFF] = "off",
	[OSP_MODE_ADVISE] = "advise",
	[OSP_MODE_ENFORCE] = "enforce",
};

const char *osp_mode_name(enum osp_mode mode)
{
	return mode_names[mode];
}

/* The keys of a policy, in the order in which they are shown. */
enum policy_key { MODE, LEVEL, GANG, FROM_NODES, ALLOW_OFF, MIX_KINDS, RELAX, POLICY_KEY_COUNT };

static const char *const policy_keys[POLICY_KEY_COUNT] = {
	"mode", "level", "gang", "from_nodes", "allow_off", "mix_kinds", "relax",
};

struct rules {
	const char *partition; /* NULL for the defaults */
	int partition_line;
	struct osp_policy policy;
	const char *relax;	     /* as written */
	int lines[POLICY_KEY_COUNT]; /* where each value was said; 0 = built in */
};

struct osp_config {
	struct osp_document *document; /* the strings below live in it */
	char *file;
	const char *topology;
	int topology_line;
	struct rules defaults;
	struct rules *partitions;
	size_t partition_count;
};

/* --- reading a policy -------------------------------------------------------------------------- */

typedef int take_f(const struct osp_document *document, const struct osp_value *value,
		   struct rules *rules, struct osp_error *error);

static int take_mode(const struct osp_document *document, const struct osp_value *value,
		     struct rules *rules, struct osp_error *error)
{
	size_t index;

	if (osp_value_choice(document, value, mode_names,
			     sizeof(mode_names) / sizeof(mode_names[0]), &index, error))
		return -1;
	rules->policy.mode = (enum osp_mode)index;
	return 0;
}

/* A level must be a word that --gang could say too; whether it exists the topology knows. */
static int take_level(const struct osp_document *document, const struct osp_value *value,
		      struct rules *rules, struct osp_error *error)
{
	struct osp_request request = {.asked = OSP_ASKED_NOTHING};
	const char *level;

	if (osp_value_string(document, value, &level, error))
		return -1;
	if (osp_request_parse(level, &request, NULL) || request.asked != OSP_ASKED_GANG ||
	    strcmp(request.level, level) != 0)
		return osp_document_error(document, value, error,
					  "level: a level's name (letters, digits, - and _, at "
					  "most %d) is expected, not '%.40s'",
					  OSP_LEVEL_NAME_BYTES - 1, level);
	rules->policy.level = level;
	return 0;
}

static int take_gang(const struct osp_document *document, const struct osp_value *value,
		     struct rules *rules, struct osp_error *error)
{
	static const char *const words[] = {"asked", "always"};
	size_t index;

	if (osp_value_choice(document, value, words, 2, &index, error))
		return -1;
	rules->policy.gang_always = index == 1;
	return 0;
}

static int take_from_nodes(const struct osp_document *document, const struct osp_value *value,
			   struct rules *rules, struct osp_error *error)
{
	int64_t number;

	if (osp_value_integer(document, value, 1, OSP_NODES_MAX, &number, error))
		return -1;
	rules->policy.from_nodes = (uint32_t)number;
	return 0;
}

static int take_allow_off(const struct osp_document *document, const struct osp_value *value,
			  struct rules *rules, struct osp_error *error)
{
	return osp_value_bool(document, value, &rules->policy.allow_off, error);
}

static int take_mix_kinds(const struct osp_document *document, const struct osp_value *value,
			  struct rules *rules, struct osp_error *error)
{
	return osp_value_bool(document, value, &rules->policy.mix_kinds, error);
}

static int take_relax(const struct osp_document *document, const struct osp_value *value,
		      struct rules *rules, struct osp_error *error)
{
	static const char *const words[] = {"never"};
	const char *text, *nearest;

	if (osp_value_string(document, value, &text, error))
		return -1;
	if (!strcasecmp(text, "never")) {
		rules->policy.relax_s = -1;
	} else if (osp_parse_duration(text, &rules->policy.relax_s)) {
		nearest = osp_nearest_word(text, words, 1);
		return osp_document_error(document, value, error,
					  "relax: never or a time (minutes, "
					  "hours:minutes:seconds, days-hours) is expected, not "
					  "'%.40s'%s%s%s",
					  text, nearest ? "; did you mean " : "",
					  nearest ? nearest : "", nearest ? "?" : "");
	}
	rules->relax = text;
	return 0;
}

static take_f *const takers[POLICY_KEY_COUNT] = {
	take_mode,	take_level,	take_gang,  take_from_nodes,
	take_allow_off, take_mix_kinds, take_relax,
};

/* Puts what `map` says over what `rules` holds already. */
static int take_rules(const struct osp_document *document, const struct osp_value *map,
		      struct rules *rules, struct osp_error *error)
{
	if (osp_value_only_keys(document, map, policy_keys, POLICY_KEY_COUNT, error))
		return -1;
	for (size_t i = 0; i < POLICY_KEY_COUNT; i++) {
		const struct osp_value *value = osp_value_get(map, policy_keys[i]);

		if (!value)
			continue;
		if (takers[i](document, value, rules, error))
			return -1;
		rules->lines[i] = value->line;
	}
	return 0;
}

/* --- reading the file -------------------------------------------------------------------------- */

static int take_partition(struct osp_config *config, const struct osp_value *map,
			  struct osp_error *error)
{
	struct rules *rules = &config->partitions[config->partition_count];

	if (!strcasecmp(map->key, "default") || !strcasecmp(map->key, "defaults"))
		return osp_error_at(
			error, config->file, map->key_line, map->key_column,
			"'%s' is no partition; the key defaults beside partitions holds "
			"what is true of all",
			map->key);
	*rules = config->defaults;
	rules->partition = map->key;
	rules->partition_line = map->key_line;
	config->partition_count++;
	if (osp_value_is_null(map))
		return 0;
	return take_rules(config->document, map, rules, error);
}

static int take_partitions(struct osp_config *config, const struct osp_value *map,
			   struct osp_error *error)
{
	const struct osp_value *child;

	if (map->type != OSP_VALUE_MAP)
		return osp_document_error(config->document, map, error,
					  "partitions: a map of partitions by name is expected, "
					  "not a %s",
					  map->type == OSP_VALUE_LIST ? "list" : "word");
	if (!map->child_count)
		return 0;
	config->partitions = calloc(map->child_count, sizeof(*config->partitions));
	if (!config->partitions)
		return osp_error_at(error, config->file, 0, 0, "out of memory");
	for (child = map->first; child; child = child->next) {
		if (take_partition(config, child, error))
			return -1;
	}
	return 0;
}

static int take_file(struct osp_config *config, struct osp_error *error)
{
	static const char *const keys[] = {"topology", "defaults", "partitions"};
	const struct osp_value *root = osp_document_root(config->document), *value;

	if (osp_value_only_keys(config->document, root, keys, 3, error))
		return -1;
	value = osp_value_get(root, "topology");
	if (value && osp_value_string(config->document, value, &config->topology, error))
		return -1;
	if (value)
		config->topology_line = value->line;
	value = osp_value_get(root, "defaults");
	if (value && take_rules(config->document, value, &config->defaults, error))
		return -1;
	value = osp_value_get(root, "partitions");
	return value ? take_partitions(config, value, error) : 0;
}

static void set_defaults(struct osp_config *config)
{
	config->topology = DEFAULT_TOPOLOGY;
	config->defaults.policy = (struct osp_policy){
		.mode = OSP_MODE_ENFORCE,
		.level = "spine",
		.gang_always = false,
		.from_nodes = 2,
		.allow_off = true,
		.mix_kinds = false,
		.relax_s = -1,
	};
	config->defaults.relax = "never";
}

struct osp_config *osp_config_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error)
{
	struct osp_config *config;

	if (!file)
		file = "";
	if (text_bytes > OSP_CONFIG_FILE_BYTES_MAX) {
		osp_error_at(error, file, 0, 0, "larger than %zu bytes: no onespine.yaml",
			     OSP_CONFIG_FILE_BYTES_MAX);
		return NULL;
	}
	config = calloc(1, sizeof(*config));
	if (!config || !(config->file = strdup(file))) {
		osp_error_at(error, file, 0, 0, "out of memory");
		osp_config_free(config);
		return NULL;
	}
	set_defaults(config);
	config->document = osp_document_read(file, text, text_bytes, error);
	if (!config->document || take_file(config, error)) {
		osp_config_free(config);
		return NULL;
	}
	return config;
}

void osp_config_free(struct osp_config *config)
{
	if (!config)
		return;
	osp_document_free(config->document);
	free(config->partitions);
	free(config->file);
	free(config);
}

/* --- asking ------------------------------------------------------------------------------------ */

const struct osp_policy *osp_config_policy(const struct osp_config *config, const char *partition)
{
	for (size_t i = 0; partition && i < config->partition_count; i++) {
		if (!strcmp(config->partitions[i].partition, partition))
			return &config->partitions[i].policy;
	}
	return &config->defaults.policy;
}

const char *osp_config_topology(const struct osp_config *config)
{
	return config->topology;
}

size_t osp_config_partition_count(const struct osp_config *config)
{
	return config->partition_count;
}

const char *osp_config_partition(const struct osp_config *config, size_t index, int *line)
{
	if (line)
		*line = config->partitions[index].partition_line;
	return config->partitions[index].partition;
}

/* --- showing ----------------------------------------------------------------------------------- */

/* The value of one key in words; `buffer` holds a number. */
static const char *rule_word(const struct rules *rules, enum policy_key key, char *buffer,
			     size_t buffer_bytes)
{
	switch (key) {
	case MODE:
		return osp_mode_name(rules->policy.mode);
	case LEVEL:
		return rules->policy.level;
	case GANG:
		return rules->policy.gang_always ? "always" : "asked";
	case FROM_NODES:
		snprintf(buffer, buffer_bytes, "%u", rules->policy.from_nodes);
		return buffer;
	case ALLOW_OFF:
		return rules->policy.allow_off ? "true" : "false";
	case MIX_KINDS:
		return rules->policy.mix_kinds ? "true" : "false";
	case RELAX:
	case POLICY_KEY_COUNT:
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
		      const struct rules *rules)
{
	char name[320], number[16];

	for (int key = 0; key < POLICY_KEY_COUNT; key++) {
		snprintf(name, sizeof(name), "%s.%s",
			 rules->partition ? rules->partition : "defaults", policy_keys[key]);
		add_line(text, config, widths, name,
			 rule_word(rules, (enum policy_key)key, number, sizeof(number)),
			 rules->lines[key]);
	}
}

static void widen(struct widths *widths, const struct rules *rules)
{
	const char *name = rules->partition ? rules->partition : "defaults";
	char number[16];

	for (int key = 0; key < POLICY_KEY_COUNT; key++) {
		int name_width = (int)(strlen(name) + 1 + strlen(policy_keys[key]));
		int value_width =
			(int)strlen(rule_word(rules, (enum policy_key)key, number, sizeof(number)));

		if (name_width > widths->name)
			widths->name = name_width;
		if (value_width > widths->value)
			widths->value = value_width;
	}
}

static void show_lines(struct osp_text *text, const struct osp_config *config)
{
	struct widths widths = {(int)strlen("topology"), (int)strlen(config->topology)};

	widen(&widths, &config->defaults);
	for (size_t i = 0; i < config->partition_count; i++)
		widen(&widths, &config->partitions[i]);
	add_line(text, config, widths, "topology", config->topology, config->topology_line);
	add_rules(text, config, widths, &config->defaults);
	for (size_t i = 0; i < config->partition_count; i++)
		add_rules(text, config, widths, &config->partitions[i]);
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

/* {"value": VALUE, "line": LINE}; words are quoted, numbers and booleans are not. */
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

static void add_json_rules(struct osp_text *text, const struct rules *rules, const char *indent)
{
	char number[16];

	osp_text_add(text, "{");
	for (int key = 0; key < POLICY_KEY_COUNT; key++) {
		bool word = key != FROM_NODES && key != ALLOW_OFF && key != MIX_KINDS;

		osp_text_printf(text, "%s\n%s  \"%s\": ", key ? "," : "", indent, policy_keys[key]);
		add_json_value(text, rule_word(rules, (enum policy_key)key, number, sizeof(number)),
			       word, rules->lines[key]);
	}
	osp_text_printf(text, "\n%s}", indent);
}

static void show_json(struct osp_text *text, const struct osp_config *config)
{
	osp_text_add(text, "{\n  \"file\": ");
	add_json_string(text, config->file);
	osp_text_add(text, ",\n  \"topology\": ");
	add_json_value(text, config->topology, true, config->topology_line);
	osp_text_add(text, ",\n  \"defaults\": ");
	add_json_rules(text, &config->defaults, "  ");
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
