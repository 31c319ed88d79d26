/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_choose_parts.c - the chooser for gangs in segments and in several domains, before a small
 * scheduler
 *
 * Cases first; then random worlds against every moment at which a job ends: where
 * lib/place/segments.h (which tests/unit/test_segments holds against exhaustive search) fits the
 * gang on the nodes that the scheduler itself would give, it must start, at once or at the first
 * such moment, and on nodes that keep the rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/choose/choose.h"
#include "tests/fabric.h"
#include "tests/model.h"

#define NOW	   INT64_C(1000000)
#define CASES	   4000
#define RESOLUTION 100
#define LEAF	   1
#define SPINE	   2
#define NODES_MAX  60 /* of a fabric that comes in force later */
#define LEAVES_MAX 8

static const struct model_size whole_node = {8, 8, 64};

/* Spines of leaves of nodes, all whole. */
struct world {
	struct model model;
	struct osp_topology *topology;
	struct osp_place *place;
	struct osp_chooser *chooser;
	struct osp_cut *cut;
	struct osp_nodeset *usable, *free_nodes, *settling, *scratch;
	struct osp_parts parts;
	struct osp_choose_input input;
	struct osp_choice choice;
};

static struct world *set_up(uint32_t spines, uint32_t leaves, uint32_t leaf_nodes)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t nodes = spines * leaves * leaf_nodes;

	assert_non_null(world);
	world->topology = fabric_regular(spines, (uint32_t[]){leaves, leaf_nodes}, 2);
	world->place = osp_place_new(world->topology, 4);
	world->cut = osp_cut_new(world->topology);
	world->chooser = osp_chooser_new(world->topology, world->place, world->cut);
	world->usable = osp_nodeset_new(nodes);
	world->free_nodes = osp_nodeset_new(nodes);
	world->settling = osp_nodeset_new(nodes);
	world->scratch = osp_nodeset_new(nodes);
	assert_true(world->chooser && world->cut && world->usable && world->free_nodes &&
		    world->settling && world->scratch);
	osp_nodeset_fill(world->usable);
	world->model.now_s = NOW;
	world->model.node_count = nodes;
	for (uint32_t n = 0; n < nodes; n++)
		world->model.node[n] = whole_node;
	return world;
}

static void tear_down(struct world *world)
{
	osp_chooser_free(world->chooser);
	osp_place_free(world->place);
	osp_cut_free(world->cut);
	osp_topology_free(world->topology);
	free(world->usable);
	free(world->free_nodes);
	free(world->settling);
	free(world->scratch);
	free(world);
}

static void gang(struct world *world, uint32_t nodes, uint32_t domains_max, uint32_t segment)
{
	struct model *model = &world->model;

	model->need = whole_node;
	model->whole = true;
	model->need_nodes = nodes;
	model->want_nodes = nodes;
	world->parts = (struct osp_parts){.domains_max = domains_max};
	if (segment)
		world->parts.segments =
			(struct osp_segments){.count = 1, .segment = {{LEAF, segment}}};
	world->input = (struct osp_choose_input){
		.job = 7,
		.exact_size = true,
		.bound_is_start = true,
		.parts = &world->parts,
		.place = {.level = SPINE,
			  .need_nodes = nodes,
			  .want_nodes = nodes,
			  .free_only = true,
			  .usable = world->usable,
			  .free = world->free_nodes},
	};
}

static bool choose(struct world *world, enum osp_choose_mode mode)
{
	struct model *model = &world->model;
	struct osp_choose_calls calls = model_calls(model);

	osp_nodeset_clear(world->free_nodes);
	osp_nodeset_clear(world->settling);
	for (uint32_t n = 0; n < model->node_count; n++) {
		if (model->settling[n])
			osp_nodeset_add(world->settling, n);
		else if (model->unfit[n] || model_node_fits(model, n, model->now_s, false))
			osp_nodeset_add(world->free_nodes, n);
	}
	world->input.mode = mode;
	world->input.now_s = model->now_s;
	world->input.settling = world->settling;
	model->asked_count = 0;
	model->elapsed_ms = 0;
	osp_choose(world->chooser, &world->input, &calls, &world->choice);
	if (world->choice.found)
		assert_int_equal(world->choice.processors, model_processors(world->choice.nodes));
	return world->choice.found;
}

/* Whether the gang fits on these nodes. */
static bool fits_on(struct world *world, const struct osp_nodeset *nodes)
{
	struct osp_cut_answer answer;

	osp_parts_judge(world->cut, &world->parts, &world->input.place, nodes, world->scratch,
			&answer);
	return answer.fits;
}

