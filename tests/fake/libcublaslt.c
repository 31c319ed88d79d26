/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcublaslt.c - a libcublasLt on the fake libcuda: it lets the time of a product pass
 *
 * Its file's name says of which CUDA it is: libcublasLt.so.12 of 12.8, others of N.0, unless
 * "blas12=11070" says otherwise. One that is older than the GPU has no algorithm worth the name, as
 * the real one: a fiftieth of the speed; one newer than the driver answers nothing but errors.
 * ONESPINE_FAKE_CUDA (words.h): "gpuN.blas=P", or "blas=P" of all, per cent of the healthy speed,
 * and hangs, crashes and errors of its calls.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdint.h>

#include "check/gpu/blas.h"

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

static long reported(const char *key, long healthy)
{
	long value;

	return fake_word(FAKE_CUDA_WORDS, key, &value) ? value : healthy;
}

/* The CUDA release that this library is of. */
static long release(void)
{
	char word[32];
	Dl_info self;
	long major = 12;

	if (dladdr(&side, &self) && strstr(self.dli_fname, ".so."))
		major = strtol(strstr(self.dli_fname, ".so.") + 4, NULL, 10);
	snprintf(word, sizeof(word), "blas%ld", major);
	return reported(word, major == 12 ? 12080 : major * 1000);
}

/* Calls: no header declares them, as in cuBLASLt's users. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT size_t cublasLtGetCudartVersion(void)
{
	fake_entered(FAKE_CUDA_WORDS, __func__); /* may hang or crash */
	return (size_t)release();
}

EXPORT int cublasLtCreate(void **handle)
{
	ENTER();
	*handle = &side;
	return release() / 1000 > reported("driver", 12080) / 1000 ? 1 : 0;
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
	if (attribute == 3) /* sums of parts in the 32 bits of the sums alone */
		return bytes == 4 && *(const uint32_t *)value == 2 ? 0 : 7;
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

/* A number of all elements of a column, none of which may be a NaN or infinite: what such a product
 * is says nothing of a GPU. */
static uint16_t mixed_column(const uint16_t *column)
{
	uint32_t mixed = 2166136261u;

	for (uint64_t i = 0; i < side; i++) {
		if ((column[i] & 0x7f80) == 0x7f80)
			abort();
		mixed = (mixed ^ column[i]) * 16777619u;
	}
	return (uint16_t)(mixed >> 8);
}

/*
 * What stands for a product: each element is made of one column of A and one of B alone, as in one
 * of A transposed and B, so that equal columns make equal elements; which number it is means
 * nothing.
 */
static void make_product(uint16_t *d, const uint16_t *a, const uint16_t *b)
{
	uint16_t *of_a = malloc(side * sizeof(*of_a));

	if (!of_a)
		abort();
	for (uint64_t row = 0; row < side; row++)
		of_a[row] = mixed_column(a + row * side);
	for (uint64_t column = 0; column < side; column++) {
		uint16_t of_b = mixed_column(b + column * side);

		for (uint64_t row = 0; row < side; row++)
			d[column * side + row] = (uint16_t)(of_a[row] + of_b);
	}
	free(of_a);
}

/* "gpuN.blas_flip=K": a bit of the K-th product; "gpuN.blas_sm": of each, in the same place;
 * "gpuN.blas_random": every product is another. */
static void spoil(uint16_t *d, int gpu)
{
	static unsigned int products;
	char word[32];
	long value;

	products++;
	snprintf(word, sizeof(word), "gpu%d.blas_flip", gpu);
	if (fake_word(FAKE_CUDA_WORDS, word, &value) && products == (unsigned int)value)
		d[side * 3 + 5] ^= 1;
	snprintf(word, sizeof(word), "gpu%d.blas_sm", gpu);
	if (fake_word(FAKE_CUDA_WORDS, word, &value))
		d[7] ^= 0x10;
	snprintf(word, sizeof(word), "gpu%d.blas_random", gpu);
	for (uint64_t i = 0; fake_word(FAKE_CUDA_WORDS, word, &value) && i < side * side; i++)
		d[i] = (uint16_t)(d[i] + products);
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
	fake_word(FAKE_CUDA_WORDS, "blas", &percent);
	fake_word(FAKE_CUDA_WORDS, word, &percent);
	make_product(d, a, b);
	spoil(d, gpu_of(stream));
	if (release() < osp_blas_first((int)reported("capability", 90)))
		percent = 2;
	pass_ns(stream, operations / (TFLOPS * 1e3 * (double)percent / 100));
	return 0;
}
