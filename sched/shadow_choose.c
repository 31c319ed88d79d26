/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_choose.c - a gang in each of Slurm's three modes
 *
 * lib/place orders the domains; Slurm's own function, narrowed to one of them, has the last word.
 * First it is offered exactly the nodes that lib/ would take, then the whole domain.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/policy/words.h"

/*
 * No call keeps Slurm's locks longer than this for its own reasons: one of Slurm's own calls may
 * take 2 s (cons_common/job_test.c, _will_run_test), and backfill makes hundreds.
 */
#define BUDGET_MS 1000

/* Candidates looked at in one call; the rest would be worse, and the budget is spent before. */
#define CANDIDATES_MAX 256

/* Domains asked in vain for a start in the future after one has answered, to find an earlier one.
 */
#define FUTURE_TRIES_MAX 8

/* --- what the three modes share -------------------------------------------------------------- */

/* A gang's question and lib/'s answer, copied: later questions use the same scratch. */
struct choice {
	struct shadow_call *call;
	struct shadow_gang *gang;
	struct osp_place_input input;
	struct osp_place_domain candidates[CANDIDATES_MAX];
	uint32_t candidate_count;
	struct osp_nodeset *nodes; /* scratch */
};

static void keep_candidates(struct choice *choice, const struct osp_place_domain *domains,
			    uint32_t count)
{
	choice->candidate_count = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
	memcpy(choice->candidates, domains, choice->candidate_count * sizeof(domains[0]));
}

static bool budget_spent(const struct choice *choice)
{
	return shadow_call_elapsed_ms(choice->call) > BUDGET_MS;
}

/* The usable nodes of one candidate, into choice->nodes. */
static void domain_nodes(struct choice *choice, const struct osp_place_domain *candidate)
{
	const struct osp_place_input *input = &choice->input;
	struct osp_nodeset *nodes = choice->nodes;

	osp_nodeset_clear(nodes);
	osp_topology_add_domain_nodes(shadow_state.topology, candidate->domain, nodes);
	osp_nodeset_and(nodes, input->usable);
	for (uint32_t n = osp_nodeset_next(nodes, 0); input->kind && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (input->kind[n] != candidate->kind)
			osp_nodeset_remove(nodes, n);
	}
}

/* The nodes that lib/ takes out of `from` in this candidate, into choice->nodes. */
static bool pick_exact(struct choice *choice, const struct osp_place_domain *candidate,
		       const struct osp_nodeset *from)
{
	struct osp_place_input input = choice->input;

	if (!choice->gang->exact_size)
		return false;
	input.free = from;
	return osp_place_pick(shadow_state.place, &input, candidate->domain, candidate->kind,
			      choice->nodes) > 0;
}

/* Offers Slurm exactly these nodes. */
static bool try_exact(struct choice *choice, const struct osp_place_domain *candidate,
		      const struct osp_nodeset *from, bool now_only)
{
	return pick_exact(choice, candidate, from) &&
	       shadow_try(choice->call, choice->nodes, false, now_only);
}

static bool try_whole_domain(struct choice *choice, const struct osp_place_domain *candidate,
			     bool preempt, bool now_only)
{
	domain_nodes(choice, candidate);
	return shadow_try(choice->call, choice->nodes, preempt, now_only);
}

/* The candidates in order, until one can start now without preempting anybody. */
static bool start_now(struct choice *choice, const struct osp_nodeset *from, int64_t latest_bound_s,
		      bool now_only)
{
	for (uint32_t i = 0; i < choice->candidate_count && !budget_spent(choice); i++) {
		const struct osp_place_domain *candidate = &choice->candidates[i];

		if (candidate->bound_s > latest_bound_s)
			break;
		if (try_exact(choice, candidate, from, now_only) ||
		    try_whole_domain(choice, candidate, false, now_only))
			return true;
	}
	return false;
}

/* --- preemption ------------------------------------------------------------------------------ */

static uint32_t free_in_domain(struct choice *choice, const struct osp_place_domain *candidate)
{
	domain_nodes(choice, candidate);
	osp_nodeset_and(choice->nodes, choice->gang->free);
	return osp_nodeset_count(choice->nodes);
}

