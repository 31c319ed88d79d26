/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_slurm.c - reads Slurm's topology.conf (topology/tree), and the tree in a topology.yaml
 *
 * First it reads all lines, then the links between switches, then it finds each switch's level,
 * which is its height above the nodes. A queue of finished switches replaces recursion; a switch
 * that it never reaches is in a cycle, or above one.
 */
#include "onespine_config.h"
#include "lib/topology/readers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/arena.h"
#include "lib/topology/file_kind.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/conf/conf_line.h"
#include "lib/topology/builder.h"
#include "lib/topology/topology_yaml.h"

#define SWITCHES_MAX ((uint32_t)512 * 1024)
#define LINKS_MAX    ((uint32_t)1024 * 1024)
#define CYCLE_SHOWN  6
#define NOBODY	     UINT32_MAX

/* One SwitchName line, which defines `count` switches from `first` on. */
struct source_line {
	char *list; /* of nodes or of switches, see `has_nodes` */
	struct osp_conf_reader list_start;
	bool has_nodes;
	uint32_t first;
	uint32_t count;
	int line;
	int column; /* of SwitchName's value */
};

struct switch_record {
	const char *name;
	uint32_t line;	       /* index of its source_line */
	uint32_t level;	       /* 0: not known yet */
	uint32_t pending;      /* children whose level is not known yet */
	uint32_t first_parent; /* index in `parents`; the others follow */
	uint32_t parent_count;
	uint32_t seen_in; /* the last list that named it, from 1 */
	uint32_t domain;
};

struct link {
	uint32_t parent;
	uint32_t child;
};

struct reader {
	const char *file;
	struct osp_error *error;
	struct osp_arena arena; /* switch names */
	struct osp_name_table table;
	struct source_line *lines;
	uint32_t line_count;
	uint32_t line_room;
	struct switch_record *switches;
	uint32_t switch_count;
	uint32_t switch_room;
	struct link *links;
	uint32_t link_count;
	uint32_t link_room;
	uint32_t *parents; /* by child */
	uint32_t current;  /* the current line */
	uint32_t made_up;  /* a switch that is not in the fabric, or NOBODY */
	struct osp_builder *builder;
};

static int no_memory(struct reader *reader)
{
	return osp_error_at(reader->error, reader->file, 0, 0, "out of memory");
}

/* Makes room as osp_make_room() does, and sets the error. */
static int make_room(struct reader *reader, void **array, uint32_t *room, uint32_t count,
		     size_t bytes)
{
	return osp_make_room(array, room, count, bytes) ? no_memory(reader) : 0;
}

/* Expands a list. Gives an error in it its place in the file. */
static int expand(struct reader *reader, const char *list, const struct osp_conf_reader *start,
		  osp_hostlist_f *each)
{
	struct osp_error inner = {.text = ""};
	int line, column, rc;

	rc = osp_hostlist_expand(list, each, reader, &inner);
	if (!inner.text[0])
		return rc;
	osp_conf_value_place(start, (size_t)inner.column - 1, &line, &column);
	return osp_error_at(reader->error, reader->file, line, column, "%s", inner.text);
}

/* --- lines */

static int add_switch(const char *name, void *context)
{
	struct reader *reader = context;
	const struct source_line *line = &reader->lines[reader->current];
	uint32_t known = osp_name_table_find(&reader->table, 0, name);
	struct switch_record *record;

	if (known != OSP_NAME_ABSENT)
		return osp_error_at(reader->error, reader->file, line->line, line->column,
				    "switch %s is defined twice (first in line %d)", name,
				    reader->lines[reader->switches[known].line].line);
	if (reader->switch_count == SWITCHES_MAX)
		return osp_error_at(reader->error, reader->file, line->line, line->column,
				    "more than %u switches", SWITCHES_MAX);
	if (make_room(reader, (void **)&reader->switches, &reader->switch_room,
		      reader->switch_count, sizeof(reader->switches[0])))
		return -1;
	record = &reader->switches[reader->switch_count];
	*record = (struct switch_record){
		.name = osp_arena_copy(&reader->arena, name, strlen(name)),
		.line = reader->current,
	};
	if (!record->name ||
	    osp_name_table_add(&reader->table, 0, record->name, reader->switch_count))
		return no_memory(reader);
	reader->switch_count++;
	reader->lines[reader->current].count++;
	return 0;
}

