/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - gangs with nodes that do not run yet */
#include "lib/place/launch.h"

#include <stdlib.h>

/* A way to take nodes: the known nodes of one kind in one domain (OSP_NO_DOMAIN: none of them). */
struct way {
	uint32_t domain;
	uint16_t kind;
	uint32_t known;
};

struct count {
	const struct osp_launch_input *input;
	uint32_t first_domain; /* of the level */
	uint32_t domain_count;
	uint32_t *known;      /* [kind][domain] */
	uint32_t *unlaunched; /* [kind] */
	uint32_t
		*required; /* [kind][domain + 1]: required ones of `known`; last, of `unlaunched` */
};

static uint16_t kinds_of(const struct osp_launch_input *input)
{
	return input->kind && input->kind_count ? input->kind_count : 1;
}

static uint16_t kind_of(const struct osp_launch_input *input, uint32_t node)
{
	return input->kind ? input->kind[node] : 0;
}

static bool is_required(const struct osp_launch_input *input, uint32_t node)
{
	return input->required && node < input->required->place_count &&
	       osp_nodeset_test(input->required, node);
}

static void count_known(struct count *count)
{
	const struct osp_launch_input *input = count->input;

	for (uint32_t n = osp_nodeset_next(input->known, 0); n < input->known->place_count;
	     n = osp_nodeset_next(input->known, n + 1)) {
		uint32_t domain = osp_topology_domain_of(input->topology, n, input->level);
		uint16_t kind = kind_of(input, n);

		if (domain == OSP_NO_DOMAIN)
			continue;
		domain -= count->first_domain;
		count->known[(size_t)kind * count->domain_count + domain]++;
		if (is_required(input, n))
			count->required[(size_t)kind * (count->domain_count + 1) + domain]++;
	}
}

static void count_unlaunched(struct count *count)
{
	const struct osp_launch_input *input = count->input;

	for (uint32_t n = osp_nodeset_next(input->unlaunched, 0);
	     n < input->unlaunched->place_count; n = osp_nodeset_next(input->unlaunched, n + 1)) {
		uint16_t kind = kind_of(input, n);

		count->unlaunched[kind]++;
		if (is_required(input, n))
			count->required[(size_t)kind * (count->domain_count + 1) +
					count->domain_count]++;
	}
}

static void free_count(struct count *count)
{
	free(count->known);
	free(count->unlaunched);
	free(count->required);
}

static bool count_nodes(struct count *count, const struct osp_launch_input *input)
{
	size_t kinds = kinds_of(input);

	*count = (struct count){.input = input};
	osp_topology_level_domains(input->topology, input->level, &count->first_domain,
				   &count->domain_count);
	count->known = calloc(kinds * count->domain_count + 1, sizeof(*count->known));
	count->unlaunched = calloc(kinds, sizeof(*count->unlaunched));
	count->required = calloc(kinds * (count->domain_count + 1), sizeof(*count->required));
	if (!count->known || !count->unlaunched || !count->required) {
		free_count(count);
		return false;
	}
	count_known(count);
	count_unlaunched(count);
	return true;
}

/*
 * Returns whether a gang can take `kind` in the domain with number `place` in the level (the count
 * of
 * domains: in none).
 */
static bool is_way(const struct count *count, uint16_t kind, uint32_t place, uint32_t *known)
{
	const struct osp_launch_input *input = count->input;
	const uint32_t *required = count->required + (size_t)kind * (count->domain_count + 1);
	bool none = place == count->domain_count;
	uint32_t has = required[count->domain_count] + (none ? 0 : required[place]);

	*known = none ? 0 : count->known[(size_t)kind * count->domain_count + place];
	if (!none && !*known)
		return false;
	if (input->required && has != osp_nodeset_count(input->required))
		return false;
	return count->unlaunched[kind] && *known < input->need_nodes &&
	       (uint64_t)*known + count->unlaunched[kind] >= input->need_nodes;
}

/*
 * Returns whether a way is better: it has more known nodes, then the lower domain, then the lower
 * kind.
 */
static bool is_better(const struct way *way, const struct way *than)
{
	if (way->known != than->known)
		return way->known > than->known;
	if (way->domain != than->domain)
		return way->domain < than->domain;
	return way->kind < than->kind;
}

/* Finds the best way that is worse than `after` (NULL: the best one). */
static bool find_way(const struct count *count, const struct way *after, struct way *found)
{
	bool any = false;

	for (uint16_t kind = 0; kind < kinds_of(count->input); kind++) {
		for (uint32_t place = 0; place <= count->domain_count; place++) {
			struct way way = {.domain = place < count->domain_count
							    ? count->first_domain + place
							    : OSP_NO_DOMAIN,
					  .kind = kind};

			if (!is_way(count, kind, place, &way.known) ||
			    (after && !is_better(after, &way)) || (any && !is_better(&way, found)))
				continue;
			*found = way;
			any = true;
		}
	}
	return any;
}

static bool has(const struct osp_launch_input *input, const struct way *way, uint32_t node,
		bool unlaunched)
{
	return kind_of(input, node) == way->kind &&
	       (unlaunched ||
		osp_topology_domain_of(input->topology, node, input->level) == way->domain);
}

static uint32_t weight_of(const struct osp_launch_input *input, uint32_t node)
{
	return input->weight ? input->weight[node] : 0;
}

/* How to take more nodes of one set, in one way. */
struct taking {
	const struct osp_launch_input *input;
	const struct way *way;
	const struct osp_nodeset *set;
	bool unlaunched;
	struct osp_nodeset *nodes; /* the nodes taken */
};

