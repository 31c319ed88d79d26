/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cloud_doctor.c - asks EC2 of instances, interfaces, groups and reservations, call by call */
#include "host/source/cloud_doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cloud/ec2.h"
#include "lib/base/arena.h"
#include "lib/base/name_table.h"
#include "lib/base/room.h"

#define STORAGES_MAX 16
#define CALLS_MAX    8

enum { TAG_ADDRESS, TAG_INSTANCE, TAG_GROUP, TAG_RESERVATION, TAG_PLACEMENT };

/* Words in the order of their coming, each once. */
struct words {
	const char **items;
	uint32_t count;
	uint32_t room;
};

struct osp_cloud_doctor {
	struct osp_cloud_facts facts;
	struct osp_arena arena;
	struct osp_name_table table;
	struct osp_ec2 *ec2;
	struct osp_cloud_node *nodes;
	char (*launched)[OSP_EC2_VALUE_BYTES]; /* by node */
	struct osp_cloud_interface *interfaces;
	struct osp_cloud_open *opens;
	struct osp_cloud_reservation *reservations;
	struct osp_cloud_placement *placements;
	uint32_t interface_room, open_room, reservation_room, placement_room;
	struct osp_cloud_storage storages[STORAGES_MAX];
	const char *servers[STORAGES_MAX]; /* addresses */
	struct osp_cloud_call calls[CALLS_MAX];
	struct words instances, groups, held, placed;
	bool failed; /* memory ran out */
};

static const char *copy(struct osp_cloud_doctor *doctor, const char *word)
{
	const char *kept = osp_arena_copy(&doctor->arena, word, strlen(word));

	doctor->failed = doctor->failed || !kept;
	return kept ? kept : "";
}

/* Adds a word that is not there yet; "" is none. */
static void add_word(struct osp_cloud_doctor *doctor, struct words *words, uint32_t tag,
		     const char *word)
{
	if (!*word || osp_name_table_find(&doctor->table, tag, word) != OSP_NAME_ABSENT)
		return;
	word = copy(doctor, word);
	if (osp_make_room((void **)&words->items, &words->room, words->count,
			  sizeof(*words->items)) ||
	    osp_name_table_add(&doctor->table, tag, word, words->count)) {
		doctor->failed = true;
		return;
	}
	words->items[words->count++] = word;
}

/* Makes room for one more of a fact's array; returns NULL if memory ran out. */
static void *one_more(struct osp_cloud_doctor *doctor, void **array, uint32_t *room, size_t count,
		      size_t bytes)
{
	if (osp_make_room(array, room, (uint32_t)count, bytes)) {
		doctor->failed = true;
		return NULL;
	}
	return (char *)*array + count * bytes;
}

/* --- calls ------------------------------------------------------------------------------------ */

typedef int ask_f(struct osp_ec2 *ec2, const char *const *ids, size_t count,
		  const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
		  struct osp_error *error);

static void note_call(struct osp_cloud_doctor *doctor, const char *action, bool for_places,
		      const char *words)
{
	if (doctor->facts.call_count < CALLS_MAX)
		doctor->calls[doctor->facts.call_count++] = (struct osp_cloud_call){
			.action = action, .error = copy(doctor, words), .for_places = for_places};
}

/* Returns true if EC2 answered all of it. Of one action only the first failure is noted. */
static bool ask(struct osp_cloud_doctor *doctor, ask_f *call, const char *action,
		const struct words *ids, osp_ec2_record_f *record)
{
	struct osp_ec2_listener listener = {record, NULL, doctor};
	struct osp_error error = {.text = ""};
	struct osp_ec2_gaps gaps = {0};

	if (!ids->count)
		return true;
	if (!call(doctor->ec2, ids->items, ids->count, &listener, &gaps, &error) &&
	    !gaps.failed_calls)
		return true;
	for (size_t i = 0; i < doctor->facts.call_count; i++) {
		if (!strcmp(doctor->calls[i].action, action))
			return false;
	}
	note_call(doctor, action,
		  !strcmp(action, "DescribeInstances") ||
			  !strcmp(action, "DescribeInstanceTopology"),
		  error.text[0] ? error.text : gaps.first.text);
	return false;
}

