/* SPDX-License-Identifier: GPL-2.0-or-later */
/* several.c - asks one source or several, and holds each answer for itself */
#include "host/source/several.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/topology/merge.h"
#include "lib/topology/place_age.h"

/* Writes the sources' names, without their files: what a topology says of its sources. */
static void join_names(struct osp_sources *sources)
{
	size_t used = 0;

	for (size_t i = 0; i < sources->count && used < sizeof(sources->words); i++)
		used += (size_t)snprintf(sources->words + used, sizeof(sources->words) - used,
					 "%s%s", i ? "," : "", sources->list[i]->name);
}

/* Takes nvlink out of the list: beside another source it adds a level to that one's answer. */
static void take_out_nvlink(struct osp_sources *sources)
{
	size_t at = 0;

	while (at < sources->count && sources->list[at]->ask != osp_source_nvlink)
		at++;
	if (at == sources->count || sources->count == 1)
		return;
	if (at == 0) {
		sources->list[0] = sources->list[1];
		memcpy(sources->files[0], sources->files[1], sizeof(sources->files[0]));
	}
	sources->count = 1;
	sources->add_nvlink = true;
}

int osp_sources_read(const char *origin, const char *names, struct osp_sources *sources,
		     struct osp_error *error)
{
	struct osp_error wrong = {.text = ""};
	struct osp_source_words words;

	memset(sources, 0, sizeof(*sources));
	if (osp_source_words_read(names, &words, &wrong))
		return osp_error_set(error, "%s%s", origin, wrong.text);
	for (size_t i = 0; i < words.count; i++) {
		sources->list[i] = osp_source_find(words.names[i]);
		if (!sources->list[i]->ask)
			return osp_error_set(error, "%s%s: this build was configured without %s",
					     origin, words.names[i], sources->list[i]->needs);
		memcpy(sources->files[i], words.files[i], sizeof(words.files[i]));
	}
	sources->count = words.count;
	join_names(sources);
	take_out_nvlink(sources);
	return 0;
}

bool osp_sources_read_reports(const struct osp_sources *sources)
{
	return sources->add_nvlink || sources->list[0]->ask == osp_source_nvlink;
}

/* --- several ---------------------------------------------------------------------------------- */

struct several {
	const struct osp_sources *sources;
	const struct osp_source_question *question;
	struct osp_source_answer *answer;	   /* the warnings, and in the end the topology */
	struct osp_topology *own[OSP_SOURCES_MAX]; /* what it reported before; NULL: nothing */
	struct osp_topology *reported[OSP_SOURCES_MAX]; /* now; NULL: it failed */
	bool held[OSP_SOURCES_MAX];
};

static void several_free(struct several *several)
{
	for (size_t i = 0; i < OSP_SOURCES_MAX; i++) {
		osp_topology_free(several->own[i]);
		osp_topology_free(several->reported[i]);
	}
}

/* Finds which source reported the node. What none of them reported, as places that were typed, is
 * held along with the first one's. */
static size_t reporter_of(const struct osp_sources *sources, const struct osp_topology *topology,
			  const char *node)
{
	const struct osp_node_note *note = osp_topology_note_of(topology, node);
	const char *source = note ? note->source : "";

	if (!strcmp(source, OSP_SOURCE_RESERVATION))
		source = "ec2";
	for (size_t i = 0; i < sources->count; i++) {
		if (!strcmp(source, sources->list[i]->name))
			return i;
	}
	return 0;
}

/* Returns the places that a source reported before; NULL if there are none, or memory ran out. */
static struct osp_topology *reported_before(const struct several *several, size_t source)
{
	const struct osp_topology *previous = several->question->previous;
	uint32_t count = previous ? osp_topology_node_count(previous) : 0, kept = 0;
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct osp_topology *own = NULL;

	for (uint32_t n = 0; names && n < count; n++) {
		const char *name = osp_topology_node_name(previous, n);

		if (reporter_of(several->sources, previous, name) == source)
			names[kept++] = name;
	}
	if (kept)
		own = osp_topology_rebase(previous, names, kept, NULL);
	free(names);
	return own;
}

static int ask_one(struct several *several, size_t source, struct osp_error *error)
{
	struct osp_source_question question = *several->question;
	struct osp_source_answer answer = {.topology = NULL};
	struct osp_error wrong = {.text = ""};
	int rc;

	question.previous = several->own[source];
	question.file = several->sources->files[source];
	rc = several->sources->list[source]->ask(&question, &answer, &wrong);
	if (!rc) {
		several->reported[source] = answer.topology;
		answer.topology = NULL;
		if (answer.kept.data)
			osp_text_add(&several->answer->kept, answer.kept.data);
	} else {
		osp_error_set(error, "%s: %.400s", several->sources->list[source]->name,
			      wrong.text);
	}
	if (answer.unasked[0])
		memcpy(several->answer->unasked, answer.unasked, sizeof(answer.unasked));
	several->answer->answers |= answer.answers;
	if (answer.warnings.data)
		osp_text_add(&several->answer->warnings, answer.warnings.data);
	osp_source_answer_clear(&answer);
	return rc;
}

struct reporting {
	const struct several *several;
	size_t source;
};

static bool is_reported_by(const char *node, void *context)
{
	const struct reporting *reporting = context;

	return reporter_of(reporting->several->sources, reporting->several->question->previous,
			   node) == reporting->source;
}

/* Holds the answer of one source, compared over the nodes that it had reported, if need be. 0, or
 * -1 with `error` set: it cannot be compared. */
