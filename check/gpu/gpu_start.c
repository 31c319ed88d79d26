/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_start.c - does CUDA start on each GPU, and run a kernel? */
#include "check/gpu/active.h"

#include <stdio.h>

#include "check/gpu/gpu.h"

#define START_BYTES ((size_t)64 * 1024)

/* Writes data on the GPU, lets a kernel check it, and reads the report. */
static bool try_kernel(struct osp_check_context *context, const struct osp_gpu_session *session,
		       struct osp_report *report)
{
	osp_cuda_function write = osp_gpu_kernel(session, "osp_memory_write");
	osp_cuda_function check = osp_gpu_kernel(session, "osp_memory_check");
	struct osp_gpu_pieces pieces;
	struct osp_work work = {.count = START_BYTES / OSP_WORD_BYTES_GPU, .seed = 1};
	double elapsed_ms;
	bool done;

	if (!write || !check) {
		osp_result_error(context, session->unit->subject, "the image %s lacks a kernel",
				 session->image);
		return false;
	}
	if (!osp_gpu_blocks(context, session, write, 0) ||
	    !osp_gpu_take(context, session, START_BYTES, START_BYTES, &pieces))
		return false;
	work.at = pieces.at[0];
	done = osp_gpu_upload(context, session, work.at, &work, sizeof(work)) &&
	       osp_gpu_clear_report(context, session) && osp_gpu_clock_begin(context, session) &&
	       osp_gpu_launch(context, session, write, 1, 0, &work) &&
	       osp_gpu_launch(context, session, check, 1, 0, &work) &&
	       osp_gpu_clock_end(context, session, &elapsed_ms) &&
	       osp_gpu_read_report(context, session, report);
	osp_gpu_give_back(&pieces);
	return done;
}

static void run_cuda(struct osp_check_context *context)
{
	const struct osp_gpu_session *session = osp_gpu_begin(context);
	struct osp_report report;
	char value[OSP_WORD_BYTES];

	if (!session || !try_kernel(context, session, &report))
		return;
	/* Whether memory keeps its data is judged by the check of the memory. */
	snprintf(value, sizeof(value), "CUDA %d.%d, sm_%d, %d SMs", session->driver / 1000,
		 session->driver % 1000 / 10, session->capability, session->sms);
	osp_result_add(context, OSP_VERDICT_PASS, OSP_CURE_NONE, session->unit->subject, value,
		       NULL, NULL, "driver %u ms, context %u ms, kernels (%s) %u ms",
		       session->start_ms, session->context_ms, session->image, session->load_ms);
}

const struct osp_check osp_check_cuda = {
	.name = "cuda",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.basic = true,
	.deadline_ms = 30000, /* a driver without persistence takes seconds to start */
	.deadline_least_ms = 10000,
	.measures = "CUDA starts on each GPU, takes our kernels and runs one",
	.explains =
		"Each GPU in a process that sees it alone: driver, context, kernels, 64 KiB of "
		"memory. In the first fabric_grace_s after boot error 802 (the NVLink fabric is "
		"not set up yet) is waited for, up to a minute, and is an error of the check; "
		"later it fails when a second look a minute after it says so too; of GPUs in "
		"confidential mode, which somebody must set ready, it stays an error. The kernels "
		"are a fat binary where the driver is new enough for it, else PTX that the driver "
		"compiles. What does not start is an error of the check; what does not answer, "
		"twice, fails. A GPU that programs share by MPS, or that serves virtual machines, "
		"is loaded by no check; MPS itself is never used. What calls itself MPS and "
		"belongs neither to root nor to the job's user is not believed: the GPU was not "
		"checked, and that is an error.",
	.cures = "Reboot where CUDA hangs; look at the fabric manager for error 802, and at "
		 "the driver's installation for 803 and 999.",
	.run = run_cuda,
	.still_ill = osp_gpus_still_not_ready,
};
