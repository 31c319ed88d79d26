/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_why.c - `onespine why`: why a gang waits, where it runs, how it ended */
#include "tools/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"
#include "lib/gate/gate_text.h"
#include "lib/place/parts.h"
#include "lib/policy/sentences.h"
#include "host/slurm/ask.h"
#include "host/slurm/ask_segments.h"
#include "host/slurm/block_jobs.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/gang.h"
#include "host/slurm/in_the_way.h"
#include "tools/command/why_story.h"
#include "tools/command/why_waiting.h"
#include "tools/command/world.h"

#define DOMAINS_SHOWN 5

/* One answer as text and as JSON: each fact is added to the one that is asked for. */
struct why {
	const struct osp_world *world;
	const struct osp_state_job *job;
	struct osp_gang gang;
	bool is_gang;
	struct osp_text text;
	json_t *root;
};

/* --- any job ---------------------------------------------------------------------------------- */

static void add_time(json_t *root, const char *key, int64_t time_s)
{
	if (time_s > 0)
		json_object_set_new(root, key, osp_json_time(time_s));
}

/* Returns whether the job ended while it waited. Slurm then gives it its end as its start. */
static bool never_ran(const struct osp_state_job *job)
{
	return job->phase == OSP_JOB_ENDED && !job->nodes_text;
}

/* Returns whether the job's start and end tell anything: it has begun, or Slurm plans a start that
 * does not rest on the end of a job without a time limit. */
static bool tells_start(const struct why *why)
{
	const struct osp_state_job *job = why->job;

	if (job->phase != OSP_JOB_PENDING)
		return !never_ran(job);
	/* a held job keeps the start of an earlier plan */
	return job->start_s > why->world->snapshot->time_s &&
	       job->start_s < osp_plans_tell_until(why->world->snapshot) &&
	       osp_waiting_kind(job->reason) != OSP_WAITING_HOLD;
}

static void report_job(struct why *why)
{
	const struct osp_state_job *job = why->job;
	json_t *root = why->root;

	osp_text_printf(&why->text, "job %s", job->label);
	if (job->name)
		osp_text_printf(&why->text, " %s", job->name);
	if (job->user)
		osp_text_printf(&why->text, " of %s", job->user);
	osp_text_printf(&why->text, ": %s, %u %s", job->state, job->node_count,
			job->node_count == 1 ? "node" : "nodes");
	if (why->is_gang)
		osp_text_printf(&why->text, ", gang=%s", why->gang.note.gang);
	osp_text_add(&why->text, "\n");
	json_object_set_new(root, "job", osp_json_string(job->label));
	json_object_set_new(root, "name", osp_json_string(job->name));
	json_object_set_new(root, "user", osp_json_string(job->user));
	json_object_set_new(root, "partition", osp_json_string(job->partition));
	json_object_set_new(root, "state", osp_json_string(job->state));
	json_object_set_new(root, "reason", osp_json_string(job->reason));
	json_object_set_new(root, "node_count", json_integer(job->node_count));
	json_object_set_new(root, "gang",
			    osp_json_string(why->is_gang ? why->gang.note.gang : NULL));
	json_object_set_new(root, "advise", json_boolean(why->gang.advise));
	json_object_set_new(root, "says", osp_json_string(why->gang.note.says));
	json_object_set_new(root, "restarts", json_integer(job->restarts));
	add_time(root, "submitted", job->submit_s);
	if (tells_start(why))
		add_time(root, "starts", job->start_s);
	if (tells_start(why) || job->phase != OSP_JOB_PENDING)
		add_time(root, "ends", job->end_s);
}

static void report_end(struct why *why)
{
	const struct osp_state_job *job = why->job;
	char first[32], second[32];

	osp_format_time(job->end_s, second, sizeof(second));
	if (never_ran(job))
		osp_text_printf(&why->text,
				job->restarts ? "  it did not start again; it ended at %s"
					      : "  it never ran; it ended at %s",
				second);
	else
		osp_text_printf(&why->text, "  ran from %s to %s",
				osp_format_time(job->start_s, first, sizeof(first)), second);
}

