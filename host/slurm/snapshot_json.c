/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_json.c - snapshots written to and read from JSON */
#include "host/slurm/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/topology/readers.h"
#include "host/output.h"

#define FORMAT_KEY     "onespine-state"
#define FORMAT_VERSION 1

/* --- writing ---------------------------------------------------------------------------------- */

static bool same_kind_of_node(const struct osp_state_node *a, const struct osp_state_node *b)
{
	return a->state == b->state && a->reserved == b->reserved && a->weight == b->weight &&
	       strcmp(a->kind, b->kind) == 0 &&
	       strcmp(a->features ? a->features : "", b->features ? b->features : "") == 0 &&
	       strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

/* Nodes [first, end) as one entry. */
static json_t *run_to_json(const struct osp_snapshot *snapshot, uint32_t first, uint32_t end,
			   const char **names)
{
	const struct osp_state_node *node = &snapshot->nodes[first];
	json_t *entry = json_object();
	char *list;
	uint32_t i;

	for (i = first; i < end; i++)
		names[i - first] = snapshot->nodes[i].name;
	list = osp_hostlist_compact(names, end - first);
	json_object_set_new(entry, "nodes", list ? json_string(list) : NULL);
	free(list);
	json_object_set_new(entry, "state", json_string(osp_node_state_name(node->state)));
	json_object_set_new(entry, "weight", json_integer(node->weight));
	if (node->reserved)
		json_object_set_new(entry, "reserved", json_true());
	if (*node->kind)
		json_object_set_new(entry, "kind", osp_json_string(node->kind));
	if (node->features)
		json_object_set_new(entry, "features", osp_json_string(node->features));
	if (node->reason)
		json_object_set_new(entry, "reason", osp_json_string(node->reason));
	return entry;
}

/* Neighbours that are alike and in the order in which a hostlist names them share an entry, so that
 * reading gives the same numbers back. */
static json_t *nodes_to_json(const struct osp_snapshot *snapshot)
{
	const char **names = calloc((size_t)snapshot->node_count + 1, sizeof(*names));
	json_t *list = names ? json_array() : NULL;
	uint32_t first = 0;
	uint32_t i;

	for (i = 1; list && i <= snapshot->node_count; i++) {
		const struct osp_state_node *node = &snapshot->nodes[i];

		if (i < snapshot->node_count && same_kind_of_node(node - 1, node) &&
		    osp_name_compare(node[-1].name, node->name) < 0)
			continue;
		json_array_append_new(list, run_to_json(snapshot, first, i, names));
		first = i;
	}
	free(names);
	return list;
}

static void set_string(json_t *object, const char *key, const char *value)
{
	if (value)
		json_object_set_new(object, key, osp_json_string(value));
}

static void set_number(json_t *object, const char *key, int64_t value)
{
	if (value)
		json_object_set_new(object, key, json_integer(value));
}

static json_t *job_to_json(const struct osp_state_job *job)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(job->id));
	set_string(object, "job", job->label);
	set_string(object, "name", job->name);
	set_string(object, "user", job->user);
	set_string(object, "partition", job->partition);
	set_string(object, "phase", osp_job_phase_name(job->phase));
	set_string(object, "state", job->state);
	set_string(object, "reason", job->reason);
	set_number(object, "node_count", job->node_count);
	set_number(object, "node_most", job->node_most);
	set_string(object, "nodes", job->nodes_text);
	set_string(object, "required_nodes", job->required_nodes);
	set_string(object, "excluded_nodes", job->excluded_nodes);
	set_string(object, "reservation", job->reservation);
	set_string(object, "features", job->features);
	set_string(object, "extra", job->extra);
	set_string(object, "licenses", job->licenses);
	set_string(object, "dependency", job->dependency);
	if (job->whole_nodes)
		json_object_set_new(object, "whole_nodes", json_true());
	set_number(object, "tasks", job->tasks);
	set_number(object, "restarts", job->restarts);
	set_number(object, "submit_s", job->submit_s);
	set_number(object, "eligible_s", job->eligible_s);
	set_number(object, "evaluated_s", job->evaluated_s);
	set_number(object, "start_s", job->start_s);
	set_number(object, "end_s", job->end_s);
	set_number(object, "limit_s", job->limit_s);
	set_string(object, "admin_comment", job->admin_comment);
	return object;
}

static json_t *partition_to_json(const struct osp_state_partition *partition)
{
	json_t *object = json_object();

	set_string(object, "name", partition->name);
	set_string(object, "nodes", partition->nodes_text);
	json_object_set_new(object, "default", json_boolean(partition->is_default));
	json_object_set_new(object, "up", json_boolean(partition->up));
	return object;
}

