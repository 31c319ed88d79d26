/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules: what is read, every refusal in its exact words, what is decided, and ours as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/env/rules_private.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The keys that every rule needs and few tests are about. */
#define REST ", severity: note, reason: r, cure: c, source: 'https://s'}\n"
#define SET(id, when, variable, value)                                                             \
	"  - {id: " id ", when: {" when "}, action: set, variable: " variable ", value: '" value   \
	"'" REST
#define LEAVE(id, when, variable)                                                                  \
	"  - {id: " id ", when: {" when "}, action: leave, variable: " variable REST
#define WARN(id, when, rest) "  - {id: " id ", when: {" when "}, action: warn" rest REST

static int add(struct osp_rule_set *rules, uint32_t rank, const char *text, struct osp_error *error)
{
	return osp_rules_add(rules, rank, "r.yaml", text, strlen(text), error);
}

static struct osp_rule_set *read_rules(const char *ours, const char *site)
{
	struct osp_rule_set *rules = osp_rules_new(NULL);
	struct osp_error error = {.text = ""};
	char words[900];

	if (add(rules, 0, ours, &error) || (site && add(rules, 1, site, &error)) ||
	    osp_rules_finish(rules, &error))
		fail_msg("%s", osp_error_format(&error, words, sizeof(words)));
	return rules;
}

/* All decisions in words, "set A=1 [x]; open B=2 nccl [y]"; with `name`, those about that variable
 * that are not open. */
static void add_decisions(const struct osp_decisions *decisions, const char *name,
			  struct osp_text *text)
{
	static const char *const names[] = {"set", "kept", "left", "warned", "unset", "open"};

	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *one = osp_decisions_at(decisions, i);

		if (name && (!one->variable || strcmp(one->variable, name) != 0 ||
			     one->outcome == OSP_OUTCOME_OPEN))
			continue;
		osp_text_printf(text, "%s%s", text->length_bytes ? "; " : "", names[one->outcome]);
		if (one->variable)
			osp_text_printf(text, " %s", one->variable);
		if (one->value)
			osp_text_printf(text, "=%s", one->value);
		if (one->user)
			osp_text_printf(text, " (%s)", one->user->value);
		if (one->outcome == OSP_OUTCOME_OPEN)
			osp_text_printf(text, " %s",
					one->unknown < OSP_FACT_COUNT ? osp_fact_name(one->unknown)
								      : "value");
		osp_text_printf(text, " [%s]", one->rule->id);
	}
}

/* All of these facts and variables. */
static char *decide(const struct osp_rule_set *rules, const char *list,
		    const struct osp_variable *variables, size_t count)
{
	struct osp_decisions *decisions;
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_facts facts;

	memset(&facts, 0, sizeof(facts));
	if (*list)
		assert_int_equal(osp_facts_set_list(&facts, list, NULL), 0);
	decisions = osp_rules_decide(rules, &facts, variables, count, NULL);
	assert_non_null(decisions);
	osp_text_add(&text, "");
	add_decisions(decisions, NULL, &text);
	osp_decisions_free(decisions);
	return osp_text_take(&text);
}

