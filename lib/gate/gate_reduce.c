/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_reduce.c - all-reduces between the nodes of a gang: which groups to measure, and their
 * judgement */
#include "lib/gate/gate_reduce.h"

#include <stdlib.h>
#include <string.h>

#define MEASURED 1.05f /* a clock may be wrong by this much beyond the physical limit */

float osp_gate_reduce_most(float network_gbps, uint32_t gpus)
{
	return gpus < 2 ? 0 : network_gbps * 2 * (float)(gpus - 1) / (float)gpus;
}

struct osp_gate_sum osp_gate_reduce_judge(const struct osp_gate_reduce *order, uint32_t group,
					  const struct osp_gate_part *ready,
					  const struct osp_gate_part *done)
{
	struct osp_gate_sum sum = {.rank = OSP_GATE_NOBODY};
	float most_gbps = 0, network_gbps = 0;
	bool first = true, limited = true;
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < order->member_count; i++) {
		const struct osp_gate_member *member = &order->members[i];
		const struct osp_gate_part *is = &done[member->rank], *was = &ready[member->rank];

		if (member->group != group)
			continue;
		gpus += member->gpus;
		if (is->state != OSP_GATE_PART_DONE || is->gbps <= 0) {
			sum.state = OSP_GATE_REDUCED_BROKE;
			sum.rank = member->rank;
			return sum;
		}
		if (is->wrong && sum.rank == OSP_GATE_NOBODY)
			sum.rank = member->rank;
		sum.gbps = first || is->gbps < sum.gbps ? is->gbps : sum.gbps;
		sum.least_gbps = first || was->least_gbps < sum.least_gbps ? was->least_gbps
									   : sum.least_gbps;
		network_gbps = first || was->network_gbps < network_gbps ? was->network_gbps
									 : network_gbps;
		limited = limited && was->least_gbps > 0;
		first = false;
	}
	most_gbps = osp_gate_reduce_most(network_gbps, gpus);
	if (first)
		sum.state = OSP_GATE_REDUCED_BROKE;
	else if (sum.rank != OSP_GATE_NOBODY)
		sum.state = OSP_GATE_REDUCED_WRONG;
	else if (most_gbps > 0 && sum.gbps > most_gbps * MEASURED)
		sum.state = OSP_GATE_REDUCED_IMPOSSIBLE;
	else if (!limited)
		sum.state = OSP_GATE_REDUCED_UNJUDGED;
	else
		sum.state =
			sum.gbps < sum.least_gbps ? OSP_GATE_REDUCED_SLOW : OSP_GATE_REDUCED_WELL;
	return sum;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* One node's pairs so far. */
struct tried {
	uint32_t with[OSP_GATE_PAIR_ROUNDS];
	bool bad[OSP_GATE_PAIR_ROUNDS];
	uint32_t count;
	bool good;  /* with some node */
	bool taken; /* in this round */
};

struct choosing {
	const bool *fit;
	uint32_t node_count;
	struct tried *tried; /* by rank */
	uint32_t next;	     /* partners take turns */
	struct osp_gate_link *pairs;
	uint32_t count;
};

static void add_tried(struct tried *tried, uint32_t with, bool bad)
{
	if (tried->count == OSP_GATE_PAIR_ROUNDS)
		return;
	tried->with[tried->count] = with;
	tried->bad[tried->count++] = bad;
	tried->good = tried->good || !bad;
}

static bool were_together(const struct tried *tried, uint32_t with)
{
	for (uint32_t i = 0; i < tried->count; i++)
		if (tried->with[i] == with)
			return true;
	return false;
}

/* Returns whether there is more to learn about this rank: it is good with none, and not bad with
 * two that are good. */
static bool wants_more(const struct choosing *choosing, uint32_t rank)
{
	const struct tried *tried = &choosing->tried[rank];
	uint32_t proven = 0;

	for (uint32_t i = 0; i < tried->count; i++)
		proven += tried->bad[i] && choosing->tried[tried->with[i]].good;
	return !tried->good && proven < 2 && tried->count < OSP_GATE_PAIR_ROUNDS;
}

