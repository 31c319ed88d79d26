/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct.c - the checks of the first GPU in this very process, and the driver's own copy
 *
 *	direct copy      bandwidth of the driver's copy inside the GPU, GB/s, each byte counted
 *			 twice
 *	direct checks    every check of a single GPU, where compute-sanitizer can see its kernels
 *	direct kernels   the same without cuBLASLt's kernels, in which racecheck finds what it takes
 *			 for races (seen on an H100: nvjet_sm90, CUDA 13.0)
 *	direct limits    the shipped limits that are of the first GPU's model or of this node's
 *			 type: NAME VALUE a line
 *	direct gpus      the GPUs by NVML's name, a line a model: "8 NVIDIA H100 80GB HBM3"
 *	direct gang      the gate's process for NCCL, with the first GPU as its one rank: GB/s and
 *			 words wrong
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "check/check.h"
#include "check/gpu/gang_reduce.h"
#include "check/gpu/gpu.h"
#include "check/gpu/gpu_unit.h"
#include "lib/health/thresholds_private.h"

#define COPY_BYTES ((size_t)1024 * 1024 * 1024)
#define COPIES	   5
#define ROUNDS	   10

static int failures;

static void print_result(struct osp_check_context *context, const struct osp_result *result)
{
	(void)context;
	printf("%s %s %s %s\n", osp_verdict_name(result->verdict), result->subject, result->value,
	       result->why);
	failures += result->verdict > OSP_VERDICT_PASS;
}

static void print_speed(struct osp_check_context *context, const struct osp_speed *speed)
{
	(void)context;
	printf("PASS %s %.1f %s %s\n", speed->subject, speed->value, speed->unit, speed->what);
}

static void run_checks(struct osp_check_context *context, bool own_kernels)
{
	for (size_t i = 0; i < osp_check_count; i++) {
		if (osp_checks[i]->group != OSP_GROUP_EACH_GPU ||
		    (own_kernels && strcmp(osp_checks[i]->name, "tflops") == 0))
			continue;
		printf("%s: ", osp_checks[i]->name);
		osp_checks[i]->run(context);
	}
}

static void run_copy(struct osp_check_context *context)
{
	const struct osp_gpu_session *session = osp_gpu_begin(context);
	struct osp_gpu_pieces pieces;
	double best = 0;

	if (!session || !osp_gpu_take(context, session, 2 * COPY_BYTES, 2 * COPY_BYTES, &pieces))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		size_t bytes = pieces.bytes[0] / 2;
		double elapsed_ms = 0, gbps;

		osp_gpu_clock_begin(context, session);
		for (int i = 0; i < COPIES; i++)
			osp_gpu_right(context, session,
				      osp_cuda_inside(pieces.at[0] + bytes, pieces.at[0], bytes,
						      session->stream),
				      "cuMemcpyDtoDAsync");
		if (!osp_gpu_clock_end(context, session, &elapsed_ms) || !(elapsed_ms > 0))
			return;
		gbps = 2.0 * (double)bytes * COPIES / elapsed_ms / 1e6;
		best = round && gbps > best ? gbps : best;
	}
	osp_gpu_give_back(&pieces);
	printf("%.1f\n", best);
}

static int print_limits(const struct osp_check_context *context)
{
	static const enum osp_limit_id of_hardware[] = {
		OSP_LIMIT_HBM_GBPS,
		OSP_LIMIT_BF16_TFLOPS,
		OSP_LIMIT_HOST_COPY_GBPS,
		OSP_LIMIT_PEER_GBPS,
		OSP_LIMIT_ALL_REDUCE_GBPS,
		OSP_LIMIT_HBM_PEAK_GBPS,
		OSP_LIMIT_BF16_PEAK_TFLOPS,
		OSP_LIMIT_HOST_COPY_PEAK_GBPS,
		OSP_LIMIT_PEER_PEAK_GBPS,
		OSP_LIMIT_ALL_REDUCE_PEAK_GBPS,
		OSP_LIMIT_GPUS,
		OSP_LIMIT_NVLINKS,
		OSP_LIMIT_NVLINK_MBPS,
		OSP_LIMIT_PCIE_GENERATION,
		OSP_LIMIT_PCIE_WIDTH,
		OSP_LIMIT_EFA_DEVICES,
		OSP_LIMIT_CORES,
		OSP_LIMIT_NUMA_NODES,
		OSP_LIMIT_MEMORY_GIB,
		OSP_LIMIT_LOCAL_DISKS,
	};

	if (osp_thresholds_add((struct osp_thresholds *)(uintptr_t)context->thresholds,
			       "thresholds.yaml", osp_thresholds_builtin,
			       strlen(osp_thresholds_builtin), NULL, 0, NULL))
		return 2;
	for (size_t i = 0; i < sizeof(of_hardware) / sizeof(of_hardware[0]); i++) {
		const struct osp_limit *limit =
			osp_check_limit(context, of_hardware[i], context->unit->model);

		if (limit)
			printf("%s %lld\n", osp_limit_name(of_hardware[i]),
			       (long long)limit->value);
	}
	return 0;
}

