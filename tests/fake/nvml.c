/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml.c - a libnvidia-ml.so.1 without a GPU, healthy unless told otherwise
 *
 * ONESPINE_FAKE_NVML holds faults, separated by blanks: "gpu3.ecc_uncorrected=12", "init=18",
 * "hang:nvmlDeviceGetName", "crash:nvmlInit_v2", "error:nvmlDeviceGetUUID=999". A GPU that is
 * "lost" answers nothing but its address. Eight H100s at PCI addresses 0000:10:00.0, 0000:20:00.0
 * and so on, as tests/fake/node writes them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/nvml.h"

#define EXPORT	  __attribute__((visibility("default")))
#define GPU_COUNT 8
#define LINKS	  18

static struct fake_gpu {
	unsigned int index;
} gpus[GPU_COUNT];

/* The value of a fault: "KEY=VALUE", or 1 for "KEY". */
static bool fault(const char *key, long *value)
{
	const char *faults = getenv("ONESPINE_FAKE_NVML");
	size_t length = strlen(key);

	while (faults && *faults) {
		faults += strspn(faults, " ");
		if (strncmp(faults, key, length) == 0 && strchr("= ", faults[length])) {
			*value = faults[length] == '=' ? strtol(faults + length + 1, NULL, 0) : 1;
			return true;
		}
		faults += strcspn(faults, " ");
	}
	return false;
}

static bool gpu_fault(const struct fake_gpu *gpu, const char *key, long *value)
{
	char name[64];

	snprintf(name, sizeof(name), "gpu%u.%s", gpu->index, key);
	return fault(name, value);
}

static long gpu_value(const struct fake_gpu *gpu, const char *key, long healthy)
{
	long value;

	return gpu_fault(gpu, key, &value) ? value : healthy;
}

/* What happens to every call before it answers. */
static int entered(const char *function)
{
	char word[96];
	long value;

	snprintf(word, sizeof(word), "hang:%s", function);
	while (fault(word, &value))
		pause();
	snprintf(word, sizeof(word), "hang-once:%s", function);
	if (fault(word, &value)) {
		const char *mark = getenv("ONESPINE_FAKE_MARK"); /* made by the first to come */

		if (mark && access(mark, F_OK) != 0) {
			FILE *made = fopen(mark, "w");

			if (made)
				fclose(made);
			for (;;)
				pause();
		}
	}
	snprintf(word, sizeof(word), "crash:%s", function);
	if (fault(word, &value))
		abort();
	snprintf(word, sizeof(word), "error:%s", function);
	return fault(word, &value) ? (int)value : OSP_NVML_OK;
}

#define ENTER()                                                                                    \
	do {                                                                                       \
		int state_ = entered(__func__);                                                    \
		if (state_)                                                                        \
			return state_;                                                             \
	} while (0)

#define ENTER_GPU(device)                                                                          \
	const struct fake_gpu *gpu = (device);                                                     \
	long lost_;                                                                                \
	ENTER();                                                                                   \
	if (gpu_fault(gpu, "lost", &lost_))                                                        \
	return OSP_NVML_GPU_LOST

