/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_peer.c - copies from each GPU to each other: do they arrive, and how fast? */
#include "check/gpu/active.h"

#include <stdio.h>

#include "check/gpu/gpu.h"
#include "check/base/gpus.h"

#define COPY_BYTES ((size_t)64 * 1024 * 1024)
#define COPIES	   2   /* timed together */
#define ROUNDS	   6   /* the best counts: links that were idle sleep at first */
#define ROUND_MS   1.0 /* copies over NVLink are far shorter; PCIe's pairs have two rounds */

struct peers {
	struct osp_check_context *context;
	struct osp_gpu_session *sessions;
	struct osp_gpu_pieces memory[OSP_GPUS_MAX]; /* the data to send, and room to receive */
	size_t count;
	size_t reached; /* how many pairs */
	size_t unreached;
	size_t left_out;   /* how many pairs the driver has no connection for */
	size_t translated; /* how many pairs have an IOMMU between them */
	bool known;	   /* the model's speed is known, so each GPU must reach each */
	bool alike;	   /* every pair is joined in the same way: by switches, or its speed is
			    known */
	bool secret;	   /* confidential computing: no GPU needs to reach another */
	bool scarce;	   /* the driver has no more connections for some pair, so each is given
			    back */
};

static bool use(const struct peers *peers, size_t gpu)
{
	const struct osp_gpu_session *session = &peers->sessions[gpu];

	return osp_gpu_right(peers->context, session, osp_cuda_context_use(session->context),
			     "cuCtxSetCurrent");
}

static osp_cuda_memory sent(const struct peers *peers, size_t gpu)
{
	return peers->memory[gpu].at[0];
}

static size_t half(const struct peers *peers, size_t from, size_t to)
{
	size_t one = peers->memory[from].bytes[0] / 2, other = peers->memory[to].bytes[0] / 2;

	return (one < other ? one : other) & ~(size_t)0xfff;
}

static osp_cuda_memory received(const struct peers *peers, size_t gpu)
{
	return peers->memory[gpu].at[0] + peers->memory[gpu].bytes[0] / 2;
}

/* Writes each GPU's own pattern into the data that it sends. */
static bool prepare(struct peers *peers)
{
	for (size_t i = 0; i < peers->count; i++) {
		const struct osp_gpu_session *session = &peers->sessions[i];
		osp_cuda_function write;
		struct osp_work work = {.seed = 100 + i};

		if (!use(peers, i) || !osp_gpu_take(peers->context, session, 2 * COPY_BYTES,
						    2 * COPY_BYTES, &peers->memory[i]))
			return false;
		write = osp_gpu_kernel(session, "osp_memory_write");
		work.at = sent(peers, i);
		work.count = peers->memory[i].bytes[0] / 2 / OSP_WORD_BYTES_GPU;
		if (!write ||
		    !osp_gpu_launch(peers->context, session, write, (unsigned int)session->sms, 0,
				    &work) ||
		    !osp_gpu_right(peers->context, session, osp_cuda_wait(session->stream),
				   "cuStreamSynchronize"))
			return false;
	}
	return true;
}

static void name_pair(const struct peers *peers, size_t from, size_t to, char *name,
		      size_t name_bytes)
{
	snprintf(name, name_bytes, "%.30s-%.30s", peers->sessions[from].unit->subject,
		 peers->sessions[to].unit->subject);
}

/* Returns whether the error is of this process, its user or the host, and of no link. */
static bool is_of_host(int result)
{
	return result == OSP_CUDA_OUT_OF_MEMORY || result == OSP_CUDA_UNAVAILABLE ||
	       result == OSP_CUDA_NO_DEVICE || result == OSP_CUDA_OPERATING_SYSTEM ||
	       result == OSP_CUDA_NOT_PERMITTED || result == OSP_CUDA_NOT_READY;
}

/* Reports a pair for which the driver granted access but no data came: the link is at fault, or one
 * of the two GPUs. */
static void report_dead(struct peers *peers, const char *pair, int result)
{
	peers->context->spoilt = true;
	osp_result_add(peers->context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, pair, "no copy", NULL,
		       NULL, "the driver lets one reach the other, but a copy fails: %s",
		       osp_cuda_words(result));
}

static int send_once(const struct peers *peers, size_t from, size_t to)
{
	return osp_cuda_to_peer(received(peers, to), peers->sessions[to].context, sent(peers, from),
				peers->sessions[from].context, half(peers, from, to),
				peers->sessions[from].stream);
}

