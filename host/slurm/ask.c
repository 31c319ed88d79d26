/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask.c - the placement question that `fit` and `why` put to lib/place/place.h */
#include "host/slurm/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/conf/slurm_conf.h"
#include "lib/policy/features.h"
#include "lib/policy/sentences.h"
#include "host/output.h"
#include "host/slurm/gang.h"

#define KINDS_MAX 4096

/* --- names ------------------------------------------------------------------------------------ */

int osp_ask_level(const struct osp_world *world, const char *name, struct osp_error *error)
{
	char words[OSP_SENTENCE_BYTES];
	int level = osp_sentence_find_level(world->topology, name, words, sizeof(words));

	return level > 0 ? level : osp_error_set(error, "%s", words);
}

int osp_ask_partition(const struct osp_world *world, const char *name, struct osp_error *error)
{
	const struct osp_snapshot *snapshot = world->snapshot;
	const char *nearest = NULL;
	const char **names;
	uint32_t i;

	if (!name || osp_snapshot_find_partition(snapshot, name))
		return 0;
	names = calloc((size_t)snapshot->partition_count + 1, sizeof(*names));
	for (i = 0; names && i < snapshot->partition_count; i++)
		names[i] = snapshot->partitions[i].name;
	if (names)
		nearest = osp_nearest_word(name, names, snapshot->partition_count);
	osp_error_set(error, "there is no partition '%.60s'%s%s%s", name,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	free(names);
	return -1;
}

int osp_ask_partitions(const struct osp_world *world, const char *names, struct osp_error *error)
{
	char *copy = names ? strdup(names) : NULL;
	char *rest = copy;
	int result = names && !copy ? osp_error_set(error, "out of memory") : 0;

	while (rest && result == 0)
		result = osp_ask_partition(world, strsep(&rest, ","), error);
	free(copy);
	return result;
}

/* --- sets ------------------------------------------------------------------------------------- */

int osp_ask_add_partitions(const struct osp_world *world, const char *names,
			   struct osp_nodeset *set, struct osp_error *error)
{
	const struct osp_snapshot *snapshot = world->snapshot;
	char *copy = strdup(names);
	char *rest = copy;
	int result = copy ? 0 : osp_error_set(error, "out of memory");

	while (rest && result == 0) {
		const char *name = strsep(&rest, ",");
		const struct osp_state_partition *partition =
			osp_snapshot_find_partition(snapshot, name);

		if (!partition)
			result = osp_ask_partition(world, name, error);
		else
			result = osp_snapshot_add_hostlist(snapshot, partition->nodes_text, false,
							   name, set, error);
	}
	free(copy);
	return result;
}

static bool on_its_way(const struct osp_state_node *node)
{
	return node->asleep && node->state != OSP_NODE_POWERED_DOWN;
}

/* Returns whether the node, were it empty, would be large enough. A file says no sizes. */
static bool can_hold(const struct osp_state_node *node, const struct osp_fit_question *question)
{
	return !node->cpus || (question->cpus <= node->cpus && question->gpus <= node->gpus &&
			       (question->memory_mib >= OSP_MEMORY_UNKNOWN ||
				question->memory_mib <= node->memory_mib));
}

/* Returns whether the gang could have the node in some state. */
static bool is_within(const struct osp_state_node *node, const struct osp_fit_question *question)
{
	return osp_features_match(question->features, node->features) &&
	       (question->any_size || can_hold(node, question));
}

static bool usable(const struct osp_state_node *node, const struct osp_fit_question *question)
{
	if (question->on_its_way_is_out && on_its_way(node))
		return false;
	if (osp_node_usable(node) || question->every_node)
		return true;
	return question->reservation && node->reserved && !node->silent &&
	       node->state <= OSP_NODE_MAINTENANCE;
}

static bool is_free(const struct osp_state_node *node, const struct osp_fit_question *question)
{
	return osp_node_free(node) || question->every_node ||
	       (question->reservation && !node->silent &&
		(node->state == OSP_NODE_RESERVED || node->state == OSP_NODE_MAINTENANCE));
}

/* Keeps in answer->usable what a gang may have, and finds what of it is free or must boot. */
static void sort_nodes(const struct osp_snapshot *snapshot, const struct osp_fit_question *question,
		       struct osp_fit_answer *answer)
{
	uint32_t node;

	for (node = 0; node < snapshot->node_count; node++) {
		const struct osp_state_node *state = &snapshot->nodes[node];

		if (!osp_nodeset_test(answer->usable, node))
			continue;
		if (!is_within(state, question)) {
			osp_nodeset_remove(answer->usable, node);
			continue;
		}
		osp_nodeset_add(answer->within, node);
		if (!usable(state, question))
			osp_nodeset_remove(answer->usable, node);
		else if (is_free(state, question))
			osp_nodeset_add(answer->free, node);
		if (osp_node_boots(state))
			osp_nodeset_add(answer->boot, node);
		answer->weight[node] = state->weight;
	}
}

/* Returns whether enough memory is left, as far as it is known how much is asked for. */
bool osp_has_memory(const struct osp_state_node *node, uint64_t asked_mib)
{
	if (asked_mib == 0 || asked_mib == OSP_MEMORY_UNKNOWN)
		return true;
	if (asked_mib == OSP_MEMORY_ALL)
		return node->memory_taken_mib == 0;
	return node->memory_taken_mib <= node->memory_mib &&
	       asked_mib <= node->memory_mib - node->memory_taken_mib;
}

static bool has_left(const struct osp_state_node *node, const struct osp_fit_question *question)
{
	if (!node->cpus_taken || node->state != OSP_NODE_PARTLY)
		return false;
	return (uint64_t)node->cpus_taken + question->cpus <= node->cpus &&
	       (uint64_t)node->gpus_taken + question->gpus <= node->gpus &&
	       osp_has_memory(node, question->memory_mib);
}

/* Adds to the free nodes those that other jobs leave enough of, as slurmctld counts them for a gang
 * that shares nodes. */
static void add_shared(const struct osp_snapshot *snapshot, const struct osp_fit_question *question,
		       struct osp_fit_answer *answer)
{
	for (uint32_t n = 0; n < snapshot->node_count; n++) {
		if (!osp_nodeset_test(answer->usable, n) ||
		    !has_left(&snapshot->nodes[n], question))
			continue;
		osp_nodeset_add(answer->free, n);
		answer->partly = true;
	}
}

/* Applies one reservation, whose nodes are `reserved`: its own job has no others, and another job
 * none of them if it could still run when the reservation begins. */
static void apply_reservation(const struct osp_snapshot *snapshot,
			      const struct osp_fit_question *question,
			      const struct osp_state_reservation *reservation,
			      const struct osp_nodeset *reserved, struct osp_fit_answer *answer)
{
	bool own = osp_slurm_list_has(question->reservation, reservation->name, NULL, 0);
	bool begun = reservation->start_s <= snapshot->time_s;
	bool runs_into = reservation->start_s < snapshot->time_s + question->limit_s;

	/* Of several reservations Slurm takes the first that can start it: nodes of each count. */
	if (own && strchr(question->reservation, ','))
		return;
	for (uint32_t node = 0; node < snapshot->node_count; node++) {
		bool inside = osp_nodeset_test(reserved, node);
		bool out = own ? !inside && !reservation->others_too
			       : inside && (begun || (runs_into && question->reserved_is_out));

		if (out)
			osp_nodeset_remove(answer->usable, node);
		if (out || (inside && (own ? !begun : runs_into)))
			osp_nodeset_remove(answer->free, node);
	}
}

/* Returns whether a job in the reservation `own` may have nodes of `other`. */
static bool may_overlap(const struct osp_state_reservation *own,
			const struct osp_state_reservation *other)
{
	return own && own != other && (own->maint || (own->overlap && !other->maint));
}

/* Applies what is reserved now and what will be before the job could end. `scratch` is empty, and
 * is so again afterwards. */
static int apply_reservations(const struct osp_snapshot *snapshot,
			      const struct osp_fit_question *question, struct osp_nodeset *scratch,
			      struct osp_fit_answer *answer, struct osp_error *error)
{
	const struct osp_state_reservation *own =
		osp_snapshot_find_reservation(snapshot, question->reservation);
	int result = 0;

	for (uint32_t i = 0; !question->every_node && i < snapshot->reservation_count; i++) {
		const struct osp_state_reservation *reservation = &snapshot->reservations[i];

		if (reservation->end_s <= snapshot->time_s || may_overlap(own, reservation))
			continue;
		result = osp_snapshot_add_hostlist(snapshot, reservation->nodes_text, false,
						   reservation->name, scratch, error);
		if (result < 0)
			break;
		apply_reservation(snapshot, question, reservation, scratch, answer);
		osp_nodeset_clear(scratch);
	}
	return result < 0 ? -1 : 0;
}

static int fill_sets(const struct osp_world *world, const struct osp_fit_question *question,
		     struct osp_fit_answer *answer, struct osp_error *error)
{
	const struct osp_snapshot *snapshot = world->snapshot;
	struct osp_nodeset *excluded = answer->chosen; /* not yet in use */

	if (question->partitions) {
		if (osp_ask_add_partitions(world, question->partitions, answer->usable, error) < 0)
			return -1;
	} else {
		osp_nodeset_fill(answer->usable);
	}
	if (osp_snapshot_add_hostlist(snapshot, question->excluded_nodes, true, "excluded nodes",
				      excluded, error) < 0 ||
	    osp_snapshot_add_hostlist(snapshot, question->required_nodes, true, "required nodes",
				      answer->required, error) < 0)
		return -1;
	osp_nodeset_and_not(answer->usable, excluded);
	osp_nodeset_clear(excluded);
	sort_nodes(snapshot, question, answer);
	if (question->shares)
		add_shared(snapshot, question, answer);
	return apply_reservations(snapshot, question, excluded, answer, error);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Numbers the nodes' kinds. A cluster of one kind needs no numbers. 0, or -1. */
static int number_kinds(const struct osp_snapshot *snapshot, struct osp_fit_answer *answer)
{
	const char **kinds = calloc((size_t)snapshot->node_count + 1, sizeof(*kinds));
	size_t count = 0;
	uint32_t i;

	if (!kinds)
		return -1;
	for (i = 0; i < snapshot->node_count; i++)
		kinds[i] = snapshot->nodes[i].kind;
	qsort(kinds, snapshot->node_count, sizeof(*kinds), compare_strings);
	for (i = 0; i < snapshot->node_count; i++)
		if (i == 0 || strcmp(kinds[i], kinds[count - 1]) != 0)
			kinds[count++] = kinds[i];
	if (count > 1 && count <= KINDS_MAX) {
		for (i = 0; i < snapshot->node_count; i++) {
			const char **found = bsearch(&snapshot->nodes[i].kind, kinds, count,
						     sizeof(*kinds), compare_strings);

			answer->kind[i] = (uint16_t)(found - kinds);
		}
		answer->input.kind = answer->kind;
		answer->input.kind_count = (uint16_t)count;
	}
	answer->kind_names = kinds;
	return 0;
}

/* --- the question ----------------------------------------------------------------------------- */

static int take_memory(const struct osp_snapshot *snapshot, struct osp_fit_answer *answer)
{
	uint32_t places = snapshot->node_count;

	answer->usable = osp_nodeset_new(places);
	answer->free = osp_nodeset_new(places);
	answer->boot = osp_nodeset_new(places);
	answer->within = osp_nodeset_new(places);
	answer->required = osp_nodeset_new(places);
	answer->chosen = osp_nodeset_new(places);
	answer->weight = calloc((size_t)places + 1, sizeof(*answer->weight));
	answer->kind = calloc((size_t)places + 1, sizeof(*answer->kind));
	return answer->usable && answer->free && answer->boot && answer->within &&
			       answer->required && answer->chosen && answer->weight && answer->kind
		       ? 0
		       : -1;
}

/* Computes when each usable node is free by the ends of jobs. */
static void find_ends(const struct osp_snapshot *snapshot, const struct osp_fit_answer *answer,
		      int64_t *free_at_s)
{
	uint32_t i;
	uint32_t n;

	for (n = 0; n < snapshot->node_count; n++)
		free_at_s[n] = osp_nodeset_test(answer->free, n) ? 0 : -1;
	for (i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];
		int64_t end_s = job->end_s ? job->end_s : OSP_PLACE_NEVER_S;

		if (!osp_job_on_nodes(job))
			continue;
		for (n = 0; n < job->nodes_known; n++)
			if (free_at_s[job->nodes[n]] && free_at_s[job->nodes[n]] < end_s)
				free_at_s[job->nodes[n]] = end_s;
	}
	/* Busy with nothing that is known to end. */
	for (n = 0; n < snapshot->node_count; n++)
		if (free_at_s[n] < 0)
			free_at_s[n] = OSP_PLACE_NEVER_S;
}

static int compare_enough(const void *a, const void *b)
{
	const struct osp_enough *one = a;
	const struct osp_enough *other = b;

	if (one->domain != other->domain)
		return one->domain < other->domain ? -1 : 1;
	return (one->kind > other->kind) - (one->kind < other->kind);
}

static int find_enough(const struct osp_world *world, struct osp_fit_answer *answer)
{
	int64_t *free_at_s = calloc((size_t)world->snapshot->node_count + 1, sizeof(*free_at_s));
	const struct osp_place_domain *domains;
	uint32_t count;
	uint32_t i;

	if (!free_at_s)
		return -1;
	find_ends(world->snapshot, answer, free_at_s);
	domains = osp_place_by_time(answer->place, &answer->input, free_at_s,
				    world->snapshot->time_s, &answer->enough_count, &count);
	free(free_at_s);
	answer->enough = calloc((size_t)answer->enough_count + 1, sizeof(*answer->enough));
	if (!answer->enough)
		return -1;
	for (i = 0; i < answer->enough_count; i++) {
		answer->enough[i].domain = domains[i].domain;
		answer->enough[i].kind = domains[i].kind;
		answer->enough[i].from_s = domains[i].bound_s;
	}
	qsort(answer->enough, answer->enough_count, sizeof(*answer->enough), compare_enough);
	return 0;
}

/* Returns the time from which the domain has nodes enough; OSP_PLACE_NEVER_S if no end that is
 * known helps. */
static int64_t enough_from(const struct osp_fit_answer *answer,
			   const struct osp_place_domain *domain)
{
	const struct osp_enough key = {domain->domain, domain->kind, 0};
	const struct osp_enough *found =
		bsearch(&key, answer->enough, answer->enough_count, sizeof(key), compare_enough);

	return found ? found->from_s : OSP_PLACE_NEVER_S;
}

static int place(const struct osp_world *world, struct osp_fit_answer *answer,
		 struct osp_error *error)
{
	answer->place = osp_place_new(world->topology, answer->input.kind_count);
	if (!answer->place || find_enough(world, answer) < 0)
		return osp_error_set(error, "out of memory");
	answer->domains = osp_place_order(answer->place, &answer->input, &answer->candidate_count,
					  &answer->domain_count);
	if (answer->candidate_count)
		osp_place_pick(answer->place, &answer->input, answer->domains[0].domain,
			       answer->domains[0].kind, answer->chosen);
	return 0;
}

/* Counts the gangs that wait or run, and this one: the remainder of a domain is left large enough
 * for it, as slurmctld does. */
static uint32_t find_largest(const struct osp_snapshot *snapshot,
			     const struct osp_fit_question *question)
{
	uint32_t largest = question->need_nodes;

	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		const struct osp_state_job *job = &snapshot->jobs[i];
		struct osp_gang gang;

		if (job->phase == OSP_JOB_ENDED || job->node_count <= largest ||
		    !osp_gang_of(job, &gang))
			continue;
		largest = job->node_count;
		osp_gang_clear(&gang);
	}
	return largest;
}