/* Calls: no header declares them, as in NVML's users. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT int nvmlInit_v2(void)
{
	long state;

	ENTER();
	return fault("init", &state) ? (int)state : OSP_NVML_OK;
}

EXPORT int nvmlShutdown(void)
{
	return OSP_NVML_OK;
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned int bytes)
{
	long major;

	ENTER();
	snprintf(text, bytes, "%ld.86.15", fault("driver", &major) ? major : 570);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned int *count)
{
	long value;

	ENTER();
	*count = fault("count", &value) && value <= GPU_COUNT ? (unsigned int)value : GPU_COUNT;
	return OSP_NVML_OK;
}

/* "without=N": the driver does not know GPU N at all, which shifts the numbers of the others. */
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, osp_nvml_device *device)
{
	long without;

	ENTER();
	if (fault("without", &without) && index >= (unsigned int)without)
		index++;
	if (index >= GPU_COUNT)
		return 2;
	gpus[index].index = index;
	*device = &gpus[index];
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetName(osp_nvml_device device, char *text, unsigned int bytes)
{
	ENTER_GPU(device);
	snprintf(text, bytes, "NVIDIA H100 80GB HBM3");
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetUUID(osp_nvml_device device, char *text, unsigned int bytes)
{
	ENTER_GPU(device);
	snprintf(text, bytes, "GPU-0000000%ld-1111-2222-3333-444444444444",
		 gpu_value(gpu, "uuid", gpu->index));
	return OSP_NVML_OK;
}

/* A lost GPU still has its address. */
EXPORT int nvmlDeviceGetPciInfo_v3(osp_nvml_device device, struct osp_nvml_pci *pci)
{
	const struct fake_gpu *gpu = device;

	ENTER();
	memset(pci, 0, sizeof(*pci));
	pci->bus = (gpu->index + 1) * 0x10;
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetTotalEccErrors(osp_nvml_device device, int type, int counter,
				       unsigned long long *count)
{
	ENTER_GPU(device);
	*count = (unsigned long long)gpu_value(
		gpu, type == OSP_NVML_UNCORRECTED ? "ecc_uncorrected" : "ecc_corrected", 0);
	return counter == OSP_NVML_VOLATILE ? OSP_NVML_OK : OSP_NVML_NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetMemoryErrorCounter(osp_nvml_device device, int type, int counter,
					   int location, unsigned long long *count)
{
	ENTER_GPU(device);
	if (type != OSP_NVML_UNCORRECTED || counter != OSP_NVML_AGGREGATE ||
	    location != OSP_NVML_LOCATION_SRAM)
		return OSP_NVML_NOT_SUPPORTED;
	*count = (unsigned long long)gpu_value(gpu, "sram", 1);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetRemappedRows(osp_nvml_device device, unsigned int *corrected,
				     unsigned int *uncorrected, unsigned int *pending,
				     unsigned int *failed)
{
	ENTER_GPU(device);
	*corrected = 0;
	*uncorrected = (unsigned int)gpu_value(gpu, "rows", 1);
	*pending = (unsigned int)gpu_value(gpu, "remap_pending", 0);
	*failed = (unsigned int)gpu_value(gpu, "remap_failed", 0);
	return OSP_NVML_OK;
}

/* An H100 has none; with "pages" it is an older GPU. */
EXPORT int nvmlDeviceGetRetiredPages(osp_nvml_device device, int cause, unsigned int *count,
				     unsigned long long *pages)
{
	long value;

	ENTER_GPU(device);
	(void)pages;
	if (!gpu_fault(gpu, "pages", &value))
		return OSP_NVML_NOT_SUPPORTED;
	*count = cause == 0 ? (unsigned int)value : 0;
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetRetiredPagesPendingStatus(osp_nvml_device device, int *pending)
{
	ENTER_GPU(device);
	*pending = (int)gpu_value(gpu, "pages_pending", 0);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetTemperature(osp_nvml_device device, int sensor, unsigned int *celsius)
{
	ENTER_GPU(device);
	(void)sensor;
	*celsius = (unsigned int)gpu_value(gpu, "temperature", 34);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetTemperatureThreshold(osp_nvml_device device, int kind,
					     unsigned int *celsius)
{
	ENTER_GPU(device);
	*celsius = kind == OSP_NVML_SLOWDOWN ? 89 : 92;
	return OSP_NVML_OK;
}

/* "clocks" in every sample, "clocks_once" in the first alone. */
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(osp_nvml_device device,
						     unsigned long long *reasons)
{
	static unsigned int calls;

	ENTER_GPU(device);
	*reasons = (unsigned long long)gpu_value(gpu, "clocks", 1);
	if (calls++ < GPU_COUNT)
		*reasons |= (unsigned long long)gpu_value(gpu, "clocks_once", 0);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetPersistenceMode(osp_nvml_device device, int *mode)
{
	ENTER_GPU(device);
	*mode = (int)gpu_value(gpu, "persistence", 1);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetNvLinkState(osp_nvml_device device, unsigned int link, int *active)
{
	ENTER_GPU(device);
	if (link >= LINKS)
		return 2;
	*active = link < (unsigned int)gpu_value(gpu, "links", LINKS);
	return OSP_NVML_OK;
}

/* "crc" errors more with every call for the first link. */
EXPORT int nvmlDeviceGetNvLinkErrorCounter(osp_nvml_device device, unsigned int link, int counter,
					   unsigned long long *count)
{
	static unsigned long long grown = 7;

	ENTER_GPU(device);
	if (link >= LINKS || counter > 3)
		return 2;
	if (link == 0)
		grown += (unsigned long long)gpu_value(gpu, "crc", 0);
	*count = link == 0 && gpu_value(gpu, "crc", 0) ? grown : 7;
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(osp_nvml_device device, unsigned int *generation)
{
	ENTER_GPU(device);
	*generation = (unsigned int)gpu_value(gpu, "generation", 5);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetCurrPcieLinkWidth(osp_nvml_device device, unsigned int *width)
{
	ENTER_GPU(device);
	*width = (unsigned int)gpu_value(gpu, "width", 16);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetGpuFabricInfoV(osp_nvml_device device, struct osp_nvml_fabric *fabric)
{
	ENTER_GPU(device);
	if (fabric->version != (36u | 2u << 24))
		return OSP_NVML_ARGUMENT_VERSION;
	fabric->state = (unsigned char)gpu_value(gpu, "fabric", OSP_NVML_FABRIC_COMPLETED);
	fabric->status = (int)gpu_value(gpu, "fabric_status", OSP_NVML_OK);
	fabric->health = (unsigned int)gpu_value(gpu, "fabric_health", 0x1aa);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetFieldValues(osp_nvml_device device, int count,
				    struct osp_nvml_field *fields)
{
	ENTER_GPU(device);
	for (int i = 0; i < count; i++) {
		fields[i].state = fields[i].id == OSP_NVML_RECOVERY_ACTION ? OSP_NVML_OK
									   : OSP_NVML_NOT_SUPPORTED;
		fields[i].value.word = (unsigned int)gpu_value(gpu, "recovery", 0);
	}
	return OSP_NVML_OK;
}
