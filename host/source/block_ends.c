/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_ends.c - asks EC2 when the Capacity Blocks end that the nodes run in */
#include "host/source/block_ends.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/cloud/ec2.h"
#include "host/slurm/block_jobs.h"
#include "host/slurm/block_reservation.h"
#include "host/slurm/cluster_state.h"
#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"

#define LIFECYCLE "capacity-block"

enum { TAG_NODE, TAG_INSTANCE, TAG_BLOCK };

/* One block, and its nodes. */
struct block {
	const char *id;
	const char **nodes;
	uint32_t count, room;
	struct osp_block_word word;
	int64_t from_s; /* 0: not known */
};

struct asking {
	const struct osp_topology *topology;
	const struct osp_node_list *list;
	struct osp_error *error;
	struct osp_arena arena;
	struct osp_name_table table; /* names and instances to nodes of the list, ids to blocks */
	bool *answered;		     /* by node of the list: EC2 said where it runs */
	struct osp_block_reservations held;
	struct block *blocks;
	uint32_t count, room;
	struct osp_ec2_gaps gaps, end_gaps;
	struct osp_error gap; /* what nobody knows, though no call failed */
};

static int no_memory(struct osp_error *error)
{
	return osp_error_set(error, "out of memory");
}

/* --- which instances ran in which block ------------------------------------------------------- */

/* Returns the instance of a node that runs; "" if none is known. */
static const char *instance_of(const struct asking *asking, const struct osp_listed_node *node)
{
	const struct osp_node_note *note = osp_topology_note_of(asking->topology, node->name);

	if (!node->runs || node->instance_id[0])
		return node->runs ? node->instance_id : "";
	return note && !strcmp(note->source, "ec2") ? note->instance_id : "";
}

/* Lists the instances that run. NULL if memory ran out. */
static const char **list_instances(struct asking *asking, size_t *count)
{
	const char **ids = calloc((size_t)asking->list->count + 1, sizeof(*ids));

	*count = 0;
	for (uint32_t i = 0; ids && i < asking->list->count; i++) {
		const struct osp_listed_node *node = &asking->list->nodes[i];
		const char *id = instance_of(asking, node);
		bool is_new = *id && osp_name_table_find(&asking->table, TAG_INSTANCE, id) ==
					     OSP_NAME_ABSENT;

		if (osp_name_table_add(&asking->table, TAG_NODE, node->name, i) ||
		    (is_new && osp_name_table_add(&asking->table, TAG_INSTANCE, id, i))) {
			free(ids);
			return NULL;
		}
		if (is_new)
			ids[(*count)++] = id;
	}
	return ids;
}

/* Returns the block of that id, a new one if it is the first time; NULL if memory ran out. */
static struct block *block_of(struct asking *asking, const char *id)
{
	uint32_t index = osp_name_table_find(&asking->table, TAG_BLOCK, id);
	const char *copy;

	if (index != OSP_NAME_ABSENT)
		return &asking->blocks[index];
	copy = osp_arena_copy(&asking->arena, id, strlen(id));
	if (!copy ||
	    osp_make_room((void **)&asking->blocks, &asking->room, asking->count,
			  sizeof(*asking->blocks)) ||
	    osp_name_table_add(&asking->table, TAG_BLOCK, copy, asking->count))
		return NULL;
	asking->blocks[asking->count] = (struct block){.id = copy};
	return &asking->blocks[asking->count++];
}

static int add_node(struct block *block, const char *name)
{
	if (!block || osp_make_room((void **)&block->nodes, &block->room, block->count,
				    sizeof(*block->nodes)))
		return -1;
	block->nodes[block->count++] = name;
	return 0;
}

