/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modes.h - --gang-env and --gang-bind, and how what the user chose reaches the tasks' nodes
 *
 * The option wins over ONESPINE_GANG_ENV and ONESPINE_GANG_BIND, these over onespine.yaml. sbatch
 * and salloc leave their value in the variable, which steps inside the job inherit. srun puts what
 * it was told, and whether its user binds tasks otherwise, into one variable of its tasks that
 * --export=NONE lets through; it is gone from their environment when they run.
 *
 * One thread, as all of SPANK.
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
	bool inherited;	     /* SLURM_CPU_BIND came from a step around srun */
	char bound_with[64]; /* the option or variable with which the user binds; "" for none */
	bool client_told;    /* srun ran this plugin: the two above are known */
};

/* Makes both options known to the program that loaded us. Returns 0, or -1 having said why. */
int osp_modes_register(spank_t spank);

/* In sbatch, salloc and srun before the options are read. */
void osp_modes_begin(void);

/* After the options were read there. Returns 0, or -1 having said why a value makes no sense;
 * inside an allocation it says so, and the step runs without it. */
int osp_modes_send(void);

/* In srun, once the step has its nodes. */
void osp_modes_hand_on(spank_t spank);

/* In slurmstepd, once the options were read: what came along. */
void osp_modes_take(spank_t spank, struct osp_modes *modes);

/* In a batch script's task, and an interactive step's: steps inside inherit the job's options. */
void osp_modes_leave(spank_t spank, const struct osp_modes *modes);

/* In slurmstepd, then: takes srun's variable away, before tasks inherit it. */
void osp_modes_tidy(spank_t spank);

#endif
