/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind.h - a machine and the plan of its tasks, shown for people, as JSON and as a picture; and
 * what `onespine bind run` finds in its environment
 *
 * Knows no Slurm. One thread.
 */
#ifndef OSP_TOOLS_BIND_H
#define OSP_TOOLS_BIND_H

#include <jansson.h>
#include <stdint.h>

#include "lib/bind.h"
#include "lib/text.h"

struct osp_bind_view {
	const char *source; /* the file, or "this machine" */
	const struct osp_machine *machine;
	const struct osp_bind_plan *plan;
	hwloc_const_bitmap_t allowed;
};

void osp_bind_text(const struct osp_bind_view *view, struct osp_text *text);
json_t *osp_bind_json(const struct osp_bind_view *view); /* NULL when memory ran out */
void osp_bind_svg(const struct osp_bind_view *view, struct osp_text *text);

/* "0-3,8" of a set; "-" for an empty one. */
void osp_bind_add_list(struct osp_text *text, hwloc_const_bitmap_t set);

/* A NIC's device, or its bus id where it has none. */
const char *osp_bind_nic_name(const struct osp_machine_device *nic);

/* "2 NUMA nodes, 48 cores, 96 CPUs, 8 GPUs, 4 NICs" */
void osp_bind_summary(const struct osp_bind_view *view, struct osp_text *text);

/* --- bind_process.c --------------------------------------------------------------------------- */

/* The CPUs that this process may run on: its cgroup's, and as its launcher bound it. NULL with
 * `error` set. To be freed. */
hwloc_bitmap_t osp_bind_own_cpus(struct osp_error *error);

/* 0, or -1 with `error` set. Memory is preferred, never forced: where these nodes are full, others
 * serve; an empty set changes nothing. */
int osp_bind_set_cpus(hwloc_const_bitmap_t cpus, struct osp_error *error);
int osp_bind_set_memory(hwloc_const_bitmap_t nodes, struct osp_error *error);

/* --- bind_environment.c ----------------------------------------------------------------------- */

/* Which child of a launcher this is. */
struct osp_bind_child {
	uint32_t rank; /* on this node, from 0 */
	uint32_t count;
};

/* From LOCAL_RANK and LOCAL_WORLD_SIZE. 0, or -1 with `error` set. */
int osp_bind_child(struct osp_bind_child *child, struct osp_error *error);

/*
 * The GPUs that this process may see, by the environment (CUDA_VISIBLE_DEVICES and its like, and
 * Slurm's SLURM_STEP_GPUS), added to `gpus` by the machine's numbers. `driver` is the NVIDIA
 * driver's folder, /proc/driver/nvidia. Returns 1; 0 where a name cannot be told (MIG); -1 when
 * memory ran out.
 */
int osp_bind_visible_gpus(const struct osp_machine *machine, const char *driver,
			  hwloc_bitmap_t gpus);

/*
 * The plan of all children on this node, a task each, by rank, where this one sees `gpus` (NULL:
 * not known). All are taken to see the same, unless these are just this child's part of the
 * machine's. NULL with `error` set.
 */
struct osp_bind_plan *osp_bind_child_plan(const struct osp_machine *machine,
					  hwloc_const_bitmap_t allowed,
					  const struct osp_bind_child *child,
					  hwloc_const_bitmap_t gpus, struct osp_error *error);

#endif
