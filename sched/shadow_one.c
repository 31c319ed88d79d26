/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_one.c - jobs that may have one node only, where Slurm adds up what several nodes have
 *
 * 26.05 looks at one node after the other for such a job and does not begin anew with the count of
 * what is asked for the whole job (--gpus=N): it names the first node with which the sum is enough
 * (_get_one_res(), select/cons_tres/job_test.c), now, at a later time, or once it has preempted. So
 * the nodes that have enough by the account of what jobs hold are asked about first, without
 * preempting; and a yes about one of several nodes is asked again about that one alone. Where the
 * account knows too little, some nodes are asked about one by one, and in the next call the next.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

#if OSP_ONE_NODE_ADDS_UP

/*
 * After how many calls Slurm is not asked again, but to prove a yes or to repeat the best one: for
 * one question of ours (while it may preempt or plan, fewer without that), and for one scheduling
 * call. Each question has two all the same: one about several nodes, and one about the node that it
 * names; only these once the scheduling call has taken as long as lib/choose may.
 */
#define CALLS_MAX	 24
#define FREE_CALLS_MAX	 10
#define FORCED_CALLS_MAX 18
#define CALLS_LEAST	 2
#define CALLS_IN_ALL	 48

#define NO_NODE		 (-1)
#define SEVERAL_NODES	 (-2)

struct one_node {
	struct shadow_call *call;
	const struct osp_question *question;
	shadow_ask_f *ask;
	void *context;
	struct osp_occupancy_need need; /* of the node, by what is asked for the whole job */
	struct osp_question now;	/* about a start at the first moment without preempting */
	struct osp_question forced;	/* the same, with preempting */
	struct osp_question unforced;	/* the question without preempting */
	const struct osp_question *asked_now; /* one of the first two */
	uint32_t max_nodes, req_nodes;	      /* as they came */
	uint64_t request;		      /* a hash of what the job asks for, as it came */
	bitstr_t *all;			      /* nodes, as they came */
	bitstr_t *left;			      /* nodes that have so much at all */
	struct osp_nodeset *nodes;	      /* the same, for the account */
	int64_t *free_at_s; /* scratch: when they have it, as far as the account knows */
	bitstr_t *tried;    /* nodes that were offered */
	uint32_t calls;	    /* of Slurm's function */
	uint32_t calls_max;
	bool later; /* a start at any time helps, not only one at the first moment */
	bool cut;   /* a node that is free by the account was not asked about yet */
	int best;   /* the node of the earliest start that was found; NO_NODE: none was */
	int64_t best_s;
	const struct osp_question *best_asked; /* how it was found */
	bool stands;			       /* Slurm's last answer is that one */
};

/* --- what is asked for the whole job ---------------------------------------------------------- */

/* Finds a kind of which one node may have too few: it has one at least, or Slurm passes it over. */
static int find_several(void *item, void *context)
{
	const gres_job_state_t *asked = ((const gres_state_t *)item)->gres_data;

	(void)context;
	return asked && asked->gres_per_job > 1;
}

static bool may_have_one_node(const struct shadow_call *call)
{
	bitstr_t *sizes = call->job->details->job_size_bitmap;

	return call->max_nodes == 1 || (sizes && bit_test(sizes, 1));
}

bool shadow_one_node_adds_up(const struct shadow_call *call)
{
	return may_have_one_node(call) && call->job->gres_list_req &&
	       list_find_first(call->job->gres_list_req, find_several, NULL);
}

/* Returns how many a node has of what the job asks for, of its type if it names one. */
static uint64_t node_has(const node_record_t *node, uint32_t plugin_id,
			 const gres_job_state_t *asked)
{
	const gres_node_state_t *has = shadow_node_gres_state(node, plugin_id);
	uint64_t of_type = 0;

	if (!has || !asked->type_name)
		return has ? has->gres_cnt_avail : 0;
	for (uint16_t i = 0; i < has->type_cnt; i++) {
		if (!xstrcmp(has->type_name[i], asked->type_name))
			of_type += has->type_cnt_avail[i];
	}
	return of_type;
}

/* Returns how many of that type no job holds. */
static uint64_t free_of_type(const gres_node_state_t *has, const char *type)
{
	uint64_t free = 0;

	for (uint16_t i = 0; i < has->type_cnt; i++) {
		uint64_t held = has->type_cnt_alloc ? has->type_cnt_alloc[i] : 0;

		if (!xstrcmp(has->type_name[i], type) && has->type_cnt_avail[i] > held)
			free += has->type_cnt_avail[i] - held;
	}
	return free;
}

