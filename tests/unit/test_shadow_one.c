/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_one.c - jobs that may have one node only, where Slurm adds up what several have */
#include "tests/unit/shadow_calls.h"

#include <string.h>

#include "tests/unit/late_clock.h"
#include "tests/unit/no_memory.h"

#if OSP_ONE_NODE_ADDS_UP

#define NODES SHADOW_NODES
#define ASKED 6 /* GPUs of the job in each test */

/* What Slurm would find. A node without processors for the job is passed over. */
static struct {
	uint64_t gpus;	  /* that are free */
	time_t all_s;	  /* from when on all 8 are; 0: never */
	bool preemptable; /* all are once it has preempted */
	bool no_processor;
} world[NODES];

static long slow_ns; /* how long each question takes */

static uint64_t gpus_of(int n, time_t at_s, bool forced)
{
	bool all = (world[n].all_s && at_s >= world[n].all_s) || (forced && world[n].preemptable);

	return all ? 8 : world[n].gpus;
}

/* Looks for a node as 26.05 does: what a node lacks is made up by those before. */
static bool names_one(bitstr_t *nodes, time_t at_s, bool forced)
{
	uint64_t sum = 0;

	for (int n = 0; n < NODES; n++) {
		if (!bit_test(nodes, n) || world[n].no_processor)
			continue;
		sum += gpus_of(n, at_s, forced);
		if (sum < ASKED)
			continue;
		bit_clear_all(nodes);
		bit_set(nodes, n);
		return true;
	}
	return false;
}

/* The first two that have enough together. */
static bool names_two(bitstr_t *nodes)
{
	for (int n = 0; n + 1 < NODES; n++) {
		if (gpus_of(n, asked.now, false) + gpus_of(n + 1, asked.now, false) < ASKED)
			continue;
		bit_clear_all(nodes);
		bit_nset(nodes, n, n + 1);
		return true;
	}
	return false;
}

static bool names_later(bitstr_t *nodes, time_t *start_s)
{
	time_t next_s = *start_s;

	do {
		time_t now_s = next_s;

		if (names_one(nodes, now_s, false)) {
			*start_s = now_s;
			return true;
		}
		for (int n = 0; n < NODES; n++) {
			if (world[n].all_s > now_s && (next_s == now_s || world[n].all_s < next_s))
				next_s = world[n].all_s;
		}
		if (next_s == now_s)
			return false;
	} while (true);
}

/* At the start of a slot those that may be preempted are gone; "now" means that start. */
static int names_in_slot(job_record_t *job, bitstr_t *nodes, time_t slot_s, osp_list_t *offered)
{
	time_t start_s = slot_s;

	if ((job->bit_flags & TEST_NOW_ONLY) && !offered)
		return SLURM_ERROR;
	if (!names_one(nodes, slot_s, offered != NULL) && !names_later(nodes, &start_s))
		return SLURM_ERROR;
	job->start_time = start_s > slot_s ? start_s : asked.now;
	return SLURM_SUCCESS;
}

static int adds_up(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		   uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		   OSP_JOB_TEST_TAIL_PARAMETERS)
{
	const struct osp_job_test_tail tail = {OSP_JOB_TEST_TAIL_VALUES};
	const struct timespec slow = {0, slow_ns};
	time_t start_s = asked.now;
	bool forced = false, yes;

	nanosleep(&slow, NULL);
	free_job_resources(&job->job_resrcs); /* as Slurm's does first */
	(void)max_nodes;
	(void)req_nodes;
	if (mode == SELECT_MODE_TEST_ONLY)
		return bit_ffs(nodes) >= 0 ? SLURM_SUCCESS : SLURM_ERROR;
	if (OSP_SLOT_START_S(&tail) > asked.now)
		return names_in_slot(job, nodes, (time_t)OSP_SLOT_START_S(&tail), offered);
	yes = min_nodes > 1 ? names_two(nodes) : names_one(nodes, start_s, false);
	if (min_nodes > 1)
		offered = NULL;
	if (!yes && offered)
		yes = forced = names_one(nodes, start_s, true);
	if (!yes && mode == SELECT_MODE_WILL_RUN && !(job->bit_flags & TEST_NOW_ONLY))
		yes = names_later(nodes, &start_s);
	if (!yes)
		return SLURM_ERROR;
	if (mode == SELECT_MODE_WILL_RUN)
		job->start_time = start_s;
	if (forced && taken) {
		*taken = list_create(NULL);
		list_append(*taken, list_peek(offered));
	}
	if (mode == SELECT_MODE_RUN_NOW)
		job->job_resrcs = xmalloc(sizeof(*job->job_resrcs));
	return SLURM_SUCCESS;
}

