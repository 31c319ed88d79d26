/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_components.c - components of one heterogeneous job in a partition that promises one domain
 *
 * A policy judges them together, and Slurm places and starts them one after the other (backfill.c).
 * If they may turn out as large as a gang, each is placed in the domain of those before it, and
 * only if Slurm, asked about the others too, has room for all of them in one domain. Their sum is
 * checked again when they start (shadow_gang_started()); by then it is too late to choose another
 * domain.
 *
 * One that may run in other partitions too counts as long as it is not planned there. If they have
 * no room in one domain together, those without a plan are left to their other partitions, and the
 * rest is asked about alone: for a start now if the others have room there now, for a later one if
 * all together never start.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/words.h"

/* Where all components can start soonest. */
struct soonest {
	bool found;
	uint32_t within;
	int64_t start_s;
};

/* Partitions of a component that are looked at. */
#define ELSEWHERE_MAX 8

/* The starts that are looked for. */
enum when { ANY_TIME, NOW, LATER };

struct component {
	job_record_t *job;
	part_record_t *was_in; /* all are asked about in one partition */
	uint32_t choice_nodes;
};

struct joint {
	struct shadow_call *call;
	struct shadow_plan *plan; /* of its job, for backfill; else NULL */
	/* all that count, including the one asked about; those with the fewest nodes to choose from
	 * come first */
	struct component component[SHADOW_COMPONENTS_MAX];
	uint32_t count;
	job_record_t *left_out[SHADOW_COMPONENTS_MAX];
	uint32_t left_out_count;
	uint32_t count_max; /* with those that are left out */
	bool leaves_out;    /* those that may run elsewhere and have no plan */
	enum when when;
	struct osp_effective effective;	   /* the strictest of all */
	struct osp_nodeset *taken;	   /* of those that run or are planned */
	struct osp_nodeset *kept;	   /* not offered to the one asked about: to none, then */
	struct osp_nodeset *within;	   /* where they are looked for; NULL: anywhere */
	const struct osp_nodeset *without; /* where they are not looked for; NULL: no such place */
	struct osp_nodeset *all;	   /* what they would have together */
	struct osp_nodeset *scratch;
	bool now_only; /* at the first moment that was asked about */
	bool only_looks;
	bool others_first; /* the others have been asked about before */
	bool recalls;	   /* what Slurm said about the others in earlier calls may be taken */
	bool recalls_all;  /* in this one too */
	bool recalled;	   /* it was */
	uint32_t finishes; /* so often the others are asked about to the end, however long */
	bool fits;	   /* the last one asked about did */
	bool can_stand;	   /* in its last answer they would keep the promise */
	bool splits;	   /* Slurm would place them in several domains */
	int64_t start_s;
};

/* --- which they are --------------------------------------------------------------------------- */

static osp_list_t *components_of(const job_record_t *job)
{
	const job_record_t *leader = job->het_job_id ? find_job_record(job->het_job_id) : NULL;

	return leader ? leader->het_job_list : NULL;
}

static bool is_active(const job_record_t *component)
{
	return IS_JOB_PENDING(component) || IS_JOB_RUNNING(component);
}

/* Tells whether the component counts together with the job as long as it is not planned elsewhere.
 */
static int may_count(void *item, void *context)
{
	return item != context && is_active(item) && shadow_is_beside(context, item);
}

/* Tells so also of one that runs: it has chosen, and the others start beside it. */
static int may_choose(void *item, void *context)
{
	const job_record_t *component = item, *job = context;

	return IS_JOB_RUNNING(component) || shadow_may_choose(component, job->part_ptr);
}

bool shadow_components_may_choose(const job_record_t *job)
{
	osp_list_t *components = components_of(job);

	return components && list_find_first(components, may_choose, (void *)job);
}

static bool counts(const job_record_t *job, const job_record_t *component)
{
	const part_record_t *planned = NULL;

	if (component != job && shadow_may_choose(component, job->part_ptr))
		planned = shadow_planned_in(component);
	return is_active(component) && shadow_is_beside(job, component) &&
	       (!planned || planned == job->part_ptr);
}

bool shadow_has_components(job_record_t *job)
{
	osp_list_t *components = components_of(job);

	return components && list_find_first(components, may_count, job);
}

