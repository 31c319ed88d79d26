/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_shadow_memory.c - who waits at a terminal is told why, and not too often; whether Slurm asks
 * again; whom a gang preempts, over a restart; the license that holds gangs
 */
#include "tests/unit/shadow_calls.h"

#include <string.h>

#include "lib/policy/effective.h"
#include "lib/policy/request_parts.h"

static job_record_t *waiting_srun(uint32_t id)
{
	job_record_t *job = gang(id, 4, "leaf");

	job->other_port = 40000;
	job->resp_host = xstrdup("10.0.0.7");
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
	shadow_print_to_client(job, "waits: a", 1000);
	shadow_print_to_client(job, "waits: b", 1059);
	assert_int_equal(fake_slurm.user_messages, 1);
	shadow_print_to_client(job, "waits: b", 1060);
	assert_string_equal(fake_slurm.user_message, "onespine: waits: b");
	shadow_print_to_client(job, "waits: b", 5000);
	assert_int_equal(fake_slurm.user_messages, 2);
	/* the clock was put back */
	shadow_print_to_client(job, "waits: c", 500);
	assert_int_equal(fake_slurm.user_messages, 3);
}

/* Four are remembered, whoever was told in between. */
static void numbers_far_apart_hinder_nobody(void **state)
{
	job_record_t *jobs[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		jobs[i] = waiting_srun(7 + i * 1024);
	for (uint32_t i = 0; i < 4; i++) {
		shadow_print_to_client(jobs[i], "waits: a", 1000 + i);
		assert_int_equal(fake_slurm.user_messages, 1 + (int)i);
	}
	/* what is unchanged is not said in turn */
	for (int64_t now_s = 1061; now_s < 2000; now_s += 61) {
		for (uint32_t i = 0; i < 4; i++)
			shadow_print_to_client(jobs[i], "waits: a", now_s);
	}
	assert_int_equal(fake_slurm.user_messages, 4);
	/* the fifth takes the place of the one that heard nothing for the longest */
	shadow_print_to_client(waiting_srun(7 + 4 * 1024), "waits: a", 2000);
	assert_int_equal(fake_slurm.user_messages, 5);
	shadow_print_to_client(jobs[3], "waits: a", 2000);
	assert_int_equal(fake_slurm.user_messages, 5);
	shadow_print_to_client(jobs[0], "waits: a", 2000);
	assert_int_equal(fake_slurm.user_messages, 6);
	/* nobody's first reason is held back, even where all four heard something just now */
	for (uint32_t i = 5; i < 8; i++)
		shadow_print_to_client(waiting_srun(7 + i * 1024), "waits: a", 2000);
	assert_int_equal(fake_slurm.user_messages, 9);
}

/* A client that does not answer keeps threads of Slurm's agent for 10 s. */
static void few_lines_are_under_way_at_once(void **state)
{
	job_record_t *jobs[40];

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		jobs[i] = waiting_srun(1 + i);
	for (uint32_t i = 0; i < 40; i++)
		shadow_print_to_client(jobs[i], "waits: a", 1000 + i / 8);
	assert_int_equal(fake_slurm.user_messages, 16);
	/* those who had to wait for it come next, and nobody twice */
	for (uint32_t i = 0; i < 40; i++)
		shadow_print_to_client(jobs[i], "waits: a", 1010);
	assert_int_equal(fake_slurm.user_messages, 32);
	for (uint32_t i = 0; i < 40; i++)
		shadow_print_to_client(jobs[i], "waits: a", 1020);
	assert_int_equal(fake_slurm.user_messages, 40);
	/* the clock was put back */
	for (uint32_t i = 0; i < 40; i++)
		shadow_print_to_client(jobs[i], "waits: b", 500);
	assert_int_equal(fake_slurm.user_messages, 56);
	/* Slurm waits longer for its clients */
	slurm_conf.msg_timeout = 100;
	for (uint32_t i = 0; i < 40; i++)
		shadow_print_to_client(jobs[i], "waits: c", 599);
	assert_int_equal(fake_slurm.user_messages, 56);
	for (uint32_t i = 0; i < 40; i++)
		shadow_print_to_client(jobs[i], "waits: c", 600);
	assert_int_equal(fake_slurm.user_messages, 72);
	slurm_conf.msg_timeout = 0;
}

/* Whoever got no line because so many were under way gets it when backfill looks next. */
static void what_could_not_be_sent_is_no_report(void **state)
{
	job_record_t *job = waiting_srun(200);

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000);
	asked.now = time(NULL);
	for (uint32_t i = 0; i < 17; i++)
		shadow_print_to_client(waiting_srun(300 + i), "waits: a", asked.now);
	fake_slurm.user_messages = 0;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: 4 nodes on one leaf");
	assert_int_equal(fake_slurm.user_messages, 0);
	assert_true(shadow_must_report_waiting(job, asked.now + 1));
	/* a client that was told is told again after a minute */
	shadow_reported_waiting(job, asked.now);
	assert_false(shadow_must_report_waiting(job, asked.now + 1));
}

