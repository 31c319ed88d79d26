/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bind.c - plans over made machines, exactly; requests that cannot be; lists of CPUs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/bind/bind.h"

#define XML_BYTES_MAX (1 << 20)

static struct osp_machine *open_machine(const char *name)
{
	const char *folder = getenv("srcdir");
	struct osp_error error = {0};
	struct osp_machine *machine;
	char path[512];
	size_t bytes;
	char *text;

	snprintf(path, sizeof(path), "%s/tests/data/bind/%s", folder ? folder : ".", name);
	text = osp_read_file(path, XML_BYTES_MAX, &bytes);
	if (!text)
		fail_msg("cannot read %s", path);
	machine = osp_machine_read(name, text, bytes, &error);
	if (!machine)
		fail_msg("%s: %s", name, error.text);
	free(text);
	return machine;
}

static struct osp_machine *machine_of(const char *text, struct osp_error *error)
{
	return osp_machine_read("m.xml", text, strlen(text), error);
}

static hwloc_bitmap_t parse_list(const char *list)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	struct osp_error error = {0};

	if (osp_machine_parse_cpus(list, set, &error) < 0)
		fail_msg("%s: %s", list, error.text);
	return set;
}

static void add_list(struct osp_text *text, hwloc_const_bitmap_t set)
{
	char *list = NULL;

	assert_true(hwloc_bitmap_list_asprintf(&list, set) >= 0);
	osp_text_add(text, *list ? list : "-");
	free(list);
}

/* "CPUS/MEMORY" task by task. */
static char *plan_words(const struct osp_bind_plan *plan)
{
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t i;

	for (i = 0; i < plan->task_count; i++) {
		osp_text_add(&text, i ? " " : "");
		add_list(&text, plan->tasks[i].cpus);
		osp_text_add(&text, "/");
		add_list(&text, plan->tasks[i].memory);
	}
	return osp_text_take(&text);
}

/* --- plans ------------------------------------------------------------------------------------ */

