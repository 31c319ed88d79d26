/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_choose.c - a gang's call of select_p_job_test(), decided by lib/choose
 *
 * This file puts the questions of lib/choose to Slurm, in Slurm's words, and writes its decision
 * where the caller expects it.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/place/launch.h"
#include "lib/policy/sentences.h"

#define SHORT_OF_MEMORY "waits: slurmctld is short of memory"

/* --- what lib/choose asks --------------------------------------------------------------------- */

/* One call, as the functions that lib/choose calls see it. */
struct choice {
	struct shadow_call *call;
	struct shadow_gang *gang;
	bitstr_t *given;	      /* the bitmap as it came; each question starts from it */
	struct osp_nodeset *possible; /* run now, over others: nodes it may be given; else NULL */
	int64_t now_s;
};

/*
 * Returns when the job would start. Slurm says "now" for backfill's slot when it means "at its
 * start" (24.11 on, job_test.c).
 */
static int64_t start_of(const struct shadow_call *call)
{
	int64_t start_s = call->job->start_time;
	int64_t slot_s = OSP_SLOT_START_S(&call->tail);

	return start_s < slot_s ? slot_s : start_s;
}

/* Counts what limits are held against; Slurm counts nothing if it is only asked whether the gang
 * could ever start. */
static uint32_t count_processors(const struct choice *choice, const struct osp_question *question)
{
	const job_record_t *job = choice->call->job;
	bitstr_t *nodes = choice->call->bitmap;
	int last = bit_fls(nodes);
	uint32_t count = 0;

	if (question->mode != OSP_ASK_EVER)
		return job->total_cpus;
	if (!choice->gang->whole_nodes)
		return job->details->min_cpus;
	for (int n = last < 0 ? 0 : bit_ffs(nodes); n <= last; n++)
		if (bit_test(nodes, n))
			count += node_record_table_ptr[n]->cpus_efctv;
	return count;
}

static bool ask(void *context, const struct osp_question *question, struct osp_answer *answer)
{
	struct choice *choice = context;
	struct shadow_call *call = choice->call;
	uint16_t mode = call->mode;
	bool yes;

	bit_copybits(call->bitmap, choice->given);
	if (question->mode == OSP_ASK_WHO_NOW || question->mode == OSP_ASK_WHO_EVER)
		return shadow_try_whom(call, question, answer->nodes);
	if (question->mode == OSP_ASK_EVER)
		call->mode = SELECT_MODE_TEST_ONLY;
	call->cut_short = false;
	yes = shadow_try(call, question);
	call->mode = mode;
	answer->cut_short = call->cut_short;
	if (!yes)
		return false;
	answer->start_s = start_of(call);
	answer->processors = count_processors(choice, question);
	shadow_from_bitmap(answer->nodes, call->bitmap);
	if (question->mode == OSP_ASK_START)
		answer->victim_count = shadow_victims_list(call, answer->victims);
	return true;
}

static void free_times(void *context, bool preempting, int64_t *free_at_s)
{
	struct choice *choice = context;

	shadow_gang_free_times(choice->gang, preempting ? choice->call->candidates : NULL,
			       choice->now_s, free_at_s);
}

static bool empty_at(void *context, const struct osp_nodeset *nodes, int64_t at_s)
{
	(void)context;
	return shadow_count_empty_at(nodes, at_s);
}

static uint64_t state_of(void *context, const struct osp_nodeset *nodes)
{
	(void)context;
	return shadow_count_state(nodes);
}

static bool is_leaving(void *context, const struct osp_victim *victim)
{
	return shadow_victim_leaves(victim, ((struct choice *)context)->now_s);
}

static int64_t elapsed_ms(void *context)
{
	return shadow_call_elapsed_ms(((struct choice *)context)->call);
}

/* --- the question, and the decision ----------------------------------------------------------- */

static enum osp_choose_mode mode_of(uint16_t mode)
{
	switch (mode) {
	case SELECT_MODE_RUN_NOW:
		return OSP_CHOOSE_RUN_NOW;
	case SELECT_MODE_TEST_ONLY:
		return OSP_CHOOSE_TEST_ONLY;
	default:
		return OSP_CHOOSE_WILL_RUN;
	}
}

/* Returns whether only the ends of the jobs on its nodes keep the gang from starting: licenses,
 * parts of nodes that are kept for others, and jobs that keep the rest of their block empty are in
 * no account. */
