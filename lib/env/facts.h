/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - the known facts about a node, its software and a job's shape
 *
 * Rules may ask about these facts. A fact that was never set is unknown, and no rule assumes a
 * value: nothing is guessed. Versions are those of lib/env/version.h; numbers are whole.
 *
 * Any thread, any daemon: no shared state, no allocation. A struct osp_facts has about 10 KB.
 */
#ifndef OSP_FACTS_H
#define OSP_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/env/version.h"
#include "lib/env/catalogue.h"

#define OSP_FACT_BYTES 256

enum osp_fact_id {
	/* versions of software */
	OSP_FACT_NCCL,
	OSP_FACT_OFI, /* aws-ofi-nccl */
	OSP_FACT_LIBFABRIC,
	OSP_FACT_EFA,	 /* the EFA installer */
	OSP_FACT_DRIVER, /* NVIDIA's */
	OSP_FACT_CUDA,
	OSP_FACT_KERNEL,
	OSP_FACT_GDRCOPY,
	OSP_FACT_SLURM, /* the cluster's */
	/* the node */
	OSP_FACT_INSTANCE, /* its name in the catalogue */
	OSP_FACT_PROVIDER,
	OSP_FACT_VENDOR, /* of the accelerators */
	OSP_FACT_ACCELERATOR,
	OSP_FACT_FABRIC,
	OSP_FACT_RDMA_READ,
	OSP_FACT_NVLINK, /* generation; 0 for none */
	OSP_FACT_NVSWITCH,
	OSP_FACT_OPEN_DRIVER, /* NVIDIA's open kernel modules */
	OSP_FACT_INTERFACES,  /* network interfaces with an address that NCCL could use */
	OSP_FACT_DEFAULT_INTERFACE,
	OSP_FACT_GPU_HCAS,	/* active HCAs near a GPU, in the form of NCCL_IB_HCA */
	OSP_FACT_OFI_TUNER,	/* path of libnccl-ofi-tuner.so */
	OSP_FACT_EFA_LIBRARIES, /* folders for LD_LIBRARY_PATH that ldconfig does not know */
	OSP_FACT_MEMLOCK_UNLIMITED,
	OSP_FACT_STACK_UNLIMITED,
	OSP_FACT_NOFILE,
	OSP_FACT_SHM_GIB,    /* total size of /dev/shm in whole GiB */
	OSP_FACT_REMOVE_IPC, /* logind removes a user's shared memory after the last session */
	/* the job */
	OSP_FACT_NODES,
	OSP_FACT_CONTAINER,
	OSP_FACT_PARTIAL_NODE, /* the job has fewer GPUs than the node */
	OSP_FACT_GPUS_VISIBLE, /* to one process */
	OSP_FACT_BOUND,	       /* --gang-bind gave the task its cores */
	OSP_FACT_NEAR_NICS,    /* adapters nearest to the GPUs that the task sees, as "a,b" */
	OSP_FACT_COUNT
};

enum osp_fact_kind { OSP_FACT_VERSION, OSP_FACT_NUMBER, OSP_FACT_FLAG, OSP_FACT_WORD };

struct osp_fact {
	bool known;
	bool flag;
	struct osp_version version; /* a number is a version of one part */
	char text[OSP_FACT_BYTES];  /* as it was given */
};

struct osp_facts {
	struct osp_fact facts[OSP_FACT_COUNT];
	int accelerators; /* of a node of the type; no rule asks for it. 0: unknown, or none */
};

const char *osp_fact_name(enum osp_fact_id id);
enum osp_fact_kind osp_fact_kind(enum osp_fact_id id);

/* Finds a fact by its name. Returns 0, or -1 with the nearest right word. */
int osp_fact_find(const char *name, enum osp_fact_id *id, struct osp_error *error);

/* Sets a fact from text: a version, a number, yes or no, or a word of at most 255 bytes (vendor and
 * fabric: one of the catalogue's). An empty `text` makes it unknown. Returns 0, or -1 with `error`
 * set (its column counts in `text`). */
int osp_facts_set(struct osp_facts *facts, enum osp_fact_id id, const char *text,
		  struct osp_error *error);

/* Sets facts from "nccl=2.21,ofi=1.9". If one is wrong, those before it are set, and `error` has
 * the column. */
int osp_facts_set_list(struct osp_facts *facts, const char *list, struct osp_error *error);

/* Sets what the catalogue knows about a type; other facts stay as they were. */
void osp_facts_take_instance(struct osp_facts *facts, const struct osp_instance *instance);

/* Sets the number of accelerators; one that is unknown, 0 or below, changes nothing. */
void osp_facts_take_accelerators(struct osp_facts *facts, int64_t accelerators);

#endif
