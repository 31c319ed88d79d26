/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_machine.h - cores, NUMA nodes, GPUs and NICs of one machine, as binding sees them
 *
 * Read from hwloc, which finds GPUs and NICs on the PCI bus: no GPU library is loaded, no driver is
 * asked. GPUs and NICs are numbered from 0 in the order of their PCI bus ids, which is CUDA's order
 * with CUDA_DEVICE_ORDER=PCI_BUS_ID.
 *
 * A machine never changes: any number of threads may read one. All it holds lives as long as it
 * does.
 */
#ifndef OSP_BIND_MACHINE_H
#define OSP_BIND_MACHINE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/bind/machine_shape.h"

#define OSP_MACHINE_XML_BYTES_MAX ((size_t)32 * 1024 * 1024)
#define OSP_CPU_MOST		  65535 /* by the kernel's numbers */
#define OSP_MACHINE_DEVICES_MAX	  1024	/* GPUs, and as many NICs */
#define OSP_NO_MEMORY		  UINT32_MAX

/* A NUMA node with cores of its own. Nodes without cores (a GPU's memory, an expander) are left
 * out. */
struct osp_machine_domain {
	uint32_t os_index; /* the kernel's number; OSP_NO_MEMORY for cores near no NUMA node */
	hwloc_bitmap_t cpus;
	uint32_t core_count;
};

/* Holds no hwloc set: there are hundreds of cores, and each step reads them all. */
struct osp_machine_core {
	const uint32_t *cpus; /* its hardware threads, by the kernel's numbers, in rising order */
	uint32_t cpu_count;
	uint32_t domain;
};

/* How near a GPU its nearest NICs are. */
enum osp_near {
	OSP_NEAR_NOTHING,
	OSP_NEAR_SWITCH,
	OSP_NEAR_HOST_BRIDGE,
	OSP_NEAR_DOMAIN,
};

struct osp_machine_device {
	const char *bus_id;  /* "0000:18:00.0" */
	const char *name;    /* a NIC's device ("mlx5_0"), a GPU's model; "" if unknown */
	hwloc_bitmap_t cpus; /* near it; empty if the machine does not say */
	hwloc_bitmap_t nics; /* of a GPU: its nearest NICs */
	enum osp_near near;  /* of a GPU: how near these are */
	uint16_t vendor;
	uint16_t device;
	bool is_fabric; /* a NIC for RDMA */
};

struct osp_machine {
	const char *product;		    /* as the firmware calls it; "" if unknown */
	struct osp_machine_domain *domains; /* by os_index */
	struct osp_machine_core *cores;	    /* domain by domain; neighbours share caches */
	struct osp_machine_device *gpus;
	struct osp_machine_device *nics; /* only those for RDMA if there are any */
	uint32_t domain_count;
	uint32_t core_count;
	uint32_t gpu_count;
	uint32_t nic_count;
	uint32_t threads_most;	     /* hardware threads of a core, at most */
	hwloc_bitmap_t cpus;	     /* all */
	hwloc_bitmap_t allowed_cpus; /* inside the caller's cgroup, for this machine */
	hwloc_bitmap_t allowed_memory;
	hwloc_bitmap_t memory_apart; /* NUMA nodes without cores */
	bool has_pci;		     /* some PCI device is seen */
	bool cores_guessed;	     /* the CPU masks only suggest which threads share a core */
	/* private */
	struct osp_arena arena;
};

/*
 * Reads a machine from an hwloc XML file (versions 1 to 3) or a NCCL topology file
 * (lib/bind/nccl_topology.h); their first element distinguishes them. `file` is the name for
 * errors. Returns NULL with `error` set if it fails.
 */
struct osp_machine *osp_machine_read(const char *file, const char *text, size_t text_bytes,
				     struct osp_error *error);

/* Reads it in the same way, and takes what a NCCL topology does not say from `shape`; NULL is
 * allowed. */
struct osp_machine *osp_machine_read_as(const char *file, const char *text, size_t text_bytes,
					const struct osp_machine_shape *shape,
					struct osp_error *error);

/* Makes a machine of which only its type is known. Returns NULL with `error` set if memory ran
 * out. */
struct osp_machine *osp_machine_make(const struct osp_machine_shape *shape,
				     struct osp_error *error);

/* Reads the machine that this runs on, from /sys and /proc. Returns NULL with `error` set if it
 * fails. */
struct osp_machine *osp_machine_here(struct osp_error *error);

void osp_machine_free(struct osp_machine *machine); /* NULL is allowed */

/* Returns whether one of the core's threads is in `cpus`. */
bool osp_core_has_any(const struct osp_machine_core *core, hwloc_const_bitmap_t cpus);

/*
 * Writes the names of the RDMA adapters nearest to these GPUs, in the order of their bus ids,
 * "a,b", to `buffer`, and returns it. Writes "" if one of the GPUs has none, a name is unknown, or
 * the names do not fit.
 */
const char *osp_machine_near_nics(const struct osp_machine *machine, hwloc_const_bitmap_t gpus,
				  char *buffer, size_t buffer_bytes);

/*
 * Adds CPU numbers as Linux lists them ("0-15,32-47") to `cpus`. Returns 0, or -1 with `error` set:
 * its column is the byte in `list`, from 1.
 */
int osp_machine_parse_cpus(const char *list, hwloc_bitmap_t cpus, struct osp_error *error);

#endif
