/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task's environment beside its step's: what may differ without anything being decided
 * otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/cache/env_same.h"

#define ENTRIES_MAX 16

static const char rules_text[] =
	"rules:\n"
	"  - {id: A, action: set, variable: NCCL_ONE, value: \"1\", severity: missing, reason: r, "
	"source: s}\n"
	"  - {id: B, action: warn, variable: PMIX_BAD, severity: harmful, reason: r, cure: c, "
	"source: "
	"s}\n";

static struct osp_rule_set *rules;

static int set_up(void **state)
{
	struct osp_error error = {.text = ""};

	(void)state;
	rules = osp_rules_new(&error);
	return rules && !osp_rules_add(rules, 0, "r.yaml", rules_text, strlen(rules_text), &error)
		       ? 0
		       : -1;
}

static int tear_down(void **state)
{
	(void)state;
	osp_rules_free(rules);
	return 0;
}

static void test_same(void **state)
{
	static char *const step[] = {"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet",
				     "SLURM_STEP_NUM_NODES=2", NULL};
	static const struct {
		char *task[ENTRIES_MAX];
		bool same;
	} cases[] = {
		{{"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=2"},
		 true},
		{{"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=2",
		  "SLURM_PROCID=3", "PMIX_RANK=3", "SLURMD_NODENAME=n1"},
		 true},
		/* changed where it stood, and set before the others */
		{{"SLURM_LOCALID=1", "HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet,mask_cpu",
		  "SLURM_STEP_NUM_NODES=2"},
		 true},
		/* one that rules are about, new, changed or gone */
		{{"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=2",
		  "PMIX_BAD=1"},
		 false},
		{{"HOME=/home/u", "NCCL_ONE=2", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=2"},
		 false},
		{{"HOME=/home/u", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=2"}, false},
		/* what decides where files stand and what the facts are */
		{{"HOME=/elsewhere", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet",
		  "SLURM_STEP_NUM_NODES=2"},
		 false},
		{{"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=1"},
		 false},
		{{"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet", "SLURM_STEP_NUM_NODES=2",
		  "CUDA_VISIBLE_DEVICES=0"},
		 false},
		{{"HOME=/home/u", "NCCL_ONE=1", "SLURM_CPU_BIND=quiet"}, false},
		{{NULL}, false},
	};
	char *remembered = osp_env_remember(step);

	(void)state;
	assert_non_null(remembered);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (osp_env_is_same(remembered, cases[i].task, rules) != cases[i].same)
			fail_msg("case %zu", i);
	}
	free(remembered);
}

static void test_nothing(void **state)
{
	char *none[] = {NULL}, *odd[] = {"", "SLURM_PROCID=0", NULL};
	char *remembered = osp_env_remember(none);

	(void)state;
	assert_true(osp_env_is_same(remembered, none, rules));
	assert_true(osp_env_is_same(remembered, odd, rules));
	assert_true(osp_env_is_same(remembered, odd, NULL));
	free(remembered);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