int osp_ask(const struct osp_world *world, const struct osp_fit_question *question,
	    struct osp_fit_answer *answer, struct osp_error *error)
{
	memset(answer, 0, sizeof(*answer));
	if (take_memory(world->snapshot, answer) < 0)
		return osp_error_set(error, "out of memory");
	if (fill_sets(world, question, answer, error) < 0)
		return -1;
	answer->features = question->features;
	answer->shares = question->shares;
	answer->takes =
		(struct osp_amount_asked){question->cpus, question->gpus, question->memory_mib};
	answer->input = (struct osp_place_input){
		.largest_gang = find_largest(world->snapshot, question),
		.level = question->level,
		.need_nodes = question->need_nodes,
		.want_nodes = question->want_nodes,
		.free_only = true,
		.usable = answer->usable,
		.free = answer->free,
		.boot = answer->boot,
		.required = osp_nodeset_empty(answer->required) ? NULL : answer->required,
		.weight = answer->weight,
		.zoned = world->topology,
	};
	if (!question->mix_kinds && number_kinds(world->snapshot, answer) < 0)
		return osp_error_set(error, "out of memory");
	return place(world, answer, error);
}

void osp_answer_clear(struct osp_fit_answer *answer)
{
	osp_place_free(answer->place);
	free(answer->enough);
	free(answer->usable);
	free(answer->free);
	free(answer->boot);
	free(answer->within);
	free(answer->required);
	free(answer->chosen);
	free(answer->weight);
	free(answer->kind);
	free(answer->kind_names);
	memset(answer, 0, sizeof(*answer));
}

