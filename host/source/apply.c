/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply.c - compares a new answer with the topology in force, and writes it, or holds it */
#include "host/source/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/files.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/base/text.h"
#include "lib/topology/place_age.h"
#include "lib/topology/readers.h"

enum { TAG_NODE, TAG_INSTANCE };

/* Which nodes could not have changed their place. */
struct counting {
	const struct osp_topology *before;
	const struct osp_node_list *nodes; /* NULL: all of them could not */
	struct osp_name_table by_name;
	bool *disputed;	    /* by node: another one is said to be the same instance */
	osp_counts_f *also; /* NULL: all */
	void *context;
};

static bool counts(const char *name, void *context)
{
	const struct counting *counting = context;
	uint32_t index = osp_name_table_find(&counting->by_name, TAG_NODE, name);
	const struct osp_node_note *note = osp_topology_note_of(counting->before, name);
	const struct osp_listed_node *node;

	if (counting->also && !counting->also(name, counting->context))
		return false;
	if (!counting->nodes)
		return true;
	if (index == OSP_NAME_ABSENT)
		return false;
	if (counting->disputed[index])
		return false;
	node = &counting->nodes->nodes[index];
	/* where it would be says nothing of where it is */
	if (!node->runs || osp_place_boot_s(note) == OSP_BOOT_UNLAUNCHED)
		return false;
	if (!note || !note->boot_s || !node->boot_s)
		return true;
	if (node->instance_id[0] && strcmp(node->instance_id, note->instance_id) != 0)
		return false;
	return osp_boot_is_same(node->boot_s, note->boot_s);
}

/* Notes the node's instance, and both nodes where another one has claimed it. */
static int note_instance(struct counting *counting, uint32_t i)
{
	const struct osp_listed_node *node = &counting->nodes->nodes[i];
	uint32_t before;

	if (!node->runs || !node->instance_id[0])
		return 0;
	before = osp_name_table_find(&counting->by_name, TAG_INSTANCE, node->instance_id);
	if (before == OSP_NAME_ABSENT)
		return osp_name_table_add(&counting->by_name, TAG_INSTANCE, node->instance_id, i);
	counting->disputed[before] = counting->disputed[i] = true;
	return 0;
}

static int index_nodes(struct counting *counting)
{
	counting->disputed =
		calloc((size_t)counting->nodes->count + 1, sizeof(*counting->disputed));
	for (uint32_t i = 0; counting->disputed && i < counting->nodes->count; i++) {
		if (osp_name_table_add(&counting->by_name, TAG_NODE, counting->nodes->nodes[i].name,
				       i) ||
		    note_instance(counting, i))
			return -1;
	}
	return counting->disputed ? 0 : -1;
}

int osp_apply_compare(const struct osp_topology *before, const struct osp_topology *after,
		      const struct osp_node_list *nodes, osp_counts_f *also, void *context,
		      struct osp_topology_change *change, struct osp_error *error)
{
	struct counting counting = {.before = before,
				    .nodes = nodes,
				    .by_name = OSP_NAME_TABLE_INIT,
				    .also = also,
				    .context = context};
	int rc = nodes ? index_nodes(&counting) : 0;

	if (!rc)
		rc = osp_topology_compare(before, after, counts, &counting, change);
	osp_name_table_free(&counting.by_name);
	free(counting.disputed);
	return rc ? osp_error_set(error, "out of memory") : 0;
}

/* Returns "FILE.held"; the caller frees it. */
static char *beside(const char *path, const char *suffix, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *result;

	osp_text_printf(&text, "%s%s", path, suffix);
	result = osp_text_take(&text);
	if (!result)
		osp_error_set(error, "out of memory");
	return result;
}

char *osp_apply_held_path(const char *path)
{
	struct osp_error ignored = {.text = ""};

	return beside(path, ".held", &ignored);
}

char *osp_reports_path(const char *path)
{
	struct osp_error ignored = {.text = ""};

	return beside(path, ".reports", &ignored);
}

/* Returns the text of a file that may not be there; *there says whether it is. NULL with `error`
 * set otherwise. */
static char *read_kept(const char *path, size_t *bytes, bool *there, struct osp_error *error)
{
	*there = access(path, F_OK) == 0 || errno != ENOENT;
	return *there ? osp_read_input(path, OSP_TOPOLOGY_FILE_BYTES_MAX, bytes, error) : NULL;
}

static int write_held(const char *path, const char *text, struct osp_error *error)
{
	char *held = beside(path, ".held", error);
	int rc = held ? osp_write_trusted(held, text, strlen(text), error) : -1;

	free(held);
	return rc;
}

int osp_apply_hold(const char *path, const struct osp_topology *topology, const char *source,
		   struct osp_error *error)
{
	char *text = osp_write_onespine_topology(topology, source);
	int rc = text ? write_held(path, text, error) : osp_error_set(error, "out of memory");

	free(text);
	return rc;
}

