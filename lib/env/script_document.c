/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_document.c - files that a script writes with here-documents and then runs, and what its
 * own shell substitutes in them and in texts of `-c` */
#include "lib/env/script_private.h"

#include <string.h>

#include "lib/base/text.h"
#include "lib/env/script_value.h"

/* What stands for a text that the script's own shell has substituted. */
#define SUBSTITUTED "$_"

static const char *without_dot(const char *file)
{
	return strncmp(file, "./", 2) ? file : file + 2;
}

const struct osp_document_read *osp_reading_document(const struct osp_reading *reading,
						     const char *file)
{
	for (size_t i = reading->document_count; i-- > 0;) {
		if (!strcmp(without_dot(reading->documents[i].file), without_dot(file)))
			return &reading->documents[i];
	}
	return NULL;
}

/* Returns where the $(...) at `at` ends. */
static const char *after_brackets(const char *at, const char *end)
{
	size_t depth = 0;

	for (at++; at < end; at++) {
		depth += *at == '(';
		if (*at == ')' && !--depth)
			return at + 1;
	}
	return end;
}

/* Returns where the `...` at `at` ends. */
static const char *after_backquote(const char *at, const char *end)
{
	for (at++; at < end && *at != '`'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

/* Returns where $NAME or ${NAME} ends, if it is of the node that reads it; else NULL. */
static const char *after_own_name(const char *at, const char *end)
{
	static const char *const names[] = {"HOSTNAME", "SLURMD_NODENAME", "SLURM_NODEID",
					    "SLURM_PROCID", "SLURM_LOCALID"};
	bool braced = at + 1 < end && at[1] == '{';
	const char *name = at + 1 + braced;
	size_t length = osp_value_name_length(name, end);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (length == strlen(names[i]) && !memcmp(name, names[i], length))
			return name + length + (braced && name + length < end);
	}
	return NULL;
}

/* Writes one byte, or what stands for the text that the script's own shell puts there: values of
 * commands are unknown, and those of variables stay names. Returns where it goes on. */
static const char *substitute_one(struct osp_text *text, const char *at, const char *end)
{
	const char *next = NULL;

	if (*at == '$' && at + 1 < end && at[1] == '(')
		next = after_brackets(at, end);
	else if (*at == '$')
		next = after_own_name(at, end);
	else if (*at == '`')
		next = after_backquote(at, end);
	if (next)
		osp_text_add(text, SUBSTITUTED);
	else
		osp_text_add_bytes(text, at, 1);
	return next ? next : at + 1;
}

/* Writes what the file has after the script's own shell has substituted what it does. */
static void substitute(struct osp_text *text, const char *at, const char *end)
{
	while (at < end) {
		if (*at == '\\' && at + 1 < end && strchr("\\$`", at[1])) {
			osp_text_add_bytes(text, at + 1, 1);
			at += 2;
			continue;
		}
		at = substitute_one(text, at, end);
	}
}

/* Does the same with a word and its quotes; `live` gets each $(...) that this shell runs. Returns
 * false if a quote is not closed. */
static bool substitute_word(struct osp_text *text, struct osp_text *live, const char *at,
			    const char *end)
{
	const char *next;
	bool quoted = false;

	for (; at < end; at = next) {
		if (*at == '\'' && !quoted) {
			next = memchr(at + 1, '\'', (size_t)(end - at) - 1);
			if (!next)
				return false;
			osp_text_add_bytes(text, at + 1, (size_t)(next - at) - 1);
			next++;
		} else if (*at == '"') {
			quoted = !quoted;
			next = at + 1;
		} else if (*at == '\\' && at + 1 < end && (!quoted || strchr("\\$`\"\n", at[1]))) {
			osp_text_add_bytes(text, at + 1, at[1] != '\n');
			next = at + 2;
		} else {
			next = substitute_one(text, at, end);
			if (*at == '$' && at + 1 < end && at[1] == '(')
				osp_text_add_bytes(live, at, (size_t)(next - at));
		}
	}
	return !quoted;
}

int osp_reading_given_text(struct osp_reading *reading, struct osp_shell_word *word,
			   struct osp_shell_word *live)
{
	struct osp_text text = OSP_TEXT_INIT, commands = OSP_TEXT_INIT;
	struct osp_arena *arena = &reading->script->arena;
	int rc = 0;

	*live = *word;
	live->text = "";
	live->whole_lines = false;
	if (!word->raw || !word->unexpanded)
		return 0;
	osp_text_add(&text, "");
	osp_text_add(&commands, "");
	if (substitute_word(&text, &commands, word->raw, word->raw + word->raw_bytes) &&
	    !text.failed && !commands.failed && strcmp(text.data, word->text) != 0) {
		word->whole_lines &= osp_shell_line_feeds(text.data, text.length_bytes) ==
				     osp_shell_line_feeds(word->text, strlen(word->text));
		word->text = osp_arena_copy(arena, text.data, text.length_bytes);
		live->text = osp_arena_copy(arena, commands.data, commands.length_bytes);
	}
	if (text.failed || commands.failed || !word->text || !live->text)
		rc = -1;
	osp_text_free(&text);
	osp_text_free(&commands);
	return rc;
}

void osp_reading_take_document(void *context, const char *file, const char *body, size_t body_bytes,
			       int line, bool expands)
{
	struct osp_reading *reading = context;
	struct osp_arena *arena = &reading->script->arena;
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_shell_word place = {.line = line};
	struct osp_document_read document;

	if (reading->document_count == OSP_DOCUMENTS_MAX ||
	    reading->inner_bytes + body_bytes > OSP_SCRIPT_BYTES_MAX)
		return;
	osp_text_add(&text, "");
	if (expands)
		substitute(&text, body, body + body_bytes);
	else
		osp_text_add_bytes(&text, body, body_bytes);
	osp_reading_place(reading, &place.line, &place.column);
	document = (struct osp_document_read){
		.file = osp_arena_copy(arena, file, strlen(file)),
		.text = text.failed ? NULL : osp_arena_copy(arena, text.data, text.length_bytes),
		.line = place.line};
	osp_text_free(&text);
	if (document.file && document.text)
		reading->documents[reading->document_count++] = document;
}
