/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_try.c - one call of Slurm's own select_p_job_test(), undone when it fails
 *
 * A failed try may leave marks on the job that would spoil the next one, or hold the job for ever:
 * Slurm's task distribution sets priority 0 on one path (cons_common/dist_tasks.c). Everything that
 * a call may change and that is not rebuilt by the next one is put back (the list: facts of Slurm's
 * source, doc/architecture.md).
 */
#include "sched/shadow.h"

#include <time.h>

osp_job_test_f *shadow_slurm_job_test;

struct job_marks {
	time_t start_time;
	uint32_t total_cpus;
	uint32_t priority;
	uint32_t state_reason;
	uint64_t bit_flags;
	uint64_t pn_min_memory;
	uint32_t min_cpus;
	bool best_switch;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	bitstr_t *node_bitmap_preempt;
#endif
};

static void save_marks(struct job_marks *marks, const job_record_t *job)
{
	marks->start_time = job->start_time;
	marks->total_cpus = job->total_cpus;
	marks->priority = job->priority;
	marks->state_reason = job->state_reason;
	marks->bit_flags = job->bit_flags;
	marks->pn_min_memory = job->details->pn_min_memory;
	marks->min_cpus = job->details->min_cpus;
	marks->best_switch = job->best_switch;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	marks->node_bitmap_preempt =
		job->node_bitmap_preempt ? bit_copy(job->node_bitmap_preempt) : NULL;
#endif
}

static void restore_marks(struct job_marks *marks, job_record_t *job)
{
	job->start_time = marks->start_time;
	job->total_cpus = marks->total_cpus;
	job->priority = marks->priority;
	job->state_reason = marks->state_reason;
	job->bit_flags = marks->bit_flags;
	job->details->pn_min_memory = marks->pn_min_memory;
	job->details->min_cpus = marks->min_cpus;
	job->best_switch = marks->best_switch;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(job->node_bitmap_preempt);
	job->node_bitmap_preempt = marks->node_bitmap_preempt;
	marks->node_bitmap_preempt = NULL;
#endif
}

static void drop_marks(struct job_marks *marks)
{
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(marks->node_bitmap_preempt);
#else
	(void)marks;
#endif
}

struct overlap {
	bitstr_t *bitmap;
	osp_list_t *found;
};

static int append_if_overlapping(void *item, void *context)
{
	job_record_t *other = item;
	struct overlap *overlap = context;

	if (other->node_bitmap && bit_overlap_any(other->node_bitmap, overlap->bitmap))
		list_append(overlap->found, other);
	return 0;
}

/* A list of our own: Slurm sorts the list that it is given and marks the jobs of every domain in
 * it. */
static osp_list_t *overlapping_candidates(const struct shadow_call *call)
{
	struct overlap overlap = {call->bitmap, NULL};

	if (!call->candidates)
		return NULL;
	overlap.found = list_create(NULL);
	list_for_each(call->candidates, append_if_overlapping, &overlap);
	if (!list_count(overlap.found))
		FREE_NULL_LIST(overlap.found);
	return overlap.found;
}

/* Hands the jobs to preempt to the caller of the outermost call. */
static void hand_over(struct shadow_call *call, osp_list_t **jobs)
{
	if (call->preempted) {
		FREE_NULL_LIST(*call->preempted);
		*call->preempted = *jobs;
		*jobs = NULL;
	}
	FREE_NULL_LIST(*jobs);
}

bool shadow_try(struct shadow_call *call, const struct osp_nodeset *nodes, bool preempt,
		bool now_only)
{
	job_record_t *job = call->job;
	struct job_marks marks;
	osp_list_t *candidates, *preempted = NULL;
	bitstr_t *before = bit_copy(call->bitmap);

	save_marks(&marks, job);
	shadow_to_bitmap(call->bitmap, nodes);
	bit_and(call->bitmap, before);
	candidates = preempt ? overlapping_candidates(call) : NULL;
	if (now_only)
		job->bit_flags |= TEST_NOW_ONLY;
	call->rc = shadow_slurm_job_test(
		job, call->bitmap, call->min_nodes, call->max_nodes, call->req_nodes, call->mode,
		candidates, call->preempted ? &preempted : NULL, OSP_JOB_TEST_TAIL(&call->tail));
	FREE_NULL_LIST(candidates);
	if (call->rc == SLURM_SUCCESS) {
		job->bit_flags = marks.bit_flags;
		drop_marks(&marks);
		hand_over(call, &preempted);
	} else {
		restore_marks(&marks, job);
		bit_copybits(call->bitmap, before);
		FREE_NULL_LIST(preempted);
	}
	FREE_NULL_BITMAP(before);
	return call->rc == SLURM_SUCCESS;
}

int64_t shadow_call_elapsed_ms(const struct shadow_call *call)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)(now.tv_sec - call->began.tv_sec) * 1000 +
	       (now.tv_nsec - call->began.tv_nsec) / 1000000;
}
