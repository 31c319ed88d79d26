/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_start.c - what slurmctld writes of the nodes of a gang that starts: leaves, order, ranks */
#include "lib/layout/gang_start.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/layout/gang_order_private.h"
#include "lib/topology/leaf_list.h"
#include "lib/topology/leaf_pack.h"

static void add_axis(struct osp_text *text, uint32_t size, uint32_t stride)
{
	osp_text_printf(text, "%s%ux%u", text->length_bytes ? "." : "", size, stride);
}

static void add_grid(struct osp_text *text, const struct osp_segments *segments, uint32_t spares,
		     const struct osp_arrangement *arrangement)
{
	uint32_t unit = 1, stride = 1;

	for (uint32_t i = 0; arrangement && i < arrangement->count; i++)
		add_axis(text, arrangement->axis[i].size, arrangement->axis[i].stride);
	for (uint32_t i = 0; !arrangement && i < segments->count; i++) {
		uint32_t size = segments->segment[i].nodes / unit;

		if (!i && size > spares)
			size -= spares;
		add_axis(text, size, stride);
		stride *= size;
		unit = segments->segment[i].nodes;
	}
	if (!text->length_bytes)
		add_axis(text, 1, 1);
}

/* --- several domains -------------------------------------------------------------------------- */

/* Places in the order of the fabric, in blocks: the largest segments, or runs in one leaf. */
struct places {
	const struct osp_topology *topology;
	const uint32_t *nodes;
	uint32_t *order;
	uint32_t count;
	uint32_t unit;	/* of a segment; 0: there are none */
	uint32_t level; /* of the domains */
};

static uint32_t domain_at(const struct places *places, uint32_t place, uint32_t level)
{
	return osp_topology_domain_of(places->topology, places->nodes[places->order[place]], level);
}

static bool is_block_start(const struct places *places, uint32_t place)
{
	return places->unit
		       ? place % places->unit == 0
		       : !place || domain_at(places, place, 1) != domain_at(places, place - 1, 1);
}

static uint32_t place_of_first_name(const struct places *places)
{
	uint32_t first = osp_first_name(places->topology, places->nodes, places->count), at = 0;

	while (places->order[at] != first)
		at++;
	return at;
}

/* Rotates the places `from` to `to` until `lead` is the first of them. */
static void rotate(uint32_t *order, uint32_t from, uint32_t lead, uint32_t to, uint32_t *scratch)
{
	size_t head = lead - from, tail = to - lead;

	memcpy(scratch, order + lead, tail * sizeof(*order));
	memcpy(scratch + tail, order + from, head * sizeof(*order));
	memcpy(order + from, scratch, (head + tail) * sizeof(*order));
}

/*
 * Lets the domain with the first name lead, in it its block, and in a leaf the name itself, so that
 * ranks leave no domain before all of its nodes have theirs. Returns false if nothing has to be
 * done: all are in one domain, or its block is the first of its domain.
 */
static bool lead_with_domain(struct places *places, uint32_t *scratch)
{
	uint32_t first = place_of_first_name(places), block = first, end = first + 1;
	uint32_t domain = domain_at(places, first, places->level), from, to;

	while (!is_block_start(places, block))
		block--;
	while (end < places->count && !is_block_start(places, end))
		end++;
	for (from = block; from && domain_at(places, from - 1, places->level) == domain; from--)
		;
	for (to = end; to < places->count && domain_at(places, to, places->level) == domain; to++)
		;
	if (to - from == places->count || block == from)
		return false;
	if (!places->unit)
		rotate(places->order, block, first, end, scratch);
	rotate(places->order, from, block, to, scratch);
	rotate(places->order, 0, from, places->count, scratch);
	return true;
}

/* Orders the places of a gang in several domains. *runs: ranks are places, without segments. */
static int order_domains(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
			 const struct osp_segments *segments, uint32_t level, uint32_t *order,
			 bool *runs)
{
	uint32_t unit = segments->count ? segments->segment[segments->count - 1].nodes : 0;
	struct places places = {topology, nodes, order, count, unit, level};
	uint32_t *scratch;

	*runs = false;
	for (uint32_t i = 0; i < segments->count; i++) {
		if (count % segments->segment[i].nodes)
			return 0;
	}
	scratch = calloc((size_t)count + 1, sizeof(*scratch));
	if (!scratch)
		return -1;
	*runs = count && lead_with_domain(&places, scratch) && !unit;
	free(scratch);
	return 0;
}

