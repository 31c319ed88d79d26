/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask_segments.c - the question of `fit` for a gang in segments or in several domains */
#include "host/slurm/ask_segments.h"

#include <stdlib.h>
#include <string.h>

#include "lib/place/parts.h"

/* Returns whether the first answer is better. */
static bool is_better(const struct osp_cut_answer *one, const struct osp_cut_answer *other)
{
	if (one->fits != other->fits)
		return one->fits;
	if (one->fits)
		return one->domains < other->domains;
	return one->whole_offered > other->whole_offered;
}

/* Finds the kind that does best, and leaves its nodes and its judgement. */
static void find_kind(const struct osp_fit_answer *nodes, struct osp_segments_answer *answer)
{
	uint16_t kinds = osp_parts_kinds(&nodes->input), best = 0;
	struct osp_cut_answer found;

	for (uint16_t kind = 0; kind < kinds; kind++) {
		osp_parts_keep_kind(&nodes->input, nodes->usable, kind, answer->offered);
		osp_cut_judge(answer->cut, &answer->input, &found);
		answer->ever |= found.fits;
		osp_parts_keep_kind(&nodes->input, nodes->free, kind, answer->offered);
		osp_cut_judge(answer->cut, &answer->input, &found);
		if (!kind || is_better(&found, &answer->now)) {
			answer->now = found;
			best = kind;
		}
	}
	osp_parts_keep_kind(&nodes->input, nodes->free, best, answer->offered);
	osp_cut_pick(answer->cut, &answer->input, answer->chosen);
}

int osp_ask_segments(const struct osp_world *world, const struct osp_fit_answer *nodes,
		     uint32_t domains_max, const struct osp_segments *segments,
		     struct osp_segments_answer *answer, struct osp_error *error)
{
	memset(answer, 0, sizeof(*answer));
	answer->cut = osp_cut_new(world->topology);
	answer->offered = osp_nodeset_new(world->snapshot->node_count);
	answer->chosen = osp_nodeset_new(world->snapshot->node_count);
	if (!answer->cut || !answer->offered || !answer->chosen)
		return osp_error_set(error, "out of memory");
	answer->input = (struct osp_cut_input){.level = nodes->input.level,
					       .domains_max = domains_max,
					       .nodes = nodes->input.need_nodes,
					       .segments = *segments,
					       .free = answer->offered,
					       .boot = nodes->boot,
					       .weight = nodes->weight};
	find_kind(nodes, answer);
	return 0;
}

void osp_segments_answer_clear(struct osp_segments_answer *answer)
{
	osp_cut_free(answer->cut);
	free(answer->offered);
	free(answer->chosen);
	memset(answer, 0, sizeof(*answer));
}

/* Returns what a line of the table counts: the smaller last segment lies in one domain alone. */
static const char *offered_words(const struct osp_cut_input *input)
{
	const struct osp_segments *segments = &input->segments;

	if (!segments->count)
		return "nodes free";
	return input->nodes % segments->segment[segments->count - 1].nodes
		       ? "whole segments free (fewer where the smaller last one lies)"
		       : "whole segments free";
}

#define NAME_COLUMNS 20 /* at least */

void osp_segments_table(const struct osp_world *world, const struct osp_segments_answer *answer,
			uint32_t most, struct osp_text *text)
{
	const char *level = osp_topology_level_name(world->topology, answer->input.level);
	size_t width = strlen(level) > NAME_COLUMNS ? strlen(level) : NAME_COLUMNS;
	uint32_t first, count, shown;

	osp_topology_level_domains(world->topology, answer->input.level, &first, &count);
	shown = count < most ? count : most;
	for (uint32_t domain = first; domain < first + shown; domain++) {
		size_t length = strlen(osp_topology_domain(world->topology, domain)->name);

		width = length > width ? length : width;
	}
	osp_text_printf(text, "  %-*s %s\n", (int)width, level, offered_words(&answer->input));
	for (uint32_t domain = first; domain < first + shown; domain++)
		osp_text_printf(text, "  %-*s %u\n", (int)width,
				osp_topology_domain(world->topology, domain)->name,
				osp_cut_offered(answer->cut, domain));
	if (shown < count)
		osp_text_printf(text, "  and %u more\n", count - shown);
}
