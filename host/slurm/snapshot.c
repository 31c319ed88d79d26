/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.c - nodes, jobs and partitions as they were at one moment */
#include "onespine_config.h"
#include "host/slurm/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"
#include "lib/base/hostlist.h"

#define FIRST_ROOM 64

struct osp_owned {
	struct osp_owned *next;
	char text[];
};

static const char *const node_state_names[OSP_NODE_STATE_COUNT] = {
	[OSP_NODE_IDLE] = "idle",
	[OSP_NODE_PARTLY] = "partly",
	[OSP_NODE_BUSY] = "busy",
	[OSP_NODE_COMPLETING] = "completing",
	[OSP_NODE_POWERED_DOWN] = "powered-down",
	[OSP_NODE_POWERING_UP] = "powering-up",
	[OSP_NODE_POWERING_DOWN] = "powering-down",
	[OSP_NODE_RESERVED] = "reserved",
	[OSP_NODE_MAINTENANCE] = "maintenance",
	[OSP_NODE_DRAINING] = "draining",
	[OSP_NODE_DRAINED] = "drained",
	[OSP_NODE_DOWN] = "down",
	[OSP_NODE_UNKNOWN] = "unknown",
};

static const char *const job_phase_names[] = {"pending", "running", "suspended", "completing",
					      "ended"};

const char *osp_node_state_name(enum osp_slurm_node_state state)
{
	return node_state_names[state];
}

const char *osp_job_phase_name(enum osp_job_phase phase)
{
	return job_phase_names[phase];
}

/* --- filling ---------------------------------------------------------------------------------- */

struct osp_snapshot *osp_snapshot_new(void)
{
	return calloc(1, sizeof(struct osp_snapshot));
}

void osp_snapshot_free(struct osp_snapshot *snapshot)
{
	uint32_t i;

	if (!snapshot)
		return;
	for (i = 0; i < snapshot->job_count; i++)
		free(snapshot->jobs[i].nodes);
	while (snapshot->strings) {
		struct osp_owned *string = snapshot->strings;

		snapshot->strings = string->next;
		free(string);
	}
	free(snapshot->nodes);
	free(snapshot->jobs);
	free(snapshot->partitions);
	free(snapshot->reservations);
	free(snapshot->by_name);
	free(snapshot);
}

const char *osp_snapshot_string(struct osp_snapshot *snapshot, const char *string)
{
	struct osp_owned *owned;
	size_t bytes;

	if (!string || !*string)
		return NULL;
	bytes = strlen(string) + 1;
	owned = malloc(sizeof(*owned) + bytes);
	if (!owned) {
		snapshot->failed = true;
		return NULL;
	}
	memcpy(owned->text, string, bytes);
	osp_clean(owned->text); /* users name jobs */
	owned->next = snapshot->strings;
	snapshot->strings = owned;
	return owned->text;
}

/* Adds an entry to an array whose room is always a power of two (FIRST_ROOM and up). */
static void *add_entry(struct osp_snapshot *snapshot, void **entries, uint32_t *count,
		       size_t entry_bytes)
{
	bool full = *count == 0 || (*count >= FIRST_ROOM && (*count & (*count - 1)) == 0);
	void *larger = *entries;
	void *entry;

	if (full) {
		larger = reallocarray(*entries, *count ? (size_t)*count * 2 : FIRST_ROOM,
				      entry_bytes);
		if (!larger) {
			snapshot->failed = true;
			return NULL;
		}
		*entries = larger;
	}
	entry = (char *)larger + entry_bytes * (*count)++;
	return memset(entry, 0, entry_bytes);
}

struct osp_state_node *osp_snapshot_add_node(struct osp_snapshot *snapshot)
{
	return add_entry(snapshot, (void **)&snapshot->nodes, &snapshot->node_count,
			 sizeof(*snapshot->nodes));
}

struct osp_state_job *osp_snapshot_add_job(struct osp_snapshot *snapshot)
{
	return add_entry(snapshot, (void **)&snapshot->jobs, &snapshot->job_count,
			 sizeof(*snapshot->jobs));
}

struct osp_state_partition *osp_snapshot_add_partition(struct osp_snapshot *snapshot)
{
	return add_entry(snapshot, (void **)&snapshot->partitions, &snapshot->partition_count,
			 sizeof(*snapshot->partitions));
}

struct osp_state_reservation *osp_snapshot_add_reservation(struct osp_snapshot *snapshot)
{
	return add_entry(snapshot, (void **)&snapshot->reservations, &snapshot->reservation_count,
			 sizeof(*snapshot->reservations));
}

static int compare_node_names(const void *a, const void *b, void *context)
{
	const struct osp_snapshot *snapshot = context;

	return strcmp(snapshot->nodes[*(const uint32_t *)a].name,
		      snapshot->nodes[*(const uint32_t *)b].name);
}

