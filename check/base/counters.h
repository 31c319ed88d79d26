/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - the error counters of a node's hardware
 *
 * Called in a child of its own, because NVML may hang. A counter is named by the device that has it
 * (a GPU's UUID, "mlx5_0:1", "neuron0", the PCI address of an AMD GPU) and by words of ours. One
 * thread.
 */
#ifndef OSP_COUNTERS_H
#define OSP_COUNTERS_H

#include "check/base/gpus.h"

/* Adds to `state` every counter of the chosen GPUs, of those on the PCI bus, and of the node's
 * other devices. */
void osp_counters_read(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		       struct osp_node_state *state);

/*
 * The error counters of a GPU's memory. Checks read them only here (tests/check/layers), and
 * osp_counters_read() reads all of them, so a fresh pass looks at every counter that a check
 * judges.
 */
enum osp_gpu_counter {
	OSP_GPU_ECC_UNCORRECTED,  /* since the driver was loaded */
	OSP_GPU_ECC_CORRECTED,	  /* since the driver was loaded, too */
	OSP_GPU_SRAM_UNCORRECTED, /* over the GPU's life */
	OSP_GPU_PAGES_RETIRED,	  /* before the A100; NVML reports at most 256 */
	OSP_GPU_COUNTER_COUNT
};

/* Reads one counter. Returns NVML's answer; `value` is set if that is OSP_NVML_OK. */
int osp_gpu_counter_read(const struct osp_gpu *gpu, enum osp_gpu_counter counter, uint64_t *value);

/* Rows of memory that were remapped, from the A100 on. */
struct osp_gpu_rows {
	unsigned int corrected;	  /* for correctable errors */
	unsigned int uncorrected; /* for uncorrectable ones */
	unsigned int pending;	  /* 1: a row is remapped at the next reset */
	unsigned int failed;	  /* 1: remapping a row failed */
};

/* Reads all of them in one call of NVML; returns its answer as osp_gpu_counter_read() does. */
int osp_gpu_rows_read(const struct osp_gpu *gpu, struct osp_gpu_rows *rows);

/* The sums over a GPU's NVLinks. */
struct osp_link_errors {
	unsigned int up;       /* links */
	unsigned int answered; /* how many of them have a counter that can be read */
	uint64_t crc;	       /* the older counters, up to Hopper */
	uint64_t replay;
	uint64_t recovery; /* both kinds; of NVLink 5 those that succeeded */
	uint64_t packets;  /* NVLink 5: packets with an error of any kind */
	uint64_t lost;	   /* NVLink 5: recoveries that failed */
	uint64_t effective;
	uint64_t symbol;
	double rate; /* NVLink 5: the rate of effective errors on the worst link; 0: none
			reported */
};

/* Reads the sums over the GPU's NVLinks. Returns false if no link reports any. */
bool osp_link_errors_read(const struct osp_gpu *gpu, struct osp_link_errors *errors);

/* Reads a counter of an InfiniBand or RoCE port, as "link_downed". Returns false if the port lacks
 * it. */
bool osp_port_counter(const char *root, const char *device, const char *port, const char *name,
		      uint64_t *value);

/* Reads the sums over all blocks of an AMD GPU, "umc" and the others. Returns false if the driver
 * reports none. */
bool osp_amd_errors(const char *root, const char *address, uint64_t *uncorrectable,
		    uint64_t *correctable);

/* Reads the errors of a Neuron device's memory and SRAM, together. Returns false if the driver
 * reports neither. */
bool osp_neuron_errors(const char *root, const char *name, uint64_t *errors);

#endif
