/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_config.c - onespine.yaml: refused with a place and words, or taken and shown
 *
 * Parser: lib/policy/config.c lib/gate/gate_policy.c lib/health/history_policy.c lib/base/value.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/base/document.h"
#include "lib/policy/config.h"

/* What is in force is always something, and its JSON is JSON. */
static void check_config(const struct osp_config *config)
{
	char *shown = osp_config_show(config, false);
	struct osp_document *document;

	for (size_t i = 0; i < osp_config_partition_count(config); i++) {
		const char *partition = osp_config_partition(config, i, NULL);
		const struct osp_policy *policy = osp_config_policy(config, partition);

		fuzz_check(policy->level[0] && policy->from_nodes >= 1 && policy->relax_s >= -1);
	}
	fuzz_check(shown && shown[0]);
	free(shown);
	shown = osp_config_show(config, true);
	document = osp_document_read("shown", shown, strlen(shown), NULL);
	fuzz_check(document);
	osp_document_free(document);
	free(shown);
}

FUZZER(config)
{
	struct osp_error error = {0};
	struct osp_config *config = osp_config_read("f", (const char *)data, size, &error);

	if (config)
		check_config(config);
	else
		fuzz_check(error.text[0] && error.line >= 0 && error.column >= 0);
	osp_config_free(config);
	return 0;
}
