/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_import.c - EC2 answers, CSV tables, sweeps of InfiniBand and maps of node names
 *
 * The first byte chooses what the rest is: 'e' EC2, 'c' CSV, 'i' InfiniBand, 'g' topograph, 'm' a
 * map, 't' a map by the tag Name. A capital letter allows missing instances and maps i-1 and cr-1.
 *
 * Parser: lib/topology/import_ec2.c lib/topology/import_csv.c lib/topology/name_map.c
 * lib/topology/csv.c lib/topology/blocks.c
 */
#include <ctype.h>

#include "lib/topology/blocks.h"
#include "lib/topology/readers.h"
#include "tests/fuzz/fuzz.h"

typedef int import_f(struct osp_import *import, const char *file, const char *text,
		     size_t text_bytes, struct osp_error *error);

/* Words that are terminated, and a place that is no nonsense. */
static void check_error(const struct osp_error *error)
{
	fuzz_check(error->text[0] && memchr(error->text, '\0', sizeof(error->text)));
	fuzz_check(error->line >= 0 && error->column >= 0);
}

/* Every domain is inside its parent, and every node inside its domains. */
static void check_topology(const struct osp_topology *topology)
{
	for (uint32_t d = 0; d < osp_topology_domain_count(topology); d++) {
		const struct osp_domain *domain = osp_topology_domain(topology, d), *parent;

		fuzz_check(domain->node_count > 0);
		if (domain->parent == OSP_NO_DOMAIN)
			continue;
		parent = osp_topology_domain(topology, domain->parent);
		fuzz_check(parent->level > domain->level);
		fuzz_check(parent->first_rank <= domain->first_rank);
		fuzz_check(domain->first_rank + domain->node_count <=
			   parent->first_rank + parent->node_count);
	}
}

static void import(import_f *add, bool lenient, const char *text, size_t bytes)
{
	static const char map_text[] = "i-1 gpu-1\ncr-1 gpu-[2-3]\n";
	struct osp_import_options options = {.allow_missing = lenient};
	struct osp_name_map *map = NULL;
	struct osp_topology *topology = NULL;
	struct osp_error error = {0};
	struct osp_import *import;

	if (lenient)
		map = osp_read_name_map("m", map_text, strlen(map_text), NULL, NULL);
	options.map = map;
	import = osp_import_new(&options);
	if (!add(import, "f", text, bytes, &error))
		topology = osp_import_finish(import, &error);
	if (topology)
		check_topology(topology);
	else
		check_error(&error);
	for (size_t i = 0; i < osp_import_warning_count(import); i++)
		fuzz_check(osp_import_warning(import, i)[0]);
	osp_topology_free(topology);
	osp_import_free(import);
	osp_name_map_free(map);
}

static void read_map(const char *text, size_t bytes, const char *tag)
{
	struct osp_error error = {0};
	struct osp_name_map *map = osp_read_name_map("m", text, bytes, tag, &error);

	if (!map)
		check_error(&error);
	osp_name_map_free(map);
}

/* With the blocks of the file every node is still there, in the domains that it was in. */
static void insert_blocks(const struct osp_topology *topology, const char *text, size_t bytes)
{
	struct osp_error error = {0};
	struct osp_blocks *blocks = osp_blocks_read("g", text, bytes, &error);
	struct osp_topology *made =
		blocks ? osp_blocks_insert(topology, blocks, NULL, &error) : NULL;

	if (!made)
		check_error(&error);
	for (uint32_t n = 0; made && n < osp_topology_node_count(topology); n++)
		fuzz_check(osp_topology_find_node(made, osp_topology_node_name(topology, n)) !=
			   OSP_NO_NODE);
	if (made) {
		check_topology(made);
		fuzz_check(osp_topology_node_count(made) == osp_topology_node_count(topology));
	}
	osp_topology_free(made);
	osp_blocks_free(blocks);
}

static void read_model(const char *text, size_t bytes)
{
	struct osp_error error = {0};
	struct osp_topology *topology = osp_read_topograph("g", text, bytes, &error);

	if (topology) {
		check_topology(topology);
		insert_blocks(topology, text, bytes);
	} else {
		check_error(&error);
	}
	osp_topology_free(topology);
}

FUZZER(import)
{
	const char *text = (const char *)data + 1;

	if (!size)
		return 0;
	size--;
	switch (tolower(data[0])) {
	case 'e':
		import(osp_import_ec2, isupper(data[0]), text, size);
		break;
	case 'c':
		import(osp_import_csv, isupper(data[0]), text, size);
		break;
	case 'i':
		import(osp_import_infiniband, isupper(data[0]), text, size);
		break;
	case 'g':
		read_model(text, size);
		break;
	case 'm':
		read_map(text, size, NULL);
		break;
	case 't':
		read_map(text, size, "Name");
		break;
	default:
		break;
	}
	return 0;
}
