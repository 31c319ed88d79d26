/* SPDX-License-Identifier: GPL-2.0-or-later */
/* world.c - what a command looks at: --state, --topology and --free, or else Slurm */
#include "tools/command/world.h"

#include <string.h>

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

void osp_report_old_places(const struct osp_world *world, struct osp_text *text, json_t *root)
{
	char words[OSP_SENTENCE_BYTES];

	if (!world->old_places)
		return;
	if (text)
		osp_text_printf(text, "%s\n",
				osp_sentence_old_places(world->old_places, words, sizeof(words)));
	if (root)
		json_object_set_new(root, "old_places", json_integer(world->old_places));
}

/* Returns whether one of the job's partitions is among `partitions`. */
static bool is_in(const struct osp_state_job *job, const char *partitions)
{
	char name[256];
	size_t length;

	if (!partitions || !job->partition)
		return true;
	for (const char *next = job->partition; *next; next += length + (next[length] == ',')) {
		length = strcspn(next, ",");
		if (length >= sizeof(name))
			continue;
		memcpy(name, next, length);
		name[length] = '\0';
		if (osp_slurm_list_has(partitions, name, NULL, 0))
			return true;
	}
	return false;
}

void osp_report_queue(const struct osp_world *world, const char *partitions, struct osp_text *text,
		      json_t *root)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < world->snapshot->job_count; i++) {
		const struct osp_state_job *job = &world->snapshot->jobs[i];

		count += job->phase == OSP_JOB_PENDING &&
			 !osp_waiting_elsewhere(osp_waiting_kind(job->reason)) &&
			 is_in(job, partitions);
	}
	if (count && text)
		osp_text_printf(
			text,
			"  %u job%s in its partition: any with a higher priority comes first\n",
			count, count == 1 ? " waits" : "s wait");
	if (count && root)
		json_object_set_new(root, "jobs_waiting", json_integer(count));
}
