/* SPDX-License-Identifier: GPL-2.0-or-later */
/* components.c - where and when the components of one heterogeneous job start, in one domain */
#include "onespine_config.h"
#include "lib/choose/components_private.h"

#include <stdlib.h>

#include "lib/choose/choose.h"

/* Where all components can start soonest. */
struct soonest {
	bool found;
	uint32_t within;
	int64_t start_s;
};

static int64_t first_moment_s(const struct osp_joint *joint)
{
	return joint->calls->first_moment_s(joint->calls->context);
}

int64_t osp_joint_elapsed_ms(const struct osp_joint *joint)
{
	int64_t elapsed_ms = joint->calls->elapsed_ms(joint->calls->context);
	int64_t counted_ms = (int64_t)joint->asked * joint->input->question_us / 1000;

	return elapsed_ms > counted_ms ? elapsed_ms : counted_ms;
}

bool osp_joint_may_ask(struct osp_joint *joint)
{
	if (!joint->asked || osp_joint_elapsed_ms(joint) <= OSP_CHOOSE_BUDGET_MS)
		return true;
	joint->ran_out = true;
	return false;
}

/* --- the other components --------------------------------------------------------------------- */

void osp_joint_add(struct osp_joint *joint, const struct osp_nodeset *nodes, int64_t start_s)
{
	osp_nodeset_or(joint->all, nodes);
	if (start_s > joint->start_s)
		joint->start_s = start_s;
}

void osp_joint_start(struct osp_joint *joint)
{
	osp_nodeset_assign(joint->all, joint->input->taken);
	joint->start_s = 0;
}

static bool is_within(struct osp_joint *joint, const struct osp_nodeset *nodes,
		      const struct osp_nodeset *within)
{
	osp_nodeset_assign(joint->offered, nodes);
	osp_nodeset_and_not(joint->offered, within);
	return osp_nodeset_empty(joint->offered);
}

bool osp_joint_is_open(struct osp_joint *joint, const struct osp_nodeset *nodes, int64_t start_s)
{
	if (joint->now_only && start_s > first_moment_s(joint))
		return false;
	if (osp_nodeset_overlap(nodes, joint->input->kept) ||
	    osp_nodeset_overlap(nodes, joint->all))
		return false;
	if (joint->without && osp_nodeset_overlap(nodes, joint->without))
		return false;
	return !joint->within || is_within(joint, nodes, joint->within);
}

/*
 * Adds what was said about the component, in the same partition, when others were asked about. It
 * decides only where the own one is planned: the component itself is asked about again.
 */
static bool recall(struct osp_joint *joint, uint32_t component)
{
	const struct osp_nodeset *nodes;
	int64_t start_s;

	if (!joint->recalls)
		return false;
	nodes = joint->calls->said(joint->calls->context, component, joint->recalls_all, &start_s);
	if (!nodes || !osp_joint_is_open(joint, nodes, start_s))
		return false;
	osp_joint_add(joint, nodes, start_s);
	joint->recalled = true;
	return true;
}

/* Leaves in joint->offered what the component was planned on, if it was. */
static void keep_to_plan(struct osp_joint *joint, uint32_t component)
{
	const struct osp_nodeset *nodes =
		joint->as_planned ? joint->calls->planned(joint->calls->context, component) : NULL;

	if (nodes)
		osp_nodeset_and(joint->offered, nodes);
}

bool osp_joint_ask(struct osp_joint *joint, uint32_t component, uint32_t partition, bool now_only,
		   int64_t *start_s)
{
	const struct osp_components_calls *calls = joint->calls;

	osp_nodeset_clear(joint->offered);
	if (!calls->prospects(calls->context, component, partition, joint->offered))
		return false;
	osp_nodeset_and_not(joint->offered, joint->input->kept);
	osp_nodeset_and_not(joint->offered, joint->all);
	if (joint->without)
		osp_nodeset_and_not(joint->offered, joint->without);
	if (joint->within && !partition)
		osp_nodeset_and(joint->offered, joint->within);
	if (component == joint->input->own)
		osp_nodeset_and(joint->offered, joint->input->given);
	keep_to_plan(joint, component);
	joint->asked++;
	return calls->ask(calls->context, component, partition, joint->offered, now_only,
			  joint->preempting, joint->answer, start_s);
}

