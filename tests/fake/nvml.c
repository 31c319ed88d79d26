/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml.c - a libnvidia-ml.so.1 without a GPU, healthy unless told otherwise
 *
 * ONESPINE_FAKE_NVML holds faults (words.h): "gpu3.ecc_uncorrected=12", the same of all GPUs
 * without "gpu3.", "init=18". "unknown" is a model that no limit is known of. A GPU that is "lost"
 * answers nothing but its address. Eight H100s at PCI addresses 0000:10:00.0, 0000:20:00.0 and so
 * on, as tests/fake/node writes them.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "check/base/nvml.h"
#include "tests/fake/words.h"

#define EXPORT	  __attribute__((visibility("default")))
#define GPU_COUNT 8
#define FIRST_PID 4711
#define INSTANCE  100 /* index of a MIG instance: this, ten times the GPU's, and its own */

static struct fake_gpu {
	unsigned int index;
} gpus[GPU_COUNT], instances[GPU_COUNT];

#define WORDS "ONESPINE_FAKE_NVML"

/*
 * "model=KEY": what each is called and what it does not have. Rows are remapped from Ampere on,
 * pages retired before; the fabric's state is told from Hopper on; Blackwell's links have counters
 * of their own by field, and none of the older kind.
 */
static const struct model {
	long key;
	long capability;
	const char *name;
	unsigned int links;
	unsigned int link_mbps;
	unsigned int generation;
	bool remaps;
	bool fabric;
	bool counters_by_field;
	bool switched;
} models[] = {
	{90, 90, "NVIDIA H100 80GB HBM3", 18, 26562, 5, true, true, false, true},
	{70, 70, "Tesla V100-SXM2-16GB", 6, 25781, 3, false, false, false, false},
	{75, 75, "Tesla T4", 0, 0, 3, false, false, false, false},
	{80, 80, "NVIDIA A100-SXM4-40GB", 12, 25781, 4, true, false, false, true},
	{89, 89, "NVIDIA L40S", 0, 0, 4, true, false, false, false},
	{8020, 80, "NVIDIA A100X-20C", 0, 0, 4, true, false, false, false},
	{890, 89, "NVIDIA L4", 0, 0, 4, true, false, false, false},
	{86, 86, "NVIDIA A10G", 0, 0, 4, true, false, false, false},
	{141, 90, "NVIDIA H200", 18, 26562, 5, true, true, false, true},
	{2000, 100, "NVIDIA GB200", 18, 53125, 5, true, true, true, true},
	{920, 90, "NVIDIA H20", 18, 26562, 5, true, true, false, true},
	{9800, 90, "NVIDIA H800", 8, 26562, 5, true, true, false, true},
	{9200, 90, "NVIDIA GH200 480GB", 0, 0, 4, true, false, false, false},
	{100, 100, "NVIDIA B200", 18, 53125, 5, true, true, true, true},
	{120, 120, "NVIDIA RTX PRO 6000 Blackwell Server Edition", 0, 0, 5, true, false, false,
	 false},
	{701, 70, "Tesla V100-PCIE-16GB", 0, 0, 3, false, false, false, false},
	{801, 80, "NVIDIA A100-SXM4-80GB", 12, 25781, 4, true, false, false, true},
	{802, 80, "NVIDIA A30", 4, 25781, 4, true, false, false, false},
	{804, 80, "NVIDIA A100-PCIE-40GB", 12, 25781, 4, true, false, false, false},
	{805, 80, "NVIDIA A100 80GB PCIe", 12, 25781, 4, true, false, false, false},
	{861, 86, "NVIDIA A10", 0, 0, 4, true, false, false, false},
	{862, 86, "NVIDIA A40", 4, 14062, 4, true, false, false, false},
	{891, 89, "NVIDIA RTX 6000 Ada Generation", 0, 0, 4, true, false, false, false},
	{901, 90, "NVIDIA H100 PCIe", 12, 26562, 5, true, true, false, false},
	{902, 90, "NVIDIA H100 NVL", 12, 26562, 5, true, true, false, false},
	{1411, 90, "NVIDIA H200 NVL", 18, 26562, 5, true, true, false, false},
	{103, 103, "NVIDIA B300 SXM6 AC", 18, 53125, 5, true, true, true, true},
	{2003, 103, "NVIDIA GB300", 18, 53125, 5, true, true, true, true},
};