/* Removes the answer that was held: it is not the last one any more. */
static void drop_held(const char *path)
{
	char *held = osp_apply_held_path(path);

	if (held)
		unlink(held);
	free(held);
}

/* Compares the answer with the last good one, and holds or applies it. */
static enum osp_applied judge(const char *path, const char *old, size_t old_bytes,
			      const struct osp_topology *topology, const char *text,
			      const struct osp_node_list *nodes,
			      const struct osp_topology_guard *guard,
			      struct osp_topology_change *change, struct osp_error *error)
{
	struct osp_topology *before = osp_read_onespine_topology(path, old, old_bytes, error);
	int rc =
		before ? osp_apply_compare(before, topology, nodes, NULL, NULL, change, error) : -1;

	osp_topology_free(before);
	if (rc)
		return OSP_APPLIED_FAILED;
	if (guard && osp_topology_guard(guard, change, error))
		return write_held(path, text, error) ? OSP_APPLIED_FAILED : OSP_APPLIED_HELD;
	drop_held(path);
	if (!strcmp(old, text))
		return OSP_APPLIED_UNCHANGED;
	return osp_write_trusted(path, text, strlen(text), error) ? OSP_APPLIED_FAILED
								  : OSP_APPLIED_NEW;
}

enum osp_applied osp_apply_topology(const char *path, const struct osp_topology *topology,
				    const char *source, const struct osp_node_list *nodes,
				    const struct osp_topology_guard *guard,
				    struct osp_topology_change *change, struct osp_error *error)
{
	enum osp_applied kept = OSP_APPLIED_FAILED;
	char *text = osp_write_onespine_topology(topology, source);
	size_t old_bytes;
	bool there;
	char *old;

	memset(change, 0, sizeof(*change));
	if (!text) {
		osp_error_set(error, "out of memory");
		return kept;
	}
	old = read_kept(path, &old_bytes, &there, error);
	if (old)
		kept = judge(path, old, old_bytes, topology, text, nodes, guard, change, error);
	else if (!there && !osp_write_trusted(path, text, strlen(text), error))
		kept = OSP_APPLIED_NEW;
	free(old);
	free(text);
	return kept;
}

void osp_apply_unasked(const char *path, const char *unasked, const char *source)
{
	struct osp_error ignored = {.text = ""};
	bool there;
	size_t bytes;
	char *old = read_kept(path, &bytes, &there, &ignored), *text = NULL;
	struct osp_topology *topology =
		old ? osp_read_onespine_topology(path, old, bytes, &ignored) : NULL;

	if (topology) {
		osp_topology_set_unasked(topology, unasked);
		text = osp_write_onespine_topology(topology, source);
	}
	if (text && strcmp(old, text) != 0)
		(void)osp_write_trusted(path, text, strlen(text), &ignored);
	osp_topology_free(topology);
	free(text);
	free(old);
}

enum osp_applied osp_apply_held(const char *path, struct osp_error *error)
{
	char *held = beside(path, ".held", error);
	enum osp_applied kept = OSP_APPLIED_FAILED;
	struct osp_topology *topology;
	size_t bytes;
	bool there;
	char *text;

	if (!held)
		return kept;
	text = read_kept(held, &bytes, &there, error);
	topology = text ? osp_read_onespine_topology(held, text, bytes, error) : NULL;
	if (!there)
		kept = OSP_APPLIED_UNCHANGED;
	else if (topology && !osp_write_trusted(path, text, bytes, error) && !unlink(held))
		kept = OSP_APPLIED_NEW;
	osp_topology_free(topology);
	free(text);
	free(held);
	return kept;
}

/* The nodes of one line while their list is expanded. */
struct asked_line {
	const struct osp_topology *topology;
	int64_t *asked_s;
	int64_t time_s;
	int64_t last_s; /* of all lines, also of those without nodes */
};

static int take_asked(const char *name, void *context)
{
	const struct asked_line *line = context;
	uint32_t node = osp_topology_find_node(line->topology, name);

	if (node != OSP_NO_NODE)
		line->asked_s[node] = line->time_s;
	return 0;
}

static int read_asked_lines(const char *path, char *text, struct asked_line *asked,
			    struct osp_error *error)
{
	struct osp_error inner = {.text = ""};
	char *line, *end;

	for (int number = 1; (line = strsep(&text, "\n")); number++) {
		if (!*line)
			continue;
		asked->time_s = strtoll(line, &end, 10);
		if (end == line || *end != ' ' || asked->time_s < 0)
			return osp_error_at(
				error, path, number, 1,
				"\"TIME NODES\" is expected, as \"1700000000 gpu-[1-4]\"");
		if (asked->time_s > asked->last_s)
			asked->last_s = asked->time_s;
		if (osp_hostlist_expand(end + 1, take_asked, asked, &inner))
			return osp_error_at(error, path, number,
					    (int)(end - line) + 1 + inner.column, "%s", inner.text);
	}
	return 0;
}

