/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_plans.c - where backfill has planned the components of a heterogeneous job
 *
 * lib/choose/component_plans.h keeps the plans. Backfill leaves the earliest start of a component
 * in its record (_het_job_start_set() in backfill.c), and clears that of one that it does not take.
 */
#include "sched/shadow.h"

static struct osp_component_plans *plans; /* NULL: none yet, or memory ran out */

void shadow_plans_forget(void)
{
	osp_component_plans_free(plans);
	plans = NULL;
}

const part_record_t *shadow_planned_in(const job_record_t *component)
{
	if (!component->het_job_id)
		return NULL;
	osp_component_plans_note(plans, component->het_job_id, component->het_job_offset,
				 component->start_time);
	return osp_component_planned_in(plans, component->het_job_id, component->het_job_offset);
}

const struct osp_nodeset *shadow_planned_on(const job_record_t *component,
					    const part_record_t *partition)
{
	return shadow_planned_in(component) == partition
		       ? osp_component_planned_on(plans, component->het_job_id,
						  component->het_job_offset, partition)
		       : NULL;
}

static int has_offset(void *item, void *context)
{
	const job_record_t *component = item;

	return component->het_job_offset == *(const uint32_t *)context;
}

static int64_t start_of(void *context, uint32_t offset)
{
	const job_record_t *job = context, *leader = find_job_record(job->het_job_id);
	const job_record_t *component =
		leader && leader->het_job_list
			? list_find_first(leader->het_job_list, has_offset, &offset)
			: NULL;

	return component ? component->start_time : 0;
}

struct osp_component_plan *shadow_plan_begin(const struct shadow_call *call,
					     struct osp_nodeset *scratch)
{
	job_record_t *job = call->job;
	const struct osp_component_question question = {.job = job->het_job_id,
							.component = job->het_job_offset,
							.partition = job->part_ptr,
							.came_s = job->last_sched_eval,
							.offered = scratch,
							.start_s = start_of,
							.context = job};

	if (!plans)
		plans = osp_component_plans_new(shadow_state.node_count);
	if (!plans)
		return NULL;
	shadow_from_bitmap(scratch, call->bitmap);
	return osp_component_plan_begin(plans, &question);
}
