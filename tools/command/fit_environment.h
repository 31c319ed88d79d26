/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_environment.h - the variables that sbatch takes for options
 *
 * One thread.
 */
#ifndef OSP_FIT_ENVIRONMENT_H
#define OSP_FIT_ENVIRONMENT_H

#include <stdbool.h>

#include "lib/base/text.h"
#include "tools/command/options.h"

/*
 * Gives each option of `fit` that was not given the value of its variable: SBATCH_PARTITION,
 * ONESPINE_GANG ..., as sbatch does. Adds the variables taken to `taken`: "SBATCH_PARTITION=gpu,
 * SBATCH_QOS=high". Takes none with --state or --free, which are no question to Slurm. The values
 * are those of getenv().
 */
void osp_fit_take_environment(struct osp_call *call, struct osp_text *taken);

/* Adds the variables that sbatch takes for options that `fit` does not have, as far as they bear on
 * place and time. */
void osp_fit_add_others(struct osp_text *text);

/* Returns whether the option's value is its variable's. */
bool osp_fit_environment_gave(const struct osp_call *call, enum osp_option_id id);

/* Returns whether a job may go back to the queue by SBATCH_REQUEUE and SBATCH_NO_REQUEUE;
 * `standard` if neither is set. */
bool osp_fit_environment_requeues(bool standard);

/* Removes all such variables, for a question about a job that has its own options. */
void osp_fit_forget_environment(void);

#endif
