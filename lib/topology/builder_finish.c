/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builder_finish.c - from collected pieces to a tree: merges twins, finds second parents
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/topology/builder_data.h"
#include "lib/topology/topology_parts.h"

/* Scratch; every array has a place for each domain unless it says otherwise. */
struct finish {
	const struct osp_builder *builder;
	uint32_t *order;			  /* domains by level, bottom first */
	uint32_t level_first[OSP_LEVELS_MAX + 2]; /* in `order` */
	bool *used;				  /* has a node below it */
	uint32_t *twin;				  /* the domain that stands for this one */
	uint32_t *children_first; /* in `children`; one more than there are domains */
	uint32_t *children; /* by link: domains, then nodes numbered from the domain count on */
	struct osp_domain_part *domains;
	struct osp_node_part *nodes; /* by node */
};

/* The children of one domain, sorted and each once. */
struct child_set {
	const char *name;
	uint32_t domain;
	uint32_t count;
	const uint32_t *children;
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
	finish->domains = calloc(domain_count, sizeof(*finish->domains));
	finish->nodes = calloc(node_count, sizeof(*finish->nodes));
	return finish->order && finish->used && finish->twin && finish->children_first &&
			       finish->children && finish->domains && finish->nodes
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
	free(finish->domains);
	free(finish->nodes);
}

static void order_by_level(struct finish *finish)
{
	const struct osp_builder *builder = finish->builder;
	uint32_t next[OSP_LEVELS_MAX + 2] = {0};

	for (uint32_t d = 0; d < builder->domain_count; d++)
		finish->level_first[builder->domains[d].level + 1]++;
	for (uint32_t level = 1; level <= builder->level_count + 1; level++)
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

/* Puts a child into the list of each of its parents, or with `count_only` counts it there. */
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

/* Turns the links around: from each domain to its children. */
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

static int by_number(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

static struct child_set children_of(struct finish *finish, uint32_t domain)
{
	uint32_t *children = finish->children + finish->children_first[domain];
	uint32_t count = finish->children_first[domain + 1] - finish->children_first[domain];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (children[i] < finish->builder->domain_count)
			children[i] = finish->twin[children[i]];
	}
	qsort(children, count, sizeof(*children), by_number);
	for (uint32_t i = 0; i < count; i++) {
		if (!i || children[i] != children[kept - 1])
			children[kept++] = children[i];
	}
	return (struct child_set){finish->builder->domains[domain].name, domain, kept, children};
}

static int compare_children(const struct child_set *a, const struct child_set *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return memcmp(a->children, b->children, a->count * sizeof(a->children[0]));
}

static int by_children_and_name(const void *a, const void *b)
{
	const struct child_set *first = a, *second = b;
	int order = compare_children(first, second);

	return order ? order : osp_name_compare(first->name, second->name);
}

/* Finds the twins of one level; those of the levels below are known. */
static int merge_level(struct finish *finish, uint32_t level)
{
	uint32_t first = finish->level_first[level], last = finish->level_first[level + 1];
	struct child_set *sets = calloc((size_t)(last - first) + 1, sizeof(*sets));
	uint32_t count = 0, leader = 0;

	if (!sets)
		return -1;
	for (uint32_t i = first; i < last; i++) {
		if (finish->used[finish->order[i]])
			sets[count++] = children_of(finish, finish->order[i]);
	}
	qsort(sets, count, sizeof(*sets), by_children_and_name);
	for (uint32_t i = 1; i < count; i++) {
		if (compare_children(&sets[leader], &sets[i]))
			leader = i;
		finish->twin[sets[i].domain] = sets[leader].domain;
	}
	free(sets);
	return 0;
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

static int merge(struct finish *finish)
{
	/* twins share their children, so without a second parent there are none */
	if (!any_second_parent(finish->builder))
		return 0;
	list_children(finish);
	for (uint32_t level = 1; level <= finish->builder->level_count; level++) {
		if (merge_level(finish, level))
			return -1;
	}
	return 0;
}

static int second_parent(const struct finish *finish, const struct osp_piece *piece, uint32_t first,
			 const struct osp_link *again, struct osp_error *error)
{
	const struct osp_builder *builder = finish->builder;
	const struct osp_piece *one = &builder->domains[first];
	const struct osp_piece *other = &builder->domains[again->parent];
	const struct osp_place_in_file *place = &one->place;
	char where[OSP_BUILDER_WHERE_BYTES];

	/* better than the switch: the place that put the piece below it */
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

/* Sets *parent to the one parent that the piece has, or says which two it has. */
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
		finish->nodes[n] = (struct osp_node_part){builder->nodes[n].name, OSP_NO_DOMAIN};
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
	if (merge_twins && merge(&finish))
		osp_error_set(error, "out of memory");
	else if (!find_parents(&finish, error))
		topology = osp_topology_assemble(&parts, error);
	give_memory_back(&finish);
	return topology;
}
