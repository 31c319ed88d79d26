/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_reduce.c - this process's GPUs in an all-reduce by NCCL: data, sum, speed */
#include "check/gpu/gpu_reduce.h"

#include <stdint.h>

#define SUMS 2	 /* timed together */
#define SEED 200 /* of rank 0's pattern */

bool osp_reduce_right(struct osp_reduction *reduction, int result, const char *what)
{
	if (result == OSP_NCCL_OK)
		return true;
	reduction->context->spoilt = true;
	osp_result_error(reduction->context, "", "%s: %s", what, osp_nccl_words(result));
	return false;
}

bool osp_reduce_use(struct osp_reduction *reduction, size_t gpu)
{
	const struct osp_gpu_session *session = &reduction->sessions[gpu];

	return osp_gpu_right(reduction->context, session, osp_cuda_context_use(session->context),
			     "cuCtxSetCurrent");
}

static osp_cuda_memory input(const struct osp_reduction *reduction, size_t gpu)
{
	return reduction->memory[gpu].at[0];
}

static size_t sum_bytes(const struct osp_reduction *reduction)
{
	return reduction->part_bytes * reduction->ranks;
}

static osp_cuda_memory output(const struct osp_reduction *reduction, size_t gpu)
{
	return input(reduction, gpu) + sum_bytes(reduction);
}

bool osp_reduce_wait(struct osp_reduction *reduction)
{
	for (size_t i = 0; i < reduction->count; i++)
		if (!osp_reduce_use(reduction, i) ||
		    !osp_gpu_right(reduction->context, &reduction->sessions[i],
				   osp_cuda_wait(reduction->sessions[i].stream),
				   "cuStreamSynchronize"))
			return false;
	return true;
}

bool osp_reduce_take_memory(struct osp_reduction *reduction)
{
	size_t least = 2 * OSP_REDUCE_BYTES;

	for (size_t i = 0; i < reduction->count; i++) {
		if (!osp_reduce_use(reduction, i) ||
		    !osp_gpu_take(reduction->context, &reduction->sessions[i], 2 * OSP_REDUCE_BYTES,
				  2 * OSP_REDUCE_BYTES, &reduction->memory[i]))
			return false;
		if (reduction->memory[i].bytes[0] < least)
			least = reduction->memory[i].bytes[0];
	}
	reduction->room_bytes = least / 2;
	return true;
}

void osp_reduce_give_back(struct osp_reduction *reduction)
{
	for (size_t i = 0; i < reduction->count; i++)
		if (osp_reduce_use(reduction, i))
			osp_gpu_give_back(&reduction->memory[i]);
}

void osp_reduce_shape(struct osp_reduction *reduction, size_t first, size_t ranks, size_t bytes)
{
	reduction->first = first;
	reduction->ranks = ranks;
	reduction->part_bytes = bytes / ranks & ~(size_t)0xff;
}

bool osp_reduce_fill(struct osp_reduction *reduction)
{
	for (size_t i = 0; i < reduction->count; i++) {
		const struct osp_gpu_session *session = &reduction->sessions[i];
		size_t rank = reduction->first + i;
		struct osp_work work = {.at = input(reduction, i) + rank * reduction->part_bytes,
					.count = reduction->part_bytes / OSP_WORD_BYTES_GPU,
					.seed = SEED + rank};
		osp_cuda_function write;

		if (!osp_reduce_use(reduction, i) ||
		    !osp_gpu_right(reduction->context, session,
				   osp_cuda_set_words(input(reduction, i), 0,
						      sum_bytes(reduction) / 4, session->stream),
				   "cuMemsetD32Async"))
			return false;
		write = osp_gpu_kernel(session, "osp_memory_write");
		if (!write || !osp_gpu_launch(reduction->context, session, write,
					      (unsigned int)session->sms, 0, &work))
			return false;
	}
	return true;
}

bool osp_reduce_once(struct osp_reduction *reduction)
{
	size_t words = sum_bytes(reduction) / sizeof(uint32_t);

	if (!osp_reduce_right(reduction, osp_nccl_group_begin(), "ncclGroupStart"))
		return false;
	for (size_t i = 0; i < reduction->count; i++)
		if (!osp_reduce_right(
			    reduction,
			    osp_nccl_all_reduce((const void *)(uintptr_t)input(reduction, i),
						(void *)(uintptr_t)output(reduction, i), words,
						OSP_NCCL_INT32, OSP_NCCL_SUM,
						reduction->communicators[i],
						reduction->sessions[i].stream),
			    "ncclAllReduce"))
			return false;
	return osp_reduce_right(reduction, osp_nccl_group_end(), "ncclGroupEnd");
}

bool osp_reduce_compare(struct osp_reduction *reduction, unsigned int wrong[OSP_GPUS_MAX])
{
	for (size_t i = 0; i < reduction->count; i++) {
		const struct osp_gpu_session *session = &reduction->sessions[i];
		osp_cuda_function check = osp_gpu_kernel(session, "osp_memory_check");
		struct osp_report report;

		if (!check || !osp_reduce_use(reduction, i) ||
		    !osp_gpu_clear_report(reduction->context, session))
			return false;
		for (size_t rank = 0; rank < reduction->ranks; rank++) {
			struct osp_work work = {.at = output(reduction, i) +
						      rank * reduction->part_bytes,
						.count = reduction->part_bytes / OSP_WORD_BYTES_GPU,
						.seed = SEED + rank};

			if (!osp_gpu_launch(reduction->context, session, check,
					    (unsigned int)session->sms, 0, &work))
				return false;
		}
		if (!osp_gpu_read_report(reduction->context, session, &report))
			return false;
		wrong[i] = report.count;
	}
	return true;
}

bool osp_reduce_time(struct osp_reduction *reduction, double *gbps)
{
	double n = (double)reduction->ranks, longest_ms = 0;
	double bytes = (double)sum_bytes(reduction) * SUMS;

	for (size_t i = 0; i < reduction->count; i++)
		if (!osp_reduce_use(reduction, i) ||
		    !osp_gpu_clock_begin(reduction->context, &reduction->sessions[i]))
			return false;
	for (int i = 0; i < SUMS; i++)
		if (!osp_reduce_once(reduction))
			return false;
	for (size_t i = 0; i < reduction->count; i++) {
		double elapsed_ms;

		if (!osp_reduce_use(reduction, i) ||
		    !osp_gpu_clock_end(reduction->context, &reduction->sessions[i], &elapsed_ms))
			return false;
		longest_ms = elapsed_ms > longest_ms ? elapsed_ms : longest_ms;
	}
	*gbps = longest_ms > 0 ? bytes * 2 * (n - 1) / n / longest_ms / 1e6 : 0;
	return true;
}