/* --- instances -------------------------------------------------------------------------------- */

static uint32_t node_of(const struct osp_cloud_doctor *doctor, const struct osp_ec2_record *record)
{
	uint32_t node = osp_name_table_find(&doctor->table, TAG_ADDRESS, record->address);

	return node != OSP_NAME_ABSENT
		       ? node
		       : osp_name_table_find(&doctor->table, TAG_INSTANCE, record->id);
}

/* Takes, of two instances at one address, the one launched last as the node's. */
static int note_instance(const struct osp_ec2_record *record, void *context,
			 struct osp_error *error)
{
	struct osp_cloud_doctor *doctor = context;
	uint32_t index = node_of(doctor, record);
	struct osp_cloud_node *node;

	(void)error;
	if (index >= doctor->facts.node_count)
		return 0;
	node = &doctor->nodes[index];
	if (node->instance_id[0] && strcmp(record->launched, doctor->launched[index]) <= 0)
		return 0;
	snprintf(doctor->launched[index], OSP_EC2_VALUE_BYTES, "%s", record->launched);
	node->instance_id = copy(doctor, record->id);
	node->zone = copy(doctor, record->zone_name);
	node->placement = copy(doctor, record->placement);
	node->reservation = copy(doctor, record->reservation);
	node->capacity_block = !strcmp(record->lifecycle, "capacity-block");
	return 0;
}

/* Lists what each node is known by. */
static void list_nodes(struct osp_cloud_doctor *doctor, const struct osp_node_list *list,
		       struct words *ids, struct words *addresses)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct osp_listed_node *from = &list->nodes[i];
		bool by_id = from->instance_id[0];
		const char *known = by_id ? from->instance_id : from->address;
		struct words *words = by_id ? ids : addresses;

		if (!from->runs || !*known ||
		    osp_name_table_find(&doctor->table, by_id ? TAG_INSTANCE : TAG_ADDRESS,
					known) != OSP_NAME_ABSENT)
			continue;
		doctor->nodes[doctor->facts.node_count] =
			(struct osp_cloud_node){copy(doctor, from->name), "", "", "", "", false};
		if (osp_make_room((void **)&words->items, &words->room, words->count,
				  sizeof(*words->items)) ||
		    osp_name_table_add(&doctor->table, by_id ? TAG_INSTANCE : TAG_ADDRESS, known,
				       doctor->facts.node_count)) {
			doctor->failed = true;
			return;
		}
		words->items[words->count++] = known;
		doctor->facts.node_count++;
	}
}

/* Lists what to ask about next; instances go into the table anew, those of addresses too. */
static void list_found(struct osp_cloud_doctor *doctor)
{
	osp_name_table_free(&doctor->table);
	doctor->table = (struct osp_name_table)OSP_NAME_TABLE_INIT;
	for (uint32_t i = 0; i < doctor->facts.node_count; i++) {
		const struct osp_cloud_node *node = &doctor->nodes[i];

		if (!node->instance_id[0])
			continue;
		if (osp_make_room((void **)&doctor->instances.items, &doctor->instances.room,
				  doctor->instances.count, sizeof(*doctor->instances.items)) ||
		    osp_name_table_add(&doctor->table, TAG_INSTANCE, node->instance_id, i)) {
			doctor->failed = true;
			return;
		}
		doctor->instances.items[doctor->instances.count++] = node->instance_id;
		add_word(doctor, &doctor->held, TAG_RESERVATION, node->reservation);
		add_word(doctor, &doctor->placed, TAG_PLACEMENT, node->placement);
	}
}

static void ask_instances(struct osp_cloud_doctor *doctor, const struct osp_node_list *list)
{
	struct words ids = {NULL, 0, 0}, addresses = {NULL, 0, 0};

	list_nodes(doctor, list, &ids, &addresses);
	doctor->facts.instances_known =
		ask(doctor, osp_ec2_instances, "DescribeInstances", &ids, note_instance) &&
		ask(doctor, osp_ec2_instances_at, "DescribeInstances", &addresses, note_instance);
	free(ids.items);
	free(addresses.items);
	list_found(doctor);
}

/* --- interfaces and their groups -------------------------------------------------------------- */

