/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - how the programs answer: exit status, errors, progress, JSON
 *
 * One thread.
 */
#ifndef OSP_OUTPUT_H
#define OSP_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

enum osp_exit {
	OSP_EXIT_YES = 0,    /* done, or the answer is yes */
	OSP_EXIT_NO = 1,     /* the answer is no: refused, violated, would not start */
	OSP_EXIT_UNABLE = 2, /* the question could not be answered; wrong usage */
};

/* Prints "onespine: file:line:column: text" on standard error ("out of memory" for an error without
 * text). Returns OSP_EXIT_UNABLE. */
int osp_say_error(const struct osp_error *error);
/* Prints "onespine: warning: ..." on standard error. */
void osp_say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
int osp_say_no_memory(void); /* returns OSP_EXIT_UNABLE */

/*
 * Shows "what..." on standard error after two seconds, only on a terminal, until osp_progress_end()
 * wipes it away. `what` must live until then.
 */
void osp_progress_begin(const char *what);
void osp_progress_end(void);

/* Prints `value` on standard output and drops the caller's reference. Returns `status`, or
 * OSP_EXIT_UNABLE if memory runs out (also for a NULL `value`). */
int osp_print_json(json_t *value, int status);

/* Prints and frees the text. Returns as above. */
int osp_print_text(struct osp_text *text, int status);

/* Writes the text into a file ("-": standard output) and frees it. Returns OSP_EXIT_YES, or
 * OSP_EXIT_UNABLE after printing the error. */
int osp_save_text(struct osp_text *text, const char *path);

/* Takes the numbers of those of standard input, output and error that the caller closed, so that no
 * file that is opened gets one of them, and what is printed does not go into it. To print to them
 * fails, as it does to closed ones. To be called first. */
void osp_output_begin(void);

/* Writes out what is printed and ends standard output, so that a reader of a pipe has all of it
 * while this process goes on. Print nothing after that. */
void osp_output_end(void);

/*
 * Does json_string()'s work for a string that may be NULL (null) or hold bytes that are not UTF-8
 * (made '?').
 */
json_t *osp_json_string(const char *string);

/*
 * Returns whether standard output is a terminal that may be coloured (not with NO_COLOR or
 * TERM=dumb).
 */
bool osp_output_colours(void);
/* Returns whether the locale's characters are UTF-8. */
bool osp_output_utf8(void);

/*
 * Formats "2026-03-01T14:05:00", local time as Slurm prints it; "unknown" for 0. Returns `buffer`.
 */
const char *osp_format_time(int64_t time_s, char *buffer, size_t buffer_bytes);
/* Returns the same as a JSON string. */
json_t *osp_json_time(int64_t time_s);

#endif
