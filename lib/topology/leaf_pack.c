/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaf_pack.c - a leaf list of a large gang in few bytes */
#include "lib/topology/leaf_pack.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bit_text.h"
#include "lib/base/hostlist.h"
#include "lib/topology/leaf_list.h"

#define MARK	   '~'
#define DIGITS_MAX 9   /* of the number at the end of a name; more belong to what precedes it */
#define NAME_BYTES 256 /* of a node, terminated (lib/base/hostlist.h) */
#define RATIO_MAX  4   /* a longer list rarely fits, and slurmctld would read it for nothing */

/* One node: its name is `prefix_bytes` of `name` and the number, of at least `width` digits. */
struct packed_node {
	const char *name;
	size_t prefix_bytes;
	uint32_t number;
	unsigned int digits; /* 0: no number */
	uint32_t leaf;
	uint32_t place; /* in the leaf list */
};

struct packing {
	struct packed_node *nodes;
	uint32_t count, room;
	uint32_t leaf_count;
	bool borrowed;		    /* the names are the topology's */
	bool suits;		    /* no name has what parts the packed form */
	struct osp_text leaf_names; /* "nn-1|nn-2" */
	char *last_leaf;
};

bool osp_leaf_is_packed(const char *leaves)
{
	return leaves[0] == MARK && !strchr(leaves, ':');
}

/* --- reading a leaf list ---------------------------------------------------------------------- */

static void split_name(struct packed_node *node)
{
	size_t end = strlen(node->name);
	uint32_t weight = 1;

	node->prefix_bytes = end;
	node->number = 0;
	while (node->prefix_bytes && end - node->prefix_bytes < DIGITS_MAX &&
	       node->name[node->prefix_bytes - 1] >= '0' &&
	       node->name[node->prefix_bytes - 1] <= '9') {
		node->number += (uint32_t)(node->name[--node->prefix_bytes] - '0') * weight;
		weight *= 10;
	}
	node->digits = (unsigned int)(end - node->prefix_bytes);
}

/* Counts the leaf, if it is not the last one again. */
static int see_leaf(struct packing *packing, const char *leaf)
{
	packing->suits = packing->suits && !strpbrk(leaf, ":~");
	if (packing->last_leaf && !strcmp(packing->last_leaf, leaf))
		return 0;
	free(packing->last_leaf);
	packing->last_leaf = strdup(leaf);
	osp_text_printf(&packing->leaf_names, "%s%s", packing->leaf_count ? "|" : "", leaf);
	packing->leaf_count++;
	return !packing->last_leaf || packing->leaf_names.failed;
}

static int see_node(const char *leaf, const char *name, void *context)
{
	struct packing *packing = context;
	struct packed_node *node;

	if (see_leaf(packing, leaf))
		return 1;
	if (packing->count == packing->room) {
		uint32_t room = packing->room ? 2 * packing->room : 1024;
		struct packed_node *grown = realloc(packing->nodes, room * sizeof(*grown));

		if (!grown)
			return 1;
		packing->nodes = grown;
		packing->room = room;
	}
	node = &packing->nodes[packing->count];
	*node = (struct packed_node){
		.name = strdup(name), .leaf = packing->leaf_count - 1, .place = packing->count};
	if (!node->name)
		return 1;
	split_name(node);
	packing->suits = packing->suits && !strpbrk(name, ",:~");
	packing->count++;
	return 0;
}

static bool same_prefix(const struct packed_node *a, const struct packed_node *b)
{
	return a->prefix_bytes == b->prefix_bytes && !memcmp(a->name, b->name, a->prefix_bytes);
}

/* Compares as osp_name_compare() does, sooner found for most names. */
static int by_name(const void *left, const void *right)
{
	const struct packed_node *a = left, *b = right;

	if (a->digits && b->digits && a->number != b->number && same_prefix(a, b))
		return a->number < b->number ? -1 : 1;
	return osp_name_compare(a->name, b->name);
}

static int by_string(const void *a, const void *b)
{
	return strcmp(((const struct packed_node *)a)->name, ((const struct packed_node *)b)->name);
}

