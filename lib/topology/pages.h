/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - the JSON documents of one file, one after the other
 *
 * The aws command prints one document for each page of an answer, and people concatenate them (`cat
 * page*.json`). Each is parsed by itself; places in the parser's errors are translated back to the
 * file. A file that does not start with { or [ (YAML) is one page. Inside lib/ only.
 */
#ifndef OSP_PAGES_H
#define OSP_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/document.h"
#include "lib/base/error.h"
#include "lib/topology/file_kind.h"

struct osp_pages {
	const char *file;
	const char *text;
	size_t text_bytes;
	size_t at; /* where the search for the next page starts, and its place */
	int line;
	int column;
};

struct osp_page {
	const char *text;
	size_t text_bytes;
	int line; /* of its first byte, in the file */
	int column;
};

void osp_pages_start(struct osp_pages *pages, const char *file, const char *text,
		     size_t text_bytes);

/* Finds the next page. Returns false if only blanks are left. */
bool osp_pages_next(struct osp_pages *pages, struct osp_page *page);

/* Returns a line of the page's document as a line of the file. */
int osp_page_line(const struct osp_page *page, int line);

/* Copies an error inside the page to `error`, with its place in the file. Returns -1. */
int osp_page_error(const struct osp_page *page, const struct osp_error *inside,
		   struct osp_error *error);

/* Refuses a file of another kind: "no CSV: this looks like a Slurm topology.conf; use --from
 * slurm". Returns -1. */
int osp_refuse_kind(const char *file, const char *expected, enum osp_file_kind kind,
		    struct osp_error *error);

/*
 * Reads the child `key` of `map` as a word. Returns -1 with an error if it is missing or is no
 * word.
 */
int osp_need_word(const struct osp_document *document, const struct osp_value *map, const char *key,
		  const char **word, struct osp_error *error);

/* Reads the same child, but sets NULL if it is missing. */
int osp_may_word(const struct osp_document *document, const struct osp_value *map, const char *key,
		 const char **word, struct osp_error *error);

/* Fails unless `value` is of `type` ("Instances: a list is expected here"). */
int osp_need_type(const struct osp_document *document, const struct osp_value *value,
		  enum osp_value_type type, struct osp_error *error);

#endif
