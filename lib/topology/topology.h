/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - the fabric: which node is below which switch, level by level
 *
 * A topology is a forest. Its levels are counted from the node up: level 0 is the node itself,
 * level 1 the lowest switch layer, and so on; each level above 0 has a name ("leaf", "spine",
 * "core", "zone"; "nvlink" below leaf if there is one). A domain is one switch at one level with
 * every node below it. A node may lack a domain at a level (its source did not say): it is unknown
 * there, and an unknown level never satisfies a gang.
 *
 * Nodes are numbered from 0 in the order in which the topology was built or last rebased; domains
 * from 0, all levels together, level by level from the bottom, by natural order of their names
 * inside a level. Besides its number each node has a fabric rank: nodes of one domain have
 * consecutive ranks at every level, and ranks follow the natural order of names inside the lowest
 * domain.
 *
 * A built topology never changes: any number of threads may read one. Everything to which a call
 * returns a pointer lives as long as the topology, unless it says otherwise.
 */
#ifndef OSP_TOPOLOGY_H
#define OSP_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/nodeset.h"

#define OSP_NO_DOMAIN  UINT32_MAX
#define OSP_NO_NODE    UINT32_MAX
#define OSP_LEVELS_MAX 15 /* levels above the node */
#define OSP_NODES_MAX  131072

struct osp_topology;

struct osp_domain {
	const char *name;    /* unique among the domains of its level */
	uint32_t level;	     /* 1 .. osp_topology_level_count() */
	uint32_t parent;     /* the nearest known domain above, or OSP_NO_DOMAIN */
	uint32_t first_rank; /* its nodes have the ranks [first_rank, first_rank + node_count) */
	uint32_t node_count;
};

/*
 * The source of a node's place. A place from a cloud holds while the node is the same instance and
 * has not booted since: `instance_id` and `boot_s` are what Slurm said of the node (InstanceId,
 * BootTime) when its place was asked for.
 */
struct osp_node_note {
	const char *source;	 /* "ec2", "infiniband", "nvlink", "topograph", ... */
	const char *instance_id; /* "" if there is none */
	int64_t boot_s;		 /* since 1970; 0 if not known */
};

void osp_topology_free(struct osp_topology *topology); /* NULL is allowed */

uint32_t osp_topology_node_count(const struct osp_topology *topology);
uint32_t osp_topology_level_count(const struct osp_topology *topology); /* without level 0 */
uint32_t osp_topology_domain_count(const struct osp_topology *topology);

/* Returns a level's name, "node" for 0. `level` must be at most the level count. */
const char *osp_topology_level_name(const struct osp_topology *topology, uint32_t level);

/* Returns the level of that name (in any letter case; "node" is 0), or -1. */
int osp_topology_level(const struct osp_topology *topology, const char *name);

/*
 * Refuses `name`, which is none of the levels `lowest` .. `highest` of its topology: "no level is
 * called laef; did you mean leaf", or, if none is like it, "no level is called rack; say leaf or
 * spine". Returns -1 with `error` set, whose column is `column`.
 */
int osp_topology_no_level(const struct osp_topology *topology, const char *name, uint32_t lowest,
			  uint32_t highest, int column, struct osp_error *error);

/* Writes the names of levels `lowest` .. `highest` as "leaf, pod or spine". Returns `buffer`. */
const char *osp_topology_levels_text(const struct osp_topology *topology, uint32_t lowest,
				     uint32_t highest, char *buffer, size_t buffer_bytes);

/* Returns a domain; `domain` must be less than the domain count. */
const struct osp_domain *osp_topology_domain(const struct osp_topology *topology, uint32_t domain);

/* Finds the domains of `level` (1 ..): their numbers are [*first, *first + *count). */
void osp_topology_level_domains(const struct osp_topology *topology, uint32_t level,
				uint32_t *first, uint32_t *count);

/* Returns the domain of that name at `level`, or OSP_NO_DOMAIN. Logarithmic. */
uint32_t osp_topology_find_domain(const struct osp_topology *topology, uint32_t level,
				  const char *name);

/*
 * Returns the domain of `node` at `level`; OSP_NO_DOMAIN if unknown, and at level 0. Constant time.
 */
uint32_t osp_topology_domain_of(const struct osp_topology *topology, uint32_t node, uint32_t level);

/*
 * Returns the domains of all nodes at one level as an array indexed by node, for loops that count.
 */
const uint32_t *osp_topology_domains_of_nodes(const struct osp_topology *topology, uint32_t level);

/* Returns a node's name; "" for a free place (see osp_topology_rebase()). */
const char *osp_topology_node_name(const struct osp_topology *topology, uint32_t node);
/* Returns a node's note; NULL if it has none, as in a topology that was typed. */
const struct osp_node_note *osp_topology_note(const struct osp_topology *topology, uint32_t node);
/* Returns the note of the node of that name, likewise; NULL too if there is no such node, or
 * `topology` is NULL. */
const struct osp_node_note *osp_topology_note_of(const struct osp_topology *topology,
						 const char *name);
/* Returns the node of that name, or OSP_NO_NODE. Constant time. */
uint32_t osp_topology_find_node(const struct osp_topology *topology, const char *name);
uint32_t osp_topology_node_at_rank(const struct osp_topology *topology, uint32_t rank);
uint32_t osp_topology_rank_of_node(const struct osp_topology *topology, uint32_t node);

/* Returns the place of a node's name in the natural order of all names. Constant time. */
uint32_t osp_topology_name_place(const struct osp_topology *topology, uint32_t node);

enum osp_sort_by { OSP_BY_RANK, OSP_BY_NAME };

/*
 * Sorts distinct nodes by fabric rank or by name. `places` is a scratch set of as many places as
 * the topology has nodes. Linear, and takes no memory.
 */
void osp_topology_sort_nodes(const struct osp_topology *topology, enum osp_sort_by by,
			     uint32_t *nodes, uint32_t count, struct osp_nodeset *places);

/* Adds the nodes of `domain` to `set`. */
void osp_topology_add_domain_nodes(const struct osp_topology *topology, uint32_t domain,
				   struct osp_nodeset *set);

/*
 * Returns the lowest level at which all members of `set` have the same known domain, and that
 * domain; -1 (and OSP_NO_DOMAIN) if there is none, 0 for a single node (domain OSP_NO_DOMAIN).
 */
int osp_topology_common_level(const struct osp_topology *topology, const struct osp_nodeset *set,
			      uint32_t *domain);

/*
 * Tells whether two topologies say the same of the same numbers of nodes: levels, domains with
 * their names and parents, and the domains of each node. Notes and names of nodes may differ.
 */
bool osp_topology_same_fabric(const struct osp_topology *a, const struct osp_topology *b);

/*
 * Makes a topology of the same fabric in which node n is names[n], to match a cluster's own node
 * table. A NULL name is a free place of that table. Drops nodes that are not in `names`, and
 * domains left empty. Names that the topology lacks are unknown at every level. Names must be
 * distinct. Returns a new topology, or NULL with `error` set.
 */
struct osp_topology *osp_topology_rebase(const struct osp_topology *topology,
					 const char *const *names, uint32_t count,
					 struct osp_error *error);

/*
 * Does the same, and gives node n the note notes[n] instead of its own; none where its source is
 * NULL.
 */
struct osp_topology *osp_topology_rebase_noted(const struct osp_topology *topology,
					       const char *const *names,
					       const struct osp_node_note *notes, uint32_t count,
					       struct osp_error *error);

#endif
