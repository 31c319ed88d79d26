/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine read, and planned, with each allocation of lib/ failing in turn; those of hwloc and
 * expat are not reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/bind/bind.h"
#include "tests/unit/no_memory.h"

static const char text[] = "<system version=\"1\">\n"
			   "<cpu numaid=\"0\" affinity=\"00000003,00000003\">\n"
			   "<pci busid=\"0000:01:00.0\" class=\"0x060400\">\n"
			   "<pci busid=\"0000:02:00.0\" class=\"0x030200\" vendor=\"0x10de\"/>\n"
			   "<pci busid=\"0000:03:00.0\"><nic><net name=\"mlx5_0\"/><net "
			   "name=\"mlx5_1\"/></nic></pci>\n"
			   "</pci>\n</cpu>\n"
			   "<cpu numaid=\"1\" affinity=\"0000000c,0000000c\"/>\n</system>\n";

static bool read_machine(void *context)
{
	struct osp_error error = {0};
	struct osp_machine *machine = osp_machine_read("f", text, sizeof(text) - 1, &error);

	(void)context;
	if (!machine)
		assert_non_null(strstr(error.text, "out of memory"));
	osp_machine_free(machine);
	return machine;
}

static bool plan(void *context)
{
	struct osp_bind_request request = {.task_count = 3};
	struct osp_error error = {0};
	struct osp_bind_plan *made = osp_bind_plan(context, &request, &error);

	assert_string_equal(error.text, made ? "" : "out of memory");
	osp_bind_plan_free(made);
	return made;
}

static void binding_survives(void **state)
{
	struct osp_machine *machine = osp_machine_read("f", text, sizeof(text) - 1, NULL);

	(void)state;
	assert_non_null(machine);
	assert_true(no_memory_at_each(read_machine, NULL) >= 10);
	assert_true(no_memory_at_each(plan, machine) >= 15);
	osp_machine_free(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binding_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
