/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_conf.c - slurm.conf with the files that it includes, as Slurm reads it */
#include "lib/conf/slurm_conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/conf/conf_line.h"

#define DEPTH_MAX 16

struct osp_slurm_conf {
	struct osp_arena arena;
	struct osp_slurm_word *words;
	uint32_t word_count;
	uint32_t word_room;
	struct osp_slurm_file *files;
	uint32_t file_count;
	uint32_t file_room;
};

struct reading {
	struct osp_slurm_conf *conf;
	osp_slurm_read_f *read;
	void *context;
	struct osp_error *error;
	const char *open[DEPTH_MAX]; /* the files that include each other, outermost first */
	uint32_t depth;
};

static int no_memory(struct reading *reading)
{
	return osp_error_set(reading->error, "out of memory");
}

/* --- words ------------------------------------------------------------------------------------ */

static int add_word(struct reading *reading, const char *file, struct osp_conf_word *word,
		    bool starts_line)
{
	struct osp_slurm_conf *conf = reading->conf;
	struct osp_slurm_word *added;

	if (osp_make_room((void **)&conf->words, &conf->word_room, conf->word_count,
			  sizeof(*conf->words)))
		return no_memory(reading);
	added = &conf->words[conf->word_count];
	*added = (struct osp_slurm_word){
		.key = osp_arena_copy(&conf->arena, word->key.data, word->key.length_bytes),
		.value = osp_arena_copy(&conf->arena, word->value.data, word->value.length_bytes),
		.file = file,
		.line = word->key_line,
		.starts_line = starts_line,
	};
	if (!added->key || !added->value)
		return no_memory(reading);
	conf->word_count++;
	return 0;
}

/* --- Include ---------------------------------------------------------------------------------- */

static int read_file(struct reading *reading, const char *path);

/* Returns `name` with %c replaced, relative to the folder of `file`. */
static char *include_path(struct reading *reading, const char *file, const char *name)
{
	const char *cluster = osp_slurm_conf_value(reading->conf, "ClusterName", "");
	const char *slash = strrchr(file, '/');
	struct osp_text path = OSP_TEXT_INIT;
	char *copy = NULL;

	if (name[0] != '/' && slash)
		osp_text_add_bytes(&path, file, (size_t)(slash - file) + 1);
	for (; *name; name++) {
		if (name[0] == '%' && name[1] == 'c') {
			osp_text_add(&path, cluster);
			name++;
		} else {
			osp_text_add_bytes(&path, name, 1);
		}
	}
	if (!path.failed && path.data)
		copy = osp_arena_copy(&reading->conf->arena, path.data, path.length_bytes);
	osp_text_free(&path);
	return copy;
}

static int add_file(struct reading *reading, const struct osp_slurm_file *file)
{
	struct osp_slurm_conf *conf = reading->conf;

	if (conf->file_count == OSP_SLURM_CONF_FILES_MAX)
		return osp_error_at(reading->error, file->said_in, file->said_line, 0,
				    "more than %d files are included", OSP_SLURM_CONF_FILES_MAX);
	if (osp_make_room((void **)&conf->files, &conf->file_room, conf->file_count,
			  sizeof(*conf->files)))
		return no_memory(reading);
	conf->files[conf->file_count++] = *file;
	return 0;
}

static int include(struct reading *reading, const char *file, int line, const char *name)
{
	struct osp_slurm_file included = {.said_in = file, .said_line = line};

	if (!name || !*name)
		return osp_error_at(reading->error, file, line, 0, "Include needs a file");
	included.name = osp_arena_copy(&reading->conf->arena, name, strlen(name));
	included.path = include_path(reading, file, name);
	if (!included.name || !included.path)
		return no_memory(reading);
	for (uint32_t i = 0; i < reading->depth; i++)
		if (strcmp(reading->open[i], included.path) == 0)
			return osp_error_at(reading->error, file, line, 0, "%s includes itself",
					    included.path);
	if (reading->depth == DEPTH_MAX)
		return osp_error_at(reading->error, file, line, 0,
				    "files that include files, more than %d deep", DEPTH_MAX);
	return add_file(reading, &included) ? -1 : read_file(reading, included.path);
}

