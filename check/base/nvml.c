/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml.c - NVIDIA's management library, loaded at run time */
#include "check/base/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

/* One pointer a function, set by osp_nvml_load(), and the call through it. */
#define DEFINE(name, symbol, other, parameters, arguments)                                         \
	static int(*found_##name) parameters;                                                      \
	int osp_nvml_##name parameters                                                             \
	{                                                                                          \
		return found_##name ? found_##name arguments : OSP_NVML_NO_FUNCTION;               \
	}
OSP_NVML_CALLS(DEFINE)
#undef DEFINE

static void *find(void *library, const char *symbol, const char *other)
{
	void *function = dlsym(library, symbol);

	return function || !other ? function : dlsym(library, other);
}

/* Returns the name of a missing function without which GPUs cannot be distinguished; NULL if none
 * is missing. */
static const char *lacking(void)
{
	return !found_init    ? "nvmlInit"
	       : !found_count ? "nvmlDeviceGetCount"
	       : !found_open  ? "nvmlDeviceGetHandleByIndex"
	       : !found_pci   ? "nvmlDeviceGetPciInfo"
	       : !found_uuid  ? "nvmlDeviceGetUUID"
			      : NULL;
}

const char *osp_nvml_load(void)
{
	static void *library;
	static char why[256];
	const char *reported;

	if (library)
		return NULL;
	library = dlopen(OSP_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		reported = dlerror();
		snprintf(why, sizeof(why), "%s", reported ? reported : "cannot be loaded");
		return why;
	}
	/* ISO C has no conversion from an object's pointer to a function's; POSIX does. */
#define FIND(name, symbol, other, parameters, arguments)                                           \
	*(void **)&found_##name = find(library, symbol, other);
	OSP_NVML_CALLS(FIND)
#undef FIND
	if (lacking()) {
		dlclose(library);
		library = NULL;
		snprintf(why, sizeof(why), "%s lacks %s", OSP_NVML_LIBRARY, lacking());
		return why;
	}
	return NULL;
}

bool osp_nvml_lacks(int state)
{
	switch (state) {
	case OSP_NVML_NOT_SUPPORTED:
	case OSP_NVML_NOT_FOUND:
	case OSP_NVML_NO_FUNCTION:
	case OSP_NVML_NO_DATA:
	case OSP_NVML_ARGUMENT_VERSION:
	case OSP_NVML_DEPRECATED:
		return true;
	default:
		return false;
	}
}

const char *osp_nvml_words(int state)
{
	static const struct {
		int state;
		const char *words;
	} table[] = {
		{OSP_NVML_OK, "success"},
		{1, "not initialised"},
		{OSP_NVML_INVALID_ARGUMENT, "invalid argument"},
		{OSP_NVML_NOT_SUPPORTED, "not supported"},
		{OSP_NVML_NO_PERMISSION, "no permission"},
		{OSP_NVML_NOT_FOUND, "not found"},
		{7, "buffer too small"},
		{8, "a power cable is not attached"},
		{OSP_NVML_DRIVER_NOT_LOADED, "the driver is not loaded"},
		{OSP_NVML_TIMEOUT, "timeout"},
		{11, "interrupts of a GPU do not arrive"},
		{OSP_NVML_NO_FUNCTION, "no such function in this library"},
		{14, "corrupted infoROM"},
		{OSP_NVML_GPU_LOST, "GPU is lost"},
		{OSP_NVML_RESET_REQUIRED, "GPU needs a reset"},
		{17, "blocked by the operating system"},
		{OSP_NVML_VERSION_MISMATCH, "driver and library differ in version"},
		{OSP_NVML_IN_USE, "in use by one alone"},
		{OSP_NVML_NO_MEMORY, "out of memory"},
		{OSP_NVML_NO_RESOURCES, "out of memory or other resources"},
		{OSP_NVML_NOT_READY, "not ready"},
		{OSP_NVML_GPU_NOT_FOUND, "no GPU found"},
	};
	static char number[32];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].state == state)
			return table[i].words;
	snprintf(number, sizeof(number), "NVML error %d", state);
	return number;
}
