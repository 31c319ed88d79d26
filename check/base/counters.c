/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters.c - the error counters of a node's hardware */
#include "check/base/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/base/root.h"

/* --- NVIDIA ----------------------------------------------------------------------------------- */

static int read_ecc(const struct osp_gpu *gpu, int kind, uint64_t *value)
{
	unsigned long long count = 0;
	int state = osp_nvml_ecc_errors(gpu->device, kind, OSP_NVML_VOLATILE, &count);

	*value = count;
	return state;
}

static int read_ecc_uncorrected(const struct osp_gpu *gpu, uint64_t *value)
{
	return read_ecc(gpu, OSP_NVML_UNCORRECTED, value);
}

static int read_ecc_corrected(const struct osp_gpu *gpu, uint64_t *value)
{
	return read_ecc(gpu, OSP_NVML_CORRECTED, value);
}

static int read_sram_uncorrected(const struct osp_gpu *gpu, uint64_t *value)
{
	unsigned long long count = 0;
	int state = osp_nvml_memory_errors(gpu->device, OSP_NVML_UNCORRECTED, OSP_NVML_AGGREGATE,
					   OSP_NVML_LOCATION_SRAM, &count);

	*value = count;
	return state;
}

int osp_gpu_rows_read(const struct osp_gpu *gpu, struct osp_gpu_rows *rows)
{
	return osp_nvml_remapped_rows(gpu->device, &rows->corrected, &rows->uncorrected,
				      &rows->pending, &rows->failed);
}

/* Sums pages retired for one uncorrectable error and for several correctable ones. */
static int read_pages_retired(const struct osp_gpu *gpu, uint64_t *value)
{
	unsigned long long pages[128];
	unsigned int single = sizeof(pages) / sizeof(pages[0]), twice = single;
	int state = osp_nvml_retired_pages(gpu->device, 0, &single, pages);

	if (osp_nvml_retired_pages(gpu->device, 1, &twice, pages) != OSP_NVML_OK)
		twice = 0;
	*value = (uint64_t)single + twice;
	return state;
}

static const struct {
	const char *name; /* its name in a pass */
	bool fault;	  /* one more error ends every pass */
	int (*read)(const struct osp_gpu *gpu, uint64_t *value);
} gpu_counters[OSP_GPU_COUNTER_COUNT] = {
	[OSP_GPU_ECC_UNCORRECTED] = {"ecc_uncorrected", true, read_ecc_uncorrected},
	[OSP_GPU_ECC_CORRECTED] = {"ecc_corrected", false, read_ecc_corrected},
	[OSP_GPU_SRAM_UNCORRECTED] = {"sram_uncorrected", true, read_sram_uncorrected},
	[OSP_GPU_PAGES_RETIRED] = {"pages_retired", true, read_pages_retired},
};

int osp_gpu_counter_read(const struct osp_gpu *gpu, enum osp_gpu_counter counter, uint64_t *value)
{
	return gpu_counters[counter].read(gpu, value);
}

static void add_rows(const struct osp_gpu *gpu, struct osp_node_state *state)
{
	struct osp_gpu_rows rows;

	if (osp_gpu_rows_read(gpu, &rows) != OSP_NVML_OK)
		return;
	osp_node_state_count(state, gpu->uuid, "rows_remapped",
			     (uint64_t)rows.corrected + rows.uncorrected, true);
	osp_node_state_count(state, gpu->uuid, "remap_pending", rows.pending, true);
	osp_node_state_count(state, gpu->uuid, "remap_failed", rows.failed, true);
}

static void add_memory(const struct osp_gpu *gpu, struct osp_node_state *state)
{
	uint64_t value;

	for (int i = 0; i < OSP_GPU_COUNTER_COUNT; i++)
		if (gpu_counters[i].read(gpu, &value) == OSP_NVML_OK)
			osp_node_state_count(state, gpu->uuid, gpu_counters[i].name, value,
					     gpu_counters[i].fault);
	add_rows(gpu, state);
}

/* Adds the older counters of one link. */
static bool add_old(const struct osp_gpu *gpu, unsigned int link, struct osp_link_errors *errors)
{
	uint64_t *const sums[] = {
		[OSP_NVML_LINK_REPLAY] = &errors->replay,
		[OSP_NVML_LINK_RECOVERY] = &errors->recovery,
		[OSP_NVML_LINK_CRC_FLIT] = &errors->crc,
		[OSP_NVML_LINK_CRC_DATA] = &errors->crc,
	};
	unsigned long long count;
	bool any = false;

	for (int kind = 0; kind < (int)(sizeof(sums) / sizeof(sums[0])); kind++)
		if (osp_nvml_link_errors(gpu->device, link, kind, &count) == OSP_NVML_OK) {
			*sums[kind] += count;
			any = true;
		}
	return any;
}

