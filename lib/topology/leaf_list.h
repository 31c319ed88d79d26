/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaf_list.h - "l17:nn-[1-4]|l18:nn-[7-9]": the leaves of a gang, each with its nodes
 *
 * AdminComment (lib/policy/note.h) and ONESPINE_LEAVES have this form, or the packed one of the
 * same list (leaf_pack.h), which all functions read. A piece that is no leaf with nodes is ignored.
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_LEAF_LIST_H
#define OSP_LEAF_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/topology/topology.h"

/* Is called for each node in order; a value other than 0 ends the calls and is returned. */
typedef int osp_leaf_list_f(const char *leaf, const char *node, void *context);

/* Calls `each` for every node. Returns 0, the callback's value, or -1 if a packed list is malformed
 * or memory ran out. */
int osp_leaf_list_each(const char *leaves, osp_leaf_list_f *each, void *context);

/*
 * Writes the name of the leaf of `node` to `leaf`. Returns false if the node is not there or the
 * name is too long.
 */
bool osp_leaf_list_find(const char *leaves, const char *node, char *leaf, size_t leaf_bytes);

/*
 * Returns the place of `node` in the list, from 0, after the list is rotated until `first` leads
 * it: its leaf comes first and it comes first in its leaf, so every leaf stays one run of places
 * (across the end). Returns -1 if one of the two is not there.
 */
long osp_leaf_list_place(const char *leaves, const char *first, const char *node);

/*
 * Returns the list with only the nodes for which `keep` returns true, malloc'd; *leaf_count says
 * how many leaves are left. Returns NULL if a packed list is malformed or memory ran out.
 */
char *osp_leaf_list_keep(const char *leaves, bool (*keep)(const char *node, void *context),
			 void *context, unsigned int *leaf_count);

/*
 * Returns the leaf list of `count` nodes of a fabric, sorted by fabric rank, malloc'd; a node
 * without a leaf is omitted. Returns "" if the list is longer than `most_bytes`, soon; NULL if
 * memory ran out.
 */
char *osp_leaf_list_of(const struct osp_topology *topology, const uint32_t *nodes, uint32_t count,
		       size_t most_bytes);

#endif
