/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in_the_way.h - what keeps a domain's nodes from a gang: jobs with their ends, nodes that are out
 *
 * One thread.
 */
#ifndef OSP_IN_THE_WAY_H
#define OSP_IN_THE_WAY_H

#include <jansson.h>

#include "lib/base/text.h"
#include "host/slurm/fabric.h"

/*
 * What is in the way of a gang for which nodes of `free_now` are free. Adds both as lines to `text`
 * and as "in_the_way" and "out" to `root`; the first end comes first. Returns 0, or -1 when memory
 * ran out (text->failed is set).
 */
int osp_in_the_way(const struct osp_world *world, uint32_t domain,
		   const struct osp_nodeset *free_now, struct osp_text *text, json_t *root);

#endif