/*
 * Returns which key it is: 0 SwitchName, 1 Nodes, 2 Switches, 3 LinkSpeed; -1 with the error set.
 */
static int find_key(struct reader *reader, const struct osp_conf_word *word)
{
	static const char *const keys[] = {"SwitchName", "Nodes", "Switches", "LinkSpeed"};
	const char *meant;

	for (int i = 0; i < 4; i++) {
		if (!strcasecmp(word->key.data, keys[i]))
			return i;
	}
	meant = osp_nearest_word(word->key.data, keys, 4);
	return osp_error_at(reader->error, reader->file, word->key_line, word->key_column,
			    "unknown key %s%s%s%s", word->key.data,
			    meant ? "; did you mean "
				  : "; a switch has SwitchName, Nodes or "
				    "Switches, and LinkSpeed",
			    meant ? meant : "", meant ? "?" : "");
}

/* Adds a line, which becomes the current one. Returns NULL with the error set. */
static struct source_line *add_line(struct reader *reader)
{
	reader->current = reader->line_count;
	if (make_room(reader, (void **)&reader->lines, &reader->line_room, reader->line_count,
		      sizeof(reader->lines[0])))
		return NULL;
	return &reader->lines[reader->line_count++];
}

static int start_line(struct reader *reader, const struct osp_conf_word *word)
{
	struct source_line *line;

	line = add_line(reader);
	if (!line)
		return -1;
	*line = (struct source_line){.first = reader->switch_count};
	osp_conf_value_place(&word->value_start, 0, &line->line, &line->column);
	return expand(reader, word->value.data, &word->value_start, add_switch);
}

/* Keeps the line's list of nodes or of switches. */
static int keep_list(struct reader *reader, struct osp_conf_word *word, bool has_nodes)
{
	struct source_line *line = &reader->lines[reader->current];

	if (line->list)
		return osp_error_at(reader->error, reader->file, word->key_line, word->key_column,
				    line->has_nodes == has_nodes
					    ? "%s is given twice"
					    : "%s: a switch has either nodes or switches below it",
				    word->key.data);
	line->has_nodes = has_nodes;
	line->list_start = word->value_start;
	line->list = osp_text_take(&word->value);
	return line->list ? 0 : no_memory(reader);
}

static int read_word(struct reader *reader, struct osp_conf_word *word, bool first)
{
	int key = find_key(reader, word);

	if (key < 0)
		return -1;
	if (first != (key == 0))
		return osp_error_at(reader->error, reader->file, word->key_line, word->key_column,
				    first ? "a line starts with SwitchName=, not with %s"
					  : "%s is given twice",
				    word->key.data);
	if (key == 0)
		return start_line(reader, word);
	if (key == 3)
		return 0; /* Slurm ignores LinkSpeed too */
	return keep_list(reader, word, key == 1);
}

static int read_line(struct reader *reader, struct osp_conf_reader *conf)
{
	struct osp_conf_word word = OSP_CONF_WORD_INIT;
	const struct source_line *line;
	bool first = true;
	int rc;

	while ((rc = osp_conf_next_word(conf, &word, reader->error)) > 0) {
		rc = read_word(reader, &word, first);
		if (rc)
			break;
		first = false;
	}
	osp_conf_word_free(&word);
	if (rc || first)
		return rc;
	line = &reader->lines[reader->current];
	if (!line->list)
		return osp_error_at(reader->error, reader->file, line->line, line->column,
				    "a switch without Nodes= or Switches=");
	return 0;
}

static int read_lines(struct reader *reader, const char *text, size_t text_bytes)
{
	struct osp_conf_reader conf;

	osp_conf_start(&conf, reader->file, text, text_bytes);
	while (!osp_conf_at_end(&conf)) {
		if (read_line(reader, &conf))
			return -1;
	}
	if (!reader->line_count)
		return osp_error_at(reader->error, reader->file, 0, 0,
				    "no SwitchName line: this topology.conf is empty");
	return 0;
}

