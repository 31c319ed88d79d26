/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clustermgtd.c - whether ParallelCluster's daemon clustermgtd ends the instances of drained
 * nodes */
#include "lib/conf/clustermgtd.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SECTION "[clustermgtd]"
#define KEY	"terminate_drain_nodes"

bool osp_has_clustermgtd(const struct osp_slurm_conf *conf)
{
	const struct osp_slurm_file *files;
	size_t count = 0;

	if (!conf)
		return false;
	files = osp_slurm_conf_files(conf, &count);
	for (size_t i = 1; i < count; i++) {
		const char *slash = strrchr(files[i].path, '/');

		if (!strcmp(slash ? slash + 1 : files[i].path, OSP_PARALLELCLUSTER_CONF))
			return true;
	}
	return false;
}

static const char *after_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* Returns what follows the key and its '=' or ':'; NULL if the line has another key. */
static const char *value_of(const char *line)
{
	if (strncasecmp(line, KEY, sizeof(KEY) - 1) != 0)
		return NULL;
	line = after_blanks(line + sizeof(KEY) - 1);
	return *line == '=' || *line == ':' ? after_blanks(line + 1) : NULL;
}

static bool is_no(const char *value)
{
	static const char *const words[] = {"false", "no", "off", "0"};
	size_t length = strcspn(value, "\r\n");

	while (length && isspace((unsigned char)value[length - 1]))
		length--;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && !strncasecmp(value, words[i], length))
			return true;
	return false;
}

bool osp_clustermgtd_ends_drained(const char *text)
{
	bool ours = false, ends = true;

	for (const char *line = text; line && *line;) {
		const char *next = strchr(line, '\n'), *value;

		if (*line == '[')
			ours = !strncmp(line, SECTION, sizeof(SECTION) - 1);
		value = ours ? value_of(line) : NULL;
		if (value)
			ends = !is_no(value);
		line = next ? next + 1 : NULL;
	}
	return ends;
}

bool osp_is_dynamic_node(const char *name)
{
	const char *kind = strstr(name, "-dy-"), *number = name + strcspn(name, "[");

	if (*number != '[')
		while (number > name && isdigit((unsigned char)number[-1]))
			number--;
	return *number && number > name && number[-1] == '-' && kind && kind > name &&
	       kind + sizeof("-dy-") - 1 < number - 1;
}
