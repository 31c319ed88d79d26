/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_launch.c - gangs on nodes that are launched for them, Slurm's answers made up */
#include "tests/unit/shadow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/topology/place_age.h"
#include "lib/policy/effective.h"
#include "lib/policy/request.h"
#include "lib/topology/placed_instance.h"
#include "sched/seam.h"
#include "tests/unit/no_memory.h"

#define OLD_BOOT_S 10
#define NEW_BOOT_S 90

int select_p_job_ready(job_record_t *job);
int select_p_select_nodeinfo_set(job_record_t *job);

static const char launching[] = "partitions:\n  gpu:\n    unlaunched: launch\n    launch_tries: 2\n"
				"    launch_place: 1:00\n";

static char file_text[4096];

/* Four leaves of four nodes, two leaves a spine; of the first `count` nodes EC2 said so when they
 * had booted at `boot_s`. */
static void place_by_ec2(int64_t boot_s, int count)
{
	char *text = file_text;
	size_t length;

	length = (size_t)snprintf(
		text, sizeof(file_text),
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
		"{\"level\": \"spine\", \"name\": \"s1\"}, {\"level\": \"spine\", \"name\": "
		"\"s2\"}");
	for (int leaf = 0; leaf < 4; leaf++)
		length += (size_t)snprintf(text + length, sizeof(file_text) - length,
					   ", {\"level\": \"leaf\", \"name\": \"l%d\", \"in\": "
					   "\"s%d\", \"nodes\": \"n[%d-%d]\"}",
					   leaf + 1, leaf / 2 + 1, leaf * 4 + 1, leaf * 4 + 4);
	length += (size_t)snprintf(text + length, sizeof(file_text) - length,
				   "], \"places\": [{\"source\": \"ec2\", \"nodes\": [");
	for (int n = 0; n < count; n++)
		length += (size_t)snprintf(text + length, sizeof(file_text) - length,
					   "%s\"n%d i-%d %d\"", n ? "," : "", n + 1, n + 1,
					   (int)boot_s);
	snprintf(text + length, sizeof(file_text) - length, "]}]}");
	fake_slurm_file("onespine.topology", text);
	shadow_state_load();
}

/* The node is powered down. */
static void sleeps(int first, int count)
{
	for (int n = first; n < first + count; n++) {
		node_record_table_ptr[n]->node_state =
			NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN | NODE_STATE_CLOUD;
		bit_set(OSP_POWERED_DOWN_NODES, n);
	}
	shadow_state_load();
}

static void boots(job_record_t *job)
{
	for (int n = 0; n < SHADOW_NODES; n++) {
		if (!bit_test(job->node_bitmap, n))
			continue;
		if (node_record_table_ptr[n]->node_state & NODE_STATE_POWERED_DOWN)
			node_record_table_ptr[n]->boot_time = NEW_BOOT_S;
		node_record_table_ptr[n]->node_state =
			NODE_STATE_ALLOCATED |
			(node_record_table_ptr[n]->node_state & NODE_STATE_CLOUD);
		bit_clear(OSP_POWERED_DOWN_NODES, n);
	}
}

/* EC2 was asked anew about this node. */
static void is_asked(uint32_t n)
{
	shadow_state.place_boot_s[n] = node_record_table_ptr[n]->boot_time;
}

static int begin(void **state)
{
	shadow_calls_begin(state);
	shadow_follow_end(); /* what its thread does is called here */
	fake_slurm_file("onespine.yaml", launching);
	for (int n = 0; n < SHADOW_NODES; n++)
		node_record_table_ptr[n]->boot_time = OLD_BOOT_S;
	place_by_ec2(OLD_BOOT_S, SHADOW_NODES);
	return 0;
}

static job_record_t *batch_gang(uint32_t id, uint32_t nodes, const char *option)
{
	job_record_t *job = gang(id, nodes, option);

	job->batch_flag = 1;
	job->details->requeue = 1;
	return job;
}

/* Slurm starts it on the nodes that it was given. */
static int starts(job_record_t *job)
{
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = bit_copy(asked.bitmap);
	job->node_cnt = (uint32_t)bit_set_count(job->node_bitmap);
	job->start_time = 0;
	job->job_state = JOB_RUNNING | JOB_CONFIGURING;
	return select_p_job_begin(job);
}

/* A gang of four on l1's awake n3 and n4, and on n9 and n10, which sleep. */
static job_record_t *launched(void)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	sleeps(8, 8);
	busy(50, 0, 2, 100);
	busy(51, 5, 3, 100);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2-3,8-9");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	return job;
}

static bool is_ready(job_record_t *job)
{
	return select_p_job_ready(job) == READY_NODE_STATE;
}

/* What the gate would say on node n if it were that instance. */
static enum osp_placed_as placed(const job_record_t *job, const char *node, const char *instance)
{
	return osp_placed_look(shadow_spank_value(job, OSP_PLACED_INSTANCES), node, instance);
}

static void goes_on_where_they_stand_together(void **state)
{
	job_record_t *job = batch_gang(1, 4, "spine");

	(void)state;
	sleeps(0, SHADOW_NODES);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-3");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	assert_int_equal(job->wait_all_nodes, 1);
	assert_says(job, "launched: 4 nodes, 4 of them do not run yet; whether they are on one "
			 "spine is asked when they run");
	shadow_launch_look(100);
	assert_false(is_ready(job));
	boots(job);
	shadow_launch_look(101);
	assert_false(is_ready(job)); /* their places are those of before */
	assert_int_equal(job->details->prolog_running, 1);
	for (uint32_t n = 0; n < 4; n++)
		is_asked(n);
	assert_int_equal(placed(job, "n1", "i-9"), OSP_PLACED_UNKNOWN);
	shadow_launch_look(102);
	assert_true(is_ready(job));
	assert_int_equal(job->details->prolog_running, 0);
	assert_says(job, "domain=s1; leaves=l1:n(1-4); placed: 4 nodes on spine s1, 1 leaf");
	assert_int_equal(placed(job, "n1", "i-1"), OSP_PLACED_SAME);
	assert_int_equal(placed(job, "n1", "i-9"), OSP_PLACED_OTHER);
	/* judged once: what becomes of its places later is no launch in vain */
	node_record_table_ptr[0]->boot_time = NEW_BOOT_S + 1000;
	shadow_launch_look(103);
	shadow_launch_look(200);
	assert_int_equal(fake_slurm.requeues, 0);
	job->job_state = JOB_RUNNING;
	shadow_launch_look(103);
	assert_false(shadow_launch_any());
	assert_int_equal(fake_slurm.requeues, 0);
}

/* While prolog_running is set, Slurm lets no step of the job begin. */
static void lets_no_step_begin_before(void **state)
{
	job_record_t *job = launched();
	uint8_t *running = &job->details->prolog_running;

	(void)state;
	assert_int_equal(*running, 1);
	(*running)++; /* PrologSlurmctld begins, and ends */
	shadow_launch_look(100);
	assert_int_equal(*running, 2);
	(*running)--;
	shadow_launch_look(100);
	assert_int_equal(*running, 1);
	*running = 0; /* slurmctld begins anew, and reads its jobs before it hears anybody */
	assert_int_equal(select_p_reconfigure(), SLURM_SUCCESS);
	assert_int_equal(*running, 1);
	*running = 0;
	shadow_launch_look(100);
	assert_int_equal(*running, 1);
	shadow_launch_resume(job); /* Slurm's, after each change of its nodes */
	assert_int_equal(*running, 1);
	boots(job);
	is_asked(8);
	is_asked(9);
	shadow_launch_look(101); /* they stand apart */
	assert_int_equal(fake_slurm.requeues, 1);
	assert_int_equal(*running, 0);
}

