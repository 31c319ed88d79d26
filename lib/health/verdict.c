/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict.c - the result of a check, or of a whole node */
#include "lib/health/verdict.h"

#include <string.h>

static const char *const names[OSP_VERDICT_COUNT] = {
	[OSP_VERDICT_SKIP] = "SKIP",   [OSP_VERDICT_PASS] = "PASS", [OSP_VERDICT_WARN] = "WARN",
	[OSP_VERDICT_ERROR] = "ERROR", [OSP_VERDICT_FAIL] = "FAIL", [OSP_VERDICT_SILENT] = "SILENT",
};

const char *osp_verdict_name(enum osp_verdict verdict)
{
	return (unsigned int)verdict < OSP_VERDICT_COUNT ? names[verdict] : "?";
}

bool osp_verdict_find(const char *name, enum osp_verdict *verdict)
{
	for (int i = 0; i < OSP_VERDICT_COUNT; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*verdict = (enum osp_verdict)i;
		return true;
	}
	return false;
}
