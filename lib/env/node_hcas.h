/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_hcas.h - the InfiniBand and RoCE adapters that stand near a GPU
 *
 * Storage and management have adapters of the same kind, so NCCL needs a list of those that carry
 * data. Reads sysfs alone. One thread.
 */
#ifndef OSP_NODE_HCAS_H
#define OSP_NODE_HCAS_H

#include <stddef.h>

/*
 * Writes the names, as NCCL_IB_HCA lists them ("mlx5_0,mlx5_3"), of the adapters whose first port
 * is active and whose PCI path shares a bridge with a GPU's; of these, the ones of the most usual
 * link layer and rate. Where no adapter shares a bridge with a GPU, or a VM hides the bridges, "":
 * which ones are near is not known then. Returns `buffer`.
 */
const char *osp_node_hcas(const char *root, char *buffer, size_t buffer_bytes);

#endif
