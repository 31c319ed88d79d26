/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_gpu.c - does the driver know every GPU of the PCI bus, and its library the driver? */
#include "check/passive/passive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "check/base/gpus.h"
#include "check/base/node_type.h"
#include "check/base/root.h"

/* Returns whether a cgroup or permissions keep this process from a device. A GPU that does not
 * start gives another error, EIO. */
static bool may_not_open(const struct osp_check_context *context, const char *device)
{
	char path[OSP_PATH_BYTES];
	int file;

	if (!osp_root_path(context->root, path, sizeof(path), "%s", device))
		return false;
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return errno == EPERM || errno == EACCES;
	close(file);
	return false;
}

/* Returns the expected number of GPUs; for a node type that the thresholds do not have, the
 * catalogue's. */
static const struct osp_limit *expected_gpus(const struct osp_check_context *context)
{
	static struct osp_limit of_catalogue = {.source =
							"the catalogue of node types (instances/)"};
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_GPUS, NULL);
	struct osp_node_type type;

	if (expected || !osp_node_type_read(context, &type) || !type.nvidia_gpus)
		return expected;
	of_catalogue.value = type.nvidia_gpus;
	return &of_catalogue;
}

/* --- driver ----------------------------------------------------------------------------------- */

/* Reports that NVML does not start. Where a cgroup has taken the devices away it may say no more
 * than "unknown error", so the device is tried. */
static void report_no_start(struct osp_check_context *context, const char *kernel_driver, int state)
{
	if (osp_nvml_cannot_now(state))
		osp_result_error(context, "", "NVML does not start: %s", osp_nvml_words(state));
	else if (osp_nvml_refuses(state) || may_not_open(context, "dev/nvidiactl"))
		osp_result_error(
			context, "",
			"NVML refuses this process: %s (permissions of /dev/nvidia*, devices "
			"of the job's cgroup)",
			osp_nvml_words(state));
	else
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "", "no start", NULL,
			       NULL, "the driver %s is loaded, but NVML does not start: %s",
			       kernel_driver, osp_nvml_words(state));
}

/* Reports what NVML's start says about the driver and the library. */
static void report_start(struct osp_check_context *context, const char *kernel_driver, int state)
{
	char library[OSP_WORD_BYTES] = "?", differs[OSP_WORD_BYTES + 8];

	switch (state) {
	case OSP_NVML_OK:
		if (osp_nvml_driver_version(library, sizeof(library)) != OSP_NVML_OK)
			snprintf(library, sizeof(library), "?");
		snprintf(differs, sizeof(differs), "!= %s", kernel_driver);
		if (*library != '?' && strcmp(library, kernel_driver) != 0)
			osp_result_add(
				context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "", library, differs,
				NULL,
				"the library is of driver %s, the kernel runs %s: a driver was "
				"installed without a reboot",
				library, kernel_driver);
		else
			osp_result_pass(context, "%s", kernel_driver);
		break;
	case OSP_NVML_VERSION_MISMATCH:
		osp_result_add(
			context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, "", "mismatch", NULL, NULL,
			"the library does not fit the kernel's driver %s: a driver was installed "
			"without a reboot",
			kernel_driver);
		break;
	case -1:
		osp_result_error(context, "", "NVML: %s", osp_nvml_load());
		break;
	default:
		report_no_start(context, kernel_driver, state);
	}
}

/* Reports on a driver of which this process sees neither module nor bus, so NVML alone knows. */
static void report_hidden(struct osp_check_context *context)
{
	char library[OSP_WORD_BYTES] = "?";
	int state = osp_nvml_ready();

	if (state == OSP_NVML_OK)
		state = osp_nvml_driver_version(library, sizeof(library));
	if (state == OSP_NVML_OK)
		osp_result_pass(context, "%s", library);
	else
		osp_result_error(context, "", "NVML: %s",
				 state < 0 ? osp_nvml_load() : osp_nvml_words(state));
}

