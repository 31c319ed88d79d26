/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_file.c - reads onespine.topology
 */
#include "lib/topology/readers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/document.h"
#include "lib/topology/file_kind.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/topology/builder.h"

#define FORMAT_VERSION 1

struct reader {
	const char *file;
	const struct osp_document *document;
	struct osp_builder *builder;
	struct osp_error *error;
	const char *levels[OSP_LEVELS_MAX]; /* bottom first; then the overlays */
	size_t level_count;		    /* of the tree */
	size_t overlay_count;
	const char *unasked; /* NULL: it says nothing of it */
};

/* The nodes of one domain during the expansion of their list. */
struct node_list {
	struct reader *reader;
	uint32_t domain;
	struct osp_place_in_file place;
	bool beside; /* a domain of an overlay */
};

static struct osp_place_in_file place_of(const struct reader *reader, const struct osp_value *value)
{
	return (struct osp_place_in_file){reader->file, value->line, value->column};
}

static int check_version(struct reader *reader, const struct osp_value *root)
{
	const struct osp_value *version = osp_value_get(root, "onespine-topology");
	int64_t number;

	if (!version)
		return osp_document_error(reader->document, root, reader->error,
					  "not an onespine.topology: \"onespine-topology\": 1 "
					  "is missing");
	if (osp_value_integer(reader->document, version, 1, INT32_MAX, &number, reader->error))
		return -1;
	if (number != FORMAT_VERSION)
		return osp_document_error(reader->document, version, reader->error,
					  "format %d is newer than this program, which knows %d",
					  (int)number, FORMAT_VERSION);
	return 0;
}

/* Reads the names of the overlays behind those of the levels. */
static int read_overlays(struct reader *reader, const struct osp_value *root)
{
	const struct osp_value *overlays = osp_value_get(root, "overlays");
	size_t most = OSP_LEVELS_MAX - reader->level_count;

	if (!overlays)
		return 0;
	if (overlays->type != OSP_VALUE_LIST || overlays->child_count > most)
		return osp_document_error(reader->document, overlays, reader->error,
					  "overlays: a list of at most %zu names of levels beside "
					  "the tree is expected, %d with the levels",
					  most, OSP_LEVELS_MAX);
	for (const struct osp_value *v = overlays->first; v; v = v->next) {
		if (osp_value_string(reader->document, v,
				     &reader->levels[reader->level_count + reader->overlay_count++],
				     reader->error))
			return -1;
	}
	return 0;
}

static int read_levels(struct reader *reader, const struct osp_value *root)
{
	const struct osp_value *levels = osp_value_get(root, "levels");
	struct osp_error inner = {.text = ""};

	if (!levels)
		return osp_document_error(reader->document, root, reader->error,
					  "\"levels\" is missing: the names of the levels, bottom "
					  "first");
	if (levels->type != OSP_VALUE_LIST || levels->child_count < 1 ||
	    levels->child_count > OSP_LEVELS_MAX)
		return osp_document_error(reader->document, levels, reader->error,
					  "levels: a list of 1 to %d names is expected",
					  OSP_LEVELS_MAX);
	for (const struct osp_value *v = levels->first; v; v = v->next) {
		if (osp_value_string(reader->document, v, &reader->levels[reader->level_count++],
				     reader->error))
			return -1;
	}
	if (read_overlays(reader, root))
		return -1;
	reader->builder =
		osp_builder_new_beside(reader->levels, reader->level_count + reader->overlay_count,
				       reader->level_count, &inner);
	if (!reader->builder)
		return osp_document_error(reader->document, levels, reader->error, "%s",
					  inner.text);
	return 0;
}

static int add_node(const char *name, void *context)
{
	struct node_list *list = context;

	if (list->beside)
		return osp_builder_beside(list->reader->builder, name, list->domain, &list->place,
					  list->reader->error);
	return osp_builder_node(list->reader->builder, name, list->domain, &list->place,
				list->reader->error);
}

