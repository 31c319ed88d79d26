/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_cache.c - lists of domains by time that were asked for before
 *
 * Backfill asks about thousands of gangs in a second, and nothing changes between two questions:
 * the nodes are the same and free at the same times, and there are fewer sizes of gangs than gangs.
 * Lists are kept with a copy of all that they follow from. A comparison costs a twentieth of a new
 * list. The time is part of that only if a node is free by then: where every node is busy, a list
 * holds until the first becomes free.
 */
#include "lib/place/place_private.h"

#include <stdlib.h>
#include <string.h>

#define STATES_MAX                                                                                 \
	4 /* of nodes and times; of more the one goes that was not asked about for longest */
#define LISTS_MAX                                                                                  \
	128 /* of each, by what the gang asks for; one that falls on another's place replaces it */
#define POOL_MAX 32768 /* domains of all lists of a state, at most */

/* What the call asks for besides arrays: another value means another list. */
struct asked {
	uint32_t level, need, want, required, roomy, same_weight, same_kind, kind_count;
	bool free_only, special;
};

struct list {
	struct asked asked;
	uint32_t first; /* in the pool */
	uint32_t count; /* 0: none */
	uint32_t candidates;
};

/* Nodes, and when each becomes free. */
struct state {
	uint64_t used; /* number of the last question; 0: not in use */
	int64_t now_s;
	int64_t earliest_s; /* when the first usable node becomes free */
	bool has_weights, has_kinds;
	uint64_t *sets; /* usable, required, boot */
	int64_t *free_at_s;
	uint32_t *weight;
	uint16_t *kind;
	struct osp_place_domain *pool;
	uint32_t pool_used;
	struct list lists[LISTS_MAX];
};

struct osp_place_cache {
	uint64_t questions;
	uint32_t pool_room; /* domains of all lists of a state */
	struct state *at;   /* the state of the current question */
	struct asked asked;
	struct state states[STATES_MAX];
};

void osp_place_cache_free(struct osp_place_cache *kept)
{
	for (int i = 0; kept && i < STATES_MAX; i++) {
		free(kept->states[i].sets);
		free(kept->states[i].free_at_s);
		free(kept->states[i].weight);
		free(kept->states[i].kind);
		free(kept->states[i].pool);
	}
	free(kept);
}

/* Returns the size of the pool. A small fabric never fills the whole: twice what its lists could
 * take is enough. */
static uint32_t pool_room(uint32_t domains_max)
{
	uint64_t wanted = (uint64_t)domains_max * LISTS_MAX * 2;

	return wanted < POOL_MAX ? (uint32_t)wanted : POOL_MAX;
}

struct osp_place_cache *osp_place_cache_new(uint32_t node_count, uint32_t word_count,
					    uint32_t domains_max)
{
	struct osp_place_cache *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->pool_room = pool_room(domains_max);
	for (int i = 0; i < STATES_MAX; i++) {
		struct state *state = &kept->states[i];

		state->sets = calloc((size_t)word_count * 3 + 1, sizeof(*state->sets));
		state->free_at_s = calloc((size_t)node_count + 1, sizeof(*state->free_at_s));
		state->weight = calloc((size_t)node_count + 1, sizeof(*state->weight));
		state->kind = calloc((size_t)node_count + 1, sizeof(*state->kind));
		state->pool = calloc((size_t)kept->pool_room + 1, sizeof(*state->pool));
		if (state->sets && state->free_at_s && state->weight && state->kind && state->pool)
			continue;
		osp_place_cache_free(kept);
		return NULL;
	}
	return kept;
}

/* --- one state of nodes ----------------------------------------------------------------------- */

static bool same(const void *a, const void *b, uint32_t count, size_t bytes)
{
	return !memcmp(a, b, count * bytes);
}

/* Returns whether lists of that time are those of `now_s`: no node was free then, and none is. */
static bool is_time(const struct state *state, int64_t now_s)
{
	return state->now_s == now_s ||
	       (state->now_s < state->earliest_s && now_s < state->earliest_s);
}

static bool is_state(const struct osp_place *place, const struct state *state,
		     const int64_t *free_at_s, int64_t now_s)
{
	const struct osp_place_call *call = &place->call;
	uint32_t words = place->word_count, nodes = place->node_count;

	return state->used && is_time(state, now_s) &&
	       state->has_weights == (call->weight != NULL) &&
	       state->has_kinds == (call->kind != NULL) &&
	       same(state->sets, place->usable, words, sizeof(uint64_t)) &&
	       same(state->sets + words, place->required, words, sizeof(uint64_t)) &&
	       same(state->sets + 2 * (size_t)words, place->boot, words, sizeof(uint64_t)) &&
	       same(state->free_at_s, free_at_s, nodes, sizeof(*free_at_s)) &&
	       (!call->weight || same(state->weight, call->weight, nodes, sizeof(*call->weight))) &&
	       (!call->kind || same(state->kind, call->kind, nodes, sizeof(*call->kind)));
}