/* All nodes have 8 GPUs, as the account knows; of each `free` are. */
static void set_world(uint64_t free)
{
	memset(world, 0, sizeof(world));
	for (int n = 0; n < NODES; n++)
		world[n].gpus = free;
	fake_slurm.job_test = adds_up;
}

#define HELD_MAX (2 * NODES)

static gres_job_state_t *held_gpus[HELD_MAX];
static int held_count;

/* A job holds so many GPUs of the node, as the account knows, for so long; 0: as long as one looks
 * ahead. */
static job_record_t *hold_as(uint32_t id, int n, uint64_t gpus, time_t seconds)
{
	job_record_t *job = busy(id, (uint32_t)n, 1, seconds ? seconds : 100000);
	gres_job_state_t *has;

	bit_set(idle_node_bitmap, n);
	job->gres_list_alloc = fake_job_gres("gpu", 0, 0);
	has = ((gres_state_t *)list_peek(job->gres_list_alloc))->gres_data;
	job->job_resrcs->cpus[0] = 1;
	has->node_cnt = 1;
	has->gres_cnt_node_alloc = xcalloc(1, sizeof(*has->gres_cnt_node_alloc));
	has->gres_cnt_node_alloc[0] = gpus;
	held_gpus[held_count++] = has;
	shadow_count_added(job);
	world[n].gpus = 8 - gpus;
	world[n].all_s = seconds ? asked.now + seconds : 0;
	return job;
}

static job_record_t *hold(int n, uint64_t gpus, time_t seconds)
{
	return hold_as(50 + (uint32_t)n, n, gpus, seconds);
}

static job_record_t *preemptable(int n, uint64_t gpus)
{
	job_record_t *job = hold(n, gpus, 0);

	if (!asked.candidates)
		asked.candidates = list_create(NULL);
	list_append(asked.candidates, job);
	world[n].preemptable = true;
	return job;
}

static int end(void **state)
{
	slow_ns = 0;
	late_s = 0;
	while (held_count)
		xfree(held_gpus[--held_count]->gres_cnt_node_alloc);
	return shadow_calls_end(state);
}

/* -n1 --gpus=6 in a partition that promises one spine to jobs of 3 nodes and more. */
static job_record_t *job_of_one_node(uint64_t free)
{
	static uint32_t id = 100; /* another one each time, as the shadow remembers jobs */
	job_record_t *job = job_in(id++, 1, "held");

	job->details->max_nodes = 0;
	job->details->whole_node = 0;
	job->gres_list_req = fake_job_gres("gpu", 0, ASKED);
	set_world(free);
	return job;
}

/* Of one GPU no sum is wrong. */
static void leaves_one_gpu_to_slurm(void **state)
{
	job_record_t *job = job_of_one_node(4);

	(void)state;
	FREE_NULL_LIST(job->gres_list_req);
	job->gres_list_req = fake_job_gres("gpu", 0, 1);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 1);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 2);
}

static void preempts_nobody_beside_a_node_with_enough(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	preemptable(0, 4);
	preemptable(1, 4);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
	assert_null(asked.preempted);
	assert_int_equal(fake_slurm.tests, 2);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
	assert_true(job->start_time <= asked.now);
}

static void preempts_on_one_node_where_none_has_enough(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	for (int n = 2; n < NODES; n++)
		hold(n, 8, 0);
	preemptable(0, 4);
	preemptable(1, 4);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0");
	assert_int_equal(list_count(asked.preempted), 1);
	assert_non_null(job->job_resrcs);
}

