/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builder_private.h - the contents of struct osp_builder
 *
 * For builder.c, which collects, and builder_finish.c, which merges and checks. Nothing else
 * includes this.
 */
#ifndef OSP_BUILDER_PRIVATE_H
#define OSP_BUILDER_PRIVATE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/name_table.h"
#include "lib/topology/builder.h"
#include "lib/topology/topology.h"

#define OSP_NO_LINK UINT32_MAX

/* A domain or a node. */
struct osp_piece {
	const char *name;
	uint32_t level; /* 0: a node */
	uint32_t first_link;
	uint32_t last_link;
	uint32_t link_count;
	const struct osp_node_note *note; /* of a node; NULL: none */
	struct osp_place_in_file place;
	uint32_t beside; /* of a node: the first link to a domain of an overlay, or OSP_NO_LINK */
	bool unplaced;	 /* a node that only an overlay named yet */
};

/* One parent of a piece. A piece has more than one only until twins are merged. */
struct osp_link {
	uint32_t parent;
	uint32_t next; /* of the same piece, or OSP_NO_LINK */
	struct osp_place_in_file place;
};

struct osp_builder {
	struct osp_arena arena; /* names */
	const char *level_names[OSP_LEVELS_MAX];
	uint32_t level_count;	/* of the tree */
	uint32_t overlay_count; /* behind them */
	struct osp_piece *domains;
	uint32_t domain_count;
	uint32_t domain_room;
	struct osp_piece *nodes;
	uint32_t node_count;
	uint32_t node_room;
	struct osp_link *links;
	uint32_t link_count;
	uint32_t link_room;
	struct osp_name_table table; /* tag: the level */
};

/* Returns "node", or a level's name. */
const char *osp_builder_level_name(const struct osp_builder *builder, uint32_t level);

/* Writes " (topology.conf:4)", or nothing if the place is unknown. Returns `buffer`. */
const char *osp_builder_where(const struct osp_place_in_file *place, char *buffer,
			      size_t buffer_bytes);

#define OSP_BUILDER_WHERE_BYTES 288

#endif