static const struct {
	const char *file;
	uint32_t tasks;
	uint32_t gpus_per_task;
	const char *cpus; /* NULL: all */
	const char *plan;
	const char *reason; /* of the last task */
} plans[] = {
	/* GPUs 0 and 1 on NUMA node 3, and so on. */
	{"dgx-a100.xml", 8, 1, NULL,
	 "48-55,176-183/3 56-63,184-191/3 16-23,144-151/1 24-31,152-159/1 112-119,240-247/7 "
	 "120-127,248-255/7 80-87,208-215/5 88-95,216-223/5",
	 "GPU 7 is near NUMA node 5: 8 of the 16 cores there, for 2 tasks"},
	{"dgx-a100.xml", 4, 2, NULL,
	 "48-63,176-191/3 16-31,144-159/1 112-127,240-255/7 80-95,208-223/5",
	 "GPUs 6-7 are near NUMA node 5: all 16 cores there"},
	/* Two tasks with four GPUs each on two NUMA nodes each. */
	{"dgx-a100.xml", 2, 0, NULL,
	 "16-31,48-63,144-159,176-191/1,3 80-95,112-127,208-223,240-255/5,7",
	 "GPUs 4-7 are near NUMA nodes 5,7: all 32 cores there"},
	/* Three tasks: 2, 3 and 3 GPUs; node 7's are one of task 1 and one of task 2. */
	{"dgx-a100.xml", 3, 0, NULL,
	 "48-63,176-191/3 16-31,112-119,144-159,240-247/1,7 80-95,120-127,208-223,248-255/5,7",
	 "GPUs 5-7 are near NUMA nodes 5,7: 24 of the 32 cores there, for 2 tasks"},
	/* The only task gets all, for its children. */
	{"dgx-a100.xml", 1, 0, NULL, "0-255/0-7", "the only task: all 128 cores"},
	{"dgx-a100.xml", 1, 0, "0-9", "0-9/0", "the only task: all 10 cores that may be used"},
	/* Part of a node: of GPU 2's NUMA node four cores, of GPU 4's none. */
	{"dgx-a100.xml", 3, 2, "16-19,144-147,48-51,0-1", "48-51/3 16-19,144-147/1 0-1/0",
	 "GPUs 4-5 are near NUMA node 7, of whose cores none may be used: all 2 cores"},
	/* Where all cores are near others' GPUs, the one without shares them. */
	{"dgx-a100.xml", 3, 2, "16-17,48-49", "48-49/3 16-17/1 16-17,48-49/1,3",
	 "GPUs 4-5 are near NUMA node 7, of whose cores none may be used: all 4 cores, with the "
	 "tasks whose GPUs are near them; others run on the same cores"},
	/* One hardware thread of each core may be used. */
	{"dgx-a100.xml", 8, 0, "0-127",
	 "48-55/3 56-63/3 16-23/1 24-31/1 112-119/7 120-127/7 80-87/5 88-95/5",
	 "GPU 7 is near NUMA node 5: 8 of the 16 cores there, for 2 tasks"},
	/* Domains of PCI count before buses; hyper-threading is off. */
	{"ndv4.xml", 8, 1, NULL, "24-35/1 36-47/1 0-11/0 12-23/0 72-83/3 84-95/3 48-59/2 60-71/2",
	 "GPU 7 is near NUMA node 2: 12 of the 24 cores there, for 2 tasks"},
	/* Grace: its GPUs' memory is never preferred. */
	{"gb200.xml", 4, 1, NULL, "0-3/0 4-7/0 8-11/1 12-15/1",
	 "GPU 3 is near NUMA node 1: 4 of the 8 cores there, for 2 tasks"},
	{"gb200.xml", 2, 2, NULL, "0-7/0 8-15/1",
	 "GPUs 2-3 are near NUMA node 1: all 8 cores there"},
	/* MIG: seven tasks a GPU. */
	{"amd-one-numa.xml", 4, 0, NULL, "0-1/0 2-3/0 4-5/0 6-7/0",
	 "GPU 1 is near NUMA node 0: 2 of the 8 cores there, for 4 tasks; task 2 has the same GPU"},
	/* More tasks than cores: bound to one each, six pairs would wait while two had theirs
	 * alone. */
	{"amd-one-numa.xml", 14, 0, NULL,
	 "0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0 0-7/0",
	 "GPU 1 is near NUMA node 0: all 8 cores there; tasks 7-12 have the same GPU; others run "
	 "on "
	 "the same cores"},
	{"vm-no-pci.xml", 3, 0, "0-1", "0-1/0 0-1/0 0-1/0",
	 "no GPU is seen: all 2 cores; others run on the same cores"},
	{"amd-one-numa.xml", 3, 0, "5", "5/0 5/0 5/0",
	 "GPU 1 is near NUMA node 0: the 1 core that may be used there; others run on the same "
	 "cores"},
	/* A virtual machine without PCI. */
	{"vm-no-pci.xml", 4, 0, NULL, "0-1,8-9/0 2-3,10-11/0 4-5,12-13/1 6-7,14-15/1",
	 "no GPU is seen: 2 of 8 cores, split evenly among 4 tasks"},
	{"vm-no-pci.xml", 3, 0, NULL, "0-1,8-9/0 2-4,10-12/0-1 5-7,13-15/1",
	 "no GPU is seen: 3 of 8 cores, split evenly among 3 tasks"},
};

static void test_plans(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		struct osp_machine *machine = open_machine(plans[i].file);
		hwloc_bitmap_t allowed = plans[i].cpus ? parse_list(plans[i].cpus) : NULL;
		struct osp_bind_request request = {.task_count = plans[i].tasks,
						   .gpus_per_task = plans[i].gpus_per_task,
						   .allowed = allowed};
		struct osp_error error = {0};
		struct osp_bind_plan *plan = osp_bind_plan(machine, &request, &error);
		char *words;

		if (!plan)
			fail_msg("%s: %s", plans[i].file, error.text);
		words = plan_words(plan);
		assert_string_equal(words, plans[i].plan);
		assert_string_equal(plan->tasks[plan->task_count - 1].reason, plans[i].reason);
		free(words);
		osp_bind_plan_free(plan);
		osp_machine_free(machine);
		hwloc_bitmap_free(allowed);
	}
}

