/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML and JSON as a tree with places, and the types asked of its values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/document.h"
#include "lib/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct osp_document *read_good(const char *text)
{
	struct osp_error error = {0};
	struct osp_document *document = osp_document_read("f", text, strlen(text), &error);
	char words[800];

	if (!document)
		fail_msg("%s\n%s", text, osp_error_format(&error, words, sizeof(words)));
	return document;
}

/* Writes a value as {key@line:column ...}; the documents here are not deep. */
static void show(struct osp_text *text, const struct osp_value *value)
{
	if (value->key)
		osp_text_printf(text, "%s@%d:%d=", value->key, value->key_line, value->key_column);
	if (value->type == OSP_VALUE_SCALAR)
		osp_text_printf(text, value->quoted ? "\"%s\"" : "%s", value->text);
	else
		osp_text_add(text, value->type == OSP_VALUE_MAP ? "{" : "[");
	for (const struct osp_value *v = value->first; v; v = v->next) {
		show(text, v);
		osp_text_add(text, v->next ? " " : "");
	}
	if (value->type != OSP_VALUE_SCALAR)
		osp_text_add(text, value->type == OSP_VALUE_MAP ? "}" : "]");
	osp_text_printf(text, "@%d:%d", value->line, value->column);
}

static void documents_are_read(void **state)
{
	static const struct {
		const char *text;
		const char *tree;
	} cases[] = {
		{"", "{}@1:1"},
		{"# nothing\n\n", "{}@1:1"},
		{"---\n", "{}@1:1"},
		{"null", "{}@1:1"},
		{"word", "word@1:1"},
		{"a: 1\nb:\n  - x\n  - 'y'\n", "{a@1:1=1@1:4 b@2:1=[x@3:5 \"y\"@4:5]@3:3}@1:1"},
		{"{\"a\":[1,{\"b\":null}],\"c\":\"d\"}",
		 "{a@1:2=[1@1:7 {b@1:10=null@1:14}@1:9]@1:6 c@1:21=\"d\"@1:25}@1:1"},
		{"{\n\t\"a\":\t1,\r\n\t\"b\": 2\n}\n", "{a@2:2=1@2:7 b@3:2=2@3:7}@1:1"},
		/* columns are bytes: é has two */
		{"\xc3\xa9: {\xc3\xa9\xc3\xa9: x}", "{\xc3\xa9@1:1={\xc3\xa9\xc3\xa9@1:6=x@1:12}"
						    "@1:5}@1:1"},
		{"\xef\xbb\xbf"
		 "a: 1",
		 "{a@1:1=1@1:4}@1:1"},
		{"a:\nb: ''\n", "{a@1:1=@1:3 b@2:1=\"\"@2:4}@1:1"},
		{"a: \"\\u00e9\\n\\/\"", "{a@1:1=\"\xc3\xa9\n/\"@1:4}@1:1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_document *document = read_good(cases[i].text);
		struct osp_text text = OSP_TEXT_INIT;
		char *tree;

		show(&text, osp_document_root(document));
		tree = osp_text_take(&text);
		assert_string_equal(tree, cases[i].tree);
		free(tree);
		osp_document_free(document);
	}
}

static void what_is_refused_has_its_place(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"a: 1\nb: 2\na: 3\n", "f:3:1: key 'a' is given twice (first in line 1)"},
		{"a: &x 1", "f:1:4: anchors (&name) are not allowed here"},
		{"- &x [1]", "f:1:3: anchors (&name) are not allowed here"},
		{"- &x {a: 1}", "f:1:3: anchors (&name) are not allowed here"},
		{"a: *x", "f:1:4: aliases (*name) are not allowed here"},
		{"*x : 1", "f:1:1: aliases (*name) are not allowed here"},
		{"a: !!int 1", "f:1:4: tags (!name) are not allowed here"},
		{"a: !x [1]", "f:1:4: tags (!name) are not allowed here"},
		{"a: ! 1", "f:1:4: tags (!name) are not allowed here"},
		{"---\na: 1\n---\nb: 2\n",
		 "f:3:1: a second document starts here; one file holds one"},
		{"? [1]\n: 2", "f:1:3: a key must be a word"},
		{"? {a: 1}\n: 2", "f:1:3: a key must be a word"},
		{"'': 1", "f:1:1: a key must be a word of 1 to 255 bytes"},
		{"'a\x7f': [", "f:1:3: not UTF-8 text: control characters are not allowed"},
		{"\"a\\tb\": 1", "f:1:1: a key must be a word; this has a control character"},
		{"a: \"x\\0y\"", "f:1:4: a zero byte in a word"},
		{"a: b: c", "f:1:5: neither YAML nor JSON: mapping values are not allowed in this "
			    "context"},
		{"{\"a\": 1\n", "f:2:1: neither YAML nor JSON: did not find expected ',' or '}' "
				"while parsing a flow mapping"},
		{"a: \xff", "f:1:4: not UTF-8 text: invalid leading UTF-8 octet"},
		{"a: 1\nb: \xc3(", "f:2:5: not UTF-8 text: invalid trailing UTF-8 octet"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {0};
		char words[800];

		assert_null(osp_document_read("f", cases[i].text, strlen(cases[i].text), &error));
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
		assert_null(osp_document_read("f", cases[i].text, strlen(cases[i].text), NULL));
	}
}

