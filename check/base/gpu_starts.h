/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_starts.h - how this node's GPUs have started in this boot
 *
 * Without persistence the driver starts a GPU anew for each program that finds none on it: 1 to 3 s
 * a GPU, and 30 s were seen for eight (nvidia-persistenced's manual; NVIDIA's forum). So a GPU that
 * does not answer in time may be slow to start and well. ROOT/run/onespine/gpu-starts keeps, by PCI
 * address, whether persistence was on when the GPU last answered, and how often it did not answer
 * in time. Only root's runs write it, and what others could have written counts as nothing. One
 * thread.
 */
#ifndef OSP_GPU_STARTS_H
#define OSP_GPU_STARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "check/base/gpus.h"

/* A GPU may start late this many times in one boot, each an ERROR of the check. The next late start
 * is a WARN about the GPU. */
#define OSP_LATE_STARTS 3

struct osp_gpu_start {
	char address[16]; /* PCI */
	char subject[16]; /* "gpu3" */
	bool persistent;  /* persistence was on when it last answered */
	unsigned int late;
};

struct osp_gpu_starts {
	struct osp_gpu_start gpus[OSP_GPUS_MAX];
	size_t count;
};

/* Reads the starts of this boot that earlier runs kept; none if no run kept any. */
void osp_gpu_starts_read(const char *root, struct osp_gpu_starts *starts);

/* Keeps the starts for later runs if this run is root's. A run of others, and a failure to write,
 * change nothing. */
void osp_gpu_starts_write(const char *root, const struct osp_gpu_starts *starts);

/* Returns the GPU's entry, and adds one if it is missing; NULL if there is no room. */
struct osp_gpu_start *osp_gpu_starts_of(struct osp_gpu_starts *starts, const char *address,
					const char *subject);

#endif