static void expect(const struct osp_rule_set *rules, const char *facts, const char *user_value,
		   const char *expected)
{
	struct osp_variable user = {.name = "A", .value = user_value};
	char *words = decide(rules, facts, &user, user_value ? 1 : 0);

	assert_string_equal(words, expected);
	free(words);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void refusals(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"rule: []\n", "r.yaml:1:1: unknown key 'rule'; did you mean rules?"},
		{"rules:\n  - {idd: x}\n", "r.yaml:2:6: unknown key 'idd'; did you mean id?"},
		{"rules:\n  - {when: {}}\n", "r.yaml:2:5: a rule needs the key id"},
		{"rules:\n  - {id: x, severity: note}\n",
		 "r.yaml:2:5: a rule needs the key action"},
		{"rules:\n  - {id: x, action: set}\n", "r.yaml:2:5: a rule needs the key severity"},
		{"rules:\n  - {id: x, action: sett, severity: note}\n",
		 "r.yaml:2:21: action: one of set, leave, warn, unset is expected, not 'sett'; did "
		 "you mean set?"},
		{"rules:\n  - {id: x, action: set, severity: note, reason: r}\n",
		 "r.yaml:2:5: a rule needs the key source"},
		{"rules:\n" SET("x", "ncll: '2'", "A", "1"),
		 "r.yaml:2:20: unknown fact 'ncll'; did you mean nccl?"},
		{"rules:\n" SET("x", "nccl: '>=2.x'", "A", "1"),
		 "r.yaml:2:31: nccl: a number is expected at 'x' of '>=2.x'"},
		{"rules:\n" SET("x", "nccl: '>=2,<1'", "A", "1"),
		 "r.yaml:2:27: nccl: no version can be in the range '>=2,<1'"},
		{"rules:\n" SET("x", "container: 3", "A", "1"),
		 "r.yaml:2:31: container: true or false is expected, not '3'"},
		{"rules:\n" SET("x", "fabric: efaa", "A", "1"),
		 "r.yaml:2:28: fabric: one of efa, infiniband, roce, slingshot, ethernet is "
		 "expected, not 'efaa'; did you mean efa?"},
		{"rules:\n" SET("x", "vendor: [amd, nvidea*]", "A", "1"),
		 "r.yaml:2:34: one of nvidia, amd, aws is expected, not 'nvidea*'; did you mean "
		 "nvidia?"},
		{"rules:\n" SET("x", "fabric: EFA", "A", "1"),
		 "r.yaml:2:28: fabric: efa is expected, not 'EFA'"},
		{"rules:\n" SET("x", "", "A", "${defalt_interface}"),
		 "r.yaml:2:59: value: unknown fact 'defalt_interface'; did you mean "
		 "default_interface?"},
		{"rules:\n" SET("x", "", "A", "${nccl}"), "r.yaml:2:59: value: ${nccl} is no word"},
		{"rules:\n" SET("x", "", "A", "${nccl"), "r.yaml:2:57: value: ${fact} is expected"},
		{"rules:\n" SET("x", "", "'A*'", "1"),
		 "r.yaml:2:46: variable: a variable's name is expected, not 'A*' (a pattern only "
		 "where action is warn or unset)"},
		{"rules:\n  - {id: x, action: set, variable: A" REST,
		 "r.yaml:2:5: rule x: action set needs a value"},
		{"rules:\n  - {id: x, action: leave, variable: A, value: '1'" REST,
		 "r.yaml:2:5: rule x: only action set has a value"},
		{"rules:\n  - {id: x, action: unset" REST, "r.yaml:2:5: rule x: needs a variable"},
		{"rules:\n  - {id: x, action: warn" REST,
		 "r.yaml:2:5: rule x: needs a variable or a condition"},
		{"rules:\n  - {id: x, action: leave, variable: A, is: '1'" REST,
		 "r.yaml:2:5: rule x: only actions warn and unset have is and not"},
		{"rules:\n  - {id: x, action: warn, variable: A, severity: note, reason: r, "
		 "source: s}\n",
		 "r.yaml:2:5: rule x: actions warn and unset need a cure"},
		{"rules:\n" LEAVE("x", "", "A") LEAVE("x", "", "B"),
		 "r.yaml:3:5: rule x is given twice (first at r.yaml:2)"},
		{"rules: {}\n", "r.yaml:1:8: rules: a list of rules is expected"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_rule_set *rules = osp_rules_new(NULL);
		struct osp_error error = {.text = ""};
		char words[900];

		assert_int_equal(add(rules, 0, cases[i].text, &error), -1);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)), cases[i].words);
		osp_rules_free(rules);
	}
	osp_rules_free(NULL);
}

