/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error.h - what went wrong, in words, with the place in the file
 *
 * Every call of lib/ that can fail for a reason worth telling takes a `struct osp_error *`. It may
 * be NULL. The first error wins: a struct that holds one is not overwritten, so a caller may go on
 * to clean up without losing the cause. lib/ never prints it; the plugins and the command do.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_ERROR_H
#define OSP_ERROR_H

#include <stddef.h>

#define OSP_ERROR_TEXT_BYTES 512
#define OSP_ERROR_FILE_BYTES 256

struct osp_error {
	char file[OSP_ERROR_FILE_BYTES]; /* as the caller named it; "" if there is no file */
	int line;			 /* from 1; 0 where unknown */
	int column;			 /* from 1, in bytes; 0 where unknown */
	char text[OSP_ERROR_TEXT_BYTES]; /* one sentence without a full stop; "" = no error */
};

/* Forgets what `error` holds. NULL is allowed. */
void osp_error_clear(struct osp_error *error);

/* Sets text, cleaned (lib/base/clean.h), without a place. Always returns -1, so that
 * `return osp_error_set(...)` reads well. */
int osp_error_set(struct osp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets text and place; `file` may be NULL, `line` and `column` 0. Always returns -1. */
int osp_error_at(struct osp_error *error, const char *file, int line, int column,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Writes "file:line:column: text", leaving out what is not known, to `buffer` (always terminated,
 * cut at `buffer_bytes`), cleaned (lib/base/clean.h): it may quote what others named. Returns
 * `buffer`.
 */
const char *osp_error_format(const struct osp_error *error, char *buffer, size_t buffer_bytes);

#endif
