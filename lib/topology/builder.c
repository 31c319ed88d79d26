/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builder.c - builds a topology, piece by piece, for the readers */
#include "lib/topology/builder.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/clean.h"
#include "lib/base/room.h"
#include "lib/topology/builder_private.h"

#define LEVEL_NAME_BYTES_MAX 31
#define NAME_BYTES_MAX	     255
#define DOMAINS_MAX	     ((uint32_t)512 * 1024)
#define LINKS_MAX	     ((uint32_t)4 * 1024 * 1024) /* 32 rails for the most nodes */
#define PARENTS_MAX	     64				 /* of one child, before twins are merged */
#define NODE_TAG	     0 /* in the table of names; domains have their level as tag */

const char *osp_default_level_name(uint32_t level)
{
	static const char *const names[] = {"node",    "leaf",	  "spine",   "core",
					    "layer4",  "layer5",  "layer6",  "layer7",
					    "layer8",  "layer9",  "layer10", "layer11",
					    "layer12", "layer13", "layer14", "layer15"};

	return level < sizeof(names) / sizeof(names[0]) ? names[level] : NULL;
}

static int check_level_name(const char *const *names, size_t index, struct osp_error *error)
{
	const char *name = names[index];

	if (!*name || strlen(name) > LEVEL_NAME_BYTES_MAX)
		return osp_error_set(error, "level '%.40s': a name of 1 to %d letters is expected",
				     name, LEVEL_NAME_BYTES_MAX);
	for (const char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return osp_error_set(error,
					     "level '%s': only letters, digits, '_' and '-' "
					     "are allowed in a level's name",
					     name);
	}
	if (!strcasecmp(name, "node"))
		return osp_error_set(error, "level 'node' is the node itself; name the ones above");
	for (size_t i = 0; i < index; i++) {
		if (!strcasecmp(names[i], name))
			return osp_error_set(error, "level '%s' is named twice", name);
	}
	return 0;
}

static int check_level_names(const char *const *names, size_t count, struct osp_error *error)
{
	if (count < 1 || count > OSP_LEVELS_MAX)
		return osp_error_set(error, "1 to %d levels are expected, not %zu", OSP_LEVELS_MAX,
				     count);
	for (size_t i = 0; i < count; i++) {
		if (check_level_name(names, i, error))
			return -1;
	}
	return 0;
}

struct osp_builder *osp_builder_new(const char *const *names, size_t count, struct osp_error *error)
{
	return osp_builder_new_beside(names, count, count, error);
}

struct osp_builder *osp_builder_new_beside(const char *const *names, size_t count, size_t tree,
					   struct osp_error *error)
{
	struct osp_builder *builder;

	if (check_level_names(names, count, error))
		return NULL;
	builder = calloc(1, sizeof(*builder));
	if (!builder) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	builder->level_count = (uint32_t)tree;
	builder->overlay_count = (uint32_t)(count - tree);
	for (size_t i = 0; i < count; i++) {
		builder->level_names[i] =
			osp_arena_copy(&builder->arena, names[i], strlen(names[i]));
		if (!builder->level_names[i]) {
			osp_error_set(error, "out of memory");
			osp_builder_free(builder);
			return NULL;
		}
	}
	return builder;
}

void osp_builder_free(struct osp_builder *builder)
{
	if (!builder)
		return;
	osp_name_table_free(&builder->table);
	osp_arena_free(&builder->arena);
	free(builder->domains);
	free(builder->nodes);
	free(builder->links);
	free(builder);
}

const char *osp_builder_level_name(const struct osp_builder *builder, uint32_t level)
{
	return level ? builder->level_names[level - 1] : "node";
}

const char *osp_builder_where(const struct osp_place_in_file *place, char *buffer,
			      size_t buffer_bytes)
{
	buffer[0] = '\0';
	if (place->file && place->line > 0)
		snprintf(buffer, buffer_bytes, " (%.255s:%d)", place->file, place->line);
	else if (place->file)
		snprintf(buffer, buffer_bytes, " (%.255s)", place->file);
	return buffer;
}

static int no_memory(struct osp_error *error)
{
	return osp_error_set(error, "out of memory");
}

static int set_piece(struct osp_builder *builder, struct osp_piece *piece, uint32_t level,
		     const char *name, uint32_t index, const struct osp_place_in_file *place)
{
	const char *copy = osp_arena_copy(&builder->arena, name, strlen(name));

	if (!copy || osp_name_table_add(&builder->table, level, copy, index))
		return -1;
	*piece = (struct osp_piece){copy, level,  OSP_NO_LINK, OSP_NO_LINK, 0,
				    NULL, *place, OSP_NO_LINK, false};
	return 0;
}

/*
 * Returns whether a character is one that a terminal obeys or that libyaml does not return
 * unchanged.
 */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
	       (code >= 0xd800 && code < 0xe000) || code == 0xfeff || code == 0xfffe ||
	       code == 0xffff;
}

