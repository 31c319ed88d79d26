/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_reasons.c - says in words why each task of a plan got its share */
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/bind/bind_private.h"

#define NOTES_MAX 12

/* Adds "GPU 3" or "GPUs 0-1,4". */
static void add_numbers(struct osp_text *text, const char *one, const char *several,
			hwloc_const_bitmap_t set)
{
	char *list = NULL;

	if (hwloc_bitmap_list_asprintf(&list, set) < 0)
		text->failed = true;
	else
		osp_text_printf(text, "%s %s", hwloc_bitmap_weight(set) == 1 ? one : several, list);
	free(list);
}

static void add_cores(struct osp_text *text, uint32_t count)
{
	osp_text_printf(text, "%u core%s", count, osp_plural_s(count));
}

static const char *keep(struct osp_bind_state *state, struct osp_text *text)
{
	char *string = osp_text_take(text);
	const char *kept = NULL;

	if (string)
		kept = osp_arena_copy(&state->plan->arena, string, strlen(string));
	free(string);
	return kept;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The sum of the domains near a task's GPUs. */
struct near_sum {
	hwloc_bitmap_t nodes;
	uint32_t usable_cores;
	uint32_t all_cores;
	uint32_t sharers; /* of one domain, at most */
};

static bool add_domain(const struct osp_bind_state *state, uint32_t domain, struct near_sum *sum)
{
	const struct osp_machine_domain *entry = &state->machine->domains[domain];

	sum->usable_cores += state->usable_cores[domain];
	sum->all_cores += entry->core_count;
	if (state->sharers[domain] > sum->sharers)
		sum->sharers = state->sharers[domain];
	return entry->os_index == OSP_NO_MEMORY ||
	       hwloc_bitmap_set(sum->nodes, entry->os_index) == 0;
}

/* Returns whether a domain is near a task's GPUs. A task without weights is near domains of which
 * no core may be used. */
static bool is_near_domain(const struct osp_bind_state *state, uint32_t task, uint32_t domain)
{
	const struct osp_machine *machine = state->machine;
	hwloc_const_bitmap_t gpus = state->plan->tasks[task].gpus;
	int gpu;

	if (state->causes[task] == OSP_BIND_NEAR)
		return *osp_bind_weight(state, task, domain) > 0;
	for (gpu = hwloc_bitmap_first(gpus); gpu >= 0; gpu = hwloc_bitmap_next(gpus, gpu))
		if (hwloc_bitmap_intersects(machine->gpus[gpu].cpus, machine->domains[domain].cpus))
			return true;
	return false;
}

static bool sum_near(const struct osp_bind_state *state, uint32_t task, struct near_sum *sum)
{
	uint32_t domain;

	memset(sum, 0, sizeof(*sum));
	sum->nodes = hwloc_bitmap_alloc();
	for (domain = 0; sum->nodes && domain < state->machine->domain_count; domain++)
		if (is_near_domain(state, task, domain) && !add_domain(state, domain, sum))
			return false;
	return sum->nodes;
}

static void add_gpus_near(const struct osp_bind_state *state, uint32_t task,
			  const struct near_sum *sum, struct osp_text *text)
{
	hwloc_const_bitmap_t gpus = state->plan->tasks[task].gpus;

	add_numbers(text, "GPU", "GPUs", gpus);
	osp_text_add(text, hwloc_bitmap_weight(gpus) == 1 ? " is near " : " are near ");
	add_numbers(text, "NUMA node", "NUMA nodes", sum->nodes);
}

static void report_near(const struct osp_bind_state *state, uint32_t task,
			const struct near_sum *sum, struct osp_text *text)
{
	uint32_t got = state->plan->tasks[task].core_count;
	const char *where = sum->usable_cores < sum->all_cores ? "that may be used there" : "there";

	add_gpus_near(state, task, sum, text);
	osp_text_add(text, ": ");
	if (got == sum->usable_cores)
		osp_text_add(text, got == 1 ? "the " : "all ");
	else
		osp_text_printf(text, "%u of the ", got);
	add_cores(text, sum->usable_cores);
	osp_text_printf(text, " %s", where);
	if (got != sum->usable_cores)
		osp_text_printf(text, ", for %u tasks", sum->sharers);
}

/* Says why the only task gets all cores: its children want them, and `onespine bind run` divides
 * them. */
static void report_alone(const struct osp_bind_state *state, uint32_t task, struct osp_text *text)
{
	uint32_t cores = state->plan->tasks[task].core_count;

	osp_text_add(text, cores == 1 ? "the only task: the " : "the only task: all ");
	add_cores(text, cores);
	if (state->usable_count < state->machine->core_count)
		osp_text_add(text, " that may be used");
}

static uint32_t free_cores(const struct osp_bind_state *state)
{
	uint32_t domain, cores = 0;

	for (domain = 0; domain < state->machine->domain_count; domain++)
		if (!state->sharers[domain])
			cores += state->usable_cores[domain];
	return cores;
}

/* Names the task's part of the cores that are near no task's GPUs. */
static void report_rest(const struct osp_bind_state *state, uint32_t task, struct osp_text *text)
{
	uint32_t got = state->plan->tasks[task].core_count;
	uint32_t all = free_cores(state);

	if (!all || got == all) {
		osp_text_add(text, got == 1 ? "the " : "all ");
		add_cores(text, got);
	} else {
		osp_text_printf(text, "%u of ", got);
		add_cores(text, all);
		osp_text_printf(text, ", split evenly among %u tasks", state->far_count);
	}
	if (!all)
		osp_text_add(text, ", with the tasks whose GPUs are near them");
}

static void report_cause(const struct osp_bind_state *state, uint32_t task,
			 const struct near_sum *sum, struct osp_text *text)
{
	hwloc_const_bitmap_t gpus = state->plan->tasks[task].gpus;

	if (state->causes[task] == OSP_BIND_NO_GPU) {
		osp_text_add(text, "no GPU is seen: ");
	} else if (state->causes[task] == OSP_BIND_FORBIDDEN) {
		add_gpus_near(state, task, sum, text);
		osp_text_add(text, ", of whose cores none may be used: ");
	} else if (hwloc_bitmap_iszero(gpus)) {
		osp_text_add(text, "it is not known which GPUs it has: ");
	} else {
		osp_text_add(text, "the machine does not say which cores ");
		add_numbers(text, "GPU", "GPUs", gpus);
		osp_text_add(text, hwloc_bitmap_weight(gpus) == 1 ? " is near: " : " are near: ");
	}
	report_rest(state, task, text);
}

static bool shares_cores(const struct osp_bind_state *state, uint32_t task)
{
	uint32_t core;

	for (core = 0; core < state->machine->core_count; core++)
		if (state->takers[core] > 1 &&
		    osp_core_has_any(&state->machine->cores[core], state->plan->tasks[task].cpus))
			return true;
	return false;
}

/* Names the other tasks that have one of its GPUs. */
static void report_shared_gpus(const struct osp_bind_state *state, uint32_t task,
			       struct osp_text *text)
{
	const struct osp_bind_plan *plan = state->plan;
	hwloc_bitmap_t others = hwloc_bitmap_alloc();
	uint32_t i;

	for (i = 0; others && i < plan->task_count; i++)
		if (i != task &&
		    hwloc_bitmap_intersects(plan->tasks[i].gpus, plan->tasks[task].gpus) &&
		    hwloc_bitmap_set(others, i))
			text->failed = true;
	if (!others) {
		text->failed = true;
	} else if (!hwloc_bitmap_iszero(others)) {
		osp_text_add(text, "; ");
		add_numbers(text, "task", "tasks", others);
		osp_text_printf(text, " %s the same GPU",
				hwloc_bitmap_weight(others) == 1 ? "has" : "have");
	}
	hwloc_bitmap_free(others);
}

static bool report_task(struct osp_bind_state *state, uint32_t task)
{
	struct osp_bind_task *entry = &state->plan->tasks[task];
	struct osp_text text = OSP_TEXT_INIT;
	struct near_sum sum;

	if (!sum_near(state, task, &sum)) {
		hwloc_bitmap_free(sum.nodes);
		return false;
	}
	if (state->causes[task] == OSP_BIND_NEAR)
		report_near(state, task, &sum, &text);
	else if (state->causes[task] == OSP_BIND_ALONE)
		report_alone(state, task, &text);
	else
		report_cause(state, task, &sum, &text);
	hwloc_bitmap_free(sum.nodes);
	report_shared_gpus(state, task, &text);
	if (shares_cores(state, task))
		osp_text_add(&text, "; others run on the same cores");
	if (hwloc_bitmap_iszero(entry->memory))
		osp_text_add(&text, "; no memory near them may be used, so none is preferred");
	entry->reason = keep(state, &text);
	return entry->reason;
}

/* --- notes ------------------------------------------------------------------------------------ */

static bool add_note(struct osp_bind_state *state, struct osp_text *text)
{
	struct osp_bind_plan *plan = state->plan;

	if (plan->note_count == NOTES_MAX) {
		osp_text_free(text);
		return true;
	}
	plan->notes[plan->note_count] = keep(state, text);
	return plan->notes[plan->note_count++];
}

static bool note_allowed(struct osp_bind_state *state)
{
	struct osp_text text = OSP_TEXT_INIT;
	int may = hwloc_bitmap_weight(state->allowed);
	int all = hwloc_bitmap_weight(state->machine->cpus);

	if (may == all)
		return true;
	osp_text_printf(&text, "%d of %d CPUs may be used", may, all);
	return add_note(state, &text);
}

static bool note_threads(struct osp_bind_state *state)
{
	const struct osp_machine *machine = state->machine;
	struct osp_text text = OSP_TEXT_INIT;

	if (machine->threads_most > 1)
		osp_text_printf(
			&text, "a core has %s%u hardware threads; a task gets all that may be used",
			machine->core_count * machine->threads_most ==
					(uint32_t)hwloc_bitmap_weight(machine->cpus)
				? ""
				: "up to ",
			machine->threads_most);
	else
		osp_text_add(&text, "each core has one hardware thread");
	if (machine->cores_guessed)
		osp_text_add(&text, " (guessed from the CPU masks: the file does not say)");
	return add_note(state, &text);
}

static bool note_no_gpu(struct osp_bind_state *state)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (state->machine->gpu_count)
		return true;
	osp_text_add(&text, state->machine->has_pci
				    ? "no GPU is seen on the PCI bus: cores are split evenly"
				    : "no PCI device is seen, so nothing is known of GPUs and "
				      "NICs: cores are split evenly");
	return add_note(state, &text);
}