static int index_names(struct osp_snapshot *snapshot, struct osp_error *error)
{
	uint32_t i;

	snapshot->by_name = calloc(snapshot->node_count + 1, sizeof(*snapshot->by_name));
	if (!snapshot->by_name)
		return osp_error_set(error, "out of memory");
	for (i = 0; i < snapshot->node_count; i++)
		snapshot->by_name[i] = i;
	qsort_r(snapshot->by_name, snapshot->node_count, sizeof(*snapshot->by_name),
		compare_node_names, snapshot);
	for (i = 1; i < snapshot->node_count; i++) {
		const char *name = snapshot->nodes[snapshot->by_name[i]].name;

		if (strcmp(name, snapshot->nodes[snapshot->by_name[i - 1]].name) == 0)
			return osp_error_set(error, "node %s is listed twice", name);
	}
	return 0;
}

static int resolve_job(const struct osp_snapshot *snapshot, struct osp_state_job *job,
		       struct osp_nodeset *set, struct osp_error *error)
{
	uint32_t node;

	osp_nodeset_clear(set);
	if (osp_snapshot_add_hostlist(snapshot, job->nodes_text, false, "a job's nodes", set,
				      error) < 0)
		return -1;
	job->nodes = calloc((size_t)osp_nodeset_count(set) + 1, sizeof(*job->nodes));
	if (!job->nodes)
		return osp_error_set(error, "out of memory");
	for (node = osp_nodeset_next(set, 0); node < set->place_count;
	     node = osp_nodeset_next(set, node + 1))
		job->nodes[job->nodes_known++] = node;
	return 0;
}

int osp_snapshot_finish(struct osp_snapshot *snapshot, struct osp_error *error)
{
	struct osp_nodeset *set;
	int result = 0;
	uint32_t i;

	if (snapshot->failed)
		return osp_error_set(error, "out of memory");
	if (index_names(snapshot, error) < 0)
		return -1;
	set = osp_nodeset_new(snapshot->node_count);
	if (!set)
		return osp_error_set(error, "out of memory");
	for (i = 0; i < snapshot->job_count && result == 0; i++)
		if (snapshot->jobs[i].nodes_text)
			result = resolve_job(snapshot, &snapshot->jobs[i], set, error);
	free(set);
	return result;
}

/* --- asking ----------------------------------------------------------------------------------- */

uint32_t osp_snapshot_find_node(const struct osp_snapshot *snapshot, const char *name)
{
	uint32_t low = 0;
	uint32_t high = snapshot->node_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t node = snapshot->by_name[middle];
		int order = strcmp(name, snapshot->nodes[node].name);

		if (order == 0)
			return node;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return OSP_NO_NODE;
}

const struct osp_state_partition *osp_snapshot_find_partition(const struct osp_snapshot *snapshot,
							      const char *name)
{
	uint32_t i;

	for (i = 0; i < snapshot->partition_count; i++)
		if (name ? strcmp(snapshot->partitions[i].name, name) == 0
			 : snapshot->partitions[i].is_default)
			return &snapshot->partitions[i];
	return NULL;
}

const struct osp_state_reservation *
osp_snapshot_find_reservation(const struct osp_snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; name && i < snapshot->reservation_count; i++)
		if (!strcmp(snapshot->reservations[i].name, name))
			return &snapshot->reservations[i];
	return NULL;
}

/* Returns whether a list of numbers, "1-3,5,8-16:2%4", holds `task`; one that Slurm cut short ends
 * in "...". */
static bool task_in(const char *list, unsigned long task)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first, step = 1;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (*end == ':')
			step = strtoul(end + 1, &end, 10);
		if (task >= first && task <= last && (!step || (task - first) % step == 0))
			return true;
		list = end + (*end == ',');
	}
	return false;
}

/* Finds of "32_7" the job "32_[1-9]", whose tasks that wait have no names of their own. */
static struct osp_state_job *find_array_of(const struct osp_snapshot *snapshot, const char *label)
{
	const char *bar = strchr(label, '_');
	char *end;
	unsigned long task;

	if (!bar || bar[1] < '0' || bar[1] > '9')
		return NULL;
	task = strtoul(bar + 1, &end, 10);
	for (uint32_t i = 0; !*end && i < snapshot->job_count; i++) {
		const char *other = snapshot->jobs[i].label;
		size_t length = (size_t)(bar - label) + 1;

		if (strncmp(other, label, length) == 0 && other[length] == '[' &&
		    task_in(other + length + 1, task))
			return &snapshot->jobs[i];
	}
	return NULL;
}