/* Each pair of rules of one file, and whether it stands. */
static void contradictions(void **state)
{
	static const struct {
		const char *text;
		const char *words; /* NULL: stands */
	} cases[] = {
		{SET("x", "nccl: '<2'", "A", "1") SET("y", "nccl: '>=2'", "A", "2"), NULL},
		{SET("x", "nccl: '<=2'", "A", "1") SET("y", "nccl: '>=2'", "A", "2"),
		 "r.yaml:3:5: rule y contradicts rule x (r.yaml:2) about A: both can hold of one "
		 "node"},
		{SET("x", "nccl: '<=2'", "A", "1") SET("y", "nccl: '>=2'", "A", "1"), NULL},
		{SET("x", "", "[B, A]", "1") LEAVE("y", "nodes: '4'", "A"),
		 "r.yaml:3:5: rule y contradicts rule x (r.yaml:2) about A: both can hold of one "
		 "node"},
		{SET("x", "container: no", "A", "1") LEAVE("y", "container: yes", "A"), NULL},
		{SET("x", "instance: 'p5.*'", "A", "1") SET("y", "instance: 'p6*'", "A", "2"),
		 NULL},
		{SET("x", "instance: 'p5*'", "A", "1") SET("y", "instance: 'p5e.*'", "A", "2"),
		 "r.yaml:3:5: rule y contradicts rule x (r.yaml:2) about A: both can hold of one "
		 "node"},
		{SET("x", "fabric: [efa, roce]", "A", "1") SET("y", "fabric: infiniband", "A", "2"),
		 NULL},
		{SET("x", "ofi: '1'", "A", "1") WARN("y", "ofi: '1'", ", variable: A"), NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_rule_set *rules = osp_rules_new(NULL);
		struct osp_error error = {.text = ""};
		char text[2000], words[900];

		snprintf(text, sizeof(text), "rules:\n%s", cases[i].text);
		assert_int_equal(add(rules, 0, text, NULL), 0);
		assert_int_equal(osp_rules_finish(rules, &error), cases[i].words ? -1 : 0);
		assert_string_equal(osp_error_format(&error, words, sizeof(words)),
				    cases[i].words ? cases[i].words : "");
		osp_rules_free(rules);
	}
}

static void unreachable_rules(void **state)
{
	static const char types[] = "source: s\n"
				    "instances:\n"
				    "  p5.48xlarge: {fabric: efa, vendor: nvidia}\n"
				    "  g5.xlarge: {fabric: ethernet, vendor: nvidia}\n";
	static const struct {
		const char *when;
		bool reachable;
	} cases[] = {
		{"instance: 'p5.*'", true},
		{"instance: 'p55.*'", false},
		{"instance: 'g5.*', fabric: efa", false},
		{"instance: 'g5.*', nccl: '>=2'", true}, /* what a node adds is not known */
		{"vendor: amd", false},
	};
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);

	(void)state;
	assert_int_equal(osp_catalogue_add(catalogue, 0, "t", types, strlen(types), NULL), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_rule_set *rules = osp_rules_new(NULL);
		struct osp_error error = {.text = ""};
		char text[500];

		snprintf(text, sizeof(text),
			 "rules:\n  - {id: x, when: {%s}, action: leave, "
			 "variable: A" REST,
			 cases[i].when);
		assert_int_equal(add(rules, 0, text, NULL), 0);
		assert_int_equal(osp_rules_reachable(rules, catalogue, &error),
				 cases[i].reachable ? 0 : -1);
		assert_string_equal(error.text, cases[i].reachable
							? ""
							: "rule x: no type of the catalogue meets "
							  "it");
		osp_rules_free(rules);
	}
	osp_catalogue_free(catalogue);
}

/* --- deciding --------------------------------------------------------------------------------- */

static void what_is_unknown_sets_nothing(void **state)
{
	struct osp_rule_set *rules =
		read_rules("rules:\n" SET("x", "fabric: efa, nccl: '<2.20'", "A", "1")
				   WARN("w", "nccl: '2.19'", ""),
			   NULL);

	(void)state;
	expect(rules, "", NULL, "open A=1 fabric [x]");
	expect(rules, "fabric=efa", NULL, "open A=1 nccl [x]");
	expect(rules, "fabric=efa,nccl=2", NULL, "open A=1 nccl [x]");
	expect(rules, "fabric=efa,nccl=2.19", NULL, "set A=1 [x]; warned [w]");
	expect(rules, "fabric=efa,nccl=2.20", NULL, "");
	expect(rules, "fabric=roce", NULL, "");
	expect(rules, "fabric=efa,nccl=2.19", "7", "kept A=1 (7) [x]; warned [w]");
	expect(rules, "fabric=efa", "7", "");
	osp_rules_free(rules);
}

