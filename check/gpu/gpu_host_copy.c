/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_host_copy.c - copies between host and GPU: do they arrive, and how fast? */
#define _GNU_SOURCE /* CPU_SET */
#include "check/gpu/active.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check/gpu/gpu.h"
#include "check/base/root.h"
#include "lib/base/text.h"

#define COPY_BYTES ((size_t)4 * 1024 * 1024) /* host memory for each GPU */
#define COPIES	   16			     /* timed together */

/*
 * Binds this process to the processors beside the GPU, so that the host memory is near it: the
 * driver takes it from the caller's NUMA node. Returns the GPU's NUMA node: copies of GPUs of one
 * node are comparable. Returns OSP_SPEED_NO_PEERS if that is not known, or nothing could be bound:
 * memory may then be near one GPU and far from another.
 */
static int go_near(const struct osp_check_context *context, const struct osp_unit *unit)
{
	char list[1024], *at = list;
	cpu_set_t set;
	int node = OSP_SPEED_NO_PEERS;

	if (osp_root_read(context->root, list, sizeof(list), "sys/bus/pci/devices/%s/numa_node",
			  unit->address))
		node = atoi(list);
	if (!osp_root_read(context->root, list, sizeof(list),
			   "sys/bus/pci/devices/%s/local_cpulist", unit->address))
		return OSP_SPEED_NO_PEERS;
	CPU_ZERO(&set);
	while (*at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			return OSP_SPEED_NO_PEERS;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, &set);
		at = *end == ',' ? end + 1 : end + strlen(end);
	}
	if (sched_setaffinity(0, sizeof(set), &set) || node < 0)
		return OSP_SPEED_NO_PEERS;
	return node;
}

struct copies {
	struct osp_check_context *context;
	const struct osp_gpu_session *session;
	osp_cuda_memory gpu;
	void *host;
	size_t bytes;
	int group; /* GPUs of this group have comparable copies */
};

