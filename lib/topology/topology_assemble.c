/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_assemble.c - numbers domains and ranks nodes
 *
 * Every step is linear in nodes and domains, except the sorting of names. No step uses recursion: a
 * parent's level is higher than its children's, so a loop over the levels is enough.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/topology/topology_private.h"
#include "lib/topology/topology_parts.h"

struct assembly {
	const struct osp_topology_parts *parts;
	struct osp_topology *topology;
	uint32_t *number; /* of each part's domain; OSP_NO_DOMAIN: it has no node */
	uint32_t *cursor; /* of each domain: the next free rank inside it */
};

/* A name with its owner, for sorting. */
struct entry {
	const char *name;
	uint32_t level;
	uint32_t index;
};

static int by_level_and_name(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;

	if (first->level != second->level)
		return first->level < second->level ? -1 : 1;
	return osp_name_compare(first->name, second->name);
}

static const char *copy_name(struct osp_topology *topology, const char *name)
{
	return osp_arena_copy(&topology->arena, name, strlen(name));
}

static void *take_array(struct osp_topology *topology, size_t count, size_t bytes)
{
	return osp_arena_take(&topology->arena, (count + 1) * bytes);
}

static int take_memory(struct assembly *assembly)
{
	const struct osp_topology_parts *parts = assembly->parts;
	struct osp_topology *t = assembly->topology;

	t->node_count = parts->node_count;
	t->level_count = parts->level_count;
	t->overlay_count = parts->overlay_count;
	t->node_names = take_array(t, t->node_count, sizeof(t->node_names[0]));
	t->node_at_rank = take_array(t, osp_topology_rank_room(t), sizeof(uint32_t));
	t->rank_of_node = take_array(t, t->node_count, sizeof(uint32_t));
	t->node_by_name = take_array(t, t->node_count, sizeof(uint32_t));
	t->name_place = take_array(t, t->node_count, sizeof(uint32_t));
	if (!t->node_names || !t->node_at_rank || !t->rank_of_node || !t->node_by_name ||
	    !t->name_place)
		return -1;
	t->level_names[0] = "node";
	for (uint32_t level = 1; level <= osp_topology_last_level(t); level++) {
		t->level_names[level] = copy_name(t, parts->level_names[level - 1]);
		t->domains_of_nodes[level] = take_array(t, t->node_count, sizeof(uint32_t));
		if (!t->level_names[level] || !t->domains_of_nodes[level])
			return -1;
	}
	assembly->number = calloc(parts->domain_count + 1, sizeof(uint32_t));
	assembly->cursor = calloc(parts->domain_count + 1, sizeof(uint32_t));
	return assembly->number && assembly->cursor ? 0 : -1;
}

/*
 * Marks the domains that have a node. A marked domain has all domains above it marked too. Returns
 * how many.
 */
static uint32_t mark_used(struct assembly *assembly)
{
	const struct osp_topology_parts *parts = assembly->parts;
	uint32_t used = 0;

	memset(assembly->number, 0xff, parts->domain_count * sizeof(uint32_t));
	for (uint32_t n = 0; n < parts->node_count; n++) {
		uint32_t d = parts->nodes[n].parent;

		while (d != OSP_NO_DOMAIN && assembly->number[d] == OSP_NO_DOMAIN) {
			assembly->number[d] = 0;
			used++;
			d = parts->domains[d].parent;
		}
	}
	for (uint32_t o = 0; o < parts->overlay_count; o++) {
		for (uint32_t n = 0; n < parts->node_count; n++) {
			uint32_t d = parts->overlays[o][n];

			if (d == OSP_NO_DOMAIN || assembly->number[d] != OSP_NO_DOMAIN)
				continue;
			assembly->number[d] = 0;
			used++;
		}
	}
	return used;
}

static void list_used(const struct assembly *assembly, struct entry *entries)
{
	const struct osp_topology_parts *parts = assembly->parts;

	for (uint32_t d = 0; d < parts->domain_count; d++) {
		if (assembly->number[d] != OSP_NO_DOMAIN)
			*entries++ =
				(struct entry){parts->domains[d].name, parts->domains[d].level, d};
	}
}

