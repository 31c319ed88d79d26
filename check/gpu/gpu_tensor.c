/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_tensor.c - do the tensor cores of every SM multiply exactly, and as fast as their peers? */
#include "check/gpu/active.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/gpu/gpu.h"

#define ROUNDS	       256 /* comparisons in a launch, which takes milliseconds */
#define ROUNDS_OF_TEST 1
#define LAUNCHES_MAX   16		 /* to reach every SM */
#define LENGTH_MOST    (32 * OSP_CHUNKS) /* along K */
#define EXPECTED_BYTES (OSP_TILES * OSP_TILE_VALUES * sizeof(int32_t))

/* The shape of an instruction, and the size of the elements (kernels/tensor.cu). */
static const struct format {
	const char *name;
	const char *kernel;
	int rows, k;
	int most;
	int capability;
	enum osp_limit_id physics;
} formats[OSP_FORMAT_COUNT] = {
	[OSP_FP16] = {"fp16", "osp_tensor_fp16", 16, 8, 127, 75, OSP_LIMIT_COUNT},
	[OSP_BF16] = {"bf16", "osp_tensor_bf16", 16, 16, 127, 80, OSP_LIMIT_BF16_PEAK_TFLOPS},
	[OSP_TF32] = {"tf32", "osp_tensor_tf32", 16, 8, 127, 80, OSP_LIMIT_COUNT},
	[OSP_FP8] = {"fp8", "osp_tensor_fp8", 16, 32, 2, 89, OSP_LIMIT_COUNT},
	[OSP_FP64] = {"fp64", "osp_tensor_fp64", 8, 4, 4095, 80, OSP_LIMIT_COUNT},
};

/* Computes D of one tile, once through K, in whole numbers. */
static void compute_tile(const struct format *format, uint32_t tile, int32_t *expected)
{
	int32_t a[OSP_TILE_M][LENGTH_MOST], b[OSP_TILE_N][LENGTH_MOST];
	uint32_t length = (uint32_t)(format->k * OSP_CHUNKS);

	for (uint32_t k = 0; k < length; k++) {
		for (uint32_t row = 0; row < (uint32_t)format->rows; row++)
			a[row][k] = osp_element(0, tile, row, k, format->most);
		for (uint32_t column = 0; column < OSP_TILE_N; column++)
			b[column][k] = osp_element(1, tile, column, k, format->most);
	}
	for (int row = 0; row < format->rows; row++)
		for (int column = 0; column < OSP_TILE_N; column++) {
			int32_t sum = 0;

			for (uint32_t k = 0; k < length; k++)
				sum += a[row][k] * b[column][k];
			expected[row * OSP_TILE_N + column] = sum;
		}
}

static void compute_expected(const struct format *format, int32_t *expected)
{
	for (uint32_t tile = 0; tile < OSP_TILES; tile++)
		compute_tile(format, tile, expected + tile * OSP_TILE_VALUES);
}

/*
 * Returns the name of a format with the units that compute it: mma.sync of fp8 is an instruction of
 * its own only on sm_89 and sm_120. On the GPUs between them ptxas makes conversions and products
 * of fp16 of it (tests/check/sass reads it), and only wgmma and tcgen05 reach the fp8 units.
 */
static const char *name_of(const struct format *format, int capability)
{
	bool emulated = format == &formats[OSP_FP8] && capability >= 90 && capability < 120;

	return emulated ? "fp8 by fp16 units" : format->name;
}

static void report_wrong(struct osp_check_context *context, const struct osp_gpu_session *session,
			 const struct format *format, const struct osp_report *report)
{
	const struct osp_wrong *wrong = &report->wrong[0];
	char value[OSP_WORD_BYTES];
	double found;

	memcpy(&found, &wrong->found, sizeof(found));
	snprintf(value, sizeof(value), "SM %u %s tile %u wrong", wrong->sm, format->name,
		 wrong->tile);
	osp_result_add(
		context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, session->unit->subject, value, NULL,
		NULL,
		"%s: row %llu column %llu: expected %lld, found %.17g; %u values wrong in all",
		session->unit->uuid, (unsigned long long)(wrong->at / OSP_TILE_N),
		(unsigned long long)(wrong->at % OSP_TILE_N), (long long)wrong->expected, found,
		report->count);
}

struct run {
	struct osp_check_context *context;
	const struct osp_gpu_session *session;
	const struct format *format;
	osp_cuda_function kernel;
	unsigned int blocks;
	struct osp_work work;
	double best_tflops;
};

static bool launch_timed(struct run *run)
{
	const struct format *format = run->format;
	double warps = (double)run->blocks * OSP_THREADS / 32;
	double operations = 2.0 * format->rows * OSP_TILE_N * format->k * OSP_CHUNKS * OSP_REPEATS *
			    run->work.rounds * warps;
	double elapsed_ms;

	if (!osp_gpu_clock_begin(run->context, run->session) ||
	    !osp_gpu_launch(run->context, run->session, run->kernel, run->blocks, 0, &run->work) ||
	    !osp_gpu_clock_end(run->context, run->session, &elapsed_ms))
		return false;
	if (elapsed_ms > 0 && operations / elapsed_ms / 1e9 > run->best_tflops)
		run->best_tflops = operations / elapsed_ms / 1e9;
	return true;
}

