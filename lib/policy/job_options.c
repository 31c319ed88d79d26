/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_options.c - the rows of the options of sbatch, salloc and srun */
#include "lib/policy/job_options.h"

#define MUST OSP_JOB_VALUE_MUST
#define MAY  OSP_JOB_VALUE_MAY
#define JOB  OSP_JOB_OPTION_OF_JOB
#define STEP OSP_JOB_OPTION_OF_STEP

static const struct osp_job_option options[OSP_JOB_OPTION_COUNT] = {
#define ROW(id, word, its_name, its_argument, its_value, is_whose, key, its_usage)                 \
	[OSP_JOB_##id] = {.name = its_name,                                                        \
			  .argument = its_argument,                                                \
			  .usage = its_usage,                                                      \
			  .entry = OSP_JOB_ENTRY(word),                                            \
			  .outer = OSP_JOB_OUTER(word),                                            \
			  .variable = OSP_JOB_VARIABLE(id),                                        \
			  .value = its_value,                                                      \
			  .whose = is_whose},
	OSP_JOB_OPTIONS(ROW)
#undef ROW
};

const struct osp_job_option *osp_job_option(enum osp_job_option_id id)
{
	return &options[id];
}
