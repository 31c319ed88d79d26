/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml.h - NVIDIA's management library, loaded at run time
 *
 * libnvidia-ml.so.1 is opened by name and never linked, so one build serves nodes with and without
 * a driver. A function that an older library lacks answers OSP_NVML_NO_FUNCTION. Names, numbers
 * and layouts are those of NVML's interface (nvml.h of CUDA 12.9; go-nvml has it), which NVIDIA
 * keeps stable. One thread.
 */
#ifndef OSP_NVML_H
#define OSP_NVML_H

#include <stdbool.h>
#include <stdint.h>

#define OSP_NVML_LIBRARY "libnvidia-ml.so.1"

/* What a call returns. */
enum osp_nvml_return {
	OSP_NVML_OK = 0,
	OSP_NVML_INVALID_ARGUMENT = 2,
	OSP_NVML_NOT_SUPPORTED = 3,
	OSP_NVML_NO_PERMISSION = 4,
	OSP_NVML_NOT_FOUND = 6,
	OSP_NVML_TOO_SMALL = 7, /* the list is longer than the room given; its length is returned */
	OSP_NVML_DRIVER_NOT_LOADED = 9,
	OSP_NVML_TIMEOUT = 10,
	OSP_NVML_NO_FUNCTION = 13,
	OSP_NVML_GPU_LOST = 15,
	OSP_NVML_RESET_REQUIRED = 16,
	OSP_NVML_OPERATING_SYSTEM = 17, /* a cgroup withholds the device */
	OSP_NVML_VERSION_MISMATCH = 18, /* the kernel's driver and the library differ */
	OSP_NVML_IN_USE = 19,		/* by one alone */
	OSP_NVML_NO_MEMORY = 20,	/* of the host */
	OSP_NVML_NO_DATA = 21,
	OSP_NVML_NO_RESOURCES = 23,
	OSP_NVML_ARGUMENT_VERSION = 25,
	OSP_NVML_DEPRECATED = 26,
	OSP_NVML_NOT_READY = 27,
	OSP_NVML_GPU_NOT_FOUND = 28,
};

/* Arguments. */
#define OSP_NVML_CORRECTED	 0
#define OSP_NVML_UNCORRECTED	 1
#define OSP_NVML_VOLATILE	 0
#define OSP_NVML_AGGREGATE	 1
#define OSP_NVML_LOCATION_SRAM	 7
#define OSP_NVML_SENSOR_GPU	 0
#define OSP_NVML_SLOWDOWN	 1 /* temperature at which the GPU slows itself down */
#define OSP_NVML_LINKS_MAX	 36
#define OSP_NVML_LINK_REPLAY	 0
#define OSP_NVML_LINK_RECOVERY	 1
#define OSP_NVML_LINK_CRC_FLIT	 2
#define OSP_NVML_LINK_CRC_DATA	 3
#define OSP_NVML_LINK_SPEED_MBPS 90  /* field: of the links that are up, one way, MB/s */
#define OSP_NVML_RECOVERY_ACTION 230 /* field */
/*
 * The first of three fields: for how many ns heat (found by software, by hardware) and the
 * hardware's power brake have lowered the clocks. nvml.h 12.9 to 13.0 has them at 251, 13.1 and
 * later at 269; at the other place are fields of another type, as at 251 in 12.8. The policy
 * (nvmlPerfPolicyType_t) has the first of them on any driver.
 */
#define OSP_NVML_SLOWED		251
#define OSP_NVML_SLOWED_NEWER	269
#define OSP_NVML_SLOWED_TYPE	3 /* NVML_VALUE_TYPE_UNSIGNED_LONG_LONG */
#define OSP_NVML_POLICY_THERMAL 1
/*
 * Fields of one link, its number in `scope`, from NVLink 5 (Blackwell) on, whose links lack the
 * older counters. NVML_FI_DEV_NVLINK_COUNT_... of nvml.h 12.8: malformed packets, buffer overruns,
 * packets with errors, with remote errors, with general errors, local integrity errors, packets
 * discarded; recoveries that succeeded, failed, all; errors left after correction (effective) and
 * their rate, errors before it (symbol) and their rate.
 */
