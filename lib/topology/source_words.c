/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_words.c - the words of --from and watch.from */
#include "lib/topology/source_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

#define NVLINK	    "nvlink"
#define READS_FILE  "topograph"
#define ALL_SOURCES "ec2,infiniband," NVLINK "," READS_FILE

static const char *const names[] = {"ec2", "infiniband", NVLINK, READS_FILE};

#define COUNT (sizeof(names) / sizeof(names[0]))

/* Returns the name that is equal to `word`; NULL with the nearest one in `error`. */
static const char *find_name(const char *word, struct osp_error *error)
{
	const char *nearest;

	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(word, names[i]))
			return names[i];
	}
	nearest = osp_nearest_word(word, names, COUNT);
	osp_error_set(error, "%.40s: not one of " ALL_SOURCES "%s%s%s", word,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	return NULL;
}

/* Reads "NAME" or "NAME:FILE". */
static int read_one(const char *word, const char *all, struct osp_source_words *words,
		    struct osp_error *error)
{
	const char *path = strchr(word, ':'), *name;
	char before[64];
	bool reads_file;

	snprintf(before, sizeof(before), "%.*s", (int)strcspn(word, ":"), word);
	name = find_name(before, error);
	if (!name)
		return -1;
	reads_file = !strcmp(name, READS_FILE);
	if (path && !reads_file)
		return osp_error_set(error, "%.200s: %s reads no file", word, name);
	if (!path && reads_file)
		return osp_error_set(error, "%s: the file that it writes is expected, as %s:/path",
				     name, name);
	if (path && path[1] != '/')
		return osp_error_set(error, "%.200s: a path that starts with / is expected", word);
	for (size_t i = 0; i < words->count; i++) {
		if (words->names[i] == name)
			return osp_error_set(error, "%.60s: %s is there twice", all, name);
	}
	snprintf(words->files[words->count], OSP_SOURCE_FILE_BYTES, "%s", path ? path + 1 : "");
	words->names[words->count++] = name;
	return 0;
}

static int check_nvlink(const char *all, const struct osp_source_words *words,
			struct osp_error *error)
{
	for (size_t i = 0; i < words->count && words->count > 2; i++) {
		if (!strcmp(words->names[i], NVLINK))
			return osp_error_set(error, "%.60s: nvlink goes with one other source",
					     all);
	}
	return 0;
}

int osp_source_words_read(const char *text, struct osp_source_words *words, struct osp_error *error)
{
	memset(words, 0, sizeof(*words));
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		char word[OSP_SOURCE_FILE_BYTES];

		if (words->count == OSP_SOURCES_MAX || length >= sizeof(word))
			return osp_error_set(error,
					     "%.60s: at most %d sources, separated by commas, are "
					     "expected",
					     text, OSP_SOURCES_MAX);
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		if (read_one(word, text, words, error))
			return -1;
		at += length;
		if (!*at)
			return check_nvlink(text, words, error);
	}
}
