/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_private.h - what the parts of the runner share
 *
 * Inside check/ only. One thread.
 */
#ifndef OSP_RUN_PRIVATE_H
#define OSP_RUN_PRIVATE_H

#include "check/check.h"

struct osp_lane;
struct osp_speed_round;

/* A run under way. */
struct osp_runner {
	struct osp_check_context *context;
	struct osp_run *run;
	struct osp_lane *lanes; /* added, and not yet run */
	size_t lane_count;
	struct pollfd *waits;
	unsigned int *before_ms;	 /* each outcome's time in earlier rounds */
	struct osp_speed_round **rounds; /* each outcome's, from its first round on */
	bool *broken;			 /* units that failed, or whose basic check did not pass */
	bool again;			 /* a round for what was slow */
	bool found;			 /* the units, by NVML */
	uint64_t budget_end_ms;		 /* 0: none */
	struct osp_error *error;
};

/* --- run_lanes.c ------------------------------------------------------------------------------ */

/*
 * A lane for a group, of one unit (its place is `order`) or of none: it runs the group's checks one
 * after the other in a child, in a round `again` those that were slow. Where there is nothing for it
 * to do none is added. -1 with the runner's error set.
 */
int osp_lanes_add(struct osp_runner *runner, enum osp_check_group group,
		  const struct osp_unit *unit, unsigned int order);

/* Runs the lanes added, side by side, until each has ended or the budget has. -1 with the runner's
 * error set. */
int osp_lanes_run(struct osp_runner *runner);

bool osp_budget_over(const struct osp_runner *runner);

/* --- outcome.c -------------------------------------------------------------------------------- */

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

/* --- run_speed.c ------------------------------------------------------------------------------ */

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

/* --- run_pairs.c ------------------------------------------------------------------------------ */

/*
 * Of a check of pairs ("gpu3-gpu5"), with the context's units: a GPU that fails with two others or
 * more, which are well with others, and is well with none, is named instead of its pairs, as the gate
 * does with nodes (lib/gate/gate_links.h). -1 when memory ran out.
 */
int osp_pairs_blame(const struct osp_check_context *context, struct osp_outcome *outcome,
		    struct osp_error *error);

#endif