static bool note_shared(struct osp_bind_state *state)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (state->request->task_gpus || !state->machine->gpu_count ||
	    state->plan->task_count <= state->machine->gpu_count)
		return true;
	osp_text_printf(&text, "%u tasks share %u GPU%s", state->plan->task_count,
			state->machine->gpu_count, osp_plural_s(state->machine->gpu_count));
	return add_note(state, &text);
}

/* Returns the first domain near a GPU, or -1. */
static int first_domain(const struct osp_machine *machine, uint32_t gpu)
{
	uint32_t domain;

	for (domain = 0; domain < machine->domain_count; domain++)
		if (hwloc_bitmap_intersects(machine->domains[domain].cpus, machine->gpus[gpu].cpus))
			return (int)domain;
	return -1;
}

static bool in_order(const struct osp_machine *machine)
{
	int last = -1;
	uint32_t gpu;

	for (gpu = 0; gpu < machine->gpu_count; gpu++) {
		int domain = first_domain(machine, gpu);

		if (domain >= 0 && domain < last)
			return false;
		last = domain < 0 ? last : domain;
	}
	return true;
}

/* Warns if the GPUs are not in the order of the NUMA nodes, because a plan by number is then
 * wrong. */
static bool note_order(struct osp_bind_state *state)
{
	const struct osp_machine *machine = state->machine;
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t gpu;

	if (in_order(machine))
		return true;
	osp_text_add(&text, "GPUs are not in the order of NUMA nodes: they are near");
	for (gpu = 0; gpu < machine->gpu_count; gpu++) {
		int domain = first_domain(machine, gpu);

		if (domain < 0)
			osp_text_add(&text, " ?");
		else
			osp_text_printf(&text, " %u", machine->domains[domain].os_index);
	}
	return add_note(state, &text);
}

