/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shadow_order.c - which node of a started gang gets which ranks, for its note */
#include "sched/shadow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm_compat.h"
#include "lib/base/hostlist.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_segments.h"
#include "lib/layout/gang_start.h"
#include "lib/layout/layout_segments.h"
#include "lib/policy/note.h"

/* Says how the nodes of a gang that asked for segments, a layout or several domains are ordered.
 * `segments` and `found` are the caller's, and so is what the input points at. */
static void order_input(const job_record_t *job, const struct osp_effective *effective,
			struct osp_segments *segments, struct osp_layout_segments *found,
			struct osp_gang_start_input *input)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	uint32_t spares = shadow_spares(job);
	struct osp_layout_stored stored = {
		.layout = effective->layout,
		.keep = effective->keep,
		.topology = topology,
		.level = (uint32_t)level,
		.one_domain = effective->domains_max <= 1,
		.nodes = input->count > spares ? input->count - spares : 0,
	};
	struct osp_error error = {.text = ""};

	*segments = (struct osp_segments){.count = 0};
	if (level < 1 ||
	    (*effective->segments &&
	     osp_segments_parse(effective->segments, topology, (uint32_t)level, segments, &error)))
		return;
	input->segments = segments;
	input->spares = shadow_segment_spares(job);
	input->level = effective->domains_max > 1 ? (uint32_t)level : 0;
	if (!*effective->layout)
		return;
	if (osp_layout_segments_of_stored(&stored, found, &error) == 0)
		input->arrangement = &found->arrangement;
	else
		info("onespine: %pJ: its ranks follow the fabric and not its layout: %s", job,
		     error.text);
}

int shadow_order_start(const job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes, struct osp_gang_start *start)
{
	struct osp_gang_start_input input = {.topology = shadow_state.topology};
	struct osp_layout_segments found;
	struct osp_segments segments;
	uint32_t *list;
	int rc = -1;

	*start = (struct osp_gang_start){.topology = NULL};
	list = calloc(osp_nodeset_count(nodes) + 1, sizeof(*list));
	if (!list)
		return -1;
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1))
		list[input.count++] = n;
	input.nodes = list;
	if (*effective->segments || *effective->layout || effective->domains_max > 1)
		order_input(job, effective, &segments, &found, &input);
	rc = osp_gang_start_make(&input, start);
	free(list);
	return rc;
}

/* An order of more nodes, out of the fabric's, hardly fits as it is: it is packed at once. */
#define LISTED_NODES_MAX 8192

static bool pack(const void *context, size_t most_bytes, char **leaves, char **order)
{
	return osp_gang_start_pack(context, most_bytes, leaves, order);
}

void shadow_order_note(const struct osp_gang_start *start, struct osp_note *note)
{
	bool written = !start->listed || start->count <= LISTED_NODES_MAX, whole;
	char *leaves = NULL, *order = NULL;

	if (!start->leaf_count)
		return;
	if (written)
		leaves = osp_gang_start_leaves(start, OSP_NOTE_BYTES_MAX);
	whole = leaves && *leaves;
	if (whole && start->grid) {
		order = osp_gang_start_order(start, OSP_NOTE_BYTES_MAX);
		whole = order && *order;
	}
	if (!whole) {
		free(leaves);
		free(order);
	}
	note->leaves = whole ? leaves : NULL;
	note->order = whole ? order : NULL;
	note->pack = pack;
	note->pack_context = start;
}

/* --- its segments, for the gate --------------------------------------------------------------- */

/* Nodes of the job's list, in its order, which is by name almost always. */
struct listed {
	const uint32_t *by_name;
	uint32_t *nodes;
	uint32_t count, room;
};

static int add_listed(const char *name, void *context)
{
	const struct osp_topology *topology = shadow_state.topology;
	struct listed *listed = context;
	uint32_t node = listed->count < listed->room ? listed->by_name[listed->count] : OSP_NO_NODE;

	if (node != OSP_NO_NODE && strcmp(osp_topology_node_name(topology, node), name) != 0)
		node = osp_topology_find_node(topology, name);
	if (node == OSP_NO_NODE)
		return 1;
	listed->nodes[listed->count++] = node;
	return 0;
}

/* Returns the segments' text of the gang's nodes, malloc'd, or NULL. `listed` has room for them,
 * `by_name` has them by name. */
static char *text_of_list(const job_resources_t *resources, const struct osp_segments *segments,
			  uint32_t *by_name, struct osp_nodeset *scratch, struct listed *listed)
{
	const struct osp_topology *topology = shadow_state.topology;
	uint32_t count = 0;

	for (uint32_t n = 0; n < shadow_state.node_count && count < listed->room; n++) {
		if (bit_test(resources->node_bitmap, n))
			by_name[count++] = n;
	}
	osp_topology_sort_nodes(topology, OSP_BY_NAME, by_name, count, scratch);
	listed->by_name = by_name;
	if (count != listed->room ||
	    osp_hostlist_expand(resources->nodes, add_listed, listed, NULL) ||
	    listed->count != listed->room)
		return NULL;
	return osp_gang_segments_text(topology, listed->nodes, listed->count, segments);
}

