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
#include "lib/choose/components_list.h"
#include "lib/policy/sentences.h"

/* Partitions of a component that are looked at. */
#define ELSEWHERE_MAX 8

/* A question about so many nodes counts for a microsecond: 4 ms for 65,536, of which our own part
 * is 0.02 (bench_components). */
#define NODES_A_US 16

struct component {
	job_record_t *job;
	part_record_t *was_in; /* all are asked about in one partition; NULL: it is in its own */
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
	struct osp_component_plan *plan;	  /* of its job, for backfill; else NULL */
	struct component all[OSP_COMPONENTS_MAX]; /* of the job, including the one asked about */
	uint32_t all_count;
	struct osp_component_list list; /* of these, the ones that count */
	uint32_t count_max;		/* of them, with those that are left out */
	struct osp_effective effective; /* the strictest of all */
	struct shadow_gang gang;
	struct osp_nodeset *taken; /* of those that run or are planned */
	struct osp_nodeset *kept;  /* not offered to the one asked about: to none, then */
	struct osp_nodeset *scratch;
	uint32_t *domains;
	struct partitions elsewhere[OSP_COMPONENTS_MAX]; /* by number in the job, once read */
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

/* Returns whether the component counts together with the job as long as it is not planned
 * elsewhere.
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
	const struct osp_nodeset *planned =
		joint->plan ? osp_component_plan_nodes(joint->plan, component->het_job_offset)
			    : NULL;

	if (component == joint->call->job)
		return false;
	if (IS_JOB_RUNNING(component) && component->node_bitmap) {
		shadow_from_bitmap(joint->scratch, component->node_bitmap);
		planned = joint->scratch;
	}
	if (planned)
		osp_nodeset_or(joint->taken, planned);
	return planned != NULL;
}

static int add_component(void *item, void *context)
{
	struct joint *joint = context;

	if (joint->all_count < OSP_COMPONENTS_MAX)
		joint->all[joint->all_count++] = (struct component){.job = item};
	return 0;
}

/* Says what the records say of a component. */
static struct osp_component seen(const struct joint *joint, const job_record_t *component)
{
	const job_record_t *job = joint->call->job;
	bool own = component == job, may_choose = shadow_may_choose(component, job->part_ptr);

