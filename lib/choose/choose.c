/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choose.c - the three modes, and a start without waiting
 */
#include "lib/choose/choose_private.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

/* --- the chooser ----------------------------------------------------------------------------- */

struct osp_chooser *osp_chooser_new(const struct osp_topology *topology, struct osp_place *place,
				    struct osp_cut *cut)
{
	struct osp_chooser *chooser = calloc(1, sizeof(*chooser));

	if (!chooser)
		return NULL;
	chooser->topology = topology;
	chooser->place = place;
	chooser->cut = cut;
	chooser->node_count = osp_topology_node_count(topology);
	chooser->nodes = osp_nodeset_new(chooser->node_count);
	chooser->from = osp_nodeset_new(chooser->node_count);
	chooser->given = osp_nodeset_new(chooser->node_count);
	chooser->best = osp_nodeset_new(chooser->node_count);
	chooser->usable = osp_nodeset_new(chooser->node_count);
	chooser->free_now = osp_nodeset_new(chooser->node_count);
	chooser->free_at_s = calloc((size_t)chooser->node_count + 1, sizeof(*chooser->free_at_s));
	if (chooser->nodes && chooser->from && chooser->given && chooser->best && chooser->usable &&
	    chooser->free_now && chooser->free_at_s && osp_choose_parts_new(chooser) == 0)
		return chooser;
	osp_chooser_free(chooser);
	return NULL;
}

void osp_chooser_free(struct osp_chooser *chooser)
{
	if (!chooser)
		return;
	free(chooser->nodes);
	free(chooser->from);
	free(chooser->given);
	free(chooser->best);
	free(chooser->usable);
	free(chooser->free_now);
	free(chooser->free_at_s);
	osp_choose_parts_free(chooser);
	free(chooser);
}

/* --- what the modes share -------------------------------------------------------------------- */

bool osp_choose_budget_spent(const struct osp_choose_run *run)
{
	return run->calls->elapsed_ms(run->calls->context) > run->budget_ms;
}

bool osp_choose_ask(struct osp_choose_run *run, const struct osp_nodeset *nodes,
		    enum osp_ask_mode mode, const struct osp_victims *victims)
{
	struct osp_question question = {.nodes = nodes, .mode = mode};

	if (victims)
		question.victims = *victims;
	run->asked++;
	run->recalled = false;
	run->answer =
		(struct osp_answer){.nodes = run->chooser->given, .victims = run->chooser->victims};
	return run->calls->ask(run->calls->context, &question, &run->answer);
}

void osp_choose_domain_nodes(struct osp_choose_run *run, const struct osp_place_domain *candidate)
{
	const struct osp_place_input *input = &run->input->place;
	struct osp_nodeset *nodes = run->chooser->nodes;

	osp_nodeset_clear(nodes);
	osp_topology_add_domain_nodes(run->chooser->topology, candidate->domain, nodes);
	osp_nodeset_and(nodes, input->usable);
	for (uint32_t n = osp_nodeset_next(nodes, 0); input->kind && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (input->kind[n] != candidate->kind)
			osp_nodeset_remove(nodes, n);
	}
}

void osp_choose_pass_over_settling(struct osp_choose_run *run)
{
	if (run->input->settling && run->first_s <= run->input->now_s)
		osp_nodeset_and_not(run->chooser->nodes, run->input->settling);
}

bool osp_choose_pick(struct osp_choose_run *run, const struct osp_place_domain *candidate,
		     const struct osp_nodeset *from)
{
	struct osp_place_input input = run->input->place;

	if (!run->input->exact_size)
		return false;
	input.free = from;
	return osp_place_pick(run->chooser->place, &input, candidate->domain, candidate->kind,
			      run->chooser->nodes) > 0;
}

int64_t osp_choose_true_start(const struct osp_choose_run *run)
{
	int64_t start_s = run->answer.start_s;

	if (start_s < run->first_s)
		start_s = run->first_s;
	if (start_s <= run->input->now_s && run->input->settling &&
	    osp_nodeset_overlap(run->answer.nodes, run->input->settling))
		start_s = run->input->now_s + 1;
	return start_s;
}

