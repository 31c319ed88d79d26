/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind.c - which cores, memory, GPUs and NICs each task of a node gets, and why */
#include "lib/bind/bind.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bind/bind_private.h"

/* --- usable cores ----------------------------------------------------------------------------- */

static bool find_usable(struct osp_bind_state *state)
{
	const struct osp_machine *machine = state->machine;
	hwloc_const_bitmap_t allowed = state->request->allowed;
	uint32_t i;

	state->allowed = hwloc_bitmap_dup(allowed ? allowed : machine->allowed_cpus);
	if (!state->allowed || hwloc_bitmap_and(state->allowed, state->allowed, machine->cpus))
		return false;
	for (i = 0; i < machine->core_count; i++) {
		state->usable[i] = osp_core_has_any(&machine->cores[i], state->allowed);
		if (!state->usable[i])
			continue;
		state->usable_count++;
		state->usable_cores[machine->cores[i].domain]++;
	}
	return true;
}

/* --- GPUs of tasks ---------------------------------------------------------------------------- */

static bool is_unknown(const struct osp_bind_state *state, uint32_t task)
{
	return state->request->task_gpus && !state->request->task_gpus[task];
}

static int give_range(struct osp_bind_task *task, uint32_t first, uint32_t end)
{
	return end > first ? hwloc_bitmap_set_range(task->gpus, first, (int)end - 1) : 0;
}

/* Deals GPUs in order: a fixed number to each task, or all of them evenly, or one GPU to several
 * tasks. */
static int deal_gpus(struct osp_bind_state *state, uint32_t task)
{
	struct osp_bind_task *entry = &state->plan->tasks[task];
	uint64_t gpus = state->machine->gpu_count;
	uint64_t tasks = state->plan->task_count;
	uint32_t each = state->request->gpus_per_task;

	if (each)
		return give_range(entry, task * each, (task + 1) * each);
	if (gpus < tasks)
		return gpus ? give_range(entry, (uint32_t)(task * gpus / tasks),
					 (uint32_t)(task * gpus / tasks) + 1)
			    : 0;
	return give_range(entry, (uint32_t)(task * gpus / tasks),
			  (uint32_t)((task + 1) * gpus / tasks));
}

static int set_gpus(struct osp_bind_state *state, uint32_t task)
{
	const hwloc_const_bitmap_t *given = state->request->task_gpus;

	if (!given)
		return deal_gpus(state, task);
	return given[task] ? hwloc_bitmap_copy(state->plan->tasks[task].gpus, given[task]) : 0;
}

/* Weighs the domains near a task's GPUs; a task near none gets the reason. */
static int weigh_task(struct osp_bind_state *state, uint32_t task)
{
	const struct osp_machine *machine = state->machine;
	struct osp_bind_task *entry = &state->plan->tasks[task];
	bool known = false, found = false;
	uint32_t domain;
	int gpu;

	for (gpu = hwloc_bitmap_first(entry->gpus); gpu >= 0;
	     gpu = hwloc_bitmap_next(entry->gpus, gpu)) {
		const struct osp_machine_device *device = &machine->gpus[gpu];

		known = known || !hwloc_bitmap_iszero(device->cpus);
		if (hwloc_bitmap_or(entry->nics, entry->nics, device->nics))
			return -1;
		for (domain = 0; domain < machine->domain_count; domain++) {
			if (!state->usable_cores[domain] ||
			    !hwloc_bitmap_intersects(machine->domains[domain].cpus, device->cpus))
				continue;
			found = true;
			if ((*osp_bind_weight(state, task, domain))++ == 0)
				state->sharers[domain]++;
		}
	}
	if (state->plan->task_count == 1) {
		state->causes[task] = OSP_BIND_ALONE;
		return 0;
	}
	state->causes[task] = found   ? OSP_BIND_NEAR
			      : known ? OSP_BIND_FORBIDDEN
			      : hwloc_bitmap_iszero(entry->gpus) && !is_unknown(state, task)
				      ? OSP_BIND_NO_GPU
				      : OSP_BIND_UNKNOWN;
	state->far_count += !found;
	return 0;
}

