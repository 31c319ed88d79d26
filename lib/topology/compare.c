/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare.c - compares two topologies over the nodes that could not have changed */
#include "lib/topology/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

struct comparison {
	const struct osp_topology *before;
	const struct osp_topology *after;
	uint32_t *same;	 /* by node of `before`: the counted node of `after`, or OSP_NO_NODE */
	uint32_t *image; /* by domain of `before`: the domain of `after` that most of its nodes are
			    in */
	uint32_t *votes; /* scratch: by domain of `after` */
	uint32_t level[OSP_LEVELS_MAX + 1]; /* by level of `before`: the one of that name, or 0 */
	uint32_t *lost; /* by node of `before`: the levels that it loses, a bit each */
	bool *moved;
};

static int take_memory(struct comparison *c)
{
	size_t nodes = (size_t)osp_topology_node_count(c->before) + 1;

	c->same = calloc(nodes, sizeof(*c->same));
	c->lost = calloc(nodes, sizeof(*c->lost));
	c->moved = calloc(nodes, sizeof(*c->moved));
	c->image = calloc((size_t)osp_topology_listed_domains(c->before) + 1, sizeof(*c->image));
	c->votes = calloc((size_t)osp_topology_listed_domains(c->after) + 1, sizeof(*c->votes));
	return c->same && c->lost && c->moved && c->image && c->votes ? 0 : -1;
}

/* Returns the levels at which the node has a domain, a bit each: bit n is level n. */
static uint32_t levels_of(const struct osp_topology *topology, uint32_t node)
{
	uint32_t levels = 0;

	for (uint32_t level = 1; level <= osp_topology_last_level(topology); level++) {
		if (osp_topology_domain_of(topology, node, level) != OSP_NO_DOMAIN)
			levels |= 1U << level;
	}
	return levels;
}

static bool has_place(const struct osp_topology *topology, uint32_t node)
{
	return levels_of(topology, node) != 0;
}

/* Pairs levels by their names: nodes of another kind bring levels, and take them away. */
static void pair_levels(struct comparison *c)
{
	for (uint32_t level = 1; level <= osp_topology_last_level(c->before); level++) {
		int after = osp_topology_level(c->after, osp_topology_level_name(c->before, level));

		c->level[level] = after > 0 ? (uint32_t)after : 0;
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
		if (c->same[n] == OSP_NO_NODE)
			c->lost[n] = levels_of(c->before, n);
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
	for (uint32_t level = 1; level <= osp_topology_last_level(c->before); level++) {
		uint32_t before = osp_topology_domain_of(c->before, node, level), after;

		if (before == OSP_NO_DOMAIN)
			continue;
		after = domain_after(c, node, level);
		if (after == OSP_NO_DOMAIN)
			c->lost[node] |= 1U << level;
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
	for (uint32_t d = 0; d < osp_topology_listed_domains(c->before); d++)
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

	for (uint32_t d = 0; d < osp_topology_listed_domains(c->before); d++) {
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
		for (uint32_t level = 1; level <= osp_topology_last_level(c->before); level++) {
			uint32_t d = osp_topology_domain_of(c->before, n, level);

			if (d != OSP_NO_DOMAIN && c->image[d] != OSP_NO_DOMAIN &&
			    largest[c->image[d]] != d + 1)
				c->moved[n] = true;
		}
	}
}

/* Counts a node that has lost something, at each level, or once if nothing is left. */
static void count_lost(const struct comparison *c, uint32_t node,
		       struct osp_topology_change *change)
{
	if (!change->lost++)
		snprintf(change->lost_first, sizeof(change->lost_first), "%s",
			 osp_topology_node_name(c->before, node));
	if (c->lost[node] == levels_of(c->before, node)) {
		change->lost_all++;
		return;
	}
	for (uint32_t level = 1; level <= osp_topology_last_level(c->before); level++)
		change->levels[level - 1].nodes += (c->lost[node] >> level) & 1;
}

static void sum_up(const struct comparison *c, struct osp_topology_change *change)
{
	for (uint32_t level = 1; level <= osp_topology_last_level(c->before); level++)
		snprintf(change->levels[level - 1].level, sizeof(change->levels[0].level), "%s",
			 osp_topology_level_name(c->before, level));
	for (uint32_t n = 0; n < osp_topology_node_count(c->before); n++) {
		if (c->lost[n])
			count_lost(c, n, change);
		else if (c->moved[n] && !change->moved++)
			snprintf(change->moved_first, sizeof(change->moved_first), "%s",
				 osp_topology_node_name(c->before, n));
	}
}

int osp_topology_compare(const struct osp_topology *before, const struct osp_topology *after,
			 osp_counts_f *counts, void *context, struct osp_topology_change *change)
{
	struct comparison c = {.before = before, .after = after};
	int rc = take_memory(&c);

	memset(change, 0, sizeof(*change));
	if (!rc) {
		pair_levels(&c);
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

/* Adds "2 of every level, 4 of level nvlink", for nodes that do not all lose the same. */
static void add_levels(const struct osp_topology_change *change, struct osp_text *text)
{
	const char *separator = "";

	if (change->lost_all) {
		osp_text_printf(text, "%u of every level", change->lost_all);
		separator = ", ";
	}
	for (uint32_t i = 0; i < OSP_LEVELS_MAX; i++) {
		if (!change->levels[i].nodes)
			continue;
		osp_text_printf(text, "%s%u of level %s", separator, change->levels[i].nodes,
				change->levels[i].level);
		separator = ", ";
	}
}

/* Returns the one level that all lost nodes lose, and nothing else; NULL if there is none. */
static const char *only_level(const struct osp_topology_change *change)
{
	const char *only = NULL;

	for (uint32_t i = 0; i < OSP_LEVELS_MAX; i++) {
		if (!change->levels[i].nodes)
			continue;
		if (only || change->levels[i].nodes != change->lost)
			return NULL;
		only = change->levels[i].level;
	}
	return only;
}

/* Says what the nodes lose, behind "nodes that run lose ". */
static void add_what_is_lost(const struct osp_topology_change *change, struct osp_text *text)
{
	const char *level = only_level(change);

	if (change->lost_all == change->lost)
		osp_text_printf(text, "their place (%s is the first)", change->lost_first);
	else if (level)
		osp_text_printf(text, "their domain of level %s (%s is the first)", level,
				change->lost_first);
	else {
		osp_text_printf(text, "a domain (%s is the first): ", change->lost_first);
		add_levels(change, text);
	}
}

static int refuse_lost(const struct osp_topology_guard *guard,
		       const struct osp_topology_change *change, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *lost;

	add_what_is_lost(change, &text);
	lost = osp_text_take(&text);
	osp_error_set(error, "%u of %u nodes that run lose %.400s; max_lost is %u %%", change->lost,
		      change->counted, lost ? lost : "their place or a part of it",
		      guard->max_lost_percent);
	free(lost);
	return -1;
}

int osp_topology_guard(const struct osp_topology_guard *guard,
		       const struct osp_topology_change *change, struct osp_error *error)
{
	uint64_t counted = change->counted;

	if (!counted)
		return 0;
	if ((uint64_t)change->lost * 100 > guard->max_lost_percent * counted)
		return refuse_lost(guard, change, error);
	if ((uint64_t)change->moved * 100 > guard->max_moved_percent * counted)
		return osp_error_set(error,
				     "%u of %u nodes that run move to another domain (%s is the "
				     "first); max_moved is %u %%",
				     change->moved, change->counted, change->moved_first,
				     guard->max_moved_percent);
	return 0;
}
