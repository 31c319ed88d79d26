/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_report.c - what a node says of its own place, and what is kept of it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/report.h"
#include "lib/topology/report_book.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BOOT_S	     1700000000
#define DOMAIN	     "5e797fc6-0f46-421a-8724-0e102c0f723c.4"

#define HEAD                                                                                       \
	"onespine-report 1\nchallenge 000102030405060708090a0b0c0d0e0f\nnode gpu-1\n"              \
	"boot 1700000000\n"

static void a_report_is_read_as_it_was_written(void **state)
{
	static const char *const texts[] = {
		HEAD,
		HEAD "instance i-0abc\nnvlink " DOMAIN "\nneuron -\nleaf 0xfc6a1c0300ee1000\n"
		     "leaf 0xfc6a1c0300ee2000\n",
		HEAD "nvlink -\nneuron 4.7\nleaf -\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct osp_text again = OSP_TEXT_INIT;
		struct osp_place_report report;
		struct osp_error error = {.text = ""};

		osp_report_read(texts[i], strlen(texts[i]), &report, &error);
		assert_string_equal(error.text, "");
		assert_string_equal(report.node, "gpu-1");
		assert_int_equal(report.boot_s, BOOT_S);
		assert_int_equal(report.challenge[15], 15);
		osp_report_write(&report, &again);
		assert_string_equal(again.data, texts[i]);
		osp_text_free(&again);
	}
}

/* A later release may say more. */
static void what_is_not_known_is_passed_over(void **state)
{
	static const char text[] = HEAD "rail 7\nnvlink " DOMAIN "\n";
	struct osp_place_report report;

	(void)state;
	assert_int_equal(osp_report_read(text, strlen(text), &report, NULL), 0);
	assert_string_equal(report.nvlink, DOMAIN);
	assert_string_equal(report.neuron, "");
	assert_false(report.leaves_known);
}

static void what_is_no_report_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "a report is 1 to 2048 bytes of whole lines"},
		{"onespine-report 1", "a report is 1 to 2048 bytes of whole lines"},
		{"onespine-report 2\n", "\"onespine-report 1\" is expected"},
		{"onespine-report 1\n", "challenge, node and boot are expected"},
		{"node gpu-1\n", "\"onespine-report 1\" is expected"},
		{HEAD "node gpu-2\n", "the key is there twice"},
		{HEAD "nvlink\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "nvlink \n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD " x\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "nvlink a b\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "nvlink a\tb\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "nvlink \x1b[31m\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "nvlink \xc3\xa4\n", "\"KEY VALUE\" in printable letters is expected"},
		{HEAD "nvlink 1234567890123456789012345678901234567890123456789012345678901234\n",
		 "the word is too long"},
		{HEAD "leaf 7\n", "a GUID is expected, as 0xfc6a1c0300ee1000"},
		{HEAD "leaf 0xfc6a1c0300ee10000\n", "a GUID is expected, as 0xfc6a1c0300ee1000"},
		{HEAD "leaf -\nleaf 0xfc6a1c0300ee1000\n", "leaves, and none at the same time"},
		{"onespine-report 1\nchallenge 00\n",
		 "a challenge of 32 hexadecimal digits is expected"},
		{"onespine-report 1\nboot 0\n", "the second of the boot is expected"},
		{"onespine-report 1\nboot -1\n", "the second of the boot is expected"},
		{"onespine-report 1\nboot 9999999999999\n", "the second of the boot is expected"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_error error = {.text = ""};
		struct osp_place_report report;

		assert_int_equal(
			osp_report_read(cases[i].text, strlen(cases[i].text), &report, &error), -1);
		assert_string_equal(error.text, cases[i].why);
	}
}

