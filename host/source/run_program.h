/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_program.h - what a program prints
 *
 * One thread; not inside a daemon of Slurm: it starts a process.
 */
#ifndef OSP_RUN_PROGRAM_H
#define OSP_RUN_PROGRAM_H

#include <stddef.h>

#include "lib/base/error.h"

struct osp_program_output {
	char *text; /* standard output, terminated; to be freed */
	size_t bytes;
	char said[256]; /* the first line of standard error */
};

/*
 * Runs argv[0] (looked up in PATH and in /usr/sbin) without input, for at most `limit_s` seconds;
 * its process group is killed then. 0, or -1 with `error` set: it is not there, it ended with
 * another status than 0, it took too long or printed more than `limit_bytes`.
 */
int osp_run_program(const char *const *argv, int limit_s, size_t limit_bytes,
		    struct osp_program_output *output, struct osp_error *error);

#endif
