/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_slurm_write.c - writes Slurm's topology.conf (topology/tree), or a topology.yaml of one
 * tree
 *
 * Slurm wants every node under exactly one leaf switch, names that its hostlists return unchanged,
 * and one switch above all; otherwise it logs a warning, or ends. So missing switches are made up,
 * each with a comment, and names are changed if necessary.
 */
#include "lib/topology/readers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/hostlist.h"
#include "lib/base/name_table.h"
#include "lib/base/text.h"
#include "lib/topology/file_kind.h"
#include "lib/topology/topology_list.h"

#define SWITCH_NAME_BYTES_MAX 63    /* Slurm 24.11 takes 64 */
#define SWITCHES_MAX	      65535 /* Slurm numbers switches with 16 bits */
#define HASH_BYTES	      9	    /* "-" and 8 digits, for the part cut off a name */
#define NUMBER_DIGITS_MAX     18    /* at a name's end; Slurm's hostlists change longer ones */

struct writer {
	const struct osp_topology *topology;
	bool yaml;
	struct osp_text text;
	struct osp_arena arena;
	struct osp_name_table taken;
	const char **names;	 /* by domain: its switch */
	const char **leaf_names; /* by domain: the switch made up for nodes directly below it */
	uint32_t *first_child;	 /* by domain, in `children` */
	uint32_t *children;	 /* domains, by parent */
	const char **top_names;	 /* switches without one above */
	uint32_t top_count;
	char *unknown_nodes; /* below no domain at all */
	const char *unknown_name;
	const char *root_name; /* NULL: one switch is already above all */
	uint32_t switch_count;
};

static uint32_t hash(const char *name)
{
	uint32_t sum = 0x811c9dc5u;

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 0x01000193u;
	return sum;
}

/* Copies the name with the characters and the length that Slurm's parser and hostlists accept. */
static void make_fit(const char *name, char *fit)
{
	size_t count = 0, digits = 0;

	for (; *name && count < SWITCH_NAME_BYTES_MAX - 1; name++) {
		char c = isalnum((unsigned char)*name) || strchr("_.:-", *name) ? *name : '_';

		digits = isdigit((unsigned char)c) ? digits + 1 : 0;
		fit[count++] = c;
	}
	if (*name) {
		/* cut: the sum keeps names apart that differ further on */
		count -= HASH_BYTES;
		snprintf(fit + count, HASH_BYTES + 1, "-%08" PRIx32, hash(name));
		count += HASH_BYTES;
		digits = 0;
	}
	if (digits > NUMBER_DIGITS_MAX)
		fit[count++] = '_';
	fit[count] = '\0';
}

/*
 * Returns a switch's name that no other has: the wish, with the level before it, or with a number.
 */
static const char *take_name(struct writer *writer, const char *level, const char *wish)
{
	char fit[SWITCH_NAME_BYTES_MAX + 1], longer[OSP_ERROR_FILE_BYTES + 64];
	const char *copy;

	make_fit(wish, fit);
	for (uint32_t i = 1; osp_name_table_find(&writer->taken, 0, fit) != OSP_NAME_ABSENT; i++) {
		if (i == 1)
			snprintf(longer, sizeof(longer), "%s-%.255s", level, wish);
		else
			snprintf(longer, sizeof(longer), "%" PRIu32 "-%s-%.255s", i, level, wish);
		make_fit(longer, fit);
	}
	copy = osp_arena_copy(&writer->arena, fit, strlen(fit));
	if (!copy || osp_name_table_add(&writer->taken, 0, copy, 0))
		return NULL;
	writer->switch_count++;
	return copy;
}

static int take_memory(struct writer *writer)
{
	size_t count = (size_t)osp_topology_domain_count(writer->topology) + 2;

	writer->names = calloc(count, sizeof(*writer->names));
	writer->leaf_names = calloc(count, sizeof(*writer->leaf_names));
	writer->first_child = calloc(count, sizeof(*writer->first_child));
	writer->children = calloc(count, sizeof(*writer->children));
	writer->top_names = calloc(count, sizeof(*writer->top_names));
	writer->unknown_nodes = osp_topology_direct_nodes(writer->topology, OSP_NO_DOMAIN);
	return writer->names && writer->leaf_names && writer->first_child && writer->children &&
			       writer->top_names && writer->unknown_nodes
		       ? 0
		       : -1;
}

