/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_tflops.c - the peak of matrix products, by NVIDIA's own library where it can be loaded */
#include "check/active.h"

#include <dlfcn.h>
#include <stdio.h>

#include "check/gpu.h"

#define SIDE_MOST  8192
#define SIDE_LEAST 256
#define LAUNCHES   4 /* timed together */

/* Numbers and layouts of cuBLASLt's binary interface (cublasLt.h of CUDA 11 to 13). */
#define COMPUTE_32F	      68
#define REAL_32F	      0
#define REAL_16F	      2
#define REAL_16BF	      14
#define DESCRIPTION_TRANSPOSE 3
#define PREFERENCE_WORKSPACE  1
#define TRANSPOSED	      1

struct algorithm {
	uint64_t data[8];
};

struct heuristic {
	struct algorithm algorithm;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

/* name here, the library's, parameters */
#define BLAS_CALLS(X)                                                                              \
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
	   int most, struct heuristic *found, int *count))                                         \
	X(multiply, "cublasLtMatmul",                                                              \
	  (void *handle, void *description, const void *alpha, const void *a, void *a_layout,      \
	   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,         \
	   void *d, void *d_layout, const struct algorithm *algorithm, void *workspace,            \
	   size_t workspace_bytes, osp_cuda_stream stream))

#define POINTER(name, symbol, parameters) int(*name) parameters;
struct blas {
	BLAS_CALLS(POINTER)
};
#undef POINTER

struct product {
	struct osp_check_context *context;
	const struct osp_gpu_session *session;
	struct blas blas;
	void *handle;
	void *description;
	void *layout;
	struct heuristic chosen;
	osp_cuda_memory a, b, d, workspace;
	size_t workspace_bytes;
	uint64_t side;
	int type;
};

/* NULL when every function is there, else why not. */
static const char *load_blas(struct blas *blas)
{
	static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
					    "libcublasLt.so.11"};
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return "libcublasLt is not on this node";
#define FIND_CALL(name, symbol, parameters)                                                        \
	*(void **)&blas->name = dlsym(library, symbol);                                            \
	if (!blas->name)                                                                           \
		return "libcublasLt lacks " symbol;
	BLAS_CALLS(FIND_CALL)
#undef FIND_CALL
	return NULL;
}

static bool right(struct product *product, int status, const char *what)
{
	if (status == 0)
		return true;
	product->context->spoilt = true;
	osp_tell_error(product->context, product->session->unit->subject, "%s: cuBLAS status %d",
		       what, status);
	return false;
}

static bool prepare(struct product *product)
{
	const struct blas *blas = &product->blas;
	void *preference;
	int transposed = TRANSPOSED, count = 0;

	if (!right(product, blas->create(&product->handle), "cublasLtCreate") ||
	    !right(product, blas->describe(&product->description, COMPUTE_32F, REAL_32F),
		   "cublasLtMatmulDescCreate") ||
	    !right(product,
		   blas->set(product->description, DESCRIPTION_TRANSPOSE, &transposed,
			     sizeof(transposed)),
		   "cublasLtMatmulDescSetAttribute") ||
	    !right(product,
		   blas->lay_out(&product->layout, product->type, product->side, product->side,
				 (int64_t)product->side),
		   "cublasLtMatrixLayoutCreate") ||
	    !right(product, blas->prefer(&preference), "cublasLtMatmulPreferenceCreate") ||
	    !right(product,
		   blas->prefer_set(preference, PREFERENCE_WORKSPACE, &product->workspace_bytes,
				    sizeof(product->workspace_bytes)),
		   "cublasLtMatmulPreferenceSetAttribute") ||
	    !right(product,
		   blas->choose(product->handle, product->description, product->layout,
				product->layout, product->layout, product->layout, preference, 1,
				&product->chosen, &count),
		   "cublasLtMatmulAlgoGetHeuristic"))
		return false;
	if (count > 0)
		return true;
	osp_tell_skip(product->context, "cuBLASLt has no algorithm for this GPU");
	return false;
}

static bool multiply(struct product *product)
{
	static const float one = 1, nothing = 0;

	return right(product,
		     product->blas.multiply(product->handle, product->description, &one,
					    (const void *)(uintptr_t)product->a, product->layout,
					    (const void *)(uintptr_t)product->b, product->layout,
					    &nothing, (const void *)(uintptr_t)product->d,
					    product->layout, (void *)(uintptr_t)product->d,
					    product->layout, &product->chosen.algorithm,
					    (void *)(uintptr_t)product->workspace,
					    product->workspace_bytes, product->session->stream),
		     "cublasLtMatmul");
}