/* Slurm preempts the first ones of its list, wherever they are. */
static void preempts_in_slurms_order(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	for (int n = 4; n < NODES; n++)
		hold(n, 8, 0);
	for (int n = 3; n >= 0; n--)
		preemptable(n, 4);
	for (int n = 3; n >= 2; n--) { /* without the first two their nodes still have too few */
		hold_as(90 + (uint32_t)n, n, 4, 0);
		world[n].gpus = world[n].preemptable = 0;
	}
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "1");
	assert_int_equal(fake_slurm.tests, 1);
	/* but not those that Slurm cannot preempt there */
	free_job_resources(&job->job_resrcs);
	world[1].no_processor = true;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0");
}

/* In a slot that begins later: without preempting if that starts it no later. */
static int ask_in_slot(job_record_t *job, time_t start_s, time_t end_s)
{
	will_run_data_t slot = {.start = start_s, .end = end_s};
	const struct osp_job_test_tail tail = {.slot = &slot};

	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = fake_bitmap(0, NODES);
	return select_p_job_test(job, asked.bitmap, 1, 1, 1, SELECT_MODE_WILL_RUN, asked.candidates,
				 NULL, OSP_JOB_TEST_TAIL(&tail));
}

static void plans_for_no_preemption_in_a_later_slot(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	for (int n = 3; n < NODES; n++)
		hold(n, 8, 0);
	hold(0, 8, 5000);
	preemptable(1, 4);
	hold(2, 8, 1000);
	assert_int_equal(ask_in_slot(job, asked.now + 1000, asked.now + 9000), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
	assert_int_equal(fake_slurm.tests, 1);
	/* at its start rather than later */
	assert_int_equal(ask_in_slot(job, asked.now + 500, asked.now + 9000), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "1");
	FREE_NULL_LIST(asked.candidates);
	assert_int_equal(ask_in_slot(job, asked.now + 1200, asked.now + 9000), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
	job->bit_flags |= TEST_NOW_ONLY;
	assert_int_not_equal(ask_in_slot(job, asked.now + 1200, asked.now + 9000), SLURM_SUCCESS);
}

static void plans_the_node_that_has_enough_first(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	for (int n = 3; n < NODES; n++)
		hold(n, 8, 0);
	hold(0, 4, 3000);
	hold(1, 4, 3000);
	hold(2, 4, 1000);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_null(job->job_resrcs);
	fake_slurm.tests = 0;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
	assert_int_equal(job->start_time, asked.now + 1000);
	assert_int_equal(fake_slurm.tests, 1);
	/* not there: when one of the others has enough, not when their sum is */
	world[2].no_processor = true;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "1");
	assert_int_equal(job->start_time, asked.now + 3000);
}

/* The node that has enough first by the account has it late; another one has it in between. */
static void plans_no_later_than_another_node(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	for (int n = 3; n < NODES; n++)
		hold(n, 8, 0);
	hold(0, 4, 1000);
	hold(1, 8, 2000);
	hold(2, 8, 4000);
	world[0].all_s = asked.now + 3000;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "1");
	assert_int_equal(job->start_time, asked.now + 2000);
	/* there is none before it: the first answer is asked for again */
	world[1].all_s = asked.now + 3500;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0");
	assert_int_equal(job->start_time, asked.now + 3000);
}

/* What the account does not know of: a yes is asked for again about that node alone. */
static void proves_each_yes(void **state)
{
	job_record_t *job = job_of_one_node(4);

	(void)state;
	world[3].gpus = 8;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "3");
	assert_int_equal(fake_slurm.tests, 6);
	world[3].gpus = 4;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_null(job->job_resrcs);
	assert_int_equal(bit_set_count(asked.bitmap), NODES); /* as it came */
	fake_slurm.tests = 0;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 24);
}

/* Jobs of which the account knows hold 4 of a node's GPUs in a way that it does not. */
static void half_unseen(int first, int count, bool to_preempt)
{
	for (int n = first; n < first + count; n++) {
		if (to_preempt)
			preemptable(n, 0);
		else
			hold(n, 0, 3000);
		world[n].gpus = 4;
	}
}

