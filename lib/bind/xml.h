/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.h - reads XML element by element, with places for errors
 *
 * Uses expat, if the build has it. For use inside lib/ only. Any thread: no shared state.
 */
#ifndef OSP_XML_H
#define OSP_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

#define OSP_XML_BYTES_MAX ((size_t)32 * 1024 * 1024)

struct osp_xml;

/* `attributes` alternates names and values, ended by NULL. Either function may be NULL. */
struct osp_xml_handler {
	void (*start)(struct osp_xml *xml, const char *name, const char **attributes,
		      void *context);
	void (*end)(struct osp_xml *xml, void *context);
};

/*
 * Reads all of `text`. Refuses documents that declare entities. Returns 0, or -1 with file, line
 * and column in `error`. Without expat it fails if there is a handler, and returns 0 unread if
 * there is none.
 */
int osp_xml_parse(const char *file, const char *text, size_t text_bytes,
		  const struct osp_xml_handler *handler, void *context, struct osp_error *error);

/* Refuses the document at the current place, unless it was refused before; for handlers. Returns
 * -1. */
int osp_xml_fail(struct osp_xml *xml, const char *text);

/* Returns the line where the element begins, from 1; for handlers. */
int osp_xml_line(const struct osp_xml *xml);

/* Writes the first element's name to `name`, "" if there is none. Checks nothing. */
void osp_xml_first_element(const char *text, size_t text_bytes, char *name, size_t name_bytes);

#endif
