/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.c - one topology of several */
#include "lib/topology/merge.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/topology/topology_parts.h"

struct merging {
	const struct osp_topology *const *parts;
	size_t count;
	const char *levels[OSP_LEVELS_MAX]; /* bottom first; then the overlays */
	uint32_t level_count;
	uint32_t overlay_count;
	uint32_t *overlays[OSP_LEVELS_MAX]; /* each: its domain by node */
	struct osp_domain_part *domains;
	uint32_t domain_count;
	struct osp_node_place *nodes;
	uint32_t node_count;
	struct osp_error *error;
};

/* Finds the level of that name, 1 .., or the overlay; returns 0 if there is none. */
static uint32_t level_named(const struct merging *merging, const char *name)
{
	for (uint32_t i = 0; i < merging->level_count + merging->overlay_count; i++) {
		if (!strcasecmp(merging->levels[i], name))
			return i + 1;
	}
	return 0;
}

static int insert_level(struct merging *merging, uint32_t at, const char *name)
{
	uint32_t count = merging->level_count + merging->overlay_count;

	if (count == OSP_LEVELS_MAX)
		return osp_error_set(merging->error,
				     "the sources have more than %d levels together",
				     OSP_LEVELS_MAX);
	memmove(&merging->levels[at + 1], &merging->levels[at],
		(count - at) * sizeof(merging->levels[0]));
	merging->levels[at] = name;
	return 0;
}

/* Returns whether a level is beside the tree in one of the parts: then it is beside it in all. */
static bool is_beside(const struct merging *merging, const char *name)
{
	for (size_t i = 0; i < merging->count; i++) {
		int level = merging->parts[i] ? osp_topology_level(merging->parts[i], name) : -1;

		if (level > 0 && osp_topology_is_overlay(merging->parts[i], (uint32_t)level))
			return true;
	}
	return false;
}

/* Adds the levels of a part: a new one above that which it is above in the part. */
static int add_levels(struct merging *merging, const struct osp_topology *part)
{
	uint32_t below = 0;

	for (uint32_t level = 1; level <= osp_topology_level_count(part); level++) {
		const char *name = osp_topology_level_name(part, level);
		uint32_t known = level_named(merging, name);

		if (is_beside(merging, name))
			continue;
		if (known && known <= below)
			return osp_error_set(merging->error,
					     "one source has level %s below %s, another above it",
					     merging->levels[below - 1], name);
		if (!known && insert_level(merging, below, name))
			return -1;
		merging->level_count += !known;
		below = known ? known : below + 1;
	}
	return 0;
}

/* Adds the levels of a part that are beside the tree; those of the tree are known. */
static int add_overlays(struct merging *merging, const struct osp_topology *part)
{
	for (uint32_t level = 1; level <= osp_topology_last_level(part); level++) {
		const char *name = osp_topology_level_name(part, level);

		if (level_named(merging, name))
			continue;
		if (insert_level(merging, merging->level_count + merging->overlay_count, name))
			return -1;
		merging->overlay_count++;
	}
	return 0;
}

/* Returns a domain, or the nearest above it whose level is in the tree of all. */
static uint32_t in_tree(const struct merging *merging, const struct osp_topology *part,
			uint32_t domain)
{
	while (domain != OSP_NO_DOMAIN) {
		const struct osp_domain *it = osp_topology_domain(part, domain);
		const char *level = osp_topology_level_name(part, it->level);

		if (level_named(merging, level) <= merging->level_count)
			break;
		domain = it->parent;
	}
	return domain;
}

/* Returns the number in the merge of a domain of the part whose domains begin at `first`. */
static uint32_t merged(uint32_t first, uint32_t domain)
{
	return domain == OSP_NO_DOMAIN ? OSP_NO_DOMAIN : first + domain;
}

/* Returns the parent in the tree of all of a part's domain, which may be beside it. */
static uint32_t parent_of_domain(const struct merging *merging, const struct osp_topology *part,
				 const struct osp_domain *domain)
{
	if (level_named(merging, osp_topology_level_name(part, domain->level)) >
	    merging->level_count)
		return OSP_NO_DOMAIN;
	return in_tree(merging, part, domain->parent);
}

static int add_domains(struct merging *merging, size_t number)
{
	const struct osp_topology *part = merging->parts[number];
	uint32_t first = merging->domain_count;

	for (uint32_t d = 0; d < osp_topology_listed_domains(part); d++) {
		const struct osp_domain *domain = osp_topology_domain(part, d);
		const char *level = osp_topology_level_name(part, domain->level);

		for (size_t i = 0; i < number; i++) {
			int other = merging->parts[i] ? osp_topology_level(merging->parts[i], level)
						      : -1;

			if (other > 0 &&
			    osp_topology_find_domain(merging->parts[i], (uint32_t)other,
						     domain->name) != OSP_NO_DOMAIN)
				return osp_error_set(merging->error,
						     "two sources have a %s %.64s: nobody can tell "
						     "whether it is one",
						     level, domain->name);
		}
		merging->domains[merging->domain_count++] = (struct osp_domain_part){
			.name = domain->name,
			.level = level_named(merging, level),
			.parent = merged(first, parent_of_domain(merging, part, domain)),
		};
	}
	return 0;
}

