/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_types.c - a machine made for every type of the catalogue, and the plan of its tasks
 *
 * Each machine has what the catalogue says of the type: CPUs, two a core (one with Arm), NUMA nodes
 * (one where the catalogue does not know), accelerators and NICs, divided evenly. Accelerators
 * stand the wrong way round, the first near the last NUMA node, as they do on a DGX A100. The plans
 * are held against rules that any must keep, and word for word against
 * tests/data/bind/types.golden, which OSP_WRITE_GOLDEN=1 writes anew.
 */
#include <inttypes.h>
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
#include "lib/env/catalogue.h"

#define CPUS_UNKNOWN 16 /* a NUMA node */

/* What a machine is made of. */
struct shape {
	const char *name;
	int64_t cpus, threads, nodes, gpus, nics;
	const char *pci_type; /* of an accelerator */
};

static struct shape shape_of(const struct osp_instance *type)
{
	struct shape shape = {.name = type->name};
	const char *vendor = type->vendor ? type->vendor : "";
	bool arm = type->cpu && (!strcmp(type->cpu, "grace") || !strcmp(type->cpu, "graviton"));

	shape.nodes = type->numa_nodes > 0 ? type->numa_nodes : 1;
	shape.cpus = type->vcpus > 0 ? type->vcpus : shape.nodes * CPUS_UNKNOWN;
	shape.threads = arm || shape.cpus % 2 ? 1 : 2;
	shape.gpus = type->accelerators > 0 ? type->accelerators : 0;
	shape.nics = type->nics > 0 ? type->nics : 0;
	shape.pci_type = !strcmp(vendor, "amd")	  ? "0380 [1002:740c]"
			 : !strcmp(vendor, "aws") ? "0880 [1d0f:7364]"
						  : "0302 [10de:2330]";
	return shape;
}

/* --- the machine ------------------------------------------------------------------------------ */

static int serial; /* hwloc wants a number of its own for each object */

/* ` cpuset="0x..,0x.."` and its like of one or two ranges of CPUs. */
static void add_sets(struct osp_text *text, int64_t first, int64_t count, int64_t second)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	char *words = NULL;

	hwloc_bitmap_set_range(set, (unsigned)first, (int)(first + count - 1));
	if (second >= 0)
		hwloc_bitmap_set_range(set, (unsigned)second, (int)(second + count - 1));
	hwloc_bitmap_asprintf(&words, set);
	osp_text_printf(text, " cpuset=\"%s\" complete_cpuset=\"%s\"", words, words);
	free(words);
	hwloc_bitmap_free(set);
}

static void add_nodes(struct osp_text *text, uint64_t mask)
{
	osp_text_printf(text, " nodeset=\"0x%08" PRIx64 "\" complete_nodeset=\"0x%08" PRIx64 "\"",
			mask, mask);
}

static void open_object(struct osp_text *text, const char *type, int64_t number)
{
	osp_text_printf(text, "<object type=\"%s\" gp_index=\"%d\" os_index=\"%" PRId64 "\"", type,
			++serial, number);
}

static void add_core(struct osp_text *text, const struct shape *shape, int64_t core, int64_t node)
{
	int64_t cores = shape->cpus / shape->threads;

	open_object(text, "Core", core);
	add_sets(text, core, 1, shape->threads == 2 ? core + cores : -1);
	add_nodes(text, UINT64_C(1) << node);
	osp_text_add(text, ">");
	for (int64_t thread = 0; thread < shape->threads; thread++) {
		open_object(text, "PU", core + thread * cores);
		add_sets(text, core + thread * cores, 1, -1);
		add_nodes(text, UINT64_C(1) << node);
		osp_text_add(text, "/>");
	}
	osp_text_add(text, "</object>\n");
}

/* A host bridge with one device of each of its own. */
static void add_device(struct osp_text *text, unsigned bus, const char *pci_type)
{
	serial += 2;
	osp_text_printf(text,
			"<object type=\"Bridge\" gp_index=\"%d\" bridge_type=\"0-1\" depth=\"0\" "
			"bridge_pci=\"0000:[%02x-%02x]\"><object type=\"PCIDev\" gp_index=\"%d\" "
			"pci_busid=\"0000:%02x:00.0\" pci_type=\"%s [0000:0000] 00\" "
			"pci_link_speed=\"0.0\"/></object>\n",
			serial - 1, bus, bus, serial, bus, pci_type);
}

