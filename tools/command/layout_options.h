/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout_options.h - the options about layouts that several commands have
 *
 * Each function returns 0, or -1 with a sentence in `error` that names the option. One thread.
 */
#ifndef OSP_COMMAND_LAYOUT_OPTIONS_H
#define OSP_COMMAND_LAYOUT_OPTIONS_H

#include "lib/layout/layout_plan.h"
#include "tools/command/options.h"

/* Sets `error` to what is wrong with the value of --option, from the error of its parser. Returns
 * -1. */
int osp_option_error(const char *option, const struct osp_error *inner, struct osp_error *error);

/* Reads a whole number from 1 to `most`. Leaves *count unchanged if the option is not given. */
int osp_call_count(const struct osp_call *call, enum osp_option_id option, unsigned long most,
		   uint32_t *count, struct osp_error *error);

/* Reads --layout; does nothing if it is not given. */
int osp_call_layout(const struct osp_call *call, struct osp_layout *layout,
		    struct osp_error *error);

/* Reads --dp-weight, or its default. */
int osp_call_dp_weight(const struct osp_call *call, double *weight, struct osp_error *error);

/* Reads --keep with the topology's levels. If `topology` is NULL the option is refused. */
int osp_call_keeps(const struct osp_call *call, const struct osp_topology *topology,
		   struct osp_keeps *keeps, struct osp_error *error);

#endif
