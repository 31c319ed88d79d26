/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_extra.c - gangs and components whose --extra excludes nodes */
#include "tests/unit/shadow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/late_clock.h"
#include "tests/unit/no_memory.h"

#define NODES SHADOW_NODES

#if OSP_HAVE_EXTRA_CONSTRAINTS

/* A node has one of these words, and an expression begins with the one that it wants. */
#define RACK_1 "rack=1"
#define RACK_2 "rack=2"

/* Components that may all be small: a gang of partition wide has twelve nodes. */
#define EXPRESSIONS 11

/* How often an expression was compared with the first node, by number; how long each look takes. */
static uint32_t looks, looks_at[EXPRESSIONS], look_ms;
static uint32_t compared; /* with any node */

/* Slurm's function, for these words. */
bool __wrap_extra_constraints_test(elem_t *wanted, data_t *has);

bool __wrap_extra_constraints_test(elem_t *wanted, data_t *has)
{
	const char *expression = (const char *)wanted, *number = strstr(expression, "x=");

	compared++;
	if ((const void *)has == node_record_table_ptr[0]->extra_data) {
		uint32_t ms = fake_slurm.late_ms + look_ms;

		looks++;
		if (number)
			looks_at[atoi(number + 2)]++;
		late_s += ms / 1000 - fake_slurm.late_ms / 1000;
		fake_slurm.late_ms = ms;
	}
	return !strncmp(expression, (const char *)has, strlen(RACK_1));
}

static int begin(void **state)
{
	looks = look_ms = 0;
	late_s = 0;
	memset(looks_at, 0, sizeof(looks_at));
	extra_constraints_set_parsing(true);
	return shadow_calls_begin(state);
}

static int end(void **state)
{
	for (uint32_t n = 0; n < NODES; n++)
		node_record_table_ptr[n]->extra_data = NULL;
	extra_constraints_set_parsing(false);
	return shadow_calls_end(state);
}

/* The first of these nodes is another one than the first for a look. */
static void racks(uint32_t first, uint32_t count)
{
	static char first_1[] = RACK_1, first_2[] = RACK_2, other_1[] = RACK_1, other_2[] = RACK_2;

	for (uint32_t n = 0; n < NODES; n++) {
		bool second = n >= first && n < first + count;

		node_record_table_ptr[n]->extra_data = (data_t *)(n ? second ? other_2 : other_1
								  : second ? first_2
									   : first_1);
	}
}

static void wants(job_record_t *job, const char *expression)
{
	job->extra = (char *)expression;
	job->extra_constraints = (elem_t *)expression;
}

static uint32_t takes; /* as many nodes Slurm gives */

static int give(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		OSP_JOB_TEST_TAIL_PARAMETERS)
{
	(void)min_nodes, (void)req_nodes;
	return fake_job_test(job, nodes, takes, max_nodes, takes, mode, offered, taken,
			     OSP_JOB_TEST_TAIL_VALUES);
}

/* Components of one job, each of `each` nodes, which none of them says. */
static void components(const char *partition, job_record_t **jobs, uint32_t count, uint32_t each)
{
	fake_slurm.job_test = give;
	takes = each;
	for (uint32_t i = 0; i < count; i++) {
		jobs[i] = job_in(i + 1, 1, partition);
		jobs[i]->details->max_nodes = 0;
		jobs[i]->het_job_id = 1;
		jobs[i]->het_job_offset = i;
	}
	jobs[0]->het_job_list = list_create(NULL);
	for (uint32_t i = 0; i < count; i++)
		list_append(jobs[0]->het_job_list, jobs[i]);
}

/* Each of them with an expression of its own, for the second rack. */
static void all_want_something_else(job_record_t **jobs, uint32_t count)
{
	static char expression[EXPRESSIONS][32];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(expression[i], sizeof(expression[i]), RACK_2 ",x=%u", i);
		wants(jobs[i], expression[i]);
	}
}

static int ask_with(job_record_t *job, bitstr_t *nodes, uint16_t mode)
{
	const struct osp_job_test_tail tail = {0};

	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = bit_copy(nodes);
	return select_p_job_test(job, asked.bitmap, 1, 16, 1, mode, NULL, &asked.preempted,
				 OSP_JOB_TEST_TAIL(&tail));
}

/* As backfill asks, that keeps the nodes for others that are not `left`. */
static int is_planned(job_record_t *job, bitstr_t *left)
{
	return ask_with(job, left, SELECT_MODE_WILL_RUN);
}