/*
 * Returns a reader for a scalar of YAML, as if it were in a topology.conf: errors inside it have
 * its place.
 */
static struct osp_conf_reader start_of(const struct reader *reader, const struct osp_value *value)
{
	return (struct osp_conf_reader){
		.file = reader->file,
		.at = value->text,
		.end = value->text + strlen(value->text),
		.line = value->line,
		.column = value->column + value->quoted,
	};
}

static int read_yaml_switch(const struct osp_value *name, const struct osp_value *list,
			    bool has_nodes, void *context)
{
	struct reader *reader = context;
	struct osp_conf_reader start = start_of(reader, name);
	struct source_line *line;

	line = add_line(reader);
	if (!line)
		return -1;
	*line = (struct source_line){
		.first = reader->switch_count,
		.line = name->line,
		.column = name->column,
		.has_nodes = has_nodes,
		.list_start = start_of(reader, list),
		.list = strdup(list->text),
	};
	if (!line->list)
		return no_memory(reader);
	return expand(reader, name->text, &start, add_switch);
}

/* --- links */

/*
 * Finds the place at which a list names a switch: exactly if the name is outside brackets, else the
 * list's start.
 */
static void place_in_list(const struct source_line *line, const char *name, int *row, int *column)
{
	size_t count = strlen(name), index = 0;
	const char *at;

	for (at = strstr(line->list, name); at; at = strstr(at + 1, name)) {
		if ((at == line->list || at[-1] == ',') && (!at[count] || at[count] == ',')) {
			index = (size_t)(at - line->list);
			break;
		}
	}
	osp_conf_value_place(&line->list_start, index, row, column);
}

