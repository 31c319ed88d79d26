/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.c - a gang in segments or in several domains, if nodes are of several kinds or zones */
#include "lib/place/parts.h"

#include <string.h>

int osp_parts_read(uint32_t domains_max, const char *segments, const struct osp_topology *topology,
		   uint32_t level, struct osp_parts *parts, struct osp_error *error)
{
	struct osp_error inner = {.text = ""};

	*parts = (struct osp_parts){.domains_max = domains_max ? domains_max : 1};
	if (domains_max > 1 && osp_topology_is_overlay(topology, level))
		return osp_error_set(
			error,
			"--gang-domains=%u: level %s is beside the tree, and a gang is "
			"in one domain of it; ask for a level of the tree, and "
			"--gang-segment=%s:N",
			domains_max, osp_topology_level_name(topology, level),
			osp_topology_level_name(topology, level));
	if (domains_max > 1 && level == osp_topology_zone_level(topology))
		return osp_error_set(
			error,
			"--gang-domains=%u: several of level %s never form one gang; ask for a "
			"lower level, or leave out --gang-domains",
			domains_max, osp_topology_level_name(topology, level));
	if (!*segments ||
	    osp_segments_parse(segments, topology, level, &parts->segments, &inner) == 0)
		return 0;
	return osp_error_at(error, NULL, 0, inner.column, "--gang-segment=%.80s: %s", segments,
			    inner.text);
}

void osp_parts_relax(struct osp_parts *parts, const struct osp_topology *topology, uint32_t *level)
{
	uint32_t before = *level, next = osp_topology_relaxed(topology, before);

	if (next == before)
		return;
	if (!next || before > osp_topology_level_count(topology)) {
		parts->domains_max = OSP_NODES_MAX;
		return;
	}
	*level = next;
	if (next == osp_topology_zone_level(topology))
		parts->domains_max = 1;
	for (uint32_t i = 0; i < parts->segments.count; i++) {
		/* crossings with the level above have the next number */
		if (osp_topology_crossed(topology, parts->segments.segment[i].level))
			parts->segments.segment[i].level += next - before;
	}
}

bool osp_parts_anywhere(const struct osp_parts *parts)
{
	return parts->domains_max == OSP_NODES_MAX && !parts->segments.count;
}

bool osp_parts_kept(struct osp_cut *cut, const struct osp_parts *parts, uint32_t level,
		    const struct osp_nodeset *nodes)
{
	const struct osp_place_input place = {.level = level,
					      .need_nodes = osp_nodeset_count(nodes)};
	const struct osp_cut_input input = osp_parts_input(parts, &place, nodes);
	struct osp_cut_answer answer;

	if (!osp_cut_in_one_zone(cut, nodes))
		return false;
	if (osp_parts_anywhere(parts))
		return true;
	osp_cut_judge(cut, &input, &answer);
	return answer.fits;
}

static uint16_t kinds_of_nodes(const struct osp_place_input *place)
{
	return place->kind ? place->kind_count : 1;
}

/* Returns how many zones there are, and *first, their first domain; 0: no matter, as there is none,
 * or all nodes are in one. */
static uint32_t zones(const struct osp_place_input *place, uint32_t *first)
{
	uint32_t level = place->zoned ? osp_topology_zone_level(place->zoned) : 0, count = 0;

	if (level)
		osp_topology_level_domains(place->zoned, level, first, &count);
	if (count == 1 && osp_topology_domain(place->zoned, *first)->node_count ==
				  osp_topology_node_count(place->zoned))
		return 0;
	return count;
}

bool osp_parts_in_zones(const struct osp_place_input *place)
{
	uint32_t first;

	return zones(place, &first) > 1;
}

uint16_t osp_parts_kinds(const struct osp_place_input *place)
{
	uint32_t first, count = zones(place, &first);
	/* nodes whose zone is not known are a zone of their own */
	uint64_t kinds = (uint64_t)kinds_of_nodes(place) * (count ? count + 1 : 1);

	return kinds < UINT16_MAX ? (uint16_t)kinds : UINT16_MAX;
}

/*
 * Sets `to` to the nodes of `from` in the zone of this number. It visits only that zone's nodes,
 * since a topology may have any number of zones.
 */
static void keep_zone(const struct osp_place_input *place, const struct osp_nodeset *from,
		      uint32_t zone, struct osp_nodeset *to)
{
	uint32_t first, count = zones(place, &first), nodes;
	const uint32_t *domain_of;

	if (count && zone < count) {
		osp_nodeset_clear(to);
		osp_topology_add_domain_nodes(place->zoned, first + zone, to);
		osp_nodeset_and(to, from);
		return;
	}
	osp_nodeset_assign(to, from);
	if (!count)
		return;
	nodes = osp_topology_node_count(place->zoned);
	domain_of =
		osp_topology_domains_of_nodes(place->zoned, osp_topology_zone_level(place->zoned));
	for (uint32_t n = osp_nodeset_next(to, 0); n < nodes && n < to->place_count;
	     n = osp_nodeset_next(to, n + 1)) {
		if (domain_of[n] != OSP_NO_DOMAIN)
			osp_nodeset_remove(to, n);
	}
}