/* --- segments that do not divide it ----------------------------------------------------------- */

/* Returns whether that place is in a segment smaller than the others (gang_order.c,
 * rank_in_segments()). */
static bool is_in_smaller(const struct osp_segments *segments, uint32_t count, uint32_t at)
{
	for (uint32_t i = segments->count; i--;) {
		uint32_t size = segments->segment[i].nodes, whole = count / size;

		if (whole && at / size == whole)
			return true;
		count = at / size < whole ? size : count % size;
		at %= size;
	}
	return false;
}

/* Returns the first name if it is in such a segment. */
static const char *small_first(const struct osp_gang_start *start,
			       const struct osp_segments *segments)
{
	struct places places = {.topology = start->topology,
				.nodes = start->nodes,
				.order = start->order,
				.count = start->count};
	uint32_t at = start->count ? place_of_first_name(&places) : 0;

	return start->count && is_in_smaller(segments, start->count, at)
		       ? osp_topology_node_name(start->topology, start->nodes[start->order[at]])
		       : NULL;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Sorts the nodes as the fabric has them, and gives each its place in the leaf list. */
static int sort_nodes(const struct osp_gang_start_input *input, struct osp_gang_start *start)
{
	struct osp_nodeset *places = osp_nodeset_new(osp_topology_node_count(input->topology));
	uint32_t last = OSP_NO_DOMAIN, place = 0;

	if (!places)
		return -1;
	if (input->count)
		memcpy(start->nodes, input->nodes, input->count * sizeof(*start->nodes));
	osp_topology_sort_nodes(input->topology, OSP_BY_RANK, start->nodes, input->count, places);
	for (uint32_t i = 0; i < start->count; i++) {
		uint32_t leaf = osp_topology_domain_of(input->topology, start->nodes[i], 1);

		start->leaf[i] = leaf;
		start->leaf_place[i] = leaf == OSP_NO_DOMAIN ? OSP_NO_PLACE : place++;
		start->leaf_count += leaf != OSP_NO_DOMAIN && leaf != last;
		last = leaf == OSP_NO_DOMAIN ? last : leaf;
	}
	free(places);
	return 0;
}

static bool is_ascending(const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (order[i - 1] > order[i])
			return false;
	}
	return true;
}

/* Makes places and their grid. */
static int order_nodes(const struct osp_gang_start_input *input, struct osp_gang_start *start)
{
	bool by_domains = input->level && !input->arrangement, runs = false;
	struct osp_text grid = OSP_TEXT_INIT;

	if (osp_node_places(input->segments, start->topology, start->nodes, start->count,
			    start->order))
		return -1;
	if (input->segments->count)
		start->small_first = small_first(start, input->segments);
	if (by_domains && order_domains(start->topology, start->nodes, start->count,
					input->segments, input->level, start->order, &runs))
		return -1;
	if (by_domains && !input->segments->count && !runs)
		return 0;
	if (runs)
		add_axis(&grid, start->count, 1);
	else
		add_grid(&grid, input->segments, input->spares, input->arrangement);
	start->listed = !is_ascending(start->order, start->count);
	start->grid = osp_text_take(&grid);
	return start->grid ? 0 : -1;
}

int osp_gang_start_make(const struct osp_gang_start_input *input, struct osp_gang_start *start)
{
	size_t room = (size_t)input->count + 1;
	int rc = -1;

	*start = (struct osp_gang_start){.topology = input->topology, .count = input->count};
	start->nodes = calloc(room, sizeof(*start->nodes));
	start->leaf = calloc(room, sizeof(*start->leaf));
	start->leaf_place = calloc(room, sizeof(*start->leaf_place));
	start->order = calloc(room, sizeof(*start->order));
	if (start->nodes && start->leaf && start->leaf_place && start->order)
		rc = sort_nodes(input, start);
	if (!rc && input->segments)
		rc = order_nodes(input, start);
	if (rc)
		osp_gang_start_clear(start);
	return rc;
}

