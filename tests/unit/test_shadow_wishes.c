/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_wishes.c - a level that a gang prefers, features that it needs, and components whose
 * promises, partitions and numbers differ */
#include "tests/unit/shadow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/request.h"
#include "tests/unit/no_memory.h"

#define NODES SHADOW_NODES

/* --- a level that it prefers ------------------------------------------------------------------ */

static int begins(job_record_t *job)
{
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = bit_copy(asked.bitmap);
	return select_p_job_begin(job);
}

static void takes_the_level_that_it_prefers(void **state)
{
	job_record_t *job = gang(1, 3, "leaf,prefer");

	(void)state;
	busy(50, 0, 2, 1000);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-6");
	assert_int_equal(begins(job), SLURM_SUCCESS);
	assert_says(job, "placed: 3 nodes on leaf l2");
	assert_null(strstr(job->admin_comment, "could take it"));
}

static void starts_at_its_own_level_and_says_so(void **state)
{
	job_record_t *job = gang(1, 3, "leaf,prefer");

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 2, 1000);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_ffs(asked.bitmap) / 8, bit_fls(asked.bitmap) / 8);
	assert_int_equal(begins(job), SLURM_SUCCESS);
	assert_says(job, "2 leaves; no leaf could take it then");
}

/* A level that the fabric no longer has, and one that is not below, are not preferred. */
static void prefers_no_level_that_is_none_below(void **state)
{
	static const char *const levels[] = {"rack", "spine"};

	(void)state;
	busy(50, 0, 2, 1000);
	for (uint32_t i = 0; i < 2; i++) {
		job_record_t *job = fake_job(1 + i, 5);
		char entry[256];

		snprintf(entry, sizeof(entry),
			 OSP_EFFECTIVE "version=1,mode=enforce,level=spine,relax_s=-1,"
				       "origin=option,mix_kinds=no,prefer=%s",
			 levels[i]);
		fake_job_option(job, entry);
		assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_int_equal(begins(job), SLURM_SUCCESS);
		assert_says(job, "placed: 5 nodes on spine s");
		assert_null(strstr(job->admin_comment, "could take it"));
	}
}

/* --- features that it needs ------------------------------------------------------------------- */

static void add_feature(job_record_t *job, uint32_t first, uint32_t count, uint8_t op)
{
	job_feature_t *feature = xmalloc(sizeof(*feature));

	feature->node_bitmap_avail = fake_bitmap(first, count);
	feature->op_code = op;
	if (!job->details->feature_list)
		job->details->feature_list = list_create(NULL);
	list_append(job->details->feature_list, feature);
}

static void free_features(job_record_t *job)
{
	job_feature_t *feature;

	while ((feature = list_pop(job->details->feature_list))) {
		FREE_NULL_BITMAP(feature->node_bitmap_avail);
		xfree(feature);
	}
	FREE_NULL_LIST(job->details->feature_list);
}

/* Returns how many nodes it could ever have. */
static uint32_t prospects_of(job_record_t *job)
{
	struct osp_nodeset *usable = osp_nodeset_new(NODES);
	struct shadow_gang found = {.job = job, .usable = usable};
	struct osp_nodeset *prospects = shadow_gang_prospects(&found);
	uint32_t count = osp_nodeset_count(prospects);

	free(prospects);
	free(usable);
	return count;
}

