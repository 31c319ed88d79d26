/* SPDX-License-Identifier: GPL-2.0-or-later */
/* large.c - a job that a policy holds to one domain if it is given many nodes */
#include "onespine_config.h"
#include "lib/choose/large.h"

/* What an answer of the scheduler's must be like to be taken. */
struct terms {
	const struct osp_large_input *input;
	const struct osp_large_calls *calls;
	int64_t before_s; /* it must start earlier than that; 0: at any time */
};

static bool is_acceptable(void *context, const struct osp_nodeset *nodes, int64_t start_s)
{
	const struct terms *terms = context;

	if (terms->before_s && start_s >= terms->before_s)
		return false;
	return osp_nodeset_count(nodes) < terms->input->from_nodes ||
	       terms->calls->is_together(terms->calls->context, nodes);
}

/* Starts it anywhere on fewer nodes than make a gang: the policy promises nothing for these. */
static bool start_small(const struct osp_large_input *input, const struct osp_large_calls *calls,
			int64_t before_s)
{
	struct terms terms = {input, calls, before_s};

	if (input->from_nodes <= 1 || input->least_nodes > input->from_nodes - 1)
		return false;
	return calls->ask(calls->context, input->from_nodes - 1, is_acceptable, &terms) ==
	       OSP_LARGE_YES;
}

/* Places it in one domain or, if that starts later or not at all, on fewer nodes. */
static bool place_or_start_small(const struct osp_large_input *input,
				 const struct osp_large_calls *calls)
{
	int64_t start_s = 0;

	if (!calls->place(calls->context, &start_s))
		return start_small(input, calls, 0);
	if (!input->later_helps || start_s <= input->now_s)
		return true;
	calls->set_aside(calls->context);
	if (!start_small(input, calls, start_s))
		calls->bring_back(calls->context);
	return true;
}

bool osp_choose_large(const struct osp_large_input *input, const struct osp_large_calls *calls)
{
	struct terms terms = {input, calls, 0};

	if (input->unknown_size) {
		switch (calls->ask(calls->context, 0, is_acceptable, &terms)) {
		case OSP_LARGE_NO:
			return false;
		case OSP_LARGE_YES:
			return true;
		case OSP_LARGE_OTHER:
			break;
		}
	}
	return place_or_start_small(input, calls);
}
