/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builder.h - puts a topology together, piece by piece, for the readers
 *
 * Pieces may come in any order that names a domain before its use. The builder copies every name.
 * It finds what no single piece shows: a node under two domains, a domain under two parents, more
 * nodes than OSP_NODES_MAX. The reader passes the place with each piece, and errors name it. One
 * name may stand at several levels; whether that makes sense is for the reader to say.
 *
 * One thread a builder.
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

/* What a level is called whose source does not say: leaf, spine, core, layer4 ... layer15 (and
 * "node" for 0). NULL above OSP_LEVELS_MAX. */
const char *osp_default_level_name(uint32_t level);

/* `names`: the levels' names, bottom first, 1 .. OSP_LEVELS_MAX, distinct. NULL with `error` set.
 */
struct osp_builder *osp_builder_new(const char *const *names, size_t count,
				    struct osp_error *error);
void osp_builder_free(struct osp_builder *builder); /* NULL is allowed */

/* The domain `name` at `level` (1 ..), made when new. `place` (NULL: unknown) is copied, here and
 * below. OSP_NO_DOMAIN with `error` set: a name that is empty, longer than 255 bytes or has control
 * characters, too many domains, or memory ran out. */
uint32_t osp_builder_domain(struct osp_builder *builder, uint32_t level, const char *name,
			    const struct osp_place_in_file *place, struct osp_error *error);

/* The domain of that name, or OSP_NO_DOMAIN; and where it was first named. */
uint32_t osp_builder_find(const struct osp_builder *builder, uint32_t level, const char *name);
const struct osp_place_in_file *osp_builder_place(const struct osp_builder *builder,
						  uint32_t domain);

/* Puts `child` below `parent` (at a higher level). Saying the same twice is no error; another
 * parent is, but only osp_builder_finish() can tell: the two may be twins. */
int osp_builder_nest(struct osp_builder *builder, uint32_t child, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error);

/* Puts node `name` below `parent`, its nearest known domain (OSP_NO_DOMAIN: none known). A node
 * given twice is an error: "node gpu-3 is given twice (topology.conf:4)"; under another parent it
 * is one for osp_builder_finish() to find: "node gpu-3 is under leaf l1 (topology.conf:4) and leaf
 * l2". */
int osp_builder_node(struct osp_builder *builder, const char *name, uint32_t parent,
		     const struct osp_place_in_file *place, struct osp_error *error);

/* Says where the place of a node comes from that is in the builder; once a node. -1 with `error`
 * set: there is no such node, it has a note, or memory ran out. The note is copied. */
int osp_builder_note(struct osp_builder *builder, const char *name,
		     const struct osp_node_note *note, const struct osp_place_in_file *place,
		     struct osp_error *error);

/*
 * The topology. With `merge_twins`, domains of one level that share children become one, from the
 * bottom up, under the name that is first in natural order: connected components, for links are
 * missing in every large fabric. Of each domain that takes part more than half the children are
 * another's too, and it has more than half of all the component's children, so that nodes typed
 * into a second leaf remain an error. Without, a second parent is always an error. Domains without
 * a node below them are left out. The builder is only to be freed afterwards. NULL with `error`
 * set.
 */
struct osp_topology *osp_builder_finish(struct osp_builder *builder, bool merge_twins,
					struct osp_error *error);

#endif