/* Adds the nodes on which a component is planned, if there is no time to ask about it before it
 * starts. */
static bool believe(struct osp_joint *joint, uint32_t component)
{
	const struct osp_components_calls *calls = joint->calls;
	const struct osp_nodeset *nodes =
		joint->input->later_helps ? NULL : calls->planned(calls->context, component);

	if (!nodes || !osp_joint_is_open(joint, nodes, 0))
		return false;
	osp_joint_add(joint, nodes, 0);
	return true;
}

/* Asks about a component that has no nodes yet, and adds the answer to what the others would have.
 */
static bool ask_for_another(struct osp_joint *joint, uint32_t component)
{
	const struct osp_components_calls *calls = joint->calls;
	int64_t start_s;

	if (component == joint->input->own || calls->is_placed(calls->context, component) ||
	    recall(joint, component))
		return true;
	if (!osp_joint_may_ask(joint))
		return believe(joint, component);
	if (!osp_joint_ask(joint, component, 0, joint->now_only, &start_s))
		return false;
	osp_joint_add(joint, joint->answer, start_s);
	return !joint->now_only || start_s <= first_moment_s(joint);
}

/* Asks about all that have no nodes yet. */
static bool ask_for_others(struct osp_joint *joint)
{
	for (uint32_t i = 0; i < joint->input->count; i++) {
		if (!ask_for_another(joint, i))
			return false;
	}
	return true;
}

/* --- those that are left to other partitions -------------------------------------------------- */

/* Returns whether it would start now in one of its other partitions, beside the others. */
static bool can_start_elsewhere(struct osp_joint *joint, uint32_t component)
{
	const struct osp_components_calls *calls = joint->calls;
	uint32_t count = calls->elsewhere(calls->context, component);
	int64_t start_s;

	for (uint32_t i = 1; i <= count && osp_joint_may_ask(joint); i++) {
		if (!osp_joint_ask(joint, component, i, true, &start_s) ||
		    start_s > first_moment_s(joint) ||
		    !calls->keeps_promise(calls->context, component, i, joint->answer))
			continue;
		osp_nodeset_or(joint->all, joint->answer);
		return true;
	}
	return false;
}

/* Tells so of each that was left out. */
static bool others_can_start(struct osp_joint *joint)
{
	for (uint32_t i = 0; i < joint->input->left_out_count; i++) {
		if (!can_start_elsewhere(joint, joint->input->count + i))
			return false;
	}
	return true;
}

/* --- the own component ------------------------------------------------------------------------ */

/* Returns whether all of them have room beside the answer for the own one, and keep the promise
 * there. */
static bool all_can_stand(void *context, const struct osp_nodeset *nodes, int64_t start_s)
{
	struct osp_joint *joint = context;
	const struct osp_components_calls *calls = joint->calls;

	joint->can_stand = false;
	if (joint->now_only && start_s > first_moment_s(joint))
		return false;
	if (!joint->others_first)
		osp_joint_start(joint);
	osp_joint_add(joint, nodes, start_s);
	if (!joint->others_first && !ask_for_others(joint))
		return false;
	joint->can_stand = calls->all_keep_promise(calls->context, joint->all);
	joint->choice->splits |= !joint->can_stand;
	if (joint->can_stand && joint->leaves_out && joint->now_only)
		joint->can_stand = others_can_start(joint);
	return joint->can_stand && !joint->only_looks;
}

