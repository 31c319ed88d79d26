/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builder.h - puts a topology together, piece by piece, for the readers
 *
 * Pieces may come in any order that names a domain before its use. The builder copies every name.
 * It finds what no single piece shows: a node under two domains of one level, a domain under two
 * parents, a name used at two levels' worth of meaning, more nodes than OSP_NODES_MAX. Errors have
 * no place: the reader, which knows it, passes file, line and column with each piece.
 *
 * One thread a builder.
 */
#ifndef OSP_BUILDER_H
#define OSP_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/topology.h"

struct osp_place_in_file {
	const char *file; /* outlives the builder */
	int line;
	int column;
};

struct osp_builder;

/* `names`: the levels' names, bottom first, 1 .. OSP_LEVELS_MAX, distinct. NULL with `error` set.
 */
struct osp_builder *osp_builder_new(const char *const *names, size_t count,
				    struct osp_error *error);
void osp_builder_free(struct osp_builder *builder); /* NULL is allowed */

/* The domain `name` at `level` (1 ..), made when new. OSP_NO_DOMAIN with `error` set when memory
 * ran out. */
uint32_t osp_builder_domain(struct osp_builder *builder, uint32_t level, const char *name,
			    const struct osp_place_in_file *place, struct osp_error *error);

/* Puts `child` below `parent` (at a higher level). Saying the same twice is no error; another
 * parent is. */
int osp_builder_nest(struct osp_builder *builder, uint32_t child, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error);

/* Puts node `name` below `parent`, its nearest known domain (OSP_NO_DOMAIN: none known). A node
 * given twice is an error: "node gpu-3 is under leaf l1 (topology.conf:4) and leaf l2". */
int osp_builder_node(struct osp_builder *builder, const char *name, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error);

/*
 * The topology. With `merge_twins`, domains of one level whose sets of children are identical
 * become one, from the bottom up. The builder is empty afterwards and only to be freed. NULL with
 * `error` set.
 */
struct osp_topology *osp_builder_finish(struct osp_builder *builder, bool merge_twins,
					struct osp_error *error);

#endif
