/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spares.c - what --gang-spares asks for */
#include "lib/policy/spares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PER_SEGMENT "/segment"

int osp_spares_parse(const char *value, struct osp_spares *spares)
{
	unsigned long count;
	char *end;

	if (*value < '0' || *value > '9')
		return -1;
	count = strtoul(value, &end, 10);
	if (count > OSP_SPARES_MAX || (*end && strcmp(end, PER_SEGMENT) != 0))
		return -1;
	*spares = (struct osp_spares){.count = (uint32_t)count, .per_segment = *end && count};
	return 0;
}

/* Reads the number of "leaf:16" at `piece`; 0: there is none. */
static uint64_t size_of(const char *piece, size_t length)
{
	const char *colon = memchr(piece, ':', length);
	uint64_t size = 0;

	for (const char *at = colon; at && ++at < piece + length;) {
		if (*at < '0' || *at > '9' || size > UINT32_MAX)
			return 0;
		size = size * 10 + (uint64_t)(*at - '0');
	}
	return size;
}

/* Finds the smallest size of a list; 0: a piece has none. */
static uint64_t smallest(const char *segments)
{
	uint64_t least = UINT64_MAX;

	for (const char *at = segments;; at++) {
		size_t length = strcspn(at, ",");
		uint64_t size = size_of(at, length);

		least = size < least ? size : least;
		at += length;
		if (!*at)
			return least;
	}
}

int osp_spares_grow(const char *segments, uint32_t count, uint32_t nodes,
		    char grown[OSP_SEGMENTS_BYTES], uint32_t *spares, struct osp_error *error)
{
	uint64_t unit = smallest(segments), all;
	size_t bytes = 0;

	if (!unit)
		return osp_error_set(error,
				     "--gang-segment=%.80s: a level and a number of nodes are "
				     "expected, as in leaf:16",
				     segments);
	for (const char *at = segments;; at++) {
		size_t length = strcspn(at, ","), name = strcspn(at, ":");
		uint64_t size = size_of(at, length);

		if (size % unit)
			return osp_error_set(error,
					     "--gang-segment=%.80s: %llu nodes are no multiple of "
					     "the smallest segment, %llu",
					     segments, (unsigned long long)size,
					     (unsigned long long)unit);
		bytes += (size_t)snprintf(grown + bytes, OSP_SEGMENTS_BYTES - bytes, "%s%.*s:%llu",
					  at == segments ? "" : ",", (int)name, at,
					  (unsigned long long)(size / unit * (unit + count)));
		if (bytes >= OSP_SEGMENTS_BYTES)
			return osp_error_set(error,
					     "--gang-segment=%.80s: with %u spares in each "
					     "segment it is too long; ask for fewer",
					     segments, count);
		at += length;
		if (!*at)
			break;
	}
	all = (nodes + unit - 1) / unit * count;
	if (all > OSP_SPARES_MAX)
		return osp_error_set(
			error,
			"--gang-spares=%u/segment: these are more than %d spare nodes; "
			"ask for fewer",
			count, OSP_SPARES_MAX);
	*spares = (uint32_t)all;
	return 0;
}

bool osp_spares_are_in_segments(uint32_t spares, uint32_t count, uint32_t nodes, uint32_t unit)
{
	return unit > count && spares == ((uint64_t)nodes + unit - 1) / unit * count;
}
