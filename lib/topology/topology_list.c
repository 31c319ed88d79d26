/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_list.c - a topology's parts in the order in which files list them */
#include "lib/topology/topology_list.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/hostlist.h"

/* Returns whether the node has no domain at the levels 1 .. level - 1. */
static bool is_direct(const struct osp_topology *topology, uint32_t node, uint32_t level)
{
	for (uint32_t lower = 1; lower < level; lower++) {
		if (osp_topology_domain_of(topology, node, lower) != OSP_NO_DOMAIN)
			return false;
	}
	return true;
}

char *osp_topology_direct_nodes(const struct osp_topology *topology, uint32_t domain)
{
	uint32_t level = osp_topology_level_count(topology) + 1;
	uint32_t first = 0, last = osp_topology_node_count(topology);
	const char **names;
	bool beside = domain >= osp_topology_domain_count(topology) && domain != OSP_NO_DOMAIN;
	size_t count = 0;
	char *list;

	if (domain != OSP_NO_DOMAIN) {
		const struct osp_domain *d = osp_topology_domain(topology, domain);

		level = d->level;
		first = d->first_rank;
		last = first + d->node_count;
	}
	names = calloc((size_t)(last - first) + 1, sizeof(*names));
	if (!names)
		return NULL;
	/* in a domain these have the last ranks */
	for (uint32_t rank = last; rank > first; rank--) {
		uint32_t node = osp_topology_node_at_rank(topology, rank - 1);

		if (!beside && !is_direct(topology, node, level))
			break;
		if (*osp_topology_node_name(topology, node))
			names[count++] = osp_topology_node_name(topology, node);
	}
	list = osp_hostlist_compact(names, count);
	free(names);
	return list;
}

struct entry {
	uint32_t first_rank;
	uint32_t level;
	uint32_t domain;
};

static int by_rank_and_level(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;

	if (first->first_rank != second->first_rank)
		return first->first_rank < second->first_rank ? -1 : 1;
	return (second->level > first->level) - (second->level < first->level);
}

uint32_t *osp_topology_domains_top_down(const struct osp_topology *topology)
{
	uint32_t count = osp_topology_listed_domains(topology);
	struct entry *entries = calloc((size_t)count + 1, sizeof(*entries));
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));

	for (uint32_t d = 0; entries && d < count; d++) {
		const struct osp_domain *domain = osp_topology_domain(topology, d);

		entries[d] = (struct entry){domain->first_rank, domain->level, d};
	}
	if (entries && order) {
		qsort(entries, count, sizeof(*entries), by_rank_and_level);
		for (uint32_t i = 0; i < count; i++)
			order[i] = entries[i].domain;
	} else {
		free(order);
		order = NULL;
	}
	free(entries);
	return order;
}
