/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.c - the JSON documents of one file, one after the other */
#include "lib/topology/pages.h"

#include <string.h>

#define UTF8_MARK "\xef\xbb\xbf"

void osp_pages_start(struct osp_pages *pages, const char *file, const char *text, size_t text_bytes)
{
	*pages = (struct osp_pages){file, text, text_bytes, 0, 1, 1};
	if (text_bytes >= 3 && !memcmp(text, UTF8_MARK, 3)) {
		pages->at = 3;
		pages->column = 4;
	}
}

static void step(struct osp_pages *pages)
{
	if (pages->text[pages->at++] == '\n') {
		pages->line++;
		pages->column = 1;
	} else {
		pages->column++;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Moves after the string that starts here. */
static void step_over_string(struct osp_pages *pages)
{
	step(pages);
	while (pages->at < pages->text_bytes && pages->text[pages->at] != '"') {
		if (pages->text[pages->at] == '\\' && pages->at + 1 < pages->text_bytes)
			step(pages);
		step(pages);
	}
	if (pages->at < pages->text_bytes)
		step(pages);
}

/* Moves after the bracket that closes the one here, or to the end of the file. */
static void step_over_document(struct osp_pages *pages)
{
	size_t depth = 0;

	while (pages->at < pages->text_bytes) {
		char c = pages->text[pages->at];

		if (c == '"') {
			step_over_string(pages);
			continue;
		}
		step(pages);
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return;
	}
}

bool osp_pages_next(struct osp_pages *pages, struct osp_page *page)
{
	char first;

	while (pages->at < pages->text_bytes && is_blank(pages->text[pages->at]))
		step(pages);
	if (pages->at == pages->text_bytes)
		return false;
	*page = (struct osp_page){pages->text + pages->at, 0, pages->line, pages->column};
	first = pages->text[pages->at];
	if (first == '{' || first == '[')
		step_over_document(pages);
	else
		pages->at = pages->text_bytes;
	page->text_bytes = (size_t)(pages->text + pages->at - page->text);
	return true;
}

int osp_page_line(const struct osp_page *page, int line)
{
	return line + page->line - 1;
}

int osp_page_error(const struct osp_page *page, const struct osp_error *inside,
		   struct osp_error *error)
{
	int line = inside->line, column = inside->column;

	if (line == 1 && column > 0)
		column += page->column - 1;
	if (line > 0)
		line = osp_page_line(page, line);
	return osp_error_at(error, inside->file, line, column, "%s", inside->text);
}

/* Returns what to do with a file of that kind. */
static const char *advice(enum osp_file_kind kind)
{
	switch (kind) {
	case OSP_FILE_SLURM_TREE:
	case OSP_FILE_SLURM_YAML:
		return "; use --from slurm";
	case OSP_FILE_EC2_TOPOLOGY:
		return "; use --from ec2";
	case OSP_FILE_CSV:
		return "; use --from csv";
	case OSP_FILE_EC2_INSTANCES:
		return "; it is a map for --nodes";
	case OSP_FILE_ONESPINE:
		return "; it needs no import";
	default:
		return "";
	}
}

int osp_refuse_kind(const char *file, const char *expected, enum osp_file_kind kind,
		    struct osp_error *error)
{
	return osp_error_at(error, file, 0, 0, "no %s: this looks like %s%s", expected,
			    osp_file_kind_words(kind), advice(kind));
}

int osp_need_word(const struct osp_document *document, const struct osp_value *map, const char *key,
		  const char **word, struct osp_error *error)
{
	const struct osp_value *value = osp_value_get(map, key);

	if (!value)
		return osp_document_error(document, map, error, "%s is missing here", key);
	return osp_value_string(document, value, word, error);
}

int osp_may_word(const struct osp_document *document, const struct osp_value *map, const char *key,
		 const char **word, struct osp_error *error)
{
	const struct osp_value *value = osp_value_get(map, key);

	*word = NULL;
	/* The aws command prints "" for some missing values. */
	if (!value || (value->type == OSP_VALUE_SCALAR && !value->text[0]))
		return 0;
	return osp_value_string(document, value, word, error);
}

int osp_need_type(const struct osp_document *document, const struct osp_value *value,
		  enum osp_value_type type, struct osp_error *error)
{
	static const char *const names[] = {
		[OSP_VALUE_SCALAR] = "word", [OSP_VALUE_LIST] = "list", [OSP_VALUE_MAP] = "map"};

	if (value->type == type)
		return 0;
	return osp_document_error(document, value, error, "%s%sa %s is expected, not a %s",
				  value->key ? value->key : "", value->key ? ": " : "", names[type],
				  names[value->type]);
}