bool osp_joint_ask_for_own(struct osp_joint *joint)
{
	const struct osp_components_calls *calls = joint->calls;

	joint->asked++;
	osp_nodeset_assign(joint->offered, joint->input->given);
	keep_to_plan(joint, joint->input->own);
	if (joint->within)
		osp_nodeset_and(joint->offered, joint->within);
	if (joint->without)
		osp_nodeset_and_not(joint->offered, joint->without);
	if (joint->others_first)
		osp_nodeset_and_not(joint->offered, joint->all);
	return calls->ask_own(calls->context, joint->offered, joint->now_only, joint->preempting,
			      all_can_stand, joint);
}

/* Asks about the others first: the nodes that the scheduler would take for this one may be the only
 * ones for another. */
static bool ask_behind_others(struct osp_joint *joint)
{
	bool yes;

	osp_joint_start(joint);
	joint->others_first = true;
	yes = ask_for_others(joint) && osp_joint_may_ask(joint) && osp_joint_ask_for_own(joint);
	joint->others_first = false;
	return yes;
}

/* --- where and when --------------------------------------------------------------------------- */

void osp_joint_look_in(struct osp_joint *joint, uint32_t domain)
{
	joint->within = NULL;
	if (domain == OSP_NO_DOMAIN)
		return;
	osp_nodeset_clear(joint->domain);
	osp_topology_add_domain_nodes(joint->input->topology, domain, joint->domain);
	joint->within = joint->domain;
}

/* Asks within that domain; the number of domains means anywhere. For what has already been
 * answered with yes there is time. */
static bool ask_within(struct osp_joint *joint, uint32_t i)
{
	const struct osp_components_input *input = joint->input;
	bool again = !joint->now_only && !joint->only_looks, yes;

	joint->can_stand = false;
	if (!again && !osp_joint_may_ask(joint))
		return false;
	osp_joint_look_in(joint, i < input->domain_count ? input->domains[i] : OSP_NO_DOMAIN);
	yes = osp_joint_ask_for_own(joint);
	if (joint->within && !joint->can_stand)
		yes = ask_behind_others(joint);
	joint->within = NULL;
	return yes;
}

/* Asks where they were planned. For a start the scheduler may take more nodes than it has planned,
 * so that all would be a gang. */
static bool start_as_planned(struct osp_joint *joint)
{
	const struct osp_components_calls *calls = joint->calls;
	const struct osp_components_input *input = joint->input;
	const struct osp_nodeset *planned =
		input->later_helps ? NULL : calls->planned(calls->context, input->own);
	bool yes;

	if (!planned || !is_within(joint, planned, input->given))
		return false;
	joint->as_planned = true;
	yes = osp_joint_ask_for_own(joint);
	joint->as_planned = false;
	return yes;
}

/* Asks where they were planned, then where the scheduler would place them, then in one domain after
 * the other. */
static bool start_now(struct osp_joint *joint)
{
	const struct osp_components_input *input = joint->input;
	bool yes;

	/* known from the question about another one */
	if (joint->recalls && input->all_start_s > first_moment_s(joint)) {
		joint->recalled = true;
		return false;
	}
	joint->now_only = true;
	joint->without = input->settling;
	yes = start_as_planned(joint) || ask_within(joint, input->domain_count);
	for (uint32_t i = 0; !yes && i < input->domain_count && !joint->ran_out; i++)
		yes = ask_within(joint, i);
	joint->now_only = false;
	return yes;
}

/* Notes when all of them could start there. */
static void look_within(struct osp_joint *joint, uint32_t i, struct soonest *soonest)
{
	ask_within(joint, i);
	if (!joint->can_stand || (soonest->found && joint->start_s >= soonest->start_s))
		return;
	*soonest = (struct soonest){.found = true, .within = i, .start_s = joint->start_s};
}

/* Plans the start of all of them where they can start soonest. No place is sooner than the one that
 * the scheduler itself takes. */
