/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_choose_random.c - the chooser against exhaustive search over small random clusters
 *
 * What is right is worked out from the scheduler alone, domain by domain: the gang starts now where
 * one domain alone would start it, preempts only where none would and one alone could, and its
 * expected start is the earliest of the domains'. Seeds are fixed.
 */
#include "onespine_config.h"

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

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define CASES 4000
#else
#define CASES 20000
#endif
#define NOW	    INT64_C(1000000)
#define SPINES_MAX  6
#define ENDS	    5
#define RESOLUTION  100
#define ALL_OF_NODE 8

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

struct world {
	uint64_t seed;
	struct model model;
	uint32_t spines;
	uint32_t spine_nodes;
	struct osp_topology *topology;
	struct osp_place *place;
	struct osp_chooser *chooser;
	struct osp_nodeset *usable;
	struct osp_nodeset *free_nodes;
	struct osp_nodeset *settling;
	struct osp_nodeset *domain;
	struct osp_choose_input input;
	struct osp_choice choice;
};

/* How often what was looked at came up: a case that never comes proves nothing. */
static struct {
	uint32_t now, preempted, later, settled, never, slots, unasked;
} seen;

/* --- random worlds --------------------------------------------------------------------------- */

static bool one_in(uint32_t count)
{
	return !random_below(count);
}

static void random_jobs(struct world *world)
{
	struct model *model = &world->model;
	uint32_t jobs = random_below(3 * model->node_count);

	for (uint32_t i = 0; i < jobs && model->job_count < MODEL_JOBS_MAX; i++) {
		uint32_t node = random_below(model->node_count);
		uint32_t left = model->node_count - node;
		uint32_t nodes = 1 + random_below(left < 3 ? left : 3);
		struct model_size holds = {1 + random_below(8), random_below(9), random_below(65)};
		int64_t end_s = NOW + RESOLUTION * (1 + random_below(ENDS));
		bool fits = true;
		struct model_job *job;

		model->need = holds;
		for (uint32_t n = node; n < node + nodes; n++)
			fits &= model_node_fits(model, n, NOW, false);
		if (!fits)
			continue;
		job = model_add_job(model, node, nodes, holds, end_s);
		job->preemptable = one_in(3);
		job->suspended = one_in(6);
	}
}

static void random_nodes(struct world *world)
{
	struct model *model = &world->model;
	uint32_t settling = one_in(2) ? 4 : 0, unfit = one_in(4) ? 10 : 0;

	for (uint32_t n = 0; n < model->node_count; n++) {
		bool empty;

		model->need = model->node[n];
		empty = model_node_fits(model, n, NOW, false);
		model->settling[n] = settling && empty && one_in(settling);
		model->unfit[n] = unfit && one_in(unfit);
		if (!one_in(12))
			osp_nodeset_add(world->usable, n);
	}
}

static void random_gang(struct world *world)
{
	struct model *model = &world->model;
	uint32_t need = 1 + random_below(world->spine_nodes);

	model->whole = one_in(2);
	model->need = model->whole ? (struct model_size){1, 0, 0}
				   : (struct model_size){1 + random_below(8), random_below(9),
							 random_below(65)};
	model->need_nodes = need;
	model->want_nodes = need + (one_in(4) ? random_below(3) : 0);
	world->input = (struct osp_choose_input){
		.job = 7,
		.now_s = NOW,
		.exact_size = !one_in(5),
		.bound_is_start = true,
		.settling = world->settling,
		.may_preempt = one_in(2),
		.place = {.level = 2,
			  .need_nodes = need,
			  .want_nodes = model->want_nodes,
			  .free_only = true,
			  .usable = world->usable,
			  .free = world->free_nodes},
	};
	if (one_in(5) && need < world->spine_nodes) {
		/* it needs more than anybody says */
		model->need_nodes = ++model->want_nodes;
		world->input.place.want_nodes = model->want_nodes;
		world->input.bound_is_start = false;
	}
	for (uint32_t n = 0;
	     n < model->node_count && !(model->whole && world->input.bound_is_start); n++)
		model->hasty[n] = one_in(4);
}

