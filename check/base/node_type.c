/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_type.c - the entry of this node in the catalogue of node types (instances/) */
#include "check/base/node_type.h"

#include <stdio.h>
#include <string.h>

#include "lib/env/catalogue.h"

/* Converts GT/s a lane to the PCIe generation, from 1 on; 2.5 is written 2 (PCI-SIG). */
static int64_t generation_of(int64_t gts)
{
	static const int64_t rates[] = {2, 5, 8, 16, 32, 64};
	int64_t generation = 0;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (gts >= rates[i])
			generation = (int64_t)i + 1;
	return generation;
}

bool osp_node_type_read(const struct osp_check_context *context, struct osp_node_type *type)
{
	const struct osp_instance *found = NULL;
	struct osp_catalogue *catalogue;
	char folder[4096];

	memset(type, 0, sizeof(*type));
	if (!context->data || !*context->node)
		return false;
	snprintf(folder, sizeof(folder), "%s/instances", context->data);
	catalogue = osp_catalogue_new(NULL);
	if (catalogue && osp_catalogue_add_folder(catalogue, folder, 1, NULL) == 0)
		found = osp_catalogue_of_product(catalogue, context->node);
	if (found && found->vendor && strcmp(found->vendor, "nvidia") == 0 &&
	    found->accelerators > 0)
		type->nvidia_gpus = found->accelerators;
	if (found)
		type->pcie_generation = generation_of(found->pcie_gts);
	osp_catalogue_free(catalogue);
	return found;
}
