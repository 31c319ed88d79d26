/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_promise.c - gangs that need a word first, jobs that may turn out large, and all of it
 * without memory */
#include "lib/topology/place_age.h"
#include "tests/unit/shadow_calls.h"

#include <string.h>

#include "lib/policy/effective.h"
#include "tests/unit/no_memory.h"

#define NODES SHADOW_NODES

/* --- jobs of a size that nobody said ---------------------------------------------------------- */

static void leaves_small_jobs_to_slurm(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = 0;
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 1);
	assert_string_equal(nodes_given(), "0");
	job->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_null(job->admin_comment);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	busy(50, 0, 16, 100);
	assert_int_not_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

static uint32_t takes; /* as many nodes Slurm gives, whatever is asked for */

static int give_many(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		     uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		     OSP_JOB_TEST_TAIL_PARAMETERS)
{
	uint32_t want = takes < max_nodes ? takes : max_nodes;

	(void)req_nodes;
	return fake_job_test(job, nodes, min_nodes > want ? min_nodes : want, max_nodes, want, mode,
			     offered, taken, OSP_JOB_TEST_TAIL_VALUES);
}

static uint64_t gpus_left[NODES];

/* Looks for one node with six GPUs as 26.05 does: what nodes lack is made up by those before. */
static int adds_up(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		   uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		   OSP_JOB_TEST_TAIL_PARAMETERS)
{
	uint64_t sum = 0;

	for (int n = 0; n < NODES; n++) {
		sum += bit_test(nodes, n) ? gpus_left[n] : 0;
		if (sum < 6)
			continue;
		bit_clear_all(nodes);
		bit_set(nodes, n);
		return fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered,
				     taken, OSP_JOB_TEST_TAIL_VALUES);
	}
	return SLURM_ERROR;
}

/* Sets what each node has of GPUs, and what is left of them. */
static void set_gpus(uint64_t has, uint64_t left)
{
	for (int n = 0; n < NODES; n++) {
		gres_state_t *gpus = list_peek(node_record_table_ptr[n]->gres_list);

		((gres_node_state_t *)gpus->gres_data)->gres_cnt_avail = has;
		gpus_left[n] = left;
	}
	select_p_node_init();
}

static void starts_on_no_node_with_too_few_gpus(void **state)
{
	job_record_t *job = job_in(1, 1, "held");
	struct osp_topology *topology = shadow_state.topology;
	int rc;

	(void)state;
	if (!OSP_ONE_NODE_ADDS_UP)
		skip();
	job->details->max_nodes = 0;
	job->gres_list_req = fake_job_gres("gpu", 0, 6);
	fake_add_gres(job->gres_list_req, "gpu", NULL);
	fake_slurm.job_test = adds_up;
	/* each has enough, but not free */
	set_gpus(8, 4);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), NODES); /* as it came */
	assert_null(job->job_resrcs);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	/* one has so many at all, behind those that have not */
	set_gpus(4, 4);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	gpus_left[9] = 6;
	((gres_node_state_t *)((gres_state_t *)list_peek(node_record_table_ptr[9]->gres_list))
		 ->gres_data)
		->gres_cnt_avail = 6;
	select_p_node_init();
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "9");
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "9");
	/* of several nodes Slurm's own sum is right, and so it is with a number for each node */
	fake_slurm.tests = 0;
	assert_int_equal(ask_range(job, 1, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 1);
	FREE_NULL_LIST(job->gres_list_req);
	job->gres_list_req = fake_job_gres("gpu", 4, 0);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 2);
	/* no node is known without a topology: none is taken out */
	shadow_state.topology = NULL;
	shadow_state.node_count = 0;
	rc = ask_range(job, 1, 1, SELECT_MODE_RUN_NOW);
	shadow_state.topology = topology;
	shadow_state.node_count = NODES;
	assert_int_equal(rc, SLURM_SUCCESS);
}