/* The same nodes under other domains; what was made for the old ones is freed. */
static void change_fabric(struct world *world, struct osp_topology *topology)
{
	struct osp_place *place = osp_place_new(topology, 4);
	struct osp_cut *cut = osp_cut_new(topology);

	assert_true(place && cut);
	osp_chooser_change_fabric(world->chooser, topology, place, cut);
	osp_place_free(world->place);
	osp_cut_free(world->cut);
	osp_topology_free(world->topology);
	world->place = place;
	world->cut = cut;
	world->topology = topology;
}

/* Of the world's nodes, each in the leaf that `leaf_of` says; `spine_leaves` of these make a
 * spine. */
static struct osp_topology *fabric_of(const struct world *world, const uint32_t *leaf_of,
				      uint32_t spine_leaves)
{
	static const char *const names[LEAVES_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct fabric_node nodes[NODES_MAX] = {0};
	uint32_t count = world->model.node_count;

	assert_true(count <= NODES_MAX);
	for (uint32_t n = 0; n < count; n++) {
		nodes[n].name = osp_topology_node_name(world->topology, n);
		nodes[n].domains[0] = names[leaf_of[n]];
		nodes[n].domains[1] = names[leaf_of[n] / spine_leaves];
	}
	return fabric_from(nodes, count, 2);
}

static void assert_kept(struct world *world)
{
	assert_int_equal(osp_nodeset_count(world->choice.nodes), world->input.place.need_nodes);
	assert_true(fits_on(world, world->choice.nodes));
}

/* --- cases ----------------------------------------------------------------------------------- */

/* Two spines of two leaves of four nodes; nodes 0-7 and 8-15. */

static void a_gang_larger_than_a_spine_takes_two(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 12, 1, 0);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->model.asked_count, 0);
	gang(world, 12, 2, 0);
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->model.asked_count, 1);
	assert_int_equal(world->model.asked[0].node_count, 12);
	assert_kept(world);
	tear_down(world);
}

static void segments_that_lack_a_node_wait_though_enough_are_free(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 12, 2, 4);
	model_add_job(&world->model, 3, 1, whole_node, NOW + 600);
	model_add_job(&world->model, 15, 1, whole_node, NOW + 300);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->model.asked_count, 0);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW + 300);
	assert_false(osp_nodeset_test(world->choice.nodes, 3));
	assert_kept(world);
	tear_down(world);
}

static void what_is_wrong_with_one_node_is_found_in_the_same_call(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 4, 1, 2);
	for (uint32_t bad = 0; bad < 16; bad++) {
		memset(world->model.unfit, 0, sizeof(world->model.unfit));
		world->model.unfit[bad] = true;
		assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
		assert_false(osp_nodeset_test(world->choice.nodes, bad));
		assert_kept(world);
	}
	tear_down(world);
}

/* No part can be left out: only single nodes. */
static void one_bad_node_in_the_only_leaf_is_left_out(void **state)
{
	struct world *world = set_up(1, 1, 64);

	(void)state;
	gang(world, 60, 1, 60);
	for (uint32_t bad = 0; bad < 64; bad += 7) {
		uint32_t calls = 0;

		memset(world->model.unfit, 0, sizeof(world->model.unfit));
		world->model.unfit[bad] = true;
		while (!choose(world, OSP_CHOOSE_RUN_NOW))
			assert_true(calls++ < 3);
		assert_kept(world);
		osp_chooser_forget(world->chooser, 7);
	}
	tear_down(world);
}

/* A node in each leaf but one: as a job of others that leaves too few processors, or GPUs of
 * another type. */
static void bad_nodes_in_all_leaves_but_one_are_left_out(void **state)
{
	struct world *world = set_up(2, 3, 4);

	(void)state;
	gang(world, 4, 1, 4);
	for (uint32_t good = 0; good < 6; good++) {
		for (uint32_t leaf = 0; leaf < 6; leaf++)
			world->model.unfit[4 * leaf + leaf % 4] = leaf != good;
		assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
		assert_true(osp_nodeset_test(world->choice.nodes, 4 * good));
		assert_kept(world);
		assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(world->choice.start_s, NOW);
		assert_kept(world);
	}
	tear_down(world);
}

