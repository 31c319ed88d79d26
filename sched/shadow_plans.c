/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_plans.c - where backfill has planned the components of a heterogeneous job
 *
 * Backfill asks about each component, in each of its partitions, before it starts the first one. It
 * keeps the earliest start of each (_het_job_start_set() in backfill.c), and the partition of that.
 * The start is no earlier than the slot that was asked about, of which Slurm's function knows
 * nothing: it is read from the job's record, where backfill has left the earliest one, as soon as
 * something else is asked.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/choose/components.h"

/* How many heterogeneous jobs have their plans remembered; the one asked about longest ago is
 * forgotten first. Priority may put components of one job between those of others. */
#define PLANS_MAX 64

static struct shadow_plan plans[PLANS_MAX];

static void forget_nodes(struct shadow_plan *plan, uint32_t offset)
{
	free(plan->of[offset]);
	plan->of[offset] = NULL;
}

static void forget_asked(struct shadow_plan *plan, uint32_t offset)
{
	memset(plan->asked[offset], 0, sizeof(plan->asked[offset]));
}

static void forget_said(struct shadow_plan *plan, uint32_t offset)
{
	free(plan->beside[offset]);
	plan->beside[offset] = NULL;
}

static void forget_plan(struct shadow_plan *plan)
{
	for (uint32_t i = 0; i < SHADOW_COMPONENTS_MAX; i++) {
		forget_nodes(plan, i);
		forget_said(plan, i);
	}
	for (uint32_t i = 0; i < SHADOW_PLAN_PARTITIONS_MAX; i++)
		osp_components_search_free(plan->search[i]);
	free(plan->answer);
	memset(plan, 0, sizeof(*plan));
}

void shadow_plans_forget(void)
{
	for (uint32_t i = 0; i < PLANS_MAX; i++)
		forget_plan(&plans[i]);
}

/* Returns the job's plan, or NULL. */
static struct shadow_plan *find_plan(const job_record_t *job)
{
	for (uint32_t i = 0; i < PLANS_MAX; i++) {
		if (plans[i].job == job->het_job_id)
			return &plans[i];
	}
	return NULL;
}

/* Returns the job's plan, and makes one if there is none. */
static struct shadow_plan *plan_of(const job_record_t *job)
{
	static uint64_t questions;
	struct shadow_plan *plan = find_plan(job);

	for (uint32_t i = 0; !plan && i < PLANS_MAX; i++) {
		if (!plans[i].job)
			plan = &plans[i];
	}
	if (!plan) {
		plan = &plans[0];
		for (uint32_t i = 1; i < PLANS_MAX; i++)
			plan = plans[i].used < plan->used ? &plans[i] : plan;
	}
	if (plan->job != job->het_job_id)
		forget_plan(plan);
	plan->job = job->het_job_id;
	plan->used = ++questions;
	return plan;
}

/* Keeps the last answer if it was about this component and is its earliest start. Backfill clears
 * the start of one that it does not take. */
static void settle(struct shadow_plan *plan, const job_record_t *component)
{
	uint32_t offset = component->het_job_offset;

	if (!plan->answered || plan->last != offset)
		return;
	plan->answered = false;
	if (!component->start_time ||
	    (plan->of[offset] && plan->start_s[offset] <= component->start_time))
		return;
	free(plan->of[offset]);
	plan->of[offset] = plan->answer;
	plan->answer = NULL;
	plan->of_in[offset] = plan->last_in;
	plan->start_s[offset] = component->start_time;
}

static int settle_component(void *item, void *context)
{
	settle(context, item);
	return 0;
}

const part_record_t *shadow_planned_in(const job_record_t *component)
{
	struct shadow_plan *plan = component->het_job_id ? find_plan(component) : NULL;
	uint32_t offset = component->het_job_offset;

	if (plan)
		settle(plan, component);
	if (!plan || offset >= SHADOW_COMPONENTS_MAX || !plan->of[offset])
		return NULL;
	return plan->of_in[offset];
}

const struct osp_nodeset *shadow_planned_on(const job_record_t *component,
					    const part_record_t *partition)
{
	const struct shadow_plan *plan = find_plan(component);

	return shadow_planned_in(component) == partition ? plan->of[component->het_job_offset]
							 : NULL;
}

struct osp_components_search **shadow_plan_search(struct shadow_plan *plan,
						  const part_record_t *partition)
{
	for (uint32_t i = 0; i < SHADOW_PLAN_PARTITIONS_MAX; i++) {
		if (!plan->search_in[i])
			plan->search_in[i] = partition;
		if (plan->search_in[i] == partition)
			return &plan->search[i];
	}
	return NULL;
}

