/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modes.h - --gang-env and --gang-bind, and how the user's choice reaches the tasks' nodes
 *
 * The option wins over ONESPINE_GANG_ENV and ONESPINE_GANG_BIND, these over onespine.yaml. sbatch
 * and salloc leave their value in the variable, which steps inside the job inherit. srun puts its
 * values, and whether its user binds tasks otherwise, into one variable of its tasks that
 * --export=NONE lets through; it is removed from their environment before they run.
 *
 * One thread, like all of SPANK.
 */
#ifndef OSP_MODES_H
#define OSP_MODES_H

#include <stdbool.h>

#include <slurm/spank.h>

#include "lib/policy/config.h"
#include "lib/policy/job_options.h"

#define OSP_ENV_VARIABLE  OSP_JOB_VARIABLE(GANG_ENV)
#define OSP_BIND_VARIABLE OSP_JOB_VARIABLE(GANG_BIND)

struct osp_modes {
	bool env_said;	/* else policy decides */
	bool bind_said; /* the same */
	enum osp_env_mode env;
	enum osp_bind_mode bind;
	bool inherited;	      /* SLURM_CPU_BIND came from a step around srun */
	char bound_with[64];  /* the option or variable with which the user binds; "" for none */
	bool client_reported; /* srun ran this plugin: the two above are known */
};

/*
 * Registers both options with the program that loaded us. Returns 0, or -1 after an error message.
 */
int osp_modes_register(spank_t spank);

/* Prepares the environment of sbatch, salloc and srun before the options are read. */
void osp_modes_begin(void);

/* Takes values of the environment there, once the options are read. Returns 0, or -1 after an error
 * message if a value makes no sense; inside an allocation it only reports that, and the step runs
 * without the value. */
int osp_modes_send(void);

/* Passes the modes on from srun, once the step has its nodes. */
void osp_modes_hand_on(spank_t spank);

/* Reads the modes in slurmstepd, once the options are read. */
void osp_modes_take(spank_t spank, struct osp_modes *modes);

/*
 * Leaves the job's modes in the task of a batch script or an interactive step, where steps inside
 * inherit them.
 */
void osp_modes_leave(spank_t spank, const struct osp_modes *modes);

/* Removes srun's variable in slurmstepd after that, before tasks inherit it. */
void osp_modes_tidy(spank_t spank);

#endif
