/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placed_instance.c - sums of the instances that a gang was placed on */
#include "lib/topology/placed_instance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"

#define SUM_DIGITS 8

static void write_sum(char sum[SUM_DIGITS + 1], const char *node, const char *instance)
{
	uint64_t hash = osp_hash_words(osp_hash_words(OSP_HASH_START, node), instance);

	snprintf(sum, SUM_DIGITS + 1, "%08" PRIx32, (uint32_t)(hash ^ hash >> 32));
}

void osp_placed_add(struct osp_text *sums, const char *node, const char *instance)
{
	char sum[SUM_DIGITS + 1];

	write_sum(sum, node, instance);
	osp_text_add(sums, sum);
}

static bool has(const char *sums, const char *node, const char *instance)
{
	char sum[SUM_DIGITS + 1];

	write_sum(sum, node, instance);
	for (; *sums; sums += SUM_DIGITS) {
		if (!strncmp(sums, sum, SUM_DIGITS))
			return true;
	}
	return false;
}

enum osp_placed_as osp_placed_look(const char *sums, const char *node, const char *instance)
{
	size_t length = sums ? strlen(sums) : 0;

	if (!length || length % SUM_DIGITS || strspn(sums, "0123456789abcdef") != length ||
	    !*instance)
		return OSP_PLACED_UNKNOWN;
	if (has(sums, node, instance))
		return OSP_PLACED_SAME;
	return has(sums, node, "") ? OSP_PLACED_UNKNOWN : OSP_PLACED_OTHER;
}
