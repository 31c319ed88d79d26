/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_value.c - what a value in a script is made of */
#include "lib/env/script_value.h"

#include <ctype.h>
#include <string.h>

bool osp_value_is_default(const char *value, size_t value_bytes, const char *name,
			  size_t name_bytes, const char **words, size_t *word_bytes)
{
	size_t at = 2 + name_bytes, count;

	if (value_bytes < at + 2 || memcmp(value, "${", 2) != 0 ||
	    memcmp(value + 2, name, name_bytes) != 0 || value[value_bytes - 1] != '}')
		return false;
	at += value[at] == ':';
	if (!strchr("-=", value[at]))
		return false;
	count = value_bytes - at - 2;
	if (memchr(value + at + 1, '$', count) || memchr(value + at + 1, '`', count))
		return false;
	*words = value + at + 1;
	*word_bytes = count;
	return true;
}

bool osp_value_extends(const char *value, size_t value_bytes, const char *name, size_t name_bytes)
{
	const char *at = value, *end = value + value_bytes;
	bool own = false;

	for (; (at = memchr(at, '$', (size_t)(end - at))); at += name_bytes, own = true) {
		at += at + 1 < end && at[1] == '{' ? 2 : 1;
		if ((size_t)(end - at) < name_bytes || memcmp(at, name, name_bytes) != 0 ||
		    (at + name_bytes < end &&
		     (isalnum((unsigned char)at[name_bytes]) || at[name_bytes] == '_')))
			return false;
	}
	return own && !memchr(value, '`', value_bytes);
}

bool osp_value_is_same(const char *value, size_t value_bytes, const char *name, size_t name_bytes)
{
	bool braced = value_bytes == name_bytes + 3;

	if (value_bytes < 2 || value[0] != '$' || (!braced && value_bytes != name_bytes + 1))
		return false;
	return !memcmp(value + 1 + braced, name, name_bytes) &&
	       (!braced || (value[1] == '{' && value[value_bytes - 1] == '}'));
}

bool osp_value_mentions(const char *value, const char *name)
{
	size_t name_bytes = strlen(name);

	while ((value = strchr(value, '$'))) {
		value += 1 + (value[1] == '{');
		if (!strncmp(value, name, name_bytes) &&
		    !isalnum((unsigned char)value[name_bytes]) && value[name_bytes] != '_')
			return true;
	}
	return false;
}

size_t osp_value_name_length(const char *text, const char *end)
{
	size_t length = 0;

	while (text + length < end && (isalnum((unsigned char)text[length]) || text[length] == '_'))
		length++;
	return length && !isdigit((unsigned char)*text) ? length : 0;
}
