/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy_times.c - when nodes have enough, and which earlier answers still hold
 *
 * Hundreds of gangs wait for the same: eight GPUs of each node. For each need asked about, the end
 * that each node waits for is kept, and is found anew if something has changed since. It holds at
 * any time: a node whose end has passed is free.
 */
#include "lib/place/occupancy_private.h"

#include <stdlib.h>

#include "lib/base/hash.h"

/* Needs whose times are kept; a new one replaces the one not asked about for longest. */
#define NEEDS_MAX 8

#define ALWAYS_S  INT64_MIN /* free at any time */

struct need_times {
	struct osp_occupancy_need need;
	uint64_t asked;		   /* number of the last question about it; 0: not in use */
	struct osp_nodeset *stale; /* nodes whose time must be found anew */
	int64_t *free_at_s;
};

struct osp_occupancy_times {
	uint64_t questions;
	struct need_times needs[NEEDS_MAX];
};

struct osp_occupancy_times *osp_occupancy_times_new(uint32_t node_count)
{
	struct osp_occupancy_times *times = calloc(1, sizeof(*times));

	for (int i = 0; times && i < NEEDS_MAX; i++) {
		struct need_times *one = &times->needs[i];

		one->stale = osp_nodeset_new(node_count);
		one->free_at_s = calloc((size_t)node_count + 1, sizeof(*one->free_at_s));
		if (one->stale && one->free_at_s)
			continue;
		osp_occupancy_times_free(times);
		return NULL;
	}
	return times;
}

void osp_occupancy_times_free(struct osp_occupancy_times *times)
{
	for (int i = 0; times && i < NEEDS_MAX; i++) {
		free(times->needs[i].stale);
		free(times->needs[i].free_at_s);
	}
	free(times);
}

void osp_occupancy_node_changed(struct osp_occupancy *occupancy, uint32_t node)
{
	occupancy->nodes[node].changed = ++occupancy->changes;
	for (int i = 0; i < NEEDS_MAX; i++) {
		if (occupancy->times->needs[i].asked)
			osp_nodeset_add(occupancy->times->needs[i].stale, node);
	}
}

/* --- one node -------------------------------------------------------------------------------- */

/*
 * Subtracts `amounts` from what is left, with so many processors. Returns false if there is less of
 * anything wanted.
 */
static bool take(struct osp_amounts *left, const struct osp_amounts *amounts,
		 const struct osp_amounts *wanted, uint32_t cpus)
{
	bool enough = !wanted->memory_mib || left->memory_mib >= amounts->memory_mib;

	left->memory_mib -= amounts->memory_mib;
	if (wanted->cpus) {
		enough = enough && left->cpus >= cpus;
		left->cpus -= cpus;
	}
	for (uint32_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++) {
		enough = enough && (!wanted->gres[i] || left->gres[i] >= amounts->gres[i]);
		left->gres[i] -= amounts->gres[i];
	}
	return enough;
}

/* So many groups are told apart on one node; jobs of further ones count as if they held none of its
 * processors. */
#define GROUPS_MAX 8

/* The processors that groups hold of one node. All groups may hold the same ones, so the largest
 * number counts. */
struct shared {
	uint32_t count;
	uint64_t most;
	uint32_t group[GROUPS_MAX];
	uint64_t held[GROUPS_MAX];
};

/* Adds a job's processors. Returns by how many the smallest possible number of held ones grows. */
static uint32_t more_held(struct shared *shared, const struct job *job, uint32_t cpus)
{
	uint32_t i = 0, more;
	uint64_t least;

	if (!job->group)
		return cpus;
	while (i < shared->count && shared->group[i] != job->group)
		i++;
	if (i == GROUPS_MAX)
		return 0;
	if (i == shared->count) {
		shared->group[i] = job->group;
		shared->held[i] = 0;
		shared->count++;
	}
	shared->held[i] += cpus;
	least = job->rows > 1 ? (shared->held[i] + job->rows - 1) / job->rows : shared->held[i];
	if (least <= shared->most)
		return 0;
	more = (uint32_t)(least - shared->most);
	shared->most = least;
	return more;
}

static bool holds_gres(const struct osp_amounts *amounts)
{
	for (uint32_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++) {
		if (amounts->gres[i])
			return true;
	}
	return false;
}

/* Returns whether a job holds something that the need wants for itself alone. */
static bool bars(const struct osp_occupancy_need *need, const struct osp_amounts *holds, bool cpus)
{
	return (need->all_cpus && cpus && holds->cpus) || (need->all_memory && holds->memory_mib) ||
	       (need->all_gres && holds_gres(holds));
}

/*
 * Returns when a node has enough. Goes from the job that ends last to the one that ends first: the
 * node waits for the first one that cannot stay beside the need.
 */