/*
 * Adds the nodes where it runs, or would start by backfill's plan so far. Returns false if that is
 * open.
 */
static bool add_taken(const struct joint *joint, const job_record_t *component)
{
	const job_record_t *job = joint->call->job;
	uint32_t offset = component->het_job_offset;

	if (component == job)
		return false;
	if (IS_JOB_RUNNING(component) && component->node_bitmap) {
		shadow_from_bitmap(joint->scratch, component->node_bitmap);
		osp_nodeset_or(joint->taken, joint->scratch);
		return true;
	}
	if (!joint->plan || offset >= SHADOW_COMPONENTS_MAX || !joint->plan->of[offset])
		return false;
	osp_nodeset_or(joint->taken, joint->plan->of[offset]);
	return true;
}

/*
 * Makes the promise as strict as this component's: -p a,b may hold one component to a lower level
 * than the others.
 */
static void add_promise(struct osp_effective *strictest, const struct osp_effective *other)
{
	const struct osp_topology *topology = shadow_state.topology;

	if (other->mode != OSP_MODE_ENFORCE)
		return;
	if (osp_topology_level(topology, other->level) <
	    osp_topology_level(topology, strictest->level))
		memcpy(strictest->level, other->level, sizeof(strictest->level));
	if (other->from_nodes < strictest->from_nodes)
		strictest->from_nodes = other->from_nodes;
}

/* Tells whether the component may still be planned in another partition. */
static bool is_open(const struct joint *joint, const job_record_t *component)
{
	const job_record_t *job = joint->call->job;

	return component != job && shadow_may_choose(component, job->part_ptr) &&
	       !shadow_planned_in(component);
}

static int add_component(void *item, void *context)
{
	struct joint *joint = context;

	if (joint->count + joint->left_out_count == SHADOW_COMPONENTS_MAX ||
	    !counts(joint->call->job, item))
		return 0;
	if (joint->leaves_out && is_open(joint, item)) {
		joint->left_out[joint->left_out_count++] = item;
		return 0;
	}
	joint->component[joint->count++] =
		(struct component){.job = item, .was_in = ((job_record_t *)item)->part_ptr};
	return 0;
}

/* Moves the one at `i` up to its place among those before it. */
static void put_in_order(struct joint *joint, uint32_t i)
{
	struct component component = joint->component[i];
	struct shadow_gang gang = {.job = component.job, .usable = joint->scratch};
	struct osp_nodeset *nodes;

	osp_nodeset_clear(joint->scratch);
	nodes = shadow_gang_prospects(&gang);
	component.choice_nodes = nodes ? osp_nodeset_count(nodes) : 0;
	free(nodes);
	for (; i && joint->component[i - 1].choice_nodes > component.choice_nodes; i--)
		joint->component[i] = joint->component[i - 1];
	joint->component[i] = component;
}

/*
 * Lists the components before it looks at them: Slurm's list is locked while it is walked, and what
 * follows walks it too.
 */
static void look_at_components(struct joint *joint)
{
	struct osp_effective effective;

	list_for_each(components_of(joint->call->job), add_component, joint);
	if (joint->count > joint->count_max)
		joint->count_max = joint->count;
	for (uint32_t i = 0; i < joint->count; i++) {
		joint->component[i].job->part_ptr = joint->call->job->part_ptr;
		add_taken(joint, joint->component[i].job);
		if (shadow_gang_request(joint->component[i].job, &effective))
			add_promise(&joint->effective, &effective);
		put_in_order(joint, i);
	}
}

/* --- what Slurm says to all of them ---------------------------------------------------------- */

/* Sets as many nodes as Slurm will ask for (get_node_cnts() in node_scheduler.c). */
static void set_size(struct shadow_call *call)
{
	const __typeof__(*call->job->details) *details = call->job->details;
	const part_record_t *partition = call->job->part_ptr;
	uint32_t most = details->max_nodes ? details->max_nodes : partition->max_nodes;

	call->min_nodes = details->min_nodes;
	if (partition->min_nodes != NO_VAL && partition->min_nodes > call->min_nodes)
		call->min_nodes = partition->min_nodes;
	call->max_nodes = most < partition->max_nodes ? most : partition->max_nodes;
	call->req_nodes = details->max_nodes && !(call->job->bit_flags & USE_MIN_NODES)
				  ? call->max_nodes
				  : call->min_nodes;
}

