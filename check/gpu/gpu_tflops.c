/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_tflops.c - matrix products by NVIDIA's own library, if it can be loaded: fast enough, and
 * identical to the bit each time?
 */
#include "check/gpu/active.h"

#include <stdio.h>

#include "check/gpu/blas.h"
#include "check/gpu/gpu.h"

#define SIDE_MOST     OSP_FACTOR_SIDE_MOST
#define SIDE_LEAST    256
#define ELEMENT_BYTES 2
#define LAUNCHES      4		     /* timed together, each with a product of its own */
#define PARTS	      (4 + LAUNCHES) /* parts of memory: two factors, room, the first product */

struct product {
	struct osp_check_context *context;
	const struct osp_gpu_session *session;
	struct osp_blas blas;
	void *handle;
	void *description;
	void *layout;
	struct osp_blas_heuristic chosen;
	osp_cuda_memory a, b, workspace, first, products[LAUNCHES];
	size_t bytes; /* size of each part */
	unsigned int compared;
	uint64_t side;
	int type;
};

static bool right(struct product *product, int status, const char *what)
{
	if (status == 0)
		return true;
	product->context->spoilt = true;
	osp_result_error(product->context, product->session->unit->subject, "%s: cuBLAS status %d",
			 what, status);
	return false;
}

static bool prepare(struct product *product)
{
	const struct osp_blas *blas = &product->blas;
	void *preference;
	int transposed = OSP_BLAS_TRANSPOSED, count = 0;
	/* never in the product's own 16 bits, where the order of the sum would matter */
	uint32_t reduction = OSP_BLAS_REDUCTION_COMPUTE;

	if (!right(product, blas->create(&product->handle), "cublasLtCreate") ||
	    !right(product,
		   blas->describe(&product->description, OSP_BLAS_COMPUTE_32F, OSP_BLAS_REAL_32F),
		   "cublasLtMatmulDescCreate") ||
	    !right(product,
		   blas->set(product->description, OSP_BLAS_DESCRIPTION_TRANSPOSE, &transposed,
			     sizeof(transposed)),
		   "cublasLtMatmulDescSetAttribute") ||
	    !right(product,
		   blas->lay_out(&product->layout, product->type, product->side, product->side,
				 (int64_t)product->side),
		   "cublasLtMatrixLayoutCreate") ||
	    !right(product, blas->prefer(&preference), "cublasLtMatmulPreferenceCreate") ||
	    !right(product,
		   blas->prefer_set(preference, OSP_BLAS_PREFERENCE_WORKSPACE, &product->bytes,
				    sizeof(product->bytes)),
		   "cublasLtMatmulPreferenceSetAttribute") ||
	    !right(product,
		   blas->prefer_set(preference, OSP_BLAS_PREFERENCE_REDUCTION, &reduction,
				    sizeof(reduction)),
		   "cublasLtMatmulPreferenceSetAttribute") ||
	    !right(product,
		   blas->choose(product->handle, product->description, product->layout,
				product->layout, product->layout, product->layout, preference, 1,
				&product->chosen, &count),
		   "cublasLtMatmulAlgoGetHeuristic"))
		return false;
	if (count > 0)
		return true;
	osp_result_skip(product->context, "cuBLASLt has no algorithm for this GPU");
	return false;
}

static bool multiply(struct product *product, osp_cuda_memory to)
{
	static const float one = 1, nothing = 0;

	return right(product,
		     product->blas.multiply(product->handle, product->description, &one,
					    (const void *)(uintptr_t)product->a, product->layout,
					    (const void *)(uintptr_t)product->b, product->layout,
					    &nothing, (const void *)(uintptr_t)to, product->layout,
					    (void *)(uintptr_t)to, product->layout,
					    &product->chosen.algorithm,
					    (void *)(uintptr_t)product->workspace, product->bytes,
					    product->session->stream),
		     "cublasLtMatmul");
}

