/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "lib/bind/bind_process.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MPOL_PREFERRED_MANY
#define MPOL_PREFERRED_MANY 5 /* Linux 5.15 */
#endif

#define CPUS_MOST  8192 /* as many as Linux can be built for */
#define NODES_MOST 1024
#define WORD_BITS  (8 * sizeof(unsigned long))

static int copy_set(const cpu_set_t *set, size_t bytes, hwloc_bitmap_t cpus)
{
	const unsigned long *words = (const unsigned long *)(const void *)set;

	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		if (words[i] && hwloc_bitmap_set_ith_ulong(cpus, (unsigned int)i, words[i]))
			return -1;
	return 0;
}

hwloc_bitmap_t osp_bind_own_cpus(struct osp_error *error)
{
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
	cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int rc = -1;

	if (!set || !cpus)
		osp_error_set(error, "out of memory");
	else if (sched_getaffinity(0, bytes, set) < 0)
		osp_error_set(error, "sched_getaffinity: %s", strerror(errno));
	else
		rc = copy_set(set, bytes, cpus);
	if (set)
		CPU_FREE(set);
	if (rc == 0)
		return cpus;
	osp_error_set(error, "out of memory");
	hwloc_bitmap_free(cpus);
	return NULL;
}

int osp_bind_set_cpus(hwloc_const_bitmap_t cpus, struct osp_error *error)
{
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
	cpu_set_t *set = CPU_ALLOC(CPUS_MOST);
	int rc = 0;
	int cpu;

	if (!set)
		return osp_error_set(error, "out of memory");
	CPU_ZERO_S(bytes, set);
	for (cpu = hwloc_bitmap_first(cpus); cpu >= 0; cpu = hwloc_bitmap_next(cpus, cpu))
		CPU_SET_S((size_t)cpu, bytes, set);
	if (sched_setaffinity(0, bytes, set) < 0)
		rc = osp_error_set(error, "sched_setaffinity: %s", strerror(errno));
	CPU_FREE(set);
	return rc;
}

hwloc_bitmap_t osp_bind_widest(struct osp_error *error)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc(), widest = NULL;

	/* the kernel takes what its cgroup has of them */
	if (all && hwloc_bitmap_set_range(all, 0, CPUS_MOST - 1) == 0 &&
	    osp_bind_set_cpus(all, error) == 0)
		widest = osp_bind_own_cpus(error);
	else
		osp_error_set(error, "out of memory");
	hwloc_bitmap_free(all);
	return widest;
}

static void mark(unsigned long *words, int node)
{
	words[(unsigned long)node / WORD_BITS] |= 1UL << ((unsigned long)node % WORD_BITS);
}

int osp_bind_set_memory(hwloc_const_bitmap_t nodes, struct osp_error *error)
{
	unsigned long words[NODES_MOST / WORD_BITS] = {0};
	int first = hwloc_bitmap_first(nodes);
	int node;

	if (first < 0 || first >= NODES_MOST)
		return 0;
	for (node = first; node >= 0 && node < NODES_MOST; node = hwloc_bitmap_next(nodes, node))
		mark(words, node);
	/* The kernel counts one bit less than it is told. */
	if (syscall(SYS_set_mempolicy, MPOL_PREFERRED_MANY, words, NODES_MOST + 1UL) == 0)
		return 0;
	if (errno == EINVAL) { /* an older kernel prefers one node */
		memset(words, 0, sizeof(words));
		mark(words, first);
		if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, words, NODES_MOST + 1UL) == 0)
			return 0;
	}
	return osp_error_set(error, "set_mempolicy: %s", strerror(errno));
}