static json_t *reservation_to_json(const struct osp_state_reservation *reservation)
{
	json_t *object = json_object();

	set_string(object, "name", reservation->name);
	set_string(object, "nodes", reservation->nodes_text);
	set_number(object, "start_s", reservation->start_s);
	set_number(object, "end_s", reservation->end_s);
	if (reservation->others_too)
		json_object_set_new(object, "others_too", json_true());
	if (reservation->maint)
		json_object_set_new(object, "maint", json_true());
	if (reservation->overlap)
		json_object_set_new(object, "overlap", json_true());
	return object;
}

static json_t *topology_to_json(const struct osp_topology *topology)
{
	char *text = osp_write_onespine_topology(topology, "onespine map");
	json_t *value = text ? json_loads(text, 0, NULL) : NULL;

	free(text);
	return value;
}

json_t *osp_snapshot_to_json(const struct osp_snapshot *snapshot,
			     const struct osp_topology *topology)
{
	json_t *root = json_object();
	json_t *jobs = json_array();
	json_t *partitions = json_array();
	json_t *reservations = json_array();
	char when[32];
	uint32_t i;

	json_object_set_new(root, FORMAT_KEY, json_integer(FORMAT_VERSION));
	json_object_set_new(root, "time_s", json_integer(snapshot->time_s));
	set_string(root, "time", osp_format_time(snapshot->time_s, when, sizeof(when)));
	set_string(root, "cluster", snapshot->cluster);
	json_object_set_new(root, "nodes", nodes_to_json(snapshot));
	for (i = 0; i < snapshot->job_count; i++)
		json_array_append_new(jobs, job_to_json(&snapshot->jobs[i]));
	json_object_set_new(root, "jobs", jobs);
	if (snapshot->hides_jobs)
		json_object_set_new(root, "hides_jobs", json_true());
	for (i = 0; i < snapshot->partition_count; i++)
		json_array_append_new(partitions, partition_to_json(&snapshot->partitions[i]));
	json_object_set_new(root, "partitions", partitions);
	for (i = 0; i < snapshot->reservation_count; i++)
		json_array_append_new(reservations,
				      reservation_to_json(&snapshot->reservations[i]));
	json_object_set_new(root, "reservations", reservations);
	if (topology)
		json_object_set_new(root, "topology", topology_to_json(topology));
	return root;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reader {
	struct osp_snapshot *snapshot;
	const char *file;
	struct osp_error *error;
	/* of the entry being read, for errors and for the names it expands to */
	const char *list;
	size_t index;
	json_t *entry;
};

static int bad_entry(struct reader *reader, const char *key, const char *expected)
{
	return osp_error_at(reader->error, reader->file, 0, 0, "%s[%zu].%s: %s expected",
			    reader->list, reader->index, key, expected);
}

/* Reads a string that may be absent. */
static int get_string(struct reader *reader, const char *key, const char **value)
{
	json_t *member = json_object_get(reader->entry, key);

	*value = NULL;
	if (!member || json_is_null(member))
		return 0;
	if (!json_is_string(member))
		return bad_entry(reader, key, "a string");
	*value = osp_snapshot_string(reader->snapshot, json_string_value(member));
	return 0;
}

static int get_needed_string(struct reader *reader, const char *key, const char **value)
{
	if (get_string(reader, key, value) < 0)
		return -1;
	return *value ? 0 : bad_entry(reader, key, "a string");
}

/* Reads a number of at least 0 that may be absent. */
static int get_number(struct reader *reader, const char *key, int64_t most, int64_t *value)
{
	json_t *member = json_object_get(reader->entry, key);

	*value = 0;
	if (!member || json_is_null(member))
		return 0;
	if (!json_is_integer(member) || json_integer_value(member) < 0 ||
	    json_integer_value(member) > most)
		return bad_entry(reader, key, "a whole number");
	*value = json_integer_value(member);
	return 0;
}

static int get_count(struct reader *reader, const char *key, uint32_t *value)
{
	int64_t number;

	if (get_number(reader, key, UINT32_MAX, &number) < 0)
		return -1;
	*value = (uint32_t)number;
	return 0;
}

static int get_word(struct reader *reader, const char *key, const char *(*word_at)(size_t),
		    size_t word_count, size_t *value)
{
	const char *word;

	if (get_needed_string(reader, key, &word) < 0)
		return -1;
	for (*value = 0; *value < word_count; (*value)++)
		if (strcmp(word, word_at(*value)) == 0)
			return 0;
	return osp_error_at(reader->error, reader->file, 0, 0, "%s[%zu].%s: '%.40s' is not known",
			    reader->list, reader->index, key, word);
}

static const char *node_state_at(size_t index)
{
	return osp_node_state_name(index);
}

static const char *job_phase_at(size_t index)
{
	return osp_job_phase_name(index);
}

struct node_run {
	struct osp_snapshot *snapshot;
	struct osp_state_node like;
};

static int add_run_node(const char *name, void *context)
{
	struct node_run *run = context;
	struct osp_state_node *node;

	if (run->snapshot->node_count >= OSP_NODES_MAX)
		return 1;
	node = osp_snapshot_add_node(run->snapshot);
	if (!node)
		return 1;
	*node = run->like;
	node->name = osp_snapshot_string(run->snapshot, name);
	return node->name ? 0 : 1;
}

static int read_nodes(struct reader *reader)
{
	struct node_run run = {.snapshot = reader->snapshot};
	struct osp_error inner = {.text = ""};
	const char *list;
	size_t state;
	int result;

	if (get_needed_string(reader, "nodes", &list) < 0 ||
	    get_word(reader, "state", node_state_at, OSP_NODE_STATE_COUNT, &state) < 0 ||
	    get_count(reader, "weight", &run.like.weight) < 0 ||
	    get_string(reader, "kind", &run.like.kind) < 0 ||
	    get_string(reader, "features", &run.like.features) < 0 ||
	    get_string(reader, "reason", &run.like.reason) < 0)
		return -1;
	run.like.state = state;
	run.like.reserved = json_is_true(json_object_get(reader->entry, "reserved"));
	if (!run.like.kind)
		run.like.kind = "";
	result = osp_hostlist_expand(list, add_run_node, &run, &inner);
	if (result < 0)
		return osp_error_at(reader->error, reader->file, 0, 0, "nodes[%zu].nodes: %s",
				    reader->index, inner.text);
	if (result > 0 && reader->snapshot->failed)
		return osp_error_at(reader->error, reader->file, 0, 0, "out of memory");
	if (result > 0)
		return osp_error_at(reader->error, reader->file, 0, 0, "more than %d nodes",
				    OSP_NODES_MAX);
	return 0;
}

static int read_job(struct reader *reader)
{
	struct osp_state_job *job = osp_snapshot_add_job(reader->snapshot);
	size_t phase;

	if (!job)
		return osp_error_set(reader->error, "out of memory");
	if (get_count(reader, "id", &job->id) < 0 ||
	    get_needed_string(reader, "job", &job->label) < 0 ||
	    get_string(reader, "name", &job->name) < 0 ||
	    get_string(reader, "user", &job->user) < 0 ||
	    get_string(reader, "partition", &job->partition) < 0 ||
	    get_word(reader, "phase", job_phase_at, OSP_JOB_ENDED + 1, &phase) < 0 ||
	    get_needed_string(reader, "state", &job->state) < 0 ||
	    get_string(reader, "reason", &job->reason) < 0 ||
	    get_count(reader, "node_count", &job->node_count) < 0 ||
	    get_count(reader, "node_most", &job->node_most) < 0 ||
	    get_string(reader, "nodes", &job->nodes_text) < 0 ||
	    get_string(reader, "required_nodes", &job->required_nodes) < 0 ||
	    get_string(reader, "excluded_nodes", &job->excluded_nodes) < 0 ||
	    get_string(reader, "reservation", &job->reservation) < 0 ||
	    get_string(reader, "features", &job->features) < 0 ||
	    get_string(reader, "extra", &job->extra) < 0 ||
	    get_string(reader, "licenses", &job->licenses) < 0 ||
	    get_string(reader, "dependency", &job->dependency) < 0 ||
	    get_count(reader, "tasks", &job->tasks) < 0 ||
	    get_count(reader, "restarts", &job->restarts) < 0 ||
	    get_number(reader, "submit_s", INT64_MAX, &job->submit_s) < 0 ||
	    get_number(reader, "eligible_s", INT64_MAX, &job->eligible_s) < 0 ||
	    get_number(reader, "evaluated_s", INT64_MAX, &job->evaluated_s) < 0 ||
	    get_number(reader, "start_s", INT64_MAX, &job->start_s) < 0 ||
	    get_number(reader, "end_s", INT64_MAX, &job->end_s) < 0 ||
	    get_number(reader, "limit_s", INT64_MAX, &job->limit_s) < 0 ||
	    get_string(reader, "admin_comment", &job->admin_comment) < 0)
		return -1;
	job->phase = phase;
	job->whole_nodes = json_is_true(json_object_get(reader->entry, "whole_nodes"));
	return 0;
}

static int read_partition(struct reader *reader)
{
	struct osp_state_partition *partition = osp_snapshot_add_partition(reader->snapshot);

	if (!partition)
		return osp_error_set(reader->error, "out of memory");
	if (get_needed_string(reader, "name", &partition->name) < 0 ||
	    get_string(reader, "nodes", &partition->nodes_text) < 0)
		return -1;
	partition->is_default = json_is_true(json_object_get(reader->entry, "default"));
	partition->up = !json_is_false(json_object_get(reader->entry, "up"));
	return 0;
}

static int read_reservation(struct reader *reader)
{
	struct osp_state_reservation *reservation = osp_snapshot_add_reservation(reader->snapshot);

	if (!reservation)
		return osp_error_set(reader->error, "out of memory");
	if (get_needed_string(reader, "name", &reservation->name) < 0 ||
	    get_needed_string(reader, "nodes", &reservation->nodes_text) < 0 ||
	    get_number(reader, "start_s", INT64_MAX, &reservation->start_s) < 0 ||
	    get_number(reader, "end_s", INT64_MAX, &reservation->end_s) < 0)
		return -1;
	reservation->others_too = json_is_true(json_object_get(reader->entry, "others_too"));
	reservation->maint = json_is_true(json_object_get(reader->entry, "maint"));
	reservation->overlap = json_is_true(json_object_get(reader->entry, "overlap"));
	return 0;
}

static int read_list(struct reader *reader, json_t *root, const char *key,
		     int (*read_entry)(struct reader *))
{
	json_t *list = json_object_get(root, key);

	if (!list)
		return 0;
	if (!json_is_array(list))
		return osp_error_at(reader->error, reader->file, 0, 0, "%s: a list expected", key);
	reader->list = key;
	json_array_foreach(list, reader->index, reader->entry)
	{
		if (!json_is_object(reader->entry))
			return osp_error_at(reader->error, reader->file, 0, 0,
					    "%s[%zu]: an object expected", key, reader->index);
		if (read_entry(reader) < 0)
			return -1;
	}
	return 0;
}

static int read_topology(struct reader *reader, json_t *root, struct osp_topology **topology)
{
	json_t *value = json_object_get(root, "topology");
	char *text;

	*topology = NULL;
	if (!value)
		return 0;
	text = json_dumps(value, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	if (!text)
		return osp_error_set(reader->error, "out of memory");
	*topology = osp_read_onespine_topology("topology in the state", text, strlen(text),
					       reader->error);
	free(text);
	return *topology ? 0 : -1;
}

static int read_root(struct reader *reader, json_t *root, struct osp_topology **topology)
{
	json_t *cluster = json_object_get(root, "cluster");
	json_t *version = json_object_get(root, FORMAT_KEY);

	if (!json_is_integer(version))
		return osp_error_at(reader->error, reader->file, 0, 0,
				    "no state of a cluster: it has no " FORMAT_KEY
				    " (onespine map --json writes one)");
	if (json_integer_value(version) != FORMAT_VERSION)
		return osp_error_at(reader->error, reader->file, 0, 0,
				    FORMAT_KEY " is %lld; this version reads %d",
				    (long long)json_integer_value(version), FORMAT_VERSION);
	reader->snapshot->time_s = json_integer_value(json_object_get(root, "time_s"));
	reader->snapshot->cluster =
		osp_snapshot_string(reader->snapshot, json_string_value(cluster));
	reader->snapshot->hides_jobs = json_is_true(json_object_get(root, "hides_jobs"));
	if (read_list(reader, root, "nodes", read_nodes) < 0 ||
	    read_list(reader, root, "jobs", read_job) < 0 ||
	    read_list(reader, root, "partitions", read_partition) < 0 ||
	    read_list(reader, root, "reservations", read_reservation) < 0 ||
	    osp_snapshot_finish(reader->snapshot, reader->error) < 0)
		return -1;
	return read_topology(reader, root, topology);
}

struct osp_snapshot *osp_snapshot_from_json(const char *file, const char *text, size_t text_bytes,
					    struct osp_topology **topology, struct osp_error *error)
{
	struct reader reader = {.file = file, .error = error};
	json_error_t where;
	json_t *root = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES, &where);

	if (!root) {
		osp_error_at(error, file, where.line, where.column, "no JSON: %s", where.text);
		return NULL;
	}
	reader.snapshot = osp_snapshot_new();
	if (!reader.snapshot)
		osp_error_set(error, "out of memory");
	else if (read_root(&reader, root, topology) < 0) {
		osp_snapshot_free(reader.snapshot);
		reader.snapshot = NULL;
	}
	json_decref(root);
	return reader.snapshot;
}
