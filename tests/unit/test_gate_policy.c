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

/* Rules for more checks than there is room for are refused, and none is dropped without a word. */
static void checks_have_an_end(void **state)
{
	struct osp_error error = {.text = ""};
	char text[2048];

	(void)state;
	for (int checks = 64; checks <= 65; checks++) {
		struct osp_config *config;
		size_t at =
			(size_t)snprintf(text, sizeof(text), "defaults:\n  gate:\n    checks:\n");

		for (int i = 0; i < checks; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "      c%d: log\n", i);
		config = osp_config_read("x", text, strlen(text), &error);
		assert_int_equal(config != NULL, checks == 64);
		osp_config_free(config);
	}
	assert_string_equal(error.text,
			    "checks: at most 64 names of up to 31 letters are expected");
}

static void networks_and_evidence(void **state)
{
	static const struct {
		const char *gate;
		enum osp_gate_network network;
		const char *evidence;
	} cases[] = {
		{"{network: tcp}", OSP_GATE_NETWORK_TCP, NULL},
		{"{network: nccl}", OSP_GATE_NETWORK_NCCL, NULL},
		{"{network: true}", OSP_GATE_NETWORK_AUTO, NULL},
		{"{network: false}", OSP_GATE_NETWORK_OFF, NULL},
		{"{network: auto, evidence: /shared/e}", OSP_GATE_NETWORK_AUTO, "/shared/e"},
		{"{network: auto, evidence: local}", OSP_GATE_NETWORK_AUTO, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {.text = ""};
		struct osp_config *config;
		char text[256];

		snprintf(text, sizeof(text), "defaults:\n  gate: %s\n", cases[i].gate);
		config = osp_config_read("x", text, strlen(text), &error);
		assert_string_equal(error.text, "");
		assert_int_equal(osp_config_gate(config, NULL)->network, cases[i].network);
		if (cases[i].evidence)
			assert_string_equal(osp_config_gate(config, NULL)->evidence,
					    cases[i].evidence);
		else
			assert_null(osp_config_gate(config, NULL)->evidence);
		osp_config_free(config);
	}
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
		{"{budget_s: '-'}",
		 "budget_s: a whole number from 1 to 3600 is expected, not \"-\""},
		{"{budget_s: 99999999999999999999}",
		 "budget_s: a whole number from 1 to 3600 is expected, "
		 "not '99999999999999999999'"},
		{"{budget_s: 9223372036854775809}",
		 "budget_s: a whole number from 1 to 3600 is expected, "
		 "not '9223372036854775809'"},
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
		{"{ports: x}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not 'x'"},
		{"{ports: 0}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not '0'"},
		{"{ports: 288-}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not '288-'"},
		{"{ports: 288-303-310}",
		 "ports: a port or a range of at most 64 such as 288-303 is "
		 "expected, not '288-303-310'"},
		{"{ports: 288+1}",
		 "ports: a port or a range of at most 64 such as 288-303 is expected, not '288+1'"},
		{"{ports: [288]}", "ports: a word of 1 to 255 bytes is expected, not a list"},
		{"{quarantine: 65}",
		 "quarantine: a whole number from 0 to 64 is expected, not '65'"},
		{"{quarantine_h: 0}",
		 "quarantine_h: a whole number from 1 to 8000 is expected, not '0'"},
		{"{evidence: here}",
		 "evidence: local or a folder's whole path is expected, not 'here'"},
		{"{key_file: munge}",
		 "key_file: auto or a file's whole path is expected, not 'munge'"},
		{"{evidence: [a]}", "evidence: a word of 1 to 255 bytes is expected, not a list"},
		{"{jobs: some}", "jobs: one of gpus, all is expected, not 'some'"},
		{"{failure: stop}", "failure: one of log, comment, drain is expected, not 'stop'"},
		{"{checks: {ecc: stop}}",
		 "ecc: one of log, comment, drain is expected, not 'stop'"},
		{"{checks: {a-check-with-a-name-of-32-letters: log}}",
		 "checks: at most 64 names of up to 31 letters are expected"},
		{"{network: wifi}",
		 "network: one of off, tcp, auto, nccl, true, false is expected, not 'wifi'"},
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
		cmocka_unit_test(checks_have_an_end),
		cmocka_unit_test(networks_and_evidence),
		cmocka_unit_test(refusals),
		cmocka_unit_test(depths_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