/* Tells, of a job that runs, into the ends of which Capacity Blocks it may run. */
static void report_block_ends(struct why *why)
{
	json_t *list = json_array();

	if (osp_block_jobs_of(why->world->snapshot, why->job, &why->text, list))
		why->text.failed = true;
	if (json_array_size(list))
		json_object_set(why->root, "block_ends", list);
	json_decref(list);
}

/* Reports since when it waits; of a job that may not begin yet, when it was submitted. */
static void report_wait(struct why *why)
{
	int64_t now_s = why->world->snapshot->time_s, since_s;
	bool waits = osp_gang_may_begin(why->job, now_s, &since_s);
	char since[32], lasted[32];

	osp_format_time(since_s, since, sizeof(since));
	osp_format_duration(now_s - since_s, lasted, sizeof(lasted));
	osp_text_printf(&why->text, waits ? "  waits since %s (%s)" : "  submitted at %s (%s ago)",
			since, lasted);
}

static void report_times(struct why *why)
{
	const struct osp_state_job *job = why->job;
	char first[32];
	char second[32];

	switch (job->phase) {
	case OSP_JOB_PENDING:
		report_wait(why);
		if (tells_start(why))
			osp_text_printf(&why->text, "; Slurm expects it to start at %s",
					osp_format_time(job->start_s, second, sizeof(second)));
		break;
	case OSP_JOB_ENDED:
		report_end(why);
		break;
	default:
		osp_text_printf(&why->text,
				!strcmp(job->state, "CONFIGURING")
					? "  its nodes have been starting since %s; ends %s"
					: "  runs since %s; ends %s",
				osp_format_time(job->start_s, first, sizeof(first)),
				job->end_s ? osp_format_time(job->end_s, second, sizeof(second))
					   : "when it is done: it has no time limit");
	}
	osp_text_add(&why->text, "\n");
	report_block_ends(why);
	if (job->restarts)
		osp_text_printf(&why->text, "  requeued %u %s so far\n", job->restarts,
				job->restarts == 1 ? "time" : "times");
}

static void report_reason(struct why *why)
{
	if (why->job->reason)
		osp_text_printf(&why->text, "  Slurm's reason: %s\n", why->job->reason);
}

/* Tells what the gate found before the job started, gang or not. It stays after the job. */
static void report_gate(struct why *why)
{
	struct osp_note note = {.gang = NULL};

	if (osp_note_find(why->job->admin_comment, &note) && note.gate) {
		osp_text_printf(&why->text, "  gate: %s\n", note.gate);
		json_object_set_new(why->root, "gate", osp_json_string(note.gate));
		json_object_set_new(why->root, "gate_stopped",
				    json_integer(osp_gate_stopped(note.gate).all));
		if (note.log) {
			osp_text_printf(&why->text, "  its log: %s\n", note.log);
			json_object_set_new(why->root, "gate_log", osp_json_string(note.log));
		}
	}
	if (note.suspects) {
		osp_text_printf(&why->text,
				"  kept from this job, since the gate stopped it there: %s\n",
				note.suspects);
		json_object_set_new(why->root, "suspects", osp_json_string(note.suspects));
	}
	osp_note_free_pieces(&note);
}

/* --- a pending gang --------------------------------------------------------------------------- */

/* Says, for a gang with @TIME, when the next level up will do, or that it does. */
static void report_relaxing(struct why *why, uint32_t level)
{
	const struct osp_topology *topology = why->world->topology;
	const struct osp_state_job *job = why->job;
	const struct osp_request *request = &why->gang.request;
	int64_t relaxes_s = osp_gang_waits_since(job) + request->relax_s;
	uint32_t next = osp_topology_relaxed(topology, level);
	const char *will_do = next ? osp_topology_level_name(topology, next) : NULL;
	char when[32], plural[64];

	if (request->relax_s < 0)
		return;
	if (next == level) {
		osp_text_add(&why->text,
			     "  its @TIME changes nothing: several zones never form one gang\n");
		return;
	}
	add_time(why->root, "relaxes", relaxes_s);
	if (relaxes_s <= why->world->snapshot->time_s)
		osp_text_add(&why->text, "  it has waited so long that ");
	else
		osp_text_printf(&why->text, "  from %s on ",
				osp_format_time(relaxes_s, when, sizeof(when)));
	if (will_do && request->domains_max > 1 && next != osp_topology_zone_level(topology))
		osp_text_printf(&why->text, "%u %s will do\n", request->domains_max,
				osp_sentence_plural(will_do, plural, sizeof(plural)));
	else if (will_do)
		osp_text_printf(&why->text, "one %s will do\n", will_do);
	else if (*request->segments)
		osp_text_printf(&why->text, "its segments may lie in any number of %s\n",
				osp_sentence_plural(osp_topology_level_name(topology, level),
						    plural, sizeof(plural)));
	else
		osp_text_add(&why->text, "any nodes will do\n");
}

