/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_promise.c - gangs that are looked at first, before they are placed
 *
 * A gang whose stored request this release does not understand waits and says so; so does one that
 * came under a policy without job_submit and that nothing could keep in one domain. A job of yet
 * unknown size is left to Slurm, and placed as a gang only if Slurm would spread it.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/choose/large.h"
#include "lib/policy/effective.h"
#include "lib/policy/sentences.h"

/* Makes it wait. It is never called impossible, because that would hold the job. */
static int wait_saying(struct shadow_call *call, const struct osp_effective *effective,
		       const char *words)
{
	if (call->mode == SELECT_MODE_TEST_ONLY && !call->asked_again)
		return shadow_ask(call);
	/* The main scheduler does not ask about heterogeneous jobs: backfill's call must say it. */
	if (call->mode == SELECT_MODE_RUN_NOW || call->job->het_job_id)
		shadow_gang_says(call->job, effective, words);
	return OSP_ERROR_NO_DOMAIN;
}

/*
 * Returns whether the job's options conflict with one domain. Only jobs that job_submit did not
 * judge under this policy have a conflict. A heterogeneous job that may stay small, or whose
 * components need not be in one partition, is left to shadow_place_component().
 */
static bool cannot_stay_together(const job_record_t *job, const struct osp_effective *effective,
				 char *words, size_t words_bytes)
{
	static const char waits[] = "waits: ";
	struct osp_shape shape;

	if (effective->origin != OSP_FROM_POLICY)
		return false;
	shadow_job_shape(job, &shape);
	if (effective->if_large || shadow_components_may_choose(job))
		shape.heterogeneous = false;
	memcpy(words, waits, sizeof(waits));
	return osp_conflict_find(&shape, OSP_CONFLICTS_THAT_SPLIT, effective, words + strlen(waits),
				 words_bytes - strlen(waits));
}

/* --- jobs that are gangs only if they are large ----------------------------------------------- */

/* One such job's call, as the functions that lib/choose/large.h calls see it. */
struct large {
	struct shadow_call *call;
	const struct osp_effective *effective;
	bitstr_t *given;  /* the bitmap as it came; each question starts from it */
	bitstr_t *placed; /* the answer that is set aside; NULL: none */
	time_t placed_s;
	int rc; /* of the last question for one domain */
};

struct large_accept {
	osp_large_accept_f *accept;
	void *context;
};

static bool is_accepted(const struct shadow_call *call, void *context)
{
	const struct large_accept *wanted = context;
	struct osp_nodeset *nodes = osp_nodeset_new(shadow_state.node_count);
	bool yes = false;

	if (nodes) {
		shadow_from_bitmap(nodes, call->bitmap);
		yes = wanted->accept(wanted->context, nodes, call->job->start_time);
	}
	free(nodes);
	return yes;
}

static enum osp_large_answer ask_large(void *context, uint32_t most_nodes,
				       osp_large_accept_f *accept, void *accept_context)
{
	struct large *large = context;
	struct shadow_call *call = large->call;
	uint32_t max_nodes = call->max_nodes, req_nodes = call->req_nodes;
	struct large_accept wanted = {accept, accept_context};
	bool yes;

	bit_copybits(call->bitmap, large->given);
	if (most_nodes && most_nodes < max_nodes)
		call->max_nodes = most_nodes;
	if (most_nodes && most_nodes < req_nodes)
		call->req_nodes = most_nodes;
	yes = shadow_try_if(call, is_accepted, &wanted);
	call->max_nodes = max_nodes;
	call->req_nodes = req_nodes;
	if (yes)
		shadow_victims_keep(call, large->effective->level);
	if (yes)
		return OSP_LARGE_YES;
	return call->rc == SLURM_SUCCESS ? OSP_LARGE_OTHER : OSP_LARGE_NO;
}

static bool place_large(void *context, int64_t *start_s)
{
	struct large *large = context;

	bit_copybits(large->call->bitmap, large->given);
	large->rc = shadow_choose(large->call, large->effective);
	*start_s = large->call->job->start_time;
	return large->rc == SLURM_SUCCESS;
}

