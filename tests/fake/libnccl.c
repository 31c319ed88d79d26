/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libnccl.c - a libnccl.so.2 on the fake libcuda: all-reduce of whole numbers
 *
 * ONESPINE_FAKE_CUDA (words.h): "nccl=P" per cent of the healthy speed, "nccl_flip=N" a bit of what
 * arrives on the N-th GPU is spoilt, "nccl_without=N" the N-th brings nothing; hangs, crashes and
 * errors of its calls.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "tests/fake/libcuda.h"
#include "tests/fake/words.h"

#define EXPORT	 __attribute__((visibility("default")))
#define RANKS	 64
#define BUS_GBPS 470.0

static int ranks[RANKS];
static int rank_count;
static struct {
	const uint32_t *from;
	uint32_t *to;
	size_t count;
	void *stream;
} calls[RANKS];
static int call_count;

#define ENTER()                                                                                    \
	do {                                                                                       \
		int state_ = fake_entered(FAKE_CUDA_WORDS, __func__);                              \
		if (state_)                                                                        \
			return state_;                                                             \
	} while (0)

static long told(const char *key, long healthy)
{
	long value;

	return fake_told(FAKE_CUDA_WORDS, key, &value) ? value : healthy;
}

static void pass_ns(void *stream, double ns)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	fake_cuda_pass_ns function;

	*(void **)&function = library ? dlsym(library, "onespine_fake_pass_ns") : NULL;
	if (!function)
		abort();
	function(stream, ns);
}

/* Calls: no header declares them, as in NCCL's users. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT int ncclCommInitAll(void **communicators, int count, const int *devices)
{
	ENTER();
	if (count > RANKS)
		return 4;
	rank_count = count;
	for (int i = 0; i < count; i++) {
		ranks[i] = devices[i];
		communicators[i] = &ranks[i];
	}
	return 0;
}

EXPORT const char *ncclGetErrorString(int result)
{
	fake_entered(FAKE_CUDA_WORDS, __func__);
	return result == 2 ? "unhandled system error" : "internal error";
}

EXPORT int ncclGroupStart(void)
{
	ENTER();
	call_count = 0;
	return 0;
}

EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
			 void *communicator, void *stream)
{
	int rank = (int)((int *)communicator - ranks);

	ENTER();
	if (type != 2 || operation != 0 || rank != call_count || rank >= rank_count)
		return 4;
	calls[rank].from = from;
	calls[rank].to = to;
	calls[rank].count = count;
	calls[rank].stream = stream;
	call_count++;
	return 0;
}

EXPORT int ncclGroupEnd(void)
{
	long flip = told("nccl_flip", -1), without = told("nccl_without", -1);
	double speed = BUS_GBPS * (double)told("nccl", 100) / 100, n = rank_count;

	ENTER();
	for (size_t word = 0; word < calls[0].count; word++) {
		uint32_t sum = 0;

		for (int i = 0; i < rank_count; i++)
			sum += i == without ? 0 : calls[i].from[word];
		for (int i = 0; i < rank_count; i++)
			calls[i].to[word] = sum;
	}
	if (flip >= 0 && flip < rank_count)
		calls[flip].to[calls[0].count / 2] ^= 0x40;
	for (int i = 0; i < rank_count; i++)
		pass_ns(calls[i].stream, (double)calls[i].count * 4 * 2 * (n - 1) / n / speed);
	return 0;
}