static int read_nodes(struct reader *reader, const struct osp_value *nodes, uint32_t domain,
		      bool beside)
{
	struct node_list list = {reader, domain, place_of(reader, nodes), beside};
	struct osp_error inner = {.text = ""};
	int rc;

	if (nodes->type != OSP_VALUE_SCALAR)
		return osp_document_error(reader->document, nodes, reader->error,
					  "nodes: a list in Slurm's notation is expected, as in "
					  "\"gpu-[1-16]\"");
	rc = osp_hostlist_expand(nodes->text, add_node, &list, &inner);
	if (inner.text[0])
		return osp_error_at(reader->error, reader->file, nodes->line,
				    nodes->column + nodes->quoted + inner.column - 1, "nodes: %s",
				    inner.text);
	return rc;
}

/*
 * Finds the domain named `name` at one of the levels above `level`, and how many levels have one.
 */
static uint32_t find_above(const struct reader *reader, uint32_t level, const char *name,
			   uint32_t *found)
{
	uint32_t domain = OSP_NO_DOMAIN;

	*found = 0;
	for (uint32_t above = (uint32_t)reader->level_count; above > level; above--) {
		uint32_t here = osp_builder_find(reader->builder, above, name);

		if (here == OSP_NO_DOMAIN)
			continue;
		domain = here;
		++*found;
	}
	return domain;
}

/* Finds a domain by "level:name". */
static uint32_t find_by_level(const struct reader *reader, uint32_t level, const char *words)
{
	const char *colon = strchr(words, ':');

	for (uint32_t above = level + 1; colon && above <= reader->level_count; above++) {
		const char *name = reader->levels[above - 1];

		if (strlen(name) == (size_t)(colon - words) &&
		    !memcmp(name, words, (size_t)(colon - words)))
			return osp_builder_find(reader->builder, above, colon + 1);
	}
	return OSP_NO_DOMAIN;
}

/* Refuses a name that no domain above has, and suggests a similar one. */
static int refuse_unknown(struct reader *reader, const struct osp_value *domain, uint32_t level,
			  const struct osp_value *in)
{
	const struct osp_value *list =
		osp_value_get(osp_document_root(reader->document), "domains");
	const char **names = calloc(list->child_count + 1, sizeof(*names));
	const char *meant = NULL;
	size_t count = 0;

	for (const struct osp_value *v = list->first; names && v != domain; v = v->next) {
		const struct osp_value *name = osp_value_get(v, "name");
		uint32_t found;

		find_above(reader, level, name->text, &found);
		if (found)
			names[count++] = name->text;
	}
	if (names)
		meant = osp_nearest_word(in->text, names, count);
	free(names);
	return osp_document_error(reader->document, in, reader->error,
				  "in: no domain '%s' is listed before this one at a level above "
				  "%s%s%s%s",
				  in->text, reader->levels[level - 1],
				  meant ? "; did you mean " : "", meant ? meant : "",
				  meant ? "?" : "");
}

static int read_in(struct reader *reader, const struct osp_value *domain, uint32_t level,
		   uint32_t child)
{
	const struct osp_value *in = osp_value_get(domain, "in");
	struct osp_place_in_file place;
	uint32_t parent, found;
	const char *name;

	if (!in)
		return 0;
	if (level > reader->level_count)
		return osp_document_error(reader->document, in, reader->error,
					  "in: level %s is beside the tree, and its domains are "
					  "in no other",
					  reader->levels[level - 1]);
	if (osp_value_string(reader->document, in, &name, reader->error))
		return -1;
	parent = find_above(reader, level, name, &found);
	if (found > 1)
		return osp_document_error(reader->document, in, reader->error,
					  "in: '%s' is a domain of %u levels; write its level "
					  "before it, as in \"%s:%s\"",
					  name, found, reader->levels[level], name);
	if (!found)
		parent = find_by_level(reader, level, name);
	if (parent == OSP_NO_DOMAIN)
		return refuse_unknown(reader, domain, level, in);
	place = place_of(reader, in);
	return osp_builder_nest(reader->builder, child, parent, &place, reader->error);
}

