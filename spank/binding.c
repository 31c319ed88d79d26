/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * binding.c - binds a task of a step to the cores near its GPUs, inside what Slurm gave the step
 *
 * If Slurm confines nothing (no cgroup, no task/affinity) and the job has only a part of the node,
 * nobody knows which cores are its own: then nothing is bound, since two jobs could get the same
 * cores.
 */
#include "onespine_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/environment.h"
#include "lib/bind/bind_child.h"
#include "lib/bind/bind_process.h"
#include "spank/node_step.h"

/* One task that is being bound. */
struct task {
	const struct osp_node_step *step;
	char *const *environment;
	struct osp_bind_child child;
	hwloc_bitmap_t before;	/* as Slurm bound it */
	hwloc_bitmap_t allowed; /* what the task may use of the node */
	const struct osp_node_gpus *gpus;
	struct osp_node_gpus own; /* if they are not the step's */
};

static const char *value(const struct task *task, const char *name)
{
	const char *found = osp_environment_value(task->environment, name);

	return found ? found : "";
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static bool read_gpus(const struct osp_node_step *step, char *const *environment,
		      struct osp_node_gpus *gpus)
{
	const struct osp_machine *machine = step->known->machine;

	gpus->visible = hwloc_bitmap_alloc();
	gpus->step = hwloc_bitmap_alloc();
	if (!gpus->visible || !gpus->step)
		return false;
	gpus->visible_known =
		osp_bind_visible_gpus(machine, step->driver, environment, gpus->visible);
	gpus->step_known = osp_bind_step_gpus(machine, step->driver, environment, gpus->step);
	return true;
}

static void free_gpus(struct osp_node_gpus *gpus)
{
	hwloc_bitmap_free(gpus->visible);
	hwloc_bitmap_free(gpus->step);
	*gpus = (struct osp_node_gpus){.visible = NULL};
}

/* --- the step --------------------------------------------------------------------------------- */

/* Plans all tasks, each with the whole step's CPUs and GPUs. */
static struct osp_bind_plan *plan_step(spank_t spank, const struct osp_node_step *step)
{
	const struct osp_machine *machine = step->known->machine;
	struct osp_bind_child first = {.silent = step->modes.bind != OSP_BIND_VERBOSE};
	hwloc_bitmap_t gpus = hwloc_bitmap_alloc();
	struct osp_bind_plan *plan = NULL;

	if (gpus && !hwloc_bitmap_set_range(gpus, 0, (int)machine->gpu_count - 1) &&
	    spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &first.count) == ESPANK_SUCCESS)
		plan = osp_bind_child_plan(machine, step->plan_cpus, &first, gpus, NULL, NULL);
	hwloc_bitmap_free(gpus);
	return plan;
}

void osp_binding_prepare(spank_t spank, struct osp_node_step *step, char *const *environment)
{
	const struct osp_machine *machine = step->known->machine;
	hwloc_bitmap_t own = osp_bind_own_cpus(NULL);

	step->driver = osp_bind_driver_read(machine, OSP_BIND_DRIVER);
	step->plan_cpus = own ? hwloc_bitmap_dup(own) : NULL;
	if (step->plan_cpus && machine->gpu_count &&
	    !hwloc_bitmap_and(step->plan_cpus, step->plan_cpus, machine->cpus))
		step->plan = plan_step(spank, step);
	if (!read_gpus(step, environment, &step->gpus))
		free_gpus(&step->gpus);
	hwloc_bitmap_free(own);
}

void osp_binding_forget(struct osp_node_step *step)
{
	osp_bind_driver_free(step->driver);
	osp_bind_plan_free(step->plan);
	hwloc_bitmap_free(step->plan_cpus);
	free_gpus(&step->gpus);
}

/* --- what Slurm gave the step ----------------------------------------------------------------- */

/*
 * Joins the masks of all the node's tasks, "0x3,0xc". `cpus` stays empty if there are none. Returns
 * 0, or -1 if they cannot be read.
 */
