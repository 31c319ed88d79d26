/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_promise.c - gangs that are looked at first, before they are placed
 *
 * A gang whose stored request this release does not understand waits and says so; so does one that
 * came under a policy without job_submit and that nothing could keep in one domain. A job of yet
 * unknown size is left to Slurm, and placed as a gang only if Slurm would spread it.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/policy/effective.h"
#include "lib/policy/sentences.h"

static int ask_slurm(struct shadow_call *call)
{
	return shadow_slurm_job_test(call->job, call->bitmap, call->min_nodes, call->max_nodes,
				     call->req_nodes, call->mode, call->candidates, call->preempted,
				     OSP_JOB_TEST_TAIL(&call->tail));
}

/* Makes it wait. It is never called impossible, because that would hold the job. */
static int wait_saying(struct shadow_call *call, const struct osp_effective *effective,
		       const char *words)
{
	if (call->mode == SELECT_MODE_TEST_ONLY && !call->asked_again)
		return ask_slurm(call);
	/* The main scheduler does not ask about heterogeneous jobs: backfill's call must say it. */
	if (call->mode == SELECT_MODE_RUN_NOW || call->job->het_job_id)
		shadow_gang_says(call->job, effective, words);
	return OSP_ERROR_NO_DOMAIN;
}

/*
 * Tells whether the job's options conflict with one domain. Only jobs that job_submit did not judge
 * under this policy have a conflict. A heterogeneous job that may stay small, or whose components
 * need not be in one partition, is left to shadow_place_component().
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

/* What an answer of Slurm's must be like to be taken. */
struct terms {
	const struct osp_effective *effective;
	bool small_only;
	time_t before; /* it must start earlier than that; 0: at any time */
};

static bool is_acceptable(const struct shadow_call *call, void *context)
{
	const struct terms *terms = context;
	struct osp_nodeset *nodes;
	bool together;

	if (terms->before && call->job->start_time >= terms->before)
		return false;
	if ((uint32_t)bit_set_count(call->bitmap) < terms->effective->from_nodes)
		return true;
	nodes = terms->small_only || !shadow_state.topology
			? NULL
			: osp_nodeset_new(shadow_state.node_count);
	if (!nodes)
		return false;
	shadow_from_bitmap(nodes, call->bitmap);
	together = shadow_gang_together(call->job, terms->effective, nodes);
	free(nodes);
	return together;
}

/*
 * Starts the job anywhere on fewer nodes than make a gang: the policy promises nothing for these.
 */
static bool start_small(struct shadow_call *call, const struct osp_effective *effective,
			time_t before)
{
	struct terms terms = {.effective = effective, .small_only = true, .before = before};
	uint32_t max_nodes = call->max_nodes, req_nodes = call->req_nodes;
	uint32_t most = effective->from_nodes - 1;
	bool started;

	if (effective->from_nodes <= 1 || shadow_least_nodes(call->job, call->min_nodes) > most)
		return false;
	call->max_nodes = max_nodes < most ? max_nodes : most;
	call->req_nodes = req_nodes < most ? req_nodes : most;
	started = shadow_try_if(call, is_acceptable, &terms);
	call->max_nodes = max_nodes;
	call->req_nodes = req_nodes;
	if (started)
		shadow_victims_keep(call, effective->level);
	return started;
}

/*
 * Places the job in one domain or, if that starts later or not at all, on fewer nodes than make a
 * gang.
 */
static int place_or_start_small(struct shadow_call *call, const struct osp_effective *effective)
{
	bitstr_t *given = bit_copy(call->bitmap), *placed = NULL;
	int rc = shadow_choose(call, effective);
	time_t start = call->job->start_time;

	if (rc == SLURM_SUCCESS && (call->mode != SELECT_MODE_WILL_RUN || start <= time(NULL))) {
		bit_free(given);
		return rc;
	}
	if (rc == SLURM_SUCCESS)
		placed = bit_copy(call->bitmap);
	bit_copybits(call->bitmap, given);
	if (start_small(call, effective, placed ? start : 0)) {
		rc = SLURM_SUCCESS;
	} else if (placed) {
		bit_copybits(call->bitmap, placed);
		call->job->start_time = start;
	}
	bit_free(given);
	FREE_NULL_BITMAP(placed);
	return rc;
}

/* Takes Slurm's own choice, unless it would be a gang on several domains. */
static int place_if_large(struct shadow_call *call, const struct osp_effective *effective)
{
	struct terms terms = {.effective = effective};

	if (call->mode == SELECT_MODE_TEST_ONLY)
		return ask_slurm(call);
	if (shadow_try_if(call, is_acceptable, &terms)) {
		shadow_victims_keep(call, effective->level);
		return SLURM_SUCCESS;
	}
	return call->rc == SLURM_SUCCESS ? place_or_start_small(call, effective) : call->rc;
}

/*
 * Takes the nodes that --extra excludes out of the call. For a start Slurm has done so; whether a
 * job could ever start is left to Slurm, since the nodes' Extra may change.
 */
static void keep_to_extra(struct shadow_call *call)
{
	const struct osp_nodeset *excluded = shadow_extra_excludes(call->job);
	bitstr_t *bitmap;

	if (!excluded)
		return;
	bitmap = bit_alloc(node_record_count);
	shadow_to_bitmap(bitmap, excluded);
	bit_and_not(call->bitmap, bitmap);
	bit_free(bitmap);
}

int shadow_place_gang(struct shadow_call *call, const struct osp_effective *effective)
{
	char words[2 * OSP_SENTENCE_BYTES];

	if (effective->mode != OSP_MODE_ENFORCE)
		return shadow_choose(call, effective);
	if (call->mode == SELECT_MODE_WILL_RUN)
		keep_to_extra(call);
	if (effective->unread[0])
		return wait_saying(call, effective,
				   osp_effective_waits(effective, words, sizeof(words)));
	if (cannot_stay_together(call->job, effective, words, sizeof(words)))
		return wait_saying(call, effective, words);
	if ((effective->if_large || shadow_components_may_choose(call->job)) &&
	    call->mode != SELECT_MODE_TEST_ONLY && shadow_state.topology &&
	    shadow_has_components(call->job))
		return shadow_place_component(call, effective);
	if (effective->if_large)
		return place_if_large(call, effective);
	if (effective->from_nodes > 1 && call->mode != SELECT_MODE_TEST_ONLY)
		return place_or_start_small(call, effective);
	return shadow_choose(call, effective);
}
