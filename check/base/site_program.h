/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site_program.h - runs a program of the site until it ends or its time is over
 *
 * Inside check/ only. One thread. The program begins in a session of its own, in "/", with nothing
 * open but /dev/null and a pipe for its output, no core file, and the given variables. It dies with
 * the process that began it. Processes that it leaves running are killed within a second, also
 * daemons in sessions of their own: by a control group (site_group.h), or without one by stopping
 * and killing all processes below this one, which a program that forks fast enough can outrun.
 *
 * The caller is a child that was made for this and has no other children. From then on it is the
 * parent of all that its descendants leave (PR_SET_CHILD_SUBREAPER). When its parent ends, the
 * kernel sends it SIGTERM: it then ends the program and what that has left as if the time were
 * over.
 */
#ifndef OSP_SITE_PROGRAM_H
#define OSP_SITE_PROGRAM_H

#include <stdint.h>

#define OSP_SITE_LINE_BYTES 201 /* 200 and the end */

enum osp_site_end {
	OSP_SITE_EXIT,	 /* `code` is its exit status */
	OSP_SITE_SIGNAL, /* `code` is the signal */
	OSP_SITE_LATE,	 /* killed, and not waited for */
	OSP_SITE_UNRUN,	 /* no process or pipe; `code` is errno */
};

struct osp_site_said {
	enum osp_site_end end;
	int code;
	char line[OSP_SITE_LINE_BYTES]; /* the first line of both its outputs that is not empty,
					   cleaned; "" = none */
};

/* Runs `path` until `until_ms` (osp_now_ms()). A program that cannot be executed ends with status
 * 126 and says why. */
void osp_site_program_run(const char *path, char *const *environment, uint64_t until_ms,
			  struct osp_site_said *said);

#endif