static void preempts_nobody_for_a_sum(void **state)
{
	job_record_t *job = job_of_one_node(4);

	(void)state;
	half_unseen(0, 2, true);
	world[6].gpus = 8;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "6");
	assert_null(asked.preempted);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "6");
	assert_true(job->start_time <= asked.now);
}

/* Partly held nodes that the account takes for free, and one on which nobody is. */
static void starts_on_the_empty_node(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	half_unseen(0, 15, false);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "15");
	assert_int_equal(fake_slurm.tests, 3);
	fake_slurm.tests = 0;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "15");
	assert_true(job->start_time <= asked.now);
	assert_int_equal(fake_slurm.tests, 3);
}

/* No node is empty: the next call goes on where the last one stopped, and nobody is preempted
 * before all were asked about. */
static void goes_on_where_it_stopped(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	half_unseen(0, 1, true);
	half_unseen(1, 15, false);
	world[15].gpus = 8;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_null(asked.preempted);
	assert_in_range(fake_slurm.tests, 10, 24);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "15");
	assert_null(asked.preempted);
	/* at last somebody is */
	free_job_resources(&job->job_resrcs);
	world[15].gpus = 4;
	for (int call = 0; call < 3 && !asked.preempted; call++)
		ask_range(job, 1, 1, SELECT_MODE_RUN_NOW);
	assert_string_equal(nodes_given(), "0");
	assert_int_equal(list_count(asked.preempted), 1);
}

/* A node that an earlier call asked about may have what is asked for by now: nobody is preempted
 * before it was asked about again, though the calls are too few for that too. */
static void preempts_nobody_before_all_were_asked_again(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	half_unseen(0, 1, true);
	half_unseen(1, 15, false);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	world[7].gpus = 8;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_null(asked.preempted);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "7");
	assert_null(asked.preempted);
}

/* Of many jobs each goes on where it stopped, so that each may preempt in the end. */
static void goes_on_beside_many_others(void **state)
{
	job_record_t *jobs[60];
	int waiting = 60;

	(void)state;
	for (int i = 0; i < 60; i++)
		jobs[i] = job_of_one_node(8);
	half_unseen(0, 1, true);
	half_unseen(1, 15, false);
	for (int call = 0; call < 4; call++) {
		for (int i = 0; i < 60; i++) {
			if (!jobs[i] || ask_range(jobs[i], 1, 1, SELECT_MODE_RUN_NOW))
				continue;
			assert_string_equal(nodes_given(), "0");
			free_job_resources(&jobs[i]->job_resrcs);
			FREE_NULL_LIST(asked.preempted);
			jobs[i] = NULL;
			waiting--;
		}
	}
	assert_int_equal(waiting, 0);
}

/* Cycles of backfill may be minutes apart. */
static void goes_on_minutes_later(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	half_unseen(0, 1, true);
	half_unseen(1, 15, false);
	for (int call = 0; call < 4 && !asked.preempted; call++, late_s += 400)
		ask_range(job, 1, 1, SELECT_MODE_RUN_NOW);
	assert_non_null(asked.preempted);
	assert_string_equal(nodes_given(), "0");
}

/* A node that was asked about has what another request asks for. */
static void begins_anew_for_another_request(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	half_unseen(0, 1, true);
	half_unseen(1, 12, false);
	for (int n = 13; n < NODES; n++)
		hold(n, 8, 0);
	for (int call = 0; call < 2; call++)
		assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	world[3].gpus = 8;
	job->tres_bind = xstrdup("gres/gpu:closest");
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "3");
	assert_null(asked.preempted);
	xfree(job->tres_bind);
}

static void stops_after_a_second(void **state)
{
	job_record_t *job = job_of_one_node(4);

	(void)state;
	slow_ns = 550 * 1000 * 1000;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_in_range(fake_slurm.tests, 2, 3);
}

/* Many questions of one call: each may have its two, and 48 are the most beyond. */
static void asks_not_too_often_in_a_call(void **state)
{
	job_record_t *job = gang(99, 1, "leaf");

	(void)state;
	job->details->whole_node = 0;
	job->gres_list_req = fake_job_gres("gpu", 0, ASKED);
	set_world(4);
	for (int n = 0; n < NODES; n++)
		world[n].all_s = asked.now + 5000 - n;
	ask_range(job, 1, 1, SELECT_MODE_WILL_RUN);
	assert_in_range(fake_slurm.tests, 49, 64);
	/* such answers are not kept */
	fake_slurm.tests = 0;
	ask_range(job, 1, 1, SELECT_MODE_WILL_RUN);
	assert_in_range(fake_slurm.tests, 49, 64);
}

