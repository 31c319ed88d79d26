/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_act.c - what the gate does through slurmctld */
#include "onespine_config.h"
#include "gate/gate_act.h"

#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/check.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/gate/gate_exclude.h"
#include "lib/gate/gate_suspects.h"
#include "lib/gate/gate_verdict.h"
#include "lib/gate/gate_words.h"
#include "lib/health/reason.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_segments.h"
#include "lib/policy/note.h"
#include "lib/topology/leaf_list.h"
#include "gate/gate_again.h"
#include "gate/gate_talk.h"
#include "host/output.h"
#include "host/slurm/controller.h"

/* What did not reach slurmctld in time is sent again for as long as this: without it no batch
 * script starts either, so this node's Prolog may wait. */
#define PATIENCE_MS 600000

/* One question during the gate, so that a slow slurmctld does not hold the barrier up. */
#define PROGRESS_MS 2000

/* What this process has learnt; one gate a process. */
static struct {
	const struct osp_gate_job *job_here; /* for the log */
	bool told;			     /* AdminComment says how far the gate is */
	struct osp_gate_report *reports;     /* to be decided again: slurmctld did not answer */
	struct osp_controller_job job;	     /* as last asked */
	bool job_known;
	int64_t began_s; /* the slurmctld that was asked before anything was changed; 0: none */
} seen;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	char words[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	osp_gate_log(seen.job_here, "%s", words);
}

/* Says what failed; true when it did. What is not there any more needs nothing done. */
static bool failed(int error, const char *what)
{
	if (error == 0 || error == ESLURM_INVALID_JOB_ID || error == ESLURM_ALREADY_DONE ||
	    error == ESLURM_JOB_PENDING)
		return false;
	say("%s: %s", what, osp_controller_words(error));
	return true;
}

/* Of a heterogeneous job Slurm requeues and ends the whole, by its first component's number. */
static uint32_t whole_job(const struct osp_gate_gang *gang)
{
	return gang->het_job ? gang->het_job : gang->job;
}

static int ask_job(const struct osp_gate_gang *gang, uint64_t until_ms)
{
	int error;

	if (seen.job_known)
		osp_controller_job_free(&seen.job);
	error = osp_controller_job(gang->job, until_ms, &seen.job);
	seen.job_known = error == 0;
	return error;
}

/* --- our part of AdminComment ----------------------------------------------------------------- */

static struct osp_gate_stops stopped_before(void)
{
	struct osp_note note = {.gang = NULL};
	struct osp_gate_stops stopped = {.all = 0};

	if (seen.job_known && osp_note_find(seen.job.admin_comment, &note))
		stopped = osp_gate_stopped(note.gate);
	osp_note_free_pieces(&note);
	return stopped;
}

struct keeping {
	const struct osp_gate_gang *gang;
	const struct osp_gate_verdict *verdict;
	uint32_t hint; /* names come nearly in the gang's order */
};

static uint32_t rank_of(const struct osp_gate_gang *gang, const char *node, uint32_t *hint)
{
	for (uint32_t i = 0; i < gang->node_count; i++) {
		uint32_t rank = (*hint + i) % gang->node_count;

		if (!strcmp(gang->nodes[rank], node)) {
			*hint = rank + 1;
			return rank;
		}
	}
	return OSP_GATE_NOBODY;
}

static bool released(const struct osp_gate_verdict *verdict, uint32_t rank)
{
	const struct osp_gate_sentence *sentence = osp_gate_sentence(verdict, rank);

	return sentence && (sentence->actions & OSP_GATE_RELEASE);
}

static bool is_kept(const char *node, void *context)
{
	struct keeping *keeping = context;
	uint32_t rank = rank_of(keeping->gang, node, &keeping->hint);

	return rank != OSP_GATE_NOBODY && !released(keeping->verdict, rank);
}

/* "placed: 4 nodes on spine s1, 2 leaves" of fewer nodes. */
static const char *placed_again(const struct osp_note *old, uint32_t kept, uint32_t gone,
				char *buffer, size_t buffer_bytes)
{
	unsigned int domains;
	char level[32];

	if (old->says && sscanf(old->says, "placed: %*u nodes in %u domains of %31[^ ,;]", &domains,
				level) == 2) {
		snprintf(buffer, buffer_bytes,
			 "placed: %u node%s in at most %u domains of %s, %u released by the gate",
			 kept, kept == 1 ? "" : "s", domains, level, gone);
		return buffer;
	}
	if (!old->says || !old->domain ||
	    sscanf(old->says, "placed: %*u node%*[s] on %31s", level) != 1)
		return old->says;
	snprintf(buffer, buffer_bytes, "placed: %u node%s on %s %s, %u released by the gate", kept,
		 kept == 1 ? "" : "s", level, old->domain, gone);
	return buffer;
}