static int print_gpus(const struct osp_units *units)
{
	for (size_t i = 0; i < units->count; i++) {
		size_t of_model = 0, before = 0;

		for (size_t n = 0; n < units->count; n++)
			if (strcmp(units->units[n].model, units->units[i].model) == 0) {
				of_model++;
				before += n < i;
			}
		if (!before)
			printf("%zu %s\n", of_model, units->units[i].model);
	}
	return 0;
}

/* One order: this process is the only rank. */
static int run_gang(struct osp_check_context *context)
{
	struct osp_gang_order order = {.first = 0, .ranks = 1, .sum_kib = 64 * 1024};
	struct osp_gang_answer answer;
	int orders[2], answers[2];
	pid_t child;

	context->gpus = "0";
	if (pipe(orders) || pipe(answers))
		return 2;
	child = fork();
	if (child == 0) {
		close(orders[1]);
		close(answers[0]);
		_exit(osp_gang_serve(context, orders[0], answers[1]) ? 1 : 0);
	}
	close(orders[0]);
	close(answers[1]);
	if (child < 0 || read(answers[0], &answer, sizeof(answer)) != sizeof(answer) ||
	    answer.state != OSP_GANG_READY) {
		printf("%s\n", child < 0 ? "no process" : answer.why);
		return 1;
	}
	order.id = answer.id;
	if (answer.sum_kib && answer.sum_kib < order.sum_kib)
		order.sum_kib = answer.sum_kib;
	if (write(orders[1], &order, sizeof(order)) != sizeof(order) ||
	    read(answers[0], &answer, sizeof(answer)) != sizeof(answer))
		return 2;
	close(orders[1]);
	printf("%.1f %u %s\n", (double)answer.gbps, answer.wrong,
	       answer.state == OSP_GANG_DONE ? "" : answer.why);
	kill(child,
	     SIGKILL); /* it may hang while it leaves, as in the gate, which does not wait either */
	return answer.state != OSP_GANG_DONE || answer.wrong;
}

int main(int argc, char **argv)
{
	struct osp_thresholds *thresholds = osp_thresholds_new();
	struct osp_check_context context;
	struct osp_units units;
	char why[256];

	if (argc != 2 || !thresholds)
		return 2;
	osp_check_context_set(&context,
			      getenv("ONESPINE_TEST_ROOT") ? getenv("ONESPINE_TEST_ROOT") : "",
			      thresholds);
	if (osp_units_find(&context, &units, why, sizeof(why)) != OSP_FOUND) {
		fprintf(stderr, "direct: %s\n", why);
		return 2;
	}
	context.unit = &units.units[0];
	context.report = print_result;
	context.report_speed = print_speed;
	context.slice_ms = 1;
	if (strcmp(argv[1], "limits") == 0)
		failures = print_limits(&context);
	else if (strcmp(argv[1], "gpus") == 0)
		failures = print_gpus(&units);
	else if (strcmp(argv[1], "gang") == 0)
		failures = run_gang(&context);
	else if (strcmp(argv[1], "copy") == 0)
		run_copy(&context);
	else
		run_checks(&context, strcmp(argv[1], "kernels") == 0);
	free(units.units);
	osp_thresholds_free(thresholds);
	return failures > 0;
}
