/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - reads a job script: its commands, and the options in its comments */
#include "onespine_config.h"
#include "lib/env/script_private.h"

#include <stdlib.h>
#include <string.h>

/* --- comments --------------------------------------------------------------------------------- */

/* Notes a command of a script in another language, whose words are not the shell's. */
static int pass_command(void *context, const struct osp_shell_word *words, size_t count)
{
	struct osp_reading *reading = context;

	(void)words;
	(void)count;
	reading->begun = true;
	return 0;
}

/* Finds the option, but not one that begins like it. Returns where it ends; `bytes` if it is not
 * there. */
static size_t find_export(const char *text, size_t bytes, const char *option, size_t length,
			  const char **found)
{
	const char *at = text;
	size_t end = bytes;

	while ((at = memmem(at, bytes - (size_t)(at - text), option, length))) {
		*found = at;
		at += length;
		end = (size_t)(at - text);
		if (end >= bytes || *at == '=' || *at == ' ')
			return end;
	}
	return bytes;
}

/* Takes #SBATCH --export=..., read as Slurm does: blanks separate words, quotes keep them together.
 * A line that begins with #! begins a script, even in a here-document. */
static int take_comment(void *context, const char *text, size_t bytes, int line, int column)
{
	static const char mark[] = "#SBATCH", option[] = "--export";
	struct osp_shell_word at = {.line = line};
	struct osp_reading *reading = context;
	size_t start, end;
	char quote = '\0', *list;
	const char *found = text;
	int rc;

	if (bytes > 1 && text[1] == '!' && column == 1)
		reading->begun = false;
	if (bytes < sizeof(mark) || memcmp(text, mark, sizeof(mark) - 1) != 0)
		return 0;
	if (osp_script_options_of_comment(&reading->script->options, &reading->script->arena, text,
					  bytes, line, column, reading->begun))
		return -1;
	if (reading->begun || column > 1)
		return 0;
	reading->lasting = true;
	start = find_export(text, bytes, option, sizeof(option) - 1, &found);
	if (start >= bytes)
		return 0;
	for (start++; start < bytes && text[start] == ' '; start++)
		;
	for (end = start; end < bytes && (quote || !strchr(" \t\r", text[end])); end++) {
		if (text[end] == '\'' || text[end] == '"')
			quote = !quote ? text[end] : quote == text[end] ? '\0' : quote;
	}
	if (end - start > 1 && text[start] == '"' && text[end - 1] == '"') {
		start++;
		end--;
	}
	at.column = (int)(found - text) + 1;
	list = osp_arena_copy(&reading->script->arena, text + start, end - start);
	if (!list)
		return -1;
	osp_reading_exports(reading, list); /* sbatch sets SLURM_EXPORT_ENV to it */
	rc = osp_reading_export_list(reading, list, &at);
	return rc;
}

/* --- scripts ---------------------------------------------------------------------------------- */

struct osp_script *osp_script_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error)
{
	struct osp_script *script = calloc(1, sizeof(*script));
	struct osp_reading reading = {.script = script};
	struct osp_shell_reader reader = {.context = &reading,
					  .command = osp_reading_command,
					  .comment = take_comment,
					  .mark = osp_reading_mark,
					  .document = osp_reading_take_document};
	int rc = -1;

	if (!script) {
		osp_error_at(error, file, 0, 0, "out of memory");
		return NULL;
	}
	if (text_bytes > OSP_SCRIPT_BYTES_MAX) {
		osp_error_at(error, file, 0, 0, "larger than %zu bytes: no job script",
			     OSP_SCRIPT_BYTES_MAX);
	} else {
		if (osp_shell_is_foreign(text, text_bytes))
			reader.command = pass_command;
		script->dos_line = osp_shell_dos_line(text, text_bytes);
		rc = script->dos_line ? osp_shell_read_dos(text, text_bytes, &reader)
				      : osp_shell_read(text, text_bytes, &reader);
		if (rc && reading.too_many)
			osp_error_at(error, file, 0, 0, "sets more than %d variables",
				     OSP_SCRIPT_SETTINGS_MAX);
		else if (rc && script->options.too_many)
			osp_error_at(error, file, 0, 0, "has more than %d options",
				     OSP_SCRIPT_OPTIONS_MAX);
		else if (rc)
			osp_error_at(error, file, 0, 0, "out of memory");
	}
	osp_course_finish(&reading.courses, script->settings);
	osp_courses_free(&reading.courses);
	if (!rc)
		return script;
	osp_script_free(script);
	return NULL;
}

int osp_script_dos_line(const struct osp_script *script)
{
	return script->dos_line;
}

void osp_script_free(struct osp_script *script)
{
	if (!script)
		return;
	osp_script_options_free(&script->options);
	osp_arena_free(&script->arena);
	free(script->settings);
	free(script);
}

size_t osp_script_count(const struct osp_script *script)
{
	return script->count;
}

const struct osp_setting *osp_script_at(const struct osp_script *script, size_t index)
{
	return &script->settings[index];
}

const struct osp_script_options *osp_script_options(const struct osp_script *script)
{
	return &script->options;
}
