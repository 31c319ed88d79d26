/* SPDX-License-Identifier: GPL-2.0-or-later */
/* world.c - what a command looks at: --state, --topology and --free, or else Slurm */
#include "tools/command/world.h"

#include <stdlib.h>
#include <string.h>

#include "host/output.h"
#include "host/slurm/ask.h"
#include "host/source/apply.h"
#include "lib/conf/slurm_conf.h"
#include "lib/policy/sentences.h"
#include "lib/policy/waiting.h"

static int open_world(const struct osp_call *call, bool may_lack, struct osp_world *world,
		      struct osp_error *error)
{
	const struct osp_world_files files = {
		.state = call->values[OSP_OPTION_STATE],
		.topology = call->values[OSP_OPTION_TOPOLOGY],
		.free_list = call->values[OSP_OPTION_FREE],
		.may_lack_topology = may_lack,
	};

	return osp_world_open(&files, world, error);
}

int osp_call_world(const struct osp_call *call, struct osp_world *world, struct osp_error *error)
{
	return open_world(call, false, world, error);
}

int osp_call_world_without_topology(const struct osp_call *call, struct osp_world *world,
				    struct osp_error *error)
{
	return open_world(call, true, world, error);
}

/* Says why no nodes are launched for gangs, where the policy would. */
static void report_unasked(const struct osp_world *world, struct osp_text *text, json_t *root)
{
	char words[OSP_SENTENCE_BYTES];

	if (!world->unasked[0] || !world->config || !osp_config_launches(world->config))
		return;
	if (text)
		osp_text_printf(text, "%s\n",
				osp_sentence_unasked(world->unasked, words, sizeof(words)));
	if (root)
		json_object_set_new(root, "unasked", osp_json_string(world->unasked));
}

void osp_report_old_places(const struct osp_world *world, struct osp_text *text, json_t *root)
{
	char words[OSP_SENTENCE_BYTES];

	report_unasked(world, text, root);
	if (!world->old_places)
		return;
	if (text)
		osp_text_printf(text, "%s\n",
				osp_sentence_old_places(world->old_places, words, sizeof(words)));
	if (root)
		json_object_set_new(root, "old_places", json_integer(world->old_places));
}

void osp_report_kept_places(const struct osp_call *call, const struct osp_world *world,
			    struct osp_text *text, json_t *root)
{
	const char *named = call->values[OSP_OPTION_TOPOLOGY];
	struct osp_error ignored = {.text = ""};
	char *path = named ? strdup(named) : osp_topology_path(&ignored), when[32];
	char *nodes = NULL;
	int64_t oldest_s = 0;

	if (path && world->topology && world->from_slurm)
		nodes = osp_apply_list_kept(path, world->topology, &oldest_s);
	if (nodes && text && oldest_s)
		osp_text_printf(text,
				"%s: places since %s or later: EC2's calls about them have failed "
				"since\n",
				nodes, osp_format_time(oldest_s, when, sizeof(when)));
	else if (nodes && text)
		osp_text_printf(text,
				"%s: places of unknown age: EC2's calls about them have failed "
				"since\n",
				nodes);
	if (nodes && root) {
		json_t *object = json_object();

		json_object_set_new(object, "nodes", osp_json_string(nodes));
		json_object_set_new(object, "asked",
				    oldest_s ? osp_json_time(oldest_s) : json_null());
		json_object_set_new(root, "kept_places", object);
	}
	free(nodes);
	free(path);
}

/* The partitions for whose nodes jobs wait before or behind those of others. */
struct queue {
	const struct osp_snapshot *snapshot;
	const char *partitions; /* with commas; NULL: any */
	bool *shares;		/* by the number of the snapshot's partition */
};

/* Notes the partitions that have nodes of queue->partitions. Returns false if memory ran out. */
static bool find_sharing(const struct osp_world *world, struct queue *queue)
{
	const struct osp_snapshot *snapshot = queue->snapshot;
	struct osp_nodeset *asked = osp_nodeset_new(snapshot->node_count);
	struct osp_nodeset *others = osp_nodeset_new(snapshot->node_count);
	struct osp_error ignored = {.text = ""};

	queue->shares = calloc((size_t)snapshot->partition_count + 1, sizeof(*queue->shares));
	if (asked && queue->partitions)
		osp_ask_add_partitions(world, queue->partitions, asked, &ignored);
	for (uint32_t i = 0; asked && others && queue->shares && i < snapshot->partition_count;
	     i++) {
		const struct osp_state_partition *partition = &snapshot->partitions[i];

		osp_nodeset_clear(others);
		osp_snapshot_add_hostlist(snapshot, partition->nodes_text, false, partition->name,
					  others, &ignored);
		queue->shares[i] = osp_nodeset_overlap(others, asked);
	}
	free(others);
	free(asked);
	return asked && others && queue->shares;
}

/* Returns whether a partition has nodes of those asked about. Of one that is not known, only the
 * name counts. */
static bool is_sharing(const struct queue *queue, const char *name)
{
	const struct osp_state_partition *found =
		osp_snapshot_find_partition(queue->snapshot, name);

	return (found && queue->shares[found - queue->snapshot->partitions]) ||
	       osp_slurm_list_has(queue->partitions, name, NULL, 0);
}

/* Returns whether one of the job's partitions has nodes of those asked about. */
static bool is_in(const struct queue *queue, const struct osp_state_job *job)
{
	char name[256];
	size_t length;

	if (!queue->partitions || !job->partition)
		return true;
	for (const char *next = job->partition; *next; next += length + (next[length] == ',')) {
		length = strcspn(next, ",");
		if (length >= sizeof(name))
			continue;
		memcpy(name, next, length);
		name[length] = '\0';
		if (is_sharing(queue, name))
			return true;
	}
	return false;
}

/* Returns whether both are components of one heterogeneous job. */
static bool is_same_het(const struct osp_state_job *job, const struct osp_state_job *other)
{
	size_t bytes = strcspn(job->label, "+");

	return job->label[bytes] && !strncmp(job->label, other->label, bytes + 1);
}

/* Counts the jobs that wait for these nodes or for their turn: an array's tasks each, and a
 * heterogeneous job once. Slurm lists the components of one together. */
static uint32_t count_waiting(const struct queue *queue)
{
	const struct osp_state_job *last = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < queue->snapshot->job_count; i++) {
		const struct osp_state_job *job = &queue->snapshot->jobs[i];

		if (job->phase != OSP_JOB_PENDING ||
		    osp_waiting_elsewhere(osp_waiting_kind(job->reason)) || !is_in(queue, job))
			continue;
		if (!last || !is_same_het(job, last))
			count += job->tasks ? job->tasks : 1;
		last = job;
	}
	return count;
}

void osp_report_queue(const struct osp_world *world, const char *partitions, struct osp_text *text,
		      json_t *root)
{
	struct queue queue = {.snapshot = world->snapshot, .partitions = partitions};
	uint32_t count = 0;

	if (find_sharing(world, &queue))
		count = count_waiting(&queue);
	else if (text)
		text->failed = true;
	if (count && text)
		osp_text_printf(text,
				"  %u job%s for its partition's nodes: those of a higher priority "
				"or PriorityTier come first, unless backfill finds it room before "
				"them\n",
				count, count == 1 ? " waits" : "s wait");
	if (world->snapshot->hides_jobs && text)
		osp_text_add(text,
			     "  PrivateData=jobs: others' jobs that wait are counted only if you "
			     "are an operator, and may come first, too\n");
	if (root)
		json_object_set_new(root, "jobs_waiting",
				    world->snapshot->hides_jobs ? json_null()
								: json_integer(count));
	free(queue.shares);
}
