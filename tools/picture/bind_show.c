/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_show.c - a binding plan for people and as JSON */
#include <stdlib.h>
#include <string.h>

#include "tools/picture/bind.h"
#include "host/output.h"
#include "lib/base/text.h"

#define NICS_SHOWN 4
#define COLUMNS	   6

static const char *const near_words[] = {
	[OSP_NEAR_NOTHING] = NULL,
	[OSP_NEAR_SWITCH] = "same PCI switch",
	[OSP_NEAR_HOST_BRIDGE] = "same host bridge",
	[OSP_NEAR_DOMAIN] = "same NUMA node",
};

void osp_bind_add_list(struct osp_text *text, hwloc_const_bitmap_t set)
{
	char *list = NULL;

	if (hwloc_bitmap_iszero(set)) {
		osp_text_add(text, "-");
	} else if (hwloc_bitmap_list_asprintf(&list, set) < 0) {
		text->failed = true;
	} else {
		osp_text_add(text, list);
		free(list);
	}
}

/* Returns a NIC's device, or its bus id if it has none. */
static const char *nic_name(const struct osp_machine_device *nic)
{
	return *nic->name ? nic->name : nic->bus_id;
}

static void add_count(struct osp_text *text, uint32_t count, const char *what)
{
	osp_text_printf(text, "%u %s%s", count, what, osp_plural_s(count));
}

void osp_bind_summary(const struct osp_bind_view *view, struct osp_text *text)
{
	const struct osp_machine *machine = view->machine;

	add_count(text, machine->domain_count, "NUMA node");
	osp_text_add(text, ", ");
	add_count(text, machine->core_count, "core");
	osp_text_add(text, ", ");
	add_count(text, (uint32_t)hwloc_bitmap_weight(machine->cpus), "CPU");
	osp_text_add(text, ", ");
	add_count(text, machine->gpu_count, "GPU");
	osp_text_add(text, ", ");
	add_count(text, machine->nic_count, "NIC");
}

/* Returns the domains whose cores a device is near. */
static hwloc_bitmap_t nodes_near(const struct osp_machine *machine,
				 const struct osp_machine_device *device)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	uint32_t domain;

	for (domain = 0; nodes && domain < machine->domain_count; domain++) {
		const struct osp_machine_domain *entry = &machine->domains[domain];

		if (entry->os_index == OSP_NO_MEMORY ||
		    !hwloc_bitmap_intersects(entry->cpus, device->cpus))
			continue;
		if (hwloc_bitmap_set(nodes, entry->os_index)) {
			hwloc_bitmap_free(nodes);
			return NULL;
		}
	}
	return nodes;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Rows of cells, each as wide as its column's widest; the last column ends the line. */
struct table {
	char *(*cells)[COLUMNS];
	size_t rows;
	size_t columns;
	bool failed;
};

static void table_begin(struct table *table, size_t rows, size_t columns)
{
	memset(table, 0, sizeof(*table));
	table->cells = calloc(rows, sizeof(*table->cells));
	table->rows = table->cells ? rows : 0;
	table->columns = columns;
	table->failed = !table->cells;
}

static void table_set(struct table *table, size_t row, size_t column, struct osp_text *text)
{
	char *string = osp_text_take(text);

	if (!string || row >= table->rows) {
		table->failed = true;
		free(string);
		return;
	}
	table->cells[row][column] = string;
}

static void table_words(struct table *table, size_t row, size_t column, const char *words)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, words);
	table_set(table, row, column, &text);
}

static void table_print(struct table *table, struct osp_text *text)
{
	size_t width[COLUMNS] = {0};
	size_t row, column;

	for (row = 0; row < table->rows && !table->failed; row++)
		for (column = 0; column < table->columns; column++)
			if (strlen(table->cells[row][column]) > width[column])
				width[column] = strlen(table->cells[row][column]);
	for (row = 0; row < table->rows; row++) {
		for (column = 0; column < table->columns && !table->failed; column++) {
			bool last = column + 1 == table->columns;

			osp_text_printf(text, "%-*s%s", last ? 0 : (int)width[column],
					table->cells[row][column], last ? "\n" : "  ");
		}
		for (column = 0; column < table->columns; column++)
			free(table->cells[row][column]);
	}
	free(table->cells);
	text->failed = text->failed || table->failed;
}

static void add_nics(const struct osp_machine *machine, hwloc_const_bitmap_t nics,
		     struct osp_text *text)
{
	int all = hwloc_bitmap_weight(nics);
	int shown = 0;
	int nic;