static void set_aside(void *context)
{
	struct large *large = context;

	large->placed = bit_copy(large->call->bitmap);
	large->placed_s = large->call->job->start_time;
}

static void bring_back(void *context)
{
	struct large *large = context;

	bit_copybits(large->call->bitmap, large->placed);
	large->call->job->start_time = large->placed_s;
}

static bool is_together(void *context, const struct osp_nodeset *nodes)
{
	const struct large *large = context;

	return shadow_state.topology &&
	       shadow_gang_together(large->call->job, large->effective, nodes);
}

static int choose_large(struct shadow_call *call, const struct osp_effective *effective)
{
	struct large large = {
		.call = call, .effective = effective, .given = bit_copy(call->bitmap)};
	const struct osp_large_input input = {
		.unknown_size = effective->if_large,
		.later_helps = call->mode == SELECT_MODE_WILL_RUN,
		.from_nodes = effective->from_nodes,
		.least_nodes = shadow_least_nodes(call->job, call->min_nodes),
		.now_s = time(NULL),
	};
	const struct osp_large_calls calls = {.ask = ask_large,
					      .place = place_large,
					      .set_aside = set_aside,
					      .bring_back = bring_back,
					      .is_together = is_together,
					      .context = &large};
	bool yes = osp_choose_large(&input, &calls);

	bit_free(large.given);
	FREE_NULL_BITMAP(large.placed);
	if (yes)
		return SLURM_SUCCESS;
	return large.rc != SLURM_SUCCESS ? large.rc : call->rc;
}

/*
 * Takes the nodes that --extra excludes out of the call. For a start Slurm has done so; whether a
 * job could ever start is left to Slurm, since the nodes' Extra may change. Returns false if memory
 * ran out.
 */
static bool keep_to_extra(struct shadow_call *call)
{
	const struct osp_nodeset *excluded;
	bitstr_t *bitmap;

	if (!shadow_extra_excludes(call->job, &excluded))
		return false;
	if (!excluded)
		return true;
	call->offered = bit_copy(call->bitmap);
	bitmap = bit_alloc(node_record_count);
	shadow_to_bitmap(bitmap, excluded);
	bit_and_not(call->bitmap, bitmap);
	bit_free(bitmap);
	return true;
}

static enum osp_course course_of(const struct shadow_call *call,
				 const struct osp_effective *effective, char *words,
				 size_t words_bytes)
{
	const struct osp_course_facts facts = {
		.only_ever = call->mode == SELECT_MODE_TEST_ONLY,
		.splits = cannot_stay_together(call->job, effective, words, words_bytes),
		.is_component = shadow_has_components(call->job),
		.others_choose = shadow_components_may_choose(call->job),
		.has_fabric = shadow_state.topology != NULL,
	};

	return osp_course_of(effective, &facts);
}

static int place(struct shadow_call *call, const struct osp_effective *effective)
{
	char words[2 * OSP_SENTENCE_BYTES];

	switch (course_of(call, effective, words, sizeof(words))) {
	case OSP_COURSE_WAIT_UNREAD:
		return wait_saying(call, effective,
				   osp_effective_waits(effective, words, sizeof(words)));
	case OSP_COURSE_WAIT_SPLIT:
		return wait_saying(call, effective, words);
	case OSP_COURSE_COMPONENT:
		return shadow_place_component(call, effective);
	case OSP_COURSE_SCHEDULER:
		return shadow_ask(call);
	case OSP_COURSE_LARGE:
		return choose_large(call, effective);
	case OSP_COURSE_PLACE:
		break;
	}
	return shadow_choose(call, effective);
}

int shadow_place_gang(struct shadow_call *call, const struct osp_effective *effective)
{
	bool plans = effective->mode == OSP_MODE_ENFORCE && call->mode == SELECT_MODE_WILL_RUN;
	int rc = OSP_ERROR_NO_DOMAIN;

	clock_gettime(CLOCK_MONOTONIC, &call->began);
	shadow_extra_begin();
	if (!plans || keep_to_extra(call))
		rc = place(call, effective);
	FREE_NULL_BITMAP(call->offered);
	return rc;
}