static void free_writer(struct writer *writer)
{
	free(writer->names);
	free(writer->leaf_names);
	free(writer->first_child);
	free(writer->children);
	free(writer->top_names);
	free(writer->unknown_nodes);
	osp_text_free(&writer->text);
	osp_name_table_free(&writer->taken);
	osp_arena_free(&writer->arena);
}

/* Fills first_child and children with a counting sort of the domains by parent. */
static void list_children(struct writer *writer)
{
	uint32_t count = osp_topology_domain_count(writer->topology);
	uint32_t *first = writer->first_child, sum = 0, here;

	for (uint32_t d = 0; d < count; d++) {
		uint32_t parent = osp_topology_domain(writer->topology, d)->parent;

		if (parent != OSP_NO_DOMAIN)
			first[parent]++;
	}
	for (uint32_t d = 0; d <= count; d++) {
		here = first[d];
		first[d] = sum;
		sum += here;
	}
	for (uint32_t d = 0; d < count; d++) {
		uint32_t parent = osp_topology_domain(writer->topology, d)->parent;

		if (parent != OSP_NO_DOMAIN)
			writer->children[first[parent]++] = d;
	}
	/* each entry has moved to the start of the next one's children */
	memmove(first + 1, first, count * sizeof(*first));
	first[0] = 0;
}

/*
 * Returns whether the domain has both lower domains and nodes in none of them. Slurm takes no such
 * switch.
 */
static bool is_mixed(const struct writer *writer, uint32_t domain)
{
	uint32_t first = writer->first_child[domain], last = writer->first_child[domain + 1];
	uint32_t below = 0;

	for (uint32_t i = first; i < last; i++)
		below += osp_topology_domain(writer->topology, writer->children[i])->node_count;
	return first < last && below < osp_topology_domain(writer->topology, domain)->node_count;
}

static int name_domains(struct writer *writer)
{
	const struct osp_topology *topology = writer->topology;

	for (uint32_t d = 0; d < osp_topology_domain_count(topology); d++) {
		const struct osp_domain *domain = osp_topology_domain(topology, d);

		writer->names[d] = take_name(
			writer, osp_topology_level_name(topology, domain->level), domain->name);
		if (!writer->names[d])
			return -1;
		if (domain->parent == OSP_NO_DOMAIN)
			writer->top_names[writer->top_count++] = writer->names[d];
	}
	return 0;
}

static int name_made_up(struct writer *writer)
{
	const struct osp_topology *topology = writer->topology;
	char wish[OSP_ERROR_FILE_BYTES + 64];

	for (uint32_t d = 0; d < osp_topology_domain_count(topology); d++) {
		if (!is_mixed(writer, d))
			continue;
		snprintf(wish, sizeof(wish), "%s-unknown", writer->names[d]);
		writer->leaf_names[d] =
			take_name(writer, osp_topology_level_name(topology, 1), wish);
		if (!writer->leaf_names[d])
			return -1;
	}
	if (writer->unknown_nodes[0]) {
		writer->unknown_name =
			take_name(writer, osp_topology_level_name(topology, 1), "unknown");
		if (!writer->unknown_name)
			return -1;
		writer->top_names[writer->top_count++] = writer->unknown_name;
	}
	if (writer->top_count < 2)
		return 0;
	writer->root_name = take_name(writer, "all", "root");
	return writer->root_name ? 0 : -1;
}

/* Adds one switch; a NULL `list` means that memory ran out. */
static void add_switch(struct writer *writer, const char *name, bool has_nodes, const char *list)
{
	const char *format = writer->yaml ? "      - switch: \"%s\"\n        %s: \"%s\"\n"
					  : "SwitchName=%s %s=%s\n";
	const char *key = has_nodes ? (writer->yaml ? "nodes" : "Nodes")
				    : (writer->yaml ? "children" : "Switches");

	writer->text.failed = writer->text.failed || !list;
	osp_text_printf(&writer->text, format, name, key, list ? list : "");
}

static void add_above(struct writer *writer, const char *name, const char *const *names,
		      size_t count)
{
	char *list = osp_hostlist_compact(names, count);

	add_switch(writer, name, false, list);
	free(list);
}

static void add_leaf(struct writer *writer, const char *name, uint32_t domain)
{
	char *nodes = osp_topology_direct_nodes(writer->topology, domain);

	add_switch(writer, name, true, nodes);
	free(nodes);
}

