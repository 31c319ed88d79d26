/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpus.c - the NVIDIA GPUs of this node: on the PCI bus, and as NVML knows them */
#include "check/base/gpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check/base/container.h"
#include "check/base/root.h"

#define PCI_VENDOR_NVIDIA 0x10de
#define PCI_CLASS_DISPLAY 0x03
#define PCI_CLASS_VGA	  0x0300 /* for a monitor; GPUs without an output are 0x0302 */
#define PCI_CLASS_BRIDGE  0x0680 /* "bridge, other": an NVSwitch */

/* --- --gpus ----------------------------------------------------------------------------------- */

/* Returns whether one item of the list, a number, a range or a UUID, means this GPU. */
static bool item_holds(const char *item, size_t length, unsigned int index, const char *uuid)
{
	char *end;
	unsigned long least, most;

	if (!isdigit((unsigned char)*item))
		return uuid && length <= strlen(uuid) && strncasecmp(item, uuid, length) == 0;
	least = strtoul(item, &end, 10);
	most = *end == '-' ? strtoul(end + 1, &end, 10) : least;
	return index >= least && index <= most;
}

static bool chosen(const char *list, unsigned int index, const char *uuid)
{
	while (list && *list) {
		size_t length = strcspn(list, ",");

		if (item_holds(list, length, index, uuid))
			return true;
		list += length + (list[length] == ',');
		if (!*list)
			return false;
	}
	return list == NULL;
}

static bool names_uuid(const char *list)
{
	return list && (strstr(list, "GPU-") || strstr(list, "gpu-"));
}

bool osp_gpus_valid(const char *list, struct osp_error *error)
{
	const char *item = list;

	do {
		size_t length, digits = strspn(item, "0123456789");

		length = strcspn(item, ",");
		if (strncasecmp(item, "GPU-", 4) == 0 && length > 4 &&
		    strspn(item + 4, "0123456789abcdefABCDEF-") == length - 4)
			digits = length;
		else if (digits && digits <= 3 && item[digits] == '-') {
			size_t more = strspn(item + digits + 1, "0123456789");

			if (!more || more > 3 || atoi(item + digits + 1) < atoi(item))
				digits = 0;
			else
				digits += 1 + more;
		} else if (digits > 3)
			digits = 0;
		if (!digits || digits != length) {
			osp_error_set(error,
				      "--gpus %.60s: numbers, ranges or UUIDs separated by commas "
				      "are expected (0-3,5)",
				      list);
			return false;
		}
		item += length;
	} while (*item++ == ',');
	return true;
}

/* --- PCI -------------------------------------------------------------------------------------- */

bool osp_pci_gpu_uuid(const struct osp_check_context *context, const char *address, char *uuid,
		      size_t uuid_bytes)
{
	char text[1024], *at;

	if (!osp_root_read(context->root, text, sizeof(text),
			   "proc/driver/nvidia/gpus/%s/information", address))
		return false;
	at = strstr(text, "GPU-");
	if (!at)
		return false;
	at[strcspn(at, " \t\n")] = '\0';
	snprintf(uuid, uuid_bytes, "%s", at);
	return true;
}

bool osp_pci_gpu_minor(const struct osp_check_context *context, const char *address,
		       unsigned int *minor)
{
	char text[1024], *at;

	if (!osp_root_read(context->root, text, sizeof(text),
			   "proc/driver/nvidia/gpus/%s/information", address))
		return false;
	at = strstr(text, "Device Minor:");
	return at && sscanf(at, "Device Minor: %u", minor) == 1;
}

/* Returns whether root excluded the GPU (NVreg_ExcludedGpus): the driver and its libraries omit
 * it. */
static bool is_excluded(const struct osp_check_context *context, const char *address)
{
	static const char key[] = "GPU Excluded:";
	char text[1024], *at;

	if (!osp_root_read(context->root, text, sizeof(text),
			   "proc/driver/nvidia/gpus/%s/information", address))
		return false;
	at = strstr(text, key);
	if (!at)
		return false;
	at += sizeof(key) - 1;
	at += strspn(at, " \t");
	return strncmp(at, "Yes", 3) == 0;
}

