/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_choose.c - the chooser before a small scheduler: one case after the other
 *
 * Where not said otherwise: two spines of four nodes, n0-n3 and n4-n7, of 8 cores, 8 GPUs and 64
 * units of memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/choose/choose.h"
#include "lib/choose/choose_private.h"
#include "tests/fabric.h"
#include "tests/model.h"
#include "tests/unit/no_memory.h"

#define NOW  INT64_C(1000000)
#define GANG 7

static const struct model_size whole_node = {8, 8, 64};

struct fabric {
	struct model *model;
	struct osp_topology *topology;
	struct osp_place *place;
	struct osp_chooser *chooser;
	struct osp_nodeset *usable;
	struct osp_nodeset *free_nodes;
	struct osp_nodeset *settling;
	struct osp_choose_input input;
	struct osp_choice choice;
};

/* --- the stage ------------------------------------------------------------------------------- */

static struct fabric *set_up(uint32_t spines, uint32_t nodes_each)
{
	struct fabric *fabric = calloc(1, sizeof(*fabric));

	assert_non_null(fabric);
	fabric->model = calloc(1, sizeof(*fabric->model));
	fabric->topology = fabric_regular(spines, (uint32_t[]){1, nodes_each}, 2);
	fabric->place = osp_place_new(fabric->topology, 1);
	fabric->chooser = osp_chooser_new(fabric->topology, fabric->place, NULL);
	fabric->usable = osp_nodeset_new(spines * nodes_each);
	fabric->free_nodes = osp_nodeset_new(spines * nodes_each);
	fabric->settling = osp_nodeset_new(spines * nodes_each);
	assert_true(fabric->model && fabric->place && fabric->chooser && fabric->usable &&
		    fabric->free_nodes && fabric->settling);
	osp_nodeset_fill(fabric->usable);
	fabric->model->now_s = NOW;
	fabric->model->node_count = spines * nodes_each;
	for (uint32_t n = 0; n < fabric->model->node_count; n++)
		fabric->model->node[n] = whole_node;
	return fabric;
}

static void tear_down(struct fabric *fabric)
{
	osp_chooser_free(fabric->chooser);
	osp_place_free(fabric->place);
	osp_topology_free(fabric->topology);
	free(fabric->usable);
	free(fabric->free_nodes);
	free(fabric->settling);
	free(fabric->model);
	free(fabric);
}

/* A gang of `nodes` nodes that takes `need` of each, or all of it. */
static void gang(struct fabric *fabric, uint32_t nodes, struct model_size need)
{
	struct model *model = fabric->model;

	model->need = need;
	model->whole = need.cores == whole_node.cores;
	model->need_nodes = nodes;
	model->want_nodes = nodes;
	fabric->input = (struct osp_choose_input){
		.job = GANG,
		.exact_size = true,
		.bound_is_start = true,
		.place = {.level = 2,
			  .need_nodes = nodes,
			  .want_nodes = nodes,
			  .free_only = true,
			  .usable = fabric->usable,
			  .free = fabric->free_nodes},
	};
}

/* Asks; what is free now is seen as the shadow sees it. */
static bool choose(struct fabric *fabric, enum osp_choose_mode mode)
{
	struct model *model = fabric->model;
	struct osp_choose_calls calls = model_calls(model);
	struct osp_choose_input *input = &fabric->input;

	osp_nodeset_clear(fabric->free_nodes);
	osp_nodeset_clear(fabric->settling);
	for (uint32_t n = 0; n < model->node_count; n++) {
		if (model->settling[n])
			osp_nodeset_add(fabric->settling, n);
		else if (model->unfit[n] || model_node_fits(model, n, model->now_s, false))
			osp_nodeset_add(fabric->free_nodes, n);
	}
	input->mode = mode;
	input->now_s = model->now_s;
	input->slot_start_s = model->slot_start_s;
	input->slot_end_s = model->slot_end_s;
	input->settling = fabric->settling;
	model->asked_count = 0;
	model->elapsed_ms = 0;
	osp_choose(fabric->chooser, input, &calls, &fabric->choice);
	if (fabric->choice.found)
		assert_int_equal(fabric->choice.processors, model_processors(fabric->choice.nodes));
	return fabric->choice.found;
}

/* The answer's nodes are these, and what was asked last is what was answered. */
static void assert_nodes(const struct fabric *fabric, uint32_t first, uint32_t count)
{
	const struct model *model = fabric->model;

	assert_int_equal(osp_nodeset_next(fabric->choice.nodes, 0), first);
	assert_int_equal(osp_nodeset_count(fabric->choice.nodes), count);
	for (uint32_t n = first; n < first + count; n++)
		assert_true(osp_nodeset_test(fabric->choice.nodes, n));
	assert_true(model->asked[model->asked_count - 1].yes);
}

static uint32_t asked_preempting(const struct model *model)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->asked_count; i++)
		count += model->asked[i].preempting;
	return count;
}

/* --- run now --------------------------------------------------------------------------------- */

static void takes_exact_nodes_where_few_are_left(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 2, whole_node);
	model_add_job(fabric->model, 4, 2, whole_node, NOW + 600);
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 6, 2);
	assert_int_equal(fabric->model->asked_count, 1);
	assert_int_equal(fabric->model->asked[0].node_count, 2);
	tear_down(fabric);
}

/* The lightest ones, of more weights than are counted one by one. */
static void takes_the_lightest_of_many_weights(void **state)
{
	struct fabric *fabric = set_up(1, 20);
	uint32_t weight[20];

	(void)state;
	gang(fabric, 15, whole_node);
	for (uint32_t n = 0; n < 20; n++)
		weight[n] = 100 - n;
	fabric->input.place.weight = weight;
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 5, 15);
	tear_down(fabric);
}

static void asks_nothing_where_nothing_fits(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	model_add_job(fabric->model, 0, 1, whole_node, NOW + 600);
	model_add_job(fabric->model, 7, 1, whole_node, NOW + 600);
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->model->asked_count, 0);
	tear_down(fabric);
}

static void asks_the_next_domain_after_a_no(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->model->unfit[1] = true;
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 4, 4);
	assert_int_equal(fabric->model->asked_count, 3);
	tear_down(fabric);
}

/* With PreemptMode=GANG it may be laid over some jobs; the first spine has one that it may not be
 * laid over. */
static void asks_no_domain_with_too_few_possible_nodes(void **state)
{
	struct fabric *fabric = set_up(2, 4);
	struct osp_nodeset *possible = osp_nodeset_new(8);

	(void)state;
	assert_non_null(possible);
	osp_nodeset_fill(possible);
	osp_nodeset_remove(possible, 0);
	gang(fabric, 4, whole_node);
	fabric->input.place.free_only = false;
	fabric->input.possible = possible;
	model_add_job(fabric->model, 0, 8, whole_node, NOW + 600);
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->model->asked_count, 1);
	assert_int_equal(fabric->model->asked[0].first_node, 4);
	osp_nodeset_remove(possible, 7);
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->model->asked_count, 0);
	free(possible);
	tear_down(fabric);
}

/* --- will run -------------------------------------------------------------------------------- */

/* Expects a later start on the nodes of the second leaf, at its bound, after one question and no
 * simulation. */