static void lets_steps_begin_when_it_is_over(void **state)
{
	job_record_t *job = launched();

	(void)state;
	job->job_state = JOB_CANCELLED;
	shadow_launch_look(100);
	assert_false(shadow_launch_any());
	assert_int_equal(job->details->prolog_running, 0);
}

static void starts_again_where_they_stand_apart(void **state)
{
	job_record_t *job = launched();

	(void)state;
	assert_says(job, "launched: 4 nodes, 2 of them do not run yet");
	boots(job);
	is_asked(8);
	shadow_launch_look(100);
	assert_false(is_ready(job));
	is_asked(9);
	shadow_launch_look(101);
	assert_int_equal(fake_slurm.requeues, 1);
	assert_says(job, "launched in vain: its 4 nodes are on 2 leaves");
	assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_IN_VAIN), "1:404:101");
	assert_false(shadow_launch_any());

	/* the largest part that is there is kept: n9 and n10 run in l3, and n11 and n12 sleep */
	node_record_table_ptr[8]->node_state = node_record_table_ptr[9]->node_state =
		NODE_STATE_IDLE;
	busy(52, 2, 1, 100);
	shadow_state_load();
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-11");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	boots(job);
	is_asked(10);
	is_asked(11);
	shadow_launch_look(200);
	assert_true(is_ready(job));
	assert_says(job, "; placed: 4 nodes on leaf l3; launched 1 time in vain (7 node minutes)");
	assert_int_equal(fake_slurm.requeues, 1);
}

/* After launch_tries in vain it waits. */
static void gives_up_after_its_tries(void **state)
{
	job_record_t *job = launched();

	(void)state;
	boots(job);
	is_asked(8);
	is_asked(9);
	shadow_launch_look(100);
	shadow_state.place_boot_s[8] = shadow_state.place_boot_s[9] = OLD_BOOT_S;
	sleeps(8, 8);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(starts(job), SLURM_SUCCESS);
	boots(job);
	shadow_launch_look(200);
	shadow_launch_look(259);
	assert_int_equal(fake_slurm.requeues, 1);
	shadow_launch_look(260);
	assert_int_equal(fake_slurm.requeues, 2);
	assert_says(
		job,
		"launched in vain: the places of 2 nodes were not known 1m after all nodes ran");
	sleeps(8, 8);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "launched 2 times in vain (24 node minutes), so it waits for nodes whose "
			 "places are "
			 "known");
}

/* The watch has found out why EC2 would not say where nodes are that start; NULL: it would. */
static void is_told(const char *unasked)
{
	static const char first[] = "{\"onespine-topology\": 1, ";
	char text[sizeof(file_text) + 128];

	snprintf(text, sizeof(text), "%s%s%s%s%s", first, unasked ? "\"unasked\": \"" : "",
		 unasked ? unasked : "", unasked ? "\", " : "", file_text + strlen(first));
	fake_slurm_file("onespine.topology", text);
	for (int look = 0; look < 6; look++)
		shadow_follow_look();
}

static void launches_nothing_where_nobody_could_say_where(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	sleeps(8, 8);
	busy(50, 0, 2, 100);
	busy(51, 5, 3, 100);
	is_told("EC2 denies it");
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job,
		    "no nodes are launched, as nobody could say where they are: EC2 denies it");
	job->node_bitmap = fake_bitmap(2, 2);
	bit_set(job->node_bitmap, 8);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	FREE_NULL_BITMAP(job->node_bitmap);
	fake_slurm.schedules = 0;
	is_told(NULL);
	assert_int_equal(fake_slurm.schedules, 1);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2-3,8-9");
	assert_int_equal(starts(job), SLURM_SUCCESS);
}

static void waits_without_the_policy(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	fake_slurm_file("onespine.yaml", "");
	sleeps(0, SHADOW_NODES);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "16 nodes are left out");
	job->node_bitmap = fake_bitmap(0, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	assert_int_equal(job->wait_all_nodes, 0);
}

/* n9 to n16 have the places of their capacity reservation. */
static void reserves(void)
{
	place_by_ec2(OLD_BOOT_S, 8);
	snprintf(file_text + strlen(file_text) - 2, sizeof(file_text) - strlen(file_text),
		 ", {\"source\": \"reservation\", \"nodes\": \"n[9-16]\"}]}");
	fake_slurm_file("onespine.topology", file_text);
	shadow_state_load();
}

/* Of n5 to n16 the reservation reports the spine s2, and of s1's `nodes` s1, and of none a leaf. */
static void reserves_spines(const char *nodes, const char *more)
{
	snprintf(file_text, sizeof(file_text),
		 "{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
		 "{\"level\": \"spine\", \"name\": \"s1\", \"nodes\": \"%s\"}, "
		 "{\"level\": \"spine\", \"name\": \"s2\", \"nodes\": \"n[5-16]\"}%s], "
		 "\"places\": [{\"source\": \"reservation\", \"nodes\": \"n[5-16],%s\"}]}",
		 nodes, more, nodes);
	fake_slurm_file("onespine.topology", file_text);
	shadow_state_load();
}

/* No leaf is in two spines: a gang across them would be launched in vain. */
static void launches_nothing_across_spines(void **state)
{
	job_record_t *job = batch_gang(1, 6, "leaf");

	(void)state;
	reserves_spines("n[1-4]", "");
	sleeps(0, SHADOW_NODES);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-9");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	assert_says(job, "launched: 6 nodes, 6 of them do not run yet");
	/* nor does one begin that was given such nodes otherwise */
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = fake_bitmap(0, 6);
	job->job_state = JOB_RUNNING | JOB_CONFIGURING;
	shadow_launch_forget();
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	assert_false(shadow_launch_any());
}

