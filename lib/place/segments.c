/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segments.c - decides whether a gang's segments fit, and chooses their nodes */
#include "lib/place/segments.h"

#include <stdlib.h>
#include <string.h>

#include "lib/place/place_private.h"

#define NO_FIT UINT32_MAX

/*
 * What one domain at a level of the call offers. `units` are segments of the step below (at the
 * lowest step, nodes).
 */
struct part {
	uint32_t units;	 /* of all its parts */
	uint32_t offers; /* whole segments of its own step */
	uint32_t loss;	 /* how many of these the smaller last segment costs here; NO_FIT: it has
		        * no room */
	uint32_t loss_below; /* the least loss of its parts */
	uint32_t head;	     /* its first part, linked by `next`; OSP_NO_DOMAIN: none */
	uint32_t next;
};

/* One step from nodes to the gang: segments of each level, then the gang's domains. */
struct step {
	uint32_t level;
	uint32_t join; /* units that make a segment of this step; 0: none, the gang's level */
	uint32_t last; /* units of the smaller last segment */
	bool below;    /* and a smaller last one of the step below */
};

struct osp_cut {
	const struct osp_topology *topology;
	const struct osp_cut_input *input;
	struct part *parts;		/* by domain */
	uint32_t *node_next;		/* free nodes of a domain of the lowest step, by rank */
	uint32_t *take;			/* by domain of the gang's level: segments to take */
	uint32_t *keys, *order, *spare; /* for sorting parts */
	uint32_t *list;
	struct step steps[OSP_LEVELS_MAX + 1];
	uint32_t step_count;
	uint32_t whole; /* segments of the highest level */
	uint32_t host;	/* domain of the gang's level that takes the smaller last segment */
	bool last;	/* there is a smaller last segment */
};

struct osp_cut *osp_cut_new(const struct osp_topology *topology)
{
	struct osp_cut *cut = calloc(1, sizeof(*cut));
	size_t nodes = (size_t)osp_topology_node_count(topology) + 1;
	size_t domains = (size_t)osp_topology_domain_room(topology) + 1;
	size_t most = nodes > domains ? nodes : domains;

	if (!cut)
		return NULL;
	cut->topology = topology;
	cut->parts = calloc(domains, sizeof(*cut->parts));
	cut->node_next = calloc(nodes, sizeof(*cut->node_next));
	cut->take = calloc(domains, sizeof(*cut->take));
	cut->keys = calloc(most * 2, sizeof(*cut->keys));
	cut->order = calloc(most, sizeof(*cut->order));
	cut->spare = calloc(most, sizeof(*cut->spare));
	cut->list = calloc(most, sizeof(*cut->list));
	if (cut->parts && cut->node_next && cut->take && cut->keys && cut->order && cut->spare &&
	    cut->list)
		return cut;
	osp_cut_free(cut);
	return NULL;
}

bool osp_cut_in_one_zone(const struct osp_cut *cut, const struct osp_nodeset *nodes)
{
	return osp_topology_in_one_zone(cut->topology, nodes);
}

void osp_cut_free(struct osp_cut *cut)
{
	if (!cut)
		return;
	free(cut->parts);
	free(cut->node_next);
	free(cut->take);
	free(cut->keys);
	free(cut->order);
	free(cut->spare);
	free(cut->list);
	free(cut);
}

/* --- what is offered -------------------------------------------------------------------------- */

/*
 * Makes the steps of the input, and notes the rest of the gang that is no whole segment at each.
 * Returns false if the input makes no sense.
 */
