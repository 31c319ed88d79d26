/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ib_units.c - finds the units of an InfiniBand fabric and builds the topology
 *
 * A node is under one leaf for each of its rails, and links are missing in every large fabric, so
 * neither "one leaf per node" nor "the same children" finds what belongs together. Connected
 * components do: leaves that share a host are one unit, the level "leaf"; switches next above them
 * that share a unit are one spine; and so on, until one domain is above all. A domain is named by
 * the lowest GUID of its switches, so an unchanged fabric gives an unchanged file.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/topology/ib_fabric.h"
#include "lib/topology/name_map.h"
#include "lib/base/text.h"

#define NO_LEVEL 0 /* a switch without a host below it */

/*
 * A spine has many leaves, each with far more hosts than a server or two. Both figures are chosen:
 * with 1 or 2 servers on a spine, 3 leaves of 4 to 8 nodes are enough to recognise it, and small
 * meshes stay leaves.
 */
#define BUSIER_FACTOR	  4
#define BUSIER_NEIGHBOURS 3

/* Scratch, by device. */
struct units {
	struct osp_import *import;
	struct osp_error *error;
	struct osp_ib_fabric *fabric;
	uint32_t *level;     /* a switch's, from 1 */
	uint32_t *component; /* union-find: leads to the device that represents the domain */
	uint32_t *hosts;     /* adapters with a host, by switch */
	uint32_t *busier;    /* neighbours with at least BUSIER_FACTOR times as many */
	uint32_t *parent;    /* of a domain's first device: some switch of the domain above */
	uint32_t *leaf_of;   /* by host: a leaf, or OSP_IB_NO_DEVICE */
	uint32_t *domain;    /* the builder's number, by a component's device */
	uint32_t level_count;
	struct osp_builder *builder;
};

static int take_memory(struct units *units)
{
	size_t devices = (size_t)units->fabric->device_count + 1;
	size_t hosts = (size_t)units->fabric->host_count + 1;

	units->level = calloc(devices, sizeof(uint32_t));
	units->component = calloc(devices, sizeof(uint32_t));
	units->hosts = calloc(devices, sizeof(uint32_t));
	units->busier = calloc(devices, sizeof(uint32_t));
	units->parent = calloc(devices, sizeof(uint32_t));
	units->domain = calloc(devices, sizeof(uint32_t));
	units->leaf_of = calloc(hosts, sizeof(uint32_t));
	if (!units->level || !units->component || !units->hosts || !units->busier ||
	    !units->parent || !units->domain || !units->leaf_of)
		return osp_import_no_memory(units->error);
	memset(units->parent, 0xff, devices * sizeof(uint32_t));
	memset(units->leaf_of, 0xff, hosts * sizeof(uint32_t));
	for (uint32_t i = 0; i < units->fabric->device_count; i++)
		units->component[i] = i;
	return 0;
}

static void give_memory_back(struct units *units)
{
	free(units->level);
	free(units->component);
	free(units->hosts);
	free(units->busier);
	free(units->parent);
	free(units->domain);
	free(units->leaf_of);
	osp_builder_free(units->builder);
}

/* --- components ------------------------------------------------------------------------------- */

static uint32_t find(struct units *units, uint32_t device)
{
	uint32_t *component = units->component;

	while (component[device] != device) {
		component[device] = component[component[device]];
		device = component[device];
	}
	return device;
}

static bool has_lower_name(const struct units *units, uint32_t a, uint32_t b)
{
	return strcmp(units->fabric->devices[a].name, units->fabric->devices[b].name) < 0;
}

/* Unites two devices under the one with the lowest GUID. */
static void unite(struct units *units, uint32_t a, uint32_t b)
{
	a = find(units, a);
	b = find(units, b);
	if (a == b)
		return;
	if (has_lower_name(units, a, b))
		units->component[b] = a;
	else
		units->component[a] = b;
}

/* --- leaves ----------------------------------------------------------------------------------- */

typedef void link_f(struct units *units, uint32_t from, uint32_t to);

/*
 * Compares links by their ends. Each pair of neighbours is kept once: sweeps report links from both
 * ends, and there are parallel ones.
 */
static int by_ends(const void *a, const void *b)
{
	const struct osp_ib_link *first = a, *second = b;

	if (first->from != second->from)
		return first->from < second->from ? -1 : 1;
	return (first->to > second->to) - (first->to < second->to);
}