/* Returns false if the rest cannot be measured. */
static bool check_data(struct peers *peers, size_t from, size_t to, const char *pair)
{
	const struct osp_gpu_session *session = &peers->sessions[to];
	osp_cuda_function check = osp_gpu_kernel(session, "osp_memory_check");
	struct osp_work work = {.at = received(peers, to),
				.count = half(peers, from, to) / OSP_WORD_BYTES_GPU,
				.seed = 100 + from};
	struct osp_report report;
	int result = send_once(peers, from, to);

	if (!result)
		result = osp_cuda_wait(peers->sessions[from].stream);
	if (is_of_host(result))
		return osp_gpu_right(peers->context, &peers->sessions[from], result,
				     "cuMemcpyPeerAsync");
	if (result) {
		report_dead(peers, pair, result);
		return false;
	}
	if (!check || !use(peers, to) || !osp_gpu_clear_report(peers->context, session) ||
	    !osp_gpu_launch(peers->context, session, check, (unsigned int)session->sms, 0, &work) ||
	    !osp_gpu_read_report(peers->context, session, &report) || !use(peers, from))
		return false;
	if (report.count)
		osp_result_add(peers->context, OSP_VERDICT_FAIL,
			       peers->alike ? OSP_CURE_REPLACE : OSP_CURE_ASK, pair, "data wrong",
			       NULL, NULL,
			       "%u words of %zu bytes did not arrive as they were sent%s",
			       report.count, half(peers, from, to),
			       peers->alike ? "" : "; over PCIe an IOMMU or ACS may spoil them");
	return true;
}

/* Times some copies together. */
static bool time_round(struct peers *peers, size_t from, size_t to, double *elapsed_ms,
		       double *best_gbps)
{
	const struct osp_gpu_session *session = &peers->sessions[from];
	double gbps;

	if (!osp_gpu_clock_begin(peers->context, session))
		return false;
	for (int i = 0; i < COPIES; i++)
		if (!osp_gpu_right(peers->context, session, send_once(peers, from, to),
				   "cuMemcpyPeerAsync"))
			return false;
	if (!osp_gpu_clock_end(peers->context, session, elapsed_ms))
		return false;
	gbps = *elapsed_ms > 0 ? (double)half(peers, from, to) * COPIES / *elapsed_ms / 1e6 : 0;
	*best_gbps = gbps > *best_gbps ? gbps : *best_gbps;
	return true;
}

static bool time_copies(struct peers *peers, size_t from, size_t to, const char *pair)
{
	double elapsed_ms = 0, best_gbps = 0;
	char what[48] = "copy";

	for (int round = 0; round < ROUNDS; round++) {
		if (!time_round(peers, from, to, &elapsed_ms, &best_gbps))
			return false;
		if (round && elapsed_ms > ROUND_MS)
			break;
	}
	/* pairs that may be joined in different ways are not compared */
	if (!peers->alike)
		snprintf(what, sizeof(what), "copy %zu-%zu", from, to);
	osp_result_speed(peers->context, pair, what, best_gbps, "GB/s", OSP_LIMIT_PEER_GBPS,
			 OSP_LIMIT_PEER_PEAK_GBPS);
	return true;
}

/* Gives back the connections enabled so far, up to GPU `from`, which is used again. */
static bool disable_all(const struct peers *peers, size_t from)
{
	for (size_t i = 0; i <= from; i++) {
		if (!use(peers, i))
			return false;
		for (size_t n = 0; n < peers->count; n++)
			if (n != i)
				(void)osp_cuda_disable_peer(peers->sessions[n].context);
	}
	return true;
}

/* Enables access from one GPU to another. If no NVSwitch joins the GPUs, each has at most eight
 * connections, of all processes together (CUDA C++ Programming Guide, "Peer-to-Peer Memory
 * Access"): too few for ten GPUs on PCIe at once. */
static int enable(struct peers *peers, size_t from, size_t to)
{
	osp_cuda_context peer = peers->sessions[to].context;
	int result = osp_cuda_enable_peer(peer, 0);

	if (result == OSP_CUDA_TOO_MANY_PEERS && !peers->scarce) {
		peers->scarce = true;
		if (disable_all(peers, from))
			result = osp_cuda_enable_peer(peer, 0);
	}
	return result == OSP_CUDA_PEER_ALREADY ? OSP_CUDA_OK : result;
}

static bool check_copies(struct peers *peers, size_t from, size_t to, const char *pair)
{
	int result = enable(peers, from, to);
	bool right;

	if (result == OSP_CUDA_TOO_MANY_PEERS) { /* other programs have them */
		peers->left_out++;
		return true;
	}
	peers->reached++;
	right = osp_gpu_right(peers->context, &peers->sessions[from], result,
			      "cuCtxEnablePeerAccess") &&
		check_data(peers, from, to, pair) && time_copies(peers, from, to, pair);
	if (right && peers->scarce)
		(void)osp_cuda_disable_peer(peers->sessions[to].context);
	return right;
}