static void a_key_has_at_most_255_bytes(void **state)
{
	struct osp_error error = {0};
	char text[300] = "";

	(void)state;
	memset(text, 'k', 256);
	strcpy(text + 256, ": 1");
	assert_null(osp_document_read("f", text, strlen(text), &error));
	assert_string_equal(error.text, "a key must be a word of 1 to 255 bytes");
	osp_error_clear(&error);
	osp_error_clear(NULL); /* nobody wants to know */
	osp_document_free(osp_document_read("f", text + 1, strlen(text + 1), &error));
	assert_string_equal(error.text, "");
}

static void a_zero_byte_is_refused(void **state)
{
	static const char text[] = "a: 1\0b: 2";
	struct osp_error error = {0};

	(void)state;
	assert_null(osp_document_read("f", text, sizeof(text) - 1, &error));
	assert_string_equal(error.text, "not UTF-8 text: control characters are not allowed");
	assert_int_equal(error.column, 5);
}

static void depth_has_a_limit(void **state)
{
	struct osp_error error = {0};
	char text[129];

	(void)state;
	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	osp_document_free(osp_document_read("f", text, 128, &error));
	assert_string_equal(error.text, "");
	memset(text, '[', 128);
	assert_null(osp_document_read("f", text, 128, &error));
	assert_string_equal(error.text, "nested more than 64 deep");
	assert_int_equal(error.column, 65);
}

/* In a large map too; and quickly, though there are fifty thousand keys. */
static void a_key_twice_is_found_among_many(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {0};
	struct osp_document *document;

	(void)state;
	for (int i = 0; i < 50000; i++)
		osp_text_printf(&text, "k%d: 1\n", i * 7919 % 50000);
	document = osp_document_read("f", text.data, text.length_bytes, &error);
	assert_non_null(document);
	assert_int_equal(osp_document_root(document)->child_count, 50000);
	osp_document_free(document);
	osp_text_add(&text, "k7919: 2\n");
	assert_null(osp_document_read("f", text.data, text.length_bytes, &error));
	assert_string_equal(error.text, "key 'k7919' is given twice (first in line 2)");
	assert_int_equal(error.line, 50001);
	osp_text_free(&text);
}

static void values_are_found_by_key(void **state)
{
	struct osp_document *document = read_good("a: 1\nb: ~\nc: [1]\n");
	const struct osp_value *root = osp_document_root(document);

	(void)state;
	assert_string_equal(osp_value_get(root, "a")->text, "1");
	assert_null(osp_value_get(root, "b"));
	assert_null(osp_value_get(root, "d"));
	assert_null(osp_value_get(osp_value_get(root, "c"), "a"));
	osp_document_free(document);
}

/* Reads the value of "v" as `type` says; 0 with the result in words, or -1 with the error's. */
static int read_as(const char *type, const char *text, char *words, size_t words_bytes)
{
	static const char *const choices[] = {"enforce", "advise", "off"};
	struct osp_document *document = read_good(text);
	const struct osp_value *value = osp_document_root(document)->first;
	struct osp_error error = {0};
	const char *string = "";
	int64_t number = 0;
	size_t index = 0;
	bool yes = false;
	int rc;

	if (!strcmp(type, "bool"))
		rc = osp_value_bool(document, value, &yes, &error);
	else if (!strcmp(type, "integer"))
		rc = osp_value_integer(document, value, -5, 100, &number, &error);
	else if (!strcmp(type, "any integer"))
		rc = osp_value_integer(document, value, INT64_MIN, INT64_MAX, &number, &error);
	else if (!strcmp(type, "choice"))
		rc = osp_value_choice(document, value, choices, COUNT(choices), &index, &error);
	else
		rc = osp_value_string(document, value, &string, &error);
	if (rc)
		osp_error_format(&error, words, words_bytes);
	else
		snprintf(words, words_bytes, "%d %lld %zu %s", yes, (long long)number, index,
			 string);
	osp_document_free(document);
	return rc;
}

