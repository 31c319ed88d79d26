/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_choose_components.c - components of one job against exhaustive search over small clusters
 *
 * The model of a scheduler knows when each node is free, and gives a component the nodes with the
 * lowest numbers at the earliest time at which enough are. All components may have the same nodes
 * of the partition asked about, so what is right can be counted: they start together in a domain at
 * the earliest time at which it has as many free nodes as they need in all. Seeds are fixed.
 */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/choose/choose.h"
#include "lib/choose/components.h"
#include "tests/fabric.h"
#include "tests/unit/no_memory.h"

#define CASES	   20000
#define NODES_MAX  24
#define SPINES_MAX 4
#define PARTS_MAX  5
#define NOW	   INT64_C(1000)
#define NEVER	   INT64_MAX

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

static bool one_in(uint32_t count)
{
	return !random_below(count);
}

struct part {
	uint32_t need;
	bool runs;		  /* it has its nodes in world.taken */
	bool open;		  /* may run on the nodes elsewhere, and is not planned */
	struct osp_nodeset *only; /* may have these alone; NULL: all of the partition */
	struct osp_nodeset *said;
	struct osp_nodeset *planned;
	int64_t said_start_s;
};

/* The first `spines` spines are the partition asked about; the last one is that of the open
 * components. */
struct world {
	struct osp_topology *topology;
	uint32_t spines, spine_nodes, node_count;
	int64_t free_at_s[NODES_MAX];
	uint32_t part_count, own;
	struct part part[PARTS_MAX];
	uint32_t order[PARTS_MAX]; /* the number of a component in a question is an index here */
	uint32_t counted;
	uint32_t from_nodes;
	bool run_now, may_preempt;
	int64_t elapsed_ms, step_ms;
	uint32_t question_us;
	uint32_t domains[SPINES_MAX], domain_count;
	struct osp_components_search *search;
	struct osp_nodeset *given, *taken, *kept, *main, *elsewhere, *answer, *accepted;
	int64_t accepted_s;
	uint32_t questions;
	bool takes_high;   /* the nodes with the highest numbers */
	bool looks_ahead;  /* past the first moment though it was not asked to, as Slurm may */
	uint32_t bindings; /* answers that were accepted */
	int64_t all_start_s;
	struct osp_nodeset *settling, *stuck;
	uint32_t first_offset; /* the number of the first component in its job */
	bool forgets;	       /* nobody keeps what slow calls have found */
};

/* --- the scheduler ---------------------------------------------------------------------------- */

static uint32_t node_at(const struct world *world, uint32_t i)
{
	return world->takes_high ? world->node_count - 1 - i : i;
}

static uint32_t free_by(const struct world *world, const struct osp_nodeset *nodes, int64_t at_s)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < world->node_count; n++)
		count += osp_nodeset_test(nodes, n) && world->free_at_s[n] <= at_s;
	return count;
}

/* The earliest time at which that many of these are free. */
static int64_t when(const struct world *world, const struct osp_nodeset *nodes, uint32_t need)
{
	int64_t best_s = NEVER;

	for (uint32_t n = 0; n < world->node_count; n++) {
		int64_t at_s = world->free_at_s[n];

		if (osp_nodeset_test(nodes, n) && at_s < best_s &&
		    free_by(world, nodes, at_s) >= need)
			best_s = at_s;
	}
	return need ? best_s : NOW;
}

static bool answer(struct world *world, uint32_t need, const struct osp_nodeset *offered,
		   bool now_only, struct osp_nodeset *nodes, int64_t *start_s)
{
	uint32_t left = need;

	world->questions++;
	world->elapsed_ms += world->step_ms;
	*start_s = when(world, offered, need);
	if (*start_s == NEVER || (now_only && *start_s > NOW))
		return false;
	osp_nodeset_clear(nodes);
	for (uint32_t i = 0; i < world->node_count && left; i++) {
		uint32_t n = node_at(world, i);

		if (osp_nodeset_test(offered, n) && world->free_at_s[n] <= *start_s) {
			osp_nodeset_add(nodes, n);
			left--;
		}
	}
	return true;
}

