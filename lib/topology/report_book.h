/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_book.h - the last report of each node (report.h), in memory and as a file
 *
 * The file has a line a node, in natural order of the names:
 *
 *	onespine-reports 1
 *	NODE BOOT HEARD INSTANCE NVLINK NEURON LEAVES
 *	gpu-1 1700000000 1700000100 i-0abc 5e79..723c.4 - 0xfc6a1c0300ee1000,0xfc6a1c0300ee2000
 *
 * BOOT is when the node booted, HEARD when it was heard last; "?" is what it could not find out,
 * "-" what it does not have. The second line is for people.
 *
 * One thread at a time.
 */
#ifndef OSP_REPORT_BOOK_H
#define OSP_REPORT_BOOK_H

#include "lib/topology/report.h"

struct osp_report_book;

struct osp_report_book *osp_report_book_new(void);	 /* Returns NULL if memory ran out */
void osp_report_book_free(struct osp_report_book *book); /* NULL is allowed */

/*
 * Takes a report that was heard at `heard_s`. One of another boot replaces what the node said
 * before; of the same boot what it could not find out this time stays as it was. Returns 1 if the
 * book says something else of the node now (HEARD aside), 0 if not, -1 if memory ran out.
 */
int osp_report_book_take(struct osp_report_book *book, const struct osp_place_report *report,
			 int64_t heard_s);

uint32_t osp_report_book_count(const struct osp_report_book *book);

/* Returns the report of a node; NULL if there is none. *heard_s (may be NULL) is set. */
const struct osp_place_report *osp_report_book_find(const struct osp_report_book *book,
						    const char *node, int64_t *heard_s);

/* Returns the file's text, to be freed; NULL if memory ran out. */
char *osp_report_book_write(const struct osp_report_book *book);

/* Reads such a file. Returns NULL with `error` set. */
struct osp_report_book *osp_report_book_read(const char *file, const char *text, size_t text_bytes,
					     struct osp_error *error);

#endif
