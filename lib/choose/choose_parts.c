/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_parts.c - where and when a gang in segments or in several domains
 * starts
 *
 * lib/place/segments.h says exactly whether the gang fits on some nodes, and
 * chooses. For a start the scheduler is always offered exactly the chosen
 * nodes, because it would take any of more. Only the scheduler knows what is
 * wrong with a node (another type of GPU, too few processors left for this
 * job's tasks). So after a no it is asked which nodes it would take, and the
 * choice is made out of these; then choices are made without one part of the
 * first choice after the other, and without one node after the other.
 */
#include "lib/choose/choose_private.h"
#include "lib/place/place_sort.h"

#include <stdlib.h>
#include <string.h>

/* Choices asked about in one call; the next call continues after them. */
#define TRIES_MAX 32

/* Questions in one call for the nodes that the scheduler would take, and the
 * time for them. */
#define NAMINGS_MAX	  64
#define NAMINGS_BUDGET_MS (OSP_CHOOSE_BUDGET_MS / 2)

#define KINDS_MAX	  OSP_CHOOSE_PART_KINDS_MAX

/* How a choice is asked about. */
struct asking {
	enum osp_choose_list list;
	enum osp_ask_mode mode; /* later: the one that was answered yes */
	const struct osp_victims *victims;
	const struct osp_nodeset *boot; /* taken last */
	bool later;
	int64_t bound_s;

	/* Later: the best answer so far, and the search for an earlier one. */
	enum osp_ask_mode best_mode;
	uint32_t best_asked; /* questions up to this answer; 0: it is an earlier one */
	uint32_t earlier;    /* questions after the first answer */

	uint16_t best_kind; /* of the best answer */

	/* The other choices of a kind, after its first. */
	uint16_t kind;
	uint32_t skip;	  /* earlier calls asked about so many */
	uint32_t choices; /* so far */
	uint32_t tries;	  /* those of any kind that were asked about in this call */
	bool stopped;	  /* there was no time for more */
	bool unnamed;	  /* the nodes that the scheduler would ever take did not help */
};

int osp_choose_parts_new(struct osp_chooser *chooser)
{
	struct osp_choose_parts_scratch *scratch = &chooser->parts;

	scratch->base = osp_nodeset_new(chooser->node_count);
	scratch->offered = osp_nodeset_new(chooser->node_count);
	scratch->first = osp_nodeset_new(chooser->node_count);
	scratch->unseen = osp_nodeset_new(chooser->node_count);
	scratch->last = osp_nodeset_new(chooser->node_count);
	scratch->named = osp_nodeset_new(chooser->node_count);
	scratch->later = calloc(chooser->node_count + 1, sizeof(*scratch->later));
	scratch->order = calloc(chooser->node_count + 1, sizeof(*scratch->order));
	scratch->spare = calloc(chooser->node_count + 1, sizeof(*scratch->spare));
	scratch->keys = calloc(2 * ((size_t)chooser->node_count + 1), sizeof(*scratch->keys));
	return scratch->base && scratch->offered && scratch->first && scratch->unseen &&
			       scratch->last && scratch->named && scratch->later &&
			       scratch->order && scratch->spare && scratch->keys
		       ? 0
		       : -1;
}

void osp_choose_parts_free(struct osp_chooser *chooser)
{
	struct osp_choose_parts_scratch *scratch = &chooser->parts;

	free(scratch->base);
	free(scratch->offered);
	free(scratch->first);
	free(scratch->unseen);
	free(scratch->last);
	free(scratch->named);
	free(scratch->later);
	free(scratch->order);
	free(scratch->spare);
	free(scratch->keys);
}

/* --- nodes
 * -----------------------------------------------------------------------------------
 */

static uint16_t kind_count(const struct osp_choose_run *run)
{
	return osp_parts_kinds(&run->input->place);
}

static uint32_t keep_kind(const struct osp_choose_run *run, const struct osp_nodeset *from,
			  uint16_t kind, struct osp_nodeset *to)
{
	osp_parts_keep_kind(&run->input->place, from, kind, to);
	osp_nodeset_and(to, run->input->place.usable);
	return osp_nodeset_count(to);
}

/*
 * Tells whether the gang has an exact number of nodes, and the required ones
 * are all of them or none.
 */
static bool can_be_asked(const struct osp_choose_run *run)
{
	const struct osp_place_input *place = &run->input->place;

	if (!run->input->exact_size || place->want_nodes > place->need_nodes)
		return false;
	return !place->required || osp_nodeset_empty(place->required) ||
	       osp_nodeset_count(place->required) == place->need_nodes;
}

/* Chooses nodes out of chooser->parts.offered into chooser->nodes. */
static bool pick(struct osp_choose_run *run, const struct asking *asking)
{
	struct osp_cut_input input =
		osp_parts_input(run->input->parts, &run->input->place, run->chooser->parts.offered);

	input.boot = asking->boot;
	return osp_cut_pick(run->chooser->cut, &input, run->chooser->nodes) > 0;
}

/* --- one choice after the other
 * -------------------------------------------------------------- */

static bool ask_chosen(struct osp_choose_run *run, struct asking *asking)
{
	const struct osp_nodeset *nodes = run->chooser->nodes;

	if (!asking->later)
		return osp_choose_ask(run, nodes, asking->mode, asking->victims);
	asking->mode = OSP_ASK_EVER;
	if (osp_choose_bound_is_start(run, asking->bound_s) &&
	    osp_choose_ask_at_bound(run, nodes, asking->bound_s))
		return true;
	asking->mode = OSP_ASK_WHEN;
	return osp_choose_ask_later(run, nodes, OSP_ASK_WHEN);
}

/* Returns the lowest level of the gang's segments or domains. */
static uint32_t lowest_level(const struct osp_choose_run *run)
{
	const struct osp_segments *segments = &run->input->parts->segments;

	return segments->count ? segments->segment[0].level : run->input->place.level;
}

/*
 * Offers all of chooser->parts.base except node `n` or, with `whole_domain`,
 * its domain at the lowest level. Removes the same from chooser->parts.unseen.
 */
static void offer_without(struct osp_choose_run *run, uint32_t n, bool whole_domain)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	struct osp_nodeset *out = run->chooser->nodes;
	uint32_t domain = osp_topology_domain_of(run->chooser->topology, n, lowest_level(run));

	osp_nodeset_clear(out);
	if (whole_domain && domain != OSP_NO_DOMAIN)
		osp_topology_add_domain_nodes(run->chooser->topology, domain, out);
	osp_nodeset_add(out, n);
	osp_nodeset_and_not(scratch->unseen, out);
	osp_nodeset_assign(scratch->offered, scratch->base);
	osp_nodeset_and_not(scratch->offered, out);
}