/* Returns the segments' text of the gang's nodes, malloc'd, or NULL. */
static char *segments_text(const job_record_t *job, const struct osp_effective *effective)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	const job_resources_t *resources = job->job_resrcs;
	struct listed listed = {.room = resources ? resources->nhosts : 0};
	struct osp_segments segments;
	struct osp_nodeset *scratch;
	uint32_t *by_name;
	char *text = NULL;

	if (level < 1 || !*effective->segments || !resources || !resources->nodes ||
	    !resources->node_bitmap ||
	    osp_segments_parse(effective->segments, topology, (uint32_t)level, &segments, NULL))
		return NULL;
	listed.nodes = calloc(listed.room + 1, sizeof(*listed.nodes));
	by_name = calloc(listed.room + 1, sizeof(*by_name));
	scratch = osp_nodeset_new(osp_topology_node_count(topology));
	if (listed.nodes && by_name && scratch)
		text = text_of_list(resources, &segments, by_name, scratch, &listed);
	free(listed.nodes);
	free(by_name);
	free(scratch);
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
/* Writes the ranks, which `rank_of` has for each node of slurmctld. */
static void put_ranks(job_resources_t *resources, const uint32_t *rank_of)
{
	uint32_t *ranks = xcalloc(resources->nhosts, sizeof(*ranks));
	uint32_t count = 0;

	for (int n = 0; count < resources->nhosts && next_node_bitmap(resources->node_bitmap, &n);
	     n++)
		ranks[count++] = rank_of[n];
	xfree(resources->node_ranks);
	resources->node_ranks = ranks;
	last_job_update = time(NULL);
}

/* Takes the first name of a list, and ends it. */
static int take_first(const char *name, void *context)
{
	*(uint32_t *)context = osp_topology_find_node(shadow_state.topology, name);
	return 1;
}

/* Returns the nodes that the job has, to be freed; NULL if memory ran out, or it has none. */
static struct osp_nodeset *own_nodes(const job_resources_t *resources)
{
	struct osp_nodeset *own = resources && resources->node_bitmap && resources->nodes
					  ? osp_nodeset_new(shadow_state.node_count)
					  : NULL;

	if (own)
		shadow_from_bitmap(own, resources->node_bitmap);
	return own;
}

/* Ranks the job's own nodes. */
static bool write_ranks(job_resources_t *resources, const struct osp_nodeset *own,
			const struct osp_gang_start *start)
{
	uint32_t *rank_of = calloc((size_t)shadow_state.node_count + 1, sizeof(*rank_of));
	uint32_t first = OSP_NO_NODE;
	bool written = false;

	if (rank_of) {
		osp_hostlist_expand(resources->nodes, take_first, &first, NULL);
		written = osp_nodeset_count(own) == resources->nhosts &&
			  osp_gang_start_ranks(start, own, first, rank_of);
	}
	if (written)
		put_ranks(resources, rank_of);
	free(rank_of);
	return written;
}

bool shadow_order_ranks(job_record_t *job, const struct osp_gang_start *start)
{
	struct osp_nodeset *own = own_nodes(job->job_resrcs);
	bool written = start->leaf_count && own && write_ranks(job->job_resrcs, own, start);

	free(own);
	return written;
}

/* Makes the order of the nodes that the job has now, if the note has the ranks. */
static void make_anew(job_record_t *job)
{
	struct osp_nodeset *own = own_nodes(job->job_resrcs);
	struct osp_gang_start start;
	struct osp_note note;

	if (own && shadow_state.topology && job->admin_comment &&
	    osp_note_find(job->admin_comment, &note)) {
		if (note.ranks && note.leaves &&
		    osp_gang_start_read(shadow_state.topology, own, note.leaves, note.order,
					&start) == 0) {
			write_ranks(job->job_resrcs, own, &start);
			osp_gang_start_clear(&start);
		}
		osp_note_free_pieces(&note);
	}
	free(own);
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

/* Returns whether the gate has now released all spares: steps begin at once. */
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
	job_record_t *job = count ? find_job_record(late.job[count - 1]) : NULL;

	if (count)
		atomic_store(&late.count, count - 1);
	if (job && (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)))
		make_anew(job);
}
#else
bool shadow_order_ranks(job_record_t *job, const struct osp_gang_start *start)
{
	(void)job;
	(void)start;
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
