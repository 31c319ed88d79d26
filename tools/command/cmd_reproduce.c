/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_reproduce.c - `onespine reproduce`: executes onespine-reproduce, a script that asks Slurm's
 * own commands */
#include "onespine_config.h"
#include "tools/command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/program.h"

int osp_run_reproduce(const struct osp_call *call)
{
	size_t count = (size_t)call->argument_count;
	const char **argv = calloc(count + 2, sizeof(*argv));
	char path[OSP_PROGRAM_BYTES];
	struct osp_error error = {.text = ""};

	if (!argv)
		return osp_say_no_memory();
	argv[0] = osp_program_path("onespine-reproduce", OSP_GATE_DIR, path);
	for (size_t i = 0; i < count; i++)
		argv[i + 1] = call->arguments[i];
	execv(path, (char *const *)argv);
	osp_error_set(&error, "%s: %s", path, strerror(errno));
	free(argv);
	return osp_say_error(&error);
}
