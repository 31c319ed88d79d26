/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.c - onespine.yaml */
#include "lib/policy/config_private.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/policy/request.h"
#include "lib/topology/topology.h"

#define DEFAULT_TOPOLOGY "onespine.topology"

const char *const osp_policy_keys[OSP_KEY_COUNT] = {
	"mode", "level", "gang",       "from_nodes",   "allow_off",    "mix_kinds",   "relax",
	"env",	"bind",	 "unlaunched", "launch_tries", "launch_place", "launch_keep",
};

const char *const osp_unlaunched_names[OSP_UNLAUNCHED_COUNT] = {
	[OSP_UNLAUNCHED_WAIT] = "wait",
	[OSP_UNLAUNCHED_LAUNCH] = "launch",
};

const char *const osp_without_match_names[2] = {"hold", "stop"};

/* --- reading a policy ------------------------------------------------------------------------- */

typedef int take_f(const struct osp_document *document, const struct osp_value *value,
		   struct osp_partition_policy *rules, struct osp_error *error);

static int take_mode(const struct osp_document *document, const struct osp_value *value,
		     struct osp_partition_policy *rules, struct osp_error *error)
{
	size_t index;

	if (osp_value_choice(document, value, osp_mode_names, OSP_MODE_COUNT, &index, error))
		return -1;
	rules->policy.mode = (enum osp_mode)index;
	return 0;
}

/* Reads a level, a word that --gang could give too. The topology decides whether it exists. */
static int take_level(const struct osp_document *document, const struct osp_value *value,
		      struct osp_partition_policy *rules, struct osp_error *error)
{
	struct osp_request request = {.asked = OSP_GANG_OPTION_NONE};
	const char *level;

	if (osp_value_string(document, value, &level, error))
		return -1;
	if (osp_request_parse(level, &request, NULL) || request.asked != OSP_GANG_OPTION_ON ||
	    strcmp(request.level, level) != 0)
		return osp_document_error(document, value, error,
					  "level: a level's name (letters, digits, - and _, at "
					  "most %d) is expected, not '%.40s'",
					  OSP_LEVEL_NAME_BYTES - 1, level);
	rules->policy.level = level;
	rules->level_column = value->column;
	return 0;
}

static int take_gang(const struct osp_document *document, const struct osp_value *value,
		     struct osp_partition_policy *rules, struct osp_error *error)
{
	static const char *const words[] = {"asked", "always"};
	size_t index;

	if (osp_value_choice(document, value, words, 2, &index, error))
		return -1;
	rules->policy.gang_always = index == 1;
	return 0;
}

static int take_from_nodes(const struct osp_document *document, const struct osp_value *value,
			   struct osp_partition_policy *rules, struct osp_error *error)
{
	int64_t number;

	if (osp_value_integer(document, value, 1, OSP_NODES_MAX, &number, error))
		return -1;
	rules->policy.from_nodes = (uint32_t)number;
	return 0;
}

static int take_allow_off(const struct osp_document *document, const struct osp_value *value,
			  struct osp_partition_policy *rules, struct osp_error *error)
{
	return osp_value_bool(document, value, &rules->policy.allow_off, error);
}

static int take_mix_kinds(const struct osp_document *document, const struct osp_value *value,
			  struct osp_partition_policy *rules, struct osp_error *error)
{
	return osp_value_bool(document, value, &rules->policy.mix_kinds, error);
}

static int take_relax(const struct osp_document *document, const struct osp_value *value,
		      struct osp_partition_policy *rules, struct osp_error *error)
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
					  "relax: never or a time (" OSP_DURATION_FORMS
					  ") is expected, not "
					  "'%.40s'%s%s%s",
					  text, nearest ? "; did you mean " : "",
					  nearest ? nearest : "", nearest ? "?" : "");
	}
	rules->relax = text;
	return 0;
}

static int take_env(const struct osp_document *document, const struct osp_value *value,
		    struct osp_partition_policy *rules, struct osp_error *error)
{
	size_t index;

	if (osp_value_choice(document, value, osp_env_mode_names, OSP_ENV_MODE_COUNT, &index,
			     error))
		return -1;
	rules->policy.env = (enum osp_env_mode)index;
	return 0;
}

static int take_bind(const struct osp_document *document, const struct osp_value *value,
		     struct osp_partition_policy *rules, struct osp_error *error)
{
	size_t index;

	if (osp_value_choice(document, value, osp_bind_mode_names, OSP_BIND_MODE_COUNT, &index,
			     error))
		return -1;
	rules->policy.bind = (enum osp_bind_mode)index;
	return 0;
}

static int take_unlaunched(const struct osp_document *document, const struct osp_value *value,
			   struct osp_partition_policy *rules, struct osp_error *error)
{
	size_t index;

	if (osp_value_choice(document, value, osp_unlaunched_names, OSP_UNLAUNCHED_COUNT, &index,
			     error))
		return -1;
	rules->policy.unlaunched = (enum osp_unlaunched)index;
	return 0;
}