static bool begin(void *context, bool leaves_out, struct osp_components_input *input)
{
	struct world *world = context;
	uint32_t out = 0;

	*input = (struct osp_components_input){
		.later_helps = !world->run_now,
		.question_us = world->question_us,
		.given = world->given,
		.taken = world->taken,
		.kept = world->kept,
		.settling = world->settling,
		.stuck = world->stuck,
		.all_start_s = world->all_start_s,
		.topology = world->topology,
		.domains = world->domains,
		.domain_count = world->domain_count,
		.may_preempt = world->may_preempt,
		.search = world->forgets ? NULL : &world->search,
	};
	for (uint32_t i = 0; i < world->part_count; i++) {
		if (leaves_out && world->part[i].open)
			continue;
		input->open = input->open || world->part[i].open;
		if (i == world->own)
			input->own = input->count;
		world->order[input->count++] = i;
	}
	for (uint32_t i = 0; leaves_out && i < world->part_count; i++) {
		if (world->part[i].open)
			world->order[input->count + out++] = i;
	}
	input->left_out_count = out;
	world->counted = input->count;
	return true;
}

static void end(void *context)
{
	(void)context;
}

static bool prospects(void *context, uint32_t component, uint32_t partition,
		      struct osp_nodeset *nodes)
{
	struct world *world = context;
	const struct osp_nodeset *only;

	assert_true(component < world->part_count && partition < 2);
	only = world->part[world->order[component]].only;
	osp_nodeset_or(nodes, partition ? world->elsewhere : only ? only : world->main);
	return true;
}

static const struct osp_nodeset *planned(void *context, uint32_t component)
{
	struct world *world = context;

	return world->part[world->order[component]].planned;
}

static uint32_t offset(void *context, uint32_t component)
{
	struct world *world = context;

	return world->first_offset + world->order[component];
}

static bool is_placed(void *context, uint32_t component)
{
	struct world *world = context;

	return world->part[world->order[component]].runs;
}

static bool ask_own(void *context, const struct osp_nodeset *offered, bool now_only,
		    bool preempting, osp_components_accept_f *accept, void *accept_context)
{
	struct world *world = context;
	int64_t start_s;

	assert_true(!preempting || world->may_preempt);
	if (!answer(world, world->part[world->own].need, offered,
		    world->run_now || (now_only && !world->looks_ahead), world->answer, &start_s) ||
	    !accept(accept_context, world->answer, start_s))
		return false;
	world->bindings++;
	osp_nodeset_assign(world->accepted, world->answer);
	world->accepted_s = start_s;
	return true;
}

static bool ask(void *context, uint32_t component, uint32_t partition,
		const struct osp_nodeset *offered, bool now_only, bool preempting,
		struct osp_nodeset *nodes, int64_t *start_s)
{
	struct world *world = context;

	assert_true(!preempting || world->may_preempt);
	assert_true(partition == 0 || component >= world->counted);
	assert_false(osp_nodeset_overlap(offered, world->taken));
	return answer(world, world->part[world->order[component]].need, offered,
		      now_only && !world->looks_ahead, nodes, start_s);
}

static const struct osp_nodeset *said(void *context, uint32_t component, bool this_call,
				      int64_t *start_s)
{
	struct world *world = context;
	struct part *part = &world->part[world->order[component]];

	(void)this_call;
	*start_s = part->said_start_s;
	return part->said;
}

static bool is_together(const struct world *world, const struct osp_nodeset *nodes)
{
	uint32_t first = osp_nodeset_next(nodes, 0), last = first;

	for (uint32_t n = first; n < nodes->place_count; n = osp_nodeset_next(nodes, n + 1))
		last = n;
	return osp_nodeset_count(nodes) < world->from_nodes ||
	       first / world->spine_nodes == last / world->spine_nodes;
}

/* No node is of two components. */
static bool all_keep_promise(void *context, const struct osp_nodeset *nodes)
{
	const struct world *world = context;
	uint32_t count = osp_nodeset_count(world->taken);

	for (uint32_t i = 0; i < world->counted; i++) {
		const struct part *part = &world->part[world->order[i]];

		count += part->runs ? 0 : part->need;
	}
	assert_int_equal(osp_nodeset_count(nodes), count);
	return is_together(world, nodes);
}

static bool keeps_promise(void *context, uint32_t component, uint32_t partition,
			  const struct osp_nodeset *nodes)
{
	struct world *world = context;

	assert_true(component >= world->counted && partition == 1);
	return osp_nodeset_count(nodes) > 0;
}

