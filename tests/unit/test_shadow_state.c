/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_state.c - policy and topology in force: files that are wrong, gone or changed, and
 * Slurm's nodes */
#include "tests/fake/slurmctld.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/no_memory.h"

#define NODES 16

static int with_cluster(void **state)
{
	(void)state;
	fake_shadow_begin(NODES, 4, "defaults:\n  level: spine\n  gang: always\n");
	return 0;
}

static int without_cluster(void **state)
{
	(void)state;
	fake_shadow_end();
	return 0;
}

static bool logged(const char *words)
{
	return strstr(fake_slurm_log(), words) != NULL;
}

/* Nodes are looked at again once a second: here one has passed. */
static void look_at_nodes(void)
{
	static time_t now = 1;

	shadow_state_refresh(++now);
}

static bool policy_is_always(void)
{
	return osp_config_policy(shadow_state.config, "gpu")->gang_always;
}

/* --- files ------------------------------------------------------------------------------------ */

static void reads_again_what_has_changed(void **state)
{
	(void)state;
	assert_string_equal(fake_leaf_of_first(), "l1");
	shadow_state_load();
	assert_string_equal(fake_slurm_log(), "");
	fake_slurm_file("onespine.topology", FAKE_TOPOLOGY("other"));
	fake_slurm_file("onespine.yaml", "defaults:\n  level: leaf\n");
	shadow_state_load();
	assert_true(logged("the topology in force has leaf 1; 12 of Slurm's 16 nodes are not in it "
			   "and run no gang"));
	assert_string_equal(fake_leaf_of_first(), "other");
	assert_false(policy_is_always());
}

/* What is wrong leaves what was good in force, and is reported with its line. */
static void keeps_what_was_good(void **state)
{
	(void)state;
	fake_slurm_file("onespine.yaml", "defaults:\n  lvl: leaf\n");
	fake_slurm_file("onespine.topology", "{\"onespine-topology\": 1, \"levels\": [\"leaf\"]\n");
	shadow_state_load();
	assert_true(logged("the last good topology stays in force"));
	assert_true(policy_is_always());
	assert_string_equal(fake_leaf_of_first(), "l1");
	fake_slurm_file("onespine.topology", NULL);
	shadow_state_load();
	assert_true(logged("No such file or directory; the last good topology stays in force"));
	assert_string_equal(fake_leaf_of_first(), "l1");
}

static void tells_the_line_of_a_wrong_policy(void **state)
{
	(void)state;
	fake_slurm_file("onespine.yaml", "defaults:\n  lvl: leaf\n");
	shadow_state_load();
	assert_true(logged("onespine.yaml:2:"));
	fake_slurm_file("onespine.yaml", NULL);
	assert_int_equal(mkdir(fake_slurm_path("onespine.yaml"), 0700), 0);
	shadow_state_load();
	assert_true(logged("onespine.yaml: Invalid argument; the last good policy stays in force"));
	rmdir(fake_slurm_path("onespine.yaml"));
	assert_true(policy_is_always());
}

/* Names that the policy has and nothing else are reported when it is read, and not each time
 * after. */
static void tells_of_names_that_mean_nothing(void **state)
{
	const char *log;

	(void)state;
	fake_slurm_file("onespine.yaml",
			"partitions:\n  gpu:\n    level: spyne\n  gpuu: {gang: always}\n");
	shadow_state_load();
	log = fake_slurm_log();
	assert_non_null(strstr(
		log, "onespine.yaml:3:12: the topology onespine.topology has no level 'spyne'"));
	assert_non_null(strstr(log, "onespine.yaml:4:"));
	shadow_state_load();
	assert_string_equal(fake_slurm_log(), "");
}

/* The default level, which nobody wrote, is no error where a fabric has leaves alone. */
static void calls_a_fabric_without_the_default_level_no_error(void **state)
{
	const char *log;

	(void)state;
	fake_slurm_file("onespine.yaml", NULL);
	fake_slurm_file("onespine.topology", FAKE_TOPOLOGY("l1"));
	shadow_state_load();
	log = fake_slurm_log();
	assert_non_null(strstr(log, "has no level 'spine'; its levels are leaf ('level: spine' is "
				    "the default)"));
	assert_null(strstr(log, "error: "));
}

