/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_quarantine.c - keeps a bad node out of use where a drain would end its instance */
#include "onespine_config.h"
#include "gate/gate_act_private.h"

#include <string.h>

#include "gate/gate_job.h"
#include "host/slurm/controller_quarantine.h"

/* Returns where the node is among those in quarantine, the longest first; their number if it is
 * not. */
static size_t place_of(const struct osp_quarantine_list *list, const char *node)
{
	size_t i = 0;

	while (i < list->count && strcmp(list->nodes[i].node, node) != 0)
		i++;
	return i;
}

/* Gives the place up if gates of other gangs were first: no more than the policy's number are
 * kept. */
static bool is_one_too_many(const struct osp_gate_policy *policy, const char *node,
			    uint64_t until_ms)
{
	struct osp_quarantine_list list;
	bool too_many = false;
	size_t place;

	if (osp_controller_quarantined(until_ms, &list) == 0) {
		place = place_of(&list, node);
		too_many = place < list.count && place >= policy->quarantine &&
			   osp_controller_unquarantine(&list.nodes[place], until_ms) == 0;
	}
	osp_quarantine_list_free(&list);
	return too_many;
}

static bool reserve(const struct osp_gate_here *here, const char *name, const char *instance,
		    uint64_t until_ms)
{
	int error = osp_controller_quarantine(name, instance, until_ms);

	if (error) {
		gate_act_say("%s: no quarantine, it is drained: %s", name,
			     osp_controller_words(error));
		return false;
	}
	return !is_one_too_many(here->policy, name, until_ms);
}

bool gate_act_quarantine(const struct osp_gate_here *here, const struct osp_gate_sentence *sentence,
			 const struct osp_controller_node *node, uint64_t until_ms)
{
	const char *name = here->gang->nodes[sentence->rank];
	enum osp_quarantine_choice choice;
	struct osp_quarantine_list list;
	int error;

	if (!here->policy->quarantine || !here->job->clustermgtd)
		return false;
	error = osp_controller_quarantined(until_ms, &list);
	choice = error ? OSP_QUARANTINE_DRAIN
		       : osp_quarantine_choose(here->policy, list.nodes, list.count, name);
	osp_quarantine_list_free(&list);
	if (gate_act_failed(error, "asking for nodes in quarantine"))
		return false;
	if (choice == OSP_QUARANTINE_ALREADY) {
		gate_act_say("%s is in quarantine already", name);
		return true;
	}
	if (choice == OSP_QUARANTINE_DRAIN) {
		gate_act_say("%s is drained: quarantine is full (%u)", name,
			     here->policy->quarantine);
		return false;
	}
	if (!reserve(here, name, node ? node->instance : NULL, until_ms))
		return false;
	gate_act_say("%s in quarantine for %u hours at most: %s", name, here->policy->quarantine_h,
		     sentence->reason);
	return true;
}