/* Checks a name for what no name may have; a node's name must also fit into a hostlist. */
static int check_name(const char *what, const char *name, const char *not_allowed,
		      const struct osp_place_in_file *place, struct osp_error *error)
{
	size_t count = strlen(name);

	if (count < 1 || count > NAME_BYTES_MAX)
		return osp_error_at(error, place->file, place->line, place->column,
				    "a %s's name of 1 to %d bytes is expected, not one of %zu",
				    what, NAME_BYTES_MAX, count);
	for (const char *c = name; *c; c += count) {
		uint32_t code;

		count = osp_utf8_read(c, &code);
		if (!count || is_control(code))
			return osp_error_at(
				error, place->file, place->line, place->column, "%s in a %s's name",
				count ? "a control character" : "bytes not UTF-8", what);
		if (strchr(not_allowed, *c))
			return osp_error_at(error, place->file, place->line, place->column,
					    "%s '%s': '%c' is not allowed in its name", what, name,
					    *c);
	}
	return 0;
}

uint32_t osp_builder_find(const struct osp_builder *builder, uint32_t level, const char *name)
{
	return osp_name_table_find(&builder->table, level, name);
}

const struct osp_place_in_file *osp_builder_place(const struct osp_builder *builder,
						  uint32_t domain)
{
	return &builder->domains[domain].place;
}

uint32_t osp_builder_domain(struct osp_builder *builder, uint32_t level, const char *name,
			    const struct osp_place_in_file *place, struct osp_error *error)
{
	static const struct osp_place_in_file nowhere;
	uint32_t index = osp_builder_find(builder, level, name);

	if (index != OSP_NAME_ABSENT && level)
		return index;
	place = place ? place : &nowhere;
	if (level < 1 || level > builder->level_count + builder->overlay_count) {
		osp_error_at(error, place->file, place->line, place->column,
			     "level %" PRIu32 " of %s: there are only %" PRIu32, level, name,
			     builder->level_count);
		return OSP_NO_DOMAIN;
	}
	if (check_name(osp_builder_level_name(builder, level), name, "", place, error))
		return OSP_NO_DOMAIN;
	if (builder->domain_count == DOMAINS_MAX) {
		osp_error_at(error, place->file, place->line, place->column,
			     "more than %" PRIu32 " switches", DOMAINS_MAX);
		return OSP_NO_DOMAIN;
	}
	index = builder->domain_count;
	if (osp_make_room((void **)&builder->domains, &builder->domain_room, index,
			  sizeof(struct osp_piece)) ||
	    set_piece(builder, &builder->domains[index], level, name, index, place)) {
		no_memory(error);
		return OSP_NO_DOMAIN;
	}
	builder->domain_count++;
	return index;
}

static bool has_parent(const struct osp_builder *builder, const struct osp_piece *piece,
		       uint32_t parent)
{
	for (uint32_t i = piece->first_link; i != OSP_NO_LINK; i = builder->links[i].next) {
		if (builder->links[i].parent == parent)
			return true;
	}
	return false;
}

/* Makes a link of no piece yet. */
static int make_link(struct osp_builder *builder, uint32_t parent, uint32_t next,
		     const struct osp_place_in_file *place, struct osp_error *error)
{
	if (builder->link_count == LINKS_MAX)
		return osp_error_at(error, place->file, place->line, place->column,
				    "more than %" PRIu32 " links", LINKS_MAX);
	if (osp_make_room((void **)&builder->links, &builder->link_room, builder->link_count,
			  sizeof(struct osp_link)))
		return no_memory(error);
	builder->links[builder->link_count++] = (struct osp_link){parent, next, *place};
	return 0;
}

static int add_link(struct osp_builder *builder, struct osp_piece *piece, uint32_t parent,
		    const struct osp_place_in_file *place, struct osp_error *error)
{
	uint32_t index = builder->link_count;

	if (piece->link_count == PARENTS_MAX)
		return osp_error_at(error, place->file, place->line, place->column,
				    "%s %s is under more than %d switches",
				    osp_builder_level_name(builder, piece->level), piece->name,
				    PARENTS_MAX);
	if (make_link(builder, parent, OSP_NO_LINK, place, error))
		return -1;
	if (piece->link_count++)
		builder->links[piece->last_link].next = index;
	else
		piece->first_link = index;
	piece->last_link = index;
	return 0;
}

int osp_builder_nest(struct osp_builder *builder, uint32_t child, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error)
{
	static const struct osp_place_in_file nowhere;
	struct osp_piece *below = &builder->domains[child];
	const struct osp_piece *above = &builder->domains[parent];

	place = place ? place : &nowhere;
	if (below->level >= above->level || above->level > builder->level_count)
		return osp_error_at(error, place->file, place->line, place->column,
				    "%s %s cannot be under %s %s: only a higher level's can",
				    osp_builder_level_name(builder, below->level), below->name,
				    osp_builder_level_name(builder, above->level), above->name);
	if (has_parent(builder, below, parent))
		return 0;
	return add_link(builder, below, parent, place, error);
}