static void random_slot(struct world *world)
{
	struct model *model = &world->model;

	world->input.slot_start_s = world->input.slot_end_s = 0;
	model->slot_start_s = model->slot_end_s = 0;
	if (!one_in(3))
		return;
	model->slot_start_s = NOW + (one_in(3) ? 0 : RESOLUTION * random_below(ENDS) + 50);
	model->slot_end_s =
		one_in(2) ? 0 : model->slot_start_s + RESOLUTION * (1 + random_below(ENDS));
	world->input.slot_start_s = model->slot_start_s;
	world->input.slot_end_s = model->slot_end_s;
}

static struct world *new_world(uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t nodes;

	assert_non_null(world);
	random_state = seed;
	world->seed = seed;
	world->spines = 1 + random_below(SPINES_MAX);
	world->spine_nodes = 1 + random_below(5);
	nodes = world->spines * world->spine_nodes;
	world->topology = fabric_regular(world->spines, (uint32_t[]){1, world->spine_nodes}, 2);
	world->place = osp_place_new(world->topology, 1);
	world->chooser = osp_chooser_new(world->topology, world->place, NULL);
	world->usable = osp_nodeset_new(nodes);
	world->free_nodes = osp_nodeset_new(nodes);
	world->settling = osp_nodeset_new(nodes);
	world->domain = osp_nodeset_new(nodes);
	assert_true(world->place && world->chooser && world->usable && world->free_nodes &&
		    world->settling && world->domain);
	world->model.now_s = NOW;
	world->model.node_count = nodes;
	for (uint32_t n = 0; n < nodes; n++)
		world->model.node[n] = (struct model_size){ALL_OF_NODE, 8, 64};
	random_jobs(world);
	random_nodes(world);
	random_gang(world);
	for (uint32_t n = 0; n < nodes; n++) {
		if (world->model.settling[n])
			osp_nodeset_add(world->settling, n);
		else if (osp_nodeset_test(world->usable, n) &&
			 (world->model.unfit[n] || world->model.hasty[n] ||
			  model_node_fits(&world->model, n, NOW, false)))
			osp_nodeset_add(world->free_nodes, n);
	}
	return world;
}

static void free_world(struct world *world)
{
	osp_chooser_free(world->chooser);
	osp_place_free(world->place);
	osp_topology_free(world->topology);
	free(world->usable);
	free(world->free_nodes);
	free(world->settling);
	free(world->domain);
	free(world);
}

/* --- what is right --------------------------------------------------------------------------- */

static void usable_of(struct world *world, uint32_t spine, bool settled)
{
	osp_nodeset_clear(world->domain);
	for (uint32_t i = 0; i < world->spine_nodes; i++)
		osp_nodeset_add(world->domain, spine * world->spine_nodes + i);
	osp_nodeset_and(world->domain, world->usable);
	if (settled)
		osp_nodeset_and_not(world->domain, world->settling);
}

static int64_t first_moment(const struct world *world)
{
	return world->model.slot_start_s > NOW ? world->model.slot_start_s : NOW;
}

/* The earliest start over the domains, each alone. */
static int64_t earliest(struct world *world, bool preempting)
{
	int64_t best_s = OSP_PLACE_NEVER_S;

	for (uint32_t spine = 0; spine < world->spines; spine++) {
		int64_t start_s;

		usable_of(world, spine, false);
		start_s = model_start(&world->model, world->domain, preempting);
		best_s = start_s < best_s ? start_s : best_s;
	}
	return best_s;
}

/* Whoever may be preempted counts as gone at each later moment too, as in Slurm's own
 * simulation. */
static int64_t expected_start(struct world *world)
{
	int64_t alone_s = earliest(world, false), first_s = first_moment(world);

	if (alone_s <= first_s || !world->input.may_preempt)
		return alone_s;
	return earliest(world, true);
}

#define CHECK(world, condition)                                                                    \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("seed %" PRIu64 ": %s", (world)->seed, #condition);               \
	} while (0)

static bool is_within(const struct osp_nodeset *nodes, const struct osp_nodeset *set)
{
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (!osp_nodeset_test(set, n))
			return false;
	}
	return true;
}

