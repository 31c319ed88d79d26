/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_sm.c - does every SM compute correctly, and does its shared memory keep its data? */
#include "check/gpu/active.h"

#include <stdio.h>

#include "check/gpu/gpu.h"

#define STEPS	     512
#define LAUNCHES_MAX 16 /* to reach every SM; one launch nearly always does */

/* Computes each thread's result on this processor. */
static void compute_expected(uint64_t seed, uint64_t expected[OSP_THREADS])
{
	for (uint32_t thread = 0; thread < OSP_THREADS; thread++) {
		struct osp_chain chain;

		osp_chain_begin(&chain, thread, seed);
		for (uint32_t step = 0; step < STEPS; step++)
			osp_chain_step(&chain, step);
		expected[thread] = osp_chain_result(&chain);
	}
}

static void report_wrong(struct osp_check_context *context, const struct osp_gpu_session *session,
			 const char *what, const char *where, const struct osp_report *report)
{
	const struct osp_wrong *wrong = &report->wrong[0];
	char value[OSP_WORD_BYTES];

	snprintf(value, sizeof(value), "SM %u %s wrong", wrong->sm, what);
	osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, session->unit->subject, value,
		       NULL, NULL, "%s: %s %llu: expected %016llx, found %016llx; %u wrong in all",
		       session->unit->uuid, where, (unsigned long long)wrong->at,
		       (unsigned long long)wrong->expected, (unsigned long long)wrong->found,
		       report->count);
}

/* Launches until every SM has computed and the time is up. Returns -1 after an error, else the
 * number of SMs seen. */
static int run_everywhere(struct osp_check_context *context, const struct osp_gpu_session *session,
			  osp_cuda_function kernel, unsigned int blocks, unsigned int shared_bytes,
			  struct osp_work *work, uint64_t until_ms, struct osp_report *report)
{
	unsigned int seen = 0;

	if (!osp_gpu_clear_report(context, session))
		return -1;
	for (int i = 0; i < LAUNCHES_MAX || osp_now_ms() < until_ms; i++) {
		if (!osp_gpu_launch(context, session, kernel, blocks, shared_bytes, work) ||
		    !osp_gpu_read_report(context, session, report))
			return -1;
		seen = osp_gpu_sms_seen(report);
		if (report->count ||
		    (seen >= (unsigned int)session->sms && osp_now_ms() >= until_ms))
			break;
	}
	return (int)seen;
}

static bool judge(struct osp_check_context *context, const struct osp_gpu_session *session,
		  const char *what, const char *where, int seen, const struct osp_report *report)
{
	if (seen < 0)
		return false;
	if (report->count) {
		report_wrong(context, session, what, where, report);
		return false;
	}
	if (seen >= session->sms)
		return true;
	osp_result_error(context, session->unit->subject,
			 "%s: %d of %d SMs were given work: what the others do is not known", what,
			 seen, session->sms);
	return false;
}

static bool check_arithmetic(struct osp_check_context *context,
			     const struct osp_gpu_session *session, osp_cuda_function kernel,
			     uint64_t until_ms)
{
	uint64_t expected[OSP_THREADS];
	struct osp_gpu_pieces pieces;
	struct osp_report report;
	struct osp_work work = {.count = STEPS, .seed = 3};
	unsigned int blocks = osp_gpu_blocks(context, session, kernel, 0);
	int seen = -1;

	compute_expected(work.seed, expected);
	if (!blocks || !osp_gpu_take(context, session, 64 * 1024, 64 * 1024, &pieces))
		return false;
	work.expected = pieces.at[0];
	if (osp_gpu_upload(context, session, work.expected, expected, sizeof(expected)))
		seen = run_everywhere(context, session, kernel, blocks, 0, &work, until_ms,
				      &report);
	osp_gpu_give_back(&pieces);
	return judge(context, session, "arithmetic", "thread", seen, &report);
}

/* Checks all shared memory that a block may have, with one block an SM. */
static bool check_shared(struct osp_check_context *context, const struct osp_gpu_session *session,
			 osp_cuda_function kernel, uint64_t until_ms)
{
	unsigned int bytes = session->shared_bytes;
	struct osp_work work = {.count = bytes / OSP_WORD_BYTES_GPU, .seed = 4};
	struct osp_report report;
	int seen;

	if (!osp_gpu_right(context, session,
			   osp_cuda_function_set(kernel, OSP_CUDA_FUNCTION_SHARED, (int)bytes),
			   "cuFuncSetAttribute"))
		return false;
	seen = run_everywhere(context, session, kernel, (unsigned int)session->sms, bytes, &work,
			      until_ms, &report);
	return judge(context, session, "shared memory", "byte", seen, &report);
}

static void run_sm(struct osp_check_context *context)
{
	const struct osp_gpu_session *session = osp_gpu_begin(context);
	uint64_t begun_ms = osp_now_ms();
	osp_cuda_function arithmetic, shared;
	char value[OSP_WORD_BYTES];

	if (!session)
		return;
	arithmetic = osp_gpu_kernel(session, "osp_sm_arithmetic");
	shared = osp_gpu_kernel(session, "osp_sm_shared");
	if (!arithmetic || !shared) {
		osp_result_error(context, session->unit->subject, "the image %s lacks a kernel",
				 session->image);
		return;
	}
	if (!check_arithmetic(context, session, arithmetic, begun_ms + context->slice_ms / 2) ||
	    !check_shared(context, session, shared, begun_ms + context->slice_ms))
		return;
	snprintf(value, sizeof(value), "%d SMs right", session->sms);
	osp_result_add(context, OSP_VERDICT_PASS, OSP_CURE_NONE, session->unit->subject, value,
		       NULL, NULL, "arithmetic and %u bytes of shared memory each",
		       session->shared_bytes);
}

const struct osp_check osp_check_sm = {
	.name = "sm",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 15000,
	.deadline_least_ms = 8000,
	.share = 5,
	.measures = "every SM computes right, and its shared memory holds what it is given",
	.explains =
		"Each thread of a block runs a chain of 32- and 64-bit integer and exact "
		"floating-point operations whose result the host computed; every SM runs the "
		"same, and says which it is. Then all shared memory is written by one warp and "
		"read by another, in both polarities. An SM that was given no work is an error of "
		"the check, never a pass.",
	.cures = "Replace the GPU: it computes wrong results in silence.",
	.run = run_sm,
};
