/* SPDX-License-Identifier: GPL-2.0-or-later */
/* document.c - a YAML or JSON file as a tree whose nodes know their line and column */
#include "lib/base/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/base/arena.h"

#define DEPTH_MAX	64
#define VALUES_MAX	((size_t)8 * 1024 * 1024) /* EC2's answer on the largest cluster has 2 Mi */
#define KEY_BYTES_MAX	255
#define FEW_KEYS	16 /* up to so many are compared pair by pair */
#define UTF8_MARK	"\xef\xbb\xbf"
#define UTF8_MARK_BYTES 3

struct osp_document {
	struct osp_arena arena;
	const char *file;
	const struct osp_value *root;
};

/* A position in the text, in characters as libyaml counts and in bytes as errors do. */
struct cursor {
	size_t characters;
	size_t bytes;
};

/* A list or map whose end has not been read yet. */
struct open_value {
	struct osp_value *value;
	struct osp_value *last;
	struct osp_value *named; /* in a map: the next child, created when its key was read */
};

struct reader {
	yaml_parser_t parser;
	struct osp_document *document;
	struct osp_error *error;
	const char *text;
	size_t text_bytes;
	struct cursor line_start;
	struct cursor here;
	size_t value_count;
	struct open_value open[DEPTH_MAX];
	int depth;
};

/* Moves on to a character. Starts again if libyaml's marks go back, which they hardly ever do. */
static void seek(const struct reader *reader, struct cursor *cursor, size_t characters)
{
	if (cursor->characters > characters)
		*cursor = (struct cursor){0, 0};
	while (cursor->characters < characters && cursor->bytes < reader->text_bytes) {
		do {
			cursor->bytes++;
		} while (cursor->bytes < reader->text_bytes &&
			 ((unsigned char)reader->text[cursor->bytes] & 0xc0) == 0x80);
		cursor->characters++;
	}
}

static int place_of(struct reader *reader, const yaml_mark_t *mark, int *column)
{
	seek(reader, &reader->line_start, mark->index - mark->column);
	seek(reader, &reader->here, mark->index);
	*column = (int)(reader->here.bytes - reader->line_start.bytes) + 1;
	return (int)mark->line + 1;
}

static int refuse(struct reader *reader, const yaml_mark_t *mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct reader *reader, const yaml_mark_t *mark, const char *format, ...)
{
	char text[OSP_ERROR_TEXT_BYTES];
	int line, column;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line = place_of(reader, mark, &column);
	return osp_error_at(reader->error, reader->document->file, line, column, "%s", text);
}

static int no_memory(struct reader *reader)
{
	return osp_error_at(reader->error, reader->document->file, 0, 0, "out of memory");
}

/* Finds the line of bytes that libyaml refused, because its reason has only an offset. */
static int refuse_bytes(struct reader *reader)
{
	size_t offset = reader->parser.problem_offset, line_start = 0;
	int line = 1;

	if (offset > reader->text_bytes)
		offset = reader->text_bytes;
	for (size_t i = 0; i < offset; i++) {
		if (reader->text[i] == '\n') {
			line++;
			line_start = i + 1;
		}
	}
	return osp_error_at(reader->error, reader->document->file, line,
			    (int)(offset - line_start) + 1, "not UTF-8 text: %s",
			    reader->parser.problem);
}

/* Returns whether a tab is before the first word of line `line` (from 0), where YAML allows
 * none; sets *column to its place. */
static bool tab_indents(const struct reader *reader, size_t line, int *column)
{
	const char *at = reader->text, *end = at + reader->text_bytes, *start;

	for (; line && at; line--) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	for (start = at; at && at < end && (*at == ' ' || *at == '\t'); at++) {
		*column = (int)(at - start) + 1;
		if (*at == '\t')
			return true;
	}
	return false;
}

static int parser_failed(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	int column;

	if (parser->error == YAML_MEMORY_ERROR)
		return no_memory(reader);
	if (parser->error == YAML_READER_ERROR)
		return refuse_bytes(reader);
	if (tab_indents(reader, parser->problem_mark.line, &column))
		return osp_error_at(reader->error, reader->document->file,
				    (int)parser->problem_mark.line + 1, column,
				    "a tab: blanks are expected in front of a key");
	return refuse(reader, &parser->problem_mark, "neither YAML nor JSON: %s%s%s",
		      parser->problem ? parser->problem : "unreadable", parser->context ? " " : "",
		      parser->context ? parser->context : "");
}

