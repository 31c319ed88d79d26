/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_bandwidth.c - how fast is the GPU's memory, read, written and copied? */
#include "check/gpu/active.h"

#include "check/gpu/gpu.h"

#define BUFFER_BYTES ((size_t)1024 * 1024 * 1024)
/* The size of the buffer, in caches. The buffer is read again and again, and the part of it that
 * stays in the cache would count as the memory's speed. It is at least CACHES_WANTED caches (4 GiB
 * on a B200, whose cache has 126 MB), or CACHES_LEAST if less memory is free: then 1 of 16 parts
 * from the cache adds at most as much as the tolerance for clocks. */
#define CACHES_WANTED 32
#define CACHES_LEAST  16
#define LAUNCHES      5 /* timed together */
#define WAYS	      3
#define BYTES_PER_GB  1e9
#define MS_PER_SECOND 1e3

/* The ways to measure, and how often each byte of the buffer moves. */
static const struct way {
	const char *kernel;
	const char *what;
	unsigned int moves;
	enum osp_limit_id least;
} ways[WAYS] = {
	{"osp_memory_copy", "copy", 2, OSP_LIMIT_HBM_GBPS},
	{"osp_memory_fill", "write", 1, OSP_LIMIT_COUNT},
	{"osp_memory_read", "read", 1, OSP_LIMIT_COUNT}, /* reads what was filled */
};

static bool time_way(struct osp_check_context *context, const struct osp_gpu_session *session,
		     const struct way *way, const struct osp_work *work, double *best_gbps)
{
	osp_cuda_function kernel = osp_gpu_kernel(session, way->kernel);
	unsigned int blocks = kernel ? osp_gpu_blocks(context, session, kernel, 0) : 0;
	double bytes = (double)work->count * OSP_WORD_BYTES_GPU * way->moves * LAUNCHES;
	double elapsed_ms;

	if (!kernel)
		osp_result_error(context, session->unit->subject, "the image %s lacks %s",
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

/* Times each way in rounds. The first round warms up and does not count. */
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
	size_t bytes = BUFFER_BYTES;
	bool done;

	if (!session)
		return;
	if (bytes < CACHES_WANTED * session->l2_bytes)
		bytes = CACHES_WANTED * session->l2_bytes;
	if (!osp_gpu_take(context, session, 2 * bytes, 2 * bytes, &pieces))
		return;
	if (pieces.bytes[0] / 2 < CACHES_LEAST * session->l2_bytes) {
		osp_result_skip(
			context,
			"%zu MiB of memory are free: too few for a GPU with %zu MiB of cache",
			pieces.bytes[0] >> 20, session->l2_bytes >> 20);
		osp_gpu_give_back(&pieces);
		return;
	}
	work.at = pieces.at[0];
	work.other = pieces.at[0] + pieces.bytes[0] / 2;
	work.count = pieces.bytes[0] / 2 / OSP_WORD_BYTES_GPU;
	done = osp_gpu_clear_report(context, session) &&
	       time_ways(context, session, &work, best_gbps) &&
	       osp_gpu_read_report(context, session, &report);
	osp_gpu_give_back(&pieces);
	for (int i = 0; done && i < WAYS; i++)
		osp_result_speed(context, NULL, ways[i].what, best_gbps[i], "GB/s", ways[i].least,
				 OSP_LIMIT_HBM_PEAK_GBPS);
}

const struct osp_check osp_check_hbm_bandwidth = {
	.name = "hbm-bandwidth",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_REPLACE,
	.behind = OSP_LIMIT_HBM_BEHIND_PERCENT,
	.deadline_ms = 15000,
	.deadline_least_ms = 8000,
	.share = 10,
	.measures = "each GPU's memory is as fast as its peers' and its model's: write, read, copy",
	.explains = "Kernels of ours over 1 GiB, or 32 times the cache where that is more "
		    "(skipped where less than 16 times is free), the best of several times, by "
		    "the GPU's own clock; a copy counts each byte twice. A GPU behind the median "
		    "of its peers, or a copy below what its model must reach, is measured twice "
		    "more. Slow twice, it warns when it is behind its peers, and fails when it is "
		    "far behind or below its model's limit (thresholds.yaml). Figures depend on "
		    "the kernel: others' are not quite comparable.",
	.cures = "Replace the GPU; look at throttle and temperature first.",
	.run = run_hbm_bandwidth,
};