static void add_gpu(const struct osp_check_context *context, struct osp_pci_gpus *gpus,
		    const char *address)
{
	struct osp_pci_gpu *gpu = &gpus->gpus[gpus->count];
	char uuid[96];
	bool known;

	if (strlen(address) >= sizeof(gpu->address))
		return;
	snprintf(gpu->address, sizeof(gpu->address), "%.15s", address);
	known = names_uuid(context->gpus) && osp_pci_gpu_uuid(context, address, uuid, sizeof(uuid));
	gpu->chosen = chosen(context->gpus, (unsigned int)gpus->count, known ? uuid : NULL);
	gpus->count++;
}

/* Returns whether the device's driver is `wanted`, or with NULL one of those that give a device to
 * virtual machines or to programs: vfio-pci or a variant (nvgrace_gpu_vfio_pci), a stub of Xen or
 * KVM, uio_pci_generic or igb_uio. */
static bool has_driver(const struct osp_check_context *context, const char *address,
		       const char *wanted)
{
	char driver[64];

	if (!osp_root_link_name(context->root, driver, sizeof(driver),
				"sys/bus/pci/devices/%s/driver", address))
		return false;
	if (wanted)
		return strcmp(driver, wanted) == 0;
	return strstr(driver, "vfio") || strstr(driver, "uio") || strcmp(driver, "pciback") == 0 ||
	       strcmp(driver, "pci-stub") == 0;
}

/* Returns whether it is a virtual function that this host has made; the GPU itself is listed
 * too. */
static bool is_virtual_function(const struct osp_check_context *context, const char *address)
{
	return osp_root_exists(context->root, "sys/bus/pci/devices/%s/physfn", address);
}

bool osp_pci_is_given_away(const struct osp_check_context *context, const char *address)
{
	return is_virtual_function(context, address) || has_driver(context, address, NULL);
}

/*
 * Returns whether this container was not given the GPU. The container's list of the driver's GPUs
 * (/proc/driver/nvidia) leaves others out, or has them all while only the given ones have a device
 * file. Elsewhere the list has every GPU that the driver has taken, and a file that is not there is
 * a fault.
 */
static bool is_withheld(const struct osp_check_context *context, const char *address)
{
	unsigned int minor;

	if (!osp_root_exists(context->root, "proc/driver/nvidia/gpus/%s", address))
		return has_driver(context, address, "nvidia");
	return osp_pci_gpu_minor(context, address, &minor) &&
	       !osp_root_exists(context->root, "dev/nvidia%u", minor);
}

/* Adds a GPU to those that count here, or to those that are given away. */
static void sort_gpu(const struct osp_check_context *context, struct osp_pci_gpus *gpus,
		     const char *address)
{
	if (gpus->count == OSP_GPUS_MAX || gpus->given_away_count == OSP_GPUS_MAX)
		return;
	if (has_driver(context, address, NULL) || is_excluded(context, address) ||
	    (gpus->contained && is_withheld(context, address)))
		snprintf(gpus->given_away[gpus->given_away_count++], sizeof(gpus->given_away[0]),
			 "%.15s", address);
	else
		add_gpu(context, gpus, address);
}

/* Adds the GPUs of the driver's own list, for containers that hide the PCI bus. */
static void add_gpus_of_driver(const struct osp_check_context *context, struct osp_pci_gpus *gpus)
{
	struct osp_names addresses;

	if (!osp_root_list(context->root, &addresses, "proc/driver/nvidia/gpus"))
		return;
	for (size_t i = 0; i < addresses.count; i++)
		sort_gpu(context, gpus, addresses.names[i]);
	osp_names_free(&addresses);
}

/* Adds a GPU for each /dev/nvidiaN. Their order is NVML's, as far as it can be known. */
static void add_gpus_of_files(const struct osp_check_context *context, struct osp_pci_gpus *gpus)
{
	char name[16];

	gpus->by_files = true;
	for (unsigned int minor = 0; minor < OSP_GPUS_MAX; minor++) {
		snprintf(name, sizeof(name), "nvidia%u", minor);
		if (osp_root_exists(context->root, "dev/%s", name))
			add_gpu(context, gpus, name);
	}
}

/* Returns whether the device is NVIDIA's, and its class. */
static bool is_nvidia(const struct osp_check_context *context, const char *address, uint64_t *class)
{
	uint64_t vendor = 0;

	*class = 0;
	return osp_root_number(context->root, &vendor, "sys/bus/pci/devices/%s/vendor", address) &&
	       vendor == PCI_VENDOR_NVIDIA &&
	       osp_root_number(context->root, class, "sys/bus/pci/devices/%s/class", address);
}

