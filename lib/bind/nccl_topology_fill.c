/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nccl_topology_fill.c - completes a NCCL topology with what is known of the machine's type */
#include <hwloc.h>
#include <stdlib.h>

#include "lib/bind/nccl_topology_private.h"

#define FIRST_GPU_BUS 0x01
#define FIRST_NIC_BUS 0x80
#define CLASS_GPU     0x0302
#define CLASS_DISPLAY 0x0380

int osp_nccl_shape_mask(const struct osp_machine_shape *shape, uint32_t node, hwloc_bitmap_t mask)
{
	uint32_t cores = shape->cpus / shape->threads;
	uint32_t first = cores * node / shape->nodes;
	uint32_t end = cores * (node + 1) / shape->nodes;
	int failed = 0;

	for (uint32_t thread = 0; thread < shape->threads; thread++)
		failed |= hwloc_bitmap_set_range(mask, thread * cores + first,
						 (int)(thread * cores + end - 1));
	return failed ? -1 : 0;
}

static void take_kind(struct osp_nccl_pci *pci, const struct osp_shape_pci *kind)
{
	pci->class_id = kind->class_id;
	pci->vendor_id = kind->vendor_id;
	pci->device_id = kind->device_id;
}

/* --- devices of a file ------------------------------------------------------------------------ */

static bool is_unknown(const struct osp_nccl_pci *pci)
{
	return !pci->children && !pci->class_id && !pci->is_gpu && !pci->is_nic && !pci->nets;
}

static bool is_gpu(const struct osp_nccl_pci *pci)
{
	return pci->is_gpu || pci->class_id >> 8 == CLASS_GPU ||
	       pci->class_id >> 8 == CLASS_DISPLAY;
}

/* Returns the next device in the order of the file, those below a device before those beside it. */
static struct osp_nccl_pci *next_pci(struct osp_nccl_pci *pci)
{
	if (pci->children)
		return pci->children;
	while (pci && !pci->next)
		pci = pci->parent;
	return pci ? pci->next : NULL;
}

/* Gives the devices of unknown kind theirs, if their number reports it: all are NICs, or GPUs, or
 * first GPUs and then NICs. */
static void name_kinds(struct osp_nccl_machine *machine, const struct osp_machine_shape *shape,
		       uint32_t unknown, bool has_gpus)
{
	uint32_t gpus = has_gpus ? 0 : shape->gpus, seen = 0;

	if (unknown == shape->nics)
		gpus = 0;
	else if (unknown != gpus && unknown != gpus + shape->nics)
		return;
	for (struct osp_nccl_cpu *cpu = machine->cpus; cpu; cpu = cpu->next)
		for (struct osp_nccl_pci *pci = cpu->pci; pci; pci = next_pci(pci))
			if (is_unknown(pci))
				take_kind(pci, seen++ < gpus ? &shape->gpu : &shape->nic);
}

/* Adds a GPU below a switch, with the bus after that of the last device there. */
static int add_gpu(struct osp_nccl_pci *bridge, const struct osp_machine_shape *shape,
		   struct osp_arena *arena)
{
	struct osp_nccl_pci *gpu = osp_arena_take(arena, sizeof(*gpu));
	struct osp_nccl_pci *last = bridge->children;

	if (!gpu)
		return -1;
	while (last->next)
		last = last->next;
	gpu->parent = bridge;
	gpu->domain = last->domain;
	gpu->bus = (last->bus + 1) & 0xff;
	take_kind(gpu, &shape->gpu);
	last->next = gpu;
	return 0;
}

/* Adds the GPUs of a file without any that has as many switches: one to each. */
static int add_gpus(struct osp_nccl_machine *machine, const struct osp_machine_shape *shape,
		    struct osp_arena *arena)
{
	uint32_t switches = 0;

	for (struct osp_nccl_cpu *cpu = machine->cpus; cpu; cpu = cpu->next)
		for (struct osp_nccl_pci *pci = cpu->pci; pci; pci = pci->next)
			switches += pci->children != NULL;
	if (switches != shape->gpus)
		return 0;
	for (struct osp_nccl_cpu *cpu = machine->cpus; cpu; cpu = cpu->next)
		for (struct osp_nccl_pci *pci = cpu->pci; pci; pci = pci->next)
			if (pci->children && add_gpu(pci, shape, arena))
				return -1;
	return 0;
}

int osp_nccl_fill(struct osp_nccl_machine *machine, const struct osp_machine_shape *shape,
		  struct osp_arena *arena)
{
	uint32_t unknown = 0;
	bool has_gpus = false;

	for (struct osp_nccl_cpu *cpu = machine->cpus; cpu; cpu = cpu->next) {
		for (struct osp_nccl_pci *pci = cpu->pci; pci; pci = next_pci(pci)) {
			unknown += is_unknown(pci);
			has_gpus |= is_gpu(pci);
		}
	}
	if (unknown)
		name_kinds(machine, shape, unknown, has_gpus);
	for (struct osp_nccl_cpu *cpu = machine->cpus; cpu; cpu = cpu->next)
		for (struct osp_nccl_pci *pci = cpu->pci; pci; pci = next_pci(pci))
			has_gpus |= is_gpu(pci) || pci->class_id == shape->gpu.class_id;
	return has_gpus ? 0 : add_gpus(machine, shape, arena);
}

/* --- a machine without a file ----------------------------------------------------------------- */

static int add_device(struct osp_nccl_cpu *cpu, uint32_t bus, const struct osp_shape_pci *kind,
		      struct osp_arena *arena)
{
	struct osp_nccl_pci *pci = osp_arena_take(arena, sizeof(*pci)), **last = &cpu->pci;

	if (!pci)
		return -1;
	pci->bus = bus;
	take_kind(pci, kind);
	while (*last)
		last = &(*last)->next;
	*last = pci;
	return 0;
}

/* Adds those of `count` devices that are dealt to the node. */
static int add_devices(struct osp_nccl_cpu *cpu, const struct osp_machine_shape *shape,
		       uint32_t count, uint32_t first_bus, const struct osp_shape_pci *kind,
		       struct osp_arena *arena)
{
	for (uint32_t i = 0; i < count; i++)
		if (i * shape->nodes / count == (uint32_t)cpu->numa &&
		    add_device(cpu, first_bus + i, kind, arena))
			return -1;
	return 0;
}

int osp_nccl_make(struct osp_nccl_machine *machine, const struct osp_machine_shape *shape,
		  struct osp_arena *arena)
{
	struct osp_nccl_cpu **last = &machine->cpus;

	for (uint32_t node = 0; node < shape->nodes; node++) {
		struct osp_nccl_cpu *cpu = osp_arena_take(arena, sizeof(*cpu));

		if (!cpu)
			return -1;
		cpu->numa = (int)node;
		cpu->mask = hwloc_bitmap_alloc();
		*last = cpu;
		last = &cpu->next;
		if (!cpu->mask || osp_nccl_shape_mask(shape, node, cpu->mask) ||
		    add_devices(cpu, shape, shape->gpus, FIRST_GPU_BUS, &shape->gpu, arena) ||
		    add_devices(cpu, shape, shape->nics, FIRST_NIC_BUS, &shape->nic, arena))
			return -1;
	}
	return 0;
}
