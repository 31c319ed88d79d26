/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_nccl.c - an all-reduce over all GPUs of the node: is the sum right, and how fast? */
#include "check/active.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/gpu.h"
#include "check/gpus.h"

#define SUM_BYTES ((size_t)1024 * 1024 * 1024) /* busses reach their speed from here on */
#define SUMS	  2			       /* timed together */

/* Numbers of NCCL's binary interface (nccl.h of 2.x). */
#define INT32 2
#define SUM   0

struct nccl {
	int (*begin)(void **communicators, int count, const int *devices);
	int (*group_begin)(void);
	int (*group_end)(void);
	int (*all_reduce)(const void *from, void *to, size_t count, int type, int operation,
			  void *communicator, osp_cuda_stream stream);
	const char *(*words)(int result);
};

struct reduction {
	struct osp_check_context *context;
	struct osp_gpu_session *sessions;
	size_t count;
	struct nccl nccl;
	void *communicators[OSP_GPUS_MAX];
	struct osp_gpu_pieces memory[OSP_GPUS_MAX]; /* what goes in, and what comes out */
	size_t part_bytes;			    /* one GPU's part of a sum */
};

static const char *load_nccl(struct nccl *nccl)
{
	void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return "libnccl.so.2 is not on this node";
	*(void **)&nccl->begin = dlsym(library, "ncclCommInitAll");
	*(void **)&nccl->group_begin = dlsym(library, "ncclGroupStart");
	*(void **)&nccl->group_end = dlsym(library, "ncclGroupEnd");
	*(void **)&nccl->all_reduce = dlsym(library, "ncclAllReduce");
	*(void **)&nccl->words = dlsym(library, "ncclGetErrorString");
	if (!nccl->begin || !nccl->group_begin || !nccl->group_end || !nccl->all_reduce ||
	    !nccl->words)
		return "libnccl.so.2 lacks a function";
	return NULL;
}

static bool right(struct reduction *reduction, int result, const char *what)
{
	if (result == 0)
		return true;
	reduction->context->spoilt = true;
	osp_tell_error(reduction->context, "", "%s: %s (%d)", what, reduction->nccl.words(result),
		       result);
	return false;
}

static bool use(struct reduction *reduction, size_t gpu)
{
	const struct osp_gpu_session *session = &reduction->sessions[gpu];

	return osp_gpu_right(reduction->context, session, osp_cuda_context_use(session->context),
			     "cuCtxSetCurrent");
}

static osp_cuda_memory input(const struct reduction *reduction, size_t gpu)
{
	return reduction->memory[gpu].at[0];
}

static osp_cuda_memory output(const struct reduction *reduction, size_t gpu)
{
	return input(reduction, gpu) + reduction->part_bytes * reduction->count;
}

static bool wait_for_all(struct reduction *reduction)
{
	for (size_t i = 0; i < reduction->count; i++)
		if (!use(reduction, i) ||
		    !osp_gpu_right(reduction->context, &reduction->sessions[i],
				   osp_cuda_wait(reduction->sessions[i].stream),
				   "cuStreamSynchronize"))
			return false;
	return true;
}

static bool take_memory(struct reduction *reduction)
{
	size_t least = 2 * SUM_BYTES;

	for (size_t i = 0; i < reduction->count; i++) {
		if (!use(reduction, i) ||
		    !osp_gpu_take(reduction->context, &reduction->sessions[i], 2 * SUM_BYTES,
				  2 * SUM_BYTES, &reduction->memory[i]))
			return false;
		if (reduction->memory[i].bytes[0] < least)
			least = reduction->memory[i].bytes[0];
	}
	reduction->part_bytes = least / 2 / reduction->count & ~(size_t)0xff;
	return true;
}

/* Zeros, and in its own part each GPU's own pattern: so the sum is every pattern side by side, and
 * none can be missing. */
static bool fill(struct reduction *reduction)
{
	for (size_t i = 0; i < reduction->count; i++) {
		const struct osp_gpu_session *session = &reduction->sessions[i];
		struct osp_work work = {.at = input(reduction, i) + i * reduction->part_bytes,
					.count = reduction->part_bytes / OSP_WORD_BYTES_GPU,
					.seed = 200 + i};
		osp_cuda_function write;

		if (!use(reduction, i) ||
		    !osp_gpu_right(reduction->context, session,
				   osp_cuda_set_words(input(reduction, i), 0,
						      reduction->part_bytes * reduction->count / 4,
						      session->stream),
				   "cuMemsetD32Async"))
			return false;
		write = osp_gpu_kernel(session, "osp_memory_write");
		if (!write || !osp_gpu_launch(reduction->context, session, write,
					      (unsigned int)session->sms, 0, &work))
			return false;
	}
	return true;
}

static bool reduce(struct reduction *reduction)
{
	size_t words = reduction->part_bytes * reduction->count / sizeof(uint32_t);

	if (!right(reduction, reduction->nccl.group_begin(), "ncclGroupStart"))
		return false;
	for (size_t i = 0; i < reduction->count; i++)
		if (!right(reduction,
			   reduction->nccl.all_reduce(
				   (const void *)(uintptr_t)input(reduction, i),
				   (void *)(uintptr_t)output(reduction, i), words, INT32, SUM,
				   reduction->communicators[i], reduction->sessions[i].stream),
			   "ncclAllReduce"))
			return false;
	return right(reduction, reduction->nccl.group_end(), "ncclGroupEnd");
}

