/* SPDX-License-Identifier: GPL-2.0-or-later */
/* components_slow.c - components of one job where the scheduler's answers are slow: a few a call */
#include "onespine_config.h"
#include "lib/choose/components_private.h"

#include <stdlib.h>

#include "lib/choose/choose.h"

/* What was answered about the components in one place, by their number in the job. */
struct answers {
	uint32_t domain; /* OSP_NO_DOMAIN: anywhere */
	int64_t all_start_s;
	struct osp_nodeset *nodes[OSP_COMPONENTS_MAX]; /* NULL: not asked yet */
	int64_t start_s[OSP_COMPONENTS_MAX];
};

struct osp_components_search {
	bool slow;
	bool leaves_out; /* those that may be left out, in this round */
	bool planned;
	uint32_t first; /* the one that is asked about first in this round */
	struct answers looked, plan;
};

/* What is known of a place. */
enum outcome { OPEN, VAIN, FITS };

static void forget_answers(struct answers *answers)
{
	for (uint32_t i = 0; i < OSP_COMPONENTS_MAX; i++) {
		free(answers->nodes[i]);
		answers->nodes[i] = NULL;
	}
	answers->domain = OSP_NO_DOMAIN;
}

static void forget_all(struct osp_components_search *search)
{
	forget_answers(&search->looked);
	forget_answers(&search->plan);
	search->slow = search->leaves_out = search->planned = false;
	search->first = 0;
}

void osp_components_search_free(struct osp_components_search *search)
{
	if (search)
		forget_all(search);
	free(search);
}

bool osp_components_are_slow(const struct osp_components_input *input)
{
	return input->later_helps && input->search && *input->search && (*input->search)->slow;
}

bool osp_components_leave_out(const struct osp_components_input *input)
{
	return input->open && (*input->search)->leaves_out;
}

void osp_components_ran_out(const struct osp_components_input *input)
{
	struct osp_components_search *search = input->search ? *input->search : NULL;

	if (!input->search)
		return;
	if (!search) {
		*input->search = search = calloc(1, sizeof(*search));
		if (!search)
			return;
		forget_all(search);
	}
	search->slow = true;
}

/* --- one place after the other ---------------------------------------------------------------- */

static bool is_offered(const struct osp_components_input *input, uint32_t domain)
{
	for (uint32_t i = 0; i < input->domain_count; i++) {
		if (input->domains[i] == domain)
			return true;
	}
	return domain == OSP_NO_DOMAIN;
}

/* Goes on to the next domain by number, since their order changes between calls. */
static void look_elsewhere(const struct osp_joint *joint, struct osp_components_search *search)
{
	const struct osp_components_input *input = joint->input;
	uint32_t now = search->looked.domain, next = OSP_NO_DOMAIN;

	for (uint32_t i = 0; i < input->domain_count; i++) {
		uint32_t domain = input->domains[i];

		if ((now == OSP_NO_DOMAIN || domain > now) &&
		    (next == OSP_NO_DOMAIN || domain < next))
			next = domain;
	}
	forget_answers(&search->looked);
	search->looked.domain = next;
	if (next != OSP_NO_DOMAIN)
		return;
	search->first++;
	if (!search->planned)
		search->leaves_out = !search->leaves_out;
}

/* Adds what is known of the component, if it still could have that beside the others. */
static bool add_known(struct osp_joint *joint, const struct answers *answers, uint32_t component)
{
	uint32_t offset = joint->calls->offset(joint->calls->context, component);

	if (offset >= OSP_COMPONENTS_MAX || !answers->nodes[offset] ||
	    !osp_joint_is_open(joint, answers->nodes[offset], answers->start_s[offset]))
		return false;
	osp_joint_add(joint, answers->nodes[offset], answers->start_s[offset]);
	return true;
}

/* Keeps joint->answer. */
static bool remember(struct osp_joint *joint, struct answers *answers, uint32_t component,
		     int64_t start_s)
{
	uint32_t offset = joint->calls->offset(joint->calls->context, component);

	if (offset >= OSP_COMPONENTS_MAX)
		return true; /* it is asked about anew in the next call */
	if (!answers->nodes[offset])
		answers->nodes[offset] = osp_nodeset_new(joint->answer->place_count);
	if (!answers->nodes[offset])
		return false;
	osp_nodeset_assign(answers->nodes[offset], joint->answer);
	answers->start_s[offset] = start_s;
	return true;
}