/* Returns false if memory ran out, or a packed list is malformed. */
static bool see_list(struct packing *packing, const char *leaves)
{
	*packing = (struct packing){.leaf_names = OSP_TEXT_INIT, .suits = true};
	return osp_leaf_list_each(leaves, see_node, packing) == 0;
}

static void clear(struct packing *packing)
{
	for (uint32_t i = 0; i < packing->count && !packing->borrowed; i++)
		free((char *)packing->nodes[i].name);
	free(packing->nodes);
	free(packing->last_leaf);
	osp_text_free(&packing->leaf_names);
}

/* --- packing ---------------------------------------------------------------------------------- */

/* Returns the least number of digits that the numbers of the names after this one have, too. */
static unsigned int width_of(const struct packed_node *node)
{
	return node->digits && node->name[node->prefix_bytes] == '0' ? node->digits : 1;
}

/* Returns whether a node's name is `first`'s with a larger number. */
static bool is_in_group(const struct packed_node *first, const struct packed_node *before,
			const struct packed_node *node)
{
	unsigned int width = width_of(first);

	return node->digits && first->digits && same_prefix(node, first) &&
	       node->number > before->number &&
	       (node->digits == width ||
		(node->digits > width && node->name[node->prefix_bytes] != '0'));
}

/* Returns the node after the group that begins at `from`. */
static uint32_t group_end(const struct packing *packing, uint32_t from)
{
	uint32_t next = from + 1;

	while (next < packing->count &&
	       is_in_group(&packing->nodes[from], &packing->nodes[next - 1], &packing->nodes[next]))
		next++;
	return next;
}

/* Writes the numbers of a group: the first one, then runs of consecutive ones and gaps. Gives up
 * when the text exceeds `most_bytes`. */
static bool write_group(struct osp_bits_writer *bits, const struct packed_node *nodes,
			uint32_t count, size_t most_bytes)
{
	osp_bits_write_gamma(bits, count);
	osp_bits_write(bits, nodes->digits > 0, 1);
	if (!nodes->digits)
		return bits->text->length_bytes <= most_bytes;
	osp_bits_write_gamma(bits, width_of(nodes));
	osp_bits_write_gamma(bits, (uint64_t)nodes->number + 1);
	for (uint32_t from = 0, next; from < count; from = next) {
		for (next = from + 1;
		     next < count && nodes[next].number == nodes[next - 1].number + 1; next++)
			;
		osp_bits_write_gamma(bits, next - from);
		if (next < count)
			osp_bits_write_gamma(bits, nodes[next].number - nodes[next - 1].number - 1);
		if (bits->text->length_bytes > most_bytes)
			return false;
	}
	return true;
}

/* Returns how many bits a leaf's number takes. */
static unsigned int leaf_bits(uint32_t leaf_count)
{
	unsigned int bits = 0;

	while ((leaf_count - 1) >> bits)
		bits++;
	return bits;
}

/* Writes the leaf of each node, in runs. Gives up when the text exceeds `most_bytes`. */
static bool write_leaves(struct osp_bits_writer *bits, const struct packing *packing,
			 size_t most_bytes)
{
	unsigned int width = leaf_bits(packing->leaf_count);

	for (uint32_t from = 0, next; from < packing->count; from = next) {
		for (next = from + 1; next < packing->count &&
				      packing->nodes[next].leaf == packing->nodes[from].leaf;
		     next++)
			;
		osp_bits_write(bits, packing->nodes[from].leaf, width);
		osp_bits_write_gamma(bits, next - from);
		if (bits->text->length_bytes > most_bytes)
			return false;
	}
	return true;
}

