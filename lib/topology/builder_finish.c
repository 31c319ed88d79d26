/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builder_finish.c - from collected pieces to a tree: merges twins, finds second parents */
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/topology/builder_private.h"
#include "lib/topology/topology_parts.h"

/* Scratch; every array has an entry per domain unless it says otherwise. */
struct finish {
	const struct osp_builder *builder;
	uint32_t *order;			  /* domains by level, bottom first */
	uint32_t level_first[OSP_LEVELS_MAX + 2]; /* in `order` */
	bool *used;				  /* has a node below it */
	uint32_t *twin;				  /* the domain that represents this one */
	uint32_t *children_first; /* in `children`; one more than there are domains */
	uint32_t *children; /* by link: domains, then nodes numbered from the domain count on */
	uint32_t *children_count; /* without the merged ones */
	uint32_t *seen;		  /* by child, like the next two: the last domain that had it */
	uint32_t *parents;	  /* how many domains of the current level have it */
	uint32_t *first_parent;	  /* the first of these, plus 1 */
	uint32_t *weight;	  /* children of the component that a domain represents */
	bool *loose;		  /* the component was taken apart */
	struct osp_domain_part *domains;
	struct osp_node_place *nodes; /* by node */
};

static int take_memory(struct finish *finish)
{
	size_t domain_count = (size_t)finish->builder->domain_count + 1;
	size_t node_count = (size_t)finish->builder->node_count + 1;
	size_t link_count = (size_t)finish->builder->link_count + 1;

	finish->order = calloc(domain_count, sizeof(*finish->order));
	finish->used = calloc(domain_count, sizeof(*finish->used));
	finish->twin = calloc(domain_count, sizeof(*finish->twin));
	finish->children_first = calloc(domain_count + 1, sizeof(*finish->children_first));
	finish->children = calloc(link_count, sizeof(*finish->children));
	finish->children_count = calloc(domain_count, sizeof(*finish->children_count));
	finish->seen = calloc(domain_count + node_count, sizeof(*finish->seen));
	finish->parents = calloc(domain_count + node_count, sizeof(*finish->parents));
	finish->first_parent = calloc(domain_count + node_count, sizeof(*finish->first_parent));
	finish->weight = calloc(domain_count, sizeof(*finish->weight));
	finish->loose = calloc(domain_count, sizeof(*finish->loose));
	finish->domains = calloc(domain_count, sizeof(*finish->domains));
	finish->nodes = calloc(node_count, sizeof(*finish->nodes));
	return finish->order && finish->used && finish->twin && finish->children_first &&
			       finish->children && finish->children_count && finish->seen &&
			       finish->parents && finish->first_parent && finish->weight &&
			       finish->loose && finish->domains && finish->nodes
		       ? 0
		       : -1;
}

static void give_memory_back(struct finish *finish)
{
	free(finish->order);
	free(finish->used);
	free(finish->twin);
	free(finish->children_first);
	free(finish->children);
	free(finish->children_count);
	free(finish->seen);
	free(finish->parents);
	free(finish->first_parent);
	free(finish->weight);
	free(finish->loose);
	free(finish->domains);
	free(finish->nodes);
}

static void order_by_level(struct finish *finish)
{
	const struct osp_builder *builder = finish->builder;
	uint32_t next[OSP_LEVELS_MAX + 2] = {0};

	for (uint32_t d = 0; d < builder->domain_count; d++)
		finish->level_first[builder->domains[d].level + 1]++;
	for (uint32_t level = 1; level <= builder->level_count + builder->overlay_count + 1;
	     level++)
		finish->level_first[level] += finish->level_first[level - 1];
	memcpy(next, finish->level_first, sizeof(next));
	for (uint32_t d = 0; d < builder->domain_count; d++)
		finish->order[next[builder->domains[d].level]++] = d;
}

static void mark_parents(struct finish *finish, const struct osp_piece *piece)
{
	const struct osp_link *links = finish->builder->links;

	for (uint32_t i = piece->first_link; i != OSP_NO_LINK; i = links[i].next)
		finish->used[links[i].parent] = true;
}

