/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology_yaml.c - the switches of Slurm's topology.yaml (from 25.05 on) */
#include "lib/topology/topology_yaml.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { TREE = 0, FLAT = 2 }; /* in: */
static const char *const kinds[] = {"tree", "block", "flat", "ring", "torus3d"};

static bool is_default(const struct osp_document *document, const struct osp_value *topology,
		       struct osp_error *error, int *rc)
{
	const struct osp_value *value = osp_value_get(topology, "cluster_default");
	bool result = false;

	if (value)
		*rc = osp_value_bool(document, value, &result, error);
	return result;
}

/*
 * Returns whether a key has a value other than null, false, or empty: slurmctld shows its own
 * topologies with the keys of every kind.
 */
static bool is_said(const struct osp_value *value)
{
	if (!value || osp_value_is_null(value))
		return false;
	return value->type == OSP_VALUE_SCALAR ? strcmp(value->text, "false") != 0
					       : value->child_count > 0;
}

/*
 * Returns which of `kinds` the topology is: the one with a value, else the only one named, else
 * flat. -1 if none is named or more than one has a value.
 */
static int kind_of(const struct osp_value *topology)
{
	int said = -1, named = -1;
	size_t said_count = 0, named_count = 0;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		const struct osp_value *value = osp_value_get(topology, kinds[i]);

		if (!value)
			continue;
		named = (int)i;
		named_count++;
		if (is_said(value)) {
			said = (int)i;
			said_count++;
		}
	}
	if (!named_count || said_count > 1)
		return -1;
	return said_count ? said : named_count == 1 ? named : FLAT;
}

/* Checks what all topologies have in common. */
static int check_topology(const struct osp_document *document, const struct osp_value *topology,
			  struct osp_error *error)
{
	static const char *const keys[] = {"topology", "cluster_default", "tree", "block", "flat",
					   "ring",     "torus3d"};

	if (topology->type != OSP_VALUE_MAP || !osp_value_get(topology, "topology"))
		return osp_document_error(document, topology, error,
					  "a topology is expected, as in \"- topology: NAME\"");
	if (osp_value_only_keys(document, topology, keys, COUNT(keys), error))
		return -1;
	if (kind_of(topology) < 0)
		return osp_document_error(document, topology, error,
					  "a topology is one of tree, block, flat, ring and "
					  "torus3d");
	return 0;
}

/* Returns the cluster's topology, or NULL with the error set. */
static const struct osp_value *choose(const struct osp_document *document, struct osp_error *error)
{
	const struct osp_value *root = osp_document_root(document), *chosen = NULL;
	int rc = 0;

	if (root->type != OSP_VALUE_LIST || !root->first) {
		osp_document_error(document, root, error,
				   "a list of topologies is expected, as in \"- topology: NAME\"");
		return NULL;
	}
	for (const struct osp_value *v = root->first; v && !rc; v = v->next) {
		rc = check_topology(document, v, error);
		if (!rc && !chosen && is_default(document, v, error, &rc))
			chosen = v;
	}
	if (rc)
		return NULL;
	return chosen ? chosen : root->first;
}

static const struct osp_value *tree_of(const struct osp_document *document,
				       const struct osp_value *topology, struct osp_error *error)
{
	const struct osp_value *tree = osp_value_get(topology, "tree"), *switches;
	static const char *const keys[] = {"switches"};
	int kind = kind_of(topology);

	if (kind != TREE) {
		osp_document_error(document, osp_value_get(topology, kinds[kind]), error,
				   "the cluster's topology %s is a %s; only a tree says "
				   "which switches nodes share",
				   osp_value_get(topology, "topology")->text, kinds[kind]);
		return NULL;
	}
	switches = tree->type == OSP_VALUE_MAP ? osp_value_get(tree, "switches") : NULL;
	if (!switches || switches->type != OSP_VALUE_LIST || !switches->first) {
		osp_document_error(document, tree, error,
				   "a tree has \"switches:\", a list of switches");
		return NULL;
	}
	return osp_value_only_keys(document, tree, keys, COUNT(keys), error) ? NULL : switches;
}

const char *osp_topology_yaml_kind(const struct osp_document *document, struct osp_error *error)
{
	const struct osp_value *root = osp_document_root(document);
	const struct osp_value *topology = choose(document, error);
	bool named_by_slurm;
	int rc = 0;

	if (!topology)
		return NULL;
	/* tctx[0] of topology_g_init() in Slurm's interfaces/topology.c */
	named_by_slurm = root->child_count == 1 && !is_default(document, topology, error, &rc) &&
			 strcmp(osp_value_get(topology, "topology")->text, "default") == 0 &&
			 kind_of(topology) == FLAT;
	if (named_by_slurm) {
		osp_error_set(error, "there is no topology.yaml");
		return NULL;
	}
	return kinds[kind_of(topology)];
}

static int read_switch(const struct osp_document *document, const struct osp_value *value,
		       osp_yaml_switch_f *each, void *context, struct osp_error *error)
{
	static const char *const keys[] = {"switch", "children", "nodes"};
	const struct osp_value *name, *children, *nodes;

	if (value->type != OSP_VALUE_MAP)
		return osp_document_error(document, value, error,
					  "a switch is expected, as in \"- switch: NAME\"");
	if (osp_value_only_keys(document, value, keys, COUNT(keys), error))
		return -1;
	name = osp_value_get(value, "switch");
	children = osp_value_get(value, "children");
	nodes = osp_value_get(value, "nodes");
	if (!name || name->type != OSP_VALUE_SCALAR)
		return osp_document_error(document, value, error,
					  "a switch without \"switch: NAME\"");
	if (children && nodes)
		return osp_document_error(document, nodes, error,
					  "nodes: a switch has either nodes or children below it");
	if (!children && !nodes)
		return osp_document_error(document, value, error,
					  "switch %s has neither nodes nor children", name->text);
	if ((nodes ? nodes : children)->type != OSP_VALUE_SCALAR)
		return osp_document_error(
			document, nodes ? nodes : children, error,
			"a list in Slurm's notation is expected, as in gpu-[1-16]");
	return each(name, nodes ? nodes : children, nodes != NULL, context);
}

int osp_topology_yaml_switches(const struct osp_document *document, osp_yaml_switch_f *each,
			       void *context, struct osp_error *error)
{
	const struct osp_value *topology = choose(document, error);
	const struct osp_value *switches = topology ? tree_of(document, topology, error) : NULL;

	if (!switches)
		return -1;
	for (const struct osp_value *v = switches->first; v; v = v->next) {
		if (read_switch(document, v, each, context, error))
			return -1;
	}
	return 0;
}
