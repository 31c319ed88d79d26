/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcublaslt.c - a libcublasLt.so.13 on the fake libcuda: it lets the time of a product pass
 *
 * Computes nothing. ONESPINE_FAKE_CUDA (words.h): "gpuN.blas=P" per cent of the healthy speed, and
 * hangs, crashes and errors of its calls.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "tests/fake/libcuda.h"
#include "tests/fake/words.h"

#define EXPORT __attribute__((visibility("default")))
#define TFLOPS 800.0

static uint64_t side;

#define ENTER()                                                                                    \
	do {                                                                                       \
		int state_ = fake_entered(FAKE_CUDA_WORDS, __func__);                              \
		if (state_)                                                                        \
			return state_;                                                             \
	} while (0)

static void *of_cuda(const char *symbol)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = library ? dlsym(library, symbol) : NULL;

	if (!function)
		abort();
	return function;
}

/* Calls: no header declares them, as in cuBLASLt's users. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT int cublasLtCreate(void **handle)
{
	ENTER();
	*handle = &side;
	return 0;
}

EXPORT int cublasLtMatmulDescCreate(void **description, int compute, int scale)
{
	ENTER();
	*description = &side;
	return compute == 68 && scale == 0 ? 0 : 7;
}

EXPORT int cublasLtMatmulDescSetAttribute(void *description, int attribute, const void *value,
					  size_t bytes)
{
	ENTER();
	(void)description;
	return attribute == 3 && bytes == 4 && *(const int *)value == 1 ? 0 : 7;
}

EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
				      int64_t leading)
{
	ENTER();
	*layout = &side;
	side = rows;
	return (type == 14 || type == 2) && rows == columns && (uint64_t)leading == rows ? 0 : 7;
}

EXPORT int cublasLtMatmulPreferenceCreate(void **preference)
{
	ENTER();
	*preference = &side;
	return 0;
}

EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
						size_t bytes)
{
	ENTER();
	(void)preference;
	return attribute == 1 && bytes == sizeof(size_t) && *(const size_t *)value ? 0 : 7;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, void *description, void *a, void *b,
					  void *c, void *d, void *preference, int most, void *found,
					  int *count)
{
	ENTER();
	(void)handle, (void)description, (void)a, (void)b, (void)c, (void)d, (void)preference;
	memset(found, 0, 96);
	*count = most;
	return 0;
}

EXPORT int cublasLtMatmul(void *handle, void *description, const void *alpha, const void *a,
			  void *a_layout, const void *b, void *b_layout, const void *beta,
			  const void *c, void *c_layout, void *d, void *d_layout,
			  const void *algorithm, void *workspace, size_t workspace_bytes,
			  void *stream)
{
	fake_cuda_pass_ns pass_ns;
	fake_cuda_gpu_of gpu_of;
	double operations = 2.0 * (double)side * (double)side * (double)side;
	long percent = 100;
	char word[32];

	ENTER();
	(void)handle, (void)description, (void)alpha, (void)a, (void)a_layout, (void)b;
	(void)b_layout, (void)beta, (void)c, (void)c_layout, (void)d, (void)d_layout;
	(void)algorithm, (void)workspace, (void)workspace_bytes;
	*(void **)&pass_ns = of_cuda("onespine_fake_pass_ns");
	*(void **)&gpu_of = of_cuda("onespine_fake_gpu_of");
	snprintf(word, sizeof(word), "gpu%d.blas", gpu_of(stream));
	fake_told(FAKE_CUDA_WORDS, word, &percent);
	pass_ns(stream, operations / (TFLOPS * 1e3 * (double)percent / 100));
	return 0;
}
