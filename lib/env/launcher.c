/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launcher.c - launchers that give ranks to nodes by themselves */
#include "lib/env/launcher.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define FILES_MAX      8
#define TRIES_MAX      64
#define VARIABLES_MAX  32
#define DEPTH_MAX      3
#define PATH_BYTES     1024
#define FILE_BYTES_MAX (64 * 1024)

/* What may still be looked at, and what was seen. */
struct search {
	int files, tries, variables;
	const char *(*variable)(const char *name);
	bool nodeid; /* SLURM_NODEID is read */
};

/* --- in a text -------------------------------------------------------------------------------- */

/* Returns whether `at` is in a comment of a shell script. */
static bool is_comment(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	while (*at == ' ' || *at == '\t')
		at++;
	return *at == '#';
}

/* Skips what may be between an option and its value. */
static const char *value_after(const char *option)
{
	return option + strspn(option, "=, \t\"'\\\n");
}

/* Finds "--rdzv-backend=c10d" or "--rdzv_backend c10d"; the value may begin `next`. */
static bool says_c10d(const char *text, const char *next)
{
	for (const char *at = text; (at = strstr(at, "--rdzv")); at++) {
		const char *value = at + strlen("--rdzv-backend");

		if (strncmp(at, "--rdzv-backend", strlen("--rdzv-backend")) != 0 &&
		    strncmp(at, "--rdzv_backend", strlen("--rdzv_backend")) != 0)
			continue;
		value = value_after(value);
		if (!*value && next)
			value = next;
		if (!strncmp(value, "c10d", strlen("c10d")) && !is_comment(text, at))
			return true;
	}
	return false;
}

/* Finds "ray start" and "ray symmetric-run", by the path of ray too; "start" may be `next`. */
static bool says_ray(const char *text, const char *next)
{
	for (const char *at = text; (at = strstr(at, "ray")); at++) {
		const char *command = at + strlen("ray");

		if ((at > text && (isalnum((unsigned char)at[-1]) || strchr("_-.", at[-1]))) ||
		    (*command && *command != ' ' && *command != '\t'))
			continue;
		command += strspn(command, " \t");
		if (!*command)
			command = next ? next : "";
		if ((!strncmp(command, "start", strlen("start")) ||
		     !strncmp(command, "symmetric-run", strlen("symmetric-run"))) &&
		    !is_comment(text, at))
			return true;
	}
	return false;
}

/* Returns whether the line of `at` has `word`. */
static bool line_has(const char *text, const char *at, const char *word)
{
	const char *end = at + strcspn(at, "\n");

	while (at > text && at[-1] != '\n')
		at--;
	at = strstr(at, word);
	return at && at < end;
}

/* Returns whether the variable named at `at` ends another word, as in /tmp/cache_$SLURM_NODEID: a
 * name and no rank. */
static bool ends_name(const char *text, const char *at)
{
	at -= at > text && at[-1] == '{';
	if (at == text || *--at != '$' || at == text)
		return false;
	return isalnum((unsigned char)at[-1]) || strchr("_-./", at[-1]);
}

/* Returns whether a line reads SLURM_NODEID as a number, and not ONESPINE_NODE_RANK. */
static bool says_nodeid(const char *text)
{
	for (const char *at = text; (at = strstr(at, "SLURM_NODEID")); at++) {
		if (!is_comment(text, at) && !ends_name(text, at) &&
		    !line_has(text, at, "ONESPINE_NODE_RANK"))
			return true;
	}
	return false;
}

static enum osp_launcher find_in(struct search *search, const char *text, const char *next)
{
	search->nodeid = search->nodeid || says_nodeid(text);
	if (says_c10d(text, next))
		return OSP_LAUNCHER_C10D;
	return says_ray(text, next) ? OSP_LAUNCHER_RAY : OSP_LAUNCHER_BY_TASK;
}

/* --- in what a text names --------------------------------------------------------------------- */

static enum osp_launcher search_text(struct search *search, const char *text, const char *next,
				     const char *folder, int depth);

static bool ends_in(const char *name, size_t bytes, const char *end)
{
	size_t length = strlen(end);

	return bytes > length && !strncmp(name + bytes - length, end, length);
}

static bool is_script(const char *name, size_t bytes)
{
	static const char *const ends[] = {".sh", ".bash", ".py", ".slurm", ".sbatch"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends_in(name, bytes, ends[i]))
			return true;
	}
	return bytes > 2 && !strncmp(name, "./", 2);
}

/* Returns whether a Python program starts others. */
static bool starts_programs(const char *text)
{
	return strstr(text, "subprocess") || strstr(text, "os.system") || strstr(text, "os.exec") ||
	       strstr(text, "os.spawn");
}

static enum osp_launcher search_file(struct search *search, const char *path, int depth)
{
	const char *slash = strrchr(path, '/');
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;
	char folder[PATH_BYTES], *text;
	size_t bytes;