/* Writes all, of nodes that are sorted by name. */
static bool write_all(struct packing *packing, struct osp_text *text, size_t most_bytes)
{
	struct osp_bits_writer bits = {.text = text};
	uint32_t groups = 0, next;

	if (packing->leaf_names.length_bytes > most_bytes)
		return false;
	osp_text_printf(text, "%c", MARK);
	for (uint32_t from = 0; from < packing->count; from = next, groups++) {
		next = group_end(packing, from);
		osp_text_printf(text, "%s%.*s", groups ? "," : "",
				(int)packing->nodes[from].prefix_bytes, packing->nodes[from].name);
		if (text->length_bytes > most_bytes)
			return false;
	}
	osp_text_printf(text, "%c%s%c", MARK, packing->leaf_names.data, MARK);
	for (uint32_t from = 0; from < packing->count; from = next) {
		next = group_end(packing, from);
		if (!write_group(&bits, &packing->nodes[from], next - from, most_bytes))
			return false;
	}
	if (!write_leaves(&bits, packing, most_bytes))
		return false;
	osp_bits_end(&bits);
	return !text->failed && text->length_bytes <= most_bytes;
}

/* Returns whether the nodes of each leaf are sorted, as those of an unpacked list are. */
static bool is_sorted_by_leaf(const struct packing *packing)
{
	for (uint32_t i = 1; i < packing->count; i++)
		if (packing->nodes[i].leaf == packing->nodes[i - 1].leaf &&
		    by_name(&packing->nodes[i - 1], &packing->nodes[i]) >= 0)
			return false;
	return true;
}

static bool has_twice(const struct packing *packing)
{
	for (uint32_t i = 1; i < packing->count; i++)
		if (by_name(&packing->nodes[i - 1], &packing->nodes[i]) >= 0)
			return true;
	return false;
}

char *osp_leaf_pack(const char *leaves, size_t most_bytes)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct packing packing;
	char *packed = NULL;

	if (osp_leaf_is_packed(leaves) || strlen(leaves) / RATIO_MAX > most_bytes)
		return strdup("");
	if (see_list(&packing, leaves)) {
		bool suits = packing.count && packing.suits && is_sorted_by_leaf(&packing);

		if (suits)
			qsort(packing.nodes, packing.count, sizeof(*packing.nodes), by_name);
		if (suits && !has_twice(&packing) && write_all(&packing, &text, most_bytes))
			packed = osp_text_take(&text);
		else if (!text.failed)
			packed = strdup("");
	}
	osp_text_free(&text);
	clear(&packing);
	return packed;
}

/* --- packing nodes of a fabric ---------------------------------------------------------------- */

/* Numbers the leaves in the order of `nodes`. `leaf_of` has a place for each leaf of the fabric. */
static void number_leaves(struct packing *packing, const struct osp_topology *topology,
			  const uint32_t *nodes, uint32_t count, uint32_t *leaf_of)
{
	uint32_t first, leaves, last = OSP_NO_DOMAIN;

	osp_topology_level_domains(topology, 1, &first, &leaves);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t leaf = osp_topology_domain_of(topology, nodes[i], 1);

		if (leaf == last || leaf == OSP_NO_DOMAIN)
			continue;
		last = leaf;
		leaf_of[leaf - first] = packing->leaf_count;
		packing->suits =
			packing->suits && !strpbrk(osp_topology_domain(topology, leaf)->name, ":~");
		osp_text_add(&packing->leaf_names, packing->leaf_count++ ? "|" : "");
		osp_text_add(&packing->leaf_names, osp_topology_domain(topology, leaf)->name);
	}
}

/* Takes the nodes, which are sorted by name. */
static void take_nodes(struct packing *packing, const struct osp_topology *topology,
		       const uint32_t *nodes, uint32_t count, const uint32_t *leaf_of)
{
	uint32_t first, leaves;

	osp_topology_level_domains(topology, 1, &first, &leaves);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t leaf = osp_topology_domain_of(topology, nodes[i], 1);
		struct packed_node *node = &packing->nodes[packing->count];

		if (leaf == OSP_NO_DOMAIN)
			continue;
		*node = (struct packed_node){.name = osp_topology_node_name(topology, nodes[i]),
					     .leaf = leaf_of[leaf - first]};
		split_name(node);
		if (!packing->count || !same_prefix(node - 1, node))
			packing->suits = packing->suits && !strpbrk(node->name, ",:~");
		packing->count++;
	}
}

