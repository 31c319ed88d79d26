/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nccl_topology_write.c - the machine of a NCCL topology as hwloc XML, version 2 */
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/bind/nccl_topology_private.h"

#define CLASS_BRIDGE   0x0604
#define CLASS_GPU      0x0302
#define CLASS_ETHERNET 0x0200

struct writer {
	struct osp_text text;
	unsigned int number; /* hwloc wants a number of its own for each object */
	bool two_threads;    /* each core has two */
};

static void add_set(struct writer *writer, const char *name, hwloc_const_bitmap_t set)
{
	char *words = NULL;

	if (hwloc_bitmap_asprintf(&words, set) < 0)
		writer->text.failed = true;
	else
		osp_text_printf(&writer->text, " %s=\"%s\" complete_%s=\"%s\"", name, words, name,
				words);
	free(words);
}

static void open_object(struct writer *writer, const char *type, hwloc_const_bitmap_t cpus,
			hwloc_const_bitmap_t nodes)
{
	osp_text_printf(&writer->text, "<object type=\"%s\" gp_index=\"%u\"", type,
			++writer->number);
	if (cpus)
		add_set(writer, "cpuset", cpus);
	if (nodes)
		add_set(writer, "nodeset", nodes);
}

static void close_object(struct writer *writer)
{
	osp_text_add(&writer->text, "</object>\n");
}

/* Adds a string with the only entities that hwloc's own reader knows. */
static void add_escaped(struct osp_text *text, const char *string)
{
	static const char special[] = "<>&\"\n\r\t";
	static const char *const entities[] = {"&lt;",	"&gt;",	 "&amp;", "&quot;",
					       "&#10;", "&#13;", "&#9;"};

	for (; *string; string++) {
		const char *found = strchr(special, *string);

		if (found)
			osp_text_add(text, entities[found - special]);
		else
			osp_text_add_bytes(text, string, 1);
	}
}

/* --- PCI -------------------------------------------------------------------------------------- */

static uint32_t class_of(const struct osp_nccl_pci *pci)
{
	if (pci->class_id)
		return pci->class_id >> 8;
	if (pci->is_gpu)
		return CLASS_GPU;
	if (pci->is_nic || pci->nets)
		return CLASS_ETHERNET;
	return pci->children ? CLASS_BRIDGE : 0;
}

static void add_pci_attributes(struct writer *writer, const struct osp_nccl_pci *pci)
{
	osp_text_printf(&writer->text,
			" pci_busid=\"%04x:%02x:%02x.%01x\" pci_type=\"%04x [%04x:%04x] "
			"[0000:0000] 00\" pci_link_speed=\"0.0\">\n",
			pci->domain, pci->bus, pci->device, pci->function, class_of(pci),
			pci->vendor_id, pci->device_id);
}

/* Opens an object with devices below it, or writes a whole device. */
static void add_pci(struct writer *writer, const struct osp_nccl_pci *pci, int depth)
{
	const struct osp_nccl_net *net;

	if (pci->children) {
		open_object(writer, "Bridge", NULL, NULL);
		osp_text_printf(&writer->text,
				" bridge_type=\"1-1\" depth=\"%d\" bridge_pci=\"%04x:[%02x-%02x]\"",
				depth, pci->domain, pci->children->bus, pci->children->bus);
		add_pci_attributes(writer, pci);
		return;
	}
	open_object(writer, "PCIDev", NULL, NULL);
	add_pci_attributes(writer, pci);
	for (net = pci->nets; net; net = net->next) {
		open_object(writer, "OSDev", NULL, NULL);
		osp_text_add(&writer->text, " name=\"");
		add_escaped(&writer->text, net->name);
		osp_text_add(&writer->text, "\" osdev_type=\"3\"/>\n");
	}
	close_object(writer);
}

static void open_host_bridge(struct writer *writer, const struct osp_nccl_pci *pci)
{
	open_object(writer, "Bridge", NULL, NULL);
	osp_text_printf(&writer->text,
			" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"%04x:[%02x-%02x]\">\n",
			pci->domain, pci->bus, pci->bus);
}

