/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind.h - a machine and the plan of its tasks, shown for people, as JSON and as a picture
 *
 * Knows no Slurm. One thread.
 */
#ifndef OSP_TOOLS_BIND_H
#define OSP_TOOLS_BIND_H

#include <jansson.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/bind/bind.h"

struct osp_bind_view {
	const char *source; /* the file, or "this machine" */
	const struct osp_machine *machine;
	const struct osp_bind_plan *plan;
	hwloc_const_bitmap_t allowed;
};

void osp_bind_text(const struct osp_bind_view *view, struct osp_text *text);
json_t *osp_bind_json(const struct osp_bind_view *view); /* Returns NULL when memory ran out */
void osp_bind_svg(const struct osp_bind_view *view, struct osp_text *text);

/* Adds a set as "0-3,8"; "-" if it is empty. */
void osp_bind_add_list(struct osp_text *text, hwloc_const_bitmap_t set);

/* Adds "2 NUMA nodes, 48 cores, 96 CPUs, 8 GPUs, 4 NICs" */
void osp_bind_summary(const struct osp_bind_view *view, struct osp_text *text);

#endif