/* Returns whether the leaves of the nodes, which are sorted by name, may fit (write_leaves()). */
static bool leaves_may_fit(const struct osp_topology *topology, const uint32_t *nodes,
			   uint32_t count, uint32_t leaf_count, size_t most_bytes)
{
	uint32_t last = OSP_NO_DOMAIN;
	size_t runs = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t leaf = osp_topology_domain_of(topology, nodes[i], 1);

		runs += leaf != last && leaf != OSP_NO_DOMAIN;
		last = leaf == OSP_NO_DOMAIN ? last : leaf;
	}
	return leaf_count && runs * (leaf_bits(leaf_count) + 1) / 6 <= most_bytes;
}

/* Returns false if memory ran out. Takes no nodes if their leaves take too much room. */
static bool see_nodes(struct packing *packing, const struct osp_topology *topology,
		      const uint32_t *nodes, uint32_t count, size_t most_bytes)
{
	struct osp_nodeset *places = osp_nodeset_new(osp_topology_node_count(topology));
	uint32_t *sorted = calloc((size_t)count + 1, sizeof(*sorted));
	uint32_t *leaf_of =
		calloc((size_t)osp_topology_domain_count(topology) + 1, sizeof(*leaf_of));
	bool good;

	*packing = (struct packing){.leaf_names = OSP_TEXT_INIT, .suits = true, .borrowed = true};
	packing->nodes = calloc((size_t)count + 1, sizeof(*packing->nodes));
	good = places && sorted && leaf_of && packing->nodes;
	if (good) {
		number_leaves(packing, topology, nodes, count, leaf_of);
		packing->suits = packing->suits && packing->leaf_names.length_bytes <= most_bytes;
	}
	if (good && packing->suits) {
		memcpy(sorted, nodes, count * sizeof(*sorted));
		osp_topology_sort_nodes(topology, OSP_BY_NAME, sorted, count, places);
		if (leaves_may_fit(topology, sorted, count, packing->leaf_count, most_bytes))
			take_nodes(packing, topology, sorted, count, leaf_of);
	}
	free(places);
	free(sorted);
	free(leaf_of);
	return good && !packing->leaf_names.failed;
}

char *osp_leaf_pack_nodes(const struct osp_topology *topology, const uint32_t *nodes,
			  uint32_t count, size_t most_bytes)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct packing packing;
	char *packed = NULL;

	if (see_nodes(&packing, topology, nodes, count, most_bytes)) {
		if (packing.count && packing.suits && write_all(&packing, &text, most_bytes))
			packed = osp_text_take(&text);
		else if (!text.failed)
			packed = strdup("");
	}
	osp_text_free(&text);
	clear(&packing);
	return packed;
}

/* --- unpacking -------------------------------------------------------------------------------- */

struct unpacking {
	char **names; /* sorted; NULL: nodes are looked for */
	uint32_t count;
	uint32_t *leaf; /* of each */
	char **leaf_names;
	uint32_t leaf_count;
	/* nodes that are looked for, sorted by name. Who only reads names is not linked with the
	 * topology (spank/local.mk). */
	const struct osp_topology *topology;
	const char *(*name_of)(const struct osp_topology *topology, uint32_t node);
	const uint32_t *wanted;
	uint32_t wanted_count, next;
	struct packed_node next_name; /* of the next one */
	uint32_t *nodes;	      /* those found, OSP_NO_NODE for another name */
};

/* Splits the name of the next node that is looked for. */
static void want_next(struct unpacking *all)
{
	if (all->next == all->wanted_count)
		return;
	all->next_name.name = all->name_of(all->topology, all->wanted[all->next]);
	split_name(&all->next_name);
}

/* Returns the next node that is looked for, if it has the number of so many digits after the
 * prefix; `width` 0: no number. */
static uint32_t take_wanted(struct unpacking *all, const char *prefix, size_t prefix_bytes,
			    unsigned int width, uint64_t number)
{
	const struct packed_node *name = &all->next_name;
	uint32_t node;

	if (all->next == all->wanted_count || name->number != number ||
	    name->prefix_bytes != prefix_bytes || memcmp(name->name, prefix, prefix_bytes) != 0 ||
	    (name->digits != width &&
	     (!width || name->digits < width || name->name[prefix_bytes] == '0')))
		return OSP_NO_NODE;
	node = all->wanted[all->next++];
	want_next(all);
	return node;
}

