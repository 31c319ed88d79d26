/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodeset.h - sets of nodes as bitmaps
 *
 * A set has a fixed number of places, one for each node of a cluster, numbered from 0. If two sets
 * of one call have different numbers of places, the places missing from one are empty in it. The
 * inline functions accept only places of the set.
 *
 * Any thread, any daemon: no shared state. The inline functions neither allocate nor fail.
 */
#ifndef OSP_NODESET_H
#define OSP_NODESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct osp_nodeset {
	uint32_t place_count;
	uint32_t word_count;
	uint64_t words[]; /* place n is bit n % 64 of word n / 64; bits past place_count are 0 */
};

/* Returns an empty set of `place_count` places, to be freed with free(), or NULL if memory ran
 * out. */
struct osp_nodeset *osp_nodeset_new(uint32_t place_count);
struct osp_nodeset *osp_nodeset_copy(const struct osp_nodeset *set);

void osp_nodeset_clear(struct osp_nodeset *set);
void osp_nodeset_fill(struct osp_nodeset *set);
void osp_nodeset_assign(struct osp_nodeset *to, const struct osp_nodeset *from);
void osp_nodeset_and(struct osp_nodeset *set, const struct osp_nodeset *with);
void osp_nodeset_or(struct osp_nodeset *set, const struct osp_nodeset *with);
void osp_nodeset_and_not(struct osp_nodeset *set, const struct osp_nodeset *without);

uint32_t osp_nodeset_count(const struct osp_nodeset *set);
bool osp_nodeset_empty(const struct osp_nodeset *set);
bool osp_nodeset_equal(const struct osp_nodeset *a, const struct osp_nodeset *b);
bool osp_nodeset_overlap(const struct osp_nodeset *a, const struct osp_nodeset *b);

static inline void osp_nodeset_add(struct osp_nodeset *set, uint32_t node)
{
	set->words[node / 64] |= (uint64_t)1 << (node % 64);
}

static inline void osp_nodeset_remove(struct osp_nodeset *set, uint32_t node)
{
	set->words[node / 64] &= ~((uint64_t)1 << (node % 64));
}

static inline bool osp_nodeset_test(const struct osp_nodeset *set, uint32_t node)
{
	return (set->words[node / 64] >> (node % 64)) & 1;
}

/* Returns the first member at or after `from`, or `place_count` if there is none:
 *	for (n = osp_nodeset_next(s, 0); n < s->place_count; n = osp_nodeset_next(s, n + 1)) */
uint32_t osp_nodeset_next(const struct osp_nodeset *set, uint32_t from);

#endif