/* The AdminComment with `words` in the gate's piece and, where nodes are released, without them. */
static char *new_comment(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict,
			 const char *words)
{
	struct keeping keeping = {.gang = gang, .verdict = verdict};
	struct osp_note old = {.gang = NULL}, note;
	char says[OSP_GATE_WORDS_BYTES], path[4096], log[4096 + OSP_GATE_NAME_BYTES];
	char *leaves = NULL, *order = NULL, *comment;
	unsigned int leaf_count;

	osp_note_find(seen.job.admin_comment, &old);
	note = old;
	note.gate = words;
	snprintf(log, sizeof(log), "%s:%s", seen.job_here->node,
		 osp_gate_log_path(seen.job_here, path, sizeof(path)));
	note.log = log;
	if (verdict && verdict->kind == OSP_GATE_SHRINK) {
		note.says = placed_again(&old, gang->wanted, gang->node_count - gang->wanted, says,
					 sizeof(says));
		if (old.leaves)
			leaves = osp_leaf_list_keep(old.leaves, is_kept, &keeping, &leaf_count);
		if (old.leaves && old.order)
			order = osp_gang_order_unpack(old.leaves, old.order);
		note.leaves = old.order && !order ? NULL : leaves;
		note.order = order;
	}
	comment = osp_note_merge(seen.job.admin_comment, &note);
	free(leaves);
	free(order);
	osp_note_free_pieces(&old);
	return comment;
}

static void comment(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict,
		    struct osp_gate_stops stopped, const char *says, uint64_t until_ms)
{
	char words[OSP_GATE_WORDS_BYTES];
	struct osp_controller_change change = {.nodes = NULL};
	char *text =
		new_comment(gang, verdict, osp_gate_note(&stopped, says, words, sizeof(words)));

	change.admin_comment = text;
	if (text)
		failed(osp_controller_change(gang->job, &change, until_ms), "AdminComment");
	free(text);
}

/* --- what only slurmctld knows ---------------------------------------------------------------- */

struct leaf_table {
	const struct osp_gate_gang *gang;
	uint32_t *leaf; /* by rank */
	uint32_t hint;
	uint32_t count;
	char last[64];
};

static int note_leaf(const char *leaf, const char *node, void *context)
{
	struct leaf_table *table = context;
	uint32_t rank = rank_of(table->gang, node, &table->hint);

	if (!table->count || strncmp(table->last, leaf, sizeof(table->last) - 1) != 0) {
		snprintf(table->last, sizeof(table->last), "%s", leaf);
		table->count++;
	}
	if (rank != OSP_GATE_NOBODY)
		table->leaf[rank] = table->count;
	return 0;
}

/* Leaves by rank as AdminComment has them, NULL if it has none. */
static uint32_t *leaves_by_rank(const struct osp_gate_gang *gang)
{
	struct leaf_table table = {.gang = gang};
	struct osp_note note = {.gang = NULL};

	if (osp_note_find(seen.job.admin_comment, &note) && note.leaves) {
		table.leaf = calloc(gang->node_count, sizeof(*table.leaf));
		if (table.leaf)
			osp_leaf_list_each(note.leaves, note_leaf, &table);
	}
	osp_note_free_pieces(&note);
	return table.leaf;
}

/* Tells whether each of so many segments has spares, and a node that stays. */
static bool are_segments(const struct osp_gate_gang *gang, const uint32_t *segment, uint32_t count)
{
	uint32_t *nodes = count ? calloc(count, sizeof(*nodes)) : NULL;
	bool good = nodes && (uint64_t)count * gang->segment_spares == gang->spares;

	for (uint32_t r = 0; good && r < gang->node_count; r++)
		nodes[segment[r]]++;
	for (uint32_t i = 0; good && i < count; i++)
		good = nodes[i] > gang->segment_spares;
	free(nodes);
	return good;
}

