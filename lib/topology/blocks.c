/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocks.c - blocks of nodes from Slurm's topology.yaml and topograph's models: the level nvlink */
#include "lib/topology/blocks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/document.h"
#include "lib/base/hostlist.h"
#include "lib/base/room.h"
#include "lib/topology/builder.h"
#include "lib/topology/file_kind.h"

#define LEVEL_NAME "nvlink"
#define NO_BLOCK   UINT32_MAX

struct block {
	char *name;
	char *nodes; /* in Slurm's notation */
};

struct osp_blocks {
	struct block *blocks; /* one name may have several */
	uint32_t count, room;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int add_block(struct osp_blocks *blocks, const char *name, const char *nodes,
		     struct osp_error *error)
{
	struct block *block;

	if (osp_make_room((void **)&blocks->blocks, &blocks->room, blocks->count,
			  sizeof(*blocks->blocks)))
		return osp_error_set(error, "out of memory");
	block = &blocks->blocks[blocks->count++];
	block->name = strdup(name);
	block->nodes = strdup(nodes);
	return block->name && block->nodes ? 0 : osp_error_set(error, "out of memory");
}

/* Adds nodes that one word names, or a list of words. */
static int add_nodes(struct osp_blocks *blocks, const struct osp_document *document,
		     const char *name, const struct osp_value *nodes, struct osp_error *error)
{
	const char *word;

	if (nodes->type == OSP_VALUE_MAP)
		return osp_document_error(document, nodes, error, "a list of nodes is expected");
	if (nodes->type == OSP_VALUE_SCALAR)
		return osp_value_string(document, nodes, &word, error) ||
				       add_block(blocks, name, nodes->text, error)
			       ? -1
			       : 0;
	for (const struct osp_value *v = nodes->first; v; v = v->next) {
		if (osp_value_string(document, v, &word, error) ||
		    add_block(blocks, name, word, error))
			return -1;
	}
	return 0;
}

static const struct osp_value *in_map(const struct osp_value *map, const char *key)
{
	return map && map->type == OSP_VALUE_MAP ? osp_value_get(map, key) : NULL;
}

/* Reads the blocks of the first topology of that kind: "- block: b1", "nodes: n[1-18]". */
static int read_slurm(struct osp_blocks *blocks, const struct osp_document *document,
		      struct osp_error *error)
{
	const struct osp_value *root = osp_document_root(document), *list = NULL;
	const char *name;

	for (const struct osp_value *v = root->type == OSP_VALUE_LIST ? root->first : NULL;
	     v && !list; v = v->next)
		list = in_map(in_map(v, "block"), "blocks");
	for (const struct osp_value *v = list && list->type == OSP_VALUE_LIST ? list->first : NULL;
	     v; v = v->next) {
		const struct osp_value *block = in_map(v, "block"), *nodes = in_map(v, "nodes");

		if (!block || !nodes)
			return osp_document_error(document, v, error,
						  "a \"block\" and its \"nodes\" are expected");
		if (osp_value_string(document, block, &name, error) ||
		    add_nodes(blocks, document, name, nodes, error))
			return -1;
	}
	return 0;
}

/* Returns what names the block's NVLink domain, or NULL. */
static const struct osp_value *label_of(const struct osp_value *block)
{
	static const char *const maps[] = {"labels", "annotations"};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		const struct osp_value *map = in_map(block, maps[i]);

		for (const struct osp_value *v = map && map->type == OSP_VALUE_MAP ? map->first
										   : NULL;
		     v; v = v->next) {
			if (strstr(v->key, "accelerat") && v->type == OSP_VALUE_SCALAR && *v->text)
				return v;
		}
	}
	return NULL;
}

static int read_topograph(struct osp_blocks *blocks, const struct osp_document *document,
			  struct osp_error *error)
{
	const struct osp_value *list = in_map(osp_document_root(document), "blocks");

	for (const struct osp_value *v = list && list->type == OSP_VALUE_LIST ? list->first : NULL;
	     v; v = v->next) {
		const struct osp_value *label = label_of(v), *nodes = in_map(v, "nodes");
		const char *name;

		if (label && nodes &&
		    (osp_value_string(document, label, &name, error) ||
		     add_nodes(blocks, document, name, nodes, error)))
			return -1;
	}
	return 0;
}

struct osp_blocks *osp_blocks_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	struct osp_blocks *blocks = calloc(1, sizeof(*blocks));
	struct osp_document *document = NULL;
	int rc = blocks ? 0 : osp_error_set(error, "out of memory");

	if (!rc && kind == OSP_FILE_SLURM_YAML) {
		document = osp_document_read(file, text, text_bytes, error);
		rc = document ? read_slurm(blocks, document, error) : -1;
	} else if (!rc && kind == OSP_FILE_OTHER) {
		document = osp_document_read(file, text, text_bytes, error);
		rc = document ? read_topograph(blocks, document, error) : -1;
	}
	osp_document_free(document);
	if (!rc)
		return blocks;
	osp_blocks_free(blocks);
	return NULL;
}

