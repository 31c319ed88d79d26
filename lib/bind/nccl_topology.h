/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nccl_topology.h - turns NCCL's topology files (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) into hwloc's
 *
 * Such a file gives the CPUs and PCI devices of each NUMA node. It does not say which hardware
 * threads share a core: if the CPU mask of every node is two ranges of the same length, these are
 * taken for first and second threads; else each CPU is a core.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_NCCL_TOPOLOGY_H
#define OSP_NCCL_TOPOLOGY_H

#include <stddef.h>

#include "lib/base/error.h"

/*
 * Returns hwloc XML (version 2, which hwloc 2 and 3 read), terminated, which the caller frees, or
 * NULL with `error` set: file, line and column of the first mistake. A build without expat refuses
 * every file.
 */
char *osp_nccl_topology_to_hwloc(const char *file, const char *text, size_t text_bytes,
				 struct osp_error *error);

#endif
