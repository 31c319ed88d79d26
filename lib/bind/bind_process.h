/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_process.h - the CPUs and the memory policy of this process
 *
 * Reads and sets a process's binding in the kernel; returns the kernel's refusals as errors. Also
 * runs in slurmstepd's tasks. One thread.
 */
#ifndef OSP_BIND_PROCESS_H
#define OSP_BIND_PROCESS_H

#include <hwloc.h>
#include <stdbool.h>

#include "lib/base/error.h"

/* Returns the CPUs that this process may run on: those of its cgroup, as its launcher bound it. The
 * caller frees them; NULL with `error` set. */
hwloc_bitmap_t osp_bind_own_cpus(struct osp_error *error);

/* Binds this process to these CPUs. Returns 0, or -1 with `error` set. */
int osp_bind_set_cpus(hwloc_const_bitmap_t cpus, struct osp_error *error);

/*
 * Binds this process to all CPUs of its cgroup, whatever its launcher chose, and returns them. The
 * caller frees them; NULL with `error` set.
 */
hwloc_bitmap_t osp_bind_widest(struct osp_error *error);

/* Prefers the memory of these nodes, but never forces it: if they are full, others serve. An empty
 * set changes nothing. Returns 0, or -1 with `error` set. */
int osp_bind_set_memory(hwloc_const_bitmap_t nodes, struct osp_error *error);

#endif
