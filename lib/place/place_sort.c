/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_sort.c - sorting and selecting by digits
 *
 * glibc's qsort() takes memory for large arrays, and a decision takes none. By digits both are
 * linear for all values, and bytes in which all keys agree cost nothing.
 */
#include "lib/place/place_sort.h"

#include <string.h>

#define DIGITS 256

static void sort_by_byte(const uint32_t *keys, uint32_t width, uint32_t shift, uint32_t count,
			 const uint32_t *from, uint32_t *to)
{
	uint32_t next[DIGITS] = {0};
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		next[(keys[(size_t)i * width] >> shift) & 0xff]++;
	for (uint32_t digit = 0; digit < DIGITS; digit++) {
		uint32_t here = next[digit];

		next[digit] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < count; i++)
		to[next[(keys[(size_t)from[i] * width] >> shift) & 0xff]++] = from[i];
}

void osp_place_sort(const uint32_t *keys, uint32_t width, uint32_t count, uint32_t *order,
		    uint32_t *spare)
{
	uint32_t varies[OSP_PLACE_KEY_WORDS] = {0};
	uint32_t *from = order;
	uint32_t *to = spare;

	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		for (uint32_t word = 0; word < width; word++)
			varies[word] |= keys[(size_t)i * width + word] ^ keys[word];
	}
	for (uint32_t word = width; word-- > 0;) {
		for (uint32_t shift = 0; shift < 32; shift += 8) {
			uint32_t *swap = from;

			if (!((varies[word] >> shift) & 0xff))
				continue;
			sort_by_byte(keys + word, width, shift, count, from, to);
			from = to;
			to = swap;
		}
	}
	if (from != order)
		memcpy(order, from, count * sizeof(*order));
}

/*
 * Keeps the values whose byte at `shift` is that of the value with `*nth` before it. Returns how
 * many.
 */
static uint32_t keep_digit(uint64_t *values, uint32_t count, uint32_t shift, uint32_t *nth)
{
	uint32_t with[DIGITS] = {0};
	uint32_t digit = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		with[(values[i] >> shift) & 0xff]++;
	while (*nth >= with[digit])
		*nth -= with[digit++];
	/* Without a branch: which values match cannot be predicted. */
	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = values[i];

		values[kept] = value;
		kept += ((value >> shift) & 0xff) == digit;
	}
	return kept;
}

uint64_t osp_place_nth(uint64_t *values, uint32_t count, uint32_t nth)
{
	uint64_t varies = 0;

	for (uint32_t i = 1; i < count; i++)
		varies |= values[i] ^ values[0];
	for (uint32_t shift = 64; shift > 0 && varies;) {
		shift -= 8;
		if (!((varies >> shift) & 0xff))
			continue;
		count = keep_digit(values, count, shift, &nth);
		varies &= ((uint64_t)1 << shift) - 1;
	}
	return values[0];
}
