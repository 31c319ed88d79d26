/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_build.c - from hosts and their switches to a topology
 *
 * Each switch appears once for every host below it. The first time makes it; later ones must agree
 * on its layer, its zone and what is above it, or the error names both hosts. With allow_missing
 * that is a warning, and the later host is left out. Only then anything is built,
 * with each switch below the nearest switch or zone that any host names.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/name_table.h"
#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/topology/ib_fabric.h"
#include "lib/topology/import_private.h"

#define ZONE_LEVEL  "zone"
#define BLOCK_LEVEL "nvlink"
#define NOBODY	    UINT32_MAX

/* Tags of the table of names; the switches of a CSV's layer l have the tag l. */
enum { TAG_EC2_SWITCH = 0, TAG_BLOCK = OSP_LEVELS_MAX + 1, TAG_ZONE_NAME };

struct wire {
	const char *name;
	uint32_t layer;
	uint32_t host;	      /* the first host that named it */
	uint32_t parent;      /* a wire, or NOBODY */
	uint32_t parent_host; /* the host that named the parent */
	const char *zone;     /* NULL: not given */
	uint32_t zone_host;
	bool crosses;	 /* an UltraServer whose hosts are not under one leaf */
	uint32_t domain; /* the builder's number */
};

/* Hosts that contradict those before them, with allow_missing. */
struct odd {
	uint32_t count;
	uint32_t first; /* the first host, and what is wrong with it */
	char why[OSP_ERROR_TEXT_BYTES];
};

struct build {
	struct osp_import *import;
	struct osp_error *error;
	struct osp_name_table table;
	struct wire *wires; /* switches, and UltraServers in layer 0 */
	uint32_t wire_count;
	uint32_t wire_room;
	uint32_t layer_count;
	bool has_blocks;
	bool beside; /* they cross leaves: an overlay */
	bool has_zones;
	struct odd left_out; /* without a place */
	struct odd cut;	     /* without what is above the switch that others have elsewhere */
	struct odd crossing; /* in an UltraServer that is not under one leaf */
	struct osp_builder *builder;
};

static const struct osp_import_host *host_of(const struct build *build, uint32_t host)
{
	return &build->import->hosts[host];
}

