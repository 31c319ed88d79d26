/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_machine.c - cores, NUMA nodes, GPUs and NICs of one machine, as binding sees them */
#include "lib/bind/bind_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"
#include "lib/bind/xml.h"
#include "lib/bind/bind_devices.h"
#include "lib/bind/nccl_topology.h"

/* --- NUMA nodes ------------------------------------------------------------------------------- */

static int by_size_then_number(const void *a, const void *b)
{
	const hwloc_obj_t x = *(const hwloc_obj_t *)a, y = *(const hwloc_obj_t *)b;
	int x_cpus = hwloc_bitmap_weight(x->cpuset), y_cpus = hwloc_bitmap_weight(y->cpuset);

	if (x_cpus != y_cpus)
		return x_cpus < y_cpus ? -1 : 1;
	return x->os_index < y->os_index ? -1 : x->os_index > y->os_index;
}

static int by_number(const void *a, const void *b)
{
	const struct osp_machine_domain *x = a, *y = b;

	return x->os_index < y->os_index ? -1 : x->os_index > y->os_index;
}

/* Returns whether a node is special memory; hwloc says so of the memory of Grace's GPUs and of the
 * high-bandwidth memory of some CPUs. */
static bool is_special_memory(hwloc_obj_t node)
{
	return node->subtype && strcmp(node->subtype, "DRAM") != 0;
}

/*
 * Adds a NUMA node as a domain. hwloc shows a NUMA node without cores at its neighbours' cores, so
 * a node counts as having cores only if no smaller, earlier one has them.
 */
static bool take_domain(struct osp_machine *machine, hwloc_obj_t node, hwloc_bitmap_t taken)
{
	struct osp_machine_domain *domain = &machine->domains[machine->domain_count];

	if (hwloc_bitmap_iszero(node->cpuset) || is_special_memory(node) ||
	    hwloc_bitmap_intersects(node->cpuset, taken))
		return hwloc_bitmap_set(machine->memory_apart, node->os_index) == 0;
	domain->os_index = node->os_index;
	domain->cpus = hwloc_bitmap_dup(node->cpuset);
	machine->domain_count += domain->cpus != NULL;
	return domain->cpus && hwloc_bitmap_or(taken, taken, node->cpuset) == 0;
}

/* Adds a domain for the cores that no NUMA node is near. */
static bool take_rest(struct osp_machine *machine, hwloc_const_bitmap_t taken)
{
	struct osp_machine_domain *domain = &machine->domains[machine->domain_count];

	if (hwloc_bitmap_isincluded(machine->cpus, taken))
		return true;
	domain->os_index = OSP_NO_MEMORY;
	domain->cpus = hwloc_bitmap_alloc();
	machine->domain_count += domain->cpus != NULL;
	return domain->cpus && hwloc_bitmap_andnot(domain->cpus, machine->cpus, taken) == 0;
}

static bool take_domains(struct osp_machine *machine, hwloc_topology_t topology)
{
	int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
	size_t room = count > 0 ? (size_t)count : 0;
	hwloc_obj_t *nodes = calloc(room + 1, sizeof(*nodes));
	hwloc_bitmap_t taken = hwloc_bitmap_alloc();
	bool done = nodes && taken;
	size_t i;

	machine->domains = osp_arena_take(&machine->arena, (room + 1) * sizeof(*machine->domains));
	done = done && machine->domains;
	for (i = 0; done && i < room; i++)
		nodes[i] = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned int)i);
	if (done)
		qsort(nodes, room, sizeof(*nodes), by_size_then_number);
	for (i = 0; done && i < room; i++)
		done = take_domain(machine, nodes[i], taken);
	if (done)
		done = take_rest(machine, taken);
	if (done)
		qsort(machine->domains, machine->domain_count, sizeof(*machine->domains),
		      by_number);
	hwloc_bitmap_free(taken);
	free(nodes);
	return done;
}

/* --- cores ------------------------------------------------------------------------------------ */

