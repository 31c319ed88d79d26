/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hosts.c - a list of hosts in the order of the fabric, for launchers */
#include "onespine_config.h"

#include "host/slurm/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/hostlist.h"
#include "host/output.h"

/* --- the order -------------------------------------------------------------------------------- */

struct host {
	char *name;
	uint32_t place; /* in the list */
	uint32_t rank;	/* in the fabric; OSP_NO_NODE for one that it lacks */
	uint32_t leaf;	/* its domain at level 1, or OSP_NO_DOMAIN */
};

struct collected {
	const struct osp_topology *topology;
	struct host *hosts;
	uint32_t count;
	uint32_t room;
};

static int add_host(const char *name, void *context)
{
	struct collected *all = context;
	struct host *host;
	uint32_t node;

	if (all->count == all->room) {
		uint32_t room = all->room ? 2 * all->room : 64;
		struct host *grown = realloc(all->hosts, room * sizeof(*grown));

		if (!grown)
			return 1;
		all->hosts = grown;
		all->room = room;
	}
	host = &all->hosts[all->count];
	host->name = strdup(name);
	if (!host->name)
		return 1;
	node = osp_topology_find_node(all->topology, name);
	host->place = all->count++;
	host->rank = OSP_NO_NODE;
	host->leaf = OSP_NO_DOMAIN;
	if (node != OSP_NO_NODE) {
		host->rank = osp_topology_rank_of_node(all->topology, node);
		if (osp_topology_level_count(all->topology))
			host->leaf = osp_topology_domain_of(all->topology, node, 1);
	}
	return 0;
}