static int note_instance(const struct osp_ec2_record *record, void *context,
			 struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t node = osp_name_table_find(&asking->table, TAG_INSTANCE, record->id);
	struct block *block;

	if (node == OSP_NAME_ABSENT || asking->answered[node])
		return 0;
	asking->answered[node] = true;
	if (strcmp(record->lifecycle, LIFECYCLE) != 0 || !osp_block_end_is_id(record->reservation))
		return 0;
	block = block_of(asking, record->reservation);
	if (add_node(block, asking->list->nodes[node].name))
		return no_memory(error);
	block->word.nodes_here++;
	return 0;
}

static int ask_instances(struct asking *asking, struct osp_ec2 *ec2)
{
	struct osp_ec2_listener listener = {note_instance, NULL, asking};
	size_t count;
	const char **ids = list_instances(asking, &count);
	int rc = ids ? 0 : no_memory(asking->error);

	if (!rc && !count && asking->list->count)
		osp_error_set(&asking->gap, "no node that runs has a known instance of EC2");
	if (!rc && count)
		rc = osp_ec2_instances(ec2, ids, count, &listener, &asking->gaps, asking->error);
	free(ids);
	return rc;
}

/* --- nodes of which nothing is known ---------------------------------------------------------- */

struct staying {
	struct asking *asking;
	struct block *block;
};

static int stay(const char *name, void *context)
{
	const struct staying *staying = context;
	struct asking *asking = staying->asking;
	uint32_t node = osp_name_table_find(&asking->table, TAG_NODE, name);

	if (node == OSP_NAME_ABSENT || asking->answered[node])
		return 0;
	return add_node(staying->block, asking->list->nodes[node].name) ? 1 : 0;
}

/* Leaves these nodes in the reservations that they are in. */
static int add_staying(struct asking *asking)
{
	for (size_t i = 0; i < asking->held.count; i++) {
		struct osp_error ignored = {.text = ""};
		struct staying staying = {asking, block_of(asking, asking->held.items[i].id)};

		if (!staying.block ||
		    osp_hostlist_expand(asking->held.items[i].nodes, stay, &staying, &ignored) > 0)
			return no_memory(asking->error);
	}
	return 0;
}

/* --- when they end ---------------------------------------------------------------------------- */

static int note_end(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t index = osp_name_table_find(&asking->table, TAG_BLOCK, record->id);
	struct block *block;

	(void)error;
	if (index == OSP_NAME_ABSENT)
		return 0;
	block = &asking->blocks[index];
	block->word.reported = true;
	block->word.ends_s = osp_ec2_time(record->ends);
	if (block->word.ends_s > 0)
		block->from_s = osp_block_end_jobs_s(block->word.ends_s, record->type);
	return 0;
}

static void note_missed(const char *id, void *context)
{
	struct asking *asking = context;
	uint32_t index = osp_name_table_find(&asking->table, TAG_BLOCK, id);

	if (index != OSP_NAME_ABSENT)
		asking->blocks[index].word.unanswered = true;
}

static int ask_ends(struct asking *asking, struct osp_ec2 *ec2)
{
	struct osp_ec2_listener listener = {note_end, note_missed, asking};
	const char **ids = calloc((size_t)asking->count + 1, sizeof(*ids));
	int rc;

	for (size_t i = 0; ids && i < asking->count; i++)
		ids[i] = asking->blocks[i].id;
	if (!ids)
		return no_memory(asking->error);
	rc = asking->count ? osp_ec2_reservations(ec2, ids, asking->count, &listener,
						  &asking->end_gaps, asking->error)
			   : 0;
	free(ids);
	/* an answer that leaves a block out, and does not say that it is unknown, is half a one */
	for (size_t i = 0; i < asking->count && !asking->end_gaps.unknown_ids; i++)
		if (!asking->blocks[i].word.reported)
			asking->blocks[i].word.unanswered = true;
	return rc;
}

static int ask(struct asking *asking)
{
	struct osp_ec2 *ec2 = osp_ec2_open(asking->error);
	int rc = ec2 && !ask_instances(asking, ec2) && !add_staying(asking) ? ask_ends(asking, ec2)
									    : -1;

	osp_ec2_close(ec2);
	return rc;
}

