/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * level.h - a topology without one of its levels
 *
 * Any thread: no state.
 */
#ifndef OSP_LEVEL_H
#define OSP_LEVEL_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

/*
 * Makes a topology without `level` (1 ..; an overlay too): what lay in its domains lies in those
 * above them. Nodes keep their numbers and notes. Returns NULL with `error` set: there is no other
 * level, or memory ran out.
 */
struct osp_topology *osp_topology_without_level(const struct osp_topology *topology, uint32_t level,
						struct osp_error *error);

#endif
