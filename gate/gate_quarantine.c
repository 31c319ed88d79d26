/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_quarantine.c - keeps a bad node out of use where a drain would end its instance */
#include "lib/base/text.h"
#include "onespine_config.h"
#include "gate/gate_act_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate_job.h"
#include "host/slurm/controller_quarantine.h"

/* Returns whether the policy and the platform are such. */
static bool applies(const struct osp_gate_here *here)
{
	return here->policy->quarantine && here->job->clustermgtd;
}

/* The nodes in quarantine, as slurmctld last said: one question for the breaker and for the choice,
 * and one after each reservation. The last is for gates that act at the same time. */
static struct osp_quarantine_list seen;
static bool is_seen;

static int look(uint64_t until_ms)
{
	int error;

	osp_quarantine_list_free(&seen);
	error = osp_controller_quarantined(until_ms, &seen);
	is_seen = error == 0;
	return error;
}

int gate_act_add_marks(const struct osp_gate_here *here, struct osp_breaker_mark **marks,
		       size_t *count, uint64_t until_ms)
{
	struct osp_breaker_mark *more;
	int error = 0;

	if (!applies(here))
		return 0;
	error = look(until_ms);
	if (error)
		return error;
	more = realloc(*marks, (*count + seen.count + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	*marks = more;
	for (size_t i = 0; i < seen.count; i++)
		more[(*count)++] = (struct osp_breaker_mark){.since_s = seen.nodes[i].since_s,
							     .quarantined = true};
	return 0;
}

/* Drains a node and then deletes its reservation, so that no job starts there in between. */
static void give_up(const struct osp_quarantined *place, const struct osp_gate_sentence *sentence,
		    const struct osp_controller_node *node, uint64_t until_ms)
{
	if (gate_act_drain_now(place->node, sentence, node, until_ms)) {
		gate_act_say("%s: other gates filled quarantine first", place->node);
		(void)osp_controller_unquarantine(place, until_ms);
	} /* else it stays in quarantine, which is as good */
}

/*
 * Gives the place up if gates of other gangs were first: no more than the policy's number are kept.
 * Returns whether it did.
 */
static bool is_one_too_many(const struct osp_gate_here *here,
			    const struct osp_gate_sentence *sentence,
			    const struct osp_controller_node *node, uint64_t until_ms)
{
	bool too_many;
	size_t place;

	if (look(until_ms))
		return false;
	place = osp_quarantine_find(seen.nodes, seen.count, here->gang->nodes[sentence->rank]);
	too_many = place < seen.count && place >= here->policy->quarantine;
	if (too_many)
		give_up(&seen.nodes[place], sentence, node, until_ms);
	return too_many;
}

/* Asks what becomes of the node; OSP_QUARANTINE_DRAIN also if that is not known. */
static enum osp_quarantine_choice choose(const struct osp_gate_here *here, const char *name,
					 uint64_t until_ms)
{
	enum osp_quarantine_choice choice;
	int error = is_seen ? 0 : look(until_ms);

	if (gate_act_failed(error, "asking for nodes in quarantine"))
		return OSP_QUARANTINE_DRAIN;
	choice = osp_quarantine_choose(here->policy, seen.nodes, seen.count, name);
	if (choice == OSP_QUARANTINE_DRAIN)
		gate_act_say("%s is drained: quarantine is full (%u)", name,
			     here->policy->quarantine);
	return choice;
}

bool gate_act_quarantine(const struct osp_gate_here *here, const struct osp_gate_sentence *sentence,
			 const struct osp_controller_node *node, uint64_t until_ms)
{
	const char *name = here->gang->nodes[sentence->rank];
	int error;

	/* a reservation with MAINT or OVERLAP would get the node all the same */
	if (!applies(here) || (gate_act_seen.job_known && gate_act_seen.job.reserved))
		return false;
	switch (choose(here, name, until_ms)) {
	case OSP_QUARANTINE_DRAIN:
		return false;
	case OSP_QUARANTINE_ALREADY:
		gate_act_say("%s is in quarantine already", name);
		return true;
	case OSP_QUARANTINE_KEEP:
		break;
	}
	error = osp_controller_quarantine(name, node ? node->instance : NULL, until_ms);
	if (error) {
		gate_act_say("%s: no quarantine, it is drained: %s", name,
			     osp_controller_words(error));
		return false;
	}
	if (!is_one_too_many(here, sentence, node, until_ms))
		gate_act_say("%s in quarantine for %u hour%s at most: %s", name,
			     here->policy->quarantine_h, osp_plural_s(here->policy->quarantine_h),
			     sentence->reason);
	return true;
}