static bool fault(const char *key, long *value)
{
	return fake_word(WORDS, key, value);
}

static bool gpu_fault(const struct fake_gpu *gpu, const char *key, long *value)
{
	char name[64];

	snprintf(name, sizeof(name), "gpu%u.%s", gpu->index, key);
	return fault(name, value) || fault(key, value);
}

static long gpu_value(const struct fake_gpu *gpu, const char *key, long healthy)
{
	long value;

	return gpu_fault(gpu, key, &value) ? value : healthy;
}

static const struct model *model(void)
{
	long key = 90;

	fault("model", &key);
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (models[i].key == key)
			return &models[i];
	return &models[0];
}

#define ENTER()                                                                                    \
	do {                                                                                       \
		int state_ = fake_entered(WORDS, __func__);                                        \
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

/* "confidential": the GPUs and their memory are encrypted, and NVLinks are off. */
EXPORT int nvmlSystemGetConfComputeState(struct osp_nvml_confidential *state)
{
	long on;

	ENTER();
	memset(state, 0, sizeof(*state));
	state->feature = fault("confidential", &on);
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

/* "makes_files": the library makes a GPU's device file, by nvidia-modprobe, when it first opens
 * it. */
static void make_file(const struct fake_gpu *gpu)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	char path[512];
	int file;

	if (!root || !gpu_value(gpu, "makes_files", 0))
		return;
	snprintf(path, sizeof(path), "%s/dev/nvidia%u", root, gpu->index);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file >= 0)
		close(file);
}

/*
 * Without persistence ("persistence=0") the driver starts a GPU that no process has open, for
 * "start_ms=N", one after the other; a process that is killed meanwhile has achieved nothing. Who
 * has one open holds a lock on ONESPINE_FAKE_MARK.gpuN. "opening_hangs": whoever opens it.
 */
