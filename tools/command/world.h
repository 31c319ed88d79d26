/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world.h - the cluster that a command looks at, from its options
 *
 * One thread.
 */
#ifndef OSP_COMMAND_WORLD_H
#define OSP_COMMAND_WORLD_H

#include <jansson.h>

#include "host/slurm/fabric.h"
#include "lib/base/text.h"
#include "tools/command/options.h"

/* Opens what --state, --topology and --free name, else Slurm and the topology in force. Returns 0,
 * or -1 with `error` set. Call osp_world_close() in either case. */
int osp_call_world(const struct osp_call *call, struct osp_world *world, struct osp_error *error);

/* Opens the same, but needs no topology: `world->topology` is NULL if there is none. */
int osp_call_world_without_topology(const struct osp_call *call, struct osp_world *world,
				    struct osp_error *error);

/* Says how many of Slurm's nodes were omitted because their places may be old, if there are any: in
 * a line of `text`, or as "old_places" of `root`. Either may be NULL. */
void osp_report_old_places(const struct osp_world *world, struct osp_text *text, json_t *root);

/* Names the nodes about which EC2's calls fail, and since when their places are kept: in a line of
 * `text`, or as "kept_places" of `root`. Either may be NULL. */
void osp_report_kept_places(const struct osp_call *call, const struct osp_world *world,
			    struct osp_text *text, json_t *root);

/* Says how many jobs wait for nodes or for their turn in these partitions (with commas; NULL: any)
 * or in others that have nodes of theirs: in a line of `text` if there are any, or as
 * "jobs_waiting" of `root`, null where PrivateData may hide some. Either may be NULL. */
void osp_report_queue(const struct osp_world *world, const char *partitions, struct osp_text *text,
		      json_t *root);

#endif
