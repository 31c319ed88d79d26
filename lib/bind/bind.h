/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind.h - which cores, memory, GPUs and NICs each task of a node gets, and why
 *
 * A task gets the cores of the NUMA nodes near its GPUs, whole cores with all their hardware
 * threads. Tasks with GPUs near one NUMA node split its cores by their numbers of GPUs there. The
 * memory of these nodes is preferred, never forced. The only task of a node gets all cores, for its
 * children. If nothing is known of GPUs, the cores are split evenly in the order of NUMA nodes. No
 * CPU outside the allowed ones is ever given out, and no task is left without a core: if there are
 * more tasks than cores to split, each gets all of these, as with Slurm's --overcommit.
 *
 * Pure: reads no file, asks no kernel, sets nothing. A plan never changes. Any thread.
 */
#ifndef OSP_BIND_H
#define OSP_BIND_H

#include <hwloc.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bind/bind_machine.h"

#define OSP_BIND_TASKS_MAX 4096

struct osp_bind_request {
	uint32_t task_count;	/* 1 .. OSP_BIND_TASKS_MAX */
	uint32_t gpus_per_task; /* 0: divide the GPUs evenly, or share them if too few */
	/*
	 * NULL: tasks get GPUs in order. Else the numbers of each task's GPUs; an empty set is a
	 * task without a GPU, a NULL entry a task whose GPUs are unknown.
	 */
	const hwloc_const_bitmap_t *task_gpus;
	hwloc_const_bitmap_t allowed; /* NULL: the machine's allowed_cpus */
	bool silent;		      /* omit reasons ("") and notes, which take most of the time */
};

struct osp_bind_task {
	hwloc_bitmap_t cpus;   /* by the kernel's numbers; never empty */
	hwloc_bitmap_t memory; /* NUMA nodes to prefer, by the kernel's numbers; may be empty */
	hwloc_bitmap_t gpus;   /* numbers of osp_machine.gpus */
	hwloc_bitmap_t nics;   /* near its GPUs; numbers of osp_machine.nics */
	uint32_t core_count;
	const char *reason; /* a sentence without a full stop */
};

struct osp_bind_plan {
	struct osp_bind_task *tasks;
	uint32_t task_count;
	const char **notes; /* sentences about the whole plan, without a full stop */
	uint32_t note_count;
	/* private */
	struct osp_arena arena;
};

/* Makes the plan. Returns NULL with `error` set if memory ran out or the request is impossible
 * (more GPUs than there are, no CPU of the machine allowed). `machine` may be freed before the
 * plan. */
struct osp_bind_plan *osp_bind_plan(const struct osp_machine *machine,
				    const struct osp_bind_request *request,
				    struct osp_error *error);
void osp_bind_plan_free(struct osp_bind_plan *plan); /* NULL is allowed */

#endif