static int join_masks(const char *list, hwloc_bitmap_t cpus)
{
	hwloc_bitmap_t one = hwloc_bitmap_alloc();
	char mask[4096];
	int rc = one ? 0 : -1;

	for (; rc == 0 && *list; list += strcspn(list, ","), list += *list == ',') {
		size_t length = strcspn(list, ",");

		if (length >= sizeof(mask))
			rc = -1;
		else
			snprintf(mask, sizeof(mask), "%.*s", (int)length, list);
		if (rc == 0 &&
		    (hwloc_bitmap_taskset_sscanf(one, mask) || hwloc_bitmap_or(cpus, cpus, one)))
			rc = -1;
	}
	hwloc_bitmap_free(one);
	return rc;
}

/* Returns whether nobody else uses this node's cores, or nobody else its GPUs. */
static bool has_whole_node(const struct task *task)
{
	const struct osp_machine *machine = task->step->known->machine;
	long cpus = strtol(value(task, "SLURM_CPUS_ON_NODE"), NULL, 10);

	if (cpus >= hwloc_bitmap_weight(machine->cpus))
		return true;
	return machine->gpu_count &&
	       osp_node_has_all_gpus(task->step, task->gpus->step_known, task->gpus->step);
}

/*
 * Finds the CPUs that the task may use; returns why there are none, or NULL. A task's own mask is
 * Slurm's part of the node for it. If Slurm itself chose the mask, the step's CPUs are those of all
 * its tasks. If the mask was inherited, nobody chose it, and the step's CPUs are its cgroup's.
 */