static int take_launch_tries(const struct osp_document *document, const struct osp_value *value,
			     struct osp_partition_policy *rules, struct osp_error *error)
{
	int64_t number;

	if (osp_value_integer(document, value, 1, OSP_LAUNCH_TRIES_MAX, &number, error))
		return -1;
	rules->policy.launch_tries = (uint32_t)number;
	return 0;
}

static int take_launch_place(const struct osp_document *document, const struct osp_value *value,
			     struct osp_partition_policy *rules, struct osp_error *error)
{
	const char *text;

	if (osp_value_string(document, value, &text, error))
		return -1;
	if (osp_parse_duration(text, &rules->policy.launch_place_s) ||
	    !rules->policy.launch_place_s)
		return osp_document_error(document, value, error,
					  "launch_place: a time (" OSP_DURATION_FORMS
					  ", not 0) is expected, not '%.40s'",
					  text);
	rules->launch_place = text;
	return 0;
}

static int take_launch_keep(const struct osp_document *document, const struct osp_value *value,
			    struct osp_partition_policy *rules, struct osp_error *error)
{
	const char *text;

	if (osp_value_string(document, value, &text, error))
		return -1;
	if (osp_parse_duration(text, &rules->policy.launch_keep_s))
		return osp_document_error(document, value, error,
					  "launch_keep: 0 or a time (" OSP_DURATION_FORMS
					  ") is expected, not '%.40s'",
					  text);
	rules->launch_keep = text;
	return 0;
}

static take_f *const takers[OSP_KEY_COUNT] = {
	take_mode,	   take_level,	      take_gang,	take_from_nodes, take_allow_off,
	take_mix_kinds,	   take_relax,	      take_env,		take_bind,	 take_unlaunched,
	take_launch_tries, take_launch_place, take_launch_keep,
};

/* Overrides `rules` with the values of `map`. */
static int take_rules(const struct osp_document *document, const struct osp_value *map,
		      struct osp_partition_policy *rules, struct osp_error *error)
{
	const char *keys[OSP_KEY_COUNT + 1];
	const struct osp_value *gate;

	memcpy(keys, osp_policy_keys, sizeof(osp_policy_keys));
	keys[OSP_KEY_COUNT] = "gate";
	if (osp_value_only_keys(document, map, keys, OSP_KEY_COUNT + 1, error))
		return -1;
	for (size_t i = 0; i < OSP_KEY_COUNT; i++) {
		const struct osp_value *value = osp_value_get(map, osp_policy_keys[i]);

		if (!value)
			continue;
		if (takers[i](document, value, rules, error))
			return -1;
		rules->lines[i] = value->line;
	}
	gate = osp_value_get(map, "gate");
	rules->gate_said = gate != NULL;
	return gate ? osp_gate_policy_read(document, gate, &rules->gate, rules->gate_lines, error)
		    : 0;
}

/* --- reading the file ------------------------------------------------------------------------- */

static const char *const file_keys[] = {"topology", "without_match", "defaults",
					"history",  "watch",	     "partitions"};

#define FILE_KEYS (sizeof(file_keys) / sizeof(file_keys[0]))

/* Refuses keys of a policy at the top of the file, and says where they belong. */
static int refuse_policy_keys(const struct osp_config *config, const struct osp_value *root,
			      struct osp_error *error)
{
	for (const struct osp_value *v = root->first; v; v = v->next)
		for (size_t i = 0; root->type == OSP_VALUE_MAP && i <= OSP_KEY_COUNT; i++)
			if (!strcmp(v->key, i < OSP_KEY_COUNT ? osp_policy_keys[i] : "gate"))
				return osp_error_at(error, config->file, v->key_line, v->key_column,
						    "'%s' is a key of defaults or of a partition: "
						    "it is expected indented below 'defaults:' or "
						    "below a name under 'partitions:'",
						    v->key);
	return 0;
}

static int take_partition(struct osp_config *config, const struct osp_value *map,
			  struct osp_error *error)
{
	struct osp_partition_policy *rules = &config->partitions[config->partition_count];

	if (!strcasecmp(map->key, "default") || !strcasecmp(map->key, "defaults"))
		return osp_error_at(
			error, config->file, map->key_line, map->key_column,
			"'%s' is no partition; the key defaults beside partitions holds "
			"what is true of all",
			map->key);
	*rules = config->defaults;
	rules->partition = map->key;
	rules->partition_line = map->key_line;
	rules->partition_column = map->key_column;
	rules->gate_said = false;
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

static int take_without_match(struct osp_config *config, const struct osp_value *value,
			      struct osp_error *error)
{
	size_t index;

