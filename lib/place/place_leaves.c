/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_leaves.c - the fewest leaves that hold a gang, with the fewest nodes left over in them
 *
 * The fewest leaves are exactly the k largest. They hold more than needed by the slack, which is
 * less than what the smallest of them holds, v: otherwise one leaf less would do. Swaps lead from
 * these k leaves to any other choice of k leaves: each leaf given up holds v or more, and each leaf
 * taken instead holds v or less, so every swapped leaf lowers the sum by its distance from v.
 * Finding the fewest left over is then a subset sum over these distances, none above the slack,
 * with as many leaves taken as given up: small, however many leaves there are. A set of sums is one
 * word.
 */
#include "lib/place/place_private.h"

#include <string.h>

/* Leaves that hold `value` open nodes: up to `count` of them given up (+1) or taken (-1). */
struct step {
	uint32_t value;
	uint32_t distance;
	uint32_t count;
	int direction;
};

struct swap {
	uint32_t smallest; /* v */
	uint32_t chosen;   /* leaves of that value among the k */
	uint32_t slack;
	uint32_t step_count;
	struct step steps[OSP_PLACE_STEPS];
};

static bool is_looked_at(const struct osp_place *place, const struct osp_place_offer *offer)
{
	return offer->eligible && offer->group < place->group_limit;
}

/* Counts the eligible leaves by what they offer. Returns the most that one offers. */
static uint32_t count_open(struct osp_place *place, uint32_t first, uint32_t end)
{
	uint32_t most = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct osp_place_offer *offer = &place->offers[i];

		if (!is_looked_at(place, offer))
			continue;
		place->with_open[offer->open]++;
		if (offer->open > most)
			most = offer->open;
	}
	return most;
}

/* Puts the k largest into place->use. Returns k; 0 if they are too few or k is above leaves_max. */
static uint32_t use_largest(struct osp_place *place, uint32_t most, uint32_t rest,
			    uint32_t leaves_max, struct swap *swap)
{
	uint32_t leaves = 0;

	for (uint32_t value = most; value > 0; value--) {
		uint32_t there = place->with_open[value];
		uint32_t wanted = rest / value + (rest % value != 0);

		if (!there)
			continue;
		if (there >= wanted) {
			place->use[value] = wanted;
			swap->smallest = value;
			swap->chosen = wanted;
			swap->slack = wanted * value - rest;
			leaves += wanted;
			return leaves <= leaves_max ? leaves : 0;
		}
		place->use[value] = there;
		rest -= there * value;
		leaves += there;
	}
	return 0;
}

/*
 * Replaces the last leaf by the smallest that holds the rest; exact for one leaf. Returns how many
 * nodes are left over.
 */
static uint32_t use_best_last(struct osp_place *place, const struct swap *swap)
{
	uint32_t value = swap->smallest - swap->slack;

	while (value < swap->smallest && !place->with_open[value])
		value++;
	if (value == swap->smallest)
		return swap->slack;
	place->use[swap->smallest]--;
	place->use[value]++;
	return value - (swap->smallest - swap->slack);
}

static void add_step(struct swap *swap, const struct osp_place *place, uint32_t value,
		     int direction)
{
	uint32_t distance = direction > 0 ? value - swap->smallest : swap->smallest - value;
	uint32_t most = swap->slack / distance;
	struct step *step = &swap->steps[swap->step_count];

	if (!place->with_open[value])
		return;
	step->value = value;
	step->distance = distance;
	step->direction = direction;
	step->count = place->with_open[value] < most ? place->with_open[value] : most;
	swap->step_count++;
}

static void list_steps(struct swap *swap, const struct osp_place *place, uint32_t most)
{
	swap->step_count = 0;
	for (uint32_t distance = 1; distance <= swap->slack; distance++) {
		if (swap->smallest + distance <= most)
			add_step(swap, place, swap->smallest + distance, 1);
		if (distance < swap->smallest)
			add_step(swap, place, swap->smallest - distance, -1);
	}
}

/*
 * Applies a step once: row[b] holds the sums, as bits, reachable with b more leaves given up than
 * taken (b counted from OSP_PLACE_SWAP_MAX). Goes against the step's direction, so that each leaf
 * is used once.
 */
