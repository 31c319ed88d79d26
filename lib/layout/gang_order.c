/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_order.c - the order of a gang's nodes from the text that slurmctld wrote */
#include "lib/layout/gang_order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/layout/gang_order_private.h"
#include "lib/topology/leaf_list.h"
#include "lib/topology/leaf_pack.h"

struct making {
	struct osp_order_member *members; /* sorted by name once collected */
	uint32_t count, room;
	uint32_t placed;
	char *leaf; /* the leaf whose nodes are being placed */
	uint32_t leaf_start;
};

/* --- the nodes -------------------------------------------------------------------------------- */

static int add_member(const char *name, void *context)
{
	struct making *making = context;

	if (making->count == making->room) {
		uint32_t room = making->room ? 2 * making->room : 64;
		struct osp_order_member *grown = realloc(making->members, room * sizeof(*grown));

		if (!grown)
			return 1;
		making->members = grown;
		making->room = room;
	}
	making->members[making->count] = (struct osp_order_member){
		.name = strdup(name), .listed = making->count, .place = OSP_NO_PLACE};
	return making->members[making->count++].name == NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct osp_order_member *)a)->name,
		      ((const struct osp_order_member *)b)->name);
}

static struct osp_order_member *find(const struct making *making, const char *name)
{
	struct osp_order_member key = {.name = (char *)name};

	return making->count
		       ? bsearch(&key, making->members, making->count, sizeof(key), compare_names)
		       : NULL;
}

static void place(struct making *making, const char *name)
{
	struct osp_order_member *member = find(making, name);

	if (!member || member->place != OSP_NO_PLACE)
		return;
	member->place = making->placed++;
	member->leaf = making->leaf_start;
}

static int place_listed(const char *name, void *context)
{
	place(context, name);
	return 0;
}

static int place_of_leaf(const char *leaf, const char *name, void *context)
{
	struct making *making = context;

	if (!making->leaf || strcmp(making->leaf, leaf) != 0) {
		free(making->leaf);
		making->leaf = strdup(leaf);
		making->leaf_start = making->placed;
		if (!making->leaf)
			return 1;
	}
	place(making, name);
	return 0;
}

/* Numbers the leaves of nodes that a list has placed. */
static int number_leaf(const char *leaf, const char *name, void *context)
{
	struct making *making = context;
	struct osp_order_member *member = find(making, name);

	if (!making->leaf || strcmp(making->leaf, leaf) != 0) {
		free(making->leaf);
		making->leaf = strdup(leaf);
		making->leaf_start++;
		if (!making->leaf)
			return 1;
	}
	if (member)
		member->leaf = making->leaf_start;
	return 0;
}

/* --- the text --------------------------------------------------------------------------------- */

/* Reads a number of nodes, which does not begin with 0. */
static bool read_nodes(const char **at, uint32_t *nodes)
{
	return **at != '0' && osp_read_number(at, OSP_HOSTLIST_NAMES_MAX, nodes);
}

bool osp_order_read_grid(const char *text, struct osp_order_grid *grid, const char **nodes)
{
	memset(grid, 0, sizeof(*grid));
	grid->nodes = 1;
	grid->natural = true;
	do {
		uint32_t i = grid->count++;

		if (i == OSP_NODE_AXES_MAX || !read_nodes(&text, &grid->size[i]) ||
		    *text++ != 'x' || !read_nodes(&text, &grid->stride[i]))
			return false;
		grid->natural = grid->natural && grid->stride[i] == grid->nodes;
		grid->nodes *= grid->size[i];
		if (grid->nodes > OSP_HOSTLIST_NAMES_MAX)
			return false;
	} while (*text == '.' && text++);
	*nodes = *text == '/' ? text + 1 : NULL;
	return !*text || *nodes;
}

/* --- ranks ------------------------------------------------------------------------------------ */

/*
 * Returns the rank in a grid that has as many nodes as the gang: each digit counts from that of the
 * first name.
 */
static uint32_t rank_in_grid(const struct osp_order_grid *grid, uint32_t at, uint32_t first)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < grid->count; i++) {
		uint32_t size = grid->size[i];

		rank += (at % size + size - first % size) % size * grid->stride[i];
		at /= size;
		first /= size;
	}
	return rank;
}

/* Segments of segments, the largest first, at last single nodes. */
struct units {
	uint32_t count;
	uint32_t nodes[OSP_NODE_AXES_MAX + 1];
	uint32_t in_one[OSP_NODE_AXES_MAX + 1]; /* how many are in a whole unit above */
	uint32_t lead[OSP_NODE_AXES_MAX + 1];	/* the one with the first name */
};