/* Every other node, of a gang that takes all the good ones. */
static void half_of_the_nodes_are_bad(void **state)
{
	struct world *world = set_up(2, 2, 8);

	(void)state;
	gang(world, 16, 2, 4);
	for (uint32_t n = 0; n < 32; n += 2)
		world->model.unfit[n] = true;
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_kept(world);
	model_add_job(&world->model, 1, 1, whole_node, NOW + 600);
	model_add_job(&world->model, 9, 1, whole_node, NOW + 300);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW + 600);
	assert_kept(world);
	tear_down(world);
}

/* The kind that is free first suits nothing: a plan is made with the other one. */
static void a_kind_that_never_suits_hides_no_other(void **state)
{
	struct world *world = set_up(2, 2, 4);
	uint16_t kinds[16];

	(void)state;
	gang(world, 4, 1, 4);
	for (uint32_t n = 0; n < 16; n++) {
		kinds[n] = n >= 8;
		world->model.unfit[n] = n < 8;
	}
	world->input.place.kind = kinds;
	world->input.place.kind_count = 2;
	model_add_job(&world->model, 8, 8, whole_node, NOW + 600);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW + 600);
	assert_kept(world);
	tear_down(world);
}

/* 300 kinds, more than get a turn: the plan is with the last one, which is free before the others,
 * and the same where only that one has nodes enough. */
static void the_last_of_many_kinds_is_free_first(void **state)
{
	struct world *world = set_up(1, 300, 2);
	uint16_t kinds[600];

	(void)state;
	gang(world, 2, 2, 0);
	for (uint32_t n = 0; n < 600; n++)
		kinds[n] = (uint16_t)(n / 2);
	world->input.place.kind = kinds;
	world->input.place.kind_count = 300;
	model_add_job(&world->model, 0, 598, whole_node, NOW + 1200);
	model_add_job(&world->model, 598, 2, whole_node, NOW + 600);
	for (int i = 0; i < 2; i++) {
		assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
		assert_int_equal(world->choice.start_s, NOW + 600);
		assert_true(osp_nodeset_test(world->choice.nodes, 598));
		for (uint32_t n = 0; n < 598; n += 2)
			osp_nodeset_remove(world->usable, n);
	}
	tear_down(world);
}

/* Kinds of one leaf each; only the last suits. A call asks no kind after its time. */
static void slow_answers_about_kinds_end_the_call_and_the_next_goes_on(void **state)
{
	struct world *world = set_up(1, 8, 2);
	uint16_t kinds[16];
	uint32_t calls = 0, before = 0;

	(void)state;
	gang(world, 2, 1, 2);
	for (uint32_t n = 0; n < 16; n++) {
		kinds[n] = (uint16_t)(n / 2);
		world->model.unfit[n] = n < 14;
	}
	world->input.place.kind = kinds;
	world->input.place.kind_count = 8;
	world->model.ask_ms = OSP_CHOOSE_BUDGET_MS / 2 + 1;
	while (!choose(world, OSP_CHOOSE_RUN_NOW)) {
		assert_int_equal(world->model.asked_count, 2);
		assert_in_range(world->model.asked[0].first_node, before + (calls ? 1 : 0), 14);
		before = world->model.asked[0].first_node;
		assert_true(calls++ < 8);
	}
	assert_true(osp_nodeset_test(world->choice.nodes, 14));
	tear_down(world);
}

/*
 * Of kind 0 a later choice suits, the one without the leaf of node 28, and a call has time for two
 * questions. The other kind never suits.
 */
static void reach_the_fourth_choice(uint16_t kind_count)
{
	struct world *world = set_up(1, 12, 4);
	uint16_t kinds[48];
	uint32_t calls = 0;

	gang(world, 16, 1, 4);
	for (uint32_t n = 0; n < 48; n++) {
		kinds[n] = n >= 32;
		world->model.unfit[n] = n >= 32 || n == 28;
		if (n >= 32 && kind_count == 1)
			osp_nodeset_remove(world->usable, n);
	}
	world->input.place.kind = kinds;
	world->input.place.kind_count = 2;
	world->model.ask_ms = OSP_CHOOSE_BUDGET_MS / 2 + 1;
	while (!choose(world, OSP_CHOOSE_RUN_NOW))
		assert_true(calls++ < 40);
	assert_false(osp_nodeset_test(world->choice.nodes, 28));
	tear_down(world);
}

