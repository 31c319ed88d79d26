/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_one.c - jobs that may have one node only, where Slurm adds up what several nodes have
 *
 * 26.05 looks at one node after the other for such a job and does not begin anew with the count of
 * what is asked for the whole job (--gpus=N): it names the first node with which the sum is enough
 * (_get_one_res(), select/cons_tres/job_test.c), now, at a later time, or once it has preempted. So
 * the nodes that have enough by the account of what jobs hold are asked about first, and a yes
 * about one of several nodes is asked again about that one alone.
 */
#include "sched/shadow.h"

#include <stdlib.h>

#if OSP_ONE_NODE_ADDS_UP

/*
 * How often Slurm is asked about several nodes at most for one question of ours, and after a yes
 * once more about the node that it names. One is enough if the account knows what keeps a node from
 * having enough; more are needed if it does not (processors, parts that a reservation keeps). Each
 * takes as long as a plain job's; after so many the job waits for the next cycle.
 */
#define QUESTIONS_MAX 8

#define NO_NODE	      (-1)

struct one_node {
	struct shadow_call *call;
	const struct osp_question *question;
	shadow_ask_f *ask;
	void *context;
	struct osp_occupancy_need need; /* of the node, by what is asked for the whole job */
	bitstr_t *left;			/* nodes that have so much at all */
	struct osp_nodeset *nodes;	/* the same, for the account */
	int64_t *free_at_s; /* scratch: when they have it, as far as the account knows */
	bitstr_t *tried;    /* nodes that were offered */
	uint32_t questions;
	int best; /* the node of the earliest start that was found; NO_NODE: none was */
	int64_t best_s;
	bool stands; /* Slurm's last answer is that one */
};

/* --- what is asked for the whole job ---------------------------------------------------------- */

static int find_whole(void *item, void *context)
{
	const gres_job_state_t *asked = ((const gres_state_t *)item)->gres_data;

	(void)context;
	return asked && asked->gres_per_job;
}

static bool may_have_one_node(const struct shadow_call *call)
{
	bitstr_t *sizes = call->job->details->job_size_bitmap;

	return call->max_nodes == 1 || (sizes && bit_test(sizes, 1));
}

bool shadow_one_node_adds_up(const struct shadow_call *call)
{
	return may_have_one_node(call) && call->job->gres_list_req &&
	       list_find_first(call->job->gres_list_req, find_whole, NULL);
}

static int find_gres_id(void *item, void *key)
{
	return ((gres_state_t *)item)->plugin_id == *(uint32_t *)key;
}

/* Returns how many a node has of what the job asks for, of its type if it names one. */
static uint64_t node_has(const node_record_t *node, uint32_t plugin_id,
			 const gres_job_state_t *asked)
{
	gres_state_t *state =
		node->gres_list ? list_find_first(node->gres_list, find_gres_id, &plugin_id) : NULL;
	const gres_node_state_t *has = state ? state->gres_data : NULL;
	uint64_t of_type = 0;

	if (!has || !asked->type_name)
		return has ? has->gres_cnt_avail : 0;
	for (uint16_t i = 0; i < has->type_cnt; i++) {
		if (!xstrcmp(has->type_name[i], asked->type_name))
			of_type += has->type_cnt_avail[i];
	}
	return of_type;
}

/* Adds one kind to the need, and takes the nodes out that never have so much. */
static int add_whole_need(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_job_state_t *asked = state->gres_data;
	struct one_node *one = context;
	int last = bit_fls(one->left), index = shadow_count_gres(state->plugin_id);

	if (!asked || !asked->gres_per_job)
		return 0;
	for (int n = last < 0 ? 0 : bit_ffs(one->left); n <= last; n++) {
		const node_record_t *node =
			bit_test(one->left, n) ? node_record_table_ptr[n] : NULL;

		if (!node || node_has(node, state->plugin_id, asked) < asked->gres_per_job)
			bit_clear(one->left, n);
	}
	if (index >= 0 && asked->gres_per_job <= UINT32_MAX)
		one->need.amounts.gres[index] += (uint32_t)asked->gres_per_job;
	return 0;
}

