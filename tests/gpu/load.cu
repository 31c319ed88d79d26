/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.cu - what users do to a GPU while it is checked, for tests/gpu/hostile
 *
 * Needs nvcc, and a driver that takes sm_75 or newer. Prints what CUDA answers, a line each,
 * and "ready" once it does what it is for.
 *
 *	load busy SECONDS	computes on every SM
 *	load copy SECONDS	copies from pinned memory to the GPU
 *	load full SECONDS MIB	takes the GPU's memory but for MIB
 *	load address | misaligned | assert | trap
 *				has a kernel break in that way: the driver prints an XID
 *	load forever		has a kernel that does not end
 */
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <cuda_runtime.h>

#define SAY(call)                                                                                  \
	do {                                                                                       \
		printf("%s: %s\n", #call, cudaGetErrorString(call));                               \
		fflush(stdout);                                                                    \
	} while (0)

using seconds = std::chrono::duration<double>;

static __global__ void compute(float *x)
{
	float sum = x[threadIdx.x];

	for (int i = 0; i < 20000; i++)
		sum = sum * 1.0001f + 0.5f;
	x[threadIdx.x] = sum;
}

static __global__ void write_elsewhere(int *x)
{
	x[(1L << 42) + threadIdx.x] = 1;
}

static __global__ void write_misaligned(char *x)
{
	*reinterpret_cast<int *>(x + 1) = 1;
}

static __global__ void break_assertion(int x)
{
	assert(x == 0);
}

static __global__ void trap()
{
	asm volatile("trap;");
}

static __global__ void spin(volatile int *x)
{
	while (*x == 0)
		;
}

static void say_ready()
{
	puts("ready");
	fflush(stdout);
}

static bool before(std::chrono::steady_clock::time_point begin, double end_s)
{
	return seconds(std::chrono::steady_clock::now() - begin).count() < end_s;
}

static void be_busy(float *x, double end_s)
{
	auto begin = std::chrono::steady_clock::now();

	say_ready();
	for (int i = 0; before(begin, end_s); i++) {
		compute<<<2112, 512>>>(x);
		if (i % 8 == 0)
			cudaDeviceSynchronize();
	}
	SAY(cudaDeviceSynchronize());
}

static void copy(double end_s)
{
	auto begin = std::chrono::steady_clock::now();
	const size_t bytes = size_t(1) << 30;
	void *host, *there;

	SAY(cudaMallocHost(&host, bytes));
	SAY(cudaMalloc(&there, bytes));
	say_ready();
	while (before(begin, end_s))
		cudaMemcpy(there, host, bytes, cudaMemcpyHostToDevice);
}

static void fill(double end_s, size_t leave_mib)
{
	size_t free_bytes = 0, all_bytes = 0;
	void *piece;

	for (size_t mib : {1024, 64, 8})
		while (!cudaMemGetInfo(&free_bytes, &all_bytes) &&
		       free_bytes >= (mib + leave_mib) << 20 && !cudaMalloc(&piece, mib << 20))
			;
	printf("%zu MiB free of %zu\n", free_bytes >> 20, all_bytes >> 20);
	say_ready();
	std::this_thread::sleep_for(seconds(end_s));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double end_s = argc > 2 ? atof(argv[2]) : 5;
	void *x;

	SAY(cudaMalloc(&x, 1 << 20));
	SAY(cudaMemset(x, 0, 1 << 20));
	if (strcmp(what, "busy") == 0)
		be_busy(static_cast<float *>(x), end_s);
	else if (strcmp(what, "copy") == 0)
		copy(end_s);
	else if (strcmp(what, "full") == 0)
		fill(end_s, argc > 3 ? strtoul(argv[3], nullptr, 10) : 200);
	else if (strcmp(what, "address") == 0)
		write_elsewhere<<<1, 32>>>(static_cast<int *>(x));
	else if (strcmp(what, "misaligned") == 0)
		write_misaligned<<<1, 1>>>(static_cast<char *>(x));
	else if (strcmp(what, "assert") == 0)
		break_assertion<<<1, 1>>>(1);
	else if (strcmp(what, "trap") == 0)
		trap<<<1, 1>>>();
	else if (strcmp(what, "forever") == 0)
		spin<<<1, 1>>>(static_cast<int *>(x));
	else
		return 2;
	say_ready();
	SAY(cudaDeviceSynchronize());
	return 0;
}
