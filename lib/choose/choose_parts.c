/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose_parts.c - where and when a gang in segments or in several domains starts
 *
 * lib/place/segments.h says exactly whether the gang fits on some nodes, and chooses. For a start
 * the scheduler is always offered exactly the chosen nodes, because it would take any of more.
 */
#include "lib/choose/choose_parts_private.h"

#include <stdlib.h>

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

/* Returns whether the gang has an exact number of nodes, and the required ones are all of them or
 * none. */
static bool can_be_asked(const struct osp_choose_run *run)
{
	const struct osp_place_input *place = &run->input->place;

	if (!run->input->exact_size || place->want_nodes > place->need_nodes)
		return false;
	return !place->required || osp_nodeset_empty(place->required) ||
	       osp_nodeset_count(place->required) == place->need_nodes;
}

/* --- at the first moment ---------------------------------------------------------------------- */

void osp_choose_parts_find_free_times(struct osp_choose_run *run, bool preempting)
{
	run->calls->free_times(run->calls->context, preempting, run->chooser->free_at_s);
	osp_choose_settle(run);
}

/* Puts into chooser->parts.last the nodes to take last: those that are not free now, or must boot.
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

bool osp_choose_parts_start_preempting(struct osp_choose_run *run)
{
	static const struct osp_victims all = {.all = true};
	struct osp_choose_asking asking = {
		.list = OSP_CHOOSE_LIST_PREEMPTING,
		.mode = run->input->mode == OSP_CHOOSE_RUN_NOW ? OSP_ASK_START : OSP_ASK_FIRST,
		.victims = &all,
		.boot = run->chooser->parts.last};

	if (!run->input->may_preempt)
		return false;
	/* While jobs leave for this gang, no other is preempted. */
	run->leaving = osp_choose_recall_leaving(run) != NULL;
	if (run->leaving)
		return false;
	osp_choose_parts_find_free_times(run, true);
	osp_choose_nodes_free_by(run, NULL, run->first_s);
	put_free_first(run);
	if (!osp_choose_parts_try_kinds(run, &asking, run->chooser->from)) {
		osp_choose_parts_end(run, &asking);
		return false;
	}
	osp_choose_remember_victims(run, OSP_NO_DOMAIN);
	return true;
}

static void run_now(struct osp_choose_run *run)
{
	const struct osp_place_input *place = &run->input->place;
	struct osp_choose_asking asking = {
		.list = OSP_CHOOSE_LIST_NOW, .mode = OSP_ASK_START, .boot = place->boot};

	if (place->free && osp_choose_parts_try_kinds(run, &asking, place->free))
		return;
	put_free_first(run);
	asking.boot = run->chooser->parts.last;
	if ((!place->free || !place->free_only) &&
	    osp_choose_parts_try_kinds(run, &asking,
				       run->input->possible ? run->input->possible : place->usable))
		return;
	osp_choose_parts_end(run, &asking);
	osp_choose_parts_start_preempting(run);
}

bool osp_choose_parts_start_first(struct osp_choose_run *run)
{
	struct osp_choose_asking asking = {
		.list = OSP_CHOOSE_LIST_NOW, .mode = OSP_ASK_FIRST, .boot = run->input->place.boot};

	osp_choose_nodes_free_by(run, NULL, run->first_s);
	if (osp_choose_parts_try_kinds(run, &asking, run->chooser->from))
		return true;
	osp_choose_parts_end(run, &asking);
	return false;
}

/* --- ever ------------------------------------------------------------------------------------- */

/*
 * Decides if the gang could ever run; never answers no if the scheduler itself
 * would answer yes to its first question.
 */
static void test_only(struct osp_choose_run *run)
{
	const struct osp_victims victims = {.all = run->input->may_preempt};
	struct osp_choose_asking asking = {
		.list = OSP_CHOOSE_LIST_NOW, .mode = OSP_ASK_EVER, .boot = run->input->place.boot};
	struct osp_choose_parts_scratch *scratch = &run->chooser->parts;
	bool fits = false;

	for (uint16_t kind = 0; can_be_asked(run) && kind < osp_choose_parts_kinds(run); kind++) {
		osp_choose_parts_keep_kind(run, run->input->place.usable, kind, scratch->offered);
		if (!osp_choose_parts_pick(run, &asking))
			continue;
		fits = true;
		if (osp_choose_parts_ask(run, &asking)) {
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
		osp_choose_parts_will_run(run);
}
