/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules_decide.c - decides what the rules say about given facts and variables */
#include "lib/env/rules_private.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/glob.h"
#include "lib/base/text.h"

struct osp_decisions {
	struct osp_arena arena; /* holds values with facts filled in */
	struct osp_decision *list;
	size_t count, room;
};

/* --- conditions ------------------------------------------------------------------------------- */

static bool matches_any(const struct osp_word_list *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++) {
		if (osp_glob_matches(list->words[i], word))
			return true;
	}
	return false;
}

static enum osp_truth condition_holds(const struct osp_condition *condition,
				      const struct osp_fact *fact)
{
	if (!fact->known)
		return OSP_UNKNOWN;
	switch (osp_fact_kind(condition->fact)) {
	case OSP_FACT_VERSION:
	case OSP_FACT_NUMBER:
		return osp_range_holds(&condition->range, &fact->version);
	case OSP_FACT_FLAG:
		return condition->flag == fact->flag ? OSP_YES : OSP_NO;
	case OSP_FACT_WORD:
		break;
	}
	return matches_any(&condition->words, fact->text) ? OSP_YES : OSP_NO;
}

enum osp_truth osp_rule_holds(const struct osp_rule *rule, const struct osp_facts *facts,
			      enum osp_fact_id *unknown)
{
	enum osp_truth all = OSP_YES;

	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct osp_condition *condition = &rule->conditions[i];
		enum osp_truth one = condition_holds(condition, &facts->facts[condition->fact]);

		if (one == OSP_NO)
			return OSP_NO;
		if (one == OSP_UNKNOWN && all == OSP_YES) {
			all = OSP_UNKNOWN;
			*unknown = condition->fact;
		}
	}
	return all;
}

/* Returns whether `name` is one of the rule's variables or matches one. */
static bool rule_names(const struct osp_rule *rule, const char *name)
{
	return matches_any(&rule->variables, name);
}

/* Tells the same for a rule that sets or leaves, whose variables are no patterns. */
static bool lists(const struct osp_rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->variables.count; i++) {
		if (!strcmp(rule->variables.words[i], name))
			return true;
	}
	return false;
}

void osp_rules_note_names(struct osp_rule_set *set, const struct osp_rule *rule)
{
	for (size_t i = 0; i < rule->variables.count; i++) {
		unsigned char first = (unsigned char)rule->variables.words[i][0];

		if (strchr("*?[", first))
			memset(set->begins, true, sizeof(set->begins));
		set->begins[first] = true;
	}
}

bool osp_rules_name(const struct osp_rule_set *set, const char *name)
{
	if (!set->begins[(unsigned char)*name])
		return false;
	for (size_t i = 0; i < set->count; i++) {
		if (rule_names(&set->rules[i], name))
			return true;
	}
	return false;
}

bool osp_rules_set(const struct osp_rule_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->rules[i].action == OSP_RULE_SET && lists(&set->rules[i], name))
			return true;
	}
	return false;
}

/* --- one node's ------------------------------------------------------------------------------- */

static bool can_hold(const struct osp_rule *rule, const struct osp_facts *facts)
{
	enum osp_fact_id unknown;

	return osp_rule_holds(rule, facts, &unknown) != OSP_NO;
}

void osp_rules_narrow(struct osp_rule_set *set, const struct osp_facts *facts)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (can_hold(&set->rules[i], facts))
			set->rules[kept++] = set->rules[i];
	}
	set->count = kept;
}

/* Returns whether the rule leaves what one of a lower rank sets. Of two rules of one rank, only one
 * can hold. */
static bool leaves_any(const struct osp_rule_set *set, const struct osp_rule *rule)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct osp_rule *other = &set->rules[i];

		if (rule->action != OSP_RULE_LEAVE || other->action != OSP_RULE_SET ||
		    other->rank >= rule->rank)
			continue;
		for (size_t j = 0; j < rule->variables.count; j++) {
			if (lists(other, rule->variables.words[j]))
				return true;
		}
	}
	return false;
}