/* Tells whether the gang is held to its segments; if not, its spares are the job's. */
static bool is_held(void)
{
	struct osp_note note = {.gang = NULL};
	bool advice = true; /* without a gang, too */

	if (!osp_note_find(seen.job.admin_comment, &note))
		return false;
	if (note.gang)
		osp_note_request(note.gang, &advice);
	osp_note_free_pieces(&note);
	return !advice;
}

/*
 * Returns the segment of each node by rank, of a gang with spares in each; NULL for any other.
 * *unknown: it has them, but slurmctld did not say where.
 */
static uint32_t *segments_by_rank(const struct osp_gate_gang *gang, bool *unknown)
{
	bool told = gang->segments && *gang->segments;
	uint32_t *segment;

	*unknown = false;
	if (!gang->segment_spares || (!told && !is_held()))
		return NULL;
	segment = told ? calloc(gang->node_count, sizeof(*segment)) : NULL;
	if (segment &&
	    are_segments(gang, segment,
			 osp_gang_segments_read(gang->segments, gang->node_count, segment)))
		return segment;
	say("job %u: where its segments are is not known: none of its spares is released",
	    gang->job);
	*unknown = true;
	free(segment);
	return NULL;
}

static struct osp_breaker_mark *marks_of(const struct osp_controller_nodes *nodes, size_t *count)
{
	struct osp_breaker_mark *marks = calloc(nodes->count + 1, sizeof(*marks));

	*count = 0;
	for (uint32_t i = 0; marks && i < nodes->count; i++)
		if (nodes->nodes[i].drained && nodes->nodes[i].reason)
			marks[(*count)++] =
				(struct osp_breaker_mark){.reason = nodes->nodes[i].reason,
							  .since_s = nodes->nodes[i].since_s};
	return marks;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Our reason only if there is none: somebody else's stays, and so does the drain. */
static void drain(const struct osp_gate_here *here, const struct osp_gate_sentence *sentence,
		  const struct osp_controller_nodes *nodes, uint64_t until_ms)
{
	const char *name = here->gang->nodes[sentence->rank];
	const struct osp_controller_node *node = osp_controller_node(nodes, name);
	bool others = node && node->reason && !osp_reason_is_ours(node->reason);

	if (node && node->drained) {
		say("%s is drained already: %s", name, node->reason ? node->reason : "no reason");
		return;
	}
	if (!failed(osp_controller_drain(name, others ? NULL : sentence->reason, until_ms), name))
		say("%s drained: %s", name, sentence->reason);
}

/* --- a job's excluded nodes ------------------------------------------------------------------- */

/* The suspects of earlier starts and of this one. */
static int collect_suspects(const struct osp_gate_here *here,
			    const struct osp_gate_verdict *verdict,
			    struct osp_gate_exclusion *exclusion)
{
	struct osp_note note = {.gang = NULL};
	struct osp_error error = {.text = ""};
	int code = 0;

	if (osp_note_find(seen.job.admin_comment, &note) && note.suspects) {
		code = osp_gate_exclude_suspects(exclusion, note.suspects, &error);
		if (*error.text) { /* who is to be excluded now is so all the same */
			say("suspects=%s: %s", note.suspects, error.text);
			code = 0;
		}
	}
	osp_note_free_pieces(&note);
	if (!code && seen.job.excluded)
		code = osp_gate_exclude_users(exclusion, seen.job.excluded);
	for (uint32_t i = 0; !code && i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_SUSPECT)
			code = osp_gate_exclude_suspect(
				exclusion, here->gang->nodes[verdict->sentences[i].rank]);
	return code;
}

/* Those that AdminComment has room for; the oldest of the others may be given to the job again. */
static int remember_newest(const struct osp_gate_here *here, struct osp_gate_exclusion *exclusion,
			   char **written)
{
	size_t count, left_out;
	const char *const *suspects = osp_gate_exclude_left(exclusion, &count);

	*written = osp_gate_suspects_write(suspects, count, &left_out);
	if (!*written)
		return -1;
	if (left_out)
		say("too many suspects: job %u may get the %zu oldest again, %s first",
		    here->gang->job, left_out, suspects[0]);
	exclusion->forgotten += left_out;
	return 0;
}

/* A job that can never run is held by Slurm: as many of the oldest as it lacks come back. */
static int make_room(const struct osp_gate_here *here, const char *partition,
		     struct osp_gate_exclusion *exclusion)
{
	size_t count, given_back;
	const char *const *suspects = osp_gate_exclude_left(exclusion, &count);

