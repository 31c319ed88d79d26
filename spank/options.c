/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - registers an option of sbatch, salloc and srun by its row */
#include "spank/options.h"

#include <stdint.h>

/* Returns the string without const: SPANK copies it, but declares it as writable. */
static char *unwritten(const char *string)
{
	return (char *)(uintptr_t)string;
}

int osp_option_register(spank_t spank, enum osp_job_option_id id, spank_opt_cb_f take)
{
	const struct osp_job_option *row = osp_job_option(id);
	struct spank_option option = {
		.name = unwritten(row->name),
		.arginfo = unwritten(row->argument),
		.usage = unwritten(row->usage),
		.has_arg = (int)row->value,
		.cb = take,
	};

	if (spank_option_register(spank, &option) == ESPANK_SUCCESS)
		return 0;
	slurm_error("onespine: the option --%s cannot be added", row->name);
	return -1;
}
