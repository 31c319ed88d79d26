/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - one hash for tables and stamps: FNV-1a of 64 bits
 *
 * Fast and the same everywhere, and no defence against an attacker who wants two texts to have the
 * same hash. Files and messages hold its values (stamps of a node, sums of a gang, thresholds of a
 * pass), so what is hashed, and in which order, is part of their formats.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_HASH_H
#define OSP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of nothing: where every hash begins. */
#define OSP_HASH_START UINT64_C(0xcbf29ce484222325)

/* One step: a byte, or a number that no byte could hold. */
static inline uint64_t osp_hash_step(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

/*
 * A number with all its bits: a step of its own, for tables in memory alone. In osp_hash_step() the
 * high bits of a number reach only the high bits of the hash, and two that differ there may cancel
 * out.
 */
static inline uint64_t osp_hash_mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* `hash` with `count` bytes added; `bytes` may be NULL where `count` is 0. */
uint64_t osp_hash_bytes(uint64_t hash, const void *bytes, size_t count);

/* `hash` with the words added, their final zero too, so that "ab", "c" is not "a", "bc". */
uint64_t osp_hash_words(uint64_t hash, const char *words);

#endif
