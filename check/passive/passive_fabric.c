/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_fabric.c - whether each GPU has joined the NVLink fabric, and the fabric is well */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/base/gpus.h"
#include "check/base/node_type.h"
#include "check/base/root.h"

/* Two bits each in the health word: 1 is a fault, or a repair in progress (nvml.h: "in progress"):
 * NVML_GPU_FABRIC_HEALTH_MASK_... */
static const struct {
	unsigned int shift;
	bool passes;
	const char *words;
} ills[] = {
	{0, false, "degraded bandwidth"},
	{4, false, "unhealthy route"},
	{2, true, "route recovery"},
	{6, true, "access timeout recovery"},
};

/* nvml.h: NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_..., in bits 8 to 11 */
#define MISCONFIGURED_MOST_WELL 1 /* not known, or none */
#define NO_PARTITION		4

#define PCI_VENDOR_MELLANOX	0x15b3

static unsigned int misconfigured(const struct osp_nvml_fabric *fabric)
{
	return fabric->health >> 8 & 0xf;
}

/* Returns the worst fault of the fabric; `passes` is set if it is being repaired. */
static const char *fabric_ill(const struct osp_nvml_fabric *fabric, bool *passes)
{
	*passes = false;
	for (size_t i = 0; i < sizeof(ills) / sizeof(ills[0]); i++) {
		if (ills[i].passes && misconfigured(fabric) > MISCONFIGURED_MOST_WELL)
			break;
		*passes = ills[i].passes;
		if ((fabric->health >> ills[i].shift & 3) == 1)
			return ills[i].words;
	}
	*passes = false;
	return misconfigured(fabric) > MISCONFIGURED_MOST_WELL ? "wrong configuration" : NULL;
}

/* Reports a repair in progress. Routes are recomputed if another GPU or node of the fabric went
 * away, so a second look decides. */
static void report_mending(struct osp_check_context *context, const struct osp_gpu *gpu,
			   const char *ill)
{
	struct osp_result reported = {
		.verdict = OSP_VERDICT_ERROR, .cure = OSP_CURE_ASK, .later = true};

	snprintf(reported.subject, sizeof(reported.subject), "%s", gpu->subject);
	snprintf(reported.value, sizeof(reported.value), "%s", ill);
	snprintf(reported.source, sizeof(reported.source), "NVML's fabric health");
	snprintf(reported.why, sizeof(reported.why),
		 "%.90s: the NVLink fabric reports: %s in progress", gpu->uuid, ill);
	context->report(context, &reported);
}

/* Returns whether a fabric manager of this host sets up all GPUs as one: FABRIC_MODE=0 in its file
 * (Fabric Manager User Guide). In the other modes, in virtual machines of such hosts and in racks,
 * GPUs wait until somebody activates their partition, perhaps for ever. */
static bool sets_up_all(const struct osp_check_context *context)
{
	static char text[64 * 1024];

	return osp_root_read(context->root, text, sizeof(text),
			     "usr/share/nvidia/nvswitch/fabricmanager.cfg") &&
	       (strncmp(text, "FABRIC_MODE=0", 13) == 0 || strstr(text, "\nFABRIC_MODE=0"));
}

/* Returns whether NVML and an x86 processor both say that this is no virtual machine. */
static bool is_bare_metal(const struct osp_check_context *context, const struct osp_gpu *gpu)
{
	char text[8192], *flags;
	int mode = 0;

	if (osp_nvml_virtualization(gpu->device, &mode) != OSP_NVML_OK ||
	    mode != OSP_NVML_NOT_VIRTUAL ||
	    !osp_root_read(context->root, text, sizeof(text), "proc/cpuinfo"))
		return false;
	flags = strstr(text, "\nflags");
	if (!flags)
		return false;
	flags[1 + strcspn(flags + 1, "\n")] = '\0';
	return !strstr(flags, " hypervisor");
}

/* Returns whether a ConnectX is on the bus: through one the fabric manager reaches the NVSwitches
 * of a machine, from Blackwell on (Fabric Manager User Guide). */
static bool has_way_to_switches(const struct osp_check_context *context)
{
	struct osp_names devices;
	uint64_t vendor = 0;
	bool has = false;

	if (!osp_root_list(context->root, &devices, "sys/bus/pci/devices"))
		return true;
	for (size_t i = 0; i < devices.count && !has; i++)
		has = osp_root_number(context->root, &vendor, "sys/bus/pci/devices/%s/vendor",
				      devices.names[i]) &&
		      vendor == PCI_VENDOR_MELLANOX;
	osp_names_free(&devices);
	return has;
}

/* Returns whether a Blackwell is a virtual machine's of no known type, with no fabric manager of
 * its own: a host's sets up its GPUs, all of them or each for itself. */
static bool is_guest_of_host(const struct osp_check_context *context, const struct osp_gpu *gpu)
{
	struct osp_node_type type;

	return osp_gpu_is_guest(gpu) && !osp_node_type_read(context, &type) &&
	       (!sets_up_all(context) || !has_way_to_switches(context));
}

/*
 * Returns whether another host's fabric manager sets up this GPU, if any does: it is alone on its
 * node, or a Hopper without an NVSwitch on its bus, in a virtual machine with some of a host's
 * GPUs. On bare metal whose own fabric manager sets up all GPUs, switches that nobody was given
 * have fallen off the bus. From Blackwell on no bus shows the switches.
 */