static void drop_repeated_links(struct osp_ib_fabric *fabric)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < fabric->link_count; i++) {
		struct osp_ib_link *link = &fabric->links[i];

		if (link->from > link->to)
			*link = (struct osp_ib_link){link->to, link->from};
	}
	qsort(fabric->links, fabric->link_count, sizeof(*fabric->links), by_ends);
	for (uint32_t i = 0; i < fabric->link_count; i++) {
		if (!kept || by_ends(&fabric->links[kept - 1], &fabric->links[i]))
			fabric->links[kept++] = fabric->links[i];
	}
	fabric->link_count = kept;
}

/* Calls the function for each link, both ways. */
static void for_links(struct units *units, link_f *call)
{
	for (uint32_t i = 0; i < units->fabric->link_count; i++) {
		const struct osp_ib_link *link = &units->fabric->links[i];

		call(units, link->from, link->to);
		call(units, link->to, link->from);
	}
}

static bool is_switch(const struct units *units, uint32_t device)
{
	return units->fabric->devices[device].type == OSP_IB_SWITCH;
}

static void count_hosts(struct units *units, uint32_t from, uint32_t to)
{
	if (is_switch(units, from) && units->fabric->devices[to].host != OSP_IB_NO_HOST)
		units->hosts[from]++;
}

static void count_busier(struct units *units, uint32_t from, uint32_t to)
{
	if (is_switch(units, from) && is_switch(units, to) && units->hosts[from] &&
	    units->hosts[to] >= BUSIER_FACTOR * units->hosts[from])
		units->busier[from]++;
}

/*
 * Finds the leaves: a switch with a host is a leaf, unless several busier ones are its neighbours;
 * then it is a spine, and its hosts are subnet managers or storage servers.
 */
static void find_leaves(struct units *units)
{
	for_links(units, count_hosts);
	for_links(units, count_busier);
	for (uint32_t i = 0; i < units->fabric->device_count; i++) {
		if (is_switch(units, i) && units->hosts[i] && units->busier[i] < BUSIER_NEIGHBOURS)
			units->level[i] = 1;
	}
}

static void join_leaf(struct units *units, uint32_t from, uint32_t to)
{
	uint32_t host = units->fabric->devices[to].host;

	if (units->level[from] != 1 || host == OSP_IB_NO_HOST)
		return;
	if (units->leaf_of[host] == OSP_IB_NO_DEVICE)
		units->leaf_of[host] = from;
	unite(units, units->leaf_of[host], from);
}

/* --- what is above ---------------------------------------------------------------------------- */

static void reach(struct units *units, uint32_t from, uint32_t to)
{
	if (units->level[from] == units->level_count && units->level[to] == NO_LEVEL &&
	    is_switch(units, to))
		units->level[to] = units->level_count + 1;
}

/* Unites a switch of the new level with every other one above the same domain. */
static void join_above(struct units *units, uint32_t from, uint32_t to)
{
	uint32_t below;

	if (units->level[from] != units->level_count || units->level[to] != units->level_count + 1)
		return;
	below = find(units, from);
	if (units->parent[below] == OSP_IB_NO_DEVICE)
		units->parent[below] = to;
	unite(units, units->parent[below], to);
}

static uint32_t count_domains(struct units *units, uint32_t level)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < units->fabric->device_count; i++)
		count += units->level[i] == level && find(units, i) == i;
	return count;
}

/*
 * Adds levels as long as they join domains; always adds a spine if there is one, so that the level
 * "spine" exists.
 */
static void climb(struct units *units)
{
	uint32_t below = count_domains(units, 1), here;

	units->level_count = below ? 1 : 0;
	while (units->level_count && units->level_count < OSP_IMPORT_LAYERS_MAX) {
		for_links(units, reach);
		here = count_domains(units, units->level_count + 1);
		if (!here)
			return;
		for_links(units, join_above);
		here = count_domains(units, units->level_count + 1);
		if (units->level_count > 1 && here >= below)
			return;
		units->level_count++;
		if (here == 1)
			return;
		below = here;
	}
}

/* --- building --------------------------------------------------------------------------------- */

static int start_builder(struct units *units)
{
	const struct osp_import_options *options = &units->import->options;
	const char *names[OSP_LEVELS_MAX];

	if (osp_import_check_levels(units->import, units->level_count, units->error))
		return -1;
	for (uint32_t level = 1; level <= units->level_count; level++)
		names[level - 1] = options->level_names ? options->level_names[level - 1]
							: osp_default_level_name(level);
	units->builder = osp_builder_new(names, units->level_count, units->error);
	return units->builder ? 0 : -1;
}

static int add_domains(struct units *units)
{
	for (uint32_t i = 0; i < units->fabric->device_count; i++) {
		const struct osp_ib_device *device = &units->fabric->devices[i];

		if (!units->level[i] || units->level[i] > units->level_count || find(units, i) != i)
			continue;
		units->domain[i] = osp_builder_domain(units->builder, units->level[i], device->name,
						      &device->place, units->error);
		if (units->domain[i] == OSP_NO_DOMAIN)
			return -1;
	}
	return 0;
}

