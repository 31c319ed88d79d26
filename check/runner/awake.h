/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * awake.h - one process that opens every GPU and holds them open for a whole run
 *
 * nvmlInit() attaches no GPU; nvmlDeviceGetHandleByIndex() does (nvml.h: the GPU "may be
 * initialized" by it). With persistence off the driver starts each GPU then, which takes seconds,
 * and stops it when the last process that has it open ends. A process that is killed at its
 * deadline would have to start again from zero. So this one has a deadline that grows with the
 * number of GPUs. Once it has them all open, no check waits for a start. One thread.
 */
#ifndef OSP_AWAKE_H
#define OSP_AWAKE_H

#include "check/check.h"
#include "check/base/gpus.h"

/* For the library, and for each GPU: twice the 3 s that are usual without persistence. A start of
 * eight GPUs that took 30 s was seen. */
#define OSP_AWAKE_BASE_MS 10000
#define OSP_AWAKE_GPU_MS  6000

enum osp_awake_state {
	OSP_AWAKE_STARTING,
	OSP_AWAKE_HELD, /* every GPU has been opened, or NVML said why it cannot be */
	OSP_AWAKE_NONE, /* no process, it ended, or NVML does not start: the checks report why */
	OSP_AWAKE_HUNG, /* NVML did not answer before the first GPU was asked for */
	OSP_AWAKE_LATE, /* the GPU `opened` did not answer in time */
};

struct osp_awake {
	enum osp_awake_state state;
	pid_t child; /* 0: none */
	int answer;
	uint64_t begun_ms;
	uint64_t until_ms;
	unsigned int took_ms; /* the time until the last GPU was open */
	size_t count;	      /* the number of GPUs that NVML counts */
	size_t opened;
	bool asked; /* the last message was that a GPU is open, and now its persistence is asked
		       for */
	signed char persistent[OSP_GPUS_MAX]; /* 1, 0, or -1: unknown */
};

/* Begins to open the GPUs; `gpu_count` are on the PCI bus. */
void osp_awake_begin(struct osp_awake *awake, const struct osp_check_context *context,
		     size_t gpu_count);

/* Waits until the state is decided, but no longer than until `until_ms`. Ends a process that is out
 * of time. */
enum osp_awake_state osp_awake_wait(struct osp_awake *awake, uint64_t until_ms);

/* Releases the GPUs. */
void osp_awake_end(struct osp_awake *awake);

#endif
