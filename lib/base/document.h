/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * document.h - a YAML or JSON file as a tree whose nodes know their line and column
 *
 * Built on libyaml's events, for onespine.yaml, onespine.topology and the output of the aws
 * command. Refuses, with the place: keys given twice, anchors, aliases, tags, more than one
 * document, more than 64 levels, keys that are not plain words, bytes that are not UTF-8. Values
 * have no type: the caller asks for one, and gets an error if the value is not of it.
 *
 * Any thread, any daemon: no shared state. Strings live as long as the document.
 */
#ifndef OSP_DOCUMENT_H
#define OSP_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

enum osp_value_type { OSP_VALUE_SCALAR, OSP_VALUE_LIST, OSP_VALUE_MAP };

struct osp_value {
	enum osp_value_type type;
	int line;	 /* from 1 */
	int column;	 /* from 1 */
	const char *key; /* in a map: this value's key; else NULL */
	int key_line;
	int key_column;
	const char *text;	       /* scalar */
	bool quoted;		       /* scalar: written in quotes, so "null" and "5" are words */
	const struct osp_value *first; /* list, map: the first child; NULL when empty */
	const struct osp_value *next;  /* the next child of the same parent */
	size_t child_count;
};

struct osp_document;

/* Parses `text`. An empty text gives a document whose root is an empty map. Returns NULL with
 * `error` set if it fails. */
struct osp_document *osp_document_read(const char *file, const char *text, size_t text_bytes,
				       struct osp_error *error);
void osp_document_free(struct osp_document *document); /* NULL is allowed */
const struct osp_value *osp_document_root(const struct osp_document *document);

/* Sets `error` to a place in this document; returns -1. */
int osp_document_error(const struct osp_document *document, const struct osp_value *value,
		       struct osp_error *error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns the child of `map` with that key, or NULL; a null scalar counts as absent. Linear in the
 * number of children. */
const struct osp_value *osp_value_get(const struct osp_value *map, const char *key);

/* Returns whether the value is an unquoted null or ~, or empty. */
bool osp_value_is_null(const struct osp_value *value);

/*
 * Checks that every key of `map` is one of `keys`. If not, returns -1 with the place of the first
 * unknown key and the nearest right word: "unknown key 'lvel'; did you mean level?".
 */
int osp_value_only_keys(const struct osp_document *document, const struct osp_value *map,
			const char *const *keys, size_t key_count, struct osp_error *error);

/* Read a value of one type. Return -1, with the place, what was expected and what was found, if the
 * value is not of it. */
int osp_value_bool(const struct osp_document *document, const struct osp_value *value, bool *result,
		   struct osp_error *error); /* true, false, yes, no, on, off */
int osp_value_integer(const struct osp_document *document, const struct osp_value *value,
		      int64_t least, int64_t most, int64_t *result, struct osp_error *error);
/* Finds the value among `words`, ignoring letter case; *result is its index. */
int osp_value_choice(const struct osp_document *document, const struct osp_value *value,
		     const char *const *words, size_t word_count, size_t *result,
		     struct osp_error *error);
/* Accepts a scalar of 1 to 255 bytes. */
int osp_value_string(const struct osp_document *document, const struct osp_value *value,
		     const char **result, struct osp_error *error);
/* Accepts a scalar of 1 to `most` bytes. */
int osp_value_text(const struct osp_document *document, const struct osp_value *value, size_t most,
		   const char **result, struct osp_error *error);

#endif
