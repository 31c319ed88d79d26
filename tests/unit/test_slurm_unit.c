/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slurm_unit.c - Slurm's own Topology= of a node says what onespine.topology says */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/readers.h"
#include "lib/topology/slurm_unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char fabric[] =
	"{\"onespine-topology\": 1, \"levels\": [\"nvlink\", \"leaf\", \"spine\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"s1\"},"
	"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n1\"},"
	"{\"level\": \"nvlink\", \"name\": \"v1\", \"in\": \"l1\", \"nodes\": \"n2\"},"
	"{\"level\": \"leaf\", \"name\": \"l2\", \"nodes\": \"n3\"},"
	"{\"level\": \"nvlink\", \"name\": \"v2\", \"nodes\": \"n4\"},"
	"{\"level\": \"leaf\", \"name\": \"a b\", \"in\": \"s1\", \"nodes\": \"n5\"}]}";

static void a_path_below_the_sites_switch(void **state)
{
	static const struct {
		const char *node, *current, *wanted; /* "": nothing is to be changed */
	} cases[] = {
		{"n1", "", "default:fabric:s1:l1"},
		{"n1", "default:fabric:s1:l1", ""},
		{"n1", "default:fabric:s1:l2", "default:fabric:s1:l1"},
		{"n1", "default:l1", "default:fabric:s1:l1"},
		/* what lies below the leaf is no switch */
		{"n2", "", "default:fabric:s1:l1"},
		/* an unknown spine is left out, an unknown leaf leaves the node alone */
		{"n3", "", "default:fabric:l2"},
		{"n4", "default:x", ""},
		/* places in other topologies stay */
		{"n1", "racks:b3", "default:fabric:s1:l1,racks:b3"},
		{"n1", "racks:b3,default:old,default2:b1,",
		 "default:fabric:s1:l1,racks:b3,default2:b1"},
		{"n1", "default:fabric:s1:l1,racks:b3", ""},
		{"n1", "default", "default:fabric:s1:l1"},
	};
	struct osp_topology *topology =
		osp_read_onespine_topology("f", fabric, strlen(fabric), NULL);

	(void)state;
	assert_non_null(topology);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_text unit = OSP_TEXT_INIT;

		assert_int_equal(osp_slurm_unit(topology,
						osp_topology_find_node(topology, cases[i].node),
						"default:fabric", cases[i].current, &unit, NULL),
				 0);
		assert_string_equal(unit.data ? unit.data : "", cases[i].wanted);
		osp_text_free(&unit);
	}
	osp_topology_free(topology);
}

static void a_name_that_slurm_cannot_read(void **state)
{
	struct osp_topology *topology =
		osp_read_onespine_topology("f", fabric, strlen(fabric), NULL);
	struct osp_text unit = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};

	(void)state;
	assert_non_null(topology);
	assert_int_equal(osp_slurm_unit(topology, osp_topology_find_node(topology, "n5"),
					"default:fabric", "", &unit, &error),
			 -1);
	assert_string_equal(error.text, "leaf a b cannot be a switch of Slurm's: 1 to 64 bytes "
					"without space and :,[]=\"'# are expected");
	assert_null(unit.data);
	osp_topology_free(topology);
}

static void where_paths_begin(void **state)
{
	static const char *const good[] = {"default:fabric", "t:s"};
	static const char *const bad[] = {"",	   ":",	    "default", "default:", ":s",
					  "a:b:c", "a b:c", "a,b:c",   "a:b[1-2]"};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(osp_slurm_unit_root(good[i]));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(osp_slurm_unit_root(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_below_the_sites_switch),
		cmocka_unit_test(a_name_that_slurm_cannot_read),
		cmocka_unit_test(where_paths_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
