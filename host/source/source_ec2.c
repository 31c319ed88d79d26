/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ec2.c - asks EC2 where the cluster's nodes are
 *
 * A node's instance is Slurm's InstanceId if it has one (ParallelCluster sets it from 3.13.0 on),
 * else the running instance with the node's address. Of two nodes that claim one instance neither
 * is believed: one of them still names what it was before. Of two instances at one address the one
 * launched last is meant. A node that does not run has the place of the capacity reservation into
 * which it will be launched, as far down as EC2 reports it; of a reservation that is smaller than
 * its launch group, the first of them have. If no node runs and none is placed so, the answer has
 * levels alone: with these, gangs may have the first nodes launched.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/cloud/ec2.h"
#include "host/source/source.h"
#include "lib/base/clean.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/topology/launch_groups.h"
#include "lib/topology/place_age.h"

#define WHERE "EC2's answer"

enum { TAG_ADDRESS, TAG_INSTANCE };

/* A capacity reservation of launch_groups. */
struct reservation {
	bool asked;	  /* some of its nodes do not run */
	bool answered;	  /* EC2 said where it is, or that it is nowhere yet */
	bool missed;	  /* its call failed */
	uint32_t room;	  /* so many more nodes can be launched into it */
	uint32_t between; /* of these, nodes on their way up or down, which others leave room for */
	bool shared;	  /* instances that are not of this cluster leave less room */
	uint32_t beyond;  /* nodes for which it has no room */
};

struct asking {
	const struct osp_source_question *question;
	struct osp_source_answer *answer;
	struct osp_error *error;
	struct osp_arena arena;
	struct osp_name_table table; /* addresses and instance ids, to a node */
	const char **ids;	     /* by node; NULL: not known */
	const char **launched;	     /* by node: of the instance at its address */
	bool *answered;		     /* by node */
	struct osp_import *import;
	struct osp_ec2 *ec2;
	struct osp_ec2_gaps gaps;
	struct osp_launch_groups groups;
	struct reservation reservations[OSP_LAUNCH_GROUPS_MAX]; /* as in `groups` */
	struct osp_error unreserved;  /* why reservations have no places; "" if they were asked */
	struct osp_error uninstanced; /* why no node that runs has a place; "" if one may */
	uint32_t kept;		      /* nodes that run whose place is the previous one */
};

static const struct osp_listed_node *node_of(const struct asking *asking, uint32_t index)
{
	return &asking->question->nodes->nodes[index];
}

static int no_memory(struct asking *asking)
{
	return osp_error_set(asking->error, "out of memory");
}

static int take_memory(struct asking *asking)
{
	size_t count = (size_t)asking->question->nodes->count + 1;

	asking->ids = calloc(count, sizeof(*asking->ids));
	asking->launched = calloc(count, sizeof(*asking->launched));
	asking->answered = calloc(count, sizeof(*asking->answered));
	return asking->ids && asking->launched && asking->answered ? 0 : no_memory(asking);
}

/* --- from nodes to instances ------------------------------------------------------------------ */

/* Claims an instance for a node. An instance is one node: a second that claims it takes it away
 * from the first. */
static int claim(struct asking *asking, uint32_t node, const char *id)
{
	uint32_t before = osp_name_table_find(&asking->table, TAG_INSTANCE, id);

	if (before != OSP_NAME_ABSENT) {
		osp_text_printf(&asking->answer->warnings,
				"nodes %s and %s are both said to be instance %s; both are left "
				"out\n",
				node_of(asking, before)->name, node_of(asking, node)->name, id);
		asking->ids[before] = NULL;
		return 0;
	}
	asking->ids[node] = id;
	return osp_name_table_add(&asking->table, TAG_INSTANCE, id, node) ? no_memory(asking) : 0;
}

