/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_reduce.h - one node's part in all-reduces between nodes, by NCCL
 *
 * One process a node drives all GPUs that the job has there, each as a rank of its own. So every
 * GPU uses the adapters beside it, and there is one process to kill if NCCL hangs. It is a process
 * of its own (`onespine-gate reduce`) without rights or knowledge of anything secret, because
 * libnccl, its network plugins and libcuda run in it. The process that started it decides by its
 * own clock when to kill it.
 *
 * It has run on one GPU with a real libnccl, as one rank (tests/gpu/results). Between GPUs it never
 * has: tests/fake replaces both.
 */
#ifndef OSP_GANG_REDUCE_H
#define OSP_GANG_REDUCE_H

#include <stdint.h>

#include "check/check.h"
#include "check/gpu/nccl.h"

/* An order to the process, written whole to a pipe. */
struct osp_gang_order {
	uint32_t first; /* rank of this node's first GPU */
	uint32_t ranks; /* of all nodes together */
	uint32_t sum_kib;
	struct osp_nccl_id id;
};

enum osp_gang_state { OSP_GANG_READY, OSP_GANG_DONE, OSP_GANG_BROKE };

/* Its answer: one when it is ready, then one to each order. Fields as in struct osp_gate_part. */
struct osp_gang_answer {
	enum osp_gang_state state;
	uint32_t version;
	uint32_t gpus;
	uint32_t sum_kib;
	uint32_t wrong;
	float gbps;
	float least_gbps;
	bool unproven; /* the limit only warns */
	float network_gbps;
	struct osp_nccl_id id;
	char why[OSP_WHY_BYTES];
};

/*
 * Gets the GPUs of `context` ready, says so on `answers`, and carries out what comes on `orders`
 * until that ends. Variables NCCL_... of the environment are in force (those of others for CUDA are
 * not). Returns 0, or -1 once something broke, after it was answered.
 */
int osp_gang_serve(struct osp_check_context *context, int orders, int answers);

#endif
