/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_map.c - the contents of a map from instances to node names (see osp_read_name_map()) */
#include "lib/topology/name_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/topology/pages.h"
#include "lib/base/room.h"
#include "lib/topology/topology.h"

#define ID_BYTES_MAX   255
#define LIST_BYTES_MAX ((size_t)1024 * 1024)

enum { TAG_ID, TAG_NODE };

struct osp_name_map {
	struct osp_arena arena;
	const char *file;
	struct osp_name_entry *entries;
	uint32_t entry_count;
	uint32_t entry_room;
	const char **nodes; /* of the current entry, during reading */
	uint32_t node_count;
	uint32_t node_room;
	uint32_t node_total;
	bool many_ids;		     /* one node may have several */
	struct osp_name_table table; /* ids and node names, each to its entry */
};

/* The place of the current entry. */
struct spot {
	struct osp_name_map *map;
	struct osp_error *error;
	int line;
	int id_column;
	int column; /* of the nodes */
};

const struct osp_name_entry *osp_name_map_find(const struct osp_name_map *map, const char *id)
{
	uint32_t index = osp_name_table_find(&map->table, TAG_ID, id);

	return index == OSP_NAME_ABSENT ? NULL : &map->entries[index];
}

uint32_t osp_name_map_count(const struct osp_name_map *map)
{
	return map->entry_count;
}

bool osp_name_map_entry(const struct osp_name_map *map, uint32_t index, const char **id,
			const char **node)
{
	if (index >= map->entry_count)
		return false;
	*id = map->entries[index].id;
	*node = map->entries[index].nodes[0];
	return true;
}

const char *osp_name_map_file(const struct osp_name_map *map)
{
	return map->file;
}

static int no_memory(const struct spot *spot)
{
	return osp_error_at(spot->error, spot->map->file, 0, 0, "out of memory");
}

/* --- one entry -------------------------------------------------------------------------------- */

/* Adds a node to the current entry, for each name of a hostlist. */
static int add_node(const char *name, void *context)
{
	struct spot *spot = context;
	struct osp_name_map *map = spot->map;
	uint32_t owner = osp_name_table_find(&map->table, TAG_NODE, name);
	const char *copy;

	if (owner == map->entry_count)
		return osp_error_at(spot->error, map->file, spot->line, spot->column,
				    "node %s is given twice here", name);
	if (owner != OSP_NAME_ABSENT && !map->many_ids)
		return osp_error_at(spot->error, map->file, spot->line, spot->column,
				    "node %s is the name of %s already (line %d)", name,
				    map->entries[owner].id, map->entries[owner].line);
	if (map->node_total == (map->many_ids ? OSP_ADAPTERS_MAX : OSP_NODES_MAX))
		return osp_error_at(spot->error, map->file, spot->line, spot->column,
				    "more than %d node names",
				    map->many_ids ? OSP_ADAPTERS_MAX : OSP_NODES_MAX);
	copy = osp_arena_copy(&map->arena, name, strlen(name));
	if (!copy ||
	    osp_make_room((void **)&map->nodes, &map->node_room, map->node_count,
			  sizeof(*map->nodes)) ||
	    (owner == OSP_NAME_ABSENT &&
	     osp_name_table_add(&map->table, TAG_NODE, copy, map->entry_count)))
		return no_memory(spot);
	map->nodes[map->node_count++] = copy;
	map->node_total++;
	return 0;
}

static int check_id(const struct spot *spot, const char *id)
{
	const struct osp_name_entry *before = osp_name_map_find(spot->map, id);

	if (!before)
		return 0;
	return osp_error_at(spot->error, spot->map->file, spot->line, spot->id_column,
			    "%s is given twice (first in line %d)", id, before->line);
}

