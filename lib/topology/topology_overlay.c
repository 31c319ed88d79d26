/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_overlay.c - the levels beside the tree: their ranks, their crossings with the tree */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/topology/topology_parts.h"
#include "lib/topology/topology_private.h"

uint32_t osp_topology_overlay_count(const struct osp_topology *topology)
{
	return topology->overlay_count;
}

uint32_t osp_topology_last_level(const struct osp_topology *topology)
{
	return topology->level_count + topology->overlay_count;
}

bool osp_topology_is_overlay(const struct osp_topology *topology, uint32_t level)
{
	return level > topology->level_count && level <= osp_topology_last_level(topology);
}

uint32_t osp_topology_crossings(const struct osp_topology *topology, uint32_t overlay,
				uint32_t level)
{
	return osp_topology_last_level(topology) +
	       (overlay - topology->level_count - 1) * topology->level_count + level;
}

uint32_t osp_topology_crossed(const struct osp_topology *topology, uint32_t level)
{
	uint32_t last = osp_topology_last_level(topology);

	return level > last ? (level - last - 1) % topology->level_count + 1 : 0;
}

bool osp_topology_below(const struct osp_topology *topology, uint32_t inner, uint32_t outer)
{
	if (!inner || !outer || outer > topology->level_count)
		return false;
	return inner < outer || osp_topology_crossed(topology, inner) == outer;
}

uint32_t osp_topology_domain_room(const struct osp_topology *topology)
{
	return topology->domain_room;
}

uint32_t osp_topology_rank_room(const struct osp_topology *topology)
{
	return topology->node_count * (1 + topology->overlay_count);
}

bool osp_topology_nests(const struct osp_topology *topology, uint32_t inner, uint32_t outer,
			uint32_t *crossing)
{
	bool in_tree = inner <= topology->level_count && outer <= topology->level_count;
	uint32_t found = in_tree ? OSP_NO_DOMAIN : topology->crossing[inner][outer];

	if (crossing)
		*crossing = found;
	return inner == outer || (in_tree ? inner < outer : found == OSP_NO_DOMAIN);
}

bool osp_topology_relaxes_past(const struct osp_topology *topology, uint32_t level, uint32_t other)
{
	return osp_topology_is_overlay(topology, level) && other < topology->level_count;
}

uint32_t osp_topology_count_crossing(const struct osp_topology *topology, uint32_t overlay,
				     uint32_t level)
{
	uint32_t crossings = osp_topology_crossings(topology, overlay, level), count = 0;
	uint32_t before = OSP_NO_DOMAIN, counted = OSP_NO_DOMAIN;

	/* crossings of one domain of the overlay have one name, and follow each other */
	for (uint32_t c = topology->level_first[crossings];
	     c < topology->level_first[crossings + 1]; c++) {
		uint32_t node = topology->node_at_rank[topology->domains[c].first_rank];
		uint32_t domain = topology->domains_of_nodes[overlay][node];

		if (domain == before && domain != counted) {
			count++;
			counted = domain;
		}
		before = domain;
	}
	return count;
}

/* Returns the first node of `domain` from its `i`-th on that is in another domain of `level` than
 * its first. */
static uint32_t first_apart(const struct osp_topology *topology, const struct osp_domain *domain,
			    uint32_t level)
{
	const uint32_t *nodes = &topology->node_at_rank[domain->first_rank];
	uint32_t i = 1;

	while (i < domain->node_count && topology->domains_of_nodes[level][nodes[i]] ==
						 topology->domains_of_nodes[level][nodes[0]])
		i++;
	return i < domain->node_count ? nodes[i] : OSP_NO_NODE;
}

/* Writes "leaf l1", or "no leaf". */
static void name_place(const struct osp_topology *topology, uint32_t node, uint32_t level,
		       char *buffer, size_t bytes)
{
	uint32_t domain =
		node == OSP_NO_NODE ? OSP_NO_DOMAIN : topology->domains_of_nodes[level][node];

	if (domain == OSP_NO_DOMAIN)
		snprintf(buffer, bytes, "no %s", topology->level_names[level]);
	else
		snprintf(buffer, bytes, "%s %.64s", topology->level_names[level],
			 topology->domains[domain].name);
}

