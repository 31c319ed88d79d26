/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_nccl_topology.c - NCCL's topologies, turned into hwloc's, and plans of what hwloc makes of
 * them
 *
 * The first byte is the number of tasks.
 *
 * Parser: lib/bind/nccl_topology.c lib/bind/xml.c
 */
#include "lib/bind/bind.h"
#include "lib/bind/nccl_topology.h"
#include "tests/fuzz/fuzz.h"

static void check_error(const struct osp_error *error)
{
	fuzz_check(error->text[0] && memchr(error->text, '\0', sizeof(error->text)));
	fuzz_check(error->line >= 0 && error->column >= 0);
}

static void check_plan(const struct osp_machine *machine, uint32_t tasks)
{
	struct osp_bind_request request = {.task_count = tasks};
	struct osp_error error = {0};
	struct osp_bind_plan *plan = osp_bind_plan(machine, &request, &error);

	fuzz_check(plan && plan->task_count == tasks);
	for (uint32_t i = 0; i < tasks; i++) {
		const struct osp_bind_task *task = &plan->tasks[i];

		fuzz_check(!hwloc_bitmap_iszero(task->cpus) && task->core_count > 0);
		fuzz_check(hwloc_bitmap_isincluded(task->cpus, machine->cpus));
		fuzz_check(task->reason[0]);
	}
	osp_bind_plan_free(plan);
}

FUZZER(nccl_topology)
{
	const char *text = (const char *)data + 1;
	struct osp_error error = {0};
	struct osp_machine *machine;
	char *xml;

	if (!size)
		return 0;
	xml = osp_nccl_topology_to_hwloc("f", text, size - 1, NULL, &error);
	if (!xml) {
		check_error(&error);
		return 0;
	}
	/* hwloc takes all that was made for it. */
	machine = osp_machine_read("f", xml, strlen(xml), &error);
	fuzz_check(machine);
	check_plan(machine, data[0] % 32 + 1);
	osp_machine_free(machine);
	free(xml);
	return 0;
}
