/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nccl.c - NCCL's interface, loaded at run time */
#include "check/gpu/nccl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

static const char *(*words_of)(int result);

/* One pointer a function, found by osp_nccl_load(), and the call through it. */
#define DEFINE(name, symbol, parameters, arguments)                                                \
	static int(*found_##name) parameters;                                                      \
	int osp_nccl_##name parameters                                                             \
	{                                                                                          \
		return found_##name arguments;                                                     \
	}
OSP_NCCL_CALLS(DEFINE)
#undef DEFINE

const char *osp_nccl_load(void)
{
	static void *library;
	static bool lacking;

	if (!library) {
		library = dlopen(OSP_NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return OSP_NCCL_LIBRARY " is not on this node";
		*(void **)&words_of = dlsym(library, "ncclGetErrorString");
		lacking = !words_of;
#define FIND_CALL(name, symbol, parameters, arguments)                                             \
	*(void **)&found_##name = dlsym(library, symbol);                                          \
	lacking = lacking || !found_##name;
		OSP_NCCL_CALLS(FIND_CALL)
#undef FIND_CALL
	}
	return lacking ? OSP_NCCL_LIBRARY " lacks a function" : NULL;
}

const char *osp_nccl_words(int result)
{
	static char words[128];

	snprintf(words, sizeof(words), "%.100s (%d)", words_of(result), result);
	return words;
}