/* Reports that no module nvidia is loaded. A machine may have a card for a display alone, on
 * nouveau or on nothing, or one that nobody is to compute on; one that should have GPUs, or a job
 * with some, has lost its driver. */
static void report_not_loaded(struct osp_check_context *context, const struct osp_pci_gpus *gpus)
{
	const struct osp_limit *expected = expected_gpus(context);
	bool for_display = gpus->monitors == gpus->count && !context->gpus && !expected;

	if (!context->gpus && expected && !expected->value)
		osp_result_skip(context,
				"%zu NVIDIA cards and no kernel module nvidia: no GPU is to be "
				"here, by the limit gpus",
				gpus->count);
	else if (for_display && *gpus->monitor_driver)
		osp_result_skip(context, "NVIDIA cards for a display alone: %s has them",
				gpus->monitor_driver);
	else if (!context->gpus && !expected && context->without_gpus && context->without_gpus())
		osp_result_skip(context,
				"%zu NVIDIA cards and no kernel module nvidia: slurm.conf gives "
				"this node no GPU",
				gpus->count);
	else if (for_display)
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", "not loaded", NULL, NULL,
			"%zu NVIDIA cards with a monitor's class on the PCI bus, and no kernel "
			"module nvidia; where they are to compute, the limit gpus says so",
			gpus->count);
	else
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, "", "not loaded", NULL,
			       NULL, "%zu GPUs on the PCI bus, and no kernel module nvidia",
			       gpus->count);
}

static void run_driver(struct osp_check_context *context)
{
	char driver[OSP_WORD_BYTES];
	struct osp_pci_gpus gpus;

	osp_pci_gpus(context, &gpus);
	if (!gpus.count) {
		osp_result_skip(context, "no NVIDIA GPU on the PCI bus");
		return;
	}
	if (!osp_root_read(context->root, driver, sizeof(driver), "sys/module/nvidia/version")) {
		if (gpus.by_files) {
			report_hidden(context);
			return;
		}
		report_not_loaded(context, &gpus);
		return;
	}
	report_start(context, driver, osp_nvml_ready());
}

const struct osp_check osp_check_driver = {
	.name = "driver",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.basic = true,
	.deadline_ms = 5000, /* without persistence a driver takes seconds to start */
	.measures = "the NVIDIA kernel driver is loaded and fits its library",
	.explains = "Compares the version of the kernel module with that of libnvidia-ml.so.1, and "
		    "starts NVML. A library that cannot be found is reported as an error of the "
		    "check, not of the node. Cards without a driver are no fault where nobody is "
		    "to compute on them: with a monitor's class on nouveau, where slurm.conf gives "
		    "the node no GPU, or where the site says so (limits: {gpus: 0}).",
	.cures = "Reboot after a driver was installed; install the driver where it is missing.",
	.run = run_driver,
};

/* --- gpus ------------------------------------------------------------------------------------- */

static const struct osp_gpu *gpu_at(const struct osp_gpus *gpus, const char *address)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (strcasecmp(gpus->gpus[i].address, address) == 0)
			return &gpus->gpus[i];
	return NULL;
}

/* Returns whether this process may not open the GPU: NVML omits it then. */
static bool may_not_open_gpu(const struct osp_check_context *context, const char *address)
{
	unsigned int minor;
	char name[32];

	if (!osp_pci_gpu_minor(context, address, &minor))
		return false;
	snprintf(name, sizeof(name), "dev/nvidia%u", minor);
	return may_not_open(context, name);
}

static bool any_refused(const struct osp_gpus *gpus)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (osp_nvml_refuses(gpus->gpus[i].state))
			return true;
	return false;
}

