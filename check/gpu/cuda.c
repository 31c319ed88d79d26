/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cuda.c - the CUDA driver's interface, loaded at run time */
#include "check/gpu/cuda.h"

#include <dlfcn.h>
#include <stdio.h>

/* One pointer a function, found by osp_cuda_load(), and the call through it. */
#define DEFINE(name, symbol, parameters, arguments)                                                \
	static int(*found_##name) parameters;                                                      \
	int osp_cuda_##name parameters                                                             \
	{                                                                                          \
		return found_##name ? found_##name arguments : OSP_CUDA_NO_FUNCTION;               \
	}
OSP_CUDA_CALLS(DEFINE)
#undef DEFINE

const char *osp_cuda_load(void)
{
	static void *library;
	static char why[256];
	const char *reported;

	if (library)
		return NULL;
	library = dlopen(OSP_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		reported = dlerror();
		snprintf(why, sizeof(why), "%s", reported ? reported : "cannot be loaded");
		return why;
	}
	/* ISO C has no conversion from an object's pointer to a function's; POSIX does. */
#define FIND_CALL(name, symbol, parameters, arguments)                                             \
	*(void **)&found_##name = dlsym(library, symbol);
	OSP_CUDA_CALLS(FIND_CALL)
#undef FIND_CALL
	return NULL;
}

const char *osp_cuda_words(int result)
{
	static char words[96];
	const char *name = NULL;

	if (result == OSP_CUDA_NO_FUNCTION)
		return "no such function in this driver";
	if (osp_cuda_error_name(result, &name) != OSP_CUDA_OK || !name)
		name = "error";
	snprintf(words, sizeof(words), "%s (%d)", name, result);
	return words;
}