static bool start_later(struct osp_joint *joint, const struct osp_nodeset *without)
{
	uint32_t count = joint->input->domain_count;
	struct soonest soonest = {.found = false};
	bool yes, anywhere;

	joint->without = without;
	joint->only_looks = true;
	look_within(joint, count, &soonest);
	anywhere = soonest.found;
	for (uint32_t i = 0; !anywhere && i < count && !joint->ran_out; i++)
		look_within(joint, i, &soonest);
	joint->only_looks = false;
	joint->recalls_all = joint->recalls;
	yes = soonest.found && ask_within(joint, soonest.within);
	joint->recalls_all = false;
	return yes;
}

static bool place(struct osp_joint *joint)
{
	const struct osp_components_input *input = joint->input;
	bool yes = false;

	if (joint->when != OSP_JOINT_LATER) {
		joint->preempting = false;
		yes = start_now(joint);
		joint->preempting = input->may_preempt;
		if (!yes && input->may_preempt)
			yes = start_now(joint);
	}
	joint->preempting = input->may_preempt;
	if (yes || joint->when == OSP_JOINT_NOW || !input->later_helps)
		return yes;
	if (input->stuck && !osp_nodeset_empty(input->stuck))
		yes = start_later(joint, input->stuck);
	return yes || start_later(joint, NULL);
}

/* Asks anew if what was said before led to a no: it no longer holds, maybe. */
static bool place_all(struct osp_joint *joint)
{
	bool yes;

	joint->recalls = true;
	joint->recalled = false;
	yes = place(joint);
	if (!yes && joint->recalled && !joint->ran_out) {
		joint->recalls = false;
		yes = place(joint);
	}
	if (!yes && joint->ran_out)
		osp_components_ran_out(joint->input);
	return yes;
}

/* Decides as the calls before, which had too little time. */
static bool place_slowly(struct osp_joint *joint)
{
	if (!joint->leaves_out && osp_components_leave_out(joint->input))
		return false; /* as the next attempt does */
	joint->ended = true;
	return osp_components_go_on(joint);
}

/* Writes into *open whether some of those that count may be left out. Without such, it looks for a
 * start at any time. */
static bool place_those(struct osp_joint *joint, bool *open)
{
	const struct osp_components_calls *calls = joint->calls;
	struct osp_components_input input = {.count = 0};
	bool yes = false;

	if (calls->begin(calls->context, joint->leaves_out, &input)) {
		*open = !input.never && input.open;
		if (!*open && !joint->leaves_out)
			joint->when = OSP_JOINT_ANY_TIME;
		joint->input = &input;
		if (!input.never)
			yes = osp_components_are_slow(&input) ? place_slowly(joint)
							      : place_all(joint);
		joint->ended |= joint->ran_out;
	}
	calls->end(calls->context);
	return yes;
}

static void choose(struct osp_joint *joint)
{
	static const enum osp_joint_when order[] = {OSP_JOINT_NOW, OSP_JOINT_LATER};
	bool open = true, yes = false, none;

	for (uint32_t i = 0; i < 2 && !yes && open && !joint->ended; i++) {
		for (uint32_t out = 0; out < 2 && !yes && open && !joint->ended; out++) {
			joint->when = order[i];
			joint->leaves_out = out;
			yes = place_those(joint, out ? &none : &open);
		}
	}
	joint->choice->found = yes;
	joint->choice->start_s = joint->start_s;
}

void osp_choose_components(uint32_t node_count, const struct osp_components_calls *calls,
			   struct osp_components_choice *choice)
{
	struct osp_joint joint = {.calls = calls, .choice = choice};

	*choice = (struct osp_components_choice){.found = false};
	joint.domain = osp_nodeset_new(node_count);
	joint.all = osp_nodeset_new(node_count);
	joint.offered = osp_nodeset_new(node_count);
	joint.answer = osp_nodeset_new(node_count);
	if (joint.domain && joint.all && joint.offered && joint.answer)
		choose(&joint);
	free(joint.domain);
	free(joint.all);
	free(joint.offered);
	free(joint.answer);
}
