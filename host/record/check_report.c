/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_report.c - reads the output of `onespine check --json` into the gate's report */
#include "onespine_config.h"
#include "host/record/check_report.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clean.h"
#include "lib/health/reason.h"

static void read_boot(struct osp_gate_report *report)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file)
		return;
	if (!fgets(report->boot, sizeof(report->boot), file))
		report->boot[0] = '\0';
	report->boot[strcspn(report->boot, "\n")] = '\0';
	fclose(file);
}

/*
 * Returns the check behind the verdict: the one that the reason names, else the first with this
 * verdict.
 */
static const json_t *find_check(const json_t *root, const char *verdict, const char *reason)
{
	const json_t *checks = json_object_get(root, "checks"), *found = NULL;

	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);
		const char *name = json_string_value(json_object_get(check, "name"));
		const char *its = json_string_value(json_object_get(check, "verdict"));

		if (!name || !its || strcmp(its, verdict) != 0)
			continue;
		if (osp_reason_names(reason, name))
			return check;
		found = found ? found : check;
	}
	return found;
}

/* Returns the words of the check's first result with this verdict: one that hung once has passed
 * too. */
static const char *why_of(const json_t *check, const char *verdict)
{
	const json_t *results = json_object_get(check, "results");

	for (size_t i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);
		const char *its = json_string_value(json_object_get(result, "verdict"));
		const char *why = json_string_value(json_object_get(result, "why"));

		if (its && why && strcmp(its, verdict) == 0)
			return why;
	}
	return "";
}

void osp_check_report_error(struct osp_gate_report *report, const char *why)
{
	report->result = OSP_VERDICT_ERROR;
	osp_copy_clean(report->reason, sizeof(report->reason), why);
}

void osp_check_report_read(const char *json, struct osp_gate_report *report)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL;
	const char *verdict = json_string_value(json_object_get(root, "verdict"));
	const char *reason = json_string_value(json_object_get(root, "reason"));
	const json_t *check;
	char words[OSP_GATE_REASON_BYTES];

	/* only a gang's node is silent, a check never */
	if (!verdict || !osp_verdict_find(verdict, &report->result) ||
	    report->result == OSP_VERDICT_SILENT) {
		osp_check_report_error(report, "the check said nothing that can be read");
		json_decref(root);
		return;
	}
	report->fresh = json_is_true(json_object_get(root, "fresh"));
	report->time_ms = (uint32_t)json_integer_value(json_object_get(root, "time_ms"));
	check = find_check(root, verdict, reason ? reason : "");
	if (check && report->result > OSP_VERDICT_PASS)
		osp_copy_clean(report->check, sizeof(report->check),
			       json_string_value(json_object_get(check, "name")));
	if (report->result == OSP_VERDICT_FAIL) {
		osp_copy_clean(report->reason, sizeof(report->reason), reason);
	} else if (report->result == OSP_VERDICT_ERROR) {
		snprintf(words, sizeof(words), "%.30s: %.160s", report->check,
			 why_of(check, verdict));
		osp_check_report_error(report, words);
	}
	if (report->result >= OSP_VERDICT_ERROR)
		read_boot(report);
	json_decref(root);
}
