/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_parts_tries.c - which nodes the scheduler is asked about for a gang in parts
 *
 * Only the scheduler knows what is wrong with a node (another type of GPU, too few processors left
 * for this job's tasks). So after a no it is asked which nodes it would take, and the choice is
 * made out of these; then choices are made without one part of the first choice after the other,
 * and without one node after the other.
 */
#include "lib/choose/choose_parts_private.h"

/* Choices asked about in one call; the next call continues after them. */
#define TRIES_MAX 32

/* The time for naming nodes in one call. */
#define NAMINGS_BUDGET_MS (OSP_CHOOSE_BUDGET_MS / 2)

/* --- nodes ------------------------------------------------------------------------------------ */

uint16_t osp_choose_parts_kinds(const struct osp_choose_run *run)
{
	return osp_parts_kinds(&run->input->place);
}

uint32_t osp_choose_parts_keep_kind(const struct osp_choose_run *run,
				    const struct osp_nodeset *from, uint16_t kind,
				    struct osp_nodeset *to)
{
	osp_parts_keep_kind(&run->input->place, from, kind, to);
	osp_nodeset_and(to, run->input->place.usable);
	return osp_nodeset_count(to);
}

bool osp_choose_parts_pick(struct osp_choose_run *run, const struct osp_choose_asking *asking)
{
	struct osp_cut_input input =
		osp_parts_input(run->input->parts, &run->input->place, run->chooser->parts.offered);

	input.boot = asking->boot;
	return osp_cut_pick(run->chooser->cut, &input, run->chooser->nodes) > 0;
}

/* --- one choice after the other --------------------------------------------------------------- */

bool osp_choose_parts_ask(struct osp_choose_run *run, struct osp_choose_asking *asking)
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

uint32_t osp_choose_parts_skipped(struct osp_choose_run *run, uint16_t kind)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	return progress ? progress->later_skip[kind % OSP_CHOOSE_PART_KINDS_MAX] : 0;
}

void osp_choose_parts_skip(struct osp_choose_run *run, uint16_t kind, uint32_t skip)
{
	struct osp_choose_progress *progress =
		skip ? osp_choose_progress(run) : osp_choose_recall_progress(run);

	if (progress)
		progress->later_skip[kind % OSP_CHOOSE_PART_KINDS_MAX] = skip;
}

/* Makes the next call continue with the choice that was counted last. */
static void continue_here(struct osp_choose_run *run, const struct osp_choose_asking *asking)
{
	if (asking->later)
		osp_choose_parts_skip(run, asking->kind, asking->choices - 1);
	else
		continue_at(run, asking->list, asking->kind, asking->choices - 1);
}

bool osp_choose_parts_try_others(struct osp_choose_run *run, struct osp_choose_asking *asking)
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
			if (osp_choose_parts_pick(run, asking) &&
			    osp_choose_parts_ask(run, asking)) {
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

	return progress ? progress->first_kind[list] % osp_choose_parts_kinds(run) : 0;
}

void osp_choose_parts_end(struct osp_choose_run *run, const struct osp_choose_asking *asking)
{
	if (!asking->stopped && !asking->later)
		continue_at(run, asking->list, 0, 0);
	if (asking->unnamed)
		osp_choose_progress(run)->unnamed_until_s = run->input->now_s + OSP_CHOOSE_KEEP_S;
}

/* --- the scheduler's own ---------------------------------------------------------------------- */

void osp_choose_parts_add_some(struct osp_nodeset *set, const struct osp_nodeset *from,
			       uint32_t count)
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
		osp_choose_parts_add_some(scratch->offered, scratch->named, need - 1);
	if (osp_nodeset_count(scratch->offered) < need ||
	    !osp_choose_ask(run, scratch->offered, mode, NULL))
		return false;
	osp_nodeset_or(scratch->named, run->answer.nodes);
	return osp_nodeset_count(scratch->named) > before;
}

bool osp_choose_parts_name_next(struct osp_choose_run *run, enum osp_ask_mode mode, bool *beside)
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

bool osp_choose_parts_may_name(struct osp_choose_run *run, enum osp_ask_mode mode)
{
	const struct osp_choose_progress *progress = osp_choose_recall_progress(run);

	osp_nodeset_clear(run->chooser->parts.named);
	return mode == OSP_ASK_WHO_NOW || !progress ||
	       run->input->now_s >= progress->unnamed_until_s ||
	       run->input->now_s < progress->unnamed_until_s - OSP_CHOOSE_KEEP_S;
}

bool osp_choose_parts_named_in_vain(struct osp_choose_asking *asking, enum osp_ask_mode mode)
{
	asking->unnamed |= mode == OSP_ASK_WHO_EVER;
	return false;
}

/* Asks about choices out of the nodes that the scheduler itself would take. */
static bool try_named(struct osp_choose_run *run, struct osp_choose_asking *asking)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	enum osp_ask_mode mode = asking->victims ? OSP_ASK_WHO_EVER : OSP_ASK_WHO_NOW;
	bool beside = false;

	if (osp_nodeset_count(scratch->base) == run->input->place.need_nodes ||
	    !osp_choose_parts_may_name(run, mode))
		return false;
	for (uint32_t i = 0;
	     i < OSP_CHOOSE_NAMINGS_MAX && osp_choose_parts_name_next(run, mode, &beside); i++) {
		osp_nodeset_assign(scratch->offered, scratch->named);
		if (osp_choose_parts_pick(run, asking) && osp_choose_parts_ask(run, asking))
			return true;
	}
	return osp_choose_parts_named_in_vain(asking, mode);
}

/* Asks about the choice out of chooser->parts.base, then about the others. */
static bool try_choices(struct osp_choose_run *run, struct osp_choose_asking *asking)
{
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;

	osp_nodeset_assign(scratch->offered, scratch->base);
	if (!osp_choose_parts_pick(run, asking))
		return false;
	osp_nodeset_assign(scratch->first, run->chooser->nodes);
	if (!osp_choose_parts_ask(run, asking) && !try_named(run, asking) &&
	    !osp_choose_parts_try_others(run, asking))
		return false;
	osp_choose_take(run, NULL);
	return true;
}

bool osp_choose_parts_try_kinds(struct osp_choose_run *run, struct osp_choose_asking *asking,
				const struct osp_nodeset *from)
{
	uint16_t count = osp_choose_parts_kinds(run), first = first_kind(run, asking->list);
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
		if (osp_choose_parts_keep_kind(run, from, asking->kind, run->chooser->parts.base) >=
			    run->input->place.need_nodes &&
		    try_choices(run, asking))
			return true;
	}
	return false;
}
