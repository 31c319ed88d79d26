/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout_spread.c - how many domains groups span, and what they send between them */
#include "lib/layout/layout_traffic.h"

#include <stdlib.h>
#include <string.h>

/*
 * The state for one group at a time. Nodes and domains are numbered anew in each, in the order in
 * which they appear.
 */
struct spreading {
	const struct osp_layout *layout;
	const struct osp_topology *topology;
	const uint32_t *node_at;
	const struct osp_model *model;
	enum osp_group group;
	uint32_t gpus_per_node;
	uint32_t levels;
	double bytes;	   /* that leave one GPU */
	uint32_t *nodes;   /* node ranks of the group's nodes, as they first appear */
	uint32_t *members; /* of the group on each node */
	uint32_t *domains; /* of each node at one level, numbered from 0 as they appear */
	double *ranks_in;  /* by such a number: the group's members there */
	double *nodes_in;  /* by such a number: its nodes there */
	uint32_t *met;	   /* by domain: when it was last met */
	uint32_t *number;  /* by domain: its number */
	uint32_t meetings;
	uint32_t *seen; /* by node rank: the group in which it was last seen, from 1 */
	uint32_t *slot; /* by node rank: its index in `nodes` */
	uint32_t node_count;
};

/*
 * Returns a node's domain. Nodes, and nodes in no known domain, are domains of their own after the
 * topology's.
 */
static uint32_t domain_of(const struct spreading *spreading, uint32_t node_rank, uint32_t level)
{
	const struct osp_topology *topology = spreading->topology;
	uint32_t node = spreading->node_at ? spreading->node_at[node_rank] : OSP_NO_NODE;
	uint32_t domain = OSP_NO_DOMAIN;

	if (level && node != OSP_NO_NODE)
		domain = osp_topology_domain_of(topology, node, level);
	if (domain != OSP_NO_DOMAIN)
		return domain;
	return (topology ? osp_topology_domain_count(topology) : 0) + node_rank;
}

/* Finds the nodes of one group, in order of first appearance. */
static void find_nodes(struct spreading *spreading, const struct osp_groups *groups, uint32_t index)
{
	spreading->node_count = 0;
	for (uint32_t member = 0; member < groups->size; member++) {
		uint32_t node = osp_groups_rank(groups, index, member) / spreading->gpus_per_node;

		if (spreading->seen[node] != index + 1) {
			spreading->seen[node] = index + 1;
			spreading->slot[node] = spreading->node_count;
			spreading->nodes[spreading->node_count] = node;
			spreading->members[spreading->node_count++] = 0;
		}
		spreading->members[spreading->slot[node]]++;
	}
}

/* Numbers the domains of the group's nodes at one level. Returns how many. */
static uint32_t number_domains(struct spreading *spreading, uint32_t level)
{
	uint32_t count = 0;

	spreading->meetings++;
	for (uint32_t i = 0; i < spreading->node_count; i++) {
		uint32_t domain = domain_of(spreading, spreading->nodes[i], level);

		if (spreading->met[domain] != spreading->meetings) {
			spreading->met[domain] = spreading->meetings;
			spreading->number[domain] = count;
			spreading->ranks_in[count] = 0;
			spreading->nodes_in[count++] = 0;
		}
		spreading->domains[i] = spreading->number[domain];
		spreading->ranks_in[spreading->domains[i]] += spreading->members[i];
		spreading->nodes_in[spreading->domains[i]]++;
	}
	return count;
}

static uint32_t ring_crossings(const struct spreading *spreading)
{
	uint32_t crossings = 0;

	for (uint32_t i = 0; i < spreading->node_count; i++)
		crossings += spreading->domains[i] !=
			     spreading->domains[(i + 1) % spreading->node_count];
	return crossings;
}

static double pipeline_bytes(const struct spreading *spreading, const struct osp_groups *groups,
			     uint32_t index)
{
	double bytes = 0;

	for (uint32_t member = 0; member + 1 < groups->size; member++) {
		uint32_t here = osp_groups_rank(groups, index, member) / spreading->gpus_per_node;
		uint32_t next =
			osp_groups_rank(groups, index, member + 1) / spreading->gpus_per_node;

		if (spreading->domains[spreading->slot[here]] !=
		    spreading->domains[spreading->slot[next]])
			bytes += spreading->bytes;
	}
	return bytes;
}

/*
 * Counts the bytes of all pairs between domains; with a limit of nodes per token, one copy for each
 * node that it goes to.
 */