void osp_choose_take(struct osp_choose_run *run, const struct osp_place_domain *candidate)
{
	struct osp_choice *choice = run->choice;

	choice->found = true;
	choice->start_s = osp_choose_true_start(run);
	choice->processors = run->answer.processors;
	choice->domain_count = candidate ? 1 : 0;
	choice->domains[0] = candidate ? candidate->domain : OSP_NO_DOMAIN;
	osp_nodeset_assign(run->chooser->best, run->answer.nodes);
	choice->nodes = run->chooser->best;
	choice->victims = run->answer.victims;
	choice->victim_count = run->answer.victim_count;
}

void osp_choose_settle(struct osp_choose_run *run)
{
	const struct osp_nodeset *settling = run->input->settling;
	int64_t *free_at_s = run->chooser->free_at_s;

	for (uint32_t n = settling ? osp_nodeset_next(settling, 0) : run->chooser->node_count;
	     n < run->chooser->node_count && n < settling->place_count;
	     n = osp_nodeset_next(settling, n + 1)) {
		if (free_at_s[n] <= run->input->now_s)
			free_at_s[n] = run->input->now_s + 1;
	}
}

void osp_choose_list_by_time(struct osp_choose_run *run, enum osp_choose_list kind, bool preempting)
{
	struct osp_place_input input = run->input->place;
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;

	input.free_only = false;
	input.free = NULL;
	run->calls->free_times(run->calls->context, preempting, run->chooser->free_at_s);
	osp_choose_settle(run);
	domains = osp_place_by_time(run->chooser->place, &input, run->chooser->free_at_s,
				    run->first_s, &candidate_count, &domain_count);
	osp_choose_keep_list(run, kind, domains, candidate_count);
}

/* --- run now --------------------------------------------------------------------------------- */

static bool ask_domain_now(struct osp_choose_run *run, const struct osp_place_domain *candidate)
{
	if (osp_choose_pick(run, candidate, run->input->place.free) &&
	    osp_choose_ask(run, run->chooser->nodes, OSP_ASK_START, NULL))
		return true;
	osp_choose_domain_nodes(run, candidate);
	return osp_choose_ask(run, run->chooser->nodes, OSP_ASK_START, NULL);
}

static void run_now(struct osp_choose_run *run)
{
	struct osp_place_input input = run->input->place;
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count, i;

	if (run->input->possible)
		input.usable = run->input->possible;
	domains = osp_place_order(run->chooser->place, &input, &candidate_count, &domain_count);
	osp_choose_keep_list(run, OSP_CHOOSE_LIST_NOW, domains, candidate_count);
	for (i = 0; i < run->count && !osp_choose_budget_spent(run); i++) {
		struct osp_place_domain *candidate = &run->chooser->candidates[i];

		if (ask_domain_now(run, candidate)) {
			osp_choose_take(run, candidate);
			return;
		}
	}
	osp_choose_list_was_vain(run, OSP_CHOOSE_LIST_NOW, i);
	osp_choose_preempting(run);
}

/* --- test only ------------------------------------------------------------------------------- */

static void test_only(struct osp_choose_run *run)
{
	const struct osp_victims victims = {.all = run->input->may_preempt};
	struct osp_place_input input = run->input->place;
	const struct osp_place_domain *domains;
	struct osp_place_domain first;
	uint32_t candidate_count, domain_count;

	input.free_only = false;
	input.free = NULL;
	domains = osp_place_order(run->chooser->place, &input, &candidate_count, &domain_count);
	if (candidate_count) {
		first = domains[0];
		if (osp_choose_pick(run, &first, NULL) &&
		    osp_choose_ask(run, run->chooser->nodes, OSP_ASK_EVER, NULL)) {
			osp_choose_take(run, &first);
			return;
		}
	} else if (run->input->asked_again) {
		return;
	}
	if (osp_choose_ask(run, input.usable, OSP_ASK_EVER, &victims))
		osp_choose_take(run, NULL);
}

