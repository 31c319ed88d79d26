/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf_line.h - Slurm's configuration syntax, read character by character with its place
 *
 * Lines of Key=Value; '#' starts a comment, '\' at a line's end joins the next line to it, and '\'
 * before any other character means that character. Values with blanks are in quotes. Inside lib/
 * only. One thread per reader.
 */
#ifndef OSP_CONF_LINE_H
#define OSP_CONF_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

#define OSP_CONF_LINE_END -1 /* no more characters in this line */

struct osp_conf_reader {
	const char *file;
	const char *at;
	const char *end;
	int line;
	int column; /* of `at`, in bytes */
};

/* One Key=Value. The texts live until the next call; free them with osp_conf_word_free(). */
struct osp_conf_word {
	struct osp_text key;
	struct osp_text value;
	int key_line;
	int key_column;
	struct osp_conf_reader value_start; /* at the value's first character */
};

#define OSP_CONF_WORD_INIT                                                                         \
	{                                                                                          \
		OSP_TEXT_INIT, OSP_TEXT_INIT, 0, 0,                                                \
		{                                                                                  \
			NULL, NULL, NULL, 0, 0                                                     \
		}                                                                                  \
	}

void osp_conf_start(struct osp_conf_reader *reader, const char *file, const char *text,
		    size_t text_bytes);

/*
 * Reads the next Key=Value of the current line into `word`. Returns 1; 0 at the line's end, which
 * is then passed; -1 with `error` set.
 */
int osp_conf_next_word(struct osp_conf_reader *reader, struct osp_conf_word *word,
		       struct osp_error *error);

bool osp_conf_at_end(const struct osp_conf_reader *reader);

/*
 * Returns whether the line is "include NAME", for a reader at a line's start. Slurm knows it in any
 * case, only at the very start of a line and with a blank after the word. Adds NAME to `name`,
 * which stays empty if the line ends before one, and does not read the rest of the line.
 */
bool osp_conf_include(struct osp_conf_reader *reader, struct osp_text *name);

/* Skips the rest of the line with the lines joined to it. */
void osp_conf_pass_line(struct osp_conf_reader *reader);

/* Finds the place of byte `index` (from 0) of the value that starts there. */
void osp_conf_value_place(const struct osp_conf_reader *value_start, size_t index, int *line,
			  int *column);

void osp_conf_word_free(struct osp_conf_word *word);

#endif