/* Fills the topology's domains from the sorted entries. */
static int fill_domains(struct assembly *assembly, const struct entry *entries)
{
	const struct osp_topology_parts *parts = assembly->parts;
	struct osp_topology *t = assembly->topology;
	uint32_t number = 0;

	for (uint32_t level = 0; level <= osp_topology_last_level(t) + 1; level++) {
		t->level_first[level] = number;
		while (number < t->domain_room && entries[number].level == level) {
			assembly->number[entries[number].index] = number;
			number++;
		}
	}
	t->domain_count = t->level_first[t->level_count + 1];
	for (number = 0; number < t->domain_room; number++) {
		const struct osp_domain_part *part = &parts->domains[entries[number].index];
		struct osp_domain *domain = &t->domains[number];

		domain->name = copy_name(t, part->name);
		domain->level = part->level;
		domain->parent = part->parent == OSP_NO_DOMAIN ? OSP_NO_DOMAIN
							       : assembly->number[part->parent];
		if (!domain->name)
			return -1;
	}
	return 0;
}

static int number_domains(struct assembly *assembly)
{
	struct osp_topology *t = assembly->topology;
	struct entry *entries;
	int rc;

	t->domain_room = mark_used(assembly);
	t->domains = take_array(t, t->domain_room, sizeof(t->domains[0]));
	entries = calloc((size_t)t->domain_room + 1, sizeof(*entries));
	if (!t->domains || !entries) {
		free(entries);
		return -1;
	}
	list_used(assembly, entries);
	qsort(entries, t->domain_room, sizeof(*entries), by_level_and_name);
	rc = fill_domains(assembly, entries);
	free(entries);
	return rc;
}

static uint32_t parent_of_node(const struct assembly *assembly, uint32_t node)
{
	uint32_t parent = assembly->parts->nodes[node].parent;

	return parent == OSP_NO_DOMAIN ? OSP_NO_DOMAIN : assembly->number[parent];
}

/* Finds each node's domain at every level, and each domain's number of nodes. */
static void climb(struct assembly *assembly)
{
	struct osp_topology *t = assembly->topology;

	for (uint32_t level = 1; level <= osp_topology_last_level(t); level++)
		memset(t->domains_of_nodes[level], 0xff, t->node_count * sizeof(uint32_t));
	for (uint32_t n = 0; n < t->node_count; n++) {
		uint32_t d = parent_of_node(assembly, n);

		for (; d != OSP_NO_DOMAIN; d = t->domains[d].parent) {
			t->domains_of_nodes[t->domains[d].level][n] = d;
			t->domains[d].node_count++;
		}
	}
	for (uint32_t o = 0; o < t->overlay_count; o++) {
		uint32_t *domains = t->domains_of_nodes[t->level_count + 1 + o];

		for (uint32_t n = 0; n < t->node_count; n++) {
			if (assembly->parts->overlays[o][n] != OSP_NO_DOMAIN)
				domains[n] = assembly->number[assembly->parts->overlays[o][n]];
		}
	}
}

/*
 * Gives every domain its ranks: inside each parent, children of the highest level come first, then
 * by number; the ranks left in a parent after its children are for nodes directly below it. This is
 * the order of the vectors of domains, top level first, unknown last. Returns the first rank for
 * nodes without any domain.
 */
static uint32_t place_domains(struct assembly *assembly)
{
	struct osp_topology *t = assembly->topology;
	uint32_t root_cursor = 0;

	for (uint32_t level = t->level_count; level > 0; level--) {
		for (uint32_t d = t->level_first[level]; d < t->level_first[level + 1]; d++) {
			struct osp_domain *domain = &t->domains[d];
			uint32_t *cursor = domain->parent == OSP_NO_DOMAIN
						   ? &root_cursor
						   : &assembly->cursor[domain->parent];

			domain->first_rank = *cursor;
			*cursor += domain->node_count;
			assembly->cursor[d] = domain->first_rank;
		}
	}
	return root_cursor;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;
	int order = osp_name_compare(first->name, second->name);

	/* free places all have the name "" */
	return order ? order : (first->index > second->index) - (first->index < second->index);
}

/* Sorts the nodes at ranks [first, last), which are directly below one domain. */
static void sort_ranks(struct osp_topology *t, struct entry *entries, uint32_t first, uint32_t last)
{
	for (uint32_t rank = first; rank < last; rank++) {
		uint32_t node = t->node_at_rank[rank];

		entries[rank - first] = (struct entry){t->node_names[node], 0, node};
	}
	qsort(entries, last - first, sizeof(*entries), by_name);
	for (uint32_t rank = first; rank < last; rank++) {
		t->node_at_rank[rank] = entries[rank - first].index;
		t->rank_of_node[t->node_at_rank[rank]] = rank;
	}
}

