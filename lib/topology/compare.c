/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare.c - compares two topologies over the nodes that could not have changed */
#include "lib/topology/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
	const struct osp_topology *before;
	const struct osp_topology *after;
	uint32_t *same;	 /* by node of `before`: the counted node of `after`, or OSP_NO_NODE */
	uint32_t *image; /* by domain of `before`: the domain of `after` that most of its nodes are
			    in */
	uint32_t *votes; /* scratch: by domain of `after` */
	uint32_t level[OSP_LEVELS_MAX + 1]; /* by level of `before`: the one of that name, or 0 */
	bool *lost;
	bool *moved;
};

static int take_memory(struct comparison *c)
{
	size_t nodes = (size_t)osp_topology_node_count(c->before) + 1;

	c->same = calloc(nodes, sizeof(*c->same));
	c->lost = calloc(nodes, sizeof(*c->lost));
	c->moved = calloc(nodes, sizeof(*c->moved));
	c->image = calloc((size_t)osp_topology_domain_count(c->before) + 1, sizeof(*c->image));
	c->votes = calloc((size_t)osp_topology_domain_count(c->after) + 1, sizeof(*c->votes));
	return c->same && c->lost && c->moved && c->image && c->votes ? 0 : -1;
}

static bool has_place(const struct osp_topology *topology, uint32_t node)
{
	for (uint32_t level = 1; level <= osp_topology_level_count(topology); level++) {
		if (osp_topology_domain_of(topology, node, level) != OSP_NO_DOMAIN)
			return true;
	}
	return false;
}

/* Pairs levels by their names: nodes of another kind bring levels, and take them away. */
static void pair_levels(struct comparison *c, struct osp_topology_change *change)
{
	for (uint32_t level = 1; level <= osp_topology_level_count(c->before); level++) {
		const char *name = osp_topology_level_name(c->before, level);
		int after = osp_topology_level(c->after, name);

		c->level[level] = after > 0 ? (uint32_t)after : 0;
		if (after <= 0 && !change->level_gone[0])
			snprintf(change->level_gone, sizeof(change->level_gone), "%s", name);
	}
}

/* Finds where a node that is in both is now, by a level of `before`. */
static uint32_t domain_after(const struct comparison *c, uint32_t node, uint32_t level)
{
	return c->level[level] ? osp_topology_domain_of(c->after, c->same[node], c->level[level])
			       : OSP_NO_DOMAIN;
}

static void pair_nodes(struct comparison *c, osp_counts_f *counts, void *context,
		       struct osp_topology_change *change)
{
	for (uint32_t n = 0; n < osp_topology_node_count(c->before); n++) {
		const char *name = osp_topology_node_name(c->before, n);

		c->same[n] = OSP_NO_NODE;
		if (!has_place(c->before, n) || (counts && !counts(name, context)))
			continue;
		change->counted++;
		c->same[n] = osp_topology_find_node(c->after, name);
		c->lost[n] = c->same[n] == OSP_NO_NODE;
	}
}

static void count_gained(const struct comparison *c, struct osp_topology_change *change)
{
	for (uint32_t n = 0; n < osp_topology_node_count(c->after); n++) {
		uint32_t old =
			osp_topology_find_node(c->before, osp_topology_node_name(c->after, n));

		if (has_place(c->after, n) && (old == OSP_NO_NODE || !has_place(c->before, old)))
			change->gained++;
	}
}

/* Finds the domain that most nodes of a domain are in now. */
static void find_image(struct comparison *c, uint32_t number)
{
	const struct osp_domain *domain = osp_topology_domain(c->before, number);
	uint32_t best = OSP_NO_DOMAIN;

	for (int reset = 0; reset < 2; reset++) {
		for (uint32_t i = 0; i < domain->node_count; i++) {
			uint32_t node =
				osp_topology_node_at_rank(c->before, domain->first_rank + i);
			uint32_t other = c->same[node] == OSP_NO_NODE
						 ? OSP_NO_DOMAIN
						 : domain_after(c, node, domain->level);

			if (other == OSP_NO_DOMAIN)
				continue;
			if (reset)
				c->votes[other] = 0;
			else if (++c->votes[other] > (best == OSP_NO_DOMAIN ? 0 : c->votes[best]))
				best = other;
		}
	}
	c->image[number] = best;
}

