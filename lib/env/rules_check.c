/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules_check.c - refuses rules that contradict each other or that no type meets */
#include "lib/env/rules_private.h"

#include <string.h>

#include "lib/base/glob.h"

static bool words_meet(const struct osp_word_list *a, const struct osp_word_list *b)
{
	for (size_t i = 0; i < a->count; i++) {
		for (size_t j = 0; j < b->count; j++) {
			if (osp_globs_meet(a->words[i], b->words[j]))
				return true;
		}
	}
	return false;
}

static bool conditions_meet(const struct osp_condition *a, const struct osp_condition *b)
{
	if (a->fact != b->fact)
		return true;
	switch (osp_fact_kind(a->fact)) {
	case OSP_FACT_VERSION:
	case OSP_FACT_NUMBER:
		return osp_ranges_meet(&a->range, &b->range);
	case OSP_FACT_FLAG:
		return a->flag == b->flag;
	case OSP_FACT_WORD:
		break;
	}
	return words_meet(&a->words, &b->words);
}

/* Returns whether both can hold on one node. Looks at each fact separately, so a yes may be wrong,
 * but a no never is. */
static bool rules_meet(const struct osp_rule *a, const struct osp_rule *b)
{
	for (size_t i = 0; i < a->condition_count; i++) {
		for (size_t j = 0; j < b->condition_count; j++) {
			if (!conditions_meet(&a->conditions[i], &b->conditions[j]))
				return false;
		}
	}
	return true;
}

/* Returns a variable about which both decide; NULL for none. */
static const char *shared_variable(const struct osp_rule *a, const struct osp_rule *b)
{
	for (size_t i = 0; i < a->variables.count; i++) {
		for (size_t j = 0; j < b->variables.count; j++) {
			if (!strcmp(a->variables.words[i], b->variables.words[j]))
				return a->variables.words[i];
		}
	}
	return NULL;
}

static bool disagree(const struct osp_rule *a, const struct osp_rule *b)
{
	if (!osp_rule_rules(a) || !osp_rule_rules(b) || a->rank != b->rank)
		return false;
	if (a->action != b->action)
		return true;
	return a->action == OSP_RULE_SET && strcmp(a->value, b->value) != 0;
}

int osp_rules_finish(const struct osp_rule_set *set, struct osp_error *error)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct osp_rule *b = &set->rules[i];

		for (size_t j = 0; j < i; j++) {
			const struct osp_rule *a = &set->rules[j];
			const char *variable;

			if (!disagree(a, b) || !(variable = shared_variable(a, b)) ||
			    !rules_meet(a, b))
				continue;
			return osp_error_at(
				error, b->file, b->line, b->column,
				"rule %.40s contradicts rule %.40s (%.120s:%d) about %.60s: both "
				"can hold of one node",
				b->id, a->id, a->file, a->line, variable);
		}
	}
	return 0;
}

/* Returns whether a type can meet the rule; what a node or a job adds is unknown. */
static bool type_can_meet(const struct osp_rule *rule, const struct osp_instance *instance)
{
	struct osp_facts facts;
	enum osp_fact_id unknown;

	memset(&facts, 0, sizeof(facts));
	osp_facts_take_instance(&facts, instance);
	return osp_rule_holds(rule, &facts, &unknown) != OSP_NO;
}

int osp_rules_reachable(const struct osp_rule_set *set, const struct osp_catalogue *catalogue,
			struct osp_error *error)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct osp_rule *rule = &set->rules[i];
		size_t type = 0, types = osp_catalogue_count(catalogue);

		if (rule->rank)
			continue;
		while (type < types && !type_can_meet(rule, osp_catalogue_at(catalogue, type)))
			type++;
		if (type == types)
			return osp_error_at(error, rule->file, rule->line, rule->column,
					    "rule %.60s: no type of the catalogue meets it",
					    rule->id);
	}
	return 0;
}
