/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clean.h - others' words, made fit for logs, terminals and files
 *
 * A user's word may hold what a terminal obeys, what begins a new line of a log, what turns the
 * order of the letters round, or bytes that are no UTF-8, which make a file unreadable. Such a word
 * is cleaned once, where it enters: what slurmctld says of jobs (host/slurm/snapshot.h), a refusal
 * (job_submit), what a check reads from the system (check/runner/tell.c). Any thread.
 */
#ifndef OSP_CLEAN_H
#define OSP_CLEAN_H

#include <stddef.h>
#include <stdint.h>

/* Reads the UTF-8 character at `at`, which is terminated, into *code. Returns its bytes, or 0 if
 * there is none: at the end, too long a form, a surrogate, a number above U+10FFFF. */
size_t osp_utf8_read(const char *at, uint32_t *code);

/*
 * Replaces by '?' in place each byte that is of no UTF-8 character, and each character that is not
 * shown but obeyed: U+0000 to U+001F, U+007F to U+009F, the marks and overrides of a text's
 * direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), U+2028 and U+2029, which
 * end a line, and U+FEFF. The text never gets longer. Returns `text`.
 */
char *osp_clean(char *text);

/* The same for a text of many lines: line feeds and tabs stay. */
char *osp_clean_lines(char *text);

/* Copies `from` (NULL: nothing), cleaned, as far as there is room, and looks no further; never half
 * of a character. Terminated. */
void osp_copy_clean(char *to, size_t to_bytes, const char *from);

#endif