static int refuse_child(struct reader *reader, const char *name)
{
	const struct source_line *line = &reader->lines[reader->current];
	const char **names = calloc((size_t)reader->switch_count + 1, sizeof(*names));
	const char *meant = NULL;
	int row, column;

	for (uint32_t i = 0; names && i < reader->switch_count; i++)
		names[i] = reader->switches[i].name;
	if (names)
		meant = osp_nearest_word(name, names, reader->switch_count);
	free(names);
	place_in_list(line, name, &row, &column);
	return osp_error_at(reader->error, reader->file, row, column,
			    "switch %s is not defined in this file%s%s%s", name,
			    meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
}

static int add_child(const char *name, void *context)
{
	struct reader *reader = context;
	const struct source_line *line = &reader->lines[reader->current];
	uint32_t child = osp_name_table_find(&reader->table, 0, name);
	int row, column;

	if (child == OSP_NAME_ABSENT)
		return refuse_child(reader, name);
	if (reader->switches[child].seen_in == reader->current + 1) {
		place_in_list(line, name, &row, &column);
		return osp_error_at(reader->error, reader->file, row, column,
				    "switch %s is named twice in this list", name);
	}
	reader->switches[child].seen_in = reader->current + 1;
	for (uint32_t i = 0; i < line->count; i++) {
		if (reader->link_count == LINKS_MAX)
			return osp_error_at(reader->error, reader->file, line->line, line->column,
					    "more than %u links between switches", LINKS_MAX);
		if (make_room(reader, (void **)&reader->links, &reader->link_room,
			      reader->link_count, sizeof(reader->links[0])))
			return -1;
		reader->links[reader->link_count++] = (struct link){line->first + i, child};
		reader->switches[line->first + i].pending++;
		reader->switches[child].parent_count++;
	}
	return 0;
}

static int read_links(struct reader *reader)
{
	for (reader->current = 0; reader->current < reader->line_count; reader->current++) {
		const struct source_line *line = &reader->lines[reader->current];

		if (!line->has_nodes && expand(reader, line->list, &line->list_start, add_child))
			return -1;
	}
	return 0;
}

/* --- levels */

/* Reverses the links: lists the parents of each switch. */
static int list_parents(struct reader *reader)
{
	uint32_t sum = 0;

	reader->parents = calloc((size_t)reader->link_count + 1, sizeof(*reader->parents));
	if (!reader->parents)
		return no_memory(reader);
	for (uint32_t i = 0; i < reader->switch_count; i++) {
		reader->switches[i].first_parent = sum;
		sum += reader->switches[i].parent_count;
		reader->switches[i].parent_count = 0;
	}
	for (uint32_t i = 0; i < reader->link_count; i++) {
		struct switch_record *child = &reader->switches[reader->links[i].child];

		reader->parents[child->first_parent + child->parent_count++] =
			reader->links[i].parent;
	}
	return 0;
}

/* Refuses a cycle. Follows pending children down, which ends in the cycle. */
static int refuse_cycle(struct reader *reader, uint32_t from, uint32_t *child_of)
{
	struct osp_text path = OSP_TEXT_INIT;
	const struct source_line *line;
	uint32_t next = from;
	char *words;

	for (uint32_t i = reader->link_count; i > 0; i--) {
		if (reader->switches[reader->links[i - 1].child].pending)
			child_of[reader->links[i - 1].parent] = reader->links[i - 1].child;
	}
	for (uint32_t i = 0; i < reader->switch_count; i++)
		from = child_of[from];
	line = &reader->lines[reader->switches[from].line];
	osp_text_add(&path, reader->switches[from].name);
	next = from;
	for (int i = 0; i < CYCLE_SHOWN; i++) {
		next = child_of[next];
		osp_text_printf(&path, " > %s", reader->switches[next].name);
		if (next == from)
			break;
	}
	words = osp_text_take(&path);
	osp_error_at(reader->error, reader->file, line->line, line->column,
		     "switch %s is below itself: %s%s", reader->switches[from].name,
		     words ? words : "", next == from ? "" : " ...");
	free(words);
	return -1;
}

static int refuse_height(struct reader *reader, uint32_t index)
{
	const struct source_line *line = &reader->lines[reader->switches[index].line];

	return osp_error_at(reader->error, reader->file, line->line, line->column,
			    "switch %s is at level %d above the nodes; at most %d are possible",
			    reader->switches[index].name, OSP_LEVELS_MAX + 1, OSP_LEVELS_MAX);
}

/*
 * Raises the parents of a switch above its level. Parents with no pending child left join the
 * queue.
 */
static int report_parents(struct reader *reader, uint32_t index, uint32_t *queue, uint32_t *queued)
{
	const struct switch_record *child = &reader->switches[index];

	for (uint32_t i = 0; i < child->parent_count; i++) {
		uint32_t above = reader->parents[child->first_parent + i];
		struct switch_record *parent = &reader->switches[above];

		if (parent->level <= child->level)
			parent->level = child->level + 1;
		if (parent->level > OSP_LEVELS_MAX)
			return refuse_height(reader, above);
		if (!--parent->pending)
			queue[(*queued)++] = above;
	}
	return 0;
}

static int find_levels(struct reader *reader, uint32_t *queue)
{
	uint32_t queued = 0;

	for (uint32_t i = 0; i < reader->switch_count; i++) {
		if (reader->lines[reader->switches[i].line].has_nodes) {
			reader->switches[i].level = 1;
			queue[queued++] = i;
		}
	}
	for (uint32_t i = 0; i < queued; i++) {
		if (report_parents(reader, queue[i], queue, &queued))
			return -1;
	}
	for (uint32_t i = 0; i < reader->switch_count; i++) {
		if (reader->switches[i].pending)
			return refuse_cycle(reader, i, queue);
	}
	return 0;
}

/* --- the topology */

/*
 * Finds the switch that we made up above all others, in a file that we wrote. If a person has since
 * put it below another switch or given it nodes, it belongs to the fabric.
 */
static uint32_t find_made_up(const struct reader *reader, const char *text, size_t text_bytes)
{
	const char *remark = memmem(text, text_bytes, OSP_ROOT_REMARK, strlen(OSP_ROOT_REMARK));
	int line = 1;

	for (const char *at = text; remark && at < remark; at++)
		line += *at == '\n';
	for (uint32_t i = 0; remark && i < reader->switch_count; i++) {
		const struct switch_record *record = &reader->switches[i];
		const struct source_line *source = &reader->lines[record->line];

		if (source->line > line)
			return source->has_nodes || record->parent_count || source->count != 1
				       ? NOBODY
				       : i;
	}
	return NOBODY;
}

static int start_builder(struct reader *reader)
{
	const char *names[OSP_LEVELS_MAX];
	uint32_t level_count = 0;

	for (uint32_t i = 0; i < reader->switch_count; i++) {
		if (i != reader->made_up && reader->switches[i].level > level_count)
			level_count = reader->switches[i].level;
	}
	for (uint32_t level = 1; level <= level_count; level++)
		names[level - 1] = osp_default_level_name(level);
	reader->builder = osp_builder_new(names, level_count, reader->error);
	return reader->builder ? 0 : -1;
}

static struct osp_place_in_file place_of_list(const struct reader *reader, uint32_t line)
{
	struct osp_place_in_file place = {.file = reader->file};

	osp_conf_value_place(&reader->lines[line].list_start, 0, &place.line, &place.column);
	return place;
}

static int build_switches(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->switch_count; i++) {
		struct switch_record *record = &reader->switches[i];
		const struct source_line *line = &reader->lines[record->line];
		struct osp_place_in_file place = {reader->file, line->line, line->column};

		if (i == reader->made_up)
			continue;
		record->domain = osp_builder_domain(reader->builder, record->level, record->name,
						    &place, reader->error);
		if (record->domain == OSP_NO_DOMAIN)
			return -1;
	}
	for (uint32_t i = 0; i < reader->link_count; i++) {
		const struct switch_record *parent = &reader->switches[reader->links[i].parent];
		const struct switch_record *child = &reader->switches[reader->links[i].child];
		struct osp_place_in_file place = place_of_list(reader, parent->line);

		if (reader->links[i].parent == reader->made_up)
			continue;
		if (osp_builder_nest(reader->builder, child->domain, parent->domain, &place,
				     reader->error))
			return -1;
	}
	return 0;
}

