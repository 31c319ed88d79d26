/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_beside.c - a level beside the tree: what policies, requests and gangs on it are held
 * to in slurmctld */
#include "tests/unit/shadow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/effective.h"
#include "sched/seam.h"

#define NODES SHADOW_NODES

/* Two spines of two leaves of four nodes; v1 crosses the leaves of s1, v2 lies in l3. */
static const char fabric[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], "
	"\"overlays\": [\"nvlink\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"s1\"}, {\"level\": \"spine\", \"name\": \"s2\"}, "
	"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n[1-4]\"}, "
	"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s1\", \"nodes\": \"n[5-8]\"}, "
	"{\"level\": \"leaf\", \"name\": \"l3\", \"in\": \"s2\", \"nodes\": \"n[9-12]\"}, "
	"{\"level\": \"leaf\", \"name\": \"l4\", \"in\": \"s2\", \"nodes\": \"n[13-16]\"}, "
	"{\"level\": \"nvlink\", \"name\": \"v1\", \"nodes\": \"n[3-6]\"}, "
	"{\"level\": \"nvlink\", \"name\": \"v2\", \"nodes\": \"n[9-10]\"}]}";

static const char policies[] = "defaults:\n"
			       "  level: spine\n"
			       "partitions:\n"
			       "  leafs: {gang: always, level: leaf, allow_off: false}\n"
			       "  spines: {gang: always, level: spine, allow_off: false}\n"
			       "  nvlinks: {gang: always, level: nvlink, allow_off: false}\n";

static struct osp_effective effective;
static char sentence[OSP_ERROR_TEXT_BYTES];

static void read_fabric(const char *text)
{
	fake_slurm_file("onespine.topology", text);
	fake_slurm_file("onespine.yaml", policies);
	shadow_state_free();
	shadow_state_load();
	shadow_count_again();
	fake_slurm_log();
	assert_int_equal(osp_topology_overlay_count(shadow_state.topology), 1);
}

static int with_overlay(void **state)
{
	shadow_calls_begin(state);
	fake_partition("leafs", 0, NODES);
	fake_partition("spines", 0, NODES);
	fake_partition("nvlinks", 0, NODES);
	read_fabric(fabric);
	return 0;
}

static job_record_t *job_of(uint32_t id, uint32_t nodes, const char *partitions, const char *in)
{
	job_record_t *job = job_in(id, nodes, partitions);

	job->part_ptr = find_part_record((char *)in);
	return job;
}

/* --- policies --------------------------------------------------------------------------------- */

/* Where the levels that a list of partitions promises cross, no request keeps all promises: the
 * job is held to that of the partition that it is tried in. */
