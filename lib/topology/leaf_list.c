/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaf_list.c - "l17:nn-[1-4]|l18:nn-[7-9]": the leaves of a gang, each with its nodes */
#include "lib/topology/leaf_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/topology/leaf_pack.h"

/* Splits "leaf:nodes" at its last ':'. Returns the nodes; NULL if the piece has no such form. */
static char *part_piece(char *piece)
{
	char *colon = strrchr(piece, ':');

	if (!colon || colon == piece)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

struct walk {
	const char *leaf;
	osp_leaf_list_f *each;
	void *context;
	int answer;
};

static int walk_node(const char *node, void *context)
{
	struct walk *walk = context;

	walk->answer = walk->each(walk->leaf, node, walk->context);
	return walk->answer != 0;
}

/* Returns a copy in the written form. */
static char *written(const char *leaves)
{
	return osp_leaf_is_packed(leaves) ? osp_leaf_unpack(leaves) : strdup(leaves);
}

int osp_leaf_list_each(const char *leaves, osp_leaf_list_f *each, void *context)
{
	char *copy = written(leaves), *rest = copy, *piece, *nodes;
	struct walk walk = {.each = each, .context = context};

	if (!copy)
		return -1;
	while (!walk.answer && (piece = strsep(&rest, "|"))) {
		nodes = part_piece(piece);
		walk.leaf = piece;
		if (nodes)
			osp_hostlist_expand(nodes, walk_node, &walk, NULL);
	}
	free(copy);
	return walk.answer;
}

/* --- one node --------------------------------------------------------------------------------- */

struct search {
	const char *node;
	char *leaf;
	size_t leaf_bytes;
	bool found;
};

static int is_wanted(const char *leaf, const char *node, void *context)
{
	struct search *search = context;

	if (strcmp(node, search->node) != 0)
		return 0;
	search->found = strlen(leaf) < search->leaf_bytes;
	if (search->found)
		snprintf(search->leaf, search->leaf_bytes, "%s", leaf);
	return 1;
}

bool osp_leaf_list_find(const char *leaves, const char *node, char *leaf, size_t leaf_bytes)
{
	struct search search = {.node = node, .leaf = leaf, .leaf_bytes = leaf_bytes};

	osp_leaf_list_each(leaves, is_wanted, &search);
	return search.found;
}

/* --- places ----------------------------------------------------------------------------------- */

struct places {
	const char *first, *node;
	char leaf[256];	 /* the current one */
	long count;	 /* nodes so far */
	long leaf_start; /* of the current leaf */
	long first_at, first_start, node_at;
	long first_end; /* of the leaf of `first`; -1: not yet passed */
};

static int see_node(const char *leaf, const char *node, void *context)
{
	struct places *places = context;

	if (strncmp(leaf, places->leaf, sizeof(places->leaf) - 1) != 0) {
		snprintf(places->leaf, sizeof(places->leaf), "%s", leaf);
		places->leaf_start = places->count;
		if (places->first_at >= 0 && places->first_end < 0)
			places->first_end = places->count;
	}
	if (!strcmp(node, places->first) && places->first_at < 0) {
		places->first_at = places->count;
		places->first_start = places->leaf_start;
	}
	if (!strcmp(node, places->node) && places->node_at < 0)
		places->node_at = places->count;
	places->count++;
	return 0;
}

long osp_leaf_list_place(const char *leaves, const char *first, const char *node)
{
	struct places places = {
		.first = first, .node = node, .first_at = -1, .node_at = -1, .first_end = -1};
	long at;

	if (osp_leaf_list_each(leaves, see_node, &places) || places.first_at < 0 ||
	    places.node_at < 0)
		return -1;
	if (places.first_end < 0)
		places.first_end = places.count;
	at = places.node_at;
	if (at >= places.first_start && at < places.first_end) {
		long leaf_nodes = places.first_end - places.first_start;

		return (at - places.first_at + leaf_nodes) % leaf_nodes;
	}
	return (at - places.first_start + places.count) % places.count;
}

/* --- fewer nodes ------------------------------------------------------------------------------ */

struct sieve {
	bool (*keep)(const char *node, void *context);
	void *context;
	char **names;
	size_t count;
	size_t room;
};

static int sift(const char *node, void *context)
{
	struct sieve *sieve = context;
	char **names;

	if (!sieve->keep(node, sieve->context))
		return 0;
	if (sieve->count == sieve->room) {
		sieve->room = sieve->room ? 2 * sieve->room : 64;
		names = realloc(sieve->names, sieve->room * sizeof(*names));
		if (!names)
			return 1;
		sieve->names = names;
	}
	sieve->names[sieve->count] = strdup(node);
	return sieve->names[sieve->count++] == NULL;
}

/* Adds the piece with the nodes that are kept. Returns false if memory ran out. */
static bool keep_piece(struct sieve *sieve, const char *leaf, const char *nodes,
		       struct osp_text *text, unsigned int *leaf_count)
{
	char *list = NULL;
	bool good = osp_hostlist_expand(nodes, sift, sieve, NULL) != 1;

	if (good && sieve->count) {
		list = osp_hostlist_compact((const char *const *)sieve->names, sieve->count);
		good = list != NULL;
		if (good)
			osp_text_printf(text, "%s%s:%s", *leaf_count ? "|" : "", leaf, list);
		(*leaf_count)++;
	}
	free(list);
	for (size_t i = 0; i < sieve->count; i++)
		free(sieve->names[i]);
	sieve->count = 0;
	return good;
}

char *osp_leaf_list_keep(const char *leaves, bool (*keep)(const char *node, void *context),
			 void *context, unsigned int *leaf_count)
{
	char *copy = written(leaves), *rest = copy, *piece, *nodes;
	struct sieve sieve = {.keep = keep, .context = context};
	struct osp_text text = OSP_TEXT_INIT;
	bool good = copy != NULL;

	*leaf_count = 0;
	while (good && (piece = strsep(&rest, "|"))) {
		nodes = part_piece(piece);
		if (nodes)
			good = keep_piece(&sieve, piece, nodes, &text, leaf_count);
	}
	free(sieve.names);
	free(copy);
	if (!good)
		osp_text_free(&text);
	return good ? osp_text_take(&text) : NULL;
}

/* --- nodes of a fabric ------------------------------------------------------------------------ */

/* Adds the piece of a leaf. `names` has room for its nodes. */
static void add_leaf(struct osp_text *text, const struct osp_topology *topology, uint32_t leaf,
		     const uint32_t *nodes, uint32_t count, const char **names)
{
	char *list;

	for (uint32_t i = 0; i < count; i++)
		names[i] = osp_topology_node_name(topology, nodes[i]);
	list = osp_hostlist_compact(names, count);
	osp_text_add(text, text->length_bytes ? "|" : "");
	osp_text_add(text, osp_topology_domain(topology, leaf)->name);
	osp_text_add(text, ":");
	if (list)
		osp_text_add(text, list);
	else
		text->failed = true;
	free(list);
}

char *osp_leaf_list_of(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
		       size_t most_bytes)
{
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct osp_text text = OSP_TEXT_INIT;

	text.failed = !names;
	for (uint32_t from = 0, next; !text.failed && from < count; from = next) {
		uint32_t leaf = osp_topology_domain_of(topology, nodes[from], 1);

		for (next = from + 1;
		     next < count && osp_topology_domain_of(topology, nodes[next], 1) == leaf;
		     next++)
			;
		if (leaf != OSP_NO_DOMAIN)
			add_leaf(&text, topology, leaf, &nodes[from], next - from, names);
		if (text.length_bytes > most_bytes) {
			osp_text_free(&text);
			break;
		}
	}
	free(names);
	return osp_text_take(&text);
}
