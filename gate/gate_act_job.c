/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_act_job.c - what the gate does to nodes and to the job */
#include "onespine_config.h"
#include "gate/gate_act_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/gate/gate_exclude.h"
#include "lib/gate/gate_suspects.h"
#include "lib/gate/gate_text.h"
#include "lib/health/reason.h"
#include "lib/policy/note.h"

/* --- nodes ------------------------------------------------------------------------------------ */

bool gate_act_drain_now(const char *name, const struct osp_gate_sentence *sentence,
			const struct osp_controller_node *node, uint64_t until_ms)
{
	bool others = node && node->reason && !osp_reason_is_ours(node->reason);

	if (gate_act_failed(osp_controller_drain(name, others ? NULL : sentence->reason, until_ms),
			    name))
		return false;
	gate_act_say("%s drained: %s", name, sentence->reason);
	return true;
}

void gate_act_drain(const struct osp_gate_here *here, const struct osp_gate_sentence *sentence,
		    const struct osp_controller_nodes *nodes, uint64_t until_ms)
{
	const char *name = here->gang->nodes[sentence->rank];
	const struct osp_controller_node *node = osp_controller_node(nodes, name);

	if (node && node->drained) {
		gate_act_say("%s is drained already: %s", name,
			     node->reason ? node->reason : "no reason");
		return;
	}
	if (!gate_act_quarantine(here, sentence, node, until_ms))
		gate_act_drain_now(name, sentence, node, until_ms);
}

/* --- a job's excluded nodes ------------------------------------------------------------------- */

/* Collects the suspects of earlier starts and of this one. */
static int collect_suspects(const struct osp_gate_here *here,
			    const struct osp_gate_verdict *verdict,
			    struct osp_gate_exclusion *exclusion)
{
	struct osp_note note = {.gang = NULL};
	struct osp_error error = {.text = ""};
	int code = 0;

	if (osp_note_find(gate_act_seen.job.admin_comment, &note) && note.suspects) {
		code = osp_gate_exclude_suspects(exclusion, note.suspects, &error);
		if (*error.text) { /* who is to be excluded now is so all the same */
			gate_act_say("suspects=%s: %s", note.suspects, error.text);
			code = 0;
		}
	}
	osp_note_free_pieces(&note);
	if (!code && gate_act_seen.job.excluded)
		code = osp_gate_exclude_users(exclusion, gate_act_seen.job.excluded);
	for (uint32_t i = 0; !code && i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_SUSPECT)
			code = osp_gate_exclude_suspect(
				exclusion, here->gang->nodes[verdict->sentences[i].rank]);
	return code;
}

/* Writes the suspects for which AdminComment has room; the oldest of the others may be given to
 * the job again. */
static int remember_newest(const struct osp_gate_here *here, struct osp_gate_exclusion *exclusion,
			   char **written)
{
	size_t count, left_out;
	const char *const *suspects = osp_gate_exclude_left(exclusion, &count);

	*written = osp_gate_suspects_write(suspects, count, &left_out);
	if (!*written)
		return -1;
	if (left_out)
		gate_act_say("too many suspects: job %u may get the %zu oldest again, %s first",
			     here->gang->job, left_out, suspects[0]);
	exclusion->forgotten += left_out;
	return 0;
}

/* Keeps a job from being held by Slurm because it can never run: as many of the oldest as it lacks
 * come back. */
static int make_room(const struct osp_gate_here *here, const char *partition,
		     struct osp_gate_exclusion *exclusion)
{
	size_t count, given_back;
	const char *const *suspects = osp_gate_exclude_left(exclusion, &count);

	if (osp_gate_exclude_fit(exclusion, partition, here->gang->node_count, &given_back))
		return -1;
	if (given_back == 1)
		gate_act_say("too few other nodes: job %u may get %s again", here->gang->job,
			     suspects[0]);
	else if (given_back)
		gate_act_say("too few other nodes: job %u may get the %zu oldest suspects again, "
			     "%s first",
			     here->gang->job, given_back, suspects[0]);
	return 0;
}

/* Takes `suspects`. Returns false if slurmctld has not taken them. */
static bool change_excluded(const struct osp_gate_here *here,
			    const struct osp_gate_exclusion *exclusion, char *suspects,
			    uint64_t until_ms)
{
	struct osp_note note = {.gang = NULL};
	char *comment = NULL;
	char *excluded = osp_gate_exclude_write(exclusion);
	bool taken = true;
	struct osp_controller_change change = {.excluded = excluded};

	osp_note_find(gate_act_seen.job.admin_comment, &note);
	free((char *)note.suspects);
	note.suspects = suspects;
	comment = osp_note_merge(gate_act_seen.job.admin_comment, &note);
	change.admin_comment = comment;
	if (excluded && suspects)
		taken = !gate_act_failed(osp_controller_change(here->gang->job, &change, until_ms),
					 "ExcNodeList");
	if (excluded && suspects && taken)
		gate_act_say("job %u does not get %s any more", here->gang->job, suspects);
	osp_note_free_pieces(&note); /* the suspects too */
	free(comment);
	free(excluded);
	return taken;
}

static bool any_suspect(const struct osp_gate_verdict *verdict)
{
	for (uint32_t i = 0; i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_SUSPECT)
			return true;
	return false;
}

