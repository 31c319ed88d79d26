/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_component_plans.c - which components count, and where a planning scheduler has put them
 *
 * The model of a scheduler asks about each component in each of its partitions, in an order that
 * may change from cycle to cycle, and for several slots. It takes an answer or not, and keeps the
 * earliest start of each component. What it keeps is compared with what is found out from its
 * questions and its records. Seeds are fixed.
 */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/choose/component_plans.h"
#include "lib/choose/components_list.h"
#include "tests/fabric.h"
#include "tests/unit/no_memory.h"

#define CASES	       2000
#define CYCLES	       6
#define NODES	       16
#define PARTS_MAX      4
#define PARTITIONS_MAX 3
#define JOB	       7

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

/* Partitions are only compared. */
static const char partitions[OSP_COMPONENT_PARTITIONS_MAX + 2];

/* --- a scheduler that plans ------------------------------------------------------------------- */

struct kept {
	const void *partition; /* NULL: not planned */
	struct osp_nodeset *nodes;
	int64_t start_s;
};

struct scheduler {
	struct osp_component_plans *plans;
	uint32_t count;
	uint32_t partition_count[PARTS_MAX];
	int64_t record_s[PARTS_MAX]; /* when a component starts by its record; 0: not at all */
	struct kept kept[PARTS_MAX];
	int64_t clock_s;
	struct osp_nodeset *offered, *answer;
};

static int64_t start_s(void *context, uint32_t component)
{
	const struct scheduler *scheduler = context;

	return component < scheduler->count ? scheduler->record_s[component] : 0;
}

static struct osp_component_plan *ask_about(struct scheduler *scheduler, uint32_t job,
					    uint32_t component, const void *partition)
{
	const struct osp_component_question question = {.job = job,
							.component = component,
							.partition = partition,
							.came_s = scheduler->clock_s,
							.offered = scheduler->offered,
							.start_s = start_s,
							.context = scheduler};

	return osp_component_plan_begin(scheduler->plans, &question);
}

static void set_up(struct scheduler *scheduler, uint32_t count)
{
	*scheduler = (struct scheduler){.count = count, .clock_s = 1000};
	scheduler->plans = osp_component_plans_new(NODES);
	scheduler->offered = osp_nodeset_new(NODES);
	scheduler->answer = osp_nodeset_new(NODES);
	assert_true(scheduler->plans && scheduler->offered && scheduler->answer);
	osp_nodeset_fill(scheduler->offered);
	for (uint32_t i = 0; i < PARTS_MAX; i++)
		scheduler->kept[i].nodes = osp_nodeset_new(NODES);
}

static void clear(struct scheduler *scheduler)
{
	osp_component_plans_free(scheduler->plans);
	free(scheduler->offered);
	free(scheduler->answer);
	for (uint32_t i = 0; i < PARTS_MAX; i++)
		free(scheduler->kept[i].nodes);
}

/* What the plans say of each component is what the scheduler keeps of it. */
static void compare(struct scheduler *scheduler, uint64_t seed)
{
	for (uint32_t i = 0; i < scheduler->count; i++) {
		const struct kept *kept = &scheduler->kept[i];
		const struct osp_nodeset *nodes;

		osp_component_plans_note(scheduler->plans, JOB, i, scheduler->record_s[i]);
		if (osp_component_planned_in(scheduler->plans, JOB, i) != kept->partition)
			fail_msg("seed %" PRIu64 ": component %u", seed, i);
		if (!kept->partition)
			continue;
		nodes = osp_component_planned_on(scheduler->plans, JOB, i, kept->partition);
		if (!nodes || !osp_nodeset_equal(nodes, kept->nodes))
			fail_msg("seed %" PRIu64 ": nodes of component %u", seed, i);
		assert_null(osp_component_planned_on(scheduler->plans, JOB, i,
						     &partitions[PARTITIONS_MAX]));
	}
}

/* A new cycle begins with nothing planned. */
static void new_cycle(struct scheduler *scheduler)
{
	scheduler->clock_s += 1 + random_below(3);
	for (uint32_t i = 0; i < scheduler->count; i++) {
		scheduler->kept[i].partition = NULL;
		scheduler->record_s[i] = 0;
	}
}

static void offer_what_is_left(struct scheduler *scheduler)
{
	osp_nodeset_fill(scheduler->offered);
	for (uint32_t i = 0; i < scheduler->count; i++) {
		if (scheduler->kept[i].partition)
			osp_nodeset_and_not(scheduler->offered, scheduler->kept[i].nodes);
	}
}

