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
#include "host/slurm/ask.h"
#include "host/slurm/fabric.h"

/*
 * Tells what is in the way of a gang in `domain` of its answer: of the nodes that it could have and
 * that are not free, the jobs that hold something it lacks there (those with the most such nodes
 * first, then the first end), nodes that are out, and reservations that begin before the gang would
 * end. No job is in the way where too few nodes are usable even when all jobs have ended. Adds them
 * as lines to `text` and as "in_the_way", "out" and "reserved_later" to `root`. Returns 0, or -1 if
 * memory ran out (text->failed is set).
 */
int osp_in_the_way(const struct osp_world *world, const struct osp_fit_answer *answer,
		   const struct osp_place_domain *domain, struct osp_text *text, json_t *root);

/*
 * Reports which nodes of `partitions` (names with commas) are out because the cloud has launched no
 * instance for them, wherever they were: for each of its codes a line of `text` and an object of
 * the array "not_launched" of `root` ({"nodes", "code", "kind"}, lib/policy/launch_error.h), if
 * there are any. Returns 0, or -1 if memory ran out.
 */
int osp_not_launched(const struct osp_world *world, const char *partitions, struct osp_text *text,
		     json_t *root);

#endif