/* What Slurm would spread over two spines is placed on one. */
static void places_what_turns_out_large(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = 0;
	fake_slurm.job_test = give_many;
	takes = 6;
	busy(50, 0, 5, 1000);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-13");
	/* later: on one spine, or sooner with fewer nodes */
	busy(51, 11, 4, 1000);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 2);
	assert_true(job->start_time <= time(NULL));
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(bit_set_count(asked.bitmap) <= 3);
	/* it needs more than that: its tasks are many */
	job->details->num_tasks = 4;
	job->details->ntasks_per_node = 1;
	assert_int_not_equal(ask_range(job, 4, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	takes = 4;
	assert_int_equal(ask_range(job, 4, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-10,15");
}

/* Where nodes will be by their capacity reservation is no domain that Slurm's own choice is in. */
static void places_what_slurm_would_start_on_nodes_that_do_not_run(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = 0;
	fake_slurm.job_test = give_many;
	takes = 4;
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-3");
	for (uint32_t n = 0; n < 4; n++) {
		shadow_state.place_boot_s[n] = OSP_BOOT_UNLAUNCHED;
		node_record_table_ptr[n]->node_state =
			NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN | NODE_STATE_CLOUD;
	}
	shadow_state_load();
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7");
}

/* A range starts with few nodes where that is sooner than many in one domain. */
static void starts_small_where_that_is_sooner(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = 8;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 3, 1000);
	busy(54, 3, 1, 1000);
	busy(55, 7, 1, 1000);
	fake_slurm.job_test = give_many;
	takes = 4;
	assert_int_equal(ask_range(job, 1, 8, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(bit_set_count(asked.bitmap) <= 4);
	takes = 8;
	busy(56, 11, 1, 1000);
	busy(57, 15, 1, 1000);
	assert_int_not_equal(ask_range(job, 1, 8, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(ask_range(job, 1, 8, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(job->start_time > asked.now);
}

/* A policy may still name a level above the zones: a job that spreads over two of these is no
 * smaller a gang for it. */
static void several_zones_are_no_domain(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	fake_slurm_file(
		"onespine.topology",
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"zone\", \"region\"], "
		"\"domains\": [{\"level\": \"region\", \"name\": \"r\"}, "
		"{\"level\": \"zone\", \"name\": \"z1\", \"in\": \"r\"}, "
		"{\"level\": \"zone\", \"name\": \"z2\", \"in\": \"r\"}, "
		"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"z1\", \"nodes\": \"n[1-8]\"}, "
		"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"z2\", \"nodes\": "
		"\"n[9-16]\"}]}");
	fake_slurm_file("onespine.yaml",
			"partitions:\n  held:\n    level: region\n    gang: always\n"
			"    allow_off: false\n    from_nodes: 3\n");
	slurm_conf.last_update++; /* reconfigured: the thread does not have to see it first */
	select_p_node_init();
	job->details->max_nodes = 0;
	busy(50, 2, 6, 1000);
	busy(51, 10, 6, 1000);
	fake_slurm.job_test = give_many;
	takes = 4;
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-1");
	assert_int_not_equal(ask_range(job, 3, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "level region is above the zones");
}

/* What may be preempted is offered with the next questions, beside what was. */
static job_record_t *preemptable(uint32_t id, uint32_t first, uint32_t count)
{
	job_record_t *job = busy(id, first, count, 1000);

	if (!asked.candidates)
		asked.candidates = list_create(NULL);
	list_append(asked.candidates, job);
	return job;
}

static void assert_preempts(const job_record_t *victim)
{
	assert_int_equal(list_count(asked.preempted), 1);
	assert_ptr_equal(list_peek(asked.preempted), victim);
}

/* Slurm would preempt on the first spine as soon as it may; jobs leave the second. */
static void waits_for_those_that_leave(void **state)
{
	job_record_t *job = job_in(1, 1, "held"), *stays = busy(50, 0, 8, 1000), *leaves;

	(void)state;
	job->details->max_nodes = 0;
	fake_slurm.job_test = give_many;
	takes = 6;
	leaves = preemptable(51, 8, 8);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-13");
	assert_preempts(leaves);
	leaves->preempt_time = asked.now;
	stays->job_state = JOB_COMPLETE;
	shadow_count_end(50);
	bit_nset(idle_node_bitmap, 0, 7);
	preemptable(52, 0, 4);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-13");
	assert_preempts(leaves);
	/* another process knows it too */
	shadow_state_free();
	shadow_state_load();
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-13");
	assert_preempts(leaves);
	/* nobody leaves any more */
	leaves->preempt_time = 0;
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-5");
}

/* With jobs to preempt Slurm gives the first node as it is, where it cannot start the job. */
static int promises_first_node(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes,
			       uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			       osp_list_t *offered, osp_list_t **taken,
			       OSP_JOB_TEST_TAIL_PARAMETERS)
{
	if (mode == SELECT_MODE_RUN_NOW && offered && bit_test(nodes, 0)) {
		bit_clear_all(nodes);
		bit_set(nodes, 0);
		return SLURM_SUCCESS;
	}
	return give_many(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			 OSP_JOB_TEST_TAIL_VALUES);
}

static void places_what_slurm_would_not_start(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = 0;
	fake_slurm.job_test = promises_first_node;
	takes = 6;
	preemptable(50, 0, 8);
	preemptable(51, 8, 8);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-13");
	assert_preempts(find_job_record(51));
}

/* Fewer nodes than make a gang may preempt on several spines: these jobs are waited for, then. */
static void few_nodes_wait_for_those_that_leave(void **state)
{
	job_record_t *job = job_in(1, 1, "wide"), *victims[2];

	(void)state;
	job->details->max_nodes = 0;
	fake_slurm.job_test = give_many;
	takes = 2;
	busy(50, 1, 7, 1000);
	busy(51, 9, 7, 1000);
	victims[0] = preemptable(52, 0, 1);
	victims[1] = preemptable(53, 8, 1);
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0,8");
	assert_int_equal(list_count(asked.preempted), 2);
	victims[1]->preempt_time = asked.now;
	assert_int_not_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	victims[0]->preempt_time = asked.now;
	victims[1]->preempt_time = 0;
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* --- components of a heterogeneous job -------------------------------------------------------- */

/* Jobs of the partition, from this number on, are components of one; each takes two nodes, and
 * says none. */
static void components_in(const char *partition, uint32_t first, job_record_t **jobs,
			  uint32_t count)
{
	fake_slurm.job_test = give_many;
	takes = 2;
	for (uint32_t i = 0; i < count; i++) {
		jobs[i] = job_in(first + i, 1, partition);
		jobs[i]->details->max_nodes = 0;
		jobs[i]->het_job_id = first;
		jobs[i]->het_job_offset = i;
	}
	jobs[0]->het_job_list = list_create(NULL);
	for (uint32_t i = 0; i < count; i++)
		list_append(jobs[0]->het_job_list, jobs[i]);
}

static void components(job_record_t **jobs, uint32_t count)
{
	components_in("held", 1, jobs, count);
}

/* It starts on the nodes that it was given. */
static int starts(job_record_t *job)
{
	int rc;

	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = bit_copy(asked.bitmap);
	rc = select_p_job_begin(job);
	bit_and_not(idle_node_bitmap, job->node_bitmap);
	job->job_state = JOB_RUNNING;
	job->end_time = asked.now + 600;
	return rc;
}

/* Three nodes of the first spine are free: room for one of them, not for both. */
static void places_components_where_all_have_room(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	busy(50, 0, 5, 1000);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "10-11" : "8-9");
		assert_true(jobs[i]->start_time <= time(NULL));
		assert_int_equal(jobs[i]->bit_flags & TEST_NOW_ONLY, 0);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "10-11" : "8-9");
		assert_int_equal(starts(jobs[i]), SLURM_SUCCESS);
	}
	assert_says(jobs[1], "spine");
}

/* Three nodes of each spine are free. */
static void components_wait_for_one_domain(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	busy(50, 0, 5, 1000);
	busy(51, 8, 5, 500);
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(jobs[0], "waits: the 2 components in partition held are held to one spine "
			     "together, and no spine has room for all of them now");
	assert_int_equal(jobs[1]->priority, 100);
	assert_null(jobs[1]->node_bitmap);
	/* the second spine is free earlier */
	for (uint32_t i = 0; i < 2; i++) {
		xfree(jobs[i]->admin_comment);
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
		assert_true(bit_ffs(asked.bitmap) >= 8);
		assert_int_equal(bit_set_count(asked.bitmap), 2);
	}
	assert_true(jobs[1]->start_time >= asked.now + 500);
	assert_says(jobs[1], "waits: the 2 components");
	/* what is to start now, or not at all, gets no later start */
	jobs[0]->bit_flags |= TEST_NOW_ONLY;
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
}

/* Nothing starts now on a node that a job is leaving, for which only one of them would be there. */
static void components_start_on_settled_nodes(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	busy(50, 4, 4, 1000);
	bit_set(cg_node_bitmap, 3);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "10-11" : "8-9");
	}
	/* they are better than none, unless one hangs */
	busy(51, 8, 5, 500);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-1");
	node_record_table_ptr[3]->last_busy = asked.now - 90000;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(bit_ffs(asked.bitmap) >= 8);
}

/* Priority may put the second first. Each cycle begins anew, and so does another job. */
static void components_come_in_any_order(void **state)
{
	static const uint32_t order[] = {1, 1, 0, 1, 0};
	static const char *const nodes[] = {"8-9", "8-9", "10-11", "8-9", "10-11"};
	job_record_t *jobs[2], *other;

	(void)state;
	components(jobs, 2);
	busy(50, 0, 5, 1000);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(ask_range(jobs[order[i]], 1, 16, SELECT_MODE_WILL_RUN),
				 SLURM_SUCCESS);
		assert_string_equal(nodes_given(), nodes[i]);
	}
	other = job_in(7, 1, "held");
	other->details->max_nodes = 0;
	other->het_job_id = 7;
	other->het_job_offset = 200;
	other->het_job_list = list_create(NULL);
	list_append(other->het_job_list, other);
	list_append(other->het_job_list, jobs[1]);
	assert_int_equal(ask_range(other, 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(ask_range(jobs[1], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-9");
}

/* The first one leaves the second the nodes that alone suit it. */
static void components_leave_each_other_room(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	busy(50, 4, 12, 1000);
	jobs[1]->details->exc_node_bitmap = fake_bitmap(2, NODES - 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "0-1" : "2-3");
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "0-1" : "2-3");
		assert_int_equal(starts(jobs[i]), SLURM_SUCCESS);
	}
}

static time_t cycle_began = 100;

/* As backfill plans it: on nodes that it has kept for nobody in this cycle, and keeps for it. Where
 * all are left a cycle begins. */
static int is_planned(job_record_t *job, bitstr_t *left)
{
	const struct osp_job_test_tail tail = {0};
	int rc;

	cycle_began += bit_set_count(left) == NODES;
	job->last_sched_eval = cycle_began;
	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = bit_copy(left);
	rc = select_p_job_test(job, asked.bitmap, 1, 16, 1, SELECT_MODE_WILL_RUN, NULL,
			       &asked.preempted, OSP_JOB_TEST_TAIL(&tail));
	if (rc == SLURM_SUCCESS)
		bit_and_not(left, asked.bitmap);
	return rc;
}

/* Without bf_hetjob_prio priority puts components of one job between those of another. Each job
 * takes a spine, and none of them was ever planned. */
static void jobs_with_components_take_turns(void **state)
{
	static const char *const nodes[] = {"0-3", "8-11", "4-7", "12-15"};
	job_record_t *jobs[4];

	(void)state;
	components_in("held", 1, jobs, 2);
	components_in("held", 3, jobs + 2, 2);
	takes = 4;
	for (uint32_t cycle = 0; cycle < 2; cycle++) {
		bitstr_t *left = fake_bitmap(0, NODES);

		for (uint32_t i = 0; i < 4; i++) {
			assert_int_equal(is_planned(jobs[i % 2 * 2 + i / 2], left), SLURM_SUCCESS);
			assert_string_equal(nodes_given(), nodes[i]);
		}
		FREE_NULL_BITMAP(left);
	}
}

/* From the second cycle on the other one comes first: its nodes of before are no plan of this
 * cycle, and what the first one is answered is. */
static void components_change_their_order(void **state)
{
	static const uint32_t order[] = {0, 1, 1, 0, 1, 0, 1, 0, 1, 0};
	job_record_t *jobs[2], *other;
	bitstr_t *left = NULL;

	(void)state;
	components(jobs, 2);
	takes = 4;
	jobs[0]->time_limit = jobs[1]->time_limit = 10;
	other = busy(50, 8, 8, 1000);
	for (uint32_t i = 0; i < 10; i++) {
		if (i % 2 == 0) {
			FREE_NULL_BITMAP(left);
			left = fake_bitmap(0, NODES);
		}
		if (is_planned(jobs[order[i]], left) != SLURM_SUCCESS)
			fail_msg("question %u has no plan", i);
		assert_true(bit_fls(asked.bitmap) < 8);
	}
	/* the other spine is free instead */
	other->job_state = JOB_COMPLETE;
	shadow_count_end(other->job_id);
	bit_nset(idle_node_bitmap, 8, 15);
	busy(51, 0, 8, 1000);
	for (uint32_t i = 0; i < 2; i++) {
		if (!i)
			bit_nset(left, 0, NODES - 1);
		assert_int_equal(is_planned(jobs[i], left), SLURM_SUCCESS);
		assert_true(bit_ffs(asked.bitmap) >= 8);
	}
	FREE_NULL_BITMAP(left);
}

/* What backfill keeps of a component: its earliest start, and the partition of that. */
struct kept {
	part_record_t *in; /* NULL: none */
	time_t start;
};

/* Leaves the earlier start in the record, as backfill does. */
static void keep(job_record_t *job, struct kept *best)
{
	if (!best->in || job->start_time < best->start)
		*best = (struct kept){job->part_ptr, job->start_time};
	job->start_time = best->start;
}

/* A cycle of backfill: asks about component `order[i] / 2` in partition
 * `order[i] % 2`. */
static void plan_in_order(job_record_t **jobs, part_record_t **in, const uint32_t order[4],
			  struct kept kept[2])
{
	bitstr_t *left = fake_bitmap(0, NODES);

	memset(kept, 0, 2 * sizeof(*kept));
	jobs[0]->start_time = jobs[1]->start_time = 0;
	cycle_began++;
	for (uint32_t i = 0; i < 4; i++) {
		job_record_t *job = jobs[order[i] / 2];
		struct kept *best = &kept[order[i] / 2];
		bitstr_t *offered = bit_copy(left);

		job->part_ptr = in[order[i] % 2];
		bit_and(offered, job->part_ptr->node_bitmap);
		if (is_planned(job, offered) == SLURM_SUCCESS) {
			bit_and_not(left, asked.bitmap);
			keep(job, best);
		}
		FREE_NULL_BITMAP(offered);
	}
	FREE_NULL_BITMAP(left);
}

/* Returns whether both start, as backfill starts them, those of one partition on one spine. */
static bool both_start(job_record_t **jobs, const struct kept kept[2])
{
	bitstr_t *free_nodes = fake_bitmap(0, NODES);
	bool spine[2], both = true;

	for (uint32_t i = 0; i < 2 && both; i++) {
		assert_non_null(kept[i].in);
		assert_true(kept[i].start <= asked.now + 1);
		jobs[i]->part_ptr = kept[i].in;
		FREE_NULL_BITMAP(asked.bitmap);
		asked.bitmap = bit_copy(free_nodes);
		bit_and(asked.bitmap, kept[i].in->node_bitmap);
		both = select_p_job_test(jobs[i], asked.bitmap, 1, 16, 1, SELECT_MODE_RUN_NOW, NULL,
					 &asked.preempted,
					 OSP_JOB_TEST_TAIL(&(struct osp_job_test_tail){0})) ==
			       SLURM_SUCCESS &&
		       starts(jobs[i]) == SLURM_SUCCESS;
		if (both)
			bit_and_not(free_nodes, asked.bitmap);
		spine[i] = bit_ffs(asked.bitmap) >= 8;
	}
	FREE_NULL_BITMAP(free_nodes);
	return both && (kept[0].in != kept[1].in || spine[0] == spine[1]);
}

/* Each spine has room for one of them in the narrow partition, for both in the other. */
static void components_that_may_choose_start(void **state)
{
	static const uint32_t orders[][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 3, 2},
					     {2, 3, 0, 1}, {1, 3, 0, 2}, {0, 3, 2, 1}};
	part_record_t *in[] = {fake_partition("narrow", 6, 4), NULL};

	(void)state;
	for (uint32_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
		job_record_t *jobs[2];
		struct kept kept[2];

		components_in("held", 10 * (o + 1), jobs, 2);
		in[1] = jobs[0]->part_ptr;
		for (uint32_t i = 0; i < 2; i++) {
			xfree(jobs[i]->partition);
			jobs[i]->partition = xstrdup("narrow,held");
			jobs[i]->part_ptr_list = list_create(NULL);
			list_append(jobs[i]->part_ptr_list, in[0]);
			list_append(jobs[i]->part_ptr_list, in[1]);
		}
		takes = 2;
		for (uint32_t cycle = 0; cycle < 3; cycle++)
			plan_in_order(jobs, in, orders[(o + cycle) % 6], kept);
		if (!both_start(jobs, kept))
			fail_msg("they do not start after order %u", o);
		for (uint32_t i = 0; i < 2; i++) {
			jobs[i]->job_state = JOB_COMPLETE;
			shadow_count_end(jobs[i]->job_id);
		}
		bit_nset(idle_node_bitmap, 0, NODES - 1);
	}
}

/* Puts one question of backfill about a component in a partition, for a slot that begins `later_s`
 * from now: Slurm up to 24.05 does not report the plugin when. */
static void plan_in_slot(job_record_t *job, part_record_t *in, bitstr_t *left, time_t later_s,
			 struct kept *best)
{
	bitstr_t *offered = bit_copy(left);

	job->part_ptr = in;
	bit_and(offered, in->node_bitmap);
	if (is_planned(job, offered) == SLURM_SUCCESS) {
		if (job->start_time < asked.now + later_s)
			job->start_time = asked.now + later_s;
		if (!later_s)
			bit_and_not(left, asked.bitmap);
		keep(job, best);
	}
	FREE_NULL_BITMAP(offered);
}

/* One partition has room for one of them; in it the second is planned behind the first. The other
 * has room for one of them on each spine. */
static void components_start_where_one_was_planned_behind_the_other(void **state)
{
	job_record_t *jobs[2];
	struct kept kept[2] = {{NULL, 0}};
	part_record_t *few = fake_partition("few", 0, 2), *more;
	bitstr_t *all = fake_bitmap(0, NODES), *left = fake_bitmap(0, NODES);

	(void)state;
	components(jobs, 2);
	more = jobs[0]->part_ptr;
	bit_nclear(more->node_bitmap, 0, NODES - 1);
	bit_nset(more->node_bitmap, 4, 5);
	bit_nset(more->node_bitmap, 8, 9);
	for (uint32_t i = 0; i < 2; i++) {
		xfree(jobs[i]->partition);
		jobs[i]->partition = xstrdup("few,held");
		jobs[i]->part_ptr_list = list_create(NULL);
		list_append(jobs[i]->part_ptr_list, few);
		list_append(jobs[i]->part_ptr_list, more);
		jobs[i]->time_limit = 10;
	}
	plan_in_slot(jobs[0], few, left, 0, &kept[0]);
	plan_in_slot(jobs[0], more, left, 0, &kept[0]);
	plan_in_slot(jobs[1], few, all, 600, &kept[1]);
	plan_in_slot(jobs[1], more, left, 0, &kept[1]);
	assert_ptr_equal(kept[0].in, few);
	assert_ptr_equal(kept[1].in, more);
	assert_true(both_start(jobs, kept));
	FREE_NULL_BITMAP(all);
	FREE_NULL_BITMAP(left);
}

/* A start takes a second node where it can, which a plan does not: Slurm begins with the lightest
 * nodes then, and looks at all of them for a later start. */
static int give_more_at_once(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes,
			     uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			     osp_list_t *offered, osp_list_t **taken, OSP_JOB_TEST_TAIL_PARAMETERS)
{
	takes = mode == SELECT_MODE_RUN_NOW && bit_set_count(nodes) > 1 ? 2 : 1;
	return give_many(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			 OSP_JOB_TEST_TAIL_VALUES);
}

/* By their plan they have fewer nodes than make a gang, on two spines. */
static void components_start_where_they_were_planned(void **state)
{
	job_record_t *jobs[2];
	bitstr_t *left = fake_bitmap(0, NODES);

	(void)state;
	components(jobs, 2);
	fake_slurm.job_test = give_more_at_once;
	busy(50, 0, 7, 1000);
	busy(51, 8, 7, 1000);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(is_planned(jobs[i], left), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "15" : "7");
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "15" : "7");
		assert_int_equal(starts(jobs[i]), SLURM_SUCCESS);
	}
	FREE_NULL_BITMAP(left);
}

/* Two nodes each were asked for, with lists of the same partitions in another order. */
static void components_of_known_sizes_that_may_choose_start(void **state)
{
	static const uint32_t order[] = {0, 1, 2, 3};
	part_record_t *in[] = {fake_partition("narrow", 6, 4), NULL};
	job_record_t *jobs[2];
	struct kept kept[2];

	(void)state;
	components(jobs, 2);
	in[1] = jobs[0]->part_ptr;
	for (uint32_t i = 0; i < 2; i++) {
		jobs[i]->details->min_nodes = jobs[i]->details->max_nodes = 2;
		xfree(jobs[i]->partition);
		jobs[i]->partition = xstrdup(i ? "held,narrow" : "narrow,held");
		jobs[i]->part_ptr_list = list_create(NULL);
		list_append(jobs[i]->part_ptr_list, in[0]);
		list_append(jobs[i]->part_ptr_list, in[1]);
	}
	plan_in_order(jobs, in, order, kept);
	assert_true(kept[0].in && kept[1].in && both_start(jobs, kept));
}

/* Plans all of them on these nodes, and returns how often Slurm was asked. */
static uint32_t plans_all(job_record_t **jobs, uint32_t count)
{
	bitstr_t *left = fake_bitmap(0, NODES);

	fake_slurm.tests = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (is_planned(jobs[i], left) != SLURM_SUCCESS)
			fail_msg("component %u has no plan", i);
	}
	FREE_NULL_BITMAP(left);
	return fake_slurm.tests;
}

/* What Slurm has said about the others is not asked again for each of them, for a start now or
 * later. */
static void components_cost_few_questions(void **state)
{
	job_record_t *jobs[8], *other;

	(void)state;
	components_in("wide", 1, jobs, 8);
	takes = 1;
	for (uint32_t cycle = 0; cycle < 2; cycle++)
		assert_in_range(plans_all(jobs, 8), 8, 2 * 8);
	other = busy(50, 4, 12, 1000);
	for (uint32_t cycle = 0; cycle < 2; cycle++) {
		assert_in_range(plans_all(jobs, 8), 8, 6 * 8);
		assert_true(jobs[7]->start_time >= asked.now + 1000);
	}
	other->job_state = JOB_COMPLETE;
}

/* Asks about the job in one call after the other; returns in which it has a plan, 0: in none. */
static uint32_t calls_until_planned(job_record_t *job, uint32_t calls)
{
	for (uint32_t i = 1; i <= calls; i++) {
		fake_slurm.tests = 0;
		if (ask_range(job, 1, 16, SELECT_MODE_WILL_RUN) == SLURM_SUCCESS)
			return i;
		assert_in_range(fake_slurm.tests, 1, 3);
	}
	return 0;
}

/* Where Slurm's answers take long, each call asks two or three questions, and the next one goes
 * on. */
static void components_are_planned_however_slow_slurm_is(void **state)
{
	job_record_t *jobs[8];

	(void)state;
	components_in("wide", 1, jobs, 8);
	takes = 2; /* sixteen nodes in one domain of eight: never */
	fake_slurm.test_ms = 1000;
	assert_int_equal(calls_until_planned(jobs[0], 40), 0);
	takes = 1;
	busy(50, 4, 12, 1000);
	assert_in_range(calls_until_planned(jobs[0], 40), 1, 40);
	fake_slurm.tests = 0;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_in_range(fake_slurm.tests, 1, 3);
	for (uint32_t i = 1; i < 8; i++)
		assert_in_range(calls_until_planned(jobs[i], 40), 1, 40);
}

/* Ranges whose upper ends make a gang together are taken by job_submit, and placed together. */
static void components_with_ranges_are_placed(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components_in("wide", 1, jobs, 2);
	jobs[0]->details->max_nodes = 12;
	jobs[1]->details->max_nodes = 16;
	takes = 2;
	assert_int_equal(ask_range(jobs[0], 1, 2, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
}

/* The nodes that Slurm named for the second when the first was asked about are taken meanwhile. */
static void components_are_asked_about_anew(void **state)
{
	job_record_t *jobs[3];
	bitstr_t *left = fake_bitmap(0, NODES);

	(void)state;
	components_in("wide", 1, jobs, 3);
	takes = 2;
	assert_int_equal(is_planned(jobs[0], left), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-1");
	bit_nclear(left, 2, 5);
	bit_nclear(idle_node_bitmap, 2, 5);
	busy(50, 2, 4, 1000);
	assert_int_equal(is_planned(jobs[1], left), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "6-7");
	FREE_NULL_BITMAP(left);
}

/* Backfill offers a component the nodes of a plan that begins behind its own end. */
static void a_plan_far_off_is_one_of_this_cycle(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	jobs[0]->time_limit = jobs[1]->time_limit = 1;
	busy(50, 0, 8, 1000);
	busy(51, 8, 8, 2000);
	for (uint32_t cycle = 0; cycle < 2; cycle++) {
		bitstr_t *all = fake_bitmap(0, NODES), *left = fake_bitmap(0, NODES);

		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(is_planned(jobs[i], all), SLURM_SUCCESS);
			assert_true(jobs[i]->start_time >= asked.now + 1000);
			assert_true(bit_super_set(asked.bitmap, left));
			assert_true(bit_fls(asked.bitmap) < 8);
			bit_and_not(left, asked.bitmap);
			bit_or(all, asked.bitmap);
		}
		FREE_NULL_BITMAP(all);
		FREE_NULL_BITMAP(left);
	}
}

/* Fewer nodes than make a gang may stand anywhere, as those of one component may. */
static void few_nodes_of_components_stand_anywhere(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	takes = 1;
	busy(50, 0, 7, 1000);
	busy(51, 8, 7, 1000);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask_range(jobs[i], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_string_equal(nodes_given(), i ? "15" : "7");
		assert_int_equal(starts(jobs[i]), SLURM_SUCCESS);
	}
	assert_null(jobs[1]->admin_comment);
}

/* A component of another partition, and one that has ended, need no room; one that cannot be
 * placed keeps the others. */
static void counts_the_components_that_matter(void **state)
{
	job_record_t *jobs[3];

	(void)state;
	components(jobs, 3);
	busy(50, 0, 5, 1000);
	busy(51, 8, 5, 1000);
	jobs[1]->part_ptr = default_part_loc;
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(jobs[0], "waits: the 2 components");
	jobs[2]->job_state = JOB_CANCELLED;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	jobs[2]->job_state = JOB_PENDING;
	jobs[2]->details->exc_node_bitmap = fake_bitmap(0, NODES);
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* A fabric without the level of the policy has no domain for them: only few nodes may stand
 * anywhere. */
static void components_wait_for_a_level(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	fake_slurm_file("onespine.topology", FAKE_TOPOLOGY("l1"));
	shadow_state_free();
	shadow_state_load();
	assert_int_not_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(jobs[0], "waits: the 2 components");
	takes = 1;
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* They preempt where all of them gain room. */
static void components_preempt_together(void **state)
{
	job_record_t *jobs[2], *victim;

	(void)state;
	components(jobs, 2);
	busy(50, 0, 5, 1000);
	victim = busy(51, 8, 5, 1000);
	asked.candidates = list_create(NULL);
	list_append(asked.candidates, victim);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(bit_ffs(asked.bitmap) >= 8);
	assert_int_equal(list_count(asked.preempted), 1);
}

/* Jobs leave the second spine for the first of them. */
static void components_wait_for_those_that_leave(void **state)
{
	job_record_t *jobs[2], *stays = busy(50, 0, 8, 1000), *leaves;

	(void)state;
	components(jobs, 2);
	leaves = preemptable(51, 8, 8);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-9");
	assert_preempts(leaves);
	leaves->preempt_time = asked.now;
	stays->job_state = JOB_COMPLETE;
	shadow_count_end(50);
	bit_nset(idle_node_bitmap, 0, 7);
	preemptable(52, 0, 1);
	preemptable(53, 1, 6);
	assert_int_equal(ask_range(jobs[0], 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-9");
	assert_preempts(leaves);
}

/* --- what is not understood ------------------------------------------------------------------- */

static void waits_with_a_request_of_another_release(void **state)
{
	job_record_t *job = fake_job(1, 4);

	(void)state;
	fake_job_option(job,
			OSP_EFFECTIVE "version=1,mode=enforce,level=leaf,relax_s=-1,origin=option,"
				      "mix_kinds=no,pack=2");
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_null(job->admin_comment);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "has the key 'pack', which this release does not know");
	assert_int_equal(ask(job, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	/* the main scheduler asks for no heterogeneous job: backfill's call says it */
	xfree(job->admin_comment);
	job->het_job_id = 1;
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job, "pack");
}

static void waits_with_options_that_split(void **state)
{
	static char features[] = "[a*2&b*2]";
	job_record_t *job = job_in(1, 4, "held"), *component = job_in(2, 1, "held");

	(void)state;
	job->details->features = features;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: ");
	assert_int_equal(fake_slurm.tests, 0);
	component->het_job_id = 2; /* that may stay small is left to its start */
	component->details->max_nodes = 0;
	assert_int_equal(ask_range(component, 1, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* --- without memory --------------------------------------------------------------------------- */

static bool placed(void *context)
{
	job_record_t *job = context;
	int rc = ask(job, SELECT_MODE_RUN_NOW);

	assert_int_equal(job->priority, 100);
	if (rc == SLURM_SUCCESS)
		assert_true(bit_set_count(asked.bitmap) == 4 &&
			    bit_ffs(asked.bitmap) / 4 == bit_fls(asked.bitmap) / 4);
	return rc == SLURM_SUCCESS;
}

static bool begun(void *context)
{
	job_record_t *job = context;

	return select_p_job_begin(job) == SLURM_SUCCESS;
}

static bool large_placed(void *context)
{
	int rc = ask_range(context, 1, 16, SELECT_MODE_RUN_NOW);

	if (rc == SLURM_SUCCESS)
		assert_true(bit_set_count(asked.bitmap) < 3 ||
			    bit_ffs(asked.bitmap) / 8 == bit_fls(asked.bitmap) / 8);
	return rc == SLURM_SUCCESS;
}

/* A gang that cannot be looked at waits; it is placed in one domain or not at all. */
static void waits_without_memory(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *advised = job_in(2, 4, "advised");
	job_record_t *waits = gang(3, 9, "spine"), *large = job_in(4, 1, "held");

	(void)state;
	job->details->req_node_bitmap = fake_bitmap(4, 1);
	assert_true(no_memory_everywhere(placed, job) > 3);
	job->node_bitmap = fake_bitmap(4, 4);
	job->het_job_id = 1;
	job->het_job_list = list_create(NULL);
	list_append(job->het_job_list, job);
	no_memory_everywhere(begun, job);
	advised->node_bitmap = fake_bitmap(0, 4);
	no_memory_everywhere(begun, advised);
	large->details->max_nodes = 0;
	fake_slurm.job_test = give_many;
	takes = 6;
	no_memory_everywhere(large_placed, large);
	assert_int_not_equal(ask(waits, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

static bool planned_somewhere(void *context)
{
	return ask_range(context, 1, 16, SELECT_MODE_WILL_RUN) == SLURM_SUCCESS;
}

static bool component_placed(void *context)
{
	int rc = ask_range(context, 1, 16, SELECT_MODE_RUN_NOW);

	if (rc == SLURM_SUCCESS)
		assert_true(bit_ffs(asked.bitmap) >= 8);
	return rc == SLURM_SUCCESS;
}

static void components_wait_without_memory(void **state)
{
	job_record_t *jobs[2];

	(void)state;
	components(jobs, 2);
	busy(50, 0, 5, 1000);
	assert_true(no_memory_everywhere(component_placed, jobs[0]) > 3);
	/* what is planned without memory is looked at again at the start */
	no_memory_everywhere(planned_somewhere, jobs[0]);
	assert_int_equal(ask_range(jobs[1], 1, 16, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
}

static bool waits_or_is_advised(void *context)
{
	ask(context, SELECT_MODE_RUN_NOW);
	return true;
}

static void says_what_it_can_without_memory(void **state)
{
	job_record_t *job = gang(1, 9, "spine"), *advised = job_in(2, 9, "advised");

	(void)state;
	no_memory_everywhere(waits_or_is_advised, job);
	assert_says(job, "waits: 9 nodes on one spine");
	no_memory_everywhere(waits_or_is_advised, advised);
	assert_non_null(shadow_advice(2));
	advised->admin_comment = xstrdup("[onespine: gang=leaf; waits: x]");
	advised->part_ptr = default_part_loc;
	advised->node_bitmap = fake_bitmap(0, 9);
	no_memory_everywhere(begun, advised);
	assert_null(advised->admin_comment);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(leaves_small_jobs_to_slurm),
		TEST(starts_on_no_node_with_too_few_gpus),
		TEST(places_what_turns_out_large),
		TEST(places_what_slurm_would_start_on_nodes_that_do_not_run),
		TEST(starts_small_where_that_is_sooner),
		TEST(several_zones_are_no_domain),
		TEST(waits_for_those_that_leave),
		TEST(few_nodes_wait_for_those_that_leave),
		TEST(places_what_slurm_would_not_start),
		TEST(places_components_where_all_have_room),
		TEST(components_wait_for_one_domain),
		TEST(components_start_on_settled_nodes),
		TEST(components_come_in_any_order),
		TEST(components_leave_each_other_room),
		TEST(jobs_with_components_take_turns),
		TEST(components_change_their_order),
		TEST(components_that_may_choose_start),
		TEST(components_start_where_one_was_planned_behind_the_other),
		TEST(components_start_where_they_were_planned),
		TEST(components_of_known_sizes_that_may_choose_start),
		TEST(components_cost_few_questions),
		TEST(components_are_planned_however_slow_slurm_is),
		TEST(components_with_ranges_are_placed),
		TEST(components_are_asked_about_anew),
		TEST(a_plan_far_off_is_one_of_this_cycle),
		TEST(few_nodes_of_components_stand_anywhere),
		TEST(counts_the_components_that_matter),
		TEST(components_wait_for_a_level),
		TEST(components_preempt_together),
		TEST(components_wait_for_those_that_leave),
		TEST(waits_with_a_request_of_another_release),
		TEST(waits_with_options_that_split),
		TEST(waits_without_memory),
		TEST(components_wait_without_memory),
		TEST(says_what_it_can_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