static bool only_jobs_matter(const struct shadow_call *call)
{
	int blocks = 0;

	if (call->job->license_list || OSP_PARTS_RESERVED(&call->tail))
		return false;
	OSP_TOPOLOGY_EXCLUSIVE(&blocks);
	return !blocks;
}

/* Returns the nodes that a gang may be given now, free or laid over others' processors; NULL if it
 * may not be laid over others, or if memory runs out. */
static struct osp_nodeset *possible_nodes(const struct shadow_gang *gang, int64_t now_s)
{
	struct osp_nodeset *possible = gang->lies_over ? osp_nodeset_copy(gang->usable) : NULL;
	int64_t *free_at_s = calloc((size_t)shadow_state.node_count + 1, sizeof(*free_at_s));

	if (!possible || !free_at_s) {
		free(possible);
		free(free_at_s);
		return NULL;
	}
	shadow_gang_free_times(gang, NULL, now_s, free_at_s);
	for (uint32_t n = osp_nodeset_next(possible, 0); n < possible->place_count;
	     n = osp_nodeset_next(possible, n + 1)) {
		if (free_at_s[n] > now_s)
			osp_nodeset_remove(possible, n);
	}
	free(free_at_s);
	return possible;
}

static struct osp_choose_input input_of(const struct choice *choice)
{
	const struct shadow_call *call = choice->call;
	const struct shadow_gang *gang = choice->gang;
	bool only_jobs = only_jobs_matter(call);

	return (struct osp_choose_input){
		.mode = mode_of(call->mode),
		.job = call->job->job_id,
		.choice_of = shadow_choice_of(call->job),
		.place = shadow_gang_input(gang),
		.parts = gang->in_parts ? &gang->parts : NULL,
		.now_s = choice->now_s,
		.slot_start_s = OSP_SLOT_START_S(&call->tail),
		.slot_end_s = OSP_SLOT_END_S(&call->tail),
		.first_only = (call->job->bit_flags & TEST_NOW_ONLY) != 0,
		.may_preempt = call->candidates != NULL,
		.exact_size = gang->exact_size,
		.asked_again = call->asked_again,
		.prefer_level = gang->prefer_level,
		.bound_is_start = only_jobs,
		.request = only_jobs ? shadow_request_hash(call->job) : 0,
		.possible = choice->possible,
		.settling = gang->settling,
		.stuck = gang->stuck,
	};
}

/*
 * Writes the answer. It is what Slurm left, but a plan may be one about which Slurm was not asked
 * last, or not at all in this call. So its start is written, and the numbers that backfill checks
 * against the limits before it keeps the nodes for the gang
 * (acct_policy_job_runnable_post_select()).
 */
static void deliver(const struct choice *choice, const struct osp_choice *decision)
{
	struct shadow_call *call = choice->call;

	shadow_to_bitmap(call->bitmap, decision->nodes);
	call->rc = SLURM_SUCCESS;
	if (call->mode == SELECT_MODE_RUN_NOW && decision->victim_count)
		shadow_victims_save(call->job);
	if (call->mode != SELECT_MODE_WILL_RUN)
		return;
	if (start_of(call) != decision->start_s)
		call->job->start_time = (time_t)decision->start_s;
	call->job->total_cpus = decision->processors;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(call->job->node_bitmap_preempt);
	call->job->node_bitmap_preempt = bit_copy(call->bitmap);
#endif
}

static void report(const struct choice *choice, const char *waits)
{
	const job_record_t *job = choice->call->job;
	char old[OSP_SENTENCE_BYTES], vain[128], says[4 * OSP_SENTENCE_BYTES];
	char none[OSP_SENTENCE_BYTES];
	const char *unasked = shadow_launch_unasked(job, &choice->gang->effective);
	struct shadow_in_vain in_vain = shadow_launched_in_vain(job);
	uint32_t count = choice->gang->old_places;
	bool last = in_vain.times && !unasked && !shadow_launch_may(job, &choice->gang->effective);

	snprintf(says, sizeof(says), "%s%s%s%s%s%s%s", waits, unasked ? "; " : "",
		 unasked ? osp_sentence_unasked(unasked, none, sizeof(none)) : "",
		 count ? "; " : "", count ? osp_sentence_old_places(count, old, sizeof(old)) : "",
		 in_vain.times ? "; " : "",
		 in_vain.times ? osp_sentence_in_vain(in_vain.times, in_vain.node_s, last, vain,
						      sizeof(vain))
			       : "");
	if (shadow_gang_says(choice->call->job, &choice->gang->effective, says))
		shadow_reported_waiting(job, choice->now_s);
}

