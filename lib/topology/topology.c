/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.c - the fabric: which node is below which switch, level by level */
#include "lib/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/clean.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/topology/topology_private.h"
#include "lib/topology/topology_parts.h"

/* The level of availability zones, by the name that EC2's answers give it (import_aws.c). */
#define ZONE "zone"

const char *osp_topology_unasked(const struct osp_topology *topology)
{
	return topology && topology->unasked[0] ? topology->unasked : NULL;
}

void osp_topology_set_unasked(struct osp_topology *topology, const char *words)
{
	osp_copy_clean(topology->unasked, sizeof(topology->unasked), words);
}

void osp_topology_free(struct osp_topology *topology)
{
	if (!topology)
		return;
	osp_name_table_free(&topology->nodes_by_name);
	osp_arena_free(&topology->arena);
	free(topology);
}

uint32_t osp_topology_node_count(const struct osp_topology *topology)
{
	return topology->node_count;
}

uint32_t osp_topology_level_count(const struct osp_topology *topology)
{
	return topology->level_count;
}

uint32_t osp_topology_domain_count(const struct osp_topology *topology)
{
	return topology->domain_count;
}

const char *osp_topology_level_name(const struct osp_topology *topology, uint32_t level)
{
	return topology->level_names[level];
}

int osp_topology_level(const struct osp_topology *topology, const char *name)
{
	for (uint32_t level = 0; level <= osp_topology_last_level(topology); level++) {
		if (!strcasecmp(topology->level_names[level], name))
			return (int)level;
	}
	return -1;
}

static bool is_empty(const struct osp_topology *topology, uint32_t level)
{
	return topology->level_first[level] == topology->level_first[level + 1];
}

/* Returns the level of the tree that is named "zone", also if it has no domain; 0: none is. */
static uint32_t named_zone(const struct osp_topology *topology)
{
	int level = osp_topology_level(topology, ZONE);

	return level > 0 && (uint32_t)level <= topology->level_count ? (uint32_t)level : 0;
}

uint32_t osp_topology_zone_level(const struct osp_topology *topology)
{
	uint32_t level = named_zone(topology);

	return level && !is_empty(topology, level) ? level : 0;
}

bool osp_topology_above_zone(const struct osp_topology *topology, uint32_t level)
{
	uint32_t zone = osp_topology_zone_level(topology);

	return zone && level > zone && level <= topology->level_count;
}

bool osp_topology_in_one_zone(const struct osp_topology *topology, const struct osp_nodeset *nodes)
{
	uint32_t zone = osp_topology_zone_level(topology), first = osp_nodeset_next(nodes, 0);

	for (uint32_t n = first; zone && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (osp_topology_domain_of(topology, n, zone) !=
		    osp_topology_domain_of(topology, first, zone))
			return false;
	}
	return true;
}

/* Returns the next level up that has domains, and never one above `zone`, if there is one. */
static uint32_t relaxed_within(const struct osp_topology *topology, uint32_t level, uint32_t zone)
{
	if (level > topology->level_count)
		return zone;
	if (zone && level >= zone)
		return level;
	for (level++; level <= topology->level_count; level++)
		if (level == zone || !is_empty(topology, level))
			return level;
	return 0;
}

uint32_t osp_topology_relaxed(const struct osp_topology *topology, uint32_t level)
{
	return relaxed_within(topology, level, osp_topology_zone_level(topology));
}

uint32_t osp_topology_relaxed_unlaunched(const struct osp_topology *topology, uint32_t level)
{
	return relaxed_within(topology, level, named_zone(topology));
}

/* Writes "a, b or c"; what does not fit is cut. */
static const char *any_of(const char *const *names, uint32_t count, char *buffer,
			  size_t buffer_bytes)
{
	size_t at = 0;

	buffer[0] = '\0';
	for (uint32_t i = 0; i < count && at < buffer_bytes; i++)
		at += (size_t)snprintf(buffer + at, buffer_bytes - at, "%s%s",
				       i == 0		? ""
				       : i == count - 1 ? " or "
							: ", ",
				       names[i]);
	return buffer;
}

const char *osp_topology_levels_text(const struct osp_topology *topology, uint32_t lowest,
				     uint32_t highest, char *buffer, size_t buffer_bytes)
{
	return any_of(&topology->level_names[lowest], highest >= lowest ? highest - lowest + 1 : 0,
		      buffer, buffer_bytes);
}

