/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.c - the kernels on the CPU
 *
 * A block's threads are fibers that run in turn; each goes on until it ends or waits for the others
 * of its block or warp. Products of matrices are taken apart and put together here from the
 * fragments' layout as the PTX manual gives it, without any code of the kernels'.
 */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fake/cpu.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Tests of faults compute for minutes here. A library's own flags stand before CFLAGS. */
#ifndef __clang__
#pragma GCC optimize("O3")
#endif

#include "kernels/all.cu"

#define STACK_BYTES  (64 * 1024)
#define SHARED_BYTES (256 * 1024)
#define LANES	     32

struct fake_cpu fake_cpu;

/* --- fibers ----------------------------------------------------------------------------------- */

enum fiber_state { RUNS, AT_BARRIER, AT_WARP, ENDED };

static struct fiber {
	ucontext_t start;
	jmp_buf here;
	bool started;
	enum fiber_state state;
	/* of an operation of its warp */
	int format;
	void *d;
	const void *a, *b;
} fibers[OSP_THREADS];

static jmp_buf scheduler;
static fake_kernel kernel_now;
static struct osp_work work_now;
static struct osp_word shared[SHARED_BYTES / sizeof(struct osp_word)];

static void give_way(enum fiber_state state)
{
	struct fiber *fiber = &fibers[fake_cpu.thread];

	fiber->state = state;
	if (_setjmp(fiber->here) == 0)
		_longjmp(scheduler, 1);
}

/* A thread of one block after the other: started once, since plain jumps cost no system call. */
static void fiber_main(void)
{
	for (;;) {
		kernel_now(work_now);
		give_way(ENDED);
	}
}

static void run_fiber(uint32_t thread)
{
	struct fiber *fiber = &fibers[thread];

	fake_cpu.thread = thread;
	if (_setjmp(scheduler))
		return;
	if (fiber->started)
		_longjmp(fiber->here, 1);
	fiber->started = true;
	setcontext(&fiber->start);
}

