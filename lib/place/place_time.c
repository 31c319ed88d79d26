/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_time.c - the earliest start of a gang in each domain, from when its nodes become free
 */
#include "lib/place/place_private.h"

/* Returns the seconds from now until a node is free, at least 0, as a value for osp_place_nth(). */
static uint64_t wait_s(const int64_t *free_at_s, uint32_t node, int64_t now_s)
{
	return free_at_s[node] > now_s ? (uint64_t)free_at_s[node] - (uint64_t)now_s : 0;
}

struct times {
	uint32_t ever;		 /* nodes that ever become free */
	uint32_t required_never; /* required nodes that never do */
	uint32_t required_now;
	uint32_t now;
	uint64_t required_wait_s; /* until the last required one is free */
};

/* Lists the waits of the nodes that become free in place->values. */
static void list_waits(struct osp_place *place, uint32_t first, uint32_t end,
		       const int64_t *free_at_s, int64_t now_s, struct times *times)
{
	*times = (struct times){0};
	for (uint32_t i = first; i < end; i++) {
		const struct osp_place_item *item = &place->items[i];
		uint64_t wait = wait_s(free_at_s, item->node, now_s);

		if (free_at_s[item->node] == OSP_PLACE_NEVER_S) {
			times->required_never += item->required;
			continue;
		}
		place->values[times->ever++] = wait;
		times->now += !wait;
		if (!item->required)
			continue;
		times->required_now += !wait;
		if (wait > times->required_wait_s)
			times->required_wait_s = wait;
	}
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t short_of(uint32_t wanted, uint32_t there)
{
	return wanted > there ? wanted - there : 0;
}

/* Marks the nodes that are free by then. Returns how many. */
static uint32_t free_by(struct osp_place *place, uint32_t first, uint32_t end,
			const int64_t *free_at_s, int64_t bound_s)
{
	uint32_t count = 0;

	for (uint32_t i = first; i < end; i++) {
		struct osp_place_item *item = &place->items[i];

		item->free = free_at_s[item->node] <= bound_s &&
			     free_at_s[item->node] != OSP_PLACE_NEVER_S;
		count += item->free;
	}
	return count;
}

static void bound_items(struct osp_place *place, uint32_t domain, uint32_t first, uint32_t end,
			const int64_t *free_at_s, int64_t now_s)
{
	const struct osp_place_call *call = &place->call;
	struct osp_place_domain *entry;
	struct osp_place_sums sums;
	struct osp_place_plan plan;
	struct times times;
	uint64_t wait;

	osp_place_sum(place, first, end, &sums);
	sums.free = sums.usable;
	sums.required_free = sums.required;
	entry = osp_place_add(place, domain, place->items[first].kind, &sums);
	list_waits(place, first, end, free_at_s, now_s, &times);
	entry->free_nodes = times.now;
	if (!osp_place_judge(place, &sums, entry))
		return;
	entry->short_nodes = larger(short_of(call->need, times.ever), times.required_never);
	if (entry->short_nodes) {
		entry->reason = OSP_PLACE_TOO_SMALL;
		return;
	}
	entry->short_nodes = larger(short_of(call->need, times.now),
				    short_of(call->required, times.required_now));
	wait = osp_place_nth(place->values, times.ever, call->need - 1);
	if (wait < times.required_wait_s)
		wait = times.required_wait_s;
	entry->bound_s = (int64_t)((uint64_t)now_s + wait);
	entry->free_nodes = free_by(place, first, end, free_at_s, entry->bound_s);
	osp_place_plan_items(place, first, end,
			     entry->free_nodes < call->want ? entry->free_nodes : call->want,
			     &plan);
	osp_place_note(place, &plan, entry);
}

const struct osp_place_domain *osp_place_by_time(struct osp_place *place,
						 const struct osp_place_input *input,
						 const int64_t *free_at_s, int64_t now_s,
						 uint32_t *candidate_count, uint32_t *domain_count)
{
	const struct osp_place_domain *answer;
	struct osp_place_input all = *input;
	uint32_t first;
	uint32_t count;

	all.free = NULL;
	if (!osp_place_start(place, &all))
		return osp_place_finish(place, candidate_count, domain_count);
	place->call.by_time = true;
	if (osp_place_recall(place, free_at_s, now_s, candidate_count, domain_count))
		return place->answer;
	osp_topology_level_domains(place->topology, input->level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++) {
		uint32_t items = osp_place_gather(place, domain);
		uint32_t end;

		for (uint32_t i = 0; i < items; i = end) {
			end = osp_place_kind_end(place, i, items);
			bound_items(place, domain, i, end, free_at_s, now_s);
		}
	}
	answer = osp_place_finish(place, candidate_count, domain_count);
	osp_place_keep(place, *candidate_count, *domain_count);
	return answer;
}