/* Notes an instance that runs at some node's address. */
static int note_address(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t node = osp_name_table_find(&asking->table, TAG_ADDRESS, record->address);

	(void)error;
	if (node == OSP_NAME_ABSENT ||
	    (asking->launched[node] && strcmp(record->launched, asking->launched[node]) <= 0))
		return 0;
	asking->ids[node] = osp_arena_copy(&asking->arena, record->id, strlen(record->id));
	asking->launched[node] =
		osp_arena_copy(&asking->arena, record->launched, strlen(record->launched));
	return asking->ids[node] && asking->launched[node] ? 0 : no_memory(asking);
}

/* Lists the addresses of nodes that run and of which Slurm knows no instance. */
static int list_addresses(struct asking *asking, const char **addresses, size_t *count)
{
	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		const struct osp_listed_node *node = node_of(asking, i);

		if (!node->runs || node->instance_id[0] || !node->address[0] ||
		    osp_name_table_find(&asking->table, TAG_ADDRESS, node->address) !=
			    OSP_NAME_ABSENT)
			continue;
		if (osp_name_table_add(&asking->table, TAG_ADDRESS, node->address, i))
			return no_memory(asking);
		addresses[(*count)++] = node->address;
	}
	return 0;
}

static int find_by_address(struct asking *asking)
{
	size_t count = 0;
	const char **addresses =
		calloc((size_t)asking->question->nodes->count + 1, sizeof(*addresses));
	struct osp_ec2_listener listener = {note_address, NULL, asking};
	int rc = addresses ? list_addresses(asking, addresses, &count) : no_memory(asking);

	if (!rc && count)
		rc = osp_ec2_instances_at(asking->ec2, addresses, count, &listener, &asking->gaps,
					  asking->error);
	free(addresses);
	return rc;
}

static int find_instances(struct asking *asking)
{
	if (find_by_address(asking))
		return -1;
	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		const struct osp_listed_node *node = node_of(asking, i);
		const char *id = node->instance_id[0] ? node->instance_id : asking->ids[i];

		asking->ids[i] = NULL;
		if (id && node->runs && claim(asking, i, id))
			return -1;
	}
	return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

static const char *word(const char *value)
{
	return *value ? value : NULL;
}

/* Returns the node's number in the last good answer if it could still be there, else
 * OSP_NO_NODE. */
static uint32_t previous_node(const struct asking *asking, uint32_t node)
{
	const struct osp_topology *previous = asking->question->previous;
	const struct osp_listed_node *listed = node_of(asking, node);
	uint32_t old = previous ? osp_topology_find_node(previous, listed->name) : OSP_NO_NODE;
	const struct osp_node_note *note =
		old == OSP_NO_NODE ? NULL : osp_topology_note(previous, old);

	return note && !strcmp(note->source, "ec2") &&
			       !strcmp(note->instance_id, asking->ids[node]) &&
			       osp_boot_is_same(note->boot_s, listed->boot_s)
		       ? old
		       : OSP_NO_NODE;
}

/* Returns the node's number in the last good answer if that has it in this reservation. */
static uint32_t previous_reserved(const struct asking *asking, uint32_t node, const char *id)
{
	const struct osp_topology *previous = asking->question->previous;
	const struct osp_node_note *note =
		previous ? osp_topology_note_of(previous, node_of(asking, node)->name) : NULL;

	return note && !strcmp(note->source, OSP_SOURCE_RESERVATION) &&
			       !strcmp(note->instance_id, id)
		       ? osp_topology_find_node(previous, node_of(asking, node)->name)
		       : OSP_NO_NODE;
}

/* Returns the boot that the answer is for: as it was noted before, where it is the same one. */
static int64_t boot_of(const struct asking *asking, uint32_t node)
{
	uint32_t old = previous_node(asking, node);
	int64_t boot_s = node_of(asking, node)->boot_s;

	return old == OSP_NO_NODE
		       ? boot_s
		       : osp_boot_steady(osp_topology_note(asking->question->previous, old)->boot_s,
					 boot_s);
}

