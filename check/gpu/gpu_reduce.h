/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_reduce.h - this process's GPUs in an all-reduce by NCCL: data, sum, speed
 *
 * Of `ranks` GPUs in all, `count` are this process's, from rank `first` on. Each contributes its
 * own pattern in a part of its own, and zeros in the others. So the sum is every pattern side by
 * side, none can be missing, and kernels compare it word by word. All processes of an all-reduce
 * must make the same calls with the same shape.
 *
 * For check/gpu/gpu_nccl.c (the GPUs of a node) and check/gpu/gang_reduce.c (those of many). A
 * function that returns false has reported what failed. One thread.
 */
#ifndef OSP_GPU_REDUCE_H
#define OSP_GPU_REDUCE_H

#include "check/gpu/gpu.h"
#include "check/base/gpus.h"
#include "check/gpu/nccl.h"

/* What each GPU contributes if it has the memory: busses reach their speed from this size on (8
 * H100 show 466 GB/s at 1 GiB, 400 at 128 MiB and 479 at 8 GiB). */
#define OSP_REDUCE_BYTES ((size_t)1024 * 1024 * 1024)

struct osp_reduction {
	struct osp_check_context *context;
	struct osp_gpu_session *sessions;
	size_t count;
	size_t first;
	size_t ranks;
	osp_nccl_communicator communicators[OSP_GPUS_MAX];
	struct osp_gpu_pieces memory[OSP_GPUS_MAX]; /* the input and the output */
	size_t room_bytes; /* room for each GPU's input; the least of the GPUs here */
	size_t part_bytes; /* one rank's part of a sum */
};

/* Returns true if NCCL's `result` is no error. Otherwise reports it; `what` names the call. */
bool osp_reduce_right(struct osp_reduction *reduction, int result, const char *what);

/* Makes the context of one of the GPUs here the current one. */
bool osp_reduce_use(struct osp_reduction *reduction, size_t gpu);

/* Takes memory on each GPU, with room_bytes for its input: OSP_REDUCE_BYTES, or less. */
bool osp_reduce_take_memory(struct osp_reduction *reduction);
void osp_reduce_give_back(struct osp_reduction *reduction);

/* Sets the shape of the next sums: at most `sum_bytes` from each GPU, and no more than any GPU has
 * room for. */
void osp_reduce_shape(struct osp_reduction *reduction, size_t first, size_t ranks,
		      size_t sum_bytes);

/* Writes the input of the GPUs here. */
bool osp_reduce_fill(struct osp_reduction *reduction);

/* Starts one sum on the GPUs' streams. */
bool osp_reduce_once(struct osp_reduction *reduction);

/* Waits for the work given to the streams. */
bool osp_reduce_wait(struct osp_reduction *reduction);

/* Compares every part of the sum on every GPU here, and counts the wrong words by GPU. */
bool osp_reduce_compare(struct osp_reduction *reduction, unsigned int wrong[OSP_GPUS_MAX]);

/* Times some sums, and computes their bus bandwidth in GB/s as nccl-tests does: 2 (n - 1) / n times
 * the bytes summed. The result is 0 if the clock says nothing. */
bool osp_reduce_time(struct osp_reduction *reduction, double *gbps);

#endif