/* Returns the units; `first` is the place of the first name among `count`. */
static struct units units_of(const struct osp_order_grid *grid, uint32_t count, uint32_t first)
{
	struct units units = {.count = 0};
	uint64_t nodes = grid->nodes;
	uint32_t above = count;

	for (uint32_t axis = grid->count;; nodes /= grid->size[--axis]) {
		uint32_t size = (uint32_t)nodes, i = units.count++;

		units.nodes[i] = size;
		units.in_one[i] = above / size;
		units.lead[i] = first / size;
		first %= size;
		above = size;
		if (!axis)
			return units;
	}
}

/*
 * Returns the rank in segments of segments that need not divide the gang. From the largest segments
 * on: rotates the whole segments until the one with the first name leads, and keeps the smaller
 * last one last. If the smaller one has the first name, it comes first, and *small_first is set.
 */
static uint32_t rank_in_segments(const struct units *units, uint32_t count, uint32_t at,
				 bool *small_first)
{
	uint32_t rank = 0, length = count;
	bool with_first = true, above_whole = true;

	for (uint32_t i = 0; i < units->count; i++) {
		uint32_t size = units->nodes[i], lead = units->lead[i];
		uint32_t whole = above_whole ? units->in_one[i] : length / size;
		uint32_t rest = length - whole * size;
		uint32_t mine = size == 1 ? at : at / size;

		if (!with_first)
			rank += mine * size;
		else if (lead == whole && whole)
			rank += mine == whole ? 0 : rest + mine * size;
		else if (mine == whole)
			rank += whole * size;
		else
			rank += (mine < lead ? mine + whole - lead : mine - lead) * size;
		*small_first = *small_first || (with_first && lead == whole && whole);
		with_first = with_first && mine == lead;
		above_whole = mine < whole;
		length = above_whole ? size : rest;
		at -= mine * size;
	}
	return rank;
}

/*
 * Returns the rank in the order of the leaves, rotated until the first name's leaf leads, and its
 * nodes until that name does.
 */
static uint32_t rank_in_leaves(uint32_t count, const struct osp_order_member *member,
			       const struct osp_order_member *first, uint32_t leaf_nodes)
{
	if (member->leaf == first->leaf)
		return (member->place + leaf_nodes - first->place) % leaf_nodes;
	return (member->place + count - first->leaf) % count;
}

void osp_order_rank(struct osp_order_member *members, uint32_t count,
		    const struct osp_order_grid *grid, const struct osp_order_member *first,
		    bool *small_first)
{
	struct units units = {.count = 0};
	uint32_t leaf_nodes = 0;

	if (grid)
		units = units_of(grid, count, first->place);
	for (uint32_t i = 0; i < count; i++)
		leaf_nodes += members[i].leaf == first->leaf;
	for (uint32_t i = 0; i < count; i++) {
		struct osp_order_member *member = &members[i];

		if (!grid)
			member->rank = rank_in_leaves(count, member, first, leaf_nodes);
		else if (grid->nodes == count)
			member->rank = rank_in_grid(grid, member->place, first->place);
		else
			member->rank = rank_in_segments(&units, count, member->place, small_first);
	}
}

static const struct osp_order_member *first_listed(const struct making *making)
{
	for (uint32_t i = 0; i < making->count; i++) {
		if (making->members[i].listed == 0)
			return &making->members[i];
	}
	return NULL;
}

void osp_order_make_runs(uint32_t *runs, uint32_t count)
{
	uint32_t run = 0, before = count ? runs[0] : 0;

	for (uint32_t rank = 0; rank < count; rank++) {
		run += runs[rank] != before;
		before = runs[rank];
		runs[rank] = run;
	}
}

/*
 * Moves the names to `made`, by rank. Returns false if two nodes have one rank, a rank is beyond
 * the last, or memory ran out.
 */
static bool hand_over(struct making *making, struct osp_gang_ranks *made)
{
	made->names = calloc(making->count, sizeof(*made->names));
	made->runs = calloc(making->count, sizeof(*made->runs));
	if (!made->names || !made->runs)
		return false;
	made->count = making->count;
	made->listed = true;
	for (uint32_t i = 0; i < making->count; i++) {
		struct osp_order_member *member = &making->members[i];

		if (member->rank >= making->count || made->names[member->rank])
			return false;
		made->listed = made->listed && member->rank == member->listed;
		made->names[member->rank] = member->name;
		made->runs[member->rank] = member->leaf;
		member->name = NULL;
	}
	osp_order_make_runs(made->runs, made->count);
	return true;
}

