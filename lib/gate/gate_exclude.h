/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_exclude.h - the nodes that a job does not get again: its suspects and its user's exclusions
 *
 * Suspects stay out as long as the job lives. If its partition is too small for it without them,
 * the oldest come back first. Each step costs time in proportion to the names that it gets, up to
 * OSP_HOSTLIST_NAMES_MAX in a list. Names are copied. Any thread, any daemon.
 */
#ifndef OSP_GATE_EXCLUDE_H
#define OSP_GATE_EXCLUDE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/name_table.h"

struct osp_gate_name_list {
	char **names;
	size_t count;
	size_t room;
};

/* Initialize with zeroes. */
struct osp_gate_exclusion {
	struct osp_gate_name_list suspects; /* each once, oldest first */
	size_t forgotten;		    /* the number of the oldest that have come back */
	struct osp_gate_name_list users;    /* excluded by the user, and not suspects */
	struct osp_name_table known;
};

/* Adds a suspect, unless it is one already, as the newest. Returns 0, or -1 if memory ran out. */
int osp_gate_exclude_suspect(struct osp_gate_exclusion *exclusion, const char *name);

/* Adds the suspects of a list in Slurm's notation, in its order. Returns 0, or -1: with `error` set
 * if it is no list, and none was added; without if memory ran out. */
int osp_gate_exclude_suspects(struct osp_gate_exclusion *exclusion, const char *list,
			      struct osp_error *error);

/* Reads what the job excludes now: names that are not suspects now are the user's. Returns 0, or
 * -1. */
int osp_gate_exclude_users(struct osp_gate_exclusion *exclusion, const char *list);

/* Returns the remaining suspects, oldest first; `exclusion` owns them. */
const char *const *osp_gate_exclude_left(const struct osp_gate_exclusion *exclusion, size_t *count);

/*
 * Forgets the oldest suspects until `needed` nodes of the partition (a list in Slurm's notation)
 * are no longer excluded, and all of them if that does not suffice; *given_back is their number.
 * Returns 0, or -1 with nothing changed, if it is no list or memory ran out.
 */
int osp_gate_exclude_fit(struct osp_gate_exclusion *exclusion, const char *partition,
			 uint32_t needed, size_t *given_back);

/* Returns all names to exclude, in Slurm's notation. The caller frees it with free(); NULL if
 * memory ran out. */
char *osp_gate_exclude_write(const struct osp_gate_exclusion *exclusion);

void osp_gate_exclude_free(struct osp_gate_exclusion *exclusion);

#endif