static int rank_nodes(struct assembly *assembly)
{
	struct osp_topology *t = assembly->topology;
	uint32_t unknown_first = place_domains(assembly), unknown = unknown_first;
	uint32_t *direct_first = assembly->number; /* the numbers are no longer needed */
	struct entry *entries = calloc(t->node_count + 1, sizeof(*entries));
	uint32_t *parents = calloc(t->node_count + 1, sizeof(*parents));

	if (!entries || !parents) {
		free(entries);
		free(parents);
		return -1;
	}
	for (uint32_t n = 0; n < t->node_count; n++)
		parents[n] = parent_of_node(assembly, n);
	memcpy(direct_first, assembly->cursor, t->domain_count * sizeof(*direct_first));
	for (uint32_t n = 0; n < t->node_count; n++) {
		uint32_t *cursor =
			parents[n] == OSP_NO_DOMAIN ? &unknown : &assembly->cursor[parents[n]];

		t->node_at_rank[(*cursor)++] = n;
	}
	for (uint32_t d = 0; d < t->domain_count; d++)
		sort_ranks(t, entries, direct_first[d], assembly->cursor[d]);
	sort_ranks(t, entries, unknown_first, unknown);
	free(entries);
	free(parents);
	return 0;
}

/* Sorts all nodes by name. slurmctld's node table mostly comes sorted. */
static int sort_names(struct assembly *assembly)
{
	struct osp_topology *t = assembly->topology;
	struct entry *entries = calloc((size_t)t->node_count + 1, sizeof(*entries));
	bool sorted = true;

	if (!entries)
		return -1;
	for (uint32_t n = 0; n < t->node_count; n++) {
		entries[n] = (struct entry){t->node_names[n], 0, n};
		sorted = sorted && (!n || by_name(&entries[n - 1], &entries[n]) < 0);
	}
	if (!sorted)
		qsort(entries, t->node_count, sizeof(*entries), by_name);
	for (uint32_t place = 0; place < t->node_count; place++) {
		t->node_by_name[place] = entries[place].index;
		t->name_place[entries[place].index] = place;
	}
	free(entries);
	return 0;
}

static int name_nodes(struct assembly *assembly, struct osp_error *error)
{
	struct osp_topology *t = assembly->topology;

	for (uint32_t n = 0; n < t->node_count; n++) {
		const char *name = assembly->parts->nodes[n].name;

		t->node_names[n] = name ? copy_name(t, name) : "";
		if (!t->node_names[n])
			return -1;
		if (!name)
			continue;
		if (osp_topology_find_node(t, name) != OSP_NO_NODE)
			return osp_error_set(error, "node %s is named twice", name);
		if (osp_name_table_add(&t->nodes_by_name, 0, t->node_names[n], n))
			return -1;
	}
	return 0;
}

static int copy_note(struct osp_topology *t, const struct osp_node_note *from,
		     struct osp_node_note *to)
{
	to->boot_s = from->boot_s;
	to->source = copy_name(t, from->source);
	to->instance_id = copy_name(t, from->instance_id);
	return to->source && to->instance_id ? 0 : -1;
}

/* Copies the notes. Takes no memory if no node has one. */
static int copy_notes(struct assembly *assembly)
{
	struct osp_topology *t = assembly->topology;

	for (uint32_t n = 0; n < t->node_count; n++) {
		const struct osp_node_note *note = assembly->parts->nodes[n].note;

		if (!note)
			continue;
		if (!t->notes)
			t->notes = take_array(t, t->node_count, sizeof(*t->notes));
		if (!t->notes || copy_note(t, note, &t->notes[n]))
			return -1;
	}
	return 0;
}

struct osp_topology *osp_topology_assemble(const struct osp_topology_parts *parts,
					   struct osp_error *error)
{
	struct assembly assembly = {parts, calloc(1, sizeof(struct osp_topology)), NULL, NULL};
	int rc = -1;

	if (assembly.topology && !take_memory(&assembly) && !name_nodes(&assembly, error) &&
	    !copy_notes(&assembly) && !number_domains(&assembly)) {
		climb(&assembly);
		rc = rank_nodes(&assembly) || sort_names(&assembly) ||
				     osp_topology_assemble_overlays(assembly.topology)
			     ? -1
			     : 0;
	}
	free(assembly.number);
	free(assembly.cursor);
	if (!rc)
		return assembly.topology;
	osp_error_set(error, "out of memory");
	osp_topology_free(assembly.topology);
	return NULL;
}