static void starts_at_the_bound_of_the_second_leaf(struct fabric *fabric)
{
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_nodes(fabric, 4, 4);
	assert_int_equal(fabric->model->asked_count, 1);
	assert_int_equal(fabric->model->asked[0].mode, OSP_ASK_EVER);
}

static void whole_nodes_start_at_the_bound_without_simulation(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 600);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 300);
	starts_at_the_bound_of_the_second_leaf(fabric);
	tear_down(fabric);
}

/* Defect 1: backfill then reserved the whole partition. */
static void a_later_no_leaves_the_plan_of_the_domain_before(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 3, (struct model_size){5, 5, 0});
	fabric->model->need_nodes = 4; /* as its tasks need, which -N3-4 does not say */
	fabric->model->want_nodes = 4;
	fabric->input.place.want_nodes = 4;
	model_add_job(fabric->model, 0, 3, whole_node, NOW + 300);
	model_add_job(fabric->model, 3, 1, whole_node, NOW + 1200);
	model_add_job(fabric->model, 4, 3, whole_node, NOW + 600);
	fabric->model->unfit[7] = true;
	osp_nodeset_remove(fabric->usable, 7);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 1200);
	assert_nodes(fabric, 0, 4);
	assert_int_equal(fabric->choice.domain_count, 1);
	tear_down(fabric);
}

/* Defect 8, the commonest request: parts of nodes that all have ended on at the bound. */
static void parts_of_nodes_start_at_the_bound_where_the_nodes_are_empty_then(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, (struct model_size){1, 8, 0});
	model_add_job(fabric->model, 0, 4, (struct model_size){1, 8, 0}, NOW + 600);
	model_add_job(fabric->model, 4, 4, (struct model_size){1, 4, 0}, NOW + 200);
	model_add_job(fabric->model, 4, 4, (struct model_size){1, 4, 0}, NOW + 300);
	starts_at_the_bound_of_the_second_leaf(fabric);
	tear_down(fabric);
}

static void who_stays_beside_the_gang_makes_it_a_question(void **state)
{
	struct fabric *fabric = set_up(1, 4);

	(void)state;
	gang(fabric, 4, (struct model_size){1, 4, 0});
	model_add_job(fabric->model, 0, 4, (struct model_size){1, 4, 0}, NOW + 900);
	model_add_job(fabric->model, 0, 4, (struct model_size){1, 4, 0}, NOW + 300);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_int_equal(fabric->model->asked_count, 1);
	assert_int_equal(fabric->model->asked[0].mode, OSP_ASK_WHEN);
	tear_down(fabric);
}

static void the_whole_domain_is_asked_where_exact_nodes_are_late(void **state)
{
	struct fabric *fabric = set_up(1, 4);

	(void)state;
	gang(fabric, 2, (struct model_size){8, 0, 0});
	fabric->model->whole = false;
	fabric->input.bound_is_start = false;
	model_add_job(fabric->model, 0, 2, (struct model_size){8, 0, 0}, NOW + 900);
	model_add_job(fabric->model, 2, 2, (struct model_size){8, 0, 0}, NOW + 300);
	for (uint32_t n = 0; n < 4; n++)
		fabric->model->hasty[n] = true;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_nodes(fabric, 2, 2);
	tear_down(fabric);
}

/* Defect 5: on nodes whose jobs are ending backfill starts nothing, and kept the gang waiting. */
static void nodes_that_settle_are_not_free_now(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	for (uint32_t whole = 0; whole < 2; whole++) {
		gang(fabric, 2, whole ? whole_node : (struct model_size){4, 4, 4});
		/* s1 is the fuller one, but for its two nodes that settle */
		fabric->model->job_count = 0;
		model_add_job(fabric->model, 0, 2, whole_node, NOW + 600);
		fabric->model->settling[2] = true;
		fabric->model->settling[3] = true;
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->choice.start_s, NOW);
		assert_nodes(fabric, 4, 2);
		/* with nothing else they are what it waits for, a second long */
		model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->choice.start_s, NOW + 1);
		assert_nodes(fabric, 2, 2);
	}
	tear_down(fabric);
}

/* An Epilog hangs on a node of s1: for ever it would be free in a second. s2 is soon. */
static void nodes_that_hang_are_waited_for_last(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->model->settling[1] = true;
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 1);
	fabric->input.stuck = fabric->settling;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_nodes(fabric, 4, 4);
	fabric->input.place.free = NULL;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_nodes(fabric, 4, 4);
	/* nothing else can ever be had */
	osp_nodeset_remove(fabric->usable, 5);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 1);
	assert_nodes(fabric, 0, 4);
	/* none of them is usable */
	osp_nodeset_remove(fabric->usable, 1);
	assert_false(choose(fabric, OSP_CHOOSE_WILL_RUN));
	tear_down(fabric);
}

static void a_start_after_the_slot_is_of_no_use(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 600);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 900);
	fabric->model->slot_start_s = NOW + 60;
	fabric->model->slot_end_s = NOW + 300;
	assert_false(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 0);
	fabric->model->slot_start_s = NOW + 700;
	fabric->model->slot_end_s = NOW + 2000;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 700);
	assert_nodes(fabric, 0, 4);
	tear_down(fabric);
}

/* --- preemption ------------------------------------------------------------------------------ */

static void preempts_in_the_domain_with_most_nodes_free(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->input.may_preempt = true;
	for (uint32_t n = 0; n < 7; n++)
		model_add_job(fabric->model, n, 1, whole_node, NOW + 600)->preemptable = true;
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 4, 4);
	assert_int_equal(fabric->choice.victim_count, 3);
	assert_int_equal(fabric->choice.victims[0].job, 1004);
	tear_down(fabric);
}

/* Defect 2: the end of the job that stays counted, though the other one's half is enough. */
static void a_job_that_stays_keeps_no_node_from_being_shared(void **state)
{
	struct fabric *fabric = set_up(2, 4);
	const struct model_size half = {4, 4, 32};

	(void)state;
	gang(fabric, 4, half);
	fabric->input.may_preempt = true;
	for (uint32_t n = 0; n < 8; n++) {
		model_add_job(fabric->model, n, 1, half, NOW + 6000);
		model_add_job(fabric->model, n, 1, half, NOW + 600)->preemptable = n != 2;
	}
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 4, 4);
	assert_int_equal(fabric->choice.victim_count, 4);
	assert_int_equal(asked_preempting(fabric->model), 1);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW);
	tear_down(fabric);
}

/* A preemption in s2, whose victims have `grace_s` to leave. */
static struct fabric *preempting_in_s2(void)
{
	struct fabric *fabric = set_up(2, 4);

	gang(fabric, 4, whole_node);
	fabric->input.may_preempt = true;
	for (uint32_t n = 0; n < 7; n++)
		model_add_job(fabric->model, n, 1, whole_node, NOW + 6000)->preemptable = true;
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->choice.victim_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_in_range(fabric->choice.victims[i].job, 1004, 1006);
		fabric->model->jobs[fabric->choice.victims[i].job - 1000].leaving = true;
	}
	return fabric;
}

