/* SPDX-License-Identifier: GPL-2.0-or-later */
/* in_the_way.c - what keeps a domain's nodes from a gang: jobs with their ends, nodes that are
 * out */
#include "host/slurm/in_the_way.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/policy/launch_error.h"
#include "host/output.h"
#include "host/slurm/ask.h"

#define JOBS_SHOWN    10
#define REASONS_SHOWN 10

/* A job with nodes in the domain. */
struct holder {
	const struct osp_state_job *job;
	uint32_t nodes_here; /* on which it holds what the gang lacks */
};

/* The nodes of the domain that are not free for the gang, and what it lacks of each. */
struct way {
	const struct osp_snapshot *snapshot;
	const struct osp_fit_answer *answer;
	struct osp_nodeset *set;
};

/* Compares by nodes, the most first, then by end; those whose end is not known come last. */
static int compare_holders(const void *a, const void *b)
{
	const struct holder *first = a, *second = b;
	const struct osp_state_job *one = first->job, *other = second->job;
	int64_t one_s = one->end_s ? one->end_s : INT64_MAX;
	int64_t other_s = other->end_s ? other->end_s : INT64_MAX;

	if (first->nodes_here != second->nodes_here)
		return first->nodes_here > second->nodes_here ? -1 : 1;
	if (one_s != other_s)
		return one_s < other_s ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

/* Returns whether the job holds something of a node that the gang lacks there. Where nothing seems
 * to be lacking, as far as it is counted here, each job counts. */
static bool is_in_the_way(const struct way *way, const struct osp_state_job *job, uint32_t n)
{
	const struct osp_state_node *node = &way->snapshot->nodes[n];
	const struct osp_amount_asked *takes = &way->answer->takes;
	bool cpus, gpus, memory;

	if (!way->answer->shares || job->whole_nodes || !node->cpus)
		return true;
	cpus = (uint64_t)node->cpus_taken + takes->cpus > node->cpus;
	gpus = (uint64_t)node->gpus_taken + takes->gpus > node->gpus;
	memory = !osp_has_memory(node, takes->memory_mib);
	if (!cpus && !gpus && !memory)
		return true;
	return (cpus && job->cpus) || (gpus && job->gpus) || memory;
}

static uint32_t find_holders(const struct way *way, struct holder *holders)
{
	const struct osp_snapshot *snapshot = way->snapshot;
	uint32_t count = 0;

	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];

		if (!osp_job_on_nodes(job))
			continue;
		holders[count] = (struct holder){job, 0};
		for (uint32_t n = 0; n < job->nodes_known; n++)
			holders[count].nodes_here += osp_nodeset_test(way->set, job->nodes[n]) &&
						     is_in_the_way(way, job, job->nodes[n]);
		if (holders[count].nodes_here)
			count++;
	}
	qsort(holders, count, sizeof(*holders), compare_holders);
	return count;
}

static void report_holder(const struct osp_snapshot *snapshot, const struct holder *holder,
			  struct osp_text *text)
{
	const struct osp_state_job *job = holder->job;
	char when[32];
	char left[32];

	osp_text_printf(text, "  job %s (%s): %u %s", job->label, job->user ? job->user : "?",
			holder->nodes_here, holder->nodes_here == 1 ? "node" : "nodes");
	if (job->phase == OSP_JOB_COMPLETING)
		osp_text_add(text, ", is completing\n");
	else if (!job->end_s)
		osp_text_add(text, ", has no time limit\n");
	else if (job->end_s <= snapshot->time_s)
		osp_text_printf(text, ", was to end by %s\n",
				osp_format_time(job->end_s, when, sizeof(when)));
	else
		osp_text_printf(
			text, ", ends by %s (in %s)\n",
			osp_format_time(job->end_s, when, sizeof(when)),
			osp_format_duration(job->end_s - snapshot->time_s, left, sizeof(left)));
}