/* Neither in the running slurmctld, nor as the first policy or topology that it ever saw. */
static void obeys_no_file_that_others_may_write(void **state)
{
	(void)state;
	fake_slurm_file("onespine.yaml", "defaults:\n  level: leaf\n");
	assert_int_equal(chmod(fake_slurm_path("onespine.yaml"), 0666), 0);
	fake_slurm_file("onespine.topology", FAKE_TOPOLOGY("other"));
	assert_int_equal(chmod(fake_slurm_path("onespine.topology"), 0666), 0);
	shadow_state_load();
	assert_true(logged("onespine.yaml: others than its owner may write it (chmod go-w); the "
			   "last good policy stays in force"));
	assert_true(policy_is_always());
	assert_string_equal(fake_leaf_of_first(), "l1");

	shadow_state_free();
	fake_slurm_file("state/onespine_config", NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_load();
	assert_string_equal(osp_config_policy(shadow_state.config, "gpu")->level, "spine");
	assert_null(shadow_state.topology);
	assert_int_equal(chmod(fake_slurm_path("onespine.yaml"), 0644), 0);
	assert_int_equal(chmod(fake_slurm_path("onespine.topology"), 0644), 0);
	shadow_state_load();
	assert_string_equal(osp_config_policy(shadow_state.config, "gpu")->level, "leaf");
	assert_string_equal(fake_leaf_of_first(), "other");
}

static void obeys_no_file_of_another_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	fake_slurm_file("onespine.yaml", "defaults:\n  level: leaf\n");
	assert_int_equal(chown(fake_slurm_path("onespine.yaml"), 65534, 65534), 0);
	fake_slurm_file("onespine.topology", FAKE_TOPOLOGY("other"));
	assert_int_equal(chown(fake_slurm_path("onespine.topology"), 65534, 65534), 0);
	shadow_state_load();
	assert_true(logged("onespine.yaml: it belongs neither to root nor to SlurmUser (chown "
			   "root); the last good policy stays in force"));
	assert_true(policy_is_always());
	assert_string_equal(fake_leaf_of_first(), "l1");
}

/* A reconfigure is a new process from 23.11 on: what was good lies in StateSaveLocation. */
static void takes_the_kept_copies_after_a_restart(void **state)
{
	(void)state;
	shadow_state_free();
	fake_slurm_file("onespine.yaml", "nonsense: [\n");
	fake_slurm_file("onespine.topology", "nonsense\n");
	shadow_state_load();
	assert_true(policy_is_always());
	assert_string_equal(fake_leaf_of_first(), "l1");
	fake_slurm_log();

	shadow_state_free();
	fake_slurm_file("state/onespine_config", "nonsense: [\n");
	fake_slurm_file("state/onespine_topology", "nonsense\n");
	shadow_state_load();
	assert_true(
		logged("no good policy is kept here; until onespine.yaml is mended --gang alone "
		       "makes a gang"));
	assert_false(policy_is_always());
	assert_null(shadow_state.topology);

	shadow_state_free();
	fake_slurm_file("state/onespine_config", NULL);
	shadow_state_load();
	assert_true(logged("no good policy is kept here"));
	assert_non_null(shadow_state.config);
}

static void goes_on_where_no_copy_can_be_kept(void **state)
{
	char *kept = slurm_conf.state_save_location;

	(void)state;
	fake_slurm_file("onespine.yaml", "defaults:\n  level: leaf\n");
	slurm_conf.state_save_location = NULL;
	shadow_state_load();
	slurm_conf.state_save_location = kept;
	assert_true(
		logged("cannot keep a copy of the last good config: /nonexistent/onespine_config: "
		       "No such file or directory"));
	assert_false(policy_is_always());
	/* a folder stands where the copy goes */
	fake_slurm_file("state/onespine_config", NULL);
	assert_int_equal(mkdir(fake_slurm_path("state/onespine_config"), 0700), 0);
	fake_slurm_file("onespine.yaml", "defaults:\n  level: spine\n");
	shadow_state_load();
	assert_true(logged("/state/onespine_config: Is a directory"));
	assert_int_not_equal(access(fake_slurm_path("state/onespine_config.new"), F_OK), 0);
	rmdir(fake_slurm_path("state/onespine_config"));
}