static bool is_placed_before(const struct merging *merging, size_t number, const char *name)
{
	for (size_t i = 0; i < number; i++) {
		if (merging->parts[i] &&
		    osp_topology_find_node(merging->parts[i], name) != OSP_NO_NODE)
			return true;
	}
	return false;
}

/* Finds the nearest domain that is known, in the tree of all. */
static uint32_t parent_of(const struct merging *merging, const struct osp_topology *part,
			  uint32_t node)
{
	uint32_t domain = OSP_NO_DOMAIN;

	for (uint32_t level = 1; domain == OSP_NO_DOMAIN && level <= osp_topology_level_count(part);
	     level++)
		domain = osp_topology_domain_of(part, node, level);
	return in_tree(merging, part, domain);
}

/* Notes the domains beside the tree of a part's node, which is the next of all. */
static void put_beside(struct merging *merging, const struct osp_topology *part, uint32_t node,
		       uint32_t first_domain)
{
	for (uint32_t o = 0; o < merging->overlay_count; o++) {
		int level = osp_topology_level(part, merging->levels[merging->level_count + o]);
		uint32_t domain = level > 0 ? osp_topology_domain_of(part, node, (uint32_t)level)
					    : OSP_NO_DOMAIN;

		merging->overlays[o][merging->node_count] = merged(first_domain, domain);
	}
}

static void add_nodes(struct merging *merging, size_t number, uint32_t first_domain)
{
	const struct osp_topology *part = merging->parts[number];

	for (uint32_t n = 0; n < osp_topology_node_count(part); n++) {
		const char *name = osp_topology_node_name(part, n);

		if (!*name || is_placed_before(merging, number, name))
			continue;
		put_beside(merging, part, n, first_domain);
		merging->nodes[merging->node_count++] = (struct osp_node_place){
			.name = name,
			.parent = merged(first_domain, parent_of(merging, part, n)),
			.note = osp_topology_note(part, n),
		};
	}
}

static int take_memory(struct merging *merging)
{
	size_t domains = 1, nodes = 1;

	for (size_t i = 0; i < merging->count; i++) {
		if (!merging->parts[i])
			continue;
		domains += osp_topology_listed_domains(merging->parts[i]);
		nodes += osp_topology_node_count(merging->parts[i]);
	}
	merging->domains = calloc(domains, sizeof(*merging->domains));
	merging->nodes = calloc(nodes, sizeof(*merging->nodes));
	for (uint32_t o = 0; o < merging->overlay_count; o++) {
		merging->overlays[o] = calloc(nodes, sizeof(uint32_t));
		if (!merging->overlays[o])
			return osp_error_set(merging->error, "out of memory");
	}
	return merging->domains && merging->nodes ? 0
						  : osp_error_set(merging->error, "out of memory");
}

static int find_levels(struct merging *merging)
{
	for (size_t i = 0; i < merging->count; i++) {
		if (merging->parts[i] && add_levels(merging, merging->parts[i]))
			return -1;
	}
	for (size_t i = 0; i < merging->count; i++) {
		if (merging->parts[i] && add_overlays(merging, merging->parts[i]))
			return -1;
	}
	return 0;
}

static int add_parts(struct merging *merging)
{
	for (size_t i = 0; i < merging->count; i++) {
		uint32_t first = merging->domain_count;

		if (!merging->parts[i])
			continue;
		if (add_domains(merging, i))
			return -1;
		add_nodes(merging, i, first);
	}
	return merging->level_count ? 0 : osp_error_set(merging->error, "no source has an answer");
}

struct osp_topology *osp_topology_merge(const struct osp_topology *const *parts, size_t count,
					struct osp_error *error)
{
	struct merging merging = {.parts = parts, .count = count, .error = error};
	struct osp_topology *topology = NULL;

	if (!find_levels(&merging) && !take_memory(&merging) && !add_parts(&merging)) {
		struct osp_topology_parts all = {
			.level_names = merging.levels,
			.level_count = merging.level_count,
			.domains = merging.domains,
			.domain_count = merging.domain_count,
			.nodes = merging.nodes,
			.node_count = merging.node_count,
			.overlay_count = merging.overlay_count,
		};

		memcpy(all.overlays, merging.overlays, sizeof(all.overlays));
		topology = osp_topology_assemble(&all, error);
	}
	for (uint32_t o = 0; o < merging.overlay_count; o++)
		free(merging.overlays[o]);
	free(merging.domains);
	free(merging.nodes);
	return topology;
}
