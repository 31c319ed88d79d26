/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_options.h - the options about layouts that several commands have
 *
 * Each returns 0, or -1 with a sentence in `error` that names the option. One thread.
 */
#ifndef OSP_COMMAND_LAYOUT_OPTIONS_H
#define OSP_COMMAND_LAYOUT_OPTIONS_H

#include "lib/layout/layout_plan.h"
#include "tools/command/options.h"

/* Sets `error` to what is wrong with the value of --option, by the error of who read it. Returns
 * -1. */
int osp_option_error(const char *option, const struct osp_error *inner, struct osp_error *error);

/* A whole number from 1 to `most`; *count stays where the option is not given. */
int osp_call_count(const struct osp_call *call, enum osp_option_id option, unsigned long most,
		   uint32_t *count, struct osp_error *error);

/* --layout; nothing if it is not given. */
int osp_call_layout(const struct osp_call *call, struct osp_layout *layout,
		    struct osp_error *error);

/* --dp-weight, or its standard. */
int osp_call_dp_weight(const struct osp_call *call, double *weight, struct osp_error *error);

/* --keep, by the topology's levels (NULL: refused where it is given). */
int osp_call_keeps(const struct osp_call *call, const struct osp_topology *topology,
		   struct osp_keeps *keeps, struct osp_error *error);

#endif
