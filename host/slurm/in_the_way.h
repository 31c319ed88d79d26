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
 * Tells what is in the way of a gang for which nodes of `free_now` are free: jobs, nodes that are
 * out, and reservations that begin before the gang would end. Adds them as lines to `text` and as
 * "in_the_way", "out" and "reserved_later" to `root`; the first end comes first. Returns 0, or -1
 * if memory ran out (text->failed is set).
 */
int osp_in_the_way(const struct osp_world *world, uint32_t domain,
		   const struct osp_nodeset *free_now, struct osp_text *text, json_t *root);

/*
 * Reports which nodes of `partitions` (names with commas) are out because the cloud has launched no
 * instance for them, wherever they were: for each of its codes a line of `text` and an object of
 * the array "not_launched" of `root` ({"nodes", "code", "kind"}, lib/policy/launch_error.h), if
 * there are any. Returns 0, or -1 if memory ran out.
 */
int osp_not_launched(const struct osp_world *world, const char *partitions, struct osp_text *text,
		     json_t *root);

#endif