/* --- what follows ----------------------------------------------------------------------------- */

/* Returns the start of the reservation that the block has; 0 if it has none. */
static int64_t held_from(const struct asking *asking, const char *id)
{
	for (size_t i = 0; i < asking->held.count; i++)
		if (!strcmp(asking->held.items[i].id, id))
			return asking->held.items[i].from_s;
	return 0;
}

/* Lists the blocks that have a reservation from now on. Returns their number, or -1. */
static int list_ends(struct asking *asking, struct osp_block_end *ends)
{
	int count = 0;

	for (size_t i = 0; i < asking->count; i++) {
		struct block *block = &asking->blocks[i];
		char *nodes;

		if (!block->count || !osp_block_end_lasts(&block->word, (int64_t)time(NULL)))
			continue;
		if (!block->from_s) {
			osp_error_set(&asking->gap, "EC2 does not say when %s ends", block->id);
			block->from_s = held_from(asking, block->id);
		}
		if (!block->from_s)
			continue;
		nodes = osp_hostlist_compact(block->nodes, block->count);
		ends[count] = (struct osp_block_end){
			block->id,
			nodes ? osp_arena_copy(&asking->arena, nodes, strlen(nodes)) : NULL,
			block->from_s};
		free(nodes);
		if (!ends[count++].nodes)
			return -1;
	}
	return count;
}

static int keep(struct asking *asking, struct osp_text *said)
{
	struct osp_block_end *ends = calloc((size_t)asking->count + 1, sizeof(*ends));
	int count = ends ? list_ends(asking, ends) : -1;
	int rc = count < 0 ? no_memory(asking->error)
			   : osp_block_reservations_keep(&asking->held, ends, (size_t)count, said,
							 asking->error);

	free(ends);
	if (asking->gaps.failed_calls)
		rc = osp_error_set(asking->error, "%s", asking->gaps.first.text);
	if (asking->end_gaps.failed_calls)
		rc = osp_error_set(asking->error, "%s", asking->end_gaps.first.text);
	return asking->gap.text[0] ? osp_error_set(asking->error, "%s", asking->gap.text) : rc;
}

/* Names, after a change, the jobs that began before it, and so are not kept out. */
static void report_jobs(struct osp_text *said)
{
	struct osp_error ignored = {.text = ""};
	struct osp_snapshot *snapshot = said->length_bytes ? osp_cluster_state(&ignored) : NULL;

	if (snapshot)
		osp_block_jobs_all(snapshot, said);
	osp_snapshot_free(snapshot);
}

static void clear(struct asking *asking)
{
	for (size_t i = 0; i < asking->count; i++)
		free(asking->blocks[i].nodes);
	free(asking->blocks);
	free(asking->answered);
	osp_block_reservations_free(&asking->held);
	osp_name_table_free(&asking->table);
	osp_arena_free(&asking->arena);
}

int osp_block_ends_keep(const struct osp_topology *topology, const struct osp_node_list *nodes,
			struct osp_text *said, struct osp_error *error)
{
	struct asking asking = {
		.topology = topology, .list = nodes, .error = error, .table = OSP_NAME_TABLE_INIT};
	int rc = -1;

	asking.answered = calloc((size_t)nodes->count + 1, sizeof(*asking.answered));
	if (!asking.answered)
		no_memory(error);
	else if (!osp_block_reservations_load(&asking.held, error) && !ask(&asking))
		rc = keep(&asking, said);
	report_jobs(said);
	clear(&asking);
	return rc;
}

int osp_block_ends_drop(const struct osp_topology *topology, const struct osp_node_list *nodes,
			struct osp_text *said, struct osp_error *error)
{
	struct osp_block_reservations held;
	int rc = osp_block_reservations_load(&held, error);

	(void)topology, (void)nodes;
	if (!rc)
		rc = osp_block_reservations_keep(&held, NULL, 0, said, error);
	osp_block_reservations_free(&held);
	return rc;
}
