/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.h - blocks of nodes from Slurm's topology.yaml and topograph's models: the level nvlink
 *
 * Both files have switches, and beside them sets of nodes that share an NVLink domain: another
 * topology of the kind block, and labels of topograph's blocks such as
 * "accelerated.topology.nvidia.com/level-0: nvl-1-1". The switches are read by
 * lib/topology/readers.h; the sets become a level among theirs here.
 *
 * Any thread: no shared state.
 */
#ifndef OSP_BLOCKS_H
#define OSP_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

struct osp_blocks;

/*
 * Reads the blocks of a file: of a topology.yaml those of its first topology of that kind, of a
 * model of topograph those that a label or an annotation with "accelerat" in its key names. A file
 * of another kind, or without any, has none. Returns NULL with `error` set.
 */
struct osp_blocks *osp_blocks_read(const char *file, const char *text, size_t text_bytes,
				   struct osp_error *error);
void osp_blocks_free(struct osp_blocks *blocks); /* NULL is allowed */

/* Makes blocks without a file: NULL if memory ran out. osp_blocks_take() puts one node into the
 * block `name`; it returns 0, or -1 with `error` set if memory ran out. */
struct osp_blocks *osp_blocks_new(void);
int osp_blocks_take(struct osp_blocks *blocks, const char *name, const char *node,
		    struct osp_error *error);

/*
 * Makes a topology that has the blocks as the level nvlink: the lowest at which each lies in one
 * domain above it, and holds whole domains below. If there is no such level, nvlink is an overlay,
 * and `beside` says which block crosses, and how many cross each level: "level nvlink is beside the
 * tree: block b1 is in l1 and in l2; 2 of 5 domains cross level leaf". A node that the topology
 * lacks is left out. Returns NULL with `error` set: a node is in two blocks, nvlink is a level
 * already, or memory ran out.
 */
struct osp_topology *osp_blocks_insert(const struct osp_topology *topology,
				       const struct osp_blocks *blocks, struct osp_error *beside,
				       struct osp_error *error);

/*
 * Reads the blocks of a file into the topology that was read from it, which it takes. Returns the
 * topology with them as a level, or as it was. `why` is set if the level is beside the tree, and if
 * its blocks make none: a sentence to warn with. NULL with `error` set if the file's blocks cannot
 * be read.
 */
struct osp_topology *osp_blocks_add(struct osp_topology *topology, const char *file,
				    const char *text, size_t text_bytes, struct osp_error *why,
				    struct osp_error *error);

#endif
