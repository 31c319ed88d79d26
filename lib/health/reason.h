/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reason.h - the reason that Slurm shows for a node that Onespine drained
 *
 * "onespine: gpu3 ecc 12 uncorrectable > 0; replace", "onespine: kernel ...": the prefix, the
 * subject (omitted for the node itself), the check's name, what it saw (check/check.h writes it). A
 * reason with this prefix is ours: only such a node may we undrain, and we overwrite no other
 * reason.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_REASON_H
#define OSP_REASON_H

#include <stdbool.h>

#define OSP_REASON_PREFIX "onespine: "

/* Returns whether the reason is ours; `reason` may be NULL. */
bool osp_reason_is_ours(const char *reason);

/* Returns whether the reason is ours and names `check`. */
bool osp_reason_names(const char *reason, const char *check);

#endif