static bool preempts_less(const struct osp_place_domain *a, const struct osp_place_domain *b,
			  uint32_t sticky)
{
	if ((a->domain == sticky) != (b->domain == sticky))
		return a->domain == sticky;
	return a->free_nodes > b->free_nodes;
}

/* The domain where the preemption began first, then those with the most nodes free already; equal
 * ones stay in lib/'s order (insertion sort: few, and stable). */
static void order_by_preemption(struct choice *choice)
{
	uint32_t sticky = shadow_sticky_domain(choice->call->job->job_id);

	for (uint32_t i = 0; i < choice->candidate_count; i++)
		choice->candidates[i].free_nodes = free_in_domain(choice, &choice->candidates[i]);
	for (uint32_t i = 1; i < choice->candidate_count; i++) {
		struct osp_place_domain moved = choice->candidates[i];
		uint32_t at = i;

		for (; at && preempts_less(&moved, &choice->candidates[at - 1], sticky); at--)
			choice->candidates[at] = choice->candidates[at - 1];
		choice->candidates[at] = moved;
	}
}

/* Whether jobs are still ending there. */
static bool is_emptying(struct choice *choice, uint32_t domain)
{
	const struct osp_topology *topology = shadow_state.topology;
	uint32_t level = osp_topology_domain(topology, domain)->level;
	struct osp_nodeset *nodes = choice->nodes;

	if (!cg_node_bitmap)
		return false;
	shadow_from_bitmap(nodes, cg_node_bitmap);
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (osp_topology_domain_of(topology, n, level) == domain)
			return true;
	}
	return false;
}

/*
 * Nodes whose jobs still end are not offered by Slurm, so the domain that the preemption began in
 * may be missing; others would then be emptied too, once KillWait and MessageTimeout are over.
 */
static void keep_to_sticky(struct choice *choice)
{
	uint32_t sticky = shadow_sticky_domain(choice->call->job->job_id), kept = 0;

	if (sticky == OSP_NO_DOMAIN || !is_emptying(choice, sticky))
		return;
	for (uint32_t i = 0; i < choice->candidate_count; i++) {
		if (choice->candidates[i].domain == sticky)
			choice->candidates[kept++] = choice->candidates[i];
	}
	choice->candidate_count = kept;
}

/* All jobs that may be preempted count as gone: the domains that could start the gang then. */
static bool start_preempting(struct choice *choice, int64_t *free_at_s, int64_t now_s)
{
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;

	if (!choice->call->candidates)
		return false;
	shadow_gang_free_times(choice->gang, choice->call->candidates, now_s, free_at_s);
	domains = osp_place_by_time(shadow_state.place, &choice->input, free_at_s, now_s,
				    &candidate_count, &domain_count);
	while (candidate_count && domains[candidate_count - 1].bound_s > now_s)
		candidate_count--;
	keep_candidates(choice, domains, candidate_count);
	keep_to_sticky(choice);
	order_by_preemption(choice);
	for (uint32_t i = 0; i < choice->candidate_count && !budget_spent(choice); i++) {
		if (!try_whole_domain(choice, &choice->candidates[i], true, true))
			continue;
		if (choice->call->mode == SELECT_MODE_RUN_NOW)
			shadow_sticky_remember(choice->call->job->job_id,
					       choice->candidates[i].domain);
		return true;
	}
	return false;
}

/* --- run now --------------------------------------------------------------------------------- */

static void tell_why_it_waits(struct choice *choice)
{
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;
	struct osp_nodeset *prospects = shadow_gang_prospects(choice->gang);
	struct osp_place_input input = choice->input;
	char says[OSP_WORDS_BYTES];

	if (prospects)
		input.usable = prospects;
	input.free = choice->gang->free;
	domains = osp_place_order(shadow_state.place, &input, &candidate_count, &domain_count);
	if (candidate_count && domains[0].free_nodes >= input.need_nodes)
		snprintf(says, sizeof(says),
			 "waits: one %s has %u nodes free, but Slurm cannot start the job there "
			 "now (memory, cores, GPUs, licenses or a limit)",
			 osp_topology_level_name(shadow_state.topology, choice->input.level),
			 domains[0].free_nodes);
	else
		osp_words_waits(shadow_state.topology, &input, domains, candidate_count,
				domain_count, says, sizeof(says));
	free(prospects);
	shadow_gang_says(choice->call->job, &choice->gang->effective, NULL, NULL, says);
}