/* Returns how many choices of this list earlier calls asked about. */
static uint32_t choices_skipped(struct osp_choose_run *run, enum osp_choose_list list)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	return progress ? progress->skip[list] : 0;
}

/* Makes the next call begin with this kind, and behind that many of its choices. */
static void continue_at(struct osp_choose_run *run, enum osp_choose_list list, uint16_t kind,
			uint32_t skip)
{
	struct osp_choose_progress *progress =
		kind || skip ? osp_choose_progress(run) : osp_choose_recall_progress(run);

	if (!progress)
		return;
	progress->first_kind[list] = kind;
	progress->skip[list] = skip;
}

/* Returns how many choices of the kind earlier calls asked about for a later start. */
static uint32_t later_skipped(struct osp_choose_run *run, uint16_t kind)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	return progress ? progress->later_skip[kind] : 0;
}

static void skip_later(struct osp_choose_run *run, uint16_t kind, uint32_t skip)
{
	struct osp_choose_progress *progress =
		skip ? osp_choose_progress(run) : osp_choose_recall_progress(run);

	if (progress)
		progress->later_skip[kind] = skip;
}

/* Makes the next call continue with the choice that was counted last. */
static void continue_here(struct osp_choose_run *run, const struct asking *asking)
{
	if (asking->later)
		skip_later(run, asking->kind, asking->choices - 1);
	else
		continue_at(run, asking->list, asking->kind, asking->choices - 1);
}

