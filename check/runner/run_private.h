/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_private.h - what the parts of the runner share
 *
 * Inside check/ only. One thread.
 */
#ifndef OSP_RUN_PRIVATE_H
#define OSP_RUN_PRIVATE_H

#include "check/runner/awake.h"
#include "check/check.h"
#include "check/base/gpu_starts.h"

struct osp_lane;
struct osp_speed_round;

/* How the GPUs of a run have started. */
struct osp_start {
	struct osp_pci_gpus gpus;
	struct osp_awake awake;
	struct osp_gpu_starts starts;
	bool settled;
	bool asleep; /* one is late: none is asked anything */
	bool unsure; /* NVML hangs, and whether persistence is on is not known: a hang is an ERROR
		      */
};

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
	char users[OSP_WORD_BYTES];	 /* a user's process that was seen here; "": none was */
	struct osp_start start;
	uint64_t budget_end_ms; /* 0: none */
	struct osp_error *error;
};

/* --- run_lanes.c ------------------------------------------------------------------------------ */

/*
 * A lane for a group, of one unit (its place is `order`) or of none: it runs the group's checks one
 * after the other in a child, in a round `again` those that were slow. If there is nothing for it
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

/* --- run_start.c ------------------------------------------------------------------------------ */

/* Begins to open the GPUs, where any check asks them. */
void osp_start_begin(struct osp_runner *runner);

/* Waits until they are open, or are known not to be; `soon`: but half a second. False: not yet. */
bool osp_start_wait(struct osp_runner *runner, bool soon);

/* Reports a GPU that is late, and each check that was to ask it. -1 with the runner's error
 * set. */
int osp_start_tell(struct osp_runner *runner);

void osp_start_end(struct osp_runner *runner);

/* --- run_later.c ------------------------------------------------------------------------------ */

/* Takes the second look that results with `later` wait for, a minute after all else. */
void osp_look_later(struct osp_runner *runner);

/* --- run_speed.c ------------------------------------------------------------------------------ */

/* How one of the outcome's speeds came out. */
struct osp_speed_round {
	struct osp_speed_rounds rounds;
	struct osp_speed_peers peers; /* of the first round */
};

/* Whether it was slow in the first round, so that it is measured again. */
static inline bool osp_speed_is_slow(const struct osp_speed_round *round)
{
	return round->rounds.slow > 0;
}

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
 * more, which are well with others, and is well with none, is named instead of its pairs, as the
 * gate does with nodes (lib/gate/gate_links.h). -1 when memory ran out.
 */
int osp_pairs_blame(const struct osp_check_context *context, struct osp_outcome *outcome,
		    struct osp_error *error);

#endif
