/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_alike.c - what every GPU of the node computes wrong is not the GPUs' fault */
#include "check/runner/run_private.h"

#include <stdio.h>
#include <string.h>

/* Returns whether this says that our own kernel, or a library's, computed wrong or broke: it is no
 * speed, and what the driver names or never ends asks for a reset or a reboot. */
static bool is_of_computing(const struct osp_result *result)
{
	return result->verdict == OSP_VERDICT_FAIL && !result->speed &&
	       (result->cure == OSP_CURE_REPLACE || strcmp(result->value, "kernels break") == 0);
}

static bool computes_wrong(const struct osp_outcome *outcome, unsigned int order)
{
	for (size_t i = 0; i < outcome->result_count; i++)
		if (outcome->results[i].order == order && is_of_computing(&outcome->results[i]))
			return true;
	return false;
}

/* Returns whether all that were loaded compute wrong, and are two GPUs at least, not instances of
 * one. */
static bool all_wrong(const struct osp_outcome *outcome, const struct osp_unit *units, size_t count)
{
	const struct osp_unit *first = NULL;
	bool several = false;

	for (size_t i = 0; i < count; i++) {
		if (*units[i].left_alone)
			continue;
		if (!computes_wrong(outcome, (unsigned int)i))
			return false;
		several = several || (first && strcmp(first->address, units[i].address) != 0);
		first = first ? first : &units[i];
	}
	return several;
}

static void forgive(struct osp_outcome *outcome)
{
	outcome->verdict = OSP_VERDICT_SKIP;
	for (size_t i = 0; i < outcome->result_count; i++) {
		struct osp_result *result = &outcome->results[i];
		size_t length = strlen(result->why);

		if (is_of_computing(result)) {
			result->verdict = OSP_VERDICT_ERROR;
			result->cure = OSP_CURE_ASK;
			snprintf(result->why + length, sizeof(result->why) - length,
				 "; every GPU here does so: the check, the driver or a library is "
				 "at fault");
		}
		if (result->verdict > outcome->verdict)
			outcome->verdict = result->verdict;
	}
}

void osp_forgive_alike(struct osp_run *run, const struct osp_unit *units, size_t count)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->outcomes[i].check->group == OSP_GROUP_EACH_GPU &&
		    all_wrong(&run->outcomes[i], units, count))
			forgive(&run->outcomes[i]);
}
