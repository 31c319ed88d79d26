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
 * Levels that do not nest are beside the tree: an overlay is a partition of the nodes into domains
 * without parent, each of which may have nodes in several domains of the tree (NVLink domains that
 * cross leaves). Overlays have the level numbers behind the tree's, and their domains the numbers
 * behind those of the tree's domains: a loop over level_count or domain_count is over the tree
 * alone. Crossings, the intersections of an overlay with a level of the tree, are levels too, with
 * numbers behind the overlays': a crossing's domain has the name of the overlay's domain and the
 * tree's as its parent. A topology without overlay has neither.
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
	uint32_t level;	     /* 1 .. osp_topology_level_count(); an overlay's, or a crossing's */
	uint32_t parent;     /* the nearest known domain above, or OSP_NO_DOMAIN */
	uint32_t first_rank; /* osp_topology_node_at_rank() has its nodes at [first_rank,
				first_rank + node_count); for a domain of the tree these are the
				nodes' own ranks */
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

uint32_t osp_topology_overlay_count(const struct osp_topology *topology);

/* Returns the last level that has a name: the last overlay, or the top of the tree. */
uint32_t osp_topology_last_level(const struct osp_topology *topology);
bool osp_topology_is_overlay(const struct osp_topology *topology, uint32_t level);

/* Returns the level of the crossings of an overlay with level `level` of the tree. */
uint32_t osp_topology_crossings(const struct osp_topology *topology, uint32_t overlay,
				uint32_t level);

/* Returns the level of the tree whose crossings `level` is; 0 if it is a level of another kind. */
uint32_t osp_topology_crossed(const struct osp_topology *topology, uint32_t level);

/*
 * Returns whether segments of level `inner` can lie in a domain of level `outer`: both are of the
 * tree, and `inner` is lower, or it is the level of an overlay's crossings with `outer`.
 */
bool osp_topology_below(const struct osp_topology *topology, uint32_t inner, uint32_t outer);

/* Returns how many domains the tree and the overlays have: these have the first numbers. */
uint32_t osp_topology_listed_domains(const struct osp_topology *topology);

/* Returns how many domains there are with the crossings. */
uint32_t osp_topology_domain_room(const struct osp_topology *topology);

/* Returns how many ranks osp_topology_node_at_rank() knows: node_count, and again for each overlay,
 * in which the nodes of a domain follow each other, by their ranks in the tree. */
uint32_t osp_topology_rank_room(const struct osp_topology *topology);

/*
 * Returns whether each domain of level `inner` lies in one domain of level `outer`: two levels of
 * the tree by their order; if one is an overlay, by its domains. If not, *crossing (NULL: not
 * wanted) is a domain of `inner` that does not, or OSP_NO_DOMAIN if the tree alone says so.
 * Constant time.
 */
bool osp_topology_nests(const struct osp_topology *topology, uint32_t inner, uint32_t outer,
			uint32_t *crossing);

/*
 * Returns whether a gang of level `level` may be in more places after its @TIME than one of `other`
 * after the same: anywhere, since no level is above an overlay, and the other in one domain of the
 * level above.
 */
bool osp_topology_relaxes_past(const struct osp_topology *topology, uint32_t level, uint32_t other);

/* Writes "nvlink a.1 has nodes in leaf l1 and in leaf l2" of a domain that crosses `level`. Returns
 * `buffer`. */
const char *osp_topology_crossing_text(const struct osp_topology *topology, uint32_t crossing,
				       uint32_t level, char *buffer, size_t buffer_bytes);

/* Returns how many domains of an overlay have nodes in several known domains of `level`. */
uint32_t osp_topology_count_crossing(const struct osp_topology *topology, uint32_t overlay,
				     uint32_t level);

/* Returns the level of the tree that is named "zone"; 0: none is, or it has no domain. Several
 * zones never form one gang. */
uint32_t osp_topology_zone_level(const struct osp_topology *topology);

/* Returns whether a level of the tree is above the zones, where no gang can be asked for. */
bool osp_topology_above_zone(const struct osp_topology *topology, uint32_t level);

/*
 * Returns the level at which a gang of `level` is in one domain after its @TIME: the next one up
 * that has domains, but never above a zone, which stays as it is; 0: any nodes do. A gang of an
 * overlay may be in any nodes, or in any of a zone.
 */
uint32_t osp_topology_relaxed(const struct osp_topology *topology, uint32_t level);

/* Returns the same for nodes whose places are known only when they run: a zone counts though none
 * has a domain yet. */
uint32_t osp_topology_relaxed_unlaunched(const struct osp_topology *topology, uint32_t level);

/* Returns whether all nodes lie in one zone, or in no known one; true if there is no such level. */
bool osp_topology_in_one_zone(const struct osp_topology *topology, const struct osp_nodeset *nodes);

/* Returns a level's name, "node" for 0, the overlay's for crossings. `level` must be a level. */
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

/* Returns a domain; `domain` must be less than the domain room. */
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

/* Room for why a cloud cannot be asked, with its end. */
#define OSP_UNASKED_BYTES 256

/*
 * Returns why the source could not say where a node is that starts now: "EC2 denies ..", which only
 * an administrator can change. NULL: nothing is known against it. A topology made of another one,
 * as by osp_topology_rebase(), does not say it. The second function sets it, cut to fit; NULL or
 * "": nothing.
 */
const char *osp_topology_unasked(const struct osp_topology *topology);
void osp_topology_set_unasked(struct osp_topology *topology, const char *words);

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
 * Returns the lowest level of the tree at which all members of `set` have the same known domain,
 * and that domain; -1 (and OSP_NO_DOMAIN) if there is none, 0 for a single node (domain
 * OSP_NO_DOMAIN).
 */
int osp_topology_common_level(const struct osp_topology *topology, const struct osp_nodeset *set,
			      uint32_t *domain);

/* Returns the domain of `level` (an overlay too) that has all members of `set`; OSP_NO_DOMAIN if
 * there is none, or no member. */
uint32_t osp_topology_common_domain(const struct osp_topology *topology,
				    const struct osp_nodeset *set, uint32_t level);

/*
 * Returns whether two topologies say the same of the same numbers of nodes: levels, domains with
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