static int add_instance(struct asking *asking, uint32_t node, struct osp_import_instance *instance,
			struct osp_error *error)
{
	/* what a page reported that began anew */
	if (asking->answered[node])
		return 0;
	asking->answered[node] = true;
	instance->where = WHERE;
	instance->note.source = "ec2";
	instance->note.boot_s = boot_of(asking, node);
	return osp_import_instance(asking->import, instance, error);
}

/* Returns what EC2 says of a place; `switches` has room for OSP_EC2_NODES_MAX. */
static struct osp_import_instance instance_of(const struct osp_ec2_record *record,
					      const char **switches)
{
	for (size_t i = 0; i < record->node_count; i++)
		switches[i] = record->nodes[i];
	return (struct osp_import_instance){.switches = switches,
					    .switch_count = record->node_count,
					    .zone_id = word(record->zone_id),
					    .zone_name = word(record->zone_name),
					    .block = word(record->block),
					    .note = {.instance_id = record->id}};
}

static int note_place(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t node = osp_name_table_find(&asking->table, TAG_INSTANCE, record->id);
	const char *switches[OSP_EC2_NODES_MAX];
	struct osp_import_instance instance = instance_of(record, switches);

	if (node == OSP_NAME_ABSENT || !asking->ids[node])
		return 0;
	instance.id = record->id;
	return add_instance(asking, node, &instance, error);
}

/* Fills `instance`, and its `switches`, with a place of the last good answer. */
static void copy_place(const struct osp_topology *previous, uint32_t old, const char **switches,
		       struct osp_import_instance *instance)
{
	instance->switches = switches;
	instance->lowest_layer = 1;
	for (uint32_t level = osp_topology_last_level(previous); level > 0; level--) {
		uint32_t domain = osp_topology_domain_of(previous, old, level);
		const char *level_name = osp_topology_level_name(previous, level);
		const char *name = domain == OSP_NO_DOMAIN
					   ? NULL
					   : osp_topology_domain(previous, domain)->name;

		if (!strcmp(level_name, "zone"))
			instance->zone_id = name;
		else if (!strcmp(level_name, "nvlink"))
			instance->block = name;
		else if (osp_topology_is_overlay(previous, level))
			continue;
		else if (name)
			switches[instance->switch_count++] = name;
		else if (instance->switch_count)
			instance->lowest_layer++;
	}
}

/* Takes the place of a node whose call failed from the last good answer. */
static int keep_place(struct asking *asking, uint32_t node, uint32_t old)
{
	const char *switches[OSP_LEVELS_MAX];
	struct osp_import_instance instance = {.id = asking->ids[node],
					       .note = {.instance_id = asking->ids[node]}};

	copy_place(asking->question->previous, old, switches, &instance);
	osp_text_printf(&asking->answer->kept, "%s\n", node_of(asking, node)->name);
	asking->kept++;
	return add_instance(asking, node, &instance, asking->error);
}

/* Keeps the place of an id of a call that failed. Called for each. */
static void note_missed(const char *id, void *context)
{
	struct asking *asking = context;
	uint32_t node = osp_name_table_find(&asking->table, TAG_INSTANCE, id);
	uint32_t old = node == OSP_NAME_ABSENT ? OSP_NO_NODE : previous_node(asking, node);

	if (old != OSP_NO_NODE)
		keep_place(asking, node, old);
}

static int ask_places(struct asking *asking)
{
	struct osp_ec2_listener listener = {note_place, note_missed, asking};
	const char **ids = calloc((size_t)asking->question->nodes->count + 1, sizeof(*ids));
	size_t count = 0;
	int rc;

	if (!ids)
		return no_memory(asking);
	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		if (asking->ids[i])
			ids[count++] = asking->ids[i];
	}
	rc = count ? osp_ec2_instance_topology(asking->ec2, ids, count, &listener, &asking->gaps,
					       asking->error)
		   : 0;
	free(ids);
	return rc;
}

/* --- places by capacity reservation ----------------------------------------------------------- */

