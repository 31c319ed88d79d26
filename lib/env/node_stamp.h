/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_stamp.h - inside lib/: a number that changes when what is known of the node may have */
#ifndef OSP_NODE_STAMP_H
#define OSP_NODE_STAMP_H

#include <stdint.h>

#include "lib/env/node_cache.h"

/* Reads names, a few small files and the times of others; about 0.2 ms. */
uint64_t osp_node_stamp(const struct osp_node_source *source);

/* Of a folder's files: their names, sizes and times. */
uint64_t osp_folder_stamp(uint64_t stamp, const char *parent, const char *name);

#endif