static void finds_files_by_their_path(void **state)
{
	char config[256];

	(void)state;
	snprintf(config, sizeof(config), "topology: %s\n", fake_slurm_path("state/elsewhere"));
	fake_slurm_file("state/elsewhere", FAKE_TOPOLOGY("other"));
	fake_slurm_file("onespine.yaml", config);
	shadow_state_load();
	assert_string_equal(fake_leaf_of_first(), "other");
	fake_slurm_file("state/elsewhere", NULL);
}

/* Without a slurm.conf of a known place: what lies in the working folder. */
static void finds_files_without_a_slurm_conf(void **state)
{
	static char relative[] = "slurm.conf";
	char *known = slurm_conf.slurm_conf;
	char *const confs[] = {NULL, relative};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		slurm_conf.slurm_conf = confs[i];
		shadow_state_load();
		assert_false(policy_is_always()); /* there is none, and no file is a valid one */
		assert_string_equal(fake_leaf_of_first(), "l1");
		slurm_conf.slurm_conf = known;
		shadow_state_load();
		assert_true(policy_is_always());
	}
}

/* --- Slurm's nodes ---------------------------------------------------------------------------- */

static void lays_the_topology_over_other_nodes(void **state)
{
	node_record_t *node = node_record_table_ptr[5];

	(void)state;
	node_record_table_ptr[5] = NULL; /* as Slurm leaves the place of a node that is gone */
	shadow_state_load();
	assert_true(logged("0 of Slurm's 16 nodes are not in it"));
	assert_false(osp_nodeset_test(shadow_state.up, 5));
	node_record_table_ptr[5] = node;
	xfree(node->name);
	shadow_state_load();
	node->name = xstrdup("other6");
	shadow_state_load();
	assert_true(logged("1 of Slurm's 16 nodes are not in it"));
	node_record_count = 0;
	shadow_state_load();
	assert_null(shadow_state.topology);
	node_record_count = NODES;
	shadow_state_load();
	assert_non_null(shadow_state.topology);
}

static void refuses_nodes_of_one_name(void **state)
{
	char *name = node_record_table_ptr[1]->name;

	(void)state;
	node_record_table_ptr[1]->name = node_record_table_ptr[0]->name;
	shadow_state_load();
	assert_true(logged("cannot lay the topology over Slurm's nodes: "));
	assert_null(shadow_state.topology);
	node_record_table_ptr[1]->name = name;
}

static void sees_states_of_nodes(void **state)
{
	static const struct {
		uint32_t state;
		bool up, reserved;
	} cases[] = {
		{NODE_STATE_IDLE, true, false},
		{NODE_STATE_ALLOCATED, true, false},
		{NODE_STATE_DOWN, false, false},
		{NODE_STATE_IDLE | NODE_STATE_DRAIN, false, false},
		{NODE_STATE_IDLE | NODE_STATE_FAIL, false, false},
		{NODE_STATE_IDLE | NODE_STATE_NO_RESPOND, false, false},
		{NODE_STATE_IDLE | NODE_STATE_NO_RESPOND | NODE_STATE_POWERED_DOWN, true, false},
		{NODE_STATE_IDLE | NODE_STATE_NO_RESPOND | NODE_STATE_POWERING_UP, true, false},
		{NODE_STATE_IDLE | NODE_STATE_NO_RESPOND | NODE_STATE_POWERING_DOWN, true, false},
		{NODE_STATE_IDLE | NODE_STATE_RES, true, true},
		{NODE_STATE_IDLE | NODE_STATE_MAINT, true, true},
	};
	time_t now = time(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		node_record_table_ptr[3]->node_state = cases[i].state;
		shadow_state_refresh(now += 1);
		assert_int_equal(osp_nodeset_test(shadow_state.up, 3), cases[i].up);
		assert_int_equal(osp_nodeset_test(shadow_state.reserved, 3), cases[i].reserved);
		assert_true(osp_nodeset_test(shadow_state.up, 4));
	}
	/* once a second */
	node_record_table_ptr[3]->node_state = NODE_STATE_DOWN;
	shadow_state_refresh(now);
	assert_true(osp_nodeset_test(shadow_state.up, 3));
}

