/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * catalogue.h - the kinds of nodes that Onespine knows, from the files of etc/instances
 *
 *	source: https://...            # where the figures are from; a type may have its own
 *	instances:
 *	  p5.48xlarge:                 # the DMI product name, or its usual name
 *	    provider: aws
 *	    vendor: nvidia             # of the accelerators: nvidia, amd, aws
 *	    accelerator: H100
 *	    accelerators: 8
 *	    ...
 *
 * Strict: an unknown key, a wrong value or a type given twice refuses the whole folder, with file,
 * line and column. A figure that a type does not give is unknown. What a node itself shows
 * overrides the catalogue. A type in a site's folder replaces ours of the same name.
 *
 * If the DMI product name is the same for every type of a cloud (Azure: "Virtual Machine"), the
 * chassis asset tag shows the cloud. `chassis_tag` names it, and then gpu_device, accelerators and
 * fabric identify the type.
 *
 * A loaded catalogue never changes: any number of threads may read one.
 */
#ifndef OSP_CATALOGUE_H
#define OSP_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/env/version.h"

/* Words that are not given are NULL, numbers -1. They live as long as the catalogue. */
struct osp_instance {
	const char *name;
	const char *source;
	const char *file;
	int line;
	uint32_t rank;		 /* 0: ours; above: a site's */
	const char *provider;	 /* aws, azure, oci, nvidia, ... */
	const char *product;	 /* pattern of the DMI product name, if that is not `name` */
	const char *chassis_tag; /* pattern of the DMI chassis asset tag, for clouds that show it */
	const char *gpu_device;	 /* PCI vendor and device of its GPUs, "10de:2330" */
	const char *vendor;	 /* of the accelerators: nvidia, amd, aws */
	const char *accelerator;
	const char *cpu;    /* intel, amd, grace, graviton */
	const char *fabric; /* efa, infiniband, roce, slingshot, ethernet */
	int64_t accelerators;
	int64_t accelerator_memory_mib;
	int64_t vcpus;
	int64_t memory_gib;
	int64_t numa_nodes; /* with CPUs */
	int64_t nics;	    /* EFA interfaces, or HCAs of the compute fabric */
	int64_t nic_generation;
	int64_t network_mbps;
	int64_t nvlink; /* generation; 0: none */
	int64_t nvswitches;
	int64_t pcie_gts;	  /* GT/s per lane of the slowest PCIe link between host and GPU */
	enum osp_truth rdma_read; /* can the NIC read remote memory? */
};

/* Returns the words that a key of a type accepts ("fabric": efa, infiniband, ...); NULL if it
 * accepts any word. */
const char *const *osp_catalogue_words(const char *key, size_t *count);

struct osp_catalogue;

struct osp_catalogue *osp_catalogue_new(struct osp_error *error);
void osp_catalogue_free(struct osp_catalogue *catalogue); /* NULL is allowed */

/* Adds one file's types, with a rank of 0 for ours. Returns 0, or -1 with `error` set: the
 * catalogue may then only be freed. */
int osp_catalogue_add(struct osp_catalogue *catalogue, uint32_t rank, const char *file,
		      const char *text, size_t text_bytes, struct osp_error *error);

/* Adds every YAML file of a folder in the same way. With `site`, each file ranks above all before
 * it, and the folder may be missing. */
int osp_catalogue_add_folder(struct osp_catalogue *catalogue, const char *folder, int site,
			     struct osp_error *error);

/* Reads our types from `data`/instances, and the site's, which override them, from
 * `site`/instances.d (NULL: none). Returns NULL with `error` set if it fails. */
struct osp_catalogue *osp_catalogue_read(const char *data, const char *site,
					 struct osp_error *error);

size_t osp_catalogue_count(const struct osp_catalogue *catalogue);
/* Returns a type, in the order of the files, ours first, without those that were replaced. */
const struct osp_instance *osp_catalogue_at(const struct osp_catalogue *catalogue, size_t index);

/* Returns the type of that name, or NULL with the nearest right name in `error`. */
const struct osp_instance *osp_catalogue_find(const struct osp_catalogue *catalogue,
					      const char *name, struct osp_error *error);

/* Returns the type of a DMI product name, or NULL. */
const struct osp_instance *osp_catalogue_of_product(const struct osp_catalogue *catalogue,
						    const char *product);

/* What a node shows about its type. Words that it does not show are "". */
struct osp_node_shows {
	const char *product;	 /* DMI's product name */
	const char *chassis_tag; /* DMI's chassis asset tag */
	const char *gpu_device;	 /* PCI vendor and device of all its GPUs */
	const char *fabric;
	int64_t gpus;
};

struct osp_recognised {
	const struct osp_instance *type;      /* NULL: none, or several */
	const struct osp_instance *rivals[2]; /* two that it may be; NULL: there is no such doubt */
	const char *provider; /* of the types with its chassis tag; NULL: there are none */
};

/*
 * Finds the type of a node: that of its product name, else the one with its chassis tag, GPU model
 * and fabric. If several have these, it is the one with its number of GPUs, else one with more,
 * since GPUs may be lost. Nothing is guessed: if two remain, the type is unknown.
 */
void osp_catalogue_recognise(const struct osp_catalogue *catalogue,
			     const struct osp_node_shows *shows, struct osp_recognised *recognised);

#endif