static int note_interface(const struct osp_ec2_record *record, void *context,
			  struct osp_error *error)
{
	struct osp_cloud_doctor *doctor = context;
	uint32_t node = osp_name_table_find(&doctor->table, TAG_INSTANCE, record->instance);
	struct osp_cloud_interface *interface;
	const char **groups;

	(void)error;
	if (node == OSP_NAME_ABSENT || strncmp(record->interface_type, "efa", 3) != 0)
		return 0;
	groups = osp_arena_take(&doctor->arena, (record->group_count + 1) * sizeof(*groups));
	interface = one_more(doctor, (void **)&doctor->interfaces, &doctor->interface_room,
			     doctor->facts.interface_count, sizeof(*interface));
	if (!groups || !interface)
		return osp_error_set(error, "out of memory");
	for (size_t i = 0; i < record->group_count; i++) {
		groups[i] = copy(doctor, record->groups[i]);
		add_word(doctor, &doctor->groups, TAG_GROUP, record->groups[i]);
	}
	*interface = (struct osp_cloud_interface){node, groups, record->group_count};
	doctor->facts.interface_count++;
	return 0;
}

static int note_rule(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct osp_cloud_doctor *doctor = context;
	struct osp_cloud_open *open;

	(void)error;
	if (strcmp(record->protocol, "-1") != 0 || !record->peer[0])
		return 0;
	open = one_more(doctor, (void **)&doctor->opens, &doctor->open_room,
			doctor->facts.open_count, sizeof(*open));
	if (!open)
		return osp_error_set(error, "out of memory");
	*open = (struct osp_cloud_open){copy(doctor, record->group), copy(doctor, record->peer),
					!strcmp(record->egress, "true")};
	doctor->facts.open_count++;
	return 0;
}

/* --- reservations and placement groups -------------------------------------------------------- */

static int note_reservation(const struct osp_ec2_record *record, void *context,
			    struct osp_error *error)
{
	struct osp_cloud_doctor *doctor = context;
	int64_t available = osp_ec2_count(record->available_count);
	struct osp_cloud_reservation *reservation =
		one_more(doctor, (void **)&doctor->reservations, &doctor->reservation_room,
			 doctor->facts.reservation_count, sizeof(*reservation));

	if (!reservation)
		return osp_error_set(error, "out of memory");
	*reservation = (struct osp_cloud_reservation){
		copy(doctor, record->id), copy(doctor, record->state), copy(doctor, record->match),
		available > 0 ? (uint32_t)available : 0};
	doctor->facts.reservation_count++;
	return 0;
}

static int note_placement(const struct osp_ec2_record *record, void *context,
			  struct osp_error *error)
{
	struct osp_cloud_doctor *doctor = context;
	struct osp_cloud_placement *placement =
		one_more(doctor, (void **)&doctor->placements, &doctor->placement_room,
			 doctor->facts.placement_count, sizeof(*placement));

	if (!placement)
		return osp_error_set(error, "out of memory");
	*placement = (struct osp_cloud_placement){copy(doctor, record->id),
						  copy(doctor, record->strategy)};
	doctor->facts.placement_count++;
	return 0;
}

/* Ignores the answers, which are the watch's and the survey's business: only that they come
 * matters. */
static int note_nothing(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	(void)record, (void)context, (void)error;
	return 0;
}

static void ask_places(struct osp_cloud_doctor *doctor)
{
	struct words first = doctor->instances;

	first.count = first.count > 0;
	(void)ask(doctor, osp_ec2_instance_topology, "DescribeInstanceTopology", &first,
		  note_nothing);
	(void)ask(doctor, osp_ec2_reservation_topology, "DescribeCapacityReservationTopology",
		  &doctor->held, note_nothing);
}

/* --- storage ---------------------------------------------------------------------------------- */

/* Reads a line of /proc/mounts: "10.0.1.5@tcp:/abcd /fsx lustre rw,..." */
static void read_mount(struct osp_cloud_doctor *doctor, const char *line)
{
	char server[256], mount[256], kind[32];
	size_t count = doctor->facts.storage_count;

	if (count == STORAGES_MAX || sscanf(line, "%255s %255s %31s", server, mount, kind) != 3 ||
	    strcmp(kind, "lustre") != 0)
		return;
	server[strcspn(server, "@:")] = '\0';
	doctor->servers[count] = copy(doctor, server);
	doctor->storages[count] = (struct osp_cloud_storage){copy(doctor, mount), ""};
	doctor->facts.storage_count++;
}