	if (search->tries-- <= 0 || search->files <= 0)
		return found;
	text = osp_read_file(path, FILE_BYTES_MAX, &bytes);
	if (!text)
		return found;
	search->files--;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	/* a program ends at its first zero byte */
	if (!ends_in(path, strlen(path), ".py") || starts_programs(text))
		found = search_text(search, text, NULL, folder, depth);
	free(text);
	return found;
}

/* Reads the name of "$NAME" or "${NAME}" at `at`. Returns what follows it; NULL: there is none. */
static const char *read_variable(const char *at, char name[64])
{
	bool braced = at[1] == '{';
	const char *begin = at + 1 + braced;
	size_t bytes = 0;

	while (isalnum((unsigned char)begin[bytes]) || begin[bytes] == '_')
		bytes++;
	if (!bytes || bytes >= 64 || (braced && begin[bytes] != '}'))
		return NULL;
	snprintf(name, 64, "%.*s", (int)bytes, begin);
	return begin + bytes + braced;
}

/* Writes the name of a script with its variables' values. Returns false if one is unknown. */
static bool expand(const struct search *search, const char *word, size_t bytes,
		   char path[PATH_BYTES])
{
	const char *end = word + bytes;
	size_t length = 0;
	char name[64];

	path[0] = '\0';
	while (word < end) {
		const char *after = *word == '$' ? read_variable(word, name) : NULL;
		const char *value = after ? search->variable(name) : NULL;

		if (*word == '$' && (!value || after > end))
			return false;
		length += (size_t)snprintf(path + length, PATH_BYTES - length, "%.*s",
					   value ? PATH_BYTES : 1, value ? value : word);
		if (length >= PATH_BYTES)
			return false;
		word = value ? after : word + 1;
	}
	return true;
}

/* Looks into a script that a text names: as it is named, then beside the text. */
static enum osp_launcher search_script(struct search *search, const char *word, size_t bytes,
				       const char *folder, int depth)
{
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;
	size_t base = bytes;
	char path[PATH_BYTES];

	if (expand(search, word, bytes, path))
		found = search_file(search, path, depth);
	while (base && word[base - 1] != '/')
		base--;
	if (found != OSP_LAUNCHER_BY_TASK || !folder ||
	    snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(bytes - base), word + base) >=
		    (int)sizeof(path))
		return found;
	return search_file(search, path, depth);
}

static enum osp_launcher search_scripts(struct search *search, const char *text, const char *folder,
					int depth)
{
	static const char *const between = " \t\r\n\"'`;|&<>()=,";
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;
	size_t bytes;

	for (const char *at = text; *at && found == OSP_LAUNCHER_BY_TASK && search->tries > 0;
	     at += bytes) {
		at += strspn(at, between);
		bytes = strcspn(at, between);
		if (is_script(at, bytes) && !is_comment(text, at))
			found = search_script(search, at, bytes, folder, depth);
	}
	return found;
}

static enum osp_launcher search_variables(struct search *search, const char *text,
					  const char *folder, int depth)
{
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;
	char name[64];

	for (const char *at = text; found == OSP_LAUNCHER_BY_TASK && (at = strchr(at, '$')); at++) {
		const char *value = NULL;

		if (read_variable(at, name) && !is_comment(text, at) && search->variables > 0)
			value = search->variable(name);
		if (!value)
			continue;
		search->variables--;
		found = search_text(search, value, NULL, folder, depth);
	}
	return found;
}

/* Looks at a text, and at what it names. */
static enum osp_launcher search_text(struct search *search, const char *text, const char *next,
				     const char *folder, int depth)
{
	enum osp_launcher found = find_in(search, text, next);

	if (found == OSP_LAUNCHER_BY_TASK && depth < DEPTH_MAX)
		found = search_variables(search, text, folder, depth + 1);
	if (found == OSP_LAUNCHER_BY_TASK && depth < DEPTH_MAX)
		found = search_scripts(search, text, folder, depth + 1);
	return found;
}

static const char *no_variable(const char *name)
{
	(void)name;
	return NULL;
}

enum osp_launcher osp_launcher_find(char *const *words, int count,
				    const char *(*variable)(const char *name))
{
	struct search search = {.files = FILES_MAX,
				.tries = TRIES_MAX,
				.variables = VARIABLES_MAX,
				.variable = variable ? variable : no_variable};
	const char *backend = search.variable("PET_RDZV_BACKEND");
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;

	if (backend && !strcmp(backend, "c10d"))
		return OSP_LAUNCHER_C10D;
	for (int i = 0; i < count && found == OSP_LAUNCHER_BY_TASK; i++)
		found = find_in(&search, words[i], i + 1 < count ? words[i + 1] : NULL);
	for (int i = 0; i < count && found == OSP_LAUNCHER_BY_TASK; i++) {
		bool plain = words[i][0] != '-' && !is_script(words[i], strlen(words[i]));

		if (plain)
			found = search_file(&search, words[i], 1);
		if (found == OSP_LAUNCHER_BY_TASK)
			found = search_text(&search, words[i], NULL, NULL, 0);
	}
	return found == OSP_LAUNCHER_BY_TASK && search.nodeid ? OSP_LAUNCHER_NODEID : found;
}
