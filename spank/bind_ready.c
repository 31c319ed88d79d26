/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_ready.c - binds a task by the step's plan, unless the task itself says otherwise
 *
 * A task is a process just forked: the first touch of each page costs time, again in every task,
 * and some of these pages are hwloc's code. So what is set in the kernel is computed once a step. A
 * task that the step did not foresee takes binding.c's long way, which decides everything anew.
 */
#include "onespine_config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/environment.h"
#include "lib/bind/bind_process.h"
#include "spank/node_step.h"

#define TASKS_MOST 256 /* each set has 1 KiB */

struct osp_bind_ready {
	struct osp_kernel_set own; /* the step's process, as a task inherits it */
	uint32_t count;
	uint32_t machine_cpus;
	bool confined; /* to a part of the machine, or the step has all of its GPUs */
	struct {
		struct osp_kernel_set cpus, memory;
		bool stays; /* where it is: its CPUs are the step's */
	} tasks[];
};

struct osp_bind_ready *osp_bind_make_ready(const struct osp_node_step *step,
					   hwloc_const_bitmap_t own)
{
	const struct osp_machine *machine = step->known->machine;
	const struct osp_bind_plan *plan = step->plan;
	const struct osp_node_gpus *gpus = &step->gpus;
	struct osp_bind_ready *ready;

	if (!plan || plan->task_count > TASKS_MOST ||
	    !osp_node_has_all_gpus(step, gpus->visible_known, gpus->visible) ||
	    step->modes.bind == OSP_BIND_VERBOSE)
		return NULL;
	ready = malloc(sizeof(*ready) + plan->task_count * sizeof(ready->tasks[0]));
	if (!ready)
		return NULL;
	ready->count = plan->task_count;
	ready->machine_cpus = (uint32_t)hwloc_bitmap_weight(machine->cpus);
	ready->confined = osp_node_has_all_gpus(step, gpus->step_known, gpus->step) ||
			  !hwloc_bitmap_isequal(step->plan_cpus, machine->cpus);
	osp_kernel_set_of(own, &ready->own);
	for (uint32_t i = 0; i < plan->task_count; i++) {
		osp_kernel_set_of(plan->tasks[i].cpus, &ready->tasks[i].cpus);
		osp_kernel_set_of(plan->tasks[i].memory, &ready->tasks[i].memory);
		ready->tasks[i].stays = hwloc_bitmap_isequal(plan->tasks[i].cpus, own);
	}
	return ready;
}

/* Checks what binding.c would check before it gives a task its part of the step's plan. */
static bool foreseen(const struct osp_bind_ready *ready, char *const *environment)
{
	const char *type = osp_environment_value(environment, "SLURM_CPU_BIND_TYPE");
	const char *dealt = osp_environment_value(environment, "SLURMD_TRES_BIND");
	const char *cpus = osp_environment_value(environment, "SLURM_CPUS_ON_NODE");

	return (!type || !*type) && !(dealt && strstr(dealt, "per_task:")) &&
	       (ready->confined || (cpus && strtoul(cpus, NULL, 10) >= ready->machine_cpus)) &&
	       osp_bind_runs_on(&ready->own);
}

bool osp_bind_as_ready(spank_t spank, const struct osp_bind_ready *ready, char *const *environment)
{
	uint32_t rank = 0, count = 0;

	return ready && spank_get_item(spank, S_TASK_ID, &rank) == ESPANK_SUCCESS &&
	       spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &count) == ESPANK_SUCCESS &&
	       count == ready->count && rank < count && foreseen(ready, environment) &&
	       osp_bind_set_kernel(ready->tasks[rank].stays ? NULL : &ready->tasks[rank].cpus,
				   &ready->tasks[rank].memory);
}
