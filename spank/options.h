/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - registers the options of lib/policy/job_options.h with the program that loaded us
 *
 * One thread, like all of SPANK.
 */
#ifndef OSP_SPANK_OPTIONS_H
#define OSP_SPANK_OPTIONS_H

#include <slurm/spank.h>

#include "lib/policy/job_options.h"

/* Registers one option, whose values go to `take`. Returns 0, or -1 after an error message. */
int osp_option_register(spank_t spank, enum osp_job_option_id id, spank_opt_cb_f take);

#endif