void *fake_memory(size_t bytes)
{
	int file = memfd_create(FAKE_MEMORY_NAME, MFD_CLOEXEC);
	void *memory;

	if (file < 0 || ftruncate(file, (off_t)bytes) < 0)
		abort();
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void make_fibers(void)
{
	char *stacks = fake_memory((size_t)OSP_THREADS * STACK_BYTES);

	for (uint32_t i = 0; i < OSP_THREADS; i++) {
		getcontext(&fibers[i].start);
		fibers[i].start.uc_stack.ss_sp = stacks + i * STACK_BYTES;
		fibers[i].start.uc_stack.ss_size = STACK_BYTES;
		makecontext(&fibers[i].start, fiber_main, 0);
	}
}

void fake_barrier(void)
{
	give_way(AT_BARRIER);
}

volatile struct osp_word *fake_shared(void)
{
	return shared;
}

/* --- products of matrices --------------------------------------------------------------------- */

/* A normal floating-point number of the format, or 0, from its bits: put into those of a double. */
static double decode(uint32_t bits, int exponent_bits, int fraction_bits)
{
	uint64_t sign = bits >> (exponent_bits + fraction_bits) & 1;
	uint64_t exponent = bits >> fraction_bits & ((1u << exponent_bits) - 1);
	uint64_t fraction = bits & ((1u << fraction_bits) - 1);
	uint64_t bias = (1u << (exponent_bits - 1)) - 1;
	uint64_t wide = sign << 63;
	double value;

	if (exponent)
		wide |= (exponent - bias + 1023) << 52 | fraction << (52 - fraction_bits);
	else if (fraction)
		abort(); /* no kernel of ours makes one so small */
	memcpy(&value, &wide, sizeof(value));
	return value;
}

static const struct shape {
	int k;
	int per; /* elements a register */
	int exponent_bits;
	int fraction_bits;
	uint64_t cost; /* of one product, in those of fp8 */
} shapes[] = {
	[OSP_FP16] = {8, 2, 5, 10, 2}, [OSP_BF16] = {16, 2, 8, 7, 2}, [OSP_TF32] = {8, 1, 8, 23, 4},
	[OSP_FP8] = {32, 4, 4, 3, 1},  [OSP_FP64] = {4, 1, 0, 0, 30},
};

static double element(const struct shape *shape, const void *registers, int number, int index)
{
	uint32_t word = ((const uint32_t *)registers)[number];
	int bits = 32 / shape->per;

	if (bits < 32)
		word = word >> (bits * index) & ((1u << bits) - 1);
	return decode(word, shape->exponent_bits, shape->fraction_bits);
}

/* D[row][column] += A[row][k] * B[k][column], of the 32 fibers from `warp` on. */
static void multiply_tiles(struct fiber *warp, const struct shape *shape)
{
	double a[16][32], b[32][8];
	int halves = shape->k / (4 * shape->per); /* along K: of A's registers in two rows each */

	for (int lane = 0; lane < LANES; lane++)
		for (int half = 0; half < halves; half++)
			for (int i = 0; i < shape->per; i++) {
				int k = half * shape->k / halves + lane % 4 * shape->per + i;

				a[lane / 4][k] = element(shape, warp[lane].a, half * 2, i);
				a[lane / 4 + 8][k] = element(shape, warp[lane].a, half * 2 + 1, i);
				b[k][lane / 4] = element(shape, warp[lane].b, half, i);
			}
	for (int lane = 0; lane < LANES; lane++)
		for (int i = 0; i < 4; i++) {
			float *d = (float *)warp[lane].d + i;
			int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
			double sum = (double)*d;

			for (int k = 0; k < shape->k; k++)
				sum += a[row][k] * b[k][column];
			*d = (float)sum;
		}
	fake_cpu.products += (uint64_t)16 * 8 * (uint64_t)shape->k * shape->cost;
}

static void multiply_doubles(struct fiber *warp)
{
	for (int lane = 0; lane < LANES; lane++)
		for (int i = 0; i < 2; i++) {
			double *d = (double *)warp[lane].d + i;
			int column = lane % 4 * 2 + i;

			for (int k = 0; k < 4; k++)
				*d += *(const double *)warp[lane / 4 * 4 + k].a *
				      *(const double *)warp[column * 4 + k].b;
		}
	fake_cpu.products += 8 * 8 * 4 * shapes[OSP_FP64].cost;
}

static void multiply(struct fiber *warp)
{
	if (warp->format == OSP_FP64)
		multiply_doubles(warp);
	else
		multiply_tiles(warp, &shapes[warp->format]);
	if (fake_cpu.spoil_tensor) { /* the lowest bit of one value */
		uint32_t *bits = warp[5].d;

		bits[warp->format == OSP_FP64] ^= 0x100;
	}
}

void fake_mma(int format, void *d, const void *a, const void *b)
{
	struct fiber *fiber = &fibers[fake_cpu.thread];

	fiber->format = format;
	fiber->d = d;
	fiber->a = a;
	fiber->b = b;
	give_way(AT_WARP);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool all_are(uint32_t from, uint32_t count, enum fiber_state state)
{
	for (uint32_t i = from; i < from + count; i++)
		if (fibers[i].state != state)
			return false;
	return true;
}

static void go_on(uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++)
		fibers[i].state = RUNS;
}

/* A warp whose lanes wait for each other goes on at once. */
static void run_warp(uint32_t first)
{
	for (;;) {
		for (uint32_t i = first; i < first + LANES; i++)
			if (fibers[i].state == RUNS)
				run_fiber(i);
		if (!all_are(first, LANES, AT_WARP))
			return;
		multiply(&fibers[first]);
		go_on(first, LANES);
	}
}

static void run_block(size_t shared_bytes)
{
	go_on(0, OSP_THREADS);
	memset(shared, 0xee, shared_bytes);
	do {
		for (uint32_t i = 0; i < OSP_THREADS; i += LANES)
			run_warp(i);
		if (fake_cpu.spoil_shared)
			shared[shared_bytes / 2 / sizeof(*shared)].part[1] |= 0x20;
		if (all_are(0, OSP_THREADS, AT_BARRIER))
			go_on(0, OSP_THREADS);
	} while (!all_are(0, OSP_THREADS, ENDED));
}

void fake_run(fake_kernel kernel, const struct osp_work *work, uint32_t blocks, size_t shared_bytes,
	      uint32_t sms, const struct fake_broken_sm *broken, struct fake_done *done)
{
	if (!kernel_now)
		make_fibers();
	kernel_now = kernel;
	work_now = *work;
	memset(&fake_cpu, 0, sizeof(fake_cpu));
	fake_cpu.blocks = blocks;
	fake_cpu.threads = OSP_THREADS;
	if (shared_bytes > sizeof(shared))
		abort();
	for (uint32_t block = 0; block < blocks; block++) {
		fake_cpu.block = block;
		fake_cpu.sm = block % sms;
		fake_cpu.spoil_arithmetic = (int)fake_cpu.sm == broken->arithmetic;
		fake_cpu.spoil_tensor = (int)fake_cpu.sm == broken->tensor;
		fake_cpu.spoil_shared = (int)fake_cpu.sm == broken->shared;
		run_block(shared_bytes);
	}
	done->loaded_bytes = fake_cpu.loaded_bytes;
	done->stored_bytes = fake_cpu.stored_bytes;
	done->products = fake_cpu.products;
}

fake_kernel fake_kernel_find(const char *name)
{
	static const struct {
		const char *name;
		fake_kernel kernel;
	} kernels[] = {
		{"osp_memory_write", osp_memory_write},
		{"osp_memory_check", osp_memory_check},
		{"osp_memory_read", osp_memory_read},
		{"osp_memory_fill", osp_memory_fill},
		{"osp_product_fill", osp_product_fill},
		{"osp_product_compare", osp_product_compare},
		{"osp_memory_copy", osp_memory_copy},
		{"osp_sm_arithmetic", osp_sm_arithmetic},
		{"osp_sm_shared", osp_sm_shared},
		{"osp_tensor_fp16", osp_tensor_fp16},
		{"osp_tensor_bf16", osp_tensor_bf16},
		{"osp_tensor_tf32", osp_tensor_tf32},
		{"osp_tensor_fp8", osp_tensor_fp8},
		{"osp_tensor_fp64", osp_tensor_fp64},
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (strcmp(kernels[i].name, name) == 0)
			return kernels[i].kernel;
	return NULL;
}
