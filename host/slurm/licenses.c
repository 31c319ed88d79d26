/* SPDX-License-Identifier: GPL-2.0-or-later */
/* licenses.c - whether the licenses of -L are free now */

#include "host/slurm/licenses.h"

#include <slurm/slurm.h>
#include <string.h>

#include "lib/policy/license_request.h"
#include "host/slurm/cluster_state.h"

static uint64_t free_of(const char *name, size_t name_bytes, void *context)
{
	const license_info_msg_t *known = context;

	for (uint32_t i = 0; i < known->num_lic; i++) {
		const slurm_license_info_t *license = &known->lic_array[i];

		if (license->name && strlen(license->name) == name_bytes &&
		    !strncmp(license->name, name, name_bytes))
			return license->available;
	}
	return UINT64_MAX;
}

bool osp_licenses_lacking(const char *words)
{
	license_info_msg_t *known = NULL;
	bool lacking = false;

	if (!words || !*words)
		return false;
	osp_slurm_begin();
	if (slurm_load_licenses(0, &known, 0) == SLURM_SUCCESS && known) {
		lacking = osp_license_request_lacks(words, free_of, known);
		slurm_free_license_info_msg(known);
	}
	return lacking;
}