static int by_string(const void *a, const void *b)
{
	return strcmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static int by_rank(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return osp_name_compare(x->name, y->name);
}

/* Drops names that are there twice; the list is sorted by names. */
static void drop_doubles(struct collected *all)
{
	uint32_t kept = 0, i;

	for (i = 0; i < all->count; i++) {
		if (kept && strcmp(all->hosts[kept - 1].name, all->hosts[i].name) == 0) {
			if (all->hosts[i].place < all->hosts[kept - 1].place)
				all->hosts[kept - 1].place = all->hosts[i].place;
			free(all->hosts[i].name);
		} else {
			all->hosts[kept++] = all->hosts[i];
		}
	}
	all->count = kept;
}

static uint32_t count_changes(const struct collected *all)
{
	uint32_t changes = 0, i;

	for (i = 1; i < all->count; i++)
		changes += all->hosts[i].leaf != all->hosts[i - 1].leaf;
	return changes;
}

static uint32_t sort_and_count(struct collected *all, int (*compare)(const void *, const void *))
{
	qsort(all->hosts, all->count, sizeof(*all->hosts), compare);
	return count_changes(all);
}

/* Gives the names to `hosts`. */
static int take_names(struct collected *all, struct osp_hosts *hosts)
{
	uint32_t i;

	hosts->names = calloc(all->count, sizeof(*hosts->names));
	if (!hosts->names)
		return -1;
	for (i = 0; i < all->count; i++) {
		hosts->names[i] = all->hosts[i].name;
		hosts->unknown_count += all->hosts[i].rank == OSP_NO_NODE;
	}
	hosts->count = all->count;
	all->count = 0;
	return 0;
}

int osp_hosts_order(const struct osp_topology *topology, const char *list, struct osp_hosts *hosts,
		    struct osp_error *error)
{
	struct collected all = {.topology = topology};
	int rc;

	memset(hosts, 0, sizeof(*hosts));
	hosts->topology = topology;
	rc = osp_hostlist_expand(list, add_host, &all, error);
	if (rc > 0)
		osp_error_set(error, "out of memory");
	if (rc == 0 && !all.count)
		rc = osp_error_set(error, "no host in the list");
	if (rc == 0) {
		qsort(all.hosts, all.count, sizeof(*all.hosts), by_string);
		drop_doubles(&all);
		hosts->changes.strings = count_changes(&all);
		hosts->changes.listed = sort_and_count(&all, by_place);
		hosts->changes.fabric = sort_and_count(&all, by_rank);
		if (take_names(&all, hosts) < 0)
			rc = osp_error_set(error, "out of memory");
	}
	while (all.count)
		free(all.hosts[--all.count].name);
	free(all.hosts);
	return rc ? -1 : 0;
}

void osp_hosts_clear(struct osp_hosts *hosts)
{
	while (hosts->count)
		free(hosts->names[--hosts->count]);
	free(hosts->names);
	hosts->names = NULL;
}

/* --- formats ---------------------------------------------------------------------------------- */

int osp_hosts_format(const char *name, struct osp_error *error)
{
	static const char *const names[] = {"plain", "torchrun", "mpirun", "slurm"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	const char *nearest;
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return (int)i;
	nearest = osp_nearest_word(name, names, count);
	return osp_error_set(error, "--format=%.40s: plain, torchrun, mpirun or slurm%s%s%s", name,
			     nearest ? "; did you mean " : "", nearest ? nearest : "",
			     nearest ? "?" : "");
}

static void write_host(const struct osp_hosts *hosts, uint32_t rank, enum osp_hosts_format format,
		       uint32_t tasks, bool with_name, struct osp_text *text)
{
	const char *name = hosts->names[rank];
	uint32_t i;

	switch (format) {
	case OSP_HOSTS_PLAIN:
		osp_text_printf(text, "%s\n", name);
		break;
	case OSP_HOSTS_TORCHRUN:
		osp_text_printf(text, "%s%s--nnodes=%u --node_rank=%u --master_addr=%s\n",
				with_name ? name : "", with_name ? " " : "", hosts->count, rank,
				hosts->names[0]);
		break;
	case OSP_HOSTS_MPIRUN:
	case OSP_HOSTS_SLURM:
		for (i = 0; i < (tasks ? tasks : 1); i++)
			osp_text_printf(text, "%s\n", name);
		break;
	}
}

/* Compares names; a host may call itself by its full name. */
static bool is_host(const char *name, const char *asked)
{
	size_t length = strlen(name);

	return strncasecmp(name, asked, length) == 0 &&
	       (asked[length] == '\0' || asked[length] == '.');
}

bool osp_hosts_write(const struct osp_hosts *hosts, enum osp_hosts_format format, uint32_t tasks,
		     const char *only, struct osp_text *text)
{
	bool found = !only;
	uint32_t i;

	for (i = 0; i < hosts->count; i++) {
		if (only && !is_host(hosts->names[i], only))
			continue;
		found = true;
		write_host(hosts, i, format, tasks, !only, text);
	}
	return found;
}

/* --- advice ----------------------------------------------------------------------------------- */

/* Returns "24.11.5" as 2411. */
static unsigned int release_of(const char *version)
{
	unsigned int major = 0, minor = 0;

	if (!version || sscanf(version, "%u.%u", &major, &minor) != 2 || major > 9999 || minor > 99)
		return 0;
	return major * 100 + minor;
}

static const struct setting {
	const char *plugin;
	const char *name;
	unsigned int since;
} settings[] = {
	{"topology/tree", "SwitchAsNodeRank", 2302},
	{"topology/block", "BlockAsNodeRank", 2511},
};

const char *osp_hosts_advice(const char *plugin, const char *param, const char *version,
			     char *buffer, size_t buffer_bytes)
{
	const struct setting *setting = &settings[0];
	size_t i;

	if (!plugin) {
		snprintf(buffer, buffer_bytes,
			 "with topology/tree, Slurm 23.02 and later have a setting against it: "
			 "TopologyParam=SwitchAsNodeRank");
		return buffer;
	}
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++, setting++)
		if (strcmp(plugin, setting->plugin) == 0)
			break;
	if (i == sizeof(settings) / sizeof(settings[0]))
		snprintf(buffer, buffer_bytes,
			 "Slurm knows no switches here (%s), so it has no setting against it",
			 plugin);
	else if (param && strcasestr(param, setting->name))
		snprintf(buffer, buffer_bytes,
			 "TopologyParam=%s is set, so Slurm's own topology differs from ours",
			 setting->name);
	else if (release_of(version) < setting->since)
		snprintf(buffer, buffer_bytes,
			 "Slurm %s has no setting against it; TopologyParam=%s came with %u.%02u",
			 version ? version : "here", setting->name, setting->since / 100,
			 setting->since % 100);
	else
		snprintf(buffer, buffer_bytes,
			 "Slurm has a setting against it, for slurm.conf: TopologyParam=%s%s%s",
			 param && *param ? param : "", param && *param ? "," : "", setting->name);
	return buffer;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *host_to_json(const struct osp_hosts *hosts, uint32_t rank)
{
	const struct osp_topology *topology = hosts->topology;
	uint32_t node = osp_topology_find_node(topology, hosts->names[rank]);
	json_t *value = json_object();
	uint32_t level;

	json_object_set_new(value, "rank", json_integer(rank));
	json_object_set_new(value, "name", osp_json_string(hosts->names[rank]));
	json_object_set_new(value, "known", json_boolean(node != OSP_NO_NODE));
	for (level = 1; node != OSP_NO_NODE && level <= osp_topology_last_level(topology);
	     level++) {
		uint32_t domain = osp_topology_domain_of(topology, node, level);

		json_object_set_new(
			value, osp_topology_level_name(topology, level),
			domain == OSP_NO_DOMAIN
				? json_null()
				: osp_json_string(osp_topology_domain(topology, domain)->name));
	}
	return value;
}

json_t *osp_hosts_to_json(const struct osp_hosts *hosts, const char *advice)
{
	json_t *root = json_object();
	json_t *array = json_array();
	json_t *changes = json_object();
	uint32_t i;

	for (i = 0; i < hosts->count; i++)
		json_array_append_new(array, host_to_json(hosts, i));
	json_object_set_new(changes, "as_listed", json_integer(hosts->changes.listed));
	json_object_set_new(changes, "sorted_as_strings", json_integer(hosts->changes.strings));
	json_object_set_new(changes, "fabric", json_integer(hosts->changes.fabric));
	json_object_set_new(root, "count", json_integer(hosts->count));
	json_object_set_new(root, "unknown", json_integer(hosts->unknown_count));
	json_object_set_new(root, "hosts", array);
	json_object_set_new(root, "changes", changes);
	json_object_set_new(root, "advice", osp_json_string(advice));
	return root;
}