static struct osp_value *new_value(struct reader *reader, enum osp_value_type type,
				   const yaml_mark_t *mark)
{
	struct osp_value *value;

	if (++reader->value_count > VALUES_MAX) {
		refuse(reader, mark, "more than %zu values", VALUES_MAX);
		return NULL;
	}
	value = osp_arena_take(&reader->document->arena, sizeof(*value));
	if (!value) {
		no_memory(reader);
		return NULL;
	}
	value->type = type;
	value->line = place_of(reader, mark, &value->column);
	return value;
}

/* Returns the text of a scalar event, kept with the document, or NULL with the error set. */
static const char *scalar_text(struct reader *reader, const yaml_event_t *event)
{
	const char *bytes = (const char *)event->data.scalar.value;
	size_t count = event->data.scalar.length;
	const char *text;

	if (memchr(bytes, '\0', count)) {
		refuse(reader, &event->start_mark, "a zero byte in a word");
		return NULL;
	}
	text = osp_arena_copy(&reader->document->arena, bytes, count);
	if (!text)
		no_memory(reader);
	return text;
}

/* Reads a map's key. Creates its value now, so that it knows both places. */
static int read_key(struct reader *reader, struct open_value *map, const yaml_event_t *event)
{
	const char *key;

	if (event->type != YAML_SCALAR_EVENT)
		return refuse(reader, &event->start_mark, "a key must be a word");
	key = scalar_text(reader, event);
	if (!key)
		return -1;
	if (!*key || strlen(key) > KEY_BYTES_MAX)
		return refuse(reader, &event->start_mark, "a key must be a word of 1 to %d bytes",
			      KEY_BYTES_MAX);
	for (const char *c = key; *c; c++) {
		if ((unsigned char)*c < ' ')
			return refuse(reader, &event->start_mark,
				      "a key must be a word; this has a control character");
	}
	map->named = new_value(reader, OSP_VALUE_SCALAR, &event->start_mark);
	if (!map->named)
		return -1;
	map->named->key = key;
	map->named->key_line = map->named->line;
	map->named->key_column = map->named->column;
	return 0;
}

/* Returns the value that an event starts, linked into the innermost open list or map. */
static struct osp_value *place_value(struct reader *reader, enum osp_value_type type,
				     const yaml_mark_t *mark)
{
	struct open_value *open = reader->depth ? &reader->open[reader->depth - 1] : NULL;
	struct osp_value *value = open ? open->named : NULL;

	if (value) {
		open->named = NULL;
		value->type = type;
		value->line = place_of(reader, mark, &value->column);
	} else {
		value = new_value(reader, type, mark);
		if (!value)
			return NULL;
	}
	if (!open) {
		reader->document->root = value;
		return value;
	}
	if (open->last)
		open->last->next = value;
	else
		open->value->first = value;
	open->last = value;
	open->value->child_count++;
	return value;
}

static int by_key(const void *a, const void *b)
{
	const struct osp_value *const *first = a, *const *second = b;
	int order = strcmp((*first)->key, (*second)->key);

	if (order)
		return order;
	return ((*first)->key_line > (*second)->key_line) -
	       ((*first)->key_line < (*second)->key_line);
}

static int key_twice(struct reader *reader, const struct osp_value *first,
		     const struct osp_value *again)
{
	return osp_error_at(reader->error, reader->document->file, again->key_line,
			    again->key_column, "key '%s' is given twice (first in line %d)",
			    again->key, first->key_line);
}

static int check_few_keys(struct reader *reader, const struct osp_value *map)
{
	for (const struct osp_value *again = map->first; again; again = again->next) {
		for (const struct osp_value *v = map->first; v != again; v = v->next) {
			if (!strcmp(v->key, again->key))
				return key_twice(reader, v, again);
		}
	}
	return 0;
}

static int check_keys(struct reader *reader, const struct osp_value *map)
{
	const struct osp_value **values;
	size_t count = 0;
	int rc = 0;

	if (map->child_count <= FEW_KEYS)
		return check_few_keys(reader, map);
	values = calloc(map->child_count, sizeof(*values));
	if (!values)
		return no_memory(reader);
	for (const struct osp_value *v = map->first; v; v = v->next)
		values[count++] = v;
	qsort(values, count, sizeof(*values), by_key);
	for (size_t i = 1; i < count && !rc; i++) {
		if (!strcmp(values[i - 1]->key, values[i]->key))
			rc = key_twice(reader, values[i - 1], values[i]);
	}
	free(values);
	return rc;
}

