/* SPDX-License-Identifier: GPL-2.0-or-later */
/* import_helper.c - imports of texts written in a test, compared as text */
#include "tests/unit/import_helper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"

/* A file of the source tree; make check says where that is. */
char *read_source(const char *path, size_t *bytes)
{
	const char *top = getenv("top_srcdir");
	char whole[1024];
	char *text;

	snprintf(whole, sizeof(whole), "%s/%s", top ? top : ".", path);
	text = osp_read_file(whole, OSP_TOPOLOGY_FILE_BYTES_MAX, bytes);
	if (!text)
		fail_msg("%s cannot be read", whole);
	return text;
}

static const char *const file_names[] = {"a", "b", "c", "d"};

/* "level name in parent: nodes" for each domain, and the nodes that have none. */
static char *describe(const struct osp_topology *topology)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t d = 0; d < osp_topology_listed_domains(topology); d++) {
		const struct osp_domain *domain = osp_topology_domain(topology, d);

		osp_text_printf(&text, "%s %s", osp_topology_level_name(topology, domain->level),
				domain->name);
		if (domain->parent != OSP_NO_DOMAIN)
			osp_text_printf(&text, " in %s",
					osp_topology_domain(topology, domain->parent)->name);
		osp_text_add(&text, ":");
		for (uint32_t r = 0; r < domain->node_count; r++) {
			uint32_t node = osp_topology_node_at_rank(topology, domain->first_rank + r);

			osp_text_printf(&text, " %s", osp_topology_node_name(topology, node));
		}
		osp_text_add(&text, "\n");
	}
	return osp_text_take(&text);
}

char *finish(struct osp_import *import, int rc, struct osp_error *error)
{
	struct osp_topology *topology = rc ? NULL : osp_import_finish(import, error);
	char *result, words[900];

	if (topology)
		result = describe(topology);
	else
		result = strdup(osp_error_format(error, words, sizeof(words)));
	osp_topology_free(topology);
	return result;
}

char *import_texts(import_f *add, const struct osp_import_options *options,
		   const char *const *texts, size_t count)
{
	struct osp_import *import = osp_import_new(options);
	struct osp_error error = {0};
	int rc = 0;
	char *result;

	for (size_t i = 0; i < count && !rc; i++)
		rc = add(import, file_names[i], texts[i], strlen(texts[i]), &error);
	result = finish(import, rc, &error);
	osp_import_free(import);
	return result;
}

void expect_texts(import_f *add, const struct osp_import_options *options, const char *const *texts,
		  size_t count, const char *expected)
{
	char *result = import_texts(add, options, texts, count);

	assert_string_equal(result, expected);
	free(result);
}

void expect(import_f *add, const struct osp_import_options *options, const char *text,
	    const char *expected)
{
	expect_texts(add, options, &text, 1, expected);
}

struct osp_name_map *read_map(const char *text, const char *tag)
{
	struct osp_error error = {0};
	struct osp_name_map *map = osp_read_name_map("map", text, strlen(text), tag, &error);

	if (!map)
		fail_msg("%d:%d %s", error.line, error.column, error.text);
	return map;
}