static int judge_one(struct several *several, size_t source, const struct osp_node_list *nodes,
		     const struct osp_topology_guard *guard, struct osp_error *why,
		     struct osp_error *error)
{
	const struct osp_topology *parts[OSP_SOURCES_MAX];
	struct reporting reporting = {several, source};
	struct osp_topology_change change;
	struct osp_error reason = {.text = ""};
	struct osp_topology *after;
	int rc;

	if (!several->own[source] || !several->reported[source])
		return 0;
	for (size_t i = 0; i < several->sources->count; i++)
		parts[i] = i == source ? several->reported[i] : several->own[i];
	after = osp_topology_merge(parts, several->sources->count, error);
	if (!after)
		return -1;
	rc = osp_apply_compare(several->question->previous, after, nodes, is_reported_by,
			       &reporting, &change, error);
	osp_topology_free(after);
	if (!rc && osp_topology_guard(guard, &change, &reason)) {
		several->held[source] = true;
		osp_error_set(why, "%s: %.400s", several->sources->list[source]->name, reason.text);
	}
	return rc;
}

/* Merges what is to be in force, with what is held or without it. */
static struct osp_topology *merge(const struct several *several, bool with_held,
				  struct osp_error *error)
{
	const struct osp_topology *parts[OSP_SOURCES_MAX];

	for (size_t i = 0; i < several->sources->count; i++)
		parts[i] = several->reported[i] && (with_held || !several->held[i])
				   ? several->reported[i]
				   : several->own[i];
	return osp_topology_merge(parts, several->sources->count, error);
}

static int hold(const struct several *several, const char *path, struct osp_error *error)
{
	struct osp_topology *all = merge(several, true, error);
	int rc = all ? osp_apply_hold(path, all, several->sources->words, error) : -1;

	osp_topology_free(all);
	return rc;
}

/* Asks all, judges each and writes the result. A failure is reported before a refusal:
 * osp_error_set() keeps the first. */
static enum osp_applied keep_several(struct several *several, const char *path,
				     const struct osp_node_list *nodes,
				     const struct osp_topology_guard *guard,
				     struct osp_topology_change *change, struct osp_error *error)
{
	struct osp_error why = {.text = ""};
	bool failed = false, held = false;
	enum osp_applied kept;

	for (size_t i = 0; i < several->sources->count; i++) {
		several->own[i] = reported_before(several, i);
		failed = ask_one(several, i, error) || failed;
	}
	for (size_t i = 0; i < several->sources->count; i++) {
		if (judge_one(several, i, nodes, guard, &why, error))
			return OSP_APPLIED_FAILED;
		held = held || several->held[i];
	}
	several->answer->topology = merge(several, false, error);
	if (!several->answer->topology)
		return OSP_APPLIED_FAILED;
	osp_topology_set_unasked(several->answer->topology, several->answer->unasked);
	kept = osp_apply_topology(path, several->answer->topology, several->sources->words, nodes,
				  NULL, change, error);
	if (kept == OSP_APPLIED_FAILED || (held && hold(several, path, error)) || failed)
		return OSP_APPLIED_FAILED;
	if (held)
		*error = why;
	return held ? OSP_APPLIED_HELD : kept;
}

/* --- one or several --------------------------------------------------------------------------- */

static int ask_only(const struct osp_sources *sources, const struct osp_source_question *all,
		    struct osp_source_answer *answer, struct osp_error *error)
{
	struct osp_source_question question = *all;

	question.file = sources->files[0];
	if (sources->list[0]->ask(&question, answer, error))
		return -1;
	return sources->add_nvlink ? osp_nvlink_add(&question, answer, error) : 0;
}

int osp_sources_ask(const struct osp_sources *sources, const struct osp_source_question *question,
		    struct osp_source_answer *answer, struct osp_error *error)
{
	struct several several = {.sources = sources, .question = question, .answer = answer};
	int rc = 0;

	if (sources->count == 1)
		return ask_only(sources, question, answer, error);
	for (size_t i = 0; i < sources->count && !rc; i++)
		rc = ask_one(&several, i, error);
	if (!rc)
		answer->topology = merge(&several, true, error);
	several_free(&several);
	return answer->topology ? 0 : -1;
}

static enum osp_applied keep(const struct osp_sources *sources, const char *path,
			     const struct osp_source_question *question,
			     const struct osp_node_list *nodes,
			     const struct osp_topology_guard *guard,
			     struct osp_source_answer *answer, struct osp_topology_change *change,
			     struct osp_error *error)
{
	struct several several = {.sources = sources, .question = question, .answer = answer};
	enum osp_applied kept;

	if (sources->count == 1) {
		if (ask_only(sources, question, answer, error))
			return OSP_APPLIED_FAILED;
		osp_topology_set_unasked(answer->topology, answer->unasked);
		return osp_apply_topology(path, answer->topology, sources->words, nodes, guard,
					  change, error);
	}
	kept = keep_several(&several, path, nodes, guard, change, error);
	several_free(&several);
	return kept;
}

enum osp_applied osp_sources_keep(const struct osp_sources *sources, const char *path,
				  const struct osp_source_question *question,
				  const struct osp_node_list *nodes,
				  const struct osp_topology_guard *guard,
				  struct osp_source_answer *answer,
				  struct osp_topology_change *change, struct osp_error *error)
{
	struct osp_source_question asked = *question;
	enum osp_applied kept;

	memset(change, 0, sizeof(*change));
	asked.unasked = osp_topology_unasked(question->previous);
	kept = keep(sources, path, &asked, nodes, guard, answer, change, error);
	/* the last good one stays, and whether nodes may be launched by it is known anew */
	if (kept == OSP_APPLIED_HELD ||
	    (kept == OSP_APPLIED_FAILED && (answer->unasked[0] || answer->answers)))
		osp_apply_unasked(path, answer->unasked, sources->words);
	return kept;
}