static void add_nodes_of_another(struct joint *joint, const struct osp_nodeset *nodes,
				 int64_t start_s)
{
	osp_nodeset_or(joint->all, nodes);
	if (start_s > joint->start_s)
		joint->start_s = start_s;
}

static bool add_answer(const struct shadow_call *call, void *context)
{
	struct joint *joint = context;

	joint->fits = !joint->now_only || shadow_is_first_moment(call);
	shadow_from_bitmap(joint->scratch, call->bitmap);
	add_nodes_of_another(joint, joint->scratch, call->job->start_time);
	shadow_plan_says(joint->plan, call->job, joint->scratch);
	return false; /* the answer is only noted */
}

/* Tells whether it could have these nodes beside what the others have so far. */
static bool is_still_open(struct joint *joint, const struct osp_nodeset *nodes, int64_t start_s)
{
	if (joint->now_only && start_s > shadow_first_moment_s(joint->call))
		return false;
	if (osp_nodeset_overlap(nodes, joint->kept) || osp_nodeset_overlap(nodes, joint->all))
		return false;
	if (joint->without && osp_nodeset_overlap(nodes, joint->without))
		return false;
	if (!joint->within)
		return true;
	osp_nodeset_assign(joint->scratch, nodes);
	osp_nodeset_and_not(joint->scratch, joint->within);
	return osp_nodeset_empty(joint->scratch);
}

/*
 * Adds what was said about the component, in the same partition, when others were asked about. It
 * decides only where the one asked about is planned: the component itself is asked about again.
 * Nothing is recalled when one starts: backfill's last plan may be another partition's, and the
 * main scheduler may have taken its nodes.
 */
static bool recall_another(struct joint *joint, const job_record_t *component)
{
	const struct shadow_plan *plan = joint->plan;
	uint32_t offset = component->het_job_offset;

	if (!joint->recalls || !plan || offset >= SHADOW_COMPONENTS_MAX || !plan->beside[offset])
		return false;
	if (plan->beside_in[offset] != component->part_ptr ||
	    (!joint->recalls_all && plan->beside_used[offset] == plan->used) ||
	    !is_still_open(joint, plan->beside[offset], plan->beside_start_s[offset]))
		return false;
	add_nodes_of_another(joint, plan->beside[offset], plan->beside_start_s[offset]);
	joint->recalled = true;
	return true;
}

/* Writes the nodes that it may have beside the others into joint->scratch. */
static bool find_open_nodes(struct joint *joint, job_record_t *component)
{
	struct shadow_gang gang = {.job = component, .usable = joint->scratch};
	struct osp_nodeset *open;

	osp_nodeset_clear(joint->scratch);
	open = shadow_gang_prospects(&gang);
	if (!open)
		return false;
	osp_nodeset_and_not(open, joint->kept);
	osp_nodeset_and_not(open, joint->all);
	if (joint->without)
		osp_nodeset_and_not(open, joint->without);
	if (joint->within)
		osp_nodeset_and(open, joint->within);
	osp_nodeset_assign(joint->scratch, open);
	free(open);
	return true;
}

/* Asks Slurm about a component on the nodes that it may have beside the others; `accept` notes in
 * joint->fits what came of it, which is returned. */
static bool ask_about(struct joint *joint, job_record_t *component, bool now_only,
		      shadow_accept_f *accept, void *context)
{
	struct shadow_call call = {.job = component,
				   .mode = SELECT_MODE_WILL_RUN,
				   .candidates = joint->call->candidates,
				   .tail = joint->call->tail};
	uint64_t flags = component->bit_flags;

	joint->fits = false;
	if (!find_open_nodes(joint, component))
		return false;
	set_size(&call);
	call.bitmap = bit_alloc(node_record_count);
	shadow_to_bitmap(call.bitmap, joint->scratch);
	if (now_only)
		component->bit_flags |= TEST_NOW_ONLY;
	shadow_try_if(&call, accept, context);
	component->bit_flags = flags;
	FREE_NULL_BITMAP(call.bitmap);
	return joint->fits;
}

/*
 * Asks Slurm about a component that has no nodes yet, and adds its answer to what the others would
 * have.
 */
