/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extra_text.h - the text of a node's Extra field
 *
 * Extra holds JSON if it holds anything (Slurm 24.11 on reads it so for --extra constraints); our
 * parts are under two keys, and the other keys are kept. Asks nobody. Any thread.
 */
#ifndef OSP_EXTRA_TEXT_H
#define OSP_EXTRA_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_EXTRA_KEY	       "onespine"
#define OSP_EXTRA_INSTANCE_KEY "onespine_instance"

/*
 * Merges `mine` (not taken over) under `key` into what Extra holds (NULL and "": nothing). Returns
 * 1 with the new text in *merged (to be freed); 0 if it says that already; -1 with `error` set if
 * Extra holds something that is no JSON object, which is somebody's and left alone, or if memory
 * ran out.
 */
int osp_extra_merge(const char *extra, const char *key, json_t *mine, char **merged,
		    struct osp_error *error);

/* Copies the instance that `extra` says the node is to `buffer` and returns it; NULL if it says
 * none, one of another boot than `boot_s`, or one that `buffer` cannot hold. */
const char *osp_extra_instance(const char *extra, int64_t boot_s, char *buffer,
			       size_t buffer_bytes);

#endif
