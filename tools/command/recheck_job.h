/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recheck_job.h - the job of `onespine recheck`: the check, run by srun inside the reservation */
#ifndef OSP_RECHECK_JOB_H
#define OSP_RECHECK_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* What runs where. */
struct osp_recheck_job {
	const char *program; /* the path of `onespine` on the node */
	const char *node;
	const char *reservation; /* in which the node is */
	uint32_t gpus;		 /* 0: the job asks for none */
};

/*
 * Runs the check of that depth there and waits for its end: at most 120 s until it begins and 50
 * minutes from then. Returns its output, to be freed; NULL if there was none, and then *late says
 * whether it did not even end.
 */
char *osp_recheck_job_run(const struct osp_recheck_job *what, const char *depth, bool *late);

#endif
