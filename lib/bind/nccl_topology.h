/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nccl_topology.h - NCCL's topology files (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) turned into hwloc's
 *
 * Such a file says which CPUs and PCI devices each NUMA node has. It does not say which hardware
 * threads share a core: where the CPU mask of each node is two ranges of the same length, they are
 * taken for first and second threads; else each CPU is a core.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_NCCL_TOPOLOGY_H
#define OSP_NCCL_TOPOLOGY_H

#include <stddef.h>

#include "lib/base/error.h"

/*
 * Returns hwloc XML (version 2, which hwloc 2 and 3 read), terminated and to be freed, or NULL with
 * `error` set: file, line and column of the first thing that is wrong. A build without expat
 * refuses every file.
 */
char *osp_nccl_topology_to_hwloc(const char *file, const char *text, size_t text_bytes,
				 struct osp_error *error);

#endif