/* Asks about the choices that leave out one part of the first, which was
 * answered no. */
static bool try_others(struct osp_choose_run *run, struct asking *asking)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	for (int nodes = 0; nodes < 2 && !asking->stopped; nodes++) {
		osp_nodeset_assign(scratch->unseen, scratch->first);
		for (uint32_t n = osp_nodeset_next(scratch->unseen, 0);
		     n < run->chooser->node_count; n = osp_nodeset_next(scratch->unseen, n + 1)) {
			offer_without(run, n, !nodes);
			if (asking->choices++ < asking->skip)
				continue;
			if (asking->tries == TRIES_MAX || osp_choose_budget_spent(run)) {
				asking->stopped = true;
				continue_here(run, asking);
				return false;
			}
			asking->tries++;
			if (pick(run, asking) && ask_chosen(run, asking)) {
				continue_here(run, asking);
				return true;
			}
		}
	}
	return false;
}

/* Returns the kind that the call begins with. */
static uint16_t first_kind(struct osp_choose_run *run, enum osp_choose_list list)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	return progress ? progress->first_kind[list] % kind_count(run) : 0;
}

/* Makes the next call begin with the first choice again, after all kinds were
 * asked in vain. */
static void end_choices(struct osp_choose_run *run, const struct asking *asking)
{
	if (!asking->stopped && !asking->later)
		continue_at(run, asking->list, 0, 0);
	if (asking->unnamed)
		osp_choose_progress(run)->unnamed_until_s = run->input->now_s + OSP_CHOOSE_KEEP_S;
}

/* --- the scheduler's own
 * ---------------------------------------------------------------------- */

/* Adds the first `count` nodes of `from` to the set. */
static void add_some(struct osp_nodeset *set, const struct osp_nodeset *from, uint32_t count)
{
	for (uint32_t n = osp_nodeset_next(from, 0); count && n < from->place_count;
	     n = osp_nodeset_next(from, n + 1), count--)
		osp_nodeset_add(set, n);
}

/*
 * Adds to chooser->parts.named the nodes that the scheduler would take of the
 * rest; with `beside`, of the rest and one fewer of the named than the gang
 * needs. Returns false if there are no new ones.
 */
static bool name_more(struct osp_choose_run *run, enum osp_ask_mode mode, bool beside)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	uint32_t need = run->input->place.need_nodes;
	uint32_t before = osp_nodeset_count(scratch->named);

	osp_nodeset_assign(scratch->offered, scratch->base);
	osp_nodeset_and_not(scratch->offered, scratch->named);
	if (beside)
		add_some(scratch->offered, scratch->named, need - 1);
	if (osp_nodeset_count(scratch->offered) < need ||
	    !osp_choose_ask(run, scratch->offered, mode, NULL))
		return false;
	osp_nodeset_or(scratch->named, run->answer.nodes);
	return osp_nodeset_count(scratch->named) > before;
}

/* Names more nodes; *beside is false at first. Returns false if there are no
 * more. */
static bool name_next(struct osp_choose_run *run, enum osp_ask_mode mode, bool *beside)
{
	if (run->calls->elapsed_ms(run->calls->context) > NAMINGS_BUDGET_MS)
		return false;
	if (name_more(run, mode, *beside))
		return true;
	if (*beside || osp_nodeset_empty(run->chooser->parts.named))
		return false;
	*beside = true;
	return name_more(run, mode, true);
}

/*
 * Tells whether the scheduler may be asked for nodes. The nodes that it would
 * ever take change slowly, and backfill asks in each of its slots.
 */