static bool time_products(struct product *product, double *best_tflops)
{
	double side = (double)product->side, elapsed_ms, tflops;

	if (!osp_gpu_clock_begin(product->context, product->session))
		return false;
	for (int i = 0; i < LAUNCHES; i++)
		if (!multiply(product, product->products[i]))
			return false;
	if (!osp_gpu_clock_end(product->context, product->session, &elapsed_ms))
		return false;
	tflops = elapsed_ms > 0 ? 2 * side * side * side * LAUNCHES / elapsed_ms / 1e9 : 0;
	*best_tflops = tflops > *best_tflops ? tflops : *best_tflops;
	return true;
}

/* --- are they right? -------------------------------------------------------------------------- */

static bool launch(struct product *product, const char *name, const struct osp_work *work)
{
	const struct osp_gpu_session *session = product->session;
	osp_cuda_function kernel = osp_gpu_kernel(session, name);
	unsigned int blocks = kernel ? osp_gpu_blocks(product->context, session, kernel, 0) : 0;

	if (!kernel)
		osp_result_error(product->context, session->unit->subject, "the image %s lacks %s",
				 session->image, name);
	return blocks && osp_gpu_launch(product->context, session, kernel, blocks, 0, work);
}

static bool compare(struct product *product, osp_cuda_memory one, osp_cuda_memory other,
		    size_t bytes)
{
	struct osp_work work = {.at = one, .other = other, .count = bytes / OSP_WORD_BYTES_GPU};

	return launch(product, "osp_product_compare", &work);
}

/* Reports wrong words. If more than half of all words differ, no few units are at fault, and the
 * cause is unknown. */
static void report_wrong(struct product *product, const struct osp_report *report, const char *what)
{
	const struct osp_wrong *wrong = &report->wrong[0];
	const char *subject = product->session->unit->subject;

	if (report->count > product->bytes / sizeof(uint64_t) / 2) {
		osp_result_error(product->context, subject,
				 "%s: %u words differ, too many to be the GPU's fault", what,
				 report->count);
		return;
	}
	osp_result_add(product->context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, subject,
		       "products wrong", NULL, NULL,
		       "%s: %s: at byte %llu 0x%016llx, not 0x%016llx; %u words in all",
		       product->session->unit->uuid, what, (unsigned long long)wrong->at,
		       (unsigned long long)wrong->found, (unsigned long long)wrong->expected,
		       report->count);
}

/* Returns false if anything was reported. */
static bool all_alike(struct product *product, const char *what)
{
	struct osp_report report;

	if (!osp_gpu_read_report(product->context, product->session, &report))
		return false;
	if (report.count)
		report_wrong(product, &report, what);
	return !report.count;
}

/* Compares the halves of the first product, which different SMs have computed. */
static bool compare_halves(struct product *product)
{
	size_t half = product->bytes / 2;

	return osp_gpu_clear_report(product->context, product->session) &&
	       multiply(product, product->first) &&
	       compare(product, product->first, product->first + half, half) &&
	       all_alike(product, "the halves of a product of matrices with equal halves differ");
}

static bool compare_products(struct product *product)
{
	for (int i = 0; i < LAUNCHES; i++)
		if (!compare(product, product->first, product->products[i], product->bytes))
			return false;
	product->compared += LAUNCHES;
	return all_alike(product, "products of the same matrices differ");
}

/* Names the library in `doubt` if it is older than those that measured a limit. */
static const char *doubt_of(const struct product *product, char *doubt, size_t bytes)
{
	int cuda = product->blas.cuda, measured = OSP_BLAS_MEASURED_CUDA;

	*doubt = '\0';
	if (cuda < measured)
		snprintf(doubt, bytes, "its cuBLASLt is of CUDA %d.%d, the limit of %d.%d",
			 cuda / 1000, cuda % 1000 / 10, measured / 1000, measured % 1000 / 10);
	return doubt;
}

