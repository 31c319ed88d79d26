/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_document.c - YAML and JSON: whatever comes in, a tree with places inside the text, or an
 * error with one
 *
 * Parser: lib/base/document.c lib/base/value.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/base/document.h"

#define DEPTH_MAX 64

static void ask_types(const struct osp_document *document, const struct osp_value *value)
{
	static const char *const words[] = {"enforce", "advise", "off"};
	struct osp_error error = {.text = ""};
	const char *string;
	int64_t number;
	size_t index;
	bool yes;

	osp_value_bool(document, value, &yes, &error);
	osp_value_integer(document, value, INT64_MIN, INT64_MAX, &number, &error);
	osp_value_choice(document, value, words, 3, &index, &error);
	osp_value_string(document, value, &string, &error);
	osp_value_only_keys(document, value, words, 3, &error);
	osp_value_get(value, "advise");
}

/* Goes through the tree with a stack of its own. */
static void walk(const struct osp_document *document, size_t size)
{
	const struct osp_value *stack[DEPTH_MAX + 1] = {osp_document_root(document)};
	int depth = 1;

	while (depth) {
		const struct osp_value *value = stack[depth - 1];

		fuzz_check(value->line >= 1 && (size_t)value->line <= size + 2);
		fuzz_check(value->column >= 1 && (size_t)value->column <= size + 1);
		fuzz_check(!value->text == (value->type != OSP_VALUE_SCALAR));
		ask_types(document, value);
		stack[depth - 1] = value->next;
		if (!value->next)
			depth--;
		if (value->first) {
			fuzz_check(depth <= DEPTH_MAX);
			stack[depth++] = value->first;
		}
	}
}

FUZZER(document)
{
	struct osp_error error = {.text = ""};
	struct osp_document *document = osp_document_read("f", (const char *)data, size, &error);

	fuzz_check(!document == (error.text[0] != '\0'));
	if (document)
		walk(document, size);
	else
		fuzz_check(error.line >= 1 && error.column >= 1);
	osp_document_free(document);
	return 0;
}
