/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_accelerator.c - AWS Neuron devices and AMD GPUs, from sysfs */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/base/counters.h"
#include "check/base/gpus.h"
#include "check/base/root.h"

/* --- Neuron ----------------------------------------------------------------------------------- */

#define PCI_VENDOR_AMAZON 0x1d0f

/* Returns whether the device is an Inferentia or a Trainium: x064. */
static bool is_neuron(uint64_t vendor, uint64_t device)
{
	return vendor == PCI_VENDOR_AMAZON && device >= 0x7064 && device <= 0x7964 &&
	       (device & 0xff) == 0x64;
}

static size_t neurons_on_bus(const struct osp_check_context *context)
{
	struct osp_names devices;
	size_t count = 0;

	if (osp_root_list(context->root, &devices, "sys/bus/pci/devices"))
		for (size_t i = 0; i < devices.count; i++) {
			uint64_t vendor = 0, device = 0;

			osp_root_number(context->root, &vendor, "sys/bus/pci/devices/%s/vendor",
					devices.names[i]);
			osp_root_number(context->root, &device, "sys/bus/pci/devices/%s/device",
					devices.names[i]);
			count += is_neuron(vendor, device);
		}
	osp_names_free(&devices);
	return count;
}

/* Judges a device's error counters. Counters that are not where they are expected say nothing; they
 * count in *unread. */
static bool judge_neuron(struct osp_check_context *context, const char *name, size_t *unread)
{
	char value[OSP_WORD_BYTES];
	uint64_t errors;

	if (!osp_neuron_errors(context->root, name, &errors)) {
		(*unread)++;
		return false;
	}
	osp_result_figure(context, name, "ecc_uncorrected", (double)errors);
	if (!errors)
		return false;
	snprintf(value, sizeof(value), "%llu uncorrected", (unsigned long long)errors);
	osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, name, value, "> 0", NULL,
		       "%s: uncorrected memory errors", name);
	return true;
}

static void run_neuron(struct osp_check_context *context)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_NEURON_DEVICES, NULL);
	size_t bus = neurons_on_bus(context), need = bus, there = 0, unread = 0;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	struct osp_names devices;
	bool ill = false;

	if (expected && (size_t)expected->value > need)
		need = (size_t)expected->value;
	if (!need) {
		osp_result_skip(context, "no Neuron device on the PCI bus");
		return;
	}
	if (osp_root_list(context->root, &devices, "sys/devices/virtual/neuron_device"))
		for (size_t i = 0; i < devices.count; i++) {
			if (strncmp(devices.names[i], "neuron", 6) != 0)
				continue;
			there++;
			ill |= judge_neuron(context, devices.names[i], &unread);
		}
	osp_names_free(&devices);
	if (there < need) {
		snprintf(value, sizeof(value), "%zu", there);
		snprintf(limit, sizeof(limit), "< %zu", need);
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "", value, limit,
			       expected ? expected->source : NULL,
			       "Neuron devices with a driver; %zu on the PCI bus", bus);
	} else if (unread) {
		osp_result_error(
			context, "",
			"%zu of %zu devices report no memory errors in sysfs (stats/hardware); "
			"the driver may keep them elsewhere",
			unread, there);
	} else if (!ill) {
		osp_result_pass(context, "%zu", there);
	}
}

const struct osp_check osp_check_neuron = {
	.name = "neuron",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 2000,
	.measures = "every Neuron device has its driver and no uncorrected memory error",
	.explains = "Counts Trainium and Inferentia devices on the PCI bus and those that the "
		    "driver made, and reads their counters of uncorrected errors. Never run on "
		    "such a machine yet.",
	.cures = "Reboot or reload the driver; replace the node for memory errors.",
	.run = run_neuron,
};

/* --- AMD -------------------------------------------------------------------------------------- */

#define PCI_VENDOR_AMD 0x1002

/* Returns whether the device is a card for displays: another function than its first, a second
 * head, or one of an old kind (driver radeon). */
static bool is_graphics(const struct osp_check_context *context, const char *address)
{
	char driver[64];

	if (address[strlen(address) - 1] != '0')
		return true;
	return osp_root_link_name(context->root, driver, sizeof(driver),
				  "sys/bus/pci/devices/%s/driver", address) &&
	       strcmp(driver, "radeon") == 0;
}

/* Returns whether the device is an accelerator, "processing accelerator" (12) or "display, other"
 * (0380), and not the graphics of a desktop. */
static bool is_amd(const struct osp_check_context *context, const char *address)
{
	uint64_t vendor = 0, class = 0;

	osp_root_number(context->root, &vendor, "sys/bus/pci/devices/%s/vendor", address);
	osp_root_number(context->root, &class, "sys/bus/pci/devices/%s/class", address);
	if (vendor != PCI_VENDOR_AMD)
		return false;
	return class >> 16 == 0x12 || (class >> 8 == 0x0380 && !is_graphics(context, address));
}

static bool judge_amd(struct osp_check_context *context, const char *address)
{
	char driver[64] = "", value[OSP_WORD_BYTES];
	uint64_t errors, correctable;

	osp_root_link_name(context->root, driver, sizeof(driver), "sys/bus/pci/devices/%s/driver",
			   address);
	if (strcmp(driver, "gim") == 0) /* AMD's driver of a host whose GPU serves guests */
		return false;
	if (strcmp(driver, "amdgpu") != 0) {
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, address, "no driver",
			       NULL, NULL, "the AMD GPU at %s has no driver", address);
		return true;
	}
	if (!osp_amd_errors(context->root, address, &errors, &correctable))
		return false;
	osp_result_figure(context, address, "ras_uncorrectable", (double)errors);
	osp_result_figure(context, address, "ras_correctable", (double)correctable);
	if (!errors)
		return false;
	snprintf(value, sizeof(value), "%llu uncorrectable", (unsigned long long)errors);
	osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, address, value, "> 0", NULL,
		       "the AMD GPU at %s has uncorrectable memory errors", address);
	return true;
}

static void run_amd(struct osp_check_context *context)
{
	struct osp_names devices;
	size_t count = 0;
	bool ill = false;

	if (osp_root_list(context->root, &devices, "sys/bus/pci/devices"))
		for (size_t i = 0; i < devices.count; i++) {
			if (!is_amd(context, devices.names[i]) ||
			    osp_pci_is_given_away(context, devices.names[i]))
				continue;
			count++;
			ill |= judge_amd(context, devices.names[i]);
		}
	osp_names_free(&devices);
	if (!count)
		osp_result_skip(context, "no AMD accelerator on the PCI bus");
	else if (!ill)
		osp_result_pass(context, "%zu", count);
}

const struct osp_check osp_check_amd = {
	.name = "amd",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 2000,
	.measures = "every AMD accelerator has its driver and no uncorrectable memory error",
	.explains =
		"Looks for AMD accelerators on the PCI bus, their driver amdgpu and its counter of "
		"uncorrectable errors (ras/*_err_count). One that is given to a virtual machine "
		"(vfio-pci) or serves some (gim) is left out. Never run on such a machine yet.",
	.cures = "Reboot; replace the node when errors come back.",
	.run = run_amd,
};