const char *osp_topology_crossing_text(const struct osp_topology *topology, uint32_t crossing,
				       uint32_t level, char *buffer, size_t buffer_bytes)
{
	const struct osp_domain *domain = &topology->domains[crossing];
	uint32_t apart = first_apart(topology, domain, level);
	char one[112], other[112] = "";

	name_place(topology, topology->node_at_rank[domain->first_rank], level, one, sizeof(one));
	if (apart != OSP_NO_NODE)
		name_place(topology, apart, level, other, sizeof(other));
	snprintf(buffer, buffer_bytes, "%s %.64s has nodes in %s%s%s",
		 topology->level_names[domain->level], domain->name, one, *other ? " and in " : "",
		 other);
	return buffer;
}

uint32_t osp_topology_listed_domains(const struct osp_topology *topology)
{
	return topology->level_first[osp_topology_last_level(topology) + 1];
}

/* --- copies ----------------------------------------------------------------------------------- */

int osp_topology_copy_overlays(struct osp_topology_parts *parts,
			       const struct osp_topology *topology, uint32_t without,
			       const uint32_t *number)
{
	for (uint32_t o = topology->level_count + 1; o <= osp_topology_last_level(topology); o++) {
		uint32_t *domains;

		if (o == without)
			continue;
		domains = calloc((size_t)parts->node_count + 1, sizeof(*domains));
		if (!domains)
			return -1;
		parts->overlays[parts->overlay_count++] = domains;
		for (uint32_t n = 0; n < parts->node_count; n++) {
			const char *name = parts->nodes[n].name;
			uint32_t node = name ? osp_topology_find_node(topology, name) : OSP_NO_NODE;

			domains[n] = node == OSP_NO_NODE ? OSP_NO_DOMAIN
							 : topology->domains_of_nodes[o][node];
			if (number && domains[n] != OSP_NO_DOMAIN)
				domains[n] = number[domains[n]];
		}
	}
	return 0;
}

void osp_topology_free_overlays(struct osp_topology_parts *parts)
{
	for (uint32_t o = 0; o < parts->overlay_count; o++)
		free(parts->overlays[o]);
	parts->overlay_count = 0;
}

/* --- assembly --------------------------------------------------------------------------------- */

/* Gives the domains of an overlay their ranks, the nodes of each in the order of the tree's. */
static void rank_overlay(struct osp_topology *t, uint32_t level, uint32_t *cursor)
{
	uint32_t next = t->node_count * (level - t->level_count), unknown;
	const uint32_t *domains = t->domains_of_nodes[level];

	for (uint32_t n = 0; n < t->node_count; n++) {
		if (domains[n] != OSP_NO_DOMAIN)
			t->domains[domains[n]].node_count++;
	}
	for (uint32_t d = t->level_first[level]; d < t->level_first[level + 1]; d++) {
		t->domains[d].first_rank = cursor[d] = next;
		next += t->domains[d].node_count;
	}
	unknown = next;
	for (uint32_t rank = 0; rank < t->node_count; rank++) {
		uint32_t node = t->node_at_rank[rank];
		uint32_t *at = domains[node] == OSP_NO_DOMAIN ? &unknown : &cursor[domains[node]];

		t->node_at_rank[(*at)++] = node;
	}
}

/*
 * Walks the crossings of an overlay with a level: its nodes that are known at both, in the
 * overlay's ranks. With `domains` (NULL: only count) fills them from number `first` on. Returns how
 * many.
 */
