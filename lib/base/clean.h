/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clean.h - makes others' words fit for logs, terminals and files
 *
 * A user's word may hold characters that a terminal obeys, that begin a new line in a log or that
 * reverse the order of letters, and bytes that are not UTF-8, which make a file unreadable. Such a
 * word is cleaned once, where it enters: what slurmctld says of jobs (host/slurm/snapshot.h), a
 * refusal (job_submit), what a check reads from the system (check/runner/result.c). Any thread.
 */
#ifndef OSP_CLEAN_H
#define OSP_CLEAN_H

#include <stddef.h>
#include <stdint.h>

/* Reads the UTF-8 character at `at` (terminated text) into *code. Returns its length in bytes, or 0
 * at the end of the text and for a bad character: an overlong form, a surrogate, a number above
 * U+10FFFF. */
size_t osp_utf8_read(const char *at, uint32_t *code);

/*
 * Replaces by '?', in place, each byte that belongs to no UTF-8 character, and each character that
 * is obeyed instead of shown: U+0000 to U+001F, U+007F to U+009F, the marks and overrides of a
 * text's direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), U+2028 and U+2029,
 * which end a line, U+FEFF, U+FFFE and U+FFFF. The text never gets longer. Returns `text`.
 */
char *osp_clean(char *text);

/* Does the same for a text of many lines: keeps line feeds and tabs. */
char *osp_clean_lines(char *text);

/* Does the same, and keeps a carriage return before a line feed too (a DOS line end). */
char *osp_clean_script(char *text);

/* Copies as much of `from` as fits, cleaned and terminated; NULL counts as "". Reads no further
 * than it copies, and never cuts a character in two. */
void osp_copy_clean(char *to, size_t to_bytes, const char *from);

#endif