/* --- report ----------------------------------------------------------------------------------- */

static const char *reason_words(enum osp_place_reason reason)
{
	static const char *const words[] = {
		[OSP_PLACE_CANDIDATE] = "would do now",
		[OSP_PLACE_TOO_SMALL] = "too few usable nodes",
		[OSP_PLACE_NOT_FREE] = "too few free nodes",
		[OSP_PLACE_REQUIRED] = "lacks required nodes",
	};

	return words[reason];
}

/* Returns "now", a time, or the reason why no end of a job will help. */
static const char *enough_words(const struct osp_world *world, const struct osp_fit_answer *answer,
				const struct osp_place_domain *domain, char *buffer,
				size_t buffer_bytes)
{
	int64_t enough_s = enough_from(answer, domain);

	if (domain->reason == OSP_PLACE_CANDIDATE)
		return "now";
	if (domain->reason != OSP_PLACE_NOT_FREE)
		return reason_words(domain->reason);
	if (enough_s == OSP_PLACE_NEVER_S)
		return "no end known";
	if (enough_s <= world->snapshot->time_s)
		return "any moment";
	return osp_format_time(enough_s, buffer, buffer_bytes);
}

/* Names the kind of the nodes that this line counts; NULL if all are alike. */
static const char *kind_of_line(const struct osp_fit_answer *answer,
				const struct osp_place_domain *domain)
{
	const char *kind;

	if (answer->input.kind_count < 2)
		return NULL;
	kind = answer->kind_names[domain->kind];
	return *kind ? kind : "of no known kind";
}