static int weigh_tasks(struct osp_bind_state *state)
{
	uint32_t task;

	for (task = 0; task < state->plan->task_count; task++)
		if (set_gpus(state, task) || weigh_task(state, task))
			return -1;
	return 0;
}

/* --- cores ------------------------------------------------------------------------------------ */

static int give_core(struct osp_bind_state *state, uint32_t task, uint32_t core)
{
	struct osp_bind_task *entry = &state->plan->tasks[task];
	const struct osp_machine_core *given = &state->machine->cores[core];
	const struct osp_machine_domain *domain = &state->machine->domains[given->domain];

	entry->core_count++;
	state->takers[core]++;
	if (domain->os_index != OSP_NO_MEMORY &&
	    hwloc_bitmap_isset(state->machine->allowed_memory, domain->os_index) &&
	    hwloc_bitmap_set(entry->memory, domain->os_index))
		return -1;
	for (uint32_t i = 0; i < given->cpu_count; i++) {
		if (hwloc_bitmap_isset(state->allowed, given->cpus[i]) &&
		    hwloc_bitmap_set(entry->cpus, given->cpus[i]))
			return -1;
	}
	return 0;
}

/*
 * Sets [*first, *end) to the part of `count` cores that weights [before, before + weight) of `all`
 * stand for. Shares differ by at most one core, and each has at least one, shared if need be. If
 * there are more `sharers` than cores, each gets all of them: if each were bound to one, some would
 * wait while others idle.
 */
static void part_of(uint32_t count, uint32_t sharers, uint64_t before, uint64_t weight,
		    uint64_t all, uint32_t *first, uint32_t *end)
{
	if (sharers > count) {
		*first = 0;
		*end = count;
		return;
	}
	*first = (uint32_t)(count * before / all);
	*end = (uint32_t)(count * (before + weight) / all);
	if (*end == *first)
		*end = *first + 1;
}

/* Gives a task the usable cores [first, end), counted over the domains that `domains` marks. */
static int give_cores(struct osp_bind_state *state, uint32_t task, const bool *domains,
		      uint32_t first, uint32_t end)
{
	const struct osp_machine *machine = state->machine;
	uint32_t at = 0;
	uint32_t core;

	for (core = 0; core < machine->core_count && at < end; core++) {
		if (!domains[machine->cores[core].domain] || !state->usable[core])
			continue;
		if (at >= first && give_core(state, task, core))
			return -1;
		at++;
	}
	return 0;
}

/* One of the tasks that split a domain. */
struct sharer {
	uint32_t task;
	uint32_t weight;
	int near_cpu; /* the first CPU of the domain near one of its GPUs */
};

static int near_cpu(const struct osp_bind_state *state, uint32_t task, uint32_t domain)
{
	const struct osp_machine *machine = state->machine;
	hwloc_const_bitmap_t gpus = state->plan->tasks[task].gpus;
	int first = INT32_MAX;
	int gpu;

	for (gpu = hwloc_bitmap_first(gpus); gpu >= 0; gpu = hwloc_bitmap_next(gpus, gpu)) {
		hwloc_const_bitmap_t near = machine->gpus[gpu].cpus;
		int cpu = hwloc_bitmap_first(near);

		while (cpu >= 0 &&
		       !hwloc_bitmap_isset(machine->domains[domain].cpus, (unsigned int)cpu))
			cpu = hwloc_bitmap_next(near, cpu);
		if (cpu >= 0 && cpu < first)
			first = cpu;
	}
	return first;
}

