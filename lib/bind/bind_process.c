/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_process.c - the CPUs and the memory policy of this process */
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

/* --- in the kernel's form --------------------------------------------------------------------- */

struct kernel_set {
	unsigned long words[CPUS_MOST / WORD_BITS];
};

static void kernel_set_of(hwloc_const_bitmap_t set, struct kernel_set *kernel)
{
	for (size_t i = 0; i < sizeof(kernel->words) / sizeof(kernel->words[0]); i++)
		kernel->words[i] = hwloc_bitmap_to_ith_ulong(set, (unsigned int)i);
}

/* Reads this process's CPUs. The kernel writes as many words as it has CPUs. */
static int get_own(struct kernel_set *cpus)
{
	memset(cpus, 0, sizeof(*cpus));
	return sched_getaffinity(0, sizeof(*cpus), (cpu_set_t *)(void *)cpus);
}

static int set_own(const struct kernel_set *cpus)
{
	return sched_setaffinity(0, sizeof(*cpus), (const cpu_set_t *)(const void *)cpus);
}

/* Returns the first of the first NODES_MOST nodes in the set, or -1 if there is none. */
static int first_node(const struct kernel_set *nodes)
{
	for (size_t i = 0; i < NODES_MOST / WORD_BITS; i++) {
		if (nodes->words[i])
			return (int)(i * WORD_BITS) + __builtin_ctzl(nodes->words[i]);
	}
	return -1;
}

static int set_memory(const struct kernel_set *nodes)
{
	int first = first_node(nodes);
	struct kernel_set one;

	/* The kernel counts one bit less than the length passed to it. */
	if (first < 0 ||
	    syscall(SYS_set_mempolicy, MPOL_PREFERRED_MANY, nodes->words, NODES_MOST + 1UL) == 0)
		return 0;
	if (errno != EINVAL)
		return -1;
	memset(&one, 0, sizeof(one)); /* older kernels prefer only one node */
	one.words[(size_t)first / WORD_BITS] = 1UL << ((size_t)first % WORD_BITS);
	return syscall(SYS_set_mempolicy, MPOL_PREFERRED, one.words, NODES_MOST + 1UL) == 0 ? 0
											    : -1;
}

/* --- by hwloc's sets -------------------------------------------------------------------------- */

static int copy_set(const struct kernel_set *set, hwloc_bitmap_t cpus)
{
	for (size_t i = 0; i < sizeof(set->words) / sizeof(set->words[0]); i++)
		if (set->words[i] &&
		    hwloc_bitmap_set_ith_ulong(cpus, (unsigned int)i, set->words[i]))
			return -1;
	return 0;
}

hwloc_bitmap_t osp_bind_own_cpus(struct osp_error *error)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	struct kernel_set own;

	if (get_own(&own) < 0)
		osp_error_set(error, "sched_getaffinity: %s", strerror(errno));
	else if (cpus && copy_set(&own, cpus) == 0)
		return cpus;
	else
		osp_error_set(error, "out of memory");
	hwloc_bitmap_free(cpus);
	return NULL;
}

int osp_bind_set_cpus(hwloc_const_bitmap_t cpus, struct osp_error *error)
{
	struct kernel_set set;

	kernel_set_of(cpus, &set);
	if (set_own(&set) == 0)
		return 0;
	return osp_error_set(error, "sched_setaffinity: %s", strerror(errno));
}

hwloc_bitmap_t osp_bind_widest(struct osp_error *error)
{
	struct kernel_set all;

	/* the kernel keeps those of its cgroup */
	memset(&all, 0xff, sizeof(all));
	if (set_own(&all) == 0)
		return osp_bind_own_cpus(error);
	osp_error_set(error, "sched_setaffinity: %s", strerror(errno));
	return NULL;
}

int osp_bind_set_memory(hwloc_const_bitmap_t nodes, struct osp_error *error)
{
	struct kernel_set set;

	kernel_set_of(nodes, &set);
	if (set_memory(&set) == 0)
		return 0;
	return osp_error_set(error, "set_mempolicy: %s", strerror(errno));
}