static void mark_used(struct finish *finish)
{
	const struct osp_builder *builder = finish->builder;

	for (uint32_t n = 0; n < builder->node_count; n++)
		mark_parents(finish, &builder->nodes[n]);
	for (uint32_t i = 0; i < builder->domain_count; i++) {
		if (finish->used[finish->order[i]])
			mark_parents(finish, &builder->domains[finish->order[i]]);
	}
}

/* Adds a child to the list of each of its parents, or with `count_only` counts it there. */
static void list_child(struct finish *finish, const struct osp_piece *piece, uint32_t child,
		       bool count_only)
{
	const struct osp_link *links = finish->builder->links;

	for (uint32_t i = piece->first_link; i != OSP_NO_LINK; i = links[i].next) {
		uint32_t *next = &finish->children_first[links[i].parent];

		if (!count_only)
			finish->children[*next] = child;
		++*next;
	}
}

static void list_all(struct finish *finish, bool count_only)
{
	const struct osp_builder *builder = finish->builder;

	for (uint32_t d = 0; d < builder->domain_count; d++) {
		if (finish->used[d])
			list_child(finish, &builder->domains[d], d, count_only);
	}
	for (uint32_t n = 0; n < builder->node_count; n++)
		list_child(finish, &builder->nodes[n], builder->domain_count + n, count_only);
}

/* Reverses the links: lists the children of each domain. */
static void list_children(struct finish *finish)
{
	uint32_t *first = finish->children_first;
	uint32_t sum = 0, count;

	list_all(finish, true);
	for (uint32_t d = 0; d <= finish->builder->domain_count; d++) {
		count = first[d];
		first[d] = sum;
		sum += count;
	}
	list_all(finish, false);
	/* each entry has moved to the start of the next one's list */
	memmove(first + 1, first, finish->builder->domain_count * sizeof(*first));
	first[0] = 0;
}

/* --- twins ------------------------------------------------------------------------------------ */

static uint32_t find_twin(struct finish *finish, uint32_t domain)
{
	uint32_t *twin = finish->twin;

	while (twin[domain] != domain) {
		twin[domain] = twin[twin[domain]];
		domain = twin[domain];
	}
	return domain;
}

/* Unites two domains under the one whose name is first in natural order. */
static void unite(struct finish *finish, uint32_t a, uint32_t b)
{
	const struct osp_piece *domains = finish->builder->domains;

	a = find_twin(finish, a);
	b = find_twin(finish, b);
	if (a == b)
		return;
	if (osp_name_compare(domains[a].name, domains[b].name) < 0)
		finish->twin[b] = a;
	else
		finish->twin[a] = b;
}

/* Replaces the children by their twins, each once. Returns how many are left. */
static uint32_t settle_children(struct finish *finish, uint32_t domain)
{
	uint32_t *children = finish->children + finish->children_first[domain];
	uint32_t count = finish->children_first[domain + 1] - finish->children_first[domain];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t child = children[i];

		if (child < finish->builder->domain_count)
			child = find_twin(finish, child);
		if (finish->seen[child] == domain + 1)
			continue;
		finish->seen[child] = domain + 1;
		children[kept++] = child;
	}
	return kept;
}

/* Counts how many of a level's domains each child is in. */
static void count_parents(struct finish *finish, uint32_t level)
{
	for (uint32_t i = finish->level_first[level]; i < finish->level_first[level + 1]; i++) {
		uint32_t domain = finish->order[i];
		const uint32_t *children = finish->children + finish->children_first[domain];

		if (!finish->used[domain])
			continue;
		finish->children_count[domain] = settle_children(finish, domain);
		for (uint32_t c = 0; c < finish->children_count[domain]; c++)
			finish->parents[children[c]]++;
	}
}

/* Returns whether more than half of a domain's children are also another's. */
static bool is_woven(const struct finish *finish, uint32_t domain)
{
	const uint32_t *children = finish->children + finish->children_first[domain];
	uint32_t shared = 0;

	for (uint32_t c = 0; c < finish->children_count[domain]; c++)
		shared += finish->parents[children[c]] > 1;
	return 2 * (uint64_t)shared > finish->children_count[domain];
}

