/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of known variables: what is read of it, what is refused, and how names are judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/env/variables.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HEAD                                                                                       \
	"families:\n"                                                                              \
	"  - {prefix: N_, of: N, fact: nccl, releases: 2.3 to 2.30, source: s, "

static void wrong_files_are_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"familys: []\n", "f:1:1: unknown key 'familys'; did you mean families?"},
		{"families: 3\n", "f:1:11: families: a list is expected"},
		{"families: [3]\n", "f:1:12: a family (prefix, of, ...) is expected"},
		{"families:\n  - {prefix: N_}\n", "f:2:5: a family needs 'of'"},
		{HEAD "names: {N_A: '>=2', M_B: ''}}\n", "f:2:91: M_B does not begin with N_"},
		{HEAD "names: {N_A: 'x'}}\n", NULL},
		{HEAD "names: [N_A]}\n", NULL},
		{HEAD "others: 3, names: {}}\n", NULL},
		{"families:\n  - {prefix: N_, of: N, fact: fabric, releases: r, source: s, names: "
		 "{}}\n",
		 "f:2:31: fact: 'fabric' is no version"},
		{"families:\n  - {prefix: N_, of: N, fact: ncl, releases: r, source: s, names: "
		 "{}}\n",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_variables *variables = osp_variables_new(NULL);
		struct osp_error error = {.text = ""};
		char words[900];

		assert_int_equal(osp_variables_add(variables, "f", cases[i].text,
						   strlen(cases[i].text), &error),
				 -1);
		assert_true(error.line > 0);
		if (cases[i].error)
			assert_string_equal(osp_error_format(&error, words, sizeof(words)),
					    cases[i].error);
		osp_variables_free(variables);
	}
	osp_variables_free(NULL);
}

static void names_are_judged(void **state)
{
	static const char text[] =
		HEAD "others: [N_VERSION, 'N_TEST*'],\n     names: {N_ALGO: '', N_OLD: '<2.5', "
		     "N_NEW: '>=2.20', N_THRESHOLD: ''}}\n"
		     "  - {prefix: N_N_, of: O, releases: r, source: t, names: {N_N_X: '>=1'}}\n";
	static const struct {
		const char *name, *facts;
		enum osp_variable_state state;
		const char *nearest;
	} cases[] = {
		{"N_ALGO", "", OSP_VARIABLE_READ, NULL},
		{"N_ALGO", "nccl=2.4", OSP_VARIABLE_READ, NULL},
		{"N_OLD", "nccl=2.4", OSP_VARIABLE_READ, NULL},
		{"N_OLD", "nccl=2.6", OSP_VARIABLE_MISSED, NULL},
		{"N_OLD", "", OSP_VARIABLE_MISSED, NULL},
		{"N_NEW", "", OSP_VARIABLE_READ, NULL},
		{"N_NEW", "nccl=2.6", OSP_VARIABLE_MISSED, NULL},
		{"N_NEW", "nccl=2", OSP_VARIABLE_READ, NULL},
		{"N_ALGOS", "", OSP_VARIABLE_UNKNOWN, "N_ALGO"},
		{"N_THRESHLD", "", OSP_VARIABLE_UNKNOWN, "N_THRESHOLD"},
		{"N_QQQQQQ", "", OSP_VARIABLE_UNKNOWN, NULL},
		{"N_VERSION", "", OSP_VARIABLE_READ, NULL},
		{"N_TEST_X", "", OSP_VARIABLE_READ, NULL},
		{"N_", "", OSP_VARIABLE_FOREIGN, NULL},
		{"M_ALGO", "", OSP_VARIABLE_FOREIGN, NULL},
		{"n_ALGO", "", OSP_VARIABLE_FOREIGN, NULL},
		{"N_N_X", "", OSP_VARIABLE_READ, NULL},
		{"N_N_ALGO", "", OSP_VARIABLE_UNKNOWN, NULL},
	};
	struct osp_variables *variables = osp_variables_new(NULL);

	(void)state;
	assert_int_equal(osp_variables_add(variables, "f", text, strlen(text), NULL), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_variable_judgement judgement;
		struct osp_facts facts;

		memset(&facts, 0, sizeof(facts));
		assert_int_equal(osp_facts_set_list(&facts,
						    *cases[i].facts ? cases[i].facts : "slurm=1",
						    NULL),
				 0);
		osp_variables_judge(variables, &facts, cases[i].name, &judgement);
		if (judgement.state != cases[i].state)
			fail_msg("%s %s: state %d", cases[i].name, cases[i].facts, judgement.state);
		if (cases[i].nearest)
			assert_string_equal(judgement.nearest, cases[i].nearest);
		else
			assert_null(judgement.nearest);
	}
	osp_variables_free(variables);
}

/* What the rules speak of is in the table: a rule about a variable that nothing reads would say two
 * things of it. */
static void ours_are_known(void **state)
{
	static const char *const names[] = {"NCCL_ALGO",
					    "NCCL_IB_HCA",
					    "NCCL_DEBUG",
					    "FI_PROVIDER",
					    "FI_EFA_USE_DEVICE_RDMA",
					    "FI_EFA_MTU_SIZE",
					    "FI_EFA_IFACE",
					    "OFI_NCCL_PROTOCOL",
					    "UCX_TLS",
					    "UCX_NET_DEVICES",
					    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
					    "NCCL_ASYNC_ERROR_HANDLING"};
	const char *source = getenv("srcdir");
	struct osp_variable_judgement judgement;
	struct osp_error error = {.text = ""};
	struct osp_variables *variables;
	struct osp_facts facts;
	char folder[512];

	(void)state;
	memset(&facts, 0, sizeof(facts));
	snprintf(folder, sizeof(folder), "%s/etc", source ? source : ".");
	variables = osp_variables_read(folder, NULL, &error);
	if (!variables)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < COUNT(names); i++) {
		osp_variables_judge(variables, &facts, names[i], &judgement);
		if (judgement.state != OSP_VARIABLE_READ)
			fail_msg("%s: state %d", names[i], judgement.state);
	}
	osp_variables_free(variables);
	assert_null(osp_variables_read("/nowhere", NULL, &error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_files_are_refused),
		cmocka_unit_test(names_are_judged),
		cmocka_unit_test(ours_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