/* Sets the error to a sentence at the place of `host`. */
static int refuse(const struct build *build, uint32_t host, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(const struct build *build, uint32_t host, const char *format, ...)
{
	const struct osp_place_in_file *place = &host_of(build, host)->place;
	char text[OSP_ERROR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return osp_error_at(build->error, place->file, place->line, place->column, "%s", text);
}

/* Writes a host's id and place, "i-1 (page.json:12)". Returns `buffer`. */
static const char *name_and_place(const struct build *build, uint32_t host, char *buffer,
				  size_t buffer_bytes)
{
	char where[OSP_IMPORT_WHERE_BYTES];

	snprintf(buffer, buffer_bytes, "%.64s (%.120s)", host_of(build, host)->id,
		 osp_import_where(&host_of(build, host)->place, where, sizeof(where)));
	return buffer;
}

#define WHO_BYTES 192

/* --- zones ------------------------------------------------------------------------------------ */

/*
 * Returns a host's zone. A zone's name is the account's own, its id is everybody's: the id is used
 * if any host has it.
 */
static const char *zone_of(const struct build *build, const struct osp_import_host *host)
{
	uint32_t reporter;

	if (host->zone_id || !host->zone_name)
		return host->zone_id;
	reporter = osp_name_table_find(&build->table, TAG_ZONE_NAME, host->zone_name);
	return reporter == OSP_NAME_ABSENT ? host->zone_name : host_of(build, reporter)->zone_id;
}

static int learn_zone(struct build *build, uint32_t index)
{
	const struct osp_import_host *host = host_of(build, index);
	char who[WHO_BYTES];
	uint32_t reporter;

	if (!host->nodes || !host->zone_id || !host->zone_name)
		return 0;
	reporter = osp_name_table_find(&build->table, TAG_ZONE_NAME, host->zone_name);
	if (reporter == OSP_NAME_ABSENT)
		return osp_name_table_add(&build->table, TAG_ZONE_NAME, host->zone_name, index)
			       ? osp_import_no_memory(build->error)
			       : 0;
	if (!strcmp(host_of(build, reporter)->zone_id, host->zone_id))
		return 0;
	return refuse(build, index,
		      "zone %.64s is %.64s here and %.64s for %s: these are answers to two "
		      "accounts, whose names do not compare",
		      host->zone_name, host->zone_id, host_of(build, reporter)->zone_id,
		      name_and_place(build, reporter, who, sizeof(who)));
}

/* --- comparing -------------------------------------------------------------------------------- */

static const char *layer_name(const struct build *build, uint32_t layer)
{
	return layer ? osp_import_level_name(build->import, layer) : BLOCK_LEVEL;
}

static int add_wire(struct build *build, uint32_t tag, const char *name, uint32_t layer,
		    uint32_t host)
{
	if (osp_make_room((void **)&build->wires, &build->wire_room, build->wire_count,
			  sizeof(*build->wires)) ||
	    osp_name_table_add(&build->table, tag, name, build->wire_count))
		return osp_import_no_memory(build->error);
	build->wires[build->wire_count++] = (struct wire){.name = name,
							  .layer = layer,
							  .host = host,
							  .parent = NOBODY,
							  .domain = OSP_NO_DOMAIN};
	return 0;
}

static int other_layer(const struct build *build, const struct wire *wire, uint32_t layer,
		       uint32_t host)
{
	char who[WHO_BYTES];

	return refuse(build, host, "network node %.64s is the %s of %.64s but the %s of %s",
		      wire->name, layer_name(build, layer), host_of(build, host)->id,
		      layer_name(build, wire->layer),
		      name_and_place(build, wire->host, who, sizeof(who)));
}

static int other_zone(const struct build *build, const struct wire *wire, const char *zone,
		      uint32_t host)
{
	char who[WHO_BYTES];

	return refuse(build, host,
		      "network node %.64s is in zone %.64s for %.64s but in zone %.64s for %s; two "
		      "zones never share a network node",
		      wire->name, zone, host_of(build, host)->id, wire->zone,
		      name_and_place(build, wire->zone_host, who, sizeof(who)));
}

static int other_parent(const struct build *build, const struct wire *wire, const char *here,
			uint32_t host)
{
	char who[WHO_BYTES];
	const char *there = build->wires[wire->parent].name;

	name_and_place(build, wire->parent_host, who, sizeof(who));
	if (!wire->layer)
		return refuse(build, host,
			      "capacity block %.64s is one UltraServer but under two leaves: %.64s "
			      "is under %.64s and %s under %.64s",
			      wire->name, host_of(build, host)->id, here, who, there);
	return refuse(build, host, "%s %.64s is under %.64s for %.64s but under %.64s for %s",
		      layer_name(build, wire->layer), wire->name, here, host_of(build, host)->id,
		      there, who);
}

static uint32_t tag_of_layer(const struct build *build, uint32_t layer)
{
	return build->import->kind == OSP_IMPORT_EC2 ? (uint32_t)TAG_EC2_SWITCH : layer;
}

/* Checks what a host says of a switch below `above` (NULL: it says nothing) against the others. */
static int check_wire(const struct build *build, uint32_t tag, const char *name, uint32_t layer,
		      const char *above, uint32_t host)
{
	uint32_t index = osp_name_table_find(&build->table, tag, name);
	const char *zone = zone_of(build, host_of(build, host));
	const struct wire *wire;

	if (index == OSP_NAME_ABSENT)
		return 0;
	wire = &build->wires[index];
	if (wire->layer != layer)
		return other_layer(build, wire, layer, host);
	if (zone && wire->zone && strcmp(wire->zone, zone) != 0)
		return other_zone(build, wire, zone, host);
	if (above && wire->parent != NOBODY && strcmp(build->wires[wire->parent].name, above) != 0)
		return other_parent(build, wire, above, host);
	return 0;
}

/* Refuses a switch that is twice above a host. */
static int check_twice(const struct build *build, uint32_t host, uint32_t i)
{
	const struct osp_import_host *h = host_of(build, host);

	for (uint32_t j = i + 1; j < h->switch_count; j++) {
		if (tag_of_layer(build, h->layer + i) == tag_of_layer(build, h->layer + j) &&
		    !strcmp(h->switches[i], h->switches[j]))
			return refuse(build, host, "network node %.64s is at two levels of %.64s",
				      h->switches[i], h->id);
	}
	return 0;
}

static int check_switches(const struct build *build, uint32_t host)
{
	const struct osp_import_host *h = host_of(build, host);
	const char *above = NULL;

	for (uint32_t i = h->switch_count; i-- > 0; above = h->switches[i]) {
		uint32_t layer = h->layer + i;

		if (check_twice(build, host, i) || check_wire(build, tag_of_layer(build, layer),
							      h->switches[i], layer, above, host))
			return -1;
	}
	return 0;
}

/* Checks the block of a host: with `leaf` if it is under one leaf, else if it is in one zone. */
static int check_block(const struct build *build, uint32_t host, bool leaf)
{
	const struct osp_import_host *h = host_of(build, host);

	return h->block ? check_wire(build, TAG_BLOCK, h->block, 0, leaf ? h->switches[0] : NULL,
				     host)
			: 0;
}

/* --- with allow_missing, what contradicts is left out ----------------------------------------- */

static void note_odd(struct odd *odd, uint32_t host, const struct osp_error *why)
{
	if (odd->count++)
		return;
	odd->first = host;
	snprintf(odd->why, sizeof(odd->why), "%s", why->text);
}

/*
 * Ends a host's path below the first switch that others have at another level: answers differ in
 * depth by the type of the instance, and are counted from the leaf.
 */
static void cut_path(struct build *build, uint32_t host)
{
	struct osp_import_host *h = &build->import->hosts[host];

	for (uint32_t i = 0; i < h->switch_count; i++) {
		uint32_t layer = h->layer + i;
		uint32_t index = osp_name_table_find(&build->table, tag_of_layer(build, layer),
						     h->switches[i]);

		if (index == OSP_NAME_ABSENT || build->wires[index].layer == layer)
			continue;
		other_layer(build, &build->wires[index], layer, host);
		note_odd(i ? &build->cut : &build->left_out, host, build->error);
		h->switch_count = i;
	}
}

/* Returns the name of the switch of `layer` above a wire; NULL if no host names it. */
static const char *switch_above(const struct build *build, uint32_t wire, uint32_t layer)
{
	while (wire != NOBODY && build->wires[wire].layer < layer)
		wire = build->wires[wire].parent;
	return wire != NOBODY && build->wires[wire].layer == layer ? build->wires[wire].name : NULL;
}

/* Checks that the UltraServer of a host whose leaf is not known is below the host's switch. */
static int check_block_below(const struct build *build, uint32_t host)
{
	const struct osp_import_host *h = host_of(build, host);
	uint32_t wire = h->block ? osp_name_table_find(&build->table, TAG_BLOCK, h->block)
				 : OSP_NAME_ABSENT;
	const char *above;

	if (wire == OSP_NAME_ABSENT || h->layer == 1)
		return 0;
	above = switch_above(build, wire, h->layer);
	return above && strcmp(above, h->switches[0]) != 0
		       ? refuse(build, host,
				"capacity block %.64s is under %s %.64s for %.64s but under %.64s",
				h->block, layer_name(build, h->layer), h->switches[0], h->id, above)
		       : 0;
}

/* Notes a host whose UltraServer is under another leaf, too. */
static void note_crossing(struct build *build, uint32_t host)
{
	struct osp_error *error = build->error, why = {.text = ""};
	uint32_t index;

	if (host_of(build, host)->layer > 1)
		return;
	build->error = &why;
	if (host_of(build, host)->switch_count && check_block(build, host, true)) {
		note_odd(&build->crossing, host, &why);
		index = osp_name_table_find(&build->table, TAG_BLOCK, host_of(build, host)->block);
		build->wires[index].crosses = true;
	}
	build->error = error;
}

/* Returns whether the host has a place that contradicts nobody's; notes what it leaves out. The
 * UltraServer of one that will run crosses no leaf: it is wrong. */
static bool make_agree(struct build *build, uint32_t host)
{
	struct osp_import_host *h = &build->import->hosts[host];
	struct osp_error *error = build->error, why = {.text = ""};

	build->error = &why;
	cut_path(build, host);
	why = (struct osp_error){.text = ""};
	if (h->switch_count && (check_switches(build, host) || check_block_below(build, host) ||
				(h->reserved && h->layer == 1 && check_block(build, host, true)))) {
		note_odd(&build->left_out, host, &why);
		h->switch_count = 0;
	}
	build->error = error;
	note_crossing(build, host);
	return h->switch_count;
}

static int warn_of(struct build *build, const struct odd *odd, const char *what)
{
	char where[OSP_IMPORT_WHERE_BYTES];

	if (!odd->count)
		return 0;
	return osp_import_warn(
		build->import, build->error, "%s: %.300s; %s",
		osp_import_where(&host_of(build, odd->first)->place, where, sizeof(where)),
		odd->why, what);
}

/* Puts the level nvlink beside the tree if its domains are not inside the leaves; says so. */
static int put_blocks_beside(struct build *build)
{
	uint32_t crossing = 0, blocks = 0;
	char what[128];

	for (uint32_t i = 0; i < build->wire_count; i++) {
		blocks += !build->wires[i].layer;
		crossing += build->wires[i].crosses;
	}
	if (!crossing)
		return 0;
	build->has_blocks = false;
	build->beside = true;
	snprintf(what, sizeof(what), "%u of %u cross leaves, so level %s is beside the tree",
		 crossing, blocks, BLOCK_LEVEL);
	return warn_of(build, &build->crossing, what);
}

static int warn_of_odd(struct build *build)
{
	char what[128];

	snprintf(what, sizeof(what), "left out, with %u more like it", build->left_out.count - 1);
	if (warn_of(build, &build->left_out, build->left_out.count > 1 ? what : "left out"))
		return -1;
	snprintf(what, sizeof(what), "the path of %u host%s ends below such a node",
		 build->cut.count, osp_plural_s(build->cut.count));
	if (warn_of(build, &build->cut, what))
		return -1;
	return put_blocks_beside(build);
}

/* --- meeting ---------------------------------------------------------------------------------- */

/* Finds or makes one switch of a host that contradicts nobody. *index is its wire. */
static int meet(struct build *build, uint32_t tag, const char *name, uint32_t layer, uint32_t host,
		uint32_t *index)
{
	const char *zone = zone_of(build, host_of(build, host));
	struct wire *wire;

	*index = osp_name_table_find(&build->table, tag, name);
	if (*index == OSP_NAME_ABSENT) {
		*index = build->wire_count;
		if (add_wire(build, tag, name, layer, host))
			return -1;
	}
	wire = &build->wires[*index];
	if (zone && !wire->zone) {
		build->has_zones = true;
		wire->zone = zone;
		wire->zone_host = host;
	}
	return 0;
}

static void put_below(struct build *build, uint32_t child, uint32_t parent, uint32_t host)
{
	struct wire *wire = &build->wires[child];

	if (parent == NOBODY || wire->parent != NOBODY)
		return;
	wire->parent = parent;
	wire->parent_host = host;
}

static int meet_host(struct build *build, uint32_t host)
{
	const struct osp_import_host *h = host_of(build, host);
	uint32_t above = NOBODY, wire;

	if (h->layer + h->switch_count - 1 > build->layer_count)
		build->layer_count = h->layer + h->switch_count - 1;
	/* from the top, so that the switch above is known */
	for (uint32_t i = h->switch_count; i-- > 0; above = wire) {
		uint32_t layer = h->layer + i;

		if (meet(build, tag_of_layer(build, layer), h->switches[i], layer, host, &wire))
			return -1;
		put_below(build, wire, above, host);
	}
	if (!h->block)
		return 0;
	build->has_blocks = true;
	if (meet(build, TAG_BLOCK, h->block, 0, host, &wire))
		return -1;
	put_below(build, wire, above, host);
	return 0;
}

/* Meets the hosts as they come. The first that contradicts those before it ends that. */
static int meet_in_order(struct build *build)
{
	for (uint32_t i = 0; i < build->import->host_count; i++) {
		if (!host_of(build, i)->nodes)
			continue;
		if (check_switches(build, i) || check_block(build, i, false))
			return -1;
		note_crossing(build, i);
		if (meet_host(build, i))
			return -1;
	}
	return put_blocks_beside(build);
}

/* Meets those whose path begins in `layer`. */
static int meet_those_that_agree(struct build *build, bool reserved, uint32_t layer)
{
	for (uint32_t depth = 1; depth <= OSP_IMPORT_LAYERS_MAX; depth++) {
		for (uint32_t i = 0; i < build->import->host_count; i++) {
			struct osp_import_host *h = &build->import->hosts[i];

			if (!h->nodes || h->switch_count != depth || h->reserved != reserved ||
			    (h->switch_count && h->layer != layer))
				continue;
			if (make_agree(build, i) && meet_host(build, i))
				return -1;
			if (!h->switch_count)
				h->node_count = 0;
		}
	}
	return 0;
}

/*
 * Meets the hosts and leaves out what contradicts. Short paths come first, so that it is always
 * the longer one that ends below a switch of both, whichever nodes run. Where nodes will be comes
 * after where others are, however short; and paths without a leaf after those with one, so that an
 * UltraServer of both is below that leaf.
 */
static int meet_what_agrees(struct build *build)
{
	for (int reserved = 0; reserved < 2; reserved++)
		for (uint32_t layer = 1; layer <= OSP_IMPORT_LAYERS_MAX; layer++)
			if (meet_those_that_agree(build, reserved, layer))
				return -1;
	return warn_of_odd(build);
}

static int meet_hosts(struct build *build)
{
	for (uint32_t i = 0; i < build->import->host_count; i++) {
		if (learn_zone(build, i))
			return -1;
	}
	return build->import->options.allow_missing ? meet_what_agrees(build)
						    : meet_in_order(build);
}

/* --- building --------------------------------------------------------------------------------- */

static uint32_t level_of_layer(const struct build *build, uint32_t layer)
{
	if (!layer && build->beside)
		return build->layer_count + build->has_zones + 1;
	return layer + (build->has_blocks ? 1 : 0);
}

static int start_builder(struct build *build)
{
	const char *names[OSP_LEVELS_MAX];
	size_t count = 0;

	if (osp_import_check_levels(build->import, build->layer_count, build->error))
		return -1;
	for (uint32_t layer = build->has_blocks ? 0 : 1; layer <= build->layer_count; layer++)
		names[count++] = layer_name(build, layer);
	if (build->has_zones)
		names[count++] = ZONE_LEVEL;
	if (build->beside)
		names[count++] = BLOCK_LEVEL;
	build->builder = osp_builder_new_beside(names, count, count - build->beside, build->error);
	return build->builder ? 0 : -1;
}

static int add_domains(struct build *build)
{
	for (uint32_t i = 0; i < build->wire_count; i++) {
		struct wire *wire = &build->wires[i];

		if (!wire->layer && !build->has_blocks && !build->beside)
			continue;
		wire->domain = osp_builder_domain(build->builder,
						  level_of_layer(build, wire->layer), wire->name,
						  &host_of(build, wire->host)->place, build->error);
		if (wire->domain == OSP_NO_DOMAIN)
			return -1;
	}
	return 0;
}

/* Puts a switch without one above it into its zone. */
static int nest_in_zone(struct build *build, const struct wire *wire)
{
	const struct osp_place_in_file *place;
	uint32_t zone;

	if (!wire->zone)
		return 0;
	place = &host_of(build, wire->zone_host)->place;
	zone = osp_builder_domain(build->builder, level_of_layer(build, build->layer_count) + 1,
				  wire->zone, place, build->error);
	if (zone == OSP_NO_DOMAIN)
		return -1;
	return osp_builder_nest(build->builder, wire->domain, zone, place, build->error);
}

static int nest_domains(struct build *build)
{
	for (uint32_t i = 0; i < build->wire_count; i++) {
		const struct wire *wire = &build->wires[i];
		int rc;

		if (wire->domain == OSP_NO_DOMAIN || (!wire->layer && build->beside))
			continue;
		if (wire->parent == NOBODY)
			rc = nest_in_zone(build, wire);
		else
			rc = osp_builder_nest(
				build->builder, wire->domain, build->wires[wire->parent].domain,
				&host_of(build, wire->parent_host)->place, build->error);
		if (rc)
			return -1;
	}
	return 0;
}

/* Returns the nearest domain of a host. */
static uint32_t domain_above(const struct build *build, const struct osp_import_host *host)
{
	uint32_t tag = tag_of_layer(build, host->layer);
	uint32_t wire = host->block && build->has_blocks
				? osp_name_table_find(&build->table, TAG_BLOCK, host->block)
				: osp_name_table_find(&build->table, tag, host->switches[0]);

	return build->wires[wire].domain;
}

static int add_node(struct build *build, const struct osp_import_host *host, const char *name)
{
	struct osp_node_note note = host->note;

	if (osp_builder_node(build->builder, name, domain_above(build, host), &host->place,
			     build->error))
		return -1;
	if (build->beside && host->block) {
		uint32_t wire = osp_name_table_find(&build->table, TAG_BLOCK, host->block);

		if (osp_builder_beside(build->builder, name, build->wires[wire].domain,
				       &host->place, build->error))
			return -1;
	}
	if (!note.source)
		note = (struct osp_node_note){build->import->source, "", 0};
	if (!note.source)
		return 0;
	return osp_builder_note(build->builder, name, &note, &host->place, build->error);
}

static int add_nodes(struct build *build)
{
	for (uint32_t i = 0; i < build->import->host_count; i++) {
		const struct osp_import_host *host = host_of(build, i);

		for (uint32_t n = 0; n < host->node_count; n++) {
			if (add_node(build, host, host->nodes[n]))
				return -1;
		}
	}
	return 0;
}

static struct osp_topology *build_topology(struct build *build)
{
	if (meet_hosts(build))
		return NULL;
	if (!build->layer_count) {
		osp_error_set(build->error, build->import->host_count
						    ? "nothing is left to import"
						    : "there is no host in what was read");
		return NULL;
	}
	if (start_builder(build) || add_domains(build) || nest_domains(build) || add_nodes(build))
		return NULL;
	/* every domain has one parent here, so no two can be twins */
	return osp_builder_finish(build->builder, false, build->error);
}

/* Checks that some page has no NextToken: otherwise the last page is missing. */
static int check_last_page(struct osp_import *import, struct osp_error *error)
{
	static const char missing[] = "a NextToken on every page: the last page is missing";
	const struct osp_place_in_file *place = &import->token_place;
	char where[OSP_IMPORT_WHERE_BYTES];

	if (!import->page_count || import->token_count < import->page_count)
		return 0;
	if (import->options.allow_missing)
		return osp_import_warn(import, error, "%s: %s",
				       osp_import_where(place, where, sizeof(where)), missing);
	return osp_error_at(error, place->file, place->line, place->column, "%s", missing);
}

struct osp_topology *osp_import_finish(struct osp_import *import, struct osp_error *error)
{
	struct build build = {.import = import, .error = error, .table = OSP_NAME_TABLE_INIT};
	struct osp_topology *topology = NULL;

	if (osp_import_set_kind(import, import->kind, "", error))
		return NULL;
	import->finished = true;
	if (import->kind == OSP_IMPORT_INFINIBAND)
		return osp_ib_build(import, error);
	if (!check_last_page(import, error) && !osp_import_name_hosts(import, error) &&
	    (import->kind != OSP_IMPORT_CSV || (!osp_import_check_columns(import, error) &&
						!osp_import_name_switches(import, error))))
		topology = build_topology(&build);
	osp_builder_free(build.builder);
	osp_name_table_free(&build.table);
	free(build.wires);
	return topology;
}
