/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site_checks.h - a site's own checks: programs in a folder of root's
 *
 * FOLDER/NN-name, run in the order of their names, one after the other, when the passive checks
 * have ended and before any that loads a GPU. Each is a check of that name, at every depth. Its
 * exit status is its result:
 *
 *	0 PASS, 1 FAIL, 2 WARN, 77 SKIP; any other, a signal, or no end within its time ERROR
 *
 * The first line that it writes says why (200 bytes, cleaned). It sees PATH, SLURM_JOB_ID, and
 * CUDA_VISIBLE_DEVICES if only some GPUs count, and nothing else of the environment. A program runs
 * as root and only for root: for others the check is SKIP. The folder and each program must be
 * root's, and writable for nobody else. A program that is not is not run, and its check is ERROR.
 * Other names in the folder are ignored, so a copy that an editor or a package left does not run.
 *
 * One thread.
 */
#ifndef OSP_SITE_CHECKS_H
#define OSP_SITE_CHECKS_H

#include "check/base/root.h"
#include "check/check.h"

#define OSP_SITE_CHECKS_FOLDER "checks.d"

struct osp_site_check {
	struct osp_check check;
	char name[OSP_SITE_CHECK_NAME_BYTES];
	char program[OSP_PATH_BYTES];
	char refused[OSP_WHY_BYTES];
	char measures[OSP_PATH_BYTES + 32];
};

struct osp_site_checks {
	struct osp_site_check *checks; /* the checks point into themselves */
	size_t count;
	uint64_t stamp; /* changes when a program is added, removed or changed; 0: there are none */
};

/* Finds the programs in ROOT/SITE/checks.d; none if that is missing. A folder that others than root
 * may write is one check, "00-folder", which says so. Runs nothing. Returns -1 with `error` set if
 * memory ran out. Free with osp_site_checks_free() in either case. */
int osp_site_checks_find(const char *root, const char *site, struct osp_site_checks *found,
			 struct osp_error *error);
void osp_site_checks_free(struct osp_site_checks *found);

/* Returns how long each may take, in ms. */
unsigned int osp_site_check_ms(const struct osp_check_context *context);

#endif