/* Returns whether a partition's defaults for each GPU that stand in the job are those of the
 * partition that it is tried in: Slurm's function writes them when it begins. */
static bool defaults_hold(const job_record_t *job)
{
	return !job->part_ptr_list || list_count(job->part_ptr_list) < 2;
}

/* Adds the memory that is asked for with each of one kind, as gres_select_util.c computes it. */
static void add_memory(struct one_node *one, const gres_job_state_t *asked)
{
	const job_record_t *job = one->call->job;
	uint64_t by_default = defaults_hold(job) ? asked->def_mem_per_gres : 0;
	uint64_t each = asked->mem_per_gres ? asked->mem_per_gres : by_default;
	uint64_t memory_mib = each * asked->gres_per_job;

	if (!shadow_counts_memory(job) || (job->bit_flags & JOB_MEM_SET))
		return;
	if (memory_mib > one->need.amounts.memory_mib)
		one->need.amounts.memory_mib = memory_mib;
}

/* Adds the processors that are asked for with each of one kind, and with the job: all are of one
 * node. Where jobs share processors, none are counted, nor with --core-spec, which may give those
 * that the node keeps for the system. */
static void add_processors(struct one_node *one, const gres_job_state_t *asked)
{
	const job_record_t *job = one->call->job;
	uint64_t by_default = defaults_hold(job) ? asked->def_cpus_per_gres : 0;
	uint64_t each = asked->cpus_per_gres ? asked->cpus_per_gres : by_default;
	uint64_t cpus = each * asked->gres_per_job;

	if (job->details->overcommit || job->details->core_spec != NO_VAL16 ||
	    shadow_shares_nodes(job) || shadow_may_lie_over(job))
		return;
	if (cpus < job->details->min_cpus)
		cpus = job->details->min_cpus;
	if (cpus > one->need.amounts.cpus && cpus <= UINT32_MAX)
		one->need.amounts.cpus = (uint32_t)cpus;
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
	add_memory(one, asked);
	add_processors(one, asked);
	return 0;
}

/* Computes what the node has to have: what any of the job's nodes needs, and all that the whole job
 * asks for. */
static void compute_need(struct one_node *one)
{
	const job_record_t *job = one->call->job;

	shadow_need(job, false, true, &one->need);
	memset(one->need.amounts.gres, 0, sizeof(one->need.amounts.gres));
	list_for_each(job->gres_list_req, add_whole_need, one);
}

static int lacks_type(void *item, void *context)
{
	const gres_state_t *state = item;
	const gres_job_state_t *asked = state->gres_data;
	const gres_node_state_t *has = shadow_node_gres_state(context, state->plugin_id);

	return asked && asked->gres_per_job && asked->type_name && has &&
	       free_of_type(has, asked->type_name) < asked->gres_per_job;
}