/* Defect 3: after five minutes a second spine was emptied. */
static void as_long_as_victims_leave_nobody_else_has_to(void **state)
{
	struct fabric *fabric = preempting_in_s2();
	struct osp_victim victims[3];

	(void)state;
	memcpy(victims, fabric->choice.victims, sizeof(victims));
	/* the other spine now has more nodes free, and many minutes go by */
	fabric->model->jobs[0].end_s = NOW;
	fabric->model->jobs[0].first_node = fabric->model->jobs[0].end_node;
	fabric->model->jobs[1].first_node = fabric->model->jobs[1].end_node;
	for (uint32_t minutes = 1; minutes <= 30; minutes++) {
		fabric->model->now_s = NOW + 60 * minutes;
		assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
		assert_int_equal(fabric->choice.victim_count, 3);
		assert_memory_equal(fabric->choice.victims, victims, sizeof(victims));
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_nodes(fabric, 4, 4);
		assert_int_equal(asked_preempting(fabric->model), 1);
	}
	tear_down(fabric);
}

static void a_node_that_is_not_yet_left_is_waited_for(void **state)
{
	struct fabric *fabric = preempting_in_s2();
	uint32_t gone = fabric->choice.victims[0].job - 1000;

	(void)state;
	/* its job has ended and its epilog runs: Slurm does not offer the node */
	fabric->model->jobs[gone].first_node = fabric->model->jobs[gone].end_node;
	osp_nodeset_remove(fabric->usable, gone);
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	osp_nodeset_add(fabric->usable, gone);
	for (uint32_t i = 4; i < 7; i++) {
		if (fabric->model->jobs[i].leaving)
			fabric->model->jobs[i].first_node = fabric->model->jobs[i].end_node;
	}
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->choice.victim_count, 0);
	tear_down(fabric);
}

static void victims_that_are_gone_are_forgotten(void **state)
{
	struct fabric *fabric = preempting_in_s2();

	(void)state;
	/* nobody was preempted in the end: a limit stood in the way. s1 is the better one now. */
	for (uint32_t i = 0; i < fabric->model->job_count; i++)
		fabric->model->jobs[i].leaving = false;
	model_add_job(fabric->model, 7, 1, whole_node, NOW + 6000)->preemptable = true;
	fabric->model->jobs[0].first_node = fabric->model->jobs[0].end_node;
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 0, 4);
	assert_true(osp_chooser_forget(fabric->chooser, GANG));
	assert_false(osp_chooser_forget(fabric->chooser, GANG));
	tear_down(fabric);
}

/* Defect 13: stock asks for later slots with candidates too. */
static void a_later_slot_is_asked_with_candidates(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->input.may_preempt = true;
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 900);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 6000)->preemptable = true;
	fabric->model->slot_start_s = NOW + 300;
	fabric->model->slot_end_s = NOW + 3000;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_nodes(fabric, 4, 4);
	/* not where a domain has nodes without preempting at the start of the slot */
	fabric->model->slot_start_s = NOW + 1000;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_nodes(fabric, 0, 4);
	assert_int_equal(asked_preempting(fabric->model), 0);
	/* where it does not help, the plan before it stands */
	fabric->model->slot_start_s = NOW + 300;
	fabric->model->jobs[1].preemptable = false;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 900);
	assert_nodes(fabric, 0, 4);
	tear_down(fabric);
}

/*
 * A job that may not be preempted ends in 10 minutes, one that may be in 90: the gang starts in 10.
 * Its plan was in 90, and whoever fitted before that was let in front of it.
 */
static void a_later_start_is_planned_over_those_that_may_be_preempted(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	model_add_job(fabric->model, 0, 1, whole_node, NOW + 600);
	model_add_job(fabric->model, 1, 3, whole_node, NOW + 5400)->preemptable = true;
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 1200);
	fabric->input.may_preempt = true;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_nodes(fabric, 0, 4);
	/* in a slot that begins later, too */
	fabric->model->slot_start_s = NOW + 300;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_nodes(fabric, 0, 4);
	tear_down(fabric);
}

/* --- the budget ------------------------------------------------------------------------------ */

/* Defect 8: a call whose time went to a start at once had no plan at all. */
static void one_start_in_the_future_is_always_asked_for(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, (struct model_size){4, 4, 4});
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 600);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	for (uint32_t n = 0; n < 8; n++)
		fabric->model->hasty[n] = true;
	fabric->model->ask_ms = 2000;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_nodes(fabric, 0, 4);
	tear_down(fabric);
}

/* Domains that seem free and are not, and behind them one that is. */
static struct fabric *good_one_at(uint32_t spines, uint32_t good)
{
	struct fabric *fabric = set_up(spines, 2);

	gang(fabric, 2, whole_node);
	for (uint32_t n = 0; n < 2 * spines; n++)
		fabric->model->unfit[n] = n / 2 != good;
	return fabric;
}

static void more_domains_than_one_call_asks_are_asked_in_turn(void **state)
{
	struct fabric *fabric = good_one_at(700, 650);

	(void)state;
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->model->asked_count, 2 * OSP_CHOOSE_CANDIDATES_MAX);
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 1300, 2);
	osp_chooser_forget(fabric->chooser, GANG);
	fabric->input.first_only = true;
	assert_false(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_false(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_nodes(fabric, 1300, 2);
	/* those that are not free by then are none that there was no time for */
	osp_chooser_forget(fabric->chooser, GANG);
	model_add_job(fabric->model, 200, 1200, whole_node, NOW + 600);
	memset(fabric->model->unfit + 200, 0, 1200);
	assert_false(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_false(osp_chooser_forget(fabric->chooser, GANG));
	tear_down(fabric);
}

static void after_all_were_asked_in_vain_the_first_is_next(void **state)
{
	struct fabric *fabric = good_one_at(300, 1000);

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
		assert_int_equal(fabric->model->asked[0].first_node, 0);
		assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
		assert_int_equal(fabric->model->asked[0].first_node, 2 * OSP_CHOOSE_CANDIDATES_MAX);
		assert_int_equal(fabric->model->asked_count, 2 * (300 - OSP_CHOOSE_CANDIDATES_MAX));
	}
	tear_down(fabric);
}

static void a_plan_that_was_found_once_is_not_lost(void **state)
{
	struct fabric *fabric = good_one_at(20, 11);
	uint32_t planned = 0;

	(void)state;
	for (uint32_t n = 0; n < 40; n += 2)
		model_add_job(fabric->model, n, 2, whole_node, NOW + 600 + n);
	fabric->model->ask_ms = 400;
	for (uint32_t calls = 0; calls < 40; calls++) {
		if (!choose(fabric, OSP_CHOOSE_WILL_RUN)) {
			assert_int_equal(planned, 0);
			continue;
		}
		assert_int_equal(fabric->choice.start_s, NOW + 622);
		assert_nodes(fabric, 22, 2);
		assert_true(fabric->model->elapsed_ms <= 4000);
		planned++;
	}
	assert_true(planned >= 20);
	tear_down(fabric);
}

/* 300 spines that seem free; 290 is. The others have a job of which only the scheduler knows. */
static struct fabric *free_one_at_290(void)
{
	struct fabric *fabric = set_up(300, 2);

	gang(fabric, 2, whole_node);
	model_add_job(fabric->model, 0, 580, whole_node, NOW + 600);
	model_add_job(fabric->model, 582, 18, whole_node, NOW + 700);
	for (uint32_t n = 0; n < 600; n++)
		fabric->model->hasty[n] = true;
	return fabric;
}

/* A plan for later was found in each call, and the domains behind the first 256 were never
 * asked. */
static void a_plan_keeps_no_domain_from_being_asked_for_a_start_now(void **state)
{
	struct fabric *fabric = free_one_at_290();

	(void)state;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW);
	assert_nodes(fabric, 580, 2);
	tear_down(fabric);
}

