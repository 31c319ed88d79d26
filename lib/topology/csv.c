/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv.c - comma-separated values, field by field */
#include "lib/topology/csv.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX ((size_t)64 * 1024)

void osp_csv_start(struct osp_csv *csv, const char *file, const char *text, size_t text_bytes)
{
	memset(csv, 0, sizeof(*csv));
	csv->file = file;
	csv->text = text;
	csv->text_bytes = text_bytes;
	csv->line = 1;
	csv->column = 1;
	if (text_bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		csv->at = 3;
		csv->column = 4;
	}
}

void osp_csv_end(struct osp_csv *csv)
{
	free(csv->buffer);
	csv->buffer = NULL;
}

/* Returns the current byte, or -1 at the end. */
static int peek(const struct osp_csv *csv)
{
	return csv->at < csv->text_bytes ? (unsigned char)csv->text[csv->at] : -1;
}

static void step(struct osp_csv *csv)
{
	if (csv->text[csv->at++] == '\n') {
		csv->line++;
		csv->column = 1;
	} else {
		csv->column++;
	}
}

static int refuse(const struct osp_csv *csv, struct osp_error *error, const char *text)
{
	return osp_error_at(error, csv->file, csv->line, csv->column, "%s", text);
}

/* Returns whether the line ends here. A CR counts only before an LF or at the end of the file. */
static bool at_line_end(const struct osp_csv *csv)
{
	int c = peek(csv);

	if (c == '\r')
		return csv->at + 1 == csv->text_bytes || csv->text[csv->at + 1] == '\n';
	return c == '\n' || c < 0;
}

static void skip_blanks(struct osp_csv *csv)
{
	while (peek(csv) == ' ' || peek(csv) == '\t')
		step(csv);
}

/* Copies a quoted field, which starts here with its quote, to `to`. Returns the end of the copy. */
static char *read_quoted(struct osp_csv *csv, char *to, struct osp_error *error)
{
	int line = csv->line, column = csv->column;

	step(csv);
	while (peek(csv) >= 0) {
		char c = csv->text[csv->at];

		if (!c) {
			refuse(csv, error, "a zero byte in a field");
			return NULL;
		}
		step(csv);
		if (c == '"') {
			if (peek(csv) != '"')
				return to;
			step(csv);
		}
		*to++ = c;
	}
	osp_error_at(error, csv->file, line, column, "this quote is not closed");
	return NULL;
}

static char *read_plain(struct osp_csv *csv, char *to, struct osp_error *error)
{
	char *start = to;

	while (peek(csv) != ',' && !at_line_end(csv)) {
		char c = csv->text[csv->at];

		if (c == '"') {
			refuse(csv, error,
			       "a quote inside a field; quote the whole field and double it");
			return NULL;
		}
		if (((unsigned char)c < ' ' && c != '\t') || c == 0x7f) {
			refuse(csv, error, "a control character in a field");
			return NULL;
		}
		*to++ = c;
		step(csv);
	}
	while (to > start && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	return to;
}

static char *read_field(struct osp_csv *csv, char *to, struct osp_error *error)
{
	struct osp_csv_field *field;

	if (csv->field_count == OSP_CSV_FIELDS_MAX) {
		refuse(csv, error, "more fields in one line than any fabric has layers");
		return NULL;
	}
	skip_blanks(csv);
	field = &csv->fields[csv->field_count++];
	*field = (struct osp_csv_field){to, csv->line, csv->column};
	if (peek(csv) != '"') {
		to = read_plain(csv, to, error);
	} else {
		to = read_quoted(csv, to, error);
		skip_blanks(csv);
	}
	if (!to)
		return NULL;
	if (peek(csv) != ',' && !at_line_end(csv)) {
		refuse(csv, error, "a comma or the end of the line is expected after the quote");
		return NULL;
	}
	*to++ = '\0';
	return to;
}

/*
 * Makes room for the current line: no field grows, and each gets a terminator in place of its
 * comma.
 */
static int make_buffer(struct osp_csv *csv, struct osp_error *error)
{
	size_t bytes = 0;
	bool quoted = false;
	char *buffer;

	for (size_t i = csv->at; i < csv->text_bytes; i++, bytes++) {
		if (csv->text[i] == '"')
			quoted = !quoted;
		else if (csv->text[i] == '\n' && !quoted)
			break;
		if (bytes == LINE_BYTES_MAX)
			return refuse(csv, error, "a line of more than 64 KiB, or an open quote");
	}
	if (bytes + 2 <= csv->buffer_room)
		return 0;
	buffer = realloc(csv->buffer, bytes + 2);
	if (!buffer)
		return osp_error_at(error, csv->file, 0, 0, "out of memory");
	csv->buffer = buffer;
	csv->buffer_room = bytes + 2;
	return 0;
}

static int read_line(struct osp_csv *csv, struct osp_error *error)
{
	char *to;

	if (make_buffer(csv, error))
		return -1;
	to = csv->buffer;
	csv->field_count = 0;
	for (;;) {
		to = read_field(csv, to, error);
		if (!to)
			return -1;
		if (peek(csv) != ',')
			break;
		step(csv);
	}
	return 1;
}

int osp_csv_next(struct osp_csv *csv, struct osp_error *error)
{
	for (;;) {
		skip_blanks(csv);
		if (peek(csv) < 0)
			return 0;
		if (!at_line_end(csv))
			return read_line(csv, error);
		step(csv);
	}
}
