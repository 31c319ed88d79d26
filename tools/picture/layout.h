/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - a layout's plan as text, JSON and a picture
 *
 * Pure; any thread.
 */
#ifndef OSP_PICTURE_LAYOUT_H
#define OSP_PICTURE_LAYOUT_H

#include <jansson.h>

#include "lib/base/text.h"
#include "lib/layout/layout_plan.h"

/* Nodes of a picture; more would be smaller than a dot. */
#define OSP_LAYOUT_PICTURE_NODES_MAX 2048

/* What is shown beside the plan. */
struct osp_layout_show {
	const struct osp_layout_plan *plan;
	const struct osp_model *model; /* NULL: no bytes */
	double dp_weight;
};

void osp_layout_text(const struct osp_layout_show *show, struct osp_text *text);

/* Returns NULL if memory ran out. */
json_t *osp_layout_to_json(const struct osp_layout_show *show);

/* Draws a plan on a topology, of at most OSP_LAYOUT_PICTURE_NODES_MAX nodes: each side a panel,
 * each domain of the lowest level a box, each node a square in the colour of its pipeline stage. */
void osp_layout_svg(const struct osp_layout_show *show, struct osp_text *text);

#endif