void osp_gang_start_clear(struct osp_gang_start *start)
{
	free(start->nodes);
	free(start->leaf);
	free(start->leaf_place);
	free(start->order);
	free(start->grid);
	*start = (struct osp_gang_start){.topology = NULL};
}

/* --- texts ------------------------------------------------------------------------------------ */

char *osp_gang_start_leaves(const struct osp_gang_start *start, size_t most_bytes)
{
	return osp_leaf_list_of(start->topology, start->nodes, start->count, most_bytes);
}

/* Adds the names in order of their places: runs of ascending names, each as a compact list. Stops
 * when the text exceeds `most_bytes`. */
static void add_places(struct osp_text *text, const struct osp_gang_start *start,
		       const char **names, size_t most_bytes)
{
	const struct osp_topology *topology = start->topology;

	for (uint32_t from = 0, next; from < start->count && text->length_bytes <= most_bytes;
	     from = next) {
		uint32_t node = start->nodes[start->order[from]], before;
		char *list;

		names[0] = osp_topology_node_name(topology, node);
		for (next = from + 1; next < start->count; next++) {
			before = node;
			node = start->nodes[start->order[next]];
			if (osp_topology_name_place(topology, before) >
			    osp_topology_name_place(topology, node))
				break;
			names[next - from] = osp_topology_node_name(topology, node);
		}
		list = osp_hostlist_compact(names, next - from);
		osp_text_add(text, from ? "," : "/");
		if (list)
			osp_text_add(text, list);
		else
			text->failed = true;
		free(list);
	}
}

char *osp_gang_start_order(const struct osp_gang_start *start, size_t most_bytes)
{
	const char **names =
		start->listed ? calloc((size_t)start->count + 1, sizeof(*names)) : NULL;
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, start->grid);
	if (names)
		add_places(&text, start, names, most_bytes);
	else if (start->listed)
		text.failed = true;
	free(names);
	if (text.length_bytes > most_bytes)
		osp_text_free(&text);
	return osp_text_take(&text);
}

/* Returns the packed text of the order; "" if it is longer than `most_bytes`. */
static char *pack_order(const struct osp_gang_start *start, size_t most_bytes)
{
	uint32_t *places, count = 0;
	struct osp_text text = OSP_TEXT_INIT;
	char *packed;

	if (!start->listed)
		return strdup(start->grid);
	places = calloc((size_t)start->count + 1, sizeof(*places));
	if (!places)
		return NULL;
	for (uint32_t i = 0; i < start->count; i++) {
		uint32_t place = start->leaf_place[start->order[i]];

		if (place != OSP_NO_PLACE)
			places[count++] = place;
	}
	packed = osp_leaf_pack_places(places, count, most_bytes);
	free(places);
	if (packed && *packed)
		osp_text_printf(&text, "%s/%s", start->grid, packed);
	text.failed = text.failed || !packed;
	free(packed);
	return osp_text_take(&text);
}

bool osp_gang_start_pack(const struct osp_gang_start *start, size_t most_bytes, char **leaves,
			 char **order)
{
	bool none;

	*order = NULL;
	*leaves = osp_leaf_pack_nodes(start->topology, start->nodes, start->count, most_bytes);
	if (*leaves && **leaves && start->grid)
		*order = pack_order(start, most_bytes);
	if (!*leaves || (**leaves && start->grid && !*order)) {
		free(*leaves);
		*leaves = NULL;
		return false;
	}
	none = *order && (!**order || strlen(*leaves) + strlen(*order) > most_bytes);
	if (none) {
		**leaves = '\0';
		free(*order);
		*order = NULL;
	}
	return true;
}

/* --- ranks ------------------------------------------------------------------------------------ */

/* Those of the nodes that count. */
struct ranking {
	struct osp_order_member *members;
	uint32_t *member_of; /* by index into the gang's nodes; OSP_NO_PLACE: does not count */
	uint32_t count;
	uint32_t *runs, *numbers; /* by node rank */
};

/* Makes a member of each node of `of`, with its place in the order of the leaves. Returns false if
 * one has no leaf. */