#define OSP_NVML_LINK5_MALFORMED   206
#define OSP_NVML_LINK5_INTEGRITY   211
#define OSP_NVML_LINK5_DISCARDS	   212
#define OSP_NVML_LINK5_RECOVERED   213
#define OSP_NVML_LINK5_LOST	   214
#define OSP_NVML_LINK5_RECOVERY	   215
#define OSP_NVML_LINK5_EFFECTIVE   219
#define OSP_NVML_LINK5_RATE	   220 /* exponent in bits 0 to 7, mantissa in 8 to 11: M * 10^-E */
#define OSP_NVML_LINK5_SYMBOL	   221
#define OSP_NVML_LINK5_SYMBOL_RATE 222
#define OSP_NVML_CLOCK_SM	   1
#define OSP_NVML_CLOCK_MEMORY	   2

/* Clock event reasons that are a fault: hardware slowdown and its two causes, and thermal slowdown
 * by software. The power cap is not a fault. */
#define OSP_NVML_HW_SLOWDOWN	  0x08u
#define OSP_NVML_SW_THERMAL	  0x20u
#define OSP_NVML_HW_THERMAL	  0x40u
#define OSP_NVML_HW_POWER_BRAKE	  0x80u

#define OSP_NVML_FABRIC_BEGUN	  2 /* "in progress" */
#define OSP_NVML_FABRIC_COMPLETED 3
/* Virtualization modes: none, of a guest with a whole GPU or a part of one, and of a host whose GPU
 * serves guests. */
#define OSP_NVML_NOT_VIRTUAL	0
#define OSP_NVML_PASSED_THROUGH 1
#define OSP_NVML_VIRTUAL_GPU	2
#define OSP_NVML_VIRTUAL_HOST	3
#define OSP_NVML_VIRTUAL_HOST_A 4

#define OSP_NVML_PROHIBITED	2 /* nvmlComputeMode_t: no program may compute on the GPU */

/* What a link leads to (nvmlIntNvLinkDeviceType_t). */
#define OSP_NVML_REMOTE_SWITCH 2

typedef void *osp_nvml_device;

struct osp_nvml_pci {
	char bus_id_legacy[16];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int device_id;
	unsigned int subsystem_id;
	char bus_id[32];
};

struct osp_nvml_field {
	unsigned int id;
	unsigned int scope;
	long long timestamp_us;
	long long latency_us;
	unsigned int type;
	int state; /* an osp_nvml_return */
	union {
		double real;
		unsigned int word;
		unsigned long long number;
	} value;
};

#define OSP_NVML_FABRIC_VERSION ((unsigned int)sizeof(struct osp_nvml_fabric) | (2u << 24))
struct osp_nvml_fabric {
	unsigned int version;
	unsigned char cluster_uuid[16];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int health; /* two bits a kind: 1 is unhealthy, 2 is healthy */
};

/* nvmlViolationTime_t. */
struct osp_nvml_violation {
	unsigned long long reference_us;
	unsigned long long violation_ns;
};

/* nvmlConfComputeSystemState_t: the state of confidential computing, of the whole node. */
struct osp_nvml_confidential {
	unsigned int environment;
	unsigned int feature; /* 1: on */
	unsigned int tools;
};

/* nvmlEccSramErrorStatus_v1_t. */
#define OSP_NVML_SRAM_VERSION ((unsigned int)sizeof(struct osp_nvml_sram) | (1u << 24))
struct osp_nvml_sram {
	unsigned int version;
	unsigned long long counts[11];
	unsigned int exceeded; /* the limit of NVIDIA's field diagnostic: the GPU should be
				  replaced */
};

/* A process with a context on a GPU, as the second and third form of the call list it. */
struct osp_nvml_program {
	unsigned int pid;
	unsigned long long used_bytes;
	unsigned int gpu_instance;
	unsigned int compute_instance;
};