/* Every plan keeps inside what is allowed, leaves no task empty, and parts a NUMA node fairly. */
static void test_plans_of_all_sizes(void **state)
{
	static const char *const files[] = {"dgx-a100.xml", "ndv4.xml", "gb200.xml",
					    "amd-one-numa.xml", "vm-no-pci.xml"};
	size_t i;
	uint32_t tasks;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct osp_machine *machine = open_machine(files[i]);

		for (tasks = 1; tasks <= 40; tasks++) {
			struct osp_bind_request request = {.task_count = tasks};
			struct osp_bind_plan *plan = osp_bind_plan(machine, &request, NULL);
			uint32_t least = UINT32_MAX, most = 0, task;

			assert_non_null(plan);
			for (task = 0; task < tasks; task++) {
				const struct osp_bind_task *entry = &plan->tasks[task];

				assert_false(hwloc_bitmap_iszero(entry->cpus));
				assert_true(hwloc_bitmap_isincluded(entry->cpus, machine->cpus));
				assert_false(hwloc_bitmap_intersects(entry->memory,
								     machine->memory_apart));
				least = entry->core_count < least ? entry->core_count : least;
				most = entry->core_count > most ? entry->core_count : most;
			}
			if (!machine->gpu_count)
				assert_true(most - least <= 1);
			osp_bind_plan_free(plan);
		}
		osp_machine_free(machine);
	}
}

/* GPUs given task by task: one without a GPU, one of whose GPUs nothing is known. */
static void test_given_gpus(void **state)
{
	struct osp_machine *machine = open_machine("ndv4.xml");
	hwloc_bitmap_t last = parse_list("6-7"), none = hwloc_bitmap_alloc();
	const hwloc_const_bitmap_t gpus[] = {last, none, NULL};
	struct osp_bind_request request = {.task_count = 3, .task_gpus = gpus};
	struct osp_bind_plan *plan = osp_bind_plan(machine, &request, NULL);
	char *words = plan_words(plan);

	(void)state;
	assert_string_equal(words, "48-71/2 0-35/0-1 36-47,72-95/1,3");
	assert_string_equal(plan->tasks[1].reason,
			    "no GPU is seen: 36 of 72 cores, split evenly among 2 tasks");
	assert_string_equal(plan->tasks[2].reason,
			    "it is not known which GPUs it has: 36 of 72 cores, split evenly among "
			    "2 tasks");
	free(words);
	osp_bind_plan_free(plan);
	hwloc_bitmap_free(last);
	hwloc_bitmap_free(none);
	osp_machine_free(machine);
}

static void test_notes(void **state)
{
	struct osp_machine *machine = open_machine("dgx-a100.xml");
	hwloc_bitmap_t allowed = parse_list("0-127");
	struct osp_bind_request request = {.task_count = 16, .allowed = allowed};
	struct osp_bind_plan *plan = osp_bind_plan(machine, &request, NULL);
	static const char *const notes[] = {
		"128 of 256 CPUs may be used",
		("a core has 2 hardware threads; a task gets all that may be used (guessed from "
		 "the CPU masks: the file does not say)"),
		"16 tasks share 8 GPUs",
		"GPUs are not in the order of NUMA nodes: they are near 3 3 1 1 7 7 5 5",
		"64 cores near no task's GPUs are given to none",
		"GPUs are numbered by PCI bus id, as with CUDA_DEVICE_ORDER=PCI_BUS_ID",
	};
	uint32_t i;

	(void)state;
	assert_int_equal(plan->note_count, sizeof(notes) / sizeof(notes[0]));
	for (i = 0; i < plan->note_count; i++)
		assert_string_equal(plan->notes[i], notes[i]);
	osp_bind_plan_free(plan);
	osp_machine_free(machine);
	hwloc_bitmap_free(allowed);
}

