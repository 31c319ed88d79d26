/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_age.h - whether a node is still where its source said
 *
 * A node's place from a cloud is true of one machine. Each boot may be on another one: a node that
 * is powered down and up again is a new instance under the same name, and a node that is stopped
 * and started moves. So such a place counts only while the node runs and Slurm's boot time for it
 * is the one for which the place was asked. Fabrics that are swept (InfiniBand), read from files or
 * typed describe cables, which stay: their places do not age. Nor do places that were asked for
 * without Slurm's boot time (from a file, or by --nodes), because nothing shows their age. A file
 * that topograph writes may describe either: the boot is noted for the nodes that Slurm launches
 * (State=CLOUD), and their places age; those of the others stay. What a node reported of itself
 * ("nvlink", "infiniband+nvlink") holds for that boot. A place that a node will have by its
 * capacity reservation ("reservation") holds until the node boots: then the cloud says where it
 * really is.
 *
 * Any thread: no state.
 */
#ifndef OSP_PLACE_AGE_H
#define OSP_PLACE_AGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/topology/topology.h"

/*
 * Slurm computes a boot time from the node's uptime each time that it registers, so it changes by a
 * second (seen on 22.05) and with clocks that are set. No machine boots twice in so short a time.
 */
#define OSP_BOOT_SLACK_S 60

/* The source of a place by a capacity reservation, and the boot for which it holds: none yet. */
#define OSP_SOURCE_RESERVATION "reservation"
#define OSP_BOOT_UNLAUNCHED    (-1)

enum osp_place_age {
	OSP_PLACE_HOLDS,
	OSP_PLACE_ASLEEP,   /* the node is powered down, or on its way down or up */
	OSP_PLACE_NO_BOOT,  /* Slurm knows no boot time: the node has not registered */
	OSP_PLACE_REBOOTED, /* the node has booted since */
};

/* Returns whether two boot times are of the same boot. 0 is "not known", and equals only itself. */
bool osp_boot_is_same(int64_t a_s, int64_t b_s);

/*
 * Returns the boot time to write to the file: `noted_s`, the one in the file, if `boot_s` is less
 * than half the slack away from it, so that an unchanged fabric gives the same file; else `boot_s`.
 */
int64_t osp_boot_steady(int64_t noted_s, int64_t boot_s);

/* Returns whether places of this source are a cloud's. */
bool osp_source_is_cloud(const char *source);

/* Returns whether a place is of one boot: a cloud's, topograph's of a node that is launched, or one
 * that the node reported. `note` may be NULL. */
bool osp_place_ages(const struct osp_node_note *note);

/*
 * Returns whether a file that was written at `written_s` can know where a node is that is launched
 * and booted at `boot_s` (0: it has not registered): only if it was written since.
 */
bool osp_file_knows_boot(int64_t written_s, int64_t boot_s);

/* Returns the boot time for which a place holds; 0 if it does not age, OSP_BOOT_UNLAUNCHED if it
 * holds until the node boots. `note` may be NULL. */
int64_t osp_place_boot_s(const struct osp_node_note *note);

/*
 * Judges a place. `place_boot_s` is osp_place_boot_s(); `boot_s` and `runs` are what Slurm says of
 * the node now.
 */
enum osp_place_age osp_place_age(int64_t place_boot_s, int64_t boot_s, bool runs);

/* Returns an age in words: "holds", "does not run", "has not registered", "rebooted". */
const char *osp_place_age_words(enum osp_place_age age);

#endif