static void attach(const struct fake_gpu *gpu)
{
	const char *mark = getenv("ONESPINE_FAKE_MARK");
	static bool attached[GPU_COUNT];
	char path[512];
	int file;

	while (gpu_value(gpu, "opening_hangs", 0))
		pause();
	if (!mark || attached[gpu->index] || gpu_value(gpu, "persistence", 1))
		return;
	snprintf(path, sizeof(path), "%s.gpu%u", mark, gpu->index);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	if (flock(file, LOCK_EX | LOCK_NB) == 0) {
		usleep((useconds_t)gpu_value(gpu, "start_ms", 0) * 1000);
		make_file(gpu);
	}
	flock(file, LOCK_SH); /* and never closed: it ends with the process */
	attached[gpu->index] = true;
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
	attach(&gpus[index]);
	*device = &gpus[index];
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetName(osp_nvml_device device, char *text, unsigned int bytes)
{
	ENTER_GPU(device);
	snprintf(text, bytes, "%s",
		 gpu_value(gpu, "display", 0)	? "NVIDIA DGX Display"
		 : fault("unknown", &(long){0}) ? "NVIDIA X1"
						: model()->name);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetUUID(osp_nvml_device device, char *text, unsigned int bytes)
{
	ENTER_GPU(device);
	if (gpu->index >= INSTANCE) {
		snprintf(text, bytes, "MIG-000000%02u-1111-2222-3333-444444444444",
			 gpu->index - INSTANCE);
		return OSP_NVML_OK;
	}
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
	if (gpu_value(gpu, "no_ecc", 0))
		return OSP_NVML_NOT_SUPPORTED;
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

/* From Ampere on: "sram_exceeded" is what NVIDIA replaces a GPU for. */
EXPORT int nvmlDeviceGetSramEccErrorStatus(osp_nvml_device device, struct osp_nvml_sram *sram)
{
	ENTER_GPU(device);
	if (sram->version != OSP_NVML_SRAM_VERSION)
		return OSP_NVML_ARGUMENT_VERSION;
	if (model()->capability < 80 || gpu_value(gpu, "no_sram_status", 0))
		return OSP_NVML_NOT_SUPPORTED;
	sram->exceeded = (unsigned int)gpu_value(gpu, "sram_exceeded", 0);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetRemappedRows(osp_nvml_device device, unsigned int *corrected,
				     unsigned int *uncorrected, unsigned int *pending,
				     unsigned int *failed)
{
	ENTER_GPU(device);
	if (!model()->remaps || gpu_value(gpu, "mig", 0))
		return OSP_NVML_NOT_SUPPORTED;
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
	if (!gpu_fault(gpu, "pages", &value)) {
		if (model()->remaps)
			return OSP_NVML_NOT_SUPPORTED;
		value = 0;
	}
	*count = cause == 0 ? (unsigned int)value : 0;
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

/* "clocks" in every sample, "clocks_once" in the first alone, "clocks_soon" in the first five of
 * each GPU. */
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(osp_nvml_device device,
						     unsigned long long *reasons)
{
	static unsigned int calls;

	ENTER_GPU(device);
	*reasons = (unsigned long long)gpu_value(gpu, "clocks", 1);
	if (calls < 5 * GPU_COUNT)
		*reasons |= (unsigned long long)gpu_value(gpu, "clocks_soon", 0);
	if (calls++ < GPU_COUNT)
		*reasons |= (unsigned long long)gpu_value(gpu, "clocks_once", 0);
	return OSP_NVML_OK;
}

/* A call that tells one number of the GPU: a fault's, or the healthy one, in a unit of `scale`. */
#define NUMBER(function, type, key, healthy, scale)                                                \
	EXPORT int function(osp_nvml_device device, type *number)                                  \
	{                                                                                          \
		ENTER_GPU(device);                                                                 \
		*number = (type)gpu_value(gpu, key, healthy) * (scale);                            \
		return OSP_NVML_OK;                                                                \
	}
NUMBER(nvmlDeviceGetPowerUsage, unsigned int, "power", 74, 1000)
NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned int, "power_limit", 700, 1000)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int, "power_default", 700, 1000)
NUMBER(nvmlDeviceGetPersistenceMode, int, "persistence", 1, 1)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, "generation", model()->generation, 1)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, "width", 16, 1)
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, int, "pages_pending", 0, 1)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned int, "mig_most", 7, 1)
NUMBER(nvmlDeviceGetComputeMode, int, "compute_mode", 0, 1)
/* Passed through to a virtual machine; 2 is a guest with a part of it, 3 its host. */
NUMBER(nvmlDeviceGetVirtualizationMode, int, "virtual", 1, 1)

#define CLOCK(function, key, memory_key)                                                           \
	EXPORT int function(osp_nvml_device device, int clock, unsigned int *mhz)                  \
	{                                                                                          \
		ENTER_GPU(device);                                                                 \
		*mhz = clock == OSP_NVML_CLOCK_SM                                                  \
			       ? (unsigned int)gpu_value(gpu, key, 1980)                           \
			       : (unsigned int)gpu_value(gpu, memory_key, 2619);                   \
		return OSP_NVML_OK;                                                                \
	}
CLOCK(nvmlDeviceGetMaxClockInfo, "clock_most", "memory_clock_most")
CLOCK(nvmlDeviceGetApplicationsClock, "clock", "memory_clock")
CLOCK(nvmlDeviceGetDefaultApplicationsClock, "clock_default", "memory_clock_default")

/* In instances up to Ampere (Fabric Manager User Guide, "Interoperability with MIG"), and for the
 * confidence of one GPU. */
static bool links_are_off(const struct fake_gpu *gpu)
{
	return (gpu_value(gpu, "mig", 0) && model()->capability < 90) ||
	       fault("confidential", &(long){0});
}

EXPORT int nvmlDeviceGetNvLinkState(osp_nvml_device device, unsigned int link, int *active)
{
	ENTER_GPU(device);
	if (!model()->links || gpu_value(gpu, "display", 0))
		return OSP_NVML_NOT_SUPPORTED;
	if (link >= model()->links)
		return 2;
	*active =
		link < (unsigned int)gpu_value(gpu, "links", model()->links) && !links_are_off(gpu);
	return OSP_NVML_OK;
}

