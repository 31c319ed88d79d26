/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_versions.c - versions of the driver and libraries that are known not to work together */
#include "check/passive/passive.h"

#include <stdio.h>
#include <unistd.h>

#include "lib/env/version_rules.h"

struct taken {
	struct osp_check_context *context;
	size_t count;
};

static void take_bad(void *context, const struct osp_bad_versions *bad)
{
	struct taken *taken = context;

	osp_result_add(taken->context, OSP_VERDICT_WARN, OSP_CURE_ASK, bad->rule, bad->versions,
		       NULL, bad->source, "%s; %s", bad->reason,
		       bad->cure ? bad->cure : "see the source");
	taken->count++;
}

static void run_versions(struct osp_check_context *context)
{
	char found[OSP_VERSION_WORDS_BYTES], words[OSP_WHY_BYTES];
	struct taken taken = {.context = context};
	struct osp_error error = {.text = ""};

	if (!context->data || access(context->data, X_OK) < 0)
		osp_result_skip(context, "the rules are not installed here");
	else if (osp_version_rules(context->root, context->data, context->site, take_bad, &taken,
				   found, &error))
		osp_result_error(context, "", "%s", osp_error_format(&error, words, sizeof(words)));
	else if (!taken.count && *found)
		osp_result_pass(context, "%s", found);
	else if (!taken.count)
		osp_result_skip(context, "no file here names a version");
}

const struct osp_check osp_check_versions = {
	.name = "versions",
	.group = OSP_GROUP_NETWORK,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 3000,
	.measures = "driver, CUDA, NCCL, libfabric, EFA's installer and aws-ofi-nccl go together",
	.explains =
		"Reads versions from files where these are usually installed, and asks the rules "
		"that onespine env has too (doc/environment.md; a site adds its own in rules.d) "
		"for what is known not to work. What a job brings in a container is not seen. It "
		"warns at most: every node of a cluster has the same, and a job may have its own.",
	.cures = "Install what the result names.",
	.run = run_versions,
};
