/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodeset.c - sets of nodes as bitmaps */
#include "lib/base/nodeset.h"

#include <stdlib.h>
#include <string.h>

static uint32_t common_words(const struct osp_nodeset *a, const struct osp_nodeset *b)
{
	return a->word_count < b->word_count ? a->word_count : b->word_count;
}

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
	uint32_t words = common_words(to, from);

	memcpy(to->words, from->words, words * sizeof(to->words[0]));
	memset(to->words + words, 0, (to->word_count - words) * sizeof(to->words[0]));
}

void osp_nodeset_and(struct osp_nodeset *set, const struct osp_nodeset *with)
{
	uint32_t words = common_words(set, with);

	for (uint32_t i = 0; i < words; i++)
		set->words[i] &= with->words[i];
	memset(set->words + words, 0, (set->word_count - words) * sizeof(set->words[0]));
}

void osp_nodeset_or(struct osp_nodeset *set, const struct osp_nodeset *with)
{
	uint32_t words = common_words(set, with);

	for (uint32_t i = 0; i < words; i++)
		set->words[i] |= with->words[i];
}

void osp_nodeset_and_not(struct osp_nodeset *set, const struct osp_nodeset *without)
{
	uint32_t words = common_words(set, without);

	for (uint32_t i = 0; i < words; i++)
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
	return a->place_count == b->place_count &&
	       !memcmp(a->words, b->words, a->word_count * sizeof(a->words[0]));
}

bool osp_nodeset_overlap(const struct osp_nodeset *a, const struct osp_nodeset *b)
{
	uint32_t words = common_words(a, b);

	for (uint32_t i = 0; i < words; i++) {
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
