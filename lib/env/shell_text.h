/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shell_text.h - the commands of a shell script, as words, without running anything
 *
 * Enough of the shell's grammar to tell words from comments, quotes, here-documents and
 * redirections. What the shell would put in ($X, ${X}, $(...), `...`) stays as it is written and
 * marks the word. A quote or bracket that is never closed stands for itself, so that a script that
 * is no shell is misread in a line and not to its end.
 *
 * The body of a here-document is passed over, except where the command before it is a shell,
 * sbatch, srun or ssh: it is then read like the rest.
 *
 * Any thread, any daemon: no shared state, no recursion. Takes memory and time in the order of the
 * text.
 */
#ifndef OSP_SHELL_TEXT_H
#define OSP_SHELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct osp_shell_word {
	const char *text; /* without its quotes */
	int line;	  /* from 1 */
	int column;	  /* from 1, in bytes */
	bool unexpanded;  /* the shell would put something in */
	bool whole_lines; /* its lines are the script's: none was continued with a backslash */
};

struct osp_shell_reader {
	void *context;
	/* One simple command, without redirections. Words live during the call. -1 stops. */
	int (*command)(void *context, const struct osp_shell_word *words, size_t count);
	/* A comment that begins a line, without its end; `text` is not terminated. -1 stops. */
	int (*comment)(void *context, const char *text, size_t text_bytes, int line);
};

/* Returns 0, or -1 when memory ran out or a reader stopped. */
int osp_shell_read(const char *text, size_t text_bytes, const struct osp_shell_reader *reader);

/* The last part of a path: "/usr/bin/env" gives "env". */
const char *osp_shell_base_name(const char *path);

/* True for NAME=..., NAME+=...; `name_bytes` gets the length of NAME. */
bool osp_shell_is_assignment(const char *text, size_t *name_bytes);

#endif
