/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_dynamic.c - nodes that nobody wakes, and those that ParallelCluster launches
 *
 * Nobody knows the place of a cloud's node that does not run, so no gang gets it. In a partition
 * whose policy makes gangs of all larger jobs, and launches no nodes for them, none is woken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/conf/clustermgtd.h"
#include "lib/conf/fleet_config.h"
#include "lib/topology/launch_groups.h"
#include "lib/topology/place_age.h"
#include "host/files.h"
#include "tools/setup/doctor.h"

enum { TAG_DYNAMIC, TAG_FOUND };

/* The nodes of a partition while its list is expanded. */
struct dynamic {
	const struct osp_slurm_conf *conf;
	const struct osp_topology *topology;
	struct osp_arena arena; /* the names */
	struct osp_name_table names;
	const char **found;
	size_t found_count;
	bool failed;
};

typedef void line_f(struct dynamic *dynamic, const struct osp_slurm_word *line);

/* Calls `look` for each line of that kind but DEFAULT's. */
static void each_line(struct dynamic *dynamic, const char *key, line_f *look)
{
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(dynamic->conf, &count);

	for (size_t i = 0; i < count; i++) {
		if (words[i].starts_line && !strcasecmp(words[i].key, key) &&
		    strcasecmp(words[i].value, "DEFAULT") != 0)
			look(dynamic, &words[i]);
	}
}

/* --- nodes that come and go ------------------------------------------------------------------- */

/* Adds the name; returns its copy. */
static const char *note_name(struct dynamic *dynamic, int tag, const char *name, bool number)
{
	const char *copy = osp_arena_copy(&dynamic->arena, name, strlen(name));

	if (!copy || osp_name_table_add(&dynamic->names, (uint32_t)tag, copy, number))
		dynamic->failed = true;
	return copy;
}

static int note_excluded(const char *name, void *context)
{
	struct dynamic *dynamic = context;

	if (osp_name_table_find(&dynamic->names, TAG_DYNAMIC, name) == OSP_NAME_ABSENT)
		note_name(dynamic, TAG_DYNAMIC, name, false);
	return 0;
}

/* Returns whether a place of the node is known that stays while it does not run. */
static bool has_lasting_place(const struct dynamic *dynamic, const char *name)
{
	uint32_t node = osp_topology_find_node(dynamic->topology, name);
	const struct osp_node_note *note =
		node == OSP_NO_NODE ? NULL : osp_topology_note(dynamic->topology, node);

	return node != OSP_NO_NODE && !osp_place_ages(note);
}

static int note_dynamic(const char *name, void *context)
{
	struct dynamic *dynamic = context;

	if (osp_name_table_find(&dynamic->names, TAG_DYNAMIC, name) == OSP_NAME_ABSENT &&
	    !has_lasting_place(dynamic, name))
		note_name(dynamic, TAG_DYNAMIC, name, true);
	return 0;
}

static void look_at_nodes(struct dynamic *dynamic, const struct osp_slurm_word *line)
{
	const char *state = osp_slurm_conf_of_node_line(dynamic->conf, line, "State");

	if (state && !strcasecmp(state, "CLOUD"))
		(void)osp_hostlist_expand(line->value, note_dynamic, dynamic, NULL);
}

/* --- partitions ------------------------------------------------------------------------------- */

static int find_dynamic(const char *name, void *context)
{
	struct dynamic *dynamic = context;

	if (osp_name_table_find(&dynamic->names, TAG_DYNAMIC, name) != true ||
	    osp_name_table_find(&dynamic->names, TAG_FOUND, name) != OSP_NAME_ABSENT)
		return 0;
	dynamic->found[dynamic->found_count] = note_name(dynamic, TAG_FOUND, name, true);
	dynamic->found_count += dynamic->found[dynamic->found_count] != NULL;
	return 0;
}

static void find_in_line(struct dynamic *dynamic, const struct osp_slurm_word *line)
{
	(void)osp_hostlist_expand(line->value, find_dynamic, dynamic, NULL);
}

/* Finds those of a partition's Nodes, in which names of NodeSets are allowed. */
static void find_in(struct dynamic *dynamic, const char *list)
{
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(dynamic->conf, &count);

	if (!list)
		return;
	if (!strcasecmp(list, "ALL")) {
		each_line(dynamic, "NodeName", find_in_line);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const char *nodes;

		if (!words[i].starts_line || strcasecmp(words[i].key, "NodeSet") != 0 ||
		    !osp_slurm_list_has(list, words[i].value, NULL, 0))
			continue;
		nodes = osp_slurm_conf_of_line(dynamic->conf, &words[i], "Nodes");
		if (nodes)
			(void)osp_hostlist_expand(nodes, find_dynamic, dynamic, NULL);
	}
	(void)osp_hostlist_expand(list, find_dynamic, dynamic, NULL);
}

