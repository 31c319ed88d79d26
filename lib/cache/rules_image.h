/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules_image.h - a finished set of rules as an image, which is loaded without reading YAML
 *
 * To read our rules takes 2 ms, for every step on every node; to load an image takes a hundredth of
 * that. An image belongs to one build on one machine, carries a stamp of the files
 * that it was made from, and is trusted: the caller keeps it where nobody else may write.
 */
#ifndef OSP_RULES_IMAGE_H
#define OSP_RULES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cache/node_cache.h"
#include "lib/env/rules.h"

/* Returns the image of a set, to be freed with free(), or NULL if memory ran out. */
char *osp_rules_image(const struct osp_rule_set *rules, uint64_t stamp, size_t *image_bytes);

/* Loads `image`, which it frees with the set or at once. Returns NULL if it is of another build or
 * has another stamp, or memory ran out. */
struct osp_rule_set *osp_rules_of_image(char *image, size_t image_bytes, uint64_t stamp);

/*
 * Returns the rules of data/rules and site/rules.d, finished, that can hold on this node: from a
 * file that the source's folder keeps, or read and then kept. Unless `reports` is set, omits those
 * that only warn, which are nine of ten. Returns NULL with `error` set if it fails.
 */
struct osp_rule_set *osp_rules_know(const struct osp_node_source *source,
				    const struct osp_node_known *known, bool reports,
				    struct osp_error *error);

#endif
