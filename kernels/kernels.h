/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels.h - what the kernels and the program that starts them share
 *
 * Every kernel takes one struct osp_work by value and says what it found in a struct osp_report on
 * the GPU. The functions here are compiled for both sides, so what a GPU must find is what the host
 * computes. Plain C that is C++ too; integers alone, or floating-point numbers that hold integers
 * exactly.
 */
#ifndef OSP_KERNELS_H
#define OSP_KERNELS_H

#include <stdint.h>

#ifdef __CUDACC__
#define OSP_BOTH static __device__ __forceinline__
#else
#define OSP_BOTH static inline
#endif

#define OSP_SMS_MAX	   1024
#define OSP_WRONG_KEPT	   8
#define OSP_THREADS	   256 /* of a block, for every kernel */
#define OSP_WORD_BYTES_GPU 16  /* what a thread loads and stores at once */

/* One thing found wrong. */
struct osp_wrong {
	uint64_t at; /* byte offset in the buffer, thread, or 8 * row + column of a tile */
	uint64_t expected;
	uint64_t found;
	uint32_t sm;
	uint32_t tile;
};

struct osp_report {
	uint32_t count; /* all that was wrong, of which the first are kept */
	uint32_t unused;
	uint32_t seen[OSP_SMS_MAX / 32]; /* a bit for each SM that computed */
	struct osp_wrong wrong[OSP_WRONG_KEPT];
};

struct osp_work {
	uint64_t at;	   /* buffer, by its address on the GPU */
	uint64_t other;	   /* a second one */
	uint64_t expected; /* what must come out */
	uint64_t report;   /* struct osp_report */
	uint64_t count;	   /* words of 16 bytes, or steps */
	uint64_t seed;
	uint32_t inverted; /* all bits */
	uint32_t turn;	   /* memory check: leave the inverted pattern behind; product: fp16 */
	uint32_t rounds;   /* tensor: how often the products are added up and compared */
	uint32_t first;	   /* tensor: the first tile; product: elements a side */
};

/* --- memory ----------------------------------------------------------------------------------- */

/* A number that no other index has, with its bits well mixed (SplitMix64's finaliser): a wrong
 * address line shows as surely as a wrong bit. */
OSP_BOTH uint64_t osp_pattern(uint64_t index, uint64_t seed)
{
	uint64_t mixed = index + seed * 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
	return mixed ^ (mixed >> 31);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

struct osp_chain {
	uint32_t word;
	uint64_t number;
	float single_;
	double double_;
};

OSP_BOTH void osp_chain_begin(struct osp_chain *chain, uint32_t thread, uint64_t seed)
{
	uint64_t start = osp_pattern(thread, seed);

	chain->word = (uint32_t)start;
	chain->number = start;
	chain->single_ = (float)(start & 0x3ff);
	chain->double_ = (double)(start & 0xffffff);
}

/* One step: products and sums of integers, and of floating-point numbers that stay below 2^24 and
 * 2^53, so exact whatever the order. */
OSP_BOTH void osp_chain_step(struct osp_chain *chain, uint32_t step)
{
	chain->word = chain->word * 1664525u + 1013904223u;
	chain->number = chain->number * 6364136223846793005u + chain->word;
	chain->single_ = chain->single_ * 1019.0f + (float)(step & 0xffff);
	chain->single_ = (float)((uint32_t)chain->single_ & 0x3fff);
	chain->double_ = chain->double_ * 16777213.0 + (double)(step & 0xffff);
	chain->double_ = (double)((uint64_t)chain->double_ & 0xffffff);
	chain->number ^= (uint64_t)(uint32_t)chain->single_ << 40;
	chain->word ^= (uint32_t)chain->double_;
}

OSP_BOTH uint64_t osp_chain_result(const struct osp_chain *chain)
{
	return chain->number ^ chain->word;
}

/* --- tensor cores ----------------------------------------------------------------------------- */

/*
 * D = A * B for tiles of 16 rows and 8 columns, in OSP_CHUNKS instructions along K, added up
 * OSP_REPEATS times: whole numbers so small that no sum leaves what the format's accumulator holds
 * exactly, in any order. 32-bit accumulators hold 2^24; that of fp8 on some GPUs has but some 14
 * bits, so its numbers are smaller.
 */
#define OSP_TILES	16
#define OSP_TILE_M	16
#define OSP_TILE_N	8
#define OSP_CHUNKS	4
#define OSP_REPEATS	16
#define OSP_TILE_VALUES (OSP_TILE_M * OSP_TILE_N)

enum osp_format { OSP_FP16, OSP_BF16, OSP_TF32, OSP_FP8, OSP_FP64, OSP_FORMAT_COUNT };

/* An element of A (row of M, position along K) or B (column of N, position along K): a whole number
 * from -most to most. */
OSP_BOTH int osp_element(uint32_t matrix, uint32_t tile, uint32_t line, uint32_t k, int most)
{
	uint64_t mixed = osp_pattern((uint64_t)k << 32 | line << 16 | tile << 1 | matrix, 77);

	return (int)(mixed % (uint64_t)(2 * most + 1)) - most;
}

/* The bits of a whole number in a floating-point format; it must be representable. */
OSP_BOTH uint32_t osp_encode(int value, uint32_t exponent_bits, uint32_t fraction_bits)
{
	uint32_t magnitude = (uint32_t)(value < 0 ? -value : value), power = 0;
	uint32_t bias = (1u << (exponent_bits - 1)) - 1, fraction;

	if (!magnitude)
		return 0;
	while (magnitude >> (power + 1))
		power++;
	fraction = magnitude ^ 1u << power;
	fraction = power <= fraction_bits ? fraction << (fraction_bits - power)
					  : fraction >> (power - fraction_bits);
	return (value < 0 ? 1u << (exponent_bits + fraction_bits) : 0) |
	       (bias + power) << fraction_bits | fraction;
}

/* --- a library's products --------------------------------------------------------------------- */

/*
 * Sums of OSP_FACTOR_SIDE_MOST products stay below 2^24, which 32-bit accumulators hold exactly,
 * and those of fp16's 11 bits are rounded in one way alone.
 */
#define OSP_FACTOR_MOST	     15
#define OSP_FACTOR_SIDE_MOST 8192

/* The bits of an element, by its place in memory, of a factor: bf16 (8 exponent bits) or fp16 (5).
 * The side is a power of two; elements repeat after half of it, along rows and along columns. */
OSP_BOTH uint32_t osp_factor_bits(uint32_t factor, uint64_t element, uint32_t side,
				  uint32_t exponent_bits)
{
	uint64_t row = element & (side / 2 - 1), column = element / side & (side / 2 - 1);
	uint64_t mixed = osp_pattern(column << 32 | row << 1 | factor, 78);

	return osp_encode((int)(mixed % (2 * OSP_FACTOR_MOST + 1)) - OSP_FACTOR_MOST, exponent_bits,
			  15 - exponent_bits);
}

#endif
