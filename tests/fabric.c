/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric.c - topologies for tests: from a table of nodes, or regular ones of any size */
#include "tests/fabric.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/topology/builder.h"

static const char *const level_names[FABRIC_LEVELS_MAX] = {"leaf", "spine", "core", "zone",
							   "region"};
static const struct osp_place_in_file nowhere = {"test", 0, 0};

static void fail(const struct osp_error *error)
{
	fprintf(stderr, "the test's own fabric: %s\n", error->text);
	exit(99);
}

/* The node's nearest domain, nested into those above it. */
static uint32_t add_domains(struct osp_builder *builder, const struct fabric_node *node,
			    uint32_t levels, struct osp_error *error)
{
	uint32_t above = OSP_NO_DOMAIN;

	for (uint32_t level = levels; level > 0; level--) {
		uint32_t domain;

		if (!node->domains[level - 1])
			continue;
		domain = osp_builder_domain(builder, level, node->domains[level - 1], &nowhere,
					    error);
		if (domain == OSP_NO_DOMAIN)
			fail(error);
		if (above != OSP_NO_DOMAIN &&
		    osp_builder_nest(builder, domain, above, &nowhere, error))
			fail(error);
		above = domain;
	}
	return above;
}

struct osp_topology *fabric_from(const struct fabric_node *nodes, size_t count, uint32_t levels)
{
	struct osp_error error = {0};
	struct osp_builder *builder = osp_builder_new(level_names, levels, &error);
	struct osp_topology *topology;

	if (!builder)
		fail(&error);
	for (size_t i = 0; i < count; i++) {
		uint32_t parent = add_domains(builder, &nodes[i], levels, &error);

		if (osp_builder_node(builder, nodes[i].name, parent, &nowhere, &error))
			fail(&error);
	}
	topology = osp_builder_finish(builder, false, &error);
	if (!topology)
		fail(&error);
	osp_builder_free(builder);
	return topology;
}

struct osp_topology *fabric_regular(uint32_t tops, const uint32_t *below, uint32_t levels)
{
	uint32_t count = tops;
	struct fabric_node *nodes;
	char(*names)[FABRIC_LEVELS_MAX + 1][16];
	struct osp_topology *topology;

	for (uint32_t i = 0; i < levels; i++)
		count *= below[i];
	nodes = calloc(count, sizeof(*nodes));
	names = calloc(count, sizeof(*names));
	if (!nodes || !names)
		abort();
	for (uint32_t n = 0; n < count; n++) {
		uint32_t index = n;

		snprintf(names[n][0], sizeof(names[n][0]), "n%06u", n);
		nodes[n].name = names[n][0];
		for (uint32_t level = 1; level <= levels; level++) {
			index /= below[levels - level];
			snprintf(names[n][level], sizeof(names[n][level]), "%c%06u",
				 level_names[level - 1][0], index);
			nodes[n].domains[level - 1] = names[n][level];
		}
	}
	topology = fabric_from(nodes, count, levels);
	free(names);
	free(nodes);
	return topology;
}