static void values_take_facts(void **state)
{
	struct osp_rule_set *rules = read_rules(
		"rules:\n" SET("x", "", "A", "=${default_interface}:${provider}!"), NULL);

	(void)state;
	expect(rules, "default_interface=ens32,provider=aws", NULL, "set A==ens32:aws! [x]");
	expect(rules, "default_interface=ens32", NULL,
	       "open A==${default_interface}:${provider}! provider [x]");
	osp_rules_free(rules);
}

static void the_higher_rank_decides(void **state)
{
	static const char ours[] =
		"rules:\n" SET("x", "fabric: efa", "A", "1") SET("y", "", "B", "1");
	struct osp_rule_set *rules;

	(void)state;
	rules = read_rules(ours, "rules:\n" SET("s", "nodes: '>1'", "A", "2"));
	expect(rules, "fabric=efa,nodes=2", NULL, "set B=1 [y]; set A=2 [s]");
	expect(rules, "fabric=efa,nodes=1", NULL, "set A=1 [x]; set B=1 [y]");
	expect(rules, "fabric=efa,nodes=2", "9", "set B=1 [y]; kept A=2 (9) [s]");
	osp_rules_free(rules);
	rules = read_rules(ours, "rules:\n" LEAVE("s", "", "[A, B]"));
	expect(rules, "fabric=efa", NULL, "left A [s]; left B [s]");
	osp_rules_free(rules);
	/* two that agree: the first */
	rules = read_rules("rules:\n" SET("x", "", "A", "1") SET("y", "nodes: '2'", "A", "1"),
			   NULL);
	expect(rules, "nodes=2", NULL, "set A=1 [x]");
	osp_rules_free(rules);
	/* one of the same id takes its place */
	rules = read_rules(ours, "rules:\n" SET("y", "", "C", "3"));
	expect(rules, "fabric=efa", NULL, "set A=1 [x]; set C=3 [y]");
	osp_rules_free(rules);
}

static void values_are_judged(void **state)
{
	struct osp_rule_set *rules = read_rules(
		"rules:\n" WARN(
			"w", "",
			", variable: 'A*', is: ['1', 'x*'], not: 'xy'") "  - {id: u, when: "
									"{rdma_read: no}, action: "
									"unset, variable: A" REST,
		NULL);
	struct osp_variable unexpanded = {.name = "A", .value = "$B", .unexpanded = true};
	char *words;

	(void)state;
	expect(rules, "rdma_read=no", "1", "warned A (1) [w]; unset A (1) [u]");
	expect(rules, "rdma_read=no", "xz", "warned A (xz) [w]; unset A (xz) [u]");
	expect(rules, "rdma_read=no", "xy", "unset A (xy) [u]");
	expect(rules, "rdma_read=yes", "2", "");
	expect(rules, "", "2", "open A (2) rdma_read [u]");
	words = decide(rules, "rdma_read=yes", &unexpanded, 1);
	assert_string_equal(words, "open A ($B) value [w]");
	free(words);
	unexpanded.value = "x$B";
	words = decide(rules, "rdma_read=yes", &unexpanded, 1);
	assert_string_equal(words, "warned A (x$B) [w]");
	free(words);
	osp_rules_free(rules);
}

/* --- ours ------------------------------------------------------------------------------------- */

static struct osp_rule_set *ours(void)
{
	struct osp_rule_set *rules = osp_rules_new(NULL);
	struct osp_error error = {.text = ""};
	const char *source = getenv("srcdir");
	char folder[512], words[900];

	snprintf(folder, sizeof(folder), "%s/etc/rules", source ? source : ".");
	if (osp_rules_add_folder(rules, folder, 0, &error) || osp_rules_finish(rules, &error))
		fail_msg("%s", osp_error_format(&error, words, sizeof(words)));
	return rules;
}

static const struct osp_rule *find_rule(const struct osp_rule_set *rules, const char *id)
{
	for (size_t i = 0; i < rules->count; i++) {
		if (!strcmp(rules->rules[i].id, id))
			return &rules->rules[i];
	}
	return NULL;
}

static struct osp_catalogue *our_types(void)
{
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	const char *source = getenv("srcdir");
	char folder[512];

	snprintf(folder, sizeof(folder), "%s/etc/instances", source ? source : ".");
	assert_int_equal(osp_catalogue_add_folder(catalogue, folder, 0, NULL), 0);
	return catalogue;
}

