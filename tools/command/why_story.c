/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why_story.c - the one sentence that says why a job waits */
#include "tools/command/why_story.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/place/parts.h"
#include "lib/policy/promise.h"
#include "lib/policy/sentences.h"
#include "host/output.h"

#define WAITS "waits: "

static void say(struct osp_story *story, const char *words)
{
	snprintf(story->words, sizeof(story->words), "%s", words ? words : "");
}

static bool begins_with(const char *text, const char *start)
{
	return text && !strncmp(text, start, strlen(start));
}

/* --- what Slurm says -------------------------------------------------------------------------- */

static bool is_component(const struct osp_state_job *job)
{
	return strchr(job->label, '+') != NULL;
}

/*
 * Returns whether Slurm put a component back because another did not start: it may then begin
 * later, though Slurm has looked before whether it can start. Slurm does not look at one with
 * --begin.
 */
static bool is_put_back(const struct osp_state_job *job)
{
	return is_component(job) && !job->restarts && job->evaluated_s > job->submit_s;
}

static void report_kind(const struct osp_state_job *job, struct osp_story *story)
{
	char begin[32];
	const struct osp_waiting waiting = {
		.job = job->label,
		.reason = job->reason,
		.begin = job->eligible_s ? osp_format_time(job->eligible_s, begin, sizeof(begin))
					 : NULL,
		.dependency = job->dependency,
		.licenses = job->licenses,
		.reservation = job->reservation,
		.features = job->features,
		.extra = job->extra,
		.required = job->required_nodes,
		.partition = job->partition,
		.requeued = job->restarts,
		.put_back = is_put_back(job),
	};

	story->kind = osp_waiting_kind(job->reason);
	osp_waiting_words(&waiting, story->words, sizeof(story->words));
}

/* --- what its nodes are now ------------------------------------------------------------------- */

/* Returns the level that will do now: the next one up once the job has waited for its @TIME. */
static uint32_t find_level_now(const struct osp_world *world, const struct osp_state_job *job,
			       const struct osp_gang *gang, uint32_t level)
{
	int64_t relaxes_s = osp_gang_waits_since(job) + gang->request.relax_s;

	if (gang->request.relax_s < 0 || relaxes_s > world->snapshot->time_s)
		return level;
	return osp_topology_relaxed(world->topology, level);
}

static int ask_nodes(const struct osp_world *world, const struct osp_state_job *job,
		     const struct osp_gang *gang, const char *name, struct osp_story *story,
		     struct osp_error *error)
{
	const struct osp_state_partition *partition =
		osp_snapshot_find_partition(world->snapshot, name);
	struct osp_policy policy = osp_policy_of_list(world->config, name, world->topology);
	struct osp_fit_question question = {
		.partitions = name,
		.required_nodes = job->required_nodes,
		.excluded_nodes = job->excluded_nodes,
		.features = job->features,
		.need_nodes = job->node_count ? job->node_count : 1,
		.want_nodes = job->node_most > job->node_count ? job->node_most : job->node_count,
		.reservation = job->reservation,
		.limit_s = job->limit_s,
		.mix_kinds = policy.mix_kinds,
		.shares = !job->whole_nodes,
		.cpus = job->cpus,
		.gpus = job->gpus,
		.memory_mib = partition && partition->counts_memory ? job->memory_mib : 0,
	};

	story->level = osp_ask_level(
		world, *gang->request.level ? gang->request.level : policy.level, error);
	if (story->level < 0)
		return -1;
	story->level_now = find_level_now(world, job, gang, (uint32_t)story->level);
	if (!story->level_now && !*gang->request.segments)
		return 0;
	question.level = story->level_now ? story->level_now : (uint32_t)story->level;
	if (question.want_nodes < question.need_nodes)
		question.want_nodes = question.need_nodes;
	story->looked = true;
	return osp_ask(world, &question, &story->nodes, error);
}

static int ask_parts(const struct osp_world *world, const struct osp_gang *gang,
		     struct osp_story *story, struct osp_error *error)
{
	const struct osp_request *request = &gang->request;
	uint32_t level = (uint32_t)story->level;
	struct osp_parts parts;

	story->in_parts = true;
	if (osp_parts_read(request->domains_max, request->segments, world->all_places, level,
			   &parts, error))
		return -1;
	if (story->level_now != (uint32_t)story->level)
		osp_parts_relax(&parts, world->topology, &level);
	return osp_ask_segments(world, &story->nodes, parts.domains_max, &parts.segments,
				&story->parts, error);
}

