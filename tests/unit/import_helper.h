/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_helper.h - imports of texts written in a test, compared as text
 *
 * A topology is reported as "LEVEL NAME in PARENT: NODES", a line a domain; a refusal as
 * "file:line:column: words". Files are called a, b, c, d in their order, a map "map".
 */
#ifndef OSP_TEST_IMPORT_HELPER_H
#define OSP_TEST_IMPORT_HELPER_H

#include "lib/topology/readers.h"

typedef int import_f(struct osp_import *import, const char *file, const char *text,
		     size_t text_bytes, struct osp_error *error);

/* A file of the source tree (make check says where that is). */
char *read_source(const char *path, size_t *bytes);

/* The end of an import whose readers returned `rc`, as text to be freed. */
char *finish(struct osp_import *import, int rc, struct osp_error *error);

/* What the import of some texts comes to, to be freed. */
char *import_texts(import_f *add, const struct osp_import_options *options,
		   const char *const *texts, size_t count);

void expect_texts(import_f *add, const struct osp_import_options *options, const char *const *texts,
		  size_t count, const char *expected);
void expect(import_f *add, const struct osp_import_options *options, const char *text,
	    const char *expected);

/* A map that must be good. */
struct osp_name_map *read_map(const char *text, const char *tag);

#endif