/* Reads FILE.asked, and when the last question was. */
static int read_asked(const char *path, struct asked_line *asked, struct osp_error *error)
{
	char *asked_path = beside(path, ".asked", error), *text = NULL;
	bool there = true;
	size_t bytes;
	int rc = -1;

	if (asked_path)
		text = read_kept(asked_path, &bytes, &there, error);
	if (text)
		rc = read_asked_lines(asked_path, text, asked, error);
	free(text);
	free(asked_path);
	return there ? rc : 0;
}

int osp_apply_read_asked(const char *path, const struct osp_topology *topology, int64_t *asked_s,
			 struct osp_error *error)
{
	struct asked_line asked = {.topology = topology, .asked_s = asked_s};

	return read_asked(path, &asked, error);
}

/* --- when nodes were asked about -------------------------------------------------------------- */

/* Takes the times of nodes that were not asked about now from `old_s`. They are earlier than
 * `time_s`, whatever a clock said that has been set back since. */
static void take_kept(const struct osp_topology *topology, const char *kept, const int64_t *old_s,
		      int64_t time_s, int64_t *asked_s)
{
	char name[256];

	for (const char *at = kept; at && *at; at += strspn(at, "\n")) {
		size_t length = strcspn(at, "\n");
		uint32_t node;

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		at += length;
		node = osp_topology_find_node(topology, name);
		if (node != OSP_NO_NODE)
			asked_s[node] = old_s[node] < time_s ? old_s[node] : time_s - 1;
	}
}

/* Adds the line of all nodes with this time. Returns -1 if memory ran out. */
static int add_line(const struct osp_topology *topology, const int64_t *asked_s, int64_t time_s,
		    const char **names, struct osp_text *text)
{
	uint32_t count = osp_topology_node_count(topology), used = 0;
	char *list;

	for (uint32_t rank = 0; rank < count; rank++) {
		uint32_t node = osp_topology_node_at_rank(topology, rank);

		if (asked_s[node] == time_s)
			names[used++] = osp_topology_node_name(topology, node);
	}
	list = osp_hostlist_compact(names, used);
	if (list)
		osp_text_printf(text, "%lld %s\n", (long long)time_s, list);
	free(list);
	return list ? 0 : -1;
}

/* Writes a line for each time, the last one first. Returns -1 if memory ran out. */
static int add_lines(const struct osp_topology *topology, const int64_t *asked_s, int64_t time_s,
		     struct osp_text *text)
{
	uint32_t count = osp_topology_node_count(topology);
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	int rc = names ? 0 : -1;

	while (!rc && time_s) {
		int64_t earlier_s = 0;

		rc = add_line(topology, asked_s, time_s, names, text);
		for (uint32_t node = 0; node < count; node++) {
			if (asked_s[node] < time_s && asked_s[node] > earlier_s)
				earlier_s = asked_s[node];
		}
		time_s = earlier_s;
	}
	free(names);
	return rc;
}

int osp_apply_note_asked(const char *path, const struct osp_topology *topology, const char *kept,
			 int64_t time_s, struct osp_error *error)
{
	size_t count = (size_t)osp_topology_node_count(topology) + 1;
	int64_t *asked_s = calloc(count, sizeof(*asked_s)), *old_s = calloc(count, sizeof(*old_s));
	char *asked = beside(path, ".asked", error), *lines = NULL;
	struct osp_error ignored = {.text = ""};
	struct osp_text text = OSP_TEXT_INIT;
	int rc = -1;

	if (asked_s && old_s) {
		for (size_t node = 0; node < count; node++)
			asked_s[node] = time_s;
		if (kept && !osp_apply_read_asked(path, topology, old_s, &ignored))
			take_kept(topology, kept, old_s, time_s, asked_s);
		if (!add_lines(topology, asked_s, time_s, &text))
			lines = osp_text_take(&text);
	}
	if (asked && lines)
		rc = osp_write_output(asked, lines, strlen(lines), error);
	else
		osp_error_set(error, "out of memory");
	osp_text_free(&text);
	free(asked_s);
	free(old_s);
	free(lines);
	free(asked);
	return rc;
}

char *osp_apply_list_kept(const char *path, const struct osp_topology *topology, int64_t *oldest_s)
{
	uint32_t count = osp_topology_node_count(topology), used = 0;
	int64_t *asked_s = calloc((size_t)count + 1, sizeof(*asked_s));
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct asked_line asked = {.topology = topology, .asked_s = asked_s};
	struct osp_error ignored = {.text = ""};
	char *list = NULL;

	*oldest_s = INT64_MAX;
	if (!asked_s || !names || read_asked(path, &asked, &ignored))
		count = 0;
	for (uint32_t node = 0; node < count; node++) {
		if (asked_s[node] == asked.last_s ||
		    !osp_place_ages(osp_topology_note(topology, node)))
			continue;
		names[used++] = osp_topology_node_name(topology, node);
		if (asked_s[node] < *oldest_s)
			*oldest_s = asked_s[node];
	}
	if (used)
		list = osp_hostlist_compact(names, used);
	free(asked_s);
	free(names);
	return list;
}