/* Adds all devices below a <cpu>, with a host bridge for each of its direct children. */
static void add_all_pci(struct writer *writer, const struct osp_nccl_pci *pci)
{
	int depth = 0;

	while (pci) {
		if (depth++ == 0)
			open_host_bridge(writer, pci);
		add_pci(writer, pci, depth);
		if (pci->children) {
			pci = pci->children;
			continue;
		}
		while (pci) {
			depth--;
			if (depth == 0)
				close_object(writer);
			if (pci->next)
				break;
			pci = pci->parent;
			if (pci)
				close_object(writer);
		}
		pci = pci ? pci->next : NULL;
	}
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* Returns the first CPU of the second of two ranges of equal length, or -1 if the set is not of
 * that form. */
static int second_range(hwloc_const_bitmap_t cpus)
{
	int first = hwloc_bitmap_first(cpus);
	int end = hwloc_bitmap_next_unset(cpus, first);
	int second = hwloc_bitmap_next(cpus, end);
	int second_end = second < 0 ? -1 : hwloc_bitmap_next_unset(cpus, second);

	if (second < 0 || second_end - second != end - first ||
	    hwloc_bitmap_next(cpus, second_end) >= 0)
		return -1;
	return second;
}

static bool all_have_two_ranges(const struct osp_nccl_cpu *cpu)
{
	for (; cpu; cpu = cpu->next)
		if (!hwloc_bitmap_iszero(cpu->mask) && second_range(cpu->mask) < 0)
			return false;
	return true;
}

static void add_thread(struct writer *writer, int number, hwloc_bitmap_t one,
		       hwloc_const_bitmap_t node)
{
	hwloc_bitmap_only(one, (unsigned int)number);
	open_object(writer, "PU", one, node);
	osp_text_printf(&writer->text, " os_index=\"%d\"/>\n", number);
}

static void add_core(struct writer *writer, int index, int first, int second, hwloc_bitmap_t set,
		     hwloc_const_bitmap_t node)
{
	hwloc_bitmap_only(set, (unsigned int)first);
	if (second >= 0 && hwloc_bitmap_set(set, (unsigned int)second))
		writer->text.failed = true;
	open_object(writer, "Core", set, node);
	osp_text_printf(&writer->text, " os_index=\"%d\">\n", index);
	add_thread(writer, first, set, node);
	if (second >= 0)
		add_thread(writer, second, set, node);
	close_object(writer);
}

static void add_cores(struct writer *writer, const struct osp_nccl_cpu *cpu,
		      hwloc_const_bitmap_t node)
{
	int second = writer->two_threads ? second_range(cpu->mask) : -1;
	int end = second >= 0 ? second : INT32_MAX;
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int n;

	if (!set) {
		writer->text.failed = true;
		return;
	}
	for (n = hwloc_bitmap_first(cpu->mask); n >= 0 && n < end;
	     n = hwloc_bitmap_next(cpu->mask, n)) {
		add_core(writer, n, n, second, set, node);
		second += second >= 0;
	}
	hwloc_bitmap_free(set);
}

static void add_node(struct writer *writer, const struct osp_nccl_cpu *cpu)
{
	hwloc_bitmap_t node = hwloc_bitmap_alloc();

	if (!node || hwloc_bitmap_set(node, (unsigned int)cpu->numa)) {
		writer->text.failed = true;
		hwloc_bitmap_free(node);
		return;
	}
	open_object(writer, "Group", cpu->mask, node);
	osp_text_add(&writer->text, " kind=\"0\" subkind=\"0\" dont_merge=\"1\">\n");
	open_object(writer, "NUMANode", cpu->mask, node);
	osp_text_printf(&writer->text, " os_index=\"%d\"/>\n", cpu->numa);
	add_cores(writer, cpu, node);
	add_all_pci(writer, cpu->pci);
	close_object(writer);
	hwloc_bitmap_free(node);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void add_machine(struct writer *writer, const struct osp_nccl_cpu *first,
			hwloc_bitmap_t cpus, hwloc_bitmap_t nodes)
{
	const struct osp_nccl_cpu *cpu;

	for (cpu = first; cpu; cpu = cpu->next)
		if (!hwloc_bitmap_iszero(cpu->mask) &&
		    (hwloc_bitmap_or(cpus, cpus, cpu->mask) ||
		     hwloc_bitmap_set(nodes, (unsigned int)cpu->numa)))
			writer->text.failed = true;
	open_object(writer, "Machine", cpus, nodes);
	osp_text_add(&writer->text, " os_index=\"0\">\n");
	for (cpu = first; cpu; cpu = cpu->next)
		if (!hwloc_bitmap_iszero(cpu->mask))
			add_node(writer, cpu);
	for (cpu = first; cpu; cpu = cpu->next)
		if (hwloc_bitmap_iszero(cpu->mask))
			add_all_pci(writer, cpu->pci);
	close_object(writer);
}

char *osp_nccl_write_hwloc(const struct osp_nccl_machine *machine)
{
	struct writer writer = {.text = OSP_TEXT_INIT,
				.two_threads = all_have_two_ranges(machine->cpus)};
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();

	osp_text_add(&writer.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
				   "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
				   "<topology version=\"2.0\">\n");
	if (cpus && nodes)
		add_machine(&writer, machine->cpus, cpus, nodes);
	else
		writer.text.failed = true;
	osp_text_add(&writer.text, "</topology>\n");
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(nodes);
	return osp_text_take(&writer.text);
}