static bool may_take(const struct taking *taking, uint32_t node)
{
	return !osp_nodeset_test(taking->nodes, node) &&
	       has(taking->input, taking->way, node, taking->unlaunched);
}

/*
 * Returns the weight of the last of the `most` lightest nodes that may be taken; UINT32_MAX if
 * there are fewer. Finds it byte by byte from the highest, so it looks at each node four times,
 * however many weights there are.
 */
static uint32_t heaviest_taken(const struct taking *taking, uint32_t most)
{
	uint64_t weight = 0;

	for (int shift = 24; shift >= 0; shift -= 8) {
		uint32_t counts[256] = {0}, byte = 0;

		for (uint32_t n = osp_nodeset_next(taking->set, 0); n < taking->set->place_count;
		     n = osp_nodeset_next(taking->set, n + 1)) {
			uint64_t own = weight_of(taking->input, n);

			if (own >> shift >> 8 == weight >> shift >> 8 && may_take(taking, n))
				counts[own >> shift & 255]++;
		}
		while (byte < 255 && counts[byte] < most)
			most -= counts[byte++];
		weight |= (uint64_t)byte << shift;
	}
	return (uint32_t)weight;
}

enum which { REQUIRED, LIGHTER, AS_HEAVY };

/* Takes up to `most` nodes: required ones, ones lighter than `weight`, or ones of that weight. */
static uint32_t take_those(const struct taking *taking, enum which which, uint32_t weight,
			   uint32_t most)
{
	uint32_t taken = 0;

	for (uint32_t n = osp_nodeset_next(taking->set, 0);
	     n < taking->set->place_count && taken < most;
	     n = osp_nodeset_next(taking->set, n + 1)) {
		uint32_t own = weight_of(taking->input, n);

		if ((which == REQUIRED	? is_required(taking->input, n)
		     : which == LIGHTER ? own < weight
					: own == weight) &&
		    may_take(taking, n)) {
			osp_nodeset_add(taking->nodes, n);
			taken++;
		}
	}
	return taken;
}

/* Takes up to `most` more nodes of `set`: required ones first, then light ones. */
static uint32_t take(const struct osp_launch_input *input, const struct way *way,
		     const struct osp_nodeset *set, bool unlaunched, uint32_t most,
		     struct osp_nodeset *nodes)
{
	const struct taking taking = {input, way, set, unlaunched, nodes};
	uint32_t taken = take_those(&taking, REQUIRED, 0, most), weight;

	if (taken == most)
		return taken;
	weight = heaviest_taken(&taking, most - taken);
	taken += take_those(&taking, LIGHTER, weight, most - taken);
	return taken + take_those(&taking, AS_HEAVY, weight, most - taken);
}

static uint32_t required_in(const struct osp_launch_input *input, const struct osp_nodeset *set)
{
	uint32_t count = 0;

	for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
	     n = osp_nodeset_next(set, n + 1))
		count += is_required(input, n);
	return count;
}

/* Takes as many known nodes as leave room for those that must be launched. */
static void fill(const struct osp_launch_input *input, const struct way *way, bool whole,
		 struct osp_nodeset *nodes)
{
	uint32_t least = required_in(input, input->unlaunched), taken;

	least = least ? least : 1;
	osp_nodeset_clear(nodes);
	taken = take(input, way, input->known, false,
		     whole			 ? UINT32_MAX
		     : input->need_nodes > least ? input->need_nodes - least
						 : 0,
		     nodes);
	take(input, way, input->unlaunched, true, whole ? UINT32_MAX : input->need_nodes - taken,
	     nodes);
}

bool osp_launch_nodes(const struct osp_launch_input *input, uint32_t attempt, bool whole,
		      struct osp_nodeset *nodes)
{
	struct count count;
	struct way way, before;
	bool found;

	if (attempt >= OSP_LAUNCH_ATTEMPTS_MAX || !count_nodes(&count, input))
		return false;
	found = find_way(&count, NULL, &way);
	for (uint32_t i = 0; found && i < attempt; i++) {
		before = way;
		found = find_way(&count, &before, &way);
	}
	free_count(&count);
	if (found)
		fill(input, &way, whole, nodes);
	return found;
}

bool osp_launch_could(const struct osp_launch_input *input)
{
	struct count count;
	struct way way;
	bool found;

	if (!count_nodes(&count, input))
		return true; /* no job is refused because memory ran out */
	found = find_way(&count, NULL, &way);
	free_count(&count);
	return found;
}

/* --- when its nodes run ----------------------------------------------------------------------- */

uint32_t osp_launch_part(const struct osp_topology *topology, uint32_t level,
			 const struct osp_nodeset *nodes, struct osp_nodeset *part)
{
	uint32_t first, count, domains = 0, largest = 0, *held;

	osp_nodeset_clear(part);
	osp_topology_level_domains(topology, level, &first, &count);
	held = calloc((size_t)count + 1, sizeof(*held));
	for (uint32_t n = osp_nodeset_next(nodes, 0); held && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		uint32_t domain = osp_topology_domain_of(topology, n, level);

		if (domain != OSP_NO_DOMAIN)
			domains += !held[domain - first]++;
	}
	for (uint32_t i = 1; held && i < count; i++)
		largest = held[i] > held[largest] ? i : largest;
	for (uint32_t n = osp_nodeset_next(nodes, 0); held && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (osp_topology_domain_of(topology, n, level) == first + largest)
			osp_nodeset_add(part, n);
	}
	free(held);
	return domains;
}