/*
 * Excludes the suspects, beside what the user excluded: not again for this job
 * (lib/gate/gate_exclude.h). AdminComment names them, so that a gang that waits for a spine without
 * them says why. Returns false if slurmctld did not answer in time: then it is to be tried again.
 */
bool gate_act_exclude(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict,
		      uint64_t until_ms)
{
	struct osp_gate_exclusion exclusion = {.forgotten = 0};
	char *partition = NULL, *written = NULL;
	bool done = true;

	if (!any_suspect(verdict))
		return true;
	/* AdminComment has changed since it was read */
	if (gate_act_failed(gate_act_ask_job(here->gang, until_ms), "asking slurmctld") ||
	    gate_act_failed(osp_controller_partition(here->gang->partition, until_ms, &partition),
			    "asking slurmctld for the partition"))
		return false;
	if (collect_suspects(here, verdict, &exclusion) == 0 &&
	    remember_newest(here, &exclusion, &written) == 0 &&
	    make_room(here, partition, &exclusion) == 0) {
		/* fewer than before, so all of them fit */
		free(written);
		if (remember_newest(here, &exclusion, &written) == 0)
			done = change_excluded(here, &exclusion, written, until_ms);
		written = NULL;
	}
	free(written);
	free(partition);
	osp_gate_exclude_free(&exclusion);
	return done;
}

/* --- the job ---------------------------------------------------------------------------------- */

/* Acts on a heterogeneous job as a whole: Slurm requeues and ends the whole, by its first
 * component's number. */
static uint32_t whole_job(const struct osp_gate_gang *gang)
{
	return gang->het_job ? gang->het_job : gang->job;
}

bool gate_act_stop_job(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		       uint64_t until_ms)
{
	const struct osp_gate_gang *gang = here->gang;
	bool again = verdict->kind != OSP_GATE_END;
	struct osp_gate_stops stops = gate_act_stopped_before();
	char words[OSP_GATE_WORDS_BYTES];
	int code;

	stops.all += again;
	stops.slow += again && verdict->slow;
	gate_act_comment(gang, NULL, stops, verdict->says, until_ms);
	if (!gate_act_seen.job.batch) {
		snprintf(words, sizeof(words), "onespine: %s", verdict->says);
		gate_act_failed(osp_controller_notify(gang->job, words, until_ms),
				"telling the user");
	}
	if (again)
		code = osp_controller_requeue(whole_job(gang), verdict->kind == OSP_GATE_HOLD,
					      until_ms);
	else
		code = osp_controller_end(whole_job(gang), until_ms);
	if (gate_act_failed(code, again ? "requeue" : "ending the job")) {
		if (!again || code == OSP_CONTROLLER_SILENT)
			return false;
		gate_act_say("job %u cannot be requeued: it is ended", gang->job);
		verdict->kind = OSP_GATE_END;
		return !gate_act_failed(osp_controller_end(whole_job(gang), until_ms),
					"ending the job");
	}
	gate_act_say("job %u: %s", gang->job, verdict->says);
	gate_act_seen.exclude_later = again && !gate_act_exclude(here, verdict, until_ms);
	return true;
}

/* Returns the list of the nodes that stay. From 23.02 on Slurm ignores, without a message, a
 * list that is written as the user's own with -w. Then the first name is there twice. */
static char *kept_nodes(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict)
{
	const char **names = calloc(gang->node_count, sizeof(*names));
	char *list = NULL;
	size_t count = 0;

	for (uint32_t r = 0; names && r < gang->node_count; r++)
		if (!gate_act_released(verdict, r))
			names[count++] = gang->nodes[r];
	if (names)
		list = osp_hostlist_compact(names, count);
	if (list && gate_act_seen.job_known && gate_act_seen.job.required &&
	    !strcmp(list, gate_act_seen.job.required)) {
		struct osp_text twice = OSP_TEXT_INIT;

		osp_text_printf(&twice, "%s,%s", list, names[0]);
		free(list);
		list = osp_text_take(&twice);
	}
	free(names);
	return list;
}

void gate_act_shrink(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		     uint64_t until_ms)
{
	const struct osp_gate_gang *gang = here->gang;
	struct osp_gate_stops stops = gate_act_stopped_before();
	char words[OSP_GATE_WORDS_BYTES];
	char *nodes = kept_nodes(gang, verdict);
	char *text = gate_act_new_comment(
		gang, verdict, osp_gate_note(&stops, verdict->says, words, sizeof(words)));
	struct osp_controller_change change = {.nodes = nodes, .admin_comment = text};
	bool bad = false;
	int code;

	code = nodes ? osp_controller_change(gang->job, &change, until_ms) : ENOMEM;
	if (!gate_act_failed(code, "releasing the spares")) {
		gate_act_say("job %u: %s; it keeps %s", gang->job, verdict->says, nodes);
	} else {
		for (uint32_t i = 0; i < verdict->sentence_count; i++)
			bad = bad || (verdict->sentences[i].actions & OSP_GATE_DRAIN);
		verdict->kind = !bad ? OSP_GATE_GO
				: gate_act_seen.job.batch && gate_act_seen.job.requeue
					? OSP_GATE_REQUEUE
					: OSP_GATE_END;
		if (bad)
			gate_act_stop_job(here, verdict, until_ms);
	}
	free(text);
	free(nodes);
}