int osp_topology_no_level(const struct osp_topology *topology, const char *name, uint32_t lowest,
			  uint32_t highest, int column, struct osp_error *error)
{
	const char *names[OSP_LEVELS_MAX + 1] = {NULL}, *nearest;
	char all[160];
	uint32_t count = 0;

	if (highest > topology->level_count) /* below an overlay: its levels are listed once */
		highest = topology->level_count;
	for (uint32_t level = lowest; level <= highest; level++)
		names[count++] = topology->level_names[level];
	for (uint32_t level = topology->level_count + 1; level <= osp_topology_last_level(topology);
	     level++)
		names[count++] = topology->level_names[level];
	nearest = osp_nearest_word(name, names, count);
	if (!count)
		return osp_error_at(error, NULL, 0, column, "no level is called %.40s", name);
	return osp_error_at(error, NULL, 0, column, "no level is called %.40s; %s%s", name,
			    nearest ? "did you mean " : "say ",
			    nearest ? nearest : any_of(names, count, all, sizeof(all)));
}

const struct osp_domain *osp_topology_domain(const struct osp_topology *topology, uint32_t domain)
{
	return &topology->domains[domain];
}

void osp_topology_level_domains(const struct osp_topology *topology, uint32_t level,
				uint32_t *first, uint32_t *count)
{
	*first = topology->level_first[level];
	*count = topology->level_first[level + 1] - *first;
}

uint32_t osp_topology_find_domain(const struct osp_topology *topology, uint32_t level,
				  const char *name)
{
	uint32_t low, count;

	osp_topology_level_domains(topology, level, &low, &count);
	while (count) {
		uint32_t middle = low + count / 2;
		int order = osp_name_compare(name, topology->domains[middle].name);

		if (!order)
			return middle;
		if (order > 0) {
			count -= middle + 1 - low;
			low = middle + 1;
		} else {
			count = middle - low;
		}
	}
	return OSP_NO_DOMAIN;
}

uint32_t osp_topology_domain_of(const struct osp_topology *topology, uint32_t node, uint32_t level)
{
	return level ? topology->domains_of_nodes[level][node] : OSP_NO_DOMAIN;
}

const uint32_t *osp_topology_domains_of_nodes(const struct osp_topology *topology, uint32_t level)
{
	return topology->domains_of_nodes[level];
}

static bool same_domains(const struct osp_topology *a, const struct osp_topology *b)
{
	for (uint32_t i = 0; i < a->domain_room; i++) {
		const struct osp_domain *in_a = &a->domains[i], *in_b = &b->domains[i];

		if (in_a->level != in_b->level || in_a->parent != in_b->parent ||
		    strcmp(in_a->name, in_b->name) != 0)
			return false;
	}
	return true;
}

bool osp_topology_same_fabric(const struct osp_topology *a, const struct osp_topology *b)
{
	if (a->node_count != b->node_count || a->level_count != b->level_count ||
	    a->domain_room != b->domain_room || a->overlay_count != b->overlay_count)
		return false;
	for (uint32_t level = 1; level <= osp_topology_last_level(a); level++) {
		if (strcmp(a->level_names[level], b->level_names[level]) != 0 ||
		    memcmp(a->domains_of_nodes[level], b->domains_of_nodes[level],
			   a->node_count * sizeof(uint32_t)) != 0)
			return false;
	}
	return same_domains(a, b);
}

const char *osp_topology_node_name(const struct osp_topology *topology, uint32_t node)
{
	return topology->node_names[node];
}

const struct osp_node_note *osp_topology_note(const struct osp_topology *topology, uint32_t node)
{
	return topology->notes && topology->notes[node].source ? &topology->notes[node] : NULL;
}

uint32_t osp_topology_find_node(const struct osp_topology *topology, const char *name)
{
	return osp_name_table_find(&topology->nodes_by_name, 0, name);
}

const struct osp_node_note *osp_topology_note_of(const struct osp_topology *topology,
						 const char *name)
{
	uint32_t node = topology ? osp_topology_find_node(topology, name) : OSP_NO_NODE;

	return node == OSP_NO_NODE ? NULL : osp_topology_note(topology, node);
}

uint32_t osp_topology_node_at_rank(const struct osp_topology *topology, uint32_t rank)
{
	return topology->node_at_rank[rank];
}

uint32_t osp_topology_rank_of_node(const struct osp_topology *topology, uint32_t node)
{
	return topology->rank_of_node[node];
}

uint32_t osp_topology_name_place(const struct osp_topology *topology, uint32_t node)
{
	return topology->name_place[node];
}

void osp_topology_sort_nodes(const struct osp_topology *topology, enum osp_sort_by by,
			     uint32_t *nodes, uint32_t count, struct osp_nodeset *places)
{
	const uint32_t *place_of =
		by == OSP_BY_RANK ? topology->rank_of_node : topology->name_place;
	const uint32_t *node_at =
		by == OSP_BY_RANK ? topology->node_at_rank : topology->node_by_name;
	uint32_t kept = 0;

	osp_nodeset_clear(places);
	for (uint32_t i = 0; i < count; i++)
		osp_nodeset_add(places, place_of[nodes[i]]);
	for (uint32_t place = osp_nodeset_next(places, 0); place < places->place_count;
	     place = osp_nodeset_next(places, place + 1))
		nodes[kept++] = node_at[place];
}