static void ours_stand_together(void **state)
{
	struct osp_catalogue *catalogue = our_types();
	struct osp_rule_set *rules = ours();
	struct osp_error error = {.text = ""};
	char words[900];

	(void)state;
	if (osp_rules_reachable(rules, catalogue, &error))
		fail_msg("%s", osp_error_format(&error, words, sizeof(words)));
	for (size_t i = 0; i < rules->count; i++) {
		const struct osp_rule *rule = &rules->rules[i];

		if (!strstr(rule->source, "https://"))
			fail_msg("rule %s has no source that can be opened", rule->id);
	}
	osp_catalogue_free(catalogue);
	osp_rules_free(rules);
}

/* --- every rule of ours decides of some node ------------------------------------------------- */

/* Makes what a condition asks for known, so that it holds. */
static void meet(const struct osp_condition *condition, struct osp_facts *facts)
{
	static const char *const versions[] = {
		"0",	  "1",	  "1.5",    "1.6.1",  "1.9.0",	"1.12.0", "1.13.2",
		"1.14.2", "1.16", "1.17.1", "1.18.0", "1.19",	"1.20",	  "1.21.1",
		"1.22",	  "1.28", "1.38",   "2.1",    "2.6",	"2.16",	  "2.19",
		"2.21",	  "2.25", "2.27",   "2.28",   "2.28.9", "2.30.5", "2.31.2",
		"5.10",	  "6.1",  "12.4",   "13.0",   "65536",	"262144",
	};
	struct osp_fact *fact = &facts->facts[condition->fact];
	char word[OSP_FACT_BYTES];

	if (fact->known)
		return;
	switch (osp_fact_kind(condition->fact)) {
	case OSP_FACT_FLAG:
		osp_facts_set(facts, condition->fact, condition->flag ? "yes" : "no", NULL);
		break;
	case OSP_FACT_WORD:
		snprintf(word, sizeof(word), "%s", condition->words.words[0]);
		word[strcspn(word, "*?[")] = '\0';
		osp_facts_set(facts, condition->fact, word, NULL);
		break;
	case OSP_FACT_VERSION:
	case OSP_FACT_NUMBER:
		for (size_t i = 0; i < COUNT(versions); i++) {
			if (!osp_facts_set(facts, condition->fact, versions[i], NULL) &&
			    osp_range_holds(&condition->range, &fact->version) == OSP_YES)
				return;
			*fact = (struct osp_fact){.known = false};
		}
		break;
	}
}

/* On a node of this type, of which else is known what the rule asks for. */
static bool decides(const struct osp_rule_set *rules, const struct osp_rule *rule,
		    const struct osp_instance *type)
{
	struct osp_decisions *decisions;
	struct osp_facts facts;
	enum osp_fact_id unknown;
	bool found = false;

	memset(&facts, 0, sizeof(facts));
	osp_facts_take_instance(&facts, type);
	for (size_t i = 0; i < rule->condition_count; i++)
		meet(&rule->conditions[i], &facts);
	if (osp_rule_holds(rule, &facts, &unknown) != OSP_YES)
		return false;
	if (rule->action == OSP_RULE_WARN || rule->action == OSP_RULE_UNSET)
		return true;
	decisions = osp_rules_decide(rules, &facts, NULL, 0, NULL);
	for (size_t i = 0; i < osp_decisions_count(decisions); i++)
		found |= osp_decisions_at(decisions, i)->rule == rule;
	osp_decisions_free(decisions);
	return found;
}

/* The id of the first that none of the types lets decide; NULL for none. */
static const char *find_idle(const struct osp_rule_set *rules,
			     const struct osp_catalogue *catalogue)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct osp_rule *rule = &rules->rules[i];
		size_t type = 0;

		while (type < osp_catalogue_count(catalogue) &&
		       !decides(rules, rule, osp_catalogue_at(catalogue, type)))
			type++;
		if (type == osp_catalogue_count(catalogue))
			return rule->id;
	}
	return NULL;
}

static void each_of_ours_decides_somewhere(void **state)
{
	struct osp_catalogue *catalogue = our_types();
	struct osp_rule_set *rules = ours();
	struct osp_rule_set *hidden =
		read_rules("rules:\n" LEAVE("a", "vendor: nvidia", "A")
				   LEAVE("b", "vendor: nvidia, nccl: '>=2.21'", "A"),
			   NULL);

	(void)state;
	if (find_idle(rules, catalogue))
		fail_msg("rule %s never decides", find_idle(rules, catalogue));
	assert_string_equal(find_idle(hidden, catalogue), "b");
	osp_catalogue_free(catalogue);
	osp_rules_free(rules);
	osp_rules_free(hidden);
}