/* The same where time ends the call; the plan stays the earliest that was found. */
static void the_plan_of_an_earlier_call_stays_the_best(void **state)
{
	struct fabric *fabric = free_one_at_290();

	(void)state;
	fabric->model->ask_ms = 20;
	for (uint32_t calls = 0; calls < 20; calls++) {
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		if (fabric->choice.start_s == NOW)
			break;
		assert_int_equal(fabric->choice.start_s, NOW + 600);
		assert_true(fabric->model->asked[fabric->model->asked_count - 1].yes);
	}
	assert_nodes(fabric, 580, 2);
	tear_down(fabric);
}

/* Nine domains whose bound is too early may be asked behind an answer, no more. */
static void few_are_asked_for_an_earlier_start(void **state)
{
	struct fabric *fabric = set_up(20, 2);
	uint32_t before;

	(void)state;
	gang(fabric, 2, whole_node);
	fabric->input.bound_is_start = false;
	for (uint32_t n = 0; n < 40; n += 2)
		model_add_job(fabric->model, n, 2, whole_node, NOW + 600 + n);
	for (uint32_t n = 0; n < 40; n++)
		fabric->model->hasty[n] = true;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_nodes(fabric, 0, 2);
	/* each of the 20 was asked for a start now, twice; then the answer, eight in vain, and it
	 * again */
	before = 2 * 20;
	assert_true(fabric->model->asked_count > before);
	assert_true(fabric->model->asked_count <= before + 2 * (1 + OSP_CHOOSE_EARLIER_MAX) + 1);
	tear_down(fabric);
}

/* The last of 20 would be first: those that have answered in a call before leave the room of the
 * few to others. */
static void the_earliest_is_found_in_some_calls(void **state)
{
	struct fabric *fabric = set_up(20, 2);
	uint32_t calls = 0, most = 2 * 20 + 2 * (1 + OSP_CHOOSE_EARLIER_MAX) + 1;

	(void)state;
	gang(fabric, 2, whole_node);
	fabric->input.bound_is_start = false;
	fabric->input.request = UINT64_C(0x5eed);
	for (uint32_t n = 0; n < 40; n += 2)
		model_add_job(fabric->model, n, 2, whole_node, NOW + 640 - n);
	for (uint32_t n = 0; n < 40; n++)
		fabric->model->hasty[n] = true;
	do {
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_true(fabric->model->asked_count <= most);
	} while (fabric->choice.start_s > NOW + 602 && ++calls < 4);
	assert_int_equal(fabric->choice.start_s, NOW + 602);
	assert_nodes(fabric, 38, 2);
	tear_down(fabric);
}

/* Of 556 jobs with something to remember the first ones are forgotten. */
static void of_many_jobs_the_oldest_is_forgotten(void **state)
{
	struct fabric *fabric = good_one_at(300, 1000);

	(void)state;
	for (uint32_t job = 1; job <= 556; job++) {
		fabric->input.job = job;
		assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	}
	assert_false(osp_chooser_forget(fabric->chooser, 1));
	assert_false(osp_chooser_forget(fabric->chooser, 44));
	assert_true(osp_chooser_forget(fabric->chooser, 45));
	assert_true(osp_chooser_forget(fabric->chooser, 556));
	/* without a number nothing is remembered */
	assert_false(osp_chooser_forget(fabric->chooser, 0));
	tear_down(fabric);
}

/* Nodes [first, end) are what the gang may have in this partition. */
static bool choose_in(struct fabric *fabric, uint64_t partition, uint32_t first, uint32_t end,
		      enum osp_choose_mode mode)
{
	osp_nodeset_clear(fabric->usable);
	for (uint32_t n = first; n < end; n++)
		osp_nodeset_add(fabric->usable, n);
	fabric->input.choice_of = partition;
	return choose(fabric, mode);
}

/* -p a,b: 30 spines each that seem free, time for 20 of them; spine 25 of a is. b's calls went on
 * where a's had stopped, and began a's anew. */
static void each_partition_has_its_own_turn(void **state)
{
	struct fabric *fabric = good_one_at(60, 25);
	uint32_t calls = 0;

	(void)state;
	fabric->model->ask_ms = 25;
	while (calls++ < 4 && !choose_in(fabric, 'a', 0, 60, OSP_CHOOSE_RUN_NOW))
		assert_false(choose_in(fabric, 'b', 60, 120, OSP_CHOOSE_RUN_NOW));
	assert_in_range(calls, 2, 4);
	assert_nodes(fabric, 50, 2);
	/* all of it is forgotten with the job */
	assert_false(choose_in(fabric, 'b', 60, 120, OSP_CHOOSE_RUN_NOW));
	assert_true(osp_chooser_forget(fabric->chooser, GANG));
	assert_false(osp_chooser_forget(fabric->chooser, GANG));
	tear_down(fabric);
}

/* A plan in each, found once in many calls. */
static void each_partition_has_its_own_plan(void **state)
{
	struct fabric *fabric = good_one_at(40, 11);
	uint32_t planned[2] = {0};

	(void)state;
	memset(fabric->model->unfit + 2 * (20 + 11), 0, 2);
	for (uint32_t n = 0; n < 80; n += 2)
		model_add_job(fabric->model, n, 2, whole_node, NOW + 600 + n);
	fabric->model->ask_ms = 400;
	for (uint32_t calls = 0; calls < 80; calls++) {
		uint32_t b = calls % 2;

		if (!choose_in(fabric, b, 40 * b, 40 * b + 40, OSP_CHOOSE_WILL_RUN)) {
			assert_int_equal(planned[b], 0);
			continue;
		}
		assert_nodes(fabric, 40 * b + 22, 2);
		planned[b]++;
	}
	assert_true(planned[0] >= 20 && planned[1] >= 20);
	tear_down(fabric);
}