/* Reads the level and name of a domain; both are needed. */
static int read_level_and_name(struct reader *reader, const struct osp_value *domain,
			       uint32_t *level, const char **name)
{
	const struct osp_value *level_value = osp_value_get(domain, "level");
	const struct osp_value *name_value = osp_value_get(domain, "name");
	size_t index;

	if (!level_value || !name_value)
		return osp_document_error(reader->document, domain, reader->error,
					  "a domain's \"%s\" is missing",
					  level_value ? "name" : "level");
	if (osp_value_choice(reader->document, level_value, reader->levels,
			     reader->level_count + reader->overlay_count, &index, reader->error))
		return -1;
	*level = (uint32_t)index + 1;
	return osp_value_string(reader->document, name_value, name, reader->error);
}

static int read_domain(struct reader *reader, const struct osp_value *value)
{
	static const char *const keys[] = {"level", "name", "in", "nodes"};
	const struct osp_value *nodes;
	struct osp_place_in_file place;
	const char *name;
	uint32_t level = 0, domain;

	if (osp_value_only_keys(reader->document, value, keys, sizeof(keys) / sizeof(keys[0]),
				reader->error) ||
	    read_level_and_name(reader, value, &level, &name))
		return -1;
	domain = osp_builder_find(reader->builder, level, name);
	if (domain != OSP_NO_DOMAIN)
		return osp_document_error(reader->document, osp_value_get(value, "name"),
					  reader->error, "%s %s is listed twice (first in line %d)",
					  reader->levels[level - 1], name,
					  osp_builder_place(reader->builder, domain)->line);
	place = place_of(reader, osp_value_get(value, "name"));
	domain = osp_builder_domain(reader->builder, level, name, &place, reader->error);
	if (domain == OSP_NO_DOMAIN || read_in(reader, value, level, domain))
		return -1;
	nodes = osp_value_get(value, "nodes");
	return nodes ? read_nodes(reader, nodes, domain, level > reader->level_count) : 0;
}

/* --- where places come from ------------------------------------------------------------------- */

/* The nodes of one source during the expansion of their list. */
struct noted {
	struct reader *reader;
	struct osp_node_note note;
	struct osp_place_in_file place;
};

static int add_note(const char *name, void *context)
{
	struct noted *noted = context;

	return osp_builder_note(noted->reader->builder, name, &noted->note, &noted->place,
				noted->reader->error);
}

/*
 * Reads "gpu-1 i-0abc 1700000000": a node, its instance ("-": none) and Slurm's boot time (0: not
 * known).
 */
static int read_note(struct noted *noted, const struct osp_value *value)
{
	char words[600], *rest = words, *name, *id, *boot, *end;

	noted->place = place_of(noted->reader, value);
	if (value->type == OSP_VALUE_SCALAR && strlen(value->text) < sizeof(words)) {
		strcpy(words, value->text);
		name = strsep(&rest, " ");
		id = strsep(&rest, " ");
		boot = strsep(&rest, " ");
		if (boot && !rest && *name && *id) {
			noted->note.instance_id = strcmp(id, "-") ? id : "";
			noted->note.boot_s = strtoll(boot, &end, 10);
			if (*boot && !*end && noted->note.boot_s >= 0)
				return add_note(name, noted);
		}
	}
	return osp_document_error(
		noted->reader->document, value, noted->reader->error,
		"\"NODE INSTANCE BOOT\" is expected, as \"gpu-1 i-0abc 1700000000\"");
}

static int read_noted_list(struct noted *noted, const struct osp_value *nodes)
{
	struct reader *reader = noted->reader;
	struct osp_error inner = {.text = ""};
	int rc;

	noted->place = place_of(reader, nodes);
	rc = osp_hostlist_expand(nodes->text, add_note, noted, &inner);
	if (inner.text[0])
		return osp_error_at(reader->error, reader->file, nodes->line, nodes->column,
				    "nodes: %s", inner.text);
	return rc;
}

