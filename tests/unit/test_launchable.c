/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_launchable.c - for which gangs nodes may be launched */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/policy/launchable.h"

static const char launching[] = "partitions:\n"
				"  gpu: {unlaunched: launch, launch_tries: 2}\n"
				"  wait: {unlaunched: wait}\n";

static struct osp_config *read_config(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_config *config = osp_config_read("onespine.yaml", text, strlen(text), &error);

	if (!config)
		fail_msg("%s", error.text);
	return config;
}

/* What one change of a gang that may have nodes launched leaves of that. */
static void each_thing_decides(void **state)
{
	static const struct {
		struct osp_launchable gang;
		bool judgeable, launchable, may;
	} cases[] = {
		{{.mode = OSP_MODE_ENFORCE, .is_batch = true, .requeues = true}, true, true, true},
		{{.mode = OSP_MODE_ADVISE, .is_batch = true, .requeues = true},
		 false,
		 false,
		 false},
		{{.mode = OSP_MODE_ENFORCE, .is_batch = true, .requeues = true, .in_parts = true},
		 false,
		 false,
		 false},
		{{.mode = OSP_MODE_ENFORCE,
		  .is_batch = true,
		  .requeues = true,
		  .is_component = true},
		 false,
		 false,
		 false},
		{{.mode = OSP_MODE_ENFORCE, .requeues = true}, false, false, false},
		{{.mode = OSP_MODE_ENFORCE, .is_batch = true}, true, false, false},
		{{.mode = OSP_MODE_ENFORCE,
		  .is_batch = true,
		  .requeues = true,
		  .has_reservation = true},
		 true,
		 false,
		 false},
		{{.mode = OSP_MODE_ENFORCE, .is_batch = true, .requeues = true, .in_vain = 1},
		 true,
		 true,
		 true},
		{{.mode = OSP_MODE_ENFORCE, .is_batch = true, .requeues = true, .in_vain = 2},
		 true,
		 true,
		 false},
	};
	struct osp_config *config = read_config(launching);
	const struct osp_policy *policy = osp_config_policy(config, "gpu");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(osp_launch_judgeable(&cases[i].gang), cases[i].judgeable);
		assert_int_equal(osp_launchable(&cases[i].gang, policy), cases[i].launchable);
		assert_int_equal(osp_launch_may(&cases[i].gang, policy), cases[i].may);
		assert_false(osp_launch_may(&cases[i].gang, osp_config_policy(config, "wait")));
	}
	osp_config_free(config);
}

static void any_of_its_partitions_may(void **state)
{
	static const struct osp_launchable gang = {
		.mode = OSP_MODE_ENFORCE, .is_batch = true, .requeues = true};
	static const struct {
		const char *partitions;
		bool may;
	} cases[] = {
		{"gpu", true},	    {"wait", false}, {"wait,gpu", true},
		{"gpu,wait", true}, {"gp", false},   {"wait,gpux", false},
		{"other", false},   {"", false},     {NULL, false},
	};
	struct osp_config *config = read_config(launching);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(osp_launch_may_in(&gang, config, cases[i].partitions),
				 cases[i].may);
	osp_config_free(config);
	config = read_config("defaults: {unlaunched: launch}\n");
	assert_true(osp_launch_may_in(&gang, config, NULL));
	osp_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thing_decides),
		cmocka_unit_test(any_of_its_partitions_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
