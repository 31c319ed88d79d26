/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.h - XML read element by element, with places for errors
 *
 * Over expat, where the build has it. Inside lib/ only. Any thread: no shared state.
 */
#ifndef OSP_XML_H
#define OSP_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

#define OSP_XML_BYTES_MAX ((size_t)32 * 1024 * 1024)

struct osp_xml;

/* `attributes` are names and values by turns, ended by NULL. Either may be NULL. */
struct osp_xml_handler {
	void (*start)(struct osp_xml *xml, const char *name, const char **attributes,
		      void *context);
	void (*end)(struct osp_xml *xml, void *context);
};

/*
 * Reads all of `text`. Documents that declare entities are refused. 0, or -1 with file, line and
 * column in `error`. Without expat: an error with a handler, 0 unread without one.
 */
int osp_xml_parse(const char *file, const char *text, size_t text_bytes,
		  const struct osp_xml_handler *handler, void *context, struct osp_error *error);

/* For handlers: refuses the document at the place now read, unless it was refused before. -1. */
int osp_xml_fail(struct osp_xml *xml, const char *text);

/* For handlers: the line where the element begins, from 1. */
int osp_xml_line(const struct osp_xml *xml);

/* The first element's name in `name`, "" if there is none; looks, and checks nothing. */
void osp_xml_first_element(const char *text, size_t text_bytes, char *name, size_t name_bytes);

#endif