static uint32_t elsewhere(void *context, uint32_t component)
{
	struct world *world = context;

	return world->part[world->order[component]].open ? 1 : 0;
}

static int64_t first_moment_s(void *context)
{
	(void)context;
	return NOW;
}

static int64_t elapsed_ms(void *context)
{
	return ((struct world *)context)->elapsed_ms;
}

static struct osp_components_choice choose(struct world *world)
{
	const struct osp_components_calls calls = {
		.begin = begin,
		.end = end,
		.prospects = prospects,
		.is_placed = is_placed,
		.ask_own = ask_own,
		.ask = ask,
		.said = said,
		.planned = planned,
		.offset = offset,
		.all_keep_promise = all_keep_promise,
		.keeps_promise = keeps_promise,
		.elsewhere = elsewhere,
		.first_moment_s = first_moment_s,
		.elapsed_ms = elapsed_ms,
		.context = world,
	};
	struct osp_components_choice choice;

	world->questions = world->bindings = 0;
	world->elapsed_ms = 0;
	osp_choose_components(world->node_count, &calls, &choice);
	assert_int_equal(world->bindings, choice.found);
	return choice;
}

/* --- worlds ----------------------------------------------------------------------------------- */

static void set_up_world(struct world *world, uint32_t spines, uint32_t spine_nodes)
{
	*world = (struct world){.spines = spines,
				.spine_nodes = spine_nodes,
				.domain_count = spines,
				.from_nodes = 2};
	world->node_count = (spines + 1) * spine_nodes;
	assert_true(world->node_count <= NODES_MAX);
	world->topology = fabric_regular(spines + 1, (uint32_t[]){spine_nodes}, 1);
	world->given = osp_nodeset_new(world->node_count);
	world->taken = osp_nodeset_new(world->node_count);
	world->kept = osp_nodeset_new(world->node_count);
	world->main = osp_nodeset_new(world->node_count);
	world->elsewhere = osp_nodeset_new(world->node_count);
	world->answer = osp_nodeset_new(world->node_count);
	world->accepted = osp_nodeset_new(world->node_count);
	for (uint32_t n = 0; n < world->node_count; n++) {
		world->free_at_s[n] = NOW;
		osp_nodeset_add(n < spines * spine_nodes ? world->main : world->elsewhere, n);
	}
	for (uint32_t i = 0; i < spines; i++)
		world->domains[i] = osp_topology_domain_of(world->topology, i * spine_nodes, 1);
	osp_nodeset_assign(world->given, world->main);
}

static void clear_world(struct world *world)
{
	osp_topology_free(world->topology);
	osp_components_search_free(world->search);
	for (uint32_t i = 0; i < world->part_count; i++) {
		free(world->part[i].said);
		free(world->part[i].planned);
		free(world->part[i].only);
	}
	free(world->given);
	free(world->taken);
	free(world->kept);
	free(world->main);
	free(world->elsewhere);
	free(world->answer);
	free(world->accepted);
}

static void add_part(struct world *world, uint32_t need, bool open)
{
	world->part[world->part_count++] = (struct part){.need = need, .open = open};
}

/* Frees `free` nodes of a spine, from its first on; the others never. */
static void leave_free(struct world *world, uint32_t spine, uint32_t free_nodes)
{
	for (uint32_t i = 0; i < world->spine_nodes; i++)
		world->free_at_s[spine * world->spine_nodes + i] = i < free_nodes ? NOW : NEVER;
}

/* --- what is right, by counting --------------------------------------------------------------- */

static uint32_t sum_of_needs(const struct world *world, bool without_open)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < world->part_count; i++) {
		if (!world->part[i].runs && !(without_open && world->part[i].open))
			sum += world->part[i].need;
	}
	return sum;
}

/* When all, or all that are not open, can start in one spine, or anywhere if they are too few. */
static int64_t all_start_s(struct world *world, bool without_open)
{
	uint32_t sum = sum_of_needs(world, without_open);
	uint32_t taken = osp_nodeset_count(world->taken), first = osp_nodeset_next(world->taken, 0);
	struct osp_nodeset *within = osp_nodeset_new(world->node_count);
	int64_t best_s = NEVER, start_s;

	for (uint32_t spine = 0; spine <= world->spines; spine++) {
		bool anywhere = spine == world->spines;

		if (anywhere ? sum + taken >= world->from_nodes
			     : taken && first / world->spine_nodes != spine)
			continue;
		osp_nodeset_assign(within, world->main);
		osp_nodeset_and_not(within, world->taken);
		for (uint32_t n = 0; n < world->node_count && !anywhere; n++) {
			if (n / world->spine_nodes != spine)
				osp_nodeset_remove(within, n);
		}
		start_s = when(world, within, sum);
		best_s = start_s < best_s ? start_s : best_s;
	}
	free(within);
	return best_s;
}