/* --- all of it ------------------------------------------------------------------------------- */

static void decide(struct osp_choose_run *run)
{
	if (run->input->parts)
		osp_choose_parts(run);
	else if (run->input->mode == OSP_CHOOSE_RUN_NOW)
		run_now(run);
	else if (run->input->mode == OSP_CHOOSE_WILL_RUN)
		osp_choose_will_run(run);
	else
		test_only(run);
}

/*
 * Looks for a start at a preferred level in half of the time, so that the preference keeps no gang
 * from a start at its own level.
 */
static void start_preferred(const struct osp_choose_run *run)
{
	struct osp_choose_input input = *run->input;
	struct osp_choose_run lower = *run;

	if (!input.prefer_level || input.parts || input.mode == OSP_CHOOSE_TEST_ONLY ||
	    run->first_s > input.now_s)
		return;
	input.may_preempt = false;
	input.first_only = true;
	lower.input = &input;
	lower.budget_ms = OSP_CHOOSE_BUDGET_MS / 2;
	for (uint32_t level = input.prefer_level;
	     level < run->input->place.level && !run->choice->found; level++) {
		input.place.level = level;
		input.choice_of = osp_hash_mix(run->input->choice_of, level);
		decide(&lower);
	}
}

/* Returns the time for a gang's own level: at least half of a call's time. */
static int64_t extended_budget_ms(const struct osp_choose_run *run)
{
	int64_t least_ms = run->calls->elapsed_ms(run->calls->context) + OSP_CHOOSE_BUDGET_MS / 2;

	return least_ms > OSP_CHOOSE_BUDGET_MS ? least_ms : OSP_CHOOSE_BUDGET_MS;
}

static void choose(struct osp_chooser *chooser, const struct osp_choose_input *input,
		   const struct osp_choose_calls *calls, struct osp_choice *choice)
{
	struct osp_choose_run run = {.chooser = chooser,
				     .input = input,
				     .calls = calls,
				     .choice = choice,
				     .budget_ms = OSP_CHOOSE_BUDGET_MS};

	run.first_s = input->slot_start_s > input->now_s ? input->slot_start_s : input->now_s;
	start_preferred(&run);
	if (choice->found)
		return;
	if (input->prefer_level) /* the last such question may have taken all the time */
		run.budget_ms = extended_budget_ms(&run);
	decide(&run);
}

/*
 * Decides without nodes that may never return. A plan for them is a plan for the next second, in
 * each call, and others take what becomes free elsewhere.
 */
static void choose_without_stuck(struct osp_chooser *chooser, const struct osp_choose_input *asked,
				 const struct osp_choose_calls *calls, struct osp_choice *choice)
{
	struct osp_choose_input input = *asked;

	if (input.mode != OSP_CHOOSE_WILL_RUN || !input.stuck ||
	    !osp_nodeset_overlap(input.place.usable, input.stuck))
		return;
	osp_nodeset_assign(chooser->usable, input.place.usable);
	osp_nodeset_and_not(chooser->usable, input.stuck);
	input.place.usable = chooser->usable;
	if (input.place.free) {
		osp_nodeset_assign(chooser->free_now, input.place.free);
		osp_nodeset_and_not(chooser->free_now, input.stuck);
		input.place.free = chooser->free_now;
	}
	input.choice_of = osp_hash_step(input.choice_of, 's');
	choose(chooser, &input, calls, choice);
}

void osp_choose(struct osp_chooser *chooser, const struct osp_choose_input *input,
		const struct osp_choose_calls *calls, struct osp_choice *choice)
{
	memset(choice, 0, sizeof(*choice));
	chooser->calls++;
	choose_without_stuck(chooser, input, calls, choice);
	if (!choice->found)
		choose(chooser, input, calls, choice);
}
