/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_topology_import.c - `onespine topology import` */
#include "tools/command/command.h"
#include "tools/command/topology_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/topology/blocks.h"
#include "lib/topology/builder.h"
#include "host/files.h"

#define LIST_MAX      64
#define LIST_BYTES    2048
#define MAP_BYTES_MAX OSP_TOPOLOGY_FILE_BYTES_MAX

/* An option's value, split at its commas. */
struct word_list {
	char text[LIST_BYTES];
	const char *words[LIST_MAX];
	size_t count;
};

static int split(const char *option, const char *value, struct word_list *list,
		 struct osp_error *error)
{
	char *rest = list->text;

	list->count = 0;
	if (strlen(value) >= sizeof(list->text))
		return osp_error_set(error, "--%s: at most %d bytes are expected, not %zu", option,
				     LIST_BYTES - 1, strlen(value));
	strcpy(list->text, value);
	while (rest) {
		const char *word = strsep(&rest, ",");

		if (!*word)
			return osp_error_set(error, "--%s: an empty name", option);
		if (list->count == LIST_MAX)
			return osp_error_set(error, "--%s: more than %d names", option, LIST_MAX);
		list->words[list->count++] = word;
	}
	return 0;
}

/* --- what to read ----------------------------------------------------------------------------- */

/* Returns the index of `value` among the words of its option; -1 with the nearest in `error`. */
static int choose(enum osp_option_id id, const char *value, struct osp_error *error)
{
	const struct osp_option *option = osp_option(id);
	const char *nearest;
	struct word_list list;
	char spaced[LIST_BYTES];
	char *blank;
	size_t i;

	snprintf(spaced, sizeof(spaced), "%s", option->words);
	while ((blank = strchr(spaced, ' ')))
		*blank = ',';
	if (split(option->name, spaced, &list, error) < 0)
		return -1;
	for (i = 0; i < list.count; i++)
		if (strcmp(value, list.words[i]) == 0)
			return (int)i;
	nearest = osp_nearest_word(value, list.words, list.count);
	return osp_error_set(error, "--%s=%.40s: not one of %s%s%s%s", option->name, value, spaced,
			     nearest ? "; did you mean " : "", nearest ? nearest : "",
			     nearest ? "?" : "");
}

enum target { TO_ONESPINE, TO_SLURM, TO_YAML };

typedef int add_f(struct osp_import *import, const char *file, const char *text, size_t text_bytes,
		  struct osp_error *error);
typedef struct osp_topology *read_f(const char *file, const char *text, size_t text_bytes,
				    struct osp_error *error);
typedef int gaps_f(const struct osp_topology *topology, const char *file, const char *text,
		   size_t text_bytes, struct osp_text *said, struct osp_error *error);

#define OPTION(id) (1u << (id))
#define OF_PAGES                                                                                   \
	(OPTION(OSP_OPTION_NAME_MAP) | OPTION(OSP_OPTION_LEVELS) | OPTION(OSP_OPTION_ALLOW_MISSING))
#define OF_EC2 (OF_PAGES | OPTION(OSP_OPTION_TAG))
#define OF_ANY (OF_EC2 | OPTION(OSP_OPTION_COLUMNS) | OPTION(OSP_OPTION_ADAPTERS))

/* A reader, in the order of --from's words. */
struct source {
	const char *name;
	add_f *add;	      /* reads several FILEs, pages of one answer; or */
	read_f *read;	      /* reads one */
	gaps_f *gaps;	      /* reports the links that it lacks */
	unsigned int options; /* those of OF_ANY that it uses */
	bool adapter_map;     /* several ids of its MAP may be one node */
	bool blocks;	      /* its FILE may have blocks, which become the level nvlink */
};

#define SOURCE(word, help, ...) {.name = word, __VA_ARGS__},

static const struct source sources[] = {
	OSP_TOPOLOGY_SOURCES(SOURCE){.name = "onespine", .read = osp_read_onespine_topology},
};

/* Refuses options that this source does not use, which are a mistake. */
static int check_options(const struct osp_call *call, const struct source *source,
			 struct osp_error *error)
{
	for (unsigned int id = 0; id < OSP_OPTION_COUNT && id < 32; id++) {
		if (OPTION(id) & OF_ANY & ~source->options && call->values[id])
			return osp_error_set(error, "--%s does not go with --from=%s",
					     osp_option((enum osp_option_id)id)->name,
					     source->name);
	}
	if (call->values[OSP_OPTION_TAG] && !call->values[OSP_OPTION_NAME_MAP])
		return osp_error_set(error, "--tag goes with --nodes");
	if (source->read && call->argument_count > 1)
		return osp_error_set(error, "--from=%s takes one FILE", source->name);
	return 0;
}

/* --- pages ------------------------------------------------------------------------------------ */

static struct osp_name_map *load_map(const struct osp_call *call, const struct source *source,
				     struct osp_error *error)
{
	const char *path = call->values[OSP_OPTION_NAME_MAP];
	struct osp_name_map *map;
	size_t bytes;
	char *text = osp_read_input(path, MAP_BYTES_MAX, &bytes, error);

