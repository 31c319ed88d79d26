/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_check_report.c - any output of a check as the gate's report of a node
 *
 * Parser: host/record/check_report.c
 */
#include "host/record/check_report.h"
#include "lib/gate/gate_message.h"
#include "tests/fuzz/fuzz.h"

/* A word of the report ends in its field, and has nothing that a terminal or a log obeys. */
static void check_word(const char *word, size_t bytes)
{
	fuzz_check(memchr(word, '\0', bytes));
	for (; *word; word++)
		fuzz_check((unsigned char)*word >= ' ' && *word != 0x7f);
}

FUZZER(check_report)
{
	struct osp_gate_report report = {.rank = 7};
	char *text = malloc(size + 1);

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	osp_check_report_read(text, &report);
	fuzz_check(report.rank == 7 && report.result != OSP_VERDICT_SILENT);
	fuzz_check(!report.absent && !report.blamed && !report.speed);
	check_word(report.check, sizeof(report.check));
	check_word(report.reason, sizeof(report.reason));
	check_word(report.boot, sizeof(report.boot));
	/* no output but a check's own fails a node */
	if (report.result == OSP_VERDICT_FAIL)
		fuzz_check(strstr(text, "FAIL") || strchr(text, '\\'));
	if (report.result == OSP_VERDICT_ERROR)
		fuzz_check(*report.reason);
	free(text);
	return 0;
}
