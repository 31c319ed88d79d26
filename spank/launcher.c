/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launcher.c - launchers that give ranks to nodes by themselves */
#include "spank/launcher.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define FILES_MAX      8
#define FILE_BYTES_MAX (64 * 1024)

/* --- in a text -------------------------------------------------------------------------------- */

/* Tells whether `at` is in a comment of a shell script. */
static bool is_comment(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	while (*at == ' ' || *at == '\t')
		at++;
	return *at == '#';
}

/* Skips what may stand between an option and its value. */
static const char *value_after(const char *option)
{
	return option + strspn(option, "= \t\"'\\\n");
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

static enum osp_launcher find_in(const char *text, const char *next)
{
	if (says_c10d(text, next))
		return OSP_LAUNCHER_C10D;
	return says_ray(text, next) ? OSP_LAUNCHER_RAY : OSP_LAUNCHER_BY_TASK;
}

/* --- in a script ------------------------------------------------------------------------------ */

enum osp_launcher osp_launcher_find(char *const *words, int count)
{
	const char *backend = getenv("PET_RDZV_BACKEND");
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;
	size_t bytes;
	int files = 0;

	if (backend && !strcmp(backend, "c10d"))
		return OSP_LAUNCHER_C10D;
	for (int i = 0; i < count && found == OSP_LAUNCHER_BY_TASK; i++)
		found = find_in(words[i], i + 1 < count ? words[i + 1] : NULL);
	for (int i = 0; i < count && found == OSP_LAUNCHER_BY_TASK && files < FILES_MAX; i++) {
		char *text =
			words[i][0] == '-' ? NULL : osp_read_file(words[i], FILE_BYTES_MAX, &bytes);

		/* a program ends at its first zero byte */
		files += text != NULL;
		if (text)
			found = find_in(text, NULL);
		free(text);
	}
	return found;
}
