/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_options.h - the options that a job script gives to sbatch, srun and its programs
 *
 * For script.c and script_shape.c. Only options that the lint judges are kept, by their long names:
 * those of the request (--nodes, --cpus-per-task, ...), and --num-workers and torchrun's own of
 * programs.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_OPTIONS_H
#define OSP_SCRIPT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/env/shell_text.h"

#define OSP_SCRIPT_OPTIONS_MAX 5000

/* Why a setting or an option may not take effect (lib/env/script_flow.h). */
enum osp_doubt {
	OSP_DOUBT_NONE,
	OSP_DOUBT_BRANCH,   /* its line may not run */
	OSP_DOUBT_REPLACED, /* a line that may run takes it back before a program starts */
	OSP_DOUBT_STARTED   /* a program may start what the script seems not to */
};

enum osp_option_of {
	OSP_OPTION_OF_SBATCH,
	OSP_OPTION_OF_SRUN,
	OSP_OPTION_OF_PROGRAM,
	OSP_OPTION_OF_NOBODY /* a line #SBATCH that sbatch does not read: name "#SBATCH" */
};

struct osp_script_option {
	enum osp_option_of of;
	size_t command;	   /* srun, program: its number, from 1 */
	size_t call;	   /* the same for the words of one command; 0: of #SBATCH */
	const char *name;  /* "cpus-per-task"; "srun" for each srun itself, "program" for the
			      program it starts */
	const char *value; /* "": none */
	bool unexpanded;   /* the shell still substitutes something */
	bool in_step;	   /* of a program: an srun, or the text that it runs, starts it */
	bool torchrun;	   /* of a program: it is PyTorch's launcher, or not known yet (an array) */
	enum osp_doubt doubt;
	int line;
	int column;
};

struct osp_script_options {
	struct osp_script_option *list;
	uint32_t count, room;
	size_t commands, calls;	  /* seen so far */
	bool starts_elsewhere;	  /* a command starts, or may start, programs on other nodes: srun,
				   ssh, $LAUNCHER torchrun, ./start_workers.sh */
	bool may_start_elsewhere; /* a program of unknown name or language may do so */
	bool too_many;		  /* they were not all kept */
};

/* Reads the options of one command; `in_step` and `doubt` are those of its place; `is_read`: it
 * runs a script of the user's whose text is read too. Returns 0, or -1 if memory ran out or there
 * are too many. */
int osp_script_options_of_command(struct osp_script_options *options, struct osp_arena *arena,
				  const struct osp_shell_word *words, size_t count, bool in_step,
				  bool is_read, enum osp_doubt doubt);

/* Notes that the command starts a program. */
void osp_script_options_note_program(struct osp_script_options *options,
				     const struct osp_shell_word *words, size_t count);

/* Reads a comment that begins with #SBATCH, without its end. `column`: above 1, it comes after
 * blanks; `late`: it comes after the first command. Returns as above. */
int osp_script_options_of_comment(struct osp_script_options *options, struct osp_arena *arena,
				  const char *text, size_t bytes, int line, int column, bool late);

/* Returns whether the value of this option of srun is the next word. */
bool osp_srun_option_takes_next(const char *word);

void osp_script_options_free(struct osp_script_options *options);

/* Returns the last option of that name that sbatch gets, which is the one that counts for Slurm;
 * NULL: none. */
const struct osp_script_option *osp_sbatch_option(const struct osp_script_options *options,
						  const char *name);

/* Returns the option of that name of an srun or of the program it starts; NULL: none. */
const struct osp_script_option *osp_command_option(const struct osp_script_options *options,
						   size_t command, const char *name);

/* Returns the whole number that is all of the text; -1: it is none. */
long osp_whole_number(const char *text);

/* Returns the option's value if all of it is a whole number; -1: it is not, or a shell substitutes
 * it. */
long osp_option_number(const struct osp_script_option *option);

#endif
