/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_act.c - what the gate does through slurmctld */
#include "onespine_config.h"
#include "gate/gate_act_private.h"

#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/check.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/gate/gate_text.h"
#include "gate/gate_again.h"
#include "host/output.h"

/* What did not reach slurmctld in time is sent again for as long as this: without it no batch
 * script starts either, so this node's Prolog may wait. */
#define PATIENCE_MS 600000

/* One question during the gate, so that a slow slurmctld does not hold the barrier up. */
#define PROGRESS_MS 2000

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
	snprintf(verdict->says, sizeof(verdict->says),
		 "the job has ended while its nodes were checked");
}

/* Decides. If memory runs out, no job may start on a bad node, if policy drains bad ones. */
static void decide_or_stop(const struct osp_gate_here *here, const struct osp_gate_report *reports,
			   const struct osp_gate_means *means, struct osp_gate_verdict *verdict)
{
	struct osp_error error = {.text = ""};

	if (osp_gate_decide(here->gang, reports, here->policy, means, verdict, &error) == 0)
		return;
	gate_act_say("%s", error.text);
	verdict->kind = here->policy->failure != OSP_GATE_ON_FAIL_DRAIN ? OSP_GATE_GO
			: means->can_requeue				? OSP_GATE_REQUEUE
									: OSP_GATE_END;
	snprintf(verdict->says, sizeof(verdict->says), "the gate ran out of memory");
}

/* Does what must be done before any Prolog ends. Returns false if slurmctld has not taken it. */
static bool carry_out(const struct osp_gate_here *here, struct osp_gate_verdict *verdict,
		      const struct osp_controller_nodes *nodes, uint64_t until_ms)
{
	for (uint32_t i = 0; i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_DRAIN)
			gate_act_drain(here, &verdict->sentences[i], nodes, until_ms);
	if (verdict->breaker)
		gate_act_say("the circuit breaker is open: the same check fails on so many nodes "
			     "that none "
			     "is drained; look at the check first (doc/gate.md)");
	if (verdict->kind >= OSP_GATE_REQUEUE)
		return gate_act_stop_job(here, verdict, until_ms);
	if (verdict->kind == OSP_GATE_GO && *verdict->says)
		gate_act_comment(here->gang, NULL, gate_act_stopped_before(), verdict->says,
				 until_ms);
	return true;
}

/* Returns whether the job has no GPUs there though it has some elsewhere, as slurmctld last
 * said. */
static bool has_no_gpus(const struct osp_gate_gang *gang, uint32_t rank)
{
	return gate_act_seen.job_known && gate_act_seen.job.gpu_node_count == gang->node_count &&
	       !gate_act_seen.job.gpus[rank];
}

bool osp_gate_act_absent(const struct osp_gate_here *here, uint32_t rank)
{
	return !here->policy->all_jobs && !here->gang->spares && has_no_gpus(here->gang, rank);
}

/* Excuses the nodes without GPUs of the job: no gate runs there, so their silence says nothing. */
static void excuse_absent(const struct osp_gate_here *here, struct osp_gate_report *reports)
{
	for (uint32_t r = 0; r < here->gang->node_count; r++)
		if (reports[r].result == OSP_VERDICT_SILENT && osp_gate_act_absent(here, r)) {
			reports[r].result = OSP_VERDICT_SKIP;
			reports[r].absent = true;
		}
}

