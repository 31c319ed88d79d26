/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bind_child.c - which GPUs a child sees, and its part of a plan */
#include "onespine_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/bind/bind_child.h"
#include "lib/bind/bind_process.h"

/* Two NUMA nodes with two GPUs and four cores each; GPUs 0 and 1 are near node 1. */
static const char machine_text[] = "<system><cpu numaid=\"0\" affinity=\"0f\">"
				   "<pci busid=\"0000:80:00.0\" class=\"0x030200\"/><pci "
				   "busid=\"0000:90:00.0\" class=\"0x030200\"/>"
				   "</cpu><cpu numaid=\"1\" affinity=\"f0\">"
				   "<pci busid=\"0000:10:00.0\" class=\"0x030200\"/><pci "
				   "busid=\"0000:20:00.0\" class=\"0x030200\"/>"
				   "</cpu></system>";

static struct osp_machine *machine;
static char folder[64];
static struct osp_bind_driver *driver;

/* The driver's device files are numbered the other way round. */
static int make_driver(void)
{
	static const char *const bus_ids[] = {"0000:90:00.0", "0000:80:00.0", "0000:20:00.0",
					      "0000:10:00.0"};
	char path[256];
	int i;

	strcpy(folder, "/tmp/onespine-bind-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/gpus", folder);
	mkdir(path, 0700);
	for (i = 0; i < 4; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/gpus/%s", folder, bus_ids[i]);
		mkdir(path, 0700);
		strcat(path, "/information");
		file = fopen(path, "w");
		if (!file)
			return -1;
		fprintf(file,
			"Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-%d%d%d-aa\nDevice Minor: \t "
			"%d\n",
			i, i, i, i);
		fclose(file);
	}
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	machine = osp_machine_read("m", machine_text, strlen(machine_text), NULL);
	if (!machine || make_driver())
		return -1;
	driver = osp_bind_driver_read(machine, folder);
	return driver ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	osp_bind_driver_free(driver);
	osp_machine_free(machine);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void set_variable(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void test_visible_gpus(void **state)
{
	static const struct {
		const char *visible;
		const char *step;
		const char *gpus; /* NULL: not known */
	} cases[] = {
		{NULL, NULL, "0-3"},
		{"0,2", NULL, "0,2"},
		{"", NULL, ""},
		{"NoDevFiles", NULL, ""},
		{"-1", NULL, ""},
		{"4", NULL, NULL},
		{"two", NULL, NULL},
		/* Slurm's numbers are those of device files: 0 is the GPU with the last bus id. */
		{NULL, "0", "3"},
		{NULL, "1-2", "1-2"},
		{NULL, "1:2", "0-3"}, /* no list: not heeded */
		{"2,3", "2,3", "0-1"},
		/* Inside a device cgroup they are counted anew: places of the step's list. */
		{"0,1", "2,3", "0-1"},
		{"0", "3", "0"},
		{"3", "2", NULL},
		{"GPU-000-aa", NULL, "3"},
		{"gpu-0", NULL, NULL},
		{"GPU-333-aa,GPU-11", NULL, "0,2"},
		{"GPU-444-aa", NULL, NULL},
		{"MIG-GPU-222-aa/1/0", NULL, "1"},
		{"MIG-0f1e", NULL, NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hwloc_bitmap_t gpus = hwloc_bitmap_alloc();
		char *list = NULL;
		int known;

		set_variable("CUDA_VISIBLE_DEVICES", cases[i].visible);
		set_variable("SLURM_STEP_GPUS", cases[i].step);
		known = osp_bind_visible_gpus(machine, driver, environ, gpus);
		if (known != (cases[i].gpus != NULL))
			fail_msg("case %zu: known %d", i, known);
		hwloc_bitmap_list_asprintf(&list, gpus);
		if (known)
			assert_string_equal(list, cases[i].gpus);
		free(list);
		hwloc_bitmap_free(gpus);
	}
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("SLURM_STEP_GPUS");
}

static void test_children(void **state)
{
	static const struct {
		uint32_t rank;
		uint32_t count;
		const char *gpus; /* NULL: not known */
		const char *cpus;
		const char *among; /* NULL: all of the machine's */
	} cases[] = {
		/* All see all: a GPU each. */
		{0, 4, "0-3", "4-5", NULL},
		{3, 4, "0-3", "2-3", NULL},
		/* Each sees its own. */
		{1, 4, "1", "6-7", NULL},
		{2, 4, "2", "0-1", NULL},
		/* Part of a node: all see these two. */
		{0, 2, "2-3", "0-1", NULL},
		{1, 2, "2-3", "2-3", NULL},
		{3, 4, "2", "3", NULL}, /* one shared by four */
		{1, 2, NULL, "4-7", NULL},
		{1, 2, "", "4-7", NULL},
		{0, 1, "2", "0-7", NULL}, /* the only child */
		/* A step of two GPUs, each task seeing one of them. */
		{0, 2, "1", "4-7", "1-2"},
		{1, 2, "2", "0-3", "1-2"},
		{1, 2, "2-3", "0-3", "0-3"},
		{1, 2, "1", "6-7", "0,1"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_bind_child child = {.rank = cases[i].rank, .count = cases[i].count};
		hwloc_bitmap_t gpus = hwloc_bitmap_alloc(), among = hwloc_bitmap_alloc();
		struct osp_bind_plan *plan;
		char *list = NULL;

		if (cases[i].gpus && *cases[i].gpus)
			assert_int_equal(osp_machine_parse_cpus(cases[i].gpus, gpus, NULL), 0);
		if (cases[i].among)
			assert_int_equal(osp_machine_parse_cpus(cases[i].among, among, NULL), 0);
		plan = osp_bind_child_plan(machine, machine->cpus, &child,
					   cases[i].gpus ? gpus : NULL,
					   cases[i].among ? among : NULL, NULL);
		assert_non_null(plan);
		hwloc_bitmap_list_asprintf(&list, plan->tasks[child.rank].cpus);
		assert_string_equal(list, cases[i].cpus);
		free(list);
		osp_bind_plan_free(plan);
		hwloc_bitmap_free(gpus);
		hwloc_bitmap_free(among);
	}
}

static void test_ranks(void **state)
{
	static const struct {
		const char *rank;
		const char *count;
		const char *masks; /* Slurm's */
		const char *words; /* NULL: taken */
	} cases[] = {
		{"1", "2", NULL, NULL},
		{"0", "1", "0x3,0xc", NULL},
		{"1", "2", "0x3,0x3", NULL},
		{"1", "2", "0x3", NULL},
		{"1", "2", "0x3,0xc",
		 "Slurm has bound each task already (SLURM_CPU_BIND_LIST); left as it is"},
		{NULL, "2", NULL,
		 "LOCAL_RANK is not set; torchrun and its like set it for the children that they "
		 "start"},
		{"0", NULL, NULL,
		 "LOCAL_WORLD_SIZE is not set; torchrun and its like set it for the children that "
		 "they start"},
		{"2", "2", NULL, "LOCAL_RANK=2 is not below LOCAL_WORLD_SIZE=2"},
		{"0", "0", NULL, "LOCAL_RANK=0 is not below LOCAL_WORLD_SIZE=0"},
		{"-1", "2", NULL, "LOCAL_RANK=-1 is no number from 0 to 4095"},
		{"0", "8x", NULL, "LOCAL_WORLD_SIZE=8x is no number from 0 to 4096"},
		{"0", "5000", NULL, "LOCAL_WORLD_SIZE=5000 is no number from 0 to 4096"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_error error = {0};
		struct osp_bind_child child;

		set_variable("LOCAL_RANK", cases[i].rank);
		set_variable("LOCAL_WORLD_SIZE", cases[i].count);
		set_variable("SLURM_CPU_BIND_LIST", cases[i].masks);
		set_variable("SLURM_LOCALID", cases[i].masks ? "0" : NULL);
		assert_int_equal(osp_bind_child(environ, &child, &error), cases[i].words ? -1 : 0);
		assert_string_equal(error.text, cases[i].words ? cases[i].words : "");
	}
}

/* This process, on the cores of this machine. */
static void test_process(void **state)
{
	hwloc_bitmap_t before = osp_bind_own_cpus(NULL), one = hwloc_bitmap_alloc(), after;
	hwloc_bitmap_t elsewhere = hwloc_bitmap_alloc();
	struct osp_error error = {0};

	(void)state;
	assert_non_null(before);
	hwloc_bitmap_only(one, (unsigned int)hwloc_bitmap_last(before));
	assert_int_equal(osp_bind_set_cpus(one, NULL), 0);
	after = osp_bind_own_cpus(NULL);
	assert_true(hwloc_bitmap_isequal(after, one));
	hwloc_bitmap_set(elsewhere, 60000);
	assert_int_equal(osp_bind_set_cpus(elsewhere, &error), -1);
	assert_string_equal(error.text, "sched_setaffinity: Invalid argument");
	assert_int_equal(osp_bind_set_cpus(before, NULL), 0);
	hwloc_bitmap_free(before);
	hwloc_bitmap_free(one);
	hwloc_bitmap_free(after);
	hwloc_bitmap_free(elsewhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visible_gpus),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
