/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_cloud.c - rules about what EC2 says about the nodes' instances
 *
 * A gang gets its nodes from one partition. EFA's traffic passes only between interfaces with a
 * common security group that allows all its own traffic in and out; a rule for addresses does not
 * count (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html, and ParallelCluster's
 * validator, cluster_validators.py).
 */
#include "lib/doctor/doctor_private.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/hostlist.h"
#include "lib/base/nodeset.h"
#include "lib/base/text.h"
#include "lib/doctor/cloud_facts.h"

/* One partition of slurm.conf; `nodes` are indexes of the facts' nodes. */
struct part {
	struct osp_diagnosis *diagnosis;
	const struct osp_cloud_facts *cloud;
	const char *name;
	struct osp_nodeset *nodes;
};

typedef void part_f(const struct part *part);

static uint32_t find_node(const struct osp_cloud_facts *cloud, const char *name)
{
	for (uint32_t i = 0; i < cloud->node_count; i++) {
		if (!strcmp(cloud->nodes[i].name, name))
			return i;
	}
	return OSP_CLOUD_NO_NODE;
}

/* Adds a running node whose instance is known. */
static int add_node(const char *name, void *context)
{
	const struct part *part = context;
	uint32_t node = find_node(part->cloud, name);

	if (node != OSP_CLOUD_NO_NODE && part->cloud->nodes[node].instance_id[0])
		osp_nodeset_add(part->nodes, node);
	return 0;
}

static void fill(const struct part *part, const char *list)
{
	struct osp_error ignored = {.text = ""};

	if (strcasecmp(list, "ALL") != 0) {
		(void)osp_hostlist_expand(list, add_node, (void *)part, &ignored);
		return;
	}
	for (uint32_t i = 0; i < part->cloud->node_count; i++)
		add_node(part->cloud->nodes[i].name, (void *)part);
}

/* Returns whether a partition with the same nodes was judged already: only the first one is. */
static bool seen(struct osp_nodeset *const *sets, size_t count, const struct osp_nodeset *set)
{
	for (size_t i = 0; i < count; i++) {
		if (sets[i] && osp_nodeset_equal(sets[i], set))
			return true;
	}
	return false;
}

/* Judges each partition with at least two running nodes. */
static void each_part(struct osp_diagnosis *diagnosis, part_f *judge)
{
	const struct osp_cloud_facts *cloud = diagnosis->facts->cloud;
	size_t count, done = 0;
	const struct osp_slurm_word *words = osp_slurm_conf_words(diagnosis->facts->conf, &count);
	struct osp_nodeset **sets = calloc(count + 1, sizeof(struct osp_nodeset *));

	for (size_t i = 0; sets && i < count; i++) {
		struct part part = {diagnosis, cloud, words[i].value, NULL};
		const char *list;

		if (!words[i].starts_line || strcasecmp(words[i].key, "PartitionName") != 0)
			continue;
		list = osp_slurm_conf_of_line(diagnosis->facts->conf, &words[i], "Nodes");
		part.nodes = osp_nodeset_new(cloud->node_count);
		diagnosis->findings->failed = diagnosis->findings->failed || !part.nodes;
		if (part.nodes && list)
			fill(&part, list);
		if (part.nodes && osp_nodeset_count(part.nodes) > 1 &&
		    !seen(sets, done, part.nodes))
			judge(&part);
		sets[done++] = part.nodes;
	}
	diagnosis->findings->failed = diagnosis->findings->failed || !sets;
	while (sets && done > 0)
		free(sets[--done]);
	free(sets);
}

/* Returns the nodes of a set as "gpu-[1-4]", to be freed. */
static char *list_nodes(const struct part *part, const struct osp_nodeset *set)
{
	const char **names = calloc((size_t)part->cloud->node_count + 1, sizeof(*names));
	size_t count = 0;
	char *list;

	for (uint32_t n = osp_nodeset_next(set, 0); names && n < set->place_count;
	     n = osp_nodeset_next(set, n + 1))
		names[count++] = part->cloud->nodes[n].name;
	list = names ? osp_hostlist_compact(names, count) : NULL;
	free(names);
	if (!list)
		part->diagnosis->findings->failed = true;
	return list;
}

