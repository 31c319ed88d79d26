/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaf_pack.h - a leaf list of a large gang in few bytes
 *
 * Names of nodes that run along the fabric make a short leaf list (lib/topology/leaf_list.h). Those
 * of a cloud do not: each node is named in its leaf, so that 500 of them with long names fill
 * 4 KiB. The packed form has each name once, as a difference to the one before, and the number of
 * its leaf; it needs nothing beside it, and nodes may have left the gang since:
 *
 *	"~queue1-st-p5-~nn-1|nn-2~Zx3k.."	what comes before the numbers of the nodes, the
 *						leaves in the list's order, and numbers
 *						(lib/base/bit_text.h)
 *
 * 8,192 nodes at random on 256 leaves, of a cluster of 16,384, take 20 KiB with EC2's names of
 * leaves, 5 of which are these names.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_LEAF_PACK_H
#define OSP_LEAF_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/topology/topology.h"

bool osp_leaf_is_packed(const char *leaves);

/*
 * Returns the packed form of a leaf list as slurmctld writes it, malloc'd; "" if it has none of at
 * most `most_bytes`, or a name does not suit it; NULL if memory ran out. It unpacks to the same
 * leaves, each with the same nodes in the same order.
 */
char *osp_leaf_pack(const char *leaves, size_t most_bytes);

/*
 * Does the same to the list of `count` nodes of a fabric, sorted by fabric rank, without writing it
 * (osp_leaf_list_of()). In time linear to the nodes, also where the form becomes too long:
 * slurmctld does this when a gang starts.
 */
char *osp_leaf_pack_nodes(const struct osp_topology *topology, const uint32_t *nodes,
			  uint32_t count, size_t most_bytes);

/* Returns the leaf list of a packed form, malloc'd; NULL if it is malformed or memory ran out. */
char *osp_leaf_unpack(const char *packed);

/*
 * Finds `count` nodes of a fabric, sorted by name, in a packed form, without writing its list: the
 * names are compared with those of the nodes one after the other, in time linear to both; after a
 * node that is not there no other is found. Writes for each place in the list the node, OSP_NO_NODE
 * where it is none of these, and the number of its leaf from 0. Returns how many places there are,
 * at most OSP_NODES_MAX, for which both arrays have room; -1 if the form is malformed or memory ran
 * out.
 */
long osp_leaf_unpack_nodes(const char *packed, const struct osp_topology *topology,
			   const uint32_t *by_name, uint32_t count, uint32_t *nodes,
			   uint32_t *leaf);

/*
 * Does the same to names of a leaf list's nodes in any order, "n1,n[7-9],n2" or "~Zx3k..": the
 * packed form has their places in `leaves`, which may be packed itself. A name that is not there is
 * left out; a malformed list is packed as it is.
 */
char *osp_leaf_pack_names(const char *leaves, const char *names);
char *osp_leaf_unpack_names(const char *leaves, const char *packed);

/* Does the same to places in a leaf list. Returns "" if the form is longer than `most_bytes`. */
char *osp_leaf_pack_places(const uint32_t *places, uint32_t count, size_t most_bytes);
/* Reads the places, at most `count` of a list of as many; returns how many; -1 if malformed. */
long osp_leaf_unpack_places(const char *packed, uint32_t count, uint32_t *places);

#endif
