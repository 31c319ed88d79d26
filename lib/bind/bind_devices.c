/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_devices.c - the GPUs and NICs of a machine that hwloc has read, and their places in it */
#include "lib/bind/bind_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"

#define VENDOR_AMAZON	  0x1d0f
#define VENDOR_AMD	  0x1002
#define VENDOR_HPE	  0x17db
#define VENDOR_MELLANOX	  0x15b3
#define VENDOR_NVIDIA	  0x10de

#define CLASS_VGA	  0x0300
#define CLASS_3D	  0x0302
#define CLASS_DISPLAY	  0x0380
#define CLASS_ACCELERATOR 0x1200
#define CLASS_ETHERNET	  0x0200
#define CLASS_INFINIBAND  0x0207
#define CLASS_FABRIC	  0x0208

/* --- kinds of PCI devices --------------------------------------------------------------------- */

static bool is_neuron(const struct hwloc_pcidev_attr_s *pci)
{
	static const uint16_t devices[] = {0x7064, 0x7065, 0x7066, 0x7067, 0x7164, 0x7264, 0x7364};
	size_t i;

	for (i = 0; pci->vendor_id == VENDOR_AMAZON && i < sizeof(devices) / sizeof(*devices); i++)
		if (pci->device_id == devices[i])
			return true;
	return false;
}

/* Returns whether a device is a GPU. Mainboards have graphics that are VGA controllers too, so of
 * these only NVIDIA's count. */
static bool is_gpu(const struct hwloc_pcidev_attr_s *pci)
{
	switch (pci->class_id) {
	case CLASS_VGA:
		return pci->vendor_id == VENDOR_NVIDIA;
	case CLASS_3D:
	case CLASS_DISPLAY:
	case CLASS_ACCELERATOR:
		return true;
	default:
		return is_neuron(pci);
	}
}

static bool is_nic(const struct hwloc_pcidev_attr_s *pci)
{
	return pci->class_id == CLASS_ETHERNET || pci->class_id == CLASS_INFINIBAND ||
	       pci->class_id == CLASS_FABRIC;
}

static bool is_verbs(hwloc_obj_t os_device)
{
#if HWLOC_API_VERSION >= 0x00030000
	return os_device->attr->osdev.types & HWLOC_OBJ_OSDEV_OPENFABRICS;
#else
	return os_device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
#endif
}

static bool is_network(hwloc_obj_t os_device)
{
#if HWLOC_API_VERSION >= 0x00030000
	return os_device->attr->osdev.types & HWLOC_OBJ_OSDEV_NETWORK;
#else
	return os_device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK;
#endif
}

/* Returns whether a NIC is for RDMA, by its driver's device if the kernel has one, else by its
 * class or maker. */
static bool is_fabric(hwloc_obj_t device)
{
	const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
	hwloc_obj_t child;

	for (child = device->io_first_child; child; child = child->next_sibling)
		if (child->type == HWLOC_OBJ_OS_DEVICE && is_verbs(child))
			return true;
	if (pci->class_id != CLASS_ETHERNET)
		return true;
	return (pci->vendor_id == VENDOR_AMAZON && pci->device_id >> 8 == 0xef) ||
	       pci->vendor_id == VENDOR_HPE || pci->vendor_id == VENDOR_MELLANOX;
}

/* Prefers mlx5_0 to eth0; writes several ports as "mlx5_0,mlx5_1". */
static void nic_name(hwloc_obj_t device, char *name, size_t bytes)
{
	hwloc_obj_t child;
	bool verbs = true;
	size_t length = 0;

	name[0] = '\0';
again:
	for (child = device->io_first_child; child; child = child->next_sibling) {
		if (child->type != HWLOC_OBJ_OS_DEVICE || !child->name ||
		    !(verbs ? is_verbs(child) : is_network(child)) || length >= bytes)
			continue;
		length += (size_t)snprintf(name + length, bytes - length, "%s%s", length ? "," : "",
					   child->name);
	}
	if (!length && verbs) {
		verbs = false;
		goto again;
	}
}

static void gpu_name(hwloc_obj_t device, char *name, size_t bytes)
{
	hwloc_obj_t child;
	const char *model = NULL;

	for (child = device->io_first_child; child && !model; child = child->next_sibling)
		model = hwloc_obj_get_info_by_name(child, "GPUModel");
	if (!model)
		model = hwloc_obj_get_info_by_name(device, "PCIDevice");
	snprintf(name, bytes, "%s", model ? model : "");
}

/* --- nearness --------------------------------------------------------------------------------- */

/* How near a NIC is to a GPU: the kind, and how many bridges are above both. */
struct nearness {
	enum osp_near near;
	int depth;
};

static int bridge_count(hwloc_obj_t object)
{
	int count = 0;

	for (; object && hwloc_obj_type_is_io(object->type); object = object->parent)
		count += object->type == HWLOC_OBJ_BRIDGE;
	return count;
}