static bool may_name(struct osp_choose_run *run, enum osp_ask_mode mode)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	osp_nodeset_clear(run->chooser->parts.named);
	return mode == OSP_ASK_WHO_NOW || !progress ||
	       run->input->now_s >= progress->unnamed_until_s ||
	       run->input->now_s < progress->unnamed_until_s - OSP_CHOOSE_KEEP_S;
}

/* Notes that the named nodes were of no use. Returns false. Other kinds still
 * have their turn. */
static bool named_in_vain(struct asking *asking, enum osp_ask_mode mode)
{
	asking->unnamed |= mode == OSP_ASK_WHO_EVER;
	return false;
}

/* Asks about choices out of the nodes that the scheduler itself would take. */
static bool try_named(struct osp_choose_run *run, struct asking *asking)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	enum osp_ask_mode mode = asking->victims ? OSP_ASK_WHO_EVER : OSP_ASK_WHO_NOW;
	bool beside = false;

	if (osp_nodeset_count(scratch->base) == run->input->place.need_nodes ||
	    !may_name(run, mode))
		return false;
	for (uint32_t i = 0; i < NAMINGS_MAX && name_next(run, mode, &beside); i++) {
		osp_nodeset_assign(scratch->offered, scratch->named);
		if (pick(run, asking) && ask_chosen(run, asking))
			return true;
	}
	return named_in_vain(asking, mode);
}

/* Asks about the choice out of chooser->parts.base, then about the others. */
static bool try_choices(struct osp_choose_run *run, struct asking *asking)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	osp_nodeset_assign(scratch->offered, scratch->base);
	if (!pick(run, asking))
		return false;
	osp_nodeset_assign(scratch->first, run->chooser->nodes);
	if (!ask_chosen(run, asking) && !try_named(run, asking) && !try_others(run, asking))
		return false;
	osp_choose_take(run, NULL);
	return true;
}

/*
 * Asks about the choices of each kind in `from`. If the time ends among a kind's
 * choices, the next call continues there; if it ends between two kinds, or no
 * choice but first ones was asked about, with the second.
 */
static bool try_kinds(struct osp_choose_run *run, struct asking *asking,
		      const struct osp_nodeset *from)
{
	uint16_t count = kind_count(run), first = first_kind(run, asking->list);
	uint32_t skip = choices_skipped(run, asking->list);

	for (uint16_t i = 0; i < count; i++) {
		asking->kind = (first + i) % count;
		asking->skip = i ? 0 : skip;
		asking->choices = 0;
		if (i && osp_choose_budget_spent(run)) {
			if (!asking->stopped || !asking->tries)
				continue_at(run, asking->list, asking->kind, 0);
			asking->stopped = true;
			return false;
		}
		if (keep_kind(run, from, asking->kind, run->chooser->parts.base) >=
			    run->input->place.need_nodes &&
		    try_choices(run, asking))
			return true;
	}
	return false;
}

/* --- at the first moment
 * --------------------------------------------------------------------- */

static void find_free_times(struct osp_choose_run *run, bool preempting)
{
	run->calls->free_times(run->calls->context, preempting, run->chooser->free_at_s);
	osp_choose_settle(run);
}

/*
 * Puts into chooser->parts.last the nodes to take last: those that are not free
 * now, or must boot.
 */
static void put_free_first(struct osp_choose_run *run)
{
	const struct osp_place_input *place = &run->input->place;
	struct osp_nodeset *last = run->chooser->parts.last;

	osp_nodeset_assign(last, place->usable);
	if (place->free)
		osp_nodeset_and_not(last, place->free);
	if (place->boot)
		osp_nodeset_or(last, place->boot);
}