/* --- calls ------------------------------------------------------------------------------------ */

void osp_rule_cloud_calls(struct osp_diagnosis *diagnosis)
{
	const struct osp_cloud_facts *cloud = diagnosis->facts->cloud;

	for (size_t i = 0; i < cloud->call_count; i++) {
		const struct osp_cloud_call *call = &cloud->calls[i];

		osp_find(diagnosis, call->for_places ? OSP_DOCTOR_WRONG : OSP_DOCTOR_WARNING,
			 "%s%s", call->error,
			 call->for_places ? ": no node gets a place from EC2"
					  : "; what depends on it was not looked at");
		osp_cure(diagnosis,
			 "see that the host may call ec2:%s (man onespine, doctor --cloud, lists "
			 "all "
			 "actions)",
			 call->action);
	}
}

void osp_rule_cloud_nodes(struct osp_diagnosis *diagnosis)
{
	const struct osp_cloud_facts *cloud = diagnosis->facts->cloud;
	struct part part = {diagnosis, cloud, NULL, osp_nodeset_new(cloud->node_count)};
	char *list = NULL;

	if (!cloud->instances_known) {
		free(part.nodes);
		return;
	}
	for (uint32_t i = 0; part.nodes && i < cloud->node_count; i++) {
		if (!cloud->nodes[i].instance_id[0])
			osp_nodeset_add(part.nodes, i);
	}
	if (part.nodes && !osp_nodeset_empty(part.nodes))
		list = list_nodes(&part, part.nodes);
	if (list) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "EC2 knows no running instance of this account and region for %s", list);
		osp_cure(diagnosis, "if these are instances, see that AWS_REGION and the role are "
				    "those of the nodes' account");
	}
	free(list);
	free(part.nodes);
}

/* --- EFA -------------------------------------------------------------------------------------- */

static bool opens(const struct osp_cloud_facts *cloud, const char *group, bool egress)
{
	for (size_t i = 0; i < cloud->open_count; i++) {
		const struct osp_cloud_open *open = &cloud->opens[i];

		if (open->egress == egress && !strcmp(open->group, group) &&
		    !strcmp(open->peer, group))
			return true;
	}
	return false;
}

static bool has_group(const struct osp_cloud_interface *interface, const char *group)
{
	for (size_t i = 0; i < interface->group_count; i++) {
		if (!strcmp(interface->groups[i], group))
			return true;
	}
	return false;
}

/* Finds an EFA interface of the partition without the group (NULL: any interface). */
static const struct osp_cloud_interface *find_interface(const struct part *part,
							const char *without)
{
	for (size_t i = 0; i < part->cloud->interface_count; i++) {
		const struct osp_cloud_interface *interface = &part->cloud->interfaces[i];

		if (osp_nodeset_test(part->nodes, interface->node) &&
		    (!without || !has_group(interface, without)))
			return interface;
	}
	return NULL;
}

/* Says what each group of an interface does not allow: "sg-1 does not let all its own traffic
 * out". */
static void add_lacks(const struct part *part, const struct osp_cloud_interface *first,
		      struct osp_text *text)
{
	for (size_t i = 0; i < first->group_count; i++) {
		const char *group = first->groups[i];
		bool in = opens(part->cloud, group, false), out = opens(part->cloud, group, true);
		const struct osp_cloud_interface *other = find_interface(part, group);

		osp_text_add(text, i ? "; " : "");
		if (!in || !out)
			osp_text_printf(text, "%s does not let all its own traffic %s", group,
					in    ? "out"
					: out ? "in"
					      : "in or out");
		else if (other)
			osp_text_printf(text, "%s is not on all EFA interfaces of %s", group,
					part->cloud->nodes[other->node].name);
	}
}

