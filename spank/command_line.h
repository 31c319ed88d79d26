/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_line.h - the command line of the sbatch, srun or salloc that this runs in
 *
 * One thread of the command, before any task.
 */
#ifndef OSP_COMMAND_LINE_H
#define OSP_COMMAND_LINE_H

/* This process's words, at most 4,096 of them and 128 KiB in all. Slurm's commands change no word
 * of their own. */
struct osp_command_line {
	char *line;   /* what `words` point into */
	char **words; /* NULL if they cannot be read */
	int count;
};

/* Reads them. Call osp_command_line_free() in any case. */
void osp_command_line_read(struct osp_command_line *own);
void osp_command_line_free(struct osp_command_line *own);

/* Returns the word after a bare --gang that was surely meant as its value, or NULL: "--gang spine",
 * if no file is called spine. Slurm takes an optional value only after "=". */
const char *osp_command_line_level_apart(char *const *words, int count);

#endif