static int nest_domains(struct units *units)
{
	for (uint32_t i = 0; i < units->fabric->device_count; i++) {
		uint32_t above = units->parent[i];

		if (!units->level[i] || units->level[i] >= units->level_count ||
		    find(units, i) != i || above == OSP_IB_NO_DEVICE)
			continue;
		if (osp_builder_nest(units->builder, units->domain[i],
				     units->domain[find(units, above)],
				     &units->fabric->devices[i].place, units->error))
			return -1;
	}
	return 0;
}

static int add_nodes(struct units *units)
{
	const struct osp_node_note note = {units->import->source, "", 0};
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < units->fabric->host_count; i++) {
		const struct osp_ib_host *host = &units->fabric->hosts[i];
		uint32_t leaf = units->leaf_of[i];

		if (leaf == OSP_IB_NO_DEVICE) {
			left_out += !host->ambiguous;
			continue;
		}
		if (osp_builder_node(units->builder, host->name, units->domain[find(units, leaf)],
				     &host->place, units->error) ||
		    (note.source && osp_builder_note(units->builder, host->name, &note,
						     &host->place, units->error)))
			return -1;
	}
	if (!left_out)
		return 0;
	return osp_import_warn(
		units->import, units->error,
		"%u host%s only on switches above the leaves, as subnet managers and "
		"storage are; left out",
		left_out, left_out == 1 ? " is" : "s are");
}

/* Says why no switch has a host: there is no map, or the first word of it that names no adapter. */
static void refuse_nameless(const struct units *units)
{
	const struct osp_name_map *map = units->import->options.map;
	const char *id, *node;

	if (!map || units->fabric->host_count) {
		osp_error_set(units->error,
			      map ? "no switch of this fabric has a host of the map"
				  : "no switch of this fabric has a host that is known by name; a "
				    "map by GUID (--nodes) names them");
		return;
	}
	for (uint32_t i = 0; osp_name_map_entry(map, i, &id, &node); i++) {
		if (!strcmp(id, node) || osp_is_guid(id))
			continue;
		osp_error_at(units->error, osp_name_map_file(map), osp_name_map_find(map, id)->line,
			     0,
			     "no adapter of this fabric is in this map; '%.64s' is neither a GUID, "
			     "as e09d:7303:0085:8d88 or 0xe09d730300858d88, nor the host of an "
			     "adapter",
			     id);
		return;
	}
	osp_error_at(units->error, osp_name_map_file(map), 0, 0,
		     "no adapter of this fabric is in this map, neither by its GUID nor by its "
		     "host's name");
}

static struct osp_topology *build(struct units *units)
{
	drop_repeated_links(units->fabric);
	find_leaves(units);
	if (osp_ib_report_rails(units->import, units->level, units->error))
		return NULL;
	for_links(units, join_leaf);
	climb(units);
	if (!units->level_count) {
		refuse_nameless(units);
		return NULL;
	}
	if (start_builder(units) || add_domains(units) || nest_domains(units) || add_nodes(units))
		return NULL;
	return osp_builder_finish(units->builder, false, units->error);
}

/* Checks that every linked device has an entry of its own; otherwise the text is cut off. */
static int check_whole(const struct osp_import *import, struct osp_error *error)
{
	const struct osp_ib_fabric *fabric = import->ib;

	if (!fabric->link_count)
		return osp_error_at(error, fabric->devices[0].place.file, 0, 0,
				    "no link between %u device%s: the port that swept is down, or "
				    "this is a list (-l, -H, -S)",
				    fabric->device_count, osp_plural_s(fabric->device_count));
	for (uint32_t i = 0; i < fabric->device_count && !import->options.allow_missing; i++) {
		const struct osp_ib_device *device = &fabric->devices[i];

		if (!device->listed)
			return osp_error_at(error, device->place.file, device->place.line, 0,
					    "%s '%.64s' is linked but has no entry of its own: the "
					    "output is cut%s",
					    device->name, device->description,
					    import->source ? ""
							   : "; --allow-missing keeps the rest");
	}
	return 0;
}

struct osp_topology *osp_ib_build(struct osp_import *import, struct osp_error *error)
{
	struct units units = {.import = import, .error = error, .fabric = import->ib};
	struct osp_topology *topology = NULL;

	if (check_whole(import, error) || osp_ib_name_hosts(import, error))
		return NULL;
	if (!take_memory(&units))
		topology = build(&units);
	give_memory_back(&units);
	return topology;
}