static bool copy(const struct copies *copies, bool to_gpu)
{
	int result = to_gpu ? osp_cuda_to_gpu(copies->gpu, copies->host, copies->bytes,
					      copies->session->stream)
			    : osp_cuda_to_host(copies->host, copies->gpu, copies->bytes,
					       copies->session->stream);

	return osp_gpu_right(copies->context, copies->session, result,
			     to_gpu ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync");
}

static void report_wrong(const struct copies *copies, const char *value, unsigned long long words)
{
	osp_result_add(copies->context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE,
		       copies->session->unit->subject, value, NULL, NULL,
		       "%s: %llu words of %zu bytes did not arrive as they were sent",
		       copies->session->unit->uuid, words, copies->bytes);
}

/* Writes the pattern of kernels/memory.cu, by this processor. */
static void fill(const struct copies *copies, uint64_t seed)
{
	uint64_t *words = copies->host;

	for (size_t i = 0; i < copies->bytes / OSP_WORD_BYTES_GPU; i++) {
		uint64_t one = osp_pattern(i, seed);

		words[2 * i] = one;
		words[2 * i + 1] = ~(one << 32 | one >> 32);
	}
}

/* Copies the pattern to the GPU, where a kernel compares and inverts it, and back, where this
 * processor compares it. */
static bool check_data(const struct copies *copies)
{
	const struct osp_gpu_session *session = copies->session;
	osp_cuda_function check = osp_gpu_kernel(session, "osp_memory_check");
	struct osp_work work = {.at = copies->gpu,
				.count = copies->bytes / OSP_WORD_BYTES_GPU,
				.seed = 11,
				.turn = 1};
	uint64_t *words = copies->host, wrong = 0;
	struct osp_report report;

	fill(copies, work.seed);
	if (!check || !osp_gpu_clear_report(copies->context, session) || !copy(copies, true) ||
	    !osp_gpu_launch(copies->context, session, check, (unsigned int)session->sms, 0,
			    &work) ||
	    !osp_gpu_read_report(copies->context, session, &report))
		return false;
	if (report.count) {
		report_wrong(copies, "to GPU wrong", report.count);
		return false;
	}
	if (!copy(copies, false) ||
	    !osp_gpu_right(copies->context, session, osp_cuda_wait(session->stream),
			   "cuStreamSynchronize"))
		return false;
	for (size_t i = 0; i < copies->bytes / OSP_WORD_BYTES_GPU; i++) {
		uint64_t one = osp_pattern(i, work.seed);

		wrong += words[2 * i] != ~one;
		wrong += words[2 * i + 1] != (one << 32 | one >> 32);
	}
	if (wrong)
		report_wrong(copies, "to host wrong", wrong);
	return !wrong;
}

static bool time_copies(const struct copies *copies, bool to_gpu, double *best_gbps)
{
	double elapsed_ms, gbps;

	if (!osp_gpu_clock_begin(copies->context, copies->session))
		return false;
	for (int i = 0; i < COPIES; i++)
		if (!copy(copies, to_gpu))
			return false;
	if (!osp_gpu_clock_end(copies->context, copies->session, &elapsed_ms))
		return false;
	gbps = elapsed_ms > 0 ? (double)copies->bytes * COPIES / elapsed_ms / 1e6 : 0;
	*best_gbps = gbps > *best_gbps ? gbps : *best_gbps;
	return true;
}

static bool run_copies(const struct copies *copies)
{
	const char *subject = copies->session->unit->subject;
	uint64_t until_ms = osp_now_ms() + copies->context->slice_ms / copies->context->unit_count;
	double there = 0, back = 0;

	if (!check_data(copies))
		return !copies->context->spoilt;
	do {
		if (!time_copies(copies, true, &there) || !time_copies(copies, false, &back))
			return false;
	} while (osp_now_ms() < until_ms);
	osp_result_speed_among(copies->context, copies->group, subject, "to GPU", there, "GB/s",
			       OSP_LIMIT_HOST_COPY_GBPS, OSP_LIMIT_HOST_COPY_PEAK_GBPS);
	osp_result_speed_among(copies->context, copies->group, subject, "to host", back, "GB/s",
			       OSP_LIMIT_HOST_COPY_GBPS, OSP_LIMIT_HOST_COPY_PEAK_GBPS);
	return true;
}

/* Checks one GPU after the other, so that none shares a PCIe switch's uplink. */
static bool check_gpu(struct osp_check_context *context, const struct osp_gpu_session *session)
{
	struct copies copies = {.context = context, .session = session};
	struct osp_gpu_pieces pieces;
	bool done = false;

	copies.group = go_near(context, session->unit);
	if (!osp_gpu_right(context, session, osp_cuda_context_use(session->context),
			   "cuCtxSetCurrent") ||
	    !osp_gpu_take(context, session, COPY_BYTES, COPY_BYTES, &pieces))
		return false;
	copies.gpu = pieces.at[0];
	copies.bytes = pieces.bytes[0];
	if (osp_gpu_right(context, session, osp_cuda_host_allocate(&copies.host, copies.bytes, 0),
			  "cuMemHostAlloc")) {
		done = run_copies(&copies);
		osp_cuda_host_release(copies.host);
	}
	osp_gpu_give_back(&pieces);
	return done;
}

static void run_host_copy(struct osp_check_context *context)
{
	size_t count;
	const struct osp_gpu_session *sessions = osp_gpu_begin_all(context, 1, &count);

	for (size_t i = 0; sessions && i < count; i++)
		if (!check_gpu(context, &sessions[i]))
			return;
	if (sessions)
		osp_result_pass(context, "%zu GPU%s", count, osp_plural_s(count));
}

const struct osp_check osp_check_host_copy = {
	.name = "host-copy",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_ALL_GPUS,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_REBOOT,
	.behind = OSP_LIMIT_HOST_COPY_BEHIND_PERCENT,
	.deadline_ms = 30000, /* to make contexts on all GPUs */
	.deadline_least_ms = 10000,
	.share = 8,
	.measures = "copies between host and each GPU arrive, and are as fast as its peers'",
	.explains =
		"4 MiB of pinned host memory on the NUMA node beside the GPU, copied there and "
		"back: compared by a kernel there and by the processor here, then timed, one GPU "
		"after the other, so that none shares a switch's uplink. A narrow or slow PCIe "
		"link shows here and in pcie. GPUs of one NUMA node are compared with each other; "
		"where the NUMA node is not known none is.",
	.cures = "Reboot trains the PCIe link anew; where it stays slow, replace the node.",
	.run = run_host_copy,
};