/* Reports the nodes of the partition without an EFA interface, if others have one. */
static void judge_interfaces(const struct part *part)
{
	struct osp_nodeset *without = osp_nodeset_copy(part->nodes);
	char *list = NULL;

	for (size_t i = 0; without && i < part->cloud->interface_count; i++)
		osp_nodeset_remove(without, part->cloud->interfaces[i].node);
	if (without && !osp_nodeset_empty(without))
		list = list_nodes(part, without);
	if (list) {
		osp_find(part->diagnosis, OSP_DOCTOR_WRONG,
			 "partition %s: %s %s no EFA interface, others have: a job on both falls "
			 "back "
			 "to TCP or fails",
			 part->name, list, osp_nodeset_count(without) == 1 ? "has" : "have");
		osp_cure(part->diagnosis,
			 "start these instances with EFA interfaces, or give them a "
			 "partition of their own");
	}
	free(list);
	free(without);
}

static void judge_groups(const struct part *part)
{
	const struct osp_cloud_interface *first = find_interface(part, NULL);
	struct osp_text lacks = OSP_TEXT_INIT;

	for (size_t i = 0; i < first->group_count; i++) {
		if (opens(part->cloud, first->groups[i], false) &&
		    opens(part->cloud, first->groups[i], true) &&
		    !find_interface(part, first->groups[i]))
			return;
	}
	add_lacks(part, first, &lacks);
	osp_find(part->diagnosis, OSP_DOCTOR_WRONG,
		 "partition %s: no security group lets EFA traffic pass between all its nodes: %s",
		 part->name, lacks.failed || !lacks.data ? "none is known" : lacks.data);
	osp_cure(part->diagnosis,
		 "one group on every EFA interface, with a rule in and a rule out that allow all "
		 "traffic of this very group (rules for addresses do not count)");
	osp_text_free(&lacks);
}

static void judge_efa(const struct part *part)
{
	if (!find_interface(part, NULL))
		return;
	judge_interfaces(part);
	if (part->cloud->opens_known)
		judge_groups(part);
}

void osp_rule_cloud_efa(struct osp_diagnosis *diagnosis)
{
	if (diagnosis->facts->cloud->interfaces_known)
		each_part(diagnosis, judge_efa);
}

/* --- places of instances ---------------------------------------------------------------------- */

typedef const char *value_f(const struct osp_cloud_node *node);

static const char *zone_of(const struct osp_cloud_node *node)
{
	return node->zone;
}

static const char *placement_of(const struct osp_cloud_node *node)
{
	return node->capacity_block ? "a capacity block" : node->placement;
}

/* Returns the nodes of the partition with the same value as `like`. */
static struct osp_nodeset *nodes_like(const struct part *part, value_f *value, uint32_t like)
{
	const struct osp_cloud_node *nodes = part->cloud->nodes;
	struct osp_nodeset *set = osp_nodeset_new(part->nodes->place_count);

	for (uint32_t n = osp_nodeset_next(part->nodes, 0); set && n < part->nodes->place_count;
	     n = osp_nodeset_next(part->nodes, n + 1)) {
		if (!strcmp(value(&nodes[n]), value(&nodes[like])))
			osp_nodeset_add(set, n);
	}
	part->diagnosis->findings->failed = part->diagnosis->findings->failed || !set;
	return set;
}

/* Writes "us-west-2a has gpu-[1-2], us-west-2b has gpu-3"; returns the number of values. */
static size_t add_values(const struct part *part, value_f *value, struct osp_text *text)
{
	struct osp_nodeset *rest = osp_nodeset_copy(part->nodes);
	size_t count = 0;

	while (rest && !osp_nodeset_empty(rest)) {
		uint32_t first = osp_nodeset_next(rest, 0);
		struct osp_nodeset *like = nodes_like(part, value, first);
		char *list = like ? list_nodes(part, like) : NULL;
		const char *word = value(&part->cloud->nodes[first]);

		if (!list) {
			free(like);
			break;
		}
		osp_text_printf(text, "%s%s has %s", count++ ? ", " : "", *word ? word : "none",
				list);
		osp_nodeset_and_not(rest, like);
		free(list);
		free(like);
	}
	free(rest);
	return count;
}