/* Asks about all nodes, for what the breaker counts. 0, or Slurm's error. */
static int ask_nodes(const struct osp_gate_here *here, struct osp_controller_nodes *nodes,
		     struct osp_gate_means *means, struct osp_breaker_mark **marks,
		     uint64_t until_ms)
{
	int code = osp_controller_nodes(until_ms, nodes);

	if (code)
		return code;
	*marks = gate_act_marks(nodes, &means->breaker.mark_count);
	code = gate_act_add_marks(here, marks, &means->breaker.mark_count, until_ms);
	means->breaker.marks = *marks;
	means->breaker.node_count = nodes->count;
	means->breaker.now_s = (int64_t)time(NULL);
	return code;
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
		code = ask_nodes(here, &nodes, &means, &marks, until_ms);
		if (code)
			gate_act_failed(code, "asking slurmctld");
		else
			decide_or_stop(here, reports, &means, verdict);
	}
	for (uint32_t i = 0; !code && i < verdict->sentence_count; i++)
		if (verdict->sentences[i].actions & OSP_GATE_DRAIN)
			gate_act_drain(here, &verdict->sentences[i], &nodes, until_ms);
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
	int code = gate_act_ask_job(here->gang, until_ms);
	bool done, unknown;

	if (code == ESLURM_INVALID_JOB_ID ||
	    (code == 0 && gate_act_seen.job.phase != OSP_PHASE_RUNNING))
		return attempt_without_job(here, reports, until_ms, verdict);
	if (code == 0)
		excuse_absent(here, reports);
	if (code == 0 && any_failed(here->gang, reports))
		code = ask_nodes(here, &nodes, &means, &marks, until_ms);
	if (code == 0)
		code = osp_controller_began(until_ms, &gate_act_seen.began_s);
	if (code) {
		gate_act_failed(code, "asking slurmctld");
		free(marks);
		osp_controller_nodes_free(&nodes);
		return false;
	}
	means.batch = gate_act_seen.job.batch;
	means.can_requeue = gate_act_seen.job.batch && gate_act_seen.job.requeue;
	means.stopped = gate_act_stopped_before().all;
	means.stopped_slow = gate_act_stopped_before().slow;
	means.leaf = leaf = gate_act_leaves(here->gang);
	means.segment = segment = gate_act_segments(here->gang, &unknown);
	means.can_shrink = !unknown;
	decide_or_stop(here, reports, &means, verdict);
	done = carry_out(here, verdict, &nodes, until_ms);
	free(marks);
	free(leaf);
	free(segment);
	osp_controller_nodes_free(&nodes);
	return done;
}

/* Puts off what only slurmctld can do. Without it no script starts; the others need not wait for
 * it, but this node's Prolog does. */
static void put_off(const struct osp_gate_here *here, const struct osp_gate_report *reports,
		    struct osp_gate_verdict *verdict)
{
	static const struct osp_gate_means means = {
		.batch = true, .can_requeue = true, .can_shrink = true};
	size_t bytes = here->gang->node_count * sizeof(*reports);

	osp_gate_verdict_free(verdict);
	decide_or_stop(here, reports, &means, verdict);
	gate_act_seen.reports = malloc(bytes);
	if (gate_act_seen.reports)
		memcpy(gate_act_seen.reports, reports, bytes);
}

/* --- a slurmctld that comes back without it --------------------------------------------------- */

static bool is_bad(const struct osp_gate_sentence *sentence)
{
	return (sentence->actions & (OSP_GATE_DRAIN | OSP_GATE_SUSPECT)) ||
	       ((sentence->actions & OSP_GATE_RELEASE) && sentence->result >= OSP_VERDICT_ERROR);
}

/* Returns whether a job would start as it must not if slurmctld forgot the verdict; good spares too
 * many do no harm. */
static bool must_last(const struct osp_gate_verdict *verdict)
{
	bool bad = verdict->kind >= OSP_GATE_REQUEUE;

	for (uint32_t i = 0; verdict->kind == OSP_GATE_SHRINK && i < verdict->sentence_count; i++)
		bad = bad || is_bad(&verdict->sentences[i]);
	return bad;
}

static int is_bad_node(const char *node, void *context)
{
	struct gate_act_keeping *keeping = context;
	uint32_t rank = gate_act_rank_of(keeping->gang, node, &keeping->hint);
	const struct osp_gate_sentence *sentence =
		rank == OSP_GATE_NOBODY ? NULL : osp_gate_sentence(keeping->verdict, rank);

	return sentence && is_bad(sentence);
}

/* Returns whether slurmctld has the job as it was at the gate: not stopped, or with a node taken
 * out. */
