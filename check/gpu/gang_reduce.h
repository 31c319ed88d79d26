/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_reduce.h - one node's part in all-reduces between nodes, by NCCL
 *
 * One process a node, driving all GPUs that the job has there, each a rank of its own: so every GPU
 * uses the adapters beside it, and there is one process to kill when NCCL hangs. For a process of
 * its own (`onespine-gate reduce`) that may not know anything secret and has no rights: libnccl,
 * its network plugins and libcuda run in it. Who started it decides by its own clock when to kill
 * it.
 *
 * Never run on a GPU, or with a real libnccl: tests/fake stands for both.
 */
#ifndef OSP_GANG_REDUCE_H
#define OSP_GANG_REDUCE_H

#include <stdint.h>

#include "check/check.h"
#include "check/gpu/nccl.h"

/* What is asked of the process, whole, through a pipe. */
struct osp_gang_order {
	uint32_t first; /* rank of this node's first GPU */
	uint32_t ranks; /* of all nodes together */
	uint32_t sum_kib;
	struct osp_nccl_id id;
};

enum osp_gang_state { OSP_GANG_READY, OSP_GANG_DONE, OSP_GANG_BROKE };

/* What it answers: once when it is ready, then to each order. Fields as in struct osp_gate_part. */
struct osp_gang_answer {
	enum osp_gang_state state;
	uint32_t version;
	uint32_t gpus;
	uint32_t sum_kib;
	uint32_t wrong;
	float gbps;
	float least_gbps;
	bool unproven; /* that limit only warns */
	float network_gbps;
	struct osp_nccl_id id;
	char why[OSP_WHY_BYTES];
};

/*
 * Gets the GPUs of `context` ready, says so on `answers`, and carries out what comes on `orders`
 * until that ends. NCCL_... of the environment are in force (others' for CUDA are not). 0, or -1
 * once something broke, which has been answered.
 */
int osp_gang_serve(struct osp_check_context *context, int orders, int answers);

#endif