/* --- one question after the other ------------------------------------------------------------- */

static bool was_asked(const struct shadow_plan *plan, const job_record_t *job)
{
	for (uint32_t i = 0; i < SHADOW_PLAN_PARTITIONS_MAX; i++) {
		if (plan->asked[job->het_job_offset][i] == job->part_ptr)
			return true;
	}
	return false;
}

/* Tells whether backfill asks about the job a second time, for another slot: since it has come to
 * the job it has asked about nothing else. */
static bool is_asked_at_once(const struct shadow_plan *plan, const job_record_t *job)
{
	return plan->last == job->het_job_offset && plan->last_in == job->part_ptr &&
	       plan->came_to_last == job->last_sched_eval;
}

static void note_asked(struct shadow_plan *plan, const job_record_t *job)
{
	const part_record_t **asked = plan->asked[job->het_job_offset];

	plan->last = job->het_job_offset;
	plan->last_in = job->part_ptr;
	plan->came_to_last = job->last_sched_eval;
	for (uint32_t i = 0; i < SHADOW_PLAN_PARTITIONS_MAX && asked[i] != job->part_ptr; i++) {
		if (!asked[i]) {
			asked[i] = job->part_ptr;
			return;
		}
	}
}

/* Forgets the plan of the component asked about and, in a new cycle, what is not sure to be a plan
 * of it; `offered` are the nodes that backfill offers now. */
static void forget_older(struct shadow_plan *plan, const job_record_t *job, bool new_cycle,
			 const struct osp_nodeset *offered)
{
	for (uint32_t i = 0; i < SHADOW_COMPONENTS_MAX; i++) {
		bool is_offered = plan->of[i] && osp_nodeset_overlap(plan->of[i], offered);
		bool here = plan->of_in[i] == job->part_ptr;
		bool own = i == job->het_job_offset;

		if ((new_cycle && (own || is_offered || !here)) || (own && here))
			forget_nodes(plan, i);
		if (new_cycle)
			forget_asked(plan, i);
	}
}

struct shadow_plan *shadow_plan_begin(const struct shadow_call *call, struct osp_nodeset *scratch)
{
	const job_record_t *job = call->job;
	const job_record_t *leader = find_job_record(job->het_job_id);
	struct shadow_plan *plan = plan_of(job);
	bool before, new_cycle;

	if (leader && leader->het_job_list)
		list_for_each(leader->het_job_list, settle_component, plan);
	if (job->het_job_offset >= SHADOW_COMPONENTS_MAX)
		return plan;
	before = was_asked(plan, job);
	new_cycle = before && !is_asked_at_once(plan, job);
	if (before || plan->all_in != job->part_ptr)
		plan->all_start_s = 0;
	plan->all_in = job->part_ptr;
	for (uint32_t i = 0; i < SHADOW_COMPONENTS_MAX; i++) {
		if (before || i == job->het_job_offset)
			forget_said(plan, i);
	}
	shadow_from_bitmap(scratch, call->bitmap);
	forget_older(plan, job, new_cycle, scratch);
	note_asked(plan, job);
	return plan;
}

void shadow_plan_says(struct shadow_plan *plan, const job_record_t *component,
		      const struct osp_nodeset *nodes, int64_t start_s)
{
	uint32_t offset = component->het_job_offset;

	if (!plan || offset >= SHADOW_COMPONENTS_MAX)
		return;
	if (!plan->beside[offset])
		plan->beside[offset] = osp_nodeset_new(shadow_state.node_count);
	if (!plan->beside[offset])
		return;
	osp_nodeset_assign(plan->beside[offset], nodes);
	plan->beside_start_s[offset] = start_s;
	plan->beside_in[offset] = component->part_ptr;
	plan->beside_used[offset] = plan->used;
}

void shadow_plan_keep(struct shadow_plan *plan, const struct shadow_call *call, int64_t all_start_s)
{
	const job_record_t *job = call->job;
	uint32_t offset = job->het_job_offset;

	if (!plan || offset >= SHADOW_COMPONENTS_MAX)
		return;
	if (all_start_s > plan->all_start_s)
		plan->all_start_s = all_start_s;
	if (!plan->answer)
		plan->answer = osp_nodeset_new(shadow_state.node_count);
	if (!plan->answer)
		return;
	shadow_from_bitmap(plan->answer, call->bitmap);
	plan->answered = true;
}