static int add_node(const char *name, void *context)
{
	struct reader *reader = context;
	const struct source_line *line = &reader->lines[reader->current];
	struct osp_place_in_file place = place_of_list(reader, reader->current);

	for (uint32_t i = 0; i < line->count; i++) {
		if (osp_builder_node(reader->builder, name,
				     reader->switches[line->first + i].domain, &place,
				     reader->error))
			return -1;
	}
	return 0;
}

static int build_nodes(struct reader *reader)
{
	for (reader->current = 0; reader->current < reader->line_count; reader->current++) {
		const struct source_line *line = &reader->lines[reader->current];

		if (line->has_nodes && expand(reader, line->list, &line->list_start, add_node))
			return -1;
	}
	return 0;
}

static int build(struct reader *reader, const char *text, size_t text_bytes)
{
	uint32_t *queue = calloc((size_t)reader->switch_count + 1, sizeof(*queue));
	int rc = queue ? list_parents(reader) : no_memory(reader);

	if (!rc)
		rc = find_levels(reader, queue);
	free(queue);
	reader->made_up = rc ? NOBODY : find_made_up(reader, text, text_bytes);
	if (rc || start_builder(reader) || build_switches(reader) || build_nodes(reader))
		return -1;
	return 0;
}

static void free_reader(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->line_count; i++)
		free(reader->lines[i].list);
	free(reader->lines);
	free(reader->switches);
	free(reader->links);
	free(reader->parents);
	osp_builder_free(reader->builder);
	osp_name_table_free(&reader->table);
	osp_arena_free(&reader->arena);
}

/* Reads the switches of either form. `document` is the caller's to free. */
static int take_lines(struct reader *reader, const char *text, size_t text_bytes,
		      struct osp_document **document)
{
	if (osp_file_kind(text, text_bytes) != OSP_FILE_SLURM_YAML)
		return read_lines(reader, text, text_bytes);
	*document = osp_document_read(reader->file, text, text_bytes, reader->error);
	return !*document ||
	       osp_topology_yaml_switches(*document, read_yaml_switch, reader, reader->error);
}