/* Makes an entry of `id` and the current nodes. */
static int add_entry(const struct spot *spot, const char *id)
{
	struct osp_name_map *map = spot->map;
	const char *copy = osp_arena_copy(&map->arena, id, strlen(id));
	const char **nodes = osp_arena_take(&map->arena, map->node_count * sizeof(*nodes));

	if (!copy || !nodes ||
	    osp_make_room((void **)&map->entries, &map->entry_room, map->entry_count,
			  sizeof(*map->entries)) ||
	    osp_name_table_add(&map->table, TAG_ID, copy, map->entry_count))
		return no_memory(spot);
	memcpy(nodes, map->nodes, map->node_count * sizeof(*nodes));
	map->entries[map->entry_count++] =
		(struct osp_name_entry){copy, nodes, map->node_count, spot->line};
	map->node_count = 0;
	return 0;
}

/* --- two columns ------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Expands `list`, whose first byte is in spot->column. */
static int add_list(struct spot *spot, const char *list)
{
	struct osp_error inside = {0};

	/* A plain name, as nearly all are, needs no expansion. */
	if (!strpbrk(list, "[], "))
		return add_node(list, spot);
	if (strpbrk(list, " \t"))
		return osp_error_at(spot->error, spot->map->file, spot->line,
				    spot->column + (int)strcspn(list, " \t"),
				    "two columns are expected, an id and its nodes; here a third "
				    "starts");
	if (osp_hostlist_expand(list, add_node, spot, &inside) == 0)
		return 0;
	if (!inside.text[0])
		return -1;
	return osp_error_at(spot->error, spot->map->file, spot->line,
			    spot->column + (inside.column > 0 ? inside.column - 1 : 0), "%s",
			    inside.text);
}

/* Refuses bytes that no name has. */
static int check_bytes(const struct spot *spot, const char *line, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)line[i];

		if ((c < ' ' && !is_blank(line[i])) || c == 0x7f)
			return osp_error_at(spot->error, spot->map->file, spot->line, (int)i + 1,
					    "the byte 0x%02x is not allowed in a name", c);
	}
	return 0;
}

static int no_node(const struct spot *spot, const char *id, size_t id_bytes)
{
	return osp_error_at(spot->error, spot->map->file, spot->line, spot->column,
			    "%.*s has no node name: \"ID NODES\" is expected", (int)id_bytes, id);
}

/* Splits "ID NODES" in place. `line` is terminated and has no comment and no blanks at its end. */
static int read_columns(struct spot *spot, char *line)
{
	char *id = line + strspn(line, " \t\r"), *list;
	size_t id_bytes = strcspn(id, " \t\r,");

	spot->id_column = (int)(id - line) + 1;
	list = id + id_bytes;
	list += strspn(list, " \t\r");
	if (*list == ',')
		list++;
	list += strspn(list, " \t\r");
	spot->column = (int)(list - line) + 1;
	if (!id_bytes)
		return osp_error_at(spot->error, spot->map->file, spot->line, spot->id_column,
				    "an id is expected before the comma");
	if (id_bytes > ID_BYTES_MAX)
		return osp_error_at(spot->error, spot->map->file, spot->line, spot->id_column,
				    "an id of at most %d bytes is expected", ID_BYTES_MAX);
	if (!*list)
		return no_node(spot, id, id_bytes);
	id[id_bytes] = '\0';
	if (check_id(spot, id) || add_list(spot, list))
		return -1;
	if (!spot->map->node_count)
		return no_node(spot, id, id_bytes);
	return add_entry(spot, id);
}

static int read_line(struct spot *spot, const char *start, size_t bytes)
{
	const char *comment = memchr(start, '#', bytes);
	char *copy;
	int rc;

	if (comment)
		bytes = (size_t)(comment - start);
	while (bytes && is_blank(start[bytes - 1]))
		bytes--;
	if (check_bytes(spot, start, bytes))
		return -1;
	if (!bytes)
		return 0;
	if (bytes > LIST_BYTES_MAX)
		return osp_error_at(spot->error, spot->map->file, spot->line, 1,
				    "a line of more than %zu bytes", LIST_BYTES_MAX);
	copy = strndup(start, bytes);
	if (!copy)
		return no_memory(spot);
	rc = read_columns(spot, copy);
	free(copy);
	return rc;
}

