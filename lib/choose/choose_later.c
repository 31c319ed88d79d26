/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_later.c - when a gang would start, and on which nodes
 */
#include "lib/choose/choose_private.h"

/* How the current answer was found: it is asked for again in the same way. */
struct plan {
	bool at_bound;
	bool recalled; /* it is an earlier one */
	bool preempting;
	struct osp_place_domain candidate;
};

/* Works without a branch per node: in a large cluster no processor can predict them. */
void osp_choose_keep_free_by(struct osp_nodeset *set, const int64_t *free_at_s, int64_t by_s)
{
	for (uint32_t w = 0; w < set->word_count; w++) {
		const int64_t *times_s = &free_at_s[(size_t)w * 64];
		uint64_t kept = 0;

		for (uint64_t left = set->words[w]; left; left &= left - 1) {
			unsigned int bit = (unsigned int)__builtin_ctzll(left);

			kept |= (uint64_t)(times_s[bit] <= by_s) << bit;
		}
		set->words[w] = kept;
	}
}

void osp_choose_nodes_free_by(struct osp_choose_run *run, const struct osp_place_domain *candidate,
			      int64_t by_s)
{
	struct osp_nodeset *from = run->chooser->from;

	if (candidate)
		osp_choose_domain_nodes(run, candidate);
	osp_nodeset_assign(from, candidate ? run->chooser->nodes : run->input->place.usable);
	osp_choose_keep_free_by(from, run->chooser->free_at_s, by_s);
}

/* --- at the first moment --------------------------------------------------------------------- */

static bool ask_domain_first(struct osp_choose_run *run, const struct osp_place_domain *candidate)
{
	if (osp_choose_pick(run, candidate, run->chooser->from) &&
	    osp_choose_ask(run, run->chooser->nodes, OSP_ASK_FIRST, NULL))
		return true;
	osp_choose_domain_nodes(run, candidate);
	osp_choose_pass_over_settling(run);
	return osp_choose_ask(run, run->chooser->nodes, OSP_ASK_FIRST, NULL);
}

/*
 * Ends the list with the domains that may be free at the first moment if a later start is of no
 * use.
 */
static void leave_due(struct osp_choose_run *run, uint32_t asked)
{
	if (!run->missed) {
		run->count = asked;
		run->rest = 0;
	}
	osp_choose_list_was_vain(run, OSP_CHOOSE_LIST_LATER, asked);
}

/*
 * Asks about the candidates that may be free now, until one is. The next call continues after those
 * that there was time for; remember_plan() notes this if a later start is of use.
 */
static bool start_now(struct osp_choose_run *run)
{
	uint32_t asked = 0;

	if (run->count && run->chooser->candidates[0].bound_s <= run->first_s)
		osp_choose_nodes_free_by(run, NULL, run->first_s);
	run->missed = 0;
	for (; asked < run->count && !osp_choose_budget_spent(run); asked++) {
		const struct osp_place_domain *candidate = &run->chooser->candidates[asked];

		if (candidate->bound_s > run->first_s)
			break;
		if (ask_domain_first(run, candidate)) {
			osp_choose_take(run, candidate);
			return true;
		}
	}
	if (asked < run->count ? run->chooser->candidates[asked].bound_s <= run->first_s
			       : run->rest_is_due)
		run->missed = asked;
	if (run->input->first_only)
		leave_due(run, asked);
	return false;
}

/* --- later ----------------------------------------------------------------------------------- */

/*
 * Returns whether the gang starts at its bound: it does if the last job on the picked nodes has
 * ended by then and the nodes suit it at all. Simulating the ends of all jobs takes most of
 * backfill's time (select/cons_tres/job_test.c).
 */
bool osp_choose_bound_is_start(const struct osp_choose_run *run, int64_t bound_s)
{
	const struct osp_choose_input *input = run->input;
	const struct osp_choose_calls *calls = run->calls;

	return input->bound_is_start && input->exact_size &&
	       input->place.want_nodes <= input->place.need_nodes && bound_s > input->now_s &&
	       (!calls->empty_at || calls->empty_at(calls->context, run->chooser->nodes, bound_s));
}

void osp_choose_answer_bound(struct osp_choose_run *run, const struct osp_nodeset *nodes,
			     int64_t bound_s)
{
	run->answer.start_s = bound_s;
	osp_nodeset_assign(run->answer.nodes, nodes);
}

bool osp_choose_ask_at_bound(struct osp_choose_run *run, const struct osp_nodeset *nodes,
			     int64_t bound_s)
{
	if (!osp_choose_ask_later(run, nodes, OSP_ASK_EVER))
		return false;
	osp_choose_answer_bound(run, nodes, bound_s);
	return true;
}

/* Takes the current answer if it is the best so far. Returns whether it is. */
static bool take_earlier(struct osp_choose_run *run, const struct plan *plan, struct plan *best)
{
	if (run->choice->found && osp_choose_true_start(run) >= run->choice->start_s)
		return false;
	osp_choose_take(run, &plan->candidate);
	*best = *plan;
	best->recalled = run->recalled;
	return true;
}

/*
 * Asks about one domain: exactly the nodes that are free by its bound; if they do not start the
 * gang by then, the whole domain, since other nodes may be free earlier. Returns true if the last
 * answer is the best so far.
 */
static bool ask_later(struct osp_choose_run *run, const struct osp_place_domain *candidate,
		      struct plan *best)
{
	struct plan plan = {.candidate = *candidate, .preempting = run->preempting};
	bool picked;

