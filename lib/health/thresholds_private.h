/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thresholds_private.h - the limits of a table one by one
 *
 * For thresholds.c and its tests, which hold each limit against its range, its source and the
 * catalogue. Nothing else includes this file.
 */
#ifndef OSP_THRESHOLDS_PRIVATE_H
#define OSP_THRESHOLDS_PRIVATE_H

#include "lib/health/thresholds.h"

/* Return "nvlinks", and the range outside which a value is a mistake. */
const char *osp_limit_name(enum osp_limit_id id);
void osp_limit_range(enum osp_limit_id id, int64_t *least, int64_t *most);

/* A limit read so far; `place` is "limits", or the model's or node's name. osp_thresholds_entry()
 * returns NULL if there is no such index. */
struct osp_limit_entry {
	enum osp_limit_id id;
	const char *place;
	struct osp_limit limit;
};
const struct osp_limit_entry *osp_thresholds_entry(const struct osp_thresholds *thresholds,
						   size_t index);

#endif
