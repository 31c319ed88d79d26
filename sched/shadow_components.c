/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_components.c - Slurm's answers about the components of one heterogeneous job
 *
 * lib/choose/components.h decides. Slurm places and starts the components one after the other
 * (backfill.c). Their sum is checked again when they start (shadow_gang_started()); by then it is
 * too late to choose another domain.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/choose/components.h"
#include "lib/policy/sentences.h"

/* Partitions of a component that are looked at. */
#define ELSEWHERE_MAX 8

struct component {
	job_record_t *job;
	part_record_t *was_in; /* all are asked about in one partition */
	uint32_t choice_nodes;
};

/* Those of a component other than the one asked about. */
struct partitions {
	const part_record_t *but;
	part_record_t *of[ELSEWHERE_MAX];
	uint32_t count;
	bool known;
};

struct joint {
	struct shadow_call *call;
	osp_list_t *candidates; /* the call's */
	bitstr_t *came;		/* its nodes */
	const struct osp_effective *own;
	struct shadow_plan *plan; /* of its job, for backfill; else NULL */
	/* all that count, including the one asked about, that with the fewest nodes to choose from
	 * first */
	struct component component[SHADOW_COMPONENTS_MAX];
	job_record_t *left_out[SHADOW_COMPONENTS_MAX];
	uint32_t count, left_out_count;
	uint32_t count_max;		/* with those that are left out */
	bool leaves_out;		/* those that may run elsewhere and have no plan */
	struct osp_effective effective; /* the strictest of all */
	struct shadow_gang gang;
	struct osp_nodeset *taken; /* of those that run or are planned */
	struct osp_nodeset *kept;  /* not offered to the one asked about: to none, then */
	struct osp_nodeset *scratch;
	uint32_t *domains;
	struct partitions elsewhere[SHADOW_COMPONENTS_MAX]; /* by number in the job, once read */
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

/* --- what Slurm says to one of them ----------------------------------------------------------- */

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

/* Returns a component of lib/choose's. */
static job_record_t *component_of(const struct joint *joint, uint32_t number)
{
	return number < joint->count ? joint->component[number].job
				     : joint->left_out[number - joint->count];
}

struct own_answer {
	struct joint *joint;
	osp_components_accept_f *accept;
	void *context;
};

static bool accept_own(const struct shadow_call *call, void *context)
{
	struct own_answer *own = context;

	shadow_from_bitmap(own->joint->scratch, call->bitmap);
	return own->accept(own->context, own->joint->scratch,
			   call->mode == SELECT_MODE_WILL_RUN ? call->job->start_time
							      : shadow_first_moment_s(call));
}

static bool ask_own(void *context, const struct osp_nodeset *offered, bool now_only,
		    bool preempting, osp_components_accept_f *accept, void *accept_context)
{
	struct joint *joint = context;
	struct shadow_call *call = joint->call;
	struct own_answer own = {.joint = joint, .accept = accept, .context = accept_context};
	uint64_t flags = call->job->bit_flags;
	bool yes;

	call->candidates = preempting ? joint->candidates : NULL;
	if (now_only)
		call->job->bit_flags |= TEST_NOW_ONLY;
	shadow_to_bitmap(call->bitmap, offered);
	yes = shadow_try_if(call, accept_own, &own);
	if (yes)
		shadow_victims_keep(call, joint->effective.level);
	call->job->bit_flags = flags;
	call->candidates = joint->candidates;
	return yes;
}

/* Slurm's answer about another component. */
struct answer {
	bool found;
	struct osp_nodeset *nodes;
	int64_t start_s;
};

static bool note_answer(const struct shadow_call *call, void *context)
{
	struct answer *answer = context;

	answer->found = true;
	shadow_from_bitmap(answer->nodes, call->bitmap);
	answer->start_s = call->job->start_time;
	return false; /* the answer is only noted */
}

static int add_partition(void *item, void *context)
{
	struct partitions *partitions = context;

	if (item != partitions->but && partitions->count < ELSEWHERE_MAX)
		partitions->of[partitions->count++] = item;
	return 0;
}

/* Reads the other partitions of a component, once a call. A component whose number is
 * SHADOW_COMPONENTS_MAX or more has none. */
static const struct partitions *partitions_of(struct joint *joint, const job_record_t *component)
{
	static const struct partitions none;
	uint32_t offset = component->het_job_offset;
	struct partitions *partitions;

	if (offset >= SHADOW_COMPONENTS_MAX)
		return &none;
	partitions = &joint->elsewhere[offset];
	if (!partitions->known) {
		partitions->known = true;
		partitions->but = joint->call->job->part_ptr;
		list_for_each(component->part_ptr_list, add_partition, partitions);
	}
	return partitions;
}

/* Puts the component into that partition of lib/choose's; returns the one in which it was. */
static part_record_t *move_to(struct joint *joint, job_record_t *component, uint32_t partition)
{
	part_record_t *was_in = component->part_ptr;

	if (partition)
		component->part_ptr = partitions_of(joint, component)->of[partition - 1];
	return was_in;
}

static uint32_t elsewhere(void *context, uint32_t component)
{
	return partitions_of(context, component_of(context, component))->count;
}

static bool prospects(void *context, uint32_t number, uint32_t partition, struct osp_nodeset *nodes)
{
	struct joint *joint = context;
	job_record_t *component = component_of(joint, number);
	part_record_t *was_in = move_to(joint, component, partition);
	struct shadow_gang gang = {.job = component, .usable = joint->scratch};
	struct osp_nodeset *open;

	osp_nodeset_clear(joint->scratch);
	open = shadow_gang_prospects(&gang);
	component->part_ptr = was_in;
	if (!open)
		return false;
	osp_nodeset_or(nodes, open);
	free(open);
	return true;
}

static bool ask(void *context, uint32_t number, uint32_t partition,
		const struct osp_nodeset *offered, bool now_only, bool preempting,
		struct osp_nodeset *nodes, int64_t *start_s)
{
	struct joint *joint = context;
	job_record_t *component = component_of(joint, number);
	part_record_t *was_in = move_to(joint, component, partition);
	struct answer answer = {.nodes = nodes};
	struct shadow_call call = {.job = component,
				   .mode = SELECT_MODE_WILL_RUN,
				   .candidates = preempting ? joint->candidates : NULL,
				   .tail = joint->call->tail};
	uint64_t flags = component->bit_flags;

