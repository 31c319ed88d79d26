/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensor.cu - products of matrices by the tensor cores, compared exactly
 *
 * Each warp multiplies one of OSP_TILES pairs of matrices over and over: OSP_CHUNKS instructions
 * along K, OSP_REPEATS times, then every value of D must be the whole number that the host
 * computed. Warps and launches go through the tiles, so every SM computes each of them. Fragments
 * are laid out as the PTX manual says of each shape: lane = 4 * group + member.
 */
#include "kernels/device.h"

#define GROUP  (osp_lane() / 4)
#define MEMBER (osp_lane() % 4)

/* Whole numbers: a sum beyond 2^31 would be a fault of its own. */
DEVICE void osp_tile_compare(const struct osp_work *work, uint32_t tile, uint32_t row,
			     uint32_t column, double value)
{
	const int32_t *expected = (const int32_t *)work->expected;
	uint32_t at = row * OSP_TILE_N + column;
	int64_t should = (int64_t)expected[tile * OSP_TILE_VALUES + at] * OSP_REPEATS;

	if (value != (double)should)
		osp_report_wrong(work, at, (uint64_t)should, osp_bits_of_double(value), tile);
}

DEVICE void osp_tile_compare_all(const struct osp_work *work, uint32_t tile, const float d[4])
{
	for (uint32_t i = 0; i < 4; i++)
		osp_tile_compare(work, tile, GROUP + i / 2 * 8, MEMBER * 2 + i % 2, (double)d[i]);
}

/* `per` elements of one matrix side by side along K, from `k` on, in one register. Called, not
 * inlined: it runs but once a warp and would fill the module. */
DEVICE_CALLED uint32_t osp_fragment(uint32_t matrix, uint32_t tile, uint32_t line, uint32_t k,
			     uint32_t per, int most, uint32_t exponent_bits, uint32_t fraction_bits)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < per; i++)
		bits |= osp_encode(osp_element(matrix, tile, line, k + i, most), exponent_bits,
				   fraction_bits)
			<< (32 / per * i);
	return bits;
}

/*
 * The kernel of a format: registers of A and B an instruction, elements a register, K of an
 * instruction, and how large an element may be. Register r of A holds row GROUP + 8 * (r % 2) and
 * the K half r / 2, of B the K half r.
 */
#define TENSOR_KERNEL(name, mma, a_count, b_count, per, k_count, most, exponent_bits,              \
		      fraction_bits)                                                               \
	KERNEL(name)(struct osp_work work)                                                         \
	{                                                                                          \
		uint32_t tile = (osp_warp() + work.first) % OSP_TILES;                             \
		uint32_t a[OSP_CHUNKS][a_count], b[OSP_CHUNKS][b_count];                           \
                                                                                                   \
		for (uint32_t c = 0; c < OSP_CHUNKS; c++) {                                        \
			uint32_t k = c * (k_count) + MEMBER * (per);                               \
                                                                                                   \
			for (uint32_t r = 0; r < (a_count); r++)                                   \
				a[c][r] = osp_fragment(0, tile, GROUP + r % 2 * 8,                 \
						       k + r / 2 * (k_count) / 2, per, most,       \
						       exponent_bits, fraction_bits);              \
			for (uint32_t r = 0; r < (b_count); r++)                                   \
				b[c][r] = osp_fragment(1, tile, GROUP, k + r * (k_count) / 2, per, \
						       most, exponent_bits, fraction_bits);        \
		}                                                                                  \
		for (uint32_t round = 0; round < work.rounds; round++) {                           \
			float d[4] = {0, 0, 0, 0};                                                 \
                                                                                                   \
			for (uint32_t i = 0; i < OSP_REPEATS; i++)                                 \
				for (uint32_t c = 0; c < OSP_CHUNKS; c++)                          \
					mma(d, a[c], b[c]);                                        \
			osp_tile_compare_all(&work, tile, d);                                      \
		}                                                                                  \
		osp_report_seen(&work);                                                            \
	}

TENSOR_KERNEL(osp_tensor_fp16, osp_mma_fp16, 2, 1, 2, 8, 127, 5, 10)

#if !defined(__CUDACC__) || __CUDA_ARCH__ >= 800
TENSOR_KERNEL(osp_tensor_bf16, osp_mma_bf16, 4, 2, 2, 16, 127, 8, 7)
TENSOR_KERNEL(osp_tensor_tf32, osp_mma_tf32, 4, 2, 1, 8, 127, 8, 23)

/* One row of A and one column of B a lane; D has 8 rows. */
KERNEL(osp_tensor_fp64)(struct osp_work work)
{
	uint32_t tile = (osp_warp() + work.first) % OSP_TILES;
	double a[OSP_CHUNKS], b[OSP_CHUNKS];

	for (uint32_t c = 0; c < OSP_CHUNKS; c++) {
		a[c] = osp_element(0, tile, GROUP, c * 4 + MEMBER, 4095);
		b[c] = osp_element(1, tile, GROUP, c * 4 + MEMBER, 4095);
	}
	for (uint32_t round = 0; round < work.rounds; round++) {
		double d[2] = {0, 0};

		for (uint32_t i = 0; i < OSP_REPEATS; i++)
			for (uint32_t c = 0; c < OSP_CHUNKS; c++)
				osp_mma_fp64(d, a[c], b[c]);
		for (uint32_t i = 0; i < 2; i++)
			osp_tile_compare(&work, tile, GROUP, MEMBER * 2 + i, d[i]);
	}
	osp_report_seen(&work);
}
#endif

#if !defined(__CUDACC__) || __CUDA_ARCH__ >= 890
TENSOR_KERNEL(osp_tensor_fp8, osp_mma_fp8, 4, 2, 4, 32, 2, 4, 3)
#endif