/* "switched=0": bridges join the GPUs, or a mesh. */
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(osp_nvml_device device, unsigned int link, int *type)
{
	ENTER_GPU(device);
	if (!model()->links)
		return OSP_NVML_NOT_SUPPORTED;
	if (link >= model()->links)
		return 2;
	*type = gpu_value(gpu, "switched", model()->switched) ? OSP_NVML_REMOTE_SWITCH : 0;
	return OSP_NVML_OK;
}

/* "crc" errors more with every call for the first link; "crc_once": with the second alone, up
 * to that number, from "crc_before". "old_counters": a model that counts by fields answers here
 * too, with nothing. */
EXPORT int nvmlDeviceGetNvLinkErrorCounter(osp_nvml_device device, unsigned int link, int counter,
					   unsigned long long *count)
{
	static unsigned long long grown = 7;
	static int looks;

	ENTER_GPU(device);
	*count = 0;
	if (model()->counters_by_field && gpu_value(gpu, "old_counters", 0))
		return OSP_NVML_OK;
	if (model()->counters_by_field || gpu_value(gpu, "no_link_counters", 0))
		return OSP_NVML_NOT_SUPPORTED;
	if (link >= model()->links || counter > 3)
		return 2;
	if (link == 0)
		grown += (unsigned long long)gpu_value(gpu, "crc", 0);
	*count = link == 0 && gpu_value(gpu, "crc", 0) ? grown : 7;
	if (link == 0 && counter == OSP_NVML_LINK_CRC_FLIT && gpu_value(gpu, "crc_once", 0))
		*count = (unsigned long long)(looks++ ? gpu_value(gpu, "crc_once", 0)
						      : gpu_value(gpu, "crc_before", 7));
	if (counter == OSP_NVML_LINK_REPLAY && link == 0)
		*count = (unsigned long long)gpu_value(gpu, "replays", 7);
	if (counter == OSP_NVML_LINK_RECOVERY && link == 0)
		*count = (unsigned long long)gpu_value(gpu, "recoveries", 7);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetGpuFabricInfoV(osp_nvml_device device, struct osp_nvml_fabric *fabric)
{
	ENTER_GPU(device);
	if (!model()->fabric)
		return OSP_NVML_NOT_SUPPORTED;
	if (fabric->version != (36u | 2u << 24))
		return OSP_NVML_ARGUMENT_VERSION;
	fabric->state = (unsigned char)gpu_value(gpu, "fabric", OSP_NVML_FABRIC_COMPLETED);
	fabric->status = (int)gpu_value(gpu, "fabric_status", OSP_NVML_OK);
	fabric->health = (unsigned int)gpu_value(gpu, "fabric_health", 0x1aa);
	memset(fabric->cluster_uuid, (int)gpu_value(gpu, "cluster", 0),
	       sizeof(fabric->cluster_uuid));
	fabric->clique = (unsigned int)gpu_value(gpu, "clique", 0);
	return OSP_NVML_OK;
}

/* Of one link, its number in scope: "packets=N" errors more with every call for the first one,
 * "unrecovered=N" failed recoveries, "rate=0x207" is 2 * 10^-7. */
static bool link_field(const struct fake_gpu *gpu, struct osp_nvml_field *field)
{
	static unsigned long long grown = 3;

	if (!model()->counters_by_field || gpu_value(gpu, "no_link_counters", 0) ||
	    field->id < OSP_NVML_LINK5_MALFORMED || field->id > OSP_NVML_LINK5_SYMBOL_RATE ||
	    field->scope >= model()->links)
		return false;
	field->value.number = 3;
	if (field->id == OSP_NVML_LINK5_RATE)
		field->value.number = (unsigned long long)gpu_value(gpu, "rate", 0x10f);
	if (field->scope)
		return true;
	if (field->id == OSP_NVML_LINK5_MALFORMED && gpu_value(gpu, "packets", 0))
		field->value.number = grown += (unsigned long long)gpu_value(gpu, "packets", 0);
	if (field->id == OSP_NVML_LINK5_LOST)
		field->value.number = (unsigned long long)gpu_value(gpu, "unrecovered", 3);
	return true;
}

/* Whether the driver says what a GPU asks for; of one with uncorrectable errors only where it was
 * told to. */
static bool says_recovery(const struct fake_gpu *gpu)
{
	long value;

	if (gpu_value(gpu, "no_recovery", 0))
		return false;
	return gpu_value(gpu, "ecc_uncorrected", 0) == 0 || gpu_fault(gpu, "recovery", &value) ||
	       gpu_value(gpu, "contained", 0);
}

/* Returns for how many children of the check the GPU's `what` was asked, this one included. */
static long asked(const struct fake_gpu *gpu, const char *what)
{
	const char *mark = getenv("ONESPINE_FAKE_MARK");
	static bool counted[GPU_COUNT][3];
	static long count[GPU_COUNT][3];
	int which = *what == 's' ? 0 : *what == 'p' ? 1 : 2;
	char path[512];
	int file;

	if (!mark || counted[gpu->index][which])
		return counted[gpu->index][which] ? count[gpu->index][which] : 1;
	snprintf(path, sizeof(path), "%s.%s.%u", mark, what, gpu->index);
	file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 || write(file, "x", 1) != 1)
		return 1;
	counted[gpu->index][which] = true;
	count[gpu->index][which] = lseek(file, 0, SEEK_END);
	close(file);
	return count[gpu->index][which];
}

