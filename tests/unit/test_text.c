/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing strings, the nearest right word, durations, whole files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void a_text_grows(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *taken;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		osp_text_add(&text, "ab");
		osp_text_add_bytes(&text, "cde", 1);
		osp_text_printf(&text, "%d%s", i % 10, "");
	}
	assert_int_equal(text.length_bytes, 4000);
	taken = osp_text_take(&text);
	assert_int_equal(strlen(taken), 4000);
	assert_memory_equal(taken, "abc0abc1abc2", 12);
	assert_string_equal(taken + 3996, "abc9");
	assert_null(text.data);
	free(taken);
}

static void an_untouched_text_is_empty(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *taken = osp_text_take(&text);

	(void)state;
	assert_string_equal(taken, "");
	free(taken);
	osp_text_free(&text);
}

/* More than any text may have: nothing of it is read. */
static void a_text_has_an_end(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;

	(void)state;
	osp_text_add(&text, "some");
	osp_text_add_bytes(&text, "more", SIZE_MAX / 2);
	osp_text_add(&text, "and more");
	assert_null(osp_text_take(&text));
}

static void a_failed_text_gives_nothing(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;

	(void)state;
	osp_text_add(&text, "half");
	text.failed = true;
	osp_text_add(&text, " and more");
	osp_text_printf(&text, "%d", 5);
	assert_null(osp_text_take(&text));
	assert_false(text.failed);
}

static void the_nearest_word_is_found(void **state)
{
	static const char *const words[] = {"leaf", NULL, "spine", "core", "zone", "spines", "on"};
	static const struct {
		const char *word;
		const char *nearest;
	} cases[] = {{"spine", "spine"}, {"SPINE", "spine"},  {"spin", "spine"},
		     {"spnie", "spine"}, {"spinez", "spine"}, {"laef", "leaf"},
		     {"zoen", "zone"},	 {"coree", "core"},   {"of", NULL},
		     {"on", "on"},	 {"onn", "on"},	      {"", NULL},
		     {"rack", NULL},	 {"lf", NULL},	      {"spline", "spine"}};
	char longest[200];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *found = osp_nearest_word(cases[i].word, words, COUNT(words));

		if (!cases[i].nearest != !found || (found && strcmp(found, cases[i].nearest) != 0))
			fail_msg("%s: %s, not %s", cases[i].word, found, cases[i].nearest);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(osp_nearest_word(longest, words, COUNT(words)));
}

static void durations_are_read_as_slurm_reads_them(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds; /* -1: refused */
	} cases[] = {
		{"0", 0},
		{"30", 1800},
		{"90:30", 5430},
		{"2:00:00", 7200},
		{"1-0", 86400},
		{"1-12", 129600},
		{"1-12:30", 131400},
		{"1-12:30:15", 131415},
		{"10:75", 675},
		{"3653-0", 315619200},
		{"3653-0:01", -1},
		{"3654-0", -1},
		{"", -1},
		{"-1", -1},
		{"1-", -1},
		{":30", -1},
		{"1:", -1},
		{"1:2:3:4", -1},
		{"1-2:3:4:5", -1},
		{"5m", -1},
		{" 5", -1},
		{"5 ", -1},
		{"UNLIMITED", -1},
		{"99999999999999999999", -1},
		{"1-2-3", -1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t seconds = -1;
		int rc = osp_parse_duration(cases[i].text, &seconds);

		if (seconds != cases[i].seconds || rc != (cases[i].seconds < 0 ? -1 : 0))
			fail_msg("'%s': %lld", cases[i].text, (long long)seconds);
	}
}

static void durations_are_written_short(void **state)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} cases[] = {
		{0, "0s"},	  {-5, "0s"},	     {59, "59s"},      {60, "1m"},
		{3599, "59m"},	  {3600, "1h00m"},   {11100, "3h05m"}, {86399, "23h59m"},
		{86400, "1d00h"}, {187200, "2d04h"},
	};
	char buffer[32];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(osp_format_duration(cases[i].seconds, buffer, sizeof(buffer)),
				    cases[i].text);
}

/* A file of that many bytes in the current folder. */
static void write_file(const char *path, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (size_t i = 0; i < bytes; i++)
		fputc('a' + (int)(i % 26), file);
	assert_int_equal(fclose(file), 0);
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
	char path[64];
	size_t length = 99;
	char *data;

	(void)state;
	snprintf(path, sizeof(path), "test_text.%d", (int)getpid());
	write_file(path, 100000);
	data = osp_read_file(path, 100000, &length);
	assert_non_null(data);
	assert_int_equal(length, 100000);
	assert_int_equal(strlen(data), 100000);
	assert_int_equal(data[99999], 'a' + 99999 % 26);
	free(data);
	assert_null(osp_read_file(path, 99999, &length));
	assert_int_equal(errno, EFBIG);
	write_file(path, 0);
	data = osp_read_file(path, 0, &length);
	assert_string_equal(data, "");
	assert_int_equal(length, 0);
	free(data);
	unlink(path);
}

