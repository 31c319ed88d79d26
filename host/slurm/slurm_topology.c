/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_topology.c - keeps Slurm's own Topology= of the nodes as onespine.topology has it */
#include "onespine_config.h"
#include "host/slurm/slurm_topology.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm/cluster_state.h"
#include "host/slurm_compat.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/topology/slurm_unit.h"

/* A node whose Topology= is another. */
struct wanted {
	char *unit;
	const char *node;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->unit, ((const struct wanted *)b)->unit);
}

/* Fills `wanted`, of room for all nodes, by their Topology=. Returns how many there are; `error` is
 * set if a node cannot be described. */
static uint32_t collect(const char *root, const struct osp_topology *topology,
			const struct osp_node_list *nodes, struct wanted *wanted,
			struct osp_error *error)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct osp_listed_node *node = &nodes->nodes[i];
		uint32_t number = osp_topology_find_node(topology, node->name);
		struct osp_text unit = OSP_TEXT_INIT;

		if (!node->runs || number == OSP_NO_NODE ||
		    osp_listed_place_age(topology, node) != OSP_PLACE_HOLDS)
			continue;
		if (!osp_slurm_unit(topology, number, root, node->slurm_topology, &unit, error) &&
		    unit.data)
			wanted[count++] = (struct wanted){osp_text_take(&unit), node->name};
		osp_text_free(&unit);
		if (count && !wanted[count - 1].unit) {
			osp_error_set(error, "out of memory");
			count--;
		}
	}
	qsort(wanted, count, sizeof(*wanted), compare);
	return count;
}

/* Changes the first `count` nodes of `wanted`, which are of one path. Returns 0, or -1. */
static int change(const struct wanted *wanted, uint32_t count, struct osp_error *error)
{
	const char **names = calloc(count, sizeof(*names));
	char *list = NULL;
	update_node_msg_t message;
	int rc;

	for (uint32_t i = 0; names && i < count; i++)
		names[i] = wanted[i].node;
	if (names)
		list = osp_hostlist_compact(names, count);
	free(names);
	if (!list)
		return osp_error_set(error, "out of memory");
	slurm_init_update_node_msg(&message);
	message.node_names = list;
	OSP_NODE_UPDATE_TOPOLOGY(&message, wanted[0].unit);
	errno = 0;
	rc = slurm_update_node(&message);
	if (rc != SLURM_SUCCESS)
		osp_error_set(error, "scontrol update NodeName=%.80s Topology=%.200s: %s", list,
			      wanted[0].unit, slurm_strerror(errno));
	free(list);
	return rc == SLURM_SUCCESS ? 0 : -1;
}

static uint32_t same_path(const struct wanted *wanted, uint32_t count)
{
	uint32_t same = 1;

	while (same < count && !strcmp(wanted[same].unit, wanted[0].unit))
		same++;
	return same;
}

int osp_slurm_topology_keep(const char *root, const struct osp_topology *topology,
			    const struct osp_node_list *nodes, struct osp_text *said,
			    struct osp_error *error)
{
	struct wanted *wanted = calloc((size_t)nodes->count + 1, sizeof(*wanted));
	struct osp_error first = {.text = ""};
	uint32_t count, changed = 0;

	if (!wanted)
		return osp_error_set(error, "out of memory");
	if (!OSP_HAVE_NODE_TOPOLOGY) {
		free(wanted);
		return osp_error_set(error, "Slurm has it from 25.05 on");
	}
	count = collect(root, topology, nodes, wanted, &first);
	osp_slurm_begin();
	for (uint32_t i = 0, same; i < count; i += same) {
		same = same_path(wanted + i, count - i);
		changed += change(wanted + i, same, &first) ? 0 : same;
	}
	for (uint32_t i = 0; i < count; i++)
		free(wanted[i].unit);
	free(wanted);
	if (changed)
		osp_text_printf(said, "Slurm's Topology= of %u node%s changed\n", changed,
				osp_plural_s(changed));
	if (first.text[0])
		*error = first;
	return first.text[0] ? -1 : 0;
}