/* "hot": heat slows the GPU all the time; "braked": its power brake does; "warm=N": heat slowed it
 * for N ms before each look; "count_again": the count begins anew after the second look. */
static unsigned long long slowed_ns(const struct fake_gpu *gpu, const char *by)
{
	struct timespec now;
	unsigned long long ns = 4711000000;

	if (gpu_value(gpu, "warm", 0))
		return ns + 1000000 * (unsigned long long)(asked(gpu, "slowed") *
							   gpu_value(gpu, "warm", 0));
	if (gpu_value(gpu, "count_again", 0) && asked(gpu, "slowed") > 2)
		return 0;
	if (!gpu_value(gpu, by, 0))
		return ns;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

/* "power_later=N": N W from the second look on. */
EXPORT int nvmlDeviceGetEnforcedPowerLimit(osp_nvml_device device, unsigned int *mw)
{
	ENTER_GPU(device);
	*mw = 1000 * (unsigned int)gpu_value(gpu, "power_enforced", 700);
	if (gpu_value(gpu, "power_later", 0) && asked(gpu, "power") > 1)
		*mw = 1000 * (unsigned int)gpu_value(gpu, "power_later", 0);
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetViolationStatus(osp_nvml_device device, int policy,
					struct osp_nvml_violation *violation)
{
	ENTER_GPU(device);
	if (policy != OSP_NVML_POLICY_THERMAL || gpu_value(gpu, "no_heat", 0) == 2)
		return OSP_NVML_NOT_SUPPORTED;
	violation->violation_ns = slowed_ns(gpu, "hot");
	return OSP_NVML_OK;
}

/*
 * Counts at 251 to 253, as drivers of 575 and 580 have them; "newer=1": at 269 to 271. What else is
 * there are words of 32 bits. "no_heat=1": neither; "no_heat=2": nor the older call. "look_ends=N":
 * the Nth child that asks ends.
 */
static bool slowed_field(const struct fake_gpu *gpu, struct osp_nvml_field *field)
{
	unsigned int first = gpu_value(gpu, "newer", 0) ? OSP_NVML_SLOWED_NEWER : OSP_NVML_SLOWED;
	unsigned int other = gpu_value(gpu, "newer", 0) ? OSP_NVML_SLOWED : OSP_NVML_SLOWED_NEWER;

	if (field->id >= other && field->id < other + 3) {
		field->type = 1;
		field->value.word = 1;
		return true;
	}
	if (gpu_value(gpu, "no_heat", 0) || field->id < first || field->id >= first + 3)
		return false;
	if (gpu_value(gpu, "look_ends", 0) &&
	    asked(gpu, "looked") >= gpu_value(gpu, "look_ends", 0))
		_exit(9);
	field->type = OSP_NVML_SLOWED_TYPE;
	field->value.number = slowed_ns(gpu, field->id == first + 2 ? "braked" : "hot");
	return true;
}

/* Of NVLink's speed alone it hangs and fails under a name of its own. */
EXPORT int nvmlDeviceGetFieldValues(osp_nvml_device device, int count,
				    struct osp_nvml_field *fields)
{
	const struct fake_gpu *gpu = device;
	int state = fake_entered(WORDS, fields->id == OSP_NVML_LINK_SPEED_MBPS
						? "nvmlDeviceGetFieldValues90"
						: __func__);
	long lost;

	if (state || gpu_fault(gpu, "lost", &lost))
		return state ? state : OSP_NVML_GPU_LOST;
	for (int i = 0; i < count; i++) {
		fields[i].state = OSP_NVML_OK;
		if (fields[i].id == OSP_NVML_RECOVERY_ACTION && says_recovery(gpu))
			fields[i].value.word = (unsigned int)gpu_value(gpu, "recovery", 0);
		else if (fields[i].id == OSP_NVML_LINK_SPEED_MBPS && model()->links)
			fields[i].value.word =
				(unsigned int)gpu_value(gpu, "link_speed", model()->link_mbps);
		else if (fields[i].id == OSP_NVML_RECOVERY_ACTION &&
			 gpu_value(gpu, "no_recovery", 0) == OSP_NVML_INVALID_ARGUMENT)
			fields[i].state = OSP_NVML_INVALID_ARGUMENT;
		else if (!link_field(gpu, &fields[i]) && !slowed_field(gpu, &fields[i]))
			fields[i].state = OSP_NVML_NOT_SUPPORTED;
	}
	return OSP_NVML_OK;
}

/* An H100 of compute capability 9.0; "capability=70" is a V100. */
EXPORT int nvmlDeviceGetCudaComputeCapability(osp_nvml_device device, int *major, int *minor)
{
	long capability = model()->capability;

	ENTER_GPU(device);
	gpu_fault(gpu, "capability", &capability);
	*major = (int)capability / 10;
	*minor = (int)capability % 10;
	return OSP_NVML_OK;
}

/* Processes FIRST_PID and so on, where there is room for them. */
static int list_programs(unsigned int known, unsigned int *count, struct osp_nvml_program *programs)
{
	unsigned int room = programs ? *count : 0;

	*count = known;
	if (known > room)
		return OSP_NVML_TOO_SMALL;
	for (unsigned int i = 0; i < known; i++)
		programs[i] = (struct osp_nvml_program){.pid = FIRST_PID + i};
	return OSP_NVML_OK;
}

/* "programs_later": none for the first who asks. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(osp_nvml_device device, unsigned int *count,
						   struct osp_nvml_program *programs)
{
	ENTER_GPU(device);
	if (gpu_value(gpu, "programs_later", 0) && !fake_first())
		return list_programs(1, count, programs);
	return list_programs((unsigned int)gpu_value(gpu, "programs", 0) +
				     fake_count_contexts((int)gpu->index),
			     count, programs);
}

/* Those of them that share the GPU by MPS. */
EXPORT int nvmlDeviceGetMPSComputeRunningProcesses_v3(osp_nvml_device device, unsigned int *count,
						      struct osp_nvml_program *programs)
{
	ENTER_GPU(device);
	return list_programs((unsigned int)gpu_value(gpu, "mps", 0), count, programs);
}

/* "mig=2": two instances, their devices behind those of the GPUs. */
EXPORT int nvmlDeviceGetMigMode(osp_nvml_device device, unsigned int *now,
				unsigned int *after_reset)
{
	ENTER_GPU(device);
	*now = *after_reset = gpu_value(gpu, "mig", 0) > 0;
	return OSP_NVML_OK;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(osp_nvml_device device, unsigned int index,
					       osp_nvml_device *instance)
{
	ENTER_GPU(device);
	if ((long)index >= gpu_value(gpu, "mig", 0))
		return OSP_NVML_NOT_FOUND;
	instances[gpu->index].index = INSTANCE + gpu->index * 10 + index;
	*instance = &instances[gpu->index];
	return OSP_NVML_OK;
}