/* Asks about the nodes of one of its partitions. */
static int ask_partition(const struct osp_world *world, const struct osp_state_job *job,
			 const struct osp_gang *gang, const char *name, struct osp_story *story,
			 struct osp_error *error)
{
	if (ask_nodes(world, job, gang, name, story, error) < 0)
		return -1;
	if (!story->looked)
		return 0;
	if (osp_gang_in_parts(gang) && ask_parts(world, gang, story, error) < 0)
		return -1;
	story->room =
		story->in_parts ? story->parts.now.fits : !osp_nodeset_empty(story->nodes.chosen);
	return 0;
}

static void room_words(const struct osp_world *world, const struct osp_story *story, char *buffer,
		       size_t buffer_bytes)
{
	if (story->in_parts)
		snprintf(buffer, buffer_bytes, "its nodes are free now: it waits for its turn");
	else
		snprintf(
			buffer, buffer_bytes, "%s %s has room for it now: it waits for its turn",
			osp_topology_level_name(world->topology, story->nodes.input.level),
			osp_topology_domain(world->topology, story->nodes.domains[0].domain)->name);
}

static void fresh_words(const struct osp_world *world, const struct osp_story *story, char *buffer,
			size_t buffer_bytes)
{
	const struct osp_fit_answer *nodes = &story->nodes;
	const struct osp_sentence_asked asked = {.features = nodes->features};

	if (story->in_parts)
		osp_sentence_segments_wait(world->topology, &story->parts.input, NULL,
					   &story->parts.now, story->parts.ever, buffer,
					   buffer_bytes);
	else
		osp_sentence_waits(world->topology, &nodes->input, &asked, nodes->domains,
				   nodes->candidate_count, nodes->domain_count, buffer,
				   buffer_bytes);
}

/* --- of several partitions -------------------------------------------------------------------- */

/* Returns by how many nodes or segments the gang is short where it is nearest; UINT32_MAX: no
 * domain could hold it. */
static uint32_t short_by(const struct osp_story *story)
{
	const struct osp_fit_answer *nodes = &story->nodes;

	if (story->in_parts)
		return !story->parts.ever ? UINT32_MAX
		       : story->parts.now.whole_needed > story->parts.now.whole_offered
			       ? story->parts.now.whole_needed - story->parts.now.whole_offered
			       : 0;
	for (uint32_t i = nodes->candidate_count; i < nodes->domain_count; i++)
		if (nodes->domains[i].reason == OSP_PLACE_NOT_FREE)
			return nodes->domains[i].short_nodes;
	return UINT32_MAX;
}

/* Returns whether the answer of a partition is the better one: it has room, or what the scheduler
 * wrote is of it, or the gang is nearer there. */
static bool is_better(const struct osp_world *world, const char *note, const struct osp_story *one,
		      const struct osp_story *other)
{
	char words[OSP_SENTENCE_BYTES], others[OSP_SENTENCE_BYTES];
	bool noted, other_noted;

	if (one->room != other->room || one->room)
		return one->room && !other->room;
	fresh_words(world, one, words, sizeof(words));
	fresh_words(world, other, others, sizeof(others));
	noted = begins_with(note, words);
	other_noted = begins_with(note, others);
	return noted != other_noted ? noted : short_by(one) < short_by(other);
}

static bool starts_jobs(const struct osp_world *world, const char *name)
{
	const struct osp_state_partition *partition =
		osp_snapshot_find_partition(world->snapshot, name);

	return partition && partition->up;
}

/* Asks about the nodes of each partition that starts jobs, or of the last if none does: the job
 * gets nodes of one. Keeps the best answer. */
static int ask_partitions(const struct osp_world *world, const struct osp_state_job *job,
			  const struct osp_gang *gang, struct osp_story *story,
			  struct osp_error *error)
{
	char *names = strdup(job->partition), *rest = names, *name;
	const struct osp_story nothing = *story;
	int result = names ? 0 : osp_error_set(error, "out of memory");
	bool any = false, all = true;

	while (result == 0 && (name = strsep(&rest, ","))) {
		struct osp_story one = nothing;

		if (!starts_jobs(world, name) && (any || rest)) {
			all = false;
			continue;
		}
		result = ask_partition(world, job, gang, name, &one, error);
		snprintf(one.partition, sizeof(one.partition), "%s", name);
		if (result == 0 && (!any || is_better(world, gang->note.says, &one, story))) {
			osp_story_clear(story);
			*story = one;
		} else {
			osp_story_clear(&one);
		}
		any = true;
	}
	story->others_looked = all;
	free(names);
	return result;
}

