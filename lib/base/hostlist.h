/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostlist.h - Slurm's bracketed lists of names, read and written
 *
 * "gpu-[1-4,7],login" is gpu-1 gpu-2 gpu-3 gpu-4 gpu-7 login. Zero padding is kept ("n[08-10]" is
 * n08 n09 n10). Several brackets multiply ("r[1-2]n[1-2]"), up to 8 in a name of up to 255 bytes.
 * Names are parted by commas, blanks or tabs, however many. Steps as in "[0-6/2]" are not Slurm's
 * and are refused.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_HOSTLIST_H
#define OSP_HOSTLIST_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/* No list may expand to more names than this (the largest cluster, lib/topology/topology.h). */
#define OSP_HOSTLIST_NAMES_MAX 131072

/* Called for each name in order; a value other than 0 stops and is returned by osp_hostlist_expand.
 */
typedef int osp_hostlist_f(const char *name, void *context);

/*
 * Expands `list` (terminated); all of it is checked before the first name is handed out. Returns 0,
 * the callback's value, or -1 with `error` set: its column is the byte in `list`, from 1; its file
 * and line are left for the caller.
 */
int osp_hostlist_expand(const char *list, osp_hostlist_f *each, void *context,
			struct osp_error *error);

/*
 * A short list in Slurm's notation that expands to `names` (sorted naturally, so gpu-2 before
 * gpu-10; duplicates once): neighbours that differ in one number are folded, number by number. No
 * range has more than the 65,536 numbers that Slurm takes. The caller frees it with free(); NULL
 * when memory ran out. `count` may be 0: "".
 */
char *osp_hostlist_compact(const char *const *names, size_t count);

/* Natural order of two names: digits by value, the rest by byte; for qsort of strings. */
int osp_name_compare(const char *a, const char *b);

#endif
