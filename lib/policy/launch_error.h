/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch_error.h - why the cloud has launched no instance for a node
 *
 * ParallelCluster writes EC2's code in front of the node's reason: "(Code:VcpuLimitExceeded)Failure
 * when resuming nodes", and for the other nodes of the compute resource "(Code:..)Temporarily
 * disabling node due to insufficient capacity".
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_LAUNCH_ERROR_H
#define OSP_LAUNCH_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/text.h"

#define OSP_LAUNCH_CODE_BYTES 64

/* Copies the code in front of a node's reason. Returns false if the reason (NULL: none) has none,
 * or one that is no word of letters, digits and dots, or longer than `bytes` - 1. */
bool osp_launch_error_code(const char *reason, char *code, size_t bytes);

/* Returns what the code is about: "capacity", "reservation", "quota", "price", "unsupported",
 * "permission", or "other". */
const char *osp_launch_error_kind(const char *code);

/* Appends a sentence about `nodes`, a list, without a line's end: "the cloud has no capacity for
 * gpu-[15-16] now (InsufficientInstanceCapacity); ParallelCluster tries again later". */
void osp_launch_error_text(const char *code, const char *nodes, struct osp_text *text);

#endif
