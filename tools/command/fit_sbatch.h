/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_sbatch.h - asks the question of `fit` as sbatch itself asks slurmctld
 *
 * sbatch --test-only makes a job of the options, lets job_submit judge it and asks the scheduler,
 * ours included, when and where it would start. Nothing is submitted. So `fit` takes an option as
 * sbatch takes it, and names the domain that the scheduler would take. One thread.
 */
#ifndef OSP_FIT_SBATCH_H
#define OSP_FIT_SBATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "tools/command/options.h"

enum osp_sbatch_result {
	OSP_SBATCH_NOT_ASKED, /* there is no sbatch, or it does not know --gang */
	OSP_SBATCH_REFUSED,   /* `says` has its words */
	OSP_SBATCH_BUSY,      /* it cannot start now, and no time is known */
	OSP_SBATCH_STARTS,
};

struct osp_sbatch_answer {
	enum osp_sbatch_result result;
	int64_t asked_s; /* when sbatch began, and when it had answered */
	int64_t answered_s;
	int64_t start_s; /* STARTS: the local time that sbatch printed */
	char *nodes;	 /* STARTS, in Slurm's notation; to be freed */
	char says[512];
	char reason[512];  /* the plugin's own words, from which `says` is made; "": none */
	bool only_printed; /* they are what it prints about a job that it takes */
	char cure[256];	   /* REFUSED: how to mend it; "": unknown, or it is in `says` */
};

/* Returns whether sbatch refused only with Slurm's general words for a job that its nodes cannot
 * start, which may mean that too few are up. */
bool osp_sbatch_lacks_nodes(const struct osp_sbatch_answer *answer);

/* Returns whether `call` has options that only sbatch can judge, and the `name` of the first, or
 * NULL. */
bool osp_fit_needs_sbatch(const struct osp_call *call, const char **name);

/* Asks sbatch. Returns 0, or -1 with `error` set if sbatch exists but did not answer. */
int osp_fit_ask_sbatch(const struct osp_call *call, struct osp_sbatch_answer *answer,
		       struct osp_error *error);

#endif