static const char *find_allowed(struct task *task)
{
	const struct osp_machine *machine = task->step->known->machine;
	bool masks = !strncmp(value(task, "SLURM_CPU_BIND_TYPE"), "mask_cpu", 8);
	hwloc_bitmap_t joined = hwloc_bitmap_alloc(), widest = NULL;
	const char *why = NULL;

	if (masks && joined && !task->step->modes.inherited &&
	    join_masks(value(task, "SLURM_CPU_BIND_LIST"), joined))
		hwloc_bitmap_zero(joined);
	if (masks)
		widest = osp_bind_widest(NULL);
	if (widest && task->step->modes.inherited &&
	    (has_whole_node(task) || !hwloc_bitmap_isincluded(machine->cpus, widest)))
		hwloc_bitmap_copy(joined, widest);
	if (widest && !hwloc_bitmap_iszero(joined))
		hwloc_bitmap_and(task->allowed, joined, widest);
	else
		hwloc_bitmap_copy(task->allowed, task->before);
	hwloc_bitmap_and(task->allowed, task->allowed, machine->cpus);
	if (hwloc_bitmap_iszero(task->allowed))
		why = "none of its CPUs is one of this node's topology";
	else if (hwloc_bitmap_isequal(task->allowed, machine->cpus) && !has_whole_node(task))
		why = "Slurm confines it to no part of this node, of which it has but a part";
	hwloc_bitmap_free(joined);
	hwloc_bitmap_free(widest);
	return why;
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Returns whether Slurm deals GPUs to tasks. Inside device cgroups each task counts its GPUs from
 * 0; Slurm then deals them in the tasks' order. */
static bool dealt_by_slurm(const struct task *task)
{
	return strstr(value(task, "SLURMD_TRES_BIND"), "per_task:") != NULL &&
	       task->gpus->step_known == 1;
}

static hwloc_const_bitmap_t visible_gpus(const struct task *task)
{
	if (dealt_by_slurm(task))
		return task->gpus->step;
	return task->gpus->visible_known == 1 ? task->gpus->visible : NULL;
}

/* Returns the step's plan if it holds for this task, else NULL. */
static const struct osp_bind_plan *find_plan(const struct task *task)
{
	const struct osp_node_step *step = task->step;
	hwloc_const_bitmap_t gpus = visible_gpus(task);

	if (!step->plan || !osp_node_has_all_gpus(step, gpus != NULL, gpus) ||
	    step->plan->task_count != task->child.count ||
	    !hwloc_bitmap_isequal(task->allowed, step->plan_cpus))
		return NULL;
	return step->plan;
}

static struct osp_bind_plan *make_plan(const struct task *task, struct osp_error *error)
{
	return osp_bind_child_plan(task->step->known->machine, task->allowed, &task->child,
				   visible_gpus(task),
				   task->gpus->step_known == 1 ? task->gpus->step : NULL, error);
}

static void say_bound(const struct task *task, const struct osp_bind_task *plan)
{
	char *cpus = NULL, *memory = NULL;

	if (hwloc_bitmap_list_asprintf(&cpus, plan->cpus) >= 0 &&
	    hwloc_bitmap_list_asprintf(&memory, plan->memory) >= 0)
		osp_node_say("bind: task %s on %s: CPUs %s, memory of NUMA node %s preferred: %s",
			     value(task, "SLURM_PROCID"), value(task, "SLURMD_NODENAME"), cpus,
			     *memory ? memory : "-", plan->reason);
	free(cpus);
	free(memory);
}

static bool bind_task(const struct task *task, struct osp_error *error)
{
	const struct osp_bind_plan *found = find_plan(task);
	struct osp_bind_plan *made = found ? NULL : make_plan(task, error);
	const struct osp_bind_plan *plan = found ? found : made;
	const struct osp_bind_task *mine = plan ? &plan->tasks[task->child.rank] : NULL;
	bool bound = mine && osp_bind_set_cpus(mine->cpus, error) == 0;

	if (bound && osp_bind_set_memory(mine->memory, NULL) < 0)
		error->text[0] = '\0'; /* only a preference; containers may forbid it */
	if (bound && task->step->modes.bind == OSP_BIND_VERBOSE)
		say_bound(task, mine);
	osp_bind_plan_free(made);
	return bound;
}

/* --- the task --------------------------------------------------------------------------------- */

/* Returns the user's own setting that forbids our binding, or NULL. */
static const char *users_choice(const struct task *task)
{
	const char *type = value(task, "SLURM_CPU_BIND_TYPE");

	if (task->step->modes.bound_with[0])
		return task->step->modes.bound_with;
	/* an srun without us cannot say; these values Slurm never chooses by itself */
	if (!task->step->modes.client_reported &&
	    (!strncmp(type, "none", 4) || !strncmp(type, "map_", 4) || strstr(type, "ldom")))
		return "SLURM_CPU_BIND_TYPE";
	return NULL;
}

static bool prepare(spank_t spank, struct task *task, bool same)
{
	uint32_t rank = 0, count = 0;

	if (spank_get_item(spank, S_TASK_ID, &rank) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &count) != ESPANK_SUCCESS ||
	    rank >= count || count > OSP_BIND_TASKS_MAX)
		return false;
	task->child =
		(struct osp_bind_child){rank, count, task->step->modes.bind != OSP_BIND_VERBOSE};
	task->before = osp_bind_own_cpus(NULL);
	task->allowed = hwloc_bitmap_alloc();
	if (!task->before || !task->allowed)
		return false;
	task->gpus = same && task->step->gpus.visible ? &task->step->gpus : &task->own;
	return task->gpus != &task->own || read_gpus(task->step, task->environment, &task->own);
}

static void let_go(struct task *task)
{
	hwloc_bitmap_free(task->before);
	hwloc_bitmap_free(task->allowed);
	free_gpus(&task->own);
}

bool osp_binding_apply(spank_t spank, const struct osp_node_step *step, char *const *environment,
		       bool same)
{
	struct task task = {.step = step, .environment = environment};
	struct osp_error error = {.text = ""};
	const char *choice = users_choice(&task), *why = choice;
	bool bound = false;

	if (!choice && prepare(spank, &task, same)) {
		why = find_allowed(&task);
		bound = !why && bind_task(&task, &error);
		if (!bound)
			(void)osp_bind_set_cpus(task.before, NULL);
		if (!bound && !why)
			why = error.text;
	}
	if (!bound && step->modes.bind == OSP_BIND_VERBOSE)
		osp_node_say("bind: task %s on %s: left as it is: %s%s",
			     value(&task, "SLURM_PROCID"), value(&task, "SLURMD_NODENAME"),
			     why ? why : "Slurm does not say which task it is",
			     choice ? " is given" : "");
	let_go(&task);
	return bound;
}
