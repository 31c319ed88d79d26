/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_clean.c - others' words, cleaned: shown text alone, and what is clean stays
 *
 * Parser: lib/base/clean.c
 */
#include <stdbool.h>

#include "tests/fuzz/fuzz.h"

#include "lib/base/clean.h"

static bool obeyed(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static void check_clean(const char *text, bool lines)
{
	uint32_t code;

	while (*text) {
		size_t bytes = osp_utf8_read(text, &code);

		fuzz_check(bytes >= 1 && bytes <= 4 && bytes <= strlen(text));
		fuzz_check(!obeyed(code) || (lines && (code == '\n' || code == '\t')));
		text += bytes;
	}
}

/* Cut anywhere, what is copied is clean too, and no longer than there is room. */
static void check_copy(const char *text, size_t room)
{
	char *part = malloc(room);

	fuzz_check(part);
	osp_copy_clean(part, room, text);
	fuzz_check(strlen(part) < room);
	check_clean(part, false);
	free(part);
}

FUZZER(clean)
{
	char *text = malloc(size + 1), *lines = malloc(size + 1), *once;

	fuzz_check(text && lines);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	strcpy(lines, text);
	check_copy(text, size % 13 + 1);
	fuzz_check(osp_clean(text) == text && strlen(text) <= size);
	check_clean(text, false);
	check_clean(osp_clean_lines(lines), true);
	once = strdup(text);
	fuzz_check(once && !strcmp(osp_clean(text), once));
	free(once);
	free(lines);
	free(text);
	return 0;
}