/* Returns whether the node does not run, and will be launched into the reservation. */
static bool is_reserved(const struct asking *asking, uint32_t node, uint32_t *reservation)
{
	*reservation = node_of(asking, node)->runs
			       ? OSP_NAME_ABSENT
			       : osp_launch_groups_of(&asking->groups, node_of(asking, node)->name);
	return *reservation != OSP_NAME_ABSENT;
}

/* Counts the nodes that run. */
static uint32_t count_running(const struct asking *asking)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < asking->question->nodes->count; i++)
		run += node_of(asking, i)->runs;
	return run;
}

/* Notes if nodes run and none of them has an instance. Returns 0 if there is something to ask EC2
 * about all the same, or no node runs, else -1 with the error set. */
static int check_instances(struct asking *asking)
{
	uint32_t run = count_running(asking), reserved = 0, number;

	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		if (asking->ids[i])
			return 0;
		reserved += is_reserved(asking, i, &number);
	}
	if (!run)
		return 0;
	osp_error_set(&asking->uninstanced,
		      "no node that runs has an instance of EC2: Slurm has no InstanceId, and no "
		      "running instance of region %s has a node's address",
		      osp_ec2_region(asking->ec2));
	/* a failed call may be why; places by reservation alone would be held, and asked late */
	if (asking->gaps.failed_calls) {
		*asking->error = asking->gaps.first;
		return -1;
	}
	if (!reserved)
		*asking->error = asking->uninstanced;
	return reserved ? 0 : -1;
}

static uint32_t find_reservation(const struct asking *asking, const char *id)
{
	uint32_t i = 0;

	while (i < asking->groups.count && strcmp(asking->groups.reservations[i], id) != 0)
		i++;
	return i < asking->groups.count ? i : OSP_NAME_ABSENT;
}

/* Returns how many more nodes like this one the reservation has room for. */
static uint32_t room_for(const struct reservation *reservation, const struct osp_listed_node *node)
{
	uint32_t taken = node->between ? 0 : reservation->between;

	return reservation->room > taken ? reservation->room - taken : 0;
}

/* Adds the place of a node by its reservation, unless that is full. */
static int add_reserved(struct asking *asking, uint32_t node, struct reservation *reservation,
			struct osp_import_instance *instance, struct osp_error *error)
{
	if (asking->answered[node])
		return 0;
	if (!room_for(reservation, node_of(asking, node))) {
		reservation->beyond++;
		return 0;
	}
	reservation->room--;
	if (reservation->between && node_of(asking, node)->between)
		reservation->between--;
	asking->answered[node] = true;
	instance->where = WHERE;
	instance->id = node_of(asking, node)->name;
	instance->note.source = OSP_SOURCE_RESERVATION;
	return osp_import_instance(asking->import, instance, error);
}

static int note_reservation(const struct osp_ec2_record *record, void *context,
			    struct osp_error *error)
{
	struct asking *asking = context;
	const char *switches[OSP_EC2_NODES_MAX];
	struct osp_import_instance instance = instance_of(record, switches);
	uint32_t number = find_reservation(asking, record->id), own;

	/* a page that began anew reports it twice */
	if (number == OSP_NAME_ABSENT || asking->reservations[number].answered)
		return 0;
	asking->reservations[number].answered = true;
	instance.reserved_type = record->type;
	for (uint32_t node = 0; record->node_count && node < asking->question->nodes->count;
	     node++) {
		if (is_reserved(asking, node, &own) && own == number &&
		    add_reserved(asking, node, &asking->reservations[number], &instance, error))
			return -1;
	}
	return 0;
}

static void note_missed_reservation(const char *id, void *context)
{
	struct asking *asking = context;
	uint32_t number = find_reservation(asking, id);

	if (number != OSP_NAME_ABSENT)
		asking->reservations[number].missed = true;
}

/* Notes how many instances a reservation has room for: less those of nodes that run, and no more
 * than are free, which other clusters' instances are not. Instances of nodes on their way up or
 * down are not free either, and theirs. A count that is none limits nothing. */