/* The kind that is free suits nothing, as GPUs of another type; the other one is free later. */
static void a_slow_kind_that_never_suits_hides_no_plan(void **state)
{
	(void)state;
	for (int64_t ask_ms = 10; ask_ms < 3 * OSP_CHOOSE_BUDGET_MS; ask_ms = ask_ms * 3 / 2) {
		struct world *world = set_up(2, 2, 8);
		uint16_t kinds[32];
		uint32_t calls = 0;

		gang(world, 8, 1, 2);
		for (uint32_t n = 0; n < 32; n++) {
			kinds[n] = n >= 16;
			world->model.unfit[n] = n < 16;
		}
		world->input.place.kind = kinds;
		world->input.place.kind_count = 2;
		world->model.ask_ms = ask_ms;
		model_add_job(&world->model, 16, 16, whole_node, NOW + 100000);
		while (!choose(world, OSP_CHOOSE_WILL_RUN)) {
			assert_true(calls++ < 2);
			world->model.now_s += 30;
		}
		/* and each call has it */
		for (calls = 0; calls < 10; calls++) {
			world->model.now_s += 30;
			assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
		}
		tear_down(world);
	}
}

static void slow_answers_about_kinds_keep_no_choice_from_its_turn(void **state)
{
	(void)state;
	reach_the_fourth_choice(1);
	reach_the_fourth_choice(2);
}

static void preempts_no_more_than_it_must_and_waits_for_who_leaves(void **state)
{
	struct world *world = set_up(2, 2, 4);
	struct model_job *job;

	(void)state;
	gang(world, 8, 2, 4);
	world->input.may_preempt = true;
	model_add_job(&world->model, 0, 1, whole_node, NOW + 6000);
	job = model_add_job(&world->model, 4, 1, whole_node, NOW + 6000);
	job->preemptable = true;
	job = model_add_job(&world->model, 8, 8, whole_node, NOW + 6000);
	world->model.jobs[2].preemptable = false;
	assert_false(job->preemptable);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	job->preemptable = true;
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_kept(world);
	assert_true(world->choice.victim_count >= 1);
	for (uint32_t i = 0; i < world->model.job_count; i++)
		world->model.jobs[i].leaving = world->model.jobs[i].preemptable;
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->model.asked_count, 0);
	tear_down(world);
}

/* A plan counts with the jobs that it may preempt as gone; while some leave for it, with the others
 * as staying. */
static void is_planned_behind_those_that_stay(void **state)
{
	struct osp_victim leaves = {.job = 0};
	struct world *world = set_up(1, 2, 4);
	struct model_job *job;

	(void)state;
	gang(world, 8, 1, 4);
	job = model_add_job(&world->model, 0, 2, whole_node, NOW + 9000);
	leaves = (struct osp_victim){.job = job->id, .started_s = job->started_s};
	job = model_add_job(&world->model, 2, 2, whole_node, NOW + 6000);
	model_add_job(&world->model, 4, 1, whole_node, NOW + 3000);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW + 9000);
	world->model.jobs[0].preemptable = world->model.jobs[1].preemptable = true;
	world->input.may_preempt = true;
	osp_chooser_forget(world->chooser, 7);
	osp_chooser_forget_answers(world->chooser);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW + 3000);
	osp_chooser_forget_answers(world->chooser);
	osp_chooser_preempts(world->chooser, 7, OSP_NO_DOMAIN, &leaves, 1);
	world->model.jobs[0].leaving = true;
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_true(world->choice.start_s >= NOW + 6000);
	tear_down(world);
}

static bool choose_in_slot(struct world *world, int64_t start_s, int64_t end_s)
{
	world->model.slot_start_s = world->input.slot_start_s = start_s;
	world->model.slot_end_s = world->input.slot_end_s = end_s;
	return choose(world, OSP_CHOOSE_WILL_RUN);
}

/* Backfill's slots: without preempting where that starts it at the slot's start, else by
 * preempting. */
static void a_slot_that_begins_later_is_asked_about(void **state)
{
	struct world *world = set_up(2, 2, 4);
	struct model_job *job;

	(void)state;
	gang(world, 8, 2, 4);
	job = model_add_job(&world->model, 0, 16, whole_node, NOW + 300);
	assert_true(choose_in_slot(world, NOW + 600, NOW + 900));
	assert_int_equal(world->choice.start_s, NOW + 600);
	assert_kept(world);
	job->end_s = NOW + 700;
	assert_true(choose_in_slot(world, NOW + 600, NOW + 900));
	assert_int_equal(world->choice.start_s, NOW + 700);
	job->end_s = NOW + 5000;
	assert_false(choose_in_slot(world, NOW + 600, NOW + 900));
	assert_int_equal(world->model.asked_count, 0);
	world->input.may_preempt = true;
	assert_false(choose_in_slot(world, NOW + 600, NOW + 900));
	job->preemptable = true;
	assert_true(choose_in_slot(world, NOW + 600, NOW + 900));
	assert_int_equal(world->choice.start_s, NOW + 600);
	assert_kept(world);
	world->input.first_only = true;
	assert_true(choose_in_slot(world, NOW + 600, NOW + 900));
	job->preemptable = false;
	assert_false(choose_in_slot(world, NOW + 600, NOW + 900));
	tear_down(world);
}

