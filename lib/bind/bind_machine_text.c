/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_machine_text.c - writes a machine as lines, and reads them in a fraction of the time that
 * hwloc takes to look at it */
#include "onespine_config.h"
#include "lib/bind/bind_machine_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MOST 65536

/* --- writing ---------------------------------------------------------------------------------- */

/* Adds " 0-3,8", or " -" for an empty set or NULL. */
static void add_set(struct osp_text *text, hwloc_const_bitmap_t set)
{
	char *list = NULL;

	if (!set)
		osp_text_add(text, " -");
	else if (hwloc_bitmap_list_asprintf(&list, set) < 0)
		text->failed = true;
	else
		osp_text_printf(text, " %s", *list ? list : "-");
	free(list);
}

static void add_device(struct osp_text *text, const char *kind,
		       const struct osp_machine_device *device)
{
	osp_text_printf(text, "%s %s %04x %04x %d %d", kind, device->bus_id, device->vendor,
			device->device, device->near, device->is_fabric);
	add_set(text, device->cpus);
	add_set(text, device->nics);
	osp_text_printf(text, " %s\n", device->name);
}

/* Adds a line such as "core 3 7,135". */
static void add_core(struct osp_text *text, const struct osp_machine_core *core)
{
	osp_text_printf(text, "core %u", core->domain);
	for (uint32_t i = 0; i < core->cpu_count; i++)
		osp_text_printf(text, "%c%u", i ? ',' : ' ', core->cpus[i]);
	osp_text_add(text, "\n");
}

void osp_machine_write(const struct osp_machine *machine, struct osp_text *text)
{
	uint32_t i;

	osp_text_printf(text, "machine %u %u %u %u %u %d %d", machine->domain_count,
			machine->core_count, machine->gpu_count, machine->nic_count,
			machine->threads_most, machine->has_pci, machine->cores_guessed);
	add_set(text, machine->cpus);
	add_set(text, machine->allowed_cpus);
	add_set(text, machine->allowed_memory);
	add_set(text, machine->memory_apart);
	osp_text_printf(text, " %s\n", machine->product);
	for (i = 0; i < machine->domain_count; i++) {
		osp_text_printf(text, "domain %u", machine->domains[i].os_index);
		add_set(text, machine->domains[i].cpus);
		osp_text_add(text, "\n");
	}
	for (i = 0; i < machine->core_count; i++)
		add_core(text, &machine->cores[i]);
	for (i = 0; i < machine->gpu_count; i++)
		add_device(text, "gpu", &machine->gpus[i]);
	for (i = 0; i < machine->nic_count; i++)
		add_device(text, "nic", &machine->nics[i]);
	osp_text_add(text, "end \n");
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Lines that are cut into words; `bad` is set by the first mistake. */
struct reader {
	char *rest; /* of the lines */
	char *line; /* the rest of this line */
	int number;
	bool bad;
	struct osp_arena *arena;
};

static char *next_word(struct reader *reader)
{
	char *word = reader->line ? strsep(&reader->line, " ") : NULL;

	reader->bad |= !word;
	return word;
}

static void next_line(struct reader *reader, const char *kind)
{
	const char *word;

	reader->line = strsep(&reader->rest, "\n");
	reader->number++;
	word = next_word(reader);
	reader->bad |= !word || strcmp(word, kind) != 0;
}

static uint32_t parse_number(struct reader *reader, const char *word, int base, uint32_t most)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(word, &end, base);
	reader->bad |= errno || end == word || *end || value > most;
	return (uint32_t)value;
}

static uint32_t read_number(struct reader *reader, int base, uint32_t most)
{
	const char *word = next_word(reader);

	return word ? parse_number(reader, word, base, most) : 0;
}

static hwloc_bitmap_t read_set(struct reader *reader)
{
	const char *word = next_word(reader);
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	reader->bad |= !set;
	if (word && set && strcmp(word, "-") != 0)
		reader->bad |= osp_machine_parse_cpus(word, set, NULL) < 0;
	return set;
}

/* Returns a copy of the rest of the line, which may hold blanks. */
static const char *read_rest(struct reader *reader)
{
	const char *rest = reader->line ? reader->line : "";

	return osp_arena_copy(reader->arena, rest, strlen(rest));
}

static void *take(struct reader *reader, uint32_t count, size_t bytes)
{
	void *memory = osp_arena_take(reader->arena, (count + (size_t)1) * bytes);

	reader->bad |= !memory;
	return memory;
}

