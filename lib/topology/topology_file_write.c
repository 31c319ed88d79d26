/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_file_write.c - writes onespine.topology
 */
#include "lib/topology/readers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/topology/topology_list.h"

#define SOURCES_MAX                                                                                \
	64 /* twice the number of sources: some nodes have an instance and some have none */

/* Adds a JSON string; bytes from 0x80 on are already UTF-8. */
static void add_string(struct osp_text *text, const char *string)
{
	osp_text_add(text, "\"");
	for (const char *c = string; *c; c++) {
		if (*c == '"' || *c == '\\')
			osp_text_printf(text, "\\%c", *c);
		else if ((unsigned char)*c < ' ' || *c == 0x7f)
			osp_text_printf(text, "\\u%04x", (unsigned)*c);
		else
			osp_text_add_bytes(text, c, 1);
	}
	osp_text_add(text, "\"");
}

/* Adds words of any origin, such as a file's name, with '?' for bytes beyond ASCII. */
static void add_words(struct osp_text *text, const char *words)
{
	struct osp_text ascii = OSP_TEXT_INIT;
	char *string;

	for (; *words; words++)
		osp_text_add_bytes(&ascii, (unsigned char)*words < 0x80 ? words : "?", 1);
	string = osp_text_take(&ascii);
	if (string)
		add_string(text, string);
	text->failed = text->failed || !string;
	free(string);
}

/*
 * Adds the value of "in": the parent's name, with its level if another level has a domain of that
 * name.
 */
static void add_parent(struct osp_text *text, const struct osp_topology *topology,
		       const struct osp_domain *domain)
{
	const struct osp_domain *parent = osp_topology_domain(topology, domain->parent);
	struct osp_text name = OSP_TEXT_INIT;
	uint32_t same = 0;
	char *words;

	for (uint32_t level = domain->level + 1; level <= osp_topology_level_count(topology);
	     level++)
		same += osp_topology_find_domain(topology, level, parent->name) != OSP_NO_DOMAIN;
	if (same > 1)
		osp_text_printf(&name, "%s:", osp_topology_level_name(topology, parent->level));
	osp_text_add(&name, parent->name);
	words = osp_text_take(&name);
	if (words)
		add_string(text, words);
	text->failed = text->failed || !words;
	free(words);
}

static void add_nodes(struct osp_text *text, const struct osp_topology *topology, uint32_t domain,
		      const char *before)
{
	char *nodes = osp_topology_direct_nodes(topology, domain);

	text->failed = text->failed || !nodes;
	if (nodes && nodes[0]) {
		osp_text_add(text, before);
		osp_text_add(text, "\"nodes\": ");
		add_string(text, nodes);
	}
	free(nodes);
}

static void add_domain(struct osp_text *text, const struct osp_topology *topology, uint32_t number)
{
	const struct osp_domain *domain = osp_topology_domain(topology, number);

	osp_text_printf(text, "{\"level\": \"%s\", \"name\": ",
			osp_topology_level_name(topology, domain->level));
	add_string(text, domain->name);
	if (domain->parent != OSP_NO_DOMAIN) {
		osp_text_add(text, ", \"in\": ");
		add_parent(text, topology, domain);
	}
	add_nodes(text, topology, number, ", ");
	osp_text_add(text, "}");
}

static void add_levels(struct osp_text *text, const struct osp_topology *topology, const char *key,
		       uint32_t first, uint32_t last)
{
	osp_text_printf(text, "  \"%s\": [", key);
	for (uint32_t level = first; level <= last; level++)
		osp_text_printf(text, "%s\"%s\"", level > first ? ", " : "",
				osp_topology_level_name(topology, level));
	osp_text_add(text, "],\n");
}

/* --- where places come from ------------------------------------------------------------------- */

static bool is_bare(const struct osp_node_note *note)
{
	return !note->instance_id[0] && !note->boot_s;
}

/*
 * Returns whether a note has the source of `first`, and has an instance or boot time exactly if
 * `first` has one.
 */
static bool is_of(const struct osp_node_note *note, const struct osp_node_note *first)
{
	return note && !strcmp(note->source, first->source) && is_bare(note) == is_bare(first);
}