static void compare_node(struct comparison *c, uint32_t node)
{
	for (uint32_t level = 1; level <= osp_topology_level_count(c->before); level++) {
		uint32_t before = osp_topology_domain_of(c->before, node, level), after;

		if (before == OSP_NO_DOMAIN)
			continue;
		after = domain_after(c, node, level);
		if (after == OSP_NO_DOMAIN)
			c->lost[node] = true;
		else if (after != c->image[before])
			c->moved[node] = true;
	}
}

/*
 * Finds the lost and moved nodes. The image is by majority of the nodes, so nodes of a domain that
 * is whole in the new one stay. If two domains became one, note_joined() moves the nodes of the
 * smaller: they are now nearer than they were.
 */
static void compare_nodes(struct comparison *c)
{
	for (uint32_t d = 0; d < osp_topology_domain_count(c->before); d++)
		find_image(c, d);
	for (uint32_t n = 0; n < osp_topology_node_count(c->before); n++) {
		if (c->same[n] != OSP_NO_NODE)
			compare_node(c, n);
	}
}

/* Notes as moved the nodes of all domains with the same image except the largest. */
static void note_joined(struct comparison *c)
{
	uint32_t *largest = c->votes; /* all zero again: by image, the largest domain and 1 */

	for (uint32_t d = 0; d < osp_topology_domain_count(c->before); d++) {
		uint32_t image = c->image[d];

		if (image == OSP_NO_DOMAIN)
			continue;
		if (!largest[image] ||
		    osp_topology_domain(c->before, d)->node_count >
			    osp_topology_domain(c->before, largest[image] - 1)->node_count)
			largest[image] = d + 1;
	}
	for (uint32_t n = 0; n < osp_topology_node_count(c->before); n++) {
		if (c->same[n] == OSP_NO_NODE)
			continue;
		for (uint32_t level = 1; level <= osp_topology_level_count(c->before); level++) {
			uint32_t d = osp_topology_domain_of(c->before, n, level);

			if (d != OSP_NO_DOMAIN && c->image[d] != OSP_NO_DOMAIN &&
			    largest[c->image[d]] != d + 1)
				c->moved[n] = true;
		}
	}
}

static void sum_up(const struct comparison *c, struct osp_topology_change *change)
{
	for (uint32_t n = 0; n < osp_topology_node_count(c->before); n++) {
		const char *name = osp_topology_node_name(c->before, n);

		if (c->lost[n] && !change->lost++)
			snprintf(change->lost_first, sizeof(change->lost_first), "%s", name);
		if (c->moved[n] && !c->lost[n] && !change->moved++)
			snprintf(change->moved_first, sizeof(change->moved_first), "%s", name);
	}
}

int osp_topology_compare(const struct osp_topology *before, const struct osp_topology *after,
			 osp_counts_f *counts, void *context, struct osp_topology_change *change)
{
	struct comparison c = {.before = before, .after = after};
	int rc = take_memory(&c);

	memset(change, 0, sizeof(*change));
	if (!rc) {
		pair_levels(&c, change);
		pair_nodes(&c, counts, context, change);
		count_gained(&c, change);
		compare_nodes(&c);
		note_joined(&c);
		sum_up(&c, change);
	}
	free(c.same);
	free(c.image);
	free(c.votes);
	free(c.lost);
	free(c.moved);
	return rc;
}

int osp_topology_guard(const struct osp_topology_guard *guard,
		       const struct osp_topology_change *change, struct osp_error *error)
{
	uint64_t counted = change->counted;

	if (!counted)
		return 0;
	if ((uint64_t)change->lost * 100 > guard->max_lost_percent * counted)
		return osp_error_set(
			error,
			"%u of %u nodes that run lose their place (%s is the first%s%s); "
			"max_lost is %u %%",
			change->lost, change->counted, change->lost_first,
			change->level_gone[0] ? "; there is no more level " : "",
			change->level_gone, guard->max_lost_percent);
	if ((uint64_t)change->moved * 100 > guard->max_moved_percent * counted)
		return osp_error_set(error,
				     "%u of %u nodes that run move to another domain (%s is the "
				     "first); max_moved is %u %%",
				     change->moved, change->counted, change->moved_first,
				     guard->max_moved_percent);
	return 0;
}