/* Takes the name that has the number after the prefix. */
static bool take_name(struct unpacking *all, const char *prefix, size_t prefix_bytes,
		      unsigned int width, uint64_t number)
{
	char name[NAME_BYTES];

	if (!all->names) {
		all->nodes[all->count++] = take_wanted(all, prefix, prefix_bytes, width, number);
		return true;
	}
	if (width)
		snprintf(name, sizeof(name), "%s%0*" PRIu64, prefix, (int)width, number);
	else
		snprintf(name, sizeof(name), "%s", prefix);
	all->names[all->count] = strdup(name);
	return all->names[all->count++] != NULL;
}

static bool read_group(struct osp_bits_reader *bits, const char *prefix, struct unpacking *all)
{
	uint32_t count = (uint32_t)osp_bits_read_gamma(bits, OSP_HOSTLIST_NAMES_MAX - all->count);
	bool numbered = osp_bits_read(bits, 1), in_run = true;
	unsigned int width = numbered ? (unsigned int)osp_bits_read_gamma(bits, DIGITS_MAX) : 0;
	uint64_t number = numbered ? osp_bits_read_gamma(bits, UINT32_MAX) - 1 : 0;
	uint64_t run = numbered ? osp_bits_read_gamma(bits, count) : 1;
	size_t prefix_bytes = strlen(prefix);

	if (!numbered && count != 1)
		return false;
	for (uint32_t i = 0; i < count && !bits->failed; i++) {
		if (!in_run) {
			number += osp_bits_read_gamma(bits, UINT32_MAX);
			run = osp_bits_read_gamma(bits, count - i);
		}
		if (!take_name(all, prefix, prefix_bytes, width, number))
			return false;
		number++;
		in_run = --run > 0;
	}
	return !bits->failed;
}

/* Reads the names of all groups, whose prefixes are in `prefixes`, and the leaf of each. */
static bool read_nodes(char *prefixes, const char *numbers, struct unpacking *all)
{
	struct osp_bits_reader bits = {.at = numbers};
	unsigned int width = leaf_bits(all->leaf_count);
	uint32_t at = 0, leaf, run;
	char *prefix;

	while ((prefix = strsep(&prefixes, ","))) {
		if (all->count == OSP_HOSTLIST_NAMES_MAX || !read_group(&bits, prefix, all))
			return false;
	}
	while (at < all->count) {
		leaf = (uint32_t)osp_bits_read(&bits, width);
		run = (uint32_t)osp_bits_read_gamma(&bits, all->count - at);
		if (bits.failed || leaf >= all->leaf_count)
			return false;
		while (run--)
			all->leaf[at++] = leaf;
	}
	return osp_bits_at_end(&bits);
}

/* Returns the place of each node if they are sorted by leaf and otherwise stay as they are, to be
 * freed. Writes to *end where each leaf's nodes end, to be freed too. Both are NULL if memory ran
 * out. */
static uint32_t *sort_by_leaf(const struct unpacking *all, uint32_t **end)
{
	uint32_t *places = calloc((size_t)all->count + 1, sizeof(*places));
	uint32_t *next = calloc((size_t)all->leaf_count + 1, sizeof(*next));

	*end = next;
	if (!places || !next) {
		free(places);
		free(next);
		*end = NULL;
		return NULL;
	}
	for (uint32_t i = 0; i < all->count; i++)
		next[all->leaf[i] + 1]++;
	for (uint32_t leaf = 0; leaf < all->leaf_count; leaf++)
		next[leaf + 1] += next[leaf];
	for (uint32_t i = 0; i < all->count; i++)
		places[i] = next[all->leaf[i]]++;
	return places;
}