static bool ask_for_another(struct joint *joint, job_record_t *component)
{
	return component == joint->call->job || add_taken(joint, component) ||
	       recall_another(joint, component) ||
	       ask_about(joint, component, joint->now_only, add_answer, joint);
}

static bool budget_is_spent(const struct joint *joint)
{
	return shadow_call_elapsed_ms(joint->call) > OSP_CHOOSE_BUDGET_MS;
}

/*
 * Asks about all that have no nodes yet. The first time that this is done for a start now, or for a
 * later one, it is done to the end: without an answer the job would never start.
 */
static bool ask_for_others(struct joint *joint)
{
	bool finishes = joint->finishes > 0;

	joint->finishes -= finishes;
	for (uint32_t i = 0; i < joint->count; i++) {
		if (!finishes && budget_is_spent(joint))
			return false;
		if (!ask_for_another(joint, joint->component[i].job))
			return false;
	}
	return true;
}

/* --- what is left to other partitions --------------------------------------------------------- */

struct partitions {
	const part_record_t *but;
	part_record_t *of[ELSEWHERE_MAX];
	uint32_t count;
};

static int add_partition(void *item, void *context)
{
	struct partitions *partitions = context;

	if (item != partitions->but && partitions->count < ELSEWHERE_MAX)
		partitions->of[partitions->count++] = item;
	return 0;
}

struct elsewhere {
	struct joint *joint;
	const struct osp_effective *effective; /* NULL: it is no gang */
};

/* Notes whether it would start now and be together. */
static bool notes_room(const struct shadow_call *call, void *context)
{
	const struct elsewhere *elsewhere = context;
	struct joint *joint = elsewhere->joint;
	const struct osp_effective *effective = elsewhere->effective;

	shadow_from_bitmap(joint->scratch, call->bitmap);
	joint->fits = shadow_is_first_moment(call) &&
		      (!effective || effective->mode != OSP_MODE_ENFORCE ||
		       osp_nodeset_count(joint->scratch) < effective->from_nodes ||
		       shadow_gang_together(call->job, effective, joint->scratch));
	if (joint->fits)
		osp_nodeset_or(joint->all, joint->scratch);
	return false;
}

/* Tells whether Slurm would start it now in the partition in which it is, beside the others. */
static bool has_room_now(struct joint *joint, job_record_t *component)
{
	struct osp_effective effective;
	struct elsewhere elsewhere = {.joint = joint};

	if (shadow_gang_request(component, &effective))
		elsewhere.effective = &effective;
	return ask_about(joint, component, true, notes_room, &elsewhere);
}

static bool can_start_elsewhere(struct joint *joint, job_record_t *component)
{
	struct partitions partitions = {.but = joint->call->job->part_ptr};
	part_record_t *was_in = component->part_ptr;
	struct osp_nodeset *within = joint->within;
	bool yes = false;

	list_for_each(component->part_ptr_list, add_partition, &partitions);
	joint->within = NULL;
	for (uint32_t i = 0; i < partitions.count && !yes && !budget_is_spent(joint); i++) {
		component->part_ptr = partitions.of[i];
		yes = has_room_now(joint, component);
	}
	joint->within = within;
	component->part_ptr = was_in;
	return yes;
}

/* Tells whether each that was left out can start now in another of its partitions. */
static bool others_can_start(struct joint *joint)
{
	for (uint32_t i = 0; i < joint->left_out_count; i++) {
		if (!can_start_elsewhere(joint, joint->left_out[i]))
			return false;
	}
	return true;
}

/* --- what Slurm says to one of them ----------------------------------------------------------- */

/* Tells whether all of them have room beside Slurm's answer for one, and keep the promise there. */
static bool all_can_stand(const struct shadow_call *call, void *context)
{
	struct joint *joint = context;

	joint->can_stand = false;
	if (joint->now_only && call->mode == SELECT_MODE_WILL_RUN && !shadow_is_first_moment(call))
		return false;
	shadow_from_bitmap(joint->scratch, call->bitmap);
	if (!joint->others_first) {
		osp_nodeset_assign(joint->all, joint->taken);
		joint->start_s = 0;
	}
	osp_nodeset_or(joint->all, joint->scratch);
	if (call->mode == SELECT_MODE_WILL_RUN && call->job->start_time > joint->start_s)
		joint->start_s = call->job->start_time;
	if (!joint->others_first && !ask_for_others(joint))
		return false;
	joint->can_stand = osp_nodeset_count(joint->all) < joint->effective.from_nodes ||
			   shadow_gang_together(call->job, &joint->effective, joint->all);
	joint->splits |= !joint->can_stand;
	if (joint->can_stand && joint->leaves_out && joint->now_only)
		joint->can_stand = others_can_start(joint);
	return joint->can_stand && !joint->only_looks;
}

