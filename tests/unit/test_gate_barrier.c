/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree and the barrier: a gang of state machines on a clock and a network that are not there,
 * up to 10,000 of them, with nodes that begin late, are slow, or are dead, and come and go.
 */
#include "onespine_config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/gate/gate_barrier.h"

#define BUDGET_MS 10000
#define RETRY_MS  50 /* between two attempts to connect */
#define NEVER_MS  UINT64_MAX

#ifdef OSP_SANITIZED /* slow, and no further path is looked for: the first of the seeds */
#define ROUNDS 80
#else
#define ROUNDS 400
#endif

/* --- the tree --------------------------------------------------------------------------------- */

static void parents(void **state)
{
	static const struct {
		uint32_t rank, node_count, count, parents[6];
	} cases[] = {
		{0, 1, 0, {0}},
		{1, 2, 1, {0}},
		{2, 64, 2, {0, 1}},
		{3, 64, 3, {0, 1, 2}},
		{4, 64, 4, {0, 1, 2, 3}},
		{17, 64, 4, {1, 0, 2, 3}},
		{63, 64, 4, {3, 0, 1, 2}},
		{300, 1024, 5, {18, 1, 0, 2, 3}},
		{2, 3, 2, {0, 1}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t is[OSP_GATE_PARENTS_MAX];

		assert_int_equal(osp_gate_parents(cases[i].rank, cases[i].node_count, is),
				 cases[i].count);
		for (uint32_t n = 0; n < cases[i].count; n++)
			assert_int_equal(is[n], cases[i].parents[n]);
	}
}

/* Every size up to 700: subtrees add up, nobody has more partners than the fanout, and whom a node
 * may turn to will hear it. */
static void the_tree_is_whole(void **state)
{
	(void)state;
	for (uint32_t count = 1; count <= 700; count += count < 40 ? 1 : 33) {
		for (uint32_t rank = 0; rank < count; rank++) {
			uint32_t is[OSP_GATE_PARENTS_MAX], below = 0, direct = 0;
			uint32_t many = osp_gate_parents(rank, count, is);

			for (uint32_t other = 0; other < count; other++) {
				uint32_t his[OSP_GATE_PARENTS_MAX];

				if (osp_gate_is_below(other, rank))
					below++;
				if (osp_gate_parents(other, count, his) && his[0] == rank)
					direct++;
			}
			assert_int_equal(below, osp_gate_subtree(rank, count));
			assert_in_range(direct, 0, OSP_GATE_FANOUT);
			for (uint32_t n = 0; n < many; n++)
				assert_true(osp_gate_may_report(rank, is[n], count));
		}
	}
	assert_int_equal(osp_gate_height(16), 1);
	assert_int_equal(osp_gate_height(1024), 3);
	assert_int_equal(osp_gate_height(10000), 4);
	assert_false(osp_gate_may_report(17, 4, 64));
	assert_false(osp_gate_may_report(1, 17, 64));
	assert_false(osp_gate_may_report(64, 0, 64));
}

static void deadlines_come_in_order(void **state)
{
	(void)state;
	for (uint32_t budget_s = 1; budget_s <= 3600; budget_s *= 3) {
		struct osp_gate_times high = osp_gate_times(budget_s * 1000, 0, 1024),
				      low = osp_gate_times(budget_s * 1000, 1023, 1024);

		assert_true(low.check_ms < low.report_ms && low.report_ms < high.report_ms);
		assert_true(high.report_ms < high.decide_ms && high.decide_ms < high.verdict_ms);
		/* Who turns from a dead parent at its own report time still comes in time. */
		assert_true(osp_gate_times(budget_s * 1000, 17, 1024).report_ms + low.turn_ms <=
			    high.decide_ms);
		assert_int_equal(high.verdict_ms, budget_s * 1000);
	}
}

/* The others wait for the verdict no longer than their budget, and may have begun earlier. */
static void leaves_time_to_report(void **state)
{
	struct osp_gate_times times = osp_gate_times(24000, 0, 3);
	static const uint32_t now_until_ms[][2] = {
		{0, 21600},	{12000, 21600}, {19200, 21600}, {20000, 22000},
		{23000, 23500}, {24000, 24000}, {30000, 24000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(now_until_ms) / sizeof(now_until_ms[0]); i++)
		assert_int_equal(osp_gate_ask_until_ms(&times, now_until_ms[i][0]),
				 now_until_ms[i][1]);
}

/* --- a gang ----------------------------------------------------------------------------------- */

struct node {
	struct osp_gate_barrier barrier;
	uint64_t begins_ms;
	uint64_t checked_ms; /* when its own check is done; NEVER_MS: it hangs */
	uint64_t dies_ms;
	uint64_t wake_ms; /* the next event of its own */
	bool begun, dead, reported, verdict, alone, decider;
	uint32_t partners; /* connected from below now */
	uint32_t partners_most;
	int32_t connected_to; /* rank, -1 = nobody */
	uint64_t verdict_ms;
};

struct gang {
	struct node *nodes;
	uint32_t count;
	uint64_t messages;
	uint64_t decided_ms;
	uint32_t deciders;
	struct osp_gate_report *decision;
	struct osp_gate_report *buffer;
};

static void gang_start(struct gang *gang, uint32_t count)
{
	memset(gang, 0, sizeof(*gang));
	gang->count = count;
	gang->nodes = calloc(count, sizeof(*gang->nodes));
	gang->decision = calloc(count, sizeof(*gang->decision));
	gang->buffer = calloc(count, sizeof(*gang->buffer));
	assert_true(gang->nodes && gang->decision && gang->buffer);
	for (uint32_t i = 0; i < count; i++) {
		struct node *node = &gang->nodes[i];

		assert_int_equal(osp_gate_barrier_start(&node->barrier, i, count, BUDGET_MS), 0);
		node->checked_ms = 20;
		node->dies_ms = NEVER_MS;
		node->connected_to = -1;
	}
}

static void gang_free(struct gang *gang)
{
	for (uint32_t i = 0; i < gang->count; i++)
		osp_gate_barrier_free(&gang->nodes[i].barrier);
	free(gang->nodes);
	free(gang->decision);
	free(gang->buffer);
}

static uint32_t parent_of(const struct node *node)
{
	return node->barrier.parents[node->barrier.parent];
}

static void leave(struct gang *gang, struct node *node)
{
	if (node->connected_to >= 0)
		gang->nodes[node->connected_to].partners--;
	node->connected_to = -1;
}

static void connect_node(struct gang *gang, uint32_t rank, uint64_t own_ms, uint64_t now_ms)
{
	struct node *node = &gang->nodes[rank], *above = &gang->nodes[parent_of(node)];

	/* A node that has the verdict has gone. */
	if (!above->begun || above->dead || above->verdict) {
		osp_gate_barrier_refused(&node->barrier, own_ms);
		node->wake_ms = now_ms + RETRY_MS;
		return;
	}
	assert_true(osp_gate_may_report(rank, parent_of(node), gang->count));
	node->connected_to = (int32_t)parent_of(node);
	if (++above->partners > above->partners_most)
		above->partners_most = above->partners;
	osp_gate_barrier_connected(&node->barrier);
}

static void send_reports(struct gang *gang, struct node *node, uint64_t now_ms)
{
	struct node *above = &gang->nodes[node->connected_to];
	uint32_t count = osp_gate_barrier_take(&node->barrier, gang->buffer);

	gang->messages++;
	for (uint32_t i = 0; i < count; i++) {
		assert_true(!i || gang->buffer[i].rank > gang->buffer[i - 1].rank);
		assert_true(osp_gate_barrier_hear(&above->barrier, &gang->buffer[i],
						  now_ms - above->begins_ms) >= 0);
	}
	if (above->wake_ms > now_ms + 1)
		above->wake_ms = now_ms + 1;
}

/* The verdict goes to everybody who is connected, and from there on; a step of 1 ms each. */
static void report_verdict(struct gang *gang, uint32_t rank, uint64_t now_ms)
{
	gang->nodes[rank].verdict = true;
	gang->nodes[rank].verdict_ms = now_ms;
	osp_gate_barrier_end(&gang->nodes[rank].barrier);
	for (uint32_t i = 0; i < gang->count; i++)
		if (gang->nodes[i].connected_to == (int32_t)rank && !gang->nodes[i].dead) {
			leave(gang, &gang->nodes[i]);
			gang->messages++;
			report_verdict(gang, i, now_ms + 1);
		}
}

static void die(struct gang *gang, uint32_t rank, uint64_t now_ms)
{
	int32_t above = gang->nodes[rank].connected_to;

	gang->nodes[rank].dead = true;
	leave(gang, &gang->nodes[rank]);
	if (above >= 0) {
		assert_int_equal(osp_gate_barrier_gone(&gang->nodes[above].barrier, rank), 0);
		gang->nodes[above].wake_ms = now_ms + 1;
	}
	for (uint32_t i = 0; i < gang->count; i++)
		if (gang->nodes[i].connected_to == (int32_t)rank) {
			leave(gang, &gang->nodes[i]);
			osp_gate_barrier_lost(&gang->nodes[i].barrier,
					      now_ms - gang->nodes[i].begins_ms);
			gang->nodes[i].wake_ms = now_ms + 1;
		}
}

static void decide(struct gang *gang, uint32_t rank, uint64_t now_ms)
{
	gang->deciders++;
	gang->decided_ms = now_ms;
	gang->nodes[rank].decider = true;
	osp_gate_barrier_all(&gang->nodes[rank].barrier, gang->decision);
	report_verdict(gang, rank, now_ms);
}

static void own_check(struct gang *gang, uint32_t rank, uint64_t own_ms)
{
	struct node *node = &gang->nodes[rank];
	struct osp_gate_report report = {.rank = rank, .result = OSP_VERDICT_PASS};

	(void)gang;
	if (node->reported || (own_ms < node->checked_ms && own_ms < node->barrier.times.check_ms))
		return;
	if (own_ms < node->checked_ms)
		report.result = OSP_VERDICT_ERROR; /* it hangs, and its time is over */
	node->reported = true;
	assert_int_equal(osp_gate_barrier_hear(&node->barrier, &report, own_ms), 1);
}

static void step_node(struct gang *gang, uint32_t rank, uint64_t now_ms)
{
	struct node *node = &gang->nodes[rank];
	uint64_t own_ms = now_ms - node->begins_ms, wake_ms;
	enum osp_gate_step step;

	own_check(gang, rank, own_ms);
	step = osp_gate_barrier_step(&node->barrier, own_ms, &wake_ms);
	node->wake_ms = node->begins_ms + wake_ms;
	if (!node->reported) {
		uint64_t checked_ms = node->checked_ms < node->barrier.times.check_ms
					      ? node->checked_ms
					      : node->barrier.times.check_ms;

		if (node->begins_ms + checked_ms < node->wake_ms)
			node->wake_ms = node->begins_ms + checked_ms;
	}
	switch (step) {
	case OSP_GATE_CONNECT:
		node->wake_ms = now_ms + 1;
		connect_node(gang, rank, own_ms, now_ms);
		break;
	case OSP_GATE_SEND:
		node->wake_ms = now_ms + 1;
		send_reports(gang, node, now_ms);
		break;
	case OSP_GATE_DECIDE:
		decide(gang, rank, now_ms);
		break;
	case OSP_GATE_ALONE:
		node->alone = true;
		leave(gang, node);
		osp_gate_barrier_end(&node->barrier);
		node->wake_ms = NEVER_MS;
		break;
	case OSP_GATE_WAIT:
		break;
	}
}

/* Runs until nothing more can happen. */
static void gang_run(struct gang *gang)
{
	for (uint64_t now_ms = 0, next_ms; now_ms < 4 * BUDGET_MS; now_ms = next_ms) {
		next_ms = NEVER_MS;
		for (uint32_t i = 0; i < gang->count; i++) {
			struct node *node = &gang->nodes[i];

			if (node->dead || node->alone || node->verdict)
				continue;
			if (now_ms >= node->dies_ms)
				die(gang, i, now_ms);
			else if (now_ms >= node->begins_ms &&
				 (!node->begun || now_ms >= node->wake_ms)) {
				node->begun = true;
				step_node(gang, i, now_ms);
			}
			if (node->dead || node->alone || node->verdict)
				continue;
			if (!node->begun && node->begins_ms < next_ms)
				next_ms = node->begins_ms;
			if (node->begun && node->wake_ms < next_ms)
				next_ms = node->wake_ms > now_ms ? node->wake_ms : now_ms + 1;
			if (node->dies_ms < next_ms)
				next_ms = node->dies_ms > now_ms ? node->dies_ms : now_ms + 1;
		}
		if (next_ms == NEVER_MS)
			return;
	}
}

static uint32_t count_result(const struct gang *gang, enum osp_verdict result)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < gang->count; i++)
		count += gang->decision[i].result == result;
	return count;
}