/* --- one of the three ------------------------------------------------------------------------- */

/* Returns whether a sentence begins with a number of nodes. Others name a cause that cannot be seen
 * here, such as a stored request that this release does not know. */
static bool counts_nodes(const char *note)
{
	return begins_with(note, WAITS) && isdigit((unsigned char)note[strlen(WAITS)]);
}

/* Returns whether two such sentences are about the same request: "waits: 4 nodes on one spine". */
static bool asks_alike(const char *note, const char *fresh)
{
	size_t length = strcspn(note, ";");

	return length == strcspn(fresh, ";") && !strncmp(note, fresh, length);
}

/*
 * Tells about the nodes. The scheduler's sentence is used if it counted what cannot be counted
 * here: what is left of nodes that jobs share, as far as a file or Slurm does not say it, places
 * and launches. Otherwise nodes may have come or gone since, so the present state of the nodes is
 * reported, and what the note adds to the same sentence.
 */
static void report_nodes(const struct osp_world *world, const struct osp_state_job *job,
			 const char *note, struct osp_story *story)
{
	char fresh[OSP_SENTENCE_BYTES];

	fresh_words(world, story, fresh, sizeof(fresh));
	if (story->level_now != (uint32_t)story->level && counts_nodes(note) &&
	    !asks_alike(note, fresh))
		note = NULL; /* written before the next level up would do */
	if (note &&
	    (!counts_nodes(note) ||
	     (!job->whole_nodes && (story->room ? story->nodes.partly : !world->from_slurm)))) {
		say(story, note);
		story->of_scheduler = story->room || !begins_with(note, fresh);
		return;
	}
	if (story->room) {
		room_words(world, story, fresh, sizeof(fresh));
		snprintf(story->words, sizeof(story->words), "%s%s", fresh,
			 story->kind == OSP_WAITING_TURN
				 ? ", jobs with a higher priority come first"
				 : "");
		return;
	}
	say(story, begins_with(note, fresh) ? note : fresh);
}

/* Tells about a gang for which any nodes will do because @TIME has passed. The scheduler no longer
 * looks for a domain, so what it wrote about one is old. */
static void report_any_nodes(const struct osp_state_job *job, struct osp_story *story)
{
	char words[OSP_SENTENCE_BYTES];

	osp_sentence_anywhere(job->node_count, words, sizeof(words));
	snprintf(story->words, sizeof(story->words), "%s%s", words,
		 story->kind == OSP_WAITING_TURN ? "; jobs with a higher priority come first" : "");
}

/* Tells about a gang with --extra: which nodes fit it only the scheduler knows. */
static void report_of_extra(const struct osp_state_job *job, const char *note,
			    struct osp_story *story)
{
	if (note)
		say(story, note);
	else
		snprintf(story->words, sizeof(story->words),
			 "waits: for nodes whose Extra fits --extra=%.200s", job->extra);
}

static bool names_nodes(const struct osp_state_job *job)
{
	return job->required_nodes && *job->required_nodes;
}

/* Returns whether Slurm says ReqNodeNotAvail of a job that names no nodes because too few are up:
 * then the sentence about its nodes says which a gang lacks. Of one that has room Slurm says so
 * because of a reservation that comes, or because the scheduler refused it for what the note has:
 * of a component, and in 23.11 of any gang. */
static bool lacks_nodes(const struct osp_state_job *job, const struct osp_gang *gang,
			const struct osp_story *story)
{
	const char *note = gang->note.says;

	if (story->kind != OSP_WAITING_REQUIRED || names_nodes(job) || gang->advise)
		return false;
	if (begins_with(note, WAITS) && !counts_nodes(note))
		return true;
	return story->looked && !story->room;
}

/* Returns whether Slurm says of a job with --extra that no nodes fit it, and the scheduler counted
 * those that do: Slurm has these words also if some fit, and never holds the job for it. */
static bool lacks_extra(const struct osp_state_job *job, const struct osp_gang *gang,
			const struct osp_story *story)
{
	const char *note = gang->note.says;

	return story->kind == OSP_WAITING_CONSTRAINT && job->extra && !gang->advise &&
	       counts_nodes(note) && strstr(note, "--extra=");
}