/* --- where they are looked for --------------------------------------------------------------- */

/* The domains of one call. */
struct places {
	const struct osp_nodeset *given;
	const struct osp_nodeset *settling; /* no job can start there now */
	const struct osp_nodeset *stuck;    /* nobody knows when one can start there */
	uint32_t *domains;
	uint32_t count;
};

/*
 * Asks for the component in joint->within, without the nodes that the others take if they come
 * first.
 */
static bool ask_for_own(struct joint *joint, const struct places *places)
{
	struct shadow_call *call = joint->call;

	osp_nodeset_assign(joint->scratch, places->given);
	if (joint->within)
		osp_nodeset_and(joint->scratch, joint->within);
	if (joint->without)
		osp_nodeset_and_not(joint->scratch, joint->without);
	if (joint->others_first)
		osp_nodeset_and_not(joint->scratch, joint->all);
	shadow_to_bitmap(call->bitmap, joint->scratch);
	return shadow_try_if(call, all_can_stand, joint);
}

/*
 * Asks for the others first: the nodes that Slurm would take for this one may be the only ones for
 * another.
 */
static bool ask_behind_others(struct joint *joint, const struct places *places)
{
	bool yes;

	osp_nodeset_assign(joint->all, joint->taken);
	joint->start_s = 0;
	joint->others_first = true;
	yes = ask_for_others(joint) && ask_for_own(joint, places);
	joint->others_first = false;
	return yes;
}

/* Asks within that domain; `count` stands for anywhere. */
static bool ask_within(struct joint *joint, const struct places *places, uint32_t i)
{
	struct osp_nodeset *within =
		i < places->count ? osp_nodeset_new(shadow_state.node_count) : NULL;
	uint64_t flags = joint->call->job->bit_flags;
	bool yes = false;

	joint->can_stand = false;
	if (within)
		osp_topology_add_domain_nodes(shadow_state.topology, places->domains[i], within);
	joint->within = within;
	if (joint->now_only)
		joint->call->job->bit_flags |= TEST_NOW_ONLY;
	if (within || i == places->count)
		yes = ask_for_own(joint, places);
	if (within && !joint->can_stand)
		yes = ask_behind_others(joint, places);
	joint->call->job->bit_flags = flags;
	joint->within = NULL;
	free(within);
	return yes;
}

/* Asks where Slurm would place them, then in one domain after the other. */
static bool start_now(struct joint *joint, const struct places *places)
{
	bool yes;

	/* known from the question about another one */
	if (joint->recalls && joint->plan &&
	    joint->plan->all_start_s > shadow_first_moment_s(joint->call)) {
		joint->recalled = true;
		return false;
	}
	joint->now_only = true;
	joint->finishes = 1;
	joint->without =
		OSP_SLOT_START_S(&joint->call->tail) > time(NULL) ? NULL : places->settling;
	yes = ask_within(joint, places, places->count);
	for (uint32_t i = 0; !yes && i < places->count && !budget_is_spent(joint); i++)
		yes = ask_within(joint, places, i);
	joint->now_only = false;
	return yes;
}

/* Notes when all of them could start there. */
static void look_within(struct joint *joint, const struct places *places, uint32_t i,
			struct soonest *soonest)
{
	ask_within(joint, places, i);
	if (!joint->can_stand || (soonest->found && joint->start_s >= soonest->start_s))
		return;
	*soonest = (struct soonest){.found = true, .within = i, .start_s = joint->start_s};
}

/* Plans the start of all of them where they can start soonest. No place is sooner than the one that
 * Slurm itself takes. The next call goes on behind domains that were asked in vain. */