static void everybody_knows(const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->count; i++)
		if (!gang->nodes[i].dead && !gang->nodes[i].verdict)
			fail_msg("rank %u of %u knows no verdict", i, gang->count);
}

/* --- gangs ------------------------------------------------------------------------------------ */

static void all_pass(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 16, 17, 64, 257, 1024, 10000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct gang gang;
		uint32_t most = 0;
		uint64_t last_ms = 0;

		gang_start(&gang, sizes[i]);
		gang_run(&gang);
		everybody_knows(&gang);
		assert_int_equal(gang.deciders, 1);
		assert_true(gang.nodes[0].decider);
		assert_int_equal(count_result(&gang, OSP_VERDICT_PASS), sizes[i]);
		/* One message up and one down a node, and nobody has many partners. */
		assert_int_equal(gang.messages, 2 * (sizes[i] - 1));
		for (uint32_t n = 0; n < sizes[i]; n++) {
			if (gang.nodes[n].partners_most > most)
				most = gang.nodes[n].partners_most;
			if (gang.nodes[n].verdict_ms > last_ms)
				last_ms = gang.nodes[n].verdict_ms;
		}
		assert_in_range(most, 0, OSP_GATE_FANOUT);
		print_message("%5u nodes: %u deep, %lu messages, at most %u partners, the last "
			      "knows %lu steps after the checks\n",
			      sizes[i], osp_gate_height(sizes[i]), (unsigned long)gang.messages,
			      most, (unsigned long)(last_ms - 20));
		gang_free(&gang);
	}
}