static int note_size(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct asking *asking = context;
	uint32_t number = find_reservation(asking, record->id), run = 0, between = 0;
	int64_t total = osp_ec2_count(record->total_count),
		unused = osp_ec2_free(record, (int64_t)time(NULL));
	struct reservation *reservation;

	(void)error;
	if (number == OSP_NAME_ABSENT || total < 0)
		return 0;
	reservation = &asking->reservations[number];
	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		const struct osp_listed_node *node = node_of(asking, i);

		if (osp_launch_groups_of(&asking->groups, node->name) == number) {
			run += node->runs;
			between += node->between && !node->runs;
		}
	}
	reservation->room = total > run ? (uint32_t)total - run : 0;
	reservation->between = between;
	reservation->shared = unused + between < reservation->room;
	if (reservation->shared)
		reservation->room = (uint32_t)unused + between;
	return 0;
}

/* Lists the reservations into which nodes that do not run will be launched. */
static size_t list_reservations(struct asking *asking, const char *ids[OSP_LAUNCH_GROUPS_MAX])
{
	uint32_t number;
	size_t count = 0;

	for (uint32_t node = 0; node < asking->question->nodes->count; node++) {
		if (!is_reserved(asking, node, &number) || asking->reservations[number].asked)
			continue;
		asking->reservations[number].asked = true;
		asking->reservations[number].room = UINT32_MAX;
		ids[count++] = asking->groups.reservations[number];
	}
	return count;
}

/* Asks how many instances these reservations have. What fails limits nothing. */
static void ask_sizes(struct asking *asking, const char *const *ids, size_t count)
{
	struct osp_ec2_listener listener = {note_size, NULL, asking};
	struct osp_ec2_gaps gaps = {0};
	struct osp_error why = {.text = ""};

	if (osp_ec2_reservations(asking->ec2, ids, count, &listener, &gaps, &why) == 0 &&
	    gaps.failed_calls)
		why = gaps.first;
	if (why.text[0])
		osp_text_printf(&asking->answer->warnings,
				"nodes may have a place by a capacity reservation that has fewer "
				"instances: %s\n",
				why.text);
}

/* Takes places by reservations whose call failed from the last good answer. Returns how many. */
static uint32_t keep_reserved(struct asking *asking, bool all_failed)
{
	uint32_t number, kept = 0;

	for (uint32_t node = 0; node < asking->question->nodes->count; node++) {
		const char *switches[OSP_LEVELS_MAX], *id;
		struct osp_import_instance instance = {.reserved_type = ""};
		struct reservation *reservation;
		uint32_t old;

		if (asking->answered[node] || !is_reserved(asking, node, &number))
			continue;
		id = asking->groups.reservations[number];
		reservation = &asking->reservations[number];
		old = reservation->answered || (!reservation->missed && !all_failed)
			      ? OSP_NO_NODE
			      : previous_reserved(asking, node, id);
		if (old == OSP_NO_NODE)
			continue;
		copy_place(asking->question->previous, old, switches, &instance);
		instance.note.instance_id = id;
		if (add_reserved(asking, node, reservation, &instance, &asking->unreserved))
			break;
		if (!asking->answered[node])
			continue;
		osp_text_printf(&asking->answer->kept, "%s\n", node_of(asking, node)->name);
		kept++;
	}
	return kept;
}

static void report_reserved(struct asking *asking, uint32_t kept, uint32_t unknown_ids)
{
	struct osp_text *warnings = &asking->answer->warnings;

	if (asking->unreserved.text[0] && kept)
		osp_text_printf(warnings,
				"%u node%s not run and keep%s the last good place by the capacity "
				"reservation: %s\n",
				kept, kept == 1 ? " does" : "s do", kept == 1 ? "s" : "",
				asking->unreserved.text);
	else if (asking->unreserved.text[0])
		osp_text_printf(warnings,
				"nodes that do not run have no place by their capacity "
				"reservation: %s\n",
				asking->unreserved.text);
	if (unknown_ids)
		osp_text_printf(warnings,
				"EC2 does not know %u of the capacity reservations of "
				"launch_groups\n",
				unknown_ids);
	for (size_t i = 0; i < asking->groups.count; i++) {
		uint32_t beyond = asking->reservations[i].beyond;

		if (beyond)
			osp_text_printf(
				warnings,
				"launch_groups names more nodes for %s than it has "
				"instances%s: %u that do%s not run %s no place by it\n",
				asking->groups.reservations[i],
				asking->reservations[i].shared ? " that nobody else uses" : "",
				beyond, beyond == 1 ? "es" : "", beyond == 1 ? "has" : "have");
	}
}

