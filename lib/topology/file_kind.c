/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_kind.c - what a file looks like, to say so if another kind is expected */
#include "lib/topology/file_kind.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define LOOK_BYTES 16384 /* a page of EC2's answer shows its keys long before */

struct look {
	const char *text;
	const char *end;
};

static bool contains(const struct look *look, const char *word)
{
	size_t count = strlen(word);

	for (const char *at = look->text; (size_t)(look->end - at) >= count; at++) {
		if (!memcmp(at, word, count))
			return true;
	}
	return false;
}

static enum osp_file_kind kind_of_json(const struct look *look)
{
	if (contains(look, "\"onespine-topology\""))
		return OSP_FILE_ONESPINE;
	if (contains(look, "\"Reservations\""))
		return OSP_FILE_EC2_INSTANCES;
	if (contains(look, "\"NetworkNodes\"") || contains(look, "\"CapacityReservations\""))
		return OSP_FILE_EC2_TOPOLOGY;
	return OSP_FILE_JSON;
}

/* Returns whether the text starts with this key, in any letter case, and then one of `marks`. */
static bool starts_with_key(const struct look *look, const char *key, const char *marks)
{
	size_t count = strlen(key);
	const char *at = look->text + count;

	if ((size_t)(look->end - look->text) <= count || strncasecmp(look->text, key, count))
		return false;
	while (at < look->end && (*at == ' ' || *at == '\t'))
		at++;
	return at < look->end && strchr(marks, *at) && *at;
}

static enum osp_file_kind kind_of_words(const struct look *look)
{
	static const char *const conf[] = {"ClusterName", "SlurmctldHost", "NodeName",
					   "PartitionName"};
	const char *line_end = memchr(look->text, '\n', (size_t)(look->end - look->text));
	size_t line_bytes = (size_t)((line_end ? line_end : look->end) - look->text);

	if (starts_with_key(look, "SwitchName", "="))
		return OSP_FILE_SLURM_TREE;
	if (starts_with_key(look, "- topology", ":"))
		return OSP_FILE_SLURM_YAML;
	if (starts_with_key(look, "BlockName", "=") || starts_with_key(look, "BlockSizes", "="))
		return OSP_FILE_SLURM_BLOCK;
	if (starts_with_key(look, "onespine-topology", ":"))
		return OSP_FILE_ONESPINE;
	for (size_t i = 0; i < sizeof(conf) / sizeof(conf[0]); i++) {
		if (starts_with_key(look, conf[i], "="))
			return OSP_FILE_SLURM_CONF;
	}
	if (memchr(look->text, ',', line_bytes) && !memchr(look->text, '=', line_bytes))
		return OSP_FILE_CSV;
	return OSP_FILE_OTHER;
}

/* Returns whether the text starts as scontrol's YAML does. */
static bool is_directive(const struct look *look)
{
	return look->end - look->text > 6 && !memcmp(look->text, "%YAML ", 6);
}

/* Skips a mark of UTF-8, blanks, comments and "%YAML 1.1". */
static void skip_comments(struct look *look)
{
	bool comment = false;

	if (look->end - look->text >= 3 && !memcmp(look->text, "\xef\xbb\xbf", 3))
		look->text += 3;
	for (; look->text < look->end; look->text++) {
		if (*look->text == '#' || (!comment && is_directive(look)))
			comment = true;
		else if (*look->text == '\n')
			comment = false;
		if (!comment && !isspace((unsigned char)*look->text))
			return;
	}
}

enum osp_file_kind osp_file_kind(const char *text, size_t text_bytes)
{
	struct look look = {text, text + text_bytes};

	skip_comments(&look);
	if (look.text == look.end)
		return OSP_FILE_EMPTY;
	if (look.end - look.text > LOOK_BYTES)
		look.end = look.text + LOOK_BYTES;
	if (look.end - look.text > 3 && !memcmp(look.text, "---", 3)) {
		look.text += 3;
		skip_comments(&look);
		if (look.text == look.end)
			return OSP_FILE_OTHER;
	}
	if (*look.text == '{' || *look.text == '[')
		return kind_of_json(&look);
	return kind_of_words(&look);
}

const char *osp_file_kind_words(enum osp_file_kind kind)
{
	switch (kind) {
	case OSP_FILE_EMPTY:
		return "an empty file";
	case OSP_FILE_ONESPINE:
		return "an onespine.topology";
	case OSP_FILE_EC2_TOPOLOGY:
		return "an answer of EC2 about topology";
	case OSP_FILE_EC2_INSTANCES:
		return "JSON from aws ec2 describe-instances";
	case OSP_FILE_JSON:
		return "JSON";
	case OSP_FILE_SLURM_TREE:
		return "a Slurm topology.conf";
	case OSP_FILE_SLURM_YAML:
		return "a Slurm topology.yaml";
	case OSP_FILE_SLURM_BLOCK:
		return "a Slurm topology.conf for topology/block";
	case OSP_FILE_SLURM_CONF:
		return "a slurm.conf";
	case OSP_FILE_CSV:
		return "a CSV table";
	case OSP_FILE_OTHER:
		break;
	}
	return "an unknown file";
}