/* Returns the domain to look into: the first that only lacks free nodes, as in the scheduler's
 * words. */
static const struct osp_place_domain *nearest(const struct osp_fit_answer *answer)
{
	uint32_t i;

	for (i = answer->candidate_count; i < answer->domain_count; i++)
		if (answer->domains[i].reason == OSP_PLACE_NOT_FREE)
			return &answer->domains[i];
	return &answer->domains[0];
}

static int report_domains(struct why *why, const struct osp_story *story)
{
	const struct osp_world *world = why->world;
	const struct osp_fit_answer *answer = &story->nodes;

	json_object_set_new(why->root, "domains", osp_answer_to_json(world, answer, DOMAINS_SHOWN));
	if (!answer->domain_count)
		return 0;
	osp_text_add(&why->text, !story->of_scheduler ? "\n"
				 : answer->partly ? "\nnow, by cores and GPUs that jobs leave:\n"
						  : "\nnow, by nodes that no job uses at all:\n");
	osp_answer_table(world, answer, DOMAINS_SHOWN, &why->text);
	if (story->room)
		return 0;
	if (osp_in_the_way(world, answer, nearest(answer), &why->text, why->root))
		return -1;
	if (why->job->limit_s == UINT32_MAX &&
	    json_array_size(json_object_get(why->root, "reserved_later")))
		osp_text_add(&why->text,
			     "The job has no time limit, so it could always still run "
			     "then: give it one (scontrol update job=.. TimeLimit=..)\n");
	return 0;
}

static int report_where(struct why *why, const struct osp_story *story)
{
	osp_report_old_places(why->world, NULL, why->root);
	json_object_set_new(why->root, "starts_now",
			    json_boolean(story->room && !osp_waiting_elsewhere(story->kind)));
	if (!story->in_parts)
		return report_domains(why, story);
	osp_text_add(&why->text, "\n");
	osp_segments_table(why->world, &story->parts, DOMAINS_SHOWN, &why->text);
	return 0;
}

/* Tells that the job is no gang, and whose part it is that it waits. */
static void report_no_gang(struct why *why, const struct osp_story *story)
{
	if (!story)
		osp_text_add(&why->text, "  no gang\n");
	else if (story->of_component)
		osp_text_add(&why->text, "  no gang alone: the components of its heterogeneous job "
					 "count together\n");
	else
		osp_text_add(&why->text, "  no gang: Onespine has no part in why it waits\n");
}

/* Tells what became of the gang's last launch, if it waits for something else by now. */
static void report_launch_in_vain(struct why *why, const struct osp_story *story)
{
	const char *says = why->is_gang ? why->gang.note.says : NULL;

	if (says && !strncmp(says, OSP_SENTENCE_IN_VAIN, strlen(OSP_SENTENCE_IN_VAIN)) &&
	    strcmp(says, story->words) != 0)
		osp_text_printf(&why->text, "  %s\n", says);
}

/* Tells which of several partitions the sentence about its nodes is of. */
static void report_partition(struct why *why, const struct osp_story *story)
{
	if (!story->looked || !*story->partition || osp_waiting_elsewhere(story->kind))
		return;
	json_object_set_new(why->root, "in_partition", osp_json_string(story->partition));
	osp_text_printf(&why->text, "  in partition %s%s\n", story->partition,
			story->room	       ? ""
			: story->others_looked ? "; the others have no room now either"
					       : "; each other is down or has no room now either");
}

