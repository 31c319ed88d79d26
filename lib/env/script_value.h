/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_value.h - what a value in a script is made of
 *
 * For script.c. Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_VALUE_H
#define OSP_SCRIPT_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether `value` is ${NAME:-words} of this name, or has - = := instead of :-; `words` then
 * gets them. */
bool osp_value_is_default(const char *value, size_t value_bytes, const char *name,
			  size_t name_bytes, const char **words, size_t *word_bytes);

/* Returns whether all that a shell substitutes in the value is the variable's earlier value. */
bool osp_value_extends(const char *value, size_t value_bytes, const char *name, size_t name_bytes);

/* Returns whether the value is only the variable's own: $A or ${A}. */
bool osp_value_is_same(const char *value, size_t value_bytes, const char *name, size_t name_bytes);

/* Returns whether a shell puts the variable's earlier value into the value: $A or ${A... */
bool osp_value_mentions(const char *value, const char *name);

/* Returns the length of a variable's name at `text`; 0: there is none. */
size_t osp_value_name_length(const char *text, const char *end);

#endif