static bool forgotten(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict)
{
	struct gate_act_keeping keeping = {.gang = gang, .verdict = verdict};
	struct osp_error error = {.text = ""};

	if (gate_act_seen.job.phase != OSP_PHASE_RUNNING ||
	    gate_act_seen.job.restarts != gang->restarts)
		return false;
	return verdict->kind >= OSP_GATE_REQUEUE ||
	       (gate_act_seen.job.nodes &&
		osp_hostlist_expand(gate_act_seen.job.nodes, is_bad_node, &keeping, &error) == 1);
}

/* Looks at the nodes again, and the job. If it was to go on it starts again or ends: of the Prologs
 * that ended in time for the old slurmctld the new one knows nothing, and waits for them for
 * ever. */
static void do_again(const struct osp_gate_here *here, const struct osp_gate_verdict *done,
		     uint64_t until_ms)
{
	struct osp_controller_nodes nodes = {.nodes = NULL};
	struct osp_gate_verdict verdict = *done;

	if (gate_act_failed(osp_controller_nodes(until_ms, &nodes), "asking slurmctld"))
		return;
	for (uint32_t i = 0; i < verdict.sentence_count; i++)
		if (verdict.sentences[i].actions & OSP_GATE_DRAIN)
			gate_act_drain(here, &verdict.sentences[i], &nodes, until_ms);
	osp_controller_nodes_free(&nodes);
	if (gate_act_failed(gate_act_ask_job(here->gang, until_ms), "asking slurmctld") ||
	    !gate_act_seen.job_known || !forgotten(here->gang, &verdict))
		return;
	if (verdict.kind == OSP_GATE_SHRINK) {
		verdict.kind = gate_act_seen.job.batch && gate_act_seen.job.requeue
				       ? OSP_GATE_REQUEUE
				       : OSP_GATE_END;
		snprintf(verdict.says, sizeof(verdict.says),
			 "slurmctld came back without what the gate had done: the job %s",
			 verdict.kind == OSP_GATE_REQUEUE ? "starts again"
							  : "cannot be requeued: ended");
	}
	gate_act_stop_job(here, &verdict, until_ms);
}

/* Waits until slurmctld must have written what was done. Where this process is killed, that stays;
 * only while it is done again the job must not start. */
static void make_sure(const struct osp_gate_here *here, const struct osp_gate_verdict *verdict)
{
	uint64_t until_ms = osp_now_ms() + PATIENCE_MS;

	osp_gate_again_never(OSP_EXIT_YES);
	if (!gate_act_seen.began_s || !must_last(verdict))
		return;
	while (osp_now_ms() < until_ms) {
		struct timespec saved = {.tv_sec = OSP_CONTROLLER_SAVED_MS / 1000};
		int64_t before_s = gate_act_seen.began_s;

		while (nanosleep(&saved, &saved) && errno == EINTR)
			;
		if (gate_act_failed(osp_controller_began(until_ms, &gate_act_seen.began_s),
				    "asking slurmctld") ||
		    gate_act_seen.began_s == before_s)
			return;
		gate_act_say("slurmctld has begun anew meanwhile: looks if it knows what was done");
		osp_gate_again_never(OSP_EXIT_NO);
		do_again(here, verdict, until_ms);
		osp_gate_again_never(OSP_EXIT_YES);
	}
}

static void begin_verdict(struct osp_gate_verdict *verdict)
{
	verdict->kind = OSP_GATE_GO;
	verdict->breaker = false;
	verdict->slow = false;
	verdict->says[0] = '\0';
	verdict->sentences = NULL;
	verdict->sentence_count = 0;
}

void osp_gate_act_gone(const struct osp_gate_here *here, struct osp_gate_report *reports,
		       uint64_t until_ms, struct osp_gate_verdict *verdict)
{
	gate_act_seen.job_here = here->job;
	begin_verdict(verdict);
	for (uint32_t r = 0; reports && r < here->gang->node_count; r++)
		if (reports[r].result == OSP_VERDICT_SILENT)
			reports[r].result = OSP_VERDICT_SKIP;
	if (!reports || !attempt_without_job(here, reports, until_ms, verdict))
		gone(verdict);
}