static int choose_now(struct choice *choice)
{
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;
	int64_t *free_at_s;
	bool started;

	choice->call->rc = OSP_ERROR_NO_DOMAIN;
	domains = osp_place_order(shadow_state.place, &choice->input, &candidate_count,
				  &domain_count);
	keep_candidates(choice, domains, candidate_count);
	started = start_now(choice, choice->gang->free, INT64_MAX, false);
	if (!started && choice->call->candidates) {
		free_at_s = calloc(shadow_state.node_count + 1, sizeof(*free_at_s));
		if (free_at_s)
			started = start_preempting(choice, free_at_s, time(NULL));
		free(free_at_s);
	}
	if (!started)
		tell_why_it_waits(choice);
	return started ? SLURM_SUCCESS : choice->call->rc;
}

/* --- test only ------------------------------------------------------------------------------- */

/* Never a worse answer than Slurm's own: two failures here would hold the job for ever
 * (node_scheduler.c). */
static int choose_test(struct choice *choice)
{
	struct osp_place_input *input = &choice->input;
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;

	input->free_only = false;
	input->free = NULL;
	domains = osp_place_order(shadow_state.place, input, &candidate_count, &domain_count);
	keep_candidates(choice, domains, candidate_count ? 1 : 0);
	if (choice->candidate_count && try_exact(choice, &choice->candidates[0], NULL, false))
		return SLURM_SUCCESS;
	shadow_try(choice->call, choice->gang->usable, choice->call->candidates != NULL, false);
	return choice->call->rc;
}

/* --- will run -------------------------------------------------------------------------------- */

struct answer {
	bool found;
	int64_t start_s;
	uint32_t candidate;
	struct osp_nodeset *nodes; /* that Slurm chose */
};

/* The nodes that are free by the candidate's bound: what lib/ picks from. */
static void nodes_free_by(struct osp_nodeset *set, const struct osp_nodeset *usable,
			  const int64_t *free_at_s, int64_t by_s)
{
	osp_nodeset_assign(set, usable);
	for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
	     n = osp_nodeset_next(set, n + 1)) {
		if (free_at_s[n] > by_s)
			osp_nodeset_remove(set, n);
	}
}

/*
 * Whole nodes in a fixed number need no simulation of the cluster (most of backfill's time,
 * job_test.c): at the bound the last job on the nodes picked has ended, so the gang starts then if
 * these nodes suit it at all, which Slurm's test-only mode says. Not where something else than jobs
 * may stand in the way: licenses, parts of nodes kept for a reservation.
 */
static bool bound_is_start(const struct choice *choice, const struct osp_place_domain *candidate)
{
	const struct shadow_call *call = choice->call;

	return choice->gang->whole_nodes && choice->gang->exact_size &&
	       choice->input.need_nodes == choice->input.want_nodes && !call->job->license_list &&
	       !OSP_PARTS_RESERVED(&call->tail) && candidate->bound_s > time(NULL);
}

static bool start_at_bound(struct choice *choice, const struct osp_place_domain *candidate,
			   const struct osp_nodeset *from)
{
	struct shadow_call *call = choice->call;
	uint16_t mode = call->mode;
	bool suits;

	if (!bound_is_start(choice, candidate) || !pick_exact(choice, candidate, from))
		return false;
	call->mode = SELECT_MODE_TEST_ONLY;
	suits = shadow_try(call, choice->nodes, false, false);
	call->mode = mode;
	if (suits) {
		shadow_to_bitmap(call->bitmap, choice->nodes);
		call->job->start_time = (time_t)candidate->bound_s;
	}
	return suits;
}

static bool ask_future(struct choice *choice, uint32_t index, const int64_t *free_at_s,
		       struct osp_nodeset *from)
{
	const struct osp_place_domain *candidate = &choice->candidates[index];

