/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose_preempt.c - a gang that starts by preempting other jobs */
#include "lib/choose/choose_private.h"

#include <string.h>

static uint32_t free_in_domain(struct osp_choose_run *run, const struct osp_place_domain *candidate)
{
	osp_choose_domain_nodes(run, candidate);
	if (run->input->place.free)
		osp_nodeset_and(run->chooser->nodes, run->input->place.free);
	return osp_nodeset_count(run->chooser->nodes);
}

/*
 * Sorts the candidates by free nodes, the most first; equal ones stay in lib/place's order
 * (insertion sort: few, and stable).
 */
static void order_by_free_nodes(struct osp_choose_run *run)
{
	struct osp_place_domain *candidates = run->chooser->candidates;

	for (uint32_t i = 0; i < run->count; i++)
		candidates[i].free_nodes = free_in_domain(run, &candidates[i]);
	for (uint32_t i = 1; i < run->count; i++) {
		struct osp_place_domain moved = candidates[i];
		uint32_t at = i;

		for (; at && moved.free_nodes > candidates[at - 1].free_nodes; at--)
			candidates[at] = candidates[at - 1];
		candidates[at] = moved;
	}
}

/* Forgets the victims that have gone. Returns NULL if none is left. */
static struct osp_choose_memory *leaving_of(struct osp_choose_memory *memory,
					    const struct osp_choose_calls *calls)
{
	uint32_t kept = 0;

	if (!memory)
		return NULL;
	for (uint32_t i = 0; i < memory->victim_count; i++) {
		if (calls->is_leaving(calls->context, &memory->victims[i]))
			memory->victims[kept++] = memory->victims[i];
	}
	memory->victim_count = kept;
	return kept ? memory : NULL;
}

struct osp_choose_memory *osp_choose_recall_leaving(struct osp_choose_run *run)
{
	return leaving_of(osp_choose_recall(run), run->calls);
}

struct osp_victims osp_chooser_leaving(struct osp_chooser *chooser, uint32_t job,
				       const struct osp_choose_calls *calls)
{
	const struct osp_choose_memory *memory =
		leaving_of(osp_choose_find_memory(chooser, job), calls);

	if (!memory)
		return (struct osp_victims){.all = true};
	return (struct osp_victims){.listed = memory->victims, .count = memory->victim_count};
}

void osp_chooser_preempts(struct osp_chooser *chooser, uint32_t job, uint32_t domain,
			  const struct osp_victim *victims, uint32_t count)
{
	struct osp_choose_memory *memory = osp_choose_find_memory(chooser, job);

	if (!memory)
		memory = osp_choose_new_memory(chooser, job);
	memory->preempt_domain = domain;
	memory->victim_count = count < OSP_CHOOSE_VICTIMS_MAX ? count : OSP_CHOOSE_VICTIMS_MAX;
	memcpy(memory->victims, victims, memory->victim_count * sizeof(memory->victims[0]));
}

void osp_choose_remember_victims(struct osp_choose_run *run, uint32_t domain)
{
	if (run->input->mode != OSP_CHOOSE_RUN_NOW || !run->answer.victim_count)
		return;
	osp_chooser_preempts(run->chooser, run->input->job, domain, run->answer.victims,
			     run->answer.victim_count);
}

static bool ask_preempting(struct osp_choose_run *run, const struct osp_place_domain *candidate,
			   const struct osp_victims *victims)
{
	enum osp_ask_mode mode =
		run->input->mode == OSP_CHOOSE_RUN_NOW ? OSP_ASK_START : OSP_ASK_FIRST;

	osp_choose_domain_nodes(run, candidate);
	osp_choose_pass_over_settling(run);
	if (!osp_choose_ask(run, run->chooser->nodes, mode, victims))
		return false;
	osp_choose_take(run, candidate);
	return true;
}

/*
 * Continues a preemption that has begun: asks to preempt only the jobs that are already leaving,
 * and only in that domain. If they leave one by one, the domain may lack the nodes that some have
 * left, and the gang waits.
 */
static bool go_on_preempting(struct osp_choose_run *run, const struct osp_choose_memory *memory)
{
	struct osp_victims victims = {.listed = memory->victims, .count = memory->victim_count};

	for (uint32_t i = 0; i < run->count; i++) {
		const struct osp_place_domain *candidate = &run->chooser->candidates[i];

		if (candidate->domain == memory->preempt_domain &&
		    ask_preempting(run, candidate, &victims))
			return true;
	}
	return false;
}

/* Keeps in the list the domains that could start the gang at the first moment. */
static void leave_first(struct osp_choose_run *run)
{
	while (run->count && run->chooser->candidates[run->count - 1].bound_s > run->first_s) {
		run->count--;
		run->rest = 0;
	}
}

bool osp_choose_preempting(struct osp_choose_run *run)
{
	static const struct osp_victims all = {.all = true};
	const struct osp_choose_memory *leaving;
	uint32_t i;

	if (!run->input->may_preempt)
		return false;
	osp_choose_list_by_time(run, OSP_CHOOSE_LIST_PREEMPTING, true);
	leave_first(run);
	leaving = osp_choose_recall_leaving(run);
	run->leaving = leaving != NULL;
	if (leaving)
		return go_on_preempting(run, leaving);
	order_by_free_nodes(run);
	for (i = 0; i < run->count && !osp_choose_budget_spent(run); i++) {
		struct osp_place_domain candidate = run->chooser->candidates[i];

		if (!ask_preempting(run, &candidate, &all))
			continue;
		osp_choose_remember_victims(run, candidate.domain);
		return true;
	}
	osp_choose_list_was_vain(run, OSP_CHOOSE_LIST_PREEMPTING, i);
	return false;
}