static bool open_fit_elsewhere(const struct world *world)
{
	uint32_t sum = sum_of_needs(world, false) - sum_of_needs(world, true);

	return free_by(world, world->elsewhere, NOW) >= sum;
}

static int64_t right_start_s(struct world *world)
{
	bool open = sum_of_needs(world, false) != sum_of_needs(world, true);
	int64_t all_s = all_start_s(world, false);
	int64_t rest_s = open ? all_start_s(world, true) : NEVER;

	if (all_s == NOW || (rest_s == NOW && open_fit_elsewhere(world)))
		return NOW;
	if (world->run_now)
		return NEVER;
	return all_s < NEVER ? all_s : rest_s;
}

/* --- random worlds ---------------------------------------------------------------------------- */

static void random_world(struct world *world, uint64_t seed)
{
	uint32_t parts;

	random_state = seed;
	set_up_world(world, 1 + random_below(SPINES_MAX - 1), 1 + random_below(6));
	for (uint32_t n = 0; n < world->node_count; n++)
		world->free_at_s[n] = one_in(2)	  ? NOW
				      : one_in(6) ? NEVER
						  : NOW + 100 * (1 + random_below(3));
	parts = 1 + random_below(PARTS_MAX);
	for (uint32_t i = 0; i < parts; i++)
		add_part(world, 1 + random_below(3), one_in(4));
	world->own = random_below(parts);
	world->part[world->own].open = false;
	world->from_nodes = 2 + random_below(5);
	world->run_now = one_in(3);
	world->may_preempt = one_in(4);
	world->takes_high = one_in(2);
	world->looks_ahead = one_in(4);
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t n = random_below(world->spines * world->spine_nodes);

		/* one that runs, on a node of the first one's spine */
		if (i == world->own || world->part[i].open || !one_in(5) ||
		    (!osp_nodeset_empty(world->taken) &&
		     osp_nodeset_next(world->taken, 0) / world->spine_nodes !=
			     n / world->spine_nodes))
			continue;
		world->part[i].runs = true;
		osp_nodeset_add(world->taken, n);
	}
	/* as the shadow lists them: once some run, only theirs */
	if (!osp_nodeset_empty(world->taken)) {
		uint32_t first = osp_nodeset_next(world->taken, 0);

		world->domains[0] = osp_topology_domain_of(world->topology, first, 1);
		world->domain_count = 1;
	}
	osp_nodeset_and_not(world->given, world->taken);
}

static struct {
	uint32_t now, left_out, later, never;
} seen;

static void check_world(struct world *world, uint64_t seed)
{
	int64_t right_s = right_start_s(world);
	struct osp_components_choice choice = choose(world);
	int64_t all_s = all_start_s(world, false);
	bool out = right_s == NOW ? all_s != NOW : all_s == NEVER;

	if (choice.found != (right_s != NEVER))
		fail_msg("seed %" PRIu64 ": %s, but they can%s start", seed,
			 choice.found ? "found" : "not found", right_s == NEVER ? "not" : "");
	seen.now += right_s == NOW && !out;
	seen.left_out += out && right_s == NOW;
	seen.later += right_s != NOW && right_s != NEVER;
	seen.never += right_s == NEVER;
	if (!choice.found)
		return;
	if (choice.start_s != right_s)
		fail_msg("seed %" PRIu64 ": all start at %" PRId64 ", not %" PRId64, seed,
			 choice.start_s, right_s);
	osp_nodeset_or(world->accepted, world->taken);
	if (sum_of_needs(world, out) + osp_nodeset_count(world->taken) >= world->from_nodes &&
	    osp_nodeset_count(world->accepted) >= 2)
		assert_int_equal(osp_nodeset_next(world->accepted, 0) / world->spine_nodes,
				 osp_nodeset_next(world->accepted,
						  osp_nodeset_next(world->accepted, 0) + 1) /
					 world->spine_nodes);
}