/* Reports a GPU that is on the bus and that NVML does not list. */
static void report_absent(struct osp_check_context *context, const struct osp_gpus *gpus,
			  const struct osp_pci_gpu *card, const char *subject)
{
	const char *address = card->address;

	if (card->left_out && !expected_gpus(context))
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_ASK, subject, "left out", NULL, NULL,
			"at %s: the driver has taken others, and none of this kind; it may be "
			"too old for the driver, or not start",
			address);
	else if (any_refused(gpus) || may_not_open_gpu(context, address))
		osp_result_error(
			context, subject,
			"at %s: this process may not open it (devices of the job's cgroup, "
			"permissions of /dev/nvidia*)",
			address);
	else
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, subject, "missing", NULL,
			       NULL, "on the PCI bus at %s, unknown to the driver", address);
}

/* Reports each GPU of the bus that is not in NVML's list or does not answer; files alone report no
 * addresses to compare. Returns how many. */
static size_t report_missing(struct osp_check_context *context, const struct osp_pci_gpus *pci,
			     const struct osp_gpus *gpus)
{
	size_t ill = 0;

	for (size_t i = 0; i < pci->count && !pci->by_files; i++) {
		const struct osp_gpu *gpu = gpu_at(gpus, pci->gpus[i].address);
		char subject[16];

		if (!pci->gpus[i].chosen)
			continue;
		snprintf(subject, sizeof(subject), "gpu%zu", i);
		if (!gpu) {
			report_absent(context, gpus, &pci->gpus[i], subject);
			ill++;
		} else if (osp_nvml_refuses(gpu->state)) {
			osp_result_error(context, subject, "at %s: %s", pci->gpus[i].address,
					 osp_nvml_words(gpu->state));
			ill++;
		} else if (gpu->state != OSP_NVML_OK) {
			osp_result_add(context, OSP_VERDICT_FAIL,
				       gpu->state == OSP_NVML_RESET_REQUIRED ? OSP_CURE_RESET_GPU
									     : OSP_CURE_REBOOT,
				       subject, "no answer", NULL, NULL, "at %s: %s",
				       pci->gpus[i].address, osp_nvml_words(gpu->state));
			ill++;
		}
	}
	return ill;
}

static size_t report_twins(struct osp_check_context *context, const struct osp_gpus *gpus)
{
	size_t ill = 0;

	for (size_t i = 0; i < gpus->count; i++)
		for (size_t n = 0; n < i; n++)
			if (*gpus->gpus[i].uuid &&
			    strcmp(gpus->gpus[i].uuid, gpus->gpus[n].uuid) == 0) {
				osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE,
					       gpus->gpus[i].subject, "UUID twice", NULL, NULL,
					       "has the UUID of %s: %s", gpus->gpus[n].subject,
					       gpus->gpus[i].uuid);
				ill++;
			}
	return ill;
}

/* Reports GPUs for which NVML and the kernel's driver name different UUIDs at one address. Returns
 * how many. */
static size_t report_other_uuids(struct osp_check_context *context, const struct osp_gpus *gpus)
{
	size_t ill = 0;
	char uuid[96];

	for (size_t i = 0; i < gpus->count; i++) {
		const struct osp_gpu *gpu = &gpus->gpus[i];

		if (gpu->state != OSP_NVML_OK || !*gpu->uuid ||
		    !osp_pci_gpu_uuid(context, gpu->address, uuid, sizeof(uuid)) ||
		    strchr(uuid, '?') || strcasecmp(uuid, gpu->uuid) == 0)
			continue;
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, gpu->subject,
			       "UUID differs", NULL, NULL,
			       "at %s NVML reports %s, the kernel's driver %s", gpu->address,
			       gpu->uuid, uuid);
		ill++;
	}
	return ill;
}

