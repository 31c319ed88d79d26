/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_place.c - what a decision of placement costs, by fabric size and level
 *
 * Prints a table of medians; asserts nothing. Run by hand: tests/bench/bench_place
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/choose/choose.h"
#include "lib/place/place.h"
#include "lib/place/segments.h"
#include "tests/bench/rounds.h"
#include "tests/fabric.h"

#define ROUNDS 101

struct shape {
	uint32_t tops;
	uint32_t levels;
	uint32_t below[3];
	uint32_t level; /* asked */
	uint32_t gang;
};

static const struct shape shapes[] = {
	{4, 2, {16, 16}, 2, 48},       {32, 2, {16, 16}, 2, 48},       {256, 2, {16, 16}, 2, 48},
	{512, 2, {16, 16}, 2, 48},     {128, 2, {16, 64}, 2, 200},     {512, 2, {16, 16}, 1, 12},
	{32, 3, {16, 16, 16}, 3, 700}, {1, 3, {512, 16, 16}, 3, 5000}, {512, 2, {16, 16}, 2, 1},
};

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

/* Two nodes of five are busy. */
static void make_busy(struct osp_nodeset *free_nodes, int64_t *free_at_s)
{
	for (uint32_t n = 0; n < free_nodes->place_count; n++) {
		osp_nodeset_add(free_nodes, n);
		free_at_s[n] = 0;
		if (random_below(5) > 1)
			continue;
		osp_nodeset_remove(free_nodes, n);
		free_at_s[n] = 1700000000 + random_below(86400);
	}
}

static double time_decision(struct osp_place *place, const struct osp_place_input *input,
			    struct osp_nodeset *chosen)
{
	double us[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t candidates;
		uint32_t domains;
		double start = bench_now_us();
		const struct osp_place_domain *best =
			osp_place_order(place, input, &candidates, &domains);

		if (candidates)
			osp_place_pick(place, input, best->domain, best->kind, chosen);
		us[i] = bench_now_us() - start;
	}
	return bench_median(us, ROUNDS);
}

static double time_by_time(struct osp_place *place, const struct osp_place_input *input,
			   const int64_t *free_at_s)
{
	double us[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t candidates;
		uint32_t domains;
		double start = bench_now_us();

		osp_place_by_time(place, input, free_at_s, 1700000000, &candidates, &domains);
		us[i] = bench_now_us() - start;
	}
	return bench_median(us, ROUNDS);
}

static void run(const struct shape *shape)
{
	struct osp_topology *topology = fabric_regular(shape->tops, shape->below, shape->levels);
	uint32_t nodes = osp_topology_node_count(topology);
	struct osp_place *place = osp_place_new(topology, 4);
	struct osp_nodeset *usable = osp_nodeset_new(nodes);
	struct osp_nodeset *free_nodes = osp_nodeset_new(nodes);
	struct osp_nodeset *chosen = osp_nodeset_new(nodes);
	int64_t *free_at_s = calloc(nodes, sizeof(*free_at_s));
	uint32_t *weight = calloc(nodes, sizeof(*weight));
	uint16_t *kind = calloc(nodes, sizeof(*kind));
	struct osp_place_input input = {.level = shape->level,
					.need_nodes = shape->gang,
					.want_nodes = shape->gang,
					.free_only = true};
	uint32_t first;
	uint32_t domains;

	if (!place || !usable || !free_nodes || !chosen || !free_at_s || !weight || !kind)
		abort();
	osp_nodeset_fill(usable);
	make_busy(free_nodes, free_at_s);
	for (uint32_t n = 0; n < nodes; n++) {
		weight[n] = n % 16 < 4 ? 1 : 1000;
		kind[n] = n % 256 < 192;
	}
	osp_topology_level_domains(topology, shape->level, &first, &domains);
	input.usable = usable;
	input.free = free_nodes;
	printf("%7" PRIu32 " %-5s %7" PRIu32 " %5" PRIu32, nodes,
	       osp_topology_level_name(topology, shape->level), domains, shape->gang);
	printf(" %9.1f", time_decision(place, &input, chosen));
	input.weight = weight;
	input.kind = kind;
	input.kind_count = 2;
	printf(" %9.1f", time_decision(place, &input, chosen));
	printf(" %9.1f\n", time_by_time(place, &input, free_at_s));
	free(kind);
	free(weight);
	free(free_at_s);
	free(chosen);
	free(free_nodes);
	free(usable);
	osp_place_free(place);
	osp_topology_free(topology);
}