/* n1 and n2 run in leaf l1 of s1; with s2's nodes they would be in no leaf. */
static void launches_nothing_that_its_known_nodes_cannot_be_with(void **state)
{
	job_record_t *four = batch_gang(1, 4, "leaf"), *five = batch_gang(2, 5, "leaf");

	(void)state;
	reserves_spines(
		"n[3-4]",
		", {\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n[1-2]\"}");
	sleeps(2, SHADOW_NODES - 2);
	assert_int_equal(ask(four, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-3");
	assert_int_equal(ask(five, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-8");
}

/* Nodes of a capacity reservation whose topology is known are placed by it, before they run; then
 * EC2 is asked. */
static void placed_by_their_reservation(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	reserves();
	sleeps(8, 8);
	busy(50, 0, 8, 100);
	busy(51, 9, 2, 100);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "12-15");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	assert_says(job, "launched: 4 nodes, 4 of them do not run yet");
	assert_int_equal(job->wait_all_nodes, 1);
	/* a slurmctld that begins anew goes on with it */
	shadow_launch_forget();
	shadow_launch_resume(job);
	assert_false(is_ready(job));
	boots(job);
	for (uint32_t n = 12; n < 15; n++)
		is_asked(n);
	shadow_launch_look(100);
	assert_false(is_ready(job));
	is_asked(15);
	shadow_launch_look(101);
	assert_true(is_ready(job));
	assert_says(job, "placed: 4 nodes on leaf l4");
	assert_int_equal(fake_slurm.requeues, 0);
}

/* Without the policy, or for a job that could not be put back, such a place is none. */
static void reserved_places_are_for_launches_alone(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	reserves();
	sleeps(8, 8);
	busy(50, 0, 8, 100);
	job->details->requeue = 0;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "8 nodes are left out");
	job->node_bitmap = fake_bitmap(8, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	job->details->requeue = 1;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-11");
	fake_slurm_file("onespine.yaml", "");
	shadow_state_load();
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* No launch judges segments: Slurm's own choice of such places for a gang in segments goes back. */
static void segments_start_on_no_reserved_place(void **state)
{
	job_record_t *job = batch_gang(1, 4, "spine");

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG_SEGMENT "leaf:2");
	reserves();
	sleeps(8, 8);
	job->node_bitmap = fake_bitmap(8, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = fake_bitmap(0, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
}

static void instances_are_told_to_the_gate(void **state)
{
	job_record_t *job = batch_gang(1, 2, "leaf");

	(void)state;
	place_by_ec2(OLD_BOOT_S, 3);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-1");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	assert_int_equal(placed(job, "n1", "i-1"), OSP_PLACED_SAME);
	assert_int_equal(placed(job, "n2", "i-2"), OSP_PLACED_SAME);
	assert_int_equal(placed(job, "n2", "i-9"), OSP_PLACED_OTHER);
	assert_int_equal(placed(job, "n1", "i-2"), OSP_PLACED_OTHER);
	/* one whose place may be old is not the instance that was noted, and need not be */
	node_record_table_ptr[1]->boot_time = OLD_BOOT_S + 1000;
	shadow_note_instances(job, true);
	assert_int_equal(placed(job, "n1", "i-9"), OSP_PLACED_OTHER);
	assert_int_equal(placed(job, "n2", "i-9"), OSP_PLACED_UNKNOWN);
	/* a job that is held to nothing, and one on nodes that no cloud has placed */
	shadow_note_instances(job, false);
	assert_string_equal(shadow_spank_value(job, OSP_PLACED_INSTANCES), "");
	job = batch_gang(2, 4, "leaf");
	bit_set(asked.bitmap, 0);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	place_by_ec2(OLD_BOOT_S, 0);
	assert_int_equal(starts(job), SLURM_SUCCESS);
	assert_null(shadow_spank_value(job, OSP_PLACED_INSTANCES));
}

/* A job that cannot go back to the queue is not started on nodes that may stand apart. */
static void launches_only_what_can_start_again(void **state)
{
	job_record_t *jobs[] = {batch_gang(1, 4, "leaf"), batch_gang(2, 4, "leaf"),
				batch_gang(3, 4, "leaf"), batch_gang(4, 4, "leaf")};

	(void)state;
	sleeps(0, SHADOW_NODES);
	jobs[0]->batch_flag = 0;
	jobs[1]->details->requeue = 0;
	jobs[2]->het_job_id = 3;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_not_equal(ask(jobs[i], SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(ask(jobs[3], SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

static void prefers_known_nodes(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	sleeps(0, 12);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "12-15");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	assert_false(shadow_launch_any());
	assert_true(is_ready(job));
}

/* Backfill's question about a start: now on nodes that sleep, rather than later on known ones. */
static void backfill_launches_too(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	sleeps(4, 4);
	busy(50, 0, 4, 1000);
	busy(51, 8, 8, 2000);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7");
	assert_in_range(job->start_time, asked.now - 1, asked.now + 30);
}

/* slurmctld starts anew while nodes boot: the gang still waits for their places. */
static void survives_a_restart(void **state)
{
	job_record_t *job = launched();

	(void)state;
	shadow_launch_forget();
	assert_true(is_ready(job));
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	assert_false(is_ready(job));
	boots(job);
	is_asked(8);
	is_asked(9);
	shadow_launch_look(100);
	assert_int_equal(fake_slurm.requeues, 1);
}

/* Its nodes are on l1 and l3, and it is put back. */
static job_record_t *launched_in_vain(void)
{
	job_record_t *job = launched();

	boots(job);
	is_asked(8);
	is_asked(9);
	shadow_launch_look(100);
	assert_int_equal(fake_slurm.requeues, 1);
	node_record_table_ptr[8]->node_state = node_record_table_ptr[9]->node_state =
		NODE_STATE_IDLE | NODE_STATE_CLOUD;
	shadow_state_load();
	return job;
}

/* It starts again, on n3 and n4 and on n11 and n12, which run now. */
static void starts_with_others(job_record_t *job)
{
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2-3,10-11");
	assert_int_equal(starts(job), SLURM_SUCCESS);
	boots(job);
	shadow_launch_look(200);
}

static void keeps_the_part_that_stands_together(void **state)
{
	const struct fake_reservation *made = &fake_slurm.reservation;
	job_record_t *job = launched_in_vain();

	(void)state;
	assert_string_equal(made->name, "onespine_launch_1");
	assert_string_equal(made->nodes, "n[3-4]");
	assert_string_equal(made->users, "1000");
	assert_true(made->flags == (RESERVE_FLAG_FLEX | RESERVE_FLAG_IGN_JOBS |
				    RESERVE_FLAG_PURGE_COMP | RESERVE_FLAG_NO_HOLD_JOBS));
	assert_int_equal(made->end - made->start, 300);
	assert_string_equal(job->resv_name, "onespine_launch_1");
	assert_non_null(strstr(fake_slurm_log(), "n[3-4] are kept for the next start of"));

	/* a second try in vain has a reservation of its own, until nothing more is launched */
	starts_with_others(job);
	is_asked(10);
	is_asked(11);
	shadow_launch_look(201);
	assert_int_equal(fake_slurm.requeues, 2);
	assert_int_equal(fake_slurm.reservations, 1);
	assert_string_equal(made->name, "");
	assert_null(job->resv_name);
}

static void ends_the_reservation_where_they_stand_together(void **state)
{
	job_record_t *job = launched_in_vain();

	(void)state;
	starts_with_others(job);
	assert_string_equal(fake_slurm.reservation.name, "onespine_launch_1");
	node_record_table_ptr[10]->boot_time = node_record_table_ptr[11]->boot_time = NEW_BOOT_S;
	fake_slurm_file(
		"onespine.topology",
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [{\"level\": "
		"\"leaf\", \"name\": \"l1\", \"nodes\": \"n[1-4,11-12]\"}, {\"level\": \"leaf\", "
		"\"name\": \"l3\", \"nodes\": \"n[9-10]\"}]}");
	shadow_state_load();
	shadow_launch_look(201);
	assert_true(is_ready(job));
	assert_string_equal(fake_slurm.reservation.name, "");
	assert_null(job->resv_name);
}

/* Shorter where the nodes would be powered down sooner; none if the policy says so, or Slurm
 * refuses. */
static void keeps_no_longer_than_it_may(void **state)
{
	(void)state;
	node_record_table_ptr[3]->suspend_time = 120;
	launched_in_vain();
	assert_int_equal(fake_slurm.reservation.end - fake_slurm.reservation.start, 119);
}

static void keeps_nothing_where_the_policy_says_so(void **state)
{
	job_record_t *job;

	(void)state;
	fake_slurm_file("onespine.yaml", "partitions:\n  gpu:\n    unlaunched: launch\n    "
					 "launch_keep: 0\n");
	job = launched_in_vain();
	assert_int_equal(fake_slurm.reservations, 0);
	assert_null(job->resv_name);
}

static void goes_on_where_slurm_keeps_nothing(void **state)
{
	job_record_t *job;

	(void)state;
	fake_slurm.reserve_rc = ESLURM_RESERVATION_OVERLAP;
	job = launched_in_vain();
	assert_null(job->resv_name);
	assert_non_null(strstr(fake_slurm_log(), "n[3-4] are not kept for the next start of"));
	starts_with_others(job);
}

/* One that slurmctld left when it was killed before it had saved the job is no obstacle; somebody
 * else's of that name, without our flags, stays. */
static void takes_the_place_of_a_reservation_that_was_left(void **state)
{
	struct fake_reservation *left = &fake_slurm.reservation;
	job_record_t *job;

	(void)state;
	*left = (struct fake_reservation){.name = "onespine_launch_1",
					  .nodes = "n9",
					  .flags = RESERVE_FLAG_FLEX | RESERVE_FLAG_IGN_JOBS |
						   RESERVE_FLAG_PURGE_COMP |
						   RESERVE_FLAG_NO_HOLD_JOBS};
	job = launched_in_vain();
	assert_string_equal(left->nodes, "n[3-4]");
	assert_string_equal(job->resv_name, "onespine_launch_1");
}

static void leaves_somebody_elses_reservation(void **state)
{
	job_record_t *job;

	(void)state;
	fake_slurm.reservation = (struct fake_reservation){
		.name = "onespine_launch_1", .nodes = "n9", .flags = RESERVE_FLAG_MAINT};
	job = launched_in_vain();
	assert_string_equal(fake_slurm.reservation.nodes, "n9");
	assert_null(job->resv_name);
	assert_non_null(strstr(fake_slurm_log(), "n[3-4] are not kept for the next start of"));
}

/* Nobody else may use what the job may not either. */
static void leaves_no_reservation_that_it_may_not_use(void **state)
{
	job_record_t *job;

	(void)state;
	fake_slurm.enter_rc = ESLURM_RESERVATION_ACCESS;
	job = launched_in_vain();
	assert_int_equal(fake_slurm.reservations, 1);
	assert_string_equal(fake_slurm.reservation.name, "");
	assert_null(job->resv_name);
	assert_int_equal(job->resv_id, 0);
	assert_non_null(strstr(fake_slurm_log(), "n[3-4] are not kept for the next start of"));
	fake_slurm.enter_rc = SLURM_SUCCESS;
	starts_with_others(job);
}

/* Those that are replaced go, when the others run; none of a job, of a reservation, or that never
 * suspends. */
static void gives_back_what_is_replaced(void **state)
{
	static const struct {
		uint32_t state; /* of n10 */
		uint16_t jobs;	/* that run there */
		const char *never, *gone;
		time_t boot, busy; /* of n10; it was put back at 100 */
	} cases[] = {
		{0, 0, NULL, "n[9-10];", NEW_BOOT_S, 160}, /* its own end was then */
		{NODE_STATE_RES, 0, NULL, "n9;", NEW_BOOT_S, 0},
		{NODE_STATE_POWERING_DOWN, 0, NULL, "n9;", NEW_BOOT_S, 0},
		{0, 1, NULL, "n9;", NEW_BOOT_S, 0},
		{0, 0, "x1,n[10-11]:2", "", NEW_BOOT_S, 0}, /* a name that Slurm does not know */
		{0, 0, "n[10-11]:2,n12", "n9;", NEW_BOOT_S, 0},
		{0, 0, NULL, "n9;", 101, 0},	      /* somebody else has started it */
		{0, 0, NULL, "n9;", NEW_BOOT_S, 161}, /* or used it */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = launched_in_vain();

		assert_string_equal(fake_slurm.powered_down, "");
		node_record_table_ptr[9]->node_state |= cases[i].state;
		node_record_table_ptr[9]->run_job_cnt = cases[i].jobs;
		node_record_table_ptr[9]->boot_time = cases[i].boot;
		node_record_table_ptr[9]->last_busy = cases[i].busy;
		slurm_conf.suspend_exc_nodes = (char *)cases[i].never;
		starts_with_others(job);
		slurm_conf.suspend_exc_nodes = NULL;
		assert_string_equal(fake_slurm.powered_down, cases[i].gone);
		/* what it still holds may be given back later */
		assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_NODES), "n[11-12]");
		shadow_calls_end(state);
		begin(state);
	}
}

/* Where nothing else can be launched, what stands apart is given back so that it may be launched
 * anew. */
static void gives_back_at_once_where_nothing_else_is_left(void **state)
{
	/* what n11 and n12 are by then */
	enum { BUSY, DOWN, ELSEWHERE, AWAKE, RESERVED, ASLEEP };
	static const char *const gone[] = {[BUSY] = "n[9-10];",
					   [DOWN] = "n[9-10];",
					   [ELSEWHERE] = "n[9-10];",
					   [AWAKE] = "n[9-10];",
					   /* their place is in another leaf */
					   [RESERVED] = "n[9-10];",
					   [ASLEEP] = ""};

	for (int others = BUSY; others <= ASLEEP; others++) {
		job_record_t *job = batch_gang(1, 4, "leaf");

		sleeps(8, 2);
		busy(50, 0, 2, 100);
		busy(51, 5, 3, 100);
		busy(52, 12, 4, 100);
		busy(53, 10, 2, 100);
		assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_int_equal(starts(job), SLURM_SUCCESS);
		boots(job);
		is_asked(8);
		is_asked(9);
		if (others != BUSY)
			sleeps(10, 2);
		for (int n = 10; n < 12; n++) {
			if (others == DOWN)
				node_record_table_ptr[n]->node_state = NODE_STATE_DOWN |
								       NODE_STATE_POWERED_DOWN |
								       NODE_STATE_CLOUD;
			else if (others == ELSEWHERE)
				bit_clear(job->part_ptr->node_bitmap, n);
			else if (others == AWAKE)
				node_record_table_ptr[n]->node_state =
					NODE_STATE_IDLE | NODE_STATE_CLOUD;
			if (others == AWAKE)
				node_record_table_ptr[n]->boot_time = NEW_BOOT_S;
		}
		shadow_state_load();
		if (others == DOWN) {
			osp_nodeset_remove(shadow_state.up, 10);
			osp_nodeset_remove(shadow_state.up, 11);
		}
		if (others == RESERVED)
			shadow_state.place_boot_s[10] = shadow_state.place_boot_s[11] =
				OSP_BOOT_UNLAUNCHED;
		shadow_launch_look(100);
		if (strcmp(fake_slurm.powered_down, gone[others]) != 0)
			fail_msg("%d: \"%s\" is given back", others, fake_slurm.powered_down);
		shadow_calls_end(state);
		begin(state);
	}
}

/* They run, one of them goes down again, and they run anew: the time for their places begins then.
 */
static void waits_for_places_from_when_all_run(void **state)
{
	job_record_t *job = launched();

	(void)state;
	boots(job);
	shadow_launch_look(100);
	sleeps(9, 1);
	shadow_launch_look(130);
	boots(job);
	shadow_launch_look(150);
	shadow_launch_look(209);
	assert_int_equal(fake_slurm.requeues, 0);
	shadow_launch_look(210);
	assert_int_equal(fake_slurm.requeues, 1);
}

/* A clock that was set back costs no time. */
static void costs_nothing_before_its_start(void **state)
{
	job_record_t *job = launched();

	(void)state;
	boots(job);
	is_asked(8);
	is_asked(9);
	job->start_time = 5000;
	shadow_launch_look(101);
	assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_IN_VAIN), "1:0:101");
}

/* Only a gang that is held to one domain is launched for. */
static void launches_only_for_one_domain(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");
	struct osp_effective effective = {.mode = OSP_MODE_ENFORCE};

	(void)state;
	assert_true(shadow_launch_may(job, &effective));
	effective.mode = OSP_MODE_ADVISE;
	assert_false(shadow_launch_may(job, &effective));
	effective.mode = OSP_MODE_ENFORCE;
	effective.domains_max = 2;
	assert_false(shadow_launch_may(job, &effective));
}

/* Cables stay: a node that sleeps and whose place is known is had where it stands or not at all. */
static void moves_no_node_whose_place_stays(void **state)
{
	(void)state;
	place_by_ec2(OLD_BOOT_S, 8);
	sleeps(8, 8);
	busy(50, 0, 8, 100);
	assert_int_not_equal(ask(batch_gang(1, 6, "leaf"), SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(ask(batch_gang(2, 4, "leaf"), SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* Nobody has told where they are: they may be right. */
static void gives_nothing_back_that_may_stand_right(void **state)
{
	job_record_t *job = batch_gang(1, SHADOW_NODES, "spine");

	(void)state;
	sleeps(0, SHADOW_NODES);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(starts(job), SLURM_SUCCESS);
	boots(job);
	shadow_launch_look(100);
	shadow_launch_look(160);
	assert_int_equal(fake_slurm.requeues, 1);
	assert_string_equal(fake_slurm.powered_down, "");
	assert_int_equal(fake_slurm.reservations, 0);
}

/* One that has a reservation of its user's could not have ours. */
static void launches_nothing_in_a_reservation(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	sleeps(0, SHADOW_NODES);
	job->resv_name = xstrdup("of_somebody");
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

static void reports_once_that_slurm_refuses(void **state)
{
	job_record_t *job = launched();
	const char *log;

	(void)state;
	boots(job);
	is_asked(8);
	is_asked(9);
	fake_slurm.requeue_rc = ESLURM_DISABLED;
	fake_slurm_log();
	shadow_launch_look(100);
	log = fake_slurm_log();
	assert_non_null(strstr(log, "cannot go back to the queue"));
	shadow_launch_look(101);
	assert_null(strstr(fake_slurm_log(), "cannot go back"));
	assert_false(is_ready(job));
	fake_slurm.requeue_rc = 0;
	shadow_launch_look(102);
	assert_int_equal(fake_slurm.requeues, 1);
}

/* "" where it is accepted. */
static const char *judged(const struct osp_seam_job *job, const char *option)
{
	static char sentence[OSP_ERROR_TEXT_BYTES];
	struct osp_request request = {.origin = OSP_FROM_OPTION, .relax_s = -1};
	struct osp_effective effective;

	assert_int_equal(osp_request_parse(option, &request, NULL), 0);
	return shadow_seam.resolve(job, &request, &effective, sentence, sizeof(sentence)) ? sentence
											  : "";
}

static void assert_judged(const struct osp_seam_job *job, const char *option, const char *words)
{
	const char *sentence = judged(job, option);

	if (*words ? !strstr(sentence, words) : *sentence)
		fail_msg("%u nodes, %s: \"%s\", not \"%s\"", job->min_nodes, option, sentence,
			 words);
}

/* At submit: the places of l1 and l2 are a cloud's, which may be others when their nodes run again;
 * l3 and l4 stay. */
static void refuses_only_what_no_launch_can_hold(void **state)
{
	static const struct {
		struct osp_seam_job job;
		const char *refused;
	} cases[] = {
		{{.min_nodes = 4}, ""},
		{{.min_nodes = 12}, ""}, /* l3 and what may come to it */
		{{.min_nodes = 13},
		 "13 nodes on one leaf asked for; the largest leaf of partition gpu has 4"},
		{{.min_nodes = 8, .excluded_nodes = "n1"}, ""},
		{{.min_nodes = 12, .excluded_nodes = "n1"}, "12 nodes on one leaf"},
		{{.min_nodes = 6, .required_nodes = "n1,n5,n9"}, ""},
		{{.min_nodes = 6, .required_nodes = "n9,n13"}, "leaf"},
		{{.min_nodes = 5, .partition = "held"},
		 "5 nodes on one leaf"}, /* unlaunched: wait */
	};

	(void)state;
	place_by_ec2(OLD_BOOT_S, 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_judged(&cases[i].job, "leaf", cases[i].refused);
	/* places that nobody asked a cloud for stay where they are */
	place_by_ec2(OLD_BOOT_S, 0);
	assert_judged(&cases[1].job, "leaf", "12 nodes on one leaf");
	/* a node of State=CLOUD that was never placed may come to any leaf */
	fake_slurm_file(
		"onespine.topology",
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [{\"level\": "
		"\"leaf\", \"name\": \"l1\", \"nodes\": \"n[1-4]\"}]}");
	shadow_state_load();
	assert_judged(&(const struct osp_seam_job){.min_nodes = 6}, "leaf", "6 nodes on one leaf");
	node_record_table_ptr[5]->node_state |= NODE_STATE_CLOUD;
	node_record_table_ptr[6]->node_state |= NODE_STATE_CLOUD;
	assert_judged(&(const struct osp_seam_job){.min_nodes = 6}, "leaf", "");
	assert_judged(&(const struct osp_seam_job){.min_nodes = 7}, "leaf", "7 nodes on one leaf");
}

/* A job that ended meanwhile is forgotten. */
static void forgets_jobs_that_end(void **state)
{
	job_record_t *job = launched();

	(void)state;
	job->job_state = JOB_CANCELLED;
	shadow_launch_look(100);
	assert_false(shadow_launch_any());
	assert_int_equal(fake_slurm.requeues, 0);
}

/* Ready to be looked at, on n3, n4, n9 and n10, as slurmctld finds it when it starts anew. */
static void runs_again(job_record_t *job)
{
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = fake_bitmap(2, 2);
	bit_set(job->node_bitmap, 8);
	bit_set(job->node_bitmap, 9);
	job->job_state = JOB_RUNNING | JOB_CONFIGURING;
	shadow_put_entry(job, OSP_LAUNCHED_IN_VAIN, "0");
	shadow_launch_forget();
	fake_slurm.requeues = 0;
}

static bool is_put_back(void *context)
{
	job_record_t *job = context;

	shadow_keep_end(job);
	runs_again(job);
	shadow_put_entry(job, OSP_LAUNCHED_NODES, "n[9-12]");
	node_record_table_ptr[10]->node_state = node_record_table_ptr[11]->node_state =
		NODE_STATE_IDLE | NODE_STATE_CLOUD;
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	shadow_launch_look(100);
	shadow_launch_look(400);
	assert_true(fake_slurm.requeues <= 1);
	return fake_slurm.requeues == 1 && job->resv_name;
}

static bool is_launched(void *context)
{
	job_record_t *job = context;

	shadow_launch_forget();
	shadow_put_entry(job, OSP_LAUNCHED_NODES, "");
	return ask(job, SELECT_MODE_RUN_NOW) == SLURM_SUCCESS && starts(job) == SLURM_SUCCESS;
}

static bool could_be_launched(void *context)
{
	return !*judged(context, "leaf");
}

/* Without memory a start waits, and what is kept or given back is less; no gang runs apart. */
static void survives_without_memory(void **state)
{
	job_record_t *job = launched(), *second = batch_gang(2, 4, "leaf");
	const struct osp_seam_job submitted = {.min_nodes = 12};

	(void)state;
	boots(job);
	is_asked(8);
	is_asked(9);
	assert_true(no_memory_everywhere(is_put_back, job) > 5);
	job->job_state = JOB_CANCELLED;
	sleeps(8, 8);
	assert_true(no_memory_everywhere(is_launched, second) > 5);
	place_by_ec2(OLD_BOOT_S, 8);
	no_memory_everywhere(could_be_launched, (void *)(uintptr_t)&submitted);
}

/* At most 256 at one time. */
static void waits_while_many_are_launched(void **state)
{
	job_record_t *last = batch_gang(1000, 4, "leaf");

	(void)state;
	sleeps(8, 8);
	for (uint32_t id = 1; id <= 256; id++) {
		job_record_t *job = batch_gang(id, 4, "leaf");

		job->user_id = 2000 + id; /* no one has too many of them */
		runs_again(job);
	}
	for (uint32_t id = 1; id <= 256; id++)
		shadow_launch_resume(find_job_record(id));
	assert_true(shadow_launch_any());
	assert_false(shadow_launch_may(last, &(struct osp_effective){.mode = OSP_MODE_ENFORCE}));
	runs_again(last); /* which forgets the others */
	for (uint32_t id = 1; id <= 256; id++)
		shadow_launch_resume(find_job_record(id));
	shadow_launch_resume(last);
	assert_false(shadow_launch_waits(last->job_id));
	assert_true(shadow_launch_waits(256));
}

/* Slurm notes the step of a batch script when it launches it. */
static void begins_its_script(job_record_t *job)
{
	step_record_t *step = xmalloc(sizeof(*step));

	step->step_id.step_id = SLURM_BATCH_SCRIPT;
	job->step_list = list_create(xfree_ptr);
	list_append(job->step_list, step);
}

/*
 * An owner's first step, or a suspension, takes CONFIGURING from the job before the places of its
 * nodes are known: it is judged all the same, and its script waits for that.
 */
static void goes_on_configuring_behind_a_step(void **state)
{
	job_record_t *job = launched();

	(void)state;
	boots(job);
	shadow_launch_look(100);
	job->job_state = JOB_SUSPENDED;
	shadow_launch_look(101);
	assert_int_equal(job->job_state, JOB_SUSPENDED);
	job->job_state = JOB_RUNNING;
	last_job_update = 0;
	shadow_launch_look(102);
	assert_int_equal(job->job_state, JOB_RUNNING | JOB_CONFIGURING);
	assert_int_not_equal(last_job_update, 0);
	assert_false(is_ready(job));
	/* over a restart of slurmctld too */
	job->job_state = JOB_RUNNING;
	shadow_launch_forget();
	shadow_launch_resume(job);
	shadow_launch_look(103);
	assert_int_equal(job->job_state, JOB_RUNNING | JOB_CONFIGURING);
	/* n9 and n10 stand with n3 and n4 under no leaf */
	is_asked(8);
	is_asked(9);
	job->job_state = JOB_RUNNING;
	shadow_launch_look(104);
	assert_int_equal(fake_slurm.requeues, 1);
	assert_says(job, "launched in vain: its 4 nodes are on 2 leaves");
}

static void starts_behind_a_step_where_they_stand_together(void **state)
{
	job_record_t *job = batch_gang(1, 4, "spine");

	(void)state;
	sleeps(0, SHADOW_NODES);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(starts(job), SLURM_SUCCESS);
	boots(job);
	for (uint32_t n = 0; n < 4; n++)
		is_asked(n);
	job->job_state = JOB_RUNNING;
	shadow_launch_look(100);
	assert_true(is_ready(job));
	assert_int_equal(job->job_state, JOB_RUNNING | JOB_CONFIGURING);
	job->job_state = JOB_RUNNING;
	begins_its_script(job);
	shadow_launch_look(101);
	assert_int_equal(job->job_state, JOB_RUNNING);
	assert_false(shadow_launch_any());
	shadow_launch_resume(job);
	assert_false(shadow_launch_any());
	FREE_NULL_LIST(job->step_list);
}

/* slurmctld may begin without a topology: the script waits until it has one. */
static void waits_anew_without_a_topology(void **state)
{
	struct osp_topology *topology = shadow_state.topology;
	job_record_t *job = launched(), *other = batch_gang(2, 2, "leaf");

	(void)state;
	shadow_launch_forget();
	shadow_state.topology = NULL;
	/* no node was launched for this one */
	other->job_state = JOB_RUNNING | JOB_CONFIGURING;
	other->node_bitmap = bit_copy(job->node_bitmap);
	shadow_launch_resume(other);
	assert_false(shadow_launch_any());
	shadow_launch_resume(job);
	assert_true(shadow_launch_waits(1));
	boots(job);
	shadow_launch_look(100);
	assert_false(is_ready(job));
	assert_says(job, "launched: no fabric topology is in force, so it is not known whether its "
			 "nodes are on one leaf; in 1m it goes back to the queue");
	shadow_launch_look(130);
	shadow_state.topology = topology;
	shadow_launch_look(150);
	assert_says(job,
		    "launched: 4 nodes, 0 of them do not run yet; whether they are on one leaf "
		    "is asked when they run");
	/* they run, and are judged, only since there is one */
	shadow_launch_look(209);
	assert_int_equal(fake_slurm.requeues, 0);
	is_asked(8);
	is_asked(9);
	shadow_launch_look(209);
	assert_int_equal(fake_slurm.requeues, 1);
	assert_says(job, "launched in vain: its 4 nodes are on 2 leaves");
}

/* It holds its nodes no longer than launch_place, whether they run or not, and says so. */
static void goes_back_where_no_topology_comes(void **state)
{
	for (int awake = 0; awake < 2; awake++) {
		struct osp_topology *topology = shadow_state.topology;
		job_record_t *job = launched();

		if (awake)
			boots(job);
		shadow_launch_forget();
		job->details->prolog_running = 0; /* Slurm forgets it, too */
		shadow_state.topology = NULL;
		shadow_launch_resume(job);
		shadow_launch_look(100);
		assert_says(job, "launched: no fabric topology is in force");
		shadow_launch_look(159);
		assert_int_equal(fake_slurm.requeues, 0);
		assert_true(shadow_launch_waits(1));
		shadow_launch_look(160);
		assert_int_equal(fake_slurm.requeues, 1);
		assert_says(job, "launched in vain: no fabric topology was in force for 1m");
		assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_IN_VAIN), "1:640:160");
		assert_int_equal(job->details->prolog_running, 0);
		assert_false(shadow_launch_any());
		shadow_state.topology = topology;
		shadow_calls_end(state);
		begin(state);
	}
}

/* Only a gang that starts, that may start again, and whose nodes are not together. */
static void waits_anew_only_where_it_must(void **state)
{
	job_record_t *job = launched();
	bitstr_t *nodes = job->node_bitmap;
	struct osp_topology *topology = shadow_state.topology;

	(void)state;
	shadow_launch_forget();
	job->job_state = JOB_RUNNING;
	begins_its_script(job);
	shadow_launch_resume(job);
	assert_false(shadow_launch_any());
	FREE_NULL_LIST(job->step_list);
	job->job_state = JOB_RUNNING | JOB_CONFIGURING;
	job->node_bitmap = NULL;
	shadow_launch_resume(job);
	job->node_bitmap = nodes;
	job->batch_flag = 0;
	shadow_launch_resume(job);
	assert_false(shadow_launch_any());
	job->batch_flag = 1;
	bit_clear_all(nodes);
	for (int n = 4; n < 8; n++)
		bit_set(nodes, n);
	shadow_launch_resume(job);
	assert_false(shadow_launch_any());
	bit_clear(nodes, 7);
	bit_set(nodes, 3);
	shadow_launch_resume(job);
	assert_true(shadow_launch_waits(1));
	/* without a topology nothing is known of it */
	shadow_state.topology = NULL;
	shadow_launch_look(100);
	shadow_state.topology = topology;
	assert_true(shadow_launch_waits(1));
	FREE_NULL_BITMAP(job->node_bitmap);
	shadow_launch_look(101);
	assert_false(shadow_launch_any());
}

/* What began elsewhere than on sleeping nodes beside one domain is no launch, and goes back. */
static void begins_no_launch_on_nodes_that_run_apart(void **state)
{
	static const struct {
		int nodes[2];
		bool awake;
	} cases[] = {{{8, 9}, true}, {{4, 5}, false}, {{4, 8}, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = batch_gang(1 + (uint32_t)i, 4, "leaf");

		sleeps(8, 8);
		job->node_bitmap = fake_bitmap(2, 2);
		for (int k = 0; k < 2; k++) {
			int n = cases[i].nodes[k];

			bit_set(job->node_bitmap, n);
			if (cases[i].awake) { /* it has booted, and nobody asked about it since */
				node_record_table_ptr[n]->boot_time = NEW_BOOT_S;
				node_record_table_ptr[n]->node_state =
					NODE_STATE_IDLE | NODE_STATE_CLOUD;
			}
		}
		job->job_state = JOB_RUNNING | JOB_CONFIGURING;
		assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
		assert_false(shadow_launch_any());
	}
}

/* Nor beside a node that is in no domain, and that no cloud could place. */
static void begins_no_launch_beside_a_node_in_no_domain(void **state)
{
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	fake_slurm_file(
		"onespine.topology",
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": [{\"level\": "
		"\"leaf\", \"name\": \"l1\", \"nodes\": \"n[2-4]\"}]}");
	sleeps(8, 8);
	job->node_bitmap = fake_bitmap(0, 2);
	bit_set(job->node_bitmap, 8);
	bit_set(job->node_bitmap, 9);
	job->job_state = JOB_RUNNING | JOB_CONFIGURING;
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	assert_false(shadow_launch_any());
	bit_clear(job->node_bitmap, 0);
	bit_set(job->node_bitmap, 2);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_true(shadow_launch_any());
}

/* Entries as somebody may have edited them, and a job that has a reservation already. */
static void reads_odd_entries(void **state)
{
	struct osp_nodeset *nodes = osp_nodeset_new(SHADOW_NODES);
	job_record_t *job = batch_gang(1, 4, "leaf");

	(void)state;
	shadow_put_entry(job, OSP_LAUNCHED_IN_VAIN, "2");
	assert_int_equal(shadow_launched_in_vain(job).times, 2);
	assert_int_equal(shadow_launched_in_vain(job).node_s, 0);
	assert_int_equal(shadow_launched_in_vain(job).last_s, 0);
	shadow_put_entry(job, OSP_LAUNCHED_IN_VAIN, "2:7");
	assert_int_equal(shadow_launched_in_vain(job).node_s, 7);
	assert_int_equal(shadow_launched_in_vain(job).last_s, 0);
	shadow_put_entry(job, OSP_LAUNCHED_IN_VAIN, "2:7:9");
	assert_int_equal(shadow_launched_in_vain(job).last_s, 9);
	shadow_keep(job, nodes, 100); /* no nodes */
	assert_int_equal(fake_slurm.reservations, 0);
	osp_nodeset_add(nodes, 0);
	job->resv_name = xstrdup("of_somebody");
	shadow_keep(job, nodes, 100);
	assert_int_equal(fake_slurm.reservations, 0);
	xfree(job->resv_name);
	shadow_put_launched_nodes(job, nodes);
	assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_NODES), "n1");
	osp_nodeset_clear(nodes);
	shadow_put_launched_nodes(job, nodes);
	assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_NODES), "");
	free(nodes);
}

/* Its @TIME passes while its nodes boot, and any nodes do: it waits for Slurm alone. */
static void ends_the_launch_where_any_nodes_do(void **state)
{
	job_record_t *job = batch_gang(1, 4, "spine@1");

	(void)state;
	job->details->submit_time = time(NULL);
	sleeps(0, SHADOW_NODES);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(starts(job), SLURM_SUCCESS);
	shadow_launch_look(100);
	assert_true(shadow_launch_any());
	assert_false(is_ready(job));
	job->details->submit_time -= 61;
	/* one that an earlier start left is given back */
	shadow_put_entry(job, OSP_LAUNCHED_IN_VAIN, "1:1:100");
	shadow_put_entry(job, OSP_LAUNCHED_NODES, "n[1-4,9]");
	node_record_table_ptr[8]->boot_time = NEW_BOOT_S;
	node_record_table_ptr[8]->node_state = NODE_STATE_IDLE | NODE_STATE_CLOUD;
	shadow_launch_look(101);
	assert_string_equal(fake_slurm.powered_down, "n9;");
	assert_false(shadow_launch_any());
	assert_true(is_ready(job));
	assert_says(job, "placed: 4 nodes in no common spine");
	assert_int_equal(fake_slurm.requeues, 0);
}

/* Its time comes while its nodes boot, or came before: it is then judged by the level above, where
 * they stand together. */
static void goes_on_where_the_level_above_holds_them(void **state)
{
	enum { NEVER, WHILE_THEY_BOOT, BEFORE, ENDS };

	for (int relaxed = NEVER; relaxed < ENDS; relaxed++) {
		job_record_t *job = batch_gang(1 + (uint32_t)relaxed, 4, "leaf@1");

		(void)state;
		job->details->submit_time = time(NULL) - (relaxed == BEFORE ? 61 : 0);
		for (int n = 0; n < SHADOW_NODES; n++)
			node_record_table_ptr[n]->boot_time = OLD_BOOT_S;
		place_by_ec2(OLD_BOOT_S, SHADOW_NODES);
		sleeps(4, 4);
		job->node_bitmap = fake_bitmap(2, 4); /* two nodes of l1, two that may be there */
		job->job_state = JOB_RUNNING | JOB_CONFIGURING;
		assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
		assert_says(job, relaxed == BEFORE
					 ? "whether they are on one spine is asked when they run"
					 : "whether they are on one leaf is asked when they run");
		boots(job);
		is_asked(4);
		is_asked(5);
		if (relaxed == WHILE_THEY_BOOT)
			job->details->submit_time -= 61;
		shadow_launch_look(100);
		assert_int_equal(fake_slurm.requeues, 1); /* of the first alone */
		assert_true(is_ready(job));
		assert_says(job, relaxed ? "placed: 4 nodes on spine s1, 2 leaves"
					 : "launched in vain: its 4 nodes are on 2 leaves");
	}
}

/* No node has run, so no zone is known, and its time comes while its nodes boot: they are judged by
 * the zone that they turn out to have. */
static void never_goes_on_in_two_zones(void **state)
{
	static const char levels[] = "{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\", "
				     "\"zone\"], \"domains\": []}";
	static const char places[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\", \"zone\"], "
		"\"domains\": ["
		"{\"level\": \"zone\", \"name\": \"z1\"}, {\"level\": \"zone\", \"name\": \"z2\"}, "
		"{\"level\": \"spine\", \"name\": \"s1\", \"in\": \"z1\"}, "
		"{\"level\": \"spine\", \"name\": \"s2\", \"in\": \"z%d\"}, "
		"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n[1-2]\"}, "
		"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s2\", \"nodes\": \"n[3-4]\"}]}";

	for (int zones = 1; zones <= 2; zones++) {
		job_record_t *job = batch_gang((uint32_t)zones, 4, "spine@1");

		(void)state;
		job->details->submit_time = time(NULL);
		fake_slurm_file("onespine.topology", levels);
		sleeps(0, SHADOW_NODES);
		assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
		assert_int_equal(starts(job), SLURM_SUCCESS);
		job->details->submit_time -= 61;
		shadow_launch_look(100);
		assert_true(shadow_launch_any());
		boots(job);
		snprintf(file_text, sizeof(file_text), places, zones);
		fake_slurm_file("onespine.topology", file_text);
		shadow_state_load();
		shadow_launch_look(101);
		assert_true(is_ready(job));
		assert_says(job, zones == 1 ? "placed: 4 nodes on zone z1, 2 leaves"
					    : "launched in vain: its 4 nodes are on 2 zones");
		assert_int_equal(fake_slurm.requeues, zones - 1);
	}
}

/* The topology loses its level while its nodes boot; one that was proven before goes on. */
static void goes_back_where_its_level_is_gone(void **state)
{
	static const char without[] =
		"{\"onespine-topology\": 1, \"levels\": [\"spine\"], \"domains\": [{\"level\": "
		"\"spine\", \"name\": \"s1\", \"nodes\": \"n[1-16]\"}]}";
	job_record_t *job = launched();

	(void)state;
	fake_slurm_file("onespine.topology", without);
	shadow_state_load();
	shadow_launch_look(100);
	assert_int_equal(fake_slurm.requeues, 1);
	assert_says(job, "launched in vain: the topology has no level leaf any more");
	assert_false(shadow_launch_any());
	assert_int_equal(fake_slurm.reservations, 0);

	shadow_calls_end(state);
	begin(state);
	job = batch_gang(1, 4, "leaf");
	sleeps(0, SHADOW_NODES);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(starts(job), SLURM_SUCCESS);
	boots(job);
	for (uint32_t n = 0; n < 4; n++)
		is_asked(n);
	shadow_launch_look(100);
	assert_true(is_ready(job));
	fake_slurm_file("onespine.topology", without);
	shadow_state_load();
	shadow_launch_look(101);
	assert_true(is_ready(job));
	assert_int_equal(fake_slurm.requeues, 0);
}

/* Its owner puts it back while its nodes boot: they are others' from then on. */
static void gives_back_nothing_that_it_left_otherwise(void **state)
{
	job_record_t *job = launched();

	(void)state;
	assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_NODES), "n[9-10]");
	boots(job);
	is_asked(8);
	is_asked(9);
	job->job_state = JOB_PENDING;
	FREE_NULL_BITMAP(job->node_bitmap);
	shadow_launch_look(100);
	assert_false(shadow_launch_any());
	assert_string_equal(shadow_spank_value(job, OSP_LAUNCHED_NODES), "");
	for (int n = 8; n < 10; n++) {
		node_record_table_ptr[n]->boot_time = 99999;
		node_record_table_ptr[n]->node_state = NODE_STATE_IDLE | NODE_STATE_CLOUD;
	}
	shadow_state_load();
	starts_with_others(job);
	assert_string_equal(fake_slurm.powered_down, "");
	assert_int_equal(fake_slurm.requeues, 0);
}

/* scontrol update Requeue=0 while its nodes boot, also where slurmctld starts anew then. */
static void goes_back_with_requeue_0_too(void **state)
{
	job_record_t *job = launched();

	(void)state;
	job->details->requeue = 0;
	shadow_launch_forget();
	shadow_launch_resume(job);
	assert_false(is_ready(job));
	boots(job);
	is_asked(8);
	is_asked(9);
	shadow_launch_look(100);
	assert_int_equal(fake_slurm.requeues, 1);
	assert_int_equal(job->details->requeue, 0);
	assert_false(shadow_launch_any());
	assert_int_equal(fake_slurm.reservations, 0); /* it is launched no more */
	sleeps(8, 8);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* At most 64 of one user. */
static void leaves_room_for_other_users(void **state)
{
	static const struct osp_effective enforced = {.mode = OSP_MODE_ENFORCE};
	job_record_t *mine = batch_gang(1000, 4, "leaf"), *other = batch_gang(1001, 4, "leaf");

	(void)state;
	sleeps(8, 8);
	other->user_id = 1001;
	for (uint32_t id = 1; id <= 64; id++)
		runs_again(batch_gang(id, 4, "leaf"));
	for (uint32_t id = 1; id <= 64; id++) {
		assert_true(shadow_launch_may(mine, &enforced));
		shadow_launch_resume(find_job_record(id));
	}
	assert_false(shadow_launch_may(mine, &enforced));
	assert_true(shadow_launch_may(other, &enforced));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(instances_are_told_to_the_gate),
		TEST(goes_on_where_they_stand_together),
		TEST(lets_no_step_begin_before),
		TEST(lets_steps_begin_when_it_is_over),
		TEST(starts_again_where_they_stand_apart),
		TEST(gives_up_after_its_tries),
		TEST(launches_nothing_where_nobody_could_say_where),
		TEST(waits_without_the_policy),
		TEST(placed_by_their_reservation),
		TEST(launches_nothing_across_spines),
		TEST(launches_nothing_that_its_known_nodes_cannot_be_with),
		TEST(reserved_places_are_for_launches_alone),
		TEST(segments_start_on_no_reserved_place),
		TEST(launches_only_what_can_start_again),
		TEST(prefers_known_nodes),
		TEST(backfill_launches_too),
		TEST(survives_a_restart),
		TEST(reports_once_that_slurm_refuses),
		TEST(keeps_the_part_that_stands_together),
		TEST(ends_the_reservation_where_they_stand_together),
		TEST(keeps_no_longer_than_it_may),
		TEST(keeps_nothing_where_the_policy_says_so),
		TEST(goes_on_where_slurm_keeps_nothing),
		TEST(takes_the_place_of_a_reservation_that_was_left),
		TEST(leaves_somebody_elses_reservation),
		TEST(leaves_no_reservation_that_it_may_not_use),
		TEST(gives_back_what_is_replaced),
		TEST(gives_back_at_once_where_nothing_else_is_left),
		TEST(gives_nothing_back_that_may_stand_right),
		TEST(launches_nothing_in_a_reservation),
		TEST(refuses_only_what_no_launch_can_hold),
		TEST(forgets_jobs_that_end),
		TEST(survives_without_memory),
		TEST(waits_while_many_are_launched),
		TEST(waits_anew_without_a_topology),
		TEST(goes_back_where_no_topology_comes),
		TEST(waits_anew_only_where_it_must),
		TEST(goes_on_configuring_behind_a_step),
		TEST(starts_behind_a_step_where_they_stand_together),
		TEST(begins_no_launch_on_nodes_that_run_apart),
		TEST(reads_odd_entries),
		TEST(gives_back_nothing_that_it_left_otherwise),
		TEST(goes_back_with_requeue_0_too),
		TEST(leaves_room_for_other_users),
		TEST(ends_the_launch_where_any_nodes_do),
		TEST(goes_on_where_the_level_above_holds_them),
		TEST(never_goes_on_in_two_zones),
		TEST(goes_back_where_its_level_is_gone),
		TEST(waits_for_places_from_when_all_run),
		TEST(costs_nothing_before_its_start),
		TEST(launches_only_for_one_domain),
		TEST(moves_no_node_whose_place_stays),
		TEST(begins_no_launch_beside_a_node_in_no_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