/* Tells that AdminComment, which the user may have read, is of an earlier look than this answer. */
static void report_older_note(struct why *why, const struct osp_story *story)
{
	char when[32];

	if (!story->note_is_older)
		return;
	add_time(why->root, "note_by", why->job->evaluated_s);
	if (why->job->evaluated_s)
		osp_text_printf(&why->text,
				"  its AdminComment is older: Slurm last looked at the job at %s\n",
				osp_format_time(why->job->evaluated_s, when, sizeof(when)));
	else
		osp_text_add(&why->text, "  its AdminComment is older\n");
}

static int report_story(struct why *why, const struct osp_story *story)
{
	if (!why->is_gang)
		report_no_gang(why, story);
	json_object_set_new(why->root, "waits_for",
			    json_string(osp_waiting_kind_name(story->kind)));
	json_object_set_new(why->root, "because",
			    *story->words ? osp_json_string(story->words) : json_null());
	if (*story->words)
		osp_text_printf(&why->text, "  %s\n", story->words);
	report_partition(why, story);
	report_older_note(why, story);
	report_launch_in_vain(why, story);
	if (why->gang.advise)
		osp_text_add(
			&why->text,
			"  its partition is in advise mode: it starts where Slurm places it, on "
			"one domain or not\n");
	report_reason(why);
	report_times(why);
	if (osp_not_launched(why->world, why->job->partition, &why->text, why->root))
		return -1;
	if (story->level > 0)
		report_relaxing(why, (uint32_t)story->level);
	if (why->is_gang && !why->world->topology)
		osp_text_add(&why->text, "  no topology is in force here, so nothing is said of "
					 "its nodes\n");
	if (!story->looked && why->job->extra)
		json_object_set_new(why->root, "starts_now", json_false());
	return story->looked ? report_where(why, story) : 0;
}

static int report_pending(struct why *why, struct osp_error *error)
{
	struct osp_story story;
	int result;

	result =
		osp_story_of(why->world, why->job, why->is_gang ? &why->gang : NULL, &story, error);
	if (result == 0 && report_story(why, &story) < 0)
		result = osp_error_set(error, "out of memory");
	osp_story_clear(&story);
	return result;
}

/* --- one that has run ------------------------------------------------------------------------- */

static int report_leaves(struct why *why, struct osp_error *error)
{
	struct osp_nodeset *set = osp_nodeset_new(why->world->snapshot->node_count);
	uint32_t i;
	bool good;

	if (!set)
		return osp_error_set(error, "out of memory");
	for (i = 0; i < why->job->nodes_known; i++)
		osp_nodeset_add(set, why->job->nodes[i]);
	good = osp_leaves_text(why->world, set, &why->text);
	json_object_set_new(why->root, "leaves", osp_leaves_to_json(why->world, set));
	free(set);
	return good ? 0 : osp_error_set(error, "out of memory");
}

/* Tells where a gang in segments or in several domains is, and whether its nodes keep what it asked
 * for. */
static int report_parts_placed(struct why *why, int due, struct osp_error *error)
{
	const struct osp_world *world = why->world;
	bool kept;

	if (osp_gang_parts_kept(world->snapshot, world->topology, why->job, &why->gang, due,
				&kept) < 0)
		return osp_error_set(error, "out of memory");
	json_object_set_new(why->root, "kept", json_boolean(kept));
	osp_text_add(&why->text, kept ? "  its nodes keep what it asked for:\n"
				 : why->gang.advise
					 ? "  its nodes are not as it asked for, since its "
					   "partition is in advise mode:\n"
					 : "  its nodes break what it asked for:\n");
	return report_leaves(why, error);
}

/* Says whether that is a violation: in advise mode it is none, as for audit. */
static const char *breaks(const struct why *why)
{
	return why->gang.advise ? " (its partition is in advise mode)"
				: ": that breaks what it asked for";
}

