/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libcuda.h - what the fake libcuda shares with the fakes that stand on it (NCCL, cuBLASLt) */
#ifndef OSP_FAKE_LIBCUDA_H
#define OSP_FAKE_LIBCUDA_H

#define FAKE_CUDA_WORDS "ONESPINE_FAKE_CUDA"

/* Exported by the fake libcuda: lets virtual time pass on a stream (NULL: of the current context);
 * which GPU of the node a stream belongs to. */
typedef void (*fake_cuda_pass_ns)(void *stream, double ns);
typedef int (*fake_cuda_gpu_of)(void *stream);

#endif
