/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segments_text.c - segments as users write them */
#include "lib/place/segments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

#define NAME_BYTES 32

/* A copy of one "leaf:32". */
struct piece {
	char level[NAME_BYTES];
	uint32_t nodes; /* 0: none, or too many */
	int column;
};

static uint32_t parse_nodes(const char *digits, size_t bytes)
{
	uint64_t nodes = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (!isdigit((unsigned char)digits[i]))
			return 0;
		nodes = nodes * 10 + (uint64_t)(digits[i] - '0');
		if (nodes > OSP_NODES_MAX)
			return 0;
	}
	return (uint32_t)nodes;
}

static int parse_piece(const char *text, size_t start, size_t length, struct piece *piece,
		       struct osp_error *error)
{
	const char *colon = memchr(text + start, ':', length);
	size_t name_bytes = colon ? (size_t)(colon - text) - start : length;

	piece->column = (int)start + 1;
	for (size_t i = start; i < start + length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || c > '~')
			return osp_error_byte(error, (int)i + 1, c, "in segments");
	}
	if (!colon || !name_bytes || name_bytes >= NAME_BYTES)
		return osp_error_at(error, NULL, 0, piece->column,
				    "a level and a number of nodes are expected, as in leaf:16");
	memcpy(piece->level, text + start, name_bytes);
	piece->level[name_bytes] = '\0';
	piece->nodes = parse_nodes(colon + 1, length - name_bytes - 1);
	if (!piece->nodes)
		return osp_error_at(
			error, NULL, 0, (int)(colon - text) + 2,
			"%s:%.*s: a number of nodes from 1 to %d", piece->level,
			(int)(length - name_bytes - 1 < 20 ? length - name_bytes - 1 : 20),
			colon + 1, OSP_NODES_MAX);
	return 0;
}

static int refuse_level(const struct piece *piece, const struct osp_topology *topology,
			uint32_t level, struct osp_error *error)
{
	char below[160];

	if (osp_topology_level(topology, piece->level) <= 0)
		return osp_topology_no_level(topology, piece->level, 1, level - 1, piece->column,
					     error);
	if (level == 1)
		return osp_error_at(error, NULL, 0, piece->column,
				    "%s: a segment lies below the gang's level, and none is below "
				    "%s; leave it out",
				    piece->level, osp_topology_level_name(topology, level));
	return osp_error_at(error, NULL, 0, piece->column,
			    "%s: a segment lies below the gang's level, %s; say %s", piece->level,
			    osp_topology_level_name(topology, level),
			    osp_topology_levels_text(topology, 1, level - 1, below, sizeof(below)));
}

/* Refuses segments of a level in itself, or of levels of which one is beside the tree, with a
 * domain that crosses: of these two levels, or of the overlay and another one. */
static int refuse_crossing(const struct piece *piece, const struct osp_topology *topology,
			   uint32_t inner, uint32_t outer, const char *cure,
			   struct osp_error *error)
{
	uint32_t overlay = osp_topology_is_overlay(topology, inner) ? inner : outer, crossing;
	uint32_t with = osp_topology_level_count(topology);
	const char *name = osp_topology_level_name(topology, overlay);
	char text[320] = "the topology lists it under overlays";

	if (inner == outer)
		return osp_error_at(error, NULL, 0, piece->column,
				    "%s: a gang in one %s has no segments of %s; %s", piece->level,
				    name, name, cure);
	if (!osp_topology_nests(topology, inner, outer, &crossing))
		return osp_error_at(
			error, NULL, 0, piece->column,
			"%s: %s and %s do not nest in each other: %s; %s", piece->level,
			osp_topology_level_name(topology, inner),
			osp_topology_level_name(topology, outer),
			osp_topology_crossing_text(topology, crossing, outer, text, sizeof(text)),
			cure);
	while (with && (osp_topology_nests(topology, overlay, with, &crossing) ||
			osp_topology_nests(topology, with, overlay, NULL)))
		with--;
	if (with)
		osp_topology_crossing_text(topology, crossing, with, text, sizeof(text));
	return osp_error_at(error, NULL, 0, piece->column,
			    "%s: level %s is beside the tree: %s; %s", piece->level, name, text,
			    cure);
}

/* Returns the level of the first segment as it was named: of crossings, the overlay. */
static uint32_t first_named(const struct osp_topology *topology,
			    const struct osp_segments *segments)
{
	const char *name = osp_topology_level_name(topology, segments->segment[0].level);

	return (uint32_t)osp_topology_level(topology, name);
}

