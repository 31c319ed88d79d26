/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nccl.h - NCCL's interface, loaded at run time
 *
 * libnccl.so.2 is opened by name and never linked, and no header of NCCL's is needed: names,
 * numbers and layouts are those of the binary interface that all of 2.x keep (nccl.h). Every call
 * may hang. One thread.
 */
#ifndef OSP_NCCL_H
#define OSP_NCCL_H

#include <stddef.h>

#include "check/gpu/cuda.h"

#define OSP_NCCL_LIBRARY "libnccl.so.2"

#define OSP_NCCL_OK	 0
#define OSP_NCCL_INT32	 2 /* ncclDataType_t */
#define OSP_NCCL_SUM	 0 /* ncclRedOp_t */

/* Trees between nodes, and so sums of many nodes at speed, came with 2.4. */
#define OSP_NCCL_VERSION_LEAST 2400

struct osp_nccl_id {
	char bytes[128];
};

typedef void *osp_nccl_communicator;

/* name here, NCCL's name, parameters, arguments */
#define OSP_NCCL_CALLS(X)                                                                          \
	X(version, "ncclGetVersion", (int *version), (version))                                    \
	X(make_id, "ncclGetUniqueId", (struct osp_nccl_id * id), (id))                             \
	X(join, "ncclCommInitRank",                                                                \
	  (osp_nccl_communicator * communicator, int ranks, struct osp_nccl_id id, int rank),      \
	  (communicator, ranks, id, rank))                                                         \
	X(join_all, "ncclCommInitAll",                                                             \
	  (osp_nccl_communicator * communicators, int count, const int *devices),                  \
	  (communicators, count, devices))                                                         \
	X(leave, "ncclCommDestroy", (osp_nccl_communicator communicator), (communicator))          \
	X(group_begin, "ncclGroupStart", (void), ())                                               \
	X(group_end, "ncclGroupEnd", (void), ())                                                   \
	X(all_reduce, "ncclAllReduce",                                                             \
	  (const void *from, void *to, size_t count, int type, int operation,                      \
	   osp_nccl_communicator communicator, osp_cuda_stream stream),                            \
	  (from, to, count, type, operation, communicator, stream))

/* osp_nccl_version(&version) and so on: they return NCCL's answer. Only after osp_nccl_load(). */
#define OSP_NCCL_DECLARE(name, symbol, parameters, arguments) int osp_nccl_##name parameters;
OSP_NCCL_CALLS(OSP_NCCL_DECLARE)
#undef OSP_NCCL_DECLARE

/* Loads the library once a process. Returns NULL if it is loaded, else why not, in words. */
const char *osp_nccl_load(void);

/* Returns "unhandled system error (2)". The string lives until the next call. */
const char *osp_nccl_words(int result);

#endif