/* Asks of the reservations of nodes that do not run. Those of a call that fails keep their last
 * places. */
static void ask_reservations(struct asking *asking)
{
	struct osp_ec2_listener listener = {note_reservation, note_missed_reservation, asking};
	const char *ids[OSP_LAUNCH_GROUPS_MAX];
	struct osp_ec2_gaps gaps = {0};
	size_t count = list_reservations(asking, ids);
	bool all_failed;

	if (!count)
		return;
	ask_sizes(asking, ids, count);
	all_failed = osp_ec2_reservation_topology(asking->ec2, ids, count, &listener, &gaps,
						  &asking->unreserved);
	if (!all_failed && gaps.failed_calls)
		asking->unreserved = gaps.first;
	report_reserved(asking, keep_reserved(asking, all_failed), gaps.unknown_ids);
}

/* Makes a line an instance, "i-0abc gpu-1", or "gpu-2 gpu-2" for a node that will be launched. */
static struct osp_name_map *make_map(struct asking *asking)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_name_map *map;
	uint32_t reservation;
	char *lines;
	size_t bytes;

	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		if (asking->ids[i])
			osp_text_printf(&text, "%s %s\n", asking->ids[i], node_of(asking, i)->name);
		else if (is_reserved(asking, i, &reservation))
			osp_text_printf(&text, "%s %s\n", node_of(asking, i)->name,
					node_of(asking, i)->name);
	}
	bytes = text.length_bytes;
	lines = osp_text_take(&text);
	map = lines ? osp_read_name_map("Slurm's nodes", lines, bytes, NULL, asking->error) : NULL;
	free(lines);
	return map;
}

static void report_gaps(struct asking *asking)
{
	const struct osp_ec2_gaps *gaps = &asking->gaps;
	struct osp_text *warnings = &asking->answer->warnings;

	if (gaps->failed_calls)
		osp_text_printf(warnings,
				"%u call%s failed, %u node%s the place of the last good "
				"answer: %s\n",
				gaps->failed_calls, osp_plural_s(gaps->failed_calls), asking->kept,
				asking->kept == 1 ? " keeps" : "s keep", gaps->first.text);
	if (gaps->unknown_ids)
		osp_text_printf(warnings, "EC2 does not know %u of the instances\n",
				gaps->unknown_ids);
	if (asking->uninstanced.text[0])
		osp_text_printf(warnings, "%s\n", asking->uninstanced.text);
}