/* The accelerators have the buses from 0x01 on, the NICs those from 0x80 on, from the last node
 * down. */
static void add_devices(struct osp_text *text, const struct shape *shape, int64_t node)
{
	int64_t place = shape->nodes - 1 - node;

	for (int64_t i = 0; i < shape->gpus; i++) {
		if (i * shape->nodes / shape->gpus == place)
			add_device(text, (unsigned)(1 + i), shape->pci_type);
	}
	for (int64_t i = 0; i < shape->nics; i++) {
		if (i * shape->nodes / shape->nics == place)
			add_device(text, (unsigned)(0x80 + i), "0200 [1d0f:efa1]");
	}
}

static void add_package(struct osp_text *text, const struct shape *shape, int64_t node)
{
	int64_t cores = shape->cpus / shape->threads, first = cores * node / shape->nodes;
	int64_t count = cores * (node + 1) / shape->nodes - first;
	int64_t second = shape->threads == 2 ? first + cores : -1;

	open_object(text, "Package", node);
	add_sets(text, first, count, second);
	add_nodes(text, UINT64_C(1) << node);
	osp_text_add(text, ">\n");
	open_object(text, "NUMANode", node);
	add_sets(text, first, count, second);
	add_nodes(text, UINT64_C(1) << node);
	osp_text_add(text, " local_memory=\"1073741824\"/>\n");
	for (int64_t core = first; core < first + count; core++)
		add_core(text, shape, core, node);
	add_devices(text, shape, node);
	osp_text_add(text, "</object>\n");
}

static struct osp_machine *make_machine(const struct shape *shape)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_machine *machine;

	serial = 0;
	osp_text_add(&text,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n");
	open_object(&text, "Machine", 0);
	add_sets(&text, 0, shape->cpus, -1);
	add_nodes(&text, (UINT64_C(1) << shape->nodes) - 1);
	osp_text_add(&text, ">\n");
	for (int64_t node = 0; node < shape->nodes; node++)
		add_package(&text, shape, node);
	osp_text_add(&text, "</object>\n</topology>\n");
	assert_false(text.failed);
	machine = osp_machine_read(shape->name, text.data, text.length_bytes, &error);
	if (!machine)
		fail_msg("%s: %s", shape->name, error.text);
	osp_text_free(&text);
	return machine;
}

/* --- its plan --------------------------------------------------------------------------------- */

static void assert_made_as_said(const struct shape *shape, const struct osp_machine *machine)
{
	if (machine->gpu_count != shape->gpus || machine->nic_count != shape->nics ||
	    machine->domain_count != shape->nodes ||
	    hwloc_bitmap_weight(machine->cpus) != shape->cpus)
		fail_msg("%s: made with %u accelerators, %u NICs, %u NUMA nodes, %d CPUs",
			 shape->name, machine->gpu_count, machine->nic_count, machine->domain_count,
			 hwloc_bitmap_weight(machine->cpus));
}

/* A task an accelerator: near it, whole cores, none twice, none over, fairly. */
static void assert_good(const struct shape *shape, const struct osp_machine *machine,
			const struct osp_bind_plan *plan)
{
	hwloc_bitmap_t taken = hwloc_bitmap_alloc();
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < plan->task_count; i++) {
		const struct osp_bind_task *task = &plan->tasks[i];

		if (plan->task_count > 1 &&
		    !hwloc_bitmap_isincluded(task->cpus, machine->gpus[i].cpus))
			fail_msg("%s: task %u is not near its accelerator", shape->name, i);
		if (machine->core_count >= plan->task_count &&
		    hwloc_bitmap_intersects(task->cpus, taken))
			fail_msg("%s: task %u has another's cores", shape->name, i);
		if (hwloc_bitmap_weight(task->cpus) % (int)shape->threads)
			fail_msg("%s: task %u has half a core", shape->name, i);
		hwloc_bitmap_or(taken, taken, task->cpus);
		least = task->core_count < least ? task->core_count : least;
		most = task->core_count > most ? task->core_count : most;
	}
	if (most - least > 1)
		fail_msg("%s: one task has %u cores, another %u", shape->name, most, least);
	if (!hwloc_bitmap_isequal(taken, machine->cpus))
		fail_msg("%s: cores are left over", shape->name);
	hwloc_bitmap_free(taken);
}

