/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nccl_topology.c - turns NCCL's topology files (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) into
 * hwloc's */
#include "lib/bind/nccl_topology.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/text.h"
#include "lib/bind/xml.h"
#include "lib/bind/nccl_topology_private.h"

#define DEPTH_MAX 32
#define CPUS_MAX  8192
#define PCI_MAX	  4096
#define NUMA_MAX  1024

enum element {
	NO_ELEMENT,
	SYSTEM,
	CPU,
	PCI,
	GPU,
	NIC,
	NET,
	OTHER, /* known but not needed, or unknown */
};

static const char *const element_names[] = {"system", "cpu", "pci",    "gpu",	  "nic",
					    "net",    "c2c", "nvlink", "pcilink", "xgmi"};
#define ELEMENT_COUNT (sizeof(element_names) / sizeof(element_names[0]))

struct reader {
	struct osp_arena arena;
	struct osp_nccl_machine machine;
	struct osp_xml *xml;
	const struct osp_machine_shape *shape; /* NULL: unknown */
	struct osp_nccl_cpu *cpu;	       /* the one that is being read */
	struct osp_nccl_pci *pci;
	enum element open[DEPTH_MAX];
	int depth;
	uint32_t pci_count;
	bool seen_system;
};

static int refuse(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(struct reader *reader, const char *format, ...)
{
	char text[OSP_ERROR_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return osp_xml_fail(reader->xml, text);
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c | 0x20) : NULL;

	return found && (c >= '0' && (c <= '9' || (c | 0x20) >= 'a')) ? (int)(found - digits) : -1;
}

/* Reads `least` to `most` hex digits. Returns the text after them, or NULL. */
static const char *take_hex(const char *at, int least, int most, uint32_t *value)
{
	int count = 0;

	*value = 0;
	for (; count < most && hex_digit(*at) >= 0; at++, count++)
		*value = *value << 4 | (uint32_t)hex_digit(*at);
	return count >= least ? at : NULL;
}

/* Reads an id such as "0000:18:00.0". */
static bool parse_bus_id(const char *text, struct osp_nccl_pci *pci)
{
	const char *at = take_hex(text, 4, 8, &pci->domain);

	if (!at || *at++ != ':' || !(at = take_hex(at, 2, 2, &pci->bus)) || *at++ != ':')
		return false;
	if (!(at = take_hex(at, 2, 2, &pci->device)) || *at++ != '.')
		return false;
	at = take_hex(at, 1, 1, &pci->function);
	return at && !*at && pci->device < 32 && pci->function < 8;
}

/* Reads a number such as "0x030200"; 0 if it is not given. */
static bool parse_number(const char *text, int digits, uint32_t *value)
{
	*value = 0;
	if (!text)
		return true;
	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		text += 2;
	text = take_hex(text, 1, digits, value);
	return text && !*text;
}

/* Reads words of 32 bits in hex, highest first, with commas: "000000ff,ffff0000,00ffffff". */
static bool parse_mask(const char *text, hwloc_bitmap_t cpus)
{
	size_t words = 1;
	const char *at;

	for (at = text; *at; at++)
		words += *at == ',';
	if (words > CPUS_MAX / 32)
		return false;
	while (words--) {
		uint32_t word;
		int bit;

		text = take_hex(text, 1, 8, &word);
		if (!text || *text != (words ? ',' : '\0'))
			return false;
		text++;
		for (bit = 0; bit < 32; bit++)
			if (word >> bit & 1 &&
			    hwloc_bitmap_set(cpus, (unsigned int)(words * 32) + (unsigned int)bit))
				return false;
	}
	return true;
}

/* --- elements --------------------------------------------------------------------------------- */

static int add_system(struct reader *reader, const char **attributes)
{
	const char *version = attribute(attributes, "version");

	reader->seen_system = true;
	if (version && strcmp(version, "1") != 0)
		return refuse(reader, "version \"%.20s\" of NCCL's topology; 1 is known", version);
	return 0;
}

/* Refuses a number that an earlier <cpu> has, and CPUs that one has. */
static int check_cpu(struct reader *reader, const struct osp_nccl_cpu *cpu)
{
	const struct osp_nccl_cpu *other;

	for (other = reader->machine.cpus; other; other = other->next) {
		if (other->numa == cpu->numa)
			return refuse(reader,
				      "NUMA node %d a second time (line %d has it too); a file "
				      "of several hosts cannot be read",
				      cpu->numa, other->line);
		if (hwloc_bitmap_intersects(other->mask, cpu->mask))
			return refuse(reader,
				      "affinity has CPUs that NUMA node %d (line %d) has too",
				      other->numa, other->line);
	}
	return 0;
}

static int parse_cpu(struct reader *reader, const char **attributes, struct osp_nccl_cpu *cpu)
{
	const char *numa = attribute(attributes, "numaid");
	const char *mask = attribute(attributes, "affinity");
	char *end = NULL;
	long number = numa ? strtol(numa, &end, 10) : 0;

	if (!numa)
		return refuse(reader, "<cpu> has no numaid");
	if (end == numa || *end || number < -1 || number >= NUMA_MAX)
		return refuse(reader, "numaid=\"%.20s\": a NUMA node's number is expected", numa);
	/* NCCL writes -1 if the kernel knows no NUMA nodes. */
	cpu->numa = number < 0 ? 0 : (int)number;
	if (!mask && !reader->shape)
		return refuse(reader,
			      "<cpu numaid=\"%ld\"> has no affinity, so nothing is known of its "
			      "cores; name the machine's type (--for), add what "
			      "/sys/devices/system/node/node%ld/cpumap says on the machine, or use "
			      "an hwloc XML file of it",
			      number, number < 0 ? 0 : number);
	if (!mask && (uint32_t)cpu->numa >= reader->shape->nodes)
		return refuse(reader, "NUMA node %d; a %.60s has %u", cpu->numa,
			      reader->shape->name, reader->shape->nodes);
	if (!mask && osp_nccl_shape_mask(reader->shape, (uint32_t)cpu->numa, cpu->mask))
		return refuse(reader, "out of memory");
	if (mask && !parse_mask(mask, cpu->mask))
		return refuse(reader,
			      "affinity=\"%.60s\": hex words of 8 digits with commas are expected",
			      mask);
	return check_cpu(reader, cpu);
}

static int add_cpu(struct reader *reader, const char **attributes)
{
	struct osp_nccl_cpu **last = &reader->machine.cpus;
	struct osp_nccl_cpu *cpu = osp_arena_take(&reader->arena, sizeof(*cpu));

	if (cpu)
		cpu->mask = hwloc_bitmap_alloc();
	if (!cpu || !cpu->mask)
		return refuse(reader, "out of memory");
	cpu->line = osp_xml_line(reader->xml);
	if (parse_cpu(reader, attributes, cpu) < 0) {
		hwloc_bitmap_free(cpu->mask);
		return -1;
	}
	while (*last)
		last = &(*last)->next;
	*last = cpu;
	reader->cpu = cpu;
	return 0;
}

static int parse_pci(struct reader *reader, const char **attributes, struct osp_nccl_pci *pci)
{
	static const struct {
		const char *name;
		int digits;
	} numbers[] = {{"class", 6}, {"vendor", 4}, {"device", 4}};
	const char *bus_id = attribute(attributes, "busid");
	uint32_t values[3];
	size_t i;

	if (!bus_id)
		return refuse(reader, "<pci> has no busid");
	if (!parse_bus_id(bus_id, pci))
		return refuse(reader,
			      "busid=\"%.30s\": an address such as 0000:18:00.0 is expected",
			      bus_id);
	for (i = 0; i < 3; i++) {
		const char *text = attribute(attributes, numbers[i].name);

		if (!parse_number(text, numbers[i].digits, &values[i]))
			return refuse(reader, "%s=\"%.20s\": a hex number is expected",
				      numbers[i].name, text);
	}
	pci->class_id = values[0];
	pci->vendor_id = values[1];
	pci->device_id = values[2];
	return 0;
}

static int check_pci(struct reader *reader, const struct osp_nccl_pci *pci)
{
	const struct osp_nccl_pci *other;

	for (other = reader->machine.all_pci; other; other = other->older)
		if (other->domain == pci->domain && other->bus == pci->bus &&
		    other->device == pci->device && other->function == pci->function)
			return refuse(reader,
				      "busid %04x:%02x:%02x.%x a second time (line %d has it too)",
				      pci->domain, pci->bus, pci->device, pci->function,
				      other->line);
	return ++reader->pci_count <= PCI_MAX ? 0
					      : refuse(reader, "more than %d PCI devices", PCI_MAX);
}

static int add_pci(struct reader *reader, const char **attributes)
{
	struct osp_nccl_pci *pci = osp_arena_take(&reader->arena, sizeof(*pci));
	struct osp_nccl_pci **last;

	if (!pci)
		return refuse(reader, "out of memory");
	pci->line = osp_xml_line(reader->xml);
	if (parse_pci(reader, attributes, pci) < 0 || check_pci(reader, pci) < 0)
		return -1;
	pci->older = reader->machine.all_pci;
	reader->machine.all_pci = pci;
	pci->parent = reader->pci;
	last = pci->parent ? &pci->parent->children : &reader->cpu->pci;
	while (*last)
		last = &(*last)->next;
	*last = pci;
	reader->pci = pci;
	return 0;
}

static int add_net(struct reader *reader, const char **attributes)
{
	const char *name = attribute(attributes, "name");
	struct osp_nccl_net *net;
	struct osp_nccl_net **last = &reader->pci->nets;

	if (!name || !*name)
		return 0;
	net = osp_arena_take(&reader->arena, sizeof(*net));
	if (net)
		net->name = osp_arena_copy(&reader->arena, name, strlen(name));
	if (!net || !net->name)
		return refuse(reader, "out of memory");
	while (*last)
		last = &(*last)->next;
	*last = net;
	return 0;
}

/* --- walking ---------------------------------------------------------------------------------- */

static enum element find_element(const char *name)
{
	size_t i;

	for (i = 0; i < ELEMENT_COUNT; i++)
		if (strcmp(name, element_names[i]) == 0)
			return i + 1 < OTHER ? (enum element)(i + 1) : OTHER;
	return NO_ELEMENT;
}

/* Returns whether `child` may be in `parent`. GPUs and NICs of a host without PCI are in <cpu>
 * itself. */
static bool fits(enum element parent, enum element child)
{
	switch (child) {
	case SYSTEM:
		return parent == NO_ELEMENT;
	case CPU:
		return parent == SYSTEM;
	case PCI:
		return parent == CPU || parent == PCI;
	case GPU:
	case NIC:
		return parent == PCI || parent == CPU;
	case NET:
		return parent == NIC;
	default:
		return parent != NO_ELEMENT;
	}
}

static int start_element(struct reader *reader, enum element element, const char **attributes)
{
	switch (element) {
	case SYSTEM:
		return add_system(reader, attributes);
	case CPU:
		return add_cpu(reader, attributes);
	case PCI:
		return add_pci(reader, attributes);
	case GPU:
		if (reader->pci)
			reader->pci->is_gpu = true;
		return 0;
	case NIC:
		if (reader->pci)
			reader->pci->is_nic = true;
		return 0;
	case NET:
		return reader->pci ? add_net(reader, attributes) : 0;
	default:
		return 0;
	}
}

static void on_start(struct osp_xml *xml, const char *name, const char **attributes, void *context)
{
	struct reader *reader = context;
	enum element parent = reader->depth ? reader->open[reader->depth - 1] : NO_ELEMENT;
	enum element element = find_element(name);
	const char *nearest = NULL;

	reader->xml = xml;
	if (reader->depth == DEPTH_MAX) {
		refuse(reader, "more than %d elements inside one another", DEPTH_MAX);
		return;
	}
	if (element == NO_ELEMENT && parent != OTHER)
		nearest = osp_nearest_word(name, element_names, ELEMENT_COUNT);
	if (element == NO_ELEMENT && (nearest || !reader->depth)) {
		refuse(reader, "unknown element <%.40s>%s%s%s", name,
		       nearest ? "; did you mean <" : "", nearest ? nearest : "",
		       nearest ? ">?" : "");
		return;
	}
	/* Elements that later versions of NCCL may add are ignored with all their content. */
	if (element == NO_ELEMENT || parent == OTHER)
		element = OTHER;
	if (!fits(parent, element)) {
		refuse(reader, "<%s> %s%s%s", name,
		       parent ? "does not belong in <"
			      : "is not the first element expected, <system",
		       parent ? element_names[parent - 1] : "", ">");
		return;
	}
	reader->open[reader->depth++] = element;
	start_element(reader, element, attributes);
}

static void on_end(struct osp_xml *xml, void *context)
{
	struct reader *reader = context;
	enum element element = reader->open[--reader->depth];

	reader->xml = xml;
	if (element == PCI)
		reader->pci = reader->pci->parent;
	else if (element == CPU)
		reader->cpu = NULL;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int check_machine(const struct reader *reader, const char *file, struct osp_error *error)
{
	const struct osp_nccl_cpu *cpu;

	for (cpu = reader->machine.cpus; cpu; cpu = cpu->next)
		if (!hwloc_bitmap_iszero(cpu->mask))
			return 0;
	return osp_error_at(error, file, 0, 0, "no <cpu> with CPUs in it");
}

static void let_go(struct reader *reader)
{
	for (struct osp_nccl_cpu *cpu = reader->machine.cpus; cpu; cpu = cpu->next)
		hwloc_bitmap_free(cpu->mask);
	osp_arena_free(&reader->arena);
}

char *osp_nccl_topology_to_hwloc(const char *file, const char *text, size_t text_bytes,
				 const struct osp_machine_shape *shape, struct osp_error *error)
{
	static const struct osp_xml_handler handler = {on_start, on_end};
	struct reader reader = {.arena = OSP_ARENA_INIT, .shape = shape};
	char *xml = NULL;

	if (osp_xml_parse(file, text, text_bytes, &handler, &reader, error) == 0 &&
	    check_machine(&reader, file, error) == 0) {
		if (!shape || !osp_nccl_fill(&reader.machine, shape, &reader.arena))
			xml = osp_nccl_write_hwloc(&reader.machine);
		if (!xml)
			osp_error_set(error, "out of memory");
	}
	let_go(&reader);
	return xml;
}

char *osp_nccl_shape_to_hwloc(const struct osp_machine_shape *shape, struct osp_error *error)
{
	struct reader reader = {.arena = OSP_ARENA_INIT};
	char *xml = NULL;

	if (!osp_nccl_make(&reader.machine, shape, &reader.arena))
		xml = osp_nccl_write_hwloc(&reader.machine);
	if (!xml)
		osp_error_set(error, "out of memory");
	let_go(&reader);
	return xml;
}