/* Whoever is dead from the start is silent, and nobody else. */
static void the_dead_are_silent(void **state)
{
	static const struct {
		uint32_t count, dead[4], dead_count;
	} cases[] = {
		{2, {1}, 1},
		{2, {0}, 1},
		{16, {0}, 1},
		{16, {15}, 1},
		{64, {1}, 1},
		{64, {0}, 1},
		{64, {0, 1}, 2},
		{64, {0, 1, 2}, 3},
		{1024, {1, 17}, 2},
		{1024, {1023}, 1},
		{1024, {0, 3, 50}, 3},
		{4000, {0, 1, 16}, 3},
		{10000, {1, 2, 3, 4}, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gang gang;

		gang_start(&gang, cases[i].count);
		for (uint32_t n = 0; n < cases[i].dead_count; n++) {
			gang.nodes[cases[i].dead[n]].dies_ms = 0;
			gang.nodes[cases[i].dead[n]].begins_ms = 1;
		}
		gang_run(&gang);
		everybody_knows(&gang);
		assert_int_equal(gang.deciders, 1);
		for (uint32_t n = 0; n < cases[i].dead_count; n++)
			assert_int_equal(gang.decision[cases[i].dead[n]].result,
					 OSP_VERDICT_SILENT);
		if (count_result(&gang, OSP_VERDICT_SILENT) != cases[i].dead_count)
			fail_msg("case %zu: %u silent", i, count_result(&gang, OSP_VERDICT_SILENT));
		assert_in_range(gang.decided_ms, 0, BUDGET_MS);
		gang_free(&gang);
	}
}

/* Who has reported and dies before the verdict, wherever in the tree, is silent; who stood below it
 * is not. */
static void who_dies_after_reporting_is_silent(void **state)
{
	static const uint32_t dying[] = {1, 3, 7, 16, 17, 18, 40, 299};

	(void)state;
	for (size_t i = 0; i < sizeof(dying) / sizeof(dying[0]); i++) {
		struct gang gang;

		gang_start(&gang, 300);
		gang.nodes[200].checked_ms = 1000; /* the barrier stays open so long */
		gang.nodes[dying[i]].dies_ms = 900;
		gang_run(&gang);
		assert_int_equal(gang.deciders, 1);
		assert_int_equal(gang.decision[dying[i]].result, OSP_VERDICT_SILENT);
		if (count_result(&gang, OSP_VERDICT_SILENT) != 1)
			fail_msg("rank %u: %u silent", dying[i],
				 count_result(&gang, OSP_VERDICT_SILENT));
		gang_free(&gang);
	}
}

/* The first node dies, and the others' time is over before the deputy, who began late, decides. */
static void whose_time_is_over_has_been_heard(void **state)
{
	struct osp_gate_barrier barrier;
	struct osp_gate_report out[4];
	uint64_t wake_ms;

	(void)state;
	assert_int_equal(osp_gate_barrier_start(&barrier, 1, 4, BUDGET_MS), 0);
	for (uint32_t rank = 1; rank < 4; rank++)
		assert_int_equal(
			osp_gate_barrier_hear(
				&barrier,
				&(struct osp_gate_report){.rank = rank, .result = OSP_VERDICT_PASS},
				100),
			1);
	osp_gate_barrier_refused(&barrier, 100);
	osp_gate_barrier_refused(&barrier, 3000);
	assert_int_equal(osp_gate_barrier_gone(&barrier, 2), 0);
	assert_int_equal(osp_gate_barrier_gone(&barrier, 3), 0);
	assert_int_equal(osp_gate_barrier_step(&barrier, BUDGET_MS * 8 / 10, &wake_ms),
			 OSP_GATE_DECIDE);
	osp_gate_barrier_all(&barrier, out);
	assert_int_equal(out[1].result, OSP_VERDICT_PASS);
	assert_int_equal(out[2].result, OSP_VERDICT_SILENT);
	osp_gate_barrier_free(&barrier);
}

/* Its word counts again when it comes back, here or by another way; a rank that was never heard has
 * no state. */
static void who_comes_back_is_heard(void **state)
{
	struct osp_gate_report report = {.rank = 33, .result = OSP_VERDICT_PASS}, out[64];
	struct osp_gate_barrier barrier;

	(void)state;
	assert_int_equal(osp_gate_barrier_start(&barrier, 1, 64, BUDGET_MS), 0);
	assert_int_equal(osp_gate_barrier_gone(&barrier, 33), 0);
	assert_int_equal(barrier.heard, 0);
	assert_int_equal(osp_gate_barrier_hear(&barrier, &report, 10), 1);
	assert_int_equal(osp_gate_barrier_gone(&barrier, 33), 0);
	assert_int_equal(barrier.gone, 1);
	assert_int_equal(osp_gate_barrier_hear(&barrier, &report, 20), 1);
	assert_int_equal(barrier.gone, 0);
	assert_int_equal(osp_gate_barrier_take(&barrier, out), 1);
	assert_int_equal(out[0].result, OSP_VERDICT_PASS);
	assert_int_equal(osp_gate_barrier_gone(&barrier, 33), 0);
	assert_int_equal(osp_gate_barrier_take(&barrier, out), 1);
	assert_int_equal(out[0].rank, 33);
	assert_int_equal(out[0].result, OSP_VERDICT_SILENT);
	assert_int_equal(osp_gate_barrier_hear(&barrier, &report, 30), 1);
	assert_int_equal(osp_gate_barrier_hear(&barrier, &report, 40), 0);
	assert_int_equal(osp_gate_barrier_take(&barrier, out), 1);
	assert_int_equal(out[0].result, OSP_VERDICT_PASS);
	osp_gate_barrier_free(&barrier);
}

/* A check that hangs is an ERROR, and costs half the budget, not all of it. */
static void a_check_hangs(void **state)
{
	struct gang gang;

	(void)state;
	gang_start(&gang, 300);
	gang.nodes[18].checked_ms = NEVER_MS;
	gang_run(&gang);
	everybody_knows(&gang);
	assert_int_equal(count_result(&gang, OSP_VERDICT_ERROR), 1);
	assert_int_equal(gang.decision[18].result, OSP_VERDICT_ERROR);
	assert_int_equal(count_result(&gang, OSP_VERDICT_SILENT), 0);
	assert_in_range(gang.decided_ms, BUDGET_MS / 2, BUDGET_MS * 55 / 100);
	gang_free(&gang);
}

/* More than half is out of reach: the rest decides nothing. */
static void a_cut_off_part_decides_nothing(void **state)
{
	struct gang gang;

	(void)state;
	gang_start(&gang, 64);
	for (uint32_t i = 0; i < 64; i++)
		if (i != 1 && i != 2 && i != 40) {
			gang.nodes[i].dies_ms = 0;
			gang.nodes[i].begins_ms = 1;
		}
	gang_run(&gang);
	assert_int_equal(gang.deciders, 0);
	assert_true(gang.nodes[1].alone && gang.nodes[2].alone && gang.nodes[40].alone);
	gang_free(&gang);
}

/* Nodes that begin late, some later than others turn to somebody else, are heard all the same. */
static void late_nodes_are_heard(void **state)
{
	(void)state;
	for (uint32_t late = 0; late < 20; late++) {
		struct gang gang;

		gang_start(&gang, 300);
		gang.nodes[late].begins_ms = 3000;
		gang_run(&gang);
		everybody_knows(&gang);
		assert_int_equal(gang.deciders, 1);
		if (count_result(&gang, OSP_VERDICT_SILENT))
			fail_msg("rank %u late: %u silent", late,
				 count_result(&gang, OSP_VERDICT_SILENT));
		gang_free(&gang);
	}
}

/* Random gangs: whatever dies, hangs or is late, one decides; the verdict is right about everybody
 * who lived to tell, and within the budget. */
static void random_faults(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct gang gang;
		uint32_t count, faults;

		seed = seed * 1664525u + 1013904223u;
		count = 2 + (seed >> 8) % 400;
		gang_start(&gang, count);
		for (uint32_t i = 0; i < count; i++) {
			seed = seed * 1664525u + 1013904223u;
			gang.nodes[i].begins_ms = (seed >> 10) % 500;
			gang.nodes[i].checked_ms = (seed >> 5) % 300;
		}
		seed = seed * 1664525u + 1013904223u;
		faults = (seed >> 9) % 4;
		for (uint32_t i = 0; i < faults && 2 * (i + 1) < count; i++) {
			seed = seed * 1664525u + 1013904223u;
			gang.nodes[(seed >> 7) % count].dies_ms = (seed >> 3) % 2000;
		}
		gang_run(&gang);
		for (uint32_t i = 0; i < count; i++) {
			const struct node *node = &gang.nodes[i];

			if (node->dies_ms == NEVER_MS && gang.deciders &&
			    gang.decision[i].result != OSP_VERDICT_PASS)
				fail_msg("round %d: rank %u of %u is %s", round, i, count,
					 osp_verdict_name(gang.decision[i].result));
			if (node->verdict && node->verdict_ms > BUDGET_MS + 600)
				fail_msg("round %d: rank %u waited %lu ms", round, i,
					 (unsigned long)node->verdict_ms);
		}
		assert_true(gang.deciders <= 1);
		gang_free(&gang);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents),
		cmocka_unit_test(the_tree_is_whole),
		cmocka_unit_test(deadlines_come_in_order),
		cmocka_unit_test(leaves_time_to_report),
		cmocka_unit_test(all_pass),
		cmocka_unit_test(the_dead_are_silent),
		cmocka_unit_test(who_dies_after_reporting_is_silent),
		cmocka_unit_test(who_comes_back_is_heard),
		cmocka_unit_test(whose_time_is_over_has_been_heard),
		cmocka_unit_test(a_check_hangs),
		cmocka_unit_test(a_cut_off_part_decides_nothing),
		cmocka_unit_test(late_nodes_are_heard),
		cmocka_unit_test(random_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
