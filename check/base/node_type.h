/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_type.h - what the catalogue of node types (instances/) says of this node
 *
 * For checks, in their children: it reads files. One thread.
 */
#ifndef OSP_NODE_TYPE_H
#define OSP_NODE_TYPE_H

#include "check/check.h"

struct osp_node_type {
	int64_t nvidia_gpus;	 /* 0: not said, or another vendor's */
	int64_t pcie_generation; /* of the slowest link between host and GPU; 0: not said */
};

/* Of the node's DMI product name; false if the catalogue does not know it or cannot be read. */
bool osp_node_type_read(const struct osp_check_context *context, struct osp_node_type *type);

#endif
