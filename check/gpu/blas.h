/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blas.h - NVIDIA's library of matrix products, cuBLASLt, loaded at run time
 *
 * Opened by name and never linked. Numbers and layouts are those of its binary interface
 * (cublasLt.h of CUDA 11 to 13). A node may have several libraries: the newest that knows the GPU
 * and that the driver runs is taken. One thread.
 */
#ifndef OSP_BLAS_H
#define OSP_BLAS_H

#include <stddef.h>
#include <stdint.h>

#include "check/gpu/cuda.h"

#define OSP_BLAS_COMPUTE_32F	       68
#define OSP_BLAS_REAL_32F	       0
#define OSP_BLAS_REAL_16F	       2
#define OSP_BLAS_REAL_16BF	       14
#define OSP_BLAS_DESCRIPTION_TRANSPOSE 3
#define OSP_BLAS_PREFERENCE_WORKSPACE  1
#define OSP_BLAS_PREFERENCE_REDUCTION  3
#define OSP_BLAS_REDUCTION_COMPUTE     2 /* sums of parts along K, in their 32 bits */
#define OSP_BLAS_TRANSPOSED	       1

/* The oldest CUDA release whose cuBLASLt has measured a limit (tests/gpu/results): an older one may
 * choose slower kernels. */
#define OSP_BLAS_MEASURED_CUDA 13000

struct osp_blas_algorithm {
	uint64_t data[8];
};

struct osp_blas_heuristic {
	struct osp_blas_algorithm algorithm;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

/* name here, the library's name, parameters */
#define OSP_BLAS_CALLS(X)                                                                          \
	X(create, "cublasLtCreate", (void **handle))                                               \
	X(describe, "cublasLtMatmulDescCreate", (void **description, int compute, int scale))      \
	X(set, "cublasLtMatmulDescSetAttribute",                                                   \
	  (void *description, int attribute, const void *value, size_t bytes))                     \
	X(lay_out, "cublasLtMatrixLayoutCreate",                                                   \
	  (void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading))             \
	X(prefer, "cublasLtMatmulPreferenceCreate", (void **preference))                           \
	X(prefer_set, "cublasLtMatmulPreferenceSetAttribute",                                      \
	  (void *preference, int attribute, const void *value, size_t bytes))                      \
	X(choose, "cublasLtMatmulAlgoGetHeuristic",                                                \
	  (void *handle, void *description, void *a, void *b, void *c, void *d, void *preference,  \
	   int most, struct osp_blas_heuristic *found, int *count))                                \
	X(multiply, "cublasLtMatmul",                                                              \
	  (void *handle, void *description, const void *alpha, const void *a, void *a_layout,      \
	   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,         \
	   void *d, void *d_layout, const struct osp_blas_algorithm *algorithm, void *workspace,   \
	   size_t workspace_bytes, osp_cuda_stream stream))

#define OSP_BLAS_POINTER(name, symbol, parameters) int(*name) parameters;
struct osp_blas {
	OSP_BLAS_CALLS(OSP_BLAS_POINTER)
	int cuda; /* the CUDA release of the library: 12080 for 12.8 */
};
#undef OSP_BLAS_POINTER

/*
 * Fills `blas` with the newest library here that knows a GPU of `capability` (10 * major + minor)
 * and that a `driver` (cuDriverGetVersion()) of the same or a later major release runs. Returns
 * NULL, or why there is none, in `why`.
 */
const char *osp_blas_load(struct osp_blas *blas, int capability, int driver, char *why,
			  size_t why_bytes);

/*
 * Returns the CUDA release whose cuBLASLt was the first to know GPUs of this capability (CUDA
 * Toolkit release notes: 11.0 for 8.0, 11.1 for 8.6, 11.8 for 8.9 and 9.0, 12.8 for 10.0 and 12.0,
 * 12.9 for 10.3 and 12.1, 13.0 for 11.0); 0 for any other capability.
 */
int osp_blas_first(int capability);

#endif