static bool is_placed(const struct osp_joint *joint, uint32_t component)
{
	return component != joint->input->own &&
	       joint->calls->is_placed(joint->calls->context, component);
}

/* Asks about those of which nothing is known yet in the place looked at. */
static enum outcome look(struct osp_joint *joint, struct osp_components_search *search)
{
	const struct osp_components_input *input = joint->input;
	struct answers *looked = &search->looked;

	if (!is_offered(input, looked->domain) ||
	    (search->planned && looked->domain == search->plan.domain))
		return VAIN;
	osp_joint_start(joint);
	osp_joint_look_in(joint, looked->domain);
	for (uint32_t k = 0; k < input->count; k++) {
		uint32_t component = (search->first + k) % input->count;
		int64_t start_s;

		if (is_placed(joint, component) || add_known(joint, looked, component))
			continue;
		if (!osp_joint_may_ask(joint))
			return OPEN;
		if (!osp_joint_ask(joint, component, 0, false, &start_s))
			return VAIN;
		if (!remember(joint, looked, component, start_s))
			return OPEN;
		osp_joint_add(joint, joint->answer, start_s);
	}
	looked->all_start_s = joint->start_s;
	if (joint->calls->all_keep_promise(joint->calls->context, joint->all))
		return FITS;
	joint->choice->splits = true;
	return VAIN;
}

/* Makes a plan of what is known of the place looked at. */
static void plan_there(struct osp_components_search *search)
{
	struct answers before = search->plan;

	search->plan = search->looked;
	search->looked = before;
	forget_answers(&search->looked);
	search->looked.domain = search->plan.domain;
	search->planned = true;
}

/* Looks in one place after the other, until one is better than the plan, or the time is over. */
static void look_around(struct osp_joint *joint, struct osp_components_search *search)
{
	for (uint32_t n = 0; n <= joint->input->domain_count; n++) {
		enum outcome outcome = look(joint, search);
		bool better =
			outcome == FITS &&
			(!search->planned || search->looked.all_start_s < search->plan.all_start_s);

		joint->within = NULL;
		if (outcome == OPEN)
			return;
		if (better)
			plan_there(search);
		look_elsewhere(joint, search);
		if (better)
			return;
	}
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Asks for the own component where all had room, beside what is known of the others. */
static bool ask_as_planned(struct osp_joint *joint, struct osp_components_search *search)
{
	const struct osp_components_input *input = joint->input;
	bool yes;

	if (!is_offered(input, search->plan.domain))
		return false;
	osp_joint_start(joint);
	osp_joint_look_in(joint, search->plan.domain);
	for (uint32_t i = 0; i < input->count; i++) {
		if (i != input->own && !is_placed(joint, i) && !add_known(joint, &search->plan, i))
			return false;
	}
	joint->others_first = true;
	yes = osp_joint_ask_for_own(joint);
	joint->others_first = false;
	if (yes)
		search->plan.all_start_s = joint->start_s;
	return yes;
}

/* Returns whether a call could ask about all of them twice by now. */
static bool is_quick(const struct osp_joint *joint)
{
	return joint->asked && osp_joint_elapsed_ms(joint) * 2 * (joint->input->count + 1) <=
				       (int64_t)joint->asked * OSP_CHOOSE_BUDGET_MS;
}

bool osp_components_go_on(struct osp_joint *joint)
{
	const struct osp_components_input *input = joint->input;
	struct osp_components_search *search = *input->search;
	bool yes;

	joint->preempting = input->may_preempt;
	joint->without = input->stuck;
	/* once one is placed, the others go where it is */
	if (!search->planned ||
	    (osp_nodeset_empty(input->taken) &&
	     search->plan.all_start_s > joint->calls->first_moment_s(joint->calls->context)))
		look_around(joint, search);
	yes = search->planned && ask_as_planned(joint, search);
	joint->within = NULL;
	if (!yes) {
		search->planned = false;
		forget_answers(&search->plan);
	}
	if (is_quick(joint))
		forget_all(search);
	return yes;
}