/* Takes an answer for a slot, or not; a start is no earlier than the slot. */
static bool take(struct scheduler *scheduler, uint32_t component, const void *partition,
		 int64_t at_s)
{
	struct kept *kept = &scheduler->kept[component];

	if (kept->partition && kept->start_s <= at_s) {
		scheduler->record_s[component] = kept->start_s;
		return true;
	}
	if (!random_below(4)) { /* a limit, or a reservation in the way */
		scheduler->record_s[component] = kept->partition ? kept->start_s : 0;
		return false;
	}
	kept->partition = partition;
	kept->start_s = at_s;
	osp_nodeset_assign(kept->nodes, scheduler->answer);
	scheduler->record_s[component] = at_s;
	return true;
}

/* Asks about a component in a partition, for one slot after the other. */
static void plan_in(struct scheduler *scheduler, uint32_t component, uint32_t partition,
		    uint64_t seed)
{
	bool taken = false;

	for (uint32_t slot = 0; slot < 3 && !taken; slot++) {
		struct osp_component_plan *plan;

		offer_what_is_left(scheduler);
		plan = ask_about(scheduler, JOB, component, &partitions[partition]);
		assert_non_null(plan);
		osp_nodeset_clear(scheduler->answer);
		osp_nodeset_add(scheduler->answer, random_below(NODES));
		osp_nodeset_and(scheduler->answer, scheduler->offered);
		if (!osp_nodeset_empty(scheduler->answer)) {
			osp_component_plan_keep(plan, scheduler->answer, scheduler->clock_s);
			taken = take(scheduler, component, &partitions[partition],
				     scheduler->clock_s + slot * 60 + random_below(3) * 60);
		}
		if (random_below(2))
			compare(scheduler, seed);
	}
}

static void one_cycle(struct scheduler *scheduler, uint64_t seed)
{
	uint32_t pairs[PARTS_MAX * PARTITIONS_MAX], count = 0;

	new_cycle(scheduler);
	for (uint32_t i = 0; i < scheduler->count; i++)
		for (uint32_t k = 0; k < scheduler->partition_count[i]; k++)
			pairs[count++] = i * PARTITIONS_MAX + k;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = i + random_below(count - i), pair = pairs[other];

		pairs[other] = pairs[i];
		scheduler->clock_s += random_below(2);
		plan_in(scheduler, pair / PARTITIONS_MAX, pair % PARTITIONS_MAX, seed);
		compare(scheduler, seed);
	}
}

static void knows_what_the_scheduler_keeps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct scheduler scheduler;

		random_state = seed;
		random_below(2);
		set_up(&scheduler, 1 + random_below(PARTS_MAX));
		for (uint32_t i = 0; i < scheduler.count; i++)
			scheduler.partition_count[i] = 1 + random_below(PARTITIONS_MAX);
		for (uint32_t i = 0; i < CYCLES; i++)
			one_cycle(&scheduler, seed);
		clear(&scheduler);
	}
}

/* --- by hand ---------------------------------------------------------------------------------- */

static void plan_on(struct scheduler *scheduler, uint32_t component, uint32_t partition,
		    uint32_t node, int64_t at_s)
{
	struct osp_component_plan *plan =
		ask_about(scheduler, JOB, component, &partitions[partition]);

	osp_nodeset_clear(scheduler->answer);
	osp_nodeset_add(scheduler->answer, node);
	osp_component_plan_keep(plan, scheduler->answer, at_s);
	scheduler->record_s[component] = at_s;
}

static void a_new_cycle_forgets_what_it_offers_again(void **state)
{
	struct scheduler scheduler;
	struct osp_component_plan *plan;

	(void)state;
	set_up(&scheduler, 3);
	plan_on(&scheduler, 0, 0, 1, 2000);
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]); /* at once, for another slot */
	assert_null(osp_component_plan_nodes(plan, 0));
	plan_on(&scheduler, 0, 0, 1, 2000);
	plan_on(&scheduler, 1, 0, 2, 2100);
	plan_on(&scheduler, 2, 1, 3, 2200);
	scheduler.clock_s++;
	/* node 2 is not offered: a slot behind its end, or it is planned in this cycle already */
	osp_nodeset_remove(scheduler.offered, 2);
	scheduler.record_s[0] = 0;
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	assert_null(osp_component_plan_nodes(plan, 0));
	assert_non_null(osp_component_plan_nodes(plan, 1));
	assert_null(osp_component_plan_nodes(plan, 2)); /* of another partition */
	assert_null(osp_component_plan_nodes(plan, OSP_COMPONENTS_MAX));
	assert_false(osp_component_plan_is_elsewhere(plan, 0, &partitions[0], 3000));
	assert_false(osp_component_plan_is_elsewhere(plan, 1, &partitions[0], 3000));
	assert_true(osp_component_plan_is_elsewhere(plan, 1, &partitions[1], 3000));
	assert_false(osp_component_plan_is_elsewhere(plan, 1, &partitions[1], 2099));
	clear(&scheduler);
}