/* Returns what the job asks for of its nodes, in its user's words. */
static struct osp_sentence_asked asked_of_nodes(const job_record_t *job)
{
	return (struct osp_sentence_asked){.features = job->details->features,
					   .extra = shadow_extra(job)};
}

/* The domains in order for a sentence. */
struct order {
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;
};

/* Orders the domains. Returns whether the first has free nodes enough. */
static bool order_for_words(const struct osp_place_input *input, struct order *order)
{
	order->domains = osp_place_order(shadow_state.place, input, &order->candidate_count,
					 &order->domain_count);
	return order->candidate_count && order->domains[0].free_nodes >= input->need_nodes;
}

/*
 * Returns the nodes that are free, whoever is to get them: backfill offers a gang only what no job
 * before it will get, but a user counts all, as the commands do. A new set; NULL if it is not
 * known, or what is offered is all.
 */
static struct osp_nodeset *free_for_anybody(const struct choice *choice,
					    const struct osp_nodeset *prospects)
{
	bool plans = choice->call->mode == SELECT_MODE_WILL_RUN && choice->gang->free_is_certain;

	return plans && prospects ? shadow_gang_free_among(choice->gang, prospects) : NULL;
}

/* Says why no domain takes the gang. */
static void say_why_it_waits(const struct choice *choice, struct osp_place_input *input,
			     const struct osp_nodeset *all_free, char *says, size_t says_bytes)
{
	const struct osp_sentence_asked wanted = asked_of_nodes(choice->call->job);
	const struct osp_topology *topology = shadow_state.topology;
	struct order order;

	if (order_for_words(input, &order)) {
		osp_sentence_not_started(osp_topology_level_name(topology, input->level),
					 order.domains[0].free_nodes, says, says_bytes);
		return;
	}
	if (all_free)
		input->free = all_free;
	if (all_free && order_for_words(input, &order))
		osp_sentence_kept(topology, input, &order.domains[0], says, says_bytes);
	else
		osp_sentence_waits(topology, input, &wanted, order.domains, order.candidate_count,
				   order.domain_count, says, says_bytes);
}

static void report_why_it_waits(const struct choice *choice, const struct osp_place_input *asked)
{
	struct osp_place_input input = *asked;
	char says[OSP_SENTENCE_BYTES];
	struct osp_nodeset *prospects, *all_free;

	if (shadow_gang_count_free(choice->gang) != 0) {
		report(choice, SHORT_OF_MEMORY);
		return;
	}
	input.free = choice->possible ? choice->possible : choice->gang->free;
	prospects = shadow_gang_able(choice->gang);
	all_free = free_for_anybody(choice, prospects);
	if (prospects)
		input.usable = prospects;
	if (choice->gang->in_parts)
		shadow_parts_waits(choice->gang, prospects, input.free, all_free, says,
				   sizeof(says));
	else
		say_why_it_waits(choice, &input, all_free, says, sizeof(says));
	free(prospects);
	free(all_free);
	report(choice, says);
}

/*
 * Returns whether backfill must say why the gang waits. The main scheduler does not ask about a
 * gang behind another that waits in its partition. Backfill asks in every cycle, but its plans
 * leave the gang other nodes than what is free, so it says so only if nobody did, or long ago.
 */
static bool must_be_reported(const struct choice *choice, const struct osp_choice *decision)
{
	const struct shadow_call *call = choice->call;

	return call->mode == SELECT_MODE_WILL_RUN && choice->gang->level &&
	       OSP_SLOT_START_S(&call->tail) <= choice->now_s &&
	       !(decision->found && decision->start_s <= choice->now_s) &&
	       shadow_must_report_waiting(call->job, choice->now_s);
}

/* --- nodes that do not run -------------------------------------------------------------------- */

static bool ask_launch(struct choice *choice, const struct osp_nodeset *nodes)
{
	struct shadow_call *call = choice->call;
	const struct osp_question question = {
		.nodes = nodes,
		.mode = call->mode == SELECT_MODE_RUN_NOW ? OSP_ASK_START : OSP_ASK_FIRST,
	};

	bit_copybits(call->bitmap, choice->given);
	return shadow_try(call, &question);
}

/*
 * Starts the gang now on nodes of which some do not run, if that is allowed and Slurm gives them.
 */
