/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostlist.h - reads and writes Slurm's bracketed lists of names
 *
 * "gpu-[1-4,7],login" is gpu-1 gpu-2 gpu-3 gpu-4 gpu-7 login. Zero padding is kept ("n[08-10]" is
 * n08 n09 n10). Several brackets multiply ("r[1-2]n[1-2]"), up to 8 in a name of up to 255 bytes.
 * Any number of commas, blanks or tabs separates names. Steps such as "[0-6/2]" are not Slurm's and
 * are refused.
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

/* Called for each name in order; any value but 0 stops osp_hostlist_expand(), which returns it. */
typedef int osp_hostlist_f(const char *name, void *context);

/*
 * Expands `list` (terminated). Checks all of it before it hands out the first name. Returns 0, the
 * callback's value, or -1 with `error` set: its column is the byte in `list`, from 1; the caller
 * sets its file and line.
 */
int osp_hostlist_expand(const char *list, osp_hostlist_f *each, void *context,
			struct osp_error *error);

/*
 * Returns a short list in Slurm's notation that expands to `names`, sorted naturally (gpu-2 before
 * gpu-10) and without duplicates. Neighbours that differ in one number are folded, number by
 * number. No range has more than the 65,536 numbers that Slurm accepts. The caller frees the list
 * with free(); NULL if memory ran out. If `count` is 0, the list is "".
 */
char *osp_hostlist_compact(const char *const *names, size_t count);

/* Compares two names in natural order: digits by value, the rest by byte; for qsort of strings. */
int osp_name_compare(const char *a, const char *b);

#endif
