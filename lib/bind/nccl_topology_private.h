/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nccl_topology_private.h - what nccl_topology.c reads and nccl_topology_write.c writes */
#ifndef OSP_NCCL_TOPOLOGY_PRIVATE_H
#define OSP_NCCL_TOPOLOGY_PRIVATE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/bind/machine_shape.h"

struct osp_nccl_net {
	const char *name;
	struct osp_nccl_net *next;
};

struct osp_nccl_pci {
	struct osp_nccl_pci *parent; /* NULL: below its <cpu> */
	struct osp_nccl_pci *children;
	struct osp_nccl_pci *next;  /* the next one of the same parent */
	struct osp_nccl_pci *older; /* the one read before */
	struct osp_nccl_net *nets;
	uint32_t domain;
	uint32_t bus;
	uint32_t device;
	uint32_t function;
	uint32_t class_id; /* with the programming interface: 0x030200; 0 if unknown */
	uint32_t vendor_id;
	uint32_t device_id;
	int line;
	bool is_gpu;
	bool is_nic;
};

struct osp_nccl_cpu {
	hwloc_bitmap_t mask; /* may be empty: memory without cores */
	struct osp_nccl_pci *pci;
	struct osp_nccl_cpu *next;
	int numa;
	int line;
};

struct osp_nccl_machine {
	struct osp_nccl_cpu *cpus;
	struct osp_nccl_pci *all_pci;
};

/* Adds the CPUs of a NUMA node of a machine of that shape to `mask`. Returns 0, or -1 if memory ran
 * out. */
int osp_nccl_shape_mask(const struct osp_machine_shape *shape, uint32_t node, hwloc_bitmap_t mask);

/*
 * Completes a file's devices: their kinds, if it says none, and its GPUs, if it has none but as
 * many switches as the type has GPUs (aws-ofi-nccl's file for p5.48xlarge). Returns 0, or -1 if
 * memory ran out.
 */
int osp_nccl_fill(struct osp_nccl_machine *machine, const struct osp_machine_shape *shape,
		  struct osp_arena *arena);

/* Makes a whole machine in an empty one. Returns 0, or -1 if memory ran out. In either case the
 * caller frees the masks. */
int osp_nccl_make(struct osp_nccl_machine *machine, const struct osp_machine_shape *shape,
		  struct osp_arena *arena);

/* Returns hwloc XML, which the caller frees, or NULL if memory ran out. */
char *osp_nccl_write_hwloc(const struct osp_nccl_machine *machine);

#endif