static struct osp_rule without_words(const struct osp_rule *rule)
{
	struct osp_rule bare = *rule;

	bare.reason = bare.source = "";
	bare.cure = NULL;
	return bare;
}

void osp_rules_narrow_to_set(struct osp_rule_set *set)
{
	size_t kept = 0;

	/* a rule that sets stays, so it is found even after it was moved */
	for (size_t i = 0; i < set->count; i++) {
		const struct osp_rule *rule = &set->rules[i];

		if (rule->action == OSP_RULE_SET || leaves_any(set, rule))
			set->rules[kept++] = without_words(rule);
	}
	set->count = kept;
}

/* --- two tasks' ------------------------------------------------------------------------------- */

static bool sets_fact(const struct osp_rule *rule, enum osp_fact_id id)
{
	const char *name = osp_fact_name(id), *at = rule->value;
	size_t length = strlen(name);

	while (at && (at = strstr(at, "${"))) {
		at += 2;
		if (!strncmp(at, name, length) && at[length] == '}')
			return true;
	}
	return false;
}

/* Returns whether a rule's condition asks for one of these facts; `sets` says whether its value has
 * one. */
static bool asks(const struct osp_rule *rule, const bool *facts, bool *sets)
{
	bool found = false;

	for (size_t i = 0; i < rule->condition_count; i++)
		found |= facts[rule->conditions[i].fact];
	*sets = false;
	for (int i = 0; i < OSP_FACT_COUNT; i++)
		*sets |= facts[i] && sets_fact(rule, (enum osp_fact_id)i);
	return found;
}

bool osp_rules_ask(const struct osp_rule_set *set, enum osp_fact_id fact)
{
	bool facts[OSP_FACT_COUNT] = {false}, sets, found = false;

	facts[fact] = true;
	for (size_t i = 0; i < set->count && !found; i++)
		found = asks(&set->rules[i], facts, &sets) || sets;
	return found;
}

bool osp_rules_agree(const struct osp_rule_set *set, const struct osp_facts *one,
		     const struct osp_facts *other)
{
	bool differ[OSP_FACT_COUNT], sets;
	enum osp_fact_id unknown;

	for (int i = 0; i < OSP_FACT_COUNT; i++)
		differ[i] = one->facts[i].known != other->facts[i].known ||
			    strcmp(one->facts[i].text, other->facts[i].text) != 0;
	for (size_t i = 0; i < set->count; i++) {
		const struct osp_rule *rule = &set->rules[i];
		bool asked = asks(rule, differ, &sets), holds;

		if (!asked && !sets)
			continue;
		holds = osp_rule_holds(rule, one, &unknown) == OSP_YES;
		if (holds != (osp_rule_holds(rule, other, &unknown) == OSP_YES) || (holds && sets))
			return false;
	}
	return true;
}

/* --- collecting ------------------------------------------------------------------------------- */

struct decider {
	const struct osp_rule_set *set;
	const struct osp_facts *facts;
	const struct osp_variable *variables;
	size_t variable_count;
	enum osp_truth *answers; /* of each rule */
	enum osp_fact_id *unknowns;
	struct osp_decisions *decisions;
};

static int add(struct osp_decisions *decisions, struct osp_decision decision)
{
	size_t room = decisions->room ? decisions->room * 2 : 64;
	struct osp_decision *larger;

	if (decisions->count == decisions->room) {
		larger = realloc(decisions->list, room * sizeof(*larger));
		if (!larger)
			return -1;
		decisions->list = larger;
		decisions->room = room;
	}
	decisions->list[decisions->count++] = decision;
	return 0;
}

static const struct osp_variable *find_user(const struct decider *decider, const char *name)
{
	for (size_t i = 0; i < decider->variable_count; i++) {
		if (!strcmp(decider->variables[i].name, name))
			return &decider->variables[i];
	}
	return NULL;
}

