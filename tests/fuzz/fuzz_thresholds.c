/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_thresholds.c - thresholds.yaml: refused with words, or every limit possible and with a
 * source
 *
 * Parser: lib/health/thresholds.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/health/thresholds_private.h"

FUZZER(thresholds)
{
	static const char *const checks[] = {"ecc", "clock"};
	struct osp_thresholds *thresholds = osp_thresholds_new();
	const struct osp_limit_entry *entry;
	struct osp_error error = {0};
	int64_t least, most;

	if (!thresholds)
		return 0;
	if (osp_thresholds_add(thresholds, "f", (const char *)data, size, checks, 2, &error)) {
		fuzz_check(error.text[0] && error.line >= 0 && error.column >= 0);
	} else {
		for (size_t i = 0; (entry = osp_thresholds_entry(thresholds, i)); i++) {
			osp_limit_range(entry->id, &least, &most);
			fuzz_check(entry->limit.value >= least && entry->limit.value <= most);
			fuzz_check(entry->limit.source[0] && entry->place);
		}
		fuzz_check(osp_thresholds_mode(thresholds, "ecc") <= OSP_CHECK_ENFORCE);
	}
	osp_thresholds_free(thresholds);
	return 0;
}
