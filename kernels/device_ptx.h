/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device_ptx.h - device.h for a GPU */
#ifndef OSP_DEVICE_PTX_H
#define OSP_DEVICE_PTX_H

#define DEVICE	      static __device__ __forceinline__
#define DEVICE_CALLED extern "C" __device__ __noinline__
#define KERNEL(name)  extern "C" __global__ void __launch_bounds__(OSP_THREADS) name

DEVICE uint64_t osp_thread(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

DEVICE uint64_t osp_threads(void)
{
	return (uint64_t)gridDim.x * blockDim.x;
}

DEVICE uint32_t osp_thread_of_block(void)
{
	return threadIdx.x;
}

DEVICE uint32_t osp_sm(void)
{
	uint32_t sm;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}

DEVICE struct osp_word osp_load(uint64_t at)
{
	struct osp_word word;

	asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(word.part[0]), "=r"(word.part[1]), "=r"(word.part[2]),
		       "=r"(word.part[3])
		     : "l"(at));
	return word;
}

DEVICE void osp_store(uint64_t at, struct osp_word word)
{
	asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(word.part[0]),
		     "r"(word.part[1]), "r"(word.part[2]), "r"(word.part[3])
		     : "memory");
}

DEVICE void osp_barrier(void)
{
	__syncthreads();
}

extern __shared__ struct osp_word osp_shared_words[];

DEVICE volatile struct osp_word *osp_shared(void)
{
	return osp_shared_words;
}

DEVICE uint32_t osp_add(uint32_t *word, uint32_t value)
{
	return atomicAdd(word, value);
}

DEVICE void osp_set(uint32_t *word, uint32_t bits)
{
	atomicOr(word, bits);
}

DEVICE uint64_t osp_computed(uint64_t result)
{
	return result;
}

DEVICE uint64_t osp_bits_of_double(double value)
{
	return (uint64_t)__double_as_longlong(value);
}

DEVICE void osp_mma_fp16(float d[4], const uint32_t a[2], const uint32_t b[1])
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
		     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

#if __CUDA_ARCH__ >= 800
DEVICE void osp_mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
		     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

DEVICE void osp_mma_tf32(float d[4], const uint32_t a[4], const uint32_t b[2])
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
		     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

DEVICE void osp_mma_fp64(double d[2], double a, double b)
{
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
		     "{%0, %1}, {%2}, {%3}, {%0, %1};"
		     : "+d"(d[0]), "+d"(d[1])
		     : "d"(a), "d"(b));
}
#endif

#if __CUDA_ARCH__ >= 890
DEVICE void osp_mma_fp8(float d[4], const uint32_t a[4], const uint32_t b[2])
{
	asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
		     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

#endif
