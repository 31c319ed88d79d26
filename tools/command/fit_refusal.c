/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_refusal.c - onespine fit: does sbatch itself refuse what sbatch --test-only refuses? */
#include "tools/command/fit_refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm/ask.h"
#include "tools/command/fit_gpus.h"
#include "tools/command/fit_segments.h"

/* Returns whether no domain could hold the gang by an answer of nodes' states. */
static bool lacks_nodes(const struct osp_fit *fit, const struct osp_fit_answer *answer)
{
	if (fit->asks_parts)
		return osp_fit_segments_never(fit->call, &fit->world, &fit->grown, &fit->question,
					      answer);
	for (uint32_t i = 0; i < answer->domain_count; i++)
		if (answer->domains[i].reason == OSP_PLACE_CANDIDATE ||
		    answer->domains[i].reason == OSP_PLACE_NOT_FREE)
			return false;
	return true;
}

/* Asks `question`, and returns whether no domain could hold the gang. */
static bool lacks_nodes_for(const struct osp_fit *fit, const struct osp_fit_question *question)
{
	struct osp_fit_answer answer = {.chosen = NULL};
	struct osp_error ignored = {.text = ""};
	bool lacks;

	lacks = osp_ask(&fit->world, question, &answer, &ignored) == 0 && lacks_nodes(fit, &answer);
	osp_answer_clear(&answer);
	return lacks;
}

/* Returns whether no domain could hold the gang with the nodes that are up and that no reservation
 * keeps from it: sbatch itself does not refuse it for that, as it does with --test-only. */
static bool is_for_lack_of_nodes(const struct osp_fit *fit)
{
	struct osp_fit_question question = fit->question;

	question.any_size = true;
	if (lacks_nodes_for(fit, &question))
		return true;
	question.reserved_is_out = true;
	return lacks_nodes_for(fit, &question);
}

bool osp_fit_needs_nodes_on_their_way(const struct osp_fit *fit)
{
	struct osp_fit_question question = fit->question;

	if (!osp_sbatch_lacks_nodes(&fit->sbatch) || !fit->answer.chosen)
		return false;
	question.every_node = true;
	question.gpus = osp_fit_least_gpus(fit);
	if (lacks_nodes_for(fit, &question))
		return false;
	question = fit->question;
	question.reserved_is_out = question.on_its_way_is_out = true;
	return !lacks_nodes(fit, &fit->answer) && lacks_nodes_for(fit, &question);
}

/* Asks about the nodes of a reservation, whatever their state. Returns whether no domain could hold
 * the gang there. */
static bool is_too_small(const struct osp_fit *fit, const struct osp_state_reservation *reservation)
{
	const struct osp_snapshot *snapshot = fit->world.snapshot;
	struct osp_fit_question question = fit->question;
	struct osp_error ignored = {.text = ""};
	struct osp_nodeset *outside = osp_nodeset_new(snapshot->node_count);
	struct osp_nodeset *inside = osp_nodeset_new(snapshot->node_count);
	char *list = NULL;
	bool lacks = false;

	if (outside && inside &&
	    osp_snapshot_add_hostlist(snapshot, reservation->nodes_text, false, reservation->name,
				      inside, &ignored) >= 0 &&
	    (!question.excluded_nodes ||
	     osp_snapshot_add_hostlist(snapshot, question.excluded_nodes, false, "-x", outside,
				       &ignored) >= 0)) {
		for (uint32_t n = 0; n < snapshot->node_count; n++)
			if (!osp_nodeset_test(inside, n))
				osp_nodeset_add(outside, n);
		list = osp_snapshot_hostlist(snapshot, outside);
	}
	if (list) {
		question.every_node = question.any_size = true;
		question.excluded_nodes = *list ? list : NULL;
		lacks = lacks_nodes_for(fit, &question);
	}
	free(list);
	free(inside);
	free(outside);
	return lacks;
}

/* Returns whether too few nodes of each domain have the features that the gang asks for, whatever
 * their state. */
static bool lacks_features(const struct osp_fit *fit)
{
	struct osp_fit_question question = fit->question;

	question.every_node = question.any_size = true;
	return question.features && lacks_nodes_for(fit, &question);
}

bool osp_fit_is_taken(struct osp_fit *fit)
{
	const struct osp_snapshot *snapshot = fit->world.snapshot;
	const struct osp_state_reservation *reservation =
		osp_snapshot_find_reservation(snapshot, fit->question.reservation);

	if (!osp_sbatch_lacks_nodes(&fit->sbatch))
		return false;
	/* another node's Extra may come to fit: Slurm lets any such job wait (select_nodes()) */
	if (fit->partition_says ||
	    (snapshot->obeys_extra && fit->call->values[OSP_OPTION_FIT_EXTRA]))
		return true;
	if (fit->answer.chosen && reservation && !reservation->others_too &&
	    reservation->start_s <= snapshot->time_s && is_too_small(fit, reservation)) {
		snprintf(fit->sbatch.cure, sizeof(fit->sbatch.cure),
			 "its reservation %.60s has too few nodes for it on one %.40s; 'scontrol "
			 "show reservation %.60s' lists them",
			 reservation->name,
			 osp_topology_level_name(fit->world.topology, fit->question.level),
			 reservation->name);
		return false;
	}
	if (fit->answer.chosen && lacks_features(fit)) {
		snprintf(fit->sbatch.cure, sizeof(fit->sbatch.cure),
			 "too few nodes of one %.40s have the features %.60s; 'sinfo -o \"%%N "
			 "%%f\"' lists what nodes have",
			 osp_topology_level_name(fit->world.topology, fit->question.level),
			 fit->question.features);
		return false;
	}
	return fit->answer.chosen && (fit->needs_nodes_on_their_way || is_for_lack_of_nodes(fit));
}

bool osp_fit_waits_by_reservation(struct osp_fit *fit)
{
	const struct osp_snapshot *snapshot = fit->world.snapshot;
	const struct osp_state_reservation *reservation =
		osp_snapshot_find_reservation(snapshot, fit->question.reservation);
	const char *says = fit->sbatch.says;

	if (!reservation || fit->sbatch.result != OSP_SBATCH_REFUSED)
		return false;
	fit->reservation_comes = strcmp(says, "Invalid time specified") == 0 &&
				 reservation->start_s > snapshot->time_s;
	fit->reservation_over = strcmp(says, "Requested reservation is invalid") == 0 &&
				osp_fit_begins_later(fit->call->values[OSP_OPTION_FIT_BEGIN]);
	return fit->reservation_comes || fit->reservation_over;
}
