/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_ends.c - asks EC2 when the Capacity Blocks end that the nodes run in */
#include "host/source/block_ends.h"

#include <stdlib.h>
#include <string.h>

#include "host/cloud/ec2.h"
#include "host/slurm/block_reservation.h"
#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"

#define LIFECYCLE "capacity-block"

/* One block, and the nodes that run in it. */
struct block {
	const char *id;
	const char **nodes;
	uint32_t count, room;
	int64_t from_s; /* 0: not known */
};

struct asking {
	const struct osp_topology *topology;
	struct osp_error *error;
	struct osp_arena arena;
	struct osp_name_table instances; /* id, to a node of the topology */
	struct osp_name_table by_id;	 /* of blocks */
	struct block *blocks;
	uint32_t count, room;
	struct osp_ec2_gaps gaps;
};

static int no_memory(struct osp_error *error)
{
	return osp_error_set(error, "out of memory");
}

/* Lists the instances that EC2 placed. */
static const char **list_instances(struct asking *asking, size_t *count)
{
	uint32_t nodes = osp_topology_node_count(asking->topology);
	const char **ids = calloc((size_t)nodes + 1, sizeof(*ids));

	*count = 0;
	for (uint32_t node = 0; ids && node < nodes; node++) {
		const struct osp_node_note *note = osp_topology_note(asking->topology, node);

		if (!note || strcmp(note->source, "ec2") != 0 || !note->instance_id[0])
			continue;
		if (osp_name_table_add(&asking->instances, 0, note->instance_id, node)) {
			free(ids);
			return NULL;
		}
		ids[(*count)++] = note->instance_id;
	}
	return ids;
}

/* Returns the block of that id, a new one if it is the first time; NULL if memory ran out. */
static struct block *block_of(struct asking *asking, const char *id)
{
	uint32_t index = osp_name_table_find(&asking->by_id, 0, id);
	const char *copy;

	if (index != OSP_NAME_ABSENT)
		return &asking->blocks[index];
	copy = osp_arena_copy(&asking->arena, id, strlen(id));
	if (!copy ||
	    osp_make_room((void **)&asking->blocks, &asking->room, asking->count,
			  sizeof(*asking->blocks)) ||
	    osp_name_table_add(&asking->by_id, 0, copy, asking->count))
		return NULL;
	asking->blocks[asking->count] = (struct block){.id = copy};
	return &asking->blocks[asking->count++];
}

static int note_instance(const struct osp_ec2_record *record, void *context,
			 struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t node = osp_name_table_find(&asking->instances, 0, record->id);
	struct block *block;

	if (node == OSP_NAME_ABSENT || strcmp(record->lifecycle, LIFECYCLE) != 0 ||
	    !osp_block_end_is_id(record->reservation))
		return 0;
	block = block_of(asking, record->reservation);
	if (!block || osp_make_room((void **)&block->nodes, &block->room, block->count,
				    sizeof(*block->nodes)))
		return no_memory(error);
	block->nodes[block->count++] = osp_topology_node_name(asking->topology, node);
	return 0;
}

static int note_end(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t index = osp_name_table_find(&asking->by_id, 0, record->id);
	int64_t ends_s = osp_ec2_time(record->ends);

	(void)error;
	if (index != OSP_NAME_ABSENT && ends_s > 0)
		asking->blocks[index].from_s = osp_block_end_jobs_s(ends_s, record->type);
	return 0;
}

static int ask_ends(struct asking *asking, struct osp_ec2 *ec2)
{
	struct osp_ec2_listener listener = {note_end, NULL, asking};
	const char **ids = calloc(asking->count + 1, sizeof(*ids));
	int rc;

	for (size_t i = 0; ids && i < asking->count; i++)
		ids[i] = asking->blocks[i].id;
	if (!ids)
		return no_memory(asking->error);
	rc = asking->count ? osp_ec2_reservations(ec2, ids, asking->count, &listener, &asking->gaps,
						  asking->error)
			   : 0;
	free(ids);
	return rc;
}

static int ask(struct asking *asking)
{
	struct osp_ec2_listener listener = {note_instance, NULL, asking};
	struct osp_ec2 *ec2 = NULL;
	size_t count;
	const char **ids = list_instances(asking, &count);
	int rc = -1;

	if (!ids)
		return no_memory(asking->error);
	if (!count)
		rc = 0;
	else if ((ec2 = osp_ec2_open(asking->error)) &&
		 !osp_ec2_instances(ec2, ids, count, &listener, &asking->gaps, asking->error))
		rc = ask_ends(asking, ec2);
	osp_ec2_close(ec2);
	free(ids);
	return rc;
}

/* Lists the blocks of which the end is known. Returns their number, or -1. */
static int list_ends(struct asking *asking, struct osp_block_end *ends, bool *is_all)
{
	int count = 0;

	*is_all = !asking->gaps.failed_calls && !asking->gaps.unknown_ids;
	for (size_t i = 0; i < asking->count; i++) {
		const struct block *block = &asking->blocks[i];
		char *nodes = osp_hostlist_compact(block->nodes, block->count);

		if (!block->from_s)
			*is_all = false;
		else if (nodes)
			ends[count++] = (struct osp_block_end){
				block->id, osp_arena_copy(&asking->arena, nodes, strlen(nodes)),
				block->from_s};
		free(nodes);
		if (!nodes || (count && !ends[count - 1].nodes))
			return -1;
	}
	return count;
}

static int keep(struct asking *asking, struct osp_text *said)
{
	struct osp_block_end *ends = calloc(asking->count + 1, sizeof(*ends));
	bool is_all;
	int count = ends ? list_ends(asking, ends, &is_all) : -1;
	int rc = count < 0 ? no_memory(asking->error)
			   : osp_block_reservations_keep(ends, (size_t)count, is_all, said,
							 asking->error);

	free(ends);
	if (!rc && asking->gaps.failed_calls)
		return osp_error_set(asking->error, "%s", asking->gaps.first.text);
	return rc;
}

int osp_block_ends_keep(const struct osp_topology *topology, struct osp_text *said,
			struct osp_error *error)
{
	struct asking asking = {.topology = topology,
				.error = error,
				.instances = OSP_NAME_TABLE_INIT,
				.by_id = OSP_NAME_TABLE_INIT};
	int rc = ask(&asking) ? -1 : keep(&asking, said);

	for (size_t i = 0; i < asking.count; i++)
		free(asking.blocks[i].nodes);
	free(asking.blocks);
	osp_name_table_free(&asking.instances);
	osp_name_table_free(&asking.by_id);
	osp_arena_free(&asking.arena);
	return rc;
}
