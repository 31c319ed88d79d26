/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env_lint.c - what a job script sets, and what the rules say about it */
#include "lib/env/env_lint.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/env/script_shape.h"

/* The most letters by which a mistyped name is longer or shorter; if there are more, it is another
 * name. */
#define MISTYPED_MAX 2

struct osp_findings {
	struct osp_arena arena;		/* holds rules and settings made for a finding */
	struct osp_variable *variables; /* the script's, one for each setting that is in force */
	const struct osp_setting **settings; /* of each of these */
	struct osp_decisions *decisions;
	struct osp_finding *list;
	uint32_t count, room;
};

static int append(void *context, const struct osp_finding *finding)
{
	struct osp_findings *findings = context;

	if (osp_make_room((void **)&findings->list, &findings->room, findings->count,
			  sizeof(*findings->list)))
		return -1;
	findings->list[findings->count++] = *finding;
	return 0;
}

/* --- the rules -------------------------------------------------------------------------------- */

/* Turns a decision into a finding. Returns false if it has nothing against the script. */
static bool to_finding(const struct osp_findings *findings, const struct osp_decision *decision,
		       struct osp_finding *finding)
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
	finding->setting = findings->settings[decision->user - findings->variables];
	return true;
}

/* Compares by place; findings without one come last. Those at one place are equal, so the order of
 * the rules stays. */
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

/* Sorts the findings and keeps the order of equal ones, which qsort() might change. */
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

static int judge_by_rules(struct osp_findings *findings, const struct osp_rule_set *rules,
			  const struct osp_facts *facts, const struct osp_script *script)
{
	size_t settings = osp_script_count(script), count = 0;
	struct osp_finding finding;

	findings->variables = calloc(settings + 1, sizeof(*findings->variables));
	findings->settings = calloc(settings + 1, sizeof(struct osp_setting *));
	if (!findings->variables || !findings->settings)
		return -1;
	for (size_t i = 0; i < settings; i++) {
		const struct osp_setting *setting = osp_script_at(script, i);

		if (setting->gone)
			continue;
		findings->settings[count] = setting;
		findings->variables[count++] =
			(struct osp_variable){.name = setting->name,
					      .value = setting->value,
					      .unexpanded = setting->unexpanded,
					      .extends = setting->extends};
	}
	findings->decisions = osp_rules_decide(rules, facts, findings->variables, count, NULL);
	if (!findings->decisions)
		return -1;
	for (size_t i = 0; i < osp_decisions_count(findings->decisions); i++) {
		if (to_finding(findings, osp_decisions_at(findings->decisions, i), &finding) &&
		    append(findings, &finding))
			return -1;
	}
	return 0;
}

/* Returns whether the finding only guesses at a value that a shell still substitutes. */
static bool guesses(const struct osp_finding *finding)
{
	return !finding->certain && finding->setting && finding->setting->unexpanded;
}

/* Returns the gravest guess among the findings from `start` on that are about one setting; `end`
 * gets the end of these. */
static size_t gravest_guess(const struct osp_findings *findings, size_t start, size_t *end)
{
	const struct osp_finding *list = findings->list;
	size_t at = start, best = SIZE_MAX;

	for (; at < findings->count && list[at].setting == list[start].setting; at++) {
		if (guesses(&list[at]) &&
		    (best == SIZE_MAX || list[at].rule->severity < list[best].rule->severity))
			best = at;
	}
	*end = at;
	return best;
}

/* Keeps one guess about each setting, because several guesses about one unknown value say no more.
 * The findings are sorted, so those about one setting are consecutive. */
static void keep_gravest_guesses(struct osp_findings *findings)
{
	size_t kept = 0, end;

	for (size_t start = 0; start < findings->count; start = end) {
		size_t best = gravest_guess(findings, start, &end);

		for (size_t at = start; at < end; at++) {
			if (!guesses(&findings->list[at]) || at == best)
				findings->list[kept++] = findings->list[at];
		}
	}
	findings->count = kept;
}

/* --- variables that nothing reads ------------------------------------------------------------- */

/* Returns a copy in the arena, or NULL if memory ran out. */
static const char *keep(struct osp_findings *findings, const char *text)
{
	return osp_arena_copy(&findings->arena, text, strlen(text));
}

/* Writes the words of V1 and V2. */
static void describe(const struct osp_variable_judgement *judgement, char *reason,
		     size_t reason_bytes, char *cure, size_t cure_bytes)
{
	if (judgement->state == OSP_VARIABLE_MISSED)
		snprintf(reason, reason_bytes, "%s reads it in releases %s only", judgement->of,
			 judgement->range);
	else
		snprintf(reason, reason_bytes, "no release of %s reads it (%s were looked at)",
			 judgement->of, judgement->releases);
	if (judgement->nearest)
		snprintf(cure, cure_bytes, "%s, if that is meant", judgement->nearest);
	else
		snprintf(cure, cure_bytes, "leave it unset");
}

/* Returns whether programs get the variable and its name is near enough to a known one to be
 * mistyped. */
