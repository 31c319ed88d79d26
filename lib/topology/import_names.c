/* SPDX-License-Identifier: GPL-2.0-or-later */
/* import_names.c - the names of hosts and switches in the topology */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/name_table.h"
#include "lib/base/room.h"
#include "lib/topology/import_private.h"
#include "lib/topology/name_map.h"

#define HASH_DIGITS	64
#define HASH_PREFIX_MIN 8

/* --- hosts ------------------------------------------------------------------------------------ */

enum { TAG_ID, TAG_NODE };

static bool is_hash(const char *id)
{
	size_t digits = 0;

	while (isxdigit((unsigned char)id[digits]))
		digits++;
	return digits == HASH_DIGITS && !id[digits];
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t common_prefix(const char *a, const char *b)
{
	size_t count = 0;

	while (a[count] && a[count] == b[count])
		count++;
	return count;
}

/* Finds the shortest prefix, at least HASH_PREFIX_MIN long, that keeps all hashed hosts apart. */
static int hash_prefix(const struct osp_import *import, size_t *prefix, struct osp_error *error)
{
	const char **hashes = calloc(import->host_count + 1, sizeof(*hashes));
	size_t count = 0;

	if (!hashes)
		return osp_import_no_memory(error);
	for (uint32_t i = 0; i < import->host_count; i++) {
		if (is_hash(import->hosts[i].id))
			hashes[count++] = import->hosts[i].id;
	}
	qsort(hashes, count, sizeof(*hashes), by_bytes);
	*prefix = HASH_PREFIX_MIN;
	for (size_t i = 1; i < count; i++) {
		size_t common = common_prefix(hashes[i - 1], hashes[i]);

		if (common + 1 > *prefix)
			*prefix = common + 1;
	}
	free(hashes);
	return 0;
}

static int has_no_topology(struct osp_import *import, const struct osp_import_host *host,
			   struct osp_error *error)
{
	if (import->kind == OSP_IMPORT_CSV)
		return osp_import_missing(import, &host->place, error, "host %.64s has no switches",
					  host->id);
	return osp_import_missing(
		import, &host->place, error,
		"%s %.64s has no NetworkNodes (%s, or its type has none)", host->what, host->id,
		host->holds_many ? "it is neither active nor pending" : "it does not run");
}

/* Takes the names from the map. */
static int map_host(struct osp_import *import, struct osp_import_host *host,
		    struct osp_error *error)
{
	const struct osp_name_map *map = import->options.map;
	const struct osp_name_entry *entry = osp_name_map_find(map, host->id);

	if (!entry)
		return osp_import_missing(import, &host->place, error,
					  "%s %.64s is not in the map %.128s", host->what, host->id,
					  osp_name_map_file(map));
	if (entry->node_count > 1 && !host->holds_many)
		return osp_error_at(error, osp_name_map_file(map), entry->line, 0,
				    "%s %.64s is one node, not %u", host->what, host->id,
				    entry->node_count);
	host->nodes = entry->nodes;
	host->node_count = entry->node_count;
	return 0;
}

/* Names a host from the map. Without a map the id is the node's name, shortened if it is a hash. */
static int name_host(struct osp_import *import, struct osp_import_host *host, size_t prefix,
		     struct osp_error *error)
{
	const char **nodes;
	char hash[HASH_DIGITS + 2] = "n";

	if (import->options.map)
		return map_host(import, host, error);
	if (host->holds_many)
		return osp_error_at(error, host->place.file, host->place.line, host->place.column,
				    "which nodes capacity reservation %.64s holds only a map can "
				    "tell; give one with --nodes",
				    host->id);
	nodes = osp_arena_take(&import->arena, sizeof(*nodes));
	if (!nodes)
		return osp_import_no_memory(error);
	nodes[0] = host->id;
	if (import->kind == OSP_IMPORT_CSV && is_hash(host->id)) {
		memcpy(hash + 1, host->id, prefix);
		hash[prefix + 1] = '\0';
		if (osp_import_copy(import, hash, &nodes[0]))
			return osp_import_no_memory(error);
	}
	host->nodes = nodes;
	host->node_count = 1;
	return 0;
}

static int check_id(const struct osp_import *import, struct osp_name_table *table, uint32_t index,
		    struct osp_error *error)
{
	const struct osp_import_host *host = &import->hosts[index];
	uint32_t before = osp_name_table_find(table, TAG_ID, host->id);
	char where[OSP_IMPORT_WHERE_BYTES];

	if (before == OSP_NAME_ABSENT)
		return osp_name_table_add(table, TAG_ID, host->id, index)
			       ? osp_import_no_memory(error)
			       : 0;
	return osp_error_at(error, host->place.file, host->place.line, host->place.column,
			    "%s %.64s is given twice (first in %s)", host->what, host->id,
			    osp_import_where(&import->hosts[before].place, where, sizeof(where)));
}

static int check_nodes(const struct osp_import *import, struct osp_name_table *table,
		       uint32_t index, struct osp_error *error)
{
	const struct osp_import_host *host = &import->hosts[index];
	char where[OSP_IMPORT_WHERE_BYTES];

	for (uint32_t i = 0; i < host->node_count; i++) {
		uint32_t before = osp_name_table_find(table, TAG_NODE, host->nodes[i]);

		if (before != OSP_NAME_ABSENT)
			return osp_error_at(error, host->place.file, host->place.line,
					    host->place.column,
					    "%s %.64s would be node %.64s, which is %s %.64s (%s)",
					    host->what, host->id, host->nodes[i],
					    import->hosts[before].what, import->hosts[before].id,
					    osp_import_where(&import->hosts[before].place, where,
							     sizeof(where)));
		if (osp_name_table_add(table, TAG_NODE, host->nodes[i], index))
			return osp_import_no_memory(error);
	}
	return 0;
}

static int name_all(struct osp_import *import, struct osp_name_table *table,
		    struct osp_error *error)
{
	size_t prefix = HASH_PREFIX_MIN;

	for (uint32_t i = 0; i < import->host_count; i++) {
		if (check_id(import, table, i, error))
			return -1;
	}
	if (hash_prefix(import, &prefix, error))
		return -1;
	for (uint32_t i = 0; i < import->host_count; i++) {
		struct osp_import_host *host = &import->hosts[i];
		int rc = host->switch_count ? name_host(import, host, prefix, error)
					    : has_no_topology(import, host, error);

		if (rc || check_nodes(import, table, i, error))
			return -1;
	}
	return 0;
}

int osp_import_name_hosts(struct osp_import *import, struct osp_error *error)
{
	struct osp_name_table table = OSP_NAME_TABLE_INIT;
	int rc = name_all(import, &table, error);

	osp_name_table_free(&table);
	return rc;
}

/* --- switches of a CSV ------------------------------------------------------------------------ */

/* One switch of a table: a name under a parent. */
struct path {
	const char *bare;
	const char *name; /* its name in the topology */
	uint32_t parent;  /* TOP, or a path */
};

#define TOP UINT32_MAX

struct paths {
	struct osp_import *import;
	struct path *paths;
	uint32_t count;
	uint32_t room;
	uint32_t *at;		     /* by host: its switch in the layer above */
	struct osp_name_table table; /* tag: the parent; value: the path */
};

/* Finds the path of `bare` under `parent`, made if it is new. */
static int find_path(struct paths *paths, uint32_t parent, const char *bare, uint32_t *path)
{
	*path = osp_name_table_find(&paths->table, parent, bare);
	if (*path != OSP_NAME_ABSENT)
		return 0;
	*path = paths->count;
	if (osp_make_room((void **)&paths->paths, &paths->room, paths->count,
			  sizeof(*paths->paths)) ||
	    osp_name_table_add(&paths->table, parent, bare, paths->count))
		return -1;
	paths->paths[paths->count++] = (struct path){bare, bare, parent};
	return 0;
}

/*
 * Returns 1 if two switches from `first` on have the same bare name, with both in `same`; 0 if none
 * have, -1 if memory ran out.
 */
static int is_ambiguous(const struct paths *paths, uint32_t first, const struct path *same[2])
{
	struct osp_name_table names = OSP_NAME_TABLE_INIT;
	int found = 0;

	for (uint32_t i = first; i < paths->count && !found; i++) {
		const char *bare = paths->paths[i].bare;
		uint32_t before = osp_name_table_find(&names, 0, bare);

		if (before != OSP_NAME_ABSENT) {
			found = 1;
			same[0] = &paths->paths[before];
			same[1] = &paths->paths[i];
		} else if (osp_name_table_add(&names, 0, bare, i)) {
			found = -1;
		}
	}
	osp_name_table_free(&names);
	return found;
}

/*
 * Names a switch PARENT/NAME. The parent's name is unique in its layer, so this is unique in its
 * own.
 */
static int prefix_parent(struct paths *paths, struct path *path)
{
	const char *parent = paths->paths[path->parent].name;
	size_t parent_bytes = strlen(parent), bare_bytes = strlen(path->bare);
	char *name = osp_arena_take(&paths->import->arena, parent_bytes + bare_bytes + 2);

	if (!name)
		return -1;
	memcpy(name, parent, parent_bytes);
	name[parent_bytes] = '/';
	memcpy(name + parent_bytes + 1, path->bare, bare_bytes);
	path->name = name;
	return 0;
}

/* Warns that an NVLink domain which crosses leaves comes apart: a CSV numbers anew below each. */
static int warn_of_apart(const struct paths *paths, const struct path *const same[2])
{
	return osp_import_warn(paths->import, NULL,
			       "nvlink %.64s is below %.64s and %.64s, and becomes two domains, "
			       "%.64s and %.64s; if it is one, take another source for it: a CSV "
			       "has no level beside the tree",
			       same[0]->bare, paths->paths[same[0]->parent].name,
			       paths->paths[same[1]->parent].name, same[0]->name, same[1]->name);
}

/* Names the switches of one layer; `below_top` counts from 0 at the top. */
static int name_layer(struct paths *paths, uint32_t below_top)
{
	struct osp_import *import = paths->import;
	bool is_lowest = below_top + 1 == import->csv_layers;
	const struct path *same[2] = {NULL, NULL};
	uint32_t first = paths->count;
	int ambiguous;

	for (uint32_t i = 0; i < import->host_count; i++) {
		const struct osp_import_host *host = &import->hosts[i];

		if (below_top < host->switch_count &&
		    find_path(paths, paths->at[i],
			      host->switches[host->switch_count - 1 - below_top], &paths->at[i]))
			return -1;
	}
	ambiguous = is_ambiguous(paths, first, same);
	for (uint32_t i = first; ambiguous > 0 && i < paths->count; i++) {
		if (prefix_parent(paths, &paths->paths[i]))
			return -1;
	}
	if (ambiguous > 0 && is_lowest && !strcmp(osp_import_level_name(import, 1), "nvlink") &&
	    warn_of_apart(paths, same))
		return -1;
	for (uint32_t i = 0; i < import->host_count; i++) {
		struct osp_import_host *host = &import->hosts[i];

		if (below_top < host->switch_count)
			host->switches[host->switch_count - 1 - below_top] =
				paths->paths[paths->at[i]].name;
	}
	return ambiguous < 0 ? -1 : 0;
}

int osp_import_name_switches(struct osp_import *import, struct osp_error *error)
{
	struct paths paths = {.import = import, .table = OSP_NAME_TABLE_INIT};
	int rc = 0;

	paths.at = calloc(import->host_count + 1, sizeof(*paths.at));
	if (!paths.at)
		return osp_import_no_memory(error);
	for (uint32_t i = 0; i < import->host_count; i++)
		paths.at[i] = TOP;
	for (uint32_t layer = 0; layer < import->csv_layers && !rc; layer++)
		rc = name_layer(&paths, layer);
	osp_name_table_free(&paths.table);
	free(paths.paths);
	free(paths.at);
	return rc ? osp_import_no_memory(error) : 0;
}
