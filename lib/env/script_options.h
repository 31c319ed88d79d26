/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_options.h - the options that a job script gives to sbatch, srun and its programs
 *
 * For script.c and script_shape.c. Only options that the lint judges are kept, by their long names:
 * the request's (--nodes, --cpus-per-task, ...), and of programs --num-workers and
 * --nproc-per-node.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_OPTIONS_H
#define OSP_SCRIPT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/env/shell_text.h"

enum osp_option_of { OSP_OPTION_OF_SBATCH, OSP_OPTION_OF_SRUN, OSP_OPTION_OF_PROGRAM };

struct osp_script_option {
	enum osp_option_of of;
	size_t command;	   /* srun, program: which of them, from 1 */
	const char *name;  /* "cpus-per-task"; "srun" for each srun itself, "program" for what it
			      starts */
	const char *value; /* "": none */
	bool unexpanded;   /* the shell still puts something in */
	int line;
	int column;
};

struct osp_script_options {
	struct osp_script_option *list;
	size_t count, room;
	size_t commands; /* seen so far */
};

/* Takes what one command says. Returns 0, or -1 when memory ran out or there are too many. */
int osp_script_options_of_command(struct osp_script_options *options, struct osp_arena *arena,
				  const struct osp_shell_word *words, size_t count);

/* Takes a line that begins with #SBATCH, without its end. Returns as above. */
int osp_script_options_of_comment(struct osp_script_options *options, struct osp_arena *arena,
				  const char *text, size_t bytes, int line);

void osp_script_options_free(struct osp_script_options *options);

/* The last option of that name that sbatch gets, as Slurm takes it; NULL: none. */
const struct osp_script_option *osp_sbatch_option(const struct osp_script_options *options,
						  const char *name);

/* The option of that name of one srun or program; NULL: none. */
const struct osp_script_option *osp_command_option(const struct osp_script_options *options,
						   size_t command, const char *name);

/* A whole number in all of the option's value; -1: there is none, or a shell puts it in. */
long osp_option_number(const struct osp_script_option *option);

#endif
