/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_bandwidth.c - how fast is the GPU's memory, read, written and copied? */
#include "check/active.h"

#include "check/gpu.h"

#define BUFFER_BYTES  ((size_t)1024 * 1024 * 1024) /* far beyond any cache */
#define LAUNCHES      5				   /* timed together */
#define WAYS	      3
#define BYTES_PER_GB  1e9
#define MS_PER_SECOND 1e3

/* What is measured, and how often each byte of the buffer moves. */
static const struct way {
	const char *kernel;
	const char *what;
	unsigned int moves;
	enum osp_limit_id least;
} ways[WAYS] = {
	{"osp_memory_copy", "copy", 2, OSP_LIMIT_HBM_GBPS},
	{"osp_memory_fill", "write", 1, OSP_LIMIT_COUNT},
	{"osp_memory_read", "read", 1, OSP_LIMIT_COUNT}, /* of what was filled */
};

static bool time_way(struct osp_check_context *context, const struct osp_gpu_session *session,
		     const struct way *way, const struct osp_work *work, double *best_gbps)
{
	osp_cuda_function kernel = osp_gpu_kernel(session, way->kernel);
	unsigned int blocks = kernel ? osp_gpu_blocks(context, session, kernel, 0) : 0;
	double bytes = (double)work->count * OSP_WORD_BYTES_GPU * way->moves * LAUNCHES;
	double elapsed_ms;

	if (!kernel)
		osp_tell_error(context, session->unit->subject, "the image %s lacks %s",
			       session->image, way->kernel);
	if (!blocks || !osp_gpu_clock_begin(context, session))
		return false;
	for (int i = 0; i < LAUNCHES; i++)
		if (!osp_gpu_launch(context, session, kernel, blocks, 0, work))
			return false;
	if (!osp_gpu_clock_end(context, session, &elapsed_ms))
		return false;
	if (elapsed_ms > 0 && bytes / BYTES_PER_GB / elapsed_ms * MS_PER_SECOND > *best_gbps)
		*best_gbps = bytes / BYTES_PER_GB / elapsed_ms * MS_PER_SECOND;
	return true;
}

/* The first round warms up and does not count. */
static bool time_ways(struct osp_check_context *context, const struct osp_gpu_session *session,
		      const struct osp_work *work, double best_gbps[WAYS])
{
	uint64_t until_ms = osp_now_ms() + context->slice_ms;
	double warming[WAYS] = {0};

	for (int round = 0; round < 2 || osp_now_ms() < until_ms; round++)
		for (int i = 0; i < WAYS; i++)
			if (!time_way(context, session, &ways[i], work,
				      round ? &best_gbps[i] : &warming[i]))
				return false;
	return true;
}

static void run_hbm_bandwidth(struct osp_check_context *context)
{
	const struct osp_gpu_session *session = osp_gpu_begin(context);
	double best_gbps[WAYS] = {0};
	struct osp_gpu_pieces pieces;
	struct osp_report report;
	struct osp_work work = {.seed = 0};
	bool done;

	if (!session ||
	    !osp_gpu_take(context, session, 2 * BUFFER_BYTES, 2 * BUFFER_BYTES, &pieces))
		return;
	work.at = pieces.at[0];
	work.other = pieces.at[0] + pieces.bytes[0] / 2;
	work.count = pieces.bytes[0] / 2 / OSP_WORD_BYTES_GPU;
	done = osp_gpu_clear_report(context, session) &&
	       time_ways(context, session, &work, best_gbps) &&
	       osp_gpu_read_report(context, session, &report);
	osp_gpu_give_back(&pieces);
	for (int i = 0; done && i < WAYS; i++)
		osp_tell_speed(context, NULL, ways[i].what, best_gbps[i], "GB/s", ways[i].least,
			       OSP_LIMIT_HBM_PEAK_GBPS);
}

const struct osp_check osp_check_hbm_bandwidth = {
	.name = "hbm-bandwidth",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_REPLACE,
	.deadline_ms = 15000,
	.share = 10,
	.measures = "each GPU's memory is as fast as its peers' and its model's: write, read, copy",
	.explains = "Kernels of ours over up to 1 GiB, the best of several times, by the GPU's own "
		    "clock; a "
		    "copy counts each byte twice. A GPU more than 10 % below the best of the node, "
		    "or a copy "
		    "below what its model must reach, is measured twice more and fails when it was "
		    "slow "
		    "twice. Figures depend on the kernel: others' are not quite comparable.",
	.cures = "Replace the GPU; look at throttle and temperature first.",
	.run = run_hbm_bandwidth,
};
