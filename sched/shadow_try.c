/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_try.c - one call of Slurm's own select_p_job_test(), undone when it fails
 *
 * A failed try may leave marks on the job that would spoil the next one, or hold the job for ever:
 * Slurm's task distribution sets priority 0 on one path (cons_common/dist_tasks.c), and 25.11 and
 * 26.05 lower start_protocol_ver for a node with an older slurmd. Everything that a call may change
 * and the next one does not rebuild is put back.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <time.h>

osp_job_test_f *shadow_slurm_job_test;

/* The licenses left for the job, as backfill has filled them in for its slot. */
#if OSP_HAVE_HRES_SELECT
struct licenses_left {
	uint32_t *of_layer; /* avail_hres, then avail_hres_orig, then each leaf's; NULL: none */
	bool test_only;
};

static void save_licenses(struct licenses_left *saved, const job_record_t *job)
{
	const hres_select_t *left = job->hres_select;

	saved->of_layer = NULL;
	if (!left)
		return;
	saved->test_only = left->test_only;
	saved->of_layer =
		xcalloc(2 * (size_t)left->layers_cnt + left->leaf_cnt, sizeof(*saved->of_layer));
	for (uint32_t i = 0; i < left->layers_cnt; i++) {
		saved->of_layer[i] = left->avail_hres[i];
		saved->of_layer[left->layers_cnt + i] = left->avail_hres_orig[i];
	}
	for (uint32_t i = 0; i < left->leaf_cnt; i++)
		saved->of_layer[2 * left->layers_cnt + i] = left->leaf[i].capacity;
}

static void restore_licenses(const struct licenses_left *saved, job_record_t *job)
{
	hres_select_t *left = job->hres_select;

	if (!left || !saved->of_layer)
		return;
	left->test_only = saved->test_only;
	for (uint32_t i = 0; i < left->layers_cnt; i++) {
		left->avail_hres[i] = saved->of_layer[i];
		left->avail_hres_orig[i] = saved->of_layer[left->layers_cnt + i];
	}
	for (uint32_t i = 0; i < left->leaf_cnt; i++)
		left->leaf[i].capacity = saved->of_layer[2 * left->layers_cnt + i];
}
#endif

struct job_marks {
	time_t start_time;
	uint32_t total_cpus;
	uint32_t priority;
	uint32_t state_reason;
	uint64_t bit_flags;
	uint64_t pn_min_memory;
	uint32_t min_cpus;
	uint16_t start_protocol_ver;
	bool best_switch;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	bitstr_t *node_bitmap_preempt;
#endif
#if OSP_HAVE_HRES_SELECT
	struct licenses_left licenses;
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
	marks->start_protocol_ver = job->start_protocol_ver;
	marks->best_switch = job->best_switch;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	marks->node_bitmap_preempt =
		job->node_bitmap_preempt ? bit_copy(job->node_bitmap_preempt) : NULL;
#endif
#if OSP_HAVE_HRES_SELECT
	save_licenses(&marks->licenses, job);
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
	job->start_protocol_ver = marks->start_protocol_ver;
	job->best_switch = marks->best_switch;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(job->node_bitmap_preempt);
	job->node_bitmap_preempt = marks->node_bitmap_preempt;
	marks->node_bitmap_preempt = NULL;
#endif
#if OSP_HAVE_HRES_SELECT
	restore_licenses(&marks->licenses, job);
	xfree(marks->licenses.of_layer);
#endif
}

static void drop_marks(struct job_marks *marks)
{
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(marks->node_bitmap_preempt);
#endif
#if OSP_HAVE_HRES_SELECT
	xfree(marks->licenses.of_layer);
#endif
	(void)marks;
}

/* Jobs of the call's candidates that one question may preempt. */
struct wanted {
	const struct osp_victims *victims;
	const job_record_t *gang;
	bitstr_t *bitmap; /* only jobs in the way there; NULL: wherever they run */
	osp_list_t *found;
};

static int overlaps(void *item, void *context)
{
	const job_record_t *component = item;
	bitstr_t *bitmap = context;

	return component->node_bitmap && bit_overlap_any(component->node_bitmap, bitmap);
}

/* Returns whether a candidate is in the way. Of a heterogeneous job only the leader is a candidate,
 * wherever it runs (job_overlap_and_running() in job_mgr.c); from 24.11 on a job that holds the
 * gang's licenses is one too. */
