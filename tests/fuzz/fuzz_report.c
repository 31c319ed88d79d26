/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_report.c - what a node says of its own place, the file that keeps it, smpquery's answer:
 * whatever is taken is written back as what is read the same
 *
 * Parser: lib/topology/report.c lib/topology/report_book.c
 */
#include "lib/topology/report_book.h"
#include "tests/fuzz/fuzz.h"

static void check_report(const char *text, size_t size)
{
	struct osp_text once = OSP_TEXT_INIT, twice = OSP_TEXT_INIT;
	struct osp_place_report report, again;

	if (osp_report_read(text, size, &report, NULL))
		return;
	osp_report_write(&report, &once);
	fuzz_check(!once.failed && once.length_bytes <= OSP_REPORT_BYTES_MAX);
	fuzz_check(!osp_report_read(once.data, once.length_bytes, &again, NULL));
	osp_report_write(&again, &twice);
	fuzz_check(!strcmp(once.data, twice.data));
	osp_text_free(&once);
	osp_text_free(&twice);
}

static void check_book(const char *text, size_t size)
{
	struct osp_report_book *book = osp_report_book_read("f", text, size, NULL), *again;
	char *once, *twice;

	if (!book)
		return;
	once = osp_report_book_write(book);
	fuzz_check(once);
	again = osp_report_book_read("f", once, strlen(once), NULL);
	fuzz_check(again);
	twice = osp_report_book_write(again);
	fuzz_check(twice && !strcmp(once, twice));
	free(once);
	free(twice);
	osp_report_book_free(book);
	osp_report_book_free(again);
}

FUZZER(report)
{
	char *text = malloc(size + 1);
	uint64_t guid = 0;

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_report(text, size);
	check_book(text, size);
	if (osp_smp_switch(text, &guid) > 0)
		fuzz_check(guid);
	free(text);
	return 0;
}
