/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_reduce.h - this process's GPUs in an all-reduce by NCCL: data, sum, speed
 *
 * Of `ranks` GPUs in all, `count` are this process's, from rank `first` on. Each brings zeros and,
 * in a part of its own, its own pattern: so the sum is every pattern side by side, none can be
 * missing, and kernels compare it word by word. All processes of an all-reduce must go through the
 * same calls with the same shape.
 *
 * For check/gpu/gpu_nccl.c (the GPUs of a node) and check/gpu/gang_reduce.c (those of many).
 * Whatever fails has been reported when a function returns false. One thread.
 */
#ifndef OSP_GPU_REDUCE_H
#define OSP_GPU_REDUCE_H

#include "check/gpu/gpu.h"
#include "check/base/gpus.h"
#include "check/gpu/nccl.h"

/* What each GPU brings where it has the memory: busses reach their speed from here on (8 H100 show
 * 466 GB/s at 1 GiB, 400 at 128 MiB and 479 at 8 GiB). */
#define OSP_REDUCE_BYTES ((size_t)1024 * 1024 * 1024)

struct osp_reduction {
	struct osp_check_context *context;
	struct osp_gpu_session *sessions;
	size_t count;
	size_t first;
	size_t ranks;
	osp_nccl_communicator communicators[OSP_GPUS_MAX];
	struct osp_gpu_pieces memory[OSP_GPUS_MAX]; /* what goes in, and what comes out */
	size_t room_bytes; /* for what each brings; the least of the GPUs here */
	size_t part_bytes; /* one rank's part of a sum */
};

/* True when NCCL's `result` is no error. Else reports it, for `what` was done. */
bool osp_reduce_right(struct osp_reduction *reduction, int result, const char *what);

/* Makes the context of one of the GPUs here the current one. */
bool osp_reduce_use(struct osp_reduction *reduction, size_t gpu);

/* Memory on each GPU, room_bytes of it for what it brings: OSP_REDUCE_BYTES, or less. */
bool osp_reduce_take_memory(struct osp_reduction *reduction);
void osp_reduce_give_back(struct osp_reduction *reduction);

/* The shape of what follows: `sum_bytes` at most of each, no more than anybody's room. */
void osp_reduce_shape(struct osp_reduction *reduction, size_t first, size_t ranks,
		      size_t sum_bytes);

/* Writes what the GPUs here bring. */
bool osp_reduce_fill(struct osp_reduction *reduction);

/* One sum, given to the GPUs' streams. */
bool osp_reduce_once(struct osp_reduction *reduction);

/* Waits for what was given to the streams. */
bool osp_reduce_wait(struct osp_reduction *reduction);

/* Compares every part of the sum on every GPU here: how many words are wrong, by GPU. */
bool osp_reduce_compare(struct osp_reduction *reduction, unsigned int wrong[OSP_GPUS_MAX]);

/* Some sums, and their bus bandwidth in GB/s as nccl-tests counts it: 2 (n - 1) / n times the bytes
 * summed. 0 if the clock says nothing. */
bool osp_reduce_time(struct osp_reduction *reduction, double *gbps);

#endif