void osp_answer_table(const struct osp_world *world, const struct osp_fit_answer *answer,
		      uint32_t most, struct osp_text *text)
{
	const char *level = osp_topology_level_name(world->topology, answer->input.level);
	int width = (int)strlen(level);
	uint32_t shown = answer->domain_count < most ? answer->domain_count : most;
	char words[32];
	uint32_t i;

	for (i = 0; i < shown; i++) {
		const char *name =
			osp_topology_domain(world->topology, answer->domains[i].domain)->name;

		if ((int)strlen(name) > width)
			width = (int)strlen(name);
	}
	osp_text_printf(text, "  %-*s  usable  free  short by  enough from\n", width, level);
	for (i = 0; i < shown; i++) {
		const struct osp_place_domain *domain = &answer->domains[i];

		const char *kind = kind_of_line(answer, domain);

		osp_text_printf(text, "  %-*s  %6u  %4u  %8u  %s%s%s\n", width,
				osp_topology_domain(world->topology, domain->domain)->name,
				domain->usable_nodes, domain->free_nodes, domain->short_nodes,
				enough_words(world, answer, domain, words, sizeof(words)),
				kind ? "  " : "", kind ? kind : "");
	}
	if (answer->domain_count > shown)
		osp_text_printf(text, "  and %u more\n", answer->domain_count - shown);
	if (answer->partly)
		osp_text_add(text, "  nodes that jobs leave enough of count as free\n");
}

