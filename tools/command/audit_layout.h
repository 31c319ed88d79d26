/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * audit_layout.h - where the parallel groups of a running gang are: as placed, and as ranked
 *
 * As placed is the best order of the gang's nodes. As ranked is the order that ONESPINE_NODE_RANK
 * and srun follow, from the gang's note. One thread.
 */
#ifndef OSP_AUDIT_LAYOUT_H
#define OSP_AUDIT_LAYOUT_H

#include <jansson.h>

#include "host/slurm/fabric.h"
#include "host/slurm/gang.h"
#include "lib/base/text.h"

/*
 * Adds a table of the gang's groups to `text`, and "layout" to `object`; nothing for a gang without
 * a layout. If its nodes or their order are unknown, the text says so. Returns 0, or -1 if memory
 * ran out.
 */
int osp_audit_layout(const struct osp_world *world, const struct osp_state_job *job,
		     const struct osp_gang *gang, struct osp_text *text, json_t *object);

#endif