static void agrees_with_counting(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct world world;

		random_world(&world, seed);
		check_world(&world, seed);
		clear_world(&world);
	}
	if (seen.now < 1000 || seen.left_out < 200 || seen.later < 1000 || seen.never < 1000)
		fail_msg("%u now, %u left out, %u later, %u never", seen.now, seen.left_out,
			 seen.later, seen.never);
}

/* Whatever was said of the others before, a start is found that is there, and promises hold. */
static void old_answers_mislead_nobody(void **state)
{
	uint32_t found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= CASES / 4; seed++) {
		struct world world;
		struct osp_components_choice choice;
		int64_t right_s;

		random_world(&world, seed);
		for (uint32_t i = 0; i < world.part_count; i++) {
			struct part *part = &world.part[i];

			if (i == world.own || part->runs || part->need > world.node_count ||
			    one_in(3))
				continue;
			part->said = osp_nodeset_new(world.node_count);
			part->said_start_s = NOW + 100 * random_below(3);
			while (osp_nodeset_count(part->said) < part->need)
				osp_nodeset_add(part->said, random_below(world.node_count));
		}
		right_s = right_start_s(&world);
		choice = choose(&world);
		if (right_s != NEVER && !choice.found)
			fail_msg("seed %" PRIu64 ": not found", seed);
		found += choice.found;
		clear_world(&world);
	}
	assert_true(found > 1000);
}

/* --- one case each ---------------------------------------------------------------------------- */

/* The scheduler would give the own one a node of the first spine; both fit in the second alone. */
static void goes_where_all_fit(void **state)
{
	struct world world;
	struct osp_components_choice choice;

	(void)state;
	set_up_world(&world, 2, 4);
	leave_free(&world, 0, 3);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	choice = choose(&world);
	assert_true(choice.found && choice.splits);
	assert_int_equal(choice.start_s, NOW);
	assert_int_equal(osp_nodeset_next(world.accepted, 0) / 4, 1);
	clear_world(&world);
}

/* The scheduler would give the own one the only nodes that the other may have. */
static void the_other_comes_first_where_its_nodes_are_few(void **state)
{
	(void)state;
	for (uint32_t now = 0; now < 2; now++) {
		struct world world;
		struct osp_components_choice choice;

		set_up_world(&world, 2, 4);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		world.part[1].only = osp_nodeset_new(world.node_count);
		osp_nodeset_add(world.part[1].only, 0);
		osp_nodeset_add(world.part[1].only, 1);
		for (uint32_t n = 0; n < 4 && !now; n++)
			world.free_at_s[n] = NOW + 100;
		choice = choose(&world);
		assert_true(choice.found);
		assert_int_equal(choice.start_s, now ? NOW : NOW + 100);
		assert_int_equal(osp_nodeset_next(world.accepted, 0), 2);
		clear_world(&world);
	}
}

/* One that may run elsewhere is left out if it has room there now, and only then. */
static void leaves_out_what_has_room_elsewhere(void **state)
{
	(void)state;
	for (uint32_t room = 0; room < 2; room++) {
		struct world world;
		struct osp_components_choice choice;

		set_up_world(&world, 1, 3);
		add_part(&world, 2, false);
		add_part(&world, 2, true);
		leave_free(&world, 1, room ? 2 : 1);
		world.run_now = true;
		choice = choose(&world);
		assert_int_equal(choice.found, room == 1);
		clear_world(&world);
	}
}

/* --- slow answers ----------------------------------------------------------------------------- */

#define SLOW_MS (OSP_CHOOSE_BUDGET_MS + 1)

/* A call that may take so long for the two questions that it is sure to ask. */
static struct osp_components_choice choose_slowly(struct world *world)
{
	struct osp_components_choice choice;

	world->step_ms = world->question_us ? 0 : SLOW_MS;
	choice = choose(world);
	assert_in_range(world->questions, 0, 2);
	return choice;
}

/* If time is up at once, domain after domain is asked in the calls that follow. */
static void goes_on_in_the_next_call(void **state)
{
	struct world world;
	uint32_t calls = 0;
	bool found = false;

	(void)state;
	set_up_world(&world, 3, 4);
	for (uint32_t n = 0; n < 8; n++)
		world.free_at_s[n] = n % 4 < 3 ? NOW + 100 : NEVER;
	for (uint32_t n = 8; n < 12; n++)
		world.free_at_s[n] = NOW + 300;
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	for (; !found && calls < 20; calls++)
		found = choose_slowly(&world).found;
	assert_true(found);
	assert_in_range(calls, 3, 10); /* the first, anywhere, and two for each domain */
	assert_int_equal(osp_nodeset_next(world.accepted, 0) / 4, 2);
	clear_world(&world);
}