static bool take_members(const struct osp_gang_start *start, const struct osp_nodeset *of,
			 struct ranking *ranking)
{
	uint32_t last = OSP_NO_DOMAIN, leaf_start = 0;
	bool all = true;

	for (uint32_t i = 0; i < start->count; i++) {
		uint32_t leaf = start->leaf[i], at = ranking->count;

		ranking->member_of[i] = OSP_NO_PLACE;
		if (start->nodes[i] == OSP_NO_NODE || !osp_nodeset_test(of, start->nodes[i]))
			continue;
		leaf_start = leaf == last ? leaf_start : at;
		last = leaf;
		ranking->member_of[i] = ranking->count++;
		ranking->members[at].place = at;
		ranking->members[at].leaf = leaf == OSP_NO_DOMAIN ? start->count : leaf_start;
		all = all && leaf != OSP_NO_DOMAIN;
	}
	return all;
}

/* Gives them their places in a listed order. Returns false if it has not as many. */
static bool place_members(const struct osp_gang_start *start, struct ranking *ranking)
{
	uint32_t place = 0;

	for (uint32_t at = 0; at < start->count && start->order[at] != OSP_NO_PLACE; at++) {
		uint32_t member = ranking->member_of[start->order[at]];

		if (member != OSP_NO_PLACE)
			ranking->members[member].place = place++;
	}
	return place == ranking->count;
}

/* Makes the numbers of all ranks. Returns false if two nodes have one rank. */
static bool number_ranks(struct ranking *ranking)
{
	memset(ranking->runs, 0xff, ranking->count * sizeof(*ranking->runs));
	for (uint32_t i = 0; i < ranking->count; i++) {
		const struct osp_order_member *member = &ranking->members[i];

		if (member->rank >= ranking->count || ranking->runs[member->rank] != OSP_NO_PLACE)
			return false;
		ranking->runs[member->rank] = member->leaf;
	}
	osp_order_make_runs(ranking->runs, ranking->count);
	osp_order_slurm_ranks(ranking->runs, ranking->count, ranking->numbers);
	return true;
}

/* Ranks the nodes of `of`, in which `first` is. */
static bool rank_nodes(const struct osp_gang_start *start, const struct osp_nodeset *of,
		       uint32_t first, struct ranking *ranking)
{
	bool all = take_members(start, of, ranking), ordered, small = false;
	uint32_t lead = OSP_NO_PLACE;
	struct osp_order_grid grid;
	const char *nodes;

	for (uint32_t i = 0; i < start->count; i++)
		lead = start->nodes[i] == first ? ranking->member_of[i] : lead;
	ordered = start->grid && osp_order_read_grid(start->grid, &grid, &nodes) &&
		  (grid.nodes == ranking->count || grid.natural);
	if (lead == OSP_NO_PLACE || ranking->count != osp_nodeset_count(of) ||
	    (!all && !(ordered && start->listed)) ||
	    (ordered && start->listed && !place_members(start, ranking)))
		return false;
	osp_order_rank(ranking->members, ranking->count, ordered ? &grid : NULL,
		       &ranking->members[lead], &small);
	return number_ranks(ranking);
}

bool osp_gang_start_ranks(const struct osp_gang_start *start, const struct osp_nodeset *of,
			  uint32_t first, uint32_t *ranks)
{
	size_t room = (size_t)start->count + 1;
	struct ranking ranking = {
		.members = calloc(room, sizeof(*ranking.members)),
		.member_of = calloc(room, sizeof(*ranking.member_of)),
		.runs = calloc(room, sizeof(*ranking.runs)),
		.numbers = calloc(room, sizeof(*ranking.numbers)),
	};
	bool good = ranking.members && ranking.member_of && ranking.runs && ranking.numbers &&
		    rank_nodes(start, of, first, &ranking);

	for (uint32_t i = 0; good && i < start->count; i++) {
		if (ranking.member_of[i] != OSP_NO_PLACE)
			ranks[start->nodes[i]] =
				ranking.numbers[ranking.members[ranking.member_of[i]].rank];
	}
	free(ranking.members);
	free(ranking.member_of);
	free(ranking.runs);
	free(ranking.numbers);
	return good;
}
