/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/nodeset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct osp_nodeset *osp_nodeset_new(uint32_t place_count)
{
	uint32_t word_count = place_count / 64 + (place_count % 64 != 0);
	struct osp_nodeset *set = calloc(1, sizeof(*set) + word_count * sizeof(set->words[0]));

	if (!set)
		return NULL;
	set->place_count = place_count;
	set->word_count = word_count;
	return set;
}

struct osp_nodeset *osp_nodeset_copy(const struct osp_nodeset *set)
{
	struct osp_nodeset *copy = osp_nodeset_new(set->place_count);

	if (copy)
		osp_nodeset_assign(copy, set);
	return copy;
}

void osp_nodeset_clear(struct osp_nodeset *set)
{
	memset(set->words, 0, set->word_count * sizeof(set->words[0]));
}

void osp_nodeset_fill(struct osp_nodeset *set)
{
	memset(set->words, 0xff, set->word_count * sizeof(set->words[0]));
	if (set->place_count % 64)
		set->words[set->word_count - 1] = ((uint64_t)1 << (set->place_count % 64)) - 1;
}

void osp_nodeset_assign(struct osp_nodeset *to, const struct osp_nodeset *from)
{
	assert(to->place_count == from->place_count);
	memcpy(to->words, from->words, to->word_count * sizeof(to->words[0]));
}

void osp_nodeset_and(struct osp_nodeset *set, const struct osp_nodeset *with)
{
	assert(set->place_count == with->place_count);
	for (uint32_t i = 0; i < set->word_count; i++)
		set->words[i] &= with->words[i];
}

void osp_nodeset_or(struct osp_nodeset *set, const struct osp_nodeset *with)
{
	assert(set->place_count == with->place_count);
	for (uint32_t i = 0; i < set->word_count; i++)
		set->words[i] |= with->words[i];
}

void osp_nodeset_and_not(struct osp_nodeset *set, const struct osp_nodeset *without)
{
	assert(set->place_count == without->place_count);
	for (uint32_t i = 0; i < set->word_count; i++)
		set->words[i] &= ~without->words[i];
}

uint32_t osp_nodeset_count(const struct osp_nodeset *set)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < set->word_count; i++)
		count += (uint32_t)__builtin_popcountll(set->words[i]);
	return count;
}

bool osp_nodeset_empty(const struct osp_nodeset *set)
{
	for (uint32_t i = 0; i < set->word_count; i++) {
		if (set->words[i])
			return false;
	}
	return true;
}

bool osp_nodeset_equal(const struct osp_nodeset *a, const struct osp_nodeset *b)
{
	assert(a->place_count == b->place_count);
	return !memcmp(a->words, b->words, a->word_count * sizeof(a->words[0]));
}

bool osp_nodeset_contains(const struct osp_nodeset *set, const struct osp_nodeset *subset)
{
	assert(set->place_count == subset->place_count);
	for (uint32_t i = 0; i < set->word_count; i++) {
		if (subset->words[i] & ~set->words[i])
			return false;
	}
	return true;
}

bool osp_nodeset_overlap(const struct osp_nodeset *a, const struct osp_nodeset *b)
{
	assert(a->place_count == b->place_count);
	for (uint32_t i = 0; i < a->word_count; i++) {
		if (a->words[i] & b->words[i])
			return true;
	}
	return false;
}

uint32_t osp_nodeset_next(const struct osp_nodeset *set, uint32_t from)
{
	uint32_t i = from / 64;
	uint64_t word;

	if (from >= set->place_count)
		return set->place_count;
	word = set->words[i] & (~(uint64_t)0 << (from % 64));
	while (!word) {
		if (++i == set->word_count)
			return set->place_count;
		word = set->words[i];
	}
	return i * 64 + (uint32_t)__builtin_ctzll(word);
}