/* Finds the level of a segment in a gang of `level`; says why it has none. */
static int find_level(const struct piece *piece, const struct osp_topology *topology,
		      uint32_t level, const struct osp_segments *segments, uint32_t *found,
		      struct osp_error *error)
{
	int named = osp_topology_level(topology, piece->level);
	uint32_t first = segments->count ? first_named(topology, segments) : 0;
	bool beside;

	if (named < 1)
		return refuse_level(piece, topology, level, error);
	*found = (uint32_t)named;
	beside = osp_topology_is_overlay(topology, *found);
	if (osp_topology_is_overlay(topology, level))
		return refuse_crossing(piece, topology, *found, level,
				       "leave out --gang-segment, or ask for a level of the tree "
				       "and segments of this one",
				       error);
	if (!beside && *found >= level)
		return refuse_level(piece, topology, level, error);
	if (first && first != *found && (beside || osp_topology_is_overlay(topology, first)))
		return refuse_crossing(piece, topology, beside ? *found : first,
				       beside ? first : *found, "ask for segments of one of them",
				       error);
	if (beside)
		*found = osp_topology_crossings(topology, *found, level);
	return 0;
}

/* Adds a segment; keeps them lowest level first. */
static int add_segment(const struct piece *piece, const struct osp_topology *topology,
		       uint32_t level, struct osp_segments *segments, struct osp_error *error)
{
	uint32_t at = segments->count, found = 0;

	if (find_level(piece, topology, level, segments, &found, error))
		return -1;
	for (; at && segments->segment[at - 1].level > found; at--)
		segments->segment[at] = segments->segment[at - 1];
	if (at && segments->segment[at - 1].level == found)
		return osp_error_at(error, NULL, 0, piece->column, "%s is said twice",
				    piece->level);
	segments->segment[at] = (struct osp_segment){found, piece->nodes};
	segments->count++;
	return 0;
}

uint32_t osp_segments_room(const struct osp_topology *topology, uint32_t level)
{
	uint32_t first, count, largest = 0;

	osp_topology_level_domains(topology, level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++) {
		uint32_t nodes = osp_topology_domain(topology, domain)->node_count;

		largest = nodes > largest ? nodes : largest;
	}
	return largest;
}

static int check_sizes(const struct osp_segments *segments, const struct osp_topology *topology,
		       struct osp_error *error)
{
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct osp_segment *segment = &segments->segment[i], *below = segment - 1;
		const char *name = osp_topology_level_name(topology, segment->level);
		uint32_t largest = osp_segments_room(topology, segment->level);
		uint32_t in = osp_topology_crossed(topology, segment->level);

		if (segment->nodes > largest)
			return osp_error_set(
				error, "%s:%u: the largest %s has %u nodes%s%s; say at most %s:%u",
				name, segment->nodes, name, largest, in ? " in one " : "",
				in ? osp_topology_level_name(topology, in) : "", name, largest);
		if (i && segment->nodes % below->nodes)
			return osp_error_set(
				error,
				"%s:%u does not divide %s:%u; %s:%u would be cut into whole ones",
				osp_topology_level_name(topology, below->level), below->nodes, name,
				segment->nodes, name,
				segment->nodes > below->nodes
					? segment->nodes / below->nodes * below->nodes
					: below->nodes);
	}
	return 0;
}

int osp_segments_parse(const char *text, const struct osp_topology *topology, uint32_t level,
		       struct osp_segments *segments, struct osp_error *error)
{
	struct osp_segments parsed = {.count = 0};
	struct piece piece;
	size_t start = 0, length;

	do {
		length = strcspn(text + start, ",");
		if (parse_piece(text, start, length, &piece, error) ||
		    add_segment(&piece, topology, level, &parsed, error))
			return -1;
		start += length + 1;
	} while (text[start - 1]);
	if (check_sizes(&parsed, topology, error))
		return -1;
	*segments = parsed;
	return 0;
}

const char *osp_segments_format(const struct osp_segments *segments,
				const struct osp_topology *topology, char *buffer,
				size_t buffer_bytes)
{
	size_t at = 0;

	buffer[0] = '\0';
	for (uint32_t i = 0; i < segments->count && at < buffer_bytes; i++)
		at += (size_t)snprintf(
			buffer + at, buffer_bytes - at, "%s%s:%u", i ? "," : "",
			osp_topology_level_name(topology, segments->segment[i].level),
			segments->segment[i].nodes);
	return buffer;
}
