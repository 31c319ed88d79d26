/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_launch.c - onespine fit: a gang that starts on nodes which are launched for it */
#include "tools/command/fit_launch.h"

#include <stdlib.h>

#include "lib/place/launch.h"
#include "lib/policy/sentences.h"
#include "tools/command/command.h"

/* Returns whether a machine would be started for the node, and nobody knows where. */
static bool is_unlaunched(const struct osp_fit *fit, uint32_t node)
{
	const struct osp_fit_answer *answer = &fit->answer;

	return fit->world.snapshot->nodes[node].cloud && osp_nodeset_test(answer->boot, node) &&
	       osp_topology_domain_of(fit->world.topology, node, answer->input.level) ==
		       OSP_NO_DOMAIN;
}

/* Moves the nodes to be launched from `known` to `unlaunched`. */
static void part_nodes(const struct osp_fit *fit, struct osp_nodeset *known,
		       struct osp_nodeset *unlaunched)
{
	for (uint32_t n = osp_nodeset_next(known, 0); n < known->place_count;
	     n = osp_nodeset_next(known, n + 1)) {
		if (is_unlaunched(fit, n)) {
			osp_nodeset_add(unlaunched, n);
			osp_nodeset_remove(known, n);
		}
	}
}

bool osp_fit_finds_launch(struct osp_fit *fit, const struct osp_launchable *gang)
{
	const struct osp_place_input *place = &fit->answer.input;
	struct osp_nodeset *known, *unlaunched;

	if (!osp_world_launches(&fit->world, fit->question.partitions, gang))
		return false;
	known = osp_nodeset_copy(fit->answer.free);
	unlaunched = osp_nodeset_new(fit->answer.free->place_count);
	fit->launched = osp_nodeset_new(fit->answer.free->place_count);
	if (known && unlaunched && fit->launched) {
		const struct osp_launch_input input = {
			.topology = fit->world.topology,
			.level = place->level,
			.need_nodes = place->need_nodes,
			.known = known,
			.unlaunched = unlaunched,
			.placed = unlaunched,
			.required = place->required,
			.weight = place->weight,
			.kind = place->kind,
			.kind_count = place->kind_count,
		};

		part_nodes(fit, known, unlaunched);
		if (!osp_launch_nodes(&input, 0, false, fit->launched)) {
			free(fit->launched);
			fit->launched = NULL;
		}
	}
	free(known);
	free(unlaunched);
	return fit->launched && !osp_nodeset_empty(fit->launched);
}

static uint32_t count_unlaunched(const struct osp_fit *fit)
{
	uint32_t count = 0;

	for (uint32_t n = osp_nodeset_next(fit->launched, 0); n < fit->launched->place_count;
	     n = osp_nodeset_next(fit->launched, n + 1))
		count += is_unlaunched(fit, n);
	return count;
}

int osp_fit_print_launch(const struct osp_fit *fit)
{
	uint32_t count = osp_nodeset_count(fit->launched), unlaunched = count_unlaunched(fit);
	const char *level = osp_topology_level_name(fit->world.topology, fit->answer.input.level);
	struct osp_text text = OSP_TEXT_INIT;
	char says[OSP_SENTENCE_BYTES];
	json_t *root;

	osp_sentence_launches(level, count, unlaunched, says, sizeof(says));
	if (!fit->call->values[OSP_OPTION_JSON]) {
		osp_text_printf(&text,
				"would start now: %s\n"
				"  if they are not, it goes back to the queue\n",
				says);
		osp_fit_report_partition(&fit->question, true, &text, NULL);
		osp_report_queue(&fit->world, fit->question.partitions, &text, NULL);
		osp_report_old_places(&fit->world, &text, NULL);
		return osp_print_text(&text, OSP_EXIT_YES);
	}
	root = json_object();
	json_object_set_new(root, "starts_now", json_true());
	json_object_set_new(root, "level", osp_json_string(level));
	json_object_set_new(root, "need", json_integer(fit->question.need_nodes));
	json_object_set_new(root, "want", json_integer(fit->question.want_nodes));
	json_object_set_new(root, "says", osp_json_string(says));
	json_object_set_new(root, "count", json_integer(count));
	json_object_set_new(root, "launches", json_integer(unlaunched));
	osp_fit_report_partition(&fit->question, true, NULL, root);
	osp_report_queue(&fit->world, fit->question.partitions, NULL, root);
	osp_report_old_places(&fit->world, NULL, root);
	return osp_print_json(root, OSP_EXIT_YES);
}
