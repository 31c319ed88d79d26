/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_private.h - declarations that the parts of the runner share
 *
 * Inside check/ only. One thread.
 */
#ifndef OSP_RUN_PRIVATE_H
#define OSP_RUN_PRIVATE_H

#include "check/runner/awake.h"
#include "check/check.h"
#include "check/base/gpu_starts.h"
#include "check/gpu/gpu_unit.h"

struct osp_lane;
struct osp_speed_round;

/* How the GPUs of a run have started. */
struct osp_start {
	struct osp_pci_gpus gpus;
	struct osp_awake awake;
	struct osp_gpu_starts starts;
	bool settled;
	bool asleep; /* a GPU is late, so no check asks any */
	bool unsure; /* NVML hangs, and it is not known whether persistence is on: a hang is an
			ERROR */
};

/* A run in progress. */
struct osp_runner {
	struct osp_check_context *context;
	struct osp_run *run;
	struct osp_lane *lanes; /* added, and not yet run */
	size_t lane_count;
	struct pollfd *waits;
	unsigned int *before_ms;	 /* each outcome's time in earlier rounds */
	struct osp_speed_round **rounds; /* the rounds of each outcome, from its first round on */
	bool *broken;			 /* units that failed, or whose basic check did not pass */
	bool again;			 /* this round repeats slow speeds */
	bool found;			 /* the units were found by NVML */
	char users[OSP_WORD_BYTES];	 /* a user's process that was seen here; "": none */
	struct osp_start start;
	uint64_t budget_end_ms; /* 0: none */
	struct osp_error *error;
};

/* --- run_lanes.c ------------------------------------------------------------------------------ */

/*
 * Adds a lane for a group, of one unit (its place is `order`) or of none. It runs the group's
 * checks one after the other in a child; with `again` only those that were slow. Adds none if it
 * would have nothing to do. Returns -1 with the runner's error set.
 */
int osp_lanes_add(struct osp_runner *runner, enum osp_check_group group,
		  const struct osp_unit *unit, unsigned int order);

/* Runs the lanes side by side, until each has ended or the budget is used up. Returns -1 with the
 * runner's error set. */
int osp_lanes_run(struct osp_runner *runner);

bool osp_budget_over(const struct osp_runner *runner);

/* --- valid.c ---------------------------------------------------------------------------------- */

/*
 * Return whether what a child wrote is what a check writes: words that end in their fields, which
 * they clean, and numbers of their kinds. A child that was taken over by what a user wrote may
 * write anything, and the runner is root without its confinement.
 */
bool osp_valid_result(struct osp_result *result);
bool osp_valid_speed(struct osp_speed *speed);
bool osp_valid_figure(struct osp_figure *figure);
bool osp_valid_flag(const bool *flag);

/* --- outcome.c -------------------------------------------------------------------------------- */

#define OSP_RESULTS_MAX 512 /* the most results of one check */
#define OSP_FIGURES_MAX 4096

/* Adds a result to the outcome. Returns 0, or -1 if memory ran out. */
int osp_outcome_add(const struct osp_check_context *context, struct osp_outcome *outcome,
		    const struct osp_result *result, struct osp_error *error);
int osp_outcome_add_speed(struct osp_outcome *outcome, const struct osp_speed *speed,
			  struct osp_error *error);

int osp_outcome_add_figure(struct osp_outcome *outcome, const struct osp_figure *figure,
			   struct osp_error *error);

/* Adds a result of the runner itself. */
int osp_outcome_own(const struct osp_check_context *context, struct osp_outcome *outcome,
		    enum osp_verdict verdict, enum osp_cure cure, const struct osp_unit *unit,
		    unsigned int order, const char *value, const char *why,
		    struct osp_error *error);

/* Sorts results into the order of the GPUs: they come in the order in which the GPUs' lanes end. */
void osp_outcome_sort(struct osp_outcome *outcome);

/* --- run_start.c ------------------------------------------------------------------------------ */

/* Begins to open the GPUs, if any check uses them. */
void osp_start_begin(struct osp_runner *runner);

/* Waits until they are open, or are known not to open; with `soon` only half a second. Returns
 * false if that is not decided yet. */
bool osp_start_wait(struct osp_runner *runner, bool soon);

/* Reports a GPU that is late, and each check that could not ask it. Returns -1 with the runner's
 * error set. */
int osp_start_report(struct osp_runner *runner);

void osp_start_end(struct osp_runner *runner);

/* --- run_alike.c ------------------------------------------------------------------------------ */

/* Turns failures of a check to compute right into errors if all GPUs, two or more, have them: they
 * do not break all at once; a kernel, a driver or a library may be wrong for their model. */
void osp_forgive_alike(struct osp_run *run, const struct osp_unit *units, size_t count);

/* --- run_later.c ------------------------------------------------------------------------------ */

/* Takes the second look at results marked `later`, a minute after all checks. */
void osp_look_later(struct osp_runner *runner);

/* --- run_speed.c ------------------------------------------------------------------------------ */

/* The judgement of one of the outcome's speeds. */
struct osp_speed_round {
	struct osp_speed_rounds rounds;
	struct osp_speed_peers peers; /* the peers in the first round */
};

/* Returns whether it was slow in the first round, so that it is measured again. */
static inline bool osp_speed_is_slow(const struct osp_speed_round *round)
{
	return round->rounds.slow > 0;
}

/* Judges the first round; `rounds` has room for each of the outcome's speeds. Returns true if any
 * is slow. */
bool osp_speeds_judge(const struct osp_check_context *context, const struct osp_outcome *outcome,
		      struct osp_speed_round *rounds);

/* Takes one more measurement of a slow speed. */
void osp_speeds_again(const struct osp_check_context *context, struct osp_outcome *outcome,
		      struct osp_speed_round *rounds, const struct osp_speed *speed);

/* Turns the speeds into results. Returns 0, or -1 if memory ran out. */
int osp_speeds_report(const struct osp_check_context *context, struct osp_outcome *outcome,
		      const struct osp_speed_round *rounds, struct osp_error *error);

/* --- run_pardon.c ----------------------------------------------------------------------------- */

/* The GPUs at one time, as NVML reports them; none if it did not answer in half of what was left of
 * the budget. */
struct osp_pardon_look {
	struct osp_units units;
	uint64_t at_ms;
};

/* Looks at the GPUs; free it with osp_pardon_look_free(). */
void osp_pardon_look(struct osp_runner *runner, struct osp_pardon_look *look);
void osp_pardon_look_free(struct osp_pardon_look *look);

/* Excludes, after the first round, speeds of GPUs that other programs use from judgement, and
 * judges the others anew. Returns whether any is slow still. */
bool osp_pardon_first(struct osp_runner *runner, enum osp_check_group group,
		      const struct osp_pardon_look *look);

/* Sets, after the last round, why low speeds only warn. Reasons are what `after` has and `before`
 * has not, and NVML that did not answer. Heat excuses no copies between GPUs and the host. */
void osp_pardon_last(struct osp_runner *runner, enum osp_check_group group,
		     const struct osp_pardon_look *before, const struct osp_pardon_look *after);

/* --- run_pairs.c ------------------------------------------------------------------------------ */

/*
 * Judges a check of pairs ("gpu3-gpu5") with the context's units. If a GPU fails with two others or
 * more, which are well with others, and is well with none, it is named instead of its pairs, as the
 * gate does with nodes (lib/gate/gate_links.h). Returns -1 if memory ran out.
 */
int osp_pairs_blame(const struct osp_check_context *context, struct osp_outcome *outcome,
		    struct osp_error *error);

#endif