void osp_gate_act_decide(const struct osp_gate_here *here, struct osp_gate_report *reports,
			 uint64_t until_ms, struct osp_gate_verdict *verdict)
{
	char words[OSP_GATE_REASON_BYTES];

	gate_act_seen.job_here = here->job;
	begin_verdict(verdict);
	if (osp_gate_all_well(here->gang, reports, here->policy)) {
		if (!gate_act_seen.reported || gate_act_ask_job(here->gang, until_ms) != 0)
			return;
		snprintf(words, sizeof(words), "passed on %u node%s", here->gang->node_count,
			 osp_plural_s(here->gang->node_count));
		gate_act_comment(here->gang, NULL, gate_act_stopped_before(), words, until_ms);
	} else if (!attempt(here, reports, until_ms, verdict)) {
		put_off(here, reports, verdict);
	}
}

bool osp_gate_act_left(const struct osp_gate_verdict *verdict)
{
	return gate_act_seen.reports || verdict->kind == OSP_GATE_SHRINK;
}

void osp_gate_act_after(const struct osp_gate_here *here, const struct osp_gate_verdict *reported,
			uint64_t until_ms)
{
	struct osp_gate_verdict again = {.kind = OSP_GATE_GO};
	struct osp_gate_verdict verdict = *reported;

	if (gate_act_seen.reports) {
		until_ms = osp_now_ms() + PATIENCE_MS;
		if (!attempt(here, gate_act_seen.reports, until_ms, &again))
			gate_act_say("slurmctld did not answer: job %u is left as it is",
				     here->gang->job);
		verdict = again;
	}
	if (verdict.kind == OSP_GATE_SHRINK)
		gate_act_shrink(here, &verdict, until_ms);
	if (gate_act_seen.exclude_later)
		gate_act_exclude(here, &verdict, osp_now_ms() + PATIENCE_MS);
	make_sure(here, &verdict);
	osp_gate_verdict_free(&again);
	free(gate_act_seen.reports);
	gate_act_seen.reports = NULL;
}

bool osp_gate_act_stop(const struct osp_gate_here *here)
{
	struct osp_gate_sentence own = {.rank = here->gang->rank, .actions = OSP_GATE_SUSPECT};
	struct osp_gate_verdict verdict = {
		.kind = OSP_GATE_END, .sentences = &own, .sentence_count = 1};
	uint64_t until_ms = osp_now_ms() + PATIENCE_MS;
	int code;

	gate_act_seen.job_here = here->job;
	code = gate_act_ask_job(here->gang, until_ms);
	if (code == ESLURM_INVALID_JOB_ID ||
	    (code == 0 && gate_act_seen.job.phase != OSP_PHASE_RUNNING))
		return true;
	if (gate_act_failed(code, "asking slurmctld"))
		return false;
	if (gate_act_seen.job.batch && gate_act_seen.job.requeue)
		verdict.kind = gate_act_stopped_before().all < here->policy->restarts_max
				       ? OSP_GATE_REQUEUE
				       : OSP_GATE_HOLD;
	snprintf(verdict.says, sizeof(verdict.says),
		 "the gate of %s was killed before the start was settled",
		 here->gang->nodes[here->gang->rank]);
	return gate_act_stop_job(here, &verdict, until_ms);
}

bool osp_gate_act_progress(const struct osp_gate_here *here, const struct osp_gate_report *reports,
			   uint32_t heard)
{
	uint64_t until_ms = osp_now_ms() + PROGRESS_MS;
	char words[OSP_GATE_WORDS_BYTES], line[OSP_GATE_WORDS_BYTES + 16];
	int code;

	(void)heard;
	gate_act_seen.job_here = here->job;
	code = gate_act_ask_job(here->gang, until_ms);
	if (code == ESLURM_INVALID_JOB_ID ||
	    (code == 0 && gate_act_seen.job.phase != OSP_PHASE_RUNNING))
		return false;
	if (code)
		return true;
	osp_gate_progress(here->gang, reports, words, sizeof(words));
	if (gate_act_seen.job.batch) {
		gate_act_comment(here->gang, NULL, gate_act_stopped_before(), words, until_ms);
		gate_act_seen.reported = true;
	} else {
		snprintf(line, sizeof(line), "onespine: %s", words);
		osp_controller_notify(here->gang->job, line, until_ms);
	}
	return true;
}