/* Every part of the sum, on every GPU. False after an error; wrong data is told. */
static bool compare(struct reduction *reduction, bool *wrong)
{
	*wrong = false;
	for (size_t i = 0; i < reduction->count; i++) {
		const struct osp_gpu_session *session = &reduction->sessions[i];
		osp_cuda_function check = osp_gpu_kernel(session, "osp_memory_check");
		struct osp_report report;

		if (!check || !use(reduction, i) ||
		    !osp_gpu_clear_report(reduction->context, session))
			return false;
		for (size_t part = 0; part < reduction->count; part++) {
			struct osp_work work = {.at = output(reduction, i) +
						      part * reduction->part_bytes,
						.count = reduction->part_bytes / OSP_WORD_BYTES_GPU,
						.seed = 200 + part};

			if (!osp_gpu_launch(reduction->context, session, check,
					    (unsigned int)session->sms, 0, &work))
				return false;
		}
		if (!osp_gpu_read_report(reduction->context, session, &report))
			return false;
		if (!report.count)
			continue;
		*wrong = true;
		osp_tell(reduction->context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU,
			 session->unit->subject, "sum wrong", NULL, NULL,
			 "%u words of the sum that NCCL left on this GPU are wrong", report.count);
	}
	return true;
}

/* As nccl-tests counts the busses' speed: 2 (n - 1) / n times the bytes summed. */
static bool time_sums(struct reduction *reduction, double *best_gbps)
{
	double n = (double)reduction->count, longest_ms = 0;
	double bytes = (double)reduction->part_bytes * n * SUMS;

	for (size_t i = 0; i < reduction->count; i++)
		if (!use(reduction, i) ||
		    !osp_gpu_clock_begin(reduction->context, &reduction->sessions[i]))
			return false;
	for (int i = 0; i < SUMS; i++)
		if (!reduce(reduction))
			return false;
	for (size_t i = 0; i < reduction->count; i++) {
		double elapsed_ms;

		if (!use(reduction, i) ||
		    !osp_gpu_clock_end(reduction->context, &reduction->sessions[i], &elapsed_ms))
			return false;
		longest_ms = elapsed_ms > longest_ms ? elapsed_ms : longest_ms;
	}
	if (longest_ms > 0 && bytes * 2 * (n - 1) / n / longest_ms / 1e6 > *best_gbps)
		*best_gbps = bytes * 2 * (n - 1) / n / longest_ms / 1e6;
	return true;
}

/* Limits are those of a whole node of eight. */
static void tell_speed(struct reduction *reduction, double gbps)
{
	bool eight = reduction->count == 8;

	osp_tell_speed(reduction->context, "", "all-reduce", gbps, "GB/s",
		       eight ? OSP_LIMIT_ALL_REDUCE_GBPS : OSP_LIMIT_COUNT,
		       OSP_LIMIT_ALL_REDUCE_PEAK_GBPS);
}

static void run_reductions(struct reduction *reduction)
{
	uint64_t until_ms = osp_now_ms() + reduction->context->slice_ms;
	int devices[OSP_GPUS_MAX];
	double best_gbps = 0;
	bool wrong;

	for (size_t i = 0; i < reduction->count; i++)
		devices[i] = reduction->sessions[i].device;
	if (!right(reduction,
		   reduction->nccl.begin(reduction->communicators, (int)reduction->count, devices),
		   "ncclCommInitAll") ||
	    !take_memory(reduction) || !fill(reduction) || !reduce(reduction) ||
	    !wait_for_all(reduction) || !compare(reduction, &wrong))
		return;
	do {
		if (!time_sums(reduction, &best_gbps))
			return;
	} while (osp_now_ms() < until_ms);
	if (wrong)
		return;
	osp_tell_pass(reduction->context, "%zu GPUs", reduction->count);
	tell_speed(reduction, best_gbps);
}

static void run_all_reduce(struct osp_check_context *context)
{
	static struct reduction reduction; /* large, and the process has one */
	const char *why;

	reduction.context = context;
	reduction.sessions = osp_gpu_begin_all(context, 2, &reduction.count);
	if (!reduction.sessions)
		return;
	why = load_nccl(&reduction.nccl);
	if (why) {
		osp_tell_skip(context, "%s: the check peer looks at each pair without it", why);
		return;
	}
	/* no network is needed inside a node, and looking for one takes time */
	setenv("NCCL_NET_PLUGIN", "none", 1);
	setenv("NCCL_IB_DISABLE", "1", 1);
	run_reductions(&reduction);
	for (size_t i = 0; i < reduction.count && !context->spoilt; i++)
		if (use(&reduction, i))
			osp_gpu_give_back(&reduction.memory[i]);
}

const struct osp_check osp_check_all_reduce = {
	.name = "all-reduce",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_ALL_GPUS,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_RESET_GPU,
	.deadline_ms = 60000, /* NCCL's start takes seconds */
	.share = 10,
	.measures = "an all-reduce by NCCL over the node's GPUs gives the right sum, at its speed",
	.explains = "Up to 1 GiB on each GPU by libnccl, where the node has it in the linker's "
		    "path; skipped "
		    "where not, and with fewer than two whole GPUs. Each GPU brings a pattern in a "
		    "part of "
		    "its own, so the sum shows each, and it is compared word by word on every GPU. "
		    "The speed "
		    "is the busses' as nccl-tests counts it; a limit holds for eight GPUs. NCCL "
		    "runs with "
		    "settings of ours, not the user's, and without a network.",
	.cures = "Look at peer and nvlink; reset the GPUs; look at the fabric manager.",
	.run = run_all_reduce,
};