static bool take_core(struct osp_machine *machine, uint32_t domain, hwloc_const_bitmap_t set)
{
	struct osp_machine_core *core = &machine->cores[machine->core_count];
	int weight = hwloc_bitmap_weight(set), cpu = -1;
	uint32_t count = weight > 0 ? (uint32_t)weight : 0;
	uint32_t *cpus = osp_arena_take(&machine->arena, (count + (size_t)1) * sizeof(*cpus));

	if (!cpus)
		return false;
	for (uint32_t i = 0; i < count; i++)
		cpus[i] = (uint32_t)(cpu = hwloc_bitmap_next(set, cpu));
	*core = (struct osp_machine_core){.cpus = cpus, .cpu_count = count, .domain = domain};
	machine->core_count++;
	machine->domains[domain].core_count++;
	if (count > machine->threads_most)
		machine->threads_most = count;
	return true;
}

bool osp_core_has_any(const struct osp_machine_core *core, hwloc_const_bitmap_t cpus)
{
	for (uint32_t i = 0; i < core->cpu_count; i++) {
		if (hwloc_bitmap_isset(cpus, core->cpus[i]))
			return true;
	}
	return false;
}

/* Returns the type that counts as cores: hardware threads if the kernel reports no cores, because
 * hwloc then has none. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
	return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE
								      : HWLOC_OBJ_PU;
}

static bool take_cores(struct osp_machine *machine, hwloc_topology_t topology)
{
	hwloc_obj_type_t type = core_type(topology);
	int count = hwloc_get_nbobjs_by_type(topology, type);
	uint32_t domain;

	machine->cores = osp_arena_take(&machine->arena, ((size_t)(count > 0 ? count : 0) + 1) *
								 sizeof(*machine->cores));
	if (!machine->cores)
		return false;
	for (domain = 0; domain < machine->domain_count; domain++) {
		hwloc_const_bitmap_t cpus = machine->domains[domain].cpus;
		hwloc_obj_t core = NULL;

		while ((core = hwloc_get_next_obj_by_type(topology, type, core))) {
			if (hwloc_bitmap_first(core->cpuset) >= 0 &&
			    hwloc_bitmap_isset(cpus,
					       (unsigned int)hwloc_bitmap_first(core->cpuset)) &&
			    !take_core(machine, domain, core->cpuset))
				return false;
		}
	}
	return true;
}

/* --- the machine ------------------------------------------------------------------------------ */

static bool take_sets(struct osp_machine *machine, hwloc_topology_t topology)
{
	hwloc_obj_t root = hwloc_get_root_obj(topology);
	const char *product = hwloc_obj_get_info_by_name(root, "DMIProductName");
	char *copy = osp_arena_copy(&machine->arena, product ? product : "",
				    product ? strlen(product) : 0);

	machine->product = copy ? osp_clean(copy) : NULL;
	machine->cpus = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(topology));
	machine->allowed_cpus = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
	machine->allowed_memory = hwloc_bitmap_dup(hwloc_topology_get_allowed_nodeset(topology));
	machine->memory_apart = hwloc_bitmap_alloc();
	return machine->product && machine->cpus && machine->allowed_cpus &&
	       machine->allowed_memory && machine->memory_apart;
}

static struct osp_machine *take_machine(hwloc_topology_t topology, struct osp_error *error)
{
	struct osp_machine *machine = calloc(1, sizeof(*machine));

	if (machine && take_sets(machine, topology) && take_domains(machine, topology) &&
	    take_cores(machine, topology) && osp_machine_take_devices(machine, topology)) {
		if (machine->core_count)
			return machine;
		osp_error_set(error, "it names no core");
	} else {
		osp_error_set(error, "out of memory");
	}
	osp_machine_free(machine);
	return NULL;
}

static void free_devices(struct osp_machine_device *devices, uint32_t count)
{
	while (count--) {
		hwloc_bitmap_free(devices[count].cpus);
		hwloc_bitmap_free(devices[count].nics);
	}
}

void osp_machine_free(struct osp_machine *machine)
{
	uint32_t i;

	if (!machine)
		return;
	for (i = 0; i < machine->domain_count; i++)
		hwloc_bitmap_free(machine->domains[i].cpus);
	free_devices(machine->gpus, machine->gpu_count);
	free_devices(machine->nics, machine->nic_count);
	hwloc_bitmap_free(machine->cpus);
	hwloc_bitmap_free(machine->allowed_cpus);
	hwloc_bitmap_free(machine->allowed_memory);
	hwloc_bitmap_free(machine->memory_apart);
	osp_arena_free(&machine->arena);
	free(machine);
}

/* --- loading ---------------------------------------------------------------------------------- */