static bool launch(struct choice *choice)
{
	struct shadow_gang *gang = choice->gang;
	struct osp_place_input place = shadow_gang_input(gang);
	struct osp_nodeset *nodes = osp_nodeset_new(shadow_state.node_count);
	struct osp_nodeset *placed = shadow_launch_placed(gang->unlaunched);
	const struct osp_launch_input input = {
		.topology = shadow_state.topology,
		.level = gang->level,
		.need_nodes = gang->need_nodes,
		.known = gang->free,
		.unlaunched = gang->unlaunched,
		.placed = placed,
		.required = gang->required,
		.weight = place.weight,
		.kind = place.kind,
		.kind_count = place.kind_count,
	};
	bool yes = false;

	for (uint32_t i = 0;
	     nodes && placed && !yes && osp_launch_nodes(&input, i, !gang->exact_size, nodes); i++)
		yes = ask_launch(choice, nodes) ||
		      (gang->exact_size && osp_launch_nodes(&input, i, true, nodes) &&
		       ask_launch(choice, nodes));
	free(placed);
	free(nodes);
	return yes;
}

/*
 * Returns whether nodes may be launched: only for a start now, because nobody knows what will run
 * later.
 */
static bool may_launch(const struct choice *choice)
{
	const struct shadow_call *call = choice->call;

	return choice->gang->unlaunched && call->mode != SELECT_MODE_TEST_ONLY &&
	       OSP_SLOT_START_S(&call->tail) <= choice->now_s;
}

static void decide(struct choice *choice, const struct osp_choose_calls *calls,
		   struct osp_choose_input *input, struct osp_choice *decision, bool *launched)
{
	bool first_only = input->first_only;

	*launched = false;
	if (may_launch(choice)) {
		/* nodes whose places are known go first */
		input->first_only = true;
		osp_choose(shadow_state.chooser, input, calls, decision);
		if (decision->found)
			return;
		*launched = launch(choice);
		input->first_only = first_only;
		if (*launched || choice->call->mode == SELECT_MODE_RUN_NOW)
			return;
	}
	osp_choose(shadow_state.chooser, input, calls, decision);
}

