/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_secrets.c - the file of the gate's keys: what it may be, where it is wrong, and how a key is
 * changed without a stop */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/secrets.h"

#define ONES  "1111111111111111111111111111111111111111111111111111111111111111"
#define TWOS  "2222222222222222222222222222222222222222222222222222222222222222"
#define MIXED "00ff10Ab00ff10ab00ff10ab00ff10ab00ff10ab00ff10ab00ff10ab00ff10aB"

static int read_text(const char *text, struct osp_secrets *secrets, struct osp_error *error)
{
	*error = (struct osp_error){.text = ""};
	return osp_secrets_read("gate.key", text, strlen(text), secrets, error);
}

static void reads_lines(void **state)
{
	struct osp_secrets secrets;
	struct osp_error error;

	(void)state;
	assert_int_equal(
		read_text("# keys\n\n  new " MIXED "  # since May\r\nold\t" ONES, &secrets, &error),
		0);
	assert_int_equal(secrets.count, 2);
	assert_string_equal(secrets.list[0].name, "new");
	assert_int_equal(secrets.list[0].key[0], 0);
	assert_int_equal(secrets.list[0].key[1], 0xff);
	assert_int_equal(secrets.list[0].key[3], 0xab);
	assert_int_equal(secrets.list[0].key[31], 0xab);
	assert_string_equal(secrets.list[1].name, "old");
	assert_int_equal(secrets.list[1].key[31], 0x11);
	assert_ptr_equal(osp_secrets_find(&secrets, "oldest", 3), &secrets.list[1]);
	assert_null(osp_secrets_find(&secrets, "oldest", 6));
}

/* No error quotes a key: what is printed is read by others. */
static void refuses_other_lines(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "gate.key: a line with a name and a key is expected"},
		{"# none\n", "gate.key: a line with a name and a key is expected"},
		{"a\n", "gate.key:1:1: a name of 1 to 16 letters, digits, -, . and _, and a key "
			"are expected"},
		{"\n a#" ONES "\n", "gate.key:2:2: a name of 1 to 16 letters, digits, -, . and _, "
				    "and a key are expected"},
		{"a:b " ONES, "gate.key:1:1: a name of 1 to 16 letters, digits, -, . and _, and a "
			      "key are expected"},
		{"seventeen-letters " ONES,
		 "gate.key:1:1: a name of 1 to 16 letters, digits, -, . and _, and a key are "
		 "expected"},
		{"a 11", "gate.key:1:3: a key of 64 hexadecimal digits is expected"},
		{"a  " ONES "1", "gate.key:1:4: a key of 64 hexadecimal digits is expected"},
		{"a 1g11111111111111111111111111111111111111111111111111111111111111",
		 "gate.key:1:4: a hexadecimal digit is expected"},
		{"a g111111111111111111111111111111111111111111111111111111111111111",
		 "gate.key:1:3: a hexadecimal digit is expected"},
		{"a " ONES "\na " TWOS,
		 "gate.key:2:1: another name is expected: this one is above"},
		{"a " ONES "\nb " ONES, "gate.key:2:3: another key is expected: this one is above"},
		{"a " ONES "\nb " TWOS "\nc " MIXED
		 "\nd 3333333333333333333333333333333333333333333333333333333333333333"
		 "\ne 4444444444444444444444444444444444444444444444444444444444444444",
		 "gate.key:5:1: at most 4 keys are expected"},
	};
	char words[OSP_ERROR_TEXT_BYTES];
	struct osp_secrets secrets;
	struct osp_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_text(cases[i].text, &secrets, &error), -1);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].says);
		assert_int_equal(secrets.count, 0);
	}
	assert_int_equal(osp_secrets_read("gate.key", "a " ONES "\n\0", 68, &secrets, &error), -1);
	assert_int_equal(
		osp_secrets_read("gate.key", ONES, OSP_SECRETS_FILE_MAX + 1, &secrets, &error), -1);
}

static void is_written_as_it_is_read(void **state)
{
	struct osp_secrets secrets, again;
	struct osp_error error;
	char *text;

	(void)state;
	assert_int_equal(read_text("new " MIXED "\nold " ONES, &secrets, &error), 0);
	text = osp_secrets_text(&secrets);
	assert_non_null(text);
	assert_int_equal(read_text(text, &again, &error), 0);
	assert_memory_equal(&secrets, &again, sizeof(secrets));
	osp_secrets_text_free(text);
	osp_secrets_forget(&secrets);
	assert_int_equal(secrets.count, 0);
	assert_int_equal(secrets.list[0].key[1], 0);
}

static void changes_in_three_steps(void **state)
{
	static const uint8_t first[OSP_SECRET_BYTES] = {1}, second[OSP_SECRET_BYTES] = {2};
	struct osp_secrets secrets = {.count = 0};
	struct osp_error error = {.text = ""};

	(void)state;
	assert_int_equal(osp_secrets_use(&secrets, &error), -1);
	assert_int_equal(osp_secrets_add(&secrets, "a", first, NULL), 0);
	assert_int_equal(osp_secrets_add(&secrets, "a", second, NULL), -1);
	assert_int_equal(osp_secrets_add(&secrets, "a b", second, NULL), -1);
	assert_int_equal(osp_secrets_use(&secrets, NULL), -1);
	assert_int_equal(osp_secrets_drop(&secrets, NULL), -1);
	assert_int_equal(osp_secrets_add(&secrets, "b", second, NULL), 0);
	assert_string_equal(secrets.list[0].name, "a");
	assert_int_equal(osp_secrets_use(&secrets, NULL), 0);
	assert_string_equal(secrets.list[0].name, "b");
	assert_int_equal(secrets.list[0].key[0], 2);
	assert_string_equal(secrets.list[1].name, "a");
	assert_int_equal(osp_secrets_drop(&secrets, NULL), 0);
	assert_int_equal(secrets.count, 1);
	assert_string_equal(secrets.list[0].name, "b");
	assert_int_equal(secrets.list[1].key[0], 0);
	assert_int_equal(osp_secrets_add(&secrets, "c", first, NULL), 0);
	assert_int_equal(osp_secrets_add(&secrets, "d", first, NULL), 0);
	assert_int_equal(osp_secrets_add(&secrets, "e", first, NULL), 0);
	assert_int_equal(osp_secrets_add(&secrets, "f", first, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines),
		cmocka_unit_test(refuses_other_lines),
		cmocka_unit_test(is_written_as_it_is_read),
		cmocka_unit_test(changes_in_three_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