static int64_t find_earliest(const struct osp_place *place, const int64_t *free_at_s)
{
	int64_t earliest_s = OSP_PLACE_NEVER_S;

	for (uint32_t w = 0; w < place->word_count; w++) {
		for (uint64_t left = place->usable[w]; left; left &= left - 1) {
			uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(left);

			earliest_s = free_at_s[n] < earliest_s ? free_at_s[n] : earliest_s;
		}
	}
	return earliest_s;
}

static void begin_state(const struct osp_place *place, struct state *state,
			const int64_t *free_at_s, int64_t now_s)
{
	const struct osp_place_call *call = &place->call;
	size_t words = place->word_count, nodes = place->node_count;

	state->now_s = now_s;
	state->earliest_s = find_earliest(place, free_at_s);
	state->has_weights = call->weight != NULL;
	state->has_kinds = call->kind != NULL;
	memcpy(state->sets, place->usable, words * sizeof(uint64_t));
	memcpy(state->sets + words, place->required, words * sizeof(uint64_t));
	memcpy(state->sets + 2 * words, place->boot, words * sizeof(uint64_t));
	memcpy(state->free_at_s, free_at_s, nodes * sizeof(*free_at_s));
	if (call->weight)
		memcpy(state->weight, call->weight, nodes * sizeof(*call->weight));
	if (call->kind)
		memcpy(state->kind, call->kind, nodes * sizeof(*call->kind));
	state->pool_used = 0;
	memset(state->lists, 0, sizeof(state->lists));
}

static struct state *find_state(struct osp_place *place, const int64_t *free_at_s, int64_t now_s)
{
	struct osp_place_cache *kept = place->kept;
	struct state *oldest = &kept->states[0];

	for (int i = 0; i < STATES_MAX; i++) {
		struct state *state = &kept->states[i];

		if (is_state(place, state, free_at_s, now_s))
			return state;
		if (state->used < oldest->used)
			oldest = state;
	}
	begin_state(place, oldest, free_at_s, now_s);
	return oldest;
}

/* --- its lists -------------------------------------------------------------------------------- */

static void take_asked(const struct osp_place_call *call, struct asked *asked)
{
	memset(asked, 0, sizeof(*asked)); /* they are compared as bytes */
	asked->level = call->level;
	asked->need = call->need;
	asked->want = call->want;
	asked->required = call->required;
	asked->roomy = call->roomy;
	asked->same_weight = call->same_weight;
	asked->same_kind = call->same_kind;
	asked->kind_count = call->kind_count;
	asked->free_only = call->free_only;
	asked->special = call->special;
}

static struct list *list_of(struct state *state, const struct asked *asked)
{
	uint32_t place = asked->want + 31 * (asked->want - asked->need) + 67 * asked->level;

	return &state->lists[place % LISTS_MAX];
}

bool osp_place_recall(struct osp_place *place, const int64_t *free_at_s, int64_t now_s,
		      uint32_t *candidate_count, uint32_t *domain_count)
{
	struct osp_place_cache *kept = place->kept;
	const struct list *list;

	kept->at = find_state(place, free_at_s, now_s);
	kept->at->used = ++kept->questions;
	take_asked(&place->call, &kept->asked);
	list = list_of(kept->at, &kept->asked);
	if (!list->count || memcmp(&list->asked, &kept->asked, sizeof(kept->asked)))
		return false;
	memcpy(place->answer, &kept->at->pool[list->first], list->count * sizeof(*place->answer));
	*candidate_count = list->candidates;
	*domain_count = list->count;
	return true;
}

void osp_place_keep(struct osp_place *place, uint32_t candidate_count, uint32_t domain_count)
{
	struct osp_place_cache *kept = place->kept;
	struct state *state = kept->at;

	if (domain_count > kept->pool_room - state->pool_used) {
		state->pool_used = 0;
		memset(state->lists, 0, sizeof(state->lists));
	}
	if (domain_count > kept->pool_room)
		return;
	*list_of(state, &kept->asked) = (struct list){.asked = kept->asked,
						      .first = state->pool_used,
						      .count = domain_count,
						      .candidates = candidate_count};
	memcpy(&state->pool[state->pool_used], place->answer,
	       domain_count * sizeof(*place->answer));
	state->pool_used += domain_count;
}
