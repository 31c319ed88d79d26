/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glob.h - compares names with patterns
 *
 * '*' is any text, '?' one character, '[0-9a-f]' one of these, '[!0-9]' none of these; any other
 * character is itself, the backslash too: fnmatch(3) with FNM_NOESCAPE.
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_GLOB_H
#define OSP_GLOB_H

#include <stdbool.h>

/* Returns whether the pattern matches the whole of `text`. */
bool osp_glob_matches(const char *pattern, const char *text);

/* Returns whether some text could match both. Never false by mistake; true by mistake only if both
 * are patterns. */
bool osp_globs_meet(const char *a, const char *b);

#endif
