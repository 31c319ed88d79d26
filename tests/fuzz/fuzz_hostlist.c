/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_hostlist.c - hostlists: what expands, sorted and each once, is what the compact list expands
 * to
 *
 * Parser: lib/base/hostlist.c lib/base/hostlist_compact.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/base/hostlist.h"

#define NAMES_MAX 1000 /* more only take time */

struct names {
	char *name[NAMES_MAX];
	size_t count;
};

static int keep(const char *name, void *context)
{
	struct names *names = context;

	fuzz_check(strlen(name) >= 1 && strlen(name) <= 255);
	if (names->count == NAMES_MAX)
		return 1;
	names->name[names->count++] = strdup(name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return osp_name_compare(*(char *const *)a, *(char *const *)b);
}

static void free_names(struct names *names)
{
	while (names->count)
		free(names->name[--names->count]);
}

static void check_compact(struct names *names)
{
	char *list = osp_hostlist_compact((const char *const *)names->name, names->count);
	struct names again = {.count = 0};
	size_t kept = 0;

	fuzz_check(list);
	fuzz_check(!osp_hostlist_expand(list, keep, &again, NULL));
	qsort(names->name, names->count, sizeof(names->name[0]), by_name);
	for (size_t i = 0; i < names->count; i++) {
		if (i && !strcmp(names->name[i], names->name[i - 1]))
			continue;
		fuzz_check(kept < again.count && !strcmp(names->name[i], again.name[kept]));
		kept++;
	}
	fuzz_check(kept == again.count);
	free_names(&again);
	free(list);
}

FUZZER(hostlist)
{
	struct names names = {.count = 0};
	struct osp_error error = {.text = ""};
	char *list = malloc(size + 1);
	int rc;

	memcpy(list, data, size);
	list[size] = '\0';
	rc = osp_hostlist_expand(list, keep, &names, &error);
	fuzz_check((rc == -1) == (error.text[0] != '\0'));
	fuzz_check(rc != -1 || (error.column >= 1 && (size_t)error.column <= strlen(list) + 1));
	if (!rc)
		check_compact(&names);
	free_names(&names);
	free(list);
	return 0;
}
