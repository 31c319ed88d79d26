/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value.c - gives a document's values their types, or reports what was expected */
#include "lib/base/document.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

#define STRING_BYTES_MAX 255
#define SHOWN_BYTES	 40 /* so much of a wrong value is quoted in an error */
#define LABEL_BYTES	 64

const struct osp_value *osp_value_get(const struct osp_value *map, const char *key)
{
	if (map->type != OSP_VALUE_MAP)
		return NULL;
	for (const struct osp_value *v = map->first; v; v = v->next) {
		if (!strcmp(v->key, key))
			return osp_value_is_null(v) ? NULL : v;
	}
	return NULL;
}

bool osp_value_is_null(const struct osp_value *value)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (value->type != OSP_VALUE_SCALAR || value->quoted)
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
		if (!strcmp(value->text, nulls[i]))
			return true;
	}
	return false;
}

/* Describes the value that was found, for an error. */
static const char *found(const struct osp_value *value, char *buffer, size_t buffer_bytes)
{
	if (value->type == OSP_VALUE_LIST)
		return "a list";
	if (value->type == OSP_VALUE_MAP)
		return "a map";
	if (osp_value_is_null(value))
		return "nothing";
	snprintf(buffer, buffer_bytes, value->quoted ? "\"%.*s\"%s" : "'%.*s'%s", SHOWN_BYTES,
		 value->text, strlen(value->text) > SHOWN_BYTES ? " ..." : "");
	return buffer;
}

/* Returns "level: ", or "" in a list. */
static const char *label(const struct osp_value *value, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "%.40s%s", value->key ? value->key : "",
		 value->key ? ": " : "");
	return buffer;
}

static int not_what_was_expected(const struct osp_document *document, const struct osp_value *value,
				 struct osp_error *error, const char *expected)
{
	char name[LABEL_BYTES], shown[SHOWN_BYTES + 16];

	return osp_document_error(document, value, error, "%s%s is expected, not %s",
				  label(value, name, sizeof(name)), expected,
				  found(value, shown, sizeof(shown)));
}

/* Writes as much of "a, b, c" as fits. */
static const char *list_words(const char *const *words, size_t count, char *buffer,
			      size_t buffer_bytes)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < count && used < buffer_bytes; i++) {
		int more = snprintf(buffer + used, buffer_bytes - used, "%s%s", i ? ", " : "",
				    words[i]);

		used += more > 0 ? (size_t)more : 0;
	}
	return buffer;
}

int osp_value_only_keys(const struct osp_document *document, const struct osp_value *map,
			const char *const *keys, size_t key_count, struct osp_error *error)
{
	if (map->type != OSP_VALUE_MAP)
		return not_what_was_expected(document, map, error, "a map");
	for (const struct osp_value *v = map->first; v; v = v->next) {
		struct osp_value at_key = {.line = v->key_line, .column = v->key_column};
		const char *meant;
		char all[256];
		size_t i = 0;

		while (i < key_count && strcmp(keys[i], v->key))
			i++;
		if (i < key_count)
			continue;
		meant = osp_nearest_word(v->key, keys, key_count);
		if (meant)
			return osp_document_error(document, &at_key, error,
						  "unknown key '%s'; did you mean %s?", v->key,
						  meant);
		return osp_document_error(document, &at_key, error,
					  "unknown key '%s'; the keys here are %s", v->key,
					  list_words(keys, key_count, all, sizeof(all)));
	}
	return 0;
}

int osp_value_bool(const struct osp_document *document, const struct osp_value *value, bool *result,
		   struct osp_error *error)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (value->type == OSP_VALUE_SCALAR && !value->quoted &&
		    !strcasecmp(value->text, words[i])) {
			*result = i % 2;
			return 0;
		}
	}
	return not_what_was_expected(document, value, error, "true or false");
}

/* Parses decimal digits with an optional minus; returns false for anything else or a number out of
 * range. */
static bool parse_integer(const char *text, int64_t least, int64_t most, int64_t *result)
{
	bool negative = *text == '-';
	int64_t number = 0;

	text += negative;
	if (!*text)
		return false;
	for (; *text; text++) {
		int digit = *text - '0';

		if (!isdigit((unsigned char)*text) ||
		    __builtin_mul_overflow(number, (int64_t)10, &number) ||
		    __builtin_sub_overflow(number, (int64_t)digit, &number))
			return false;
	}
	/* the number was summed below zero, because that side holds one more */
	if (!negative && number == INT64_MIN)
		return false;
	if (!negative)
		number = -number;
	if (number < least || number > most)
		return false;
	*result = number;
	return true;
}

int osp_value_integer(const struct osp_document *document, const struct osp_value *value,
		      int64_t least, int64_t most, int64_t *result, struct osp_error *error)
{
	char expected[96];

	if (value->type == OSP_VALUE_SCALAR && !value->quoted &&
	    parse_integer(value->text, least, most, result))
		return 0;
	if (most == INT64_MAX)
		snprintf(expected, sizeof(expected), "a whole number of at least %" PRId64, least);
	else
		snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRId64,
			 least, most);
	return not_what_was_expected(document, value, error, expected);
}

int osp_value_choice(const struct osp_document *document, const struct osp_value *value,
		     const char *const *words, size_t word_count, size_t *result,
		     struct osp_error *error)
{
	char name[LABEL_BYTES], shown[SHOWN_BYTES + 16], all[256];
	const char *meant = NULL;

	if (value->type == OSP_VALUE_SCALAR) {
		for (size_t i = 0; i < word_count; i++) {
			if (!strcasecmp(value->text, words[i])) {
				*result = i;
				return 0;
			}
		}
		meant = osp_nearest_word(value->text, words, word_count);
	}
	return osp_document_error(
		document, value, error, "%sone of %s is expected, not %s%s%s%s",
		label(value, name, sizeof(name)), list_words(words, word_count, all, sizeof(all)),
		found(value, shown, sizeof(shown)), meant ? "; did you mean " : "",
		meant ? meant : "", meant ? "?" : "");
}

int osp_value_text(const struct osp_document *document, const struct osp_value *value, size_t most,
		   const char **result, struct osp_error *error)
{
	char expected[48];

	if (value->type == OSP_VALUE_SCALAR && !osp_value_is_null(value) && value->text[0] &&
	    strlen(value->text) <= most) {
		*result = value->text;
		return 0;
	}
	snprintf(expected, sizeof(expected), "a word of 1 to %zu bytes", most);
	return not_what_was_expected(document, value, error, expected);
}

int osp_value_string(const struct osp_document *document, const struct osp_value *value,
		     const char **result, struct osp_error *error)
{
	return osp_value_text(document, value, STRING_BYTES_MAX, result, error);
}