	return (struct osp_component){
		.own = own,
		.active = is_active(component),
		.beside = shadow_is_beside(job, component),
		.may_choose = may_choose,
		.planned_in = !own && may_choose ? shadow_planned_in(component) : NULL,
	};
}

/*
 * Returns how many nodes a component has to choose from. It decides only which of them is asked
 * about first, so its --extra counts as it was last looked at. One that was not looked at yet is
 * left to the next call once half of this one's time is over; the other half is for questions, each
 * of which looks at it as it is.
 */
static uint32_t choice_of(const struct joint *joint, job_record_t *component)
{
	bool may_look = shadow_call_elapsed_ms(joint->call) <= OSP_CHOOSE_BUDGET_MS / 2;
	struct shadow_gang gang = {.job = component, .usable = joint->scratch};
	struct osp_nodeset *nodes;
	uint32_t count;

	osp_nodeset_clear(joint->scratch);
	nodes = shadow_gang_prospects_but_extra(&gang);
	if (nodes)
		shadow_extra_drop_lately(component, nodes, may_look);
	count = nodes ? osp_nodeset_count(nodes) : 0;
	free(nodes);
	return count;
}

/*
 * Lists the components before it looks at them: Slurm's list is locked while it is walked, and what
 * follows walks it too.
 */
static void look_at_components(struct joint *joint, bool leaves_out)
{
	part_record_t *partition = joint->call->job->part_ptr;
	struct osp_component components[OSP_COMPONENTS_MAX];
	uint32_t choice_nodes[OSP_COMPONENTS_MAX];
	struct osp_effective effective;

	joint->all_count = 0;
	list_for_each(components_of(joint->call->job), add_component, joint);
	for (uint32_t i = 0; i < joint->all_count; i++)
		components[i] = seen(joint, joint->all[i].job);
	osp_components_list(components, joint->all_count, partition, leaves_out, &joint->list);
	if (joint->list.count > joint->count_max)
		joint->count_max = joint->list.count;
	for (uint32_t i = 0; i < joint->list.count; i++) {
		uint32_t which = joint->list.order[i];
		struct component *component = &joint->all[which];

		component->was_in = component->job->part_ptr;
		component->job->part_ptr = partition;
		add_taken(joint, component->job);
		if (shadow_gang_request(component->job, &effective))
			osp_request_add_promise(&joint->effective, &effective,
						shadow_state.topology);
		choice_nodes[which] = choice_of(joint, component->job);
	}
	osp_components_sort(&joint->list, choice_nodes);
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
	call->req_nodes = shadow_most_nodes(call->job) && !(call->job->bit_flags & USE_MIN_NODES)
				  ? call->max_nodes
				  : call->min_nodes;
}

/* Returns a component of lib/choose's. */
static job_record_t *component_of(const struct joint *joint, uint32_t number)
{
	const struct osp_component_list *list = &joint->list;
	uint32_t which =
		number < list->count ? list->order[number] : list->left_out[number - list->count];

	return joint->all[which].job;
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
 * OSP_COMPONENTS_MAX or more has none. */
static const struct partitions *partitions_of(struct joint *joint, const job_record_t *component)
{
	static const struct partitions none;
	uint32_t offset = component->het_job_offset;
	struct partitions *partitions;

	if (offset >= OSP_COMPONENTS_MAX)
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
				   .tail = joint->call->tail,
				   .began = joint->call->began,
				   .one_node_calls = joint->call->one_node_calls};
	uint64_t flags = component->bit_flags;

	set_size(&call);
	call.bitmap = bit_alloc(node_record_count);
	shadow_to_bitmap(call.bitmap, offered);
	if (now_only)
		component->bit_flags |= TEST_NOW_ONLY;
	shadow_try_if(&call, note_answer, &answer);
	joint->call->one_node_calls = call.one_node_calls;
	component->bit_flags = flags;
	bit_free(call.bitmap);
	if (answer.found && !partition && joint->plan)
		osp_component_plan_says(joint->plan, component->het_job_offset, component->part_ptr,
					nodes, answer.start_s);
	component->part_ptr = was_in;
	*start_s = answer.start_s;
	return answer.found;
}

/* Returns the plan of a component. Nothing is reported when one starts: backfill's last plan may
 * be another partition's, and the main scheduler may have taken its nodes. */
static const struct osp_nodeset *said(void *context, uint32_t number, bool this_call,
				      int64_t *start_s)
{
	const struct joint *joint = context;
	const job_record_t *component = component_of(joint, number);

	return joint->plan ? osp_component_plan_said(joint->plan, component->het_job_offset,
						     component->part_ptr, this_call, start_s)
			   : NULL;
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
 * first. */
static uint32_t find_domains(struct joint *joint)
{
	const struct shadow_gang *gang = &joint->gang;
	struct osp_place_input input = shadow_gang_input(gang);
	const struct osp_place_domain *domains;
	uint32_t candidates, count;

	if (!gang->level)
		return 0;  /* anywhere, or unknown */
	input.kind = NULL; /* components may be of different kinds */
	input.kind_count = 0;
	input.free_only = false;
	domains = osp_place_order(shadow_state.place, &input, &candidates, &count);
	joint->domains = calloc(candidates + 1, sizeof(*joint->domains));
	return joint->domains ? osp_components_domains(shadow_state.topology, gang->level, domains,
						       candidates, joint->taken, joint->domains)
			      : 0;
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

static void fill(struct joint *joint, struct osp_components_input *input)
{
	const struct shadow_call *call = joint->call;
	const job_record_t *job = call->job;
	struct osp_component_plan *plan = joint->plan;
	bool slot_waits = OSP_SLOT_START_S(&call->tail) > time(NULL);

	*input = (struct osp_components_input){
		.count = joint->list.count,
		.left_out_count = joint->list.left_out_count,
		.own = joint->list.own,
		.open = joint->list.open,
		/* a yes would only keep more nodes, and from the other components too */
		.never = plan &&
			 osp_component_plan_is_elsewhere(plan, job->het_job_offset, job->part_ptr,
							 shadow_first_moment_s(call)),
		.question_us = shadow_state.node_count / NODES_A_US,
		.later_helps = call->mode == SELECT_MODE_WILL_RUN &&
			       !(call->job->bit_flags & TEST_NOW_ONLY),
		.given = joint->gang.usable,
		.taken = joint->taken,
		.kept = joint->kept,
		.settling = slot_waits ? NULL : joint->gang.settling,
		.stuck = joint->gang.stuck,
		.topology = shadow_state.topology,
		.may_preempt = joint->candidates != NULL,
		.all_start_s = plan ? osp_component_plan_all_start_s(plan) : 0,
		.search = plan ? osp_component_plan_search(plan, job->part_ptr) : NULL,
	};
	input->domain_count = find_domains(joint);
	input->domains = joint->domains;
}

/*
 * Returns the nodes that Slurm could have offered for the component asked about and did not. Those
 * that its --extra excludes are kept for nobody: for a start Slurm takes them out, later we do.
 * NULL if memory ran out.
 */
static struct osp_nodeset *kept_nodes(const struct joint *joint)
{
	const struct shadow_call *call = joint->call;
	struct osp_nodeset *kept = call->offered ? shadow_gang_prospects_but_extra(&joint->gang)
						 : shadow_gang_prospects(&joint->gang);

	shadow_from_bitmap(joint->scratch, call->offered ? call->offered : call->bitmap);
	if (kept)
		osp_nodeset_and_not(kept, joint->scratch);
	return kept;
}

static bool begin(void *context, bool leaves_out, struct osp_components_input *input)
{
	struct joint *joint = context;

	bit_copybits(joint->call->bitmap, joint->came);
	joint->effective = *joint->own;
	joint->taken = osp_nodeset_new(shadow_state.node_count);
	joint->scratch = osp_nodeset_new(shadow_state.node_count);
	if (!joint->taken || !joint->scratch)
		return false;
	if (joint->call->mode == SELECT_MODE_WILL_RUN && !joint->plan)
		joint->plan = shadow_plan_begin(joint->call, joint->scratch);
	look_at_components(joint, leaves_out);
	if (!begin_gang(joint))
		return false;
	joint->kept = kept_nodes(joint);
	if (!joint->kept)
		return false;
	/* components share no nodes (_het_job_start_now() in backfill.c) */
	osp_nodeset_and_not(joint->gang.usable, joint->taken);
	fill(joint, input);
	return true;
}

/* Ends begin(). */
static void end(void *context)
{
	struct joint *joint = context;

	for (uint32_t i = 0; i < joint->all_count; i++) {
		if (joint->all[i].was_in)
			joint->all[i].job->part_ptr = joint->all[i].was_in;
	}
	joint->all_count = joint->list.count = joint->list.left_out_count = 0;
	shadow_gang_clear(&joint->gang);
	joint->gang = (struct shadow_gang){.level = 0};
	free(joint->taken);
	free(joint->kept);
	free(joint->scratch);
	free(joint->domains);
	joint->taken = joint->kept = joint->scratch = NULL;
	joint->domains = NULL;
}

static bool is_start(const struct shadow_call *call)
{
	return call->mode == SELECT_MODE_RUN_NOW || shadow_is_first_moment(call);
}

/* Keeps the call's yes; the next question finds out whether the component has been planned as early
 * in another partition. */
static void keep_answer(const struct joint *joint, int64_t all_start_s)
{
	struct osp_nodeset *nodes = joint->plan ? osp_nodeset_new(shadow_state.node_count) : NULL;

	if (!nodes)
		return;
	shadow_from_bitmap(nodes, joint->call->bitmap);
	osp_component_plan_keep(joint->plan, nodes, all_start_s);
	free(nodes);
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

	shadow_state_refresh(time(NULL));
	shadow_count_refresh(time(NULL));
	joint.came = bit_copy(call->bitmap);
	osp_choose_components(shadow_state.node_count, &calls, &choice);
	if (choice.found)
		keep_answer(&joint, choice.start_s);
	else
		bit_copybits(call->bitmap, joint.came);
	bit_free(joint.came);
	if (osp_components_to_be_said(&choice, is_start(call)))
		say_why(&joint);
	if (choice.found)
		return SLURM_SUCCESS;
	return call->rc == SLURM_SUCCESS ? OSP_ERROR_NO_DOMAIN : call->rc;
}