	nodes_free_by(from, choice->input.usable, free_at_s, candidate->bound_s);
	return start_at_bound(choice, candidate, from) ||
	       try_exact(choice, candidate, from, false) ||
	       try_whole_domain(choice, candidate, false, false);
}

/* Slurm says "now" for backfill's slot when it means "at its start" (24.11 on, job_test.c). */
static int64_t start_of(const struct shadow_call *call)
{
	int64_t start_s = call->job->start_time;
	int64_t slot_s = OSP_SLOT_START_S(&call->tail);

	return start_s < slot_s ? slot_s : start_s;
}

static void remember_answer(struct choice *choice, struct answer *best, uint32_t index)
{
	best->found = true;
	best->start_s = start_of(choice->call);
	best->candidate = index;
	shadow_from_bitmap(best->nodes, choice->call->bitmap);
}

/* The best domain must also be the last one that Slurm looked at: it keeps parts of the answer
 * elsewhere. */
static void ask_best_again(struct choice *choice, const struct answer *best, bitstr_t *given,
			   int64_t start_time)
{
	bit_copybits(choice->call->bitmap, given);
	if (!shadow_try(choice->call, best->nodes, false, false)) {
		shadow_to_bitmap(choice->call->bitmap, best->nodes);
		choice->call->job->start_time = (time_t)start_time;
		choice->call->rc = SLURM_SUCCESS;
	}
}

/*
 * Domain after domain in the order of their lower bounds, until the best answer is no later than
 * the next bound: by Slurm's own measure none can be earlier then.
 */
static bool start_later(struct choice *choice, const int64_t *free_at_s, struct osp_nodeset *from,
			struct answer *best)
{
	bitstr_t *given = bit_copy(choice->call->bitmap);
	int64_t slot_end_s = OSP_SLOT_END_S(&choice->call->tail);
	int64_t start_time = 0;
	uint32_t last = 0, tries = 0;

	for (uint32_t i = 0; i < choice->candidate_count; i++) {
		int64_t bound_s = choice->candidates[i].bound_s;

		if (best->found && (best->start_s <= bound_s || tries++ >= FUTURE_TRIES_MAX))
			break;
		if ((slot_end_s && bound_s > slot_end_s) || budget_spent(choice))
			break;
		bit_copybits(choice->call->bitmap, given);
		if (!ask_future(choice, i, free_at_s, from))
			continue;
		last = i;
		if (!best->found || start_of(choice->call) < best->start_s) {
			remember_answer(choice, best, i);
			start_time = choice->call->job->start_time;
		}
	}
	if (best->found && last != best->candidate)
		ask_best_again(choice, best, given, start_time);
	FREE_NULL_BITMAP(given);
	return best->found;
}

static bool will_run(struct choice *choice, int64_t *free_at_s, struct osp_nodeset *from,
		     struct answer *best)
{
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;
	int64_t now_s = time(NULL), slot_s = OSP_SLOT_START_S(&choice->call->tail);
	int64_t first_s = slot_s > now_s ? slot_s : now_s;

	choice->input.free_only = false;
	choice->input.free = NULL;
	shadow_gang_free_times(choice->gang, NULL, now_s, free_at_s);
	domains = osp_place_by_time(shadow_state.place, &choice->input, free_at_s, first_s,
				    &candidate_count, &domain_count);
	keep_candidates(choice, domains, candidate_count);
	nodes_free_by(from, choice->input.usable, free_at_s, first_s);
	if (slot_s <= now_s && start_now(choice, from, first_s, true))
		return true;
	if (slot_s <= now_s && choice->call->candidates) {
		if (start_preempting(choice, free_at_s, now_s))
			return true;
		shadow_gang_free_times(choice->gang, NULL, now_s, free_at_s);
		domains = osp_place_by_time(shadow_state.place, &choice->input, free_at_s, first_s,
					    &candidate_count, &domain_count);
		keep_candidates(choice, domains, candidate_count);
	}
	if (choice->call->job->bit_flags & TEST_NOW_ONLY)
		return false;
	return start_later(choice, free_at_s, from, best);
}

