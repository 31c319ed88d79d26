/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_private.h - the state while a job script is read, which its parts share; for them alone
 *
 * script.c reads the script and its comments, script_commands.c finds the words of commands that
 * set a variable, script_border.c knows programs that do not pass all variables on, and
 * script_settings.c keeps the settings.
 */
#ifndef OSP_SCRIPT_PRIVATE_H
#define OSP_SCRIPT_PRIVATE_H

#include "lib/base/arena.h"
#include "lib/env/env_lint.h"
#include "lib/env/script_course.h"
#include "lib/env/shell_text.h"

#define OSP_DOCUMENTS_MAX   32 /* here-documents in files; more are not read */
#define OSP_BODY_HIDDEN_MAX 16 /* names that are hidden from a body; more are not */
#define OSP_USES_MAX	    64 /* values made of variables that may change; more stay unknown */

struct osp_script {
	struct osp_arena arena;
	struct osp_script_options options;
	struct osp_setting *settings;
	uint32_t count, room;
	size_t comparisons;
	int dos_line;
};

/* The state while one script is read; `outer` is a word whose text is read as a script, with its
 * place in the whole. */
struct osp_reading {
	struct osp_script *script;
	const struct osp_shell_word *outer;
	int depth;	    /* of texts in texts */
	size_t inner_bytes; /* that were read in them so far */
	bool begun;	    /* a command was read: Slurm reads no #SBATCH after the first */
	bool step;	    /* srun runs `outer`, so each task does */
	bool ranks;	    /* mpirun does */
	bool one_node;	    /* the command is an srun on one node, or in a text that one runs */
	bool text_one_node; /* the text is one that such an srun runs */
	bool alone;	    /* the command consists of assignments only */
	bool lasting;	    /* assignments are for the commands after it too */
	bool adds;	    /* the assignment is a += */
	bool yields;	    /* the assignment counts only where the variable is not exported */
	bool inner;	    /* the text that the command runs was read */
	bool in_words;	    /* the command is in $(...) */
	bool evaluates;	    /* it is `eval`, which runs its text as the script's own */
	bool too_many;
	const char *exports; /* the list that srun takes for its --export; NULL: ALL */
	bool exports_once;   /* that is so for the present command alone */
	struct osp_document_read {
		const char *file, *text;
		int line;
	} documents[OSP_DOCUMENTS_MAX]; /* that the script writes */
	size_t document_count;
	struct osp_use {
		uint32_t setting;  /* whose value is made of a variable */
		uint32_t within;   /* the loop, or 0, in which a later change may come before it */
		const char *value; /* as written */
		const char *name;  /* of the variable, in it */
		size_t name_bytes;
	} uses[OSP_USES_MAX]; /* in loops and functions, which run again */
	size_t use_count;
	bool takes_body; /* the present command takes the next body for its script */
	struct osp_course_hidden hidden_in_body[OSP_BODY_HIDDEN_MAX]; /* from it */
	size_t hidden_in_body_count;
	struct osp_body {
		size_t hidden; /* before it */
		const char *exports;
	} bodies[OSP_SHELL_BODIES_MAX]; /* of open here-documents; more are not kept */
	size_t body_count;
	struct osp_courses courses;
};

/* Adds a setting at the place of `at`. Returns 0, or -1: memory ran out, or there are too many. */
int osp_reading_add(struct osp_reading *reading, const char *name, size_t name_bytes,
		    const char *value, size_t value_bytes, const struct osp_shell_word *at);

/* Takes A=b or A+=b of `bytes` bytes; anything else is no setting. Returns as above. */
int osp_reading_assign(struct osp_reading *reading, const char *text, size_t bytes,
		       const struct osp_shell_word *at);

/* Takes a list such as ALL,A=b,C='d,e', in which quotes keep commas. Returns as above. */
int osp_reading_export_list(struct osp_reading *reading, const char *list,
			    const struct osp_shell_word *at);

/* Marks the earlier settings of a variable as exported, because of `export NAME`. */
void osp_reading_export(struct osp_reading *reading, const char *name, size_t name_bytes);

/* Ends the settings of a variable. */
void osp_reading_end(struct osp_reading *reading, const char *name, size_t name_bytes,
		     enum osp_course_end how);

/* Ends the settings of the variables that an arithmetic expression sets: A=1, A+=1, A++, --A. */
void osp_reading_arithmetic(struct osp_reading *reading, const char *text, size_t bytes);

/* Sets the place of something in a text within the script: the script's line, or, if that is
 * unknown, the text's beginning. */
void osp_reading_place(const struct osp_reading *reading, int *line, int *column);

/* Takes what gives srun its list of exports: a value of SLURM_EXPORT_ENV, or NULL for ALL. */
void osp_reading_exports(struct osp_reading *reading, const char *list);

/* Hides from the present command all variables that were set so far, unless the list of exports
 * has ALL or names them. Returns whether it has ALL. */
bool osp_reading_hide_but(struct osp_reading *reading, const char *list);

/* Hides from the present command what the program that begins it (also after srun, env and the
 * like) does not pass on; `words` are those after its name. */
void osp_reading_border(struct osp_reading *reading, const char *program,
			const struct osp_shell_word *words, size_t count);

/* Returns whether a program may follow the word: it is an option, an option's value, or a program
 * that runs the words after it. */
bool osp_border_leads_on(const struct osp_shell_word *words, size_t index);

/* Hides a variable from the present command; `lasts`: from those after it in its text too. */
void osp_reading_hide(struct osp_reading *reading, const char *name, bool lasts);

/* Takes a word whose text another shell runs: puts in what the script's own shell substitutes
 * there, as $(hostname) between double quotes; `live` gets the $(...) that it runs for that.
 * Returns 0, or -1 if memory ran out. */
int osp_reading_given_text(struct osp_reading *reading, struct osp_shell_word *word,
			   struct osp_shell_word *live);

/* Returns a file that the script has written with a here-document; NULL: none has this name. */
const struct osp_document_read *osp_reading_document(const struct osp_reading *reading,
						     const char *file);

/* Take a command, a mark and a here-document, as struct osp_shell_reader has them; `context` is the
 * reading. */
int osp_reading_command(void *context, const struct osp_shell_word *words, size_t count);
void osp_reading_mark(void *context, enum osp_shell_mark mark);
void osp_reading_take_document(void *context, const char *file, const char *body, size_t body_bytes,
			       int line, bool expands);

#endif