	if (osp_gate_exclude_fit(exclusion, partition, here->gang->node_count, &given_back))
		return -1;
	if (given_back == 1)
		say("too few other nodes: job %u may get %s again", here->gang->job, suspects[0]);
	else if (given_back)
		say("too few other nodes: job %u may get the %zu oldest suspects again, %s first",
		    here->gang->job, given_back, suspects[0]);
	return 0;
}

/* Takes `suspects`. */
static void change_excluded(const struct osp_gate_here *here,
			    const struct osp_gate_exclusion *exclusion, char *suspects,
			    uint64_t until_ms)
{
	struct osp_note note = {.gang = NULL};
	char *comment = NULL;
	char *excluded = osp_gate_exclude_write(exclusion);
	struct osp_controller_change change = {.excluded = excluded};

	osp_note_find(seen.job.admin_comment, &note);
	free((char *)note.suspects);
	note.suspects = suspects;
	comment = osp_note_merge(seen.job.admin_comment, &note);
	change.admin_comment = comment;
	if (excluded && suspects &&
	    !failed(osp_controller_change(here->gang->job, &change, until_ms), "ExcNodeList"))
		say("job %u does not get %s any more", here->gang->job, suspects);
	osp_note_free_pieces(&note); /* the suspects too */
	free(comment);
	free(excluded);
}

static bool any_suspect(const struct osp_gate_verdict *verdict)
{
	for (uint32_t i = 0; i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_SUSPECT)
			return true;
	return false;
}

/*
 * The suspects, beside what the user excluded: not again for this job (lib/gate/gate_exclude.h).
 * AdminComment names them, so that a gang that waits for a spine without them says why.
 */
static void exclude(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict,
		    uint64_t until_ms)
{
	struct osp_gate_exclusion exclusion = {.forgotten = 0};
	char *partition = NULL, *written = NULL;

	/* AdminComment has changed since it was read */
	if (!any_suspect(verdict) || failed(ask_job(here->gang, until_ms), "asking slurmctld"))
		return;
	if (collect_suspects(here, verdict, &exclusion) == 0 &&
	    osp_controller_partition(here->gang->partition, until_ms, &partition) == 0 &&
	    remember_newest(here, &exclusion, &written) == 0 &&
	    make_room(here, partition, &exclusion) == 0) {
		/* fewer than before, so all of them fit */
		free(written);
		if (remember_newest(here, &exclusion, &written) == 0)
			change_excluded(here, &exclusion, written, until_ms);
		written = NULL;
	}
	free(written);
	free(partition);
	osp_gate_exclude_free(&exclusion);
}

/* --- the job ---------------------------------------------------------------------------------- */

/* The job starts again, held or not, or ends. False: slurmctld has not taken it. */
static bool stop_job(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		     uint64_t until_ms)
{
	const struct osp_gate_gang *gang = here->gang;
	bool again = verdict->kind != OSP_GATE_END;
	struct osp_gate_stops stops = stopped_before();
	char words[OSP_GATE_WORDS_BYTES];
	int code;

	stops.all += again;
	stops.slow += again && verdict->slow;
	comment(gang, NULL, stops, verdict->says, until_ms);
	if (!seen.job.batch) {
		snprintf(words, sizeof(words), "onespine: %s", verdict->says);
		failed(osp_controller_notify(gang->job, words, until_ms), "telling the user");
	}
	if (again)
		code = osp_controller_requeue(whole_job(gang), verdict->kind == OSP_GATE_HOLD,
					      until_ms);
	else
		code = osp_controller_end(whole_job(gang), until_ms);
	if (failed(code, again ? "requeue" : "ending the job")) {
		if (!again || code == OSP_CONTROLLER_SILENT)
			return false;
		say("job %u cannot be requeued: it is ended", gang->job);
		verdict->kind = OSP_GATE_END;
		return !failed(osp_controller_end(whole_job(gang), until_ms), "ending the job");
	}
	say("job %u: %s", gang->job, verdict->says);
	if (again)
		exclude(here, verdict, until_ms);
	return true;
}

/*
 * From 23.02 on Slurm passes over a list that is written as the user's own with -w, and says
 * nothing. Then the first name stands there twice.
 */
static char *kept_nodes(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict)
{
	const char **names = calloc(gang->node_count, sizeof(*names));
	char *list = NULL;
	size_t count = 0;

	for (uint32_t r = 0; names && r < gang->node_count; r++)
		if (!released(verdict, r))
			names[count++] = gang->nodes[r];
	if (names)
		list = osp_hostlist_compact(names, count);
	if (list && seen.job_known && seen.job.required && !strcmp(list, seen.job.required)) {
		struct osp_text twice = OSP_TEXT_INIT;

		osp_text_printf(&twice, "%s,%s", list, names[0]);
		free(list);
		list = osp_text_take(&twice);
	}
	free(names);
	return list;
}

/* Gives the spares back. Where Slurm does not take it, good nodes too many do no harm; a bad one
 * does. */
static void shrink(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		   uint64_t until_ms)
{
	const struct osp_gate_gang *gang = here->gang;
	struct osp_gate_stops stops = stopped_before();
	char words[OSP_GATE_WORDS_BYTES];
	char *nodes = kept_nodes(gang, verdict);
	char *text = new_comment(gang, verdict,
				 osp_gate_note(&stops, verdict->says, words, sizeof(words)));
	struct osp_controller_change change = {.nodes = nodes, .admin_comment = text};
	bool bad = false;
	int code;

	code = nodes ? osp_controller_change(gang->job, &change, until_ms) : ENOMEM;
	if (!failed(code, "releasing the spares")) {
		say("job %u: %s; it keeps %s", gang->job, verdict->says, nodes);
	} else {
		for (uint32_t i = 0; i < verdict->sentence_count; i++)
			bad = bad || (verdict->sentences[i].actions & OSP_GATE_DRAIN);
		verdict->kind = !bad				     ? OSP_GATE_GO
				: seen.job.batch && seen.job.requeue ? OSP_GATE_REQUEUE
								     : OSP_GATE_END;
		if (bad)
			stop_job(here, verdict, until_ms);
	}
	free(text);
	free(nodes);
}

/* --- the decider ------------------------------------------------------------------------------ */

static bool any_failed(const struct osp_gate_gang *gang, const struct osp_gate_report *reports)
{
	for (uint32_t r = 0; r < gang->node_count; r++)
		if (reports[r].result == OSP_VERDICT_FAIL || reports[r].blamed)
			return true;
	return false;
}

static void gone(struct osp_gate_verdict *verdict)
{
	verdict->kind = OSP_GATE_END;
	snprintf(verdict->says, sizeof(verdict->says), "the job is gone meanwhile");
}

/* Memory that ran out must not start a job on a bad node. */
static void decide_or_stop(const struct osp_gate_here *here, const struct osp_gate_report *reports,
			   const struct osp_gate_means *means, struct osp_gate_verdict *verdict)
{
	struct osp_error error = {.text = ""};

	if (osp_gate_decide(here->gang, reports, here->policy, means, verdict, &error) == 0)
		return;
	say("%s", error.text);
	verdict->kind = means->can_requeue ? OSP_GATE_REQUEUE : OSP_GATE_END;
	snprintf(verdict->says, sizeof(verdict->says), "the gate ran out of memory");
}

/* What must be done before any Prolog ends. False: slurmctld has not taken it. */
static bool carry_out(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		      const struct osp_controller_nodes *nodes, uint64_t until_ms)
{
	for (uint32_t i = 0; i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_DRAIN)
			drain(here, &verdict->sentences[i], nodes, until_ms);
	if (verdict->breaker)
		say("the circuit breaker is open: the same check fails on so many nodes that none "
		    "is drained; look at the check first (doc/gate.md)");
	if (verdict->kind >= OSP_GATE_REQUEUE)
		return stop_job(here, verdict, until_ms);
	if (verdict->kind == OSP_GATE_GO && *verdict->says)
		comment(here->gang, NULL, stopped_before(), verdict->says, until_ms);
	return true;
}

/* Whether the job has no GPUs there though it has some elsewhere, as slurmctld last said. */
static bool has_no_gpus(const struct osp_gate_gang *gang, uint32_t rank)
{
	return seen.job_known && seen.job.gpu_node_count == gang->node_count &&
	       !seen.job.gpus[rank];
}

bool osp_gate_act_absent(const struct osp_gate_here *here, uint32_t rank)
{
	return !here->policy->all_jobs && !here->gang->spares && has_no_gpus(here->gang, rank);
}

/* No gate runs on a node without GPUs of the job: its silence says nothing. */
static void excuse_absent(const struct osp_gate_here *here, struct osp_gate_report *reports)
{
	for (uint32_t r = 0; r < here->gang->node_count; r++)
		if (reports[r].result == OSP_VERDICT_SILENT && osp_gate_act_absent(here, r)) {
			reports[r].result = OSP_VERDICT_SKIP;
			reports[r].absent = true;
		}
}

/* Asks about all nodes, for what the breaker counts. 0, or Slurm's error. */
static int ask_nodes(struct osp_controller_nodes *nodes, struct osp_gate_means *means,
		     struct osp_breaker_mark **marks, uint64_t until_ms)
{
	int code = osp_controller_nodes(until_ms, nodes);

