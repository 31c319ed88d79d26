/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_rules.c - rules and types: refused with words, or taken and decided by
 *
 * Parser: lib/env/rules.c lib/env/catalogue.c lib/env/facts.c lib/env/version.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/env/rules.h"

/* With much known, with nothing known: a decision always has a rule, and a set one a value. */
static void check_decisions(const struct osp_rule_set *rules, const struct osp_facts *facts)
{
	struct osp_variable variables[] = {
		{.name = "A", .value = "1"},
		{.name = "NCCL_PROTO", .value = "$X", .unexpanded = true},
		{.name = "B", .value = NULL}};
	struct osp_decisions *decisions = osp_rules_decide(rules, facts, variables, 3, NULL);

	fuzz_check(decisions);
	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);

		fuzz_check(decision->rule && decision->rule->reason && decision->rule->source);
		fuzz_check(decision->outcome != OSP_OUTCOME_SET || decision->value);
		fuzz_check(decision->outcome != OSP_OUTCOME_KEPT || decision->user);
		fuzz_check(decision->outcome != OSP_OUTCOME_KEPT || decision->value ||
			   decision->unknown < OSP_FACT_COUNT);
	}
	osp_decisions_free(decisions);
}

static void check_rules(const char *text, size_t size)
{
	struct osp_rule_set *rules = osp_rules_new(NULL);
	struct osp_error error = {.text = ""};
	struct osp_facts facts;

	memset(&facts, 0, sizeof(facts));
	if (osp_rules_add(rules, 0, "f", text, size, &error) || osp_rules_finish(rules, &error)) {
		fuzz_check(error.text[0]);
	} else {
		check_decisions(rules, &facts);
		fuzz_check(!osp_facts_set_list(&facts,
					       "nccl=2.21,ofi=1.9,fabric=efa,vendor=nvidia,"
					       "instance=p5.48xlarge,container=no,nodes=4",
					       NULL));
		check_decisions(rules, &facts);
	}
	osp_rules_free(rules);
}

static void check_catalogue(const char *text, size_t size)
{
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	struct osp_error error = {.text = ""};

	if (osp_catalogue_add(catalogue, 0, "f", text, size, &error))
		fuzz_check(error.text[0]);
	else
		for (size_t i = 0; i < osp_catalogue_count(catalogue); i++)
			fuzz_check(osp_catalogue_at(catalogue, i)->source);
	osp_catalogue_free(catalogue);
}

FUZZER(rules)
{
	struct osp_facts facts;
	char list[200];
	size_t length = size < sizeof(list) - 1 ? size : sizeof(list) - 1;

	check_rules((const char *)data, size);
	check_catalogue((const char *)data, size);
	memcpy(list, data, length);
	list[length] = '\0';
	memset(&facts, 0, sizeof(facts));
	(void)osp_facts_set_list(&facts, list, NULL);
	return 0;
}