/* Jobs leave for it in one partition: none has to in the other. */
static void one_domain_is_emptied_for_all_partitions(void **state)
{
	struct fabric *fabric = preempting_in_s2();

	(void)state;
	assert_false(choose_in(fabric, 'b', 0, 4, OSP_CHOOSE_RUN_NOW));
	assert_true(choose_in(fabric, 'a', 0, 8, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 4, 4);
	assert_int_equal(fabric->choice.victim_count, 3);
	tear_down(fabric);
}

/* A plan's domain that is gone from the list is asked no more. */
static void a_plan_in_a_domain_that_is_gone_is_forgotten(void **state)
{
	struct fabric *fabric = free_one_at_290();

	(void)state;
	fabric->model->ask_ms = 20;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_nodes(fabric, 0, 2);
	osp_nodeset_remove(fabric->usable, 0);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_not_equal(osp_nodeset_next(fabric->choice.nodes, 0), 0);
	tear_down(fabric);
}

/* --- another fabric --------------------------------------------------------------------------- */

/* The same nodes: n0 under a spine of its own that comes before the others, the rest of s1 under it
 * or, where they are renamed, others. */
static struct osp_topology *other_fabric(const struct fabric *fabric, const char *first,
					 const char *second)
{
	struct fabric_node nodes[8] = {0};

	for (uint32_t n = 0; n < 8; n++) {
		const char *spine = n < 4 ? first : second;

		nodes[n].name = osp_topology_node_name(fabric->topology, n);
		nodes[n].domains[0] = n ? spine : "0";
		nodes[n].domains[1] = n ? spine : "0";
	}
	return fabric_from(nodes, 8, 2);
}

static void change_fabric(struct fabric *fabric, struct osp_topology *topology)
{
	struct osp_place *place = osp_place_new(topology, 1);

	assert_non_null(place);
	osp_chooser_change_fabric(fabric->chooser, topology, place, NULL);
	osp_place_free(fabric->place);
	osp_topology_free(fabric->topology);
	fabric->place = place;
	fabric->topology = topology;
}

/* s2 has another number now: it is s2 all the same that is emptied. */
static void a_preemption_goes_on_where_its_domain_has_another_number(void **state)
{
	struct fabric *fabric = preempting_in_s2();
	struct osp_victim victims[3];
	uint32_t number = osp_topology_find_domain(fabric->topology, 2, "s000001");

	(void)state;
	memcpy(victims, fabric->choice.victims, sizeof(victims));
	change_fabric(fabric, other_fabric(fabric, "s000000", "s000001"));
	assert_int_not_equal(osp_topology_find_domain(fabric->topology, 2, "s000001"), number);
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->choice.victim_count, 3);
	assert_memory_equal(fabric->choice.victims, victims, sizeof(victims));
	assert_nodes(fabric, 4, 4);
	tear_down(fabric);
}

/* s1 has a node more free than where the preemption began. */
static void free_two_of_s1(struct fabric *fabric)
{
	for (uint32_t i = 0; i < 2; i++)
		fabric->model->jobs[i].first_node = fabric->model->jobs[i].end_node;
}

/* slurmctld ends and starts again, or a backup takes over. */
static void another_chooser(struct fabric *fabric, const char *saved)
{
	osp_chooser_free(fabric->chooser);
	fabric->chooser = osp_chooser_new(fabric->topology, fabric->place, NULL);
	assert_non_null(fabric->chooser);
	osp_chooser_restore(fabric->chooser, GANG, saved);
}

static void a_preemption_goes_on_in_another_process(void **state)
{
	struct fabric *fabric = preempting_in_s2();
	char *saved = osp_chooser_saved(fabric->chooser, GANG), *again;
	struct osp_victim victims[3];

	(void)state;
	memcpy(victims, fabric->choice.victims, sizeof(victims));
	assert_non_null(strstr(saved, " spine s000001"));
	assert_null(osp_chooser_saved(fabric->chooser, GANG + 1));
	assert_null(osp_chooser_saved(fabric->chooser, 0));
	free_two_of_s1(fabric);
	another_chooser(fabric, saved);
	again = osp_chooser_saved(fabric->chooser, GANG);
	assert_string_equal(again, saved);
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->choice.victim_count, 3);
	assert_memory_equal(fabric->choice.victims, victims, sizeof(victims));
	assert_nodes(fabric, 4, 4);
	/* it knows better now */
	osp_chooser_restore(fabric->chooser, GANG, "1000@1 spine s000000");
	free(again);
	again = osp_chooser_saved(fabric->chooser, GANG);
	assert_string_equal(again, saved);
	free(saved);
	free(again);
	tear_down(fabric);
}

/* Of a gang in segments, and where the domain is no more: nobody else has to go all the same. */
static void a_saved_preemption_may_have_no_domain(void **state)
{
	static const char *const places[] = {"", " spine gone", " gone s000001", " spine", " "};
	char saved[128];

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct fabric *fabric = preempting_in_s2();
		char *again;

		snprintf(saved, sizeof(saved), "1004@%lld%s",
			 (long long)fabric->choice.victims[0].started_s, places[i]);
		free_two_of_s1(fabric);
		another_chooser(fabric, saved);
		again = osp_chooser_saved(fabric->chooser, GANG);
		saved[strcspn(saved, " ")] = '\0';
		assert_string_equal(again, saved);
		free(again);
		assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
		tear_down(fabric);
	}
}

static void what_is_no_saved_preemption_changes_nothing(void **state)
{
	static const char *const texts[] = {"",
					    "x",
					    "12",
					    "12@",
					    "@12",
					    "12@1,",
					    "-1@1",
					    "12@-1",
					    "12@1;13@1",
					    "12@1x",
					    "4294967296@1",
					    "12@9223372036854775808",
					    "12@99999999999999999999",
					    " spine s000001"};
	struct fabric *fabric = set_up(2, 4);
	char many[OSP_CHOOSE_VICTIMS_MAX * 4 + 8] = "1@1";

	(void)state;
	for (uint32_t i = 0; i < OSP_CHOOSE_VICTIMS_MAX; i++)
		strcat(many, ",1@1");
	osp_chooser_restore(fabric->chooser, GANG, many);
	osp_chooser_restore(fabric->chooser, 0, "12@1");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		osp_chooser_restore(fabric->chooser, GANG, texts[i]);
		assert_null(osp_chooser_saved(fabric->chooser, GANG));
	}
	tear_down(fabric);
}

/* Its domain is no more: as long as jobs leave for it nobody else has to, then it is asked anew. */
static void a_preemption_whose_domain_is_gone_empties_no_other(void **state)
{
	struct fabric *fabric = preempting_in_s2();

	(void)state;
	change_fabric(fabric, other_fabric(fabric, "x", "y"));
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(asked_preempting(fabric->model), 0);
	for (uint32_t i = 0; i < fabric->model->job_count; i++) {
		if (fabric->model->jobs[i].leaving)
			fabric->model->jobs[i].first_node = fabric->model->jobs[i].end_node;
	}
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_nodes(fabric, 4, 4);
	tear_down(fabric);
}

/* The answer about the nodes of s2 is about nodes: it holds under another fabric. */
static void an_answer_about_nodes_outlives_a_fabric(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->input.bound_is_start = false;
	fabric->input.request = 77;
	for (uint32_t n = 0; n < 8; n++)
		model_add_job(fabric->model, n, 1, whole_node, NOW + (n < 4 ? 6000 : 600));
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_nodes(fabric, 4, 4);
	assert_int_not_equal(fabric->model->asked_count, 0);
	change_fabric(fabric, other_fabric(fabric, "s000000", "s000001"));
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	assert_int_equal(fabric->model->asked_count, 0);
	tear_down(fabric);
}

/* What settles may be unknown, or known of another number of nodes. */
static void what_settles_may_be_unknown(void **state)
{
	struct fabric *fabric = set_up(2, 4);
	struct osp_choose_calls calls = model_calls(fabric->model);

	(void)state;
	gang(fabric, 4, whole_node);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	fabric->input.settling = NULL;
	osp_choose(fabric->chooser, &fabric->input, &calls, &fabric->choice);
	assert_int_equal(fabric->choice.start_s, NOW);
	calls.empty_at = NULL;
	model_add_job(fabric->model, 0, 8, whole_node, NOW + 600);
	osp_choose(fabric->chooser, &fabric->input, &calls, &fabric->choice);
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	free(fabric->settling);
	fabric->settling = osp_nodeset_new(2);
	assert_non_null(fabric->settling);
	fabric->model->job_count = 0;
	fabric->input.settling = fabric->settling;
	osp_nodeset_add(fabric->settling, 1);
	osp_choose(fabric->chooser, &fabric->input, &calls, &fabric->choice);
	assert_int_equal(fabric->choice.start_s, NOW);
	assert_int_equal(osp_nodeset_next(fabric->choice.nodes, 0), 4);
	tear_down(fabric);
}