/* Returns whether the device is a GPU, no virtual function, and its class. */
static bool is_gpu(const struct osp_check_context *context, const char *address, uint64_t *class)
{
	return is_nvidia(context, address, class) && *class >> 16 == PCI_CLASS_DISPLAY &&
	       !is_virtual_function(context, address);
}

static uint64_t device_id(const struct osp_check_context *context, const char *address)
{
	uint64_t id = 0;

	osp_root_number(context->root, &id, "sys/bus/pci/devices/%s/device", address);
	return id;
}

/*
 * Returns whether NVIDIA's driver has not taken the card (it may be too old for that driver) but
 * has taken others, and none of these is of its kind, as a GPU that does not start would be.
 */
static bool is_left_out(const struct osp_check_context *context, const struct osp_names *devices,
			const char *address)
{
	bool others = false;
	uint64_t class;

	if (has_driver(context, address, "nvidia") || has_driver(context, address, NULL))
		return false;
	for (size_t i = 0; i < devices->count; i++) {
		if (!is_gpu(context, devices->names[i], &class) ||
		    !has_driver(context, devices->names[i], "nvidia"))
			continue;
		if (device_id(context, devices->names[i]) == device_id(context, address))
			return false;
		others = true;
	}
	return others;
}

/* Adds a card of the bus. One with a monitor's class that the driver has left out is for a
 * display. */
static void take_card(const struct osp_check_context *context, struct osp_pci_gpus *gpus,
		      const struct osp_names *devices, const char *address, uint64_t class)
{
	bool left_out = is_left_out(context, devices, address);
	bool has_monitor = class >> 8 == PCI_CLASS_VGA;
	size_t before = gpus->count;

	if (left_out && has_monitor)
		return;
	sort_gpu(context, gpus, address);
	if (gpus->count == before)
		return;
	gpus->gpus[before].left_out = left_out;
	if (!has_monitor || has_driver(context, address, "nvidia"))
		return;
	gpus->monitors++;
	osp_root_link_name(context->root, gpus->monitor_driver, sizeof(gpus->monitor_driver),
			   "sys/bus/pci/devices/%s/driver", address);
}

void osp_pci_gpus(const struct osp_check_context *context, struct osp_pci_gpus *gpus)
{
	struct osp_names devices;
	uint64_t class;

	memset(gpus, 0, sizeof(*gpus));
	gpus->contained = osp_in_container(context->root);
	gpus->hidden = osp_root_exists(context->root, "dev/dxg");
	if (!osp_root_list(context->root, &devices, "sys/bus/pci/devices")) {
		gpus->hidden = true;
		add_gpus_of_driver(context, gpus);
		if (!gpus->count && !gpus->given_away_count)
			add_gpus_of_files(context, gpus);
		return;
	}
	for (size_t i = 0; i < devices.count; i++)
		if (is_gpu(context, devices.names[i], &class))
			take_card(context, gpus, &devices, devices.names[i], class);
	osp_names_free(&devices);
}

enum osp_pci_switches osp_pci_switches(const struct osp_check_context *context)
{
	enum osp_pci_switches found = OSP_SWITCHES_NONE;
	struct osp_names devices;
	uint64_t class;

	if (!osp_root_list(context->root, &devices, "sys/bus/pci/devices"))
		return OSP_SWITCHES_HERE;
	for (size_t i = 0; i < devices.count && found != OSP_SWITCHES_HERE; i++)
		if (is_nvidia(context, devices.names[i], &class) && class >> 8 == PCI_CLASS_BRIDGE)
			found = has_driver(context, devices.names[i], NULL)
					? OSP_SWITCHES_GIVEN_AWAY
					: OSP_SWITCHES_HERE;
	osp_names_free(&devices);
	return found;
}

