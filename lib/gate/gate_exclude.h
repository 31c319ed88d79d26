/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_exclude.h - which nodes a job does not get again: its suspects beside what its user excluded
 *
 * Suspects stay out for as long as the job lives. If its partition is too small for it without
 * them, the oldest come back first. Each step costs time in proportion to the names it is given,
 * up to OSP_HOSTLIST_NAMES_MAX a list. Names are copied. Any thread, any daemon.
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

/* All 0 is empty. */
struct osp_gate_exclusion {
	struct osp_gate_name_list suspects; /* each once, the oldest first */
	size_t forgotten;		    /* the number of the oldest that have come back */
	struct osp_gate_name_list users;    /* what the user excluded, and is no suspect */
	struct osp_name_table known;
};

/* Adds a suspect that is not there yet, as the newest. 0, or -1 when memory ran out. */
int osp_gate_exclude_suspect(struct osp_gate_exclusion *exclusion, const char *name);

/* The suspects of a list in Slurm's notation, in its order. 0, or -1: with `error` set it is no
 * list, and none was added; without, memory ran out. */
int osp_gate_exclude_suspects(struct osp_gate_exclusion *exclusion, const char *list,
			      struct osp_error *error);

/* What the job excludes now: names that are no suspects by now are the user's. 0, or -1. */
int osp_gate_exclude_users(struct osp_gate_exclusion *exclusion, const char *list);

/* The suspects that are left, the oldest first; owned by `exclusion`. */
const char *const *osp_gate_exclude_left(const struct osp_gate_exclusion *exclusion, size_t *count);

/*
 * Forgets as many of the oldest suspects as it takes until `needed` nodes of the partition (a list
 * in Slurm's notation) are excluded no more, all if that does not do; *given_back says how many. 0,
 * or -1: no list, or memory ran out, and nothing has changed.
 */
int osp_gate_exclude_fit(struct osp_gate_exclusion *exclusion, const char *partition,
			 uint32_t needed, size_t *given_back);

/* All that is to be excluded, in Slurm's notation. The caller frees it with free(); NULL when
 * memory ran out. */
char *osp_gate_exclude_write(const struct osp_gate_exclusion *exclusion);

void osp_gate_exclude_free(struct osp_gate_exclusion *exclusion);

#endif
