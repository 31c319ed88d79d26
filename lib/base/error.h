/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error.h - what went wrong, in words, with the place in the file
 *
 * Every function of lib/ that can fail for a reason worth reporting takes a `struct osp_error *`,
 * which may be NULL. The first error wins: a struct that holds one is not overwritten, so a caller
 * may clean up without losing the cause. lib/ never prints it; the plugins and the command do.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_ERROR_H
#define OSP_ERROR_H

#include <stddef.h>

#define OSP_ERROR_TEXT_BYTES 512
#define OSP_ERROR_FILE_BYTES 256

struct osp_error {
	char file[OSP_ERROR_FILE_BYTES]; /* as the caller named it; "" if no file is concerned */
	int line;			 /* from 1; 0 if unknown */
	int column;			 /* from 1, in bytes; 0 if unknown */
	char text[OSP_ERROR_TEXT_BYTES]; /* one sentence without a full stop; "" = no error */
};

/* Forgets what `error` holds. NULL is allowed. */
void osp_error_clear(struct osp_error *error);

/* Sets the text, cleaned (lib/base/clean.h), without a place. Always returns -1, so that
 * `return osp_error_set(...)` reads well. */
int osp_error_set(struct osp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets text and place; `file` may be NULL, `line` and `column` 0. Always returns -1. */
int osp_error_at(struct osp_error *error, const char *file, int line, int column,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Writes to `error` which byte of a word on the command line is wrong: "a blank is not allowed in a
 * layout; leave it out", or "the byte 0x7f cannot ..". `where` names the kind of the word: "in a
 * layout". Always returns -1. */
int osp_error_byte(struct osp_error *error, int column, unsigned char byte, const char *where);

/*
 * Writes "file:line:column: text" to `buffer`, without the parts that are unknown. The result is
 * terminated, cut at `buffer_bytes` and cleaned (lib/base/clean.h), because it may quote others'
 * names. Returns `buffer`.
 */
const char *osp_error_format(const struct osp_error *error, char *buffer, size_t buffer_bytes);

#endif
