/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_memory.c - who waits at a terminal is told why, and not too often */
#include "tests/unit/shadow_calls.h"

#include <string.h>

static job_record_t *waiting_srun(uint32_t id)
{
	job_record_t *job = gang(id, 4, "leaf");

	job->other_port = 40000;
	return job;
}

static void a_client_is_told_why_it_waits(void **state)
{
	job_record_t *job = waiting_srun(1);

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 100);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.user_messages, 1);
	assert_non_null(strstr(fake_slurm.user_message,
			       "onespine: waits: 4 nodes on one leaf; nearest: l1 has 3 free"));
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.user_messages, 1);
}

static void a_batch_job_has_nobody_to_tell(void **state)
{
	job_record_t *batch = waiting_srun(1), *unheard = gang(2, 4, "leaf");

	(void)state;
	batch->batch_flag = 1;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 100);
	assert_int_not_equal(ask(batch, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_not_equal(ask(unheard, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(unheard, "waits: 4 nodes on one leaf");
	assert_int_equal(fake_slurm.user_messages, 0);
}

static void a_change_is_told_after_a_minute(void **state)
{
	job_record_t *job = waiting_srun(1);

	(void)state;
	shadow_tell_client(job, "waits: a", 1000);
	shadow_tell_client(job, "waits: b", 1059);
	assert_int_equal(fake_slurm.user_messages, 1);
	shadow_tell_client(job, "waits: b", 1060);
	assert_string_equal(fake_slurm.user_message, "onespine: waits: b");
	shadow_tell_client(job, "waits: b", 5000);
	assert_int_equal(fake_slurm.user_messages, 2);
	/* the clock was put back */
	shadow_tell_client(job, "waits: c", 500);
	assert_int_equal(fake_slurm.user_messages, 3);
}

/* However many wait, a thousand lines go out in a minute at most. */
static void numbers_far_apart_share_a_minute(void **state)
{
	job_record_t *job = waiting_srun(1), *other = waiting_srun(1025), *beside = waiting_srun(2);

	(void)state;
	shadow_tell_client(job, "waits: a", 1000);
	shadow_tell_client(other, "waits: a", 1001);
	assert_int_equal(fake_slurm.user_messages, 1);
	shadow_tell_client(beside, "waits: a", 1001);
	assert_int_equal(fake_slurm.user_messages, 2);
	shadow_tell_client(other, "waits: a", 1061);
	assert_int_equal(fake_slurm.user_messages, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_is_told_why_it_waits),
		TEST(a_batch_job_has_nobody_to_tell),
		TEST(a_change_is_told_after_a_minute),
		TEST(numbers_far_apart_share_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
