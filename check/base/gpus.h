/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpus.h - the NVIDIA GPUs of this node: on the PCI bus, and as NVML knows them
 *
 * gpuN is the N-th in the order of PCI addresses, which is NVML's order (and CUDA's only with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID). One thread.
 */
#ifndef OSP_GPUS_H
#define OSP_GPUS_H

#include "check/check.h"
#include "check/base/nvml.h"

#define OSP_GPUS_MAX 64

struct osp_pci_gpu {
	char address[16]; /* "0000:3b:00.0", as sysfs writes it */
	bool chosen;	  /* by --gpus */
};

struct osp_pci_gpus {
	struct osp_pci_gpu gpus[OSP_GPUS_MAX];
	size_t count;
	size_t given_away; /* beside these: to virtual machines, by vfio-pci, or excluded by root
			      from the driver */
};

/*
 * Display and 3D controllers of NVIDIA's (vendor 10de, class 03) that the NVIDIA driver has or
 * should have. Not those that a host has given to virtual machines, nor the virtual functions that
 * it makes for them; in a guest the function that it was given is its GPU.
 */
void osp_pci_gpus(const struct osp_check_context *context, struct osp_pci_gpus *gpus);

/* A GPU's UUID as /proc/driver/nvidia has it, without asking NVML; with a driver that has lost
 * it, "GPU-????????-...". */
bool osp_pci_gpu_uuid(const struct osp_check_context *context, const char *address, char *uuid,
		      size_t uuid_bytes);

/* "gpu3" for a PCI address ("0000:3b:00" is enough), or the address if there is no such GPU. */
const char *osp_gpu_of_address(const struct osp_pci_gpus *gpus, const char *address, char *buffer,
			       size_t buffer_bytes, bool *chosen);

/* --gpus: "0-3,5" or UUIDs (the start is enough), separated by commas. */
bool osp_gpus_valid(const char *list, struct osp_error *error);

struct osp_gpu {
	unsigned int index;
	char subject[16]; /* "gpu3" */
	char address[16];
	char name[96];
	char uuid[96];
	osp_nvml_device device;
	int state; /* what NVML said when asked for it */
};

struct osp_gpus {
	struct osp_gpu gpus[OSP_GPUS_MAX]; /* the chosen ones */
	size_t count;
	size_t all; /* how many NVML counts */
};

/*
 * The chosen GPUs by NVML. false when there is none or NVML does not answer: then a SKIP has been
 * told that says so, since it is for the checks "driver" and "gpus" to judge that. A GPU that NVML
 * has lost is in the list with its state.
 */
bool osp_gpus_open(struct osp_check_context *context, struct osp_gpus *gpus);

/* The same where osp_pci_gpus() has just been asked. */
bool osp_gpus_open_on(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		      struct osp_gpus *gpus);

/* NVML refuses this process, by its user or its cgroup: that says nothing of a GPU. */
bool osp_nvml_refuses(int state);

/*
 * Is confidential computing on? Then memory is encrypted, copies between host and GPU are slow, and
 * NVLinks are off but for modes that protect them. Asks NVML, which must be ready.
 */
bool osp_gpus_confidential(void);

/* In instances (MIG): its NVLinks may be off, and are up to Ampere (Fabric Manager User Guide). */
bool osp_gpu_partitioned(const struct osp_gpu *gpu);

/* NVML loaded and initialised, once a process: 0, or NVML's error; -1 when the library cannot be
 * loaded (osp_nvml_load() says why). */
int osp_nvml_ready(void);

/*
 * What to do with what NVML answered about one GPU: true when there is a value. Otherwise the GPU
 * has none (counted in *lacking), is lost ("gpus" reports it), or the call failed: reported as
 * an error.
 */
bool osp_gpu_value(struct osp_check_context *context, const struct osp_gpu *gpu, int state,
		   const char *what, size_t *lacking);

/* Looks at one GPU that answers; counts it in *lacking if it has no such value. True: a fault
 * was reported. */
typedef bool osp_gpu_judge(struct osp_check_context *context, const struct osp_gpu *gpu,
			   size_t *lacking, void *data);

/*
 * Lets `judge` look at each GPU (osp_gpus_each() opens them first); those that do not answer
 * count as lacking. Returns the number of healthy GPUs, for the caller to report a PASS. Returns 0
 * if this function has reported something: a GPU that `judge` found ill, or a SKIP with the words
 * `nothing` if no GPU has the value.
 */
size_t osp_gpus_judge(struct osp_check_context *context, const struct osp_gpus *gpus,
		      osp_gpu_judge *judge, void *data, const char *nothing);
size_t osp_gpus_each(struct osp_check_context *context, osp_gpu_judge *judge, void *data,
		     const char *nothing);

#endif
