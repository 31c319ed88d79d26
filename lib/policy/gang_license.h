/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_license.h - the license that holds gangs where only Slurm itself is left
 *
 * slurm.conf offers one: Licenses=onespine:1 (25.11 forgets a license of which there are none,
 * licenses.c, _build_license_list()). Each gang takes two, and the shadow, while slurmctld reads
 * slurm.conf, raises the number. Where no shadow fits the Slurm that runs, as on
 * the day of a security update, Slurm itself lets no gang start: too few licenses. A slurm.conf
 * that does not name it holds nobody.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_GANG_LICENSE_H
#define OSP_GANG_LICENSE_H

#include <stdbool.h>
#include <stdint.h>

#define OSP_GANG_LICENSE	 "onespine"
#define OSP_GANG_LICENSE_SETTING OSP_GANG_LICENSE ":1" /* in slurm.conf's Licenses */
#define OSP_GANG_LICENSE_TAKEN	 OSP_GANG_LICENSE ":2" /* in a gang's */

/* Returns whether the words, as Licenses= or --licenses has them ("matlab:2,onespine:1"), name the
 * license. NULL names none. */
bool osp_gang_license_is_in(const char *licenses);

/* Returns whether slurm.conf's words offer the license, and fewer than a gang takes: only then it
 * holds gangs. */
bool osp_gang_license_holds(const char *licenses);

/* Returns slurm.conf's words (NULL or "": none yet) with one of the license, so that they hold
 * gangs, malloc'd; NULL if memory ran out. */
char *osp_gang_license_only(const char *licenses);

/* Returns slurm.conf's words with more of the license than gangs can take, malloc'd; NULL if they
 * do not name it, or memory ran out. */
char *osp_gang_license_offer(const char *licenses);

/*
 * Adds what a gang takes of the license to a job's words (NULL or "": none yet), in place of what
 * they say of it. Returns 0 with the words in `*with`, malloc'd, or NULL there if they say so
 * already; -1 if they are alternatives ("a|b"), beside which Slurm takes no other license; -2 if
 * memory ran out.
 */
int osp_gang_license_add(const char *licenses, char **with);

/*
 * Returns whether the license holds a gang that this Slurm (0xMMmmuu) puts back: from 25.05.0 to
 * 25.11.6 it leaves such a job no licenses (slurmctld/job_mgr.c and licenses.c; 25.05.9 and later
 * were not to be had).
 */
bool osp_gang_license_is_kept(uint32_t slurm);

#endif
