/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_cpu.h - kernels/device.h for a CPU: kernels run as they stand, one block after the other
 *
 * Each thread of a block is a fiber, so barriers and the operations of a whole warp work as on a
 * GPU. What is moved and computed is counted (cpu.h), from which the fake driver makes its time;
 * faults of an SM are injected here.
 */
#ifndef OSP_DEVICE_CPU_H
#define OSP_DEVICE_CPU_H

#include <string.h>

#define DEVICE	      static inline __attribute__((unused))
#define DEVICE_CALLED static __attribute__((unused))
#define KERNEL(name)                                                                               \
	void name(struct osp_work work);                                                           \
	void name

/* Who runs at the moment, and what was done; cpu.c keeps them. */
struct fake_cpu {
	uint32_t block;
	uint32_t thread; /* of the block */
	uint32_t blocks;
	uint32_t threads; /* of a block */
	uint32_t sm;
	uint64_t loaded_bytes;
	uint64_t stored_bytes;
	uint64_t products; /* multiplications of the tensor cores, weighted by format */
	int spoil_arithmetic;
	int spoil_tensor;
	int spoil_shared;
};
extern struct fake_cpu fake_cpu;

void fake_barrier(void);
volatile struct osp_word *fake_shared(void);

/* Waits for the whole warp, multiplies once, and goes on: a, b and d as PTX lays them out. */
void fake_mma(int format, void *d, const void *a, const void *b);

DEVICE uint64_t osp_thread(void)
{
	return (uint64_t)fake_cpu.block * fake_cpu.threads + fake_cpu.thread;
}

DEVICE uint64_t osp_threads(void)
{
	return (uint64_t)fake_cpu.blocks * fake_cpu.threads;
}

DEVICE uint32_t osp_thread_of_block(void)
{
	return fake_cpu.thread;
}

DEVICE uint32_t osp_sm(void)
{
	return fake_cpu.sm;
}

DEVICE struct osp_word osp_load(uint64_t at)
{
	struct osp_word word;

	memcpy(&word, (const void *)at, sizeof(word));
	fake_cpu.loaded_bytes += sizeof(word);
	return word;
}

DEVICE void osp_store(uint64_t at, struct osp_word word)
{
	memcpy((void *)at, &word, sizeof(word));
	fake_cpu.stored_bytes += sizeof(word);
}

DEVICE void osp_barrier(void)
{
	fake_barrier();
}

DEVICE volatile struct osp_word *osp_shared(void)
{
	return fake_shared();
}

DEVICE uint32_t osp_add(uint32_t *word, uint32_t value)
{
	uint32_t old = *word;

	*word += value;
	return old;
}

DEVICE void osp_set(uint32_t *word, uint32_t bits)
{
	*word |= bits;
}

DEVICE uint64_t osp_computed(uint64_t result)
{
	return fake_cpu.spoil_arithmetic ? result ^ 0x10000 : result;
}

DEVICE uint64_t osp_bits_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#define FAKE_MMA(name, format, number, operand)                                                    \
	DEVICE void name(number *d, const operand *a, const operand *b)                            \
	{                                                                                          \
		fake_mma(format, d, a, b);                                                         \
	}
FAKE_MMA(osp_mma_fp16, OSP_FP16, float, uint32_t)
FAKE_MMA(osp_mma_bf16, OSP_BF16, float, uint32_t)
FAKE_MMA(osp_mma_tf32, OSP_TF32, float, uint32_t)
FAKE_MMA(osp_mma_fp8, OSP_FP8, float, uint32_t)

DEVICE void osp_mma_fp64(double d[2], double a, double b)
{
	fake_mma(OSP_FP64, d, &a, &b);
}

#endif
