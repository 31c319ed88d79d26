/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why_waiting.c - `onespine why` without a job: each waiting job in a line */
#include "tools/command/why_waiting.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/output.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/gang.h"
#include "tools/command/why_story.h"

#define JOBS_SHOWN 100 /* slurmctld is asked for the reason of each job */
#define ERRORS_MOST                                                                                \
	3 /* a job may be gone by then; a slurmctld that fails so often is not asked again */

/* Whose jobs are shown. */
struct asker {
	bool all;
	char name[256];
	unsigned int errors;
};

/* Finds the caller's name. A user without a name has jobs under the number. */
static void find_asker(struct asker *asker)
{
	uid_t uid = geteuid();
	const struct passwd *entry = getpwuid(uid);

	memset(asker, 0, sizeof(*asker));
	asker->all = uid == 0;
	if (entry)
		snprintf(asker->name, sizeof(asker->name), "%s", entry->pw_name);
	else
		snprintf(asker->name, sizeof(asker->name), "%u", (unsigned int)uid);
}

static bool is_wanted(const struct asker *asker, const struct osp_state_job *job)
{
	return job->phase == OSP_JOB_PENDING &&
	       (asker->all || (job->user && strcmp(job->user, asker->name) == 0));
}

static void add_line(struct osp_text *text, const struct osp_world *world,
		     const struct osp_state_job *job, const struct asker *asker,
		     const struct osp_gang *gang, const struct osp_story *story)
{
	int64_t now_s = world->snapshot->time_s, since_s;
	bool waits = osp_gang_may_begin(job, now_s, &since_s);
	char lasted[32];

	osp_text_printf(text, "%s", job->label);
	if (job->name)
		osp_text_printf(text, " %s", job->name);
	if (asker->all && job->user)
		osp_text_printf(text, " of %s", job->user);
	osp_text_printf(text, ", %u %s", job->node_count, job->node_count == 1 ? "node" : "nodes");
	if (gang)
		osp_text_printf(text, ", gang=%s", gang->note.gang);
	osp_text_printf(text, waits ? ", %s: " : ", submitted %s ago: ",
			osp_format_duration(now_s - since_s, lasted, sizeof(lasted)));
	if (*story->words)
		osp_text_printf(text, "%s\n", story->words);
	else
		osp_text_printf(text, "Slurm's reason: %s\n",
				job->reason ? job->reason : "not known");
}

static json_t *to_json(const struct osp_world *world, const struct osp_state_job *job,
		       const struct osp_gang *gang, const struct osp_story *story)
{
	json_t *object = json_object();
	int64_t since_s;

	json_object_set_new(object, "job", osp_json_string(job->label));
	json_object_set_new(object, "name", osp_json_string(job->name));
	json_object_set_new(object, "user", osp_json_string(job->user));
	json_object_set_new(object, "partition", osp_json_string(job->partition));
	json_object_set_new(object, "node_count", json_integer(job->node_count));
	json_object_set_new(object, "reason", osp_json_string(job->reason));
	json_object_set_new(object, "gang", osp_json_string(gang ? gang->note.gang : NULL));
	json_object_set_new(object, "says", osp_json_string(gang ? gang->note.says : NULL));
	json_object_set_new(object, "waits_for", json_string(osp_waiting_kind_name(story->kind)));
	json_object_set_new(object, "because",
			    *story->words ? osp_json_string(story->words) : json_null());
	json_object_set_new(object, "waits_since_s",
			    osp_gang_may_begin(job, world->snapshot->time_s, &since_s)
				    ? json_integer(since_s)
				    : json_null());
	return object;
}

static int add_job(const struct osp_world *world, struct osp_state_job *job, struct asker *asker,
		   struct osp_text *text, json_t *list, struct osp_error *error)
{
	struct osp_error ignored = {.text = ""};
	struct osp_story story;
	struct osp_gang gang;
	bool is_gang;

	if (world->from_slurm && osp_cluster_job_reason(world->snapshot, job, error) < 0 &&
	    ++asker->errors == ERRORS_MOST)
		return -1;
	is_gang = osp_gang_of(job, &gang);
	/* If the nodes cannot be looked for, Slurm's own words remain. */
	osp_story_of(world, job, is_gang ? &gang : NULL, &story, &ignored);
	add_line(text, world, job, asker, is_gang ? &gang : NULL, &story);
	json_array_append_new(list, to_json(world, job, is_gang ? &gang : NULL, &story));
	osp_story_clear(&story);
	if (is_gang)
		osp_gang_clear(&gang);
	return 0;
}

static int add_jobs(const struct osp_world *world, struct asker *asker, struct osp_text *text,
		    json_t *list, struct osp_error *error)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < world->snapshot->job_count; i++) {
		struct osp_state_job *job = &world->snapshot->jobs[i];

		if (!is_wanted(asker, job) || found++ >= JOBS_SHOWN)
			continue;
		if (add_job(world, job, asker, text, list, error) < 0)
			return -1;
	}
	if (found > JOBS_SHOWN)
		osp_text_printf(text, "and %u more: onespine why JOB\n", found - JOBS_SHOWN);
	if (!found && asker->all)
		osp_text_add(text, "no job waits\n");
	else if (!found)
		osp_text_printf(text, "no job of %s waits\n", asker->name);
	return 0;
}

int osp_why_waiting(const struct osp_call *call, struct osp_world *world)
{
	struct osp_error error = {.text = ""};
	struct osp_text text = OSP_TEXT_INIT;
	json_t *list = json_array();
	struct asker asker;
	int status;

	find_asker(&asker);
	if (add_jobs(world, &asker, &text, list, &error) < 0)
		status = osp_say_error(&error);
	else if (call->values[OSP_OPTION_JSON])
		status = osp_print_json(json_incref(list), OSP_EXIT_YES);
	else
		status = osp_print_text(&text, OSP_EXIT_YES);
	osp_text_free(&text);
	json_decref(list);
	return status;
}