/* Returns a partner for `rank`: 0 of `wanted` means a good one, 1 an untried one, 2 any other.
 * NOBODY if there is none. */
static uint32_t find_partner(struct choosing *choosing, uint32_t rank, int wanted)
{
	for (uint32_t i = 0; i < choosing->node_count; i++) {
		uint32_t other = (choosing->next + i) % choosing->node_count;
		const struct tried *tried = &choosing->tried[other];
		int is = tried->good ? 0 : tried->count ? 2 : 1;

		if (other == rank || is != wanted || tried->taken || !choosing->fit[other] ||
		    tried->count == OSP_GATE_PAIR_ROUNDS || were_together(tried, rank))
			continue;
		choosing->next = other + 1;
		return other;
	}
	return OSP_GATE_NOBODY;
}

static void pair_up(struct choosing *choosing, uint32_t rank)
{
	uint32_t other = OSP_GATE_NOBODY;

	for (int wanted = 0; wanted <= 2 && other == OSP_GATE_NOBODY; wanted++)
		other = find_partner(choosing, rank, wanted);
	if (other == OSP_GATE_NOBODY)
		return;
	choosing->tried[rank].taken = choosing->tried[other].taken = true;
	choosing->pairs[choosing->count++] = (struct osp_gate_link){
		.from = rank < other ? rank : other, .to = rank < other ? other : rank};
}

int64_t osp_gate_pairs_next(const bool *fit, uint32_t node_count, const struct osp_gate_link *done,
			    uint32_t count, float limit_gbps, struct osp_gate_link *pairs)
{
	struct choosing choosing = {.fit = fit, .node_count = node_count, .pairs = pairs};

	choosing.tried = calloc(node_count, sizeof(*choosing.tried));
	if (!choosing.tried)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		bool bad = done[i].wrong || done[i].gbps < limit_gbps;

		add_tried(&choosing.tried[done[i].from], done[i].to, bad);
		add_tried(&choosing.tried[done[i].to], done[i].from, bad);
	}
	for (uint32_t rank = 0; rank < node_count; rank++) {
		if (!fit[rank] || choosing.tried[rank].taken || !wants_more(&choosing, rank))
			continue;
		if (!count)
			choosing.next = rank + 1; /* its neighbour */
		pair_up(&choosing, rank);
	}
	free(choosing.tried);
	return choosing.count;
}

static float median_of(const struct osp_gate_link *done, uint32_t count)
{
	struct osp_gate_figures figures = {.links = (struct osp_gate_link *)(uintptr_t)done,
					   .count = count};

	return osp_gate_links_median(&figures);
}

float osp_gate_pairs_limit(const struct osp_gate_link *done, uint32_t first_count, float least_gbps)
{
	float relative = OSP_GATE_SLOW * median_of(done, first_count);

	return relative > least_gbps ? relative : least_gbps;
}

int osp_gate_pairs_judge(const struct osp_gate_link *done, uint32_t first_count, uint32_t count,
			 float least_gbps, uint32_t node_count, struct osp_gate_blamed *blamed)
{
	struct osp_gate_link *both = calloc(2 * (size_t)count + 1, sizeof(*both));
	struct osp_gate_figures first = {.links = both, .count = 2 * first_count};
	struct osp_gate_figures rest = {.count = 2 * (count - first_count)};
	int result = -1;

	first.least_gbps = least_gbps;
	rest.links = both ? both + first.count : NULL;
	for (uint32_t i = 0; both && i < count; i++) {
		both[2 * i] = both[2 * i + 1] = done[i];
		both[2 * i + 1].from = done[i].to;
		both[2 * i + 1].to = done[i].from;
	}
	if (both)
		result = osp_gate_links_judge(&first, &rest, node_count, blamed);
	free(both);
	return result;
}