static int open_value(struct reader *reader, enum osp_value_type type, const yaml_event_t *event)
{
	struct osp_value *value;

	if (reader->depth == DEPTH_MAX)
		return refuse(reader, &event->start_mark, "nested more than %d deep", DEPTH_MAX);
	value = place_value(reader, type, &event->start_mark);
	if (!value)
		return -1;
	reader->open[reader->depth++] = (struct open_value){value, NULL, NULL};
	return 0;
}

static int close_value(struct reader *reader)
{
	const struct osp_value *value = reader->open[--reader->depth].value;

	return value->type == OSP_VALUE_MAP ? check_keys(reader, value) : 0;
}

static int add_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct osp_value *value = place_value(reader, OSP_VALUE_SCALAR, &event->start_mark);
	yaml_scalar_style_t style = event->data.scalar.style;

	if (!value)
		return -1;
	value->quoted = style != YAML_PLAIN_SCALAR_STYLE;
	value->text = scalar_text(reader, event);
	return value->text ? 0 : -1;
}

/* Refuses what only YAML has and none of our files needs. */
static int refuse_extras(struct reader *reader, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_ALIAS_EVENT) {
		return refuse(reader, &event->start_mark, "aliases (*name) are not allowed here");
	} else if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	}
	if (anchor)
		return refuse(reader, &event->start_mark, "anchors (&name) are not allowed here");
	if (tag)
		return refuse(reader, &event->start_mark, "tags (!name) are not allowed here");
	return 0;
}

static int take_event(struct reader *reader, const yaml_event_t *event)
{
	struct open_value *open = reader->depth ? &reader->open[reader->depth - 1] : NULL;
	bool in_map = open && open->value->type == OSP_VALUE_MAP;

	if (refuse_extras(reader, event))
		return -1;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (reader->document->root)
			return refuse(reader, &event->start_mark,
				      "a second document starts here; one file holds one");
		return 0;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_value(reader);
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		break;
	default:
		return 0;
	}
	if (in_map && !open->named)
		return read_key(reader, open, event);
	if (event->type == YAML_SCALAR_EVENT)
		return add_scalar(reader, event);
	return open_value(reader,
			  event->type == YAML_MAPPING_START_EVENT ? OSP_VALUE_MAP : OSP_VALUE_LIST,
			  event);
}

static int read_events(struct reader *reader)
{
	yaml_event_t event;
	bool end = false;
	int rc = 0;

	while (!end && !rc) {
		if (!yaml_parser_parse(&reader->parser, &event))
			return parser_failed(reader);
		end = event.type == YAML_STREAM_END_EVENT;
		rc = take_event(reader, &event);
		yaml_event_delete(&event);
	}
	return rc;
}

/* Treats a file without any value as an empty map. */
static int fill_empty(struct reader *reader)
{
	yaml_mark_t start = {0, 0, 0};

	if (reader->document->root && !osp_value_is_null(reader->document->root))
		return 0;
	return place_value(reader, OSP_VALUE_MAP, &start) ? 0 : -1;
}

static struct osp_document *new_document(const char *file)
{
	struct osp_document *document = calloc(1, sizeof(*document));

	if (!document)
		return NULL;
	document->file = osp_arena_copy(&document->arena, file, strlen(file));
	if (document->file)
		return document;
	osp_document_free(document);
	return NULL;
}

struct osp_document *osp_document_read(const char *file, const char *text, size_t text_bytes,
				       struct osp_error *error)
{
	struct reader reader = {.error = error, .text = text, .text_bytes = text_bytes};
	int rc;

	reader.document = new_document(file);
	if (!reader.document || !yaml_parser_initialize(&reader.parser)) {
		osp_error_at(error, file, 0, 0, "out of memory");
		osp_document_free(reader.document);
		return NULL;
	}
	if (text_bytes >= UTF8_MARK_BYTES && !memcmp(text, UTF8_MARK, UTF8_MARK_BYTES)) {
		reader.text += UTF8_MARK_BYTES;
		reader.text_bytes -= UTF8_MARK_BYTES;
	}
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.text,
				     reader.text_bytes);
	rc = read_events(&reader);
	if (!rc)
		rc = fill_empty(&reader);
	yaml_parser_delete(&reader.parser);
	if (!rc)
		return reader.document;
	osp_document_free(reader.document);
	return NULL;
}

void osp_document_free(struct osp_document *document)
{
	if (!document)
		return;
	osp_arena_free(&document->arena);
	free(document);
}

const struct osp_value *osp_document_root(const struct osp_document *document)
{
	return document->root;
}

int osp_document_error(const struct osp_document *document, const struct osp_value *value,
		       struct osp_error *error, const char *format, ...)
{
	char text[OSP_ERROR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return osp_error_at(error, document->file, value->line, value->column, "%s", text);
}
