/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_choose_large.c - jobs that are gangs only if they get many nodes, against exhaustive search
 *
 * The model of a scheduler knows when each node is free. It gives the job the free nodes with the
 * lowest numbers at the earliest time at which it has enough, and for one domain the same in the
 * spine that has them soonest. What is right is found by trying every set of nodes at every time.
 * Seeds are fixed.
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

#include "lib/choose/large.h"

#define CASES	  5000
#define NODES_MAX 12
#define NOW	  INT64_C(1000)
#define NEVER	  INT64_MAX

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

struct world {
	uint32_t spine_nodes, node_count;
	int64_t free_at_s[NODES_MAX];
	uint32_t least, most; /* nodes of the job */
	struct osp_large_input input;

	struct osp_nodeset *answer;
	int64_t answer_s; /* NEVER: none binds */
	struct osp_nodeset *aside;
	int64_t aside_s;
	uint32_t questions, places;
	bool starts_nothing; /* the scheduler says yes and means nothing */
	bool gives_more;     /* it gives more nodes than it was asked for */
};

/* --- the scheduler ---------------------------------------------------------------------------- */

static bool is_in(const struct world *world, uint32_t node, uint32_t spine)
{
	return spine == UINT32_MAX || node / world->spine_nodes == spine;
}

static uint32_t free_by(const struct world *world, uint32_t spine, int64_t at_s)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < world->node_count; n++)
		count += is_in(world, n, spine) && world->free_at_s[n] <= at_s;
	return count;
}

/* The earliest time at which that many are free. */
static int64_t when(const struct world *world, uint32_t spine, uint32_t need)
{
	int64_t best_s = NEVER;

	for (uint32_t n = 0; n < world->node_count; n++) {
		int64_t at_s = world->free_at_s[n];

		if (at_s < best_s && free_by(world, spine, at_s) >= need)
			best_s = at_s;
	}
	return best_s > NOW && !world->input.later_helps ? NEVER : best_s;
}

static void take(const struct world *world, uint32_t spine, uint32_t most, int64_t at_s,
		 struct osp_nodeset *nodes)
{
	osp_nodeset_clear(nodes);
	for (uint32_t n = 0; n < world->node_count && most; n++) {
		if (!is_in(world, n, spine) || world->free_at_s[n] > at_s)
			continue;
		osp_nodeset_add(nodes, n);
		most--;
	}
}

static enum osp_large_answer ask(void *context, uint32_t most_nodes, osp_large_accept_f *accept,
				 void *accept_context)
{
	struct world *world = context;
	struct osp_nodeset *nodes;
	bool fewer = most_nodes && most_nodes < world->most && !world->gives_more;
	uint32_t most = fewer ? most_nodes : world->most;
	int64_t at_s = most < world->least ? NEVER : when(world, UINT32_MAX, world->least);
	bool yes;

	assert_int_equal(world->answer_s, NEVER);
	world->questions++;
	if (at_s == NEVER)
		return OSP_LARGE_NO;
	nodes = osp_nodeset_new(world->node_count);
	assert_non_null(nodes);
	take(world, UINT32_MAX, most, at_s, nodes);
	yes = !world->starts_nothing && accept(accept_context, nodes, at_s);
	if (yes) {
		osp_nodeset_assign(world->answer, nodes);
		world->answer_s = at_s;
	}
	free(nodes);
	return yes ? OSP_LARGE_YES : OSP_LARGE_OTHER;
}

static bool place(void *context, int64_t *start_s)
{
	struct world *world = context;
	uint32_t best = 0;

	assert_int_equal(world->answer_s, NEVER);
	world->places++;
	for (uint32_t spine = 0; spine < world->node_count / world->spine_nodes; spine++) {
		if (when(world, spine, world->least) < when(world, best, world->least))
			best = spine;
	}
	*start_s = when(world, best, world->least);
	if (*start_s == NEVER)
		return false;
	take(world, best, world->most, *start_s, world->answer);
	world->answer_s = *start_s;
	return true;
}

static void set_aside(void *context)
{
	struct world *world = context;

	osp_nodeset_assign(world->aside, world->answer);
	world->aside_s = world->answer_s;
	world->answer_s = NEVER;
}