	if (code)
		return code;
	*marks = marks_of(nodes, &means->breaker.mark_count);
	means->breaker.marks = *marks;
	means->breaker.node_count = nodes->count;
	means->breaker.now_s = (int64_t)time(NULL);
	return 0;
}

/*
 * Drains what failed of a job that slurmctld no longer knows, or no longer has running: it was
 * cancelled, or slurmctld was killed and has forgotten that it started, and may start it there
 * again. False: slurmctld did not answer.
 */
static bool attempt_without_job(const struct osp_gate_here *here, struct osp_gate_report *reports,
				uint64_t until_ms, struct osp_gate_verdict *verdict)
{
	struct osp_controller_nodes nodes = {.nodes = NULL};
	struct osp_gate_means means = {.batch = true, .can_requeue = true, .can_shrink = true};
	struct osp_breaker_mark *marks = NULL;
	int code = 0;

	if (any_failed(here->gang, reports)) {
		code = ask_nodes(&nodes, &means, &marks, until_ms);
		if (code)
			failed(code, "asking slurmctld");
		else
			decide_or_stop(here, reports, &means, verdict);
	}
	for (uint32_t i = 0; !code && i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_DRAIN)
			drain(here, &verdict->sentences[i], &nodes, until_ms);
	free(marks);
	osp_controller_nodes_free(&nodes);
	osp_gate_verdict_free(verdict);
	gone(verdict);
	return code == 0;
}

/* Asks, decides and does. False: slurmctld did not answer, and nothing is decided for good. */
static bool attempt(const struct osp_gate_here *here, struct osp_gate_report *reports,
		    uint64_t until_ms, struct osp_gate_verdict *verdict)
{
	struct osp_controller_nodes nodes = {.nodes = NULL};
	struct osp_gate_means means = {.can_shrink = true};
	uint32_t *leaf = NULL, *segment = NULL;
	struct osp_breaker_mark *marks = NULL;
	int code = ask_job(here->gang, until_ms);
	bool done, unknown;

	if (code == ESLURM_INVALID_JOB_ID || (code == 0 && seen.job.phase != OSP_PHASE_RUNNING))
		return attempt_without_job(here, reports, until_ms, verdict);
	if (code == 0)
		excuse_absent(here, reports);
	if (code == 0 && any_failed(here->gang, reports))
		code = ask_nodes(&nodes, &means, &marks, until_ms);
	if (code == 0)
		code = osp_controller_began(until_ms, &seen.began_s);
	if (code) {
		failed(code, "asking slurmctld");
		osp_controller_nodes_free(&nodes);
		return false;
	}
	means.batch = seen.job.batch;
	means.can_requeue = seen.job.batch && seen.job.requeue;
	means.stopped = stopped_before().all;
	means.stopped_slow = stopped_before().slow;
	means.leaf = leaf = leaves_by_rank(here->gang);
	means.segment = segment = segments_by_rank(here->gang, &unknown);
	means.can_shrink = !unknown;
	decide_or_stop(here, reports, &means, verdict);
	done = carry_out(here, verdict, &nodes, until_ms);
	free(marks);
	free(leaf);
	free(segment);
	osp_controller_nodes_free(&nodes);
	return done;
}

/* Without slurmctld no script starts; the others need not wait for it, but this node's Prolog
 * does. */
static void put_off(const struct osp_gate_here *here, const struct osp_gate_report *reports,
		    struct osp_gate_verdict *verdict)
{
	static const struct osp_gate_means means = {
		.batch = true, .can_requeue = true, .can_shrink = true};
	size_t bytes = here->gang->node_count * sizeof(*reports);