static bool make_steps(struct osp_cut *cut, const struct osp_cut_input *input)
{
	const struct osp_segments *segments = &input->segments;
	uint32_t unit = 1, rest = 0;

	cut->input = input;
	cut->step_count = segments->count + 1;
	cut->whole = input->nodes;
	for (uint32_t i = 0; i < segments->count; i++) {
		uint32_t nodes = segments->segment[i].nodes;
		struct step *step = &cut->steps[i];

		if (!nodes || nodes % unit ||
		    !osp_topology_below(cut->topology, segments->segment[i].level, input->level) ||
		    (i && segments->segment[i].level <= segments->segment[i - 1].level))
			return false;
		step->level = segments->segment[i].level;
		step->join = nodes / unit;
		step->last = input->nodes % nodes / unit;
		step->below = rest != 0;
		rest = input->nodes % nodes;
		cut->whole = input->nodes / nodes;
		unit = nodes;
	}
	cut->steps[segments->count] =
		(struct step){.level = input->level, .join = 0, .last = 0, .below = rest != 0};
	cut->last = rest != 0;
	return input->nodes >= 1 && input->level >= 1 &&
	       input->level <= osp_topology_level_count(cut->topology);
}

static void clear_parts(struct osp_cut *cut, uint32_t level)
{
	uint32_t first, count;

	osp_topology_level_domains(cut->topology, level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++)
		cut->parts[domain] = (struct part){.loss_below = NO_FIT, .head = OSP_NO_DOMAIN};
}

static void count_nodes(struct osp_cut *cut)
{
	const uint32_t *domains = osp_topology_domains_of_nodes(cut->topology, cut->steps[0].level);
	const struct osp_nodeset *free_nodes = cut->input->free;
	uint32_t most = osp_topology_node_count(cut->topology);

	for (uint32_t word = 0; word < free_nodes->word_count && word * 64 < most; word++) {
		for (uint64_t bits = free_nodes->words[word]; bits; bits &= bits - 1) {
			uint32_t node = word * 64 + (uint32_t)__builtin_ctzll(bits);

			if (node < most && domains[node] != OSP_NO_DOMAIN)
				cut->parts[domains[node]].units++;
		}
	}
}

/* Returns the domain of `level` that `domain` (OSP_NO_DOMAIN: none) is or is in, or OSP_NO_DOMAIN.
 */
static uint32_t ancestor(const struct osp_cut *cut, uint32_t domain, uint32_t level)
{
	while (domain != OSP_NO_DOMAIN) {
		const struct osp_domain *about = osp_topology_domain(cut->topology, domain);

		if (about->level >= level)
			return about->level == level ? domain : OSP_NO_DOMAIN;
		domain = about->parent;
	}
	return OSP_NO_DOMAIN;
}

/*
 * Computes what a domain offers once all its parts are counted: whole segments, and the loss for
 * the smaller last one.
 */
static void offer(const struct step *step, struct part *part)
{
	uint32_t last = step->last;

	part->offers = step->join ? part->units / step->join : part->units;
	part->loss = NO_FIT;
	if (step->below) {
		if (part->loss_below == NO_FIT)
			return;
		last += part->loss_below;
	}
	if (last <= part->units)
		part->loss = part->offers -
			     (step->join ? (part->units - last) / step->join : part->units - last);
}

/* Returns whether the domain may hold the smaller last segment of this step. */
static bool takes_last(const struct step *step, const struct part *part)
{
	return (step->last || step->below) && part->loss != NO_FIT;
}

/* Adds what the domains of one step offer to those of the next. */
static void raise_step(struct osp_cut *cut, uint32_t at)
{
	const struct step *step = &cut->steps[at];
	uint32_t first, count;

	osp_topology_level_domains(cut->topology, step->level, &first, &count);
	for (uint32_t domain = first + count; domain-- > first;) {
		struct part *part = &cut->parts[domain], *above;
		uint32_t up;

		offer(step, part);
		if (at + 1 == cut->step_count || (!part->units && !takes_last(step, part)))
			continue;
		up = ancestor(cut, osp_topology_domain(cut->topology, domain)->parent,
			      cut->steps[at + 1].level);
		if (up == OSP_NO_DOMAIN)
			continue;
		above = &cut->parts[up];
		part->next = above->head;
		above->head = domain;
		above->units += part->offers;
		if (part->loss < above->loss_below)
			above->loss_below = part->loss;
	}
}