static void bring_back(void *context)
{
	struct world *world = context;

	assert_int_equal(world->answer_s, NEVER);
	osp_nodeset_assign(world->answer, world->aside);
	world->answer_s = world->aside_s;
}

static bool is_together(void *context, const struct osp_nodeset *nodes)
{
	const struct world *world = context;
	uint32_t first = osp_nodeset_next(nodes, 0), last = first;

	for (uint32_t n = first; n < nodes->place_count; n = osp_nodeset_next(nodes, n + 1))
		last = n;
	return first / world->spine_nodes == last / world->spine_nodes;
}

static bool choose(struct world *world)
{
	const struct osp_large_calls calls = {.ask = ask,
					      .place = place,
					      .set_aside = set_aside,
					      .bring_back = bring_back,
					      .is_together = is_together,
					      .context = world};

	world->answer_s = NEVER;
	world->questions = world->places = 0;
	return osp_choose_large(&world->input, &calls);
}

/* --- worlds ----------------------------------------------------------------------------------- */

static void set_up(struct world *world, uint32_t spines, uint32_t spine_nodes)
{
	*world = (struct world){.spine_nodes = spine_nodes, .node_count = spines * spine_nodes};
	assert_true(world->node_count <= NODES_MAX);
	for (uint32_t n = 0; n < world->node_count; n++)
		world->free_at_s[n] = NOW;
	world->input = (struct osp_large_input){.now_s = NOW};
	world->answer = osp_nodeset_new(world->node_count);
	world->aside = osp_nodeset_new(world->node_count);
	assert_true(world->answer && world->aside);
}

static void clear(struct world *world)
{
	free(world->answer);
	free(world->aside);
}

static void job_of(struct world *world, uint32_t least, uint32_t most, uint32_t from_nodes)
{
	world->least = least;
	world->most = most;
	world->input.least_nodes = least;
	world->input.from_nodes = from_nodes;
}

/* --- by exhaustive search --------------------------------------------------------------------- */

/* Returns whether the job could have this set of nodes then, and the promise be kept. */
static bool suits(const struct world *world, uint32_t set, int64_t at_s)
{
	uint32_t count = (uint32_t)__builtin_popcount(set), spines = 0, seen = UINT32_MAX;

	if (count < world->least || count > world->most)
		return false;
	for (uint32_t n = 0; n < world->node_count; n++) {
		if (!(set >> n & 1))
			continue;
		if (world->free_at_s[n] > at_s)
			return false;
		spines += n / world->spine_nodes != seen;
		seen = n / world->spine_nodes;
	}
	return count < world->input.from_nodes || spines == 1;
}

static int64_t earliest(const struct world *world)
{
	int64_t best_s = NEVER;

	for (uint32_t n = 0; n < world->node_count; n++) {
		int64_t at_s = world->free_at_s[n];

		if (at_s == NEVER || at_s >= best_s || (at_s > NOW && !world->input.later_helps))
			continue;
		for (uint32_t set = 1; set < 1U << world->node_count; set++) {
			if (suits(world, set, at_s)) {
				best_s = at_s;
				break;
			}
		}
	}
	return best_s;
}

static void random_world(struct world *world, uint64_t seed)
{
	uint32_t least;

	random_state = seed;
	random_below(2);
	set_up(world, 1 + random_below(3), 1 + random_below(4));
	for (uint32_t n = 0; n < world->node_count; n++) {
		uint32_t kind = random_below(8);

		world->free_at_s[n] = kind < 4	 ? NOW
				      : kind < 7 ? NOW + 60 * (1 + random_below(5))
						 : NEVER;
	}
	least = 1 + random_below(world->node_count);
	job_of(world, least, least + random_below(4), 1 + random_below(6));
	world->input.unknown_size = random_below(2);
	world->input.later_helps = random_below(4) > 0;
}

