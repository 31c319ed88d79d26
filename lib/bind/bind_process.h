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

/*
 * A set in the kernel's form, of as many CPUs or NUMA nodes as Linux can be built for. It is for a
 * task just forked, which pays for each page that it touches first: no heap and none of hwloc's
 * code.
 */
#define OSP_KERNEL_SET_BITS 8192

struct osp_kernel_set {
	unsigned long words[OSP_KERNEL_SET_BITS / (8 * sizeof(unsigned long))];
};

void osp_kernel_set_of(hwloc_const_bitmap_t set, struct osp_kernel_set *kernel);

/* Returns whether this process may run on exactly these CPUs. */
bool osp_bind_runs_on(const struct osp_kernel_set *cpus);

/* Does as osp_bind_set_cpus() (NULL: the CPUs stay) and then osp_bind_set_memory(), but ignores a
 * refusal of the memory. Returns false with errno set if the kernel refused the CPUs. */
bool osp_bind_set_kernel(const struct osp_kernel_set *cpus, const struct osp_kernel_set *nodes);

#endif
