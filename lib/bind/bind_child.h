/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_child.h - which of several processes on a node this is, which GPUs it sees, and its plan
 *
 * For the children of a launcher and for a step's tasks. All is read from an environment that the
 * caller hands over ("NAME=value", ended by NULL) and from the driver's folder,
 * /proc/driver/nvidia, which is read once. One thread.
 */
#ifndef OSP_BIND_CHILD_H
#define OSP_BIND_CHILD_H

#include <hwloc.h>
#include <stdint.h>

#include "lib/bind/bind.h"

struct osp_bind_child {
	uint32_t rank; /* on this node, from 0 */
	uint32_t count;
	bool silent; /* its plan needs no words */
};

/* From LOCAL_RANK and LOCAL_WORLD_SIZE. 0, or -1 with `error` set. */
int osp_bind_child(char *const *environment, struct osp_bind_child *child, struct osp_error *error);

#define OSP_BIND_DRIVER "/proc/driver/nvidia"

/* The numbers and UUIDs that the driver gave the machine's GPUs. */
struct osp_bind_driver;

/* Of a folder like /proc/driver/nvidia; nothing is known from a missing one. NULL when memory ran
 * out. */
struct osp_bind_driver *osp_bind_driver_read(const struct osp_machine *machine, const char *folder);
void osp_bind_driver_free(struct osp_bind_driver *driver); /* NULL is allowed */

/*
 * The GPUs that this process may see, by the environment (CUDA_VISIBLE_DEVICES and its like, and
 * Slurm's SLURM_STEP_GPUS), added to `gpus` by the machine's numbers. Returns 1; 0 if a name
 * cannot be resolved (MIG); -1 when memory ran out. If `driver` is NULL, nothing is known from it.
 */
int osp_bind_visible_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
			  char *const *environment, hwloc_bitmap_t gpus);

/* The same of all GPUs that Slurm gave the step on this node; 0 also if it names none. */
int osp_bind_step_gpus(const struct osp_machine *machine, const struct osp_bind_driver *driver,
		       char *const *environment, hwloc_bitmap_t gpus);

/*
 * The plan of all children on this node, a task each, by rank, where this one sees `gpus` (NULL:
 * not known) of `among`, those that all children have together (NULL: the machine's). All are taken
 * to see the same, unless these are just this child's part of `among`. NULL with `error` set.
 */
struct osp_bind_plan *osp_bind_child_plan(const struct osp_machine *machine,
					  hwloc_const_bitmap_t allowed,
					  const struct osp_bind_child *child,
					  hwloc_const_bitmap_t gpus, hwloc_const_bitmap_t among,
					  struct osp_error *error);

#endif
