/* SPDX-License-Identifier: GPL-2.0-or-later */
/* glob.c - compares names with patterns */
#include "lib/base/glob.h"

#include <fnmatch.h>
#include <string.h>

bool osp_glob_matches(const char *pattern, const char *text)
{
	return !fnmatch(pattern, text, FNM_NOESCAPE);
}

/* Returns whether the text holds '*', '?' or '['. */
static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[");
}

bool osp_globs_meet(const char *a, const char *b)
{
	size_t i = 0;

	if (!is_pattern(a))
		return osp_glob_matches(b, a);
	if (!is_pattern(b))
		return osp_glob_matches(a, b);
	for (; a[i] && b[i] && !strchr("*?[", a[i]) && !strchr("*?[", b[i]); i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}