/* --- test only ------------------------------------------------------------------------------- */

static void test_only_is_never_stricter_than_the_scheduler(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 6, whole_node);
	assert_true(choose(fabric, OSP_CHOOSE_TEST_ONLY));
	assert_int_equal(fabric->choice.domain_count, 0);
	gang(fabric, 9, whole_node);
	assert_false(choose(fabric, OSP_CHOOSE_TEST_ONLY));
	gang(fabric, 4, whole_node);
	assert_true(choose(fabric, OSP_CHOOSE_TEST_ONLY));
	assert_int_equal(fabric->choice.domain_count, 1);
	tear_down(fabric);
}

static void test_only_says_no_where_it_is_asked_again(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 6, whole_node);
	fabric->input.asked_again = true;
	assert_false(choose(fabric, OSP_CHOOSE_TEST_ONLY));
	gang(fabric, 4, whole_node);
	fabric->input.asked_again = true;
	assert_true(choose(fabric, OSP_CHOOSE_TEST_ONLY));
	tear_down(fabric);
}

/* --- memory ---------------------------------------------------------------------------------- */

static bool make_chooser(void *context)
{
	struct fabric *fabric = context;
	struct osp_chooser *chooser = osp_chooser_new(fabric->topology, fabric->place, NULL);

	osp_chooser_free(chooser);
	return chooser != NULL;
}

static bool decide(void *context)
{
	struct fabric *fabric = context;
	const struct osp_choose_calls calls = model_calls(fabric->model);

	osp_choose(fabric->chooser, &fabric->input, &calls, &fabric->choice);
	return fabric->choice.found;
}

static void takes_memory_before_it_decides_alone(void **state)
{
	struct fabric *fabric = preempting_in_s2();

	(void)state;
	assert_true(no_memory_at_each(make_chooser, fabric) >= 6);
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(no_memory_at_each(decide, fabric), 0);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(no_memory_at_each(decide, fabric), 0);
	osp_chooser_free(NULL);
	tear_down(fabric);
}

/* --- answers that still hold ------------------------------------------------------------------ */

#define REQUEST UINT64_C(0x5eed)

/* A gang of four whole nodes that starts in s2 in five minutes, asked about once. */
static struct fabric *asked_once(void)
{
	struct fabric *fabric = set_up(2, 4);

	gang(fabric, 4, whole_node);
	fabric->input.request = REQUEST;
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 600);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 300);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 1);
	return fabric;
}

static void a_plan_that_still_holds_is_not_asked_for(void **state)
{
	struct fabric *fabric = asked_once();

	(void)state;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 0);
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_int_equal(fabric->choice.domain_count, 1);
	assert_int_equal(osp_nodeset_next(fabric->choice.nodes, 0), 4);
	assert_int_equal(osp_nodeset_count(fabric->choice.nodes), 4);
	tear_down(fabric);
}

/* The bound is found each time: what is kept is that the nodes suit the gang at all. */
static void a_plan_moves_with_the_ends_of_jobs(void **state)
{
	struct fabric *fabric = asked_once();

	(void)state;
	fabric->model->jobs[1].end_s = NOW + 400;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 0);
	assert_int_equal(fabric->choice.start_s, NOW + 400);
	fabric->model->jobs[0].end_s = NOW + 200;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 200);
	assert_nodes(fabric, 0, 4);
	tear_down(fabric);
}

static void another_request_is_asked_about(void **state)
{
	struct fabric *fabric = asked_once();

	(void)state;
	fabric->input.request++;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 1);
	fabric->input.request = 0; /* never kept */
	for (int i = 0; i < 2; i++) {
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->model->asked_count, 1);
	}
	tear_down(fabric);
}

/* Thousands of gangs wait, and ask for one of a few things: whether nodes suit one of them at all
 * is asked for once. When one starts beside others is asked for each: nothing says that their
 * simulated starts are the same. */
static void who_asks_for_the_same_has_the_same_answer(void **state)
{
	struct fabric *fabric = asked_once();

	(void)state;
	fabric->input.job++;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 0);
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_int_equal(osp_nodeset_next(fabric->choice.nodes, 0), 4);
	fabric->input.bound_is_start = false;
	for (int i = 0; i < 2; i++) {
		fabric->input.job++;
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->model->asked_count, 1);
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->model->asked_count, 0);
	}
	tear_down(fabric);
}

static void an_answer_holds_for_a_minute_or_two(void **state)
{
	static const struct {
		int64_t later_s;
		bool asked;
	} cases[] = {
		{0, false},
		{OSP_CHOOSE_KEEP_S, false},
		{OSP_CHOOSE_KEEP_S + GANG - 1, false},
		{OSP_CHOOSE_KEEP_S + GANG, true},
		{-1, false},
		{-OSP_CHOOSE_KEEP_S, true}, /* a clock that was put back */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric = asked_once();

		fabric->model->now_s = NOW + cases[i].later_s;
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->model->asked_count, cases[i].asked);
		assert_int_equal(fabric->choice.start_s, NOW + 300);
		tear_down(fabric);
	}
}

static void other_nodes_forget_all_answers(void **state)
{
	struct fabric *fabric = asked_once();

	(void)state;
	osp_chooser_forget_answers(fabric->chooser);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 1);
	tear_down(fabric);
}

static void a_start_at_once_is_asked_for_each_time(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->input.request = REQUEST;
	for (int i = 0; i < 2; i++) {
		assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(fabric->model->asked_count, 1);
		assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
		assert_int_equal(fabric->model->asked_count, 1);
	}
	tear_down(fabric);
}

/* A gang of three GPUs on each of four nodes; on s2 a job that stays beside it makes its start a
 * question. */
static struct fabric *asked_beside_another(void)
{
	struct fabric *fabric = set_up(2, 4);

	gang(fabric, 4, (struct model_size){1, 3, 0});
	fabric->input.request = REQUEST;
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 6000);
	model_add_job(fabric->model, 4, 4, (struct model_size){1, 6, 0}, NOW + 300);
	model_add_job(fabric->model, 5, 1, (struct model_size){1, 1, 0}, NOW + 900);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 1);
	assert_int_equal(fabric->model->asked[0].mode, OSP_ASK_WHEN);
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	return fabric;
}

static void a_simulated_start_holds_until_something_changes_there(void **state)
{
	struct fabric *fabric = asked_beside_another();

	(void)state;
	fabric->model->jobs[0].end_s = NOW + 5000; /* elsewhere */
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 0);
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	fabric->model->jobs[2].end_s = NOW + 1000;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 1);
	assert_nodes(fabric, 4, 4);
	tear_down(fabric);
}

/* Whose end has passed is still there, and the account takes it for gone. */
static void a_start_that_has_come_is_asked_about(void **state)
{
	struct fabric *fabric = asked_beside_another();

	(void)state;
	fabric->model->jobs[1].end_s = NOW + 50;
	for (uint32_t n = 4; n < 8; n++)
		fabric->model->hasty[n] = true;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 50);
	fabric->model->now_s = NOW + 50;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 900);
	tear_down(fabric);
}

