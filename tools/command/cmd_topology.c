/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_topology.c - `onespine topology show` and `check` */
#include "tools/command/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hostlist.h"
#include "lib/policy/sentences.h"
#include "host/files.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/fabric.h"
#include "tools/command/topology_nodes.h"

/* Longer lists are cut on a terminal; --json has them whole. */
#define LIST_COLUMNS_MAX 60

/* Returns a compact list of the nodes [first, first + count) by rank; NULL if memory ran out. */
static char *list_of_ranks(const struct osp_topology *topology, uint32_t first, uint32_t count)
{
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	char *list;
	uint32_t i;

	if (!names)
		return NULL;
	for (i = 0; i < count; i++)
		names[i] = osp_topology_node_name(topology,
						  osp_topology_node_at_rank(topology, first + i));
	list = osp_hostlist_compact(names, count);
	free(names);
	return list;
}

/* Returns a compact list of the nodes without a domain at `level`; "" if there are none. */
static char *list_of_unknown(const struct osp_topology *topology, uint32_t level, uint32_t *count)
{
	uint32_t node_count = osp_topology_node_count(topology);
	const char **names = calloc((size_t)node_count + 1, sizeof(*names));
	char *list;
	uint32_t node;

	*count = 0;
	if (!names)
		return NULL;
	for (node = 0; node < node_count; node++)
		if (osp_topology_domain_of(topology, node, level) == OSP_NO_DOMAIN)
			names[(*count)++] = osp_topology_node_name(topology, node);
	list = osp_hostlist_compact(names, *count);
	free(names);
	return list;
}

/* --- show ------------------------------------------------------------------------------------- */

static const char *name_of_parent(const struct osp_topology *topology,
				  const struct osp_domain *domain)
{
	return domain->parent == OSP_NO_DOMAIN
		       ? ""
		       : osp_topology_domain(topology, domain->parent)->name;
}

struct widths {
	int name;
	int parent;
};

static void widen(int *width, const char *word)
{
	int length = (int)strlen(word);

	if (length > *width)
		*width = length;
}

static int show_domain(const struct osp_topology *topology, uint32_t number,
		       const struct widths *widths, struct osp_text *text)
{
	const struct osp_domain *domain = osp_topology_domain(topology, number);
	char *list = list_of_ranks(topology, domain->first_rank, domain->node_count);
	bool cut = list && isatty(STDOUT_FILENO) && strlen(list) > LIST_COLUMNS_MAX;

	if (!list)
		return -1;
	osp_text_printf(text, "  %-*s  ", widths->name, domain->name);
	if (widths->parent)
		osp_text_printf(text, "%-*s  ", widths->parent, name_of_parent(topology, domain));
	osp_text_printf(text, "%6u  %.*s%s\n", domain->node_count, cut ? LIST_COLUMNS_MAX : INT_MAX,
			list, cut ? ".." : "");
	free(list);
	return 0;
}

static int show_level(const struct osp_topology *topology, uint32_t level, struct osp_text *text)
{
	struct widths widths = {0, 0};
	char *unknown;
	uint32_t unknown_count;
	uint32_t first;
	uint32_t count;
	uint32_t i;

	osp_topology_level_domains(topology, level, &first, &count);
	widen(&widths.name, osp_topology_level_name(topology, level));
	for (i = first; i < first + count; i++) {
		const struct osp_domain *domain = osp_topology_domain(topology, i);

		widen(&widths.name, domain->name);
		widen(&widths.parent, name_of_parent(topology, domain));
	}
	if (widths.parent)
		widen(&widths.parent, "in");
	osp_text_printf(text, "\n  %-*s  ", widths.name, osp_topology_level_name(topology, level));
	if (widths.parent)
		osp_text_printf(text, "%-*s  ", widths.parent, "in");
	osp_text_add(text, " nodes\n");
	for (i = first; i < first + count; i++)
		if (show_domain(topology, i, &widths, text) < 0)
			return -1;
	unknown = list_of_unknown(topology, level, &unknown_count);
	if (unknown_count)
		osp_text_printf(text, "  unknown: %s\n", unknown ? unknown : "");
	free(unknown);
	return 0;
}