/* Runs products until the time is up. The first round warms up and does not count. */
static void run_products(struct product *product)
{
	uint64_t until_ms = osp_now_ms() + product->context->slice_ms;
	bool bf16 = product->type == OSP_BLAS_REAL_16BF;
	double warming = 0, best = 0;
	char doubt[OSP_WORD_BYTES];

	if (!prepare(product) || !compare_halves(product) || !time_products(product, &warming) ||
	    !compare_products(product))
		return;
	do {
		if (!time_products(product, &best) || !compare_products(product))
			return;
	} while (osp_now_ms() < until_ms);
	osp_result_add(product->context, OSP_VERDICT_PASS, OSP_CURE_NONE,
		       product->session->unit->subject, "exact", NULL, NULL,
		       "%u products of %llu by %llu alike to the bit", product->compared,
		       (unsigned long long)product->side, (unsigned long long)product->side);
	osp_result_speed_doubted(product->context, doubt_of(product, doubt, sizeof(doubt)),
				 bf16 ? "bf16" : "fp16", best, "TFLOPS",
				 bf16 ? OSP_LIMIT_BF16_TFLOPS : OSP_LIMIT_COUNT,
				 bf16 ? OSP_LIMIT_BF16_PEAK_TFLOPS : OSP_LIMIT_COUNT);
}

static bool fill(struct product *product, osp_cuda_memory at, uint64_t factor)
{
	struct osp_work work = {.at = at,
				.count = product->bytes / OSP_WORD_BYTES_GPU,
				.seed = factor,
				.turn = product->type == OSP_BLAS_REAL_16F,
				.first = (uint32_t)product->side};

	return launch(product, "osp_product_fill", &work);
}

static bool lay_out_memory(struct product *product, const struct osp_gpu_pieces *pieces)
{
	osp_cuda_memory parts[PARTS];

	for (product->side = SIDE_MOST; product->side > SIDE_LEAST; product->side /= 2)
		if (product->side * product->side * ELEMENT_BYTES * PARTS <= pieces->bytes[0])
			break;
	product->bytes = product->side * product->side * ELEMENT_BYTES;
	if (product->bytes * PARTS > pieces->bytes[0]) {
		osp_result_skip(product->context, "too little memory is free");
		return false;
	}
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = pieces->at[0] + i * product->bytes;
	product->a = parts[0];
	product->b = parts[1];
	product->workspace = parts[2];
	product->first = parts[3];
	for (size_t i = 0; i < LAUNCHES; i++)
		product->products[i] = parts[4 + i];
	return fill(product, product->a, 0) && fill(product, product->b, 1);
}

static void run_tflops(struct osp_check_context *context)
{
	static const size_t most_bytes = (size_t)SIDE_MOST * SIDE_MOST * ELEMENT_BYTES * PARTS;
	struct product product = {.context = context};
	struct osp_gpu_pieces pieces;
	char why[OSP_WHY_BYTES];

	product.session = osp_gpu_begin(context);
	if (!product.session)
		return;
	if (osp_blas_load(&product.blas, product.session->capability, product.session->driver, why,
			  sizeof(why))) {
		osp_result_skip(context, "%s: the check tensor measures without it", why);
		return;
	}
	product.type = product.session->capability >= 80 ? OSP_BLAS_REAL_16BF : OSP_BLAS_REAL_16F;
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
	.library_kernels = true,
	.behind = OSP_LIMIT_COMPUTE_BEHIND_PERCENT,
	.deadline_ms = 20000, /* to load the library, which is large */
	.deadline_least_ms = 10000,
	.share = 10,
	.measures =
		"matrix products by cuBLASLt are alike to the bit, and as fast as the model and "
		"its peers",
	.explains =
		"Products of two bf16 matrices of up to 8192 by 8192 (fp16 where there is no "
		"bf16) by libcublasLt, where the node has it in the linker's path; skipped where "
		"not. The matrices hold whole numbers so small that every sum is exact in any "
		"order: each product is compared with the first, and the halves of the first with "
		"each other, which other SMs compute. So the instructions that training uses "
		"(wgmma on Hopper, tcgen05 on Blackwell) are checked at full power. The speed is "
		"the best of several times, by the GPU's own clock.",
	.cures = "Products wrong: replace the GPU. Slow: look at throttle and temperature first.",
	.run = run_tflops,
};
