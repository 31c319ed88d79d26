/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - gangs with nodes that do not run yet */
#include "lib/place/launch.h"

#include <stdlib.h>

/*
 * A way to take nodes of one kind: the known ones of a domain of the level, and the unlaunched ones
 * that may come to be in it; or only unlaunched ones, of a domain above the level and of none
 * (OSP_NO_DOMAIN: of none).
 */
struct way {
	uint32_t domain;
	uint16_t kind;
	uint32_t known;
	uint32_t outer; /* the nearest domain above `domain`, or this if it is above the level */
	uint32_t near;	/* unlaunched ones of `outer`, as far as needed */
};

/*
 * Nodes by kind and domain: known ones by that of the level, unlaunched ones by the nearest one
 * above it that is known; last, unlaunched ones without any.
 */
struct count {
	const struct osp_launch_input *input;
	uint32_t first_domain; /* of the level */
	uint32_t end_domain;   /* behind those of the level and of all levels above it */
	uint32_t *nodes;       /* [kind][domain - first_domain] */
	uint32_t *required;    /* those of `nodes` */
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

/* --- domains above the level ------------------------------------------------------------------ */

/* Returns the last level that is above `level`, or `level`: none is above an overlay. */
static uint32_t top_above(const struct osp_topology *topology, uint32_t level)
{
	uint32_t top = osp_topology_level_count(topology);

	return level < top ? top : level;
}

/* Returns the nearest domain above the level that is known of the node; OSP_NO_DOMAIN: none. */
static uint32_t nearest_above(const struct osp_topology *topology, uint32_t level, uint32_t node)
{
	uint32_t top = top_above(topology, level), domain = OSP_NO_DOMAIN;

	while (domain == OSP_NO_DOMAIN && level++ < top)
		domain = osp_topology_domain_of(topology, node, level);
	return domain;
}

/* Returns whether `outer` is `domain`, or above it. */
static bool is_around(const struct osp_topology *topology, uint32_t outer, uint32_t domain)
{
	while (domain != OSP_NO_DOMAIN && domain != outer)
		domain = osp_topology_domain(topology, domain)->parent;
	return domain == outer;
}

bool osp_launch_may_join(const struct osp_topology *topology, uint32_t level, uint32_t node,
			 uint32_t domain)
{
	uint32_t nearest = osp_topology_domain_of(topology, node, level);

	if (nearest == OSP_NO_DOMAIN)
		nearest = nearest_above(topology, level, node);
	return nearest == OSP_NO_DOMAIN || is_around(topology, nearest, domain);
}

bool osp_launch_may_meet(const struct osp_topology *topology, uint32_t level,
			 const struct osp_nodeset *nodes)
{
	for (uint32_t top = top_above(topology, level); level <= top; level++) {
		uint32_t common = OSP_NO_DOMAIN;

		for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
		     n = osp_nodeset_next(nodes, n + 1)) {
			uint32_t domain = osp_topology_domain_of(topology, n, level);

			if (domain == OSP_NO_DOMAIN)
				continue;
			if (common != OSP_NO_DOMAIN && domain != common)
				return false;
			common = domain;
		}
	}
	return true;
}

/* Returns the nearest known domain above the level of an unlaunched node, if its place counts. */
static uint32_t outer_of(const struct osp_launch_input *input, uint32_t node)
{
	return input->placed && osp_nodeset_test(input->placed, node)
		       ? nearest_above(input->topology, input->level, node)
		       : OSP_NO_DOMAIN;
}

/* --- ways ------------------------------------------------------------------------------------- */

/* Returns where the nodes of that kind and domain are counted. */
static size_t place_of(const struct count *count, uint16_t kind, uint32_t domain)
{
	uint32_t width = count->end_domain - count->first_domain;

	return (size_t)kind * (width + 1) +
	       (domain == OSP_NO_DOMAIN ? width : domain - count->first_domain);
}

static void count_one(struct count *count, uint32_t node, uint32_t domain)
{
	size_t place = place_of(count, kind_of(count->input, node), domain);

	count->nodes[place]++;
	count->required[place] += is_required(count->input, node);
}

static void count_sets(struct count *count)
{
	const struct osp_launch_input *input = count->input;
	const struct osp_nodeset *set = input->known;

	for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
	     n = osp_nodeset_next(set, n + 1)) {
		uint32_t domain = osp_topology_domain_of(input->topology, n, input->level);

		if (domain != OSP_NO_DOMAIN)
			count_one(count, n, domain);
	}
	set = input->unlaunched;
	for (uint32_t n = osp_nodeset_next(set, 0); n < set->place_count;
	     n = osp_nodeset_next(set, n + 1))
		count_one(count, n, outer_of(input, n));
}

static void free_count(struct count *count)
{
	free(count->nodes);
	free(count->required);
}