/* Its own number of nodes, usable, of one domain, as the scheduler said last. */
static void check_nodes(struct world *world)
{
	const struct osp_nodeset *nodes = world->choice.nodes;
	const struct model *model = &world->model;
	uint32_t count = osp_nodeset_count(nodes);
	uint32_t first = osp_nodeset_next(nodes, 0);

	CHECK(world, count >= model->need_nodes && count <= model->want_nodes);
	CHECK(world, is_within(nodes, world->usable));
	usable_of(world, first / world->spine_nodes, false);
	CHECK(world, is_within(nodes, world->domain));
	CHECK(world, world->choice.domain_count == 1);
	seen.unasked += !model->asked_count;
	CHECK(world, !model->asked_count || model->asked[model->asked_count - 1].yes);
	CHECK(world, model->asked_count || world->input.request);
	CHECK(world, world->choice.processors == model_processors(world->choice.nodes));
}

static void choose(struct world *world, enum osp_choose_mode mode)
{
	struct osp_choose_calls calls = model_calls(&world->model);
	bool needs_free = mode == OSP_CHOOSE_RUN_NOW || world->input.may_preempt;

	world->input.mode = mode;
	world->input.place.free = needs_free ? world->free_nodes : NULL;
	world->model.asked_count = 0;
	osp_choose(world->chooser, &world->input, &calls, &world->choice);
}

static void check_run_now(struct world *world)
{
	bool alone = earliest(world, false) == NOW;
	bool preempting = world->input.may_preempt && earliest(world, true) == NOW;

	choose(world, OSP_CHOOSE_RUN_NOW);
	CHECK(world, world->choice.found == (alone || preempting));
	if (!world->choice.found)
		return;
	check_nodes(world);
	CHECK(world, (world->choice.victim_count > 0) == !alone);
	for (uint32_t n = 0; n < world->model.node_count; n++)
		CHECK(world, !osp_nodeset_test(world->choice.nodes, n) ||
				     (model_node_fits(&world->model, n, NOW, !alone) &&
				      !world->model.settling[n]));
	seen.now += alone;
	seen.preempted += !alone;
}

static void check_will_run(struct world *world)
{
	int64_t expected_s = expected_start(world);

	choose(world, OSP_CHOOSE_WILL_RUN);
	CHECK(world, world->choice.found == (expected_s != OSP_PLACE_NEVER_S));
	seen.never += !world->choice.found;
	if (!world->choice.found)
		return;
	CHECK(world, world->choice.start_s == expected_s);
	check_nodes(world);
	for (uint32_t n = 0; n < world->model.node_count; n++)
		CHECK(world, !osp_nodeset_test(world->choice.nodes, n) ||
				     model_node_fits(&world->model, n, expected_s, true));
	seen.later += expected_s > NOW + 1;
	seen.settled += expected_s == NOW + 1;
	seen.slots += world->model.slot_start_s > NOW;
}

/* What happens between two calls: a job ends sooner or later than it said, another slot is asked
 * about. */
static void random_change(struct world *world)
{
	struct model *model = &world->model;
	struct model_job *job =
		model->job_count ? &model->jobs[random_below(model->job_count)] : NULL;

	if (one_in(4))
		random_slot(world);
	if (!job || one_in(3))
		return;
	if (one_in(2))
		job->end_s = NOW + RESOLUTION * (1 + random_below(ENDS));
	else
		job->first_node = job->end_node;
}

static void decides_as_the_best_domain_alone_would(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct world *world = new_world(seed);

		check_run_now(world);
		osp_chooser_forget(world->chooser, world->input.job);
		random_slot(world);
		world->input.request = one_in(4) ? 0 : seed;
		check_will_run(world);
		for (int again = 0; again < 4; again++) {
			random_change(world);
			check_will_run(world);
		}
		free_world(world);
	}
	print_message("%u starts now, %u by preempting, %u later, %u when nodes have settled, "
		      "%u never; %u in later slots; %u without asking\n",
		      seen.now, seen.preempted, seen.later, seen.settled, seen.never, seen.slots,
		      seen.unasked);
	assert_true(seen.now > CASES / 20 && seen.preempted > CASES / 50 &&
		    seen.later > CASES / 20 && seen.settled > CASES / 200 &&
		    seen.never > CASES / 50 && seen.slots > CASES / 50 && seen.unasked > CASES / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decides_as_the_best_domain_alone_would),
	};

	mallopt(M_TRIM_THRESHOLD, 64 << 20); /* each state uses the last one's memory */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
