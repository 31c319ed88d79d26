/* SPDX-License-Identifier: GPL-2.0-or-later */
/* licenses.c - whether the licenses of -L are free now */

#include "host/slurm/licenses.h"

#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm/cluster_state.h"

static const slurm_license_info_t *find(const license_info_msg_t *known, const char *name,
					size_t length)
{
	for (uint32_t i = 0; i < known->num_lic; i++) {
		const slurm_license_info_t *license = &known->lic_array[i];

		if (license->name && strlen(license->name) == length &&
		    !strncmp(license->name, name, length))
			return license;
	}
	return NULL;
}

/* Returns whether too few are free of one license, which ends at `end`: "matlab:2". */
static bool lacks_one(const license_info_msg_t *known, const char *word, const char *end)
{
	const char *colon = memchr(word, ':', (size_t)(end - word));
	const slurm_license_info_t *license =
		find(known, word, (size_t)((colon ? colon : end) - word));
	unsigned long wanted = colon ? strtoul(colon + 1, NULL, 10) : 1;

	return license && wanted > license->available;
}

static bool lacks(const license_info_msg_t *known, const char *words)
{
	bool any = strchr(words, '|');

	for (const char *word = words, *end; *word; word = *end ? end + 1 : end) {
		end = word + strcspn(word, ",;|");
		if (end > word && lacks_one(known, word, end) != any)
			return !any;
	}
	return any;
}

bool osp_licenses_lacking(const char *words)
{
	license_info_msg_t *known = NULL;
	bool lacking = false;

	if (!words || !*words)
		return false;
	osp_slurm_begin();
	if (slurm_load_licenses(0, &known, 0) == SLURM_SUCCESS && known) {
		lacking = lacks(known, words);
		slurm_free_license_info_msg(known);
	}
	return lacking;
}