static bool start_later(struct joint *joint, const struct places *places,
			const struct osp_nodeset *without)
{
	struct soonest soonest = {.found = false};
	uint32_t i = 0;
	bool yes;

	joint->without = without;
	joint->only_looks = true;
	joint->finishes = 1;
	look_within(joint, places, places->count, &soonest);
	if (!soonest.found) {
		while (i < places->count && !(i && budget_is_spent(joint)))
			look_within(joint, places, (joint->plan->turn + i++) % places->count,
				    &soonest);
		joint->plan->turn = soonest.found || i == places->count ? 0 : joint->plan->turn + i;
	}
	joint->only_looks = false;
	joint->recalls_all = joint->recalls;
	joint->finishes = 2; /* it was answered with yes */
	yes = soonest.found && ask_within(joint, places, soonest.within);
	joint->recalls_all = false;
	return yes;
}

static bool place(struct joint *joint, const struct places *places)
{
	struct shadow_call *call = joint->call;
	osp_list_t *candidates = call->candidates;
	bool yes = false;

	if (joint->when != LATER) {
		call->candidates = NULL;
		yes = start_now(joint, places);
		call->candidates = candidates;
		if (!yes && candidates)
			yes = start_now(joint, places);
	}
	if (yes || joint->when == NOW || call->mode != SELECT_MODE_WILL_RUN ||
	    (call->job->bit_flags & TEST_NOW_ONLY))
		return yes;
	if (places->stuck && !osp_nodeset_empty(places->stuck))
		yes = start_later(joint, places, places->stuck);
	return yes || start_later(joint, places, NULL);
}

/* Lists the domains of the gang's level with enough nodes for the component asked about, best
 * first; if others are placed already, only theirs. */
static void find_domains(struct joint *joint, const struct shadow_gang *gang, struct places *places)
{
	struct osp_place_input input = shadow_gang_input(gang);
	uint32_t first = osp_nodeset_next(joint->taken, 0), candidates, count;
	const struct osp_place_domain *domains;

	if (!gang->level)
		return;	   /* anywhere, or unknown */
	input.kind = NULL; /* components may be of different kinds */
	input.kind_count = 0;
	input.free_only = false;
	domains = osp_place_order(shadow_state.place, &input, &candidates, &count);
	places->domains = calloc(candidates + 1, sizeof(*places->domains));
	for (uint32_t i = 0; places->domains && i < candidates; i++) {
		if (first >= joint->taken->place_count ||
		    osp_topology_domain_of(shadow_state.topology, first, gang->level) ==
			    domains[i].domain)
			places->domains[places->count++] = domains[i].domain;
	}
}

/* --- all of it ------------------------------------------------------------------------------- */

static void say_why(const struct joint *joint)
{
	const job_record_t *job = joint->call->job;
	char says[OSP_WORDS_BYTES];

	osp_words_components(joint->effective.level, joint->count_max, job->part_ptr->name, says,
			     sizeof(says));
	shadow_gang_says(joint->call->job, &joint->effective, says);
}

/* Fills `gang`. If the fabric does not have the level, or memory runs out, no domain is known. */
static bool begin_gang(const struct joint *joint, struct shadow_gang *gang)
{
	const struct shadow_call *call = joint->call;
	char why[OSP_WORDS_BYTES];

	if (shadow_gang_begin(gang, call->job, &joint->effective, call->bitmap, call->min_nodes,
			      call->req_nodes, why, sizeof(why)) == 0) {
		shadow_gang_drop_old_places(gang);
		if (shadow_gang_count_free(gang) == 0)
			return true;
	}
	shadow_gang_clear(gang);
	gang->job = call->job;
	gang->usable = osp_nodeset_new(shadow_state.node_count);
	if (gang->usable)
		shadow_from_bitmap(gang->usable, call->bitmap);
	return gang->usable != NULL;
}

static bool begin(struct joint *joint, struct shadow_gang *gang)
{
	joint->taken = osp_nodeset_new(shadow_state.node_count);
	joint->all = osp_nodeset_new(shadow_state.node_count);
	joint->scratch = osp_nodeset_new(shadow_state.node_count);
	if (!joint->taken || !joint->all || !joint->scratch)
		return false;
	if (joint->call->mode == SELECT_MODE_WILL_RUN && !joint->plan)
		joint->plan = shadow_plan_begin(joint->call, joint->scratch);
	look_at_components(joint);
	if (!begin_gang(joint, gang))
		return false;
	joint->kept = shadow_gang_prospects(gang);
	if (!joint->kept)
		return false;
	osp_nodeset_and_not(joint->kept, gang->usable);
	/* components share no nodes (_het_job_start_now() in backfill.c) */
	osp_nodeset_and_not(gang->usable, joint->taken);
	return true;
}

