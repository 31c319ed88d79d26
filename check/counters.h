/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - what of a node's hardware counts errors
 *
 * Inside a child of its own: NVML may hang. Counters are named by what has them (a GPU's UUID,
 * "mlx5_0:1", "neuron0", a PCI address of AMD's) and by words of ours. One thread.
 */
#ifndef OSP_COUNTERS_H
#define OSP_COUNTERS_H

#include "check/gpus.h"

/* Adds every counter of the GPUs chosen, of those on the PCI bus, and of the node's other devices to
 * `state`. */
void osp_counters_read(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		       struct osp_node_state *state);

/* The sums over a GPU's NVLinks; false where it tells none. */
struct osp_link_errors {
	uint64_t crc;
	uint64_t replay;
	uint64_t recovery;
};
bool osp_link_errors_read(const struct osp_gpu *gpu, struct osp_link_errors *errors);

/* A counter of an InfiniBand or RoCE port, as "link_downed"; false where it has none. */
bool osp_port_counter(const char *root, const char *device, const char *port, const char *name,
		      uint64_t *value);

/* AMD: of "umc" and the other blocks, all together; false where the driver tells none. */
bool osp_amd_errors(const char *root, const char *address, uint64_t *uncorrectable,
		    uint64_t *correctable);

/* Neuron: memory and SRAM, together. */
uint64_t osp_neuron_errors(const char *root, const char *name);

#endif
