/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Catalogue, rules, decisions and scripts, with each of their allocations failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/env/env_lint.h"
#include "tests/unit/no_memory.h"

static void check_words(const struct osp_error *error, bool success)
{
	assert_string_equal(error->text, success ? "" : "out of memory");
}

static bool read_catalogue(void *context)
{
	struct osp_error error = {.text = ""};
	struct osp_catalogue *catalogue = osp_catalogue_new(&error);
	bool success = catalogue &&
		       !osp_catalogue_add(catalogue, 0, "f", context, strlen(context), &error);

	check_words(&error, success);
	osp_catalogue_free(catalogue);
	return success;
}

static bool read_rules(void *context)
{
	struct osp_error error = {.text = ""};
	struct osp_rule_set *rules = osp_rules_new(&error);
	bool success = rules && !osp_rules_add(rules, 0, "f", context, strlen(context), &error) &&
		       !osp_rules_finish(rules, &error);

	check_words(&error, success);
	osp_rules_free(rules);
	return success;
}

static const char variables_text[] =
	"families:\n"
	"  - prefix: A\n    of: o\n    fact: nccl\n    releases: r\n    source: s\n"
	"    others: [AB]\n    names: {AX: '<2.3', AYYYY: ''}\n";

static bool read_variables(void *context)
{
	struct osp_error error = {.text = ""};
	struct osp_variables *variables = osp_variables_new(&error);
	bool success =
		variables && !osp_variables_add(variables, "f", context, strlen(context), &error);

	check_words(&error, success);
	osp_variables_free(variables);
	return success;
}

static bool read_script(void *context)
{
	struct osp_error error = {.text = ""};
	struct osp_script *script = osp_script_read("s", context, strlen(context), &error);

	check_words(&error, script);
	osp_script_free(script);
	return script;
}

struct input {
	const struct osp_rule_set *rules;
	const struct osp_variables *variables;
	const struct osp_script *script;
	struct osp_facts facts;
};

static bool lint(void *context)
{
	const struct input *input = context;
	struct osp_error error = {.text = ""};
	struct osp_findings *findings =
		osp_lint(input->rules, input->variables, &input->facts, input->script, &error);

	check_words(&error, findings);
	osp_findings_free(findings);
	return findings;
}

/* So many that every array grows. */
static void all_survive(void **state)
{
	struct osp_text types = OSP_TEXT_INIT, rules = OSP_TEXT_INIT, script = OSP_TEXT_INIT;
	struct input input = {.rules = NULL};
	struct osp_variables *variables;
	struct osp_rule_set *set;
	static const char linted[] =
		"#SBATCH -N 2 --gpus-per-task=1 --no-requeue\n"
		"AX=1 AYYYZ=2 AQ=3 cmd\nI=a\nA=$I\nsrun -c 2 a --num_workers=9\n";

	(void)state;
	osp_text_add(&types, "source: s\ninstances:\n");
	osp_text_add(&rules, "rules:\n");
	for (int i = 0; i < 300; i++) {
		osp_text_printf(&types, "  t%d: {vcpus: 1}\n", i);
		osp_text_printf(
			&rules,
			"  - {id: r%d, when: {fabric: [efa, roce]}, action: warn, variable: "
			"A, severity: note, reason: r, cure: c, source: s}\n",
			i);
		osp_text_add(&script, "export A=b\n");
	}
	osp_text_add(&rules, "  - {id: s, action: set, variable: B, value: '=${fabric}', "
			     "severity: missing, reason: r, source: s}\n");
	osp_text_add(&script, "srun --export=A=b bash -c 'export A=\"c d\"'\n"
			      "#SBATCH --export=A=b\n");
	assert_true(no_memory_at_each(read_catalogue, types.data) >= 6);
	assert_true(no_memory_at_each(read_rules, rules.data) >= 300);
	assert_true(no_memory_at_each(read_script, script.data) >= 5);
	set = osp_rules_new(NULL);
	assert_int_equal(osp_rules_add(set, 0, "f", rules.data, rules.length_bytes, NULL), 0);
	input.rules = set;
	variables = osp_variables_new(NULL);
	assert_int_equal(
		osp_variables_add(variables, "f", variables_text, strlen(variables_text), NULL), 0);
	assert_true(no_memory_at_each(read_variables, (void *)(uintptr_t)variables_text) >= 5);
	assert_true(no_memory_at_each(read_script, (void *)(uintptr_t)linted) >= 6);
	input.variables = variables;
	input.script = osp_script_read("s", linted, strlen(linted), NULL);
	assert_int_equal(osp_facts_set_list(&input.facts, "fabric=efa", NULL), 0);
	assert_true(no_memory_at_each(lint, &input) >= 8);
	osp_script_free((struct osp_script *)(uintptr_t)input.script);
	osp_rules_free(set);
	osp_variables_free(variables);
	osp_text_free(&types);
	osp_text_free(&rules);
	osp_text_free(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
