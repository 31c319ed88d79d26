/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_topology_nodes.c - `onespine topology show --nodes`: each node's place, its source and its
 * age */
#include "tools/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm/cluster_state.h"
#include "host/slurm/node_list.h"
#include "host/source/apply.h"
#include "lib/base/name_table.h"
#include "lib/base/text.h"
#include "tools/command/topology_nodes.h"

struct nodes {
	const struct osp_topology *topology;
	struct osp_node_list list; /* the nodes of Slurm; none if it was not asked */
	struct osp_name_table by_name;
	bool compared;	  /* compared with Slurm's nodes */
	int64_t *asked_s; /* by node; 0: unknown */
};

static const struct osp_node_note *note_of(const struct nodes *nodes, uint32_t node)
{
	static const struct osp_node_note none = {"", "", 0};
	const struct osp_node_note *note = osp_topology_note(nodes->topology, node);

	return note ? note : &none;
}

/* Returns "holds", why the place does not hold, or what is unknown. */
static const char *age_words(const struct nodes *nodes, uint32_t node)
{
	const struct osp_node_note *note = note_of(nodes, node);
	uint32_t index = osp_name_table_find(&nodes->by_name, 0,
					     osp_topology_node_name(nodes->topology, node));

	if (!osp_place_ages(note))
		return osp_place_age_words(OSP_PLACE_HOLDS);
	if (!osp_place_boot_s(note))
		return "age not known";
	if (!nodes->compared)
		return "not compared";
	if (index == OSP_NAME_ABSENT)
		return "no node of Slurm";
	return osp_place_age_words(
		osp_listed_place_age(nodes->topology, &nodes->list.nodes[index]));
}

/* Adds "leaf l1, spine s1", from the bottom. */
static void add_place(const struct osp_topology *topology, uint32_t node, struct osp_text *text)
{
	const char *separator = "";

	for (uint32_t level = 1; level <= osp_topology_last_level(topology); level++) {
		uint32_t domain = osp_topology_domain_of(topology, node, level);

		if (domain == OSP_NO_DOMAIN)
			continue;
		osp_text_printf(text, "%s%s %s", separator,
				osp_topology_level_name(topology, level),
				osp_topology_domain(topology, domain)->name);
		separator = ", ";
	}
	if (!*separator)
		osp_text_add(text, "-");
}

/* Returns when the node was last asked about; "unknown" if nobody knows it of a place that ages. */
static const char *asked_words(const struct nodes *nodes, uint32_t node, char *when,
			       size_t when_bytes)
{
	if (nodes->asked_s[node])
		return osp_format_time(nodes->asked_s[node], when, when_bytes);
	return osp_place_ages(note_of(nodes, node)) ? "unknown" : "-";
}

static void widen(int *width, const char *word)
{
	if ((int)strlen(word) > *width)
		*width = (int)strlen(word);
}

static const char *word_or_dash(const char *word)
{
	return *word ? word : "-";
}

static int print(const struct nodes *nodes)
{
	const struct osp_topology *topology = nodes->topology;
	uint32_t count = osp_topology_node_count(topology);
	int name = 4, source = 6, instance = 8, age = 5;
	struct osp_text text = OSP_TEXT_INIT;
	char when[32];

	for (uint32_t n = 0; n < count; n++) {
		widen(&name, osp_topology_node_name(topology, n));
		widen(&source, note_of(nodes, n)->source);
		widen(&instance, note_of(nodes, n)->instance_id);
		widen(&age, age_words(nodes, n));
	}
	osp_text_printf(&text, "%-*s  %-*s  %-*s  %-19s  %-*s  in\n", name, "node", source,
			"source", instance, "instance", "asked", age, "place");
	for (uint32_t rank = 0; rank < count; rank++) {
		uint32_t n = osp_topology_node_at_rank(topology, rank);

		osp_text_printf(&text, "%-*s  %-*s  %-*s  %-19s  %-*s  ", name,
				osp_topology_node_name(topology, n), source,
				word_or_dash(note_of(nodes, n)->source), instance,
				word_or_dash(note_of(nodes, n)->instance_id),
				asked_words(nodes, n, when, sizeof(when)), age,
				age_words(nodes, n));
		add_place(topology, n, &text);
		osp_text_add(&text, "\n");
	}
	return osp_print_text(&text, OSP_EXIT_YES);
}

static json_t *node_to_json(const struct nodes *nodes, uint32_t n)
{
	const struct osp_topology *topology = nodes->topology;
	const struct osp_node_note *note = note_of(nodes, n);
	json_t *object = json_object();
	json_t *in = json_object();

	for (uint32_t level = 1; level <= osp_topology_last_level(topology); level++) {
		uint32_t domain = osp_topology_domain_of(topology, n, level);

		if (domain != OSP_NO_DOMAIN)
			json_object_set_new(
				in, osp_topology_level_name(topology, level),
				osp_json_string(osp_topology_domain(topology, domain)->name));
	}
	json_object_set_new(object, "node", osp_json_string(osp_topology_node_name(topology, n)));
	json_object_set_new(object, "source", osp_json_string(*note->source ? note->source : NULL));
	json_object_set_new(object, "instance",
			    osp_json_string(*note->instance_id ? note->instance_id : NULL));
	if (note->boot_s)
		json_object_set_new(object, "boot_s", json_integer(note->boot_s));
	if (nodes->asked_s[n])
		json_object_set_new(object, "asked_s", json_integer(nodes->asked_s[n]));
	else if (osp_place_ages(note))
		json_object_set_new(object, "asked_s", json_null());
	json_object_set_new(object, "place", json_string(age_words(nodes, n)));
	json_object_set_new(object, "in", in);
	return object;
}

static int print_json(const struct nodes *nodes)
{
	json_t *list = json_array();

	for (uint32_t rank = 0; rank < osp_topology_node_count(nodes->topology); rank++)
		json_array_append_new(list, node_to_json(nodes, osp_topology_node_at_rank(
									nodes->topology, rank)));
	return osp_print_json(list, OSP_EXIT_YES);
}

/* Asks Slurm for its nodes, if that is possible. Returns -1 if memory ran out. */
static int compare(struct nodes *nodes)
{
	struct osp_error error = {.text = ""};
	int rc = 0;

	if (!osp_slurm_configured())
		return 0;
	osp_progress_begin("asking slurmctld");
	nodes->compared = !osp_node_list_load(&nodes->list, &error);
	osp_progress_end();
	if (!nodes->compared)
		osp_say_warning("not compared with Slurm's nodes: %s", error.text);
	for (uint32_t i = 0; nodes->compared && !rc && i < nodes->list.count; i++)
		rc = osp_name_table_add(&nodes->by_name, 0, nodes->list.nodes[i].name, i);
	return rc;
}

int osp_show_topology_nodes(const struct osp_topology *topology, const char *path, bool as_json)
{
	struct nodes nodes = {.topology = topology, .by_name = OSP_NAME_TABLE_INIT};
	struct osp_error error = {.text = ""};
	int status;

	nodes.asked_s =
		calloc((size_t)osp_topology_node_count(topology) + 1, sizeof(*nodes.asked_s));
	if (!nodes.asked_s || compare(&nodes))
		status = osp_say_no_memory();
	else if (osp_apply_read_asked(path, topology, nodes.asked_s, &error))
		status = osp_say_error(&error);
	else
		status = as_json ? print_json(&nodes) : print(&nodes);
	osp_node_list_free(&nodes.list);
	osp_name_table_free(&nodes.by_name);
	free(nodes.asked_s);
	return status;
}