/* Unites a woven domain with earlier ones that share a child. */
static void join_children(struct finish *finish, uint32_t domain)
{
	const uint32_t *children = finish->children + finish->children_first[domain];

	for (uint32_t c = 0; c < finish->children_count[domain]; c++) {
		uint32_t *first = &finish->first_parent[children[c]];

		if (!*first)
			*first = domain + 1;
		unite(finish, *first - 1, domain);
	}
}

/* Counts the children of each component, at the domain that represents it. */
static void weigh(struct finish *finish, uint32_t domain)
{
	const uint32_t *children = finish->children + finish->children_first[domain];

	for (uint32_t c = 0; c < finish->children_count[domain]; c++) {
		if (finish->first_parent[children[c]] == domain + 1)
			finish->weight[find_twin(finish, domain)]++;
	}
}

/*
 * Takes components apart in which a domain has no more than half the children: a range that spans
 * several leaves is a mistake, and no rail.
 */
static void part_loose(struct finish *finish, uint32_t level)
{
	uint32_t first = finish->level_first[level], last = finish->level_first[level + 1];

	for (uint32_t i = first; i < last; i++)
		weigh(finish, finish->order[i]);
	for (uint32_t i = first; i < last; i++) {
		uint32_t domain = finish->order[i], twin = find_twin(finish, domain);

		finish->loose[twin] =
			finish->loose[twin] ||
			2 * (uint64_t)finish->children_count[domain] <= finish->weight[twin];
	}
	for (uint32_t i = first; i < last; i++) {
		uint32_t domain = finish->order[i];

		finish->twin[domain] = find_twin(finish, domain);
	}
	for (uint32_t i = first; i < last; i++) {
		uint32_t domain = finish->order[i];

		if (finish->loose[finish->twin[domain]])
			finish->twin[domain] = domain;
	}
}

/* Finds the twins of one level; the twins of the levels below are known. */
static void merge_level(struct finish *finish, uint32_t level)
{
	size_t pieces = (size_t)finish->builder->domain_count + finish->builder->node_count;

	memset(finish->seen, 0, pieces * sizeof(*finish->seen));
	memset(finish->parents, 0, pieces * sizeof(*finish->parents));
	memset(finish->first_parent, 0, pieces * sizeof(*finish->first_parent));
	count_parents(finish, level);
	for (uint32_t i = finish->level_first[level]; i < finish->level_first[level + 1]; i++) {
		uint32_t domain = finish->order[i];

		if (finish->used[domain] && is_woven(finish, domain))
			join_children(finish, domain);
	}
	part_loose(finish, level);
}

static bool any_second_parent(const struct osp_builder *builder)
{
	for (uint32_t n = 0; n < builder->node_count; n++) {
		if (builder->nodes[n].link_count > 1)
			return true;
	}
	for (uint32_t d = 0; d < builder->domain_count; d++) {
		if (builder->domains[d].link_count > 1)
			return true;
	}
	return false;
}

static void merge(struct finish *finish)
{
	/* twins share their children, so without a second parent there are none */
	if (!any_second_parent(finish->builder))
		return;
	list_children(finish);
	for (uint32_t level = 1; level <= finish->builder->level_count; level++)
		merge_level(finish, level);
}

static int second_parent(const struct finish *finish, const struct osp_piece *piece, uint32_t first,
			 const struct osp_link *again, struct osp_error *error)
{
	const struct osp_builder *builder = finish->builder;
	const struct osp_piece *one = &builder->domains[first];
	const struct osp_piece *other = &builder->domains[again->parent];
	const struct osp_place_in_file *place = &one->place;
	char where[OSP_BUILDER_WHERE_BYTES];

	/* better than the switch's place: the place that put the piece below it */
	for (uint32_t i = piece->first_link; i != OSP_NO_LINK; i = builder->links[i].next) {
		if (finish->twin[builder->links[i].parent] == first) {
			place = &builder->links[i].place;
			break;
		}
	}
	return osp_error_at(error, again->place.file, again->place.line, again->place.column,
			    "%s %s is under %s %s%s and %s %s",
			    osp_builder_level_name(builder, piece->level), piece->name,
			    osp_builder_level_name(builder, one->level), one->name,
			    osp_builder_where(place, where, sizeof(where)),
			    osp_builder_level_name(builder, other->level), other->name);
}