/* What a step's tasks may share of its decisions. */
static void facts_agree(void **state)
{
	static const struct {
		const char *one, *other;
		bool agree;
	} cases[] = {
		{"nccl=2.20,nodes=2", "nccl=2.20,nodes=2", true},
		{"nccl=2.20", "nccl=2.21", true}, /* no rule tells them apart */
		{"nccl=2.20", "nccl=2.18", false},
		{"nccl=2.20", "nodes=1", false},
		{"nodes=1", "nccl=2.18", true}, /* not known is as good as not */
		{"nodes=2", "nodes=3", true},
		{"nodes=2,instance=p5", "nodes=2,instance=p6", true},
		{"nodes=4,instance=p5", "nodes=4,instance=p6",
		 false}, /* it stands in what is set */
		{"nodes=4,instance=p5", "nodes=4", false},
	};
	struct osp_rule_set *rules =
		read_rules("rules:\n" SET("a", "nccl: '>=2.19'", "A", "1")
				   SET("b", "nodes: '>3'", "B", "x${instance}y"),
			   NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_facts one, other;

		memset(&one, 0, sizeof(one));
		memset(&other, 0, sizeof(other));
		assert_int_equal(osp_facts_set_list(&one, cases[i].one, NULL), 0);
		assert_int_equal(osp_facts_set_list(&other, cases[i].other, NULL), 0);
		if (osp_rules_agree(rules, &one, &other) != cases[i].agree ||
		    osp_rules_agree(rules, &other, &one) != cases[i].agree)
			fail_msg("case %zu", i);
	}
	osp_rules_free(rules);
}

static void rules_that_ask(void **state)
{
	struct osp_rule_set *rules =
		read_rules("rules:\n" SET("a", "nccl: '2'", "A", "x${near_nics}")
				   LEAVE("b", "bound: yes", "B"),
			   NULL);
	struct osp_rule_set *all = ours();

	(void)state;
	assert_true(osp_rules_ask(rules, OSP_FACT_NCCL) && osp_rules_ask(rules, OSP_FACT_BOUND));
	assert_true(osp_rules_ask(rules, OSP_FACT_NEAR_NICS));
	assert_false(osp_rules_ask(rules, OSP_FACT_OFI) || osp_rules_ask(rules, OSP_FACT_GPU_HCAS));
	assert_true(osp_rules_ask(all, OSP_FACT_GPU_HCAS));
	assert_false(
		osp_rules_ask(all, OSP_FACT_NEAR_NICS)); /* what it costs is for a site to pay */
	osp_rules_free(rules);
	osp_rules_free(all);
}

#define LEFT "left FI_EFA_IFACE [E17]"

