/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_level.c - a level is taken away, and one is made of nodes' own words */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/topology/blocks.h"
#include "lib/topology/level.h"
#include "lib/topology/readers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char fabric[] =
	"{\"onespine-topology\": 1, \"levels\": [\"nvlink\", \"leaf\", \"spine\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"s1\"},"
	"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n1\"},"
	"{\"level\": \"nvlink\", \"name\": \"v1\", \"in\": \"l1\", \"nodes\": \"n2\"},"
	"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s1\", \"nodes\": \"n3\"},"
	"{\"level\": \"nvlink\", \"name\": \"v2\", \"nodes\": \"n4\"}],"
	"\"places\": [{\"source\": \"ec2\", \"nodes\": [\"n2 i-2 1700000000\"]}]}";

static struct osp_topology *read_fabric(void)
{
	struct osp_topology *topology =
		osp_read_onespine_topology("f", fabric, strlen(fabric), NULL);

	assert_non_null(topology);
	return topology;
}

static const char *domain_of(const struct osp_topology *topology, const char *node,
			     const char *level)
{
	uint32_t domain = osp_topology_domain_of(topology, osp_topology_find_node(topology, node),
						 (uint32_t)osp_topology_level(topology, level));

	return domain == OSP_NO_DOMAIN ? "" : osp_topology_domain(topology, domain)->name;
}

static void what_lay_in_the_level_lies_above(void **state)
{
	struct osp_topology *topology = read_fabric();
	struct osp_topology *plain = osp_topology_without_level(topology, 1, NULL);
	struct osp_topology *top = osp_topology_without_level(topology, 3, NULL);

	(void)state;
	assert_int_equal(osp_topology_level_count(plain), 2);
	assert_int_equal(osp_topology_level(plain, "nvlink"), -1);
	assert_int_equal(osp_topology_node_count(plain), 4);
	assert_string_equal(domain_of(plain, "n2", "leaf"), "l1");
	assert_string_equal(domain_of(plain, "n2", "spine"), "s1");
	assert_string_equal(domain_of(plain, "n4", "leaf"), "");
	assert_string_equal(osp_topology_note_of(plain, "n2")->instance_id, "i-2");
	assert_string_equal(domain_of(top, "n2", "nvlink"), "v1");
	assert_string_equal(domain_of(top, "n2", "leaf"), "l1");
	osp_topology_free(plain);
	osp_topology_free(top);
	osp_topology_free(topology);
}

static void the_only_level_stays(void **state)
{
	static const char one[] = "{\"onespine-topology\": 1, \"levels\": [\"nvlink\"], "
				  "\"domains\": [{\"level\": \"nvlink\", \"name\": \"v\", "
				  "\"nodes\": \"n1\"}]}";
	struct osp_topology *topology = osp_read_onespine_topology("f", one, strlen(one), NULL);
	struct osp_error error = {.text = ""};

	(void)state;
	assert_null(osp_topology_without_level(topology, 1, &error));
	assert_string_equal(error.text, "there is no level but nvlink");
	osp_topology_free(topology);
}

/* --- blocks node by node ---------------------------------------------------------------------- */

static const char leaves[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"s1\"},"
	"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n[1-2]\"},"
	"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s1\", \"nodes\": \"n[3-4]\"}]}";

struct pair {
	const char *node, *block;
};

static struct osp_blocks *make_blocks(const struct pair *pairs, size_t count)
{
	struct osp_blocks *blocks = osp_blocks_new();

	for (size_t i = 0; i < count; i++)
		assert_int_equal(osp_blocks_take(blocks, pairs[i].block, pairs[i].node, NULL), 0);
	return blocks;
}

static void blocks_of_single_nodes_become_a_level(void **state)
{
	static const struct pair pairs[] = {
		{"n1", "a"}, {"n3", "b"}, {"n2", "a"}, {"n9", "b"}, {"n4", "c"}};
	struct osp_topology *topology =
		osp_read_onespine_topology("f", leaves, strlen(leaves), NULL);
	struct osp_blocks *blocks = make_blocks(pairs, COUNT(pairs));
	struct osp_error beside = {.text = ""};
	struct osp_topology *made = osp_blocks_insert(topology, blocks, &beside, NULL);

	(void)state;
	assert_non_null(made);
	assert_string_equal(domain_of(made, "n1", "nvlink"), "a");
	assert_string_equal(domain_of(made, "n2", "nvlink"), "a");
	assert_string_equal(domain_of(made, "n3", "nvlink"), "b");
	assert_string_equal(domain_of(made, "n4", "nvlink"), "c");
	assert_string_equal(domain_of(made, "n4", "leaf"), "l2");
	assert_int_equal(osp_topology_overlay_count(made), 0);
	assert_string_equal(beside.text, "");
	osp_topology_free(made);
	osp_topology_free(topology);
	osp_blocks_free(blocks);
}

static void blocks_that_cross_are_beside_the_tree(void **state)
{
	static const struct pair pairs[] = {{"n1", "a"}, {"n3", "a"}, {"n2", "b"}, {"n4", "c"}};
	struct osp_topology *topology =
		osp_read_onespine_topology("f", leaves, strlen(leaves), NULL);
	struct osp_blocks *blocks = make_blocks(pairs, COUNT(pairs));
	struct osp_error beside = {.text = ""};
	struct osp_topology *made = osp_blocks_insert(topology, blocks, &beside, NULL);

	(void)state;
	assert_string_equal(beside.text, "level nvlink is beside the tree: block a is in l1 and in "
					 "l2; 1 of 3 domains cross level leaf");
	assert_int_equal(osp_topology_level_count(made), osp_topology_level_count(topology));
	assert_int_equal(osp_topology_overlay_count(made), 1);
	assert_string_equal(domain_of(made, "n1", "nvlink"), "a");
	assert_string_equal(domain_of(made, "n2", "nvlink"), "b");
	assert_string_equal(domain_of(made, "n3", "nvlink"), "a");
	assert_string_equal(domain_of(made, "n3", "leaf"), "l2");
	osp_topology_free(made);
	osp_topology_free(topology);
	osp_blocks_free(blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lay_in_the_level_lies_above),
		cmocka_unit_test(the_only_level_stays),
		cmocka_unit_test(blocks_of_single_nodes_become_a_level),
		cmocka_unit_test(blocks_that_cross_are_beside_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
