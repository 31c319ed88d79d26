/* SPDX-License-Identifier: GPL-2.0-or-later */
/* level.c - a topology without one of its levels */
#include "lib/topology/level.h"

#include <stdlib.h>

#include "lib/topology/topology_parts.h"

struct dropping {
	const struct osp_topology *topology;
	uint32_t level;
	const char *levels[OSP_LEVELS_MAX];
	uint32_t *number; /* by domain: its new one */
	struct osp_domain_part *domains;
	struct osp_node_place *nodes;
};

/* Returns the new number of the nearest domain from `domain` up that stays. */
static uint32_t stays(const struct dropping *dropping, uint32_t domain)
{
	while (domain != OSP_NO_DOMAIN &&
	       osp_topology_domain(dropping->topology, domain)->level == dropping->level)
		domain = osp_topology_domain(dropping->topology, domain)->parent;
	return domain == OSP_NO_DOMAIN ? OSP_NO_DOMAIN : dropping->number[domain];
}

static uint32_t number_domains(struct dropping *dropping)
{
	uint32_t used = 0;

	for (uint32_t d = 0; d < osp_topology_listed_domains(dropping->topology); d++) {
		if (osp_topology_domain(dropping->topology, d)->level != dropping->level)
			dropping->number[d] = used++;
	}
	return used;
}

static void make_domains(struct dropping *dropping)
{
	for (uint32_t d = 0; d < osp_topology_listed_domains(dropping->topology); d++) {
		const struct osp_domain *domain = osp_topology_domain(dropping->topology, d);

		if (domain->level == dropping->level)
			continue;
		dropping->domains[dropping->number[d]] = (struct osp_domain_part){
			.name = domain->name,
			.level = domain->level - (domain->level > dropping->level),
			.parent = stays(dropping, domain->parent),
		};
	}
}

static void make_nodes(struct dropping *dropping)
{
	const struct osp_topology *topology = dropping->topology;

	for (uint32_t n = 0; n < osp_topology_node_count(topology); n++) {
		uint32_t domain = OSP_NO_DOMAIN;
		const char *name = osp_topology_node_name(topology, n);

		for (uint32_t level = 1;
		     domain == OSP_NO_DOMAIN && level <= osp_topology_level_count(topology);
		     level++)
			domain = osp_topology_domain_of(topology, n, level);
		dropping->nodes[n] = (struct osp_node_place){
			.name = *name ? name : NULL,
			.parent = stays(dropping, domain),
			.note = osp_topology_note(topology, n),
		};
	}
}

struct osp_topology *osp_topology_without_level(const struct osp_topology *topology, uint32_t level,
						struct osp_error *error)
{
	struct dropping dropping = {.topology = topology, .level = level};
	uint32_t levels = osp_topology_level_count(topology), used = 0;
	uint32_t left = levels - (level <= levels);
	uint32_t nodes = osp_topology_node_count(topology);
	size_t domains = (size_t)osp_topology_listed_domains(topology) + 1;
	struct osp_topology *result = NULL;

	dropping.number = calloc(domains, sizeof(*dropping.number));
	dropping.domains = calloc(domains, sizeof(*dropping.domains));
	dropping.nodes = calloc((size_t)nodes + 1, sizeof(*dropping.nodes));
	for (uint32_t l = 1; l <= osp_topology_last_level(topology); l++) {
		if (l != level)
			dropping.levels[used++] = osp_topology_level_name(topology, l);
	}
	if (!dropping.number || !dropping.domains || !dropping.nodes) {
		osp_error_set(error, "out of memory");
	} else if (!left) {
		osp_error_set(error, "there is no level but %s",
			      osp_topology_level_name(topology, level));
	} else {
		struct osp_topology_parts parts = {.level_names = dropping.levels,
						   .level_count = left,
						   .domains = dropping.domains,
						   .domain_count = number_domains(&dropping),
						   .nodes = dropping.nodes,
						   .node_count = nodes};

		make_domains(&dropping);
		make_nodes(&dropping);
		if (osp_topology_copy_overlays(&parts, topology, level, dropping.number))
			osp_error_set(error, "out of memory");
		else
			result = osp_topology_assemble(&parts, error);
		osp_topology_free_overlays(&parts);
	}
	free(dropping.number);
	free(dropping.domains);
	free(dropping.nodes);
	return result;
}