/* s2 was to be first and is overdue: by now s1 is. */
static void a_start_that_has_come_keeps_the_gang_from_no_other_domain(void **state)
{
	struct fabric *fabric = asked_beside_another();

	(void)state;
	fabric->model->jobs[0].end_s = NOW + 400;
	fabric->model->jobs[1].end_s = NOW + 50;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 50);
	fabric->model->now_s = NOW + 55;
	fabric->model->overstays_s = 3600;
	for (uint32_t n = 4; n < 8; n++)
		fabric->model->hasty[n] = true;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 400);
	assert_nodes(fabric, 0, 4);
	tear_down(fabric);
}

/* s1 would be first by the bound, and the scheduler knows better. */
static struct fabric *asked_in_vain(int64_t ask_ms)
{
	struct fabric *fabric = set_up(2, 4);

	gang(fabric, 4, whole_node);
	fabric->input.request = REQUEST;
	fabric->model->unfit[1] = true;
	fabric->model->ask_ms = ask_ms;
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 300);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN) || ask_ms);
	return fabric;
}

static void a_no_holds_too(void **state)
{
	struct fabric *fabric = asked_in_vain(0);

	(void)state;
	assert_int_equal(fabric->model->asked_count, 3); /* s1: ever, when; s2: ever */
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 0);
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	/* s1 changes: it is asked again; then s2, so that the scheduler ends where the plan is */
	fabric->model->jobs[0].end_s = NOW + 301;
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->model->asked_count, 2);
	assert_nodes(fabric, 4, 4);
	tear_down(fabric);
}

static void a_no_of_a_scheduler_without_time_is_not_kept(void **state)
{
	struct fabric *fabric = asked_in_vain(OSP_CHOOSE_BUDGET_MS);

	(void)state;
	fabric->model->ask_ms = 0;
	fabric->model->unfit[1] = false;
	osp_chooser_forget(fabric->chooser, GANG); /* that s1 was asked in vain */
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	tear_down(fabric);
}

/* Neither a no nor a yes of a scheduler that did not look everywhere. */
static void an_answer_that_was_cut_short_is_not_kept(void **state)
{
	struct fabric *fabric = set_up(2, 4);

	(void)state;
	gang(fabric, 4, whole_node);
	fabric->input.request = REQUEST;
	fabric->model->unfit[1] = true;
	fabric->model->cuts_short = true;
	model_add_job(fabric->model, 0, 4, whole_node, NOW + 300);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 600);
	fabric->model->unfit[1] = false;
	osp_chooser_forget(fabric->chooser, GANG);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 300);
	assert_true(fabric->model->asked_count > 0);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_true(fabric->model->asked_count > 0);
	tear_down(fabric);
}

/* --- jobs asked about without osp_choose() ------------------------------------------------- */

/* Whom more jobs preempt than are remembered is forgotten, the longest ago first. */
static void whom_too_many_jobs_preempt_is_forgotten(void **state)
{
	static const struct osp_victim victim = {.job = 5, .started_s = 77};
	struct fabric *fabric = set_up(2, 4);
	uint32_t domain = osp_topology_domain_of(fabric->topology, 0, 2);
	char *saved;

	(void)state;
	for (uint32_t job = 1; job <= OSP_CHOOSE_MEMORY_MAX; job++) {
		osp_chooser_preempts(fabric->chooser, job, domain, &victim, 1);
		gang(fabric, 1, whole_node);
		assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	}
	osp_chooser_preempts(fabric->chooser, 1000, OSP_NO_DOMAIN, &victim, 1);
	assert_null(osp_chooser_saved(fabric->chooser, 1));
	saved = osp_chooser_saved(fabric->chooser, 2);
	assert_non_null(strstr(saved, "5@77 "));
	free(saved);
	saved = osp_chooser_saved(fabric->chooser, 1000);
	assert_string_equal(saved, "5@77");
	free(saved);
	tear_down(fabric);
}

/* A gang preempts on nodes of one kind, also where its domain has others that could be emptied. */
static void preempts_on_nodes_of_one_kind(void **state)
{
	static const uint16_t kind[] = {0, 1, 0, 1, 1, 0};
	struct fabric *fabric = set_up(1, 6);

	(void)state;
	gang(fabric, 3, whole_node);
	fabric->input.place.kind = kind;
	fabric->input.place.kind_count = 2;
	fabric->input.may_preempt = true;
	osp_chooser_free(fabric->chooser);
	osp_place_free(fabric->place);
	fabric->place = osp_place_new(fabric->topology, 2);
	fabric->chooser = osp_chooser_new(fabric->topology, fabric->place, NULL);
	for (uint32_t n = 0; n < 6; n++) {
		model_add_job(fabric->model, n, 1, whole_node, NOW + 600);
		fabric->model->jobs[n].preemptable = kind[n] == 1 || n == 0;
	}
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(osp_nodeset_count(fabric->choice.nodes), 3);
	assert_true(osp_nodeset_test(fabric->choice.nodes, 1) &&
		    osp_nodeset_test(fabric->choice.nodes, 3) &&
		    osp_nodeset_test(fabric->choice.nodes, 4));
	tear_down(fabric);
}

/* --- a lower level is preferred --------------------------------------------------------------- */

/* Two spines of two leaves of two nodes each. */
static struct fabric *set_up_leaves(void)
{
	struct fabric *fabric = set_up(2, 4);

	osp_chooser_free(fabric->chooser);
	osp_place_free(fabric->place);
	osp_topology_free(fabric->topology);
	fabric->topology = fabric_regular(2, (uint32_t[]){2, 2}, 2);
	fabric->place = osp_place_new(fabric->topology, 1);
	fabric->chooser = osp_chooser_new(fabric->topology, fabric->place, NULL);
	assert_true(fabric->place && fabric->chooser);
	gang(fabric, 2, whole_node);
	fabric->input.prefer_level = 1;
	return fabric;
}

/* The fuller spine, n0-n3, would come first; only the other one has a whole leaf. */
static void a_preferred_level_that_has_room_is_taken(void **state)
{
	static const enum osp_choose_mode modes[] = {OSP_CHOOSE_RUN_NOW, OSP_CHOOSE_WILL_RUN};

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct fabric *fabric = set_up_leaves();

		model_add_job(fabric->model, 1, 1, whole_node, NOW + 600);
		model_add_job(fabric->model, 3, 1, whole_node, NOW + 600);
		model_add_job(fabric->model, 4, 1, whole_node, NOW + 600);
		assert_true(choose(fabric, modes[i]));
		assert_nodes(fabric, 6, 2);
		tear_down(fabric);
	}
}

/* Where no leaf has room now, the spine that has it is taken at once: nobody waits for a leaf. */
static void a_preferred_level_without_room_is_not_waited_for(void **state)
{
	struct fabric *fabric = set_up_leaves();

	(void)state;
	model_add_job(fabric->model, 1, 1, whole_node, NOW + 1);
	model_add_job(fabric->model, 3, 1, whole_node, NOW + 600);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW);
	assert_true(osp_nodeset_test(fabric->choice.nodes, 0) &&
		    osp_nodeset_test(fabric->choice.nodes, 2));
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_true(osp_nodeset_test(fabric->choice.nodes, 0) &&
		    osp_nodeset_test(fabric->choice.nodes, 2));
	tear_down(fabric);
}