void osp_blocks_free(struct osp_blocks *blocks)
{
	for (uint32_t i = 0; blocks && i < blocks->count; i++) {
		free(blocks->blocks[i].name);
		free(blocks->blocks[i].nodes);
	}
	if (blocks)
		free(blocks->blocks);
	free(blocks);
}

struct osp_blocks *osp_blocks_new(void)
{
	return calloc(1, sizeof(struct osp_blocks));
}

int osp_blocks_take(struct osp_blocks *blocks, const char *name, const char *node,
		    struct osp_error *error)
{
	return add_block(blocks, name, node, error);
}

/* --- the level -------------------------------------------------------------------------------- */

struct inserting {
	const struct osp_topology *topology;
	const struct osp_blocks *blocks;
	uint32_t *block_of; /* by node: the first block of its name */
	uint32_t *first;    /* by block: a node of it; OSP_NO_NODE: it has none here */
	uint32_t current;
	uint32_t below; /* how many levels are below the new one; all if it is beside the tree */
	bool beside;
	struct osp_builder *builder;
	uint32_t *made; /* by domain, then by block: its number in the builder */
	struct osp_error *error;
};

static int take_node(const char *name, void *context)
{
	struct inserting *in = context;
	uint32_t node = osp_topology_find_node(in->topology, name), *block;

	if (node == OSP_NO_NODE)
		return 0;
	block = &in->block_of[node];
	if (*block != NO_BLOCK && *block != in->current)
		return osp_error_set(in->error, "node %.64s is in block %.64s and in block %.64s",
				     name, in->blocks->blocks[*block].name,
				     in->blocks->blocks[in->current].name);
	*block = in->current;
	if (in->first[in->current] == OSP_NO_NODE)
		in->first[in->current] = node;
	return 0;
}

static int compare_blocks(const void *a, const void *b)
{
	return strcmp((*(const struct block *const *)a)->name,
		      (*(const struct block *const *)b)->name);
}

/* Finds the block of each node. Blocks of one name are one. */
static int take_nodes(struct inserting *in)
{
	const struct osp_blocks *blocks = in->blocks;
	const struct block **sorted = calloc(blocks->count + 1, sizeof(*sorted));
	int rc = sorted ? 0 : osp_error_set(in->error, "out of memory");

	for (uint32_t i = 0; !rc && i < blocks->count; i++)
		sorted[i] = &blocks->blocks[i];
	if (!rc)
		qsort(sorted, blocks->count, sizeof(*sorted), compare_blocks);
	for (uint32_t i = 0; !rc && i < blocks->count; i++) {
		if (!i || compare_blocks(&sorted[i - 1], &sorted[i]) != 0)
			in->current = (uint32_t)(sorted[i] - blocks->blocks);
		rc = osp_hostlist_expand(sorted[i]->nodes, take_node, in, in->error) ? -1 : 0;
	}
	free(sorted);
	return rc;
}

/* Returns the nearest known domain of a node above so many levels. */
static uint32_t domain_above(const struct inserting *in, uint32_t node, uint32_t levels)
{
	uint32_t domain = OSP_NO_DOMAIN;

	for (uint32_t level = levels + 1;
	     domain == OSP_NO_DOMAIN && level <= osp_topology_level_count(in->topology); level++)
		domain = osp_topology_domain_of(in->topology, node, level);
	return domain;
}

/* Returns whether blocks above so many levels hold whole domains below; says in `error` which
 * not. */
static bool holds_whole(const struct inserting *in, uint32_t levels)
{
	for (uint32_t d = 0; d < osp_topology_domain_count(in->topology); d++) {
		const struct osp_domain *domain = osp_topology_domain(in->topology, d);
		uint32_t first = osp_topology_node_at_rank(in->topology, domain->first_rank);

		for (uint32_t i = 1; domain->level <= levels && i < domain->node_count; i++) {
			uint32_t node =
				osp_topology_node_at_rank(in->topology, domain->first_rank + i);

			if (in->block_of[node] == in->block_of[first])
				continue;
			osp_error_set(in->error, "%.64s is in a block in part", domain->name);
			return false;
		}
	}
	return true;
}

