/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_type.h - the machine of a type in the catalogue, for `onespine bind --for`. One thread. */
#ifndef OSP_BIND_TYPE_H
#define OSP_BIND_TYPE_H

#include "lib/bind/machine_shape.h"
#include "lib/base/text.h"
#include "tools/command/options.h"

struct osp_bind_type {
	struct osp_machine_shape shape;
	struct osp_text assumed; /* a sentence: what of the plan nobody has looked up */
	char name[64];
};

/* Finds what --for names. Returns 1, 0 without --for, or -1 with `error` set. Free `assumed` in any
 * case. */
int osp_bind_type_find(const struct osp_call *call, struct osp_bind_type *type,
		       struct osp_error *error);

#endif
