/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/root.h"

/* --- NVIDIA ----------------------------------------------------------------------------------- */

static void add_memory(const struct osp_gpu *gpu, struct osp_node_state *state)
{
	unsigned int corrected, uncorrected, pending, failed;
	unsigned long long count;

	if (osp_nvml_ecc_errors(gpu->device, OSP_NVML_UNCORRECTED, OSP_NVML_VOLATILE, &count) ==
	    OSP_NVML_OK)
		osp_node_state_count(state, gpu->uuid, "ecc_uncorrected", count, true);
	if (osp_nvml_ecc_errors(gpu->device, OSP_NVML_CORRECTED, OSP_NVML_VOLATILE, &count) ==
	    OSP_NVML_OK)
		osp_node_state_count(state, gpu->uuid, "ecc_corrected", count, false);
	if (osp_nvml_memory_errors(gpu->device, OSP_NVML_UNCORRECTED, OSP_NVML_AGGREGATE,
				   OSP_NVML_LOCATION_SRAM, &count) == OSP_NVML_OK)
		osp_node_state_count(state, gpu->uuid, "sram_uncorrected", count, true);
	if (osp_nvml_remapped_rows(gpu->device, &corrected, &uncorrected, &pending, &failed) !=
	    OSP_NVML_OK)
		return;
	osp_node_state_count(state, gpu->uuid, "rows_remapped", (uint64_t)corrected + uncorrected,
			     true);
	osp_node_state_count(state, gpu->uuid, "remap_pending", pending, true);
	osp_node_state_count(state, gpu->uuid, "remap_failed", failed, true);
}

bool osp_link_errors_read(const struct osp_gpu *gpu, struct osp_link_errors *errors)
{
	uint64_t *const sums[] = {
		[OSP_NVML_LINK_REPLAY] = &errors->replay,
		[OSP_NVML_LINK_RECOVERY] = &errors->recovery,
		[OSP_NVML_LINK_CRC_FLIT] = &errors->crc,
		[OSP_NVML_LINK_CRC_DATA] = &errors->crc,
	};
	unsigned long long count;
	bool any = false;

	memset(errors, 0, sizeof(*errors));
	for (unsigned int link = 0; link < OSP_NVML_LINKS_MAX; link++)
		for (int kind = 0; kind < (int)(sizeof(sums) / sizeof(sums[0])); kind++)
			if (osp_nvml_link_errors(gpu->device, link, kind, &count) == OSP_NVML_OK) {
				*sums[kind] += count;
				any = true;
			}
	return any;
}

static void add_links(const struct osp_gpu *gpu, struct osp_node_state *state)
{
	struct osp_link_errors errors;

	if (!osp_link_errors_read(gpu, &errors))
		return;
	osp_node_state_count(state, gpu->uuid, "nvlink_crc", errors.crc, false);
	osp_node_state_count(state, gpu->uuid, "nvlink_replay", errors.replay, false);
	osp_node_state_count(state, gpu->uuid, "nvlink_recovery", errors.recovery, false);
}

static void add_nvidia(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		       struct osp_node_state *state)
{
	struct osp_gpus *gpus = malloc(sizeof(*gpus));

	if (gpus && osp_gpus_open_on(context, pci, gpus))
		for (size_t i = 0; i < gpus->count; i++) {
			if (gpus->gpus[i].state != OSP_NVML_OK || !*gpus->gpus[i].uuid)
				continue;
			add_memory(&gpus->gpus[i], state);
			add_links(&gpus->gpus[i], state);
		}
	free(gpus);
}

/* --- AMD, Neuron ------------------------------------------------------------------------------ */

