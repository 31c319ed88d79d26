/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sentences_segments.c - the sentences about gangs in segments and in several domains */
#include "lib/policy/sentences.h"
#include "lib/base/text.h"
#include "lib/place/parts.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 48

static bool has_required(const struct osp_place_input *place)
{
	return place && place->required && !osp_nodeset_empty(place->required);
}

/* Writes the request: "64 nodes of --nodelist on at most 2 spines in segments leaf:16". */
static void say_request(const struct osp_topology *topology, const struct osp_cut_input *input,
			const struct osp_place_input *place, char *buffer, size_t buffer_bytes)
{
	const char *level = osp_topology_level_name(topology, input->level);
	const char *which = has_required(place)		     ? " of --nodelist"
			    : place && place->kind_count > 1 ? " of one node type"
							     : "";
	char plural[NAME_BYTES], segments[128], zone[NAME_BYTES] = "";
	size_t at;

	if (place && osp_parts_in_zones(place))
		snprintf(zone, sizeof(zone), " of one %s",
			 osp_topology_level_name(topology, osp_topology_zone_level(topology)));

	if (input->domains_max == 1)
		snprintf(buffer, buffer_bytes, "%u node%s%s on one %s", input->nodes,
			 osp_plural_s(input->nodes), which, level);
	else if (input->domains_max == OSP_NODES_MAX)
		snprintf(buffer, buffer_bytes, "%u nodes%s on any number of %s%s", input->nodes,
			 which, osp_sentence_plural(level, plural, sizeof(plural)), zone);
	else
		snprintf(buffer, buffer_bytes, "%u nodes%s on at most %u %s%s", input->nodes, which,
			 input->domains_max, osp_sentence_plural(level, plural, sizeof(plural)),
			 zone);
	at = strlen(buffer);
	if (input->segments.count)
		snprintf(buffer + at, buffer_bytes - at, " in segments %s",
			 osp_segments_format(&input->segments, topology, segments,
					     sizeof(segments)));
}

/* Returns words for the last segment if it is smaller, because it may take the place of a whole
 * one. */
static const char *beside_last(const struct osp_cut_input *input, uint32_t unit)
{
	return input->nodes % unit ? " beside the smaller last one" : "";
}

/* Writes "4 whole segments of 16 nodes needed, 3 free" or "40 nodes needed, 30 free". */
static void say_offer(const struct osp_cut_input *input, const struct osp_cut_answer *answer,
		      char *buffer, size_t buffer_bytes)
{
	const struct osp_segments *segments = &input->segments;
	const char *plural = osp_plural_s(answer->whole_needed);
	uint32_t unit = segments->count ? segments->segment[segments->count - 1].nodes : 1;

	if (segments->count)
		snprintf(buffer, buffer_bytes, "%u whole segment%s of %u node%s needed%s, %u free",
			 answer->whole_needed, plural, unit, osp_plural_s(unit),
			 beside_last(input, unit), answer->whole_offered);
	else
		snprintf(buffer, buffer_bytes, "%u node%s needed, %u free", answer->whole_needed,
			 plural, answer->whole_offered);
}

/* Adds what the user may ask for instead: nothing that would not help. */
static void add_instead(const struct osp_cut_input *input, const struct osp_parts_instead *instead,
			char *buffer, size_t buffer_bytes)
{
	char nodes[32] = "", apart[80] = "";
	const char *cures[4];
	size_t count = 0, at;

	if (instead->nodes > 1) {
		snprintf(nodes, sizeof(nodes), "%u nodes", instead->nodes);
		cures[count++] = nodes;
	}
	if (instead->smaller_segments)
		cures[count++] = "smaller segments";
	if (instead->nodes_apart == input->nodes)
		cures[count++] = "a larger --gang-domains";
	if (instead->both)
		cures[count++] = "smaller segments with a larger --gang-domains";
	else if (instead->nodes_apart > 1 && instead->nodes_apart != input->nodes) {
		snprintf(apart, sizeof(apart), "%u nodes with a larger --gang-domains",
			 instead->nodes_apart);
		cures[count++] = apart;
	}
	for (size_t i = 0; i < count; i++) {
		at = strlen(buffer);
		snprintf(buffer + at, buffer_bytes - at, "%s%s",
			 !i		  ? "; ask for "
			 : i + 1 == count ? " or "
					  : ", ",
			 cures[i]);
	}
}