static void starts_as_soon_as_the_promise_allows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct world world;
		int64_t expected_s;
		uint32_t set = 0;
		bool yes;

		random_world(&world, seed);
		expected_s = earliest(&world);
		yes = choose(&world);
		if (yes != (expected_s != NEVER) || world.answer_s != expected_s)
			fail_msg("seed %" PRIu64 ": starts at %" PRId64 ", could at %" PRId64, seed,
				 world.answer_s, expected_s);
		for (uint32_t n = 0; n < world.node_count; n++)
			set |= yes && osp_nodeset_test(world.answer, n) ? 1U << n : 0;
		if (yes && !suits(&world, set, world.answer_s))
			fail_msg("seed %" PRIu64 ": does not keep the promise", seed);
		clear(&world);
	}
}

/* --- by hand ---------------------------------------------------------------------------------- */

static void takes_the_schedulers_own_choice(void **state)
{
	struct world world;

	(void)state;
	set_up(&world, 2, 4);
	job_of(&world, 4, 4, 3);
	world.input.unknown_size = true;
	assert_true(choose(&world));
	assert_int_equal(world.questions, 1);
	assert_int_equal(world.places, 0);
	clear(&world);
}

static void asks_nobody_again_where_it_starts_nowhere(void **state)
{
	struct world world;

	(void)state;
	set_up(&world, 1, 4);
	job_of(&world, 5, 5, 3);
	world.input.unknown_size = true;
	assert_false(choose(&world));
	assert_int_equal(world.questions, 1);
	assert_int_equal(world.places, 0);
	clear(&world);
}

/* Spine 1 has room later; three nodes are free now, on both. */
static void takes_fewer_nodes_where_that_is_sooner(void **state)
{
	static const int64_t free_at_s[] = {NOW, NOW + 60, NEVER, NOW, NOW, NOW + 120};
	struct world world;

	(void)state;
	set_up(&world, 2, 3);
	memcpy(world.free_at_s, free_at_s, sizeof(free_at_s));
	job_of(&world, 3, 5, 4);
	world.input.later_helps = true;
	assert_true(choose(&world));
	assert_int_equal(world.answer_s, NOW);
	assert_int_equal(osp_nodeset_count(world.answer), 3);
	/* from three nodes on it is a gang, and two are too few */
	job_of(&world, 3, 5, 3);
	assert_true(choose(&world));
	assert_int_equal(world.answer_s, NOW + 120);
	assert_true(is_together(&world, world.answer));
	/* a plan as early is the gang's, which has more nodes */
	world.free_at_s[0] = NEVER;
	job_of(&world, 2, 3, 3);
	world.free_at_s[3] = world.free_at_s[4] = world.free_at_s[5] = NOW + 60;
	assert_true(choose(&world));
	assert_int_equal(world.answer_s, NOW + 60);
	assert_int_equal(osp_nodeset_count(world.answer), 3);
	assert_int_equal(world.questions, 1);
	clear(&world);
}

/* Two nodes make no gang, but the scheduler gives three, on two spines. */
static void takes_no_more_nodes_than_are_small(void **state)
{
	struct world world;

	(void)state;
	set_up(&world, 2, 2);
	world.free_at_s[3] = NEVER;
	job_of(&world, 3, 3, 3);
	world.input.least_nodes = 2; /* the scheduler knows better */
	world.gives_more = true;
	assert_false(choose(&world));
	assert_int_equal(world.questions, 1);
	clear(&world);
}

/* The scheduler says yes to the job's own question, but starts nothing: it is placed. */
static void places_what_the_scheduler_would_not_start(void **state)
{
	struct world world;

	(void)state;
	set_up(&world, 2, 4);
	job_of(&world, 4, 4, 3);
	world.input.unknown_size = true;
	world.starts_nothing = true;
	assert_true(choose(&world));
	assert_int_equal(world.places, 1);
	clear(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_as_soon_as_the_promise_allows),
		cmocka_unit_test(takes_the_schedulers_own_choice),
		cmocka_unit_test(asks_nobody_again_where_it_starts_nowhere),
		cmocka_unit_test(takes_fewer_nodes_where_that_is_sooner),
		cmocka_unit_test(takes_no_more_nodes_than_are_small),
		cmocka_unit_test(places_what_the_scheduler_would_not_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
