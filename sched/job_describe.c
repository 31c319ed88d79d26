/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_describe.c - a job's description in Slurm's words as the shadow reads it */
#include "sched/job_describe.h"

#include "host/slurm_compat.h"
#include "lib/base/hash.h"

#define COMPONENTS_MAX 128 /* that are remembered */

/*
 * Takes a text if one is given: an empty string takes back what was said before, NULL says nothing.
 * Returns whether one is given.
 */
static bool take_text(const char *said, const char **text)
{
	if (said)
		*text = *said ? said : NULL;
	return said != NULL;
}

static bool take_number(uint32_t said, uint32_t unsaid, uint32_t *number)
{
	if (said != unsaid)
		*number = said < NO_VAL ? said : 0;
	return said != unsaid;
}

static bool take_flag(uint32_t said, uint32_t unsaid, bool *flag)
{
	if (said != unsaid)
		*flag = said != 0;
	return said != unsaid;
}

static bool describe_size(const job_desc_msg_t *job, struct osp_seam_job *described)
{
	uint32_t unsaid_16 = NO_VAL16;
	bool least = take_number(job->min_nodes, NO_VAL, &described->min_nodes);
	bool most = take_number(job->max_nodes, NO_VAL, &described->max_nodes);
	bool any = least || most;

	if (!most && described->max_nodes && described->max_nodes < described->min_nodes)
		described->max_nodes = described->min_nodes;
	any |= take_number(job->num_tasks, NO_VAL, &described->tasks);
	any |= take_number(job->ntasks_per_node, unsaid_16, &described->tasks_per_node);
	any |= take_text(job->tres_per_job, &described->tres_per_job);
	any |= take_text(job->tres_per_node, &described->tres_per_node);
	any |= take_text(job->tres_per_task, &described->tres_per_task);
	if (job->min_cpus != NO_VAL) {
		described->cpus = job->min_cpus;
		any = true;
	}
	if (job->num_tasks != NO_VAL && job->cpus_per_task != NO_VAL16 &&
	    (uint64_t)job->num_tasks * job->cpus_per_task > described->cpus)
		described->cpus = (uint64_t)job->num_tasks * job->cpus_per_task;
	if (job->overcommit != NO_VAL8 && job->overcommit)
		described->cpus = 0;
	return any;
}

static bool describe_shape(const job_desc_msg_t *job, struct osp_shape *shape)
{
	bool any = take_flag(job->req_switch, NO_VAL, &shape->switches);

	any |= take_flag(job->contiguous, NO_VAL16, &shape->contiguous);
	any |= take_text(job->features, &shape->features);
	any |= take_text(job->prefer, &shape->prefer);
	any |= take_flag(OSP_JOB_SEGMENT(job), NO_VAL16, &shape->segment) &&
	       OSP_JOB_SEGMENT(job) != 0;
	shape->segment_flags |= OSP_JOB_SEGMENT_FLAGS(job);
	if (job->shared != NO_VAL16) {
		shape->exclusive_topo = OSP_JOB_EXCLUSIVE_TOPO(job);
		any = true;
	}
	if (job->dependency) {
		shape->expands = osp_dependency_expands(job->dependency);
		any = true;
	}
	return any;
}

bool osp_job_describe(const job_desc_msg_t *job, struct osp_seam_job *described)
{
	bool any = take_text(job->partition, &described->partition);

	take_text(job->reservation, &described->reservation);
	any |= take_text(job->req_nodes, &described->required_nodes);
	any |= take_text(job->exc_nodes, &described->excluded_nodes);
	any |= describe_size(job, described);
	any |= describe_shape(job, &described->shape);
	return any;
}

/* Returns the nodes that the job says to need, at least one; no more than a cluster has. */
static uint32_t least_nodes(const job_desc_msg_t *job)
{
	return job->min_nodes > 0 && job->min_nodes < 0xffff ? job->min_nodes : 1;
}

uint32_t osp_job_nodes_before(const job_desc_msg_t *job)
{
	static __thread struct {
		uint32_t count;
		uint64_t partition[COMPONENTS_MAX];
		uint32_t nodes[COMPONENTS_MAX];
	} shown;
	uint64_t partition = osp_hash_words(OSP_HASH_START, job->partition ? job->partition : "");
	uint32_t before = 0;

	if (job->het_job_offset == 0)
		shown.count = 0;
	/* the shadow judges all components together once they exist */
	if (job->het_job_offset != shown.count || shown.count == COMPONENTS_MAX)
		return 0;
	for (uint32_t i = 0; i < shown.count; i++)
		before += shown.partition[i] == partition ? shown.nodes[i] : 0;
	shown.partition[shown.count] = partition;
	shown.nodes[shown.count++] = least_nodes(job);
	return before;
}
