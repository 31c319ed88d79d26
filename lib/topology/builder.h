/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builder.h - builds a topology, piece by piece, for the readers
 *
 * Pieces may come in any order that names a domain before its use. The builder copies every name.
 * It finds errors that no single piece shows: a node under two domains, a domain under two parents,
 * more nodes than OSP_NODES_MAX. The reader passes the place of each piece, and errors name it. One
 * name may be used at several levels; the reader decides whether that makes sense.
 *
 * One thread per builder.
 */
#ifndef OSP_BUILDER_H
#define OSP_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/topology/topology.h"

struct osp_place_in_file {
	const char *file; /* outlives the builder */
	int line;
	int column;
};

struct osp_builder;

/*
 * Returns the name of a level if the source gives none: leaf, spine, core, layer4 ... layer15 (and
 * "node" for 0). NULL above OSP_LEVELS_MAX.
 */
const char *osp_default_level_name(uint32_t level);

/*
 * Makes a builder. `names` are the levels' names, bottom first, 1 .. OSP_LEVELS_MAX, distinct.
 * Returns NULL with `error` set.
 */
struct osp_builder *osp_builder_new(const char *const *names, size_t count,
				    struct osp_error *error);
/* Does the same for `tree` levels and behind them `count` - `tree` overlays. */
struct osp_builder *osp_builder_new_beside(const char *const *names, size_t count, size_t tree,
					   struct osp_error *error);
void osp_builder_free(struct osp_builder *builder); /* NULL is allowed */

/*
 * Returns the domain `name` at `level` (1 ..), made if it is new. `place` (NULL: unknown) is
 * copied, here and below. Returns OSP_NO_DOMAIN with `error` set if the name is empty, is longer
 * than 255 bytes or has control characters, there are too many domains, or memory ran out.
 */
uint32_t osp_builder_domain(struct osp_builder *builder, uint32_t level, const char *name,
			    const struct osp_place_in_file *place, struct osp_error *error);

/*
 * Returns the domain of that name, or OSP_NO_DOMAIN. osp_builder_place() returns where it was first
 * named.
 */
uint32_t osp_builder_find(const struct osp_builder *builder, uint32_t level, const char *name);
const struct osp_place_in_file *osp_builder_place(const struct osp_builder *builder,
						  uint32_t domain);

/*
 * Puts `child` below `parent` (at a higher level). Repeating this is no error; another parent is
 * one, but only osp_builder_finish() can find it, since the two may be twins.
 */
int osp_builder_nest(struct osp_builder *builder, uint32_t child, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error);

/*
 * Puts node `name` below `parent`, its nearest known domain (OSP_NO_DOMAIN: none known). A node
 * given twice is an error: "node gpu-3 is given twice (topology.conf:4)". A node under another
 * parent is an error that osp_builder_finish() finds: "node gpu-3 is under leaf l1
 * (topology.conf:4) and leaf l2".
 */
int osp_builder_node(struct osp_builder *builder, const char *name, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error);

/*
 * Puts node `name` into `domain`, one of an overlay; the node's place in the tree is said, before
 * or after, by osp_builder_node(), or is unknown. Returns -1 with `error` set: "node gpu-3 is in
 * nvlink a.1 (onespine.topology:9) and nvlink a.2".
 */
int osp_builder_beside(struct osp_builder *builder, const char *name, uint32_t domain,
		       const struct osp_place_in_file *place, struct osp_error *error);

/*
 * Notes where the place of a node in the builder comes from, once for each node. Copies the note.
 * Returns -1 with `error` set if there is no such node, it already has a note, or memory ran out.
 */
int osp_builder_note(struct osp_builder *builder, const char *name,
		     const struct osp_node_note *note, const struct osp_place_in_file *place,
		     struct osp_error *error);

/*
 * Builds the topology. With `merge_twins`, domains of one level that share children become one,
 * from the bottom up, under the name that is first in natural order. Connected components are used,
 * because links are missing in every large fabric. Each domain of a component shares more than half
 * its children with others, and it has more than half of all the component's children, so nodes
 * typed into a second leaf remain an error. Without `merge_twins` a second parent is always an
 * error. Domains without a node below them are omitted. Afterwards the builder may only be freed.
 * Returns NULL with `error` set.
 */
struct osp_topology *osp_builder_finish(struct osp_builder *builder, bool merge_twins,
					struct osp_error *error);

#endif
