/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_nccl.c - an all-reduce over all GPUs of the node: is the sum right, and how fast? */
#include "check/gpu/active.h"

#include <stdlib.h>

#include "check/gpu/gpu_reduce.h"

static bool join(struct osp_reduction *reduction)
{
	int devices[OSP_GPUS_MAX];

	for (size_t i = 0; i < reduction->count; i++)
		devices[i] = reduction->sessions[i].device;
	return osp_reduce_right(
		reduction,
		osp_nccl_join_all(reduction->communicators, (int)reduction->count, devices),
		"ncclCommInitAll");
}

/* Compares one sum word by word. Returns false after an error; wrong data is reported. */
static bool compare(struct osp_reduction *reduction, bool *wrong)
{
	unsigned int words[OSP_GPUS_MAX];

	*wrong = false;
	if (!osp_reduce_fill(reduction) || !osp_reduce_once(reduction) ||
	    !osp_reduce_wait(reduction) || !osp_reduce_compare(reduction, words))
		return false;
	for (size_t i = 0; i < reduction->count; i++) {
		if (!words[i])
			continue;
		*wrong = true;
		osp_result_add(reduction->context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU,
			       reduction->sessions[i].unit->subject, "sum wrong", NULL, NULL,
			       "%u words of the sum that NCCL left on this GPU are wrong",
			       words[i]);
	}
	return true;
}

/* Reports the speed. The limits are those of a whole node of eight. */
static void report_speed(struct osp_reduction *reduction, double gbps)
{
	bool eight = reduction->count == 8;

	osp_result_speed(reduction->context, "", "all-reduce", gbps, "GB/s",
			 eight ? OSP_LIMIT_ALL_REDUCE_GBPS : OSP_LIMIT_COUNT,
			 OSP_LIMIT_ALL_REDUCE_PEAK_GBPS);
}

static void run_reductions(struct osp_reduction *reduction)
{
	uint64_t until_ms = osp_now_ms() + reduction->context->slice_ms;
	double best_gbps = 0, gbps;
	bool wrong;

	if (!join(reduction) || !osp_reduce_take_memory(reduction))
		return;
	osp_reduce_shape(reduction, 0, reduction->count, reduction->room_bytes);
	if (!compare(reduction, &wrong))
		return;
	do {
		if (!osp_reduce_time(reduction, &gbps))
			return;
		best_gbps = gbps > best_gbps ? gbps : best_gbps;
	} while (osp_now_ms() < until_ms);
	if (wrong)
		return;
	osp_result_pass(reduction->context, "%zu GPUs", reduction->count);
	report_speed(reduction, best_gbps);
}

/* Returns whether an IOMMU is between GPUs that have no NVLink: copies between these may never
 * end (check/gpu/gpu_peer.c). */
static bool any_translated(const struct osp_reduction *reduction)
{
	for (size_t i = 0; i < reduction->count; i++)
		if (reduction->sessions[i].unit->translated)
			return true;
	return false;
}

static void run_all_reduce(struct osp_check_context *context)
{
	static struct osp_reduction reduction; /* large, and the process has one */
	const char *why;

	reduction.context = context;
	reduction.sessions = osp_gpu_begin_all(context, 2, &reduction.count);
	if (!reduction.sessions)
		return;
	why = osp_nccl_load();
	if (why) {
		osp_result_skip(context, "%s: the check peer looks at each pair without it", why);
		return;
	}
	/* no network is needed inside a node, and looking for one takes time */
	setenv("NCCL_NET_PLUGIN", "none", 1);
	setenv("NCCL_IB_DISABLE", "1", 1);
	if (any_translated(&reduction))
		setenv("NCCL_P2P_LEVEL", "NVL", 1);
	run_reductions(&reduction);
	if (!context->spoilt)
		osp_reduce_give_back(&reduction);
}

const struct osp_check osp_check_all_reduce = {
	.name = "all-reduce",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_ALL_GPUS,
	.library_kernels = true,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_RESET_GPU,
	.deadline_ms = 60000, /* NCCL's start takes seconds */
	.deadline_least_ms = 15000,
	.share = 10,
	.measures = "an all-reduce by NCCL over the node's GPUs gives the right sum, at its speed",
	.explains = "Up to 1 GiB on each GPU by libnccl, where the node has it in the linker's "
		    "path; skipped where not, and with fewer than two whole GPUs. Each GPU brings "
		    "a pattern in a part of its own, so the sum shows each, and it is compared "
		    "word by word on every GPU. The speed is the busses' as nccl-tests counts it; "
		    "a limit holds for eight GPUs. NCCL runs with settings of ours, not the "
		    "user's, and without a network; where an IOMMU keeps GPUs on PCIe from each "
		    "other, over the host's memory.",
	.cures = "Look at peer and nvlink; reset the GPUs; look at the fabric manager.",
	.run = run_all_reduce,
};
