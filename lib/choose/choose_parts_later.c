/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose_parts_later.c - a start in the future of a gang in segments or in several domains */
#include "lib/choose/choose_parts_private.h"
#include "lib/place/place_sort.h"

#include <string.h>

#define KINDS_MAX OSP_CHOOSE_PART_KINDS_MAX

/* --- later ------------------------------------------------------------------------------------ */

/* Returns whether the gang fits on the nodes offered. */
static bool fits_offered(struct osp_choose_run *run)
{
	struct osp_cut_input input =
		osp_parts_input(run->input->parts, &run->input->place, run->chooser->parts.offered);
	struct osp_cut_answer answer;

	osp_cut_judge(run->chooser->cut, &input, &answer);
	return answer.fits;
}

/*
 * Puts the nodes of the base that are free at the first moment into `offered`,
 * and those that become free later into `later`, in the order of time. Returns
 * how many those are.
 */
static uint32_t sort_by_time(struct osp_choose_run *run)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	const int64_t *free_at_s = run->chooser->free_at_s;
	uint32_t count = 0;

	osp_nodeset_assign(scratch->offered, scratch->base);
	osp_choose_keep_free_by(scratch->offered, free_at_s, OSP_PLACE_NEVER_S - 1);
	for (uint32_t n = osp_nodeset_next(scratch->offered, 0); n < scratch->offered->place_count;
	     n = osp_nodeset_next(scratch->offered, n + 1)) {
		uint64_t after_s = (uint64_t)(free_at_s[n] - run->first_s);

		if (free_at_s[n] <= run->first_s)
			continue;
		scratch->keys[2 * (size_t)count] = (uint32_t)(after_s >> 32);
		scratch->keys[2 * (size_t)count + 1] = (uint32_t)after_s;
		scratch->later[count++] = n;
	}
	osp_place_sort(scratch->keys, 2, count, scratch->order, scratch->spare);
	for (uint32_t i = 0; i < count; i++) {
		scratch->spare[i] = scratch->later[scratch->order[i]];
		osp_nodeset_remove(scratch->offered, scratch->spare[i]);
	}
	memcpy(scratch->later, scratch->spare, count * sizeof(*scratch->later));
	return count;
}

/* Changes the nodes offered from the first `*now` of those that become free later to the first
 * `count`. */
static void offer_first(struct osp_choose_run *run, uint32_t *now, uint32_t count)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	for (; *now < count; (*now)++)
		osp_nodeset_add(scratch->offered, scratch->later[*now]);
	for (; *now > count; (*now)--)
		osp_nodeset_remove(scratch->offered, scratch->later[*now - 1]);
}

/*
 * Returns the earliest time at which the gang fits on chooser->parts.base,
 * OSP_PLACE_NEVER_S for never. Halves the number of nodes that may become free
 * before; nodes that become free at one time come together.
 */
static int64_t bound_of_base(struct osp_choose_run *run)
{
	const uint32_t *later = run->chooser->parts.later;
	const int64_t *free_at_s = run->chooser->free_at_s;
	uint32_t fits = sort_by_time(run), too_few = 0, now = 0;

	if (fits_offered(run))
		return run->first_s;
	offer_first(run, &now, fits);
	if (!fits || !fits_offered(run))
		return OSP_PLACE_NEVER_S;
	for (;;) {
		uint32_t tried = too_few + (fits - too_few) / 2;

		while (tried > too_few && free_at_s[later[tried - 1]] == free_at_s[later[tried]])
			tried--;
		if (tried == too_few) {
			for (tried++; tried < fits &&
				      free_at_s[later[tried - 1]] == free_at_s[later[tried]];)
				tried++;
			if (tried == fits)
				return free_at_s[later[fits - 1]];
		}
		offer_first(run, &now, tried);
		if (fits_offered(run))
			fits = tried;
		else
			too_few = tried;
	}
}

/* When kinds fit, in no order. */
struct bounds {
	uint32_t count;
	uint16_t kind[KINDS_MAX];
	int64_t bound_s[KINDS_MAX];
};

/* Returns the index of the kind that fits last. */
static uint32_t last_of(const struct bounds *bounds)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < bounds->count; i++) {
		if (bounds->bound_s[i] > bounds->bound_s[last])
			last = i;
	}
	return last;
}