/* Jobs whose numbers are equal modulo any power of two up to 4096. */
static void no_job_is_explained_late_for_another(void **state)
{
	job_record_t *jobs[6];

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		jobs[i] = gang(7 + 4096 * i, 4, "leaf");
		jobs[i]->admin_comment = xstrdup("[onespine: gang=leaf; waits: a]");
		assert_true(shadow_must_report_waiting(jobs[i], 1000));
	}
	for (uint32_t i = 0; i < 4; i++)
		shadow_reported_waiting(jobs[i], 1000);
	/* one that is explained each minute */
	for (uint32_t s = 1000; s < 1300; s += 60)
		shadow_reported_waiting(jobs[1], s);
	for (uint32_t i = 0; i < 4; i++)
		assert_false(shadow_must_report_waiting(jobs[i], 1299));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(shadow_must_report_waiting(jobs[i], 1300), i != 1);
	/* more than are remembered: the one that was explained first is explained too early */
	shadow_reported_waiting(jobs[0], 1290);
	shadow_reported_waiting(jobs[3], 1291);
	shadow_reported_waiting(jobs[4], 1292);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(shadow_must_report_waiting(jobs[i], 1293), i == 2 || i == 5);
	/* the clock was put back: what was said later is forgotten first */
	shadow_reported_waiting(jobs[5], 900);
	shadow_reported_waiting(jobs[2], 901);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(shadow_must_report_waiting(jobs[i], 902), i != 5 && i != 2);
}

/* The name would be looked up under Slurm's locks. */
static void a_client_that_gives_a_name_is_told_nothing(void **state)
{
	static const struct {
		const char *host;
		int messages;
	} cases[] = {
		{"slow.example", 0}, {"10.0.0.7.example", 0}, {"10.1", 0}, {"", 0},
		{"10.0.0.7", 1},     {"fd00::7", 1},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = waiting_srun(1 + i);

		xfree(job->resp_host);
		job->resp_host = xstrdup(cases[i].host);
		fake_slurm.user_messages = 0;
		shadow_print_to_client(job, "waits: a", 1000);
		assert_int_equal(fake_slurm.user_messages, cases[i].messages);
		xfree(job->resp_host);
		shadow_print_to_client(job, "waits: a", 2000);
		assert_int_equal(fake_slurm.user_messages, cases[i].messages);
	}
}

/* Whether it could run on these nodes, as _pick_best_nodes() asks of a job that cannot start. */
static bool could_run(job_record_t *job, bitstr_t *nodes)
{
	const struct osp_job_test_tail tail = {0};
	bitstr_t *bitmap = bit_copy(nodes);
	uint32_t size = job->details->min_nodes;
	int rc = select_p_job_test(job, bitmap, size, size, size, SELECT_MODE_TEST_ONLY,
				   asked.candidates, NULL, OSP_JOB_TEST_TAIL(&tail));

	FREE_NULL_BITMAP(bitmap);
	return rc == SLURM_SUCCESS;
}

/* One node of each leaf is drained. */
static bitstr_t *drain(void)
{
	for (uint32_t leaf = 0; leaf < 4; leaf++) {
		bit_clear(idle_node_bitmap, (int)leaf * 4);
		bit_clear(avail_node_bitmap, (int)leaf * 4);
	}
	return bit_copy(avail_node_bitmap);
}