static void test_refused_requests(void **state)
{
	struct osp_machine *machine = open_machine("ndv4.xml");
	hwloc_bitmap_t elsewhere = parse_list("200-210"), ninth = parse_list("8");
	hwloc_bitmap_t endless = hwloc_bitmap_alloc_full();
	const hwloc_const_bitmap_t wrong[] = {ninth}, infinite[] = {endless};
	const struct {
		struct osp_bind_request request;
		const char *words;
	} cases[] = {
		{{.task_count = 0}, "0 tasks; 1 to 4096 are possible"},
		{{.task_count = 4097}, "4097 tasks; 1 to 4096 are possible"},
		{{.task_count = 5, .gpus_per_task = 2},
		 "5 tasks with 2 GPUs each need 10 GPUs; there are 8"},
		{{.task_count = 4096, .gpus_per_task = UINT32_MAX},
		 "4096 tasks with 4294967295 GPUs each need 17592186040320 GPUs; there are 8"},
		{{.task_count = 1, .task_gpus = wrong}, "task 0 has GPU 8; there are 8"},
		{{.task_count = 1, .task_gpus = infinite}, "task 0 has GPU -1; there are 8"},
		{{.task_count = 1, .allowed = elsewhere},
		 "none of the CPUs of this machine may be used"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {0};

		assert_null(osp_bind_plan(machine, &cases[i].request, &error));
		assert_string_equal(error.text, cases[i].words);
	}
	hwloc_bitmap_free(elsewhere);
	hwloc_bitmap_free(ninth);
	hwloc_bitmap_free(endless);
	osp_machine_free(machine);
}

/* --- machines --------------------------------------------------------------------------------- */

#define OBJECT(type, number, rest) "<object type=\"" type "\" gp_index=\"" number "\" " rest
#define SET(bits)                                                                                  \
	"cpuset=\"" bits "\" complete_cpuset=\"" bits "\" nodeset=\"0x1\" "                        \
	"complete_nodeset=\"0x1\""

/* Version 3 of hwloc's XML, where a device's kinds are bits: 48 is a network and verbs. */
static void test_later_hwloc(void **state)
{
	static const char text[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"3.0\">\n" OBJECT(
			"Machine", "1",
			"os_index=\"0\" " SET("0x1") ">") OBJECT("NUMANode", "2",
								 "os_index=\"0\" " SET("0x1") "/>")
			OBJECT("Core", "3", "os_index=\"0\" " SET("0x1") ">") OBJECT(
				"PU", "4", "os_index=\"0\" " SET("0x1") "/></object>")
				OBJECT("Bridge", "5",
				       "bridge_type=\"0-1\" depth=\"0\" "
				       "bridge_pci=\"0000:[00-01]\">")
					OBJECT("PCIDev", "6",
					       "pci_busid=\"0000:00:03.0\" pci_type=\"0200 "
					       "[1d0f:efa1] [0000:0000] 00 00\" "
					       "pci_link_speed=\"0.0\">")
						OBJECT("OSDev", "7",
						       "name=\"eth9\" osdev_type=\"16\"/>")
							OBJECT("OSDev", "8",
							       "name=\"rdmap0s3\" "
							       "osdev_type=\"32\"/>") "</object></"
										      "object></"
										      "object></"
										      "topology>\n";
	struct osp_error error = {0};
	struct osp_machine *machine = machine_of(text, &error);

	(void)state;
	if (!machine)
		fail_msg("%s", error.text);
	assert_int_equal(machine->nic_count, 1);
	assert_true(machine->nics[0].is_fabric);
	assert_string_equal(machine->nics[0].name, "rdmap0s3");
	assert_string_equal(machine->nics[0].bus_id, "0000:00:03.0");
	osp_machine_free(machine);
}

static void test_refused_machines(void **state)
{
	static const struct {
		const char *text;
		const char *words;
		int line;
	} cases[] = {
		{"", "neither an hwloc XML file (<topology>) nor a NCCL topology (<system>)", 0},
		{"<!-- <system> -->",
		 "neither an hwloc XML file (<topology>) nor a NCCL topology "
		 "(<system>)",
		 0},
		{"<graph/>",
		 "neither an hwloc XML file (<topology>) nor a NCCL topology (<system>): "
		 "it begins with <graph>",
		 0},
		{"<topology>\n<object>\n</topology>", "not well-formed XML: mismatched tag", 3},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {0};

		assert_null(machine_of(cases[i].text, &error));
		assert_string_equal(error.text, cases[i].words);
		assert_string_equal(error.file, "m.xml");
		assert_int_equal(error.line, cases[i].line);
	}
}

static void test_near_nics(void **state)
{
#define UNDER(bus, inner)                                                                          \
	"<pci busid=\"0000:" bus                                                                   \
	":00.0\" class=\"0x060400\" vendor=\"0x1000\" device=\"0xc030\">" inner "</pci>"
#define GPU(bus)      "<pci busid=\"0000:" bus ":00.0\" class=\"0x030200\"/>"
#define NIC(bus, net) "<pci busid=\"0000:" bus ":00.0\" class=\"0x020700\"><nic>" net "</nic></pci>"
#define NET(name)     "<net name=\"" name "\"/>"
	static const char text[] = "<system><cpu numaid=\"0\" affinity=\"3\">" UNDER(
		"10", GPU("11") NIC("12", NET("mlx5_0") NET("mlx5_1")))
		UNDER("20", GPU("21") NIC("22", NET("mlx5_10")) NIC("23", NET("mlx5_2")))
			UNDER("30", GPU("31") NIC("32", "")) "</cpu></system>";
	static const struct {
		const char *gpus;
		const char *nics;
		size_t bytes;
	} cases[] = {
		{"0", "mlx5_0,mlx5_1", 64},
		{"1", "mlx5_10,mlx5_2", 64},
		{"0-1", "mlx5_0,mlx5_1,mlx5_10,mlx5_2", 64},
		{"0-1", "mlx5_0,mlx5_1,mlx5_10,mlx5_2", 29},
		{"0-1", "", 28}, /* a cut list would be a wrong one */
		{"2", "", 64},	 /* its adapter's name is not known */
		{"0,2", "", 64},
		{"0,7", "", 64}, /* no such GPU */
	};
	struct osp_error error = {0};
	struct osp_machine *machine = machine_of(text, &error);
	size_t i;

	(void)state;
	if (!machine)
		fail_msg("%s", error.text);
	assert_int_equal(machine->gpu_count, 3);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hwloc_bitmap_t gpus = parse_list(cases[i].gpus);
		char list[64];

		assert_ptr_equal(osp_machine_near_nics(machine, gpus, list, cases[i].bytes), list);
		assert_string_equal(list, cases[i].nics);
		hwloc_bitmap_free(gpus);
	}
	osp_machine_free(machine);
}

/* The machine that the test runs on. */
static void test_this_machine(void **state)
{
	struct osp_error error = {0};
	struct osp_machine *machine = osp_machine_here(&error);

	(void)state;
	if (!machine)
		fail_msg("%s", error.text);
	assert_true(machine->core_count > 0 && machine->domain_count > 0);
	assert_true(hwloc_bitmap_isincluded(machine->allowed_cpus, machine->cpus));
	osp_machine_free(machine);
}

static void test_lists_of_cpus(void **state)
{
	static const struct {
		const char *list;
		const char *words; /* the set, or the error */
		int column;	   /* 0: no error */
	} cases[] = {
		{"0", "0", 0},
		{"0-3,8,10-11", "0-3,8,10-11", 0},
		{"7,1-2", "1-2,7", 0},
		{"65535", "65535", 0},
		{"", "a number is missing in a list of CPUs", 1},
		{"0,", "a number is missing in a list of CPUs", 3},
		{"1-", "a number is missing in a list of CPUs", 3},
		{"-1", "a number is missing in a list of CPUs", 1},
		{"0,5-2", "a range that runs backwards in a list of CPUs", 3},
		{"65536", "a number above 65535 in a list of CPUs", 1},
		{"0-4:2", "something that is no number, range or comma in a list of CPUs", 4},
		{"99999999999999999999", "a number above 65535 in a list of CPUs", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hwloc_bitmap_t set = hwloc_bitmap_alloc();
		struct osp_text text = OSP_TEXT_INIT;
		struct osp_error error = {0};

		if (osp_machine_parse_cpus(cases[i].list, set, &error) == 0) {
			add_list(&text, set);
			assert_string_equal(text.data, cases[i].words);
		} else {
			assert_string_equal(error.text, cases[i].words);
		}
		assert_int_equal(error.column, cases[i].column);
		osp_text_free(&text);
		hwloc_bitmap_free(set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_plans_of_all_sizes),
		cmocka_unit_test(test_given_gpus),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_refused_requests),
		cmocka_unit_test(test_later_hwloc),
		cmocka_unit_test(test_refused_machines),
		cmocka_unit_test(test_near_nics),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_lists_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