	for (nic = hwloc_bitmap_first(nics); nic >= 0 && shown < NICS_SHOWN;
	     nic = hwloc_bitmap_next(nics, nic))
		osp_text_printf(text, "%s%s", shown++ ? " " : "", nic_name(&machine->nics[nic]));
	if (all > shown)
		osp_text_printf(text, " and %d more", all - shown);
	if (!all)
		osp_text_add(text, "-");
}

static void add_gpu_row(struct table *table, size_t row, const struct osp_machine *machine,
			uint32_t gpu)
{
	const struct osp_machine_device *device = &machine->gpus[gpu];
	hwloc_bitmap_t nodes = nodes_near(machine, device);
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_printf(&text, "%u", gpu);
	table_set(table, row, 0, &text);
	table_words(table, row, 1, device->bus_id);
	if (*device->name)
		osp_text_add(&text, device->name);
	else if (!device->vendor)
		osp_text_add(&text, "unknown");
	else
		osp_text_printf(&text, "%04x:%04x", device->vendor, device->device);
	table_set(table, row, 2, &text);
	if (!nodes)
		text.failed = true;
	else if (hwloc_bitmap_iszero(nodes))
		osp_text_add(&text, "unknown");
	else
		osp_bind_add_list(&text, nodes);
	table_set(table, row, 3, &text);
	add_nics(machine, device->nics, &text);
	if (near_words[device->near])
		osp_text_printf(&text, " (%s)", near_words[device->near]);
	table_set(table, row, 4, &text);
	hwloc_bitmap_free(nodes);
}

static void add_gpus(const struct osp_machine *machine, struct osp_text *text)
{
	static const char *const heads[] = {"GPU", "BUS ID", "MODEL", "NUMA", "NICS NEAR IT"};
	struct table table;
	uint32_t gpu;
	size_t i;

	table_begin(&table, machine->gpu_count + 1, 5);
	for (i = 0; i < 5; i++)
		table_words(&table, 0, i, heads[i]);
	for (gpu = 0; gpu < machine->gpu_count; gpu++)
		add_gpu_row(&table, gpu + 1, machine, gpu);
	table_print(&table, text);
	osp_text_add(text, "\n");
}

static void add_task_row(struct table *table, const struct osp_bind_view *view, uint32_t number)
{
	const struct osp_bind_task *task = &view->plan->tasks[number];
	struct osp_text text = OSP_TEXT_INIT;
	size_t row = number + 1;

	osp_text_printf(&text, "%u", number);
	table_set(table, row, 0, &text);
	osp_bind_add_list(&text, task->cpus);
	table_set(table, row, 1, &text);
	osp_bind_add_list(&text, task->memory);
	table_set(table, row, 2, &text);
	osp_bind_add_list(&text, task->gpus);
	table_set(table, row, 3, &text);
	add_nics(view->machine, task->nics, &text);
	table_set(table, row, 4, &text);
	table_words(table, row, 5, task->reason);
}

void osp_bind_text(const struct osp_bind_view *view, struct osp_text *text)
{
	static const char *const heads[] = {"TASK", "CPUS", "MEMORY", "GPUS", "NICS", "WHY"};
	struct table table;
	uint32_t i;

	osp_text_printf(text, "%s: ", view->source);
	osp_bind_summary(view, text);
	osp_text_add(text, "\n\n");
	if (view->machine->gpu_count)
		add_gpus(view->machine, text);
	table_begin(&table, view->plan->task_count + 1, COLUMNS);
	for (i = 0; i < COLUMNS; i++)
		table_words(&table, 0, i, heads[i]);
	for (i = 0; i < view->plan->task_count; i++)
		add_task_row(&table, view, i);
	table_print(&table, text);
	osp_text_add(text, view->plan->note_count ? "\n" : "");
	for (i = 0; i < view->plan->note_count; i++)
		osp_text_printf(text, "%s.\n", view->plan->notes[i]);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *list_to_json(hwloc_const_bitmap_t set)
{
	json_t *value = NULL;
	char *list = NULL;

	if (hwloc_bitmap_list_asprintf(&list, set) >= 0)
		value = json_string(list);
	free(list);
	return value;
}

static json_t *numbers_to_json(hwloc_const_bitmap_t set)
{
	json_t *array = json_array();
	int number;

	for (number = hwloc_bitmap_first(set); number >= 0; number = hwloc_bitmap_next(set, number))
		json_array_append_new(array, json_integer(number));
	return array;
}

static json_t *nics_to_json(const struct osp_machine *machine, hwloc_const_bitmap_t nics)
{
	json_t *array = json_array();
	int nic;

	for (nic = hwloc_bitmap_first(nics); nic >= 0; nic = hwloc_bitmap_next(nics, nic))
		json_array_append_new(array, osp_json_string(nic_name(&machine->nics[nic])));
	return array;
}

static json_t *domains_to_json(const struct osp_machine *machine)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < machine->domain_count; i++) {
		const struct osp_machine_domain *domain = &machine->domains[i];
		json_t *value = json_object();

		json_object_set_new(value, "node",
				    domain->os_index == OSP_NO_MEMORY
					    ? json_null()
					    : json_integer(domain->os_index));
		json_object_set_new(value, "cpus", list_to_json(domain->cpus));
		json_object_set_new(value, "cores", json_integer(domain->core_count));
		json_array_append_new(array, value);
	}
	return array;
}