static uint32_t walk_crossings(struct osp_topology *t, uint32_t overlay, uint32_t level,
			       uint32_t first, struct osp_domain *domains)
{
	uint32_t hidden = osp_topology_crossings(t, overlay, level), count = 0;
	uint32_t start = t->node_count * (overlay - t->level_count);
	uint32_t beside = OSP_NO_DOMAIN, in = OSP_NO_DOMAIN;

	for (uint32_t rank = start; rank < start + t->node_count; rank++) {
		uint32_t node = t->node_at_rank[rank];
		uint32_t one = t->domains_of_nodes[overlay][node];
		uint32_t other = t->domains_of_nodes[level][node];
		bool known = one != OSP_NO_DOMAIN && other != OSP_NO_DOMAIN;

		if (known && (one != beside || other != in)) {
			if (domains)
				domains[first + count] =
					(struct osp_domain){.name = t->domains[one].name,
							    .level = hidden,
							    .parent = other,
							    .first_rank = rank};
			count++;
		}
		if (known && domains) {
			t->domains_of_nodes[hidden][node] = first + count - 1;
			domains[first + count - 1].node_count++;
		}
		beside = one;
		in = other;
	}
	return count;
}

static uint32_t count_crossings(struct osp_topology *t)
{
	uint32_t count = 0;

	for (uint32_t o = t->level_count + 1; o <= osp_topology_last_level(t); o++) {
		for (uint32_t level = 1; level <= t->level_count; level++)
			count += walk_crossings(t, o, level, 0, NULL);
	}
	return count;
}

static int make_crossings(struct osp_topology *t)
{
	uint32_t count = count_crossings(t), next = t->domain_room;
	struct osp_domain *domains =
		osp_arena_take(&t->arena, ((size_t)next + count + 1) * sizeof(*domains));
	size_t bytes = t->node_count * sizeof(uint32_t);

	if (!domains)
		return -1;
	memcpy(domains, t->domains, next * sizeof(*domains));
	for (uint32_t o = t->level_count + 1; o <= osp_topology_last_level(t); o++) {
		for (uint32_t level = 1; level <= t->level_count; level++) {
			uint32_t hidden = osp_topology_crossings(t, o, level);

			t->domains_of_nodes[hidden] =
				osp_arena_take(&t->arena, bytes + sizeof(uint32_t));
			if (!t->domains_of_nodes[hidden])
				return -1;
			memset(t->domains_of_nodes[hidden], 0xff, bytes);
			t->level_names[hidden] = t->level_names[o];
			t->level_first[hidden] = next;
			next += walk_crossings(t, o, level, next, domains);
			t->level_first[hidden + 1] = next;
		}
	}
	t->domains = domains;
	t->domain_room = next;
	return 0;
}

/* Finds a domain of level `inner` that is not in one domain of level `outer`. */
static uint32_t find_crossing(const struct osp_topology *t, uint32_t inner, uint32_t outer)
{
	for (uint32_t d = t->level_first[inner]; d < t->level_first[inner + 1]; d++) {
		const struct osp_domain *domain = &t->domains[d];
		uint32_t first = t->node_at_rank[domain->first_rank];

		if (t->domains_of_nodes[outer][first] == OSP_NO_DOMAIN ||
		    first_apart(t, domain, outer) != OSP_NO_NODE)
			return d;
	}
	return OSP_NO_DOMAIN;
}

int osp_topology_assemble_overlays(struct osp_topology *t)
{
	uint32_t last = osp_topology_last_level(t);
	uint32_t *cursor;

	if (!t->overlay_count)
		return 0;
	cursor = calloc((size_t)t->domain_room + 1, sizeof(*cursor));
	for (uint32_t o = t->level_count + 1; cursor && o <= last; o++)
		rank_overlay(t, o, cursor);
	free(cursor);
	if (!cursor || make_crossings(t))
		return -1;
	for (uint32_t inner = 1; inner <= last; inner++) {
		for (uint32_t outer = 1; outer <= last; outer++)
			t->crossing[inner][outer] =
				inner == outer ? OSP_NO_DOMAIN : find_crossing(t, inner, outer);
	}
	return 0;
}