/* Launches until every SM was seen and the time is up. Each launch begins with another tile. */
static bool run_format(struct run *run, uint64_t until_ms)
{
	struct osp_report report;
	unsigned int seen = 0;

	if (!osp_gpu_clear_report(run->context, run->session))
		return false;
	for (int i = 0; i < LAUNCHES_MAX || osp_now_ms() < until_ms; i++) {
		run->work.first = (uint32_t)i;
		if (!launch_timed(run) || !osp_gpu_read_report(run->context, run->session, &report))
			return false;
		if (report.count) {
			report_wrong(run->context, run->session, run->format, &report);
			return false;
		}
		seen = osp_gpu_sms_seen(&report);
		if (seen >= (unsigned int)run->session->sms && osp_now_ms() >= until_ms)
			return true;
	}
	if (seen >= (unsigned int)run->session->sms)
		return true;
	osp_result_error(run->context, run->session->unit->subject,
			 "%s: %u of %d SMs were given work: what the others do is not known",
			 run->format->name, seen, run->session->sms);
	return false;
}

/* Returns 1 if the format is right, 0 if this GPU lacks it, -1 if something was reported. */
static int check_format(struct osp_check_context *context, const struct osp_gpu_session *session,
			const struct format *format, osp_cuda_memory expected, uint64_t until_ms,
			double *tflops)
{
	struct run run = {.context = context, .session = session, .format = format};
	int32_t values[EXPECTED_BYTES / sizeof(int32_t)] = {0};

	run.kernel = session->capability >= format->capability
			     ? osp_gpu_kernel(session, format->kernel)
			     : NULL;
	if (!run.kernel)
		return 0;
	compute_expected(format, values);
	run.work.expected = expected;
	run.work.rounds = context->slice_ms < 10 ? ROUNDS_OF_TEST : ROUNDS;
	run.blocks = osp_gpu_blocks(context, session, run.kernel, 0);
	if (!run.blocks || !osp_gpu_upload(context, session, expected, values, sizeof(values)) ||
	    !run_format(&run, until_ms))
		return -1;
	*tflops = run.best_tflops;
	return 1;
}

static void run_tensor(struct osp_check_context *context)
{
	const struct osp_gpu_session *session = osp_gpu_begin(context);
	uint64_t begun_ms = osp_now_ms();
	double tflops[OSP_FORMAT_COUNT] = {0};
	struct osp_gpu_pieces pieces;
	char value[OSP_WORD_BYTES] = "";
	int state = 0;

	if (!session || !osp_gpu_take(context, session, 64 * 1024, 64 * 1024, &pieces))
		return;
	for (int i = 0; i < OSP_FORMAT_COUNT && state >= 0; i++) {
		size_t length = strlen(value);

		state = check_format(context, session, &formats[i], pieces.at[0],
				     begun_ms + context->slice_ms * (uint64_t)(i + 1) /
							OSP_FORMAT_COUNT,
				     &tflops[i]);
		if (state > 0)
			snprintf(value + length, sizeof(value) - length, "%s%s", length ? ", " : "",
				 name_of(&formats[i], session->capability));
	}
	osp_gpu_give_back(&pieces);
	if (state < 0)
		return;
	osp_result_add(context, OSP_VERDICT_PASS, OSP_CURE_NONE, session->unit->subject, value,
		       NULL, NULL, "exact on %d SMs", session->sms);
	for (int i = 0; i < OSP_FORMAT_COUNT; i++)
		if (tflops[i] > 0)
			osp_result_speed(context, NULL, name_of(&formats[i], session->capability),
					 tflops[i], "TFLOPS", OSP_LIMIT_COUNT, formats[i].physics);
}

const struct osp_check osp_check_tensor = {
	.name = "tensor",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_REPLACE,
	.behind = OSP_LIMIT_COMPUTE_BEHIND_PERCENT,
	.deadline_ms = 15000,
	.deadline_least_ms = 8000,
	.share = 15,
	.measures = "the tensor cores of every SM multiply exactly, and as fast as their peers",
	.explains =
		"Each warp multiplies matrices of whole numbers so small that the sum is exact in "
		"any order, and compares every value with what the host computed: fp16, and where "
		"the GPU has them bf16, tf32, fp8 and fp64. The instruction is mma.sync "
		"everywhere: on compute capability 9.0 to 11 its fp8 is computed by the fp16 "
		"units, and the fp8 units are not checked. Silent corruption shows with GPU, SM "
		"and tile. The speed is that of mma.sync, below a library's on newer GPUs, and "
		"compared with the node's other GPUs alone. An SM that was given no work is an "
		"error of the check.",
	.cures = "Replace the GPU: it computes wrong results in silence.",
	.run = run_tensor,
};