/* Tells what concerns the job alone. */
static int own_story_of(const struct osp_world *all, const struct osp_state_job *job,
			const struct osp_gang *gang, struct osp_story *story,
			struct osp_error *error)
{
	const char *note = gang ? gang->note.says : NULL;
	const struct osp_launchable launchable = osp_gang_launchable(job, gang);
	const struct osp_world seen = osp_world_for(all, job->partition, &launchable);
	const struct osp_world *world = &seen;

	memset(story, 0, sizeof(*story));
	story->level = -1;
	report_kind(job, story);
	if (!gang)
		return 0;
	if (world->topology && !job->extra) {
		if (job->partition && strchr(job->partition, ',')
			    ? ask_partitions(world, job, gang, story, error)
			    : ask_partition(world, job, gang, job->partition, story, error))
			return -1;
	}
	if (lacks_nodes(job, gang, story) || lacks_extra(job, gang, story))
		story->kind = OSP_WAITING_NODES;
	if (osp_waiting_elsewhere(story->kind))
		return 0;
	if (job->extra && !gang->advise)
		report_of_extra(job, note, story);
	else if (story->looked && !gang->advise)
		report_nodes(world, job, note, story);
	else if (story->level > 0 && !story->looked && (!note || counts_nodes(note)))
		report_any_nodes(job, story);
	else if (note)
		say(story, note);
	return 0;
}

/* --- the other components of a heterogeneous job ---------------------------------------------- */

static bool is_beside(const struct osp_state_job *job, const struct osp_state_job *other)
{
	size_t length = strcspn(job->label, "+");

	return other != job && other->phase == OSP_JOB_PENDING && is_component(other) &&
	       strncmp(job->label, other->label, length + 1) == 0;
}

/* Returns whether nothing that concerns the component alone keeps it from starting. */
static bool waits_for_others(const struct osp_state_job *job, const struct osp_gang *gang,
			     const struct osp_story *story)
{
	if (!is_component(job) || (gang && begins_with(gang->note.says, WAITS)))
		return false;
	return !osp_waiting_elsewhere(story->kind) ||
	       (story->kind == OSP_WAITING_REQUIRED && !names_nodes(job));
}

/* Tells the story of another component, if that has a cause of its own. */
static bool report_of_other(const struct osp_world *world, const struct osp_state_job *other,
			    struct osp_story *story)
{
	struct osp_error ignored = {.text = ""};
	struct osp_story others;
	struct osp_gang gang;
	bool is_gang = osp_gang_of(other, &gang), reports = false, waits;

	if (own_story_of(world, other, is_gang ? &gang : NULL, &others, &ignored) == 0)
		reports =
			*others.words && !waits_for_others(other, is_gang ? &gang : NULL, &others);
	if (reports) {
		waits = begins_with(others.words, WAITS);
		snprintf(story->words, sizeof(story->words), "it starts together with %.40s%s%.*s",
			 other->label, waits ? ", which " : ": ", (int)(sizeof(story->words) - 100),
			 others.words);
		story->kind = others.kind;
		story->of_component = is_gang && !osp_waiting_elsewhere(others.kind);
	}
	osp_story_clear(&others);
	if (is_gang)
		osp_gang_clear(&gang);
	return reports;
}

/* Reports the component that keeps this one waiting: Slurm starts all components at once, so one
 * that could start waits for the first that cannot. */
static void report_of_others(const struct osp_world *world, const struct osp_state_job *job,
			     struct osp_story *story)
{
	const struct osp_snapshot *snapshot = world->snapshot;

	for (uint32_t i = 0; i < snapshot->job_count; i++)
		if (is_beside(job, &snapshot->jobs[i]) &&
		    report_of_other(world, &snapshot->jobs[i], story))
			return;
}

int osp_story_of(const struct osp_world *world, const struct osp_state_job *job,
		 const struct osp_gang *gang, struct osp_story *story, struct osp_error *error)
{
	if (own_story_of(world, job, gang, story, error))
		return -1;
	if (waits_for_others(job, gang, story))
		report_of_others(world, job, story);
	story->note_is_older = gang && begins_with(gang->note.says, WAITS) &&
			       !begins_with(story->words, gang->note.says);
	return 0;
}

void osp_story_clear(struct osp_story *story)
{
	osp_segments_answer_clear(&story->parts);
	osp_answer_clear(&story->nodes);
	memset(story, 0, sizeof(*story));
}
