/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_gpus.c - onespine fit: GPUs that are asked for in all, whichever node gives how many */
#include "tools/command/fit_gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/text.h"

static uint32_t gpus_left(const struct osp_state_node *node)
{
	return node->gpus > node->gpus_taken ? node->gpus - node->gpus_taken : 0;
}

uint32_t osp_fit_least_gpus(const struct osp_fit *fit)
{
	const struct osp_snapshot *snapshot = fit->world.snapshot;
	const struct osp_fit_question *question = &fit->question;
	uint64_t most = 0, others;

	for (uint32_t n = 0; n < snapshot->node_count; n++)
		if (snapshot->nodes[n].gpus > most)
			most = snapshot->nodes[n].gpus;
	others = most * (question->want_nodes ? question->want_nodes - 1 : 0);
	return question->gpus_in_all > others + question->gpus
		       ? (uint32_t)(question->gpus_in_all - others)
		       : question->gpus;
}

bool osp_fit_has_gpus(const struct osp_fit *fit, const struct osp_nodeset *set)
{
	uint64_t left = 0;

	for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
	     n = osp_nodeset_next(set, n + 1))
		left += gpus_left(&fit->world.snapshot->nodes[n]);
	return left >= fit->question.gpus_in_all;
}

static int compare_larger_first(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one < other) - (one > other);
}

/* Returns how many GPUs the nodes of a domain that have most left can give, as many nodes as the
 * gang may have; `left` has room for all nodes. */
static uint64_t most_left(const struct osp_fit *fit, const struct osp_place_domain *domain,
			  uint32_t *left)
{
	const struct osp_fit_answer *answer = &fit->answer;
	uint64_t sum = 0;
	uint32_t count = 0;

	for (uint32_t n = osp_nodeset_next(answer->free, 0); n < answer->free->place_count;
	     n = osp_nodeset_next(answer->free, n + 1))
		if (osp_topology_domain_of(fit->world.topology, n, answer->input.level) ==
			    domain->domain &&
		    (!answer->input.kind || answer->kind[n] == domain->kind))
			left[count++] = gpus_left(&fit->world.snapshot->nodes[n]);
	qsort(left, count, sizeof(*left), compare_larger_first);
	for (uint32_t i = 0; i < count && i < answer->input.want_nodes; i++)
		sum += left[i];
	return sum;
}

bool osp_fit_lacks_gpus(const struct osp_fit *fit, char *buffer, size_t buffer_bytes)
{
	const struct osp_fit_answer *answer = &fit->answer;
	const struct osp_topology *topology = fit->world.topology;
	const struct osp_place_input *input = &answer->input;
	const struct osp_place_domain *nearest = NULL;
	uint64_t wanted = fit->question.gpus_in_all, most = 0;
	uint32_t *left;

	if (!wanted)
		return false;
	left = calloc((size_t)fit->world.snapshot->node_count + 1, sizeof(*left));
	for (uint32_t i = 0; left && i < answer->candidate_count; i++) {
		uint64_t sum = most_left(fit, &answer->domains[i], left);

		if (!nearest || sum > most) {
			nearest = &answer->domains[i];
			most = sum;
		}
	}
	free(left);
	if (!nearest || most >= wanted)
		return false;
	snprintf(buffer, buffer_bytes,
		 "waits: %" PRIu64 " GPU%s on %u node%s of one %s; nearest: %u node%s of %s %s at "
		 "most %" PRIu64 " left (%" PRIu64 " short)",
		 wanted, osp_plural_s(wanted), input->want_nodes, osp_plural_s(input->want_nodes),
		 osp_topology_level_name(topology, input->level), input->want_nodes,
		 osp_plural_s(input->want_nodes),
		 osp_topology_domain(topology, nearest->domain)->name,
		 input->want_nodes == 1 ? "has" : "have", most, wanted - most);
	return true;
}