static void count_parts(struct osp_cut *cut)
{
	for (uint32_t i = 0; i < cut->step_count; i++)
		clear_parts(cut, cut->steps[i].level);
	count_nodes(cut);
	for (uint32_t i = 0; i < cut->step_count; i++)
		raise_step(cut, i);
}

/* --- which domains of the gang's level -------------------------------------------------------- */

/* Lists the domains that offer anything in cut->list, the most first. Returns how many. */
static uint32_t sort_domains(struct osp_cut *cut)
{
	uint32_t first, count, found = 0;

	osp_topology_level_domains(cut->topology, cut->input->level, &first, &count);
	for (uint32_t domain = first; domain < first + count; domain++) {
		if (!cut->parts[domain].units && cut->parts[domain].loss == NO_FIT)
			continue;
		cut->keys[found] = UINT32_MAX - cut->parts[domain].units;
		cut->list[found++] = domain;
	}
	osp_place_sort(cut->keys, 1, found, cut->order, cut->spare);
	for (uint32_t i = 0; i < found; i++)
		cut->spare[i] = cut->list[cut->order[i]];
	memcpy(cut->list, cut->spare, found * sizeof(*cut->list));
	return found;
}

/*
 * Computes the most whole segments that `k` of the listed domains offer beside the smaller last
 * one. Returns false if that fits nowhere. `host` gets the index of the domain that takes it.
 */
static bool best_of(const struct osp_cut *cut, uint32_t listed, uint32_t k, uint64_t *whole,
		    uint32_t *host)
{
	uint64_t sum = 0;
	bool found = !cut->last;

	if (k > listed)
		k = listed;
	for (uint32_t i = 0; i < k; i++)
		sum += cut->parts[cut->list[i]].units;
	*whole = cut->last ? 0 : sum;
	*host = listed;
	for (uint32_t i = 0; i < listed && cut->last && k; i++) {
		const struct part *part = &cut->parts[cut->list[i]];
		uint64_t here = sum;

		if (part->loss == NO_FIT)
			continue;
		/* it takes the place of the smallest of the k */
		if (i >= k)
			here = here - cut->parts[cut->list[k - 1]].units + part->units;
		here -= part->loss;
		if (!found || here > *whole) {
			*whole = here;
			*host = i;
		}
		found = true;
	}
	return found;
}