static void apply_step(uint64_t *row, const struct step *step, uint64_t mask, uint32_t low,
		       uint32_t high)
{
	if (step->direction > 0) {
		for (uint32_t b = high; b > low; b--)
			row[b] |= (row[b - 1] << step->distance) & mask;
	} else {
		for (uint32_t b = low; b < high; b++)
			row[b] |= (row[b + 1] << step->distance) & mask;
	}
}

static bool saves_more(uint64_t sums, uint64_t than)
{
	return sums && __builtin_clzll(sums) < __builtin_clzll(than);
}

/* Returns the row that saves most of the slack and that enough leaves of value v can balance. */
static uint32_t best_balance(const struct osp_place *place, const struct swap *swap,
			     const uint64_t *row)
{
	uint32_t spare = place->with_open[swap->smallest] - swap->chosen;
	uint32_t best = OSP_PLACE_SWAP_MAX;

	for (uint32_t away = 1; away <= swap->slack; away++) {
		uint32_t more = OSP_PLACE_SWAP_MAX + away;
		uint32_t less = OSP_PLACE_SWAP_MAX - away;

		if (away <= spare && saves_more(row[more], row[best]))
			best = more;
		if (away <= swap->chosen && saves_more(row[less], row[best]))
			best = less;
	}
	return best;
}

/* Goes back from the sum `saved` in row `balance` of the last step, and changes place->use. */
static void trace_back(struct osp_place *place, const struct swap *swap, uint32_t balance,
		       uint32_t saved)
{
	place->use[swap->smallest] += balance;
	place->use[swap->smallest] -= OSP_PLACE_SWAP_MAX;
	for (uint32_t i = swap->step_count; i-- > 0;) {
		const struct step *step = &swap->steps[i];
		const uint64_t *row = place->reach[i];
		uint32_t times = 0;

		while (!((row[balance] >> saved) & 1)) {
			saved -= step->distance;
			balance -= (uint32_t)step->direction;
			times++;
		}
		if (step->direction > 0)
			place->use[step->value] -= times;
		else
			place->use[step->value] += times;
	}
}

/* Lowers the sum of the leaves in place->use as far as possible. Returns what is then left over. */
static uint32_t swap_leaves(struct osp_place *place, struct swap *swap, uint32_t most)
{
	uint64_t mask = ((uint64_t)2 << swap->slack) - 1;
	uint32_t low = OSP_PLACE_SWAP_MAX - swap->slack;
	uint32_t high = OSP_PLACE_SWAP_MAX + swap->slack;
	size_t row_bytes = (high - low + 1) * sizeof(place->reach[0][0]);
	uint32_t balance = OSP_PLACE_SWAP_MAX;
	uint32_t saved = 0;
	uint32_t done;

	list_steps(swap, place, most);
	memset(&place->reach[0][low], 0, row_bytes);
	place->reach[0][OSP_PLACE_SWAP_MAX] = 1;
	for (done = 0; done < swap->step_count && saved < swap->slack; done++) {
		uint64_t *row = place->reach[done + 1];

		memcpy(&row[low], &place->reach[done][low], row_bytes);
		for (uint32_t times = 0; times < swap->steps[done].count; times++)
			apply_step(row, &swap->steps[done], mask, low, high);
		balance = best_balance(place, swap, row);
		saved = 63 - (uint32_t)__builtin_clzll(row[balance]);
	}
	swap->step_count = done;
	trace_back(place, swap, balance, saved);
	return swap->slack - saved;
}

uint32_t osp_place_fewest(struct osp_place *place, uint32_t first, uint32_t end, uint32_t rest,
			  uint32_t leaves_max, uint32_t *left)
{
	struct swap swap;
	uint32_t most;
	uint32_t leaves;

	most = count_open(place, first, end);
	memset(place->use, 0, (most + 1) * sizeof(*place->use));
	leaves = use_largest(place, most, rest, leaves_max, &swap);
	if (leaves) {
		*left = swap.slack;
		if (swap.slack && (leaves == 1 || swap.slack > OSP_PLACE_SWAP_MAX))
			*left = use_best_last(place, &swap);
		else if (swap.slack)
			*left = swap_leaves(place, &swap, most);
	}
	memset(place->with_open, 0, (most + 1) * sizeof(*place->with_open));
	return leaves;
}
