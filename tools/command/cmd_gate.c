/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gate.c - `onespine gate prolog` and `gate epilog`: executes onespine-gate for Prologs that
 * were written before it was a program of its own */
#include "onespine_config.h"
#include "tools/command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/program.h"

/* Adds a line to the gate's own log, which administrators read; slurmd keeps no output of a
 * Prolog. */
static void log_line(const char *words, const char *part)
{
	const char *root = getenv("ONESPINE_TEST_ROOT"), *node = getenv("SLURMD_NODENAME"),
		   *job = getenv("SLURM_JOB_ID");
	char path[4096], line[OSP_PROGRAM_BYTES + 512], when[32] = "";
	time_t now = time(NULL);
	struct tm local;
	int file, length;

	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &local);
	snprintf(path, sizeof(path), "%s%s", root ? root : "", OSP_LOG_DIR "/gate.log");
	length = snprintf(line, sizeof(line), "%s %.64s job %.16s: %.*s; %s\n", when,
			  node ? node : "?", job, OSP_PROGRAM_BYTES + 128, words,
			  strcmp(part, "prolog") == 0 ? "the job starts unproven"
						      : "what the job left here is not on record");
	file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (file < 0 || write(file, line, (size_t)length) != length)
		osp_say_warning("%s: %s", path, strerror(errno));
	if (file >= 0)
		close(file);
}

/* Executes the gate. In a Prolog it returns 0 if the gate is missing: that is our fault, and slurmd
 * would drain the node. */
static int execute(const char *part)
{
	char path[OSP_PROGRAM_BYTES];
	struct osp_error error = {.text = ""};

	osp_program_path("onespine-gate", OSP_GATE_DIR, path);
	execl(path, "onespine-gate", part, NULL);
	osp_error_set(&error,
		      errno == ENOENT ? "%s: there is no gate: this build was configured without "
					"libmunge, or its package is incomplete"
				      : "%s: cannot be executed",
		      path);
	osp_say_error(&error);
	if (!getenv("SLURM_JOB_ID"))
		return OSP_EXIT_UNABLE;
	log_line(error.text, part);
	return OSP_EXIT_YES;
}

int osp_run_gate_prolog(const struct osp_call *call)
{
	(void)call;
	return execute("prolog");
}

int osp_run_gate_epilog(const struct osp_call *call)
{
	(void)call;
	return execute("epilog");
}
