/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shadow_order.c - which node of a started gang gets which ranks, for its note */
#include "sched/shadow.h"

#include <stdatomic.h>
#include <string.h>

#include "host/slurm_compat.h"
#include "lib/base/hostlist.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_segments.h"
#include "lib/layout/layout_segments.h"
#include "lib/policy/note.h"

static char *order_text(const job_record_t *job, const struct osp_effective *effective,
			const uint32_t *nodes, uint32_t count)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	uint32_t spares = shadow_spares(job);
	struct osp_segments segments = {.count = 0};
	struct osp_layout_stored stored = {
		.layout = effective->layout,
		.keep = effective->keep,
		.topology = topology,
		.level = (uint32_t)level,
		.one_domain = effective->domains_max <= 1,
		.nodes = count > spares ? count - spares : 0,
	};
	struct osp_layout_segments found;
	struct osp_error error = {.text = ""};
	bool arranged = false;

	if (level < 1 ||
	    (*effective->segments &&
	     osp_segments_parse(effective->segments, topology, (uint32_t)level, &segments, &error)))
		return NULL;
	if (*effective->layout) {
		arranged = osp_layout_segments_of_stored(&stored, &found, &error) == 0;
		if (!arranged)
			info("onespine: %pJ: its ranks follow the fabric and not its layout: %s",
			     job, error.text);
	}
	return osp_gang_order_text(topology, nodes, count, &segments, shadow_segment_spares(job),
				   arranged ? &found.arrangement : NULL,
				   effective->domains_max > 1 ? (uint32_t)level : 0);
}

/*
 * Says that ranks begin in the smaller segment. Scripts take the first name of the list that Slurm
 * will make of the nodes for the master.
 */
static void say_small_first(const struct osp_effective *effective, const uint32_t *nodes,
			    uint32_t count, char *says, size_t says_bytes)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	struct osp_segments segments = {.count = 0};
	size_t length = strlen(says);
	const char *first;

	if (level < 1 || !*effective->segments ||
	    osp_segments_parse(effective->segments, topology, (uint32_t)level, &segments, NULL))
		return;
	first = osp_gang_order_small_first(topology, nodes, count, &segments);
	if (first)
		snprintf(says + length, says_bytes - length,
			 "; ranks begin in the smaller segment, where %s is", first);
}

char *shadow_order_of(const job_record_t *job, const struct osp_effective *effective,
		      const struct osp_nodeset *nodes, const char *leaves, char *says,
		      size_t says_bytes)
{
	uint32_t count = 0, *list;
	char *order = NULL;

	if (!leaves || !shadow_state.topology ||
	    (!*effective->segments && !*effective->layout && effective->domains_max <= 1))
		return NULL;
	list = calloc(osp_nodeset_count(nodes) + 1, sizeof(*list));
	for (uint32_t n = list ? osp_nodeset_next(nodes, 0) : nodes->place_count;
	     n < nodes->place_count; n = osp_nodeset_next(nodes, n + 1))
		list[count++] = n;
	if (count)
		order = order_text(job, effective, list, count);
	if (order)
		say_small_first(effective, list, count, says, says_bytes);
	free(list);
	return order;
}

/* --- its segments, for the gate --------------------------------------------------------------- */

struct listed {
	uint32_t *nodes;
	uint32_t count, room;
};

static int add_listed(const char *name, void *context)
{
	struct listed *listed = context;
	char *copy = xstrdup(name);
	const node_record_t *node = find_node_record_no_alias(copy);

	xfree(copy);
	if (!node || listed->count == listed->room)
		return 1;
	listed->nodes[listed->count++] = node->index;
	return 0;
}