static void read_core(struct reader *reader, uint32_t domains, struct osp_machine_core *core)
{
	char *numbers, *number;
	uint32_t count = 1, *cpus;

	next_line(reader, "core");
	core->domain = read_number(reader, 10, domains ? domains - 1 : 0);
	numbers = next_word(reader);
	for (const char *at = numbers; at && *at; at++)
		count += *at == ',';
	cpus = take(reader, count, sizeof(*cpus));
	while (!reader->bad && (number = strsep(&numbers, ",")))
		cpus[core->cpu_count++] = parse_number(reader, number, 10, OSP_CPU_MOST);
	core->cpus = cpus;
}

static void read_device(struct reader *reader, const char *kind, struct osp_machine_device *device)
{
	const char *bus_id;

	next_line(reader, kind);
	bus_id = next_word(reader);
	device->bus_id =
		osp_arena_copy(reader->arena, bus_id ? bus_id : "", bus_id ? strlen(bus_id) : 0);
	device->vendor = (uint16_t)read_number(reader, 16, UINT16_MAX);
	device->device = (uint16_t)read_number(reader, 16, UINT16_MAX);
	device->near = (enum osp_near)read_number(reader, 10, OSP_NEAR_DOMAIN);
	device->is_fabric = read_number(reader, 10, 1);
	device->cpus = read_set(reader);
	device->nics = read_set(reader);
	device->name = read_rest(reader);
	reader->bad |= !device->name || !device->bus_id;
}

/* Reads the first line, and makes room for the others. */
static void read_machine(struct reader *reader, struct osp_machine *machine, uint32_t *domains,
			 uint32_t *cores, uint32_t *gpus, uint32_t *nics)
{
	next_line(reader, "machine");
	*domains = read_number(reader, 10, COUNT_MOST);
	*cores = read_number(reader, 10, COUNT_MOST);
	*gpus = read_number(reader, 10, OSP_MACHINE_DEVICES_MAX);
	*nics = read_number(reader, 10, OSP_MACHINE_DEVICES_MAX);
	machine->threads_most = read_number(reader, 10, COUNT_MOST);
	machine->has_pci = read_number(reader, 10, 1);
	machine->cores_guessed = read_number(reader, 10, 1);
	machine->cpus = read_set(reader);
	machine->allowed_cpus = read_set(reader);
	machine->allowed_memory = read_set(reader);
	machine->memory_apart = read_set(reader);
	machine->product = read_rest(reader);
	if (reader->bad)
		return;
	machine->domains = take(reader, *domains, sizeof(*machine->domains));
	machine->cores = take(reader, *cores, sizeof(*machine->cores));
	machine->gpus = take(reader, *gpus, sizeof(*machine->gpus));
	machine->nics = take(reader, *nics, sizeof(*machine->nics));
}

static void read_parts(struct reader *reader, struct osp_machine *machine)
{
	uint32_t domains, cores, gpus, nics;

	read_machine(reader, machine, &domains, &cores, &gpus, &nics);
	for (; !reader->bad && machine->domain_count < domains; machine->domain_count++) {
		struct osp_machine_domain *domain = &machine->domains[machine->domain_count];

		next_line(reader, "domain");
		domain->os_index = read_number(reader, 10, UINT32_MAX);
		domain->cpus = read_set(reader);
	}
	for (; !reader->bad && machine->core_count < cores; machine->core_count++) {
		struct osp_machine_core *core = &machine->cores[machine->core_count];

		read_core(reader, domains, core);
		machine->domains[core->domain < domains ? core->domain : 0].core_count++;
	}
	for (; !reader->bad && machine->gpu_count < gpus; machine->gpu_count++)
		read_device(reader, "gpu", &machine->gpus[machine->gpu_count]);
	for (; !reader->bad && machine->nic_count < nics; machine->nic_count++)
		read_device(reader, "nic", &machine->nics[machine->nic_count]);
	if (!reader->bad)
		next_line(reader, "end");
	reader->bad |= !domains || !cores;
}

struct osp_machine *osp_machine_parse(char *lines, struct osp_error *error)
{
	struct osp_machine *machine = calloc(1, sizeof(*machine));
	struct reader reader = {.rest = lines};

	if (!machine) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	reader.arena = &machine->arena;
	read_parts(&reader, machine);
	if (!reader.bad)
		return machine;
	osp_error_at(error, NULL, reader.number, 0, "not as a machine is written down");
	osp_machine_free(machine);
	return NULL;
}