/* "ue: 0\nce: 12" of each block of the GPU. */
bool osp_amd_errors(const char *root, const char *address, uint64_t *uncorrectable,
		    uint64_t *correctable)
{
	struct osp_names files;
	bool any = false;

	*uncorrectable = 0;
	*correctable = 0;
	if (!osp_root_list(root, &files, "sys/bus/pci/devices/%s/ras", address))
		return false;
	for (size_t i = 0; i < files.count; i++) {
		const char *ue, *ce;
		char text[256];

		if (!strstr(files.names[i], "_err_count") ||
		    !osp_root_read(root, text, sizeof(text), "sys/bus/pci/devices/%s/ras/%s",
				   address, files.names[i]))
			continue;
		ue = strstr(text, "ue: ");
		ce = strstr(text, "ce: ");
		any |= ue != NULL;
		*uncorrectable += ue ? strtoull(ue + 4, NULL, 10) : 0;
		*correctable += ce ? strtoull(ce + 4, NULL, 10) : 0;
	}
	osp_names_free(&files);
	return any;
}

uint64_t osp_neuron_errors(const char *root, const char *name)
{
	static const char *const files[] = {"mem_ecc_uncorrected", "sram_ecc_uncorrected"};
	uint64_t sum = 0, count;

	/* sysfs keeps them under "stats/hardware". */
	for (size_t i = 0; i < 2; i++)
		if (osp_root_number(root, &count,
				    "sys/devices/virtual/neuron_device/%s/stats/hardware/%s/total",
				    name, files[i]) ||
		    osp_root_number(root, &count,
				    "sys/devices/virtual/neuron_device/%s/stats/hardware/%s", name,
				    files[i]))
			sum += count;
	return sum;
}

static void add_amd(const struct osp_check_context *context, struct osp_node_state *state)
{
	uint64_t uncorrectable, correctable;
	struct osp_names devices;

	if (osp_root_list(context->root, &devices, "sys/bus/pci/drivers/amdgpu"))
		for (size_t i = 0; i < devices.count; i++) {
			if (!osp_amd_errors(context->root, devices.names[i], &uncorrectable,
					    &correctable))
				continue;
			osp_node_state_count(state, devices.names[i], "ras_uncorrectable",
					     uncorrectable, true);
			osp_node_state_count(state, devices.names[i], "ras_correctable",
					     correctable, false);
		}
	osp_names_free(&devices);
}

static void add_neuron(const struct osp_check_context *context, struct osp_node_state *state)
{
	struct osp_names devices;

	if (osp_root_list(context->root, &devices, "sys/devices/virtual/neuron_device"))
		for (size_t i = 0; i < devices.count; i++)
			osp_node_state_count(state, devices.names[i], "ecc_uncorrected",
					     osp_neuron_errors(context->root, devices.names[i]),
					     true);
	osp_names_free(&devices);
}

/* --- InfiniBand, RoCE ------------------------------------------------------------------------- */

bool osp_port_counter(const char *root, const char *device, const char *port, const char *name,
		      uint64_t *value)
{
	return osp_root_number(root, value, "sys/class/infiniband/%s/ports/%s/counters/%s", device,
			       port, name);
}

static void add_port(const struct osp_check_context *context, const char *device, const char *port,
		     struct osp_node_state *state)
{
	static const char *const names[] = {"link_downed", "link_error_recovery", "symbol_error"};
	char subject[OSP_COUNTER_SUBJECT_BYTES];
	uint64_t value;

	snprintf(subject, sizeof(subject), "%.40s:%.10s", device, port);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (osp_port_counter(context->root, device, port, names[i], &value))
			osp_node_state_count(state, subject, names[i], value, false);
}

static void add_ports(const struct osp_check_context *context, struct osp_node_state *state)
{
	struct osp_names devices, ports;

	if (osp_root_list(context->root, &devices, "sys/class/infiniband"))
		for (size_t i = 0; i < devices.count; i++) {
			if (osp_root_list(context->root, &ports, "sys/class/infiniband/%s/ports",
					  devices.names[i]))
				for (size_t n = 0; n < ports.count; n++)
					add_port(context, devices.names[i], ports.names[n], state);
			osp_names_free(&ports);
		}
	osp_names_free(&devices);
}

void osp_counters_read(struct osp_check_context *context, const struct osp_pci_gpus *pci,
		       struct osp_node_state *state)
{
	add_nvidia(context, pci, state);
	add_amd(context, state);
	add_neuron(context, state);
	add_ports(context, state);
}
