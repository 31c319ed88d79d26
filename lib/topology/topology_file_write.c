/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_file_write.c - writes onespine.topology
 */
#include "lib/topology/readers.h"

#include <stdlib.h>

#include "lib/base/text.h"
#include "lib/topology/topology_list.h"

/* Adds a JSON string; bytes from 0x80 on are UTF-8 already. */
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

/* Adds words that may have come from anywhere, as a file's name may. */
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

/* Adds what "in" says: the parent's name, with its level where another level has one so called. */
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

static void add_levels(struct osp_text *text, const struct osp_topology *topology)
{
	osp_text_add(text, "  \"levels\": [");
	for (uint32_t level = 1; level <= osp_topology_level_count(topology); level++)
		osp_text_printf(text, "%s\"%s\"", level > 1 ? ", " : "",
				osp_topology_level_name(topology, level));
	osp_text_add(text, "],\n");
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
	add_levels(&text, topology);
	osp_text_add(&text, "  \"domains\": [");
	for (uint32_t i = 0; i < osp_topology_domain_count(topology); i++) {
		osp_text_add(&text, i ? ",\n    " : "\n    ");
		add_domain(&text, topology, order[i]);
	}
	osp_text_add(&text, "\n  ]");
	add_nodes(&text, topology, OSP_NO_DOMAIN, ",\n  ");
	osp_text_add(&text, "\n}\n");
	free(order);
	return osp_text_take(&text);
}
