/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nccl_topology.h - turns NCCL's topology files (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) into hwloc's
 *
 * Such a file gives the CPUs and PCI devices of each NUMA node. It does not say which hardware
 * threads share a core: if the CPU mask of every node is two ranges of the same length, these are
 * taken for first and second threads; else each CPU is a core.
 *
 * A file that does not say which CPUs a NUMA node has, nor of what kind its devices are, is read
 * with what is known of the machine's type (lib/bind/machine_shape.h).
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_NCCL_TOPOLOGY_H
#define OSP_NCCL_TOPOLOGY_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/bind/machine_shape.h"

/*
 * Returns hwloc XML (version 2, which hwloc 2 and 3 read), terminated, which the caller frees, or
 * NULL with `error` set: file, line and column of the first mistake. `shape` is what is known of
 * the type, or NULL. A build without expat refuses every file.
 */
char *osp_nccl_topology_to_hwloc(const char *file, const char *text, size_t text_bytes,
				 const struct osp_machine_shape *shape, struct osp_error *error);

/* Returns the same for a machine of which only the type is known. */
char *osp_nccl_shape_to_hwloc(const struct osp_machine_shape *shape, struct osp_error *error);

#endif