static void add_plan(struct osp_text *text, const struct shape *shape,
		     const struct osp_bind_plan *plan)
{
	osp_text_printf(text, "%s: %" PRId64 " CPUs, %" PRId64 " NUMA nodes, %" PRId64 " NICs\n",
			shape->name, shape->cpus, shape->nodes, shape->nics);
	for (uint32_t i = 0; i < plan->task_count; i++) {
		char *cpus = NULL, *memory = NULL, *nics = NULL;

		hwloc_bitmap_list_asprintf(&cpus, plan->tasks[i].cpus);
		hwloc_bitmap_list_asprintf(&memory, plan->tasks[i].memory);
		hwloc_bitmap_list_asprintf(&nics, plan->tasks[i].nics);
		osp_text_printf(text, "  task %u: CPUs %s, memory %s, NICs %s\n", i, cpus, memory,
				*nics ? nics : "-");
		free(cpus);
		free(memory);
		free(nics);
	}
}

/* By it the generation of a link is judged (check/passive/passive_pcie.c). On Grace GPUs hang on
 * NVLink-C2C; a type of no provider's stands for many machines. */
static void every_type_reports_its_link(void **state)
{
	const char *folder = getenv("srcdir") ? getenv("srcdir") : ".";
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	char path[512];
	size_t reported = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/etc/instances", folder);
	assert_int_equal(osp_catalogue_add_folder(catalogue, path, 0, NULL), 0);
	for (size_t i = 0; i < osp_catalogue_count(catalogue); i++) {
		const struct osp_instance *type = osp_catalogue_at(catalogue, i);

		if (!type->vendor || strcmp(type->vendor, "nvidia") != 0 ||
		    (type->cpu && strcmp(type->cpu, "grace") == 0) || strstr(type->name, "-8gpu"))
			continue;
		if (type->pcie_gts != 8 && type->pcie_gts != 16 && type->pcie_gts != 32)
			fail_msg("%s: PCIe of %lld GT/s", type->name, (long long)type->pcie_gts);
		reported++;
	}
	assert_true(reported > 40);
	osp_catalogue_free(catalogue);
}

static void test_every_type(void **state)
{
	const char *folder = getenv("srcdir") ? getenv("srcdir") : ".";
	struct osp_catalogue *catalogue = osp_catalogue_new(NULL);
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	char path[512], *golden;
	size_t length = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/etc/instances", folder);
	if (osp_catalogue_add_folder(catalogue, path, 0, &error))
		fail_msg("%s:%d: %s", error.file, error.line, error.text);
	for (size_t i = 0; i < osp_catalogue_count(catalogue); i++) {
		struct shape shape = shape_of(osp_catalogue_at(catalogue, i));
		struct osp_bind_request request = {.task_count = (uint32_t)shape.gpus};
		struct osp_machine *machine;
		struct osp_bind_plan *plan;

		/* test_catalogue names those of which no page says how many GPUs they have */
		if (osp_catalogue_at(catalogue, i)->accelerators < 1)
			continue;
		machine = make_machine(&shape);
		plan = osp_bind_plan(machine, &request, &error);
		if (!plan)
			fail_msg("%s: %s", shape.name, error.text);
		assert_made_as_said(&shape, machine);
		assert_good(&shape, machine, plan);
		add_plan(&text, &shape, plan);
		osp_bind_plan_free(plan);
		osp_machine_free(machine);
	}
	snprintf(path, sizeof(path), "%s/tests/data/bind/types.golden", folder);
	if (getenv("OSP_WRITE_GOLDEN")) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(text.data, file);
		fclose(file);
	}
	golden = osp_read_file(path, (size_t)1 << 20, &length);
	assert_non_null(golden);
	assert_string_equal(text.data, golden);
	free(golden);
	osp_text_free(&text);
	osp_catalogue_free(catalogue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(every_type_reports_its_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