static json_t *holder_to_json(const struct holder *holder)
{
	const struct osp_state_job *job = holder->job;
	json_t *object = json_object();

	json_object_set_new(object, "job", osp_json_string(job->label));
	json_object_set_new(object, "user", osp_json_string(job->user));
	json_object_set_new(object, "nodes_here", json_integer(holder->nodes_here));
	json_object_set_new(object, "ends", job->end_s ? osp_json_time(job->end_s) : json_null());
	return object;
}

/* Takes the nodes that are `alike` to `key` out of `set`. Returns their host list, which the caller
 * frees with free(), or NULL if memory ran out. */
static char *take_alike(const struct osp_snapshot *snapshot, struct osp_nodeset *set,
			struct osp_nodeset *some,
			bool (*alike)(const struct osp_state_node *node, const void *key),
			const void *key)
{
	osp_nodeset_clear(some);
	for (uint32_t node = osp_nodeset_next(set, 0); node < set->place_count;
	     node = osp_nodeset_next(set, node + 1))
		if (alike(&snapshot->nodes[node], key))
			osp_nodeset_add(some, node);
	osp_nodeset_and_not(set, some);
	return osp_snapshot_hostlist(snapshot, some);
}

static bool has_same_reason(const struct osp_state_node *node, const void *key)
{
	const struct osp_state_node *as = key;

	if (node->state != as->state)
		return false;
	return node->reason && as->reason ? !strcmp(node->reason, as->reason)
					  : node->reason == as->reason;
}

/* Takes the nodes of this state and reason out of `set`, and reports them. */
static int report_reason(const struct osp_snapshot *snapshot, const struct osp_state_node *as,
			 struct osp_nodeset *set, struct osp_nodeset *some, struct osp_text *text,
			 json_t *out)
{
	char *list = take_alike(snapshot, set, some, has_same_reason, as);
	const char *state = osp_node_state_name(as->state);
	json_t *object;

	if (!list)
		return -1;
	if (json_array_size(out) < REASONS_SHOWN)
		osp_text_printf(text, "  %s: %s%s%s%s\n", state, list, as->reason ? " (" : "",
				as->reason ? as->reason : "", as->reason ? ")" : "");
	object = json_object();
	json_object_set_new(object, "state", json_string(state));
	json_object_set_new(object, "nodes", json_string(list));
	json_object_set_new(object, "reason", osp_json_string(as->reason));
	json_array_append_new(out, object);
	free(list);
	return 0;
}

/* Reports nodes of `set` that no end of a job brings back, a line for each state and reason. Takes
 * them out of `set`. */
static int report_out(const struct osp_snapshot *snapshot, struct osp_nodeset *set,
		      struct osp_nodeset *some, struct osp_text *text, json_t *out)
{
	enum osp_slurm_node_state state;
	uint32_t node;

	for (state = OSP_NODE_POWERING_DOWN; state < OSP_NODE_STATE_COUNT; state++) {
		for (node = osp_nodeset_next(set, 0); node < set->place_count;
		     node = osp_nodeset_next(set, node + 1)) {
			if (snapshot->nodes[node].state == state &&
			    report_reason(snapshot, &snapshot->nodes[node], set, some, text, out))
				return -1;
		}
	}
	if (json_array_size(out) > REASONS_SHOWN)
		osp_text_printf(text, "  and nodes that are out for %zu more reasons\n",
				json_array_size(out) - REASONS_SHOWN);
	return 0;
}

static json_t *reservation_to_json(const struct osp_state_reservation *reservation,
				   const char *list)
{
	json_t *object = json_object();

	json_object_set_new(object, "reservation", osp_json_string(reservation->name));
	json_object_set_new(object, "starts", osp_json_time(reservation->start_s));
	json_object_set_new(object, "nodes", json_string(list));
	return object;
}

/* Tells about one reservation that begins later: its nodes in `set` that nothing else keeps. */
static int report_reservation(const struct osp_snapshot *snapshot,
			      const struct osp_state_reservation *reservation,
			      const struct osp_nodeset *set, struct osp_nodeset *some,
			      struct osp_text *text, json_t *later)
{
	char when[32];
	char *list;

