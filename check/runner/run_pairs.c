/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_pairs.c - for checks of pairs of GPUs: is a GPU ill, or the link between two? */
#include "check/runner/run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gate/gate_links.h"

struct pairs {
	const struct osp_check_context *context;
	struct osp_outcome *outcome;
	struct osp_gate_link *links; /* one in each direction: full speed if it passed, none if it
					failed */
	uint32_t link_count;
	struct osp_gate_blamed *blamed; /* by unit */
};

static bool is_unit(const struct osp_unit *unit, const char *name, size_t length)
{
	return strlen(unit->subject) == length && strncmp(unit->subject, name, length) == 0;
}

/* Finds the two units that "gpu3-gpu5" names. */
static bool find_ends(const struct osp_check_context *context, const char *subject, uint32_t *from,
		      uint32_t *to)
{
	const char *dash = strchr(subject, '-');
	bool found_from = false, found_to = false;

	for (uint32_t i = 0; dash && i < context->unit_count; i++) {
		if (is_unit(&context->units[i], subject, (size_t)(dash - subject))) {
			*from = i;
			found_from = true;
		}
		if (is_unit(&context->units[i], dash + 1, strlen(dash + 1))) {
			*to = i;
			found_to = true;
		}
	}
	return found_from && found_to;
}

static struct osp_gate_link *link_of(struct pairs *pairs, uint32_t from, uint32_t to)
{
	struct osp_gate_link *link;

	for (uint32_t i = 0; i < pairs->link_count; i++)
		if (pairs->links[i].from == from && pairs->links[i].to == to)
			return &pairs->links[i];
	link = &pairs->links[pairs->link_count++];
	*link = (struct osp_gate_link){.from = from, .to = to, .gbps = 1};
	return link;
}

/* Returns whether a pair failed, or is slow and only warns. */
static bool is_ill(const struct osp_result *result)
{
	return result->verdict == OSP_VERDICT_FAIL || result->verdict == OSP_VERDICT_WARN;
}

static void read_results(struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->outcome->result_count; i++) {
		const struct osp_result *result = &pairs->outcome->results[i];
		uint32_t from, to;

		if ((result->verdict != OSP_VERDICT_PASS && !is_ill(result)) ||
		    !find_ends(pairs->context, result->subject, &from, &to))
			continue;
		if (is_ill(result))
			link_of(pairs, from, to)->gbps = 0;
		else
			link_of(pairs, from, to);
	}
}

static bool is_ill_pair_of(const struct pairs *pairs, const struct osp_result *result,
			   uint32_t unit)
{
	uint32_t from, to;

	return is_ill(result) && find_ends(pairs->context, result->subject, &from, &to) &&
	       (from == unit || to == unit);
}

/* Replaces the results of a GPU's pairs by one result of the GPU: the worst. */
static void blame(struct pairs *pairs, uint32_t unit)
{
	struct osp_outcome *outcome = pairs->outcome;
	struct osp_result *blamed = NULL;
	size_t kept = 0, count = 0;

	for (size_t i = 0; i < outcome->result_count; i++) {
		struct osp_result result = outcome->results[i];

		if (!is_ill_pair_of(pairs, &result, unit)) {
			outcome->results[kept++] = result;
			continue;
		}
		if (!blamed) {
			blamed = &outcome->results[kept++];
			*blamed = result;
		} else if (result.verdict > blamed->verdict) {
			*blamed = result;
		} else if (result.verdict == blamed->verdict && result.cure > blamed->cure) {
			blamed->cure = result.cure;
		}
		count++;
	}
	outcome->result_count = kept;
	if (!blamed)
		return;
	blamed->speed = false;
	snprintf(blamed->subject, sizeof(blamed->subject), "%s",
		 pairs->context->units[unit].subject);
	snprintf(blamed->why, sizeof(blamed->why),
		 "%s: so with %u GPUs that are well with others (%zu copies, either way)%s",
		 pairs->context->units[unit].uuid, pairs->blamed[unit].partners, count,
		 blamed->verdict == OSP_VERDICT_FAIL ? "" : "; it only warns");
}

int osp_pairs_blame(const struct osp_check_context *context, struct osp_outcome *outcome,
		    struct osp_error *error)
{
	struct pairs pairs = {.context = context, .outcome = outcome};
	const struct osp_gate_figures none = {.count = 0};
	struct osp_gate_figures figures;
	size_t count = context->unit_count;
	int state = 0;

	if (outcome->verdict < OSP_VERDICT_WARN)
		return 0;
	pairs.links = calloc(count * count, sizeof(*pairs.links));
	pairs.blamed = calloc(count, sizeof(*pairs.blamed));
	if (pairs.links && pairs.blamed) {
		read_results(&pairs);
		figures =
			(struct osp_gate_figures){.links = pairs.links, .count = pairs.link_count};
		state = osp_gate_links_judge(&figures, &none, (uint32_t)count, pairs.blamed);
	}
	if (!pairs.links || !pairs.blamed || state)
		state = osp_error_set(error, "out of memory");
	for (uint32_t i = 0; !state && i < count; i++)
		if (pairs.blamed[i].blame > OSP_GATE_BLAME_LINK)
			blame(&pairs, i);
	free(pairs.links);
	free(pairs.blamed);
	return state;
}