static int choose_later(struct choice *choice)
{
	int64_t *free_at_s = calloc(shadow_state.node_count + 1, sizeof(*free_at_s));
	struct osp_nodeset *from = osp_nodeset_new(shadow_state.node_count);
	struct answer best = {.nodes = osp_nodeset_new(shadow_state.node_count)};
	bool found = false;

	choice->call->rc = OSP_ERROR_NO_DOMAIN;
	if (free_at_s && from && best.nodes)
		found = will_run(choice, free_at_s, from, &best);
	free(free_at_s);
	free(from);
	free(best.nodes);
	return found ? SLURM_SUCCESS : choice->call->rc;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int pass_through(struct shadow_call *call)
{
	return shadow_slurm_job_test(call->job, call->bitmap, call->min_nodes, call->max_nodes,
				     call->req_nodes, call->mode, call->candidates, call->preempted,
				     OSP_JOB_TEST_TAIL(&call->tail));
}

static void note_advice(struct shadow_call *call, const struct shadow_gang *gang)
{
	struct osp_place_input input = shadow_gang_input(gang);
	struct osp_nodeset *prospects = shadow_gang_prospects(gang);
	const struct osp_topology *topology = shadow_state.topology;
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;
	char waits[OSP_WORDS_BYTES], words[OSP_WORDS_BYTES + 64];

	if (prospects)
		input.usable = prospects;
	domains = osp_place_order(shadow_state.place, &input, &candidate_count, &domain_count);
	free(prospects);
	if (candidate_count) {
		snprintf(words, sizeof(words), "enforce would have taken %s %s",
			 osp_topology_level_name(topology, input.level),
			 osp_topology_domain(topology, domains[0].domain)->name);
	} else {
		osp_words_waits(topology, &input, domains, candidate_count, domain_count, waits,
				sizeof(waits));
		snprintf(words, sizeof(words), "enforce would have waited, %s",
			 strncmp(waits, "waits: ", 7) ? waits : waits + 7);
	}
	shadow_advice_remember(call->job->job_id, words);
}

/* A gang that cannot even ask its question: it waits, but is never called impossible. */
static int wait_without_question(struct shadow_call *call, const struct osp_effective *effective,
				 const char *why)
{
	if (call->mode == SELECT_MODE_TEST_ONLY || effective->mode == OSP_MODE_ADVISE)
		return pass_through(call);
	if (call->mode == SELECT_MODE_RUN_NOW)
		shadow_gang_says(call->job, effective, NULL, NULL, why);
	return OSP_ERROR_NO_DOMAIN;
}

static int choose_in_mode(struct choice *choice)
{
	switch (choice->call->mode) {
	case SELECT_MODE_RUN_NOW:
		return choose_now(choice);
	case SELECT_MODE_TEST_ONLY:
		return choose_test(choice);
	default:
		return choose_later(choice);
	}
}

int shadow_choose(struct shadow_call *call, const struct osp_effective *effective)
{
	static struct choice choice; /* large; the node write lock makes it ours alone */
	struct shadow_gang gang;
	char why[OSP_WORDS_BYTES];
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &call->began);
	shadow_state_refresh(time(NULL));
	if (shadow_gang_begin(&gang, call->job, effective, call->bitmap, call->min_nodes,
			      call->req_nodes, why, sizeof(why)) != 0) {
		rc = wait_without_question(call, effective, why);
	} else if (!gang.level || effective->mode == OSP_MODE_ADVISE) {
		if (gang.level && call->mode == SELECT_MODE_RUN_NOW)
			note_advice(call, &gang);
		rc = pass_through(call);
	} else {
		memset(&choice, 0, sizeof(choice));
		choice.call = call;
		choice.gang = &gang;
		choice.input = shadow_gang_input(&gang);
		choice.nodes = osp_nodeset_new(shadow_state.node_count);
		rc = choice.nodes ? choose_in_mode(&choice)
				  : wait_without_question(call, effective, why);
		free(choice.nodes);
	}
	shadow_gang_clear(&gang);
	return rc;
}