static bool is_in_the_way(job_record_t *other, const struct wanted *wanted)
{
	bool here = other->het_job_list
			    ? list_find_first(other->het_job_list, overlaps, wanted->bitmap) != NULL
			    : overlaps(other, wanted->bitmap);

	return here || OSP_HOLDS_LICENSES_OF(other, wanted->gang);
}

static bool is_listed(const job_record_t *other, const struct osp_victims *victims)
{
	for (uint32_t i = 0; i < victims->count; i++) {
		if (victims->listed[i].job == other->job_id &&
		    victims->listed[i].started_s == other->start_time)
			return true;
	}
	return victims->all;
}

static int append_if_wanted(void *item, void *context)
{
	job_record_t *other = item;
	struct wanted *wanted = context;

	if (is_listed(other, wanted->victims) && (!wanted->bitmap || is_in_the_way(other, wanted)))
		list_append(wanted->found, other);
	return 0;
}

/*
 * Makes a list of our own: Slurm sorts the list that it is given, and for a start now marks the
 * jobs of every domain in it. A later start is asked for with all of them: Slurm leaves them out of
 * the ends that it simulates in windows of time, and one that ends elsewhere would carry a window
 * on to a later end (job_test.c, _will_run_test(); _future_run_test() from 24.11 on).
 */