/* Sets *parent to the piece's only parent, or says which two it has. */
static int find_parent(const struct finish *finish, const struct osp_piece *piece, uint32_t *parent,
		       struct osp_error *error)
{
	const struct osp_link *links = finish->builder->links;

	for (uint32_t i = piece->first_link; i != OSP_NO_LINK; i = links[i].next) {
		uint32_t domain = finish->twin[links[i].parent];

		if (*parent == OSP_NO_DOMAIN)
			*parent = domain;
		else if (*parent != domain)
			return second_parent(finish, piece, *parent, &links[i], error);
	}
	return 0;
}

static int find_parents(struct finish *finish, struct osp_error *error)
{
	const struct osp_builder *builder = finish->builder;

	for (uint32_t n = 0; n < builder->node_count; n++) {
		finish->nodes[n] = (struct osp_node_place){builder->nodes[n].name, OSP_NO_DOMAIN,
							   builder->nodes[n].note};
		if (find_parent(finish, &builder->nodes[n], &finish->nodes[n].parent, error))
			return -1;
	}
	for (uint32_t d = 0; d < builder->domain_count; d++)
		finish->domains[d] = (struct osp_domain_part){
			builder->domains[d].name, builder->domains[d].level, OSP_NO_DOMAIN};
	for (uint32_t d = 0; d < builder->domain_count; d++) {
		struct osp_domain_part *part = &finish->domains[finish->twin[d]];

		if (finish->used[d] &&
		    find_parent(finish, &builder->domains[d], &part->parent, error))
			return -1;
	}
	return 0;
}

/* Fills the domains beside the tree of each node. */
static int find_beside(const struct osp_builder *builder, struct osp_topology_parts *parts)
{
	for (; parts->overlay_count < builder->overlay_count; parts->overlay_count++) {
		uint32_t *domains = calloc((size_t)builder->node_count + 1, sizeof(*domains));

		if (!domains)
			return -1;
		parts->overlays[parts->overlay_count] = domains;
		memset(domains, 0xff, builder->node_count * sizeof(*domains));
	}
	for (uint32_t n = 0; n < builder->node_count && builder->overlay_count; n++) {
		const struct osp_link *links = builder->links;

		for (uint32_t i = builder->nodes[n].beside; i != OSP_NO_LINK; i = links[i].next) {
			uint32_t level = builder->domains[links[i].parent].level;

			parts->overlays[level - builder->level_count - 1][n] = links[i].parent;
		}
	}
	return 0;
}

struct osp_topology *osp_builder_finish(struct osp_builder *builder, bool merge_twins,
					struct osp_error *error)
{
	struct finish finish = {.builder = builder};
	struct osp_topology_parts parts = {.level_names = builder->level_names,
					   .level_count = builder->level_count,
					   .domain_count = builder->domain_count,
					   .node_count = builder->node_count};
	struct osp_topology *topology = NULL;

	if (take_memory(&finish)) {
		give_memory_back(&finish);
		osp_error_set(error, "out of memory");
		return NULL;
	}
	for (uint32_t d = 0; d < builder->domain_count; d++)
		finish.twin[d] = d;
	order_by_level(&finish);
	mark_used(&finish);
	parts.domains = finish.domains;
	parts.nodes = finish.nodes;
	if (merge_twins)
		merge(&finish);
	if (find_beside(builder, &parts))
		osp_error_set(error, "out of memory");
	else if (!find_parents(&finish, error))
		topology = osp_topology_assemble(&parts, error);
	osp_topology_free_overlays(&parts);
	give_memory_back(&finish);
	return topology;
}