static bool is_anothers(const struct osp_check_context *context, const struct osp_gpu *gpu)
{
	enum osp_pci_switches switches;
	struct osp_pci_gpus pci;
	int major = 0, minor = 0;

	osp_pci_gpus(context, &pci);
	if (pci.count + pci.given_away_count < 2)
		return true;
	if (osp_nvml_capability(gpu->device, &major, &minor) != OSP_NVML_OK)
		return false;
	if (major != 9)
		return is_guest_of_host(context, gpu);
	switches = osp_pci_switches(context);
	if (switches == OSP_SWITCHES_NONE)
		return !is_bare_metal(context, gpu) || !sets_up_all(context);
	return switches == OSP_SWITCHES_GIVEN_AWAY;
}

static void report_not_joined(struct osp_check_context *context, const struct osp_gpu *gpu,
			      unsigned int state)
{
	bool begun = state == OSP_NVML_FABRIC_BEGUN;
	struct osp_result reported = {
		.verdict = OSP_VERDICT_ERROR, .cure = OSP_CURE_ASK, .later = true};

	snprintf(reported.subject, sizeof(reported.subject), "%s", gpu->subject);
	snprintf(reported.value, sizeof(reported.value), begun ? "in progress" : "not started");
	snprintf(reported.why, sizeof(reported.why),
		 "%.90s: has not joined the NVLink fabric; see that the fabric manager runs",
		 gpu->uuid);
	if (is_anothers(context, gpu)) {
		reported.verdict = OSP_VERDICT_WARN;
		reported.later = false;
		snprintf(reported.why, sizeof(reported.why),
			 "%.90s: has not joined an NVLink fabric; no switch is here, so if there "
			 "is a fabric another host sets it up",
			 gpu->uuid);
	} else if (begun && !sets_up_all(context)) {
		reported.verdict = OSP_VERDICT_WARN;
		reported.later = false;
		snprintf(reported.why, sizeof(reported.why),
			 "%.90s: waits for its partition of the NVLink fabric to be activated",
			 gpu->uuid);
	}
	context->report(context, &reported);
}

static bool judge_fabric(struct osp_check_context *context, const struct osp_gpu *gpu,
			 size_t *lacking, void *data)
{
	struct osp_nvml_fabric fabric = {.version = OSP_NVML_FABRIC_VERSION};
	int state = osp_nvml_fabric(gpu->device, &fabric);
	const char *ill;
	bool passes;

	(void)data;
	if (!osp_gpu_value(context, gpu, state, "fabric", lacking))
		return false;
	if (fabric.state == 0) { /* it has not joined any */
		(*lacking)++;
		return false;
	}
	ill = fabric_ill(&fabric, &passes);
	if (fabric.state != OSP_NVML_FABRIC_COMPLETED)
		report_not_joined(context, gpu, fabric.state);
	else if (fabric.status != OSP_NVML_OK)
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, gpu->subject, "not joined",
			       NULL, NULL, "%s: joining the NVLink fabric failed: %s", gpu->uuid,
			       osp_nvml_words(fabric.status));
	else if (ill && misconfigured(&fabric) == NO_PARTITION)
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject,
			       "no partition", NULL, "NVML's fabric health",
			       "%s: is in no partition of the NVLink fabric", gpu->uuid);
	else if (ill && passes)
		report_mending(context, gpu, ill);
	else if (ill)
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, gpu->subject, ill, NULL,
			       "NVML's fabric health", "%s: the NVLink fabric reports: %s",
			       gpu->uuid, ill);
	else
		return false;
	return true;
}

static void run_fabric(struct osp_check_context *context)
{
	if (osp_gpus_each(context, judge_fabric, NULL, "no GPU here belongs to an NVLink fabric"))
		osp_result_pass(context, "joined");
}

static void ignore_result(struct osp_check_context *context, const struct osp_result *result)
{
	(void)context;
	(void)result;
}

/* Returns whether this GPU is still about to join, or its routes are being repaired. */
static bool is_under_way(const struct osp_gpu *gpu)
{
	struct osp_nvml_fabric fabric = {.version = OSP_NVML_FABRIC_VERSION};
	bool passes;

	if (gpu->state != OSP_NVML_OK || osp_nvml_fabric(gpu->device, &fabric) != OSP_NVML_OK ||
	    !fabric.state)
		return false;
	return fabric.state != OSP_NVML_FABRIC_COMPLETED ||
	       (fabric_ill(&fabric, &passes) && passes);
}

static int fabric_still_ill(struct osp_check_context *context)
{
	struct osp_gpus gpus;

	context->report = ignore_result;
	if (!osp_gpus_open(context, &gpus))
		return 0;
	for (size_t i = 0; i < gpus.count; i++)
		if (is_under_way(&gpus.gpus[i]))
			return 1;
	return 0;
}

const struct osp_check osp_check_fabric = {
	.name = "fabric",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 3000,
	.measures = "each GPU has joined the NVLink fabric, and the fabric is well",
	.explains =
		"Where NVSwitches join GPUs, the fabric manager must have set them up, or CUDA "
		"answers error 802. NVML reports the state from Hopper on; A100 systems are not "
		"seen here. A GPU that has not joined is an error of the check in the first "
		"fabric_grace_s after boot; later it fails when a second look a minute after it "
		"says so too, as do routes that are still being mended then. Where the fabric has "
		"partitions a GPU that waits for its own only warns, as does one that is alone, "
		"a Blackwell of a virtual machine of no known type that has no way to switches, "
		"or one whose NVSwitches another host has: on bare metal with a fabric manager of "
		"its own that sets up all GPUs (FABRIC_MODE=0) switches that are not on the bus "
		"are lost, and it fails.",
	.cures = "Start nvidia-fabricmanager (its version must be the driver's); look at its log.",
	.run = run_fabric,
	.still_ill = fabric_still_ill,
};