/* Returns whether each block lies in one domain above so many levels; says in `error` which not. */
static bool lies_in_one(const struct inserting *in, uint32_t levels)
{
	for (uint32_t node = 0; node < osp_topology_node_count(in->topology); node++) {
		uint32_t block = in->block_of[node], here, there;

		if (block == NO_BLOCK)
			continue;
		here = domain_above(in, node, levels);
		there = domain_above(in, in->first[block], levels);
		if (here == there)
			continue;
		osp_error_set(
			in->error, "block %.64s is in %.64s and in %.64s",
			in->blocks->blocks[block].name,
			there == OSP_NO_DOMAIN ? "no domain"
					       : osp_topology_domain(in->topology, there)->name,
			here == OSP_NO_DOMAIN ? "no domain"
					      : osp_topology_domain(in->topology, here)->name);
		return false;
	}
	return true;
}

/* Finds where the level belongs; `first` gets why it is beside the tree. */
static int find_level(struct inserting *in, struct osp_error *first)
{
	uint32_t levels = osp_topology_level_count(in->topology);
	struct osp_error *answer = in->error, why = {.text = ""};

	if (osp_topology_level(in->topology, LEVEL_NAME) >= 0)
		return osp_error_set(in->error, "there is a level " LEVEL_NAME " already");
	if (osp_topology_last_level(in->topology) == OSP_LEVELS_MAX)
		return osp_error_set(in->error, "there are %u levels already", OSP_LEVELS_MAX);
	in->error = &why;
	for (in->below = 0; in->below <= levels; in->below++) {
		if (lies_in_one(in, in->below) && holds_whole(in, in->below))
			break;
		if (!first->text[0])
			*first = why;
	}
	in->error = answer;
	in->beside = in->below > levels;
	if (in->beside)
		in->below = levels;
	else
		*first = (struct osp_error){.text = ""};
	return 0;
}

static int begin_building(struct inserting *in)
{
	const char *names[OSP_LEVELS_MAX];
	uint32_t count = 0, levels = osp_topology_level_count(in->topology);

	for (uint32_t level = 1; level <= levels + 1; level++) {
		if (level == in->below + 1)
			names[count++] = LEVEL_NAME;
		if (level <= levels)
			names[count++] = osp_topology_level_name(in->topology, level);
	}
	for (uint32_t level = levels + 1; level <= osp_topology_last_level(in->topology); level++)
		names[count++] = osp_topology_level_name(in->topology, level);
	in->builder = osp_builder_new_beside(names, count, levels + !in->beside, in->error);
	return in->builder ? 0 : -1;
}

/* Returns a domain's number in the builder. */
static uint32_t made_of(const struct inserting *in, uint32_t domain)
{
	return domain == OSP_NO_DOMAIN ? OSP_NO_DOMAIN : in->made[domain];
}

static uint32_t made_of_block(const struct inserting *in, uint32_t block)
{
	return in->made[osp_topology_listed_domains(in->topology) + block];
}

static int nest(struct inserting *in, uint32_t child, uint32_t parent)
{
	return parent == OSP_NO_DOMAIN
		       ? 0
		       : osp_builder_nest(in->builder, child, parent, NULL, in->error);
}

static int make_domains(struct inserting *in)
{
	uint32_t count = osp_topology_listed_domains(in->topology);

	for (uint32_t d = 0; d < count; d++) {
		const struct osp_domain *domain = osp_topology_domain(in->topology, d);

		in->made[d] =
			osp_builder_domain(in->builder, domain->level + (domain->level > in->below),
					   domain->name, NULL, in->error);
		if (in->made[d] == OSP_NO_DOMAIN)
			return -1;
	}
	for (uint32_t b = 0; b < in->blocks->count; b++) {
		if (in->first[b] == OSP_NO_NODE)
			continue;
		in->made[count + b] = osp_builder_domain(
			in->builder, in->below + 1, in->blocks->blocks[b].name, NULL, in->error);
		if (in->made[count + b] == OSP_NO_DOMAIN)
			return -1;
		if (!in->beside && nest(in, in->made[count + b],
					made_of(in, domain_above(in, in->first[b], in->below))))
			return -1;
	}
	return 0;
}

static int nest_domains(struct inserting *in)
{
	for (uint32_t d = 0; d < osp_topology_domain_count(in->topology); d++) {
		const struct osp_domain *domain = osp_topology_domain(in->topology, d);
		uint32_t first = osp_topology_node_at_rank(in->topology, domain->first_rank);
		uint32_t parent = made_of(in, domain->parent);
		bool below = !in->beside && domain->level <= in->below &&
			     (domain->parent == OSP_NO_DOMAIN ||
			      osp_topology_domain(in->topology, domain->parent)->level > in->below);

		if (below && in->block_of[first] != NO_BLOCK)
			parent = made_of_block(in, in->block_of[first]);
		if (nest(in, in->made[d], parent))
			return -1;
	}
	return 0;
}