	set_size(&call);
	call.bitmap = bit_alloc(node_record_count);
	shadow_to_bitmap(call.bitmap, offered);
	if (now_only)
		component->bit_flags |= TEST_NOW_ONLY;
	shadow_try_if(&call, note_answer, &answer);
	component->bit_flags = flags;
	bit_free(call.bitmap);
	if (answer.found && !partition)
		shadow_plan_says(joint->plan, component, nodes, answer.start_s);
	component->part_ptr = was_in;
	*start_s = answer.start_s;
	return answer.found;
}

/*
 * Nothing is told when one starts: backfill's last plan may be another partition's, and the main
 * scheduler may have taken its nodes.
 */
static const struct osp_nodeset *said(void *context, uint32_t number, bool this_call,
				      int64_t *start_s)
{
	const struct joint *joint = context;
	const struct shadow_plan *plan = joint->plan;
	const job_record_t *component = component_of(joint, number);
	uint32_t offset = component->het_job_offset;

	if (!plan || offset >= SHADOW_COMPONENTS_MAX || !plan->beside[offset] ||
	    plan->beside_in[offset] != component->part_ptr ||
	    (!this_call && plan->beside_used[offset] == plan->used))
		return NULL;
	*start_s = plan->beside_start_s[offset];
	return plan->beside[offset];
}

static const struct osp_nodeset *planned(void *context, uint32_t component)
{
	const struct joint *joint = context;

	return shadow_planned_on(component_of(joint, component), joint->call->job->part_ptr);
}

static uint32_t offset(void *context, uint32_t component)
{
	return component_of(context, component)->het_job_offset;
}

static bool is_placed(void *context, uint32_t component)
{
	return add_taken(context, component_of(context, component));
}

/* --- whether they keep what policy promises --------------------------------------------------- */

static bool all_keep_promise(void *context, const struct osp_nodeset *nodes)
{
	const struct joint *joint = context;

	return osp_nodeset_count(nodes) < joint->effective.from_nodes ||
	       shadow_gang_together(joint->call->job, &joint->effective, nodes);
}

static bool keeps_promise(void *context, uint32_t number, uint32_t partition,
			  const struct osp_nodeset *nodes)
{
	struct joint *joint = context;
	job_record_t *component = component_of(joint, number);
	part_record_t *was_in = move_to(joint, component, partition);
	struct osp_effective effective;
	bool keeps;

	keeps = !shadow_gang_request(component, &effective) || effective.mode != OSP_MODE_ENFORCE ||
		osp_nodeset_count(nodes) < effective.from_nodes ||
		shadow_gang_together(component, &effective, nodes);
	component->part_ptr = was_in;
	return keeps;
}

static int64_t first_moment_s(void *context)
{
	return shadow_first_moment_s(((struct joint *)context)->call);
}

static int64_t elapsed_ms(void *context)
{
	return shadow_call_elapsed_ms(((struct joint *)context)->call);
}

/* --- one call --------------------------------------------------------------------------------- */

/* Lists the domains of the gang's level with enough nodes for the component asked about, best
 * first; if others are placed already, only theirs. */
static uint32_t find_domains(struct joint *joint)
{
	const struct shadow_gang *gang = &joint->gang;
	struct osp_place_input input = shadow_gang_input(gang);
	uint32_t first = osp_nodeset_next(joint->taken, 0), candidates, count, found = 0;
	const struct osp_place_domain *domains;

	if (!gang->level)
		return 0;  /* anywhere, or unknown */
	input.kind = NULL; /* components may be of different kinds */
	input.kind_count = 0;
	input.free_only = false;
	domains = osp_place_order(shadow_state.place, &input, &candidates, &count);
	joint->domains = calloc(candidates + 1, sizeof(*joint->domains));
	for (uint32_t i = 0; joint->domains && i < candidates; i++) {
		if (first >= joint->taken->place_count ||
		    osp_topology_domain_of(shadow_state.topology, first, gang->level) ==
			    domains[i].domain)
			joint->domains[found++] = domains[i].domain;
	}
	return found;
}

static void say_why(const struct joint *joint)
{
	const job_record_t *job = joint->call->job;
	char says[OSP_SENTENCE_BYTES];

	osp_sentence_components(joint->effective.level, joint->count_max, job->part_ptr->name, says,
				sizeof(says));
	shadow_gang_says(joint->call->job, &joint->effective, says);
}

/* Fills joint->gang. If the fabric does not have the level, or memory runs out, no domain is known.
 */
static bool begin_gang(struct joint *joint)
{
	const struct shadow_call *call = joint->call;
	struct shadow_gang *gang = &joint->gang;
	char why[OSP_SENTENCE_BYTES];

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

static uint32_t own_of(const struct joint *joint)
{
	uint32_t own = 0;

	while (own < joint->count && joint->component[own].job != joint->call->job)
		own++;
	return own;
}

static void fill(struct joint *joint, struct osp_components_input *input)
{
	const struct shadow_call *call = joint->call;
	bool slot_waits = OSP_SLOT_START_S(&call->tail) > time(NULL);

	*input = (struct osp_components_input){
		.count = joint->count,
		.left_out_count = joint->left_out_count,
		.own = own_of(joint),
		.open = has_open(joint),
		.never = is_planned_elsewhere(joint),
		.later_helps = call->mode == SELECT_MODE_WILL_RUN &&
			       !(call->job->bit_flags & TEST_NOW_ONLY),
		.given = joint->gang.usable,
		.taken = joint->taken,
		.kept = joint->kept,
		.settling = slot_waits ? NULL : joint->gang.settling,
		.stuck = joint->gang.stuck,
		.topology = shadow_state.topology,
		.may_preempt = joint->candidates != NULL,
		.all_start_s = joint->plan ? joint->plan->all_start_s : 0,
		.search = joint->plan ? shadow_plan_search(joint->plan, call->job->part_ptr) : NULL,
	};
	input->domain_count = find_domains(joint);
	input->domains = joint->domains;
}

static bool begin(void *context, bool leaves_out, struct osp_components_input *input)
{
	struct joint *joint = context;

	bit_copybits(joint->call->bitmap, joint->came);
	joint->effective = *joint->own;
	joint->leaves_out = leaves_out;
	joint->taken = osp_nodeset_new(shadow_state.node_count);
	joint->scratch = osp_nodeset_new(shadow_state.node_count);
	if (!joint->taken || !joint->scratch)
		return false;
	if (joint->call->mode == SELECT_MODE_WILL_RUN && !joint->plan)
		joint->plan = shadow_plan_begin(joint->call, joint->scratch);
	look_at_components(joint);
	if (!begin_gang(joint))
		return false;
	joint->kept = shadow_gang_prospects(&joint->gang);
	if (!joint->kept)
		return false;
	osp_nodeset_and_not(joint->kept, joint->gang.usable);
	/* components share no nodes (_het_job_start_now() in backfill.c) */
	osp_nodeset_and_not(joint->gang.usable, joint->taken);
	fill(joint, input);
	return true;
}

/* Ends begin(). */
static void end(void *context)
{
	struct joint *joint = context;

	for (uint32_t i = 0; i < joint->count; i++)
		joint->component[i].job->part_ptr = joint->component[i].was_in;
	joint->count = joint->left_out_count = 0;
	shadow_gang_clear(&joint->gang);
	joint->gang = (struct shadow_gang){.level = 0};
	free(joint->taken);
	free(joint->kept);
	free(joint->scratch);
	free(joint->domains);
	joint->taken = joint->kept = joint->scratch = NULL;
	joint->domains = NULL;
}

/* Tells whether to say why they wait: Slurm would place them in several domains. */
static bool is_to_be_said(const struct joint *joint, const struct osp_components_choice *choice)
{
	return choice->splits && !(choice->found && (joint->call->mode == SELECT_MODE_RUN_NOW ||
						     shadow_is_first_moment(joint->call)));
}

int shadow_place_component(struct shadow_call *call, const struct osp_effective *effective)
{
	struct joint joint = {.call = call, .candidates = call->candidates, .own = effective};
	const struct osp_components_calls calls = {
		.begin = begin,
		.end = end,
		.prospects = prospects,
		.is_placed = is_placed,
		.ask_own = ask_own,
		.ask = ask,
		.said = said,
		.planned = planned,
		.offset = offset,
		.all_keep_promise = all_keep_promise,
		.keeps_promise = keeps_promise,
		.elsewhere = elsewhere,
		.first_moment_s = first_moment_s,
		.elapsed_ms = elapsed_ms,
		.context = &joint,
	};
	struct osp_components_choice choice;

	clock_gettime(CLOCK_MONOTONIC, &call->began);
	shadow_state_refresh(time(NULL));
	shadow_count_refresh(time(NULL));
	joint.came = bit_copy(call->bitmap);
	osp_choose_components(shadow_state.node_count, &calls, &choice);
	if (choice.found)
		shadow_plan_keep(joint.plan, call, choice.start_s);
	else
		bit_copybits(call->bitmap, joint.came);
	bit_free(joint.came);
	if (is_to_be_said(&joint, &choice))
		say_why(&joint);
	if (choice.found)
		return SLURM_SUCCESS;
	return call->rc == SLURM_SUCCESS ? OSP_ERROR_NO_DOMAIN : call->rc;
}
