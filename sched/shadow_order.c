/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shadow_order.c - which node of a started gang gets which ranks, for its note */
#include "sched/shadow.h"

#include <string.h>

#include "host/slurm_compat.h"
#include "lib/base/hostlist.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/layout_segments.h"
#include "lib/policy/note.h"

/*
 * Computes the arrangement of the stored layout. Its dp is always written, so its sizes give the
 * GPUs of a node. Returns -1 with the sentence if it is not one of `count` nodes, or not one on
 * this fabric.
 */
static int arrange(const struct osp_effective *effective, uint32_t level, uint32_t count,
		   struct osp_arrangement *arrangement, struct osp_error *error)
{
	struct osp_layout_segments_input input = {
		.topology = shadow_state.topology,
		.level = level,
		.one_domain = effective->domains_max <= 1,
	};
	const uint32_t *size = input.layout.size;
	struct osp_layout_segments found;
	uint64_t ranks = 1;

	if (osp_layout_parse(effective->layout, &input.layout, error))
		return -1;
	for (int axis = OSP_AXIS_TP; axis <= OSP_AXIS_DP; axis++)
		ranks *= size[axis] ? size[axis] : 1;
	if (!count || ranks % count || ranks / count > OSP_NODE_GPUS_MAX)
		return osp_error_set(error, "%s is no layout of %u nodes", effective->layout,
				     count);
	input.gpus_per_node = (uint32_t)(ranks / count);
	if (osp_layout_complete(&input.layout, count, input.gpus_per_node, error) ||
	    (*effective->keep &&
	     osp_keeps_parse(effective->keep, input.topology, &input.keeps, error)) ||
	    osp_layout_segments_find(&input, &found, error))
		return -1;
	*arrangement = found.arrangement;
	return 0;
}

static char *order_text(const job_record_t *job, const struct osp_effective *effective,
			const uint32_t *nodes, uint32_t count)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	struct osp_segments segments = {.count = 0};
	struct osp_arrangement arrangement;
	struct osp_error error = {.text = ""};
	bool arranged = false;

	if (level < 1 ||
	    (*effective->segments &&
	     osp_segments_parse(effective->segments, topology, (uint32_t)level, &segments, &error)))
		return NULL;
	if (*effective->layout) {
		arranged = arrange(effective, (uint32_t)level, count, &arrangement, &error) == 0;
		if (!arranged)
			info("onespine: %pJ: its ranks follow the fabric and not its layout: %s",
			     job, error.text);
	}
	return osp_gang_order_text(topology, nodes, count, &segments, shadow_segment_spares(job),
				   arranged ? &arrangement : NULL);
}

/*
 * Says that ranks begin in the smaller segment. Scripts take the first name of the list that Slurm
 * will make of the nodes for the master.
 */
static void say_small_first(const uint32_t *nodes, uint32_t count, const char *leaves,
			    const char *order, char *says, size_t says_bytes)
{
	const char **names = calloc(count, sizeof(*names));
	size_t length = strlen(says);
	struct osp_gang_ranks made;
	char *list;

	for (uint32_t i = 0; names && i < count; i++)
		names[i] = osp_topology_node_name(shadow_state.topology, nodes[i]);
	list = names ? osp_hostlist_compact(names, count) : NULL;
	if (list && osp_gang_order_make(list, leaves, order, &made) == 0) {
		if (made.small_first)
			snprintf(says + length, says_bytes - length,
				 "; ranks begin in the smaller segment, where %s is",
				 made.names[0]);
		osp_gang_order_clear(&made);
	}
	free(list);
	free(names);
}

char *shadow_order_of(const job_record_t *job, const struct osp_effective *effective,
		      const struct osp_nodeset *nodes, const char *leaves, char *says,
		      size_t says_bytes)
{
	uint32_t count = 0, *list;
	char *order = NULL;

	if (!leaves || !shadow_state.topology || (!*effective->segments && !*effective->layout))
		return NULL;
	list = calloc(osp_nodeset_count(nodes) + 1, sizeof(*list));
	for (uint32_t n = list ? osp_nodeset_next(nodes, 0) : nodes->place_count;
	     n < nodes->place_count; n = osp_nodeset_next(nodes, n + 1))
		list[count++] = n;
	if (count)
		order = order_text(job, effective, list, count);
	if (order)
		say_small_first(list, count, leaves, order, says, says_bytes);
	free(list);
	return order;
}

/* --- the ranks in the job's record ------------------------------------------------------------ */

#if OSP_HAVE_NODE_RANKS
/* The most nodes of a gang whose order is made anew when a node leaves: Slurm calls for one node
 * after the other. In a larger one the others keep the order that they had. */
#define ANEW_NODES_MAX 1024

/* Writes the ranks. `numbers` has a place for each node rank, `rank_of` one for each node of
 * slurmctld. Returns false, with the ranks unchanged, if slurmctld does not know a node. */
static bool write_ranks(job_resources_t *resources, const struct osp_gang_ranks *order,
			uint32_t *numbers, uint32_t *rank_of)
{
	uint32_t *ranks;
	uint32_t count = 0;

	osp_gang_order_slurm_ranks(order, numbers);
	for (uint32_t r = 0; r < order->count; r++) {
		const node_record_t *node = find_node_record(order->names[r]);

		if (!node)
			return false;
		rank_of[node->index] = numbers[r];
	}
	ranks = xcalloc(resources->nhosts, sizeof(*ranks));
	for (int n = 0; count < resources->nhosts && next_node_bitmap(resources->node_bitmap, &n);
	     n++)
		ranks[count++] = rank_of[n];
	xfree(resources->node_ranks);
	resources->node_ranks = ranks;
	last_job_update = time(NULL);
	return true;
}

bool shadow_order_ranks(job_record_t *job, const char *leaves, const char *order)
{
	job_resources_t *resources = job->job_resrcs;
	uint32_t *numbers, *rank_of;
	struct osp_gang_ranks made;
	bool written;

	if (!leaves || !resources || !resources->nodes || !resources->node_bitmap ||
	    osp_gang_order_make(resources->nodes, leaves, order, &made))
		return false;
	numbers = calloc(made.count, sizeof(*numbers));
	rank_of = calloc((size_t)node_record_count, sizeof(*rank_of));
	written = numbers && rank_of && made.count == resources->nhosts &&
		  write_ranks(resources, &made, numbers, rank_of);
	free(numbers);
	free(rank_of);
	osp_gang_order_clear(&made);
	return written;
}

void shadow_order_resized(job_record_t *job)
{
	struct osp_note note;

	if (!job->admin_comment || !job->job_resrcs || job->job_resrcs->nhosts > ANEW_NODES_MAX ||
	    !osp_note_find(job->admin_comment, &note))
		return;
	if (note.ranks)
		shadow_order_ranks(job, note.leaves, note.order);
	osp_note_free_pieces(&note);
}
#else
bool shadow_order_ranks(job_record_t *job, const char *leaves, const char *order)
{
	(void)job;
	(void)leaves;
	(void)order;
	return false;
}

void shadow_order_resized(job_record_t *job)
{
	(void)job;
}
#endif