/* --- when nodes have it ----------------------------------------------------------------------- */

static bool preempts(const struct one_node *one)
{
	const struct osp_victims *victims = &one->question->victims;

	return one->call->candidates && (victims->all || victims->count);
}

/* Computes when the nodes have enough, with the jobs that may be preempted gone or not. */
static void count_free_times(struct one_node *one, bool preempting, int64_t now_s)
{
	for (uint32_t n = 0; n < one->nodes->place_count; n++)
		one->free_at_s[n] = now_s;
	shadow_count_free_at(&one->need, one->nodes, preempting ? one->call->candidates : NULL,
			     NULL, now_s, one->free_at_s);
}

static int64_t free_at_s(const struct one_node *one, int node)
{
	/* no node is known without a topology */
	return (uint32_t)node < one->nodes->place_count ? one->free_at_s[node] : 0;
}

/* Returns when the first of those that were not offered yet has enough. */
static int64_t next_s(const struct one_node *one)
{
	int64_t earliest = OSP_OCCUPANCY_NEVER_S;
	int last = bit_fls(one->left);

	for (int n = last < 0 ? 0 : bit_ffs(one->left); n <= last; n++) {
		if (bit_test(one->left, n) && !bit_test(one->tried, n) &&
		    free_at_s(one, n) < earliest)
			earliest = free_at_s(one, n);
	}
	return earliest;
}

/* Returns those that were not offered yet and have enough by that time; a new set. */
static bitstr_t *free_by(const struct one_node *one, int64_t time_s)
{
	bitstr_t *nodes = bit_copy(one->left);
	int last;

	bit_and_not(nodes, one->tried);
	last = bit_fls(nodes);
	for (int n = last < 0 ? 0 : bit_ffs(nodes); n <= last; n++) {
		if (free_at_s(one, n) > time_s)
			bit_clear(nodes, n);
	}
	return nodes;
}

/* --- the questions ---------------------------------------------------------------------------- */

/* Returns when the job would start. For a start now Slurm writes no time. */
static int64_t start_of(const struct shadow_call *call)
{
	int64_t slot_s = OSP_SLOT_START_S(&call->tail);

	if (call->mode == SELECT_MODE_RUN_NOW)
		return 0;
	return call->job->start_time < slot_s ? slot_s : call->job->start_time;
}

static bool ask_about(struct one_node *one, bitstr_t *nodes)
{
	one->stands = false;
	bit_copybits(one->call->bitmap, nodes);
	return one->ask(one->call, one->context);
}

static bool ask_alone(struct one_node *one, int node)
{
	bitstr_t *alone = bit_alloc(node_record_count);
	bool yes;

	bit_set(alone, node);
	yes = ask_about(one, alone);
	bit_free(alone);
	return yes;
}

static void keep_if_best(struct one_node *one, int node)
{
	int64_t start_s = start_of(one->call);

	if (one->best != NO_NODE && start_s >= one->best_s)
		return;
	one->best = node;
	one->best_s = start_s;
	one->stands = true;
}

/* Returns whether the last yes is certain: it names several nodes, or the only one offered. */
static bool needs_no_proof(const struct one_node *one, bitstr_t *offered)
{
	return bit_set_count(one->call->bitmap) > 1 || bit_set_count(offered) == 1;
}

/*
 * Looks for the earliest start on one of the nodes, of which none has enough before `least_s`.
 * Slurm's time for several is a bound for each, too, since the sum is no smaller than what one has.
 * (Slurm lets jobs end in windows of time, so its time may be that of a later end: then an earlier
 * start may be missed.)
 */
static void look_among(struct one_node *one, bitstr_t *offered, int64_t least_s)
{
	bit_or(one->tried, offered);
	while (bit_ffs(offered) >= 0 && one->questions < QUESTIONS_MAX) {
		int64_t bound_s;
		int node;

		one->questions++;
		if (!ask_about(one, offered))
			break;
		bound_s = start_of(one->call);
		node = bit_ffs(one->call->bitmap);
		if (one->best != NO_NODE && bound_s >= one->best_s)
			break;
		if (needs_no_proof(one, offered) || ask_alone(one, node))
			keep_if_best(one, node);
		if (one->best != NO_NODE && (one->best_s <= bound_s || one->best_s <= least_s))
			break;
		bit_clear(offered, node);
	}
	bit_free(offered);
}

