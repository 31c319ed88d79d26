/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_type.c - the machine of a type in the catalogue, for `onespine bind --for` */
#include "tools/command/bind_type.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/env/catalogue.h"

/* Types whose GPUs and NICs lie as the shape has them: the files of aws-ofi-nccl say so. */
static const char *const looked_up[] = {"p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge"};

static bool is(const char *word, const char *wanted)
{
	return word && strcmp(word, wanted) == 0;
}

static bool is_looked_up(const char *name)
{
	for (size_t i = 0; i < sizeof(looked_up) / sizeof(looked_up[0]); i++)
		if (is(name, looked_up[i]))
			return true;
	return false;
}

/* Notes kinds of devices that lib/bind knows as GPUs and as adapters for RDMA. */
static void take_kinds(const struct osp_instance *found, struct osp_machine_shape *shape)
{
	static const struct osp_shape_pci nvidia = {0x030200, 0x10de, 0};
	static const struct osp_shape_pci amd = {0x038000, 0x1002, 0};
	static const struct osp_shape_pci neuron = {0x088000, 0x1d0f, 0x7364};
	static const struct osp_shape_pci efa = {0x020000, 0x1d0f, 0xefa1};
	static const struct osp_shape_pci hca = {0x020700, 0x15b3, 0x1021};

	shape->gpu = is(found->vendor, "amd") ? amd : is(found->vendor, "aws") ? neuron : nvidia;
	if (found->gpu_device)
		sscanf(found->gpu_device, "%x:%x", &shape->gpu.vendor_id, &shape->gpu.device_id);
	shape->nic = is(found->fabric, "efa") ? efa : hca;
}

static uint32_t count_of(int64_t number, uint32_t most)
{
	return number <= 0 ? 0 : number > most ? most : (uint32_t)number;
}

static int take_shape(const struct osp_instance *found, struct osp_bind_type *type,
		      struct osp_error *error)
{
	struct osp_machine_shape *shape = &type->shape;
	bool one_thread = is(found->cpu, "grace") || is(found->cpu, "graviton");

	snprintf(type->name, sizeof(type->name), "%s", found->name);
	shape->name = type->name;
	shape->cpus = count_of(found->vcpus, OSP_SHAPE_CPUS_MAX);
	if (!shape->cpus)
		return osp_error_set(error, "the catalogue does not say how many CPUs a %.60s has",
				     found->name);
	shape->threads = one_thread || shape->cpus % 2 ? 1 : 2;
	shape->nodes = count_of(found->numa_nodes, OSP_SHAPE_NODES_MAX);
	if (!shape->nodes || shape->nodes * shape->threads > shape->cpus)
		shape->nodes = 1;
	shape->gpus = count_of(found->accelerators, OSP_SHAPE_DEVICES_MAX);
	shape->nics = count_of(found->nics, OSP_SHAPE_DEVICES_MAX);
	take_kinds(found, shape);
	return 1;
}

static void say_assumed(const struct osp_call *call, const struct osp_instance *found,
			struct osp_bind_type *type)
{
	bool file = call->values[OSP_OPTION_BIND_TOPOLOGY];

	osp_text_printf(&type->assumed,
			"%s of a %s from the catalogue, not from a machine: %u CPUs on %u NUMA "
			"node%s%s",
			file ? "what the file lacks is that" : "this is the plan", type->name,
			type->shape.cpus, type->shape.nodes, osp_plural_s(type->shape.nodes),
			found->numa_nodes > 0 ? "" : " (it does not say how many)");
	if (!file)
		osp_text_printf(&type->assumed,
				", GPUs and NICs dealt out to them in order%s; bus ids are made up",
				is_looked_up(found->name) ? "" : ", which is assumed");
}

int osp_bind_type_find(const struct osp_call *call, struct osp_bind_type *type,
		       struct osp_error *error)
{
	const char *name = call->values[OSP_OPTION_FOR];
	const char *data = call->values[OSP_OPTION_DATA], *site = call->values[OSP_OPTION_SITE];
	const struct osp_instance *found;
	struct osp_catalogue *catalogue;
	int result = -1;

	memset(type, 0, sizeof(*type));
	if (!name)
		return 0;
	catalogue =
		osp_catalogue_read(data ? data : OSP_DATA_DIR, site ? site : OSP_SITE_DIR, error);
	found = catalogue ? osp_catalogue_find(catalogue, name, error) : NULL;
	if (found)
		result = take_shape(found, type, error);
	if (result > 0)
		say_assumed(call, found, type);
	osp_catalogue_free(catalogue);
	return result;
}