/* Adds a kind; to a full list in place of the one that fits last, if it fits earlier. */
static void add_bound(struct bounds *bounds, uint16_t kind, int64_t bound_s)
{
	uint32_t at = bounds->count;

	if (bound_s == OSP_PLACE_NEVER_S)
		return;
	if (at < KINDS_MAX)
		bounds->count++;
	else if (bounds->bound_s[at = last_of(bounds)] <= bound_s)
		return;
	bounds->kind[at] = kind;
	bounds->bound_s[at] = bound_s;
}

/* Finds when each kind fits that ever does; of more than KINDS_MAX keeps those that fit first. */
static void find_bounds(struct osp_choose_run *run, struct bounds *bounds)
{
	bounds->count = 0;
	for (uint16_t kind = 0; kind < osp_choose_parts_kinds(run); kind++) {
		if (osp_choose_parts_keep_kind(run, run->input->place.usable, kind,
					       run->chooser->parts.base) >=
		    run->input->place.need_nodes)
			add_bound(bounds, kind, bound_of_base(run));
	}
}

/* Removes the entry from the list. Returns when its kind fits. */
static int64_t take_bound(struct bounds *bounds, uint32_t at, uint16_t *kind)
{
	int64_t bound_s = bounds->bound_s[at];

	*kind = bounds->kind[at];
	bounds->count--;
	memmove(&bounds->kind[at], &bounds->kind[at + 1],
		(bounds->count - at) * sizeof(bounds->kind[0]));
	memmove(&bounds->bound_s[at], &bounds->bound_s[at + 1],
		(bounds->count - at) * sizeof(bounds->bound_s[0]));
	return bound_s;
}

/* Removes the kind that fits first from the list. Returns when it fits; OSP_PLACE_NEVER_S if none
 * is left. */
static int64_t next_bound(struct bounds *bounds, uint16_t *kind)
{
	uint32_t first = 0;

	*kind = 0;
	if (!bounds->count)
		return OSP_PLACE_NEVER_S;
	for (uint32_t i = 1; i < bounds->count; i++) {
		if (bounds->bound_s[i] < bounds->bound_s[first])
			first = i;
	}
	return take_bound(bounds, first, kind);
}

/* Keeps in chooser->parts.base the nodes that are free by the bound. */
static void keep_bound(struct osp_choose_run *run, const struct osp_choose_asking *asking)
{
	osp_choose_keep_free_by(run->chooser->parts.base, run->chooser->free_at_s, asking->bound_s);
}

static bool is_too_late(const struct osp_choose_run *run, int64_t bound_s)
{
	return bound_s == OSP_PLACE_NEVER_S ||
	       (run->input->slot_end_s && bound_s > run->input->slot_end_s);
}

/* Takes the current answer if it is the earliest so far. */
static void take_earlier(struct osp_choose_run *run, struct osp_choose_asking *asking)
{
	if (run->choice->found && osp_choose_true_start(run) >= run->choice->start_s)
		return;
	osp_choose_take(run, NULL);
	asking->best_mode = asking->mode;
	asking->best_kind = asking->kind;
	asking->best_asked = run->recalled ? 0 : run->asked;
}

/*
 * Asks for the best answer again if it was not the last question's: the
 * scheduler keeps parts of it elsewhere. If it withdraws its yes, the earlier
 * answer stands.
 */
static void ask_best_again(struct osp_choose_run *run, const struct osp_choose_asking *asking)
{
	const struct osp_victims victims = {.all = run->preempting &&
						   asking->best_mode == OSP_ASK_WHEN};

	if (run->asked == asking->best_asked ||
	    !osp_choose_ask(run, run->chooser->best, asking->best_mode, &victims))
		return;
	if (asking->best_mode == OSP_ASK_EVER)
		osp_choose_answer_bound(run, run->chooser->best, run->choice->start_s);
	osp_choose_take(run, NULL);
}

/*
 * Finds the bound for only those nodes that the scheduler would take with no
 * other job there, and asks about a choice of them.
 */
