/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_pass.c - a pass as a file: refused with words, or what is written again reads the same
 *
 * Parser: lib/health/pass_file.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/health/fresh.h"

FUZZER(pass)
{
	struct osp_text text = OSP_TEXT_INIT, again = OSP_TEXT_INIT;
	struct osp_error error = {0};
	struct osp_pass pass, other;

	if (osp_pass_read("f", (const char *)data, size, &pass, &error)) {
		fuzz_check(error.text[0] && error.line >= 0 && error.column >= 0);
		fuzz_check(!pass.state.counters && !pass.state.counter_count);
		return 0;
	}
	osp_pass_write(&pass, &text);
	fuzz_check(!osp_pass_read("g", text.data, text.length_bytes, &other, NULL));
	osp_pass_write(&other, &again);
	fuzz_check(strcmp(text.data, again.data) == 0);
	fuzz_check(osp_fresh(&pass, &other.state, pass.depth, UINT64_MAX, NULL, 0) <=
		   OSP_STALE_COUNTER);
	osp_text_free(&text);
	osp_text_free(&again);
	osp_pass_clear(&pass);
	osp_pass_clear(&other);
	return 0;
}