static void typed_values_say_what_they_are_not(void **state)
{
	static const struct {
		const char *type;
		const char *text;
		int rc;
		const char *words;
	} cases[] = {
		{"bool", "v: true", 0, "1 0 0 "},
		{"bool", "v: No", 0, "0 0 0 "},
		{"bool", "v: ON", 0, "1 0 0 "},
		{"bool", "v: maybe", -1, "f:1:4: v: true or false is expected, not 'maybe'"},
		{"bool", "v: 'true'", -1, "f:1:4: v: true or false is expected, not \"true\""},
		{"bool", "v: [true]", -1, "f:1:4: v: true or false is expected, not a list"},
		{"bool", "v:", -1, "f:1:3: v: true or false is expected, not nothing"},
		{"bool", "- 5", -1, "f:1:3: true or false is expected, not '5'"},
		{"integer", "v: -5", 0, "0 -5 0 "},
		{"integer", "v: 007", 0, "0 7 0 "},
		{"integer", "v: 101", -1,
		 "f:1:4: v: a whole number from -5 to 100 is expected, not '101'"},
		{"integer", "v: -6", -1,
		 "f:1:4: v: a whole number from -5 to 100 is expected, not '-6'"},
		{"integer", "v: 1.5", -1,
		 "f:1:4: v: a whole number from -5 to 100 is expected, not '1.5'"},
		{"integer", "{v: -}", -1,
		 "f:1:5: v: a whole number from -5 to 100 is expected, not '-'"},
		{"integer", "v: -a", -1,
		 "f:1:4: v: a whole number from -5 to 100 is expected, not '-a'"},
		{"integer", "v: '5'", -1,
		 "f:1:4: v: a whole number from -5 to 100 is expected, not \"5\""},
		{"integer", "v: {a: 1}", -1,
		 "f:1:4: v: a whole number from -5 to 100 is expected, not a map"},
		{"any integer", "v: -9223372036854775808", 0, "0 -9223372036854775808 0 "},
		{"any integer", "v: 9223372036854775807", 0, "0 9223372036854775807 0 "},
		{"any integer", "v: 9223372036854775808", -1,
		 "f:1:4: v: a whole number of at least -9223372036854775808 is expected, not "
		 "'9223372036854775808'"},
		{"choice", "v: Advise", 0, "0 0 1 "},
		{"choice", "v: 'off'", 0, "0 0 2 "},
		{"choice", "v: advice", -1,
		 "f:1:4: v: one of enforce, advise, off is expected, not 'advice'; did you mean "
		 "advise?"},
		{"choice", "v: strict", -1,
		 "f:1:4: v: one of enforce, advise, off is expected, not 'strict'"},
		{"choice", "v: []", -1,
		 "f:1:4: v: one of enforce, advise, off is expected, not a list"},
		{"string", "v: abc d", 0, "0 0 0 abc d"},
		{"string", "v: 'null'", 0, "0 0 0 null"},
		{"string", "v: ''", -1, "f:1:4: v: a word of 1 to 255 bytes is expected, not \"\""},
		{"string", "v: null", -1,
		 "f:1:4: v: a word of 1 to 255 bytes is expected, not nothing"},
		{"string", "v: []", -1,
		 "f:1:4: v: a word of 1 to 255 bytes is expected, not a list"},
	};
	char words[800];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(read_as(cases[i].type, cases[i].text, words, sizeof(words)),
				 cases[i].rc);
		assert_string_equal(words, cases[i].words);
	}
}

static void a_long_wrong_value_is_cut(void **state)
{
	char text[400], words[800];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "v: ", 3);
	text[3 + 256] = '\0';
	assert_int_equal(read_as("string", text, words, sizeof(words)), -1);
	assert_string_equal(words, "f:1:4: v: a word of 1 to 255 bytes is expected, not "
				   "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' ...");
	text[3 + 255] = '\0';
	assert_int_equal(read_as("string", text, words, sizeof(words)), 0);
}

static void unknown_keys_are_told_with_the_nearest_right_word(void **state)
{
	static const char *const keys[] = {"level", "mode", "relax"};
	static const struct {
		const char *text;
		const char *words; /* "": all known */
	} cases[] = {
		{"level: 1\nmode: 2", ""},
		{"{}", ""},
		{"mode: 1\nlvel: 2", "f:2:1: unknown key 'lvel'; did you mean level?"},
		{"{\"colour\": 1}",
		 "f:1:2: unknown key 'colour'; the keys here are level, mode, relax"},
		{"[1]", "f:1:1: a map is expected, not a list"},
		{"5", "f:1:1: a map is expected, not '5'"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_document *document = read_good(cases[i].text);
		struct osp_error error = {0};
		char words[800];
		int rc = osp_value_only_keys(document, osp_document_root(document), keys,
					     COUNT(keys), &error);

		assert_int_equal(rc, cases[i].words[0] ? -1 : 0);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
		osp_document_free(document);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_read),
		cmocka_unit_test(what_is_refused_has_its_place),
		cmocka_unit_test(a_key_has_at_most_255_bytes),
		cmocka_unit_test(a_zero_byte_is_refused),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(a_key_twice_is_found_among_many),
		cmocka_unit_test(values_are_found_by_key),
		cmocka_unit_test(typed_values_say_what_they_are_not),
		cmocka_unit_test(a_long_wrong_value_is_cut),
		cmocka_unit_test(unknown_keys_are_told_with_the_nearest_right_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