/* --mem-per-gpu: a node with the GPUs that lacks the memory is not free. */
static void counts_memory_by_gpus(void **state)
{
	uint16_t before = slurm_conf.select_type_param;
	job_record_t *job = job_of_one_node(8);
	gres_job_state_t *wanted = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;

	(void)state;
	slurm_conf.select_type_param = OSP_SELECT_MEMORY;
	wanted->mem_per_gres = 100;
	for (int n = 0; n < NODES; n++) {
		job_record_t *other = hold(n, 0, 3000);
		uint64_t **memory = &other->job_resrcs->memory_allocated;

		*memory = xcalloc(1, sizeof(**memory));
		(*memory)[0] = n == 12 ? 400 : 401;
		shadow_count_added(other);
		world[n].gpus = n == 12 ? 8 : 4;
	}
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "12");
	assert_int_equal(fake_slurm.tests, 1);
	slurm_conf.select_type_param = before;
}

/* --cpus-per-gpu, -c: a node with the GPUs that lacks the processors is not free. */
static void counts_processors(void **state)
{
	job_record_t *job = job_of_one_node(4);
	gres_job_state_t *wanted = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;

	(void)state;
	for (int n = 0; n < NODES; n++) {
		job_record_t *other = hold(n, 0, 3000);

		other->job_resrcs->cpus[0] = n == 12 ? 2 : 3;
		shadow_count_added(other);
		world[n].gpus = n == 12 ? 8 : 4;
	}
	wanted->cpus_per_gres = 1;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "12");
	assert_int_equal(fake_slurm.tests, 1);
	wanted->cpus_per_gres = 0;
	job->details->min_cpus = 6;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 2);
	/* unless they are shared */
	job->details->overcommit = 1;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_in_range(fake_slurm.tests, 4, 30);
	job->details->overcommit = 0;
	job->part_ptr->max_share = SHARED_FORCE | 4;
	fake_slurm.tests = 0;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_in_range(fake_slurm.tests, 2, 30);
}

/* --core-spec=0: the job may have the processors too that its node keeps for the system. */
static void counts_no_processors_with_core_spec(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	job->details->min_cpus = 1000;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	job->details->core_spec = 0;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0");
}

/* What a partition gives to each GPU stands in the job, of the last partition that it was tried in.
 */
static void counts_no_default_of_another_partition(void **state)
{
	job_record_t *job = job_of_one_node(8);
	gres_job_state_t *wanted = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;

	(void)state;
	wanted->def_cpus_per_gres = 2;
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	job->part_ptr_list = list_create(NULL);
	list_append(job->part_ptr_list, job->part_ptr);
	list_append(job->part_ptr_list, find_part_record((char *)"wide"));
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	FREE_NULL_LIST(job->part_ptr_list);
}

static void asks_only_about_required_nodes(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	job->details->req_node_bitmap = fake_bitmap(9, 1);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "9");
	assert_int_equal(fake_slurm.tests, 1);
}

static void goes_on_in_each_partition(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	half_unseen(0, 1, true);
	half_unseen(1, 15, false);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	world[1].gpus = 8;
	job->part_ptr = find_part_record((char *)"wide");
	fake_slurm.tests = 0;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "1");
	assert_int_equal(fake_slurm.tests, 2);
}

static void looks_at_types(void **state)
{
	job_record_t *job = job_of_one_node(8);
	gres_job_state_t *wanted = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;
	static char h100[] = "h100", a100[] = "a100";
	char *types[] = {a100, h100};
	uint64_t few[] = {4, 4}, many[] = {2, 6};

	(void)state;
	wanted->type_name = h100;
	for (int n = 0; n < NODES; n++) {
		gres_state_t *gpus = list_peek(node_record_table_ptr[n]->gres_list);
		gres_node_state_t *has = gpus->gres_data;

		has->type_cnt = 2;
		has->type_name = types;
		has->type_cnt_avail = n == 5 ? many : few;
	}
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "5");
	assert_int_equal(fake_slurm.tests, 1);
}