const char *osp_sentence_segments_never(const struct osp_topology *topology,
					const struct osp_cut_input *input,
					const struct osp_place_input *place,
					const struct osp_cut_answer *answer,
					const struct osp_parts_instead *instead,
					const char *partition, char *buffer, size_t buffer_bytes)
{
	const struct osp_segments *segments = &input->segments;
	const char *level = osp_topology_level_name(topology, input->level);
	uint32_t unit = segments->count ? segments->segment[segments->count - 1].nodes : 1;
	uint32_t whole = answer->whole_offered, last = input->nodes % unit;
	char request[220], offer[160], of_partition[80] = "";

	if (partition && !has_required(place))
		snprintf(of_partition, sizeof(of_partition), " of partition %.60s", partition);
	say_request(topology, input, place, request, sizeof(request));
	if (!answer->last_fits)
		snprintf(offer, sizeof(offer),
			 "no %s has room for the smaller last segment of %u node%s", level, last,
			 osp_plural_s(last));
	else if (segments->count)
		snprintf(offer, sizeof(offer),
			 "there %s %u whole segment%s of %u node%s%s where %u %s needed",
			 whole == 1 ? "is" : "are", whole, osp_plural_s(whole), unit,
			 osp_plural_s(unit), beside_last(input, unit), answer->whole_needed,
			 answer->whole_needed == 1 ? "is" : "are");
	else
		snprintf(offer, sizeof(offer), "so many hold %u", whole);
	snprintf(buffer, buffer_bytes, "%s asked for; with all %s%s free %s", request,
		 has_required(place) ? "of these" : "nodes", of_partition, offer);
	add_instead(input, instead, buffer, buffer_bytes);
	return buffer;
}

/* Adds what the last segment has, of the smallest segments that do not divide the gang. */
static void add_last(const struct osp_topology *topology, const struct osp_segments *segments,
		     uint32_t nodes, char *buffer, size_t buffer_bytes)
{
	size_t at = strlen(buffer);

	for (uint32_t i = 0; i < segments->count; i++) {
		uint32_t size = segments->segment[i].nodes, last = nodes % size;

		if (!last)
			continue;
		snprintf(buffer + at, buffer_bytes - at,
			 "%sthe last segment of %s:%u has %u node%s", at ? "; " : "",
			 osp_topology_level_name(topology, segments->segment[i].level), size, last,
			 osp_plural_s(last));
		return;
	}
}

const char *osp_sentence_segments_left(const struct osp_topology *topology,
				       const struct osp_segments *segments, uint32_t nodes,
				       char *buffer, size_t buffer_bytes)
{
	buffer[0] = '\0';
	for (uint32_t i = 0; i < segments->count && !buffer[0]; i++) {
		uint32_t size = segments->segment[i].nodes, level = segments->segment[i].level;
		uint32_t room = osp_segments_room(topology, level), left = room % size;
		const char *name = osp_topology_level_name(topology, level);

		if (left && nodes >= room - left)
			snprintf(buffer, buffer_bytes,
				 "segments %s:%u leave %u of %u nodes in each full %s to others",
				 name, size, left, room, name);
	}
	add_last(topology, segments, nodes, buffer, buffer_bytes);
	return buffer;
}

const char *osp_sentence_parts_placed(const struct osp_topology *topology, uint32_t level,
				      uint32_t domain_count, const char *domains, uint32_t nodes,
				      uint32_t leaves, const char *segments, char *buffer,
				      size_t buffer_bytes)
{
	const char *leaf = osp_topology_level_name(topology, 1);
	char plural[NAME_BYTES], touched[NAME_BYTES + 16] = "";

	if (leaves && level > 1)
		snprintf(touched, sizeof(touched), ", %u %s", leaves,
			 leaves == 1 ? leaf : osp_sentence_plural(leaf, plural, sizeof(plural)));
	if (domain_count == 1)
		snprintf(buffer, buffer_bytes, "placed: %u node%s on %s %s%s", nodes,
			 osp_plural_s(nodes), osp_topology_level_name(topology, level),
			 domains ? domains : "?", touched);
	else
		snprintf(buffer, buffer_bytes, "placed: %u nodes in %u domains of %s%s", nodes,
			 domain_count, osp_topology_level_name(topology, level), touched);
	if (*segments)
		snprintf(buffer + strlen(buffer), buffer_bytes - strlen(buffer), ", in segments %s",
			 segments);
	return buffer;
}

const char *osp_sentence_segments_wait(const struct osp_topology *topology,
				       const struct osp_cut_input *input,
				       const struct osp_place_input *place,
				       const struct osp_cut_answer *answer, bool ever, char *buffer,
				       size_t buffer_bytes)
{
	const struct osp_segments *segments = &input->segments;
	const char *even = ever			 ? ""
			   : has_required(place) ? ", and not even with all of these free"
						 : ", and not even with all usable nodes free";
	uint32_t last =
		answer->last_fits ? 0 : input->nodes % segments->segment[segments->count - 1].nodes;
	char request[220], offer[130];

	say_request(topology, input, place, request, sizeof(request));
	say_offer(input, answer, offer, sizeof(offer));
	if (answer->last_fits)
		snprintf(buffer, buffer_bytes, "waits: %s; %s%s", request, offer, even);
	else
		snprintf(buffer, buffer_bytes,
			 "waits: %s; no %s has room for the smaller last segment of %u node%s%s",
			 request, osp_topology_level_name(topology, input->level), last,
			 osp_plural_s(last), even);
	return buffer;
}

const char *osp_sentence_segments_not_started(char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "waits: its nodes are free, but Slurm cannot start the job there now (memory, "
		 "cores, GPUs, licenses, a limit or TopologyPlugin)");
	return buffer;
}
