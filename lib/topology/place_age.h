/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_age.h - whether a node still is where its source said
 *
 * What a cloud told of a node's place holds for the machine that it told of. Each boot may be on
 * another one: a node that is powered down and up again is a new instance under the same name, and
 * one that is stopped and started moves. So such a place counts only while the node runs and
 * Slurm's boot time for it is the one for which the place was asked. Fabrics that are swept
 * (InfiniBand), read from files or typed tell of cables, which stay: their places do not age. Nor
 * do those that were asked for without Slurm's boot time (from a file, or by --nodes): nobody can
 * tell.
 *
 * Any thread: no state.
 */
#ifndef OSP_PLACE_AGE_H
#define OSP_PLACE_AGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/topology/topology.h"

/* Slurm reckons a boot time from the node's uptime each time that it registers, so it moves by a
 * second (seen on 22.05) and with clocks that are set. No machine boots twice in so short a
 * time. */
#define OSP_BOOT_SLACK_S 60

enum osp_place_age {
	OSP_PLACE_HOLDS,
	OSP_PLACE_ASLEEP,   /* the node is powered down, or on its way down or up */
	OSP_PLACE_NO_BOOT,  /* Slurm knows no boot time of it: it has not registered */
	OSP_PLACE_REBOOTED, /* it has booted since */
};

/* Whether two boot times are one boot's. 0 is "not known", and like nothing but itself. */
bool osp_boot_is_same(int64_t a_s, int64_t b_s);

/* The boot time to write to the file: `noted_s`, which stands there, while `boot_s` is less than
 * half the slack away from it, so that an unchanged fabric gives the same file; else `boot_s`. */
int64_t osp_boot_steady(int64_t noted_s, int64_t boot_s);

/* Whether places of this source are a cloud's. */
bool osp_source_is_cloud(const char *source);

/* The boot time that a place holds for; 0 if it does not age. `note` may be NULL. */
int64_t osp_place_boot_s(const struct osp_node_note *note);

/* `place_boot_s` is osp_place_boot_s(); `boot_s` and `runs` are what Slurm says of the node now. */
enum osp_place_age osp_place_age(int64_t place_boot_s, int64_t boot_s, bool runs);

/* In words: "holds", "does not run", "has not registered", "rebooted". */
const char *osp_place_age_words(enum osp_place_age age);

#endif
