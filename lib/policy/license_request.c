/* SPDX-License-Identifier: GPL-2.0-or-later */
/* license_request.c - whether the licenses that --licenses names are free */
#include "lib/policy/license_request.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATORS ",;|"

/* One license of the list, such as "matlab:2". */
struct license {
	const char *name;
	size_t name_bytes;
	uint64_t count;
};

/* Reads the license at `word`. Returns what follows it. */
static const char *read_license(const char *word, struct license *license)
{
	const char *end = word + strcspn(word, SEPARATORS);
	size_t name_bytes = strcspn(word, ":=" SEPARATORS);

	license->name = word;
	license->name_bytes = name_bytes;
	license->count = word[name_bytes] == ':' || word[name_bytes] == '='
				 ? strtoul(word + name_bytes + 1, NULL, 10)
				 : 1;
	return end + strspn(end, SEPARATORS);
}

static uint64_t count_all(const char *words, const struct license *wanted)
{
	struct license license;
	uint64_t count = 0;

	while (*words) {
		words = read_license(words, &license);
		if (license.name_bytes == wanted->name_bytes &&
		    !memcmp(license.name, wanted->name, wanted->name_bytes))
			count += license.count;
	}
	return count;
}

bool osp_license_request_lacks(const char *words, osp_licenses_free_f *free_of, void *context)
{
	bool one_is_enough = strchr(words, '|');
	struct license license;

	words += strspn(words, SEPARATORS);
	for (const char *rest = words; *rest;) {
		uint64_t free_count, count;

		rest = read_license(rest, &license);
		free_count = free_of(license.name, license.name_bytes, context);
		count = one_is_enough ? license.count : count_all(words, &license);
		if ((count > free_count) != one_is_enough)
			return !one_is_enough;
	}
	return one_is_enough && *words;
}
