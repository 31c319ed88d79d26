/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_leave.c - jobs that end, and how long they are waited for */
#include "tests/unit/shadow_calls.h"

/* 12,000 s in all. */
static void set_limits(void)
{
	slurm_conf.kill_wait = 3000;
	slurm_conf.unkillable_timeout = 6000;
	slurm_conf.msg_timeout = 1000;
	OSP_EPILOG_TIMEOUT_S = 2000;
}

static int begin(void **state)
{
	set_limits();
	return shadow_calls_begin(state);
}

static int end(void **state)
{
	slurm_conf.kill_wait = 0;
	slurm_conf.unkillable_timeout = 0;
	slurm_conf.msg_timeout = 0;
	OSP_EPILOG_TIMEOUT_S = 0;
	return shadow_calls_end(state);
}

static void is_waited_for_as_long_as_it_may_take(void **state)
{
	job_record_t *job = busy(50, 0, 1, 0);
	static const uint16_t none[] = {0, NO_VAL16, INFINITE16};

	(void)state;
	assert_false(shadow_job_leaves(job, asked.now));
	job->job_state = JOB_PENDING | JOB_COMPLETING;
	assert_true(shadow_job_leaves(job, asked.now + 12000));
	assert_false(shadow_job_leaves(job, asked.now + 12001));
	/* where slurm.conf limits no Epilog */
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		OSP_EPILOG_TIMEOUT_S = none[i];
		assert_true(shadow_job_leaves(job, asked.now + 10300));
		assert_false(shadow_job_leaves(job, asked.now + 10301));
	}
	/* one that was suspended ended for Slurm when that was */
	job->end_time = asked.now - 50000;
	assert_false(shadow_job_leaves(job, asked.now));
	job->preempt_time = asked.now;
	assert_true(shadow_job_leaves(job, asked.now + 10300));
	assert_false(shadow_job_leaves(job, asked.now + 10301));
}

/* Asks for a start now by preempting; a node that a job is leaving is not offered, as in Slurm. */
static bool preempts(job_record_t *job, int without)
{
	const struct osp_job_test_tail tail = {0};

	FREE_NULL_BITMAP(asked.bitmap);
	FREE_NULL_LIST(asked.preempted);
	asked.bitmap = fake_bitmap(0, SHADOW_NODES);
	bit_clear(asked.bitmap, without);
	return select_p_job_test(job, asked.bitmap, 4, 4, 4, SELECT_MODE_RUN_NOW, asked.candidates,
				 &asked.preempted, OSP_JOB_TEST_TAIL(&tail)) == SLURM_SUCCESS &&
	       asked.preempted;
}

/*
 * No signal ends a process of the victim: it completes until somebody comes. No other domain is
 * emptied as long as that is in order; then the gang's is forgotten.
 */
static void a_victim_that_never_leaves_is_given_up(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *victim;

	(void)state;
	asked.candidates = list_create(NULL);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		list_append(asked.candidates, busy(50 + leaf, leaf * 4, leaf == 2 ? 1 : 3, 1000));
	shadow_count_refresh(asked.now);
	assert_true(preempts(job, 0));
	assert_string_equal(nodes_given(), "8-11");
	victim = find_job_record(52);
	victim->job_state = JOB_PENDING | JOB_COMPLETING;
	victim->start_time = 0;
	victim->end_time = asked.now;
	shadow_count_end(52);
	list_delete_ptr(asked.candidates, victim);
	assert_false(preempts(job, 8));
	victim->end_time = asked.now - 11000;
	assert_false(preempts(job, 8));
	victim->end_time = asked.now - 12001;
	assert_true(preempts(job, 8));
	assert_string_equal(nodes_given(), "0-3");
	assert_int_equal(list_count(asked.preempted), 1);
	/* and now that one is waited for */
	victim = find_job_record(50);
	victim->job_state = JOB_PENDING | JOB_COMPLETING;
	victim->end_time = asked.now;
	shadow_count_end(50);
	list_delete_ptr(asked.candidates, victim);
	assert_false(preempts(job, 0));
}

/* The plan of a gang of one leaf, for which the first would be free at once but for its third node,
 * whose job has ended; the second is in 100 s. */
static const char *planned(job_record_t *job, time_t last_busy, uint16_t run_job_cnt)
{
	node_record_table_ptr[2]->last_busy = last_busy;
	node_record_table_ptr[2]->run_job_cnt = run_job_cnt;
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	return nodes_given();
}

static void a_node_whose_epilog_hangs_is_waited_for_last(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	for (uint32_t leaf = 1; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 4, leaf * 100);
	bit_set(cg_node_bitmap, 2);
	assert_string_equal(planned(job, asked.now - 11900, 0), "0-3");
	assert_string_equal(planned(job, asked.now - 12100, 0), "4-7");
	assert_true(job->start_time >= asked.now + 100);
	/* another job runs there; nobody knows since when it is so */
	assert_string_equal(planned(job, asked.now - 12100, 1), "0-3");
	assert_string_equal(planned(job, 0, 0), "0-3");
	/* where no other node can be had */
	bit_clear(cg_node_bitmap, 2);
	for (int n = 0; n < SHADOW_NODES; n += 4)
		bit_set(cg_node_bitmap, n + 2);
	for (int n = 2; n < SHADOW_NODES; n += 4)
		node_record_table_ptr[n]->last_busy = asked.now - 12100;
	assert_string_equal(planned(job, asked.now - 12100, 0), "0-3");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_waited_for_as_long_as_it_may_take),
		TEST(a_victim_that_never_leaves_is_given_up),
		TEST(a_node_whose_epilog_hangs_is_waited_for_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