/* Returns the fewest domains that hold the gang; 0: none do. The list is sorted. */
static uint32_t fewest(const struct osp_cut *cut, uint32_t listed, uint32_t most)
{
	uint32_t low = 1, high = most < listed ? most : listed, host;
	uint64_t whole;

	if (!high || !best_of(cut, listed, high, &whole, &host) || whole < cut->whole)
		return 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (best_of(cut, listed, middle, &whole, &host) && whole >= cut->whole)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Decides whether the gang fits. Returns the number of listed domains. */
static uint32_t decide(struct osp_cut *cut, const struct osp_cut_input *input,
		       struct osp_cut_answer *answer)
{
	uint32_t listed, host;
	uint64_t whole;

	memset(answer, 0, sizeof(*answer));
	if (!make_steps(cut, input))
		return 0;
	count_parts(cut);
	listed = sort_domains(cut);
	answer->whole_needed = cut->whole;
	answer->last_fits = best_of(cut, listed, input->domains_max, &whole, &host);
	answer->whole_offered = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
	answer->domains = fewest(cut, listed, input->domains_max);
	answer->fits = answer->domains != 0;
	return listed;
}

void osp_cut_judge(struct osp_cut *cut, const struct osp_cut_input *input,
		   struct osp_cut_answer *answer)
{
	decide(cut, input, answer);
}

uint32_t osp_cut_offered(const struct osp_cut *cut, uint32_t domain)
{
	return cut->parts[domain].units;
}

/* --- shares ----------------------------------------------------------------------------------- */

/*
 * Returns how many segments the domain at `index` of the list may take, with the smaller last one
 * if it is the host.
 */
static uint32_t room_at(const struct osp_cut *cut, uint32_t index, uint32_t host)
{
	const struct part *part = &cut->parts[cut->list[index]];

	return part->units - (index == host ? part->loss : 0);
}

/*
 * Chooses the domains of the gang, as indices into cut->order: the host, and of the others those
 * that hold an even share with the fewest left over, or the largest if too few hold an even share.
 */
static void choose_domains(struct osp_cut *cut, uint32_t listed, uint32_t k, uint32_t host)
{
	uint32_t share = cut->whole / k + (cut->whole % k != 0), holding = 0, taken = 0, from;

	while (holding < listed && room_at(cut, holding, host) >= share)
		holding++;
	if (host < listed && host >= holding && holding)
		holding = 0; /* not all can be even */
	from = holding >= k ? holding - k : 0;
	if (host < listed)
		cut->order[taken++] = host;
	/* the list is sorted: the smallest that hold a share are the last of those */
	for (uint32_t i = from; i < listed && taken < k; i++) {
		if (i != host)
			cut->order[taken++] = i;
	}
}

/* Divides the segments as evenly as the domains' room allows: cut->take by domain. */
static void share_out(struct osp_cut *cut, uint32_t k, uint32_t host)
{
	uint32_t left = cut->whole;

	for (uint32_t i = 0; i < k; i++)
		cut->take[cut->list[cut->order[i]]] = 0;
	while (left) {
		uint32_t open = 0, each;

		for (uint32_t i = 0; i < k; i++)
			open += cut->take[cut->list[cut->order[i]]] <
				room_at(cut, cut->order[i], host);
		if (!open)
			return;
		each = left / open ? left / open : 1;
		for (uint32_t i = 0; i < k && left; i++) {
			uint32_t *take = &cut->take[cut->list[cut->order[i]]];
			uint32_t more = room_at(cut, cut->order[i], host) - *take;

			more = more < each ? more : each;
			more = more < left ? more : left;
			*take += more;
			left -= more;
		}
	}
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* A part and what it has to give. */
struct order_for {
	uint32_t domain;
	uint32_t units; /* of the step below */
	bool last;	/* and the smaller last segment of the step below */
};

/*
 * Takes nodes of a domain of the lowest step: those that need no boot first, then light ones, then
 * by rank. Returns how many.
 */
static uint32_t take_nodes(struct osp_cut *cut, uint32_t domain, uint32_t wanted,
			   struct osp_nodeset *chosen)
{
	const struct osp_domain *about = osp_topology_domain(cut->topology, domain);
	const struct osp_cut_input *input = cut->input;
	uint32_t found = 0;

	for (uint32_t i = 0; i < about->node_count; i++) {
		uint32_t node = osp_topology_node_at_rank(cut->topology, about->first_rank + i);

		if (node >= input->free->place_count || !osp_nodeset_test(input->free, node))
			continue;
		cut->keys[2 * found] = input->boot && node < input->boot->place_count &&
				       osp_nodeset_test(input->boot, node);
		cut->keys[2 * found + 1] = input->weight ? input->weight[node] : 0;
		cut->node_next[found++] = node;
	}
	osp_place_sort(cut->keys, 2, found, cut->order, cut->spare);
	for (uint32_t i = 0; i < wanted && i < found; i++)
		osp_nodeset_add(chosen, cut->node_next[cut->order[i]]);
	return wanted < found ? wanted : found;
}

/*
 * Lists the parts of a domain from cut->list + from on, sorted by what they offer, the most first;
 * `*count` is how many.
 */
static void list_parts(struct osp_cut *cut, uint32_t domain, uint32_t from, uint32_t *count)
{
	uint32_t found = 0;

	for (uint32_t part = cut->parts[domain].head; part != OSP_NO_DOMAIN;
	     part = cut->parts[part].next) {
		cut->keys[found] = UINT32_MAX - cut->parts[part].offers;
		cut->spare[found++] = part;
	}
	*count = found;
	memcpy(&cut->list[from], cut->spare, found * sizeof(*cut->list));
	osp_place_sort(cut->keys, 1, found, cut->order, cut->spare);
	for (uint32_t i = 0; i < found; i++)
		cut->spare[i] = cut->list[from + cut->order[i]];
	memcpy(&cut->list[from], cut->spare, found * sizeof(*cut->list));
}

/*
 * Returns the part to which the smaller last segment costs least; of equal ones the one that offers
 * most, since it is used in any case.
 */
static uint32_t find_host(const struct osp_cut *cut, uint32_t from, uint32_t count)
{
	uint32_t best = OSP_NO_DOMAIN;

	for (uint32_t i = from; i < from + count; i++) {
		const struct part *part = &cut->parts[cut->list[i]];

		if (part->loss != NO_FIT &&
		    (best == OSP_NO_DOMAIN || part->loss < cut->parts[best].loss))
			best = cut->list[i];
	}
	return best;
}

static uint32_t take_from(struct osp_cut *cut, uint32_t at, const struct order_for *wanted,
			  uint32_t from, struct osp_nodeset *chosen);

/* Takes segments of step `at` from one part. Returns how many nodes. */
static uint32_t take_part(struct osp_cut *cut, uint32_t at, uint32_t part, uint32_t segments,
			  bool last, uint32_t from, struct osp_nodeset *chosen)
{
	const struct step *step = &cut->steps[at];
	struct order_for wanted = {.domain = part,
				   .units = segments * step->join + (last ? step->last : 0),
				   .last = last && step->below};

	return take_from(cut, at, &wanted, from, chosen);
}

/* Takes what is wanted from the parts of a domain at step `at`. Returns how many nodes. */
static uint32_t take_from(struct osp_cut *cut, uint32_t at, const struct order_for *wanted,
			  uint32_t from, struct osp_nodeset *chosen)
{
	uint32_t count, left = wanted->units, host = OSP_NO_DOMAIN, taken = 0;

	if (!at)
		return take_nodes(cut, wanted->domain, wanted->units, chosen);
	list_parts(cut, wanted->domain, from, &count);
	if (wanted->last)
		host = find_host(cut, from, count);
	for (uint32_t i = from; i < from + count && (left || host != OSP_NO_DOMAIN); i++) {
		uint32_t part = cut->list[i], room = cut->parts[part].offers, use;
		bool is_host = part == host;

		room -= is_host ? cut->parts[part].loss : 0;
		/* for the rest, the smallest part that holds it */
		if (!is_host && room >= left && i + 1 < from + count && left &&
		    cut->list[i + 1] != host && cut->parts[cut->list[i + 1]].offers >= left)
			continue;
		use = room < left ? room : left;
		if (!use && !is_host)
			continue;
		taken += take_part(cut, at - 1, part, use, is_host, from + count, chosen);
		left -= use;
		host = is_host ? OSP_NO_DOMAIN : host;
	}
	return taken;
}

uint32_t osp_cut_pick(struct osp_cut *cut, const struct osp_cut_input *input,
		      struct osp_nodeset *chosen)
{
	struct osp_cut_answer answer;
	uint32_t listed, host, taken = 0, k;
	uint64_t whole;

	osp_nodeset_clear(chosen);
	listed = decide(cut, input, &answer);
	k = answer.domains;
	if (!k)
		return 0;
	best_of(cut, listed, k, &whole, &host);
	choose_domains(cut, listed, k, host);
	share_out(cut, k, host);
	/* the following calls use the list: the domains chosen go to its start */
	for (uint32_t i = 0; i < k; i++)
		cut->spare[i] = cut->list[cut->order[i]];
	host = host < listed ? cut->list[host] : OSP_NO_DOMAIN;
	memcpy(cut->list, cut->spare, k * sizeof(*cut->list));
	for (uint32_t i = 0; i < k; i++) {
		struct order_for wanted = {.domain = cut->list[i],
					   .units = cut->take[cut->list[i]],
					   .last = cut->list[i] == host && cut->last};

		taken += take_from(cut, cut->step_count - 1, &wanted, k, chosen);
	}
	return taken;
}