/* Returns the leaf list, or NULL. */
static char *list_of(const struct unpacking *all)
{
	uint32_t *end, *places = sort_by_leaf(all, &end);
	const char **sorted = calloc((size_t)all->count + 1, sizeof(*sorted));
	struct osp_text text = OSP_TEXT_INIT;
	bool good = places && sorted;

	for (uint32_t i = 0; good && i < all->count; i++)
		sorted[places[i]] = all->names[i];
	for (uint32_t leaf = 0, from = 0; good && leaf < all->leaf_count; from = end[leaf++]) {
		char *list = osp_hostlist_compact(&sorted[from], end[leaf] - from);

		good = list && *list;
		if (good)
			osp_text_printf(&text, "%s%s:%s", leaf ? "|" : "", all->leaf_names[leaf],
					list);
		free(list);
	}
	free(places);
	free(end);
	free(sorted);
	if (!good)
		osp_text_free(&text);
	return good ? osp_text_take(&text) : NULL;
}

/* Finds the names of the leaves, and makes room for nodes. */
static bool begin_unpacking(char *leaf_names, struct unpacking *all)
{
	uint32_t room = 1;

	for (const char *at = leaf_names; *at; at++)
		room += *at == '|';
	if (all->topology)
		all->nodes = calloc(OSP_HOSTLIST_NAMES_MAX, sizeof(*all->nodes));
	else
		all->names = calloc(OSP_HOSTLIST_NAMES_MAX, sizeof(*all->names));
	all->leaf = calloc(OSP_HOSTLIST_NAMES_MAX, sizeof(*all->leaf));
	all->leaf_names = calloc(room, sizeof(*all->leaf_names));
	if ((!all->names && !all->nodes) || !all->leaf || !all->leaf_names)
		return false;
	for (char *name; (name = strsep(&leaf_names, "|"));)
		all->leaf_names[all->leaf_count++] = name;
	return true;
}

/* Reads the packed form, of which `copy` is a copy that is cut into pieces. */
static bool unpack(const char *packed, struct unpacking *all, char **copy)
{
	char *leaf_names, *numbers;

	*copy = osp_leaf_is_packed(packed) ? strdup(packed + 1) : NULL;
	leaf_names = *copy ? strchr(*copy, MARK) : NULL;
	numbers = *copy ? strrchr(*copy, MARK) : NULL;
	if (!numbers || numbers == leaf_names)
		return false;
	*leaf_names++ = '\0';
	*numbers++ = '\0';
	return begin_unpacking(leaf_names, all) && read_nodes(*copy, numbers, all);
}

static void end_unpacking(struct unpacking *all, char *copy)
{
	for (uint32_t i = 0; all->names && i < all->count; i++)
		free(all->names[i]);
	free(all->names);
	free(all->nodes);
	free(all->leaf);
	free(all->leaf_names);
	free(copy);
}

char *osp_leaf_unpack(const char *packed)
{
	struct unpacking all = {.count = 0};
	char *copy, *list = unpack(packed, &all, &copy) ? list_of(&all) : NULL;

	end_unpacking(&all, copy);
	return list;
}

/* Writes the nodes and their leaves in the order of the list. */
static bool put_in_order(const struct unpacking *all, uint32_t *nodes, uint32_t *leaf)
{
	uint32_t *end, *places = sort_by_leaf(all, &end);

	for (uint32_t i = 0; places && i < all->count; i++) {
		nodes[places[i]] = all->nodes[i];
		leaf[places[i]] = all->leaf[i];
	}
	free(end);
	if (!places)
		return false;
	free(places);
	return true;
}

long osp_leaf_unpack_nodes(const char *packed, const struct osp_topology *topology,
			   const uint32_t *by_name, uint32_t count, uint32_t *nodes, uint32_t *leaf)
{
	struct unpacking all = {.topology = topology,
				.name_of = osp_topology_node_name,
				.wanted = by_name,
				.wanted_count = count};
	char *copy;
	long places;

	want_next(&all);
	places = unpack(packed, &all, &copy) && put_in_order(&all, nodes, leaf) ? (long)all.count
										: -1;
	end_unpacking(&all, copy);
	return places;
}

/* --- names of its nodes ----------------------------------------------------------------------- */

struct places {
	const struct packing *packing; /* sorted as strings */
	struct osp_bits_writer bits;
	uint32_t from, next; /* of the current run; from == next: there is none */
	uint32_t expected;   /* the place after the last run */
};

/* Writes the run: how far it begins from where the last one ended, as 1 for 0, 2 for 1, 3 for -1,
 * and its length. */