/* Adds "16 nodes; leaf: 4 of 4, spine: 2 of 8, core: 1 of 16". */
static void summarise(const struct osp_topology *topology, struct osp_text *text)
{
	uint32_t all = osp_topology_node_count(topology);
	uint32_t level;

	osp_text_printf(text, "%u node%s", all, osp_plural_s(all));
	for (level = 1; level <= osp_topology_last_level(topology); level++) {
		const char *name = osp_topology_level_name(topology, level);
		char plural[64];
		uint32_t least = UINT32_MAX;
		uint32_t most = 0;
		uint32_t first;
		uint32_t count;
		uint32_t i;

		osp_topology_level_domains(topology, level, &first, &count);
		for (i = first; i < first + count; i++) {
			uint32_t nodes = osp_topology_domain(topology, i)->node_count;

			least = nodes < least ? nodes : least;
			most = nodes > most ? nodes : most;
		}
		if (count != 1)
			name = osp_sentence_plural(name, plural, sizeof(plural));
		osp_text_printf(text, "%s %s%u %s",
				level == 1					  ? ":"
				: level == osp_topology_level_count(topology) + 1 ? ";"
										  : ",",
				level == osp_topology_level_count(topology) + 1 ? "beside the tree "
										: "",
				count, name);
		if (count && least == most)
			osp_text_printf(text, " of %u", most);
		else if (count)
			osp_text_printf(text, " of %u to %u", least, most);
	}
	osp_text_add(text, "\n");
}

static json_t *domain_to_json(const struct osp_topology *topology, uint32_t number)
{
	const struct osp_domain *domain = osp_topology_domain(topology, number);
	char *list = list_of_ranks(topology, domain->first_rank, domain->node_count);
	json_t *object = json_object();

	json_object_set_new(object, "level",
			    json_string(osp_topology_level_name(topology, domain->level)));
	json_object_set_new(object, "name", osp_json_string(domain->name));
	if (domain->parent != OSP_NO_DOMAIN)
		json_object_set_new(object, "in",
				    osp_json_string(name_of_parent(topology, domain)));
	json_object_set_new(object, "node_count", json_integer(domain->node_count));
	json_object_set_new(object, "nodes", list ? json_string(list) : NULL);
	free(list);
	return object;
}

static json_t *topology_to_json(const struct osp_topology *topology)
{
	json_t *root = json_object();
	json_t *levels = json_array();
	json_t *overlays = json_array();
	json_t *domains = json_array();
	json_t *unknown = json_object();
	uint32_t level;
	uint32_t i;

	for (level = 1; level <= osp_topology_last_level(topology); level++) {
		const char *name = osp_topology_level_name(topology, level);
		uint32_t count;
		char *list = list_of_unknown(topology, level, &count);

		json_array_append_new(osp_topology_is_overlay(topology, level) ? overlays : levels,
				      json_string(name));
		if (count && list)
			json_object_set_new(unknown, name, json_string(list));
		free(list);
	}
	for (i = 0; i < osp_topology_listed_domains(topology); i++)
		json_array_append_new(domains, domain_to_json(topology, i));
	json_object_set_new(root, "node_count", json_integer(osp_topology_node_count(topology)));
	json_object_set_new(root, "levels", levels);
	if (json_array_size(overlays))
		json_object_set(root, "overlays", overlays);
	json_decref(overlays);
	json_object_set_new(root, "domains", domains);
	json_object_set_new(root, "unknown", unknown);
	return root;
}

int osp_run_topology_show(const struct osp_call *call)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_topology *topology;
	char *path = NULL;
	uint32_t level;
	int status = OSP_EXIT_YES;

	if (call->argument_count) {
		path = strdup(call->arguments[0]);
		topology = osp_topology_load(call->arguments[0], &error);
	} else {
		topology = osp_topology_in_force(&path, &error);
	}
	if (!topology || !path) {
		osp_topology_free(topology);
		free(path);
		return osp_say_error(&error);
	}
	if (call->values[OSP_OPTION_SHOW_NODES]) {
		status = osp_show_topology_nodes(topology, path, call->values[OSP_OPTION_JSON]);
	} else if (call->values[OSP_OPTION_JSON]) {
		status = osp_print_json(topology_to_json(topology), OSP_EXIT_YES);
	} else {
		summarise(topology, &text);
		for (level = osp_topology_level_count(topology); level > 0; level--)
			if (show_level(topology, level, &text) < 0)
				text.failed = true;
		for (level = osp_topology_level_count(topology) + 1;
		     level <= osp_topology_last_level(topology); level++)
			if (show_level(topology, level, &text) < 0)
				text.failed = true;
		status = osp_print_text(&text, OSP_EXIT_YES);
	}
	osp_topology_free(topology);
	free(path);
	return status;
}

/* --- check ------------------------------------------------------------------------------------ */

/* The findings of a check. Lists are compact, to be freed, and NULL if Slurm was not asked. */
struct findings {
	char *only_slurm;
	char *only_fabric;
	uint32_t only_slurm_count;
	uint32_t only_fabric_count;
	uint32_t slurm_nodes;
	char not_asked[OSP_ERROR_TEXT_BYTES];
};

