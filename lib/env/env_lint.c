/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/env/env_lint.h"

#include <stdlib.h>

struct osp_findings {
	struct osp_variable *variables; /* the script's, one a setting */
	struct osp_decisions *decisions;
	struct osp_finding *list;
	size_t count;
};

/* What a decision finds; false where it is nothing against the script. */
static bool to_finding(const struct osp_findings *findings, const struct osp_script *script,
		       const struct osp_decision *decision, struct osp_finding *finding)
{
	*finding = (struct osp_finding){.rule = decision->rule,
					.variable = decision->variable,
					.certain = decision->outcome != OSP_OUTCOME_OPEN};
	if (decision->outcome == OSP_OUTCOME_SET) {
		finding->value = decision->value;
		return decision->rule->severity == OSP_SEVERITY_MISSING;
	}
	if (decision->outcome == OSP_OUTCOME_KEPT || !decision->user)
		return false;
	finding->setting = osp_script_at(script, (size_t)(decision->user - findings->variables));
	return true;
}

/* By place; what has none last. Rules keep their order, for the places of one setting are equal. */
static int by_place(const void *a, const void *b)
{
	const struct osp_finding *first = a, *second = b;

	if (!first->setting || !second->setting)
		return !first->setting - !second->setting;
	if (first->setting->line != second->setting->line)
		return first->setting->line < second->setting->line ? -1 : 1;
	if (first->setting->column != second->setting->column)
		return first->setting->column < second->setting->column ? -1 : 1;
	return 0;
}

/* qsort() may change the order of equals; here it must not. */
static void sort_findings(struct osp_findings *findings, struct osp_finding *room)
{
	for (size_t width = 1; width < findings->count; width *= 2) {
		for (size_t start = 0; start < findings->count; start += 2 * width) {
			size_t middle = start + width, end = middle + width, i = start, j, k;

			middle = middle < findings->count ? middle : findings->count;
			end = end < findings->count ? end : findings->count;
			j = middle;
			for (k = start; k < end; k++) {
				bool left = i < middle &&
					    (j == end ||
					     by_place(&findings->list[i], &findings->list[j]) <= 0);

				room[k] = findings->list[left ? i++ : j++];
			}
		}
		for (size_t k = 0; k < findings->count; k++)
			findings->list[k] = room[k];
	}
}

static int collect(struct osp_findings *findings, const struct osp_rule_set *rules,
		   const struct osp_facts *facts, const struct osp_script *script)
{
	size_t settings = osp_script_count(script), decisions;
	struct osp_finding *room;

	findings->variables = calloc(settings + 1, sizeof(*findings->variables));
	if (!findings->variables)
		return -1;
	for (size_t i = 0; i < settings; i++) {
		const struct osp_setting *setting = osp_script_at(script, i);

		findings->variables[i] = (struct osp_variable){.name = setting->name,
							       .value = setting->value,
							       .unexpanded = setting->unexpanded,
							       .extends = setting->extends};
	}
	findings->decisions = osp_rules_decide(rules, facts, findings->variables, settings, NULL);
	if (!findings->decisions)
		return -1;
	decisions = osp_decisions_count(findings->decisions);
	findings->list = calloc(decisions + 1, sizeof(*findings->list));
	room = calloc(decisions + 1, sizeof(*room));
	for (size_t i = 0; findings->list && room && i < decisions; i++) {
		if (to_finding(findings, script, osp_decisions_at(findings->decisions, i),
			       &findings->list[findings->count]))
			findings->count++;
	}
	if (findings->list && room)
		sort_findings(findings, room);
	free(room);
	return findings->list && room ? 0 : -1;
}

struct osp_findings *osp_lint(const struct osp_rule_set *rules, const struct osp_facts *facts,
			      const struct osp_script *script, struct osp_error *error)
{
	struct osp_findings *findings = calloc(1, sizeof(*findings));

	if (findings && !collect(findings, rules, facts, script))
		return findings;
	osp_findings_free(findings);
	osp_error_set(error, "out of memory");
	return NULL;
}

void osp_findings_free(struct osp_findings *findings)
{
	if (!findings)
		return;
	osp_decisions_free(findings->decisions);
	free(findings->variables);
	free(findings->list);
	free(findings);
}

size_t osp_findings_count(const struct osp_findings *findings)
{
	return findings->count;
}

const struct osp_finding *osp_findings_at(const struct osp_findings *findings, size_t index)
{
	return &findings->list[index];
}
