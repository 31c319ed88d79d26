/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_type.h - the entry of this node in the catalogue of node types (instances/)
 *
 * For checks, in their children, because it reads files. One thread.
 */
#ifndef OSP_NODE_TYPE_H
#define OSP_NODE_TYPE_H

#include "check/check.h"

struct osp_node_type {
	int64_t nvidia_gpus;	 /* 0: the catalogue does not say, or they are another vendor's */
	int64_t pcie_generation; /* of the slowest link between host and GPU; 0: not said */
};

/* Reads the entry for the node's DMI product name. Returns false if the catalogue does not have it
 * or cannot be read. */
bool osp_node_type_read(const struct osp_check_context *context, struct osp_node_type *type);

#endif
