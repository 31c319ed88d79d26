/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_answers.c - answers about the future that hold until something changes
 *
 * The scheduler is asked about a waiting gang in every cycle, for days, and almost always it says
 * what it said before. An answer is kept with a hash of all that was asked, and with the state of
 * its nodes. Nothing is kept about a start at once: the scheduler is asked each time.
 */
#include "lib/choose/choose_private.h"

#include <string.h>

#include "lib/base/hash.h"

/* Identifies an answer. */
struct question {
	uint64_t what[2];
	uint64_t state;
};

static uint64_t hash_question(const struct osp_choose_run *run, const struct osp_nodeset *nodes,
			      enum osp_ask_mode mode, uint64_t start)
{
	const struct osp_choose_input *input = run->input;
	uint64_t hash = osp_hash_mix(start, mode == OSP_ASK_EVER ? 0 : input->job);

	hash = osp_hash_mix(hash, input->request);
	hash = osp_hash_mix(hash, (uint64_t)mode);
	hash = osp_hash_mix(hash,
			    (uint64_t)input->place.need_nodes << 32 | input->place.want_nodes);
	if (mode == OSP_ASK_WHEN) {
		hash = osp_hash_mix(hash, run->first_s > input->now_s ? (uint64_t)run->first_s : 0);
		hash = osp_hash_mix(hash, (uint64_t)input->slot_end_s);
	}
	for (uint32_t w = 0; w < nodes->word_count; w++) {
		if (nodes->words[w])
			hash = osp_hash_mix(osp_hash_mix(hash, w), nodes->words[w]);
	}
	return hash;
}

/*
 * Makes the question. Returns false if no answer is kept. What could ever run depends on no running
 * job, and is the same for all jobs with the same request.
 */
static bool question_of(const struct osp_choose_run *run, const struct osp_nodeset *nodes,
			enum osp_ask_mode mode, struct question *question)
{
	const struct osp_choose_calls *calls = run->calls;

	if (!run->input->request || !calls->state_of)
		return false;
	question->what[0] = hash_question(run, nodes, mode, OSP_HASH_START);
	question->what[1] = hash_question(run, nodes, mode, 1);
	question->state = mode == OSP_ASK_WHEN ? calls->state_of(calls->context, nodes) : 0;
	return true;
}

static struct osp_choose_kept *place_of(struct osp_chooser *chooser,
					const struct question *question)
{
	return &chooser->kept[question->what[0] % OSP_CHOOSE_KEPT_MAX];
}

/*
 * Returns whether a start that was in the future has come. The jobs that should have ended by then
 * are overdue, and nothing in the state of the nodes shows that. Only the scheduler guesses how
 * long they still run, and another domain may be first.
 */
static bool has_come(const struct osp_choose_kept *kept, int64_t now_s)
{
	return kept->waits && kept->start_s <= now_s;
}

/* Returns the kept answer, or NULL. */
static const struct osp_choose_kept *find(const struct osp_choose_run *run,
					  const struct question *question)
{
	const struct osp_choose_kept *kept = place_of(run->chooser, question);
	int64_t now_s = run->input->now_s;

	if (kept->what[0] != question->what[0] || kept->what[1] != question->what[1] ||
	    kept->state != question->state || now_s >= kept->until_s || has_come(kept, now_s) ||
	    now_s < kept->until_s - 2 * OSP_CHOOSE_KEEP_S)
		return NULL;
	return kept;
}

/* Returns the end of an answer. Jobs' answers do not all end in the same cycle. */
static int64_t keep_until(const struct osp_choose_run *run)
{
	return run->input->now_s + OSP_CHOOSE_KEEP_S + run->input->job % OSP_CHOOSE_KEEP_S;
}

static void keep(struct osp_choose_run *run, const struct question *question, int64_t start_s,
		 bool other_nodes)
{
	struct osp_choose_kept *kept = place_of(run->chooser, question);

	*kept = (struct osp_choose_kept){.what = {question->what[0], question->what[1]},
					 .state = question->state,
					 .start_s = start_s,
					 .processors = run->answer.processors,
					 .other_nodes = other_nodes,
					 .waits = start_s > run->input->now_s,
					 .until_s = keep_until(run)};
}

/* Keeps an answer, except one that was cut short and a no that may only mean that the scheduler had
 * no more time. */
static void keep_answer(struct osp_choose_run *run, const struct question *question,
			const struct osp_nodeset *nodes, enum osp_ask_mode mode, bool yes,
			int64_t took_ms)
{
	if (run->answer.cut_short)
		return;
	if (!yes && took_ms < OSP_CHOOSE_BUDGET_MS)
		keep(run, question, OSP_PLACE_NEVER_S, false);
	else if (yes && mode == OSP_ASK_EVER)
		keep(run, question, OSP_PLACE_NEVER_S - 1, false);
	else if (yes)
		keep(run, question, run->answer.start_s,
		     !osp_nodeset_equal(run->answer.nodes, nodes));
}

/*
 * Returns whether a kept answer helps. If the scheduler chose the nodes among those asked about,
 * the nodes are not kept; the answer only shows that the start is no earlier than the one already
 * found.
 */
static bool is_of_use(const struct osp_choose_run *run, const struct osp_choose_kept *kept)
{
	return !kept->other_nodes || (run->choice->found && kept->start_s >= run->choice->start_s);
}

static bool answer_from(struct osp_choose_run *run, const struct osp_choose_kept *kept,
			const struct osp_nodeset *nodes)
{
	if (kept->start_s == OSP_PLACE_NEVER_S || kept->other_nodes)
		return false;
	run->answer = (struct osp_answer){.start_s = kept->start_s,
					  .processors = kept->processors,
					  .nodes = run->chooser->given,
					  .victims = run->chooser->victims};
	osp_nodeset_assign(run->answer.nodes, nodes);
	run->recalled = true;
	return true;
}

bool osp_choose_ask_later(struct osp_choose_run *run, const struct osp_nodeset *nodes,
			  enum osp_ask_mode mode)
{
	const struct osp_victims victims = {.all = run->preempting && mode == OSP_ASK_WHEN};
	const struct osp_choose_calls *calls = run->calls;
	const struct osp_choose_kept *kept;
	struct question question;
	int64_t began_ms;
	bool yes;

	/* The jobs that may be preempted are in no state of nodes. */
	if (victims.all || !question_of(run, nodes, mode, &question))
		return osp_choose_ask(run, nodes, mode, &victims);
	kept = find(run, &question);
	if (kept && is_of_use(run, kept))
		return answer_from(run, kept, nodes);
	began_ms = calls->elapsed_ms(calls->context);
	yes = osp_choose_ask(run, nodes, mode, NULL);
	keep_answer(run, &question, nodes, mode, yes, calls->elapsed_ms(calls->context) - began_ms);
	return yes;
}

void osp_chooser_forget_answers(struct osp_chooser *chooser)
{
	memset(chooser->kept, 0, sizeof(chooser->kept));
}