/* --- segments --------------------------------------------------------------------------------- */

/* 131,072 nodes: racks of 16, leaves of 4 racks, spines of 32 leaves. */
struct cut_shape {
	uint32_t domains_max;
	uint32_t gang;
	struct osp_segments segments;
};

static const struct cut_shape cut_shapes[] = {
	{1, 1000, {0, {{0, 0}}}},
	{1, 512, {2, {{1, 8}, {2, 16}}}},
	{1, 515, {2, {{1, 8}, {2, 16}}}},
	{64, 20000, {2, {{1, 8}, {2, 16}}}},
	{64, 20003, {2, {{1, 8}, {2, 16}}}},
};

static double time_cut(struct osp_cut *cut, const struct osp_cut_input *input,
		       struct osp_nodeset *chosen, uint32_t *taken)
{
	double us[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double start = bench_now_us();

		*taken = osp_cut_pick(cut, input, chosen);
		us[i] = bench_now_us() - start;
	}
	return bench_median(us, ROUNDS);
}

static void run_cuts(void)
{
	struct osp_topology *topology = fabric_regular(64, (uint32_t[]){32, 4, 16}, 3);
	uint32_t nodes = osp_topology_node_count(topology);
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *free_nodes = osp_nodeset_new(nodes), *chosen = osp_nodeset_new(nodes);
	int64_t *free_at_s = calloc(nodes, sizeof(*free_at_s));

	if (!cut || !free_nodes || !chosen || !free_at_s)
		abort();
	make_busy(free_nodes, free_at_s);
	printf("\nsegments: medians of %d, in us, decision and nodes; %" PRIu32
	       " nodes, 2 of 5 busy\n",
	       ROUNDS, nodes);
	printf("%7s %8s %-16s %7s %9s\n", "gang", "spines<=", "segments", "taken", "us");
	for (size_t i = 0; i < sizeof(cut_shapes) / sizeof(cut_shapes[0]); i++) {
		struct osp_cut_input input = {.level = 3,
					      .domains_max = cut_shapes[i].domains_max,
					      .nodes = cut_shapes[i].gang,
					      .segments = cut_shapes[i].segments,
					      .free = free_nodes};
		char words[64];
		uint32_t taken;
		double us = time_cut(cut, &input, chosen, &taken);

		printf("%7" PRIu32 " %8" PRIu32 " %-16s %7" PRIu32 " %9.1f\n", input.nodes,
		       input.domains_max,
		       osp_segments_format(&input.segments, topology, words, sizeof(words)), taken,
		       us);
	}
	free(free_at_s);
	free(chosen);
	free(free_nodes);
	osp_cut_free(cut);
	osp_topology_free(topology);
}

/* --- a whole call of the scheduler ------------------------------------------------------------ */

#define PLAN_ROUNDS 31
#define PLAN_NOW_S  1700000000
#define DAY_S	    86400

/* A scheduler that says yes to whatever fits by the ends of jobs. */
struct plan {
	const int64_t *free_at_s;
	uint32_t nodes;
};

static bool say_yes(void *context, const struct osp_question *question, struct osp_answer *answer)
{
	const struct plan *plan = context;

	osp_nodeset_assign(answer->nodes, question->nodes);
	answer->start_s = PLAN_NOW_S;
	answer->processors = 1;
	for (uint32_t n = osp_nodeset_next(question->nodes, 0); n < plan->nodes;
	     n = osp_nodeset_next(question->nodes, n + 1)) {
		if (plan->free_at_s[n] > answer->start_s)
			answer->start_s = plan->free_at_s[n];
	}
	return true;
}

static void give_times(void *context, bool preempting, int64_t *free_at_s)
{
	const struct plan *plan = context;

	(void)preempting;
	memcpy(free_at_s, plan->free_at_s, plan->nodes * sizeof(*free_at_s));
}

static int64_t no_time(void *context)
{
	(void)context;
	return 0;
}