/* What other jobs hold of a type; the account counts all types together. */
static void looks_at_what_is_free_of_a_type(void **state)
{
	job_record_t *job = job_of_one_node(4);
	gres_job_state_t *wanted = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;
	static char h100[] = "h100", a100[] = "a100";
	char *types[] = {a100, h100};
	uint64_t has_of[] = {2, 6}, held[] = {0, 1}, none[] = {2, 0};

	(void)state;
	wanted->type_name = h100;
	for (int n = 0; n < NODES; n++) {
		gres_state_t *gpus = list_peek(node_record_table_ptr[n]->gres_list);
		gres_node_state_t *has = gpus->gres_data;

		has->type_cnt = 2;
		has->type_name = types;
		has->type_cnt_avail = has_of;
		has->type_cnt_alloc = n == 9 ? none : held;
	}
	world[9].gpus = 6;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "9");
	assert_int_equal(fake_slurm.tests, 1);
}

/* -N1,2: Slurm may choose one node by itself. */
static void looks_at_lists_of_sizes(void **state)
{
	job_record_t *job = job_of_one_node(4);

	(void)state;
	job->details->job_size_bitmap = bit_alloc(3);
	bit_set(job->details->job_size_bitmap, 1);
	bit_set(job->details->job_size_bitmap, 2);
	world[2].gpus = 8;
	assert_int_equal(ask_range(job, 1, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
	/* two nodes start now, one would later */
	half_unseen(0, NODES, false);
	assert_int_equal(ask_range(job, 1, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-1");
	assert_int_equal(ask_range(job, 1, 2, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-1");
	assert_true(job->start_time <= asked.now);
	assert_true(bit_test(job->details->job_size_bitmap, 1));
	bit_clear(job->details->job_size_bitmap, 1);
	assert_int_equal(ask_range(job, 1, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "1"); /* left to Slurm */
	FREE_NULL_BITMAP(job->details->job_size_bitmap);
}

/* Whether a job could ever run is asked as well, however many nodes make a gang. */
static void refuses_what_no_node_has(void **state)
{
	job_record_t *job = job_in(1, 1, "wide");

	(void)state;
	set_world(8);
	job->details->max_nodes = 0;
	job->gres_list_req = fake_job_gres("gpu", 0, 9);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	FREE_NULL_LIST(job->gres_list_req);
	job->gres_list_req = fake_job_gres("gpu", 0, 8);
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
}

/* Past its time a gang may be anywhere, but not with fewer GPUs; what is advised is Slurm's. */
static void gangs_past_their_time_get_all_they_ask_for(void **state)
{
	job_record_t *job = gang(1, 1, "spine@0:01"), *advised = job_in(2, 1, "advised");

	(void)state;
	job->details->submit_time = job->details->begin_time = asked.now - 3600;
	job->gres_list_req = fake_job_gres("gpu", 0, ASKED);
	set_world(4);
	assert_int_not_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	world[7].gpus = 8;
	world[0].no_processor = true;
	assert_int_equal(ask_range(job, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "7");
	advised->gres_list_req = fake_job_gres("gpu", 0, ASKED);
	assert_int_equal(ask_range(advised, 1, 1, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2");
}

/* --- random worlds, against each node alone --------------------------------------------------- */

static uint32_t dice;

static uint32_t throw(uint32_t sides)
{
	dice = (uint32_t)((uint64_t)dice * 16807 % 2147483647);
	return dice % sides;
}

/* Few nodes have enough now, and in some worlds nobody may be preempted or nobody ends. */
static void make_world(void)
{
	uint32_t one_in = 1 + throw(20), lasting = 1 + throw(4);

	for (int n = 0; n < NODES; n++) {
		uint32_t gpus = throw(40) ? 3 + throw(6) : throw(3);

		if (gpus && one_in < 12 && !throw(one_in))
			preemptable(n, gpus);
		else if (gpus)
			hold(n, gpus, throw(lasting) ? 1000 * (1 + (time_t) throw(4)) : 0);
		world[n].no_processor = !throw(5);
	}
}

/* Returns when the first node has enough by itself; 0: none ever. */
static time_t first_alone(bool forced)
{
	static const time_t ends_s[] = {0, 1000, 2000, 3000, 4000};

	for (size_t i = 0; i < sizeof(ends_s) / sizeof(ends_s[0]); i++) {
		for (int n = 0; n < NODES; n++) {
			if (!world[n].no_processor &&
			    gpus_of(n, asked.now + ends_s[i], forced) >= ASKED)
				return asked.now + ends_s[i];
		}
	}
	return 0;
}

static void starts_as_one_node_alone_would(void **state)
{
	uint32_t now = 0, forced = 0, later = 0, never = 0;

	for (uint32_t seed = 1; seed <= 400; seed++) {
		job_record_t *job = job_of_one_node(8);
		time_t free_s, first_s;
		int rc;

		dice = seed * 7919;
		make_world();
		free_s = first_alone(false);
		first_s = asked.candidates ? first_alone(true) : free_s;
		rc = ask_range(job, 1, 1, SELECT_MODE_RUN_NOW);
		assert_int_equal(rc == SLURM_SUCCESS, first_s == asked.now);
		if (rc == SLURM_SUCCESS)
			assert_int_equal(asked.preempted != NULL, free_s != asked.now);
		FREE_NULL_LIST(asked.preempted);
		FREE_NULL_BITMAP(asked.bitmap);
		free_job_resources(&job->job_resrcs);
		rc = ask_range(job, 1, 1, SELECT_MODE_WILL_RUN);
		assert_int_equal(rc == SLURM_SUCCESS, first_s != 0);
		if (rc == SLURM_SUCCESS)
			assert_int_equal(job->start_time, first_s);
		now += free_s == asked.now;
		forced += free_s != asked.now && first_s == asked.now;
		later += first_s > asked.now;
		never += !first_s;
		end(state);
		shadow_calls_begin(state);
	}
	/* none of these is rare */
	assert_true(now > 20 && forced > 20 && later > 20 && never > 20);
}

static bool starts(void *context)
{
	job_record_t *job = context;
	bool yes = ask_range(job, 1, 1, SELECT_MODE_RUN_NOW) == SLURM_SUCCESS;

	if (yes)
		assert_string_equal(nodes_given(), "2");
	return yes;
}

static void waits_without_memory(void **state)
{
	job_record_t *job = job_of_one_node(8);

	(void)state;
	hold(0, 4, 0);
	hold(1, 4, 0);
	no_memory_everywhere(starts, job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(leaves_one_gpu_to_slurm),
		TEST(preempts_nobody_beside_a_node_with_enough),
		TEST(preempts_in_slurms_order),
		TEST(plans_for_no_preemption_in_a_later_slot),
		TEST(preempts_on_one_node_where_none_has_enough),
		TEST(plans_the_node_that_has_enough_first),
		TEST(plans_no_later_than_another_node),
		TEST(proves_each_yes),
		TEST(preempts_nobody_for_a_sum),
		TEST(starts_on_the_empty_node),
		TEST(goes_on_where_it_stopped),
		TEST(preempts_nobody_before_all_were_asked_again),
		TEST(goes_on_beside_many_others),
		TEST(goes_on_minutes_later),
		TEST(begins_anew_for_another_request),
		TEST(stops_after_a_second),
		TEST(asks_not_too_often_in_a_call),
		TEST(counts_memory_by_gpus),
		TEST(counts_processors),
		TEST(counts_no_processors_with_core_spec),
		TEST(counts_no_default_of_another_partition),
		TEST(asks_only_about_required_nodes),
		TEST(goes_on_in_each_partition),
		TEST(looks_at_types),
		TEST(looks_at_what_is_free_of_a_type),
		TEST(looks_at_lists_of_sizes),
		TEST(refuses_what_no_node_has),
		TEST(gangs_past_their_time_get_all_they_ask_for),
		TEST(starts_as_one_node_alone_would),
		TEST(waits_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void slurm_adds_nothing_up(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(slurm_adds_nothing_up)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
