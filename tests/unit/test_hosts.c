/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_hosts.c - hosts in fabric order, their formats, and the advice on Slurm's settings */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/readers.h"
#include "host/slurm/hosts.h"

/* Names that say nothing of the switch, unpadded, as clouds give them. */
static const char conf[] = "SwitchName=l1 Nodes=q-[1,3,11]\nSwitchName=l2 Nodes=q-[2,4,10]\n"
			   "SwitchName=l3 Nodes=q-[5-8]\nSwitchName=s1 Switches=l[1,3]\n"
			   "SwitchName=s2 Switches=l2\n";

static struct osp_topology *topology;

static int set_up(void **state)
{
	(void)state;
	topology = osp_read_slurm_topology("t", conf, strlen(conf), NULL);
	return topology ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	osp_topology_free(topology);
	return 0;
}

static void check_written(const char *list, enum osp_hosts_format format, uint32_t tasks,
			  const char *only, const char *expected)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_hosts hosts;

	if (osp_hosts_order(topology, list, &hosts, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(osp_hosts_write(&hosts, format, tasks, only, &text), expected != NULL);
	assert_string_equal(text.data ? text.data : "", expected ? expected : "");
	osp_text_free(&text);
	osp_hosts_clear(&hosts);
}

static void test_orders(void **state)
{
	static const struct {
		const char *list;
		const char *fabric; /* a line each */
		uint32_t listed;
		uint32_t strings;
		uint32_t best;
		uint32_t unknown;
	} cases[] = {
		/* spine s1 holds l1 and l3 */
		{"q-[1-4,10-11]", "q-1\nq-3\nq-11\nq-2\nq-4\nq-10\n", 4, 5, 1, 0},
		{"q-[1-8]", "q-1\nq-3\nq-5\nq-6\nq-7\nq-8\nq-2\nq-4\n", 4, 4, 2, 0},
		{"q-[5-8]", "q-5\nq-6\nq-7\nq-8\n", 0, 0, 0, 0},
		{"q-4,q-1,q-2,q-1", "q-1\nq-2\nq-4\n", 2, 1, 1, 0},
		{"z9,q-2,z10,q-1", "q-1\nq-2\nz9\nz10\n", 3, 2, 2, 2},
		{"q-7", "q-7\n", 0, 0, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_hosts hosts;

		check_written(cases[i].list, OSP_HOSTS_PLAIN, 0, NULL, cases[i].fabric);
		assert_int_equal(osp_hosts_order(topology, cases[i].list, &hosts, NULL), 0);
		assert_int_equal(hosts.changes.listed, cases[i].listed);
		assert_int_equal(hosts.changes.strings, cases[i].strings);
		assert_int_equal(hosts.changes.fabric, cases[i].best);
		assert_int_equal(hosts.unknown_count, cases[i].unknown);
		osp_hosts_clear(&hosts);
	}
}

static void test_formats(void **state)
{
	(void)state;
	check_written("q-[2,10-11]", OSP_HOSTS_TORCHRUN, 0, NULL,
		      "q-11 --nnodes=3 --node_rank=0 --master_addr=q-11\n"
		      "q-2 --nnodes=3 --node_rank=1 --master_addr=q-11\n"
		      "q-10 --nnodes=3 --node_rank=2 --master_addr=q-11\n");
	check_written("q-[2,10-11]", OSP_HOSTS_TORCHRUN, 0, "q-10",
		      "--nnodes=3 --node_rank=2 --master_addr=q-11\n");
	check_written("q-[2,10-11]", OSP_HOSTS_TORCHRUN, 0, "Q-10.cluster.example",
		      "--nnodes=3 --node_rank=2 --master_addr=q-11\n");
	check_written("q-[2,10-11]", OSP_HOSTS_TORCHRUN, 0, "q-1", NULL);
	check_written("q-[2,10-11]", OSP_HOSTS_PLAIN, 0, "q-2", "q-2\n");
	check_written("q-[1-2]", OSP_HOSTS_MPIRUN, 0, NULL, "q-1\nq-2\n");
	check_written("q-[1-2]", OSP_HOSTS_MPIRUN, 2, NULL, "q-1\nq-1\nq-2\nq-2\n");
	check_written("q-[1-2]", OSP_HOSTS_SLURM, 0, NULL, "q-1\nq-2\n");
	check_written("q-[1-2]", OSP_HOSTS_SLURM, 2, NULL, "q-1\nq-1\nq-2\nq-2\n");
}

static void test_refusals(void **state)
{
	struct osp_error error = {.text = ""};
	struct osp_hosts hosts;

	(void)state;
	assert_int_equal(osp_hosts_order(topology, "q-[1-", &hosts, &error), -1);
	assert_string_equal(error.text, "a number is expected here");
	osp_hosts_clear(&hosts);
	osp_error_clear(&error);
	assert_int_equal(osp_hosts_order(topology, " ", &hosts, &error), -1);
	assert_string_equal(error.text, "no host in the list");
	osp_hosts_clear(&hosts);
	osp_error_clear(&error);
	assert_int_equal(osp_hosts_format("torchurn", &error), -1);
	assert_string_equal(error.text, "--format=torchurn: plain, torchrun, mpirun or slurm; did "
					"you mean torchrun?");
}

static void test_advice(void **state)
{
	static const struct {
		const char *plugin;
		const char *param;
		const char *version;
		const char *words;
	} cases[] = {
		{NULL, NULL, NULL,
		 "with topology/tree, Slurm 23.02 and later have a setting against it: "
		 "TopologyParam=SwitchAsNodeRank"},
		{"topology/tree", "", "24.11.5",
		 "Slurm has a setting against it, for slurm.conf: TopologyParam=SwitchAsNodeRank"},
		{"topology/tree", "RouteTree", "23.02.0",
		 "Slurm has a setting against it, for slurm.conf: "
		 "TopologyParam=RouteTree,SwitchAsNodeRank"},
		{"topology/tree", "routetree,switchasnoderank", "24.11.5",
		 "TopologyParam=SwitchAsNodeRank is set, so Slurm's own topology differs from "
		 "ours"},
		{"topology/tree", "", "22.05.8",
		 "Slurm 22.05.8 has no setting against it; TopologyParam=SwitchAsNodeRank came "
		 "with "
		 "23.02"},
		{"topology/block", "", "25.11.1",
		 "Slurm has a setting against it, for slurm.conf: TopologyParam=BlockAsNodeRank"},
		{"topology/block", "", "25.05.0",
		 "Slurm 25.05.0 has no setting against it; TopologyParam=BlockAsNodeRank came with "
		 "25.11"},
		{"topology/none", "", "22.05.8",
		 "Slurm knows no switches here (topology/none), so it has no "
		 "setting "
		 "against it"},
	};
	char buffer[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(osp_hosts_advice(cases[i].plugin, cases[i].param,
						     cases[i].version, buffer, sizeof(buffer)),
				    cases[i].words);
}

static void test_json(void **state)
{
	struct osp_hosts hosts;
	json_t *root;
	char *text;

	(void)state;
	assert_int_equal(osp_hosts_order(topology, "q-[2-3],x", &hosts, NULL), 0);
	root = osp_hosts_to_json(&hosts, NULL);
	text = json_dumps(root, JSON_COMPACT);
	assert_string_equal(
		text,
		"{\"count\":3,\"unknown\":1,\"hosts\":["
		"{\"rank\":0,\"name\":\"q-3\",\"known\":true,\"leaf\":\"l1\",\"spine\":\"s1\"},"
		"{\"rank\":1,\"name\":\"q-2\",\"known\":true,\"leaf\":\"l2\",\"spine\":\"s2\"},"
		"{\"rank\":2,\"name\":\"x\",\"known\":false}],"
		"\"changes\":{\"as_listed\":2,\"sorted_as_strings\":2,\"fabric\":2},"
		"\"advice\":null}");
	free(text);
	json_decref(root);
	osp_hosts_clear(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),	 cmocka_unit_test(test_formats),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_advice),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
