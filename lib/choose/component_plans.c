/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component_plans.c - where the scheduler has planned the components of heterogeneous jobs */
#include "onespine_config.h"
#include "lib/choose/component_plans.h"

#include <stdlib.h>
#include <string.h>

/* The earliest start of a component. */
struct start {
	struct osp_nodeset *nodes; /* NULL: not planned */
	const void *partition;
	int64_t start_s;
};

/* What was said about a component when another one was asked about. */
struct said {
	struct osp_nodeset *nodes; /* NULL: nothing */
	const void *partition;
	int64_t start_s;
	uint64_t question; /* its number */
};

struct component {
	const void *asked[OSP_COMPONENT_PARTITIONS_MAX]; /* in this cycle; NULL: free */
	struct start start;
	struct said said;
};

struct osp_component_plan {
	uint32_t node_count;
	uint32_t job;	   /* 0: not in use */
	uint64_t question; /* number of the last one */
	uint32_t last;	   /* the component of that, its partition, and when it was come to */
	const void *last_in;
	int64_t last_came_s;
	struct osp_nodeset *answer; /* to it */
	bool answered;		    /* with yes, and nobody knows yet what has become of it */
	struct component component[OSP_COMPONENTS_MAX];

	struct osp_components_search *search[OSP_COMPONENT_PARTITIONS_MAX];
	const void *search_in[OSP_COMPONENT_PARTITIONS_MAX];

	int64_t all_start_s; /* in that partition */
	const void *all_in;
};

struct osp_component_plans {
	uint64_t questions;
	struct osp_component_plan plan[OSP_COMPONENT_PLANS_MAX];
};

/* --- which is whose --------------------------------------------------------------------------- */

static void forget_start(struct component *component)
{
	free(component->start.nodes);
	component->start.nodes = NULL;
}

static void forget_said(struct component *component)
{
	free(component->said.nodes);
	component->said.nodes = NULL;
}

static void forget_plan(struct osp_component_plan *plan)
{
	uint32_t node_count = plan->node_count;

	for (uint32_t i = 0; i < OSP_COMPONENTS_MAX; i++) {
		forget_start(&plan->component[i]);
		forget_said(&plan->component[i]);
	}
	for (uint32_t i = 0; i < OSP_COMPONENT_PARTITIONS_MAX; i++)
		osp_components_search_free(plan->search[i]);
	free(plan->answer);
	memset(plan, 0, sizeof(*plan));
	plan->node_count = node_count;
}

struct osp_component_plans *osp_component_plans_new(uint32_t node_count)
{
	struct osp_component_plans *plans = calloc(1, sizeof(*plans));

	for (uint32_t i = 0; plans && i < OSP_COMPONENT_PLANS_MAX; i++)
		plans->plan[i].node_count = node_count;
	return plans;
}

void osp_component_plans_free(struct osp_component_plans *plans)
{
	for (uint32_t i = 0; plans && i < OSP_COMPONENT_PLANS_MAX; i++)
		forget_plan(&plans->plan[i]);
	free(plans);
}

/* Returns the job's plan, or NULL. */
static struct osp_component_plan *find_plan(const struct osp_component_plans *plans, uint32_t job)
{
	for (uint32_t i = 0; plans && i < OSP_COMPONENT_PLANS_MAX; i++) {
		if (plans->plan[i].job == job)
			return (struct osp_component_plan *)&plans->plan[i];
	}
	return NULL;
}

/* Returns the job's plan, or the one that was asked about longest ago; one that was never in use
 * comes first. */
static struct osp_component_plan *plan_of(struct osp_component_plans *plans, uint32_t job)
{
	struct osp_component_plan *plan = find_plan(plans, job);

	if (!plan) {
		plan = &plans->plan[0];
		for (uint32_t i = 1; i < OSP_COMPONENT_PLANS_MAX; i++) {
			if (plans->plan[i].question < plan->question)
				plan = &plans->plan[i];
		}
		forget_plan(plan);
	}
	plan->job = job;
	plan->question = ++plans->questions;
	return plan;
}

/* --- one question after the other ------------------------------------------------------------- */

/* Keeps the last answer if it was about this component and is its earliest start. */
static void settle(struct osp_component_plan *plan, uint32_t component, int64_t start_s)
{
	struct start *start;

	if (!plan->answered || plan->last != component || component >= OSP_COMPONENTS_MAX)
		return;
	plan->answered = false;
	start = &plan->component[component].start;
	if (!start_s || (start->nodes && start->start_s <= start_s))
		return;
	free(start->nodes);
	*start = (struct start){plan->answer, plan->last_in, start_s};
	plan->answer = NULL;
}

static bool was_asked(const struct component *component, const void *partition)
{
	for (uint32_t i = 0; i < OSP_COMPONENT_PARTITIONS_MAX; i++) {
		if (component->asked[i] == partition)
			return true;
	}
	return false;
}

/* Returns whether it is asked about a second time, for another slot: since the scheduler has come
 * to the component it has asked about nothing else. */
static bool is_asked_at_once(const struct osp_component_plan *plan,
			     const struct osp_component_question *question)
{
	return plan->last == question->component && plan->last_in == question->partition &&
	       plan->last_came_s == question->came_s;
}

static void note_asked(struct osp_component_plan *plan,
		       const struct osp_component_question *question)
{
	const void **asked = plan->component[question->component].asked;

	plan->last = question->component;
	plan->last_in = question->partition;
	plan->last_came_s = question->came_s;
	for (uint32_t i = 0; i < OSP_COMPONENT_PARTITIONS_MAX && asked[i] != question->partition;
	     i++) {
		if (!asked[i]) {
			asked[i] = question->partition;
			return;
		}
	}
}