static int compare_with_slurm(const struct osp_topology *topology,
			      const struct osp_snapshot *snapshot, struct findings *findings)
{
	uint32_t fabric_nodes = osp_topology_node_count(topology);
	const char **names =
		calloc((size_t)fabric_nodes + snapshot->node_count + 1, sizeof(*names));
	uint32_t i;

	if (!names)
		return -1;
	findings->slurm_nodes = snapshot->node_count;
	for (i = 0; i < snapshot->node_count; i++)
		if (osp_topology_find_node(topology, snapshot->nodes[i].name) == OSP_NO_NODE)
			names[findings->only_slurm_count++] = snapshot->nodes[i].name;
	findings->only_slurm = osp_hostlist_compact(names, findings->only_slurm_count);
	for (i = 0; i < fabric_nodes; i++) {
		const char *name = osp_topology_node_name(topology, i);

		if (osp_snapshot_find_node(snapshot, name) == OSP_NO_NODE)
			names[findings->only_fabric_count++] = name;
	}
	findings->only_fabric = osp_hostlist_compact(names, findings->only_fabric_count);
	free(names);
	return findings->only_slurm && findings->only_fabric ? 0 : -1;
}

/* Compares with Slurm, if it can be asked; else says why not in not_asked. Returns -1 if memory ran
 * out. */
static int ask_slurm(const struct osp_topology *topology, struct findings *findings)
{
	struct osp_error error = {.text = ""};
	struct osp_snapshot *snapshot;
	int result;

	if (!osp_slurm_configured()) {
		snprintf(findings->not_asked, sizeof(findings->not_asked), "no slurm.conf found");
		return 0;
	}
	osp_progress_begin("asking slurmctld");
	snapshot = osp_cluster_nodes(&error);
	osp_progress_end();
	if (!snapshot) {
		memcpy(findings->not_asked, error.text, sizeof(findings->not_asked));
		return 0;
	}
	result = compare_with_slurm(topology, snapshot, findings);
	osp_snapshot_free(snapshot);
	return result;
}

static int print_findings(const struct osp_topology *topology, const char *path,
			  const struct findings *findings, int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	char name[PATH_MAX];

	osp_text_printf(&text, "%s: ", osp_input_words(path, name, sizeof(name)));
	summarise(topology, &text);
	if (*findings->not_asked)
		osp_text_printf(&text, "not compared with Slurm's nodes: %s\n",
				findings->not_asked);
	else if (!findings->only_slurm_count && !findings->only_fabric_count)
		osp_text_printf(&text, "Slurm has the same %u node%s\n", findings->slurm_nodes,
				osp_plural_s(findings->slurm_nodes));
	if (findings->only_slurm_count)
		osp_text_printf(&text,
				"%u of Slurm's nodes are not in it (no gang gets them): %s\n",
				findings->only_slurm_count, findings->only_slurm);
	if (findings->only_fabric_count)
		osp_text_printf(&text, "%u of its nodes are unknown to Slurm: %s\n",
				findings->only_fabric_count, findings->only_fabric);
	return osp_print_text(&text, status);
}

static int print_findings_json(const struct osp_topology *topology, const char *path,
			       const struct findings *findings, int status)
{
	json_t *root = topology_to_json(topology);

	json_object_set_new(root, "file", osp_json_string(osp_input_name(path)));
	json_object_set_new(root, "right", json_boolean(status == OSP_EXIT_YES));
	if (*findings->not_asked) {
		json_object_set_new(root, "slurm", osp_json_string(findings->not_asked));
	} else {
		json_object_set_new(root, "only_in_slurm", osp_json_string(findings->only_slurm));
		json_object_set_new(root, "only_in_file", osp_json_string(findings->only_fabric));
	}
	return osp_print_json(root, status);
}

/* Loads the named FILE, or the one in force; *path must be freed. */
static struct osp_topology *load(const struct osp_call *call, char **path, struct osp_error *error)
{
	*path = call->argument_count ? strdup(call->arguments[0]) : osp_topology_path(error);
	if (!*path)
		return NULL;
	return call->argument_count ? osp_topology_load(*path, error)
				    : osp_topology_load_in_force(*path, error);
}

int osp_run_topology_check(const struct osp_call *call)
{
	struct findings findings = {.not_asked = ""};
	struct osp_error error = {.text = ""};
	struct osp_topology *topology;
	char *path = NULL;
	int status = OSP_EXIT_YES;

	topology = load(call, &path, &error);
	if (!topology) {
		/* A file that exists and is refused is an answer. */
		status = path && (strcmp(path, "-") == 0 || access(path, R_OK) == 0)
				 ? OSP_EXIT_NO
				 : OSP_EXIT_UNABLE;
		free(path);
		osp_say_error(&error);
		return status;
	}
	if (ask_slurm(topology, &findings) < 0)
		status = osp_say_no_memory();
	else if (findings.only_slurm_count || findings.only_fabric_count)
		status = OSP_EXIT_NO;
	if (status != OSP_EXIT_UNABLE)
		status = (call->values[OSP_OPTION_JSON] ? print_findings_json : print_findings)(
			topology, path, &findings, status);
	free(findings.only_slurm);
	free(findings.only_fabric);
	osp_topology_free(topology);
	free(path);
	return status;
}