static void run_gpus(struct osp_check_context *context)
{
	const struct osp_limit *expected = expected_gpus(context);
	struct osp_pci_gpus pci;
	struct osp_gpus gpus;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	unsigned int count;
	size_t all;
	int state;

	osp_pci_gpus(context, &pci);
	all = pci.count + pci.given_away_count;
	if (expected && !context->gpus && !pci.hidden && (int64_t)all < expected->value) {
		snprintf(value, sizeof(value), "%zu", all);
		snprintf(limit, sizeof(limit), "< %lld", (long long)expected->value);
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, "", value, limit,
			       expected->source, "GPUs on the PCI bus; %s has %lld",
			       *context->node ? context->node : "this node",
			       (long long)expected->value);
		return;
	}
	state = pci.count && osp_nvml_ready() == OSP_NVML_OK ? osp_nvml_count(&count) : OSP_NVML_OK;
	if (state != OSP_NVML_OK) {
		osp_result_error(context, "", "NVML does not count the GPUs: %s",
				 osp_nvml_words(state));
		return;
	}
	if (!osp_gpus_open(context, &gpus))
		return;
	if (report_missing(context, &pci, &gpus) + report_twins(context, &gpus))
		return;
	if (report_other_uuids(context, &gpus))
		return;
	osp_result_pass(context, "%zu", gpus.count);
}

const struct osp_check osp_check_gpus = {
	.name = "gpus",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.basic = true,
	.settles = true,
	.deadline_ms = 5000,
	.measures = "every GPU of the PCI bus answers, and as many are there as the machine has",
	.explains = "Compares NVIDIA's GPUs on the PCI bus with NVML's list and, where the "
		    "machine's name is known, with how many it should have. A GPU that has fallen "
		    "off the bus shows here. One that is given to a virtual machine (vfio-pci), "
		    "that root has excluded from the driver (NVreg_ExcludedGpus), or that this "
		    "container was not given is left out, as is a card of another kind with a "
		    "monitor's class that the driver has not taken; without that class it warns "
		    "where nobody says how many GPUs there are. One that this process may not "
		    "open, by its cgroup, is an error of the check. Where the PCI bus is hidden "
		    "GPUs are not counted.",
	.cures = "Reboot; when a GPU stays away, replace the node.",
	.run = run_gpus,
};

/* --- device files ----------------------------------------------------------------------------- */

static void run_device_files(struct osp_check_context *context)
{
	struct osp_pci_gpus gpus;
	size_t there = 0;
	unsigned int minor;
	bool ill = false;
	char subject[16];

	osp_pci_gpus(context, &gpus);
	for (size_t i = 0; i < gpus.count; i++) {
		if (!gpus.gpus[i].chosen ||
		    !osp_pci_gpu_minor(context, gpus.gpus[i].address, &minor))
			continue;
		there++;
		if (osp_root_exists(context->root, "dev/nvidia%u", minor))
			continue;
		snprintf(subject, sizeof(subject), "gpu%zu", i);
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, subject, "no device file",
			       NULL, NULL, "/dev/nvidia%u is not there; nvidia-modprobe makes it",
			       minor);
		ill = true;
	}
	if (there && !osp_root_exists(context->root, "dev/nvidiactl")) {
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, "", "no device file", NULL,
			       NULL, "/dev/nvidiactl is not there; nvidia-modprobe makes it");
		ill = true;
	}
	if (!there)
		osp_result_skip(context, "the driver lists no GPU in /proc");
	else if (!ill)
		osp_result_pass(context, "%zu", there);
}

const struct osp_check osp_check_device_files = {
	.name = "device-files",
	.group = OSP_GROUP_GPU, /* NVIDIA's libraries make the files when they first open a GPU */
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 3000,
	.measures = "/dev/nvidiactl and a /dev/nvidiaN for each GPU are there",
	.explains =
		"Compares /proc/driver/nvidia/gpus with /dev. Programs and Slurm's gres.conf "
		"name these files. Where nothing made them at boot the library does when it first "
		"opens a GPU, so this comes after that.",
	.cures = "Run nvidia-modprobe, or start nvidia-persistenced at boot.",
	.run = run_device_files,
};