/* Takes the nodes out that have too few of a type now: the account counts all types together. */
static void keep_types(const struct one_node *one, bitstr_t *nodes)
{
	int last = bit_fls(nodes);

	for (int n = last < 0 ? 0 : bit_ffs(nodes); n <= last; n++) {
		if (bit_test(nodes, n) && node_record_table_ptr[n] &&
		    list_find_first(one->call->job->gres_list_req, lacks_type,
				    node_record_table_ptr[n]))
			bit_clear(nodes, n);
	}
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

/* Returns whether Slurm may not be asked again. */
static bool is_spent(const struct one_node *one)
{
	if (one->calls < CALLS_LEAST)
		return false;
	return one->calls >= one->calls_max || one->call->one_node_calls >= CALLS_IN_ALL ||
	       shadow_call_elapsed_ms(one->call) > OSP_CHOOSE_BUDGET_MS;
}

static bool ask_about(struct one_node *one, const struct osp_question *question, bitstr_t *nodes)
{
	one->stands = false;
	one->calls++;
	one->call->one_node_calls++;
	bit_copybits(one->call->bitmap, nodes);
	return one->ask(one->call, question, one->context);
}

static bool ask_alone(struct one_node *one, const struct osp_question *question, int node)
{
	bitstr_t *alone = bit_alloc(node_record_count);
	bool yes;

	bit_set(alone, node);
	yes = ask_about(one, question, alone);
	bit_free(alone);
	return yes;
}

/* Asks about the sizes of a list that have several nodes: of these Slurm's sum is right. */
static bool ask_about_several(struct one_node *one)
{
	struct shadow_call *call = one->call;
	bitstr_t *sizes = call->job->details->job_size_bitmap;
	const struct shadow_call before = *call;
	bool yes;

	bit_clear(sizes, 1);
	call->min_nodes = before.min_nodes > 2 ? before.min_nodes : 2;
	call->req_nodes = one->req_nodes > call->min_nodes ? one->req_nodes : call->min_nodes;
	call->max_nodes = one->max_nodes;
	yes = ask_about(one, one->question, one->all);
	call->min_nodes = before.min_nodes;
	call->req_nodes = before.req_nodes;
	call->max_nodes = before.max_nodes;
	bit_set(sizes, 1);
	return yes;
}

static void keep_if_best(struct one_node *one, const struct osp_question *question, int node)
{
	int64_t start_s = start_of(one->call);

	if (one->best != NO_NODE && start_s >= one->best_s)
		return;
	one->best = node;
	one->best_asked = question;
	one->best_s = start_s;
	one->stands = true;
}

/* Asks again as for the best start that was found. */
static bool ask_for_best(struct one_node *one)
{
	return one->best == SEVERAL_NODES ? ask_about_several(one)
					  : ask_alone(one, one->best_asked, one->best);
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
	while (bit_ffs(offered) >= 0 && !is_spent(one)) {
		int64_t bound_s;
		int node;

		if (!ask_about(one, one->question, offered))
			break;
		bound_s = start_of(one->call);
		node = bit_ffs(one->call->bitmap);
		if (one->best != NO_NODE && bound_s >= one->best_s)
			break;
		if (bit_set_count(offered) == 1 || ask_alone(one, one->question, node))
			keep_if_best(one, one->question, node);
		if (one->best != NO_NODE && (one->best_s <= bound_s || one->best_s <= least_s))
			break;
		bit_clear(offered, node);
	}
	bit_free(offered);
}

/* Returns whether no start from that time on is earlier than the one that was found. */
static bool is_earliest(const struct one_node *one, int64_t then_s)
{
	return one->best != NO_NODE && one->best_s <= then_s;
}

/* --- nodes that are free now, without preempting ---------------------------------------------- */

static uint64_t asked_of(const struct one_node *one)
{
	uint64_t hash = osp_hash_mix(shadow_choice_of(one->call->job), one->call->job->job_id);

	hash = osp_hash_mix(osp_hash_mix(hash, one->request), one->asked_now == &one->forced);
	return osp_hash_mix(hash, (uint64_t)bit_ffs(one->left));
}

static bool goes_on(const struct one_node *one)
{
	struct shadow_stopped earlier;

	return shadow_stopped_at(asked_of(one), &earlier);
}

/* Takes the node out after a no; the others may still have enough. */
static bool is_free_alone(struct one_node *one, bitstr_t *offered, int node)
{
	bit_clear(offered, node);
	if (!ask_alone(one, one->asked_now, node))
		return false;
	keep_if_best(one, one->asked_now, node);
	return true;
}

/* Asks about all of them at once. Returns whether another one may have enough, without a yes. */
static bool ask_once_about(struct one_node *one, bitstr_t *offered)
{
	int node;

	if (bit_ffs(offered) < 0 || !ask_about(one, one->asked_now, offered))
		return false;
	node = bit_ffs(one->call->bitmap);
	if (bit_set_count(offered) == 1) {
		keep_if_best(one, one->asked_now, node);
		return false;
	}
	return !is_free_alone(one, offered, node);
}

/* Asks about those of them on which no job holds anything. */
static bool is_found_among_empty(struct one_node *one, bitstr_t *offered)
{
	const struct osp_occupancy_need everything = {
		.all_cpus = true, .all_memory = true, .all_gres = true};
	bitstr_t *empty = bit_copy(offered), *free = bit_alloc(node_record_count);

	shadow_count_keep_free(&everything, one->nodes);
	shadow_to_bitmap(free, one->nodes);
	shadow_from_bitmap(one->nodes, one->left);
	bit_and(empty, free);
	if (one->nodes->place_count && !is_spent(one))
		ask_once_about(one, empty);
	bit_and_not(free, empty); /* what was asked about alone */
	bit_and_not(offered, free);
	bit_free(empty);
	bit_free(free);
	return one->best != NO_NODE;
}

/* Asks about each of them from `node` to `last`. Returns the first that was not asked about because
 * Slurm may not be asked again, or one past `last`. */
static int ask_each(struct one_node *one, bitstr_t *offered, int node, int last)
{
	for (; node <= last && one->best == NO_NODE; node++) {
		if (bit_test(offered, node) && is_spent(one))
			return node;
		if (bit_test(offered, node))
			is_free_alone(one, offered, node);
	}
	return last + 1;
}

/* Asks about one after the other, going on where an earlier call stopped. What earlier calls asked
 * about may have changed, so it is asked about again, once, in further calls if need be. */
static void look_one_by_one(struct one_node *one, bitstr_t *offered)
{
	uint64_t asked = asked_of(one);
	struct shadow_stopped begin = {.node = 0};
	int last = bit_fls(offered), until = last, node;
	bool again;

	shadow_stopped_take(asked, &begin);
	again = begin.again;
	if (again && begin.until < last)
		until = begin.until;
	node = ask_each(one, offered, begin.node, until);
	if (node > until && !again) {
		again = true;
		until = begin.node <= last ? begin.node - 1 : last;
		node = ask_each(one, offered, 0, until);
	}
	if (node > until)
		return;
	shadow_stopped_note(asked, &(struct shadow_stopped){node, again, until});
	one->cut = true;
}

/* Takes the nodes out that do not have enough now although no end is awaited: a job past its end is
 * there. */
static void keep_free_now(struct one_node *one, bitstr_t *nodes)
{
	bitstr_t *free = bit_alloc(node_record_count);

	keep_types(one, nodes);
	if (one->nodes->place_count) {
		shadow_count_keep_free(&one->need, one->nodes);
		shadow_to_bitmap(free, one->nodes);
		bit_and(nodes, free);
		shadow_from_bitmap(one->nodes, one->left);
	}
	bit_free(free);
}

/* --- whom to preempt -------------------------------------------------------------------------- */

/* The first ones of the jobs that may be preempted, and the nodes that they hold. */
struct first_victims {
	osp_list_t *jobs;
	uint32_t count;
	bitstr_t *nodes;
};

static int add_nodes(void *item, void *context)
{
	const job_record_t *job = item;

	if (job->node_bitmap)
		bit_or(context, job->node_bitmap);
	return 0;
}

static int add_victim(void *item, void *context)
{
	job_record_t *job = item;
	struct first_victims *first = context;

	if ((uint32_t)list_count(first->jobs) == first->count)
		return -1; /* no more */
	list_append(first->jobs, job);
	add_nodes(job, first->nodes);
	if (job->het_job_list)
		list_for_each(job->het_job_list, add_nodes, first->nodes);
	return 0;
}

static int holds_some(void *item, void *context)
{
	const job_record_t *job = item;

	return job->node_bitmap && bit_overlap_any(job->node_bitmap, context);
}

/* Those of the jobs that may be preempted that hold some of the nodes, in their order. */
struct victims_there {
	osp_list_t *jobs;
	bitstr_t *nodes;
};

static int add_if_there(void *item, void *context)
{
	job_record_t *job = item;
	struct victims_there *there = context;

	if (holds_some(job, there->nodes) ||
	    (job->het_job_list && list_find_first(job->het_job_list, holds_some, there->nodes)))
		list_append(there->jobs, job);
	return 0;
}

/* Returns those of the nodes that have enough once the first `count` of the jobs are gone; a new
 * set. */
static bitstr_t *free_without(struct one_node *one, osp_list_t *jobs, uint32_t count,
			      bitstr_t *nodes, int64_t first_s)
{
	struct first_victims first = {list_create(NULL), count, bit_alloc(node_record_count)};
	int last;

	list_for_each(jobs, add_victim, &first);
	bit_and(first.nodes, nodes);
	last = bit_fls(first.nodes);
	shadow_from_bitmap(one->nodes, first.nodes);
	shadow_count_free_at(&one->need, one->nodes, first.jobs, NULL, first_s, one->free_at_s);
	shadow_from_bitmap(one->nodes, one->left);
	for (int n = last < 0 ? 0 : bit_ffs(first.nodes); n <= last; n++) {
		if (bit_test(first.nodes, n) && free_at_s(one, n) > first_s)
			bit_clear(first.nodes, n);
	}
	FREE_NULL_LIST(first.jobs);
	return first.nodes;
}

/* Returns those of the nodes that have enough once as few jobs are gone as possible: the first ones
 * in Slurm's order. Each look reads the nodes of each job, so the jobs elsewhere are left out
 * before. A new set. */
static bitstr_t *first_to_be_free(struct one_node *one, bitstr_t *nodes, int64_t first_s)
{
	struct victims_there there = {list_create(NULL), nodes};
	uint32_t all, too_few = 0, enough = 1;
	bitstr_t *found, *fewer;

	list_for_each(one->call->candidates, add_if_there, &there);
	all = (uint32_t)list_count(there.jobs);
	found = free_without(one, there.jobs, enough, nodes, first_s);

	while (bit_ffs(found) < 0 && enough < all) {
		too_few = enough;
		enough = 2 * enough < all ? 2 * enough : all;
		bit_free(found);
		found = free_without(one, there.jobs, enough, nodes, first_s);
	}
	while (bit_ffs(found) >= 0 && enough - too_few > 1) {
		uint32_t tried = too_few + (enough - too_few) / 2;

		fewer = free_without(one, there.jobs, tried, nodes, first_s);
		if (bit_ffs(fewer) < 0) {
			too_few = tried;
			bit_free(fewer);
			continue;
		}
		bit_free(found);
		found = fewer;
		enough = tried;
	}
	FREE_NULL_LIST(there.jobs);
	return found;
}

/* Asks about the node on which the first jobs in Slurm's order are, as Slurm would preempt them if
 * it looked at each node alone. Returns whether that is a yes. */
static bool is_found_in_order(struct one_node *one, int64_t first_s)
{
	bitstr_t *lacking, *now, *first;

	if (!one->question->victims.all || !one->nodes->place_count)
		return false;
	lacking = bit_copy(one->left);
	count_free_times(one, false, first_s);
	now = free_by(one, first_s);
	bit_and_not(lacking, now);
	first = first_to_be_free(one, lacking, first_s);
	ask_each(one, first, 0, bit_fls(first));
	bit_free(lacking);
	bit_free(now);
	bit_free(first);
	return one->best != NO_NODE;
}

/* --- at the first moment ---------------------------------------------------------------------- */

/*
 * Looks among those that have enough at the first moment by the account: first in all, where a
 * partly held one may be named; after a no, among those on which no job holds anything; then one
 * after the other.
 */
static void look_among_free(struct one_node *one, int64_t first_s)
{
	bool forced = one->asked_now == &one->forced;
	bitstr_t *offered;

	count_free_times(one, forced, first_s);
	offered = free_by(one, first_s);
	if (!forced)
		keep_free_now(one, offered);
	if (goes_on(one) ||
	    (ask_once_about(one, offered) && (forced || !is_found_among_empty(one, offered))))
		look_one_by_one(one, offered);
	bit_free(offered);
}

static void look_for_now(struct one_node *one, const struct osp_question *question, int64_t first_s,
			 uint32_t calls_max)
{
	one->asked_now = question;
	one->calls_max = calls_max;
	if (question != &one->forced || !is_found_in_order(one, first_s))
		look_among_free(one, first_s);
	one->calls_max = CALLS_MAX;
}

/* --- the order of the nodes ------------------------------------------------------------------- */

/*
 * Looks among those that have enough at the start of a slot that begins later, without preempting.
 * About that moment alone Slurm answers nothing then, unless it may preempt (_will_run_test() in
 * job_test.c); nor does it if a start at that moment alone helps.
 */
static void look_for_slot(struct one_node *one, int64_t first_s)
{
	const struct osp_question *asked = one->question;

	if (!one->later || !preempts(one))
		return;
	count_free_times(one, false, first_s);
	one->question = &one->unforced;
	one->calls_max = FREE_CALLS_MAX;
	look_among(one, free_by(one, first_s), first_s);
	one->calls_max = CALLS_MAX;
	one->question = asked;
}

/* Looks among all in the order in which they have enough, and asks about all of the rest at last.
 */
static void look_among_the_others(struct one_node *one, int64_t first_s)
{
	int64_t then_s;

	count_free_times(one, preempts(one), first_s);
	then_s = next_s(one);
	while (then_s < OSP_OCCUPANCY_NEVER_S && !is_earliest(one, then_s) && !is_spent(one)) {
		bool last = one->calls + CALLS_LEAST >= one->calls_max;

		look_among(one, free_by(one, last ? OSP_OCCUPANCY_NEVER_S - 1 : then_s), then_s);
		then_s = next_s(one);
	}
}

/* Asks in the order of the nodes; Slurm's last answer is then the earliest start that was found.
 * Nobody is preempted while a node that is free by the account was not asked about. */
static bool look(struct one_node *one)
{
	int64_t first_s = shadow_first_moment_s(one->call);

	shadow_count_refresh(time(NULL));
	if (OSP_SLOT_START_S(&one->call->tail) > time(NULL))
		look_for_slot(one, first_s);
	else
		look_for_now(one, &one->now, first_s,
			     one->later || preempts(one) ? FREE_CALLS_MAX : CALLS_MAX);
	if (one->cut)
		one->question = &one->unforced;
	if (!is_earliest(one, first_s) && one->max_nodes > 1 && !is_spent(one) &&
	    ask_about_several(one))
		keep_if_best(one, one->question, SEVERAL_NODES);
	if (!is_earliest(one, first_s) && preempts(one) && !is_spent(one))
		look_for_now(one, &one->forced, first_s, one->later ? FORCED_CALLS_MAX : CALLS_MAX);
	if (!is_earliest(one, first_s) && one->later)
		look_among_the_others(one, first_s);
	one->call->cut_short = !is_earliest(one, first_s) && (one->cut || is_spent(one));
	if (one->best != NO_NODE)
		return one->stands || ask_for_best(one);
	if (is_spent(one))
		one->call->rc = OSP_ERROR_NO_DOMAIN;
	return false;
}

/* Returns whether a start at any time helps. */
static bool may_start_later(const struct shadow_call *call, const struct osp_question *question)
{
	return call->mode == SELECT_MODE_WILL_RUN && question->mode == OSP_ASK_WHEN &&
	       !(call->job->bit_flags & TEST_NOW_ONLY);
}

/* Looks for one node; in a list of sizes, for several too. */
static bool look_for_one(struct one_node *one)
{
	struct shadow_call *call = one->call;
	bool yes;

	if (call->job->details->req_node_bitmap && call->min_nodes < 2)
		bit_and(one->left, call->job->details->req_node_bitmap);
	compute_need(one);
	if (shadow_state.node_count)
		shadow_from_bitmap(one->nodes, one->left);
	if (call->mode == SELECT_MODE_TEST_ONLY)
		return ask_about(one, one->question, one->max_nodes > 1 ? one->all : one->left);
	if (call->min_nodes > 1)
		return ask_about(one, one->question, one->all);
	call->max_nodes = call->req_nodes = 1;
	yes = look(one);
	call->max_nodes = one->max_nodes;
	call->req_nodes = one->req_nodes;
	return yes;
}

bool shadow_one_node(struct shadow_call *call, const struct osp_question *question,
		     shadow_ask_f *ask, void *context)
{
	enum osp_ask_mode mode =
		call->mode == SELECT_MODE_WILL_RUN ? OSP_ASK_FIRST : question->mode;
	struct one_node one = {
		.call = call,
		.question = question,
		.now.mode = mode,
		.forced = {.mode = mode, .victims = question->victims},
		.unforced.mode = question->mode,
		.ask = ask,
		.context = context,
		.max_nodes = call->max_nodes,
		.req_nodes = call->req_nodes,
		.request = shadow_request_hash(call->job),
		.all = bit_copy(call->bitmap),
		.left = bit_copy(call->bitmap),
		.nodes = osp_nodeset_new(shadow_state.node_count),
		.free_at_s = calloc((size_t)shadow_state.node_count + 1, sizeof(int64_t)),
		.tried = bit_alloc(node_record_count),
		.calls_max = CALLS_MAX,
		.later = may_start_later(call, question),
		.best = NO_NODE,
	};
	bool yes;

	call->rc = OSP_ERROR_NO_DOMAIN;
	yes = one.nodes && one.free_at_s && look_for_one(&one);
	free(one.nodes);
	free(one.free_at_s);
	bit_free(one.all);
	bit_free(one.left);
	bit_free(one.tried);
	return yes;
}

#endif