void osp_topology_add_domain_nodes(const struct osp_topology *topology, uint32_t domain,
				   struct osp_nodeset *set)
{
	const struct osp_domain *d = &topology->domains[domain];

	for (uint32_t i = 0; i < d->node_count; i++)
		osp_nodeset_add(set, topology->node_at_rank[d->first_rank + i]);
}

/* Returns the domain of all members at `level`, or OSP_NO_DOMAIN. */
static uint32_t common_domain(const struct osp_topology *topology, const struct osp_nodeset *set,
			      uint32_t first, uint32_t level)
{
	const uint32_t *domains = topology->domains_of_nodes[level];

	for (uint32_t n = first; n < set->place_count; n = osp_nodeset_next(set, n + 1)) {
		if (domains[n] != domains[first])
			return OSP_NO_DOMAIN;
	}
	return domains[first];
}

uint32_t osp_topology_common_domain(const struct osp_topology *topology,
				    const struct osp_nodeset *set, uint32_t level)
{
	uint32_t first = osp_nodeset_next(set, 0);

	return first == set->place_count ? OSP_NO_DOMAIN
					 : common_domain(topology, set, first, level);
}

int osp_topology_common_level(const struct osp_topology *topology, const struct osp_nodeset *set,
			      uint32_t *domain)
{
	uint32_t first = osp_nodeset_next(set, 0);

	*domain = OSP_NO_DOMAIN;
	if (first == set->place_count)
		return -1;
	if (osp_nodeset_next(set, first + 1) == set->place_count)
		return 0;
	for (uint32_t level = 1; level <= topology->level_count; level++) {
		*domain = common_domain(topology, set, first, level);
		if (*domain != OSP_NO_DOMAIN)
			return (int)level;
	}
	return -1;
}

/* Returns the nearest known domain of a node, which is the lowest. */
static uint32_t lowest_domain(const struct osp_topology *topology, uint32_t node)
{
	for (uint32_t level = 1; level <= topology->level_count; level++) {
		uint32_t domain = topology->domains_of_nodes[level][node];

		if (domain != OSP_NO_DOMAIN)
			return domain;
	}
	return OSP_NO_DOMAIN;
}

static const struct osp_node_note *note_for(const struct osp_topology *topology, uint32_t old,
					    const struct osp_node_note *given)
{
	if (given)
		return given->source ? given : NULL;
	return old == OSP_NO_NODE ? NULL : osp_topology_note(topology, old);
}

struct osp_topology *osp_topology_rebase(const struct osp_topology *topology,
					 const char *const *names, uint32_t count,
					 struct osp_error *error)
{
	return osp_topology_rebase_noted(topology, names, NULL, count, error);
}

struct osp_topology *osp_topology_rebase_noted(const struct osp_topology *topology,
					       const char *const *names,
					       const struct osp_node_note *notes, uint32_t count,
					       struct osp_error *error)
{
	uint32_t domain_count = osp_topology_listed_domains(topology);
	struct osp_domain_part *domains = calloc((size_t)domain_count + 1, sizeof(*domains));
	struct osp_node_place *nodes = calloc((size_t)count + 1, sizeof(*nodes));
	struct osp_topology_parts parts = {.level_names = &topology->level_names[1],
					   .level_count = topology->level_count,
					   .domains = domains,
					   .domain_count = domain_count,
					   .nodes = nodes,
					   .node_count = count};
	struct osp_topology *rebased = NULL;

	for (uint32_t d = 0; domains && d < domain_count; d++) {
		const struct osp_domain *from = &topology->domains[d];

		domains[d] = (struct osp_domain_part){from->name, from->level, from->parent};
	}
	for (uint32_t n = 0; nodes && n < count; n++) {
		uint32_t old = names[n] ? osp_topology_find_node(topology, names[n]) : OSP_NO_NODE;

		nodes[n].name = names[n];
		nodes[n].parent = old == OSP_NO_NODE ? OSP_NO_DOMAIN : lowest_domain(topology, old);
		nodes[n].note = note_for(topology, old, notes ? &notes[n] : NULL);
	}
	if (domains && nodes && !osp_topology_copy_overlays(&parts, topology, 0, NULL))
		rebased = osp_topology_assemble(&parts, error);
	else
		osp_error_set(error, "out of memory");
	osp_topology_free_overlays(&parts);
	free(domains);
	free(nodes);
	return rebased;
}