static bool check_pair(struct peers *peers, size_t from, size_t to)
{
	const struct osp_gpu_session *session = &peers->sessions[from];
	char pair[OSP_SUBJECT_BYTES];
	int can = 0;

	name_pair(peers, from, to, pair, sizeof(pair));
	if (!osp_gpu_right(peers->context, session,
			   osp_cuda_can_peer(&can, session->device, peers->sessions[to].device),
			   "cuDeviceCanAccessPeer"))
		return false;
	if (!can) {
		peers->unreached++;
		if (peers->known && !peers->secret)
			osp_result_add(
				peers->context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, pair,
				"no access", NULL, NULL,
				"every GPU of this model reaches every other over NVLink; these do "
				"not");
		return true;
	}
	if (session->unit->translated || peers->sessions[to].unit->translated) {
		peers->translated++;
		return true;
	}
	return check_copies(peers, from, to, pair);
}

static bool check_pairs(struct peers *peers)
{
	for (size_t from = 0; from < peers->count; from++) {
		if (!use(peers, from))
			return false;
		for (size_t to = 0; to < peers->count; to++)
			if (from != to && !check_pair(peers, from, to))
				return false;
	}
	return true;
}

/* Returns whether the links of all GPUs lead to switches. */
static bool all_switched(const struct peers *peers)
{
	for (size_t i = 0; i < peers->count; i++)
		if (!peers->sessions[i].unit->switched)
			return false;
	return true;
}

static void run_peer(struct osp_check_context *context)
{
	static struct peers peers; /* large, and the process has one */
	bool done;

	peers.context = context;
	peers.reached = peers.unreached = peers.left_out = peers.translated = 0;
	peers.scarce = false;
	peers.sessions = osp_gpu_begin_all(context, 2, &peers.count);
	if (!peers.sessions)
		return;
	peers.known = osp_check_limit(context, OSP_LIMIT_PEER_GBPS, context->units[0].model);
	peers.alike = peers.known || all_switched(&peers);
	peers.secret = context->units[0].confidential;
	done = prepare(&peers) && check_pairs(&peers);
	for (size_t i = 0; i < peers.count && !context->spoilt; i++)
		if (use(&peers, i))
			osp_gpu_give_back(&peers.memory[i]);
	if (done && peers.translated)
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", "IOMMU", NULL,
			"CUDA C++ Programming Guide, IOMMU on Linux",
			"%zu pairs of GPUs over PCIe are not tried: an IOMMU translates their "
			"addresses, and copies may hang or be spoilt; boot with iommu=pt, or let "
			"programs run with NCCL_P2P_LEVEL=NVL",
			peers.translated);
	if (done && peers.reached)
		osp_result_pass(context, "%zu of %zu pairs", peers.reached,
				peers.reached + peers.unreached + peers.left_out +
					peers.translated);
	else if (done && peers.left_out)
		osp_result_skip(context, "other programs have all connections between GPUs here");
	else if (done && !peers.translated && (!peers.known || peers.secret))
		osp_result_skip(context, "no GPU here reaches another's memory%s",
				peers.secret ? ": confidential computing" : "");
}

const struct osp_check osp_check_peer = {
	.name = "peer",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_ALL_GPUS,
	.worst = OSP_VERDICT_FAIL,
	.pairs = true,
	.slow_cure = OSP_CURE_RESET_GPU,
	.behind = OSP_LIMIT_PEER_BEHIND_PERCENT,
	.deadline_ms = 30000, /* to make contexts on all GPUs */
	.deadline_least_ms = 10000,
	.share = 0,
	.measures = "copies from each GPU to each other arrive, over NVLink at its speed",
	.explains =
		"64 MiB from each GPU to each that it reaches, one pair after the other in both "
		"directions: compared by a kernel at the other end, then timed, the best of "
		"several. In nodes whose speed is known every GPU must reach every other. Pairs "
		"are compared there, and wherever the links of all GPUs lead to NVSwitches; "
		"elsewhere speeds are reported and not judged, for pairs may be joined in "
		"different ways. Pairs that the driver has no connection left for are left out "
		"(eight a GPU where no NVSwitch joins them), and so are pairs over PCIe where an "
		"IOMMU translates addresses on bare metal, which warns: NVIDIA does not support "
		"these. A pair fails, and not a GPU of it; a GPU that fails with two others or "
		"more, each well with somebody, and is well with none, is named itself. Needs two "
		"whole GPUs.",
	.cures = "Reset the GPUs, which trains NVLink anew; look at the fabric manager; if that "
		 "does not help, replace the node.",
	.run = run_peer,
};
