/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * features.h - says whether a node has what a job's --constraint asks for
 *
 * Any thread, any daemon: no shared state, no allocation.
 */
#ifndef OSP_FEATURES_H
#define OSP_FEATURES_H

#include <stdbool.h>

/*
 * Returns whether a node matches. `asked` is in --constraint's form: "a", "a&b", "a|b", "(a|b)&c",
 * "[s1|s2]", "a*4"; & and | bind alike, from the left, as in Slurm. In brackets a node of any
 * alternative matches. `has` is a node's list with commas, or NULL. NULL and "" ask for nothing. A
 * text that is no such expression counts as met: Slurm judges it.
 */
bool osp_features_match(const char *asked, const char *has);

#endif