/* --- set and leave ---------------------------------------------------------------------------- */

/* Returns the rule that decides about a variable: of those that hold the highest, then the first;
 * SIZE_MAX for none. */
static size_t deciding_rule(const struct decider *decider, const char *name)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < decider->set->count; i++) {
		const struct osp_rule *rule = &decider->set->rules[i];

		if (decider->answers[i] != OSP_YES || !osp_rule_rules(rule) || !lists(rule, name))
			continue;
		if (best == SIZE_MAX || rule->rank > decider->set->rules[best].rank)
			best = i;
	}
	return best;
}

/* Replaces ${fact} by the facts. Returns 1 with `unknown` if one is unknown, -1 if memory ran
 * out. */
static int fill_value(struct decider *decider, const char *value, const char **result,
		      enum osp_fact_id *unknown)
{
	struct osp_text text = OSP_TEXT_INIT;
	const char *at = value, *next;
	char name[64], *string;

	while ((next = strstr(at, "${"))) {
		const char *end = strchr(next, '}');
		size_t length = end ? (size_t)(end - next - 2) : sizeof(name);
		enum osp_fact_id id;

		if (length >= sizeof(name))
			break;
		memcpy(name, next + 2, length);
		name[length] = '\0';
		if (osp_fact_find(name, &id, NULL))
			break;
		if (!decider->facts->facts[id].known) {
			*unknown = id;
			osp_text_free(&text);
			return 1;
		}
		osp_text_add_bytes(&text, at, (size_t)(next - at));
		osp_text_add(&text, decider->facts->facts[id].text);
		at = end + 1;
	}
	osp_text_add(&text, at);
	string = osp_text_take(&text);
	*result =
		string ? osp_arena_copy(&decider->decisions->arena, string, strlen(string)) : NULL;
	free(string);
	return *result ? 0 : -1;
}

static int decide_value(struct decider *decider, const struct osp_rule *rule, const char *name)
{
	struct osp_decision decision = {.outcome = OSP_OUTCOME_SET,
					.rule = rule,
					.variable = name,
					.user = find_user(decider, name)};
	int rc = fill_value(decider, rule->value, &decision.value, &decision.unknown);

	if (rc < 0)
		return -1;
	if (decision.user) {
		decision.outcome = OSP_OUTCOME_KEPT;
	} else if (rc) {
		decision.outcome = OSP_OUTCOME_OPEN;
		decision.value = rule->value;
	}
	return add(decider->decisions, decision);
}

/* Decides about one variable of a rule that sets or leaves. */
static int decide_variable(struct decider *decider, size_t index, const char *name)
{
	const struct osp_rule *rule = &decider->set->rules[index];
	struct osp_decision decision = {.rule = rule, .variable = name};

	if (decider->answers[index] == OSP_YES) {
		if (deciding_rule(decider, name) != index)
			return 0;
		if (rule->action == OSP_RULE_SET)
			return decide_value(decider, rule, name);
		decision.outcome = OSP_OUTCOME_LEFT;
		return add(decider->decisions, decision);
	}
	if (rule->action != OSP_RULE_SET || find_user(decider, name) ||
	    deciding_rule(decider, name) != SIZE_MAX)
		return 0;
	decision.outcome = OSP_OUTCOME_OPEN;
	decision.value = rule->value;
	decision.unknown = decider->unknowns[index];
	return add(decider->decisions, decision);
}

/* --- warn and unset --------------------------------------------------------------------------- */

/* Returns whether the rule means the user's value. If a shell still substitutes something, the
 * known part may be enough. */