static bool start_preempting(struct osp_choose_run *run)
{
	static const struct osp_victims all = {.all = true};
	struct asking asking = {.list = OSP_CHOOSE_LIST_PREEMPTING,
				.mode = run->input->mode == OSP_CHOOSE_RUN_NOW ? OSP_ASK_START
									       : OSP_ASK_FIRST,
				.victims = &all,
				.boot = run->chooser->parts.last};

	if (!run->input->may_preempt)
		return false;
	/* While jobs leave for this gang, no other is preempted. */
	run->leaving = osp_choose_recall_leaving(run) != NULL;
	if (run->leaving)
		return false;
	find_free_times(run, true);
	osp_choose_nodes_free_by(run, NULL, run->first_s);
	put_free_first(run);
	if (!try_kinds(run, &asking, run->chooser->from)) {
		end_choices(run, &asking);
		return false;
	}
	osp_choose_remember_victims(run, OSP_NO_DOMAIN);
	return true;
}

static void run_now(struct osp_choose_run *run)
{
	const struct osp_place_input *place = &run->input->place;
	struct asking asking = {
		.list = OSP_CHOOSE_LIST_NOW, .mode = OSP_ASK_START, .boot = place->boot};

	if (place->free && try_kinds(run, &asking, place->free))
		return;
	put_free_first(run);
	asking.boot = run->chooser->parts.last;
	if ((!place->free || !place->free_only) &&
	    try_kinds(run, &asking, run->input->possible ? run->input->possible : place->usable))
		return;
	end_choices(run, &asking);
	start_preempting(run);
}

static bool start_first(struct osp_choose_run *run)
{
	struct asking asking = {
		.list = OSP_CHOOSE_LIST_NOW, .mode = OSP_ASK_FIRST, .boot = run->input->place.boot};

	osp_choose_nodes_free_by(run, NULL, run->first_s);
	if (try_kinds(run, &asking, run->chooser->from))
		return true;
	end_choices(run, &asking);
	return false;
}

/* --- later
 * -----------------------------------------------------------------------------------
 */

/* Tells whether the gang fits on the nodes offered. */
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

/* Changes the nodes offered from the first `*now` of those that become free
 * later to the first `count`. */
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

/* Finds when each kind fits. */
static void find_bounds(struct osp_choose_run *run, int64_t bounds_s[KINDS_MAX])
{
	for (uint16_t k = 0; k < KINDS_MAX; k++) {
		bounds_s[k] = OSP_PLACE_NEVER_S;
		if (k < kind_count(run) &&
		    keep_kind(run, run->input->place.usable, k, run->chooser->parts.base) >=
			    run->input->place.need_nodes)
			bounds_s[k] = bound_of_base(run);
	}
}

/* Removes the kind that fits first from the list. Returns when it fits. */
static int64_t next_bound(int64_t bounds_s[KINDS_MAX], uint16_t *kind)
{
	int64_t bound_s;

	*kind = 0;
	for (uint16_t k = 1; k < KINDS_MAX; k++) {
		if (bounds_s[k] < bounds_s[*kind])
			*kind = k;
	}
	bound_s = bounds_s[*kind];
	bounds_s[*kind] = OSP_PLACE_NEVER_S;
	return bound_s;
}

/* Keeps in chooser->parts.base the nodes that are free by the bound. */
static void keep_bound(struct osp_choose_run *run, const struct asking *asking)
{
	osp_choose_keep_free_by(run->chooser->parts.base, run->chooser->free_at_s, asking->bound_s);
}

static bool is_too_late(const struct osp_choose_run *run, int64_t bound_s)
{
	return bound_s == OSP_PLACE_NEVER_S ||
	       (run->input->slot_end_s && bound_s > run->input->slot_end_s);
}

