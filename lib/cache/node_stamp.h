/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_stamp.h - inside lib/: a number that changes if what is known about the node, or its rules,
 * may have changed
 *
 * The boot's id covers what stays the same until the machine starts again, as DMI's strings do. The
 * paths to watch are found once and kept: most places where a library may be do not exist, and one
 * folder represents several of them.
 */
#ifndef OSP_NODE_STAMP_H
#define OSP_NODE_STAMP_H

#include <stdint.h>

#include "lib/base/text.h"
#include "lib/cache/node_cache.h"

/* Adds a line "watch PATH" for each file and folder whose time of change counts. `list` fails if
 * memory runs out or a line cannot hold a path. */
void osp_node_watch(const struct osp_node_source *source, struct osp_text *list);

/* Returns the stamp by the lines at the beginning of `list`. Reads names, a few small files and the
 * times of others; about 0.1 ms. */
uint64_t osp_node_stamp(const struct osp_node_source *source, const char *list);

#endif
