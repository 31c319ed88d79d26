/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_tree.c - the tree along which the nodes of a gang report, and its deadlines */
#include "lib/gate/gate_tree.h"

static uint32_t above(uint32_t rank)
{
	return (rank - 1) / OSP_GATE_FANOUT;
}

uint32_t osp_gate_parents(uint32_t rank, uint32_t node_count,
			  uint32_t parents[OSP_GATE_PARENTS_MAX])
{
	uint32_t count = 0, last = rank;

	while (last) {
		last = above(last);
		parents[count++] = last;
	}
	for (uint32_t deputy = 1; deputy <= OSP_GATE_DEPUTIES && deputy < node_count; deputy++) {
		bool there = false;

		for (uint32_t i = 0; i < count; i++)
			there = there || parents[i] == deputy;
		if (deputy < rank && !there)
			parents[count++] = deputy;
	}
	return count;
}

bool osp_gate_is_deputy(uint32_t rank, uint32_t node_count)
{
	return rank <= OSP_GATE_DEPUTIES && rank < node_count;
}

bool osp_gate_is_below(uint32_t below, uint32_t rank)
{
	while (below > rank)
		below = above(below);
	return below == rank;
}

bool osp_gate_may_report(uint32_t below, uint32_t rank, uint32_t node_count)
{
	if (below >= node_count || below <= rank)
		return false;
	return osp_gate_is_deputy(rank, node_count) || osp_gate_is_below(below, rank);
}

uint32_t osp_gate_subtree(uint32_t rank, uint32_t node_count)
{
	uint64_t first = rank, last = rank, count = 0;

	/* The ranks at one depth below a rank are consecutive. */
	while (first < node_count) {
		count += (last < node_count ? last : node_count - 1) - first + 1;
		first = first * OSP_GATE_FANOUT + 1;
		last = last * OSP_GATE_FANOUT + OSP_GATE_FANOUT;
	}
	return (uint32_t)count;
}

/* Returns the number of steps from `rank` to rank 0. */
static uint32_t depth_of(uint32_t rank)
{
	uint32_t depth = 0;

	for (; rank; rank = above(rank))
		depth++;
	return depth;
}

uint32_t osp_gate_height(uint32_t node_count)
{
	return node_count ? depth_of(node_count - 1) : 0;
}

bool osp_gate_quorum(uint32_t rank, uint32_t heard, uint32_t node_count)
{
	return rank == 0 || 2 * (uint64_t)heard >= node_count;
}

struct osp_gate_times osp_gate_times(uint32_t budget_ms, uint32_t rank, uint32_t node_count)
{
	uint32_t height = osp_gate_height(node_count), depth = depth_of(rank);
	uint64_t budget = budget_ms;
	struct osp_gate_times times = {
		.check_ms = (uint32_t)(budget * 50 / 100),
		.turn_ms = (uint32_t)(budget * 15 / 100),
		.decide_ms = (uint32_t)(budget * 80 / 100),
		.verdict_ms = budget_ms,
	};

	/* Between the end of the checks and the decision, a step for each depth. */
	times.report_ms = (uint32_t)(budget * 55 / 100);
	if (height)
		times.report_ms += (uint32_t)(budget * 20 / 100 * (height - depth) / height);
	return times;
}

uint32_t osp_gate_ask_until_ms(const struct osp_gate_times *times, uint32_t now_ms)
{
	uint32_t left_ms = now_ms < times->verdict_ms ? times->verdict_ms - now_ms : 0;
	uint32_t report_ms = times->verdict_ms / 10;

	return times->verdict_ms - (left_ms / 2 < report_ms ? left_ms / 2 : report_ms);
}