	osp_gate_verdict_free(verdict);
	decide_or_stop(here, reports, &means, verdict);
	seen.reports = malloc(bytes);
	if (seen.reports)
		memcpy(seen.reports, reports, bytes);
}

/* --- a slurmctld that comes back without it --------------------------------------------------- */

static bool is_bad(const struct osp_gate_sentence *sentence)
{
	return (sentence->actions & (OSP_GATE_DRAIN | OSP_GATE_SUSPECT)) ||
	       ((sentence->actions & OSP_GATE_RELEASE) && sentence->result >= OSP_VERDICT_ERROR);
}

/* Whether a job would start as it must not if slurmctld forgot the verdict; good spares too many
 * do no harm. */
static bool must_last(const struct osp_gate_verdict *verdict)
{
	bool bad = verdict->kind >= OSP_GATE_REQUEUE;

	for (uint32_t i = 0; verdict->kind == OSP_GATE_SHRINK && i < verdict->sentence_count; i++)
		bad = bad || is_bad(&verdict->sentences[i]);
	return bad;
}

static int is_bad_node(const char *node, void *context)
{
	struct keeping *keeping = context;
	uint32_t rank = rank_of(keeping->gang, node, &keeping->hint);
	const struct osp_gate_sentence *sentence =
		rank == OSP_GATE_NOBODY ? NULL : osp_gate_sentence(keeping->verdict, rank);

	return sentence && is_bad(sentence);
}

/* Whether slurmctld has the job as it was at the gate: not stopped, or with a node taken out. */
static bool forgotten(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict)
{
	struct keeping keeping = {.gang = gang, .verdict = verdict};
	struct osp_error error = {.text = ""};

	if (seen.job.phase != OSP_PHASE_RUNNING || seen.job.restarts != gang->restarts)
		return false;
	return verdict->kind >= OSP_GATE_REQUEUE ||
	       (seen.job.nodes &&
		osp_hostlist_expand(seen.job.nodes, is_bad_node, &keeping, &error) == 1);
}

/* The nodes again, and the job. If it was to go on it starts again or ends: of the Prologs that
 * ended in time for the old slurmctld the new one knows nothing, and waits for them for ever. */
static void do_again(const struct osp_gate_here *here, const struct osp_gate_verdict *done,
		     uint64_t until_ms)
{
	struct osp_controller_nodes nodes = {.nodes = NULL};
	struct osp_gate_verdict verdict = *done;

	if (failed(osp_controller_nodes(until_ms, &nodes), "asking slurmctld"))
		return;
	for (uint32_t i = 0; i < verdict.sentence_count; i++)
		if (verdict.sentences[i].actions & OSP_GATE_DRAIN)
			drain(here, &verdict.sentences[i], &nodes, until_ms);
	osp_controller_nodes_free(&nodes);
	if (failed(ask_job(here->gang, until_ms), "asking slurmctld") || !seen.job_known ||
	    !forgotten(here->gang, &verdict))
		return;
	if (verdict.kind == OSP_GATE_SHRINK) {
		verdict.kind = seen.job.batch && seen.job.requeue ? OSP_GATE_REQUEUE : OSP_GATE_END;
		snprintf(verdict.says, sizeof(verdict.says),
			 "slurmctld came back without what the gate had done: the job %s",
			 verdict.kind == OSP_GATE_REQUEUE ? "starts again"
							  : "cannot be requeued: ended");
	}
	stop_job(here, &verdict, until_ms);
}

/* Waits until slurmctld must have written what was done. Where this process is killed, that stays;
 * only while it is done again the job must not start. */
static void make_sure(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict)
{
	uint64_t until_ms = osp_now_ms() + PATIENCE_MS;

	osp_gate_again_never(OSP_EXIT_YES);
	if (!seen.began_s || !must_last(verdict))
		return;
	while (osp_now_ms() < until_ms) {
		struct timespec saved = {.tv_sec = OSP_CONTROLLER_SAVED_MS / 1000};
		int64_t before_s = seen.began_s;

		while (nanosleep(&saved, &saved) && errno == EINTR)
			;
		if (failed(osp_controller_began(until_ms, &seen.began_s), "asking slurmctld") ||
		    seen.began_s == before_s)
			return;
		say("slurmctld has begun anew meanwhile: looks if it knows what was done");
		osp_gate_again_never(OSP_EXIT_NO);
		do_again(here, verdict, until_ms);
		osp_gate_again_never(OSP_EXIT_YES);
	}
}

void osp_gate_act_decide(const struct osp_gate_here *here, struct osp_gate_report *reports,
			 uint64_t until_ms, struct osp_gate_verdict *verdict)
{
	char words[OSP_GATE_REASON_BYTES];

	seen.job_here = here->job;
	verdict->kind = OSP_GATE_GO;
	verdict->breaker = false;
	verdict->slow = false;
	verdict->says[0] = '\0';
	verdict->sentences = NULL;
	verdict->sentence_count = 0;
	if (osp_gate_all_well(here->gang, reports, here->policy)) {
		if (!seen.told || ask_job(here->gang, until_ms) != 0)
			return;
		snprintf(words, sizeof(words), "passed on %u node%s", here->gang->node_count,
			 here->gang->node_count == 1 ? "" : "s");
		comment(here->gang, NULL, stopped_before(), words, until_ms);
	} else if (!attempt(here, reports, until_ms, verdict)) {
		put_off(here, reports, verdict);
	}
}

bool osp_gate_act_left(const struct osp_gate_verdict *verdict)
{
	return seen.reports || verdict->kind == OSP_GATE_SHRINK;
}

void osp_gate_act_after(const struct osp_gate_here *here, const struct osp_gate_verdict *told,
			uint64_t until_ms)
{
	struct osp_gate_verdict again = {.kind = OSP_GATE_GO};
	struct osp_gate_verdict verdict = *told;

	if (seen.reports) {
		until_ms = osp_now_ms() + PATIENCE_MS;
		if (!attempt(here, seen.reports, until_ms, &again))
			say("slurmctld did not answer: job %u is left as it is", here->gang->job);
		verdict = again;
	}
	if (verdict.kind == OSP_GATE_SHRINK)
		shrink(here, &verdict, until_ms);
	make_sure(here, &verdict);
	osp_gate_verdict_free(&again);
	free(seen.reports);
	seen.reports = NULL;
}

bool osp_gate_act_stop(const struct osp_gate_here *here)
{
	struct osp_gate_sentence own = {.rank = here->gang->rank, .actions = OSP_GATE_SUSPECT};
	struct osp_gate_verdict verdict = {
		.kind = OSP_GATE_END, .sentences = &own, .sentence_count = 1};
	uint64_t until_ms = osp_now_ms() + PATIENCE_MS;
	int code;

	seen.job_here = here->job;
	code = ask_job(here->gang, until_ms);
	if (code == ESLURM_INVALID_JOB_ID || (code == 0 && seen.job.phase != OSP_PHASE_RUNNING))
		return true;
	if (failed(code, "asking slurmctld"))
		return false;
	if (seen.job.batch && seen.job.requeue)
		verdict.kind = stopped_before().all < here->policy->restarts_max ? OSP_GATE_REQUEUE
										 : OSP_GATE_HOLD;
	snprintf(verdict.says, sizeof(verdict.says),
		 "the gate of %s was killed before the start was settled",
		 here->gang->nodes[here->gang->rank]);
	return stop_job(here, &verdict, until_ms);
}

bool osp_gate_act_progress(const struct osp_gate_here *here, const struct osp_gate_report *reports,
			   uint32_t heard)
{
	uint64_t until_ms = osp_now_ms() + PROGRESS_MS;
	char words[OSP_GATE_WORDS_BYTES], line[OSP_GATE_WORDS_BYTES + 16];
	int code;

	(void)heard;
	seen.job_here = here->job;
	code = ask_job(here->gang, until_ms);
	if (code == ESLURM_INVALID_JOB_ID || (code == 0 && seen.job.phase != OSP_PHASE_RUNNING))
		return false;
	if (code)
		return true;
	osp_gate_progress(here->gang, reports, words, sizeof(words));
	if (seen.job.batch) {
		comment(here->gang, NULL, stopped_before(), words, until_ms);
		seen.told = true;
	} else {
		snprintf(line, sizeof(line), "onespine: %s", words);
		osp_controller_notify(here->gang->job, line, until_ms);
	}
	return true;
}
