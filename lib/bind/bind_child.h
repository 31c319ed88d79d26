/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_child.h - which of a node's processes this is, which GPUs it sees, and its plan
 *
 * For the children of a launcher and for a step's tasks. Reads only an environment that the caller
 * passes ("NAME=value", ended by NULL) and, once, the driver's folder /proc/driver/nvidia. One
 * thread.
 */
#ifndef OSP_BIND_CHILD_H
#define OSP_BIND_CHILD_H

#include <hwloc.h>
#include <stdint.h>

#include "lib/bind/bind.h"

struct osp_bind_child {
	uint32_t rank; /* on this node, from 0 */
	uint32_t count;
	bool silent; /* leave out the words of the plan */
};

/* Reads LOCAL_RANK and LOCAL_WORLD_SIZE. Returns 0, or -1 with `error` set. */
int osp_bind_child(char *const *environment, struct osp_bind_child *child, struct osp_error *error);

#define OSP_BIND_DRIVER "/proc/driver/nvidia"

/* The numbers and UUIDs that the driver gave to the machine's GPUs. */
struct osp_bind_driver;

/* Reads a folder like /proc/driver/nvidia; from a missing folder nothing is known. Returns NULL if
 * memory ran out. */
struct osp_bind_driver *osp_bind_driver_read(const struct osp_machine *machine, const char *folder);
void osp_bind_driver_free(struct osp_bind_driver *driver); /* NULL is allowed */

/*
 * Adds to `gpus`, by the machine's numbers, the GPUs that this process may see according to the
 * environment (CUDA_VISIBLE_DEVICES and its like, and Slurm's SLURM_STEP_GPUS). Returns 1; 0 if a
 * name cannot be resolved (MIG); -1 if memory ran out. If `driver` is NULL, nothing is known from
 * it.
 */
int osp_bind_visible_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
			  char *const *environment, hwloc_bitmap_t gpus);

/* Does the same for all GPUs that Slurm gave the step on this node; returns 0 also if it names
 * none. */
int osp_bind_step_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
		       char *const *environment, hwloc_bitmap_t gpus);

/*
 * Returns the plan of all children on this node, one task each, by rank. This child sees `gpus`
 * (NULL: unknown) of `among`, the GPUs that all children have together (NULL: the machine's). All
 * children are assumed to see the same GPUs, unless `gpus` is exactly this child's part of `among`.
 * Returns NULL with `error` set if it fails.
 */
struct osp_bind_plan *osp_bind_child_plan(const struct osp_machine *machine,
					  hwloc_const_bitmap_t allowed,
					  const struct osp_bind_child *child,
					  hwloc_const_bitmap_t gpus, hwloc_const_bitmap_t among,
					  struct osp_error *error);

#endif
