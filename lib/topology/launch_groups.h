/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch_groups.h - which nodes are launched into which capacity reservation
 *
 * `watch.launch_groups` of onespine.yaml: "cr-0123=q-dy-p5-[1-16] cr-0456=q-dy-b200-[1-8]". EC2
 * reports where a reservation's instances will be before they are launched, so that a gang can be
 * placed on nodes that do not run (sched/shadow_launch.c).
 *
 * Any thread: no shared state.
 */
#ifndef OSP_LAUNCH_GROUPS_H
#define OSP_LAUNCH_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/base/name_table.h"

#define OSP_LAUNCH_GROUPS_MAX	    64
#define OSP_LAUNCH_GROUPS_BYTES_MAX 16384

struct osp_launch_groups {
	const char *reservations[OSP_LAUNCH_GROUPS_MAX];
	size_t count;
	struct osp_name_table nodes; /* to the number of their reservation */
	const char **names;	     /* of the nodes, in their order */
	uint32_t name_count;
	uint32_t name_room;
	struct osp_arena arena; /* of the strings */
};

/* Reads groups, separated by blanks (NULL: none). Refuses a reservation that is no "cr-" and
 * hexadecimal digits, a wrong list of nodes, and a reservation or node that is there twice. Returns
 * 0, or -1 with `error` set; osp_launch_groups_free() in
 * either case. */
int osp_launch_groups_read(const char *text, struct osp_launch_groups *groups,
			   struct osp_error *error);
void osp_launch_groups_free(struct osp_launch_groups *groups);

/* Returns node number `number`, as they are written; NULL behind the last. */
const char *osp_launch_groups_node(const struct osp_launch_groups *groups, uint32_t number);

/* Returns the number of the node's reservation, or OSP_NAME_ABSENT. */
uint32_t osp_launch_groups_of(const struct osp_launch_groups *groups, const char *node);

#endif