static bool time_products(struct product *product, double *best_tflops)
{
	double side = (double)product->side, elapsed_ms, tflops;

	if (!osp_gpu_clock_begin(product->context, product->session))
		return false;
	for (int i = 0; i < LAUNCHES; i++)
		if (!multiply(product))
			return false;
	if (!osp_gpu_clock_end(product->context, product->session, &elapsed_ms))
		return false;
	tflops = elapsed_ms > 0 ? 2 * side * side * side * LAUNCHES / elapsed_ms / 1e9 : 0;
	*best_tflops = tflops > *best_tflops ? tflops : *best_tflops;
	return true;
}

/* The first time warms up and does not count. */
static void run_products(struct product *product)
{
	uint64_t until_ms = osp_now_ms() + product->context->slice_ms;
	bool bf16 = product->type == REAL_16BF;
	double warming = 0, best = 0;

	if (!prepare(product) || !time_products(product, &warming))
		return;
	do {
		if (!time_products(product, &best))
			return;
	} while (osp_now_ms() < until_ms);
	osp_tell_speed(product->context, NULL, bf16 ? "bf16" : "fp16", best, "TFLOPS",
		       bf16 ? OSP_LIMIT_BF16_TFLOPS : OSP_LIMIT_COUNT,
		       bf16 ? OSP_LIMIT_BF16_PEAK_TFLOPS : OSP_LIMIT_COUNT);
}

/* Three matrices, and a fourth part to work in; numbers of many bits draw the power that real ones
 * do. */
static bool lay_out_memory(struct product *product, const struct osp_gpu_pieces *pieces)
{
	osp_cuda_function write = osp_gpu_kernel(product->session, "osp_memory_write");
	struct osp_work work = {.at = pieces->at[0], .seed = 5};
	size_t bytes;

	for (product->side = SIDE_MOST; product->side > SIDE_LEAST; product->side /= 2)
		if (product->side * product->side * 2 * 4 <= pieces->bytes[0])
			break;
	bytes = product->side * product->side * 2;
	if (bytes * 4 > pieces->bytes[0]) {
		osp_tell_skip(product->context, "too little memory is free");
		return false;
	}
	product->a = pieces->at[0];
	product->b = product->a + bytes;
	product->d = product->b + bytes;
	product->workspace = product->d + bytes;
	product->workspace_bytes = bytes;
	work.count = 2 * bytes / OSP_WORD_BYTES_GPU;
	return write && osp_gpu_launch(product->context, product->session, write,
				       (unsigned int)product->session->sms, 0, &work);
}

static void run_tflops(struct osp_check_context *context)
{
	static const size_t most_bytes = (size_t)SIDE_MOST * SIDE_MOST * 2 * 4;
	struct product product = {.context = context};
	struct osp_gpu_pieces pieces;
	const char *why;

	product.session = osp_gpu_begin(context);
	if (!product.session)
		return;
	why = load_blas(&product.blas);
	if (why) {
		osp_tell_skip(context, "%s: the check tensor measures without it", why);
		return;
	}
	product.type = product.session->capability >= 80 ? REAL_16BF : REAL_16F;
	if (!osp_gpu_take(context, product.session, most_bytes, most_bytes, &pieces))
		return;
	if (lay_out_memory(&product, &pieces))
		run_products(&product);
	if (!context->spoilt)
		osp_gpu_give_back(&pieces);
}

const struct osp_check osp_check_tflops = {
	.name = "tflops",
	.depth = OSP_DEPTH_QUICK,
	.group = OSP_GROUP_EACH_GPU,
	.worst = OSP_VERDICT_FAIL,
	.slow_cure = OSP_CURE_REPLACE,
	.deadline_ms = 20000, /* the library is large */
	.share = 10,
	.measures = "matrix products by cuBLASLt are as fast as the model and its peers",
	.explains = "A product of two bf16 matrices of up to 8192 by 8192 (fp16 where there is no "
		    "bf16) by "
		    "libcublasLt, where the node has it in the linker's path; skipped where not. "
		    "The best of "
		    "several times, by the GPU's own clock. What it computes is not compared: that "
		    "does the "
		    "check tensor.",
	.cures = "Look at throttle and temperature; replace the GPU.",
	.run = run_tflops,
};