/* Prints the median and the largest of a call's processor times, as other load does not count. */
static void print_call(struct osp_chooser *chooser, struct osp_choose_input *input,
		       const struct osp_choose_calls *calls)
{
	double us[PLAN_ROUNDS], median;
	struct osp_choice choice;

	for (uint32_t i = 0; i < PLAN_ROUNDS; i++) {
		double start = bench_cpu_us();

		input->job = i + 1; /* none whose earlier calls are remembered */
		osp_choose(chooser, input, calls, &choice);
		us[i] = bench_cpu_us() - start;
	}
	median = bench_median(us, PLAN_ROUNDS);
	printf("%7" PRIu32 " %5u %5" PRIu32 " %-16s %-8s %7s %9.1f %9.1f\n",
	       input->place.usable->place_count, input->place.kind ? input->place.kind_count : 1,
	       input->place.need_nodes,
	       input->parts->segments.count > 1	  ? "leaf:8,spine:16"
	       : input->parts->segments.count > 0 ? "leaf:16"
						  : "domains<=4",
	       input->mode == OSP_CHOOSE_RUN_NOW ? "start" : "plan",
	       choice.found ? choice.start_s > PLAN_NOW_S ? "later" : "now" : "no", median,
	       us[PLAN_ROUNDS - 1]);
}

#define KINDS 4

/*
 * Each node of two of five is busy for a time of its own, up to a day. With `kinds` each run of
 * four leaves is of another kind, in turn: each is asked for by itself.
 */
static void run_calls(uint32_t spines, bool kinds)
{
	static const struct osp_parts parts[] = {
		{1, {1, {{1, 16}}}},
		{1, {2, {{1, 8}, {2, 16}}}},
		{4, {0, {{0, 0}}}},
	};
	struct osp_topology *topology = fabric_regular(spines, (uint32_t[]){32, 4, 16}, 3);
	uint32_t nodes = osp_topology_node_count(topology);
	struct osp_place *place = osp_place_new(topology, 4);
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_chooser *chooser = osp_chooser_new(topology, place, cut);
	struct osp_nodeset *usable = osp_nodeset_new(nodes), *free_nodes = osp_nodeset_new(nodes);
	int64_t *free_at_s = calloc(nodes, sizeof(*free_at_s));
	uint16_t *kind = calloc(nodes, sizeof(*kind));
	struct plan plan = {free_at_s, nodes};
	const struct osp_choose_calls calls = {
		.ask = say_yes, .free_times = give_times, .elapsed_ms = no_time, .context = &plan};

	if (!chooser || !usable || !free_nodes || !free_at_s || !kind)
		abort();
	osp_nodeset_fill(usable);
	make_busy(free_nodes, free_at_s);
	for (uint32_t n = 0; n < nodes; n++)
		kind[n] = (uint16_t)(n / 64 % KINDS);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (int mode = OSP_CHOOSE_RUN_NOW; mode <= OSP_CHOOSE_WILL_RUN; mode++) {
			/* more than what is free of a spine, so that a plan lies in the future */
			uint32_t gang =
				(mode == OSP_CHOOSE_RUN_NOW ? 512u : 1536u) / (kinds ? KINDS : 1);
			struct osp_choose_input input = {.mode = (enum osp_choose_mode)mode,
							 .parts = &parts[i],
							 .now_s = PLAN_NOW_S,
							 .exact_size = true,
							 .place = {.level = 3,
								   .need_nodes = gang,
								   .want_nodes = gang,
								   .free_only = true,
								   .usable = usable,
								   .free = free_nodes}};

			if (kinds) {
				input.place.kind = kind;
				input.place.kind_count = KINDS;
			}
			if (!input.parts->segments.count)
				input.place.need_nodes = input.place.want_nodes = 4 * gang;
			print_call(chooser, &input, &calls);
		}
	}
	free(kind);
	free(free_at_s);
	free(free_nodes);
	free(usable);
	osp_chooser_free(chooser);
	osp_cut_free(cut);
	osp_place_free(place);
	osp_topology_free(topology);
}

int main(void)
{
	printf("medians of %d, in us; 2 of 5 nodes busy at random\n", ROUNDS);
	printf("%7s %-5s %7s %5s %9s %9s %9s\n", "nodes", "level", "domains", "gang", "decision",
	       "+weights", "by_time");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		run(&shapes[i]);
	run_cuts();
	printf("\na whole call for a gang in segments or several domains, without Slurm's own "
	       "function: of %d, in us of processor\n",
	       PLAN_ROUNDS);
	printf("%7s %5s %5s %-16s %-8s %7s %9s %9s\n", "nodes", "kinds", "gang", "asked", "call",
	       "starts", "median", "largest");
	run_calls(32, false);
	run_calls(32, true);
	run_calls(64, false);
	return 0;
}