static void keeps_what_was_said_until_it_is_asked(void **state)
{
	struct osp_component_plan *plan;
	struct scheduler scheduler;
	int64_t at_s = 0;

	(void)state;
	set_up(&scheduler, 3);
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	osp_component_plan_says(plan, 1, &partitions[0], scheduler.offered, 1500);
	osp_component_plan_says(plan, OSP_COMPONENTS_MAX, &partitions[0], scheduler.offered, 1500);
	assert_null(osp_component_plan_said(plan, 1, &partitions[0], false, &at_s));
	assert_non_null(osp_component_plan_said(plan, 1, &partitions[0], true, &at_s));
	assert_int_equal(at_s, 1500);
	assert_null(osp_component_plan_said(plan, 1, &partitions[1], true, &at_s));
	assert_null(osp_component_plan_said(plan, OSP_COMPONENTS_MAX, &partitions[0], true, &at_s));
	plan = ask_about(&scheduler, JOB, 2, &partitions[0]);
	assert_non_null(osp_component_plan_said(plan, 1, &partitions[0], false, &at_s));
	plan = ask_about(&scheduler, JOB, 1, &partitions[0]);
	assert_null(osp_component_plan_said(plan, 1, &partitions[0], true, &at_s));
	clear(&scheduler);
}

static void knows_when_all_could_start_in_this_cycle(void **state)
{
	struct osp_component_plan *plan;
	struct scheduler scheduler;

	(void)state;
	set_up(&scheduler, 2);
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	osp_component_plan_keep(plan, scheduler.offered, 1700);
	plan = ask_about(&scheduler, JOB, 1, &partitions[0]);
	assert_int_equal(osp_component_plan_all_start_s(plan), 1700);
	osp_component_plan_keep(plan, scheduler.offered, 1600);
	assert_int_equal(osp_component_plan_all_start_s(plan), 1700);
	plan = ask_about(&scheduler, JOB, 1, &partitions[1]);
	assert_int_equal(osp_component_plan_all_start_s(plan), 0);
	osp_component_plan_keep(plan, scheduler.offered, 1800);
	scheduler.clock_s++;
	plan = ask_about(&scheduler, JOB, 1, &partitions[1]);
	assert_int_equal(osp_component_plan_all_start_s(plan), 0);
	clear(&scheduler);
}

static void remembers_so_many_jobs(void **state)
{
	struct scheduler scheduler;

	(void)state;
	set_up(&scheduler, 1);
	plan_on(&scheduler, 0, 0, 1, 2000);
	osp_component_plans_note(scheduler.plans, JOB, 0, 2000);
	for (uint32_t job = 100; job < 100 + OSP_COMPONENT_PLANS_MAX; job++) {
		assert_ptr_equal(osp_component_planned_in(scheduler.plans, JOB, 0), &partitions[0]);
		ask_about(&scheduler, job, 0, &partitions[0]);
	}
	assert_null(osp_component_planned_in(scheduler.plans, JOB, 0));
	assert_null(osp_component_planned_in(NULL, JOB, 0));
	assert_null(osp_component_planned_on(NULL, JOB, 0, &partitions[0]));
	clear(&scheduler);
}

/* A component whose number is too large is neither planned nor mistaken for another. */
static void numbers_have_an_end(void **state)
{
	struct osp_component_plan *plan;
	struct scheduler scheduler;

	(void)state;
	set_up(&scheduler, 1);
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	plan = ask_about(&scheduler, JOB, OSP_COMPONENTS_MAX, &partitions[0]);
	osp_component_plan_keep(plan, scheduler.offered, 1700);
	scheduler.record_s[0] = 1700;
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	assert_null(osp_component_plan_nodes(plan, 0));
	assert_int_equal(osp_component_plan_all_start_s(plan), 0);
	clear(&scheduler);
}

static void keeps_searches_of_some_partitions(void **state)
{
	struct osp_component_plan *plan;
	struct scheduler scheduler;

	(void)state;
	set_up(&scheduler, 1);
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	for (uint32_t i = 0; i < OSP_COMPONENT_PARTITIONS_MAX; i++)
		assert_ptr_equal(osp_component_plan_search(plan, &partitions[i]),
				 osp_component_plan_search(plan, &partitions[i]));
	assert_ptr_not_equal(osp_component_plan_search(plan, &partitions[0]),
			     osp_component_plan_search(plan, &partitions[1]));
	assert_null(osp_component_plan_search(plan, &partitions[OSP_COMPONENT_PARTITIONS_MAX]));
	clear(&scheduler);
}