	if (!text)
		return NULL;
	map = source->adapter_map ? osp_read_adapter_map(osp_input_name(path), text, bytes, error)
				  : osp_read_name_map(osp_input_name(path), text, bytes,
						      call->values[OSP_OPTION_TAG], error);
	free(text);
	return map;
}

static int add_pages(const struct osp_call *call, const struct source *source,
		     struct osp_import *import, struct osp_error *error)
{
	int i;

	for (i = 0; i < call->argument_count; i++) {
		const char *name = osp_input_name(call->arguments[i]);
		size_t bytes;
		char *text = osp_read_input(call->arguments[i], OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes,
					    error);
		int result;

		if (!text)
			return -1;
		result = source->add(import, name, text, bytes, error);
		free(text);
		if (result < 0)
			return -1;
	}
	return 0;
}

static uint32_t count_domains(const struct osp_topology *topology, uint32_t level)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < osp_topology_domain_count(topology); i++)
		count += osp_topology_domain(topology, i)->level == level;
	return count;
}

/* Warns of columns in a wrong order, or of two that say the same: they make single children. */
static void warn_of_single_children(const struct osp_topology *topology)
{
	uint32_t levels = osp_topology_level_count(topology);

	for (uint32_t level = 2; level <= levels; level++) {
		const char *lower = osp_topology_level_name(topology, level - 1);
		const char *upper = osp_topology_level_name(topology, level);
		uint32_t count = count_domains(topology, level);

		if (count < 2 || count != count_domains(topology, level - 1))
			continue;
		osp_say_warning("there is one %s per %s: %u of each; if that is not so, --columns "
				"names the columns of hosts and of switches, top layer first",
				lower, upper, count);
	}
}

/* --- names that Slurm does not know ----------------------------------------------------------- */

/* Returns whether a node is called as a cloud calls an instance: i-0abc12345678 (EC2), ocid1...
 * (OCI), 1234567890123456789 (GCP), or a UUID (Azure). */
static bool is_instance_id(const char *name)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t length = strlen(name);

	if (strncmp(name, "i-", 2) == 0)
		return length >= 10 && strspn(name + 2, hex) == length - 2;
	if (strncmp(name, "ocid1.", 6) == 0)
		return true;
	if (strspn(name, "0123456789") == length)
		return length >= 15;
	return length == 36 && strspn(name, hex) == 8 && name[8] == '-' &&
	       strspn(name + 24, hex) == 12;
}

/* Warns of names that are no node of Slurm's, unless slurm.conf calls its nodes so. */
static void warn_of_ids(const struct osp_topology *topology, const struct source *source)
{
	const char *cure = source->options & OPTION(OSP_OPTION_NAME_MAP)
				   ? source->add == osp_import_ec2
					     ? "--nodes with the output of aws ec2 "
					       "describe-instances gives Slurm's names"
					     : "--nodes with an id and a node a line gives Slurm's "
					       "names"
				   : "expected are Slurm's names";
	const char *first = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < osp_topology_node_count(topology); i++) {
		const char *name = osp_topology_node_name(topology, i);

		if (!is_instance_id(name))
			continue;
		first = first ? first : name;
		count++;
	}
	if (count)
		osp_say_warning("%u node%s by the id of an instance (%.64s): Slurm knows only "
				"those that slurm.conf calls so; %s",
				count, count == 1 ? " is called" : "s are called", first, cure);
}

static struct osp_topology *read_pages(const struct osp_call *call, const struct source *source,
				       const struct osp_import_options *options,
				       struct osp_error *error)
{
	struct osp_import *import = osp_import_new(options);
	struct osp_topology *topology = NULL;
	size_t i;

	if (!import)
		osp_error_set(error, "out of memory");
	else if (add_pages(call, source, import, error) == 0)
		topology = osp_import_finish(import, error);
	for (i = 0; topology && i < osp_import_warning_count(import); i++)
		osp_say_warning("%s", osp_import_warning(import, i));
	if (topology && source->add == osp_import_csv)
		warn_of_single_children(topology);
	osp_import_free(import);
	return topology;
}

/* Returns the height of a level with that name; 0: the name says nothing. */
static uint32_t height_of(const char *name)
{
	for (uint32_t level = 1; level < OSP_LEVELS_MAX; level++)
		if (strcasecmp(name, osp_default_level_name(level)) == 0)
			return level;
	return 0;
}

/* Refuses names that would call the leaves spines and the spines leaves. */
static int check_level_order(const struct word_list *levels, struct osp_error *error)
{
	for (size_t i = 0; i < levels->count; i++)
		for (size_t above = i + 1; above < levels->count; above++)
			if (height_of(levels->words[above]) &&
			    height_of(levels->words[above]) < height_of(levels->words[i]))
				return osp_error_set(
					error,
					"--levels: the lowest level first is expected, "
					"but %s comes before %s, which is below it",
					levels->words[i], levels->words[above]);
	return 0;
}

