/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shell_text.h - splits a shell script into commands and words, without running anything
 *
 * Knows enough of the shell's grammar to tell words from comments, quotes, here-documents and
 * redirections. Text that the shell would substitute ($X, ${X}, $(...), `...`) stays as written and
 * marks the word. A quote or bracket that is never closed is taken literally, so that a text that
 * is no shell script is misread for a line and not to its end.
 *
 * The body of a here-document is skipped, unless a command of its line is sbatch, or a shell that
 * reads its standard input, and none is ssh or the like: then it is read as a text of its own,
 * between two marks. One that `read` puts into a variable is read like the rest, if the reader asks
 * for that: NeMo's scripts give such a variable to "bash -c".
 *
 * Any thread, any daemon: no shared state, no recursion. Needs memory and time in proportion to the
 * text.
 */
#ifndef OSP_SHELL_TEXT_H
#define OSP_SHELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSP_SHELL_BODIES_MAX 4 /* here-documents that shells read, one in the other */

struct osp_shell_word {
	const char *text; /* without its quotes */
	const char *raw;  /* as written, not terminated; NULL in a word that no reader gave */
	size_t raw_bytes;
	int line;	  /* from 1 */
	int column;	  /* from 1, in bytes */
	bool unexpanded;  /* the shell would substitute something */
	bool whole_lines; /* no line was continued by a backslash: its lines are the script's */
};

/* The marks between commands. */
enum osp_shell_mark {
	OSP_SHELL_END, /* ; & or the end of a line */
	OSP_SHELL_AND,
	OSP_SHELL_OR,
	OSP_SHELL_PIPE,
	OSP_SHELL_OPEN,	    /* ( */
	OSP_SHELL_ARRAY,    /* the bracket of A=(a b), and each of ((...)) */
	OSP_SHELL_CLOSE,    /* ), also after a pattern of `case` */
	OSP_SHELL_CASE_END, /* ;; ;& or ;;& */
	OSP_SHELL_APART,    /* before a command that | or & ends, so that it is a process of its
			       own */
	OSP_SHELL_FUNCTION, /* NAME(), which is no command */
	OSP_SHELL_TAKES,    /* before a command that takes the next body for its script */
	OSP_SHELL_BODY,	    /* the body begins */
	OSP_SHELL_BODY_END
};

struct osp_shell_reader {
	void *context;
	/* Takes one simple command, without redirections. ((...)) has two words: "((" and its text.
	 * Words live during the call. -1 stops. */
	int (*command)(void *context, const struct osp_shell_word *words, size_t count);
	/* Takes a comment that begins a line, also after blanks, without its end; `text` is not
	 * terminated. `column` is 1 after tabs that <<- takes away. -1 stops. NULL: not asked. */
	int (*comment)(void *context, const char *text, size_t text_bytes, int line, int column);
	bool variables; /* bodies that `read` puts into a variable are read too */
	/* Takes what ends a command, and brackets, in the order of the text. NULL: not asked. */
	void (*mark)(void *context, enum osp_shell_mark mark);
	/* Takes the body of a here-document that goes into a file: cat >FILE <<END, tee FILE <<END;
	 * `line` is its first. `expands`: the shell substitutes in it. NULL: not asked. */
	void (*document)(void *context, const char *file, const char *body, size_t body_bytes,
			 int line, bool expands);
};

/* Calls the reader with each command and comment. Returns 0, or -1 if memory ran out or the reader
 * stopped. */
int osp_shell_read(const char *text, size_t text_bytes, const struct osp_shell_reader *reader);

/* Returns whether the first line gives the script to a program that is no shell, as
 * #!/usr/bin/env python3 does. */
bool osp_shell_is_foreign(const char *text, size_t text_bytes);

/* Returns the first line that ends with CR LF, or 0. */
int osp_shell_dos_line(const char *text, size_t text_bytes);

/* Reads a text with DOS line ends as if they were plain line feeds, so that the rest is found
 * too. */
int osp_shell_read_dos(const char *text, size_t text_bytes, const struct osp_shell_reader *reader);

/* Returns the text within the first $(...) of `word_bytes` bytes of a word that is no arithmetic,
 * and its length; NULL if there is none. */
const char *osp_shell_substitution(const char *word, size_t word_bytes, size_t *bytes);

/* Returns whether the program, named without a path, runs commands on other hosts, as ssh does. */
bool osp_shell_is_remote(const char *program);

/* Returns the last part of a path: "/usr/bin/env" gives "env". */
const char *osp_shell_base_name(const char *path);

/* Returns whether the word is one of `words`, which end with NULL. */
bool osp_shell_is_one_of(const char *word, const char *const *words);

/* Returns how many line feeds the text has. */
int osp_shell_line_feeds(const char *text, size_t text_bytes);

/* Returns whether the text is NAME=... or NAME+=...; `name_bytes` gets the length of NAME. */
bool osp_shell_is_assignment(const char *text, size_t *name_bytes);

#endif