static int read_lines(struct osp_name_map *map, const char *text, size_t text_bytes,
		      struct osp_error *error)
{
	struct spot spot = {.map = map, .error = error};
	size_t at = 0;

	if (text_bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		at = 3;
	while (at < text_bytes) {
		const char *start = text + at;
		const char *end = memchr(start, '\n', text_bytes - at);
		size_t bytes = end ? (size_t)(end - start) : text_bytes - at;

		spot.line++;
		if (read_line(&spot, start, bytes))
			return -1;
		at += bytes + (end != NULL);
	}
	return 0;
}

/* --- describe-instances ----------------------------------------------------------------------- */

/*
 * Returns whether an instance is gone. Such instances keep their tags for an hour, and their names
 * may already belong to others.
 */
static bool is_gone(const struct osp_value *instance)
{
	const struct osp_value *state = osp_value_get(instance, "State");
	const struct osp_value *name = state ? osp_value_get(state, "Name") : NULL;

	return name && name->type == OSP_VALUE_SCALAR &&
	       (!strcmp(name->text, "terminated") || !strcmp(name->text, "shutting-down"));
}

/* Returns the value of the tag, or NULL. */
static const struct osp_value *find_tag(const struct osp_value *instance, const char *tag)
{
	const struct osp_value *tags = osp_value_get(instance, "Tags"), *key;

	if (!tags || tags->type != OSP_VALUE_LIST)
		return NULL;
	for (const struct osp_value *t = tags->first; t; t = t->next) {
		key = osp_value_get(t, "Key");
		if (key && key->type == OSP_VALUE_SCALAR && !strcmp(key->text, tag))
			return osp_value_get(t, "Value");
	}
	return NULL;
}

/* Sets *value to the value that names the instance's node, or to NULL if none does. */
static int node_name(const struct osp_document *document, const struct osp_value *instance,
		     const char *tag, const struct osp_value **value, struct osp_error *error)
{
	const char *word;

	*value = tag ? find_tag(instance, tag) : osp_value_get(instance, "PrivateDnsName");
	if (!*value || ((*value)->type == OSP_VALUE_SCALAR && !(*value)->text[0])) {
		*value = NULL;
		return 0;
	}
	if (osp_value_string(document, *value, &word, error))
		return -1;
	if (strpbrk(word, " ,[]\t\n"))
		return osp_document_error(document, *value, error,
					  "'%.64s' cannot be a node's name", word);
	return 0;
}

static int read_instance(struct osp_name_map *map, const struct osp_document *document,
			 const struct osp_page *page, const struct osp_value *instance,
			 const char *tag, struct osp_error *error)
{
	struct spot spot = {.map = map, .error = error};
	const struct osp_value *value;
	const char *id;
	char name[256];

	if (osp_need_type(document, instance, OSP_VALUE_MAP, error) ||
	    osp_need_word(document, instance, "InstanceId", &id, error))
		return -1;
	if (is_gone(instance))
		return 0;
	if (node_name(document, instance, tag, &value, error))
		return -1;
	if (!value)
		return 0;
	/* errors have the page's lines until they are translated; entries have the file's */
	spot.line = osp_value_get(instance, "InstanceId")->line;
	spot.id_column = osp_value_get(instance, "InstanceId")->column;
	if (check_id(&spot, id))
		return -1;
	spot.line = value->line;
	spot.column = value->column;
	strcpy(name, value->text);
	if (!tag)
		name[strcspn(name, ".")] = '\0';
	if (!name[0])
		return osp_document_error(document, value, error, "'%.64s' cannot be a node's name",
					  value->text);
	if (add_node(name, &spot))
		return -1;
	spot.line = osp_page_line(page, value->line);
	return add_entry(&spot, id);
}

static int read_reservation(struct osp_name_map *map, const struct osp_document *document,
			    const struct osp_page *page, const struct osp_value *reservation,
			    const char *tag, struct osp_error *error)
{
	const struct osp_value *instances;

	if (osp_need_type(document, reservation, OSP_VALUE_MAP, error))
		return -1;
	instances = osp_value_get(reservation, "Instances");
	if (!instances)
		return 0;
	if (osp_need_type(document, instances, OSP_VALUE_LIST, error))
		return -1;
	for (const struct osp_value *i = instances->first; i; i = i->next) {
		if (read_instance(map, document, page, i, tag, error))
			return -1;
	}
	return 0;
}

static int read_document(struct osp_name_map *map, const struct osp_document *document,
			 const struct osp_page *page, const char *tag, struct osp_error *error)
{
	const struct osp_value *root = osp_document_root(document);
	const struct osp_value *reservations = osp_value_get(root, "Reservations");

	if (!reservations)
		return osp_document_error(document, root, error,
					  "no Reservations here, as describe-instances prints");
	if (osp_need_type(document, reservations, OSP_VALUE_LIST, error))
		return -1;
	for (const struct osp_value *r = reservations->first; r; r = r->next) {
		if (read_reservation(map, document, page, r, tag, error))
			return -1;
	}
	return 0;
}

static int read_pages(struct osp_name_map *map, const char *text, size_t text_bytes,
		      const char *tag, struct osp_error *error)
{
	struct osp_error inside = {0};
	struct osp_document *document;
	struct osp_pages pages;
	struct osp_page page;
	int rc = 0;

	osp_pages_start(&pages, map->file, text, text_bytes);
	while (!rc && osp_pages_next(&pages, &page)) {
		document = osp_document_read(map->file, page.text, page.text_bytes, &inside);
		rc = document ? read_document(map, document, &page, tag, &inside) : -1;
		osp_document_free(document);
		if (rc)
			osp_page_error(&page, &inside, error);
	}
	return rc;
}

/* --- the whole file --------------------------------------------------------------------------- */

static int read_map(struct osp_name_map *map, const char *text, size_t text_bytes, const char *tag,
		    struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	int rc;

	if (text_bytes > OSP_TOPOLOGY_FILE_BYTES_MAX)
		return osp_error_at(error, map->file, 0, 0, "larger than %zu bytes",
				    OSP_TOPOLOGY_FILE_BYTES_MAX);
	if (kind == OSP_FILE_EC2_INSTANCES || kind == OSP_FILE_JSON)
		rc = read_pages(map, text, text_bytes, tag, error);
	else if (kind != OSP_FILE_CSV && kind != OSP_FILE_OTHER)
		rc = osp_refuse_kind(map->file, "map of node names", kind, error);
	else if (tag)
		rc = osp_error_at(error, map->file, 0, 0,
				  "only the JSON of aws ec2 describe-instances has tags, and this "
				  "is none");
	else
		rc = read_lines(map, text, text_bytes, error);
	if (!rc && !map->entry_count)
		rc = osp_error_at(error, map->file, 0, 0, "no node name in this map");
	return rc;
}

static struct osp_name_map *read_new_map(const char *file, const char *text, size_t text_bytes,
					 const char *tag, bool many_ids, struct osp_error *error)
{
	struct osp_name_map *map = calloc(1, sizeof(*map));

	if (map) {
		map->many_ids = many_ids;
		map->file = osp_arena_copy(&map->arena, file, strlen(file));
	}
	if (!map || !map->file) {
		osp_error_at(error, file, 0, 0, "out of memory");
	} else if (!read_map(map, text, text_bytes, tag, error)) {
		free(map->nodes);
		map->nodes = NULL;
		return map;
	}
	osp_name_map_free(map);
	return NULL;
}

struct osp_name_map *osp_read_name_map(const char *file, const char *text, size_t text_bytes,
				       const char *tag, struct osp_error *error)
{
	return read_new_map(file, text, text_bytes, tag, false, error);
}

struct osp_name_map *osp_read_adapter_map(const char *file, const char *text, size_t text_bytes,
					  struct osp_error *error)
{
	return read_new_map(file, text, text_bytes, NULL, true, error);
}

void osp_name_map_free(struct osp_name_map *map)
{
	if (!map)
		return;
	osp_name_table_free(&map->table);
	osp_arena_free(&map->arena);
	free(map->entries);
	free(map->nodes);
	free(map);
}