/* --- the order of the nodes ------------------------------------------------------------------- */

/* Looks among the nodes that have enough at the first moment, whoever may be preempted. */
static void look_among_the_free(struct one_node *one, int64_t first_s)
{
	bitstr_t *offered, *free;

	count_free_times(one, false, first_s);
	offered = free_by(one, first_s);
	if (one->nodes->place_count && OSP_SLOT_START_S(&one->call->tail) <= time(NULL)) {
		shadow_count_keep_free(&one->need, one->nodes); /* a job past its end is there */
		free = bit_alloc(node_record_count);
		shadow_to_bitmap(free, one->nodes);
		bit_and(offered, free);
		bit_free(free);
		shadow_from_bitmap(one->nodes, one->left);
	}
	look_among(one, offered, first_s);
}

/* Returns whether a start at any time helps, not only one at the first moment. */
static bool may_start_later(const struct one_node *one)
{
	return one->call->mode == SELECT_MODE_WILL_RUN && one->question->mode == OSP_ASK_WHEN &&
	       !(one->call->job->bit_flags & TEST_NOW_ONLY);
}

/* Returns whether no start from that time on is earlier than the one that was found. */
static bool is_earliest(const struct one_node *one, int64_t then_s)
{
	return one->best != NO_NODE && one->best_s <= then_s;
}

/* Looks among the others in the order in which they have enough, at last among all. */
static void look_among_the_others(struct one_node *one, int64_t first_s)
{
	bool later = may_start_later(one);
	int64_t then_s = next_s(one);

	while (then_s < OSP_OCCUPANCY_NEVER_S && (later || then_s <= first_s) &&
	       !is_earliest(one, then_s) && one->questions < QUESTIONS_MAX) {
		bool last = later && one->questions == QUESTIONS_MAX - 1;

		look_among(one, free_by(one, last ? OSP_OCCUPANCY_NEVER_S - 1 : then_s), then_s);
		then_s = next_s(one);
	}
}

static void look_everywhere(struct one_node *one)
{
	int64_t first_s = shadow_first_moment_s(one->call);

	look_among_the_free(one, first_s);
	if (is_earliest(one, first_s))
		return;
	count_free_times(one, preempts(one), first_s);
	look_among_the_others(one, first_s);
}

/* Asks in the order of the nodes; Slurm's last answer is then the earliest start that was found. */
static bool look(struct one_node *one)
{
	shadow_count_refresh(time(NULL));
	if (one->call->max_nodes > 1)
		look_among(one, bit_copy(one->left), 0);
	else
		look_everywhere(one);
	if (one->best != NO_NODE)
		return one->stands || ask_alone(one, one->best);
	if (one->questions == QUESTIONS_MAX)
		one->call->rc = OSP_ERROR_NO_DOMAIN;
	return false;
}

bool shadow_one_node(struct shadow_call *call, const struct osp_question *question,
		     shadow_ask_f *ask, void *context)
{
	struct one_node one = {
		.call = call,
		.question = question,
		.ask = ask,
		.context = context,
		.left = bit_copy(call->bitmap),
		.nodes = osp_nodeset_new(shadow_state.node_count),
		.free_at_s = calloc((size_t)shadow_state.node_count + 1, sizeof(int64_t)),
		.tried = bit_alloc(node_record_count),
		.best = NO_NODE,
	};
	bool yes = false;

	call->rc = OSP_ERROR_NO_DOMAIN;
	if (one.nodes && one.free_at_s) {
		if (call->max_nodes == 1)
			list_for_each(call->job->gres_list_req, add_whole_need, &one);
		if (shadow_state.node_count)
			shadow_from_bitmap(one.nodes, one.left);
		yes = call->mode == SELECT_MODE_TEST_ONLY ? ask_about(&one, one.left) : look(&one);
	}
	free(one.nodes);
	free(one.free_at_s);
	bit_free(one.left);
	bit_free(one.tried);
	return yes;
}

#endif
