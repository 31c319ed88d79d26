/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outcome.c - what is kept of the checks' reports */
#include "check/runner/run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits a result: a check may not report worse than it is allowed to, and what is missing soon
 * after boot is no fault yet. */
static void judge(const struct osp_check_context *context, const struct osp_check *check,
		  struct osp_result *result)
{
	const struct osp_limit *settle = osp_check_limit(context, OSP_LIMIT_BOOT_SETTLE_S, NULL);
	size_t length = strlen(result->why);

	if (result->verdict != OSP_VERDICT_FAIL)
		return;
	if (check->worst < OSP_VERDICT_FAIL)
		result->verdict = check->worst;
	if (check->settles && settle && context->uptime_s < (uint64_t)settle->value) {
		result->verdict = OSP_VERDICT_ERROR;
		snprintf(result->why + length, sizeof(result->why) - length,
			 " (booted %llu s ago: it may still come)",
			 (unsigned long long)context->uptime_s);
	}
}

int osp_outcome_add(const struct osp_check_context *context, struct osp_outcome *outcome,
		    const struct osp_result *result, struct osp_error *error)
{
	struct osp_result *results;

	if (outcome->result_count == OSP_RESULTS_MAX)
		return 0;
	results = realloc(outcome->results, (outcome->result_count + 1) * sizeof(*results));
	if (!results)
		return osp_error_set(error, "out of memory");
	outcome->results = results;
	results[outcome->result_count] = *result;
	judge(context, outcome->check, &results[outcome->result_count]);
	if (results[outcome->result_count].verdict > outcome->verdict)
		outcome->verdict = results[outcome->result_count].verdict;
	outcome->result_count++;
	return 0;
}

int osp_outcome_add_speed(struct osp_outcome *outcome, const struct osp_speed *speed,
			  struct osp_error *error)
{
	struct osp_speed *speeds;

	if (outcome->speed_count == OSP_RESULTS_MAX)
		return 0;
	speeds = realloc(outcome->speeds, (outcome->speed_count + 1) * sizeof(*speeds));
	if (!speeds)
		return osp_error_set(error, "out of memory");
	outcome->speeds = speeds;
	speeds[outcome->speed_count++] = *speed;
	return 0;
}

int osp_outcome_add_figure(struct osp_outcome *outcome, const struct osp_figure *figure,
			   struct osp_error *error)
{
	struct osp_figure *figures;

	if (outcome->figure_count == OSP_FIGURES_MAX)
		return 0;
	figures = realloc(outcome->figures, (outcome->figure_count + 1) * sizeof(*figures));
	if (!figures)
		return osp_error_set(error, "out of memory");
	outcome->figures = figures;
	figures[outcome->figure_count++] = *figure;
	return 0;
}

int osp_outcome_own(const struct osp_check_context *context, struct osp_outcome *outcome,
		    enum osp_verdict verdict, enum osp_cure cure, const struct osp_unit *unit,
		    unsigned int order, const char *value, const char *why, struct osp_error *error)
{
	struct osp_result result = {.verdict = verdict, .cure = cure, .order = order};

	snprintf(result.subject, sizeof(result.subject), "%s", unit ? unit->subject : "");
	snprintf(result.value, sizeof(result.value), "%s", value);
	snprintf(result.why, sizeof(result.why), "%s", why);
	return osp_outcome_add(context, outcome, &result, error);
}

/* Sorts by insertion, which is stable and suits results that come nearly in order. */
void osp_outcome_sort(struct osp_outcome *outcome)
{
	struct osp_result *results = outcome->results, moved;
	size_t to;

	for (size_t i = 1; i < outcome->result_count; i++) {
		moved = results[i];
		for (to = i; to > 0 && results[to - 1].order > moved.order; to--)
			results[to] = results[to - 1];
		results[to] = moved;
	}
}