/* Takes the current answer if it is the earliest so far. */
static void take_earlier(struct osp_choose_run *run, struct asking *asking)
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
static void ask_best_again(struct osp_choose_run *run, const struct asking *asking)
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
static bool ask_named_later(struct osp_choose_run *run, struct asking *asking, uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	struct asking named = *asking;
	uint32_t namings = 0;
	bool beside = false;

	if (!may_name(run, OSP_ASK_WHO_EVER))
		return false;
	keep_kind(run, run->input->place.usable, kind, scratch->base);
	while (namings < NAMINGS_MAX && name_next(run, OSP_ASK_WHO_EVER, &beside))
		namings++;
	if (osp_nodeset_equal(scratch->named, scratch->base))
		return named_in_vain(asking, OSP_ASK_WHO_EVER);
	osp_nodeset_assign(scratch->base, scratch->named);
	named.bound_s = bound_of_base(run);
	if (is_too_late(run, named.bound_s))
		return named_in_vain(asking, OSP_ASK_WHO_EVER);
	osp_nodeset_assign(scratch->base, scratch->named);
	keep_bound(run, &named);
	osp_nodeset_assign(scratch->offered, scratch->base);
	if (!pick(run, &named) || !ask_chosen(run, &named))
		return named_in_vain(asking, OSP_ASK_WHO_EVER);
	asking->mode = named.mode;
	return true;
}

/*
 * Asks about the choice at the bound, then about one of nodes that the
 * scheduler would ever take, then about the others at the bound.
 */
static bool ask_kind_later(struct osp_choose_run *run, struct asking *asking, uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	asking->kind = kind;
	asking->skip = later_skipped(run, kind);
	asking->choices = 0;
	keep_kind(run, run->input->place.usable, kind, scratch->base);
	keep_bound(run, asking);
	osp_nodeset_assign(scratch->offered, scratch->base);
	if (!pick(run, asking))
		return false;
	osp_nodeset_assign(scratch->first, run->chooser->nodes);
	if (ask_chosen(run, asking) || ask_named_later(run, asking, kind))
		return true;
	keep_kind(run, run->input->place.usable, kind, scratch->base);
	keep_bound(run, asking);
	return try_others(run, asking);
}

static bool may_ask_for_earlier(const struct osp_choose_run *run, struct asking *asking)
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
static bool name_by_time(struct osp_choose_run *run, struct asking *asking, uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	uint32_t need = run->input->place.need_nodes;
	bool first = osp_nodeset_empty(scratch->named);

	keep_kind(run, run->input->place.usable, kind, scratch->offered);
	osp_choose_keep_free_by(scratch->offered, run->chooser->free_at_s,
				run->choice->start_s - 1);
	osp_nodeset_and_not(scratch->offered, scratch->named);
	if (osp_nodeset_count(scratch->offered) < (first ? need + 1 : 1) ||
	    !may_ask_for_earlier(run, asking))
		return false;
	add_some(scratch->offered, scratch->named, need - 1);
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
static void try_earlier(struct osp_choose_run *run, struct asking *asking, uint16_t kind)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	osp_nodeset_clear(scratch->named);
	while (run->choice->start_s > asking->bound_s && name_by_time(run, asking, kind)) {
		osp_nodeset_assign(scratch->offered, scratch->named);
		if (pick(run, asking) && ask_chosen(run, asking))
			take_earlier(run, asking);
	}
}

/* Removes the kind that the call begins with from the list. Returns when it fits. */
static int64_t first_bound(struct osp_choose_run *run, int64_t bounds_s[KINDS_MAX], uint16_t *kind)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);
	uint16_t first = progress ? progress->first_kind[OSP_CHOOSE_LIST_LATER] : 0;
	int64_t bound_s;

	if (!first || first > KINDS_MAX || is_too_late(run, bounds_s[first - 1]))
		return next_bound(bounds_s, kind);
	*kind = first - 1;
	bound_s = bounds_s[*kind];
	bounds_s[*kind] = OSP_PLACE_NEVER_S;
	return bound_s;
}

/*
 * If this call's time is spent, makes the next one begin with the kind of the
 * plan, which it might not reach, or without a plan with the next kind. As long
 * as there is a plan, later calls do so too.
 */