static void judge_zones(const struct part *part)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (add_values(part, zone_of, &text) > 1 && !text.failed) {
		osp_find(
			part->diagnosis, OSP_DOCTOR_WARNING,
			"partition %s lies in several zones: %s; no gang goes across zones, so one "
			"that is larger than the largest zone is refused",
			part->name, text.data);
		osp_cure(part->diagnosis, "give each zone's subnets a partition of their own");
	}
	osp_text_free(&text);
}

void osp_rule_cloud_zones(struct osp_diagnosis *diagnosis)
{
	each_part(diagnosis, judge_zones);
}

static void judge_placement(const struct part *part)
{
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t first = osp_nodeset_next(part->nodes, 0);
	size_t count = add_values(part, placement_of, &text);

	if (!find_interface(part, NULL) || text.failed || !count) {
		osp_text_free(&text);
		return;
	}
	if (count > 1) {
		osp_find(
			part->diagnosis, OSP_DOCTOR_WARNING,
			"partition %s: its instances with EFA are in several placement groups: %s; "
			"EC2 keeps only those of one group near each other",
			part->name, text.data);
		osp_cure(part->diagnosis, "one cluster placement group for the partition");
	} else if (!*placement_of(&part->cloud->nodes[first])) {
		osp_find(part->diagnosis, OSP_DOCTOR_WARNING,
			 "partition %s: its instances with EFA are in no placement group, so EC2 "
			 "may "
			 "start them far from each other",
			 part->name);
		osp_cure(part->diagnosis,
			 "a cluster placement group (in ParallelCluster: Networking, "
			 "PlacementGroup, Enabled: true), or a capacity block");
	}
	osp_text_free(&text);
}

void osp_rule_cloud_placement(struct osp_diagnosis *diagnosis)
{
	const struct osp_cloud_facts *cloud = diagnosis->facts->cloud;

	if (cloud->interfaces_known)
		each_part(diagnosis, judge_placement);
	for (size_t i = 0; i < cloud->placement_count; i++) {
		if (!strcmp(cloud->placements[i].strategy, "cluster"))
			continue;
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "placement group %s has the strategy %s, which keeps instances apart",
			 cloud->placements[i].name, cloud->placements[i].strategy);
		osp_cure(diagnosis, "a placement group with the strategy cluster");
	}
}

/* --- reservations ----------------------------------------------------------------------------- */

static const char *reservation_of(const struct osp_cloud_node *node)
{
	return node->reservation;
}

static const struct osp_cloud_reservation *find_reservation(const struct osp_cloud_facts *cloud,
							    const char *id)
{
	for (size_t i = 0; i < cloud->reservation_count; i++) {
		if (!strcmp(cloud->reservations[i].id, id))
			return &cloud->reservations[i];
	}
	return NULL;
}

/* Reports nodes outside any reservation if others of the partition run in one. */
static void judge_outside(const struct part *part)
{
	struct osp_nodeset *outside = osp_nodeset_new(part->nodes->place_count);
	const struct osp_cloud_node *nodes = part->cloud->nodes;
	const char *id = "";
	char *list = NULL;

	for (uint32_t n = osp_nodeset_next(part->nodes, 0); outside && n < outside->place_count;
	     n = osp_nodeset_next(part->nodes, n + 1)) {
		if (*reservation_of(&nodes[n]))
			id = reservation_of(&nodes[n]);
		else
			osp_nodeset_add(outside, n);
	}
	if (outside && *id && !osp_nodeset_empty(outside))
		list = list_nodes(part, outside);
	if (list) {
		const struct osp_cloud_reservation *found = find_reservation(part->cloud, id);

		osp_find(part->diagnosis, OSP_DOCTOR_WARNING,
			 "partition %s: %s run%s outside the capacity reservation %s of the "
			 "others%s",
			 part->name, list, osp_nodeset_count(outside) == 1 ? "s" : "", id,
			 found && found->free_count ? ", which has free places that are paid for"
						    : "");
		osp_cure(part->diagnosis, "target the reservation in the launch template (in "
					  "ParallelCluster: CapacityReservationTarget)");
	}
	free(list);
	free(outside);
}