static bool is_mistyped(const struct osp_setting *setting, const char *nearest)
{
	size_t given = strlen(setting->name), meant = nearest ? strlen(nearest) : 0;

	return nearest && !setting->own && given <= meant + MISTYPED_MAX &&
	       meant <= given + MISTYPED_MAX;
}

/* Adds V1 for a name that nothing reads, and V2 for one that this release, or the newest, does not
 * read. */
static int find_unread(struct osp_findings *findings, const struct osp_setting *setting,
		       const struct osp_variable_judgement *judgement)
{
	bool missed = judgement->state == OSP_VARIABLE_MISSED;
	struct osp_rule *rule = osp_arena_take(&findings->arena, sizeof(*rule));
	struct osp_finding finding = {
		.rule = rule, .setting = setting, .variable = setting->name, .certain = true};
	char reason[256], cure[160];

	if (!rule)
		return -1;
	describe(judgement, reason, sizeof(reason), cure, sizeof(cure));
	rule->id = missed ? "V2" : "V1";
	rule->action = OSP_RULE_WARN;
	rule->severity = missed					    ? OSP_SEVERITY_OBSOLETE
			 : is_mistyped(setting, judgement->nearest) ? OSP_SEVERITY_HARMFUL
								    : OSP_SEVERITY_NOTE;
	rule->reason = keep(findings, reason);
	rule->cure = keep(findings, cure);
	rule->source = judgement->source;
	if (!rule->reason || !rule->cure)
		return -1;
	return append(findings, &finding);
}

static int judge_names(struct osp_findings *findings, const struct osp_variables *variables,
		       const struct osp_facts *facts, const struct osp_script *script)
{
	struct osp_variable_judgement judgement;

	for (size_t i = 0; i < osp_script_count(script); i++) {
		const struct osp_setting *setting = osp_script_at(script, i);

		if (setting->gone)
			continue;
		osp_variables_judge(variables, facts, setting->name, &judgement);
		if ((judgement.state == OSP_VARIABLE_UNKNOWN ||
		     judgement.state == OSP_VARIABLE_MISSED) &&
		    find_unread(findings, setting, &judgement))
			return -1;
	}
	return 0;
}

/* --- options ---------------------------------------------------------------------------------- */

/* Keeps the finding with a copy of its setting, which is not one of the script's. */
static int take_shape(void *context, const struct osp_finding *finding)
{
	struct osp_findings *findings = context;
	struct osp_finding kept = *finding;
	struct osp_setting *setting = osp_arena_take(&findings->arena, sizeof(*setting));

	if (!setting)
		return -1;
	*setting = *finding->setting;
	setting->name = keep(findings, finding->setting->name);
	setting->value = keep(findings, finding->setting->value);
	kept.setting = setting;
	kept.variable = setting->name;
	return setting->name && setting->value ? append(findings, &kept) : -1;
}

/* --- all -------------------------------------------------------------------------------------- */

static int collect(struct osp_findings *findings, const struct osp_rule_set *rules,
		   const struct osp_variables *variables, const struct osp_facts *given,
		   const struct osp_script *script)
{
	unsigned nodes = osp_script_nodes(script);
	struct osp_facts facts = *given;
	struct osp_finding *room;
	char words[16];

	snprintf(words, sizeof(words), "%u", nodes);
	if (nodes && !facts.facts[OSP_FACT_NODES].known)
		osp_facts_set(&facts, OSP_FACT_NODES, words, NULL);
	if (judge_by_rules(findings, rules, &facts, script) ||
	    (variables && judge_names(findings, variables, &facts, script)) ||
	    osp_script_shape(script, &facts, take_shape, findings))
		return -1;
	room = calloc(findings->count + 1, sizeof(*room));
	if (room)
		sort_findings(findings, room);
	free(room);
	if (room)
		keep_gravest_guesses(findings);
	return room ? 0 : -1;
}

struct osp_findings *osp_lint(const struct osp_rule_set *rules,
			      const struct osp_variables *variables, const struct osp_facts *facts,
			      const struct osp_script *script, struct osp_error *error)
{
	struct osp_findings *findings = calloc(1, sizeof(*findings));

	if (findings && !collect(findings, rules, variables, facts, script))
		return findings;
	osp_findings_free(findings);
	osp_error_set(error, "out of memory");
	return NULL;
}

void osp_findings_free(struct osp_findings *findings)
{
	if (!findings)
		return;
	osp_arena_free(&findings->arena);
	osp_decisions_free(findings->decisions);
	free(findings->variables);
	free(findings->settings);
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

bool osp_finding_holds(const struct osp_finding *finding)
{
	return finding->certain && !(finding->setting && finding->setting->doubt);
}

bool osp_finding_says_same(const struct osp_finding *before, const struct osp_finding *finding)
{
	return before && finding && before->setting && before->setting == finding->setting &&
	       !before->certain && !finding->certain &&
	       before->rule->severity == finding->rule->severity &&
	       strcmp(before->variable, finding->variable) == 0 &&
	       strcmp(before->rule->reason, finding->rule->reason) == 0;
}