/* However slow the answers are, or count for being, what can start is found, the soonest start in
 * the end, and it is not lost again. */
static void slow_answers_hide_no_start(void **state)
{
	uint32_t found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= CASES / 4; seed++) {
		struct world world;
		struct osp_components_choice choice = {.found = false};
		int64_t right_s, all_s;
		uint32_t most;

		random_world(&world, seed);
		world.run_now = false;
		world.question_us = seed % 2 ? SLOW_MS * 1000 : 0;
		right_s = right_start_s(&world);
		all_s = all_start_s(&world, false);
		/* in four rounds: with and without those that may run elsewhere, and again */
		most = 4 * (world.domain_count + 1) * (world.part_count + 1);
		for (uint32_t i = 0; i < most && !choice.found; i++)
			choice = choose_slowly(&world);
		if (choice.found != (right_s != NEVER))
			fail_msg("seed %" PRIu64 ": %s", seed,
				 choice.found ? "found" : "not found");
		for (uint32_t i = 0; i < most && choice.found; i++) {
			choice = choose_slowly(&world);
			if (!choice.found)
				fail_msg("seed %" PRIu64 ": lost after %u calls", seed, i + 1);
		}
		if (choice.found && all_s != NEVER && all_s == right_s && choice.start_s != all_s &&
		    sum_of_needs(&world, false) == sum_of_needs(&world, true))
			fail_msg("seed %" PRIu64 ": all start at %" PRId64 ", not %" PRId64, seed,
				 choice.start_s, all_s);
		found += choice.found;
		clear_world(&world);
	}
	assert_true(found > 1000);
}

/* Asks about one component after the other, as backfill does; returns whether all have a place. */
static bool plan_all(struct world *world)
{
	uint32_t domains[SPINES_MAX], domain_count = world->domain_count, planned = 0;

	memcpy(domains, world->domains, sizeof(domains));
	for (world->own = 0; world->own < world->part_count; world->own++) {
		uint32_t first = osp_nodeset_next(world->taken, 0);

		if (first < world->node_count) {
			world->domains[0] = osp_topology_domain_of(world->topology, first, 1);
			world->domain_count = 1;
		}
		if (choose_slowly(world).found) {
			world->part[world->own].runs = true;
			osp_nodeset_or(world->taken, world->accepted);
			osp_nodeset_and_not(world->given, world->accepted);
			planned++;
		}
	}
	for (uint32_t i = 0; i < world->part_count; i++)
		world->part[i].runs = false;
	osp_nodeset_clear(world->taken);
	osp_nodeset_assign(world->given, world->main);
	memcpy(world->domains, domains, sizeof(domains));
	world->domain_count = domain_count;
	return planned == world->part_count;
}

/* Five components, one question each time: a few cycles later all of them are planned in each. */
static void five_components_are_planned_however_slow(void **state)
{
	struct world world;
	uint32_t cycles = 0;

	(void)state;
	set_up_world(&world, 3, 5);
	leave_free(&world, 1, 4);
	world.from_nodes = 3;
	add_part(&world, 1, false);
	add_part(&world, 1, false);
	add_part(&world, 1, false);
	add_part(&world, 1, false);
	add_part(&world, 1, false);
	leave_free(&world, 0, 2); /* where the scheduler would begin */
	while (!plan_all(&world))
		assert_true(++cycles < 8);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(plan_all(&world));
	clear_world(&world);
}

/* A plan that no longer holds is given up, and another one found. */
static void a_plan_that_is_gone_is_replaced(void **state)
{
	struct world world;
	bool found = false;

	(void)state;
	set_up_world(&world, 2, 4);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	for (uint32_t i = 0; i < 10; i++)
		found = choose_slowly(&world).found;
	assert_true(found && osp_nodeset_next(world.accepted, 0) < 4);
	leave_free(&world, 0, 1);
	assert_false(choose_slowly(&world).found);
	for (uint32_t i = 0; i < 10; i++)
		found = choose_slowly(&world).found;
	assert_true(found && osp_nodeset_next(world.accepted, 0) >= 4);
	world.step_ms = 0; /* quick again: the first such call forgets what the slow ones knew */
	assert_true(choose(&world).found);
	leave_free(&world, 1, 1);
	leave_free(&world, 0, 4);
	assert_true(choose(&world).found);
	clear_world(&world);
}

