/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blas.c - NVIDIA's library of matrix products, cuBLASLt, loaded at run time */
#include "check/gpu/blas.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Returns the first CUDA release whose library has code for such a GPU: a library has none for a
 * GPU that its own release's compiler does not know. The first release of each target: PTX ISA,
 * "Release History", with which LLVM's NVPTX.td agrees (llvm-project#156857: sm_75 with PTX 6.3,
 * sm_80 7.0, sm_86 7.1, sm_89 and sm_90 7.8, sm_100 8.6, sm_120 8.7, sm_103 and sm_121 8.8, sm_110
 * 9.0; PTX 7.8 came with CUDA 11.8, 8.7 with 12.8, 8.8 with 12.9). NVIDIA's release notes are at
 * docs.nvidia.com/cuda/archive/RELEASE. Nothing is known about a capability that is not listed, so
 * any library is tried.
 */
int osp_blas_first(int capability)
{
	static const struct {
		int capability;
		int cuda;
	} first[] = {
		{75, 10000},  {80, 11000},  {86, 11010},  {89, 11080},	{90, 11080},
		{100, 12080}, {103, 12090}, {110, 13000}, {120, 12080}, {121, 12090},
	};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (first[i].capability == capability)
			return first[i].cuda;
	return 0;
}

/* Asks a library for its CUDA release, because its own version numbers differ from CUDA's. */
static int release_of(void *library)
{
	size_t (*release)(void);

	/* ISO C has no conversion from an object's pointer to a function's; POSIX does. */
	*(void **)&release = dlsym(library, "cublasLtGetCudartVersion");
	return release ? (int)release() : 0;
}

static const char *find_calls(struct osp_blas *blas, void *library)
{
#define FIND_CALL(name, symbol, parameters)                                                        \
	*(void **)&blas->name = dlsym(library, symbol);                                            \
	if (!blas->name)                                                                           \
		return symbol;
	OSP_BLAS_CALLS(FIND_CALL)
#undef FIND_CALL
	return NULL;
}

/* Returns whether the library can be used here. If not, `why` says why. */
static bool fits(struct osp_blas *blas, void *library, int capability, int driver, const char *name,
		 char *why, size_t why_bytes)
{
	int first = osp_blas_first(capability);
	const char *lacking;

	blas->cuda = release_of(library);
	lacking = find_calls(blas, library);
	if (lacking)
		snprintf(why, why_bytes, "%s lacks %s", name, lacking);
	else if (blas->cuda < first)
		snprintf(why, why_bytes,
			 "%s is of CUDA %d.%d, and GPUs of sm_%d need that of %d.%d or newer", name,
			 blas->cuda / 1000, blas->cuda % 1000 / 10, capability, first / 1000,
			 first % 1000 / 10);
	else if (blas->cuda / 1000 > driver / 1000)
		snprintf(why, why_bytes, "%s is of CUDA %d.%d, and the driver of %d.%d", name,
			 blas->cuda / 1000, blas->cuda % 1000 / 10, driver / 1000,
			 driver % 1000 / 10);
	else
		return true;
	return false;
}

const char *osp_blas_load(struct osp_blas *blas, int capability, int driver, char *why,
			  size_t why_bytes)
{
	static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
					    "libcublasLt.so.11"};

	snprintf(why, why_bytes, "libcublasLt is not on this node");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (!library)
			continue;
		if (fits(blas, library, capability, driver, names[i], why, why_bytes))
			return NULL;
		dlclose(library);
	}
	return why;
}