/* Which adapters a process may use: ours never say it for each task, and warn of who does. */
static void adapters_stay_the_same_for_all(void **state)
{
	static const struct {
		const char *facts, *name, *value, *words;
	} cases[] = {
		{"fabric=efa,vendor=nvidia,libfabric=2.1,ofi=1.16,partial_node=yes", "FI_EFA_IFACE",
		 NULL, LEFT},
		{"fabric=efa,vendor=nvidia,libfabric=2.1,ofi=1.16", "FI_EFA_IFACE", "rdmap0",
		 LEFT "; warned FI_EFA_IFACE (rdmap0) [E17-group]"},
		{"fabric=efa,vendor=nvidia,libfabric=2.6,ofi=1.21", "FI_EFA_IFACE", "rdmap0", LEFT},
		{"fabric=efa,vendor=nvidia,libfabric=2.1,ofi=1.16", "FI_EFA_IFACE", "all", LEFT},
		{"fabric=efa,vendor=nvidia,libfabric=2.1,ofi=1.16", "FI_EFA_IFACE", "",
		 "unset FI_EFA_IFACE () [E12-iface]; " LEFT},
		{"fabric=efa,vendor=nvidia,libfabric=1.21,ofi=1.16", "FI_EFA_IFACE", "rdmap0",
		 "warned FI_EFA_IFACE (rdmap0) [E17-early]"},
		{"fabric=efa,vendor=aws,libfabric=2.1,ofi=1.16", "FI_EFA_IFACE", "rdmap0", LEFT},
		{"fabric=efa,vendor=nvidia,libfabric=2.6,ofi=1.21", "FI_EFA_IFACE",
		 "rdmap$SLURM_LOCALID",
		 LEFT "; warned FI_EFA_IFACE (rdmap$SLURM_LOCALID) [I1-task]"},
		{"fabric=infiniband", "NCCL_IB_HCA", "=mlx5_$LOCAL_RANK",
		 "warned NCCL_IB_HCA (=mlx5_$LOCAL_RANK) [I1-task]"},
		{"fabric=infiniband,vendor=nvidia,gpu_hcas=mlx5_0", "NCCL_IB_HCA", "=mlx5_3",
		 "kept NCCL_IB_HCA==mlx5_0 (=mlx5_3) [I1]"},
	};
	struct osp_rule_set *rules = ours();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_variable user = {.name = cases[i].name, .value = cases[i].value};
		struct osp_facts facts;
		struct osp_decisions *decisions;
		struct osp_text text = OSP_TEXT_INIT;

		memset(&facts, 0, sizeof(facts));
		assert_int_equal(osp_facts_set_list(&facts, cases[i].facts, NULL), 0);
		decisions = osp_rules_decide(rules, &facts, &user, cases[i].value ? 1 : 0, NULL);
		add_decisions(decisions, cases[i].name, &text);
		assert_string_equal(text.data ? text.data : "", cases[i].words);
		osp_decisions_free(decisions);
		osp_text_free(&text);
	}
	osp_rules_free(rules);
}

/* A site's rule that leaves what one of ours sets stays; ours and one of the same rank never hold
 * together. */
static void narrowed_to_set(void **state)
{
	struct osp_rule_set *rules = read_rules(
		"rules:\n" LEAVE("a", "vendor: nvidia", "A") SET("b", "vendor: nvidia", "B", "1")
			LEAVE("c", "vendor: amd", "B"),
		"rules:\n" LEAVE("d", "fabric: efa", "B") LEAVE("e", "fabric: efa", "C")
			WARN("f", "fabric: efa", ", variable: B, is: x"));

	(void)state;
	osp_rules_narrow_to_set(rules);
	assert_int_equal(rules->count, 2);
	assert_string_equal(rules->rules[0].id, "b");
	assert_string_equal(rules->rules[1].id, "d");
	assert_string_equal(rules->rules[0].reason, "");
	osp_rules_free(rules);
}

static void names_of_rules(void **state)
{
	struct osp_rule_set *rules = read_rules(
		"rules:\n" SET("a", "vendor: nvidia", "A", "1") LEAVE("b", "vendor: nvidia", "B")
			WARN("c", "vendor: amd", ", variable: \"RDMAV_*\""),
		NULL);
	struct osp_rule_set *any =
		read_rules("rules:\n" WARN("c", "vendor: amd", ", variable: \"*_X\""), NULL);

	(void)state;
	assert_true(osp_rules_name(rules, "A") && osp_rules_set(rules, "A"));
	assert_true(osp_rules_name(rules, "B") && !osp_rules_set(rules, "B"));
	assert_true(osp_rules_name(rules, "RDMAV_FORK") && !osp_rules_set(rules, "RDMAV_FORK"));
	assert_false(osp_rules_name(rules, "RD") || osp_rules_name(rules, "AB"));
	assert_false(osp_rules_name(rules, "C") || osp_rules_name(rules, ""));
	assert_true(osp_rules_name(any, "Q_X"));
	osp_rules_free(rules);
	osp_rules_free(any);
}

/* Of decisions in words, those that set. */
static char *sets_of(char *words)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *rest = words, *one;

	osp_text_add(&text, "");
	while ((one = strsep(&rest, ";"))) {
		one += *one == ' ';
		if (!strncmp(one, "set ", 4))
			osp_text_printf(&text, "%s;", one);
	}
	free(words);
	return osp_text_take(&text);
}

/* On each type of node, ours decide the same with those taken away that cannot hold there, and set
 * the same with those taken away that only tell. */