static void sees_weights_and_kinds(void **state)
{
	node_record_t *first = node_record_table_ptr[0];
	config_record_t *config = node_record_table_ptr[2]->config_ptr;

	(void)state;
	assert_false(shadow_state.weights_differ);
	assert_int_equal(shadow_state.kind_count, 1);
	node_record_table_ptr[0] = NULL; /* a place without a node weighs nothing */
	config->gres = xstrdup("gpu:h100:8");
	look_at_nodes();
	assert_false(shadow_state.weights_differ);
	assert_int_equal(shadow_state.kind_count, 2);
	assert_int_not_equal(shadow_state.kind[2], shadow_state.kind[3]);
	assert_int_equal(shadow_state.kind[1], shadow_state.kind[3]);
	config->weight = 5;
	look_at_nodes();
	assert_true(shadow_state.weights_differ);
	assert_int_equal(shadow_state.weight[2], 5);
	node_record_table_ptr[0] = first;
}

/* Sixteen nodes of one leaf that EC2 placed at the boot 1000. */
static void place_by_ec2(uint32_t count)
{
	static char text[1 << 18];
	size_t length;

	length = (size_t)snprintf(
		text, sizeof(text),
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": "
		"[{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n[1-%u]\"}], "
		"\"places\": [{\"source\": \"ec2\", \"nodes\": [",
		count);
	for (uint32_t n = 0; n < count; n++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s\"n%u i-%u 1000\"", n ? "," : "", n + 1, n + 1);
		node_record_table_ptr[n]->boot_time = 1001;
	}
	snprintf(text + length, sizeof(text) - length, "]}]}");
	fake_slurm_file("onespine.topology", text);
	shadow_state_load();
}

static void sees_which_places_may_be_old(void **state)
{
	static const struct {
		uint32_t state;
		time_t boot;
		bool old;
	} cases[] = {
		{NODE_STATE_IDLE, 1000, false},
		{NODE_STATE_ALLOCATED, 1060, false},
		{NODE_STATE_IDLE, 1061, true},
		{NODE_STATE_IDLE, 0, true},
		{NODE_STATE_DOWN, 1000, false},
		{NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN, 1000, true},
		{NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN, 1000, true},
		{NODE_STATE_IDLE | NODE_STATE_POWERING_UP, 1000, true},
		{NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, 1000, true},
		{NODE_STATE_ALLOCATED | NODE_STATE_POWER_DOWN, 1000, false},
		{NODE_STATE_MIXED | NODE_STATE_POWER_DOWN, 1000, false},
		{NODE_STATE_ALLOCATED | NODE_STATE_POWER_DOWN, 1061, true},
		{NODE_STATE_ALLOCATED | NODE_STATE_POWER_DOWN | NODE_STATE_POWERING_UP, 1000, true},
		{NODE_STATE_IDLE | NODE_STATE_POWER_DOWN, 1000, true},
		{NODE_STATE_IDLE, 1000, false},
	};
	node_record_t *node;

	(void)state;
	place_by_ec2(NODES);
	assert_true(osp_nodeset_empty(shadow_state.old_places));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		node_record_table_ptr[3]->node_state = cases[i].state;
		node_record_table_ptr[3]->boot_time = cases[i].boot;
		look_at_nodes();
		assert_int_equal(osp_nodeset_test(shadow_state.old_places, 3), cases[i].old);
		assert_int_equal(osp_nodeset_count(shadow_state.old_places), cases[i].old);
	}
	node = node_record_table_ptr[3];
	node->boot_time = 9;
	look_at_nodes();
	node_record_table_ptr[3] = NULL; /* it is gone */
	look_at_nodes();
	assert_true(osp_nodeset_empty(shadow_state.old_places));
	node_record_table_ptr[3] = node;
}

/* --- large clusters --------------------------------------------------------------------------- */

static void ends_cluster(void)
{
	fake_shadow_end();
	fake_shadow_begin(NODES, 4, "");
}