static int node_twice(const struct osp_piece *node, const struct osp_place_in_file *place,
		      struct osp_error *error)
{
	char where[OSP_BUILDER_WHERE_BYTES];

	return osp_error_at(error, place->file, place->line, place->column,
			    "node %s is given twice%s", node->name,
			    osp_builder_where(&node->place, where, sizeof(where)));
}

static int add_node(struct osp_builder *builder, const char *name,
		    const struct osp_place_in_file *place, uint32_t *index, struct osp_error *error)
{
	*index = builder->node_count;
	if (check_name("node", name, " ,[]", place, error))
		return -1;
	if (*index == OSP_NODES_MAX)
		return osp_error_at(error, place->file, place->line, place->column,
				    "more than %d nodes", OSP_NODES_MAX);
	if (osp_make_room((void **)&builder->nodes, &builder->node_room, *index,
			  sizeof(struct osp_piece)) ||
	    set_piece(builder, &builder->nodes[*index], NODE_TAG, name, *index, place))
		return no_memory(error);
	builder->node_count++;
	return 0;
}

int osp_builder_node(struct osp_builder *builder, const char *name, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error)
{
	static const struct osp_place_in_file nowhere;
	uint32_t index = osp_builder_find(builder, NODE_TAG, name);

	place = place ? place : &nowhere;
	if (index != OSP_NAME_ABSENT) {
		struct osp_piece *node = &builder->nodes[index];

		if (node->unplaced) {
			node->unplaced = false;
			return parent == OSP_NO_DOMAIN
				       ? 0
				       : add_link(builder, node, parent, place, error);
		}
		if (parent == OSP_NO_DOMAIN || !node->link_count ||
		    has_parent(builder, node, parent))
			return node_twice(node, place, error);
		return add_link(builder, node, parent, place, error);
	}
	return add_node(builder, name, place, &index, error) ||
			       (parent != OSP_NO_DOMAIN &&
				add_link(builder, &builder->nodes[index], parent, place, error))
		       ? -1
		       : 0;
}

static int in_two(const struct osp_builder *builder, const struct osp_piece *node,
		  const struct osp_link *link, uint32_t domain,
		  const struct osp_place_in_file *place, struct osp_error *error)
{
	const struct osp_piece *one = &builder->domains[link->parent];
	char where[OSP_BUILDER_WHERE_BYTES];

	if (link->parent == domain)
		return node_twice(node, place, error);
	return osp_error_at(
		error, place->file, place->line, place->column, "node %s is in %s %s%s and %s %s",
		node->name, osp_builder_level_name(builder, one->level), one->name,
		osp_builder_where(&link->place, where, sizeof(where)),
		osp_builder_level_name(builder, one->level), builder->domains[domain].name);
}

int osp_builder_beside(struct osp_builder *builder, const char *name, uint32_t domain,
		       const struct osp_place_in_file *place, struct osp_error *error)
{
	static const struct osp_place_in_file nowhere;
	uint32_t index = osp_builder_find(builder, NODE_TAG, name);
	struct osp_piece *node;

	place = place ? place : &nowhere;
	if (index == OSP_NAME_ABSENT) {
		if (add_node(builder, name, place, &index, error))
			return -1;
		builder->nodes[index].unplaced = true;
	}
	node = &builder->nodes[index];
	for (uint32_t i = node->beside; i != OSP_NO_LINK; i = builder->links[i].next) {
		if (builder->domains[builder->links[i].parent].level ==
		    builder->domains[domain].level)
			return in_two(builder, node, &builder->links[i], domain, place, error);
	}
	if (make_link(builder, domain, node->beside, place, error))
		return -1;
	node->beside = builder->link_count - 1;
	return 0;
}

int osp_builder_note(struct osp_builder *builder, const char *name,
		     const struct osp_node_note *note, const struct osp_place_in_file *place,
		     struct osp_error *error)
{
	static const struct osp_place_in_file nowhere;
	uint32_t index = osp_builder_find(builder, NODE_TAG, name);
	struct osp_node_note *copy;

	place = place ? place : &nowhere;
	if (index == OSP_NAME_ABSENT)
		return osp_error_at(error, place->file, place->line, place->column,
				    "node %.64s has a source but is not in the topology", name);
	if (builder->nodes[index].note)
		return osp_error_at(error, place->file, place->line, place->column,
				    "the source of node %.64s is given twice", name);
	copy = osp_arena_take(&builder->arena, sizeof(*copy));
	if (!copy)
		return no_memory(error);
	copy->boot_s = note->boot_s;
	copy->source = osp_arena_copy(&builder->arena, note->source, strlen(note->source));
	copy->instance_id =
		osp_arena_copy(&builder->arena, note->instance_id, strlen(note->instance_id));
	if (!copy->source || !copy->instance_id)
		return no_memory(error);
	builder->nodes[index].note = copy;
	return 0;
}