const char *osp_gpu_of_address(const struct osp_pci_gpus *gpus, const char *address, char *buffer,
			       size_t buffer_bytes, bool *is_chosen)
{
	for (size_t i = 0; i < gpus->count; i++) {
		if (strncasecmp(gpus->gpus[i].address, address, strlen(address)) == 0) {
			*is_chosen = gpus->gpus[i].chosen;
			snprintf(buffer, buffer_bytes, "gpu%zu", i);
			return buffer;
		}
	}
	*is_chosen = !gpus->contained;
	for (size_t i = 0; i < gpus->given_away_count; i++)
		if (strncasecmp(gpus->given_away[i], address, strlen(address)) == 0)
			*is_chosen = false;
	snprintf(buffer, buffer_bytes, "%s", address);
	return buffer;
}

/* Returns whether any GPU of this node is in instances (MIG). */
static bool any_in_instances(const char *root)
{
	static const char folder[] = "proc/driver/nvidia/capabilities";
	struct osp_names gpus, instances;
	bool any = false;

	if (!osp_root_list(root, &gpus, folder))
		return false;
	for (size_t i = 0; i < gpus.count && !any; i++) {
		if (strncmp(gpus.names[i], "gpu", 3) != 0 ||
		    !osp_root_list(root, &instances, "%s/%s/mig", folder, gpus.names[i]))
			continue;
		for (size_t n = 0; n < instances.count && !any; n++)
			any = strncmp(instances.names[n], "gi", 2) == 0;
		osp_names_free(&instances);
	}
	osp_names_free(&gpus);
	return any;
}

bool osp_gpu_numbers_unsure(const char *root, const char *list, uint64_t slurm_count)
{
	struct osp_check_context context = {.root = root, .gpus = list};
	struct osp_pci_gpus pci;
	bool all = true, ordered = true;
	unsigned int minor;

	if (any_in_instances(root))
		return true;
	osp_pci_gpus(&context, &pci);
	if (slurm_count && pci.count && slurm_count != pci.count)
		return true;
	for (size_t i = 0; i < pci.count; i++) {
		all = all && pci.gpus[i].chosen;
		if (!pci.by_files && osp_pci_gpu_minor(&context, pci.gpus[i].address, &minor))
			ordered = ordered && minor == i;
	}
	return !all && !ordered;
}

/* --- NVML ------------------------------------------------------------------------------------- */

int osp_nvml_ready(void)
{
	static bool asked;
	static int state;

	if (!asked) {
		asked = true;
		state = osp_nvml_load() ? -1 : osp_nvml_init();
	}
	return state;
}

bool osp_nvml_cannot_now(int state)
{
	return state == OSP_NVML_NO_MEMORY || state == OSP_NVML_NO_RESOURCES ||
	       state == OSP_NVML_IN_USE || state == OSP_NVML_NOT_READY;
}

bool osp_nvml_refuses(int state)
{
	return state == OSP_NVML_NO_PERMISSION || state == OSP_NVML_OPERATING_SYSTEM ||
	       osp_nvml_cannot_now(state);
}

bool osp_gpus_confidential(void)
{
	struct osp_nvml_confidential state = {.feature = 0};

	return osp_nvml_confidential(&state) == OSP_NVML_OK && state.feature == 1;
}

bool osp_gpu_partitioned(const struct osp_gpu *gpu)
{
	unsigned int mig = 0, later;

	return osp_nvml_mig_mode(gpu->device, &mig, &later) == OSP_NVML_OK && mig;
}

bool osp_gpu_is_guest(const struct osp_gpu *gpu)
{
	int mode = 0;

	return osp_nvml_virtualization(gpu->device, &mode) == OSP_NVML_OK &&
	       (mode == OSP_NVML_PASSED_THROUGH || mode == OSP_NVML_VIRTUAL_GPU);
}

bool osp_gpu_switched(const struct osp_gpu *gpu)
{
	bool any = false;

	for (unsigned int link = 0; link < OSP_NVML_LINKS_MAX; link++) {
		int active = 0, remote = 0;

		if (osp_nvml_link_state(gpu->device, link, &active) != OSP_NVML_OK || !active)
			continue;
		if (osp_nvml_link_remote(gpu->device, link, &remote) != OSP_NVML_OK ||
		    remote != OSP_NVML_REMOTE_SWITCH)
			return false;
		any = true;
	}
	return any;
}