static int choose(struct shadow_call *call, struct shadow_gang *gang)
{
	struct choice choice = {.call = call, .gang = gang, .now_s = time(NULL)};
	const struct osp_choose_calls calls = {.ask = ask,
					       .free_times = free_times,
					       .empty_at = empty_at,
					       .state_of = state_of,
					       .is_leaving = is_leaving,
					       .elapsed_ms = elapsed_ms,
					       .context = &choice};
	struct osp_choose_input input;
	struct osp_choice decision;
	bool launched;

	if (call->mode == SELECT_MODE_RUN_NOW)
		choice.possible = possible_nodes(gang, choice.now_s);
	input = input_of(&choice);
	choice.given = bit_copy(call->bitmap);
	call->rc = OSP_ERROR_NO_DOMAIN;
	if (call->candidates)
		shadow_victims_restore(call->job);
	decide(&choice, &calls, &input, &decision, &launched);
	if (launched)
		call->rc = SLURM_SUCCESS;
	else if (decision.found)
		deliver(&choice, &decision);
	else if (call->mode == SELECT_MODE_RUN_NOW)
		report_why_it_waits(&choice, &input.place);
	if (!launched && must_be_reported(&choice, &decision))
		report_why_it_waits(&choice, &input.place);
	bit_free(choice.given);
	free(choice.possible);
	if (launched || decision.found)
		return SLURM_SUCCESS;
	/* the last yes may have answered which nodes the gang could have; that starts nothing */
	return call->rc == SLURM_SUCCESS ? OSP_ERROR_NO_DOMAIN : call->rc;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Leaves the call to Slurm, also what it would say of one node for a job that is only advised. */
static int pass_through(struct shadow_call *call)
{
	return shadow_slurm_job_test(call->job, call->bitmap, call->min_nodes, call->max_nodes,
				     call->req_nodes, call->mode, call->candidates, call->preempted,
				     OSP_JOB_TEST_TAIL(&call->tail));
}

static void note_advice(struct shadow_call *call, const struct shadow_gang *gang)
{
	struct osp_place_input input = shadow_gang_input(gang);
	struct osp_nodeset *prospects = shadow_gang_able(gang);
	const struct osp_topology *topology = shadow_state.topology;
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count;
	char waits[OSP_SENTENCE_BYTES], words[OSP_SENTENCE_BYTES + 64];

	if (gang->in_parts) {
		shadow_parts_waits(gang, prospects, gang->free, NULL, waits, sizeof(waits));
		snprintf(words, sizeof(words), "enforce: %s", waits);
		free(prospects);
		shadow_advice_remember(shadow_lasting_id(call->job), words);
		return;
	}
	if (prospects)
		input.usable = prospects;
	domains = osp_place_order(shadow_state.place, &input, &candidate_count, &domain_count);
	free(prospects);
	if (candidate_count) {
		snprintf(words, sizeof(words), "enforce would have taken %s %s",
			 osp_topology_level_name(topology, input.level),
			 osp_topology_domain(topology, domains[0].domain)->name);
	} else {
		const struct osp_sentence_asked wanted = asked_of_nodes(call->job);

		osp_sentence_waits(topology, &input, &wanted, domains, candidate_count,
				   domain_count, waits, sizeof(waits));
		snprintf(words, sizeof(words), "enforce would have waited, %s",
			 strncmp(waits, "waits: ", 7) ? waits : waits + 7);
	}
	shadow_advice_remember(shadow_lasting_id(call->job), words);
}

/* Answers for a gang that has no question to ask: it waits, but is never called impossible. */
static int wait_without_question(struct shadow_call *call, const struct osp_effective *effective,
				 const char *why)
{
	if (effective->mode == OSP_MODE_ADVISE ||
	    (call->mode == SELECT_MODE_TEST_ONLY && !call->asked_again))
		return pass_through(call);
	if (call->mode == SELECT_MODE_RUN_NOW)
		shadow_gang_says(call->job, effective, why);
	return OSP_ERROR_NO_DOMAIN;
}

/*
 * Answers if Slurm's bitmap holds no node, since all are busy or excluded. Slurm's answer is known;
 * only the words are ours.
 */
static int wait_for_any_node(struct shadow_call *call, struct shadow_gang *gang)
{
	struct choice choice = {.call = call, .gang = gang, .now_s = time(NULL)};
	const struct osp_choice nothing = {.found = false};
	struct osp_place_input input = shadow_gang_input(gang);

	if (call->mode == SELECT_MODE_RUN_NOW || must_be_reported(&choice, &nothing))
		report_why_it_waits(&choice, &input);
	return pass_through(call);
}

/* Returns whether the nodes that are free now are needed: a start without preempting is looked for
 * by the times at which nodes become free. */
static bool needs_free(const struct shadow_call *call)
{
	return call->mode == SELECT_MODE_RUN_NOW || call->candidates;
}

static int begin(struct shadow_call *call, const struct osp_effective *effective,
		 struct shadow_gang *gang, char *why, size_t why_bytes)
{
	if (shadow_gang_begin(gang, call->job, effective, call->bitmap, call->min_nodes,
			      call->req_nodes, why, why_bytes) != 0)
		return -1;
	if (call->mode != SELECT_MODE_TEST_ONLY)
		shadow_gang_drop_old_places(gang);
	if (!needs_free(call) || shadow_gang_count_free(gang) == 0)
		return 0;
	snprintf(why, why_bytes, "%s", SHORT_OF_MEMORY);
	return -1;
}

int shadow_choose(struct shadow_call *call, const struct osp_effective *effective)
{
	struct shadow_gang gang;
	char why[OSP_SENTENCE_BYTES];
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &call->began);
	shadow_state_refresh(time(NULL));
	shadow_count_refresh(time(NULL));
	if (begin(call, effective, &gang, why, sizeof(why)) != 0) {
		rc = wait_without_question(call, effective, why);
		shadow_gang_clear(&gang);
		return rc;
	}
	if (!gang.level || effective->mode == OSP_MODE_ADVISE) {
		if (gang.level && call->mode == SELECT_MODE_RUN_NOW)
			note_advice(call, &gang);
		rc = effective->mode == OSP_MODE_ADVISE ? pass_through(call) : shadow_ask(call);
		if (!gang.level && rc != SLURM_SUCCESS && call->mode == SELECT_MODE_RUN_NOW)
			shadow_gang_says(call->job, effective,
					 osp_sentence_anywhere(gang.need_nodes, why, sizeof(why)));
	} else if (bit_ffs(call->bitmap) < 0) {
		rc = wait_for_any_node(call, &gang);
	} else {
		rc = choose(call, &gang);
	}
	shadow_gang_clear(&gang);
	return rc;
}
