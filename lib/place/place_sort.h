/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_sort.h - sorting and selecting by digits
 *
 * Linear for all values, and no call takes memory. Any thread: no shared state.
 */
#ifndef OSP_PLACE_SORT_H
#define OSP_PLACE_SORT_H

#include <stdint.h>

/* The most words of a key. */
#define OSP_PLACE_KEY_WORDS 14

/*
 * Stores in `order` the order in which `count` keys of `width` words (at most
 * OSP_PLACE_KEY_WORDS, the most significant first) ascend; equal ones keep
 * their order. `order` and `spare` have room for `count`.
 */
void osp_place_sort(const uint32_t *keys, uint32_t width, uint32_t count, uint32_t *order,
		    uint32_t *spare);

/* Returns the value that has `nth` (less than `count`) others before it.
 * Reorders `values`. */
uint64_t osp_place_nth(uint64_t *values, uint32_t count, uint32_t nth);

#endif
