/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_parts.c - gangs in segments or in several domains: what they ask for, whether nodes keep
 * it, and words
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/base/text.h"
#include "lib/policy/request_parts.h"
#include "lib/policy/sentences.h"

#define WAITS "waits: "

bool shadow_in_parts(const struct osp_effective *effective)
{
	return osp_in_parts(effective->domains_max, effective->segments);
}

/* Reads what is asked at its own level, or, if `relaxed`, one above; above the top level in any
 * number of domains. */
static int read_parts(const struct osp_effective *effective, bool relaxed, uint32_t *level,
		      struct osp_parts *parts, struct osp_error *error)
{
	const struct osp_topology *topology = shadow_state.topology;
	int asked = osp_topology_level(topology, effective->level);

	if (asked < 1)
		return osp_error_set(error, "this fabric has no level %s", effective->level);
	*level = (uint32_t)asked;
	if (osp_parts_read(effective->domains_max, effective->segments, topology, *level, parts,
			   error))
		return -1;
	if (relaxed)
		osp_parts_relax(parts, topology, level);
	return 0;
}

int shadow_parts_begin(struct shadow_gang *gang, uint32_t min_nodes, char *why, size_t why_bytes)
{
	struct osp_error error = {.text = ""};
	uint32_t required = gang->required ? osp_nodeset_count(gang->required) : 0;

	if (read_parts(&gang->effective, gang->relaxed, &gang->level, &gang->parts, &error)) {
		snprintf(why, why_bytes, WAITS "%s", error.text);
		return -1;
	}
	if (osp_parts_anywhere(&gang->parts)) {
		gang->level = osp_topology_zone_level(shadow_state.topology);
		return 0;
	}
	gang->in_parts = true;
	if (gang->need_nodes > min_nodes) {
		snprintf(why, why_bytes,
			 WAITS "its tasks, processors or GPUs need %u of the nodes that it could "
			       "have now, and it asks for %u",
			 gang->need_nodes, min_nodes);
		return -1;
	}
	if (gang->want_nodes > gang->need_nodes) {
		snprintf(why, why_bytes,
			 WAITS
			 "segments and several domains take one number of nodes, and this job "
			 "may have others (it needs %u); say --nodes=N",
			 gang->need_nodes);
		return -1;
	}
	if (required && required != gang->need_nodes) {
		snprintf(why, why_bytes,
			 WAITS
			 "beside segments and several domains --nodelist names all nodes of the "
			 "job or none, and this one names %u of %u",
			 required, gang->need_nodes);
		return -1;
	}
	return 0;
}

bool shadow_parts_kept(const job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes, uint32_t *level)
{
	struct osp_cut *cut = osp_cut_new(shadow_state.topology);
	struct osp_parts parts;
	bool kept = false;

	*level = 0;
	for (int relaxed = 0; cut && !kept && relaxed < 2; relaxed++) {
		if ((relaxed && !shadow_is_relaxed(job, effective)) ||
		    read_parts(effective, relaxed, level, &parts, NULL))
			break;
		kept = (osp_parts_anywhere(&parts) || shadow_places_hold(nodes)) &&
		       osp_parts_kept(cut, &parts, *level, nodes);
	}
	osp_cut_free(cut);
	return kept;
}

char *shadow_parts_domains(const struct osp_nodeset *nodes, uint32_t level, uint32_t *domain_count)
{
	const struct osp_topology *topology = shadow_state.topology;
	struct osp_nodeset *left = osp_nodeset_copy(nodes);
	struct osp_nodeset *seen = osp_nodeset_new(shadow_state.node_count);
	struct osp_text text = OSP_TEXT_INIT;

	*domain_count = 0;
	for (uint32_t n = left && seen ? osp_nodeset_next(left, 0) : shadow_state.node_count;
	     n < shadow_state.node_count; n = osp_nodeset_next(left, n + 1)) {
		uint32_t domain = osp_topology_domain_of(topology, n, level);

		if (domain == OSP_NO_DOMAIN)
			continue;
		osp_text_printf(&text, "%s%s", (*domain_count)++ ? "," : "",
				osp_topology_domain(topology, domain)->name);
		osp_nodeset_clear(seen);
		osp_topology_add_domain_nodes(topology, domain, seen);
		osp_nodeset_and_not(left, seen);
	}
	free(left);
	free(seen);
	return osp_text_take(&text);
}

void shadow_parts_waits(const struct shadow_gang *gang, const struct osp_nodeset *prospects,
			const struct osp_nodeset *free_now, const struct osp_nodeset *all_free,
			char *buffer, size_t buffer_bytes)
{
	struct osp_place_input place = shadow_gang_input(gang);
	struct osp_nodeset *scratch = osp_nodeset_new(shadow_state.node_count);
	struct osp_cut_answer ever, now;
	struct osp_cut_input input;
	bool fits;

	snprintf(buffer, buffer_bytes, WAITS "segments or domains");
	if (!scratch)
		return;
	osp_parts_judge(shadow_state.cut, &gang->parts, &place,
			prospects ? prospects : gang->usable, scratch, &ever);
	osp_parts_judge(shadow_state.cut, &gang->parts, &place, free_now, scratch, &now);
	fits = now.fits;
	if (!fits && all_free)
		osp_parts_judge(shadow_state.cut, &gang->parts, &place, all_free, scratch, &now);
	input = osp_parts_input(&gang->parts, &place, all_free && !fits ? all_free : free_now);
	if (fits)
		osp_sentence_segments_not_started(buffer, buffer_bytes);
	else if (now.fits)
		snprintf(buffer, buffer_bytes,
			 WAITS "its nodes are free, kept for jobs or reservations that come first");
	else
		osp_sentence_segments_wait(shadow_state.topology, &input, &place, &now, ever.fits,
					   buffer, buffer_bytes);
	free(scratch);
}