	osp_choose_nodes_free_by(run, candidate, candidate->bound_s);
	picked = osp_choose_pick(run, candidate, run->chooser->from);
	if (picked && osp_choose_bound_is_start(run, candidate->bound_s) &&
	    osp_choose_ask_at_bound(run, run->chooser->nodes, candidate->bound_s)) {
		plan.at_bound = true;
		return take_earlier(run, &plan, best);
	}
	if (picked && osp_choose_ask_later(run, run->chooser->nodes, OSP_ASK_WHEN)) {
		bool taken = take_earlier(run, &plan, best);

		if (osp_choose_true_start(run) <= candidate->bound_s)
			return taken;
	}
	osp_choose_domain_nodes(run, candidate);
	return osp_choose_ask_later(run, run->chooser->nodes, OSP_ASK_WHEN) &&
	       take_earlier(run, &plan, best);
}

/*
 * Asks for the best answer again, because the best domain must be the last one that the scheduler
 * considered: it keeps parts of the answer elsewhere. If it withdraws its yes, the earlier answer
 * stands.
 */
static void ask_again(struct osp_choose_run *run, const struct plan *plan)
{
	const struct osp_nodeset *nodes = run->chooser->best;
	enum osp_ask_mode mode = plan->at_bound ? OSP_ASK_EVER : OSP_ASK_WHEN;
	const struct osp_victims victims = {.all = plan->preempting && !plan->at_bound};

	if (!osp_choose_ask(run, nodes, mode, &victims))
		return;
	if (plan->at_bound)
		osp_choose_answer_bound(run, nodes, run->choice->start_s);
	osp_choose_take(run, &plan->candidate);
}

/*
 * Asks domain after domain in the order of their lower bounds, until the best answer is no later
 * than the next bound: no other can be earlier then, by the scheduler's own measure. Returns how
 * many were asked; *last_is_best says whether the best answer is the last one's.
 */
static uint32_t ask_in_order(struct osp_choose_run *run, struct plan *best, bool *last_is_best)
{
	uint32_t asked = 0, earlier = 0, known = 0, before;
	bool found;

	for (; asked < run->count; asked++) {
		struct osp_place_domain candidate = run->chooser->candidates[asked];

		if (run->choice->found &&
		    (run->choice->start_s <= candidate.bound_s ||
		     earlier >= OSP_CHOOSE_EARLIER_MAX || known >= OSP_CHOOSE_EARLIER_KNOWN_MAX))
			break;
		if (run->input->slot_end_s && candidate.bound_s > run->input->slot_end_s) {
			run->rest = 0; /* the rest is of no use */
			run->count = asked;
			break;
		}
		if (asked && osp_choose_budget_spent(run))
			break;
		found = run->choice->found;
		before = run->asked;
		*last_is_best = ask_later(run, &candidate, best);
		/* domains with kept answers do not use up the questions to others */
		if (found)
			*(run->asked == before ? &known : &earlier) += 1;
	}
	return asked;
}

/*
 * Remembers where a gang has a plan if its domains take longer to ask than there is time. The next
 * call continues with those not yet asked for a start at the first moment, or from the front if
 * there are none.
 */
static void remember_plan(struct osp_choose_run *run)
{
	struct osp_choose_progress *progress = osp_choose_budget_spent(run) || run->missed
						       ? osp_choose_progress(run)
						       : osp_choose_recall_progress(run);

	if (!progress)
		return;
	progress->plan_domain = run->choice->domains[0];
	progress->skip[OSP_CHOOSE_LIST_LATER] = run->missed ? run->skipped + run->missed : 0;
}

static void start_later(struct osp_choose_run *run, struct plan *best)
{
	bool last_is_best = false;
	uint32_t asked = ask_in_order(run, best, &last_is_best);
	bool left = run->rest || asked < run->count;

	if (!run->choice->found)
		osp_choose_list_was_vain(run, OSP_CHOOSE_LIST_LATER, asked);
	if ((run->skipped || (!run->choice->found && left)) && run->planned.domain != OSP_NO_DOMAIN)
		last_is_best = ask_later(run, &run->planned, best);
	if (!run->choice->found)
		return;
	if (!last_is_best || (best->recalled && run->asked))
		ask_again(run, best);
	remember_plan(run);
}

/* --- will run -------------------------------------------------------------------------------- */

/*
 * Looks for a later start as the scheduler does, which removes the jobs that may be preempted
 * before it lets the others end one by one. If jobs already leave for this gang, plans for the time
 * when they have all ended.
 */
static void start_later_preempting(struct osp_choose_run *run, struct plan *best)
{
	run->preempting = !run->leaving;
	osp_choose_list_by_time(run, OSP_CHOOSE_LIST_LATER, run->preempting);
	start_later(run, best);
}

/*
 * Looks for a start in a slot that begins later: at its start without preempting, then at its start
 * with preempting, then later in the slot.
 */
static void start_in_slot(struct osp_choose_run *run)
{
	struct plan plan;

	if (!run->input->first_only)
		start_later(run, &plan);
	if (!run->input->may_preempt ||
	    (run->choice->found && run->choice->start_s <= run->first_s))
		return;
	if (!osp_choose_preempting(run) && !run->input->first_only)
		start_later_preempting(run, &plan);
}

void osp_choose_will_run(struct osp_choose_run *run)
{
	struct plan plan;

	osp_choose_list_by_time(run, OSP_CHOOSE_LIST_LATER, false);
	if (run->first_s > run->input->now_s) {
		start_in_slot(run);
		return;
	}
	if (start_now(run))
		return;
	if (run->input->may_preempt && osp_choose_preempting(run))
		return;
	if (run->input->first_only)
		return;
	if (run->input->may_preempt)
		start_later_preempting(run, &plan);
	else
		start_later(run, &plan);
}