/* Bytes that no text has, lengths at the limits. */
static void sizes_and_zeroes(void **state)
{
	char text[OSP_REPORT_BYTES_MAX + 2];
	struct osp_place_report report;
	size_t used = strlen(HEAD);

	(void)state;
	memcpy(text, HEAD, used);
	while (used < OSP_REPORT_BYTES_MAX)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
					 used + 4 > OSP_REPORT_BYTES_MAX ? "\n" : "a b\n");
	/* whatever its end, nothing is read behind it */
	osp_report_read(text, OSP_REPORT_BYTES_MAX, &report, NULL);
	assert_int_equal(osp_report_read(text, OSP_REPORT_BYTES_MAX + 1, &report, NULL), -1);
	memcpy(text, HEAD "nvlink a\0b\n", strlen(HEAD) + 11);
	assert_int_equal(osp_report_read(text, strlen(HEAD) + 11, &report, NULL), -1);
	used = 0;
	used += (size_t)sprintf(text, HEAD);
	for (unsigned int i = 0; i <= OSP_REPORT_LEAVES_MAX; i++) {
		int rc = osp_report_read(text, used, &report, NULL);

		assert_int_equal(rc, 0);
		assert_int_equal(report.leaf_count, i);
		used += (size_t)sprintf(text + used, "leaf 0x%016x\n", i + 1);
	}
	assert_int_equal(osp_report_read(text, used, &report, NULL), -1);
}

static void words_are_made_fit(void **state)
{
	char word[OSP_REPORT_WORD_BYTES];
	uint8_t uuid[16] = {0};

	(void)state;
	assert_string_equal(osp_report_word(word, "i-0abc"), "i-0abc");
	assert_string_equal(osp_report_word(word, NULL), "");
	assert_string_equal(osp_report_word(word, "a b"), "");
	osp_report_nvlink(word, uuid, 4);
	assert_string_equal(word, "-");
	for (int i = 0; i < 16; i++)
		uuid[i] = (uint8_t)(16 * i + i);
	osp_report_nvlink(word, uuid, UINT32_MAX);
	assert_string_equal(word, "00112233-4455-6677-8899-aabbccddeeff.4294967295");
}

static void smpquery_names_the_switch(void **state)
{
	static const char text[] = "# Node info: DR path slid 65535; dlid 65535; 0,1\n"
				   "BaseVers:........................1\n"
				   "NodeType:........................Switch\n"
				   "SystemGuid:......................0xfc6a1c0300ee9999\n"
				   "Guid:............................0xfc6a1c0300ee1000\n"
				   "LocalPort:.......................13\n";
	uint64_t guid = 0;
	char other[sizeof(text)];

	(void)state;
	assert_int_equal(osp_smp_switch(text, &guid), 1);
	assert_true(guid == UINT64_C(0xfc6a1c0300ee1000));
	strcpy(other, text);
	memcpy(strstr(other, "Switch"), "Channl", 6);
	assert_int_equal(osp_smp_switch(other, &guid), 0);
	assert_int_equal(osp_smp_switch("", &guid), -1);
	assert_int_equal(osp_smp_switch("NodeType:.Switch\nGuid:.x\n", &guid), -1);
}

/* --- the book --------------------------------------------------------------------------------- */

static int take(struct osp_report_book *book, const char *node, int64_t boot_s, const char *nvlink)
{
	struct osp_place_report report = {.boot_s = boot_s};

	snprintf(report.node, sizeof(report.node), "%s", node);
	snprintf(report.nvlink, sizeof(report.nvlink), "%s", nvlink);
	return osp_report_book_take(book, &report, boot_s + 10);
}

static const char *nvlink_of(const struct osp_report_book *book, const char *node)
{
	const struct osp_place_report *report = osp_report_book_find(book, node, NULL);

	return report ? report->nvlink : NULL;
}