static json_t *device_to_json(const struct osp_machine *machine,
			      const struct osp_machine_device *device)
{
	hwloc_bitmap_t nodes = nodes_near(machine, device);
	json_t *value = json_object();
	char id[16];

	snprintf(id, sizeof(id), "%04x:%04x", device->vendor, device->device);
	json_object_set_new(value, "bus_id", osp_json_string(device->bus_id));
	json_object_set_new(value, "pci_id", json_string(id));
	json_object_set_new(value, device->nics ? "model" : "name",
			    *device->name ? osp_json_string(device->name) : json_null());
	json_object_set_new(value, "numa_nodes", nodes ? numbers_to_json(nodes) : NULL);
	json_object_set_new(value, "cpus", list_to_json(device->cpus));
	hwloc_bitmap_free(nodes);
	return value;
}

static json_t *gpus_to_json(const struct osp_machine *machine)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < machine->gpu_count; i++) {
		const struct osp_machine_device *gpu = &machine->gpus[i];
		json_t *value = device_to_json(machine, gpu);

		json_object_set_new(value, "nics", nics_to_json(machine, gpu->nics));
		json_object_set_new(value, "nics_near", osp_json_string(near_words[gpu->near]));
		json_array_append_new(array, value);
	}
	return array;
}

static json_t *machine_to_json(const struct osp_bind_view *view)
{
	const struct osp_machine *machine = view->machine;
	json_t *value = json_object();
	json_t *nics = json_array();
	uint32_t i;

	for (i = 0; i < machine->nic_count; i++)
		json_array_append_new(nics, device_to_json(machine, &machine->nics[i]));
	json_object_set_new(value, "source", osp_json_string(view->source));
	json_object_set_new(value, "product",
			    *machine->product ? osp_json_string(machine->product) : json_null());
	json_object_set_new(value, "cpus", list_to_json(machine->cpus));
	json_object_set_new(value, "allowed_cpus", list_to_json(view->allowed));
	json_object_set_new(value, "cores", json_integer(machine->core_count));
	json_object_set_new(value, "numa_nodes", domains_to_json(machine));
	json_object_set_new(value, "gpus", gpus_to_json(machine));
	json_object_set_new(value, "nics", nics);
	return value;
}

static json_t *task_to_json(const struct osp_bind_view *view, uint32_t number)
{
	const struct osp_bind_task *task = &view->plan->tasks[number];
	json_t *value = json_object();

	json_object_set_new(value, "task", json_integer(number));
	json_object_set_new(value, "cpus", list_to_json(task->cpus));
	json_object_set_new(value, "cores", json_integer(task->core_count));
	json_object_set_new(value, "memory_nodes", numbers_to_json(task->memory));
	json_object_set_new(value, "gpus", numbers_to_json(task->gpus));
	json_object_set_new(value, "nics", nics_to_json(view->machine, task->nics));
	json_object_set_new(value, "reason", osp_json_string(task->reason));
	return value;
}

json_t *osp_bind_json(const struct osp_bind_view *view)
{
	json_t *root = json_object();
	json_t *tasks = json_array();
	json_t *notes = json_array();
	uint32_t i;

	for (i = 0; i < view->plan->task_count; i++)
		json_array_append_new(tasks, task_to_json(view, i));
	for (i = 0; i < view->plan->note_count; i++)
		json_array_append_new(notes, osp_json_string(view->plan->notes[i]));
	json_object_set_new(root, "machine", machine_to_json(view));
	json_object_set_new(root, "tasks", tasks);
	json_object_set_new(root, "notes", notes);
	return root;
}