static double rate_of(unsigned long long value)
{
	double rate = (double)(value >> 8 & 0xf);

	for (unsigned int i = 0; i < (value & 0xff); i++)
		rate /= 10;
	return rate;
}

static void add_field(const struct osp_nvml_field *field, struct osp_link_errors *errors)
{
	unsigned long long value = field->value.number;

	if (field->id >= OSP_NVML_LINK5_MALFORMED && field->id <= OSP_NVML_LINK5_INTEGRITY)
		errors->packets += value;
	else if (field->id == OSP_NVML_LINK5_RECOVERED)
		errors->recovery += value;
	else if (field->id == OSP_NVML_LINK5_LOST)
		errors->lost += value;
	else if (field->id == OSP_NVML_LINK5_EFFECTIVE)
		errors->effective += value;
	else if (field->id == OSP_NVML_LINK5_SYMBOL)
		errors->symbol += value;
	else if (field->id == OSP_NVML_LINK5_RATE && rate_of(value) > errors->rate)
		errors->rate = rate_of(value);
}

/* Adds the counters that NVLink 5 has of one link. */
static bool add_new(const struct osp_gpu *gpu, unsigned int link, struct osp_link_errors *errors)
{
	struct osp_nvml_field fields[OSP_NVML_LINK5_SYMBOL_RATE - OSP_NVML_LINK5_MALFORMED + 1];
	int count = 0;
	bool any = false;

	memset(fields, 0, sizeof(fields));
	for (unsigned int id = OSP_NVML_LINK5_MALFORMED; id <= OSP_NVML_LINK5_SYMBOL_RATE; id++) {
		if (id > OSP_NVML_LINK5_RECOVERY && id < OSP_NVML_LINK5_EFFECTIVE)
			continue; /* those of single lanes, and deprecated ones */
		fields[count].id = id;
		fields[count++].scope = link;
	}
	if (osp_nvml_fields(gpu->device, count, fields) != OSP_NVML_OK)
		return false;
	for (int i = 0; i < count; i++) {
		if (fields[i].state != OSP_NVML_OK)
			continue;
		add_field(&fields[i], errors);
		any = true;
	}
	return any;
}

/* Returns whether NVLink has its own counters, from Blackwell on. The older ones may answer there
 * too, with nothing in them: NVML has done so for other fields on Hopper (DataDog/datadog-agent
 * 55966). */
static bool has_new(const struct osp_gpu *gpu)
{
	int major = 0, minor = 0;

	return osp_nvml_capability(gpu->device, &major, &minor) == OSP_NVML_OK && major >= 10;
}

bool osp_link_errors_read(const struct osp_gpu *gpu, struct osp_link_errors *errors)
{
	bool both = has_new(gpu);

	memset(errors, 0, sizeof(*errors));
	for (unsigned int link = 0; link < OSP_NVML_LINKS_MAX; link++) {
		int active = 0;
		bool answered;

		if (osp_nvml_link_state(gpu->device, link, &active) != OSP_NVML_OK || !active)
			continue;
		errors->up++;
		answered = add_old(gpu, link, errors);
		if (both || !answered)
			answered |= add_new(gpu, link, errors);
		errors->answered += answered;
	}
	return errors->answered;
}

static void add_links(const struct osp_gpu *gpu, struct osp_node_state *state)
{
	struct osp_link_errors errors;

	if (!osp_link_errors_read(gpu, &errors))
		return;
	osp_node_state_count(state, gpu->uuid, "nvlink_crc", errors.crc, false);
	osp_node_state_count(state, gpu->uuid, "nvlink_replay", errors.replay, false);
	osp_node_state_count(state, gpu->uuid, "nvlink_recovery", errors.recovery, false);
	osp_node_state_count(state, gpu->uuid, "nvlink_lost", errors.lost, false);
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

/* Sums "ue: 0\nce: 12" of each block of the GPU. */
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

bool osp_neuron_errors(const char *root, const char *name, uint64_t *errors)
{
	static const char *const files[] = {"mem_ecc_uncorrected", "sram_ecc_uncorrected"};
	uint64_t count;
	bool any = false;

	*errors = 0;
	/* sysfs keeps them under "stats/hardware". */
	for (size_t i = 0; i < 2; i++)
		if (osp_root_number(root, &count,
				    "sys/devices/virtual/neuron_device/%s/stats/hardware/%s/total",
				    name, files[i]) ||
		    osp_root_number(root, &count,
				    "sys/devices/virtual/neuron_device/%s/stats/hardware/%s", name,
				    files[i])) {
			*errors += count;
			any = true;
		}
	return any;
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
	uint64_t errors;

	if (osp_root_list(context->root, &devices, "sys/devices/virtual/neuron_device"))
		for (size_t i = 0; i < devices.count; i++)
			if (osp_neuron_errors(context->root, devices.names[i], &errors))
				osp_node_state_count(state, devices.names[i], "ecc_uncorrected",
						     errors, true);
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
