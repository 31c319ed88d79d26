/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_process.h - the CPUs and the memory policy of this process
 *
 * Reads and sets a process's binding in the kernel; what the kernel refuses is returned as an
 * error. Also in slurmstepd's tasks. One thread.
 */
#ifndef OSP_BIND_PROCESS_H
#define OSP_BIND_PROCESS_H

#include <hwloc.h>
#include <stdbool.h>

#include "lib/base/error.h"

/* The CPUs that this process may run on: its cgroup's, and as its launcher bound it. NULL with
 * `error` set. To be freed. */
hwloc_bitmap_t osp_bind_own_cpus(struct osp_error *error);

/* 0, or -1 with `error` set. */
int osp_bind_set_cpus(hwloc_const_bitmap_t cpus, struct osp_error *error);

/*
 * The CPUs of this process's cgroup, however its launcher has bound it: binds this process to all
 * of them. NULL with `error` set. To be freed.
 */
hwloc_bitmap_t osp_bind_widest(struct osp_error *error);

/* Memory is preferred, never forced: where these nodes are full, others serve; an empty set changes
 * nothing. 0, or -1 with `error` set. */
int osp_bind_set_memory(hwloc_const_bitmap_t nodes, struct osp_error *error);

/*
 * The same as the kernel takes it, for a task just forked, which pays for each page that it is the
 * first to touch: no heap and none of hwloc's code. CPUs or NUMA nodes, as many as Linux can be
 * built for.
 */
#define OSP_KERNEL_SET_BITS 8192

struct osp_kernel_set {
	unsigned long words[OSP_KERNEL_SET_BITS / (8 * sizeof(unsigned long))];
};

void osp_kernel_set_of(hwloc_const_bitmap_t set, struct osp_kernel_set *kernel);

/* Whether this process may run on exactly these CPUs. */
bool osp_bind_runs_on(const struct osp_kernel_set *cpus);

/* As osp_bind_set_cpus() (`cpus` NULL: they stay) and then osp_bind_set_memory(), whose refusal is
 * none here. False with errno set: the kernel did not take the CPUs. */
bool osp_bind_set_kernel(const struct osp_kernel_set *cpus, const struct osp_kernel_set *nodes);

#endif