/* Puts a node into its domains beside the tree. */
static int put_beside(struct inserting *in, uint32_t node)
{
	const char *name = osp_topology_node_name(in->topology, node);

	for (uint32_t level = osp_topology_level_count(in->topology) + 1;
	     level <= osp_topology_last_level(in->topology); level++) {
		uint32_t domain = osp_topology_domain_of(in->topology, node, level);

		if (domain != OSP_NO_DOMAIN &&
		    osp_builder_beside(in->builder, name, in->made[domain], NULL, in->error))
			return -1;
	}
	if (!in->beside || in->block_of[node] == NO_BLOCK)
		return 0;
	return osp_builder_beside(in->builder, name, made_of_block(in, in->block_of[node]), NULL,
				  in->error);
}

static int make_nodes(struct inserting *in)
{
	for (uint32_t node = 0; node < osp_topology_node_count(in->topology); node++) {
		const char *name = osp_topology_node_name(in->topology, node);
		const struct osp_node_note *note = osp_topology_note(in->topology, node);
		uint32_t domain = domain_above(in, node, 0), parent = made_of(in, domain);

		if (in->block_of[node] != NO_BLOCK && !in->beside &&
		    (domain == OSP_NO_DOMAIN ||
		     osp_topology_domain(in->topology, domain)->level > in->below))
			parent = made_of_block(in, in->block_of[node]);
		if (osp_builder_node(in->builder, name, parent, NULL, in->error) ||
		    put_beside(in, node) ||
		    (note && osp_builder_note(in->builder, name, note, NULL, in->error)))
			return -1;
	}
	return 0;
}

/* Takes memory, and finds the block of each node. inserting_free() in either case. */
static int inserting_begin(struct inserting *in)
{
	uint32_t nodes = osp_topology_node_count(in->topology);
	uint32_t domains = osp_topology_listed_domains(in->topology);

	in->block_of = calloc((size_t)nodes + 1, sizeof(*in->block_of));
	in->first = calloc((size_t)in->blocks->count + 1, sizeof(*in->first));
	in->made = calloc((size_t)domains + in->blocks->count + 1, sizeof(*in->made));
	if (!in->block_of || !in->first || !in->made)
		return osp_error_set(in->error, "out of memory");
	for (uint32_t i = 0; i < nodes; i++)
		in->block_of[i] = NO_BLOCK;
	for (uint32_t i = 0; i < in->blocks->count; i++)
		in->first[i] = OSP_NO_NODE;
	return take_nodes(in);
}

static void inserting_free(struct inserting *in)
{
	osp_builder_free(in->builder);
	free(in->block_of);
	free(in->first);
	free(in->made);
}

/* Says why the level of `made` is beside the tree, and how many of its domains cross each level. */
static void say_beside(const struct osp_topology *made, const struct osp_error *why,
		       struct osp_error *beside)
{
	uint32_t overlay = (uint32_t)osp_topology_level(made, LEVEL_NAME), first, count;
	char counts[400] = "";
	size_t at = 0;

	osp_topology_level_domains(made, overlay, &first, &count);
	for (uint32_t level = 1; level <= osp_topology_level_count(made); level++) {
		uint32_t crossing = osp_topology_count_crossing(made, overlay, level);

		if (crossing && at < sizeof(counts))
			at += (size_t)snprintf(counts + at, sizeof(counts) - at,
					       "%s%u of %u domains cross level %s",
					       at ? ", " : "; ", crossing, count,
					       osp_topology_level_name(made, level));
	}
	osp_error_set(beside, "level " LEVEL_NAME " is beside the tree: %.200s%s", why->text,
		      counts);
}

struct osp_topology *osp_blocks_insert(const struct osp_topology *topology,
				       const struct osp_blocks *blocks, struct osp_error *beside,
				       struct osp_error *error)
{
	struct inserting in = {.topology = topology, .blocks = blocks, .error = error};
	struct osp_error why = {.text = ""};
	struct osp_topology *made = NULL;

	if (!inserting_begin(&in) && !find_level(&in, &why) && !begin_building(&in) &&
	    !make_domains(&in) && !nest_domains(&in) && !make_nodes(&in))
		made = osp_builder_finish(in.builder, false, error);
	if (made && in.beside)
		say_beside(made, &why, beside);
	inserting_free(&in);
	return made;
}

struct osp_topology *osp_blocks_add(struct osp_topology *topology, const char *file,
				    const char *text, size_t text_bytes, struct osp_error *why,
				    struct osp_error *error)
{
	struct osp_blocks *blocks = osp_blocks_read(file, text, text_bytes, error);
	struct osp_error none = {.text = ""};
	struct osp_topology *made = NULL;

	if (!blocks) {
		osp_topology_free(topology);
		return NULL;
	}
	if (blocks->count)
		made = osp_blocks_insert(topology, blocks, why, &none);
	if (none.text[0])
		osp_error_set(why, "its blocks make no level " LEVEL_NAME ": %s", none.text);
	osp_blocks_free(blocks);
	if (!made)
		return topology;
	osp_topology_free(topology);
	return made;
}
