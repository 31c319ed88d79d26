/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_memory.c - does the GPU's memory keep what is written to it? */
#include "check/gpu/active.h"

#include <stdio.h>
#include <string.h>

#include "check/gpu/gpu.h"
#include "lib/base/text.h"

#define PIECE_BYTES ((size_t)16 * 1024 * 1024 * 1024)
#define MIB	    (1024.0 * 1024)

struct test {
	struct osp_check_context *context;
	const struct osp_gpu_session *session;
	osp_cuda_function write;
	osp_cuda_function check;
	struct osp_gpu_pieces pieces;
	unsigned int passes;
};

/* Reports the first wrong word. Its bits and offset distinguish a broken cell from a broken
 * address. */
static void report_wrong(struct test *test, size_t piece, const struct osp_report *report)
{
	const struct osp_wrong *wrong = &report->wrong[0];
	uint64_t differs = wrong->expected ^ wrong->found, offset = wrong->at;
	char value[OSP_WORD_BYTES];

	for (size_t i = 0; i < piece; i++)
		offset += test->pieces.bytes[i];
	snprintf(value, sizeof(value), "%u word%s wrong", report->count,
		 osp_plural_s(report->count));
	osp_result_add(
		test->context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, test->session->unit->subject,
		value, NULL, NULL,
		"%s: %d bits at 0x%llx of the tested memory, read by SM %u: expected %016llx, "
		"found %016llx",
		test->session->unit->uuid, __builtin_popcountll(differs),
		(unsigned long long)offset, wrong->sm, (unsigned long long)wrong->expected,
		(unsigned long long)wrong->found);
}

/* Runs one kernel over every piece. */
static bool pass(struct test *test, osp_cuda_function kernel, uint64_t seed, bool inverted,
		 bool turn)
{
	unsigned int blocks = osp_gpu_blocks(test->context, test->session, kernel, 0);

	for (size_t i = 0; blocks && i < test->pieces.count; i++) {
		struct osp_work work = {.at = test->pieces.at[i],
					.count = test->pieces.bytes[i] / OSP_WORD_BYTES_GPU,
					.seed = seed + i,
					.inverted = inverted,
					.turn = turn};
		struct osp_report report;

		if (!osp_gpu_clear_report(test->context, test->session) ||
		    !osp_gpu_launch(test->context, test->session, kernel, blocks, 0, &work) ||
		    !osp_gpu_read_report(test->context, test->session, &report))
			return false;
		if (report.count) {
			report_wrong(test, i, &report);
			return false;
		}
	}
	test->passes++;
	return blocks > 0;
}

/* Writes the pattern; reads it and leaves the inverse; reads that and leaves the pattern again;
 * reads it. */
static bool march(struct test *test, uint64_t seed)
{
	return pass(test, test->write, seed, false, false) &&
	       pass(test, test->check, seed, false, true) &&
	       pass(test, test->check, seed, true, true) &&
	       pass(test, test->check, seed, false, false);
}

static void run_hbm_pattern(struct osp_check_context *context)
{
	struct test test = {.context = context, .session = osp_gpu_begin(context)};
	uint64_t until_ms = osp_now_ms() + context->slice_ms;
	size_t bytes;
	bool well;

	if (!test.session)
		return;
	test.write = osp_gpu_kernel(test.session, "osp_memory_write");
	test.check = osp_gpu_kernel(test.session, "osp_memory_check");
	if (!test.write || !test.check) {
		osp_result_error(context, test.session->unit->subject,
				 "the image %s lacks a kernel", test.session->image);
		return;
	}
	if (!osp_gpu_take(context, test.session, 0, PIECE_BYTES, &test.pieces))
		return;
	bytes = test.pieces.all_bytes;
	for (uint64_t seed = 1; (well = march(&test, seed)) && osp_now_ms() < until_ms;)
		seed += OSP_GPU_PIECES_MAX;
	osp_gpu_give_back(&test.pieces);
	if (well) {
		char value[OSP_WORD_BYTES];

		snprintf(value, sizeof(value), "%.0f MiB right", (double)bytes / MIB);
		osp_result_add(context, OSP_VERDICT_PASS, OSP_CURE_NONE,
			       test.session->unit->subject, value, NULL, NULL, "%u passes",
			       test.passes);
	}
}

const struct osp_check osp_check_hbm_pattern = {
	.name = "hbm-pattern",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 20000,
	.deadline_least_ms = 10000,
	.share = 30,
	.measures =
		"the GPU's memory holds what it is given: pattern and address test with read-back",
	.explains = "Takes all memory that is free but 2 % (half of it where other programs run), "
		    "writes to every 16 bytes a pattern made of their address, reads it back, "
		    "leaves the inverse, and reads that: every bit is read as 0 and as 1, and a "
		    "word stored to a wrong address is found. A bit that ECC corrects is not seen "
		    "here but by the check ecc. Longer at depth full, with new patterns.",
	.cures = "Replace the GPU: ECC should have caught it.",
	.run = run_hbm_pattern,
};
