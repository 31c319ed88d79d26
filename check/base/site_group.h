/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site_group.h - a control group for one program of the site's and all that it starts
 *
 * Inside check/ only. One thread. The group lies in the caller's own group of version 2, which
 * slurmd's unit delegates; whoever is in it stays in it however it forks, and the kernel ends all
 * at once (cgroup.kill, Linux 5.14) or stops them all before they are killed (cgroup.freeze, 5.2).
 */
#ifndef OSP_SITE_GROUP_H
#define OSP_SITE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct osp_site_group {
	int folder; /* -1: there is none, and every other call does nothing */
	char name[64];
	int parent; /* the folder that it is in */
};

/* Makes it, empty. Before that it ends and removes those whose makers were killed. There is none if
 * version 2 is not mounted or cannot be written, or before Linux 5.2. */
void osp_site_group_make(struct osp_site_group *group);

/* In a child: it is in the group from now on, and so is what it starts. */
void osp_site_group_join(const struct osp_site_group *group);

/* Kills all that are in it, and waits for that until `until_ms` (osp_now_ms()) at most. True: none
 * is left, and the group is removed. `reap` is called between two looks: a process that has ended
 * counts until its parent knows. */
bool osp_site_group_end(struct osp_site_group *group, uint64_t until_ms, void (*reap)(void));

#endif
