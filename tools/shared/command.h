/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - what the commands of `onespine` share: how they are run, what they answer with, how
 * they speak
 *
 * One thread.
 */
#ifndef OSP_COMMAND_H
#define OSP_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "tools/shared/options.h"

enum osp_exit {
	OSP_EXIT_YES = 0,    /* done, or the answer is yes */
	OSP_EXIT_NO = 1,     /* the answer is no: refused, violated, would not start */
	OSP_EXIT_UNABLE = 2, /* the question could not be answered; wrong usage */
};

/* Each returns the exit status and has said what went wrong. */
int osp_run_topology_import(const struct osp_call *call);
int osp_run_topology_show(const struct osp_call *call);
int osp_run_topology_check(const struct osp_call *call);
int osp_run_config_check(const struct osp_call *call);
int osp_run_config_show(const struct osp_call *call);
int osp_run_fit(const struct osp_call *call);
int osp_run_why(const struct osp_call *call);
int osp_run_map(const struct osp_call *call);
int osp_run_audit(const struct osp_call *call);
int osp_run_set(const struct osp_call *call);
int osp_run_hosts(const struct osp_call *call);
int osp_run_bind(const struct osp_call *call);
int osp_run_bind_run(const struct osp_call *call);
int osp_run_env(const struct osp_call *call);
int osp_run_history(const struct osp_call *call);
int osp_run_check(const struct osp_call *call);
int osp_run_doctor(const struct osp_call *call);
int osp_run_setup(const struct osp_call *call);
int osp_run_gate_prolog(const struct osp_call *call);
int osp_run_gate_epilog(const struct osp_call *call);
int osp_run_gate_reduce(const struct osp_call *call);
int osp_run_recheck(const struct osp_call *call);

/* "onespine: file:line:column: text" on standard error ("out of memory" for an error without text);
 * returns OSP_EXIT_UNABLE. */
int osp_say_error(const struct osp_error *error);
/* "onespine: warning: ..." on standard error. */
void osp_say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
int osp_say_no_memory(void); /* returns OSP_EXIT_UNABLE */

/*
 * After two seconds, and only on a terminal, "what..." stands on standard error until
 * osp_progress_end() wipes it away. `what` must live until then.
 */
void osp_progress_begin(const char *what);
void osp_progress_end(void);

/* Prints `value` on standard output, drops the caller's reference; returns `status`, or
 * OSP_EXIT_UNABLE when memory ran out (a NULL `value` too). */
int osp_print_json(json_t *value, int status);

/* Prints and frees the text; returns as above. */
int osp_print_text(struct osp_text *text, int status);

/* json_string() for what may be NULL (null) or may hold bytes that are not UTF-8 (made '?'). */
json_t *osp_json_string(const char *string);

/* True when standard output is a terminal that may be coloured (NO_COLOR, TERM=dumb: not). */
bool osp_output_colours(void);
/* True when the locale's characters are UTF-8. */
bool osp_output_utf8(void);

/* "2026-03-01T14:05:00", local time as Slurm prints it; "unknown" for 0. Returns `buffer`. */
const char *osp_format_time(int64_t time_s, char *buffer, size_t buffer_bytes);

#endif