static void crossing_promises_hold_each_in_its_partition(void **state)
{
	static const struct {
		const char *partitions, *in, *level;
	} cases[] = {
		{"leafs,nvlinks", "leafs", "leaf"},
		{"leafs,nvlinks", "nvlinks", "nvlink"},
		{"nvlinks,leafs", "leafs", "leaf"},
		{"nvlinks,leafs", "nvlinks", "nvlink"},
		/* leaves lie in spines, and v1 and v2 do too: the lower level keeps both */
		{"spines,leafs", "spines", "leaf"},
		{"spines,leafs", "leafs", "leaf"},
		{"spines,nvlinks", "spines", "nvlink"},
		{"nvlinks,spines", "spines", "nvlink"},
		{"nvlinks", "nvlinks", "nvlink"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = job_of(i + 1, 2, cases[i].partitions, cases[i].in);

		assert_true(shadow_gang_request(job, &effective));
		assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
		assert_string_equal(effective.level, cases[i].level);
	}
}

/* --- what a user asks for --------------------------------------------------------------------- */

/* "" where it is accepted. */
static const char *judged(const struct osp_seam_job *job, const char *option)
{
	struct osp_request request = {.origin = OSP_FROM_OPTION, .relax_s = -1};

	assert_int_equal(osp_request_parse(option, &request, NULL), 0);
	sentence[0] = '\0';
	return shadow_seam.resolve(job, &request, &effective, sentence, sizeof(sentence)) ? sentence
											  : "";
}

static void refuses_what_cannot_be_beside_the_tree(void **state)
{
	static const struct {
		const char *partition, *option;
		uint32_t nodes;
		const char *says;
	} cases[] = {
		{"gpu", "nvlink", 4, ""},
		/* no level is above that would take what the largest does not */
		{"gpu", "nvlink", 5,
		 "5 nodes on one nvlink asked for; the largest nvlink of partition gpu has 4 (v1); "
		 "ask for 4 nodes"},
		{"nvlinks", "nvlink", 5,
		 "5 nodes on one nvlink asked for; the largest nvlink of partition nvlinks has 4 "
		 "(v1); ask for 4 nodes"},
		/* no leaf lies in an nvlink */
		{"nvlinks", "leaf,prefer", 2,
		 "--gang=leaf,prefer: its partition already holds gangs to one nvlink, which is "
		 "beside the tree, so that no leaf lies in it; ask for --gang=nvlink"},
		{"gpu", "leaf,prefer", 2, ""},
		{"gpu", "nvlink,prefer", 2,
		 "--gang=nvlink,prefer: its partition already holds gangs to one spine, and nvlink "
		 "is no level below; ask for --gang=nvlink"},
		/* one nvlink may cross the leaf that the partition promises */
		{"leafs", "nvlink", 2,
		 "partition leafs holds its jobs to one leaf, which one nvlink may cross: nvlink "
		 "v1 "
		 "has nodes in leaf l1 and in leaf l2; ask for another level, or for other "
		 "partitions"},
		{"gpu,leafs", "nvlink", 2,
		 "partition leafs holds its jobs to one leaf, which one nvlink may cross: nvlink "
		 "v1 "
		 "has nodes in leaf l1 and in leaf l2; ask for another level, or for other "
		 "partitions"},
		{"spines", "nvlink", 2, ""},
		/* a layout's groups lie in nodes that follow each other, in one nvlink */
		{"gpu", "nvlink layout=tp16,dp2", 4, ""},
		{"gpu", "nvlink layout=tp16,dp2 keep=tp:leaf", 4,
		 "--gang-keep=tp:leaf: below nvlink, which is beside the tree, there are only "
		 "nodes; leave tp:leaf out, or ask for a level of the tree"},
		{"gpu", "nvlink layout=tp16,dp2 keep=tp:node", 4,
		 "--gang-keep=tp:node: tp groups take 2 nodes in a row, and the largest node has "
		 "1; "
		 "no level below the gang's, nvlink, holds so many: leave tp:node out"},
		{"gpu", "nvlink layout=tp8,dp4 keep=tp:node", 4, ""},
		{"gpu", "nvlink layout=tp16,dp2 keep=tp:nvlink", 4,
		 "--gang-keep=tp:nvlink: level nvlink is beside the tree: groups are kept in "
		 "levels "
		 "of the tree; say segments of it instead, as --gang-segment=nvlink:N"},
		{"gpu", "nvlink domains=2 layout=tp16,dp2", 4,
		 "--gang-domains=2: level nvlink is beside the tree, and a gang is in one domain "
		 "of "
		 "it; ask for a level of the tree, and --gang-segment=nvlink:N"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct osp_seam_job job = {.partition = cases[i].partition,
						 .min_nodes = cases[i].nodes};

		assert_string_equal(judged(&job, cases[i].option), cases[i].says);
	}
}

/* Where nvlinks hold whole leaves of two spines, a leaf may be asked for under a promise of one
 * nvlink; a spine, which would hold the gang, is not below that. */
static void names_no_level_that_the_promise_does_not_hold(void **state)
{
	static const char whole_leaves[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], "
		"\"overlays\": [\"nvlink\"], \"domains\": ["
		"{\"level\": \"spine\", \"name\": \"s1\"}, {\"level\": \"spine\", \"name\": "
		"\"s2\"}, "
		"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n[1-4]\"}, "
		"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s1\", \"nodes\": \"n[5-8]\"}, "
		"{\"level\": \"leaf\", \"name\": \"l3\", \"in\": \"s2\", \"nodes\": \"n[9-12]\"}, "
		"{\"level\": \"leaf\", \"name\": \"l4\", \"in\": \"s2\", \"nodes\": \"n[13-16]\"}, "
		"{\"level\": \"nvlink\", \"name\": \"v1\", \"nodes\": \"n[1-4,9-12]\"}, "
		"{\"level\": \"nvlink\", \"name\": \"v2\", \"nodes\": \"n[5-8,13-16]\"}]}";
	const struct osp_seam_job few = {.partition = "nvlinks", .min_nodes = 4};
	const struct osp_seam_job many = {.partition = "nvlinks", .min_nodes = 5};

	(void)state;
	read_fabric(whole_leaves);
	assert_string_equal(judged(&few, "leaf"), "");
	assert_string_equal(effective.level, "leaf");
	assert_string_equal(judged(&many, "leaf"),
			    "5 nodes on one leaf asked for; the largest leaf of partition nvlinks "
			    "has 4 (l1); ask for 4 nodes");
}

/* --- gangs ------------------------------------------------------------------------------------ */

static void assert_given(job_record_t *job, const char *nodes)
{
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), nodes);
}

static void begin(job_record_t *job)
{
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
}

/* After its time a gang on a level beside the tree may be anywhere: no level is above it. */
static void relaxes_to_anywhere(void **state)
{
	job_record_t *job = gang(1, 4, "nvlink@1");

	(void)state;
	busy(50, 2, 1, 1000); /* a node of v1 */
	job->details->submit_time = job->details->begin_time = asked.now;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: 4 nodes on one nvlink; nearest: v1 has 3 free of 4 (1 short)");
	job->details->submit_time = job->details->begin_time = asked.now - 100;
	assert_given(job, "0-1,3-4");
	begin(job);
	assert_says(job, "placed: 4 nodes in no common nvlink");
}

static void takes_one_domain_beside_the_tree(void **state)
{
	job_record_t *job = gang(1, 4, "nvlink"), *small = gang(2, 2, "nvlink");

	(void)state;
	assert_given(job, "2-5");
	begin(job);
	assert_says(job, "placed: 4 nodes on nvlink v1");
	assert_given(small, "8-9");
	begin(small);
	assert_says(small, "placed: 2 nodes on nvlink v2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_overlay, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(crossing_promises_hold_each_in_its_partition),
		TEST(refuses_what_cannot_be_beside_the_tree),
		TEST(names_no_level_that_the_promise_does_not_hold),
		TEST(takes_one_domain_beside_the_tree),
		TEST(relaxes_to_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
