/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_comment.h - a gang's request as AdminComment says it
 *
 * Any thread: no shared state.
 */
#ifndef OSP_GANG_COMMENT_H
#define OSP_GANG_COMMENT_H

#include <stddef.h>

#include "lib/policy/request.h"

#define OSP_GANG_COMMENT_BYTES (OSP_REQUEST_BYTES + 16)

/* Formats the request as the "gang=" of lib/policy/note.h: "spine", "spine@30:00", "advise spine",
 * "spine domains=2 segment=leaf:16". Returns `buffer`. */
const char *osp_gang_comment(const struct osp_effective *effective, char *buffer,
			     size_t buffer_bytes);

#endif