static void narrowed_decide_the_same(void **state)
{
	static const char *const nodes[] = {
		"instance=p5.48xlarge,provider=aws,vendor=nvidia,fabric=efa,rdma_read=yes",
		"instance=p4d.24xlarge,provider=aws,vendor=nvidia,fabric=efa",
		"provider=azure,vendor=nvidia,fabric=infiniband",
		"vendor=amd,fabric=roce",
	};
	static const char *const jobs[] = {
		"nodes=2",
		"nccl=2.18,ofi=1.7,libfabric=1.18,nodes=16,bound=yes,gpus_visible=8",
		"nccl=2.27,ofi=1.16,libfabric=2.1,efa=1.43,container=yes,partial_node=yes",
	};
	static const struct osp_variable user[] = {
		{.name = "FI_EFA_FORK_SAFE", .value = "1"},
		{.name = "NCCL_SOCKET_IFNAME", .value = "lo"},
		{.name = "NCCL_ALGO", .value = "Ring"},
	};
	size_t set_count = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(nodes) * COUNT(jobs); i++) {
		struct osp_rule_set *all = ours(), *narrow = ours();
		const char *node = nodes[i / COUNT(jobs)];
		struct osp_facts facts;
		char list[512], *wide, *few;

		memset(&facts, 0, sizeof(facts));
		assert_int_equal(osp_facts_set_list(&facts, node, NULL), 0);
		osp_rules_narrow(narrow, &facts);
		assert_true(narrow->count < all->count);
		snprintf(list, sizeof(list), "%s,%s", node, jobs[i % COUNT(jobs)]);
		wide = decide(all, list, user, COUNT(user));
		few = decide(narrow, list, user, COUNT(user));
		assert_string_equal(wide, few);
		free(few);
		osp_rules_narrow_to_set(narrow);
		assert_true(narrow->count < all->count / 2);
		wide = sets_of(wide);
		few = sets_of(decide(narrow, list, user, COUNT(user)));
		assert_string_equal(wide, few);
		set_count += strlen(wide) > 0;
		free(wide);
		free(few);
		osp_rules_free(all);
		osp_rules_free(narrow);
	}
	assert_true(set_count > COUNT(nodes));
}

/* The rules that doc and users name by these ids. */
static void ours_are_complete(void **state)
{
	static const char *const ids[] = {
		"E1",  "E2",  "E3",  "E4",  "E5",  "E6",  "E7",	 "E8",	"E9",  "E10", "E11", "E12",
		"E13", "E14", "E15", "E16", "E17", "E18", "E19", "E20", "N1",  "N2",  "N3",  "N4",
		"N5",  "N6",  "N7",  "N8",  "N9",  "N10", "N11", "N12", "N13", "N14", "N15", "N16",
		"N17", "N18", "N19", "N20", "N21", "N22", "N23", "N24", "I1",  "I2",  "I3",  "I4",
		"I5",  "I6",  "I7",  "I8",  "I9",  "I10", "L1",	 "L2",	"L3",  "L4",  "L5",
	};
	static const char *const fatal[] = {"E7", "E10", "E11", "E12", "N36-empty"};
	struct osp_rule_set *rules = ours();

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		if (!find_rule(rules, ids[i]))
			fail_msg("no rule %s", ids[i]);
	}
	for (size_t i = 0; i < COUNT(fatal); i++)
		assert_int_equal(find_rule(rules, fatal[i])->severity, OSP_SEVERITY_FATAL);
	osp_rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(contradictions),
		cmocka_unit_test(unreachable_rules),
		cmocka_unit_test(what_is_unknown_sets_nothing),
		cmocka_unit_test(values_take_facts),
		cmocka_unit_test(the_higher_rank_decides),
		cmocka_unit_test(values_are_judged),
		cmocka_unit_test(ours_stand_together),
		cmocka_unit_test(ours_are_complete),
		cmocka_unit_test(each_of_ours_decides_somewhere),
		cmocka_unit_test(facts_agree),
		cmocka_unit_test(narrowed_to_set),
		cmocka_unit_test(names_of_rules),
		cmocka_unit_test(narrowed_decide_the_same),
		cmocka_unit_test(rules_that_ask),
		cmocka_unit_test(adapters_stay_the_same_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