/* Returns the lowest bridge above both, or NULL. */
static hwloc_obj_t common_bridge(hwloc_obj_t a, hwloc_obj_t b)
{
	hwloc_obj_t x, y;

	for (x = a->parent; x && x->type == HWLOC_OBJ_BRIDGE; x = x->parent)
		for (y = b->parent; y && y->type == HWLOC_OBJ_BRIDGE; y = y->parent)
			if (x == y)
				return x;
	return NULL;
}

/* Returns the first domain near a device, or the number of domains if there is none. */
static uint32_t domain_of(const struct osp_machine *machine,
			  const struct osp_machine_device *device)
{
	uint32_t domain = 0;

	while (domain < machine->domain_count &&
	       !hwloc_bitmap_intersects(machine->domains[domain].cpus, device->cpus))
		domain++;
	return domain;
}

static struct nearness how_near(const struct osp_machine *machine, hwloc_obj_t gpu_object,
				const struct osp_machine_device *gpu, hwloc_obj_t nic_object,
				const struct osp_machine_device *nic)
{
	struct nearness answer = {OSP_NEAR_NOTHING, 0};
	hwloc_obj_t bridge = common_bridge(gpu_object, nic_object);
	uint32_t domain = domain_of(machine, gpu);

	if (bridge) {
		answer.depth = bridge_count(bridge);
		answer.near = bridge->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI
				      ? OSP_NEAR_SWITCH
				      : OSP_NEAR_HOST_BRIDGE;
	} else if (domain < machine->domain_count && domain == domain_of(machine, nic)) {
		answer.near = OSP_NEAR_DOMAIN;
	}
	return answer;
}

static bool nearer(struct nearness a, struct nearness b)
{
	if (a.near == OSP_NEAR_NOTHING || b.near == OSP_NEAR_NOTHING)
		return a.near != OSP_NEAR_NOTHING;
	return a.near != b.near ? a.near < b.near : a.depth > b.depth;
}

static bool take_near_nics(const struct osp_machine *machine, struct osp_machine_device *gpu,
			   hwloc_obj_t object, const hwloc_obj_t *nics)
{
	struct nearness best = {OSP_NEAR_NOTHING, 0};
	uint32_t i;

	gpu->nics = hwloc_bitmap_alloc();
	for (i = 0; gpu->nics && i < machine->nic_count; i++) {
		struct nearness near = how_near(machine, object, gpu, nics[i], &machine->nics[i]);

		if (near.near == OSP_NEAR_NOTHING || nearer(best, near))
			continue;
		if (nearer(near, best))
			hwloc_bitmap_zero(gpu->nics);
		best = near;
		if (hwloc_bitmap_set(gpu->nics, i))
			return false;
	}
	gpu->near = best.near;
	return gpu->nics;
}

/* --- the devices ------------------------------------------------------------------------------ */