static enum osp_truth value_is_meant(const struct osp_rule *rule, const struct osp_variable *user)
{
	if (!rule->is.count && !rule->is_not.count)
		return OSP_YES;
	if (!user->value)
		return OSP_UNKNOWN;
	if (rule->is_not.count && matches_any(&rule->is_not, user->value))
		return OSP_NO;
	if (rule->is.count && matches_any(&rule->is, user->value))
		return OSP_YES;
	if (user->unexpanded) /* the variable's earlier value does not come from this setting */
		return user->extends && rule->is.count ? OSP_NO : OSP_UNKNOWN;
	return rule->is.count ? OSP_NO : OSP_YES;
}

static int judge_user(struct decider *decider, size_t index, const struct osp_variable *user)
{
	const struct osp_rule *rule = &decider->set->rules[index];
	enum osp_truth meant = value_is_meant(rule, user);
	struct osp_decision decision = {.rule = rule, .variable = user->name, .user = user};

	if (meant == OSP_NO)
		return 0;
	if (meant == OSP_YES && decider->answers[index] == OSP_YES) {
		decision.outcome =
			rule->action == OSP_RULE_WARN ? OSP_OUTCOME_WARNED : OSP_OUTCOME_UNSET;
	} else {
		decision.outcome = OSP_OUTCOME_OPEN;
		decision.unknown = decider->answers[index] == OSP_YES ? OSP_FACT_COUNT
								      : decider->unknowns[index];
	}
	return add(decider->decisions, decision);
}

static int judge(struct decider *decider, size_t index)
{
	const struct osp_rule *rule = &decider->set->rules[index];

	if (!rule->variables.count)
		return decider->answers[index] == OSP_YES
			       ? add(decider->decisions,
				     (struct osp_decision){.outcome = OSP_OUTCOME_WARNED,
							   .rule = rule})
			       : 0;
	for (size_t i = 0; i < decider->variable_count; i++) {
		if (rule_names(rule, decider->variables[i].name) &&
		    judge_user(decider, index, &decider->variables[i]))
			return -1;
	}
	return 0;
}

static int decide_rule(struct decider *decider, size_t index)
{
	const struct osp_rule *rule = &decider->set->rules[index];

	if (decider->answers[index] == OSP_NO)
		return 0;
	if (!osp_rule_rules(rule))
		return judge(decider, index);
	for (size_t i = 0; i < rule->variables.count; i++) {
		if (decide_variable(decider, index, rule->variables.words[i]))
			return -1;
	}
	return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static int decide_all(struct decider *decider)
{
	size_t count = decider->set->count;

	decider->answers = calloc(count + 1, sizeof(*decider->answers));
	decider->unknowns = calloc(count + 1, sizeof(*decider->unknowns));
	decider->decisions = calloc(1, sizeof(*decider->decisions));
	if (!decider->answers || !decider->unknowns || !decider->decisions)
		return -1;
	for (size_t i = 0; i < count; i++)
		decider->answers[i] = osp_rule_holds(&decider->set->rules[i], decider->facts,
						     &decider->unknowns[i]);
	for (size_t i = 0; i < count; i++) {
		if (decide_rule(decider, i))
			return -1;
	}
	return 0;
}

struct osp_decisions *osp_rules_decide(const struct osp_rule_set *set,
				       const struct osp_facts *facts,
				       const struct osp_variable *variables, size_t variable_count,
				       struct osp_error *error)
{
	struct decider decider = {.set = set,
				  .facts = facts,
				  .variables = variables,
				  .variable_count = variable_count};

	if (decide_all(&decider)) {
		osp_error_set(error, "out of memory");
		osp_decisions_free(decider.decisions);
		decider.decisions = NULL;
	}
	free(decider.answers);
	free(decider.unknowns);
	return decider.decisions;
}

void osp_decisions_free(struct osp_decisions *decisions)
{
	if (!decisions)
		return;
	osp_arena_free(&decisions->arena);
	free(decisions->list);
	free(decisions);
}

size_t osp_decisions_count(const struct osp_decisions *decisions)
{
	return decisions->count;
}

const struct osp_decision *osp_decisions_at(const struct osp_decisions *decisions, size_t index)
{
	return &decisions->list[index];
}