/* The domain of the plan, or of the answers so far, is offered no longer. */
static void a_domain_that_is_gone_holds_no_plan(void **state)
{
	(void)state;
	for (uint32_t calls = 1; calls < 12; calls++) {
		struct world world;
		bool found = false;

		set_up_world(&world, 2, 4);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		leave_free(&world, 1, 1);
		for (uint32_t i = 0; i < calls; i++)
			found = choose_slowly(&world).found;
		assert_true(found || calls < 8);
		world.domains[0] = world.domains[1];
		world.domain_count = 1;
		leave_free(&world, 0, 0);
		leave_free(&world, 1, 4);
		for (uint32_t i = 0; i < 12; i++)
			found = choose_slowly(&world).found;
		assert_true(found && osp_nodeset_next(world.accepted, 0) >= 4);
		clear_world(&world);
	}
}

/* Where nothing can be kept, slow calls find nothing, and quick ones all. */
static void what_is_not_kept_is_asked_anew(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct world world;

		set_up_world(&world, 1, 6);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		world.forgets = i == 0;
		world.first_offset = i ? OSP_COMPONENTS_MAX : 0;
		for (uint32_t n = 0; n < 10; n++)
			assert_false(choose_slowly(&world).found);
		world.step_ms = 0;
		choose(&world); /* the first quick one ends the slow ones */
		assert_true(choose(&world).found);
		clear_world(&world);
	}
}

/* A start now asks as long as it has time, and believes the plan of the others. */
static void a_slow_start_believes_the_plan(void **state)
{
	(void)state;
	for (uint32_t known = 0; known < 2; known++) {
		struct world world;

		set_up_world(&world, 1, 6);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		world.run_now = true;
		for (uint32_t i = 1; i < 3 && known; i++) {
			world.part[i].planned = osp_nodeset_new(world.node_count);
			osp_nodeset_add(world.part[i].planned, 2 * i);
			osp_nodeset_add(world.part[i].planned, 2 * i + 1);
		}
		assert_int_equal(choose_slowly(&world).found, known == 1);
		clear_world(&world);
	}
}

static void plan_on(struct world *world, uint32_t part, uint32_t first, uint32_t count)
{
	world->part[part].planned = osp_nodeset_new(world->node_count);
	for (uint32_t n = first; n < first + count; n++)
		osp_nodeset_add(world->part[part].planned, n);
}

/* A start is asked for on the nodes of the plan, if these are offered; a later one is not. */
static void starts_where_it_was_planned(void **state)
{
	struct world world;

	(void)state;
	set_up_world(&world, 2, 4);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	plan_on(&world, 0, 4, 2);
	plan_on(&world, 1, 6, 2);
	assert_true(choose(&world).found);
	assert_int_equal(osp_nodeset_next(world.accepted, 0), 0);
	world.run_now = true;
	assert_true(choose(&world).found);
	assert_int_equal(osp_nodeset_next(world.accepted, 0), 4);
	assert_int_equal(world.questions, 2);
	osp_nodeset_remove(world.given, 5);
	assert_true(choose(&world).found);
	assert_int_equal(osp_nodeset_next(world.accepted, 0), 0);
	assert_int_equal(world.questions, 2);
	/* the other one has no room there now */
	osp_nodeset_add(world.given, 5);
	leave_free(&world, 1, 3);
	assert_true(choose(&world).found);
	assert_int_equal(osp_nodeset_next(world.accepted, 0), 0);
	clear_world(&world);
}

/* What was said in this cycle spares the question, unless it leads to a no. */
static void asks_no_more_than_it_must(void **state)
{
	struct world world;
	uint32_t without;

	(void)state;
	set_up_world(&world, 1, 6);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	assert_true(choose(&world).found);
	without = world.questions;
	for (uint32_t i = 1; i < 3; i++) {
		world.part[i].said = osp_nodeset_new(world.node_count);
		world.part[i].said_start_s = NOW;
		osp_nodeset_add(world.part[i].said, 2 * i);
		osp_nodeset_add(world.part[i].said, 2 * i + 1);
	}
	assert_true(choose(&world).found);
	assert_int_equal(without, 3);
	assert_int_equal(world.questions, 1);
	clear_world(&world);
}