static osp_list_t *candidates_for(const struct shadow_call *call,
				  const struct osp_question *question)
{
	const struct osp_victims *victims = &question->victims;
	bool anywhere = victims->all && question->mode == OSP_ASK_WHEN &&
			call->mode == SELECT_MODE_WILL_RUN;
	struct wanted wanted = {victims, call->job, anywhere ? NULL : call->bitmap, NULL};

	if (!call->candidates || (!victims->all && !victims->count))
		return NULL;
	wanted.found = list_create(NULL);
	list_for_each(call->candidates, append_if_wanted, &wanted);
	if (!list_count(wanted.found))
		FREE_NULL_LIST(wanted.found);
	return wanted.found;
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

int64_t shadow_first_moment_s(const struct shadow_call *call)
{
	int64_t now_s = time(NULL), slot_s = OSP_SLOT_START_S(&call->tail);

	return slot_s > now_s ? slot_s : now_s;
}

bool shadow_is_first_moment(const struct shadow_call *call)
{
	return call->job->start_time <= shadow_first_moment_s(call);
}

/*
 * Returns whether a yes to a start now starts nothing: Slurm preempts no job for it and has built
 * nothing that the job could hold. From 24.11 on it says so for a node beside a job of a partition
 * with OverSubscribe=FORCE: where it removes the jobs to preempt, a node has no list of jobs
 * (node_data_dup_use() in node_data.c). select_nodes() then refuses the start, each time.
 */
static bool starts_nothing(const struct shadow_call *call, osp_list_t *preempted)
{
	return call->mode == SELECT_MODE_RUN_NOW && call->preempted &&
	       !(preempted && list_count(preempted)) && !call->job->job_resrcs;
}

/* Calls Slurm's function once with the bitmap as it is. A yes that starts nothing is none, although
 * call->rc says so. */
static bool call_once(struct shadow_call *call, const struct osp_question *question,
		      osp_list_t **preempted)
{
	osp_list_t *candidates = candidates_for(call, question);
	job_record_t *job = call->job;
	bool preempts = candidates != NULL;

	if (question->mode == OSP_ASK_FIRST)
		job->bit_flags |= TEST_NOW_ONLY;
	call->rc = shadow_slurm_job_test(
		job, call->bitmap, call->min_nodes, call->max_nodes, call->req_nodes, call->mode,
		candidates, call->preempted ? preempted : NULL, OSP_JOB_TEST_TAIL(&call->tail));
	FREE_NULL_LIST(candidates);
	/*
	 * With jobs to preempt it looks further ahead than it was asked to (24.11 on, job_test.c).
	 */
	if (call->rc == SLURM_SUCCESS && question->mode == OSP_ASK_FIRST &&
	    !shadow_is_first_moment(call))
		call->rc = OSP_ERROR_NO_DOMAIN;
	return call->rc == SLURM_SUCCESS && !(preempts && starts_nothing(call, *preempted));
}

/* What one call needs to be undone. */
struct attempt {
	struct job_marks marks;
	bitstr_t *before;
	osp_list_t *preempted;
};

/* Puts back what a yes has left. */
static void undo(struct attempt *attempt, struct shadow_call *call)
{
	restore_marks(&attempt->marks, call->job);
	save_marks(&attempt->marks, call->job);
	free_job_resources(&call->job->job_resrcs);
	FREE_NULL_LIST(attempt->preempted);
}

/* One question that is asked several times, with other nodes in the bitmap. */
struct asking {
	struct attempt *attempt;
	bool asked;
};

static bool ask_anew(struct shadow_call *call, const struct osp_question *question, void *context)
{
	struct asking *asking = context;

	if (asking->asked)
		undo(asking->attempt, call);
	asking->asked = true;
	return call_once(call, question, &asking->attempt->preempted);
}

/* Asks Slurm with the bitmap as it is. */
static bool call_slurm(struct shadow_call *call, const struct osp_question *question,
		       struct attempt *attempt)
{
	struct asking asking = {attempt, false};
	bool yes;

	if (!shadow_one_node_adds_up(call))
		return call_once(call, question, &attempt->preempted);
	yes = shadow_one_node(call, question, ask_anew, &asking);
	if (!yes)
		free_job_resources(&call->job->job_resrcs);
	return yes;
}

static void begin_attempt(struct attempt *attempt, const struct shadow_call *call)
{
	save_marks(&attempt->marks, call->job);
	attempt->before = bit_copy(call->bitmap);
	attempt->preempted = NULL;
}

/* Keeps Slurm's answer, or puts everything back; returns `yes`. */
static bool end_attempt(struct attempt *attempt, struct shadow_call *call, bool yes)
{
	if (yes) {
		call->job->bit_flags = attempt->marks.bit_flags;
		drop_marks(&attempt->marks);
		hand_over(call, &attempt->preempted);
	} else {
		restore_marks(&attempt->marks, call->job);
		bit_copybits(call->bitmap, attempt->before);
		FREE_NULL_LIST(attempt->preempted);
	}
	bit_free(attempt->before);
	return yes;
}

bool shadow_try(struct shadow_call *call, const struct osp_question *question)
{
	struct attempt attempt;

	begin_attempt(&attempt, call);
	shadow_to_bitmap(call->bitmap, question->nodes);
	bit_and(call->bitmap, attempt.before);
	return end_attempt(&attempt, call, call_slurm(call, question, &attempt));
}

bool shadow_try_whom(struct shadow_call *call, const struct osp_question *question,
		     struct osp_nodeset *taken)
{
	bool ever = question->mode == OSP_ASK_WHO_EVER;
	const struct osp_question asked = {.mode = ever ? OSP_ASK_EVER : OSP_ASK_FIRST};
	uint16_t mode = call->mode;
	struct attempt attempt;
	bool yes;

	begin_attempt(&attempt, call);
	shadow_to_bitmap(call->bitmap, question->nodes);
	bit_and(call->bitmap, attempt.before);
	call->mode = ever ? SELECT_MODE_TEST_ONLY : SELECT_MODE_WILL_RUN;
	yes = call_slurm(call, &asked, &attempt);
	call->mode = mode;
	if (yes)
		shadow_from_bitmap(taken, call->bitmap);
	end_attempt(&attempt, call, false);
	return yes;
}

bool shadow_try_if(struct shadow_call *call, shadow_accept_f *accept, void *context)
{
	const struct osp_question question = {.mode = OSP_ASK_WHEN,
					      .victims = shadow_victims_of(call)};
	struct attempt attempt;
	bool yes;

	begin_attempt(&attempt, call);
	yes = call_slurm(call, &question, &attempt);
	if (yes && !accept(call, context)) {
		free_job_resources(&call->job->job_resrcs); /* which the success has built */
		yes = false;
	}
	return end_attempt(&attempt, call, yes);
}

static bool accept_any(const struct shadow_call *call, void *context)
{
	(void)call;
	(void)context;
	return true;
}

int shadow_ask(struct shadow_call *call)
{
	if (!shadow_one_node_adds_up(call))
		return shadow_slurm_job_test(call->job, call->bitmap, call->min_nodes,
					     call->max_nodes, call->req_nodes, call->mode,
					     call->candidates, call->preempted,
					     OSP_JOB_TEST_TAIL(&call->tail));
	if (shadow_try_if(call, accept_any, NULL))
		return SLURM_SUCCESS;
	return call->rc == SLURM_SUCCESS ? OSP_ERROR_NO_DOMAIN : call->rc;
}

int64_t shadow_call_elapsed_ms(const struct shadow_call *call)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)(now.tv_sec - call->began.tv_sec) * 1000 +
	       (now.tv_nsec - call->began.tv_nsec) / 1000000;
}