json_t *osp_answer_to_json(const struct osp_world *world, const struct osp_fit_answer *answer,
			   uint32_t most)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < answer->domain_count && i < most; i++) {
		const struct osp_place_domain *domain = &answer->domains[i];
		const char *name = osp_topology_domain(world->topology, domain->domain)->name;
		json_t *object = json_object();

		json_object_set_new(object, "domain", osp_json_string(name));
		json_object_set_new(object, "usable", json_integer(domain->usable_nodes));
		json_object_set_new(object, "free", json_integer(domain->free_nodes));
		json_object_set_new(object, "short_by", json_integer(domain->short_nodes));
		json_object_set_new(object, "why", json_string(reason_words(domain->reason)));
		if (kind_of_line(answer, domain))
			json_object_set_new(object, "kind",
					    osp_json_string(kind_of_line(answer, domain)));
		if (enough_from(answer, domain) != OSP_PLACE_NEVER_S)
			json_object_set_new(object, "enough_s",
					    json_integer(enough_from(answer, domain)));
		json_array_append_new(list, object);
	}
	return list;
}

/* Calls `each` for every leaf that has nodes of `set`, in fabric order; nodes without one last
 * (leaf NULL). False when memory ran out. */
static bool for_each_leaf(const struct osp_world *world, const struct osp_nodeset *set,
			  void (*each)(const char *leaf, const char *list, uint32_t count,
				       void *context),
			  void *context)
{
	const struct osp_topology *topology = world->topology;
	const char **names = calloc((size_t)set->place_count + 1, sizeof(*names));
	uint32_t leaf = OSP_NO_DOMAIN;
	size_t held = 0;
	uint32_t rank;
	bool good = names;

	for (rank = 0; good && rank <= set->place_count; rank++) {
		bool end = rank == set->place_count;
		uint32_t node = end ? OSP_NO_NODE : osp_topology_node_at_rank(topology, rank);
		uint32_t of;

		if (!end && !osp_nodeset_test(set, node))
			continue;
		of = end ? OSP_NO_DOMAIN : osp_topology_domain_of(topology, node, 1);
		if (held && (end || of != leaf)) {
			char *list = osp_hostlist_compact(names, held);

			good = list;
			if (good)
				each(leaf == OSP_NO_DOMAIN
					     ? NULL
					     : osp_topology_domain(topology, leaf)->name,
				     list, (uint32_t)held, context);
			free(list);
			held = 0;
		}
		leaf = of;
		if (!end)
			names[held++] = world->snapshot->nodes[node].name;
	}
	free(names);
	return good;
}

