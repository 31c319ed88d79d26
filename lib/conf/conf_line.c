/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf_line.c - Slurm's configuration syntax, read character by character with its place */
#include "lib/conf/conf_line.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORD_BYTES_MAX ((size_t)16 * 1024 * 1024)

void osp_conf_start(struct osp_conf_reader *reader, const char *file, const char *text,
		    size_t text_bytes)
{
	*reader = (struct osp_conf_reader){file, text, text + text_bytes, 1, 1};
	if (text_bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		reader->at += 3;
}

bool osp_conf_at_end(const struct osp_conf_reader *reader)
{
	return reader->at == reader->end;
}

static bool is_blank(char c)
{
	return isspace((unsigned char)c) && c != '\n';
}

/* Moves on by one byte of the file. */
static void advance(struct osp_conf_reader *reader)
{
	if (*reader->at++ == '\n') {
		reader->line++;
		reader->column = 1;
	} else {
		reader->column++;
	}
}

/*
 * Returns whether the backslash at `at` joins the next line. Only blanks may follow it on its line,
 * and a comment after at least one blank (directly after the backslash a '#' is an ordinary
 * character).
 */
static bool joins_lines(const struct osp_conf_reader *reader)
{
	const char *at = reader->at + 1;

	while (at < reader->end && is_blank(*at))
		at++;
	return at == reader->end || *at == '\n' || (*at == '#' && at > reader->at + 1);
}

static void skip_line(struct osp_conf_reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		advance(reader);
}

static void pass_line_end(struct osp_conf_reader *reader)
{
	if (reader->at < reader->end)
		advance(reader);
}

/* Skips joined lines and comments. Returns false at the line's end, which it does not pass. */
static bool settle(struct osp_conf_reader *reader)
{
	while (reader->at < reader->end && *reader->at == '\\' && joins_lines(reader)) {
		skip_line(reader);
		pass_line_end(reader);
	}
	if (reader->at < reader->end && *reader->at == '#')
		skip_line(reader);
	return reader->at < reader->end && *reader->at != '\n';
}

/* Returns the next character of the line without moving, or OSP_CONF_LINE_END. */
static int peek(struct osp_conf_reader *reader)
{
	if (!settle(reader))
		return OSP_CONF_LINE_END;
	if (*reader->at == '\\')
		return (unsigned char)reader->at[1];
	return (unsigned char)*reader->at;
}

/* Moves past the character that peek() saw. */
static void take(struct osp_conf_reader *reader)
{
	if (*reader->at == '\\')
		advance(reader);
	advance(reader);
}

static void skip_blanks(struct osp_conf_reader *reader)
{
	int c;

	while ((c = peek(reader)) != OSP_CONF_LINE_END && isspace(c))
		take(reader);
}

static int refuse(const struct osp_conf_reader *reader, struct osp_error *error, const char *text)
{
	return osp_error_at(error, reader->file, reader->line, reader->column, "%s", text);
}

static bool is_key_letter(int c)
{
	return c != OSP_CONF_LINE_END && (isalnum(c) || c == '_' || c == '.');
}

static int read_key(struct osp_conf_reader *reader, struct osp_conf_word *word,
		    struct osp_error *error)
{
	int c;

	word->key_line = reader->line;
	word->key_column = reader->column;
	for (; is_key_letter(c = peek(reader)); take(reader)) {
		char letter = (char)c;

		osp_text_add_bytes(&word->key, &letter, 1);
		if (word->key.length_bytes > 64)
			return osp_error_at(error, reader->file, word->key_line, word->key_column,
					    "Key=Value is expected here");
	}
	if (!word->key.failed && !word->key.length_bytes)
		return refuse(reader, error, "Key=Value is expected here");
	return 0;
}

static int read_equals(struct osp_conf_reader *reader, const struct osp_conf_word *word,
		       struct osp_error *error)
{
	skip_blanks(reader);
	if (peek(reader) != '=') {
		if (word->key.data && !strcasecmp(word->key.data, "include"))
			return osp_error_at(error, reader->file, word->key_line, word->key_column,
					    "include is not followed; put the lines of that file "
					    "here");
		return osp_error_at(error, reader->file, reader->line, reader->column,
				    "'=' is expected after %s",
				    word->key.data ? word->key.data : "the key");
	}
	take(reader);
	skip_blanks(reader);
	return 0;
}

static int read_value(struct osp_conf_reader *reader, struct osp_conf_word *word,
		      struct osp_error *error)
{
	struct osp_conf_reader start = *reader;
	bool quoted = peek(reader) == '"';
	int c;

	if (quoted)
		take(reader);
	peek(reader);
	word->value_start = *reader;
	for (; (c = peek(reader)) != OSP_CONF_LINE_END; take(reader)) {
		char letter = (char)c;

		if (quoted ? c == '"' : isspace(c))
			break;
		if (!c)
			return refuse(reader, error, "a zero byte");
		osp_text_add_bytes(&word->value, &letter, 1);
		if (word->value.length_bytes > WORD_BYTES_MAX)
			return refuse(&start, error, "a value of more than 16 MiB");
	}
	if (quoted && c != '"')
		return refuse(&start, error, "this '\"' has no second one");
	if (quoted)
		take(reader);
	c = peek(reader);
	if (quoted && c != OSP_CONF_LINE_END && !isspace(c))
		return refuse(reader, error, "a blank is expected after the quotes");
	if (!word->value.length_bytes && !word->value.failed)
		return refuse(&start, error, "a value is expected here");
	return 0;
}

int osp_conf_next_word(struct osp_conf_reader *reader, struct osp_conf_word *word,
		       struct osp_error *error)
{
	osp_conf_word_free(word);
	skip_blanks(reader);
	if (peek(reader) == OSP_CONF_LINE_END) {
		pass_line_end(reader);
		return 0;
	}
	if (read_key(reader, word, error) || read_equals(reader, word, error) ||
	    read_value(reader, word, error))
		return -1;
	if (word->key.failed || word->value.failed)
		return osp_error_at(error, reader->file, 0, 0, "out of memory");
	return 1;
}

bool osp_conf_include(struct osp_conf_reader *reader, struct osp_text *name)
{
	static const char word[] = "include";
	const size_t length = sizeof(word) - 1;
	int c;

	if ((size_t)(reader->end - reader->at) <= length ||
	    strncasecmp(reader->at, word, length) != 0 || !is_blank(reader->at[length]))
		return false;
	for (size_t i = 0; i < length; i++)
		advance(reader);
	skip_blanks(reader);
	for (; (c = peek(reader)) != OSP_CONF_LINE_END && !isspace(c) && c; take(reader)) {
		char letter = (char)c;

		osp_text_add_bytes(name, &letter, 1);
	}
	return true;
}

void osp_conf_pass_line(struct osp_conf_reader *reader)
{
	while (peek(reader) != OSP_CONF_LINE_END)
		take(reader);
	pass_line_end(reader);
}

void osp_conf_value_place(const struct osp_conf_reader *value_start, size_t index, int *line,
			  int *column)
{
	struct osp_conf_reader reader = *value_start;

	while (index-- && peek(&reader) != OSP_CONF_LINE_END)
		take(&reader);
	peek(&reader);
	*line = reader.line;
	*column = reader.column;
}

void osp_conf_word_free(struct osp_conf_word *word)
{
	osp_text_free(&word->key);
	osp_text_free(&word->value);
}