static int64_t node_free_at(const struct osp_occupancy *occupancy,
			    const struct osp_occupancy_need *need, uint32_t node, int64_t now_s)
{
	struct osp_amounts left = occupancy->nodes[node].has;
	struct shared shared;

	shared.count = 0;
	shared.most = 0;
	if (!take(&left, &need->amounts, &need->amounts, need->amounts.cpus))
		return OSP_OCCUPANCY_NEVER_S;
	for (uint32_t at = occupancy->nodes[node].last_hold; at;
	     at = occupancy->holds[at].sooner_on_node) {
		const struct hold *hold = &occupancy->holds[at];
		const struct job *job = &occupancy->jobs[hold->job];
		bool cpus = !job->suspended && !job->yields;

		if (hold->end_s <= now_s)
			break;
		if (job->ignored)
			continue;
		if (bars(need, &hold->amounts, cpus) ||
		    !take(&left, &hold->amounts, &need->amounts,
			  cpus ? more_held(&shared, job, hold->amounts.cpus) : 0))
			return hold->end_s;
	}
	return now_s;
}

/* --- many nodes ------------------------------------------------------------------------------ */

static bool same_need(const struct osp_occupancy_need *a, const struct osp_occupancy_need *b)
{
	return a->all_cpus == b->all_cpus && a->all_memory == b->all_memory &&
	       a->all_gres == b->all_gres && osp_occupancy_same_amounts(&a->amounts, &b->amounts);
}

/* Returns the times of a need, all of them stale if it is new. */
static struct need_times *times_of(const struct osp_occupancy *occupancy,
				   const struct osp_occupancy_need *need)
{
	struct osp_occupancy_times *times = occupancy->times;
	struct need_times *found = &times->needs[0];

	times->questions++;
	for (int i = 0; i < NEEDS_MAX; i++) {
		struct need_times *one = &times->needs[i];

		if (one->asked && same_need(&one->need, need)) {
			one->asked = times->questions;
			return one;
		}
		if (one->asked < found->asked)
			found = one;
	}
	found->need = *need;
	found->asked = times->questions;
	osp_nodeset_fill(found->stale);
	return found;
}

/* Finds the stale times among 64 nodes anew. */
static void freshen(const struct osp_occupancy *occupancy, struct need_times *times, uint32_t word,
		    uint64_t nodes)
{
	uint64_t stale = times->stale->words[word] & nodes;

	times->stale->words[word] &= ~stale;
	for (; stale; stale &= stale - 1) {
		uint32_t n = word * 64 + (uint32_t)__builtin_ctzll(stale);

		times->free_at_s[n] = node_free_at(occupancy, &times->need, n, ALWAYS_S);
	}
}

/* Returns when a node is free; nodes beyond the account's are free now. */
static int64_t now_or(const struct osp_occupancy *occupancy, const int64_t *kept_s, uint32_t n,
		      int64_t now_s)
{
	return n < occupancy->node_count && kept_s[n] > now_s ? kept_s[n] : now_s;
}

static void free_at_without_ignored(const struct osp_occupancy *occupancy,
				    const struct osp_occupancy_need *need,
				    const struct osp_nodeset *nodes, int64_t now_s,
				    int64_t *free_at_s)
{
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1))
		free_at_s[n] =
			n < occupancy->node_count ? node_free_at(occupancy, need, n, now_s) : now_s;
}

/* Writes the times of 64 nodes of the account. */
static void all_free_at(const int64_t *kept_s, int64_t now_s, int64_t *free_at_s)
{
	for (uint32_t bit = 0; bit < 64; bit++)
		free_at_s[bit] = kept_s[bit] > now_s ? kept_s[bit] : now_s;
}

void osp_occupancy_free_at(const struct osp_occupancy *occupancy,
			   const struct osp_occupancy_need *need, const struct osp_nodeset *nodes,
			   int64_t now_s, int64_t *free_at_s)
{
	struct need_times *times;

	if (occupancy->any_ignored) {
		free_at_without_ignored(occupancy, need, nodes, now_s, free_at_s);
		return;
	}
	times = times_of(occupancy, need);
	for (uint32_t w = 0; w < nodes->word_count; w++) {
		if (w < times->stale->word_count)
			freshen(occupancy, times, w, nodes->words[w]);
		if (nodes->words[w] == UINT64_MAX && occupancy->node_count / 64 > w) {
			all_free_at(&times->free_at_s[(size_t)w * 64], now_s,
				    &free_at_s[(size_t)w * 64]);
			continue;
		}
		for (uint64_t left = nodes->words[w]; left; left &= left - 1) {
			uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(left);

			free_at_s[n] = now_or(occupancy, times->free_at_s, n, now_s);
		}
	}
}

void osp_occupancy_keep_free(const struct osp_occupancy *occupancy,
			     const struct osp_occupancy_need *need, int64_t now_s,
			     struct osp_nodeset *nodes)
{
	struct need_times *times = times_of(occupancy, need);

	for (uint32_t w = 0; w < nodes->word_count && w < times->stale->word_count; w++) {
		freshen(occupancy, times, w, nodes->words[w]);
		for (uint64_t left = nodes->words[w]; left; left &= left - 1) {
			uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(left);

			if (n < occupancy->node_count && times->free_at_s[n] > now_s)
				osp_nodeset_remove(nodes, n);
		}
	}
}

uint64_t osp_occupancy_state(const struct osp_occupancy *occupancy, const struct osp_nodeset *nodes)
{
	uint64_t hash = OSP_HASH_START;

	for (uint32_t n = osp_nodeset_next(nodes, 0);
	     n < nodes->place_count && n < occupancy->node_count;
	     n = osp_nodeset_next(nodes, n + 1))
		hash = osp_hash_mix(hash, occupancy->nodes[n].changed);
	return hash;
}