static int report_placed(struct why *why, struct osp_error *error)
{
	const struct osp_topology *topology = why->world->topology;
	struct osp_whereabouts where;
	int due;
	bool kept;

	if (why->gang.note.says)
		osp_text_printf(&why->text, "  %s%s\n",
				never_ran(why->job) ? "the scheduler's last word: " : "",
				why->gang.note.says);
	report_reason(why);
	report_times(why);
	if (!why->job->nodes_known || !topology)
		return 0;
	due = osp_gang_level_due(topology, why->job, &why->gang);
	if (osp_gang_find(why->world->snapshot, topology, why->job, &where) < 0)
		return osp_error_set(error, "out of memory");
	kept = osp_gang_kept(due, &where);
	osp_gang_look_beside(due, &where);
	if (osp_gang_in_parts(&why->gang))
		return report_parts_placed(why, due, error);
	if (!kept && osp_gang_is_launched(why->job, &why->gang)) {
		json_object_set_new(why->root, "in_one_domain", json_null());
		return 0; /* asked when its nodes run */
	}
	json_object_set_new(why->root, "in_one_domain", json_boolean(kept));
	if (where.domain != OSP_NO_DOMAIN) {
		const char *level = osp_topology_level_name(topology, (uint32_t)where.level);
		const char *domain = osp_topology_domain(topology, where.domain)->name;
		bool beside = due > 0 && osp_topology_is_overlay(topology, (uint32_t)due);

		osp_text_printf(&why->text, "  all its nodes are on %s %s%s%s:\n", level, domain,
				kept	 ? ""
				: beside ? ", and on no common domain of what it asked for"
					 : ", and on nothing lower",
				kept ? "" : breaks(why));
		json_object_set_new(why->root, "level", osp_json_string(level));
		json_object_set_new(why->root, "domain", osp_json_string(domain));
	} else if (!kept) {
		osp_text_printf(&why->text, "  its nodes are in no common domain%s\n", breaks(why));
	}
	return report_leaves(why, error);
}

/* --- the command ------------------------------------------------------------------------------ */

static int no_such_job(const struct osp_call *call)
{
	const char *label = call->arguments[0];
	char words[128];
	json_t *root;

	if (call->values[OSP_OPTION_JSON]) {
		root = json_object();
		json_object_set_new(root, "job", osp_json_string(label));
		json_object_set_new(root, "known", json_false());
		return osp_print_json(root, OSP_EXIT_NO);
	}
	osp_copy_clean(words, sizeof(words), label);
	printf("job %s: slurmctld does not know it: never submitted, ended a while ago (sacct -j "
	       "%s "
	       "may tell), or not yours to see\n",
	       words, words);
	return OSP_EXIT_NO;
}

static int report(struct why *why, struct osp_error *error)
{
	bool pending = why->job->phase == OSP_JOB_PENDING;

	report_job(why);
	report_gate(why);
	if (!why->is_gang && !pending)
		report_no_gang(why, NULL);
	if (pending)
		return report_pending(why, error);
	if (why->is_gang)
		return report_placed(why, error);
	report_reason(why);
	report_times(why);
	return 0;
}

static int answer(const struct osp_call *call, struct osp_world *world)
{
	struct osp_state_job *job = osp_snapshot_find_job(world->snapshot, call->arguments[0]);
	struct osp_error error = {.text = ""};
	struct why why = {.job = job};
	struct osp_launchable launchable;
	struct osp_world seen;
	int status = OSP_EXIT_YES, rc;

	if (!job)
		return no_such_job(call);
	if (world->from_slurm && osp_cluster_job_reason(world->snapshot, job, &error) < 0)
		return osp_say_error(&error);
	why.is_gang = osp_gang_of(job, &why.gang);
	launchable = osp_gang_launchable(job, why.is_gang ? &why.gang : NULL);
	seen = osp_world_for(world, job->partition, &launchable);
	why.world = &seen;
	why.root = json_object();
	rc = report(&why, &error);
	osp_report_kept_places(call, &seen, &why.text, why.root);
	if (rc < 0)
		status = osp_say_error(&error);
	else if (call->values[OSP_OPTION_JSON])
		status = osp_print_json(json_incref(why.root), status);
	else
		status = osp_print_text(&why.text, status);
	osp_text_free(&why.text);
	json_decref(why.root);
	if (why.is_gang)
		osp_gang_clear(&why.gang);
	return status;
}

int osp_run_why(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct osp_world world;
	int status;

	if (call->argument_count && osp_check_job_word(call->arguments[0], &error))
		return osp_say_error(&error);
	if (osp_call_world_without_topology(call, &world, &error) < 0)
		status = osp_say_error(&error);
	else if (!call->argument_count)
		status = osp_why_waiting(call, &world);
	else
		status = answer(call, &world);
	osp_world_close(&world);
	return status;
}
