/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gate's section of onespine.yaml: defaults, inheritance, refusals in their words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/gate_policy.h"
#include "lib/policy/config.h"

static void defaults(void **state)
{
	struct osp_config *config = osp_config_read(NULL, "", 0, NULL);
	const struct osp_gate_policy *policy = osp_config_gate(config, "gpu");

	(void)state;
	assert_int_equal(policy->depth, OSP_GATE_PASSIVE);
	assert_false(policy->all_jobs);
	assert_int_equal(policy->budget_s, 60);
	assert_int_equal(policy->fresh_s, 3600);
	assert_int_equal(policy->failure, OSP_GATE_ON_FAIL_DRAIN);
	assert_false(policy->error_waits);
	assert_int_equal(policy->spares_max, 2);
	assert_int_equal(policy->restarts_max, 3);
	assert_int_equal(policy->network, OSP_GATE_NETWORK_AUTO);
	assert_int_equal(policy->port_first, 288);
	assert_int_equal(policy->port_last, 303);
	assert_int_equal(policy->breaker_percent, 10);
	assert_int_equal(policy->breaker_s, 3600);
	assert_false(policy->breaker_waits);
	osp_config_free(config);
}

static void partitions_stand_on_defaults(void **state)
{
	static const char text[] = "defaults:\n"
				   "  gate: {budget_s: 90, checks: {clock: log, ecc: comment}}\n"
				   "partitions:\n"
				   "  gpu:\n"
				   "    gate:\n"
				   "      depth: quick\n"
				   "      checks: {clock: comment}\n"
				   "      ports: 7000\n"
				   "      on_error: wait\n"
				   "  cpu: {gate: {depth: off, jobs: all}}\n"
				   "  rest:\n";
	struct osp_error error = {.text = ""};
	struct osp_config *config = osp_config_read("x", text, strlen(text), &error);
	const struct osp_gate_policy *gpu, *cpu, *rest;

	(void)state;
	assert_string_equal(error.text, "");
	gpu = osp_config_gate(config, "gpu");
	cpu = osp_config_gate(config, "cpu");
	rest = osp_config_gate(config, "rest");
	assert_int_equal(gpu->depth, OSP_GATE_QUICK);
	assert_int_equal(gpu->budget_s, 90);
	assert_int_equal(gpu->port_first, 7000);
	assert_int_equal(gpu->port_last, 7000);
	assert_true(gpu->error_waits);
	assert_int_equal(osp_gate_policy_failure(gpu, "clock"), OSP_GATE_ON_FAIL_COMMENT);
	assert_int_equal(osp_gate_policy_failure(gpu, "ecc"), OSP_GATE_ON_FAIL_COMMENT);
	assert_int_equal(osp_gate_policy_failure(gpu, "gpus"), OSP_GATE_ON_FAIL_DRAIN);
	assert_int_equal(osp_gate_policy_failure(rest, "clock"), OSP_GATE_ON_FAIL_LOG);
	assert_int_equal(cpu->depth, OSP_GATE_OFF);
	assert_true(cpu->all_jobs);
	assert_int_equal(rest->budget_s, 90);
	assert_ptr_equal(osp_config_gate(config, "unknown"), osp_config_gate(config, NULL));
	osp_config_free(config);
}

static void refusals(void **state)
{
	static const struct {
		const char *gate;
		const char *says;
	} cases[] = {
		{"{dept: quick}", "unknown key 'dept'; did you mean depth?"},
		{"{depth: deep}",
		 "depth: one of off, passive, quick, full is expected, not 'deep'"},
		{"{budget_s: 0}", "budget_s: a whole number from 1 to 3600 is expected, not '0'"},
		{"{checks: [ecc]}",
		 "checks: a map of checks and drain, comment or log is expected"},
		{"{ports: 303-288}", "ports: a port or a range of at most 64 such as 288-303 is "
				     "expected, not '303-288'"},
		{"{ports: 288-70000}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not "
		 "'288-70000'"},
		{"{ports: 1-500}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not '1-500'"},
		{"{ports: -5}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not '-5'"},
		{"{breaker: 101}", "breaker: a whole number from 0 to 100 is expected, not '101'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {.text = ""};
		char text[256];

		snprintf(text, sizeof(text), "partitions:\n  gpu:\n    gate: %s\n", cases[i].gate);
		assert_null(osp_config_read("x", text, strlen(text), &error));
		if (strcmp(error.text, cases[i].says) != 0)
			fail_msg("%s: %s", cases[i].gate, error.text);
		assert_int_equal(error.line, 3);
	}
}

static void depths_have_names(void **state)
{
	enum osp_gate_depth depth = OSP_GATE_OFF;

	(void)state;
	assert_int_equal(osp_gate_depth_parse("quick", &depth), 0);
	assert_int_equal(depth, OSP_GATE_QUICK);
	assert_int_equal(osp_gate_depth_parse("Quick", &depth), -1);
	assert_string_equal(osp_gate_depth_name(OSP_GATE_FULL), "full");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(partitions_stand_on_defaults),
		cmocka_unit_test(refusals),
		cmocka_unit_test(depths_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