static void only_the_first_moment_is_of_use(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 8, 2, 4);
	world->input.first_only = true;
	model_add_job(&world->model, 0, 16, whole_node, NOW + 300);
	assert_false(choose(world, OSP_CHOOSE_WILL_RUN));
	world->model.job_count = 0;
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW);
	tear_down(world);
}

/* Over jobs that are suspended for it, or where what is free is not certain. */
static void nodes_that_may_be_free_come_after_those_that_are(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 8, 1, 4);
	world->input.place.free_only = false;
	model_add_job(&world->model, 0, 1, whole_node, NOW + 300);
	model_add_job(&world->model, 8, 1, whole_node, NOW + 300);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_true(world->model.asked_count > 0);
	world->input.possible = world->free_nodes;
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->model.asked_count, 0);
	world->input.possible = NULL;
	world->input.place.free = NULL;
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	world->model.job_count = 0;
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_kept(world);
	tear_down(world);
}

/* Every choice was answered with a no: the next calls begin anew. */
static void choices_come_to_an_end(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 4, 1, 2);
	memset(world->model.unfit, 1, sizeof(world->model.unfit));
	for (uint32_t calls = 0; calls < 3; calls++) {
		assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
		assert_true(world->model.asked_count > 1);
	}
	assert_false(choose(world, OSP_CHOOSE_TEST_ONLY));
	assert_int_equal(world->model.asked_count, 2);
	tear_down(world);
}

static void kinds_do_not_mix(void **state)
{
	struct world *world = set_up(2, 2, 4);
	uint16_t kinds[16];

	(void)state;
	for (uint32_t n = 0; n < 16; n++)
		kinds[n] = n % 4 == 0;
	gang(world, 12, 2, 0);
	world->input.place.kind = kinds;
	world->input.place.kind_count = 2;
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	for (uint32_t n = 0; n < 16; n++)
		assert_int_equal(osp_nodeset_test(world->choice.nodes, n), n % 4 != 0);
	world->input.place.need_nodes = world->input.place.want_nodes = 13;
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	tear_down(world);
}

static void required_nodes_are_all_or_none(void **state)
{
	struct world *world = set_up(2, 2, 4);
	struct osp_nodeset *required = osp_nodeset_new(16);

	(void)state;
	gang(world, 4, 1, 2);
	world->input.place.required = required;
	for (uint32_t n = 8; n < 12; n++)
		osp_nodeset_add(required, n);
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_true(osp_nodeset_equal(world->choice.nodes, required));
	osp_nodeset_remove(required, 11);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->model.asked_count, 0);
	assert_true(choose(world, OSP_CHOOSE_TEST_ONLY));
	osp_nodeset_add(required, 12);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	free(required);
	tear_down(world);
}

/* Slurm would hold a job for ever that it is told is impossible. */
static void what_never_fits_is_still_not_impossible(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 12, 1, 0);
	assert_true(choose(world, OSP_CHOOSE_TEST_ONLY));
	assert_false(choose(world, OSP_CHOOSE_WILL_RUN));
	world->input.exact_size = false;
	gang(world, 4, 1, 2);
	world->input.place.want_nodes = 6;
	assert_true(choose(world, OSP_CHOOSE_TEST_ONLY));
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	tear_down(world);
}

/* --- an answer later than the bound ----------------------------------------------------------- */

/* The scheduler alone knows that these nodes wait for a job: they seem free now. */
static void seem_free(struct world *world, uint32_t first, uint32_t count, int64_t end_s)
{
	model_add_job(&world->model, first, count, whole_node, end_s);
	memset(&world->model.hasty[first], 1, count);
}

static void assert_plan(struct world *world, int64_t start_s, uint32_t first)
{
	const struct model_asked *last = &world->model.asked[world->model.asked_count - 1];

	assert_true(world->choice.found);
	assert_int_equal(world->choice.start_s, start_s);
	assert_kept(world);
	assert_int_equal(osp_nodeset_next(world->choice.nodes, 0), first);
	assert_true(last->yes);
	assert_int_equal(last->first_node, first);
	assert_int_equal(last->node_count, osp_nodeset_count(world->choice.nodes));
}