static void without_memory_nothing_is_remembered(void **state)
{
	struct osp_component_plan *plan;
	struct scheduler scheduler;
	int64_t at_s;

	(void)state;
	no_memory_at(1);
	assert_null(osp_component_plans_new(NODES));
	osp_component_plans_free(NULL);
	set_up(&scheduler, 2);
	plan = ask_about(&scheduler, JOB, 0, &partitions[0]);
	no_memory_at(1);
	osp_component_plan_keep(plan, scheduler.offered, 1700);
	no_memory_at(1);
	osp_component_plan_says(plan, 1, &partitions[0], scheduler.offered, 1700);
	no_memory_at(0);
	assert_null(osp_component_plan_said(plan, 1, &partitions[0], true, &at_s));
	scheduler.record_s[0] = 1700;
	osp_component_plans_note(scheduler.plans, JOB, 0, 1700);
	assert_null(osp_component_planned_in(scheduler.plans, JOB, 0));
	clear(&scheduler);
}

/* --- which of them count ---------------------------------------------------------------------- */

static const void *one_of_them(void)
{
	uint32_t which = random_below(3);

	return which ? &partitions[which] : NULL;
}

/* The same lists, worked out component by component. */
static void lists_those_that_count(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct osp_component all[8];
		uint32_t count, own, choice_nodes[8], counted = 0, out = 0;
		struct osp_component_list list;
		bool leaves_out, open = false;

		random_state = seed;
		random_below(2);
		count = 1 + random_below(8);
		own = random_below(count);
		leaves_out = random_below(2);
		for (uint32_t i = 0; i < count; i++) {
			all[i] = (struct osp_component){.own = i == own,
							.active = i == own || random_below(4),
							.beside = i == own || random_below(4),
							.may_choose = random_below(2),
							.planned_in = one_of_them()};
			choice_nodes[i] = random_below(4);
		}
		osp_components_list(all, count, &partitions[1], leaves_out, &list);
		for (uint32_t i = 0; i < count; i++) {
			bool is_open = i != own && all[i].may_choose && !all[i].planned_in;
			bool away = i != own && all[i].may_choose &&
				    all[i].planned_in == &partitions[2];

			if (!all[i].active || !all[i].beside || away)
				continue;
			if (is_open && leaves_out) {
				assert_int_equal(list.left_out[out++], i);
				continue;
			}
			open |= is_open;
			assert_int_equal(list.order[counted++], i);
		}
		assert_int_equal(list.count, counted);
		assert_int_equal(list.left_out_count, out);
		assert_int_equal(list.open, open);
		assert_int_equal(list.order[list.own], own);
		osp_components_sort(&list, choice_nodes);
		assert_int_equal(list.order[list.own], own);
		for (uint32_t i = 1; i < list.count; i++) {
			uint32_t a = list.order[i - 1], b = list.order[i];

			assert_true(choice_nodes[a] < choice_nodes[b] ||
				    (choice_nodes[a] == choice_nodes[b] && a < b));
		}
	}
}

static void looks_in_the_domain_of_those_that_are_placed(void **state)
{
	struct osp_topology *topology = fabric_regular(3, (uint32_t[]){4}, 1);
	struct osp_nodeset *taken = osp_nodeset_new(12);
	struct osp_place_domain domains[3] = {0};
	uint32_t found[3];

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		domains[i].domain = osp_topology_domain_of(topology, (2 - i) * 4, 1);
	assert_int_equal(osp_components_domains(topology, 1, domains, 3, taken, found), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(found[i], domains[i].domain);
	osp_nodeset_add(taken, 5);
	assert_int_equal(osp_components_domains(topology, 1, domains, 3, taken, found), 1);
	assert_int_equal(found[0], domains[1].domain);
	free(taken);
	osp_topology_free(topology);
}

static void says_why_they_wait(void **state)
{
	struct osp_components_choice choice = {.splits = true};

	(void)state;
	assert_true(osp_components_to_be_said(&choice, true));
	choice.found = true;
	assert_false(osp_components_to_be_said(&choice, true));
	assert_true(osp_components_to_be_said(&choice, false));
	choice.splits = false;
	assert_false(osp_components_to_be_said(&choice, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_the_scheduler_keeps),
		cmocka_unit_test(a_new_cycle_forgets_what_it_offers_again),
		cmocka_unit_test(keeps_what_was_said_until_it_is_asked),
		cmocka_unit_test(knows_when_all_could_start_in_this_cycle),
		cmocka_unit_test(remembers_so_many_jobs),
		cmocka_unit_test(numbers_have_an_end),
		cmocka_unit_test(keeps_searches_of_some_partitions),
		cmocka_unit_test(without_memory_nothing_is_remembered),
		cmocka_unit_test(lists_those_that_count),
		cmocka_unit_test(looks_in_the_domain_of_those_that_are_placed),
		cmocka_unit_test(says_why_they_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