int osp_check_job_word(const char *word, struct osp_error *error)
{
	size_t digits = strspn(word, "0123456789");
	const char *rest = word + digits;

	/* an array's task or tasks (_7, _[1-3]) or a component (+1) */
	if (digits && digits < 11 &&
	    (!*rest || ((*rest == '_' || *rest == '+') && rest[1] &&
			rest[1 + strspn(rest + 1, "0123456789[]-,%")] == '\0')))
		return 0;
	return osp_error_set(error,
			     "'%.40s' is no job: its number is expected, as 1201, 1201_7 of an "
			     "array or 1201+1 of a heterogeneous job",
			     word);
}

struct osp_state_job *osp_snapshot_find_job(const struct osp_snapshot *snapshot, const char *label)
{
	size_t length = strlen(label);
	uint32_t i;

	for (i = 0; i < snapshot->job_count; i++)
		if (strcmp(snapshot->jobs[i].label, label) == 0)
			return &snapshot->jobs[i];
	for (i = 0; i < snapshot->job_count; i++) {
		const char *other = snapshot->jobs[i].label;
		char id[16];

		snprintf(id, sizeof(id), "%u", snapshot->jobs[i].id);
		if (strcmp(id, label) == 0 || (strncmp(other, label, length) == 0 &&
					       (other[length] == '_' || other[length] == '+')))
			return &snapshot->jobs[i];
	}
	return find_array_of(snapshot, label);
}

struct hostlist_use {
	const struct osp_snapshot *snapshot;
	struct osp_nodeset *set;
	const char *what;
	bool strict;
	struct osp_error *error;
};

static int add_name(const char *name, void *context)
{
	struct hostlist_use *use = context;
	uint32_t node = osp_snapshot_find_node(use->snapshot, name);

	if (node != OSP_NO_NODE)
		osp_nodeset_add(use->set, node);
	else if (use->strict)
		return osp_error_set(use->error, "%s: there is no node %s", use->what, name);
	return 0;
}

int osp_snapshot_add_hostlist(const struct osp_snapshot *snapshot, const char *list, bool strict,
			      const char *what, struct osp_nodeset *set, struct osp_error *error)
{
	struct hostlist_use use = {snapshot, set, what, strict, error};
	struct osp_error inner = {.text = ""};

	if (!list || osp_hostlist_expand(list, add_name, &use, &inner) == 0)
		return 0;
	if (*inner.text)
		osp_error_set(error, "%s: %s (at its character %d)", what, inner.text,
			      inner.column);
	return -1;
}

char *osp_snapshot_hostlist(const struct osp_snapshot *snapshot, const struct osp_nodeset *set)
{
	const char **names = calloc((size_t)osp_nodeset_count(set) + 1, sizeof(*names));
	size_t count = 0;
	char *list;
	uint32_t node;

	if (!names)
		return NULL;
	for (node = osp_nodeset_next(set, 0); node < set->place_count;
	     node = osp_nodeset_next(set, node + 1))
		names[count++] = snapshot->nodes[node].name;
	list = osp_hostlist_compact(names, count);
	free(names);
	return list;
}

struct osp_topology *osp_snapshot_rebase(const struct osp_snapshot *snapshot,
					 const struct osp_topology *topology,
					 struct osp_error *error)
{
	const char **names = calloc((size_t)snapshot->node_count + 1, sizeof(*names));
	struct osp_topology *result;
	uint32_t i;

	if (!names) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	for (i = 0; i < snapshot->node_count; i++)
		names[i] = snapshot->nodes[i].name;
	result = osp_topology_rebase(topology, names, snapshot->node_count, error);
	free(names);
	return result;
}

bool osp_node_usable(const struct osp_state_node *node)
{
	return !node->reserved && !node->silent && node->state < OSP_NODE_RESERVED;
}

bool osp_node_free(const struct osp_state_node *node)
{
	return osp_node_usable(node) &&
	       (node->state == OSP_NODE_IDLE || node->state == OSP_NODE_POWERED_DOWN ||
		node->state == OSP_NODE_POWERING_UP);
}

bool osp_node_boots(const struct osp_state_node *node)
{
	return node->state == OSP_NODE_POWERED_DOWN || node->state == OSP_NODE_POWERING_UP;
}

/* Slurm's year (job_end_time_reset() in job_mgr.c), less than its steps in planning by far. */
#define PLANNED_YEAR_S ((int64_t)360 * 24 * 3600)

int64_t osp_plans_tell_until(const struct osp_snapshot *snapshot)
{
	int64_t first_s = snapshot->time_s;

	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];

		if (osp_job_on_nodes(job) && !job->end_s && job->start_s > 0 &&
		    job->start_s < first_s)
			first_s = job->start_s;
	}
	return first_s + PLANNED_YEAR_S;
}

bool osp_job_on_nodes(const struct osp_state_job *job)
{
	return job->phase == OSP_JOB_RUNNING || job->phase == OSP_JOB_SUSPENDED ||
	       job->phase == OSP_JOB_COMPLETING;
}
