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
	char address[16]; /* "0000:3b:00.0", as sysfs writes it; "nvidia0" of a file alone */
	bool chosen;	  /* --gpus names it */
	/* NVIDIA's driver has not taken it, and has taken others, none of its kind: it may be too
	 * old for the driver, or not start. */
	bool left_out;
};

struct osp_pci_gpus {
	struct osp_pci_gpu gpus[OSP_GPUS_MAX];
	size_t count;
	/* Not among these: given to virtual machines by vfio-pci, excluded from the driver by root,
	 * or not given to this container. */
	char given_away[OSP_GPUS_MAX][16];
	size_t given_away_count;
	bool contained; /* in a container, which need not have all GPUs of the machine */
	bool by_files;	/* only the device files show GPUs: neither bus nor driver lists any */
	bool hidden;	/* this process does not see the machine's bus, or no GPU is on it (WSL) */
	/* Of `count`: with a monitor's class, and NVIDIA's driver has not taken them. */
	size_t monitors;
	char monitor_driver[32]; /* what has taken one of these ("nouveau"), or "" */
};

/*
 * Lists the display and 3D controllers of NVIDIA (vendor 10de, class 03) that the NVIDIA driver has
 * or should have. Omits those that a host has given to virtual machines, and the virtual functions
 * that it makes for them. In a guest, the function that it was given is its GPU. In a container,
 * which sees the PCI bus of the machine, omits those that it was not given. Where bus and driver
 * are hidden (gVisor), /dev/nvidiaN counts as a GPU.
 */
void osp_pci_gpus(const struct osp_check_context *context, struct osp_pci_gpus *gpus);

/* Returns whether a PCI device belongs to virtual machines or to programs: it is a virtual function
 * that this host has made, or its driver is vfio-pci, a variant of that, a stub of Xen or KVM, or a
 * uio driver. */
bool osp_pci_is_given_away(const struct osp_check_context *context, const char *address);

enum osp_pci_switches {
	OSP_SWITCHES_NONE,
	OSP_SWITCHES_GIVEN_AWAY, /* a virtual machine has them */
	OSP_SWITCHES_HERE,	 /* or the bus cannot be seen */
};

/* Returns who has the NVSwitches of the PCI bus. From Blackwell on the switches of a machine are
 * not on its bus. */
enum osp_pci_switches osp_pci_switches(const struct osp_check_context *context);

/* Reads the driver's minor number of a GPU, the N of /dev/nvidiaN. */
bool osp_pci_gpu_minor(const struct osp_check_context *context, const char *address,
		       unsigned int *minor);

/* Reads a GPU's UUID from /proc/driver/nvidia, without asking NVML. If the driver has lost the GPU,
 * the UUID is "GPU-????????-...". */
bool osp_pci_gpu_uuid(const struct osp_check_context *context, const char *address, char *uuid,
		      size_t uuid_bytes);

/* Returns "gpu3" for a PCI address ("0000:3b:00" is enough), or the address if there is no such
 * GPU. Sets *chosen to false for a GPU that --gpus does not name or that is given away; in a
 * container also for any other. */
const char *osp_gpu_of_address(const struct osp_pci_gpus *gpus, const char *address, char *buffer,
			       size_t buffer_bytes, bool *chosen);

/*
 * Returns whether the numbers in `list` (as --gpus has them) that Slurm gave a job may be those of
 * other GPUs than the ones in these places of the bus. Slurm numbers the devices of gres.conf. So
 * it may be where a GPU is in instances (MIG: the driver lists gpuN/mig/giM below capabilities of
 * its folder in /proc), each of which is a device; where slurm.conf counts slurm_count GPUs (0: it
 * does not say) and the bus has another number; and where the driver's own numbers (/dev/nvidiaN),
 * which gres.conf goes by without AutoDetect, are in another order. A list of all GPUs is right in
 * the last case. NVML is not asked.
 */
bool osp_gpu_numbers_unsure(const char *root, const char *list, uint64_t slurm_count);

/* Checks the form of --gpus: "0-3,5" or UUIDs (the start is enough), separated by commas. */
bool osp_gpus_valid(const char *list, struct osp_error *error);

struct osp_gpu {
	unsigned int index;
	char subject[16]; /* "gpu3" */
	char address[16];
	char name[96];
	char uuid[96];
	osp_nvml_device device;
	int state; /* NVML's answer to a call that opened it */
};

struct osp_gpus {
	struct osp_gpu gpus[OSP_GPUS_MAX]; /* the chosen ones */
	size_t count;
	size_t all; /* how many GPUs NVML counts */
};

/*
 * Opens the chosen GPUs with NVML. Returns false if there are none or NVML does not answer, after
 * reporting a SKIP that says so: the checks "driver" and "gpus" judge that. A GPU that NVML has
 * lost is in the list with its state.
 */
bool osp_gpus_open(struct osp_check_context *context, struct osp_gpus *gpus);

/* Opens the chosen GPUs as osp_gpus_open() does, with the answer that osp_pci_gpus() has just
 * given. */
bool osp_gpus_open_on(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		      struct osp_gpus *gpus);

/* Returns whether NVML cannot answer now: it has no memory, or another has the GPU for itself, as
 * while it is reset, or sets it up. That says nothing about a GPU. */
bool osp_nvml_cannot_now(int state);

/* Returns the same also if NVML refuses this process because of its user or its cgroup. */
bool osp_nvml_refuses(int state);

/*
 * Returns whether confidential computing is on. If it is, memory is encrypted, copies between host
 * and GPU are slow, and NVLinks are off except in modes that protect them. Asks NVML, which must be
 * ready.
 */
bool osp_gpus_confidential(void);

/* Returns whether the GPU is in instances (MIG). Its NVLinks may be off then; up to Ampere they are
 * (Fabric Manager User Guide). */
bool osp_gpu_partitioned(const struct osp_gpu *gpu);

/* Returns whether a virtual machine has the GPU, by passthrough or as a virtual GPU. */
bool osp_gpu_is_guest(const struct osp_gpu *gpu);

/* Returns whether the GPU has links that are up, and all of these lead to switches. */
bool osp_gpu_switched(const struct osp_gpu *gpu);

/* Loads and initialises NVML once a process. Returns 0, or NVML's error, or -1 if the library
 * cannot be loaded (osp_nvml_load() says why). */
int osp_nvml_ready(void);

/*
 * Judges NVML's answer about one GPU. Returns true if there is a value. Otherwise the GPU has none
 * (counted in *lacking), is lost ("gpus" reports it), or the call failed, which is reported as an
 * ERROR.
 */
bool osp_gpu_value(struct osp_check_context *context, const struct osp_gpu *gpu, int state,
		   const char *what, size_t *lacking);

/* Looks at one GPU that answers, and counts it in *lacking if it has no such value. Returns true if
 * a fault was reported. */
typedef bool osp_gpu_judge(struct osp_check_context *context, const struct osp_gpu *gpu,
			   size_t *lacking, void *data);

/*
 * Calls `judge` for each GPU (osp_gpus_each() opens them first); those that do not answer count as
 * lacking. Returns the number of healthy GPUs, for the caller to report a PASS. Returns 0 if this
 * function has reported something: a GPU that `judge` found ill, or a SKIP with the words `nothing`
 * if no GPU has the value.
 */
size_t osp_gpus_judge(struct osp_check_context *context, const struct osp_gpus *gpus,
		      osp_gpu_judge *judge, void *data, const char *nothing);
size_t osp_gpus_each(struct osp_check_context *context, osp_gpu_judge *judge, void *data,
		     const char *nothing);

#endif
