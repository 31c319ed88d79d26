/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_gpus.h - asks slurmctld whether a job has GPUs on this node, where nothing else says so
 *
 * Slurm may count GPUs and not choose them: on a node that has not registered yet, when slurmctld
 * has come back without its node_state, or where gres.conf names no files. Then the Prolog has no
 * SLURM_JOB_GPUS, as for a job without any. The shadow says it of gangs (sched/shadow_gpus.c); of
 * other jobs only slurmctld knows.
 */
#ifndef OSP_GATE_GPUS_H
#define OSP_GATE_GPUS_H

#include "gate/gate_job.h"

/*
 * Asks only if the job would meet no gate on a node that has GPUs by slurm.conf, one question a
 * node and job. If the job has GPUs here, job->gpus_unknown becomes true. While slurmctld does not
 * answer, waits for at most ten minutes, in which no job starts either; after that the job is taken
 * for one without GPUs. Returns whether it asked.
 */
bool osp_gate_gpus_ask(struct osp_gate_job *job);

#endif