/* Forgets the start of the component asked about and, in a new cycle, what is not sure to be a plan
 * of it. */
static void forget_older(struct osp_component_plan *plan,
			 const struct osp_component_question *question, bool new_cycle)
{
	for (uint32_t i = 0; i < OSP_COMPONENTS_MAX; i++) {
		struct component *component = &plan->component[i];
		const struct start *start = &component->start;
		bool is_offered =
			start->nodes && osp_nodeset_overlap(start->nodes, question->offered);
		bool here = start->partition == question->partition;
		bool own = i == question->component;

		if ((new_cycle && (own || is_offered || !here)) || (own && here))
			forget_start(component);
		if (new_cycle)
			memset(component->asked, 0, sizeof(component->asked));
	}
}

static void begin_question(struct osp_component_plan *plan,
			   const struct osp_component_question *question)
{
	bool before = was_asked(&plan->component[question->component], question->partition);

	if (before || plan->all_in != question->partition)
		plan->all_start_s = 0;
	plan->all_in = question->partition;
	for (uint32_t i = 0; i < OSP_COMPONENTS_MAX; i++) {
		if (before || i == question->component)
			forget_said(&plan->component[i]);
	}
	forget_older(plan, question, before && !is_asked_at_once(plan, question));
	note_asked(plan, question);
}

struct osp_component_plan *osp_component_plan_begin(struct osp_component_plans *plans,
						    const struct osp_component_question *question)
{
	struct osp_component_plan *plan = plan_of(plans, question->job);

	if (plan->answered)
		settle(plan, plan->last, question->start_s(question->context, plan->last));
	if (question->component < OSP_COMPONENTS_MAX)
		begin_question(plan, question);
	else
		plan->last = question->component;
	return plan;
}

void osp_component_plan_keep(struct osp_component_plan *plan, const struct osp_nodeset *nodes,
			     int64_t all_start_s)
{
	if (plan->last >= OSP_COMPONENTS_MAX)
		return;
	if (all_start_s > plan->all_start_s)
		plan->all_start_s = all_start_s;
	if (!plan->answer)
		plan->answer = osp_nodeset_new(plan->node_count);
	if (!plan->answer)
		return;
	osp_nodeset_assign(plan->answer, nodes);
	plan->answered = true;
}

/* --- what is known ---------------------------------------------------------------------------- */

const struct osp_nodeset *osp_component_plan_nodes(const struct osp_component_plan *plan,
						   uint32_t component)
{
	return component < OSP_COMPONENTS_MAX ? plan->component[component].start.nodes : NULL;
}

bool osp_component_plan_is_elsewhere(const struct osp_component_plan *plan, uint32_t component,
				     const void *partition, int64_t until_s)
{
	const struct start *start;

	if (!osp_component_plan_nodes(plan, component))
		return false;
	start = &plan->component[component].start;
	return start->partition != partition && start->start_s <= until_s;
}

int64_t osp_component_plan_all_start_s(const struct osp_component_plan *plan)
{
	return plan->all_start_s;
}

struct osp_components_search **osp_component_plan_search(struct osp_component_plan *plan,
							 const void *partition)
{
	for (uint32_t i = 0; i < OSP_COMPONENT_PARTITIONS_MAX; i++) {
		if (!plan->search_in[i])
			plan->search_in[i] = partition;
		if (plan->search_in[i] == partition)
			return &plan->search[i];
	}
	return NULL;
}

void osp_component_plan_says(struct osp_component_plan *plan, uint32_t component,
			     const void *partition, const struct osp_nodeset *nodes,
			     int64_t start_s)
{
	struct said *said;

	if (component >= OSP_COMPONENTS_MAX)
		return;
	said = &plan->component[component].said;
	if (!said->nodes)
		said->nodes = osp_nodeset_new(plan->node_count);
	if (!said->nodes)
		return;
	osp_nodeset_assign(said->nodes, nodes);
	said->partition = partition;
	said->start_s = start_s;
	said->question = plan->question;
}

const struct osp_nodeset *osp_component_plan_said(const struct osp_component_plan *plan,
						  uint32_t component, const void *partition,
						  bool this_call, int64_t *start_s)
{
	const struct said *said;

	if (component >= OSP_COMPONENTS_MAX)
		return NULL;
	said = &plan->component[component].said;
	if (!said->nodes || said->partition != partition ||
	    (!this_call && said->question == plan->question))
		return NULL;
	*start_s = said->start_s;
	return said->nodes;
}

/* --- at any time ------------------------------------------------------------------------------ */

void osp_component_plans_note(struct osp_component_plans *plans, uint32_t job, uint32_t component,
			      int64_t start_s)
{
	struct osp_component_plan *plan = find_plan(plans, job);

	if (plan)
		settle(plan, component, start_s);
}

const void *osp_component_planned_in(const struct osp_component_plans *plans, uint32_t job,
				     uint32_t component)
{
	const struct osp_component_plan *plan = find_plan(plans, job);

	return plan && osp_component_plan_nodes(plan, component)
		       ? plan->component[component].start.partition
		       : NULL;
}

const struct osp_nodeset *osp_component_planned_on(const struct osp_component_plans *plans,
						   uint32_t job, uint32_t component,
						   const void *partition)
{
	const struct osp_component_plan *plan = find_plan(plans, job);

	return plan && osp_component_planned_in(plans, job, component) == partition
		       ? osp_component_plan_nodes(plan, component)
		       : NULL;
}
