/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glob.c - names against patterns */
#include "lib/base/glob.h"

#include <string.h>

/* One character against what `*pattern` begins with; moves *pattern behind it. */
static bool matches_one(const char **pattern, char c)
{
	const char *at = *pattern, *end = *at == '[' ? strchr(at + 1, ']') : NULL;
	bool inverted, found = false;

	if (!end) {
		*pattern = at + 1;
		return *at == '?' || *at == c;
	}
	*pattern = end + 1;
	inverted = at[1] == '!';
	for (at += 1 + inverted; at < end; at++) {
		if (at + 2 < end && at[1] == '-') {
			found |= at[0] <= c && c <= at[2];
			at += 2;
		} else {
			found |= *at == c;
		}
	}
	return found != inverted;
}

bool osp_glob_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (*pattern && matches_one(&pattern, *text)) {
			text++;
		} else if (star) {
			/* the last star takes one more; those before it need not be tried again */
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool osp_glob_is_pattern(const char *text)
{
	return strpbrk(text, "*?[");
}

bool osp_globs_meet(const char *a, const char *b)
{
	size_t i = 0;

	if (!osp_glob_is_pattern(a))
		return osp_glob_matches(b, a);
	if (!osp_glob_is_pattern(b))
		return osp_glob_matches(a, b);
	for (; a[i] && b[i] && !strchr("*?[", a[i]) && !strchr("*?[", b[i]); i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}
