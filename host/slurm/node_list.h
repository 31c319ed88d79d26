/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_list.h - Slurm's nodes as whoever asks for their places needs them
 *
 * Through libslurm, as the calling user. One thread.
 */
#ifndef OSP_NODE_LIST_H
#define OSP_NODE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/topology/place_age.h"

struct osp_listed_node {
	const char *name;
	const char *address;	 /* NodeAddr; "" if it is the name */
	const char *instance_id; /* the node's own word (extra_text.h), else Slurm's; "" if it has
				    none: before 23.11, or nobody set it */
	const char
		*slurm_topology; /* Slurm's own Topology=; "" if it is not set, and before 25.05 */
	int64_t boot_s;		 /* BootTime; 0: it has not registered */
	bool runs;		 /* it is not powered down, on its way there or on its way up */
	bool between;		 /* it is on its way up or down: it may have an instance */
	bool is_launched;	 /* State=CLOUD: each boot may be of another machine */
};

struct osp_node_list {
	struct osp_arena arena;
	struct osp_listed_node *nodes;
	uint32_t count;
	bool of_map; /* osp_node_list_read() made it */
};

/* Returns whether the place that `topology` has for the node holds; one that it has not holds. */
enum osp_place_age osp_listed_place_age(const struct osp_topology *topology,
					const struct osp_listed_node *node);

/* Returns 0, or -1 with `error` set. osp_node_list_free() in either case. */
int osp_node_list_load(struct osp_node_list *list, struct osp_error *error);

/* Does the same with a map, as --nodes has it ("-" is standard input): an id that is an instance's,
 * or an address, or a host's name, and the node. All are taken to run. */
int osp_node_list_read(const char *path, struct osp_node_list *list, struct osp_error *error);

void osp_node_list_free(struct osp_node_list *list);

#endif