static void end_run(struct places *places)
{
	int64_t step = (int64_t)places->from - places->expected;

	if (places->from == places->next)
		return;
	osp_bits_write_gamma(&places->bits, (uint64_t)(step > 0 ? 2 * step : 1 - 2 * step));
	osp_bits_write_gamma(&places->bits, places->next - places->from);
	places->expected = places->next;
}

static void add_place(struct places *places, uint32_t place)
{
	if (places->from == places->next || place != places->next) {
		end_run(places);
		places->from = place;
	}
	places->next = place + 1;
}

static int add_place_of(const char *name, void *context)
{
	struct places *places = context;
	struct packed_node key = {.name = name};
	const struct packed_node *node = bsearch(&key, places->packing->nodes,
						 places->packing->count, sizeof(key), by_string);

	if (node)
		add_place(places, node->place);
	return 0;
}

char *osp_leaf_pack_places(const uint32_t *places, uint32_t count, size_t most_bytes)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct places all = {.bits = {.text = &text}};

	osp_text_printf(&text, "%c", MARK);
	for (uint32_t i = 0; i < count && text.length_bytes <= most_bytes; i++)
		add_place(&all, places[i]);
	end_run(&all);
	osp_bits_end(&all.bits);
	if (text.length_bytes > most_bytes) {
		osp_text_free(&text);
		osp_text_add(&text, "");
	}
	return osp_text_take(&text);
}

char *osp_leaf_pack_names(const char *leaves, const char *names)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct packing packing;
	struct places places = {.packing = &packing, .bits = {.text = &text}};
	bool good = see_list(&packing, leaves);

	if (good) {
		qsort(packing.nodes, packing.count, sizeof(*packing.nodes), by_string);
		osp_text_printf(&text, "%c", MARK);
		if (osp_hostlist_expand(names, add_place_of, &places, NULL)) {
			osp_text_free(&text);
			osp_text_add(&text, names);
		} else {
			end_run(&places);
			osp_bits_end(&places.bits);
		}
	}
	clear(&packing);
	if (!good)
		osp_text_free(&text);
	return good ? osp_text_take(&text) : NULL;
}

/* Reads the runs of a packed form. Returns how many places they have, at most `count`, of a list of
 * as many; -1 if it is malformed. */
static long read_places(const char *runs, uint32_t count, uint32_t *places)
{
	struct osp_bits_reader bits = {.at = runs};
	uint64_t most = 2 * (uint64_t)count + 1, at = 0;
	uint32_t total = 0;

	while (!osp_bits_at_end(&bits) && !bits.failed) {
		uint64_t step = osp_bits_read_gamma(&bits, most), run;

		at = step & 1 ? at - (step - 1) / 2 : at + step / 2;
		run = osp_bits_read_gamma(&bits, count);
		if (bits.failed || at >= count || run > count - at || run > count - total)
			return -1;
		for (; run; run--)
			places[total++] = (uint32_t)at++;
	}
	return bits.failed ? -1 : (long)total;
}

long osp_leaf_unpack_places(const char *packed, uint32_t count, uint32_t *places)
{
	return packed[0] == MARK ? read_places(packed + 1, count, places) : -1;
}

/* Adds the names of the runs. Returns false if one is not there. */
static bool add_names(const char *runs, const struct packing *packing, struct osp_text *text)
{
	uint32_t *places = calloc((size_t)packing->count + 1, sizeof(*places));
	long count = places ? read_places(runs, packing->count, places) : -1;

	for (long i = 0; i < count; i++)
		osp_text_printf(text, "%s%s", i ? "," : "", packing->nodes[places[i]].name);
	free(places);
	return count >= 0;
}

char *osp_leaf_unpack_names(const char *leaves, const char *packed)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct packing packing;
	bool good = packed[0] == MARK && see_list(&packing, leaves);

	if (packed[0] != MARK)
		return NULL;
	good = good && add_names(packed + 1, &packing, &text);
	clear(&packing);
	if (!good)
		osp_text_free(&text);
	return good ? osp_text_take(&text) : NULL;
}