static bool make_of(struct making *making, const char *leaves, const char *order,
		    struct osp_gang_ranks *made)
{
	const char *nodes = NULL;
	struct osp_order_grid grid;

	if (order && !osp_order_read_grid(order, &grid, &nodes))
		return false;
	if (order && grid.nodes != making->count && !grid.natural) {
		order = NULL;
		nodes = NULL;
	}
	if (nodes ? osp_hostlist_expand(nodes, place_listed, making, NULL)
		  : osp_leaf_list_each(leaves, place_of_leaf, making))
		return false;
	if (making->placed != making->count ||
	    (nodes && osp_leaf_list_each(leaves, number_leaf, making)))
		return false;
	osp_order_rank(making->members, making->count, order ? &grid : NULL, first_listed(making),
		       &made->small_first);
	return hand_over(making, made);
}

/* --- packed ----------------------------------------------------------------------------------- */

typedef char *convert_f(const char *leaves, const char *names);

/* Returns the text with its nodes converted; a copy if it has none, or has them so. */
static char *convert(const char *leaves, const char *order, bool packed, convert_f *converted)
{
	const char *slash = strchr(order, '/');
	struct osp_text text = OSP_TEXT_INIT;
	char *nodes;

	if (!slash || (slash[1] == '~') == packed)
		return strdup(order);
	nodes = converted(leaves, slash + 1);
	osp_text_add_bytes(&text, order, (size_t)(slash + 1 - order));
	if (nodes)
		osp_text_add(&text, nodes);
	else
		text.failed = true;
	free(nodes);
	return osp_text_take(&text);
}

char *osp_gang_order_pack(const char *leaves, const char *order)
{
	return convert(leaves, order, true, osp_leaf_pack_names);
}

char *osp_gang_order_unpack(const char *leaves, const char *order)
{
	return convert(leaves, order, false, osp_leaf_unpack_names);
}

/* --- all -------------------------------------------------------------------------------------- */

/* Makes it of texts that may be packed. */
static bool make(struct making *making, const char *leaves, const char *order,
		 struct osp_gang_ranks *made)
{
	char *list = osp_leaf_is_packed(leaves) ? osp_leaf_unpack(leaves) : strdup(leaves);
	char *names = list && order ? osp_gang_order_unpack(list, order) : NULL;
	bool good = list && (!order || names) && make_of(making, list, names, made);

	free(list);
	free(names);
	return good;
}

int osp_gang_order_make(const char *nodes, const char *leaves, const char *order,
			struct osp_gang_ranks *made)
{
	struct making making = {.members = NULL};
	bool good = osp_hostlist_expand(nodes, add_member, &making, NULL) == 0 && making.count;

	memset(made, 0, sizeof(*made));
	if (good) {
		qsort(making.members, making.count, sizeof(*making.members), compare_names);
		good = make(&making, leaves, order, made);
	}
	for (uint32_t i = 0; i < making.count; i++)
		free(making.members[i].name);
	free(making.members);
	free(making.leaf);
	if (!good)
		osp_gang_order_clear(made);
	return good ? 0 : -1;
}

void osp_gang_order_clear(struct osp_gang_ranks *order)
{
	for (uint32_t i = 0; order->names && i < order->count; i++)
		free(order->names[i]);
	free(order->names);
	free(order->runs);
	memset(order, 0, sizeof(*order));
}

long osp_gang_order_rank(const struct osp_gang_ranks *order, const char *node)
{
	for (uint32_t i = 0; i < order->count; i++) {
		if (!strcmp(order->names[i], node))
			return (long)i;
	}
	return -1;
}

void osp_order_slurm_ranks(const uint32_t *runs, uint32_t count, uint32_t *ranks)
{
	bool fits = count <= UINT16_MAX;

	for (uint32_t rank = 0, first = 0; rank < count; rank++) {
		if (runs[rank] != runs[first])
			first = rank;
		ranks[rank] = fits ? runs[rank] << 16 | (rank - first) : rank;
	}
}

uint32_t osp_gang_order_unit(const char *order)
{
	const char *nodes;
	struct osp_order_grid grid;

	return order && osp_order_read_grid(order, &grid, &nodes) ? grid.size[0] : 0;
}