static bool ask_named_later(struct osp_choose_run *run, struct osp_choose_asking *asking,
			    uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	struct osp_choose_asking named = *asking;
	uint32_t namings = 0;
	bool beside = false;

	if (!osp_choose_parts_may_name(run, OSP_ASK_WHO_EVER))
		return false;
	osp_choose_parts_keep_kind(run, run->input->place.usable, kind, scratch->base);
	while (namings < OSP_CHOOSE_NAMINGS_MAX &&
	       osp_choose_parts_name_next(run, OSP_ASK_WHO_EVER, &beside))
		namings++;
	if (osp_nodeset_equal(scratch->named, scratch->base))
		return osp_choose_parts_named_in_vain(asking, OSP_ASK_WHO_EVER);
	osp_nodeset_assign(scratch->base, scratch->named);
	named.bound_s = bound_of_base(run);
	if (is_too_late(run, named.bound_s))
		return osp_choose_parts_named_in_vain(asking, OSP_ASK_WHO_EVER);
	osp_nodeset_assign(scratch->base, scratch->named);
	keep_bound(run, &named);
	osp_nodeset_assign(scratch->offered, scratch->base);
	if (!osp_choose_parts_pick(run, &named) || !osp_choose_parts_ask(run, &named))
		return osp_choose_parts_named_in_vain(asking, OSP_ASK_WHO_EVER);
	asking->mode = named.mode;
	return true;
}

/*
 * Asks about the choice at the bound, then about one of nodes that the
 * scheduler would ever take, then about the others at the bound.
 */
static bool ask_kind_later(struct osp_choose_run *run, struct osp_choose_asking *asking,
			   uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	asking->kind = kind;
	asking->skip = osp_choose_parts_skipped(run, kind);
	asking->choices = 0;
	osp_choose_parts_keep_kind(run, run->input->place.usable, kind, scratch->base);
	keep_bound(run, asking);
	osp_nodeset_assign(scratch->offered, scratch->base);
	if (!osp_choose_parts_pick(run, asking))
		return false;
	osp_nodeset_assign(scratch->first, run->chooser->nodes);
	if (osp_choose_parts_ask(run, asking) || ask_named_later(run, asking, kind))
		return true;
	osp_choose_parts_keep_kind(run, run->input->place.usable, kind, scratch->base);
	keep_bound(run, asking);
	return osp_choose_parts_try_others(run, asking);
}

static bool may_ask_for_earlier(const struct osp_choose_run *run, struct osp_choose_asking *asking)
{
	return asking->earlier++ < OSP_CHOOSE_EARLIER_MAX && !osp_choose_budget_spent(run);
}

/*
 * Adds to chooser->parts.named the nodes on which the scheduler would next
 * start the gang before the best answer, at least one: of all nodes of the kind
 * that may be free by then, or of the unnamed ones and one fewer of the named
 * than the gang needs. No choice starts before that moment, which is the new
 * bound. Returns false if there are none.
 */
static bool name_by_time(struct osp_choose_run *run, struct osp_choose_asking *asking,
			 uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	uint32_t need = run->input->place.need_nodes;
	bool first = osp_nodeset_empty(scratch->named);

	osp_choose_parts_keep_kind(run, run->input->place.usable, kind, scratch->offered);
	osp_choose_keep_free_by(scratch->offered, run->chooser->free_at_s,
				run->choice->start_s - 1);
	osp_nodeset_and_not(scratch->offered, scratch->named);
	if (osp_nodeset_count(scratch->offered) < (first ? need + 1 : 1) ||
	    !may_ask_for_earlier(run, asking))
		return false;
	osp_choose_parts_add_some(scratch->offered, scratch->named, need - 1);
	if (!osp_choose_ask_later(run, scratch->offered, OSP_ASK_WHEN) ||
	    osp_choose_true_start(run) >= run->choice->start_s)
		return false;
	asking->bound_s = osp_choose_true_start(run);
	osp_nodeset_or(scratch->named, run->answer.nodes);
	return true;
}

/*
 * Looks for an earlier start after an answer later than its bound: the
 * scheduler says which nodes would start first, and choices are made of them,
 * until no other is earlier.
 */