static void open_gpu(struct osp_gpu *gpu, unsigned int index)
{
	struct osp_nvml_pci pci = {.domain = 0};

	memset(gpu, 0, sizeof(*gpu));
	gpu->index = index;
	gpu->state = osp_nvml_open(index, &gpu->device);
	if (gpu->state != OSP_NVML_OK)
		return;
	if (osp_nvml_pci(gpu->device, &pci) == OSP_NVML_OK)
		snprintf(gpu->address, sizeof(gpu->address), "%04x:%02x:%02x.0",
			 pci.domain & 0xffff, pci.bus & 0xff, pci.device & 0x1f);
	if (osp_nvml_name(gpu->device, gpu->name, sizeof(gpu->name)) != OSP_NVML_OK)
		*gpu->name = '\0';
	gpu->name[sizeof(gpu->name) - 1] = '\0';
	gpu->state = osp_nvml_uuid(gpu->device, gpu->uuid, sizeof(gpu->uuid));
	gpu->uuid[sizeof(gpu->uuid) - 1] = '\0';
	if (osp_nvml_lacks(gpu->state))
		gpu->state = OSP_NVML_OK;
}

/* Sets the GPU's number from the PCI bus, because NVML's numbers shift if the driver does not know
 * a GPU. */
static void number_gpu(struct osp_gpu *gpu, const struct osp_pci_gpus *pci)
{
	for (size_t i = 0; i < pci->count; i++)
		if (*gpu->address && strcasecmp(pci->gpus[i].address, gpu->address) == 0)
			gpu->index = (unsigned int)i;
	snprintf(gpu->subject, sizeof(gpu->subject), "gpu%u", gpu->index);
}

bool osp_gpus_open(struct osp_check_context *context, struct osp_gpus *gpus)
{
	struct osp_pci_gpus pci;

	osp_pci_gpus(context, &pci);
	return osp_gpus_open_on(context, &pci, gpus);
}

bool osp_gpus_open_on(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		      struct osp_gpus *gpus)
{
	unsigned int count = 0;
	int state;

	memset(gpus, 0, sizeof(*gpus));
	if (!pci->count) {
		osp_result_skip(context, "no NVIDIA GPU on the PCI bus");
		return false;
	}
	state = osp_nvml_ready();
	if (state != OSP_NVML_OK) {
		osp_result_skip(context, "NVML does not answer; the check driver says why");
		return false;
	}
	if (osp_nvml_count(&count) != OSP_NVML_OK) {
		osp_result_skip(context, "NVML counts no GPUs; the check gpus says why");
		return false;
	}
	gpus->all = count;
	for (unsigned int i = 0; i < count && gpus->count < OSP_GPUS_MAX; i++) {
		struct osp_gpu *gpu = &gpus->gpus[gpus->count];

		open_gpu(gpu, i);
		number_gpu(gpu, pci);
		if (chosen(context->gpus, gpu->index, gpu->uuid))
			gpus->count++;
	}
	if (!gpus->count)
		osp_result_skip(context, "NVML knows no GPU that was asked for");
	return gpus->count > 0;
}

bool osp_gpu_value(struct osp_check_context *context, const struct osp_gpu *gpu, int state,
		   const char *what, size_t *lacking)
{
	if (state == OSP_NVML_OK)
		return true;
	(*lacking)++;
	if (!osp_nvml_lacks(state) && state != OSP_NVML_GPU_LOST &&
	    state != OSP_NVML_RESET_REQUIRED)
		osp_result_error(context, gpu->subject, "%s: %s", what, osp_nvml_words(state));
	return false;
}

size_t osp_gpus_judge(struct osp_check_context *context, const struct osp_gpus *gpus,
		      osp_gpu_judge *judge, void *data, const char *nothing)
{
	size_t lacking = 0;
	bool ill = false;

	for (size_t i = 0; i < gpus->count; i++) {
		if (gpus->gpus[i].state == OSP_NVML_OK)
			ill |= judge(context, &gpus->gpus[i], &lacking, data);
		else
			lacking++;
	}
	if (lacking == gpus->count)
		osp_result_skip(context, "%s", nothing);
	return ill ? 0 : gpus->count - lacking;
}

size_t osp_gpus_each(struct osp_check_context *context, osp_gpu_judge *judge, void *data,
		     const char *nothing)
{
	struct osp_gpus gpus;

	if (!osp_gpus_open(context, &gpus))
		return 0;
	return osp_gpus_judge(context, &gpus, judge, data, nothing);
}