/* The first choice, its leaf, starts last: once with the free nodes of two others, once with those
 * of one, once with some of its own. */
static void a_choice_that_starts_before_the_first_one_is_found(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 4, 2, 2);
	seem_free(world, 0, 4, NOW + 1200);
	model_add_job(&world->model, 4, 1, whole_node, NOW + 300);
	model_add_job(&world->model, 5, 3, whole_node, NOW + 6000);
	model_add_job(&world->model, 8, 2, whole_node, NOW + 200);
	model_add_job(&world->model, 10, 2, whole_node, NOW + 6000);
	model_add_job(&world->model, 12, 4, whole_node, NOW + 600);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 600, 8);
	tear_down(world);

	world = set_up(2, 2, 4);
	gang(world, 4, 1, 4);
	seem_free(world, 0, 3, NOW + 1200);
	model_add_job(&world->model, 4, 4, whole_node, NOW + 300);
	model_add_job(&world->model, 8, 8, whole_node, NOW + 900);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 300, 4);
	tear_down(world);

	world = set_up(1, 1, 8);
	gang(world, 4, 1, 2);
	seem_free(world, 2, 1, NOW + 1200);
	model_add_job(&world->model, 4, 4, whole_node, NOW + 300);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 300, 0);
	assert_false(osp_nodeset_test(world->choice.nodes, 2));
	tear_down(world);
}

/* Defect 1 again: whatever was asked in vain after it, the plan is the first choice's nodes, and
 * the scheduler was asked about them last. */
static void the_first_choice_stays_where_no_other_is_earlier(void **state)
{
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 4, 1, 4);
	seem_free(world, 0, 4, NOW + 300);
	for (uint32_t n = 4; n < 16; n += 4) {
		model_add_job(&world->model, n, 1, whole_node, NOW + 6000);
		model_add_job(&world->model, n + 1, 3, whole_node, NOW + 200);
	}
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 300, 0);
	assert_true(world->model.asked_count > 2);
	memset(&world->model.unfit[4], 1, 12);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 300, 0);
	tear_down(world);
}

/* So many questions for an earlier start and no more, and none when the time is over. */
static void earlier_choices_are_sought_within_bounds(void **state)
{
	struct world *world = set_up(4, 4, 2);

	(void)state;
	gang(world, 2, 1, 2);
	seem_free(world, 0, 2, NOW + 5000);
	for (uint32_t n = 2; n < 32; n += 2) {
		model_add_job(&world->model, n, 1, whole_node, NOW + 100 + 10 * n);
		model_add_job(&world->model, n + 1, 1, whole_node, NOW + 4000 - 10 * n);
	}
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 5000, 0);
	assert_int_equal(world->model.asked_count, 3 + OSP_CHOOSE_EARLIER_MAX);
	world->model.ask_ms = OSP_CHOOSE_BUDGET_MS + 1;
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 5000, 0);
	assert_int_equal(world->model.asked_count, 2);
	tear_down(world);
}

/* The kind that seems to be free first is not. */
static void a_kind_that_starts_before_another_is_asked_about(void **state)
{
	struct world *world = set_up(2, 2, 4);
	uint16_t kinds[16];

	(void)state;
	gang(world, 4, 1, 4);
	for (uint32_t n = 0; n < 16; n++)
		kinds[n] = n >= 8;
	world->input.place.kind = kinds;
	world->input.place.kind_count = 2;
	seem_free(world, 0, 4, NOW + 1200);
	model_add_job(&world->model, 8, 4, whole_node, NOW + 600);
	model_add_job(&world->model, 4, 4, whole_node, NOW + 6000);
	model_add_job(&world->model, 12, 4, whole_node, NOW + 6000);
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 600, 8);
	world->model.jobs[1].end_s = NOW + 1800;
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_plan(world, NOW + 1200, 0);
	tear_down(world);
}

/* --- another fabric -------------------------------------------------------------------------- */

static void one_that_waits_starts_by_the_other_fabric(void **state)
{
	static const uint32_t busy[] = {3, 7, 11};
	static const uint32_t busy_in_one[] = {0, 1, 1, 0, 1, 1, 2, 0, 2, 2, 2, 0, 3, 3, 3, 3};
	struct world *world = set_up(2, 2, 4);

	(void)state;
	gang(world, 8, 2, 4);
	for (uint32_t i = 0; i < 3; i++)
		model_add_job(&world->model, busy[i], 1, whole_node, NOW + 900 - 300 * i);
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW + 300);
	change_fabric(world, fabric_of(world, busy_in_one, 2));
	assert_true(choose(world, OSP_CHOOSE_WILL_RUN));
	assert_int_equal(world->choice.start_s, NOW);
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_kept(world);
	tear_down(world);
}

