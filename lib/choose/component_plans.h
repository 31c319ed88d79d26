/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * component_plans.h - where the scheduler has planned the components of heterogeneous jobs
 *
 * A scheduler that plans asks about each component of a job, in each of its partitions and for one
 * slot of time after the other, before it starts the first one. It keeps the earliest start of each
 * component, and the partition of that. No question says what it keeps: a start is no earlier than
 * the slot that was asked about, which may be unknown, and an answer may not be taken. It is in the
 * scheduler's own record of the component as soon as the next question comes.
 *
 * Nothing says where a cycle of the scheduler ends, either. A component that is asked about again
 * in the same partition is asked about at once, for another slot, or in a new cycle. Then nodes
 * that are offered are not those of a plan of this cycle.
 *
 * A plan belongs to one thread at a time. Partitions are only compared, never looked into.
 */
#ifndef OSP_CHOOSE_COMPONENT_PLANS_H
#define OSP_CHOOSE_COMPONENT_PLANS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/nodeset.h"
#include "lib/choose/components.h"

/* Jobs whose plans are remembered; the one asked about longest ago is forgotten first. Priority may
 * put components of one job between those of others. */
#define OSP_COMPONENT_PLANS_MAX 64

/* The partitions of one component that a plan remembers to have been asked about. */
#define OSP_COMPONENT_PARTITIONS_MAX 4

struct osp_component_plans; /* of all jobs */
struct osp_component_plan;  /* of one job, until the next question about a job without a plan */

/* Returns NULL if memory ran out. */
struct osp_component_plans *osp_component_plans_new(uint32_t node_count);
void osp_component_plans_free(struct osp_component_plans *plans); /* NULL is allowed */

/* --- in a question about one component -------------------------------------------------------- */

struct osp_component_question {
	uint32_t job;
	uint32_t component; /* its number in the job */
	const void *partition;
	int64_t came_s; /* when the scheduler came to the component in this cycle */
	const struct osp_nodeset *offered;

	/* Returns when a component of this job starts by the scheduler's record; 0: it has no
	 * start, or is gone. */
	int64_t (*start_s)(void *context, uint32_t component);
	void *context;
};

/*
 * Begins or continues the plan of the question's job: takes in what the scheduler has made of the
 * answer to the question before, and forgets what does not hold any more. `plans` may not be NULL.
 * Components from OSP_COMPONENTS_MAX on are neither planned nor remembered, here and below.
 */
struct osp_component_plan *osp_component_plan_begin(struct osp_component_plans *plans,
						    const struct osp_component_question *question);

/*
 * Keeps the answer to the question: the nodes of a yes, and when all components could start. The
 * next question says whether the scheduler has taken it. Forgets the answer if memory runs out.
 */
void osp_component_plan_keep(struct osp_component_plan *plan, const struct osp_nodeset *nodes,
			     int64_t all_start_s);

/* Returns the nodes of the component's earliest start, in whatever partition; NULL: not planned. */
const struct osp_nodeset *osp_component_plan_nodes(const struct osp_component_plan *plan,
						   uint32_t component);

/* Returns whether the component is planned in another partition, for that time at the latest. */
bool osp_component_plan_is_elsewhere(const struct osp_component_plan *plan, uint32_t component,
				     const void *partition, int64_t until_s);

/* Returns when all could start in the partition of the question, by what was answered in this
 * cycle; 0: unknown. */
int64_t osp_component_plan_all_start_s(const struct osp_component_plan *plan);

/* Returns where the plan keeps how far calls in that partition came that had too little time; NULL:
 * there is no room. */
struct osp_components_search **osp_component_plan_search(struct osp_component_plan *plan,
							 const void *partition);

/*
 * The first keeps what the scheduler said about a component when it was asked about another one, so
 * that N components cost about 2 N questions a cycle, not N * N. The second returns it, if it was
 * said in this partition and, without `this_call`, before this question; NULL: nothing. It lasts
 * until the component is asked about itself, or a new cycle begins.
 */
void osp_component_plan_says(struct osp_component_plan *plan, uint32_t component,
			     const void *partition, const struct osp_nodeset *nodes,
			     int64_t start_s);
const struct osp_nodeset *osp_component_plan_said(const struct osp_component_plan *plan,
						  uint32_t component, const void *partition,
						  bool this_call, int64_t *start_s);

/* --- at any time ------------------------------------------------------------------------------ */

/* Takes in when the component starts by the scheduler's record now; 0: not at all. */
void osp_component_plans_note(struct osp_component_plans *plans, uint32_t job, uint32_t component,
			      int64_t start_s);

/* Returns the partition in which the component is planned; NULL: none. */
const void *osp_component_planned_in(const struct osp_component_plans *plans, uint32_t job,
				     uint32_t component);

/* Returns the nodes on which it is planned in that partition; NULL: none. */
const struct osp_nodeset *osp_component_planned_on(const struct osp_component_plans *plans,
						   uint32_t job, uint32_t component,
						   const void *partition);

#endif