/* Reports nodes that run outside the intended reservations. */
static void judge_meant(struct osp_diagnosis *diagnosis, const char *meant)
{
	const struct osp_cloud_facts *cloud = diagnosis->facts->cloud;
	struct part part = {diagnosis, cloud, NULL, osp_nodeset_new(cloud->node_count)};
	char *list = NULL;

	for (uint32_t i = 0; part.nodes && i < cloud->node_count; i++) {
		const struct osp_cloud_node *node = &cloud->nodes[i];

		if (node->instance_id[0] &&
		    (!*node->reservation || !osp_slurm_list_has(meant, node->reservation, NULL, 0)))
			osp_nodeset_add(part.nodes, i);
	}
	if (part.nodes && !osp_nodeset_empty(part.nodes))
		list = list_nodes(&part, part.nodes);
	if (list) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG, "%s: not in the capacity reservation %s",
			 list, meant);
		osp_cure(diagnosis, "target it in the launch template, and start these instances "
				    "again");
	}
	free(list);
	free(part.nodes);
}

void osp_rule_cloud_reservations(struct osp_diagnosis *diagnosis)
{
	const struct osp_cloud_facts *cloud = diagnosis->facts->cloud;

	if (cloud->meant)
		judge_meant(diagnosis, cloud->meant);
	else
		each_part(diagnosis, judge_outside);
	for (size_t i = 0; i < cloud->reservation_count; i++) {
		const struct osp_cloud_reservation *reservation = &cloud->reservations[i];

		if (*reservation->state && strcmp(reservation->state, "active") != 0) {
			osp_find(diagnosis, OSP_DOCTOR_WARNING, "capacity reservation %s is %s",
				 reservation->id, reservation->state);
			osp_cure(diagnosis, "renew it, or expect no instance from it");
		}
		if (!strcmp(reservation->match, "open")) {
			osp_find(diagnosis, OSP_DOCTOR_WARNING,
				 "capacity reservation %s is open: any instance of its type that "
				 "this "
				 "account starts takes a place of it",
				 reservation->id);
			osp_cure(diagnosis,
				 "make it targeted (instance match criteria), and target it "
				 "in the launch template");
		}
	}
}

/* --- storage ---------------------------------------------------------------------------------- */

static void judge_storage(const struct part *part)
{
	for (size_t i = 0; i < part->cloud->storage_count; i++) {
		const struct osp_cloud_storage *storage = &part->cloud->storages[i];
		uint32_t away = 0, count = osp_nodeset_count(part->nodes);

		for (uint32_t n = osp_nodeset_next(part->nodes, 0); n < part->nodes->place_count;
		     n = osp_nodeset_next(part->nodes, n + 1))
			away += *storage->zone && part->cloud->nodes[n].zone[0] &&
				strcmp(part->cloud->nodes[n].zone, storage->zone) != 0;
		if (!away)
			continue;
		osp_find(part->diagnosis, OSP_DOCTOR_WARNING,
			 "partition %s: %u of %u node%s %s not in zone %s, where the file system "
			 "of %s is: each read crosses zones, which is slower and is paid for",
			 part->name, away, count, osp_plural_s(count), away == 1 ? "is" : "are",
			 storage->zone, storage->mount);
		osp_cure(part->diagnosis, "a file system in the zone of the nodes");
	}
}

void osp_rule_cloud_storage(struct osp_diagnosis *diagnosis)
{
	each_part(diagnosis, judge_storage);
}