static struct osp_topology *import_pages(const struct osp_call *call, const struct source *source,
					 struct osp_error *error)
{
	struct osp_import_options options = {
		.allow_missing = call->values[OSP_OPTION_ALLOW_MISSING],
		.adapters = call->values[OSP_OPTION_ADAPTERS],
	};
	struct word_list levels;
	struct word_list columns;
	struct osp_name_map *map = NULL;
	struct osp_topology *topology;

	if (call->values[OSP_OPTION_LEVELS]) {
		if (split("levels", call->values[OSP_OPTION_LEVELS], &levels, error) < 0 ||
		    check_level_order(&levels, error))
			return NULL;
		options.level_names = levels.words;
		options.level_name_count = levels.count;
	}
	if (call->values[OSP_OPTION_COLUMNS]) {
		if (split("columns", call->values[OSP_OPTION_COLUMNS], &columns, error) < 0)
			return NULL;
		options.csv_columns = columns.words;
		options.csv_column_count = columns.count;
	}
	if (call->values[OSP_OPTION_NAME_MAP]) {
		map = load_map(call, source, error);
		if (!map)
			return NULL;
		options.map = map;
	}
	topology = read_pages(call, source, &options, error);
	osp_name_map_free(map);
	return topology;
}

/* Returns the topology with the file's blocks as a level; as it is, with a warning, if they make
 * none. */
static struct osp_topology *with_blocks(struct osp_topology *topology, const char *file,
					const char *text, size_t bytes, struct osp_error *error)
{
	struct osp_error why = {.text = ""};

	topology = osp_blocks_add(topology, file, text, bytes, &why, error);
	if (why.text[0])
		osp_say_warning("%s: %s", file, why.text);
	return topology;
}

/* Warns of links that are missing. What cannot be reported of a topology that was read is left. */
static void report_gaps(const struct source *source, const struct osp_topology *topology,
			const char *file, const char *text, size_t bytes)
{
	struct osp_error error = {.text = ""};
	struct osp_text said = OSP_TEXT_INIT;

	if (!source->gaps(topology, file, text, bytes, &said, &error) && said.length_bytes &&
	    !said.failed)
		osp_say_warning("%s", said.data);
	osp_text_free(&said);
}

static struct osp_topology *import_one(const struct osp_call *call, const struct source *source,
				       struct osp_error *error)
{
	const char *name = osp_input_name(call->arguments[0]);
	struct osp_topology *topology;
	size_t bytes;
	char *text;

	if (source->add)
		return import_pages(call, source, error);
	text = osp_read_input(call->arguments[0], OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes, error);
	if (!text)
		return NULL;
	topology = source->read(name, text, bytes, error);
	if (topology && source->gaps)
		report_gaps(source, topology, name, text, bytes);
	if (topology && source->blocks)
		topology = with_blocks(topology, name, text, bytes, error);
	free(text);
	return topology;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_topology(const struct osp_call *call, const struct osp_topology *topology,
			  const struct source *source, enum target target, struct osp_error *error)
{
	const char *path = call->values[OSP_OPTION_OUTPUT];
	char origin[32];
	char *text;
	int result;

	snprintf(origin, sizeof(origin), "import from %s", source->name);
	for (uint32_t level = osp_topology_level_count(topology) + 1;
	     target != TO_ONESPINE && level <= osp_topology_last_level(topology); level++)
		osp_say_warning("level %s is beside the tree, and left out of Slurm's file",
				osp_topology_level_name(topology, level));
	text = target == TO_ONESPINE ? osp_write_onespine_topology(topology, origin)
				     : osp_write_slurm_topology(topology, target == TO_YAML, error);
	if (!text)
		return error->text[0] ? -1 : osp_error_set(error, "out of memory");
	result = osp_write_trusted(path ? path : "-", text, strlen(text), error);
	free(text);
	return result;
}

int osp_run_topology_import(const struct osp_call *call)
{
	const char *to = call->values[OSP_OPTION_TO];
	struct osp_error error = {.text = ""};
	struct osp_topology *topology;
	const struct source *source;
	int chosen;
	int target;
	int result;

	if (!call->values[OSP_OPTION_FROM]) {
		osp_error_set(
			&error,
			"--from is needed: ec2, infiniband, topograph, slurm, csv or onespine");
		return osp_say_error(&error);
	}
	chosen = choose(OSP_OPTION_FROM, call->values[OSP_OPTION_FROM], &error);
	target = to ? choose(OSP_OPTION_TO, to, &error) : TO_ONESPINE;
	if (chosen < 0 || target < 0)
		return osp_say_error(&error);
	source = &sources[chosen];
	if (check_options(call, source, &error) < 0)
		return osp_say_error(&error);
	osp_progress_begin("reading the topology");
	topology = import_one(call, source, &error);
	osp_progress_end();
	if (!topology)
		return osp_say_error(&error);
	warn_of_ids(topology, source);
	result = write_topology(call, topology, source, target, &error);
	osp_topology_free(topology);
	return result < 0 ? osp_say_error(&error) : OSP_EXIT_YES;
}
