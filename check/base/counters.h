/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - what of a node's hardware counts errors
 *
 * Inside a child of its own: NVML may hang. Counters are named by what has them (a GPU's UUID,
 * "mlx5_0:1", "neuron0", a PCI address of AMD's) and by words of ours. One thread.
 */
#ifndef OSP_COUNTERS_H
#define OSP_COUNTERS_H

#include "check/base/gpus.h"

/* Adds every counter of the GPUs chosen, of those on the PCI bus, and of the node's other devices
 * to `state`. */
void osp_counters_read(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		       struct osp_node_state *state);

/*
 * What counts errors of a GPU's memory. A check reads one here and nowhere else
 * (tests/check/layers), and osp_counters_read() reads all of them: so none can be judged that a
 * fresh pass does not look at.
 */
enum osp_gpu_counter {
	OSP_GPU_ECC_UNCORRECTED,  /* since the driver was loaded */
	OSP_GPU_ECC_CORRECTED,	  /* since then, too */
	OSP_GPU_SRAM_UNCORRECTED, /* over the GPU's life */
	OSP_GPU_PAGES_RETIRED,	  /* before the A100; NVML reports at most 256 */
	OSP_GPU_COUNTER_COUNT
};

/* Reads one: NVML's answer (OSP_NVML_OK, or why there is none), with `value` set where it is
 * OK. */
int osp_gpu_counter_read(const struct osp_gpu *gpu, enum osp_gpu_counter counter, uint64_t *value);

/* Rows of memory that were remapped, from the A100 on. */
struct osp_gpu_rows {
	unsigned int corrected;	  /* for correctable errors */
	unsigned int uncorrected; /* for uncorrectable ones */
	unsigned int pending;	  /* 1: a row is remapped at the next reset */
	unsigned int failed;	  /* 1: a row could not be */
};

/* Reads all of them in one call of NVML; returns its answer as osp_gpu_counter_read() does. */
int osp_gpu_rows_read(const struct osp_gpu *gpu, struct osp_gpu_rows *rows);

/* The sums over a GPU's NVLinks. */
struct osp_link_errors {
	unsigned int up;       /* links */
	unsigned int answered; /* of them: those with any counter that can be read */
	uint64_t crc;	       /* the older counters, up to Hopper */
	uint64_t replay;
	uint64_t recovery; /* both kinds: of NVLink 5 those that succeeded */
	uint64_t packets;  /* NVLink 5: packets with an error of any kind */
	uint64_t lost;	   /* NVLink 5: recoveries that failed */
	uint64_t effective;
	uint64_t symbol;
	double rate; /* NVLink 5: of effective errors, the worst link's; 0: none reported */
};

/* False if no link reports any. */
bool osp_link_errors_read(const struct osp_gpu *gpu, struct osp_link_errors *errors);

/* A counter of an InfiniBand or RoCE port, as "link_downed"; false if it has none. */
bool osp_port_counter(const char *root, const char *device, const char *port, const char *name,
		      uint64_t *value);

/* AMD: of "umc" and the other blocks, all together; false if the driver reports none. */
bool osp_amd_errors(const char *root, const char *address, uint64_t *uncorrectable,
		    uint64_t *correctable);

/* Neuron: memory and SRAM, together; false if the driver reports neither. */
bool osp_neuron_errors(const char *root, const char *name, uint64_t *errors);

#endif
