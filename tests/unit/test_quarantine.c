/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_quarantine.c - nodes that are kept out of use where a drain would end their instances */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf/clustermgtd.h"
#include "lib/gate/quarantine.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void names_a_reservation_after_its_instance(void **state)
{
	char name[OSP_QUARANTINE_NAME_BYTES];

	(void)state;
	assert_string_equal(osp_quarantine_name("n1", "i-0abc", name),
			    "onespine-quarantine-i-0abc");
	assert_string_equal(osp_quarantine_instance(name), "i-0abc");
	assert_string_equal(osp_quarantine_name("n1", "", name), "onespine-quarantine-n1");
	assert_string_equal(osp_quarantine_name("n1", NULL, name), "onespine-quarantine-n1");
	assert_null(osp_quarantine_instance("onespine-quarantine-"));
	assert_null(osp_quarantine_instance("onespine-n1")); /* a recheck's */
	assert_null(osp_quarantine_instance("onespine-ends-cr-0123"));
	assert_null(osp_quarantine_instance(NULL));
}

static void keeps_no_more_than_the_policy_says(void **state)
{
	static const struct osp_quarantined nodes[] = {{"n1", "i-1", 100}, {"n2", "n2", 200}};
	struct osp_gate_policy policy = {.quarantine = 2};

	(void)state;
	assert_int_equal(osp_quarantine_choose(&policy, NULL, 0, "n3"), OSP_QUARANTINE_KEEP);
	assert_int_equal(osp_quarantine_choose(&policy, nodes, 1, "n3"), OSP_QUARANTINE_KEEP);
	assert_int_equal(osp_quarantine_choose(&policy, nodes, 2, "n3"), OSP_QUARANTINE_DRAIN);
	assert_int_equal(osp_quarantine_choose(&policy, nodes, 2, "n2"), OSP_QUARANTINE_ALREADY);
	policy.quarantine = 0;
	assert_int_equal(osp_quarantine_choose(&policy, NULL, 0, "n3"), OSP_QUARANTINE_DRAIN);
}

static void says_what_is_due(void **state)
{
	static const struct {
		struct osp_quarantined node;
		struct osp_quarantine_now now;
		int64_t now_s;
		enum osp_quarantine_due due;
	} cases[] = {
		{{"n1", "i-1", 1000}, {true, "i-1", 900}, 1000 + 7199, OSP_QUARANTINE_STAYS},
		{{"n1", "i-1", 1000}, {true, "i-1", 900}, 1000 + 7200, OSP_QUARANTINE_OVER},
		/* a reboot of the same instance */
		{{"n1", "i-1", 1000}, {true, "i-1", 1001}, 1002, OSP_QUARANTINE_STAYS},
		{{"n1", "i-1", 1000}, {true, "i-2", 900}, 1001, OSP_QUARANTINE_ANOTHER},
		{{"n1", "i-1", 1000}, {true, "i-2", 900}, 1000 + 7200, OSP_QUARANTINE_ANOTHER},
		{{"n1", "i-1", 1000}, {false, NULL, 0}, 1001, OSP_QUARANTINE_ANOTHER},
		/* not known now: only the hours count */
		{{"n1", "i-1", 1000}, {true, "", 1001}, 1002, OSP_QUARANTINE_STAYS},
		{{"n1", "i-1", 1000}, {true, NULL, 0}, 1000 + 7200, OSP_QUARANTINE_OVER},
		/* not known then: a boot makes another of it */
		{{"n1", "n1", 1000}, {true, "i-2", 900}, 1001, OSP_QUARANTINE_STAYS},
		{{"n1", "n1", 1000}, {true, "", 1001}, 1002, OSP_QUARANTINE_ANOTHER},
	};
	struct osp_gate_policy policy = {.quarantine = 2, .quarantine_h = 2};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (osp_quarantine_due(&policy, &cases[i].node, &cases[i].now, cases[i].now_s) !=
		    cases[i].due)
			fail_msg("case %zu", i);
}

/* --- clustermgtd ------------------------------------------------------------------------------ */

static char *read_text(void *context, const char *path, size_t *bytes, struct osp_error *error)
{
	const char *text = strcmp(path, "/e/slurm.conf") == 0 ? context : "";

	(void)error;
	*bytes = strlen(text);
	return strdup(text);
}

static bool has_clustermgtd(const char *text)
{
	struct osp_slurm_conf *conf =
		osp_slurm_conf_read("/e/slurm.conf", read_text, (void *)text, NULL);
	bool has = osp_has_clustermgtd(conf);

	assert_non_null(conf);
	osp_slurm_conf_free(conf);
	return has;
}

static void knows_parallelclusters_slurm_conf(void **state)
{
	(void)state;
	assert_true(has_clustermgtd("ClusterName=pc\ninclude slurm_parallelcluster.conf\n"));
	assert_true(has_clustermgtd("include /opt/slurm/etc/slurm_parallelcluster.conf\n"));
	assert_false(has_clustermgtd("ClusterName=pc\n#include slurm_parallelcluster.conf\n"));
	assert_false(has_clustermgtd("include my_slurm_parallelcluster.conf.old\n"));
	assert_false(osp_has_clustermgtd(NULL));
}

static void reads_clustermgtds_settings(void **state)
{
	static const struct {
		const char *text;
		bool ends;
	} cases[] = {
		{NULL, true},
		{"", true},
		{"[clustermgtd]\ncluster_name = x\n", true},
		{"[clustermgtd]\nterminate_drain_nodes = False\n", false},
		{"[clustermgtd]\r\nterminate_drain_nodes:no \r\n", false},
		{"[clustermgtd]\nTerminate_Drain_Nodes=off", false},
		{"[clustermgtd]\nterminate_drain_nodes=0\nterminate_drain_nodes = true\n", true},
		{"[clustermgtd]\n#terminate_drain_nodes = False\n", true},
		{"[other]\nterminate_drain_nodes = False\n[clustermgtd]\n", true},
		{"[clustermgtd]\nterminate_drain_nodes_soon = False\n", true},
		{"[clustermgtd]\nterminate_down_nodes = False\n", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (osp_clustermgtd_ends_drained(cases[i].text) != cases[i].ends)
			fail_msg("case %zu", i);
}

static void knows_dynamic_nodes(void **state)
{
	(void)state;
	assert_true(osp_is_dynamic_node("gpu-dy-p5-1"));
	assert_true(osp_is_dynamic_node("queue-a-dy-p5-48xl-12"));
	assert_true(osp_is_dynamic_node("gpu-dy-p5-[1-4]"));
	assert_false(osp_is_dynamic_node("gpu-st-p5-[1-4]"));
	assert_false(osp_is_dynamic_node("gpu-st-p5-1"));
	assert_false(osp_is_dynamic_node("gpu-dy-p5"));
	assert_false(osp_is_dynamic_node("-dy-p5-1"));
	assert_false(osp_is_dynamic_node("gpu-dy-1"));
	assert_false(osp_is_dynamic_node("n1"));
	assert_false(osp_is_dynamic_node(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_reservation_after_its_instance),
		cmocka_unit_test(keeps_no_more_than_the_policy_says),
		cmocka_unit_test(says_what_is_due),
		cmocka_unit_test(knows_parallelclusters_slurm_conf),
		cmocka_unit_test(reads_clustermgtds_settings),
		cmocka_unit_test(knows_dynamic_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
