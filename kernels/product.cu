/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * product.cu - the factors of a library's matrix products, and its products compared
 *
 * Factors are whole numbers so small that every sum is exact in 32-bit accumulators, whatever the
 * order, so two products of the same factors are alike to the bit. Factors repeat after half a side,
 * along rows and along columns, so the two halves of a product in memory are alike too, though other
 * SMs compute them.
 */
#include "kernels/device.h"

/* A square matrix of work.first elements a side, of 2 bytes each: bf16, or fp16 where work.turn is
 * set. work.seed says which factor. */
KERNEL(osp_product_fill)(struct osp_work work)
{
	uint32_t exponent_bits = work.turn ? 5 : 8, side = work.first;

	for (uint64_t i = osp_thread(); i < work.count; i += osp_threads()) {
		uint64_t element = i * 8;
		struct osp_word word;

		for (uint32_t part = 0; part < 4; part++, element += 2)
			word.part[part] =
				osp_factor_bits((uint32_t)work.seed, element, side, exponent_bits) |
				osp_factor_bits((uint32_t)work.seed, element + 1, side,
						exponent_bits)
					<< 16;
		osp_store(work.at + i * OSP_WORD_BYTES_GPU, word);
	}
}

/* What is at work.at is at work.other too. */
KERNEL(osp_product_compare)(struct osp_work work)
{
	for (uint64_t i = osp_thread(); i < work.count; i += osp_threads())
		osp_compare(&work, i, osp_load(work.at + i * OSP_WORD_BYTES_GPU),
			    osp_load(work.other + i * OSP_WORD_BYTES_GPU));
}