struct osp_topology *osp_read_slurm_topology(const char *file, const char *text, size_t text_bytes,
					     struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	struct reader reader = {.file = file, .error = error};
	struct osp_topology *topology = NULL;
	struct osp_document *document = NULL;
	int rc;

	if (kind != OSP_FILE_SLURM_TREE && kind != OSP_FILE_SLURM_YAML && kind != OSP_FILE_OTHER &&
	    kind != OSP_FILE_EMPTY) {
		osp_error_at(error, file, 1, 1,
			     "a Slurm topology.conf for topology/tree is expected, not %s",
			     osp_file_kind_words(kind));
		return NULL;
	}
	rc = take_lines(&reader, text, text_bytes, &document);
	if (!rc && !read_links(&reader) && !build(&reader, text, text_bytes))
		topology = osp_builder_finish(reader.builder, true, error);
	free_reader(&reader);
	osp_document_free(document);
	return topology;
}

/* --- links that are missing */

/* The nodes of a list that are in one leaf. */
struct linked {
	struct reader reader;
	const struct osp_topology *topology;
	uint32_t *line_of; /* by node: the last list that named it, from 1 */
	uint32_t leaf;
	uint32_t count;
};

static int count_linked(const char *name, void *context)
{
	struct linked *linked = context;
	uint32_t node = osp_topology_find_node(linked->topology, name);

	if (node == OSP_NO_NODE || linked->line_of[node] == linked->reader.current + 1)
		return 0;
	linked->line_of[node] = linked->reader.current + 1;
	linked->leaf = osp_topology_domain_of(linked->topology, node, 1);
	linked->count++;
	return 0;
}

/* Returns the first node of the leaf that the current list does not name. */
static uint32_t first_unlinked(const struct linked *linked, const struct osp_domain *leaf)
{
	for (uint32_t i = 0; i < leaf->node_count; i++) {
		uint32_t node = osp_topology_node_at_rank(linked->topology, leaf->first_rank + i);

		if (linked->line_of[node] != linked->reader.current + 1)
			return node;
	}
	return OSP_NO_NODE;
}

/* Finds what the switches of a line lack of their leaf's nodes; reports the first of all. */
static int add_gaps(struct linked *linked, uint64_t *gaps, struct osp_text *said)
{
	const struct source_line *line = &linked->reader.lines[linked->reader.current];
	const struct osp_domain *leaf;
	uint32_t node;

	linked->leaf = OSP_NO_DOMAIN;
	linked->count = 0;
	if (line->has_nodes && expand(&linked->reader, line->list, &line->list_start, count_linked))
		return -1;
	if (linked->leaf == OSP_NO_DOMAIN)
		return 0;
	leaf = osp_topology_domain(linked->topology, linked->leaf);
	node = linked->count < leaf->node_count ? first_unlinked(linked, leaf) : OSP_NO_NODE;
	if (node == OSP_NO_NODE)
		return 0;
	if (!*gaps)
		osp_text_printf(said,
				"%s:%d:%d: switch %s has no link to %s, as the other switches of "
				"unit %s have",
				linked->reader.file, line->line, line->column,
				linked->reader.switches[line->first].name,
				osp_topology_node_name(linked->topology, node), leaf->name);
	*gaps += (uint64_t)(leaf->node_count - linked->count) * line->count;
	return 0;
}

int osp_slurm_topology_gaps(const struct osp_topology *topology, const char *file, const char *text,
			    size_t text_bytes, struct osp_text *said, struct osp_error *error)
{
	struct linked linked = {.reader = {.file = file, .error = error}, .topology = topology};
	struct reader *reader = &linked.reader;
	struct osp_document *document = NULL;
	uint64_t gaps = 0;
	int rc;

	linked.line_of =
		calloc((size_t)osp_topology_node_count(topology) + 1, sizeof(*linked.line_of));
	rc = linked.line_of ? take_lines(reader, text, text_bytes, &document) : no_memory(reader);
	for (reader->current = 0; !rc && reader->current < reader->line_count; reader->current++)
		rc = add_gaps(&linked, &gaps, said);
	if (gaps > 1)
		osp_text_printf(said, "; %llu such links in all", (unsigned long long)gaps);
	free_reader(reader);
	osp_document_free(document);
	free(linked.line_of);
	return rc ? -1 : 0;
}