static void only_regular_files_are_read(void **state)
{
	char path[64];
	size_t length;

	(void)state;
	assert_null(osp_read_file("/", 1000, &length));
	assert_int_equal(errno, EINVAL);
	assert_null(osp_read_file("/dev/zero", 1000, &length));
	assert_int_equal(errno, EINVAL);
	assert_null(osp_read_file("no/such/file", 1000, &length));
	assert_int_equal(errno, ENOENT);
	/* one that cannot be read: nothing is mapped at address 0 */
	assert_null(osp_read_file("/proc/self/mem", 1000, &length));
	assert_int_equal(errno, EIO);
	/* a pipe without a writer must not make the reader wait */
	snprintf(path, sizeof(path), "test_text.fifo.%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(osp_read_file(path, 1000, &length));
	assert_int_equal(errno, EINVAL);
	unlink(path);
}

/* Files of /proc say that they are empty. */
static void a_file_longer_than_it_says_is_read_whole(void **state)
{
	size_t length;
	char *data = osp_read_file("/proc/self/status", 1000000, &length);

	(void)state;
	assert_non_null(data);
	assert_true(length > 100);
	assert_int_equal(strlen(data), length);
	free(data);
	assert_null(osp_read_file("/proc/self/status", 10, &length));
	assert_int_equal(errno, EFBIG);
}

/* The values that FNV's authors publish. */
static void a_hash_is_everywhere_the_same(void **state)
{
	(void)state;
	assert_true(osp_hash_bytes(OSP_HASH_START, NULL, 0) == OSP_HASH_START);
	assert_true(osp_hash_bytes(OSP_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(osp_hash_bytes(OSP_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(osp_hash_bytes(OSP_HASH_START, "\xff", 1) ==
		    osp_hash_step(OSP_HASH_START, 255));
	assert_true(osp_hash_words(osp_hash_words(OSP_HASH_START, "ab"), "c") ==
		    UINT64_C(0xad22872f536e4705));
	assert_true(osp_hash_words(osp_hash_words(OSP_HASH_START, "a"), "bc") !=
		    UINT64_C(0xad22872f536e4705));
}

static void numbers_are_read_to_a_limit(void **state)
{
	static const struct {
		const char *text;
		uint32_t most;
		bool read;
		uint32_t number;
		const char *rest;
	} cases[] = {
		{"7", 7, true, 7, ""},
		{"8", 7, false, 0, NULL},
		{"007x2", 7, true, 7, "x2"},
		{"", 7, false, 0, NULL},
		{"-1", 7, false, 0, NULL},
		{" 1", 7, false, 0, NULL},
		{"4294967295,", UINT32_MAX, true, UINT32_MAX, ","},
		{"4294967296", UINT32_MAX, false, 0, NULL},
		{"99999999999999999999999", UINT32_MAX, false, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].text;
		uint32_t number = 0;

		assert_int_equal(osp_read_number(&at, cases[i].most, &number), cases[i].read);
		if (!cases[i].read)
			continue;
		assert_int_equal(number, cases[i].number);
		assert_string_equal(at, cases[i].rest);
	}
}

static void only_one_is_no_plural(void **state)
{
	(void)state;
	assert_string_equal(osp_plural_s(0), "s");
	assert_string_equal(osp_plural_s(1), "");
	assert_string_equal(osp_plural_s(2), "s");
	assert_string_equal(osp_plural_s((uint64_t)UINT32_MAX + 2), "s");
}

static void lists_have_whole_words(void **state)
{
	(void)state;
	assert_true(osp_list_has("gpu,debug", "debug", 5));
	assert_true(osp_list_has("gpu,debug", "gpu,..", 3));
	assert_false(osp_list_has("gpu,debug", "gp", 2));
	assert_false(osp_list_has("gpu,debug", "gpu2", 4));
	assert_false(osp_list_has("gpu,debug", "GPU", 3));
	assert_false(osp_list_has("", "gpu", 3));
	assert_false(osp_list_has(NULL, "gpu", 3));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_grows),
		cmocka_unit_test(an_untouched_text_is_empty),
		cmocka_unit_test(a_text_has_an_end),
		cmocka_unit_test(a_failed_text_gives_nothing),
		cmocka_unit_test(the_nearest_word_is_found),
		cmocka_unit_test(numbers_are_read_to_a_limit),
		cmocka_unit_test(durations_are_read_as_slurm_reads_them),
		cmocka_unit_test(durations_are_written_short),
		cmocka_unit_test(a_file_is_read_whole_or_not_at_all),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test(a_file_longer_than_it_says_is_read_whole),
		cmocka_unit_test(only_one_is_no_plural),
		cmocka_unit_test(a_hash_is_everywhere_the_same),
		cmocka_unit_test(lists_have_whole_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
