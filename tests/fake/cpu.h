/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu.h - runs the kernels' own source on the CPU, for the fake libcuda */
#ifndef OSP_FAKE_CPU_H
#define OSP_FAKE_CPU_H

#include <stddef.h>

#include "kernels/kernels.h"

/* Memory that a GPU has and a node does not: its mappings bear this name in /proc/PID/smaps. */
#define FAKE_MEMORY_NAME "onespine-fake-gpu"
void *fake_memory(size_t bytes);

typedef void (*fake_kernel)(struct osp_work work);

/* A kernel of kernels/all.cu by its name; NULL: none. */
fake_kernel fake_kernel_find(const char *name);

/* What a launch moved and multiplied. */
struct fake_done {
	uint64_t loaded_bytes;
	uint64_t stored_bytes;
	uint64_t products;
};

/* How an SM is broken: its number, or -1. */
struct fake_broken_sm {
	int arithmetic;
	int tensor;
	int shared;
};

/* Runs a grid of `blocks` blocks of OSP_THREADS threads, block N on SM N % sms. */
void fake_run(fake_kernel kernel, const struct osp_work *work, uint32_t blocks, size_t shared_bytes,
	      uint32_t sms, const struct fake_broken_sm *broken, struct fake_done *done);

#endif
