/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_bind_child.c - which child this is and which GPUs it sees, of any environment, and its plan
 *
 * Each line is a variable.
 *
 * Parser: lib/bind/bind_child.c
 */
#include "lib/bind/bind_child.h"
#include "tests/fuzz/fuzz.h"

#define VARIABLES_MAX 16

static struct osp_machine *make_machine(void)
{
	static const char text[] =
		"<system><cpu numaid=\"0\" affinity=\"0f\">"
		"<pci busid=\"0000:80:00.0\" class=\"0x030200\"/>"
		"<pci busid=\"0000:90:00.0\" class=\"0x030200\"/></cpu>"
		"<cpu numaid=\"1\" affinity=\"f0\">"
		"<pci busid=\"0000:10:00.0\" class=\"0x030200\"/>"
		"<pci busid=\"0000:20:00.0\" class=\"0x030200\"/></cpu></system>";
	struct osp_machine *machine = osp_machine_read("m", text, strlen(text), NULL);

	fuzz_check(machine && machine->gpu_count == 4);
	return machine;
}

/* GPUs are the machine's, whoever names them. */
static bool check_gpus(int known, const struct osp_machine *machine, hwloc_const_bitmap_t gpus)
{
	fuzz_check(known == 0 || known == 1);
	fuzz_check(hwloc_bitmap_last(gpus) < (int)machine->gpu_count);
	return known;
}

static void check_plan(const struct osp_machine *machine, const struct osp_bind_child *child,
		       hwloc_const_bitmap_t gpus, hwloc_const_bitmap_t among)
{
	struct osp_error error = {.text = ""};
	struct osp_bind_plan *plan = osp_bind_child_plan(machine, NULL, child, gpus, among, &error);

	if (!plan) {
		fuzz_check(*error.text);
		return;
	}
	fuzz_check(plan->task_count == child->count);
	fuzz_check(hwloc_bitmap_isincluded(plan->tasks[child->rank].cpus, machine->cpus));
	osp_bind_plan_free(plan);
}

FUZZER(bind_child)
{
	static struct osp_machine *machine;
	char *text = malloc(size + 1), *rest = text;
	char *environment[VARIABLES_MAX + 1];
	struct osp_bind_child child = {.silent = true};
	struct osp_error error = {.text = ""};
	hwloc_bitmap_t seen = hwloc_bitmap_alloc(), step = hwloc_bitmap_alloc();
	bool sees, has;
	size_t count = 0;

	fuzz_check(text && seen && step);
	if (!machine)
		machine = make_machine();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	while (rest && count < VARIABLES_MAX)
		environment[count++] = strsep(&rest, "\n");
	environment[count] = NULL;
	sees = check_gpus(osp_bind_visible_gpus(machine, NULL, environment, seen), machine, seen);
	has = check_gpus(osp_bind_step_gpus(machine, NULL, environment, step), machine, step);
	if (osp_bind_child(environment, &child, &error)) {
		fuzz_check(*error.text);
	} else {
		fuzz_check(child.rank < child.count && child.count <= OSP_BIND_TASKS_MAX);
		check_plan(machine, &child, sees ? seen : NULL, has ? step : NULL);
	}
	hwloc_bitmap_free(seen);
	hwloc_bitmap_free(step);
	free(text);
	return 0;
}