static void read_mounts(struct osp_cloud_doctor *doctor, const char *text)
{
	while (*text) {
		read_mount(doctor, text);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static int note_server(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct osp_cloud_doctor *doctor = context;

	(void)error;
	for (size_t i = 0; i < doctor->facts.storage_count; i++) {
		if (!strcmp(record->address, doctor->servers[i]))
			doctor->storages[i].zone = copy(doctor, record->zone_name);
	}
	return 0;
}

static void ask_storage(struct osp_cloud_doctor *doctor)
{
	struct words servers = {doctor->servers, (uint32_t)doctor->facts.storage_count, 0};

	(void)ask(doctor, osp_ec2_interfaces_at, "DescribeNetworkInterfaces", &servers,
		  note_server);
}

/* -----------------------------------------------------------------------------------------------
 */

static void ask_all(struct osp_cloud_doctor *doctor, const struct osp_node_list *nodes,
		    const char *mounts)
{
	struct osp_cloud_facts *facts = &doctor->facts;

	ask_instances(doctor, nodes);
	facts->interfaces_known = ask(doctor, osp_ec2_interfaces_of, "DescribeNetworkInterfaces",
				      &doctor->instances, note_interface);
	facts->opens_known = facts->interfaces_known &&
			     ask(doctor, osp_ec2_group_rules, "DescribeSecurityGroupRules",
				 &doctor->groups, note_rule);
	(void)ask(doctor, osp_ec2_reservations, "DescribeCapacityReservations", &doctor->held,
		  note_reservation);
	(void)ask(doctor, osp_ec2_placement_groups, "DescribePlacementGroups", &doctor->placed,
		  note_placement);
	ask_places(doctor);
	read_mounts(doctor, mounts);
	ask_storage(doctor);
	facts->nodes = doctor->nodes;
	facts->interfaces = doctor->interfaces;
	facts->opens = doctor->opens;
	facts->reservations = doctor->reservations;
	facts->placements = doctor->placements;
	facts->storages = doctor->storages;
}

struct osp_cloud_doctor *osp_cloud_doctor_gather(const struct osp_node_list *nodes,
						 const char *mounts, const char *meant)
{
	struct osp_cloud_doctor *doctor = calloc(1, sizeof(*doctor));
	struct osp_error error = {.text = ""};

	if (!doctor)
		return NULL;
	doctor->nodes = calloc((size_t)nodes->count + 1, sizeof(*doctor->nodes));
	doctor->launched = calloc((size_t)nodes->count + 1, sizeof(*doctor->launched));
	doctor->failed = !doctor->nodes || !doctor->launched;
	doctor->facts.meant = meant;
	doctor->facts.calls = doctor->calls;
	doctor->ec2 = doctor->failed ? NULL : osp_ec2_open(&error);
	if (doctor->ec2)
		ask_all(doctor, nodes, mounts);
	else if (!doctor->failed)
		note_call(doctor, "DescribeInstances", true, error.text);
	if (doctor->failed) {
		osp_cloud_doctor_free(doctor);
		return NULL;
	}
	return doctor;
}

const struct osp_cloud_facts *osp_cloud_doctor_facts(const struct osp_cloud_doctor *doctor)
{
	return &doctor->facts;
}

void osp_cloud_doctor_free(struct osp_cloud_doctor *doctor)
{
	if (!doctor)
		return;
	osp_ec2_close(doctor->ec2);
	osp_name_table_free(&doctor->table);
	osp_arena_free(&doctor->arena);
	free(doctor->nodes);
	free(doctor->launched);
	free(doctor->interfaces);
	free(doctor->opens);
	free(doctor->reservations);
	free(doctor->placements);
	free(doctor->instances.items);
	free(doctor->groups.items);
	free(doctor->held.items);
	free(doctor->placed.items);
	free(doctor);
}