/* With "a&b" the nodes that have both, with "a|b" those that have one; with counts any of these. */
static void counts_nodes_with_its_features(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	assert_int_not_equal(ask(gang(2, 17, "leaf"), SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(prospects_of(job), NODES);
	add_feature(job, 0, 6, FEATURE_OP_AND);
	add_feature(job, 3, 6, FEATURE_OP_END);
	assert_int_equal(prospects_of(job), 3);
	free_features(job);
	add_feature(job, 0, 6, FEATURE_OP_OR);
	add_feature(job, 3, 6, FEATURE_OP_END);
	assert_int_equal(prospects_of(job), 9);
	free_features(job);
}

/* Without memory it is not known that a node has not what it needs: all may be hoped for, or
 * nothing is known. */
static bool counts_featured(void *context)
{
	struct osp_nodeset *usable = osp_nodeset_new(NODES);
	struct shadow_gang found = {.job = context, .usable = usable};
	struct osp_nodeset *prospects = usable ? shadow_gang_prospects(&found) : NULL;
	uint32_t count = prospects ? osp_nodeset_count(prospects) : 0;

	free(prospects);
	free(usable);
	assert_true(count == 0 || count == 3 || count == NODES);
	return count == 3;
}

static void hopes_for_nodes_without_memory(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	assert_int_not_equal(ask(gang(2, 17, "leaf"), SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	add_feature(job, 0, 6, FEATURE_OP_AND);
	add_feature(job, 3, 6, FEATURE_OP_END);
	assert_true(no_memory_at_each(counts_featured, job) > 4);
	free_features(job);
}

/* In a reservation with FLEX it may have the nodes of that, and those of no reservation. */
static void counts_nodes_of_a_flexible_reservation(void **state)
{
	slurmctld_resv_t reservation = {.node_bitmap = fake_bitmap(0, 6),
					.flags = RESERVE_FLAG_FLEX};
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	node_record_table_ptr[1]->node_state = NODE_STATE_IDLE | NODE_STATE_RES;
	node_record_table_ptr[9]->node_state = NODE_STATE_IDLE | NODE_STATE_RES;
	select_p_node_init();
	assert_int_not_equal(ask(gang(2, 17, "leaf"), SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(prospects_of(job), NODES - 2);
	job->resv_ptr = &reservation;
	assert_int_equal(prospects_of(job), NODES - 1);
	job->resv_ptr = NULL;
	FREE_NULL_BITMAP(reservation.node_bitmap);
}

/* --- components ------------------------------------------------------------------------------- */

static uint32_t asked_for; /* nodes of the last question about component 2 */

static int give_least(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		      uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		      OSP_JOB_TEST_TAIL_PARAMETERS)
{
	if (job->het_job_offset)
		asked_for = req_nodes;
	return fake_job_test(job, nodes, min_nodes, max_nodes, min_nodes, mode, offered, taken,
			     OSP_JOB_TEST_TAIL_VALUES);
}

/* Two components of a job, of the partition, that say no size. */
static void two_components(uint32_t id, const char *partition, job_record_t **jobs)
{
	fake_slurm.job_test = give_least;
	for (uint32_t i = 0; i < 2; i++) {
		jobs[i] = job_in(id + i, 1, partition);
		jobs[i]->details->max_nodes = 0;
		jobs[i]->het_job_id = id;
		jobs[i]->het_job_offset = i;
	}
	jobs[0]->het_job_list = list_create(NULL);
	list_append(jobs[0]->het_job_list, jobs[0]);
	list_append(jobs[0]->het_job_list, jobs[1]);
}

static void add_partitions(job_record_t *job, const char *names, part_record_t *other)
{
	xfree(job->partition);
	job->partition = xstrdup(names);
	job->part_ptr_list = list_create(NULL);
	list_append(job->part_ptr_list, job->part_ptr);
	list_append(job->part_ptr_list, other);
}

/* One may run in a partition that holds two nodes to one leaf: then both keep to that. */
static void the_strictest_promise_holds_for_all(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	fake_slurm_file("onespine.yaml",
			"defaults:\n  level: spine\npartitions:\n"
			"  held: {gang: always, allow_off: false, from_nodes: 3}\n"
			"  near: {gang: always, allow_off: false, from_nodes: 2, level: leaf}\n");
	shadow_state_free();
	shadow_state_load();
	two_components(1, "held", jobs);
	busy(50, 0, 3, 1000);
	busy(51, 4, 3, 1000);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "3");
	add_partitions(jobs[1], "held,near", fake_partition("near", 0, NODES));
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8");
}

/* Slurm asks for as many nodes as the partition says, and for few if they may be few. */
static void asks_as_slurm_will(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	two_components(1, "held", jobs);
	busy(50, 0, 6, 1000);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "6");
	jobs[1]->part_ptr->min_nodes = 2;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8");
	assert_int_equal(asked_for, 2);
	jobs[1]->part_ptr->min_nodes = NO_VAL;
	jobs[1]->details->max_nodes = 4;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(asked_for, 4);
	jobs[1]->bit_flags |= USE_MIN_NODES;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(asked_for, 1);
}

/* Plans of components with such numbers are not kept; they are placed all the same. */
static void places_a_component_with_any_number(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	two_components(1, "held", jobs);
	jobs[1]->het_job_offset = OSP_COMPONENTS_MAX;
	add_partitions(jobs[1], "held,narrow", fake_partition("narrow", 0, NODES));
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	}
	assert_non_null(shadow_planned_in(jobs[0]));
	assert_null(shadow_planned_in(jobs[1]));
}

/* Of a component that may run in more partitions than are remembered some calls start anew. */
static void plans_in_any_number_of_partitions(void **state)
{
	job_record_t *jobs[2];
	part_record_t *held;
	char name[16];

	(void)state;
	two_components(1, "held", jobs);
	held = jobs[0]->part_ptr;
	for (uint32_t i = 0; i <= OSP_COMPONENT_PARTITIONS_MAX; i++) {
		snprintf(name, sizeof(name), "more%u", i);
		jobs[0]->part_ptr = jobs[1]->part_ptr = i ? fake_partition(name, 0, NODES) : held;
		assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), "0");
	}
	jobs[0]->part_ptr = jobs[1]->part_ptr = held;
}

/* One that has no room here is left to its other partition only if it would keep the promise of
 * that. */
static void leaves_no_component_to_a_broken_promise(void **state)
{
	job_record_t *jobs[2];
	part_record_t *narrow = fake_partition("narrow", 6, 4);

	(void)state;
	two_components(1, "held", jobs);
	bit_nclear(jobs[0]->part_ptr->node_bitmap, 2, NODES - 1);
	jobs[1]->details->min_nodes = 3;
	add_partitions(jobs[1], "held,narrow", narrow);
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	bit_nclear(narrow->node_bitmap, 0, NODES - 1);
	bit_nset(narrow->node_bitmap, 8, 11);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0");
}

/* Of more jobs than are remembered, that which was asked about longest ago is forgotten. */
static void forgets_the_oldest_plan(void **state)
{
	job_record_t *jobs[65][2];

	(void)state;
	for (uint32_t i = 0; i < 65; i++) {
		two_components(100 + 2 * i, "held", jobs[i]);
		assert_int_equal(ask_range(jobs[i][0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	}
	assert_null(shadow_planned_in(jobs[0][0]));
	assert_non_null(shadow_planned_in(jobs[1][0]));
	assert_non_null(shadow_planned_in(jobs[64][0]));
}

/* --- whom it preempts ------------------------------------------------------------------------- */

/* As many as are remembered are written down. */
static void remembers_some_of_many_victims(void **state)
{
	job_record_t *job = gang(1, 8, "spine");
	const char *saved;
	uint32_t count = 0;

	(void)state;
	asked.candidates = list_create(NULL);
	for (uint32_t i = 0; i < 5 * NODES; i++)
		list_append(asked.candidates, busy(50 + i, i / 5, 1, 1000));
	for (uint32_t i = 0; i < 4 * 8; i++)
		list_append(asked.candidates, busy(200 + i, i / 4, 1, 1000));
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	saved = shadow_spank_value(job, OSP_PREEMPTS);
	assert_non_null(saved);
	for (const char *at = saved; (at = strchr(at, '@')); at++)
		count++;
	assert_int_equal(count, list_count(asked.preempted) < OSP_CHOOSE_VICTIMS_MAX
					? list_count(asked.preempted)
					: OSP_CHOOSE_VICTIMS_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_the_level_that_it_prefers),
		TEST(starts_at_its_own_level_and_says_so),
		TEST(prefers_no_level_that_is_none_below),
		TEST(counts_nodes_with_its_features),
		TEST(hopes_for_nodes_without_memory),
		TEST(counts_nodes_of_a_flexible_reservation),
		TEST(plans_in_any_number_of_partitions),
		TEST(leaves_no_component_to_a_broken_promise),
		TEST(the_strictest_promise_holds_for_all),
		TEST(asks_as_slurm_will),
		TEST(places_a_component_with_any_number),
		TEST(forgets_the_oldest_plan),
		TEST(remembers_some_of_many_victims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