/* name here, NVML's name, an older or newer name (or NULL), parameters, arguments */
#define OSP_NVML_CALLS(X)                                                                          \
	X(init, "nvmlInit_v2", "nvmlInit", (void), ())                                             \
	X(driver_version, "nvmlSystemGetDriverVersion", NULL, (char *text, unsigned int bytes),    \
	  (text, bytes))                                                                           \
	X(confidential, "nvmlSystemGetConfComputeState", NULL,                                     \
	  (struct osp_nvml_confidential * state), (state))                                         \
	X(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", (unsigned int *count), (count))    \
	X(open, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex",                     \
	  (unsigned int index, osp_nvml_device *device), (index, device))                          \
	X(name, "nvmlDeviceGetName", NULL,                                                         \
	  (osp_nvml_device device, char *text, unsigned int bytes), (device, text, bytes))         \
	X(uuid, "nvmlDeviceGetUUID", NULL,                                                         \
	  (osp_nvml_device device, char *text, unsigned int bytes), (device, text, bytes))         \
	X(pci, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2",                               \
	  (osp_nvml_device device, struct osp_nvml_pci * pci), (device, pci))                      \
	X(ecc_errors, "nvmlDeviceGetTotalEccErrors", NULL,                                         \
	  (osp_nvml_device device, int type, int counter, unsigned long long *count),              \
	  (device, type, counter, count))                                                          \
	X(memory_errors, "nvmlDeviceGetMemoryErrorCounter", NULL,                                  \
	  (osp_nvml_device device, int type, int counter, int location,                            \
	   unsigned long long *count),                                                             \
	  (device, type, counter, location, count))                                                \
	X(sram, "nvmlDeviceGetSramEccErrorStatus", NULL,                                           \
	  (osp_nvml_device device, struct osp_nvml_sram * sram), (device, sram))                   \
	X(remapped_rows, "nvmlDeviceGetRemappedRows", NULL,                                        \
	  (osp_nvml_device device, unsigned int *corrected, unsigned int *uncorrected,             \
	   unsigned int *pending, unsigned int *failed),                                           \
	  (device, corrected, uncorrected, pending, failed))                                       \
	X(retired_pages, "nvmlDeviceGetRetiredPages", NULL,                                        \
	  (osp_nvml_device device, int cause, unsigned int *count, unsigned long long *pages),     \
	  (device, cause, count, pages))                                                           \
	X(retirement_pending, "nvmlDeviceGetRetiredPagesPendingStatus", NULL,                      \
	  (osp_nvml_device device, int *pending), (device, pending))                               \
	X(temperature, "nvmlDeviceGetTemperature", NULL,                                           \
	  (osp_nvml_device device, int sensor, unsigned int *celsius), (device, sensor, celsius))  \
	X(temperature_limit, "nvmlDeviceGetTemperatureThreshold", NULL,                            \
	  (osp_nvml_device device, int kind, unsigned int *celsius), (device, kind, celsius))      \
	X(clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons",                              \
	  "nvmlDeviceGetCurrentClocksEventReasons",                                                \
	  (osp_nvml_device device, unsigned long long *reasons), (device, reasons))                \
	X(clock_most, "nvmlDeviceGetMaxClockInfo", NULL,                                           \
	  (osp_nvml_device device, int clock, unsigned int *mhz), (device, clock, mhz))            \
	X(clock_chosen, "nvmlDeviceGetApplicationsClock", NULL,                                    \
	  (osp_nvml_device device, int clock, unsigned int *mhz), (device, clock, mhz))            \
	X(clock_default, "nvmlDeviceGetDefaultApplicationsClock", NULL,                            \
	  (osp_nvml_device device, int clock, unsigned int *mhz), (device, clock, mhz))            \
	X(power, "nvmlDeviceGetPowerUsage", NULL, (osp_nvml_device device, unsigned int *mw),      \
	  (device, mw))                                                                            \
	X(power_limit, "nvmlDeviceGetPowerManagementLimit", NULL,                                  \
	  (osp_nvml_device device, unsigned int *mw), (device, mw))                                \
	X(power_limit_default, "nvmlDeviceGetPowerManagementDefaultLimit", NULL,                   \
	  (osp_nvml_device device, unsigned int *mw), (device, mw))                                \
	X(power_limit_enforced, "nvmlDeviceGetEnforcedPowerLimit", NULL,                           \
	  (osp_nvml_device device, unsigned int *mw), (device, mw))                                \
	X(violation, "nvmlDeviceGetViolationStatus", NULL,                                         \
	  (osp_nvml_device device, int policy, struct osp_nvml_violation *violation),              \
	  (device, policy, violation))                                                             \
	X(persistence, "nvmlDeviceGetPersistenceMode", NULL, (osp_nvml_device device, int *mode),  \
	  (device, mode))                                                                          \
	X(link_state, "nvmlDeviceGetNvLinkState", NULL,                                            \
	  (osp_nvml_device device, unsigned int link, int *active), (device, link, active))        \
	X(link_remote, "nvmlDeviceGetNvLinkRemoteDeviceType", NULL,                                \
	  (osp_nvml_device device, unsigned int link, int *type), (device, link, type))            \
	X(link_errors, "nvmlDeviceGetNvLinkErrorCounter", NULL,                                    \
	  (osp_nvml_device device, unsigned int link, int counter, unsigned long long *count),     \
	  (device, link, counter, count))                                                          \
	X(pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration", NULL,                             \
	  (osp_nvml_device device, unsigned int *generation), (device, generation))                \
	X(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", NULL,                                      \
	  (osp_nvml_device device, unsigned int *width), (device, width))                          \
	X(fabric, "nvmlDeviceGetGpuFabricInfoV", NULL,                                             \
	  (osp_nvml_device device, struct osp_nvml_fabric * fabric), (device, fabric))             \
	X(fields, "nvmlDeviceGetFieldValues", NULL,                                                \
	  (osp_nvml_device device, int count, struct osp_nvml_field *fields),                      \
	  (device, count, fields))                                                                 \
	X(capability, "nvmlDeviceGetCudaComputeCapability", NULL,                                  \
	  (osp_nvml_device device, int *major, int *minor), (device, major, minor))                \
	X(virtualization, "nvmlDeviceGetVirtualizationMode", NULL,                                 \
	  (osp_nvml_device device, int *mode), (device, mode))                                     \
	X(compute_mode, "nvmlDeviceGetComputeMode", NULL, (osp_nvml_device device, int *mode),     \
	  (device, mode))                                                                          \
	X(programs, "nvmlDeviceGetComputeRunningProcesses_v3",                                     \
	  "nvmlDeviceGetComputeRunningProcesses_v2",                                               \
	  (osp_nvml_device device, unsigned int *count, struct osp_nvml_program *programs),        \
	  (device, count, programs))                                                               \
	X(mps_programs, "nvmlDeviceGetMPSComputeRunningProcesses_v3",                              \
	  "nvmlDeviceGetMPSComputeRunningProcesses_v2",                                            \
	  (osp_nvml_device device, unsigned int *count, struct osp_nvml_program *programs),        \
	  (device, count, programs))                                                               \
	X(mig_mode, "nvmlDeviceGetMigMode", NULL,                                                  \
	  (osp_nvml_device device, unsigned int *now, unsigned int *after_reset),                  \
	  (device, now, after_reset))                                                              \
	X(mig_most, "nvmlDeviceGetMaxMigDeviceCount", NULL,                                        \
	  (osp_nvml_device device, unsigned int *count), (device, count))                          \
	X(mig_open, "nvmlDeviceGetMigDeviceHandleByIndex", NULL,                                   \
	  (osp_nvml_device device, unsigned int index, osp_nvml_device *instance),                 \
	  (device, index, instance))

/* osp_nvml_count(&count) and so on. They return NVML's answer, or OSP_NVML_NO_FUNCTION if the
 * library lacks the function. */
#define OSP_NVML_DECLARE(name, symbol, other, parameters, arguments) int osp_nvml_##name parameters;
OSP_NVML_CALLS(OSP_NVML_DECLARE)
#undef OSP_NVML_DECLARE

/* Loads the library once a process. Returns NULL if it is loaded and can distinguish the GPUs, else
 * why not, in words. */
const char *osp_nvml_load(void);

/* Returns our words for NVML's answer: "GPU is lost". */
const char *osp_nvml_words(int state);

/* Returns whether NVML says that the GPU or its driver has no such value. That is no fault. */
bool osp_nvml_lacks(int state);

#endif