static double all_to_all_bytes(const struct spreading *spreading, const struct osp_groups *groups,
			       uint32_t domains)
{
	const struct osp_model *model = spreading->model;
	bool limited = model->node_limit > 0 && model->node_limit < model->top_k;
	double bytes = 0, size = groups->size, nodes = spreading->node_count;

	for (uint32_t domain = 0; domain < domains; domain++) {
		double inside = spreading->ranks_in[domain];

		if (limited)
			bytes += inside * (nodes - spreading->nodes_in[domain]) / nodes *
				 model->node_limit / model->top_k;
		else
			bytes += inside * (size - inside) / size;
	}
	/* What leaves a GPU is for (size - 1)/size of its tokens. */
	return bytes * spreading->bytes * size / (size - 1);
}

static double crossing_bytes(const struct spreading *spreading, const struct osp_groups *groups,
			     uint32_t index, uint32_t domains)
{
	if (spreading->bytes <= 0 || domains <= 1)
		return 0;
	if (spreading->group == OSP_GROUP_PP)
		return pipeline_bytes(spreading, groups, index);
	if (spreading->group == OSP_GROUP_EP)
		return all_to_all_bytes(spreading, groups, domains);
	return ring_crossings(spreading) * spreading->bytes;
}

static void spread_group(struct spreading *spreading, const struct osp_groups *groups,
			 uint32_t index, struct osp_spread *spread)
{
	find_nodes(spreading, groups, index);
	for (uint32_t level = 0; level <= spreading->levels; level++) {
		uint32_t domains = number_domains(spreading, level);

		if (domains > spread->most[level])
			spread->most[level] = domains;
		spread->mean[level] += (double)domains / groups->count;
		spread->bytes[level] += crossing_bytes(spreading, groups, index, domains);
	}
}

static int take_memory(struct spreading *spreading, uint32_t nodes)
{
	const struct osp_topology *topology = spreading->topology;
	size_t count = (size_t)nodes + 1;
	size_t domains = count + (topology ? osp_topology_domain_count(topology) : 0);

	spreading->nodes = calloc(count, sizeof(uint32_t));
	spreading->members = calloc(count, sizeof(uint32_t));
	spreading->domains = calloc(count, sizeof(uint32_t));
	spreading->ranks_in = calloc(count, sizeof(double));
	spreading->nodes_in = calloc(count, sizeof(double));
	spreading->seen = calloc(count, sizeof(uint32_t));
	spreading->slot = calloc(count, sizeof(uint32_t));
	spreading->met = calloc(domains, sizeof(uint32_t));
	spreading->number = calloc(domains, sizeof(uint32_t));
	return spreading->nodes && spreading->members && spreading->domains &&
			       spreading->ranks_in && spreading->nodes_in && spreading->seen &&
			       spreading->slot && spreading->met && spreading->number
		       ? 0
		       : -1;
}

static void free_memory(struct spreading *spreading)
{
	free(spreading->nodes);
	free(spreading->members);
	free(spreading->domains);
	free(spreading->ranks_in);
	free(spreading->nodes_in);
	free(spreading->seen);
	free(spreading->slot);
	free(spreading->met);
	free(spreading->number);
}

int osp_spread(const struct osp_layout *layout, uint32_t gpus_per_node, enum osp_group group,
	       const struct osp_topology *topology, const uint32_t *node_at,
	       const struct osp_model *model, struct osp_spread *spread)
{
	struct spreading spreading = {.layout = layout,
				      .topology = topology,
				      .node_at = node_at,
				      .model = model,
				      .group = group,
				      .gpus_per_node = gpus_per_node,
				      .levels = topology ? osp_topology_level_count(topology) : 0};
	struct osp_groups groups;
	int rc;

	memset(spread, 0, sizeof(*spread));
	osp_layout_groups(layout, group, &groups);
	if (model)
		spreading.bytes = osp_traffic_bytes(model, layout, group);
	rc = take_memory(&spreading, osp_layout_ranks(layout) / gpus_per_node + 1);
	for (uint32_t index = 0; !rc && index < groups.count; index++)
		spread_group(&spreading, &groups, index, spread);
	free_memory(&spreading);
	spread->held = -1;
	for (uint32_t level = spreading.levels + 1; level-- > 0;) {
		if (spread->most[level] == 1)
			spread->held = (int)level;
	}
	return rc;
}

static double distance(const struct osp_spread *spread, uint32_t level)
{
	return spread->most[level] > 1 ? spread->most[level] : 0;
}

double osp_spread_cost(const struct osp_spread *dp, const struct osp_spread *pp, uint32_t level,
		       double weight)
{
	return weight * distance(dp, level) + (1 - weight) * distance(pp, level);
}