/* An earlier answer of this cycle says that all start later: nothing is asked about now, unless no
 * later start helps either. */
static void believes_when_all_start(void **state)
{
	(void)state;
	for (uint32_t now = 0; now < 2; now++) {
		struct world world;

		set_up_world(&world, 1, 4);
		add_part(&world, 2, false);
		add_part(&world, 2, false);
		world.run_now = now;
		world.all_start_s = NOW + 500;
		for (uint32_t n = 0; n < 4 && !now; n++)
			world.free_at_s[n] = NOW + 500;
		assert_true(choose(&world).found);
		assert_int_equal(world.questions, now ? 2 : 4);
		clear_world(&world);
	}
}

/* Nodes that settle are not for a start now; those that are stuck are the last choice. */
static void waits_for_no_stuck_node(void **state)
{
	(void)state;
	for (uint32_t stuck = 0; stuck < 2; stuck++) {
		struct world world;
		struct osp_components_choice choice;

		set_up_world(&world, 1, 4);
		add_part(&world, 1, false);
		add_part(&world, 1, false);
		world.settling = osp_nodeset_new(world.node_count);
		osp_nodeset_add(world.settling, 0);
		world.stuck = stuck ? osp_nodeset_copy(world.settling) : NULL;
		world.free_at_s[2] = NOW + 100;
		world.free_at_s[3] = NEVER;
		choice = choose(&world);
		assert_true(choice.found);
		assert_int_equal(choice.start_s, stuck ? NOW + 100 : NOW);
		assert_int_equal(osp_nodeset_next(world.accepted, 0), stuck ? 1 : 0);
		world.free_at_s[2] = NEVER; /* then nothing else is left */
		choice = choose(&world);
		assert_true(choice.found);
		assert_int_equal(choice.start_s, NOW);
		world.run_now = true;
		assert_false(choose(&world).found);
		free(world.settling);
		free(world.stuck);
		clear_world(&world);
	}
}

static bool finds(void *context)
{
	return choose(context).found;
}

static void finds_nothing_without_memory(void **state)
{
	struct world world;

	(void)state;
	set_up_world(&world, 2, 4);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	assert_int_equal(no_memory_at_each(finds, &world), 4);
	clear_world(&world);
}

/* In one of the calls an allocation fails; those that follow find the plan nevertheless. */
static bool finds_in_slow_calls(void *context)
{
	struct world *world = context;
	bool found = false;

	osp_components_search_free(world->search);
	world->search = NULL;
	for (uint32_t i = 0; i < 20 && !found; i++)
		found = choose_slowly(world).found;
	return found;
}

static void slow_calls_without_memory_are_made_up_for(void **state)
{
	struct world world;

	(void)state;
	set_up_world(&world, 2, 4);
	add_part(&world, 2, false);
	add_part(&world, 2, false);
	leave_free(&world, 0, 3);
	/* four sets of nodes a call, and what is kept */
	assert_true(no_memory_everywhere(finds_in_slow_calls, &world) > 4 * 3 + 1);
	clear_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_counting),
		cmocka_unit_test(old_answers_mislead_nobody),
		cmocka_unit_test(goes_where_all_fit),
		cmocka_unit_test(the_other_comes_first_where_its_nodes_are_few),
		cmocka_unit_test(leaves_out_what_has_room_elsewhere),
		cmocka_unit_test(goes_on_in_the_next_call),
		cmocka_unit_test(slow_answers_hide_no_start),
		cmocka_unit_test(five_components_are_planned_however_slow),
		cmocka_unit_test(a_plan_that_is_gone_is_replaced),
		cmocka_unit_test(a_domain_that_is_gone_holds_no_plan),
		cmocka_unit_test(what_is_not_kept_is_asked_anew),
		cmocka_unit_test(a_slow_start_believes_the_plan),
		cmocka_unit_test(starts_where_it_was_planned),
		cmocka_unit_test(asks_no_more_than_it_must),
		cmocka_unit_test(believes_when_all_start),
		cmocka_unit_test(waits_for_no_stuck_node),
		cmocka_unit_test(finds_nothing_without_memory),
		cmocka_unit_test(slow_calls_without_memory_are_made_up_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