/* --- lines ------------------------------------------------------------------------------------ */

static int read_words(struct reading *reading, const char *file, struct osp_conf_reader *reader)
{
	struct osp_conf_word word = OSP_CONF_WORD_INIT;
	bool first = true;
	int result;

	while ((result = osp_conf_next_word(reader, &word, reading->error)) > 0) {
		result = add_word(reading, file, &word, first);
		if (result)
			break;
		first = false;
	}
	osp_conf_word_free(&word);
	return result;
}

static int read_line(struct reading *reading, const char *file, struct osp_conf_reader *reader)
{
	struct osp_text name = OSP_TEXT_INIT;
	int line = reader->line;
	int result;

	if (!osp_conf_include(reader, &name))
		return read_words(reading, file, reader);
	osp_conf_pass_line(reader);
	result = name.failed ? no_memory(reading) : include(reading, file, line, name.data);
	osp_text_free(&name);
	return result;
}

static int read_file(struct reading *reading, const char *path)
{
	struct osp_conf_reader reader;
	size_t text_bytes = 0;
	char *text = reading->read(reading->context, path, &text_bytes, reading->error);
	int result = 0;

	if (!text)
		return -1;
	reading->open[reading->depth++] = path;
	osp_conf_start(&reader, path, text, text_bytes);
	while (!result && !osp_conf_at_end(&reader))
		result = read_line(reading, path, &reader);
	reading->depth--;
	free(text);
	return result;
}

struct osp_slurm_conf *osp_slurm_conf_read(const char *path, osp_slurm_read_f *read, void *context,
					   struct osp_error *error)
{
	struct reading reading = {.read = read, .context = context, .error = error};
	struct osp_slurm_file first = {0};

	reading.conf = calloc(1, sizeof(*reading.conf));
	if (!reading.conf) {
		no_memory(&reading);
		return NULL;
	}
	first.path = first.name = osp_arena_copy(&reading.conf->arena, path, strlen(path));
	if (!first.path)
		no_memory(&reading);
	if (!first.path || add_file(&reading, &first) || read_file(&reading, first.path)) {
		osp_slurm_conf_free(reading.conf);
		return NULL;
	}
	return reading.conf;
}