/* Returns the segments' text of the gang's nodes, malloc'd, or NULL. */
static char *segments_text(const job_record_t *job, const struct osp_effective *effective)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	const job_resources_t *resources = job->job_resrcs;
	struct listed listed = {.room = resources ? resources->nhosts : 0};
	struct osp_segments segments;
	char *text = NULL;

	if (level < 1 || !*effective->segments || !resources || !resources->nodes ||
	    osp_segments_parse(effective->segments, topology, (uint32_t)level, &segments, NULL))
		return NULL;
	listed.nodes = calloc(listed.room + 1, sizeof(*listed.nodes));
	if (listed.nodes && osp_hostlist_expand(resources->nodes, add_listed, &listed, NULL) == 0 &&
	    listed.count == listed.room)
		text = osp_gang_segments_text(topology, listed.nodes, listed.count, &segments);
	free(listed.nodes);
	return text;
}

void shadow_note_segments(job_record_t *job, const struct osp_effective *effective)
{
	bool has_spares = effective->mode == OSP_MODE_ENFORCE && shadow_segment_spares(job) &&
			  shadow_state.topology;
	char *text = has_spares ? segments_text(job, effective) : NULL;

	if (text || shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS))
		shadow_put_entry(job, OSP_EFFECTIVE_SEGMENTS, text ? text : "");
	free(text);
}

/* --- the ranks in the job's record ------------------------------------------------------------ */

#if OSP_HAVE_NODE_RANKS
/* Writes the ranks. `numbers` has a place for each node rank, `rank_of` one for each node of
 * slurmctld. Returns false, with the ranks unchanged, if slurmctld does not know a node. */
static bool write_ranks(job_resources_t *resources, const struct osp_gang_ranks *order,
			uint32_t *numbers, uint32_t *rank_of)
{
	uint32_t *ranks;
	uint32_t count = 0;

	osp_gang_order_slurm_ranks(order, numbers);
	for (uint32_t r = 0; r < order->count; r++) {
		const node_record_t *node = find_node_record_no_alias(order->names[r]);

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

/* Makes the order of the nodes that the job has now. */
static void make_anew(job_record_t *job)
{
	struct osp_note note;

	if (!job->admin_comment || !job->job_resrcs || !osp_note_find(job->admin_comment, &note))
		return;
	if (note.ranks)
		shadow_order_ranks(job, note.leaves, note.order);
	osp_note_free_pieces(&note);
}

/* Jobs whose order is to be made anew. Their number is read without Slurm's lock. */
static struct {
	uint32_t job[64];
	_Atomic uint32_t count;
} late;

/* Leaves the job to the thread. Returns false if it has too many. */
static bool put_off(uint32_t job)
{
	uint32_t count = atomic_load(&late.count);

	for (uint32_t i = 0; i < count; i++) {
		if (late.job[i] == job)
			return true;
	}
	if (count == sizeof(late.job) / sizeof(late.job[0]))
		return false;
	late.job[count] = job;
	atomic_store(&late.count, count + 1);
	return true;
}

/* Tells whether the gate has now released all spares: steps begin at once. */
static bool has_lost_its_spares(const job_record_t *job)
{
	uint32_t spares = shadow_spares(job);

	return spares && job->details && job->details->min_nodes > spares &&
	       job->job_resrcs->nhosts == job->details->min_nodes - spares;
}

void shadow_order_resized(job_record_t *job, uint32_t at_once_max)
{
	if (job->job_resrcs && (job->job_resrcs->nhosts <= at_once_max ||
				has_lost_its_spares(job) || !put_off(job->job_id)))
		make_anew(job);
}

bool shadow_order_any(void)
{
	return atomic_load(&late.count) > 0;
}

void shadow_order_look(void)
{
	uint32_t count = atomic_load(&late.count);

	for (uint32_t i = 0; i < count; i++) {
		job_record_t *job = find_job_record(late.job[i]);

		if (job && (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)))
			make_anew(job);
	}
	atomic_store(&late.count, 0);
}
#else
bool shadow_order_ranks(job_record_t *job, const char *leaves, const char *order)
{
	(void)job;
	(void)leaves;
	(void)order;
	return false;
}

void shadow_order_resized(job_record_t *job, uint32_t at_once_max)
{
	(void)job;
	(void)at_once_max;
}

bool shadow_order_any(void)
{
	return false;
}

void shadow_order_look(void)
{
}
#endif
