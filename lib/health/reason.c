/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reason.c - the reason that Slurm shows for a node that Onespine drained */
#include "lib/health/reason.h"

#include <string.h>

bool osp_reason_is_ours(const char *reason)
{
	return reason && !strncmp(reason, OSP_REASON_PREFIX, strlen(OSP_REASON_PREFIX));
}

/* Returns whether `text` begins with the whole word `word`. */
static bool begins_with(const char *text, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(text, word, length) && (text[length] == ' ' || text[length] == '\0');
}

bool osp_reason_names(const char *reason, const char *check)
{
	const char *words, *second;

	if (!osp_reason_is_ours(reason) || !*check)
		return false;
	words = reason + strlen(OSP_REASON_PREFIX);
	if (begins_with(words, check))
		return true;
	second = strchr(words, ' ');
	return second && begins_with(second + 1, check);
}
