/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_shape.h - what is known of a type of machine without a look at one
 *
 * Numbers without places. A machine of this shape has its CPUs, GPUs and NICs dealt out to the NUMA
 * nodes in order, and the second hardware threads of all cores after all first ones. This is how
 * the files of aws-ofi-nccl (topology/, v1.13.2-aws) have p4d.24xlarge, p4de.24xlarge and
 * p5.48xlarge, and is only assumed of other types.
 */
#ifndef OSP_MACHINE_SHAPE_H
#define OSP_MACHINE_SHAPE_H

#include <stdint.h>

#define OSP_SHAPE_CPUS_MAX    8192
#define OSP_SHAPE_NODES_MAX   64
#define OSP_SHAPE_DEVICES_MAX 64 /* GPUs, and as many NICs */

/* Class and ids of a kind of PCI device. */
struct osp_shape_pci {
	uint32_t class_id; /* with the programming interface: 0x030200 */
	uint32_t vendor_id;
	uint32_t device_id;
};

struct osp_machine_shape {
	const char *name;
	uint32_t cpus;	  /* at least one a NUMA node */
	uint32_t threads; /* of a core: 1 or 2 */
	uint32_t nodes;	  /* NUMA nodes with CPUs; at least 1 */
	uint32_t gpus;
	uint32_t nics;
	struct osp_shape_pci gpu;
	struct osp_shape_pci nic;
};

#endif