/* Adds a switch above others: its children and the switch made up for its own nodes. */
static void add_upper(struct writer *writer, uint32_t domain)
{
	uint32_t first = writer->first_child[domain];
	uint32_t count = writer->first_child[domain + 1] - first;
	const char **names = calloc((size_t)count + 1, sizeof(*names));

	if (!names) {
		writer->text.failed = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		names[i] = writer->names[writer->children[first + i]];
	if (writer->leaf_names[domain])
		names[count++] = writer->leaf_names[domain];
	add_above(writer, writer->names[domain], names, count);
	free(names);
}

static void add_domain(struct writer *writer, uint32_t domain)
{
	const struct osp_domain *d = osp_topology_domain(writer->topology, domain);
	const char *name = writer->names[domain];

	if (strcmp(d->name, name))
		osp_text_printf(&writer->text, "# %s is %s %s\n", name,
				osp_topology_level_name(writer->topology, d->level), d->name);
	if (writer->leaf_names[domain]) {
		osp_text_printf(
			&writer->text,
			"# not of the fabric: nodes of %s whose place below it is unknown\n", name);
		add_leaf(writer, writer->leaf_names[domain], domain);
	}
	if (writer->first_child[domain] < writer->first_child[domain + 1])
		add_upper(writer, domain);
	else
		add_leaf(writer, name, domain);
}

static void add_level(struct writer *writer, uint32_t level)
{
	uint32_t first, count;

	osp_topology_level_domains(writer->topology, level, &first, &count);
	if (count)
		osp_text_printf(&writer->text, "\n# %s: %" PRIu32 "\n",
				osp_topology_level_name(writer->topology, level), count);
	for (uint32_t d = first; d < first + count; d++)
		add_domain(writer, d);
}

static void add_all(struct writer *writer)
{
	uint32_t count = osp_topology_node_count(writer->topology);

	osp_text_printf(&writer->text, "# %s; written by onespine.\n# %" PRIu32 " node%s\n",
			writer->yaml ? "topology.yaml of Slurm 25.05 and later"
				     : "For TopologyPlugin=topology/tree",
			count, osp_plural_s(count));
	if (writer->yaml)
		osp_text_add(&writer->text, "---\n- topology: fabric\n  cluster_default: true\n"
					    "  tree:\n    switches:\n");
	for (uint32_t level = 1; level <= osp_topology_level_count(writer->topology); level++)
		add_level(writer, level);
	if (writer->unknown_name) {
		osp_text_add(&writer->text,
			     "\n# not of the fabric: nodes whose place is unknown\n");
		add_switch(writer, writer->unknown_name, true, writer->unknown_nodes);
	}
	if (writer->root_name) {
		osp_text_add(&writer->text,
			     "\n" OSP_ROOT_REMARK
			     " Without this line\n# no job could have nodes of two of these.\n");
		add_above(writer, writer->root_name, writer->top_names, writer->top_count);
	}
}

static int check_nodes(const struct osp_topology *topology, struct osp_error *error)
{
	for (uint32_t n = 0; n < osp_topology_node_count(topology); n++) {
		const char *name = osp_topology_node_name(topology, n);

		if (name[strcspn(name, "#\"\\ ,[]")])
			return osp_error_set(error,
					     "node '%s' cannot be written to a topology.conf: "
					     "'%c' has a meaning of its own there",
					     name, name[strcspn(name, "#\"\\ ,[]")]);
	}
	return 0;
}

char *osp_write_slurm_topology(const struct osp_topology *topology, bool yaml,
			       struct osp_error *error)
{
	struct writer writer = {.topology = topology, .yaml = yaml};
	char *text = NULL;

	if (check_nodes(topology, error))
		return NULL;
	if (!take_memory(&writer) && !name_domains(&writer)) {
		list_children(&writer);
		if (!name_made_up(&writer)) {
			add_all(&writer);
			text = osp_text_take(&writer.text);
		}
	}
	if (!text)
		osp_error_set(error, "out of memory");
	if (text && !writer.top_count)
		osp_error_set(error, "a topology without nodes: Slurm takes no empty one");
	else if (text && writer.switch_count > SWITCHES_MAX)
		osp_error_set(error, "%" PRIu32 " switches are too many for Slurm, which takes %d",
			      writer.switch_count, SWITCHES_MAX);
	else {
		free_writer(&writer);
		return text;
	}
	free(text);
	free_writer(&writer);
	return NULL;
}