	osp_nodeset_clear(some);
	if (osp_snapshot_add_hostlist(snapshot, reservation->nodes_text, true, "reservation", some,
				      NULL) < 0)
		return 0;
	for (uint32_t node = osp_nodeset_next(some, 0); node < some->place_count;
	     node = osp_nodeset_next(some, node + 1))
		if (!osp_nodeset_test(set, node) || !osp_node_free(&snapshot->nodes[node]))
			osp_nodeset_remove(some, node);
	if (osp_nodeset_empty(some))
		return 0;
	list = osp_snapshot_hostlist(snapshot, some);
	if (!list)
		return -1;
	osp_text_printf(text, "  %s: free until reservation %s begins at %s\n", list,
			reservation->name,
			osp_format_time(reservation->start_s, when, sizeof(when)));
	json_array_append_new(later, reservation_to_json(reservation, list));
	free(list);
	return 0;
}

static int report_reservations(const struct osp_snapshot *snapshot, const struct osp_nodeset *set,
			       struct osp_nodeset *some, struct osp_text *text, json_t *root)
{
	json_t *later = json_array();

	json_object_set_new(root, "reserved_later", later);
	for (uint32_t i = 0; i < snapshot->reservation_count; i++)
		if (snapshot->reservations[i].start_s > snapshot->time_s &&
		    report_reservation(snapshot, &snapshot->reservations[i], set, some, text,
				       later))
			return -1;
	return 0;
}

/* Nodes of `set` in use by none of the jobs known: with PrivateData=jobs Slurm reports a user of no
 * others than his own. */
static uint32_t count_hidden(const struct osp_snapshot *snapshot, const struct osp_nodeset *set,
			     struct osp_nodeset *some)
{
	uint32_t count = 0;
	uint32_t i;
	uint32_t n;

	osp_nodeset_clear(some);
	for (i = 0; i < snapshot->job_count; i++)
		for (n = 0;
		     osp_job_on_nodes(&snapshot->jobs[i]) && n < snapshot->jobs[i].nodes_known; n++)
			osp_nodeset_add(some, snapshot->jobs[i].nodes[n]);
	for (n = osp_nodeset_next(set, 0); n < set->place_count; n = osp_nodeset_next(set, n + 1)) {
		enum osp_slurm_node_state state = snapshot->nodes[n].state;

		count += !osp_nodeset_test(some, n) &&
			 (state == OSP_NODE_PARTLY || state == OSP_NODE_BUSY ||
			  state == OSP_NODE_COMPLETING || state == OSP_NODE_DRAINING);
	}
	return count;
}

/* Reports the jobs, and how many nodes others hold that are not to be seen. */
static void report_jobs(const struct way *way, struct holder *holders, struct osp_nodeset *some,
			struct osp_text *lines, json_t *list, json_t *root)
{
	uint32_t count = find_holders(way, holders);
	uint32_t hidden = count_hidden(way->snapshot, way->set, some);

	for (uint32_t i = 0; i < count; i++) {
		if (i < JOBS_SHOWN)
			report_holder(way->snapshot, &holders[i], lines);
		json_array_append_new(list, holder_to_json(&holders[i]));
	}
	if (count > JOBS_SHOWN)
		osp_text_printf(lines, "  and %u more job%s\n", count - JOBS_SHOWN,
				osp_plural_s(count - JOBS_SHOWN));
	if (hidden)
		osp_text_printf(lines, "  %u %s in use by jobs that are not yours to see\n", hidden,
				hidden == 1 ? "node" : "nodes");
	json_object_set_new(root, "nodes_of_hidden_jobs", json_integer(hidden));
}