/* They have no room, and all places are looked at. */
static void an_expression_is_looked_at_once_a_call(void **state)
{
	job_record_t *jobs[EXPRESSIONS];

	(void)state;
	racks(0, NODES);
	components("wide", jobs, EXPRESSIONS, 2);
	all_want_something_else(jobs, EXPRESSIONS);
	look_ms = 10;
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	for (uint32_t i = 0; i < EXPRESSIONS; i++)
		assert_int_equal(looks_at[i], 1);
	/* what the records say a second later is looked at again, also behind a second's end */
	late_s += 10;
	fake_slurm.late_ms = 995;
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	for (uint32_t i = 0; i < EXPRESSIONS; i++)
		assert_in_range(looks_at[i], 1, 2);
	assert_int_equal(looks_at[0], 2);
}

/* A look takes nearly half a second: a call has time for a few, and the next one goes on. */
static void components_are_planned_however_slow_the_looks_are(void **state)
{
	job_record_t *jobs[6];
	uint32_t planned = 0;

	(void)state;
	racks(0, NODES);
	components("wide", jobs, 6, 1);
	all_want_something_else(jobs, 6);
	look_ms = OSP_CHOOSE_BUDGET_MS * 2 / 5;
	for (uint32_t cycle = 0; cycle < 20 && planned < 6; cycle++) {
		bitstr_t *left = fake_bitmap(0, NODES);

		planned = 0;
		for (uint32_t i = 0; i < 6; i++) {
			uint32_t before = looks;

			late_s += 2;
			jobs[i]->last_sched_eval = time(NULL);
			if (is_planned(jobs[i], left) == SLURM_SUCCESS) {
				planned++;
				bit_and_not(left, asked.bitmap);
			}
			/* what the call begins with, and for one question more than its time */
			assert_in_range(looks - before, 0, 4);
		}
		FREE_NULL_BITMAP(left);
	}
	assert_int_equal(planned, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(looks_at[i] > 0);
}

/* The first spine has two nodes for the first component, and two that are kept for others, or two
 * that its --extra excludes. */
static void kept_nodes_are_kept_whatever_extra_says(void **state)
{
	job_record_t *jobs[2];
	bitstr_t *left = fake_bitmap(2, NODES - 2);

	(void)state;
	racks(4, NODES - 4);
	components("held", jobs, 2, 2);
	wants(jobs[0], RACK_2);
	busy(50, 6, 2, 1000);
	busy(51, 2, 2, 1000);
	assert_int_equal(is_planned(jobs[0], left), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-9");
	/* these are kept for nobody */
	shadow_plans_forget();
	bit_set(left, 0);
	bit_set(left, 1);
	assert_int_equal(is_planned(jobs[0], left), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-5");
	FREE_NULL_BITMAP(left);
}

/* For a start Slurm itself takes out the nodes that --extra excludes: the others may have them. */
static void excluded_nodes_are_open_to_others_at_a_start(void **state)
{
	job_record_t *jobs[2];
	bitstr_t *fitting = fake_bitmap(4, NODES - 4);

	(void)state;
	racks(4, NODES - 4);
	components("held", jobs, 2, 2);
	wants(jobs[0], RACK_2);
	busy(50, 6, 2, 1000);
	busy(51, 2, 2, 1000);
	bit_and(fitting, idle_node_bitmap);
	assert_int_equal(ask_with(jobs[0], fitting, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-5");
	FREE_NULL_BITMAP(fitting);
}

/* --- many nodes ------------------------------------------------------------------------------- */

#define MANY_NODES (4 * SHADOW_EXTRA_ANEW)

static int begin_many(void **state)
{
	(void)state;
	looks = look_ms = compared = 0;
	late_s = 0;
	extra_constraints_set_parsing(true);
	fake_shadow_begin(MANY_NODES, 256, "");
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	return 0;
}

static int end_many(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < MANY_NODES; n++)
		node_record_table_ptr[n]->extra_data = NULL;
	extra_constraints_set_parsing(false);
	fini();
	fake_shadow_end();
	return 0;
}

/* Returns how many comparisons a call takes that begins two seconds later. */
static uint32_t compared_later(const job_record_t *job, const struct osp_nodeset **excluded)
{
	uint32_t before = compared;

	late_s += 2;
	shadow_extra_begin();
	assert_true(shadow_extra_excludes(job, excluded));
	return compared - before;
}

/* Only nodes whose Extra has changed since the last look, and a few others, are compared again. */
static void what_is_known_is_not_compared_again(void **state)
{
	static char first[] = RACK_1, second[] = RACK_2, same_place[] = RACK_1;
	const struct osp_nodeset *excluded;
	job_record_t *job = fake_job(1, 2), *other = fake_job(2, 2);
	uint32_t looks_until_seen = 0;

	(void)state;
	wants(job, RACK_1);
	wants(other, RACK_2);
	for (uint32_t n = 0; n < MANY_NODES; n++)
		node_record_table_ptr[n]->extra_data = (data_t *)first;
	node_record_table_ptr[5]->extra_data = (data_t *)same_place;
	node_record_table_ptr[6]->extra_data = NULL; /* excluded without a comparison */
	assert_int_equal(compared_later(job, &excluded), MANY_NODES - 1);
	assert_int_equal(osp_nodeset_count(excluded), 1);
	assert_in_range(compared_later(job, &excluded), 1, SHADOW_EXTRA_ANEW);
	/* another Extra, one more, one less */
	node_record_table_ptr[2000]->extra_data = (data_t *)second;
	node_record_table_ptr[6]->extra_data = (data_t *)first;
	node_record_table_ptr[7]->extra_data = NULL;
	assert_in_range(compared_later(job, &excluded), 1, SHADOW_EXTRA_ANEW + 2);
	assert_int_equal(osp_nodeset_count(excluded), 2);
	assert_true(osp_nodeset_test(excluded, 2000));
	assert_true(osp_nodeset_test(excluded, 7));
	/* what another expression has missed since then, it is compared with */
	assert_int_equal(compared_later(other, &excluded), MANY_NODES - 1);
	assert_int_equal(osp_nodeset_count(excluded), MANY_NODES - 1);
	node_record_table_ptr[9]->extra_data = (data_t *)second;
	assert_in_range(compared_later(job, &excluded), 1, 3 * SHADOW_EXTRA_ANEW);
	assert_true(osp_nodeset_test(excluded, 9));
	assert_in_range(compared_later(other, &excluded), 1, 3 * SHADOW_EXTRA_ANEW);
	assert_false(osp_nodeset_test(excluded, 9));
	/* another Extra in the place of the one before */
	memcpy(same_place, RACK_2, sizeof(same_place));
	do {
		compared_later(job, &excluded);
		looks_until_seen++;
	} while (!osp_nodeset_test(excluded, 5) && looks_until_seen < 100);
	assert_in_range(looks_until_seen, 1, MANY_NODES / SHADOW_EXTRA_ANEW);
}

/* Slurm frees an Extra when it has read the next one: what was seen in this second may be gone. */
static void an_extra_that_is_gone_is_not_read(void **state)
{
	static char all[] = RACK_1, gone[] = RACK_1, next[] = RACK_2;
	const struct osp_nodeset *excluded;
	job_record_t *job = fake_job(1, 2), *other = fake_job(2, 2);

	(void)state;
	wants(job, RACK_1);
	wants(other, RACK_2);
	for (uint32_t n = 0; n < MANY_NODES; n++)
		node_record_table_ptr[n]->extra_data = (data_t *)all;
	node_record_table_ptr[5]->extra_data = (data_t *)gone;
	compared_later(job, &excluded);
	assert_false(osp_nodeset_test(excluded, 5));
	node_record_table_ptr[5]->extra_data = (data_t *)next;
	strcpy(gone, "freed");
	/* a call in the same second, about another expression */
	assert_true(shadow_extra_excludes(other, &excluded));
	assert_false(osp_nodeset_test(excluded, 5));
	assert_true(osp_nodeset_test(excluded, 6));
	compared_later(job, &excluded);
	assert_true(osp_nodeset_test(excluded, 5));
}

/* --- without memory --------------------------------------------------------------------------- */

static bool is_gang_planned(void *context)
{
	shadow_extra_forget();
	if (ask(context, SELECT_MODE_WILL_RUN) != SLURM_SUCCESS)
		return false;
	assert_string_equal(nodes_given(), "4-5");
	return true;
}

static void a_gang_has_no_excluded_node_without_memory(void **state)
{
	job_record_t *job = gang(1, 2, "spine");

	(void)state;
	racks(4, 8);
	wants(job, RACK_2);
	no_memory_everywhere(is_gang_planned, job);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(an_expression_is_looked_at_once_a_call, begin, end),
	cmocka_unit_test_setup_teardown(components_are_planned_however_slow_the_looks_are, begin,
					end),
	cmocka_unit_test_setup_teardown(kept_nodes_are_kept_whatever_extra_says, begin, end),
	cmocka_unit_test_setup_teardown(excluded_nodes_are_open_to_others_at_a_start, begin, end),
	cmocka_unit_test_setup_teardown(what_is_known_is_not_compared_again, begin_many, end_many),
	cmocka_unit_test_setup_teardown(an_extra_that_is_gone_is_not_read, begin_many, end_many),
	cmocka_unit_test_setup_teardown(a_gang_has_no_excluded_node_without_memory, begin, end),
};

#else

static void this_slurm_looks_at_no_extra(void **state)
{
	(void)state;
	assert_null(shadow_extra(gang(1, 2, "spine")));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(this_slurm_looks_at_no_extra, shadow_calls_begin,
					shadow_calls_end),
};

#endif

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
