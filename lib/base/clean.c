/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clean.c - makes others' words fit for logs, terminals and files */
#include "lib/base/clean.h"

#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

size_t osp_utf8_read(const char *at, uint32_t *code)
{
	static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)at;
	size_t count = *bytes < 0x80	? 1
		       : *bytes < 0xc0	? 0
		       : *bytes < 0xe0	? 2
		       : *bytes < 0xf0	? 3
		       : *bytes <= 0xf4 ? 4
					: 0;

	if (!count)
		return 0;
	*code = count == 1 ? *bytes : *bytes & (0x7fu >> count);
	for (size_t i = 1; i < count; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (bytes[i] & 0x3f);
	}
	if (*code < least[count] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return count;
}

static bool is_obeyed(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0, 0x1f},	{0x7f, 0x9f},	  {0x61c, 0x61c},   {0x200e, 0x200f},
		      {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfffe, 0xffff}};

	for (size_t i = 0; i < COUNT(ranges); i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

/* Returns the length in bytes of the character at `at`, 1 for a bad one. Sets *bad if '?' must
 * replace it. */
static size_t look_at(const char *at, const char *kept, bool *bad)
{
	uint32_t code;
	size_t count = osp_utf8_read(at, &code);

	*bad = !count || (is_obeyed(code) && !(code < 0x80 && strchr(kept, (int)code)));
	return count ? count : 1;
}

static char *clean(char *text, const char *kept)
{
	const char *from = text;
	char *to = text;
	bool bad;

	while (*from) {
		size_t count = look_at(from, kept, &bad);

		if (bad)
			*to++ = '?';
		else
			to = (char *)memmove(to, from, count) + count;
		from += count;
	}
	*to = '\0';
	return text;
}

char *osp_clean(char *text)
{
	return clean(text, "");
}

char *osp_clean_lines(char *text)
{
	return clean(text, "\n\t");
}

char *osp_clean_script(char *text)
{
	clean(text, "\n\t\r");
	for (char *at = text; (at = strchr(at, '\r')); at++) {
		if (at[1] != '\n')
			*at = '?';
	}
	return text;
}

void osp_copy_clean(char *to, size_t to_bytes, const char *from)
{
	size_t length = 0;
	bool bad;

	while (from && *from) {
		size_t count = look_at(from, "", &bad), written = bad ? 1 : count;

		if (written >= to_bytes - length)
			break;
		if (bad)
			to[length] = '?';
		else
			memcpy(to + length, from, count);
		length += written;
		from += count;
	}
	to[length] = '\0';
}