static void try_earlier(struct osp_choose_run *run, struct osp_choose_asking *asking, uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	osp_nodeset_clear(scratch->named);
	while (run->choice->start_s > asking->bound_s && name_by_time(run, asking, kind)) {
		osp_nodeset_assign(scratch->offered, scratch->named);
		if (osp_choose_parts_pick(run, asking) && osp_choose_parts_ask(run, asking))
			take_earlier(run, asking);
	}
}

/* Removes the kind that the call begins with from the list. Returns when it fits. */
static int64_t first_bound(struct osp_choose_run *run, struct bounds *bounds, uint16_t *kind)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);
	uint16_t first = progress ? progress->first_kind[OSP_CHOOSE_LIST_LATER] : 0;

	for (uint32_t i = 0; first && i < bounds->count; i++) {
		if (bounds->kind[i] == first - 1 && !is_too_late(run, bounds->bound_s[i]))
			return take_bound(bounds, i, kind);
	}
	return next_bound(bounds, kind);
}

/*
 * Makes the next call, if this one's time is spent, begin with the kind of the plan, which it
 * might not reach, or without a plan with the next kind. As long as there is a plan, later calls
 * do so too.
 */
static void note_first_kind(struct osp_choose_run *run, const struct osp_choose_asking *asking,
			    struct bounds *bounds)
{
	bool found = run->choice->found, spent = osp_choose_budget_spent(run);
	uint16_t next = asking->best_kind;
	struct osp_choose_progress *progress =
		spent ? osp_choose_progress(run) : osp_choose_recall_progress(run);
	uint16_t *first = progress ? &progress->first_kind[OSP_CHOOSE_LIST_LATER] : NULL;

	if (!first)
		return;
	if (!found && (!spent || is_too_late(run, next_bound(bounds, &next))))
		*first = 0;
	else if (spent || *first)
		*first = next + 1;
}

/*
 * Asks kind after kind in the order of their bounds, which it removes, until
 * the best answer is no later than the next one.
 */
static void ask_kinds_later(struct osp_choose_run *run, struct osp_choose_asking *asking,
			    struct bounds *bounds)
{
	const struct osp_choice *choice = run->choice;
	uint16_t kind;

	asking->bound_s = first_bound(run, bounds, &kind);
	while (!is_too_late(run, asking->bound_s) &&
	       (!choice->found ||
		(choice->start_s > asking->bound_s && may_ask_for_earlier(run, asking)))) {
		if (ask_kind_later(run, asking, kind))
			take_earlier(run, asking);
		else if (!asking->stopped)
			osp_choose_parts_skip(run, kind, 0);
		if (osp_choose_budget_spent(run))
			break;
		asking->bound_s = next_bound(bounds, &kind);
	}
	note_first_kind(run, asking, bounds);
}

static bool start_later(struct osp_choose_run *run, bool preempting)
{
	struct osp_choose_asking asking = {
		.list = OSP_CHOOSE_LIST_LATER, .boot = run->input->place.boot, .later = true};
	struct bounds bounds, left;

	run->preempting = preempting;
	osp_choose_parts_find_free_times(run, preempting);
	find_bounds(run, &bounds);
	left = bounds;
	ask_kinds_later(run, &asking, &left);
	if (!run->choice->found) {
		osp_choose_parts_end(run, &asking);
		return false;
	}
	for (uint32_t i = 0; i < bounds.count; i++) {
		asking.bound_s = bounds.bound_s[i];
		try_earlier(run, &asking, bounds.kind[i]);
	}
	ask_best_again(run, &asking);
	return true;
}

/* Looks for a start in a slot that begins later: first without preempting. */
static void start_in_slot(struct osp_choose_run *run)
{
	if (!run->input->first_only && start_later(run, false) &&
	    run->choice->start_s <= run->first_s)
		return;
	if (!osp_choose_parts_start_preempting(run) && !run->choice->found &&
	    !run->input->first_only && run->input->may_preempt)
		start_later(run, !run->leaving);
}

void osp_choose_parts_will_run(struct osp_choose_run *run)
{
	if (run->first_s > run->input->now_s) {
		start_in_slot(run);
		return;
	}
	osp_choose_parts_find_free_times(run, false);
	if (osp_choose_parts_start_first(run) || osp_choose_parts_start_preempting(run) ||
	    run->input->first_only)
		return;
	start_later(run, run->input->may_preempt && !run->leaving);
}