static bool count_nodes(struct count *count, const struct osp_launch_input *input)
{
	uint32_t domains;
	size_t places;

	*count = (struct count){.input = input};
	osp_topology_level_domains(input->topology, input->level, &count->first_domain, &domains);
	count->end_domain = input->level < osp_topology_level_count(input->topology)
				    ? osp_topology_domain_count(input->topology)
				    : count->first_domain + domains;
	places = place_of(count, kinds_of(input), count->first_domain);
	count->nodes = calloc(places, sizeof(*count->nodes));
	count->required = calloc(places, sizeof(*count->required));
	if (!count->nodes || !count->required) {
		free_count(count);
		return false;
	}
	count_sets(count);
	return true;
}

static uint32_t parent_of(const struct count *count, uint32_t domain)
{
	return domain == OSP_NO_DOMAIN
		       ? OSP_NO_DOMAIN
		       : osp_topology_domain(count->input->topology, domain)->parent;
}

/* Returns whether a gang can take the kind and domain of `way`, whose numbers it fills. */
static bool is_way(const struct count *count, struct way *way)
{
	const struct osp_launch_input *input = count->input;
	size_t own = place_of(count, way->kind, way->domain);
	size_t nowhere = place_of(count, way->kind, OSP_NO_DOMAIN);
	uint32_t need = input->need_nodes, has_required = count->required[nowhere];
	uint64_t unlaunched = count->nodes[nowhere];
	bool of_level = way->domain != OSP_NO_DOMAIN &&
			osp_topology_domain(input->topology, way->domain)->level == input->level;

	if (!count->nodes[own])
		return false;
	way->known = of_level ? count->nodes[own] : 0;
	has_required += of_level ? count->required[own] : 0;
	way->outer = of_level ? parent_of(count, way->domain) : way->domain;
	for (uint32_t d = way->outer; d != OSP_NO_DOMAIN; d = parent_of(count, d)) {
		unlaunched += count->nodes[place_of(count, way->kind, d)];
		has_required += count->required[place_of(count, way->kind, d)];
	}
	if (input->required && has_required != osp_nodeset_count(input->required))
		return false;
	if (way->known >= need || !unlaunched || way->known + unlaunched < need)
		return false;
	way->near = way->outer == OSP_NO_DOMAIN
			    ? 0
			    : count->nodes[place_of(count, way->kind, way->outer)];
	if (way->near > need - way->known)
		way->near = need - way->known;
	return true;
}

/*
 * Returns whether a way is better: it has more known nodes, then more near ones, then the lower
 * domain, then the lower kind.
 */
static bool is_better(const struct way *way, const struct way *than)
{
	if (way->known != than->known)
		return way->known > than->known;
	if (way->near != than->near)
		return way->near > than->near;
	if (way->domain != than->domain)
		return way->domain < than->domain;
	return way->kind < than->kind;
}

/* Finds the best way that is worse than `after` (NULL: the best one). */
static bool find_way(const struct count *count, const struct way *after, struct way *found)
{
	bool any = false;

	for (uint16_t kind = 0; kind < kinds_of(count->input); kind++) {
		for (uint32_t domain = count->first_domain; domain <= count->end_domain; domain++) {
			struct way way = {.domain = domain < count->end_domain ? domain
									       : OSP_NO_DOMAIN,
					  .kind = kind};

			if (!is_way(count, &way) || (after && !is_better(after, &way)) ||
			    (any && !is_better(&way, found)))
				continue;
			*found = way;
			any = true;
		}
	}
	return any;
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
	bool near;		   /* only those of the way's `outer` */
};

static bool may_take(const struct taking *taking, uint32_t node)
{
	const struct osp_launch_input *input = taking->input;
	uint32_t domain;

	if (osp_nodeset_test(taking->nodes, node) || kind_of(input, node) != taking->way->kind)
		return false;
	domain = taking->unlaunched ? outer_of(input, node)
				    : osp_topology_domain_of(input->topology, node, input->level);
	if (taking->near)
		return domain == taking->way->outer;
	return domain == OSP_NO_DOMAIN ? taking->unlaunched
				       : is_around(input->topology, domain, taking->way->domain);
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

/* Takes up to `most` more nodes, light ones first. */
static uint32_t take_light(const struct taking *taking, uint32_t most)
{
	uint32_t weight, taken;

	if (!most)
		return 0;
	weight = heaviest_taken(taking, most);
	taken = take_those(taking, LIGHTER, weight, most);
	return taken + take_those(taking, AS_HEAVY, weight, most - taken);
}

/* Takes up to `most` more nodes of `set`: required ones first, then near ones, then light ones. */
static uint32_t take(const struct osp_launch_input *input, const struct way *way,
		     const struct osp_nodeset *set, bool unlaunched, uint32_t most,
		     struct osp_nodeset *nodes)
{
	struct taking taking = {input, way, set, unlaunched, nodes, false};
	uint32_t taken = take_those(&taking, REQUIRED, 0, most);

	if (unlaunched && way->near) {
		taking.near = true;
		taken += take_light(&taking, most - taken);
		taking.near = false;
	}
	return taken + take_light(&taking, most - taken);
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
