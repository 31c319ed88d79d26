/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - one hash for tables and stamps: FNV-1a of 64 bits
 *
 * It is fast and the same everywhere, but no defence against an attacker who wants two texts to
 * have the same hash. Files and messages hold its values (stamps of a node, sums of a gang,
 * thresholds of a pass), so the hashed data and its order are part of their formats.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_HASH_H
#define OSP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of nothing: every hash starts from it. */
#define OSP_HASH_START UINT64_C(0xcbf29ce484222325)

/* Adds one step: a byte, or a number larger than any byte. */
static inline uint64_t osp_hash_step(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

/*
 * Adds a number with all its bits, for tables in memory only. In osp_hash_step() the high bits of a
 * number reach only the high bits of the hash, and two numbers that differ there may cancel out.
 */
static inline uint64_t osp_hash_mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Returns `hash` with `count` bytes added; `bytes` may be NULL if `count` is 0. */
uint64_t osp_hash_bytes(uint64_t hash, const void *bytes, size_t count);

/* Returns `hash` with a string and its final zero added, so that "ab", "c" differs from "a",
 * "bc". */
uint64_t osp_hash_words(uint64_t hash, const char *words);

#endif
