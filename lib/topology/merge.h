/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge.h - one topology of several, whose sources know different nodes
 *
 * Any thread: no state.
 */
#ifndef OSP_MERGE_H
#define OSP_MERGE_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

/* Topologies for one merge. */
#define OSP_MERGE_MAX 8

/*
 * Puts the nodes of `parts` (1 .. OSP_MERGE_MAX; NULL ones are passed over) into one topology. A
 * node that several have gets all of its place from the first. Levels of one name become one; a
 * level that a part lacks is unknown for its nodes, and one that is beside the tree in a part is
 * beside it in all. Domains are never joined. NULL with `error` set: two parts have their levels in
 * another order, or domains of one level and name; there is no part, or no level is in the tree; or
 * memory ran out.
 */
struct osp_topology *osp_topology_merge(const struct osp_topology *const *parts, size_t count,
					struct osp_error *error);

#endif