/* Adds a line per node, with its instance and boot time. */
static void add_noted(struct osp_text *text, const struct osp_topology *topology,
		      const struct osp_node_note *first)
{
	const char *before = "";

	osp_text_add(text, "[");
	for (uint32_t rank = 0; rank < osp_topology_node_count(topology); rank++) {
		uint32_t node = osp_topology_node_at_rank(topology, rank);
		const struct osp_node_note *note = osp_topology_note(topology, node);

		if (!is_of(note, first))
			continue;
		osp_text_printf(text, "%s\n      \"%s %s %lld\"", before,
				osp_topology_node_name(topology, node),
				note->instance_id[0] ? note->instance_id : "-",
				(long long)note->boot_s);
		before = ",";
	}
	osp_text_add(text, "]");
}

/* Adds nodes of which only the source is known, as a list in Slurm's notation. */
static void add_bare(struct osp_text *text, const struct osp_topology *topology,
		     const struct osp_node_note *first)
{
	uint32_t count = osp_topology_node_count(topology), used = 0;
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	char *list = NULL;

	for (uint32_t rank = 0; names && rank < count; rank++) {
		uint32_t node = osp_topology_node_at_rank(topology, rank);

		if (is_of(osp_topology_note(topology, node), first))
			names[used++] = osp_topology_node_name(topology, node);
	}
	if (names)
		list = osp_hostlist_compact(names, used);
	if (list)
		add_string(text, list);
	text->failed = text->failed || !list;
	free(list);
	free(names);
}

/* Returns whether no node of a lower rank has such a note. */
static bool is_first(const struct osp_node_note *const *seen, size_t count,
		     const struct osp_node_note *note)
{
	for (size_t i = 0; i < count; i++) {
		if (is_of(note, seen[i]))
			return false;
	}
	return true;
}

static void add_places(struct osp_text *text, const struct osp_topology *topology)
{
	const struct osp_node_note *seen[SOURCES_MAX];
	size_t count = 0;

	for (uint32_t rank = 0; rank < osp_topology_node_count(topology); rank++) {
		const struct osp_node_note *note =
			osp_topology_note(topology, osp_topology_node_at_rank(topology, rank));

		if (!note || !is_first(seen, count, note) || count == SOURCES_MAX)
			continue;
		osp_text_add(text, count ? ",\n    {\"source\": "
					 : ",\n  \"places\": [\n    {\"source\": ");
		seen[count++] = note;
		add_string(text, note->source);
		osp_text_add(text, ", \"nodes\": ");
		(is_bare(note) ? add_bare : add_noted)(text, topology, note);
		osp_text_add(text, "}");
	}
	if (count)
		osp_text_add(text, "\n  ]");
}

char *osp_write_onespine_topology(const struct osp_topology *topology, const char *source)
{
	uint32_t *order = osp_topology_domains_top_down(topology);
	struct osp_text text = OSP_TEXT_INIT;

	if (!order)
		return NULL;
	osp_text_add(&text, "{\n  \"onespine-topology\": 1,\n");
	if (source) {
		osp_text_add(&text, "  \"source\": ");
		add_words(&text, source);
		osp_text_add(&text, ",\n");
	}
	if (osp_topology_unasked(topology)) {
		osp_text_add(&text, "  \"unasked\": ");
		add_words(&text, osp_topology_unasked(topology));
		osp_text_add(&text, ",\n");
	}
	add_levels(&text, topology, "levels", 1, osp_topology_level_count(topology));
	if (osp_topology_overlay_count(topology))
		add_levels(&text, topology, "overlays", osp_topology_level_count(topology) + 1,
			   osp_topology_last_level(topology));
	osp_text_add(&text, "  \"domains\": [");
	for (uint32_t i = 0; i < osp_topology_listed_domains(topology); i++) {
		osp_text_add(&text, i ? ",\n    " : "\n    ");
		add_domain(&text, topology, order[i]);
	}
	osp_text_add(&text, "\n  ]");
	add_nodes(&text, topology, OSP_NO_DOMAIN, ",\n  ");
	add_places(&text, topology);
	osp_text_add(&text, "\n}\n");
	free(order);
	return osp_text_take(&text);
}