	if (osp_value_choice(config->document, value, osp_without_match_names, 2, &index, error))
		return -1;
	config->stops = index == 1;
	config->without_match_line = value->line;
	return 0;
}

static int take_file(struct osp_config *config, struct osp_error *error)
{
	const struct osp_value *root = osp_document_root(config->document), *value;

	if (refuse_policy_keys(config, root, error) ||
	    osp_value_only_keys(config->document, root, file_keys, FILE_KEYS, error))
		return -1;
	value = osp_value_get(root, "topology");
	if (value && osp_value_string(config->document, value, &config->topology, error))
		return -1;
	if (value)
		config->topology_line = value->line;
	value = osp_value_get(root, "without_match");
	if (value && take_without_match(config, value, error))
		return -1;
	value = osp_value_get(root, "defaults");
	if (value && take_rules(config->document, value, &config->defaults, error))
		return -1;
	value = osp_value_get(root, "history");
	if (value && osp_history_policy_read(config->document, value, &config->history,
					     config->history_lines, error))
		return -1;
	value = osp_value_get(root, "watch");
	if (value && osp_watch_policy_read(config->document, value, &config->watch,
					   config->watch_lines, error))
		return -1;
	value = value ? osp_value_get(value, "launch_groups") : NULL;
	if (value)
		config->launch_groups_column = value->column;
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
		.env = OSP_ENV_AUTO,
		.bind = OSP_BIND_AUTO,
		.unlaunched = OSP_UNLAUNCHED_WAIT,
		.launch_tries = 3,
		.launch_place_s = 300,
		.launch_keep_s = 300,
	};
	config->defaults.relax = "never";
	config->defaults.launch_place = "5:00";
	config->defaults.launch_keep = "5:00";
	osp_gate_policy_default(&config->defaults.gate);
	osp_history_policy_default(&config->history);
	osp_watch_policy_default(&config->watch);
}

/* Returns whether the text has only blanks and comments, like the installed file: libyaml would
 * take a tenth of a millisecond for it, in every step on every node. */
static bool says_nothing(const char *text, size_t text_bytes)
{
	const char *end = text + text_bytes;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		for (line_end = line_end ? line_end : end; text < line_end; text++) {
			if (*text == '#')
				break;
			if (*text != ' ')
				return false;
		}
		text = line_end + 1;
	}
	return true;
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
	if (says_nothing(text, text_bytes))
		return config;
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

/* --- asking ----------------------------------------------------------------------------------- */

const struct osp_policy *osp_config_policy_named(const struct osp_config *config, const char *name,
						 size_t name_bytes)
{
	for (size_t i = 0; i < config->partition_count; i++) {
		const char *partition = config->partitions[i].partition;

		if (!strncmp(partition, name, name_bytes) && !partition[name_bytes])
			return &config->partitions[i].policy;
	}
	return &config->defaults.policy;
}

const struct osp_policy *osp_config_policy(const struct osp_config *config, const char *partition)
{
	return partition ? osp_config_policy_named(config, partition, strlen(partition))
			 : &config->defaults.policy;
}

bool osp_config_holds(const struct osp_config *config)
{
	return !config->stops;
}

const struct osp_gate_policy *osp_config_gate(const struct osp_config *config,
					      const char *partition)
{
	for (size_t i = 0; partition && i < config->partition_count; i++) {
		if (!strcmp(config->partitions[i].partition, partition))
			return &config->partitions[i].gate;
	}
	return &config->defaults.gate;
}

const struct osp_history_policy *osp_config_history(const struct osp_config *config)
{
	return &config->history;
}

const struct osp_watch_policy *osp_config_watch(const struct osp_config *config)
{
	return &config->watch;
}

const char *osp_config_topology(const struct osp_config *config)
{
	return config->topology;
}

bool osp_config_launches(const struct osp_config *config)
{
	size_t count = osp_config_partition_count(config);
	int line;

	for (size_t i = 0; i < count; i++) {
		const char *name = osp_config_partition(config, i, &line);

		if (osp_config_policy(config, name)->unlaunched == OSP_UNLAUNCHED_LAUNCH)
			return true;
	}
	return osp_config_policy(config, NULL)->unlaunched == OSP_UNLAUNCHED_LAUNCH;
}

size_t osp_config_partition_count(const struct osp_config *config)
{
	return config->partition_count;
}

struct osp_config_place osp_config_partition_place(const struct osp_config *config, size_t index)
{
	const struct osp_partition_policy *rules = &config->partitions[index];

	return (struct osp_config_place){rules->partition_line, rules->partition_column};
}

struct osp_config_place osp_config_level_place(const struct osp_config *config, size_t index)
{
	const struct osp_partition_policy *rules =
		index < config->partition_count ? &config->partitions[index] : &config->defaults;

	return (struct osp_config_place){rules->lines[OSP_KEY_LEVEL], rules->level_column};
}

struct osp_config_place osp_config_launch_groups_place(const struct osp_config *config)
{
	return (struct osp_config_place){config->watch_lines[OSP_WATCH_KEY_LAUNCH_GROUPS],
					 config->launch_groups_column};
}

const char *osp_config_partition(const struct osp_config *config, size_t index, int *line)
{
	if (line)
		*line = config->partitions[index].partition_line;
	return config->partitions[index].partition;
}
