/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site_group.h - a control group for one program of the site and all that it starts
 *
 * Inside check/ only. One thread. The group is in the caller's own group of version 2, which
 * slurmd's unit delegates. A process in it stays in it however it forks. The kernel kills them all
 * at once (cgroup.kill, Linux 5.14) or stops them all before they are killed (cgroup.freeze, 5.2).
 */
#ifndef OSP_SITE_GROUP_H
#define OSP_SITE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct osp_site_group {
	int folder; /* -1: there is no group, and every other call does nothing */
	char name[64];
	int parent; /* the folder that has it */
};

/* Makes an empty group, after it has ended and removed the groups of callers that were killed.
 * Makes none if version 2 is not mounted or cannot be written, or before Linux 5.2. */
void osp_site_group_make(struct osp_site_group *group);

/* Moves the calling child into the group, and so all that it starts from now on. */
void osp_site_group_join(const struct osp_site_group *group);

/* Kills all processes in the group, and waits for their end until `until_ms` (osp_now_ms()) at
 * most. Returns true if none is left and the group is removed. Calls `reap` between two looks,
 * because a process that has ended counts until its parent has taken its status. */
bool osp_site_group_end(struct osp_site_group *group, uint64_t until_ms, void (*reap)(void));

#endif