/* Reads {"source": "ec2", "nodes": LIST or ["NODE INSTANCE BOOT", ...]}. */
static int read_source(struct reader *reader, const struct osp_value *value)
{
	static const char *const keys[] = {"source", "nodes"};
	struct noted noted = {.reader = reader, .note = {.instance_id = ""}};
	const struct osp_value *source, *nodes;

	if (osp_value_only_keys(reader->document, value, keys, 2, reader->error))
		return -1;
	source = osp_value_get(value, "source");
	nodes = osp_value_get(value, "nodes");
	if (!source || !nodes || nodes->type == OSP_VALUE_MAP)
		return osp_document_error(reader->document, value, reader->error,
					  "\"source\" and \"nodes\" are expected");
	if (osp_value_string(reader->document, source, &noted.note.source, reader->error))
		return -1;
	if (nodes->type == OSP_VALUE_SCALAR)
		return read_noted_list(&noted, nodes);
	for (const struct osp_value *v = nodes->first; v; v = v->next) {
		if (read_note(&noted, v))
			return -1;
	}
	return 0;
}

static int read_places(struct reader *reader, const struct osp_value *root)
{
	const struct osp_value *places = osp_value_get(root, "places");

	if (!places)
		return 0;
	if (places->type != OSP_VALUE_LIST)
		return osp_document_error(reader->document, places, reader->error,
					  "places: a list of sources is expected");
	for (const struct osp_value *v = places->first; v; v = v->next) {
		if (read_source(reader, v))
			return -1;
	}
	return 0;
}

static int read_root(struct reader *reader, const struct osp_value *root)
{
	static const char *const keys[] = {"onespine-topology", "source", "levels", "overlays",
					   "domains",		"nodes",  "places", "unasked"};
	const struct osp_value *domains, *nodes, *source, *unasked;

	if (root->type == OSP_VALUE_MAP && check_version(reader, root))
		return -1;
	if (osp_value_only_keys(reader->document, root, keys, sizeof(keys) / sizeof(keys[0]),
				reader->error) ||
	    read_levels(reader, root))
		return -1;
	source = osp_value_get(root, "source");
	if (source && source->type != OSP_VALUE_SCALAR)
		return osp_document_error(reader->document, source, reader->error,
					  "source: words are expected");
	domains = osp_value_get(root, "domains");
	if (!domains || domains->type != OSP_VALUE_LIST)
		return osp_document_error(reader->document, domains ? domains : root, reader->error,
					  "a list of \"domains\" is expected");
	for (const struct osp_value *v = domains->first; v; v = v->next) {
		if (read_domain(reader, v))
			return -1;
	}
	nodes = osp_value_get(root, "nodes");
	if (nodes && read_nodes(reader, nodes, OSP_NO_DOMAIN, false))
		return -1;
	unasked = osp_value_get(root, "unasked");
	if (unasked && osp_value_text(reader->document, unasked, OSP_UNASKED_BYTES - 1,
				      &reader->unasked, reader->error))
		return -1;
	return read_places(reader, root);
}

struct osp_topology *osp_read_onespine_topology(const char *file, const char *text,
						size_t text_bytes, struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	struct reader reader = {.file = file, .error = error};
	struct osp_topology *topology = NULL;
	struct osp_document *document;

	if (kind != OSP_FILE_ONESPINE && kind != OSP_FILE_JSON && kind != OSP_FILE_OTHER) {
		osp_error_at(error, file, 1, 1, "an onespine.topology is expected, not %s",
			     osp_file_kind_words(kind));
		return NULL;
	}
	document = osp_document_read(file, text, text_bytes, error);
	if (!document)
		return NULL;
	reader.document = document;
	if (!read_root(&reader, osp_document_root(document)))
		topology = osp_builder_finish(reader.builder, false, error);
	if (topology)
		osp_topology_set_unasked(topology, reader.unasked);
	osp_builder_free(reader.builder);
	osp_document_free(document);
	return topology;
}
