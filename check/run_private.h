/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_private.h - what the parts of the runner share
 *
 * Inside check/ only. One thread.
 */
#ifndef OSP_RUN_PRIVATE_H
#define OSP_RUN_PRIVATE_H

#include "check/check.h"

#define OSP_RESULTS_MAX 512 /* of one check */
#define OSP_FIGURES_MAX 4096

/* Adds one to the outcome's results; 0, or -1 when memory ran out. */
int osp_outcome_add(const struct osp_check_context *context, struct osp_outcome *outcome,
		    const struct osp_result *result, struct osp_error *error);
int osp_outcome_add_speed(struct osp_outcome *outcome, const struct osp_speed *speed,
			  struct osp_error *error);

int osp_outcome_add_figure(struct osp_outcome *outcome, const struct osp_figure *figure,
			   struct osp_error *error);

/* What the runner itself has to say of a check. */
int osp_outcome_own(const struct osp_check_context *context, struct osp_outcome *outcome,
		    enum osp_verdict verdict, enum osp_cure cure, const struct osp_unit *unit,
		    unsigned int order, const char *value, const char *why,
		    struct osp_error *error);

/* Results of GPUs come as these end: puts them into the order of the GPUs. */
void osp_outcome_sort(struct osp_outcome *outcome);

/* --- speeds ----------------------------------------------------------------------------------- */

#define OSP_SPEED_ROUNDS 3
#define OSP_SPEED_SLOW	 2 /* so many of the rounds must be slow */

/* How the speeds of one check came out; one entry for each of its outcome's speeds. */
struct osp_speed_round {
	unsigned int slow;		/* rounds in which it was */
	unsigned int rounds;		/* in which it was measured at all */
	enum osp_speed_verdict verdict; /* of the first round, or the last slow one */
	double best;			/* of its kind in the first round */
	size_t peers;
};

/* Judges the first round: `rounds` has room for each of the outcome's speeds. True when any is
 * slow. */
bool osp_speeds_judge(const struct osp_check_context *context, const struct osp_outcome *outcome,
		      struct osp_speed_round *rounds);

/* Takes one more measurement of what was slow. */
void osp_speeds_again(const struct osp_check_context *context, struct osp_outcome *outcome,
		      struct osp_speed_round *rounds, const struct osp_speed *speed);

/* Turns the speeds into results. 0, or -1 when memory ran out. */
int osp_speeds_tell(const struct osp_check_context *context, struct osp_outcome *outcome,
		    const struct osp_speed_round *rounds, struct osp_error *error);

#endif