/* What EC2 reports of most types; a longer list comes with the first such node that runs. */
static const char levels_alone[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\", \"core\", \"zone\"], "
	"\"domains\": []}";

/* Returns whether EC2 can say something of one of the nodes. */
static bool may_have_places(const struct asking *asking)
{
	uint32_t number;

	for (uint32_t i = 0; i < asking->question->nodes->count; i++) {
		if (asking->ids[i] || is_reserved(asking, i, &number))
			return true;
	}
	return false;
}

/* Returns whether EC2 said where one of the nodes is, or will be. */
static bool has_places(const struct asking *asking)
{
	uint32_t i = 0;

	while (i < asking->question->nodes->count && !asking->answered[i])
		i++;
	return i < asking->question->nodes->count;
}

/* Answers with the levels of the last good answer, or with EC2's. Returns 0, or -1 with `error`
 * set. */
static int answer_with_levels(struct asking *asking, struct osp_error *error)
{
	const struct osp_topology *previous = asking->question->previous;

	if (previous) {
		asking->answer->topology = osp_topology_rebase(previous, NULL, 0, error);
	} else {
		asking->answer->topology = osp_read_onespine_topology(
			WHERE, levels_alone, sizeof(levels_alone) - 1, error);
		osp_text_add(&asking->answer->warnings,
			     "no node runs, so no place is known: the topology has its levels "
			     "alone, by which gangs may have nodes launched\n");
	}
	return asking->answer->topology ? 0 : -1;
}

static bool has_instances(const struct asking *asking)
{
	uint32_t i = 0;

	while (i < asking->question->nodes->count && !asking->ids[i])
		i++;
	return i < asking->question->nodes->count;
}

/* Returns whether instances have been found by nodes' addresses, which EC2 denied when it was asked
 * last. */
static bool lacked_addresses(const struct asking *asking)
{
	const char *unasked = asking->question->unasked;

	return unasked && strstr(unasked, "EC2 denies DescribeInstances ");
}

static int ask_ec2(struct asking *asking)
{
	struct osp_import_options options = {.allow_missing = true};
	struct osp_name_map *map;
	int rc = -1;

	if (find_instances(asking))
		return -1;
	if (!has_instances(asking))
		osp_ec2_probe(asking->ec2, lacked_addresses(asking));
	if (check_instances(asking))
		return -1;
	if (!may_have_places(asking))
		return answer_with_levels(asking, asking->error);
	map = make_map(asking);
	options.map = map;
	asking->import = map ? osp_import_new(&options) : NULL;
	if (asking->import && !ask_places(asking)) {
		struct osp_error nothing = {.text = ""};

		ask_reservations(asking);
		rc = osp_source_finish(asking->import, asking->answer, &nothing);
		/* places that cannot be used are no answer */
		if (rc && !count_running(asking) && !asking->unreserved.text[0] &&
		    !has_places(asking))
			rc = answer_with_levels(asking, &nothing);
		if (!rc)
			report_gaps(asking);
		else
			*asking->error = asking->gaps.failed_calls     ? asking->gaps.first
					 : asking->uninstanced.text[0] ? asking->uninstanced
					 : asking->unreserved.text[0]  ? asking->unreserved
								       : nothing;
	}
	osp_import_free(asking->import);
	osp_name_map_free(map);
	if (rc)
		osp_error_set(asking->error, "out of memory");
	return rc;
}

/* Notes whether EC2 would say where a node is that is launched now. What a pause may heal says
 * nothing of it: what is known from before stays. */
static void note_unasked(struct asking *asking)
{
	const char *unasked = asking->ec2 ? osp_ec2_unasked(asking->ec2) : asking->error->text;
	struct osp_source_answer *answer = asking->answer;

	answer->answers =
		asking->ec2 && !unasked &&
		osp_ec2_answers(asking->ec2, !has_instances(asking) && lacked_addresses(asking));
	if (unasked || answer->answers)
		osp_copy_clean(answer->unasked, sizeof(answer->unasked), unasked);
}

static int ask(struct asking *asking)
{
	int rc = -1;

	asking->ec2 = osp_ec2_open(asking->error);
	if (asking->ec2)
		rc = ask_ec2(asking);
	note_unasked(asking);
	return rc;
}

int osp_source_ec2(const struct osp_source_question *question, struct osp_source_answer *answer,
		   struct osp_error *error)
{
	struct asking asking = {.question = question,
				.answer = answer,
				.error = error,
				.table = OSP_NAME_TABLE_INIT};
	int rc;

	osp_copy_clean(answer->unasked, sizeof(answer->unasked), question->unasked);
	rc = osp_launch_groups_read(question->launch_groups, &asking.groups, error) ||
			     take_memory(&asking)
		     ? -1
		     : ask(&asking);
	osp_launch_groups_free(&asking.groups);
	osp_ec2_close(asking.ec2);
	osp_name_table_free(&asking.table);
	osp_arena_free(&asking.arena);
	free(asking.ids);
	free(asking.launched);
	free(asking.answered);
	return rc;
}