static void a_gang_that_lacks_drained_nodes_is_no_busy_one(void **state)
{
	job_record_t *whole = gang(1, 4, "leaf"), *cut = gang(2, 4, "spine");
	bitstr_t *all = fake_bitmap(0, SHADOW_NODES), *available = drain();

	(void)state;
	fake_job_option(cut, OSP_SPANK_GANG_SEGMENT "leaf:4");
	for (int i = 0; i < 2; i++) {
		job_record_t *job = i ? cut : whole;

		assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_false(could_run(job, available));
		/* a no to this would hold it for ever */
		assert_true(could_run(job, all));
	}
	/* a leaf large enough is there, and busy */
	bit_set(available, 0);
	assert_int_not_equal(ask(whole, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(could_run(whole, available));
	FREE_NULL_BITMAP(all);
	FREE_NULL_BITMAP(available);
}

/* Slurm leaves the first question out if too few nodes are available, or if another of the job's
 * alternative features has answered it: then what stands here is from an earlier call. */
static void a_question_about_drained_nodes_is_the_last(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");
	bitstr_t *all = drain();

	(void)state;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	bit_clear(avail_node_bitmap, 1);
	assert_true(could_run(job, all));
	FREE_NULL_BITMAP(all);
}

static void what_waits_for_an_administrator_is_no_busy_gang(void **state)
{
	job_record_t *job = gang(1, 4, "rack"), *unread = fake_job(2, 4);
	bitstr_t *all = fake_bitmap(0, SHADOW_NODES);

	(void)state;
	fake_job_option(unread, OSP_EFFECTIVE
			"mode=enforce,level=leaf,relax_s=-1,origin=option,tomorrow=1");
	for (int i = 0; i < 2; i++) {
		assert_int_not_equal(ask(i ? unread : job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_false(could_run(i ? unread : job, all));
		assert_true(could_run(i ? unread : job, all));
	}
	FREE_NULL_BITMAP(all);
}

/* The first question may be the last one. */
static void what_may_be_asked_once_has_slurm_s_answer(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *other = gang(2, 4, "leaf");
	bitstr_t *available = drain();

	(void)state;
	assert_true(could_run(job, available));
	/* nobody asks about what is available where fewer nodes were offered than it needs */
	bit_and_not(idle_node_bitmap, available);
	bit_set(idle_node_bitmap, 1);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(could_run(job, available));
	bit_or(idle_node_bitmap, available);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_not_equal(ask(other, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(could_run(job, available));
	/* a submission to several partitions goes on after "busy" alone */
	job->part_ptr_list = list_create(NULL);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(could_run(job, available));
	FREE_NULL_LIST(job->part_ptr_list);
	FREE_NULL_BITMAP(available);
}

/* What it is offered then has nodes that are not counted. */
static void offers_to_preempt_are_counted_as_slurm_counts_them(void **state)
{
	job_record_t *job = gang(1, 4, "rack");
	bitstr_t *all = fake_bitmap(0, SHADOW_NODES);

	(void)state;
	asked.candidates = list_create(NULL);
	bit_or(cg_node_bitmap, all);
	bit_clear(cg_node_bitmap, 0);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(could_run(job, all));
	bit_and_not(cg_node_bitmap, all);
	job->reboot = 1;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(could_run(job, all));
	job->reboot = 0;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_false(could_run(job, all));
	FREE_NULL_BITMAP(all);
}

/* A gang that preempts under the third leaf; then the first has a node more free. */
static job_record_t *preempting_gang(void)
{
	job_record_t *job = gang(1, 4, "leaf"), *ends;

	asked.candidates = list_create(NULL);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		list_append(asked.candidates, busy(50 + leaf, leaf * 4, leaf == 2 ? 1 : 3, 1000));
	shadow_count_refresh(asked.now);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-11");
	find_job_record(52)->preempt_time = asked.now;
	ends = find_job_record(50);
	ends->job_state = JOB_COMPLETE;
	shadow_count_end(50);
	bit_nset(idle_node_bitmap, 0, 2);
	list_append(asked.candidates, busy(60, 0, 1, 1000));
	return job;
}

static int is_job(void *item, void *key)
{
	return ((job_record_t *)item)->job_id == *(uint32_t *)key;
}

static void a_preemption_goes_on_after_a_restart(void **state)
{
	job_record_t *job = preempting_gang();
	uint32_t victim = 52;

	(void)state;
	shadow_state_free();
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	shadow_count_refresh(asked.now + 1);
	FREE_NULL_LIST(asked.preempted);
	ask(job, SELECT_MODE_RUN_NOW);
	assert_true(!asked.preempted || list_find_first(asked.preempted, is_job, &victim));
	assert_non_null(shadow_spank_value(job, OSP_PREEMPTS));
}

/* A task that starts leaves none of its victims to those that wait. */
static void a_task_leaves_no_victims_to_the_others(void **state)
{
	job_record_t *task = preempting_gang(), *rest;
	char entry[128];

	(void)state;
	snprintf(entry, sizeof(entry), "%s%s", OSP_PREEMPTS,
		 shadow_spank_value(task, OSP_PREEMPTS));
	assert_non_null(strstr(entry, "52@"));
	assert_non_null(strstr(entry, " leaf l3"));
	task->array_job_id = 1;
	task->job_id = 2;
	rest = gang(1, 4, "leaf");
	rest->array_job_id = 1;
	fake_job_option(rest, entry);
	fake_job_runs(task, 8, 4, asked.now + 1000);
	assert_int_equal(select_p_job_begin(task), SLURM_SUCCESS);
	assert_string_equal(shadow_spank_value(task, OSP_PREEMPTS), "");
	assert_string_equal(shadow_spank_value(rest, OSP_PREEMPTS), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, shadow_calls_end)

/* --- the license of gangs --------------------------------------------------------------------- */

/* slurmctld reads slurm.conf once more, with these licenses. */
static void read_conf(const char *licenses)
{
	xfree(slurm_conf.licenses);
	slurm_conf.licenses = xstrdup(licenses);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_int_equal(select_p_reconfigure(), SLURM_SUCCESS);
}

static void free_licenses(job_record_t *job)
{
	xfree(job->licenses);
	xfree(job->state_desc);
#if OSP_SLURM_AT_LEAST(24, 5)
	xfree(job->lic_req);
#endif
	FREE_NULL_LIST(job->license_list);
	xfree(slurm_conf.licenses);
}

static void gangs_carry_the_license(void **state)
{
	job_record_t *asks = gang(1, 4, "leaf"), *held = job_in(2, 4, "held");
	job_record_t *small = job_in(3, 1, "held"), *advised = job_in(4, 4, "advised");
	job_record_t *plain = job_in(5, 4, "gpu"), *running = gang(6, 4, "leaf");

	(void)state;
	asks->licenses = xstrdup("tool:1");
	running->job_state = JOB_RUNNING;
	read_conf("tool:2");
	assert_string_equal(slurm_conf.licenses, "tool:2");
	assert_string_equal(asks->licenses, "tool:1");
	read_conf("tool:2,onespine:1");
	assert_string_equal(slurm_conf.licenses, "tool:2,onespine:1000000");
	assert_string_equal(asks->licenses, "tool:1,onespine:2");
	assert_null(asks->license_list); /* Slurm's own */
#if OSP_SLURM_AT_LEAST(24, 5)
	assert_string_equal(asks->lic_req, "onespine:2");
#endif
	assert_string_equal(held->licenses, "onespine:2");
	assert_null(held->license_list);
	assert_null(small->licenses);
	assert_null(advised->licenses);
	assert_null(plain->licenses);
	/* it may be put back where no shadow is */
	assert_string_equal(running->licenses, "onespine:2");
	assert_null(running->license_list);
	free_licenses(running);
	free_licenses(asks);
	free_licenses(held);
	/* alternatives stay */
	asks->licenses = xstrdup("a|b");
	read_conf("onespine:1");
	assert_string_equal(asks->licenses, "a|b");
	assert_non_null(strstr(fake_slurm_log(), "cannot carry license onespine"));
	free_licenses(asks);
	/* one that the policy holds since slurm.conf was read is given it when it is looked at */
	slurm_conf.licenses = xstrdup("onespine:1000000");
	assert_int_equal(ask(asks, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(asks->licenses, "onespine:2");
	free_licenses(asks);
	free_licenses(running);
	free_licenses(held);
}

/* Two gangs have no license in common: from 24.11 on Slurm would preempt one for the other. */
static void the_license_counts_for_nothing(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *ran = gang(2, 4, "leaf"), *other;
	bool valid;

	(void)state;
	for (int i = 0; i < 2; i++) {
		other = i ? ran : job;
		other->licenses = xstrdup("tool:1,onespine:2");
		other->license_list = OSP_LICENSE_VALIDATE(other->licenses, NULL, &valid);
		assert_int_equal(list_count(other->license_list), 2);
	}
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(list_count(job->license_list), 1);
	assert_string_equal(job->licenses, "tool:1,onespine:2");
	ran->job_state = JOB_RUNNING;
	read_conf("onespine:1");
	assert_int_equal(list_count(ran->license_list), 1);
	assert_string_equal(ran->licenses, "tool:1,onespine:2");
	assert_null(strstr(fake_slurm_log(), "given back"));
	/* what slurmctld took for a gang that it found running is given back */
	free_licenses(ran);
	ran->licenses = xstrdup("onespine:2");
	ran->license_list = OSP_LICENSE_VALIDATE(ran->licenses, NULL, &valid);
	((licenses_t *)list_peek(ran->license_list))->used = 2;
	read_conf("onespine:1");
	assert_null(ran->license_list);
	assert_non_null(strstr(fake_slurm_log(), "1 of the licenses given back, first onespine"));
	free_licenses(job);
	free_licenses(ran);
}

static void what_slurm_held_for_the_license_is_let_go(void **state)
{
	static const char *const words[] = {
		"License request 'onespine:2' is no longer valid, holding job",
		"License request 'onespine:2' is no longer valid, holding job",
		"held by a person",
		NULL,
	};
	job_record_t *jobs[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		jobs[i] = gang(1 + i, 4, "leaf");
		jobs[i]->licenses = xstrdup("onespine:2");
		jobs[i]->priority = 0;
		jobs[i]->state_reason = i == 1 ? WAIT_HELD_USER : WAIT_HELD;
		jobs[i]->state_desc = xstrdup(words[i]);
	}
	read_conf("onespine:1");
	assert_true(jobs[0]->priority > 0);
	assert_int_equal(jobs[0]->state_reason, WAIT_NO_REASON);
	assert_null(jobs[0]->state_desc);
	for (uint32_t i = 1; i < 4; i++)
		assert_int_equal(jobs[i]->priority, 0);
	assert_non_null(strstr(fake_slurm_log(), "is no longer held: license onespine is offered"));
	/* of another license: what nobody offers */
	jobs[0]->priority = 0;
	jobs[0]->state_reason = WAIT_HELD;
	xfree(jobs[0]->licenses);
	jobs[0]->licenses = xstrdup("tool:9|onespine2");
	jobs[0]->state_desc = xstrdup("License request 'tool:9' is no longer valid, holding job");
	read_conf("onespine:1");
	assert_int_equal(jobs[0]->priority, 0);
	/* without a license that it needs it would start */
	xfree(jobs[0]->licenses);
	jobs[0]->licenses = xstrdup("unknown:9,onespine:2");
	read_conf("onespine:1");
	assert_int_equal(jobs[0]->priority, 0);
	for (uint32_t i = 0; i < 4; i++)
		free_licenses(jobs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_is_told_why_it_waits),
		TEST(a_batch_job_has_nobody_to_tell),
		TEST(a_change_is_told_after_a_minute),
		TEST(few_lines_are_under_way_at_once),
		TEST(what_could_not_be_sent_is_no_report),
		TEST(no_job_is_explained_late_for_another),
		TEST(a_client_that_gives_a_name_is_told_nothing),
		TEST(numbers_far_apart_hinder_nobody),
		TEST(a_gang_that_lacks_drained_nodes_is_no_busy_one),
		TEST(a_question_about_drained_nodes_is_the_last),
		TEST(what_waits_for_an_administrator_is_no_busy_gang),
		TEST(what_may_be_asked_once_has_slurm_s_answer),
		TEST(offers_to_preempt_are_counted_as_slurm_counts_them),
		TEST(a_preemption_goes_on_after_a_restart),
		TEST(a_task_leaves_no_victims_to_the_others),
		TEST(gangs_carry_the_license),
		TEST(the_license_counts_for_nothing),
		TEST(what_slurm_held_for_the_license_is_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