/* More kinds than there is room for: the last ones share a number. */
static void counts_kinds_to_an_end(void **state)
{
	(void)state;
	fake_shadow_end();
	fake_shadow_begin(80, 4, "");
	for (int n = 0; n < 80; n++) {
		char gres[32];

		snprintf(gres, sizeof(gres), "gpu:type%d:8", n);
		node_record_table_ptr[n]->config_ptr->gres = xstrdup(gres);
	}
	look_at_nodes();
	assert_int_equal(shadow_state.kind_count, 64);
	assert_int_not_equal(shadow_state.kind[0], shadow_state.kind[1]);
	assert_int_equal(shadow_state.kind[63], shadow_state.kind[79]);
	ends_cluster();
}

/* 4,096 nodes a second, and then the next. */
static void looks_at_many_nodes_in_turn(void **state)
{
	(void)state;
	fake_shadow_end();
	fake_shadow_begin(5000, 4, "");
	for (int n = 0; n < 5000; n++)
		node_record_table_ptr[n]->node_state = NODE_STATE_DOWN;
	look_at_nodes();
	assert_int_equal(osp_nodeset_count(shadow_state.up), 5000 - 4096);
	look_at_nodes();
	assert_int_equal(osp_nodeset_count(shadow_state.up), 0);
	node_record_table_ptr[0]->node_state = NODE_STATE_IDLE;
	look_at_nodes();
	assert_int_equal(osp_nodeset_count(shadow_state.up), 1);
	ends_cluster();
}

/* 4,096 nodes a second too; those whose places were asked for anew at once. */
static void looks_at_many_places_in_turn(void **state)
{
	(void)state;
	fake_shadow_end();
	fake_shadow_begin(5000, 4, "");
	place_by_ec2(5000);
	for (int n = 0; n < 5000; n++)
		node_record_table_ptr[n]->boot_time = 5000;
	look_at_nodes();
	assert_in_range(osp_nodeset_count(shadow_state.old_places), 1, 4096);
	look_at_nodes();
	assert_int_equal(osp_nodeset_count(shadow_state.old_places), 5000);
	for (uint32_t n = 0; n < 5000; n++)
		shadow_state.place_boot_s[n] = 5000;
	shadow_state.places_changed = true;
	look_at_nodes();
	assert_true(osp_nodeset_empty(shadow_state.old_places));
	ends_cluster();
}

/* --- without memory --------------------------------------------------------------------------- */

/* Whichever allocation fails: all of the state stands, or none of it, and gangs wait. */
static bool loads_all(void *context)
{
	bool whole;

	(void)context;
	shadow_state_free();
	shadow_state_load();
	whole = shadow_state.topology && shadow_state.chooser && shadow_state.seam_place &&
		shadow_state.kind && shadow_state.weight && shadow_state.up &&
		shadow_state.reserved && shadow_state.old_places && shadow_state.place_boot_s;
	assert_true(whole || !shadow_state.topology);
	return whole;
}

static void stays_whole_without_memory(void **state)
{
	(void)state;
	no_memory_everywhere(loads_all, NULL);
	assert_true(loads_all(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_cluster, without_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_again_what_has_changed),
		TEST(keeps_what_was_good),
		TEST(tells_the_line_of_a_wrong_policy),
		TEST(tells_of_names_that_mean_nothing),
		TEST(calls_a_fabric_without_the_default_level_no_error),
		TEST(obeys_no_file_that_others_may_write),
		TEST(obeys_no_file_of_another_user),
		TEST(takes_the_kept_copies_after_a_restart),
		TEST(goes_on_where_no_copy_can_be_kept),
		TEST(finds_files_by_their_path),
		TEST(finds_files_without_a_slurm_conf),
		TEST(lays_the_topology_over_other_nodes),
		TEST(refuses_nodes_of_one_name),
		TEST(sees_states_of_nodes),
		TEST(sees_which_places_may_be_old),
		TEST(sees_weights_and_kinds),
		TEST(counts_kinds_to_an_end),
		TEST(looks_at_many_nodes_in_turn),
		TEST(looks_at_many_places_in_turn),
		TEST(stays_whole_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
