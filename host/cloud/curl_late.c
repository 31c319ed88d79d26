/* SPDX-License-Identifier: GPL-2.0-or-later */
/* curl_late.c - loads libcurl */
#include "host/cloud/curl_late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct osp_curl calls;
static char why[256]; /* empty: it is loaded */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Finds each function. Returns the name of one that is missing, or NULL. */
static const char *find_calls(void *library)
{
	/* ISO C has no conversion from an object's pointer to a function's; POSIX does. */
#define FIND(name, type, parameters)                                                               \
	*(void **)&calls.name = dlsym(library, "curl_" #name);                                     \
	if (!calls.name)                                                                           \
		return "curl_" #name;
	OSP_CURL_CALLS(FIND)
#undef FIND
	return NULL;
}

static void load(void)
{
	void *library = dlopen(OSP_CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *missing = library ? find_calls(library) : NULL;

	if (!library)
		snprintf(why, sizeof(why), "EC2 is asked over libcurl: %.200s", dlerror());
	else if (missing)
		snprintf(why, sizeof(why), OSP_CURL_LIBRARY " lacks %s", missing);
	else if (calls.global_init(CURL_GLOBAL_DEFAULT))
		snprintf(why, sizeof(why), OSP_CURL_LIBRARY " cannot begin");
}

const struct osp_curl *osp_curl_load(struct osp_error *error)
{
	pthread_once(&once, load);
	if (!why[0])
		return &calls;
	osp_error_set(error, "%s", why);
	return NULL;
}