static int by_near_cpu(const void *a, const void *b)
{
	const struct sharer *x = a, *y = b;

	if (x->near_cpu != y->near_cpu)
		return x->near_cpu < y->near_cpu ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* Returns the tasks with GPUs near a domain, in the order of the cores near these GPUs, so that
 * each task gets its own cores if GPUs are near only some of them (those of a cache). */
static struct sharer *find_sharers(const struct osp_bind_state *state, uint32_t domain)
{
	struct sharer *sharers = calloc(state->sharers[domain], sizeof(*sharers));
	uint32_t count = 0;
	uint32_t task;

	for (task = 0; sharers && task < state->plan->task_count; task++) {
		uint32_t weight = *osp_bind_weight(state, task, domain);

		if (weight) {
			sharers[count].task = task;
			sharers[count].weight = weight;
			sharers[count++].near_cpu = near_cpu(state, task, domain);
		}
	}
	if (sharers)
		qsort(sharers, count, sizeof(*sharers), by_near_cpu);
	return sharers;
}

/* Splits one domain among the tasks with GPUs near it, by their numbers of these GPUs. */
static int split_domain(struct osp_bind_state *state, uint32_t domain, bool *domains)
{
	struct sharer *sharers = find_sharers(state, domain);
	uint64_t all = 0, before = 0;
	int rc = sharers ? 0 : -1;
	uint32_t i;

	for (i = 0; sharers && i < state->sharers[domain]; i++)
		all += sharers[i].weight;
	domains[domain] = true;
	for (i = 0; i < state->sharers[domain] && rc == 0; i++) {
		uint32_t first, end;

		part_of(state->usable_cores[domain], state->sharers[domain], before,
			sharers[i].weight, all, &first, &end);
		rc = give_cores(state, sharers[i].task, domains, first, end);
		before += sharers[i].weight;
	}
	domains[domain] = false;
	free(sharers);
	return rc;
}

/* Marks the domains without a sharer. Returns how many usable cores they have, 0 if there are
 * none. */
static uint32_t free_domains(const struct osp_bind_state *state, bool *domains)
{
	uint32_t count = state->machine->domain_count;
	uint32_t cores = 0;
	uint32_t domain;

	for (domain = 0; domain < count; domain++) {
		domains[domain] = state->sharers[domain] == 0;
		cores += domains[domain] ? state->usable_cores[domain] : 0;
	}
	return cores;
}

/* Gives the tasks that are near nothing even parts of the free cores, or all cores, shared with the
 * others, if none is free. */
static int split_rest(struct osp_bind_state *state, bool *domains)
{
	uint32_t cores = free_domains(state, domains);
	uint32_t number = 0;
	uint32_t task;

	if (!cores)
		memset(domains, true, state->machine->domain_count * sizeof(*domains));
	for (task = 0; task < state->plan->task_count; task++) {
		uint32_t first = 0, end = state->usable_count;

		if (state->causes[task] == OSP_BIND_NEAR)
			continue;
		if (cores)
			part_of(cores, state->far_count, number++, 1, state->far_count, &first,
				&end);
		if (give_cores(state, task, domains, first, end))
			return -1;
	}
	return 0;
}

static int split_cores(struct osp_bind_state *state)
{
	uint32_t count = state->machine->domain_count;
	bool *domains = calloc(count, sizeof(*domains));
	uint32_t domain;
	int rc = domains ? 0 : -1;

	if (rc == 0 && state->causes[0] == OSP_BIND_ALONE) {
		memset(domains, true, count * sizeof(*domains));
		rc = give_cores(state, 0, domains, 0, state->usable_count);
		free(domains);
		return rc;
	}
	for (domain = 0; domain < count && rc == 0; domain++)
		if (state->sharers[domain])
			rc = split_domain(state, domain, domains);
	if (rc == 0 && state->far_count)
		rc = split_rest(state, domains);
	free(domains);
	return rc;
}

/* --- the plan --------------------------------------------------------------------------------- */

static bool make_room(struct osp_bind_state *state)
{
	const struct osp_machine *machine = state->machine;
	uint32_t tasks = state->request->task_count;
	struct osp_bind_plan *plan = calloc(1, sizeof(*plan));
	uint32_t i;

	state->plan = plan;
	state->usable = calloc(machine->core_count, sizeof(*state->usable));
	state->usable_cores = calloc(machine->domain_count, sizeof(*state->usable_cores));
	state->weights = calloc((size_t)tasks * machine->domain_count, sizeof(*state->weights));
	state->sharers = calloc(machine->domain_count, sizeof(*state->sharers));
	state->takers = calloc(machine->core_count, sizeof(*state->takers));
	state->causes = calloc(tasks, sizeof(*state->causes));
	if (!plan || !state->usable || !state->usable_cores || !state->weights || !state->sharers ||
	    !state->takers || !state->causes)
		return false;
	plan->tasks = calloc(tasks, sizeof(*plan->tasks));
	plan->task_count = plan->tasks ? tasks : 0;
	for (i = 0; i < plan->task_count; i++) {
		struct osp_bind_task *task = &plan->tasks[i];

		task->cpus = hwloc_bitmap_alloc();
		task->memory = hwloc_bitmap_alloc();
		task->gpus = hwloc_bitmap_alloc();
		task->nics = hwloc_bitmap_alloc();
		task->reason = "";
		if (!task->cpus || !task->memory || !task->gpus || !task->nics)
			return false;
	}
	return plan->tasks;
}

static void drop_state(struct osp_bind_state *state)
{
	hwloc_bitmap_free(state->allowed);
	free(state->usable);
	free(state->usable_cores);
	free(state->weights);
	free(state->sharers);
	free(state->takers);
	free(state->causes);
}

static int check_request(const struct osp_machine *machine, const struct osp_bind_request *request,
			 struct osp_error *error)
{
	uint64_t wanted = (uint64_t)request->task_count * request->gpus_per_task;
	uint32_t task;

	if (request->task_count < 1 || request->task_count > OSP_BIND_TASKS_MAX)
		return osp_error_set(error, "%u tasks; 1 to %d are possible", request->task_count,
				     OSP_BIND_TASKS_MAX);
	if (!request->task_gpus && wanted > machine->gpu_count)
		return osp_error_set(error,
				     "%u tasks with %u GPUs each need %llu GPUs; there are %u",
				     request->task_count, request->gpus_per_task,
				     (unsigned long long)wanted, machine->gpu_count);
	for (task = 0; request->task_gpus && task < request->task_count; task++) {
		hwloc_const_bitmap_t gpus = request->task_gpus[task];
		int last = gpus ? hwloc_bitmap_last(gpus) : -1;

		if (gpus &&
		    (last >= (int)machine->gpu_count || (last < 0 && !hwloc_bitmap_iszero(gpus))))
			return osp_error_set(error, "task %u has GPU %d; there are %u", task, last,
					     machine->gpu_count);
	}
	return 0;
}

struct osp_bind_plan *osp_bind_plan(const struct osp_machine *machine,
				    const struct osp_bind_request *request, struct osp_error *error)
{
	struct osp_bind_state state = {.machine = machine, .request = request};
	bool done = false;

	if (check_request(machine, request, error) < 0)
		return NULL;
	if (!make_room(&state) || !find_usable(&state))
		osp_error_set(error, "out of memory");
	else if (!state.usable_count)
		osp_error_set(error, "none of the CPUs of this machine may be used");
	else if (weigh_tasks(&state) || split_cores(&state) ||
		 !(request->silent || osp_bind_explain(&state)))
		osp_error_set(error, "out of memory");
	else
		done = true;
	drop_state(&state);
	if (done)
		return state.plan;
	osp_bind_plan_free(state.plan);
	return NULL;
}

void osp_bind_plan_free(struct osp_bind_plan *plan)
{
	uint32_t i;

	if (!plan)
		return;
	for (i = 0; i < plan->task_count; i++) {
		hwloc_bitmap_free(plan->tasks[i].cpus);
		hwloc_bitmap_free(plan->tasks[i].memory);
		hwloc_bitmap_free(plan->tasks[i].gpus);
		hwloc_bitmap_free(plan->tasks[i].nics);
	}
	free(plan->tasks);
	osp_arena_free(&plan->arena);
	free(plan);
}