uint32_t osp_parts_keep_kind(const struct osp_place_input *place, const struct osp_nodeset *from,
			     uint16_t kind, struct osp_nodeset *to)
{
	keep_zone(place, from, kind / kinds_of_nodes(place), to);
	if (place->required && !osp_nodeset_empty(place->required))
		osp_nodeset_and(to, place->required);
	for (uint32_t n = osp_nodeset_next(to, 0); place->kind && n < to->place_count;
	     n = osp_nodeset_next(to, n + 1)) {
		if (place->kind[n] != kind % kinds_of_nodes(place))
			osp_nodeset_remove(to, n);
	}
	return osp_nodeset_count(to);
}

struct osp_cut_input osp_parts_input(const struct osp_parts *parts,
				     const struct osp_place_input *place,
				     const struct osp_nodeset *from)
{
	return (struct osp_cut_input){.level = place->level,
				      .domains_max = parts->domains_max,
				      .nodes = place->need_nodes,
				      .segments = parts->segments,
				      .free = from,
				      .boot = place->boot,
				      .weight = place->weight};
}

static bool is_better(const struct osp_cut_answer *one, const struct osp_cut_answer *other)
{
	if (one->fits != other->fits)
		return one->fits;
	return one->fits ? one->domains < other->domains
			 : one->whole_offered > other->whole_offered;
}

void osp_parts_judge(struct osp_cut *cut, const struct osp_parts *parts,
		     const struct osp_place_input *place, const struct osp_nodeset *from,
		     struct osp_nodeset *scratch, struct osp_cut_answer *answer)
{
	struct osp_cut_input input = osp_parts_input(parts, place, scratch);
	const uint16_t kinds = osp_parts_kinds(place);
	uint16_t best = 0, judged = 0;

	for (uint16_t kind = 0; kind < kinds; kind++) {
		struct osp_cut_answer found;

		/* most kinds have no node in most zones */
		if (!osp_parts_keep_kind(place, from, kind, scratch) && kind)
			continue;
		osp_cut_judge(cut, &input, &found);
		judged = kind;
		if (!kind || is_better(&found, answer)) {
			*answer = found;
			best = kind;
		}
	}
	if (best != judged) {
		osp_parts_keep_kind(place, from, best, scratch);
		osp_cut_judge(cut, &input, answer);
	}
}

/* Returns the most nodes of `input` that fit, if they are more than `fits`; else `fits`. */
static uint32_t most_of_one_kind(struct osp_cut *cut, struct osp_cut_input input, uint32_t fits,
				 uint32_t too_many)
{
	struct osp_cut_answer answer;

	for (input.nodes = fits + 1; input.nodes < too_many;
	     input.nodes = fits + (too_many - fits + 1) / 2) {
		osp_cut_judge(cut, &input, &answer);
		if (answer.fits)
			fits = input.nodes;
		else
			too_many = input.nodes;
	}
	return fits;
}

uint32_t osp_parts_most(struct osp_cut *cut, const struct osp_parts *parts,
			const struct osp_place_input *place, const struct osp_nodeset *from,
			struct osp_nodeset *scratch)
{
	const uint16_t kinds = osp_parts_kinds(place);
	uint32_t fits = 0;

	for (uint16_t kind = 0; kind < kinds; kind++) {
		uint32_t has = osp_parts_keep_kind(place, from, kind, scratch);

		if (has > fits)
			fits = most_of_one_kind(cut, osp_parts_input(parts, place, scratch), fits,
						has < place->need_nodes ? has + 1
									: place->need_nodes);
	}
	return fits;
}

static bool fits(struct osp_cut *cut, const struct osp_parts *parts,
		 const struct osp_place_input *place, const struct osp_nodeset *from,
		 struct osp_nodeset *scratch)
{
	struct osp_cut_answer answer;

	osp_parts_judge(cut, parts, place, from, scratch, &answer);
	return answer.fits;
}

/* Returns whether a gang of this level may lie in several of its domains: osp_parts_read(). */
static bool may_be_apart(const struct osp_place_input *place)
{
	return !place->zoned || (!osp_topology_is_overlay(place->zoned, place->level) &&
				 place->level != osp_topology_zone_level(place->zoned));
}

void osp_parts_find_instead(struct osp_cut *cut, const struct osp_parts *parts,
			    const struct osp_place_input *place, const struct osp_nodeset *from,
			    bool held, struct osp_nodeset *scratch,
			    struct osp_parts_instead *instead)
{
	const struct osp_parts apart = {OSP_NODES_MAX, parts->segments};
	const struct osp_parts smaller = {parts->domains_max, {.count = 0}};
	const struct osp_parts anywhere = {OSP_NODES_MAX, {.count = 0}};
	bool required = place->required && !osp_nodeset_empty(place->required);
	bool may = !held && may_be_apart(place), segments = parts->segments.count > 0;

	*instead = (struct osp_parts_instead){
		.nodes = required ? 0 : osp_parts_most(cut, parts, place, from, scratch),
		.smaller_segments = segments && fits(cut, &smaller, place, from, scratch),
	};
	if (may && fits(cut, &apart, place, from, scratch))
		instead->nodes_apart = place->need_nodes;
	else if (may && !required)
		instead->nodes_apart = osp_parts_most(cut, &apart, place, from, scratch);
	if (instead->nodes_apart <= instead->nodes)
		instead->nodes_apart = 0;
	instead->both = may && segments && !instead->smaller_segments &&
			instead->nodes_apart != place->need_nodes &&
			fits(cut, &anywhere, place, from, scratch);
}