int osp_in_the_way(const struct osp_world *world, const struct osp_fit_answer *answer,
		   const struct osp_place_domain *domain, struct osp_text *text, json_t *root)
{
	const struct osp_snapshot *snapshot = world->snapshot;
	const struct osp_domain *found = osp_topology_domain(world->topology, domain->domain);
	struct holder *holders = calloc((size_t)snapshot->job_count + 1, sizeof(*holders));
	struct osp_nodeset *set = osp_nodeset_new(snapshot->node_count);
	struct osp_nodeset *some = osp_nodeset_new(snapshot->node_count);
	const struct way way = {snapshot, answer, set};
	json_t *list = json_array();
	json_t *out = json_array();
	struct osp_text lines = OSP_TEXT_INIT;

	json_object_set_new(root, "in_the_way", list);
	json_object_set_new(root, "out", out);
	json_object_set_new(root, "nodes_of_hidden_jobs", json_integer(0));
	if (!holders || !set || !some) {
		text->failed = true;
	} else {
		osp_topology_add_domain_nodes(world->topology, domain->domain, set);
		osp_nodeset_and(set, answer->within);
		osp_nodeset_and_not(set, answer->free);
		if (domain->reason == OSP_PLACE_NOT_FREE)
			report_jobs(&way, holders, some, &lines, list, root);
		if (report_out(snapshot, set, some, &lines, out) < 0 ||
		    report_reservations(snapshot, set, some, &lines, root) < 0)
			text->failed = true;
	}
	text->failed |= lines.failed;
	if (lines.length_bytes)
		osp_text_printf(text, "\nIn the way on %s %s:\n%s",
				osp_topology_level_name(world->topology, found->level), found->name,
				lines.data);
	osp_text_free(&lines);
	free(some);
	free(set);
	free(holders);
	return text->failed ? -1 : 0;
}

/* --- nodes that cannot be launched ------------------------------------------------------------ */

static bool has_code(const struct osp_state_node *node, const void *key)
{
	char code[OSP_LAUNCH_CODE_BYTES];

	osp_launch_error_code(node->reason, code, sizeof(code));
	return !strcmp(code, key);
}

/* Takes the nodes with this code out of `set`, and reports them. */
static int report_code(const struct osp_snapshot *snapshot, const char *code,
		       struct osp_nodeset *set, struct osp_nodeset *some, struct osp_text *text,
		       json_t *reasons)
{
	char *list = take_alike(snapshot, set, some, has_code, code);
	json_t *object;

	if (!list)
		return -1;
	osp_text_add(text, "  ");
	osp_launch_error_text(code, list, text);
	osp_text_add(text, "\n");
	object = json_object();
	json_object_set_new(object, "nodes", json_string(list));
	json_object_set_new(object, "code", json_string(code));
	json_object_set_new(object, "kind", json_string(osp_launch_error_kind(code)));
	json_array_append_new(reasons, object);
	free(list);
	return 0;
}

/* Leaves in `set` the nodes that are out with a code of the cloud's. */
static void keep_not_launched(const struct osp_snapshot *snapshot, struct osp_nodeset *set)
{
	char code[OSP_LAUNCH_CODE_BYTES];

	for (uint32_t node = osp_nodeset_next(set, 0); node < set->place_count;
	     node = osp_nodeset_next(set, node + 1)) {
		const struct osp_state_node *one = &snapshot->nodes[node];

		if (osp_node_usable(one) || !osp_launch_error_code(one->reason, code, sizeof(code)))
			osp_nodeset_remove(set, node);
	}
}

int osp_not_launched(const struct osp_world *world, const char *partitions, struct osp_text *text,
		     json_t *root)
{
	const struct osp_snapshot *snapshot = world->snapshot;
	struct osp_error ignored = {.text = ""}; /* a partition that is gone has no nodes */
	struct osp_nodeset *set = osp_nodeset_new(snapshot->node_count);
	struct osp_nodeset *some = osp_nodeset_new(snapshot->node_count);
	char code[OSP_LAUNCH_CODE_BYTES];
	json_t *reasons = json_array();
	int rc = set && some ? 0 : -1;

	if (!rc) {
		if (partitions)
			osp_ask_add_partitions(world, partitions, set, &ignored);
		keep_not_launched(snapshot, set);
	}
	while (!rc && !osp_nodeset_empty(set)) {
		osp_launch_error_code(snapshot->nodes[osp_nodeset_next(set, 0)].reason, code,
				      sizeof(code));
		rc = report_code(snapshot, code, set, some, text, reasons);
	}
	if (!rc && json_array_size(reasons))
		json_object_set(root, "not_launched", reasons);
	json_decref(reasons);
	free(some);
	free(set);
	return rc;
}