static bool note_apart(struct osp_bind_state *state)
{
	struct osp_text text = OSP_TEXT_INIT;
	bool one = hwloc_bitmap_weight(state->machine->memory_apart) == 1;

	if (hwloc_bitmap_iszero(state->machine->memory_apart))
		return true;
	add_numbers(&text, "NUMA node", "NUMA nodes", state->machine->memory_apart);
	osp_text_printf(&text,
			" %s no cores of %s own (memory of GPUs, or added to the machine): never "
			"preferred",
			one ? "has" : "have", one ? "its" : "their");
	return add_note(state, &text);
}

static bool note_idle(struct osp_bind_state *state)
{
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t core, idle = 0;

	for (core = 0; core < state->machine->core_count; core++)
		idle += !state->takers[core] && state->usable[core];
	if (!idle)
		return true;
	add_cores(&text, idle);
	osp_text_printf(&text, " near no task's GPUs %s given to none", idle == 1 ? "is" : "are");
	return add_note(state, &text);
}

static bool note_numbers(struct osp_bind_state *state)
{
	struct osp_text text = OSP_TEXT_INIT;

	if (!state->machine->gpu_count)
		return true;
	osp_text_add(&text, "GPUs are numbered by PCI bus id, as with "
			    "CUDA_DEVICE_ORDER=PCI_BUS_ID");
	return add_note(state, &text);
}

bool osp_bind_explain(struct osp_bind_state *state)
{
	static bool (*const notes[])(struct osp_bind_state *) = {
		note_allowed, note_threads, note_no_gpu, note_shared,
		note_order,   note_apart,   note_idle,	 note_numbers,
	};
	uint32_t task;
	size_t i;

	for (task = 0; task < state->plan->task_count; task++)
		if (!report_task(state, task))
			return false;
	state->plan->notes =
		osp_arena_take(&state->plan->arena, NOTES_MAX * sizeof(*state->plan->notes));
	for (i = 0; state->plan->notes && i < sizeof(notes) / sizeof(notes[0]); i++)
		if (!notes[i](state))
			return false;
	return state->plan->notes;
}