/*
 * Asks for the whole machine, including what the caller may not use, and for PCI from the kernel
 * alone. GPU libraries take long to start, hang on broken GPUs and leave a context in the calling
 * process.
 */
static int configure(hwloc_topology_t topology)
{
	/* "pci" is libpciaccess, which hwloc prefers to the kernel's files if it is installed. */
	static const char *const left_out[] = {"cuda",	 "nvml", "rsmi", "levelzero",
					       "opencl", "gl",	 "pci"};
	size_t i;

	for (i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      left_out[i]);
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0)
		return -1;
	return hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
}

struct osp_machine *osp_machine_here(struct osp_error *error)
{
	struct osp_machine *machine = NULL;
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	if (configure(topology) < 0 || hwloc_topology_load(topology) < 0)
		osp_error_set(error, "hwloc cannot read this machine: %s", strerror(errno));
	else
		machine = take_machine(topology, error);
	hwloc_topology_destroy(topology);
	return machine;
}

/* Loads hwloc XML. hwloc takes its length as an int that includes the terminator. */
static struct osp_machine *load_xml(const char *file, const char *xml, size_t bytes,
				    struct osp_error *error)
{
	struct osp_machine *machine = NULL;
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	if (configure(topology) < 0 ||
	    hwloc_topology_set_xmlbuffer(topology, xml, (int)bytes + 1) < 0 ||
	    hwloc_topology_load(topology) < 0) {
		osp_error_at(error, file, 0, 0,
			     "hwloc here (API %x.%x) cannot read it; a file of a later hwloc is "
			     "written with lstopo --export-xml-flags v2",
			     hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff);
	} else {
		machine = take_machine(topology, error);
		if (!machine && error && !error->file[0])
			snprintf(error->file, sizeof(error->file), "%s", file ? file : "");
	}
	hwloc_topology_destroy(topology);
	return machine;
}

/* Reads what a NCCL topology became, and frees it. NULL is allowed. */
static struct osp_machine *read_made(const char *file, char *xml, struct osp_error *error)
{
	struct osp_machine *machine = xml ? load_xml(file, xml, strlen(xml), error) : NULL;

	if (machine)
		machine->cores_guessed = true;
	free(xml);
	return machine;
}

struct osp_machine *osp_machine_make(const struct osp_machine_shape *shape, struct osp_error *error)
{
	return read_made(shape->name, osp_nccl_shape_to_hwloc(shape, error), error);
}

static struct osp_machine *read_hwloc(const char *file, const char *text, size_t text_bytes,
				      struct osp_error *error)
{
	struct osp_machine *machine = NULL;
	char *copy;

	if (osp_xml_parse(file, text, text_bytes, NULL, NULL, error) < 0)
		return NULL;
	copy = malloc(text_bytes + 1);
	if (!copy) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	memcpy(copy, text, text_bytes);
	copy[text_bytes] = '\0';
	osp_machine_lower_xml(copy);
	machine = load_xml(file, copy, text_bytes, error);
	free(copy);
	return machine;
}

struct osp_machine *osp_machine_read(const char *file, const char *text, size_t text_bytes,
				     struct osp_error *error)
{
	return osp_machine_read_as(file, text, text_bytes, NULL, error);
}

struct osp_machine *osp_machine_read_as(const char *file, const char *text, size_t text_bytes,
					const struct osp_machine_shape *shape,
					struct osp_error *error)
{
	char first[16];

	if (text_bytes > OSP_MACHINE_XML_BYTES_MAX) {
		osp_error_at(error, file, 0, 0, "larger than %d MiB",
			     (int)(OSP_MACHINE_XML_BYTES_MAX >> 20));
		return NULL;
	}
	osp_xml_first_element(text, text_bytes, first, sizeof(first));
	if (strcmp(first, "system") == 0)
		return read_made(file,
				 osp_nccl_topology_to_hwloc(file, text, text_bytes, shape, error),
				 error);
	if (strcmp(first, "topology") == 0)
		return read_hwloc(file, text, text_bytes, error);
	osp_error_at(error, file, 0, 0,
		     "neither an hwloc XML file (<topology>) nor a NCCL topology (<system>)%s%s%s",
		     *first ? ": it begins with <" : "", first, *first ? ">" : "");
	return NULL;
}