static void note_first_kind(struct osp_choose_run *run, const struct asking *asking,
			    int64_t bounds_s[KINDS_MAX])
{
	bool found = run->choice->found, spent = osp_choose_budget_spent(run);
	uint16_t next = asking->best_kind;
	struct osp_choose_progress *progress =
		spent ? osp_choose_progress(run) : osp_choose_recall_progress(run);
	uint16_t *first = progress ? &progress->first_kind[OSP_CHOOSE_LIST_LATER] : NULL;

	if (!first)
		return;
	if (!found && (!spent || is_too_late(run, next_bound(bounds_s, &next))))
		*first = 0;
	else if (spent || *first)
		*first = next + 1;
}

/*
 * Asks kind after kind in the order of their bounds, which it removes, until
 * the best answer is no later than the next one.
 */
static void ask_kinds_later(struct osp_choose_run *run, struct asking *asking,
			    int64_t bounds_s[KINDS_MAX])
{
	const struct osp_choice *choice = run->choice;
	uint16_t kind;

	asking->bound_s = first_bound(run, bounds_s, &kind);
	while (!is_too_late(run, asking->bound_s) &&
	       (!choice->found ||
		(choice->start_s > asking->bound_s && may_ask_for_earlier(run, asking)))) {
		if (ask_kind_later(run, asking, kind))
			take_earlier(run, asking);
		else if (!asking->stopped)
			skip_later(run, kind, 0);
		if (osp_choose_budget_spent(run))
			break;
		asking->bound_s = next_bound(bounds_s, &kind);
	}
	note_first_kind(run, asking, bounds_s);
}

static bool start_later(struct osp_choose_run *run, bool preempting)
{
	struct asking asking = {
		.list = OSP_CHOOSE_LIST_LATER, .boot = run->input->place.boot, .later = true};
	int64_t bounds_s[KINDS_MAX], left_s[KINDS_MAX];

	run->preempting = preempting;
	find_free_times(run, preempting);
	find_bounds(run, bounds_s);
	memcpy(left_s, bounds_s, sizeof(left_s));
	ask_kinds_later(run, &asking, left_s);
	if (!run->choice->found) {
		end_choices(run, &asking);
		return false;
	}
	for (uint16_t kind = 0; kind < KINDS_MAX; kind++) {
		asking.bound_s = bounds_s[kind];
		try_earlier(run, &asking, kind);
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
	if (!start_preempting(run) && !run->choice->found && !run->input->first_only &&
	    run->input->may_preempt)
		start_later(run, !run->leaving);
}

static void will_run(struct osp_choose_run *run)
{
	if (run->first_s > run->input->now_s) {
		start_in_slot(run);
		return;
	}
	find_free_times(run, false);
	if (start_first(run) || start_preempting(run) || run->input->first_only)
		return;
	start_later(run, run->input->may_preempt && !run->leaving);
}

/* --- ever
 * ------------------------------------------------------------------------------------
 */

/*
 * Decides if the gang could ever run; never answers no if the scheduler itself
 * would answer yes to its first question.
 */
static void test_only(struct osp_choose_run *run)
{
	const struct osp_victims victims = {.all = run->input->may_preempt};
	struct asking asking = {
		.list = OSP_CHOOSE_LIST_NOW, .mode = OSP_ASK_EVER, .boot = run->input->place.boot};
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	bool fits = false;

	for (uint16_t kind = 0; can_be_asked(run) && kind < kind_count(run); kind++) {
		keep_kind(run, run->input->place.usable, kind, scratch->offered);
		if (!pick(run, &asking))
			continue;
		fits = true;
		if (ask_chosen(run, &asking)) {
			osp_choose_take(run, NULL);
			return;
		}
		break;
	}
	if (!fits && run->input->asked_again)
		return;
	if (osp_choose_ask(run, run->input->place.usable, OSP_ASK_EVER, &victims))
		osp_choose_take(run, NULL);
}

void osp_choose_parts(struct osp_choose_run *run)
{
	if (run->input->mode == OSP_CHOOSE_TEST_ONLY) {
		test_only(run);
		return;
	}
	if (!can_be_asked(run))
		return;
	if (run->input->mode == OSP_CHOOSE_RUN_NOW)
		run_now(run);
	else
		will_run(run);
}