static int by_bus_id(const void *a, const void *b)
{
	const struct hwloc_pcidev_attr_s *x = &(*(const hwloc_obj_t *)a)->attr->pcidev;
	const struct hwloc_pcidev_attr_s *y = &(*(const hwloc_obj_t *)b)->attr->pcidev;
	const unsigned int left[] = {x->domain, x->bus, x->dev, x->func};
	const unsigned int right[] = {y->domain, y->bus, y->dev, y->func};
	int i;

	for (i = 0; i < 4; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

typedef bool kind_f(const struct hwloc_pcidev_attr_s *pci);

/* Collects the objects of a kind, sorted by bus id, at most OSP_MACHINE_DEVICES_MAX. */
static uint32_t collect(hwloc_topology_t topology, kind_f *is_kind, hwloc_obj_t *objects)
{
	hwloc_obj_t object = NULL;
	uint32_t count = 0;

	while ((object = hwloc_get_next_pcidev(topology, object)))
		if (count < OSP_MACHINE_DEVICES_MAX && is_kind(&object->attr->pcidev))
			objects[count++] = object;
	qsort(objects, count, sizeof(*objects), by_bus_id);
	return count;
}

/* Keeps only the NICs for RDMA if there are any; the others are then not worth showing. */
static uint32_t keep_fabric(hwloc_obj_t *nics, uint32_t count)
{
	uint32_t kept = 0, i;

	for (i = 0; i < count; i++)
		if (is_fabric(nics[i]))
			nics[kept++] = nics[i];
	return kept ? kept : count;
}

/* Returns the CPUs near a device. A device attached to the whole of a machine with several NUMA
 * nodes is near none of them. */
static hwloc_bitmap_t near_cpus(const struct osp_machine *machine, hwloc_topology_t topology,
				hwloc_obj_t object)
{
	hwloc_obj_t above = hwloc_get_non_io_ancestor_obj(topology, object);

	if (!above || !above->cpuset ||
	    (machine->domain_count > 1 && hwloc_bitmap_isincluded(machine->cpus, above->cpuset)))
		return hwloc_bitmap_alloc();
	return hwloc_bitmap_dup(above->cpuset);
}

static bool take_device(struct osp_machine *machine, hwloc_topology_t topology, hwloc_obj_t object,
			bool gpu, struct osp_machine_device *device)
{
	const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;
	char bus_id[32], name[128], clean[128];

	snprintf(bus_id, sizeof(bus_id), "%04x:%02x:%02x.%x", pci->domain, pci->bus, pci->dev,
		 pci->func);
	(gpu ? gpu_name : nic_name)(object, name, sizeof(name));
	device->bus_id = osp_arena_copy(&machine->arena, bus_id, strlen(bus_id));
	osp_copy_clean(clean, sizeof(clean), name);
	device->name = osp_arena_copy(&machine->arena, clean, strlen(clean));
	device->vendor = pci->vendor_id;
	device->device = pci->device_id;
	device->is_fabric = !gpu && is_fabric(object);
	device->cpus = near_cpus(machine, topology, object);
	return device->bus_id && device->name && device->cpus;
}

static bool take_all(struct osp_machine *machine, hwloc_topology_t topology, hwloc_obj_t *gpus,
		     hwloc_obj_t *nics)
{
	uint32_t i;

	machine->has_pci = hwloc_get_next_pcidev(topology, NULL);
	machine->gpu_count = collect(topology, is_gpu, gpus);
	machine->nic_count = keep_fabric(nics, collect(topology, is_nic, nics));
	machine->gpus =
		osp_arena_take(&machine->arena, (machine->gpu_count + 1) * sizeof(*machine->gpus));
	machine->nics =
		osp_arena_take(&machine->arena, (machine->nic_count + 1) * sizeof(*machine->nics));
	if (!machine->gpus || !machine->nics) {
		machine->gpu_count = 0;
		machine->nic_count = 0;
		return false;
	}
	for (i = 0; i < machine->nic_count; i++)
		if (!take_device(machine, topology, nics[i], false, &machine->nics[i]))
			return false;
	for (i = 0; i < machine->gpu_count; i++)
		if (!take_device(machine, topology, gpus[i], true, &machine->gpus[i]) ||
		    !take_near_nics(machine, &machine->gpus[i], gpus[i], nics))
			return false;
	return true;
}

bool osp_machine_take_devices(struct osp_machine *machine, hwloc_topology_t topology)
{
	hwloc_obj_t *objects = calloc(2 * OSP_MACHINE_DEVICES_MAX, sizeof(hwloc_obj_t));
	bool done =
		objects && take_all(machine, topology, objects, objects + OSP_MACHINE_DEVICES_MAX);

	free(objects);
	return done;
}

/* Adds the NICs of one GPU to `nics`. Returns false if it has none, or one that is not for RDMA or
 * has no name. */
static bool add_near(const struct osp_machine *machine, const struct osp_machine_device *gpu,
		     hwloc_bitmap_t nics)
{
	int nic = hwloc_bitmap_first(gpu->nics);

	if (nic < 0)
		return false;
	for (; nic >= 0; nic = hwloc_bitmap_next(gpu->nics, nic))
		if (!machine->nics[nic].is_fabric || !*machine->nics[nic].name ||
		    hwloc_bitmap_set(nics, (unsigned int)nic))
			return false;
	return true;
}

const char *osp_machine_near_nics(const struct osp_machine *machine, hwloc_const_bitmap_t gpus,
				  char *buffer, size_t buffer_bytes)
{
	hwloc_bitmap_t nics = hwloc_bitmap_alloc();
	bool known = nics;
	size_t used = 0;
	int i;

	buffer[0] = '\0';
	for (i = hwloc_bitmap_first(gpus); known && i >= 0; i = hwloc_bitmap_next(gpus, i))
		known = (uint32_t)i < machine->gpu_count &&
			add_near(machine, &machine->gpus[i], nics);
	for (i = known ? hwloc_bitmap_first(nics) : -1; i >= 0 && used < buffer_bytes;
	     i = hwloc_bitmap_next(nics, i))
		used += (size_t)snprintf(buffer + used, buffer_bytes - used, "%s%s",
					 used ? "," : "", machine->nics[i].name);
	if (used >= buffer_bytes)
		buffer[0] = '\0';
	hwloc_bitmap_free(nics);
	return buffer;
}

/* --- versions of hwloc's XML ------------------------------------------------------------------ */

#if HWLOC_API_VERSION < 0x00030000

/* Returns version 2's number for a device's kind. Version 3 has a bit for each of its kinds. */
static char one_kind(unsigned long kinds)
{
	static const char kind_of_bit[] = {'0', '0', '1', '5', '2', '3', '4'};
	static const int order[] = {5, 4, 3, 2, 6, 1, 0};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (kinds >> order[i] & 1)
			return kind_of_bit[order[i]];
	return '0';
}

void osp_machine_lower_xml(char *xml)
{
	static const char version[] = "<topology version=\"3.";
	static const char kind[] = " osdev_type=\"";
	char *at = strstr(xml, version);
	char *end;

	if (!at)
		return;
	at[sizeof(version) - 3] = '2';
	while ((at = strstr(at, kind))) {
		unsigned long kinds;

		at += sizeof(kind) - 1;
		kinds = strtoul(at, &end, 10);
		if (end == at || *end != '"')
			continue;
		*at++ = one_kind(kinds);
		*at++ = '"';
		while (at <= end)
			*at++ = ' ';
	}
}

#else

void osp_machine_lower_xml(char *xml)
{
	(void)xml;
}

#endif