/* A later start is planned at the level that it is held to. */
static void nothing_is_planned_at_a_preferred_level(void **state)
{
	struct fabric *fabric = set_up_leaves();

	(void)state;
	model_add_job(fabric->model, 0, 1, whole_node, NOW + 100);
	model_add_job(fabric->model, 1, 1, whole_node, NOW + 900);
	model_add_job(fabric->model, 2, 1, whole_node, NOW + 200);
	model_add_job(fabric->model, 3, 1, whole_node, NOW + 900);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_true(choose(fabric, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(fabric->choice.start_s, NOW + 200);
	assert_true(osp_nodeset_test(fabric->choice.nodes, 0) &&
		    osp_nodeset_test(fabric->choice.nodes, 2));
	tear_down(fabric);
}

/* A scheduler that says no so slowly that the time of a call is over leaves time for the spines. */
static void what_is_preferred_leaves_time_for_the_rest(void **state)
{
	struct fabric *fabric = set_up_leaves();

	(void)state;
	gang(fabric, 1, whole_node);
	fabric->input.prefer_level = 1;
	fabric->model->ask_ms = OSP_CHOOSE_BUDGET_MS / 2 + 1;
	for (uint32_t n = 0; n < 6; n++)
		fabric->model->unfit[n] = true;
	assert_false(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(fabric->model->asked[fabric->model->asked_count - 1].node_count, 4);
	tear_down(fabric);
}

/* For a leaf nobody has to leave; for a spine somebody does. */
static void nobody_is_preempted_for_what_is_preferred(void **state)
{
	struct fabric *fabric = set_up_leaves();

	(void)state;
	fabric->input.may_preempt = true;
	model_add_job(fabric->model, 1, 1, whole_node, NOW + 600);
	model_add_job(fabric->model, 3, 1, whole_node, NOW + 600);
	model_add_job(fabric->model, 4, 4, whole_node, NOW + 600);
	for (uint32_t i = 0; i < fabric->model->job_count; i++)
		fabric->model->jobs[i].preemptable = true;
	assert_true(choose(fabric, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(asked_preempting(fabric->model), 0);
	assert_int_equal(fabric->choice.victim_count, 0);
	tear_down(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_exact_nodes_where_few_are_left),
		cmocka_unit_test(takes_the_lightest_of_many_weights),
		cmocka_unit_test(asks_nothing_where_nothing_fits),
		cmocka_unit_test(asks_the_next_domain_after_a_no),
		cmocka_unit_test(asks_no_domain_with_too_few_possible_nodes),
		cmocka_unit_test(whole_nodes_start_at_the_bound_without_simulation),
		cmocka_unit_test(parts_of_nodes_start_at_the_bound_where_the_nodes_are_empty_then),
		cmocka_unit_test(who_stays_beside_the_gang_makes_it_a_question),
		cmocka_unit_test(a_later_no_leaves_the_plan_of_the_domain_before),
		cmocka_unit_test(the_whole_domain_is_asked_where_exact_nodes_are_late),
		cmocka_unit_test(nodes_that_settle_are_not_free_now),
		cmocka_unit_test(nodes_that_hang_are_waited_for_last),
		cmocka_unit_test(a_start_after_the_slot_is_of_no_use),
		cmocka_unit_test(preempts_in_the_domain_with_most_nodes_free),
		cmocka_unit_test(a_job_that_stays_keeps_no_node_from_being_shared),
		cmocka_unit_test(as_long_as_victims_leave_nobody_else_has_to),
		cmocka_unit_test(a_node_that_is_not_yet_left_is_waited_for),
		cmocka_unit_test(victims_that_are_gone_are_forgotten),
		cmocka_unit_test(a_later_slot_is_asked_with_candidates),
		cmocka_unit_test(a_later_start_is_planned_over_those_that_may_be_preempted),
		cmocka_unit_test(one_start_in_the_future_is_always_asked_for),
		cmocka_unit_test(more_domains_than_one_call_asks_are_asked_in_turn),
		cmocka_unit_test(after_all_were_asked_in_vain_the_first_is_next),
		cmocka_unit_test(a_plan_that_was_found_once_is_not_lost),
		cmocka_unit_test(a_plan_keeps_no_domain_from_being_asked_for_a_start_now),
		cmocka_unit_test(the_plan_of_an_earlier_call_stays_the_best),
		cmocka_unit_test(few_are_asked_for_an_earlier_start),
		cmocka_unit_test(the_earliest_is_found_in_some_calls),
		cmocka_unit_test(of_many_jobs_the_oldest_is_forgotten),
		cmocka_unit_test(each_partition_has_its_own_turn),
		cmocka_unit_test(each_partition_has_its_own_plan),
		cmocka_unit_test(one_domain_is_emptied_for_all_partitions),
		cmocka_unit_test(a_plan_in_a_domain_that_is_gone_is_forgotten),
		cmocka_unit_test(a_preemption_goes_on_where_its_domain_has_another_number),
		cmocka_unit_test(a_preemption_goes_on_in_another_process),
		cmocka_unit_test(a_saved_preemption_may_have_no_domain),
		cmocka_unit_test(what_is_no_saved_preemption_changes_nothing),
		cmocka_unit_test(a_preemption_whose_domain_is_gone_empties_no_other),
		cmocka_unit_test(an_answer_about_nodes_outlives_a_fabric),
		cmocka_unit_test(what_settles_may_be_unknown),
		cmocka_unit_test(takes_memory_before_it_decides_alone),
		cmocka_unit_test(test_only_is_never_stricter_than_the_scheduler),
		cmocka_unit_test(test_only_says_no_where_it_is_asked_again),
		cmocka_unit_test(a_plan_that_still_holds_is_not_asked_for),
		cmocka_unit_test(a_plan_moves_with_the_ends_of_jobs),
		cmocka_unit_test(another_request_is_asked_about),
		cmocka_unit_test(who_asks_for_the_same_has_the_same_answer),
		cmocka_unit_test(an_answer_holds_for_a_minute_or_two),
		cmocka_unit_test(other_nodes_forget_all_answers),
		cmocka_unit_test(a_start_at_once_is_asked_for_each_time),
		cmocka_unit_test(a_simulated_start_holds_until_something_changes_there),
		cmocka_unit_test(a_start_that_has_come_is_asked_about),
		cmocka_unit_test(a_start_that_has_come_keeps_the_gang_from_no_other_domain),
		cmocka_unit_test(a_no_holds_too),
		cmocka_unit_test(a_no_of_a_scheduler_without_time_is_not_kept),
		cmocka_unit_test(an_answer_that_was_cut_short_is_not_kept),
		cmocka_unit_test(whom_too_many_jobs_preempt_is_forgotten),
		cmocka_unit_test(preempts_on_nodes_of_one_kind),
		cmocka_unit_test(a_preferred_level_that_has_room_is_taken),
		cmocka_unit_test(a_preferred_level_without_room_is_not_waited_for),
		cmocka_unit_test(nothing_is_planned_at_a_preferred_level),
		cmocka_unit_test(what_is_preferred_leaves_time_for_the_rest),
		cmocka_unit_test(nobody_is_preempted_for_what_is_preferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