static void the_last_report_of_a_node_is_kept(void **state)
{
	struct osp_report_book *book = osp_report_book_new();
	int64_t heard_s;

	(void)state;
	assert_null(osp_report_book_find(book, "gpu-1", &heard_s));
	assert_int_equal(take(book, "gpu-1", BOOT_S, "a.1"), 1);
	assert_int_equal(take(book, "gpu-1", BOOT_S, "a.1"), 0);
	/* a clock that is set is no boot */
	assert_int_equal(take(book, "gpu-1", BOOT_S + 20, "a.1"), 0);
	assert_int_equal(osp_report_book_find(book, "gpu-1", &heard_s)->boot_s, BOOT_S);
	assert_int_equal(heard_s, BOOT_S + 30);
	/* what it cannot find out this time is as it was, in one boot */
	assert_int_equal(take(book, "gpu-1", BOOT_S, ""), 0);
	assert_string_equal(nvlink_of(book, "gpu-1"), "a.1");
	assert_int_equal(take(book, "gpu-1", BOOT_S, "-"), 1);
	assert_int_equal(take(book, "gpu-1", BOOT_S, "b.1"), 1);
	/* another boot knows nothing of this one, whichever clock is later */
	assert_int_equal(take(book, "gpu-1", BOOT_S + 1000, ""), 1);
	assert_string_equal(nvlink_of(book, "gpu-1"), "");
	assert_int_equal(take(book, "gpu-1", BOOT_S, "c.1"), 1);
	assert_string_equal(nvlink_of(book, "gpu-1"), "c.1");
	assert_int_equal(osp_report_book_count(book), 1);
	osp_report_book_free(book);
}

static void the_book_is_read_as_it_was_written(void **state)
{
	static const char text[] =
		"onespine-reports 1\nNODE BOOT HEARD INSTANCE NVLINK NEURON LEAVES\n"
		"gpu-2 1700000000 1700000100 ? " DOMAIN " - -\n"
		"gpu-10 1700000000 1700000100 i-0abc - 4.7 0x0000000000000001,0xfc6a1c0300ee1000\n"
		"gpu-11 1700000000 1700000100 - ? ? ?\n";
	struct osp_report_book *book = osp_report_book_read("f", text, strlen(text), NULL);
	char *again;

	(void)state;
	assert_non_null(book);
	assert_int_equal(osp_report_book_count(book), 3);
	assert_string_equal(nvlink_of(book, "gpu-2"), DOMAIN);
	assert_string_equal(nvlink_of(book, "gpu-11"), "");
	again = osp_report_book_write(book);
	assert_string_equal(again, text);
	free(again);
	osp_report_book_free(book);
}

static void what_is_no_book_is_refused(void **state)
{
#define FIRST "onespine-reports 1\nNODE BOOT HEARD INSTANCE NVLINK NEURON LEAVES\n"
	static const char *const texts[] = {
		"",
		"onespine-reports 2\n",
		FIRST "gpu-1\n",
		FIRST "gpu-1 1 2 - - -\n",
		FIRST "gpu-1 1 2 - - - - -\n",
		FIRST "gpu-1 1 x - - - -\n",
		FIRST "gpu-1 -1 2 - - - -\n",
		FIRST "gpu-1 1 2 - \x1b - -\n",
		FIRST "gpu-1 1 2 - - - 7\n",
		FIRST "gpu-1 1 2 - - - 0x7,,\n",
		FIRST "gpu-1  1 2 - - - -\n",
		FIRST "gpu-1 1 2 - - - -\ngpu-1 1 2 - - - -\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct osp_error error = {.text = ""};

		assert_null(osp_report_book_read("f", texts[i], strlen(texts[i]), &error));
		assert_string_not_equal(error.text, "");
		assert_string_equal(error.file, "f");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_is_read_as_it_was_written),
		cmocka_unit_test(what_is_not_known_is_passed_over),
		cmocka_unit_test(what_is_no_report_is_refused),
		cmocka_unit_test(sizes_and_zeroes),
		cmocka_unit_test(words_are_made_fit),
		cmocka_unit_test(smpquery_names_the_switch),
		cmocka_unit_test(the_last_report_of_a_node_is_kept),
		cmocka_unit_test(the_book_is_read_as_it_was_written),
		cmocka_unit_test(what_is_no_book_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