/* In each leaf of before and in each of now is a job that may be preempted. As long as two of them
 * leave nobody else has to; then it is placed by what is in force. */
static void a_preemption_outlives_a_fabric(void **state)
{
	static const uint32_t shifted[] = {0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
	struct world *world = set_up(2, 2, 4);
	struct model *model = &world->model;

	(void)state;
	gang(world, 8, 2, 4);
	world->input.may_preempt = true;
	for (uint32_t n = 0; n < 16; n += 4)
		model_add_job(model, n, 1, whole_node, NOW + 6000)->preemptable = true;
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->choice.victim_count, 2);
	for (uint32_t v = 0; v < 2; v++)
		model->jobs[world->choice.victims[v].job - model->jobs[0].id].leaving = true;
	change_fabric(world, fabric_of(world, shifted, 2));
	assert_false(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(model->asked_count, 0);
	for (uint32_t i = 0; i < model->job_count; i++) {
		if (model->jobs[i].leaving)
			model->jobs[i].first_node = model->jobs[i].end_node;
	}
	assert_true(choose(world, OSP_CHOOSE_RUN_NOW));
	assert_int_equal(world->choice.victim_count, 0);
	assert_kept(world);
	tear_down(world);
}

/* --- random worlds --------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

static struct {
	uint32_t now, later, never, cut, hasty, unfinished;
} seen;

/* The nodes that are free at `at_s`. */
static void free_at(const struct world *world, int64_t at_s, struct osp_nodeset *nodes)
{
	osp_nodeset_clear(nodes);
	for (uint32_t n = 0; n < world->model.node_count; n++) {
		if (osp_nodeset_test(world->usable, n) &&
		    !(world->model.settling[n] && at_s <= NOW) &&
		    model_node_fits(&world->model, n, at_s, false))
			osp_nodeset_add(nodes, n);
	}
}

/* The first moment at which it fits; OSP_PLACE_NEVER_S: none. */
static int64_t first_fit(struct world *world)
{
	struct osp_nodeset *nodes = osp_nodeset_new(world->model.node_count);
	int64_t at_s = OSP_PLACE_NEVER_S;

	for (int64_t moment_s = NOW; moment_s <= NOW + 6 * RESOLUTION && at_s == OSP_PLACE_NEVER_S;
	     moment_s += moment_s == NOW       ? 1
			 : moment_s == NOW + 1 ? RESOLUTION - 1
					       : RESOLUTION) {
		free_at(world, moment_s, nodes);
		if (fits_on(world, nodes))
			at_s = moment_s;
	}
	free(nodes);
	return at_s;
}

static struct world *random_world(void)
{
	struct world *world = set_up(1 + random_below(3), 1 + random_below(4), 1 + random_below(5));
	uint32_t nodes = world->model.node_count, jobs = random_below(nodes + 1);
	uint32_t need = 1 + random_below(nodes);
	uint32_t one_unfit_of = random_below(3) ? 0 : 2 + random_below(6);
	uint32_t one_hasty_of = random_below(3) ? 0 : 1 + random_below(4);

	gang(world, need, 1 + random_below(3), random_below(3) ? 1 + random_below(4) : 0);
	world->input.bound_is_start = random_below(2);
	world->input.request = random_below(2);
	for (uint32_t i = 0; i < jobs; i++) {
		uint32_t n = random_below(nodes);

		if (model_node_fits(&world->model, n, NOW, false))
			model_add_job(&world->model, n, 1, whole_node,
				      NOW + RESOLUTION * (1 + random_below(5)));
	}
	for (uint32_t n = 0; n < nodes; n++) {
		world->model.settling[n] =
			!random_below(8) && model_node_fits(&world->model, n, NOW, false);
		if (!random_below(12))
			osp_nodeset_remove(world->usable, n);
		world->model.unfit[n] = one_unfit_of && !random_below(one_unfit_of);
		world->model.hasty[n] = one_hasty_of && !random_below(one_hasty_of);
	}
	return world;
}

/* The first of all: but where more questions would have been needed for that than there may be. */
static void check_start(const struct world *world, int64_t first_s)
{
	const struct model *model = &world->model;
	uint32_t seem_free = 0, simulated = 0;

	for (uint32_t n = 0; n < model->node_count; n++)
		seem_free += model->hasty[n] && !model_node_fits(model, n, NOW, false);
	for (uint32_t i = 0; i < model->asked_count; i++)
		simulated += model->asked[i].mode == OSP_ASK_WHEN;
	seen.hasty += seem_free && first_s > NOW;
	if (seem_free && world->choice.start_s > first_s && simulated >= OSP_CHOOSE_EARLIER_MAX)
		seen.unfinished++;
	else
		assert_int_equal(world->choice.start_s, first_s);
}

static void check_world(struct world *world)
{
	struct osp_nodeset *now = osp_nodeset_new(world->model.node_count);
	int64_t first_s = first_fit(world);
	bool fits_now;

	free_at(world, NOW, now);
	fits_now = fits_on(world, now);
	assert_int_equal(choose(world, OSP_CHOOSE_RUN_NOW), fits_now);
	if (fits_now)
		assert_kept(world);
	assert_int_equal(choose(world, OSP_CHOOSE_WILL_RUN), first_s != OSP_PLACE_NEVER_S);
	if (world->choice.found) {
		check_start(world, first_s);
		assert_kept(world);
	}
	seen.now += fits_now;
	seen.later += !fits_now && world->choice.found;
	seen.never += !world->choice.found;
	seen.cut += world->parts.segments.count != 0;
	free(now);
}

/* The answers of before are about nodes and still hold. */
static void change_to_random_fabric(struct world *world)
{
	uint32_t leaf_of[NODES_MAX], leaves = 1 + random_below(LEAVES_MAX);

	for (uint32_t n = 0; n < NODES_MAX; n++)
		leaf_of[n] = random_below(leaves);
	change_fabric(world, fabric_of(world, leaf_of, 1 + random_below(3)));
}

static void starts_when_it_first_fits(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= CASES; seed++) {
		struct world *world;

		random_state = seed;
		world = random_world();
		check_world(world);
		change_to_random_fabric(world);
		check_world(world);
		tear_down(world);
	}
	print_message(
		"%u start now, %u later, %u of them after nodes that seem free are not, %u not "
		"searched to the end, %u never\n",
		seen.now, seen.later, seen.hasty, seen.unfinished, seen.never);
	assert_true(seen.now > CASES / 20 && seen.later > CASES / 20 && seen.never > CASES / 20 &&
		    seen.cut > CASES / 4 && seen.hasty > CASES / 20 &&
		    seen.unfinished < seen.hasty / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_larger_than_a_spine_takes_two),
		cmocka_unit_test(segments_that_lack_a_node_wait_though_enough_are_free),
		cmocka_unit_test(what_is_wrong_with_one_node_is_found_in_the_same_call),
		cmocka_unit_test(one_bad_node_in_the_only_leaf_is_left_out),
		cmocka_unit_test(bad_nodes_in_all_leaves_but_one_are_left_out),
		cmocka_unit_test(half_of_the_nodes_are_bad),
		cmocka_unit_test(a_kind_that_never_suits_hides_no_other),
		cmocka_unit_test(the_last_of_many_kinds_is_free_first),
		cmocka_unit_test(slow_answers_about_kinds_end_the_call_and_the_next_goes_on),
		cmocka_unit_test(a_slow_kind_that_never_suits_hides_no_plan),
		cmocka_unit_test(slow_answers_about_kinds_keep_no_choice_from_its_turn),
		cmocka_unit_test(preempts_no_more_than_it_must_and_waits_for_who_leaves),
		cmocka_unit_test(is_planned_behind_those_that_stay),
		cmocka_unit_test(a_slot_that_begins_later_is_asked_about),
		cmocka_unit_test(only_the_first_moment_is_of_use),
		cmocka_unit_test(nodes_that_may_be_free_come_after_those_that_are),
		cmocka_unit_test(choices_come_to_an_end),
		cmocka_unit_test(kinds_do_not_mix),
		cmocka_unit_test(required_nodes_are_all_or_none),
		cmocka_unit_test(what_never_fits_is_still_not_impossible),
		cmocka_unit_test(a_choice_that_starts_before_the_first_one_is_found),
		cmocka_unit_test(the_first_choice_stays_where_no_other_is_earlier),
		cmocka_unit_test(earlier_choices_are_sought_within_bounds),
		cmocka_unit_test(a_kind_that_starts_before_another_is_asked_about),
		cmocka_unit_test(one_that_waits_starts_by_the_other_fabric),
		cmocka_unit_test(a_preemption_outlives_a_fabric),
		cmocka_unit_test(starts_when_it_first_fits),
	};

	mallopt(M_TRIM_THRESHOLD, 64 << 20); /* each state uses the last one's memory */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