void osp_slurm_conf_free(struct osp_slurm_conf *conf)
{
	if (!conf)
		return;
	osp_arena_free(&conf->arena);
	free(conf->words);
	free(conf->files);
	free(conf);
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct osp_slurm_word *osp_slurm_conf_find(const struct osp_slurm_conf *conf, const char *key)
{
	for (uint32_t i = conf->word_count; i-- > 0;)
		if (conf->words[i].starts_line && strcasecmp(conf->words[i].key, key) == 0)
			return &conf->words[i];
	return NULL;
}

const char *osp_slurm_conf_value(const struct osp_slurm_conf *conf, const char *key,
				 const char *otherwise)
{
	const struct osp_slurm_word *word = osp_slurm_conf_find(conf, key);

	return word ? word->value : otherwise;
}

uint32_t osp_slurm_conf_number(const struct osp_slurm_conf *conf, const char *key,
			       uint32_t otherwise)
{
	const char *value = osp_slurm_conf_value(conf, key, NULL);
	unsigned long number;
	char *end;

	if (!value)
		return otherwise;
	if (strcasecmp(value, "INFINITE") == 0 || strcasecmp(value, "UNLIMITED") == 0)
		return UINT32_MAX;
	number = strtoul(value, &end, 10);
	if (end == value || *end || *value == '-' || number >= UINT32_MAX)
		return otherwise;
	return (uint32_t)number;
}

const struct osp_slurm_word *osp_slurm_conf_words(const struct osp_slurm_conf *conf, size_t *count)
{
	*count = conf->word_count;
	return conf->words;
}

const char *osp_slurm_conf_of_line(const struct osp_slurm_conf *conf,
				   const struct osp_slurm_word *word, const char *key)
{
	const struct osp_slurm_word *end = conf->words + conf->word_count;

	for (word++; word < end && !word->starts_line; word++)
		if (strcasecmp(word->key, key) == 0)
			return word->value;
	return NULL;
}

/* --- nodes ------------------------------------------------------------------------------------ */

const char *osp_slurm_conf_of_node_line(const struct osp_slurm_conf *conf,
					const struct osp_slurm_word *word, const char *key)
{
	const char *value = osp_slurm_conf_of_line(conf, word, key);

	while (!value && word > conf->words) {
		word--;
		if (word->starts_line && strcasecmp(word->key, "NodeName") == 0 &&
		    strcasecmp(word->value, "DEFAULT") == 0)
			value = osp_slurm_conf_of_line(conf, word, key);
	}
	return value;
}

struct search {
	const char *name;
	size_t place;
};

static int is_name(const char *name, void *context)
{
	struct search *search = context;

	if (strcmp(name, search->name) == 0)
		return 1;
	search->place++;
	return 0;
}

struct pick {
	size_t before; /* so many are skipped */
	char *buffer;
	size_t buffer_bytes;
};

static int take_name(const char *name, void *context)
{
	struct pick *pick = context;

	if (pick->before--)
		return 0;
	snprintf(pick->buffer, pick->buffer_bytes, "%s", name);
	return 1;
}

/* Returns the name of `list` at the place that the node has among the names of its line. */
static const char *name_at(const char *list, size_t place, char *buffer, size_t buffer_bytes)
{
	struct pick pick = {place, buffer, buffer_bytes};

	return osp_hostlist_expand(list, take_name, &pick, NULL) == 1 ? buffer : NULL;
}

const char *osp_slurm_conf_address(const struct osp_slurm_conf *conf, const char *node,
				   char *buffer, size_t buffer_bytes)
{
	for (size_t i = 0; i < conf->word_count; i++) {
		const struct osp_slurm_word *word = &conf->words[i];
		struct search search = {.name = node};
		const char *list;

		if (!word->starts_line || strcasecmp(word->key, "NodeName") != 0 ||
		    osp_hostlist_expand(word->value, is_name, &search, NULL) != 1)
			continue;
		list = osp_slurm_conf_of_line(conf, word, "NodeAddr");
		if (!list)
			list = osp_slurm_conf_of_line(conf, word, "NodeHostname");
		return name_at(list ? list : word->value, search.place, buffer, buffer_bytes);
	}
	return NULL;
}

const char *osp_slurm_conf_of_node(const struct osp_slurm_conf *conf, const char *node,
				   const char *key, const char *unknown)
{
	const char *otherwise = NULL;

	for (size_t i = 0; i < conf->word_count; i++) {
		const struct osp_slurm_word *word = &conf->words[i];
		struct search search = {.name = node};
		const char *value;

		if (!word->starts_line || strcasecmp(word->key, "NodeName") != 0)
			continue;
		value = osp_slurm_conf_of_line(conf, word, key);
		if (strcasecmp(word->value, "DEFAULT") == 0)
			otherwise = value ? value : otherwise;
		else if (osp_hostlist_expand(word->value, is_name, &search, NULL) == 1)
			return value ? value : otherwise;
	}
	return unknown;
}

const struct osp_slurm_file *osp_slurm_conf_files(const struct osp_slurm_conf *conf, size_t *count)
{
	*count = conf->file_count;
	return conf->files;
}

bool osp_slurm_list_has(const char *list, const char *word, char *value, size_t value_bytes)
{
	size_t length = strlen(word);

	if (value)
		*value = '\0';
	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
		size_t rest;

		at += strspn(at, " \t");
		if (strncasecmp(at, word, length) != 0)
			continue;
		rest = strcspn(at + length, ",");
		if (value && at[length] == '=') {
			size_t count = rest - 1 < value_bytes - 1 ? rest - 1 : value_bytes - 1;

			memcpy(value, at + length + 1, count);
			value[count] = '\0';
			return true;
		}
		if (rest == strspn(at + length, " \t"))
			return true;
	}
	return false;
}