static bool wakes_nobody(const struct osp_policy *policy)
{
	return policy->gang_always && policy->mode == OSP_MODE_ENFORCE &&
	       policy->unlaunched == OSP_UNLAUNCHED_WAIT;
}

void osp_doctor_gather_dynamic(struct osp_doctor *doctor, const struct osp_topology *topology)
{
	struct dynamic dynamic = {
		.conf = doctor->conf, .topology = topology, .names = OSP_NAME_TABLE_INIT};
	const char *excluded = osp_slurm_conf_value(doctor->conf, "SuspendExcNodes", "");
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(doctor->conf, &count);
	const char *first = NULL;

	(void)osp_hostlist_expand(excluded, note_excluded, &dynamic, NULL);
	each_line(&dynamic, "NodeName", look_at_nodes);
	dynamic.found = calloc((size_t)doctor->facts.node_count + 1, sizeof(*dynamic.found));
	for (size_t i = 0; dynamic.found && i < count; i++) {
		size_t before = dynamic.found_count;

		if (!words[i].starts_line || strcasecmp(words[i].key, "PartitionName") != 0 ||
		    !wakes_nobody(osp_config_policy(doctor->config, words[i].value)))
			continue;
		find_in(&dynamic, osp_slurm_conf_of_line(doctor->conf, &words[i], "Nodes"));
		if (!first && dynamic.found_count > before)
			first = words[i].value;
	}
	if (first && !dynamic.failed) {
		doctor->facts.asleep = osp_doctor_keep(
			doctor, osp_hostlist_compact(dynamic.found, dynamic.found_count));
		doctor->facts.asleep_partition = first;
	}
	free(dynamic.found);
	osp_arena_free(&dynamic.arena);
	osp_name_table_free(&dynamic.names);
}

/* --- capacity reservations -------------------------------------------------------------------- */

/* Returns why fleet-config.json does not say into which reservation each node is launched; NULL if
 * it does. */
static const char *fleet_unclear(struct osp_doctor *doctor, const char *root, const char *groups)
{
	struct osp_launch_groups read;
	struct osp_error error = {.text = ""};
	char path[4096], *text;
	bool grouped;
	size_t bytes;

	snprintf(path, sizeof(path), "%s" OSP_FLEET_CLUSTER, root);
	text = osp_read_file(path, OSP_FLEET_CONFIG_BYTES_MAX, &bytes);
	grouped = text && strstr(text, OSP_FLEET_GROUP);
	free(text);
	if (grouped)
		return OSP_FLEET_CLUSTER " names a resource group of capacity reservations, and "
					 "fleet-config.json its queue's";
	(void)osp_launch_groups_read(groups, &read, &error);
	osp_launch_groups_free(&read);
	return error.text[0] ? osp_doctor_keep(doctor, strdup(error.text)) : NULL;
}

void osp_doctor_gather_fleet(struct osp_doctor *doctor, const char *root)
{
	struct osp_text groups = OSP_TEXT_INIT;
	struct osp_error ignored = {.text = ""};
	char path[4096], *text, *found;
	int rc = -1;
	size_t bytes;

	if (doctor->config) {
		doctor->facts.launches = osp_config_launches(doctor->config);
		doctor->facts.launch_groups = osp_config_watch(doctor->config)->launch_groups;
	}
	snprintf(path, sizeof(path), "%s" OSP_FLEET_CONFIG, root);
	text = osp_has_clustermgtd(doctor->conf)
		       ? osp_read_file(path, OSP_FLEET_CONFIG_BYTES_MAX, &bytes)
		       : NULL;
	if (text)
		rc = osp_fleet_launch_groups(path, text, bytes, doctor->conf, &groups,
					     &doctor->facts.fleet_several, &ignored);
	free(text);
	osp_text_add(&groups, "");
	found = osp_text_take(&groups);
	for (char *at = found; at && *at; at++) {
		if (*at == '\n')
			*at = at[1] ? ' ' : '\0';
	}
	if (rc || !found) {
		free(found);
		return;
	}
	doctor->facts.fleet_groups = osp_doctor_keep(doctor, found);
	doctor->facts.fleet_unclear = fleet_unclear(doctor, root, doctor->facts.fleet_groups);
	if (doctor->facts.fleet_unclear)
		doctor->facts.fleet_groups = NULL;
}