/* Tells whether to say why they wait: Slurm would place them in several domains. */
static bool is_to_be_said(const struct joint *joint, bool yes)
{
	return joint->splits && !(yes && (joint->call->mode == SELECT_MODE_RUN_NOW ||
					  shadow_is_first_moment(joint->call)));
}

static int place_all(struct joint *joint, const struct shadow_gang *gang)
{
	struct shadow_call *call = joint->call;
	bitstr_t *came = bit_copy(call->bitmap);
	struct places places = {
		.given = gang->usable, .settling = gang->settling, .stuck = gang->stuck};
	bool yes;

	find_domains(joint, gang, &places);
	joint->recalls = true;
	yes = place(joint, &places);
	if (!yes && joint->recalled) { /* in vain; what was said no longer holds, maybe */
		bit_copybits(call->bitmap, came);
		joint->recalls = false;
		yes = place(joint, &places);
	}
	if (yes)
		shadow_plan_keep(joint->plan, call, joint->start_s);
	else
		bit_copybits(call->bitmap, came);
	FREE_NULL_BITMAP(came);
	free(places.domains);
	if (yes)
		return SLURM_SUCCESS;
	return call->rc == SLURM_SUCCESS ? OSP_ERROR_NO_DOMAIN : call->rc;
}

/* Ends begin(). */
static void end(struct joint *joint)
{
	for (uint32_t i = 0; i < joint->count; i++)
		joint->component[i].job->part_ptr = joint->component[i].was_in;
	joint->count = joint->left_out_count = 0;
	free(joint->taken);
	free(joint->kept);
	free(joint->all);
	free(joint->scratch);
	joint->taken = joint->kept = joint->all = joint->scratch = NULL;
}

/* Tells whether some of the components may be left out. */
static bool has_open(const struct joint *joint)
{
	for (uint32_t i = 0; i < joint->count; i++) {
		if (is_open(joint, joint->component[i].job))
			return true;
	}
	return false;
}

/* Tells whether backfill has planned it in another of its partitions at the first moment. A yes
 * would only keep more nodes, and from the other components too. */
static bool is_planned_elsewhere(const struct joint *joint)
{
	const struct shadow_plan *plan = joint->plan;
	const job_record_t *job = joint->call->job;
	uint32_t own = job->het_job_offset;

	return plan && own < SHADOW_COMPONENTS_MAX && plan->of[own] &&
	       plan->of_in[own] != job->part_ptr &&
	       plan->start_s[own] <= shadow_first_moment_s(joint->call);
}

/* Writes into *open whether some of those that count may be left out. Without such, it looks for a
 * start at any time. */
static int place_those(struct joint *joint, bool *open)
{
	struct shadow_gang gang = {.level = 0};
	int rc = OSP_ERROR_NO_DOMAIN;

	if (begin(joint, &gang)) {
		bool elsewhere = is_planned_elsewhere(joint);

		*open = !elsewhere && has_open(joint);
		if (!*open && !joint->leaves_out)
			joint->when = ANY_TIME;
		if (!elsewhere)
			rc = place_all(joint, &gang);
	}
	shadow_gang_clear(&gang);
	end(joint);
	return rc;
}

int shadow_place_component(struct shadow_call *call, const struct osp_effective *effective)
{
	static const enum when order[] = {NOW, LATER};
	struct joint joint = {.call = call};
	int rc = OSP_ERROR_NO_DOMAIN;
	bool open = true, none;

	clock_gettime(CLOCK_MONOTONIC, &call->began);
	shadow_state_refresh(time(NULL));
	shadow_count_refresh(time(NULL));
	for (uint32_t i = 0; i < 2 && rc != SLURM_SUCCESS && open; i++) {
		for (uint32_t out = 0; out < 2 && rc != SLURM_SUCCESS && open; out++) {
			joint.effective = *effective;
			joint.when = order[i];
			joint.leaves_out = out;
			rc = place_those(&joint, out ? &none : &open);
		}
	}
	if (is_to_be_said(&joint, rc == SLURM_SUCCESS))
		say_why(&joint);
	return rc;
}