struct leaf_text {
	const struct osp_world *world;
	struct osp_text *text;
};

static void leaf_to_text(const char *leaf, const char *list, uint32_t count, void *context)
{
	struct leaf_text *to = context;
	const char *level = osp_topology_level_name(to->world->topology, 1);

	if (leaf)
		osp_text_printf(to->text, "  %s %s: ", level, leaf);
	else
		osp_text_printf(to->text, "  in no known %s: ", level);
	osp_text_printf(to->text, "%u %s  %s\n", count, count == 1 ? "node" : "nodes", list);
}

bool osp_leaves_text(const struct osp_world *world, const struct osp_nodeset *set,
		     struct osp_text *text)
{
	struct leaf_text to = {world, text};

	return for_each_leaf(world, set, leaf_to_text, &to);
}

static void leaf_to_json(const char *leaf, const char *list, uint32_t count, void *context)
{
	json_t *object = json_object();

	json_object_set_new(object, "leaf", osp_json_string(leaf));
	json_object_set_new(object, "count", json_integer(count));
	json_object_set_new(object, "nodes", osp_json_string(list));
	json_array_append_new(context, object);
}

json_t *osp_leaves_to_json(const struct osp_world *world, const struct osp_nodeset *set)
{
	json_t *list = json_array();

	if (!for_each_leaf(world, set, leaf_to_json, list)) {
		json_decref(list);
		return NULL;
	}
	return list;
}
