/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_hcas.h - the InfiniBand and RoCE adapters near a GPU
 *
 * Adapters for storage and management are of the same kind, so NCCL needs a list of those that
 * carry data. Reads only sysfs. One thread.
 */
#ifndef OSP_NODE_HCAS_H
#define OSP_NODE_HCAS_H

#include <stddef.h>

/*
 * Writes the names, in the form of NCCL_IB_HCA ("mlx5_0,mlx5_3"), of the adapters whose first port
 * is active and whose PCI path shares a bridge with a GPU's; of these, only those of the most
 * frequent link layer and rate. Writes "" if no adapter shares a bridge with a GPU, or a VM hides
 * the bridges, because the near ones are then unknown. Returns `buffer`.
 */
const char *osp_node_hcas(const char *root, char *buffer, size_t buffer_bytes);

#endif
